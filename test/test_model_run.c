/* Runs of small model texts: events, when-clauses, initial equations, aliases, orders of
 * derivatives, and what is said when a run fails. Expected values are formulas. */
#include "model_run.h"

/* ---- relations ---------------------------------------------------------------------------- */

static void test_relation_makes_events_and_noEvent_none(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\n"
                       "der(x) = if time < 0.5 then 1 else -2;")));
    OK(step_to(&r, 1.0));
    assert_int_equal(r.events, 2); /* found, and updated */
    NEAR("x", -0.5);
    end(&r);
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\n"
                       "der(x) = noEvent(if time < 0.5 then 1 else -2);")));
    OK(step_to(&r, 1.0));
    assert_int_equal(r.events, 0);
    NEAR("x", -0.5);
    end(&r);
}

static void test_relation_at_zero_at_start(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger n(start=0);\nequation\n"
                       "der(x) = 1;\nwhen x > 0 then\n  n = pre(n) + 1;\nend when;")));
    OK(step_to(&r, 1.0));
    EXACTLY("n", 1.0); /* false at the start, true at once */
    end(&r);
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger n(start=0);\nequation\n"
                       "der(x) = 1;\nwhen x >= 0 then\n  n = pre(n) + 1;\nend when;")));
    OK(step_to(&r, 1.0));
    EXACTLY("n", 0.0); /* true from the start: no edge */
    end(&r);
}

/* ---- when --------------------------------------------------------------------------------- */

static void test_first_branch_wins(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger a(start=0), b(start=0);\nequation\n"
                       "der(x) = 1;\n"
                       "when x > 0.5 then\n  a = 1;\nelsewhen x > 0.5 then\n  a = 2;\n"
                       "elsewhen x > 0.75 then\n  a = 3;\nend when;\n"
                       "when x > 0.5 then\n  b = pre(a) + 10*a;\nend when;")));
    OK(step_to(&r, 0.6));
    EXACTLY("a", 1.0);
    EXACTLY("b", 10.0); /* a is new, pre(a) old, in one event */
    OK(step_to(&r, 1.0));
    EXACTLY("a", 3.0);
    end(&r);
}

static void test_chain_of_whens_in_one_event(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger a(start=0), b(start=0), c(start=0);\n"
                       "equation\nder(x) = 1;\n"
                       "when b > 0 then\n  c = pre(c) + a + b;\nend when;\n" /* the last first */
                       "when a > 0 then\n  b = a + 1;\nend when;\n"
                       "when x > 0.5 then\n  a = 5;\nend when;")));
    OK(step_to(&r, 1.0));
    assert_int_equal(r.events, 2);
    EXACTLY("b", 6.0);
    EXACTLY("c", 11.0);
    end(&r);
}

static void test_pre_edge_change(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             MODEL("Real x(start=0, fixed=true);\nBoolean up;\n"
                   "Integer level, rising(start=0), changes(start=0), count(start=0);\nequation\n"
                   "der(x) = 1;\nup = sin(x) > 0.5;\n"
                   "level = if x > 4 then 2 elseif x > 2 then 1 else 0;\n"
                   "when edge(up) then\n  rising = pre(rising) + 1;\nend when;\n"
                   "when change(level) then\n  changes = pre(changes) + 1;\nend when;\n"
                   "when {up, not up} then\n  count = pre(count) + 1;\nend when;")));
    OK(step_to(&r, 10.0)); /* up from pi/6 to 5 pi/6, and 2 pi later again */
    EXACTLY("rising", 2.0);
    EXACTLY("changes", 2.0);
    EXACTLY("count", 4.0);
    end(&r);
}

/* An algebraic variable that jumps with a discrete one is new in the clauses of the same event. */
static void test_clauses_see_the_new_algebraic_values(void **state)
{
    (void)state;
    run r;
    OK(begin(
        &r,
        MODEL("Real x(start=0, fixed=true), y(start=1);\nBoolean b;\ndiscrete Real d(start=0);\n"
              "equation\nder(x) = 1;\nb = x > 0.5;\n"
              "y^3 = if b then 8 else 1;\n" /* not to be taken for an alias */
              "when b then\n  d = y;\nend when;")));
    OK(step_to(&r, 1.0));
    NEAR("d", 2.0);
    end(&r);
}

static void test_discrete_equations_outside_when(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger k, k2, k3;\nBoolean odd;\n"
                       "discrete Real half(start=0);\nequation\nder(x) = 1;\n"
                       "odd = mod(k2, 2) == 1;\nk3 = if odd then k2 + 1 else k2;\nk2 = 3*k;\n"
                       "k = integer(x);\n"
                       "when odd then\n  half = 0.5*k3;\nend when;")));
    OK(step_to(&r, 1.5));
    EXACTLY("k", 1.0);
    EXACTLY("k2", 3.0);
    EXACTLY("odd", 1.0);
    EXACTLY("k3", 4.0);
    EXACTLY("half", 2.0);
    end(&r);
}

