#include "control/stiffness.h"

/* DOPRI5 and DOP853 look every 1000 steps, and stop after 15 stiff ones without six in a row that
 * are not [HW96 IV.2]. Here a look comes more often, since it is cheap: at every step where another
 * method may go on, which is then the case after FEW_STIFF_STEPS. A run with a method by name would
 * end, and what is stiff for a short while only is solved before that: Akzo Nobel, say. From the
 * boundary itself a method stays away by what its error control leaves: DOP853 takes 6.1 of 6.39,
 * and 5.8 where its estimate counts ten times. */
enum { LOOK_EVERY = 50, CALM_STEPS = 6, FEW_STIFF_STEPS = 12, MOST_STIFF_STEPS = 1000 };
static const double NEAR = 0.85;

bool stiffness_due(const stiffness *s, long step, bool open)
{
    return open || s->stiff > 0 || step % LOOK_EVERY == 0;
}

void stiffness_note(stiffness *s, double stability)
{
    if (stability == 0.0) return;
    if (stability > NEAR) {
        s->calm = 0;
        s->stiff++;
    } else if (s->stiff > 0 && ++s->calm == CALM_STEPS)
        *s = (stiffness){0};
}

bool stiffness_seen(const stiffness *s)
{
    return s->stiff >= FEW_STIFF_STEPS;
}

bool stiffness_found(const stiffness *s)
{
    return s->stiff >= MOST_STIFF_STEPS;
}
