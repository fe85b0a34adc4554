/* A solution along a curve: R(x) = (1 - s) R(x_0) from s = 0 to 1.
 *
 * The curve does not depend on how equations are scaled or mixed, as little as Newton's method does
 * [Deu11 5.1]; but Newton's full steps may pass a pole and converge far beyond it. Steps in s are
 * so short that the matrix of their beginning fits everywhere between their ends. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/engine.h"

static const double LONGEST = 0.125, SHORTEST = 1e-6; /* steps in s */
static const double LINEAR =
    1e-3; /* of a longer step: the same where equations are as good as linear */
static const double BEND = 0.25;  /* of a step: what the curve may be off its tangent */
static const double CLOSE = 1e-3; /* of a step: corrections that need not be corrected */
static const double SMALL = 1e-3; /* of a value: shorter steps of it count as this long */
static const double NOTHING =
    1e-9; /* likewise of its size; where that is the tolerance: all of it */
static const double SHORTER = 0.5; /* corrections, each by this much at least */
enum { MOST_STEPS = 200, HALVINGS = 24, CORRECTIONS = 6, MOST_CROSSINGS = 8 };

typedef struct curve {
    engine *e;
    double s, ds;
    double *start, *off; /* m each: R at the start, as x tells it; how far a point is off */
    double *tangent;     /* n: dx/ds */
    double *way;         /* n: of the step at hand */
} curve;

static void move(const curve *c, double part)
{
    engine *e = c->e;
    if (e->source->move)
        e->source->move(e, part, c->way);
    else
        for (int j = 0; j < e->n; j++) e->trial[j] = e->x[j] + part * c->way[j];
}

static double value(const curve *c, int j)
{
    engine *e = c->e;
    return e->source->value ? e->source->value(e, j) : e->x[j];
}

/* The largest correction in e->next, each as a part of its own step. A mean over unknowns would
 * hide one that bends among those that are linear, and units those that seem small. */
static double off_most(const curve *c)
{
    const engine *e = c->e;
    double most = 0.0;
    for (int j = 0; j < e->n; j++) {
        const double least = e->size ? NOTHING * e->size[j] : 1.0;
        const double step = fmax(fabs(c->way[j]), SMALL * fabs(value(c, j)));
        const double off = fabs(e->next[j]) / fmax(step, least);
        if (!(off <= most)) most = off;
    }
    return most;
}

/* The correction, in e->next, that brings x + part of the way to the curve; its size in the units
 * of off_most, NAN: there is none. */
static double off_curve(const curve *c, double part)
{
    engine *e = c->e;
    move(c, part);
    if (e->source->evaluate(e) != ENGINE_MET) return NAN;
    for (int i = 0; i < e->m; i++)
        c->off[i] = e->trial_r[i] - (1.0 - c->s - part * c->ds) * c->start[i];
    if (e->source->correction(e, c->off, e->next) != ENGINE_MET) return NAN;
    return off_most(c);
}

/* Where unknown j passes zero on the way; 0: it does not. */
static double crossing(const curve *c, int j)
{
    const double zero = -value(c, j) / c->way[j];
    return zero > 0.0 && zero < 1.0 ? zero : 0.0;
}

/* Whether the tangent fits on both sides of there: what saturates, as x/(k + x), bends there alone,
 * however small k is. */
static bool fits_beside(const curve *c, double zero, double limit)
{
    double aside = zero;
    for (int k = 0; k < HALVINGS; k++) {
        aside *= 0.5;
        if (!(off_curve(c, zero - aside) <= limit)) return false;
        if (zero + aside < 1.0 && !(off_curve(c, zero + aside) <= limit)) return false;
    }
    return true;
}

/* Whether the tangent fits all along the step. */
static bool tangent_fits(const curve *c, double limit)
{
    enum { PARTS = 4 };
    engine *e = c->e;
    int crossings = 0;
    if (e->source->room && e->source->room(e, 1.0, c->way) < 1.0) return false;
    for (int k = PARTS; k > 0; k--)
        if (!(off_curve(c, (double)k / PARTS) <= limit)) return false;
    for (int j = 0; j < e->n && crossings < MOST_CROSSINGS; j++) {
        const double zero = crossing(c, j);
        if (zero > 0.0 && !fits_beside(c, zero, limit)) return false;
        crossings += zero > 0.0;
    }
    return true;
}

/* To s + ds, with the matrix at x; false: x is where it was. */
static bool step_along(const curve *c)
{
    engine *e = c->e;
    for (int j = 0; j < e->n; j++) c->way[j] = c->ds * c->tangent[j];
    if (!tangent_fits(c, c->ds > LONGEST ? LINEAR : BEND)) return false;
    double last = off_curve(c, 1.0);
    for (int k = 0; last > CLOSE; k++) {
        vector_axpy(e->n, 1.0, e->next, c->way);
        const double now = k < CORRECTIONS ? off_curve(c, 1.0) : NAN;
        if (!(now <= SHORTER * last)) return false;
        last = now;
    }
    if (e->source->take)
        e->source->take(e);
    else
        vector_copy(e->n, e->trial, e->x);
    vector_copy(e->m, e->trial_r, e->r);
    return isfinite(last);
}

static engine_outcome follow(curve *c)
{
    engine *e = c->e;
    bool fresh = true;
    for (int k = 0; k < MOST_STEPS && c->s < 1.0 && c->ds >= SHORTEST; k++) {
        engine_outcome outcome = fresh ? e->source->linearise(e) : ENGINE_MET;
        if (fresh && outcome == ENGINE_MET)
            outcome = e->source->correction(e, c->start, c->tangent);
        if (outcome != ENGINE_MET) return outcome;
        const double left = 1.0 - c->s;
        c->ds = fmin(c->ds, left);
        fresh = step_along(c);
        if (fresh) c->s = c->ds < left ? c->s + c->ds : 1.0;
        for (int i = 0; fresh && c->s < 1.0 && i < e->m; i++) /* it goes on from just there */
            c->start[i] = e->r[i] / (1.0 - c->s);
        c->ds = fmin(fresh ? 2.0 * c->ds : 0.25 * c->ds, LONGEST);
    }
    return c->s < 1.0 ? ENGINE_STALLED : engine_solve(e);
}

engine_outcome engine_follow(engine *e)
{
    const size_t n = (size_t)e->n, m = (size_t)e->m;
    curve c = {.e = e, .ds = 1.0, .start = DAE_ARRAY(double, 2 * (n + m))};
    if (!c.start) return ENGINE_MEMORY;
    c.off = c.start + m;
    c.tangent = c.start + 2 * m;
    c.way = c.start + 2 * m + n;
    vector_copy(e->m, e->r, c.start);
    engine_outcome outcome = follow(&c);
    dae_free(c.start);
    return outcome;
}
