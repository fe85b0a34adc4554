#include "half_explicit.h"

#include "andrews_hand.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double square(double x)
{
    return x * x;
}

static void diagonal_mass(const mechanism_values *out, int n, double mass)
{
    for (int i = 0; i < n; i++) out->mass[out->ld ? i + i * out->ld : i] = mass;
}

/* ------------------------------------------------------------------------------------ pendulum */

static void pendulum_values(const mechanism *m, double t, const double *q, const double *v,
                            const mechanism_values *out)
{
    (void)m, (void)t;
    if (out->mass) diagonal_mass(out, 2, 1.0);
    if (out->force) out->force[0] = 0.0, out->force[1] = -1.0;
    if (out->gradient) out->gradient[0] = q[0], out->gradient[1] = q[1];
    if (out->rate) out->rate[0] = 0.0;
    if (out->curvature) out->curvature[0] = v[0] * v[0] + v[1] * v[1];
}

static void pendulum_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m, (void)t;
    g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
}

static void pendulum_residual(const mechanism *m, double t, const double *q, const double *v,
                              const double *a, const double *l, double *r)
{
    (void)m, (void)t;
    r[0] = a[0] + q[0] * l[0];
    r[1] = a[1] + q[1] * l[0] + 1.0;
    r[2] = q[0] * a[0] + q[1] * a[1] + v[0] * v[0] + v[1] * v[1];
}

static void pendulum_jacobian(const mechanism *m, double t, const double *q, const double *v,
                              const double *a, const double *l, double *j, int ld)
{
    (void)m, (void)t;
    j[0] = j[1 + ld] = l[0];
    for (int i = 0; i < 2; i++) {
        j[2 + i * ld] = a[i];
        j[2 + (2 + i) * ld] = 2.0 * v[i];
        j[i + (4 + i) * ld] = 1.0;
        j[2 + (4 + i) * ld] = q[i];
        j[i + 6 * ld] = q[i];
    }
}

static const char *pendulum_variable(int i, char *space)
{
    (void)space;
    return i ? "y" : "x";
}

static void pendulum_fill(mechanism *m)
{
    static const double end[] = {-8.115864461913038e-1, -5.842323513453959e-1};
    m->q0[0] = 1.0;
    m->a0[1] = -1.0;
    memcpy(m->reference, end, sizeof end);
}

/* ---------------------------------------------------------------------------- four-bar linkage */

/* Two point masses between (0,0) and (3,0) on rods of length 1, 2.5 and 2 */
static void linkage_rods(const double *q, double rods[3][4])
{
    double dx = q[2] - q[0], dy = q[3] - q[1];
    const double rows[3][4] = {
        {q[0], q[1], 0.0, 0.0}, {-dx, -dy, dx, dy}, {0.0, 0.0, q[2] - 3.0, q[3]}};
    memcpy(rods, rows, sizeof rows);
}

static void linkage_curvature(const double *v, double *c)
{
    c[0] = square(v[0]) + square(v[1]);
    c[1] = square(v[2] - v[0]) + square(v[3] - v[1]);
    c[2] = square(v[2]) + square(v[3]);
}

static void linkage_values(const mechanism *m, double t, const double *q, const double *v,
                           const mechanism_values *out)
{
    double rods[3][4];
    (void)m, (void)t;
    linkage_rods(q, rods);
    if (out->mass) diagonal_mass(out, 4, 1.0);
    for (int i = 0; out->force && i < 4; i++) out->force[i] = i % 2 ? -1.0 : 0.0;
    for (int k = 0; out->gradient && k < 12; k++) out->gradient[k] = rods[k % 3][k / 3];
    for (int i = 0; out->rate && i < 3; i++) out->rate[i] = 0.0;
    if (out->curvature) linkage_curvature(v, out->curvature);
}

static void linkage_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m, (void)t;
    g[0] = 0.5 * (square(q[0]) + square(q[1]) - 1.0);
    g[1] = 0.5 * (square(q[2] - q[0]) + square(q[3] - q[1]) - 6.25);
    g[2] = 0.5 * (square(q[2] - 3.0) + square(q[3]) - 4.0);
}

static void linkage_residual(const mechanism *m, double t, const double *q, const double *v,
                             const double *a, const double *l, double *r)
{
    double rods[3][4];
    (void)m, (void)t;
    linkage_rods(q, rods);
    linkage_curvature(v, r + 4);
    for (int j = 0; j < 4; j++) {
        r[j] = a[j] + (j % 2 ? 1.0 : 0.0);
        for (int i = 0; i < 3; i++) r[j] += rods[i][j] * l[i], r[4 + i] += rods[i][j] * a[j];
    }
}

