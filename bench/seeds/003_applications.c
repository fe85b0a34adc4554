/* Initial value problems in DAEs: applications, [BCP96] 6.3 in inertial coordinates, 6.4 and 6.5.
 */
#include "../../test/trials/command.h"
#include "independent_lines.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double DEGREE = 3.14159265358979323846 / 180;

static void finds(seeds_run *run, const char *arguments, const char *text)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "%s", arguments)) return;
    seeds_holds(run, arguments, strstr(c.out, text) != NULL, strstr(c.out, text) ? text : "other",
                text);
}

static double value(seeds_run *run, const seeds_command_result *c, const char *form, int i, int j)
{
    char name[64];
    snprintf(name, sizeof name, form, i, j);
    return seeds_last(run, c, name);
}

/* ---- 6.3 ---- */

enum { TRAJECTORY = 6 };
static const char *const trajectory_names[TRAJECTORY] = {
    "V", "H", "lambda, degrees", "xi, degrees", "alpha, degrees", "beta, degrees"};
static const double truth[TRAJECTORY] = {1433.29213, 14200.8114, 2.33149735,
                                         4.17108462, 7.15558457, 26.3775452};

typedef struct trajectory {
    double ours[TRAJECTORY];
} trajectory;

/* Latitude and longitude follow from the position; the earth has turned in the meantime. */
static trajectory trajectory_of(seeds_run *run, const seeds_command_result *c)
{
    double x = seeds_last(run, c, "x[1]"), y = seeds_last(run, c, "x[2]"),
           z = seeds_last(run, c, "x[3]"), turned = 0.72921159e-4 * 300;
    return (trajectory){{seeds_last(run, c, "V"), seeds_last(run, c, "H"),
                         asin(z / sqrt(x * x + y * y + z * z)) / DEGREE,
                         (atan2(y, x) - turned) / DEGREE, seeds_last(run, c, "alpha") / DEGREE,
                         seeds_last(run, c, "beta") / DEGREE}};
}

static void inertial_truth(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/seeds/trajectory_inertial.mo --rtol 1e-10 --points 2 --vars "
                       "x,V,H,alpha,beta"))
        return;
    trajectory t = trajectory_of(run, &c);
    for (int i = 0; i < TRAJECTORY; i++) /* nine digits */
        seeds_number(run, trajectory_names[i], t.ours[i], truth[i], 5e-9 * truth[i]);
}

/* The largest relative error of all variables, of Table 6.3.1's column for inertial coordinates. */
static void inertial_table(seeds_run *run)
{
    static const double rtol[] = {1e-6, 0.5e-6, 1e-8}, printed[] = {4.52e-6, 5.98e-5, 1.48e-7};
    for (int k = 0; k < 3; k++) {
        seeds_command_result c;
        char label[32];
        if (!seeds_command(run, &c,
                           "run models/seeds/trajectory_inertial.mo --rtol %g --atol %g --points 2 "
                           "--vars x,V,H,alpha,beta",
                           rtol[k], rtol[k]))
            return;
        double most = 0;
        trajectory t = trajectory_of(run, &c);
        for (int i = 0; i < TRAJECTORY; i++) most = fmax(most, fabs(t.ours[i] / truth[i] - 1));
        snprintf(label, sizeof label, "RTOL %g", rtol[k]);
        seeds_at_most(run, label, most, printed[k], 1.0);
    }
}

/* ---- 6.4: electrical networks ---- */

static void network_index(seeds_run *run)
{
    finds(run, "check models/ladder.mo", "index               1");
    finds(run, "check models/structure/caploop.mo", "index               2");
    finds(run, "check models/structure/cvloop.mo", "index               2");
}

static void one_amplifier(seeds_run *run)
{
    seeds_command_result c;
    finds(run, "check models/structure/opamp1.mo", "index               2");
    if (seeds_command(run, &c, "run models/structure/opamp1.mo --points 2"))
        seeds_number(run, "v3 = -C R e'", seeds_last(run, &c, "v3"), -cos(1), 1e-6);
}

static void three_amplifiers(seeds_run *run)
{
    seeds_command_result c;
    finds(run, "check models/structure/opamp3.mo", "index               4");
    if (seeds_command(run, &c, "run models/structure/opamp3.mo --points 2"))
        seeds_number(run, "v3 = -C3 R3 C2 R2 C1 R1 e'''", seeds_last(run, &c, "v[3]"), 1.5 * cos(1),
                     1e-6);
}

