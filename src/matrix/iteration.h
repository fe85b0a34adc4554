/* The iteration matrix G = dF/dy + cj dF/dy' and its factors: the matrix cache of a solver.
 *
 * It is not method state: a method may lose it at any time and only pays for it. Direct (dense,
 * banded, KLU) and matrix-free (GMRES) solves look the same from outside. */
#ifndef DAE_MATRIX_ITERATION_H
#define DAE_MATRIX_ITERATION_H

#include "linalg/gmres.h"
#include "linalg/ilu.h"
#include "linalg/linear_solver.h"
#include "matrix/jacobian.h"

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

/* In matrix-free mode `jac`, `values`, `solver` and `incomplete` are those of the preconditioner;
 * with the user's or none there are none of them, and constraint_row and algebraic columns are not
 * known (all false). */
typedef struct iteration {
    evaluator *eval; /* borrowed */
    jacobian jac;
    bool matrix_free;
    const bool *constraint_row;   /* n: rows of dF/dy' that are zero; jac's */
    const bool *algebraic_column; /* n: columns of dF/dy' that are zero; jac's */
    linear_solver *solver;        /* direct; or the banded preconditioner */
    gmres krylov;
    ilu *incomplete;
    bool arranged;                     /* it has rows in an order that suits values */
    dae_preconditioner preconditioner; /* never AUTO in matrix-free mode */
    double cj;                         /* of the factors; 0 when there are none */
    bool factored;
    bool later;              /* storage and analysis wait for the first evaluation */
    int singular_column;     /* after ITERATION_SINGULAR */
    struct shifted *shifted; /* complex shifts beside cj (shifted.h), or NULL; owned */

    /* Private. */
    double *values;       /* combined and row-scaled matrix */
    double *row_scale;    /* n: factors of the rows of `values` */
    double *column_scale; /* n: and of its columns, by_columns only; powers of 2 */
    long analysed;        /* layout_version of jac that solver or incomplete belong to */
    int *scaled_rows;     /* rows with a factor other than 1 */
    int scaled_count;
    long soles;             /* the evaluation whose dF/dy' is in sole and sole_row; 0: none */
    double *sole;           /* n: the only entry of each column, */
    int *sole_row;          /* n: and its row; owned, NULL: no products are expected */
    bool by_columns;        /* the factors are those of iteration_factor_columns */
    long factorings;        /* so far: who keeps factors knows by it whether they are still his */
    long factored_version;  /* of jac, or of the evaluation point */
    bool renewed;           /* the last factorisation followed new derivatives, not a new shift */
    long counted_repivots;  /* of solver, already in the statistics */
    double *work;           /* the vectors below, owned; matrix-free only */
    double *y, *yp;         /* perturbed point of a product */
    double *rhs;            /* right-hand side of the current solve */
    double *at_y, *at_yp;   /* where iteration_evaluate was called */
    double *cy, *cyp;       /* column factors */
    double *set_y, *set_yp; /* where the user's P was set up last, at set_t; with precond_cj */
    double at_t, at_cj, at_h, set_t;
    long evaluations;          /* of iteration_evaluate */
    double precond_cj;         /* cj of the user's P */
    const linear_point *point; /* during a matrix-free solve */

    /* Of GMRES. */
    double leftover; /* ||P^-1 r|| after the last solve where that is above its tolerance; else 0 */
    long unmet;      /* solves that left so much */
    bool impatient;  /* set it: after one of them all others fail at once, as does all else */
    bool given_up;   /* that is so */
    int (*interrupt)(void *); /* the user's, and its argument; NULL: none */
    void *interrupt_user;
    struct iteration_guard *guard; /* borrowed; NULL: an attempt goes on to its end */
} iteration;

/* An attempt at a step that may be interrupted in the midst of GMRES: what the matrix was before
 * it, so that nothing of the attempt is left. */
typedef struct iteration_guard {
    persist before; /* written when the first thing changes; owned */
    bool written;
    bool interrupted;
} iteration_guard;

/* Open one around an attempt. Without GMRES, or anybody to ask, nothing happens. */
void iteration_guard_open(iteration *it, iteration_guard *guard);
/* Close it. True: the attempt was interrupted, and the matrix is as before; where there is no
 * memory for that *lost is set, and new derivatives are due. */
bool iteration_guard_close(iteration *it, iteration_guard *guard, bool *lost);

