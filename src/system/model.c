#include "system/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"
#include "structure/matching.h"
#include "system/kept_forms.h"
#include "system/model_build.h"
#include "system/model_structure.h"
#include "system/model_watch.h"

model_program *model_program_at(model_form *f, int k)
{
    model_program *all[PROGRAMS] = {&f->residual,  &f->jacobian, &f->crossing,
                                    &f->condition, &f->output,   &f->assertion};
    return k < PROGRAMS ? all[k] : &f->more[k - PROGRAMS];
}

int model_program_count(const model_form *f)
{
    return PROGRAMS + f->more_count;
}

/* ---------------------------------------------------------------------------------------------
 * Aliases: x = y, x = -y and x = value over parameters leave the system
 * ------------------------------------------------------------------------------------------- */

/* The variable that stands for v; v = *sign times it. Once all aliases are settled. */
static int alias_root(const model_form *f, int v, int *sign)
{
    *sign = f->alias[v].top_sign;
    return f->alias[v].top;
}

/* The same while aliases are being found: follow the way to its end, and shorten it, so that long
 * chains of x = y take hardly more than linear time. */
static int settle_root(model_form *f, int v, int *sign)
{
    int top = v, product = 1;
    while (f->alias[top].top != top) {
        product *= f->alias[top].top_sign;
        top = f->alias[top].top;
    }
    *sign = product;
    while (v != top) {
        model_alias *a = &f->alias[v];
        int next = a->top, rest = product * a->top_sign;
        a->top = top;
        a->top_sign = product;
        v = next;
        product = rest;
    }
    return top;
}

/* A continuous variable of order 0; -1 if e is something else. */
static int plain_variable(const model_form *f, expr e)
{
    const expr_node *node = graph_node(f->flat->graph, e);
    if (node->op != EXPR_VARIABLE || node->order != 0) return -1;
    const flat_variable *v = &f->flat->variables[node->index];
    return v->discrete || v->input ? -1 : node->index;
}

static void note_variable_leaf(void *context, expr leaf)
{
    struct {
        const graph *g;
        bool found;
    } *seen = context;
    expr_op op = (expr_op)graph_node(seen->g, leaf)->op;
    if (op == EXPR_VARIABLE || op == EXPR_TIME || op == EXPR_MEMORY) seen->found = true;
}

/* Whether e depends on parameters and constants alone. */
static bool is_fixed_value(model_form *f, expr e)
{
    struct {
        const graph *g;
        bool found;
    } seen = {f->flat->graph, false};
    bool ok = graph_leaves(f->flat->graph, &e, 1, note_variable_leaf, &seen);
    if (!ok) f->failed = true;
    return ok && !seen.found;
}

/* How much a variable is wanted as the one that stays. */
static int preference(const flat_variable *v)
{
    return 8 * (int)v->state_select + 4 * v->fixed + 2 * v->has_start + v->output;
}

/* Join x = sign * y; false if they are joined already. */
static bool join(model_form *f, int x, int y, int sign, int equation)
{
    int sx, sy;
    int rx = settle_root(f, x, &sx), ry = settle_root(f, y, &sy);
    if (rx == ry) return false;
    if (f->alias[rx].value != EXPR_NONE && f->alias[ry].value != EXPR_NONE) return false;
    bool keep_x = f->alias[rx].value != EXPR_NONE ||
                  (f->alias[ry].value == EXPR_NONE &&
                   preference(&f->flat->variables[rx]) > preference(&f->flat->variables[ry]));
    int kept = keep_x ? rx : ry, gone = keep_x ? ry : rx;
    f->alias[gone].root = f->alias[gone].top = kept;
    f->alias[gone].sign = f->alias[gone].top_sign = sx * sign * sy;
    f->alias[gone].equation = equation;
    return true;
}

/* x = value */
static bool fix(model_form *f, int x, expr value, int equation)
{
    int sign;
    int root = settle_root(f, x, &sign);
    if (f->alias[root].value != EXPR_NONE) return false;
    f->alias[root].value = sign > 0 ? value : graph_unary(f->flat->graph, EXPR_NEG, value);
    f->alias[root].equation = equation;
    return true;
}

/* Whether equation number `at` is an alias; it is then eliminated. */
static bool eliminate(model_form *f, int at)
{
    graph *g = f->flat->graph;
    const flat_equation *q = &f->flat->equations[at];
    const expr_node *node = graph_node(g, q->residual);
    int alone = plain_variable(f, q->residual);
    if (alone >= 0) return fix(f, alone, graph_constant(g, 0.0), at);
    if (node->op != EXPR_SUB && node->op != EXPR_ADD) return false;
    bool sum = node->op == EXPR_ADD;
    expr a = node->a, b = node->b;
    int x = plain_variable(f, a), y = plain_variable(f, b);
    if (x >= 0 && y >= 0) return join(f, x, y, sum ? -1 : 1, at);
    if (x >= 0 && is_fixed_value(f, b)) return fix(f, x, sum ? graph_unary(g, EXPR_NEG, b) : b, at);
    if (y >= 0 && is_fixed_value(f, a)) return fix(f, y, sum ? graph_unary(g, EXPR_NEG, a) : a, at);
    return false;
}

/* ---------------------------------------------------------------------------------------------
 * First order: der(der(x)) makes der(x) an unknown of its own
 * ------------------------------------------------------------------------------------------- */

typedef struct order_scan {
    const model_form *f;
    int *order; /* per flat variable: the highest derivative of its root */
} order_scan;

static void note_order(void *context, expr leaf)
{
    order_scan *scan = context;
    const expr_node *node = graph_node(scan->f->flat->graph, leaf);
    if (node->op != EXPR_VARIABLE) return;
    int sign, root = alias_root(scan->f, node->index, &sign);
    if (scan->f->alias[root].value != EXPR_NONE) return;
    if (node->order > scan->order[root]) scan->order[root] = node->order;
}

static int unknown_count(int order)
{
    return order > 1 ? order : 1;
}

/* Number the unknowns: variable by variable, lower derivatives first. */
static bool number_unknowns(model_form *f, const int *order)
{
    const flat_model *m = f->flat;
    f->n = 0;
    for (size_t v = 0; v < m->variable_count; v++) {
        bool lives = !m->variables[v].discrete && f->alias[v].root == (int)v &&
                     f->alias[v].value == EXPR_NONE;
        f->first_unknown[v] = lives ? f->n : -1;
        if (lives) f->n += unknown_count(order[v]);
    }
    f->resting = f->n == 0; /* events need something to integrate */
    if (f->resting) f->n = 1;
    f->unknown_variable = DAE_ARRAY(int, f->n);
    f->unknown_order = DAE_ARRAY(int, f->n);
    f->differential = DAE_ARRAY(bool, f->n);
    if (!f->unknown_variable || !f->unknown_order || !f->differential) return false;
    if (f->resting) f->unknown_variable[0] = -1;
    for (size_t v = 0; v < m->variable_count; v++)
        for (int j = 0; f->first_unknown[v] >= 0 && j < unknown_count(order[v]); j++) {
            f->unknown_variable[f->first_unknown[v] + j] = (int)v;
            f->unknown_order[f->first_unknown[v] + j] = j;
        }
    return true;
}

typedef struct leaf_map {
    const model_form *f;
    const int *order;
} leaf_map;

/* A leaf of the flat model in terms of unknowns: VARIABLE(i, 0) = y_i, VARIABLE(i, 1) = y'_i. */
static expr map_leaf(void *context, graph *g, expr leaf)
{
    const leaf_map *map = context;
    const model_form *f = map->f;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    int sign, root = alias_root(f, node.index, &sign);
    expr e;
    if (f->alias[root].value != EXPR_NONE) {
        e = node.order == 0 ? f->alias[root].value : graph_constant(g, 0.0);
    } else {
        int last = unknown_count(map->order[root]) - 1, first = f->first_unknown[root];
        e = node.order <= last ? graph_variable(g, first + node.order, 0)
                               : graph_variable(g, first + last, node.order - last);
    }
    return sign > 0 ? e : graph_unary(g, EXPR_NEG, e);
}

