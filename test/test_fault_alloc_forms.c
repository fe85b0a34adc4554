/* Every allocation for problems in mechanical, Hessenberg and quasilinear form fails once: clean
 * errors, and nothing leaks. */
#include "fault_alloc.h"
#include "pendulum.h"

#include <math.h>
#include <stdio.h>

/* ---- a pendulum in three forms ---- */

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0;
    return 0;
}

static int rates(const dae_hessenberg_point *at, double *f, void *user)
{
    const double *y = at->y;
    (void)user;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -2.0 * y[0] * at->z[0];
    f[3] = -2.0 * y[1] * at->z[0] - 1.0;
    return 0;
}

static int velocity(const dae_hessenberg_point *at, double *g, void *user)
{
    const double *y = at->y;
    (void)user;
    g[0] = y[0] * y[2] + y[1] * y[3];
    return 0;
}

static int row(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[1];
    return 0;
}

static int unit(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = 1.0;
    return 0;
}

/* x = sin t, and its derivative */
static int levels(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] - sin(at->t);
    g[1] = at->x[1] - cos(at->t);
    return 0;
}

/* The full form: a bead on y = x^2 with its contact point, a lag r, a law w, and rolling. */
static int busy_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->r[0] + 0.1 * at->w[0] + 0.01 * at->lambda[0];
    f[1] = -1.0;
    f[2] = 0.0;
    return 0;
}

static int lag(const dae_mechanical_point *at, double *rate, void *user)
{
    (void)user;
    rate[0] = -at->r[0];
    return 0;
}

static int law(const dae_mechanical_point *at, double *d, void *user)
{
    (void)user;
    d[0] = at->w[0] + at->v[0];
    return 0;
}

static int foot(const dae_mechanical_point *at, double *h, void *user)
{
    (void)user;
    h[0] = at->s[0] - at->q[0];
    return 0;
}

static int curve(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[1] - at->s[0] * at->s[0];
    return 0;
}

static int roll(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    c[0] = at->v[2] - at->v[0];
    return 0;
}

static const int colptr[] = {0, 1, 2}, rowind[] = {0, 0}, none[] = {0, 0, 0};

/* x'' = -x, 0 = z - x' */
static int swing(double t, const double *x, const double *xp, const double *xpp, double *f,
                 void *user)
{
    (void)t, (void)user;
    f[0] = xpp[0] + x[0];
    f[1] = x[1] - xp[0];
    return 0;
}

static int swing_jacobian(double t, const double *x, const double *xp, const double *xpp,
                          double *f_x, double *f_xp, double *f_xpp, void *user)
{
    (void)t, (void)x, (void)xp, (void)xpp, (void)user;
    f_x[0] = 1.0;
    f_x[2] = 1.0;
    f_xp[1] = -1.0;
    f_xpp[0] = 1.0;
    return 0;
}

static dae_status make(int form, dae_problem **problem, dae_diag *diag)
{
    const dae_mechanical m = {.nq = 2,
                              .nlambda = 1,
                              .force = pendulum_weight,
                              .constraint = rod,
                              .gradient_pattern = {colptr, rowind},
                              .force_q_pattern = {none, none},
                              .force_v_pattern = {none, none}};
    const dae_hessenberg h = {.ny = 4, .nz = 1, .f = rates, .g = velocity};
    const dae_quasilinear x = {.n = 2, .ne = 1, .ng = 2, .E = unit, .f = row, .g = levels};
    static const bool second[] = {true, false};
    static const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
    static const int columns[] = {0, 2, 3}, rows[] = {0, 1, 1};
    const dae_second_order s = {.n = 2,
                                .f = swing,
                                .second = second,
                                .kinds = kinds,
                                .velocity_kinds = kinds,
                                .jacobian = swing_jacobian,
                                .pattern = {columns, rows}};
    const dae_mechanical full = {.nq = 3,
                                 .nlambda = 1,
                                 .nr = 1,
                                 .nw = 1,
                                 .ns = 1,
                                 .nvelocity = 1,
                                 .force = busy_force,
                                 .dynamics = lag,
                                 .auxiliary = law,
                                 .contact = foot,
                                 .constraint = curve,
                                 .velocity_constraint = roll,
                                 .friction = true};
    if (form == 4) return dae_problem_from_mechanical(&full, problem, diag);
    if (form == 3) return dae_problem_from_second_order(&s, problem, diag);
    if (form == 0) return dae_problem_from_mechanical(&m, problem, diag);
    if (form == 1) return dae_problem_from_hessenberg(&h, problem, diag);
    return dae_problem_from_quasilinear(&x, problem, diag);
}

typedef struct story {
    int form;
    const char *method, *formulation;
} story;

/* Problem, solver, start, some steps. */
static dae_status tell(void *context)
{
    const story *s = context;
    const double y0[11] = {1.0}, x0[2] = {0.0, 1.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.method = s->method;
    options.formulation = s->formulation;
    dae_status status = make(s->form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, s->form != 2 ? y0 : x0, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.1, NULL, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void each_formulation(int form, const char *method, const char *formulation)
{
    char name[60];
    story s = {form, method, formulation};
    snprintf(name, sizeof name, "form %d, %s, %s", form, method, formulation);
    heap_faults f = fail_each(name, tell, &s);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void each_allocation(int form, const char *method)
{
    each_formulation(form, method, "auto");
}

static void forms_survive(void **unused)
{
    (void)unused;
    for (int form = 0; form < 4; form++) each_allocation(form, "bdf");
    each_allocation(0, "hem:5");
    each_allocation(4, "bdf");
    each_allocation(4, "hem:5");
    each_allocation(4, "bdf2nd");
    each_allocation(3, "bdf2nd");
    const char *const formulations[] = {"gglm", "ggl2", "fuehrer", "odassl", "minimal", "reduced"};
    for (size_t k = 0; k < sizeof formulations / sizeof formulations[0]; k++)
        each_formulation(0, "bdf", formulations[k]);
    each_formulation(0, "bdf2nd", "minimal");
    each_allocation(1, "hem:4");
    for (int form = 0; form < 3; form++) each_allocation(form, "herk");
}

/* A rod that is there twice. */
static int twice(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0;
    g[1] = 3.0 * g[0];
    return 0;
}

static dae_status run_redundant(void *method)
{
    const dae_mechanical form = {
        .nq = 2, .nlambda = 2, .force = pendulum_weight, .constraint = twice, .scleronomic = true};
    const double y0[6] = {1.0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.method = method;
    dae_status status = dae_problem_from_mechanical(&form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 0.1, NULL, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void redundant_survive(void **unused)
{
    (void)unused;
    assert_int_equal(fail_each("redundant", run_redundant, "bdf").status, DAE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_survive),
                                       cmocka_unit_test(redundant_survive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
