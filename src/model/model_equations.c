/* The equations of a model over its unknowns, their derivatives, and programs of both. */
#include "model/model_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "model/model_structure.h"
#include "model/model_watch.h"

/* The name of a row that an equation of the text gives, if it has none yet; NULL: it is no such
 * row, or memory (*ok). */
static const char *row_name(model_form *f, int row, bool *ok)
{
    int source = f->equation_source ? f->equation_source[row] : -1;
    if (f->equation_names[row] || source < 0) return f->equation_names[row];
    char *name = flat_equation_name(f->flat, &f->flat->equations[source]);
    if (name) f->equation_names[row] = build_text(f, "", name, "");
    if (!f->equation_names[row] && f->texts) arena_recover(f->texts); /* for who asks again */
    *ok = *ok && f->equation_names[row];
    dae_free(name);
    return f->equation_names[row];
}

const char *model_equation_name(const model_form *form, int row)
{
    bool ok = true;
    graph_enter(form->flat->graph); /* names are no part of what a form is */
    const char *name = row_name((model_form *)form, row, &ok);
    graph_leave(form->flat->graph);
    return name ? name : "an equation";
}

bool model_name_equations(const model_form *form)
{
    bool ok = true;
    if (!form->equation_source) return true; /* no base form: its rows have names */
    graph_enter(form->flat->graph);
    for (int row = 0; ok && row < form->n; row++) row_name((model_form *)form, row, &ok);
    graph_leave(form->flat->graph);
    return ok;
}

static bool add_row(build *b, const char *name, int line, int source, expr residual)
{
    model_form *f = b->f;
    const size_t at = b->equations;
    f->equation_names[at] = name;
    f->equation_lines[at] = line;
    if (f->equation_source) f->equation_source[at] = source;
    b->residuals[at] = residual;
    b->equations++;
    return true;
}

bool build_add_row(build *b, const char *name, int line, int source, expr residual)
{
    return name && add_row(b, name, line, source, residual);
}

/* der(x_i) - x_{i+1} = 0 */
static bool add_definition(build *b, int i)
{
    const flat_model *m = b->f->flat;
    const flat_variable *v = &m->variables[b->f->unknown_variable[i]];
    char name[256];
    snprintf(name, sizeof name, "definition of der(%.200s)", v->name);
    expr next = graph_variable(m->graph, i + 1, 0), slope = graph_variable(m->graph, i, 1);
    return build_add_row(b, build_text(b->f, "", name, ""), v->place.line, -1,
                         graph_binary(m->graph, EXPR_SUB, slope, next));
}

/* Room for so many rows, or for all unknowns, as who reads names has as many. */
static bool row_room(build *b, size_t rows)
{
    model_form *f = b->f;
    const size_t most = rows > (size_t)f->n ? rows : (size_t)f->n;
    b->residuals = DAE_ARRAY(expr, most);
    f->equation_names = DAE_ARRAY(const char *, most);
    f->equation_lines = DAE_ARRAY(int, most);
    f->equation_source = DAE_ARRAY(int, most);
    bool ok = b->residuals && f->equation_names && f->equation_lines && f->equation_source;
    for (size_t i = 0; ok && i < most; i++) f->equation_source[i] = -1;
    return ok;
}

/* residuals = the equations that stay, then der(x_j) - x_{j+1} = 0. The count may differ from n. */
bool build_equations(build *b)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    size_t rows = f->resting;
    for (size_t i = 0; i < m->equation_count; i++) rows += !b->gone[i];
    for (int i = 0; i < f->n; i++) rows += f->unknown_order[i] > 0;
    bool ok = row_room(b, rows);
    for (size_t i = 0; ok && i < m->equation_count; i++) {
        const flat_equation *q = &m->equations[i];
        if (b->gone[i]) continue;
        ok = add_row(b, NULL, q->place.line, (int)i, build_mapped(b, q->residual));
    }
    for (int i = 0; ok && i + 1 < f->n; i++)
        if (f->unknown_order[i + 1] > 0) ok = add_definition(b, i);
    if (ok && f->resting)
        ok = build_add_row(b, "nothing moves", 0, -1, graph_variable(m->graph, 0, 1));
    f->rows = f->n;
    return ok && !graph_failed(m->graph);
}

