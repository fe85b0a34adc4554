/* Tolerances that rounding in the equations has raised, over all forms of a run: another mode has
 * other unknowns, but the same variables, and what rounding did to them it does there again. */
#include <math.h>

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

void floors_keep(dae_solver *s)
{
    const error_norm *norm = &s->bound.norm;
    for (int k = 0; norm->floor && k < 2 * s->base->form.n; k++) {
        const int i = unknown_of(s, k);
        if (i >= 0) s->run.floors[k] = fmax(s->run.floors[k], norm->floor[i]);
    }
}

bool floors_take(dae_solver *s)
{
    for (int k = 0; k < 2 * s->base->form.n; k++) {
        if (!(s->run.floors[k] > 0.0)) continue;
        const int i = unknown_of(s, k);
        if (i >= 0 && !norm_raise_floor(&s->bound.norm, i, s->run.floors[k])) return false;
    }
    return true;
}

void floors_drop(dae_solver *s)
{
    norm_drop_floors(&s->bound.norm);
    vector_zero(2 * s->base->form.n, s->run.floors);
    s->run.floor_told = 0.0;
}
