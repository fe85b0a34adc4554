/* The indices of a system from its derivative array, level by level. */
#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/derivative_array.h"

/* One analysis. */
typedef struct analysis {
    derivative_array *d;
    double t, tolerance;
    series_scaling scaling;
} analysis;

/* Neighbours looked at, and how far away they are, in nominal values. */
enum { NEIGHBOURS = 3 };
static const double NEARBY = 0.05;

/* Deterministic numbers in (-1, 1), away from 0. */
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const double x = (double)(*state >> 11) / 4503599627370496.0 - 1.0;
    return x < 0.0 ? x - 0.1 : x + 0.1;
}

/* near = x moved at random by about NEARBY */
static void disturb(const derivative_array *d, uint64_t seed, const double *x, double *near)
{
    const int n = d->n;
    for (int i = 0; i < n * (d->limit + 2); i++)
        near[i] = x[i] + NEARBY * d->nominal[i % n] * noise(&seed);
}

/* size = max(size, |value|) */
static void enlarge(int count, const double *value, double *size)
{
    for (int i = 0; i < count; i++) size[i] = fmax(size[i], fabs(value[i]));
}

array_status derivative_array_scaling(derivative_array *d, double t, const double *x,
                                      series_scaling *scaling)
{
    const int count = d->n * d->n;
    double *a = DAE_ARRAY(double, count), *b = DAE_ARRAY(double, count);
    double *near = DAE_ARRAY(double, d->n *(d->limit + 2));
    array_status status = a && b && near ? ARRAY_OK : ARRAY_MEMORY;
    *scaling = (series_scaling){0};
    if (status == ARRAY_OK) status = derivative_array_evaluate(d, 0, t, x);
    for (int s = 0; status == ARRAY_OK && s <= NEIGHBOURS; s++) {
        enlarge(count, d->jac.a, a);
        enlarge(count, d->jac.b, b);
        disturb(d, (uint64_t)s + 1, x, near);
        if (derivative_array_evaluate(d, 0, t, near) != ARRAY_OK) break;
    }
    if (status == ARRAY_OK && !series_scaling_new(scaling, d->n, a, b)) status = ARRAY_MEMORY;
    dae_free_all(a, b, near);
    return status;
}

array_status derivative_array_level(derivative_array *d, int k, double t, const double *x,
                                    const series_scaling *scaling, double tolerance,
                                    array_level *level)
{
    const int count = d->n * d->n * (k + 1);
    jacobian_series s;
    *level = (array_level){0};
    if (derivative_array_evaluate(d, k, t, x) != ARRAY_OK) return ARRAY_EVALUATION;
    if (!jacobian_series_new(&s, d->n, k + 1)) return ARRAY_MEMORY;
    vector_copy(count, d->jac.a, s.a);
    vector_copy(count, d->jac.b, s.b);
    jacobian_series_scale(&s, scaling);
    const bool finite =
        vector_finite(count, s.a) && vector_finite(count, s.b); /* powers of units */
    const bool done = finite && array_level_new(level, &s, k, tolerance);
    jacobian_series_free(&s);
    return done ? ARRAY_OK : finite ? ARRAY_MEMORY : ARRAY_EVALUATION;
}

/* Whether level k looks at neighbouring points, solutions or not, as it does at x; those that
 * cannot be evaluated or reached do not count. */
static array_status steady(const analysis *q, const double *x, const array_level *level,
                           bool solutions, bool *same)
{
    derivative_array *d = q->d;
    array_status status = ARRAY_OK;
    double *near = DAE_ARRAY(double, d->n *(d->limit + 2));
    *same = true;
    for (int s = 0; near && *same && s < NEIGHBOURS && status != ARRAY_MEMORY; s++) {
        array_level there;
        disturb(d, (uint64_t)s + 1, x, near);
        if (solutions && derivative_array_consistent(d, level->k, q->t, near) != ARRAY_OK) continue;
        status = derivative_array_level(d, level->k, q->t, near, &q->scaling, q->tolerance, &there);
        if (status != ARRAY_OK) continue;
        *same = there.rank == level->rank && there.full == level->full;
        array_level_free(&there);
    }
    dae_free(near);
    return near && status != ARRAY_MEMORY ? ARRAY_OK : ARRAY_MEMORY;
}

