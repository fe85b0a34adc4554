/* Second order DAEs: collocation, formulations and numerical results [Wun05 chapters 4 to 8] */
#include "../../test/trials/command.h"
#include "independent_second_order.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what rows share ---- */

/* Tolerances of section 8.1 for models/circle.mo, and of 8.2: lambda' has ten times that of lambda
 */
#define POSITIONS " --rtol 1e-4 --atol-of 'q*=1e-4'"
#define CIRCLE_TOLERANCES POSITIONS " --atol-of 'v*=1e-2' --atol-of lambda=1e-2"
/* Beyond t = 1, so that no step is cut there */
#define ROWS_AND_STEPS " --stop 1.5 --interval 0.1 --history -"

/* One unit of the third digit: both the print and ours are rounded. */
static double unit(double printed)
{
    return pow(10.0, floor(log10(printed)) - 2.0);
}

/* Accepted steps until one reaches t, from what `--history -` prints: t,h,order,result,.. */
static int steps_to(const seeds_command_result *r, double t)
{
    int steps = 0;
    for (const char *line = strchr(r->out, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        char *end;
        double from = strtod(line + 1, &end), h = *end == ',' ? strtod(end + 1, &end) : 0.0;
        const char *result = *end == ',' ? strchr(end + 1, ',') : NULL;
        if (!result || strncmp(result, ",accepted,", 10) != 0) continue;
        steps++;
        if (from + h >= t) return steps;
    }
    return -1;
}

/* Number `field` (from 0) of accepted or rejected attempt k (from 0) of the history */
static double of_attempt(const seeds_command_result *r, int k, int field)
{
    const char *line = strchr(r->out, '\n');
    for (int i = 0; line && i < k; i++) line = strchr(line + 1, '\n');
    for (int i = 0; line && i < field; i++) line = strchr(line + 1, ',');
    return line ? strtod(line + 1, NULL) : NAN;
}

/* The solution of (8.1) [Wun05 (8.3)] */
static double circle_exact(const char *name, double t)
{
    if (!strcmp(name, "q1")) return sin(t);
    if (!strcmp(name, "q2")) return cos(t);
    if (!strcmp(name, "v1")) return cos(t);
    if (!strcmp(name, "v2")) return -sin(t);
    return sin(t) * cos(t);
}

static double circle_error(seeds_run *run, const seeds_command_result *r, const char *name,
                           double t)
{
    return fabs(seeds_at(run, r, name, t) - circle_exact(name, t));
}

/* The largest error of a variable over all rows up to t */
static double circle_worst(seeds_run *run, const seeds_command_result *r, const char *name,
                           double t)
{
    double most = 0.0;
    for (int i = 0; r->rows && i < r->rows->rows; i++) {
        double at = r->rows->values[i * r->rows->columns];
        if (at <= t) most = fmax(most, circle_error(run, r, name, at));
    }
    return most;
}

static const char *at(const char *what, double t)
{
    static char label[64];
    snprintf(label, sizeof label, "%s at t = %.1f", what, t);
    return label;
}

/* A part of the text that a command prints */
static void says(seeds_run *run, const seeds_command_result *r, const char *words,
                 const char *printed)
{
    bool found = strstr(r->out, words) != NULL;
    seeds_holds(run, "", found, found ? words : "not in the output", printed);
}

/* ---- Tables 8.1 to 8.3, modified BDF ---- */

typedef struct bdf_row {
    double q1, lambda;
    int steps;
} bdf_row;

/* Errors are at most as printed (8.1: a tenth more), or equal (8.3). */
static void printed_rows(seeds_run *run, const seeds_command_result *r, const bdf_row *rows)
{
    for (int i = 0; i < 10; i++) {
        double t = 0.1 * (i + 1);
        seeds_number(run, at("q1", t), circle_error(run, r, "q1", t), rows[i].q1, unit(rows[i].q1));
        seeds_number(run, at("lambda", t), circle_error(run, r, "lambda", t), rows[i].lambda,
                     unit(rows[i].lambda));
        seeds_number(run, at("steps", t), steps_to(r, t), rows[i].steps, 0.0);
    }
}

static void table_8_1(seeds_run *run)
{
    static const bdf_row rows[10] = {{3.21e-8, 9.46e-4, 13}, {1.60e-6, 6.38e-4, 14},
                                     {1.40e-5, 2.73e-3, 15}, {3.41e-5, 2.64e-3, 16},
                                     {6.98e-5, 7.34e-4, 17}, {1.25e-4, 3.45e-3, 18},
                                     {1.91e-4, 2.00e-3, 21}, {2.61e-4, 1.64e-3, 23},
                                     {3.31e-4, 3.76e-3, 25}, {3.96e-4, 6.13e-3, 26}};
    static const char why[] = "a program written from chapter 4 alone, which shares nothing with "
                              "the library, finds our numbers";
    seeds_command_result r;
    circle_output other[10];
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation index3"
                       " --initial-step 1e-4" CIRCLE_TOLERANCES ROWS_AND_STEPS))
        return;
    independent_table_8_1(other);
    for (int i = 0; i < 10; i++) {
        double t = 0.1 * (i + 1), q1 = circle_error(run, &r, "q1", t),
               lambda = circle_error(run, &r, "lambda", t);
        int steps = steps_to(&r, t);
        seeds_at_most(run, at("q1", t), q1, rows[i].q1, 1.1);
        seeds_misprint(run, at("lambda", t), lambda, rows[i].lambda, other[i].lambda,
                       unit(other[i].lambda), why);
        if (steps == rows[i].steps)
            seeds_number(run, at("steps", t), steps, rows[i].steps, 0.0);
        else
            seeds_misprint(run, at("steps", t), steps, rows[i].steps, other[i].steps, 0.0, why);
    }
}

