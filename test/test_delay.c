/* delay(expr, delayTime, delayMax): expected values are formulas, by the method of steps. */
#include "model_run.h"

/* Errors may be so many tolerances. */
static const double MANY = 100.0;

static const char *const METHODS[] = {"auto", "radau", "bdf", "rodas", "sdirk", "gauss", "irk",
                                      "liex", "hem5",  "hem", "herk",  "phem",  "glm",   "sirk"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* The value of a variable at times of a run, between its steps as well. */
static void follow(const char *text, const char *method, double tolerance, double stop,
                   const char *name, double (*exact)(double), double many)
{
    run r;
    prepare(&r, text);
    r.options.method = method;
    r.options.rtol = r.options.atol = tolerance;
    OK(start_at(&r, 0.0));
    for (double t = 0.03; t < stop; t += 0.1) {
        OK(step_to(&r, t));
        double found = value(&r, name);
        if (fabs(found - exact(t)) <= many * tolerance) continue;
        print_error("%s, %g: %s(%g) = %.17g, not %.17g\n", method, tolerance, name, t, found,
                    exact(t));
        fail();
    }
    end(&r);
}

static void follow_all(const char *text, double stop, const char *name, double (*exact)(double))
{
    for (int k = 0; k < METHOD_COUNT; k++) {
        follow(text, METHODS[k], 1e-4, stop, name, exact, MANY);
        follow(text, METHODS[k], 1e-8, stop, name, exact, MANY);
    }
}

/* ---- values ---- */

static double steps_of_one(double t)
{
    double y = 1.0 - t;
    if (t > 1.0) y += (t - 1.0) * (t - 1.0) / 2.0;
    if (t > 2.0) y -= pow(t - 2.0, 3) / 6.0;
    return t > 3.0 ? y + pow(t - 3.0, 4) / 24.0 : y;
}

static void test_feedback(void **state)
{
    (void)state;
    follow_all(MODEL("Real y(start=1, fixed=true);\nequation\nder(y) = -delay(y, 1);"), 4.0, "y",
               steps_of_one);
}

static double late_sine(double t)
{
    return t > 0.3 ? sin(t - 0.3) : 0.0;
}

static void test_source(void **state)
{
    (void)state;
    follow_all(MODEL("Real y = delay(sin(time), lag);\nparameter Real lag = 0.3;\n"
                     "Real x(start=0, fixed=true);\nequation\nder(x) = y;"),
               3.0, "y", late_sine);
}

/* Rows of a step that has ended: what it needs of the past is still there. */
static void test_rows_of_a_step(void **state)
{
    (void)state;
    run r;
    dae_status status;
    double from = 0.0;
    prepare(&r, MODEL("Real y = delay(sin(time), 0.3), x(start=0, fixed=true);\nequation\n"
                      "der(x) = 1;"));
    r.options.rtol = r.options.atol = 1e-6;
    OK(start_at(&r, 0.0));
    while ((status = dae_solver_step(r.solver, 3.0)) > 0) {
        double t = from + 0.05 * (dae_solver_time(r.solver) - from);
        if (status == DAE_STEPPED) {
            assert_int_equal(dae_solver_variables(r.solver, t, r.values), DAE_OK);
            double y = r.values[dae_problem_find_variable(r.problem, "y")];
            assert_true(fabs(y - late_sine(t)) < 1e-6);
        }
        from = dae_solver_time(r.solver);
    }
    OK(status);
    end(&r);
}

static double varied(double t)
{
    double then = t - 0.5 - 0.2 * sin(t);
    return exp(-fmax(0.0, then));
}

/* The delay time moves, by itself and with a variable that is the time. */
static void test_varying(void **state)
{
    (void)state;
    follow_all(MODEL("Real x(start=1, fixed=true), z(start=0, fixed=true);\n"
                     "Real y = delay(x, 0.5 + 0.2*sin(time), 1);\nequation\nder(x) = -x;\n"
                     "der(z) = y;"),
               3.0, "y", varied);
    const char *by_variable = MODEL("Real x(start=1, fixed=true), z(start=0, fixed=true);\n"
                                    "Real s(start=0, fixed=true);\n"
                                    "Real y = delay(x, 0.5 + 0.2*sin(s), 1);\nequation\n"
                                    "der(x) = -x;\nder(z) = y;\nder(s) = 1;");
    follow(by_variable, "auto", 1e-8, 3.0, "y", varied, MANY);
    follow(by_variable, "bdf", 1e-8, 3.0, "y", varied, MANY);
}

/* y = y(t-1)/2 + u: a line with a reflection; jumps come back for ever, half as large. */
static double echoes(double t)
{
    double y = 0.0;
    for (int k = 0; k < 5; k++)
        if (t > 0.25 + k) y += pow(0.5, k) * (2.0 - (t - 0.25 - k));
    return y;
}

static void test_echoes(void **state)
{
    (void)state;
    follow_all(MODEL("Real u = if time < 0.25 then 0 else 2.25 - time;\n"
                     "Real y = 0.5*delay(y, 1) + u;\nReal x(start=0, fixed=true);\nequation\n"
                     "der(x) = y;"),
               4.0, "y", echoes);
}

static double reaction(double t)
{
    return 2.0 - (t > 0.5 ? exp(-(t - 0.5)) : 1.0);
}

/* A delayed force on what a constraint of index 3 moves. */
static void test_force_at_index_3(void **state)
{
    (void)state;
    const char *text = MODEL("Real x, v, r, w(start=1, fixed=true), p(start=0, fixed=true);\n"
                             "Real q(start=0, fixed=true);\nequation\n"
                             "der(x) = v;\nder(v) = delay(w, 0.5) + r;\nx = time^2;\n"
                             "der(w) = -w;\nder(p) = q;\nder(q) = delay(w, 0.5) - p;");
    static const char *const methods[] = {"auto", "radau", "bdf", "gauss"};
    for (int k = 0; k < 4; k++) {
        follow(text, methods[k], 1e-4, 3.0, "r", reaction, MANY);
        follow(text, methods[k], 1e-8, 3.0, "r", reaction, MANY);
    }
}

static double speed(double t)
{
    return t > 0.5 ? cos(t - 0.5) : 0.0;
}

/* A delayed value is differentiated: index 2. */
static void test_constraint_at_index_2(void **state)
{
    (void)state;
    const char *text = MODEL("Real x, u, s(start=0, fixed=true), c(start=1, fixed=true);\n"
                             "equation\nder(x) = u;\nx = delay(s, 0.5);\nder(s) = c;\n"
                             "der(c) = -s;");
    static const char *const methods[] = {"auto", "radau", "bdf"};
    for (int k = 0; k < 3; k++) {
        follow(text, methods[k], 1e-4, 3.0, "u", speed, 10.0 * MANY);
        follow(text, methods[k], 1e-8, 3.0, "u", speed, 10.0 * MANY);
    }
}

/* ---- events ---- */

static void test_pulse(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real u = if time < 0.25 then 0 else if time < 0.5 then 1 else -2;\n"
                       "Real y = delay(u, 0.4), x(start=0, fixed=true);\nequation\nder(x) = y;")));
    double at[4], y[4];
    int found = 0;
    dae_status status;
    while ((status = dae_solver_step(r.solver, 2.0)) > 0) {
        if (status != DAE_EVENT || (found > 0 && at[found - 1] == dae_solver_time(r.solver)))
            continue;
        assert_true(found < 4);
        at[found++] = dae_solver_time(r.solver);
        assert_true(dae_solver_step(r.solver, 2.0) > 0); /* behind it */
        y[found - 1] = value(&r, "y");
    }
    OK(status);
    assert_int_equal(found, 4);
    assert_true(fabs(at[0] - 0.25) < 1e-15 && fabs(at[1] - 0.5) < 1e-15);
    assert_true(at[2] == at[0] + 0.4 && at[3] == at[1] + 0.4);
    assert_true(y[0] == 0.0 && y[1] == 0.0 && y[2] == 1.0 && y[3] == -2.0);
    NEAR("x", 0.25 - 2.0 * (2.0 - 0.9));
    end(&r);
}

