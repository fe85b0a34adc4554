/* Events that solvers lose: accumulation, short pulses, folds, discrete initial values, switches
 * that change together. Times and values are closed forms; every method of the list must give them.
 */
#include "model_run.h"

/* One of each family that takes models without constraints. */
static const char *const methods[] = {"bdf",     "radau",   "radau:5", "rodas",
                                      "rodas:3", "liex",    "sdirk:4", "gauss:2",
                                      "gauss:4", "dopri:5", "taylor",  "lobattoc:2"};
enum { METHODS = sizeof methods / sizeof *methods };

static void prepare_with(run *r, const char *text, const char *method, double rtol)
{
    prepare(r, text);
    r->options.method = method;
    r->options.rtol = rtol;
    r->options.atol = 1e-3 * rtol;
}

/* ---- accumulation ---- */

#define BALL(e, more)                                                                              \
    MODEL("Real h(start=1, fixed=true), v(start=0, fixed=true);\nequation\n"                       \
          "der(h) = v;\nder(v) = -2;\nwhen h <= 0 then\n  reinit(v, -" #e                          \
          "*pre(v));\nend when;" more)

/* A ball of restitution e from height 1 at g = 2 comes to rest at 1 + 2 e/(1 - e). It never is
 * below the floor by more than the tolerance, and the run ends there by name. */
static void expect_rest(const char *text, const char *method, double rtol, double when)
{
    run r;
    prepare_with(&r, text, method, rtol);
    OK(start_at(&r, 0.0));
    dae_status status;
    while ((status = dae_solver_step(r.solver, 50.0)) > 0) assert_true(value(&r, "h") > -rtol);
    if (status != DAE_ERR_EVENT)
        print_error("%s at %g: status %d at t = %g\n", method, rtol, (int)status,
                    dae_solver_time(r.solver));
    assert_int_equal(status, DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "accumulate|m.mo:6|what rest is");
    assert_int_equal(diag_of(&r)->line, 6);
    /* an error of the tolerance in the height is one of its root in the time */
    assert_true(fabs(diag_of(&r)->t - when) < 20.0 * sqrt(rtol));
    end(&r);
}

static void test_accumulation_by_every_method(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        expect_rest(BALL(0.5, ""), methods[k], 1e-6, 3.0);
        expect_rest(BALL(0.5, ""), methods[k], 1e-3, 3.0);
    }
}

static void test_accumulation_with_damping_near_0_and_1(void **state)
{
    (void)state;
    static const char *const some[] = {"bdf", "radau", "rodas", "taylor"};
    for (int k = 0; k < 4; k++) {
        expect_rest(BALL(0.001, ""), some[k], 1e-6, 1.0 + 0.002 / 0.999);
        expect_rest(BALL(1e-7, ""), some[k], 1e-6, 1.0);
        expect_rest(BALL(0.95, ""), some[k], 1e-6, 39.0);
    }
}

/* The ball of the Modelica specification knows what rest is: it goes on. */
static void test_rest_goes_on(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real h(start=1, fixed=true), v(start=0, fixed=true);\n"
                           "Boolean flying(start=true, fixed=true), impact;\n"
                           "discrete Real w(start=0, fixed=true);\nequation\nimpact = h <= 0;\n"
                           "der(v) = if flying then -2 else 0;\nder(h) = v;\n"
                           "when {h <= 0 and v <= 0, impact} then\n"
                           "  w = if edge(impact) then -0.5*pre(v) else 0;\n"
                           "  flying = w > 0;\n  reinit(v, w);\nend when;"),
                     methods[k], 1e-6);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 10.0));
        expect_near(&r, "h", 0.0, 1e-9, __LINE__);
        EXACTLY("v", 0.0);
        EXACTLY("flying", 0.0);
        end(&r);
    }
}

