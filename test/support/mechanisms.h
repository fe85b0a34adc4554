/* Mechanisms for tests of methods on the mechanical form: the pendulum, a bead on an ellipse (in
 * Cartesian and in polar coordinates, where the mass matrix depends on q) and a planar four-bar
 * linkage. */
#ifndef TEST_MECHANISMS_H
#define TEST_MECHANISMS_H

#include "daedal.h"
#include "pendulum.h"

#include <math.h>

enum { MOST_Q = 4, MOST_Y = 2 * MOST_Q + 3 };

typedef struct mechanics {
    const char *name;
    dae_mechanical form;
    double start[2 * MOST_Q]; /* consistent q and v */
    double (*energy)(const double *y);
    double noise; /* of differences in place of derivatives */
} mechanics;

static inline int down(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    for (int i = 0; i < *(int *)user; i++) f[i] = i % 2 ? -1.0 : 0.0;
    return 0;
}

static inline int circle_curvature(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    c[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

static inline double planar_energy(const double *y)
{
    return 0.5 * (y[2] * y[2] + y[3] * y[3]) + y[1];
}

/* x^2/4 + y^2 = 1 */
static inline int ellipse(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.125 * at->q[0] * at->q[0] + 0.5 * at->q[1] * at->q[1] - 0.5;
    return 0;
}

static inline int ellipse_gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    G[0] = 0.25 * at->q[0];
    G[1] = at->q[1];
    return 0;
}

static inline int ellipse_curvature(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    c[0] = 0.25 * at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

/* The same in polar coordinates (r, phi): L = (r'^2 + r^2 phi'^2)/2 - r sin phi */
static inline int polar_mass(const dae_mechanical_point *at, double *M, void *user)
{
    (void)user;
    M[0] = 1.0;
    M[3] = at->q[0] * at->q[0];
    return 0;
}

static inline int polar_force(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    double r = at->q[0], phi = at->q[1], dr = at->v[0], dphi = at->v[1];
    f[0] = r * dphi * dphi - sin(phi);
    f[1] = -2.0 * r * dr * dphi - r * cos(phi);
    return 0;
}

static inline int polar_ellipse(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    double r = at->q[0], c = cos(at->q[1]), s = sin(at->q[1]);
    g[0] = 0.5 * (r * r * (0.25 * c * c + s * s) - 1.0);
    return 0;
}

static inline double polar_energy(const double *y)
{
    return 0.5 * (y[2] * y[2] + y[0] * y[0] * y[3] * y[3]) + y[0] * sin(y[1]);
}

/* Two point masses between (0,0) and (3,0) on rods of length 1, 2.5 and 2 */
static inline int linkage(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    const double *q = at->q;
    double dx = q[2] - q[0], dy = q[3] - q[1], ex = q[2] - 3.0;
    g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
    g[1] = 0.5 * (dx * dx + dy * dy - 6.25);
    g[2] = 0.5 * (ex * ex + q[3] * q[3] - 4.0);
    return 0;
}

static inline int linkage_gradient(const dae_mechanical_point *at, double *G, void *user)
{
    (void)user;
    const double *q = at->q;
    double dx = q[2] - q[0], dy = q[3] - q[1];
    const double rows[3][4] = {
        {q[0], q[1], 0.0, 0.0}, {-dx, -dy, dx, dy}, {0.0, 0.0, q[2] - 3.0, q[3]}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) G[i + 3 * j] = rows[i][j];
    return 0;
}

static inline int linkage_curvature(const dae_mechanical_point *at, double *c, void *user)
{
    (void)user;
    const double *v = at->v;
    double dx = v[2] - v[0], dy = v[3] - v[1];
    c[0] = v[0] * v[0] + v[1] * v[1];
    c[1] = dx * dx + dy * dy;
    c[2] = v[2] * v[2] + v[3] * v[3];
    return 0;
}

static inline double linkage_energy(const double *y)
{
    double sum = y[1] + y[3];
    for (int i = 4; i < 8; i++) sum += 0.5 * y[i] * y[i];
    return sum;
}

/* Numbers of coordinates, for `down` */
static inline void *planar(void)
{
    static int two = 2;
    return &two;
}

static inline void *linked(void)
{
    static int four = 4;
    return &four;
}

static inline mechanics pendulum(void)
{
    return (mechanics){.name = "pendulum",
                       .form = {.nq = 2,
                                .nlambda = 1,
                                .force = down,
                                .constraint = pendulum_rod,
                                .gradient = pendulum_gradient,
                                .curvature = circle_curvature,
                                .scleronomic = true,
                                .user = planar()},
                       .start = {0.6, -0.8, 0.8, 0.6},
                       .energy = planar_energy};
}

static inline mechanics bead(void)
{
    return (mechanics){.name = "bead on an ellipse",
                       .form = {.nq = 2,
                                .nlambda = 1,
                                .force = down,
                                .constraint = ellipse,
                                .gradient = ellipse_gradient,
                                .curvature = ellipse_curvature,
                                .scleronomic = true,
                                .user = planar()},
                       .start = {1.2, -0.8, 0.8, 0.3},
                       .energy = planar_energy};
}

static inline mechanics polar_bead(void)
{
    double r = hypot(1.2, 0.8), phi = atan2(-0.8, 1.2);
    return (mechanics){
        .name = "bead in polar coordinates",
        .form = {.nq = 2,
                 .nlambda = 1,
                 .mass = polar_mass,
                 .force = polar_force,
                 .constraint = polar_ellipse,
                 .scleronomic = true},
        .start = {r, phi, (1.2 * 0.8 - 0.8 * 0.3) / r, (1.2 * 0.3 + 0.8 * 0.8) / (r * r)},
        .energy = polar_energy,
        .noise = 1e-9};
}

static inline mechanics four_bar(void)
{
    /* the first rod at right angles to the base: the others follow */
    double d = sqrt(10.0), along = (6.25 - 4.0 + 10.0) / (2.0 * d);
    double up = sqrt(6.25 - along * along), cx = 3.0 / d, cy = -1.0 / d;
    return (mechanics){.name = "four-bar linkage",
                       .form = {.nq = 4,
                                .nlambda = 3,
                                .force = down,
                                .constraint = linkage,
                                .gradient = linkage_gradient,
                                .curvature = linkage_curvature,
                                .scleronomic = true,
                                .user = linked()},
                       .start = {0.0, 1.0, along * cx - up * cy, 1.0 + along * cy + up * cx},
                       .energy = linkage_energy};
}

#endif