/* Whole numbers, delayed, are whole: what is read between their events, too. */
static void test_discrete(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Integer n(start=0, fixed=true);\nReal d = delay(n, 0.25);\n"
                       "Integer k = integer(d);\nReal x(start=0, fixed=true);\n"
                       "Boolean b(start=false, fixed=true);\nequation\nder(x) = k;\n"
                       "when sample(0.1, 0.1) then\n  n = pre(n) + 1;\nend when;\n"
                       "when d > 2.5 then\n  b = true;\nend when;")));
    for (int i = 0; i < 20; i++) {
        double t = 0.125 + 0.05 * i;
        OK(step_to(&r, t));
        double late = fmax(0.0, floor((t - 0.25) / 0.1 + 1e-9));
        EXACTLY("d", late);
        EXACTLY("k", late);
        EXACTLY("b", t > 0.55);
    }
    end(&r);
}

/* Steps may be as long as the delay: no turn of the past is passed over. */
static void test_crossings(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau", "bdf", "rodas"};
    for (int k = 0; k < 3; k++) {
        run r;
        prepare(&r, MODEL("Real w = delay(sin(50*time), 1), x(start=0, fixed=true);\n"
                          "Integer n(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                          "when w > 0.9 then\n  n = pre(n) + 1;\nend when;"));
        r.options.method = methods[k];
        r.options.rtol = r.options.atol = 1e-4;
        OK(start_at(&r, 0.0));
        for (double t = 1.0; t <= 4.0; t += 1.0) OK(step_to(&r, t));
        EXACTLY("n", 24.0); /* maxima of sin(50 s), s < 3: 50 s = pi/2 + 2 pi k */
        end(&r);
    }
}

/* Smoother and smoother: the method starts anew where a slope breaks, and not behind that. */
static void test_breaks_fade(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real y(start=1, fixed=true);\nequation\nder(y) = -delay(y, 1);")));
    OK(step_to(&r, 20.0));
    assert_in_range(r.events, 1, 6);
    end(&r);
}

/* ---- solvers ---- */

/* Two solvers of one problem have pasts of their own; a second start gives the same bits. */
static void test_solvers(void **state)
{
    (void)state;
    run r;
    double once[MOST_VALUES], again[MOST_VALUES];
    dae_solver *other = NULL;
    prepare(&r, MODEL("parameter Real a = 1;\nReal y(start=1, fixed=true);\nequation\n"
                      "der(y) = -a*delay(y, 0.7);"));
    OK(start_at(&r, 0.0));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &other, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(other, 0.5, NULL, NULL), DAE_OK);
    for (double t = 0.25; t <= 2.0; t += 0.25) {
        OK(step_to(&r, t));
        assert_int_equal(dae_solver_run(other, 0.5 + t, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_variables(r.solver, t, once), DAE_OK);
        assert_int_equal(dae_solver_variables(other, 0.5 + t, again), DAE_OK);
        assert_true(fabs(once[0] - again[0]) < 1e-7);
    }
    dae_solver_free(other);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    for (double t = 0.25; t <= 2.0; t += 0.25) OK(step_to(&r, t));
    assert_int_equal(dae_solver_variables(r.solver, 2.0, again), DAE_OK);
    assert_true(once[0] == again[0]);
    end(&r);
}

/* No delay is no delay, whether the text or a parameter says so. */
static void test_no_delay(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("parameter Real lag = 0;\nReal x(start=1, fixed=true);\n"
                       "Real a = delay(x, 0), b = delay(x, lag), c = delay(3.5, 1);\nequation\n"
                       "der(x) = -delay(x, lag);")));
    OK(step_to(&r, 1.0));
    NEAR("x", exp(-1.0));
    NEAR("a", exp(-1.0));
    NEAR("b", exp(-1.0));
    EXACTLY("c", 3.5);
    end(&r);
}

