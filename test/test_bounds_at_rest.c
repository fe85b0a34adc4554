/* Bounds where solutions come to rest, or through which they fall, for one-step methods. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"

static const char *const methods[] = {"radau",      "radau:5",    "radau:9", "radau:13",
                                      "lobattoc:4", "lobattoc:6", "gauss:4", "sirk:2",
                                      "sdirk:4",    "rodas",      "rodas:p2"};
enum { METHODS = 11 };

/* y' = 50 y (1 - y), 0 = z - sqrt(1 - y), both within 0 .. 1: at t = 2 both are at their bounds,
 * but for 1e-41. F counts how often it is asked outside, where it does not exist. */
static int logistic_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (y[0] < 0.0 || y[0] > 1.0 || y[1] < 0.0 || y[1] > 1.0) ++*(int *)user;
    f[0] = yp[0] - 50.0 * y[0] * (1.0 - y[0]);
    f[1] = y[1] - sqrt(1.0 - y[0]);
    return 0;
}

static void rest_at_a_bound(void **state)
{
    (void)state;
    const double lower[2] = {0.0, 0.0}, upper[2] = {1.0, 1.0};
    for (int k = 0; k < METHODS; k++)
        for (double rtol = 1e-2; rtol > 5e-6; rtol *= 0.1) {
            int outside = 0;
            double y[2] = {0.01, sqrt(0.99)};
            dae_residual form = {.n = 2,
                                 .f = logistic_f,
                                 .user = &outside,
                                 .lower_bounds = lower,
                                 .upper_bounds = upper};
            dae_options o = dae_options_default();
            dae_problem *p;
            dae_solver *s;
            dae_status status;
            o.method = methods[k];
            o.rtol = o.atol = rtol;
            o.stop_time = 2.0;
            assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
            while ((status = dae_solver_step(s, 2.0)) > 0) {
                assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
                assert_true(y[0] >= 0.0 && y[0] <= 1.0 && y[1] >= 0.0 && y[1] <= 1.0);
            }
            if (status != DAE_OK)
                fail_msg("%s, %g: %s", methods[k], rtol, dae_solver_diag(s)->text);
            assert_int_equal(dae_solver_at(s, 2.0, 0, y), DAE_OK);
            assert_true(fabs(y[0] - 1.0) <= 2.0 * rtol && y[1] <= sqrt(2.0 * rtol));
            assert_int_equal(outside, 0);
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* y' = -1 from y = 1, y >= 0: it ends at t = 1, and does not crawl along the bound. */
static int fall_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0] + 1.0;
    return 0;
}

static void no_way_through(void **state)
{
    (void)state;
    const double lower = 0.0;
    for (int k = 0; k < METHODS; k++) {
        double y = 1.0;
        dae_residual form = {.n = 1, .f = fall_f, .lower_bounds = &lower};
        dae_options o = dae_options_default();
        dae_problem *p;
        dae_solver *s;
        o.method = methods[k];
        o.rtol = o.atol = 1e-4;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, &y, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 3.0, &y, NULL), DAE_ERR_BOUND);
        assert_int_equal(dae_solver_diag(s)->variable, 0);
        assert_true(fabs(dae_solver_time(s) - 1.0) < 1e-3);
        assert_true(dae_solver_stats(s)->attempts < 200);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_at_a_bound),
        cmocka_unit_test(no_way_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
