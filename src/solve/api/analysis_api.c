/* What a model is: the public analysis, in the names of its author. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "expr/print.h"
#include "model/initial_roles.h"
#include "model/model_structure.h"
#include "solve/api/model_values.h"
#include "solve/bind/solver.h"
#include "solve/hybrid/hybrid_parts.h"
#include "structure/linear/linear.h"
#include "structure/mechanical/mechanical.h"
#include "structure/rewrite/constraints.h"

/* Texts are cut here; larger models than this are not started, and no pencil is computed of those
 * larger than that. */
enum { TEXT = 1200, LARGEST_START = 500, LARGEST_PENCIL = 120, MOST_NAMES = 100 };
/* Reciprocal condition below which a block counts as singular, as in model/analyse.c. */
static const double SINGULAR = 1e-11;

/* The report that the caller sees, and behind it what it points to. */
typedef struct record {
    dae_analysis a; /* first: the caller's pointer is this one's */
    arena *texts;
    dae_pencil_report *pencil;
    bool singular_start; /* the search for initial values ended where equations lose rank */
} record;

/* Everything at hand while an analysis is written down. */
typedef struct scribe {
    record *r;
    const model_form *f;
    model_analysis analysis;
    const equation_set *set; /* of the analysis */
    const structure *s;
    analysed_place *places;
    initial_roles roles;
    int *level; /* per block: how often equations are differentiated to determine it */
    int n;      /* unknowns of the set that count, and blocks of them: outputs come behind these */
    int blocks;
    int *offset; /* per flat variable, of a definition: how often it is differentiated */
    int *output; /* per flat variable: its number among the evaluated ones, or -1 */
} scribe;

static void *room(record *r, size_t count, size_t size)
{
    return arena_alloc(r->texts, count * size + 1);
}

static const char *keep(record *r, const char *text)
{
    return arena_text(r->texts, text, strlen(text));
}

void dae_analysis_free(dae_analysis *analysis)
{
    record *r = (record *)analysis;
    if (!r) return;
    dae_pencil_report_free(r->pencil);
    arena_free(r->texts);
    dae_free(r);
}

static record *record_new(void)
{
    record *r = DAE_NEW(record);
    if (r) r->texts = arena_new(0), r->a.size = sizeof r->a;
    if (r && r->texts) return r;
    dae_free(r);
    return NULL;
}

/* ---- structurally singular models ---- */

static bool write_part(record *r, const flat_model *m, const flat_parts *parts, int k,
                       dae_analysis_part *out)
{
    const singular_part *p = &parts->report.part[k];
    int rows = p->rows < MOST_NAMES ? p->rows : MOST_NAMES;
    int columns = p->columns < MOST_NAMES ? p->columns : MOST_NAMES;
    const char **equations = room(r, (size_t)rows, sizeof *equations);
    const char **unknowns = room(r, (size_t)columns, sizeof *unknowns);
    int *lines = room(r, (size_t)rows, sizeof *lines);
    if (!equations || !unknowns || !lines) return false;
    for (int i = 0; i < rows; i++) {
        const flat_equation *q = &m->equations[p->row[i]];
        char *name = flat_equation_name(m, q);
        equations[i] = keep(r, name ? name : "?");
        lines[i] = q->place.line;
        dae_free(name);
    }
    for (int j = 0; j < columns; j++)
        unknowns[j] = keep(r, m->variables[parts->variable[p->column[j]]].name);
    *out = (dae_analysis_part){.over = p->over,
                               .equation_count = p->rows,
                               .unknown_count = p->columns,
                               .equations = equations,
                               .lines = lines,
                               .unknowns = unknowns};
    return true;
}

/* An analysis of nothing but the parts of a singular model. */
static bool write_parts(record *r, const flat_model *m)
{
    flat_parts parts;
    dae_analysis *a = &r->a;
    if (!flat_parts_find(&parts, m)) return false;
    dae_analysis_part *out = room(r, (size_t)parts.report.count, sizeof *out);
    bool ok = out;
    for (int k = 0; ok && k < parts.report.count; k++) ok = write_part(r, m, &parts, k, &out[k]);
    a->model = keep(r, m->name);
    a->equations = (int)m->equation_count;
    a->unknowns = parts.unknowns;
    a->singular = true;
    a->parts = out;
    a->part_count = parts.report.count;
    a->index = a->freedom = -1;
    a->rewrite_failure = "";
    a->condition = NAN;
    flat_parts_free(&parts);
    return ok && !arena_failed(r->texts);
}

