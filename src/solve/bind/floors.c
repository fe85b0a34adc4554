/* Tolerances that rounding in the equations has raised, over all forms of a run: another mode has
 * other unknowns, but the same variables, and what rounding did to them it does there again. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/bind/solver.h"

/* Where base unknown k, or behind them the derivative of one, is an unknown of the present form;
 * -1: nowhere. */
static int unknown_of(const dae_solver *s, int k)
{
    const int n = s->base->form.n;
    const model_place at = place_of(s, k % n, k >= n);
    return at.slope ? -1 : at.unknown;
}

/* Callbacks have one form, which keeps its own. */
bool floors_keep(dae_solver *s)
{
    const error_norm *norm = &s->bound.norm;
    if (!s->modes) return true;
    if (!s->run.floors) s->run.floors = DAE_ARRAY(double, 2 * (size_t)s->base->form.n);
    if (!s->run.floors) return false;
    for (int k = 0; norm->floor && k < 2 * s->base->form.n; k++) {
        const int i = unknown_of(s, k);
        if (i >= 0) s->run.floors[k] = fmax(s->run.floors[k], norm->floor[i]);
    }
    return true;
}

bool floors_take(dae_solver *s)
{
    for (int k = 0; s->run.floors && k < 2 * s->base->form.n; k++) {
        if (!(s->run.floors[k] > 0.0)) continue;
        const int i = unknown_of(s, k);
        if (i >= 0 && !norm_raise_floor(&s->bound.norm, i, s->run.floors[k])) return false;
    }
    return true;
}

void floors_drop(dae_solver *s)
{
    norm_drop_floors(&s->bound.norm);
    if (s->run.floors) vector_zero(2 * s->base->form.n, s->run.floors);
    s->run.floor_told = 0.0;
}