/* Two tanks share one inflow: both are empty at t = 4, and the switch accumulates there. */
static void test_two_relations_accumulate(void **state)
{
    (void)state;
    static const char *const some[] = {"bdf", "radau", "rodas", "dopri:5"};
    for (int k = 0; k < 4; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real x(start=0.5, fixed=true), y(start=0.5, fixed=true);\n"
                           "Boolean first(start=true, fixed=true);\nequation\n"
                           "der(x) = (if first then 0.75 else 0) - 0.5;\n"
                           "der(y) = (if first then 0 else 0.75) - 0.5;\n"
                           "when y <= 0 then\n  first = false;\nelsewhen x <= 0 then\n"
                           "  first = true;\nend when;"),
                     some[k], 1e-6);
        OK(start_at(&r, 0.0));
        assert_int_equal(step_to(&r, 10.0), DAE_ERR_EVENT);
        WORDS(diag_of(&r)->text, "accumulate|m.mo");
        assert_true(fabs(diag_of(&r)->t - 4.0) < 1e-6);
        end(&r);
    }
}

/* A first step that is too long for the shortest of three flights is shortened fast: parabolas need
 * one step each, and there are not more than two further ones in the mean. */
static void test_few_steps_an_event(void **state)
{
    (void)state;
    run r;
    prepare_with(&r,
                 MODEL("Real h[3](start={2, 0.5, 1}, each fixed=true), "
                       "v[3](each start=0, each fixed=true);\nequation\nder(h) = v;\n"
                       "der(v) = fill(-9.81, 3);\nfor i in 1:3 loop\nwhen h[i] <= 0 then\n"
                       "  reinit(v[i], -0.5*pre(v[i]));\nend when;\nend for;"),
                 "auto", 1e-6);
    OK(start_at(&r, 0.0));
    assert_int_equal(step_to(&r, 5.0), DAE_ERR_EVENT);
    const dae_stats *stats = dae_solver_stats(r.solver);
    assert_true(stats->events >= 20);
    if (!(stats->steps <= 3 * stats->events))
        fail_msg("%ld steps, %ld events", (long)stats->steps, (long)stats->events);
    end(&r);
}

/* ---- short pulses ---- */

/* The integral of `if condition then 1 else 0` from 0 to 1, by every method. */
static void expect_pulses(const char *condition, double expected, double tolerance)
{
    for (int k = 0; k < METHODS; k++) {
        run r;
        char text[400];
        snprintf(text, sizeof text,
                 MODEL("Real x(start=0, fixed=true), y(start=0, fixed=true);\nequation\n"
                       "der(y) = 1;\nder(x) = if %s then 1 else 0;"),
                 condition);
        prepare_with(&r, text, methods[k], 1e-6);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 1.0));
        if (fabs(value(&r, "x") - expected) > tolerance) print_error("%s\n", methods[k]);
        expect_near(&r, "x", expected, tolerance, __LINE__);
        end(&r);
    }
}

static void test_pulses_shorter_than_steps(void **state)
{
    (void)state;
    expect_pulses("sin(1000*y) > 0.9999", 159 * 2e-3 * acos(0.9999), 1e-9);
    expect_pulses("cos(500*time) < -0.999", 80 * 4e-3 * acos(0.999), 1e-9);
    expect_pulses("exp(-((time - 0.37)/1e-6)^2) > 0.5", 2e-6 * sqrt(log(2.0)), 1e-12);
    expect_pulses("1/(1 + (1e7*(y - 0.61))^2) > 0.5", 2e-7, 1e-12);
    expect_pulses("abs(y - 0.777) < 1e-6", 2e-6, 1e-12);
}

/* Events do not depend on where results are asked for. */
static void test_events_and_output_times(void **state)
{
    (void)state;
    static const char text[] = MODEL("Real x(start=0, fixed=true);\nequation\n"
                                     "der(x) = if sin(300*time) > 0.99 then 1 else 0;");
    double once = 0.0;
    for (int pieces = 1; pieces <= 64; pieces *= 8) {
        run r;
        prepare_with(&r, text, "radau", 1e-6);
        OK(start_at(&r, 0.0));
        for (int k = 1; k <= pieces; k++) OK(step_to(&r, (double)k / pieces));
        if (pieces == 1) once = value(&r, "x");
        expect_near(&r, "x", once, 1e-10, __LINE__);
        assert_true(fabs(once - 48 * acos(0.99) / 150.0) < 1e-10);
        end(&r);
    }
}