/* ---------------------------------------------------------------------------------------------
 * Equations, derivatives and programs
 * ------------------------------------------------------------------------------------------- */

void build_free(build *b)
{
    dae_free(b->order);
    dae_free(b->gone);
    dae_free(b->residuals);
    dae_free(b->source);
    dae_free(b->entries);
    dae_free(b->row);
    dae_free(b->column);
    dae_free(b->is_slope);
}

static dae_status out_of_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while preparing the model.");
}

/* Decide aliases, orders and unknowns. */
static bool reduce(build *b)
{
    model_form *f = b->f;
    flat_model *m = f->flat;
    size_t nv = m->variable_count;
    f->alias = DAE_ARRAY(model_alias, nv);
    f->first_unknown = DAE_ARRAY(int, nv);
    b->order = DAE_ARRAY(int, nv);
    b->gone = DAE_ARRAY(bool, m->equation_count);
    if (!f->alias || !f->first_unknown || !b->order || !b->gone) return false;
    for (size_t v = 0; v < nv; v++)
        f->alias[v] = (model_alias){(int)v, 1, EXPR_NONE, -1, (int)v, 1};
    for (size_t i = 0; i < m->equation_count; i++) {
        b->gone[i] = eliminate(f, (int)i);
        f->eliminated += b->gone[i];
    }
    for (int v = 0, sign; v < (int)nv; v++) settle_root(f, v, &sign);
    order_scan scan = {f, b->order};
    bool ok = true;
    for (size_t i = 0; i < m->equation_count && ok; i++)
        if (!b->gone[i])
            ok = graph_leaves(m->graph, &m->equations[i].residual, 1, note_order, &scan);
    for (size_t i = 0; i < f->condition_count && ok; i++)
        ok = graph_leaves(m->graph, &m->initial_equations[i].residual, 1, note_order, &scan);
    for (size_t i = 0; i < m->relation_count && ok; i++)
        ok = graph_leaves(m->graph, &m->relations[i].crossing, 1, note_order, &scan);
    for (size_t i = 0; i < m->assert_count && ok; i++)
        ok = graph_leaves(m->graph, &m->asserts[i].value, 1, note_order, &scan);
    return ok && !f->failed && number_unknowns(f, b->order);
}

static expr mapped(build *b, expr e)
{
    leaf_map map = {b->f, b->order};
    return graph_substitute(b->f->flat->graph, e, map_leaf, &map);
}

/* residuals = the equations that stay, then der(x_j) - x_{j+1} = 0. The count may differ from n. */
static bool collect_equations(build *b)
{
    model_form *f = b->f;
    flat_model *m = f->flat;
    size_t most = m->equation_count + (size_t)f->n + 1;
    b->residuals = DAE_ARRAY(expr, most);
    b->source = DAE_ARRAY(int, most);
    f->equation_names = DAE_ARRAY(char *, most);
    f->equation_room = f->equation_names ? most : 0;
    f->equation_lines = DAE_ARRAY(int, most);
    f->equation_source = DAE_ARRAY(int, most);
    if (!b->residuals || !b->source || !f->equation_names || !f->equation_lines ||
        !f->equation_source)
        return false;
    for (size_t i = 0; i < most; i++) f->equation_source[i] = -1;
    size_t count = 0;
    for (size_t i = 0; i < m->equation_count; i++) {
        if (b->gone[i]) continue;
        b->source[count] = f->equation_source[count] = (int)i;
        f->equation_lines[count] = m->equations[i].place.line;
        f->equation_names[count] = flat_equation_name(m, &m->equations[i]);
        if (!f->equation_names[count]) return false;
        b->residuals[count++] = mapped(b, m->equations[i].residual);
    }
    for (int i = 0; i + 1 < f->n; i++) {
        if (f->unknown_order[i + 1] == 0) continue;
        char name[256];
        snprintf(name, sizeof name, "definition of der(%.200s)",
                 m->variables[f->unknown_variable[i]].name);
        f->equation_names[count] = dae_strdup(name);
        if (!f->equation_names[count]) return false;
        b->source[count] = -1;
        f->equation_lines[count] = m->variables[f->unknown_variable[i]].place.line;
        b->residuals[count++] = graph_binary(m->graph, EXPR_SUB, graph_variable(m->graph, i, 1),
                                             graph_variable(m->graph, i + 1, 0));
    }
    if (f->resting) {
        f->equation_names[count] = dae_strdup("nothing moves");
        if (!f->equation_names[count]) return false;
        b->source[count] = -1;
        b->residuals[count++] = graph_variable(m->graph, 0, 1);
    }
    b->equations = count;
    f->rows = f->n;
    return !graph_failed(m->graph);
}

enum { MOST_ENTRIES = 100000000 }; /* of the Jacobian: a dense one of 10^4 equations */

static bool entry_room(build *b, size_t more)
{
    if (b->entry_count + more <= b->entry_capacity) return true;
    b->dense = b->entry_count + more > MOST_ENTRIES;
    if (b->dense) return false;
    size_t capacity = 2 * b->entry_capacity + more + 64;
    expr *entries = DAE_ARRAY(expr, capacity);
    int *rows[3] = {DAE_ARRAY(int, capacity), DAE_ARRAY(int, capacity), DAE_ARRAY(int, capacity)};
    bool ok = entries && rows[0] && rows[1] && rows[2];
    if (ok && b->entry_count > 0) {
        memcpy(entries, b->entries, b->entry_count * sizeof *entries);
        memcpy(rows[0], b->row, b->entry_count * sizeof(int));
        memcpy(rows[1], b->column, b->entry_count * sizeof(int));
        memcpy(rows[2], b->is_slope, b->entry_count * sizeof(int));
    }
    dae_free(ok ? (void *)b->entries : (void *)entries);
    dae_free(ok ? b->row : rows[0]);
    dae_free(ok ? b->column : rows[1]);
    dae_free(ok ? b->is_slope : rows[2]);
    if (!ok) return false;
    b->entries = entries;
    b->row = rows[0];
    b->column = rows[1];
    b->is_slope = rows[2];
    b->entry_capacity = capacity;
    return true;
}

/* All partial derivatives of one equation. */
static bool add_gradient(build *b, derive_scratch *scratch, gradient *partial, int row)
{
    graph *g = b->f->flat->graph;
    if (!derive_gradient(g, scratch, b->residuals[row], partial)) return false;
    if (!entry_room(b, partial->count)) return false;
    for (size_t k = 0; k < partial->count; k++) {
        const expr_node *leaf = graph_node(g, partial->leaf[k]);
        size_t at = b->entry_count++;
        b->entries[at] = partial->derivative[k];
        b->row[at] = row;
        b->column[at] = leaf->index;
        b->is_slope[at] = leaf->order;
        if (leaf->order > 0) b->f->differential[leaf->index] = true;
    }
    return true;
}

/* Gradients of the equations from number `first` on. */
bool build_differentiate(build *b, size_t first)
{
    derive_scratch *scratch = derive_scratch_new();
    gradient partial = {0};
    bool ok = scratch != NULL;
    for (size_t i = first; i < b->equations && ok; i++)
        ok = add_gradient(b, scratch, &partial, (int)i);
    gradient_free(&partial);
    derive_scratch_free(scratch);
    return ok;
}

/* One CSC pattern for both matrices: entries come row by row, so each column's rows ascend. The
 * scatter map tells where each Jacobian output goes. */
bool build_pattern(build *b)
{
    model_form *f = b->f;
    int n = f->n;
    f->jacobian_outputs = b->entry_count;
    f->colptr = DAE_ARRAY(int, n + 1);
    f->rowind = DAE_ARRAY(int, b->entry_count);
    f->scatter = DAE_ARRAY(int, b->entry_count);
    int *last = DAE_ARRAY(int, n), *fill = DAE_ARRAY(int, n);
    bool ok = f->colptr && f->rowind && f->scatter && last && fill;
    if (ok) {
        for (int j = 0; j < n; j++) last[j] = -1;
        for (size_t k = 0; k < b->entry_count; k++) {
            int j = b->column[k];
            if (last[j] != b->row[k]) f->colptr[j + 1]++;
            last[j] = b->row[k];
        }
        for (int j = 0; j < n; j++) f->colptr[j + 1] += f->colptr[j];
        for (int j = 0; j < n; j++) {
            last[j] = -1;
            fill[j] = f->colptr[j];
        }
        for (size_t k = 0; k < b->entry_count; k++) {
            int j = b->column[k];
            if (last[j] != b->row[k]) f->rowind[fill[j]++] = b->row[k];
            last[j] = b->row[k];
            f->scatter[k] = b->is_slope[k] ? -fill[j] : fill[j] - 1;
        }
    }
    dae_free(last);
    dae_free(fill);
    return ok;
}

