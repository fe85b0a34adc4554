/* The expression substitution method: new variables for combinations of leading derivatives that
 * occur only together [TNP17 5], here within one diagonal block. */
#include "structure/rewrite/regularise_parts.h"

#include "base/memory.h"
#include "expr/derive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One substitution: y_j = x_j^(d_j - c) - (v_j/v_l) x_l^(d_l - c) for the columns j of v but l. */
typedef struct substitution {
    rewriting *r;
    int b;
    const null_vector *v;
    int l;       /* position of the column that stays */
    int c;       /* largest offset of the rows concerned */
    int first;   /* number of the first new variable */
    expr *ratio; /* v_j/v_l by position; owned */
    expr *value; /* y_j + ratio x_l^(d_l - c): what x_j^(d_j - c) becomes; owned */
    int offset;  /* c_i of the row being rewritten */
    bool memory;
} substitution;

static void substitution_free(substitution *s)
{
    dae_free_all(s->ratio, s->value);
}

/* Whether row i has a leading derivative of a column of v. */
static bool concerns(const rewriting *r, const null_vector *v, int i)
{
    for (int k = r->s->sigma.start[i]; k < r->s->sigma.start[i + 1]; k++) {
        int j = r->s->sigma.column[k];
        if (r->s->sigma.order[k] != r->s->d[j] - r->s->c[i]) continue;
        for (int m = 0; m < v->count; m++)
            if (v->index[m] == j) return true;
    }
    return false;
}

/* max c_i over the block's rows that are concerned */
static int largest_offset(const rewriting *r, int b, const null_vector *v)
{
    int largest = 0;
    const block_form *f = &r->s->blocks;
    for (int k = f->start[b]; k < f->start[b + 1]; k++)
        if (concerns(r, v, f->rows[k]) && r->s->c[f->rows[k]] > largest)
            largest = r->s->c[f->rows[k]];
    return largest;
}

/* ---- conditions -------------------------------------------------------------------------------
 */

typedef struct order_check {
    const rewriting *r;
    const null_vector *v;
    int c;
    bool kept;
} order_check;

/* Order of x_j in v: below d_j - c for columns of v, at most that for others. */
static void check_order(void *context, const expr_node *n)
{
    order_check *o = context;
    if (n->op != EXPR_VARIABLE) return;
    int most = o->r->s->d[n->index] - o->c;
    for (int m = 0; m < o->v->count; m++)
        if (o->v->index[m] == n->index) {
            most--;
            break;
        }
    if (n->order > most) o->kept = false;
}

static bool conditions_hold(const rewriting *r, const null_vector *v, int c, bool *kept)
{
    order_check check = {.r = r, .v = v, .c = c, .kept = v->count > 1};
    for (int m = 0; m < v->count; m++)
        if (r->s->d[v->index[m]] < c) check.kept = false;
    bool ok = graph_leaves(r->set->graph, v->entry, (size_t)v->count, check_order, &check);
    *kept = check.kept;
    return ok;
}

/* The column that stays: one with a constant factor, else one whose factor keeps its sign. */
static int column_to_keep(rewriting *r, const null_vector *v)
{
    int best = -1;
    for (int m = 0; m < v->count; m++) {
        bool keeps;
        if (graph_is_constant(r->set->graph, v->entry[m], NULL)) return m;
        if (!keeps_sign(r, v->entry[m], &keeps)) return -2;
        if (keeps && best < 0) best = m;
    }
    return best;
}

/* ---- new equations ----------------------------------------------------------------------------
 */

/* The new variable of position m. */
static int variable_of(const substitution *s, int m)
{
    return s->first + (m < s->l ? m : m - 1);
}

/* v_m/v_l and y_m + (v_m/v_l) x_l^(d_l - c) */
static bool prepare_values(substitution *s)
{
    graph *g = s->r->set->graph;
    const null_vector *v = s->v;
    s->ratio = DAE_ARRAY(expr, v->count);
    s->value = DAE_ARRAY(expr, v->count);
    if (!s->ratio || !s->value) return false;
    const int l = v->index[s->l];
    expr kept = graph_variable(g, l, s->r->s->d[l] - s->c);
    for (int m = 0; m < v->count; m++) {
        s->ratio[m] = collect(g, graph_binary(g, EXPR_DIV, v->entry[m], v->entry[s->l]));
        expr product = graph_binary(g, EXPR_MUL, s->ratio[m], kept);
        s->value[m] = graph_binary(g, EXPR_ADD, graph_variable(g, variable_of(s, m), 0), product);
    }
    return !graph_failed(g);
}