/* A pulse that is lower than the tolerance is told. */
static void test_pulse_below_the_tolerance_is_told(void **state)
{
    (void)state;
    static const char text[] =
        MODEL("Real x(start=0, fixed=true), y(start=0, fixed=true);\nequation\n"
              "der(x) = 6.283185307179586*cos(6.283185307179586*time);\n"
              "der(y) = if x > 0.9999999 then 1 else 0;");
    run r;
    prepare_with(&r, text, "radau", 1e-6);
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 3.0));
    WORDS(r.messages, "m.mo:5|smaller tolerances");
    end(&r);
    prepare_with(&r, text, "radau", 1e-11);
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 3.0));
    assert_string_equal(r.messages, "");
    expect_near(&r, "y", 3.0 * acos(0.9999999) / 3.141592653589793, 1e-7, __LINE__);
    end(&r);
}

/* ---- folds ---- */

#define COMPARATOR(feedback)                                                                       \
    "vin = " feedback ";\n"                                                                        \
    "out = smooth(0, noEvent(if 15000*vin > 15 then 15 else if 15000*vin < -15 then -15 else "     \
    "15000*vin));"

static const char *const implicit[] = {"bdf",  "radau",   "radau:5", "rodas",
                                       "liex", "sdirk:4", "gauss:4"};
enum { IMPLICIT = sizeof implicit / sizeof *implicit };

/* It jumps where 0.1 out - u passes through 1e-3: at u = 1.499. */
static void test_comparator_with_feedback(void **state)
{
    (void)state;
    for (int k = 0; k < IMPLICIT; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real u, vin, out(start=15);\nequation\n"
                           "u = 5*sin(6.283185307179586*time);\n" COMPARATOR("0.1*out - u")),
                     implicit[k], 1e-6);
        OK(start_at(&r, 0.0));
        EXACTLY("out", 15.0);
        OK(step_to(&r, 0.04));
        expect_near(&r, "out", 15.0, 1e-4, __LINE__);
        OK(step_to(&r, 0.54));
        expect_near(&r, "out", -15.0, 1e-4, __LINE__);
        OK(step_to(&r, 1.0));
        expect_near(&r, "out", 15.0, 1e-4, __LINE__);
        WORDS(r.messages, "jumps|m.mo");
        end(&r);
    }
}

/* c goes to and fro between -7.499 and 7.499: folds at 0.1 (log(15/7.501) + k log(22.499/7.501)) */
static void test_relaxation_oscillator(void **state)
{
    (void)state;
    double fold = 0.1 * (log(15.0 / 7.501) + 8.0 * log(22.499 / 7.501));
    for (int k = 0; k < IMPLICIT; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real c(start=0, fixed=true), vin, out(start=15);\nequation\n"
                           "der(c) = (out - c)/0.1;\n" COMPARATOR("0.5*out - c")),
                     implicit[k], 1e-6);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 1.0));
        if (fabs(value(&r, "out") + 15.0) > 1e-4) print_error("%s\n", implicit[k]);
        expect_near(&r, "out", -15.0, 1e-4, __LINE__);
        expect_near(&r, "c", -15.0 + 22.499 * exp(-(1.0 - fold) / 0.1), 1e-3, __LINE__);
        end(&r);
    }
}

/* x^3 - 3 x + 2 sin t = 0 has the branch x = 2 sin(t/3) up to the fold at pi/2, where a step goes
 * beyond: what is asked for before the fold is had all the same. */
static void test_rows_before_a_fold(void **state)
{
    (void)state;
    for (int k = 0; k < IMPLICIT; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real x(start=0), u;\nequation\nu = 2*sin(time);\nx^3 - 3*x + u = 0;"),
                     implicit[k], 1e-6);
        OK(start_at(&r, 0.0));
        for (int row = 1; row < 157; row++) { /* to 1.56 */
            OK(step_to(&r, 0.01 * row));
            expect_near(&r, "x", 2.0 * sin(0.01 * row / 3.0), 1e-4, __LINE__);
        }
        end(&r);
    }
}