bool build_program(model_form *f, model_program *p, const expr *e, size_t count)
{
    p->outputs = count;
    p->e = dae_copy(e, count, sizeof *e);
    return p->e && code_new(&p->code, f->flat->graph, e, count);
}

/* Compile a list taken from structures `stride` bytes apart, each expression mapped to unknowns. */
static bool program_from_list(build *b, model_program *p, const void *list, size_t count,
                              size_t stride, size_t offset)
{
    expr *e = DAE_ARRAY(expr, count);
    if (!e) return false;
    for (size_t i = 0; i < count; i++) {
        expr source;
        memcpy(&source, (const char *)list + i * stride + offset, sizeof source);
        e[i] = mapped(b, source);
    }
    bool ok = build_program(b->f, p, e, count);
    dae_free(e);
    return ok;
}

/* Variables of the model; those of the translator ($floor1, $when2) are nobody's business. */
static bool list_visible(model_form *f)
{
    const flat_model *m = f->flat;
    f->visible = DAE_ARRAY(int, m->variable_count);
    if (!f->visible) return false;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].name[0] != '$') f->visible[f->visible_count++] = (int)v;
    return true;
}

/* Every visible variable in terms of unknowns, memory and parameters. */
static bool output_program(build *b)
{
    model_form *f = b->f;
    flat_model *m = f->flat;
    expr *e = DAE_ARRAY(expr, m->variable_count);
    bool ok = e && list_visible(f);
    for (int k = 0; ok && k < f->visible_count; k++) {
        int v = f->visible[k];
        e[k] = m->variables[v].discrete ? graph_memory(m->graph, m->variables[v].memory)
                                        : mapped(b, graph_variable(m->graph, v, 0));
    }
    ok = ok && build_program(f, &f->output, e, (size_t)f->visible_count);
    dae_free(e);
    return ok;
}

static void note_rounded(void *context, expr leaf)
{
    struct {
        const model_form *f;
        bool found;
    } *scan = context;
    const expr_node *node = graph_node(scan->f->flat->graph, leaf);
    if (node->op == EXPR_VARIABLE && (node->order > 0 || !scan->f->differential[node->index]))
        scan->found = true;
}

/* rounded[r]: relation r depends on what Newton's iteration computes, algebraic variables or
 * derivatives, and not on states and time alone. */
bool build_rounded(model_form *f)
{
    size_t count = f->flat->relation_count;
    f->rounded = DAE_ARRAY(bool, count);
    if (!f->rounded) return false;
    for (size_t r = 0; r < count; r++) {
        struct {
            const model_form *f;
            bool found;
        } scan = {f, false};
        if (!graph_leaves(f->flat->graph, &f->crossing.e[r], 1, note_rounded, &scan)) return false;
        f->rounded[r] = scan.found;
    }
    return true;
}

/* Crossing functions of the relations, then of what assertions watch. */
static bool crossing_program(build *b)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    expr *watches = NULL;
    bool ok = model_watches(m->graph, f->assertion.e, m->assert_count, &watches, &f->watch_count);
    expr *e = ok ? DAE_ARRAY(expr, m->relation_count + f->watch_count) : NULL;
    if (e) {
        for (size_t r = 0; r < m->relation_count; r++) e[r] = mapped(b, m->relations[r].crossing);
        for (size_t k = 0; k < f->watch_count; k++) e[m->relation_count + k] = watches[k];
    }
    ok = e && build_program(f, &f->crossing, e, m->relation_count + f->watch_count);
    dae_free(watches);
    dae_free(e);
    return ok;
}

static bool make_programs(build *b)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    return build_program(f, &f->residual, b->residuals, b->equations) &&
           build_program(f, &f->jacobian, b->entries, b->entry_count) &&
           program_from_list(b, &f->condition, m->initial_equations, f->condition_count,
                             sizeof(flat_equation), offsetof(flat_equation, residual)) &&
           output_program(b) &&
           program_from_list(b, &f->assertion, m->asserts, m->assert_count, sizeof(flat_action),
                             offsetof(flat_action, value)) &&
           crossing_program(b) && build_rounded(f) && !graph_failed(m->graph);
}

