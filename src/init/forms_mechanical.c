/* Consistent initial values of the mechanical form: q and s on their constraints, v on the velocity
 * level, then accelerations, multipliers and auxiliary variables together. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/forms_parts.h"
#include "linalg/inertia.h"

/* ---- positions and velocities ---- */

/* dg/dq, without the constraints on velocities */
static eval_status position_jacobian(void *context, double t, const double *q, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    const multibody_work *b = &x->bw;
    if (x->source->as.m.nvelocity == 0)
        return m->evaluate(x, t, q, x->mw.v, NULL, NULL, values, NULL, NULL);
    eval_status status = m->evaluate(x, t, q, x->mw.v, NULL, NULL, x->mw.G, NULL, NULL);
    memcpy(values, b->H, b->H_matrix.count * sizeof *values);
    return status;
}

static dae_status project_positions(const start *s)
{
    manifold p;
    const start_part positions = {
        &s->x->bw.H_matrix, s->x->mechanical.g, position_jacobian, s->x, 0, "constraint"};
    if (s->x->source->positions == 0) return DAE_OK;
    dae_status status = start_project(s, &positions, &p);
    manifold_free(&p);
    return start_conflict(s, status);
}

/* G v + g_t, and its derivative G, at the positions mw.a points to */
static eval_status velocity_level(void *context, double t, const double *v, double *c)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    eval_status status = m->evaluate(x, t, x->mw.a, v, NULL, NULL, x->mw.G, c, NULL);
    if (status == EVAL_OK) form_matrix_multiply(&m->G_matrix, x->mw.G, 1.0, v, c);
    return status;
}

static eval_status velocity_jacobian(void *context, double t, const double *v, double *values)
{
    form_instance *x = context;
    return x->mechanical.evaluate(x, t, x->mw.a, v, NULL, NULL, values, NULL, NULL);
}

static dae_status project_velocities(const start *s)
{
    form_instance *x = s->x;
    const mechanical_form *m = &x->mechanical;
    manifold p;
    const start_part velocities = {&m->G_matrix,
                                   velocity_level,
                                   velocity_jacobian,
                                   x,
                                   m->nq,
                                   "the velocity level of constraint"};
    if (m->nl == 0) return DAE_OK;
    vector_copy(m->nq, s->y, x->mw.a);
    dae_status status = start_project(s, &velocities, &p);
    if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
    manifold_free(&p);
    if (status == DAE_ERR_SINGULAR) status = start_redundant(s, status);
    return start_conflict(s, status);
}

/* ---- accelerations, multipliers, auxiliary variables ---- */

static dae_status report_balance(const start *s, const balance *b, balance_result result)
{
    bool acceleration;
    int i = balance_culprit(b, result, &acceleration);
    const char *name = start_variable(s, i);
    if (!s->x->source->full)
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "The matrix [M G'; G 0] is singular at t = %.9g: the acceleration of %s is "
                        "not determined. The mass matrix must be regular on the motions that the "
                        "constraints allow; look for a massless body or a missing constraint.",
                        s->t, name);
    if (result == BALANCE_FAR)
        return diag_set(s->diag, DAE_ERR_INITIAL,
                        "No accelerations, multipliers and auxiliary variables were found at t = "
                        "%.9g that satisfy the equations of motion: the iteration for %s does not "
                        "converge. Give values of lambda and w that are closer.",
                        s->t, name);
    return diag_set(s->diag, DAE_ERR_SINGULAR,
                    "The equations of motion do not determine %s%s at t = %.9g: the mass matrix "
                    "must be regular on the motions that the constraints allow, friction must not "
                    "balance the constraint forces, and 0 = auxiliary must determine w.",
                    acceleration ? "the acceleration of " : "", name, s->t);
}

/* A mass matrix in mw.M that is indefinite is no mass matrix; looked at where that is little work.
 */
static dae_status check_masses(const start *s)
{
    enum { LARGEST = 200 };
    const form_instance *x = s->x;
    const form_matrix *m = &x->mechanical.M_matrix;
    int n = m->columns;
    if (n > LARGEST) return DAE_OK;
    double *A = DAE_ARRAY(double, (size_t)n *(size_t)n);
    if (!A) return start_exhausted(s);
    form_matrix_place(m, x->mw.M, 1, (size_t)n, A);
    int bad = inertia_bad_pivot(n, A, false);
    dae_free(A);
    if (bad < 0) return DAE_OK;
    const char *name = start_variable(s, bad);
    return diag_set(s->diag, DAE_ERR_ARGUMENT,
                    "The mass matrix is indefinite at t = %.9g: elimination finds a negative mass "
                    "at %s. Masses must be positive, or zero where constraints make up for it; "
                    "look at the signs in `mass`, and whether the matrix is symmetric.",
                    s->t, name);
}

