/* Events of models: relations, when, sample, reinit, assert and terminate. */
#ifndef DAE_SOLVE_HYBRID_HYBRID_H
#define DAE_SOLVE_HYBRID_HYBRID_H

#include "control/attempt.h"
#include "solve/bind/discrete.h"

struct dae_solver;

/* hybrid_persist.c: the discrete side in a checkpoint. First the memory, before a form is bound;
 * then all else, once the form, its values and the search for events are there. */
void hybrid_persist_memory(struct dae_solver *s, persist *p);
dae_status hybrid_persist(struct dae_solver *s, persist *p);

/* Before a step towards tend: native code where it is asked for, or pays. */
void hybrid_consider_code(struct dae_solver *s, double tend);

/* Start values of the unknowns into s->bound.y and s->bound.yp. */
void hybrid_start_values(struct dae_solver *s);
/* Open the start at the start values of the model, as far as that can be done without computing:
 * its first mode is planned and bound. What fails is left to the start, but for lack of memory. */
dae_status hybrid_open_ahead(struct dae_solver *s);
/* What only the making and the start of large models need goes: it is made again when it is needed.
 */
void hybrid_give_back(struct dae_solver *s);
/* Whether that serves a start at t, at the start values of the model. */
bool hybrid_is_open(const struct dae_solver *s, double t);
/* Initialise at t: discrete values, relations and continuous values agree afterwards. The start is
 * open, or the values to start at are in s->bound.y and s->bound.yp. */
dae_status hybrid_start(struct dae_solver *s, double t);
/* The same at given values, which stay: those of a history. */
dae_status hybrid_start_given(struct dae_solver *s, double t);
/* An event at s->run.t with the values in s->bound.y and s->bound.yp; anew: they are not those of
 * the solution. */
dae_status hybrid_restart(struct dae_solver *s, bool anew);
/* The first step after a start goes in this direction: an event is due if relations that are zero
 * there change at once. */
void hybrid_leave(struct dae_solver *s, double direction);
/* Consistent values where the solver stands, for the memory as it is: no event. */
dae_status hybrid_begin_again(struct dae_solver *s);
/* The same; initial: with the initial equations and the fixed values of a start. */
dae_status hybrid_begin_mode(struct dae_solver *s, bool initial);
/* After a beginning: relations on the sides they are held, folds seen. */
dae_status hybrid_ready(struct dae_solver *s);
/* Update at the event at s->run.t; the solver is ready to go on, or has ended. */
dae_status hybrid_update(struct dae_solver *s);
/* The last event of a run, with terminal() true; the solver has ended. */
dae_status hybrid_finish(struct dae_solver *s);
/* values = all visible variables at a point, outputs evaluated; one note in a run tells of outputs
 * that are not finite. */
void hybrid_variables(struct dae_solver *s, double t, const double *y, const double *yp,
                      double *values);
/* s->bound.at_y and at_yp = values at t if that is the time of an event in the last step: before
 * it, those at which its relations have not changed yet; after it, those that it has found, or,
 * where something jumps there without an event, as sign(y) does, those a moment later. Else they
 * stay as they are. Returns the time that they belong to. */
double hybrid_take_row(struct dae_solver *s, double t);
/* The name of the first variable of a row without a finite value, outputs and discrete ones apart;
 * NULL: there is none. */
const char *hybrid_without_value(const struct dae_solver *s, const double *values);
/* Complete the diagnostic of a failure by the line of the equation it names; returns status. */
dae_status hybrid_explain(struct dae_solver *s, dae_status status);
/* Whether the crossings just found change a relation. One that comes back to the side where it is
 * already held to be does not: the interpolant wiggles where a solution leaves zero. Nor does one
 * that the equations hold at zero. */
bool hybrid_relation_changes(struct dae_solver *s);

/* Whether the crossings just found are those of a relation that has not been seen to leave zero,
 * in the first step after an event: that step is then taken back, and a shorter one comes next. */
bool hybrid_take_back(struct dae_solver *s);
/* The first step after an event has failed: go on in another mode, if one holds where this one
 * determines nothing. */
bool hybrid_rescue(struct dae_solver *s, dae_status status);
/* A step has failed: whether that was at an event, nearer than times can be told apart, which is
 * due then. */
bool hybrid_reach(struct dae_solver *s, dae_status status);
/* A step has failed: whether the algebraic equations have another solution where it begins, on
 * which the run goes on. */
bool hybrid_fold(struct dae_solver *s, dae_status status);
/* The same where a step went beyond the end of its branch, which is at s->diag.t: a factor of an
 * algebraic variable passes through zero there (branch_ended). */
