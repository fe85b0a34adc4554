/* Every allocation of a run by Taylor series fails once: nothing leaks, and the status tells. Steps
 * allocate nothing. */
#include "fault_alloc.h"

static const char text[] =
    "model M\nfunction cube input Real x; output Real y; protected Integer k; algorithm y := 1; k "
    ":= "
    "3; while k > 0 loop y := y*x; k := k - 1; end while; end cube;\nReal x(start=1); Real "
    "y(start=0, "
    "fixed=true); Real vx(start=0); Real vy(start=0, fixed=true); Real l; Real z(start=0, "
    "fixed=true);\nequation der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 1; x^2 + "
    "y^2 = "
    "1; der(z) = cube(x);\nend M;\n";

/* From the text to the digits at the end. */
static dae_status journey(void *context)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    static char digits[32 * DAE_DIGITS_SIZE];
    o.method = "taylor";
    o.precision = *(const dae_precision *)context;
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, NULL);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.5, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_digits(s, 0.5, digits);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void runs_fail_cleanly(void **state)
{
    (void)state;
    for (int k = 0; k <= 1; k++) {
        dae_precision precision = k == 0 ? DAE_PRECISION_DOUBLE : DAE_PRECISION_LONG;
        heap_faults f = fail_some("taylor", journey, &precision, k == 0 ? 600 : 200);
        assert_int_equal(f.status, DAE_OK);
        assert_true(f.told > 50);
    }
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.method = "taylor";
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(s, 20.0), DAE_STEPPED);
    heap_watch(-1);
    dae_status status;
    while ((status = dae_solver_step(s, 20.0)) > 0) continue;
    heap_unwatch();
    assert_int_equal(status, DAE_OK);
    assert_int_equal(heap.requests, 0);
    assert_int_equal(heap.foreign, 0);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_fail_cleanly),
        cmocka_unit_test(steps_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
