/* Every allocation of a save and of a load fails once: the answer is DAE_ERR_MEMORY, a solver can
 * be started again, and nothing leaks. */
#include "fault_alloc.h"

/* Index 3, an event, a clock, a delayed value: all parts that a checkpoint has. */
static const char *const model_text =
    "model P\n  Real x(start = 0.6, fixed = true), y(start = -0.8);\n"
    "  Real vx(start = 0, fixed = true), vy, f;\n  Real z(start = 0, fixed = true);\n"
    "  discrete Real n(start = 0, fixed = true);\nequation\n"
    "  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n  der(vy) = -f*y - 9.81;\n"
    "  x^2 + y^2 = 1;\n  der(z) = delay(x, 0.1) - (if x > 0.2 then 1 else 2);\n"
    "  when sample(0, 0.2) then\n    n = pre(n) + 1;\n  end when;\nend P;\n";

/* A file in memory that is there before the heap is watched. */
static unsigned char file[1 << 20];
static size_t file_count, file_at;

static int put(const void *bytes, size_t count, void *user)
{
    (void)user;
    if (count > sizeof file - file_count) return 1;
    memcpy(file + file_count, bytes, count);
    file_count += count;
    return 0;
}

static size_t take(void *bytes, size_t count, void *user)
{
    (void)user;
    const size_t given = count < file_count - file_at ? count : file_count - file_at;
    memcpy(bytes, file + file_at, given);
    file_at += given;
    return given;
}

/* A run of some steps, saved and loaded while requests are refused; the rest has its memory. */
static dae_status save_and_load(void *method)
{
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = model_text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    dae_options o = dae_options_default();
    o.method = method;
    const bool exhausted = heap.exhausted;
    const long countdown = heap.countdown;
    heap.countdown = -1;
    heap.exhausted = false;
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    for (int k = 0; status >= 0 && k < 12; k++) status = dae_solver_step(s, 10.0);
    while (status > 0 && dae_solver_save(s, NULL, &diag) == DAE_ERR_STATE)
        status = dae_solver_step(s, 10.0);
    heap.countdown = countdown;
    heap.exhausted = exhausted;
    file_at = file_count = 0;
    if (status > 0) status = dae_solver_write(s, put, NULL, &diag);
    if (status == DAE_OK) status = dae_solver_read(s, take, NULL, &diag);
    if (heap.countdown < 0 && status == DAE_ERR_MEMORY) /* it has memory again */
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void test_models(void **state)
{
    static const char *const methods[] = {"auto", "bdf", "radau"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        heap_faults f = fail_some(methods[k], save_and_load, (void *)methods[k], 400);
        assert_int_equal(f.status, DAE_OK);
        assert_true(f.told > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models)};
    return cmocka_run_group_tests_name("fault_alloc_checkpoint", tests, NULL, NULL);
}
