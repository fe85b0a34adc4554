/* As many conditions at the ends as the conditions of optimality have degrees of freedom. Where a
 * control enters linearly these are of higher index, and their hidden constraints say some of what
 * stands at the ends already [HW96, exercise 8 of VII.1]: such rows are dropped. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "expr/derive.h"
#include "solve/optimality/optimality_parts.h"

/* ---- the structure of what was made ---- */

static bool analyse(const optimality *q, structure *s)
{
    const int n = (int)q->variable_count;
    equation_set set = {0};
    bool ok = equation_set_new(&set, q->g, n, (int)q->equations.count);
    for (int i = 0; ok && i < set.m; i++) set.row[i].residual = q->equations.items[i].residual;
    for (int j = 0; ok && j < n; j++) set.name[j] = q->variables[j].name;
    ok = ok && structure_analyse(s, &set);
    equation_set_free(&set);
    return ok;
}

/* Controls in the parts that are not determined, and what they are stationary in. */
static dae_status refuse_singular(const optimality *q, const structure *s, dae_diag *diag)
{
    diag_set(diag, DAE_ERR_UNSUPPORTED, "Conditions of optimality: they do not determine ");
    text_list list = text_list_in(diag, 6);
    for (int k = 0; k < s->parts.count; k++)
        for (int i = 0; i < s->parts.part[k].columns && !s->parts.part[k].over; i++) {
            const int j = s->parts.part[k].column[i];
            if (j < q->own && q->control[j]) text_list_add(&list, "%s", q->variables[j].name);
        }
    if (list.count == 0) text_list_add(&list, "all variables");
    text_list_end(&list);
    diag_append(diag, ": a control that enters linearly, and that nothing in the objective or in "
                      "further derivatives bounds. Add a cost of the control, or its bounds.");
    return DAE_ERR_UNSUPPORTED;
}

/* ---- numbers ---- */

/* A point at which derivatives are taken: all leaves have values of their own. */
static double leaf_number(void *context, const expr_node *leaf)
{
    const optimality *q = context;
    if (leaf->op == EXPR_PARAMETER) return q->form->parameters[leaf->index];
    uint64_t seed =
        88172645463325252u + 1000003u * (uint64_t)leaf->op + 7919u * (uint64_t)leaf->order;
    if (leaf->op == EXPR_VARIABLE) seed += 104729u * (uint64_t)(leaf->index + 1);
    seed *= 0x9E3779B97F4A7C15u; /* neighbours go far apart */
    seed ^= seed >> 31;
    return 0.5 + (double)(seed >> 11) / 9007199254740992.0;
}

/* Rows of the gradients, made orthonormal one by one. */
typedef struct span {
    const optimality *q;
    int columns; /* variables times orders, and the constant */
    int orders;
    size_t count, room;
    double *row; /* count rows; owned */
    double *next;
    bool failed;
} span;

/* The gradient of e at the point, and e minus its linear part: what a linear row consists of. */
static void fill_next(span *s, expr e)
{
    const optimality *q = s->q;
    gradient by = {0};
    memset(s->next, 0, (size_t)s->columns * sizeof *s->next);
    if (!derive_gradient(q->g, e, &by)) s->failed = true;
    double constant = graph_value(q->g, e, leaf_number, (void *)q);
    for (size_t k = 0; k < by.count && !s->failed; k++) {
        const expr_node *n = graph_node(q->g, by.leaf[k]);
        double slope = graph_value(q->g, by.derivative[k], leaf_number, (void *)q);
        constant -= slope * leaf_number((void *)q, n);
        if (n->order < s->orders) s->next[n->index * s->orders + n->order] = slope;
    }
    s->next[s->columns - 1] = constant;
    gradient_free(&by);
}

static double dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Add the row of e unless it depends on those before; whether it is new. What has no value at the
 * point counts as new, and tells nothing of others. */
static bool span_add(span *s, expr e)
{
    const double RANK = 1e-9;
    const int n = s->columns;
    fill_next(s, e);
    const double size = sqrt(dot(s->next, s->next, n));
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < s->count; i++) {
            const double *row = s->row + i * (size_t)n, c = dot(row, s->next, n);
            for (int k = 0; k < n; k++) s->next[k] -= c * row[k];
        }
    const double rest = sqrt(dot(s->next, s->next, n));
    if (!s->failed && !isfinite(rest)) return true;
    if (s->failed || rest <= RANK * size) return false;
    if (!dae_grow(&s->row, &s->room, (s->count + 1) * (size_t)n, sizeof *s->row)) {
        s->failed = true;
        return false;
    }
    double *row = s->row + s->count++ * (size_t)n;
    for (int k = 0; k < n; k++) row[k] = s->next[k] / rest;
    return true;
}