/* floor and ceil jump at events, also where they leave an integer at the start. */
static void test_rounding(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), up, down, m;\nInteger k;\nequation\n"
                       "der(x) = 1;\nup = ceil(x);\ndown = floor(-x);\nm = mod(x, 0.75);\n"
                       "k = integer(2*x);")));
    OK(step_to(&r, 0.25));
    NEAR("up", 1.0);
    NEAR("down", -1.0);
    OK(step_to(&r, 2.5));
    NEAR("up", 3.0);
    NEAR("down", -3.0);
    NEAR("m", 0.25);
    OK(step_to(&r, 2.75));
    EXACTLY("k", 5.0);
    assert_int_equal(dae_problem_variable_count(r.problem), 5); /* none of the translator's */
    end(&r);
}

/* ---- sample ------------------------------------------------------------------------------- */

static void test_sample_times_are_exact(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             MODEL("Real x(start=0, fixed=true);\nInteger k(start=0);\nequation\nder(x) = x + 1;\n"
                   "when sample(0.25, 0.1) then\n  k = pre(k) + 1;\nend when;")));
    dae_status status;
    int k = 0;
    while ((status = dae_solver_step(r.solver, 100.0)) > 0 && k < 10) {
        if (status != DAE_EVENT || value(&r, "k") == k) continue; /* found, not yet updated */
        assert_true(dae_solver_time(r.solver) == 0.25 + k * 0.1);
        k++;
        NEAR("x", expm1(dae_solver_time(r.solver)));
    }
    assert_int_equal(k, 10);
    end(&r);
}

static void test_sample_at_the_start_and_with_a_state_event(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger k(start=0), n(start=0), m(start=0);\n"
                       "Boolean b;\nequation\nder(x) = 1;\nb = x >= 0.5;\n"
                       "when sample(0, 0.25) then\n  k = pre(k) + 1;\nend when;\n"
                       "when b then\n  n = pre(n) + 1;\nend when;\n"
                       "when {sample(0, 0.5), time >= 0.75} then\n  m = pre(m) + 1;\nend when;")));
    EXACTLY("k", 1.0);
    EXACTLY("m", 1.0);
    OK(step_to(&r, 1.0));
    EXACTLY("k", 5.0);
    EXACTLY("n", 1.0);
    EXACTLY("m", 4.0);
    end(&r);
}

static void test_many_samples(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Integer k(start=0), l(start=0);\nequation\n"
                       "when sample(0, 1e-3) then\n  k = pre(k) + 1;\nend when;\n"
                       "when sample(1/3, 1/3) then\n  l = k;\nend when;")));
    OK(step_to(&r, 3.0));
    EXACTLY("k", 3001.0);
    EXACTLY("l", 3001.0); /* at t = 3 both clocks strike, k first */
    end(&r);
}

static void test_bad_sample(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("parameter Real h = -1;\nInteger k(start=0);\nequation\n"
                                     "when sample(0, h) then\n  k = pre(k) + 1;\nend when;")),
                     DAE_ERR_ARGUMENT);
    WORDS(diag_of(&r)->text, "m.mo:5|sample(0, -1)|positive");
    assert_int_equal(diag_of(&r)->line, 5);
    end(&r);
}

/* ---- reinit ------------------------------------------------------------------------------- */

static void test_reinit_of_alias_and_exchange(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y(start=2, fixed=true), u, w;\nequation\n"
                       "der(x) = 0;\nder(y) = 0;\nu = -x;\nw = u;\n"
                       "when time > 0.25 then\n  reinit(x, y);\n  reinit(y, x);\nend when;\n"
                       "when time > 0.75 then\n  reinit(w, 7);\nend when;")));
    OK(step_to(&r, 0.5));
    NEAR("x", 2.0);
    NEAR("y", 1.0);
    NEAR("u", -2.0);
    OK(step_to(&r, 1.0));
    NEAR("x", -7.0);
    NEAR("w", 7.0);
    end(&r);
}

/* Two bodies on a rod, of index 3: u is -x', and not x'. x'' = p, y'' = 2 + p, so p = -1. */
static void test_reinit_of_an_opposite_speed(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(fixed=true), y, u(fixed=true), v, p;\nequation\n"
                       "der(x) = -u;\nder(y) = v;\nder(u) = -p;\nder(v) = 2 + p;\nx + y = 1;\n"
                       "when time > 0.5 then\n  reinit(u, 4);\nend when;")));
    OK(step_to(&r, 1.0));
    NEAR("x", -2.25);
    NEAR("u", 4.5);
    NEAR("v", 4.5);
    end(&r);
}

