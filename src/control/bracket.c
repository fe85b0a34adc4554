/* Inverse quadratic interpolation where the three points are shaped for it, else bisection
 * [Cha97]: of order 1.84, and never more than a constant factor slower than bisection. */
#include "control/bracket.h"

#include <math.h>

double quadratic_zero(const double t[3], const double g[3])
{
    double xi = (t[0] - t[1]) / (t[2] - t[1]), phi = (g[0] - g[1]) / (g[2] - g[1]);
    bool monotone = phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi;
    if (!monotone) return 0.5; /* NAN, too: no comparison holds */
    double alpha = (t[2] - t[0]) / (t[1] - t[0]);
    double part = g[0] / (g[1] - g[0]) * g[2] / (g[1] - g[2]) +
                  alpha * (g[0] / (g[2] - g[0])) * (g[1] / (g[2] - g[1]));
    return part >= 0.0 && part <= 1.0 ? part : 0.5;
}

double bracket_next(const bracket *b, double tolerance)
{
    /* from the end that moved last */
    double t[3] = {b->far, b->near, b->before}, g[3] = {b->g_far, b->g_near, b->g_before};
    if (!b->far_moved) {
        t[0] = b->near, t[1] = b->far;
        g[0] = b->g_near, g[1] = b->g_far;
    }
    double part = isnan(b->before) ? fabs(g[0]) / (fabs(g[0]) + fabs(g[1])) : quadratic_zero(t, g);
    double least = fmin(0.5, 0.5 * tolerance / fabs(t[1] - t[0]));
    part = fmin(fmax(part, least), 1.0 - least);
    return t[0] + part * (t[1] - t[0]);
}

void bracket_take(bracket *b, double t, double g, bool crossed)
{
    b->before = crossed ? b->far : b->near;
    b->g_before = crossed ? b->g_far : b->g_near;
    b->far_moved = crossed;
    *(crossed ? &b->far : &b->near) = t;
    *(crossed ? &b->g_far : &b->g_near) = g;
}
