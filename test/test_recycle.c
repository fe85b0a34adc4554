/* Blocks that a solver uses again: zeroed, aligned, apart from each other, bounded, and gone with
 * it; starts behind the second ask the heap for next to nothing, and give the same bits. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "base/memory.h"
#include "base/recycle.h"
#include "daedal.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Sanitizers have a heap of their own, and nothing is used again there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTED = 0 };
static long requests, returned;
#else
enum { COUNTED = 1 };
static long requests; /* of aligned_alloc: all blocks but those between 1 and 2 kB */
static long returned; /* blocks */

static void find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*original)(size_t, size_t);
    if (!original) find("aligned_alloc", &original);
    requests++;
    return original(alignment, size);
}

void free(void *block)
{
    static void (*original)(void *);
    if (!original) find("free", &original);
    if (block) returned++;
    original(block);
}
#endif

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void check_fresh(const unsigned char *block, size_t size)
{
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
    if (size >= 2048) assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t k = 0; k < size; k++) assert_int_equal(block[k], 0);
}

/* Blocks come and go in any order; each is zeroed, and keeps what was written into it. */
static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { BLOCKS = 300, TURNS = 20000 };
    static unsigned char *block[BLOCKS];
    static size_t size[BLOCKS];
    uint32_t seed = 11;
    recycler r = {0}, *before = recycler_use(&r);
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (int)(next_random(&seed) % BLOCKS);
        for (size_t k = 0; block[i] && k < size[i]; k++) assert_int_equal(block[i][k], i % 255 + 1);
        dae_free(block[i]);
        size[i] = next_random(&seed) % (turn % 7 == 0 ? 20000 : turn % 3 == 0 ? 2300 : 300);
        block[i] = dae_calloc(size[i], 1);
        check_fresh(block[i], size[i]);
        memset(block[i], i % 255 + 1, size[i]);
    }
    for (int i = 0; i < BLOCKS; i++) dae_free(block[i]);
    assert_ptr_equal(recycler_use(before), COUNTED ? &r : NULL);
    recycler_empty(&r);
}

/* Of all sizes: what was given back is what comes next. Without a store nothing is kept. */
static void a_block_comes_back(void **state)
{
    (void)state;
    recycler r = {0};
    if (!COUNTED) skip();
    for (size_t size = 0; size <= 16384; size += size < 1100 ? 1 : 61) {
        recycler *before = recycler_use(&r);
        unsigned char *first = dae_calloc(size, 1);
        memset(first, 7, size);
        dae_free(first);
        unsigned char *second = dae_calloc(size, 1);
        assert_ptr_equal(second, first);
        check_fresh(second, size);
        recycler_use(before);
        long count = returned;
        dae_free(second);
        assert_int_equal(returned, count + 1);
    }
    recycler_empty(&r);
}

/* A store keeps 256 kB, and gives all of it back in the end. */
static void a_store_is_bounded(void **state)
{
    (void)state;
    enum { BLOCKS = 1000, SIZE = 1000 };
    static void *block[BLOCKS];
    recycler r = {0};
    if (!COUNTED) skip();
    recycler *before = recycler_use(&r);
    for (int i = 0; i < BLOCKS; i++) block[i] = dae_calloc(SIZE, 1);
    long start = returned;
    for (int i = 0; i < BLOCKS; i++) dae_free(block[i]);
    long kept = BLOCKS - (returned - start);
    assert_in_range(kept, 1, (1 << 18) / SIZE);
    recycler_use(before);
    recycler_empty(&r);
    assert_int_equal(returned - start, BLOCKS);
}

static const char pendulum[] =
    "model P parameter Real g = 9.81; Real x(start = 1), y(start = 0, fixed = true), "
    "vx, vy(start = 0, fixed = true), l; equation der(x) = vx; der(y) = vy; der(vx) = -l*x; "
    "der(vy) = -l*y - g; x^2 + y^2 = 1; end P;";

/* A run with this g; y at its end, and how often the start asked the heap */
static long run_once(dae_problem *problem, dae_solver *solver, double g, double *y)
{
    dae_diag diag = {0};
    assert_int_equal(dae_problem_set_parameter(problem, "g", g, &diag), DAE_OK);
    long before = requests;
    assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
    long asked = requests - before;
    assert_int_equal(dae_solver_run(solver, 1.0, y, NULL), DAE_OK);
    return asked;
}

/* The first start with another parameter asks for hundreds of blocks, the third for a few: of 512,
 * those whose lists have grown. The bits are those of a solver that has no store yet. */
static void later_starts_ask_for_nothing(void **state)
{
    (void)state;
    dae_problem *problem = NULL;
    dae_solver *kept = NULL, *fresh = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    dae_model m = {.text = pendulum, .engine = DAE_ENGINE_TAPE};
    double y[8], z[8];
    assert_int_equal(dae_problem_from_model(&m, &problem, &diag), DAE_OK);
    assert_int_equal(dae_problem_size(problem), 5);
    assert_int_equal(dae_solver_new(problem, &options, &kept, &diag), DAE_OK);
    long first = run_once(problem, kept, 9.0, y);
    run_once(problem, kept, 9.5, y);
    long third = run_once(problem, kept, 10.0, y);
    assert_int_equal(dae_solver_new(problem, &options, &fresh, &diag), DAE_OK);
    run_once(problem, fresh, 10.0, z);
    assert_memory_equal(y, z, 5 * sizeof *y);
    if (COUNTED) assert_true(first > 100);
    if (COUNTED) assert_true(third <= first / 20);
    dae_solver_free(kept);
    dae_solver_free(fresh);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(a_block_comes_back),
        cmocka_unit_test(a_store_is_bounded),
        cmocka_unit_test(later_starts_ask_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
