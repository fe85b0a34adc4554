/* The linear combination method and the removal of variables that only seem to occur. */
#include "structure/rewrite/regularise_parts.h"

#include "base/memory.h"
#include "expr/derive.h"
#include "expr/partial.h"
#include "expr/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------------------------- */

void text_add_row(const equation_set *set, char *text, size_t size, int row)
{
    if (set->row[row].name)
        text_add(text, size, "%s", set->row[row].name);
    else
        text_add(text, size, "equation %d", row + 1);
}

/* What a leaf is called, the set for context; numbered names go to a buffer of the caller's. */
typedef struct leaf_names {
    const equation_set *set;
    char number[32];
} leaf_names;

static const char *leaf_name(void *context, const expr_node *leaf)
{
    leaf_names *names = context;
    const equation_set *set = names->set;
    const char *name = NULL, *letter = "m";
    if (leaf->op == EXPR_TIME) return "time";
    if (leaf->op == EXPR_VARIABLE) {
        name = set->name[leaf->index];
        letter = "x";
    } else if (leaf->op == EXPR_PARAMETER) {
        name = set->parameter_name ? set->parameter_name[leaf->index] : NULL;
        letter = "p";
    }
    if (name) return name;
    snprintf(names->number, sizeof names->number, "%s[%d]", letter, leaf->index);
    return names->number;
}

void text_add_expr(const equation_set *set, char *text, size_t size, expr e)
{
    char part[400];
    leaf_names names = {.set = set};
    expr_print(set->graph, e, leaf_name, &names, part, sizeof part);
    text_add(text, size, "%s", part);
}

bool note_step(rewriting *r, rewrite_kind kind, int row, const char *text)
{
    rewrite_list *list = r->steps;
    if (!dae_grow(&list->step, &list->capacity, (size_t)list->count + 1, sizeof *list->step))
        return false;
    char *copy = dae_strdup(text);
    if (!copy) return false;
    list->step[list->count++] = (rewrite_step){.kind = kind, .row = row, .text = copy};
    return true;
}

void text_add_proviso(const rewriting *r, char *text, size_t size)
{
    if (!r->sample.parameters) text_add(text, size, " (with the parameters' present values)");
}

void text_add_equation(const rewriting *r, char *text, size_t size, expr residual)
{
    char part[400];
    equation_set_print(r->set, residual, part, sizeof part);
    text_add(text, size, ": %s", part);
}

/* ---- leaves on which nothing depends ----------------------------------------------------------
 */

typedef struct replacement {
    expr leaf, by;
} replacement;

static expr replace_leaf(void *context, graph *g, expr leaf)
{
    const replacement *r = context;
    (void)g;
    return leaf == r->leaf ? r->by : leaf;
}

/* e with a number for a leaf that it does not depend on: the first number for which e stays what it
 * is wherever it was defined; e itself if there is none. EXPR_NONE: memory. */
static expr fix_leaf(rewriting *r, expr e, expr leaf)
{
    static const double candidates[] = {0.0, 1.0, -1.0, 0.5, 2.0};
    graph *g = r->set->graph;
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; k++) {
        replacement change = {.leaf = leaf, .by = graph_constant(g, candidates[k])};
        expr fixed = collect(g, graph_substitute(g, e, replace_leaf, &change));
        if (fixed == EXPR_NONE) return EXPR_NONE;
        int equal = sampling_is_equal(&r->sample, e, fixed);
        if (equal < 0) return EXPR_NONE;
        if (equal) return fixed;
    }
    return e;
}

static void text_add_leaf(rewriting *r, char *text, size_t size, expr leaf)
{
    char name[128];
    const expr_node *node = graph_node(r->set->graph, leaf);
    if (!text) return;
    text_add(text, size, "%s%s", text[0] ? ", " : "",
             equation_set_variable(r->set, node->index, node->order, name, sizeof name));
}

/* Leaves of an expression by how they occur. */
typedef struct leaf_use {
    walk nodes;  /* owned */
    bool *rough; /* by place: it decides or is rounded somewhere; owned */
} leaf_use;

static void leaf_use_free(leaf_use *u)
{
    walk_free(&u->nodes);
    dae_free(u->rough);
}