/* The print is of an iteration that failed often; ours takes its first steps, and then fewer. */
static void table_8_2(seeds_run *run)
{
    static const bdf_row rows[10] = {
        {3.80e-5, 8.46e-1, 10}, {3.04e-3, 6.47, 11}, {1.10e-2, 2.18e-1, 12}, {2.65e-2, 1.06, 14},
        {5.52e-2, 2.53, 17},    {1.06e-1, 5.04, 21}, {1.99e-1, 10.7, 34},    {2.70e-1, 32.7, 64},
        {3.50e-1, 36.5, 89},    {1.27, 37.1, 107}};
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation ggl2"
                       " --initial-step 1e-3 --rtol 0.1 --atol 1e-2 --rtol-of 'q*=1e-2'"
                       " --atol-of 'q*=1e-3' --rtol-of 'v*=1' --atol-of 'v*=1' --rtol-of lambda=1"
                       " --atol-of lambda=1" ROWS_AND_STEPS))
        return;
    for (int i = 0; i < 10; i++) {
        double t = 0.1 * (i + 1);
        seeds_at_most(run, at("q1", t), circle_error(run, &r, "q1", t), rows[i].q1, 1.0);
        seeds_at_most(run, at("lambda", t), circle_error(run, &r, "lambda", t), rows[i].lambda,
                      1.0);
        seeds_at_most(run, at("steps", t), steps_to(&r, t), rows[i].steps, 1.0);
    }
}

static const bdf_row rows_8_3[10] = {
    {2.65e-8, 3.17e-4, 13}, {1.41e-6, 1.37e-3, 14}, {7.24e-6, 4.37e-4, 16}, {1.85e-5, 2.08e-3, 17},
    {4.04e-5, 8.01e-4, 19}, {7.05e-5, 2.50e-3, 21}, {1.11e-4, 1.47e-3, 23}, {1.55e-4, 1.67e-3, 25},
    {2.00e-4, 2.90e-3, 27}, {2.38e-4, 3.07e-3, 29}};

/* w1 has the name v2 here, and w2 the tolerance of what a formulation adds: --atol. */
#define MINIMAL_TOLERANCES                                                                         \
    POSITIONS " --atol 1e-2 --atol-of v1=1e-2 --atol-of v2=1e-3 --atol-of lambda=1e-2"

