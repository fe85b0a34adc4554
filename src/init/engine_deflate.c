/* A solution beside those that are known, by deflation: R(x) prod_k 1/|x - r_k| has the solutions
 * of R, but for the known ones r_k, where it does not vanish [BG71; FBF15].
 *
 * Newton's correction for it is made of that for R [FBF15], so that no source has to know of
 * it. Rows that are linear stay as they are, and hold after one step, as with Newton's method. Only
 * solutions in the box between the guess and the first known one are of interest: steps end at its
 * sides. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/engine.h"

enum { MOST_STEPS = 100, HALVINGS = 8 };
static const double CLOSE =
    1e-3; /* of the box: a correction after which Newton's iteration is near */
static const double LARGEST = 0.5; /* of the box: a step; farther matrices tell nothing */
static const double APART = 1e-3;  /* of the box: two solutions that are not one */
static const double LEAST = 1e-6;  /* of |1 - g dx|: its sign is rounding below */
static const double LINEAR = 1e-9; /* of a residual: what rounding leaves of a row that is linear */

typedef struct box {
    engine *e;
    const deflation *d;
    double *guess;  /* n: where it began */
    double *linear; /* m: R in the rows that are linear, else 0 */
} box;

static double unit(const engine *e, int j)
{
    return e->source->unit ? e->source->unit((engine *)e, j) : 1.0;
}

static double value(const engine *e, int j)
{
    return e->source->value ? e->source->value((engine *)e, j) * unit(e, j) : e->x[j];
}

static void move(const box *b, double part, const double *dx)
{
    engine *e = b->e;
    if (e->source->move)
        e->source->move(e, part, dx);
    else
        for (int j = 0; j < e->n; j++) e->trial[j] = e->x[j] + part * dx[j];
}

/* |x - r_k|, in ways, and its derivative along v */
static double distance(const box *b, int k, const double *v, double *along)
{
    const engine *e = b->e;
    double square = 0.0, product = 0.0;
    for (int j = 0; j < e->n; j++) {
        if (!b->d->bounded[j]) continue;
        const double off = (value(e, j) - b->d->known[k * e->n + j]) / b->d->way[j];
        square += off * off;
        product += off * v[j] * unit(e, j) / b->d->way[j];
    }
    *along = product / sqrt(square);
    return sqrt(square);
}

/* The derivative along v of log prod_k 1/|x - r_k| */
static double slope(const box *b, const double *v)
{
    double g = 0.0;
    for (int k = 0; k < b->d->count; k++) {
        double along;
        const double far = distance(b, k, v, &along);
        g -= along / far;
    }
    return g;
}

/* R half way along dx, or less of it where R has no value there; the part. */
static engine_outcome look_ahead(const box *b, double *part)
{
    engine_outcome outcome = ENGINE_UNDEFINED;
    *part = 1.0;
    for (int k = 0; k < HALVINGS && outcome == ENGINE_UNDEFINED; k++) {
        *part *= 0.5;
        move(b, *part, b->e->dx);
        outcome = b->e->source->evaluate(b->e);
    }
    return outcome;
}

/* Rows whose residual shrinks along dx as if they were linear: their correction is in e->next.
 * *all: there is no other row. */
static engine_outcome split(const box *b, bool *all)
{
    engine *e = b->e;
    double part, most = 0.0;
    engine_outcome outcome = look_ahead(b, &part);
    if (outcome != ENGINE_MET) return outcome;
    for (int i = 0; i < e->m; i++) most = fmax(most, fabs(e->r[i]));
    *all = true;
    for (int i = 0; i < e->m; i++) {
        const double off = fabs(e->trial_r[i] - (1.0 - part) * e->r[i]);
        b->linear[i] = off <= LINEAR * fabs(e->r[i]) ? e->r[i] : 0.0;
        *all = *all && off <= LINEAR * fmax(fabs(e->r[i]), DBL_EPSILON * most);
    }
    return e->source->correction(e, b->linear, e->next);
}

/* e->dx := the correction for R times the product: that of the linear rows, and that of the others
 * times 1 + s. */
