/* What the files behind hybrid.h share. */
#ifndef DAE_SOLVE_HYBRID_HYBRID_PARTS_H
#define DAE_SOLVE_HYBRID_HYBRID_PARTS_H

#include <float.h>
#include <math.h>

#include "expr/walk.h"
#include "solve/begin/begin.h"
#include "solve/bind/solver.h"
#include "solve/explain/explain.h"
#include "solve/hybrid/hybrid.h"
#include "solve/watch/watch.h"

static inline const flat_model *flat_of(const dae_solver *s)
{
    return s->hybrid->instance->form->flat;
}

/* The value of an expression over flat variables at a point. NAN may be for lack of memory: then
 * hybrid->no_memory is set, and hybrid_explain makes an error of it. */
double hybrid_value(const dae_solver *s, double t, const double *y, const double *yp, expr e);

/* What the last digits of its two sides leave open of the crossing function of relation r. */
double relation_digits(const dae_solver *s, double t, const double *y, const double *yp, size_t r);

/* The same, and what may be off where unknowns are solved for: up to there its sides agree. */
double relation_slack(const dae_solver *s, double t, const double *y, const double *yp, size_t r);
/* What counts as zero of it where it goes through zero: that slack, if unknowns are solved for. */
double relation_noise(const dae_solver *s, double t, const double *y, const double *yp, size_t r);
/* h->crossing and h->noise = those at (t, s->bound.y, s->bound.yp). */
void relations_evaluate(dae_solver *s, double t);

/* The same at (t, s->bound.y, s->bound.yp). */
static inline double value_at(const dae_solver *s, double t, expr e)
{
    return hybrid_value(s, t, s->bound.y, s->bound.yp, e);
}

/* *slot := value; whether that changes it. */
static inline bool memory_store(double *slot, double value)
{
    bool changes = *slot != value && !(isnan(*slot) && isnan(value));
    *slot = value;
    return changes;
}

/* hybrid_initial.c, hybrid_guess.c */

/* A note on start values that the values at t, where a run begins, do not show (hybrid_starts.c).
 */
void hybrid_tell_lost_starts(dae_solver *s, double t);
/* Two fixed start values of one unknown must agree. */
dae_status hybrid_check_fixed(dae_solver *s);
/* Values of algebraic variables that have none, by equations that give them one after the other. */
dae_status hybrid_guess(dae_solver *s, double t, dae_init mode);
/* guessed[i]: unknown i has a start value that is not fixed. */
void hybrid_note_guessed(const hybrid *h, bool *guessed);
/* Solve F = 0, initial equations and kept start values for y and y' at once. */
dae_status hybrid_solve_initial(dae_solver *s, double t);

/* hybrid_relation.c */

/* Part of atol below which a crossing function counts as zero: well above the rounding of values
 * that the equations hold at zero, and well below what any tolerance can resolve. */
#define NOISE_OF_ATOL 1e-4
/* And at most, where atol is near rounding. */
#define MOST_NOISE_OF_ATOL 1e-2

/* A point from which a crossing function, `now` there, is followed along y'. */
typedef struct trend_point {
    double t, delta; /* and how far ahead it has been looked at */
    double now;
    double hidden; /* of its changes rounding may hide such; INFINITY: any */
    const double *y, *yp;
} trend_point;
/* Where it goes. It may be a difference of large numbers, as of a ball above a table that moves,
 * whose rounding hides that: only a change that grows with the distance tells. *change: that over
 * p->delta on entry, then that over the distance returned; above `least`. What comes at once out of
 * what rounding hides is no trend but another course, as of max(sin(time), 1) further on. 0: it
 * cannot be told. */
double crossing_trend(dae_solver *s, const trend_point *p, size_t r, double least, double *change);

/* By how much a crossing function changes when y_i moves from s->bound.y by its tolerance, to the
 * side where it changes less: on the other there may be a jump. y: a copy of s->bound.y. */