/* Mark what lies below relations, conditions, floor, .. and loops: from parents to operands. */
static bool leaf_use_new(leaf_use *u, const graph *g, expr e)
{
    *u = (leaf_use){0};
    if (!walk_from(&u->nodes, g, &e, 1)) return false;
    u->rough = DAE_ARRAY(bool, u->nodes.count);
    for (size_t i = u->nodes.count; u->rough && i-- > 0;) {
        const expr_node *n = graph_node(g, u->nodes.order[i]);
        bool loop = n->op == EXPR_LIST || n->op == EXPR_LOOP || n->op == EXPR_RESULT ||
                    n->op == EXPR_SIGNAL;
        for (int k = 0; k < n->arity; k++)
            if (u->rough[i] || loop || !partial_exists(n->op, k))
                u->rough[walk_place(&u->nodes, expr_operand(n, k))] = true;
    }
    return u->rough != NULL;
}

/* d e / d leaf from a gradient, the constant 0 where it has none */
static expr derivative_by(graph *g, const gradient *by, expr leaf)
{
    for (size_t k = 0; k < by->count; k++)
        if (by->leaf[k] == leaf) return by->derivative[k];
    return graph_constant(g, 0.0);
}

/* Try leaf number i of a walk: 1: gone from *e, 0: stays, -1: memory */
static int remove_leaf(rewriting *r, const leaf_use *use, const gradient *by, size_t i, expr *e)
{
    graph *g = r->set->graph;
    expr leaf = use->nodes.order[i];
    if (graph_node(g, leaf)->op != EXPR_VARIABLE || use->rough[i]) return 0;
    int idle = sampling_is_zero(&r->sample, derivative_by(g, by, leaf));
    if (idle != 1) return idle;
    expr fixed = fix_leaf(r, *e, leaf);
    if (fixed == EXPR_NONE) return -1;
    bool gone = fixed != *e;
    *e = fixed;
    return gone;
}

expr remove_idle_leaves(rewriting *r, expr e, char *text, size_t size)
{
    graph *g = r->set->graph;
    gradient by = {0};
    leaf_use use = {0};
    bool ok = derive_gradient(g, e, &by) && leaf_use_new(&use, g, e);
    for (size_t i = 0; ok && i < use.nodes.count; i++) {
        int gone = remove_leaf(r, &use, &by, i, &e);
        if (gone == 1) text_add_leaf(r, text, size, use.nodes.order[i]);
        ok = gone >= 0;
    }
    gradient_free(&by);
    leaf_use_free(&use);
    return ok ? e : EXPR_NONE;
}

/* Whether some leading entry of row i is identically zero: 1, 0, -1: memory */
static int has_idle_entry(rewriting *r, int b, int i)
{
    for (int k = r->J->start[i]; k < r->J->start[i + 1]; k++) {
        if (r->s->blocks.of_column[r->J->column[k]] != b) continue;
        int zero = sampling_is_zero(&r->sample, r->J->entry[k]);
        if (zero) return zero;
    }
    return 0;
}

/* Row i without what it does not depend on; 1, 0: nothing found, -1: memory */
static int rewrite_idle_row(rewriting *r, int i)
{
    char text[1024] = "", names[300] = "";
    expr e = remove_idle_leaves(r, r->set->row[i].residual, names, sizeof names);
    if (e == EXPR_NONE) return -1;
    if (e == r->set->row[i].residual || !names[0]) return 0;
    text_add_row(r->set, text, sizeof text, i);
    text_add(text, sizeof text, " does not depend on %s", names);
    text_add_proviso(r, text, sizeof text);
    text_add_equation(r, text, sizeof text, e);
    r->set->row[i].residual = e;
    return note_step(r, REWRITE_COMBINATION, i, text) ? 1 : -1;
}

int rewrite_idle(rewriting *r, int b)
{
    int done = 0;
    const block_form *f = &r->s->blocks;
    for (int k = f->start[b]; k < f->start[b + 1]; k++) {
        int idle = has_idle_entry(r, b, f->rows[k]);
        if (idle == 1) idle = rewrite_idle_row(r, f->rows[k]);
        if (idle < 0) return -1;
        if (idle) done = 1;
    }
    return done;
}

/* ---- linear combination ------------------------------------------------------------------------
 */

/* A limit for derivatives in some expressions: x_j of order below d_j - c, or in columns of earlier
 * blocks up to it [TNP17 4, and blockwise]. */
