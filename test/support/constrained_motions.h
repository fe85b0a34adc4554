/* Mechanisms of the full mechanical form with an independent reference: accelerations, multipliers
 * and auxiliary variables in closed form or from a small linear system, integrated as an explicit
 * equation in long double. Unknowns are y = (q, v, r, w, s, lambda). To be included once. */
#ifndef TEST_CONSTRAINED_MOTIONS_H
#define TEST_CONSTRAINED_MOTIONS_H

#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_UNKNOWNS = 12, MOST_ROWS = 6 };

typedef long double real;

typedef struct motion {
    const char *name;
    dae_mechanical form;
    double tend;
    real start[MOST_UNKNOWNS]; /* q, v, r on the constraints */
    /* All of y' for (q, v, r), and w, s, lambda, at y's q, v, r. */
    void (*solve)(real t, real *y, real *slope);
} motion;

/* x = A^-1 b by elimination with row exchanges; A by rows of MOST_ROWS */
static void solve_rows(int n, real A[][MOST_ROWS], real *b)
{
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int r = c + 1; r < n; r++)
            if (fabsl(A[r][c]) > fabsl(A[p][c])) p = r;
        for (int j = 0; j < n; j++) {
            real swap = A[c][j];
            A[c][j] = A[p][j];
            A[p][j] = swap;
        }
        real swap = b[c];
        b[c] = b[p];
        b[p] = swap;
        for (int r = c + 1; r < n; r++) {
            real factor = A[r][c] / A[c][c];
            for (int j = c; j < n; j++) A[r][j] -= factor * A[c][j];
            b[r] -= factor * b[c];
        }
    }
    for (int c = n - 1; c >= 0; c--) {
        for (int j = c + 1; j < n; j++) b[c] -= A[c][j] * b[j];
        b[c] /= A[c][c];
    }
}

#define CALLBACK(name) static int name(const dae_mechanical_point *at, double *out, void *user)

/* ---- slider crank: q = (crank, rod, slider), M depends on q ---- */

#define CRANK 0.5
#define ROD 1.3
#define CRANK_INERTIA 0.2
#define ROD_MASS 0.7
#define ROD_INERTIA 0.11
#define SLIDER_MASS 0.9
#define GRAVITY 9.81

CALLBACK(slider_mass)
{
    (void)user;
    const double *q = at->q;
    out[0] = CRANK_INERTIA + ROD_MASS * CRANK * CRANK;
    out[1] = out[3] = ROD_MASS * CRANK * ROD / 2 * cos(q[0] - q[1]);
    out[4] = ROD_INERTIA + ROD_MASS * ROD * ROD / 4;
    out[8] = SLIDER_MASS;
    return 0;
}

CALLBACK(slider_force)
{
    (void)user;
    const double *q = at->q, *v = at->v, c = ROD_MASS * CRANK * ROD / 2 * sin(q[0] - q[1]);
    out[0] = -c * v[1] * v[1] - ROD_MASS * GRAVITY * CRANK * cos(q[0]) + 1.5 * sin(2 * at->t) -
             0.1 * v[0];
    out[1] = c * v[0] * v[0] - ROD_MASS * GRAVITY * ROD / 2 * cos(q[1]);
    out[2] = -0.3 * v[2];
    return 0;
}

CALLBACK(slider_constraint)
{
    (void)user;
    out[0] = CRANK * sin(at->q[0]) + ROD * sin(at->q[1]);
    out[1] = at->q[2] - CRANK * cos(at->q[0]) - ROD * cos(at->q[1]);
    return 0;
}

static void slider_solve(real t, real *y, real *slope)
{
    const real *q = y, *v = y + 3;
    real s0 = CRANK * sinl(q[0]), c0 = CRANK * cosl(q[0]), s1 = ROD * sinl(q[1]);
    real c1 = ROD * cosl(q[1]), m01 = ROD_MASS * CRANK * (ROD / 2) * cosl(q[0] - q[1]);
    real c = ROD_MASS * CRANK * (ROD / 2) * sinl(q[0] - q[1]);
    real A[5][MOST_ROWS] = {{CRANK_INERTIA + ROD_MASS * CRANK * CRANK, m01, 0, c0, s0},
                            {m01, ROD_INERTIA + ROD_MASS * ROD * ROD / 4, 0, c1, s1},
                            {0, 0, SLIDER_MASS, 0, 1},
                            {c0, c1, 0, 0, 0},
                            {s0, s1, 1, 0, 0}};
    real b[5] = {-c * v[1] * v[1] - ROD_MASS * GRAVITY * c0 + 1.5L * sinl(2 * t) - 0.1L * v[0],
                 c * v[0] * v[0] - ROD_MASS * GRAVITY * c1 / 2, -0.3L * v[2],
                 s0 * v[0] * v[0] + s1 * v[1] * v[1], -c0 * v[0] * v[0] - c1 * v[1] * v[1]};
    solve_rows(5, A, b);
    for (int i = 0; i < 3; i++) slope[i] = v[i], slope[3 + i] = b[i];
    for (int i = 0; i < 2; i++) y[6 + i] = b[3 + i];
}

