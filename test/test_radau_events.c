/* radau: events that depend on algebraic functions of t alone, restarts at full order after events,
 * inequality constraints on stages, and failures that name equation and stage. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static const char *const methods[] = {"radau", "radau:5", "radau:9", "radau:13"};
enum { METHODS = 4 };

static dae_options options_for(const char *name, double tol)
{
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = o.atol = tol;
    return o;
}

/* ---- an interpolant that events can rely on ---- */

/* Half-wave rectifier, models/rectifier.mo: voltage and current are functions of t alone, which any
 * step meets at its end. Q is known in closed form: five half waves, of which the first is cut. */
static const char rectifier_text[] =
    "model R constant Real pi = 2*asin(1.0); Real e; Real u; Real i; Real Q(start=0,fixed=true); "
    "Boolean on(start=true,fixed=true); equation e = 10*sin(100*pi*time + pi/6); e = u + 5*i; "
    "on = if pre(on) then i >= 0 else u > 0; if on then u = 0; else i = 0; end if; "
    "der(Q) = i; end R;";
static const double rectifier_Q = 3.7344277572596988e-2;

static double charge(const char *name, double tol)
{
    dae_options o = options_for(name, tol);
    dae_problem *problem;
    dae_solver *s;
    dae_diag diag = {0};
    double y[8], Q = NAN;
    dae_model m = {.text = rectifier_text, .file = "R"};
    if (dae_problem_from_model(&m, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_status status;
    do status = dae_solver_run(s, 0.05, y, NULL);
    while (status == DAE_EVENT);
    if (status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    for (int i = 0; i < dae_problem_size(problem); i++)
        if (strcmp(dae_problem_unknown_name(problem, i), "Q") == 0) Q = y[i];
    dae_solver_free(s);
    dae_problem_free(problem);
    return Q;
}

static void rectifier(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++)
        for (double tol = 1e-4; tol > 1e-11; tol /= 10.0) {
            double error = fabs(charge(methods[k], tol) - rectifier_Q);
            if (!(error <= tol))
                fail_msg("%s, tolerance %.0e: Q is wrong by %.2e", methods[k], tol, error);
        }
}

/* ---- restarts ---- */

/* y' = -a y or a y, between 1/2 and 1: an event every log(2)/a, a = 1 + j for the j-th piece */
static int saw_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const int piece = *(const int *)user;
    (void)t;
    f[0] = yp[0] - (piece % 2 ? 1.0 : -1.0) * (1.0 + piece % 3) * y[0];
    return 0;
}

static int saw_g(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    g[0] = *(const int *)user % 2 ? y[0] - 1.0 : y[0] - 0.5;
    return 0;
}

/* Steps to the end of 12 pieces; every step has full order, every switch is where it should be: the
 * interpolant may be wrong by 10 tolerances in each. */
static long saw(const char *name, double tol, int least_order)
{
    int piece = 0;
    double y = 1.0, yp = -1.0, t = 0.0;
    dae_options o = options_for(name, tol);
    dae_residual form = {
        .n = 1, .f = saw_f, .user = &piece, .event_count = 1, .event_function = saw_g};
    dae_problem *problem;
    dae_solver *s;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
    for (; piece < 12; piece++) {
        if (piece > 0) assert_int_equal(dae_solver_restart(s, NULL, NULL), DAE_OK);
        dae_status status;
        do {
            status = dae_solver_step(s, 100.0);
            assert_true(dae_solver_stats(s)->last_order >= least_order);
        } while (status == DAE_STEPPED);
        assert_int_equal(status, DAE_EVENT);
        t += log(2.0) / (1.0 + piece % 3);
        if (!(fabs(dae_solver_time(s) - t) < 120.0 * tol))
            fail_msg("%s: switch %d at %.12g, not %.12g", name, piece, dae_solver_time(s), t);
    }
    long steps = dae_solver_stats(s)->steps;
    dae_solver_free(s);
    dae_problem_free(problem);
    return steps;
}

static void restarts(void **state)
{
    (void)state;
    for (double tol = 1e-4; tol > 1e-11; tol /= 100.0) {
        long many = saw("bdf", tol, 1), few = saw("radau", tol, 5);
        saw("radau:5", tol, 5);
        saw("radau:9", tol, 9);
        saw("radau:13", tol, 13);
        print_message("%.0e: radau %ld steps, bdf %ld\n", tol, few, many);
        assert_true(few < many / 2);
    }
}

/* ---- inequality constraints ---- */

/* Torricelli: y' = -sqrt(y) + 0.3 max(0, sin t)^2 + 0.01, a tank that runs almost dry; F exists for
 * y >= 0 only. */
static int tank_f(double t, const double *y, const double *yp, double *f, void *user)
{
    if (y[0] < 0.0) return ++*(int *)user, 1;
    double rain = fmax(0.0, sin(t));
    f[0] = yp[0] + sqrt(y[0]) - 0.3 * rain * rain - 0.01;
    return 0;
}

static void bounds_hold(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        int outside = 0;
        double y = 0.01, yp = -0.09, zero = 0.0, coarse = 0.0, fine = 0.0;
        for (int run = 0; run < 2; run++) {
            dae_options o = options_for(methods[k], run ? 1e-9 : 1e-4);
            dae_residual form = {.n = 1, .f = tank_f, .user = &outside, .lower_bounds = &zero};
            dae_problem *problem;
            dae_solver *s;
            double value = y;
            dae_status status;
            assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
            while ((status = dae_solver_step(s, 12.0)) == DAE_STEPPED) {
                assert_true(dae_solver_stats(s)->steps < 2000);
                assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, &value), DAE_OK);
                assert_true(value >= 0.0);
            }
            if (status != DAE_OK) fail_msg("%s: %s", methods[k], dae_solver_diag(s)->text);
            assert_int_equal(dae_solver_at(s, 12.0, 0, run ? &fine : &coarse), DAE_OK);
            dae_solver_free(s);
            dae_problem_free(problem);
        }
        assert_int_equal(outside, 0);
        assert_true(fabs(coarse - fine) < 3e-3);
    }
}