/* x^3 - 3 x = u has a smooth fold at u = 2: x jumps from -1 to 2. */
static void test_smooth_fold(void **state)
{
    (void)state;
    for (int k = 0; k < IMPLICIT; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real x(start=-2), u(start=-2, fixed=true), s(start=0, fixed=true);\n"
                           "equation\nder(u) = 1;\nx^3 - 3*x = u;\nder(s) = x;"),
                     implicit[k], 1e-7);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 3.9));
        assert_true(value(&r, "x") < -1.0);
        OK(step_to(&r, 20.0)); /* u = 18: x = 3 */
        expect_near(&r, "x", 3.0, 1e-5, __LINE__);
        /* integral of x (3 x^2 - 3) dx over -2 .. -1 and 2 .. 3 */
        expect_near(&r, "s",
                    0.75 * (1.0 - 16.0) - 1.5 * (1.0 - 4.0) + 0.75 * (81.0 - 16.0) -
                        1.5 * (9.0 - 4.0),
                    1e-3, __LINE__);
        end(&r);
    }
}

/* ---- discrete initial values, smooth ---- */

static void test_initial_values_through_equations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Boolean a, b; Integer n, m, k[2], l[2]; discrete Real q, w(start=0);\n"
                       "initial equation\na = true; n = 7; k = {3, 4}; pre(w) = 2.5; q = 1.5;\n"
                       "equation\na = pre(b);\nb = a and time < 0.5;\nn = pre(m) + 1;\n"
                       "m = if time < 0.5 then n - 1 else 3;\nk = pre(l);\n"
                       "l = if time < 0.5 then k else {0, 0};\nq = 2*pre(w) - 3.5;\n"
                       "when time > 0.5 then w = pre(w) + 1; end when;")));
    EXACTLY("a", 1.0);
    EXACTLY("n", 7.0);
    EXACTLY("k[1]", 3.0);
    EXACTLY("k[2]", 4.0);
    EXACTLY("w", 2.5);
    EXACTLY("q", 1.5);
    OK(step_to(&r, 1.0));
    EXACTLY("a", 0.0);
    EXACTLY("n", 4.0);
    EXACTLY("w", 3.5);
    EXACTLY("k[2]", 0.0);
    end(&r);
}

/* Every operation between the value that is given and the pre(w) that decides it, each solved by
 * hand; chains go through variables that have equations of their own. */
static void test_initial_values_through_operations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Boolean a, b, c, d, e, f, g, h, m, n, o; Integer i, j, k, l;\n"
                       "discrete Real p, q, s, u, v, w, x, y;\n"
                       "initial equation\na = true; d = true; f = true; h = false; m = true;\n"
                       "i = 4; k = 3; p = 5; s = 0.5; v = 3; x = -6;\n"
                       "equation\na = not b;\nb = not pre(c);\nc = pre(c);\n"
                       "d = pre(e) and time < 0.5;\ne = pre(e);\n"
                       "f = pre(g) or time > 0.5;\ng = pre(g);\nh = not (pre(e) and time < 0.5);\n"
                       "m = o;\no = pre(n);\nn = pre(n);\n"
                       "i = pre(j) - 3;\nj = pre(j);\nk = 5 - pre(l);\nl = pre(l);\n"
                       "p = 2.5*pre(q);\nq = pre(q);\ns = pre(u)/4;\nu = pre(u);\n"
                       "v = 6/pre(w);\nw = pre(w);\nx = -(pre(y)*(if time < 0.5 then 2 else 3));\n"
                       "y = pre(y);")));
    EXACTLY("a", 1.0);
    EXACTLY("c", 1.0);
    EXACTLY("e", 1.0);
    EXACTLY("g", 1.0);
    EXACTLY("h", 0.0);
    EXACTLY("n", 1.0);
    EXACTLY("j", 7.0);
    EXACTLY("l", 2.0);
    EXACTLY("q", 2.0);
    EXACTLY("u", 2.0);
    EXACTLY("w", 2.0);
    EXACTLY("y", 3.0);
    OK(step_to(&r, 1.0));
    EXACTLY("x", -9.0);
    end(&r);
}

