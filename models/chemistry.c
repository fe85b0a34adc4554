/* Reaction kinetics: Robertson, chemical Akzo Nobel, HIRES. */
#include "support.h"

#include <math.h>

#define A(i, j, n) ((i) + (j) * (n)) /* dense element (i, j) */

/* ---- Robertson: two rate equations and the conservation of mass ------------------------------ */

static int robertson_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    double slow = 0.04 * y[0], back = 1e4 * y[1] * y[2], fast = 3e7 * y[1] * y[1];
    f[0] = yp[0] + slow - back;
    f[1] = yp[1] - slow + back + fast;
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

static int robertson_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    (void)t, (void)yp, (void)user;
    dfdy[A(0, 0, 3)] = 0.04;
    dfdy[A(0, 1, 3)] = -1e4 * y[2];
    dfdy[A(0, 2, 3)] = -1e4 * y[1];
    dfdy[A(1, 0, 3)] = -0.04;
    dfdy[A(1, 1, 3)] = 1e4 * y[2] + 6e7 * y[1];
    dfdy[A(1, 2, 3)] = 1e4 * y[1];
    for (int j = 0; j < 3; j++) dfdy[A(2, j, 3)] = 1.0;
    dfdyp[A(0, 0, 3)] = dfdyp[A(1, 1, 3)] = 1.0;
    return 0;
}

static void robertson_derivative(double *y, double *yp)
{
    yp[0] = -0.04 * y[0];
    yp[1] = 0.04 * y[0];
    yp[2] = 0.0;
}

static const char *const robertson_variables[] = {"y1", "y2", "y3"};
static const char *const robertson_equations[] = {"rate1", "rate2", "conservation"};
static const dae_kind robertson_kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                           DAE_KIND_INDEX1};
static const double robertson_y0[] = {1.0, 0.0, 0.0};
static const double robertson_reference[] = {0.2083340149701255e-7, 0.8333360770334713e-13,
                                             0.9999999791665050};
/* y1 falls to 2e-8 and y2 stays near 4e-6 of it: an atol that suits y3 would hide both. */
static const double robertson_atol_factor[] = {1e-2, 1e-8, 1.0};

static const small_model robertson = {
    .name = "robertson",
    .title = "Robertson's autocatalytic reaction as a DAE",
    .source = "Robertson 1966; Mazzia & Magherini, Test Set for IVP Solvers (CWI/Bari), ROBER",
    .n = 3,
    .f = robertson_f,
    .jacobian = robertson_jacobian,
    .variable_names = robertson_variables,
    .equation_names = robertson_equations,
    .kinds = robertson_kinds,
    .t0 = 0.0,
    .tend = 1e11,
    .y0 = robertson_y0,
    .derivative = robertson_derivative,
    .reference = robertson_reference,
    .reference_accuracy = 1e-11,
    .atol_factor = robertson_atol_factor,
};

model *new_robertson(int size)
{
    (void)size;
    return model_from_table(&robertson);
}

/* ---- Chemical Akzo Nobel: five rates and one equilibrium ------------------------------------- */

enum { AKZO_N = 6 };
static const double akzo_k1 = 18.7, akzo_k2 = 0.58, akzo_k3 = 0.09, akzo_k4 = 0.42;
static const double akzo_equilibrium = 34.4, akzo_ks = 115.83;
static const double akzo_transfer = 3.3, akzo_oxygen = 0.9 / 737.0;

/* r = the five reaction rates and the inflow of oxygen at y */
static void akzo_rates(const double *y, double r[6])
{
    double root = sqrt(y[1]);
    r[0] = akzo_k1 * y[0] * y[0] * y[0] * y[0] * root;
    r[1] = akzo_k2 * y[2] * y[3];
    r[2] = akzo_k2 / akzo_equilibrium * y[0] * y[4];
    r[3] = akzo_k3 * y[0] * y[3] * y[3];
    r[4] = akzo_k4 * y[5] * y[5] * root;
    r[5] = akzo_transfer * (akzo_oxygen - y[1]);
}