double crossing_change(dae_solver *s, double t, double *y, int i, expr crossing);
/* Values at t of the last step: those of the interpolant, corrected by the equations where events
 * read what these give, and can be. */
void hybrid_values_at(dae_solver *s, double t, double *y, double *yp);
/* First guess of the relations, from the start values alone. */
void relations_start(dae_solver *s, double t);
/* The relations whose crossing is the event take their new sides; they are decided. */
void relations_cross(dae_solver *s, double t);
/* Relations that are not decided follow the solution; whether any changed. */
bool relations_update(dae_solver *s, double t);
/* After a look, where the search begins at these values: relations that leap over zero at once are
 * searched for from where they land. */
void relations_leap(dae_solver *s, double t, const double *y, const double *yp);
/* Whether relations that are zero at the start change a moment later. */
bool relations_leave(dae_solver *s, double t);
/* The step before a seam has ended: see which relations are away from zero there. */
void relations_note_seam(dae_solver *s);
/* After it, at t: whether any has changed. */
bool relations_pass_seam(dae_solver *s, double t);
void relations_decide(dae_solver *s, bool decided);
/* An update is due if a relation is seen on another side than it is held to be. */
void relations_note_overdue(dae_solver *s, double t, const double *y, const double *yp);

/* hybrid_message.c */

dae_status hybrid_fail(dae_solver *s, double t, const flat_action *a);
void hybrid_warn(dae_solver *s, double t, const flat_action *a);
void hybrid_terminate(dae_solver *s, double t, const flat_action *a);

/* hybrid_open.c */

/* Open a start at t, from the values in s->bound.y and s->bound.yp; given: they stay. */
dae_status hybrid_open(dae_solver *s, double t, dae_init mode, bool given);
/* With initial() true: guesses of the relations and of values that follow from the start values. */
dae_status relations_guess(dae_solver *s, double t, dae_init mode);

/* What an event, or a mode that is tried, starts from: the memory, and y and then y' of the base
 * form. */
typedef struct mode_entry {
    double *memory, *y; /* owned */
    bool *state;        /* unknowns that are states there; owned, NULL: nobody asks */
} mode_entry;

/* hybrid_iteration.c */

/* Discrete variables and pre values from their start attributes, flags cleared. */
void memory_start(dae_solver *s);
/* The first half of the first pass: the memory of the mode to begin in. */
dae_status events_find_mode(dae_solver *s, double t, dae_init mode);
/* Inner passes: discrete and continuous values that agree, with pre(..) as it is. All of them start
 * from the states in `entry`, if that is given. */
dae_status events_agree(dae_solver *s, double t, bool initial, dae_init mode,
                        const mode_entry *entry, int *passes);
/* The same at the start, in another mode if the first one has no solution (hybrid_start_modes.c).
 */
dae_status events_agree_at_start(dae_solver *s, double t, dae_init mode);
/* Discrete equations, and when-clauses but for what they do beside assigning, in their order. */
void events_take(dae_solver *s, double t);
/* What the active clauses do beside assigning; *reset: states have new values. */
dae_status events_act(dae_solver *s, double t, bool *reset);
/* Outer passes: until pre(v) = v, no state is set anew, and the relations are where they go. */
dae_status events_iterate(dae_solver *s, double t);
/* Discrete equations and conditions of when follow the relations, without acting. */
void events_follow(dae_solver *s, double t);
/* After the event: flags down, conditions of when as they are now, without acting. */
void events_settle(dae_solver *s, double t);

/* hybrid_circle.c */

/* No passes yet with pre(..) as it is. */
void circle_open(hybrid *h);
/* One more, with the memory that it has: if that goes round in a circle, relations are turned one
 * by one from here on. */
void circle_watch(hybrid *h);

/* hybrid_branch.c */

/* Two points are the same solution within so many tolerances. */
#define SAME_POINT 1e3
/* A fold is located to this part of the time run so far. */
#define CLOSE_TO_FOLD 1e-10

