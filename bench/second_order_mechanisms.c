/* The planar truck of models/truck.mo in C, and pendulums beside each other, coupled by springs. */
#include "second_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* --------------------------------------------------------------------------------------- truck */

/* A place on a body: height q[body] + arm sin q[angle]; body < 0: on the road, angle < 0: rigid */
typedef struct place {
    int body, angle;
    double arm;
} place;

/* A spring with a damper from `low` to `up`; gas > 0: load ((1 + s/gas)^-1.3 - 1) on the upper end
 */
typedef struct element {
    place low, up;
    double stiffness, damping, gas, delay;
} element;

enum { TRUCK_Q = 11, ELEMENTS = 10 };
static const double truck_mass[TRUCK_Q] = {1400, 700, 1900, 9500, 850,  120,
                                           900,  600, 100,  9000, 26000};
static const element elements[ELEMENTS] = {{{-1, -1, 0}, {0, -1, 0}, 4.4e6, 600, 0, 4.5 / 15},
                                           {{-1, -1, 0}, {1, -1, 0}, 1.8e6, 600, 0, 0},
                                           {{0, -1, 0}, {2, 3, -2.6}, 9e4, 2.6e4, 0.4, 0},
                                           {{1, -1, 0}, {2, 3, 1.9}, 3.5e4, 1.8e4, 0.35, 0},
                                           {{2, 3, 1.2}, {4, 5, 1.2 - 1.7}, 1.1e6, 8e3, 0, 0},
                                           {{2, 3, 2.2}, {4, 5, 2.2 - 1.7}, 1.1e6, 8e3, 0, 0},
                                           {{2, 3, 1.1}, {6, 7, 1.1 - 2}, 9e4, 6e3, 0, 0},
                                           {{2, 3, 2.9}, {6, 7, 2.9 - 2}, 9e4, 6e3, 0, 0},
                                           {{6, 7, 0.1}, {8, -1, 0}, 9e3, 700, 0, 0},
                                           {{2, 3, 0.6}, {9, 10, 0.6 + 1.3}, 4e6, 4e4, 0, 0}};
/* The hinge: the height of one place on the loading area is that of one on the chassis */
static const place hinge_up = {9, 10, -3.4 + 1.3}, hinge_low = {2, 3, -3.4};

/* s += sign times the height of a place, and its first and second derivatives, the second ones
 * diagonal */
static void add_place(const place *p, double sign, const double *q, double *s, double *slope,
                      double *bend)
{
    if (p->body < 0) return;
    *s += sign * q[p->body];
    slope[p->body] += sign;
    if (p->angle < 0) return;
    *s += sign * p->arm * sin(q[p->angle]);
    slope[p->angle] += sign * p->arm * cos(q[p->angle]);
    bend[p->angle] -= sign * p->arm * sin(q[p->angle]);
}

static double dot(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < TRUCK_Q; i++) sum += a[i] * b[i];
    return sum;
}

/* The pull of an element against its stretch s, and the derivative by s */
static double pull(const element *e, double s, double *slope)
{
    if (e->gas <= 0.0) return *slope = e->stiffness, e->stiffness * s;
    double rest = 1.0 + s / e->gas, power = pow(rest, -1.3);
    *slope = 1.3 * e->stiffness * power / rest / e->gas;
    return -e->stiffness * (power - 1.0);
}

/* The height of the road, which tyres stand on */
static double road(const element *e, double t)
{
    if (e->low.body >= 0) return 0.0;
    double x = (t - e->delay - 1.0) / 0.15;
    return 0.08 * exp(-x * x);
}

/* Everything of one element: stretch, its derivatives, and the pull with its damper */
typedef struct stretch {
    double slope[TRUCK_Q], bend[TRUCK_Q], force, stiffness;
} stretch;

static stretch stretch_of(const element *e, double t, const double *q, const double *v)
{
    stretch out = {.force = 0.0};
    double s = -road(e, t);
    add_place(&e->up, 1.0, q, &s, out.slope, out.bend);
    add_place(&e->low, -1.0, q, &s, out.slope, out.bend);
    out.force = pull(e, s, &out.stiffness) + e->damping * dot(out.slope, v);
    return out;
}

