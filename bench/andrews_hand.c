#include "andrews_hand.h"

#include <math.h>

/* The parameters of models/andrews1.mo in their order. */
typedef struct andrews_data {
    double m1, m2, m3, m4, m5, m6, m7, i1, i2, i3, i4, i5, i6, i7;
    double xa, ya, xb, yb, xc, yc;
    double d, da, e, ea, rr, ra, ss, sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa;
    double mom, c0, l0;
} andrews_data;

static double square(double x)
{
    return x * x;
}

/* A direction with the second time derivatives of its sine and cosine. */
typedef struct turn {
    double sin, cos, v;  /* v: the angle's speed */
    double ddsin, ddcos; /* cos a'' - sin a'^2, -sin a'' - cos a'^2 */
} turn;

static turn turn_of(double angle, double v, double acceleration)
{
    turn r = {.sin = sin(angle), .cos = cos(angle), .v = v};
    r.ddsin = r.cos * acceleration - r.sin * v * v;
    r.ddcos = -r.sin * acceleration - r.cos * v * v;
    return r;
}

/* Coefficients of the accelerations and of the centrifugal terms. */
typedef struct inertia {
    double m11, m12, m22, m33, m44, m45, m55, m66, m67, m77, k2, k4, k6;
} inertia;

static inertia inertia_at(const andrews_data *p, double cos_theta, double sin_phi, double sin_omega)
{
    double left = p->e - p->ea, right = p->zf - p->fa;
    inertia r = {.k2 = p->m2 * p->da * p->rr,
                 .k4 = p->m4 * p->zt * left,
                 .k6 = p->m6 * p->u * right,
                 .m22 = p->m2 * square(p->da) + p->i2,
                 .m33 = p->m3 * (square(p->sa) + square(p->sb)) + p->i3,
                 .m44 = p->m4 * square(left) + p->i4,
                 .m66 = p->m6 * square(right) + p->i6};
    r.m12 = r.m22 - r.k2 * cos_theta;
    r.m11 = p->m1 * square(p->ra) + p->m2 * square(p->rr) + p->i1 + r.m22 - 2 * r.k2 * cos_theta;
    r.m45 = r.m44 + r.k4 * sin_phi;
    r.m55 = r.m44 + p->m4 * square(p->zt) + p->m5 * (square(p->ta) + square(p->tb)) + p->i5 +
            2 * r.k4 * sin_phi;
    r.m67 = r.m66 - r.k6 * sin_omega;
    r.m77 = r.m66 + p->m6 * square(p->u) + p->m7 * (square(p->ua) + square(p->ub)) + p->i7 -
            2 * r.k6 * sin_omega;
    return r;
}

/* Torque of the spring, and its derivative by gamma. */
typedef struct spring {
    double torque, slope;
} spring;

static spring spring_at(const andrews_data *p, double s, double c)
{
    double hx = p->xc - p->xb, hy = p->yc - p->yb;
    double x = p->sd * c + p->sc * s, y = p->sd * s - p->sc * c;
    double length = sqrt(square(x - hx) + square(y - hy));
    double pull = p->c0 * (length - p->l0) / length, arm = x * hy - y * hx;
    double pull_slope = -p->c0 * p->l0 * arm / (length * length * length);
    return (spring){pull * arm, pull_slope * arm - pull * (x * hx + y * hy)};
}

