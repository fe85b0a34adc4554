/* Flight along a prescribed path: angle of attack and bank angle steer a re-entering vehicle so
 * that flight path angle and azimuth follow given functions of time [BCP96 6.3.4, 6.3.5].
 *
 * Units are feet, seconds and radians. The book leaves out the constants and prints sin(lambda)
 * for sin(A) in the equation of xi; with the constants below its truth values are met digit by
 * digit. Index 2 as written; index 1 with the path conditions differentiated once. */
#include "support.h"

#include <math.h>

enum { H, XI, LAMBDA, V, GAMMA, AZ, ALPHA, BETA, N_FLIGHT };
#define A(i, j) ((i) + (j)*N_FLIGHT) /* dense element (i, j) */

static const double degree = MODEL_PI / 180.0;
static const double earth_radius = 20902900.0, gravity = 0.14076539e17, spin = 0.72921159e-4;
static const double density0 = 0.002378, scale_height = 23800.0;
static const double mass = 2.890532728, area = 1.0;
static const double lift_slope = 0.01 * 180.0 / MODEL_PI; /* C_L per radian */

/* Quantities that several equations share. s and c: sine and cosine. */
typedef struct flight {
    double sl, cl, sg, cg, sa, ca, sb, cb;
    double r, g;           /* distance from the centre, gravity there */
    double pressure;       /* rho S V^2 / (2 m) */
    double lift, drag;     /* per mass */
    double lift_d, drag_d; /* their derivatives by alpha */
    double w;              /* spin^2 r cos(lambda) */
} flight;

static flight flight_at(const double *y)
{
    flight q = {.sl = sin(y[LAMBDA]),
                .cl = cos(y[LAMBDA]),
                .sg = sin(y[GAMMA]),
                .cg = cos(y[GAMMA]),
                .sa = sin(y[AZ]),
                .ca = cos(y[AZ]),
                .sb = sin(y[BETA]),
                .cb = cos(y[BETA])};
    double cl = lift_slope * y[ALPHA];
    q.r = y[H] + earth_radius;
    q.g = gravity / (q.r * q.r);
    q.pressure = 0.5 * density0 * exp(-y[H] / scale_height) * area * y[V] * y[V] / mass;
    q.lift = q.pressure * cl;
    q.drag = q.pressure * (0.04 + 0.1 * cl * cl);
    q.lift_d = q.pressure * lift_slope;
    q.drag_d = q.pressure * 0.2 * cl * lift_slope;
    q.w = spin * spin * q.r * q.cl;
    return q;
}

/* rate[0..5] = the right-hand sides of H, xi, lambda, V, gamma, A */
static void flight_rates(const double *y, double *rate)
{
    flight q = flight_at(y);
    double v = y[V];
    rate[H] = v * q.sg;
    rate[XI] = v * q.cg * q.sa / (q.r * q.cl);
    rate[LAMBDA] = v * q.cg * q.ca / q.r;
    rate[V] = -q.drag - q.g * q.sg - q.w * (q.sl * q.ca * q.cg - q.cl * q.sg);
    rate[GAMMA] = q.lift * q.cb / v + q.cg * (v / q.r - q.g / v) + 2.0 * spin * q.cl * q.sa +
                  q.w / v * (q.sl * q.ca * q.sg + q.cl * q.cg);
    rate[AZ] = q.lift * q.sb / (v * q.cg) + v / q.r * q.cg * q.sa * q.sl / q.cl -
               2.0 * spin * (q.cl * q.ca * q.sg / q.cg - q.sl) + q.w * q.sl * q.sa / (v * q.cg);
}

/* d rate / dy of H, xi, lambda into the dense matrix J */
static void position_partials(const double *y, const flight *q, double *J)
{
    double v = y[V], tl = q->sl / q->cl;
    double xi = v * q->cg * q->sa / (q->r * q->cl), lambda = v * q->cg * q->ca / q->r;
    J[A(H, V)] = q->sg;
    J[A(H, GAMMA)] = v * q->cg;
    J[A(XI, H)] = -xi / q->r;
    J[A(XI, LAMBDA)] = xi * tl;
    J[A(XI, V)] = xi / v;
    J[A(XI, GAMMA)] = -v * q->sg * q->sa / (q->r * q->cl);
    J[A(XI, AZ)] = v * q->cg * q->ca / (q->r * q->cl);
    J[A(LAMBDA, H)] = -lambda / q->r;
    J[A(LAMBDA, V)] = lambda / v;
    J[A(LAMBDA, GAMMA)] = -v * q->sg * q->ca / q->r;
    J[A(LAMBDA, AZ)] = -v * q->cg * q->sa / q->r;
}