/* The gradient is linear in q with constant second derivatives: rod 1 at the first mass, rod 2
 * between both, rod 3 at the second one */
static void linkage_jacobian(const mechanism *m, double t, const double *q, const double *v,
                             const double *a, const double *l, double *j, int ld)
{
    double rods[3][4], by_a[3][4], by_v[3][4];
    (void)m, (void)t;
    linkage_rods(q, rods);
    linkage_rods(a, by_a), linkage_rods(v, by_v);
    by_a[2][2] = a[2], by_v[2][2] = v[2]; /* the fixed end does not move */
    for (int k = 0; k < 4; k++) {
        int other = (k + 2) % 4;
        j[k + k * ld] = l[1] + (k < 2 ? l[0] : l[2]);
        j[k + other * ld] = -l[1];
        j[k + (8 + k) * ld] = 1.0;
        for (int i = 0; i < 3; i++) {
            j[4 + i + k * ld] = by_a[i][k];
            j[4 + i + (4 + k) * ld] = 2.0 * by_v[i][k];
            j[4 + i + (8 + k) * ld] = rods[i][k];
            j[k + (12 + i) * ld] = rods[i][k];
        }
    }
}

/* The first rod at right angles to the base, at rest: the others follow */
static void linkage_fill(mechanism *m)
{
    double d = sqrt(10.0), along = (6.25 - 4.0 + 10.0) / (2.0 * d);
    double up = sqrt(6.25 - along * along), cx = 3.0 / d, cy = -1.0 / d;
    m->q0[1] = 1.0;
    m->q0[2] = along * cx - up * cy;
    m->q0[3] = 1.0 + along * cy + up * cx;
}

static const char *linkage_variable(int i, char *space)
{
    static const char *const names[] = {"x1", "y1", "x2", "y2"};
    (void)space;
    return names[i];
}

/* ------------------------------------------------------------------------------------ car axis */

typedef struct wheel {
    double x, y, dx, dy, ddx, ddy; /* the right wheel and its derivatives */
} wheel;

enum { CAR_FREQUENCY = 10 };
static const double car_mass = 10.0 * 1e-4 / 2.0, car_bump = 0.1, car_spring = 0.5;

static wheel wheel_at(double t)
{
    double w = CAR_FREQUENCY, s = car_bump * sin(w * t);
    wheel b = {.y = s, .dy = car_bump * w * cos(w * t), .ddy = -w * w * s, .x = sqrt(1.0 - s * s)};
    b.dx = -b.y * b.dy / b.x;
    b.ddx = -(b.dy * b.dy + b.y * b.ddy + b.dx * b.dx) / b.x;
    return b;
}

/* Force of a relaxed length 1/2 and stiffness 1 on (x,y), seen from the other end */
static void spring_force(double x, double y, double *f)
{
    double pull = car_spring / sqrt(x * x + y * y) - 1.0;
    f[0] = pull * x;
    f[1] = pull * y - car_mass;
}

static void car_values(const mechanism *m, double t, const double *q, const double *v,
                       const mechanism_values *out)
{
    (void)m;
    wheel b = wheel_at(t);
    if (out->mass) diagonal_mass(out, 4, car_mass);
    if (out->force) {
        spring_force(q[0], q[1], out->force);
        spring_force(q[2] - b.x, q[3] - b.y, out->force + 2);
    }
    if (out->gradient) {
        double *g = out->gradient;
        g[0] = b.x, g[2] = b.y;
        g[5] = -(g[1] = 2.0 * (q[0] - q[2]));
        g[7] = -(g[3] = 2.0 * (q[1] - q[3]));
    }
    if (out->rate) out->rate[0] = b.dx * q[0] + b.dy * q[1], out->rate[1] = 0.0;
    if (!out->curvature) return;
    out->curvature[0] = 2.0 * (b.dx * v[0] + b.dy * v[1]) + b.ddx * q[0] + b.ddy * q[1];
    out->curvature[1] = 2.0 * (square(v[0] - v[2]) + square(v[1] - v[3]));
}

static void car_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m;
    wheel b = wheel_at(t);
    g[0] = b.x * q[0] + b.y * q[1];
    g[1] = square(q[0] - q[2]) + square(q[1] - q[3]) - 1.0;
}

