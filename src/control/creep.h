/* Runs that do not get anywhere: steps without end on a surface of discontinuity, to and fro within
 * the tolerances, or steps that time cannot tell from none. */
#ifndef DAE_CONTROL_CREEP_H
#define DAE_CONTROL_CREEP_H

#include "control/attempt.h"

typedef enum creep_kind {
    CREEP_NONE = 0,
    CREEP_SLIDES,  /* the solution goes to and fro within its tolerances */
    CREEP_STANDS,  /* steps of a few units in the last place of t */
    CREEP_HOPELESS /* 10^9 more steps would not do */
} creep_kind;

/* Accepted steps in a row that are short against the way to go, those of them that stall, and those
 * in a row that are hopelessly short; t0: where the run began. {.t0 = t} at a start. */
typedef struct creep {
    double t0, since;
    int steps, stalls, hopeless;
    int variable;             /* that dominated the error of the first of them, and its value */
    double value, last, move; /* the last one, and how it moved */
    long rejected, turns;     /* attempts in all; in the window, with changes of direction */
    int paced;                /* steps since paced_from, WINDOW at most; */
    double paced_from;
    bool slow;     /* WINDOW steps have just come to an end, and 10^6 such would not do */
    bool unstable; /* nothing else tells where stability holds the steps: they count as well */
} creep;

/* An accepted step of a run to tend, chosen by error control, after so many rejected ones. */
void creep_note(creep *c, const attempt *a, const error_norm *norm, double tend, long rejected);

/* Whether, and why, the run is to end at t. */
creep_kind creep_found(const creep *c, double t);

/* Whether steps have been so many and so short that rounding errors are to be looked at. */
bool creep_suspects_rounding(const creep *c);

#endif
