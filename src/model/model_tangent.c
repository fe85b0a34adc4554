#include "model/model_tangent.h"

#include <stdlib.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "model/model_build.h"

void tangent_inputs_free(tangent_inputs *in)
{
    dae_free_all(in->parameter, in->memory);
    *in = (tangent_inputs){0};
}

/* By what an entry is a derivative. */
typedef enum entry_kind { BY_VALUE, BY_SLOPE, BY_INPUT, BY_TIME } entry_kind;

typedef struct tangent_entry {
    int row, column;
    entry_kind kind;
} tangent_entry;

struct model_tangent {
    int rows;
    size_t count;         /* entries, row by row; owned: */
    tangent_entry *entry; /* what they are, */
    double *value;        /* and their values at the last point */
    size_t *first;        /* rows + 1: where the entries of a row begin; owned */
    size_t capacity;      /* of entry */
    expr_code code;
};

void model_tangent_free(model_tangent *m)
{
    if (!m) return;
    code_free(&m->code);
    dae_free_all(m->entry, m->value, m->first, m);
}

/* ---- inputs as variables, so that one sweep gives the derivatives by all of them ---- */

typedef struct input_map {
    const tangent_inputs *in;
    int n;
    expr *back; /* per input: the leaf that it stands for */
} input_map;

static expr to_variable(void *context, graph *g, expr leaf)
{
    const input_map *map = context;
    const expr_node *node = graph_node(g, leaf);
    int number = -1;
    if (node->op == EXPR_PARAMETER) number = map->in->parameter[node->index];
    if (node->op == EXPR_MEMORY) number = map->in->memory[node->index];
    if (number < 0) return leaf;
    map->back[number] = leaf;
    return graph_variable(g, map->n + number, 0);
}

static expr from_variable(void *context, graph *g, expr leaf)
{
    const input_map *map = context;
    const expr_node *node = graph_node(g, leaf);
    bool input = node->op == EXPR_VARIABLE && node->index >= map->n;
    return input ? map->back[node->index - map->n] : leaf;
}

/* ---- making ---- */

static bool add_entry(model_tangent *m, expr **list, int row, int column, entry_kind kind, expr e)
{
    size_t room = m->capacity;
    if (e == EXPR_NONE) return false;
    if (!dae_grow(list, &room, m->count + 1, sizeof **list)) return false;
    if (!dae_grow(&m->entry, &m->capacity, m->count + 1, sizeof *m->entry)) return false;
    m->entry[m->count] = (tangent_entry){row, column, kind};
    (*list)[m->count++] = e;
    return true;
}

/* All derivatives of one expression, in terms of the leaves as they were. */
static bool differentiate(model_tangent *m, graph *g, input_map *map, expr e, int row,
                          bool with_unknowns, gradient *partial, expr **list)
{
    expr moved = graph_substitute(g, e, to_variable, map);
    expr time = derive_partial(g, e, graph_time(g));
    if (moved == EXPR_NONE || time == EXPR_NONE || !derive_gradient(g, moved, partial))
        return false;
    for (size_t k = 0; k < partial->count; k++) {
        const expr_node *leaf = graph_node(g, partial->leaf[k]);
        bool input = leaf->index >= map->n;
        entry_kind kind = input ? BY_INPUT : leaf->order > 0 ? BY_SLOPE : BY_VALUE;
        int column = input ? leaf->index - map->n : leaf->index;
        if (!input && !with_unknowns) continue;
        expr back = graph_substitute(g, partial->derivative[k], from_variable, map);
        if (!add_entry(m, list, row, column, kind, back)) return false;
    }
    if (graph_is_number(g, time, 0.0)) return true;
    return add_entry(m, list, row, 0, BY_TIME, time);
}

static bool compile(model_tangent *m, graph *g, const expr *list)
{
    m->value = DAE_ARRAY(double, m->count);
    return m->value && code_new(&m->code, g, list, m->count);
}