static void car_residual(const mechanism *m, double t, const double *q, const double *v,
                         const double *a, const double *l, double *r)
{
    (void)m;
    wheel b = wheel_at(t);
    double x = 2.0 * (q[0] - q[2]), y = 2.0 * (q[1] - q[3]), f[4];
    spring_force(q[0], q[1], f);
    spring_force(q[2] - b.x, q[3] - b.y, f + 2);
    for (int i = 0; i < 4; i++) r[i] = car_mass * a[i] - f[i];
    r[0] += b.x * l[0] + x * l[1], r[1] += b.y * l[0] + y * l[1];
    r[2] -= x * l[1], r[3] -= y * l[1];
    r[4] =
        b.x * a[0] + b.y * a[1] + 2.0 * (b.dx * v[0] + b.dy * v[1]) + b.ddx * q[0] + b.ddy * q[1];
    r[5] =
        x * (a[0] - a[2]) + y * (a[1] - a[3]) + 2.0 * (square(v[0] - v[2]) + square(v[1] - v[3]));
}

/* -dF/d(x,y) of a spring into the rows and columns at j */
static void spring_slope(double x, double y, double *j, int ld)
{
    double length = sqrt(x * x + y * y), pull = car_spring / length - 1.0;
    double turn = car_spring / (length * length * length);
    j[0] += turn * x * x - pull, j[1] += turn * x * y;
    j[ld] += turn * x * y, j[1 + ld] += turn * y * y - pull;
}

static void car_jacobian(const mechanism *m, double t, const double *q, const double *v,
                         const double *a, const double *l, double *j, int ld)
{
    (void)m;
    wheel b = wheel_at(t);
    for (int i = 0; i < 4; i++) {
        int other = (i + 2) % 4;
        double d = 2.0 * (q[i] - q[other]);
        j[i + i * ld] = 2.0 * l[1], j[i + other * ld] = -2.0 * l[1];
        j[5 + i * ld] = 2.0 * (a[i] - a[other]);
        j[5 + (4 + i) * ld] = 4.0 * (v[i] - v[other]);
        j[i + (8 + i) * ld] = car_mass;
        j[5 + (8 + i) * ld] = j[i + 13 * ld] = d;
    }
    spring_slope(q[0], q[1], j, ld);
    spring_slope(q[2] - b.x, q[3] - b.y, j + 2 + 2 * ld, ld);
    j[4] = b.ddx, j[4 + ld] = b.ddy;
    j[4 + 4 * ld] = 2.0 * b.dx, j[4 + 5 * ld] = 2.0 * b.dy;
    j[4 + 8 * ld] = j[12 * ld] = b.x, j[4 + 9 * ld] = j[1 + 12 * ld] = b.y;
}

static const char *car_variable(int i, char *space)
{
    (void)space;
    static const char *const names[] = {"pl[1]", "pl[2]", "pr[1]", "pr[2]"};
    return names[i];
}

static void car_fill(mechanism *m)
{
    static const double end[] = {4.93455784275240921315e-2, 4.96989460230008106763e-1,
                                 1.04174252488542611519, 3.73911027265365819358e-1};
    memcpy(m->q0, (double[]){0.0, 0.5, 1.0, 0.5}, 4 * sizeof(double));
    m->v0[0] = m->v0[2] = -0.5;
    memcpy(m->reference, end, sizeof end);
}

/* ------------------------------------------------------------------------------------- Andrews */

/* Data of the test set in the order of models/andrews1.mo */
static const double andrews_data[ANDREWS_PARAMETERS] = {
    0.04325,  0.00365,  0.02373,  0.00706,  0.07050,  0.00706,  0.05498,  2.194e-6, 4.410e-7,
    5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5, -0.06934, -0.00227, -0.03635, 0.03273,
    0.014,    0.072,    0.028,    0.0115,   0.02,     0.01421,  0.007,    0.00092,  0.035,
    0.01874,  0.01043,  0.018,    0.02,     0.02308,  0.00916,  0.04,     0.01228,  0.00449,
    0.02,     0.04,     0.01421,  0.033,    4530.0,   0.07785};

static const double A_xa = -0.06934, A_ya = -0.00227, A_xb = -0.03635, A_yb = 0.03273, A_d = 0.028,
                    A_e = 0.02, A_rr = 0.007, A_ss = 0.035, A_sc = 0.018, A_sd = 0.02, A_u = 0.04,
                    A_zf = 0.02, A_zt = 0.04, A_mom = 0.033, A_c0 = 4530.0, A_l0 = 0.07785,
                    A_hx = 0.014 + 0.03635, A_hy = 0.072 - 0.03273;
