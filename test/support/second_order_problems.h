/* Plane motions on a curve with known solutions, as first order residuals of index 3 whose
 * kinematic rows give the second order form: y = (q1, q2, v1, v2, lambda). */
#ifndef TEST_SECOND_ORDER_PROBLEMS_H
#define TEST_SECOND_ORDER_PROBLEMS_H

#include <math.h>

#include "solve/bind/solver.h"

enum { CURVE_N = 5 };

typedef struct curve_problem {
    const char *name;
    double t0, t1;
    dae_residual_fn f;
    void (*exact)(double t, double *y, double *yp); /* lambda' is not filled in */
} curve_problem;

static const int curve_velocity[CURVE_N] = {2, 3, -1, -1, -1};
static const dae_kind curve_kinds[CURVE_N] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                              DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                              DAE_KIND_INDEX3};

/* ---- a particle on the circle under a tangential force [Wun05 (2.55)] ---- */

static inline int tangential(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] - 2.0 * y[1] - y[4] * y[0];
    f[3] = yp[3] + 2.0 * y[0] - y[4] * y[1];
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static inline void tangential_exact(double t, double *y, double *yp)
{
    double s = sin(t * t), c = cos(t * t);
    y[0] = s;
    y[1] = c;
    y[2] = yp[0] = 2.0 * t * c;
    y[3] = yp[1] = -2.0 * t * s;
    y[4] = -4.0 * t * t;
    yp[2] = 2.0 * c - 4.0 * t * t * s;
    yp[3] = -2.0 * s - 4.0 * t * t * c;
    yp[4] = -8.0 * t;
}

/* ---- the thesis' example [Wun05 (8.1)]: q = (sin t, cos t), lambda = sin t cos t ---- */

static inline int unit_circle(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[0] + 2.0 * y[0] * y[2] * y[3] + 2.0 * y[0] * y[4];
    f[3] = yp[3] + y[2] - 2.0 * y[0] * y[1] * y[1] + 2.0 * y[1] * y[4];
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static inline void unit_circle_exact(double t, double *y, double *yp)
{
    double s = sin(t), c = cos(t);
    y[0] = s;
    y[1] = c;
    y[2] = yp[0] = c;
    y[3] = yp[1] = -s;
    y[4] = s * c;
    yp[2] = -s;
    yp[3] = -c;
    yp[4] = c * c - s * s;
}

/* ---- pendulum, m = L = g = 1, from rest at (1, 0) ---- */

static inline int pendulum(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[4] * y[0];
    f[3] = yp[3] + y[4] * y[1] + 1.0;
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

/* a'' = -cos a by RK4 with 800 steps of long double: errors below 1e-12 on [0, 2] */
static inline void pendulum_exact(double t, double *y, double *yp)
{
    enum { STEPS = 800 };
    long double a = 0.0L, b = 0.0L, h = (long double)t / STEPS;
    for (int i = 0; i < STEPS && t != 0.0; i++) {
        long double k1 = -cosl(a), k2 = -cosl(a + 0.5L * h * b);
        long double k3 = -cosl(a + 0.5L * h * b + 0.25L * h * h * k1);
        long double k4 = -cosl(a + h * b + 0.5L * h * h * k2);
        a += h * b + h * h / 6.0L * (k1 + k2 + k3);
        b += h / 6.0L * (k1 + 2.0L * k2 + 2.0L * k3 + k4);
    }
    double s = (double)sinl(a), c = (double)cosl(a), w = (double)b;
    y[0] = c;
    y[1] = s;
    y[2] = yp[0] = -w * s;
    y[3] = yp[1] = w * c;
    y[4] = w * w - s;
    yp[2] = -y[4] * c;
    yp[3] = -y[4] * s - 1.0;
    yp[4] = -3.0 * w * c;
}

/* ---- a forced motion on an ellipse, with friction: q = (2 cos p, sin p), p = t + sin(t)/2 ---- */

static inline void ellipse_exact(double t, double *y, double *yp)
{
    double p = t + 0.5 * sin(t), w = 1.0 + 0.5 * cos(t), a = -0.5 * sin(t);
    y[0] = 2.0 * cos(p);
    y[1] = sin(p);
    y[2] = yp[0] = -2.0 * sin(p) * w;
    y[3] = yp[1] = cos(p) * w;
    y[4] = 1.0 + cos(2.0 * t);
    yp[2] = -2.0 * (cos(p) * w * w + sin(p) * a);
    yp[3] = -sin(p) * w * w + cos(p) * a;
    yp[4] = -2.0 * sin(2.0 * t);
}

static inline int ellipse(double t, const double *y, const double *yp, double *f, void *user)
{
    double x[CURVE_N], xp[CURVE_N];
    (void)user;
    ellipse_exact(t, x, xp);
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] - xp[2] + 0.3 * (y[2] * y[3] - x[2] * x[3]) + 0.5 * (y[0] * y[4] - x[0] * x[4]);
    f[3] = yp[3] - xp[3] + y[2] - x[2] + 2.0 * (y[1] * y[4] - x[1] * x[4]);
    f[4] = 0.25 * y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static const curve_problem curves[] = {
    {"(2.55)", 1.0, 2.0, tangential, tangential_exact},
    {"pendulum", 0.0, 2.0, pendulum, pendulum_exact},
    {"ellipse", 0.0, 1.5, ellipse, ellipse_exact},
};

static const curve_problem thesis_curve = {"(8.1)", 0.0, 1.0, unit_circle, unit_circle_exact};

static inline dae_problem *curve_new(const curve_problem *p)
{
    dae_problem *problem;
    dae_residual form = {.n = CURVE_N, .f = p->f, .kinds = curve_kinds, .velocity = curve_velocity};
    return dae_problem_from_residual(&form, &problem, NULL) == DAE_OK ? problem : NULL;
}

#endif
