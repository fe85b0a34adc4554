/* Half-explicit methods for overdetermined DAEs: [Baese17]. Steps are counted as there: accepted
 * steps and the start. Errors are Euclidean distances over all unknowns. */
#include "004_systems.h"
#include "independent_baese.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

static double distance(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* ---- runs of systems as callbacks ---- */

typedef struct setup {
    const char *method;
    dae_herk_options herk;
    double eps0, h0; /* eps0 = 0: constant steps of h0 */
} setup;

typedef struct outcome {
    double x[BAESE_MOST], start[BAESE_MOST];
    double steps, longest;  /* accepted + 1; longest step */
    double worst;           /* largest distance from the exact solution at the ends of steps, */
    double one[BAESE_MOST]; /* and of each unknown */
    dae_diag diag;
} outcome;

static dae_options options_of(const baese_system *s, const setup *u, dae_herk_options *herk)
{
    dae_options o = dae_options_default();
    *herk = u->herk;
    herk->size = sizeof *herk;
    if (u->eps0 > 0) herk->adaptive_steps = DAE_SWITCH_ON;
    o.method = u->method;
    o.herk = herk;
    o.stop_time = s->tf;
    o.max_steps = 0;
    if (u->eps0 > 0)
        o.atol = u->eps0, o.initial_step = u->h0;
    else
        o.fixed_step = u->h0;
    return o;
}

static void note(dae_solver *solver, const baese_system *s, outcome *result)
{
    double exact[BAESE_MOST], t = dae_solver_time(solver);
    dae_solver_at(solver, t, 0, result->x);
    result->longest = fmax(result->longest, dae_solver_stats(solver)->last_h);
    if (!s->exact) return;
    s->exact(t, exact);
    result->worst = fmax(result->worst, distance(s->form.n, result->x, exact));
    for (int i = 0; i < s->form.n; i++)
        result->one[i] = fmax(result->one[i], fabs(result->x[i] - exact[i]));
}

static dae_status integrate(const baese_system *s, const setup *u, outcome *result)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_herk_options herk;
    dae_options o = options_of(s, u, &herk);
    *result = (outcome){0};
    dae_status status = dae_problem_from_quasilinear(&s->form, &problem, &result->diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &o, &solver, &result->diag);
    if (status == DAE_OK) status = dae_solver_start(solver, s->t0, s->start, NULL);
    if (status == DAE_OK) status = dae_solver_at(solver, s->t0, 0, result->start);
    for (bool on = status == DAE_OK; on; on = status == DAE_STEPPED) {
        status = dae_solver_step(solver, s->tf);
        if (status >= 0) note(solver, s, result);
    }
    if (solver) result->steps = (double)dae_solver_stats(solver)->steps + 1;
    if (solver && status < 0) result->diag = *dae_solver_diag(solver);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static bool solve(seeds_run *run, const baese_system *s, const setup *u, outcome *result)
{
    return seeds_ok(run, integrate(s, u, result), &result->diag);
}

/* ---- chapter 2: hidden constraints ---- */

static void finds(seeds_run *run, const seeds_command_result *c, const char *text)
{
    seeds_holds(run, text, strstr(c->out, text) != NULL, "found", text);
}

static void example_27(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "check models/structure/cvloop.mo")) return;
    finds(run, &c, "index               2");
    finds(run, &c, "q2 + 2*e1 + 2*iV = -100*cos(100*time)"); /* q2 = e2 */
}

static void example_213(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, "check models/seeds/baese_pendulum.mo")) return;
    finds(run, &c, "index               3");
    finds(run, &c, "x*v + y*w = 0");
    finds(run, &c, "2*x^2*lambda + m*g*y + 2*y^2*lambda = m*v^2 + m*w^2");
}

/* ---- chapter 3: the selection ---- */

/* g_x of (4.5) by columns, m = l = 1 */
static void pendulum_jacobian(const double *u, double gravity, double *J)
{
    const double rows[3][5] = {{2 * u[0], 2 * u[1], 0, 0, 0},
                               {2 * u[2], 2 * u[3], 2 * u[0], 2 * u[1], 0},
                               {-8 * u[0] * u[4], -8 * u[1] * u[4] - 2 * gravity, 4 * u[2],
                                4 * u[3], -4 * (u[0] * u[0] + u[1] * u[1])}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) J[i + 3 * j] = rows[i][j];
}

/* Names of the unknowns in the order of the pivots, such as "lambda w y". */
static void selects(seeds_run *run, int ng, int n, const double *J, const bool *required,
                    const char *const *names, const char *printed)
{
    int unknowns[BAESE_MOST], rows[BAESE_MOST];
    char ours[64] = "";
    dae_diag diag = {0};
    if (!seeds_ok(run, dae_select_unknowns(ng, n, J, required, 1e-15, unknowns, rows, &diag),
                  &diag))
        return;
    for (int k = 0; k < ng; k++) {
        size_t length = strlen(ours);
        snprintf(ours + length, sizeof ours - length, "%s%s", k ? " " : "", names[unknowns[k]]);
    }
    seeds_holds(run, "algebraic unknowns", strcmp(ours, printed) == 0, ours, printed);
}

static const char *const pendulum_names[] = {"x", "y", "v", "w", "lambda"};
static const bool multiplier[] = {false, false, false, false, true};

static void approach_37(seeds_run *run)
{
    const double u[] = {0.5, -sqrt(0.75), -0.5, -sqrt(1.0 / 12), 5};
    double J[15];
    pendulum_jacobian(u, 11.16, J);
    selects(run, 3, 5, J, NULL, pendulum_names, "x w y");
}

