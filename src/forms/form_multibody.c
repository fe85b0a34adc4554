/* The full mechanical form [Wun05 (1.18), (1.14)]: contact coordinates s(t, q), dynamic force
 * elements r, auxiliary variables w, forces that depend on lambda, constraints on velocities.
 *
 * Wherever positions are asked for, s is solved for: g is g(t, q, s(t, q)), and its derivatives, by
 * callbacks or differences, are total ones: G = g_q - g_s h_s^-1 h_q. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

static const dae_mechanical *form_of(const form_instance *x)
{
    return &x->source->as.m;
}

/* ---- life ---- */

static bool allocate(form_instance *x)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    size_t n = (size_t)form->nq, ns = (size_t)form->ns, nc = (size_t)form->nvelocity;
    size_t part = nc > 0 ? b->H_matrix.count : 0;
    bool ok = SHARED_BLOCK(SHARE(b->s, ns), SHARE(b->s_q, n), SHARE(b->h, ns), SHARE(b->moved, ns),
                           SHARE(b->h_s, ns * ns), SHARE(b->H, part), SHARE(b->C, nc * n),
                           SHARE(b->zero, (size_t)x->source->n));
    b->r = b->w = b->lambda = b->zero;
    return ok;
}

bool multibody_build(form_instance *x)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    b->h_s_matrix = form_matrix_dense(form->ns, form->ns);
    b->d_w_matrix = form_matrix_dense(form->nw, form->nw);
    b->C_matrix = form_matrix_dense(form->nvelocity, form->nq);
    bool ok = allocate(x) && differencer_new(&b->by_s, &b->h_s_matrix) &&
              differencer_new(&b->by_w, &b->d_w_matrix) && differencer_new(&b->by_v, &b->C_matrix);
    return ok && (form->ns == 0 || form_solver_new(&b->contact, &b->h_s_matrix)) &&
           multibody_settles(x);
}

void multibody_release(form_instance *x)
{
    multibody_work *b = &x->bw;
    differencer_free(&b->by_s);
    differencer_free(&b->by_w);
    differencer_free(&b->by_v);
    form_solver_free(&b->contact);
    balance_free(b->settles);
    dae_free(b->s);
}

/* ---- s(t, q) ---- */

eval_status multibody_contact(form_instance *x, double t, const double *q, const double *s,
                              double *h)
{
    const dae_mechanical *form = form_of(x);
    const dae_mechanical_point at = {.t = t, .q = q, .s = s};
    int code = form->contact(&at, h, form->user), row = mechanical_parts(form).s;
    return form_judge(x, "contact", t, code, (size_t)form->ns, h, row, NULL);
}

static eval_status contact_by_s(void *context, double t, const double *s, double *h)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return multibody_contact(x, t, x->bw.q, s, h);
}

eval_status multibody_h_s(form_instance *x, double t, const double *q, const double *s,
                          double *values)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    const form_matrix *m = &b->h_s_matrix;
    b->q = q;
    if (!form->contact_s)
        return difference_matrix(&b->by_s, m, contact_by_s, x, t, s, NULL, values);
    memset(values, 0, m->count * sizeof *values);
    const dae_mechanical_point at = {.t = t, .q = q, .s = s};
    int code = form->contact_s(&at, values, form->user);
    return form_judge(x, "contact_s", t, code, m->count, values, mechanical_parts(form).s, m);
}

/* The contact equations do not determine s here. */
static eval_status contact_fails(form_instance *x, double t, const char *what)
{
    int row = mechanical_parts(form_of(x)).s, worst = vector_argmax(form_of(x)->ns, x->bw.h, NULL);
    x->eval->failure = (eval_failure){.callback = what,
                                      .component = row + (worst < 0 ? 0 : worst),
                                      .variable = -1,
                                      .t = t,
                                      .value = INFINITY};
    x->eval->failure.equation = x->source->equation_names[x->eval->failure.component];
    return EVAL_RETRY;
}