/* Moments of inertia, those parts that do not depend on angles, and the factors of the others */
static const double A_m22 = 0.00365 * 0.0115 * 0.0115 + 4.410e-7,
                    A_m11 = 0.04325 * 0.00092 * 0.00092 + 0.00365 * 0.007 * 0.007 + 2.194e-6 +
                            0.00365 * 0.0115 * 0.0115 + 4.410e-7,
                    A_m33 = 0.02373 * (0.01874 * 0.01874 + 0.01043 * 0.01043) + 5.255e-6,
                    A_m44 = 0.00706 * 0.00579 * 0.00579 + 5.667e-7,
                    A_m55 = 0.00706 * (0.04 * 0.04 + 0.00579 * 0.00579) +
                            0.07050 * (0.02308 * 0.02308 + 0.00916 * 0.00916) + 5.667e-7 + 1.169e-5,
                    A_m77 = 0.00706 * (0.00579 * 0.00579 + 0.04 * 0.04) +
                            0.05498 * (0.01228 * 0.01228 + 0.00449 * 0.00449) + 5.667e-7 + 1.912e-5,
                    A_k2 = 0.00365 * 0.0115 * 0.007, A_k4 = 0.00706 * 0.04 * 0.00579,
                    A_k6 = 0.00706 * 0.04 * 0.00579;

static void andrews_mass(const double *q, double *mass, int ld)
{
    double k2c = A_k2 * cos(q[1]), k4s = A_k4 * sin(q[3]), k6s = A_k6 * sin(q[5]);
    mass[0] = A_m11 - 2.0 * k2c;
    mass[1] = mass[ld] = A_m22 - k2c;
    mass[1 + ld] = A_m22;
    mass[2 + 2 * ld] = A_m33;
    mass[3 + 3 * ld] = mass[5 + 5 * ld] = A_m44;
    mass[4 + 3 * ld] = mass[3 + 4 * ld] = A_m44 + k4s;
    mass[4 + 4 * ld] = A_m55 + 2.0 * k4s;
    mass[6 + 5 * ld] = mass[5 + 6 * ld] = A_m44 - k6s;
    mass[6 + 6 * ld] = A_m77 - 2.0 * k6s;
}

static double andrews_spring(double gamma)
{
    double s = sin(gamma), c = cos(gamma), x = A_sd * c + A_sc * s, y = A_sd * s - A_sc * c;
    double length = sqrt(square(x - A_hx) + square(y - A_hy));
    return A_c0 * (length - A_l0) / length * (x * A_hy - y * A_hx);
}

static void andrews_force(const double *q, const double *v, double *f)
{
    double s2 = A_k2 * sin(q[1]), c4 = A_k4 * cos(q[3]), c6 = A_k6 * cos(q[5]);
    f[0] = A_mom - s2 * v[1] * (v[1] + 2.0 * v[0]);
    f[1] = s2 * v[0] * v[0];
    f[2] = andrews_spring(q[2]);
    f[3] = c4 * v[4] * v[4];
    f[4] = -c4 * v[3] * (v[3] + 2.0 * v[4]);
    f[5] = -c6 * v[6] * v[6];
    f[6] = c6 * v[5] * (v[5] + 2.0 * v[6]);
}

/* Lengths times sines and cosines of the seven angles that the loops are made of */
typedef struct loops {
    double s1, c1, s12, c12, s3, c3, s45, c45, s5, c5, s67, c67, s7, c7;
} loops;

static loops loops_at(const double *q)
{
    double b = q[0] + q[1], p = q[3] + q[4], o = q[5] + q[6];
    return (loops){A_rr * sin(q[0]), A_rr * cos(q[0]), A_d * sin(b),  A_d * cos(b),
                   A_ss * sin(q[2]), A_ss * cos(q[2]), A_e * sin(p),  A_e * cos(p),
                   A_zt * sin(q[4]), A_zt * cos(q[4]), A_zf * sin(o), A_zf * cos(o),
                   A_u * sin(q[6]),  A_u * cos(q[6])};
}