/* Names of unknowns: x, der(x), der(der(x)), .. */
static bool name_unknowns(model_form *f)
{
    f->unknown_names = DAE_ARRAY(char *, f->n);
    if (!f->unknown_names) return false;
    for (int i = 0; i < f->n; i++) {
        const char *name =
            f->resting ? "(nothing)" : f->flat->variables[f->unknown_variable[i]].name;
        int order = f->unknown_order[i];
        size_t size = strlen(name) + 5 * (size_t)order + 1;
        char *text = dae_calloc(size, 1);
        if (!text) return false;
        char *at = text;
        for (int k = 0; k < order; k++) at += sprintf(at, "der(");
        at += sprintf(at, "%s", name);
        for (int k = 0; k < order; k++) at += sprintf(at, ")");
        f->unknown_names[i] = text;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Structure: every equation has an unknown of its own
 * ------------------------------------------------------------------------------------------- */

/* start of each row in the entries of a build, which come row by row */
static size_t *row_starts(const build *b, size_t rows)
{
    size_t *start = DAE_ARRAY(size_t, rows + 1);
    if (!start) return NULL;
    for (size_t k = 0; k < b->entry_count; k++) start[b->row[k] + 1]++;
    for (size_t r = 0; r < rows; r++) start[r + 1] += start[r];
    return start;
}

/* The equations on the way from v to the variable that stands for it: used[e] is flipped, since
 * what two ways have in common says nothing of their difference. */
static void flip_aliases(const model_form *f, int v, bool *used)
{
    while (f->alias[v].equation >= 0) {
        used[f->alias[v].equation] = !used[f->alias[v].equation];
        if (f->alias[v].root == v) break;
        v = f->alias[v].root;
    }
}

static void note_alias_leaf(void *context, expr leaf)
{
    struct {
        const model_form *f;
        bool *used;
    } *scan = context;
    const expr_node *node = graph_node(scan->f->flat->graph, leaf);
    if (node->op == EXPR_VARIABLE) flip_aliases(scan->f, node->index, scan->used);
}

/* An equation that is left without unknowns, or a part of those with too few of them, because of
 * equations that eliminated aliases: all of them are named. */
static dae_status reject_aliases(const build *b, const singular_part *part, dae_diag *diag)
{
    const model_form *f = b->f;
    const flat_model *m = f->flat;
    bool *used = DAE_ARRAY(bool, m->equation_count), ok = used;
    struct {
        const model_form *f;
        bool *used;
    } scan = {f, used};
    int last = part->row[part->rows - 1], listed = 0;
    for (int k = 0; ok && k < part->rows; k++) {
        int at = b->source[part->row[k]];
        if (at >= 0)
            ok = graph_leaves(m->graph, &m->equations[at].residual, 1, note_alias_leaf, &scan);
    }
    for (int k = 0; ok && k < part->rows; k++)
        if (b->source[part->row[k]] >= 0) used[b->source[part->row[k]]] = true;
    if (ok) {
        diag_equation(diag, last, f->equation_names[last]);
        if (diag) diag->line = f->equation_lines[last];
        diag_set(diag, DAE_ERR_MODEL,
                 "Model %s is structurally singular: equations repeat or contradict each other, "
                 "so that other unknowns are left open:",
                 m->name);
    }
    for (size_t i = 0; ok && i < m->equation_count && listed < 8; i++) {
        if (!used[i]) continue;
        char *name = flat_equation_name(m, &m->equations[i]);
        diag_append(diag, "%s %s", listed++ ? "," : "", name ? name : "?");
        dae_free(name);
    }
    if (ok) diag_append(diag, "%s.", listed == 8 ? ", .." : "");
    dae_free(used);
    return ok ? DAE_ERR_MODEL : out_of_memory(diag);
}

/* The pattern of the equations that stay, as a signature without orders. */
static bool pattern_signature(const build *b, const size_t *start, signature *s)
{
    *s = (signature){.m = (int)b->equations, .n = b->f->n};
    s->start = DAE_ARRAY(int, b->equations + 1);
    s->column = DAE_ARRAY(int, b->entry_count);
    s->order = DAE_ARRAY(int, b->entry_count);
    if (!s->start || !s->column || !s->order) return false;
    for (size_t r = 0; r <= b->equations; r++) s->start[r] = (int)start[r];
    for (size_t k = 0; k < b->entry_count; k++) s->column[k] = b->column[k];
    return true;
}

/* Why there is no matching: by the equations as they were written if these tell, else with those
 * that eliminated aliases. */
static dae_status explain_structure(const build *b, const size_t *start, dae_diag *diag)
{
    const model_form *f = b->f;
    dae_status status = flat_structure_check(f->flat, NULL, diag);
    if (status != DAE_OK) return status;
    signature s;
    singular_report report = {0};
    if (!pattern_signature(b, start, &s) || !signature_explain(&s, &report))
        status = out_of_memory(diag);
    for (int k = 0; k < report.count && status == DAE_OK; k++)
        if (report.part[k].over) status = reject_aliases(b, &report.part[k], diag);
    if (status == DAE_OK)
        status = diag_set(diag, DAE_ERR_MODEL,
                          "Model %s has %zu equations for %d unknowns after %d alias equations "
                          "were eliminated.",
                          f->flat->name, b->equations, f->n, f->eliminated);
    singular_report_free(&report);
    signature_free(&s);
    return status;
}

/* As many equations as unknowns, and a perfect matching between them. */
static dae_status check_structure(const build *b, dae_diag *diag)
{
    const model_form *f = b->f;
    int rows = (int)b->equations;
    size_t *start = row_starts(b, b->equations);
    matching m = {0};
    bool found = rows == f->n;
    dae_status status = DAE_OK;
    if (!start || !matching_new(&m, start, b->column, rows, f->n)) status = out_of_memory(diag);
    for (int r = 0; r < rows && found && status == DAE_OK; r++) found = matching_add(&m, r);
    if (status == DAE_OK && !found) status = explain_structure(b, start, diag);
    matching_free(&m);
    dae_free(start);
    return status;
}

/* Whether every equation has a derivative or an algebraic variable of its own to determine, which
 * is index 1 as far as structure tells; if not, which equation has none, and which variable is left
 * over. Higher indices are no error: they are for messages. */
static bool find_index(build *b)
{
    model_form *f = b->f;
    size_t *start = DAE_ARRAY(size_t, b->equations + 1), kept = 0;
    int *column = DAE_ARRAY(int, b->entry_count);
    matching m = {0};
    bool ok = start && column;
    f->unmet = f->undetermined = -1;
    for (size_t k = 0; ok && k < b->entry_count; k++) {
        if (!b->is_slope[k] && f->differential[b->column[k]]) continue;
        column[kept++] = b->column[k];
        start[b->row[k] + 1]++;
    }
    for (size_t r = 0; ok && r < b->equations; r++) start[r + 1] += start[r];
    ok = ok && matching_new(&m, start, column, (int)b->equations, f->n);
    for (int r = 0; ok && r < (int)b->equations; r++)
        if (!matching_add(&m, r) && f->unmet < 0) f->unmet = r;
    for (int j = 0; ok && f->unmet >= 0 && j < f->n; j++)
        if (m.row_of[j] < 0 && !f->differential[j]) f->undetermined = j;
    matching_free(&m);
    dae_free(start);
    dae_free(column);
    return ok;
}

/* ---------------------------------------------------------------------------------------------
 * The initial system
 * ------------------------------------------------------------------------------------------- */

/* The discrete variable whose current or previous value e is; -1. */
static int discrete_leaf(const flat_model *m, expr e)
{
    const expr_node *node = e == EXPR_NONE ? NULL : graph_node(m->graph, e);
    if (!node || node->op != EXPR_MEMORY) return -1;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete &&
            (m->variables[v].memory == node->index || m->variables[v].memory_pre == node->index))
            return (int)v;
    return -1;
}

/* Take the initial equations of discrete variables, v = value or pre(v) = value, out of the list of
 * those for the continuous ones, which come first afterwards. */
static bool split_initials(model_form *f)
{
    flat_model *m = f->flat;
    f->settings = DAE_ARRAY(model_setting, m->initial_count);
    if (!f->settings) return false;
    for (size_t i = 0; i < m->initial_count; i++) {
        flat_equation q = m->initial_equations[i];
        int left = discrete_leaf(m, q.left), right = discrete_leaf(m, q.right);
        if (left < 0 && right < 0) {
            m->initial_equations[i] = m->initial_equations[f->condition_count];
            m->initial_equations[f->condition_count++] = q;
        } else if (left != right) { /* else pre(v) = v, which holds anyway */
            f->settings[f->settings_count++] =
                left >= 0 ? (model_setting){left, q.right} : (model_setting){right, q.left};
        }
    }
    return true;
}

/* fixed[i] for all unknowns at once. */
static void mark_fixed(const model_form *f, bool *fixed)
{
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[alias_root(f, (int)v, &sign)];
        if (first >= 0 && q->fixed) fixed[first] = true;
    }
}

/* given[i]: some variable that stands for unknown i has a start value */
static void mark_given(const model_form *f, bool *given)
{
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[alias_root(f, (int)v, &sign)];
        if (first >= 0 && q->has_start) given[first] = true;
    }
}

typedef struct slope_map {
    int n;
    const int *place; /* per unknown: index of its slope in the initial system */
} slope_map;

/* y'_i becomes an unknown of its own. */
static expr map_slope(void *context, graph *g, expr leaf)
{
    const slope_map *map = context;
    const expr_node *node = graph_node(g, leaf);
    if (node->op != EXPR_VARIABLE || node->order == 0) return leaf;
    return graph_variable(g, map->place[node->index], 0);
}

static void note_unknown(void *context, expr leaf)
{
    struct {
        const graph *g;
        bool *seen;
    } *scan = context;
    const expr_node *node = graph_node(scan->g, leaf);
    if (node->op == EXPR_VARIABLE) scan->seen[node->index] = true;
}

/* Unknowns that only rest, der(p) = 0: parameters with fixed = false among them. */
static void mark_resting(const model_form *f, bool *resting)
{
    for (size_t r = 0; r < f->residual.outputs; r++) {
        const expr_node *node = graph_node(f->flat->graph, f->residual.e[r]);
        if (node->op == EXPR_VARIABLE && node->order == 1) resting[node->index] = true;
    }
}

enum { RANK_FIXED = 6 };

/* How willingly the start value of a state is kept: fixed ones first, then states that no initial
 * equation mentions, then others that have a start value, then those without, then those that rest;
 * 0: not at all. */
static bool rank_starts(const model_form *f, int *rank, bool *any_fixed_algebraic)
{
    int n = f->n;
    bool *fixed = DAE_ARRAY(bool, n), *mentioned = DAE_ARRAY(bool, n), *given = DAE_ARRAY(bool, n);
    bool *resting = DAE_ARRAY(bool, n);
    struct {
        const graph *g;
        bool *seen;
    } scan = {f->flat->graph, mentioned};
    bool ok =
        fixed && mentioned && given && resting &&
        graph_leaves(f->flat->graph, f->condition.e, f->condition.outputs, note_unknown, &scan);
    if (ok) {
        mark_fixed(f, fixed);
        mark_given(f, given);
        mark_resting(f, resting);
    }
    for (int i = 0; ok && i < n; i++) {
        if (fixed[i])
            rank[i] = RANK_FIXED;
        else if (f->differential[i])
            rank[i] = resting[i] ? 1 + given[i] : !mentioned[i] ? 5 : 3 + given[i];
        if (fixed[i] && !f->differential[i]) *any_fixed_algebraic = true;
    }
    dae_free(fixed);
    dae_free(mentioned);
    dae_free(given);
    dae_free(resting);
    return ok;
}

