/* Half-explicit Runge-Kutta methods of index 2 [BH93]. */
#include "../../test/trials/command.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = DAE_TABLE_STAGES };

/* The steering wheel (1.9) of [HW96 VII.1] at t = 0.2, and the pendulum at t = 10: the references
 * of the guide. */
static const double wheel[3] = {0.91114967, 0.41207557, -0.533220190};
static const double pendulum[5] = {-8.115864461913038e-1, -5.842323513453959e-1,
                                   -6.315291490650178e-1, 8.772887988410693e-1, 1.752697054036187};
static const char *const pendulum_names[] = {"x", "y", "vx", "vy", "lambda"};

/* ---- order conditions, summed here and not by the library ---- */

/* A table with c_{s+1} = 1, row s + 1 of a = b, and omega [BH93 (3.1) to (3.3)] */
typedef struct sums {
    int s;
    double a[MOST + 1][MOST], b[MOST], c[MOST + 1], omega[MOST][MOST];
} sums;

static sums sums_of(const dae_table *t)
{
    sums x = {.s = t->stages};
    for (int i = 0; i < x.s; i++) {
        x.b[i] = x.a[x.s][i] = t->b[i];
        x.c[i] = t->c[i];
        for (int j = 0; j < x.s; j++) x.a[i][j] = t->A[i][j];
    }
    x.c[x.s] = 1.0;
    for (int k = 0; k < x.s; k++) /* columns of the inverse of a triangular matrix */
        for (int i = k; i < x.s; i++) {
            double sum = i == k ? 1.0 : 0.0;
            for (int j = k; j < i; j++) sum -= x.a[i + 1][j] * x.omega[j][k];
            x.omega[i][k] = sum / x.a[i + 1][i];
        }
    return x;
}

/* What stands above a vertex, at stage i: c_i^p */
static double leaf(const sums *x, int i, int p)
{
    return pow(x->c[i], p);
}

/* sum_j a_ij c_j^p */
static double branch(const sums *x, int i, int p)
{
    double sum = 0.0;
    for (int j = 0; j < x->s; j++) sum += x->a[i][j] * leaf(x, j, p);
    return sum;
}

/* sum_j omega_ij c_{j+1}^p, or with a branch: sum_j omega_ij c_{j+1} a_{j+1,k} c_k */
static double fat(const sums *x, int i, int p)
{
    double sum = 0.0;
    for (int j = 0; j < x->s; j++) sum += x->omega[i][j] * leaf(x, j + 1, p);
    return sum;
}
static double fat_branch(const sums *x, int i)
{
    double sum = 0.0;
    for (int j = 0; j < x->s; j++) sum += x->omega[i][j] * x->c[j + 1] * branch(x, j + 1, 1);
    return sum;
}

/* The sum over i of condition `number` without b_i. */
static double above_root(const sums *x, int number, int i)
{
    double c = x->c[i], w = fat(x, i, 2), sum = 0.0;
    switch (number) {
    case 1: return 1.0;
    case 2: return c;
    case 3: return c * c;
    case 4: return branch(x, i, 1);
    case 5: return c * w;
    case 6: return w * w;
    case 7: return c * c * c;
    case 8: return c * branch(x, i, 1);
    case 9: return branch(x, i, 2);
    case 10:
        for (int j = 0; j < x->s; j++) sum += x->a[i][j] * branch(x, j, 1);
        return sum;
    case 11: return c * c * w;
    case 12: return c * w * w;
    case 13: return w * w * w;
    case 14: return c * fat(x, i, 3);
    case 15: return c * fat_branch(x, i);
    case 16: return branch(x, i, 1) * w;
    case 17: return w * fat(x, i, 3);
    case 18: return w * fat_branch(x, i);
    default: break;
    }
    for (int j = 0; j < x->s; j++) {
        double inner = fat(x, j, 2);
        sum += x->a[i][j] * (number == 19 ? x->c[j] * inner : inner * inner);
    }
    return sum;
}

static double condition(const sums *x, int number)
{
    double sum = 0.0;
    for (int i = 0; i < x->s; i++) sum += x->b[i] * above_root(x, number, i);
    return sum;
}

static const double right_sides[20] = {1.0,     0.5,      1.0 / 3,  1.0 / 6, 2.0 / 3, 4.0 / 3, 0.25,
                                       0.125,   1.0 / 12, 1.0 / 24, 0.5,     1.0,     2.0,     0.75,
                                       3.0 / 8, 0.25,     1.5,      0.75,    1.0 / 6, 1.0 / 3};

