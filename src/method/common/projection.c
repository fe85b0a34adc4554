#include "method/common/projection.h"

#include "base/memory.h"
#include "base/vector.h"

int projection_q(const projection *p, int i)
{
    return mechanism_place(&p->mechanism, i);
}

int projection_v(const projection *p, int i)
{
    return mechanism_place(&p->mechanism, p->form->nq + i);
}

int projection_lambda(const projection *p, int i)
{
    return mechanism_multiplier(&p->mechanism, i);
}

int projection_followers(const projection *p)
{
    if (!p->form) return 0;
    const multibody_form *full = p->mechanism.multibody;
    return full ? full->followers : p->form->nl;
}

int projection_follower(const projection *p, int i)
{
    const multibody_form *full = p->mechanism.multibody;
    if (!full) return projection_lambda(p, i);
    return projection_lambda(p, p->form->nl - 1) - (full->followers - 1) + i;
}

bool projection_new(projection *p, const method_context *ctx)
{
    *p = (projection){0};
    const form_set *forms = ctx->forms;
    const multibody_form *full = forms ? forms->multibody : NULL;
    const mechanical_form *form = full ? full->mechanical : forms ? forms->mechanical : NULL;
    if (!form || form->nl == 0) return true;
    size_t nq = (size_t)form->nq, nl = (size_t)form->nl;
    size_t nr = full ? (size_t)full->nr : 0;
    bool fits = SHARED_BLOCK(SHARE(p->x, 2 * nq), SHARE(p->k, 2 * nq), SHARE(p->begin, nq),
                             SHARE(p->lambda, nl), SHARE(p->dr, nr));
    bool ready = full ? mechanism_of_multibody(&p->mechanism, full, &forms->multibody_places)
                      : mechanism_new(&p->mechanism, ctx);
    if (!ready || !fits) {
        projection_free(p);
        return false;
    }
    p->form = form;
    return true;
}

void projection_free(projection *p)
{
    mechanism_free(&p->mechanism);
    dae_free(p->x);
    *p = (projection){0};
}

void projection_persist(projection *ends, persist *p)
{
    if (!ends->form) return;
    PERSIST(p, ends->factored);
    persist_block(p, ends->x);
    mechanism_persist(&ends->mechanism, ends->x, p);
}

mechanism_failure projection_start(projection *p)
{
    p->factored = false;
    return p->form ? mechanism_restart(&p->mechanism) : mechanism_ok();
}

/* Factors of the full form, for r, w and lambda as they are in y, and G and g_t, at (t, x) */
static mechanism_failure renew_full(projection *p, double t, double *y)
{
    mechanism *m = &p->mechanism;
    bool regular = false;
    for (int i = 0; i < 2 * p->form->nq; i++) y[mechanism_place(m, i)] = p->x[i];
    mechanism_failure failure =
        mechanism_evaluation(m->multibody->factor(m->multibody->context, t, y, &regular));
    if (!failure.status) failure = mechanism_gradient(m, t, p->x, 0);
    if (failure.status || regular) return failure;
    return (mechanism_failure){.status = ATTEMPT_SINGULAR,
                               .reason = "The equations of motion do not determine accelerations, "
                                         "multipliers and auxiliary variables",
                               .constraint = -1};
}

/* M, G, f, g_t and the curvature at (t, x), and the factors */
static mechanism_failure renew(projection *p, double t, double *y)
{
    mechanism *m = &p->mechanism;
    mechanism_failure failure;
    p->factored = false;
    if (m->multibody) {
        failure = renew_full(p, t, y);
    } else {
        failure = mechanism_evaluate(m, t, p->x, m->rate, m->curvature);
        if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    }
    p->factored = !failure.status;
    return failure;
}

/* q onto its constraints, with the factors of the point before or, if these do not do, or not well
 * enough, new ones */
