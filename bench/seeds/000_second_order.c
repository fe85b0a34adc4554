/* Second order DAEs: the code, collocation and formulations [Wun05 chapters 4 to 7] */
#include "../../test/trials/command.h"
#include "000_circle.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- chapter 4: the code ---- */

/* Number `field` (from 0) of accepted or rejected attempt k (from 0) of the history */
static double of_attempt(const seeds_command_result *r, int k, int field)
{
    const char *line = strchr(r->out, '\n');
    for (int i = 0; line && i < k; i++) line = strchr(line + 1, '\n');
    for (int i = 0; line && i < field; i++) line = strchr(line + 1, ',');
    return line ? strtod(line + 1, NULL) : NAN;
}

static void index_4_1(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/truck.mo")) return;
    says(run, &r, "index               3", "d-index 3 [Lemma 4.1.1]");
    if (!seeds_command(run, &r, "check models/wheel.mo")) return;
    says(run, &r, "index               3", "d-index 3, with contact variables s");
}

/* A run with tolerances of positions and of all else, and with a hundredth and a tenth of them: the
 * estimate (4.24) is of order 4 and the error of order 2, so that this falls to 10^(-1/2) at most.
 */
static void tighter(seeds_run *run, const char *model, const char *variable, double exact,
                    const char *coarse, const char *fine)
{
    const char *const tolerances[2] = {coarse, fine};
    double error[2];
    for (int k = 0; k < 2; k++) {
        seeds_command_result r;
        if (!seeds_command(run, &r, "run %s --method bdf2nd --variant thesis %s --points 2", model,
                           tolerances[k]))
            return;
        error[k] = fabs(seeds_last(run, &r, variable) - exact) / fabs(exact);
    }
    seeds_at_most(run, "relative error", error[0], 0.1, 1.0);
    seeds_at_most(run, "with tighter tolerances, over that", error[1] / error[0], sqrt(0.1), 1.1);
}

/* (4.5) with contact coordinates s, and a constraint on velocities besides: a wheel on a wavy road.
 * Velocities that are constrained themselves are not what the modified formula is for; the direct
 * one is. */
static void discretisation_4_5(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/wheel.mo --method bdf2nd --formulation index3 --rtol 1e-6"
                       " --points 2"))
        return;
    /* a hundred tolerances; ten times that for forces */
    seeds_number(run, "x at t = 5", seeds_last(run, &r, "x"), 0.46276592234456486, 1e-4);
    seeds_number(run, "s at t = 5", seeds_last(run, &r, "s"), 0.45710878266323566, 1e-4);
    seeds_number(run, "N at t = 5", seeds_last(run, &r, "N"), 17.983286204942883, 1e-3 * 18.0);
}

#define THESIS_8_3                                                                                 \
    "run models/circle.mo --method bdf2nd --variant thesis --formulation minimal"                  \
    " --initial-step 1e-4" MINIMAL_TOLERANCES

/* A matrix of every iterate (4.9); four iterations at most, and 0.33 by (4.18) long reached */
static void newton_4_2(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, THESIS_8_3 " --stop 1.5 --stats")) return;
    double iterations = seeds_counter(run, &r, "Newton iterations");
    seeds_number(run, "factorisations", seeds_counter(run, &r, "factorisations"), iterations, 0.0);
    seeds_at_most(run, "iterations an attempt", iterations / seeds_counter(run, &r, "attempts"),
                  4.0, 1.0);
    seeds_number(run, "attempts without convergence",
                 seeds_counter(run, &r, "rejected by the iteration"), 0.0, 0.0);
}

/* The estimate (4.24) of a step, from the values at the ends of all steps */
static double estimate_by_hand(const table *rows, int n)
{
    static const char *const names[6] = {"q1", "q2", "w1", "w2", "lambda", "v1"};
    static const double atol[6] = {1e-4, 1e-4, 1e-3, 1e-2, 1e-2, 1e-2};
    double sum = 0.0;
    for (int k = 0; k < 6; k++) {
        int c = table_column(rows, names[k]);
        const double *row = rows->values + n * rows->columns;
        double e = row[c];
        for (int i = 1; i <= 4; i++) {
            double weight = 1.0, ti = row[-i * rows->columns];
            for (int j = 1; j <= 4; j++)
                if (j != i)
                    weight *= (row[0] - row[-j * rows->columns]) / (ti - row[-j * rows->columns]);
            e -= weight * row[c - i * rows->columns];
        }
        sum += pow(e / (1e-4 * fabs(e) + atol[k]), 2.0);
    }
    return sqrt(sum / 6.0);
}

