/* Values between nodes, errors, and meshes on which they are alike. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"

static const double SMALL = 0.1; /* h times a defect, in tolerances, that needs no closer look */

bool bvp_solution_new(const dae_bvp *q, int intervals, bvp_solution *s)
{
    return mesh_solution_new(intervals, bvp_size(q, intervals), s);
}

/* ---- values ---- */

void bvp_on_polynomial(const dae_bvp *q, const bvp_solution *s, int i, double r, double *x,
                       double *v)
{
    const collocation *m = q->method;
    const double h = s->t[i + 1] - s->t[i];
    double weight[COLLOCATION_STAGES], along[COLLOCATION_STAGES];
    stage_weights(m, r, weight);
    vector_zero(q->n, v);
    for (int a = 0; a < m->stages; a++)
        for (int j = 0; j < q->n; j++) v[j] += weight[a] * s->x[bvp_at_v(q, i, a) + (size_t)j];
    collocation_weights(m, r, 0, weight);
    for (int b = 0; b < m->stages; b++) {
        along[b] = 0.0;
        for (int a = 0; a < m->stages; a++) along[b] += weight[a] * m->A[a * m->stages + b];
    }
    for (int k = 0; k < q->d; k++) {
        x[k] = s->x[bvp_at_x(q, i) + (size_t)k];
        for (int b = 0; b < m->stages; b++)
            x[k] += h * along[b] * s->x[bvp_at_v(q, i, b) + (size_t)q->state[k]];
    }
}

/* Algebraic variables and slopes that belong to the states in y. False: the equations give none. */
static bool complete(dae_bvp *q, double t, double h, double *y, double *yp)
{
    const binding *b = &q->companion->bound;
    for (int i = 0; i < q->n; i++) q->weights[i] = q->request.rtol * fabs(y[i]) + q->request.atol;
    return initializer_project(b->init, t, h, b->kinds, q->weights, y, yp) == EVAL_OK;
}

/* y, y' of the ends' form at t, from inner states x and V; the rest by the equations. False: they
 * give none. */
static bool complete_from(dae_bvp *q, double t, double h, const double *x, const double *v,
                          double *y, double *yp)
{
    dae_bvp *in = bvp_inner(q);
    if (q->inner) {
        bvp_fill(in, x, v, in->y, in->yp);
        return bvp_outward(q, t, h, in->y, in->yp, y, yp);
    }
    bvp_fill(q, x, v, y, yp);
    return complete(q, t, h, y, yp);
}

bool bvp_point(dae_bvp *q, const bvp_solution *s, double t, double *y, double *yp)
{
    const dae_bvp *in = bvp_inner(q);
    const int i = mesh_interval(s, t);
    const double h = s->t[i + 1] - s->t[i];
    double *x = in->work, *v = in->f;
    bvp_on_polynomial(in, s, i, (t - s->t[i]) / h, x, v);
    if (t == s->t[i + 1]) vector_copy(in->d, s->x + bvp_at_x(q, i + 1), x);
    return complete_from(q, t, h, x, v, y, yp);
}

void bvp_transfer(dae_bvp *q, const bvp_solution *from, bvp_solution *to)
{
    const dae_bvp *in = bvp_inner(q);
    const collocation *m = q->method;
    vector_copy(q->layout.head, from->x, to->x);
    vector_copy(q->layout.tail + q->m, from->x + bvp_at_right(q, from->intervals),
                to->x + bvp_at_right(q, to->intervals));
    for (int i = 0; i <= to->intervals; i++) {
        int k = mesh_interval(from, to->t[i]);
        double h = from->t[k + 1] - from->t[k];
        bvp_on_polynomial(in, from, k, (to->t[i] - from->t[k]) / h, to->x + bvp_at_x(q, i),
                          in->work);
        for (int a = 0; a < m->stages && i < to->intervals; a++) {
            double t = to->t[i] + m->nodes[a] * (to->t[i + 1] - to->t[i]);
            k = mesh_interval(from, t);
            h = from->t[k + 1] - from->t[k];
            bvp_on_polynomial(in, from, k, (t - from->t[k]) / h, in->f, to->x + bvp_at_v(q, i, a));
        }
    }
    bvp_start_projections(bvp_inner(q), to);
}