/* u and v are both x': what reinit sets of one holds for the other, whichever it is, at the start,
 * too. x' = 10 - t before t = 0.5, then 4 - (t - 0.5). */
static void test_reinit_of_a_second_name(void **state)
{
    (void)state;
    static const char *const when[] = {"time > 0.5 then\n  reinit(u", "time > 0.5 then\n  reinit(v",
                                       "initial() then\n  reinit(u", "initial() then\n  reinit(v"};
    for (int k = 0; k < 4; k++) {
        run r;
        char text[400];
        snprintf(text, sizeof text,
                 MODEL("Real x(fixed=true), u(start=10, fixed=true), v, a;\nequation\n"
                       "u = der(x);\nv = der(x);\nder(v) = -1;\na = der(u);\n"
                       "when %s, 4);\nend when;"),
                 when[k]);
        OK(begin(&r, text));
        OK(step_to(&r, 1.0));
        NEAR("u", k < 2 ? 3.5 : 3.0);
        NEAR("v", k < 2 ? 3.5 : 3.0);
        NEAR("x", k < 2 ? 6.75 : 3.5);
        end(&r);
    }
}

/* A state inside an algebraic loop: what depends on it follows. */
static void test_reinit_in_a_loop(void **state)
{
    (void)state;
    run r;
    OK(begin(
        &r, MODEL("Real x(start=1, fixed=true), a, b;\nequation\n"
                  "der(x) = a + b - 3*x;\na + b = 3*x;\na - b^3 = x - 8;\n" /* b = 2 at x = 1: no */
                  "when time > 0.5 then\n  reinit(x, 10/3);\nend when;")));
    OK(step_to(&r, 1.0)); /* a + b = 10, a = b^3 + x - 8 */
    NEAR("x", 10.0 / 3.0);
    double b = value(&r, "b"), a = value(&r, "a");
    assert_true(fabs(a + b - 10.0) < 1e-8 && fabs(a - b * b * b - 10.0 / 3.0 + 8.0) < 1e-8);
    end(&r);
}

static void test_reinit_of_what_is_no_state(void **state)
{
    (void)state;
    run r;
    assert_int_equal(load(&r, MODEL("Real x(start=0), z;\nequation\nder(x) = 1;\nz = x^2;\n"
                                    "when x > 0.5 then\n  reinit(z, 3);\nend when;")),
                     DAE_ERR_MODEL);
    WORDS(r.diag.text, "m.mo:7|z|no state");
    assert_int_equal(r.diag.line, 7);
}

/* reinit makes another relation true: its clause acts in the same event. */
static void test_reinit_triggers_the_next_clause(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y(start=0, fixed=true);\nInteger n(start=0);\n"
                       "equation\nder(x) = 1;\nder(y) = 0;\n"
                       "when x > 0.5 then\n  reinit(y, 5);\nend when;\n"
                       "when y > 4 then\n  n = pre(n) + 1;\n  reinit(x, 0);\nend when;")));
    OK(step_to(&r, 0.75));
    EXACTLY("n", 1.0);
    NEAR("x", 0.25);
    assert_int_equal(r.events, 2);
    end(&r);
}

/* ---- initial, terminal, terminate, assert --------------------------------------------------- */

/* Algebraic variables without start values are first computed along the equations: at 0 these have
 * no derivatives. h' = -sqrt(2 h) from 2: h = (2 - t)^2 / 2. */
static void test_guesses_follow_the_equations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real h(start=2, fixed=true), y, q, p, u, w;\nequation\nder(h) = -y;\n"
                       "w = 1/u + log(p);\ny = sign(q)*sqrt(abs(q));\n4*u - q = 0;\n"
                       "p = if q > 1 then q else 0;\nq = 2*h;")));
    NEAR("w", 1.0 + log(4.0));
    OK(step_to(&r, 0.9));
    NEAR("h", 0.605);
    NEAR("w", 4.0 / 1.21 + log(1.21));
    end(&r);
}

/* In an algorithm, too, clauses of initial() act at the beginning, and only those. */
static void test_initial_in_algorithms(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true);\ndiscrete Real m(start=0, fixed=true);\n"
                       "discrete Real k, j;\nalgorithm\n"
                       "when initial() then\n  m := 10;\nelsewhen x < 0.5 then\n"
                       "  m := pre(m) + 1;\nend when;\n"
                       "when {initial(), x < 0.5} then\n  k := pre(k) + 5;\nend when;\n"
                       "when x > 0.4 then\n  j := 3;\nend when;\nequation\nder(x) = -x;")));
    EXACTLY("m", 10.0);
    EXACTLY("k", 5.0);
    EXACTLY("j", 0.0); /* true from the beginning */
    OK(step_to(&r, 1.0));
    EXACTLY("m", 11.0);
    EXACTLY("k", 10.0);
    EXACTLY("j", 0.0);
    end(&r);
}

