/* Rows inside of steps: what they cost where a step passes over something fast, and rows without a
 * finite value. */
#include "model_run.h"

/* No state feels the source, so that one step passes over 1e5 periods of it. Rows need a step or
 * two of their own each, and not one for every part of a period. */
static const char differentiators[] = MODEL("  parameter Real w = 1e6, C = 1e-6, R = 1e3;\n"
                                            "  Real e, u[2], i[2], x(start = 1, fixed = true);\n"
                                            "equation\n"
                                            "  e = sin(w*time);\n"
                                            "  i[1] = C*der(e - u[1]);\n"
                                            "  i[1] = (u[1] - u[2])/R;\n"
                                            "  u[1] = 0;\n"
                                            "  i[2] = C*der(u[2]);\n"
                                            "  der(x) = -x;");

static void fast_sources_cost_little(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau", "rodas", "sdirk:4"};
    enum { ROWS = 100 };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        int row = 0;
        prepare(&r, differentiators);
        r.options.rtol = 1e-6;
        r.options.method = methods[k];
        r.options.stop_time = 1.0;
        OK(start_at(&r, 0.0));
        for (dae_status status = DAE_STEPPED; status > 0;) {
            status = dae_solver_step(r.solver, 1.0);
            assert_true(status >= 0);
            for (; row < ROWS && row / (double)ROWS <= dae_solver_time(r.solver); row++) {
                double t = row / (double)ROWS, w = 1e6;
                OK(dae_solver_variables(r.solver, t, r.values));
                double u = r.values[dae_problem_find_variable(r.problem, "u[2]")];
                assert_true(fabs(u + 1e-3 * w * cos(w * t)) <= 1e-2);
            }
        }
        long residuals = dae_solver_stats(r.solver)->residuals;
        if (residuals > 100000) fail_msg("%s: %ld residuals", methods[k], residuals);
        end(&r);
    }
}

/* y is seen through by the half-explicit methods, and nothing but its row needs it where x has just
 * become negative. */
static void rows_have_values_or_fail(void **state)
{
    (void)state;
    static const char *const methods[] = {"herk", "herk:4", "dopri:5", "radau"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        dae_status status;
        prepare(&r, MODEL("  Real x(start = 1, fixed = true), v(start = 0, fixed = true), y;\n"
                          "equation\n"
                          "  der(x) = -1;\n  y = log(x);\n  der(v) = y;"));
        r.options.rtol = 1e-6;
        r.options.method = methods[k];
        r.options.stop_time = 1.0;
        OK(start_at(&r, 0.0));
        do {
            status = dae_solver_step(r.solver, 1.0);
            if (status < 0) break;
            if (dae_solver_variables(r.solver, dae_solver_time(r.solver), r.values) == DAE_OK)
                assert_true(isfinite(r.values[dae_problem_find_variable(r.problem, "y")]));
            else
                WORDS(diag_of(&r)->text, "y has no finite value|t = 1,");
        } while (status > 0);
        end(&r);
    }
}

/* Where an attempt is looked into and refused, another one takes its place: what is kept of the
 * inside of a step belongs to the attempt that was looked into. a = cos(t/2), whatever the source
 * does to y and to the pendulum. */
static const char looked_into[] =
    MODEL("  Real a(start = 1, fixed = true), b(start = 0, fixed = true);\n"
          "  Real u, y(start = 0, fixed = true);\n"
          "equation\n"
          "  der(a) = 0.5*b;\n"
          "  der(b) = -0.5*a;\n"
          "  u = (1 + a)*sin(60*time);\n"
          "  der(y) = 1000*max(u - 1.98, 0) - y;");
static const char pendulum_looked_into[] = MODEL(
    "  Real a(start = 1, fixed = true), b(start = 0, fixed = true), u;\n"
    "  Real p(start = 1, fixed = true), q(start = 0), r(start = 0), s(start = 0, fixed = true);\n"
    "  Real y(start = 0, fixed = true), lambda;\n"
    "equation\n"
    "  der(a) = 0.5*b;\n"
    "  der(b) = -0.5*a;\n"
    "  u = max((1 + a)*sin(60*time) - 1.98, 0);\n"
    "  der(p) = r;\n"
    "  der(q) = s;\n"
    "  der(r) = -lambda*p;\n"
    "  der(s) = -lambda*q - 1 + u;\n"
    "  p^2 + q^2 = 1;\n"
    "  der(y) = 1000*u - y;");

static void rows_agree_with_a_cosine(const char *text, const char *method)
{
    const double apart = 0.003, last = 20.0;
    run r;
    int row = 0;
    prepare(&r, text);
    r.options.rtol = 1e-6;
    r.options.method = method;
    r.options.stop_time = last;
    OK(start_at(&r, 0.0));
    for (dae_status status = DAE_STEPPED; status > 0;) {
        status = dae_solver_step(r.solver, last);
        assert_true(status >= 0);
        for (; row * apart <= dae_solver_time(r.solver); row++) {
            const double t = row * apart;
            OK(dae_solver_variables(r.solver, t, r.values));
            const double a = r.values[dae_problem_find_variable(r.problem, "a")];
            if (!(fabs(a - cos(0.5 * t)) <= 1e-5)) /* 10 tolerances */
                fail_msg("%s: a(%.9g) is off by %g", method, t, a - cos(0.5 * t));
        }
    }
    end(&r);
}