static void procedure_311(seeds_run *run)
{
    const double u[] = {0.5, -sqrt(0.75), -0.5, -sqrt(1.0 / 12), 5};
    double J[15];
    pendulum_jacobian(u, 11.16, J);
    selects(run, 3, 5, J, multiplier, pendulum_names, "lambda y w"); /* as Q is printed */
}

static void procedure_311_below(seeds_run *run)
{
    const double u[] = {0, -1, -sqrt(3.5), 0, 7.33};
    double J[15];
    pendulum_jacobian(u, 11.16, J);
    selects(run, 3, 5, J, multiplier, pendulum_names, "lambda x y");
}

static void example_313(seeds_run *run)
{
    static const double J[] = {2, 1, 1, 0.5, 0, 1};
    static const bool required[] = {false, false, true};
    static const char *const names[] = {"x1", "x2", "x3"};
    outcome o;
    setup u = {.method = "herk:4:thesis", .h0 = 0.01};
    selects(run, 2, 3, J, required, names, "x3 x1");
    if (solve(run, &baese_example313, &u, &o)) seeds_at_most(run, "error", o.worst, 1e-9, 1.0);
}

static void criterion_36(seeds_run *run)
{
    static const double J[] = {1, 0, 0}; /* 0 = x1 says nothing of x3, */
    static const bool required[] = {false, false, true};
    int unknowns[3];
    dae_diag diag = {0};
    dae_status status = dae_select_unknowns(1, 3, J, required, 0, unknowns, NULL, &diag);
    seeds_holds(run, "a required unknown that nothing determines",
                status == DAE_ERR_SINGULAR && diag.variable == 2, diag.text, "not selectable");
    const double twice[] = {1, 2, 1, 2, 0, 0}; /* and a constraint twice is one too many */
    status = dae_select_unknowns(2, 3, twice, NULL, 0, unknowns, NULL, &diag);
    seeds_holds(run, "constraints that depend on each other",
                status == DAE_ERR_SINGULAR && diag.equation >= 0, diag.text, "R is singular");
}

/* One step of the classical table on x' = x, y = x is Taylor's polynomial. */
static void algorithm_33(seeds_run *run)
{
    seeds_command_result c;
    double h = 0.1, taylor = 1, term = 1;
    for (int k = 1; k <= 4; k++) {
        term *= h / k;
        taylor += term;
        if (!seeds_command(run, &c,
                           "run models/seeds/baese_growth.mo --stop 0.1 --points 2 --method "
                           "herk:%d:thesis --herk ssc=0,h0=0.1",
                           k))
            return;
        seeds_number(run, "x after a step", seeds_last(run, &c, "x"), taylor, 1e-15);
        seeds_number(run, "y after a step", seeds_last(run, &c, "y"), taylor, 1e-15);
    }
}

/* ---- 4.2: academic examples ---- */

static double growth_error(seeds_run *run, int order, double h)
{
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/seeds/baese_growth.mo --points 2 --method herk:%d:thesis --herk "
                       "ssc=0,h0=%g,Nopt=0,Estat=1,tol=1e-15,ptol=1e-15",
                       order, h))
        return NAN;
    const double x[] = {seeds_last(run, &c, "x"), seeds_last(run, &c, "y")};
    return distance(2, x, (const double[]){exp(1), exp(1)});
}

/* The fourth slope ends at an error of 3.2e-14, of which 1000 steps may round 1e-14 away: its bound
 * is log10(1 + 1/3.2) / 2. */
static void figure_3(seeds_run *run)
{
    static const double printed[] = {0.9812, 1.9838, 2.9828, 4.0043};
    for (int p = 1; p <= 4; p++) {
        char label[32];
        snprintf(label, sizeof label, "slope of order %d", p);
        double slope = log10(growth_error(run, p, 0.1) / growth_error(run, p, 0.001)) / 2;
        seeds_number(run, label, slope, printed[p - 1], p < 4 ? 1e-4 : 0.06);
    }
}

static double selector_error(seeds_run *run, int order, int n, double from, double to)
{
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/seeds/baese_selector.mo --points 2 --set t0=%.17g --start-time "
                       "%.17g --stop %.17g --method herk:%d:thesis --herk "
                       "ssc=0,h0=%.17g,Nopt=0,Estat=1,tol=1e-15,ptol=1e-15",
                       from, from, to, order, (to - from) / n))
        return NAN;
    const double x[] = {seeds_last(run, &c, "x"), seeds_last(run, &c, "y"),
                        seeds_last(run, &c, "z")};
    return distance(3, x, (const double[]){sin(to), cos(to), 1});
}

/* The thesis' interval is symmetric about the change of selection: there errors of odd orders
 * cancel, and the orders are 2, 2, 4, 4. On one that is not they are p. */
static void figure_4(seeds_run *run)
{
    static const double printed[] = {1.1704, 2.0123, 3.1339, 4.4095};
    for (int p = 1; p <= 4; p++) {
        char label[48];
        double from = 0.2 * PI, to = 0.4 * PI;
        snprintf(label, sizeof label, "order %d on [0.2 pi, 0.4 pi]", p);
        double slope =
            log2(selector_error(run, p, 20, from, to) / selector_error(run, p, 40, from, to));
        seeds_number(run, label, slope, p, 0.05);
        from = 0.125 * PI, to = 0.375 * PI;
        snprintf(label, sizeof label, "order %d on [0.125 pi, 0.375 pi]", p);
        slope = log10(selector_error(run, p, 10, from, to) / selector_error(run, p, 100, from, to));
        double another = log10(independent_baese_selector(p, 10, from, to) /
                               independent_baese_selector(p, 100, from, to));
        seeds_misprint(run, label, slope, printed[p - 1], another, 0.01,
                       "the interval is symmetric about the change of selection, so that errors of "
                       "odd orders cancel; bench/seeds/independent_baese.c");
    }
}

