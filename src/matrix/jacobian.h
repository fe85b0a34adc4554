/* dF/dy and dF/dy', kept apart on one layout: the user's, or by (coloured) differences. */
#ifndef DAE_MATRIX_JACOBIAN_H
#define DAE_MATRIX_JACOBIAN_H

#include <stdint.h>

#include "base/persist.h"
#include "linalg/coloring.h"
#include "problem/residual.h"

/* Two layouts meet here. The SOURCE is the structure in which partial derivatives are obtained: the
 * problem's (the user's callback always fills that one, and its pattern gives the colouring), or a
 * detected pattern. The TARGET, `layout`, is what the linear solver works on. Where they differ,
 * one precomputed map carries values over; entries outside the target are dropped (band
 * preconditioners). */
typedef struct jacobian {
    evaluator *eval;        /* borrowed */
    matrix_layout layout;   /* owned; meaningless while `undetected` */
    double *dfdy, *dfdyp;   /* layout.count values each, owned */
    bool *constraint_row;   /* n: row of dF/dy' was zero at the last evaluation */
    bool *algebraic_column; /* n: column of dF/dy' was zero at the last evaluation */
    bool undetected;        /* no layout yet: jacobian_detect will find it */
    bool valid;             /* dfdy and dfdyp are those of one point */
    bool recheck;           /* set it to have dF/dy' differenced in full at the next evaluation */
    bool unmask;         /* set it: if dF/dy' is differenced then, zeros are not taken on trust */
    double ahead;        /* detection looks at t + ahead too, for what is zero at t */
    long version;        /* counts successful evaluations */
    long layout_version; /* counts layouts: a detected one may grow in jacobian_evaluate */

    /* Private. */
    dae_linear_solver solver;
    matrix_layout detected;             /* source, if it was detected; owned */
    size_t *map;                        /* source entry -> layout entry, or NULL: same layout */
    double *source_dfdy, *source_dfdyp; /* values on the source if there is a map, owned */
    coloring groups;                    /* of the source, for differences */
    double *work;                       /* the vectors below, owned */
    double *y, *yp, *f0, *f1, *predicted, *magnitude, *noise;
    double *copies; /* of points and of F there, for several threads; owned, NULL: not needed, */
    int *codes;     /* and what F returned there; owned */
    int copy_count; /* so many */
    int *missed;    /* n: columns to be differenced again */
    bool *flags;    /* those below, owned */
    bool *rescued;  /* 2n: for y and y', columns that need wide increments */
    bool *zero_row, *zero_column; /* n: of dF/dy', zero however far y' was moved */
    bool *seen_row, *seen_column; /* n: shown by large increments only */
    bool yp_known;
    long differences;  /* evaluations by differences so far */
    bool was_detected; /* the layout is a finding, not knowledge */
    bool may_grow;     /* and it is not dense */
    bool distrusted;   /* the pattern will be looked for again */
    uint64_t random;   /* state of the generator for detection and probes */
    int fruitless;     /* searches in a row that found nothing new */
    long patience;     /* doubts to be ignored for that */
} jacobian;

/* Decide the layout. Known structure: the problem's, unless `solver` forces another one or the
 * matrix is so small or full that dense wins. Unknown structure: dense if n is small, else detected
 * by jacobian_detect (until then `undetected`). DAE_LINEAR_GMRES counts as AUTO. */
dae_status jacobian_new(jacobian *j, evaluator *eval, dae_linear_solver solver, dae_diag *diag);

/* The band of the matrix only, for preconditioners. If the structure is unknown it is found as if
 * the matrix were banded, which lumps what lies outside the band into it, as DASPK does. */
dae_status jacobian_new_band(jacobian *j, evaluator *eval, int lower, int upper, dae_diag *diag);

void jacobian_free(jacobian *j);

/* Save what evaluations have left behind, a detected layout included, or read it over a new one. */
void jacobian_persist(jacobian *j, persist *p);

/* Forget everything that evaluations have left behind, a detected layout included: what follows
 * depends on nothing that went before. */
void jacobian_reset(jacobian *j);

/* Find the union of the patterns of dF/dy and dF/dy' by differences at two random points around
 * (y, y'), at t and t + ahead, and build the layout. 2n + 2 evaluations of F, no n x n storage. An
 * entry that vanishes in a whole neighbourhood of the point (a switched-off branch) is missed: see
 * jacobian_evaluate. Allocates. Does nothing if the layout is known. */
eval_status jacobian_detect(jacobian *j, double t, const double *y, const double *yp,
                            const double *weights);

/* Newton's method failed with these derivatives. True if that casts doubt on a detected pattern: it
 * will be looked for again at the next evaluation, which should come soon. */
bool jacobian_distrust(jacobian *j);

/* Evaluate both matrices at (t, y, y'), detecting the layout first if need be. A detected layout is
 * tested by one more evaluation with all variables moved at once; if F moves otherwise than the
 * matrices say, or after jacobian_distrust, it is looked for again here, at 2n + 1 evaluations, and
 * grows by what is found (layout_version; that allocates). h and weights give
 * the difference increments [BCP96 (5.2.17)]: sign(h y'_j) max(|y_j|, |h y'_j|, weight_j) sqrt(u)
 * for y_j, larger (up to weight_j) for variables near zero, and that increment over |h| for y'_j.
 * f0 = F(t,y,y') if known, else NULL. */
eval_status jacobian_evaluate(jacobian *j, double t, const double *y, const double *yp, double h,
                              const double *weights, const double *f0);

/* dF/dy' alone at (t, y, y'), on the layout of an earlier jacobian_evaluate, for methods that take
 * it at many points of one step: by central differences, since errors that differ from point to
 * point do not cancel where a single matrix' would. What dF/dy is afterwards is not specified. */
eval_status jacobian_evaluate_leading(jacobian *j, double t, const double *y, const double *yp,
                                      double h, const double *weights);

#endif
