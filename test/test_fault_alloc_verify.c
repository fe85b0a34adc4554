/* Every allocation of a judge fails once: the answer is DAE_ERR_MEMORY and nothing leaks. */
#include "fault_alloc.h"

/* Hidden constraints, an output, an event. */
static const char *const pendulum =
    "model P\n  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), "
    "f;\n"
    "  Real energy;\n  Integer n(start = 0, fixed = true);\nequation\n  der(x) = vx;\n"
    "  der(y) = vy;\n  der(vx) = -f*x;\n  der(vy) = -f*y - 9.81;\n  x^2 + y^2 = 1;\n"
    "  energy = (vx^2 + vy^2)/2 + 9.81*y;\n  when x < 0.5 then\n    n = pre(n) + 1;\n  end when;\n"
    "end P;\n";

static dae_status verify(void *text)
{
    dae_problem *p = NULL;
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status == DAE_OK)
        status = dae_verify(p, NULL, &(dae_verify_request){.tend = 0.5, .rows = 11}, &r, &diag);
    assert_int_equal(r == NULL, status != DAE_OK);
    dae_verify_report_free(r);
    dae_problem_free(p);
    return status;
}

static void test_verify(void **state)
{
    (void)state;
    heap_faults f = fail_some("pendulum", verify, (void *)pendulum, 1500);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verify)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
