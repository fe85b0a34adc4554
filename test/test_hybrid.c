/* Rules of docs/hybrid.md at the edges: what holds at the start, between steps, at restarts, and
 * how much is said about it. Expected values are formulas. */
#include "model_run.h"

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) n++;
    return n;
}

/* ---- the start ---------------------------------------------------------------------------- */

/* At t0 a relation has its value at t0; what follows is an event right after. */
static void test_relations_at_the_start(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nBoolean a = time > 0, b = time >= 0;\n"
                       "Boolean c = x > 0, d = x <= 0, e = x < -1;\n"
                       "Real y = if time <= 0 then 5 else 7;\nInteger n(start=0);\nequation\n"
                       "der(x) = 1;\nwhen time > 0 then\n  n = pre(n) + 1;\nend when;")));
    EXACTLY("a", 0.0);
    EXACTLY("b", 1.0);
    EXACTLY("c", 0.0);
    EXACTLY("d", 1.0);
    EXACTLY("e", 0.0);
    NEAR("y", 5.0);
    EXACTLY("n", 0.0);
    assert_int_equal(dae_solver_step(r.solver, 1.0), DAE_EVENT);
    assert_true(dae_solver_time(r.solver) == 0.0);
    EXACTLY("a", 1.0);
    EXACTLY("b", 1.0);
    EXACTLY("c", 1.0);
    EXACTLY("d", 0.0);
    EXACTLY("e", 0.0);
    NEAR("y", 7.0);
    EXACTLY("n", 1.0);
    OK(step_to(&r, 1.0));
    assert_int_equal(r.events, 0); /* nothing more */
    EXACTLY("n", 1.0);
    end(&r);
}

/* Backwards in time the other side follows. */
static void test_relations_at_the_start_backwards(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nBoolean a = time >= 0, b = x > 0;\n"
                       "equation\nder(x) = if time < 0 then 2 else 1;")));
    EXACTLY("a", 1.0);
    assert_int_equal(dae_solver_step(r.solver, -1.0), DAE_EVENT);
    EXACTLY("a", 0.0);
    EXACTLY("b", 0.0);
    OK(step_to(&r, -1.0));
    NEAR("x", -2.0);
    end(&r);
}

/* No relation is at zero: no event is made up. */
static void test_no_event_at_the_start(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nBoolean a = x > 0.5;\nequation\n"
                       "der(x) = 1;")));
    assert_int_equal(dae_solver_step(r.solver, 1.0), DAE_STEPPED);
    end(&r);
}

/* ---- rounding ----------------------------------------------------------------------------- */

/* floor, ceil, mod, div and rem, leaving integers upwards and downwards; t off the jumps. */
static void test_rounding_downwards(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nReal m = mod(-time, 0.25), c = ceil(time);\n"
                       "Real f = floor(-2*time), d = div(-time, 0.3), q = rem(-time, 0.3);\n"
                       "Real u = ceil(-time), w = mod(-time, -0.25);\n"
                       "Integer k = integer(1 - time);\nequation\nder(x) = m;")));
    EXACTLY("c", 0.0);
    EXACTLY("f", 0.0);
    EXACTLY("k", 1.0);
    double area = 0.0; /* of mod(-t, 1/4) */
    for (double t = 0.125; t < 3.0; t += 0.25) {
        OK(step_to(&r, t));
        area = floor(4.0 * t) * 0.03125 + 0.0234375;
        NEAR("m", -t + 0.25 * ceil(4.0 * t));
        NEAR("c", ceil(t));
        NEAR("f", floor(-2.0 * t));
        NEAR("u", ceil(-t));
        NEAR("d", -floor(t / 0.3));
        NEAR("q", -t + 0.3 * floor(t / 0.3));
        NEAR("w", -t + 0.25 * floor(4.0 * t));
        NEAR("k", floor(1.0 - t));
        NEAR("x", area);
    }
    end(&r);
}

static void test_rounding_after_reinit(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=2, fixed=true);\nReal c = ceil(x), f = floor(x);\n"
                       "Real m = mod(x, 1);\nInteger k = integer(x);\nequation\nder(x) = -1;\n"
                       "when sample(0.5, 0.5) then\n  reinit(x, 3);\nend when;")));
    EXACTLY("f", 2.0);
    for (int i = 1; i < 8; i++) {
        OK(step_to(&r, 0.25 + 0.5 * i)); /* x = 3 - 1/4 */
        NEAR("c", 3.0);
        NEAR("f", 2.0);
        NEAR("m", 0.75);
        EXACTLY("k", 2.0);
    }
    end(&r);
}