/* (6.4.3) with G = 1, 2, 3, 4: v2 = v4 = -2 e, v3 = -3.5 e; G2 G3 = G1 G4 is not solvable. */
static void amplifier_resistors(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "run models/structure/opampresistors.mo --points 2")) return;
    seeds_number(run, "v2", seeds_last(run, &c, "v2"), -2 * sin(1), 1e-9);
    seeds_number(run, "v3", seeds_last(run, &c, "v3"), -3.5 * sin(1), 1e-9);
    if (!seeds_refused(run, &c, "run models/structure/opampresistors.mo --set G3=2")) return;
    seeds_holds(run, "1/(R2 R3) = 1/(R1 R4)", strstr(c.err, "depend on each other") != NULL,
                "refused, and the equations named", "not solvable");
}

/* lambda C (G1 G4 - G2 G3) = G1 G2 G3 with G = 1, 2, 3, 4: v1 = exp(-3 t); none with G3 = 2. */
static void amplifier_capacitor(seeds_run *run)
{
    seeds_command_result c;
    finds(run, "check models/structure/opampcapacitor.mo", "degrees of freedom  1");
    finds(run, "check models/structure/opampcancel.mo", "degrees of freedom  0");
    if (seeds_command(run, &c, "run models/structure/opampcapacitor.mo --points 2"))
        seeds_number(run, "v1 at t = 1", seeds_last(run, &c, "v1"), exp(-3), 1e-6);
    if (seeds_command(run, &c, "run models/structure/opampcancel.mo --points 2"))
        seeds_number(run, "v1, G1 G4 = G2 G3", seeds_last(run, &c, "v1"), 0, 1e-12);
}

/* Taylor series with 25 digits: models/structure/unicursal.ref */
static void unicursal(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "run models/structure/unicursal.mo --points 2 --rtol 1e-9")) return;
    seeds_number(run, "tau1", seeds_last(run, &c, "t1"), 1.0894952101741949, 1e-7);
    seeds_number(run, "tau2", seeds_last(run, &c, "t2"), 0.35566795506453867, 1e-7);
    seeds_number(run, "tau3", seeds_last(run, &c, "t3"), 2.0084948325405529, 1e-7);
}

/* ---- 6.5: combustion ignition ---- */

static void ignition(seeds_run *run)
{
    double T[100], p = independent_ignition(100, T);
    seeds_command_result c;
    finds(run, "check models/seeds/ignition.mo", "index               1");
    if (!seeds_command(run, &c, "run models/seeds/ignition.mo --points 2")) return;
    for (int j = 0; j < 100; j += 11)
        seeds_number(run, "T, with another program", value(run, &c, "T[%d]", j + 1, 0), T[j], 1e-6);
    seeds_number(run, "p, with another program", seeds_last(run, &c, "p[101]"), p, 1e-6);
}

/* (6.5.2), by the rule that fits the differences of (6.5.1b): r_j^2 / 2 = sum d / rho */
static void ignition_start(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "run models/seeds/ignition.mo --set N=40 --stop 0.001 --points 2"))
        return;
    for (int j = 1; j <= 41; j += 8) {
        char name[16];
        snprintf(name, sizeof name, "r[%d]", j);
        seeds_number(run, name, seeds_at(run, &c, name, 0), sqrt((j - 1) / 40.0), 1e-9);
    }
}

/* ---- 6.5: incompressible flow ---- */

/* U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48 (1982) 387-411, Tables I and II, Re = 100,
 * on a grid of 129 x 129 points: u on the vertical, v on the horizontal line through the middle.
 * Their values are within 0.01 of each other's and of those of spectral methods. */
static const double GHIA_ERROR = 0.01;
static const double ghia_u[][2] = {{0.0547, -0.03717}, {0.0625, -0.04192}, {0.0703, -0.04775},
                                   {0.1016, -0.06434}, {0.1719, -0.10150}, {0.2813, -0.15662},
                                   {0.4531, -0.21090}, {0.5000, -0.20581}, {0.6172, -0.13641},
                                   {0.7344, 0.00332},  {0.8516, 0.23151},  {0.9531, 0.68717},
                                   {0.9609, 0.73722},  {0.9688, 0.78871},  {0.9766, 0.84123}};
static const double ghia_v[][2] = {{0.0625, 0.09233},  {0.0703, 0.10091},  {0.0781, 0.10890},
                                   {0.0938, 0.12317},  {0.1563, 0.16077},  {0.2266, 0.17507},
                                   {0.2344, 0.17527},  {0.5000, 0.05454},  {0.8047, -0.24533},
                                   {0.8594, -0.22445}, {0.9063, -0.16914}, {0.9453, -0.10313},
                                   {0.9531, -0.08864}, {0.9609, -0.07391}, {0.9688, -0.05906}};
