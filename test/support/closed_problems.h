/* Problems of index 0 to 3 with closed forms. To be included once in a program. */
#ifndef DAE_TEST_CLOSED_PROBLEMS_H
#define DAE_TEST_CLOSED_PROBLEMS_H

#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 8 };

typedef struct closed_form {
    const char *name;
    int n;
    dae_residual_fn f;
    void (*solution)(double t, double *y, double *yp);
    const dae_kind *kinds;
    double tend;
    int first[3], count; /* first variable of each block (y, z, u), number of blocks */
} closed_form;

/* Known solutions run in a time phi(t) that is fast and slow by turns, lest the high orders meet
 * round-off at once: phi = t + 0.16 sin 5t. */
static double phase(double t)
{
    return t + 0.16 * sin(5.0 * t);
}

static double speed(double t)
{
    return 1.0 + 0.8 * cos(5.0 * t);
}

/* y1 = exp(sin phi), y2 = 1 / (1 + phi) */
static int ode_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - speed(t) * y[0] * cos(phase(t));
    f[1] = yp[1] + speed(t) * y[1] * y[1];
    return 0;
}

static void ode_solution(double t, double *y, double *yp)
{
    y[0] = exp(sin(phase(t)));
    y[1] = 1.0 / (1.0 + phase(t));
    yp[0] = speed(t) * y[0] * cos(phase(t));
    yp[1] = -speed(t) * y[1] * y[1];
}

/* The same with z = y1 y2, and a leading coefficient that depends on the state */
static int index1_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double product = y[0] * y[1];
    f[0] = yp[0] * y[1] - speed(t) * y[2] * cos(phase(t));
    f[1] = yp[1] + speed(t) * y[1] * y[1];
    f[2] = y[2] * y[2] * y[2] - product * product * product;
    return 0;
}

static void index1_solution(double t, double *y, double *yp)
{
    ode_solution(t, y, yp);
    y[2] = y[0] * y[1];
    yp[2] = yp[0] * y[1] + y[0] * yp[1];
}

/* y1' = y1 y2^2 z^2, y2' = y1^2 y2^2 - 3 y2^2 z, 0 = y1^2 y2 - 1 in the time phi:
 * y1 = exp(phi), y2 = exp(-2 phi), z = exp(2 phi) */
static int index2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double v = speed(t);
    f[0] = yp[0] - v * y[0] * y[1] * y[1] * y[2] * y[2];
    f[1] = yp[1] - v * (y[0] * y[0] * y[1] * y[1] - 3.0 * y[1] * y[1] * y[2]);
    f[2] = y[0] * y[0] * y[1] - 1.0;
    return 0;
}

static void index2_solution(double t, double *y, double *yp)
{
    double x = phase(t), v = speed(t);
    y[0] = exp(x);
    y[1] = exp(-2.0 * x);
    y[2] = exp(2.0 * x);
    yp[0] = v * y[0];
    yp[1] = -2.0 * v * y[1];
    yp[2] = 2.0 * v * y[2];
}

/* y1' = 2 y1 y2 z1 z2, y2' = -y1 y2 z2^2, z1' = (y1 y2 + z1 z2) u, z2' = -y1 y2^2 z2^2 u,
 * 0 = y1 y2^2 - 1 in the time phi: y1 = z1 = exp(2 phi), y2 = z2 = exp(-phi), u = exp(phi) */
static int index3_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double y1 = y[0], y2 = y[1], z1 = y[2], z2 = y[3], u = y[4], v = speed(t);
    f[0] = yp[0] - v * 2.0 * y1 * y2 * z1 * z2;
    f[1] = yp[1] + v * y1 * y2 * z2 * z2;
    f[2] = yp[2] - v * (y1 * y2 + z1 * z2) * u;
    f[3] = yp[3] + v * y1 * y2 * y2 * z2 * z2 * u;
    f[4] = y1 * y2 * y2 - 1.0;
    return 0;
}

static void index3_solution(double t, double *y, double *yp)
{
    double x = phase(t), v = speed(t);
    y[0] = y[2] = exp(2.0 * x);
    y[1] = y[3] = exp(-x);
    y[4] = exp(x);
    yp[0] = yp[2] = 2.0 * v * y[0];
    yp[1] = yp[3] = -v * y[1];
    yp[4] = v * y[4];
}

/* Rotation y1' = w y2, y2' = -w y1, 0 = z - y1 - 2 y2: linear, so that Newton's method takes long
 * steps, and the highest order shows before round-off does */
enum { ROTATION = 5 };

static int rotation_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - ROTATION * y[1];
    f[1] = yp[1] + ROTATION * y[0];
    f[2] = y[2] - y[0] - 2.0 * y[1];
    return 0;
}

static void rotation_solution(double t, double *y, double *yp)
{
    y[0] = cos(ROTATION * t + 0.4);
    y[1] = -sin(ROTATION * t + 0.4);
    yp[0] = ROTATION * y[1];
    yp[1] = -ROTATION * y[0];
    y[2] = y[0] + 2.0 * y[1];
    yp[2] = yp[0] + 2.0 * yp[1];
}

/* The same as a nonlinear system of index 1, at a speed z = 1 + 0.05 cos t that z^3 + z = q^3 + q
 * determines, q = z - 0.05 (1 - y1^2 - y2^2): weakly, so that Newton's method takes long steps
 * still
 */
static const double TURN = 0.05;