/* ---- 4.3: the pendulum ---- */

static double pendulum_error(seeds_run *run, int order, double h, double tf, double *end)
{
    static const char *const names[] = {"x", "y", "v", "w", "lambda"};
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/seeds/baese_pendulum.mo --points 2 --stop %g --method "
                       "herk:%d:thesis --herk ssc=0,h0=%.17g,Nopt=0,Estat=1,tol=1e-13,ptol=1e-15",
                       tf, order, h))
        return NAN;
    for (int i = 0; i < 5; i++) end[i] = seeds_last(run, &c, names[i]);
    return distance(5, end, (const double[]){tf == 1 ? 1 : -1, 0, 0, 0, 0});
}

/* Half a swing: errors at (1, 0) fall with the step and with the order. */
static void figures_5_to_8(seeds_run *run)
{
    static const double h[] = {0.1, 0.04, 0.01};
    double end[5], error[4][3];
    for (int p = 0; p < 4; p++)
        for (int k = 0; k < 3; k++) error[p][k] = pendulum_error(run, p + 1, h[k], 1, end);
    for (int p = 0; p < 4; p++) {
        char ours[64], label[32];
        snprintf(ours, sizeof ours, "%.1e, %.1e, %.1e", error[p][0], error[p][1], error[p][2]);
        snprintf(label, sizeof label, "Figure %d, error at t = 1", p + 5);
        bool falls = error[p][2] < error[p][1] && (p == 0 || error[p][1] < error[p][0]);
        bool better = p == 0 || error[p][2] < error[p - 1][2];
        seeds_holds(run, label, falls && better, ours, "decreases with h and with the order");
    }
}

