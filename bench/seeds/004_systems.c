/* Systems of seed 004 as callbacks. */
#include "004_systems.h"

#include <math.h>
#include <string.h>

/* E by columns: a diagonal */
static int diagonal(int n, const double *entries, double *E)
{
    memset(E, 0, (size_t)(n * n) * sizeof *E);
    for (int i = 0; i < n; i++) E[i + i * n] = entries[i];
    return 0;
}

/* ---- 4.5: the chain, m = 1, c = 1/6 ---- */

static const double stiffness = 1.0 / 6.0;

static int chain_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    return diagonal(7, (double[]){1, 1, 1, 1, 1, 1, 0}, E);
}

static int chain_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x, c = stiffness;
    (void)user;
    for (int i = 0; i < 3; i++) f[i] = x[3 + i];
    f[3] = x[6] - c * (x[0] - x[1]);
    f[4] = c * (x[0] - x[1]) - c * (x[1] - x[2]);
    f[5] = x[6] + c * (x[1] - x[2]);
    f[6] = x[1] - sin(at->t);
    return 0;
}

static int chain_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x, c = stiffness, s = sin(at->t), k = cos(at->t);
    (void)user;
    g[0] = x[1] - s;
    g[1] = x[4] - k;
    g[2] = c * (x[0] - x[1]) - c * (x[1] - x[2]) + s;
    g[3] = c * (x[3] - x[4]) - c * (x[4] - x[5]) + k;
    g[4] = c * (-3 * c * (x[0] - x[1]) + 3 * c * (x[1] - x[2]) + 2 * x[6]) - s;
    return 0;
}

static int chain_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    const double c = stiffness;
    const double rows[5][7] = {{0, 1, 0, 0, 0, 0, 0},
                               {0, 0, 0, 0, 1, 0, 0},
                               {c, -2 * c, c, 0, 0, 0, 0},
                               {0, 0, 0, c, -2 * c, c, 0},
                               {-3 * c * c, 6 * c * c, -3 * c * c, 0, 0, 0, 2 * c}};
    (void)at, (void)user;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++) J[i + 5 * j] = rows[i][j];
    return 0;
}

static void chain_exact(double t, double *x)
{
    const double s = sin(t), c = cos(t);
    const double all[7] = {-2 * s, s, -2 * s, -2 * c, c, -2 * c, 1.5 * s};
    memcpy(x, all, sizeof all);
}

const baese_system baese_chain = {.form = {.n = 7,
                                           .ne = 7,
                                           .ng = 5,
                                           .E = chain_E,
                                           .f = chain_f,
                                           .g = chain_g,
                                           .g_x = chain_g_x,
                                           .E_constant = true},
                                  .start = {0, 0, 0, -2, 1, -2, 0},
                                  .tf = 400,
                                  .exact = chain_exact};

/* ---- 4.6: the circuit ---- */

static int circuit_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 25 * sizeof *E);
    E[0] = -1;
    E[1] = 1;
    E[6] = -1;
    return 0;
}

static int circuit_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x;
    (void)user;
    f[0] = x[2] + x[4];
    f[1] = x[3];
    f[2] = x[2] - sin(100 * at->t);
    f[3] = x[0] - x[2] + x[3];
    f[4] = x[1] - x[3];
    return 0;
}

static int circuit_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x;
    (void)user;
    g[0] = x[2] - sin(100 * at->t);
    g[1] = x[0] - x[2] + x[3];
    g[2] = x[1] - x[3];
    g[3] = 2 * x[2] + x[3] + 2 * x[4] + 100 * cos(100 * at->t);
    return 0;
}

static int circuit_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    static const double rows[4][5] = {
        {0, 0, 1, 0, 0}, {1, 0, -1, 1, 0}, {0, 1, 0, -1, 0}, {0, 0, 2, 1, 2}};
    (void)at, (void)user;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) J[i + 4 * j] = rows[i][j];
    return 0;
}

static void circuit_exact(double t, double *x)
{
    double s = sin(100 * t), c = cos(100 * t), e = exp(-0.5 * t);
    x[2] = s;
    x[3] = (100 * c + 20000 * s - 100 * e) / 40001;
    x[0] = x[2] - x[3];
    x[1] = x[3];
    x[4] = (-2000100 * c - 50001 * s + 50 * e) / 40001;
}

const baese_system baese_circuit = {.form = {.n = 5,
                                             .ne = 5,
                                             .ng = 4,
                                             .E = circuit_E,
                                             .f = circuit_f,
                                             .g = circuit_g,
                                             .g_x = circuit_g_x,
                                             .E_constant = true,
                                             .time_scale = 0.01},
                                    .start = {0, 0, 0, 0, -50},
                                    .tf = 1,
                                    .exact = circuit_exact};

/* ---- 4.7: Akzo Nobel ---- */

static int akzo_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    return diagonal(6, (double[]){1, 1, 1, 1, 1, 0}, E);
}

static int akzo_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *y = at->x, root = sqrt(y[1]);
    if (!(y[1] >= 0.0)) return 1;
    double r1 = 18.7 * pow(y[0], 4) * root, r2 = 0.58 * y[2] * y[3], r3 = 0.58 * y[0] * y[4] / 34.4,
           r4 = 0.09 * y[0] * y[3] * y[3], r5 = 0.42 * y[5] * y[5] * root;
    (void)user;
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + 3.3 * (0.9 / 737 - y[1]);
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = 115.83 * y[0] * y[3] - y[5];
    return 0;
}

