/* Reverse differentiation: adjoints of all nodes, parents first [GW08 ch. 3].
 *
 * Branches need care: for e = if x > 0 then sqrt(x) else 0 the adjoint of the square root is 1 or
 * 0, and 0 * 1/(2 sqrt(x)) would be NaN at x = 0. So an adjoint comes with a guard, the conditions
 * under which its node is used at all; products are formed without looking at it, and the guard
 * becomes an if around the final derivative. Adjoints under different guards meet like the
 * branches they came from: if c then .. else .. */
#include "expr/derive.h"

#include "base/memory.h"
#include "expr/gradient_like.h"
#include "expr/intern.h"
#include "expr/loop.h"
#include "expr/partial.h"
#include "expr/sort_nodes.h"
#include "expr/walk.h"

#include <string.h>

/* `parent` and condition (or its opposite). Number 0 is "always". A parent has a smaller number. */
typedef struct guard {
    expr condition;
    uint32_t parent;
    bool holds;
    uint32_t depth; /* number of conditions */
    expr whole;     /* all of them as one boolean expression */
} guard;

/* Up to this many conditions a derivative stands behind them one by one, as in the model; more
 * become one condition, shared by all derivatives behind it, so that n leaves under n nested ifs
 * cost O(n) nodes. */
enum { NESTED_CONDITIONS = 3 };

/* Summands that meet across more conditions than this are not taken out of them one by one. */
enum { FAR_OUT = 16 };

/* One summand of a node's adjoint. Inside its guard the value is right where `valid` is true and 0
 * elsewhere. One that was lifted out of a guard's condition remembers how it was inside. */
typedef struct adjoint {
    uint32_t guard;
    uint32_t next;      /* summand of the same node; 0 ends the list */
    expr value, valid;  /* valid: boolean, the constant 1 if always */
    expr lifted;        /* condition it was lifted out of, or EXPR_NONE */
    bool holds;         /* of that condition */
    expr inner, inside; /* value and valid under that condition */
} adjoint;

typedef struct list {
    void *items; /* owned */
    size_t count, capacity;
} list;

typedef struct derive_scratch {
    walk nodes;
    list first;    /* uint32_t by place: first summand, 0 for none */
    list active;   /* bool by place: depends on a variable */
    list adjoints; /* number 0 is unused */
    list guards;
    list slots;            /* uint32_t: hash table of guards, 0 is empty */
    list heap;             /* adjoint: being merged */
    gradient_likes *likes; /* gradients found before; owned */
} derive_scratch;

/* ---- lists ---------------------------------------------------------------------------------- */

/* Room for `count` items; those there are kept. */
static bool reserve(list *l, size_t count, size_t size)
{
    return dae_grow(&l->items, &l->capacity, count, size);
}

/* `count` zeroed items */
static bool renew(list *l, size_t count, size_t size)
{
    l->count = 0;
    if (!reserve(l, count, size)) return false;
    memset(l->items, 0, count * size);
    l->count = count;
    return true;
}

static uint32_t *first_of(const derive_scratch *s, size_t place)
{
    return (uint32_t *)s->first.items + place;
}

static bool *active_at(const derive_scratch *s, size_t place)
{
    return (bool *)s->active.items + place;
}

static adjoint *adjoint_at(const derive_scratch *s, uint32_t i)
{
    return (adjoint *)s->adjoints.items + i;
}

static const guard *guard_at(const derive_scratch *s, uint32_t i)
{
    return (const guard *)s->guards.items + i;
}

/* ---- guards --------------------------------------------------------------------------------- */

static size_t hash_guard(const guard *x)
{
    uint64_t key = (uint64_t)x->parent << 32 | x->condition;
    key = (key ^ (x->holds ? UINT64_C(0x5851F42D4C957F2D) : 0)) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(key >> 29);
}

static bool same_guard(const guard *x, const guard *y)
{
    return x->condition == y->condition && x->parent == y->parent && x->holds == y->holds;
}

/* Slot of the guard equal to *x, or the empty one for it. */
static uint32_t *guard_slot(const derive_scratch *s, const guard *x)
{
    uint32_t *slots = s->slots.items;
    size_t mask = s->slots.count - 1, i = hash_guard(x) & mask;
    while (slots[i] != 0 && !same_guard(guard_at(s, slots[i]), x)) i = (i + 1) & mask;
    return &slots[i];
}