static void table_8_3(seeds_run *run)
{
    seeds_command_result r;
    if (seeds_command(run, &r,
                      "run models/circle.mo --method bdf2nd --variant thesis --formulation minimal"
                      " --initial-step 1e-4" MINIMAL_TOLERANCES ROWS_AND_STEPS))
        printed_rows(run, &r, rows_8_3);
}

/* The same system written out */
static void system_8_5(seeds_run *run)
{
    seeds_command_result r;
    if (seeds_command(run, &r,
                      "run models/seeds/circle_minimal.mo --method bdf2nd --variant thesis"
                      " --initial-step 1e-4" POSITIONS " --atol-of w1=1e-3 --atol-of w2=1e-2"
                      " --atol-of v1=1e-2 --atol-of lambda=1e-2" ROWS_AND_STEPS))
        printed_rows(run, &r, rows_8_3);
}

/* Beyond q2 = 0 at t = pi/2 the other choice, (8.6), must have been taken, and back. */
static void system_8_6(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --formulation minimal --rtol 1e-6"
                       " --atol 1e-6 --stop 5 --interval 0.5"))
        return;
    /* errors of the steps add up: a hundred tolerances over five radians */
    seeds_number(run, "q1 at t = 2, by (8.6)", seeds_at(run, &r, "q1", 2.0), sin(2.0), 1e-4);
    seeds_number(run, "q1 at t = 5, by (8.5)", seeds_at(run, &r, "q1", 5.0), sin(5.0), 1e-4);
    seeds_number(run, "lambda at t = 5", seeds_at(run, &r, "lambda", 5.0), sin(5.0) * cos(5.0),
                 1e-3);
}

/* ---- Tables 8.4 and 8.5, collocation ---- */

static const int steps_8_4[10] = {12, 13, 14, 15, 17, 19, 20, 21, 22, 24};

/* A number of the print, to two units of its third digit: one of them is what the iteration (4.18)
 * of the print leaves. */
static void third_digit(seeds_run *run, const char *label, double error, double printed)
{
    seeds_number(run, label, error, printed, 2.0 * unit(printed));
}

static void table_8_4(seeds_run *run)
{
    static const double printed[10][3] = {
        {4.08e-9, 3.75e-10, 2.32e-4}, {1.57e-7, 2.98e-8, 9.71e-4}, {9.82e-7, 2.85e-7, 1.87e-3},
        {1.82e-6, 7.66e-7, 8.83e-4},  {3.00e-6, 1.64e-6, 5.04e-4}, {4.18e-6, 2.86e-6, 2.64e-4},
        {5.36e-6, 4.51e-6, 5.92e-4},  {6.55e-6, 6.74e-6, 1.38e-3}, {7.67e-6, 9.65e-6, 1.14e-3},
        {8.62e-6, 1.34e-5, 1.03e-3}};
    static const char *const names[3] = {"q1", "q2", "lambda"};
    seeds_command_result r;
    if (!seeds_command(
            run, &r,
            "run models/circle.mo --method colloc2nd --order 3 --variant thesis"
            " --formulation index3 --initial-step 1e-3" CIRCLE_TOLERANCES ROWS_AND_STEPS))
        return;
    for (int i = 0; i < 10; i++) {
        double t = 0.1 * (i + 1);
        for (int k = 0; k < 3; k++)
            third_digit(run, at(names[k], t), circle_error(run, &r, names[k], t), printed[i][k]);
        seeds_number(run, at("steps", t), steps_to(&r, t), steps_8_4[i], 0.0);
    }
}

static int circle_force(const dae_mechanical_point *p, double *f, void *user)
{
    const double *q = p->q, *v = p->v;
    (void)user;
    f[0] = -q[0] - 2.0 * q[0] * v[0] * v[1];
    f[1] = -v[0] + 2.0 * q[0] * q[1] * q[1];
    return 0;
}