static int akzo_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 115.83 * at->x[0] * at->x[3] - at->x[5];
    return 0;
}

static int akzo_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    (void)user;
    memset(J, 0, 6 * sizeof *J);
    J[0] = 115.83 * at->x[3];
    J[3] = 115.83 * at->x[0];
    J[5] = -1;
    return 0;
}

const baese_system baese_akzo = {.form = {.n = 6,
                                          .ne = 6,
                                          .ng = 1,
                                          .E = akzo_E,
                                          .f = akzo_f,
                                          .g = akzo_g,
                                          .g_x = akzo_g_x,
                                          .autonomous = true,
                                          .E_constant = true},
                                 .start = {0.444, 0.00123, 0, 0.007, 0, 0.444 * 0.007 * 115.83},
                                 .tf = 180};

/* ---- 4.4: the modified pendulum, m = 2, g = 9.78 ---- */

static const double crane_mass = 2, crane_gravity = 9.78, crane_pull = -0.03; /* l' */

static double crane_length(double t)
{
    return 0.5 + 0.03 * (50 - t);
}

static int crane_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    return diagonal(5, (double[]){1, 1, crane_mass, crane_mass, 0}, E);
}

static int crane_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x, l = crane_length(at->t), wind = 1 - 0.04 * at->t;
    (void)user;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -2 * x[0] * x[4] + crane_mass * wind;
    f[3] = -2 * x[1] * x[4] - crane_mass * crane_gravity;
    f[4] = x[0] * x[0] + x[1] * x[1] - l * l;
    return 0;
}

/* user: whether the terms of l' are there, which the print lacks */
static int crane_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x, l = crane_length(at->t), wind = 1 - 0.04 * at->t;
    const double pull = user ? crane_pull : 0.0;
    g[0] = x[0] * x[0] + x[1] * x[1] - l * l;
    g[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3] - 2 * l * pull;
    g[2] = 2 * x[2] * x[2] + 2 * x[3] * x[3] + 2 * x[0] * wind - 4 / crane_mass * l * l * x[4] -
           2 * crane_gravity * x[1] - 2 * pull * pull;
    return 0;
}

static char with_terms;

#define CRANE .n = 5, .ne = 5, .ng = 3, .E = crane_E, .f = crane_f, .g = crane_g, .E_constant = true

const baese_system baese_crane = {
    .form = {CRANE, .user = &with_terms}, .start = {0, -2, 0, 0.03, 4.89}, .tf = 50};
const baese_system baese_crane_printed = {.form = {CRANE}, .start = {0, -2, 0, 0, 4.89}, .tf = 50};

/* ---- example 3.13: x1 = exp t, x2 = -2 exp t, x3 = 0 ---- */

static int example_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    return diagonal(3, (double[]){1, 1, 0}, E);
}

static int example_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    f[1] = at->x[1];
    f[2] = 0;
    return 0;
}

static int example_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 2 * at->x[0] + at->x[1];
    g[1] = at->x[0] + 0.5 * at->x[1] + at->x[2];
    return 0;
}

static void example_exact(double t, double *x)
{
    x[0] = exp(t);
    x[1] = -2 * exp(t);
    x[2] = 0;
}

const baese_system baese_example313 = {.form = {.n = 3,
                                                .ne = 3,
                                                .ng = 2,
                                                .E = example_E,
                                                .f = example_f,
                                                .g = example_g,
                                                .autonomous = true,
                                                .E_constant = true},
                                       .start = {1, -2, 0},
                                       .tf = 1,
                                       .exact = example_exact};

/* ---- E that changes: (1 + t) x' = x, 0 = x - y; x = y = 1 + t ---- */

static int varying_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)user;
    return diagonal(2, (double[]){1 + at->t, 0}, E);
}

static int varying_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    f[1] = 0;
    return 0;
}

static int varying_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] - at->x[1];
    return 0;
}

static void varying_exact(double t, double *x)
{
    x[0] = x[1] = 1 + t;
}

const baese_system baese_varying = {.form = {.n = 2,
                                             .ne = 2,
                                             .ng = 1,
                                             .E = varying_E,
                                             .f = varying_f,
                                             .g = varying_g,
                                             .autonomous = true},
                                    .start = {1, 1},
                                    .tf = 1,
                                    .exact = varying_exact};

/* ---- 4.2.1 and 4.2.2: x' = x alone; 0 = x^2 - 2 - t alone ---- */

static int differential_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    return 0;
}

static void differential_exact(double t, double *x)
{
    x[0] = exp(t);
}

const baese_system baese_differential = {.form = {.n = 1, .ne = 1, .f = differential_f},
                                         .start = {1},
                                         .tf = 1,
                                         .exact = differential_exact};

static int algebraic_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = 0;
    return 0;
}

static int algebraic_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] * at->x[0] - 2 - at->t;
    return 0;
}

static void algebraic_exact(double t, double *x)
{
    x[0] = sqrt(2 + t);
}

const baese_system baese_algebraic = {.form = {.n = 1,
                                               .ne = 1,
                                               .ng = 1,
                                               .E = algebraic_E,
                                               .f = algebraic_g,
                                               .g = algebraic_g,
                                               .E_constant = true},
                                      .start = {1.5},
                                      .tf = 1,
                                      .exact = algebraic_exact};
