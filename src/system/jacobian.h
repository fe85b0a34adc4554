/* dF/dy and dF/dy', kept apart on one layout: the user's, or by (coloured) differences. */
#ifndef DAE_SYSTEM_JACOBIAN_H
#define DAE_SYSTEM_JACOBIAN_H

#include "linalg/coloring.h"
#include "system/residual.h"

typedef struct jacobian {
    evaluator *eval;      /* borrowed */
    matrix_layout layout; /* owned: the problem's, or detected */
    double *dfdy, *dfdyp; /* layout.count values each, owned */
    coloring groups;      /* for differences */
    bool *yp_present;     /* n: whether column j of dF/dy' was ever nonzero (skips differences) */
    double *y, *yp, *f0, *f1; /* work, n each */
    long version;             /* counts successful evaluations */
} jacobian;

/* Decide the layout (see dae_structure): the user's structure; for AUTO without pattern, dense for
 * small n, and for large n detected by differences at (t, y, y') with random perturbations on the
 * first evaluation. `solver` is the requested linear solver and may force a structure. */
dae_status jacobian_new(jacobian *j, evaluator *eval, dae_linear_solver solver, dae_diag *diag);
void jacobian_free(jacobian *j);

/* Evaluate both matrices at (t, y, y'). h and weights give the difference increments [BCP96
 * (5.2.17)]: sign(h y'_j) max(|y_j|, |h y'_j|, weight_j) sqrt(u) for y_j, and that increment over
 * |h| (kept away from zero) for y'_j. f0 = F(t,y,y') if known, else NULL. */
eval_status jacobian_evaluate(jacobian *j, double t, const double *y, const double *yp, double h,
                              const double *weights, const double *f0);

#endif