/* x_j^(d_j - c_i) by the (c - c_i)-th derivative of what x_j^(d_j - c) became */
static expr replace_leading(void *context, graph *g, expr leaf)
{
    substitution *s = context;
    const expr_node *n = graph_node(g, leaf);
    if (n->op != EXPR_VARIABLE) return leaf;
    for (int m = 0; m < s->v->count; m++) {
        if (m == s->l || s->v->index[m] != n->index) continue;
        if (n->order != s->r->s->d[n->index] - s->offset) return leaf;
        expr value = s->value[m];
        for (int k = s->offset; value && k < s->c; k++) value = derive_time(g, value);
        if (!value) s->memory = true;
        return value;
    }
    return leaf;
}

/* Whether e has x_l^(order) for an order of at least `from`; a flag for graph_leaves. */
typedef struct presence {
    int l, from;
    bool found;
} presence;

static void look_for(void *context, const expr_node *n)
{
    presence *p = context;
    if (n->op == EXPR_VARIABLE && n->index == p->l && n->order >= p->from) p->found = true;
}

/* Row i after the substitution: x_l^(d_l - c_i) must be gone. 1, 0: it is not, -1: memory */
static int substitute_row(substitution *s, int i, expr *e)
{
    rewriting *r = s->r;
    graph *g = r->set->graph;
    const int l = s->v->index[s->l];
    s->offset = r->s->c[i];
    *e = collect(g, graph_substitute(g, r->set->row[i].residual, replace_leading, s));
    if (*e && !s->memory) *e = remove_idle_leaves(r, *e, NULL, 0);
    presence p = {.l = l, .from = r->s->d[l] - s->offset};
    if (!*e || s->memory || !graph_leaves(g, e, 1, look_for, &p)) return -1;
    return !p.found;
}

/* All rows of the block into `rows` (EXPR_NONE: stays); 1, 0: does not work out, -1: memory */
static int substitute_rows(substitution *s, expr *rows)
{
    const block_form *f = &s->r->s->blocks;
    int state = 1;
    for (int k = f->start[s->b]; state == 1 && k < f->start[s->b + 1]; k++)
        if (concerns(s->r, s->v, f->rows[k]))
            state = substitute_row(s, f->rows[k], &rows[k - f->start[s->b]]);
    return state;
}

/* ---- a larger set -----------------------------------------------------------------------------
 */

static void *grown(const void *old, size_t size, int count, int more)
{
    char *larger = dae_calloc((size_t)(count + more), size);
    if (larger && count) memcpy(larger, old, (size_t)count * size);
    return larger;
}

/* Room for `more` variables and equations; false: memory, and nothing changed. */
static bool set_grow(equation_set *set, int more)
{
    equation_row *row = grown(set->row, sizeof *row, set->m, more);
    int *model = grown(set->model, sizeof *model, set->n, more);
    const char **name = grown(set->name, sizeof *name, set->n, more);
    double *nominal = grown(set->nominal, sizeof *nominal, set->n, more);
    bool ok = row && model && name && nominal;
    dae_free_all(ok ? (void *)set->row : row, ok ? (void *)set->model : model,
                 ok ? (void *)set->name : name, ok ? (void *)set->nominal : nominal);
    if (!ok) return false;
    set->row = row;
    set->model = model;
    set->name = name;
    set->nominal = nominal;
    return true;
}

/* A text that lives as long as the list of steps; NULL: memory */
static const char *keep_name(rewrite_list *list, const char *text)
{
    char **names = grown(list->names, sizeof *names, list->name_count, 1);
    char *copy = dae_strdup(text);
    if (!names || !copy) {
        dae_free_all(names, copy);
        return NULL;
    }
    dae_free(list->names);
    list->names = names;
    return list->names[list->name_count++] = copy;
}

/* Whether a variable of the set is called that. */
static bool name_is_taken(const equation_set *set, const char *name)
{
    for (int j = 0; j < set->n; j++)
        if (set->name[j] && strcmp(set->name[j], name) == 0) return true;
    return false;
}