/* ---- restarts ----------------------------------------------------------------------------- */

/* New values from outside go through the event update: relations, clauses and discrete equations
 * follow. */
static void test_restart_is_an_event(void **state)
{
    (void)state;
    run r;
    OK(begin(
        &r,
        MODEL("Real x(start=0, fixed=true), y(start=1);\nBoolean b = x > 1;\nInteger n(start=0);\n"
              "equation\nder(x) = if b then -1 else 1;\ny^3 = if b then 8 else 1;\n"
              "when x > 1 then\n  n = pre(n) + 1;\nend when;")));
    OK(step_to(&r, 0.5));
    EXACTLY("n", 0.0);
    double y[2];
    assert_int_equal(dae_solver_at(r.solver, 0.5, 0, y), DAE_OK);
    int x = strcmp(dae_problem_unknown_name(r.problem, 0), "x") == 0 ? 0 : 1;
    y[x] = 5.0;
    OK(dae_solver_restart(r.solver, y, NULL));
    EXACTLY("b", 1.0);
    EXACTLY("n", 1.0);
    NEAR("x", 5.0);
    NEAR("y", 2.0);
    OK(step_to(&r, 1.0));
    NEAR("x", 4.5);
    end(&r);
}

/* A history of a model: relations and discrete values are those of its newest point. */
static void test_history_of_a_model(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nBoolean b = x > 1;\nInteger k = integer(x);\n"
                       "equation\nder(x) = if b then x else -x;")));
    double times[3] = {1.0, 0.99, 0.98}, values[3];
    for (int i = 0; i < 3; i++) values[i] = 2.5 * exp(times[i] - 1.0);
    OK(dae_solver_start_history(r.solver, 3, times, values, NULL));
    EXACTLY("b", 1.0);
    EXACTLY("k", 2.0);
    OK(step_to(&r, 1.5));
    NEAR("x", 2.5 * exp(0.5));
    EXACTLY("k", 4.0);
    end(&r);
}

/* ---- statistics --------------------------------------------------------------------------- */

static void test_samples_are_counted(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger k(start=0);\nBoolean b = x > 0.35;\n"
                       "equation\nder(x) = 1;\nwhen sample(0.1, 0.1) then\n  k = pre(k) + 1;\n"
                       "end when;")));
    OK(step_to(&r, 0.95));
    EXACTLY("k", 9.0);
    assert_int_equal(dae_solver_stats(r.solver)->events, 10);
    end(&r);
}

/* ---- assertions --------------------------------------------------------------------------- */

/* A violation between two steps ends the run where it begins. */
static void test_assertion_between_steps(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "assert((x - 0.5)^2 > 1e-6, \"x = \" + String(x));")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    assert_true(fabs(diag_of(&r)->t - 0.499) < 1e-9);
    assert_true(fabs(dae_solver_time(r.solver) - 0.499) < 1e-9);
    assert_int_equal(diag_of(&r)->line, 5);
    WORDS(diag_of(&r)->text, "m.mo:5|0.499|x = 0.499");
    end(&r);
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "assert(abs(x - 0.5) > 1e-6, \"close\");")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    assert_true(fabs(diag_of(&r)->t - 0.5) < 1.1e-6);
    end(&r);
}

static void test_warning_between_steps(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = cos(time);\n"
                       "assert(x < 0.99999 or x > 2, \"peak\", AssertionLevel.warning);")));
    OK(step_to(&r, 20.0));
    WORDS(r.messages, "m.mo:5|warning|t = 1.566|peak"); /* asin(0.99999) = 1.56632 */
    assert_int_equal(count(r.messages, "peak"), 1);
    assert_int_equal(r.events, 0);
    assert_int_equal(dae_solver_stats(r.solver)->events, 0);
    end(&r);
}

/* What is within an assertion that holds anyway is not looked for, however fast it is: the sine
 * crosses its bound 3e8 times up to t = 1, where x < 10 holds. It counts from x = 10 on. */
static void test_assertion_that_holds_anyway(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "assert(x < 10 or sin(1e9*x^2) > -0.5, \"too low\");")));
    OK(step_to(&r, 1.0));
    assert_true(dae_solver_stats(r.solver)->steps < 100);
    assert_int_equal(step_to(&r, 11.0), DAE_ERR_ASSERT);
    assert_true(fabs(dae_solver_time(r.solver) - 10.0) < 1e-5);
    end(&r);
    /* the fast side knows time alone, the other one x alone */
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "assert(x < 0.3 or sin(1e6*time) > -0.5, \"too low\");")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    assert_true(fabs(dae_solver_time(r.solver) - 0.3) < 1e-5);
    end(&r);
}