/* What level k adds to the report. */
static array_status note_level(const analysis *q, const double *x, const array_level *level,
                               array_report *r)
{
    const bool reduces = level->reduces && r->strangeness < 0, full = level->full && r->index < 0;
    array_status status = ARRAY_OK;
    rank_gap_join(&r->gap, &level->gap);
    r->dependent = level->a_rank < level->a && r->strangeness < 0;
    if (reduces || full) status = steady(q, x, level, true, &r->constant);
    if (status != ARRAY_OK || !r->constant) return status;
    if (full) r->index = level->k;
    if (reduces) {
        r->strangeness = level->k;
        r->a = level->a;
        r->d = q->d->n - level->a;
    }
    return ARRAY_OK;
}

/* Level by level until both indices are known, x being made consistent on the way. The first level
 * that reduces F settles the index, too [KM06 3.4]: 1-fullness, a level higher and less well
 * conditioned, is asked for but may be beyond what rounding lets one see. */
static array_status climb(const analysis *q, double *x, array_report *r)
{
    derivative_array *d = q->d;
    *r = (array_report){.index = -1, .uniform_index = -1, .strangeness = -1, .gap = RANK_GAP_NEW};
    for (int k = 0; k <= d->limit && r->index < 0; k++) {
        array_level level;
        if (r->strangeness >= 0 && k > r->strangeness + 1) break;
        array_status status = derivative_array_consistent(d, k, q->t, x);
        if (status != ARRAY_OK && r->strangeness >= 0) break;
        if (status == ARRAY_OK)
            status = derivative_array_level(d, k, q->t, x, &q->scaling, q->tolerance, &level);
        if (status != ARRAY_OK) return status;
        status = note_level(q, x, &level, r);
        array_level_free(&level);
        if (status != ARRAY_OK || r->dependent) return status;
    }
    if (r->index < 0 && r->strangeness >= 0) r->index = r->a == 0 ? 0 : r->strangeness + 1;
    return ARRAY_OK;
}

/* The smallest k for which all points around are 1-full with one rank. */
static array_status climb_around(const analysis *q, const double *x, array_report *r)
{
    derivative_array *d = q->d;
    double *near = DAE_ARRAY(double, d->n *(d->limit + 2));
    array_status status = near ? ARRAY_OK : ARRAY_MEMORY;
    if (near) disturb(d, 17, x, near);
    for (int k = 0; status == ARRAY_OK && k <= d->limit && r->uniform_index < 0; k++) {
        array_level level;
        bool same = false;
        status = derivative_array_level(d, k, q->t, near, &q->scaling, q->tolerance, &level);
        if (status == ARRAY_OK && level.full) status = steady(q, near, &level, false, &same);
        if (status == ARRAY_OK && level.full && same) {
            r->uniform_index = k;
            r->uniform_a = level.a_rank;
        }
        array_level_free(&level);
    }
    /* the solutions are in every neighbourhood, too */
    if (r->uniform_index >= 0 && r->uniform_index < r->index) r->uniform_index = r->index;
    dae_free(near);
    return status == ARRAY_EVALUATION ? ARRAY_OK : status; /* outside the domain: unknown */
}

/* Solutions first, then what is around them. */
static array_status run(const analysis *q, double *x, array_report *report)
{
    derivative_array *d = q->d;
    array_status status = climb(q, x, report);
    if (status != ARRAY_OK || report->dependent) return status;
    /* Now x satisfies the hidden constraints as well, which low levels did not know at first. */
    if (report->index >= 0 && report->index <= d->limit) {
        status = derivative_array_consistent(d, report->index, q->t, x);
        if (status == ARRAY_OK) status = climb(q, x, report);
    }
    if (status != ARRAY_OK || report->dependent) return status;
    return climb_around(q, x, report);
}

array_status derivative_array_analyse(derivative_array *d, double t, double *x, double tolerance,
                                      array_report *report)
{
    analysis q = {.d = d, .t = t, .tolerance = tolerance};
    *report = (array_report){.index = -1, .uniform_index = -1, .strangeness = -1};
    array_status status = derivative_array_scaling(d, t, x, &q.scaling);
    if (status != ARRAY_OK) return status;
    status = run(&q, x, report);
    series_scaling_free(&q.scaling);
    return status;
}
