/* Polynomials through values at nodes, as weights of these values. */
#ifndef DAE_METHOD_COMMON_INTERPOLATION_H
#define DAE_METHOD_COMMON_INTERPOLATION_H

/* w[i], i = 0 .. count-1: value (d = 0) or derivative (1) at `at` of the polynomial through values
 * at t[0] .. t[count-1] is sum w_i y_i */
void interpolation_row(int count, const double *t, double at, int d, double *w);

/* One of these weights: the value of Lagrange's polynomial of node i, and its slope, which is
 * divided once for each node: digits of it are those of dense outputs. */
double lagrange_term(int count, const double *t, int i, double at, double *slope);
/* Its value alone, with the same bits: divisions of the slope wait for each other. */
static inline double lagrange_value(int count, const double *t, int i, double at)
{
    double value = 1.0;
    for (int j = 0; j < count; j++)
        if (j != i) value *= (at - t[j]) / (t[i] - t[j]);
    return value;
}

/* The cubics that vanish at both ends of a step of length h, with slope 1 at its beginning (*left)
 * or at its end (*right), at the part x of it; or their derivatives. */
void cubic_ends(double x, double h, int derivative, double *left, double *right);

#endif
