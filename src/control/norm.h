/* Error weights w_i = rtol_i |y_i| + atol_i and the norms built on them. */
#ifndef DAE_CONTROL_NORM_H
#define DAE_CONTROL_NORM_H

#include "base/persist.h"
#include "daedal.h"

/* Makes weights less where errors of that size are more than a tolerance of what follows from y. */
typedef void norm_tighten_fn(void *followers, double t, const double *y, double *weights);

/* Three scales, each the reciprocal of a weight per variable:
 *   scale   all variables
 *   tested  variables of the local error test; 0 for those left out
 *   newton  as `scale`, but |h| z counts for index-2 and h^2 z for index-3 variables [PL86]
 * tested and newton are the same array as scale when nothing sets them apart. */
typedef struct error_norm {
    int n;
    double *weights;
    double *scale;
    const double *tested, *newton;
    double *tested_own, *newton_own; /* storage when they differ from scale */
    const dae_kind *kinds;           /* resolved kinds, borrowed */
    int *exempt;                     /* per variable: accepted steps for which it leaves the test */
    int exempt_count;                /* variables for which that is not 0 */
    const bool *hidden;       /* variables that never are in the error test, or NULL; borrowed */
    bool leave_out_algebraic; /* algebraic variables of every index leave the error test */
    double reach;        /* steps count as at least this long in the Newton scale; 0: as they are */
    double stretch;      /* sqrt(n / number of tested variables) */
    const double *floor; /* per variable: what its tolerance is at least, as rounding makes it as
                            uncertain; NULL: nothing. Own, or borrowed */
    double *floor_own;   /* its storage */
    double rtol, atol;
    const double *rtol_by_unknown, *atol_by_unknown; /* borrowed or NULL */
    dae_norm_fn user_norm;
    dae_weights_fn user_weights;
    norm_tighten_fn *tighten; /* NULL: nothing follows */
    void *followers;          /* its first argument; borrowed */
    void *user;
    double *work; /* for user_norm */
} error_norm;

bool norm_new(error_norm *norm, int n, const dae_options *options);
void norm_free(error_norm *norm);

/* Decide which variables leave the error test, once the kinds are resolved; none is exempt. */
void norm_classify(error_norm *norm, const dae_kind *kinds, dae_error_test test);

/* From the next update on weights are made less by what follows from y. NULL: by nothing. */
void norm_follow(error_norm *norm, norm_tighten_fn *tighten, void *followers);

/* Variable i leaves the error test until `steps` steps have been accepted. */
void norm_exempt(error_norm *norm, int i, int steps);
/* A step was accepted. */
void norm_step_done(error_norm *norm);

/* Weights from y for a step of size h. Returns -1, or the first variable whose weight is not
 * positive and finite; n if the user's callback failed. */
int norm_update(error_norm *norm, double t, const double *y);

/* From the next update on the tolerance of variable i is at least this. False: memory */
bool norm_raise_floor(error_norm *norm, int i, double floor);
void norm_drop_floors(error_norm *norm);

/* Set the Newton scale for a step of size h. */
void norm_set_step(error_norm *norm, double h);

/* Weights, who leaves the test, and raised tolerances, of or for a norm that is classified. */
void norm_persist(error_norm *norm, persist *p);

/* The size that rounding errors of y_i are to be seen against: |y_i|, and where it is small what
 * the tolerances take for its size, atol_i / rtol_i, but at most `most`. */
double norm_size(const error_norm *norm, int i, double y, double most);

/* The smallest relative tolerance of all variables. */
double norm_finest(const error_norm *norm);

/* ||v|| with one of the scales above */
double norm_of(const error_norm *norm, const double *v, const double *scale);

#endif