/* Values that the user sets are a break as well. */
static void test_restart(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y = delay(x, 0.5);\nequation\nder(x) = 0;")));
    OK(step_to(&r, 0.25));
    const double y[1] = {3.0};
    assert_int_equal(dae_problem_size(r.problem), 1);
    assert_int_equal(dae_solver_restart(r.solver, y, NULL), DAE_OK);
    OK(step_to(&r, 0.7));
    NEAR("y", 1.0);
    OK(step_to(&r, 0.8));
    NEAR("y", 3.0);
    end(&r);
}

/* ---- what is refused ---- */

static void refused(const char *text, const char *words, int line)
{
    run r;
    assert_int_not_equal(load(&r, text), DAE_OK);
    expect_words(r.diag.text, words, line);
    end(&r);
}
#define REFUSED(body, words)                                                                       \
    refused(MODEL("Real x(start=1, fixed=true), y;\nparameter Real p = 1;\nequation\n"             \
                  "der(x) = -x;\ny = " body ";"),                                                  \
            words, __LINE__)

static void test_texts(void **state)
{
    (void)state;
    REFUSED("delay(x, -1)", "m.mo:6|delay time is -1|negative");
    REFUSED("delay(x, 2, 1)", "m.mo:6|2 exceeds delayMax = 1");
    REFUSED("delay(x, 0.5 + 0.1*sin(time))", "m.mo:6|changes during the run|delayMax");
    REFUSED("delay(x, 1, 2 + x)", "m.mo:6|delayMax|parameter");
    REFUSED("delay(x)", "m.mo:6|delay wants 2 or 3 arguments, found 1");
    REFUSED("delay({x, x}, 1)", "m.mo:6|delay");
    REFUSED("delay(time > 1, 1)", "m.mo:6|delay");
}

