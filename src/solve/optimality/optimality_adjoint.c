/* Adjoint equations of a model as it is written, of any order and index. With
 *
 *     Lambda = L(t, x, x', .., u) - sum_i lambda_i F_i(t, x, x', .., u),
 *
 * the integral of Lambda is stationary if A_j0 - d/dt P_j0 = 0 for every x_j and every control,
 * where A_jm is the partial derivative of Lambda by x_j^(m) and P_j,m-1 = A_jm - d/dt P_jm. What is
 * left of the integration by parts, sum P_jm dx_j^(m), stands at the ends (optimality_ends.c). For
 * x' = f(x, u) that is lambda' = -f_x' lambda - L_x and 0 = f_u' lambda + L_u [HW96]. */
#include <string.h>

#include "base/text.h"
#include "expr/derive.h"
#include "solve/optimality/optimality_parts.h"

/* ---- what matters ---- */

static void mark_leaf(void *context, const expr_node *leaf)
{
    optimality *q = context;
    if (leaf->op == EXPR_VARIABLE) q->matters[leaf->index] = true;
}

static bool mark(optimality *q, expr e)
{
    return e == EXPR_NONE || graph_leaves(q->g, &e, 1, mark_leaf, q);
}

static bool mark_first(optimality *q)
{
    bool ok = mark(q, q->integrand) && mark(q, q->at_end);
    for (size_t k = 0; ok && k < q->terminal.count; k++)
        ok = mark(q, q->terminal.items[k].residual);
    return ok;
}

static void see_marked(void *context, const expr_node *leaf)
{
    optimality *const *q = context;
    if (leaf->op != EXPR_VARIABLE || leaf->index >= (*q)->own) return;
    (*q)->seen = (*q)->seen || (*q)->matters[leaf->index];
}

bool optimality_concerns(optimality *q, expr e, bool *failed)
{
    q->seen = false;
    if (!graph_leaves(q->g, &e, 1, see_marked, &q)) *failed = true;
    return q->seen;
}

/* Mark what conditions at the start contain that concern what matters; *more: there was one that
 * is not taken yet. */
static bool mark_initial(optimality *q, bool *taken, bool *more)
{
    bool failed = false;
    for (size_t k = 0; k < q->initial.count && !failed; k++) {
        const expr e = q->initial.items[k].residual;
        if (taken[k] || !optimality_concerns(q, e, &failed)) continue;
        taken[k] = *more = true;
        failed = failed || !mark(q, e);
    }
    return !failed;
}

/* Equations of what matters matter, and so does all that they contain. match: per row. */
static bool mark_rows(optimality *q, const int *match, bool *taken)
{
    bool *initial = arena_alloc(q->memory, q->initial.count + 1);
    bool ok = initial != NULL;
    for (bool more = true; more && ok;) {
        more = false;
        ok = mark_initial(q, initial, &more);
        for (int i = 0; i < q->rows && ok; i++) {
            if (taken[i] || !q->matters[match[i]]) continue;
            taken[i] = more = true;
            ok = mark(q, q->equations.items[i].residual);
        }
    }
    return ok;
}

/* Rows that are taken (NULL: all), and x = 0 for controls and other variables whose row is not:
 * `match` tells whose. */
static bool fill_set(const optimality *q, const bool *taken, const int *match, equation_set *set)
{
    if (!equation_set_new(set, q->g, q->own, q->own)) return false;
    int at = 0;
    for (int i = 0; i < q->rows; i++) {
        bool kept = !taken || taken[i];
        set->row[at].source = i;
        set->row[at++].residual =
            kept ? q->equations.items[i].residual : graph_variable(q->g, match[i], 0);
    }
    for (int j = 0; j < q->own; j++) {
        set->model[j] = j;
        set->name[j] = q->variables[j].name;
        if (!q->control[j]) continue;
        set->row[at].source = -1;
        set->row[at++].residual = graph_variable(q->g, j, 0);
    }
    return at == q->own && !graph_failed(q->g);
}

static dae_status analyse(optimality *q, const bool *taken, const int *match, structure *s,
                          dae_diag *diag)
{
    equation_set set = {0};
    bool ok = fill_set(q, taken, match, &set) && structure_analyse(s, &set);
    equation_set_free(&set);
    if (!ok) return no_memory_for_conditions(diag);
    if (!s->singular) return DAE_OK;
    return diag_set(diag, DAE_ERR_MODEL,
                    "Conditions of optimality: the equations do not determine the variables for "
                    "given controls.");
}

static dae_status check_controls(const optimality *q, dae_diag *diag)
{
    for (int j = 0; j < q->own; j++) {
        if (!q->control[j] || q->matters[j]) continue;
        diag_variable(diag, j, q->variables[j].name);
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Conditions of optimality: neither the objective nor a condition depends "
                        "on control %s.",
                        q->variables[j].name);
    }
    return DAE_OK;
}

