/* Values in other units: those of the SI brochure, exact where a factor is a power of ten; what
 * measures something else, or is not known, gives NAN. */
#include "daedal.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void factors_are_those_of_the_definitions(void **state)
{
    static const struct {
        double value;
        const char *from, *to;
        double exact, shift; /* shift: of the zero, where rounding is that of a larger number */
    } cases[] = {
        {3.0, "ms", "s", 0.003, 0.0},
        {7.0, "us", "ms", 0.007, 0.0},
        {0.25, "h", "min", 15.0, 0.0},
        {90.0, "min", "h", 1.5, 0.0},
        {4.7, "kOhm", "Ohm", 4700.0, 0.0},
        {12.0, "mV", "V", 0.012, 0.0},
        {1.0, "bar", "Pa", 1e5, 0.0},
        {36.0, "km/h", "m/s", 10.0, 0.0},
        {1.0, "m3", "l", 1000.0, 0.0},
        {180.0, "deg", "rad", 3.14159265358979323846, 0.0},
        {60.0, "rpm", "rad/s", 6.283185307179586, 0.0},
        {25.0, "degC", "K", 298.15, 700.0},
        {298.15, "K", "degC", 25.0, 700.0},
        {212.0, "degF", "degC", 100.0, 700.0},
        {-40.0, "degC", "degF", -40.0, 700.0},
        {20.0, "\u00B0C", "K", 293.15, 700.0},
        {5.0, "\u00B5A", "A", 5e-6, 0.0},
        {9.0, "m/s^2", "m/s2", 9.0, 0.0},
        {2.0, "N m", "J", 2.0, 0.0},
        {2.0, "m s-2", "m/s2", 2.0, 0.0}, /* not milliseconds */
        {2.0, " kg / m3 ", "g/l", 2.0, 0.0},
        {2.0, "Nm", "J", NAN, 0.0},
        {2.0, "N.m", "J", 2.0, 0.0},
        {50.0, "%", "%", 50.0, 0.0},
        {50.0, "%", "1", NAN, 0.0},
        {1.0, "V", "A", NAN, 0.0},
        {1.0, "apples", "kg", NAN, 0.0},
        {1.0, "1/min", "rad/s", NAN, 0.0}, /* revolutions or radians? */
        {1.0, "Hz", "rad/s", NAN, 0.0},
        {1.0, "degC/min", "K/s", NAN, 0.0},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double got = dae_unit_converted(cases[k].value, cases[k].from, cases[k].to);
        double exact = cases[k].exact, size = fabs(exact) + cases[k].shift;
        assert_true(isnan(exact) ? isnan(got) : fabs(got - exact) <= 2.0 * DBL_EPSILON * size);
    }
}

static void thousandths_are_the_numbers_that_a_text_has(void **state)
{
    (void)state;
    for (int k = 0; k < 100000; k++) assert_true(dae_unit_converted(k, "ms", "s") == k / 1000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_those_of_the_definitions),
        cmocka_unit_test(thousandths_are_the_numbers_that_a_text_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
