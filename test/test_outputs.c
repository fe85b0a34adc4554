/* Variables that nothing else needs are evaluated after the solve: they stop no start, throttle no
 * step, and have the values that their equations say, whatever these are. */
#include "model_run.h"

static int outputs_of(const char *text)
{
    run r;
    prepare(&r, text);
    int count = dae_problem_counts(r.problem).outputs;
    end(&r);
    return count;
}

static void expect_outputs(const char *text, int expected, int line)
{
    int found = outputs_of(text);
    if (found == expected) return;
    print_error("line %d: %d outputs, not %d\n", line, found, expected);
    fail();
}
#define OUTPUTS(expected, text) expect_outputs(text, expected, __LINE__)

static int times(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
    return n;
}

/* ---- what is one ---------------------------------------------------------------------------- */

static void test_solvable_equations(void **state)
{
    (void)state;
    OUTPUTS(1, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\ny = sqrt(x);"));
    OUTPUTS(1, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\nsqrt(x) - 3*y = 2;"));
    OUTPUTS(1, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\n-(y/4) + sqrt(x) = time;"));
    OUTPUTS(1, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\n"
                     "if x > 0.5 then y = x; else 2*y = 3; end if;"));
    OUTPUTS(2, MODEL("Real x(start=1), y, z;\nequation\nder(x) = -x;\ny = sqrt(x);\nz = y + 1;"));
    OUTPUTS(1, MODEL("Real x(start=1), y, z;\nequation\nder(x) = -x;\ny = sqrt(x);\nz = -y;"));
}

/* A factor that may be zero, or an equation that is not linear, determines by being solved. */
static void test_unsolvable_equations(void **state)
{
    (void)state;
    OUTPUTS(0,
            MODEL("parameter Real p = 2;\nReal x(start=1), y;\nequation\nder(x) = -x;\np*y = x;"));
    OUTPUTS(0, MODEL("Real x(start=1), y(start=1);\nequation\nder(x) = -x;\ny^3 + y = x;"));
    OUTPUTS(0, MODEL("Real x(start=1), y(start=1);\nequation\nder(x) = -x;\ny = x + cos(y)/2;"));
    OUTPUTS(0, MODEL("Real x(start=1), y(start=1);\nequation\nder(x) = -x;\n2/y = x;"));
    OUTPUTS(0, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\ny = der(x);"));
}

/* What something else needs. */
static void test_needed(void **state)
{
    (void)state;
    OUTPUTS(0, MODEL("Real x(start=1), y;\nequation\nder(x) = -y;\ny = x^2;"));
    OUTPUTS(0, MODEL("Real x(start=1), y(start=4, fixed=true);\nequation\nder(x) = -x;\ny = x^2;"));
    OUTPUTS(0, MODEL("Real x(start=1), y;\ninitial equation\ny = 4;\nequation\nder(x) = -x;\n"
                     "y = x^2;"));
    OUTPUTS(0, MODEL("Real x(start=1), y;\nequation\nder(x) = -x;\ny = x^2;\n"
                     "assert(y < 2, \"large\");"));
    OUTPUTS(0,
            MODEL("Real x(start=1), y;\nBoolean b = y > 0.5;\nequation\nder(x) = -x;\ny = x^2;"));
    OUTPUTS(0, MODEL("Real x(start=1), y;\ndiscrete Real k(start=0);\nequation\nder(x) = -x;\n"
                     "y = x^2;\nwhen sample(1, 1) then\nk = y;\nend when;"));
    OUTPUTS(0, MODEL("Real x(start=1), y, v;\nequation\nder(x) = -x;\ny = x^2;\nv = der(y);"));
    OUTPUTS(0, MODEL("Real x(start=1), y(stateSelect=StateSelect.prefer);\nequation\nder(x) = -x;\n"
                     "y = x^2;"));
}

/* Differences are unknowns, with what they are made of, where that does no harm: terms of more than
 * one source, in a polynomial, without functions of time that nothing else has. */
static void test_differences(void **state)
{
    (void)state;
#define LAG(declared, equations)                                                                   \
    MODEL("parameter Real p = 2;\nReal x(start=1), u" declared                                     \
          ";\nequation\nu = sin(time);\nder(x) = u - x;\n" equations)
    OUTPUTS(0, LAG(", e", "e = u - x;"));
    OUTPUTS(0, LAG(", e", "e = (sin(time) - x)/p;"));
    OUTPUTS(0, LAG(", e", "e = x - 3*time;"));
    OUTPUTS(0, LAG(", e", "e = p*(u - x)^2;"));
    OUTPUTS(0, LAG(", e", "if time > 0.5 then e = u - x; else e = 0; end if;"));
    OUTPUTS(1, LAG(", e, i", "e = u - x;\ni = e/p;"));
    OUTPUTS(0, LAG(", a, b, e", "a = p*u;\nb = p*x;\ne = a - b;"));
    OUTPUTS(1, LAG(", e", "e = x - p;"));              /* one source */
    OUTPUTS(2, LAG(", a, e", "a = p*x;\ne = a - x;")); /* the same */
    OUTPUTS(1, LAG(", e", "e = x + sin(7*time);"));    /* fast, for all we know */
    OUTPUTS(1, LAG(", e", "e = x^2 + u^2;"));          /* an energy */
    OUTPUTS(1, LAG(", e", "e = sqrt(u - x);"));
    OUTPUTS(1, LAG(", e", "e = 1/(u - x);"));
    OUTPUTS(2, LAG(", a, e", "a = sqrt(x);\ne = u - a;")); /* which would be needed then */
#undef LAG
}

/* x is an output too, though y = f(x) used it: y has left before. */
static void test_chains(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real a, b, c;\nequation\nc = sqrt(b);\na = 10*time;\nb = a^2 + a;")));
    dae_counts c = dae_problem_counts(r.problem);
    assert_int_equal(c.outputs, 3);
    assert_true(c.idle);
    OK(step_to(&r, 0.5));
    EXACTLY("a", 5.0);
    EXACTLY("b", 30.0);
    EXACTLY("c", sqrt(30.0));
    end(&r);
}

enum { LONG = 20000 };

/* As long as one likes. */
static void test_long_chain(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x(start=0, fixed=true), y[20000], last;\nequation\nder(x) = 1;\n"
                      "y[1] = x;\nfor i in 2:20000 loop y[i] = y[i-1] + x/i; end for;\n"
                      "last = y[20000];"));
    double sum = 1.0, *all = malloc((LONG + 2) * sizeof *all);
    assert_non_null(all);
    for (int i = 2; i <= LONG; i++) sum += 1.0 / i;
    assert_int_equal(dae_problem_counts(r.problem).equations, 1);
    assert_int_equal(dae_problem_variable_count(r.problem), LONG + 2);
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 1.0));
    assert_int_equal(dae_solver_variables(r.solver, 1.0, all), DAE_OK);
    assert_true(fabs(all[LONG + 1] - sum) < 1e-7);
    free(all);
    end(&r);
}