/* ---- equations, unknowns, blocks ---- */

/* The equation of output k, solved for it. */
static bool write_output(scribe *w, int k, dae_analysis_equation *out)
{
    const flat_model *m = w->f->flat;
    const model_alias *a = &w->f->alias[w->f->evaluated[k]];
    const flat_equation *q = &m->equations[a->equation];
    char text[TEXT], *name = flat_equation_name(m, q);
    if (!name) return false;
    out->name = keep(w->r, name);
    dae_free(name);
    out->line = q->place.line;
    out->determines = w->n + k;
    out->block = w->blocks + k;
    out->determined = keep(w->r, m->variables[w->f->evaluated[k]].name);
    int length = snprintf(text, sizeof text, "%.300s = ", out->determined ? out->determined : "?");
    expr_print(m->graph, a->value, flat_leaf_name, (void *)m, text + length,
               sizeof text - (size_t)length);
    out->text = keep(w->r, text);
    return true;
}

static bool write_equations(scribe *w)
{
    record *r = w->r;
    size_t n = (size_t)w->n;
    bool ok = true;
    dae_analysis_equation *out = room(r, n + (size_t)w->f->evaluated_count, sizeof *out);
    char text[TEXT];
    for (size_t i = 0; out && i < n; i++) {
        const equation_row *row = &w->set->row[i];
        int j = w->s->match[i];
        out[i].name = keep(r, row->name ? row->name : "");
        out[i].line = row->line;
        equation_set_print(w->set, row->residual, text, sizeof text);
        out[i].text = keep(r, text);
        out[i].offset = w->s->c[i];
        out[i].block = w->s->blocks.of_row[i];
        out[i].determines = j;
        out[i].determined =
            keep(r, equation_set_variable(w->set, j, w->s->d[j] - w->s->c[i], text, sizeof text));
    }
    for (int k = 0; out && ok && k < w->f->evaluated_count; k++)
        ok = write_output(w, k, &out[w->n + k]);
    r->a.equation = out;
    return out && ok;
}

static bool write_unknowns(scribe *w)
{
    record *r = w->r;
    int n = w->n, outputs = w->f->evaluated_count;
    dae_analysis_unknown *out = room(r, (size_t)(n + outputs), sizeof *out);
    for (int k = 0; out && k < outputs; k++)
        out[n + k] =
            (dae_analysis_unknown){.name = keep(r, w->f->flat->variables[w->f->evaluated[k]].name),
                                   .block = w->blocks + k};
    for (int j = 0; out && j < n; j++) {
        const char *name = w->set->name[j];
        out[j] = (dae_analysis_unknown){.name = keep(r, name ? name : "?"),
                                        .offset = w->s->d[j],
                                        .block = w->s->blocks.of_column[j]};
    }
    r->a.unknown = out;
    return out;
}

static const int *keep_integers(record *r, const int *source, size_t count)
{
    int *out = room(r, count, sizeof *out);
    if (out && count > 0) memcpy(out, source, count * sizeof *out);
    return out;
}

/* from[0 .. count) and then first, first + 1, .. */
static const int *extend(record *r, const int *from, int count, int first, int more)
{
    int *out = room(r, (size_t)(count + more), sizeof *out);
    for (int i = 0; out && i < count; i++) out[i] = from[i];
    for (int k = 0; out && k < more; k++) out[count + k] = first + k;
    return out;
}

typedef struct entry_list {
    const scribe *w;
    int *unknown, *order, count;
} entry_list;

/* Where a leaf of an output is among the unknowns. */
static void add_entry(void *context, const expr_node *node)
{
    entry_list *list = context;
    const scribe *w = list->w;
    if (node->op != EXPR_VARIABLE) return;
    int top = w->f->alias[node->index].top, u = w->f->first_unknown[top];
    int unknown = w->output[top] >= 0 ? w->n + w->output[top] : -1, order = 0;
    if (u >= 0) unknown = w->places[u].variable, order = w->places[u].order;
    if (unknown < 0) return; /* a constant */
    for (int k = list->count; k-- > 0;)
        if (list->unknown[k] == unknown && list->order[k] == order) return;
    list->unknown[list->count] = unknown;
    list->order[list->count++] = order;
}

/* The leaves of output k and the output itself. */
static bool output_entries(entry_list *list, int k)
{
    const model_form *f = list->w->f;
    list->count = 0;
    list->unknown[list->count] = list->w->n + k;
    list->order[list->count++] = 0;
    return graph_leaves(f->flat->graph, &f->alias[f->evaluated[k]].value, 1, add_entry, list);
}

