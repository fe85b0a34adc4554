/* Jumps of equations and integrands that are no events, watched along a run. */
#ifndef DAE_SOLVE_SENSITIVITY_ROUGH_H
#define DAE_SOLVE_SENSITIVITY_ROUGH_H

#include "model/model_tangent.h"

typedef struct rough_watch rough_watch;

/* How the watch gets at points of the run, and room for its outputs (rough_watch_work numbers). */
typedef struct rough_point {
    tape_inputs (*at)(void *user, double t);
    void *user;
    double *work;
    double rtol; /* of the run */
} rough_point;

/* Of `count` expressions of a form. `in`: what moves with the parameters. NULL: memory. */
rough_watch *rough_watch_new(const model_form *f, const expr *watched, size_t count,
                             const tangent_inputs *in);
void rough_watch_free(rough_watch *w); /* NULL is fine */
/* Whether the equations have loops whose number of passes may depend on variables: what these
 * compute may jump, and nothing would show it. */
bool rough_watch_loops(const rough_watch *w);
const model_form *rough_watch_form(const rough_watch *w);
size_t rough_watch_work(const rough_watch *w);
/* An event was passed, or other values begin: nothing is known of before. */
void rough_watch_begin(rough_watch *w);
/* Whether the equations jump between two times of the last step, and when. */
bool rough_watch_step(rough_watch *w, const rough_point *p, double from, double to, double *when);

#endif
