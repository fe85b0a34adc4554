#include "model/model_suspects.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "linalg/singular_values.h"

/* ---- what an equation is written for ---- */

/* Column of a plain variable, -1 if e is none. */
static int plain_column(const flat_model *m, const int *column_of, expr e)
{
    const expr_node *node = e == EXPR_NONE ? NULL : graph_node(m->graph, e);
    return node && node->op == EXPR_VARIABLE && node->order == 0 ? column_of[node->index] : -1;
}

/* The one column whose derivative equation i contains; -1: none, -2: several. */
static int derived_column(const signature *s, int i)
{
    int found = -1;
    for (int k = s->start[i]; k < s->start[i + 1]; k++)
        if (s->order[k] > 0) found = found == -1 ? s->column[k] : -2;
    return found;
}

typedef struct claims {
    int *by;        /* per column: the equation written for it, -1 */
    int *of;        /* per equation: the column, -1 */
    int *column_of; /* per flat variable */
} claims;

static void claims_free(claims *c)
{
    dae_free_all(c->by, c->of, c->column_of);
}

static void claim(claims *c, int i, int column)
{
    if (column < 0 || c->by[column] >= 0 || c->of[i] >= 0) return;
    c->by[column] = i;
    c->of[i] = column;
}

/* Equations with one derivative first, then those with a variable on one side, or with a single
 * unknown. One with both, as i = C*der(v), may be written for either. */
static bool claims_find(claims *c, const flat_model *m, const flat_parts *parts)
{
    const signature *s = &parts->incidence;
    *c = (claims){DAE_ARRAY(int, s->n), DAE_ARRAY(int, s->m), DAE_ARRAY(int, m->variable_count)};
    if (!c->by || !c->of || !c->column_of) return false;
    for (size_t v = 0; v < m->variable_count; v++) c->column_of[v] = -1;
    for (int j = 0; j < s->n; j++) c->by[j] = -1, c->column_of[parts->variable[j]] = j;
    for (int i = 0; i < s->m; i++) c->of[i] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->m; i++) {
            const flat_equation *q = &m->equations[i];
            int left = plain_column(m, c->column_of, q->left);
            int right = plain_column(m, c->column_of, q->right);
            int derived = derived_column(s, i);
            if (pass == 0 && derived >= 0 && left < 0 && right < 0) claim(c, i, derived);
            if (pass == 0 || derived != -1) continue;
            if (s->start[i + 1] - s->start[i] == 1) claim(c, i, s->column[s->start[i]]);
            claim(c, i, left);
            claim(c, i, right);
        }
    return true;
}

/* ---- too many equations ---- */

/* Columns that equations i and k have in common, against all that they have. */
static double likeness(const signature *s, int i, int k)
{
    int common = 0, a = s->start[i], b = s->start[k];
    int all = s->start[i + 1] - a + s->start[k + 1] - b;
    while (a < s->start[i + 1] && b < s->start[k + 1]) {
        common += s->column[a] == s->column[b];
        bool step_a = s->column[a] <= s->column[b], step_b = s->column[b] <= s->column[a];
        a += step_a;
        b += step_b;
    }
    return all > common ? (double)common / (all - common) : 0.0;
}

static void add_partner(collision *c, int i)
{
    for (int k = 0; k < c->partner_count && k < MOST_SUSPECTS; k++)
        if (c->partner[k] == i) return;
    if (c->partner_count < MOST_SUSPECTS) c->partner[c->partner_count] = i;
    c->partner_count++;
}

/* Whether equation i is a declaration `Real x = 1` of a variable that other equations of the part
 * have the derivative of, or such an equation beside one other. */
static bool is_meant_as_start(const flat_model *m, const flat_parts *parts,
                              const singular_part *part, int i)
{
    const flat_equation *q = &m->equations[i];
    const expr_node *left = q->left == EXPR_NONE ? NULL : graph_node(m->graph, q->left);
    bool varies;
    if (!left || left->op != EXPR_VARIABLE || left->order > 0 || q->right == EXPR_NONE)
        return false;
    bool declares = m->variables[left->index].place.line == q->place.line;
    if (!declares && part->rows > 2) return false; /* more likely a boundary value */
    if (!graph_reads(m->graph, &q->right, 1, READS_RUN, &varies) || varies) return false;
    for (int k = 0; k < part->rows; k++) {
        int derived = derived_column(&parts->incidence, part->row[k]);
        if (derived >= 0 && parts->variable[derived] == left->index) return true;
    }
    return false;
}

