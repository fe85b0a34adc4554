#include "model/model_series.h"

#include <string.h>

#include "base/grouping.h"
#include "base/memory.h"
#include "expr/derive.h"

struct model_series {
    series_form form;
    form_set set;
    model_instance *instance; /* borrowed */
    series_program *equations, *jacobian;
    series_program *outputs;    /* visible variables over y and y' */
    series_program *values;     /* parameters that are told by others */
    int *value_of, value_count; /* which */
    int *colptr, *rowind;
    bool *kept;
    void *precise; /* runs of these two, and what they need; owned */
};

/* ---- precisions ---- */

size_t precision_size(dae_precision precision)
{
    switch (precision) {
    case DAE_PRECISION_DOUBLE: return sizeof(double);
    case DAE_PRECISION_LONG: return sizeof(tape_long);
#ifdef TAPE_QUAD
    case DAE_PRECISION_QUAD: return sizeof(tape_quad);
#endif
    default: return 0;
    }
}

/* ---- building ---- */

/* The entries of J by rows: df_i/dx_j^(d_j - c_i). */
typedef struct entries {
    int *row, *column;
    expr *value;
    int count, room;
} entries;

static void entries_free(entries *e)
{
    dae_free_all(e->row, e->column, e->value);
}

static bool entries_new(entries *e, const structure *s)
{
    e->room = s->sigma.start[s->sigma.m];
    e->row = DAE_ARRAY(int, e->room);
    e->column = DAE_ARRAY(int, e->room);
    e->value = DAE_ARRAY(expr, e->room);
    return e->row && e->column && e->value;
}

/* Entries of row i from its gradient. */
static void add_entries(entries *e, const analysed *a, int i, const gradient *by)
{
    for (size_t k = 0; k < by->count; k++) {
        const expr_node *leaf = graph_node(a->set.graph, by->leaf[k]);
        int j = leaf->index;
        if (leaf->order != a->structure.d[j] - a->structure.c[i] || e->count == e->room) continue;
        e->row[e->count] = i;
        e->column[e->count] = j;
        e->value[e->count++] = by->derivative[k];
    }
}

static bool find_entries(entries *e, const analysed *a)
{
    gradient by = {0};
    bool ok = entries_new(e, &a->structure);
    for (int i = 0; ok && i < a->set.m; i++) {
        ok = derive_gradient(a->set.graph, a->set.row[i].residual, &by);
        if (ok) add_entries(e, a, i, &by);
    }
    gradient_free(&by);
    return ok;
}

/* The entries by columns, rows increasing, and their program. */
static bool build_jacobian(model_series *s, const analysed *a)
{
    entries e = {0};
    int n = a->set.n;
    expr *sorted = NULL;
    int *lag = NULL, *order = NULL;
    bool ok = find_entries(&e, a);
    if (ok) {
        s->colptr = DAE_ARRAY(int, n + 1);
        s->rowind = DAE_ARRAY(int, e.count);
        sorted = DAE_ARRAY(expr, e.count);
        lag = DAE_ARRAY(int, e.count);
        order = DAE_ARRAY(int, e.count);
        ok = s->colptr && s->rowind && sorted && lag && order;
    }
    if (ok) {
        group_numbers(n, e.count, e.column, s->colptr, order);
        for (int k = 0; k < e.count; k++) {
            s->rowind[k] = e.row[order[k]];
            sorted[k] = e.value[order[k]];
        }
        s->jacobian =
            series_program_new(a->set.graph, sorted, lag, (size_t)e.count, a->structure.d, n, 0);
    }
    entries_free(&e);
    dae_free_all(sorted, lag, order);
    return ok && s->jacobian;
}

static bool build_equations(model_series *s, const analysed *a)
{
    expr *e = DAE_ARRAY(expr, a->set.m);
    for (int i = 0; e && i < a->set.m; i++) e[i] = a->set.row[i].residual;
    if (e)
        s->equations = series_program_new(a->set.graph, e, a->structure.c, (size_t)a->set.m,
                                          a->structure.d, a->set.n, SERIES_LAST);
    dae_free(e);
    return s->equations;
}

/* y and y' are the coefficients 0 and 1 of the variables of this program. */
static bool build_outputs(model_series *s, const model_form *f)
{
    int *zero = DAE_ARRAY(int, f->output.outputs), *one = DAE_ARRAY(int, f->n);
    for (int i = 0; one && i < f->n; i++) one[i] = 1;
    if (zero && one)
        s->outputs =
            series_program_new(f->flat->graph, f->output.e, zero, f->output.outputs, one, f->n, 0);
    dae_free_all(zero, one);
    return s->outputs;
}