typedef struct order_limit {
    const rewriting *r;
    int b, c;
    bool kept;
} order_limit;

static void check_order(void *context, const expr_node *n)
{
    order_limit *l = context;
    if (n->op != EXPR_VARIABLE) return;
    int most = l->r->s->d[n->index] - l->c;
    if (l->r->s->blocks.of_column[n->index] >= l->b) most--;
    if (n->order > most) l->kept = false;
}

static bool orders_below(rewriting *r, int b, int c, const expr *e, size_t count, bool *kept)
{
    order_limit limit = {.r = r, .b = b, .c = c, .kept = true};
    bool ok = graph_leaves(r->set->graph, e, count, check_order, &limit);
    *kept = limit.kept;
    return ok;
}

static int least_offset(const rewriting *r, const null_vector *u)
{
    int least = r->s->c[u->index[0]];
    for (int i = 1; i < u->count; i++)
        if (r->s->c[u->index[i]] < least) least = r->s->c[u->index[i]];
    return least;
}

bool keeps_sign(rewriting *r, expr e, bool *keeps)
{
    long double first = 0.0L;
    *keeps = true;
    for (int k = 0; k < SAMPLES_NEAR; k++) {
        long double value, error;
        if (!sampling_values(&r->sample, k, &e, 1, &value, &error)) return false;
        if (k == 0) first = value;
        *keeps = *keeps && fabsl(value) > 16.0L * error && value * first > 0.0L;
    }
    return true;
}

static bool contains(const null_vector *v, int row)
{
    for (int i = 0; i < v->count; i++)
        if (v->index[i] == row) return true;
    return false;
}

/* Whether a row belongs to vector k alone: then replacing it leaves the other vectors valid. */
static bool is_own_row(const null_vectors *v, int k, int row)
{
    for (int m = 0; m < v->count; m++)
        if (m != k && contains(&v->vector[m], row)) return false;
    return true;
}

/* The row of vector k to be replaced: of smallest offset, with a constant factor if possible, so
 * that the new system is equivalent everywhere [TNP17 6], and then one of its own; -1: none, -2:
 * memory. */
static int row_to_replace(rewriting *r, const null_vectors *v, int k, int least)
{
    const null_vector *u = &v->vector[k];
    int best = -1, merit = 0;
    for (int i = 0; i < u->count; i++) {
        bool keeps = true, constant = graph_is_constant(r->set->graph, u->entry[i], NULL);
        if (r->s->c[u->index[i]] != least) continue;
        if (!constant && !keeps_sign(r, u->entry[i], &keeps)) return -2;
        if (!keeps) continue;
        int value = constant ? 2 + is_own_row(v, k, u->index[i]) : 1;
        if (value <= merit) continue;
        merit = value;
        best = i;
        if (merit == 3) break;
    }
    return best;
}

static bool all_constant(const graph *g, const null_vector *u)
{
    for (int i = 0; i < u->count; i++)
        if (!graph_is_constant(g, u->entry[i], NULL)) return false;
    return true;
}

/* u := u / u_l if u_l alone is a number; a vector of (whole) numbers gets u_l > 0 only. */
static void scale_vector(rewriting *r, null_vector *u, int l)
{
    graph *g = r->set->graph;
    double value;
    if (!graph_is_constant(g, u->entry[l], &value)) return;
    double factor = !all_constant(g, u) ? 1.0 / value : value < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < u->count && factor != 1.0; i++)
        u->entry[i] =
            collect_fully(g, graph_binary(g, EXPR_MUL, graph_constant(g, factor), u->entry[i]));
}

/* u_i f_i^(c_i - least) */
static expr summand(rewriting *r, const null_vector *u, int i, int least)
{
    graph *g = r->set->graph;
    expr f = r->set->row[u->index[i]].residual;
    for (int k = least; f && k < r->s->c[u->index[i]]; k++) f = derive_time(g, f);
    return graph_binary(g, EXPR_MUL, u->entry[i], f);
}

/* The sum of the summands from `first` to before `end`, halved so that collecting stays cheap. */
static expr combine(rewriting *r, const null_vector *u, int least, int first, int end)
{
    if (end - first == 1) return summand(r, u, first, least);
    int middle = first + (end - first) / 2;
    return graph_binary(r->set->graph, EXPR_ADD, combine(r, u, least, first, middle),
                        combine(r, u, least, middle, end));
}