static void test_initial_and_terminal(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true);\nInteger a(start=0), z(start=0), n(start=3);\n"
                       "discrete Real d(start=0);\nequation\nder(x) = -x;\n"
                       "when initial() then\n  a = 1;\n  n = pre(n) + 1;\nend when;\n"
                       "when {initial(), x < 0.5} then\n  d = x;\nend when;\n"
                       "when terminal() then\n  z = pre(z) + 1;\n  reinit(x, 9);\nend when;")));
    EXACTLY("a", 1.0);
    EXACTLY("n", 4.0); /* once */
    EXACTLY("d", 1.0);
    OK(step_to(&r, 1.0));
    EXACTLY("z", 0.0);
    NEAR("d", 0.5);
    OK(dae_solver_finish(r.solver));
    EXACTLY("z", 1.0);
    NEAR("x", 9.0);
    assert_true(dae_solver_time(r.solver) == 1.0);
    OK(dae_solver_finish(r.solver));
    EXACTLY("z", 1.0); /* a run ends once */
    OK(dae_solver_step(r.solver, 2.0));
    assert_true(dae_solver_time(r.solver) == 1.0);
    OK(dae_solver_start(r.solver, 0.0, NULL, NULL)); /* and may begin again */
    EXACTLY("z", 0.0);
    end(&r);
}

static void test_finish_without_start(void **state)
{
    (void)state;
    run r = {0};
    assert_int_equal(dae_solver_finish(NULL), DAE_ERR_ARGUMENT);
    OK(load(&r, MODEL("Real x(start=1);\nequation\nder(x) = 1;")));
    OK(dae_solver_new(r.problem, NULL, &r.solver, NULL));
    assert_int_equal(dae_solver_finish(r.solver), DAE_ERR_STATE);
    end(&r);
}

static void test_terminate(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "when x > 0.5 then\n  reinit(x, 4);\n"
                       "  terminate(\"full at \" + String(x));\nend when;")));
    dae_status status = DAE_STEPPED, last = DAE_STEPPED;
    while ((status = dae_solver_step(r.solver, 1.0)) > 0) last = status;
    OK(status);
    assert_int_equal(last, DAE_EVENT);
    assert_true(fabs(dae_solver_time(r.solver) - 0.5) < 1e-9);
    WORDS(diag_of(&r)->text, "m.mo:7|terminated|full at 0.5");
    assert_int_equal(diag_of(&r)->line, 7);
    NEAR("x", 4.0); /* values after the event */
    end(&r);
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "when initial() then\n  terminate(\"at once\");\nend when;")));
    OK(dae_solver_step(r.solver, 1.0));
    assert_true(dae_solver_time(r.solver) == 0.0);
    WORDS(diag_of(&r)->text, "at once");
    end(&r);
}

static void test_terminate_under_a_condition(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "when sample(0.1, 0.1) then\n  if x > 0.55 then\n"
                       "    terminate(\"enough\");\n  end if;\nend when;")));
    OK(step_to(&r, 1.0));
    assert_true(fabs(dae_solver_time(r.solver) - 0.6) < 1e-12);
    end(&r);
}

static void test_assertions(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "assert(x < 0.25, \"x is \" + String(x), AssertionLevel.warning);\n"
                       "assert(x < 0.5, \"too large\");")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    const dae_diag *diag = dae_solver_diag(r.solver);
    WORDS(diag->text, "m.mo:6|too large|assertion");
    assert_int_equal(diag->line, 6);
    assert_true(diag->t >= 0.5);
    WORDS(r.messages, "m.mo:5|warning|x is 0.");
    assert_null(strstr(strstr(r.messages, "x is") + 1, "x is")); /* once */
    end(&r);
    assert_int_equal(begin(&r, MODEL("Real x(start=-1, fixed=true);\nequation\nder(x) = 1;\n"
                                     "assert(x >= 0, \"negative\");")),
                     DAE_ERR_ASSERT);
    end(&r);
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "when x > 0.5 then\n  assert(x < 0, \"in a clause\");\nend when;")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_ASSERT);
    WORDS(diag_of(&r)->text, "m.mo:6|in a clause");
    end(&r);
}

/* ---- iterations that do not end ----------------------------------------------------------- */

