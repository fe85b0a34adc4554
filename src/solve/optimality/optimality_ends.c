/* Conditions at the ends. For all motions that the model allows there,
 *
 *     sum P_jm dx_j^(m) + dM + sum nu_k dpsi_k + sum kappa_l dC_l = 0,
 *
 * with the objective M at the end, conditions psi that the model has at this end, and constraints C
 * among x_j^(m), m < d_j: derivatives of order 0 .. c_i - 1 of each equation, which has the offset
 * c_i [Pryce01]. Where M, psi or P contain x_j^(d_j), such as algebraic variables, the equation
 * that gives it is a constraint, too. Derivatives of controls are as free as others. This is one
 * row for each x_j^(m). Multipliers that a row gives with a constant factor are eliminated; rows
 * that say nothing but their multipliers are dropped with them. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "expr/derive.h"
#include "solve/optimality/optimality_parts.h"

enum { FIRST = 1 << 28 }; /* multiplier k is the variable FIRST + k until it is one of the model */

typedef struct end_row {
    int variable, order; /* of the motion that it belongs to */
    expr e;              /* e = 0 */
    int part;            /* rows and multipliers that are connected have one number; -1: dropped */
} end_row;

typedef struct end_multiplier {
    const char *of; /* what it belongs to */
    int part;       /* -1: eliminated, or dropped */
    int variable;   /* of the model, in the end; -1: none */
} end_multiplier;

typedef struct end_system {
    optimality *q;
    bool at_start;
    expr sum;    /* M + nu psi + kappa C */
    bool *given; /* per variable: the equation that gives it is a constraint */
    int *queue;  /* variables to be given */
    int queued, beyond;
    end_multiplier *multipliers; /* owned */
    size_t multiplier_count, multiplier_room;
    size_t conditions; /* the first ones belong to conditions of the model */
    end_row *rows;     /* owned */
    size_t row_count, row_room;
    bool failed; /* memory */
} end_system;

/* ---- constraints ---- */

/* x_j^(d_j) is none of the values that a start may have: its equation is needed. */
static void see_leaf(void *context, const expr_node *leaf)
{
    end_system *s = context;
    const optimality *q = s->q;
    if (leaf->op != EXPR_VARIABLE || leaf->index >= q->own || q->control[leaf->index]) return;
    const int j = leaf->index, highest = q->analysed.d[j];
    if (leaf->order > highest) s->beyond = j + 1;
    if (leaf->order < highest || s->given[j] || q->row_of[j] < 0) return;
    s->given[j] = true;
    s->queue[s->queued++] = j;
}

static void scan(end_system *s, expr e)
{
    if (e == EXPR_NONE || !graph_leaves(s->q->g, &e, 1, see_leaf, s)) s->failed = true;
}

/* sum += multiplier times e */
static void add_term(end_system *s, expr e, const char *of)
{
    graph *g = s->q->g;
    if (!of || !dae_grow(&s->multipliers, &s->multiplier_room, s->multiplier_count + 1,
                         sizeof *s->multipliers)) {
        s->failed = true;
        return;
    }
    expr factor = graph_variable(g, FIRST + (int)s->multiplier_count, 0);
    s->multipliers[s->multiplier_count++] = (end_multiplier){of, 0, -1};
    s->sum = graph_binary(g, EXPR_ADD, s->sum, graph_binary(g, EXPR_MUL, factor, e));
    scan(s, e);
}

static const char *row_name(optimality *q, int i, int times)
{
    const flat_equation *e = &q->equations.items[i];
    const char *of = q->variables[q->analysed.match[i]].name;
    const char *name = e->place.line ? optimality_text(q, "line %d", e->place.line)
                                     : optimality_text(q, "the equation of %s", of);
    return times ? optimality_text(q, "derivative %d of %s", times, name ? name : "") : name;
}

/* Derivatives of order `from` .. `to` of row i. */
static void add_levels(end_system *s, int i, int from, int to)
{
    optimality *q = s->q;
    expr e = q->equations.items[i].residual;
    for (int k = 0; k <= to && !s->failed; k++) {
        if (k > 0) e = derive_time(q->g, e);
        if (e == EXPR_NONE)
            s->failed = true;
        else if (k >= from)
            add_term(s, e, row_name(q, i, k));
    }
}