static int circle_constraint(const dae_mechanical_point *p, double *g, void *user)
{
    (void)user;
    g[0] = p->q[0] * p->q[0] + p->q[1] * p->q[1] - 1.0;
    return 0;
}

static int circle_gradient(const dae_mechanical_point *p, double *G, void *user)
{
    (void)user;
    G[0] = 2.0 * p->q[0];
    G[1] = 2.0 * p->q[1];
    return 0;
}

static int circle_curvature(const dae_mechanical_point *p, double *c, void *user)
{
    (void)user;
    c[0] = 2.0 * (p->v[0] * p->v[0] + p->v[1] * p->v[1]);
    return 0;
}

/* (8.1) as callbacks, started; NULL and a failed row if that does not work */
static dae_solver *circle_solver(seeds_run *run, dae_options *options, dae_problem **problem)
{
    static const double y[5] = {0, 1, 1, 0, 0}, yp[5] = {1, 0, 0, -1, 1};
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = circle_force,
                           .constraint = circle_constraint,
                           .gradient = circle_gradient,
                           .curvature = circle_curvature,
                           .scleronomic = true};
    dae_diag diag = {0};
    dae_solver *s = NULL;
    if (!seeds_ok(run, dae_problem_from_mechanical(&form, problem, &diag), &diag)) return NULL;
    if (!seeds_ok(run, dae_solver_new(*problem, options, &s, &diag), &diag)) return NULL;
    if (seeds_ok(run, dae_solver_start(s, 0.0, y, yp), dae_solver_diag(s))) return s;
    dae_solver_free(s);
    return NULL;
}

static const double all_rtol[5] = {1e-4, 1e-4, 1e-4, 1e-4, 1e-4};

