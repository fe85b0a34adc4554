/* Redundant constraints of mechanical callbacks: found at the start, and released. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

/* G by rows from its values; columns as they are */
static void by_rows(const form_matrix *m, const double *values, double *G)
{
    vector_zero(m->rows * m->columns, G);
    form_matrix_place(m, values, (size_t)m->columns, 1, G);
}

static bool evaluate(void *context, double t, const double *q, const double *v, double *g,
                     double *rate, double *G)
{
    form_instance *x = context;
    const mechanical_form *f = &x->mechanical;
    vector_zero(f->nl, g); /* constraints on velocities are no concern of positions */
    eval_status status = f->evaluate(x, t, q, v, NULL, NULL, x->mw.G, rate, NULL);
    if (status != EVAL_OK) return false;
    form_matrix_multiply(&f->G_matrix, x->mw.G, 1.0, v, rate);
    by_rows(&f->G_matrix, x->mw.G, G);
    return f->g(x, t, q, g) == EVAL_OK;
}

/* The search at (t, q, v), y = (q, v, ..); as redundant_find. */
static int search(form_instance *x, double t, const double *y, bool *redundant,
                  redundant_conflict *conflict)
{
    const mechanical_form *f = &x->mechanical;
    const double *nominal = x->source->as.m.nominal;
    const eval_failure before = x->eval->failure;
    double *size = DAE_ARRAY(double, f->nq);
    if (!size) return -1;
    for (int j = 0; j < f->nq; j++) size[j] = nominal ? nominal[j] : 1.0;
    redundant_rows rows = {.m = f->nl,
                           .n = f->nq,
                           .t = t,
                           .q = y,
                           .v = y + f->nq,
                           .size = size,
                           .evaluate = evaluate,
                           .context = x};
    int count = redundant_find(&rows, redundant, conflict);
    x->eval->failure = before;
    dae_free(size);
    return count;
}

int form_redundant_find(form_instance *x, double t, const double *y, redundant_conflict *conflict)
{
    const mechanical_form *f = &x->mechanical;
    size_t m = (size_t)f->nl, n = (size_t)f->nq;
    form_redundant_free(x);
    conflict->row = -1;
    if (x->eval->problem->form.colptr) return 0;
    x->redundant = DAE_ARRAY(bool, m);
    x->relations = DAE_ARRAY(double, 2 * m * n + 2 * m * m);
    int count = -1;
    if (x->redundant && x->relations) count = search(x, t, y, x->redundant, conflict);
    if (count <= 0) form_redundant_free(x);
    if (count > 0) x->set.mechanical = NULL; /* its constraints must be independent */
    return count;
}

void form_redundant_free(form_instance *x)
{
    dae_free_all(x->redundant, x->relations);
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
    int m = f->nl, n = x->source->n;
    int extra = x->rewriting->added * form_stabilised(x->source);
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

/* |values| over what the weights make of a row of G; rows by columns are in `rows` */
static double misfit(const mechanical_form *f, const double *rows, const double *weights, int l,
                     double value)
{
    double size = 0.0;
    for (int j = 0; j < f->nq; j++) size += fabs(rows[l * f->nq + j]) * weights[j];
    return size > 0.0 ? fabs(value) / size : 0.0;
}

/* The released constraint that is off by most, if it is far and further than all kept ones. */
static int furthest(const form_instance *x, const double *rows, const double *weights,
                    const double *values, double far, double more)
{
    const mechanical_form *f = &x->mechanical;
    double kept = 0.0, worst = far;
    int at = -1;
    for (int l = 0; l < f->nl; l++)
        if (!x->redundant[l]) kept = fmax(kept, misfit(f, rows, weights, l, values[l]));
    for (int l = 0; l < f->nl; l++) {
        double off = x->redundant[l] ? misfit(f, rows, weights, l, values[l]) : 0.0;
        if (off <= worst || off <= more * kept) continue;
        worst = off;
        at = l;
    }
    return at;
}

int form_instance_apart(form_instance *x, double t, const double *y, const double *weights,
                        double far, double more, double *off)
{
    const mechanical_form *f = &x->mechanical;
    const eval_failure before = x->eval->failure;
    size_t m = (size_t)f->nl, n = (size_t)f->nq;
    if (!x->redundant) return -1;
    double *rows = x->relations + m * m, *g = rows + m * n, *rate = g + m; /* m n + m m behind */
    int at = -1;
    if (2 * m <= m * n + m * m && evaluate(x, t, y, y + f->nq, g, rate, rows)) {
        at = furthest(x, rows, weights, g, far, more);
        *off = at >= 0 ? g[at] : 0.0;
        if (at < 0) at = furthest(x, rows, weights + f->nq, rate, far, more);
        if (at >= 0 && *off == 0.0) *off = rate[at];
    }
    x->eval->failure = before;
    return at;
}

/* ---- checkpoints ---- */

/* Redundant constraints, with what says how they follow. */
static void redundant_persist(form_instance *x, persist *p)
{
    const size_t m = (size_t)x->mechanical.nl, n = (size_t)x->mechanical.nq;
    const bool any = persist_flag(p, x->redundant);
    if (p->reading) form_redundant_free(x);
    if (!any || !persist_ok(p)) return;
    if (p->reading) {
        x->redundant = DAE_ARRAY(bool, m);
        x->relations = DAE_ARRAY(double, 2 * m * n + 2 * m * m);
        x->set.mechanical = NULL;
        p->no_memory = p->no_memory || !x->redundant || !x->relations;
    }
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, x->redundant, m);
    PERSIST_ARRAY(p, x->relations, 2 * m * n + 2 * m * m);
}

bool form_instance_persist(form_instance *x, persist *p)
{
    multibody_work *b = &x->bw;
    const bool chooses = x->rewriting && x->rewriting->chooses && x->mw.dependent;
    PERSIST(p, x->releases);
    if (x->source->kind == KIND_MECHANICAL) redundant_persist(x, p);
    if (chooses) PERSIST_ARRAY(p, x->mw.dependent, x->mechanical.nq);
    if (x->source->full && b->s) {
        PERSIST_ARRAY(p, b->s, x->source->as.m.ns);
        PERSIST_ARRAY(p, b->s_q, x->source->as.m.nq);
        PERSIST(p, b->s_t);
        PERSIST(p, b->s_known);
    }
    return chooses && persist_ok(p);
}