/* Stoichiometry: y_i' = sum_k akzo_nu[i][k] r_k, i < 5 */
static const double akzo_nu[5][6] = {
    {-2.0, 1.0, -1.0, -1.0, 0.0, 0.0}, {-0.5, 0.0, 0.0, -1.0, -0.5, 1.0},
    {1.0, -1.0, 1.0, 0.0, 0.0, 0.0},   {0.0, -1.0, 1.0, -2.0, 0.0, 0.0},
    {0.0, 1.0, -1.0, 0.0, 1.0, 0.0},
};

/* F; asks for a smaller step where the oxygen y2 is negative and the rates are undefined */
static int akzo_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    double r[6];
    if (y[1] < 0.0) return 1;
    akzo_rates(y, r);
    for (int i = 0; i < 5; i++) {
        f[i] = yp[i];
        for (int k = 0; k < 6; k++) f[i] -= akzo_nu[i][k] * r[k];
    }
    f[5] = akzo_ks * y[0] * y[3] - y[5];
    return 0;
}

/* dr[k][j] = d r_k / d y_j */
static void akzo_rate_derivatives(const double *y, double dr[6][AKZO_N])
{
    double root = sqrt(y[1]), cube = y[0] * y[0] * y[0];
    dr[0][0] = 4.0 * akzo_k1 * cube * root;
    dr[0][1] = 0.5 * akzo_k1 * cube * y[0] / root;
    dr[1][2] = akzo_k2 * y[3];
    dr[1][3] = akzo_k2 * y[2];
    dr[2][0] = akzo_k2 / akzo_equilibrium * y[4];
    dr[2][4] = akzo_k2 / akzo_equilibrium * y[0];
    dr[3][0] = akzo_k3 * y[3] * y[3];
    dr[3][3] = 2.0 * akzo_k3 * y[0] * y[3];
    dr[4][1] = 0.5 * akzo_k4 * y[5] * y[5] / root;
    dr[4][5] = 2.0 * akzo_k4 * y[5] * root;
    dr[5][1] = -akzo_transfer;
}

static int akzo_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)yp, (void)user;
    double dr[6][AKZO_N] = {{0.0}};
    if (y[1] <= 0.0) return 1;
    akzo_rate_derivatives(y, dr);
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < AKZO_N; j++)
            for (int k = 0; k < 6; k++) dfdy[A(i, j, AKZO_N)] -= akzo_nu[i][k] * dr[k][j];
        dfdyp[A(i, i, AKZO_N)] = 1.0;
    }
    dfdy[A(5, 0, AKZO_N)] = akzo_ks * y[3];
    dfdy[A(5, 3, AKZO_N)] = akzo_ks * y[0];
    dfdy[A(5, 5, AKZO_N)] = -1.0;
    return 0;
}

static void akzo_derivative(double *y, double *yp)
{
    double r[6];
    y[5] = akzo_ks * y[0] * y[3];
    akzo_rates(y, r);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 6; k++) yp[i] += akzo_nu[i][k] * r[k];
    yp[5] = akzo_ks * (yp[0] * y[3] + y[0] * yp[3]);
}

static const char *const akzo_variables[] = {"FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB_ZHU"};
static const char *const akzo_equations[] = {"rate1", "rate2", "rate3",
                                             "rate4", "rate5", "equilibrium"};
static const dae_kind akzo_kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                      DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                      DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
static const double akzo_y0[] = {0.444, 0.00123, 0.0, 0.007, 0.0, 0.0};
static const double akzo_reference[] = {0.1150794920661702,    0.1203831471567715e-2,
                                        0.1611562887407974,    0.3656156421249283e-3,
                                        0.1708010885264404e-1, 0.4873531310307455e-2};

