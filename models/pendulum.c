/* The plane pendulum in Cartesian coordinates, in four formulations [BCP96 6.2].
 *
 *   z1' = z3, z2' = z4, z3' = -z1 lambda, z4' = -z2 lambda + g, and a constraint on position,
 *   velocity or acceleration. Length 1. With g = +1 gravity pulls towards positive z2: the tables
 *   of the book belong to this sign, and so does + z2 g in the constraint on acceleration. */
#include "support.h"

#define A(i, j, n) ((i) + (j) * (n)) /* dense element (i, j) */

/* f[0..3] = the equations of motion; gravity g along z2 */
static void motion(double g, const double *y, const double *yp, double *f)
{
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[0] * y[4];
    f[3] = yp[3] + y[1] * y[4] - g;
}

static void motion_jacobian(int n, const double *y, double *dfdy, double *dfdyp)
{
    for (int i = 0; i < 4; i++) dfdyp[A(i, i, n)] = 1.0;
    dfdy[A(0, 2, n)] = dfdy[A(1, 3, n)] = -1.0;
    dfdy[A(2, 0, n)] = dfdy[A(3, 1, n)] = y[4];
    dfdy[A(2, 4, n)] = y[0];
    dfdy[A(3, 4, n)] = y[1];
}

static double position(const double *y)
{
    return y[0] * y[0] + y[1] * y[1] - 1.0;
}

static double velocity(const double *y)
{
    return y[0] * y[2] + y[1] * y[3];
}

static double acceleration(double g, const double *y)
{
    return y[2] * y[2] + y[3] * y[3] - y[4] + g * y[1];
}

static void position_row(int row, int n, const double *y, double *dfdy)
{
    dfdy[A(row, 0, n)] = 2.0 * y[0];
    dfdy[A(row, 1, n)] = 2.0 * y[1];
}

static void velocity_row(int row, int n, const double *y, double *dfdy)
{
    dfdy[A(row, 0, n)] = y[2];
    dfdy[A(row, 1, n)] = y[3];
    dfdy[A(row, 2, n)] = y[0];
    dfdy[A(row, 3, n)] = y[1];
}

static void acceleration_row(double g, const double *y, double *dfdy)
{
    dfdy[A(4, 1, 5)] = g;
    dfdy[A(4, 2, 5)] = 2.0 * y[2];
    dfdy[A(4, 3, 5)] = 2.0 * y[3];
    dfdy[A(4, 4, 5)] = -1.0;
}

/* y' at a consistent y: lambda = |v|^2 + g z2 gives lambda' = 3 g z4 on the constraints */
static void motion_derivative(double g, const double *y, double *yp)
{
    yp[0] = y[2];
    yp[1] = y[3];
    yp[2] = -y[0] * y[4];
    yp[3] = -y[1] * y[4] + g;
    yp[4] = 3.0 * g * y[3];
}

static void derivative(double *y, double *yp)
{
    motion_derivative(1.0, y, yp);
}

static const double start[] = {1.0, 0.0, 0.0, 1.0, 1.0, 0.0};
/* [BCP96 Table 6.2.1] gives ten digits; here recomputed in quadruple precision from the angle */
static const double reference[] = {1.34994926127757378e-01,  9.90846289754249082e-01,
                                   -1.71095158228587598e+00, 2.33103544764886628e-01,
                                   3.97253886926274724e+00,  0.0};

static const char *const variables[] = {"z1", "z2", "z3", "z4", "lambda", "mu"};
static const char source[] = "Brenan, Campbell & Petzold 1996, section 6.2 (g along +z2)";

/* ---- index 1: acceleration level ------------------------------------------------------------- */

static int index1_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    motion(1.0, y, yp, f);
    f[4] = acceleration(1.0, y);
    return 0;
}

static int index1_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp, (void)user;
    motion_jacobian(5, y, dfdy, dfdyp);
    acceleration_row(1.0, y, dfdy);
    return 0;
}

static const char *const index1_equations[] = {"motion1", "motion2", "force1", "force2",
                                               "acceleration"};
static const dae_kind index1_kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_INDEX1};

static const small_model pendulum1 = {
    .name = "pendulum1",
    .title = "Pendulum, index-1 form (constraint on acceleration)",
    .source = source,
    .n = 5,
    .f = index1_f,
    .jacobian = index1_jacobian,
    .variable_names = variables,
    .equation_names = index1_equations,
    .kinds = index1_kinds,
    .tend = 1.0,
    .y0 = start,
    .derivative = derivative,
    .reference = reference,
    .reference_accuracy = 1e-15,
};

