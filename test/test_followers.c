/* Definitions, and variables that a form for explicit methods does not integrate, since they follow
 * from others, are as accurate as what is integrated: where they magnify errors, weights of the
 * others are smaller. Where rounding alone is magnified beyond a tolerance, a note says so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static char notes[4000];

static void collect(const char *text, void *user)
{
    (void)user;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", text);
}

/* The value of the last variable of a model at t */
typedef double truth_fn(double t);

/* The largest error of the last variable at 200 rows, in tolerances of its value, or of its largest
 * one where `size` is greater */
static double worst_error(const char *text, const char *method, double rtol, double stop,
                          truth_fn *truth, double size)
{
    dae_model model = {.text = text, .file = "follower.mo", .engine = DAE_ENGINE_TAPE};
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = method, o.rtol = rtol, o.atol = 1e-3 * rtol, o.message = collect;
    notes[0] = '\0';
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    const size_t n = (size_t)dae_problem_variable_count(p);
    double *x = calloc(n, sizeof *x), worst = 0.0, from, to = 0.0;
    for (int row = 1; row <= 200; row++) {
        const double t = row * stop / 200.0;
        dae_status status = DAE_STEPPED;
        while (status > 0 && to < t) {
            status = dae_solver_step(s, stop);
            if (status < 0) fail_msg("%s: %s", method, dae_solver_diag(s)->text);
            dae_solver_last_step(s, &from, &to);
        }
        assert_int_equal(dae_solver_variables(s, t < to ? t : to, x), DAE_OK);
        const double right = truth(t < to ? t : to);
        worst = fmax(worst, fabs(x[n - 1] - right) / (rtol * fmax(fabs(right), size) + o.atol));
    }
    free(x);
    dae_solver_free(s);
    dae_problem_free(p);
    return worst;
}

static double nothing(double t)
{
    (void)t;
    return 0.0;
}

static const char *const explicit_methods[] = {"dopri:5", "dopri:8"};

/* ---- a difference of states ---- */

static double sine(double t)
{
    return sin(2.0 * t);
}

static void differences_that_are_used_are_right(void **state)
{
    (void)state;
    static const char text[] =
        "model Difference\n"
        "  Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = "
        "true);\n"
        "  Real F;\nequation\n"
        "  der(x) = cos(time) + 2e-6*cos(2*time) - 3*(x - sin(time) - 1e-6*sin(2*time));\n"
        "  der(y) = cos(time) - (y - sin(time));\n"
        "  F = 1e6*(x - y);\n"
        "  der(z) = 1e-6*F - 2*z;\nend Difference;\n";
    for (int k = 0; k < 2; k++)
        for (double rtol = 1e-4; rtol > 1e-8; rtol *= 0.1) {
            const double off = worst_error(text, explicit_methods[k], rtol, 10.0, sine, 1.0);
            if (!(off <= 10.0)) fail_msg("%s, %g: %g", explicit_methods[k], rtol, off);
            assert_null(strstr(notes, "rounding"));
        }
}

/* ---- diodes without states ---- */

/* v of 80000 i = v, 0 = i + Is (exp(v/Vt) - 1) - Is (exp(-v/Vt) - 1) + (v - u)/900 */
static double diode_voltage(double t)
{
    const double Is = 1e-12, Vt = 0.025, u = 6.7 * sin(t);
    double low = -1.0, high = 1.0;
    for (int k = 0; k < 60; k++) {
        const double v = 0.5 * (low + high);
        const double sum =
            v / 80000.0 + Is * (exp(v / Vt) - 1.0) - Is * (exp(-v / Vt) - 1.0) + (v - u) / 900.0;
        if (sum > 0.0)
            high = v;
        else
            low = v;
    }
    return low;
}

static void voltages_by_small_currents_are_right(void **state)
{
    (void)state;
    static const char text[] = "model Diodes\n  Real i, i1, i2, v;\nequation\n"
                               "  80000*i = v;\n"
                               "  i1 = 1e-12*(exp(v/0.025) - 1);\n"
                               "  i2 = 1e-12*(exp(-v/0.025) - 1);\n"
                               "  0 = -i - i1 + i2 + (6.7*sin(time) - v)/900;\nend Diodes;\n";
    for (int k = 0; k < 2; k++)
        for (double rtol = 1e-3; rtol > 1e-7; rtol *= 0.1) {
            const double off =
                worst_error(text, explicit_methods[k], rtol, 10.0, diode_voltage, 0.5);
            if (!(off <= 10.0)) fail_msg("%s, %g: %g", explicit_methods[k], rtol, off);
        }
}

/* ---- definitions, for methods of residual forms ---- */

/* v = k i, with i in a unit of its own: what v is off must not depend on it. */
static double error_in_units(double k, const char *method, double rtol)
{
    char text[600];
    snprintf(text, sizeof text,
             "model Defined\n  Real i(start = 0, fixed = true), x(start = 0, fixed = true), v;\n"
             "equation\n  %g*i = v;\n"
             "  der(i) = 2*cos(2*time)/%g - 2*(i - sin(2*time)/%g);\n"
             "  der(x) = v - x;\nend Defined;\n",
             k, k, k);
    return worst_error(text, method, rtol, 10.0, sine, 1.0);
}