/* Append the entries of the outputs behind those of the set: twice, to count and to write. */
static bool write_entries(scribe *w)
{
    const model_form *f = w->f;
    record *r = w->r;
    const signature *sigma = &w->s->sigma;
    int outputs = f->evaluated_count, own = w->n > 0 ? sigma->start[w->n] : 0;
    size_t nv = f->flat->variable_count;
    int *work = DAE_ARRAY(int, 2 * nv + 2),
        *start = room(r, (size_t)(w->n + outputs) + 1, sizeof *start);
    int *unknown = NULL, *order = NULL;
    bool ok = work && start;
    entry_list list = {w, work, work ? work + nv + 1 : NULL, 0};
    for (int i = 0; ok && i <= w->n; i++) start[i] = w->n > 0 ? sigma->start[i] : 0;
    for (int k = 0; ok && k < outputs; k++) {
        ok = output_entries(&list, k);
        start[w->n + k + 1] = start[w->n + k] + list.count;
    }
    if (ok) {
        unknown = room(r, (size_t)start[w->n + outputs], sizeof *unknown);
        order = room(r, (size_t)start[w->n + outputs], sizeof *order);
        ok = unknown && order;
    }
    for (int e = 0; ok && e < own; e++) unknown[e] = sigma->column[e], order[e] = sigma->order[e];
    for (int k = 0; ok && k < outputs; k++) {
        ok = output_entries(&list, k);
        for (int e = 0; ok && e < list.count; e++) {
            unknown[start[w->n + k] + e] = list.unknown[e];
            order[start[w->n + k] + e] = list.order[e];
        }
    }
    dae_free(work);
    r->a.entry_start = start;
    r->a.entry_unknown = unknown;
    r->a.entry_order = order;
    return ok;
}

static bool write_blocks(scribe *w)
{
    record *r = w->r;
    const block_form *b = &w->s->blocks;
    int n = w->n, outputs = w->f->evaluated_count;
    r->a.block_count = w->blocks + outputs;
    r->a.block_start = extend(r, b->start, w->blocks + 1, n + 1, outputs);
    r->a.block_equation = extend(r, b->rows, n, n, outputs);
    r->a.block_unknown = extend(r, b->columns, n, n, outputs);
    return write_entries(w);
}

/* level[b] = largest c of the equations that block b depends on by highest derivatives, itself
 * included: so often some equation is differentiated until x_j^(d_j) of the block is known. An
 * equation that was combined from others counts what was differentiated there. */
static bool find_levels(scribe *w)
{
    const structure *s = w->s;
    const block_form *b = &s->blocks;
    w->level = DAE_ARRAY(int, b->count);
    if (!w->level) return false;
    for (int k = 0; k < b->count; k++)
        for (int at = b->start[k]; at < b->start[k + 1]; at++) {
            int i = b->rows[at], own = s->c[i] + w->set->row[i].times;
            if (own > w->level[k]) w->level[k] = own;
            for (int e = s->sigma.start[i]; e < s->sigma.start[i + 1]; e++) {
                int j = s->sigma.column[e], of = b->of_column[j];
                bool top = s->sigma.order[e] == s->d[j] - s->c[i];
                if (top && of < k && w->level[of] > w->level[k]) w->level[k] = w->level[of];
            }
        }
    return true;
}

/* ---- definitions ---- */

static bool number_outputs(scribe *w)
{
    const size_t count = w->f->flat->variable_count;
    w->output = DAE_ARRAY(int, count);
    for (size_t v = 0; w->output && v < count; v++) w->output[v] = -1;
    for (int k = 0; w->output && k < w->f->evaluated_count; k++) w->output[w->f->evaluated[k]] = k;
    return w->output != NULL;
}

typedef struct use_scan {
    const scribe *w;
    int offset; /* of what contains the leaf */
} use_scan;

static void note_offset(void *context, const expr_node *leaf)
{
    const use_scan *scan = context;
    const model_form *f = scan->w->f;
    if (leaf->op != EXPR_VARIABLE || !f->alias[f->alias[leaf->index].top].used) return;
    int *offset = &scan->w->offset[f->alias[leaf->index].top];
    if (scan->offset > *offset) *offset = scan->offset;
}

