/* Starts of models whose discrete side is an unknown, too: initial equations of discrete variables,
 * modes that continuous and discrete values agree on; and which of several solutions homotopy
 * means. Expected values are formulas. */
#include "model_run.h"

/* ---- initial equations of discrete variables ---- */

/* A token that moves on: active = pre(next), where pre(next) = pre(here) by an initial equation and
 * pre(here) is free. The order of the initial equations makes no difference. */
#define TOKEN(initials)                                                                            \
    MODEL("Real x(start=0, fixed=true);\nBoolean active, here, next, old, fire;\n"                 \
          "initial equation\n" initials "equation\nder(x) = if active then 1 else -1;\n"           \
          "active = here;\nhere = pre(next);\nfire = here and time >= 0.5;\n"                      \
          "next = here and not fire;\nwhen fire then\n  old = here;\nend when;")

static void test_values_pass_through_initial_equations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        TOKEN("active = true;\npre(next) = pre(here);\npre(old) = pre(here);\n"),
        TOKEN("pre(old) = pre(here);\npre(next) = pre(here);\nactive = true;\n"),
        TOKEN("pre(next) = not pre(old);\nactive = true;\npre(old) = not pre(here);\n"),
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        run r;
        OK(begin(&r, texts[k]));
        EXACTLY("active", 1.0);
        EXACTLY("here", 1.0);
        EXACTLY("next", 1.0);
        EXACTLY("old", k < 2 ? 1.0 : 0.0);
        OK(step_to(&r, 1.0));
        EXACTLY("active", 0.0);
        NEAR("x", 0.0);
        end(&r);
    }
}

/* What two initial equations want of one value is a contradiction, and is told. */
static void test_initial_equations_that_contradict(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, TOKEN("active = true;\npre(next) = pre(here);\npre(here) = false;\n"
                                     "pre(old) = false;\n")),
                     DAE_ERR_INITIAL);
    assert_non_null(strstr(dae_solver_diag(r.solver)->text, "the initial equation wants active"));
    end(&r);
}

/* The branch is known once y = 2 is, but begins on the wrong side, where both a are negative and
 * held to be positive: the roots have no value, and to turn one relation, or all, is no help. */
static void test_roots_on_the_wrong_side_first(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("parameter Boolean pos(fixed=false);\n"
                       "Real x(start=1, fixed=true), y, a[2], c, z, w, f;\n"
                       "initial equation\npos = noEvent(y > 0);\nequation\n"
                       "der(x) = f;\nder(w) = -w - f;\ny^3 + y = 10*x;\n"
                       "a[1] = 1 + (if pos then y else -y);\n"
                       "a[2] = 2 + (if pos then y else -2*y);\nc = y/4 - 1;\n"
                       "z = sqrt(if a[1] > 0 then a[1] else 0.01) + "
                       "sqrt(if a[2] > 0 then a[2] else 0.01) + sqrt(if c > 0 then c else 0.01);\n"
                       "w = x + z;")));
    EXACTLY("pos", 1.0);
    NEAR("y", 2.0);
    NEAR("z", sqrt(3.0) + 2.0 + 0.1);
    end(&r);
}

/* ---- relations that fast equations move ---- */

/* A diode and an inductor L = 1e-4 at U = 100, with a current source I beside the diode. At 0 the
 * diode blocks: its voltage is (i - I)/G = -100. It closes after L G ln(1 + I/(U G)) = 1e-9 ln 2,
 * before a moment is over, and conducting at 0 it would have a current of -I. */
#define FAST_DIODE                                                                                 \
    MODEL("Real i(start=0, fixed=true), id, v, s;\nBoolean off;\nequation\n"                       \
          "off = s < 0;\nv = s*(if off then 1 else 1e-5);\nid = s*(if off then 1e-5 else 1);\n"    \
          "i = id + 1e-3;\n1e-4*der(i) = 100 - v;")