model_tangent *model_tangent_new(graph *g, const expr *e, size_t count, int n,
                                 const tangent_inputs *in, bool with_unknowns)
{
    model_tangent *m = DAE_NEW(model_tangent);
    input_map map = {in, n, DAE_ARRAY(expr, in->count)};
    gradient partial = {0};
    expr *list = NULL;
    bool ok = m && map.back && (m->first = DAE_ARRAY(size_t, count + 1));
    graph_enter(g);
    for (size_t i = 0; ok && i < count; i++) {
        if (e[i] != EXPR_NONE)
            ok = differentiate(m, g, &map, e[i], (int)i, with_unknowns, &partial, &list);
        m->first[i + 1] = m->count;
    }
    if (ok) {
        m->rows = (int)count;
        ok = !graph_failed(g) && compile(m, g, list);
    }
    graph_leave(g);
    gradient_free(&partial);
    dae_free_all(map.back, list);
    if (ok) return m;
    model_tangent_free(m);
    return NULL;
}

/* ---- running ---- */

void model_tangent_at(model_tangent *m, const tape_inputs *at)
{
    code_prepare(&m->code, at);
    code_run(&m->code, at, m->value);
}

double model_tangent_row(const model_tangent *m, int i, const double *s, const double *sp,
                         const double *moved, double dt)
{
    double sum = 0.0;
    for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
        const tangent_entry *q = &m->entry[k];
        double by = 0.0;
        switch (q->kind) {
        case BY_VALUE: by = s ? s[q->column] : 0.0; break;
        case BY_SLOPE: by = sp ? sp[q->column] : 0.0; break;
        case BY_INPUT: by = moved ? moved[q->column] : 0.0; break;
        case BY_TIME: by = dt; break;
        }
        if (by != 0.0) sum += m->value[k] * by;
    }
    return sum;
}

void model_tangent_apply(const model_tangent *m, const double *s, const double *sp,
                         const double *moved, double dt, double *out)
{
    for (int i = 0; i < m->rows; i++) out[i] = model_tangent_row(m, i, s, sp, moved, dt);
}

void model_tangent_add_inputs(const model_tangent *m, const double *moved, double *out)
{
    for (size_t k = 0; k < m->count; k++) {
        const tangent_entry *q = &m->entry[k];
        if (q->kind == BY_INPUT && moved[q->column] != 0.0)
            out[q->row] += m->value[k] * moved[q->column];
    }
}

size_t model_tangent_size(const model_tangent *m)
{
    return m->count;
}

const double *model_tangent_entries(const model_tangent *m)
{
    return m->value;
}

/* What entry q with this value hands on of a weight. */
static void hand_back(const tangent_entry *q, double by, double *s, double *sp, double *inputs,
                      double *dt)
{
    if (by == 0.0) return;
    if (q->kind == BY_VALUE && s) s[q->column] += by;
    if (q->kind == BY_SLOPE && sp) sp[q->column] += by;
    if (q->kind == BY_INPUT && inputs) inputs[q->column] += by;
    if (q->kind == BY_TIME && dt) *dt += by;
}

void model_tangent_transposed(const model_tangent *m, const double *entries, const double *weight,
                              double *s, double *sp, double *inputs, double *dt)
{
    for (size_t k = 0; k < m->count; k++)
        hand_back(&m->entry[k], weight[m->entry[k].row] * entries[k], s, sp, inputs, dt);
}

const double *model_tangent_row_entries(const model_tangent *m, int i, size_t *count)
{
    *count = m->first[i + 1] - m->first[i];
    return m->value + m->first[i];
}

void model_tangent_row_transposed(const model_tangent *m, int i, const double *entries,
                                  double weight, double *s, double *sp, double *inputs, double *dt)
{
    for (size_t k = m->first[i]; k < m->first[i + 1]; k++)
        hand_back(&m->entry[k], weight * entries[k - m->first[i]], s, sp, inputs, dt);
}