/* ---- bead on a hoop of radius 1 that is shaken: x = 0.3 sin 3t ---- */

CALLBACK(fall_force)
{
    (void)at, (void)user;
    out[0] = 0.0;
    out[1] = -GRAVITY;
    return 0;
}

CALLBACK(hoop_constraint)
{
    (void)user;
    double x = at->q[0] - 0.3 * sin(3 * at->t), y = at->q[1];
    out[0] = 0.5 * (x * x + y * y - 1);
    return 0;
}

static void hoop_solve(real t, real *y, real *slope)
{
    const real *q = y, *v = y + 2;
    real x = q[0] - 0.3L * sinl(3 * t), u = v[0] - 0.9L * cosl(3 * t), a = 2.7L * sinl(3 * t);
    real square = x * x + q[1] * q[1];
    real lambda = (-GRAVITY * q[1] + u * u + v[1] * v[1] + x * a) / square;
    slope[0] = v[0];
    slope[1] = v[1];
    slope[2] = -x * lambda;
    slope[3] = -GRAVITY - q[1] * lambda;
    y[4] = lambda;
}

/* ---- knife edge on an inclined plane, nonholonomic [Wun05 (1.14)] ---- */

CALLBACK(knife_force)
{
    (void)at, (void)user;
    out[0] = GRAVITY / 2;
    out[1] = out[2] = 0.0;
    return 0;
}

CALLBACK(knife_edge)
{
    (void)user;
    out[0] = at->v[0] * sin(at->q[2]) - at->v[1] * cos(at->q[2]);
    return 0;
}

static void knife_solve(real t, real *y, real *slope)
{
    (void)t;
    const real *v = y + 3;
    real s = sinl(y[2]), c = cosl(y[2]);
    real lambda = GRAVITY / 2 * s + v[2] * (v[0] * c + v[1] * s);
    for (int i = 0; i < 3; i++) slope[i] = v[i];
    slope[3] = GRAVITY / 2 - s * lambda;
    slope[4] = c * lambda;
    slope[5] = 0;
    y[6] = lambda;
}

/* ---- ring on a circle with friction by the normal force, sqrt(lambda^2 + 1) ---- */

CALLBACK(ring_force)
{
    (void)user;
    const double *v = at->v, normal = sqrt(at->lambda[0] * at->lambda[0] + 1.0);
    double drag = 0.2 * normal / sqrt(v[0] * v[0] + v[1] * v[1] + 0.25);
    out[0] = -drag * v[0];
    out[1] = -GRAVITY - drag * v[1];
    return 0;
}

CALLBACK(circle_constraint)
{
    (void)user;
    out[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1);
    return 0;
}

/* Friction is along v, which q'v = 0 makes vanish in the equation of lambda. */
static void ring_solve(real t, real *y, real *slope)
{
    (void)t;
    const real *q = y, *v = y + 2;
    real square = q[0] * q[0] + q[1] * q[1], speed = v[0] * v[0] + v[1] * v[1];
    real lambda = (-GRAVITY * q[1] + speed) / square;
    real drag = 0.2L * sqrtl(lambda * lambda + 1) / sqrtl(speed + 0.25L);
    slope[0] = v[0];
    slope[1] = v[1];
    slope[2] = -drag * v[0] - q[0] * lambda;
    slope[3] = -GRAVITY - drag * v[1] - q[1] * lambda;
    y[4] = lambda;
}

/* ---- everything: a bead on the curve x = s + s^3/3, y = s^2, pushed by an actuator r, with an
 * auxiliary variable w that depends on lambda ---- */

CALLBACK(bead_force)
{
    (void)user;
    out[0] = at->r[0];
    out[1] = -GRAVITY - 0.1 * at->w[0];
    return 0;
}

CALLBACK(bead_dynamics)
{
    (void)user;
    out[0] = at->w[0] - 2 * at->r[0];
    return 0;
}

CALLBACK(bead_auxiliary)
{
    (void)user;
    const double *v = at->v;
    out[0] = at->w[0] - v[0] * v[0] - v[1] * v[1] + at->r[0] - sin(at->t) - 0.1 * at->lambda[0];
    return 0;
}

