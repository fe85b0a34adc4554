/* Rank tests on a derivative array.
 *
 * The array of F(t, u, u') = 0 is F and its total derivatives up to order k. It is written in
 * Taylor coefficients, F_i = F^(i)/i! and x_j = u^(j)/j!, as in [BCP96 2.4.3]: if dF/du = sum a_l
 * s^l and dF/du' = sum b_l s^l along the solution, then d F_i / d x_j = a_{i-j} + j b_{i-j+1}
 * (terms with negative index are absent). So the Jacobian of the array needs Taylor coefficients of
 * the two Jacobians of F only. */
#ifndef DAE_STRUCTURE_LINEAR_ARRAY_RANK_H
#define DAE_STRUCTURE_LINEAR_ARRAY_RANK_H

#include "linalg/singular_values.h"

/* Taylor coefficients of dF/du and dF/du', n x n each, number l at [l*n*n]. */
typedef struct jacobian_series {
    int n, count; /* coefficients 0 .. count-1 */
    double *a, *b;
} jacobian_series;

bool jacobian_series_new(jacobian_series *s, int n, int count); /* false: memory */
void jacobian_series_free(jacobian_series *s);

/* Factors that bring rows and columns to about 1, and a unit of time in which both Jacobians are of
 * one size. Found from typical sizes of |dF/du| and |dF/du'| (n x n), not from values at one point,
 * where what should be zero may be nothing but noise. */
typedef struct series_scaling {
    double *row, *column; /* n each, owned */
    double unit;
} series_scaling;

bool series_scaling_new(series_scaling *scaling, int n, const double *a, const double *b);
void series_scaling_free(series_scaling *scaling);

/* a_l := R a_l C unit^l, b_l := R b_l C unit^(l-1): equation F_i is multiplied by R unit^i. */
void jacobian_series_scale(jacobian_series *s, const series_scaling *scaling);

/* J = d(F_0 .. F_k) / d(x_0 .. x_{k+1}): n(k+1) rows, n(k+2) columns. Needs count > k. */
void array_jacobian(const jacobian_series *s, int k, double *J);

/* What ranks say at level k. M is J without the columns of u, N those columns. */
typedef struct array_level {
    int n, k;
    int rank;     /* of M */
    bool full;    /* 1-full: M determines u' [CM95] */
    bool *rate;   /* n: M determines u'_j; owned */
    int a;        /* n(k+1) - rank M: relations free of derivatives */
    int a_rank;   /* rank of Z2'N, those that are independent; = a: full row rank of (M N) */
    int d_rank;   /* rank of dF/du' T2 */
    bool reduces; /* Kunkel and Mehrmann's hypothesis holds: a_rank = a, d_rank = n - a [KM98] */
    double *Z2;   /* n(k+1) x a, Z2'M = 0; owned */
    double *T2;   /* n x (n - a_rank), Z2'N T2 = 0; owned */
    double *Z1;   /* n x d_rank, range of dF/du' T2; owned */
    rank_gap gap;
} array_level;

/* False: memory. */
bool array_level_new(array_level *level, const jacobian_series *s, int k, double tolerance);
void array_level_free(array_level *level);

#endif
