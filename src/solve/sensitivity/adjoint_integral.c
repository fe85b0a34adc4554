/* Integrals of a run: what stages of steps count for, and whether a step is short enough for them.
 */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"

dae_status adjoint_take_integrand(dae_adjoint *j, int m, double t, double *value)
{
    const double *w = j->integral + (size_t)m * (size_t)j->variables;
    vector_zero(j->variables, j->by_v);
    vector_zero(j->x->directions.named, j->by_p);
    *value = 0.0;
    if (j->integrand &&
        (j->integrand(t, j->outputs, m, value, j->by_v, j->by_p, j->integrand_user) != 0 ||
         !isfinite(*value) || !vector_finite(j->variables, j->by_v) ||
         !vector_finite(j->x->directions.named, j->by_p))) {
        j->x->run->diag.t = t;
        return diag_set(&j->x->run->diag, DAE_ERR_CALLBACK,
                        "Adjoint: the integrand of functional %d failed at t = %.9g, or is not "
                        "finite there.",
                        m, t);
    }
    for (int i = 0; i < j->variables; i++) {
        if (w[i] != 0.0) *value += w[i] * j->outputs[i];
        j->by_v[i] += w[i];
    }
    return DAE_OK;
}

/* What moves p alone: of integrand m, `by` times. */
static void count_parameters(dae_adjoint *j, int m, double by)
{
    const directions *d = &j->x->directions;
    double *direct = j->direct + (size_t)m * (size_t)d->named;
    for (int k = 0; k < d->named; k++) {
        direct[k] += by * j->by_p[k];
        const double part = by * j->by_p[k] * d->mix[k] * d->list[k].size;
        j->mixed[m] += part;
        j->rounding[m] += ADJOINT_CLOSE * fabs(part);
    }
}

int adjoint_integrals(const dae_adjoint *j)
{
    int count = 0;
    for (int m = 0; m < j->functionals; m++) count += j->integrated[m];
    return count;
}

/* S and S' of the mixture at stage a, from X_a - S of all stages. */
static void take_state(dae_adjoint *j, double h, int a, const double *stages)
{
    const collocation *c = j->x->method;
    const size_t n = (size_t)j->x->lead.n, s = (size_t)c->stages;
    vector_copy((int)n, j->x->s, j->state);
    vector_axpy((int)n, 1.0, stages + (size_t)a * n, j->state);
    vector_zero((int)n, j->state + n);
    for (size_t b = 0; b < s; b++)
        vector_axpy((int)n, c->inverse[(size_t)a * s + b] / h, stages + b * n, j->state + n);
}

bool adjoint_integrates(void *user, int i)
{
    const dae_adjoint *j = user;
    if (j->integrand) return true; /* it may read all of them */
    for (int m = 0; m < j->functionals; m++)
        if (j->integral[(size_t)m * (size_t)j->variables + (size_t)i] != 0.0) return true;
    return false;
}

/* ---- the error of a step ---- */

/* The derivative along the mixture of the integrand that was taken last, at j->state. */
static double along_integrand(const dae_adjoint *j, const model_tangent *v)
{
    const directions *d = &j->x->directions;
    double sum = adjoint_along(j, v, j->by_v, j->state, j->state + j->x->lead.n);
    for (int k = 0; k < d->named; k++) sum += j->by_p[k] * d->mix[k] * d->list[k].size;
    return sum;
}

/* The integrals of |g| and of its derivative, that is what errors are compared with. */
static void add_size(dae_adjoint *j, int m, double by, double value, double along)
{
    j->size[2 * m] += fabs(by * value);
    j->size[2 * m + 1] += fabs(by * along);
}

dae_status adjoint_integrate(dae_adjoint *j, double h, int a, const double *stages, double t,
                             double *numbers)
{
    const collocation *c = j->x->method;
    const size_t n = (size_t)j->x->lead.n, s = (size_t)c->stages;
    const double by = h * c->b[a];
    model_tangent *v;
    dae_status status = adjoint_outputs(j, t, &v);
    if (status == DAE_OK) take_state(j, h, a, stages);
    for (int m = 0, at = 0; m < j->functionals && status == DAE_OK; m++) {
        double value;
        if (!j->integrated[m]) continue;
        double *part = numbers + (size_t)at++ * 2 * s * n + (size_t)a * n;
        status = adjoint_take_integrand(j, m, t, &value);
        if (status != DAE_OK) break;
        for (int i = 0; i < j->variables; i++) j->weighted[i] = by * j->by_v[i];
        j->value[m] += by * value;
        add_size(j, m, by, value, along_integrand(j, v));
        adjoint_spread(j, v, j->weighted, part, part + s * n,
                       j->inputs + (size_t)m * (size_t)j->x->directions.inputs.count);
        adjoint_add_along(j, m, adjoint_along(j, v, j->weighted, j->state, j->state + n), part,
                          part + s * n, j->state, j->state + n);
        count_parameters(j, m, by);
    }
    return status;
}

