/* BDF for F(t, x, x', .., x^(d)) = 0, d > 2, as it stands [Wun05 3.3]: what its variants share.
 *
 * A variant says how derivatives at the end of a step depend on x there, x^(j) = x0^(j) + a_j (x -
 * x0), j = 0 .. d, where a_j may depend on how many derivatives of x appear. The rest is Newton's
 * method for F = 0 with the matrix F_x + F_x' a_1 + .. + F_x^(d) a_d. */
#ifndef DAE_METHOD_MULTISTEP_BDFHIGH_H
#define DAE_METHOD_MULTISTEP_BDFHIGH_H

#include "method/common/method.h"
#include "method/common/stage_newton.h"

enum { HIGHER_MOST = DAE_MOST_ORDER, HIGHER_LEVELS = HIGHER_MOST + 1 };

/* A step in hand; vectors belong to the scratch of the variant. */
typedef struct higher_step {
    double t, h;
    higher_shifts a;           /* a_j of unknowns with L unknown derivatives, x itself among them:
                                  a[L][j], a[L][0] = 1 */
    double *x0[HIGHER_LEVELS]; /* predicted x, x', .., x^(d), one entry per unknown x */
    double *x[HIGHER_LEVELS];  /* as corrected */
    double *delta;             /* last correction of x */
    double *e;          /* x - x0, the sum of them: it may be below the rounding of x, but its
                           multiples in x', .., x^(d) are not below theirs */
    double *y, *yp, *f; /* of the residual form */
    stage_newton newton;
} higher_step;

/* Solve F = 0 from the prediction: x, and y, y' of the residual form. */
attempt_status higher_solve(higher_step *w, const method_context *ctx, attempt *result);
/* After an accepted step: whether the matrix may serve the next one. */
void higher_accepted(higher_step *w, const method_context *ctx);

/* Where the method is not for these equations: says so in *result and gives true. */
bool higher_refused(const method_context *ctx, int most, attempt *result);

void *bdfhigh_cache_new(const method_context *ctx);
void bdfhigh_cache_persist(void *cache, const method_context *ctx, persist *p);
void bdfhigh_cache_free(void *cache);

#endif
