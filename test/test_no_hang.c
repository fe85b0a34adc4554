/* Every run ends: every method on jumps that no event announces, on surfaces that hold the
 * solution, at a pole, at the end of a square root, and where rounding errors are all that event
 * functions have. A run may fail; then it says when and why. */
#include "model_run.h"

#include <unistd.h>

enum {
    MOST_ATTEMPTS =
        100000, /* of one run, then it is judged by its pace: a run that would end after */
    MOST_ENDLESS = 30000000, /* so many attempts, a minute or two, is slow, but it ends */
    MOST_SECONDS = 600       /* of all: a loop that asks nobody is stopped by the alarm */
};

static int count_attempts(void *user)
{
    return ++*(long *)user > MOST_ATTEMPTS;
}

/* "what with method at rtol", for messages */
static void tell(const char *what, const dae_options *o, const dae_diag *diag)
{
    print_error("%s with %s at %g: %s\n", what, o->method, o->rtol, diag->text);
}

/* A run to its end; what the method cannot solve at all counts as such. */
static dae_status run_to_end(const char *what, const dae_problem *p, dae_options *o, double tend,
                             const double *y0, double *values)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    long attempts = 0;
    o->interrupt = count_attempts;
    o->user = &attempts;
    dae_status status = dae_solver_new(p, o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y0, NULL);
    bool started = status == DAE_OK;
    while (status >= 0 && (status = dae_solver_step(s, tend)) > 0) continue;
    if (status == DAE_OK && values) {
        status = dae_solver_variables(s, tend, values);
    }
    if (s && status < 0) diag = *dae_solver_diag(s);
    if (status == DAE_ERR_INTERRUPTED && diag.t * MOST_ENDLESS < tend * (double)attempts) {
        tell(what, o, &diag);
        fail_msg("%ld attempts without an end", attempts);
    }
    if (started && status < 0 && (!diag.text[0] || !isfinite(diag.t))) {
        tell(what, o, &diag);
        fail_msg("a failure that does not say what and when");
    }
    dae_solver_free(s);
    return status;
}

/* All methods at a loose and a tight tolerance. */
static void with_all_methods(const char *what, const dae_problem *p, double tend, const double *y0)
{
    static const double tolerances[] = {1e-4, 1e-10};
    alarm(MOST_SECONDS);
    for (int m = 0; dae_method_name(m); m++)
        for (int k = 0; k < 2; k++) {
            dae_options o = dae_options_default();
            o.method = dae_method_name(m);
            if (k == 1 && dae_method_at(m).max_order < 4) continue; /* it would end, but not soon */
            o.rtol = tolerances[k];
            o.atol = 1e-3 * o.rtol;
            run_to_end(what, p, &o, tend, y0, NULL);
        }
    alarm(0);
}

static void text_with_all_methods(const char *what, const char *text, double tend)
{
    run r;
    assert_int_equal(load(&r, text), DAE_OK);
    with_all_methods(what, r.problem, tend, NULL);
    dae_problem_free(r.problem);
}

#define JUMPS                                                                                      \
    MODEL("Real x(start=0, fixed=true), y = noEvent(sign(sin(2*time + 1)));\nequation\n"           \
          "der(x) = y - 0.1*x;")
#define SLIDES                                                                                     \
    MODEL("Real x(start=1, fixed=true);\nequation\n"                                               \
          "der(x) = 0.2 - noEvent(if x > 0 then 1 else -1);")

static void test_jumps(void **state)
{
    (void)state;
    text_with_all_methods("jumps", JUMPS, 4.0);
    text_with_all_methods("a jump of an algebraic variable alone",
                          MODEL("Real x(start=0, fixed=true), w,\n"
                                "y = noEvent(sign(sin(2*time + 1)));\nequation\n"
                                "der(x) = 1 + 0*y; w = 3*y;"),
                          4.0);
    text_with_all_methods("dry friction",
                          MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true), f;\n"
                                "equation\nder(x) = v; der(v) = -x - 0.3*f;\n"
                                "f = noEvent(sign(v));"),
                          4.0);
    text_with_all_methods("jumps beside an event",
                          MODEL("Real x(start=0, fixed=true), w, z,\n"
                                "y = noEvent(sign(sin(2*time + 1)));\nequation\n"
                                "der(x) = y; w = 3*y; z = if x > 0.1 then x else 0.1;"),
                          4.0);
}

static void test_slides(void **state)
{
    (void)state;
    text_with_all_methods("slides", SLIDES, 4.0);
    text_with_all_methods("slides by an algebraic variable",
                          MODEL("Real x(start=1, fixed=true), s;\nequation\n"
                                "der(x) = -s; s = noEvent(sign(x));"),
                          4.0);
    text_with_all_methods("chatters",
                          MODEL("Real x(start=1, fixed=true);\nequation\n"
                                "der(x) = if x > 0 then -1 else 1;"),
                          4.0);
}