/* Choose what start values to keep beside the equations b has: greedily by rank, each only if the
 * equations leave it free, which is best (what a matching can cover is a matroid, Edmonds and
 * Fulkerson 1965). *square: all equations and fixed values are independent, and there is an unknown
 * for each. */
static bool choose_pinned(const build *b, const int *rank, int n, bool *square)
{
    model_form *initial = b->f;
    int rows = (int)b->equations, all = rows + n;
    size_t entries = b->entry_count;
    size_t *start = row_starts(b, (size_t)all);
    int *column = DAE_ARRAY(int, entries + (size_t)n);
    matching m = {0};
    initial->pinned = DAE_ARRAY(int, n);
    bool ok = start && column && initial->pinned;
    for (size_t k = 0; ok && k < entries; k++) column[k] = b->column[k];
    for (int i = 0; ok && i < n; i++) {
        column[entries + (size_t)i] = i;
        start[rows + i + 1] = entries + (size_t)i + 1;
    }
    ok = ok && matching_new(&m, start, column, all, initial->n);
    *square = ok;
    for (int r = 0; r < rows && *square; r++) *square = matching_add(&m, r);
    for (int level = RANK_FIXED; level > 0 && *square; level--)
        for (int i = 0; i < n && *square; i++) {
            if (rank[i] != level) continue;
            bool free = rows + initial->pinned_count < initial->n && matching_add(&m, rows + i);
            if (free) initial->pinned[initial->pinned_count++] = i;
            if (!free && level == RANK_FIXED) *square = false;
        }
    *square = *square && rows + initial->pinned_count == initial->n;
    matching_free(&m);
    dae_free(start);
    dae_free(column);
    return ok;
}

static bool name_equation(model_form *initial, size_t at, char *name, int line)
{
    initial->equation_names[at] = name;
    initial->equation_lines[at] = line;
    return name;
}

/* F and the initial equations over y and y' as unknowns. */
static bool collect_conditions(build *b, const model_form *f, const int *place)
{
    model_form *initial = b->f;
    graph *g = f->flat->graph;
    slope_map map = {f->n, place};
    size_t total = (size_t)initial->n + f->condition_count, count = 0;
    b->residuals = DAE_ARRAY(expr, total);
    initial->equation_names = DAE_ARRAY(char *, total);
    initial->equation_room = initial->equation_names ? total : 0;
    initial->equation_lines = DAE_ARRAY(int, total);
    bool ok = b->residuals && initial->equation_names && initial->equation_lines;
    for (int i = 0; ok && i < f->rows; i++) {
        ok = name_equation(initial, count, dae_strdup(f->equation_names[i]), f->equation_lines[i]);
        b->residuals[count++] = graph_substitute(g, f->residual.e[i], map_slope, &map);
    }
    for (size_t k = 0; ok && k < f->condition_count; k++) {
        const flat_equation *q = &f->flat->initial_equations[k];
        char text[300], *name = flat_equation_name(f->flat, q);
        snprintf(text, sizeof text, "initial %.280s", name ? name : "");
        ok = name && name_equation(initial, count, dae_strdup(text), q->place.line);
        dae_free(name);
        b->residuals[count++] = graph_substitute(g, f->condition.e[k], map_slope, &map);
    }
    b->equations = count;
    return ok && !graph_failed(g);
}

/* y_j = start_j for the start values that are kept. */
static bool collect_pinned(build *b, const model_form *f)
{
    model_form *initial = b->f;
    graph *g = f->flat->graph;
    bool ok = true;
    for (int k = 0; ok && k < initial->pinned_count; k++) {
        int j = initial->pinned[k];
        char name[256];
        snprintf(name, sizeof name, "start value of %.200s", f->unknown_names[j]);
        int v = f->unknown_variable[j];
        ok = name_equation(initial, b->equations, dae_strdup(name),
                           v >= 0 ? f->flat->variables[v].place.line : 0);
        expr start = graph_parameter(g, (int)f->flat->parameter_count + k);
        b->residuals[b->equations++] = graph_binary(g, EXPR_SUB, graph_variable(g, j, 0), start);
    }
    return ok && !graph_failed(g);
}

static bool name_initial(model_form *initial, const model_form *f)
{
    initial->unknown_names = DAE_ARRAY(char *, initial->n);
    if (!initial->unknown_names) return false;
    for (int i = 0; i < initial->n; i++) {
        int of = i < f->n ? i : initial->slope_of[i];
        bool taken =
            of + 1 < f->n && f->unknown_order[of + 1] > 0; /* der(x) is an unknown itself */
        const char *format = i < f->n ? "%s" : taken ? "slope of %s" : "der(%s)";
        char *text = dae_calloc(strlen(f->unknown_names[of]) + 10, 1);
        if (!text) return false;
        sprintf(text, format, f->unknown_names[of]);
        initial->unknown_names[i] = text;
    }
    return true;
}

/* Unknowns of the initial system: y, then y' of the differential ones. */
static bool number_slopes(model_form *initial, const model_form *f, int *place)
{
    int at = f->n;
    for (int i = 0; i < f->n; i++) initial->n += f->differential[i];
    initial->n += f->n;
    initial->slope_of = DAE_ARRAY(int, initial->n);
    initial->differential = DAE_ARRAY(bool, initial->n);
    if (!initial->slope_of || !initial->differential) return false;
    for (int i = 0; i < f->n; i++)
        if (f->differential[i]) {
            initial->slope_of[at] = i;
            place[i] = at++;
        }
    return true;
}

/* Pattern, programs and names of an initial system whose equations are complete. */
static bool finish_initial(build *b, const model_form *f)
{
    model_form *initial = b->f;
    initial->rows = (int)b->equations;
    bool ok = build_pattern(b) &&
              build_program(initial, &initial->residual, b->residuals, b->equations) &&
              build_program(initial, &initial->jacobian, b->entries, b->entry_count) &&
              name_initial(initial, f);
    for (int k = 2; ok && k < PROGRAMS; k++)
        ok = build_program(initial, model_program_at(initial, k), b->residuals, 0);
    return ok;
}

/* The initial system into b->f; *square is false if it is none. */
static bool assemble_initial(build *b, const model_form *f, const int *rank, int *place,
                             bool *square)
{
    model_form *initial = b->f;
    initial->flat = f->flat;
    initial->borrowed = true;
    bool ok = number_slopes(initial, f, place) && collect_conditions(b, f, place) &&
              build_differentiate(b, 0);
    ok = ok && choose_pinned(b, rank, f->n, square);
    if (!ok || !*square) return ok;
    size_t first = b->equations;
    ok = collect_pinned(b, f);
    return ok && build_differentiate(b, first) && finish_initial(b, f);
}

bool build_levels(model_form *f)
{
    int *place = DAE_ARRAY(int, f->n);
    build b = {.f = DAE_NEW(model_form)};
    bool ok = place && b.f;
    if (ok) {
        b.f->flat = f->flat;
        b.f->borrowed = true;
        ok = number_slopes(b.f, f, place) && collect_conditions(&b, f, place) &&
             build_differentiate(&b, 0) && finish_initial(&b, f);
    }
    build_free(&b);
    dae_free(place);
    if (ok)
        f->initial = b.f;
    else
        model_form_free(b.f);
    return ok;
}

/* Build f->initial where it is needed and square; otherwise f->initial stays NULL. */
static bool build_initial(model_form *f)
{
    bool needed = f->condition_count > 0, square = false;
    int *rank = DAE_ARRAY(int, f->n), *place = DAE_ARRAY(int, f->n);
    bool ok = rank && place && rank_starts(f, rank, &needed);
    build b = {.f = ok && needed ? DAE_NEW(model_form) : NULL};
    if (ok && needed) ok = b.f && assemble_initial(&b, f, rank, place, &square);
    build_free(&b);
    dae_free(place);
    dae_free(rank);
    f->overdetermined = needed && !square;
    if (ok && square)
        f->initial = b.f;
    else
        model_form_free(b.f);
    return ok;
}