static void look_for_start(const flat_model *m, const flat_parts *parts, const singular_part *part,
                           collision *c)
{
    for (int k = 0; k < part->rows && !c->start; k++)
        if (is_meant_as_start(m, parts, part, part->row[k])) {
            c->row = part->row[k];
            c->start = true;
        }
}

/* The equation that is written for what equation i is written for, too: v = .. or der(x) = ..; -1
 */
static int rival(const flat_model *m, const flat_parts *parts, const claims *of, int i)
{
    const flat_equation *q = &m->equations[i];
    int column = derived_column(&parts->incidence, i);
    if (column == -1) column = plain_column(m, of->column_of, q->left);
    if (column == -1) column = plain_column(m, of->column_of, q->right);
    return column >= 0 ? of->by[column] : -1;
}

/* The one equation of the part that nothing is left for, against those written for its unknowns:
 * one that is written for the same, one with the same unknowns, or else all of them. */
static void collide_by_claims(const flat_model *m, const flat_parts *parts,
                              const singular_part *part, const claims *of, collision *c)
{
    const signature *s = &parts->incidence;
    int idle = -1, count = 0;
    for (int k = 0; k < part->rows; k++)
        if (of->of[part->row[k]] < 0) idle = part->row[k], count++;
    if (count != 1) return;
    int like = rival(m, parts, of, idle);
    for (int e = s->start[idle]; e < s->start[idle + 1] && like < 0; e++) {
        int other = of->by[s->column[e]];
        if (other >= 0 && likeness(s, idle, other) == 1.0) like = other;
    }
    c->same = like >= 0 && likeness(s, idle, like) == 1.0;
    if (like >= 0) add_partner(c, like);
    for (int e = s->start[idle]; e < s->start[idle + 1] && like < 0; e++)
        if (of->by[s->column[e]] >= 0) add_partner(c, of->by[s->column[e]]);
    if (c->partner_count > 0) c->row = idle;
}

/* Values in general position, those of parameters where they are known. */
typedef struct generic {
    const flat_model *m;
    int depth;
} generic;

static double generic_leaf(void *context, const expr_node *leaf)
{
    generic *at = context;
    double golden = 0.6180339887498949 * (leaf->index + 1 + 7 * leaf->order);
    double number = 0.7 + (golden - floor(golden));
    if (leaf->op == EXPR_TIME) return 0.813;
    if (leaf->op != EXPR_PARAMETER || (size_t)leaf->index >= at->m->parameter_count) return number;
    expr value = at->m->parameters[leaf->index].value;
    if (value == EXPR_NONE || at->depth > 50) return number;
    at->depth++;
    double x = graph_value(at->m->graph, value, generic_leaf, at);
    at->depth--;
    return isfinite(x) ? x : number;
}

enum { LARGEST_PART = 60 };

/* Rows := rows / largest entry, so that units do not matter. */
static void scale_rows(int rows, int columns, double *J)
{
    for (int i = 0; i < rows; i++) {
        double most = 0.0;
        for (int j = 0; j < columns; j++) most = fmax(most, fabs(J[i + j * rows]));
        for (int j = 0; j < columns && most > 0.0; j++) J[i + j * rows] /= most;
    }
}

/* J[i + j rows]: partial derivatives of the part's equations; false: memory, or not of values. */
static bool part_jacobian(const flat_model *m, const flat_parts *parts, const singular_part *part,
                          double *J)
{
    gradient partial = {0};
    generic at = {m, 0};
    bool ok = true;
    for (int i = 0; ok && i < part->rows; i++) {
        ok = derive_gradient(m->graph, m->equations[part->row[i]].residual, &partial);
        for (size_t k = 0; ok && k < partial.count; k++) {
            const expr_node *leaf = graph_node(m->graph, partial.leaf[k]);
            if (leaf->op != EXPR_VARIABLE) continue;
            int j = 0;
            while (j < part->columns && parts->variable[part->column[j]] != leaf->index) j++;
            if (j < part->columns)
                J[i + j * part->rows] =
                    graph_value(m->graph, partial.derivative[k], generic_leaf, &at);
            ok = j < part->columns && isfinite(J[i + j * part->rows]);
        }
    }
    gradient_free(&partial);
    if (ok) scale_rows(part->rows, part->columns, J);
    return ok && !graph_failed(m->graph);
}