static void test_event_iteration_without_end(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("Real x(start=0, fixed=true);\nBoolean flip(start=false);\n"
                                     "Boolean calm(start=true);\n"
                                     "equation\nder(x) = 1;\nflip = not pre(flip);\n"
                                     "calm = pre(calm) or x > 2;")),
                     DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "does not settle|flip (m.mo:3)");
    assert_null(strstr(diag_of(&r)->text, "calm"));
    assert_string_equal(diag_of(&r)->variable_name, "flip");
    assert_int_equal(diag_of(&r)->line, 3);
    end(&r);
}

/* A value of a parameter that takes an equation away, and one that makes two of them the same */
static void test_singular_parameter(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("parameter Real a = 0;\nReal x(start = 1, fixed = true), y;\n"
                                     "equation\nder(x) = -x + y;\na*y = a*x;")),
                     DAE_ERR_SINGULAR);
    WORDS(diag_of(&r)->text, "With a = 0 (line 2)|equation 2 (m.mo:6) determines nothing new;");
    end(&r);
    assert_int_equal(begin(&r, MODEL("parameter Real a = 1;\nReal x, y;\nequation\n"
                                     "x + a*y = time;\na*x + y = sin(time);")),
                     DAE_ERR_SINGULAR);
    WORDS(diag_of(&r)->text,
          "With a = 1 (line 2)|equation 1 (m.mo:5) and equation 2 (m.mo:6) depend");
    end(&r);
}

/* A mode in which x has two equations and y none: both are listed, and nothing else. */
static void test_singular_mode(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x, y;\nequation\nx = cos(time);\nif time > 0.5 then\nx = sin(time);\n"
                       "else\ny = sin(time);\nend if;")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_MODEL);
    WORDS(diag_of(&r)->text, "t = 0.5|singular in the mode");
    assert_non_null(strstr(diag_of(&r)->text,
                           "Too many equations: 2 equations: equation 1 (m.mo:4), "
                           "equation 2 (m.mo:6) for 1 unknown: x. Too few: 0 equations "
                           "for 1 unknown: y."));
    end(&r);
    /* of many, eight are listed */
    OK(begin(&r, MODEL("Real x[10], y;\nequation\nx[1] = cos(time);\nfor i in 2:10 loop\n"
                       "x[i] = x[i - 1]^2 - 1;\nend for;\nif time > 0.5 then\nx[10] = sin(time);\n"
                       "else\ny = sin(time);\nend if;")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_MODEL);
    WORDS(diag_of(&r)->text, "11 equations: | and 3 more for 10 unknowns: | and 2 more. Too few");
    int named = 0;
    for (const char *at = diag_of(&r)->text; (at = strstr(at, "(m.mo:")); at++) named++;
    assert_int_equal(named, 8);
    end(&r);
}

static void test_chattering(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true);\nequation\n"
                       "der(x) = if x > 0 then -1 else 1;")));
    assert_int_equal(step_to(&r, 2.0), DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "does not settle|relation at m.mo:4|hysteresis");
    assert_true(fabs(diag_of(&r)->t - 1.0) < 1e-6);
    end(&r);
}

/* Impacts at shorter and shorter intervals: the sum of the flights is finite. */
static void test_accumulating_events(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real h(start=1, fixed=true), v(start=0, fixed=true);\nequation\n"
                       "der(h) = v;\nder(v) = -2;\nwhen h <= 0 then\n"
                       "  reinit(v, -0.5*pre(v));\nend when;")));
    assert_int_equal(step_to(&r, 10.0), DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "Events accumulate at t = 3|m.mo:6");
    assert_true(fabs(diag_of(&r)->t - 3.0) < 1e-5); /* 1 + 2 (1/2 + 1/4 + ..) */
    end(&r);
}

/* ---- initial equations --------------------------------------------------------------------- */

static void test_steady_state(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             MODEL("Real x(start=1), y(start=1), z;\ninitial equation\nder(x) = 0;\nder(y) = 0;\n"
                   "equation\nder(x) = 4 - x^2;\nder(y) = x*z - y;\nz = 3*x;")));
    NEAR("x", 2.0);
    NEAR("y", 12.0);
    OK(step_to(&r, 1.0));
    NEAR("y", 12.0);
    end(&r);
}

static void test_nonlinear_and_too_few_initial_equations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1), y(start=1), w(start=5);\ninitial equation\n"
                       "x^2 + y^2 = 25;\nx = 0.75*y;\n" /* w keeps its start value */
                       "equation\nder(x) = 0;\nder(y) = 0;\nder(w) = -w;")));
    NEAR("x", 3.0);
    NEAR("y", 4.0);
    NEAR("w", 5.0);
    end(&r);
    OK(begin(&r,
             MODEL("Real x, y(start=2);\ninitial equation\nx + y = 5;\n" /* y has a start value */
                   "equation\nder(x) = 0;\nder(y) = 0;")));
    NEAR("x", 3.0);
    NEAR("y", 2.0);
    end(&r);
}