static void figure_9(seeds_run *run)
{
    static const int per_second[] = {100, 300, 600, 1000};
    double sx = 0, sy = 0, sxx = 0, sxy = 0, end[5];
    for (int k = 0; k < 4; k++) {
        double x = -log(per_second[k]);
        double y = log(pendulum_error(run, 3, 1.0 / per_second[k], 2, end));
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    seeds_number(run, "slope", (4 * sxy - sx * sy) / (4 * sxx - sx * sx), 3.0266, 2e-3);
}

/* ---- Table 1 ---- */

typedef struct cell {
    double error;
    long steps; /* 0: "failed to converge", and so it does here; -1: here it ends, beyond any swing
                 */
} cell;

enum { CELLS = 8 };

typedef struct line {
    bool levels; /* (4.5); else (4.6) */
    double tf, beta;
    cell cells[CELLS]; /* eps0 = 1e-5 .. 1e-12 */
} line;

/* clang-format off */
static const line table_1[] = {
    {true, 20, 0.7,
     {{3.33e-2, 577}, {3.07e-3, 918}, {2.51e-4, 1451}, {2.24e-5, 2319},
      {2.20e-6, 3611}, {1.62e-7, 5745}, {1.85e-8, 9093}, {1.15e-8, 14346}}},
    {false, 20, 0.7,
     {{4.83e-1, 528}, {6.61e-2, 821}, {6.20e-3, 1295}, {6.12e-4, 2046},
      {7.15e-5, 3231}, {8.48e-6, 5106}, {1.21e-6, 8075}, {1.20e-7, 12772}}},
    {true, 20, 0.9,
     {{1.90e-2, 493}, {4.56e-3, 743}, {7.48e-4, 1147}, {8.00e-5, 1813},
      {7.37e-6, 2852}, {6.32e-7, 4490}, {5.29e-8, 7097}, {1.18e-8, 11178}}},
    {false, 20, 0.9,
     {{2.34e-1, 444}, {3.04e-2, 676}, {3.45e-3, 1041}, {5.24e-4, 1618},
      {1.20e-4, 2530}, {2.10e-5, 3982}, {3.40e-6, 6287}, {5.52e-7, 9947}}},
    {true, 200, 0.7,
     {{9.88e+0, 5738}, {3.50e-1, 9069}, {3.04e-2, 14485}, {3.09e-3, 23179},
      {3.53e-4, 36087}, {3.63e-5, 57456}, {4.30e-6, 90824}, {6.04e-7, 143440}}},
    {false, 200, 0.7,
     {{0, 0}, {0, -1}, {1.71e+1, 13091}, {5.01e-1, 20457},
      {5.16e-2, 32294}, {6.37e-3, 51042}, {9.33e-4, 80734}, {1.50e-5, 127702}}},
    {true, 200, 0.9,
     {{4.94e+0, 4902}, {5.98e-1, 7403}, {8.97e-2, 11457}, {1.06e-2, 18087},
      {1.13e-3, 28499}, {1.24e-4, 44868}, {1.39e-5, 70962}, {1.64e-6, 111758}}},
    {false, 200, 0.9,
     {{0, 0}, {1.97e+1, 7279}, {5.90e+0, 10447}, {3.80e-1, 16177},
      {8.75e-2, 25282}, {1.58e-2, 39799}, {2.61e-3, 62855}, {4.05e-4, 99452}}},
    {true, 2000, 0.7,
     {{1.70e+1, 56506}, {2.03e+1, 90705}, {7.66e+0, 144836}, {3.28e-1, 231758},
      {3.68e-2, 360838}, {3.84e-3, 574544}, {4.58e-4, 908571}, {5.49e-5, 1434361}}},
    {false, 2000, 0.7,
     {{0, 0}, {0, 0}, {0, 0}, {0, -1},
      {9.07e+0, 327359}, {2.10e+1, 511227}, {1.12e+0, 807500}, {1.50e-1, 1277112}}},
    {true, 2000, 0.9,
     {{6.71e+0, 47963}, {7.25e-1, 74876}, {1.48e+1, 114505}, {1.41e+0, 180791},
      {1.17e-1, 284983}, {1.31e-2, 448649}, {1.48e-3, 709593}, {1.70e-4, 1117553}}},
    {false, 2000, 0.9,
     {{0, 0}, {0, 0}, {0, 0}, {0, -1},
      {1.04e+1, 259170}, {5.18e+0, 399526}, {5.60e+0, 628916}, {4.19e-1, 994592}}},
};
/* clang-format on */

/* |lambda| of a swing is at most 3 g/2 = 20.6, and |(v,w)| below 5.3: farther away is no swing. */
static const double NO_SWING = 22;

static void words_of(const line *l, int k, char *words, size_t size)
{
    snprintf(words, size,
             "run models/seeds/baese_pendulum%s.mo --stop %g --points 2 --stats --method "
             "herk:thesis --herk ssc=1,eps0=1e-%d,beta=%g,h0=0.01,Nopt=1,Estat=1,tol=1e-13,"
             "ptol=1e-15",
             l->levels ? "" : "_level", l->tf, k + 5, l->beta);
}

static bool run_cell(seeds_run *run, const line *l, int k, cell *ours)
{
    static const char *const names[] = {"x", "y", "v", "w", "lambda"};
    seeds_command_result c;
    char words[400];
    double end[5];
    words_of(l, k, words, sizeof words);
    if (!seeds_command(run, &c, "%s", words)) return false;
    for (int i = 0; i < 5; i++) end[i] = seeds_last(run, &c, names[i]);
    ours->error = distance(5, end, (const double[]){-1, 0, 0, 0, 0});
    ours->steps = (long)seeds_counter(run, &c, "steps") + 1;
    return true;
}

/* "failed to converge" */
static void failed_cell(seeds_run *run, const line *l, int k, const char *label)
{
    seeds_command_result c;
    char words[400], ours[64];
    cell end;
    words_of(l, k, words, sizeof words);
    if (l->cells[k].steps == 0) {
        if (seeds_refused(run, &c, "%s", words))
            seeds_holds(run, label, true, "fails", "failed to converge");
    } else if (run_cell(run, l, k, &end)) {
        snprintf(ours, sizeof ours, "ends off the circle, error %.3g", end.error);
        seeds_holds(run, label, end.error > NO_SWING, ours, "failed to converge");
    }
}

/* Steps within 0.5 %, errors within 5 % and what Newton's iteration leaves over, tol a step. The
 * two entries of (4.6), beta = 0.7, eps0 = 1e-12 are misprints. Where a thousand swings with 1e-5
 * and 1e-6 have lost their phase, rounding decides: our program, the print and the one in long
 * doubles are within a factor of 2 of each other. */
static void one_cell(seeds_run *run, const line *l, int k)
{
    const cell *printed = &l->cells[k];
    cell ours;
    char label[64];
    snprintf(label, sizeof label, "beta %g, eps0 1e-%d", l->beta, k + 5);
    if (printed->steps <= 0) {
        failed_cell(run, l, k, label);
        return;
    }
    if (!run_cell(run, l, k, &ours)) return;
    double steps = (double)printed->steps, another, count;
    seeds_number(run, label, (double)ours.steps, steps, 0.005 * steps);
    double bound = 0.05 * printed->error + 1e-13 * steps;
    bool misprint = !l->levels && l->beta == 0.7 && k == CELLS - 1 && l->tf <= 200;
    bool lost_phase = l->levels && l->tf == 2000 && k <= 1;
    if (lost_phase)
        seeds_within(run, label, ours.error, printed->error, 2.0);
    else if (!misprint)
        seeds_number(run, label, ours.error, printed->error, bound);
    else if (independent_baese(1, l->tf, l->beta, 1e-12, &another, &count))
        seeds_misprint(run, label, ours.error, printed->error, another, 0.05 * another,
                       "the program in long doubles, bench/seeds/independent_baese.c, finds our "
                       "error, which also goes on from its neighbours as they do");
}

static void table_part(seeds_run *run, bool levels, double tf, int from, int to)
{
    for (size_t i = 0; i < sizeof table_1 / sizeof table_1[0]; i++)
        for (int k = from; k < to; k++)
            if (table_1[i].levels == levels && table_1[i].tf == tf) one_cell(run, &table_1[i], k);
}

static void table_1_short(seeds_run *run)
{
    table_part(run, true, 20, 0, 4);
    table_part(run, false, 20, 0, 4);
}
static void table_1_45_20(seeds_run *run)
{
    table_part(run, true, 20, 4, CELLS);
}
static void table_1_46_20(seeds_run *run)
{
    table_part(run, false, 20, 4, CELLS);
}
static void table_1_45_200(seeds_run *run)
{
    table_part(run, true, 200, 0, CELLS);
}
static void table_1_46_200(seeds_run *run)
{
    table_part(run, false, 200, 0, CELLS);
}
static void table_1_45_2000(seeds_run *run)
{
    table_part(run, true, 2000, 0, CELLS);
}
static void table_1_46_2000(seeds_run *run)
{
    table_part(run, false, 2000, 0, CELLS);
}

/* The default at the work of the thesis' control: 15 right-hand sides a step. */
static void table_1_better(seeds_run *run)
{
    static const char *const names[] = {"x", "y", "v", "w", "lambda"};
    seeds_command_result c;
    double end[5];
    if (!seeds_command(run, &c,
                       "run models/seeds/baese_pendulum.mo --set g=13.75037163604074565 --points 2 "
                       "--stats --method herk --rtol 1e-8 --atol 1e-8"))
        return;
    for (int i = 0; i < 5; i++) end[i] = seeds_last(run, &c, names[i]);
    seeds_at_most(run, "error", distance(5, end, (const double[]){-1, 0, 0, 0, 0}), 2.51e-4, 0.1);
    seeds_at_most(run, "right-hand sides", seeds_counter(run, &c, "residuals"), 15.0 * 1451, 1.0);
}

/* ---- 4.4: the modified pendulum ---- */

static const double crane_end[] = {0.08353861, -0.49297191, 0.22257854, 0.06814567};

static void figure_11(seeds_run *run)
{
    outcome coarse, fine;
    setup u = {.method = "herk:3:thesis",
               .herk = {.newton_tolerance = 1e-10,
                        .simplified_newton = DAE_SWITCH_OFF,
                        .constant_E = DAE_SWITCH_ON},
               .h0 = 0.02};
    if (!solve(run, &baese_crane, &u, &coarse)) return;
    u.h0 = 0.01;
    if (!solve(run, &baese_crane, &u, &fine)) return;
    double e = distance(4, coarse.x, crane_end);
    seeds_at_most(run, "error at t = 50 with h = 1/50", e, 1e-3, 1.0);
    seeds_number(run, "order of (c)", log2(e / distance(4, fine.x, crane_end)), 3, 0.1);
}

/* Constraints without the terms of l' are not those of (4.7): the derivative of the first is not
 * the second, and a step of Newton's method pulls them together. */
static void constraints_47(seeds_run *run)
{
    static const char *const names[] = {"x", "y", "v", "w"};
    seeds_command_result c;
    if (!seeds_command(run, &c,
                       "run models/structure/pendulumwind.mo --points 2 --method herk --rtol 1e-11 "
                       "--atol 1e-11"))
        return;
    for (int i = 0; i < 4; i++)
        seeds_number(run, names[i], seeds_last(run, &c, names[i]), crane_end[i], 1e-7);
    seeds_number(run, "lambda", seeds_last(run, &c, "lambda"), 19.164047, 1e-5);
    outcome o;
    setup u = {.method = "herk:3:thesis", .herk = {.newton_tolerance = 1e-10}, .h0 = 0.02};
    if (integrate(&baese_crane_printed, &u, &o) == DAE_OK)
        seeds_holds(run, "with the constraints as printed", distance(4, o.x, crane_end) > 1e-2,
                    "another curve", "l' is missing in them");
    else
        seeds_holds(run, "with the constraints as printed", true, "refused",
                    "l' is missing in them");
}

/* Values that meet their constraints stay where they are; w and lambda follow. */
static void start_47(seeds_run *run)
{
    baese_system s = baese_crane;
    static const char *const names[] = {"x", "y", "v", "w", "lambda"};
    outcome o;
    setup u = {.method = "herk", .herk = {.constant_E = DAE_SWITCH_ON}, .h0 = 0.001};
    s.start[3] = s.start[4] = 0;
    s.tf = 0.01;
    if (!solve(run, &s, &u, &o)) return;
    for (int i = 0; i < 5; i++) seeds_number(run, names[i], o.start[i], baese_crane.start[i], 1e-9);
}

/* ---- 4.5: the chain ---- */

static const setup chain_setup = {.method = "herk:4:thesis",
                                  .herk = {.newton_tolerance = 1e-8,
                                           .safety = 0.8,
                                           .pivot_tolerance = 1e-15,
                                           .constant_E = DAE_SWITCH_ON,
                                           .simplified_newton = DAE_SWITCH_OFF},
                                  .eps0 = 1e-7,
                                  .h0 = 1e-3};

static void figures_13_14(seeds_run *run)
{
    outcome o;
    if (!solve(run, &baese_chain, &chain_setup, &o)) return;
    seeds_number(run, "steps", o.steps, 2779, 0.005 * 2779);
    seeds_at_most(run, "largest error over 64 periods", o.worst, 1e-5, 1.0);
}

/* Steps grow as eps0^(-1/5), and a simplified iteration needs no more of them, since it goes on
 * until |g|_2 is small; the print's test of |sum g| lets it stop too early. */
static void figure_15(seeds_run *run)
{
    double steps[2][11];
    for (int n = 0; n < 2; n++)
        for (int k = 3; k <= 12; k++) {
            outcome o;
            setup u = chain_setup;
            u.eps0 = pow(10, -k);
            u.herk.newton_tolerance = 0.1 * u.eps0;
            u.herk.simplified_newton = n ? DAE_SWITCH_ON : DAE_SWITCH_OFF;
            if (!solve(run, &baese_chain, &u, &o)) return;
            steps[n][k - 3] = o.steps;
        }
    for (int k = 1; k <= 8; k++) {
        char label[32];
        snprintf(label, sizeof label, "eps0 1e-%d", k + 3);
        seeds_number(run, label, log10(steps[0][k] / steps[0][k - 1]), 0.2, 0.02);
        seeds_within(run, label, steps[1][k], steps[0][k], 1.005);
    }
}

/* ---- 4.6: the circuit ---- */

static void figures_16_17(seeds_run *run)
{
    outcome o;
    setup u = {.method = "herk:4:thesis",
               .herk = {.newton_tolerance = 1e-10,
                        .safety = 0.9,
                        .pivot_tolerance = 1e-15,
                        .constant_E = DAE_SWITCH_ON,
                        .simplified_newton = DAE_SWITCH_ON},
               .eps0 = 1e-10,
               .h0 = 1e-3};
    if (!solve(run, &baese_circuit, &u, &o)) return;
    seeds_number(run, "steps", o.steps, 1134, 11);
    seeds_at_most(run, "largest error", o.worst, 3.3e-8, 1.05);
    seeds_at_most(run, "error of e1, which is rounding", o.one[2], 2.3e-16, 4.0);
}

/* ---- 4.7: Akzo Nobel ---- */

static const double akzo_end[] = {0.1150794920661702, 0.0012038314715677, 0.1611562887407974,
                                  0.0003656156421249, 0.0170801088526440, 0.0048735313103074};

static setup akzo_setup(double eps0)
{
    return (setup){.method = "herk:thesis",
                   .herk = {.newton_tolerance = fmin(1e-7, eps0),
                            .safety = 0.78,
                            .pivot_tolerance = 1e-15,
                            .constant_E = DAE_SWITCH_ON,
                            .simplified_newton = DAE_SWITCH_ON},
                   .eps0 = eps0,
                   .h0 = 0.01};
}

static void figure_18(seeds_run *run)
{
    static const char *const names[] = {"y1", "y2", "y3", "y4", "y5", "y6"};
    seeds_command_result c;
    if (!seeds_command(
            run, &c,
            "run models/seeds/baese_akzo.mo --points 2 --method herk --rtol 1e-10 --atol "
            "1e-13"))
        return;
    for (int i = 0; i < 6; i++)
        seeds_number(run, names[i], seeds_last(run, &c, names[i]), akzo_end[i], 1e-10);
}

static void figure_19(seeds_run *run)
{
    outcome o;
    setup u = akzo_setup(1e-7);
    if (solve(run, &baese_akzo, &u, &o)) seeds_number(run, "longest step", o.longest, 3.5, 0.25);
}

/* Stability limits the steps: where the last ones fall decides on the error of y2, the fast one,
 * up to two powers of ten; the desired accuracy is met. */
static void figure_20(seeds_run *run)
{
    static const double steps[] = {143, 161, 198, 268, 403};
    for (int k = 0; k < 5; k++) {
        outcome o;
        char label[32];
        setup u = akzo_setup(pow(10, -6 - k));
        snprintf(label, sizeof label, "eps0 1e-%d", k + 6);
        if (!solve(run, &baese_akzo, &u, &o)) return;
        seeds_number(run, label, o.steps, steps[k], 4);
        seeds_at_most(run, label, distance(6, o.x, akzo_end), u.eps0, 10.0);
    }
}

/* ---- 4.2.1, 4.2.2, and the methods (a) to (e) ---- */

static void pure_equations(seeds_run *run)
{
    outcome o;
    setup u = {.method = "herk:4:thesis", .herk = {.newton_tolerance = 1e-13}, .h0 = 0.1};
    if (!solve(run, &baese_differential, &u, &o)) return;
    seeds_number(run, "x' = x: as the classical method, (1 + h + .. + h^4/24)^10", o.x[0],
                 pow(1 + 0.1 + 0.005 + 1e-3 / 6 + 1e-4 / 24, 10), 1e-14);
    if (!solve(run, &baese_algebraic, &u, &o)) return;
    seeds_at_most(run, "0 = x^2 - 2 - t: error", o.worst, 1e-13, 1.0);
}

static void method_e(seeds_run *run)
{
    seeds_command_result c;
    double error[2];
    for (int k = 0; k < 2; k++) {
        if (!seeds_command(run, &c,
                           "run models/seeds/baese_growth.mo --points 2 --method herk:thesis "
                           "--herk ssc=0,h0=%g",
                           k ? 0.05 : 0.1))
            return;
        error[k] = fabs(seeds_last(run, &c, "x") - exp(1));
    }
    seeds_number(run, "order of HEM4", log2(error[0] / error[1]), 4, 0.1);
}

/* ---- 4.1.1: the options ---- */

#define PENDULUM                                                                                   \
    "run models/seeds/baese_pendulum.mo --points 2 --stats --method herk:thesis --herk "

/* A refusal that names what it is about. */
static void refused(seeds_run *run, const char *words, const char *culprit)
{
    seeds_command_result c;
    if (!seeds_refused(run, &c, "%s", words)) return;
    const char *found = strstr(c.err, culprit);
    seeds_holds(run, words + sizeof PENDULUM - 1, found != NULL, found ? "refused by name" : c.err,
                "a value that cannot be");
}

static void option_beta(seeds_run *run)
{
    one_cell(run, &table_1[0], 0);
    one_cell(run, &table_1[2], 0);
    refused(run, PENDULUM "ssc=1,beta=1.5", "beta");
    refused(run, PENDULUM "ssc=1,beta=-1", "beta");
}

static void option_eps0(seeds_run *run)
{
    one_cell(run, &table_1[0], 0);
    one_cell(run, &table_1[0], 1);
    refused(run, PENDULUM "ssc=1,eps0=0", "eps0");
}

static void option_h0(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, PENDULUM "ssc=1,eps0=1e-5,h0=0.02 --stop 1")) return;
    seeds_number(run, "first step", seeds_counter(run, &c, "first step"), 0.02, 1e-15);
    if (!seeds_command(run, &c, PENDULUM "ssc=0,h0=0.02 --stop 1")) return;
    seeds_number(run, "constant steps to t = 1", seeds_counter(run, &c, "steps"), 50, 0.1);
    refused(run, PENDULUM "ssc=1,h0=0", "h0");
}

