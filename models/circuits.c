/* Electric circuits of fixed size: transistor amplifier, ring modulator. */
#include "support.h"

#include <math.h>

#define A(i, j, n) ((i) + (j) * (n)) /* dense element (i, j) */

/* ---- Transistor amplifier: M y' = f(t, y) with singular constant M --------------------------- */

enum { AMP_N = 8 };
static const double amp_supply = 6.0, amp_thermal = 0.026, amp_gain = 0.99, amp_leak = 1e-6;
static const double amp_r0 = 1000.0, amp_r = 9000.0; /* R1 .. R9 are alike */

/* M by entries: capacitors C1, C3, C5 couple pairs of nodes, C2 and C4 go to ground */
static const struct {
    int i, j;
    double value;
} amp_mass[] = {
    {0, 0, -1e-6}, {0, 1, 1e-6}, {1, 0, 1e-6}, {1, 1, -1e-6}, {2, 2, -2e-6},
    {3, 3, -3e-6}, {3, 4, 3e-6}, {4, 3, 3e-6}, {4, 4, -3e-6}, {5, 5, -4e-6},
    {6, 6, -5e-6}, {6, 7, 5e-6}, {7, 6, 5e-6}, {7, 7, -5e-6},
};
enum { AMP_MASS_COUNT = sizeof amp_mass / sizeof amp_mass[0] };

static double amp_input(double t)
{
    return 0.1 * sin(200.0 * MODEL_PI * t);
}

/* Emitter current of a transistor with base-emitter voltage u */
static double amp_current(double u)
{
    return amp_leak * (exp(u / amp_thermal) - 1.0);
}

static double amp_conductance(double u)
{
    return amp_leak / amp_thermal * exp(u / amp_thermal);
}

/* rhs = f(t, y), the currents that leave the nodes through resistors and transistors */
static void amp_rhs(double t, const double *y, double *rhs)
{
    double i1 = amp_current(y[1] - y[2]), i2 = amp_current(y[4] - y[5]);
    rhs[0] = (y[0] - amp_input(t)) / amp_r0;
    rhs[1] = y[1] / amp_r + (y[1] - amp_supply) / amp_r + (1.0 - amp_gain) * i1;
    rhs[2] = y[2] / amp_r - i1;
    rhs[3] = (y[3] - amp_supply) / amp_r + amp_gain * i1;
    rhs[4] = y[4] / amp_r + (y[4] - amp_supply) / amp_r + (1.0 - amp_gain) * i2;
    rhs[5] = y[5] / amp_r - i2;
    rhs[6] = (y[6] - amp_supply) / amp_r + amp_gain * i2;
    rhs[7] = y[7] / amp_r;
}

/* An overflowing exponential asks for a smaller step through the Inf it leaves in f. */
static int amp_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    amp_rhs(t, y, f);
    for (int i = 0; i < AMP_N; i++) f[i] = -f[i];
    for (int k = 0; k < AMP_MASS_COUNT; k++)
        f[amp_mass[k].i] += amp_mass[k].value * yp[amp_mass[k].j];
    return 0;
}

/* The part of dF/dy of one stage: base node b, emitter b + 1, collector b + 2 */
static void amp_stage_jacobian(int b, double conductance, double *dfdy)
{
    const double share[3] = {1.0 - amp_gain, -1.0, amp_gain};
    for (int i = 0; i < 3; i++) {
        dfdy[A(b + i, b, AMP_N)] -= share[i] * conductance;
        dfdy[A(b + i, b + 1, AMP_N)] += share[i] * conductance;
    }
}

static int amp_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                        void *user)
{
    (void)t, (void)yp, (void)user;
    static const double leak[AMP_N] = {0.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0};
    for (int i = 0; i < AMP_N; i++) dfdy[A(i, i, AMP_N)] = -leak[i] / amp_r;
    dfdy[A(0, 0, AMP_N)] = -1.0 / amp_r0;
    amp_stage_jacobian(1, amp_conductance(y[1] - y[2]), dfdy);
    amp_stage_jacobian(4, amp_conductance(y[4] - y[5]), dfdy);
    for (int k = 0; k < AMP_MASS_COUNT; k++)
        dfdyp[A(amp_mass[k].i, amp_mass[k].j, AMP_N)] = amp_mass[k].value;
    return 0;
}