static void test_fixed_algebraic_variable_frees_a_state(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real a(start=1), b(start=3), z(start=4, fixed=true);\nequation\n"
                       "der(a) = -a;\nder(b) = -b;\nz = a^2;")));
    NEAR("z", 4.0);
    NEAR("a", 2.0);
    NEAR("b", 3.0);
    end(&r);
    OK(begin(&r, MODEL("Real a(start=1), b(start=3), z(start=4, fixed=true);\nequation\n"
                       "der(a) = -a;\nder(b) = -b;\nz = b^2;")));
    NEAR("b", 2.0);
    NEAR("a", 1.0);
    end(&r);
}

static void test_too_many_initial_equations(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1);\ninitial equation\nx = 2;\n2*x = 4;\n" /* they agree */
                       "equation\nder(x) = -x;")));
    NEAR("x", 2.0);
    end(&r);
    assert_int_equal(begin(&r, MODEL("Real x(start=1);\ninitial equation\nx = 2;\n2*x = 5;\n"
                                     "equation\nder(x) = -x;")),
                     DAE_ERR_INITIAL);
    WORDS(diag_of(&r)->text, "contradict");
    end(&r);
}

static void test_initial_equations_of_discrete_variables(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("parameter Integer p = 4;\nReal x(start=0, fixed=true);\n"
                       "Integer k, l(start=9);\nBoolean b;\ndiscrete Real d;\n"
                       "initial equation\nk = p + 3;\npre(l) = 2;\nb = true;\npre(d) = 2.5;\n"
                       "equation\nder(x) = if b then 1 else 0;\n"
                       "when x > 0.5 then\n  k = pre(k) + 1;\n  l = pre(l) + 1;\n  b = false;\n"
                       "  d = 2*pre(d);\nend when;")));
    EXACTLY("k", 7.0);
    EXACTLY("l", 2.0);
    EXACTLY("b", 1.0);
    EXACTLY("d", 2.5);
    OK(step_to(&r, 1.0));
    EXACTLY("k", 8.0);
    EXACTLY("l", 3.0);
    EXACTLY("d", 5.0);
    NEAR("x", 0.5);
    end(&r);
}

static void test_initial_algorithm(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x, y;\ninitial algorithm\nx := 2;\ny := x + 1;\n"
                       "equation\nder(x) = 0;\nder(y) = 0;")));
    NEAR("x", 2.0);
    NEAR("y", 3.0);
    end(&r);
}

static void test_free_parameter(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("parameter Real k(fixed=false, start=1);\nReal x(start=2, fixed=true);\n"
                       "initial equation\nder(x) = -6;\nequation\nder(x) = -k*x;")));
    OK(step_to(&r, 1.0));
    NEAR("x", 2.0 * exp(-3.0));
    end(&r);
}

/* ---- aliases ------------------------------------------------------------------------------- */

static void test_aliases_are_reported(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("parameter Real R = 3;\nReal x(start=1, fixed=true), y, z, w, c, d, e, f;\n"
                       "equation\nder(z) = w;\nx = y;\ny = -z;\nw + z = 0;\n"
                       "c = 2*R;\nd = -c;\ne = 0;\nf = e;")));
    assert_int_equal(dae_problem_size(r.problem), 1);
    OK(step_to(&r, 1.0));
    NEAR("x", exp(-1.0));
    NEAR("y", exp(-1.0));
    NEAR("z", -exp(-1.0));
    NEAR("w", exp(-1.0));
    EXACTLY("c", 6.0);
    EXACTLY("d", -6.0);
    EXACTLY("e", 0.0);
    EXACTLY("f", 0.0);
    end(&r);
}

static void test_fixed_start_on_either_side_of_an_alias(void **state)
{
    (void)state;
    run r;
    OK(begin(&r,
             MODEL("Real x(start=1), y(start=5, fixed=true);\nequation\nder(x) = 0;\nx = -y;")));
    NEAR("x", -5.0);
    end(&r);
    OK(begin(&r,
             MODEL("Real x(start=1, fixed=true), y(start=5);\nequation\nder(y) = 0;\nx = -y;")));
    NEAR("y", -1.0);
    end(&r);
}