static bool has_derivatives(const flat_parts *parts, const singular_part *part)
{
    for (int k = 0; k < part->rows; k++)
        if (derived_column(&parts->incidence, part->row[k]) != -1) return true;
    return false;
}

static const double RANK_OF_PART = 1e-9, IN_NULL_VECTOR = 1e-6;

/* Equations without derivatives that depend on each other by their numbers, some of the part only:
 * the one vector w with w' J = 0 tells which. */
static void collide_by_numbers(const flat_model *m, const flat_parts *parts,
                               const singular_part *part, collision *c)
{
    int rows = part->rows, involved = 0;
    if (rows > LARGEST_PART || rows != part->columns + 1 || has_derivatives(parts, part)) return;
    double *J = DAE_ARRAY(double, (size_t)rows *(size_t)part->columns);
    rank_split split = {0};
    bool ok = J && part_jacobian(m, parts, part, J) &&
              rank_split_new(&split, rows, part->columns, J, RANK_OF_PART, 0.0, NULL);
    if (ok && split.rank == part->columns) {
        const double *w = rank_left_null(&split);
        for (int i = 0; i < rows; i++) involved += fabs(w[i]) > IN_NULL_VECTOR;
        for (int i = 0, last = -1; involved > 1 && involved < rows && i < rows; i++) {
            if (fabs(w[i]) <= IN_NULL_VECTOR) continue;
            if (last >= 0) add_partner(c, part->row[last]);
            last = i;
            c->row = part->row[i];
            c->dependent = true;
        }
    }
    rank_split_free(&split);
    dae_free(J);
}

/* ---- the same equation twice ---- */

/* An equation by its sides, whichever is the left one. */
typedef struct written {
    expr least, most;
    int row;
} written;

static written as_written(const graph *g, int row, expr residual)
{
    const expr_node *n = graph_node(g, residual);
    if (n->op != EXPR_SUB) return (written){residual, residual, row};
    return n->a < n->b ? (written){n->a, n->b, row} : (written){n->b, n->a, row};
}

static int by_sides(const void *a, const void *b)
{
    const written *x = a, *y = b;
    if (x->least != y->least) return x->least < y->least ? -1 : 1;
    if (x->most != y->most) return x->most < y->most ? -1 : 1;
    return x->row - y->row;
}

/* The last equation of the part that repeats another one, and that one. False: memory */
static bool look_for_repetition(const flat_model *m, const singular_part *part, collision *c)
{
    written *list = DAE_ARRAY(written, part->rows);
    if (!list) return false;
    for (int k = 0; k < part->rows; k++)
        list[k] = as_written(m->graph, part->row[k], m->equations[part->row[k]].residual);
    qsort(list, (size_t)part->rows, sizeof *list, by_sides);
    for (int k = 1; k < part->rows; k++) {
        bool same = list[k].least == list[k - 1].least && list[k].most == list[k - 1].most;
        if (!same || (c->repeats && list[k].row < c->row)) continue;
        c->repeats = true;
        c->row = list[k].row;
        c->partner[0] = list[k - 1].row;
        c->partner_count = 1;
    }
    dae_free(list);
    return true;
}

bool flat_collision(const flat_model *m, const flat_parts *parts, const singular_part *part,
                    collision *c)
{
    claims of = {0};
    *c = (collision){.row = part->row[part->rows - 1]};
    if (!look_for_repetition(m, part, c)) return false;
    if (!c->repeats) look_for_start(m, parts, part, c);
    if (part->rows < 3 || c->start || c->repeats) return true;
    bool ok = claims_find(&of, m, parts);
    if (ok) collide_by_numbers(m, parts, part, c);
    if (ok && c->partner_count == 0) collide_by_claims(m, parts, part, &of, c);
    claims_free(&of);
    return ok;
}

/* ---- too few equations ---- */