/* Whether two points agree within so many tolerances. */
bool points_agree(int n, const double *weights, const double *a, const double *b,
                  double tolerances);
/* Whether the equations at hand give algebraic variables and y' at given differential ones. */
bool branch_is_index_one(const dae_solver *s);

/* hybrid_modes.c */

/* After an event iteration with this result: where it ended in a mode that determines nothing, or
 * did not end, find one that holds. */
dae_status modes_mend(dae_solver *s, double t, bool initial, dae_status status);
/* As they are; false: memory, and what there is of it is to be freed all the same. */
bool mode_entry_take(dae_solver *s, mode_entry *e);
void mode_entry_free(mode_entry *e);
/* A mode that differs from that of `e` in relations of algebraic variables, and has a solution with
 * the states as they are: it is bound, and solved. false: there is none, and
 * the memory is as it was, with the values of `e`. */
bool modes_keep_states(dae_solver *s, double t, const mode_entry *e);
/* Failures that another mode may mend. */
bool ended_badly(dae_status status);

/* hybrid_commute.c */

/* Which unknowns of the base form are states in the mode at hand; the caller frees them. */
bool *mode_states(const dae_solver *s);
/* How many initial values the equations of the mode at hand leave free. */
int mode_freedom(const dae_solver *s);
/* The states as they are in e again, where a pass has thrown them. */
dae_status states_return(dae_solver *s, const mode_entry *e);
/* Whether the mode that the event has come to binds states that were free, so that they jump. */
bool states_jump(const dae_solver *s, const mode_entry *e);
/* After passes of an event with this result: where they have come to a mode that throws states, or
 * has no solution, to one that keeps them; *commuted: it has been found. */
dae_status commute(dae_solver *s, double t, const mode_entry *e, dae_status status, bool *changed);

/* hybrid_mute.c */

/* Which relations nothing hears, for the memory as it is: their crossings are not searched for. */
void mute_update(dae_solver *s);

/* hybrid_range.c */

/* Let the search of crossings know bounds of the crossing functions of the form at hand. */
void ranges_bind(dae_solver *s);

/* hybrid_reads.c */

/* See what the equations and crossing functions of the model read of its memory. */
bool reads_bind(dae_solver *s);
/* The continuous values are solved for the memory as it is. */
void reads_keep(dae_solver *s);
void branches_persist(dae_solver *s, persist *p);
void reads_persist(dae_solver *s, persist *p);
/* Whether they still are. Where crossing functions have changed these are to be looked at again. */
bool reads_unchanged(dae_solver *s);
/* Whether events may read more than time and states, which the interpolant has: algebraic unknowns,
 * or derivatives. The equations say what these are. */
bool reads_solved(const dae_solver *s);
/* Whether the equations may come to feel what clock i strikes; what the event at t, which is due,
 * does. */
bool reads_clock(const dae_solver *s, size_t i);
bool reads_event(const dae_solver *s, double t);
/* The condition of branch b of when-clause w. */
double reads_condition(const dae_solver *s, double t, size_t w, size_t b);
/* Whether anything asks for algebraic variables or derivatives a moment ahead. Unknowns of a
 * formulation may be algebraic there and differential in the model as it is written. */
bool reads_ahead(const dae_solver *s);

/* hybrid_resume.c */

/* What the step before an event leaves to the one behind it. */
typedef struct step_memory {
    const struct method *method; /* that made it; NULL: there was none */
    const model_mode *mode;      /* over the unknowns of this one; NULL: of the model */
    double h;                    /* what it proposed for the next step, as far as that counts */
} step_memory;
/* Before the event at t, with y and y' there. */
step_memory resume_leave(dae_solver *s, double t);
/* Behind it: the step size to go on with. */
void resume_enter(dae_solver *s, const step_memory *left);

/* hybrid_impulse.c */

