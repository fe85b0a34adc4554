/* Redundant constraints of mechanical callbacks: found at the start, and released. */
#include "base/memory.h"
#include "base/vector.h"
#include "system/form_parts.h"
#include "system/redundant.h"

typedef struct constraints_at {
    form_instance *x;
    double t;
} constraints_at;

/* G by rows from its values; columns as they are */
static void by_rows(const form_matrix *m, const double *values, double *G)
{
    vector_zero(m->rows * m->columns, G);
    for (int j = 0; j < m->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(m, j, &first, &count);
        for (int e = 0; e < count; e++)
            G[form_matrix_row(m, first, e) * m->columns + j] = values[first + (size_t)e];
    }
}

static bool evaluate(void *context, const double *q, double *g, double *G)
{
    const constraints_at *at = context;
    form_instance *x = at->x;
    const mechanical_form *f = &x->mechanical;
    vector_zero(f->nl, g); /* constraints on velocities are no concern of positions */
    eval_status status = f->evaluate(x, at->t, q, x->mw.v, NULL, NULL, x->mw.G, NULL, NULL);
    if (status == EVAL_OK) status = f->g(x, at->t, q, g);
    if (status == EVAL_OK) by_rows(&f->G_matrix, x->mw.G, G);
    return status == EVAL_OK;
}

int form_redundant_find(form_instance *x, double t, const double *q)
{
    const mechanical_form *f = &x->mechanical;
    size_t m = (size_t)f->nl, n = (size_t)f->nq;
    form_redundant_free(x);
    if (x->eval->problem->form.colptr) return 0;
    constraints_at at = {x, t};
    const eval_failure before = x->eval->failure;
    double *size = DAE_ARRAY(double, n);
    x->redundant = DAE_ARRAY(bool, m);
    x->relations = DAE_ARRAY(double, 2 * m * n + 2 * m * m);
    int count = -1;
    const double *nominal = x->source->as.m.nominal;
    for (size_t j = 0; size && j < n; j++) size[j] = nominal ? nominal[j] : 1.0;
    if (size && x->redundant && x->relations)
        count = redundant_find(f->nl, f->nq, q, size, evaluate, &at, x->redundant);
    x->eval->failure = before;
    dae_free(size);
    if (count <= 0) form_redundant_free(x);
    if (count > 0) x->set.mechanical = NULL; /* its constraints must be independent */
    return count;
}

void form_redundant_free(form_instance *x)
{
    dae_free(x->redundant);
    dae_free(x->relations);
    x->redundant = NULL;
    x->relations = NULL;
    if (x->source->kind == KIND_MECHANICAL && !x->source->full) x->set.mechanical = &x->mechanical;
}

int form_next_kept(const form_instance *x, int l)
{
    while (x->redundant && l < x->mechanical.nl && x->redundant[l]) l++;
    return l;
}

const double *form_redundant_relations(form_instance *x, const double *G)
{
    const mechanical_form *f = &x->mechanical;
    size_t m = (size_t)f->nl, n = (size_t)f->nq;
    double *c = x->relations, *rows = c + m * m, *work = rows + m * n;
    by_rows(&f->G_matrix, G, rows);
    redundant_relations(f->nl, f->nq, rows, x->redundant, c, work);
    return c;
}

eval_status form_redundant_rows(form_instance *x, double t, const double *y, double *F)
{
    const mechanical_form *f = &x->mechanical;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    int m = f->nl, extra = form_extra_unknowns(x->source, x->rewriting), n = x->source->n;
    eval_status status = f->evaluate(x, t, y, y + p.v, NULL, NULL, x->mw.G, NULL, NULL);
    if (status != EVAL_OK) return status;
    const double *c = form_redundant_relations(x, x->mw.G), *lambda = y + p.lambda;
    for (int l = 0; l < m; l++) {
        if (!x->redundant[l]) continue;
        double rest = lambda[l];
        for (int i = 0; i < m; i++) rest -= c[l * m + i] * lambda[i];
        F[p.lambda + l] = rest;
        int levels = x->source->positions; /* mu, eta and w are of these */
        for (int k = n + l; l < levels && k < n + extra; k += levels) F[k] = y[k];
    }
    return EVAL_OK;
}

void form_instance_release(form_instance *x, bool may)
{
    x->releases = may;
}

bool form_instance_released(const form_instance *x, int l)
{
    return x->redundant && x->redundant[l];
}

int form_instance_constraints(const form_instance *x)
{
    return x->source->constraints;
}

const char *form_instance_constraint_name(const form_instance *x, int l)
{
    return x->source->constraint_names[l];
}
