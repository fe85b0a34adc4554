/* Variables of functions that have a value on some paths only. Their cells hold a node of their
 * own, (if assigned then value else NaN), and a table tells what it is made of: who uses the value
 * takes it from there and asserts `assigned`; what nobody uses costs nothing. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* ---- conditions that always hold ---- */

enum { MOST_ATOMS = 6, MOST_TERMS = 64 }; /* 2^6 cases are the bits of a word */

/* Truth tables of the terms of a condition. */
typedef struct truth_tables {
    const graph *g;
    expr terms[MOST_TERMS];
    uint64_t table[MOST_TERMS];
    size_t count, atoms;
    bool too_many;
} truth_tables;

static uint64_t truth_of(truth_tables *t, expr e);

/* A condition that is not looked into: it may hold or not, whatever the others do. */
static uint64_t truth_of_atom(truth_tables *t)
{
    static const uint64_t cases[MOST_ATOMS] = {
        UINT64_C(0xAAAAAAAAAAAAAAAA), UINT64_C(0xCCCCCCCCCCCCCCCC), UINT64_C(0xF0F0F0F0F0F0F0F0),
        UINT64_C(0xFF00FF00FF00FF00), UINT64_C(0xFFFF0000FFFF0000), UINT64_C(0xFFFFFFFF00000000)};
    if (t->atoms < MOST_ATOMS) return cases[t->atoms++];
    t->too_many = true;
    return 0;
}

/* a <> b is not (a == b), where that is known. */
static bool truth_of_opposite(const truth_tables *t, const expr_node *n, uint64_t *out)
{
    for (size_t k = 0; k < t->count; k++) {
        const expr_node *m = graph_node(t->g, t->terms[k]);
        if (m->op != (n->op == EXPR_EQ ? EXPR_NE : EXPR_EQ) || m->a != n->a || m->b != n->b)
            continue;
        *out = ~t->table[k];
        return true;
    }
    return false;
}

static uint64_t truth_of_node(truth_tables *t, const expr_node *n)
{
    uint64_t a, b;
    switch (n->op) {
    case EXPR_CONSTANT: return n->value != 0.0 ? ~UINT64_C(0) : 0;
    case EXPR_NOT: return ~truth_of(t, n->a);
    case EXPR_AND: a = truth_of(t, n->a); return a & truth_of(t, n->b);
    case EXPR_OR: a = truth_of(t, n->a); return a | truth_of(t, n->b);
    case EXPR_SELECT:
        a = truth_of(t, n->a);
        b = truth_of(t, n->b);
        return (a & b) | (~a & truth_of(t, n->c));
    case EXPR_EQ:
    case EXPR_NE: return truth_of_opposite(t, n, &a) ? a : truth_of_atom(t);
    default: return truth_of_atom(t);
    }
}

static uint64_t truth_of(truth_tables *t, expr e)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->terms[k] == e) return t->table[k];
    if (t->too_many) return 0;
    uint64_t table = truth_of_node(t, graph_node(t->g, e));
    if (t->count == MOST_TERMS) t->too_many = true;
    if (t->too_many) return 0;
    t->terms[t->count] = e;
    t->table[t->count++] = table;
    return table;
}

bool always_holds(const flattener *f, expr e)
{
    truth_tables t = {.g = f->g};
    return e != EXPR_NONE && truth_of(&t, e) == ~UINT64_C(0); /* 0 if they are too many */
}

/* ---- the table ---- */

partial_cell *partial_find(const flattener *f, expr e)
{
    const text_piece *t = string_of(f, e);
    uint32_t number = t ? t->partial : e < f->partial_of_capacity ? f->partial_of[e] : 0;
    return number ? &f->partials[number - 1] : NULL;
}

/* The number of the cell that stands at e, 0 if none does. NULL: memory */
static uint32_t *partial_number(flattener *f, expr e)
{
    if (e & STRING_BIT) return string_of(f, e) ? &f->texts[(e & ~STRING_BIT) - 1].partial : NULL;
    size_t before = f->partial_of_capacity;
    if (!flatten_grow(f, &f->partial_of, &f->partial_of_capacity, (size_t)e + 1,
                      sizeof *f->partial_of))
        return NULL;
    memset(f->partial_of + before, 0, (f->partial_of_capacity - before) * sizeof *f->partial_of);
    return &f->partial_of[e];
}

static bool partial_add(flattener *f, expr e, expr v, expr assigned)
{
    uint32_t *number = partial_number(f, e);
    if (!number || *number) return number != NULL;
    partial_cell *p =
        flatten_push(f, &f->partials, &f->partial_count, &f->partial_capacity, sizeof *f->partials);
    if (!p) return false;
    *p = (partial_cell){.value = v, .assigned = assigned};
    *number = (uint32_t)f->partial_count;
    return true;
}

expr cell_value(const flattener *f, expr e)
{
    const partial_cell *p = partial_find(f, e);
    return p ? p->value : e;
}

expr cell_assigned(flattener *f, expr e)
{
    const partial_cell *p = partial_find(f, e);
    return p ? p->assigned : constant(f, e == EXPR_NONE ? 0.0 : 1.0);
}

/* The same text under a number of its own. */
static expr string_again(flattener *f, expr number)
{
    const text_piece *t = string_of(f, number);
    return t ? string_new(f, t->text, t->holes, t->hole_count) : EXPR_NONE;
}

expr partial_new(flattener *f, expr v, expr assigned)
{
    if (v == EXPR_NONE || assigned == EXPR_NONE || always_holds(f, assigned)) return v;
    if (graph_is_number(f->g, assigned, 0.0)) return EXPR_NONE;
    expr e =
        v & STRING_BIT ? string_again(f, v) : graph_select(f->g, assigned, v, constant(f, NAN));
    return e != EXPR_NONE && partial_add(f, e, v, assigned) ? e : EXPR_NONE;
}

/* ---- choices ---- */

/* if c then a else b of conditions */
static expr choose_condition(flattener *f, expr c, expr a, expr b)
{
    graph *g = f->g;
    if (graph_is_number(g, a, 1.0)) return graph_binary(g, EXPR_OR, c, b);
    if (graph_is_number(g, b, 0.0)) return graph_binary(g, EXPR_AND, c, a);
    expr other = graph_unary(g, EXPR_NOT, c);
    if (graph_is_number(g, b, 1.0)) return graph_binary(g, EXPR_OR, other, a);
    if (graph_is_number(g, a, 0.0)) return graph_binary(g, EXPR_AND, other, b);
    return graph_select(g, c, a, b);
}

/* if c then a else b of values that are there */
static expr choose_value(flattener *f, expr c, expr a, expr b)
{
    if (a == b) return a;
    return a & STRING_BIT ? string_choose(f, c, a, b) : graph_select(f->g, c, a, b);
}

expr choose_cell(flattener *f, expr c, expr a, expr b)
{
    bool whole = a != EXPR_NONE && b != EXPR_NONE && !partial_find(f, a) && !partial_find(f, b);
    if (a == b || whole) return choose_value(f, c, a, b);
    expr x = cell_value(f, a), y = cell_value(f, b);
    expr assigned = choose_condition(f, c, cell_assigned(f, a), cell_assigned(f, b));
    expr v = x == EXPR_NONE ? y : y == EXPR_NONE ? x : choose_value(f, c, x, y);
    return partial_new(f, v, assigned);
}