/* ---- errors ---- */

/* e = h times the defect of the polynomial at part r of interval i: its slopes against those that
 * the equations give, of all states; x = their values. False: they give none. */
static bool take_defect(dae_bvp *q, const bvp_solution *s, int i, double r, double *e, double *x)
{
    const dae_bvp *in = bvp_inner(q);
    const double h = s->t[i + 1] - s->t[i], t = s->t[i] + r * h;
    double *v = in->f;
    bvp_on_polynomial(in, s, i, r, x, v);
    if (!complete_from(q, t, h, x, v, q->y, q->yp)) return false;
    if (q->inner) bvp_inner_slopes(q, t, q->y, q->yp, in->yp);
    bvp_on_polynomial(in, s, i, r, x, v);
    for (int k = 0; k < in->d; k++) e[k] = h * (v[in->state[k]] - in->yp[in->state[k]]);
    return true;
}

static double in_tolerances(const dae_bvp *q, const double *e, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < q->d; k++)
        most = bvp_larger(most, fabs(e[k]) / (q->request.rtol * fabs(x[k]) + q->request.atol));
    return most;
}

/* e := (I - h gamma dx'/dx)^-1 e at q->y, q->yp. The error that a defect makes is not h times it
 * where solutions decay or grow within the interval, but over that rate [HW96 IV.8]. */
static bool filter(dae_bvp *q, double t, double h, double *e)
{
    const double part = h / q->method->gamma;
    double *cy = q->work, *cyp = q->f, *b = q->yp + q->n; /* the room behind y' */
    if (iteration_evaluate(&q->matrix, t, q->y, q->yp, 1.0 / h, h, q->weights, NULL) !=
        ITERATION_OK)
        return false;
    for (int j = 0; j < q->n; j++) {
        const bool state = q->number[j] >= 0;
        cy[j] = state ? part : 1.0;
        cyp[j] = state;
    }
    if (iteration_factor_columns(&q->matrix, cy, cyp) != ITERATION_OK) return false;
    for (int j = 0; j < q->n; j++) q->f[j] = q->number[j] >= 0 ? e[q->number[j]] : 0.0;
    matrix_multiply(&q->matrix.jac.layout, q->matrix.jac.dfdy, q->f, b);
    if (iteration_solve(&q->matrix, NULL, b) != ITERATION_OK) return false;
    for (int k = 0; k < q->d; k++) e[k] -= part * b[q->state[k]];
    return vector_finite(q->d, e);
}

/* Error of the polynomial in interval i by its defect at part r, in tolerances. */
static double error_at(dae_bvp *q, const bvp_solution *s, int i, double r, double *room)
{
    const dae_bvp *in = bvp_inner(q);
    const double h = s->t[i + 1] - s->t[i];
    double *e = room, *x = room + in->d;
    if (!take_defect(q, s, i, r, e, x)) return INFINITY;
    const double whole = in_tolerances(in, e, x);
    if (whole <= SMALL || q->inner || !filter(q, s->t[i] + r * h, h, e)) return whole;
    return fmin(whole, in_tolerances(in, e, x));
}

double bvp_estimate(dae_bvp *q, const bvp_solution *s, double *error)
{
    double most = 0.0, *room = DAE_ARRAY(double, 2 * (size_t)bvp_inner(q)->d);
    if (!room) return NAN;
    for (int i = 0; i < s->intervals; i++) {
        error[i] = 0.0;
        for (int k = 0; k < BVP_PROBES; k++)
            error[i] = bvp_larger(error[i], q->reach[k] * error_at(q, s, i, q->probe[k], room));
        most = fmax(most, error[i]);
    }
    dae_free(room);
    return most;
}

