/* The past of derivatives of delayed expressions. A delayed value is a polynomial of time - lag
 * whose coefficients stand in memory: they move with p as those of the polynomial through
 * d(value)/dp of that time. So their rates are inputs, as those of discrete Reals are, and the
 * derivative by the lag, -x'(t - lag) dlag/dp, is in the graph:
 *
 *     d/dp x(t - lag) = S_x(t - lag) - x'(t - lag) dlag/dp                        [Rih03]
 *
 * A break of x at te comes back at te + lag, and moves by dte/dp + dlag/dp. */
#ifndef DAE_SOLVE_SENSITIVITY_TANGENT_PAST_H
#define DAE_SOLVE_SENSITIVITY_TANGENT_PAST_H

#include "model/model_delay.h"
#include "solve/sensitivity/sensitivity_parts.h"

typedef struct tangent_past tangent_past;

void tangent_past_free(tangent_past *q); /* NULL is fine */

/* Where the run begins: no past moves so far. Nothing, if the model has no delays. */
dae_status tangent_past_open(dae_sensitivity *x);
/* Whether clauses, clocks or pre() may have changed delayed values where the run begins: their past
 * is what they were before that, and S what they are behind it. Whole starts then tell. */
bool tangent_past_apart(dae_sensitivity *x);
/* What those say of direction k: how the memory moves; NULL: it rests. */
void tangent_past_told(dae_sensitivity *x, int k, const double *memory);
/* S stands there, with such a past, and no whole start has told more: what delayed values have been
 * before moves as they do. */
dae_status tangent_past_begin(dae_sensitivity *x);
/* Whether the lead's equations, at its values, have no derivatives by time of delayed values: the
 * past of S is not smooth enough for them. Looks at each form once. */
dae_status tangent_past_check(dae_sensitivity *x, double t);
/* Rates of delayed values at time t and the lead's values, and the memory that goes with them. */
void tangent_past_load(dae_sensitivity *x, double t);
/* The memory of the last load, in which delayed values have the slopes that the equations give:
 * those of short pieces are off by the errors of their values over their length. NULL: there are no
 * delays. */
const double *tangent_past_memory(const tangent_past *q);
/* The lead reads that memory from here on, until it is let go of: derivatives by unknowns that
 * delay times depend on have these slopes. False: there are none. */
bool tangent_past_steer(dae_sensitivity *x, double t);
void tangent_past_let_go(dae_sensitivity *x);
/* Write down what a step of S from `from` to x->t has found. */
dae_status tangent_past_record(dae_sensitivity *x, double from);
/* A step of the run begins at x->t: smooth breaks that come back there break S, too. */
dae_status tangent_past_pass(dae_sensitivity *x);
/* An event at t, whose time moves by tau (per direction), is behind us. apart (likewise): something
 * came back then, too, that moves otherwise, and has changed no value. */
dae_status tangent_past_break(dae_sensitivity *x, double t, const double *tau, const bool *apart);

/* The run is over: a note where slopes of delayed values were not known well enough. */
void tangent_past_tell(dae_sensitivity *x);

/* A break that comes back. */
typedef struct tangent_return {
    size_t delay;
    double from; /* when it was, */
    bool bend;   /* which was one of the slope */
} tangent_return;

/* The next one after `last` (NULL: the first) that an event at t passes; false: none. */
bool tangent_past_due(const dae_sensitivity *x, double t, const tangent_return *last,
                      tangent_return *found);
/* How its time moves in direction k; NAN: not known. */
double tangent_past_moves(const dae_sensitivity *x, const tangent_return *r, int k);

#endif
