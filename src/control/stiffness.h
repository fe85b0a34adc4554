/* Whether stability, and not accuracy, keeps the steps of an explicit method small [HW96 IV.2]. */
#ifndef DAE_CONTROL_STIFFNESS_H
#define DAE_CONTROL_STIFFNESS_H

#include <stdbool.h>

/* Accepted steps at the boundary of stability, and those in a row that were not; {0} at a start. */
typedef struct stiffness {
    int stiff, calm;
} stiffness;

/* Whether the method should look at the next step, the number of which is given; open: another one
 * may take its place. */
bool stiffness_due(const stiffness *s, long step, bool open);

/* An accepted step with h |lambda| over the boundary of stability; 0: nobody looked. */
void stiffness_note(stiffness *s, double stability);

/* So many stiff steps that another method is called for where the choice is open. */
bool stiffness_seen(const stiffness *s);
/* So many that a run with a method by name ends. */
bool stiffness_found(const stiffness *s);

#endif