static void andrews_gradient(const loops *k, double *g)
{
    for (int r = 0; r < 6; r += 2) {
        g[r] = k->s12 - k->s1, g[r + 1] = k->c1 - k->c12;
        g[r + 6] = k->s12, g[r + 7] = -k->c12;
    }
    g[12] = -k->c3, g[13] = -k->s3;
    g[18 + 2] = -k->c45, g[18 + 3] = -k->s45;
    g[24 + 2] = k->s5 - k->c45, g[24 + 3] = -k->s45 - k->c5;
    g[30 + 4] = k->s67, g[30 + 5] = -k->c67;
    g[36 + 4] = k->s67 - k->c7, g[36 + 5] = -k->c67 - k->s7;
}

static void andrews_curvature(const loops *k, const double *v, double *c)
{
    double v12 = square(v[0] + v[1]), v45 = square(v[3] + v[4]), v67 = square(v[5] + v[6]);
    double v1 = square(v[0]), v3 = square(v[2]), v5 = square(v[4]), v7 = square(v[6]);
    double x = k->c12 * v12 - k->c1 * v1, y = k->s12 * v12 - k->s1 * v1;
    c[0] = x + k->s3 * v3, c[1] = y - k->c3 * v3;
    c[2] = x + k->s45 * v45 + k->c5 * v5, c[3] = y - k->c45 * v45 + k->s5 * v5;
    c[4] = x + k->c67 * v67 + k->s7 * v7, c[5] = y + k->s67 * v67 - k->c7 * v7;
}

static void andrews_values(const mechanism *m, double t, const double *q, const double *v,
                           const mechanism_values *out)
{
    (void)m, (void)t;
    if (out->mass) andrews_mass(q, out->mass, out->ld ? out->ld : 7);
    if (out->force) andrews_force(q, v, out->force);
    if (out->rate) memset(out->rate, 0, 6 * sizeof(double));
    if (!out->gradient && !out->curvature) return;
    loops k = loops_at(q);
    if (out->gradient) andrews_gradient(&k, out->gradient);
    if (out->curvature) andrews_curvature(&k, v, out->curvature);
}

static void andrews_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)m, (void)t;
    loops k = loops_at(q);
    double x = k.c1 - k.c12, y = k.s1 - k.s12;
    g[0] = x - k.s3 - A_xb, g[1] = y + k.c3 - A_yb;
    g[2] = x - k.s45 - k.c5 - A_xa, g[3] = y + k.c45 - k.s5 - A_ya;
    g[4] = x - k.c67 - k.s7 - A_xa, g[5] = y - k.s67 + k.c7 - A_ya;
}

/* The residual and its derivatives by the routines that model_pipeline measures */
static void andrews_implicit(const mechanism *m, double t, const double *q, const double *v,
                             const double *a, const double *l, double *r)
{
    (void)m;
    double y[ANDREWS_N], yp[ANDREWS_N], out[ANDREWS_N];
    memcpy(y, q, 7 * sizeof *y), memcpy(y + 7, v, 7 * sizeof *y), memcpy(y + 14, l, 6 * sizeof *y);
    memcpy(yp, v, 7 * sizeof *y), memcpy(yp + 7, a, 7 * sizeof *y);
    andrews_residual(t, y, yp, NULL, andrews_data, NULL, out);
    memcpy(r, out + 7, 13 * sizeof *r);
}

static void andrews_slopes(const mechanism *m, double t, const double *q, const double *v,
                           const double *a, const double *l, double *j, int ld)
{
    (void)m;
    double y[ANDREWS_N], yp[ANDREWS_N], out[ANDREWS_ENTRIES];
    memcpy(y, q, 7 * sizeof *y), memcpy(y + 7, v, 7 * sizeof *y), memcpy(y + 14, l, 6 * sizeof *y);
    memcpy(yp, v, 7 * sizeof *y), memcpy(yp + 7, a, 7 * sizeof *y);
    andrews_jacobian(t, y, yp, NULL, andrews_data, NULL, out);
    for (int k = 14; k < ANDREWS_ENTRIES; k++) {
        int row = andrews_entries[k].row - 7, column = andrews_entries[k].column;
        if (column >= 20)
            column -= 13; /* v' stands behind v here, */
        else if (column >= 14)
            column += 7; /* and lambda last */
        j[row + column * ld] = out[k];
    }
}

static const char *andrews_variable(int i, char *space)
{
    snprintf(space, 16, "q[%d]", i + 1);
    return space;
}

