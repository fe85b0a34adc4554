/* Tapes, emitted text and native code when memory runs out at any allocation: a clean answer and
 * nothing lost. This program has an allocator of its own in the place of base/memory.c. */
#define _POSIX_C_SOURCE 200809L
#include "expr/code.h"
#include "expr/derive.h"
#include "expr/emit.h"
#include "expr/loop.h"
#include "expr/native.h"
#include "expr_random.h"
#include "failing_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- every allocation fails once ------------------------------------------------------------- */

enum { COUNT = 120 };

/* Whether it came about; whatever was made is freed again. */
typedef bool (*attempt)(graph *g, const expr *e);

static bool make_code(graph *g, const expr *e)
{
    expr_code c;
    bool made = code_new(&c, g, e, COUNT);
    code_free(&c);
    return made;
}

static bool make_text(graph *g, const expr *e)
{
    emit_text text = {0};
    emit_function f = {.name = "f", .e = e, .count = COUNT};
    emit_unit(&text, g, &f, 1, NULL, NULL);
    bool made = !text.failed;
    emit_free(&text);
    return made;
}

/* Without a compiler only the module itself is allocated; `true` makes nothing. */
static bool load_module(graph *g, const expr *e)
{
    (void)g, (void)e;
    native_module *module;
    char reason[256];
    native_status status = native_load("x", 1, &module, reason);
    assert_null(module);
    return status != NATIVE_MEMORY && !strstr(reason, "started");
}

/* x^n by a loop around a loop that adds x to 0 n times; EXPR_NONE: memory */
static expr nested_loop(graph *g, expr x, expr n)
{
    expr start[2] = {graph_constant(g, 0.0), graph_constant(g, 1.0)}, next[2], zero = start[0];
    expr k = graph_cell(g, 2), up = graph_binary(g, EXPR_ADD, k, x);
    loop_draft inner = {1, 2, &zero, &up, graph_binary(g, EXPR_LT, k, n)};
    expr loop = loop_close(g, &inner), i = graph_cell(g, 0), p = graph_cell(g, 1);
    if (loop == EXPR_NONE) return EXPR_NONE;
    next[0] = graph_binary(g, EXPR_ADD, i, graph_constant(g, 1.0));
    next[1] = graph_binary(g, EXPR_MUL, p, graph_binary(g, EXPR_ADD, x, loop_result(g, loop, 0)));
    loop_draft outer = {2, 0, start, next, graph_binary(g, EXPR_LT, i, n)};
    loop = loop_close(g, &outer);
    return loop == EXPR_NONE ? EXPR_NONE : loop_result(g, loop, 1);
}

/* Loops, their gradients and second derivatives, in a graph of its own. */
static bool make_loops(void)
{
    graph *g = graph_new();
    gradient d = {0};
    bool made = false;
    if (g) {
        expr x = graph_variable(g, 0, 0), e = nested_loop(g, x, graph_variable(g, 1, 0));
        made = e != EXPR_NONE && derive_gradient(g, e, &d) && d.count == 1 &&
               derive_partial(g, d.derivative[0], x) != EXPR_NONE;
    }
    gradient_free(&d);
    graph_free(g);
    return made;
}

static void test_loops(void **state)
{
    (void)state;
    long before = live, k = 0;
    for (bool made = false; !made; k++) {
        countdown = k;
        made = make_loops();
        assert_true(made || countdown == 0);
        countdown = -1;
        assert_int_equal(live, before);
        assert_in_range(k, 0, 10000);
    }
    assert_in_range(k, 10, 10000);
}

/* A gradient, and the leaves, that could not be kept for lack of memory can be had later. */
static void test_kept_lists(void **state)
{
    (void)state;
    long before = live;
    for (long k = 0; k < 40; k++) {
        graph *g = graph_new();
        gradient d = {0};
        expr e = graph_binary(g, EXPR_MUL, graph_variable(g, 0, 0), graph_variable(g, 1, 0));
        countdown = k;
        bool made = derive_gradient(g, e, &d);
        assert_true(made || countdown <= 0);
        countdown = -1;
        assert_int_equal(d.count, made ? 2 : 0);
        graph_recover(g);
        assert_true(derive_gradient(g, e, &d));
        assert_int_equal(d.count, 2);
        gradient_free(&d);
        graph_free(g);
    }
    assert_int_equal(live, before);
}

static void fail_everywhere(attempt try)
{
    random_source s = {21};
    graph *g = graph_new();
    expr e[COUNT];
    for (int k = 0; k < COUNT; k++) e[k] = k % 2 ? random_wild(g, &s, 7) : random_smooth(g, &s, 6);
    e[0] = nested_loop(g, graph_variable(g, 0, 0), graph_variable(g, 1, 0));
    long before = live, k = 0;
    for (bool made = false; !made; k++) {
        countdown = k;
        made = try(g, e);
        assert_true(made || countdown == 0);
        countdown = -1;
        assert_int_equal(live, before);
        assert_in_range(k, 0, 10000);
    }
    assert_in_range(k, 2, 10000); /* something failed at all */
    graph_free(g);
    assert_int_equal(live, 0);
}

static void test_tape(void **state)
{
    (void)state;
    fail_everywhere(make_code);
}

static void test_emit(void **state)
{
    (void)state;
    fail_everywhere(make_text);
}

static void test_native(void **state)
{
    (void)state;
    char directory[] = "/tmp/daedal-memory-XXXXXX";
    assert_non_null(mkdtemp(directory));
    setenv("DAEDAL_CACHE_DIR", directory, 1);
    setenv("DAEDAL_CC", "true", 1);
    fail_everywhere(load_module);
    remove(directory);
}

int main(void)
{
    stays_out = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),  cmocka_unit_test(test_kept_lists),
        cmocka_unit_test(test_tape),   cmocka_unit_test(test_emit),
        cmocka_unit_test(test_native),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