/* ---- failures ---- */

/* The second equation has no value beyond t = 1, or no solution */
static int hole_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const bool lost = *(const bool *)user;
    f[0] = yp[0] + y[0];
    f[1] = t > 1.0 ? (lost ? 1.0 + y[1] * y[1] : NAN) : y[1] - y[0];
    return 0;
}

static void failures_name_equation_and_stage(void **state)
{
    (void)state;
    const char *const equations[2] = {"decay", "copy"};
    for (int k = 0; k < METHODS; k++)
        for (int lost = 0; lost < 2; lost++) {
            bool kind = lost;
            double y[2] = {1.0, 1.0}, yp[2] = {-1.0, -1.0};
            dae_options o = options_for(methods[k], 1e-6);
            dae_residual form = {.n = 2, .f = hole_f, .user = &kind, .equation_names = equations};
            dae_problem *problem;
            dae_solver *s;
            assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
            dae_status status = dae_solver_run(s, 2.0, y, NULL);
            const dae_diag *told = dae_solver_diag(s);
            assert_int_equal(status, lost ? DAE_ERR_CONVERGENCE : DAE_ERR_EVALUATION);
            assert_int_equal(told->equation, 1);
            assert_non_null(strstr(told->text, "copy"));
            int stage = 0;
            const char *named = strstr(told->text, "stage ");
            if (!named || sscanf(named, "stage %d", &stage) != 1) fail_msg("%s", told->text);
            assert_in_range(stage, 1, 7);
            dae_solver_free(s);
            dae_problem_free(problem);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectifier),
        cmocka_unit_test(restarts),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(failures_name_equation_and_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