static bool entry_room(build *b, size_t more)
{
    if (b->entry_count + more <= b->entry_capacity) return true;
    b->dense = b->entry_count + more > MOST_ENTRIES;
    if (b->dense) return false;
    size_t needed = b->entry_count + more;
    size_t capacity[2] = {b->entry_capacity, b->entry_capacity}; /* all are as long */
    return dae_grow(&b->column, &capacity[0], needed, sizeof *b->column) &&
           dae_grow(&b->is_slope, &capacity[1], needed, sizeof *b->is_slope) &&
           dae_grow(&b->entries, &b->entry_capacity, needed, sizeof *b->entries);
}

/* All partial derivatives of one equation. */
static bool add_gradient(build *b, gradient *partial, int row)
{
    graph *g = b->f->flat->graph;
    if (!derive_gradient(g, b->residuals[row], partial)) return false;
    if (!entry_room(b, partial->count) ||
        !dae_grow(&b->row_start, &b->row_capacity, (size_t)row + 2, sizeof *b->row_start))
        return false;
    for (size_t k = 0; k < partial->count; k++) {
        const expr_node *leaf = graph_node(g, partial->leaf[k]);
        size_t at = b->entry_count++;
        b->entries[at] = partial->derivative[k];
        b->column[at] = leaf->index;
        b->is_slope[at] = leaf->order > 0;
        if (leaf->order > 0) b->f->differential[leaf->index] = true;
    }
    b->row_start[row + 1] = b->entry_count;
    b->differentiated = (size_t)row + 1;
    return true;
}

/* The line of the equation after those that have partial derivatives. */
static int line_of_next(const build *b)
{
    return b->differentiated < b->equations ? b->f->equation_lines[b->differentiated] : 0;
}

/* Gradients of the equations from number `first` on. */
bool build_differentiate(build *b, size_t first)
{
    gradient partial = {0};
    bool ok = true;
    for (size_t i = first; i < b->equations && ok; i++) ok = add_gradient(b, &partial, (int)i);
    if (!ok && partial.scratch) b->stopped_line = line_of_next(b);
    gradient_free(&partial);
    return ok;
}

/* One CSC pattern for both matrices: entries come row by row, so each column's rows ascend. The
 * scatter map tells where each Jacobian output goes. */
bool build_pattern(build *b)
{
    model_form *f = b->f;
    const int n = f->n, rows = (int)b->differentiated;
    f->jacobian_outputs = b->entry_count;
    f->colptr = DAE_ARRAY(int, n + 1);
    f->rowind = DAE_ARRAY(int, b->entry_count);
    f->scatter = DAE_ARRAY(int, b->entry_count);
    int *last = DAE_ARRAY(int, n), *fill = DAE_ARRAY(int, n);
    bool ok = f->colptr && f->rowind && f->scatter && last && fill;
    if (ok) {
        for (int j = 0; j < n; j++) last[j] = -1;
        for (int i = 0; i < rows; i++)
            for (size_t k = b->row_start[i]; k < b->row_start[i + 1]; k++) {
                int j = b->column[k];
                if (last[j] != i) f->colptr[j + 1]++;
                last[j] = i;
            }
        for (int j = 0; j < n; j++) f->colptr[j + 1] += f->colptr[j];
        for (int j = 0; j < n; j++) {
            last[j] = -1;
            fill[j] = f->colptr[j];
        }
        for (int i = 0; i < rows; i++)
            for (size_t k = b->row_start[i]; k < b->row_start[i + 1]; k++) {
                int j = b->column[k];
                if (last[j] != i) f->rowind[fill[j]++] = i;
                last[j] = i;
                f->scatter[k] = b->is_slope[k] ? -fill[j] : fill[j] - 1;
            }
    }
    dae_free_all(last, fill, b->row_start, b->column, b->is_slope);
    b->row_start = NULL;
    b->column = NULL;
    b->is_slope = NULL;
    return ok;
}

bool build_expressions(model_program *p, const expr *e, size_t count)
{
    p->outputs = count;
    p->e = dae_copy(e, count, sizeof *e);
    return p->e;
}

bool build_program(model_form *f, model_program *p, const expr *e, size_t count)
{
    return build_expressions(p, e, count) && code_new(&p->code, f->flat->graph, e, count);
}