dae_status iteration_new(iteration *it, evaluator *eval, const dae_options *options,
                         dae_diag *diag);
/* The same for one that may never be used: storage and analysis wait for the first evaluation. */
dae_status iteration_new_idle(iteration *it, evaluator *eval, const dae_options *options,
                              dae_diag *diag);
void iteration_free(iteration *it);

/* Forget all derivatives, factors, pivots and findings: what follows depends on nothing that went
 * before. ITERATION_OK or ITERATION_MEMORY. */
iteration_status iteration_reset(iteration *it);

/* Save derivatives, factors, pivots and findings, or read them over a new one of the same problem
 * and options. */
void iteration_persist(iteration *it, persist *p);

/* New partial derivatives (or, for GMRES with a user's P, nothing) at (t, y, y'). Drops factors. An
 * unknown pattern is detected, and the solver set up for it, at the first call: that allocates, and
 * so does a detected pattern that turns out to lack something (jacobian_evaluate). */
iteration_status iteration_evaluate(iteration *it, double t, const double *y, const double *yp,
                                    double cj, double h, const double *weights, const double *f0);

/* New dF/dy' alone at (t, y, y'); dF/dy must be written anew by the caller. Drops factors. Needs a
 * matrix that iteration_evaluate has evaluated (jacobian_evaluate_leading). */
iteration_status iteration_evaluate_leading(iteration *it, double t, const double *y,
                                            const double *yp, double h, const double *weights);

/* Newton's method did not converge with partial derivatives of its very point. True if a detected
 * pattern may be to blame and new derivatives are worth having: it is looked for again then. */
bool iteration_distrust(iteration *it);

/* Combine for shift cj and factor. Constraint rows (no y') are scaled by cj so that all rows are
 * O(cj) as h -> 0 [BCP96 5.4.2]. For GMRES: factor the preconditioner, calling the user's setup at
 * `at` (NULL: where iteration_evaluate was called last). */
iteration_status iteration_factor(iteration *it, double cj, const linear_point *at);

/* The same with a matrix, and combined(data) as soon as the row scales are there: what it starts
 * may read derivatives and scales while the factorisation goes on. It is called if and only if the
 * derivatives are valid. */
iteration_status iteration_factor_beside(iteration *it, double cj, void (*combined)(void *),
                                         void *data);

/* dF/dy + cj dF/dy' at (t, y, y') and its factors, as DASSL makes them: from the user's Jacobian,
 * else by differences of F with y_j and y'_j moved together, one evaluation a group of columns
 * [BCP96 (5.2.16), (5.2.17)]. The parts are not known then: jac.valid is false. f0 = F(t, y, y').
 */
iteration_status iteration_renew_together(iteration *it, double t, const double *y,
                                          const double *yp, double cj, double h,
                                          const double *weights, const double *f0);

/* Count a factorisation with another shift beside the last one: it has the same cause. */
void iteration_count_beside(iteration *it);

/* Factor the matrix with columns cy[j] dF/dy_j + cyp[j] dF/dy'_j, for initial values; rows and
 * columns are scaled to about 1. For GMRES the solves that follow are with this matrix; a user's P
 * of shift cj (the one given to iteration_evaluate) then has its columns scaled as DASPK does
 * [BCP96 (7.5.34)]. */
iteration_status iteration_factor_columns(iteration *it, const double *cy, const double *cyp);

/* b := G^-1 b with the current factors (direct), or by GMRES at `point` (its cj, not the factors').
 */
iteration_status iteration_solve(iteration *it, const linear_point *point, double *b);

/* Whoever takes many products with dF/dy' says so at the start, and again after every
 * iteration_evaluate: if no column has more than one entry, as is so for most equations, each is
 * one multiplication a column. False: memory */
bool iteration_expect_apply(iteration *it);
void iteration_prepare_apply(iteration *it);

/* b := dF/dy' x, from the stored matrix; by a difference of F at `point` if there is none. */
iteration_status iteration_apply_yp(iteration *it, const linear_point *point, const double *x,
                                    double *b);

/* Whether all entries of the matrix are stored, for who looks at them: not so with a band of it as
 * preconditioner, a user's, or none. */
bool iteration_has_entries(const iteration *it);

double iteration_condition(iteration *it); /* reciprocal; < 0 if unknown */

#endif