static void test_contradicting_discrete_initial_value(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("Integer n;\ninitial equation\nn = 7;\nequation\n"
                                     "n = if time < 0.5 then 1 else 2;")),
                     DAE_ERR_INITIAL);
    WORDS(diag_of(&r)->text, "m.mo:4|n|7|1");
    assert_int_equal(diag_of(&r)->line, 4);
    end(&r);
}

static void test_smooth_makes_no_events(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=-1, fixed=true), y;\nequation\nder(x) = 1;\n"
                       "y = smooth(1, if x > 0 then x^2 else 0);")));
    OK(step_to(&r, 3.0));
    assert_int_equal(r.events, 0);
    assert_int_equal(dae_solver_stats(r.solver)->events, 0);
    NEAR("y", 4.0);
    end(&r);
}

/* ---- the noise of algebraic variables ---- */

/* The current of an open switch is zero up to rounding, whose sign is chance: no event. */
static void test_noise_is_no_event(void **state)
{
    (void)state;
    static const char *const some[] = {"bdf", "radau", "radau:5",
                                       "sdirk:4"}; /* Newton's iteration */
    for (int k = 0; k < 4; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real u, i, v(start=1, fixed=true), w; Integer n(start=0, fixed=true), "
                           "m(start=0, fixed=true);\n"
                           "equation\nu = 3*sin(7*time) + v;\nw = u/3 - i*1e-3;\n"
                           "i = (3*w + 3e-3*i - u)*0.7;\nder(v) = -v + i;\n"
                           "when i > 0 then n = pre(n) + 1; end when;\n"
                           "when i < 0 then m = pre(m) + 1; end when;"),
                     some[k], 1e-6);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 10.0));
        if (value(&r, "n") + value(&r, "m") != 0.0) print_error("%s\n", some[k]);
        EXACTLY("n", 0.0);
        EXACTLY("m", 0.0);
        end(&r);
    }
}

/* A thermostat between 18 and 22 degrees with time constant 1 between 10 and 30: one event every
 * ln 1.5 from ln 1.25 on. Its values at events are those of interpolants, and errors add up: gauss
 * and lobattoc, whose interpolants are of low order, were off by 91 and 310 tolerances. */
static void test_thermostat_by_every_method(void **state)
{
    (void)state;
    static const char *const of_low_order[] = {"gauss", "gauss:4", "lobattoc", "lobattoc:4"};
    const double rtol = 1e-6, since = 20.0 - log(1.25) - 48.0 * log(1.5);
    for (int k = 0; k < METHODS + 4; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real T(start=20, fixed=true);\nBoolean on(start=true, fixed=true);\n"
                           "equation\non = if pre(on) then T < 22 else T < 18;\n"
                           "der(T) = -(T - 10) + (if on then 20 else 0);"),
                     k < METHODS ? methods[k] : of_low_order[k - METHODS], rtol);
        r.options.atol = rtol;
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 20.0));
        assert_int_equal(dae_solver_stats(r.solver)->events, 49);
        double exact = 10.0 + 12.0 * exp(-since), tolerance = rtol * (1.0 + exact);
        expect_near(&r, "T", exact, 40.0 * tolerance, __LINE__);
        end(&r);
    }
}

/* A bridge of four diodes with small resistances, whose relations change within 1e-8 s of each
 * other: a step as short as that flight, and eight times as long each, would be 850 steps. */
static void test_steps_behind_events_that_meet(void **state)
{
    (void)state;
    run r;
    prepare_with(&r,
                 MODEL("parameter Real R = 10, C = 1e-3, k = 10, G = 1e-4;\n"
                       "Real vs, vp, vn, vc(start=0, fixed=true), i1, i2, i3, i4;\nequation\n"
                       "vs = 10*sin(100*3.141592653589793*time);\nvc = vp - vn;\n"
                       "i1 = (if vs - vp > 0 then k else G)*(vs - vp);\n"
                       "i2 = (if -vp > 0 then k else G)*(-vp);\n"
                       "i3 = (if vn - vs > 0 then k else G)*(vn - vs);\n"
                       "i4 = (if vn > 0 then k else G)*vn;\n"
                       "C*der(vc) = i1 + i2 - vc/R;\ni1 + i2 = i3 + i4;"),
                 "dopri", 1e-5); /* the currents count, too: 515 steps, as 541 at 1e-6 without */
    r.options.atol = 1e-5;
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 0.1));
    long steps = dae_solver_stats(r.solver)->steps;
    if (steps > 650) fail_msg("%ld steps", steps);
    end(&r);
}

