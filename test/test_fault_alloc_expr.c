/* Every allocation of the expression graph fails once: answers are refusals, nothing leaks. */
#include "fault_alloc.h"

#include "base/arena.h"
#include "expr/derive.h"
#include "expr/print.h"

static expr keep(void *context, graph *g, expr leaf)
{
    (void)context;
    return graph_binary(g, EXPR_ADD, leaf, graph_constant(g, 1.0));
}

static void ignore(void *context, const expr_node *leaf)
{
    (void)context;
    (void)leaf;
}

/* An expression of some thousand nodes with branches under branches. */
static expr build(graph *g)
{
    expr x = graph_variable(g, 0, 0), e = x;
    for (int i = 1; i < 500; i++) {
        expr y = graph_variable(g, i, 0);
        expr c = graph_binary(g, EXPR_LT, y, graph_constant(g, i));
        expr product = graph_binary(g, EXPR_MUL, e, graph_unary(g, EXPR_SIN, y));
        e = graph_select(g, c, product, graph_binary(g, EXPR_MAX, e, y));
    }
    return e;
}

/* All that allocates, in one go. Failures are told, never half results. */
static dae_status everything(void *unused)
{
    char text[8];
    gradient d = {0};
    graph *g = graph_new();
    bool done = g;
    (void)unused;
    if (done) {
        expr e = build(g);
        done = (e != EXPR_NONE) == !graph_failed(g) && e != EXPR_NONE;
        done = done && derive_gradient(g, e, &d);
        if (!done) assert_int_equal(d.count, 0);
        if (done) assert_int_equal(d.count, 500);
        done = done && derive_time(g, e) != EXPR_NONE;
        done = done && graph_substitute(g, e, keep, NULL) != EXPR_NONE;
        done = done && graph_leaves(g, &e, 1, ignore, NULL);
        if (e) expr_print(g, e, NULL, NULL, text, sizeof text);
    }
    gradient_free(&d);
    graph_free(g);
    return done ? DAE_OK : DAE_ERR_MEMORY;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    heap_faults f = fail_each("expressions", everything, NULL);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.requests > 30);
    assert_true(f.first_unnoticed > f.requests - 12); /* the printer's: the text is cut */
}

static void the_arena_remembers(void **state)
{
    (void)state;
    heap_watch(0);
    arena *a = arena_new(0);
    heap_unwatch();
    assert_null(a);
    a = arena_new(0);
    assert_non_null(a);
    heap_watch(0);
    void *block = arena_alloc(a, 8);
    heap_unwatch();
    assert_null(block);
    assert_true(arena_failed(a));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(the_arena_remembers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
