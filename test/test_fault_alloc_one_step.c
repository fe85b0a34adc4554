/* Every allocation of a whole run of the half-explicit, projected and implicit one-step methods
 * fails once, dense and sparse: it is told, and nothing leaks. */
#include "fault_alloc.h"
#include "pendulum.h"

#include <math.h>

/* A chain of k masses on rods of length 1, hanging sideways: sparse for k > 16 */
enum { MOST = 40 };

typedef struct chain {
    int count;
    int mass_colptr[2 * MOST + 1], mass_rowind[2 * MOST];
    int rod_colptr[2 * MOST + 1], rod_rowind[4 * MOST];
    bool patterns;
} chain;

static int weight(const dae_mechanical_point *at, double *f, void *user)
{
    const chain *c = user;
    (void)at;
    for (int i = 0; i < c->count; i++) f[2 * i] = 0.0, f[2 * i + 1] = -1.0;
    return 0;
}

static int rods(const dae_mechanical_point *at, double *g, void *user)
{
    const chain *c = user;
    for (int i = 0; i < c->count; i++) {
        double dx = at->q[2 * i] - (i > 0 ? at->q[2 * i - 2] : 0.0);
        double dy = at->q[2 * i + 1] - (i > 0 ? at->q[2 * i - 1] : 0.0);
        g[i] = 0.5 * (dx * dx + dy * dy - 1.0);
    }
    return 0;
}

static int unit_mass(const dae_mechanical_point *at, double *M, void *user)
{
    const chain *c = user;
    int n = 2 * c->count;
    (void)at;
    for (int i = 0; i < n; i++) M[c->patterns ? i : i * n + i] = 1.0;
    return 0;
}

static void fill_patterns(chain *c)
{
    int entries = 0;
    for (int j = 0; j < 2 * c->count; j++) {
        c->mass_colptr[j] = c->mass_rowind[j] = j;
        c->rod_colptr[j] = entries;
        for (int i = j / 2; i <= j / 2 + 1 && i < c->count; i++) c->rod_rowind[entries++] = i;
    }
    c->mass_colptr[2 * c->count] = 2 * c->count;
    c->rod_colptr[2 * c->count] = entries;
}

static dae_status run_chain(chain *c, const dae_options *options)
{
    dae_mechanical form = {.nq = 2 * c->count,
                           .nlambda = c->count,
                           .mass = unit_mass,
                           .force = weight,
                           .constraint = rods,
                           .user = c,
                           .scleronomic = true};
    if (c->patterns) {
        form.mass_pattern = (dae_pattern){c->mass_colptr, c->mass_rowind};
        form.gradient_pattern = (dae_pattern){c->rod_colptr, c->rod_rowind};
    }
    double y[5 * MOST] = {0.0};
    for (int i = 0; i < c->count; i++) y[2 * i] = i + 1.0;
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_mechanical(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.02, y, NULL);
    if (status == DAE_OK) {
        double from, to;
        dae_solver_last_step(solver, &from, &to);
        status = dae_solver_at(solver, 0.5 * (from + to), 0, y); /* dense output has stages, too */
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

typedef struct journey {
    chain chain;
    dae_options options;
} journey;

static dae_status travel(void *context)
{
    journey *j = context;
    return run_chain(&j->chain, &j->options);
}

static void fail_chain(const char *method, int count, bool patterns, double rtol)
{
    journey j = {.chain = {.count = count, .patterns = patterns}, .options = dae_options_default()};
    fill_patterns(&j.chain);
    j.options.method = method;
    j.options.rtol = rtol;
    /* Without memory to look whether M is constant it counts as what it was declared. */
    heap_faults f = fail_each(method, travel, &j);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 20 && f.unnoticed <= (patterns ? 0 : 1));
}

static void small_mechanisms_fail_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem", "prk", "midex"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        fail_chain(methods[k], 3, false, 1e-6);
    fail_chain("prk", 3, false, 1e-2); /* the other table */
}

/* Local coordinates, invariants and monitors of explicit methods on manifolds */
static int chain_energy(double t, const double *y, double *values, void *user)
{
    (void)t, (void)user;
    values[0] = 0.0;
    for (int i = 0; i < 6; i++) values[0] += 0.5 * y[6 + i] * y[6 + i] + (i % 2 ? y[i] : 0.0);
    return 0;
}

