/* Equations as their author would write them. */
#include "structure/index/equation_names.h"

#include "base/memory.h"
#include "base/text.h"
#include "expr/intern.h"
#include "expr/print.h"
#include "expr/walk.h"

#include <stdio.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------- */

int equation_set_first_synonym(const equation_set *set, int j)
{
    int low = 0, high = set->synonym_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (set->synonym[middle].variable < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int equation_set_synonym(const equation_set *set, int j, int p)
{
    int best = -1;
    for (int k = equation_set_first_synonym(set, j); k < set->synonym_count; k++) {
        if (set->synonym[k].variable != j || set->synonym[k].order > p) break;
        if (best < 0 || set->synonym[k].order > set->synonym[best].order) best = k;
    }
    return best;
}

const char *equation_set_variable(const equation_set *set, int j, int p, char *buffer, size_t size)
{
    int k = equation_set_synonym(set, j, p);
    size_t length = 0;
    const char *name = k < 0 ? set->name[j] : set->synonym[k].name;
    int rest = k < 0 ? p : p - set->synonym[k].order;
    char number[32];
    if (!name) {
        snprintf(number, sizeof number, "x[%d]", j);
        name = number;
    }
    if (size == 0) return "";
    buffer[0] = '\0';
    if (k >= 0 && set->synonym[k].sign < 0) length = text_append(buffer, size, length, "-", 1);
    for (int i = 0; i < rest; i++) length = text_append(buffer, size, length, "der(", 4);
    length = text_append(buffer, size, length, name, size);
    for (int i = 0; i < rest; i++) length = text_append(buffer, size, length, ")", 1);
    return buffer;
}

/* ---- a copy for the eye --------------------------------------------------------------------- */

/* Printing rearranges, and the graph of a model may be shared by threads: so it works on a copy, in
 * a graph of its own, where VARIABLE(n + k, q) is the q-th derivative of synonym k. */
typedef struct page {
    const equation_set *set;
    graph *g;    /* owned */
    walk source; /* of the set's graph: each goes back to the pool of its own */
    walk w;      /* of the page */
    expr *image; /* owned */
} page;

static expr negative(graph *g, expr e)
{
    const expr_node *n = graph_node(g, e);
    if (n->op == EXPR_NEG) return n->a;
    if (n->op == EXPR_CONSTANT) return graph_constant(g, -n->value);
    return graph_intern(g, &(expr_node){.op = EXPR_NEG, .a = e});
}

static expr copy_leaf(page *p, const expr_node *n)
{
    int k = n->op == EXPR_VARIABLE ? equation_set_synonym(p->set, n->index, n->order) : -1;
    if (k < 0) return graph_intern(p->g, n);
    const equation_synonym *s = &p->set->synonym[k];
    expr leaf = graph_variable(p->g, p->set->n + k, n->order - s->order);
    return s->sign < 0 && leaf != EXPR_NONE ? negative(p->g, leaf) : leaf;
}

static expr image_of(const page *p, expr operand)
{
    return operand == EXPR_NONE ? EXPR_NONE : p->image[walk_place(&p->source, operand)];
}

static bool is_op(const graph *g, expr e, expr_op op)
{
    return e != EXPR_NONE && graph_node(g, e)->op == op;
}

/* e without a leading minus, which `minus` notes. */
static expr without_minus(const graph *g, expr e, bool *minus)
{
    if (!is_op(g, e, EXPR_NEG)) return e;
    *minus = !*minus;
    return graph_node(g, e)->a;
}

/* a*b as it is written: a parameter before a variable, and x^2 for what the graph keeps as x*x */
static expr_node write_product(graph *g, expr a, expr b)
{
    if (a == b) return (expr_node){.op = EXPR_POW, .a = a, .b = graph_constant(g, 2.0)};
    bool turn = is_op(g, a, EXPR_VARIABLE) && is_op(g, b, EXPR_PARAMETER);
    return (expr_node){.op = EXPR_MUL, .a = turn ? b : a, .b = turn ? a : b};
}

/* a + b or a - b, where a and b may be negative: b + a, a - b, b - a, .. */
static expr_node write_sum(graph *g, expr_op op, expr a, expr b)
{
    bool minus_b = op == EXPR_SUB;
    expr bare = without_minus(g, b, &minus_b);
    if (!minus_b && is_op(g, a, EXPR_NEG))
        return (expr_node){.op = EXPR_SUB, .a = bare, .b = graph_node(g, a)->a};
    return (expr_node){.op = minus_b ? EXPR_SUB : EXPR_ADD, .a = a, .b = bare};
}

/* A node over the images of its operands. Minus signs, which come from synonyms, go outside of
 * products and quotients. */
static expr copy_node(page *p, const expr_node *n)
{
    graph *g = p->g;
    expr_node copy = *n;
    bool minus = false;
    copy.a = image_of(p, n->a);
    copy.b = image_of(p, n->b);
    if (n->arity == 3) copy.c = image_of(p, n->c);
    if (n->op == EXPR_SIGNAL) {
        copy.index = graph_add_signal(g, graph_signal_at(p->set->graph, n->index));
        if (copy.index < 0) return EXPR_NONE;
    }
    if (n->op == EXPR_NEG) return negative(g, copy.a);
    if (n->op == EXPR_ADD || n->op == EXPR_SUB) copy = write_sum(g, n->op, copy.a, copy.b);
    if (n->op == EXPR_MUL || n->op == EXPR_DIV) {
        copy.a = without_minus(g, copy.a, &minus);
        copy.b = without_minus(g, copy.b, &minus);
    }
    if (n->op == EXPR_MUL) copy = write_product(g, copy.a, copy.b);
    if (copy.op == EXPR_POW && copy.b == EXPR_NONE) return EXPR_NONE;
    expr e = graph_intern(g, &copy);
    return minus && e != EXPR_NONE ? negative(g, e) : e;
}

/* e in p->g; EXPR_NONE: memory */
static expr copy_expression(page *p, expr e)
{
    const graph *from = p->set->graph;
    if (e == EXPR_NONE || !walk_from(&p->source, from, &e, 1)) return EXPR_NONE;
    p->image = DAE_ARRAY(expr, p->source.count);
    if (!p->image) return EXPR_NONE;
    for (size_t i = 0; i < p->source.count; i++) {
        const expr_node *n = graph_node(from, p->source.order[i]);
        p->image[i] = graph_arity(n->op) == 0 ? copy_leaf(p, n) : copy_node(p, n);
        if (p->image[i] == EXPR_NONE) return EXPR_NONE;
    }
    return p->image[p->source.count - 1];
}

/* ---- left = right --------------------------------------------------------------------------- */

/* One summand of the residual. */
typedef struct term {
    expr e;
    bool minus;
    int order;    /* highest order of a variable in it; -1: no variable */
    bool plain;   /* a variable, perhaps times something without variables */
    bool on_left; /* of the equals sign */
} term;

typedef struct term_list {
    term *term; /* owned */
    size_t count, capacity;
} term_list;

static bool add_term(term_list *list, expr e, bool minus)
{
    if (!dae_grow(&list->term, &list->capacity, list->count + 1, sizeof *list->term)) return false;
    list->term[list->count++] = (term){.e = e, .minus = minus};
    return true;
}

/* A summand without the sign of its constant: -2 and -2*x are 2 and 2*x, subtracted. */
static bool add_signed(graph *g, term_list *list, expr e, bool minus)
{
    const expr_node *n = graph_node(g, e);
    double value;
    if (graph_is_constant(g, e, &value) && value < 0.0)
        return add_term(list, graph_constant(g, -value), !minus);
    if (n->op == EXPR_MUL && graph_is_constant(g, n->a, &value) && value < 0.0) {
        expr factor = graph_constant(g, -value);
        e = graph_intern(g, &(expr_node){.op = EXPR_MUL, .a = factor, .b = n->b});
        minus = !minus;
    }
    return add_term(list, e, minus);
}

/* The summands of e, in the order in which it is read: of what is still to be split, the last one
 * comes first. */
static bool split_sum(graph *g, expr e, term_list *list)
{
    term_list todo = {0};
    bool ok = add_term(&todo, e, false);
    while (ok && todo.count > 0) {
        term t = todo.term[--todo.count];
        const expr_node *n = graph_node(g, t.e);
        if (n->op == EXPR_ADD || n->op == EXPR_SUB)
            ok = add_term(&todo, n->b, t.minus != (n->op == EXPR_SUB)) &&
                 add_term(&todo, n->a, t.minus);
        else if (n->op == EXPR_NEG)
            ok = add_term(&todo, n->a, !t.minus);
        else
            ok = add_signed(g, list, t.e, t.minus);
    }
    dae_free(todo.term);
    return ok && !graph_failed(g);
}

/* Order of a leaf of the page as the model has it: synonyms count as the derivatives they are. */
static int leaf_order(const page *p, const expr_node *n)
{
    int k = n->index - p->set->n;
    return n->order + (k >= 0 ? p->set->synonym[k].order : 0);
}

/* Highest order in each term, and whether it is one variable times something without. */
static bool look_at_term(page *p, term *t)
{
    int variables = 0;
    t->order = -1;
    if (!walk_from(&p->w, p->g, &t->e, 1)) return false;
    for (size_t i = 0; i < p->w.count; i++) {
        const expr_node *n = graph_node(p->g, p->w.order[i]);
        if (n->op != EXPR_VARIABLE) continue;
        variables++;
        if (leaf_order(p, n) > t->order) t->order = leaf_order(p, n);
    }
    const expr_node *n = graph_node(p->g, t->e);
    bool a = n->op == EXPR_MUL && graph_node(p->g, n->a)->op == EXPR_VARIABLE;
    bool b = n->op == EXPR_MUL && graph_node(p->g, n->b)->op == EXPR_VARIABLE;
    t->plain = variables == 1 && (n->op == EXPR_VARIABLE || a || b);
    return true;
}

/* The one term that an author would put on the left: alone in having the highest derivative, and
 * that plainly; -1: none. */
static int leading_term(const term_list *list)
{
    int best = -1, order = 0;
    bool alone = false;
    for (size_t i = 0; i < list->count; i++) {
        const term *t = &list->term[i];
        if (t->order < order || t->order < 1) continue;
        alone = t->order > order;
        order = t->order;
        best = alone && t->plain ? (int)i : -1;
    }
    return best;
}

/* Which terms stand on the left, and whether all signs are turned round: the leading term by
 * itself; else all that has variables, as in x^2 + y^2 = L^2. */
static bool choose_sides(term_list *list)
{
    int leading = leading_term(list);
    bool turn = true;
    for (size_t i = 0; i < list->count; i++) {
        term *t = &list->term[i];
        t->on_left = leading >= 0 ? (int)i == leading : t->order >= 0;
        if (t->on_left && !t->minus) turn = false;
    }
    return turn;
}

/* Sum of the terms on one side; a term counts as negative if its sign is not `sign`. It begins with
 * a positive one if there is any. */
static expr build_side(graph *g, const term_list *list, bool left, bool sign)
{
    size_t first = 0;
    while (first < list->count &&
           (list->term[first].on_left != left || list->term[first].minus != sign))
        first++;
    expr sum = first < list->count ? list->term[first].e : EXPR_NONE;
    for (size_t i = 0; i < list->count; i++) {
        const term *t = &list->term[i];
        bool minus = t->minus != sign;
        if (i == first || t->on_left != left) continue;
        if (sum != EXPR_NONE)
            sum = graph_intern(
                g, &(expr_node){.op = minus ? EXPR_SUB : EXPR_ADD, .a = sum, .b = t->e});
        else
            sum = minus ? negative(g, t->e) : t->e;
        if (sum == EXPR_NONE) return EXPR_NONE;
    }
    return sum == EXPR_NONE ? graph_constant(g, 0.0) : sum;
}

/* The two sides of residual = 0. A difference is what its author has written as a = b. */
static bool find_sides(page *p, expr e, expr side[2])
{
    while (graph_node(p->g, e)->op == EXPR_NEG) e = graph_node(p->g, e)->a;
    const expr_node *n = graph_node(p->g, e);
    term_list list = {0};
    bool ok = true;
    if (n->op == EXPR_SUB) {
        side[0] = n->a;
        side[1] = n->b;
        return true;
    }
    ok = split_sum(p->g, e, &list);
    for (size_t i = 0; i < list.count && ok; i++) ok = look_at_term(p, &list.term[i]);
    if (ok) {
        bool turn = choose_sides(&list);
        side[0] = build_side(p->g, &list, true, turn);
        side[1] = build_side(p->g, &list, false, !turn);
        if (leading_term(&list) < 0 && graph_is_constant(p->g, side[0], NULL)) {
            side[0] = e; /* no variables at all: as it is */
            side[1] = graph_constant(p->g, 0.0);
        }
    }
    dae_free(list.term);
    return ok && side[0] != EXPR_NONE && side[1] != EXPR_NONE;
}

static const char *leaf_name(void *context, const expr_node *leaf)
{
    const equation_set *set = context;
    if (leaf->op == EXPR_PARAMETER)
        return set->parameter_name ? set->parameter_name[leaf->index] : NULL;
    if (leaf->op == EXPR_MEMORY) return set->memory_name ? set->memory_name[leaf->index] : NULL;
    if (leaf->op != EXPR_VARIABLE) return NULL;
    return leaf->index < set->n ? set->name[leaf->index] : set->synonym[leaf->index - set->n].name;
}

/* "left = right", or as much of it as fits. */
static size_t print_sides(page *p, const expr side[2], char *buffer, size_t size)
{
    void *names = (void *)p->set; /* only read by leaf_name */
    size_t length = expr_print(p->g, side[0], leaf_name, names, buffer, size);
    if (length == size) return size;
    if (length + 3 >= size) {
        text_cut(buffer, length, size);
        return size;
    }
    memcpy(buffer + length, " = ", 4);
    size_t done = length + 3, left = size - done;
    size_t more = expr_print(p->g, side[1], leaf_name, names, buffer + done, left);
    if (more == left && left < 3) text_cut(buffer, done, size);
    return more == left ? size : done + more;
}

size_t equation_set_print(const equation_set *set, expr residual, char *buffer, size_t size)
{
    page p = {.set = set, .g = graph_new()};
    expr side[2];
    size_t length = size;
    if (size > 0) snprintf(buffer, size, "%s", "..");
    if (size > 0 && p.g) {
        expr e = copy_expression(&p, residual);
        if (e != EXPR_NONE && find_sides(&p, e, side)) length = print_sides(&p, side, buffer, size);
    }
    walk_free(&p.source);
    walk_free(&p.w);
    dae_free(p.image);
    graph_free(p.g);
    return length;
}