/* Two ideal diodes in turn: where one opens the other closes, and its current is below what counts
 * as zero at loose tolerances. Values behind the event that were off by as much crossed zero again
 * and again. Q = the integral of |10 sin| / 11. */
static void test_diodes_in_turn_at_loose_tolerances(void **state)
{
    (void)state;
    static const char *const some[] = {"auto", "radau:5", "gauss", "rodas"};
    static const double rtols[] = {1e-2, 2e-3, 1e-3, 1e-4};
    for (int k = 0; k < 16; k++) {
        run r;
        double rtol = rtols[k % 4];
        prepare_with(&r,
                     MODEL("Real vs, i, s1, s2, v1, v2, i1, i2, Q(start=0, fixed=true);\n"
                           "Boolean d1, d2;\nequation\nvs = 10*sin(100*time + 0.3);\n"
                           "d1 = s1 > 0;\nd2 = s2 > 0;\nv1 = if d1 then 0 else s1;\n"
                           "i1 = if d1 then s1 else 0;\nv2 = if d2 then 0 else s2;\n"
                           "i2 = if d2 then s2 else 0;\nvs = i1 + v1 + 10*i;\n"
                           "-vs = i2 + v2 + 10*i;\ni = i1 + i2;\nder(Q) = i;"),
                     some[k / 4], rtol);
        r.options.atol = rtol;
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 0.3));
        double exact = (18.0 + cos(0.3) - cos(30.3 - 9.0 * acos(-1.0))) / 110.0;
        expect_near(&r, "Q", exact, rtol, __LINE__);
        end(&r);
    }
}

/* A switch with an arc. Once that is quenched the two sides of its relation differ by rounding
 * alone, and as long as the switch is closed nobody asks. It closes at t = 1 without a current, and
 * opens again at t = 2 with a current of 1. The relation was true when it was heard last, and is
 * false then: the arc is quenched where (t - 1) (3 - t) = (2 + sin t) 1e-5. */
static void test_relation_that_nobody_hears(void **state)
{
    (void)state;
    double quenched = 3.0;
    for (int k = 0; k < 20; k++) quenched = 3.0 - 1e-5 * (2.0 + sin(quenched)) / (quenched - 1.0);
    for (int k = 0; k < IMPLICIT; k++) {
        run r;
        prepare_with(&r,
                     MODEL("Real i, v, x(start=0, fixed=true);\n"
                           "Boolean off = time < 1 or time > 2, q(start=true, fixed=true);\n"
                           "equation\nv = 2 + sin(time);\n"
                           "i = if q then v/1e5 else (time - 1)*(3 - time);\n"
                           "q = off and (abs(i) <= abs(v)*1e-5 or pre(q));\n"
                           "der(x) = if q then 1 else 0;"),
                     implicit[k], 1e-6);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 2.5));
        EXACTLY("q", 0.0);
        OK(step_to(&r, 4.0));
        EXACTLY("q", 1.0);
        expect_near(&r, "x", 1.0 + 4.0 - quenched, 1e-6, __LINE__);
        long events = dae_solver_stats(r.solver)->events;
        if (events > 3) fail_msg("%s: %ld events", implicit[k], events);
        end(&r);
    }
}

/* ---- steps of values that no event tells ---- */

/* Values at some times, the last of which ends the run, each with what comes out there by hand. */
typedef struct known_value {
    double t, value;
} known_value;

static void expect_values(const char *text, double start, const char *name,
                          const known_value *known, size_t count, int ways)
{
    static const char *const some[] = {"auto", "radau:5", "bdf"};
    for (int k = 0; k < ways; k++) {
        run r;
        prepare(&r, text);
        r.options.method = some[k];
        r.options.stop_time = known[count - 1].t;
        OK(start_at(&r, start));
        for (size_t i = 0; i < count; i++) {
            OK(step_to(&r, known[i].t));
            if (value(&r, name) != known[i].value)
                fail_msg("%s: %s(%g) = %g", some[k], name, known[i].t, value(&r, name));
        }
        end(&r);
    }
}