#define WRITTEN_8_5                                                                                \
    "run models/seeds/circle_minimal.mo --method bdf2nd --variant thesis --initial-step "          \
    "1e-4" POSITIONS                                                                               \
    " --atol-of w1=1e-3 --atol-of w2=1e-2 --atol-of v1=1e-2 --atol-of lambda=1e-2"

/* Our estimate, of the history, beside (4.22) to (4.24) from the recorded values: the 15th attempt
 * is the first that fails, so that attempts 5 to 14 are steps. */
static void estimate_4_3(seeds_run *run)
{
    seeds_command_result r;
    char label[40];
    if (!seeds_command(run, &r, WRITTEN_8_5 " --stop 1.5 --interval 0 --history -")) return;
    for (int n = 1; n <= 14; n++) {
        double ours = of_attempt(&r, n - 1, 4), hand = n > 4 ? estimate_by_hand(r.rows, n) : 0.0;
        snprintf(label, sizeof label, "ERR of step %d", n);
        seeds_number(run, label, ours, hand, 1e-5 * hand + 1e-9); /* six digits are printed */
    }
}

/* Orders 1, 2, 2, 2 on four constant steps, doubled from there on; a quarter after a failure */
static void steps_4_4(seeds_run *run)
{
    seeds_command_result r;
    char label[40];
    if (!seeds_command(run, &r, WRITTEN_8_5 " --stop 1.5 --interval 0 --history -")) return;
    for (int n = 0; n < 15; n++) {
        double h = n < 4 ? 1e-4 : 1e-4 * pow(2.0, n - 3);
        snprintf(label, sizeof label, "h of attempt %d", n + 1);
        seeds_number(run, label, of_attempt(&r, n, 1), h, 1e-12);
        if (n < 5) seeds_number(run, "its order", of_attempt(&r, n, 2), n == 0 ? 1 : 2, 0.0);
    }
    double failed = of_attempt(&r, 14, 1), next = of_attempt(&r, 15, 1);
    seeds_at_most(run, "ERR of attempt 14, which passes", of_attempt(&r, 13, 4), 1.0, 1.0);
    seeds_holds(run, "ERR of attempt 15, which fails", of_attempt(&r, 14, 4) > 1.0, "above 1",
                "above 1 (4.25)");
    seeds_number(run, "step after it, over its own", next / failed, 0.25, 1e-12);
    seeds_number(run, "and after its success, ERR = 0.4, r = 1.08 (4.26)",
                 of_attempt(&r, 16, 1) / next, 1.0, 1e-12);
}

/* On the index-2 form (7.16) multipliers are off by O(1) where the step changes, and every attempt
 * at the fifth step fails: a quarter each time, and order 1 from the fourth attempt on */
static void failures_4_4(seeds_run *run)
{
    seeds_command_result r;
    char label[64];
    if (!seeds_refused(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation index2"
                       " --initial-step 1e-4" CIRCLE_TOLERANCES " --stop 1.5 --history -"))
        return;
    for (int n = 4; n < 12; n++) {
        snprintf(label, sizeof label, "h of attempt %d at step 5", n - 3);
        seeds_number(run, label, of_attempt(&r, n, 1), 2e-4 * pow(0.25, n - 4), 1e-12);
        snprintf(label, sizeof label, "order of attempt %d at step 5", n - 3);
        seeds_number(run, label, of_attempt(&r, n, 2), n < 7 ? 2 : 1, 0.0);
    }
}

/* (4.28) with r = 0.9 (2 ERR)^(-1/2) in the collocation code, and (4.26) after it */
static void failure_4_28(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method colloc2nd --order 3 --variant thesis"
                       " --formulation index3 --initial-step 1e-3" CIRCLE_TOLERANCES
                       " --stop 1.5 --interval 0.1 --history -"))
        return;
    double error = of_attempt(&r, 13, 4), factor = of_attempt(&r, 14, 1) / of_attempt(&r, 13, 1);
    seeds_holds(run, "ERR of attempt 14", error > 1.0, "above 1", "above 1");
    seeds_number(run, "step after it, over its own", factor, 0.9 / sqrt(2.0 * error), 1e-5);
    for (int n = 0; n < 6; n++)
        seeds_number(run, "constant steps", of_attempt(&r, n, 1), 1e-3, 1e-15);
    seeds_number(run, "then doubled", of_attempt(&r, 6, 1), 2e-3, 1e-15);
}