/* A condition that cannot be evaluated beyond a point fails there; it is no error of its own. */
static void test_assertion_outside_its_domain(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = -1;\n"
                       "assert(sqrt(x) < 2, \"root\");")));
    assert_int_equal(step_to(&r, 2.0), DAE_ERR_ASSERT);
    assert_true(diag_of(&r)->t >= 1.0);
    end(&r);
}

/* ---- jumps without events ----------------------------------------------------------------- */

/* Algebraic variables that jump under noEvent, and that others need: the run goes on, and says so
 * once. */
static void test_jumps_without_events(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x(start=0, fixed=true);\nReal y = noEvent(sign(sin(20*time)));\n"
                      "Real z = noEvent(if x > 0.5 then 1 else 0);\n"
                      "Real w, v(start=0, fixed=true);\nequation\n"
                      "der(x) = 1;\nw = 3*y + z;\nder(v) = w;"));
    r.options.pass_end = true; /* a step that ends at t = 2 may see nothing of it */
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 2.0));
    NEAR("x", 2.0);
    NEAR("y", sin(40.0) > 0.0 ? 1.0 : -1.0);
    NEAR("z", 1.0);
    NEAR("w", 3.0 * (sin(40.0) > 0.0 ? 1.0 : -1.0) + 1.0);
    assert_int_equal(r.events, 0);
    assert_int_equal(count(r.messages, "jumps"), 1);
    WORDS(r.messages, "note: m.mo:|without an event");
    assert_true(dae_solver_stats(r.solver)->attempts < 10000);
    end(&r);
}

/* A relation that changes where its equation has a kink: the search for crossings begins anew
 * behind the kink, with the relation at zero, and each crossing is as far from the last one as it
 * ever was. x'' = -100 x - 12 |x'| swings with 8 rad/s, damped and driven in turn. */
static void test_kink_at_an_event(void **state)
{
    (void)state;
    const double pi = acos(-1.0), t = 6.0, since = t - 15.0 * pi / 8.0; /* the last turn */
    run r;
    prepare(&r, MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true);\nBoolean b = v < 0;\n"
                      "Integer n(start=0);\nequation\nder(x) = v;\n"
                      "der(v) = -100*x - 12*abs(v);\nwhen {b, not b} then\n  n = pre(n) + 1;\n"
                      "end when;"));
    r.options.rtol = r.options.atol = 1e-6;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, t));
    EXACTLY("n", 16.0);
    double x = -exp(0.75 * pi - 6.0 * since) * (cos(8.0 * since) + 0.75 * sin(8.0 * since));
    assert_true(fabs(value(&r, "x") - x) < 1e-3);
    end(&r);
}

/* A root that begins or turns has an infinite slope: no step is short enough, and none is needed. A
 * pole still ends the run. */
static void test_infinite_slopes(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y, h, v(start=0, fixed=true);\nequation\n"
                       "der(x) = 1;\ny = x - 0.5;\nh = if y > 0 then sqrt(y) else 0;\n"
                       "der(v) = h;")));
    OK(step_to(&r, 1.0));
    NEAR("h", sqrt(0.5));
    end(&r);
    OK(begin(&r, MODEL("Real h1(start=1, fixed=true), h2(start=0, fixed=true), q, dp;\nequation\n"
                       "der(h1) = -q + sin(6*time);\nder(h2) = q;\ndp = h1 - h2;\n"
                       "q = sign(dp)*sqrt(abs(dp));")));
    OK(step_to(&r, 1.0)); /* the flow turns at t = 0.8166 */
    expect_near(&r, "h1", 1.0 + (1.0 - cos(6.0)) / 6.0 - value(&r, "h2"), 1e-7, __LINE__);
    end(&r);
    prepare(&r, MODEL("Real x(start=1, fixed=true);\nReal y = 1/(0.5 - time);\nequation\n"
                      "der(x) = -y;"));
    r.options.pass_end = true;
    OK(start_at(&r, 0.0));
    assert_true(step_to(&r, 1.0) < 0);
    assert_string_equal(diag_of(&r)->variable_name, "y");
    end(&r);
}

/* What the jumps do to a differential variable is still controlled: x = integral of a square wave
 * of period pi/10. */
static void test_jump_under_a_differential_variable(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y;\nequation\nder(x) = y;\n"
                       "y = noEvent(if sin(20*time) > 0 then 1 else -1);")));
    OK(step_to(&r, 2.0));
    double period = 3.14159265358979323846 / 10.0, phase = fmod(2.0, period);
    double expected = fmin(phase, period - phase);
    expect_near(&r, "x", expected, 1e-6, __LINE__);
    end(&r);
}