static int turning_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double q = 1.0 + TURN * cos(t) + TURN * (y[0] * y[0] + y[1] * y[1] - 1.0), z = y[2];
    f[0] = yp[0] - ROTATION * z * y[1];
    f[1] = yp[1] + ROTATION * z * y[0];
    f[2] = z * z * z + z - q * q * q - q;
    return 0;
}

static void turning_solution(double t, double *y, double *yp)
{
    double angle = ROTATION * (t + TURN * sin(t)) + 0.4;
    y[0] = cos(angle);
    y[1] = -sin(angle);
    y[2] = 1.0 + TURN * cos(t);
    yp[0] = ROTATION * y[2] * y[1];
    yp[1] = -ROTATION * y[2] * y[0];
    yp[2] = -TURN * sin(t);
}

/* Linear systems of index 2 and 3 in Hessenberg form with slow coefficients and fast solutions. */
static double slow_a(double t)
{
    return 0.5 + 0.2 * cos(t);
}

static double slow_b(double t)
{
    return 1.0 + 0.3 * sin(t);
}

/* y1 = sin wt, y2 = cos wt exp(-t), z = exp(sin(wt)/2) */
static void linear2_solution(double t, double *y, double *yp)
{
    double w = ROTATION, decay = exp(-t), s = sin(w * t), c = cos(w * t);
    y[0] = s;
    y[1] = c * decay;
    y[2] = exp(0.5 * s);
    yp[0] = w * c;
    yp[1] = -(w * s + c) * decay;
    yp[2] = 0.5 * w * c * y[2];
}

static int linear2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double e[3], ep[3];
    linear2_solution(t, e, ep);
    f[0] = (yp[0] - ep[0]) - (y[1] - e[1]) - (y[2] - e[2]);
    f[1] = (yp[1] - ep[1]) + (y[0] - e[0]) - slow_b(t) * (y[2] - e[2]);
    f[2] = (y[0] - e[0]) + slow_a(t) * (y[1] - e[1]);
    return 0;
}

/* y as before, z1 = cos wt, z2 = exp(sin(wt)/3), u = sin(wt + 1) + 2 */
static void linear3_solution(double t, double *y, double *yp)
{
    double w = ROTATION;
    linear2_solution(t, y, yp);
    y[2] = cos(w * t) + 2.0;
    yp[2] = -w * sin(w * t);
    y[3] = exp(sin(w * t) / 3.0);
    yp[3] = w * cos(w * t) / 3.0 * y[3];
    y[4] = sin(w * t + 1.0) + 2.0;
    yp[4] = w * cos(w * t + 1.0);
}

static int linear3_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double e[5], ep[5];
    linear3_solution(t, e, ep);
    f[0] = (yp[0] - ep[0]) - (y[2] - e[2]) - 0.3 * (y[1] - e[1]);
    f[1] = (yp[1] - ep[1]) - (y[3] - e[3]);
    f[2] = (yp[2] - ep[2]) - (y[1] - e[1]) - (y[4] - e[4]);
    f[3] = (yp[3] - ep[3]) + (y[0] - e[0]) - slow_b(t) * (y[4] - e[4]);
    f[4] = (y[0] - e[0]) + slow_a(t) * (y[1] - e[1]);
    return 0;
}

static const dae_kind kinds1[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
static const dae_kind kinds2[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
static const dae_kind kinds3[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                                  DAE_KIND_INDEX2, DAE_KIND_INDEX3};

__attribute__((unused)) static const closed_form ode = {"ode", 2,   ode_f, ode_solution,
                                                        NULL,  2.0, {0},   1};
__attribute__((unused)) static const closed_form index1 = {
    "index 1", 3, index1_f, index1_solution, kinds1, 2.0, {0, 2}, 2};
__attribute__((unused)) static const closed_form index2 = {
    "index 2", 3, index2_f, index2_solution, kinds2, 1.0, {0, 2}, 2};
__attribute__((unused)) static const closed_form index3 = {
    "index 3", 5, index3_f, index3_solution, kinds3, 1.0, {0, 2, 4}, 3};

__attribute__((unused)) static const closed_form rotation = {
    "rotation", 3, rotation_f, rotation_solution, kinds1, 4.0, {0, 2}, 2};
__attribute__((unused)) static const closed_form turning = {
    "turning", 3, turning_f, turning_solution, kinds1, 4.0, {0, 2}, 2};
__attribute__((unused)) static const closed_form linear2 = {
    "linear, index 2", 3, linear2_f, linear2_solution, kinds2, 1.7, {0, 2}, 2};
__attribute__((unused)) static const closed_form linear3 = {
    "linear, index 3", 5, linear3_f, linear3_solution, kinds3, 1.7, {0, 2, 4}, 3};

/* [BCP96 (4.3.33)]: x' - t y' + x - (1 + t) y = 0, y = sin t: index 1, not semi-explicit */
static int mixed_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - t * yp[1] + y[0] - (1.0 + t) * y[1];
    f[1] = y[1] - sin(t);
    return 0;
}

static void mixed_solution(double t, double *y, double *yp)
{
    y[0] = exp(-t) + t * sin(t);
    y[1] = sin(t);
    yp[0] = -exp(-t) + sin(t) + t * cos(t);
    yp[1] = cos(t);
}

__attribute__((unused)) static const closed_form mixed = {"(4.3.33)", 2,   mixed_f, mixed_solution,
                                                          NULL,       1.0, {0},     1};

__attribute__((unused)) static dae_problem *problem_of(const closed_form *c)
{
    dae_problem *p;
    dae_residual form = {.n = c->n, .f = c->f, .kinds = c->kinds};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

#endif
