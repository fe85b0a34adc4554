/* Half-explicit methods behind a leap of the force's third derivative: where their estimates see
 * little of it, its size against that of the step before tells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "solve/bind/solver.h"

/* q1'' = before t^3 / 6, and from t = H on with the third derivative `behind`; q2 = 0 */
static const double H = 0.01;

typedef struct leaping {
    double before, behind;
} leaping;

static double force_at(const leaping *l, double t)
{
    double late = fmax(t - H, 0.0);
    return (l->before * t * t * t + (l->behind - l->before) * late * late * late) / 6.0;
}

static int force(const dae_mechanical_point *at, double *out, void *user)
{
    out[0] = force_at(user, at->t);
    out[1] = 0.0;
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->q[1];
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    (void)user;
    out[0] = 0.0;
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

/* The error of the step from H to 2 H, alone or after the one from 0 to H */
static double error_of_step(const char *name, leaping l, bool after_another)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .rate = zero,
                           .curvature = zero,
                           .user = &l};
    dae_options options = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    dae_diag diag = {0};
    attempt a;
    double y[5] = {0.0}, yp[5] = {0.0}, t = after_another ? 0.0 : H;
    options.method = name;
    options.rtol = options.atol = 1e-12;
    if (dae_problem_from_mechanical(&form, &problem, &diag)) fail_msg("%s", diag.text);
    if (dae_solver_new(problem, &options, &s, &diag)) fail_msg("%s", diag.text);
    y[0] = l.before * pow(t, 5.0) / 120.0;
    y[2] = yp[0] = l.before * pow(t, 4.0) / 24.0;
    yp[2] = force_at(&l, t);
    if (dae_solver_start(s, t, y, yp)) fail_msg("%s", dae_solver_diag(s)->text);
    start_point at = {.t = t, .h = H, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    for (int k = after_another ? 0 : 1; k < 2; k++) {
        if (k == 1 && after_another)
            s->bound.method->accept(s->bound.state, s->bound.scratch, &s->bound.context);
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, H,
                                 s->bound.method->max_order, &a);
        if (a.status != ATTEMPT_OK) fail_msg("%s: status %d", name, (int)a.status);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return a.error;
}

/* What a cubic leaves of v at the middle is h^4 / 384 times the third derivative of the force, in
 * the mean over four variables half of that. It counts ten times where it leaps by more than two
 * decades: 30 is smooth enough, 300 is not. */
static void a_leap_counts_as_error(void **state)
{
    (void)state;
    const char *const names[] = {"hem:5",     "phem",   "herk:3", "herk:4",
                                 "herk:hem4", "herk:5", "herk:8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        leaping small = {1e3, 3e4}, large = {1e3, 3e5};
        double usual = error_of_step(names[i], small, false);
        double leap = 10.0 * large.behind * pow(H, 4.0) / 384.0 / 2.0 / 1e-12;
        double after_small = error_of_step(names[i], small, true);
        double after_large = error_of_step(names[i], large, true);
        if (!(fabs(after_small - usual) <= 1e-3 * usual + 1e-6))
            fail_msg("%s: error %g instead of %g", names[i], after_small, usual);
        if (!(after_large > 0.1 * leap && after_large < 1.1 * leap))
            fail_msg("%s: error %g where %g leaps", names[i], after_large, leap);
        assert_true(error_of_step(names[i], large, false) < 0.5 * after_large);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_leap_counts_as_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