static void table_8_5(seeds_run *run)
{
    static const double printed[10][3] = {{4.71e-7, 3.04e-6, 2.02e-2}, {8.16e-6, 2.50e-5, 4.05e-2},
                                          {2.92e-5, 5.66e-5, 7.45e-2}, {9.12e-6, 1.80e-5, 1.33e-1},
                                          {1.24e-5, 9.96e-6, 9.57e-2}, {1.28e-5, 1.29e-5, 4.03e-2},
                                          {2.25e-5, 7.03e-6, 3.06e-2}, {3.80e-5, 1.49e-6, 5.22e-2},
                                          {3.33e-5, 1.92e-5, 7.99e-2}, {2.35e-5, 3.31e-5, 8.54e-2}};
    static const double atol[5] = {1e-4, 1e-4, 1e-2, 1e-2, 1e-2};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    options.method = "colloc2nd:3:thesis";
    options.rtol_by_unknown = all_rtol;
    options.atol_by_unknown = atol;
    options.initial_step = 1e-3;
    dae_solver *s = circle_solver(run, &options, &problem);
    for (int i = 0; s && i < 10; i++) {
        double y[5], yp[5], t = 0.1 * (i + 1);
        if (!seeds_ok(run, dae_solver_run(s, t, y, yp), dae_solver_diag(s))) break;
        third_digit(run, at("q1'", t), fabs(y[2] - cos(t)), printed[i][0]);
        third_digit(run, at("q2'", t), fabs(y[3] + sin(t)), printed[i][1]);
        third_digit(run, at("lambda'", t), fabs(yp[4] - cos(2.0 * t)), printed[i][2]);
        seeds_number(run, at("steps", t), (double)dae_solver_stats(s)->steps, steps_8_4[i], 0.0);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Minimal extension from callbacks: Table 8.3 once more */
static void minimal_from_callbacks(seeds_run *run)
{
    static const double atol[5] = {1e-4, 1e-4, 1e-2, 1e-3, 1e-2};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    options.method = "bdf2nd:thesis";
    options.formulation = "minimal";
    options.atol = 1e-2;
    options.rtol = 1e-4;
    options.rtol_by_unknown = all_rtol;
    options.atol_by_unknown = atol;
    options.initial_step = 1e-4;
    dae_solver *s = circle_solver(run, &options, &problem);
    for (int i = 0; s && i < 10; i++) {
        double y[5], t = 0.1 * (i + 1);
        if (!seeds_ok(run, dae_solver_run(s, t, y, NULL), dae_solver_diag(s))) break;
        seeds_number(run, at("q1", t), fabs(y[0] - sin(t)), rows_8_3[i].q1, unit(rows_8_3[i].q1));
        seeds_number(run, at("lambda", t), fabs(y[4] - sin(t) * cos(t)), rows_8_3[i].lambda,
                     unit(rows_8_3[i].lambda));
        seeds_number(run, at("steps", t), (double)dae_solver_stats(s)->steps, rows_8_3[i].steps,
                     0.0);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- the DASSL columns ----
 *
 * They come out on every digit where the first TOUT, which fixes h0, is 0.05 in Table 8.1 and 0.1
 * in the others, and where "steps" are those taken plus the calls of DASSL after the first one. */

/* y = (q1, q2, v1, v2, lambda, eta): rows of (8.7) */
static int first_order_8_7(double t, const double *y, const double *yp, double *f, void *user)
{
    double q1 = y[0], q2 = y[1], v1 = y[2], v2 = y[3], lambda = y[4];
    (void)t, (void)user;
    f[0] = yp[0] - v1;
    f[1] = yp[1] - v2;
    f[2] = yp[2] + q1 + 2.0 * q1 * v1 * v2 + 2.0 * q1 * lambda;
    f[3] = yp[3] + v1 - 2.0 * q1 * q2 * q2 + 2.0 * q2 * lambda;
    f[4] = q1 * q1 + q2 * q2 - 1.0;
    return 0;
}

/* (8.8) */
static int ggl_8_8(double t, const double *y, const double *yp, double *f, void *user)
{
    first_order_8_7(t, y, yp, f, user);
    f[0] += 2.0 * y[0] * y[5];
    f[1] += 2.0 * y[1] * y[5];
    f[5] = 2.0 * y[0] * y[2] + 2.0 * y[1] * y[3];
    return 0;
}

/* (8.10) */
static int reduced_8_10(double t, const double *y, const double *yp, double *f, void *user)
{
    double q1 = y[0], q2 = y[1], v1 = y[2], v2 = y[3], lambda = y[4];
    first_order_8_7(t, y, yp, f, user);
    f[1] = 2.0 * q1 * v1 + 2.0 * q2 * v2;
    f[3] = 2.0 * v1 * v1 - 2.0 * q1 * (q1 + 2.0 * q1 * v1 * v2 + 2.0 * q1 * lambda) +
           2.0 * v2 * v2 - 2.0 * q2 * (v1 - 2.0 * q1 * q2 * q2 + 2.0 * q2 * lambda);
    return 0;
}

typedef struct dassl_column {
    dae_residual_fn f;
    int n, calls; /* unknowns; calls of DASSL for a row */
    double atol[6];
    bdf_row rows[10];
} dassl_column;

/* One row of the column, after `calls` more runs */
static bool dassl_row(seeds_run *run, dae_solver *s, const dassl_column *c, int i)
{
    double y[6], t = 0.0;
    for (int k = 1; k <= c->calls; k++) {
        t = 0.1 * (i + (double)k / c->calls);
        if (!seeds_ok(run, dae_solver_run(s, t, y, NULL), dae_solver_diag(s))) return false;
    }
    double counted = (double)dae_solver_stats(s)->steps + (i + 1) * c->calls - 1;
    /* a per cent: the differences that stand for derivatives are those of another machine */
    seeds_number(run, at("q1", t), fabs(y[0] - sin(t)), c->rows[i].q1, 0.01 * c->rows[i].q1);
    seeds_number(run, at("lambda", t), fabs(y[4] - sin(t) * cos(t)), c->rows[i].lambda,
                 0.01 * c->rows[i].lambda);
    seeds_number(run, at("steps", t), counted, c->rows[i].steps, 0.0);
    return true;
}

static void run_dassl(seeds_run *run, const dassl_column *c)
{
    static const double rtol[6] = {1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4}, y[6] = {0, 1, 1, 0, 0, 0},
                        yp[6] = {1, 0, 0, -1, 1, 0};
    dae_residual form = {.n = c->n, .f = c->f};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    options.method = "bdf:dassl";
    options.rtol_by_unknown = rtol;
    options.atol_by_unknown = c->atol;
    options.error_test = DAE_ERROR_ALL;
    options.init = DAE_INIT_NONE;
    bool ok = seeds_ok(run, dae_problem_from_residual(&form, &problem, &diag), &diag) &&
              seeds_ok(run, dae_solver_new(problem, &options, &s, &diag), &diag) &&
              seeds_ok(run, dae_solver_start(s, 0.0, y, yp), dae_solver_diag(s));
    for (int i = 0; ok && i < 10; i++) ok = dassl_row(run, s, c, i);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void table_8_1_dassl(seeds_run *run)
{
    static const dassl_column column = {first_order_8_7,
                                        5,
                                        2,
                                        {1e-4, 1e-4, 1e-2, 1e-2, 1.0},
                                        {{6.90e-5, 2.27e-1, 17},
                                         {6.81e-7, 9.93e-2, 23},
                                         {7.29e-5, 3.93e-2, 29},
                                         {3.59e-4, 8.60e-2, 35},
                                         {8.62e-4, 1.59e-3, 39},
                                         {1.42e-3, 2.91e-3, 43},
                                         {1.88e-3, 3.66e-2, 47},
                                         {2.27e-3, 2.63e-2, 51},
                                         {2.62e-3, 5.88e-2, 55},
                                         {2.90e-3, 3.19e-2, 59}}};
    run_dassl(run, &column);
}

static void table_8_2_dassl(seeds_run *run)
{
    static const dassl_column column = {ggl_8_8,
                                        6,
                                        1,
                                        {1e-4, 1e-4, 1e-4, 1e-4, 1e-4, 1e-4},
                                        {{5.40e-6, 6.25e-5, 51},
                                         {2.29e-5, 1.50e-4, 93},
                                         {5.20e-5, 2.68e-4, 136},
                                         {9.20e-5, 4.34e-4, 178},
                                         {1.43e-4, 6.66e-4, 221},
                                         {2.02e-4, 9.86e-4, 263},
                                         {2.70e-4, 1.41e-3, 306},
                                         {3.42e-4, 1.94e-3, 349},
                                         {4.13e-4, 2.54e-3, 391},
                                         {4.74e-4, 3.11e-3, 433}}};
    run_dassl(run, &column);
}

static void table_8_3_dassl(seeds_run *run)
{
    static const dassl_column column = {reduced_8_10,
                                        5,
                                        1,
                                        {1e-4, 1e-4, 1e-3, 1e-2, 1e-2},
                                        {{3.37e-5, 3.75e-5, 10},
                                         {1.15e-4, 1.21e-4, 13},
                                         {1.85e-4, 1.66e-4, 16},
                                         {1.91e-4, 1.34e-4, 18},
                                         {1.55e-4, 1.42e-5, 20},
                                         {1.26e-4, 1.81e-4, 22},
                                         {1.22e-4, 8.78e-5, 24},
                                         {1.34e-4, 1.44e-4, 26},
                                         {1.40e-4, 1.39e-3, 28},
                                         {1.12e-4, 9.37e-4, 30}}};
    run_dassl(run, &column);
}

/* ---- Figures 8.1 and 8.2 ---- */

static void figures_8_1_and_8_2(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --variant thesis --formulation index3"
                       " --initial-step 1e-4" CIRCLE_TOLERANCES " --stop 1.5 --interval 0.01"))
        return;
    seeds_at_most(run, "largest error of lambda up to t = 1, modified BDF",
                  circle_worst(run, &r, "lambda", 1.0), 6.13e-3, 1.5);
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method bdf2nd --rtol 1e-4 --atol 1e-4 --stop 1.5"
                       " --interval 0.01"))
        return;
    seeds_at_most(run, "the same with our default controller", circle_worst(run, &r, "lambda", 1.0),
                  6.13e-3, 1.0);
}

/* ---- the truck, Figures 8.3 to 8.7 ----
 *
 * The thesis takes the data of another paper, which are not printed; models/truck.mo has the same
 * bodies and joints with data of its own. What a figure shows is compared: 5 per cent of its
 * height. */

#define TRUCK_POSITIONS "run models/truck.mo --formulation index3 --rtol 1e-3 --rtol-of lambda=1"
#define TRUCK_ROWS " --atol-of lambda=1e-2 --atol-of 'F*=1e9' --stop 20 --interval 0.05"

/* Largest |value| from a time on, or distance to the reference (NULL: none) */
static double largest(const seeds_command_result *r, const char *name, double from,
                      const double *reference)
{
    int column = r->rows ? table_column(r->rows, name) : -1;
    double most = column >= 0 ? 0.0 : NAN;
    for (int i = 0; column >= 0 && i < r->rows->rows; i++) {
        const double *row = r->rows->values + i * r->rows->columns;
        if (row[0] >= from) most = fmax(most, fabs(row[column] - (reference ? reference[i] : 0.0)));
    }
    return most;
}

/* p9 and lambda at all rows of a run with many digits; false: the row fails */
static bool truck_reference(seeds_run *run, double *p9, double *lambda, int rows)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/truck.mo --rtol 1e-8 --stop 20 --interval 0.05"))
        return false;
    int a = table_column(r.rows, "p9"), b = table_column(r.rows, "lambda");
    if (r.rows->rows != rows) seeds_fail(run, "%d rows", r.rows->rows);
    if (r.rows->rows != rows) return false;
    for (int i = 0; i < rows; i++) {
        p9[i] = r.rows->values[i * r.rows->columns + a];
        lambda[i] = r.rows->values[i * r.rows->columns + b];
    }
    return true;
}