#define EXPECT(text, start, name, ...)                                                             \
    do {                                                                                           \
        const known_value known[] = {__VA_ARGS__};                                                 \
        expect_values(text, start, name, known, sizeof known / sizeof *known, 3);                  \
    } while (0)

/* mod(-s, 2) in a function is 0 at s = 0 and 2 - s after it, at once and without an event. */
static void test_leap_where_a_run_begins(void **state)
{
    (void)state;
    static const char *const text =
        "function r\n  input Real b;\n  output Real q;\nalgorithm\n  q := div(mod(b, 2.0), 0.8);\n"
        "end r;\n" MODEL("Real s(start=0, fixed=true), a, y;\nequation\nder(s) = 1;\na = r(-s);\n"
                         "y = floor(0.5 + a);");
    EXPECT(text, 0.0, "y", {0.3, 2.0}, {0.5, 1.0}, {1.1, 1.0}, {1.3, 0.0});
    EXPECT(MODEL("Real s(start=0, fixed=true), v;\nInteger y;\nequation\nder(s) = 1;\n"
                 "v = noEvent(if s > 0 then 1.5 - s^2 else 0);\ny = integer(v);"),
           0.37, "y", {0.8, 1.0}, {1.0, 1.0}, {1.15, 0.0});
}

/* The same in an equation that is solved for what jumps. */
static void test_jump_where_a_run_begins(void **state)
{
    (void)state;
    const known_value known[] = {{0.8, 1.0}, {1.2, 1.0}};
    expect_values(MODEL("Real x, s(start=0, fixed=true);\nequation\nder(s) = 1;\n"
                        "max(noEvent(ceil(s)), if der(s) < s then 7*der(s) else s) = x;"),
                  0.37, "x", known, 2, 2); /* the first steps of bdf are too short */
}

/* Values that are integers but for the rounding of what they are solved for. */
static void test_integers_up_to_rounding(void **state)
{
    (void)state;
    EXPECT(
        MODEL("Integer k;\nReal b, z, x(start=0, fixed=true);\nequation\nk = integer(floor(z));\n"
              "4*z + b = 9;\n2.0*b = 2.0;\nder(x) = 1;"),
        0.37, "k", {0.6, 2.0}, {1.0, 2.0});
    EXPECT(MODEL("Integer k;\nReal b, y;\nequation\nk = integer(ceil(y));\n2*y + b = 1;\n"
                 "0.5*b = 0.5;"),
           0.37, "k", {0.6, 0.0}, {1.0, 0.0});
}

/* floor(3.375 u) - 2 floor(1.6875 u) is 1 where floor(3.375 u) is odd, and 1.5/t below 1 from t
 * = 1.5 on. */
#define ODD(u) "noEvent(floor(3.375*" #u ") - 2*floor(0.5*3.375*" #u "))"
static void test_floors_that_are_no_events(void **state)
{
    (void)state;
#define KNOWN {1.4, 0.0}, {1.6, 1.0}, {1.9, 0.0}, {2.2, 1.0}, {2.5, 0.0}, {2.8, 1.0}, {2.98, 0.0}
    EXPECT(MODEL("Real v = " ODD(time) ";\nBoolean b = v >= 1.5/time;"), 0.37, "b", KNOWN);
    EXPECT(MODEL("Real v = noEvent(2*ceil(-0.5*3.375*time) - ceil(-3.375*time));\n"
                 "Boolean b = v >= 1.5/time;"),
           0.37, "b", KNOWN);
    EXPECT(MODEL("Real u(start=0, fixed=true), v = " ODD(
               u) ";\n"
                  "Boolean b = v >= 1.5/(time + 0.01);\nequation\nder(u) = 1;"),
           0.0, "b", KNOWN);
}