/* d rate / dy of V into J */
static void speed_partials(const double *y, const flight *q, double *J)
{
    double w0 = q->w / q->r, spread = q->cl * q->cl - q->sl * q->sl;
    J[A(V, H)] = q->drag / scale_height + 2.0 * q->g * q->sg / q->r -
                 w0 * (q->sl * q->ca * q->cg - q->cl * q->sg);
    J[A(V, LAMBDA)] = -spin * spin * q->r * (spread * q->ca * q->cg + 2.0 * q->cl * q->sl * q->sg);
    J[A(V, V)] = -2.0 * q->drag / y[V];
    J[A(V, GAMMA)] = -q->g * q->cg + q->w * (q->sl * q->ca * q->sg + q->cl * q->cg);
    J[A(V, AZ)] = q->w * q->sl * q->sa * q->cg;
    J[A(V, ALPHA)] = -q->drag_d;
}

/* d rate / dy of gamma into J */
static void climb_partials(const double *y, const flight *q, double *J)
{
    double v = y[V], turn = q->sl * q->ca * q->sg + q->cl * q->cg;
    double spread = q->cl * q->cl - q->sl * q->sl;
    J[A(GAMMA, H)] = -q->lift * q->cb / (v * scale_height) +
                     q->cg * (-v / (q->r * q->r) + 2.0 * q->g / (q->r * v)) +
                     q->w / (q->r * v) * turn;
    J[A(GAMMA, LAMBDA)] =
        -2.0 * spin * q->sl * q->sa +
        spin * spin * q->r / v * (spread * q->ca * q->sg - 2.0 * q->cl * q->sl * q->cg);
    J[A(GAMMA, V)] =
        q->lift * q->cb / (v * v) + q->cg * (1.0 / q->r + q->g / (v * v)) - q->w / (v * v) * turn;
    J[A(GAMMA, GAMMA)] =
        -q->sg * (v / q->r - q->g / v) + q->w / v * (q->sl * q->ca * q->cg - q->cl * q->sg);
    J[A(GAMMA, AZ)] = 2.0 * spin * q->cl * q->ca - q->w / v * q->sl * q->sa * q->sg;
    J[A(GAMMA, ALPHA)] = q->lift_d * q->cb / v;
    J[A(GAMMA, BETA)] = -q->lift * q->sb / v;
}

/* d rate / dy of A into J */
static void azimuth_partials(const double *y, const flight *q, double *J)
{
    double v = y[V], tl = q->sl / q->cl, tg = q->sg / q->cg, vc = v * q->cg;
    double spread = q->cl * q->cl - q->sl * q->sl;
    J[A(AZ, H)] = -q->lift * q->sb / (vc * scale_height) - v / (q->r * q->r) * q->cg * q->sa * tl +
                  q->w / q->r * q->sl * q->sa / vc;
    J[A(AZ, LAMBDA)] = v / q->r * q->cg * q->sa / (q->cl * q->cl) +
                       2.0 * spin * (q->sl * q->ca * tg + q->cl) +
                       spin * spin * q->r * spread * q->sa / vc;
    J[A(AZ, V)] =
        q->lift * q->sb / (v * vc) + q->cg * q->sa * tl / q->r - q->w * q->sl * q->sa / (v * vc);
    J[A(AZ, GAMMA)] = q->lift * q->sb * tg / vc - v / q->r * q->sg * q->sa * tl -
                      2.0 * spin * q->cl * q->ca / (q->cg * q->cg) + q->w * q->sl * q->sa * tg / vc;
    J[A(AZ, AZ)] =
        v / q->r * q->cg * q->ca * tl + 2.0 * spin * q->cl * q->sa * tg + q->w * q->sl * q->ca / vc;
    J[A(AZ, ALPHA)] = q->lift_d * q->sb / vc;
    J[A(AZ, BETA)] = q->lift * q->cb / vc;
}

/* J = d rate / dy, six rows; J is zero on entry */
static void flight_partials(const double *y, double *J)
{
    flight q = flight_at(y);
    position_partials(y, &q, J);
    speed_partials(y, &q, J);
    climb_partials(y, &q, J);
    azimuth_partials(y, &q, J);
}

/* Path: gamma(t) = -1 - 9 (t/300)^2 and A(t) = 45 + 90 (t/300)^2 degrees; level 0 value, 1 slope */
static void path(double t, int level, double *gamma, double *azimuth)
{
    double s = level == 0 ? t * t / 9e4 : 2.0 * t / 9e4;
    *gamma = degree * ((level == 0 ? -1.0 : 0.0) - 9.0 * s);
    *azimuth = degree * ((level == 0 ? 45.0 : 0.0) + 90.0 * s);
}

static int index2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double gamma, azimuth;
    flight_rates(y, f);
    for (int i = 0; i < ALPHA; i++) f[i] = yp[i] - f[i];
    path(t, 0, &gamma, &azimuth);
    f[ALPHA] = y[GAMMA] - gamma;
    f[BETA] = y[AZ] - azimuth;
    return 0;
}

static int index2_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp, (void)user;
    flight_partials(y, dfdy);
    for (int k = 0; k < N_FLIGHT * N_FLIGHT; k++) dfdy[k] = -dfdy[k];
    for (int i = 0; i < ALPHA; i++) dfdyp[A(i, i)] = 1.0;
    dfdy[A(ALPHA, GAMMA)] = dfdy[A(BETA, AZ)] = 1.0;
    return 0;
}

