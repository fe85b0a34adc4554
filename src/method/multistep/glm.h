/* General linear methods for F(t, x, x', x'') = 0 [Wun05 (A.16)-(A.22)]. */
#ifndef DAE_METHOD_MULTISTEP_GLM_H
#define DAE_METHOD_MULTISTEP_GLM_H

#include "method/common/method.h"

enum { GLM_STAGES = 4 };

/* Methods with k external and s internal stages whose external stages are the internal ones of the
 * step before: two-step peer methods [SW04],
 *   Y = B y + h G Y',  Y' = B y' + h G Y'',  y_next = Y,
 * G lower triangular with one diagonal element. In the notation of the frame, where ~ marks
 * internal stages, A = A~ = B, B = B~ = G B, D = D~ = G^2, E = E~ = B, F = F~ = G: all rows of
 * external stages are rows of internal ones, and the method is stiffly accurate [Wun05 A.0.7]. */
typedef struct glm_table {
    int stages, order;
    bool one_step; /* B = e e_s': only the last stage of the step before counts */
    double c[GLM_STAGES];
    double G[GLM_STAGES][GLM_STAGES];
} glm_table;

extern const glm_table glm_peer4;
/* Linear multistep methods in this frame [Wun05 A.0.2]: BDF of order s with steps h/s, s of which
 * make one step. Stage Y_i comes from the s values before it, of this step and the last one: (I -
 * R) Y = B0 y + h g Y', and G = g (I - R)^-1. p = q = s. */
extern const glm_table glm_bdf2, glm_bdf3, glm_bdf4;
/* A Runge-Kutta method in this frame [Wun05 A.0.1, A.0.12]: p = 3, q = 1, L-stable [Alex77]. */
extern const glm_table glm_rk3;

/* B for the ratio r of this step to the one before, by which all polynomials of degree s-1 are met:
 * c^k = B ((c-1)/r)^k + k G c^(k-1), k = 0 .. s-1 */
void glm_weights(const glm_table *m, double r, double B[GLM_STAGES][GLM_STAGES]);

/* The largest error constant of a stage, over h^s x^(s) */
double glm_error_constant(const glm_table *m, double r, double B[GLM_STAGES][GLM_STAGES]);

#endif