/* ---- starts and steps -------------------------------------------------------------------------
 */

static long attempts_of(const char *text, const char *method)
{
    run r;
    prepare(&r, text);
    r.options.method = method;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 3.0));
    long count = dae_solver_stats(r.solver)->attempts;
    end(&r);
    return count;
}

/* Infinite slopes, jumps and kinks cost nothing. */
static void test_steps_are_those_without_outputs(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau", "rodas", "dopri:5", "taylor"};
    for (int k = 0; k < 5; k++) {
        long with = attempts_of(MODEL("Real x(start=0, fixed=true), y, z, u, w;\nequation\n"
                                      "der(x) = cos(time) + 1e-3*x;\ny = sqrt(abs(x));\n"
                                      "z = noEvent(if x > 0.3 then 1 else abs(x - 0.1));\n"
                                      "u = 1e6*z + sin(1e5*time);\nw = atan2(x, time);"),
                                methods[k]);
        long without = attempts_of(MODEL("Real x(start=0, fixed=true);\nequation\n"
                                         "der(x) = cos(time) + 1e-3*x;"),
                                   methods[k]);
        assert_int_equal(with, without);
    }
}

static void test_root_at_zero(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y;\nequation\nder(x) = 1;\ny = sqrt(x);")));
    EXACTLY("y", 0.0);
    OK(step_to(&r, 1.0));
    NEAR("y", 1.0);
    end(&r);
    OK(begin(&r, MODEL("Real re, im, a, p;\nequation\nre = time;\nim = time;\n"
                       "a = sqrt(re*re + im*im);\np = atan2(im, re);")));
    OK(step_to(&r, 1.0));
    EXACTLY("a", sqrt(2.0));
    EXACTLY("p", atan2(1.0, 1.0));
    end(&r);
    OK(begin(&r, MODEL("Real i(start=0, fixed=true), psi, L;\nequation\npsi = 3*i;\n"
                       "3*der(i) = 3 - 3*i;\n"
                       "L = noEvent(if abs(i) > 2.2e-16 then abs(psi/i) else abs(psi/2.2e-16));")));
    OK(step_to(&r, 1.0));
    NEAR("i", 1.0 - exp(-1.0));
    NEAR("L", 3.0);
    end(&r);
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* At any time, between steps as at their ends, outputs belong to the states beside them. */
static int check_between_steps(const char *text, const char *method, bool constant_steps)
{
    run r;
    prepare(&r, text);
    r.options.method = method;
    r.options.rtol = 1e-4;
    if (constant_steps) r.options.fixed_step = 0.01;
    bool runs = dae_solver_new(r.problem, &r.options, &r.solver, &r.diag) == DAE_OK &&
                dae_solver_start(r.solver, 0.0, NULL, NULL) == DAE_OK;
    double before = 0.0;
    int rows = 0;
    while (runs && dae_solver_step(r.solver, 1.0) >= 0) {
        double now = dae_solver_time(r.solver);
        for (int k = 1; k <= 4; k++, rows++) {
            double t = k == 4 ? now : before + 0.25 * k * (now - before), all[3];
            assert_int_equal(dae_solver_variables(r.solver, t, all), DAE_OK);
            assert_true(all[1] == sqrt(all[0]));
            assert_true(all[2] == 2.0 * all[1] - t);
        }
        before = now;
        if (now >= 1.0) break;
    }
    end(&r);
    return rows > 0;
}

static void test_values_between_steps(void **state)
{
    (void)state;
    int ran = 0;
    for (int i = 0; dae_method_name(i); i++)
        ran += check_between_steps(MODEL("Real x(start=2, fixed=true), y, z;\nequation\n"
                                         "der(x) = -x + cos(time);\ny = sqrt(x);\nz = 2*y - time;"),
                                   dae_method_name(i), dae_method_at(i).constant_steps);
    assert_true(ran >= 30); /* others want a second order */
}

/* The energy of a pendulum, in whatever unknowns it is integrated. */
static void test_energy_of_a_mechanism(void **state)
{
    (void)state;
    static const char *const formulations[] = {"auto", "index1", "ggl", "residual"};
    for (int k = 0; k < 4; k++) {
        run r;
        prepare(&r, MODEL("Real x(start=1, fixed=true), y(start=0), u(start=0, fixed=true), v, L;\n"
                          "Real E, angle;\nequation\nder(x) = u;\nder(y) = v;\nder(u) = -2*L*x;\n"
                          "der(v) = -2*L*y - 9.81;\nx^2 + y^2 = 1;\n"
                          "E = (u^2 + v^2)/2 + 9.81*y;\nangle = atan2(x, -y);"));
        assert_int_equal(dae_problem_counts(r.problem).outputs, 2);
        r.options.formulation = formulations[k];
        r.options.rtol = 1e-6;
        if (start_at(&r, 0.0) == DAE_OK && step_to(&r, 0.3) == DAE_OK) {
            double x = value(&r, "x"), y = value(&r, "y"), u = value(&r, "u"), v = value(&r, "v");
            assert_true(fabs(value(&r, "E") - ((u * u + v * v) / 2.0 + 9.81 * y)) < 1e-13);
            assert_true(fabs(value(&r, "E")) < 1e-3);
            assert_true(value(&r, "angle") == atan2(x, -y));
        } else {
            assert_string_equal(formulations[k], "residual");
        }
        end(&r);
    }
}

/* ---- events -----------------------------------------------------------------------------------
 */

/* A relation in an output is an event, and held between events. */
static void test_relations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y;\nequation\nder(x) = 1;\n"
                       "y = if x > 0.5 then 2 else 1;")));
    assert_int_equal(dae_problem_counts(r.problem).outputs, 1);
    OK(step_to(&r, 0.4));
    EXACTLY("y", 1.0);
    dae_status status;
    while ((status = dae_solver_step(r.solver, 1.0)) == DAE_STEPPED) continue;
    assert_int_equal(status, DAE_EVENT);
    assert_true(fabs(dae_solver_time(r.solver) - 0.5) < 1e-9);
    OK(step_to(&r, 1.0));
    EXACTLY("y", 2.0);
    end(&r);
}

