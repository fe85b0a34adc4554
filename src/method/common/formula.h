/* Multistep formulas [BCP96 3.4]: 1/h sum_j a_j x_(n-j), j = 0 .. k, stands for x' at
 *   t_n, where it is sum_j b_j x'_(n-j) (linear multistep), or
 *   sum_j b_j t_(n-j), where x is sum_j b_j x_(n-j) (one-leg). */
#ifndef DAE_METHOD_COMMON_FORMULA_H
#define DAE_METHOD_COMMON_FORMULA_H

#include "daedal.h"

enum { FORMULA_STEPS = 7 };

typedef struct formula {
    bool one_leg;
    int steps; /* k */
    double a[FORMULA_STEPS + 1], b[FORMULA_STEPS + 1];
} formula;

/* Which formulas an option belongs to; 0: none. */
typedef enum formula_use { FORMULA_NONE = 0, FORMULA_MULTISTEP, FORMULA_ONE_LEG } formula_use;

/* Adams-Moulton of order 2 to 4; c = 3/4 of the one-leg formulas of order 2 (formula.c); the
 * implicit midpoint rule [BCP96 (3.4.34)]. */
extern const formula formula_adams2, formula_adams3, formula_adams4, formula_leg2, formula_midpoint;

/* The formula of the options. */
formula formula_of_options(const dae_options *o, formula_use use);

/* The order of consistency by (3.4.23), (3.4.24) or (3.4.28), (3.4.29); 0: not consistent. */
int formula_order(const formula *f);

/* DAE_OK if it is consistent and stable: roots of rho, and those of sigma of a one-leg formula, are
 * within the closed unit disk, simple where they have magnitude 1. *marginal: sigma has one of
 * those, and perturbations of algebraic variables are never damped. */
dae_status formula_check(const formula *f, bool *marginal, dae_diag *diag);

#endif
