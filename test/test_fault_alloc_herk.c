/* Every allocation of half-explicit Runge-Kutta fails once: at the making of its matrices, at a
 * choice of components, where E is a general one, and in large systems. Nothing leaks. The one door
 * to the heap asks calloc and aligned_alloc, which are replaced here; free is watched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#include "herk_problems.h"

static long countdown = -1; /* allocations until one fails; negative: none does */
static long requests;
static long live; /* blocks handed out and not freed while watching */
static bool watching;

static void *obtain(size_t alignment, size_t size)
{
    void *block = NULL;
    if (posix_memalign(&block, alignment, size) != 0) return NULL;
    if (watching) live++;
    return block;
}

static void *request(size_t alignment, size_t size)
{
    requests++;
    if (countdown >= 0 && countdown-- == 0) return NULL;
    return obtain(alignment, size);
}

void *malloc(size_t size) /* of others, who are not tested here */
{
    return obtain(64, size);
}

void free(void *block)
{
    static void (*real_free)(void *);
    if (!real_free) {
        void *symbol = dlsym(RTLD_NEXT, "free");
        memcpy(&real_free, &symbol, sizeof symbol);
    }
    if (watching && block) live--;
    real_free(block);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return request(alignment, size);
}

void *calloc(size_t count, size_t size)
{
    void *block = size == 0 || count <= SIZE_MAX / size ? request(64, count * size) : NULL;
    return block ? memset(block, 0, count * size) : NULL;
}

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

/* The matrices and some steps; only what may fail is counted. */
static attempt_status some_steps(const method *m, const quasilinear_form *form, const double *x,
                                 int steps)
{
    static runner r;
    attempt_status status = ATTEMPT_MEMORY;
    requests = 0;
    long planned = countdown;
    countdown = -1;
    runner_open(&r, m, form, 1e-6, 1e-6, NULL);
    m->cache_free(r.ctx.cache);
    countdown = planned;
    requests = 0;
    watching = true;
    r.ctx.cache = m->cache_new(&r.ctx);
    if (r.ctx.cache) {
        runner_start(&r, 0, x, 0.01);
        status = ATTEMPT_OK;
        for (int k = 0; k < steps && status == ATTEMPT_OK; k++) {
            status = runner_try(&r, 0.05);
            if (status == ATTEMPT_OK) runner_accept(&r);
        }
    }
    m->cache_free(r.ctx.cache);
    watching = false;
    countdown = -1;
    r.ctx.cache = NULL;
    long used = requests;
    runner_close(&r);
    requests = used;
    return status;
}

static void fail_each(const method *m, const quasilinear_form *form, const double *x, int steps)
{
    assert_int_equal(some_steps(m, form, x, steps), ATTEMPT_OK);
    const long total = requests;
    assert_true(total > 10);
    for (long k = 0; k < total; k++) {
        countdown = k;
        live = 0;
        assert_int_equal(some_steps(m, form, x, steps), ATTEMPT_MEMORY);
        assert_int_equal(live, 0);
    }
}

static void dense_systems_fail_cleanly(void **state)
{
    (void)state;
    const double rest[] = {-1, 0, 0, 0, 0};
    fail_each(&method_herk_dopri5, &pendulum, rest, 20); /* with changes of the selection */
    fail_each(&method_herk_faithful, &pendulum, rest, 2);
}

static void large_general_systems_fail_cleanly(void **state)
{
    (void)state;
    double x[2 * PAIRS];
    quasilinear_form form = pairs();
    for (int j = 0; j < 2 * PAIRS; j++) x[j] = 1;
    fail_each(&method_herk_dopri5, &form, x, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_systems_fail_cleanly),
        cmocka_unit_test(large_general_systems_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
