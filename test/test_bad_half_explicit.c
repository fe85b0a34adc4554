/* Input that half-explicit methods cannot work with: a status, and a message that names the
 * constraint or component and the remedy. The sanitizers see to it that nothing is left over. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* What is wrong, and from when on. */
typedef enum fault {
    SOUND,
    TWICE,     /* a constraint that repeats another */
    MASSLESS,  /* no mass for what the constraints leave free */
    APART,     /* constraints that cannot be met */
    DAMPED,    /* fast decay: stiff */
    NO_FORCE,  /* NaN in f, */
    NO_MASS,   /* M, */
    NO_LENGTH, /* g, */
    NO_SLOPE   /* and G */
} fault;

typedef struct scene {
    fault fault;
    double from;
} scene;

static bool wrong(const scene *s, fault f, double t)
{
    return s->fault == f && t >= s->from;
}

typedef struct outcome {
    dae_status status;
    dae_diag diag;
    double t;
    long steps;
} outcome;

static double rtol = 1e-6; /* atol is a thousandth of it */

/* Start and run; where it stops. */
static outcome solve(dae_problem *problem, const char *method, const double *y0, double tend)
{
    outcome o = {0};
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = rtol;
    options.atol = 1e-3 * rtol;
    dae_solver *solver = NULL;
    o.status = dae_solver_new(problem, &options, &solver, &o.diag);
    if (o.status == DAE_OK) {
        o.status = dae_solver_start(solver, 0.0, y0, NULL);
        if (o.status == DAE_OK) o.status = dae_solver_run(solver, tend, NULL, NULL);
        o.diag = *dae_solver_diag(solver);
        o.t = dae_solver_time(solver);
        o.steps = dae_solver_stats(solver)->steps;
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return o;
}

/* A status, and words of the message */
static void expect(const char *method, const outcome *o, dae_status status, const char *const *said)
{
    if (o->status != status)
        fail_msg("%s: %s, %s", method, dae_status_name(o->status), o->diag.text);
    for (; *said; said++)
        if (!strstr(o->diag.text, *said))
            fail_msg("%s: no '%s' in: %s", method, *said, o->diag.text);
}
/* At t = 0.5, which differences for the curvature see a little earlier */
static bool at_half(const outcome *o)
{
    return fabs(o->diag.t - 0.5) < 1e-6 && o->t > 0.495 && o->t < 0.5 + 1e-9;
}

#define SAYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- a pendulum in mechanical form ---- */

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    const scene *s = user;
    double damping = s->fault == DAMPED ? 1e6 : 0.0;
    f[0] = -damping * at->v[0];
    f[1] = wrong(s, NO_FORCE, at->t) ? NAN : -1.0 - damping * at->v[1];
    return 0;
}

static int mass(const dae_mechanical_point *at, double *M, void *user)
{
    const scene *s = user;
    M[0] = M[3] = wrong(s, MASSLESS, at->t) ? 0.0 : 1.0;
    if (wrong(s, NO_MASS, at->t)) M[3] = INFINITY;
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const scene *s = user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    if (wrong(s, NO_LENGTH, at->t)) g[0] = NAN;
    if (s->fault == TWICE) g[1] = 3.0 * g[0];
    if (s->fault == APART) g[1] = at->q[0] - 2.0;
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *G, void *user)
{
    const scene *s = user;
    int rows = s->fault == TWICE || s->fault == APART ? 2 : 1;
    for (int j = 0; j < 2; j++) G[j * rows] = at->q[j];
    if (s->fault == TWICE) G[1] = 3.0 * at->q[0], G[3] = 3.0 * at->q[1];
    if (s->fault == APART) G[1] = 1.0, G[3] = 0.0;
    if (wrong(s, NO_SLOPE, at->t)) G[0] = NAN;
    return 0;
}

static outcome swing(fault f, double from, const char *method)
{
    static const char *const names[] = {"rod", "wall"};
    static const char *const variables[] = {"x", "y", "vx", "vy", "tension", "push"};
    scene s = {f, from};
    dae_mechanical form = {.nq = 2,
                           .nlambda = f == TWICE || f == APART ? 2 : 1,
                           .mass = mass,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .user = &s,
                           .scleronomic = true,
                           .mass_structure = DAE_MASS_DENSE,
                           .variable_names = variables,
                           .constraint_names = names};
    dae_problem *problem = NULL;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    return solve(problem, method, (double[6]){1.0}, 10.0);
}

static const char *const mechanical[] = {"hem:3", "hem:4", "hem:5", "phem", "prk", "herk"};
enum { MECHANICAL = sizeof mechanical / sizeof *mechanical };