/* A definition is differentiated as often as any equation that contains it, by others or not. */
static bool find_definition_offsets(scribe *w)
{
    const model_form *f = w->f;
    const flat_model *m = f->flat;
    bool ok = (w->offset = DAE_ARRAY(int, m->variable_count)) != NULL;
    for (int i = 0; ok && i < w->n && f->definition_count > 0; i++) {
        int row = w->set->row[i].source, at = row >= 0 ? f->equation_source[row] : -1;
        use_scan scan = {w, w->s->c[i]};
        if (at >= 0) ok = graph_leaves(m->graph, &m->equations[at].residual, 1, note_offset, &scan);
    }
    for (int k = f->definition_count; ok && k-- > 0;) {
        use_scan scan = {w, w->offset[f->evaluated[k]]};
        ok = graph_leaves(m->graph, &f->alias[f->evaluated[k]].value, 1, note_offset, &scan);
    }
    return ok;
}

typedef struct level_scan {
    const scribe *w;
    int offset, level;
} level_scan;

static void note_level(void *context, const expr_node *leaf)
{
    level_scan *scan = context;
    const scribe *w = scan->w;
    if (leaf->op != EXPR_VARIABLE || w->n == 0 || w->places[leaf->index].variable < 0) return;
    const analysed_place *at = &w->places[leaf->index];
    int level = w->level[w->s->blocks.of_column[at->variable]];
    bool top = at->order == w->s->d[at->variable] - scan->offset;
    if (top && level > scan->level) scan->level = level;
}

/* The index of a definition, as of an algebraic variable by the highest derivatives in it. */
static int definition_index(const scribe *w, int v)
{
    level_scan scan = {w, w->offset[v], w->offset[v]};
    graph_leaves(w->f->flat->graph, &w->f->alias[v].mapped, 1, note_level, &scan);
    return 1 + scan.level - scan.offset;
}

/* ---- variables ---- */

static int flat_unknown(const model_form *f, int v)
{
    return f->first_unknown[f->alias[v].top];
}

static void place_variable(const scribe *w, int v, dae_analysis_variable *out)
{
    const model_form *f = w->f;
    int u = flat_unknown(f, v);
    int top = f->alias[v].top;
    out->unknown = -1;
    out->index = w->r->a.agree ? 1 : -1;
    out->output = f->alias[top].evaluated && !f->alias[top].used;
    if (f->alias[top].used && w->r->a.agree) out->index = definition_index(w, top);
    if (w->output[top] >= 0) {
        out->unknown = w->n + w->output[top];
        out->sign = f->alias[v].top_sign;
    }
    if (u < 0) return;
    const analysed_place *at = &w->places[u];
    out->differential = f->differential[u];
    if (at->variable < 0) return;
    int j = at->variable, stage = w->s->d[j] - at->order;
    int number = w->roles.place ? w->roles.place[j] + at->order : -1;
    out->unknown = j;
    out->order = at->order;
    out->sign = at->sign * f->alias[v].top_sign;
    int more = w->level[w->s->blocks.of_column[j]] - stage;
    if (w->r->a.agree) out->index = out->differential ? 0 : 1 + (more > 0 ? more : 0);
    if (number < 0 || stage < 0) return;
    if (w->roles.fixed[number])
        out->role = DAE_ROLE_FIXED;
    else if (w->roles.open[number] && stage > 0)
        out->role = DAE_ROLE_FREE;
}

static bool write_variables(scribe *w, const double *values)
{
    const model_form *f = w->f;
    record *r = w->r;
    dae_analysis_variable *out = room(r, (size_t)f->visible_count, sizeof *out);
    int count = 0;
    for (int k = 0; out && k < f->visible_count; k++) {
        int v = f->visible[k];
        const flat_variable *q = &f->flat->variables[v];
        if (q->discrete) continue;
        dae_analysis_variable *x = &out[count++];
        x->name = keep(r, q->name);
        x->line = q->place.line;
        x->sign = 1;
        x->start = hybrid_start_value(f, (size_t)v);
        x->value = values ? values[k] : NAN;
        place_variable(w, v, x);
    }
    r->a.variables = out;
    r->a.variable_count = count;
    return out;
}

/* ---- constraints ---- */