/* Where rounding has carried x below 0 at the event, the root has the value of the other branch. */
static void test_relation_at_its_crossing(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf",     "radau",   "radau:5", "rodas",
                                          "sdirk:4", "dopri:5", "liex",    "taylor"};
    for (int k = 0; k < 8; k++) {
        run r;
        dae_status status;
        prepare(&r, MODEL("Real x(start=1, fixed=true), y;\nequation\nder(x) = -1 - time;\n"
                          "y = if x > 0 then sqrt(x) else 0;"));
        r.options.method = methods[k];
        OK(start_at(&r, 0.0));
        do {
            status = dae_solver_step(r.solver, 2.0);
            assert_true(value(&r, "y") >= 0.0); /* no nan */
        } while (status > 0);
        OK(status);
        EXACTLY("y", 0.0);
        assert_string_equal(r.messages, "");
        end(&r);
    }
}

static void test_discrete_variables(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Integer n(start=0, fixed=true);\nReal y, z;\nequation\n"
                       "y = 2*n + time;\nz = 1/n;\nwhen sample(0.5, 0.5) then\nn = pre(n) + 1;\n"
                       "end when;")));
    assert_true(isinf(value(&r, "z")));
    OK(step_to(&r, 1.2));
    EXACTLY("n", 2.0);
    EXACTLY("y", 5.2);
    EXACTLY("z", 0.5);
    end(&r);
}

