#include "model/model_forcing.h"

#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/range.h"
#include "expr/walk.h"

/* Chains of definitions that are followed, and unknowns beyond which they are not. */
enum { MOST_PASSES = 16, MOST_UNKNOWNS = 20000 };

/* What is known of an unknown. */
typedef enum role { OPEN = 0, GIVEN, STATE } role;

typedef struct forcing_search {
    const model_form *form;
    graph *g;
    expr *row;     /* the equations, with what is given in its place */
    expr *delayed; /* what is delayed, too */
    size_t delayed_count;
    role *roles; /* per unknown */
    expr *value; /* per unknown that is given: by what */
    walk w;
    bool failed;
} forcing_search;

void model_forcing_free(model_forcing *f)
{
    dae_free_all(f->nodes, f->past, f->given, f->value, f->driven, f->driven_source, f->moving,
                 f->functions, f->followed, f->followed_value);
    *f = (model_forcing){0};
}

/* ---- unknowns that time alone decides ---- */

/* Whether a leaf of the walk moves as nothing known does: an unknown that is open, a delayed value,
 * a loop. */
static bool is_open(const forcing_search *s, const expr_node *n)
{
    if (n->op >= EXPR_OP_COUNT) return true;
    if (n->op == EXPR_MEMORY) return flat_is_delayed(s->form->flat, (int)n->index);
    return n->op == EXPR_VARIABLE && (n->order > 0 || s->roles[n->index] == OPEN);
}

/* The one open leaf of row r, or EXPR_NONE: there is none, or more than one, or a loop. */
static expr only_open(forcing_search *s, int r)
{
    expr found = EXPR_NONE;
    if (!walk_from(&s->w, s->g, &s->row[r], 1)) {
        s->failed = true;
        return EXPR_NONE;
    }
    for (size_t i = 0; i < s->w.count; i++) {
        const expr_node *n = graph_node(s->g, s->w.order[i]);
        if (!is_open(s, n)) continue;
        if (found != EXPR_NONE || n->op != EXPR_VARIABLE) return EXPR_NONE;
        found = s->w.order[i];
    }
    return found;
}

static expr zero_leaf(void *context, graph *g, expr leaf)
{
    return leaf == *(expr *)context ? graph_constant(g, 0.0) : leaf;
}

/* What the leaf is worth by a row in which it is linear, with a factor that does not move: minus
 * the rest of the row over the factor. EXPR_NONE: it is not, or memory. */
static expr solved(graph *g, expr row, expr leaf)
{
    bool moves = true;
    const expr factor = derive_partial(g, row, leaf);
    if (factor == EXPR_NONE || !graph_reads(g, &factor, 1, READS_RUN, &moves) || moves)
        return EXPR_NONE;
    const expr rest = graph_substitute(g, row, zero_leaf, &leaf);
    return graph_unary(g, EXPR_NEG, graph_binary(g, EXPR_DIV, rest, factor));
}

static expr given_leaf(void *context, graph *g, expr leaf)
{
    const forcing_search *s = context;
    const expr_node *n = graph_node(g, leaf);
    const bool given = n->op == EXPR_VARIABLE && n->order == 0 && s->roles[n->index] == GIVEN;
    return given ? s->value[n->index] : leaf;
}

/* One pass over the rows: unknowns that are found to be given. */
static bool find_more(forcing_search *s)
{
    bool any = false;
    for (size_t r = 0; !s->failed && r < s->form->residual.outputs; r++) {
        const expr leaf = only_open(s, (int)r);
        if (leaf == EXPR_NONE) continue;
        const expr_node n = *graph_node(s->g, leaf);
        if (n.order > 0 || s->roles[n.index] != OPEN) continue;
        const expr value = solved(s->g, s->row[r], leaf);
        if (value == EXPR_NONE) continue;
        s->value[n.index] = graph_substitute(s->g, value, given_leaf, s);
        s->roles[n.index] = GIVEN;
        any = true;
    }
    return any && !s->failed && !graph_failed(s->g);
}

/* What can be known of unknowns; then what is given is in its place in all expressions. */
static void find_known(forcing_search *s)
{
    for (int pass = 0; pass < MOST_PASSES && find_more(s); pass++) continue;
    for (size_t r = 0; r < s->form->residual.outputs; r++)
        s->row[r] = graph_substitute(s->g, s->row[r], given_leaf, s);
    for (size_t i = 0; i < s->delayed_count; i++)
        s->delayed[i] = graph_substitute(s->g, s->delayed[i], given_leaf, s);
}

