/* Values between steps where forces are stiff: polynomials of higher degree, made of accelerations,
 * are no use there, and the method has to see that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "daedal.h"

/* q1'' = -k (q1 - sin t) - sin t - lambda, q2'' = -q2 + lambda, q1 = q2: q1 = sin t, lambda = 0 */
static int force(const dae_mechanical_point *at, double *out, void *user)
{
    double k = *(const double *)user;
    out[0] = -k * (at->q[0] - sin(at->t)) - sin(at->t);
    out[1] = -at->q[1];
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->q[1] - at->q[0];
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    (void)user;
    out[0] = -1.0;
    out[1] = 1.0;
    return 0;
}

static int zero(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    (void)user;
    out[0] = 0.0;
    return 0;
}

/* Largest errors of q1, v1 and lambda: at the ends of steps, and between them */
typedef struct errors {
    double ends[3], inside[3];
} errors;

static void note(dae_solver *s, double t, double worst[3])
{
    double y[5];
    assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
    worst[0] = fmax(worst[0], fabs(y[0] - sin(t)));
    worst[1] = fmax(worst[1], fabs(y[2] - cos(t)));
    worst[2] = fmax(worst[2], fabs(y[4]));
}

/* Steps of size h, 0: such as the tolerance asks for */
static errors run(const char *name, double k, double h, double tolerance)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .rate = zero,
                           .curvature = zero,
                           .user = &k};
    dae_problem *problem;
    dae_solver *s;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    dae_status status;
    errors e = {{0.0}, {0.0}};
    double y[5] = {0.0, 0.0, 1.0, 1.0, 0.0}, yp[5] = {1.0, 1.0, 0.0, 0.0, 0.0};
    options.method = name;
    options.fixed_step = h;
    options.rtol = options.atol = tolerance;
    if (dae_problem_from_mechanical(&form, &problem, &diag)) fail_msg("%s", diag.text);
    if (dae_solver_new(problem, &options, &s, &diag)) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y, yp)) fail_msg("%s", dae_solver_diag(s)->text);
    do {
        double t = dae_solver_time(s);
        status = dae_solver_step(s, 2.0);
        if (status < 0) fail_msg("%s, k = %g: %s", name, k, dae_solver_diag(s)->text);
        double step = dae_solver_time(s) - t;
        note(s, t + step, e.ends);
        for (int i = 1; i < 10; i++) note(s, t + 0.1 * i * step, e.inside);
    } while (status > 0);
    dae_solver_free(s);
    dae_problem_free(problem);
    return e;
}

/* At most ten times the errors at the ends, or those of the polynomial that the collocation itself
 * is, h^3 / 72 sqrt(3) |q'''| for two points; of v a time derivative of it. */
static void values_between_steps_are_as_good(void **state)
{
    (void)state;
    const char *const names[] = {"colloc2nd:4", "colloc2nd:6", "colloc2nd:5"};
    const double h = 0.1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (double k = 1.0; k < 1e7; k *= 10.0) {
            errors e = run(names[i], k, h, 1e-9);
            const double own[2] = {h * h * h / 72.0 / sqrt(3.0), h * h / 12.0 * h};
            for (int j = 0; j < 2; j++)
                if (!(e.inside[j] <= fmax(10.0 * e.ends[j], own[j])))
                    fail_msg("%s, k = %g: error %.2e of %s between steps, %.2e at their ends",
                             names[i], k, e.inside[j], j ? "v" : "q", e.ends[j]);
        }
}

/* Multipliers are k times what positions are off by: those between steps are no worse for it. */
static void multipliers_between_steps_are_as_good(void **state)
{
    (void)state;
    const char *const names[] = {"colloc2nd:3", "colloc2nd:6", "colloc2nd:5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (double k = 1.0; k < 1e9; k *= 100.0)
            for (double tolerance = 1e-3; tolerance > 3e-6; tolerance *= 0.1) {
                errors e = run(names[i], k, 0.0, tolerance);
                if (!(e.inside[2] <= 10.0 * fmax(e.ends[2], tolerance)))
                    fail_msg("%s at %g, k = %g: error %.2e of lambda between steps, %.2e at their "
                             "ends",
                             names[i], tolerance, k, e.inside[2], e.ends[2]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_between_steps_are_as_good),
                                       cmocka_unit_test(multipliers_between_steps_are_as_good)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
