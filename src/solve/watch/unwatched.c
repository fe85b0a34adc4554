/* Multipliers that no error test watches: a note where they are far less accurate than the states.
 *
 * Variables of index 2 and 3 are tested with h and h^2 before them [HLR89 7], since their errors do
 * not enter the solution, and fall by one and two orders less with the step. Somebody looks at them
 * nevertheless: constraint forces, say. */
#include <math.h>
#include <stdio.h>

#include "solve/watch/watch.h"

/* In tolerances: what is told at once, unless steps grow, as first ones do, whose estimates are
 * those of y'; and what is told if it lasts for so many steps. Errors are up to DIM times the
 * estimate of Lobatto IIIC, which hardly sees multipliers: of order 4 and 6 on the pendulum and the
 * car axis at index 2, rtol = 1e-4 .. 1e-8, 1 to 35 times. */
static const double FAR_OFF = 100.0, LASTING = 10.0, GROWS = 1.2, DIM = 30.0;
enum { SETTLED = 4, STEADY = 8 };

static bool is_unwatched(const dae_solver *s, int j)
{
    bool seen = !s->bound.norm.hidden || !s->bound.norm.hidden[j];
    return s->bound.kinds[j] >= DAE_KIND_INDEX2 && seen && s->bound.norm.exempt[j] == 0;
}

/* Below what its absolute tolerance is meant for, and not far from its estimate: zero. */
static bool vanishes(const dae_solver *s, int j)
{
    double y = fabs(s->run.last.y[j]);
    return s->bound.options.rtol * y < s->bound.options.atol &&
           y <= 10.0 * fabs(s->run.last.estimate[j]);
}

/* The estimate of multiplier j, if that says something, or its defect inside of the step, which no
 * method sees dimly. */
static double error_of(const dae_solver *s, int j)
{
    const method *m = s->bound.method;
    const double inside = s->bound.defect.size > 0.0 ? fabs(s->bound.end_off[j]) : 0.0;
    return fmax(m->sharp_multipliers ? 0.0 : fabs(s->run.last.estimate[j]),
                m->dim_multipliers ? inside / DIM : inside);
}

/* The multiplier with the largest error in tolerances, without h or h^2 before it; -1: none */
static int largest_estimate(const dae_solver *s, double *size)
{
    int worst = -1;
    *size = 0.0;
    for (int j = 0; j < s->bound.n; j++) {
        double off = is_unwatched(s, j) ? error_of(s, j) * s->bound.norm.scale[j] : 0.0;
        if (vanishes(s, j)) continue; /* a multiplier of stabilisation, say */
        if (!(off > *size)) continue;
        *size = off;
        worst = j;
    }
    return worst;
}

void unwatched_note(dae_solver *s)
{
    double size;
    if (s->run.unwatched_reported || !s->run.last.estimate || s->stats.steps < SETTLED ||
        !s->bound.options.message)
        return;
    int worst = largest_estimate(s, &size);
    bool grows = fabs(s->run.last.h) > GROWS * fabs(s->stats.last_h);
    s->run.unwatched_steps = !grows && size > LASTING ? s->run.unwatched_steps + 1 : 0;
    double far_off = s->bound.method->dim_multipliers ? FAR_OFF / DIM : FAR_OFF;
    bool told = (!grows && size > far_off) || s->run.unwatched_steps >= STEADY;
    if (worst < 0 || !told) return;
    char text[500];
    bool third = s->bound.kinds[worst] == DAE_KIND_INDEX3;
    s->run.unwatched_reported = true;
    snprintf(text, sizeof text,
             "note: %.100s is of index %d: the error test weighs it with %s, and at t = %.9g its "
             "error is not bounded: the estimate is %.1g tolerances. If it matters, choose a "
             "formulation of lower index (%s; a model, or callbacks in mechanical form), or a "
             "tighter tolerance.",
             problem_variable(s->bound.problem, worst), third ? 3 : 2, third ? "h^2" : "h",
             s->run.t_new, size, third ? "ggl, index2, index1" : "index1");
    solver_note(s, text);
}