static void option_ssc(seeds_run *run)
{
    refused(run, PENDULUM "ssc=0", "fixed");
    refused(run, PENDULUM "ssc=2", "ssc");
    one_cell(run, &table_1[2], 0);
}

static void option_tol(seeds_run *run)
{
    seeds_command_result c;
    for (int k = 6; k <= 12; k += 3) {
        double tol = pow(10, -k);
        if (!seeds_command(run, &c, PENDULUM "ssc=0,h0=0.01,tol=1e-%d", k)) return;
        seeds_at_most(run, "largest |g|", seeds_counter(run, &c, "largest |g|"), tol, 1.0);
    }
    refused(run, PENDULUM "ssc=0,h0=0.01,tol=-1", "tol");
}

static void option_ptol(seeds_run *run)
{
    one_cell(run, &table_1[0], 0);
    refused(run, PENDULUM "ssc=0,h0=0.01,ptol=0.9", "lambda");
    refused(run, PENDULUM "ssc=0,h0=0.01,ptol=2", "ptol");
}

/* An increment of 1e-14, as printed, leaves differences in doubles no digit; 1e-8 leaves eight, and
 * Newton's iteration does the rest. */
static void option_delta(seeds_run *run)
{
    seeds_command_result c;
    if (!seeds_command(run, &c, PENDULUM "ssc=1,eps0=1e-5,beta=0.7,h0=0.01,tol=1e-13,delta=1e-8"))
        return;
    seeds_number(run, "steps with delta = 1e-8", seeds_counter(run, &c, "steps") + 1, 577,
                 0.005 * 577);
    refused(run, PENDULUM "ssc=0,h0=0.01,delta=1e-30", "delta");
}

