/* Levenberg and Marquardt's method [Mor78], with bounds by an active set and losses by weights. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "linalg/least_squares.h"
#include "solve/fit/fit_parts.h"

/* ---- losses ---- */

static double scale_of(const fit *q)
{
    if (q->request.loss_scale > 0.0) return q->request.loss_scale;
    return q->request.loss == DAE_LOSS_HUBER ? 1.345 : 2.385; /* 95 % efficient for normal errors */
}

/* The loss of r, and the weight with which r^2/2 has its slope. */
static double loss_of(const fit *q, double r, double *weight)
{
    const double c = scale_of(q), a = fabs(r);
    switch (q->request.loss) {
    case DAE_LOSS_HUBER:
        *weight = a <= c ? 1.0 : c / a;
        return a <= c ? 0.5 * r * r : c * (a - 0.5 * c);
    case DAE_LOSS_CAUCHY:
        *weight = 1.0 / (1.0 + (r / c) * (r / c));
        return 0.5 * c * c * log1p((r / c) * (r / c));
    default: *weight = 1.0; return 0.5 * r * r;
    }
}

double fit_cost(const fit *q, const double *r)
{
    double sum = 0.0, weight;
    for (int i = 0; i < q->rows; i++) sum += loss_of(q, r[i], &weight);
    return sum;
}

/* Residuals and derivatives as the loss weighs them, and which of these are noise. */
static void weigh(fit *q)
{
    fit_look(q);
    for (int i = 0; i < q->rows; i++) {
        double weight;
        loss_of(q, q->r[i], &weight);
        const double root = sqrt(weight);
        q->weighted_r[i] = root * q->r[i];
        for (int k = 0; k < q->count; k++) {
            const size_t at = (size_t)k * (size_t)q->rows + (size_t)i;
            q->weighted_J[at] = root * q->J[at];
        }
    }
}

/* ---- life ---- */

static void fit_free(fit *q)
{
    dae_free_all(q->x, q->lower, q->upper, q->r, q->trial_r, q->J, q->weighted_r, q->weighted_J);
    dae_free_all(q->start, q->range, q->effect, q->blind);
}

static bool fit_new(fit *q, dae_problem *problem, const dae_fit_request *r, int rows)
{
    const size_t n = (size_t)r->parameter_count, m = (size_t)rows;
    *q = (fit){.problem = problem, .request = *r, .count = (int)n, .rows = rows};
    q->x = DAE_ARRAY(double, n);
    q->lower = DAE_ARRAY(double, n);
    q->upper = DAE_ARRAY(double, n);
    q->r = DAE_ARRAY(double, m);
    q->trial_r = DAE_ARRAY(double, m);
    q->J = DAE_ARRAY(double, m *n);
    q->weighted_r = DAE_ARRAY(double, m);
    q->weighted_J = DAE_ARRAY(double, m *n);
    q->start = DAE_ARRAY(double, n);
    q->range = DAE_ARRAY(double, m);
    q->effect = DAE_ARRAY(double, n);
    q->blind = DAE_ARRAY(bool, n);
    if (!q->x || !q->lower || !q->upper || !q->r || !q->trial_r || !q->J || !q->weighted_r ||
        !q->weighted_J || !q->start || !q->range || !q->effect || !q->blind)
        return false;
    for (int k = 0; k < q->count; k++) {
        const dae_fit_parameter *p = &r->parameters[k];
        bool bounded = p->lower != 0.0 || p->upper != 0.0;
        q->x[k] = q->start[k] = isnan(p->start) ? fit_value(problem, p->name) : p->start;
        q->lower[k] = bounded ? p->lower : -INFINITY;
        q->upper[k] = bounded ? p->upper : INFINITY;
    }
    return true;
}

/* ---- one step ---- */

