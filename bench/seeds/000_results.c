/* Second order DAEs: numerical results [Wun05 chapter 8] */
#include "../../test/trials/command.h"
#include "000_circle.h"
#include "independent_second_order.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading a run ---- */

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

/* The solution of (8.1) [Wun05 (8.3)] */
static double circle_exact(const char *name, double t)
{
    if (!strcmp(name, "q1")) return sin(t);
    if (!strcmp(name, "q2")) return cos(t);
    if (!strcmp(name, "v1")) return cos(t);
    if (!strcmp(name, "v2")) return -sin(t);
    return sin(t) * cos(t);
}

double circle_error(seeds_run *run, const seeds_command_result *r, const char *name, double t)
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

#define TRUCK_MODIFIED                                                                             \
    TRUCK_POSITIONS " --method bdf2nd --variant thesis --rtol-of 'v*=1e-2'"                        \
                    " --atol-of 'p*=1e-4' --atol-of 'v*=1e-3'" TRUCK_ROWS
#define TRUCK_FIRST_ORDER TRUCK_POSITIONS " --method bdf --atol 1e-4" TRUCK_ROWS

static void figures_8_4_and_8_6(seeds_run *run)
{
    truck_figures(run, TRUCK_MODIFIED, 526.0);
}

static void figures_8_5_and_8_7(seeds_run *run)
{
    truck_figures(run, TRUCK_FIRST_ORDER, 1268.0);
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

/* ---- the list ---- */

#define DASSL_CALL                                                                                 \
    "dae_problem_from_residual(..); opt.method = \"bdf:dassl\", opt.error_test = DAE_ERROR_ALL; "  \
    "dae_solver_run(s, t, y, NULL)"

static const seeds_row rows[] = {
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
    {.id = "000-F8.4",
     .where = "Figures 8.4, 8.6",
     .what = "truck over [0, 20], modified BDF",
     .how = "daedal " TRUCK_MODIFIED, /* the first command is the reference */
     .run = figures_8_4_and_8_6},
    {.id = "000-F8.5",
     .where = "Figures 8.5, 8.7",
     .what = "truck over [0, 20], first order BDF",
     .how = "daedal " TRUCK_FIRST_ORDER,
     .run = figures_8_5_and_8_7},
    ROW("000-T8.4", "Table 8.4", "collocation on (8.1): q and lambda", table_8_4),
    {.id = "000-T8.5",
     .where = "Table 8.5",
     .what = "collocation on (8.1): derivatives",
     .how = "dae_problem_from_mechanical(..); opt.method = \"colloc2nd:3:thesis\"; "
            "dae_solver_run(s, t, y, yp)",
     .run = table_8_5},
    ROW("000-8.13", "(8.13)", "small steps: constraint rows scaled by 1/h^2", jacobian_8_13),
};

const seeds_part seeds_000_results = {
    .seed = "000", .title = "Second order DAEs: numerical results", SEEDS_ROWS(rows)};