CALLBACK(bead_contact)
{
    (void)user;
    double s = at->s[0];
    out[0] = at->q[0] - s - s * s * s / 3;
    return 0;
}

CALLBACK(bead_constraint)
{
    (void)user;
    out[0] = at->q[1] - at->s[0] * at->s[0];
    return 0;
}

static real bead_place(real x)
{
    real s = x, step = 1;
    for (int k = 0; k < 60 && fabsl(step) > 1e-19L; k++) {
        step = (s + s * s * s / 3 - x) / (1 + s * s);
        s -= step;
    }
    return s;
}

static void bead_solve(real t, real *y, real *slope)
{
    const real *v = y + 2, r = y[4], s = bead_place(y[0]), s1 = 1 / (1 + s * s);
    const real s2 = -2 * s * s1 * s1 * s1, G = -2 * s * s1;
    real A[4][MOST_ROWS] = {{1, 0, G, 0}, {0, 1, 1, 0.1L}, {G, 1, 0, 0}, {0, 0, -0.1L, 1}};
    real b[4] = {r, -GRAVITY, 2 * (s1 * s1 + s * s2) * v[0] * v[0],
                 v[0] * v[0] + v[1] * v[1] - r + sinl(t)};
    solve_rows(4, A, b);
    slope[0] = v[0];
    slope[1] = v[1];
    slope[2] = b[0];
    slope[3] = b[1];
    slope[4] = b[3] - 2 * r;
    y[5] = b[3];
    y[6] = s;
    y[7] = b[2];
}

static const motion motions[] = {
    {"slider crank",
     {.nq = 3,
      .nlambda = 2,
      .mass = slider_mass,
      .force = slider_force,
      .constraint = slider_constraint,
      .scleronomic = true},
     2.0,
     {0},
     slider_solve},
    {"shaken hoop",
     {.nq = 2, .nlambda = 1, .force = fall_force, .constraint = hoop_constraint},
     3.0,
     {1, 0, 0.9L, 0},
     hoop_solve},
    {"knife edge",
     {.nq = 3, .nvelocity = 1, .force = knife_force, .velocity_constraint = knife_edge},
     3.0,
     {0, 0, 0, 0, 0, 2},
     knife_solve},
    {"ring with friction",
     {.nq = 2,
      .nlambda = 1,
      .force = ring_force,
      .constraint = circle_constraint,
      .scleronomic = true,
      .friction = true},
     3.0,
     {1, 0, 0, 0},
     ring_solve},
    {"bead with all parts",
     {.nq = 2,
      .nlambda = 1,
      .nr = 1,
      .nw = 1,
      .ns = 1,
      .force = bead_force,
      .constraint = bead_constraint,
      .dynamics = bead_dynamics,
      .auxiliary = bead_auxiliary,
      .contact = bead_contact,
      .friction = true},
     2.0,
     {0},
     bead_solve},
};
enum { MOTIONS = sizeof motions / sizeof motions[0] };

static int motion_size(const motion *m)
{
    const dae_mechanical *f = &m->form;
    return 2 * f->nq + f->nr + f->nw + f->ns + f->nlambda + f->nvelocity;
}

static void motion_start(const motion *m, real *y)
{
    memcpy(y, m->start, sizeof m->start);
    if (m->solve == slider_solve) {
        y[0] = 0.8L;
        y[1] = -asinl(CRANK * sinl(y[0]) / ROD);
        y[2] = CRANK * cosl(y[0]) + ROD * cosl(y[1]);
    }
    if (m->solve == bead_solve) {
        y[0] = 1;
        y[1] = bead_place(1) * bead_place(1);
        y[4] = 0.2L;
    }
    real slope[MOST_UNKNOWNS];
    m->solve(0, y, slope);
}

/* y from t to `to` by the classical method of order 4, with steps of which 2000 make a unit of time
 */
static void motion_follow(const motion *m, real t, real to, real *y)
{
    const int n = 2 * m->form.nq + m->form.nr;
    const int steps = (int)ceill(fabsl(to - t) * 2000) + 1;
    const real h = (to - t) / steps;
    real k[4][MOST_UNKNOWNS], z[MOST_UNKNOWNS], part[3] = {0.5L, 0.5L, 1};
    for (int s = 0; s < steps; s++) {
        m->solve(t + s * h, y, k[0]);
        for (int stage = 0; stage < 3; stage++) {
            for (int i = 0; i < n; i++) z[i] = y[i] + part[stage] * h * k[stage][i];
            m->solve(t + (s + part[stage]) * h, z, k[stage + 1]);
        }
        for (int i = 0; i < n; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    m->solve(to, y, k[0]);
}

#endif