/* y1, y2, .. with as many underscores as it takes */
static const char *new_name(rewriting *r, int number)
{
    char name[64] = "y";
    for (int k = 0; k < 8; k++) {
        char full[80];
        snprintf(full, sizeof full, "%s%d", name, number);
        if (!name_is_taken(r->set, full)) return keep_name(r->steps, full);
        text_add(name, sizeof name, "_");
    }
    return keep_name(r->steps, name);
}

/* Variable y_m and its equation -y_m + x_m^(d_m - c) - ratio x_l^(d_l - c) = 0. */
static bool add_definition(substitution *s, int m, char *text, size_t size)
{
    rewriting *r = s->r;
    equation_set *set = r->set;
    graph *g = set->graph;
    char name[128];
    const int j = s->v->index[m], y = set->n;
    expr x = graph_variable(g, j, r->s->d[j] - s->c);
    const char *called = new_name(r, r->steps->name_count / 2 + 1);
    snprintf(name, sizeof name, "definition of %s", called ? called : "");
    const char *equation = called ? keep_name(r->steps, name) : NULL;
    if (!equation) return false;
    set->name[y] = called;
    set->model[y] = -1;
    set->nominal[y] = set->nominal[j];
    set->row[set->m] = (equation_row){
        .residual = graph_binary(g, EXPR_SUB, x, s->value[m]), .source = -1, .name = equation};
    set->n++;
    text_add(text, size, "%s%s stands for ", text[0] ? ", " : "", called);
    const int l = s->v->index[s->l];
    expr kept = graph_variable(g, l, r->s->d[l] - s->c);
    text_add_expr(set, text, size,
                  graph_binary(g, EXPR_SUB, x, graph_binary(g, EXPR_MUL, s->ratio[m], kept)));
    set->m++;
    return !graph_failed(g);
}

/* Put rows and definitions in place and tell it. */
static bool put_substitution(substitution *s, const expr *rows)
{
    rewriting *r = s->r;
    const block_form *f = &r->s->blocks;
    char text[2000] = "";
    int replaced = -1;
    if (!graph_is_constant(r->set->graph, s->v->entry[s->l], NULL)) r->steps->everywhere = false;
    if (!set_grow(r->set, s->v->count - 1)) return false;
    for (int m = 0; m < s->v->count; m++)
        if (m != s->l && !add_definition(s, m, text, sizeof text)) return false;
    for (int k = f->start[s->b]; k < f->start[s->b + 1]; k++) {
        expr e = rows[k - f->start[s->b]];
        if (!e) continue;
        const int i = f->rows[k];
        if (replaced < 0) replaced = i;
        text_add(text, sizeof text, "; ");
        text_add_row(r->set, text, sizeof text, i);
        text_add_equation(r, text, sizeof text, e);
        r->set->row[i].residual = e;
    }
    text_add_proviso(r, text, sizeof text);
    return note_step(r, REWRITE_SUBSTITUTION, replaced, text);
}

/* New variables need values before they exist in the set: nominal sizes of their columns. */
static int run_substitution(substitution *s)
{
    rewriting *r = s->r;
    const block_form *f = &r->s->blocks;
    expr *rows = DAE_ARRAY(expr, f->start[s->b + 1] - f->start[s->b]);
    int state = rows && prepare_values(s) ? substitute_rows(s, rows) : -1;
    if (state == 1 && !put_substitution(s, rows)) state = -1;
    dae_free(rows);
    return state;
}

/* 1: rewritten, 0: the conditions do not hold, -1: memory */
static int try_substitution(rewriting *r, int b, const null_vector *v)
{
    bool kept;
    substitution s = {.r = r, .b = b, .v = v, .first = r->set->n, .c = largest_offset(r, b, v)};
    if (!conditions_hold(r, v, s.c, &kept)) return -1;
    if (!kept) return 0;
    s.l = column_to_keep(r, v);
    if (s.l < 0) return s.l == -2 ? -1 : 0;
    int state = run_substitution(&s);
    substitution_free(&s);
    return state;
}

int rewrite_substitution(rewriting *r, int b)
{
    null_vectors v;
    int done = 0;
    if (!null_vectors_new(&v, r, b, false)) return -1;
    for (int k = 0; k < v.count && done == 0; k++) done = try_substitution(r, b, &v.vector[k]);
    null_vectors_free(&v);
    return done;
}