static void test_contradicting_fixed_values(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("Real x(start=1, fixed=true);\nReal y(start=2, fixed=true);\n"
                                     "equation\nder(x) = 0;\nx = y;")),
                     DAE_ERR_INITIAL);
    WORDS(diag_of(&r)->text, "x (m.mo:2)|y (m.mo:3)|contradicts");
    end(&r);
    assert_int_equal(begin(&r, MODEL("Real x(start=1, fixed=true), y(start=2, fixed=true);\n"
                                     "equation\nder(x) = 0;\ny = 3*x;")),
                     DAE_ERR_INITIAL);
    WORDS(diag_of(&r)->text, "m.mo:5|contradict");
    end(&r);
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y(start=3, fixed=true);\n"
                       "equation\nder(x) = 0;\ny = 3*x;"))); /* too many, but they agree */
    NEAR("y", 3.0);
    end(&r);
}

static void test_derivative_of_an_alias(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y, s;\nequation\nder(y) = x;\ny = -x;\n"
                       "s = der(y) + 1;")));
    OK(step_to(&r, 1.0));
    NEAR("x", exp(-1.0));
    NEAR("s", 1.0 + exp(-1.0));
    end(&r);
}

static void test_alias_of_a_discrete_variable(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y;\ndiscrete Real d(start=3);\nReal z;\n"
                       "Integer k(start=2), l;\nequation\nder(x) = y;\ny = d;\nz = -y;\nl = k;\n"
                       "when x > 1.5 then\n  d = 1;\n  k = 7;\nend when;")));
    NEAR("z", -3.0);
    EXACTLY("l", 2.0);
    OK(step_to(&r, 1.0));
    NEAR("x", 2.0);
    NEAR("z", -1.0);
    EXACTLY("l", 7.0);
    end(&r);
}

static void test_conflicting_aliases(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int line;
    } cases[] = {
        {MODEL("Real x, y, z;\nequation\nx = y;\ny = x;\nder(z) = x;"), "m.mo:5|m.mo:4", 5},
        {MODEL("Real x, y, z, w;\nequation\nx = 1;\ny = x;\ny = 2;\nder(z) = w;"),
         "m.mo:6|m.mo:4|m.mo:5", 6},
        {MODEL("Real x, y, z;\nequation\nx + time = 1;\nx^2 = time;\nder(z) = y + y*x;\n"),
         "structurally singular|m.mo:4|m.mo:5|: y", 5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        run r;
        dae_status status = load(&r, cases[k].text);
        assert_int_equal(status, DAE_ERR_MODEL);
        assert_null(r.problem);
        WORDS(r.diag.text, cases[k].words);
        assert_int_equal(r.diag.line, cases[k].line);
    }
}

/* ---- orders of derivatives ---------------------------------------------------------------- */

static void test_higher_derivatives(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real q(start=1, fixed=true), w, p(start=1, fixed=true), a;\nequation\n"
                       "der(der(q)) = -4*q;\nw = der(q);\n"
                       "der(der(der(p))) = -p;\na = der(der(p));")));
    assert_int_equal(dae_problem_size(r.problem), 2 + 3 + 2);
    OK(step_to(&r, 1.0));
    NEAR("q", cos(2.0));
    NEAR("w", -2.0 * sin(2.0));
    /* p''' = -p, p = 1, p' = p'' = 0 at 0: a third of exp(-t) + 2 exp(t/2) cos(sqrt(3)/2 t) */
    double c = 0.5 * sqrt(3.0);
    NEAR("p", (exp(-1.0) + 2.0 * exp(0.5) * cos(c)) / 3.0);
    end(&r);
}

static void test_derivative_of_an_expression(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y;\nequation\n"
                       "der(x^2) = 2*x;\ny = der(x*time + sin(x));")));
    OK(step_to(&r, 1.0)); /* x' = 1 */
    NEAR("x", 2.0);
    NEAR("y", 1.0 + 2.0 + cos(2.0));
    end(&r);
}

/* ---- bad numbers ----------------------------------------------------------------------------- */

static void test_bad_parameters(void **state)
{
    (void)state;
    run r;
    assert_int_equal(load(&r, MODEL("parameter Real a = 0;\nparameter Real b = a/a;\nReal x;\n"
                                    "equation\nder(x) = b;")),
                     DAE_ERR_ARGUMENT);
    WORDS(r.diag.text, "b|m.mo:3|not a number");
    assert_int_equal(r.diag.line, 3);
    assert_null(r.problem);
}

static void test_division_by_zero_at_start(void **state)
{
    (void)state;
    run r;
    dae_status status = begin(&r, MODEL("Real x(start=0, fixed=true), y, z(start=0, fixed=true);\n"
                                        "equation\nder(x) = 1;\ny = 1/x;\nder(z) = y;"));
    assert_true(status < 0);
    WORDS(diag_of(&r)->text, "m.mo:5");
    assert_int_equal(diag_of(&r)->line, 5);
    end(&r);
}