/* A table of twice the guards or more. */
static bool rehash_guards(derive_scratch *s)
{
    size_t slots = 16;
    while (slots < 4 * s->guards.count) slots *= 2;
    if (!renew(&s->slots, slots, sizeof(uint32_t))) return false;
    for (uint32_t i = 1; i < s->guards.count; i++) *guard_slot(s, guard_at(s, i)) = i;
    return true;
}

/* Append the guard *x, whose whole condition is its parent's and its own. */
static bool add_guard(graph *g, derive_scratch *s, guard x)
{
    const guard *parent = guard_at(s, x.parent);
    expr own = x.holds ? x.condition : graph_unary(g, EXPR_NOT, x.condition);
    x.whole = x.parent == 0 ? own : graph_binary(g, EXPR_AND, parent->whole, own);
    x.depth = parent->depth + 1;
    if (x.whole == EXPR_NONE) return false;
    if (!reserve(&s->guards, s->guards.count + 1, sizeof(guard))) return false;
    ((guard *)s->guards.items)[s->guards.count++] = x;
    return true;
}

/* *number = the guard `parent` and condition, new or old. false: memory. */
static bool guard_within(graph *g, derive_scratch *s, uint32_t parent, expr condition, bool holds,
                         uint32_t *number)
{
    guard x = {.condition = condition, .parent = parent, .holds = holds};
    if (2 * s->guards.count >= s->slots.count && !rehash_guards(s)) return false;
    uint32_t *slot = guard_slot(s, &x);
    if (*slot == 0) {
        if (!add_guard(g, s, x)) return false;
        *slot = (uint32_t)(s->guards.count - 1);
    }
    *number = *slot;
    return true;
}

/* value where the guard's own condition allows it, else 0 */
static expr behind(graph *g, const guard *x, expr value)
{
    expr zero = graph_constant(g, 0.0);
    return x->holds ? graph_select(g, x->condition, value, zero)
                    : graph_select(g, x->condition, zero, value);
}

/* value where the guard with all its parents allows it, else 0 */
static expr behind_all(graph *g, const derive_scratch *s, uint32_t number, expr value)
{
    const guard *last = guard_at(s, number);
    if (last->depth > NESTED_CONDITIONS)
        return graph_select(g, last->whole, value, graph_constant(g, 0.0));
    for (; number != 0; number = guard_at(s, number)->parent)
        value = behind(g, guard_at(s, number), value);
    return value;
}

/* ---- merging summands under different guards ------------------------------------------------ */

/* Later guards first, so that children come before parents; then what was lifted out of one
 * condition side by side. */
static bool comes_before(const adjoint *x, const adjoint *y)
{
    return x->guard != y->guard ? x->guard > y->guard : x->lifted > y->lifted;
}

static void heap_swap(adjoint *x, adjoint *y)
{
    adjoint t = *x;
    *x = *y;
    *y = t;
}

static bool heap_push(list *heap, const adjoint *x)
{
    if (!reserve(heap, heap->count + 1, sizeof *x)) return false;
    adjoint *h = heap->items;
    size_t i = heap->count++;
    h[i] = *x;
    for (; i > 0 && comes_before(&h[i], &h[(i - 1) / 2]); i = (i - 1) / 2)
        heap_swap(&h[i], &h[(i - 1) / 2]);
    return true;
}

static adjoint heap_pop(list *heap)
{
    adjoint *h = heap->items, top = h[0];
    h[0] = h[--heap->count];
    for (size_t i = 0, child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count && comes_before(&h[child + 1], &h[child])) child++;
        if (!comes_before(&h[child], &h[i])) break;
        heap_swap(&h[child], &h[i]);
    }
    return top;
}

/* The sum of two summands under the same guard. */
static adjoint add_adjoints(graph *g, const adjoint *x, const adjoint *y)
{
    adjoint r = {.guard = x->guard};
    if (x->lifted != EXPR_NONE && x->lifted == y->lifted && x->holds != y->holds) {
        const adjoint *yes = x->holds ? x : y, *no = x->holds ? y : x;
        r.value = graph_select(g, x->lifted, yes->inner, no->inner);
        r.valid = graph_select(g, x->lifted, yes->inside, no->inside);
    } else {
        r.value = graph_binary(g, EXPR_ADD, x->value, y->value);
        r.valid = graph_binary(g, EXPR_OR, x->valid, y->valid);
    }
    return r;
}