static void mechanisms(void **state)
{
    (void)state;
    for (int k = 0; k < MECHANICAL; k++) {
        const char *m = mechanical[k];
        outcome o = swing(SOUND, 0.0, m);
        assert_int_equal(o.status, DAE_OK);

        o = swing(TWICE, 0.0, m);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("wall", "depend", "Leave one of them out"));
        assert_string_equal(o.diag.equation_name, "wall");

        o = swing(MASSLESS, 0.0, m);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("[M G'; G 0]", "not determined", "massless"));
        assert_true(strcmp(o.diag.variable_name, "x") == 0 ||
                    strcmp(o.diag.variable_name, "y") == 0);

        o = swing(MASSLESS, 0.5, m);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("mass matrix is singular", "look for a body"));
        assert_true(at_half(&o));
        assert_string_equal(o.diag.variable_name, "x");

        o = swing(APART, 0.0, m);
        expect(m, &o, DAE_ERR_INITIAL, SAYS("wall", "cannot be met", "contradict"));
        assert_string_equal(o.diag.equation_name, "wall");
    }
}

static void values_that_are_none(void **state)
{
    (void)state;
    static const fault faults[] = {NO_FORCE, NO_MASS, NO_LENGTH, NO_SLOPE};
    static const char *const callbacks[] = {"force callback", "mass callback",
                                            "constraint callback", "gradient callback"};
    static const char *const rows[] = {"motion of y", "motion of y", "rod", "rod"};
    for (int i = 0; i < 4 * MECHANICAL; i++) {
        const char *m = mechanical[i / 4];
        for (int early = 0; early < 2; early++) {
            outcome o = swing(faults[i % 4], early ? 0.0 : 0.5, m);
            expect(m, &o, DAE_ERR_EVALUATION,
                   SAYS(callbacks[i % 4], rows[i % 4], "Check the model"));
            assert_string_equal(o.diag.equation_name, rows[i % 4]);
            assert_true(early || at_half(&o));
        }
    }
}

/* The same solution is cheap for an implicit method. Calling again goes on. */
static void stiff_mechanism(void **state)
{
    (void)state;
    for (int k = 0; k < MECHANICAL; k++) {
        outcome o = swing(DAMPED, 0.0, mechanical[k]);
        expect(mechanical[k], &o, DAE_ERR_STIFF, SAYS("stiff", "bdf or radau", "goes on"));
        assert_true(o.diag.variable_name[0] != 0);
        assert_true(o.steps < 3000);
    }
    outcome o = swing(DAMPED, 0.0, "radau");
    assert_int_equal(o.status, DAE_OK);
}

static int decay(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -1e5 * (at->v[0] - cos(at->t));
    return 0;
}

static void a_stiff_run_may_go_on(void **state)
{
    (void)state;
    dae_mechanical form = {.nq = 1, .force = decay};
    dae_options options = dae_options_default();
    options.method = "prk";
    dae_problem *problem;
    dae_solver *solver;
    const double y0[2] = {0.0, 1.0};
    double y[2];
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y0, NULL), DAE_OK);
    int calls = 0;
    dae_status status;
    while ((status = dae_solver_run(solver, 0.3, y, NULL)) == DAE_ERR_STIFF) calls++;
    assert_int_equal(status, DAE_OK);
    assert_in_range(calls, 3, 6); /* 0.3 / 6.39e-5 = 4700 steps */
    assert_true(fabs(y[1] - cos(0.3)) < 1e-4);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* ---- Hessenberg form: (1.9) of [HW96 VII.1] ---- */

typedef enum steering {
    STEERED,
    BLIND,   /* f does not contain z */
    OUTSIDE, /* no circle */
    DOUBLED, /* two times the same constraint */
    LOST_F,  /* NaN from t = 0.1 on in f, */
    LOST_G,  /* in g, */
    LOST_K,  /* and in k */
    FLAT_K,  /* k does not contain u */
    FAST     /* stiff */
} steering;

static int steer_f(const dae_hessenberg_point *at, double *f, void *user)
{
    steering s = *(const steering *)user;
    double fast = s == FAST ? 1e5 * (at->y[2] - cos(at->t)) : 0.0;
    f[0] = 0.7 * at->y[1] + (s == BLIND ? 0.0 : sin(2.5 * at->z[0]));
    f[1] = 1.4 * at->y[0] + (s == BLIND ? 0.0 : cos(2.5 * at->z[0]));
    f[2] = -fast;
    if (s == FAST) f[0] = at->z[0] * at->y[0] - at->y[1], f[1] = at->z[0] * at->y[1] + at->y[0];
    if (s == LOST_F && at->t > 0.1) f[1] = NAN;
    return 0;
}

static int steer_g(const dae_hessenberg_point *at, double *g, void *user)
{
    steering s = *(const steering *)user;
    g[0] = at->y[0] * at->y[0] + at->y[1] * at->y[1] - 1.0 + (s == OUTSIDE ? 3.0 : 0.0);
    if (s == LOST_G && at->t > 0.1) g[0] = INFINITY;
    if (s == DOUBLED) g[1] = 2.0 * g[0];
    return 0;
}