/* What a search keeps from step to step. */
typedef struct search {
    fit *q;
    double damping, growth;
    double *scale; /* count: largest length so far of the column of J */
    double *step;  /* count */
    double *trial; /* count */
    bool *free;    /* count: not held at a bound, */
    bool *loose;   /* nor by the step */
    double *A, *b; /* of the damped problem */
    least_squares ls;
    double predicted; /* by which the cost goes down */
} search;

static void search_free(search *s)
{
    least_squares_free(&s->ls);
    dae_free_all(s->scale, s->step, s->trial, s->free, s->loose, s->A, s->b);
}

static bool search_new(search *s, fit *q)
{
    const size_t n = (size_t)q->count, m = (size_t)q->rows + n;
    *s = (search){.q = q, .damping = 1e-3, .growth = 2.0};
    s->scale = DAE_ARRAY(double, n);
    s->step = DAE_ARRAY(double, n);
    s->trial = DAE_ARRAY(double, n);
    s->free = DAE_ARRAY(bool, n);
    s->loose = DAE_ARRAY(bool, n);
    s->A = DAE_ARRAY(double, m *n);
    s->b = DAE_ARRAY(double, m);
    return s->scale && s->step && s->trial && s->free && s->loose && s->A && s->b &&
           least_squares_new(&s->ls, (int)m, (int)n);
}

static const double *column(const fit *q, int k)
{
    return q->weighted_J + (size_t)k * (size_t)q->rows;
}

/* Parameters at a bound that the cost pushes against stay there, and so do those whose derivatives
 * are noise: steps that follow it go anywhere. */
static void hold_bounds(search *s)
{
    const fit *q = s->q;
    for (int k = 0; k < q->count; k++) {
        double slope = vector_dot(q->rows, column(q, k), q->weighted_r);
        bool low = q->x[k] <= q->lower[k] && slope > 0.0;
        bool high = q->x[k] >= q->upper[k] && slope < 0.0;
        s->free[k] = !low && !high && !q->blind[k];
        double length = sqrt(vector_dot(q->rows, column(q, k), column(q, k)));
        s->scale[k] = fmax(s->scale[k], length);
    }
}

/* The largest cosine between the residuals and a column of J that may move: 0 at a minimum. Its
 * parameter is `which`, unless that is NULL. */
static double steepest(const search *s, int *which)
{
    const fit *q = s->q;
    double norm = sqrt(vector_dot(q->rows, q->weighted_r, q->weighted_r)), most = 0.0;
    for (int k = 0; k < q->count; k++) {
        double length = sqrt(vector_dot(q->rows, column(q, k), column(q, k)));
        if (!s->free[k] || !(length * norm > 0.0)) continue;
        double slope = fabs(vector_dot(q->rows, column(q, k), q->weighted_r)) / (length * norm);
        if (slope > most && which) *which = k;
        most = fmax(most, slope);
    }
    return most;
}

static double slope_of(const search *s)
{
    return steepest(s, NULL);
}

/* b = -(r + J step) over the steps that are fixed. */
static void put_residuals(search *s)
{
    const fit *q = s->q;
    for (int i = 0; i < q->rows; i++) s->b[i] = -q->weighted_r[i];
    for (int k = 0; k < q->count; k++)
        if (!s->loose[k]) vector_axpy(q->rows, -s->step[k], column(q, k), s->b);
}

/* Column d of the damped problem: the steps v/unit of the parameters that are taken. */
static void put_column(search *s, const fit_split *p, const double *v, double *a)
{
    const fit *q = s->q;
    for (int c = 0; c < p->count; c++) {
        const int k = p->at[c];
        if (v[c] == 0.0) continue;
        vector_axpy(q->rows, v[c] / p->unit[c], column(q, k), a);
        a[q->rows + c] = sqrt(s->damping) * s->scale[k] * v[c] / p->unit[c];
    }
}

/* The damped problem over directions of the parameters that are loose: all of them, one by one,
 * or, where some are not seen, those that are. Steps have no part in the others: of all that do
 * as well they are the shortest in these units. */
