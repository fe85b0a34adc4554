#include "independent_modified.h"

/* y'' at t_n = sum_i a_i z[t_n, .., t_{n-i}], i = 1, 2, must be exact for y = t^2 and t^3, where z
 * is y' as the method has it: at t_n and t_{n-1} by the BDF of order 2, which is exact for t^2 and
 * not for t^3, at t_{n-2} by the implicit Euler method. Two equations for two unknowns, by Cramer's
 * rule in long double; BDF of order 2 as the derivative of a parabola through three points. */

static long double power(long double x, int p)
{
    return p == 2 ? x * x : x * x * x;
}

/* The slope at a of the parabola through (a, ya), (b, yb), (c, yc) */
static long double parabola_slope(long double a, long double b, long double c, int p)
{
    long double ab = (power(a, p) - power(b, p)) / (a - b),
                bc = (power(b, p) - power(c, p)) / (b - c);
    return ab + (a - b) * (ab - bc) / (a - c);
}

double independent_bdf_122(const double *t)
{
    long double first[2], second[2];
    for (int p = 2; p <= 3; p++) {
        long double z0 = parabola_slope(t[0], t[1], t[2], p),
                    z1 = parabola_slope(t[1], t[2], t[3], p),
                    z2 = (power(t[2], p) - power(t[3], p)) / ((long double)t[2] - t[3]);
        long double z01 = (z0 - z1) / ((long double)t[0] - t[1]),
                    z12 = (z1 - z2) / ((long double)t[1] - t[2]);
        first[p - 2] = z01;
        second[p - 2] = (z01 - z12) / ((long double)t[0] - t[2]);
    }
    long double right[2] = {2.0L, 6.0L * t[0]};
    return (double)((right[0] * second[1] - right[1] * second[0]) /
                    (first[0] * second[1] - first[1] * second[0]));
}
