#include "independent_reduction.h"

#include <math.h>

/* x2 of (3.10), with the derivatives of sin(2t) by hand */
static long double x2(long double t)
{
    return expl(t / 2) - 2 * cosl(2 * t) + 4 * sinl(2 * t);
}

/* Central differences of order 8 with h = 1/100: off by less than 1e-13 */
double independent_slope(double t)
{
    const long double h = 0.01L;
    long double sum = 0;
    static const long double weight[] = {4.0L / 5, -1.0L / 5, 4.0L / 105, -1.0L / 280};
    for (int k = 1; k <= 4; k++) sum += weight[k - 1] * (x2(t + k * h) - x2(t - k * h));
    return (double)(sum / h);
}
