/* Local coordinates on { c(t,x) = 0 } [HW96 VII.2 (2.18)-(2.24)]: linear functions eta = L x, whose
 * inverse moves a point along fixed directions Q, L Q = 0, until c = 0.
 *
 * In a Runge-Kutta step for eta' = L phi(omega(eta)) the sums eta_0 + h sum a_ij eta'_j are L times
 * x_0 + h sum a_ij phi(X_j): so X_i = omega(eta_i) is that sum, moved along Q onto c = 0, and no
 * coordinate is ever computed. Where charts change between steps nothing but Q does, which keeps
 * the order [HW96 Theorem 2.2]. */
#ifndef DAE_METHOD_HALF_EXPLICIT_CHART_H
#define DAE_METHOD_HALF_EXPLICIT_CHART_H

#include "forms/form_manifold.h"
#include "linalg/saddle.h"

typedef enum chart_status { CHART_OK = 0, CHART_DEPENDENT, CHART_MEMORY, CHART_RETRY } chart_status;

typedef struct chart {
    dae_coordinates kind;
    const form_matrix *matrix; /* of c_x, m x n; borrowed */
    int m, n;
    bool chosen;  /* there is one */
    bool fresh;   /* at the start of the step at hand */
    double rate;  /* worst contraction of its iterations */
    int row;      /* after CHART_DEPENDENT: the constraint */
    long choices; /* how often coordinates were chosen */
    double *A;    /* c_x values at the last point; owned, as all that follows */
    double *r, *row_scale, *dx;
    double *unit; /* n: of the components, where it was made */
    /* tangent: Q = M^-1 c_x' of a mechanism, */
    saddle *saddle;
    double *M, *base; /* M and c_x in its factors */
    /* or W^2 c_x', shortest in units of the weights; */
    manifold shortest;
    /* partitioned: Q are the axes of m dependent variables */
    double *full, *lu;
    int *dependent, *order, *pivots;
} chart;

/* Coordinates for constraints with this Jacobian. mechanism: the shape of [M G'; G 0] and, in
 * `mass`, the number of values of M; or NULL. NULL: memory. */
chart *chart_new(dae_coordinates kind, const form_matrix *matrix, const saddle_shape *mechanism,
                 size_t mass);
void chart_free(chart *c); /* NULL is fine */

/* Choose coordinates at a point with c_x in c->A, and M, of a mechanism, in c->M. */
chart_status chart_choose(chart *c, const double *unit);
/* Keep them at another point, with c_x in c->A, if they are still good there; else choose anew. */
chart_status chart_watch(chart *c, const double *unit);
/* dx = -Q (c_x Q)^-1 r with c_x as it was where the chart was made */
void chart_correct(chart *c, const double *r, double *dx);

#endif