static void units_of_what_definitions_are_made_of_do_not_matter(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas", "taylor", "liex", "sdirk:4"};
    for (int k = 0; k < 6; k++)
        for (double rtol = 1e-3; rtol > 1e-7; rtol *= 0.1) {
            const double off = error_in_units(78077.0, methods[k], rtol),
                         right = error_in_units(1.0, methods[k], rtol);
            if (!(off <= 3.0 * right + 1.0))
                fail_msg("%s, %g: %g, not %g", methods[k], rtol, off, right);
        }
}

/* Where no tolerance of i could make one of v, the run goes on, and says so. */
static void hopeless_definitions_are_told(void **state)
{
    (void)state;
    static const char text[] = "model Hopeless\n"
                               "  Real p(start = 3.141592653589793, fixed = true);\n"
                               "  Real z(start = 0, fixed = true), v;\nequation\n"
                               "  v = 1e13*sin(p);\n"
                               "  der(p) = 3.141592653589793 - p;\n"
                               "  der(z) = 1e-9*v - 2*z + cos(time);\nend Hopeless;\n";
    static const char *const methods[] = {"bdf", "radau", "rodas"};
    for (int k = 0; k < 3; k++) {
        worst_error(text, methods[k], 1e-6, 3.0, nothing, 1.0);
        if (!strstr(notes, "v follows from p")) fail_msg("%s: %s", methods[k], notes);
        assert_null(strstr(notes, "residual forms"));
    }
}

/* ---- nanoamperes beside volts ---- */

static double volts(double t)
{
    return -1.2 * (1.0 + 1870.0 * t - 77000.0 * t * t) - 1.3 * sin(1370.0 * t);
}

/* The circuit's rows have v2'' with capacities, and currents with 1. */
static void small_units_are_not_lost(void **state)
{
    (void)state;
    static const char text[] =
        "model Nano\n"
        "  Real i0(nominal = 3e-9), i1(nominal = 7e-9), i2(nominal = 4e-8), i5(nominal = 1e-8);\n"
        "  Real i6(start = 0, fixed = true, nominal = 1e-9);\n"
        "  Real v1(start = 0, fixed = true), v2(start = -1.2, fixed = true);\n"
        "equation\n"
        "  i0 = 2.6e-9*v1;\n"
        "  i1 = 2e-9*v2;\n"
        "  i2 = 2.3e-12*der(v1);\n"
        "  i5 = -1.6e-13*der(v1);\n"
        "  2.2e6*der(i6) + 5e8*i6 = v2 - v1 + 2.2e6*3e-6*cos(3000*time) + 0.5*sin(3000*time)\n"
        "    - (-1.2*(1 + 1870*time - 77000*time^2) - 1.3*sin(1370*time)) + 1.3*sin(1370*time);\n"
        "  i0 + i2 + 7.6e-12*der(v1) + 1.4e-13*(der(v1) - der(v2)) - i5 - i6 =\n"
        "    2.6e-9*1.3*sin(1370*time) + (2.3e-12 + 7.6e-12 + 1.6e-13)*1781*cos(1370*time)\n"
        "    + 1.4e-13*(1781*cos(1370*time) + 1.2*(1870 - 154000*time) + 1781*cos(1370*time))\n"
        "    - 1e-9*sin(3000*time);\n"
        "  i1 - 1.4e-13*(der(v1) - der(v2)) + i6 =\n"
        "    2e-9*(-1.2*(1 + 1870*time - 77000*time^2) - 1.3*sin(1370*time))\n"
        "    - 1.4e-13*(1781*cos(1370*time) + 1.2*(1870 - 154000*time) + 1781*cos(1370*time))\n"
        "    + 1e-9*sin(3000*time);\nend Nano;\n";
    const double off = worst_error(text, "dopri:5", 1e-9, 1e-3, volts, 1.0);
    if (!(off <= 10.0)) fail_msg("%g", off);
}

/* ---- rounding ---- */

static void magnified_rounding_is_told(void **state)
{
    (void)state;
    static const char text[] =
        "model Rounding\n"
        "  Real x(start = 1, fixed = true), y(start = 1, fixed = true), z(start = 0, fixed = "
        "true);\n"
        "  Real F;\nequation\n"
        "  der(x) = -x*(1 + sin(time)^2);\n  der(y) = -y*(2 - cos(time)^2);\n"
        "  F = 1e13*(x - y);\n  der(z) = 1e-9*F - 2*z;\nend Rounding;\n";
    worst_error(text, "dopri:5", 1e-6, 3.0, nothing, 1.0);
    if (!strstr(notes, "F follows from")) fail_msg("%s", notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_that_are_used_are_right),
        cmocka_unit_test(voltages_by_small_currents_are_right),
        cmocka_unit_test(units_of_what_definitions_are_made_of_do_not_matter),
        cmocka_unit_test(hopeless_definitions_are_told),
        cmocka_unit_test(small_units_are_not_lost),
        cmocka_unit_test(magnified_rounding_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
