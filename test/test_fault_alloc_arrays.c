/* Every allocation of pencils, derivative arrays and diagnoses fails once: answers are refusals,
 * nothing leaks. The one door to the heap asks calloc and aligned_alloc, which are replaced here;
 * free is watched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "structure/derivative_array.h"

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

/* Fail the k-th allocation for every k; each must be noticed, and nothing may be left. */
static void fail_each(bool (*everything)(void))
{
    requests = 0;
    assert_true(everything());
    const long total = requests;
    assert_true(total > 10);
    for (long k = 0; k < total; k++) {
        countdown = k;
        watching = true;
        bool done = everything();
        watching = false;
        countdown = -1;
        assert_false(done);
        assert_int_equal(live, 0);
    }
    assert_true(everything());
}

/* ---- pencils --------------------------------------------------------------------------------- */

/* A regular system with a pair of eigenvalues on the axis and index 2. */
static const double regular_a[] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
static const double regular_b[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
/* A singular one. */
static const double singular_a[] = {1, 1, 1, 1}, singular_b[] = {1, 1, 1, 1};

static bool analyse(int n, const double *a, const double *b)
{
    const dae_pencil p = {.n = n, .a = a, .b = b};
    dae_pencil_report *report = NULL;
    dae_status status = dae_pencil_analyse(&p, &report, NULL);
    assert_int_equal(report == NULL, status != DAE_OK);
    if (status != DAE_OK) assert_int_equal(status, DAE_ERR_MEMORY);
    dae_pencil_report_free(report);
    return status == DAE_OK;
}

static bool all_of_pencils(void)
{
    double u[4] = {1, 2, 3, 4}, up[4];
    const double d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const dae_pencil p = {.n = 4, .a = regular_a, .b = regular_b};
    if (!analyse(4, regular_a, regular_b) || !analyse(2, singular_a, singular_b)) return false;
    dae_status status = dae_pencil_consistent(&p, 2, d, u, up, NULL);
    if (status != DAE_OK) assert_int_equal(status, DAE_ERR_MEMORY);
    return status == DAE_OK;
}

static void pencils(void **state)
{
    (void)state;
    fail_each(all_of_pencils);
}

/* ---- derivative arrays ----------------------------------------------------------------------- */

/* x'' = -z, x = sin t */
static bool build(equation_set *set, graph *g)
{
    expr x = graph_variable(g, 0, 0), z = graph_variable(g, 1, 0), a = graph_variable(g, 0, 2);
    if (!equation_set_new(set, g, 2, 2)) return false;
    set->row[0].residual = graph_binary(g, EXPR_ADD, a, z);
    set->row[1].residual = graph_binary(g, EXPR_SUB, x, graph_unary(g, EXPR_SIN, graph_time(g)));
    return !graph_failed(g);
}

static bool use_array(const equation_set *set)
{
    derivative_array d;
    reduced_system reduced;
    array_report report;
    double x[15] = {0};
    array_status status = derivative_array_new(&d, set, 3);
    if (status == ARRAY_OK) status = derivative_array_analyse(&d, 0.3, x, 1e-10, &report);
    if (status == ARRAY_OK) {
        assert_int_equal(report.index, 3);
        status = reduced_system_new(&reduced, &d, report.strangeness, 0.3, x, 1e-10);
        if (status == ARRAY_OK) reduced_system_free(&reduced);
    }
    if (status != ARRAY_OK) assert_int_equal(status, ARRAY_MEMORY);
    derivative_array_free(&d);
    return status == ARRAY_OK;
}

static bool all_of_arrays(void)
{
    equation_set set = {0};
    graph *g = graph_new();
    bool done = g && build(&set, g) && use_array(&set);
    equation_set_free(&set);
    graph_free(g);
    return done;
}

static void derivative_arrays(void **state)
{
    (void)state;
    fail_each(all_of_arrays);
}

/* ---- diagnoses ------------------------------------------------------------------------------- */

static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = y[0] - sin(t);
    return 0;
}

static dae_problem *problem;
static dae_solver *solver;

static bool all_of_diagnoses(void)
{
    const double y[] = {0.5, 0.6};
    dae_index_report *report = NULL;
    dae_status status = dae_problem_diagnose(problem, 0.0, y, NULL, &report, NULL);
    assert_int_equal(report == NULL, status != DAE_OK);
    dae_index_report_free(report);
    if (status == DAE_OK) {
        status = dae_solver_diagnose(solver, &report);
        assert_int_equal(report == NULL, status != DAE_OK);
        dae_index_report_free(report);
    }
    if (status != DAE_OK) assert_int_equal(status, DAE_ERR_MEMORY);
    return status == DAE_OK;
}

static void diagnoses(void **state)
{
    (void)state;
    const double y[] = {0.0, 1.0}, yp[] = {1.0, 0.0};
    const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
    dae_residual form = {.n = 2, .f = chain, .kinds = kinds};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y, yp), DAE_OK);
    fail_each(all_of_diagnoses);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pencils),
        cmocka_unit_test(derivative_arrays),
        cmocka_unit_test(diagnoses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
