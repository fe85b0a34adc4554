/* The error estimate of every one-step method falls with the step as fast as its order says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "solve/bind/solver.h"

/* q1'' = -q1 + q2 v1, q2'' = -4 q2 + cos t: smooth, and coupled */
static int force(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = -at->q[0] + at->q[1] * at->v[0];
    out[1] = -4.0 * at->q[1] + cos(at->t);
    return 0;
}

enum { N = 4 };

/* The estimate of the first step of size h, in tolerances; NAN: there is none */
static double estimate(dae_solver *s, double h)
{
    const double y[N] = {1.0, 0.5, 0.3, -0.2};
    double yp[N] = {0.3, -0.2, -1.0 + 0.5 * 0.3, -2.0 + 1.0};
    attempt a;
    if (dae_solver_start(s, 0.0, y, yp) != DAE_OK) return NAN;
    start_point at = {.t = 0.0, .h = h, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    newton_reset(&s->bound.newton);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h,
                             s->bound.method->max_order, &a);
    return a.status == ATTEMPT_OK ? a.error : NAN;
}

static dae_solver *open_solver(const dae_problem *problem, const char *name)
{
    dae_options options = dae_options_default();
    dae_solver *s = NULL;
    dae_diag diag = {0};
    options.method = name;
    options.rtol = options.atol = 1e-9;
    options.newton_tolerance = 1e-6;
    options.newton_iterations = 10;
    if (dae_solver_new(problem, &options, &s, &diag)) fail_msg("%s", diag.text);
    return s;
}

static const double H = 0.05;

static dae_problem *new_problem(void)
{
    dae_mechanical form = {.nq = 2, .force = force};
    dae_problem *problem;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    return problem;
}

/* The first power of h at which the two formulas of a pair differ: collocation with s points and
 * its first derivative at the start give s + 1, filtered as in [HW96 IV.8] one more or less. */
static const struct {
    const char *name;
    double power;
} powers[] = {
    {"bdf", 2},         {"bdf2nd", 2},       {"colloc2nd:4", 3}, {"colloc2nd:6", 4},
    {"colloc2nd:8", 5}, {"colloc2nd:10", 6}, {"colloc2nd:3", 3}, {"colloc2nd:5", 4},
    {"colloc2nd:7", 5}, {"colloc2nd:9", 6},  {"dopri:8", 8},     {"dopri:5", 5},
    {"gauss:2", 2},     {"gauss:4", 3},      {"gauss:6", 4},     {"gauss:8", 5},
    {"hem:3", 3},       {"hem:4", 4},        {"herk:8", 8},      {"herk:5", 5},
    {"herk:hem4", 5},   {"herk:2", 3},       {"herk:3", 4},      {"herk:4", 5},
    {"liex", 5},        {"lobattoc:2", 2},   {"lobattoc:4", 3},  {"lobattoc:6", 4},
    {"phem", 5},        {"prk", 8},          {"radau:5", 4},     {"radau:9", 6},
    {"rodas", 4},       {"rodas:3", 3},      {"rodas:p2", 4},    {"rodas:p", 4},
    {"sdirk:2", 2},     {"sdirk:3", 3},      {"sdirk:4", 4},     {"sirk:2", 3},
    {"sirk:3", 3},
};

static void estimates_fall_with_the_step(void **state)
{
    (void)state;
    dae_problem *problem = new_problem();
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        dae_solver *s = open_solver(problem, powers[i].name);
        double power = log2(estimate(s, H) / estimate(s, 0.5 * H));
        if (!(fabs(power - powers[i].power) < 0.3))
            fail_msg("%s: the estimate falls as h^%.2f, not h^%g", powers[i].name, power,
                     powers[i].power);
        dae_solver_free(s);
    }
    dae_problem_free(problem);
}

/* Without constraints methods with the same table have the same estimate. Those of order 5 on
 * manifolds count it three times, see hem_table.c. */
static void equal_tables_have_equal_estimates(void **state)
{
    (void)state;
    static const struct {
        const char *one, *other;
        double ratio;
    } pairs[] = {{"herk:8", "dopri:8", 1.0},      {"prk", "dopri:8", 1.0},
                 {"phem", "dopri:5", 3.0},        {"herk:5", "dopri:5", 3.0},
                 {"colloc2nd:5", "radau:5", 1.0}, {"colloc2nd:9", "radau:9", 1.0}};
    dae_problem *problem = new_problem();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        dae_solver *one = open_solver(problem, pairs[i].one);
        dae_solver *other = open_solver(problem, pairs[i].other);
        double ratio = estimate(one, H) / estimate(other, H);
        if (!(fabs(ratio / pairs[i].ratio - 1.0) < 1e-3))
            fail_msg("%s and %s: the ratio is %g", pairs[i].one, pairs[i].other, ratio);
        dae_solver_free(one);
        dae_solver_free(other);
    }
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_fall_with_the_step),
                                       cmocka_unit_test(equal_tables_have_equal_estimates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