/* (4.29), (4.30) */
static void first_step_4_30(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation index3"
                       " --rtol 1e-4 --atol-of 'q*=1' --atol-of 'v*=10' --atol-of lambda=10"
                       " --stop 1 --stats"))
        return;
    seeds_number(run, "h0 with TOUT = 1", seeds_counter(run, &r, "first step"), 1e-3, 1e-9);
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation index3"
                       " --rtol 1e-4 --atol-of 'q*=1e3' --atol-of 'v*=1e3' --atol-of lambda=1e3"
                       " --stop 400 --stats --max-steps 1000"))
        return;
    /* y' = (q', q'') = (1, 0, 0, -1); lambda' is not needed, and not known, at the start */
    seeds_number(run, "h0 with TOUT = 400", seeds_counter(run, &r, "first step"), 0.5 / sqrt(2.0),
                 1e-5);
}

/* (4.31): the polynomial of degree 5 through the ends of the last six steps, beside the output */
static void output_4_31(seeds_run *run)
{
    static const char command[] = WRITTEN_8_5 " --stop 1.5 --interval %s";
    seeds_command_result r;
    double ends[6][2], sum = 0.0;
    if (!seeds_command(run, &r, command, "0")) return;
    for (int i = 0; i < 6; i++) { /* steps 8 to 13, the last of which passes t = 0.1 */
        const double *row = r.rows->values + (13 - i) * r.rows->columns;
        ends[i][0] = row[0];
        ends[i][1] = row[table_column(r.rows, "lambda")];
    }
    for (int i = 0; i < 6; i++) {
        double weight = ends[i][1];
        for (int j = 0; j < 6; j++)
            if (j != i) weight *= (0.1 - ends[j][0]) / (ends[i][0] - ends[j][0]);
        sum += weight;
    }
    if (!seeds_command(run, &r, command, "0.1")) return;
    seeds_number(run, "lambda at t = 0.1", seeds_at(run, &r, "lambda", 0.1), sum, 1e-12);
}

/* ---- chapter 5: orders of Runge-Kutta methods on (2.55) of index 1, 2 and 3 ---- */

/* Errors of y1, z1 and lambda of (2.55) with constant steps; false: the row fails */
static bool track_errors(seeds_run *run, const char *how, double h, double t, double error[3])
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/seeds/circular_track.mo --rtol 1e-9 --atol 1e-10 %s --stop %g"
                       " --points 2 --fixed-step %g",
                       how, t, h))
        return false;
    error[0] = fabs(seeds_last(run, &r, "y1") - sin(t * t));
    error[1] = fabs(seeds_last(run, &r, "z1") - 2.0 * t * cos(t * t));
    error[2] = fabs(seeds_last(run, &r, "lambda") + 4.0 * t * t);
    return true;
}

/* Observed orders of the three at t, from h to h/2, are at least those of theory; 0.5 below is what
 * the next term of the error makes at these steps. theory < 0: nothing is said. */
static void orders_at(seeds_run *run, const char *how, double h, double t, const double theory[3])
{
    static const char *const names[3] = {"y", "z", "u (lambda)"};
    double coarse[3], fine[3];
    if (!track_errors(run, how, h, t, coarse) || !track_errors(run, how, 0.5 * h, t, fine)) return;
    for (int k = 0; k < 3; k++) {
        char label[120], ours[32], printed[32];
        double order = log2(coarse[k] / fine[k]);
        if (theory[k] < 0.0) continue;
        snprintf(label, sizeof label, "%s: order of %s", how, names[k]);
        snprintf(ours, sizeof ours, "%.2f", order);
        snprintf(printed, sizeof printed, "at least %g", theory[k]);
        seeds_holds(run, label, order > theory[k] - 0.5, ours, printed);
    }
}

static void orders(seeds_run *run, const char *how, const double theory[3])
{
    orders_at(run, how, 0.02, 3.0, theory);
}

