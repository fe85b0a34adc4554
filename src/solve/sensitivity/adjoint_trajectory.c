/* A run as pieces: Y and Y' where a step begins and at its stages. Between them values are those of
 * the polynomial through these points; steps are short enough for that, too. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"

static dae_status no_memory(const dae_adjoint *j)
{
    return sensitivity_no_memory(j->x);
}

void trajectory_weights(const collocation *c, double x, double *weight)
{
    collocation_weights(c, x, 0, weight + 1);
    weight[0] = 1.0;
    for (int a = 0; a < c->stages; a++) weight[0] -= weight[1 + a];
}

/* ---- pieces ---- */

/* Y and Y' where a step of a stretch begins: those that the last one has ended with, unless
 * something has happened in between. Slopes of the run's polynomials jump from step to step. */
static dae_status take_beginning(dae_adjoint *j, int number, double *point, bool *joined)
{
    dae_sensitivity *x = j->x;
    const trajectory *q = &j->trajectory;
    const adjoint_record *before = j->record_count > 0 ? &j->records[j->record_count - 1] : NULL;
    const bool within = q->last_t == x->t && x->t != x->run->run.t_old;
    *joined = within && before && !before->ledger && before->stretch == number;
    if (*joined) {
        memcpy(point, q->last, 2 * (size_t)x->lead.n * sizeof *point);
        return DAE_OK;
    }
    dae_status status = lead_values(x, x->t);
    if (status == DAE_OK) lead_keep(&x->lead, point);
    return status;
}

static bool keep_last(trajectory *q, size_t n, double t, const double *point)
{
    if (!dae_grow(&q->last, &q->last_room, 2 * n, sizeof *q->last)) return false;
    memcpy(q->last, point, 2 * n * sizeof *q->last);
    q->last_t = t;
    return true;
}

/* Values of integrals, and derivatives along the mixture; what stages, inputs and parameters count
 * for the way back finds. */
static dae_status count_integrals(dae_adjoint *j, double h, const double *stages, double *spare)
{
    dae_sensitivity *x = j->x;
    const directions *d = &x->directions;
    const size_t n = (size_t)x->lead.n, s = (size_t)x->method->stages;
    const size_t inputs = (size_t)j->functionals * (size_t)d->inputs.count;
    const size_t direct = (size_t)j->functionals * (size_t)d->named;
    dae_status status = DAE_OK;
    if (adjoint_integrals(j) == 0) return status;
    double *kept = DAE_ARRAY(double, inputs + direct);
    if (!kept) return no_memory(j);
    vector_copy((int)inputs, j->inputs, kept);
    vector_copy((int)direct, j->direct, kept + inputs);
    for (size_t a = 0; a < s && status == DAE_OK; a++) {
        double t = a == s - 1 ? x->t + h : x->t + x->method->nodes[a] * h;
        lead_recall(&x->lead, t, x->system->point + 2 * n * a);
        status = adjoint_integrate(j, h, (int)a, stages, t, spare);
    }
    vector_copy((int)inputs, kept, j->inputs);
    vector_copy((int)direct, kept + inputs, j->direct);
    dae_free(kept);
    return status;
}

static bool spare_room(dae_adjoint *j)
{
    trajectory *q = &j->trajectory;
    const size_t n = (size_t)j->x->lead.n, s = (size_t)j->x->method->stages;
    return adjoint_state_room(j) &&
           dae_grow(&q->zero, &q->zero_room, n * s * (1 + 2 * (size_t)adjoint_integrals(j)),
                    sizeof *q->zero);
}

/* The step that was taken becomes a record. */
dae_status trajectory_step(void *user, double h, const double *stages)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    trajectory *q = &j->trajectory;
    const size_t n = (size_t)x->lead.n, s = (size_t)x->method->stages;
    const int number = replay_take(j);
    if (number < 0 || !spare_room(j)) return no_memory(j);
    const size_t count = 2 * n * (s + 1);
    double *numbers = DAE_ARRAY(double, count);
    if (!numbers) return no_memory(j);
    memcpy(numbers + 2 * n, x->system->point, 2 * n * s * sizeof *numbers);
    bool joined;
    dae_status status = take_beginning(j, number, numbers, &joined);
    double *spare = q->zero + n * s;
    memset(spare, 0, 2 * n * s * (size_t)adjoint_integrals(j) * sizeof *spare);
    if (status == DAE_OK) status = count_integrals(j, h, stages, spare);
    if (status == DAE_OK && !keep_last(q, n, x->t + h, numbers + 2 * n * s)) status = no_memory(j);
    if (status != DAE_OK) {
        dae_free(numbers);
        return status;
    }
    return adjoint_add_record(j, (adjoint_record){.method = x->method,
                                                  .space = j->ledger.space,
                                                  .stretch = number,
                                                  .t = x->t,
                                                  .h = h,
                                                  .numbers = numbers,
                                                  .count = count,
                                                  .joined = joined});
}

/* ---- the error of a piece ---- */

/* Where the polynomial through a beginning and the stages is worst, about: half way of the widest
 * gap. */
static double worst_place(const collocation *c)
{
    double from = 0.0, most = 0.0, place = 0.0;
    for (int a = 0; a < c->stages; a++) {
        if (c->nodes[a] - from > most) {
            most = c->nodes[a] - from;
            place = from + 0.5 * most;
        }
        from = c->nodes[a];
    }
    return place;
}

/* How far value i of `point` is from the polynomial, in tolerances of Y_i; Y' counts for as much as
 * it moves Y over the step. */