bool hybrid_fold_passed(struct dae_solver *s, dae_status status);

/* Where the branch ends within the last step, which is good up to there; NAN: it does not. */
double hybrid_fold_ahead(const struct dae_solver *s);

/* Go on from there on another branch; DAE_STEPPED, or why the run ends. */
dae_status hybrid_fold_now(struct dae_solver *s);
/* Whether a step of length h from s->run.t_new to y, y' ends on the branch of solutions on which it
 * began; asked where nothing else limits steps. */
bool hybrid_on_branch(struct dae_solver *s, double h, const double *y, const double *yp);
/* Refuses a method that would pass folds unseen, or makes them seen. */
dae_status hybrid_check_branches(struct dae_solver *s);
/* The steps of an attempt that failed with this status left their branch, however short: say so. */
dae_status hybrid_explain_lost(struct dae_solver *s, dae_status status);
/* The interpolant lets relations cross at s->run.t, but the equations say that they go back: its
 * error is larger than their excursion. *again: there is no event, the solution goes on from there.
 */
dae_status hybrid_refute(struct dae_solver *s, bool *again);
/* The sides on which relations are held, for the search of their crossings. */
void hybrid_arm(struct dae_solver *s);

/* What the crossings just found mean for the assertions. */
dae_status hybrid_check_watches(struct dae_solver *s);
/* The crossings just found are no events of the model: do not count them. */
void hybrid_forget_crossings(struct dae_solver *s);

/* The interpolant finds an event at s->run.t; its algebraic variables carry the interpolation
 * error. Move s->run.t to where the crossing happens with variables that meet the equations, not
 * before `from`. false: it does not happen in this step. */
bool hybrid_polish(struct dae_solver *s, double from);

/* After so and so many steps and events: say what is slow if the way to tend is far too long. */
void hybrid_note_progress(struct dae_solver *s, double tend);

/* The next sample time; INFINITY if there is none. */
double hybrid_next_time(const hybrid *h);
/* hybrid_delay.c: when a jump or a kink of a delayed expression comes back, or what is smoother,
 * where only a step has to end; INFINITY: never. */
double hybrid_next_return(const hybrid *h);
double hybrid_next_soft_return(const hybrid *h);
/* Go behind all that come back up to t; the lowest rank among them (model/model_delay.h). */
int hybrid_pass_returns(const hybrid *h, double t);
/* The solution breaks where it is recorded up to. */
void hybrid_break_delays(const hybrid *h, int rank);
/* Where no step leads on, and `status` says so: it may be for a delay time that varies. */
dae_status hybrid_explain_lag(struct dae_solver *s, dae_status status);
/* Values of all delayed expressions at a point, into every `stride`-th number, if they and their
 * delay times are sound. */
dae_status hybrid_delayed(struct dae_solver *s, double t, const double *y, const double *yp,
                          double *values, size_t stride);
/* Where a delayed value goes on as another polynomial behind t; INFINITY: nowhere. */
double hybrid_next_piece(const hybrid *h, double t);
/* The tolerance of a delayed value of this size. */
double delays_tolerance(const struct dae_solver *s, double size);
/* No step may be longer: what it reads must have passed. INFINITY: no limit. */
double hybrid_longest_step(const struct dae_solver *s);

/* The next one that the equations may feel: steps end there. Others are met within steps. */
double hybrid_next_stop(const struct dae_solver *s);

/* hybrid_forcing.c: functions of time alone in the equations. Where the method begins: see which
 * there are. */
void hybrid_bind_forcing(struct dae_solver *s);
/* Whether an attempt that would be accepted has seen what they do within its step; else the length
 * of a step that ends where they do what it has not seen. */
double hybrid_seen_step(struct dae_solver *s, const attempt *a);
/* The last attempt was accepted. */
void hybrid_accept_forcing(struct dae_solver *s);

/* Look for the next seam behind s->t, where the method begins. */
void hybrid_seek_seam(struct dae_solver *s);
/* After a step: whether it went over a kink or a jump without a word. Then it is undone, and the
 * next one ends there. */
bool hybrid_undo_step(struct dae_solver *s);
/* The last time before it, where a step must end; INFINITY: there is none. */
double hybrid_next_seam(const hybrid *h);
bool hybrid_at_seam(const struct dae_solver *s);
/* Begin again behind the seam. */
dae_status hybrid_pass_seam(struct dae_solver *s);
/* Check the assertions at an accepted point. */
dae_status hybrid_check(struct dae_solver *s, double t, const double *y, const double *yp);

#endif
