/* Every allocation fails once while a model is rewritten by each formulation: the answer is a
 * refusal or a solution, never a crash, and nothing leaks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static long countdown = -1; /* allocations until one fails; negative: none does */
static long live;           /* blocks handed out and not freed while watching */
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
    if (countdown >= 0 && countdown-- == 0) return NULL;
    return obtain(alignment, size);
}

void *malloc(size_t size) /* of qsort and of the linear algebra */
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

/* A force as a variable of its own, and a length that changes with time. */
static const char *const text =
    "model M\n"
    "  parameter Real m = 2;\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 1, fixed = true);\n"
    "  Real f, fy, l;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; fy = -f*y; l = 1 + 0.1*time;\n"
    "  m*der(vx) = -f*x;\n"
    "  m*der(vy) = fy - m;\n"
    "  x^2 + y^2 = l^2;\n"
    "end M;\n";

static dae_problem *problem;

/* Start a run with one formulation. */
static dae_status life(const char *formulation)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = formulation;
    dae_status status = dae_solver_new(problem, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.01, NULL, NULL);
    dae_solver_free(s);
    return status;
}

static void test_formulations(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    for (int i = 0; dae_formulation_name(i); i++) {
        const char *name = dae_formulation_name(i);
        dae_status clean = life(name); /* the graph has grown as far as it will */
        assert_true(clean == DAE_OK || clean == DAE_ERR_UNSUPPORTED);
        bool done = false;
        for (long k = 0; !done; k++) {
            live = 0;
            watching = true;
            countdown = k;
            dae_status status = life(name);
            done = countdown >= 0;
            countdown = -1;
            watching = false;
            if (live != 0) fail_msg("%s, allocation %ld: %ld blocks leak", name, k, live);
            if (status != clean && status != DAE_ERR_MEMORY)
                fail_msg("%s, allocation %ld: status %d", name, k, status);
            if (done) assert_int_equal(status, clean);
        }
    }
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