static int compare_lines(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Lines of the equations that a constraint was made of, increasing, each once. */
static void write_lines(scribe *w, const constraint *c, dae_analysis_constraint *out)
{
    int lines[CONSTRAINT_SOURCES + 1], count = 0, kept = 0;
    int used = c->used_count < CONSTRAINT_SOURCES ? c->used_count : CONSTRAINT_SOURCES;
    lines[count++] = w->set->row[c->row].line;
    for (int k = 0; k < used; k++) lines[count++] = w->set->row[c->used[k]].line;
    for (int k = 1; k < count; k++) /* a few: insertion */
        for (int i = k; i > 0 && compare_lines(&lines[i - 1], &lines[i]) > 0; i--) {
            int t = lines[i];
            lines[i] = lines[i - 1];
            lines[i - 1] = t;
        }
    for (int k = 0; k < count; k++)
        if (kept == 0 || lines[kept - 1] != lines[k]) lines[kept++] = lines[k];
    out->lines = keep_integers(w->r, lines, (size_t)kept);
    out->line_count = kept;
}

static bool write_constraints(scribe *w)
{
    record *r = w->r;
    constraint_list list;
    char text[TEXT];
    if (!constraints_find(w->set, w->s, &list)) return false;
    dae_analysis_constraint *out = room(r, (size_t)list.count, sizeof *out);
    for (int k = 0; out && k < list.count; k++) {
        const constraint *c = &list.item[k];
        equation_set_print(w->set, c->residual, text, sizeof text);
        out[k] = (dae_analysis_constraint){.text = keep(r, text),
                                           .hidden = c->hidden,
                                           .equation = c->row,
                                           .times = c->times + w->set->row[c->row].times,
                                           .derivatives = c->derivatives};
        write_lines(w, c, &out[k]);
        r->a.hidden_count += c->hidden;
    }
    r->a.constraints = out;
    r->a.constraint_count = list.count;
    constraint_list_free(&list);
    return out;
}

/* ---- numbers ---- */

static bool write_culprits(scribe *w, const certificate *c)
{
    record *r = w->r;
    const char **names = room(r, (size_t)c->column_count, sizeof *names);
    char text[TEXT];
    for (int k = 0; names && k < c->column_count; k++) {
        int j = c->column[k];
        names[k] = keep(r, equation_set_variable(w->set, j, w->s->d[j], text, sizeof text));
    }
    r->a.culprit_equations = keep_integers(r, c->row, (size_t)c->row_count);
    r->a.culprit_equation_count = c->row_count;
    r->a.culprit_unknowns = names;
    r->a.culprit_unknown_count = names ? c->column_count : 0;
    return names && r->a.culprit_equations;
}

static bool only_own_variables(const equation_set *set)
{
    for (int j = 0; j < set->n; j++)
        if (set->model[j] < 0) return false;
    return true;
}

/* The system Jacobian at the very point. */
static bool certify_here(scribe *w, const model_point *at)
{
    int orders = 1;
    for (int j = 0; j < w->set->n; j++)
        if (w->s->d[j] >= orders) orders = w->s->d[j] + 1;
    double **x = analysed_values(w->set, at, orders);
    equation_point point = {at->t, (const double *const *)x, orders, at->parameters, at->memory};
    system_jacobian J = {0};
    certificate c = {0};
    bool ok = x && system_jacobian_new(&J, w->set, w->s) && certify(&J, w->s, &point, SINGULAR, &c);
    if (ok) {
        w->r->a.agree_here = c.valid;
        w->r->a.condition = c.condition;
        if (!c.valid) ok = write_culprits(w, &c);
    }
    certificate_free(&c);
    system_jacobian_free(&J);
    dae_free(x);
    return ok;
}

static bool write_numbers(scribe *w, const model_point *at)
{
    record *r = w->r;
    const model_analysis *m = &w->analysis;
    const char **steps = room(r, (size_t)m->rewrites.count, sizeof *steps);
    if (!steps) return false;
    for (int k = 0; k < m->rewrites.count; k++) steps[k] = keep(r, m->rewrites.step[k].text);
    r->a.rewrites = steps;
    r->a.rewrite_count = m->numbers_agree ? m->rewrites.count : 0;
    r->a.rewrite_failure = m->numbers_agree ? "" : keep(r, m->rewrites.reason);
    r->a.condition = m->rewrites.count > 0 ? NAN : m->certificate.condition;
    if (!r->a.agree) return write_culprits(w, &m->certificate);
    r->a.agree_here = true;
    bool here = r->a.consistent || r->singular_start;
    return !here || !only_own_variables(w->set) || certify_here(w, at);
}

/* Whether the equations are those of a mechanism, with or without constraints. */
static bool write_mechanical(scribe *w, const model_point *at)
{
    if (w->set->n > LARGEST_START || !w->r->a.agree || w->f->resting) return true;
    double **x = analysed_values(w->set, at, 2);
    equation_point point = {at->t, (const double *const *)x, 2, at->parameters, at->memory};
    mechanical m = {0};
    char reason[512];
    mechanical_status status = MECHANICAL_MEMORY;
    if (x) status = mechanical_recognise_any(w->set, &point, &m, reason, sizeof reason);
    if (status == MECHANICAL_OK) {
        w->r->a.positions = m.nq;
        w->r->a.multipliers = m.nlambda;
        w->r->a.contacts = m.ns;
        w->r->a.velocity_constraints = m.nvelocity;
        w->r->a.friction = m.friction;
        mechanical_free(&m);
    }
    dae_free(x);
    return status != MECHANICAL_MEMORY;
}

/* ---- linear models ---- */

/* Kronecker's structure of a small model that is linear with constant coefficients. */
static bool write_pencil(scribe *w, const mode_slots *slots, const model_point *at)
{
    const model_form *f = w->f;
    size_t n = (size_t)f->n;
    equation_set set = {0};
    if (f->n > LARGEST_PENCIL || f->resting) return true;
    double *matrices = DAE_ARRAY(double, 2 * n * n), *A = matrices, *B = matrices + n * n;
    equation_point point = {.time = at->t, .parameters = at->parameters, .memory = at->memory};
    bool ok = matrices && model_equations(f, slots, at->memory, &set);
    linearity linear = ok ? equation_set_linear(&set, &point, A, B) : LINEARITY_UNKNOWN;
    if (linear == LINEARITY_CONSTANT) {
        dae_pencil matrices_of = {.n = f->n,
                                  .a = A,
                                  .b = B,
                                  .variable_names = (const char *const *)f->unknown_names,
                                  .equation_names = (const char *const *)f->equation_names};
        ok = dae_pencil_analyse(&matrices_of, &w->r->pencil, NULL) == DAE_OK;
        w->r->a.pencil = w->r->pencil;
    }
    equation_set_free(&set);
    dae_free(matrices);
    return ok && linear != LINEARITY_UNKNOWN;
}

/* ---- modes ---- */

/* "x - 1 < 0", or the name of a discrete variable */
static void slot_text(const flat_model *m, int slot, char *text, size_t size)
{
    snprintf(text, size, "condition %d", slot + 1);
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].memory == slot)
            snprintf(text, size, "%s", m->variables[v].name);
        else if (m->variables[v].discrete && m->variables[v].memory_pre == slot)
            snprintf(text, size, "pre(%s)", m->variables[v].name);
    for (size_t k = 0; k < m->relation_count; k++) {
        const flat_relation *q = &m->relations[k];
        if (q->memory != slot) continue;
        size_t length =
            expr_print(m->graph, q->crossing, flat_leaf_name, (void *)m, text, size - 6);
        if (length < size - 6) snprintf(text + length, 6, q->strict ? " < 0" : " <= 0");
    }
}

