/* The pendulum of unit mass, length and gravity in Cartesian coordinates, as callbacks of the
 * mechanical form. */
#ifndef TEST_PENDULUM_H
#define TEST_PENDULUM_H

#include "daedal.h"

/* f = (0, -1) */
static inline int pendulum_weight(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

/* 0 = (x^2 + y^2 - 1)/2 */
static inline int pendulum_rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static inline int pendulum_gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    G[0] = at->q[0];
    G[1] = at->q[1];
    return 0;
}

#endif
