/* Extrapolation: the tableau, the convergence monitor, and the choice of order and step
 * [HNW93 II.9; Deu83].
 *
 * A basic step H is done n_1, n_2, .. times over in small steps H/n_j, and the results T_j1 are
 * extrapolated to small steps of length 0:
 *   T_j,k+1 = T_jk + (T_jk - T_j-1,k) / ((n_j/n_j-k)^p - 1),
 * where the error of T_j1 has an expansion in powers of h^p. Rows are computed until ||T_jj -
 * T_j,j-1|| passes the error test, which is expected at row `target`, one before or one after. */
#ifndef DAE_METHOD_EXTRAPOLATION_EXTRAPOLATION_H
#define DAE_METHOD_EXTRAPOLATION_EXTRAPOLATION_H

#include "method/common/method.h"

enum { EXTRAPOLATION_ROWS = 10 };

/* A method to be extrapolated. */
typedef struct extrapolation_rule {
    int power;                       /* p */
    int rows;                        /* how many there are; 0: EXTRAPOLATION_ROWS */
    int steps[EXTRAPOLATION_ROWS];   /* n_j, increasing */
    double work[EXTRAPOLATION_ROWS]; /* of rows 1 .. j together, in evaluations of the equations */
} extrapolation_rule;

/* One basic step: who computes the rows, and what came of it. */
typedef struct extrapolation {
    const extrapolation_rule *rule;
    int n;                              /* values that are extrapolated */
    double *T[EXTRAPOLATION_ROWS];      /* the last row of the tableau */
    double *error;                      /* T_jj - T_j,j-1 */
    double errors[EXTRAPOLATION_ROWS];  /* its weighted norm, by rows */
    double factor[EXTRAPOLATION_ROWS];  /* h_next / h, if row j were the one to aim at, */
    double expense[EXTRAPOLATION_ROWS]; /* and its work per unit step */
    int row;                            /* the last one, from 0 */
    /* T[row] := result of n_row small steps, on a copy of the start; the norm of an error. */
    attempt_status (*compute)(void *context, int row, double *result);
    double (*norm)(void *context, const double *error);
    void *context;
} extrapolation;

/* T_j1 .. T_jj from T_j1 = result and the row before; e->error from row 1 on. */
void extrapolation_add_row(extrapolation *e, int row, double *result);

/* Compute rows until the error test is passed or out of reach. `all`: up to the row `target`, come
 * what may. The order is p (e->row + 1) - (p > 1) .. at the last row. result: room for one row. */
attempt_status extrapolation_run(extrapolation *e, int target, bool all, double *result);
/* The error of the last row passes. */
bool extrapolation_passed(const extrapolation *e);

/* After a step with that target: the target of the next one (at most `most`), and h_next / h. */
double extrapolation_plan(const extrapolation *e, int target, int most, bool retried, int *next);
/* The row to aim at for a tolerance, before anything is known. */
int extrapolation_first_target(double rtol, int most);

#endif
