/* Every allocation of a linear system and of the search for a steady state fails once: the answer
 * is DAE_ERR_MEMORY, or a failed start before it, and nothing leaks. */
#include "fault_alloc.h"

/* Index 3 beside a conserved mass, an input, an event on the way to the rest. */
static const char *const pendulum =
    "model P\n  input Real u(start = 0);\n  Real x(start = 0.6, fixed = true), y(start = -0.8);\n"
    "  Real vx(start = 0, fixed = true), vy, f;\n  Real a(start = 2, fixed = true);\n"
    "  Real b(start = 0, fixed = true);\n  Real z(start = 0, fixed = true);\nequation\n"
    "  der(x) = vx;\n  der(y) = vy;\n  der(vx) = u - f*x - vx;\n  der(vy) = -f*y - 9.81 - vy;\n"
    "  x^2 + y^2 = 1;\n  der(a) = -a + b;\n  der(b) = a - b;\n"
    "  der(z) = if z < 1 then 2 - z else 1.5 - z;\nend P;\n";

static dae_status linearise(void *text)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_linearisation *linear = NULL;
    dae_steady_state *steady = NULL;
    dae_diag diag = {0};
    dae_model model = {
        .text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE, .shift_inputs = true};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, NULL, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) {
        status = dae_linearise(s, NULL, &linear, &diag);
        assert_int_equal(linear == NULL, status != DAE_OK);
    }
    if (status == DAE_OK) {
        status = dae_steady(s, NULL, &steady, &diag);
        assert_int_equal(steady == NULL, status != DAE_OK);
    }
    dae_linearise_free(linear);
    dae_steady_free(steady);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void test_linearise(void **state)
{
    (void)state;
    heap_faults f = fail_some("pendulum", linearise, (void *)pendulum, 1500);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_linearise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