static void note_undetermined(void *context, expr leaf)
{
    struct {
        const model_form *f;
        int found;
    } *scan = context;
    const expr_node *node = graph_node(scan->f->flat->graph, leaf);
    if (node->op == EXPR_VARIABLE && node->order > 0 && !scan->f->differential[node->index])
        scan->found = node->index;
}

/* An initial equation may use only derivatives that the equations determine. */
static dae_status check_conditions(const model_form *f, dae_diag *diag)
{
    for (size_t k = 0; k < f->condition_count; k++) {
        struct {
            const model_form *f;
            int found;
        } scan = {f, -1};
        if (!graph_leaves(f->flat->graph, &f->condition.e[k], 1, note_undetermined, &scan))
            return out_of_memory(diag);
        if (scan.found < 0) continue;
        const flat_equation *q = &f->flat->initial_equations[k];
        if (diag) diag->line = q->place.line;
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Model %s: the initial equation in line %d uses der(%s), but no equation "
                        "of the model does: it is not determined.",
                        f->flat->name, q->place.line, f->unknown_names[scan.found]);
    }
    return DAE_OK;
}

/* Memory, or the limit of the graph: large models with dense derivatives. */
dae_status build_exhausted(const build *b, dae_diag *diag)
{
    const model_form *f = b->f;
    if (b->dense)
        return diag_set(diag, DAE_ERR_MEMORY,
                        "Model %s is too large: its equations have more than %d partial "
                        "derivatives.",
                        f->flat->name, MOST_ENTRIES);
    if (!graph_failed(f->flat->graph)) return out_of_memory(diag);
    return diag_set(diag, DAE_ERR_MEMORY,
                    "Model %s is too large: its equations and derivatives take more than %zu "
                    "expression nodes, or memory is exhausted.",
                    f->flat->name, graph_size(f->flat->graph) - 1);
}

/* reinit sets states, and nothing else. */
static dae_status check_reinit(const model_form *f, const flat_action *a, dae_diag *diag)
{
    int sign, unknown = a->kind == ACTION_REINIT
                            ? f->first_unknown[alias_root(f, a->variable, &sign)]
                            : -1;
    if (a->kind != ACTION_REINIT || (unknown >= 0 && f->differential[unknown])) return DAE_OK;
    const flat_model *m = f->flat;
    const char *name = m->variables[a->variable].name;
    diag_variable(diag, a->variable, name);
    if (diag) diag->line = a->place.line;
    return diag_set(
        diag, DAE_ERR_MODEL,
        "%s:%d: reinit of %s, which is no state: its derivative does not appear. Set the "
        "states that it depends on.",
        m->file ? m->file : m->name, a->place.line, name);
}

static dae_status check_reinits(const model_form *f, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (size_t w = 0; w < f->flat->when_count; w++)
        for (size_t b = 0; b < f->flat->whens[w].branch_count; b++) {
            const flat_branch *q = &f->flat->whens[w].branches[b];
            for (size_t i = 0; i < q->action_count && status == DAE_OK; i++)
                status = check_reinit(f, &q->actions[i], diag);
        }
    return status;
}

/* Names of parameters and of memory as lists, for printing. */
static bool name_constants(model_form *f)
{
    const flat_model *m = f->flat;
    f->parameter_names = DAE_ARRAY(const char *, m->parameter_count);
    f->memory_names = DAE_ARRAY(const char *, m->memory_count);
    if (!f->parameter_names || !f->memory_names) return false;
    for (size_t p = 0; p < m->parameter_count; p++) f->parameter_names[p] = m->parameters[p].name;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].memory >= 0)
            f->memory_names[m->variables[v].memory] = m->variables[v].name;
    return true;
}

static dae_status build_form(build *b, dae_diag *diag)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    f->parameters = DAE_ARRAY(double, m->parameter_count);
    f->parameter_set = DAE_ARRAY(bool, m->parameter_count);
    f->start = DAE_ARRAY(double, m->variable_count);
    if (!f->parameters || !f->parameter_set || !f->start || !name_constants(f))
        return out_of_memory(diag);
    for (size_t v = 0; v < m->variable_count; v++) f->start[v] = NAN;
    if (!split_initials(f) || !reduce(b) || !name_unknowns(f)) return build_exhausted(b, diag);
    bool ok = collect_equations(b);
    if (!ok || !build_differentiate(b, 0)) return build_exhausted(b, diag);
    dae_status status = check_structure(b, diag);
    if (status == DAE_OK) status = check_reinits(f, diag);
    if (status != DAE_OK) return status;
    if (!find_index(b) || !build_pattern(b) || !make_programs(b) || !build_kinematics(b->f))
        return build_exhausted(b, diag);
    status = check_conditions(f, diag);
    if (status != DAE_OK) return status;
    if (!build_initial(f)) return build_exhausted(b, diag);
    return model_form_evaluate_parameters(f, diag);
}

dae_status model_form_new(flat_model *flat, model_form **form, dae_diag *diag)
{
    *form = NULL;
    build b = {.f = DAE_NEW(model_form)};
    if (!b.f) {
        flat_model_free(flat);
        return out_of_memory(diag);
    }
    b.f->flat = flat;
    dae_status status = build_form(&b, diag);
    build_free(&b);
    if (status == DAE_OK)
        *form = b.f;
    else
        model_form_free(b.f);
    return status;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++) dae_free(texts[i]);
    dae_free(texts);
}

void model_form_free(model_form *f)
{
    if (!f) return;
    kept_forms_free(f->kept);
    native_free(f->native);
    free_texts(f->unknown_names, (size_t)f->n);
    free_texts(f->equation_names, f->equation_room);
    dae_free(f->equation_lines);
    dae_free(f->equation_source);
    dae_free(f->settings);
    dae_free(f->rounded);
    dae_free(f->kinematic);
    dae_free(f->visible);
    model_form_free(f->initial);
    dae_free(f->slope_of);
    dae_free(f->pinned);
    for (int k = 0; k < model_program_count(f); k++) {
        code_free(&model_program_at(f, k)->code);
        dae_free(model_program_at(f, k)->e);
    }
    dae_free(f->more);
    dae_free(f->value);
    dae_free(f->value_slope);
    dae_free(f->seen);
    dae_free(f->seen_at);
    dae_free(f->alias);
    dae_free(f->unknown_variable);
    dae_free(f->unknown_order);
    dae_free(f->first_unknown);
    dae_free(f->differential);
    dae_free(f->colptr);
    dae_free(f->rowind);
    dae_free(f->scatter);
    if (!f->base) { /* a variant shares those of its base */
        dae_free(f->parameters);
        dae_free(f->parameter_set);
        dae_free(f->start);
    }
    dae_free(f->parameter_names);
    dae_free(f->memory_names);
    arena_free(f->notes);
    if (!f->borrowed) flat_model_free(f->flat);
    dae_free(f->place);
    dae_free(f->place_slope);
    if (f->formulated) formulated_free(f->formulated);
    dae_free(f->formulated);
    model_form_free(f->levels);
    dae_free(f->level_place);
    dae_free(f->of_level);
    dae_free(f->of_level_slope);
    if (f->analysed && !f->analysed_borrowed) {
        analysed_free(f->analysed);
        dae_free(f->analysed);
    }
    dae_free(f);
}

/* ---------------------------------------------------------------------------------------------
 * Parameters
 * ------------------------------------------------------------------------------------------- */

typedef struct parameter_scan {
    const model_form *f;
    const signed char *state; /* 0 not yet, 1 being evaluated, 2 known */
    int missing;              /* first parameter that is needed and not known; -1 */
} parameter_scan;

static double parameter_leaf(void *context, const expr_node *leaf)
{
    parameter_scan *scan = context;
    if (leaf->op != EXPR_PARAMETER) return NAN;
    if (scan->state && scan->state[leaf->index] != 2) {
        if (scan->missing < 0) scan->missing = leaf->index;
        return NAN;
    }
    return scan->f->parameters[leaf->index];
}