/* Theorem 5.2.1: stiffly accurate methods have order p in y and z; Gauss p and q, or q + 1 */
static void theorem_5_2_1(seeds_run *run)
{
    orders(run, "--formulation index1 --method radau --order 5", (double[]){5, 5, 5});
    orders(run, "--formulation index1 --method lobattoc --order 4", (double[]){4, 4, 4});
    orders(run, "--formulation index1 --method gauss --order 4", (double[]){4, 4, 2});
}

/* Theorem 5.3.2 with Lemma 5.3.1: y of order q + 1 at least, z of order q */
static void theorem_5_3_2(seeds_run *run)
{
    orders(run, "--formulation index2 --method radau --order 5", (double[]){4, 4, 3});
    orders(run, "--formulation index2 --method lobattoc --order 4", (double[]){3, 3, -1});
}

/* R(infinity) = 1 with two stages: orders q and q - 2; R(infinity) = -1 with one: q + 1 and q - 1
 */
static void theorem_5_3_4(seeds_run *run)
{
    orders(run, "--formulation index2 --method gauss --order 4", (double[]){2, 2, 0});
    orders(run, "--formulation index2 --method gauss --order 2", (double[]){2, 2, 0});
}

/* q, q, q - 1 (5.20); q + 1 in y for q >= 3 (5.21), and q + 2 for q >= 4 (5.22) */
static void theorem_5_4_1(seeds_run *run)
{
    orders(run, "--formulation index3 --method radau --order 5 --rtol 1e-10 --atol 1e-11",
           (double[]){3, 3, 2});
}

static void theorem_5_4_2(seeds_run *run)
{
    orders(run, "--formulation index3 --method radau --order 5 --rtol 1e-10 --atol 1e-11",
           (double[]){4, -1, -1});
}

/* Five stages, q = 5: y of order 7 is below rounding at once, and h^7 bounds it. */
static void theorem_5_4_3(seeds_run *run)
{
    static const char how[] = "--formulation index3 --method radau --order 9";
    double coarse[3], fine[3];
    if (!track_errors(run, how, 0.1, 2.0, coarse) || !track_errors(run, how, 0.05, 2.0, fine))
        return;
    seeds_at_most(run, "error of y, h = 0.1", coarse[0], 1e-7, 1.0);
    seeds_at_most(run, "error of y, h = 0.05", fine[0], pow(0.05, 7), 1.0);
    seeds_number(run, "order of z, q", log2(coarse[1] / fine[1]), 5.0, 0.5);
    seeds_number(run, "order of u, q - 1", log2(coarse[2] / fine[2]), 4.0, 0.5);
}

/* ---- chapter 6: collocation for second order ---- */

/* One step of length 1 on x'' = t^k: x = sum b~_i c_i^k and x' = sum b_i c_i^k of Table 6.1 */
static void table_6_1(seeds_run *run)
{
    static const struct {
        const char *name;
        int order;
        double c[2], b[2], bt[2];
    } methods[2] = {{"Gauss", 4, {0}, {0.5, 0.5}, {0}},
                    {"Radau IIA", 3, {1.0 / 3.0, 1.0}, {0.75, 0.25}, {0.5, 0.0}}};
    const double root = sqrt(3.0);
    const double gauss_c[2] = {(3.0 - root) / 6.0, (3.0 + root) / 6.0},
                 gauss_bt[2] = {(3.0 + root) / 12.0, (3.0 - root) / 12.0};
    for (int m = 0; m < 2; m++) {
        const double *c = m ? methods[m].c : gauss_c, *bt = m ? methods[m].bt : gauss_bt,
                     *b = methods[m].b;
        seeds_command_result r;
        if (!seeds_command(run, &r,
                           "run models/seeds/powers.mo --method colloc2nd --order %d --variant"
                           " thesis --fixed-step 1 --points 2",
                           methods[m].order))
            return;
        for (int k = 0; k < 5; k++) {
            char label[64], name[16];
            snprintf(name, sizeof name, "x[%d]", k + 1);
            snprintf(label, sizeof label, "%s, sum of b~ c^%d", methods[m].name, k);
            seeds_number(run, label, seeds_last(run, &r, name),
                         bt[0] * pow(c[0], k) + bt[1] * pow(c[1], k), 1e-14);
            name[0] = 'v';
            snprintf(label, sizeof label, "%s, sum of b c^%d", methods[m].name, k);
            seeds_number(run, label, seeds_last(run, &r, name),
                         b[0] * pow(c[0], k) + b[1] * pow(c[1], k), 1e-14);
        }
    }
}