model *new_pendulum1(int size)
{
    (void)size;
    return model_from_table(&pendulum1);
}

/* ---- index 2: both position and velocity level, stabilised by mu [GLG85] ----------------------
 */

static int index2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    motion(1.0, y, yp, f);
    f[0] -= y[0] * y[5];
    f[1] -= y[1] * y[5];
    f[4] = velocity(y);
    f[5] = position(y);
    return 0;
}

static int index2_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp, (void)user;
    motion_jacobian(6, y, dfdy, dfdyp);
    dfdy[A(0, 0, 6)] = dfdy[A(1, 1, 6)] = -y[5];
    dfdy[A(0, 5, 6)] = -y[0];
    dfdy[A(1, 5, 6)] = -y[1];
    velocity_row(4, 6, y, dfdy);
    position_row(5, 6, y, dfdy);
    return 0;
}

static const char *const index2_equations[] = {"motion1", "motion2",  "force1",
                                               "force2",  "velocity", "position"};
static const dae_kind index2_kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_INDEX2,       DAE_KIND_INDEX2};

static const small_model pendulum2 = {
    .name = "pendulum2",
    .title = "Pendulum, stabilised index-2 form of Gear, Gupta and Leimkuhler",
    .source = source,
    .n = 6,
    .f = index2_f,
    .jacobian = index2_jacobian,
    .variable_names = variables,
    .equation_names = index2_equations,
    .kinds = index2_kinds,
    .tend = 1.0,
    .y0 = start,
    .derivative = derivative,
    .reference = reference,
    .reference_accuracy = 1e-15,
};

model *new_pendulum2(int size)
{
    (void)size;
    return model_from_table(&pendulum2);
}

/* ---- index 3: position level, as written ------------------------------------------------------
 */

static int index3_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    motion(1.0, y, yp, f);
    f[4] = position(y);
    return 0;
}

static int index3_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)yp, (void)user;
    motion_jacobian(5, y, dfdy, dfdyp);
    position_row(4, 5, y, dfdy);
    return 0;
}

static const char *const index3_equations[] = {"motion1", "motion2", "force1", "force2",
                                               "position"};
static const dae_kind index3_kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_INDEX3};

static const small_model pendulum3 = {
    .name = "pendulum3",
    .title = "Pendulum, index-3 form (constraint on position)",
    .source = source,
    .n = 5,
    .f = index3_f,
    .jacobian = index3_jacobian,
    .variable_names = variables,
    .equation_names = index3_equations,
    .kinds = index3_kinds,
    .tend = 1.0,
    .y0 = start,
    .derivative = derivative,
    .reference = reference,
    .reference_accuracy = 1e-15,
};

model *new_pendulum3(int size)
{
    (void)size;
    return model_from_table(&pendulum3);
}

/* ---- from rest, index 1, gravity downwards ----------------------------------------------------
 */

static int rest_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    motion(-1.0, y, yp, f);
    f[4] = acceleration(-1.0, y);
    return 0;
}

static int rest_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)yp, (void)user;
    motion_jacobian(5, y, dfdy, dfdyp);
    acceleration_row(-1.0, y, dfdy);
    return 0;
}

static void rest_derivative(double *y, double *yp)
{
    motion_derivative(-1.0, y, yp);
}

static const char *const rest_variables[] = {"x", "y", "vx", "vy", "lambda"};
static const double rest_start[] = {1.0, 0.0, 0.0, 0.0, 0.0};
static const double rest_reference[] = {-8.115864461913038e-1, -5.842323513453959e-1,
                                        -6.315291490650178e-1, 8.772887988410693e-1,
                                        1.752697054036187};

static const small_model pendulum_rest = {
    .name = "pendulum_rest",
    .title = "Pendulum let go at the horizontal, index-1 form, m = L = g = 1",
    .source = "Hairer & Wanner 1996, section VII.2; reference recomputed in quadruple precision",
    .n = 5,
    .f = rest_f,
    .jacobian = rest_jacobian,
    .variable_names = rest_variables,
    .equation_names = index1_equations,
    .kinds = index1_kinds,
    .tend = 10.0,
    .y0 = rest_start,
    .derivative = rest_derivative,
    .reference = rest_reference,
    .reference_accuracy = 1e-14,
};

model *new_pendulum_rest(int size)
{
    (void)size;
    return model_from_table(&pendulum_rest);
}
