/* Collocation as equations of Newton's method. */
#include <math.h>

#include "base/memory.h"
#include "solve/bvp/bvp_parts.h"

static const double ENOUGH = 1e-3; /* far below the error of the mesh */

typedef struct mesh_equations {
    dae_bvp *q;
    bvp_solution *s, trial; /* trial has a u of its own, and the mesh of s */
    size_t size;
} mesh_equations;

static dae_status linearise(void *user, double *residual, dae_diag *diag)
{
    mesh_equations *w = user;
    return bvp_residual(w->q, w->s, residual, true, diag);
}

static void move(void *user, double damping, const double *step)
{
    mesh_equations *w = user;
    for (size_t k = 0; k < w->size; k++) w->trial.x[k] = w->s->x[k] + damping * step[k];
}

static dae_status residual_there(void *user, double *residual, dae_diag *diag)
{
    mesh_equations *w = user;
    return bvp_residual(w->q, &w->trial, residual, false, diag);
}

static void take(void *user, const double *more)
{
    mesh_equations *w = user;
    double *u = w->s->x;
    for (size_t k = 0; more && k < w->size; k++) w->trial.x[k] += more[k];
    w->s->x = w->trial.x;
    w->trial.x = u;
}

/* Largest values, and slopes of states, of each unknown over the mesh. */
static void find_largest(const dae_bvp *q, const bvp_solution *s, double *value, double *slope)
{
    for (int i = 0; i < q->n; i++) value[i] = slope[i] = 0.0;
    for (int i = 0; i < s->intervals; i++) {
        for (int k = 0; k < q->d; k++)
            value[q->state[k]] = fmax(value[q->state[k]], fabs(s->x[bvp_at_x(q, i) + (size_t)k]));
        for (int a = 0; a < q->method->stages; a++)
            for (int j = 0; j < q->n; j++) {
                double *most = q->number[j] >= 0 ? &slope[j] : &value[j];
                *most = fmax(*most, fabs(s->x[bvp_at_v(q, i, a) + (size_t)j]));
            }
    }
}

/* Both ends where they have equations of their own: by their own values. */
static void weigh_ends(const dae_bvp *q, const bvp_solution *s, double *weight)
{
    const size_t right = bvp_at_right(q, s->intervals);
    for (size_t k = 0; k < (size_t)q->layout.head; k++)
        weight[k] = weight[right + k] =
            q->request.rtol * fmax(fabs(s->x[k]), fabs(s->x[right + k])) + q->request.atol;
}

/* weight = rtol max|.| + atol over the mesh, for each unknown of the form; slopes over the length
 * of the interval, and projections of what is no state times that. */
static void weigh(void *user, double *weight)
{
    const mesh_equations *w = user;
    const dae_bvp *q = bvp_inner(w->q);
    const bvp_solution *s = w->s;
    const double rtol = q->request.rtol, atol = q->request.atol;
    const double span = s->t[s->intervals] - s->t[0];
    double *value = q->work, *slope = q->f; /* largest ones */
    find_largest(q, s, value, slope);
    for (int j = 0; j < q->n; j++) {
        const double of = rtol * value[j] + atol;
        const double at_v = q->number[j] >= 0 ? rtol * slope[j] + of / span : of;
        for (int i = 0; i < s->intervals; i++) {
            for (int a = 0; a < q->method->stages; a++)
                weight[bvp_at_v(q, i, a) + (size_t)j] = at_v;
            if (q->layout.extra > 0)
                weight[bvp_at_v(q, i, q->method->stages) + (size_t)j] =
                    q->number[j] >= 0 || q->known[j] ? of : of * span;
        }
        if (!w->q->inner) weight[j] = weight[bvp_at_right(q, s->intervals) + (size_t)j] = at_v;
    }
    if (w->q->inner) weigh_ends(w->q, s, weight);
    for (int i = 0; i <= s->intervals; i++)
        for (int k = 0; k < q->d; k++)
            weight[bvp_at_x(q, i) + (size_t)k] = rtol * value[q->state[k]] + atol;
    for (size_t k = bvp_at_p(q, s->intervals); k < w->size; k++)
        weight[k] = rtol * fabs(s->x[k]) + atol;
}

static void name_unknown(void *user, size_t k, char *text, size_t size)
{
    const mesh_equations *w = user;
    bvp_name_unknown(w->q, w->s, k, text, size);
}

static void name_equation(void *user, size_t k, char *text, size_t size)
{
    const mesh_equations *w = user;
    bvp_name_equation(w->q, w->s, k, text, size);
}

dae_status bvp_solve_mesh(dae_bvp *q, bvp_solution *s, dae_diag *diag)
{
    mesh_equations w = {.q = q, .s = s, .size = bvp_size(q, s->intervals)};
    const bvp_equations e = {&w,        w.size,       s->intervals,   ENOUGH,
                             linearise, move,         residual_there, take,
                             weigh,     name_unknown, name_equation};
    w.trial = (bvp_solution){s->intervals, s->t, DAE_ARRAY(double, w.size)};
    dae_status status = w.trial.x ? bvp_newton(q, &e, diag) : bvp_no_memory(diag);
    if (status == DAE_OK) status = bvp_set_parameters(q, s->x + bvp_at_p(q, s->intervals), diag);
    dae_free(w.trial.x);
    return status;
}