enum { GHIA = 15, MOST_CELLS = 64 };

/* Values between those at 0, (j - 1/2)/n and 1: a cubic through four of them */
static double between(int n, const double *inside, double last, double s)
{
    double x[MOST_CELLS + 2] = {0}, y[MOST_CELLS + 2] = {0}, sum = 0;
    int k = 0;
    for (int j = 1; j <= n; j++) x[j] = (j - 0.5) / n, y[j] = inside[j - 1];
    x[n + 1] = 1, y[n + 1] = last;
    while (k < n - 2 && x[k + 2] <= s) k++;
    for (int i = k; i < k + 4; i++) {
        double weight = 1;
        for (int j = k; j < k + 4; j++)
            if (j != i) weight *= (s - x[j]) / (x[i] - x[j]);
        sum += weight * y[i];
    }
    return sum;
}

/* The steady flow on n x n cells at Ghia's points. */
static bool cavity_at(seeds_run *run, int n, double *u, double *v)
{
    seeds_command_result c;
    double lines[2][MOST_CELLS];
    if (!seeds_command(run, &c,
                       "run models/seeds/cavity.mo --set n=%d --formulation index1 --method bdf "
                       "--rtol 1e-4 --points 2 --vars uMiddle,vMiddle",
                       n))
        return false;
    for (int j = 0; j < n; j++) {
        lines[0][j] = value(run, &c, "uMiddle[%d]", j + 1, 0);
        lines[1][j] = value(run, &c, "vMiddle[%d]", j + 1, 0);
    }
    for (int i = 0; i < GHIA; i++) {
        u[i] = between(n, lines[0], 1, ghia_u[i][0]);
        v[i] = between(n, lines[1], 0, ghia_v[i][0]);
    }
    return true;
}

/* Errors in space fall as h^2: a third of the change from h to h/2 is what h/2 has left. */
static void cavity_pair(seeds_run *run, int n)
{
    double u[2][GHIA], v[2][GHIA];
    if (!cavity_at(run, n, u[0], v[0]) || !cavity_at(run, 2 * n, u[1], v[1])) return;
    for (int i = 0; i < GHIA; i++) {
        char label[48];
        snprintf(label, sizeof label, "u at y = %.4f, n = %d", ghia_u[i][0], 2 * n);
        seeds_number(run, label, u[1][i], ghia_u[i][1], fabs(u[1][i] - u[0][i]) / 3 + GHIA_ERROR);
        snprintf(label, sizeof label, "v at x = %.4f, n = %d", ghia_v[i][0], 2 * n);
        seeds_number(run, label, v[1][i], ghia_v[i][1], fabs(v[1][i] - v[0][i]) / 3 + GHIA_ERROR);
    }
}

static void cavity_16(seeds_run *run)
{
    finds(run, "check models/seeds/cavity.mo --set n=8", "index               2");
    cavity_pair(run, 8);
}

static void cavity_32(seeds_run *run)
{
    cavity_pair(run, 16);
}

/* As it is written, with states among the velocities: their choice must not magnify rounding. */
static void cavity_states(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/seeds/cavity.mo --set n=30 --stop 1e-6 --points 2 --rtol 1e-4 "
                       "--stats --vars uMiddle"))
        return;
    double failed = seeds_counter(run, &c, "rejected by the iteration");
    seeds_number(run, "failures of Newton's iteration", failed, 0, 0.5);
}

/* The index is reduced to 1, (6.5.4), and the flow stays free of sources. */
static void cavity_divergence(seeds_run *run)
{
    enum { N = 8 };
    seeds_command_result c;
    double most = 0;
    if (!seeds_command(run, &c,
                       "run models/seeds/cavity.mo --set n=8 --formulation index1 --method bdf "
                       "--points 2 --vars u,v"))
        return;
    for (int i = 2; i <= N; i++)
        for (int j = 2; j <= N; j++) {
            double right = value(run, &c, "u[%d,%d]", i + 1, j + 1),
                   left = value(run, &c, "u[%d,%d]", i, j + 1),
                   top = value(run, &c, "v[%d,%d]", i + 1, j + 1),
                   bottom = value(run, &c, "v[%d,%d]", i + 1, j);
            if (i < N) most = fmax(most, fabs(right - left + top - bottom) * N);
        }
    seeds_at_most(run, "largest divergence", most, 1e-5, 1.0);
}

