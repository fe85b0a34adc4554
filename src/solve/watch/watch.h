/* What looks at steps and values: whether numbers are as good as asked for. */
#ifndef DAE_SOLVE_WATCH_WATCH_H
#define DAE_SOLVE_WATCH_WATCH_H

#include "solve/bind/solver.h"
#include "solve/watch/monitor_steps.h"
#include "solve/watch/rank_watch.h"
#include "solve/watch/defect.h"
#include "solve/watch/refine.h"
#include "solve/watch/released_watch.h"

/* output.c: whether algebraic variables have to be corrected at t, since the interpolant of the
 * method is not good enough for them; and their correction in s->bound.at_y with the factors of the
 * step: EVAL_RETRY if these do not serve. The run goes on as if nothing had been looked at. */
bool output_is_rough(const dae_solver *s, double t);
/* Whether algebraic variables between the ends of a step come from their equations. */
bool output_is_solved(const dae_solver *s);
eval_status output_correct(dae_solver *s, double t);
/* Whether t lies within a step of a method whose interpolant is to be looked at. */
bool output_is_between(const dae_solver *s, double t);
/* Algebraic variables in at_y at t by their equations, from the values of the interpolant; which stay
 * where they were found good and the equations, which magnify what states are off by, are not near
 * them. An error if the equations have no value there. */
dae_status output_solve(dae_solver *s, double t);
/* at_y and at_yp onto all equations. */
dae_status output_project(dae_solver *s, double t);
/* at_y where variables jump without an event: as the equations say, if that is near the values at
 * the ends of the step. A voltage that a current determines only up to rounding is not: there the
 * method's own values are taken. */
dae_status output_beside_jump(dae_solver *s, double t);

/* jump.c: after a failed error test, exempt the algebraic variables that jump without an event from
 * it. JUMP_AGAIN: there are new ones, or tolerances were raised to what rounding permits, so that
 * the step is worth another try; JUMP_ROUNDING: they would have to be, and the diagnostic says so.
 */
typedef enum jump_result { JUMP_NONE, JUMP_AGAIN, JUMP_ROUNDING } jump_result;
jump_result jump_exempt(dae_solver *s, const attempt *a);
/* The same where the run would have to end because of algebraic variables alone. */
jump_result jump_last_resort(dae_solver *s, const attempt *a);
/* After an accepted step: how large the variables are. */
void jump_note(dae_solver *s);
/* The user hears of a variable that jumps at t, once; whether y is beyond what variable i was on
 * ordinary steps, as near a pole. For models. */
void jump_tell(dae_solver *s, int i, double t);
bool jump_outgrown(const dae_solver *s, int i, double y);

/* unwatched.c: after an accepted step, multipliers that are far off. */
void unwatched_note(dae_solver *s);
/* step_end.c: whether equations without y' hold where an attempt ends that passes its test so far;
 * else the error is what a correction onto them takes. */
attempt_status step_end_look(dae_solver *s, attempt *a);
/* Factors of G where an attempt ends, in s->bound.ends; false: there are none. */
bool step_end_factor(dae_solver *s, const attempt *a);

/* undetermined.c: whether the last steps failed where nothing but the rounding of F determines some
 * variables: from here on they keep their values, with a note, and the step is worth another try.
 * After an accepted step: what is determined again goes by F alone. */
bool undetermined_hold(dae_solver *s);
/* The same for values within the last step, where they stop at t. */
bool undetermined_within(dae_solver *s, double t, const double *y, const double *yp);
/* The same where an attempt would end that passes its test; where F has no value it fails. */
bool undetermined_ahead(dae_solver *s, attempt *a);
void undetermined_note(dae_solver *s);

/* threads.c: a note, once, where fewer threads are at work than were asked for */
void threads_note(dae_solver *s);

/* unresolved.c: how large variables are: at a start from y0 (NULL: a model's own values), and at a
 * point of what is integrated. */
void sizes_start(dae_solver *s, const double *y0);
void sizes_note(dae_solver *s, const double *y, const double *yp);

/* rounding.c: whether the tolerances are below what rounding in the equations permits where a run
 * to tend stands. If so they are raised to that from here on, with a note, or the diagnostic says
 * so. step: the length of the steps that it takes, or means to take; 0: those of the way to tend.
 */
typedef enum rounding_result { ROUNDING_FINE, ROUNDING_HELD, ROUNDING_TOO_MUCH } rounding_result;
rounding_result rounding_look(dae_solver *s, double tend, double step);
/* The same for one variable that the error test, or Newton's iteration, finds to be off by `error`,
 * as a jump would: whether that is rounding. */
rounding_result rounding_hides(dae_solver *s, double tend, double step, int i, double error);

/* doubtful_outputs.c: a row of output is looked at; what was found is reported, once. */
void output_doubt_row(dae_solver *s, double t, const double *y, const double *yp,
                      const double *values);
void output_doubt_tell(dae_solver *s);
void output_doubt_persist(dae_solver *s, persist *p);

#endif