static int steer_k(const dae_hessenberg_point *at, double *k, void *user)
{
    steering s = *(const steering *)user;
    k[0] = s == FLAT_K ? at->y[0] - 1.0 : at->u[0] - at->y[0];
    if (s == LOST_K && at->t > 0.1) k[0] = NAN;
    return 0;
}

static outcome steer(steering s, const char *method, double tend)
{
    static const char *const names[] = {"circle", "copy"};
    bool has_u = s == LOST_K || s == FLAT_K;
    dae_hessenberg form = {.ny = 3,
                           .nz = s == DOUBLED ? 2 : 1,
                           .nu = has_u,
                           .f = steer_f,
                           .g = steer_g,
                           .k = has_u ? steer_k : NULL,
                           .user = &s,
                           .autonomous = true,
                           .constraint_names = names};
    dae_problem *problem = NULL;
    assert_int_equal(dae_problem_from_hessenberg(&form, &problem, NULL), DAE_OK);
    return solve(problem, method, (double[6]){1.0, 0.0, 1.0}, tend);
}

static void hessenberg_form(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem", "herk"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const char *m = methods[k];
        outcome o = steer(STEERED, m, 0.3);
        assert_int_equal(o.status, DAE_OK);
        o = steer(BLIND, m, 0.3);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("g_y f_z is singular", "circle", "index is above 2"));
        o = steer(OUTSIDE, m, 0.3);
        expect(m, &o, DAE_ERR_INITIAL, SAYS("circle", "cannot be met"));
        o = steer(DOUBLED, m, 0.3);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("copy", "depend", "Leave one of them out"));
        o = steer(FLAT_K, m, 0.3);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("k[0]", "singular"));
        o = steer(LOST_F, m, 0.3);
        expect(m, &o, DAE_ERR_EVALUATION, SAYS("f callback gave nan", "f[1]", "t = 0.1"));
        o = steer(LOST_G, m, 0.3);
        expect(m, &o, DAE_ERR_EVALUATION, SAYS("g callback gave inf", "circle", "t = 0.1"));
        o = steer(LOST_K, m, 0.3);
        expect(m, &o, DAE_ERR_EVALUATION, SAYS("k callback gave nan", "k[0]", "t = 0.1"));
        o = steer(FAST, m, 1.0);
        expect(m, &o, DAE_ERR_STIFF, SAYS("stiff", "Variable y[2]", "bdf or radau"));
    }
}

/* (1.9) has an impasse at t = 0.37249: nothing is made up behind it, and not many steps are spent
 * in front of it, whatever the tolerance. */
static void the_impasse_is_found(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (rtol = 1e-3; rtol > 1e-11; rtol *= 0.1) {
            outcome o = steer(STEERED, methods[k], 1.0);
            expect(methods[k], &o, DAE_ERR_CONVERGENCE, SAYS("impasse", "circle"));
            assert_true(fabs(o.t - 0.37249) < fmax(1e-5, rtol));
            assert_true(o.steps < 10000);
        }
    rtol = 1e-6;
}

/* ---- quasilinear form: the pendulum with its constraints of all levels ---- */

typedef enum levels {
    ALL_LEVELS,
    NO_ACCELERATION, /* nothing determines lambda: Criterion 3.6 */
    LEVEL_TWICE,     /* the position in place of the acceleration */
    REPEATED,        /* a constraint more, that another one implies */
    NO_ROW,          /* E lacks a row that no constraint makes up for */
    LOST_ROW         /* NaN in E */
} levels;

static int level_E(const dae_quasilinear_point *at, double *E, void *user)
{
    levels l = *(const levels *)user;
    for (int i = 0; i < 4; i++) E[5 * i] = 1.0; /* 4 x 5, by columns */
    if (l == NO_ROW) E[15] = 0.0;
    if (l == LOST_ROW && at->t > 0.3) E[10] = NAN;
    return 0;
}

static int level_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x;
    (void)user;
    f[0] = x[2], f[1] = x[3], f[2] = -x[0] * x[4], f[3] = -1.0 - x[1] * x[4];
    return 0;
}

static int level_g(const dae_quasilinear_point *at, double *g, void *user)
{
    levels l = *(const levels *)user;
    const double *x = at->x;
    g[0] = 0.5 * (x[0] * x[0] + x[1] * x[1] - 1.0);
    g[1] = x[0] * x[2] + x[1] * x[3];
    if (l == NO_ACCELERATION) return 0;
    g[2] = x[2] * x[2] + x[3] * x[3] - x[1] - x[4] * (x[0] * x[0] + x[1] * x[1]);
    if (l == LEVEL_TWICE) g[2] = g[0] + g[1];
    if (l == REPEATED) g[3] = 2.0 * g[0];
    return 0;
}