/* Errors of x = tan(t) and x' at the end of a run with constant steps */
static bool tangent_errors(seeds_run *run, int order, double h, double stop, double error[2])
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/seeds/tangent.mo --method colloc2nd --order %d --rtol 1e-10"
                       " --atol 1e-12 --fixed-step %g --stop %g --points 2",
                       order, h, stop))
        return false;
    error[0] = fabs(seeds_last(run, &r, "x") - tan(stop));
    error[1] = fabs(seeds_last(run, &r, "v") - 1.0 - tan(stop) * tan(stop));
    return true;
}

/* Theorem 6.1.1's order 4 is the power of h in the error of one step; over an interval Radau IIA
 * has order 3 and Gauss order 4 (Remark 6.1.2). */
static void theorem_6_1_1(seeds_run *run)
{
    double coarse[2], fine[2];
    for (int order = 3; order <= 4; order++) {
        if (!tangent_errors(run, order, 0.02, 1.0, coarse)) return;
        if (!tangent_errors(run, order, 0.01, 1.0, fine)) return;
        const char *name = order == 3 ? "Radau IIA" : "Gauss";
        char label[64];
        snprintf(label, sizeof label, "%s, order of y", name);
        seeds_number(run, label, log2(coarse[0] / fine[0]), order, 0.3);
        snprintf(label, sizeof label, "%s, order of y'", name);
        seeds_number(run, label, log2(coarse[1] / fine[1]), order, 0.3);
    }
    if (!tangent_errors(run, 3, 0.2, 0.2, coarse) || !tangent_errors(run, 3, 0.1, 0.1, fine))
        return;
    seeds_at_most(run, "Radau IIA, one step: 4 below its power of h",
                  4.0 / log2(coarse[0] / fine[0]), 1.0, 1.1);
}

/* (6.25) at index 3: as printed Radau IIA has orders 3, 2, 1 in q, v, lambda; each step projected,
 * 3, 3, 3 */
static void radau_6_25(seeds_run *run)
{
    orders(run, "--formulation index3 --method colloc2nd --order 3 --variant thesis",
           (double[]){3, 2, 1});
    orders(run, "--formulation index3 --method colloc2nd --order 3", (double[]){3, 3, 3});
}

/* Gauss as printed has orders 2, 0, -2: lambda grows as h falls; projected 2, 2, 2 */
static void gauss_6_25(seeds_run *run)
{
    static const char how[] = "--formulation index3 --method colloc2nd --order 4 --variant thesis";
    static const double observed[3] = {2.0, 0.0, -2.0};
    static const char *const labels[3] = {"as printed, order of q", "as printed, order of v",
                                          "as printed, order of lambda"};
    double coarse[3], fine[3];
    if (!track_errors(run, how, 0.01, 1.1, coarse) || !track_errors(run, how, 0.005, 1.1, fine))
        return;
    for (int k = 0; k < 3; k++)
        seeds_number(run, labels[k], log2(coarse[k] / fine[k]), observed[k], 0.1);
    orders(run, "--formulation index3 --method colloc2nd --order 4", (double[]){2, 2, 2});
}

/* (6.21) to (6.23) with three stages, every step projected */
static void system_6_20(seeds_run *run)
{
    orders_at(run, "--formulation index3 --method colloc2nd --order 5", 0.05, 2.0,
              (double[]){5, 5, 5});
}

/* ---- chapter 7: formulations ---- */

/* A formulation on (8.1): what becomes of the constraints, and the error at t = 1 */
typedef struct formulation_entry {
    const char *where, *method, *name;
    double position, velocity; /* how far off its constraints; 0: rounding */
} formulation_entry;