static bool write_modes(scribe *w, const mode_slots *slots, const double *memory)
{
    dae_analysis_mode *out = room(w->r, (size_t)slots->count, sizeof *out);
    char text[TEXT];
    for (int k = 0; out && k < slots->count; k++) {
        slot_text(w->f->flat, slots->slot[k], text, sizeof text);
        out[k] = (dae_analysis_mode){keep(w->r, text), memory[slots->slot[k]]};
    }
    w->r->a.modes = out;
    w->r->a.mode_count = slots->count;
    return out;
}

/* ---- everything together ---- */

/* In the mode at hand the equations are singular, though in another they may not be. */
static bool write_singular_mode(scribe *w)
{
    record *r = w->r;
    const equation_set *set = &w->analysis.reduced.set;
    const singular_report *report = &w->analysis.written.parts;
    dae_analysis_part *out = room(r, (size_t)report->count, sizeof *out);
    for (int k = 0; out && k < report->count; k++) {
        const singular_part *p = &report->part[k];
        int rows = p->rows < MOST_NAMES ? p->rows : MOST_NAMES;
        int columns = p->columns < MOST_NAMES ? p->columns : MOST_NAMES;
        const char **equations = room(r, (size_t)rows, sizeof *equations);
        const char **unknowns = room(r, (size_t)columns, sizeof *unknowns);
        int *lines = room(r, (size_t)rows, sizeof *lines);
        if (!equations || !unknowns || !lines) return false;
        for (int i = 0; i < rows; i++) {
            equations[i] = keep(r, set->row[p->row[i]].name);
            lines[i] = set->row[p->row[i]].line;
        }
        for (int j = 0; j < columns; j++) unknowns[j] = keep(r, set->name[p->column[j]]);
        out[k] = (dae_analysis_part){.over = p->over,
                                     .equation_count = p->rows,
                                     .unknown_count = p->columns,
                                     .equations = equations,
                                     .lines = lines,
                                     .unknowns = unknowns};
    }
    r->a.singular = true;
    r->a.parts = out;
    r->a.part_count = report->count;
    r->a.index = r->a.freedom = -1;
    r->a.rewrite_failure = "";
    r->a.condition = NAN;
    return out;
}

