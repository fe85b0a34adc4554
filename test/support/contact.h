/* A body on the parabola y = x^2: contact coordinate s, distance and nearest point of the
 * mechanical form. */
#ifndef TEST_CONTACT_H
#define TEST_CONTACT_H

#include "daedal.h"

static inline int distance(const dae_mechanical_point *at, double *g, void *user)
{
    double s = at->s[0];
    (void)user;
    g[0] = at->q[1] - s * s - 2.0 * s * (at->q[0] - s);
    return 0;
}

static inline int nearest(const dae_mechanical_point *at, double *h, void *user)
{
    double s = at->s[0];
    (void)user;
    h[0] = at->q[0] - s + 2.0 * s * (at->q[1] - s * s);
    return 0;
}

static inline int parabola(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[1] - at->q[0] * at->q[0];
    return 0;
}

static inline int indefinite(const dae_mechanical_point *at, double *M, void *user)
{
    (void)at, (void)user;
    M[0] = 2.0;
    M[1] = M[2] = 1.0;
    M[3] = 0.25; /* positive entries, determinant -1/2 */
    return 0;
}

#endif