static void formulation_run(seeds_run *run, const formulation_entry *e)
{
    seeds_command_result r;
    char label[80];
    const double rounding = 1e-7; /* a tenth of the tolerance: Newton's */
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method %s --formulation %s --rtol 1e-6 --atol 1e-6"
                       " --stop 1 --points 2",
                       e->method, e->name))
        return;
    double q1 = seeds_last(run, &r, "q1"), q2 = seeds_last(run, &r, "q2"),
           v1 = seeds_last(run, &r, "v1"), v2 = seeds_last(run, &r, "v2");
    snprintf(label, sizeof label, "%s, error of q1", e->where);
    seeds_at_most(run, label, circle_error(run, &r, "q1", 1.0), 1e-4, 1.0);
    snprintf(label, sizeof label, "%s, q1^2 + q2^2 - 1", e->where);
    seeds_at_most(run, label, fabs(q1 * q1 + q2 * q2 - 1.0), fmax(e->position, rounding), 1.0);
    snprintf(label, sizeof label, "%s, 2 q1 v1 + 2 q2 v2", e->where);
    seeds_at_most(run, label, fabs(2.0 * (q1 * v1 + q2 * v2)), fmax(e->velocity, rounding), 1.0);
}

/* Constraints that a formulation does not have drift within a hundred tolerances (7.7), (7.8). */
static const double DRIFT = 1e-4;

static void first_order_7_1(seeds_run *run)
{
    const formulation_entry entries[] = {{"index 2 (7.7)", "bdf", "index2", DRIFT, 0.0},
                                         {"index 1 (7.8)", "bdf", "index1", DRIFT, DRIFT}};
    for (int i = 0; i < 2; i++) formulation_run(run, &entries[i]);
}

static void ggl_7_10(seeds_run *run)
{
    formulation_run(run, &(formulation_entry){"GGL (7.10)", "bdf", "ggl", 0.0, 0.0});
}

static void minimal_7_13(seeds_run *run)
{
    formulation_run(run, &(formulation_entry){"minimal (7.13)", "bdf", "minimal", 0.0, 0.0});
    formulation_run(run, &(formulation_entry){"reduced", "bdf", "reduced", 0.0, 0.0});
}

static void second_order_7_2(seeds_run *run)
{
    const formulation_entry entries[] = {{"index 3 (7.15)", "bdf2nd", "index3", 0.0, DRIFT},
                                         {"index 2 (7.16)", "bdf2nd", "index2", DRIFT, 0.0},
                                         {"index 1 (7.17)", "bdf2nd", "index1", DRIFT, DRIFT}};
    for (int i = 0; i < 3; i++) formulation_run(run, &entries[i]);
}

static void ggl_7_19(seeds_run *run)
{
    formulation_run(run, &(formulation_entry){"GGL (7.19)", "bdf2nd", "ggl2", 0.0, DRIFT});
}

static void minimal_7_31(seeds_run *run)
{
    formulation_run(run, &(formulation_entry){"minimal (7.31)", "bdf2nd", "minimal", 0.0, 0.0});
    formulation_run(run, &(formulation_entry){"reduced", "bdf2nd", "reduced", 0.0, 0.0});
}

/* Minimal extension of a mechanism with seven positions and six constraints, with the thesis' BDF
 */
static void andrews_7_31(seeds_run *run)
{
    tighter(run, "models/andrews.mo", "q[1]", 15.8107711951537071,
            "--formulation minimal --rtol 1e-4 --atol 1e7 --atol-of q=1e-4 --atol-of v=10"
            " --atol-of lambda=10",
            "--formulation minimal --rtol 1e-6 --atol 1e6 --atol-of q=1e-6 --atol-of v=1"
            " --atol-of lambda=1");
}

/* The hidden constraints (7.33) and (7.34), and runs of (7.35) with and without w1, w2: the
 * particle goes round at height 1 with lambda = -1 */
static void example_7_2_2(seeds_run *run)
{
    static const char *const formulations[] = {"minimal", "reduced"};
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/seeds/paraboloid.mo")) return;
    says(run, &r, "2*q1*v1 + 2*q2*v2 = v3", "2 q1 q1' + 2 q2 q2' - q3' = 0 (7.33)");
    says(run, &r, "2*v2^2 + lambda + 2*v1^2 + 4*q1^2*lambda + 4*q2^2*lambda = -1",
         "2 q1'^2 + 4 lambda q1^2 + 4 lambda q2^2 + 2 q2'^2 + lambda + 1 = 0 (7.34)");
    for (int i = 0; i < 2; i++) {
        if (!seeds_command(run, &r,
                           "run models/seeds/paraboloid.mo --method bdf2nd --formulation %s"
                           " --rtol 1e-6 --atol 1e-6 --points 2",
                           formulations[i]))
            return;
        seeds_number(run, "q1 at t = 1", seeds_last(run, &r, "q1"), cos(sqrt(2.0)), 1e-4);
        seeds_number(run, "lambda at t = 1", seeds_last(run, &r, "lambda"), -1.0, 1e-4);
        seeds_number(run, "(7.33)", seeds_last(run, &r, "rate"), 0.0, 1e-9);
        seeds_number(run, "(7.34)", seeds_last(run, &r, "bend"), 0.0, 1e-9);
    }
}