/* The same summand seen from the guard's parent. */
static adjoint lift(graph *g, const derive_scratch *s, const adjoint *x)
{
    const guard *own = guard_at(s, x->guard);
    return (adjoint){.guard = own->parent,
                     .value = behind(g, own, x->value),
                     .valid = behind(g, own, x->valid),
                     .lifted = own->condition,
                     .holds = own->holds,
                     .inner = x->value,
                     .inside = x->valid};
}

static uint32_t common_guard(const derive_scratch *s, uint32_t x, uint32_t y)
{
    while (x != y) {
        if (x > y)
            x = guard_at(s, x)->parent;
        else
            y = guard_at(s, y)->parent;
    }
    return x;
}

/* The same seen from `outer`, far outside: all conditions as one, so that n summands under n nested
 * ifs, as of an array with a computed subscript, do not cost O(n^2) nodes. */
static adjoint lift_far(graph *g, const derive_scratch *s, const adjoint *x, uint32_t outer)
{
    expr whole = guard_at(s, x->guard)->whole, zero = graph_constant(g, 0.0);
    return (adjoint){.guard = outer,
                     .value = graph_select(g, whole, x->value, zero),
                     .valid = graph_select(g, whole, x->valid, zero)};
}

/* One step of x towards a guard that it shares with y. */
static adjoint lift_towards(graph *g, const derive_scratch *s, const adjoint *x, const adjoint *y)
{
    uint32_t outer = common_guard(s, x->guard, y->guard);
    bool far = guard_at(s, x->guard)->depth - guard_at(s, outer)->depth > FAR_OUT;
    return far ? lift_far(g, s, x, outer) : lift(g, s, x);
}

