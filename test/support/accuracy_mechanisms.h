/* Mechanisms for accuracy.h: stiff, driven without freedom, near dead centres, without constraints.
 */
#ifndef DAE_TEST_ACCURACY_MECHANISMS_H
#define DAE_TEST_ACCURACY_MECHANISMS_H

#include "accuracy.h"

/* Drives that leave no freedom: the error test sees nothing, every value is that of the drives. */
static void prescribed_exact(double t, double *x)
{
    x[0] = sin(7.0 * t);
    x[1] = cos(5.0 * t);
    x[2] = 7.0 * cos(7.0 * t);
    x[3] = -98.0 * sin(7.0 * t);
}

static const char prescribed_text[] =
    "model Prescribed\n  Real x, y, vx, vy, fx, fy;\nequation\n  der(x) = vx; der(y) = vy;\n"
    "  2*der(vx) = fx; 2*der(vy) = fy - 19.62;\n  x = sin(7*time); y = cos(5*time);\n"
    "end Prescribed;\n";

/* A crank and rocker, T0 its torque: one degree of freedom, through dead centres. */
static const char crank_text[] =
    "model Crank\n  parameter Real L1 = 0.1, L2 = 0.3, L3 = 0.25, d = 0.3;\n"
    "  parameter Real m1 = 0.5, m2 = 1.5, m3 = 1.2, g = 9.81, T0 = 0.8;\n"
    "  parameter Real J1 = m1*L1^2/12, J2 = m2*L2^2/12, J3 = m3*L3^2/12;\n"
    "  Real x1, y1, p1(start = 0.5, fixed = true), x2, y2, p2(start = 0.9);\n"
    "  Real x3, y3, p3(start = 1.6), u1, v1, w1(start = 0, fixed = true), u2, v2, w2, u3, v3, w3;\n"
    "  Real la[8];\nequation\n"
    "  der(x1) = u1; der(y1) = v1; der(p1) = w1; der(x2) = u2; der(y2) = v2; der(p2) = w2;\n"
    "  der(x3) = u3; der(y3) = v3; der(p3) = w3;\n"
    "  m1*der(u1) = la[1] - la[3]; m1*der(v1) = la[2] - la[4] - m1*g;\n"
    "  J1*der(w1) = T0 + L1/2*(sin(p1)*(la[1] + la[3]) - cos(p1)*(la[2] + la[4]));\n"
    "  m2*der(u2) = la[3] - la[5]; m2*der(v2) = la[4] - la[6] - m2*g;\n"
    "  J2*der(w2) = L2/2*(sin(p2)*(la[3] + la[5]) - cos(p2)*(la[4] + la[6]));\n"
    "  m3*der(u3) = la[5] + la[7]; m3*der(v3) = la[6] + la[8] - m3*g;\n"
    "  J3*der(w3) = L3/2*(sin(p3)*(la[7] - la[5]) - cos(p3)*(la[8] - la[6]));\n"
    "  x1 - L1/2*cos(p1) = 0; y1 - L1/2*sin(p1) = 0;\n"
    "  x2 - L2/2*cos(p2) = x1 + L1/2*cos(p1); y2 - L2/2*sin(p2) = y1 + L1/2*sin(p1);\n"
    "  x3 + L3/2*cos(p3) = x2 + L2/2*cos(p2); y3 + L3/2*sin(p3) = y2 + L2/2*sin(p2);\n"
    "  x3 - L3/2*cos(p3) = d; y3 - L3/2*sin(p3) = 0;\nend Crank;\n";

/* A planet, e = 0.6: Kepler's equation t = E - e sin E. */
static void orbit_exact(double t, double *x)
{
    const double e = 0.6, b = 0.8;
    double E = t;
    for (int k = 0; k < 100; k++) E -= (E - e * sin(E) - t) / (1.0 - e * cos(E));
    double r = 1.0 - e * cos(E);
    x[0] = cos(E) - e;
    x[1] = b * sin(E);
    x[2] = b * cos(E) / r;
}