/* Asked for by name, every variable is tested, and the run ends. */
static void test_error_test_of_all_stays(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x(start=0, fixed=true), z;\nReal v(start=0, fixed=true);\nequation\n"
                      "z + z^3 = noEvent(if x > 0.5 then 2 else 0);\nder(x) = 1;\nder(v) = z;"));
    r.options.error_test = DAE_ERROR_ALL;
    OK(start_at(&r, 0.0));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ERROR_TEST);
    assert_string_equal(diag_of(&r)->variable_name, "z");
    end(&r);
}

/* ---- fixed values ------------------------------------------------------------------------- */

static void expect_conflict(const char *text, const char *words, int line)
{
    run r;
    if (begin(&r, text) != DAE_ERR_INITIAL) {
        print_error("line %d: no conflict\n", line);
        fail();
    }
    expect_words(diag_of(&r)->text, words, line);
    assert_true(diag_of(&r)->line > 0);
    end(&r);
}

static void test_fixed_values_that_contradict(void **state)
{
    (void)state;
    expect_conflict(MODEL("Real x(start=1, fixed=true), z(start=9, fixed=true);\nequation\n"
                          "der(x) = -x;\nz = x^2;"),
                    "m.mo:5|x = 1 (fixed), z = 9 (fixed)", __LINE__);
    expect_conflict(MODEL("Real x(start=1, fixed=true), z(start=3, fixed=true);\nequation\n"
                          "der(x) = -x;\nz = 2*time + 4;"),
                    "m.mo:5|z", __LINE__);
    expect_conflict(MODEL("parameter Real p = 4;\nReal x(start=1, fixed=true);\n"
                          "Real z(start=3, fixed=true);\nequation\nder(x) = -x;\nz = -p;"),
                    "value 3 of z (m.mo:4)|value -4", __LINE__);
    expect_conflict(MODEL("Real x(start=1);\ninitial equation\nx = 2;\n2*x = 5;\n"
                          "equation\nder(x) = -x;"),
                    "m.mo:4|m.mo:5", __LINE__);
}

/* Without a fixed state, z(0) = 9 is the initial condition of x. */
static void test_fixed_algebraic_variable_counts(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1), z(start=9, fixed=true);\nequation\nder(x) = -x;\n"
                       "z = x^2;")));
    NEAR("x", 3.0);
    NEAR("z", 9.0);
    end(&r);
}

/* ---- messages of runs that fail -------------------------------------------------------------- */

static void expect_failure(const char *text, dae_status status, double t, int at, const char *words,
                           int line)
{
    run r;
    dae_status found = begin(&r, text);
    if (found == DAE_OK) found = step_to(&r, 2.0);
    if (found != status || diag_of(&r)->line != at || fabs(diag_of(&r)->t - t) > 1e-3) {
        print_error("line %d: %s at line %d, t = %g: %s\n", line, dae_status_name(found),
                    diag_of(&r)->line, diag_of(&r)->t, diag_of(&r)->text);
        fail();
    }
    expect_words(diag_of(&r)->text, words, line);
    end(&r);
}

/* The function at the end of its domain is named, with its line and argument. */
static void test_ends_of_domains(void **state)
{
    (void)state;
    expect_failure(MODEL("Real x(start=0, fixed=true), y;\nequation\nder(x) = y;\n"
                         "y = 1/(1 - time);"),
                   DAE_ERR_ERROR_TEST, 1.0, 5, "equation 2 (m.mo:5)|denominator|1 - time",
                   __LINE__);
    expect_failure(MODEL("Real x(start=1, fixed=true), y, v;\nequation\nder(x) = -1;\n"
                         "y = log(x);\nder(v) = y;"),
                   DAE_ERR_EVALUATION, 1.0, 5, "m.mo:5|log(x)", __LINE__);
    expect_failure(MODEL("Real x(start=1, fixed=true), y, v;\nequation\nder(x) = -1;\n"
                         "y = 2 + noEvent(if x > 0.5 then x else log(-x));\nder(v) = y;"),
                   DAE_ERR_EVALUATION, 0.5, 5, "m.mo:5|log(-x)|no finite value", __LINE__);
    expect_failure(MODEL("Real x(start=0, fixed=true), y, v;\nequation\nder(x) = 1;\ny = 1/x;\n"
                         "der(v) = y;"),
                   DAE_ERR_EVALUATION, 0.0, 5, "m.mo:5|denominator|zero|x = 0", __LINE__);
    expect_failure(MODEL("Real x(start=1), z;\ninitial equation\nlog(-1 - time) = z;\nequation\n"
                         "der(x) = -x;\nz^3 = x;"),
                   DAE_ERR_EVALUATION, 0.0, 4, "m.mo:4|log(", __LINE__);
    expect_failure(MODEL("Real x(start=1, fixed=true);\nBoolean b = sqrt(x) > 0.1;\nequation\n"
                         "der(x) = -1 - (if b then 0 else 1);\n"),
                   DAE_ERR_EVENT, 1.0 - 0.005, 3, "relation at m.mo:3", __LINE__);
}

