/* A ball on a stiff wall: x'' = -9.81 + exp(-k x). The exponential is as good as absent until the
 * ball is there, and then changes by e within 1/k, less than the tolerance of x where that is
 * loose. An iteration that ends for the size of its corrections lets the ball through.
 *
 * x(4.7), v(4.7) by DOP853 of SciPy with rtol = 3e-14, and their condition: the largest number of
 * tolerances by which they move if x or v moves by one tolerance at some time before, from exp(h J)
 * along that solution. */
#include "model_run.h"

enum { END_TENTHS = 47 };

typedef struct wall {
    int k;
    double x, v, condition_x, condition_v;
} wall;

static const wall walls[] = {
    {50, 0.886374003, 1.49309814, 15.0, 89.0},
    {500, 0.903508668, -1.37592149, 38.0, 131.0},
    {2000, 0.854802189, -1.68783324, 61.0, 140.0},
    {5000, 0.842376558, -1.75857099, 85.0, 178.0},
};

static const char TEXT[] = "model Wall\n"
                           "  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                           "equation\n"
                           "  der(x) = v;\n"
                           "  der(v) = -9.81 + exp(-%d*x);\n"
                           "end Wall;\n";

static double off(double value, double exact, double condition, const dae_options *o)
{
    return fabs(value - exact) / (o->rtol * fabs(exact) + o->atol) / condition;
}

/* No value is off by more than 100 tolerances times the condition. */
static void check(const wall *w, const char *method, double rtol)
{
    const double limit = 100.0;
    char text[sizeof TEXT + 8];
    run r;
    snprintf(text, sizeof text, TEXT, w->k);
    prepare(&r, text);
    r.options.method = method;
    r.options.rtol = rtol;
    r.options.atol = 1e-3 * rtol;
    OK(start_at(&r, 0.0));
    dae_status status = dae_solver_run(r.solver, 0.1 * END_TENTHS, r.values, NULL);
    if (status != DAE_OK)
        fail_msg("%s at %g, k = %d: %s", method, rtol, w->k, dae_solver_diag(r.solver)->text);
    const double x = off(r.values[0], w->x, w->condition_x, &r.options);
    const double v = off(r.values[1], w->v, w->condition_v, &r.options);
    if (!(fmax(x, v) <= limit))
        fail_msg("%s at %g, k = %d: x is off by %g, v by %g", method, rtol, w->k, x, v);
    end(&r);
}

static const double RTOLS[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7};
enum { ALL = sizeof RTOLS / sizeof *RTOLS, FIRST = 3 };

static void check_methods(const char *const *methods, int count, int rtols)
{
    for (size_t k = 0; k < sizeof walls / sizeof *walls; k++)
        for (int m = 0; m < count; m++)
            for (int i = 0; i < rtols; i++) check(&walls[k], methods[m], RTOLS[i]);
}

static void no_method_goes_through_a_wall(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto",  "bdf",   "radau",    "rodas",
                                          "sdirk", "gauss", "colloc2nd"};
    check_methods(methods, sizeof methods / sizeof *methods, ALL);
}

/* Its estimate is up to 50 times too small in the steps in which the wall begins, where the force
 * changes by some e within a step: at 1e-6 and k = 5000 108 tolerances times the
 * condition are left. */
static void nor_do_second_order_formulas(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf2nd"};
    check_methods(methods, 1, FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_method_goes_through_a_wall),
                                       cmocka_unit_test(nor_do_second_order_formulas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
