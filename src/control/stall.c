#include "control/stall.h"

#include <float.h>
#include <math.h>

#include "base/vector.h"

/* A step is short if the way to go, or the way gone, takes 10^5 of them. In a window of short steps
 * one stalls if the same variable dominates the error as in the first, within MOVES tolerances of
 * its value then; if half of them do, now and then another variable dominating, the run stalls.
 * Where solutions are smooth that does not last: a method of order p moves a variable of size A by
 * about (A/tolerance)^(p/(p+1)) tolerances a step, and where it moves by less the steps grow. On a
 * surface of discontinuity that attracts solutions from both sides, x' = -sign(x), every step that
 * leaves it by more than some tolerances fails, or returns: where hardly one does, slow steps are
 * the method's own, of low order say, and get there. */
static const double FAR = 1e5, MOVES = 10.0;
enum { WINDOW = 1000, MOST_STALLS = WINDOW / 2, LEAST_TURNS = WINDOW / 20 };
/* Steps of so many units in the last place of t, on average, are no steps. */
static const double LEAST_ULPS = 16.0;
/* So many steps in a row, of which 10^9 would not do: rounding errors make the error estimate, or
 * something oscillates that fast. A layer of the solution is behind by then. */
static const double HOPELESS = 1e9;
enum { MOST_HOPELESS = 10000 };
/* A window of steps of which 10^6 would not do, in the mean: no method means to take so many. */
static const double MANY = 1e6;

static bool takes_more_than(double steps, const stall *c, const attempt *a, double tend)
{
    double way = fmax(fabs(tend - a->t), fabs(a->t - c->t0));
    return steps * fabs(a->h) < way;
}

/* Whether the variable now moves in the other direction */
static void note_turn(stall *c, double value)
{
    double move = value - c->last;
    c->turns += move * c->move < 0.0;
    if (move != 0.0) c->move = move;
    c->last = value;
}

/* Whether the variable that dominates the error is that of the first step, and where it was then */
static bool stalls(stall *c, const attempt *a, const error_norm *norm)
{
    if (!a->estimate) return false;
    int i = vector_argmax(norm->n, a->estimate, norm->tested);
    if (c->steps == 1) {
        c->variable = i;
        c->value = c->last = a->y[i];
        c->move = 0.0;
    }
    note_turn(c, a->y[c->variable]);
    return i == c->variable && fabs(a->y[i] - c->value) * norm->scale[i] <= MOVES;
}

/* After every window: whether it was of short steps in the mean */
static void note_pace(stall *c, const attempt *a, double tend)
{
    c->slow = false;
    if (c->paced == 0) c->paced_from = a->t;
    if (++c->paced < WINDOW) return;
    double gone = fabs(a->t + a->h - c->paced_from);
    c->slow = MANY / WINDOW * gone < fmax(fabs(tend - a->t), fabs(a->t - c->t0));
    c->paced = 0;
}

void stall_note(stall *c, const attempt *a, const error_norm *norm, double tend, long rejected)
{
    bool too_long = !takes_more_than(FAR, c, a, tend);
    c->hopeless = takes_more_than(HOPELESS, c, a, tend) ? c->hopeless + 1 : 0;
    note_pace(c, a, tend);
    if (too_long || c->steps >= WINDOW) {
        c->steps = c->stalls = 0;
        c->turns = 0;
        c->since = a->t + a->h;
    }
    long more = rejected - c->rejected;
    c->rejected = rejected;
    if (too_long) return;
    if (c->steps > 0) c->turns += more;
    c->steps++;
    c->stalls += stalls(c, a, norm);
}

stall_kind stall_found(const stall *c, double t)
{
    if (c->hopeless >= MOST_HOPELESS) return STALL_HOPELESS;
    if (c->steps < WINDOW) return STALL_NONE;
    bool held = c->turns >= LEAST_TURNS || c->unstable;
    if (c->stalls >= MOST_STALLS && held) return STALL_SLIDES;
    bool stands = fabs(t - c->since) < LEAST_ULPS * WINDOW * DBL_EPSILON * fabs(t);
    return stands ? STALL_STANDS : STALL_NONE;
}

bool stall_suspects_rounding(const stall *c)
{
    return c->slow;
}
