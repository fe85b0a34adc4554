/* Peaks of a function of time that is known at nodes. */
#include "sweep.h"

#include "internal.h"

#include <math.h>

/* The place of the largest value between a and b, from x on: parabolas, and golden sections where
 * they do not help [Brent73 5]. */
static double climb(sweep_function f, void *user, double a, double x, double b, double *top)
{
    const double golden = 0.3819660112501051;
    double w = x, v = x, fx = f(x, user), fw = fx, fv = fx;
    double d = 0.0, e = 0.0, small = 1e-9 * (b - a);
    for (int n = 0; n < 60; n++) {
        double middle = 0.5 * (a + b);
        if (fabs(x - middle) <= 2.0 * small - 0.5 * (b - a)) break;
        double r = (x - w) * (fx - fv), q = (x - v) * (fx - fw);
        double p = (x - v) * q - (x - w) * r;
        q = 2.0 * (q - r);
        if (q > 0.0) p = -p;
        q = fabs(q);
        bool parabola =
            fabs(e) > small && fabs(p) < fabs(0.5 * q * e) && p > q * (a - x) && p < q * (b - x);
        e = parabola ? d : (x < middle ? b - x : a - x);
        d = parabola ? p / q : golden * e;
        double u = fabs(d) >= small ? x + d : x + (d > 0.0 ? small : -small), fu = f(u, user);
        if (fu >= fx) {
            if (u < x)
                b = x;
            else
                a = x;
            v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
        } else {
            if (u < x)
                a = u;
            else
                b = u;
            if (fu >= fw || w == x)
                v = w, fv = fw, w = u, fw = fu;
            else if (fu >= fv || v == x || v == w)
                v = u, fv = fu;
        }
    }
    *top = fx;
    return x;
}

/* How much the vertex of the parabola through three points lies above the middle one. */
static double vertex_rise(const double *t, const double *h)
{
    double left = (h[1] - h[0]) / (t[1] - t[0]), right = (h[2] - h[1]) / (t[2] - t[1]);
    double bend = (right - left) / (t[2] - t[0]);
    if (!(bend < 0.0)) return 0.0;
    double slope = left + bend * (t[1] - t[0]); /* at t[1] */
    return -0.25 * slope * slope / bend;
}

/* Whether the node in the middle stands out, and the peak may come to the level. The parabola may
 * be a poor one over long steps: what the neighbours lie below is a measure of that. */
static bool stands_out(const double *t, const double *h, double level)
{
    if (!(h[1] >= h[0] && h[1] >= h[2] && (h[1] > h[0] || h[1] > h[2]))) return false;
    double drop = h[1] - fmin(h[0], h[2]);
    return h[1] + vertex_rise(t, h) + 0.5 * drop > level;
}

/* Whether the function, highest at the end of all nodes, is higher inside: then it has a peak
 * between the end and the node beside it. A function that bends down lies below the line through
 * the two nodes inside. */
static bool turns_before(sweep_function f, void *user, const double end[3], const double h[3],
                         double level, double *inside)
{
    double line = h[1] + (h[1] - h[2]) / (end[1] - end[2]) * (end[0] - end[1]);
    *inside = end[0] + 1e-3 * (end[1] - end[0]);
    return h[0] >= h[1] && line >= h[0] && line > level && f(*inside, user) > h[0];
}

bool sweep_peak(sweep_function f, void *user, const double *t, const double *h, int j, double level,
                double *where, double *top)
{
    const int last = SWEEP_NODES - 1, inward = j == 0 ? 1 : -1;
    if (j > 0 && j < last) {
        if (!stands_out(t + j - 1, h + j - 1, level)) return false;
        *where = climb(f, user, t[j - 1], t[j], t[j + 1], top);
        return *top > level;
    }
    const double end[3] = {t[j], t[j + inward], t[j + 2 * inward]};
    const double high[3] = {h[j], h[j + inward], h[j + 2 * inward]};
    double inside;
    if (!turns_before(f, user, end, high, level, &inside)) return false;
    *where = climb(f, user, fmin(end[0], end[1]), inside, fmax(end[0], end[1]), top);
    return *top > level;
}
