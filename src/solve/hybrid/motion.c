#include "solve/hybrid/motion.h"

#include <math.h>

/* Hermite's formula */
double motion_at(const motion *m, int order, double t)
{
    const double h = m->t[1] - m->t[0], x = (t - m->t[0]) / h, rise = m->y[1] - m->y[0];
    const double c = h * m->slope[0] - rise, d = rise - h * m->slope[1];
    if (order == 0) return m->y[0] + x * rise + x * (1.0 - x) * ((1.0 - x) * c + x * d);
    return (rise + (1.0 - 2.0 * x) * ((1.0 - x) * c + x * d) + x * (1.0 - x) * (d - c)) / h;
}

/* The slope is a parabola, which leaves the hull of three of its values by an eighth of their
 * second difference. Where it keeps its sign, the ends bound the value. */
range motion_between(const motion *m, double a, double b)
{
    const double u = motion_at(m, 1, a), v = motion_at(m, 1, 0.5 * (a + b)), w = motion_at(m, 1, b);
    const double bend = 0.125 * fabs(u - 2.0 * v + w);
    const interval slope = {lesser(u, lesser(v, w)) - bend, greater(u, greater(v, w)) + bend};
    const double p = motion_at(m, 0, a), q = motion_at(m, 0, b);
    const bool one_way = slope.lo >= 0.0 || slope.hi <= 0.0;
    const double sag = one_way ? 0.0 : 0.5 * fabs(b - a) * (slope.hi - slope.lo);
    return (range){{lesser(p, q) - sag, greater(p, q) + sag}, slope};
}
