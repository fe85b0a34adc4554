/* Interruption: a callback that asks to stop at any of its calls ends translation, analysis, the
 * making and the start of a solver with DAE_ERR_INTERRUPTED, leaves nothing behind (sanitizers and
 * valgrind look), and a further try without it gives what it would have given. */
#include "base/arena.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char pendulum[] =
    "model Pendulum\n"
    "  parameter Real L = 1, g = 9.81;\n"
    "  Real x(start = 1, fixed = true), y, vx, vy(start = 0, fixed = true), F;\n"
    "  Real e[40](each start = 1, each fixed = true);\n"
    "equation\n"
    "  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -F*x;\n  der(vy) = -F*y - g;\n"
    "  x^2 + y^2 = L^2;\n"
    "  for i in 1:40 loop der(e[i]) = -i*e[i]*sin(x); end for;\n"
    "end Pendulum;\n";

/* The k-th question is answered by "stop"; 0: never. */
typedef struct patience {
    long asked, stop_at;
} patience;

static int ask(void *user)
{
    patience *p = user;
    return ++p->asked == p->stop_at;
}

static dae_status make(patience *p, const char *text, dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_model(
        &(dae_model){.text = text, .file = "p.mo", .interrupt = ask, .user = p}, problem, diag);
}

static void translation_stops_anywhere(void **unused)
{
    (void)unused;
    dae_status status = DAE_ERR_INTERRUPTED;
    long k = 0;
    while (status == DAE_ERR_INTERRUPTED && k < 10000) {
        patience p = {.stop_at = ++k};
        dae_problem *problem = NULL;
        dae_diag diag = {0};
        status = make(&p, pendulum, &problem, &diag);
        assert_int_equal(status == DAE_OK, problem != NULL);
        if (status != DAE_OK) {
            assert_int_equal(status, DAE_ERR_INTERRUPTED);
            assert_int_equal(diag.status, DAE_ERR_INTERRUPTED);
            assert_non_null(strstr(diag.text, "interrupt"));
            assert_int_equal(p.asked, k); /* it is not asked again */
        }
        dae_problem_free(problem);
    }
    assert_int_equal(status, DAE_OK);
    assert_true(k > 10); /* it was asked now and then */
}

static void analysis_stops_anywhere(void **unused)
{
    (void)unused;
    patience p = {0};
    dae_problem *problem = NULL;
    assert_int_equal(make(&p, pendulum, &problem, NULL), DAE_OK);
    long before = p.asked, k = 0;
    dae_status status = DAE_ERR_INTERRUPTED;
    while (status == DAE_ERR_INTERRUPTED && k < 10000) {
        dae_analysis *a = NULL;
        dae_diag diag = {0};
        p = (patience){.stop_at = ++k};
        status = dae_problem_analyse(problem, 0.0, &a, &diag);
        assert_int_equal(status == DAE_OK, a != NULL);
        if (status != DAE_OK) assert_int_equal(status, DAE_ERR_INTERRUPTED);
        if (a) assert_int_equal(a->index, 3);
        dae_analysis_free(a);
    }
    assert_int_equal(status, DAE_OK);
    assert_true(before > 10 && k > 10);
    p = (patience){.stop_at = 1};
    char *text = dae_problem_emit(problem);
    assert_true(p.asked == 0 || text == NULL);
    dae_text_free(text);
    dae_problem_free(problem);
}

/* Values at t = 0.5 of a solver that is made and started until both succeed. */
static void run_interrupted(dae_problem *problem, long every, double *values, long *stops)
{
    dae_status status = DAE_ERR_INTERRUPTED;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    patience p = {0};
    options.interrupt = ask;
    options.user = &p;
    long k = 0;
    while (status == DAE_ERR_INTERRUPTED) {
        p = (patience){.stop_at = every > 0 ? ++k * every : 0};
        status = dae_solver_new(problem, &options, &solver, NULL);
        if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
        if (status == DAE_OK) p.stop_at = 0;
        if (status == DAE_OK) break;
        assert_int_equal(status, DAE_ERR_INTERRUPTED);
        ++*stops;
        dae_solver_free(solver);
        solver = NULL;
    }
    while (status >= 0 && dae_solver_time(solver) < 0.5) status = dae_solver_step(solver, 0.5);
    assert_true(status >= 0);
    assert_int_equal(dae_solver_variables(solver, 0.5, values), DAE_OK);
    dae_solver_free(solver);
}

static void start_stops_anywhere(void **unused)
{
    (void)unused;
    patience none = {0};
    dae_problem *problem = NULL;
    assert_int_equal(make(&none, pendulum, &problem, NULL), DAE_OK);
    double first[45], second[45];
    long stops = 0;
    run_interrupted(problem, 0, first, &stops);
    assert_int_equal(stops, 0);
    dae_problem_free(problem); /* it keeps what was analysed, and starts would be short */
    assert_int_equal(make(&none, pendulum, &problem, NULL), DAE_OK);
    run_interrupted(problem, 1, second, &stops);
    assert_true(stops > 5);
    assert_memory_equal(first, second, sizeof first);
    dae_problem_free(problem);
}

/* Inside of a scope that was stopped nothing is allocated any more; after it, it is. */
static void allocations_end(void **unused)
{
    (void)unused;
    patience p = {.stop_at = 1};
    interrupt_scope scope;
    interrupt_open(&scope, ask, &p);
    arena *a = arena_new(0);
    assert_non_null(a);
    bool failed = false;
    for (int k = 0; k < 1000 && !failed; k++) failed = arena_alloc(a, 8) == NULL;
    assert_true(failed);
    assert_null(dae_calloc(1, 1));
    interrupt_scope inner; /* a call inside the call is over, too */
    interrupt_open(&inner, NULL, NULL);
    assert_null(dae_calloc(1, 1));
    assert_true(interrupt_close(&inner));
    arena_free(a);
    assert_true(interrupt_close(&scope));
    assert_int_equal(p.asked, 1);
    void *block = dae_calloc(1, 1);
    assert_non_null(block);
    dae_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_end),
        cmocka_unit_test(translation_stops_anywhere),
        cmocka_unit_test(analysis_stops_anywhere),
        cmocka_unit_test(start_stops_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
