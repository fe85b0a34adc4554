#define _DEFAULT_SOURCE /* getrusage */
/* The arena: blocks are zeroed, aligned, apart from each other, bounded by the limit. */
#include "base/arena.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/resource.h>

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Blocks of many sizes keep what was written into them: no two overlap. */
static void blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    enum { BLOCKS = 5000 };
    static unsigned char *block[BLOCKS];
    static size_t size[BLOCKS];
    uint32_t seed = 7;
    arena *a = arena_new(0);
    assert_non_null(a);
    for (int i = 0; i < BLOCKS; i++) {
        size[i] = next_random(&seed) % (i % 100 == 0 ? 20000 : 200);
        block[i] = arena_alloc(a, size[i]);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(block[i][k], 0);
        if (size[i] > 0) memset(block[i], i % 255 + 1, size[i]);
    }
    for (int i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(block[i][k], i % 255 + 1);
    assert_false(arena_failed(a));
    arena_free(a);
}

/* A block larger than any chunk. */
static void large_blocks_fit(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    const size_t large = (size_t)5 << 20;
    unsigned char *small = arena_alloc(a, 10), *big = arena_alloc(a, large);
    assert_non_null(small);
    assert_non_null(big);
    memset(big, 1, large);
    assert_int_equal(small[9], 0);
    arena_free(a);
}

static void text_is_copied_and_terminated(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    char source[] = "pendulum.length";
    char *copy = arena_text(a, source, 8);
    source[0] = 'X';
    assert_string_equal(copy, "pendulum");
    assert_string_equal(arena_text(a, NULL, 0), "");
    arena_free(a);
}

/* The limit is nearly reached, never passed, and its failure remembered. */
static void the_limit_holds(void **state)
{
    (void)state;
    const size_t limit = 100000;
    arena *a = arena_new(limit);
    size_t total = 0;
    while (arena_alloc(a, 64)) total += 64;
    assert_true(total <= limit);
    assert_true(total >= limit * 9 / 10);
    assert_true(arena_failed(a));
    assert_null(arena_alloc(a, 1));
    arena_free(a);
}

static void impossible_sizes_fail_cleanly(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_true(arena_failed(a));
    arena_free(a);
    a = arena_new(1 << 20);
    assert_null(arena_alloc(a, SIZE_MAX / 2));
    arena_free(a);
    a = arena_new(0);
    assert_null(arena_text(a, "x", SIZE_MAX));
    arena_free(a);
    a = arena_new(1);
    assert_null(arena_alloc(a, 1));
    arena_free(a);
    arena_free(NULL);
}

/* Texts stand behind each other; what follows is aligned again. */
static void texts_have_no_gaps(void **state)
{
    (void)state;
    arena *a = arena_new(0);
    char *first = arena_text(a, "abc", 3), *second = arena_text(a, "de", 2);
    assert_ptr_equal(second, first + 4);
    assert_string_equal(first, "abc");
    assert_string_equal(arena_text(a, NULL, 2), "");
    assert_int_equal((uintptr_t)arena_alloc(a, 8) % 16, 0);
    arena_free(a);
}

/* A huge block is zero also where its memory was used before, and takes none until it is touched.
 */
static void huge_blocks_wait(void **state)
{
    (void)state;
    enum { SIZE = 100 << 20 };
    struct rusage before, after;
    for (int round = 0; round < 3; round++) {
        unsigned char *block = dae_calloc(SIZE / 100 + 77, 1);
        for (size_t i = 0; i < SIZE / 100 + 77; i++) assert_int_equal(block[i], 0);
        memset(block, 1, SIZE / 100 + 77);
        dae_free(block);
    }
    getrusage(RUSAGE_SELF, &before);
    unsigned char *block = dae_calloc(SIZE, 1);
    assert_non_null(block);
    for (size_t i = 0; i < SIZE; i += SIZE / 7) assert_int_equal(block[i], 0);
    getrusage(RUSAGE_SELF, &after);
#ifdef __linux__
    if (!getenv("ASAN_OPTIONS")) assert_true(after.ru_maxrss - before.ru_maxrss < 20 << 10);
#endif
    dae_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_no_gaps),
        cmocka_unit_test(huge_blocks_wait),
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(large_blocks_fit),
        cmocka_unit_test(text_is_copied_and_terminated),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(impossible_sizes_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
