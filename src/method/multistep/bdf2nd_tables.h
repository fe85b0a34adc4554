/* Coefficients of the modified BDF methods for equations of order d [Wun05 (3.20)-(3.26)]. */
#ifndef DAE_METHOD_MULTISTEP_BDF2ND_TABLES_H
#define DAE_METHOD_MULTISTEP_BDF2ND_TABLES_H

enum {
    MODIFIED_MOST = 6,     /* orders */
    MODIFIED_EXACT = 1000, /* accuracy of values that are exact: those at the start */
    MODIFIED_NODES = 24    /* t_n, t_{n-1}, .. that may be looked at: level times order and some */
};

/* alpha[i], i = 1 .. k, with y_{level}(t_n) = sum_i alpha_i y_{level-1}[t_n, .., t_{n-i}]: exact
 * for polynomials up to degree k + level - 1, where y_{level-1} comes from formulas of order
 * accuracy[m] at t[m], m < nodes (accuracy[0] = k: the order at t_n itself). Nodes that formulas
 * have used must be among them. Level 1 is ordinary BDF. Returns the reciprocal condition of the
 * equations for alpha: 0 where the history does not allow order k. */
double modified_coefficients(int level, int k, int nodes, const double *t, const int *accuracy,
                             double *alpha);

/* weight[0 .. k] of the values z_0 .. z_k at t_0 .. t_k in sum_{i=1}^k alpha_i z[t_0, .., t_i] */
void modified_weights(int k, const double *t, const double *alpha, double *weight);

#endif