/* ---- nodes ---- */

/* What a node depends on; OF_PAST in addition, where delayed values decide. */
enum { OF_TIME = 1, OF_OTHERS = 2, OF_PAST = 4 };
/* What is noted of a node, beside OF_PAST: it is one of those, and in some row the largest. */
enum { LISTED = 1, LARGEST = 2 };

/* A value that is delayed by a constant lag is known for as long as a step may be. */
static bool is_past(const forcing_search *s, const expr_node *n)
{
    const flat_delay *d = n->op == EXPR_MEMORY ? flat_delay_of(s->form->flat, (int)n->index) : NULL;
    return d && !d->varies;
}

static unsigned char depends(const forcing_search *s, const expr_node *n)
{
    if (is_past(s, n)) return OF_TIME | OF_PAST;
    if (is_open(s, n)) return OF_OTHERS;
    return n->op == EXPR_TIME || n->op == EXPR_VARIABLE ? OF_TIME : 0;
}

/* Mark the nodes of an expression that depend on time alone, and have no jumps in them. */
static void mark_nodes(forcing_search *s, expr root, unsigned char *marks)
{
    walk *w = &s->w;
    s->failed = s->failed || !walk_from(w, s->g, &root, 1);
    unsigned char *on = dae_calloc(w->count + 1, 1), *jumps = dae_calloc(w->count + 1, 1);
    unsigned char *largest = dae_calloc(w->count + 1, 1);
    s->failed = s->failed || !on || !jumps || !largest;
    for (size_t i = 0; !s->failed && i < w->count; i++) {
        const expr_node *n = graph_node(s->g, w->order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        const int arity = n->op < EXPR_OP_COUNT ? graph_arity(n->op) : 0;
        on[i] = depends(s, n);
        for (int k = 0; k < arity; k++) {
            on[i] |= on[walk_place(w, operand[k])];
            jumps[i] |= jumps[walk_place(w, operand[k])];
        }
        jumps[i] |= on[i] != 0 && expr_is_step(n->op);
        if (arity == 0 || (on[i] & (OF_TIME | OF_OTHERS)) != OF_TIME || jumps[i]) continue;
        marks[w->order[i]] |= LISTED | (on[i] & OF_PAST);
        largest[i] = LARGEST;
        for (int k = 0; k < arity; k++) largest[walk_place(w, operand[k])] = 0;
    }
    for (size_t i = 0; !s->failed && i < w->count; i++) marks[w->order[i]] |= largest[i];
    dae_free_all(on, jumps, largest);
}

/* Those of all rows, and of what is delayed. */
static void mark_all(forcing_search *s, unsigned char *marks)
{
    const size_t rows = s->form->residual.outputs;
    for (size_t r = 0; !s->failed && r < rows; r++) mark_nodes(s, s->row[r], marks);
    for (size_t i = 0; !s->failed && i < s->delayed_count; i++) mark_nodes(s, s->delayed[i], marks);
}

/* Of the listed nodes those that are more than polynomials, which bend no more often than their
 * degree says; and of what the past decides, made of many polynomials, the largest. */
static bool keep_nonlinear(const graph *g, const unsigned char *marks, model_forcing *f)
{
    range_program *all = f->count > 0 ? range_program_new(g, f->nodes, f->count) : NULL;
    if (!all) return f->count == 0;
    size_t kept = 0;
    for (size_t k = 0; k < f->count; k++) {
        const unsigned char m = marks[f->nodes[k]];
        const bool wild = range_program_is_wild(all, k) || ((m & OF_PAST) && (m & LARGEST));
        if (!wild || range_program_is_opaque(all, k)) continue;
        f->past[kept] = (m & OF_PAST) != 0;
        f->nodes[kept++] = f->nodes[k];
    }
    range_program_free(all);
    f->count = kept;
    return true;
}

static bool list_nodes(forcing_search *s, model_forcing *f)
{
    const size_t size = graph_size(s->g);
    unsigned char *marks = dae_calloc(size, 1);
    if (marks) mark_all(s, marks);
    for (expr e = 1; marks && e < size; e++) f->count += (marks[e] & LISTED) != 0;
    f->nodes = DAE_ARRAY(expr, f->count);
    f->past = DAE_ARRAY(bool, f->count);
    size_t at = 0;
    for (expr e = 1; marks && f->nodes && e < size; e++)
        if (marks[e]) f->nodes[at++] = e;
    const bool ok = marks && f->nodes && f->past && !s->failed && keep_nonlinear(s->g, marks, f);
    dae_free(marks);
    return ok;
}

/* Unknowns that are given, with their values. */
static void list_given(const forcing_search *s, int *unknown, expr *value, int *count)
{
    for (int i = 0; i < s->form->n; i++) {
        if (s->roles[i] != GIVEN) continue;
        value[*count] = s->value[i];
        unknown[(*count)++] = i;
    }
}

static bool list_unknowns(forcing_search *s, model_forcing *f)
{
    const size_t n = (size_t)s->form->n;
    f->given = DAE_ARRAY(int, n);
    f->value = DAE_ARRAY(expr, n);
    if (!f->given || !f->value) return false;
    list_given(s, f->given, f->value, &f->given_count);
    return true;
}

/* ---- what states drive ---- */

/* What a node depends on, beside OF_TIME and OF_OTHERS; whether it has jumps, or is looked at. */
enum { OF_STATES = 8, JUMPS = 16, WHOLE = 32 };

static unsigned char depends_on_state(const forcing_search *s, const expr_node *n)
{
    const bool state = n->op == EXPR_VARIABLE && !is_open(s, n);
    return state ? OF_STATES : depends(s, n) & OF_PAST ? OF_OTHERS : depends(s, n);
}

/* on[i]: what the i-th node of the walk depends on */
static void mark_driven(const forcing_search *s, unsigned char *on)
{
    const walk *w = &s->w;
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(s->g, w->order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        const int arity = n->op < EXPR_OP_COUNT ? graph_arity(n->op) : 0;
        on[i] = depends_on_state(s, n);
        for (int k = 0; k < arity; k++) on[i] |= on[walk_place(w, operand[k])];
        if (on[i] != 0 && expr_is_step(n->op)) on[i] |= JUMPS;
    }
}

/* Of so many expressions those that are more than polynomials are listed, each with its place. */
static bool keep_driven(const graph *g, model_forcing *f, const expr *e, size_t count)
{
    range_program *all = count > 0 ? range_program_new(g, e, count) : NULL;
    if (!all) return count == 0;
    for (size_t k = 0; k < count; k++) {
        if (!range_program_is_wild(all, k) || range_program_is_opaque(all, k)) continue;
        f->driven[f->driven_count] = e[k];
        f->driven_source[f->driven_count++] = (int)k;
    }
    range_program_free(all);
    return true;
}

/* Whether a node is known, and not by time alone; functions of time that do not jump are forcing.
 */
static bool is_driven(unsigned char on)
{
    return (on & (OF_STATES | JUMPS)) && !(on & OF_OTHERS);
}

static bool stays_polynomial(const forcing_search *s, const expr_node *n)
{
    const expr_node *b = graph_node(s->g, n->b);
    switch (n->op) {
    case EXPR_NEG:
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL: return true;
    case EXPR_DIV: return b->op == EXPR_CONSTANT || b->op == EXPR_PARAMETER;
    default: return false;
    }
}

/* The functions in nodes that are known, beside sums and products. */
static void list_functions(const forcing_search *s, const unsigned char *on, model_forcing *f)
{
    const walk *w = &s->w;
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(s->g, w->order[i]);
        const bool known = on[i] != 0 && !(on[i] & OF_OTHERS);
        if (!known || n->op >= EXPR_OP_COUNT || graph_arity(n->op) == 0) continue;
        if (!stays_polynomial(s, n)) f->functions[f->function_count++] = w->order[i];
    }
}

