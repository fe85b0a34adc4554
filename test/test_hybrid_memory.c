/* An event for whose values there is no memory is DAE_ERR_MEMORY, not a value that is no number. */
#include "sanitized.h"

#if !SANITIZED

#include "fault_alloc.h"

static const char *const text = "model M\n  Real x(start=0, fixed=true);\n  Integer n(start=0);\n"
                                "equation\n  der(x) = 1;\n  when sample(0.5, 1) then\n"
                                "    n = pre(n) + 1;\n  end when;\nend M;\n";

static void test_no_memory_at_an_event(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag;
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(p, NULL, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_status status;
    while ((status = dae_solver_step(s, 1.0)) == DAE_STEPPED) continue;
    assert_int_equal(status, DAE_EVENT); /* found; the update comes with the next call */
    heap_watch(-1);
    heap.exhausted = true;
    status = dae_solver_step(s, 1.0);
    heap_unwatch();
    assert_int_equal(status, DAE_ERR_MEMORY);
    assert_non_null(strstr(dae_solver_diag(s)->text, "memory"));
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK); /* and it works again */
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    double values[2];
    assert_int_equal(dae_solver_variables(s, 1.0, values), DAE_OK);
    assert_true(values[dae_problem_find_variable(p, "n")] == 1.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_no_memory_at_an_event(void **state)
{
    (void)state;
    skip(); /* the sanitizer has an allocator of its own */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory_at_an_event)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