/* y' at rest. The capacitors fix y3', y6' and the differences y1' - y2', y4' - y5', y7' - y8', all
 * zero; the sums of the coupled node equations, free of y', are differentiated for the rest. */
static void amp_derivative(double *y, double *yp)
{
    double slope = 0.1 * 200.0 * MODEL_PI / amp_r0; /* of the input current at t = 0 */
    double g = amp_conductance(0.0), base = (1.0 - amp_gain) * g;
    yp[2] = -y[2] / (amp_r * 2e-6);
    yp[5] = -y[5] / (amp_r * 4e-6);
    yp[0] = yp[1] = (slope + base * yp[2]) / (1.0 / amp_r0 + 2.0 / amp_r + base);
    yp[3] = yp[4] = (base * yp[5] - amp_gain * g * (yp[1] - yp[2])) / (3.0 / amp_r + base);
    yp[6] = yp[7] = -amp_gain * g * (yp[4] - yp[5]) / (2.0 / amp_r);
}

static const char *const amp_variables[] = {"U1", "U2", "U3", "U4", "U5", "U6", "U7", "U8"};
static const char *const amp_equations[] = {"node1", "node2", "node3", "node4",
                                            "node5", "node6", "node7", "node8"};
static const double amp_y0[] = {0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0};
static const double amp_reference[] = {
    -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
    0.2704617865010554e1,   0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1};

/* Kinds stay auto: all y' appear, the algebraic equations are sums of rows. */
static const small_model transamp = {
    .name = "transamp",
    .title = "Transistor amplifier, M y' = f(t, y) with singular M, index 1",
    .source = "Rentrop, Roche & Steinebach 1989; Mazzia & Magherini, Test Set for IVP Solvers "
              "(CWI/Bari), TRANSAMP",
    .n = AMP_N,
    .f = amp_f,
    .jacobian = amp_jacobian,
    .variable_names = amp_variables,
    .equation_names = amp_equations,
    .t0 = 0.0,
    .tend = 0.2,
    .y0 = amp_y0,
    .derivative = amp_derivative,
    .reference = amp_reference,
    .reference_accuracy = 1e-12,
};

model *new_transamp(int size)
{
    (void)size;
    return model_from_table(&transamp);
}

/* ---- Ring modulator: an ODE of 15 equations, parasitic capacitance Cs = 2e-12 -----------------
 */

enum { RING_N = 15 };
static const double ring_c = 1.6e-8, ring_cs = 2e-12, ring_cp = 1e-8;
static const double ring_r = 25e3, ring_rp = 50.0, ring_ri = 50.0, ring_rc = 600.0;
static const double ring_lh = 4.45, ring_ls1 = 2e-3, ring_ls2 = 5e-4, ring_ls3 = 5e-4;
static const double ring_rg1 = 36.3, ring_rg2 = 17.3, ring_rg3 = 17.3;
static const double ring_gamma = 40.67286402e-9, ring_delta = 17.7493332;

/* Diode k sees the voltage sum_j ring_diode[k][j] y_(3+j) + ring_pump[k] u2(t), j < 5; its current
 * enters the nodes y3 .. y7 with the opposite signs. */
static const double ring_diode[4][5] = {
    {1.0, 0.0, -1.0, 0.0, -1.0},
    {0.0, -1.0, 0.0, 1.0, -1.0},
    {0.0, 1.0, 1.0, 0.0, 1.0},
    {-1.0, 0.0, 0.0, -1.0, 1.0},
};
static const double ring_pump[4] = {-1.0, -1.0, 1.0, 1.0};
static const double ring_capacitance[5] = {2e-12, 2e-12, 2e-12, 2e-12, 1e-8};