/* ---- values that are none ---------------------------------------------------------------------
 */

static void test_undefined_values(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y, z, w;\nequation\nder(x) = 1;\n"
                       "y = sin(x)/x;\nz = 1/(x*(x - 3));\nw = y + z;")));
    assert_true(isnan(value(&r, "y")) && isinf(value(&r, "z")) && isnan(value(&r, "w")));
    WORDS(r.messages,
          "note: m.mo:5: y = nan at t = 0|denominator of sin(x)/x is zero|z, w|goes on");
    assert_int_equal(times(r.messages, "note:"), 1);
    OK(step_to(&r, 1.0));
    NEAR("y", sin(1.0));
    NEAR("w", sin(1.0) - 0.5);
    OK(dae_solver_variables(r.solver, 1.0, r.values));
    assert_int_equal(times(r.messages, "note:"), 1);
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL)); /* another run, another note */
    assert_true(isnan(value(&r, "y")));
    assert_int_equal(times(r.messages, "note:"), 2);
    end(&r);
}

/* Each is reported when it happens for the first time. */
static void test_undefined_later(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y, z;\nequation\nder(x) = -1;\n"
                       "y = log(x);\nz = sqrt(x + 0.5);")));
    OK(step_to(&r, 1.2));
    assert_true(isnan(value(&r, "y")));
    WORDS(r.messages, "m.mo:5: y = nan at t = 1.2|log(x)");
    OK(step_to(&r, 2.0));
    assert_true(isnan(value(&r, "z")));
    WORDS(r.messages, "m.mo:6: z = nan at t = 2");
    assert_int_equal(times(r.messages, "note:"), 2);
    end(&r);
}

/* The text of a message may say the value of an output. */
static void test_outputs_in_messages(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y, z;\nequation\nder(x) = 1;\ny = 4*x;\n"
                       "z = y + 1;\nassert(x < 0.5, \"z is \" + String(z), "
                       "AssertionLevel.warning);")));
    assert_int_equal(dae_problem_counts(r.problem).outputs, 2);
    OK(step_to(&r, 1.0));
    WORDS(r.messages, "z is 3");
    end(&r);
}

/* ---- the analysis -----------------------------------------------------------------------------
 */

static void test_analysis(void **state)
{
    (void)state;
    run r;
    dae_analysis *a;
    prepare(&r, MODEL("Real x(start=0, fixed=true), y, z;\nequation\ny = sqrt(x);\nz = -3*y;\n"
                      "der(x) = 1;"));
    OK(dae_problem_analyse(r.problem, 0.0, &a, &r.diag));
    assert_true(a->consistent);
    assert_int_equal(a->index, 1);
    assert_int_equal(a->analysed, 3);
    assert_int_equal(a->block_count, 3);
    assert_int_equal(a->block_start[3], 3);
    assert_false(a->variables[0].output);
    assert_true(a->variables[1].output && a->variables[2].output);
    const dae_analysis_equation *last = &a->equation[a->block_equation[2]];
    assert_string_equal(last->text, "z = -3*y");
    assert_string_equal(last->determined, "z");
    assert_int_equal(last->line, 5);
    int e = a->entry_start[last->determines], count = a->entry_start[last->determines + 1] - e;
    assert_int_equal(count, 2);
    for (int k = e; k < e + count; k++)
        assert_true(strcmp(a->unknown[a->entry_unknown[k]].name, "x") != 0);
    dae_analysis_free(a);
    dae_variable_info y = dae_problem_variable_info(r.problem, 1);
    assert_int_equal(y.alias, 1); /* no constant */
    end(&r);
}

/* An output that everything goes into: its equation contains itself and each of the states once, as
 * a value. */
