/* A tube around a curve, and whether another one lies in it.
 *
 * The tube is what a rectangle covers whose centre goes along the reference: at time t it reaches
 * from the lowest to the highest value that the reference takes within half_time, and half_value
 * beyond. Jumps are two points at one time. The library's own tools make their edges from the
 * corners of such rectangles; here the extremes are exact, by queues of candidates. */
#include "internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finite points of a curve, and how many of them have been passed. */
typedef struct path {
    double *t, *y;
    size_t count, passed;
} path;

/* Candidates for the extreme of a window: points whose values fall (or rise), oldest first. */
typedef struct queue {
    size_t *points;
    size_t first, end;
    double sign; /* 1: the highest, -1: the lowest */
} queue;

typedef struct tube {
    path reference, other;
    queue high, low;
    size_t entered;   /* points of the reference that have been within the window */
    path left, right; /* the reference again: where the window ends */
    report_deviation *result;
    report_series *picture;
} tube;

report_tube_options report_tube_default(void)
{
    return (report_tube_options){.time = 0.002, .value = 0.002, .nominal = 0.001, .floor = 1e-5};
}

/* ---- paths ---- */

/* Points of curve i; those of the reference are finite. */
static bool make_path(path *p, const report_curves *c, int i, bool finite)
{
    p->t = calloc(c->count + 1, sizeof *p->t);
    p->y = calloc(c->count + 1, sizeof *p->y);
    if (!p->t || !p->y) return false;
    for (size_t r = 0; r < c->count; r++) {
        double y = report_curves_value(c, i, r);
        if (finite && !isfinite(y)) continue;
        p->t[p->count] = c->times[r];
        p->y[p->count++] = y;
    }
    return true;
}

static double end_of(const path *p)
{
    return p->t[p->count - 1];
}

/* The value at t, which is not before the last point passed; constant beyond the ends. */
static double value_at(const path *p, double t)
{
    if (p->passed == 0) return p->y[0];
    size_t k = p->passed - 1;
    if (p->passed == p->count || t <= p->t[k]) return p->y[k];
    double part = (t - p->t[k]) / (p->t[k + 1] - p->t[k]);
    return (1.0 - part) * p->y[k] + part * p->y[k + 1];
}

/* The same at a time that only grows from call to call. */
static double value_along(path *p, double t)
{
    while (p->passed < p->count && p->t[p->passed] <= t) p->passed++;
    return value_at(p, t);
}

/* ---- the window ---- */

static void enter(queue *q, const double *y, size_t point)
{
    while (q->end > q->first && q->sign * y[q->points[q->end - 1]] <= q->sign * y[point]) q->end--;
    q->points[q->end++] = point;
}

static double extreme(queue *q, const path *p, double begin, double ends[2])
{
    double best = q->sign * fmax(q->sign * ends[0], q->sign * ends[1]);
    while (q->first < q->end && p->t[q->points[q->first]] < begin) q->first++;
    if (q->first < q->end)
        best = q->sign * fmax(q->sign * best, q->sign * p->y[q->points[q->first]]);
    return best;
}

/* The lowest and the highest value of the reference within half_time of t. */
static void window(tube *u, double t, double *low, double *high)
{
    const path *p = &u->reference;
    double begin = t - u->result->half_time, end = t + u->result->half_time;
    for (; u->entered < p->count && p->t[u->entered] <= end; u->entered++) {
        enter(&u->high, p->y, u->entered);
        enter(&u->low, p->y, u->entered);
    }
    double ends[2] = {value_along(&u->left, begin), value_along(&u->right, end)};
    *high = extreme(&u->high, p, begin, ends);
    *low = extreme(&u->low, p, begin, ends);
}

/* ---- the comparison ---- */

/* The half widths, by the ranges of the reference. */
static void measure(const path *p, const report_tube_options *options, report_deviation *result)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < p->count; k++) {
        low = fmin(low, p->y[k]);
        high = fmax(high, p->y[k]);
    }
    result->half_time = options->time * (end_of(p) - p->t[0]);
    double range = fmin(high - low, DBL_MAX); /* an infinite tube would let everything in */
    result->half_value = fmax(options->value * fmax(range, options->nominal),
                              options->floor * fmax(fabs(low), fabs(high)));
}