static void truck_force(double t, const double *q, const double *v, double *f)
{
    memset(f, 0, TRUCK_Q * sizeof *f);
    for (int k = 0; k < ELEMENTS; k++) {
        stretch s = stretch_of(&elements[k], t, q, v);
        for (int i = 0; i < TRUCK_Q; i++) f[i] -= s.force * s.slope[i];
    }
}

static double hinge(const double *q, double *slope, double *bend)
{
    double g = 0.0;
    add_place(&hinge_up, 1.0, q, &g, slope, bend);
    add_place(&hinge_low, -1.0, q, &g, slope, bend);
    return g;
}

static void truck_values(const mechanism *m, double t, const double *q, const double *v,
                         const mechanism_values *out)
{
    (void)m;
    double slope[TRUCK_Q] = {0}, bend[TRUCK_Q] = {0};
    if (out->mass)
        for (int i = 0; i < TRUCK_Q; i++) out->mass[out->ld ? i + i * out->ld : i] = truck_mass[i];
    if (out->force) truck_force(t, q, v, out->force);
    if (out->rate) out->rate[0] = 0.0;
    if (!out->gradient && !out->curvature) return;
    hinge(q, slope, bend);
    if (out->gradient) memcpy(out->gradient, slope, sizeof slope);
    if (!out->curvature) return;
    out->curvature[0] = 0.0;
    for (int i = 0; i < TRUCK_Q; i++) out->curvature[0] += bend[i] * v[i] * v[i];
}

static void truck_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m, (void)t;
    double slope[TRUCK_Q] = {0}, bend[TRUCK_Q] = {0};
    g[0] = hinge(q, slope, bend);
}

static void truck_residual(const mechanism *m, double t, const double *q, const double *v,
                           const double *a, const double *l, double *r)
{
    (void)m;
    double slope[TRUCK_Q] = {0}, bend[TRUCK_Q] = {0};
    hinge(q, slope, bend);
    truck_force(t, q, v, r);
    r[TRUCK_Q] = dot(slope, a);
    for (int i = 0; i < TRUCK_Q; i++) {
        r[i] = truck_mass[i] * a[i] - r[i] + slope[i] * l[0];
        r[TRUCK_Q] += bend[i] * v[i] * v[i];
    }
}

/* Derivatives of -f by q and v, added */
static void truck_element_jacobian(const element *e, double t, const double *q, const double *v,
                                   double *jq, double *jv, int ld)
{
    stretch s = stretch_of(e, t, q, v);
    for (int k = 0; k < TRUCK_Q; k++) {
        double by_q = s.stiffness * s.slope[k] + e->damping * s.bend[k] * v[k];
        double by_v = e->damping * s.slope[k];
        if (s.slope[k] == 0.0) continue;
        for (int i = 0; i < TRUCK_Q; i++) {
            jq[i + k * ld] += by_q * s.slope[i];
            jv[i + k * ld] += by_v * s.slope[i];
        }
        jq[k + k * ld] += s.force * s.bend[k];
    }
}

static void truck_jacobian(const mechanism *m, double t, const double *q, const double *v,
                           const double *a, const double *l, double *j, int ld)
{
    (void)m;
    double slope[TRUCK_Q] = {0}, bend[TRUCK_Q] = {0};
    hinge(q, slope, bend);
    for (int k = 0; k < ELEMENTS; k++)
        truck_element_jacobian(&elements[k], t, q, v, j, j + TRUCK_Q * ld, ld);
    for (int k = 0; k < TRUCK_Q; k++) {
        const int at_v = (TRUCK_Q + k) * ld, at_a = (2 * TRUCK_Q + k) * ld;
        j[k + k * ld] += bend[k] * l[0];
        j[k + at_a] = truck_mass[k];
        j[k + 3 * TRUCK_Q * ld] = j[TRUCK_Q + at_a] = slope[k];
        j[TRUCK_Q + at_v] = 2.0 * bend[k] * v[k];
        /* the third derivative of a sine is minus its first */
        double third = k == hinge_up.angle || k == hinge_low.angle ? -slope[k] : 0.0;
        j[TRUCK_Q + k * ld] = bend[k] * a[k] + third * v[k] * v[k];
    }
}

