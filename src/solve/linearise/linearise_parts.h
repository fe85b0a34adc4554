/* What the files of this room share: the linear system of a lead (solve/sensitivity) at a point,
 *
 *     dx' = A dx + B du,   dy = C dx + D du
 *
 * over the states x of its index-1 form. docs/linearise.md. */
#ifndef DAE_SOLVE_LINEARISE_LINEARISE_PARTS_H
#define DAE_SOLVE_LINEARISE_LINEARISE_PARTS_H

#include "base/arena.h"
#include "solve/sensitivity/sensitivity_parts.h"

/* An input as the user names it: direction `first` of the lead, and `orders` in all, its own and
 * those of its derivatives. */
typedef struct linear_input {
    const char *name; /* borrowed from the model; NULL: a number of callbacks */
    int first, orders;
    int variable;  /* visible one whose value it has; -1: */
    int parameter; /* the same of a parameter; -1: callbacks */
} linear_input;

typedef struct linear_work {
    dae_solver *run;
    dae_linearise_request request;
    dae_sensitivity *x; /* whose lead is at the point; owned, no observer */
    linear_input *inputs;
    int input_count;
    int *outputs; /* visible variables of a model, or unknowns of callbacks */
    int output_count;
    int *states; /* unknowns of the lead; owned, as all lists here */
    int state_count;
    dae_stats stats; /* of the run, as they were */
} linear_work;

/* ---- linearise_names.c ---- */

/* The directions of a request, from names; they go into *list, which the caller frees. */
dae_status linear_name_inputs(linear_work *w, direction **list, int *count, dae_diag *diag);
dae_status linear_name_outputs(linear_work *w, dae_diag *diag);

/* ---- linearise.c ---- */

/* What is asked for, with a lead where the run stands. apart: which may go to other points. Close
 * it in any case. */
dae_status linear_open(linear_work *w, dae_solver *s, const dae_linearise_request *r, size_t size,
                       bool apart, dae_diag *diag);
/* The lead's values stay, with states that are good there. *same: they are what they were. */
dae_status linear_choose_states(linear_work *w, double t, bool *same);
void linear_close(linear_work *w);
/* All of it at the lead's values, lead.y and lead.yp, which are consistent. */
dae_status linear_fill(linear_work *w, double t, arena *a, dae_linearisation *out);
/* A by columns, state_count^2, where the lead is linearised and its states are factored. */
dae_status linear_matrix(linear_work *w, double t, double *A);
/* Values of all visible variables at the lead's point. */
void linear_variables(const linear_work *w, double t, double *values);

/* ---- eigenvalues.c ---- */

/* re, im, participation, zero and stability of out, from its A. */
dae_status linear_eigenvalues(dae_linearisation *out, arena *a, dae_diag *diag);

/* ---- steady_newton.c ---- */

typedef struct steady_search {
    linear_work *work;
    double t;
    double span;         /* what moves less than its tolerance over this time rests */
    double unit;         /* a time that is long for the model: equations may be others then */
    const double *began; /* the lead's unknowns where the search began */
    int iterations;
    const char *mover; /* the state that moves most, where there is no steady state; */
    double rate;       /* and how fast */
    const char *why;   /* .. in words */
    int conserved_count;
    double *conserved; /* rows of state_count; owned by the caller */
} steady_search;

/* From the lead's values to a steady state, on the values of conserved quantities at hand. *found:
 * the lead's values are that. */
dae_status steady_newton(steady_search *q, bool *found);

#endif