static void manifolds_fail_cleanly(void **state)
{
    (void)state;
    for (int c = DAE_COORDINATES_AMBIENT; c <= DAE_COORDINATES_TANGENT; c++) {
        journey j = {.chain = {.count = 3}, .options = dae_options_default()};
        fill_patterns(&j.chain);
        j.options.method = c ? "dopri:5" : "dopri:8";
        j.options.coordinates = (dae_coordinates)c;
        j.options.invariant_count = 1;
        j.options.invariant_function = chain_energy;
        j.options.watch_constraints = true;
        heap_faults f = fail_each(j.options.method, travel, &j);
        assert_int_equal(f.status, DAE_OK);
        assert_true(f.told > 20 && f.unnoticed <= 1);
    }
}

/* Geometric methods, plain and kept on their energy */
static void geometric_methods_fail_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"rattle", "lobatto:4"};
    for (int k = 0; k < 2; k++)
        for (int kept = 0; kept < 2; kept++) {
            journey j = {.chain = {.count = 3}, .options = dae_options_default()};
            fill_patterns(&j.chain);
            j.options.method = methods[k];
            j.options.fixed_step = 0.01;
            j.options.invariant_count = kept;
            j.options.invariant_function = chain_energy;
            heap_faults f = fail_each(j.options.method, travel, &j);
            assert_int_equal(f.status, DAE_OK);
            assert_true(f.told > 20 && f.unnoticed <= 1);
        }
}

/* The manifold form of a quasilinear system, and an ODE in residual form */
static int spin(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->x[1];
    f[1] = at->x[0];
    return 0;
}

static int on_circle(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] * at->x[0] + at->x[1] * at->x[1] - 1.0;
    return 0;
}

static int spin_F(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)t, (void)user;
    F[0] = yp[0] + y[1];
    F[1] = yp[1] - y[0];
    return 0;
}