/* d-index 1 of the extended system, 3 of the original */
static void theorem_7_2_3(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/seeds/circle_minimal.mo")) return;
    says(run, &r, "index               1", "d-index 1 (strangeness-free)");
    if (!seeds_command(run, &r, "check models/circle.mo")) return;
    says(run, &r, "index               3", "d-index 3");
}

/* ---- the list ---- */

static const seeds_row rows[] = {
    ROW("000-X4.1.1", "Lemma 4.1.1", "index of the equations of motion", index_4_1),
    ROW("000-4.5", "(4.1) to (4.6)", "the full form, with contact", discretisation_4_5),
    ROW("000-4.2", "(4.8) to (4.21)", "Newton with a matrix of every iterate", newton_4_2),
    ROW("000-4.3", "(4.22) to (4.24)", "error estimate by extrapolation of degree 3", estimate_4_3),
    ROW("000-4.4", "(4.25) to (4.27)", "initial phase, doubling, steps after a failure", steps_4_4),
    ROW("000-4.4F", "section 4.4", "repeated failures: a quarter, then order 1", failures_4_4),
    ROW("000-4.28", "(4.28)", "first failure, in the collocation code", failure_4_28),
    ROW("000-4.30", "(4.30)", "first step", first_step_4_30),
    ROW("000-4.31", "(4.31)", "output by a polynomial of degree 5", output_4_31),
    ROW("000-5.2.1", "Theorem 5.2.1", "Runge-Kutta methods at index 1", theorem_5_2_1),
    ROW("000-5.3.2", "Lemma 5.3.1, Theorem 5.3.2", "Runge-Kutta methods at index 2", theorem_5_3_2),
    ROW("000-5.3.4", "Theorem 5.3.4", "Gauss methods at index 2", theorem_5_3_4),
    ROW("000-5.4.1", "Theorem 5.4.1", "Runge-Kutta methods at index 3", theorem_5_4_1),
    ROW("000-5.4.2", "Theorem 5.4.2", "y of order q + 1 at index 3", theorem_5_4_2),
    ROW("000-5.4.3", "Theorem 5.4.3", "y of order q + 2 at index 3", theorem_5_4_3),
    ROW("000-T6.1", "Table 6.1", "coefficients of Gauss and Radau IIA", table_6_1),
    ROW("000-6.1.1", "Theorem 6.1.1, Remark 6.1.2", "orders on ordinary equations", theorem_6_1_1),
    ROW("000-6.20", "(6.20) to (6.23)", "three stages at index 3", system_6_20),
    ROW("000-6.25", "(6.25), Radau IIA", "orders as printed, and projected", radau_6_25),
    ROW("000-6.25G", "(6.25), Gauss", "orders as printed, and projected", gauss_6_25),
    ROW("000-7.1", "(7.7), (7.8)", "index-2 and index-1 formulation, first order", first_order_7_1),
    ROW("000-7.10", "(7.10)", "GGL, first order", ggl_7_10),
    ROW("000-7.13", "(7.13)", "minimal extension, first order", minimal_7_13),
    ROW("000-7.2", "(7.15) to (7.17)", "index 3, 2, 1 of second order", second_order_7_2),
    ROW("000-7.19", "(7.19), Theorem 7.2.1", "GGL of second order", ggl_7_19),
    ROW("000-7.31", "(7.31)", "minimal extension of second order", minimal_7_31),
    ROW("000-7.31A", "(7.31)", "Andrews' mechanism in minimal extension", andrews_7_31),
    ROW("000-E7.2.2", "Example 7.2.2", "particle on a paraboloid", example_7_2_2),
    ROW("000-7.2.3", "Theorem 7.2.3", "minimal extension has index 1", theorem_7_2_3),
};

const seeds_part seeds_000_second_order = {
    .seed = "000",
    .title = "Second order DAEs: the code, collocation and formulations",
    SEEDS_ROWS(rows)};