static const char *truck_variable(int i, char *text)
{
    snprintf(text, 16, "p%d", i + 1);
    return text;
}

mechanism *truck_new(void)
{
    mechanism *m = space(1, sizeof *m);
    *m = (mechanism){.name = "truck",
                     .model = "models/truck.mo",
                     .nq = TRUCK_Q,
                     .nl = 1,
                     .tend = 2.0,
                     .values = truck_values,
                     .constraint = truck_constraint,
                     .mass_diagonal = true,
                     .variable = truck_variable,
                     .residual = truck_residual,
                     .jacobian = truck_jacobian};
    m->q0 = space(4 * TRUCK_Q + 1, 8); /* at rest, before the bump */
    m->v0 = m->q0 + TRUCK_Q, m->a0 = m->v0 + TRUCK_Q, m->reference = m->a0 + TRUCK_Q;
    m->l0 = m->reference + TRUCK_Q;
    return m;
}

/* ----------------------------------------------------------------------------------- pendulums */

/* Points of mass 1 on rods of length 1 beside each other, (x, y) from their own pivots, neighbours
 * coupled by springs and dampers that are relaxed where both hang in parallel: x_i'' = k (x_{i+1} -
 * 2 x_i + x_{i-1}) + d (..)' - lambda_i x_i. Eigenvalues down to -4 d = -4000. */
static const double SPRING = 1e4, DAMPER = 1e3, WEIGHT = 9.81;

/* The coupling of component c (0: x, 1: y) of point i; z has `stride` values a point */
static double coupling(const double *z, int count, int i, int stride)
{
    const double *at = z + (size_t)i * (size_t)stride;
    double sum = 0.0;
    if (i > 0) sum += at[-stride] - at[0];
    if (i + 1 < count) sum += at[stride] - at[0];
    return sum;
}

static void pendulums_force(int count, const double *q, const double *v, double *f)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 2; c++)
            f[2 * i + c] = SPRING * coupling(q + c, count, i, 2) +
                           DAMPER * coupling(v + c, count, i, 2) - (c ? WEIGHT : 0.0);
}

static void pendulums_values(const mechanism *m, double t, const double *q, const double *v,
                             const mechanism_values *out)
{
    (void)t;
    if (out->mass)
        for (int i = 0; i < m->nq; i++) out->mass[i] = 1.0;
    if (out->force) pendulums_force(m->nl, q, v, out->force);
    if (out->gradient) memcpy(out->gradient, q, (size_t)m->nq * sizeof *q);
    if (out->rate) memset(out->rate, 0, (size_t)m->nl * sizeof *q);
    if (!out->curvature) return;
    for (int i = 0; i < m->nl; i++)
        out->curvature[i] = v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1];
}

static void pendulums_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)t;
    for (int i = 0; i < m->nl; i++)
        g[i] = 0.5 * (q[2 * i] * q[2 * i] + q[2 * i + 1] * q[2 * i + 1] - 1.0);
}

static const char *pendulums_variable(int i, char *text)
{
    snprintf(text, 16, "%s[%d]", i % 2 ? "y" : "x", i / 2 + 1);
    return text;
}

/* F with the constraints of the view */
int pendulums_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const stage s = ((const view *)user)->stage;
    const int block = s == GGL ? 6 : 5, count = ((const view *)user)->m->nl;
    for (int i = 0; i < count; i++, y += block, yp += block, f += block) {
        double mu = s == GGL ? y[5] : 0.0, l = y[4];
        const double *z = y - (ptrdiff_t)i * block;
        for (int c = 0; c < 2; c++) {
            f[c] = yp[c] - y[2 + c] + y[c] * mu;
            f[2 + c] = yp[2 + c] - SPRING * coupling(z + c, count, i, block) -
                       DAMPER * coupling(z + 2 + c, count, i, block) + (c ? WEIGHT : 0.0) +
                       y[c] * l;
        }
        double position = 0.5 * (y[0] * y[0] + y[1] * y[1] - 1.0);
        double velocity = y[0] * y[2] + y[1] * y[3];
        f[4] = s == INDEX2 ? velocity : position;
        if (s == GGL) f[5] = velocity;
    }
    return 0;
}