static void rows_belong_to_the_step_that_was_taken(void **state)
{
    (void)state;
    static const char *const methods[] = {"dopri:5", "dopri:8", "herk:5", "herk",
                                          "hem",     "phem",    "radau",  "rodas"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        rows_agree_with_a_cosine(looked_into, methods[k]);
        rows_agree_with_a_cosine(pendulum_looked_into, methods[k]);
    }
}

static void load_file(run *r, const char *file)
{
    const char *slash = strrchr(__FILE__, '/');
    char path[512];
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, sizeof path, "%.*s../models/%s", length, __FILE__, file);
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    memset(r, 0, sizeof *r);
    r->options = dae_options_default();
    assert_int_equal(dae_problem_from_model(&model, &r->problem, &r->diag), DAE_OK);
}

/* Where the reduced system of a derivative array cannot be renewed the run ends, and rows of its
 * last step are still asked for. */
static void rows_remain_where_the_index_changes(void **state)
{
    (void)state;
    run r;
    dae_status status;
    load_file(&r, "traps/mixed.mo");
    OK(dae_problem_set_start(r.problem, "v", 1.0, &r.diag));
    r.options.method = "lobattoc:6";
    r.options.projection = DAE_PROJECTION_NONE;
    OK(start_at(&r, 1e-9));
    while ((status = dae_solver_step(r.solver, 1.0)) > 0) {
    }
    /* when that happens rounding decides: ranks are those of a solution at rest near 1e-23 */
    if (status < 0) WORDS(diag_of(&r)->text, "The index changes at t = ");
    double t = dae_solver_time(r.solver);
    OK(dae_solver_variables(r.solver, t + 1e-6, r.values));
    assert_true(isfinite(value(&r, "x")));
    end(&r);
}

/* Each product of GMRES would solve the whole array. */
static void arrays_refuse_gmres(void **state)
{
    (void)state;
    run r;
    load_file(&r, "structure/ring.mo");
    r.options.method = "sdirk:4";
    r.options.linear_solver = DAE_LINEAR_GMRES;
    assert_int_equal(start_at(&r, 0.0), DAE_ERR_UNSUPPORTED);
    WORDS(diag_of(&r)->text, "GMRES|Use another linear solver");
    end(&r);
}

/* 1e298 steps to go. */
static void steps_that_are_lost_at_the_end_are_refused(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;"));
    r.options.max_step = 1e-300;
    OK(start_at(&r, 0.0));
    assert_int_equal(dae_solver_step(r.solver, 0.05), DAE_ERR_ARGUMENT);
    WORDS(diag_of(&r)->text, "1e-300 do not reach t = 0.05");
    end(&r);
}

/* All times between two ends of steps have a row with the source's value. */
static void every_moment_has_a_row(const char *text, const char *method, double tend,
                                   const char *source, double amplitude, double frequency)
{
    static const double places[] = {0.25, 0.5, 0.75};
    run r;
    dae_status status;
    double before = 0.0;
    prepare(&r, text);
    r.options.rtol = 1e-8;
    r.options.atol = 1e-11;
    r.options.method = method;
    r.options.stop_time = tend;
    OK(start_at(&r, 0.0));
    const int u = dae_problem_find_variable(r.problem, source);
    do {
        status = dae_solver_step(r.solver, tend);
        if (status < 0) fail_msg("%s: %s", method, diag_of(&r)->text);
        const double now = dae_solver_time(r.solver);
        for (int k = 0; k < 3 && now > before; k++) {
            const double t = before + places[k] * (now - before);
            OK(dae_solver_variables(r.solver, t, r.values));
            const double right = amplitude * sin(2.0 * 3.14159265 * frequency * t);
            assert_true(fabs(r.values[u] - right) <= 100.0 * 1e-8 * amplitude);
        }
        before = now;
    } while (status > 0);
    end(&r);
}

/* A step ends a moment before the kink of a variable that moves, and the next one begins a moment
 * after it; so it is where a diode's voltage falls within a time in which no state moves. */
static void no_row_is_lost_beside_kinks_and_jumps(void **state)
{
    (void)state;
    static const char rectifier[] =
        MODEL("  Real vs, vr, iL(start=0, fixed=true), vC(start=0, fixed=true);\n  Boolean cond;\n"
              "equation\n"
              "  vs = 20*sin(2*3.14159265*50*time);\n  vr = abs(vs);\n"
              "  cond = iL > 1e-6 or vr > vC;\n"
              "  0.05*der(iL) = if cond then vr - vC else 0;\n  1e-4*der(vC) = iL - vC/100;");
    static const char diode[] = MODEL(
        "  Real u, a, k(start = 0, fixed = true), i(start = 0, fixed = true), v;\n"
        "equation\n"
        "  u = 5*sin(2*3.14159265*1000*time);\n  v = u - 10*i;\n  1e-3*der(i) = v - a;\n"
        "  i = 1e-14*(exp((a - k)/0.02585) - 1) + 1e-12*(a - k);\n  1e-5*der(k) = i - k/1000;");
    static const char *const methods[] = {"auto", "bdf", "radau", "rodas"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        every_moment_has_a_row(rectifier, methods[m], 0.1, "vs", 20.0, 50.0);
    every_moment_has_a_row(diode, "auto", 0.01, "u", 5.0, 1000.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_is_lost_beside_kinks_and_jumps),
        cmocka_unit_test(fast_sources_cost_little),
        cmocka_unit_test(rows_have_values_or_fail),
        cmocka_unit_test(rows_belong_to_the_step_that_was_taken),
        cmocka_unit_test(rows_remain_where_the_index_changes),
        cmocka_unit_test(arrays_refuse_gmres),
        cmocka_unit_test(steps_that_are_lost_at_the_end_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