void andrews_residual(double t, const double *y, const double *yp, const double *ypp,
                      const double *parameters, const double *memory, double *out)
{
    const andrews_data *p = (const andrews_data *)(const void *)parameters;
    const double *q = y, *v = y + 7, *l = y + 14, *a = yp + 7;
    (void)t, (void)ypp, (void)memory;
    turn be = turn_of(q[0], v[0], a[0]), ga = turn_of(q[2], v[2], a[2]);
    turn de = turn_of(q[4], v[4], a[4]), ep = turn_of(q[6], v[6], a[6]);
    turn beth = turn_of(q[0] + q[1], v[0] + v[1], a[0] + a[1]);
    turn phde = turn_of(q[3] + q[4], v[3] + v[4], a[3] + a[4]);
    turn omep = turn_of(q[5] + q[6], v[5] + v[6], a[5] + a[6]);
    double sin_th = sin(q[1]), sin_ph = sin(q[3]), sin_om = sin(q[5]);
    double cos_th = cos(q[1]), cos_ph = cos(q[3]), cos_om = cos(q[5]);
    inertia m = inertia_at(p, cos_th, sin_ph, sin_om);
    double lx = l[0] + l[2] + l[4], ly = l[1] + l[3] + l[5];

    for (int i = 0; i < 7; i++) out[i] = yp[i] - v[i];
    out[7] = m.m11 * a[0] + m.m12 * a[1] - p->mom + m.k2 * v[1] * (v[1] + 2 * v[0]) * sin_th +
             (p->d * beth.sin - p->rr * be.sin) * lx + (p->rr * be.cos - p->d * beth.cos) * ly;
    out[8] = m.m12 * a[0] + m.m22 * a[1] - m.k2 * v[0] * v[0] * sin_th +
             p->d * (beth.sin * lx - beth.cos * ly);
    out[9] = m.m33 * a[2] - spring_at(p, ga.sin, ga.cos).torque -
             p->ss * (ga.cos * l[0] + ga.sin * l[1]);
    out[10] = m.m44 * a[3] + m.m45 * a[4] - m.k4 * v[4] * v[4] * cos_ph -
              p->e * (phde.cos * l[2] + phde.sin * l[3]);
    out[11] = m.m45 * a[3] + m.m55 * a[4] + m.k4 * v[3] * (v[3] + 2 * v[4]) * cos_ph -
              (p->e * phde.cos - p->zt * de.sin) * l[2] - (p->e * phde.sin + p->zt * de.cos) * l[3];
    out[12] = m.m66 * a[5] + m.m67 * a[6] + m.k6 * v[6] * v[6] * cos_om +
              p->zf * (omep.sin * l[4] - omep.cos * l[5]);
    out[13] = m.m67 * a[5] + m.m77 * a[6] - m.k6 * v[5] * (v[5] + 2 * v[6]) * cos_om +
              (p->zf * omep.sin - p->u * ep.cos) * l[4] - (p->zf * omep.cos + p->u * ep.sin) * l[5];

    double px = p->rr * be.ddcos - p->d * beth.ddcos, py = p->rr * be.ddsin - p->d * beth.ddsin;
    out[14] = px - p->ss * ga.ddsin;
    out[15] = py + p->ss * ga.ddcos;
    out[16] = px - p->e * phde.ddsin - p->zt * de.ddcos;
    out[17] = py + p->e * phde.ddcos - p->zt * de.ddsin;
    out[18] = px - p->zf * omep.ddcos - p->u * ep.ddsin;
    out[19] = py - p->zf * omep.ddsin + p->u * ep.ddcos;
}

/* Where the derivatives go: y' is numbered behind y. */
#define Q(i) ((i)-1)
#define V(i) ((i) + 6)
#define L(i) ((i) + 13)
#define DQ(i) (20 + Q(i))
#define A(i) (20 + V(i))
#define MOTION(i)                                                                                  \
    {Q(i), DQ(i)},                                                                                 \
    {                                                                                              \
        Q(i), V(i)                                                                                 \
    }