/* Values at one time, against the tube. */
static report_status judge(tube *u, double t, double reference, double value, report_error *error)
{
    report_deviation *d = u->result;
    double low, high;
    window(u, t, &low, &high);
    double away = isfinite(value) ? fmax(fmax(value - high, low - value), 0.0) : INFINITY;
    if (away > d->deviation || isnan(d->t)) {
        d->deviation = away;
        d->t = t;
        d->reference = reference;
        d->value = value;
    }
    if (!u->picture) return REPORT_OK;
    const double row[4] = {reference, value, low - d->half_value, high + d->half_value};
    return report_series_add(u->picture, t, row, error);
}

/* Whether the last point passed is behind a jump at the end of the reference. Tools set one event a
 * rounding error apart, and behind the end the reference cannot follow. */
static bool behind_last_jump(const path *p, double end)
{
    size_t k = p->passed;
    return k > 1 && p->t[k - 1] == end && p->t[k - 2] == end;
}

/* Go along both curves: at each point of either within the times of the reference, the values of
 * both. Points at one time are taken in pairs, so that sides of a jump meet. */
static report_status walk(tube *u, report_error *error)
{
    path *a = &u->reference, *b = &u->other;
    double begin = a->t[0], end = end_of(a);
    report_status status = REPORT_OK;
    while (b->passed < b->count && b->t[b->passed] < begin) b->passed++;
    while (status == REPORT_OK && (a->passed < a->count || b->passed < b->count)) {
        double next_a = a->passed < a->count ? a->t[a->passed] : INFINITY;
        double next_b = b->passed < b->count ? b->t[b->passed] : INFINITY;
        double t = fmin(next_a, next_b);
        if (t > end) break;
        if (next_a == t) a->passed++;
        if (next_b == t) b->passed++;
        /* a curve that ends within half_time of the reference is not drawn out */
        if (t >= b->t[0] && t <= end_of(b) && !behind_last_jump(b, end))
            status = judge(u, t, value_at(a, t), value_at(b, t), error);
    }
    return status;
}

/* Whether the other curve is there wherever the reference is. */
static bool covers(tube *u)
{
    const path *a = &u->reference, *b = &u->other;
    report_deviation *d = u->result;
    if (a->count == 0)
        snprintf(d->reason, sizeof d->reason, "the reference has no finite value");
    else if (b->count == 0)
        snprintf(d->reason, sizeof d->reason, "it has no value");
    else if (b->t[0] > a->t[0] + d->half_time)
        snprintf(d->reason, sizeof d->reason, "it begins at t = %.6g, the reference at %.6g",
                 b->t[0], a->t[0]);
    else if (end_of(b) < end_of(a) - d->half_time)
        snprintf(d->reason, sizeof d->reason, "it ends at t = %.6g, the reference at %.6g",
                 end_of(b), end_of(a));
    return d->reason[0] == '\0';
}

static bool make_tube(tube *u, const report_curves *a, int i, const report_curves *b, int j)
{
    if (!make_path(&u->reference, a, i, true) || !make_path(&u->other, b, j, false)) return false;
    u->left = u->right = u->reference;
    u->high.sign = 1.0;
    u->low.sign = -1.0;
    u->high.points = calloc(u->reference.count + 1, sizeof *u->high.points);
    u->low.points = calloc(u->reference.count + 1, sizeof *u->low.points);
    return u->high.points && u->low.points;
}

static void free_tube(tube *u)
{
    free(u->reference.t);
    free(u->reference.y);
    free(u->other.t);
    free(u->other.y);
    free(u->high.points);
    free(u->low.points);
}

report_status report_tube(const report_curves *a, int i, const report_curves *b, int j,
                          const report_tube_options *options, report_deviation *result,
                          report_series *picture, report_error *error)
{
    tube u = {.result = result, .picture = picture};
    report_status status = REPORT_OK;
    *result = (report_deviation){.t = NAN, .reference = NAN, .value = NAN};
    if (!make_tube(&u, a, i, b, j))
        status = report_fail(error, REPORT_ERR_MEMORY, "Out of memory for the tube of '%s'.",
                             a->curves[i].name);
    if (status == REPORT_OK && u.reference.count > 0) measure(&u.reference, options, result);
    bool whole = status == REPORT_OK && covers(&u);
    if (status == REPORT_OK && u.reference.count > 0 && u.other.count > 0) status = walk(&u, error);
    result->agrees = whole && result->deviation <= result->half_value;
    free_tube(&u);
    return status;
}