/* Value of e; what is not a number is looked at twice, since lack of memory looks the same. */
static double value_of(const model_form *f, expr e, graph_leaf_value leaf, void *context)
{
    graph_enter(f->flat->graph);
    double value = graph_value(f->flat->graph, e, leaf, context);
    if (isnan(value)) value = graph_value(f->flat->graph, e, leaf, context);
    graph_leave(f->flat->graph);
    return value;
}

static void ignore_leaf(void *context, expr leaf)
{
    (void)context, (void)leaf;
}

double model_form_constant(const model_form *f, expr e)
{
    parameter_scan scan = {f, NULL, -1};
    return e == EXPR_NONE ? NAN : value_of(f, e, parameter_leaf, &scan);
}

static dae_status reject_parameter(const model_form *f, int p, const char *why, dae_diag *diag)
{
    const flat_parameter *q = &f->flat->parameters[p];
    diag_variable(diag, p, q->name);
    if (diag) diag->line = q->place.line;
    return diag_set(diag, DAE_ERR_ARGUMENT, "Parameter %s%s%s:%d) %s.", q->name, " (",
                    f->flat->file ? f->flat->file : "line", q->place.line, why);
}

/* Evaluate parameter p and, first, what it needs: depth first on an explicit stack. */
static dae_status evaluate_parameter(model_form *f, int p, signed char *state, int *stack,
                                     dae_diag *diag)
{
    int depth = 0;
    stack[depth++] = p;
    while (depth > 0) {
        int top = stack[depth - 1];
        const flat_parameter *q = &f->flat->parameters[top];
        parameter_scan scan = {f, state, -1};
        double value = f->parameters[top];
        if (!f->parameter_set[top])
            value = q->value == EXPR_NONE ? 0.0 : value_of(f, q->value, parameter_leaf, &scan);
        if (scan.missing >= 0) {
            state[top] = 1;
            if (state[scan.missing] == 1)
                return reject_parameter(f, scan.missing, "depends on itself", diag);
            stack[depth++] = scan.missing;
            continue;
        }
        if (!isfinite(value) && q->type != FLAT_STRING) {
            if (!f->parameter_set[top] &&
                !graph_leaves(f->flat->graph, &q->value, 1, ignore_leaf, NULL))
                return out_of_memory(diag);
            if (diag) diag->value = value;
            return reject_parameter(f, top, isnan(value) ? "is not a number" : "is infinite", diag);
        }
        f->parameters[top] = value;
        state[top] = 2;
        depth--;
    }
    return DAE_OK;
}

dae_status model_form_evaluate_parameters(model_form *f, dae_diag *diag)
{
    size_t count = f->flat->parameter_count;
    signed char *state = DAE_ARRAY(signed char, count);
    int *stack = DAE_ARRAY(int, count + 1);
    dae_status status = state && stack ? DAE_OK : out_of_memory(diag);
    for (size_t p = 0; p < count && status == DAE_OK; p++)
        if (state[p] != 2) status = evaluate_parameter(f, (int)p, state, stack, diag);
    dae_free(state);
    dae_free(stack);
    return status;
}

/* ---------------------------------------------------------------------------------------------
 * Instances and the callbacks of the residual form
 * ------------------------------------------------------------------------------------------- */

model_instance *model_instance_new(const model_form *f)
{
    model_instance *m = DAE_NEW(model_instance);
    if (!m) return NULL;
    m->form = f;
    size_t total = 0, size[MOST_PROGRAMS];
    int programs = model_program_count(f);
    for (int k = 0; k < programs; k++) {
        const expr_code *c = &model_program_at((model_form *)f, k)->code;
        size[k] = c->tape ? tape_work_size(c->tape) : 0;
        total += size[k];
    }
    m->parameters = DAE_ARRAY(double, f->flat->parameter_count + (size_t)f->pinned_count);
    m->memory = DAE_ARRAY(double, f->flat->memory_count);
    m->jacobian_values = DAE_ARRAY(double, f->jacobian_outputs);
    m->work = DAE_ARRAY(double, total);
    if (!m->parameters || !m->memory || !m->jacobian_values || !m->work) {
        model_instance_free(m);
        return NULL;
    }
    double *at = m->work;
    for (int k = 0; k < programs; k++, at += size[k - 1]) m->work_of[k] = at;
    if (f->formulated && !instance_begin_selection(m)) {
        model_instance_free(m);
        return NULL;
    }
    model_instance_load(m);
    return m;
}

void model_instance_free(model_instance *m)
{
    if (!m) return;
    dae_free(m->parameters);
    dae_free(m->memory);
    dae_free(m->jacobian_values);
    dae_free(m->work);
    native_free(m->native);
    instance_end_selection(m);
    dae_free(m);
}

void model_instance_load(model_instance *m)
{
    if (m->form->parameters)
        memcpy(m->parameters, m->form->parameters,
               m->form->flat->parameter_count * sizeof *m->parameters);
    model_instance_prepare(m);
}

static tape_inputs inputs_at(const model_instance *m, double t, const double *y, const double *yp)
{
    return (tape_inputs){
        .time = t, .values = {y, yp, NULL, NULL}, .parameters = m->parameters, .memory = m->memory};
}

void model_instance_prepare(model_instance *m)
{
    tape_inputs in = inputs_at(m, 0.0, NULL, NULL);
    for (int k = 0; k < model_program_count(m->form); k++) {
        const expr_code *c = &model_program_at((model_form *)m->form, k)->code;
        if (c->tape) tape_prepare(c->tape, &in, m->work_of[k]);
    }
    if (m->selection) selection_prepare(m->selection, &in);
    if (m->positions) position_watch_prepare(m->positions, &in);
}

void model_instance_run(model_instance *m, int k, double t, const double *a, const double *b,
                        const double *c, double *out)
{
    if (m->function[k]) {
        m->function[k](t, a, b, c, m->parameters, m->memory, out);
        return;
    }
    const tape *program = model_program_at((model_form *)m->form, k)->code.tape;
    tape_inputs in = inputs_at(m, t, a, b);
    in.values[2] = c;
    tape_run(program, &in, m->work_of[k], out);
    m->tape_work += (double)tape_length(program);
}

/* Run program k at a point, natively if it is compiled. */
static void run_program(model_instance *m, int k, double t, const double *y, const double *yp,
                        double *out)
{
    model_instance_run(m, k, t, y, yp, NULL, out);
}

int model_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    run_program(user, 0, t, y, yp, f);
    instance_kinematic_residual(user, y, yp, f);
    return 0;
}

int model_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                   void *user)
{
    model_instance *m = user;
    const model_form *f = m->form;
    const int *scatter = m->scatter ? m->scatter : f->scatter;
    run_program(m, 1, t, y, yp, m->jacobian_values);
    instance_kinematic_jacobian(m, dfdy, dfdyp);
    for (size_t k = 0; k < f->jacobian_outputs; k++) {
        int place = scatter[k];
        if (place >= 0)
            dfdy[place] = m->jacobian_values[k];
        else
            dfdyp[-1 - place] = m->jacobian_values[k];
    }
    return 0;
}

/* A crossing function that the equations hold at zero (the current of an open switch) shows the
 * rounding of the solver, which is no event. */
static int model_events(double t, const double *y, const double *yp, double *g, void *user)
{
    const model_instance *m = user;
    run_program(user, 2, t, y, yp, g);
    for (size_t r = 0; r < m->form->flat->relation_count; r++)
        if (m->form->rounded[r] && fabs(g[r]) <= m->noise) g[r] = 0.0;
    for (size_t r = m->form->flat->relation_count; r < m->form->crossing.outputs; r++)
        if (!isfinite(g[r])) g[r] = 0.0; /* a condition that cannot be told is no end of the run */
    return 0;
}

static int model_conditions(double t, const double *y, const double *yp, double *b, void *user)
{
    run_program(user, 3, t, y, yp, b);
    return 0;
}

void model_instance_crossings(model_instance *m, double t, const double *y, const double *yp,
                              double *out)
{
    run_program(m, 2, t, y, yp, out);
}

void model_instance_outputs(model_instance *m, double t, const double *y, const double *yp,
                            double *out)
{
    run_program(m, 4, t, y, yp, out);
}