const andrews_entry andrews_entries[ANDREWS_ENTRIES] = {MOTION(1),
                                                        MOTION(2),
                                                        MOTION(3),
                                                        MOTION(4),
                                                        MOTION(5),
                                                        MOTION(6),
                                                        MOTION(7),
                                                        {7, Q(1)},
                                                        {7, Q(2)},
                                                        {7, V(1)},
                                                        {7, V(2)},
                                                        {7, L(1)},
                                                        {7, L(2)},
                                                        {7, L(3)},
                                                        {7, L(4)},
                                                        {7, L(5)},
                                                        {7, L(6)},
                                                        {7, A(1)},
                                                        {7, A(2)},
                                                        {8, Q(1)},
                                                        {8, Q(2)},
                                                        {8, V(1)},
                                                        {8, L(1)},
                                                        {8, L(2)},
                                                        {8, L(3)},
                                                        {8, L(4)},
                                                        {8, L(5)},
                                                        {8, L(6)},
                                                        {8, A(1)},
                                                        {8, A(2)},
                                                        {9, Q(3)},
                                                        {9, L(1)},
                                                        {9, L(2)},
                                                        {9, A(3)},
                                                        {10, Q(4)},
                                                        {10, Q(5)},
                                                        {10, V(5)},
                                                        {10, L(3)},
                                                        {10, L(4)},
                                                        {10, A(4)},
                                                        {10, A(5)},
                                                        {11, Q(4)},
                                                        {11, Q(5)},
                                                        {11, V(4)},
                                                        {11, V(5)},
                                                        {11, L(3)},
                                                        {11, L(4)},
                                                        {11, A(4)},
                                                        {11, A(5)},
                                                        {12, Q(6)},
                                                        {12, Q(7)},
                                                        {12, V(7)},
                                                        {12, L(5)},
                                                        {12, L(6)},
                                                        {12, A(6)},
                                                        {12, A(7)},
                                                        {13, Q(6)},
                                                        {13, Q(7)},
                                                        {13, V(6)},
                                                        {13, V(7)},
                                                        {13, L(5)},
                                                        {13, L(6)},
                                                        {13, A(6)},
                                                        {13, A(7)},
                                                        /* loop through B */
                                                        {14, Q(1)},
                                                        {14, Q(2)},
                                                        {14, V(1)},
                                                        {14, V(2)},
                                                        {14, A(1)},
                                                        {14, A(2)},
                                                        {14, Q(3)},
                                                        {14, V(3)},
                                                        {14, A(3)},
                                                        {15, Q(1)},
                                                        {15, Q(2)},
                                                        {15, V(1)},
                                                        {15, V(2)},
                                                        {15, A(1)},
                                                        {15, A(2)},
                                                        {15, Q(3)},
                                                        {15, V(3)},
                                                        {15, A(3)},
                                                        /* left loop through A */
                                                        {16, Q(1)},
                                                        {16, Q(2)},
                                                        {16, V(1)},
                                                        {16, V(2)},
                                                        {16, A(1)},
                                                        {16, A(2)},
                                                        {16, Q(4)},
                                                        {16, Q(5)},
                                                        {16, V(4)},
                                                        {16, V(5)},
                                                        {16, A(4)},
                                                        {16, A(5)},
                                                        {17, Q(1)},
                                                        {17, Q(2)},
                                                        {17, V(1)},
                                                        {17, V(2)},
                                                        {17, A(1)},
                                                        {17, A(2)},
                                                        {17, Q(4)},
                                                        {17, Q(5)},
                                                        {17, V(4)},
                                                        {17, V(5)},
                                                        {17, A(4)},
                                                        {17, A(5)},
                                                        /* right loop through A */
                                                        {18, Q(1)},
                                                        {18, Q(2)},
                                                        {18, V(1)},
                                                        {18, V(2)},
                                                        {18, A(1)},
                                                        {18, A(2)},
                                                        {18, Q(6)},
                                                        {18, Q(7)},
                                                        {18, V(6)},
                                                        {18, V(7)},
                                                        {18, A(6)},
                                                        {18, A(7)},
                                                        {19, Q(1)},
                                                        {19, Q(2)},
                                                        {19, V(1)},
                                                        {19, V(2)},
                                                        {19, A(1)},
                                                        {19, A(2)},
                                                        {19, Q(6)},
                                                        {19, Q(7)},
                                                        {19, V(6)},
                                                        {19, V(7)},
                                                        {19, A(6)},
                                                        {19, A(7)}};

