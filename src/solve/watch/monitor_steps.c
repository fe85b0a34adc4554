/* Invariants and residuals of constraints along a run. */
#include "solve/watch/monitor_steps.h"

#include <math.h>

#include "forms/form_parts.h"
#include "solve/explain/explain.h"
#include "solve/watch/watch.h"

/* ---- invariants ---- */

dae_status monitors_start(dae_solver *s, double t, const double *y, const double *yp)
{
    monitors *m = s->monitors;
    sizes_note(s, y, yp);
    if (!m || m->set.count == 0) return DAE_OK;
    eval_status status = m->set.values(m->set.context, t, y, yp, m->set.start);
    if (s->stats.invariant_drift < 0.0) s->stats.invariant_drift = 0.0;
    return status == EVAL_OK ? DAE_OK : explain_evaluation(s, status);
}

static void note_invariants(dae_solver *s, double t, const double *y, const double *yp)
{
    monitors *m = s->monitors;
    if (m->set.count == 0 || m->set.values(m->set.context, t, y, yp, m->now) != EVAL_OK) return;
    for (int i = 0; i < m->set.count; i++) {
        m->drift[i] = fmax(m->drift[i], fabs(m->now[i] - m->set.start[i]));
        s->stats.invariant_drift = fmax(s->stats.invariant_drift, m->drift[i]);
    }
}

dae_status dae_solver_invariant(const dae_solver *s, int i, double *start, double *drift)
{
    if (!s || !s->monitors || i < 0 || i >= s->monitors->set.count) return DAE_ERR_ARGUMENT;
    if (start) *start = s->monitors->set.start[i];
    if (drift) *drift = s->monitors->drift[i];
    return DAE_OK;
}

/* ---- constraints ---- */

static int place(const int *places, int shift, int i)
{
    return places ? places[i] : shift + i;
}

static void note_largest(double *most, int count, const double *r)
{
    for (int i = 0; i < count; i++) *most = fmax(*most, fabs(r[i]));
}

/* |g| and |G v + g_t| */
static void note_mechanical(dae_solver *s, double t, const double *y)
{
    const mechanical_form *f = s->bound.form_set->mechanical;
    const form_places *p = &s->bound.form_set->mechanical_places;
    monitors *m = s->monitors;
    for (int i = 0; i < f->nq; i++) {
        m->x[i] = y[place(p->q, 0, i)];
        m->x[f->nq + i] = y[place(p->v, f->nq, i)];
    }
    if (f->g(f->context, t, m->x, m->g) != EVAL_OK) return;
    note_largest(&s->stats.position_residual, f->nl, m->g);
    if (f->evaluate(f->context, t, m->x, m->x + f->nq, NULL, NULL, m->J, m->g, NULL) != EVAL_OK)
        return;
    form_matrix_multiply(&f->G_matrix, m->J, 1.0, m->x + f->nq, m->g);
    note_largest(&s->stats.velocity_residual, f->nl, m->g);
}

/* |g| and |g_y f + g_t| */
static void note_hessenberg(dae_solver *s, double t, const double *y)
{
    const hessenberg_form *f = s->bound.form_set->hessenberg;
    const form_places *p = &s->bound.form_set->hessenberg_places;
    monitors *m = s->monitors;
    double *z = m->x + f->ny, *u = z + f->nz, *slope = u + f->nu;
    for (int i = 0; i < f->ny; i++) m->x[i] = y[place(p->q, 0, i)];
    for (int i = 0; i < f->nz; i++) z[i] = y[place(p->lambda, f->ny, i)];
    for (int i = 0; i < f->nu; i++) u[i] = y[place(p->v, f->ny + f->nz, i)];
    if (f->nz == 0 || f->g(f->context, t, m->x, m->g) != EVAL_OK) return;
    note_largest(&s->stats.position_residual, f->nz, m->g);
    if (f->f(f->context, t, m->x, z, u, slope) != EVAL_OK ||
        f->g_y(f->context, t, m->x, m->J) != EVAL_OK ||
        f->g_t(f->context, t, m->x, m->g) != EVAL_OK)
        return;
    form_matrix_multiply(&f->g_y_matrix, m->J, 1.0, slope, m->g);
    note_largest(&s->stats.velocity_residual, f->nz, m->g);
}

/* Constraints as written, and hidden ones, by their levels where these are known */
static void note_quasilinear(dae_solver *s, double t, const double *y)
{
    const quasilinear_form *f = s->bound.form_set->quasilinear;
    const int *level = s->bound.form_set->manifold ? s->bound.form_set->manifold->level : NULL;
    monitors *m = s->monitors;
    for (int i = 0; i < f->n; i++)
        m->x[i] = y[place(s->bound.form_set->quasilinear_places.q, 0, i)];
    if (f->ng == 0 || f->g(f->context, t, m->x, m->g) != EVAL_OK) return;
    for (int i = 0; i < f->ng; i++)
        note_largest(level && level[i] > 0 ? &s->stats.velocity_residual
                                           : &s->stats.position_residual,
                     1, m->g + i);
}

static void note_constraints(dae_solver *s, double t, const double *y)
{
    const form_set *f = s->bound.form_set;
    dae_stats before = s->stats; /* looking is not counted */
    if (f->mechanical)
        note_mechanical(s, t, y);
    else if (f->hessenberg)
        note_hessenberg(s, t, y);
    else if (f->quasilinear)
        note_quasilinear(s, t, y);
    before.position_residual = s->stats.position_residual;
    before.velocity_residual = s->stats.velocity_residual;
    s->stats = before;
}

void monitors_note(dae_solver *s, double t, const double *y, const double *yp)
{
    sizes_note(s, y, yp);
    if (!s->monitors) return;
    note_invariants(s, t, y, yp);
    if (s->monitors->constraints && s->bound.form_set && s->monitors->x && !s->bound.rewritten)
        note_constraints(s, t, y);
}