static bool solve_directions(search *s, const fit_split *p)
{
    const int n = p->count, rank = p->of.rank, rows = s->q->rows + n;
    double *v = DAE_ARRAY(double, (size_t)n *(size_t)n);
    if (!v) return false;
    for (int d = 0; d < rank; d++) {
        if (rank == n)
            v[d * n + d] = p->unit[d] / s->scale[p->at[d]];
        else
            vector_copy(n, p->of.V + d * n, v + d * n);
        put_column(s, p, v + d * n, s->A + (size_t)d * (size_t)rows);
    }
    bool ok = least_squares_solve(&s->ls, rows, rank, s->A, s->b, 1e-15);
    for (int c = 0; ok && c < n; c++) {
        double sum = 0.0;
        for (int d = 0; d < rank; d++) sum += v[d * n + c] * s->b[d];
        s->step[p->at[c]] = sum / p->unit[c];
    }
    dae_free(v);
    return ok;
}

/* One solution of the damped problem over parameters that are loose, the steps of the others as
 * they are. */
static bool solve_damped(search *s)
{
    fit_split p;
    if (!fit_split_new(&p, s->q, s->loose)) return false;
    const size_t rows = (size_t)s->q->rows + (size_t)p.count;
    memset(s->A, 0, rows * (size_t)p.count * sizeof *s->A);
    memset(s->b, 0, rows * sizeof *s->b);
    for (int c = 0; c < p.count; c++) s->step[p.at[c]] = 0.0;
    put_residuals(s);
    bool ok = p.of.rank == 0 || solve_directions(s, &p);
    fit_split_free(&p);
    return ok;
}

/* step = argmin |J step + r|^2 + damping |scale step|^2 over what is free. Parameters that would
 * leave their bounds go up to these, and the others make the best of it. */
static bool find_step(search *s)
{
    const fit *q = s->q;
    for (int k = 0; k < q->count; k++) {
        s->loose[k] = s->free[k];
        s->step[k] = 0.0;
    }
    for (bool again = true; again;) {
        if (!solve_damped(s)) return false;
        again = false;
        for (int k = 0; k < q->count; k++) {
            double to = fmin(q->upper[k], fmax(q->lower[k], q->x[k] + s->step[k]));
            bool leaves = s->loose[k] && to != q->x[k] + s->step[k];
            s->trial[k] = to;
            if (!leaves) continue;
            s->step[k] = to - q->x[k];
            s->loose[k] = false;
            again = true;
        }
    }
    return true;
}

/* By how much the linear model lets the cost go down along the step. */
static double predict(const search *s)
{
    const fit *q = s->q;
    double now = 0.0, then = 0.0;
    for (int i = 0; i < q->rows; i++) {
        double r = q->weighted_r[i], move = r;
        for (int k = 0; k < q->count; k++)
            move += q->weighted_J[(size_t)k * (size_t)q->rows + (size_t)i] * s->step[k];
        now += 0.5 * r * r;
        then += 0.5 * move * move;
    }
    return now - then;
}

/* How far the step goes, relative to the parameters. */
static double length_of(const search *s)
{
    double most = 0.0;
    for (int k = 0; k < s->q->count; k++) {
        double size = fmax(fabs(s->q->x[k]), DBL_MIN);
        if (s->step[k] != 0.0) most = fmax(most, fabs(s->step[k]) / size);
    }
    return most;
}

/* ---- the search ---- */

/* Cosines of a minimum that noise of the runs hides, and of one that it does not. */
static const double NEARLY_FLAT = 1e-4, FLAT = 1e-7;
/* Among residuals that may be noise, a step that leaves this part of the cost was the last one. */
static const double NO_HELP = 0.25;

typedef enum outcome { BETTER, NEAR, NO_STEP, STOPPED, NO_MEMORY } outcome;

