/* Starts of models whose discrete side is an unknown, too: initial equations of discrete variables,
 * modes that continuous and discrete values agree on. Expected values are formulas. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_pass_through_initial_equations),
        cmocka_unit_test(test_initial_equations_that_contradict),
        cmocka_unit_test(test_fast_equations_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