static void test_logarithm_of_a_negative_number_on_the_way(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), y, z(start=0, fixed=true);\nequation\n"
                       "der(x) = -1;\ny = noEvent(if x > 0.5 then x else log(-x)) \"loss\";\n"
                       "der(z) = y;")));
    assert_int_equal(step_to(&r, 2.0) < 0, true);
    WORDS(diag_of(&r)->text, "loss (m.mo:5)|not help");
    assert_true(fabs(dae_solver_time(r.solver) - 0.5) < 1e-6);
    end(&r);
}

static void test_bad_reinit(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nequation\nder(x) = 1;\n"
                       "when x > 0.5 then\n  reinit(x, log(-x));\nend when;")));
    assert_int_equal(step_to(&r, 1.0), DAE_ERR_EVALUATION);
    WORDS(diag_of(&r)->text, "reinit|x");
    end(&r);
}

/* exp(1000) overflows where 2/(1 + exp(-v/eps)) is 0: the equation is flat there, and its slope is
 * 0, not 0 times infinity. Up to t = 0.3 f solves f = 0.1 f^3 - 1, and v moves evenly. */
static void test_saturated_exponentials(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "radau", "rodas", "sdirk"};
    double f = -1.1;
    for (int k = 0; k < 20; k++) f -= (f - 0.1 * f * f * f + 1.0) / (1.0 - 0.3 * f * f);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        run r;
        prepare(&r, MODEL("  parameter Real eps = 5e-4;\n  Real v(start = -0.5, fixed = true);\n"
                          "  Real f;\nequation\n  der(v) = 1 - 0.2*f;\n"
                          "  f = 2/(1 + exp(-v/eps)) - 1 + 0.1*f^3;"));
        r.options.method = methods[i];
        assert_int_equal(start_at(&r, 0.0), DAE_OK);
        OK(step_to(&r, 0.3));
        NEAR("f", f);
        NEAR("v", -0.5 + 0.3 * (1.0 - 0.2 * f));
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saturated_exponentials),
        cmocka_unit_test(test_relation_makes_events_and_noEvent_none),
        cmocka_unit_test(test_relation_at_zero_at_start),
        cmocka_unit_test(test_first_branch_wins),
        cmocka_unit_test(test_chain_of_whens_in_one_event),
        cmocka_unit_test(test_pre_edge_change),
        cmocka_unit_test(test_clauses_see_the_new_algebraic_values),
        cmocka_unit_test(test_discrete_equations_outside_when),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_sample_times_are_exact),
        cmocka_unit_test(test_sample_at_the_start_and_with_a_state_event),
        cmocka_unit_test(test_many_samples),
        cmocka_unit_test(test_bad_sample),
        cmocka_unit_test(test_reinit_of_alias_and_exchange),
        cmocka_unit_test(test_reinit_of_an_opposite_speed),
        cmocka_unit_test(test_reinit_of_a_second_name),
        cmocka_unit_test(test_reinit_in_a_loop),
        cmocka_unit_test(test_reinit_of_what_is_no_state),
        cmocka_unit_test(test_reinit_triggers_the_next_clause),
        cmocka_unit_test(test_guesses_follow_the_equations),
        cmocka_unit_test(test_initial_in_algorithms),
        cmocka_unit_test(test_initial_and_terminal),
        cmocka_unit_test(test_finish_without_start),
        cmocka_unit_test(test_terminate),
        cmocka_unit_test(test_terminate_under_a_condition),
        cmocka_unit_test(test_assertions),
        cmocka_unit_test(test_event_iteration_without_end),
        cmocka_unit_test(test_singular_parameter),
        cmocka_unit_test(test_singular_mode),
        cmocka_unit_test(test_chattering),
        cmocka_unit_test(test_accumulating_events),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_nonlinear_and_too_few_initial_equations),
        cmocka_unit_test(test_fixed_algebraic_variable_frees_a_state),
        cmocka_unit_test(test_too_many_initial_equations),
        cmocka_unit_test(test_initial_equations_of_discrete_variables),
        cmocka_unit_test(test_initial_algorithm),
        cmocka_unit_test(test_free_parameter),
        cmocka_unit_test(test_aliases_are_reported),
        cmocka_unit_test(test_fixed_start_on_either_side_of_an_alias),
        cmocka_unit_test(test_contradicting_fixed_values),
        cmocka_unit_test(test_derivative_of_an_alias),
        cmocka_unit_test(test_alias_of_a_discrete_variable),
        cmocka_unit_test(test_conflicting_aliases),
        cmocka_unit_test(test_higher_derivatives),
        cmocka_unit_test(test_derivative_of_an_expression),
        cmocka_unit_test(test_bad_parameters),
        cmocka_unit_test(test_division_by_zero_at_start),
        cmocka_unit_test(test_logarithm_of_a_negative_number_on_the_way),
        cmocka_unit_test(test_bad_reinit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
