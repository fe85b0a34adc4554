/* Every allocation of the expression graph fails once: answers are refusals, nothing leaks. The one
 * door to the heap asks calloc and aligned_alloc, which are replaced here; free is watched. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "expr/derive.h"
#include "expr/print.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

void *malloc(size_t size) /* of qsort, which can do without */
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

static expr keep(void *context, graph *g, expr leaf)
{
    (void)context;
    return graph_binary(g, EXPR_ADD, leaf, graph_constant(g, 1.0));
}

static void ignore(void *context, expr leaf)
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

/* All that allocates, in one go; true if nothing failed. Failures are told, never half results. */
static bool everything(void)
{
    char text[8];
    gradient d = {0};
    graph *g = graph_new();
    derive_scratch *s = derive_scratch_new();
    bool done = g && s;
    if (done) {
        expr e = build(g);
        done = (e != EXPR_NONE) == !graph_failed(g) && e != EXPR_NONE;
        done = done && derive_gradient(g, s, e, &d);
        if (!done) assert_int_equal(d.count, 0);
        if (done) assert_int_equal(d.count, 500);
        done = done && derive_time(g, e) != EXPR_NONE;
        done = done && graph_substitute(g, e, keep, NULL) != EXPR_NONE;
        done = done && graph_leaves(g, &e, 1, ignore, NULL);
        if (e) expr_print(g, e, NULL, NULL, text, sizeof text);
    }
    gradient_free(&d);
    derive_scratch_free(s);
    graph_free(g);
    return done;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    requests = 0;
    assert_true(everything());
    long total = requests;
    assert_true(total > 30);
    for (long k = 0; k < total; k++) {
        countdown = k;
        watching = true;
        bool done = everything();
        watching = false;
        countdown = -1;
        assert_int_equal(live, 0);
        if (done) assert_true(k > total - 12); /* the printer's: the text is cut */
    }
    assert_true(everything());
}

static void the_arena_remembers(void **state)
{
    (void)state;
    countdown = 0;
    arena *a = arena_new(0);
    assert_null(a);
    a = arena_new(0);
    assert_non_null(a);
    countdown = 0;
    void *block = arena_alloc(a, 8);
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
