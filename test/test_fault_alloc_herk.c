/* Every allocation of half-explicit Runge-Kutta fails once: at the making of its matrices, at a
 * choice of components, where E is a general one, and in large systems. Nothing leaks. */
#include "fault_alloc.h"

#include "herk_problems.h"

/* x_i' + x_{i+1}' = x_i + x_{i+1} for odd i, 0 = x_i - x_{i+1}: E is not reducible; x = e^t */
enum { PAIRS = 40 };
static int E_colptr[2 * PAIRS + 1], E_rowind[2 * PAIRS];

static eval_status pairs_E(void *c, double t, const double *x, double *E)
{
    (void)c, (void)t, (void)x;
    for (int j = 0; j < 2 * PAIRS; j++) E[j] = 1;
    return EVAL_OK;
}
static eval_status pairs_f(void *c, double t, const double *x, double *f)
{
    (void)c, (void)t;
    for (int i = 0; i < PAIRS; i++) f[i] = x[2 * i] + x[2 * i + 1];
    return EVAL_OK;
}
static eval_status pairs_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    for (int i = 0; i < PAIRS; i++) g[i] = x[2 * i] - x[2 * i + 1];
    return EVAL_OK;
}
static eval_status pairs_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t, (void)x;
    for (int j = 0; j < 2 * PAIRS; j++) J[j] = j % 2 ? -1 : 1;
    return EVAL_OK;
}
static eval_status pairs_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, PAIRS);
}

static quasilinear_form pairs(void)
{
    for (int j = 0; j < 2 * PAIRS; j++) {
        E_colptr[j + 1] = j + 1;
        E_rowind[j] = j / 2;
    }
    form_matrix m = {.rows = PAIRS,
                     .columns = 2 * PAIRS,
                     .colptr = E_colptr,
                     .rowind = E_rowind,
                     .count = 2 * PAIRS};
    return (quasilinear_form){.n = 2 * PAIRS,
                              .ne = PAIRS,
                              .ng = PAIRS,
                              .E = pairs_E,
                              .f = pairs_f,
                              .g = pairs_g,
                              .g_x = pairs_g_x,
                              .g_t = pairs_g_t,
                              .E_matrix = m,
                              .g_x_matrix = m};
}

typedef struct journey {
    const method *method;
    const quasilinear_form *form;
    const double *x;
    int steps;
} journey;

/* The matrices and some steps; only what may fail is watched. */
static dae_status some_steps(void *context)
{
    static runner r;
    const journey *j = context;
    attempt_status status = ATTEMPT_MEMORY;
    heap.watching = false;
    runner_open(&r, j->method, j->form, 1e-6, 1e-6, NULL);
    j->method->cache_free(r.ctx.cache);
    heap.watching = true;
    r.ctx.cache = j->method->cache_new(&r.ctx);
    if (r.ctx.cache) {
        runner_start(&r, 0, j->x, 0.01);
        status = ATTEMPT_OK;
        for (int k = 0; k < j->steps && status == ATTEMPT_OK; k++) {
            status = runner_try(&r, 0.05);
            if (status == ATTEMPT_OK) runner_accept(&r);
        }
    }
    j->method->cache_free(r.ctx.cache);
    heap.watching = false;
    r.ctx.cache = NULL;
    runner_close(&r);
    if (status == ATTEMPT_OK) return DAE_OK;
    return status == ATTEMPT_MEMORY ? DAE_ERR_MEMORY : DAE_ERR_STATE;
}

static void fail_steps(const method *m, const quasilinear_form *form, const double *x, int steps)
{
    journey j = {m, form, x, steps};
    every_failure_is_told(m->name, some_steps, &j, 10);
}

static void dense_systems_fail_cleanly(void **state)
{
    (void)state;
    const double rest[] = {-1, 0, 0, 0, 0};
    fail_steps(&method_herk_dopri5, &pendulum, rest, 20); /* with changes of the selection */
    fail_steps(&method_herk_thesis, &pendulum, rest, 2);
}

static void large_general_systems_fail_cleanly(void **state)
{
    (void)state;
    double x[2 * PAIRS];
    quasilinear_form form = pairs();
    for (int j = 0; j < 2 * PAIRS; j++) x[j] = 1;
    fail_steps(&method_herk_dopri5, &form, x, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_systems_fail_cleanly),
        cmocka_unit_test(large_general_systems_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