static void option_jopt(seeds_run *run)
{
    seeds_command_result c;
    for (int k = 0; k < 2; k++) {
        if (!seeds_command(run, &c, PENDULUM "ssc=1,eps0=1e-5,beta=0.7,h0=0.01,tol=1e-13,Jopt=%d",
                           k))
            return;
        seeds_number(run, k ? "steps with g_x" : "steps with differences",
                     seeds_counter(run, &c, "steps") + 1, 577, 0.005 * 577);
    }
    outcome o;
    setup u = {.method = "herk:thesis", .herk = {.given_jacobian = DAE_SWITCH_ON}, .h0 = 0.02};
    dae_status status = integrate(&baese_crane, &u, &o);
    seeds_holds(run, "without g_x", status < 0 && strstr(o.diag.text, "Jopt"), o.diag.text,
                "func_J must be there");
}

static void option_estat(seeds_run *run)
{
    outcome o;
    setup u = {.method = "herk:4:thesis", .herk = {.constant_E = DAE_SWITCH_OFF}, .h0 = 0.01};
    if (solve(run, &baese_varying, &u, &o)) seeds_at_most(run, "E(t), error", o.worst, 1e-10, 1.0);
    u.herk.constant_E = DAE_SWITCH_ON;
    dae_status status = integrate(&baese_varying, &u, &o);
    seeds_holds(run, "E(t) with Estat = 1", status < 0 && strstr(o.diag.text, "Estat"), o.diag.text,
                "E is not invariant");
    u.h0 = 0.01;
    if (solve(run, &baese_example313, &u, &o))
        seeds_at_most(run, "constant E, error", o.worst, 1e-9, 1.0);
}