enum { TRUCK_TIMES = 401 };

/* A run beside the reference: p9 and lambda to 5 per cent of their largest values;
 * lambda goes to 0 once the bump is passed; steps at most as printed */
static void truck_figures(seeds_run *run, const char *command, double printed_steps)
{
    static double p9[TRUCK_TIMES], lambda[TRUCK_TIMES];
    seeds_command_result r;
    if (!truck_reference(run, p9, lambda, TRUCK_TIMES)) return;
    if (!seeds_command(run, &r, "%s --history -", command)) return;
    seeds_at_most(run, "p9 over its largest value",
                  largest(&r, "p9", 0.0, p9) / largest(&r, "p9", 0.0, NULL), 0.05, 1.0);
    seeds_at_most(run, "lambda over its largest value",
                  largest(&r, "lambda", 0.0, lambda) / largest(&r, "lambda", 0.0, NULL), 0.05, 1.0);
    seeds_at_most(run, "lambda from t = 15 on, over its largest value",
                  largest(&r, "lambda", 15.0, NULL) / largest(&r, "lambda", 0.0, NULL), 0.02, 1.0);
    seeds_at_most(run, "steps", steps_to(&r, 20.0), printed_steps, 1.0);
}

static void figures_8_4_and_8_6(seeds_run *run)
{
    truck_figures(run,
                  TRUCK_POSITIONS " --method bdf2nd --variant thesis --rtol-of 'v*=1e-2'"
                                  " --atol-of 'p*=1e-4' --atol-of 'v*=1e-3'" TRUCK_ROWS,
                  526.0);
}