static void test_solution_without_end(void **state)
{
    (void)state;
    expect_failure(MODEL("Real x(start=1, fixed=true);\nequation\nder(x) = x^2;"),
                   DAE_ERR_ERROR_TEST, 1.0, 4, "Variable x|singularity|equation 1 (m.mo:4)",
                   __LINE__);
}

/* Begin with the equations as they are written, whatever their index. */
static dae_status begin_as_written(run *r, const char *text)
{
    prepare(r, text);
    r->options.formulation = "residual";
    return start_at(r, 0.0);
}

/* An index above 1, as written, is explained by the equation that makes it. */
static void test_index_is_explained(void **state)
{
    (void)state;
    run r;
    OK(begin_as_written(&r, MODEL("Real x(start=1, fixed=true), y(start=0, fixed=true);\n"
                                  "Real u(start=0, fixed=true), v(start=0, fixed=true), L;\n"
                                  "equation\nder(x) = u;\nder(y) = v;\nder(u) = -L*x;\n"
                                  "der(v) = -L*y - 9.81;\nx^2 + y^2 = 1;")));
    dae_status status = step_to(&r, 2.0); /* as h goes to 0 both tests fail: either comes first */
    assert_true(status == DAE_ERR_ERROR_TEST || status == DAE_ERR_CONVERGENCE);
    WORDS(diag_of(&r)->text, "index|above 1|equation 5 (m.mo:9)");
    assert_int_equal(diag_of(&r)->line, 9);
    end(&r);
}

/* ---- long steps --------------------------------------------------------------------------- */

/* Without states nothing keeps the steps short: every crossing is found all the same, also where
 * the period is a simple fraction of the interval. */
static void test_oscillation_within_a_step(void **state)
{
    (void)state;
    static const double period[] = {1.0, 0.1, 7.0 / 3.0};
    for (size_t k = 0; k < sizeof period / sizeof *period; k++) {
        run r;
        char text[400];
        snprintf(text, sizeof text,
                 "model M\nInteger n(start=0);\nequation\n"
                 "when sin(2*3.14159265358979323846*time/%.17g) > 0.3 then\n  n = pre(n) + 1;\n"
                 "end when;\nend M;\n",
                 period[k]);
        OK(begin(&r, text));
        OK(step_to(&r, 70.0));
        EXACTLY("n", nearbyint(70.0 / period[k]));
        end(&r);
    }
}

/* Two integrators come to their limit so close to each other that it is one event, and are stopped
 * there, one of them just below it. The event at t = 2 finds both as they were; at t = 3 they
 * leave.
 */
static void test_limits_reached_together(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y(start=-1e-13, fixed=true);\n"
                       "Real u = if time < 2 then 1 else if time < 3 then 2 else -1;\nequation\n"
                       "der(x) = if x > 1 and u > 0 then 0 else u;\n"
                       "der(y) = if y > 1 and u > 0 then 0 else u;")));
    OK(step_to(&r, 2.5));
    NEAR("x", 1.0);
    NEAR("y", 1.0);
    OK(step_to(&r, 3.5));
    NEAR("x", 0.5);
    NEAR("y", 0.5);
    end(&r);
}

/* A limit that is not reached, p > min(p, 2), is no jump that could happen: 10 is never
 * compared with 1.5. */
static void test_limit_that_is_not_reached(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real p(start=1, fixed=true);\nBoolean b;\nequation\nder(p) = cos(time);\n"
                       "b = noEvent(if p > min(p, 2.5) then 10 else p) > 1.5;")));
    OK(step_to(&r, 3.0));
    assert_int_equal(r.events, 4); /* p = 1 + sin(t) is 1.5 at pi/6 and 5 pi/6: found and updated */
    EXACTLY("b", 0.0);
    end(&r);
}