static void test_fast_equations_at_the_start(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, FAST_DIODE));
    EXACTLY("off", 1.0);
    NEAR("v", -100.0);
    assert_int_equal(dae_solver_step(r.solver, 1e-3), DAE_STEPPED); /* no event at 0 */
    OK(step_to(&r, 1e-3));
    assert_int_equal(r.events, 2); /* where it closes: before and after */
    EXACTLY("off", 0.0);
    NEAR("i", 1e-3 + 1e7 * (1 - exp(-(1e-3 - 1e-9 * log(2.0)) / 10)));
    end(&r);
}

/* A mode in which nothing says what q is: the other one holds. */
static void test_singular_mode_is_left(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), q, r;\nequation\nder(x) = -x;\nr = 1;\n"
                       "0 = if q > 0.5 then q - 2*x else r - 1;")));
    NEAR("q", 2.0);
    end(&r);
}

/* ---- homotopy ---- */

/* y^3 - 3 y = 1 has the solutions 2 cos(20, 140, 260 degrees). */
static double root(int k)
{
    return 2.0 * cos((20.0 + 120.0 * k) * acos(-1.0) / 180.0);
}

/* Where a way leads to depends on where it begins; without one the start value decides. */
static void test_homotopy_leads_to_its_solution(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real y, z, w;\nequation\n0 = homotopy(y^3 - 3*y - 1, y - 3);\n"
                       "0 = homotopy(actual = z^3 - 3*z - 1, simplified = z + 3);\n"
                       "0 = w^3 - 3*w - 1;")));
    NEAR("y", root(0));
    NEAR("z", root(1));
    NEAR("w", root(2));
    end(&r);
}

/* A comparator with feedback, v = limit(1000 u) with u = v/2 + x: both limits are solutions. Behind
 * the start homotopy(a, s) is a: the lower one holds until x = 0.499. */
#define COMPARATOR(simplified)                                                                     \
    MODEL("parameter Real p = 0;\nReal x(start=p, fixed=true), u, v;\nequation\nder(x) = 1;\n"     \
          "u = v/2 + x;\n"                                                                         \
          "v = homotopy(if noEvent(1000*u > 1) then 1 else if noEvent(1000*u < -1) then -1 "       \
          "else 1000*u, " simplified ");")

static void test_homotopy_decides_the_branch(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, COMPARATOR("-1")));
    NEAR("v", -1.0);
    OK(step_to(&r, 0.25));
    NEAR("v", -1.0);
    NEAR("u", -0.25);
    end(&r);
    OK(begin(&r, COMPARATOR("1")));
    NEAR("v", 1.0);
    end(&r);
}

/* Parameters and start values that are set from outside hold on the way, too. */
static void test_homotopy_with_settings(void **state)
{
    (void)state;
    run r;
    prepare(&r, COMPARATOR("2*x"));
    assert_int_equal(dae_problem_set_parameter(r.problem, "p", 0.25, &r.diag), DAE_OK);
    OK(start_at(&r, 0.0));
    NEAR("v", 1.0);
    end(&r);
    prepare(&r, COMPARATOR("2*x"));
    assert_int_equal(dae_problem_set_start(r.problem, "x", -0.25, &r.diag), DAE_OK);
    OK(start_at(&r, 0.0));
    NEAR("v", -1.0);
    end(&r);
}

/* A way that turns back: lambda/(1 - lambda) = (y + 2)/((3 - y)((y - 1)^2 + 0.1)) has its peak near
 * y = 1. That is told, and the text's start value counts. */
static void test_homotopy_that_turns_back(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real y(start=2.5);\nequation\n"
                       "0 = homotopy((y - 3)*((y - 1)^2 + 0.1), y + 2);")));
    NEAR("y", 3.0);
    assert_non_null(strstr(r.messages, "homotopy leads from the simplified equations to 0.9"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_on_the_wrong_side_first),
        cmocka_unit_test(test_values_pass_through_initial_equations),
        cmocka_unit_test(test_initial_equations_that_contradict),
        cmocka_unit_test(test_fast_equations_at_the_start),
        cmocka_unit_test(test_singular_mode_is_left),
        cmocka_unit_test(test_homotopy_leads_to_its_solution),
        cmocka_unit_test(test_homotopy_decides_the_branch),
        cmocka_unit_test(test_homotopy_with_settings),
        cmocka_unit_test(test_homotopy_that_turns_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