static void figures_8_5_and_8_7(seeds_run *run)
{
    truck_figures(run, TRUCK_POSITIONS " --method bdf --atol 1e-4" TRUCK_ROWS, 1268.0);
}

static void figure_8_3(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/truck.mo")) return;
    says(run, &r, "index               3", "index 3, 12 unknowns of second order");
    says(run, &r, "p11", "11 positions");
}

/* (8.13) is close to singular for small h; rows of constraints scaled by 1/h^2 keep lambda: u/h^2
 * is what rounding of q does to it. */
static void jacobian_8_13(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/circle.mo --method colloc2nd --order 3 --projection none"
                       " --formulation index3 --rtol 1e-10 --atol 1e-12 --fixed-step 1e-4"
                       " --stop 0.02 --points 2"))
        return;
    double t = 0.02;
    seeds_at_most(run, "lambda at h = 1e-4", circle_error(run, &r, "lambda", t), 1e-4 * t, 1.0);
    seeds_at_most(run, "q1 at h = 1e-4", circle_error(run, &r, "q1", t), 1e-12, 1.0);
}

/* ---- chapter 4: the code ---- */

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
            char label[64], name[8];
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

#define ROW(name, place, about, function)                                                          \
    {                                                                                              \
        .id = name, .where = place, .what = about, .run = function                                 \
    }