/* The list of a program, no longer than it is; *e is forgotten. */
static bool move_program(model_form *f, model_program *p, expr **e, size_t count)
{
    bool ok = build_expressions(p, *e, count);
    dae_free(*e);
    *e = NULL;
    return ok && code_new(&p->code, f->flat->graph, p->e, count);
}

bool build_rows(build *b)
{
    return move_program(b->f, &b->f->residual, &b->residuals, b->equations) &&
           move_program(b->f, &b->f->jacobian, &b->entries, b->entry_count);
}

/* Compile a list taken from structures `stride` bytes apart, each expression build_mapped to
 * unknowns. */
static bool program_from_list(build *b, model_program *p, const void *list, size_t count,
                              size_t stride, size_t offset)
{
    expr *e = DAE_ARRAY(expr, count);
    if (!e) return false;
    for (size_t i = 0; i < count; i++) {
        expr source;
        memcpy(&source, (const char *)list + i * stride + offset, sizeof source);
        e[i] = build_mapped(b, source);
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
                                        : build_mapped(b, graph_variable(m->graph, v, 0));
    }
    ok = ok && build_program(f, &f->output, e, (size_t)f->visible_count);
    dae_free(e);
    return ok;
}

static void note_rounded(void *context, const expr_node *node)
{
    struct {
        const model_form *f;
        bool found;
    } *scan = context;
    if (node->op == EXPR_VARIABLE && (node->order > 0 || !scan->f->differential[node->index]))
        scan->found = true;
}

/* A definition is no less rounded than the variable that it would be: a state that equations hold
 * at a value crosses it by rounding. */
static void note_definition(void *context, const expr_node *node)
{
    struct {
        const model_form *f;
        bool found;
    } *scan = context;
    int order, root = build_root_of_leaf(scan->f, node, &order);
    if (root >= 0 && scan->f->alias[root].used) scan->found = true;
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
        if (!graph_leaves(f->flat->graph, &f->crossing.e[r], 1, note_rounded, &scan) ||
            !graph_leaves(f->flat->graph, &f->flat->relations[r].crossing, 1, note_definition,
                          &scan))
            return false;
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
        for (size_t r = 0; r < m->relation_count; r++)
            e[r] = build_mapped(b, m->relations[r].crossing);
        for (size_t k = 0; k < f->watch_count; k++) e[m->relation_count + k] = watches[k];
    }
    ok = e && build_program(f, &f->crossing, e, m->relation_count + f->watch_count);
    dae_free_all(watches, e);
    return ok;
}

/* What is delayed, over the unknowns. */
static bool map_delayed(build *b)
{
    const flat_model *m = b->f->flat;
    b->f->delayed = DAE_ARRAY(expr, m->delay_count);
    if (!b->f->delayed) return false;
    for (size_t i = 0; i < m->delay_count; i++)
        b->f->delayed[i] = build_mapped(b, m->delays[i].value);
    return true;
}

bool build_programs(build *b)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    return build_rows(b) &&
           program_from_list(b, &f->condition, m->initial_equations, f->condition_count,
                             sizeof(flat_equation), offsetof(flat_equation, residual)) &&
           output_program(b) &&
           program_from_list(b, &f->assertion, m->asserts, m->assert_count, sizeof(flat_action),
                             offsetof(flat_action, value)) &&
           crossing_program(b) && build_rounded(f) && map_delayed(b) && !graph_failed(m->graph);
}

/* x as the flat model has it, which stays; der(x), der(der(x)), ..; NULL: memory */
static const char *derived_name(model_form *f, const char *name, int order)
{
    for (int k = 0; k < order && name; k++) name = build_text(f, "der(", name, ")");
    return name;
}

/* Names of unknowns: x, der(x), der(der(x)), .. */
bool build_names(model_form *f)
{
    f->unknown_names = DAE_ARRAY(const char *, f->n);
    if (!f->unknown_names) return false;
    for (int i = 0; i < f->n; i++) {
        const char *name =
            f->resting ? "(nothing)" : f->flat->variables[f->unknown_variable[i]].name;
        f->unknown_names[i] = derived_name(f, name, f->unknown_order[i]);
        if (!f->unknown_names[i]) return false;
    }
    return true;
}
