/* Runs that do not get anywhere: steps without end on a surface of discontinuity, to and fro within
 * the tolerances, or steps that time cannot tell from none. */
#ifndef DAE_CONTROL_STALL_H
#define DAE_CONTROL_STALL_H

#include "control/attempt.h"
#include "control/norm.h"

typedef enum stall_kind {
    STALL_NONE = 0,
    STALL_SLIDES,  /* the solution goes to and fro within its tolerances */
    STALL_STANDS,  /* steps of a few units in the last place of t */
    STALL_HOPELESS /* 10^9 more steps would not do */
} stall_kind;

/* Accepted steps in a row that are short against the way to go, those of them that stall, and those
 * in a row that are hopelessly short; t0: where the run began. {.t0 = t} at a start. */
typedef struct stall {
    double t0, since;
    int steps, stalls, hopeless;
    int variable;             /* that dominated the error of the first of them, and its value */
    double value, last, move; /* the last one, and how it moved */
    long rejected, turns;     /* attempts in all; in the window, with changes of direction */
    int paced;                /* steps since paced_from, WINDOW at most; */
    double paced_from;
    bool slow;     /* WINDOW steps have just come to an end, and 10^6 such would not do */
    bool unstable; /* nothing else tells where stability holds the steps: they count as well */
} stall;

/* An accepted step of a run to tend, chosen by error control, after so many rejected ones. */
void stall_note(stall *c, const attempt *a, const error_norm *norm, double tend, long rejected);

/* Whether, and why, the run is to end at t. */
stall_kind stall_found(const stall *c, double t);

/* Whether steps have been so many and so short that rounding errors are to be looked at. */
bool stall_suspects_rounding(const stall *c);

#endif
