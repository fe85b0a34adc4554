/* The iteration matrix G = dF/dy + cj dF/dy' and its factors: the matrix cache of a solver.
 *
 * It is not method state: a method may lose it at any time and only pays for it. Direct (dense,
 * banded, KLU) and matrix-free (GMRES) solves look the same from outside. */
#ifndef DAE_SYSTEM_ITERATION_H
#define DAE_SYSTEM_ITERATION_H

#include "linalg/gmres.h"
#include "linalg/ilu.h"
#include "linalg/linear_solver.h"
#include "system/jacobian.h"

/* The point at which a linear system is solved; used by matrix-free solves only. */
typedef struct linear_point {
    double t, cj;
    const double *y, *yp; /* current iterate */
    const double *f;      /* F(t, y, yp) */
    const double *scale;  /* reciprocal weights of the Newton norm */
    double tolerance;     /* on ||P^-1 r|| in that norm */
} linear_point;

typedef enum iteration_status {
    ITERATION_OK = 0,
    ITERATION_RETRY,    /* a callback asked for a smaller step, or GMRES failed */
    ITERATION_SINGULAR, /* iteration.singular_column tells which variable */
    ITERATION_STOP,     /* a callback asked to stop */
    ITERATION_MEMORY
} iteration_status;

typedef struct iteration {
    evaluator *eval; /* borrowed */
    jacobian jac;
    bool matrix_free;
    double *values;        /* combined and row-scaled matrix */
    double *row_scale;     /* per row; see iteration_factor */
    bool *constraint_row;  /* rows of dF/dy' that are zero */
    linear_solver *solver; /* direct; or the banded preconditioner */
    gmres krylov;
    ilu *incomplete;
    dae_preconditioner preconditioner;
    double *work;              /* a few n-vectors for matrix-free products */
    const linear_point *point; /* during a matrix-free solve */
    double cj;                 /* of the factors; 0 when there are none */
    bool factored;
    int singular_column; /* after ITERATION_SINGULAR */
} iteration;

dae_status iteration_new(iteration *it, evaluator *eval, const dae_options *options,
                         dae_diag *diag);
void iteration_free(iteration *it);

/* New partial derivatives (or, for GMRES with a user's P, nothing) at (t, y, y'). Drops factors. */
iteration_status iteration_evaluate(iteration *it, double t, const double *y, const double *yp,
                                    double cj, double h, const double *weights, const double *f0);

/* Combine for shift cj and factor. Constraint rows (no y') are scaled by cj so that all rows are
 * O(cj) as h -> 0 [BCP96 5.4.2]. For GMRES: factor the preconditioner, calling the user's setup. */
iteration_status iteration_factor(iteration *it, double cj, const linear_point *at);

/* Factor the matrix with columns cy[j] dF/dy_j + cyp[j] dF/dy'_j, for initial values. */
iteration_status iteration_factor_columns(iteration *it, const double *cy, const double *cyp);

/* b := G^-1 b with the current factors (direct), or by GMRES at `point` (its cj, not the factors').
 */
iteration_status iteration_solve(iteration *it, const linear_point *point, double *b);

/* b := dF/dy' x, from the stored matrix; matrix-free: by a difference of F at `point`. */
iteration_status iteration_apply_yp(iteration *it, const linear_point *point, const double *x,
                                    double *b);

double iteration_condition(iteration *it); /* reciprocal; < 0 if unknown */

#endif
