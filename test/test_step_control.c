/* Step sizes of one-step methods after failures of the error test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "control/step_control.h"

/* Tries until the error C h^power is at most 1, for an estimate that is said to be of order
 * `order`; how many fail */
static int failures(double power, double scale, int order, double next_factor)
{
    step_control c;
    dae_options options = dae_options_default();
    attempt a = {.status = ATTEMPT_OK, .order = order};
    control_start_one_step(&c, 0.1, order, &options);
    c.first = false; /* a step was accepted before */
    for (int k = 0; k < 100; k++) {
        a.h = c.h;
        a.error = scale * pow(c.h, power);
        a.next_factor = next_factor;
        if (a.error <= 1.0) return k;
        control_reject(&c, &a);
        assert_true(c.h < a.h && c.h > 0.05 * a.h);
    }
    return 100;
}

/* Errors as the order says: one try more. */
static void the_order_is_believed_first(void **state)
{
    (void)state;
    for (int order = 1; order <= 8; order++) {
        double scale = 3.0 * pow(10.0, order);
        assert_int_equal(failures(order, scale, order, 0.0), 1);
    }
}

/* Order reduction: errors that fall as h or h^(1/2), though the method has order 5, are met within
 * the failures that the options allow (10), with what the method proposes, too. By the order alone
 * err = 20 would take 0.9 20^(-1/5) = 0.5 a try: 19 tries for the power 1/2. */
static void reduced_orders_are_seen(void **state)
{
    (void)state;
    assert_in_range(failures(1.0, 200.0, 5, 0.0), 2, 4);
    assert_in_range(failures(0.5, 20.0 / sqrt(0.1), 5, 0.0), 2, 8);
    assert_in_range(failures(0.5, 20.0 / sqrt(0.1), 5, 0.9), 2, 8);
}

/* An error that does not fall at all, or is no number, does not stop the reduction. */
static void constant_errors_shrink_the_step(void **state)
{
    (void)state;
    step_control c;
    dae_options options = dae_options_default();
    control_start_one_step(&c, 0.1, 4, &options);
    c.first = false;
    const double errors[] = {3.0, 3.0, 4.0, INFINITY, NAN, 3.0};
    for (int k = 0; k < 6; k++) {
        attempt a = {.status = ATTEMPT_OK, .order = 4, .h = c.h, .error = errors[k]};
        control_reject(&c, &a);
        assert_true(isfinite(c.h) && c.h < 0.95 * a.h && c.h > 0.05 * a.h);
    }
}

/* DASSL after failures of the error test [BCP96 5.2.3]: first 0.9 (2 EST + 1e-4)^(-1/(k+1)) within
 * 0.25 to 0.9, then a quarter, and from the third one on a quarter at order 1. */
static void dassl_goes_down(void **state)
{
    (void)state;
    const double factor[] = {0.9 * pow(2.0 * 2.0 + 1e-4, -0.25), 0.25, 0.25, 0.25};
    const int order[] = {3, 3, 1, 1};
    step_control c;
    dae_options options = dae_options_default();
    control_start(&c, 0.1, 3, &options, 5);
    c.dassl = true;
    c.first = false;
    for (int k = 0; k < 4; k++) {
        const double term = 2.0 * (c.order + 1); /* EST = 2; lower orders are worse */
        attempt a = {.status = ATTEMPT_OK,
                     .order = c.order,
                     .h = c.h,
                     .error = 2.0,
                     .terms = {4.0 * term, 4.0 * term, term, term}};
        control_reject(&c, &a);
        assert_int_equal(c.order, order[k]);
        assert_true(fabs(c.h / a.h - factor[k]) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_believed_first),
        cmocka_unit_test(reduced_orders_are_seen),
        cmocka_unit_test(constant_errors_shrink_the_step),
        cmocka_unit_test(dassl_goes_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