/* The step is taken. */
static void accept(search *s, double cost, double gain)
{
    fit *q = s->q;
    s->damping *= fmax(1.0 / 3.0, 1.0 - pow(2.0 * gain - 1.0, 3.0));
    s->growth = 2.0;
    vector_copy(q->count, s->trial, q->x);
    q->cost = cost;
    q->sloped = false;
}

/* Steps with more and more damping [Nie99] until one makes the cost smaller. A run that fails there
 * counts as one that does not. */
static outcome improve(search *s, double tolerance)
{
    enum { MOST_TRIES = 40 };
    fit *q = s->q;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        if (!find_step(s)) return NO_MEMORY;
        const double predicted = predict(s), length = length_of(s);
        if (!(length > 0.0)) return NEAR;
        dae_diag why = {0};
        dae_status status = fit_evaluate(q, s->trial, q->trial_r, NULL, &why);
        if (status == DAE_ERR_MEMORY) return NO_MEMORY;
        if (status == DAE_ERR_INTERRUPTED) return STOPPED;
        const double cost = status == DAE_OK ? fit_cost(q, q->trial_r) : INFINITY;
        const double gain = (q->cost - cost) / predicted;
        if (cost < q->cost && gain > 0.0) {
            bool small = q->cost - cost <= tolerance * q->cost && length <= sqrt(tolerance);
            accept(s, cost, gain);
            return small ? NEAR : BETTER;
        }
        if (length <= tolerance || predicted <= DBL_EPSILON * q->cost)
            return slope_of(s) <= NEARLY_FLAT ? NEAR : NO_STEP;
        s->damping *= s->growth;
        s->growth *= 2.0;
    }
    return NO_STEP;
}

static void explain_stuck(const search *s, dae_fit_result *result)
{
    int k = 0;
    double slope = steepest(s, &k);
    snprintf(
        result->text, sizeof result->text,
        "No step makes the cost smaller, though its slope is not 0 (by %.60s: %.2g of the "
        "steepest): the runs are not accurate enough to tell, fail beside this point, or the cost "
        "has a kink there. Take tighter tolerances, or begin elsewhere.",
        s->q->request.parameters[k].name, slope);
}

/* Whether the residuals may be what the runs leave open themselves: then a step that does not help
 * is no failure. Up to there steps go on, as that is far more than runs leave open as a rule. */
static bool is_exact(const fit *q)
{
    static const double NOISE = 100.0;
    const double rtol = q->request.options ? q->request.options->rtol : 1e-6;
    double size = 0.0;
    for (int d = 0; d < q->request.data_count; d++) size += fit_data_size(&q->request.data[d]);
    return 2.0 * q->cost <= NOISE * NOISE * rtol * rtol * size;
}

/* Derivatives at the new point. Where they fail, the search ends with the point. */
static dae_status differentiate(fit *q, dae_fit_result *result, dae_diag *diag)
{
    dae_status status = fit_evaluate(q, q->x, q->trial_r, q->J, diag);
    q->sloped = status == DAE_OK;
    if (status == DAE_OK) vector_copy(q->rows, q->trial_r, q->r);
    if (status == DAE_OK || status == DAE_ERR_MEMORY) return status;
    result->end = status == DAE_ERR_INTERRUPTED ? DAE_FIT_STOPPED : DAE_FIT_STUCK;
    if (result->end == DAE_FIT_STUCK)
        snprintf(result->text, sizeof result->text,
                 "There are no derivatives at this point, where the run with them failed: %.400s",
                 diag ? diag->text : dae_status_name(status));
    diag_clear(diag);
    return status;
}

