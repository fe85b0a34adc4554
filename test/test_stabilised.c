/* Formulations that keep constraints of two or three levels, from callbacks and from models: the
 * pendulum to its reference values, without drift, with positions that are chosen during the run.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "pendulum.h"
#include "solve/bind/solver.h"

/* ---- the pendulum m = l = g = 1 from (1, 0) at rest, to t = 10 ---- */

static const double REFERENCE[5] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697};

static int mass(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = M[3] = 1.0;
    return 0;
}

typedef struct trial {
    const char *formulation, *method;
} trial;

static const trial TRIALS[] = {
    {"ggl", "bdf"},         {"gglm", "bdf"},       {"gglm", "radau:5"},   {"ggl2", "bdf"},
    {"ggl2", "bdf2nd"},     {"ggl2", "radau:5"},   {"fuehrer", "bdf"},    {"fuehrer", "radau:5"},
    {"odassl", "bdf"},      {"odassl", "radau:5"}, {"minimal", "bdf"},    {"minimal", "bdf2nd"},
    {"minimal", "radau:5"}, {"reduced", "bdf"},    {"reduced", "bdf2nd"}, {"reduced", "radau:5"},
};

static void check_pendulum(const trial *t, const double *y)
{
    bool slopes = strcmp(t->formulation, "ggl2") == 0; /* v is q', but for G' eta; lambda has the */
    for (int i = 0; i < 5; i++) {                      /* errors of eta' */
        double bound = i < 4 ? 2e-5 : slopes ? 1e-3 : 2e-4;
        if (!(fabs(y[i] - REFERENCE[i]) < bound))
            fail_msg("%s by %s: y[%d] = %.9g, not %.9g", t->formulation, t->method, i, y[i],
                     REFERENCE[i]);
    }
    double position = fabs(0.5 * (y[0] * y[0] + y[1] * y[1] - 1.0));
    double velocity = fabs(y[0] * y[2] + y[1] * y[3]);
    if (!(position < 1e-7 && velocity < (slopes ? 2e-5 : 1e-6)))
        fail_msg("%s by %s drifts: %.2e, %.2e", t->formulation, t->method, position, velocity);
}

static void from_callbacks(void **unused)
{
    (void)unused;
    const dae_mechanical form = {.nq = 2,
                                 .nlambda = 1,
                                 .mass = mass,
                                 .force = pendulum_weight,
                                 .constraint = pendulum_rod,
                                 .gradient = pendulum_gradient,
                                 .scleronomic = true};
    const double y0[5] = {1.0};
    dae_problem *p;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (size_t k = 0; k < sizeof TRIALS / sizeof TRIALS[0]; k++) {
        const trial *t = &TRIALS[k];
        dae_options o = dae_options_default();
        dae_solver *s;
        dae_diag diag;
        double y[5];
        o.formulation = t->formulation;
        o.method = t->method;
        o.rtol = o.atol = 1e-8;
        if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
        if (dae_solver_start(s, 0.0, y0, NULL) != DAE_OK)
            fail_msg("%s by %s: %s", t->formulation, t->method, dae_solver_diag(s)->text);
        if (dae_solver_run(s, 10.0, y, NULL) != DAE_OK)
            fail_msg("%s by %s: %s", t->formulation, t->method, dae_solver_diag(s)->text);
        check_pendulum(t, y);
        bool chooses = strcmp(t->formulation, "minimal") == 0 || *t->formulation == 'r';
        assert_true(chooses ? s->bound.choices >= 4
                            : s->bound.choices == 0); /* past its lowest point */
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

static const char *const PENDULUM =
    "model Pendulum Real x(start = 1, fixed = true), y(start = 0), vx(start = 0, fixed = true), "
    "vy(start = 0), lambda; equation der(x) = vx; der(y) = vy; der(vx) = -lambda*x; "
    "der(vy) = -lambda*y - 1; x^2 + y^2 = 1; end Pendulum;";

static void from_a_model(void **unused)
{
    (void)unused;
    const dae_model m = {.text = PENDULUM};
    dae_problem *p;
    dae_diag diag;
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    const char *const names[] = {"x", "y", "vx", "vy", "lambda"};
    for (size_t k = 0; k < sizeof TRIALS / sizeof TRIALS[0]; k++) {
        const trial *t = &TRIALS[k];
        dae_options o = dae_options_default();
        dae_solver *s;
        double all[8], y[5];
        bool chooses = strcmp(t->formulation, "minimal") == 0 || *t->formulation == 'r';
        if (chooses) continue; /* positions are chosen at the start only */
        o.formulation = t->formulation;
        o.method = t->method;
        o.rtol = o.atol = 1e-8;
        if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
        dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_run(s, 10.0, NULL, NULL);
        if (status != DAE_OK)
            fail_msg("%s by %s: %s", t->formulation, t->method, dae_solver_diag(s)->text);
        assert_int_equal(dae_solver_variables(s, 10.0, all), DAE_OK);
        for (int i = 0; i < 5; i++) y[i] = all[dae_problem_find_variable(p, names[i])];
        check_pendulum(t, y);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* What a formulation cannot do is told at once. */
static void refusals(void **unused)
{
    (void)unused;
    const dae_mechanical free_fall = {.nq = 2, .force = pendulum_weight};
    const double y0[5] = {1.0};
    dae_problem *p;
    dae_solver *s;
    dae_diag diag;
    dae_options o = dae_options_default();
    assert_int_equal(dae_problem_from_mechanical(&free_fall, &p, NULL), DAE_OK);
    const char *const none[] = {"gglm", "ggl2", "fuehrer", "odassl", "minimal", "reduced"};
    for (size_t k = 0; k < sizeof none / sizeof none[0]; k++) {
        o.formulation = none[k];
        assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
        assert_non_null(strstr(diag.text, none[k]));
    }
    dae_problem_free(p);
    const dae_mechanical form = {.nq = 2,
                                 .nlambda = 1,
                                 .force = pendulum_weight,
                                 .constraint = pendulum_rod,
                                 .scleronomic = true};
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    o.formulation = "ggl"; /* q' = v - G' mu is no velocity */
    o.method = "bdf2nd";
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "second order"));
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_callbacks),
                                       cmocka_unit_test(from_a_model), cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