#define DASSL_CALL                                                                                 \
    "dae_problem_from_residual(..); opt.method = \"bdf:dassl\", opt.error_test = DAE_ERROR_ALL; "  \
    "dae_solver_run(s, t, y, NULL)"

static const seeds_row rows[] = {
    ROW("000-L4.1.1", "Lemma 4.1.1", "index of the equations of motion", index_4_1),
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
    ROW("000-T8.1", "Table 8.1, left", "modified BDF on (8.1)", table_8_1),
    {.id = "000-T8.1D",
     .where = "Table 8.1, DASSL",
     .what = "DASSL on (8.7)",
     .how = DASSL_CALL,
     .run = table_8_1_dassl},
    ROW("000-T8.2", "Table 8.2, left", "modified BDF on GGL (8.4)", table_8_2),
    {.id = "000-T8.2D",
     .where = "Table 8.2, DASSL",
     .what = "DASSL on GGL (8.8)",
     .how = DASSL_CALL,
     .run = table_8_2_dassl},
    ROW("000-T8.3", "Table 8.3, left", "modified BDF on minimal extension (8.5)", table_8_3),
    ROW("000-8.5", "(8.5)", "the same, written out", system_8_5),
    {.id = "000-T8.3C",
     .where = "Table 8.3, left",
     .what = "the same, from callbacks",
     .how = "dae_problem_from_mechanical(..); opt.method = \"bdf2nd:thesis\", opt.formulation = "
            "\"minimal\"; dae_solver_run(s, t, y, NULL)",
     .run = minimal_from_callbacks},
    {.id = "000-T8.3D",
     .where = "Table 8.3, DASSL",
     .what = "DASSL on the reduced system (8.10)",
     .how = DASSL_CALL,
     .run = table_8_3_dassl},
    ROW("000-8.6", "(8.6), (8.11)", "the other choice, where q2 = 0", system_8_6),
    ROW("000-F8.1", "Figures 8.1, 8.2", "lambda of (8.1) over [0, 1]", figures_8_1_and_8_2),
    ROW("000-F8.3", "Figure 8.3", "the truck: 11 positions, one joint", figure_8_3),
    ROW("000-F8.4", "Figures 8.4, 8.6", "truck over [0, 20], modified BDF", figures_8_4_and_8_6),
    ROW("000-F8.5", "Figures 8.5, 8.7", "truck over [0, 20], first order BDF", figures_8_5_and_8_7),
    ROW("000-T8.4", "Table 8.4", "collocation on (8.1): q and lambda", table_8_4),
    {.id = "000-T8.5",
     .where = "Table 8.5",
     .what = "collocation on (8.1): derivatives",
     .how = "dae_problem_from_mechanical(..); opt.method = \"colloc2nd:3:thesis\"; "
            "dae_solver_run(s, t, y, yp)",
     .run = table_8_5},
    ROW("000-8.13", "(8.13)", "small steps: constraint rows scaled by 1/h^2", jacobian_8_13),
};

const seeds_part seeds_000_second_order = {
    .seed = "000",
    .title = "Second order DAEs: collocation, formulations and numerical results",
    SEEDS_ROWS(rows)};