static const char orbit_text[] =
    "model Orbit\n  Real x(start = 0.4, fixed = true), y(start = 0, fixed = true), r;\n"
    "  Real u(start = 0, fixed = true), v(start = 2, fixed = true);\nequation\n"
    "  r = sqrt(x^2 + y^2);\n  der(x) = u; der(y) = v;\n  der(u) = -x/r^3; der(v) = -y/r^3;\n"
    "end Orbit;\n";

/* Three masses: a joint, a stiff spring with a stiff damper, a soft one to a driven wall. The
 * second and the third move together but for 1e-4, and the reference is the limit of stiffness
 * corrected by the method itself: it is computed at 1e-11 by another family, see stiff_exact. */
enum { STIFF_POINTS = 2001 };
static double stiff_table[STIFF_POINTS][4];
static const double STIFF_STOP = 4.0;

static int stiff_force(const dae_mechanical_point *at, double *f, void *user)
{
    const double K = 1e6, C = 2e3, *q = at->q, *v = at->v;
    double spring = K * (q[2] - q[1]) + C * (v[2] - v[1]), u = (at->t - 1.0) / 0.3;
    (void)user;
    f[0] = -q[0];
    f[1] = spring;
    f[2] = -spring - 100.0 * (q[2] - exp(-u * u)) - 20.0 * v[2];
    return 0;
}

static int stiff_joint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] - at->q[1];
    return 0;
}

static dae_problem *stiff_make(void)
{
    static const char *const names[] = {"q1", "q2", "q3", "v1", "v2", "v3", "lambda"};
    dae_mechanical m = {.nq = 3,
                        .nlambda = 1,
                        .force = stiff_force,
                        .constraint = stiff_joint,
                        .variable_names = names,
                        .scleronomic = true};
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_mechanical(&m, &p, NULL), DAE_OK);
    return p;
}

static void stiff_start(double *y, double *yp)
{
    (void)y;
    (void)yp; /* at rest: both are zero */
}

/* The table, by radau at 1e-11, once. */
static void stiff_prepare(void)
{
    dae_problem *p = stiff_make();
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[7] = {0.0};
    o.method = "radau";
    o.rtol = o.atol = 1e-11;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    for (int k = 1; k < STIFF_POINTS; k++) {
        dae_status status = dae_solver_run(s, STIFF_STOP * k / (STIFF_POINTS - 1), y, NULL);
        if (status != DAE_OK) print_error("stiffmech: %s\n", dae_solver_diag(s)->text);
        assert_int_equal(status, DAE_OK);
        for (int j = 0; j < 3; j++) stiff_table[k][j] = y[j];
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* By the polynomial of degree 7 through the nearest points of the table: off by 1e-13. */
static void stiff_exact(double t, double *x)
{
    enum { NODES = 8 };
    double at = t / STIFF_STOP * (STIFF_POINTS - 1);
    int first = (int)at - NODES / 2 + 1;
    if (first < 0) first = 0;
    if (first > STIFF_POINTS - NODES) first = STIFF_POINTS - NODES;
    for (int j = 0; j < 3; j++) x[j] = 0.0;
    for (int k = 0; k < NODES; k++) {
        double weight = 1.0;
        for (int i = 0; i < NODES; i++)
            if (i != k) weight *= (at - first - i) / (k - i);
        for (int j = 0; j < 3; j++) x[j] += weight * stiff_table[first + k][j];
    }
}

static const accuracy_case mechanism_cases[] = {
    {.name = "prescribed",
     .text = prescribed_text,
     .exact = prescribed_exact,
     .stop = 3.0,
     .count = 4,
     .multipliers = 1,
     .names = {"x", "y", "vx", "fx"}},
    {.name = "crank", .text = crank_text, .stop = 0.5, .count = 3, .names = {"p1", "w1", "p3"}},
    {.name = "orbit",
     .text = orbit_text,
     .exact = orbit_exact,
     .stop = 2.0,
     .count = 3,
     .names = {"x", "y", "v"}},
    {.name = "stiffmech",
     .make = stiff_make,
     .start = stiff_start,
     .exact = stiff_exact,
     .stop = 4.0,
     .count = 3,
     .names = {"q1", "q2", "q3"}},
};

enum { MECHANISM_CASES = sizeof mechanism_cases / sizeof *mechanism_cases };

#endif
