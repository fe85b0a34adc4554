/* Friction as component libraries write it: a path parameter s along its characteristic, Booleans
 * that say where a body begins to slide, and a mode that pre(..) remembers. Which of them hold
 * follows from s at the solution that they lead to. Expected values are formulas. */
#include "model_run.h"

/* A body of mass m, pushed by `push`, on a floor whose friction is at most 1; s is the force while
 * it is stuck, and its acceleration, beyond +-1, while it slides. */
#define BODY(m, push)                                                                              \
    "Real v(start=-1, fixed=true), a, s, f;\nBoolean forward(start=false, fixed=true);\n"          \
    "Boolean backward(start=false, fixed=true);\nBoolean stuck;\n"                                 \
    "Integer mode(start=-1, fixed=true);\nequation\nder(v) = a;\n" #m "*a = " push " - f;\n"       \
    "forward = pre(mode) == 0 and (s > 1.0 or pre(forward) and s > 0.9);\n"                        \
    "backward = pre(mode) == 0 and (s < -1.0 or pre(backward) and s < -0.9);\n"                    \
    "stuck = not (pre(mode) == 1 or forward or pre(mode) == -1 or backward);\n"                    \
    "a = if stuck then 0 else if forward then s - 1 else if backward then s + 1\n"                 \
    "    else if pre(mode) == 1 then s - 1 else s + 1;\n"                                          \
    "f = if stuck then s else if forward then 1 else if backward then -1\n"                        \
    "    else if pre(mode) == 1 then 1 else -1;\n"                                                 \
    "mode = if (pre(mode) == 1 or forward) and v > 0 then 1\n"                                     \
    "       else if (pre(mode) == -1 or backward) and v < 0 then -1 else 0;\n"

/* A light one slides backward, decelerated by (0.5 + 1)/0.1, until it stops at t = 1/15. What it
 * did so far says that it begins to slide forward, and if it did, it would be decelerated as if it
 * slid backward: it is stuck. At t = 1.5 the push is as large as friction. */
static void test_light_body_sticks(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL(BODY(0.1, "(if time < 1 then 0.5 else time - 0.5)"))));
    OK(step_to(&r, 0.05));
    NEAR("v", -1.0 + 15.0 * 0.05);
    EXACTLY("mode", -1.0);
    OK(step_to(&r, 0.5));
    NEAR("v", 0.0);
    NEAR("f", 0.5);
    EXACTLY("stuck", 1.0);
    OK(step_to(&r, 1.4));
    NEAR("f", 0.9);
    OK(step_to(&r, 2.0));
    EXACTLY("mode", 1.0);
    NEAR("v", 5.0 * 0.5 * 0.5);
    end(&r);
}

/* Where the push is larger than friction it turns round and slides on: it is never stuck. */
static void test_light_body_turns_round(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL(BODY(0.1, "1.5"))));
    OK(step_to(&r, 0.5));
    EXACTLY("mode", 1.0);
    NEAR("v", 5.0 * (0.5 - 1.0 / 25.0)); /* decelerated by 25 until then, accelerated by 5 */
    end(&r);
}

/* Relations that contradict themselves on either side are no circle that could be left. */
static void test_no_solution_stays_an_error(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x, y;\nBoolean a = x > 0, b = y > 0;\nequation\n"
                       "x = if time < 1 then 1 else if b then -1 else 1;\n"
                       "y = if time < 1 then 1 else if a then 1 else -1;")));
    assert_int_equal(step_to(&r, 2.0), DAE_ERR_EVENT);
    WORDS(diag_of(&r)->text, "does not settle|pre(..)");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_light_body_sticks),
        cmocka_unit_test(test_light_body_turns_round),
        cmocka_unit_test(test_no_solution_stays_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
