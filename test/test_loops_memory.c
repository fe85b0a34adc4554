/* Bytes that the translation of a large model takes for an equation. This program has an allocator
 * of its own in the place of base/memory.c, which counts. */
#include "base/memory.h"
#include "daedal.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double MOST_BYTES = 640.0, MOST_STAY = 540.0;
static size_t held, most; /* bytes */

void *dae_calloc(size_t count, size_t size)
{
    void *block = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    held += block ? malloc_usable_size(block) : 0;
    if (held > most) most = held;
    return block;
}

void *dae_alloc(size_t count, size_t size)
{
    return dae_calloc(count, size);
}

void dae_free(void *pointer)
{
    if (pointer) held -= malloc_usable_size(pointer);
    free(pointer);
}

size_t dae_size(void *block)
{
    return malloc_usable_size(block);
}

/* Bytes at the most while n equations are translated, and those of the result. */
static size_t bytes_of(const char *model, int n, size_t *result)
{
    char text[1000];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    snprintf(text, sizeof text, model, n);
    const size_t before = held;
    most = held;
    if (dae_problem_from_model(&(dae_model){.text = text}, &p, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    const size_t peak = most - before;
    *result = held - before;
    dae_problem_free(p);
    assert_int_equal(held, before);
    return peak;
}

/* Of twice as many equations each takes as much as before, and no more than these bounds. They
 * are no theory: 1660 bytes were taken when each pass of a loop was made from the text and had
 * instructions of its own, 940 when tables, walks and names were as large as could be, of which
 * 650 stayed; 590 and 510 now. The bounds lie between: names of all equations would be 42 more.
 */
static void test_bytes(void **state)
{
    static const char *const heat =
        "model M parameter Integer n = %d; parameter Real dx = 1/(n + 1);\n"
        "Real u[n](each start = 1, each fixed = true);\nequation\nder(u[1]) = (u[2] - "
        "2*u[1])/dx^2;\n"
        "for i in 2:n - 1 loop\n der(u[i]) = (u[i + 1] - 2*u[i] + u[i - 1])/dx^2;\nend for;\n"
        "der(u[n]) = (u[n - 1] - 2*u[n])/dx^2;\nend M;\n";
    size_t result[3], peak[3];
    (void)state;
    for (int k = 0; k < 3; k++) peak[k] = bytes_of(heat, 5000 << k, &result[k]);
    for (int k = 1; k < 3; k++) {
        const double each = (double)(peak[k] - peak[k - 1]) / (5000 << (k - 1));
        const double stay = (double)(result[k] - result[k - 1]) / (5000 << (k - 1));
        print_message("%d equations: %.0f bytes each at the most, %.0f stay\n", 5000 << k, each,
                      stay);
        assert_true(each < MOST_BYTES);
        assert_true(stay < MOST_STAY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