/* An algebraic variable that is zero at 0, 1, 2, ..: the steps must not all end there. */
static void test_steps_do_not_resonate(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Integer n(start=0), k(start=0);\n"
                      "Real s = sin(2*3.14159265358979323846*time);\nequation\n"
                      "when s > 0.3 then\n  n = pre(n) + 1;\nend when;\n"
                      "when sample(1, 1) then\n  k = pre(k) + 1;\nend when;"));
    r.options.rtol = r.options.atol = 1e-6; /* well above the rounding of 2 pi time */
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 1000.0));
    EXACTLY("n", 1000.0);
    EXACTLY("k", 1000.0);
    end(&r);
}

/* ---- slow progress ------------------------------------------------------------------------ */

/* Steps until a note has been given. */
static long steps_to_note(run *r, double tend)
{
    long steps = 0;
    while (r->messages[0] == '\0' && steps < 1000000 && dae_solver_step(r->solver, tend) > 0)
        steps++;
    return steps;
}

static void test_tiny_sample_interval(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger n(start=0);\nequation\n"
                       "der(x) = 1;\nwhen sample(0, 1e-9) then\n  n = pre(n) + 1;\nend when;")));
    assert_true(steps_to_note(&r, 10.0) < 20000);
    WORDS(r.messages, "note:|sample(0, 1e-09) at m.mo:6|more would take");
    end(&r);
    prepare(&r, MODEL("Integer n(start=0);\nequation\nwhen sample(0, 1e-15) then\n"
                      "  n = pre(n) + 1;\nend when;"));
    assert_int_equal(start_at(&r, 100.0), DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "m.mo:4|sample(0, 1e-15)|closer");
    assert_int_equal(diag_of(&r)->line, 4);
    end(&r);
}

/* The pendulum with its constraint on velocities needs tiny steps as written: that is told, with
 * the equation. */
static void test_slow_index_two(void **state)
{
    (void)state;
    run r;
    OK(begin_as_written(&r,
                        MODEL("Real x(start=1, fixed=true), y(start=0, fixed=true);\n"
                              "Real u(start=0, fixed=true), v(start=0, fixed=true), L;\nequation\n"
                              "der(x) = u;\nder(y) = v;\nder(u) = -L*x;\nder(v) = -L*y - 9.81;\n"
                              "x*u + y*v = 0;")));
    long steps = steps_to_note(&r, 1000.0);
    if (r.messages[0]) {
        assert_true(steps < 200000);
        WORDS(r.messages, "note:|index|above 1|equation 5 (m.mo:9)");
    } else {
        WORDS(diag_of(&r)->text, "index|above 1|equation 5 (m.mo:9)");
    }
    end(&r);
}

/* A clause reads, through variables of equations, what it assigns: all hold at once. The same where
 * such a variable is not given explicitly. */
static void test_clauses_read_what_they_assign(void **state)
{
    (void)state;
    static const char *const equations[] = {"z = 10*u + x", "0 = 10*u + x - z"};
    static const char *const clauses[] = {
        "when x < 0.5 then\n  u = x;\n  w = 2*z;\nend when;",
        "when x < 0.5 then\n  w = 2*z;\n  u = x;\nend when;",
        "when x < 0.5 then\n  w = 2*z;\nend when;\nwhen x < 0.5 then\n  u = x;\nend when;",
        "when {initial(), x < 0.5} then\n  w = 2*z;\n  u = x;\nend when;"};
    for (int k = 0; k < 8; k++) {
        run r;
        char text[600];
        snprintf(text, sizeof text,
                 MODEL("Real x(start=1, fixed=true);\nReal z;\ndiscrete Real u(start=0);\n"
                       "discrete Real w(start=0);\nequation\nder(x) = -x;\n%s;\n%s"),
                 equations[k / 4], clauses[k % 4]);
        OK(begin(&r, text));
        if (k % 4 == 3) {
            EXACTLY("u", 1.0);
            NEAR("w", 22.0);
        }
        OK(step_to(&r, 1.0));
        NEAR("u", 0.5);
        NEAR("w", 11.0);
        end(&r);
    }
}