static bool hem4(seeds_run *run, dae_table *t)
{
    dae_diag diag = {0};
    return seeds_ok(run, dae_table_hem4(0.3, (4.0 - sqrt(6.0)) / 10.0, t, &diag), &diag);
}

/* ---- runs ---- */

/* The largest error of the last row of a run against a reference. */
static double error_of(seeds_run *run, const seeds_command_result *r, const char *const *names,
                       const double *exact, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(seeds_last(run, r, names[i]) - exact[i]));
    return most;
}

/* log2 of the errors of `name` at t = 0.2 of the steering wheel with steps h and h/2, against the
 * next halving */
static double observed_order(seeds_run *run, const char *options, const char *name, double h)
{
    double y[3];
    seeds_command_result r;
    for (int k = 0; k < 3; k++) {
        if (!seeds_command(run, &r, "run models/seeds/steering.mo %s --fixed-step %.10g", options,
                           h / (1 << k)))
            return NAN;
        y[k] = seeds_last(run, &r, name);
    }
    return log2(fabs((y[0] - y[1]) / (y[1] - y[2])));
}

/* ---- rows ---- */

static void index2(seeds_run *run)
{
    seeds_command_result r;
    static const char *const names[] = {"y1", "y2", "z"};
    if (!seeds_command(run, &r, "run models/seeds/steering.mo --method hem:4 --fixed-step 0.001"))
        return;
    for (int i = 0; i < 3; i++)
        seeds_number(run, names[i], seeds_last(run, &r, names[i]), wheel[i], 1e-8);
}

static void inner_variables(seeds_run *run)
{
    seeds_command_result r;
    static const char *const names[] = {"y1", "y2", "z"};
    if (!seeds_command(run, &r,
                       "run models/seeds/steering_inner.mo --method hem:4 --fixed-step 0.001"))
        return;
    for (int i = 0; i < 3; i++)
        seeds_number(run, names[i], seeds_last(run, &r, names[i]), wheel[i], 1e-8);
}

/* (2.1), (2.3): b_s = 0 is refused; the constraints hold at every step. */
static void method_21(seeds_run *run)
{
    dae_table t;
    dae_diag diag = {0};
    seeds_command_result r;
    if (!hem4(run, &t)) return;
    t.b[3] += t.b[4];
    t.b[4] = 0.0;
    bool refused = dae_table_check(&t, "hem", &diag) == DAE_ERR_ARGUMENT;
    seeds_holds(run, "b_s = 0", refused && strstr(diag.text, "number 5 of b is 0"), diag.text,
                "excluded (2.3)");
    if (!seeds_command(run, &r, "run models/seeds/steering.mo --method hem:4 --stats")) return;
    seeds_at_most(run, "largest |g|", seeds_counter(run, &r, "largest |g|"), 1e-9, 1.0);
}

static void table1(seeds_run *run)
{
    dae_table t;
    char label[8];
    if (!hem4(run, &t)) return;
    sums x = sums_of(&t);
    for (int n = 1; n <= 20; n++) {
        snprintf(label, sizeof label, "(%d)", n);
        seeds_number(run, label, condition(&x, n), right_sides[n - 1], 1e-12);
    }
}

/* Each condition is looked at: the check names the one that a table misses. */
static void table1_check(seeds_run *run)
{
    seeds_command_result r;
    if (seeds_command(run, &r, "methods hem --table models/seeds/hem4.txt"))
        seeds_holds(run, "HEM4", strstr(r.out, "order 4 for index 2") != NULL, r.out, "order 4");
    if (seeds_refused(run, &r, "methods hem --table models/seeds/rk4.txt"))
        seeds_holds(run, "classical method", strstr(r.err, "condition (6)") != NULL, r.err,
                    "not of order 4: (6) is missed");
}

static void table2(seeds_run *run)
{
    seeds_command_result r;
    seeds_number(run, "order of y", observed_order(run, "--method hem:3", "y1", 0.01), 3.0, 0.2);
    seeds_number(run, "order of z", observed_order(run, "--method hem:3", "z", 0.01), 3.0, 0.2);
    if (seeds_command(run, &r, "methods hem --table models/seeds/hem3.txt"))
        seeds_holds(run, "Table 2", strstr(r.out, "order 3 for index 2") != NULL, r.out, "order 3");
}