static void put_coupling(int count, int i, int block, int c, put_fn *put, void *to)
{
    const int row = block * i + 2 + c, own = block * i + c;
    const int sides = (i > 0) + (i + 1 < count);
    for (int side = -1; side <= 1; side += 2) {
        if (i + side < 0 || i + side >= count) continue;
        put(to, row, own + side * block, -SPRING, 0.0);
        put(to, row, own + side * block + 2, -DAMPER, 0.0);
    }
    put(to, row, own + 2, sides * DAMPER, 1.0);
}

void pendulums_jacobian(int count, stage s, const double *y, put_fn *put, void *to)
{
    const int block = s == GGL ? 6 : 5;
    for (int i = 0; i < count; i++, y += block) {
        const int at = block * i, sides = (i > 0) + (i + 1 < count);
        for (int c = 0; c < 2; c++) {
            put(to, at + c, at + c, s == GGL ? y[5] : 0.0, 1.0);
            put(to, at + c, at + 2 + c, -1.0, 0.0);
            put_coupling(count, i, block, c, put, to);
            put(to, at + 2 + c, at + c, sides * SPRING + y[4], 0.0);
            put(to, at + 2 + c, at + 4, y[c], 0.0);
            put(to, at + 4, at + c, s == INDEX2 ? y[2 + c] : y[c], 0.0);
            if (s == INDEX2) put(to, at + 4, at + 2 + c, y[c], 0.0);
            if (s != GGL) continue;
            put(to, at + c, at + 5, y[c], 0.0);
            put(to, at + 5, at + c, y[2 + c], 0.0);
            put(to, at + 5, at + 2 + c, y[c], 0.0);
        }
    }
}

/* At rest, the angles from the vertical a smooth wave; lambda = q f / |q|^2 */
static void pendulums_start(mechanism *m)
{
    const double wave = 8.0 * atan(1.0) / m->nl;
    for (int i = 0; i < m->nl; i++) {
        double angle = 0.5 + 0.3 * sin(wave * (i + 1));
        m->q0[2 * i] = sin(angle), m->q0[2 * i + 1] = -cos(angle);
    }
    pendulums_force(m->nl, m->q0, m->v0, m->a0);
    for (int i = 0; i < m->nl; i++) {
        const double *q = m->q0 + 2 * i;
        double *a = m->a0 + 2 * i;
        m->l0[i] = q[0] * a[0] + q[1] * a[1];
        a[0] -= q[0] * m->l0[i], a[1] -= q[1] * m->l0[i];
    }
}

mechanism *pendulums_new(int count)
{
    mechanism *m = space(1, sizeof *m);
    *m = (mechanism){.name = "pendulums",
                     .model = "bench/second_order_chain.mo",
                     .nq = 2 * count,
                     .nl = count,
                     .links = count,
                     .tend = 2.0,
                     .values = pendulums_values,
                     .constraint = pendulums_constraint,
                     .mass_diagonal = true,
                     .variable = pendulums_variable};
    int *columns = space((size_t)m->nq + 1, sizeof *columns);
    int *rows = space((size_t)m->nq, sizeof *rows);
    for (int i = 0; i < m->nq; i++) columns[i + 1] = i + 1, rows[i] = i / 2;
    m->gradient_pattern = (dae_pattern){columns, rows};
    const size_t nq = (size_t)m->nq;
    m->q0 = space(4 * nq + (size_t)count, 8);
    m->v0 = m->q0 + nq, m->a0 = m->v0 + nq, m->reference = m->a0 + nq, m->l0 = m->reference + nq;
    pendulums_start(m);
    return m;
}