/* All summands of a list as one, under their nearest common guard. */
static bool merge(graph *g, derive_scratch *s, uint32_t first, adjoint *result)
{
    s->heap.count = 0;
    for (uint32_t i = first; i != 0; i = adjoint_at(s, i)->next)
        if (!heap_push(&s->heap, adjoint_at(s, i))) return false;
    for (*result = heap_pop(&s->heap); s->heap.count > 0; *result = heap_pop(&s->heap)) {
        adjoint outcome;
        if (((const adjoint *)s->heap.items)->guard == result->guard) {
            adjoint other = heap_pop(&s->heap);
            outcome = add_adjoints(g, result, &other);
        } else {
            outcome = lift_towards(g, s, result, s->heap.items);
        }
        if (!heap_push(&s->heap, &outcome)) return false;
    }
    return !graph_failed(g);
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* Whether the value depends on variables in a way that can be differentiated. */
static bool is_active(const derive_scratch *s, const expr_node *n)
{
    expr operand[3] = {n->a, n->b, n->c};
    if (n->op == EXPR_VARIABLE) return true;
    for (int i = 0; i < n->arity; i++)
        if (partial_exists(n->op, i) && *active_at(s, walk_place(&s->nodes, operand[i])))
            return true;
    return false;
}

/* Mark the active nodes of the walk, forget all adjoints and guards. */
static bool prepare(const graph *g, derive_scratch *s)
{
    size_t count = s->nodes.count;
    if (!renew(&s->first, count, sizeof(uint32_t)) || !renew(&s->active, count, sizeof(bool)) ||
        !renew(&s->adjoints, 1, sizeof(adjoint)) || !renew(&s->guards, 1, sizeof(guard)))
        return false;
    s->slots.count = 0;
    for (size_t i = 0; i < count; i++)
        *active_at(s, i) = is_active(s, graph_node(g, s->nodes.order[i]));
    return true;
}

/* Add `value` under `number` to the adjoint of a node. */
static bool contribute(graph *g, derive_scratch *s, size_t place, uint32_t number, expr value)
{
    uint32_t *first = first_of(s, place);
    if (value == EXPR_NONE) return false;
    if (graph_is_number(g, value, 0.0)) return true;
    if (*first != 0 && adjoint_at(s, *first)->guard == number) {
        adjoint *same = adjoint_at(s, *first);
        same->value = graph_binary(g, EXPR_ADD, same->value, value);
        return same->value != EXPR_NONE;
    }
    if (!reserve(&s->adjoints, s->adjoints.count + 1, sizeof(adjoint))) return false;
    expr always = graph_constant(g, 1.0);
    *adjoint_at(s, (uint32_t)s->adjoints.count) =
        (adjoint){.guard = number, .next = *first, .value = value, .valid = always};
    *first = (uint32_t)s->adjoints.count++;
    return true;
}

/* Hand the adjoint of SELECT, MIN or MAX to both branches, each under its condition. */
static bool spread_to_branches(graph *g, derive_scratch *s, const adjoint *own, expr condition,
                               const expr branch[2])
{
    if (condition == EXPR_NONE) return false;
    for (int i = 0; i < 2; i++) {
        size_t place = walk_place(&s->nodes, branch[i]);
        uint32_t within;
        if (!*active_at(s, place)) continue;
        if (!guard_within(g, s, own->guard, condition, i == 0, &within)) return false;
        if (!contribute(g, s, place, within, own->value)) return false;
    }
    return true;
}

/* Hand the adjoint of a loop's result to what the loop starts with: for every start value that
 * varies, the loop with tangents gives the derivative. */
static bool spread_to_starts(graph *g, derive_scratch *s, expr e, const adjoint *own)
{
    expr loop = graph_node(g, e)->a;
    size_t count = loop_cells(g, loop);
    expr *start = DAE_ARRAY(expr, count), *tangent = DAE_ARRAY(expr, count);
    bool ok = start && tangent;
    if (ok) loop_starts(g, loop, start);
    for (size_t k = 0; ok && k < count; k++) {
        size_t place = walk_place(&s->nodes, start[k]);
        if (!*active_at(s, place)) continue;
        tangent[k] = graph_constant(g, 1.0);
        expr slope = loop_tangent(g, e, tangent);
        tangent[k] = EXPR_NONE;
        ok = slope != EXPR_NONE &&
             (graph_is_number(g, slope, 0.0) ||
              contribute(g, s, place, own->guard, graph_binary(g, EXPR_MUL, own->value, slope)));
    }
    dae_free_all(start, tangent);
    return ok;
}

/* Hand the adjoint of e to its operands: operand += adjoint * d e / d operand. */
static bool spread(graph *g, derive_scratch *s, expr e, const adjoint *own)
{
    const expr_node *n = graph_node(g, e);
    expr condition, branch[2], operand[2] = {n->a, n->b};
    if (n->op == EXPR_RESULT) return spread_to_starts(g, s, e, own);
    if (partial_branches(g, e, &condition, &branch[0], &branch[1]))
        return spread_to_branches(g, s, own, condition, branch);
    for (int i = 0; i < 2 && i < n->arity; i++) {
        if (!partial_exists(n->op, i)) continue;
        size_t place = walk_place(&s->nodes, operand[i]);
        if (!*active_at(s, place)) continue;
        if (!contribute(g, s, place, own->guard, partial_times(g, e, i, own->value))) return false;
    }
    return true;
}

/* Merge the adjoint of the i-th node and hand it on; a leaf keeps it in its list. */
static bool process(graph *g, derive_scratch *s, size_t i)
{
    uint32_t *first = first_of(s, i);
    expr e = s->nodes.order[i];
    if (*first == 0 || !*active_at(s, i)) return true;
    adjoint own = *adjoint_at(s, *first);
    if (own.next != 0 && !merge(g, s, *first, &own)) return false;
    if (graph_node(g, e)->op == EXPR_VARIABLE) {
        own.next = 0;
        *adjoint_at(s, *first) = own;
        return true;
    }
    if (graph_is_number(g, own.value, 0.0)) return true;
    if (!graph_is_number(g, own.valid, 1.0) &&
        !guard_within(g, s, own.guard, own.valid, true, &own.guard))
        return false;
    return spread(g, s, e, &own);
}

/* ---- the result ----------------------------------------------------------------------------- */

static bool reserve_gradient(gradient *out, size_t count)
{
    if (count <= out->capacity) return true;
    expr *leaf = DAE_ARRAY(expr, count), *derivative = DAE_ARRAY(expr, count);
    if (!leaf || !derivative) {
        dae_free_all(leaf, derivative);
        return false;
    }
    dae_free_all(out->leaf, out->derivative);
    out->capacity = count;
    out->leaf = leaf;
    out->derivative = derivative;
    return true;
}

/* Variables with an adjoint, in increasing order. */
static bool collect_leaves(const graph *g, const derive_scratch *s, gradient *out)
{
    size_t count = 0;
    for (size_t i = 0; i < s->nodes.count; i++)
        count += graph_node(g, s->nodes.order[i])->op == EXPR_VARIABLE && *first_of(s, i) != 0;
    out->count = 0;
    if (!reserve_gradient(out, count)) return false;
    for (size_t i = 0; i < s->nodes.count; i++)
        if (graph_node(g, s->nodes.order[i])->op == EXPR_VARIABLE && *first_of(s, i) != 0)
            out->leaf[out->count++] = s->nodes.order[i];
    sort_nodes(out->leaf, count);
    return true;
}

/* Adjoints of the leaves, their guards as ifs, zeros left out. */
static bool collect(graph *g, const derive_scratch *s, gradient *out)
{
    if (!collect_leaves(g, s, out)) return false;
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        const adjoint *own = adjoint_at(s, *first_of(s, walk_place(&s->nodes, out->leaf[i])));
        expr derivative = behind_all(g, s, own->guard, own->value);
        if (derivative == EXPR_NONE) return false;
        if (graph_is_number(g, derivative, 0.0)) continue;
        out->leaf[kept] = out->leaf[i];
        out->derivative[kept++] = derivative;
    }
    out->count = kept;
    return true;
}