/* The path conditions differentiated once: rate of gamma and A = slope of the path */
static int index1_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double rate[6], gamma, azimuth;
    flight_rates(y, rate);
    for (int i = 0; i < ALPHA; i++) f[i] = yp[i] - rate[i];
    path(t, 1, &gamma, &azimuth);
    f[ALPHA] = rate[GAMMA] - gamma;
    f[BETA] = rate[AZ] - azimuth;
    return 0;
}

static int index1_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp, (void)user;
    flight_partials(y, dfdy);
    for (int j = 0; j < N_FLIGHT; j++) {
        dfdy[A(ALPHA, j)] = dfdy[A(GAMMA, j)];
        dfdy[A(BETA, j)] = dfdy[A(AZ, j)];
        for (int i = 0; i < ALPHA; i++) dfdy[A(i, j)] = -dfdy[A(i, j)];
    }
    for (int i = 0; i < ALPHA; i++) dfdyp[A(i, i)] = 1.0;
    return 0;
}

/* alpha and beta that hold gamma and A on the path at t = 0, where its slope is zero: without lift
 * the rates are (a, b), and lift must supply V (-a, -b cos gamma) */
static void initial_controls(double *y)
{
    double rate[6];
    y[ALPHA] = y[BETA] = 0.0;
    flight_rates(y, rate);
    double up = -rate[GAMMA] * y[V], side = -rate[AZ] * y[V] * cos(y[GAMMA]);
    y[BETA] = atan2(side, up);
    y[ALPHA] = hypot(up, side) / flight_at(y).lift_d;
}

/* y'(0). The controls' come from the path conditions differentiated twice: J y' = path''. */
static void initial_derivative(double *y, double *yp)
{
    double J[N_FLIGHT * N_FLIGHT] = {0.0};
    double rhs[2] = {degree * -9.0 * 2.0 / 9e4, degree * 90.0 * 2.0 / 9e4};
    y[GAMMA] = -degree;
    y[AZ] = 45.0 * degree;
    initial_controls(y);
    flight_rates(y, yp);
    flight_partials(y, J);
    for (int j = 0; j < ALPHA; j++) {
        rhs[0] -= J[A(GAMMA, j)] * yp[j];
        rhs[1] -= J[A(AZ, j)] * yp[j];
    }
    double a = J[A(GAMMA, ALPHA)], b = J[A(GAMMA, BETA)], c = J[A(AZ, ALPHA)], d = J[A(AZ, BETA)];
    yp[ALPHA] = (d * rhs[0] - b * rhs[1]) / (a * d - b * c);
    yp[BETA] = (a * rhs[1] - c * rhs[0]) / (a * d - b * c);
}

static const char *const variables[] = {"H", "xi", "lambda", "V", "gamma", "A", "alpha", "beta"};
static const char *const index2_equations[] = {"altitude", "longitude", "latitude",   "speed",
                                               "climb",    "azimuth",   "path_gamma", "path_A"};
static const char *const index1_equations[] = {"altitude", "longitude", "latitude",   "speed",
                                               "climb",    "azimuth",   "rate_gamma", "rate_A"};
static const dae_kind index2_kinds[] = {
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,       DAE_KIND_INDEX2};
static const dae_kind index1_kinds[] = {
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1,       DAE_KIND_INDEX1};
static const double start[] = {100000.0, 0.0, 0.0, 12000.0, 0.0, 0.0, 0.0, 0.0};
/* Recomputed in quadruple precision with the controls eliminated; agrees with the book's digits */
static const double reference[] = {1.42008113757107852e+04, 7.27991599208917341e-02,
                                   4.06923052184045716e-02, 1.43329213351940974e+03,
                                   -MODEL_PI / 18.0,        MODEL_PI * 0.75,
                                   1.24888510616931366e-01, 4.60375012742761033e-01};
static const char source[] = "Brenan, Campbell & Petzold 1996, section 6.3";

static const small_model trajectory1 = {
    .name = "trajectory1",
    .title = "Prescribed path control of a vehicle, index-1 form",
    .source = source,
    .n = N_FLIGHT,
    .f = index1_f,
    .jacobian = index1_jacobian,
    .variable_names = variables,
    .equation_names = index1_equations,
    .kinds = index1_kinds,
    .tend = 300.0,
    .y0 = start,
    .derivative = initial_derivative,
    .reference = reference,
    .reference_accuracy = 1e-14,
};

model *new_trajectory1(int size)
{
    (void)size;
    return model_from_table(&trajectory1);
}

static const small_model trajectory2 = {
    .name = "trajectory2",
    .title = "Prescribed path control of a vehicle, index 2 as written",
    .source = source,
    .n = N_FLIGHT,
    .f = index2_f,
    .jacobian = index2_jacobian,
    .variable_names = variables,
    .equation_names = index2_equations,
    .kinds = index2_kinds,
    .tend = 300.0,
    .y0 = start,
    .derivative = initial_derivative,
    .reference = reference,
    .reference_accuracy = 1e-14,
};

model *new_trajectory2(int size)
{
    (void)size;
    return model_from_table(&trajectory2);
}