/* How often original equations are differentiated in the combination. */
static int times_inside(const rewriting *r, const null_vector *u, int least)
{
    int most = 0;
    for (int i = 0; i < u->count; i++) {
        int times = r->set->row[u->index[i]].times + r->s->c[u->index[i]] - least;
        if (times > most) most = times;
    }
    return most;
}

/* "+ 2*der(equation 1)" */
static void text_add_summand(rewriting *r, char *text, size_t size, const null_vector *u, int i,
                             int times, bool first)
{
    graph *g = r->set->graph;
    double value = 0.0;
    bool constant = graph_is_constant(g, u->entry[i], &value);
    bool negative = graph_node(g, u->entry[i])->op == EXPR_NEG;
    bool minus = negative || (constant && value < 0.0);
    text_add(text, size, "%s", first ? (minus ? "-" : "") : minus ? " - " : " + ");
    if (constant && fabs(value) != 1.0) text_add(text, size, "%.15g*", fabs(value));
    if (!constant) {
        text_add(text, size, "(");
        text_add_expr(r->set, text, size, negative ? graph_node(g, u->entry[i])->a : u->entry[i]);
        text_add(text, size, ")*");
    }
    for (int k = 0; k < times; k++) text_add(text, size, "der(");
    text_add(text, size, "[");
    text_add_row(r->set, text, size, u->index[i]);
    text_add(text, size, "]");
    for (int k = 0; k < times; k++) text_add(text, size, ")");
}

/* Replace row l of the vector by the combination e and tell it. */
static bool put_combination(rewriting *r, const null_vector *u, int l, int least, expr e)
{
    char text[2000] = "";
    const int row = u->index[l];
    text_add_row(r->set, text, sizeof text, row);
    text_add(text, sizeof text, " := ");
    text_add_summand(r, text, sizeof text, u, l, 0, true);
    for (int i = 0; i < u->count; i++)
        if (i != l)
            text_add_summand(r, text, sizeof text, u, i, r->s->c[u->index[i]] - least, false);
    text_add_proviso(r, text, sizeof text);
    text_add_equation(r, text, sizeof text, e);
    if (!graph_is_constant(r->set->graph, u->entry[l], NULL)) r->steps->everywhere = false;
    r->set->row[row].residual = e;
    r->set->row[row].times = times_inside(r, u, least);
    return note_step(r, REWRITE_COMBINATION, row, text);
}

/* Vector k of the block: 1: replaced (*row), 0: the conditions do not hold, -1: memory */
static int try_combination(rewriting *r, int b, const null_vectors *v, int k, int *row)
{
    bool kept;
    null_vector *u = &v->vector[k];
    const int least = least_offset(r, u);
    if (!orders_below(r, b, least, u->entry, (size_t)u->count, &kept)) return -1;
    if (!kept) return 0;
    const int l = row_to_replace(r, v, k, least);
    if (l < 0) return l == -2 ? -1 : 0;
    scale_vector(r, u, l);
    expr e = collect(r->set->graph, combine(r, u, least, 0, u->count));
    if (e) e = remove_idle_leaves(r, e, NULL, 0);
    if (!e || !orders_below(r, b, least, &e, 1, &kept)) return -1;
    if (!kept) return 0;
    *row = u->index[l];
    return put_combination(r, u, l, least, e) ? 1 : -1;
}

/* All vectors that have no row which was replaced before; the others follow in the next round. */
static int combine_all(rewriting *r, int b, const null_vectors *v, int *replaced)
{
    int count = 0;
    for (int k = 0; k < v->count; k++) {
        bool valid = true;
        for (int m = 0; m < count && valid; m++) valid = !contains(&v->vector[k], replaced[m]);
        int state = valid ? try_combination(r, b, v, k, &replaced[count]) : 0;
        if (state < 0) return -1;
        count += state;
    }
    return count > 0;
}

int rewrite_combination(rewriting *r, int b)
{
    null_vectors v;
    if (!null_vectors_new(&v, r, b, true)) return -1;
    if (v.defect > 0) r->singular_point = false;
    int *replaced = DAE_ARRAY(int, v.count);
    int done = replaced ? combine_all(r, b, &v, replaced) : -1;
    dae_free(replaced);
    null_vectors_free(&v);
    return done;
}