static dae_status go_round(void *context)
{
    const dae_options *options = context;
    static const int level[1] = {0};
    dae_quasilinear form = {.n = 2,
                            .ne = 2,
                            .ng = 1,
                            .f = spin,
                            .g = on_circle,
                            .autonomous = true,
                            .constraint_levels = level};
    dae_residual ode = {.n = 2, .f = spin_F};
    double y[2] = {1.0, 0.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = options->watch_constraints
                            ? dae_problem_from_quasilinear(&form, &problem, NULL)
                            : dae_problem_from_residual(&ode, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 1.0, y, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void manifold_forms_fail_cleanly(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        dae_options options = dae_options_default();
        options.method = "dopri:5";
        options.coordinates = k < 3 ? (dae_coordinates)k : DAE_COORDINATES_AMBIENT;
        options.watch_constraints = k < 3;
        every_failure_is_told(options.method, go_round, &options, 20);
    }
}

static void sparse_mechanisms_fail_cleanly(void **state)
{
    (void)state;
    fail_chain("phem", MOST, true, 1e-4);
    fail_chain("prk", MOST, true, 1e-6);
    fail_chain("hem:4", MOST, true, 1e-4);
}

/* ---- (1.9) with a u, in Hessenberg form ---- */

static int steer(const dae_hessenberg_point *at, double *f, void *user)
{
    (void)user;
    f[0] = 0.7 * at->y[1] + at->u[0];
    f[1] = 1.4 * at->y[0] + cos(2.5 * at->z[0]);
    return 0;
}

static int circle(const dae_hessenberg_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->y[0] * at->y[0] + at->y[1] * at->y[1] - 1.0;
    return 0;
}

static int sine(const dae_hessenberg_point *at, double *k, void *user)
{
    (void)user;
    k[0] = at->u[0] - sin(2.5 * at->z[0]);
    return 0;
}

static dae_status steer_along(void *context)
{
    dae_hessenberg form = {
        .ny = 2, .nz = 1, .nu = 1, .f = steer, .g = circle, .k = sine, .autonomous = true};
    double y[4] = {1.0, 0.0, 0.0, 0.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_hessenberg(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, context, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.2, y, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void variables_u_fail_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:4", "phem"};
    for (int k = 0; k < 2; k++) {
        dae_options options = dae_options_default();
        options.method = methods[k];
        every_failure_is_told(methods[k], steer_along, &options, 20);
    }
}

/* ---- radau ---- */

/* Diffusion by lines with an algebraic copy of the last value */
static int diffusion(double t, const double *y, const double *yp, double *f, void *user)
{
    int n = *(const int *)user;
    for (int i = 0; i < n - 1; i++) {
        double left = i > 0 ? y[i - 1] : 1.0 + sin(t), right = i < n - 2 ? y[i + 1] : 0.0;
        f[i] = yp[i] - 10.0 * (left - 2.0 * y[i] + right);
    }
    f[n - 1] = y[n - 1] - y[n - 2];
    return 0;
}

typedef struct radau_journey {
    dae_options options;
    int n;
    dae_structure structure;
} radau_journey;

static dae_status diffuse(void *context)
{
    radau_journey *j = context;
    int n = j->n, colptr[301], rowind[900], entries = 0;
    for (int c = 0; c < n; c++) {
        colptr[c] = entries;
        for (int r = c > 0 ? c - 1 : 0; r <= c + 1 && r < n; r++) rowind[entries++] = r;
    }
    colptr[n] = entries;
    dae_residual form = {.n = n, .f = diffusion, .user = &j->n, .structure = j->structure};
    if (j->structure == DAE_STRUCTURE_BANDED) form.lower = form.upper = 1;
    if (j->structure == DAE_STRUCTURE_SPARSE) form.colptr = colptr, form.rowind = rowind;
    double y[300] = {0.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_residual(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, &j->options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.1, y, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

/* Complex matrices that could not be had at a start are asked for again at the first attempt. */
static void told_or_overcome(const char *name, heap_trial *trial, void *context)
{
    heap_faults f = fail_each(name, trial, context);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.requests > 20 && f.told > 20);
}

static void radau_fails_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau",    "radau:5", "radau:9",
                                          "radau:13", "liex",    "liex:scheme2"};
    static const dae_structure structures[] = {DAE_STRUCTURE_DENSE, DAE_STRUCTURE_BANDED,
                                               DAE_STRUCTURE_SPARSE};
    for (int k = 0; k < 18; k++) {
        radau_journey j = {dae_options_default(), k % 3 == 2 ? 100 : 8, structures[k % 3]};
        j.options.method = methods[k / 3];
        told_or_overcome(methods[k / 3], diffuse, &j);
    }
}

/* A second thread for large systems: without memory for it the run goes on alone. */
static void helped_radau_fails_cleanly(void **state)
{
    (void)state;
    int n = 300;
    radau_journey j = {dae_options_default(), n, DAE_STRUCTURE_BANDED};
    j.options.method = "radau:9";
    j.options.threads = 2;
    j.options.rtol = j.options.atol = 1e-2;
    heap_faults f = fail_some("two threads", diffuse, &j, 100);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 20);
}

/* ---- ends on constraints, and values between ends ---- */

static dae_status swing(void *context)
{
    const dae_options *options = context;
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = pendulum_weight,
                           .constraint = pendulum_rod,
                           .scleronomic = true};
    double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_mechanical(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.5, y, NULL);
    if (status == DAE_OK && !(hypot(y[0], y[1]) < 1.0 + 1e-5)) status = DAE_ERR_CONVERGENCE;
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void projected_radau_fails_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau", "radau:5", "radau:13"};
    static const char *const rewritings[] = {"index3", "ggl", "index1"};
    for (int k = 0; k < 9; k++) {
        dae_options options = dae_options_default();
        options.method = methods[k / 3];
        options.formulation = rewritings[k % 3];
        options.projection = DAE_PROJECTION_BOTH;
        told_or_overcome(methods[k / 3], swing, &options);
    }
}

/* Gauss has no factors that outputs could use: these make their own at the first one. */
static dae_status look_between(void *context)
{
    const dae_options *options = context;
    int n = 8;
    dae_residual form = {.n = n, .f = diffusion, .user = &n};
    double y[8] = {0.0}, a, b;
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_residual(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
    for (int k = 0; k < 5 && status >= DAE_OK; k++) {
        status = dae_solver_step(solver, 1.0);
        dae_solver_last_step(solver, &a, &b);
        if (status > DAE_OK) status = dae_solver_at(solver, 0.4 * a + 0.6 * b, 0, y);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void outputs_fail_cleanly(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau", "gauss:6", "lobattoc:4", "sdirk:4", "rodas"};
    for (int k = 0; k < 5; k++) {
        dae_options options = dae_options_default();
        options.method = methods[k];
        told_or_overcome(methods[k], look_between, &options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_mechanisms_fail_cleanly),
        cmocka_unit_test(manifolds_fail_cleanly),
        cmocka_unit_test(geometric_methods_fail_cleanly),
        cmocka_unit_test(manifold_forms_fail_cleanly),
        cmocka_unit_test(sparse_mechanisms_fail_cleanly),
        cmocka_unit_test(variables_u_fail_cleanly),
        cmocka_unit_test(radau_fails_cleanly),
        cmocka_unit_test(helped_radau_fails_cleanly),
        cmocka_unit_test(projected_radau_fails_cleanly),
        cmocka_unit_test(outputs_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