/* The linear part: y_i' = (..)/ring_storage[i] */
static void ring_linear(const double *y, double *rate)
{
    rate[0] = (y[7] - 0.5 * y[9] + 0.5 * y[10] + y[13] - y[0] / ring_r) / ring_c;
    rate[1] = (y[8] - 0.5 * y[11] + 0.5 * y[12] + y[14] - y[1] / ring_r) / ring_c;
    rate[2] = y[9] / ring_cs;
    rate[3] = -y[10] / ring_cs;
    rate[4] = y[11] / ring_cs;
    rate[5] = -y[12] / ring_cs;
    rate[6] = -y[6] / ring_rp / ring_cp;
    rate[7] = -y[0] / ring_lh;
    rate[8] = -y[1] / ring_lh;
    rate[9] = (0.5 * y[0] - y[2] - ring_rg2 * y[9]) / ring_ls2;
    rate[10] = (-0.5 * y[0] + y[3] - ring_rg3 * y[10]) / ring_ls3;
    rate[11] = (0.5 * y[1] - y[4] - ring_rg2 * y[11]) / ring_ls2;
    rate[12] = (-0.5 * y[1] + y[5] - ring_rg3 * y[12]) / ring_ls3;
    rate[13] = (-y[0] - (ring_ri + ring_rg1) * y[13]) / ring_ls1;
    rate[14] = (-y[1] - (ring_rc + ring_rg1) * y[14]) / ring_ls1;
}

/* exp(delta u_k) for diode k at time t */
static double ring_exponential(int k, double t, const double *y)
{
    double u = ring_pump[k] * 2.0 * sin(20000.0 * MODEL_PI * t);
    for (int j = 0; j < 5; j++) u += ring_diode[k][j] * y[2 + j];
    return exp(ring_delta * u);
}

static int ring_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    ring_linear(y, f);
    f[13] += 0.5 * sin(2000.0 * MODEL_PI * t) / ring_ls1;
    for (int k = 0; k < 4; k++) {
        double current = ring_gamma * (ring_exponential(k, t, y) - 1.0);
        for (int j = 0; j < 5; j++) f[2 + j] -= ring_diode[k][j] * current / ring_capacitance[j];
    }
    for (int i = 0; i < RING_N; i++) f[i] = yp[i] - f[i];
    return 0;
}

static int ring_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)yp, (void)user;
    for (int j = 0; j < RING_N; j++) { /* columns of the linear part: its values at unit vectors */
        double unit[RING_N] = {0.0}, column[RING_N];
        unit[j] = 1.0;
        ring_linear(unit, column);
        for (int i = 0; i < RING_N; i++) dfdy[A(i, j, RING_N)] = -column[i];
        dfdyp[A(j, j, RING_N)] = 1.0;
    }
    for (int k = 0; k < 4; k++) {
        double slope = ring_gamma * ring_delta * ring_exponential(k, t, y);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                dfdy[A(2 + i, 2 + j, RING_N)] +=
                    ring_diode[k][i] * ring_diode[k][j] * slope / ring_capacitance[i];
    }
    return 0;
}

/* All is at rest at t = 0: no voltage, no current, no input. */
static void ring_derivative(double *y, double *yp)
{
    (void)y;
    for (int i = 0; i < RING_N; i++) yp[i] = 0.0;
}

static const char *const ring_variables[] = {"U1", "U2", "U3", "U4", "U5", "U6", "U7", "I1",
                                             "I2", "I3", "I4", "I5", "I6", "I7", "I8"};
static const char *const ring_equations[] = {"node1", "node2", "node3", "node4", "node5",
                                             "node6", "node7", "coil1", "coil2", "coil3",
                                             "coil4", "coil5", "coil6", "coil7", "coil8"};
static const double ring_y0[RING_N] = {0.0};
static const double ring_reference[] = {
    -0.2339057358486745e-1, -0.7367485485540825e-2, 0.2582956709291169,    -0.4064465721283450,
    -0.4039455665149794,    0.2607966765422943,     0.1106761861269975,    0.2939904342435596e-6,
    -0.2840029933642329e-7, 0.7267198267264553e-3,  0.7929487196960840e-3, -0.7255283495698965e-3,
    -0.7941401968526521e-3, 0.7088495416976114e-4,  0.2390059075236570e-4};

static const small_model ringmod = {
    .name = "ringmod",
    .title = "Ring modulator with Cs = 2e-12, a stiff oscillating ODE",
    .source = "Horneber 1976; Mazzia & Magherini, Test Set for IVP Solvers (CWI/Bari), RINGMOD",
    .n = RING_N,
    .f = ring_f,
    .jacobian = ring_jacobian,
    .variable_names = ring_variables,
    .equation_names = ring_equations,
    .t0 = 0.0,
    .tend = 1e-3,
    .y0 = ring_y0,
    .derivative = ring_derivative,
    .reference = ring_reference,
    .reference_accuracy = 1e-6,
};

model *new_ringmod(int size)
{
    (void)size;
    return model_from_table(&ringmod);
}