static void option_nopt(seeds_run *run)
{
    seeds_command_result c;
    double jacobians[2], end[2];
    for (int k = 0; k < 2; k++) {
        if (!seeds_command(run, &c, PENDULUM "ssc=0,h0=0.01,tol=1e-13,Nopt=%d", k)) return;
        jacobians[k] = seeds_counter(run, &c, "Jacobians");
        end[k] = seeds_last(run, &c, "w");
    }
    seeds_at_most(run, "Jacobians of the simplified iteration", jacobians[1], jacobians[0], 0.9);
    seeds_number(run, "w at the end, both", end[1], end[0], 1e-9);
}

/* Ab, c, s, p: Kutta's table as a text is method (c). */
static void option_table(seeds_run *run)
{
    seeds_command_result c;
    double x[2], steps[2];
    for (int k = 0; k < 2; k++) {
        const char *method =
            k ? "herk:3:thesis" : "herk:thesis --table models/seeds/kutta3_table.txt";
        if (!seeds_command(run, &c,
                           "run models/seeds/baese_pendulum.mo --points 2 --stats --method %s "
                           "--herk ssc=1,eps0=1e-5,h0=0.01",
                           method))
            return;
        x[k] = seeds_last(run, &c, "x");
        steps[k] = seeds_counter(run, &c, "steps");
    }
    seeds_number(run, "steps", steps[0], steps[1], 0.1);
    seeds_number(run, "x", x[0], x[1], 1e-12);
}

#define HERK "daedal run models/seeds/baese_pendulum.mo --method herk:thesis --herk "
#define SELECT "dae_select_unknowns(ng, n, g_x, required, ptol, unknowns, rows, &diag)"
#define CALLS(name) "dae_problem_from_quasilinear, opt.herk: bench/seeds/004_systems.c, " name

#define ROW(id, where, what, how, run)                                                             \
    {                                                                                              \
        id, where, what, how, run, false                                                           \
    }
#define SLOW(id, where, what, how, run)                                                            \
    {                                                                                              \
        id, where, what, how, run, true                                                            \
    }

