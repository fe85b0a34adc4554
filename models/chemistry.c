/* Reaction kinetics: Robertson, chemical Akzo Nobel, HIRES. */
#include "support.h"

#include <math.h>

#define A(i, j, n) ((i) + (j) * (n)) /* dense element (i, j) */

/* ---- Robertson: two rate equations and the conservation of mass ------------------------------ */

static int robertson_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    double slow = 0.04 * y[0], back = 1e4 * y[1] * y[2], fast = 3e7 * y[1] * y[1];
    f[0] = yp[0] + (slow - back); /* these two nearly cancel: first the difference */
    f[1] = yp[1] - (slow - back) + fast;
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
/* t, y1, y2, y3: recomputed in quadruple precision by extrapolation; the values of the test set at
 * 1e11 and those printed with the examples of LSODE and IDA agree with them to their digits */
static const double robertson_table[][4] = {
    {0.4, 9.85172113860989862e-01, 3.38639537897490414e-05, 1.47940221852203885e-02},
    {4, 9.05518678584253912e-01, 2.24047568756020092e-05, 9.44589166588704861e-02},
    {40, 7.15827068719405090e-01, 9.18553476455776371e-06, 2.84163745745830352e-01},
    {400, 4.50518668471102424e-01, 3.22290144167461130e-06, 5.49478108627455901e-01},
    {4e3, 1.83202257776709311e-01, 8.94237125277590926e-07, 8.16796847986165411e-01},
    {4e4, 3.89833770854828525e-02, 1.62176831590968242e-07, 9.61016460737685557e-01},
    {4e5, 4.93827452097981557e-03, 1.98499408795437544e-08, 9.95061705629079305e-01},
    {4e6, 5.16809601492438416e-04, 2.06829449122445356e-09, 9.99483188330213070e-01},
    {4e7, 5.20307184412054737e-05, 2.08133573189253272e-10, 9.99947969073425221e-01},
    {4e8, 5.20770210357317253e-06, 2.08309155941536499e-11, 9.99994792277065511e-01},
    {4e9, 5.20827661143593506e-07, 2.08331171660457196e-12, 9.99999479170255545e-01},
    {4e10, 5.20834517679923921e-08, 2.08333817792548904e-13, 9.99999947916339898e-01},
    {1e11, 2.08334014970129423e-08, 8.33336077033478341e-14, 9.99999979166515169e-01},
};
enum { ROBERTSON_ROWS = sizeof robertson_table / sizeof robertson_table[0] };

static int robertson_solution(const model *m, double t, double *y, double *yp)
{
    (void)m, (void)yp;
    for (int k = 0; k < ROBERTSON_ROWS; k++)
        if (fabs(t - robertson_table[k][0]) <= 1e-14 * fabs(t)) {
            for (int i = 0; i < 3; i++) y[i] = robertson_table[k][1 + i];
            return 0;
        }
    return 1;
}

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
    .reference = robertson_table[ROBERTSON_ROWS - 1] + 1,
    .reference_accuracy = 1e-14,
    .solution = robertson_solution,
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