static void test_output_of_all(void **state)
{
    (void)state;
    run r;
    dae_analysis *a;
    prepare(
        &r,
        MODEL(
            "Real x[60](each start=1, each fixed=true), y;\nequation\nder(x) = -x;\ny = sum(x);"));
    OK(dae_problem_analyse(r.problem, 0.0, &a, &r.diag));
    assert_int_equal(a->analysed, 61);
    const dae_analysis_equation *last = &a->equation[a->block_equation[60]];
    assert_string_equal(last->determined, "y");
    int from = a->entry_start[last->determines], to = a->entry_start[last->determines + 1];
    assert_int_equal(to - from, 61);
    bool seen[61] = {false};
    for (int k = from; k < to; k++) {
        assert_int_equal(a->entry_order[k], 0);
        assert_in_range(a->entry_unknown[k], 0, 60);
        assert_false(seen[a->entry_unknown[k]]);
        seen[a->entry_unknown[k]] = true;
    }
    dae_analysis_free(a);
    end(&r);
}

/* A start value that the start does not show is told: an output's, and one that was set from
 * outside and gave way. One that holds is not, nor is a guess of the text. */
static void test_lost_start_values(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=4, fixed=true), y(start=5), z(start=3);\nequation\n"
                       "der(x) = -x;\ny = sqrt(x);\nz = 2*x;")));
    WORDS(r.messages,
          "y begins with 2, and not with its start value 5: equation 2 (m.mo:5) computes it");
    WORDS(r.messages, "Likewise: z.");
    end(&r);
    OK(begin(&r, MODEL("Real x(start=4, fixed=true), y(start=2), z;\nequation\nder(x) = -x;\n"
                       "y = sqrt(x);\nz = 2*x;")));
    assert_string_equal(r.messages, "");
    end(&r);
    const char *circle = MODEL("Real x(start=0.5), y(start=0.8, fixed=true);\nequation\n"
                               "der(y) = x;\nx^2 + y^2 = 1;");
    OK(begin(&r, circle)); /* a guess of the text: 0.6 */
    assert_string_equal(r.messages, "");
    end(&r);
    prepare(&r, circle);
    OK(dae_problem_set_start(r.problem, "x", 0.7, &r.diag));
    OK(start_at(&r, 0.0));
    WORDS(r.messages, "x begins with 0.6, and not with its start value 0.7");
    end(&r);
}

#define PENDULUM(x, y, u)                                                                          \
    MODEL("Real " x ", " y ", " u ", v, p;\nequation\nder(x) = u;\nder(y) = v;\nder(u) = -p*x;\n"  \
          "der(v) = -p*y - 9.81;\nx^2 + y^2 = 1;")

/* Start values of states that gave way to others are told: of x = 1 and y = -1 on the unit circle
 * neither holds; s = x + y = 5 leaves one of x = 1 and y = 2. Where fixed values and equations
 * decide, they are guesses. */
static void test_start_values_that_others_decide(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, PENDULUM("x(start=1)", "y(start=-1)", "u")));
    WORDS(r.messages, "x begins with 0.707107, and not with its start value 1: the equations and "
                      "other start values decide it");
    WORDS(r.messages, "Likewise: y.");
    end(&r);
    OK(begin(&r, PENDULUM("x(start=1)", "y(start=-0.6, fixed=true)", "u(start=0, fixed=true)")));
    assert_string_equal(r.messages, "");
    end(&r);
    OK(begin(&r, MODEL("Real x(start=1), y(start=2), s;\ninitial equation\ns = 5;\nequation\n"
                       "der(x) = -x;\nder(y) = -y;\ns = x + y;")));
    WORDS(r.messages, "y begins with 4, and not with its start value 2");
    end(&r);
    OK(begin(&r, MODEL("Real x(start=1), y(start=2), s;\ninitial equation\ns = 5;\nx = 2;\n"
                       "equation\nder(x) = -x;\nder(y) = -y;\ns = x + y;")));
    assert_string_equal(r.messages, "");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvable_equations),
        cmocka_unit_test(test_unsolvable_equations),
        cmocka_unit_test(test_needed),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_steps_are_those_without_outputs),
        cmocka_unit_test(test_root_at_zero),
        cmocka_unit_test(test_values_between_steps),
        cmocka_unit_test(test_energy_of_a_mechanism),
        cmocka_unit_test(test_relations),
        cmocka_unit_test(test_relation_at_its_crossing),
        cmocka_unit_test(test_discrete_variables),
        cmocka_unit_test(test_undefined_values),
        cmocka_unit_test(test_undefined_later),
        cmocka_unit_test(test_outputs_in_messages),
        cmocka_unit_test(test_analysis),
        cmocka_unit_test(test_output_of_all),
        cmocka_unit_test(test_lost_start_values),
        cmocka_unit_test(test_start_values_that_others_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