/* (11) - 1/2 = c_2 (1 - c_3) / 6 for methods of classical order 4 with four stages. */
static void proposition5(seeds_run *run)
{
    static const double A[2][3][3] = {{{0.5, 0, 0}, {0, 0.5, 0}, {0, 0, 1}},
                                      {{1.0 / 3, 0, 0}, {-1.0 / 3, 1, 0}, {1, -1, 1}}};
    static const double b[2][4] = {{1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
                                   {0.125, 0.375, 0.375, 0.125}};
    static const char *const labels[2] = {"classical method", "3/8 rule"};
    for (int k = 0; k < 2; k++) {
        dae_table t = dae_table_empty();
        dae_diag diag = {0};
        t.stages = t.order = 4;
        for (int i = 1; i < 4; i++)
            for (int j = 0; j < i; j++) {
                t.A[i][j] = A[k][i - 1][j];
                t.c[i] += t.A[i][j];
            }
        memcpy(t.b, b[k], sizeof b[k]);
        if (!seeds_ok(run, dae_table_check(&t, "prk", &diag), &diag)) return;
        sums x = sums_of(&t);
        seeds_number(run, labels[k], condition(&x, 11) - 0.5, t.c[1] * (1.0 - t.c[2]) / 6.0, 1e-14);
    }
}

/* With Y_5 as the embedded solution (6.1): Table 3 holds, Table 1 up to order 2. */
static void table3(seeds_run *run)
{
    dae_table t;
    if (!hem4(run, &t)) return;
    sums x = sums_of(&t);
    double one = 0.0, two = 0.0, three = 0.0, order3 = 0.0;
    for (int i = 0; i < 5; i++) {
        one += t.A[4][i] * fat(&x, i, 2);
        two += t.A[4][i] * fat(&x, i, 3);
        three += t.A[4][i] * fat_branch(&x, i);
        order3 += t.A[4][i] * x.c[i] * x.c[i];
    }
    seeds_number(run, "1", one, 1.0, 1e-12);
    seeds_number(run, "2", two, 1.0, 1e-12);
    seeds_number(run, "3", three, 0.5, 1e-12);
    seeds_holds(run, "(3) of Table 1", fabs(order3 - 1.0 / 3.0) > 1e-3, "missed", "order 2 only");
}

/* Values between the ends of steps are as good as there. */
static void dense(seeds_run *run)
{
    seeds_command_result r, fine;
    double most = 0.0, at[3];
    for (int k = 0; k < 3; k++) {
        if (!seeds_command(run, &fine,
                           "run models/seeds/steering.mo --method dopri:8 --rtol 1e-12 "
                           "--atol 1e-12 --interval 0.05"))
            return;
        at[k] = seeds_at(run, &fine, "z", 0.05 * (k + 1));
    }
    if (!seeds_command(run, &r,
                       "run models/seeds/steering.mo --method hem:4 --rtol 1e-7 --atol 1e-7 "
                       "--interval 0.05"))
        return;
    for (int k = 0; k < 3; k++)
        most = fmax(most, fabs(seeds_at(run, &r, "z", 0.05 * (k + 1)) - at[k]));
    seeds_at_most(run, "error of z inside", most, 1e-7, 100.0);
}

/* Table 4: Z_s is z(x0 + h) up to h^2: condition 1 holds, 2 or 3 do not. */
static void table4(seeds_run *run)
{
    dae_table t;
    if (!hem4(run, &t)) return;
    sums x = sums_of(&t);
    const double two = fat(&x, 4, 3), three = fat_branch(&x, 4);
    char text[80];
    seeds_number(run, "1", fat(&x, 4, 2), 2.0, 1e-12);
    snprintf(text, sizeof text, "%.4f and %.4f", two, three);
    seeds_holds(run, "2 and 3", fabs(two - 3.0) > 1e-3 || fabs(three - 1.5) > 1e-3, text,
                "3 and 3/2 are missed: order 2");
    seeds_number(run, "order of z = Z_s", observed_order(run, "--method hem:4:stage", "z", 0.005),
                 2.0, 0.1);
    seeds_number(run, "order of y", observed_order(run, "--method hem:4:stage", "y1", 0.01), 4.0,
                 0.2);
}

static void equation36(seeds_run *run)
{
    seeds_number(run, "order of y", observed_order(run, "--method hem:4", "y1", 0.01), 4.0, 0.2);
    seeds_number(run, "order of z", observed_order(run, "--method hem:4", "z", 0.01), 4.0, 0.2);
}

/* C(2), D(1), (4.1), (4.2), and the fifth order condition of the final choice. */
static void theorem10(seeds_run *run)
{
    dae_table t;
    if (!hem4(run, &t)) return;
    sums x = sums_of(&t);
    double c2 = 0.0, d1 = 0.0, first = 0.0;
    for (int i = 2; i < 5; i++) c2 = fmax(c2, fabs(branch(&x, i, 1) - x.c[i] * x.c[i] / 2.0));
    for (int j = 0; j < 5; j++) {
        double sum = -t.b[j] * (1.0 - t.c[j]);
        for (int i = 0; i < 5; i++) sum += t.b[i] * t.A[i][j];
        d1 = fmax(d1, fabs(sum));
        first = fmax(first, fabs(t.b[j] * x.omega[j][0]));
    }
    seeds_number(run, "C(2)", c2, 0.0, 1e-13);
    seeds_number(run, "D(1)", d1, 0.0, 1e-13);
    seeds_number(run, "(4.1)", first, 0.0, 1e-13);
    for (int q = 1; q <= 5; q++) {
        char label[24];
        double sum = 0.0;
        snprintf(label, sizeof label, "sum b_i c_i^%d", q - 1);
        for (int i = 0; i < 5; i++) sum += t.b[i] * pow(t.c[i], q - 1);
        seeds_number(run, label, sum, 1.0 / q, 1e-14);
    }
}

/* The algorithm with free c2 and c3: other members of the family have order 4, too. */
static void construction(seeds_run *run)
{
    static const double nodes[3][2] = {{0.25, 0.6}, {0.4, 0.1}, {0.5, 0.75}};
    for (int k = 0; k < 3; k++) {
        dae_table t;
        dae_diag diag = {0};
        char label[40];
        double worst = 0.0;
        if (!seeds_ok(run, dae_table_hem4(nodes[k][0], nodes[k][1], &t, &diag), &diag)) return;
        sums x = sums_of(&t);
        for (int n = 1; n <= 20; n++)
            worst = fmax(worst, fabs(condition(&x, n) - right_sides[n - 1]));
        snprintf(label, sizeof label, "c2 = %g, c3 = %g", nodes[k][0], nodes[k][1]);
        seeds_number(run, label, worst, 0.0, 1e-11);
    }
    seeds_command_result r;
    if (seeds_refused(run, &r, "methods hem --construct 0.3,0.25"))
        seeds_holds(run, "c3 = 1/4, c4 = c5", strstr(r.err, "There is no half-explicit") != NULL,
                    "refused", "not invertible");
}

static void table5(seeds_run *run)
{
    const double w = sqrt(6.0);
    const double rows[5][5] = {{0.0},
                               {0.3},
                               {(1 + w) / 30, (11 - 4 * w) / 30},
                               {(-79 - 31 * w) / 150, (-1 - 4 * w) / 30, (24 + 11 * w) / 25},
                               {(14 + 5 * w) / 6, (-8 + 7 * w) / 6, (-9 - 7 * w) / 4, (9 - w) / 4}};
    const double b[5] = {0.0, 0.0, (16 - w) / 36, (16 + w) / 36, 1.0 / 9.0};
    dae_table t;
    char label[16];
    if (!hem4(run, &t)) return;
    for (int i = 1; i < 5; i++)
        for (int j = 0; j < i; j++) {
            snprintf(label, sizeof label, "a_%d%d", i + 1, j + 1);
            seeds_number(run, label, t.A[i][j], rows[i][j], 1e-13);
        }
    for (int i = 0; i < 5; i++) {
        snprintf(label, sizeof label, "b_%d", i + 1);
        seeds_number(run, label, t.b[i], b[i], 1e-14);
    }
}

/* (5.4), (5.5): linear systems only; both levels of constraints hold. */
static void multibody(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/pendulum.mo --method hem:4 --stats")) return;
    seeds_number(run, "Newton iterations", seeds_counter(run, &r, "Newton iterations"), 0.0, 0.0);
    seeds_at_most(run, "largest |g'|", seeds_counter(run, &r, "largest |g'|, hidden"), 1e-14, 1.0);
    seeds_at_most(run, "error at t = 10", error_of(run, &r, pendulum_names, pendulum, 5), 1e-7,
                  100.0);
}

/* Steps, rejections and errors of the pendulum of section 6.2 by the control of section 6.1, as an
 * independent program has them; tolerances are absolute. */
static void control(seeds_run *run)
{
    static const double tolerances[4] = {1e-2, 1e-4, 1e-6, 1e-8};
    static const double steps[4] = {37, 152, 691, 3201},
                        errors[4] = {6.6e-4, 2.3e-6, 9.8e-9, 3.2e-11};
    for (int k = 0; k < 4; k++) {
        seeds_command_result r;
        char label[32];
        if (!seeds_command(run, &r,
                           "run models/pendulum.mo --method hem:4:published --rtol 0 --atol %g "
                           "--stats",
                           tolerances[k]))
            return;
        snprintf(label, sizeof label, "steps at %g", tolerances[k]);
        seeds_within(run, label, seeds_counter(run, &r, "steps"), steps[k], 1.05);
        snprintf(label, sizeof label, "error at %g", tolerances[k]);
        seeds_at_most(run, label, error_of(run, &r, pendulum_names, pendulum, 2), errors[k], 1.2);
    }
}

/* The slope of error over work in a diagram of two logarithmic axes. */
static double slope(double error, double steps, double finer, double more)
{
    return log(finer / error) / log(more / steps);
}

/* Figure 2, left: straight lines of slope -4, the effective order. */
static void figure2_pendulum(seeds_run *run)
{
    double error[3], steps[3];
    static const double tolerances[3] = {1e-4, 1e-6, 1e-8};
    for (int k = 0; k < 3; k++) {
        seeds_command_result r;
        if (!seeds_command(run, &r,
                           "run models/pendulum.mo --method hem:4:published --rtol 0 --atol %g "
                           "--stats",
                           tolerances[k]))
            return;
        error[k] = error_of(run, &r, pendulum_names, pendulum, 4);
        steps[k] = seeds_counter(run, &r, "steps");
    }
    seeds_number(run, "slope, 1e-4 to 1e-6", slope(error[0], steps[0], error[1], steps[1]), -4.0,
                 0.4);
    seeds_number(run, "slope, 1e-6 to 1e-8", slope(error[1], steps[1], error[2], steps[2]), -4.0,
                 0.4);
}

/* Figure 2, right: the seven-body mechanism over [0, 0.025], against prk of order 8. */
static void figure2_mechanism(seeds_run *run)
{
    double q[4], steps[4];
    for (int k = 0; k < 4; k++) {
        seeds_command_result r;
        const bool reference = k == 3;
        if (!seeds_command(run, &r,
                           "run models/andrews.mo --stop 0.025 --method %s --rtol %g --atol %g "
                           "--stats",
                           reference ? "prk" : "hem:4:published", reference ? 1e-12 : 0.0,
                           reference ? 1e-12 : pow(10.0, -4.0 - 2.0 * k)))
            return;
        q[k] = seeds_last(run, &r, "q[1]");
        steps[k] = seeds_counter(run, &r, "steps");
    }
    for (int k = 0; k < 2; k++) {
        char label[40];
        snprintf(label, sizeof label, "slope, 1e-%d to 1e-%d", 4 + 2 * k, 6 + 2 * k);
        seeds_number(run, label,
                     slope(fabs(q[k] - q[3]), steps[k], fabs(q[k + 1] - q[3]), steps[k + 1]), -4.0,
                     0.4);
    }
}

/* Figure 3: the instants of switching, from the exact solution by modes. */
static void figure3(seeds_run *run)
{
    static const double times[14] = {0.027709, 0.966044, 2.123164, 3.004353, 4.416370,
                                     4.928516, 5.029198, 5.066506, 6.220459, 6.432274,
                                     6.531615, 6.961740, 8.262842, 9.028033};
    seeds_command_result r;
    int seen = 0, z = -1;
    double release = 0.0;
    if (!seeds_command(run, &r,
                       "run models/violin.mo --method hem:4 --interval 0 --rtol 1e-8 --atol "
                       "1e-10"))
        return;
    z = table_column(r.rows, "z");
    for (int i = 1; i < r.rows->rows && z >= 0; i++) {
        const double *row = r.rows->values + i * r.rows->columns, *before = row - r.rows->columns;
        if (row[0] != before[0] || row[0] == 0.0) continue; /* events have two rows */
        char label[16];
        snprintf(label, sizeof label, "t_%d", seen + 1);
        if (seen < 14) seeds_number(run, label, row[0], times[seen], 1e-6);
        if (seen % 2 == 1) release = fmax(release, fabs(before[z] + 4.0 / 3.0));
        seen++;
    }
    seeds_number(run, "switches", seen, 14, 0.0);
    seeds_number(run, "largest |z + 4/3| at a release", release, 0.0, 1e-6);
}

static const seeds_row rows[] = {
    {.id = "002-1.1",
     .where = "(1.1) to (1.3)",
     .what = "index 2, y' = f(y,z), 0 = g(y)",
     .run = index2},
    {.id = "002-1.4",
     .where = "(1.4)",
     .what = "inner variables 0 = k(y,z,u)",
     .run = inner_variables},
    {.id = "002-2.1",
     .where = "(2.1), (2.3), Lemmas 1 and 2",
     .what = "the method; a_{i,i-1} and b_s are not 0",
     .how = "daedal run models/seeds/steering.mo --method hem:4 --stats; dae_table_check(&t, "
            "\"hem\", &diag)",
     .run = method_21},
    {.id = "002-T1",
     .where = "Table 1",
     .what = "the 20 order conditions; (16) with its second sum over k",
     .how = "dae_table_hem4(0.3, (4 - sqrt(6))/10, &t, &diag)",
     .run = table1},
    {.id = "002-T1-check",
     .where = "Table 1",
     .what = "tables are checked by it",
     .run = table1_check},
    {.id = "002-T2", .where = "Table 2, Proposition 4", .what = "method of order 3", .run = table2},
    {.id = "002-P5",
     .where = "Proposition 5",
     .what = "four stages cannot meet (11): c_2 (1 - c_3)/6 is left over",
     .how = "dae_table_check(&t, \"prk\", &diag)",
     .run = proposition5},
    {.id = "002-T3",
     .where = "Table 3, (3.4)",
     .what = "embedded method Y_5",
     .how = "dae_table_hem4(0.3, (4 - sqrt(6))/10, &t, &diag)",
     .run = table3},
    {.id = "002-3.5",
     .where = "(3.5)",
     .what = "dense output",
     .how = "daedal run models/seeds/steering.mo --method hem:4 --rtol 1e-7 --atol 1e-7 --interval "
            "0.05",
     .run = dense},
    {.id = "002-T4", .where = "Table 4", .what = "z = Z_s, order 2", .run = table4},
    {.id = "002-3.6", .where = "(3.6)", .what = "z from g_y f = 0, order 4", .run = equation36},
    {.id = "002-T10",
     .where = "C(2), D(1), (4.1), (4.2), Theorem 10",
     .what = "the reduced system",
     .how = "dae_table_hem4(0.3, (4 - sqrt(6))/10, &t, &diag)",
     .run = theorem10},
    {.id = "002-A4",
     .where = "Algorithm of section 4, (4.3), (4.4)",
     .what = "construction with free c2 and c3; largest defect of 20 conditions",
     .how = "daedal methods hem --construct 0.25,0.6",
     .run = construction},
    {.id = "002-T5",
     .where = "Table 5",
     .what = "coefficients of HEM4",
     .how = "daedal methods hem --construct 0.3,0.155051025721682",
     .run = table5},
    {.id = "002-5.5",
     .where = "(5.1) to (5.5)",
     .what = "multibody systems: linear systems only",
     .run = multibody},
    {.id = "002-6.2",
     .where = "(6.1), (6.2)",
     .what = "step control on the pendulum",
     .run = control},
    {.id = "002-F2a",
     .where = "Figure 2",
     .what = "work and precision, pendulum",
     .run = figure2_pendulum},
    {.id = "002-F2b",
     .where = "Figure 2",
     .what = "work and precision, seven-body mechanism",
     .run = figure2_mechanism},
    {.id = "002-F3", .where = "(6.3) to (6.8), Figure 3", .what = "violin string", .run = figure3},
};

const seeds_part seeds_002 = {
    .seed = "002", .title = "Half-explicit Runge-Kutta methods of index 2", SEEDS_ROWS(rows)};