/* A run that ends with these words. */
static void ends(const char *text, const char *words, int line)
{
    run r;
    prepare(&r, text);
    dae_status status = start_at(&r, 0.0);
    if (status == DAE_OK) status = step_to(&r, 3.0);
    assert_true(status < 0);
    expect_words(diag_of(&r)->text, words, line);
    end(&r);
}

static void test_runs(void **state)
{
    (void)state;
    ends(MODEL("parameter Real p = -1;\nReal x(start=1, fixed=true);\nequation\n"
               "der(x) = -delay(x, p);"),
         "m.mo:5|-1|negative", __LINE__);
    ends(MODEL("parameter Real p = 3;\nReal x(start=1, fixed=true);\nequation\n"
               "der(x) = -delay(x, p, 2);"),
         "m.mo:5|3|more than delayMax = 2", __LINE__);
    ends(MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = -delay(x, 1 + time, 2);"),
         "m.mo:4|delayMax = 2", __LINE__);
    ends(MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = -delay(x, 1 - time, 2);"),
         "m.mo:4|delay time", __LINE__);
}

static void test_methods(void **state)
{
    (void)state;
    run r;
    const char *text = MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = -delay(x, 0.5);");
    prepare(&r, text);
    r.options.method = "taylor";
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag),
                     DAE_ERR_UNSUPPORTED);
    WORDS(r.diag.text, "taylor|delayed values|line 4");
    r.options.method = "radau";
    r.options.fixed_step = 0.6;
    OK(start_at(&r, 0.0));
    assert_int_equal(step_to(&r, 3.0), DAE_ERR_ARGUMENT);
    WORDS(diag_of(&r)->text, "longer than a delay");
    dae_solver_free(r.solver);
    r.options.fixed_step = 0.125;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 1.0));
    NEAR("x", 1.0 - 1.0 + 0.125);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, -1.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
    WORDS(diag_of(&r)->text, "backwards|delayed");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_feedback),
                                       cmocka_unit_test(test_source),
                                       cmocka_unit_test(test_rows_of_a_step),
                                       cmocka_unit_test(test_varying),
                                       cmocka_unit_test(test_echoes),
                                       cmocka_unit_test(test_force_at_index_3),
                                       cmocka_unit_test(test_constraint_at_index_2),
                                       cmocka_unit_test(test_pulse),
                                       cmocka_unit_test(test_discrete),
                                       cmocka_unit_test(test_crossings),
                                       cmocka_unit_test(test_breaks_fade),
                                       cmocka_unit_test(test_solvers),
                                       cmocka_unit_test(test_no_delay),
                                       cmocka_unit_test(test_restart),
                                       cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_runs),
                                       cmocka_unit_test(test_methods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