/* The user's values before an event, for a look at what jumps; NULL: there is no need to look. */
double *impulse_before(const dae_solver *s);
/* After it: a note if a variable has jumped whose derivative the equations read. Frees them. */
void impulse_after(dae_solver *s, double t, double *before);

/* hybrid_rows.c */

/* Keep the values at the end of the step before a seam, for the row before its event. */
void rows_leave_seam(dae_solver *s);

/* hybrid_forcing.c: what is known of it. */
void forcing_persist(dae_solver *s, persist *p);

/* hybrid_seams.c */

/* The next seam, and what was told; they are there. */
void seams_persist(dae_solver *s, persist *p);
/* Whether any expression has pieces at all. */
bool seams_possible(const graph *g);
/* What each node of a walk depends on; NULL: memory. The caller frees it. */
enum { SEAM_OF_TIME = 1, SEAM_OF_VARIABLES = 2 };
unsigned char *seam_leaves(const flat_model *m, const walk *w);
/* The comparison, or the floor, that changes where a node has a jump or a kink; EXPR_NONE: there is
 * none. */
expr seam_of(graph *g, expr e);
/* Sides that differ by less, against one of them, agree. */
#define SEAM_DIGITS (4.0 * DBL_EPSILON)
/* What changes it: the difference of the two sides, which has its zero there, or what floor is
 * taken of. */
expr seam_argument(graph *g, expr seam);

/* hybrid_state_seams.c */
/* See which seams the form at hand has. */
void state_seams_bind(dae_solver *s);
/* Moves s->bound.y on from s->run.t_new, along y' and by the equations, until it is beyond the seam
 * that the last step was to end at. Returns the time there. */
double hybrid_pass_state_seam(dae_solver *s);

/* hybrid_setting.c */

/* Give discrete variables the values of their initial equations. */
void settings_take(dae_solver *s, double t);
/* Whether the values at the start meet the initial equations of discrete variables. */
dae_status settings_check(dae_solver *s, double t);

/* hybrid_delay.c */

/* At the start a delayed expression is that of now, until its past begins at t. */
void delays_open(dae_solver *s);
dae_status delays_begin(dae_solver *s, double t);
/* While an event at t is solved, pieces of the past stay as they are. */
void delays_hold(dae_solver *s, double t);
void delays_release(dae_solver *s);
/* Whether a jump or a kink has come back at t. */
bool delays_due(const hybrid *h, double t);

/* hybrid_time.c */

/* Times this close are one time. */
double sample_slack(double t);
/* First sample times at or after t. */
dae_status samples_start(dae_solver *s, double t);
/* Raise the flags of samples due at t, and set their next times. */
dae_status samples_raise(dae_solver *s, double t);

/* hybrid_trace.c */

/* Before the search for crossings begins anew where there is no event: what it has seen holds. */
void trace_keep_seen(dae_solver *s);
/* Whether relation r, which crosses, has not been seen to leave zero since its last event. */
bool trace_unresolved(const dae_solver *s, size_t r);
/* Gaps that became shorter so many times, to so many times what may be chance, have accumulated. */
enum { MANY_SHRINKS = 8 };
/* Whether the events of a relation have come closer and closer. */
bool crowd_shrinks(const dae_solver *s);

/* hybrid_crowd.c */

/* No events yet. */
void crowd_start(hybrid *h);
/* Before an event at t: many in a vanishing interval are a ball that comes to rest, or a switch
 * that chatters. */
dae_status crowd_watch(dae_solver *s, double t);
/* After an event: where the solution goes on from. */
void crowd_keep_point(dae_solver *s, double t);
/* Relations that came back before they could be seen to leave, or within their tolerances, and that
 * the event has thrown back once more, so little that nothing shows it: they rest. */
void crowd_settle(dae_solver *s, double t);
/* After a step, with h->crossing at its end: whether a relation that rests is left behind. */
dae_status crowd_check(dae_solver *s);

#endif
