/* Every allocation of the implicit one-step methods fails once, from the solver on: dense, and
 * sparse with complex matrices and a detected pattern. Nothing leaks. */
#include "fault_alloc.h"

#include "daedal.h"

#include <math.h>

enum { SMALL = 3, LARGE = 80 };

/* y_i' = (y_{i-1} - 2 y_i + y_{i+1}), the last y_n algebraic: 0 = y_n - y_{n-1} / 2 */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    int n = *(const int *)user;
    for (int i = 0; i + 1 < n; i++) {
        double left = i > 0 ? y[i - 1] : 0.0;
        f[i] = yp[i] - (left - 2.0 * y[i] + y[i + 1]);
    }
    f[n - 1] = y[n - 1] - 0.5 * y[n - 2];
    return 0;
}

typedef struct journey {
    const char *name;
    int n;
    const dae_table *table; /* NULL: the method's own */
} journey;

static dae_status some_steps(void *context)
{
    const journey *j = context;
    int n = j->n;
    double y[LARGE], yp[LARGE] = {0.0};
    dae_residual form = {.n = n, .f = chain, .user = &n};
    dae_options o = dae_options_default();
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    o.method = j->name;
    o.table = j->table;
    for (int i = 0; i < n; i++) y[i] = 1.0;
    dae_status status = dae_problem_from_residual(&form, &p, NULL);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y, yp);
    for (int k = 0; k < 3 && status >= 0; k++) status = dae_solver_step(s, 1.0);
    dae_solver_free(s);
    dae_problem_free(p);
    return status > 0 ? DAE_OK : status;
}

static void failures_are_told(void **state)
{
    (void)state;
    static const char *const names[] = {"rodas", "sdirk:4", "sirk:2"};
    for (int k = 0; k < 3; k++)
        for (int large = 0; large < 2; large++) {
            journey j = {names[k], large ? LARGE : SMALL, NULL};
            every_failure_is_told(names[k], some_steps, &j, 10);
        }
}

/* Complex matrices that cannot be had at the start are asked for again at the first step: one
 * refusal may go unnoticed, and does no harm. */
static void complex_matrices(void **state)
{
    (void)state;
    static const char *const names[] = {"lobattoc:4", "gauss:6"};
    for (int k = 0; k < 2; k++)
        for (int large = 0; large < 2; large++) {
            journey j = {names[k], large ? LARGE : SMALL, NULL};
            heap_faults f = fail_each(names[k], some_steps, &j);
            assert_int_equal(f.status, DAE_OK);
            assert_true(f.requests > 10);
        }
}

/* A table of the user's, real and triangular: checked, copied, and bound. */
static void own_table(void **state)
{
    (void)state;
    dae_table t = dae_table_empty();
    static const char text[] = "order 2\nc 1-sqrt(1/2) 1\nA\n1-sqrt(1/2)\nsqrt(1/2) 1-sqrt(1/2)\n"
                               "b sqrt(1/2) 1-sqrt(1/2)\nembedded 0 1\n";
    assert_int_equal(dae_table_from_text(text, &t, NULL), DAE_OK);
    for (int large = 0; large < 2; large++) {
        journey j = {"irk", large ? LARGE : SMALL, &t};
        every_failure_is_told("irk:table", some_steps, &j, 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures_are_told),
                                       cmocka_unit_test(complex_matrices),
                                       cmocka_unit_test(own_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