/* Nodes that are known, and part of nothing larger that is, in the rows after so many roots. */
static void mark_largest(const forcing_search *s, const expr *roots, size_t special, size_t count,
                         unsigned char *on)
{
    const walk *w = &s->w;
    for (size_t k = special; k < count; k++) {
        unsigned char *root = &on[walk_place(w, roots[k])];
        if (is_driven(*root)) *root |= WHOLE;
    }
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(s->g, w->order[i]);
        const expr operand[3] = {n->a, n->b, n->c};
        const int arity = n->op < EXPR_OP_COUNT ? graph_arity(n->op) : 0;
        for (int k = 0; k < arity && !is_driven(on[i]); k++) {
            unsigned char *at = &on[walk_place(w, operand[k])];
            if (is_driven(*at)) *at |= WHOLE;
        }
    }
}

static bool is_known(unsigned char on)
{
    return on != 0 && !(on & OF_OTHERS);
}

/* Crossing functions, what is delayed, and what is known in the rows. */
static bool list_driven(forcing_search *s, model_forcing *f, const expr *roots, size_t crossings,
                        size_t root_count)
{
    const walk *w = &s->w;
    const size_t special = crossings + s->delayed_count;
    unsigned char *on = dae_calloc(w->count + 1, 1);
    expr *e = DAE_ARRAY(expr, special + w->count);
    f->driven = DAE_ARRAY(expr, special + w->count);
    f->driven_source = DAE_ARRAY(int, special + w->count);
    f->moving = DAE_ARRAY(int, (size_t)s->form->n);
    f->functions = DAE_ARRAY(expr, w->count);
    bool ok = f->functions && on && e && f->driven && f->driven_source && f->moving;
    if (ok) mark_driven(s, on);
    if (ok) list_functions(s, on, f);
    const expr zero = ok ? graph_constant(s->g, 0.0) : EXPR_NONE;
    for (size_t k = 0; ok && k < special; k++)
        e[k] = is_known(on[walk_place(w, roots[k])]) ? roots[k] : zero;
    ok = ok && keep_driven(s->g, f, e, crossings);
    f->driven_crossings = f->driven_count;
    ok = ok && keep_driven(s->g, f, e + crossings, s->delayed_count);
    f->driven_delays = f->driven_count - f->driven_crossings;
    if (ok) mark_largest(s, roots, special, root_count, on);
    size_t count = 0;
    for (size_t i = 0; ok && i < w->count; i++)
        if (on[i] & WHOLE) e[count++] = w->order[i];
    ok = ok && keep_driven(s->g, f, e, count);
    for (size_t i = 0; ok && i < w->count; i++) {
        const expr_node *n = graph_node(s->g, w->order[i]);
        if (n->op == EXPR_VARIABLE && n->order == 0 && !is_open(s, n))
            f->moving[f->moving_count++] = (int)n->index;
    }
    dae_free_all(on, e);
    return ok;
}