/* ---- 6.5: moving meshes ---- */

enum { POINTS = 31, FIXED = 29 };

/* Cases 1 to 3 at t = 0.24, before the front collects all points, and case 4 at the end. */
static void flame_values(seeds_run *run)
{
    double y[2 * POINTS];
    seeds_command_result c;
    independent_flame(POINTS, true, 0.24, y);
    for (int k = 1; k <= 3; k++) {
        if (!seeds_command(run, &c,
                           "run models/seeds/flame%d.mo --stop 0.24 --points 2 --rtol 1e-7", k))
            return;
        for (int i = 0; i < POINTS; i += 3) {
            seeds_number(run, "T", value(run, &c, "T[%d]", i + 1, 0), y[i], 1e-4);
            seeds_number(run, "x", value(run, &c, "x[%d]", i + 1, 0), y[POINTS + i], 1e-4);
        }
    }
    independent_flame(FIXED, false, 0.29, y);
    if (!seeds_command(run, &c, "run models/seeds/flame4.mo --points 2 --rtol 1e-7")) return;
    for (int i = 0; i < FIXED; i += 3)
        seeds_number(run, "T, case 4", value(run, &c, "T[%d]", i + 1, 0), y[i], 1e-5);
}

/* Their meshes also gain and lose points, which a text cannot: counts are compared with theirs. */
static void table_651(seeds_run *run)
{
    static const double steps[] = {624, 1125, 614, 1183}, jacobians[] = {807, 1544, 819, 1728},
                        failures[] = {289, 537, 283, 571};
    double end[4];
    for (int k = 0; k < 4; k++) {
        seeds_command_result c;
        char label[48];
        if (!seeds_command(run, &c, "run models/seeds/flame%d.mo --points 2 --stats", k + 1))
            return;
        snprintf(label, sizeof label, "case %d", k + 1);
        seeds_at_most(run, label, seeds_counter(run, &c, "steps"), steps[k], 1.0);
        seeds_at_most(run, label, seeds_counter(run, &c, "Jacobians"), jacobians[k], 1.0);
        seeds_at_most(run, label,
                      seeds_counter(run, &c, "rejected by the error test") +
                          seeds_counter(run, &c, "rejected by the iteration"),
                      failures[k], 1.0);
        end[k] = seeds_last(run, &c, "T[3]");
    }
    seeds_number(run, "T[3] of case 2 and case 1", end[1], end[0], 1e-4);
    seeds_number(run, "T[3] of case 3 and case 1", end[2], end[0], 1e-4);
}

/* DASSL to the letter on the fixed mesh: 1183 steps and 3517 functions within 1.3. */
static void table_651_dassl(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "run models/seeds/flame4.mo --points 2 --stats --method bdf:dassl"))
        return;
    seeds_within(run, "steps", seeds_counter(run, &c, "steps"), 1183, 1.3);
    seeds_within(run, "functions", seeds_counter(run, &c, "residuals"), 3517, 1.3);
}

/* The flame in space and time: it ignites at x = 0, burns up to 1 + alpha and runs to x = 1. */
static void figure_652(seeds_run *run)
{
    seeds_command_result c;
    double arrival[2][2];
    for (int k = 0; k < 2; k++) {
        int N = k ? 401 : 201;
        if (!seeds_command(run, &c, "run models/seeds/flame4.mo --set N=%d --interval 0.00029", N))
            return;
        seeds_number(run, "T at x = 0, t = 0.29", seeds_last(run, &c, "T[1]"), 2, 1e-6);
        for (int place = 0; place < 2; place++) {
            char name[16];
            snprintf(name, sizeof name, "T[%d]", place ? (9 * (N - 1)) / 10 + 1 : 1);
            int column = table_column(c.rows, name);
            arrival[k][place] = NAN;
            for (int r = 0; r < c.rows->rows && isnan(arrival[k][place]); r++)
                if (c.rows->values[r * c.rows->columns + column] > 1.5)
                    arrival[k][place] = c.rows->values[r * c.rows->columns];
        }
    }
    seeds_number(run, "ignition on 401 points and on 201", arrival[1][0], arrival[0][0], 0.0003);
    seeds_number(run, "front at x = 0.9, likewise", arrival[1][1], arrival[0][1], 0.0003);
    seeds_holds(run, "the front arrives before 0.29", arrival[1][1] < 0.29, "it does",
                "steady state once the flame reaches x = 1");
}