void model_instance_assertions(model_instance *m, double t, const double *y, const double *yp,
                               double *out)
{
    run_program(m, 5, t, y, yp, out);
}

typedef struct point_scan {
    const model_instance *m;
    double t;
    const double *y, *yp;
} point_scan;

/* Where the order-th derivative of a root is among the unknowns of a base form. */
static model_place locate_in_base(const model_form *f, int root, int order)
{
    int first = f->first_unknown[root], last = first;
    while (last + 1 < f->n && f->unknown_variable[last + 1] == root) last++;
    if (first >= 0 && first + order <= last) return (model_place){first + order, false, 1};
    bool slope = first >= 0 && first + order == last + 1;
    return (model_place){slope ? last : -1, slope, 1};
}

model_place model_form_locate(const model_form *f, int root, int order)
{
    if (!f->base) return locate_in_base(f, root, order);
    model_place at = locate_in_base(f->base, root, order);
    if (at.unknown < 0) return at;
    return at.slope ? f->place_slope[at.unknown] : f->place[at.unknown];
}

/* Value of an unknown of a variant, or of its slope. */
static double unknown_leaf(void *context, const expr_node *leaf)
{
    const point_scan *at = context;
    if (leaf->op == EXPR_TIME) return at->t;
    if (leaf->op == EXPR_PARAMETER) return at->m->parameters[leaf->index];
    if (leaf->op == EXPR_MEMORY) return at->m->memory[leaf->index];
    return (leaf->order > 0 ? at->yp : at->y)[leaf->index];
}

/* Value of a variable that a variant sees through; NAN: it is none. */
static double seen_value(const point_scan *at, int root, int order)
{
    const model_form *f = at->m->form;
    if (!f->base) return NAN;
    model_place in_base = locate_in_base(f->base, root, order);
    if (in_base.unknown < 0) return NAN;
    expr e = (in_base.slope ? f->value_slope : f->value)[in_base.unknown];
    return e == EXPR_NONE ? NAN : graph_value(f->flat->graph, e, unknown_leaf, (void *)at);
}

/* Value of a flat leaf at a point. */
static double point_leaf(void *context, const expr_node *leaf)
{
    const point_scan *at = context;
    const model_form *f = at->m->form;
    if (leaf->op == EXPR_TIME) return at->t;
    if (leaf->op == EXPR_PARAMETER) return at->m->parameters[leaf->index];
    if (leaf->op == EXPR_MEMORY) return at->m->memory[leaf->index];
    int sign, root = alias_root(f, leaf->index, &sign);
    if (f->alias[root].value != EXPR_NONE)
        return leaf->order > 0
                   ? 0.0
                   : sign * graph_value(f->flat->graph, f->alias[root].value, point_leaf, context);
    model_place place = model_form_locate(f, root, leaf->order);
    if (place.unknown < 0) return sign * seen_value(at, root, leaf->order);
    return sign * place.sign * (place.slope ? at->yp : at->y)[place.unknown];
}

double model_instance_value(const model_instance *m, double t, const double *y, const double *yp,
                            expr e)
{
    point_scan at = {m, t, y, yp};
    return value_of(m->form, e, point_leaf, &at);
}

void model_form_describe(model_form *f, dae_residual *r)
{
    *r = (dae_residual){.n = f->n,
                        .f = model_residual,
                        .jacobian = model_jacobian,
                        .structure = DAE_STRUCTURE_SPARSE,
                        .colptr = f->colptr,
                        .rowind = f->rowind,
                        .variable_names = (const char *const *)f->unknown_names,
                        .equation_names = (const char *const *)f->equation_names};
    if (f->borrowed && !f->base) return;
    if (f->crossing.outputs > 0) {
        r->n_events = (int)f->crossing.outputs;
        r->event_function = model_events;
    }
    if (f->condition_count > 0 && !f->initial &&
        !f->base) { /* too many for a square initial system */
        r->n_conditions = (int)f->condition_count;
        r->conditions = model_conditions;
    }
}

/* ---------------------------------------------------------------------------------------------
 * Native code
 * ------------------------------------------------------------------------------------------- */

static const char *const PROGRAM_NAMES[PROGRAMS] = {"model_residual", "model_jacobian",
                                                    "model_crossing", "model_condition",
                                                    "model_output",   "model_assertion"};
static const char *const PROGRAM_COMMENTS[PROGRAMS] = {
    "F(t, y, y'): the residual of every equation",
    "nonzero partial derivatives of F, equation by equation",
    "zero crossings of the relations",
    "initial equations",
    "all variables of the model",
    "conditions of the assertions",
};

/* Name of a program; `text` takes that of one behind the common ones. */
static const char *program_name(int k, char text[32])
{
    if (k < PROGRAMS) return PROGRAM_NAMES[k];
    snprintf(text, 32, "model_form_%d", k - PROGRAMS);
    return text;
}

/* Name of a leaf of the programs: an unknown, a parameter or a memory slot. */
static const char *leaf_name(void *context, const expr_node *leaf)
{
    const model_form *f = context;
    if (leaf->op == EXPR_VARIABLE) return f->unknown_names[leaf->index];
    if (leaf->op == EXPR_PARAMETER) return f->flat->parameters[leaf->index].name;
    return NULL;
}

void model_form_emit(const model_form *f, emit_text *text)
{
    emit_function functions[MOST_PROGRAMS];
    char names[MOST_PROGRAMS][32];
    int programs = model_program_count(f);
    for (int k = 0; k < programs; k++) {
        const model_program *p = model_program_at((model_form *)f, k);
        functions[k] = (emit_function){.name = program_name(k, names[k]),
                                       .comment = k < PROGRAMS ? PROGRAM_COMMENTS[k] : NULL,
                                       .e = p->e,
                                       .count = p->outputs};
    }
    functions[0].labels = (const char *const *)f->equation_names;
    graph_enter(f->flat->graph);
    emit_unit(text, f->flat->graph, functions, (size_t)programs, leaf_name, (void *)f);
    graph_leave(f->flat->graph);
}

/* Code of the form from another of its instances, or NULL */
static native_module *shared_code(const model_form *f)
{
    graph_enter(f->flat->graph);
    native_module *module = native_share(f->native);
    graph_leave(f->flat->graph);
    return module;
}

/* Keep the code with the form, for its next instances. */
static void share_code(model_form *f, native_module *module)
{
    graph_enter(f->flat->graph);
    if (!f->native) f->native = native_share(module);
    graph_leave(f->flat->graph);
}

/* Emit, compile and load. */
static native_status load_code(model_instance *m, char *reason)
{
    emit_text text = {0};
    model_form_emit(m->form, &text);
    native_status status =
        text.failed ? NATIVE_MEMORY : native_load(text.text, text.length, &m->native, reason);
    emit_free(&text);
    if (status == NATIVE_OK) share_code((model_form *)m->form, m->native);
    return status;
}

native_status model_instance_compile(model_instance *m, char *reason)
{
    if (m->native) return NATIVE_OK;
    m->native = shared_code(m->form);
    native_status status = m->native ? NATIVE_OK : load_code(m, reason);
    char name[32];
    for (int k = 0; k < model_program_count(m->form) && status == NATIVE_OK; k++)
        m->function[k] = native_find(m->native, program_name(k, name));
    return status;
}

/* In units of one tape instruction, about 2 ns: a compiler needs about 0.2 s to start and 50 us for
 * each instruction of the tape (bench/tape_speed.c). A long silence in the middle of a run is
 * unkind however much it pays, so large models are compiled only when asked. */
static const double COMPILER_START = 1e8, COMPILER_INSTRUCTION = 2.5e4, MOST_INSTRUCTIONS = 4e4;

bool model_instance_worth_compiling(const model_instance *m)
{
    double length = 0.0;
    for (int k = 0; k < model_program_count(m->form); k++)
        length += (double)tape_length(model_program_at((model_form *)m->form, k)->code.tape);
    return length <= MOST_INSTRUCTIONS &&
           m->tape_work > COMPILER_START + COMPILER_INSTRUCTION * length;
}
