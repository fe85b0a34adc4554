#include "method/projection.h"

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

bool projection_new(projection *p, const method_context *ctx)
{
    *p = (projection){0};
    const mechanical_form *form = ctx->forms ? ctx->forms->mechanical : NULL;
    if (!form || form->nl == 0) return true;
    size_t nq = (size_t)form->nq, nl = (size_t)form->nl;
    p->x = DAE_ARRAY(double, 5 * nq + nl);
    if (mechanism_new(&p->mechanism, ctx) && p->x) {
        p->form = form;
        p->k = p->x + 2 * nq;
        p->begin = p->k + 2 * nq;
        p->lambda = p->begin + nq;
        return true;
    }
    projection_free(p);
    return false;
}

void projection_free(projection *p)
{
    mechanism_free(&p->mechanism);
    dae_free(p->x);
    *p = (projection){0};
}

mechanism_failure projection_start(projection *p)
{
    p->factored = false;
    return p->form ? mechanism_restart(&p->mechanism) : mechanism_ok();
}

/* M, G, f, g_t and the curvature at (t, x), and the factors */
static mechanism_failure renew(projection *p, double t)
{
    mechanism *m = &p->mechanism;
    p->factored = false;
    mechanism_failure failure = mechanism_evaluate(m, t, p->x, m->rate, m->curvature);
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    p->factored = !failure.status;
    return failure;
}

/* q onto its constraints, with the factors of the point before or, if these do not do, or not well
 * enough, new ones */
static mechanism_failure positions(projection *p, const error_norm *norm, double t)
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
    mechanism_failure failure = renew(p, t);
    return failure.status ? failure : mechanism_project_position(&p->mechanism, norm, t, p->x);
}

/* v onto its constraints, with f and the curvature there: corrections are larger than local errors
 * where velocities come from a method on the index-3 form */
static mechanism_failure velocities(projection *p, double t)
{
    mechanism *m = &p->mechanism;
    const mechanical_form *form = p->form;
    mechanism_project_velocity(m, m->G[0], p->x + form->nq);
    return mechanism_evaluation(form->evaluate(form->context, t, p->x, p->x + form->nq, NULL,
                                               m->force, NULL, NULL, m->curvature));
}

static void scatter(const projection *p, double *y, double *yp)
{
    const int nq = p->form->nq;
    mechanism_scatter(&p->mechanism, p->x, p->lambda, y);
    for (int i = 0; i < 2 * nq; i++) yp[mechanism_place(&p->mechanism, i)] = p->k[i];
}

mechanism_failure projection_apply(projection *p, const error_norm *norm, double t, double *y,
                                   double *yp, dae_projection move)
{
    mechanism_failure failure = mechanism_ok();
    bool none = move == DAE_PROJECTION_NONE;
    for (int i = 0; i < 2 * p->form->nq; i++) p->x[i] = y[mechanism_place(&p->mechanism, i)];
    if (!none && move != DAE_PROJECTION_VELOCITY) failure = positions(p, norm, t);
    if (!failure.status) failure = renew(p, t);
    if (!failure.status && !none && move != DAE_PROJECTION_POSITION) failure = velocities(p, t);
    if (!failure.status) failure = mechanism_slope(&p->mechanism, p->x, p->k, p->lambda);
    if (!failure.status) scatter(p, y, yp);
    return failure;
}

void projection_tangent(projection *p, double *e)
{
    mechanism *m = &p->mechanism;
    const int nq = p->form->nq;
    vector_zero(p->form->nl, m->rate);
    for (int i = 0; i < nq; i++) p->k[i] = e[projection_v(p, i)];
    mechanism_project_velocity(m, m->G[0], p->k);
    for (int i = 0; i < nq; i++) e[projection_v(p, i)] = p->k[i];
}