static outcome levelled(levels l, const char *method)
{
    static const char *const names[] = {"position", "velocity", "acceleration", "copy"};
    static const char *const variables[] = {"x", "y", "vx", "vy", "lambda"};
    dae_quasilinear form = {.n = 5,
                            .ne = 4,
                            .ng = l == NO_ACCELERATION ? 2
                                  : l == REPEATED      ? 4
                                                       : 3,
                            .E = level_E,
                            .f = level_f,
                            .g = level_g,
                            .user = &l,
                            .autonomous = true,
                            .variable_names = variables,
                            .constraint_names = names};
    dae_problem *problem = NULL;
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, NULL), DAE_OK);
    return solve(problem, method, (double[5]){1.0}, 1.0);
}

static void quasilinear_form(void **state)
{
    (void)state;
    static const char *const methods[] = {"herk",      "herk:2", "herk:4",
                                          "herk:hem4", "herk:5", "herk:8"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const char *m = methods[k];
        outcome o = levelled(ALL_LEVELS, m);
        assert_int_equal(o.status, DAE_OK);
        for (levels l = NO_ACCELERATION; l <= LEVEL_TWICE; l++) {
            o = levelled(l, m);
            expect(m, &o, DAE_ERR_SINGULAR,
                   SAYS("Criterion 3.6", "hidden constraints are missing", "lambda"));
            assert_string_equal(o.diag.variable_name, "lambda");
        }
        o = levelled(REPEATED, m);
        expect(m, &o, DAE_ERR_SINGULAR,
               SAYS("depend on each other", "leave the dependent ones out"));
        assert_true(strcmp(o.diag.equation_name, "copy") == 0 ||
                    strcmp(o.diag.equation_name, "position") == 0);
        o = levelled(NO_ROW, m);
        expect(m, &o, DAE_ERR_SINGULAR, SAYS("Criterion 3.6", "vy"));
        o = levelled(LOST_ROW, m);
        expect(m, &o, DAE_ERR_EVALUATION, SAYS("E callback gave nan", "E[2]", "vx"));
    }
}

/* ---- models ---- */

#define PENDULUM(declarations, pull, constraints)                                                  \
    "model A\n  Real x(start = 1), y(start = 0), vx, vy(start = 0), l" declarations ";\n"          \
    "equation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -2*x*l;\n"                              \
    "  der(vy) = " pull " - 2*y*l;\n" constraints "end A;\n"

static outcome run_model(const char *text, const char *method)
{
    dae_model model = {.text = text, .file = "A.mo", .engine = DAE_ENGINE_TAPE};
    dae_problem *problem = NULL;
    outcome o = {0};
    o.status = dae_problem_from_model(&model, &problem, &o.diag);
    return o.status == DAE_OK ? solve(problem, method, NULL, 10.0) : o;
}

static void models(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:5", "phem", "prk", "herk"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const char *m = methods[k];
        outcome o = run_model(PENDULUM("", "-1", "  x^2 + y^2 = 1 \"rod\";\n"), m);
        assert_int_equal(o.status, DAE_OK);
        o = run_model(PENDULUM(", s", "-1 - s*y",
                               "  x^2 + y^2 = 1 \"rod\";\n"
                               "  2*x^2 + 2*y^2 = 2 \"copy\";\n"),
                      m);
        assert_true(o.status < 0);
        expect(m, &o, o.status, SAYS("rod (A.mo:8)", "copy (A.mo:9)"));
        o = run_model(PENDULUM(", z(start = 1, fixed = true)", "-1",
                               "  x^2 + y^2 = 1 \"rod\";\n  z = x^2 + y^2 + 1;\n"),
                      m);
        assert_true(o.status < 0);
        expect(m, &o, o.status, SAYS("z", "fixed"));
        o = run_model(PENDULUM("", "-1 - 1e6*vy", "  x^2 + y^2 = 1 \"rod\";\n"), m);
        expect(m, &o, DAE_ERR_STIFF, SAYS("stiff", "bdf or radau"));
        o = run_model(PENDULUM("", "-sqrt(0.5 - time)", "  x^2 + y^2 = 1 \"rod\";\n"), m);
        expect(m, &o, DAE_ERR_EVALUATION, SAYS("A.mo", "t = 0.5"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanisms),       cmocka_unit_test(values_that_are_none),
        cmocka_unit_test(stiff_mechanism),  cmocka_unit_test(a_stiff_run_may_go_on),
        cmocka_unit_test(hessenberg_form),  cmocka_unit_test(the_impasse_is_found),
        cmocka_unit_test(quasilinear_form), cmocka_unit_test(models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