static void add_constraints(end_system *s)
{
    optimality *q = s->q;
    const int *c = q->analysed.c;
    for (int i = 0; i < q->rows && !s->failed; i++)
        if (q->adjoint[i] >= 0) add_levels(s, i, 0, c[i] - 1);
    for (int j = 0; j < q->own && !s->failed; j++)
        for (int m = 0; m < q->orders; m++)
            if (!graph_is_number(q->g, q->momentum[at_leaf(q, j, m)], 0.0))
                scan(s, graph_variable(q->g, j, m));
    for (int k = 0; k < s->queued && !s->failed; k++) {
        const int i = q->row_of[s->queue[k]];
        add_levels(s, i, c[i], c[i]);
    }
}

/* ---- conditions of the model ---- */

expr optimality_fixed(optimality *q, int v)
{
    const flat_variable *x = &q->variables[v];
    expr start = x->has_start && x->start != EXPR_NONE ? x->start : graph_constant(q->g, 0.0);
    return graph_binary(q->g, EXPR_SUB, graph_variable(q->g, v, 0), start);
}

static void add_conditions(end_system *s)
{
    optimality *q = s->q;
    const flat_list *list = s->at_start ? &q->initial : &q->terminal;
    for (size_t k = 0; k < list->count && !s->failed; k++) {
        const flat_equation *e = &list->items[k];
        const char *name = e->name ? e->name : "";
        if (!optimality_concerns(q, e->residual, &s->failed)) continue;
        if (strncmp(name, "equation ", 9) == 0 || !*name)
            name = optimality_text(q, "the condition in line %d", e->place.line);
        add_term(s, e->residual, name);
    }
    for (int v = 0; v < q->own && s->at_start && !s->failed; v++)
        if (q->variables[v].fixed && q->matters[v])
            add_term(s, optimality_fixed(q, v),
                     optimality_text(q, "start value of %s", q->variables[v].name));
}

/* ---- rows ---- */

static void add_row(end_system *s, int j, int m, expr by)
{
    optimality *q = s->q;
    graph *g = q->g;
    if (!dae_grow(&s->rows, &s->row_room, s->row_count + 1, sizeof *s->rows)) {
        s->failed = true;
        return;
    }
    expr e = m < q->orders ? graph_unary(g, EXPR_NEG, q->momentum[at_leaf(q, j, m)])
                           : graph_constant(g, 0.0);
    e = graph_binary(g, EXPR_SUB, e, by);
    s->rows[s->row_count++] = (end_row){j, m, e, 0};
    if (e == EXPR_NONE) s->failed = true;
}

/* -P_jm - d sum / d x_j^(m) */
static void make_rows(end_system *s)
{
    optimality *q = s->q;
    gradient by = {0};
    if (s->failed || !derive_gradient(q->g, s->sum, &by)) s->failed = true;
    const size_t count = at_leaf(q, q->own, 0) + 1;
    bool *done = DAE_ARRAY(bool, count);
    if (!done) s->failed = true;
    for (size_t k = 0; k < by.count && !s->failed; k++) {
        const expr_node *n = graph_node(q->g, by.leaf[k]);
        if (n->index >= q->own) continue;
        if (n->order <= q->orders) done[at_leaf(q, n->index, n->order)] = true;
        add_row(s, n->index, n->order, by.derivative[k]);
    }
    for (int j = 0; j < q->own && !s->failed; j++)
        for (int m = 0; m < q->orders; m++)
            if (!done[at_leaf(q, j, m)] &&
                !graph_is_number(q->g, q->momentum[at_leaf(q, j, m)], 0.0))
                add_row(s, j, m, graph_constant(q->g, 0.0));
    dae_free(done);
    gradient_free(&by);
}

/* ---- elimination of multipliers ---- */

typedef struct replacement {
    int variable; /* of a multiplier */
    expr by;
} replacement;

static expr replace_leaf(void *context, graph *g, expr leaf)
{
    const replacement *r = context;
    const expr_node *n = graph_node(g, leaf);
    return n->op == EXPR_VARIABLE && n->index == r->variable ? r->by : leaf;
}

static expr replaced(graph *g, expr e, int variable, expr by)
{
    replacement r = {variable, by};
    return graph_substitute(g, e, replace_leaf, &r);
}

static void count_multiplier(void *context, const expr_node *leaf)
{
    if (leaf->op == EXPR_VARIABLE && leaf->index >= FIRST) ++*(int *)context;
}

static int multipliers_in(end_system *s, expr e)
{
    int count = 0;
    if (!graph_leaves(s->q->g, &e, 1, count_multiplier, &count)) s->failed = true;
    return count;
}