dae_status optimality_structure(optimality *q, dae_diag *diag)
{
    const size_t n = (size_t)q->own;
    structure whole = {0};
    bool *taken = arena_alloc(q->memory, n + 1);
    q->matters = arena_alloc(q->memory, n + 1);
    q->row_of = arena_alloc(q->memory, (n + 1) * sizeof *q->row_of);
    q->adjoint = arena_alloc(q->memory, (n + 1) * sizeof *q->adjoint);
    if (!taken || !q->matters || !q->row_of || !q->adjoint) return no_memory_for_conditions(diag);
    dae_status status = analyse(q, NULL, NULL, &whole, diag);
    if (status == DAE_OK && (!mark_first(q) || !mark_rows(q, whole.match, taken)))
        status = no_memory_for_conditions(diag);
    if (status == DAE_OK) status = check_controls(q, diag);
    if (status == DAE_OK) status = analyse(q, taken, whole.match, &q->analysed, diag);
    structure_free(&whole);
    if (status != DAE_OK) return status;
    for (int j = 0; j < q->own; j++) q->row_of[j] = -1;
    for (int i = 0; i < q->rows; i++) {
        q->adjoint[i] = -1;
        if (taken[i]) q->row_of[q->analysed.match[i]] = i;
    }
    return DAE_OK;
}

/* ---- adjoints ---- */

/* The variable whose derivative stands alone on a side of a row; -1: none. */
static int derived(const optimality *q, int i)
{
    const flat_equation *e = &q->equations.items[i];
    const expr sides[2] = {e->left, e->right};
    for (int k = 0; k < 2; k++) {
        const expr_node *n = sides[k] != EXPR_NONE ? graph_node(q->g, sides[k]) : NULL;
        if (n && n->op == EXPR_VARIABLE && n->order > 0) return n->index;
    }
    return -1;
}

/* Each row is named after a variable of its own: that whose derivative stands alone on a side, else
 * the one that it is matched to, else one that is left. */
static bool name_rows(optimality *q)
{
    bool *used = arena_alloc(q->memory, (size_t)q->own + 1);
    q->namesake = arena_alloc(q->memory, ((size_t)q->rows + 1) * sizeof *q->namesake);
    if (!used || !q->namesake) return false;
    for (int i = 0; i < q->rows; i++) q->namesake[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < q->own; j++) {
            const int i = q->row_of[j];
            const int v = i < 0 || q->namesake[i] >= 0 ? -1 : pass ? j : derived(q, i);
            if (v < 0 || used[v]) continue;
            used[v] = true;
            q->namesake[i] = v;
        }
    for (int j = 0, v = 0; j < q->own; j++) {
        const int i = q->row_of[j];
        if (i < 0 || q->namesake[i] >= 0) continue;
        while (v < q->own - 1 && (used[v] || q->row_of[v] < 0)) v++;
        used[v] = true;
        q->namesake[i] = v;
    }
    return true;
}

/* lambda_x, 'lambda_a.x[1]' where x has more than letters and digits. */
static int new_adjoint(optimality *q, int i)
{
    const char *of = q->variables[q->namesake[i]].name;
    size_t length = strlen(of), bare = of[0] == '\'' && length > 2;
    const char *name = bare ? optimality_text(q, "'lambda_%.*s'", (int)length - 2, of + 1)
                            : optimality_text(q, "lambda_%s", of);
    int line = q->equations.items[i].place.line;
    return optimality_variable(q, name,
                               line ? optimality_text(q, "adjoint of the equation in line %d", line)
                                    : optimality_text(q, "adjoint of the equation of %s", of));
}

/* -1 where the highest derivative of the variable that a row is named after has a negative factor,
 * so that adjoints do not depend on which side it was written. */
static double orientation(const optimality *q, int i)
{
    const int j = q->namesake[i];
    const signature *s = &q->analysed.sigma;
    double factor;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        if (s->column[k] != j) continue;
        expr by = derive_partial(q->g, q->equations.items[i].residual,
                                 graph_variable(q->g, j, s->order[k]));
        if (by != EXPR_NONE && graph_is_constant(q->g, by, &factor) && factor < 0.0) return -1.0;
    }
    return 1.0;
}

/* Lambda */
static bool build_lagrangian(optimality *q)
{
    expr sum = q->integrand;
    if (!name_rows(q)) return false;
    for (int j = 0; j < q->own; j++) {
        const int i = q->row_of[j];
        if (i < 0) continue;
        q->adjoint[i] = new_adjoint(q, i);
        if (q->adjoint[i] < 0) return false;
        expr part = graph_binary(q->g, EXPR_MUL, graph_variable(q->g, q->adjoint[i], 0),
                                 q->equations.items[i].residual);
        sum = graph_binary(q->g, orientation(q, i) < 0.0 ? EXPR_ADD : EXPR_SUB, sum, part);
    }
    q->lagrangian = sum;
    return sum != EXPR_NONE && !graph_failed(q->g);
}