static mechanism_failure positions(projection *p, const error_norm *norm, double t, double *y)
{
    const int nq = p->form->nq;
    if (p->factored) {
        vector_copy(nq, p->x, p->begin);
        mechanism_failure failure = mechanism_project_position(&p->mechanism, norm, t, p->x);
        bool far = failure.status == ATTEMPT_CONVERGENCE;
        if (!far && (failure.status || p->mechanism.left <= 10.0 * p->mechanism.enough))
            return failure;
        if (far) vector_copy(nq, p->begin, p->x);
    }
    mechanism_failure failure = renew(p, t, y);
    return failure.status ? failure : mechanism_project_position(&p->mechanism, norm, t, p->x);
}

/* Errors of multipliers, which the projection of v undoes, are in r as well: into `r` what undoes
 * them there. */
static mechanism_failure undo_push(projection *p, double t, double *y, double *r)
{
    const multibody_form *full = p->mechanism.multibody;
    eval_status status = full->push(full->context, t, y, p->dr);
    if (status == EVAL_OK) vector_axpy(full->nr, 1.0, p->dr, r + 2 * p->form->nq);
    return mechanism_evaluation(status);
}

/* v onto its constraints, with f and the curvature there: corrections are larger than local errors
 * where velocities come from a method on the index-3 form */
static mechanism_failure velocities(projection *p, double t, double *y)
{
    mechanism *m = &p->mechanism;
    const mechanical_form *form = p->form;
    mechanism_project_velocity(m, m->G[0], p->x + form->nq);
    if (m->multibody) return undo_push(p, t, y, y); /* settle asks for f and curvature */
    return mechanism_evaluation(form->evaluate(form->context, t, p->x, p->x + form->nq, NULL,
                                               m->force, NULL, NULL, m->curvature));
}

static void scatter(const projection *p, double *y, double *yp)
{
    const int nq = p->form->nq;
    mechanism_scatter(&p->mechanism, p->x, p->lambda, y);
    for (int i = 0; i < 2 * nq; i++) yp[mechanism_place(&p->mechanism, i)] = p->k[i];
}

/* Accelerations and all that follows from (q, v, r), for q and v as they are in x */
static mechanism_failure settle(projection *p, double t, double *y, double *yp)
{
    const multibody_form *full = p->mechanism.multibody;
    bool settled = false;
    for (int i = 0; i < 2 * p->form->nq; i++) y[mechanism_place(&p->mechanism, i)] = p->x[i];
    eval_status status = full->settle(full->context, t, y, yp, &settled);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    if (settled) return mechanism_ok();
    return (mechanism_failure){.status = ATTEMPT_CONVERGENCE,
                               .reason = "No multipliers and auxiliary variables were found that "
                                         "balance forces and friction",
                               .constraint = -1};
}

mechanism_failure projection_apply(projection *p, const error_norm *norm, double t, double *y,
                                   double *yp, dae_projection move)
{
    mechanism_failure failure = mechanism_ok();
    bool none = move == DAE_PROJECTION_NONE;
    for (int i = 0; i < 2 * p->form->nq; i++) p->x[i] = y[mechanism_place(&p->mechanism, i)];
    const multibody_form *full = p->mechanism.multibody;
    if (full) full->near(full->context, y);
    if (!none && move != DAE_PROJECTION_VELOCITY) failure = positions(p, norm, t, y);
    if (!failure.status && (!none || !full)) failure = renew(p, t, y);
    if (!failure.status && !none && move != DAE_PROJECTION_POSITION) failure = velocities(p, t, y);
    if (failure.status) return failure;
    if (full) return settle(p, t, y, yp);
    failure = mechanism_slope(&p->mechanism, p->x, p->k, p->lambda);
    if (!failure.status) scatter(p, y, yp);
    return failure;
}

void projection_tangent(projection *p, double t, double *y, double *e)
{
    mechanism *m = &p->mechanism;
    const int nq = p->form->nq;
    for (int i = 0; i < nq; i++) p->k[i] = e[projection_v(p, i)];
    mechanism_tangent(m, p->k);
    for (int i = 0; i < nq; i++) e[projection_v(p, i)] = p->k[i];
    if (m->multibody) undo_push(p, t, y, e);
}