static const small_model akzo = {
    .name = "akzo",
    .title = "Chemical Akzo Nobel problem, index 1",
    .source = "Stortelder 1998; Mazzia & Magherini, Test Set for IVP Solvers (CWI/Bari), CHEMAKZO",
    .n = AKZO_N,
    .f = akzo_f,
    .jacobian = akzo_jacobian,
    .variable_names = akzo_variables,
    .equation_names = akzo_equations,
    .kinds = akzo_kinds,
    .t0 = 0.0,
    .tend = 180.0,
    .y0 = akzo_y0,
    .derivative = akzo_derivative,
    .reference = akzo_reference,
    .reference_accuracy = 1e-13,
};

model *new_akzo(int size)
{
    (void)size;
    return model_from_table(&akzo);
}

/* ---- HIRES: high irradiance responses of photomorphogenesis, an ODE -------------------------- */

enum { HIRES_N = 8 };

/* Linear part: y_i' = sum_j hires_rate[i][j] y_j + .. */
static const double hires_rate[HIRES_N][HIRES_N] = {
    {-1.71, 0.43, 8.32},
    {1.71, -8.75},
    {0.0, 0.0, -10.03, 0.43, 0.035},
    {0.0, 8.32, 1.71, -1.12},
    {0.0, 0.0, 0.0, 0.0, -1.745, 0.43, 0.43},
    {0.0, 0.0, 0.0, 0.69, 1.71, -0.43, 0.69},
    {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.81},
    {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.81},
};
static const double hires_bind = 280.0;    /* rate of y6 + y8 -> y7 */
static const double hires_source = 0.0007; /* supply of y1 */

static void hires_rhs(const double *y, double *rate)
{
    double bound = hires_bind * y[5] * y[7];
    for (int i = 0; i < HIRES_N; i++) {
        rate[i] = 0.0;
        for (int j = 0; j < HIRES_N; j++) rate[i] += hires_rate[i][j] * y[j];
    }
    rate[0] += hires_source;
    rate[5] -= bound;
    rate[6] += bound;
    rate[7] -= bound;
}

static int hires_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    hires_rhs(y, f);
    for (int i = 0; i < HIRES_N; i++) f[i] = yp[i] - f[i];
    return 0;
}

static int hires_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                          void *user)
{
    (void)t, (void)yp, (void)user;
    static const double sign[HIRES_N] = {0, 0, 0, 0, 0, 1.0, -1.0, 1.0};
    for (int i = 0; i < HIRES_N; i++) {
        for (int j = 0; j < HIRES_N; j++) dfdy[A(i, j, HIRES_N)] = -hires_rate[i][j];
        dfdy[A(i, 5, HIRES_N)] += sign[i] * hires_bind * y[7];
        dfdy[A(i, 7, HIRES_N)] += sign[i] * hires_bind * y[5];
        dfdyp[A(i, i, HIRES_N)] = 1.0;
    }
    return 0;
}

static void hires_derivative(double *y, double *yp)
{
    hires_rhs(y, yp);
}

static const char *const hires_variables[] = {"Pr",   "Pfr",   "PrX",    "PfrX",
                                              "PrX'", "PfrX'", "PfrX'E", "E"};
static const char *const hires_equations[] = {"rate1", "rate2", "rate3", "rate4",
                                              "rate5", "rate6", "rate7", "rate8"};
static const dae_kind hires_kinds[] = {
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL};
static const double hires_y0[] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057};
static const double hires_reference[] = {
    0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
    0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2};

static const small_model hires = {
    .name = "hires",
    .title = "HIRES, plant photomorphogenesis, a stiff ODE in residual form",
    .source = "Schaefer 1975; Mazzia & Magherini, Test Set for IVP Solvers (CWI/Bari), HIRES",
    .n = HIRES_N,
    .f = hires_f,
    .jacobian = hires_jacobian,
    .variable_names = hires_variables,
    .equation_names = hires_equations,
    .kinds = hires_kinds,
    .t0 = 0.0,
    .tend = 321.8122,
    .y0 = hires_y0,
    .derivative = hires_derivative,
    .reference = hires_reference,
    .reference_accuracy = 1e-11,
};

model *new_hires(int size)
{
    (void)size;
    return model_from_table(&hires);
}
