/* Zero crossings of event functions on the dense output of a step. docs/methods/events.md has the
 * rules in plain words. */
#ifndef DAE_CONTROL_EVENTS_H
#define DAE_CONTROL_EVENTS_H

#include "base/persist.h"
#include "problem/residual.h"

/* Dense output of the last step: y(t), and y'(t) where yp is not NULL. Returns 0, or an
 * eval_status.
 */
typedef eval_status (*event_interpolant)(void *context, double t, double *y, double *yp);

typedef struct event_finder event_finder;

/* tolerance: of the location in time, relative to max(|t|, |h|); 0 means 100 ulp. */
dae_status event_finder_new(event_finder **finder, evaluator *eval, double tolerance,
                            dae_diag *diag);
void event_finder_free(event_finder *finder); /* NULL is fine */
/* Where the search stands. What bounds the components is made anew before. */
void event_finder_persist(event_finder *finder, persist *p);

/* Forget everything and evaluate g at the (re)start point. An event that is zero there is not
 * reported; it is armed once it has moved away from zero (DASRT's and IDA's rule, made strict). At
 * a restart where an event was just found, its overshoot there still counts as zero. */
eval_status event_finder_start(event_finder *finder, double t, const double *y, const double *yp);

/* Component i is known to be on this side of zero, +1 or -1, whatever its value at the start is: a
 * model holds its relation there. Within the overshoot, or the rounding, of its start, or within
 * band, it may be anywhere; leaving that for the other side is a crossing, also at once. side = 0:
 * not known. */
void event_finder_hold(event_finder *finder, int i, int side, double band);

/* Component i is off its start at once, where it jumps to g, on the side on which it is held.
 * Between a start and the first search. */
void event_finder_leap(event_finder *finder, int i, double g);

/* The side of zero, +1 or -1, to which zero itself belongs for component i: a < b holds below zero,
 * a <= b at zero, too. A component that comes to zero from its other side and stays there has
 * changed then, one that comes from this side has not. side = 0, as at first: not known, and coming
 * to stay at zero is a change. */
void event_finder_zero(event_finder *finder, int i, int side);

/* g_i carries rounding errors of this size from now on (0 at first): less is no jump. */
void event_finder_rounding(event_finder *finder, int i, double rounding);

/* What component i is up to the end of the step is an error of the interpolant: it counts as zero
 * there. From then on it is on the side where it is held until it is further than band off zero. */
void event_finder_quiet(event_finder *finder, int i, double band);

/* Whether component i matters (it does after each start): if not it stays as it is, whatever g
 * says. Between a start and the first search. */
void event_finder_mute(event_finder *finder, int i, bool mute);

/* Whether g reads y' (it does at first): else the interpolant is asked for y alone, yp = NULL. */
void event_finder_slopes(event_finder *finder, bool read);

enum { EVENTS_PLAIN = -1 };
/* Components that may oscillate within a step: EVENTS_PLAIN if none of them has more than one
 * crossing between a and b (each keeps away from zero there, or goes only one way); else the first
 * that may have more. */
typedef int (*event_bound)(void *context, double a, double b);
/* Search pieces of time only which are plain, down to the limit below; NULL: there is nothing to
 * ask. all: it speaks of every component. */
void event_finder_bound(event_finder *finder, event_bound bound, void *context, bool all);
/* What a search that ended with EVAL_STOP could not do within its limits: the component that
 * needs more pieces of time than are looked at, or not even short pieces of which are plain;
 * EVENTS_PLAIN if its end has another reason. */
int event_finder_unbounded(const event_finder *finder);

/* Look for the first crossings in (from, to], where `from` is where the last search ended. *found
 * tells; *when is then the time (to within the tolerance, and not before the crossing), and finder
 * flags which and how. The search may end before `to`, see event_finder_time. Call again for the
 * next ones in the same step until *found is false. When the result is not EVAL_OK nothing has
 * changed, and the finder may search again on another (shorter) step. Counts every flagged
 * component in stats->events. */
eval_status event_finder_search(event_finder *finder, event_interpolant interpolant, void *context,
                                double to, bool *found, double *when);

/* Up to where the last search came: its find, `to`, or, where pieces are many, a part of the way.
 */
double event_finder_time(const event_finder *finder);

/* Component i is at its zero where the search stands, by what the caller knows: the last find is
 * that. */
void event_finder_claim(event_finder *finder, int i, int flag);
/* event_count flags of the last find: 0, +1 rising, -1 falling, seen in the direction of
 * integration. */
const int *event_finder_flags(const event_finder *finder);
/* Whether flagged component i has not been seen off zero on its old side since the start. */
bool event_finder_unresolved(const event_finder *finder, int i);
/* Whether component i stands off zero, and has been seen there since the start. */
bool event_finder_seen(const event_finder *finder, int i);
/* Whether flagged component i did not go through zero but jumped over it, as at a pole. */
bool event_finder_jumped(const event_finder *finder, int i);
/* The largest |g_i| in the samples since component i crossed last. */
double event_finder_peak(const event_finder *finder, int i);
/* Times closer to t than this are one time, on a step of length h. */
double event_finder_resolution(const event_finder *finder, double t, double h);
/* Whether one of the flagged events is terminal. */
bool event_finder_terminal(const event_finder *finder);

#endif
