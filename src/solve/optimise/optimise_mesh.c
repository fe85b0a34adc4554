/* Values between points, errors of states, and finer meshes. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/optimise/optimise_parts.h"

bool opt_solution_new(const dae_optimum *q, int intervals, opt_solution *s)
{
    return mesh_solution_new(intervals, opt_size(q, intervals), s);
}

void opt_polynomial(const dae_optimum *q, const opt_solution *s, int i, double r, double *block)
{
    const collocation *m = q->method;
    const int size = opt_block(q), first = 1 + i * m->stages;
    const double h = s->t[i + 1] - s->t[i];
    double weight[COLLOCATION_STAGES], along[COLLOCATION_STAGES];
    stage_weights(m, r, weight);
    vector_zero(size, block);
    for (int a = 0; a < m->stages; a++)
        vector_axpy(size, weight[a], s->x + opt_at(q, first + a), block);
    collocation_weights(m, r, 0, weight);
    for (int b = 0; b < m->stages; b++) {
        along[b] = 0.0;
        for (int a = 0; a < m->stages; a++) along[b] += weight[a] * m->A[a * m->stages + b];
    }
    for (int k = 0; k < q->d; k++) {
        double sum = s->x[opt_at(q, first - 1) + (size_t)q->state[k]];
        for (int b = 0; b < m->stages; b++)
            sum += h * along[b] * s->x[opt_at(q, first + b) + (size_t)(q->n + k)];
        block[q->state[k]] = sum;
    }
}

/* ---- points ---- */

/* Polynomials of controls may leave their bounds between points: a user sees what is within. */
static void keep_bounds(const dae_optimum *q, double *block)
{
    for (int k = 0; k < q->c; k++) {
        double *u = &block[q->n + q->d + k];
        *u = fmin(q->upper[k], fmax(q->lower[k], *u));
    }
}

/* y and y' of a block; its controls hold at t from now on. */
static void fill(dae_optimum *q, double t, const double *block, double *y, double *yp)
{
    vector_copy(q->n, block, y);
    vector_zero(q->n, yp);
    for (int k = 0; k < q->d; k++) yp[q->state[k]] = block[q->n + k];
    if (q->c == 0) return;
    for (int k = 0; k < q->c; k++) {
        q->instance->memory[q->slot[k]] = t;
        q->instance->memory[q->slot[k] + 1] = block[q->n + q->d + k];
    }
    model_instance_prepare(q->instance);
}

/* Algebraic variables and slopes that belong to the states in y. False: the equations give none. */
static bool complete(dae_optimum *q, double t, double h, double *y, double *yp)
{
    const binding *b = &q->companion->bound;
    for (int i = 0; i < q->n; i++) q->weights[i] = q->request.rtol * fabs(y[i]) + q->request.atol;
    return initializer_project(b->init, t, h, b->kinds, q->weights, y, yp) == EVAL_OK;
}

bool opt_point(dae_optimum *q, const opt_solution *s, double t, double *y, double *yp)
{
    const int i = mesh_interval(s, t);
    const double h = s->t[i + 1] - s->t[i];
    opt_polynomial(q, s, i, (t - s->t[i]) / h, q->local);
    keep_bounds(q, q->local);
    fill(q, t, q->local, y, yp);
    return complete(q, t, h, y, yp);
}

dae_status opt_set_parameters(dae_optimum *q, const opt_solution *s, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    const double *p = s->x + opt_at_p(q, s->intervals);
    for (int k = 0; k < q->m; k++) {
        dae_status status =
            dae_problem_set_parameter(q->problem, q->request.parameters[k].name, p[k], diag);
        if (status != DAE_OK) return status;
    }
    if (q->m == 0) return DAE_OK;
    memcpy(q->instance->parameters, f->parameters,
           f->flat->parameter_count * sizeof *f->parameters);
    model_instance_prepare(q->instance);
    return DAE_OK;
}

/* ---- errors ---- */

/* h times the defect of the polynomial at part r of interval i, in tolerances: its slopes against
 * those that the equations give. */
static double defect(dae_optimum *q, const opt_solution *s, int i, double r)
{
    const double h = s->t[i + 1] - s->t[i], t = s->t[i] + r * h;
    double most = 0.0;
    opt_polynomial(q, s, i, r, q->local);
    keep_bounds(q, q->local);
    fill(q, t, q->local, q->y, q->yp);
    if (!complete(q, t, h, q->y, q->yp)) return INFINITY;
    for (int k = 0; k < q->d; k++) {
        const int j = q->state[k];
        const double off = fabs(h * (q->local[q->n + k] - q->yp[j])) /
                           (q->request.rtol * fabs(q->y[j]) + q->request.atol);
        most = isnan(off) ? INFINITY : fmax(most, off);
    }
    return most;
}