/* The row with the fewest multipliers that has this one with a constant factor; -1: none. */
static int pivot_row(end_system *s, int k, double *factor)
{
    graph *g = s->q->g;
    int best = -1, least = 0;
    for (size_t r = 0; r < s->row_count && !s->failed; r++) {
        double value;
        if (s->rows[r].part < 0) continue;
        expr by = derive_partial(g, s->rows[r].e, graph_variable(g, FIRST + k, 0));
        if (by == EXPR_NONE) s->failed = true;
        if (s->failed || !graph_is_constant(g, by, &value) || value == 0.0) continue;
        int count = multipliers_in(s, s->rows[r].e);
        if (best >= 0 && count >= least) continue;
        best = (int)r;
        least = count;
        *factor = value;
    }
    return best;
}

static bool eliminate_one(end_system *s, int k)
{
    graph *g = s->q->g;
    double factor = 1.0;
    int r = pivot_row(s, k, &factor);
    if (r < 0) return false;
    expr rest = replaced(g, s->rows[r].e, FIRST + k, graph_constant(g, 0.0));
    expr value = graph_binary(g, EXPR_DIV, rest, graph_constant(g, -factor));
    s->rows[r].part = s->multipliers[k].part = -1;
    for (size_t i = 0; i < s->row_count; i++)
        if (s->rows[i].part >= 0) s->rows[i].e = replaced(g, s->rows[i].e, FIRST + k, value);
    if (graph_failed(g)) s->failed = true;
    return true;
}

static void eliminate(end_system *s)
{
    for (bool more = true; more && !s->failed;) {
        more = false;
        for (size_t k = 0; k < s->multiplier_count && !s->failed; k++)
            if (s->multipliers[k].part >= 0 && eliminate_one(s, (int)k)) more = true;
    }
}

/* ---- connected parts ---- */

typedef struct part_visit {
    end_system *s;
    int part;
    bool changed;
} part_visit;

/* Rows and multipliers take the smaller number of their parts. */
static void join(void *context, const expr_node *leaf)
{
    part_visit *v = context;
    if (leaf->op != EXPR_VARIABLE || leaf->index < FIRST) return;
    end_multiplier *m = &v->s->multipliers[leaf->index - FIRST];
    if (m->part == v->part) return;
    v->changed = true;
    if (m->part < v->part)
        v->part = m->part;
    else
        m->part = v->part;
}

static void find_parts(end_system *s)
{
    int next = 1;
    for (size_t k = 0; k < s->multiplier_count; k++)
        if (s->multipliers[k].part >= 0) s->multipliers[k].part = next++;
    for (size_t r = 0; r < s->row_count; r++)
        if (s->rows[r].part >= 0) s->rows[r].part = next++;
    for (bool changed = true; changed && !s->failed;) {
        changed = false;
        for (size_t r = 0; r < s->row_count && !s->failed; r++) {
            if (s->rows[r].part < 0) continue;
            part_visit v = {s, s->rows[r].part, false};
            if (!graph_leaves(s->q->g, &s->rows[r].e, 1, join, &v)) s->failed = true;
            s->rows[r].part = v.part;
            changed = changed || v.changed;
        }
    }
}

static void count_part(const end_system *s, int part, int *rows, int *multipliers)
{
    *rows = *multipliers = 0;
    for (size_t r = 0; r < s->row_count; r++) *rows += s->rows[r].part == part;
    for (size_t k = 0; k < s->multiplier_count; k++) *multipliers += s->multipliers[k].part == part;
}

static void drop_part(end_system *s, int part)
{
    for (size_t r = 0; r < s->row_count; r++)
        if (s->rows[r].part == part) s->rows[r].part = -1;
    for (size_t k = 0; k < s->multiplier_count; k++)
        if (s->multipliers[k].part == part) s->multipliers[k].part = -1;
}

/* Which of the conditions is to blame is not known. */
static dae_status refuse_conditions(const end_system *s, dae_diag *diag)
{
    diag_set(diag, DAE_ERR_ARGUMENT,
             "Conditions of optimality: conditions at the %s are too many, or say the same as "
             "others or as the equations: ",
             s->at_start ? "start" : "end");
    text_list list = text_list_in(diag, 8);
    for (size_t k = 0; k < s->conditions; k++) text_list_add(&list, "%s", s->multipliers[k].of);
    text_list_end(&list);
    diag_append(diag, ".");
    return DAE_ERR_ARGUMENT;
}

