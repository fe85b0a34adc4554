/* Every allocation of a problem and its matrices fails once: a clean error, and nothing leaks. */
#include "failing_memory.h"
#include "matrix/iteration.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 70 };

/* Tridiagonal, with an algebraic last row. */
static int ladder(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++)
        f[i] = (i < N - 1 ? yp[i] : 0.0) + 3.0 * y[i] - (i > 0 ? y[i - 1] : 0.0) -
               (i < N - 1 ? y[i + 1] : 0.0);
    return 0;
}

static int crossing(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)yp, (void)user;
    g[0] = y[0] - t;
    return 0;
}

typedef struct setting {
    bool pattern;
    dae_linear_solver solver;
    dae_preconditioner preconditioner;
} setting;

static dae_residual describe(const setting *s)
{
    static int colptr[N + 1], rowind[3 * N];
    static const char *names[N];
    static double low[N], high[N];
    static dae_kind kinds[N];
    for (int j = 0, next = 0; j < N; j++) {
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < N) rowind[next++] = i;
        colptr[j + 1] = next;
        low[j] = -1e9;
        high[j] = INFINITY;
        names[j] = j == 0 ? "first" : NULL;
    }
    dae_residual form = {.n = N, .f = ladder, .event_count = 1, .event_function = crossing};
    form.variable_names = names;
    form.kinds = kinds;
    form.lower_bounds = low;
    form.upper_bounds = high;
    if (s->pattern) form.colptr = colptr;
    if (s->pattern) form.rowind = rowind;
    return form;
}

/* Problem, matrices, one evaluation, one factorisation. Whether all of it worked; a failure must be
 * DAE_ERR_MEMORY with words, or ITERATION_MEMORY. */
static bool whole_life(const setting *s)
{
    dae_residual form = describe(s);
    dae_options options = {.linear_solver = s->solver, .preconditioner = s->preconditioner};
    options.precond_lower = options.precond_upper = 1;
    dae_problem *problem;
    dae_diag diag = {0};
    dae_status status = dae_problem_from_residual(&form, &problem, &diag);
    if (status) {
        assert_int_equal(status, DAE_ERR_MEMORY);
        assert_null(problem);
        assert_non_null(strstr(diag.text, "memory"));
        return false;
    }
    dae_stats stats = {0};
    evaluator eval = {.problem = problem, .stats = &stats};
    iteration it;
    status = iteration_new(&it, &eval, &options, &diag);
    bool ok = status == DAE_OK;
    if (ok) {
        double y[N], yp[N], weights[N];
        for (int i = 0; i < N; i++) y[i] = yp[i] = weights[i] = 1.0 + 0.01 * i;
        iteration_status step = iteration_evaluate(&it, 0.0, y, yp, 1.0, 1.0, weights, NULL);
        if (!step) step = iteration_factor(&it, 1.0, NULL);
        ok = step == ITERATION_OK;
        if (!ok) assert_int_equal(step, ITERATION_MEMORY);
        if (!ok) { /* and with memory again it goes on */
            countdown = -1;
            assert_int_equal(iteration_evaluate(&it, 0.0, y, yp, 1.0, 1.0, weights, NULL), 0);
            assert_int_equal(iteration_factor(&it, 1.0, NULL), ITERATION_OK);
        }
        iteration_free(&it);
    } else {
        assert_int_equal(status, DAE_ERR_MEMORY);
        assert_non_null(strstr(diag.text, "memory"));
    }
    dae_problem_free(problem);
    return ok;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    const setting settings[] = {
        {true, DAE_LINEAR_SPARSE, DAE_PRECOND_AUTO},  {true, DAE_LINEAR_DENSE, DAE_PRECOND_AUTO},
        {true, DAE_LINEAR_BANDED, DAE_PRECOND_AUTO},  {false, DAE_LINEAR_AUTO, DAE_PRECOND_AUTO},
        {false, DAE_LINEAR_BANDED, DAE_PRECOND_AUTO}, {true, DAE_LINEAR_GMRES, DAE_PRECOND_ILU},
        {true, DAE_LINEAR_GMRES, DAE_PRECOND_BANDED}, {false, DAE_LINEAR_GMRES, DAE_PRECOND_NONE}};
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        long k = 0;
        for (bool done = false; !done; k++) {
            countdown = k;
            done = whole_life(&settings[s]);
            countdown = -1;
            assert_true(k < 1000);
        }
        assert_true(k > 10); /* some did fail */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