static const seeds_row rows[] = {
    ROW("004-E2.7", "Procedure 2.4, Example 2.7", "hidden constraint of the circuit", NULL,
        example_27),
    ROW("004-E2.13", "Example 2.13, (2.7)-(2.9)", "hidden constraints of the pendulum", NULL,
        example_213),
    ROW("004-A3.3", "Algorithm 3.3", "one step of each table", NULL, algorithm_33),
    ROW("004-C3.6", "Criterion 3.6", "what cannot be selected", SELECT, criterion_36),
    ROW("004-A3.7", "Approach 3.7, Example 2.13", "full pivoting without required unknowns", SELECT,
        approach_37),
    ROW("004-P3.11", "Procedure 3.11, Example 2.13",
        "the multiplier is required (w0 = -(1/12)^(1/2))", SELECT, procedure_311),
    ROW("004-P3.11-b", "Example 2.13 continued", "selection at the lowest point", SELECT,
        procedure_311_below),
    ROW("004-E3.13", "Example 3.13", "selection and run, from [1, -2, 0]", SELECT, example_313),
    ROW("004-O-ssc", "4.1.1 ssc", "constant steps or the thesis' control", NULL, option_ssc),
    ROW("004-O-eps0", "4.1.1 eps0", "desired accuracy", HERK "ssc=1,eps0=1e-6,beta=0.7",
        option_eps0),
    ROW("004-O-beta", "4.1.1 beta", "safety factor", HERK "ssc=1,eps0=1e-5,beta=0.9", option_beta),
    ROW("004-O-h0", "4.1.1 h0", "first step, or all of them", NULL, option_h0),
    ROW("004-O-tol", "4.1.1 tol", "end of Newton's iteration, by |g|_2", NULL, option_tol),
    ROW("004-O-ptol", "4.1.1 ptol", "pivots that count as 0", HERK "ssc=0,h0=0.01,ptol=0.9",
        option_ptol),
    ROW("004-O-delta", "4.1.1 delta", "increment of differences", NULL, option_delta),
    ROW("004-O-Jopt", "4.1.1 Jopt", "g_x given or by differences", NULL, option_jopt),
    ROW("004-O-Estat", "4.1.1 Estat", "E constant or not", CALLS("baese_varying"), option_estat),
    ROW("004-O-Nopt", "4.1.1 Nopt, Definition 3.14", "simplified or classical divided Newton", NULL,
        option_nopt),
    ROW("004-O-Ab", "4.1.1 Ab, c, s, p", "a table of the user's", NULL, option_table),
    ROW("004-M-e", "4.1.2 (e)", "HEM4 as a table of herk", NULL, method_e),
    ROW("004-4.2.1", "4.2.1, 4.2.2", "equations with derivatives alone, and without",
        CALLS("baese_differential, baese_algebraic"), pure_equations),
    ROW("004-F3", "Figure 3", "orders of methods (a) to (d)", NULL, figure_3),
    ROW("004-F4", "Figure 4", "orders over a change of selection", NULL, figure_4),
    ROW("004-F5", "Figures 5 to 8", "half a swing with methods (a) to (d)", NULL, figures_5_to_8),
    ROW("004-F9", "Figure 9", "order of (c) over a period", NULL, figure_9),
    SLOW("004-T1", "Table 1, Figure 10", "(4.5) and (4.6) to t = 20, eps0 1e-5 to 1e-8", NULL,
         table_1_short),
    SLOW("004-T1-a", "Table 1", "(4.5) to t = 20, eps0 1e-9 to 1e-12", NULL, table_1_45_20),
    SLOW("004-T1-b", "Table 1", "(4.6) to t = 20, eps0 1e-9 to 1e-12", NULL, table_1_46_20),
    SLOW("004-T1-c", "Table 1", "(4.5) to t = 200", NULL, table_1_45_200),
    SLOW("004-T1-d", "Table 1", "(4.6) to t = 200", NULL, table_1_46_200),
    SLOW("004-T1-e", "Table 1", "(4.5) to t = 2000", NULL, table_1_45_2000),
    SLOW("004-T1-f", "Table 1", "(4.6) to t = 2000", NULL, table_1_46_2000),
    ROW("004-T1-g", "Table 1", "the default at the work of eps0 = 1e-7, beta = 0.7", NULL,
        table_1_better),
    ROW("004-4.7", "(4.7)", "constraints with the terms of l'", NULL, constraints_47),
    ROW("004-4.7-start", "(4.7)", "start from (0, -2, 0, 0, 0): what holds stays",
        CALLS("baese_crane"), start_47),
    ROW("004-F11", "Figure 11", "the modified pendulum, method (c)", CALLS("baese_crane"),
        figure_11),
    ROW("004-F13", "Figures 13, 14", "the chain, method (d)", CALLS("baese_chain"), figures_13_14),
    ROW("004-F15", "Figure 15", "steps by eps0, both Newton iterations", CALLS("baese_chain"),
        figure_15),
    ROW("004-F16", "Figures 16, 17", "the circuit, method (d)", CALLS("baese_circuit"),
        figures_16_17),
    ROW("004-F18", "Figure 18", "Akzo Nobel, end values", NULL, figure_18),
    ROW("004-F19", "Figure 19", "Akzo Nobel, step sizes", CALLS("baese_akzo"), figure_19),
    ROW("004-F20", "Figure 20", "Akzo Nobel, steps and errors", CALLS("baese_akzo"), figure_20),
};

const seeds_part seeds_004 = {
    .seed = "004", .title = "Half-explicit methods for overdetermined DAEs", SEEDS_ROWS(rows)};
