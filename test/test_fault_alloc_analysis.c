/* Every allocation of an analysis fails once: the answer is DAE_ERR_MEMORY and nothing leaks. The
 * one door to the heap asks calloc and aligned_alloc, which are replaced here; free is watched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "daedal.h"

static long countdown = -1; /* allocations until one fails; negative: none does */
static long requests, live;
static bool watching;

/* Blocks handed out here; other libraries free theirs, which came from malloc. */
enum { SLOTS = 1 << 16 };
static void *table[SLOTS];

static size_t slot_of(const void *block)
{
    return ((uintptr_t)block >> 6) * 2654435761u % SLOTS;
}

static void enter(void *block)
{
    size_t k = slot_of(block);
    while (table[k] && table[k] != (void *)1) k = (k + 1) % SLOTS;
    table[k] = block;
    live++;
}

static void leave(const void *block)
{
    for (size_t k = slot_of(block); table[k]; k = (k + 1) % SLOTS)
        if (table[k] == block) {
            table[k] = (void *)1; /* was taken */
            live--;
            return;
        }
}

static void *request(size_t alignment, size_t size)
{
    void *block = NULL;
    if (watching) {
        requests++;
        if (countdown >= 0 && countdown-- == 0) return NULL;
    }
    if (posix_memalign(&block, alignment, size) != 0) return NULL;
    if (watching) enter(block);
    return block;
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

void free(void *block)
{
    static void (*original)(void *);
    if (!original) {
        void *symbol = dlsym(RTLD_NEXT, "free");
        memcpy(&original, &symbol, sizeof symbol);
    }
    if (block && watching) leave(block);
    original(block);
}

/* Hidden constraints, aliases, initial equations and a mode. */
static const char *const pendulum =
    "model P\n  parameter Real g = 1;\n  discrete Real k(start = 2);\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy, f, s, z(start = 1), b;\n"
    "initial equation\n  vy = 0;\nequation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n"
    "  der(vy) = -f*y - g;\n  x^2 + y^2 = 1;\n  s = -x;\n  der(z) = b;\n"
    "  if z > 2 then\n    z = 3;\n  else\n    b = -z;\n  end if;\n"
    "  when time > 3 then\n    k = 1;\n  end when;\nend P;\n";
/* Linear, with a cancellation that a rewriting removes. */
static const char *const linear =
    "model L\n  Real x(start = 1), y, z;\nequation\n  der(x) + der(y) = z;\n"
    "  der(x) + der(y) = x - y;\n  x - 2*y = sin(time);\nend L;\n";
/* Singular by structure, and by numbers. */
static const char *const singular = "model S\n  Real x, y, z;\nequation\n  x = time;\n  x^2 = 2;\n"
                                    "  y + z = 1;\nend S;\n";
static const char *const dependent =
    "model D\n  Real x, y;\nequation\n  x + 2*y = 1;\n  2*x + 4*y = 2;\nend D;\n";

static dae_status analyse(const char *text)
{
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    watching = true;
    live = requests = 0;
    memset(table, 0, sizeof table);
    dae_status status =
        dae_model_analyse(&(dae_model){.text = text, .file = "m.mo"}, NAN, &a, &diag);
    bool kept = (status == DAE_OK) == (a != NULL);
    dae_analysis_free(a);
    watching = false;
    assert_true(kept);
    return status;
}

static void fail_each(const char *text)
{
    countdown = -1;
    assert_int_equal(analyse(text), DAE_OK);
    assert_int_equal(live, 0);
    long all = requests, step = all > 1500 ? all / 1500 : 1, seen = 0;
    for (long k = 0; k < all; k += step) {
        countdown = k;
        dae_status status = analyse(text);
        if (live != 0) print_error("allocation %ld of %ld: %ld blocks leak\n", k, all, live);
        assert_int_equal(live, 0);
        assert_true(status == DAE_OK || status == DAE_ERR_MEMORY);
        seen += status == DAE_ERR_MEMORY;
    }
    countdown = -1;
    assert_true(seen > 0);
}

static void test_hidden(void **state)
{
    (void)state;
    fail_each(pendulum);
}

static void test_linear(void **state)
{
    (void)state;
    fail_each(linear);
}

static void test_singular(void **state)
{
    (void)state;
    fail_each(singular);
    fail_each(dependent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