/* Parts with as many rows as multipliers only tell these. */
static dae_status settle_parts(end_system *s, dae_diag *diag)
{
    for (size_t k = 0; k < s->multiplier_count; k++) {
        const int part = s->multipliers[k].part;
        int rows, multipliers;
        if (part < 0) continue;
        count_part(s, part, &rows, &multipliers);
        if (multipliers > rows) return refuse_conditions(s, diag);
        if (multipliers == rows) drop_part(s, part);
    }
    return DAE_OK;
}

/* ---- what is left ---- */

/* nu' = 0 for multipliers that stay. */
static void declare_multipliers(end_system *s)
{
    optimality *q = s->q;
    int number = 0;
    for (size_t k = 0; k < s->multiplier_count && !s->failed; k++) {
        end_multiplier *m = &s->multipliers[k];
        if (m->part < 0) continue;
        const char *name = optimality_text(q, s->at_start ? "mu_%d" : "nu_%d", ++number);
        m->variable = optimality_variable(q, name, optimality_text(q, "multiplier of %s", m->of));
        if (m->variable < 0 || !optimality_add(&q->equations, graph_variable(q->g, m->variable, 1),
                                               graph_constant(q->g, 0.0), q->g, NULL))
            s->failed = true;
        for (size_t r = 0; r < s->row_count && !s->failed; r++)
            if (s->rows[r].part >= 0)
                s->rows[r].e = replaced(q->g, s->rows[r].e, FIRST + (int)k,
                                        graph_variable(q->g, m->variable, 0));
    }
}

static dae_status refuse_row(const end_system *s, const end_row *r, dae_diag *diag)
{
    const char *name = s->q->variables[r->variable].name;
    diag_variable(diag, r->variable, name);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Conditions of optimality: the objective or a condition at the %s depends on "
                    "%s at that instant alone, which no integral feels. Write it with states.",
                    s->at_start ? "start" : "end", name);
}

static dae_status add_result(end_system *s, const end_row *r, dae_diag *diag)
{
    optimality *q = s->q;
    double value = 0.0;
    if (graph_is_constant(q->g, r->e, &value))
        return value == 0.0 ? DAE_OK : refuse_row(s, r, diag);
    const char *name =
        optimality_text(q, "%s%s%s is not fixed at the %s", r->order ? "a derivative of " : "",
                        q->variables[r->variable].name, "", s->at_start ? "start" : "end");
    flat_list *list = s->at_start ? &q->initial : &q->terminal;
    bool ok = name && optimality_add(list, r->e, graph_constant(q->g, 0.0), q->g, name);
    return ok ? DAE_OK : no_memory_for_conditions(diag);
}

static dae_status refuse_order(const end_system *s, dae_diag *diag)
{
    const char *name = s->q->variables[s->beyond - 1].name;
    diag_variable(diag, s->beyond - 1, name);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Conditions of optimality: the objective or a condition at the %s contains a "
                    "derivative of %s that the equations do not have.",
                    s->at_start ? "start" : "end", name);
}

static dae_status treat(end_system *s, dae_diag *diag)
{
    const size_t n = (size_t)s->q->own + 1;
    s->given = arena_alloc(s->q->memory, n);
    s->queue = arena_alloc(s->q->memory, n * sizeof *s->queue);
    if (!s->given || !s->queue) return no_memory_for_conditions(diag);
    s->sum = s->at_start ? graph_constant(s->q->g, 0.0) : s->q->at_end;
    scan(s, s->sum);
    add_conditions(s);
    s->conditions = s->multiplier_count;
    add_constraints(s);
    if (s->beyond && !s->failed) return refuse_order(s, diag);
    make_rows(s);
    if (!s->failed) eliminate(s);
    if (!s->failed) find_parts(s);
    dae_status status = s->failed ? no_memory_for_conditions(diag) : settle_parts(s, diag);
    if (status == DAE_OK) declare_multipliers(s);
    if (s->failed) status = no_memory_for_conditions(diag);
    for (size_t r = 0; r < s->row_count && status == DAE_OK; r++)
        if (s->rows[r].part >= 0) status = add_result(s, &s->rows[r], diag);
    return status;
}

dae_status optimality_ends(optimality *q, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int end = 0; end < 2 && status == DAE_OK; end++) {
        end_system s = {.q = q, .at_start = end == 0};
        status = treat(&s, diag);
        dae_free_all(s.multipliers, s.rows);
    }
    return graph_failed(q->g) && status == DAE_OK ? no_memory_for_conditions(diag) : status;
}