dae_status adjoint_integrands(dae_adjoint *j, double *values)
{
    model_tangent *v;
    if (adjoint_integrals(j) == 0) return DAE_OK;
    const double t = j->x->run->run.t;
    dae_status status = lead_values(j->x, t);
    if (status == DAE_OK) status = adjoint_outputs(j, t, &v);
    for (int m = 0; m < j->functionals && status == DAE_OK; m++) {
        values[m] = 0.0;
        if (j->integrated[m]) status = adjoint_take_integrand(j, m, t, &values[m]);
    }
    return status;
}

/* What the beginning of the step (a = -1) or stage a adds to that. */
static dae_status judge_point(dae_adjoint *j, int m, double t, const model_tangent *v, double h,
                              int a, quadrature_error *e)
{
    const collocation *c = j->x->method;
    double value, by = 1.0;
    dae_status status = adjoint_take_integrand(j, m, t, &value);
    if (status != DAE_OK) return status;
    const double along = along_integrand(j, v);
    if (a >= 0) {
        by = 0.0;
        for (int b = 0; b < c->stages; b++) by -= c->left[b] * c->A[b * c->stages + a];
        e->size[0] += fabs(h * c->b[a] * value);
        e->size[1] += fabs(h * c->b[a] * along);
    }
    e->gap[0] += by * value;
    e->gap[1] += by * along;
    for (int i = 0; a < 0 && i < j->variables; i++) e->weight += fabs(j->by_v[i]);
    return DAE_OK;
}

/* That at the beginning (a = -1), or at stage a. */
static dae_status judge_at(dae_adjoint *j, double h, int a, const double *stages,
                           quadrature_error *e)
{
    dae_sensitivity *x = j->x;
    const int last = x->method->stages - 1, n = x->lead.n;
    double t = a < 0 ? x->t : a == last ? x->t + h : x->t + x->method->nodes[a] * h;
    model_tangent *v;
    if (a < 0) {
        lead_recall(&x->lead, t, x->system->first_point);
        vector_copy(n, x->s, j->state);
        vector_copy(n, x->sp, j->state + n);
    } else {
        lead_recall(&x->lead, t, x->system->point + 2 * (size_t)n * (size_t)a);
        take_state(j, h, a, stages);
    }
    dae_status status = adjoint_outputs(j, t, &v);
    for (int m = 0; m < j->functionals && status == DAE_OK; m++)
        if (j->integrated[m]) status = judge_point(j, m, t, v, h, a, &e[m]);
    return status;
}

/* An integral is judged as a state would be whose slope is the integrand, by the difference of two
 * formulas, (gamma/h) e = g - p [HW96 (IV.8.19)], and so is its derivative. What it may be wrong by
 * follows from the integral of |g|: J itself may cancel. */
static double judged(const dae_adjoint *j, double h, int m, const quadrature_error *e)
{
    const dae_sensitivity *x = j->x;
    const double rtol = x->request.rtol > 0.0 ? x->request.rtol : x->run->base_options.rtol;
    const double atol = x->request.atol > 0.0 ? x->request.atol : x->run->base_options.atol;
    double worst = 0.0;
    for (int i = 0; i < 2; i++) {
        double error = x->part * fabs(h / x->method->gamma * e->gap[i]);
        double allowed = rtol * (j->size[2 * m + i] + e->size[i]) +
                         atol * e->weight * (fabs(x->t - j->began) + fabs(h));
        if (allowed > 0.0) worst = fmax(worst, error / allowed);
    }
    return worst;
}

dae_status adjoint_judge(void *user, double h, const double *stages, double *error)
{
    dae_adjoint *j = user;
    if (adjoint_integrals(j) == 0) return DAE_OK;
    if (!adjoint_state_room(j)) return sensitivity_no_memory(j->x);
    quadrature_error *e = j->judged;
    memset(e, 0, (size_t)j->functionals * sizeof *e);
    dae_status status = DAE_OK;
    for (int a = -1; a < j->x->method->stages && status == DAE_OK; a++)
        status = judge_at(j, h, a, stages, e);
    for (int m = 0; m < j->functionals && status == DAE_OK; m++)
        if (j->integrated[m]) *error = fmax(*error, judged(j, h, m, &e[m]));
    return status;
}