/* One Newton step from b->moved; *size: its largest relative component. */
static eval_status contact_step(form_instance *x, double t, const double *q, double *size)
{
    multibody_work *b = &x->bw;
    int n = form_of(x)->ns;
    eval_status status = multibody_contact(x, t, q, b->moved, b->h);
    if (status == EVAL_OK) status = multibody_h_s(x, t, q, b->moved, b->h_s);
    if (status != EVAL_OK) return status;
    linear_solver *solver = b->contact.solver;
    linear_status factored = linear_factor(solver, b->h_s);
    double condition = factored == LINEAR_OK ? solver->ops->condition(solver) : 0.0;
    bool singular = condition >= 0.0 && condition < 4.0 * DBL_EPSILON; /* negative: not known */
    if (singular) return contact_fails(x, t, "contact (its derivative by s is singular)");
    linear_solve(solver, b->h);
    *size = 0.0;
    for (int i = 0; i < n; i++) {
        b->moved[i] -= b->h[i];
        *size = fmax(*size, fabs(b->h[i]) / fmax(1.0, fabs(b->moved[i])));
    }
    return isfinite(*size) ? EVAL_OK : contact_fails(x, t, "contact (no solution s near by)");
}

/* b->s = s(t, q), the solution near b->s, by Newton's method */
static eval_status solve_contact(form_instance *x, double t, const double *q)
{
    enum { ITERATIONS = 30 };
    multibody_work *b = &x->bw;
    int n = form_of(x)->nq;
    if (b->s_known && b->s_t == t && memcmp(b->s_q, q, (size_t)n * sizeof *q) == 0) return EVAL_OK;
    double size = INFINITY, before = INFINITY;
    vector_copy(form_of(x)->ns, b->s, b->moved);
    for (int k = 0; k < ITERATIONS; k++, before = size) {
        eval_status status = contact_step(x, t, q, &size);
        if (status != EVAL_OK) return status;
        bool rounding = size >= 0.5 * before && size <= 1e-11;
        if (size > 4.0 * DBL_EPSILON && !rounding) continue;
        vector_copy(form_of(x)->ns, b->moved, b->s);
        vector_copy(n, q, b->s_q);
        b->s_t = t;
        b->s_known = true;
        return EVAL_OK;
    }
    return contact_fails(x, t, "contact (no solution s near by)");
}

/* ---- points ---- */

void multibody_at(form_instance *x, const double *y)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_places p = mechanical_parts(form);
    multibody_work *b = &x->bw;
    if (!x->source->full) return;
    b->r = y + p.r;
    b->w = y + p.w;
    b->lambda = y + p.lambda;
    b->s_known = false; /* another branch may be nearer */
    vector_copy(form->ns, y + p.s, b->s);
}

eval_status multibody_point(form_instance *x, double t, const double *q, const double *v,
                            dae_mechanical_point *at)
{
    const multibody_work *b = &x->bw;
    *at = (dae_mechanical_point){.t = t, .q = q, .v = v};
    if (v) {
        at->r = form_of(x)->nr > 0 ? b->r : NULL;
        at->w = form_of(x)->nw > 0 ? b->w : NULL;
        at->lambda = b->lambda;
    }
    if (form_of(x)->ns == 0) return EVAL_OK;
    at->s = b->s;
    return solve_contact(x, t, q);
}

/* ---- constraints on velocities ---- */

eval_status multibody_velocity_level(form_instance *x, double t, const double *q, const double *v,
                                     double *c)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_part part = {form->velocity_constraint, "velocity_constraint",
                                  form_constraint_row(x->source) + form->nlambda, form->nvelocity,
                                  NULL};
    return mechanical_call(x, &part, t, q, v, c);
}

static eval_status level_by_v(void *context, double t, const double *v, double *c)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return multibody_velocity_level(x, t, x->bw.q, v, c);
}

static eval_status level_by_q(void *context, double t, const double *q, double *c)
{
    form_instance *x = context;
    x->eval->stats->jacobian_residuals++;
    return multibody_velocity_level(x, t, q, x->bw.v, c);
}

/* C = dc/dv */
static eval_status velocity_matrix(form_instance *x, double t, const double *q, const double *v)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    const form_matrix *m = &b->C_matrix;
    if (!form->velocity_gradient) {
        b->q = q;
        return difference_matrix(&b->by_v, m, level_by_v, x, t, v, NULL, b->C);
    }
    const mechanical_part part = {form->velocity_gradient, "velocity_gradient",
                                  form_constraint_row(x->source) + form->nlambda, 0, m};
    return mechanical_call(x, &part, t, q, v, b->C);
}