/* The gradient as it was found before: so many leaves, then their derivatives. False: memory. */
static bool take_kept(const expr *kept, size_t count, gradient *out)
{
    if (!reserve_gradient(out, count)) return false;
    out->count = count;
    if (count == 0) return true;
    memcpy(out->leaf, kept, count * sizeof *kept);
    memcpy(out->derivative, kept + count, count * sizeof *kept);
    return true;
}

static bool remember(const graph *g, expr e, const gradient *of)
{
    expr *kept;
    if (!graph_remember(g, MEMO_GRADIENT, e, 2 * of->count, &kept)) return false;
    if (!kept || of->count == 0) return true;
    memcpy(kept, of->leaf, of->count * sizeof *kept);
    memcpy(kept + of->count, of->derivative, of->count * sizeof *kept);
    return true;
}

/* Sweep over the nodes of the walk. */
static bool sweep(graph *g, derive_scratch *s, gradient *out)
{
    if (!prepare(g, s)) return false;
    bool done = contribute(g, s, s->nodes.count - 1, 0, graph_constant(g, 1.0));
    for (size_t i = s->nodes.count; done && i-- > 0;) done = process(g, s, i);
    return done && collect(g, s, out) && !graph_failed(g);
}

static derive_scratch *scratch_of(gradient *out)
{
    if (!out->scratch) out->scratch = DAE_NEW(derive_scratch);
    if (out->scratch && !out->scratch->likes) out->scratch->likes = likes_new();
    return out->scratch && out->scratch->likes ? out->scratch : NULL;
}

/* By an earlier expression of this shape, or by a sweep, whose result is remembered: the other way
 * is as quick as a memory. */
static bool find_gradient(graph *g, expr e, gradient *out)
{
    derive_scratch *s = scratch_of(out);
    if (!s) return false;
    bool done = walk_from(&s->nodes, g, &e, 1) && reserve_gradient(out, s->nodes.count);
    if (done && !likes_find(s->likes, g, &s->nodes, out)) {
        done = sweep(g, s, out) && remember(g, e, out);
        if (done) likes_keep(s->likes, g, &s->nodes, out);
    }
    done = done && !graph_failed(g);
    if (!done) out->count = 0;
    walk_free(&s->nodes); /* the graph keeps its memory; the gradient may outlive the graph */
    return done;
}

bool derive_gradient(graph *g, expr e, gradient *out)
{
    out->count = 0;
    if (e == EXPR_NONE || graph_failed(g)) return false;
    size_t items = 0;
    const expr *kept = graph_recall(g, MEMO_GRADIENT, e, &items);
    bool done = kept ? take_kept(kept, items / 2, out) : find_gradient(g, e, out);
    if (!done) out->count = 0;
    return done;
}

void gradient_free(gradient *out)
{
    derive_scratch *s = out->scratch;
    if (s) likes_free(s->likes);
    if (s)
        dae_free_all(s->first.items, s->active.items, s->adjoints.items, s->guards.items,
                     s->slots.items, s->heap.items, s);
    dae_free_all(out->leaf, out->derivative);
    *out = (gradient){0};
}
