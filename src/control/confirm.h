/* Whether an iteration has come to a solution.
 *
 * Corrections d = -G^-1 F are small also where G is the matrix of another point, with partial
 * derivatives that are larger by powers of ten: exponentials are. They prove nothing, nor does the
 * rate at which they shrink. Proof is F where the iteration ended, and a matrix that is valid
 * there: G^-1 F(t, y + e, y' + cj e) = e + G^-1 F(t, y, y') + (G^-1 F'(y) - I) e is e itself if
 * both the correction that is left over and the error of the matrix, the rate of convergence at
 * this point, are small [Deu11 2.1]. So one evaluation tells of both. */
#ifndef DAE_CONTROL_CONFIRM_H
#define DAE_CONTROL_CONFIRM_H

#include "control/attempt.h"
#include "control/norm.h"
#include "matrix/second_order.h"

/* Ways in which y is moved by e, each of which tells more: one; the other one, too, where the first
 * tells nothing or leads away; both. */
typedef enum confirm_ways { CONFIRM_ONE, CONFIRM_EITHER, CONFIRM_BOTH } confirm_ways;

/* Where an iteration has ended. */
typedef struct iteration_end {
    evaluator *eval;
    iteration *matrix; /* with its factors */
    const error_norm *norm;
    double t;
    const double *y, *yp, *sum; /* at y + sum, y' + cj sum; NULL: at y, y' */
    double cj; /* y' moves with y by this, which may differ from the shift of the factors */
    const second_order *second; /* NULL: first order; else e is of x, velocities and x'' follow */
    second_matrix *factors;     /* of the second order form */
    double a2;                  /* x'' moves with x by this */
    double part;                /* |e_i|, in tolerances: what the iteration may leave over */
    confirm_ways ways;
    double *e, *f, *point, *slope; /* room for n values each; e is what is left over afterwards,
                                         and the point may be where the caller has y + sum */
    double left;                   /* of e, as a part of it: about the rate of convergence */
    bool known;                    /* F has values beside y */
} iteration_end;

/* Whether y, y' solve F(t, y, y') = 0 but for a part of the tolerances, as the factors at hand
 * tell; ATTEMPT_STOP if the user's callback ends the run. */
attempt_status iteration_confirm(iteration_end *end, bool *confirmed);

/* The same with partial derivatives of this very point, and factors that the matrix has afterwards:
 * whether Newton's correction itself is small enough. */
attempt_status iteration_confirm_anew(const iteration_end *end, double h, bool *confirmed);

/* Corrections of an iteration: the first one, and the last two. */
typedef struct correction_sizes {
    double first, before, last;
} correction_sizes;

/* Whether the rate of these corrections says how good the matrix is here: all of them stayed within
 * some tolerances, where equations are as good as linear, or the last two did after one that was
 * not far larger. A last one that is much smaller than nonlinear equations let it be says nothing
 * then. */
bool iteration_is_local(const error_norm *norm, correction_sizes sizes);

#endif