static void write_counts(scribe *w)
{
    const model_form *f = w->f;
    dae_analysis *a = &w->r->a;
    a->model = keep(w->r, f->flat->name);
    a->equations = (int)f->flat->equation_count;
    for (size_t v = 0; v < f->flat->variable_count; v++)
        a->unknowns += !f->flat->variables[v].discrete;
    a->remaining = (f->resting ? 0 : f->n) + f->evaluated_count;
    a->condition_count = (int)f->condition_count;
}

static bool write_regular(scribe *w, const mode_slots *slots, const model_point *at,
                          const double *values)
{
    dae_analysis *a = &w->r->a;
    const model_analysis *m = &w->analysis;
    int outputs = w->f->evaluated_count;
    w->n = w->f->resting ? 0 : w->set->n;
    w->blocks = w->f->resting ? 0 : w->s->blocks.count;
    a->analysed = w->n + outputs;
    a->structural_index = m->written.index;
    a->reduced_index = w->s->index;
    a->agree = m->numbers_agree;
    a->index = a->agree ? m->index : -1;
    a->freedom = a->agree ? w->s->freedom : -1;
    w->places = analysed_places(w->set, w->f);
    bool ok = w->places && find_levels(w) && number_outputs(w) && find_definition_offsets(w);
    if (ok && a->agree)
        ok = initial_roles_find(&w->roles, w->set, w->s, w->f, w->places) && write_constraints(w);
    a->fixed_count = w->roles.fixed_count;
    a->to_choose = w->roles.to_choose;
    a->unsettled = w->roles.unsettled;
    ok = ok && write_equations(w) && write_unknowns(w) && write_variables(w, values) &&
         write_numbers(w, at) && write_mechanical(w, at) && write_pencil(w, slots, at);
    if (w->f->resting) a->freedom = a->index = a->structural_index = a->reduced_index = 0;
    if (outputs > 0 && a->index == 0) a->index = 1;
    if (outputs > 0 && a->structural_index == 0) a->structural_index = 1;
    if (outputs > 0 && a->reduced_index == 0) a->reduced_index = 1;
    return ok && write_blocks(w);
}

/* Analyse at a point and write it down; the graph is ours meanwhile. */
static dae_status write_analysis(scribe *w, const model_point *at, const double *values,
                                 dae_diag *diag)
{
    graph *g = w->f->flat->graph;
    mode_slots slots = {0};
    graph_enter(g);
    bool ok = mode_slots_find(&slots, w->f);
    dae_status status = ok ? model_analyse(w->f, &slots, at, &w->analysis, diag) : DAE_ERR_MEMORY;
    if (status == DAE_OK) {
        w->set = &w->analysis.reduced.set;
        w->s = &w->analysis.reduced.structure;
        write_counts(w);
        ok = write_modes(w, &slots, at->memory) &&
             (w->analysis.written.singular ? write_singular_mode(w)
                                           : write_regular(w, &slots, at, values));
        if (!ok || arena_failed(w->r->texts)) status = DAE_ERR_MEMORY;
        model_analysis_free(&w->analysis);
    }
    graph_recover(g);
    graph_leave(g);
    mode_slots_free(&slots);
    dae_free_all(w->places, w->level, w->offset, w->output);
    initial_roles_free(&w->roles);
    return status;
}

/* ---- the initial point ---- */

typedef struct initial_point {
    dae_solver *solver;      /* owned; NULL: large, then */
    hybrid *own;             /* the discrete side alone; owned */
    double *y, *yp, *values; /* owned: unknowns, derivatives, variables */
} initial_point;

static void point_free(initial_point *p)
{
    dae_solver_free(p->solver);
    hybrid_free(p->own);
    dae_free_all(p->y, p->yp, p->values);
}