/* ---- slopes ---- */

/* s' by a central difference along the solution */
static eval_status contact_slopes(const start *s, double step)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    int n = x->mechanical.nq;
    double *q = x->mw.v, *slope = s->yp + p.s, side[2] = {step, -step};
    eval_status status = EVAL_OK;
    for (int k = 0; status == EVAL_OK && k < 2; k++) {
        dae_mechanical_point at;
        vector_copy(n, s->y, q);
        vector_axpy(n, side[k], s->y + n, q);
        status = multibody_point(x, s->t + side[k], q, NULL, &at);
        for (int i = 0; status == EVAL_OK && i < x->source->as.m.ns; i++)
            slope[i] = k == 0 ? at.s[i] : (slope[i] - at.s[i]) / (2.0 * step);
    }
    return status;
}

/* w' and lambda' by a difference along the solution; zero where that cannot be. y: work, n */
static void multiplier_slopes(const start *s, balance *b, double step, double *y)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const eval_failure before = x->eval->failure;
    int n = x->source->n;
    balance_result result = BALANCE_FAR;
    vector_copy(n, s->y, y);
    vector_axpy(p.w, step, s->yp, y);
    bool found = balance_solve(b, s->t + step, y, &result) == EVAL_OK && result == BALANCED;
    for (int i = p.w; i < n; i++)
        if (i < p.s || i >= p.lambda) s->yp[i] = found ? (y[i] - s->y[i]) / step : 0.0;
    x->eval->failure = before;
    multibody_at(x, s->y);
}

static dae_status find_slopes(const start *s, balance *b, double *work)
{
    form_instance *x = s->x;
    const dae_mechanical *form = &x->source->as.m;
    const mechanical_places p = mechanical_parts(form);
    const double *v = s->y + p.v;
    double scale =
        difference_scale(form->nq, s->y, v, form->nominal, time_scale_of(form->time_scale));
    vector_copy(form->nq, v, s->yp);
    multibody_at(x, s->y);
    eval_status status = multibody_dynamics(x, s->t, s->y, v, s->yp + p.r);
    if (status == EVAL_OK && form->ns > 0) status = contact_slopes(s, 1e-5 * scale);
    if (status != EVAL_OK) return start_evaluation(s, status);
    multiplier_slopes(s, b, 1e-6 * scale, work);
    return DAE_OK;
}

/* Accelerations, multipliers and auxiliary variables, and all slopes. */
static dae_status find_motion(const start *s)
{
    form_instance *x = s->x;
    balance *b = balance_new(x);
    double *work = DAE_ARRAY(double, x->source->n);
    balance_result result = BALANCED;
    eval_status status = b && work ? balance_solve(b, s->t, s->y, &result) : EVAL_MEMORY;
    dae_status found = DAE_OK;
    if (status == EVAL_MEMORY)
        found = start_exhausted(s);
    else if (status != EVAL_OK)
        found = start_evaluation(s, status);
    else if (result != BALANCED)
        found = report_balance(s, b, result);
    if (found == DAE_OK) found = check_masses(s);
    if (found == DAE_OK) {
        vector_copy(x->mechanical.nq, balance_accelerations(b), s->yp + x->mechanical.nq);
        found = find_slopes(s, b, work);
    }
    balance_free(b);
    dae_free(work);
    return found;
}

/* s at the positions found */
static dae_status take_contact(const start *s)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    dae_mechanical_point at;
    eval_status status = multibody_point(x, s->t, s->y, NULL, &at);
    if (status != EVAL_OK) return start_evaluation(s, status);
    if (x->source->as.m.ns > 0) vector_copy(x->source->as.m.ns, at.s, s->y + p.s);
    return DAE_OK;
}

dae_status mechanical_start(const start *s)
{
    form_instance *x = s->x;
    const int n = x->mechanical.nq;
    start_sizes(s, 0, n);
    start_sizes(s, n, n);
    vector_copy(n, s->y + n, x->mw.v);
    multibody_at(x, s->y);
    form_redundant_free(x);
    dae_status status = project_positions(s);
    if (status == DAE_OK) status = take_contact(s);
    if (status == DAE_OK) status = project_velocities(s);
    return status == DAE_OK ? find_motion(s) : status;
}