/* Both parts of G, dense. */
static void join_gradients(const form_instance *x, double *G)
{
    const dae_mechanical *form = form_of(x);
    const multibody_work *b = &x->bw;
    size_t height = (size_t)(form->nlambda + form->nvelocity), upper = (size_t)form->nlambda;
    memset(G, 0, height * (size_t)form->nq * sizeof *G);
    form_matrix_place(&b->H_matrix, b->H, 1, height, G);
    form_matrix_place(&b->C_matrix, b->C, 1, height, G + upper);
}

eval_status multibody_velocity_rows(form_instance *x, double t, const double *q, const double *v,
                                    double *G, double *rate, double *curvature)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    eval_status status = EVAL_OK;
    if (G || rate) status = velocity_matrix(x, t, q, v);
    if (status == EVAL_OK && G) join_gradients(x, G);
    if (status == EVAL_OK && rate) {
        status = multibody_velocity_level(x, t, q, v, rate + form->nlambda);
        form_matrix_multiply(&b->C_matrix, b->C, -1.0, v, rate + form->nlambda);
    }
    if (status != EVAL_OK || !curvature) return status;
    double scale = difference_scale(form->nq, q, v, form->nominal, time_scale_of(form->time_scale));
    b->v = v;
    return difference_along(&b->by_v, level_by_q, x, t, q, v, scale, curvature + form->nlambda);
}

/* ---- rows ---- */

eval_status multibody_dynamics(form_instance *x, double t, const double *q, const double *v,
                               double *rates)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_part part = {form->dynamics, "dynamics", mechanical_parts(form).r, form->nr,
                                  NULL};
    return form->nr > 0 ? mechanical_call(x, &part, t, q, v, rates) : EVAL_OK;
}

eval_status multibody_auxiliary(form_instance *x, double t, const double *q, const double *v,
                                double *d)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_part part = {form->auxiliary, "auxiliary", mechanical_parts(form).w, form->nw,
                                  NULL};
    return form->nw > 0 ? mechanical_call(x, &part, t, q, v, d) : EVAL_OK;
}

eval_status multibody_rows(form_instance *x, double t, const double *y, double *rates, double *d,
                           double *h, double *g)
{
    const dae_mechanical *form = form_of(x);
    const mechanical_places p = mechanical_parts(form);
    eval_status status = multibody_dynamics(x, t, y, y + p.v, rates);
    if (!status) status = multibody_auxiliary(x, t, y, y + p.v, d);
    if (!status && form->ns > 0) status = multibody_contact(x, t, y, y + p.s, h);
    if (status || !g || form->nlambda == 0) return status;
    const dae_mechanical_point given = {.t = t, .q = y, .s = form->ns > 0 ? y + p.s : NULL};
    int code = form->constraint(&given, g, form->user);
    return form_judge(x, "constraint", t, code, (size_t)form->nlambda, g, p.lambda, NULL);
}

static eval_status auxiliary_by_w(void *context, double t, const double *w, double *d)
{
    form_instance *x = context;
    const double *before = x->bw.w;
    x->eval->stats->jacobian_residuals++;
    x->bw.w = w;
    eval_status status = multibody_auxiliary(x, t, x->bw.q, x->bw.v, d);
    x->bw.w = before;
    return status;
}

eval_status multibody_d_w(form_instance *x, double t, const double *q, const double *v,
                          double *values)
{
    const dae_mechanical *form = form_of(x);
    multibody_work *b = &x->bw;
    const form_matrix *m = &b->d_w_matrix;
    b->q = q;
    b->v = v;
    if (!form->auxiliary_w)
        return difference_matrix(&b->by_w, m, auxiliary_by_w, x, t, b->w, NULL, values);
    const mechanical_part part = {form->auxiliary_w, "auxiliary_w", mechanical_parts(form).w, 0, m};
    return mechanical_call(x, &part, t, q, v, values);
}
