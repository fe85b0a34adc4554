/* What the variants share that repeat the runs of a thesis to the letter [Wun05 chapter 4]. */
#ifndef DAE_METHOD_COMMON_THESIS_H
#define DAE_METHOD_COMMON_THESIS_H

#include "method/common/method.h"

enum {
    THESIS_ESTIMATE_DEGREE = 3, /* m of (4.22), once there are so many steps */
    THESIS_TESTED_FROM = 4,     /* accepted steps before the error test begins */
    THESIS_OUTPUT_DEGREE = 5,   /* k of (4.31) */
    THESIS_POINTS = THESIS_OUTPUT_DEGREE + 1
};

/* Whether a mode of the thesis is asked for with one tolerance for all, which its error test
 * [Wun05 (4.19)] cannot do with; `result` says so. */
bool thesis_refuses(const method_context *ctx, attempt *result);

/* WT_i = RTOL_i |v_i| + ATOL_i (4.20): weighed by the vector itself, not by the solution */
double thesis_weight(const error_norm *norm, int i, double v);

/* The next step over h where the step before it failed and this one has passed, for r of (4.26) */
double thesis_growth(double r);

/* h0 = min(1e-3 |TOUT - t0|, 1/2 ||y'||^-1) (4.30), `reach` = |TOUT - t0| */
double thesis_first_step(const method_context *ctx, double reach, const double *yp);

#endif
