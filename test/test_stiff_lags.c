/* T x' = sin t - x over ten decades of T [Prothero, Robinson 74]: every row, at and between the
 * ends of steps, within a few tolerances of the closed form. Where h is long beside T the error at
 * the end of a step is no matter of the order of the method; the first step leaps over a transient.
 */
#include "accuracy.h"

/* In tolerances; 10 are what is promised, errors of steps that add up where nothing is stiff
 * included. */
static const double MOST = 10.0;

static double T;

static void lag_exact(double t, double *x)
{
    x[0] = (sin(t) - T * cos(t) + T * exp(-t / T)) / (1.0 + T * T);
    x[1] = sin(t);
}

static void case_holds(void **state)
{
    static const double rtol[] = {1e-4, 1e-6, 1e-9};
    const char *method = *state;
    for (int k = 0; k <= 30; k++) {
        char text[300];
        T = pow(10.0, -k / 3.0);
        snprintf(text, sizeof text,
                 "model Lag\n  Real x(start = 0, fixed = true), u;\nequation\n  u = sin(time);\n"
                 "  %.17g * der(x) = u - x;\nend Lag;\n",
                 T);
        accuracy_case c = {.name = "lag",
                           .text = text,
                           .stop = 20.0,
                           .count = 2,
                           .names = {"x", "u"},
                           .exact = lag_exact};
        dae_problem *p = accuracy_problem(&c);
        trajectory reference = reference_of(&c, p);
        for (int i = 0; i < 3; i++) {
            accuracy_run r = {.reference = &reference, .problem = p, .tolerance = rtol[i]};
            bool cut = (k + i) % 2 == 0;
            assert_true(measure(&r, method, NULL, cut));
            assert_int_equal(r.found.status, DAE_OK);
            for (int j = 0; j < c.count; j++)
                if (!(fmax(r.found.ends[j], r.found.between[j]) <= MOST))
                    fail_msg("%s, T = %g, rtol = %g, %s: %g at ends, %g between", method, T,
                             rtol[i], c.names[j], r.found.ends[j], r.found.between[j]);
        }
        dae_problem_free(p);
    }
}

int main(void)
{
    (void)judge_case, (void)choose, (void)run_accuracy_cases;
    const struct CMUnitTest tests[] = {
        {"auto", case_holds, NULL, NULL, (void *)(uintptr_t) "auto"},
        {"radau", case_holds, NULL, NULL, (void *)(uintptr_t) "radau"},
        {"radau:9", case_holds, NULL, NULL, (void *)(uintptr_t) "radau:9"},
        {"radau:13", case_holds, NULL, NULL, (void *)(uintptr_t) "radau:13"},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