/* Hidden and other constraints of the equations. */
static void span_constraints(span *s, const structure *a)
{
    const optimality *q = s->q;
    for (size_t i = 0; i < q->equations.count && !s->failed; i++) {
        expr e = q->equations.items[i].residual;
        for (int k = 0; k < a->c[i] && !s->failed; k++) {
            span_add(s, e);
            e = derive_time(q->g, e);
            if (e == EXPR_NONE) s->failed = true;
        }
    }
}

/* ---- rows that say nothing new ---- */

/* Drop from `list`, from number `first` on, what follows from constraints and from the conditions
 * before, as long as there are too many. */
static bool drop(optimality *q, const structure *a, flat_list *list, size_t first, bool at_start,
                 int *surplus)
{
    int highest = 1;
    for (size_t j = 0; j < q->variable_count; j++)
        if (a->d[j] > highest) highest = a->d[j];
    span s = {.q = q, .orders = highest + 1};
    s.columns = (int)q->variable_count * s.orders + 1;
    s.next = DAE_ARRAY(double, s.columns);
    s.failed = !s.next || !graph_has_memory(q->g);
    if (!s.failed) span_constraints(&s, a);
    for (size_t v = 0; v < q->variable_count && at_start && !s.failed; v++)
        if (q->variables[v].fixed) span_add(&s, optimality_fixed(q, (int)v));
    size_t kept = 0;
    for (size_t k = 0; k < list->count && !s.failed; k++) {
        bool fresh = span_add(&s, list->items[k].residual);
        if (!fresh && k >= first && *surplus > 0)
            --*surplus;
        else
            list->items[kept++] = list->items[k];
    }
    if (!s.failed) list->count = kept;
    dae_free_all(s.row, s.next);
    return !s.failed;
}

/* Controls that the derivative of the Hamiltonian by them does not contain. */
static void list_linear(const optimality *q, dae_diag *diag)
{
    text_list list = text_list_in(diag, 6);
    for (int j = 0; j < q->own; j++) {
        if (!q->control[j]) continue;
        expr by = derive_partial(q->g, q->partial[at_leaf(q, j, 0)], graph_variable(q->g, j, 0));
        if (by != EXPR_NONE && graph_is_number(q->g, by, 0.0))
            text_list_add(&list, "%s", q->variables[j].name);
    }
    text_list_end(&list);
}

static bool has_linear(const optimality *q)
{
    for (int j = 0; j < q->own; j++) {
        if (!q->control[j]) continue;
        expr by = derive_partial(q->g, q->partial[at_leaf(q, j, 0)], graph_variable(q->g, j, 0));
        if (by != EXPR_NONE && graph_is_number(q->g, by, 0.0)) return true;
    }
    return false;
}

static dae_status refuse_count(const optimality *q, int have, int want, dae_diag *diag)
{
    if (!has_linear(q)) return DAE_OK; /* dae_bvp_new() counts with numbers, and tells */
    diag_set(diag, DAE_ERR_UNSUPPORTED,
             "Conditions of optimality: %d conditions at both ends for %d degrees of freedom. The "
             "solution is singular: it enters linearly, control ",
             have, want);
    list_linear(q, diag);
    diag_append(diag, ". Such a solution cannot begin or end at every state: the control would "
                      "jump without bound. Leave start values free, or conditions at the end, or "
                      "add a cost of the control.");
    return DAE_ERR_UNSUPPORTED;
}

static int count_conditions(const optimality *q)
{
    int count = (int)(q->initial.count + q->terminal.count);
    for (size_t v = 0; v < q->variable_count; v++) count += q->variables[v].fixed;
    return count;
}

dae_status optimality_count(optimality *q, size_t initial, size_t terminal, dae_diag *diag)
{
    structure s = {0};
    if (!analyse(q, &s)) return no_memory_for_conditions(diag);
    dae_status status = s.singular ? refuse_singular(q, &s, diag) : DAE_OK;
    int surplus = status == DAE_OK ? count_conditions(q) - s.freedom : 0;
    bool ok = surplus <= 0 || (drop(q, &s, &q->terminal, terminal, false, &surplus) &&
                               drop(q, &s, &q->initial, initial, true, &surplus));
    if (!ok) status = no_memory_for_conditions(diag);
    if (status == DAE_OK && surplus != 0)
        status = refuse_count(q, count_conditions(q), s.freedom, diag);
    structure_free(&s);
    return status;
}