/* Sides that are the same but for rounding, which no range shows: no event, and one note. */
static void test_sides_equal_up_to_rounding(void **state)
{
    (void)state;
    static const char *const relations[] = {"tan(atan(%s)) >= %s", "sqrt(%s^2) < %s",
                                            "exp(log(1 + %s)) > 1 + %s"};
    for (int k = 0; k < 6; k++) {
        char relation[80], text[300];
        const char *x = k < 3 ? "time" : "s";
        snprintf(relation, sizeof relation, relations[k % 3], x, x);
        snprintf(text, sizeof text,
                 MODEL("Boolean b = %s;\nReal s(start=0, fixed=true);\nequation\nder(s) = 1;"),
                 relation);
        run r;
        prepare(&r, text);
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 2.0));
        EXACTLY("b", k % 3 == 0);
        assert_int_equal(r.events, 0);
        WORDS(r.messages, "m.mo:2|the same up to rounding");
        end(&r);
    }
    EXPECT(MODEL("Boolean b = min(time, asin(sin(time))) > 1;"), 0.0, "b", {0.9, 0.0}, {1.2, 1.0});
}

/* floor of what jumps to an integer, and leaves it downward so slowly that a moment does not show
 * it, where a relation of its steps crosses in the same event. */
static void test_floor_leaves_an_integer_slowly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double right; /* between whole times */
    } CASES[] = {
        {MODEL("Real v;\nequation\nv = floor(5 - rem(time, 1.0)^2);"), 4.0},
        {MODEL("Real v;\nequation\nv = floor(5 - rem(time, 1.0)^3);"), 4.0},
        {MODEL("Real v;\nequation\nv = ceil(5 + rem(time, 1.0)^2);"), 6.0},
        {MODEL("Real v;\nequation\nv = integer(5 - mod(time, 1.0)^4);"), 4.0},
        {MODEL("Real v, s(start = 0, fixed = true);\nequation\n"
               "der(s) = 1;\nv = floor(5 - rem(s, 1.0)^2);"),
         4.0},
    };
    static const char *const SOME[] = {"auto", "bdf"};
    for (size_t i = 0; i < 2 * (sizeof CASES / sizeof *CASES); i++) {
        run r;
        prepare(&r, CASES[i / 2].text);
        r.options.method = SOME[i % 2];
        OK(start_at(&r, 0.0));
        for (double t = 0.25; t < 3.0; t += 0.5) {
            OK(step_to(&r, t));
            if (value(&r, "v") != CASES[i / 2].right)
                fail_msg("%s: v(%g) = %g", CASES[i / 2].text, t, value(&r, "v"));
        }
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_behind_events_that_meet),
        cmocka_unit_test(test_diodes_in_turn_at_loose_tolerances),
        cmocka_unit_test(test_thermostat_by_every_method),
        cmocka_unit_test(test_accumulation_by_every_method),
        cmocka_unit_test(test_accumulation_with_damping_near_0_and_1),
        cmocka_unit_test(test_rest_goes_on),
        cmocka_unit_test(test_two_relations_accumulate),
        cmocka_unit_test(test_few_steps_an_event),
        cmocka_unit_test(test_pulses_shorter_than_steps),
        cmocka_unit_test(test_floor_leaves_an_integer_slowly),
        cmocka_unit_test(test_events_and_output_times),
        cmocka_unit_test(test_pulse_below_the_tolerance_is_told),
        cmocka_unit_test(test_comparator_with_feedback),
        cmocka_unit_test(test_relaxation_oscillator),
        cmocka_unit_test(test_smooth_fold),
        cmocka_unit_test(test_rows_before_a_fold),
        cmocka_unit_test(test_initial_values_through_equations),
        cmocka_unit_test(test_initial_values_through_operations),
        cmocka_unit_test(test_contradicting_discrete_initial_value),
        cmocka_unit_test(test_smooth_makes_no_events),
        cmocka_unit_test(test_noise_is_no_event),
        cmocka_unit_test(test_relation_that_nobody_hears),
        cmocka_unit_test(test_leap_where_a_run_begins),
        cmocka_unit_test(test_jump_where_a_run_begins),
        cmocka_unit_test(test_integers_up_to_rounding),
        cmocka_unit_test(test_floors_that_are_no_events),
        cmocka_unit_test(test_sides_equal_up_to_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