/* The start values of a large model, and the mode they say, without a solver. */
static dae_status take_start_values(const model_form *f, double t, initial_point *p)
{
    dae_solver bare = {.bound = {.n = f->n, .y = p->y, .yp = p->yp, .unknowns = &unknowns_as_given},
                       .hybrid = hybrid_new(f)};
    p->own = bare.hybrid;
    if (!p->own) return DAE_ERR_MEMORY;
    hybrid_start_values(&bare);
    memory_start(&bare);
    relations_start(&bare, t);
    return DAE_OK;
}

/* Values at consistent initial values, or else at the start values. */
static dae_status find_point(const dae_problem *problem, double t, initial_point *p, record *r,
                             dae_diag *diag)
{
    const model_form *f = problem->model;
    p->y = DAE_ARRAY(double, f->n);
    p->yp = DAE_ARRAY(double, f->n);
    p->values = DAE_ARRAY(double, f->visible_count);
    if (!p->y || !p->yp || !p->values) return DAE_ERR_MEMORY;
    if (f->n > LARGEST_START) return take_start_values(f, t, p);
    dae_status status = solver_new(problem, NULL, &p->solver, diag);
    if (status != DAE_OK) return status;
    dae_solver *s = p->solver;
    hybrid_start_values(s);
    vector_copy(f->n, s->bound.y, p->y);
    status = dae_solver_start(s, t, NULL, NULL);
    if (status == DAE_ERR_MEMORY) return status;
    r->a.consistent = status == DAE_OK && dae_solver_at(s, t, 0, p->y) == DAE_OK &&
                      dae_solver_at(s, t, 1, p->yp) == DAE_OK &&
                      dae_solver_variables(s, t, p->values) == DAE_OK;
    if (status != DAE_OK) snprintf(r->a.initial_text, sizeof r->a.initial_text, "%s", s->diag.text);
    return DAE_OK;
}

static dae_status analyse(const dae_problem *problem, double t, dae_analysis **analysis,
                          dae_diag *diag)
{
    const flat_experiment *e = &problem->model->flat->experiment;
    if (isnan(t)) t = e->has_start ? e->start : 0.0;
    initial_point p = {0};
    scribe w = {.r = record_new(), .f = problem->model};
    dae_status status = w.r ? find_point(problem, t, &p, w.r, diag) : DAE_ERR_MEMORY;
    if (status == DAE_OK) {
        w.r->a.t = t;
        const model_instance *m = (p.solver ? p.solver->hybrid : p.own)->instance;
        model_point at = {t, p.y, p.yp, m->parameters, m->memory};
        status = write_analysis(&w, &at, w.r->a.consistent ? p.values : NULL, diag);
    }
    point_free(&p);
    if (status == DAE_OK) {
        *analysis = &w.r->a;
        return DAE_OK;
    }
    dae_analysis_free(w.r ? &w.r->a : NULL);
    if (status == DAE_ERR_MEMORY)
        diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the analysis of the model.");
    return status;
}

dae_status dae_problem_analyse(const dae_problem *problem, double t, dae_analysis **analysis,
                               dae_diag *diag)
{
    diag_clear(diag);
    if (!analysis)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_analyse: analysis is NULL.");
    *analysis = NULL;
    if (!problem || !problem->model)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_problem_analyse needs a problem from a model text.");
    interrupt_scope scope;
    interrupt_open(&scope, problem->interrupt, problem->interrupt_user);
    dae_status status = analyse(problem, t, analysis, diag);
    if (!interrupt_close(&scope)) return status;
    dae_analysis_free(*analysis);
    *analysis = NULL;
    return interrupt_explain(diag, "the analysis of the model");
}

dae_status dae_model_analyse_sized(const dae_model *model, size_t size, double t,
                                   dae_analysis **analysis, dae_diag *diag)
{
    dae_problem *problem = NULL;
    flat_model *singular = NULL;
    diag_clear(diag);
    if (!analysis) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_model_analyse: analysis is NULL.");
    *analysis = NULL;
    dae_status status = model_problem(model, size, &problem, &singular, diag);
    if (status == DAE_OK) status = dae_problem_analyse(problem, t, analysis, diag);
    if (singular) {
        record *r = record_new();
        bool ok = r && write_parts(r, singular);
        if (ok)
            *analysis = &r->a;
        else
            dae_analysis_free(r ? &r->a : NULL);
        status = ok ? DAE_OK : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the analysis.");
        if (ok) diag_clear(diag);
        flat_model_free(singular);
    }
    dae_problem_free(problem);
    return status;
}