/* A, from one sweep back through Lambda. */
static bool differentiate(optimality *q)
{
    gradient by = {0};
    bool ok = derive_gradient(q->g, q->lagrangian, &by);
    q->orders = 0;
    for (size_t k = 0; ok && k < by.count; k++) {
        const expr_node *n = graph_node(q->g, by.leaf[k]);
        if (n->index < q->own && n->order > q->orders) q->orders = n->order;
    }
    const size_t count = at_leaf(q, q->own, 0) + 1;
    q->partial = arena_alloc(q->memory, count * sizeof *q->partial);
    q->momentum = arena_alloc(q->memory, count * sizeof *q->momentum);
    ok = ok && q->partial && q->momentum;
    for (size_t k = 0; ok && k < count; k++)
        q->partial[k] = q->momentum[k] = graph_constant(q->g, 0.0);
    for (size_t k = 0; ok && k < by.count; k++) {
        const expr_node *n = graph_node(q->g, by.leaf[k]);
        if (n->index < q->own) q->partial[at_leaf(q, n->index, n->order)] = by.derivative[k];
    }
    gradient_free(&by);
    return ok;
}

/* P, from the highest order down. */
static void integrate_by_parts(optimality *q)
{
    for (int j = 0; j < q->own; j++)
        for (int m = q->orders; m >= 1; m--)
            q->momentum[at_leaf(q, j, m - 1)] =
                graph_binary(q->g, EXPR_SUB, q->partial[at_leaf(q, j, m)],
                             derive_time(q->g, q->momentum[at_leaf(q, j, m)]));
}

/* -d/dt P_j0 = -A_j0 */
static bool add_equation(optimality *q, int j)
{
    const char *of = q->variables[j].name;
    const char *name = q->control[j] ? optimality_text(q, "stationary in %s", of)
                                     : optimality_text(q, "adjoint equation of %s", of);
    expr rate = derive_time(q->g, q->momentum[at_leaf(q, j, 0)]);
    expr value = q->partial[at_leaf(q, j, 0)];
    if (!name || rate == EXPR_NONE || value == EXPR_NONE) return false;
    if (graph_is_number(q->g, rate, 0.0))
        return optimality_add(&q->equations, value, graph_constant(q->g, 0.0), q->g, name);
    return optimality_add(&q->equations, graph_unary(q->g, EXPR_NEG, rate),
                          graph_unary(q->g, EXPR_NEG, value), q->g, name);
}

dae_status optimality_adjoints(optimality *q, dae_diag *diag)
{
    if (!build_lagrangian(q) || !differentiate(q)) return no_memory_for_conditions(diag);
    integrate_by_parts(q);
    for (int j = 0; j < q->own; j++)
        if ((q->row_of[j] >= 0 || q->control[j]) && !add_equation(q, j))
            return no_memory_for_conditions(diag);
    return graph_failed(q->g) ? no_memory_for_conditions(diag) : DAE_OK;
}

/* ---- the objective and the Hamiltonian ---- */

/* H = Lambda - sum P_jm x_j^(m+1), in which the equations are 0: L + lambda f for x' = f. */
static expr hamiltonian(optimality *q)
{
    expr sum = q->integrand;
    for (int j = 0; j < q->own; j++)
        for (int m = 0; m < q->orders; m++) {
            expr part = graph_binary(q->g, EXPR_MUL, q->momentum[at_leaf(q, j, m)],
                                     graph_variable(q->g, j, m + 1));
            sum = graph_binary(q->g, EXPR_SUB, sum, part);
        }
    return sum;
}

static bool add_state(optimality *q, const char *name, const char *comment, int *v)
{
    *v = optimality_variable(q, name, comment);
    if (*v < 0) return false;
    q->variables[*v].has_start = q->variables[*v].fixed = true;
    q->variables[*v].start = graph_constant(q->g, 0.0);
    return optimality_add(&q->equations, graph_variable(q->g, *v, 1), q->integrand, q->g, NULL);
}

static bool add_value(optimality *q, const char *name, const char *comment, expr value)
{
    int v = optimality_variable(q, name, comment);
    return v >= 0 && optimality_add(&q->equations, graph_variable(q->g, v, 0), value, q->g, NULL);
}

dae_status optimality_outputs(optimality *q, dae_diag *diag)
{
    const bool integral = !graph_is_number(q->g, q->integrand, 0.0);
    const bool at_end = !graph_is_number(q->g, q->at_end, 0.0);
    int v = -1;
    bool ok = true;
    if (integral)
        ok =
            add_state(q, at_end ? "integral" : "objective",
                      at_end ? "of what is integrated" : "the objective as far as it has come", &v);
    if (ok && at_end)
        ok =
            add_value(q, "objective", "the objective if this were the end",
                      integral ? graph_binary(q->g, EXPR_ADD, graph_variable(q->g, v, 0), q->at_end)
                               : q->at_end);
    if (ok) ok = add_value(q, "hamiltonian", "constant if time does not appear", hamiltonian(q));
    return ok && !graph_failed(q->g) ? DAE_OK : no_memory_for_conditions(diag);
}
