#include "system/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "expr/derive.h"

enum { PROGRAMS = 6 };

static model_program *program_at(model_form *f, int k)
{
    model_program *all[PROGRAMS] = {&f->residual,  &f->jacobian, &f->crossing,
                                    &f->condition, &f->output,   &f->assertion};
    return all[k];
}

/* ---------------------------------------------------------------------------------------------
 * Aliases: x = y, x = -y and x = value over parameters leave the system
 * ------------------------------------------------------------------------------------------- */

/* Follow the chain to the variable that stands for v; *sign collects the signs on the way. */
static int alias_root(const model_form *f, int v, int *sign)
{
    *sign = 1;
    while (f->alias[v].root != v) {
        *sign *= f->alias[v].sign;
        v = f->alias[v].root;
    }
    return v;
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
static bool is_fixed_value(const model_form *f, expr e)
{
    struct {
        const graph *g;
        bool found;
    } seen = {f->flat->graph, false};
    return graph_leaves(f->flat->graph, &e, 1, note_variable_leaf, &seen) && !seen.found;
}

/* How much a variable is wanted as the one that stays. */
static int preference(const flat_variable *v)
{
    return 8 * (int)v->state_select + 4 * v->fixed + 2 * v->has_start + v->output;
}

/* Join x = sign * y; false if they are joined already. */
static bool join(model_form *f, int x, int y, int sign)
{
    int sx, sy;
    int rx = alias_root(f, x, &sx), ry = alias_root(f, y, &sy);
    if (rx == ry) return false;
    if (f->alias[rx].value != EXPR_NONE && f->alias[ry].value != EXPR_NONE) return false;
    bool keep_x = f->alias[rx].value != EXPR_NONE ||
                  (f->alias[ry].value == EXPR_NONE &&
                   preference(&f->flat->variables[rx]) > preference(&f->flat->variables[ry]));
    int kept = keep_x ? rx : ry, gone = keep_x ? ry : rx;
    f->alias[gone].root = kept;
    f->alias[gone].sign = sx * sign * sy;
    return true;
}

/* x = value */
static bool fix(model_form *f, int x, expr value)
{
    int sign;
    int root = alias_root(f, x, &sign);
    if (f->alias[root].value != EXPR_NONE) return false;
    f->alias[root].value = sign > 0 ? value : graph_unary(f->flat->graph, EXPR_NEG, value);
    return true;
}

/* Whether the equation is an alias; it is then eliminated. */
static bool eliminate(model_form *f, const flat_equation *q)
{
    graph *g = f->flat->graph;
    const expr_node *node = graph_node(g, q->residual);
    int alone = plain_variable(f, q->residual);
    if (alone >= 0) return fix(f, alone, graph_constant(g, 0.0));
    if (node->op != EXPR_SUB && node->op != EXPR_ADD) return false;
    bool sum = node->op == EXPR_ADD;
    expr a = node->a, b = node->b;
    int x = plain_variable(f, a), y = plain_variable(f, b);
    if (x >= 0 && y >= 0) return join(f, x, y, sum ? -1 : 1);
    if (x >= 0 && is_fixed_value(f, b)) return fix(f, x, sum ? graph_unary(g, EXPR_NEG, b) : b);
    if (y >= 0 && is_fixed_value(f, a)) return fix(f, y, sum ? graph_unary(g, EXPR_NEG, a) : a);
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
    f->unknown_variable = DAE_ARRAY(int, f->n);
    f->unknown_order = DAE_ARRAY(int, f->n);
    f->differential = DAE_ARRAY(bool, f->n);
    if (!f->unknown_variable || !f->unknown_order || !f->differential) return false;
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

typedef struct build {
    model_form *f;
    int *order;
    bool *gone;           /* per flat equation: eliminated */
    expr *residuals;      /* n */
    source_place *places; /* n */
    expr *entries;        /* Jacobian outputs */
    int *row, *column, *is_slope;
    size_t entry_count, entry_capacity;
    size_t equations;
} build;

static void build_free(build *b)
{
    dae_free(b->order);
    dae_free(b->gone);
    dae_free(b->residuals);
    dae_free(b->places);
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
    for (size_t v = 0; v < nv; v++) f->alias[v] = (model_alias){(int)v, 1, EXPR_NONE};
    for (size_t i = 0; i < m->equation_count; i++) {
        b->gone[i] = eliminate(f, &m->equations[i]);
        f->eliminated += b->gone[i];
    }
    order_scan scan = {f, b->order};
    bool ok = true;
    for (size_t i = 0; i < m->equation_count && ok; i++)
        if (!b->gone[i])
            ok = graph_leaves(m->graph, &m->equations[i].residual, 1, note_order, &scan);
    for (size_t i = 0; i < m->initial_count && ok; i++)
        ok = graph_leaves(m->graph, &m->initial_equations[i].residual, 1, note_order, &scan);
    return ok && number_unknowns(f, b->order);
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
    size_t most = m->equation_count + (size_t)f->n;
    b->residuals = DAE_ARRAY(expr, most);
    b->places = DAE_ARRAY(source_place, most);
    f->equation_names = DAE_ARRAY(char *, most);
    if (!b->residuals || !b->places || !f->equation_names) return false;
    size_t count = 0;
    for (size_t i = 0; i < m->equation_count; i++) {
        if (b->gone[i]) continue;
        b->places[count] = m->equations[i].place;
        f->equation_names[count] = m->equations[i].name ? dae_strdup(m->equations[i].name) : NULL;
        b->residuals[count++] = mapped(b, m->equations[i].residual);
    }
    for (int i = 0; i + 1 < f->n; i++) {
        if (f->unknown_order[i + 1] == 0) continue;
        char name[256];
        snprintf(name, sizeof name, "definition of der(%.200s)",
                 m->variables[f->unknown_variable[i]].name);
        f->equation_names[count] = dae_strdup(name);
        b->places[count] = m->variables[f->unknown_variable[i]].place;
        b->residuals[count++] = graph_binary(m->graph, EXPR_SUB, graph_variable(m->graph, i, 1),
                                             graph_variable(m->graph, i + 1, 0));
    }
    b->equations = count;
    return !graph_failed(m->graph);
}

static bool entry_room(build *b, size_t more)
{
    if (b->entry_count + more <= b->entry_capacity) return true;
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

static bool differentiate(build *b)
{
    derive_scratch *scratch = derive_scratch_new();
    gradient partial = {0};
    bool ok = scratch != NULL;
    for (size_t i = 0; i < b->equations && ok; i++) ok = add_gradient(b, scratch, &partial, (int)i);
    gradient_free(&partial);
    derive_scratch_free(scratch);
    return ok;
}

/* One CSC pattern for both matrices: entries come row by row, so each column's rows ascend. The
 * scatter map tells where each Jacobian output goes. */
static bool make_pattern(build *b)
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

static bool make_program(model_form *f, model_program *p, const expr *e, size_t count)
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
    bool ok = make_program(b->f, p, e, count);
    dae_free(e);
    return ok;
}

/* Every flat variable in terms of unknowns, memory and parameters. */
static bool output_program(build *b)
{
    model_form *f = b->f;
    flat_model *m = f->flat;
    expr *e = DAE_ARRAY(expr, m->variable_count);
    if (!e) return false;
    for (size_t v = 0; v < m->variable_count; v++)
        e[v] = m->variables[v].discrete ? graph_memory(m->graph, m->variables[v].memory)
                                        : mapped(b, graph_variable(m->graph, (int)v, 0));
    bool ok = make_program(f, &f->output, e, m->variable_count);
    dae_free(e);
    return ok;
}

static bool make_programs(build *b)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    return make_program(f, &f->residual, b->residuals, b->equations) &&
           make_program(f, &f->jacobian, b->entries, b->entry_count) &&
           program_from_list(b, &f->crossing, m->relations, m->relation_count,
                             sizeof(flat_relation), offsetof(flat_relation, crossing)) &&
           program_from_list(b, &f->condition, m->initial_equations, m->initial_count,
                             sizeof(flat_equation), offsetof(flat_equation, residual)) &&
           output_program(b) &&
           program_from_list(b, &f->assertion, m->asserts, m->assert_count, sizeof(flat_action),
                             offsetof(flat_action, value)) &&
           !graph_failed(m->graph);
}

/* Names of unknowns: x, der(x), der(der(x)), .. */
static bool name_unknowns(model_form *f)
{
    f->unknown_names = DAE_ARRAY(char *, f->n);
    if (!f->unknown_names) return false;
    for (int i = 0; i < f->n; i++) {
        const char *name = f->flat->variables[f->unknown_variable[i]].name;
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

static dae_status check_square(const build *b, dae_diag *diag)
{
    int n = b->f->n;
    if (n > 0 && b->equations == (size_t)n) return DAE_OK;
    if (n == 0 && b->equations == 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Model %s has no continuous unknowns left to integrate.", b->f->flat->name);
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Model %s has %zu equations for %d unknowns after %d alias equations were "
                    "eliminated.",
                    b->f->flat->name, b->equations, n, b->f->eliminated);
}

/* ---------------------------------------------------------------------------------------------
 * The initial system
 * ------------------------------------------------------------------------------------------- */

/* fixed[i] for all unknowns at once. */
static void mark_fixed(const model_form *f, bool *fixed)
{
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[alias_root(f, (int)v, &sign)];
        if (first >= 0 && q->fixed) fixed[first] = true;
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

/* Choose what start values to keep beside the initial equations: the fixed ones, then states that
 * no initial equation mentions, then other states, until there is one for each state. */
static bool choose_pinned(const model_form *f, int states, model_form *initial, bool *consistent)
{
    int n = f->n, wanted = states - (int)f->condition.outputs;
    bool *fixed = DAE_ARRAY(bool, n), *mentioned = DAE_ARRAY(bool, n);
    initial->pinned = DAE_ARRAY(int, n);
    struct {
        const graph *g;
        bool *seen;
    } scan = {f->flat->graph, mentioned};
    bool ok =
        fixed && mentioned && initial->pinned &&
        graph_leaves(f->flat->graph, f->condition.e, f->condition.outputs, note_unknown, &scan);
    if (ok) {
        mark_fixed(f, fixed);
        int count = 0;
        for (int i = 0; i < n; i++)
            if (fixed[i]) initial->pinned[count++] = i;
        *consistent = count <= wanted;
        for (int pass = 0; pass < 2 && *consistent; pass++)
            for (int i = 0; i < n && count < wanted; i++)
                if (f->differential[i] && !fixed[i] && mentioned[i] == (pass == 1)) {
                    initial->pinned[count++] = i;
                    fixed[i] = true;
                }
        *consistent = *consistent && count == wanted;
        initial->pinned_count = count;
    }
    dae_free(fixed);
    dae_free(mentioned);
    return ok;
}

/* Residuals and names of the initial system. */
static bool collect_initial(build *b, const model_form *f, const int *place)
{
    model_form *initial = b->f;
    graph *g = f->flat->graph;
    slope_map map = {f->n, place};
    size_t total = (size_t)initial->n, count = 0;
    b->residuals = DAE_ARRAY(expr, total);
    initial->equation_names = DAE_ARRAY(char *, total);
    if (!b->residuals || !initial->equation_names) return false;
    for (int i = 0; i < f->n; i++) {
        const char *name = f->equation_names[i];
        initial->equation_names[count] = name ? dae_strdup(name) : NULL;
        b->residuals[count++] = graph_substitute(g, f->residual.e[i], map_slope, &map);
    }
    for (size_t k = 0; k < f->condition.outputs; k++) {
        const char *name = f->flat->initial_equations[k].name;
        initial->equation_names[count] = name ? dae_strdup(name) : NULL;
        b->residuals[count++] = graph_substitute(g, f->condition.e[k], map_slope, &map);
    }
    for (int k = 0; k < initial->pinned_count; k++) {
        char name[256];
        snprintf(name, sizeof name, "start value of %.200s", f->unknown_names[initial->pinned[k]]);
        initial->equation_names[count] = dae_strdup(name);
        expr start = graph_parameter(g, (int)f->flat->parameter_count + k);
        b->residuals[count++] =
            graph_binary(g, EXPR_SUB, graph_variable(g, initial->pinned[k], 0), start);
    }
    b->equations = count;
    return !graph_failed(g);
}

static bool name_initial(model_form *initial, const model_form *f)
{
    initial->unknown_names = DAE_ARRAY(char *, initial->n);
    if (!initial->unknown_names) return false;
    for (int i = 0; i < initial->n; i++) {
        const char *name = f->unknown_names[i < f->n ? i : initial->slope_of[i]];
        char *text = dae_calloc(strlen(name) + 6, 1);
        if (!text) return false;
        sprintf(text, i < f->n ? "%s" : "der(%s)", name);
        initial->unknown_names[i] = text;
    }
    return true;
}

/* Build f->initial where it is needed and square; otherwise f->initial stays NULL. */
static bool build_initial(model_form *f)
{
    int states = 0, n = f->n;
    bool needed = f->condition.outputs > 0, square = false;
    for (int i = 0; i < n; i++) states += f->differential[i];
    if (!needed) return true;
    build b = {.f = DAE_NEW(model_form)};
    int *place = DAE_ARRAY(int, n);
    bool ok = b.f && place && choose_pinned(f, states, b.f, &square);
    if (ok && square) {
        b.f->flat = f->flat;
        b.f->borrowed = true;
        b.f->n = n + states;
        b.f->slope_of = DAE_ARRAY(int, b.f->n);
        b.f->differential = DAE_ARRAY(bool, b.f->n);
        ok = b.f->slope_of && b.f->differential;
        for (int i = 0, at = n; ok && i < n; i++)
            if (f->differential[i]) {
                b.f->slope_of[at] = i;
                place[i] = at++;
            }
        ok = ok && collect_initial(&b, f, place) && differentiate(&b) && make_pattern(&b) &&
             make_program(b.f, &b.f->residual, b.residuals, b.equations) &&
             make_program(b.f, &b.f->jacobian, b.entries, b.entry_count) && name_initial(b.f, f);
        for (int k = 2; ok && k < PROGRAMS; k++)
            ok = make_program(b.f, program_at(b.f, k), b.residuals, 0);
    }
    build_free(&b);
    dae_free(place);
    if (ok && square)
        f->initial = b.f;
    else
        model_form_free(b.f);
    return ok;
}

static dae_status build_form(build *b, dae_diag *diag)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    f->parameters = DAE_ARRAY(double, m->parameter_count);
    f->parameter_set = DAE_ARRAY(bool, m->parameter_count);
    f->start = DAE_ARRAY(double, m->variable_count);
    if (!f->parameters || !f->parameter_set || !f->start) return out_of_memory(diag);
    for (size_t v = 0; v < m->variable_count; v++) f->start[v] = NAN;
    if (!reduce(b) || !collect_equations(b)) return out_of_memory(diag);
    dae_status status = check_square(b, diag);
    if (status != DAE_OK) return status;
    if (!differentiate(b) || !make_pattern(b) || !make_programs(b) || !name_unknowns(f) ||
        !build_initial(f))
        return out_of_memory(diag);
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
    size_t equations = f->borrowed ? 0 : f->flat ? f->flat->equation_count : 0;
    free_texts(f->unknown_names, (size_t)f->n);
    free_texts(f->equation_names, equations + (size_t)f->n);
    model_form_free(f->initial);
    dae_free(f->slope_of);
    dae_free(f->pinned);
    for (int k = 0; k < PROGRAMS; k++) {
        code_free(&program_at(f, k)->code);
        dae_free(program_at(f, k)->e);
    }
    dae_free(f->alias);
    dae_free(f->unknown_variable);
    dae_free(f->unknown_order);
    dae_free(f->first_unknown);
    dae_free(f->differential);
    dae_free(f->colptr);
    dae_free(f->rowind);
    dae_free(f->scatter);
    dae_free(f->parameters);
    dae_free(f->parameter_set);
    dae_free(f->start);
    if (!f->borrowed) flat_model_free(f->flat);
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

double model_form_constant(const model_form *f, expr e)
{
    parameter_scan scan = {f, NULL, -1};
    return e == EXPR_NONE ? NAN : graph_value(f->flat->graph, e, parameter_leaf, &scan);
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
            value = q->value == EXPR_NONE
                        ? 0.0
                        : graph_value(f->flat->graph, q->value, parameter_leaf, &scan);
        if (scan.missing >= 0) {
            state[top] = 1;
            if (state[scan.missing] == 1)
                return reject_parameter(f, scan.missing, "depends on itself", diag);
            stack[depth++] = scan.missing;
            continue;
        }
        if (!isfinite(value) && q->type != FLAT_STRING) {
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
    size_t total = 0, size[PROGRAMS];
    for (int k = 0; k < PROGRAMS; k++) {
        const expr_code *c = &program_at((model_form *)f, k)->code;
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
    for (int k = 0; k < PROGRAMS; k++, at += size[k - 1]) m->work_of[k] = at;
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
    for (int k = 0; k < PROGRAMS; k++) {
        const expr_code *c = &program_at((model_form *)m->form, k)->code;
        if (c->tape) tape_prepare(c->tape, &in, m->work_of[k]);
    }
}

/* Run program k at a point, natively if it is compiled. */
static void run_program(model_instance *m, int k, double t, const double *y, const double *yp,
                        double *out)
{
    if (m->function[k]) {
        m->function[k](t, y, yp, NULL, m->parameters, m->memory, out);
        return;
    }
    const tape *program = program_at((model_form *)m->form, k)->code.tape;
    tape_inputs in = inputs_at(m, t, y, yp);
    tape_run(program, &in, m->work_of[k], out);
    m->tape_work += (double)tape_length(program);
}

static int model_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    run_program(user, 0, t, y, yp, f);
    return 0;
}

static int model_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                          void *user)
{
    model_instance *m = user;
    const model_form *f = m->form;
    run_program(m, 1, t, y, yp, m->jacobian_values);
    for (size_t k = 0; k < f->jacobian_outputs; k++) {
        int place = f->scatter[k];
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
        if (fabs(g[r]) <= m->noise) g[r] = 0.0;
    return 0;
}

static int model_conditions(double t, const double *y, const double *yp, double *b, void *user)
{
    run_program(user, 3, t, y, yp, b);
    return 0;
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
    int first = f->first_unknown[root], last = first;
    while (last + 1 < f->n && f->unknown_variable[last + 1] == root) last++;
    int order = leaf->order;
    if (first + order <= last) return sign * at->y[first + order];
    return first + order == last + 1 ? sign * at->yp[last] : NAN;
}

double model_instance_value(const model_instance *m, double t, const double *y, const double *yp,
                            expr e)
{
    point_scan at = {m, t, y, yp};
    return graph_value(m->form->flat->graph, e, point_leaf, &at);
}

void model_form_describe(model_form *f, dae_residual *r)
{
    const flat_model *m = f->flat;
    *r = (dae_residual){.n = f->n,
                        .f = model_residual,
                        .jacobian = model_jacobian,
                        .structure = DAE_STRUCTURE_SPARSE,
                        .colptr = f->colptr,
                        .rowind = f->rowind,
                        .variable_names = (const char *const *)f->unknown_names,
                        .equation_names = (const char *const *)f->equation_names};
    if (f->borrowed) return;
    if (m->relation_count > 0) {
        r->n_events = (int)m->relation_count;
        r->event_function = model_events;
    }
    if (m->initial_count > 0 && !f->initial) { /* too many for a square initial system */
        r->n_conditions = (int)m->initial_count;
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
    emit_function functions[PROGRAMS];
    for (int k = 0; k < PROGRAMS; k++) {
        const model_program *p = program_at((model_form *)f, k);
        functions[k] = (emit_function){.name = PROGRAM_NAMES[k],
                                       .comment = PROGRAM_COMMENTS[k],
                                       .e = p->e,
                                       .count = p->outputs};
    }
    functions[0].labels = (const char *const *)f->equation_names;
    emit_unit(text, f->flat->graph, functions, PROGRAMS, leaf_name, (void *)f);
}

native_status model_instance_compile(model_instance *m, char *reason)
{
    if (m->native) return NATIVE_OK;
    emit_text text = {0};
    model_form_emit(m->form, &text);
    native_status status =
        text.failed ? NATIVE_MEMORY : native_load(text.text, text.length, &m->native, reason);
    emit_free(&text);
    for (int k = 0; k < PROGRAMS && status == NATIVE_OK; k++)
        m->function[k] = native_find(m->native, PROGRAM_NAMES[k]);
    return status;
}

/* In units of one tape instruction, about 2 ns: a compiler needs about 0.2 s to start and 50 us for
 * each instruction of the tape (bench/tape_speed.c). A long silence in the middle of a run is
 * unkind however much it pays, so large models are compiled only when asked. */
static const double COMPILER_START = 1e8, COMPILER_INSTRUCTION = 2.5e4, MOST_INSTRUCTIONS = 4e4;

bool model_instance_worth_compiling(const model_instance *m)
{
    double length = 0.0;
    for (int k = 0; k < PROGRAMS; k++)
        length += (double)tape_length(program_at((model_form *)m->form, k)->code.tape);
    return length <= MOST_INSTRUCTIONS &&
           m->tape_work > COMPILER_START + COMPILER_INSTRUCTION * length;
}