int flat_occurrences(const flat_parts *parts, int column, int *only)
{
    const signature *s = &parts->incidence;
    int count = 0;
    for (int i = 0; i < s->m; i++)
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            if (s->column[k] == column) count++, *only = i;
    return count;
}

bool flat_lacking(const flat_model *m, const flat_parts *parts, const singular_part *part,
                  int suspects[MOST_SUSPECTS], int *count)
{
    claims of = {0};
    const signature *s = &parts->incidence;
    int *uses = DAE_ARRAY(int, s->n), least = s->m + 1, tied = 0;
    bool ok = uses && claims_find(&of, m, parts);
    *count = 0;
    for (int k = 0; ok && k < s->start[s->m]; k++) uses[s->column[k]]++;
    for (int j = 0; ok && j < part->columns; j++) {
        int column = part->column[j];
        if (of.by[column] >= 0) continue; /* an equation is written for it */
        if (uses[column] < least) least = uses[column], tied = 0;
        if (uses[column] > least) continue;
        if (tied < MOST_SUSPECTS) suspects[tied] = column;
        tied++;
    }
    if (tied <= MOST_SUSPECTS && tied < part->columns) *count = tied;
    claims_free(&of);
    dae_free(uses);
    return ok;
}

/* ---- parameters that nothing uses ---- */

typedef struct use_scan {
    const graph *g;
    bool *used, ok;
    size_t count;
} use_scan;

static void note_used(void *context, const expr_node *node)
{
    use_scan *u = context;
    if (node->op == EXPR_PARAMETER && (size_t)node->index < u->count) u->used[node->index] = true;
}

static void use(use_scan *u, expr e)
{
    u->ok = u->ok && graph_leaves(u->g, &e, 1, note_used, u);
}

static void use_actions(use_scan *u, const flat_action *a, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        use(u, a[k].value);
        use(u, a[k].guard);
        for (size_t h = 0; h < a[k].hole_count; h++) use(u, a[k].holes[h].value);
    }
}

static void use_declarations(use_scan *u, const flat_model *m)
{
    for (size_t p = 0; p < m->parameter_count; p++) {
        const flat_parameter *q = &m->parameters[p];
        const expr all[] = {q->value, q->min, q->max};
        for (int k = 0; k < 3; k++) use(u, all[k]);
    }
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        const expr all[] = {q->start, q->nominal, q->min, q->max};
        for (int k = 0; k < 4; k++) use(u, all[k]);
    }
}

static void use_events(use_scan *u, const flat_model *m)
{
    for (size_t k = 0; k < m->relation_count; k++) use(u, m->relations[k].crossing);
    for (size_t k = 0; k < m->discrete_count; k++) use(u, m->discretes[k].value);
    for (size_t k = 0; k < m->sample_count; k++) {
        use(u, m->samples[k].start);
        use(u, m->samples[k].interval);
    }
    for (size_t k = 0; k < m->delay_count; k++) use(u, m->delays[k].most);
    use_actions(u, m->asserts, m->assert_count);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            use(u, m->whens[w].branches[b].condition);
            use_actions(u, m->whens[w].branches[b].actions, m->whens[w].branches[b].action_count);
        }
}

int flat_unused_parameters(const flat_model *m, int *list, int most)
{
    use_scan u = {m->graph, DAE_ARRAY(bool, m->parameter_count), true, m->parameter_count};
    int count = 0;
    if (!u.used) return -1;
    use_declarations(&u, m);
    use_events(&u, m);
    for (size_t k = 0; k < m->equation_count; k++) use(&u, m->equations[k].residual);
    for (size_t k = 0; k < m->initial_count; k++) use(&u, m->initial_equations[k].residual);
    for (size_t k = 0; k < m->terminal_count; k++) use(&u, m->terminal_equations[k].residual);
    for (size_t p = 0; u.ok && p < m->parameter_count; p++) {
        const flat_parameter *q = &m->parameters[p];
        bool number = q->type == FLAT_REAL || q->type == FLAT_INTEGER;
        if (u.used[p] || q->constant || q->structural || !number || q->name[0] == '$') continue;
        if (count < most) list[count] = (int)p;
        count++;
    }
    dae_free(u.used);
    return u.ok ? count : -1;
}