/* How a step ended: whether the search goes on. */
static bool goes_on(search *s, outcome found, dae_fit_result *result, dae_status *status,
                    dae_diag *diag)
{
    fit *q = s->q;
    const dae_fit_request *r = &q->request;
    if (found == NO_STEP) {
        const bool exact = is_exact(q);
        result->end = exact ? DAE_FIT_CONVERGED : DAE_FIT_STUCK;
        if (!exact) explain_stuck(s, result);
    }
    if (found == STOPPED) result->end = DAE_FIT_STOPPED;
    if (found == NO_STEP || found == STOPPED) return false;
    result->iterations++;
    *status = differentiate(q, result, diag);
    if (*status != DAE_OK) return false;
    bool stop = r->progress && r->progress(result->iterations, q->cost, q->x, r->user) != 0;
    if (!stop && found != NEAR) return true;
    result->end = stop ? DAE_FIT_STOPPED : DAE_FIT_CONVERGED;
    return false;
}

/* Until it converges; the point is in q, with J there if q->sloped. */
static dae_status iterate(search *s, dae_fit_result *result, dae_diag *diag)
{
    fit *q = s->q;
    const double tolerance = q->request.tolerance > 0.0 ? q->request.tolerance : 1e-8;
    const int most = q->request.max_iterations > 0 ? q->request.max_iterations : 100;
    dae_status status = fit_evaluate(q, q->x, q->r, q->J, diag);
    if (status != DAE_OK) return status;
    q->cost = fit_cost(q, q->r);
    q->sloped = true;
    result->end = DAE_FIT_ITERATIONS;
    double before = INFINITY;
    for (int count = 0; count < most; count++) {
        weigh(q);
        hold_bounds(s);
        if (slope_of(s) <= FLAT || (is_exact(q) && q->cost > NO_HELP * before)) {
            result->end = DAE_FIT_CONVERGED;
            break;
        }
        before = q->cost;
        outcome found = improve(s, tolerance);
        if (found == NO_MEMORY) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
        if (!goes_on(s, found, result, &status, diag)) break;
    }
    if (status == DAE_ERR_MEMORY) return status;
    weigh(q);
    return DAE_OK;
}

/* ---- the call ---- */

void dae_fit_result_free(dae_fit_result *r)
{
    if (!r) return;
    dae_free_all(r->values, r->errors, r->correlation, r->at_bound, r->unidentified, r->starts, r);
}

static dae_fit_result *result_new(int count)
{
    const size_t n = (size_t)count;
    dae_fit_result *r = DAE_NEW(dae_fit_result);
    if (!r) return NULL;
    r->count = count;
    r->values = DAE_ARRAY(double, n);
    r->errors = DAE_ARRAY(double, n);
    r->correlation = DAE_ARRAY(double, n *n);
    r->at_bound = DAE_ARRAY(bool, n);
    r->unidentified = DAE_ARRAY(bool, n);
    r->starts = DAE_ARRAY(double, n);
    if (r->values && r->errors && r->correlation && r->at_bound && r->unidentified && r->starts)
        return r;
    dae_fit_result_free(r);
    return NULL;
}

static dae_status run_fit(fit *q, dae_fit_result **result, dae_diag *diag)
{
    search s;
    bool ok = search_new(&s, q);
    dae_fit_result *r = ok ? result_new(q->count) : NULL;
    if (r) vector_copy(q->count, q->x, r->starts);
    dae_status status =
        r ? iterate(&s, r, diag) : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    if (status == DAE_OK) status = fit_report(q, r, diag);
    search_free(&s);
    if (status == DAE_OK)
        *result = r;
    else
        dae_fit_result_free(r);
    return status;
}

dae_status dae_fit_sized(dae_problem *problem, const dae_fit_request *request, size_t size,
                         dae_fit_result **result, dae_diag *diag)
{
    dae_fit_request r = {0};
    fit q;
    int rows;
    diag_clear(diag);
    if (result) *result = NULL;
    if (!problem || !request || !result)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_fit: an argument is NULL.");
    dae_status status = sized_read(request, size, &r, sizeof r, "request for a fit", diag);
    if (status == DAE_OK) status = fit_check(problem, &r, &rows, diag);
    if (status != DAE_OK) return status;
    status = fit_new(&q, problem, &r, rows)
                 ? run_fit(&q, result, diag)
                 : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    fit_free(&q);
    return status;
}