/* u = 0.9 (x + c u): found by the passes of the event, or refused by name. */
static void test_clause_in_a_loop(void **state)
{
    (void)state;
    static const double c[] = {0.3, -0.7, 3.0};
    for (int k = 0; k < 3; k++) {
        run r;
        char text[600];
        snprintf(text, sizeof text,
                 MODEL("Real x(start=1, fixed=true);\nReal z;\ndiscrete Real u(start=0);\n"
                       "equation\nder(x) = -x;\nz = x + (%g)*u;\n"
                       "when sample(0.3, 0.3) then\n  u = 0.9*z;\nend when;"),
                 c[k]);
        OK(begin(&r, text));
        const dae_status status = step_to(&r, 1.0);
        assert_int_equal(status, k < 2 ? DAE_OK : DAE_ERR_EVENT);
        if (k < 2)
            NEAR("u", 0.9 * exp(-0.9) / (1.0 - 0.9 * c[k]));
        else
            WORDS(diag_of(&r)->text, "u (m.mo:4)|pre(..)");
        end(&r);
    }
}

/* What a clause reads of a function of time is that function to the last digit, through names for
 * it and definitions of it, too. */
static void test_clauses_read_functions_of_time(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real v, w, x(start=0, fixed=true);\n"
                       "Integer n(start=0, fixed=true), k(start=0, fixed=true);\nequation\n"
                       "v = max(time, abs(time));\nw = 2*v;\nder(x) = 1;\n"
                       "when sample(0.4071, 0.137) then\n  n = pre(n) + 1;\n"
                       "  k = pre(k) + (if v <= time and w >= 2*time then 1 else 0);\n"
                       "end when;")));
    OK(step_to(&r, 30.0));
    EXACTLY("n", 217.0);
    EXACTLY("k", 217.0);
    end(&r);
}

/* A mode begins where one of its slopes is infinite: a state that is known stays as it is, or the
 * run ends. */
static void test_states_stay_at_infinite_slopes(void **state)
{
    (void)state;
    static const char *const values[] = {"-s*der(s) else -s*sqrt(s)", "-s*der(s) else -sqrt(s)"};
    for (int k = 0; k < 2; k++) {
        run r;
        char text[300];
        snprintf(text, sizeof text,
                 MODEL("Real v = if s <= 0 then %s;\nReal s(start=0, fixed=true);\nequation\n"
                       "der(s) = 1;"),
                 values[k]);
        OK(begin(&r, text));
        const dae_status status = step_to(&r, 1.0);
        if (status == DAE_OK) {
            NEAR("s", 1.0);
        } else {
            assert_int_equal(status, DAE_ERR_EVALUATION);
            WORDS(diag_of(&r)->text, "sqrt(s)|end of its domain");
        }
        end(&r);
    }
}

/* Algebraic variables that jump, or have an infinite slope, at the start or later, where nothing
 * makes an event of it: the run goes on after that, beside relations, too. */
static void test_unresolved_changes(void **state)
{
    (void)state;
    static const struct {
        const char *declarations, *equations;
        double start, y; /* y at a time 0.75 after the start */
    } is[] = {
        {"Real u", "u = sqrt(abs(s)); y = u + s;", 0.37, 1.61602540378443865},
        {"Real u", "u = jump(1 - s*der(s)); y = u + s;", 0.37, 0.75},
        {"Real u; Boolean b = time > 0.9", "u = jump(1 - s); y = u + s;", 0.37, 0.75},
        {"Real u; Boolean b = time > 0.9", "u = mod(max(s, 0.0), -1.5); y = u + s;", 0.37, 0.0},
        {"Real u", "u = jump(s + 0.6); y = u + s;", 0.0, 1.75}};
    for (size_t k = 0; k < sizeof is / sizeof *is; k++)
        for (double rtol = 1e-4; rtol > 5e-11; rtol *= 1e-3) {
            run r;
            char text[600];
            snprintf(text, sizeof text,
                     "function jump\ninput Real a;\noutput Real y;\nalgorithm\n"
                     "y := integer(a);\nend jump;\n" MODEL(
                         "%s;\nReal s(start=0, fixed=true), y;\nequation\nder(s) = 1;\n%s"),
                     is[k].declarations, is[k].equations);
            prepare(&r, text);
            r.options.rtol = rtol;
            r.options.atol = 1e-3 * rtol;
            r.options.stop_time = is[k].start + 0.75;
            OK(start_at(&r, is[k].start));
            OK(step_to(&r, is[k].start + 0.75));
            expect_near(&r, "y", is[k].y, 100.0 * rtol, __LINE__);
            end(&r);
        }
}

/* The kinks of what is nothing but rounding are none: abs(a - b) with a = b but for last digits. */
static void test_kinks_of_rounding(void **state)
{
    (void)state;
    enum { MOST = 500 };
    run r;
    int steps = 0;
    prepare(&r, MODEL("Real u = 2/(1 + abs(tan(atan(time)) - time));\n"
                      "Real x(start=0, fixed=true);\nequation\nder(x) = u;"));
    r.options.stop_time = 3.0;
    OK(start_at(&r, 0.37));
    for (dae_status status = DAE_STEPPED; status > 0 && steps < MOST; steps++)
        status = dae_solver_step(r.solver, 3.0);
    assert_true(steps < MOST);
    NEAR("x", 2.0 * (3.0 - 0.37));
    end(&r);
}