/* Derivatives of the crank's part of a loop, x and y: by q1, q2, v1, v2, a1, a2. */
static void crank_slopes(const andrews_data *p, const turn *be, const turn *beth, double x[6],
                         double y[6])
{
    double cos_v = 2 * p->d * beth->cos * beth->v, sin_v = 2 * p->d * beth->sin * beth->v;
    x[1] = p->d * beth->ddsin;
    x[0] = x[1] - p->rr * be->ddsin;
    x[3] = cos_v;
    x[2] = cos_v - 2 * p->rr * be->cos * be->v;
    x[5] = p->d * beth->sin;
    x[4] = x[5] - p->rr * be->sin;
    y[1] = -p->d * beth->ddcos;
    y[0] = p->rr * be->ddcos + y[1];
    y[3] = sin_v;
    y[2] = sin_v - 2 * p->rr * be->sin * be->v;
    y[5] = -p->d * beth->cos;
    y[4] = p->rr * be->cos + y[5];
}

static double *copy_six(double *out, const double from[6])
{
    for (int i = 0; i < 6; i++) out[i] = from[i];
    return out + 6;
}

/* Derivatives of an arm's part of a loop, length times cos of an angle, of its second derivative:
 * by angle, speed and acceleration. */
static void cos_slopes(double length, const turn *r, double out[3])
{
    out[0] = -length * r->ddsin;
    out[1] = -2 * length * r->cos * r->v;
    out[2] = -length * r->sin;
}

static void sin_slopes(double length, const turn *r, double out[3])
{
    out[0] = length * r->ddcos;
    out[1] = -2 * length * r->sin * r->v;
    out[2] = length * r->cos;
}

/* A loop with an arm at the sum of two angles and one at the second of them. */
static double *two_arms(double *out, const double sum[3], const double second[3])
{
    for (int i = 0; i < 3; i++) {
        *out++ = sum[i];
        *out++ = sum[i] + second[i];
    }
    return out;
}