/* States are known along a step, as well as time, and unknowns that an equation gives with them. */
static bool find_driven(forcing_search *s, model_forcing *f)
{
    const size_t rows = s->form->residual.outputs, crossings = s->form->flat->relation_count;
    const size_t count = crossings + s->delayed_count + rows;
    for (int i = 0; i < s->form->n; i++)
        if (s->roles[i] == OPEN && s->form->differential[i]) s->roles[i] = STATE;
    find_known(s);
    f->followed = DAE_ARRAY(int, (size_t)s->form->n);
    f->followed_value = DAE_ARRAY(expr, (size_t)s->form->n);
    expr *roots = DAE_ARRAY(expr, count);
    bool ok = roots && f->followed && f->followed_value;
    if (ok) list_given(s, f->followed, f->followed_value, &f->followed_count);
    for (size_t k = 0; ok && k < crossings; k++)
        roots[k] = graph_substitute(s->g, s->form->crossing.e[k], given_leaf, s);
    for (size_t k = 0; ok && k < s->delayed_count; k++) roots[crossings + k] = s->delayed[k];
    for (size_t k = 0; ok && k < rows; k++) roots[count - rows + k] = s->row[k];
    ok = ok && !graph_failed(s->g) && walk_from(&s->w, s->g, roots, count) &&
         list_driven(s, f, roots, crossings, count);
    dae_free(roots);
    return ok;
}

bool model_forcing_find(model_forcing *f, const model_form *form)
{
    const size_t rows = form->residual.outputs, n = (size_t)form->n;
    forcing_search s = {.form = form, .g = form->flat->graph};
    s.row = dae_copy(form->residual.e, rows, sizeof *s.row);
    s.delayed_count = form->delayed ? form->flat->delay_count : 0;
    s.delayed = dae_copy(form->delayed, s.delayed_count, sizeof *s.delayed);
    s.roles = DAE_ARRAY(role, n);
    s.value = DAE_ARRAY(expr, n);
    bool ok = s.row && s.delayed && s.roles && s.value;
    if (ok && form->n <= MOST_UNKNOWNS) find_known(&s);
    ok = ok && !s.failed && list_nodes(&s, f) && list_unknowns(&s, f) && !graph_failed(s.g);
    if (ok && form->n <= MOST_UNKNOWNS) ok = find_driven(&s, f) && !s.failed && !graph_failed(s.g);
    walk_free(&s.w);
    dae_free_all(s.row, s.delayed, s.roles, s.value);
    return ok;
}