/* -u = 1 but for rounding: what floor makes of it is the same at the events of others. */
static void test_floor_beside_events(void **state)
{
    (void)state;
    for (double rtol = 1e-6; rtol > 5e-12; rtol *= 0.1) {
        run r;
        prepare(&r, MODEL("discrete Real y(start=0, fixed=true);\nInteger k, n;\nReal u4, u, b;\n"
                          "equation\nwhen sample(0.5, 1.0) then y = 0.5*pre(y) + 1; end when;\n"
                          "u4 + b = integer(-time) + 1;\n4*b = 4;\nk = integer(floor(u4));\n"
                          "-2*u + b = (-2)*k + 1;\nn = -integer(-u);"));
        r.options.rtol = rtol;
        r.options.atol = 1e-3 * rtol;
        OK(start_at(&r, 0.37));
        OK(step_to(&r, 0.9));
        EXACTLY("n", -1.0);
        end(&r);
    }
}

/* rem(|u|, 3) where u goes through zero: rounding below it is not a quotient of -1. w(1) by sums of
 * 4e6 midpoints. */
static void test_remainder_of_rounding(void **state)
{
    (void)state;
    for (double rtol = 1e-4; rtol > 5e-10; rtol *= 0.1) {
        run r;
        prepare(&r, MODEL("Real y0, y1, y2, y3;\nBoolean b;\nInteger n(start = 0, fixed = true);\n"
                          "Real w(start = 0, fixed = true);\nequation\n"
                          "y0 = 0.1 + 1.7*sin(3*time) - 1.7*cos(time);\ny1 = rem(y0, 2);\n"
                          "y2 = abs(y1);\ny3 = rem(y2, 3);\nb = y3 >= 1;\n"
                          "when b then\n  n = pre(n) + 1;\nend when;\n"
                          "der(w) = if b then 1 else y3;"));
        r.options.rtol = rtol;
        r.options.atol = 1e-3 * rtol;
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 1.0));
        EXACTLY("n", 0.0);
        assert_true(fabs(value(&r, "w") - 0.38583146207) <= 100.0 * rtol);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_relations_at_the_start),
        cmocka_unit_test(test_relations_at_the_start_backwards),
        cmocka_unit_test(test_no_event_at_the_start),
        cmocka_unit_test(test_rounding_downwards),
        cmocka_unit_test(test_rounding_after_reinit),
        cmocka_unit_test(test_restart_is_an_event),
        cmocka_unit_test(test_history_of_a_model),
        cmocka_unit_test(test_samples_are_counted),
        cmocka_unit_test(test_assertion_between_steps),
        cmocka_unit_test(test_warning_between_steps),
        cmocka_unit_test(test_assertion_that_holds_anyway),
        cmocka_unit_test(test_assertion_outside_its_domain),
        cmocka_unit_test(test_jumps_without_events),
        cmocka_unit_test(test_kink_at_an_event),
        cmocka_unit_test(test_infinite_slopes),
        cmocka_unit_test(test_jump_under_a_differential_variable),
        cmocka_unit_test(test_error_test_of_all_stays),
        cmocka_unit_test(test_fixed_values_that_contradict),
        cmocka_unit_test(test_fixed_algebraic_variable_counts),
        cmocka_unit_test(test_ends_of_domains),
        cmocka_unit_test(test_solution_without_end),
        cmocka_unit_test(test_index_is_explained),
        cmocka_unit_test(test_oscillation_within_a_step),
        cmocka_unit_test(test_limits_reached_together),
        cmocka_unit_test(test_limit_that_is_not_reached),
        cmocka_unit_test(test_steps_do_not_resonate),
        cmocka_unit_test(test_tiny_sample_interval),
        cmocka_unit_test(test_slow_index_two),
        cmocka_unit_test(test_clauses_read_what_they_assign),
        cmocka_unit_test(test_clause_in_a_loop),
        cmocka_unit_test(test_clauses_read_functions_of_time),
        cmocka_unit_test(test_states_stay_at_infinite_slopes),
        cmocka_unit_test(test_kinks_of_rounding),
        cmocka_unit_test(test_floor_beside_events),
        cmocka_unit_test(test_remainder_of_rounding),
        cmocka_unit_test(test_unresolved_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