void andrews_jacobian(double t, const double *y, const double *yp, const double *ypp,
                      const double *parameters, const double *memory, double *out)
{
    const andrews_data *p = (const andrews_data *)(const void *)parameters;
    const double *q = y, *v = y + 7, *l = y + 14, *a = yp + 7;
    (void)t, (void)ypp, (void)memory;
    turn be = turn_of(q[0], v[0], a[0]), ga = turn_of(q[2], v[2], a[2]);
    turn de = turn_of(q[4], v[4], a[4]), ep = turn_of(q[6], v[6], a[6]);
    turn beth = turn_of(q[0] + q[1], v[0] + v[1], a[0] + a[1]);
    turn phde = turn_of(q[3] + q[4], v[3] + v[4], a[3] + a[4]);
    turn omep = turn_of(q[5] + q[6], v[5] + v[6], a[5] + a[6]);
    double sin_th = sin(q[1]), sin_ph = sin(q[3]), sin_om = sin(q[5]);
    double cos_th = cos(q[1]), cos_ph = cos(q[3]), cos_om = cos(q[5]);
    inertia m = inertia_at(p, cos_th, sin_ph, sin_om);
    double lx = l[0] + l[2] + l[4], ly = l[1] + l[3] + l[5];
    double crank_x[6], crank_y[6], arm[3], second[3];

    for (int i = 0; i < 7; i++) {
        *out++ = 1;
        *out++ = -1;
    }
    /* crank */
    double k2s = m.k2 * sin_th, k2c = m.k2 * cos_th, ds = p->d * beth.sin, dc = p->d * beth.cos;
    double gx = ds - p->rr * be.sin, gy = p->rr * be.cos - dc, coupler = dc * lx + ds * ly;
    *out++ = gx * ly - gy * lx;
    *out++ = 2 * k2s * a[0] + k2s * a[1] + k2c * v[1] * (v[1] + 2 * v[0]) + coupler;
    *out++ = 2 * k2s * v[1];
    *out++ = 2 * k2s * (v[0] + v[1]);
    for (int i = 0; i < 3; i++) {
        *out++ = gx;
        *out++ = gy;
    }
    *out++ = m.m11;
    *out++ = m.m12;
    /* coupler */
    *out++ = coupler;
    *out++ = k2s * a[0] - k2c * v[0] * v[0] + coupler;
    *out++ = -2 * k2s * v[0];
    for (int i = 0; i < 3; i++) {
        *out++ = ds;
        *out++ = -dc;
    }
    *out++ = m.m12;
    *out++ = m.m22;
    /* body with the spring */
    *out++ = p->ss * (ga.sin * l[0] - ga.cos * l[1]) - spring_at(p, ga.sin, ga.cos).slope;
    *out++ = -p->ss * ga.cos;
    *out++ = -p->ss * ga.sin;
    *out++ = m.m33;
    /* left pair */
    double k4s = m.k4 * sin_ph, k4c = m.k4 * cos_ph, es = p->e * phde.sin, ec = p->e * phde.cos;
    double left = es * l[2] - ec * l[3], inner = p->zt * de.sin - ec, outer = es + p->zt * de.cos;
    *out++ = k4c * a[4] + k4s * v[4] * v[4] + left;
    *out++ = left;
    *out++ = -2 * k4c * v[4];
    *out++ = -ec;
    *out++ = -es;
    *out++ = m.m44;
    *out++ = m.m45;
    *out++ = k4c * (a[3] + 2 * a[4]) - k4s * v[3] * (v[3] + 2 * v[4]) + left;
    *out++ = outer * l[2] + inner * l[3];
    *out++ = 2 * k4c * (v[3] + v[4]);
    *out++ = 2 * k4c * v[3];
    *out++ = inner;
    *out++ = -outer;
    *out++ = m.m45;
    *out++ = m.m55;
    /* right pair */
    double k6s = m.k6 * sin_om, k6c = m.k6 * cos_om, zs = p->zf * omep.sin, zc = p->zf * omep.cos;
    double right = zc * l[4] + zs * l[5];
    inner = zs - p->u * ep.cos, outer = zc + p->u * ep.sin;
    *out++ = right - k6c * a[6] - k6s * v[6] * v[6];
    *out++ = right;
    *out++ = 2 * k6c * v[6];
    *out++ = zs;
    *out++ = -zc;
    *out++ = m.m66;
    *out++ = m.m67;
    *out++ = right - k6c * (a[5] + 2 * a[6]) + k6s * v[5] * (v[5] + 2 * v[6]);
    *out++ = outer * l[4] + inner * l[5];
    *out++ = -2 * k6c * (v[5] + v[6]);
    *out++ = -2 * k6c * v[5];
    *out++ = inner;
    *out++ = -outer;
    *out++ = m.m67;
    *out++ = m.m77;

    crank_slopes(p, &be, &beth, crank_x, crank_y);
    out = copy_six(out, crank_x);
    sin_slopes(-p->ss, &ga, out);
    out = copy_six(out + 3, crank_y);
    cos_slopes(p->ss, &ga, out);
    out = copy_six(out + 3, crank_x);
    sin_slopes(-p->e, &phde, arm);
    cos_slopes(-p->zt, &de, second);
    out = copy_six(two_arms(out, arm, second), crank_y);
    cos_slopes(p->e, &phde, arm);
    sin_slopes(-p->zt, &de, second);
    out = copy_six(two_arms(out, arm, second), crank_x);
    cos_slopes(-p->zf, &omep, arm);
    sin_slopes(-p->u, &ep, second);
    out = copy_six(two_arms(out, arm, second), crank_y);
    sin_slopes(-p->zf, &omep, arm);
    cos_slopes(p->u, &ep, second);
    two_arms(out, arm, second);
}
