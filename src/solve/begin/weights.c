/* Error weights, with the checks that belong to them. */
#include <float.h>

#include "solve/begin/begin.h"
#include "solve/explain/explain.h"

/* The relative size of rounding errors. */
static double rounding_of(dae_precision precision)
{
    switch (precision) {
    case DAE_PRECISION_LONG: return (double)LDBL_EPSILON;
    case DAE_PRECISION_QUAD: return 1.925929944387236e-34; /* 2^-112 */
    default: return DBL_EPSILON;
    }
}

/* DASSL refuses tolerances whose weights are within 100 roundings of y. Explicit one-step methods
 * have neither iterations that round-off would stop nor differences of old values: as RADAU does,
 * they go on to 5, which is 10 times half a unit in the last place. */
static double roundings(const dae_solver *s)
{
    return (s->bound.method->on_manifold ? 5.0 : 100.0) * rounding_of(s->bound.options.precision);
}

dae_status solver_update_weights(dae_solver *s, double t, const double *y)
{
    s->bound.weights_sound = false;
    int bad = norm_update(&s->bound.norm, t, y);
    if (bad >= 0) return explain_weights(s, bad);
    if (s->bound.finest_rtol <= roundings(s)) { /* else ||y|| <= 1 / rtol: no need to look */
        double excess = roundings(s) * norm_of(&s->bound.norm, y, s->bound.norm.scale);
        if (excess > 1.0) return explain_accuracy(s, excess);
    }
    s->bound.weights_sound = true;
    return DAE_OK;
}