static void andrews_fill(mechanism *m)
{
    static const double start[] = {
        -0.0617138900142764496358948458001, 0,
        0.455279819163070380255912382449,   0.222668390165885884674473185609,
        0.487364979543842550225598953530,   -0.222668390165885884674473185609,
        1.23054744454982119249735015568};
    static const double end[] = {1.58107711951537070971e1,  -1.57563710584118394697e1,
                                 4.08222401196458048583e-2, -5.34730116342079593770e-1,
                                 5.24409965879954069372e-1, 5.34730116342079593770e-1,
                                 1.04808074104193787307};
    memcpy(m->q0, start, sizeof start);
    memcpy(m->reference, end, sizeof end);
}

/* --------------------------------------------------------------------------------------- chain */

static const double GRAVITY = 9.81;

/* Points of mass 1 on rods of length 1, gravity 9.81, the first rod fixed at the origin; at rest,
 * the rods 45 degrees from the vertical with a zigzag of 0.5 sin(i) on it. g_i = (|d_i|^2 - 1)/2.
 */
static void chain_values(const mechanism *m, double t, const double *q, const double *v,
                         const mechanism_values *out)
{
    (void)t;
    int k = m->links;
    if (out->mass) diagonal_mass(out, 2 * k, 1.0);
    if (out->force)
        for (int i = 0; i < k; i++) out->force[2 * i] = 0.0, out->force[2 * i + 1] = -GRAVITY;
    if (out->rate) memset(out->rate, 0, (size_t)k * sizeof(double));
    if (out->gradient) {
        double *g = out->gradient, x = q[0], y = q[1];
        for (int i = 1; i < k; i++) {
            double nx = q[2 * i] - q[2 * i - 2], ny = q[2 * i + 1] - q[2 * i - 1];
            g[0] = x, g[1] = -nx, g[2] = y, g[3] = -ny;
            g += 4, x = nx, y = ny;
        }
        g[0] = x, g[1] = y;
    }
    if (!out->curvature) return;
    out->curvature[0] = v[0] * v[0] + v[1] * v[1];
    for (int i = 1; i < k; i++)
        out->curvature[i] = square(v[2 * i] - v[2 * i - 2]) + square(v[2 * i + 1] - v[2 * i - 1]);
}