static double gap_at(const dae_sensitivity *x, int i, double h, const double *weight,
                     const double *first, const double *point)
{
    const size_t n = (size_t)x->lead.n, at = (size_t)i;
    const error_norm *norm = &x->lead.solver->bound.norm;
    const double rtol = norm->rtol_by_unknown ? norm->rtol_by_unknown[i] : norm->rtol;
    const double atol = norm->atol_by_unknown ? norm->atol_by_unknown[i] : norm->atol;
    double value = point[at] - weight[0] * first[at];
    double slope = point[n + at] - weight[0] * first[n + at];
    for (size_t a = 0; a < (size_t)x->method->stages; a++) {
        value -= weight[1 + a] * x->system->point[2 * n * a + at];
        slope -= weight[1 + a] * x->system->point[2 * n * a + n + at];
    }
    if (!lead_is_state(&x->lead, i)) slope = 0.0;
    return fmax(fabs(value), fabs(h * slope)) / (rtol * fabs(point[at]) + atol);
}

/* The gaps of all values at the worst place of the step, in q->gap. */
static dae_status take_gaps(dae_adjoint *j, double h)
{
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n;
    const double place = worst_place(x->method);
    double weight[COLLOCATION_STAGES + 1], *point = DAE_ARRAY(double, 4 * n);
    const int number = point ? replay_take(j) : -1;
    bool joined;
    dae_status status = number < 0 ? no_memory(j) : DAE_OK;
    trajectory_weights(x->method, place, weight);
    if (status == DAE_OK) status = take_beginning(j, number, point, &joined);
    if (status == DAE_OK) status = lead_values(x, x->t + place * h);
    if (status == DAE_OK) lead_keep(&x->lead, point + 2 * n);
    for (size_t i = 0; i < n && status == DAE_OK; i++)
        j->trajectory.gap[i] = gap_at(x, (int)i, h, weight, point, point + 2 * n);
    dae_free(point);
    return status;
}

static bool gap_room(dae_adjoint *j)
{
    trajectory *q = &j->trajectory;
    const size_t n = (size_t)j->x->lead.n;
    if (q->noise && q->gap_room >= 2 * n) return true;
    if (!dae_grow(&q->gap, &q->gap_room, 2 * n, sizeof *q->gap)) return false;
    memset(q->gap, 0, q->gap_room * sizeof *q->gap);
    q->noise = q->gap + q->gap_room / 2;
    return true;
}

/* *error grows to what the polynomial of the step is wrong by, in tenths of tolerances: errors of
 * the run are there, too. Values that follow from others by iteration have noise, which a shorter
 * step does not make smaller, as it does the error of a polynomial, and that of a kink: it is
 * noted, and steps are as long as they may. */
static dae_status judge_gap(dae_adjoint *j, double h, double *error)
{
    static const double PART = 0.1;
    dae_sensitivity *x = j->x;
    trajectory *q = &j->trajectory;
    double worst = 0.0;
    if (!gap_room(j)) return no_memory(j);
    dae_status status = take_gaps(j, h);
    if (status != DAE_OK) return status;
    for (int i = 0; i < x->lead.n; i++) worst = fmax(worst, q->gap[i] / (PART + 2.0 * q->noise[i]));
    if (worst > 1.0 && q->gap_t == x->t && h / q->gap_h < 0.7 &&
        worst > q->gap_worst * sqrt(h / q->gap_h)) {
        for (int i = 0; i < x->lead.n; i++) q->noise[i] = fmax(q->noise[i], q->gap[i]);
        return DAE_OK;
    }
    *error = fmax(*error, worst);
    if (worst <= 1.0 || q->gap_t == x->t) return DAE_OK;
    q->gap_t = x->t;
    q->gap_h = h;
    q->gap_worst = worst;
    return DAE_OK;
}

dae_status trajectory_judge(void *user, double h, const double *stages, double *error)
{
    dae_adjoint *j = user;
    dae_status status = adjoint_judge(j, h, stages, error);
    return status == DAE_OK && *error <= 1.0 ? judge_gap(j, h, error) : status;
}

/* ---- a trajectory alone ---- */

/* Values where the step begins and at all stages, in the places that steps of S have for them. */
static dae_status take_points(dae_sensitivity *x, double h)
{
    const collocation *c = x->method;
    dae_status status = DAE_OK;
    if (!x->system) { /* the layout is known behind the first evaluation */
        status = lead_values(x, x->t);
        if (status == DAE_OK) status = lead_linearise(x, x->t);
        if (status != DAE_OK) return status;
        x->system =
            stage_system_new(x->lead.n, c->stages, x->lead.matrix.jac.layout.count, 0, false);
        if (!x->system) return sensitivity_no_memory(x);
    }
    status = lead_values(x, x->t);
    if (status == DAE_OK) lead_keep(&x->lead, x->system->first_point);
    for (int a = 0; a < c->stages && status == DAE_OK; a++) {
        double t = a == c->stages - 1 ? x->t + h : x->t + c->nodes[a] * h;
        status = lead_values(x, t);
        if (status == DAE_OK)
            lead_keep(&x->lead, x->system->point + 2 * (size_t)x->lead.n * (size_t)a);
    }
    return status;
}

dae_status trajectory_walk(void *user, double h, double *error)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    *error = 0.0;
    if (!spare_room(j)) return no_memory(j);
    const double *zero = j->trajectory.zero;
    dae_status status = take_points(x, h);
    if (status == DAE_OK) status = trajectory_judge(j, h, zero, error);
    if (status != DAE_OK || *error > 1.0) return status;
    status = trajectory_step(j, h, zero);
    if (status == DAE_OK) x->t += h;
    return status;
}