static void deflate(const box *b)
{
    engine *e = b->e;
    for (int j = 0; j < e->n; j++) e->dx[j] -= e->next[j];
    const double g = slope(b, e->dx), left = 1.0 - g,
                 s = (slope(b, e->next) + g) / copysign(fmax(fabs(left), LEAST), left);
    for (int j = 0; j < e->n; j++) e->dx[j] = e->next[j] + (1.0 + s) * e->dx[j];
}

/* The largest part of dx over ways. */
static double largest(const box *b)
{
    const engine *e = b->e;
    double most = 0.0;
    for (int j = 0; j < e->n; j++)
        if (b->d->way[j] > 0.0) most = fmax(most, fabs(e->dx[j] * unit(e, j)) / b->d->way[j]);
    return most;
}

/* The part of dx that ends at a side of the box, or is short enough. */
static double part_inside(const box *b)
{
    const engine *e = b->e;
    double part = 1.0;
    for (int j = 0; j < e->n; j++) {
        const double way = b->d->way[j], step = e->dx[j] * unit(e, j);
        if (!b->d->bounded[j] || step == 0.0) continue;
        const double side = b->guess[j] + copysign(way, step) - value(e, j);
        part = fmin(part, fmin(LARGEST * way / fabs(step), fmax(side / step, 0.0)));
    }
    return part;
}

/* By part of dx, or less of it where R has no value. */
static engine_outcome step(const box *b, double part)
{
    engine *e = b->e;
    engine_outcome outcome = ENGINE_UNDEFINED;
    for (int k = 0; k < HALVINGS && outcome == ENGINE_UNDEFINED; k++, part *= 0.5) {
        move(b, part, e->dx);
        outcome = e->source->evaluate(e);
    }
    if (outcome != ENGINE_MET) return outcome;
    if (e->source->take)
        e->source->take(e);
    else
        vector_copy(e->n, e->trial, e->x);
    vector_copy(e->m, e->trial_r, e->r);
    return ENGINE_MET;
}

/* Whether x is none of the known solutions. */
static bool is_new(const box *b)
{
    for (int k = 0; k < b->d->count; k++) {
        double along;
        if (!(distance(b, k, b->e->dx, &along) > APART)) return false;
    }
    return true;
}

/* The correction for R times the product, in e->dx. */
static engine_outcome correct(const box *b)
{
    bool all;
    engine_outcome outcome = split(b, &all);
    if (outcome == ENGINE_MET && all) return ENGINE_STALLED; /* one solution is all there is */
    if (outcome == ENGINE_MET) deflate(b);
    return outcome;
}

/* From a known solution half the way back to the guess. */
static void turn_back(const box *b)
{
    engine *e = b->e;
    for (int j = 0; j < e->n; j++)
        e->dx[j] = b->d->bounded[j] ? 0.5 * (b->guess[j] - value(e, j)) / unit(e, j) : 0.0;
}

static engine_outcome search(const box *b)
{
    engine *e = b->e;
    for (int k = 0; k < MOST_STEPS; k++) {
        engine_outcome outcome = e->source->linearise(e);
        if (outcome == ENGINE_MET) outcome = e->source->correction(e, e->r, e->dx);
        if (outcome != ENGINE_MET) return outcome;
        const bool new = is_new(b);
        if (largest(b) <= CLOSE && new) return engine_solve(e);
        if (new)
            outcome = correct(b);
        else
            turn_back(b);
        if (outcome != ENGINE_MET) return outcome;
        const double part = part_inside(b);
        if (!(part > 0.0) || !isfinite(largest(b))) return ENGINE_STALLED;
        outcome = step(b, part);
        if (outcome != ENGINE_MET) return outcome;
    }
    return ENGINE_STALLED;
}

engine_outcome engine_deflated(engine *e, const deflation *d)
{
    box b = {e, d, DAE_ARRAY(double, (size_t)e->n + (size_t)e->m), NULL};
    if (!b.guess) return ENGINE_MEMORY;
    b.linear = b.guess + e->n;
    for (int j = 0; j < e->n; j++) b.guess[j] = value(e, j);
    engine_outcome outcome = search(&b);
    if (outcome == ENGINE_MET && !is_new(&b)) outcome = ENGINE_STALLED;
    dae_free(b.guess);
    return outcome;
}