static void chain_constraint(const mechanism *m, double t, const double *q, double *g)
{
    (void)t;
    g[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
    for (int i = 1; i < m->links; i++)
        g[i] = 0.5 * (square(q[2 * i] - q[2 * i - 2]) + square(q[2 * i + 1] - q[2 * i - 1]) - 1.0);
}

/* Rod i, its velocity and multiplier; nothing beyond the ends */
typedef struct rod {
    double x, y, vx, vy, lambda;
} rod;

static rod rod_at(int links, const double *y, int i)
{
    if (i < 0 || i >= links) return (rod){0};
    const double *to = y + CHAIN_UNKNOWNS * i;
    if (i == 0) return (rod){to[0], to[1], to[2], to[3], to[4]};
    const double *from = to - CHAIN_UNKNOWNS;
    return (rod){to[0] - from[0], to[1] - from[1], to[2] - from[2], to[3] - from[3], to[4]};
}

/* c_i = d_i (a_i - a_{i-1}) + |w_i|^2 with a_i = -g e_y - d_i lambda_i + d_{i+1} lambda_{i+1} */
void chain_explicit(int links, const double *y, double *f)
{
    rod r = rod_at(links, y, 0);
    double ax = 0.0, ay = 0.0;
    for (int i = 0; i < links; i++, f += CHAIN_UNKNOWNS) {
        rod next = rod_at(links, y, i + 1);
        double bx = next.x * next.lambda - r.x * r.lambda;
        double by = next.y * next.lambda - r.y * r.lambda - GRAVITY;
        f[0] = y[CHAIN_UNKNOWNS * i + 2];
        f[1] = y[CHAIN_UNKNOWNS * i + 3];
        f[2] = bx;
        f[3] = by;
        f[4] = r.x * (bx - ax) + r.y * (by - ay) + r.vx * r.vx + r.vy * r.vy;
        ax = bx, ay = by, r = next;
    }
}

typedef struct band {
    double *at;
    int ld, links;
} band;

static void put(const band *b, int row, int column, double value)
{
    if (column < 0 || column >= b->links * CHAIN_UNKNOWNS) return;
    b->at[CHAIN_UPPER + row - column + column * b->ld] += value;
}

/* The derivative (x,y) of a row by the vector of rod i, or with offset 2 by its velocity */
static void put_rod(const band *b, int row, int i, int offset, double x, double y)
{
    put(b, row, CHAIN_UNKNOWNS * i + offset, x);
    put(b, row, CHAIN_UNKNOWNS * i + offset + 1, y);
    put(b, row, CHAIN_UNKNOWNS * (i - 1) + offset, -x);
    put(b, row, CHAIN_UNKNOWNS * (i - 1) + offset + 1, -y);
}

void chain_explicit_jacobian(int links, const double *y, double *entries, int ld)
{
    band b = {entries, ld, links};
    rod before = {0}, r = rod_at(links, y, 0);
    double ax = 0.0, ay = 0.0;
    memset(entries, 0, (size_t)links * CHAIN_UNKNOWNS * (size_t)ld * sizeof(double));
    for (int i = 0; i < links; i++) {
        int row = CHAIN_UNKNOWNS * i, l = row + 4;
        rod next = rod_at(links, y, i + 1);
        double bx = next.x * next.lambda - r.x * r.lambda;
        double by = next.y * next.lambda - r.y * r.lambda - GRAVITY;
        double sides = i ? 2.0 : 1.0; /* the support does not accelerate */
        put(&b, row, row + 2, 1.0), put(&b, row + 1, row + 3, 1.0);
        put_rod(&b, row + 2, i, 0, -r.lambda, 0.0), put_rod(&b, row + 3, i, 0, 0.0, -r.lambda);
        put(&b, row + 2, l, -r.x), put(&b, row + 3, l, -r.y);
        put_rod(&b, l, i, 0, bx - ax - sides * r.lambda * r.x, by - ay - sides * r.lambda * r.y);
        put_rod(&b, l, i, 2, 2.0 * r.vx, 2.0 * r.vy);
        put(&b, l, l, -sides * (r.x * r.x + r.y * r.y));
        if (i > 0) {
            put_rod(&b, l, i - 1, 0, r.x * before.lambda, r.y * before.lambda);
            put(&b, l, l - CHAIN_UNKNOWNS, r.x * before.x + r.y * before.y);
        }
        if (i + 1 < links) {
            put_rod(&b, row + 2, i + 1, 0, next.lambda, 0.0);
            put_rod(&b, row + 3, i + 1, 0, 0.0, next.lambda);
            put(&b, row + 2, l + CHAIN_UNKNOWNS, next.x),
                put(&b, row + 3, l + CHAIN_UNKNOWNS, next.y);
            put_rod(&b, l, i + 1, 0, r.x * next.lambda, r.y * next.lambda);
            put(&b, l, l + CHAIN_UNKNOWNS, r.x * next.x + r.y * next.y);
        }
        ax = bx, ay = by, before = r, r = next;
    }
}

static const char *chain_variable(int i, char *space)
{
    snprintf(space, 16, "%s[%d]", i % 2 ? "y" : "x", i / 2 + 1);
    return space;
}

static void *space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static void chain_fill(mechanism *m)
{
    int k = m->links, *columns = space((size_t)(2 * k + 1), sizeof *columns);
    int *rows = space((size_t)(4 * k), sizeof *rows), count = 0;
    double x = 0.0, y = 0.0;
    for (int i = 0; i < k; i++) {
        double angle = atan(1.0) + 0.5 * sin(i + 1);
        m->q0[2 * i] = x += sin(angle), m->q0[2 * i + 1] = y -= cos(angle);
        for (int c = 0; c < 2; c++) {
            rows[count++] = i;
            if (i + 1 < k) rows[count++] = i + 1;
            columns[2 * i + c + 1] = count;
        }
    }
    m->gradient_pattern = (dae_pattern){columns, rows};
}

/* ----------------------------------------------------------------------------------------- all */

/* Gauss elimination of a small full system, rows interchanged */
static void solve_full(int n, double *a, double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i + k * n]) > fabs(a[p + k * n])) p = i;
        for (int j = k; j < n; j++) {
            double s = a[k + j * n];
            a[k + j * n] = a[p + j * n], a[p + j * n] = s;
        }
        double s = b[k];
        b[k] = b[p], b[p] = s;
        for (int i = k + 1; i < n; i++) b[i] -= (a[i + k * n] /= a[k + k * n]) * b[k];
        for (int j = k + 1; j < n; j++) {
            if (a[k + j * n] == 0.0) continue;
            for (int i = k + 1; i < n; i++) a[i + j * n] -= a[i + k * n] * a[k + j * n];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k + j * n] * b[j];
        b[k] /= a[k + k * n];
    }
}

