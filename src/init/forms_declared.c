/* Matrices that were declared constant, against their values around the start: factors of them are
 * kept for the whole run. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/forms_parts.h"

/* Entries that differ by less than this part of the largest one are the same. */
static const double SAME = 1e-10;

/* A matrix of a form at (t, x), n unknowns, and what it is called. */
typedef struct declared_matrix {
    const form_matrix *layout;
    int n;
    const double *nominal;
    const char *callback, *flag;
    eval_status (*evaluate)(form_instance *x, double t, const double *at, double *values);
} declared_matrix;

static eval_status mass_at(form_instance *x, double t, const double *q, double *M)
{
    return x->mechanical.evaluate(x, t, q, x->mw.v, M, NULL, NULL, NULL, NULL);
}

static eval_status E_at(form_instance *x, double t, const double *at, double *E)
{
    return x->quasilinear.E(x, t, at, E);
}

/* The matrix that was declared constant, if there is one. */
static bool find_declared(form_instance *x, declared_matrix *d)
{
    const dae_mechanical *m = &x->source->as.m;
    const dae_quasilinear *e = &x->source->as.x;
    if (x->source->kind == KIND_MECHANICAL && m->mass_constant && (m->mass || m->all)) {
        *d = (declared_matrix){&x->mechanical.M_matrix, m->nq,  m->nominal, "mass",
                               "mass_constant",         mass_at};
        return true;
    }
    if (x->source->kind == KIND_QUASILINEAR && e->E_constant && e->E) {
        *d = (declared_matrix){&x->quasilinear.E_matrix, e->n, e->nominal, "E", "E_constant", E_at};
        return true;
    }
    return false;
}

/* All unknowns a tenth of their sizes away. */
static void move(const declared_matrix *d, const double *y, double *moved)
{
    unsigned state = 362436069u;
    for (int j = 0; j < d->n; j++) {
        double size = fmax(d->nominal ? d->nominal[j] : 1.0, fabs(y[j]));
        state = state * 1664525u + 1013904223u;
        moved[j] = y[j] + 0.1 * size * ((double)(state >> 8) / 8388608.0 - 1.0);
    }
}

/* Column of the first entry that differs, its row in *row; -1: none does. */
static int find_change(const form_matrix *m, const double *a, const double *b, int *row)
{
    double most = 0.0;
    for (size_t k = 0; k < m->count; k++) most = fmax(most, fabs(a[k]));
    for (form_entry e = {0}; form_matrix_next(m, &e);) {
        *row = e.row;
        if (fabs(a[e.at] - b[e.at]) > SAME * most) return e.column;
    }
    return -1;
}

static dae_status compare(const start *s, const declared_matrix *d, double *values, double *moved)
{
    form_instance *x = s->x;
    const eval_failure before = x->eval->failure;
    double *there = values + d->layout->count;
    int row = 0, column = -1;
    if (x->source->kind == KIND_MECHANICAL) vector_copy(d->n, s->y + d->n, x->mw.v);
    multibody_at(x, s->y);
    bool known = d->evaluate(x, s->t, s->y, values) == EVAL_OK;
    if (known) move(d, s->y, moved);
    known = known && d->evaluate(x, s->t, moved, there) == EVAL_OK;
    if (known) column = find_change(d->layout, values, there, &row);
    x->eval->failure = before; /* what cannot be evaluated there need not */
    if (column < 0) return DAE_OK;
    const char *name = start_variable(s, column);
    return diag_set(s->diag, DAE_ERR_ARGUMENT,
                    "%s is declared, but callback %s gives another matrix when the unknowns move "
                    "away from the start at t = %.9g: entry (%d, %d), in the column of %s, "
                    "changes. Leave the declaration out.",
                    d->flag, d->callback, s->t, row, column, name);
}

dae_status start_declared(const start *s)
{
    declared_matrix d;
    if (!find_declared(s->x, &d)) return DAE_OK;
    double *values = DAE_ARRAY(double, 2 * d.layout->count + (size_t)d.n);
    if (!values) return start_exhausted(s);
    dae_status status = compare(s, &d, values, values + 2 * d.layout->count);
    dae_free(values);
    return status;
}