double bvp_look_closer(dae_bvp *q, const bvp_solution *s, double *error)
{
    enum { LOOKS = 16 };
    double most = 0.0, *room = DAE_ARRAY(double, 2 * (size_t)bvp_inner(q)->d);
    if (!room) return NAN;
    for (int i = 0; i < s->intervals; i++) {
        error[i] = 0.0;
        for (int k = 0; k < LOOKS; k++)
            error[i] = bvp_larger(error[i], error_at(q, s, i, (k + 0.5) / LOOKS, room) / LOOKS);
        most = fmax(most, error[i]);
    }
    dae_free(room);
    return most;
}

double bvp_difference(dae_bvp *q, const bvp_solution *a, const bvp_solution *b)
{
    double most = 0.0;
    for (int i = 0; i <= b->intervals; i++) {
        double t = b->t[i];
        if (!bvp_point(q, a, t, q->y, q->yp)) return INFINITY;
        double *other = q->yp + q->n; /* the room behind y' */
        vector_copy(q->n, q->y, other);
        if (!bvp_point(q, b, t, q->y, q->yp)) return INFINITY;
        for (int j = 0; j < q->n; j++)
            most = bvp_larger(most, fabs(q->y[j] - other[j]) /
                                        (q->request.rtol * fabs(q->y[j]) + q->request.atol));
    }
    const double *p = a->x + bvp_at_p(q, a->intervals), *r = b->x + bvp_at_p(q, b->intervals);
    for (int k = 0; k < q->m; k++)
        most =
            bvp_larger(most, fabs(p[k] - r[k]) / (q->request.rtol * fabs(r[k]) + q->request.atol));
    return most;
}

/* ---- meshes ---- */

/* How many new intervals each old one would be: errors go with the power stages + 1 of h. No
 * interval counts for less than a tenth of the mean: what looks smooth may be overlooked. */
static double share_out(const dae_bvp *q, const bvp_solution *s, const double *error, double target,
                        double *share)
{
    const double order = q->method->stages + 1.0;
    double sum = 0.0, total = 0.0;
    for (int i = 0; i < s->intervals; i++) {
        double e = fmin(error[i], 1e30);
        share[i] = pow(e / target, 1.0 / order);
        sum += share[i];
    }
    double least = 0.1 * sum / s->intervals;
    if (!(least > 0.0)) least = 1.0;
    for (int i = 0; i < s->intervals; i++) {
        share[i] = fmax(share[i], least);
        total += share[i];
    }
    return total;
}

bool bvp_redistribute(dae_bvp *q, const bvp_solution *s, const double *error, double target,
                      int least, bvp_solution *next)
{
    double *share = DAE_ARRAY(double, s->intervals);
    if (!share) return false;
    const double total = share_out(q, s, error, target, share);
    int count = (int)fmin(ceil(1.1 * total), 4.0 * s->intervals);
    count = count < least ? least : count;
    if (count > q->request.max_intervals) count = q->request.max_intervals;
    bool ok = bvp_solution_new(q, count, next);
    double before = 0.0;
    for (int k = 0, i = 0; ok && k <= count; k++) {
        double goal = total * k / count;
        while (i < s->intervals - 1 && before + share[i] < goal) before += share[i++];
        double part = fmin(1.0, fmax(0.0, (goal - before) / share[i]));
        next->t[k] = s->t[i] + part * (s->t[i + 1] - s->t[i]);
    }
    if (ok) {
        next->t[0] = s->t[0];
        next->t[count] = s->t[s->intervals];
        bvp_transfer(q, s, next);
    }
    dae_free(share);
    return ok;
}

bool bvp_halve(dae_bvp *q, const bvp_solution *s, bvp_solution *next)
{
    if (!bvp_solution_new(q, 2 * s->intervals, next)) return false;
    for (int i = 0; i < s->intervals; i++) {
        next->t[2 * i] = s->t[i];
        next->t[2 * i + 1] = 0.5 * (s->t[i] + s->t[i + 1]);
    }
    next->t[next->intervals] = s->t[s->intervals];
    bvp_transfer(q, s, next);
    return true;
}