static void test_ends_of_solutions(void **state)
{
    (void)state;
    text_with_all_methods("pole", MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = x^2;"),
                          4.0);
    text_with_all_methods("tank",
                          MODEL("Real level(start=1, fixed=true, min=0), q, inflow;\nequation\n"
                                "0.1*der(level) = inflow - q; q = sqrt(level);\n"
                                "inflow = if time < 0.1 then 1 else 0;"),
                          4.0);
    text_with_all_methods("tanks in a row",
                          MODEL("Real a(start=1, fixed=true, min=0), p,\n"
                                "b(start=0.5, fixed=true, min=0), q;\nequation\n"
                                "der(a) = -p; p = sqrt(a); der(b) = p - q; q = 3*sqrt(b);"),
                          4.0);
    text_with_all_methods("fold",
                          MODEL("Real x(start=1, fixed=true), y(start=1);\nequation\n"
                                "der(x) = -1; y^2 = x - 0.2;"),
                          4.0);
}

/* level' = -sqrt(level), level >= 0 */
static int tank(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    if (y[0] < 0.0) return 1;
    f[0] = yp[0] + sqrt(y[0]);
    return 0;
}

static void test_tank_at_its_bound(void **state)
{
    (void)state;
    dae_problem *p;
    const double least[1] = {0.0}, full[1] = {1.0};
    dae_residual form = {.n = 1, .f = tank, .lower_bounds = least};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    with_all_methods("tank with a bound", p, 4.0, full);
    dae_problem_free(p);
}

/* A relation on an algebraic variable whose search gets down to intervals of a few units in the
 * last place. */
static void test_events_of_rounding_errors(void **state)
{
    (void)state;
    text_with_all_methods("rectifier",
                          MODEL("Real e, u, i, Q(start=0, fixed=true);\n"
                                "Boolean on(start=true, fixed=true);\nequation\n"
                                "e = 10*sin(100*3.14159265358979*time + 0.5235987755982988);\n"
                                "e = u + 5*i;\non = if pre(on) then i >= 0 else u > 0;\n"
                                "if on then u = 0; else i = 0; end if;\nder(Q) = i;"),
                          0.05);
}

/* x of JUMPS: piecewise x' = +-1 - x/10 */
static double after_jumps(double tend)
{
    double t = 0.0, x = 0.0, y = 1.0;
    for (int k = 1; t < tend; k++, y = -y) {
        double next = fmin(tend, (k * 3.14159265358979324 - 1.0) / 2.0);
        x = 10.0 * y + (x - 10.0 * y) * exp(-0.1 * (next - t));
        t = next;
    }
    return x;
}

/* Implicit methods step over a jump that no event announces, at the price of some steps. Global
 * errors of bdf are some ten tolerances anyway. radau takes an estimate of rtol^(1/2 + 1/2s) / 10,
 * s = 3, 5 or 7 stages, for an error of rtol, which is true of smooth solutions only
 * (collocation_error_factor): it may miss each of the two jumps by some times
 * that. */
static void test_over_a_jump(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "radau:5", "radau:9", "rodas", "auto"};
    run r;
    assert_int_equal(load(&r, JUMPS), DAE_OK);
    int x = dae_problem_find_variable(r.problem, "x");
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int k = 4; k <= 10; k += 2) {
            dae_options o = dae_options_default();
            o.method = methods[m];
            o.rtol = pow(10.0, -k), o.atol = o.rtol;
            dae_status status = run_to_end("jumps", r.problem, &o, 4.0, NULL, r.values);
            double error = fabs(r.values[x] - after_jumps(4.0));
            double most = fmax(100.0 * o.rtol, pow(o.rtol, 4.0 / 7.0));
            if (status != DAE_OK || !(error < most))
                fail_msg("%s at %g: status %d, error %g", o.method, o.rtol, status, error);
        }
    dae_problem_free(r.problem);
}

/* A run that stalls says what it is, and goes on if asked to. */
static void test_stall_is_explained(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas", "dopri:5", "auto"};
    run r;
    assert_int_equal(load(&r, SLIDES), DAE_OK);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        dae_solver *s;
        dae_options o = dae_options_default();
        dae_status status;
        o.method = methods[m];
        assert_int_equal(dae_solver_new(r.problem, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        while ((status = dae_solver_step(s, 4.0)) > 0) continue;
        const dae_diag *diag = dae_solver_diag(s);
        if (status != DAE_ERR_STALL || !strstr(diag->text, "Variable x") ||
            !strstr(diag->text, "without an event"))
            fail_msg("%s: %s", methods[m], diag->text);
        assert_true(fabs(diag->t - 1.25) < 1e-3); /* x = 1 - 0.8 t */
        assert_int_equal(dae_solver_step(s, 4.0), DAE_STEPPED);
        dae_solver_free(s);
    }
    dae_problem_free(r.problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_over_a_jump),
                                       cmocka_unit_test(test_stall_is_explained),
                                       cmocka_unit_test(test_events_of_rounding_errors),
                                       cmocka_unit_test(test_jumps),
                                       cmocka_unit_test(test_slides),
                                       cmocka_unit_test(test_ends_of_solutions),
                                       cmocka_unit_test(test_tank_at_its_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