/* Accelerations and multipliers at the start, [M G'; G 0] (a, lambda) = (f, -curvature) */
static void start_forces(mechanism *m)
{
    int nq = m->nq, nl = m->nl, n = nq + nl;
    double *a = space((size_t)n * (size_t)n, 8), *b = space((size_t)n, 8);
    double *g = space((size_t)nq * (size_t)nl, 8);
    mechanism_values out = {a, n, b, g, NULL, b + nq};
    m->values(m, 0.0, m->q0, m->v0, &out);
    for (int i = 0; i < nl; i++) b[nq + i] = -b[nq + i];
    for (int j = 0; j < nq; j++) {
        const dae_pattern *p = &m->gradient_pattern;
        int from = p->colptr ? p->colptr[j] : j * nl, to = p->colptr ? p->colptr[j + 1] : from + nl;
        for (int k = from; k < to; k++) {
            int i = p->colptr ? p->rowind[k] : k - from;
            a[nq + i + j * n] = a[j + (nq + i) * n] = g[k];
        }
    }
    solve_full(n, a, b);
    memcpy(m->a0, b, (size_t)nq * sizeof *b);
    memcpy(m->l0, b + nq, (size_t)nl * sizeof *b);
    free(a), free(b), free(g);
}

typedef struct entry {
    mechanism m;
    void (*fill)(mechanism *m);
} entry;

static const entry entries[] = {{{.name = "pendulum",
                                  .model = "models/pendulum.mo",
                                  .nq = 2,
                                  .nl = 1,
                                  .tend = 10.0,
                                  .values = pendulum_values,
                                  .constraint = pendulum_constraint,
                                  .mass_diagonal = true,
                                  .variable = pendulum_variable,
                                  .residual = pendulum_residual,
                                  .jacobian = pendulum_jacobian},
                                 pendulum_fill},
                                {{.name = "andrews",
                                  .model = "models/andrews.mo",
                                  .nq = 7,
                                  .nl = 6,
                                  .tend = 0.03,
                                  .values = andrews_values,
                                  .constraint = andrews_constraint,
                                  .variable = andrews_variable,
                                  .residual = andrews_implicit,
                                  .jacobian = andrews_slopes},
                                 andrews_fill},
                                {{.name = "caraxis",
                                  .model = "models/caraxis.mo",
                                  .nq = 4,
                                  .nl = 2,
                                  .tend = 3.0,
                                  .values = car_values,
                                  .constraint = car_constraint,
                                  .mass_diagonal = true,
                                  .rheonomic = true,
                                  .variable = car_variable,
                                  .residual = car_residual,
                                  .jacobian = car_jacobian},
                                 car_fill},
                                {{.name = "fourbar",
                                  .model = "bench/half_explicit_fourbar.mo",
                                  .nq = 4,
                                  .nl = 3,
                                  .tend = 10.0,
                                  .values = linkage_values,
                                  .constraint = linkage_constraint,
                                  .mass_diagonal = true,
                                  .variable = linkage_variable,
                                  .residual = linkage_residual,
                                  .jacobian = linkage_jacobian},
                                 linkage_fill},
                                {{.name = "chain",
                                  .model = "bench/half_explicit_chain.mo",
                                  .tend = 1.0,
                                  .values = chain_values,
                                  .constraint = chain_constraint,
                                  .mass_diagonal = true,
                                  .variable = chain_variable},
                                 chain_fill}};

mechanism *mechanism_new(const char *name, int links)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (strcmp(entries[i].m.name, name)) continue;
        mechanism *m = space(1, sizeof *m);
        *m = entries[i].m;
        if (!m->nq) m->links = links, m->nq = 2 * links, m->nl = links;
        size_t nq = (size_t)m->nq;
        m->q0 = space(4 * nq + (size_t)m->nl, 8);
        m->v0 = m->q0 + nq, m->a0 = m->v0 + nq, m->reference = m->a0 + nq;
        m->l0 = m->reference + nq;
        entries[i].fill(m);
        start_forces(m);
        return m;
    }
    return NULL;
}

void mechanism_free(mechanism *m)
{
    if (!m) return;
    free((void *)(size_t)m->gradient_pattern.colptr);
    free((void *)(size_t)m->gradient_pattern.rowind);
    free(m->q0);
    free(m);
}