double opt_estimate(dae_optimum *q, const opt_solution *s, double *error)
{
    double most = 0.0;
    for (int i = 0; i < s->intervals; i++) {
        error[i] = fmax(q->reach[0] * defect(q, s, i, 0.0), q->reach[1] * defect(q, s, i, 0.5));
        most = fmax(most, error[i]);
    }
    return most;
}

/* ---- meshes ---- */

/* Values of `from` on the mesh that `to` has. */
static void transfer(const dae_optimum *q, const opt_solution *from, opt_solution *to)
{
    const int points = opt_points(q, to->intervals);
    const size_t start = (size_t)opt_block(q) * sizeof *to->x;
    memcpy(to->x, from->x, start);
    for (int k = 1; k < points; k++) {
        const double t = opt_time(q, to, k);
        /* the last stage of an interval belongs to it, not to the next one */
        const double inside = to->t[(k - 1) / q->method->stages];
        int i = mesh_interval(from, t);
        if (i > 0 && t <= from->t[i] && inside < from->t[i]) i--;
        opt_polynomial(q, from, i, (t - from->t[i]) / (from->t[i + 1] - from->t[i]),
                       to->x + opt_at(q, k));
    }
    vector_copy(q->m, from->x + opt_at_p(q, from->intervals), to->x + opt_at_p(q, to->intervals));
}

/* Each interval in parts[i] equal ones. */
static bool split(const dae_optimum *q, const opt_solution *s, const int *parts, opt_solution *next)
{
    int count = 0, at = 0;
    for (int i = 0; i < s->intervals; i++) count += parts[i];
    if (!opt_solution_new(q, count, next)) return false;
    for (int i = 0; i < s->intervals; i++)
        for (int k = 0; k < parts[i]; k++)
            next->t[at++] = s->t[i] + (s->t[i + 1] - s->t[i]) * k / parts[i];
    next->t[count] = s->t[s->intervals];
    transfer(q, s, next);
    return true;
}

bool opt_refine(const dae_optimum *q, const opt_solution *s, const double *error,
                opt_solution *next)
{
    enum { MOST = 8 };
    const double order = q->method->stages + 1.0;
    int *parts = DAE_ARRAY(int, s->intervals);
    if (!parts) return false;
    for (int i = 0; i < s->intervals; i++) {
        double want = ceil(1.1 * pow(fmin(error[i], 1e30) / 0.5, 1.0 / order));
        parts[i] = (int)fmin(fmax(want, 1.0), MOST);
    }
    bool ok = split(q, s, parts, next);
    dae_free(parts);
    return ok;
}

/* How much a control changes within an interval and at its ends, in parts of its range there is. */
static double change_of(const dae_optimum *q, const opt_solution *s, int i, int k, double range)
{
    const int stages = q->method->stages, first = 1 + i * stages;
    const size_t j = (size_t)(q->n + q->d + k);
    double low = INFINITY, high = -INFINITY;
    for (int a = -1; a <= stages; a++) {
        const int point = first + a;
        if (point < 1 || point >= opt_points(q, s->intervals)) continue;
        low = fmin(low, s->x[opt_at(q, point) + j]);
        high = fmax(high, s->x[opt_at(q, point) + j]);
    }
    return (high - low) / range;
}

bool opt_refine_controls(const dae_optimum *q, const opt_solution *s, opt_solution *next)
{
    int *parts = DAE_ARRAY(int, s->intervals), marked = 0;
    if (!parts) return false;
    for (int i = 0; i < s->intervals; i++) parts[i] = 1;
    for (int k = 0; k < q->c; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int point = 1; point < opt_points(q, s->intervals); point++) {
            const double u = s->x[opt_at(q, point) + (size_t)(q->n + q->d + k)];
            low = fmin(low, u), high = fmax(high, u);
        }
        for (int i = 0; i < s->intervals && high - low > 0.0; i++)
            if (parts[i] == 1 && change_of(q, s, i, k, high - low) > 0.1) parts[i] = 3, marked++;
    }
    for (int i = 0; i < s->intervals && marked == 0; i++) parts[i] = 2;
    bool ok = split(q, s, parts, next);
    dae_free(parts);
    return ok;
}