/* Parameters that an expression gives, unless they were set. */
static bool build_values(model_series *s, const model_form *base)
{
    const flat_model *m = base->flat;
    expr *e = DAE_ARRAY(expr, m->parameter_count);
    int *zero = DAE_ARRAY(int, m->parameter_count);
    s->value_of = DAE_ARRAY(int, m->parameter_count);
    bool ok = e && zero && s->value_of;
    for (size_t p = 0; ok && p < m->parameter_count; p++) {
        const flat_parameter *q = &m->parameters[p];
        if (base->parameter_set[p] || q->value == EXPR_NONE || q->type == FLAT_STRING) continue;
        s->value_of[s->value_count] = (int)p;
        e[s->value_count++] = q->value;
    }
    if (ok) s->values = series_program_new(m->graph, e, zero, (size_t)s->value_count, NULL, 0, 0);
    dae_free_all(e, zero);
    return s->values;
}

/* ---- numbers in each precision ---- */

/* What depends on the precision, and how to deal with it. */
typedef struct precise_ops {
    void *(*make)(const model_series *s); /* NULL: memory */
    void (*drop)(void *precise);
    void (*numbers)(void *context, void *parameters, void *memory);
    void (*digits)(model_series *s, double t, const void *y, const void *yp, char *text);
} precise_ops;

#define T double
#define NAME(f) f##_double
#include "model/model_series.inc"

#define T tape_long
#define NAME(f) f##_long
#include "model/model_series.inc"

#ifdef TAPE_QUAD
#define T tape_quad
#define NAME(f) f##_quad
#include "model/model_series.inc"
#endif

static const precise_ops *ops_of(dae_precision precision)
{
    switch (precision) {
    case DAE_PRECISION_LONG: return &ops_long;
#ifdef TAPE_QUAD
    case DAE_PRECISION_QUAD: return &ops_quad;
#endif
    default: return &ops_double;
    }
}

void model_series_digits(model_series *s, double t, const void *y, const void *yp, char *text)
{
    ops_of(s->form.precision)->digits(s, t, y, yp, text);
}

/* ---- life ---- */

static void describe(model_series *s, const model_form *f, dae_precision precision)
{
    const analysed *a = f->analysed;
    s->form = (series_form){.n = a->set.n,
                            .c = a->structure.c,
                            .d = a->structure.d,
                            .equations = s->equations,
                            .jacobian = s->jacobian,
                            .colptr = s->colptr,
                            .rowind = s->rowind,
                            .unknowns = f->n,
                            .variable = f->formulated->variable,
                            .order = f->formulated->order,
                            .sign = f->formulated->sign,
                            .kept = s->kept,
                            .set = &a->set,
                            .blocks = &a->structure.blocks,
                            .precision = precision,
                            .parameters = (int)f->flat->parameter_count,
                            .memories = (int)f->flat->memory_count,
                            .numbers = ops_of(precision)->numbers,
                            .context = s};
    s->set = (form_set){.series = &s->form};
}

model_series *model_series_new(model_instance *instance, dae_precision precision)
{
    const model_form *f = instance->form;
    const model_form *base = f->base ? f->base : f;
    model_series *s = DAE_NEW(model_series);
    if (!s) return NULL;
    s->instance = instance;
    s->kept = DAE_ARRAY(bool, f->n);
    bool ok = s->kept && build_equations(s, f->analysed) && build_jacobian(s, f->analysed) &&
              build_outputs(s, f) && build_values(s, base);
    if (ok) {
        describe(s, f, precision);
        s->precise = ops_of(precision)->make(s);
    }
    if (ok && s->precise) return s;
    model_series_free(s);
    return NULL;
}

void model_series_free(model_series *s)
{
    if (!s) return;
    if (s->precise) ops_of(s->form.precision)->drop(s->precise);
    series_program_free(s->equations);
    series_program_free(s->jacobian);
    series_program_free(s->outputs);
    series_program_free(s->values);
    dae_free_all(s->value_of, s->colptr, s->rowind, s->kept, s);
}

const form_set *model_series_set(const model_series *s)
{
    return &s->set;
}

bool *model_series_kept(model_series *s)
{
    return s->kept;
}