/* ---- 6.5: gas transmission ---- */

static void gas_network(seeds_run *run)
{
    enum { N = 50 };
    double p[3 * N];
    seeds_command_result c;
    independent_network(N, p);
    finds(run, "check models/seeds/gasnetwork.mo", "index               2");
    if (!seeds_command(run, &c, "run models/seeds/gasnetwork.mo --points 2")) return;
    for (int s = 0; s < N; s += 7)
        for (int i = 0; i < 3; i++)
            seeds_number(run, "p, with another program", value(run, &c, "p[%d,%d]", s + 1, i + 2),
                         p[3 * s + i], 1e-5);
}

/* What the source supplied and nobody consumed is in the pipes. */
static void gas_mass(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "run models/seeds/gasnetwork.mo --set n=12 --points 2")) return;
    double mass[2] = {0};
    for (int s = 1; s <= 12; s++)
        for (int i = 1; i <= 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "p[%d,%d]", s, i);
            mass[0] += 0.05 * seeds_at(run, &c, name, 0);
            mass[1] += 0.05 * seeds_last(run, &c, name);
        }
    seeds_number(run, "supplied - consumed",
                 seeds_last(run, &c, "supplied") - seeds_last(run, &c, "consumed"),
                 mass[1] - mass[0], 1e-4);
}

#define ROW(id, where, what, how, run)                                                             \
    {                                                                                              \
        id, where, what, how, run, false                                                           \
    }
#define SLOW(id, where, what, how, run)                                                            \
    {                                                                                              \
        id, where, what, how, run, true                                                            \
    }

static const seeds_row rows[] = {
    ROW("003-6.3.3", "(6.3.3)", "the index-2 trajectory in inertial coordinates, truth", NULL,
        inertial_truth),
    ROW("003-T6.3.1-i", "Table 6.3.1, inertial coordinates", "largest relative error", NULL,
        inertial_table),
    ROW("003-6.4.2", "(6.4.2)", "index of RC circuits, with and without loops", NULL,
        network_index),
    ROW("003-F6.4.2", "Figures 6.4.1, 6.4.2", "one differential amplifier", NULL, one_amplifier),
    ROW("003-F6.4.3", "Figure 6.4.3", "three differential amplifiers", NULL, three_amplifiers),
    ROW("003-6.4.3", "(6.4.3), Figure 6.4.4", "solvability of a circuit with an amplifier", NULL,
        amplifier_resistors),
    ROW("003-6.4.4", "(6.4.4), last row [0 1 0 -1 0]", "number of states of a circuit", NULL,
        amplifier_capacitor),
    ROW("003-6.4.5", "(6.4.5)", "unicursal elements", NULL, unicursal),
    SLOW("003-6.5.1", "(6.5.1)", "combustion ignition on 100 cells", NULL, ignition),
    ROW("003-6.5.2", "(6.5.2)", "consistent radii at the start", NULL, ignition_start),
    ROW("003-6.5.3", "(6.5.3)", "driven cavity, Re = 100, on 16 x 16 cells, Ghia's values", NULL,
        cavity_16),
    SLOW("003-6.5.3-b", "(6.5.3)", "the same on 32 x 32 cells", NULL, cavity_32),
    SLOW("003-6.5.3-c", "(6.5.3)", "900 cells as they are written, states among the velocities",
         NULL, cavity_states),
    ROW("003-6.5.4", "(6.5.4)", "index 1, and the constraint still holds", NULL, cavity_divergence),
    SLOW("003-6.5.7", "(6.5.7) to (6.5.9)", "moving meshes, values by another program", NULL,
         flame_values),
    ROW("003-T6.5.1", "Table 6.5.1", "steps, Jacobians, failures of the four cases", NULL,
        table_651),
    ROW("003-T6.5.1-b", "Table 6.5.1, case 4", "DASSL's counts", NULL, table_651_dassl),
    SLOW("003-F6.5.2", "Figures 6.5.2, 6.5.3, with (1 + alpha - T)",
         "ignition and front on fine meshes", NULL, figure_652),
    SLOW("003-6.5-gas", "6.5, gas transmission", "50 machines, 200 nodes, the demand of a day",
         NULL, gas_network),
    ROW("003-6.5-mass", "6.5, gas transmission", "the mass of the gas is kept", NULL, gas_mass),
};

const seeds_part seeds_003_applications = {
    .seed = "003", .title = "Initial value problems in DAEs: applications", SEEDS_ROWS(rows)};
