/* Daedal beside SUNDIALS IDA and DASSL: work against precision, in one process and one run.
 *
 *   bench_peers [--problem NAME] [--codes A,B] [--quick] [--repeat N] [--csv FILE]
 *
 * How it is measured is written in docs/benchmarks.md. */
#include "peer.h"
#include "work_precision.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS = 3, PROBLEMS = 7, TOLERANCES = 13 };

static const peer *const peers[PEERS] = {&peer_daedal, &peer_ida, &peer_dassl};

typedef struct problem {
    const char *name; /* in the corpus of models */
    int size;         /* its discretisation parameter */
    bool sparse, ladder;
} problem;

static const problem problems[PROBLEMS] = {
    {"robertson", 0, false, false}, {"akzo", 0, false, false},    {"transamp", 0, false, false},
    {"heat2d", 100, true, false},   {"ladder", 1000, true, true}, {"ladder", 10000, true, true},
    {"ladder", 100000, true, true},
};

typedef struct settings {
    const char *problem, *codes; /* NULL: all */
    FILE *csv;
    int repeat;
    bool quick;
} settings;

/* The fastest of the repeated runs of one code at one tolerance, and how good it was. */
typedef struct point {
    run best;
    double error;  /* max |e_i| / (|y_i| + s_i) */
    double digits; /* -log10(max|e| / max|y|) */
    bool counts;   /* succeeded with at least one digit */
} point;

typedef struct study {
    const problem *problem;
    int n;
    bool present, joined[PEERS];
    int tolerances;
    double rtol[TOLERANCES];
    point points[TOLERANCES][PEERS];
    curve curves[PEERS];
} study;

/* ---------------------------------------------------------------------------------------------
 * Measuring
 * ------------------------------------------------------------------------------------------- */

static void measure_error(const model *m, const double *y, point *p)
{
    double error = 0, largest_error = 0, largest = 0;
    bool finite = true;
    for (int i = 0; i < m->form.n; i++) {
        double e = fabs(y[i] - m->reference[i]);
        finite = finite && isfinite(y[i]);
        error = fmax(error, e / (fabs(m->reference[i]) + model_scale(m, i)));
        largest_error = fmax(largest_error, e);
        largest = fmax(largest, fabs(m->reference[i]));
    }
    p->error = error;
    p->digits = -log10(largest_error / largest);
    p->counts = p->best.ok && finite && error > 0 && error < 0.1;
    if (p->best.ok && !p->counts)
        snprintf(p->best.note, sizeof p->best.note, finite ? "no correct digit" : "NaN or Inf");
}

/* One run of every code; returns the time of all. */
static double one_round(study *s, const model *m, int tolerance, const double *atol, double *y)
{
    task k = {m, s->rtol[tolerance], atol, NULL};
    double total = 0;
    for (int c = 0; c < PEERS; c++) {
        if (!s->joined[c]) continue;
        point *p = &s->points[tolerance][c];
        run now = {.y = y};
        peers[c]->solve(&k, &now);
        total += now.seconds;
        if (p->best.y && now.seconds >= p->best.seconds) continue;
        p->best = now;
        measure_error(m, y, p);
    }
    return total;
}

/* All codes in turn, again and again: 10 times, fewer (at least 3) where one round takes long. */
static void measure_tolerance(study *s, const model *m, int tolerance, const settings *set)
{
    size_t n = (size_t)m->form.n;
    double *atol = malloc(n * sizeof *atol), *y = malloc(n * sizeof *y);
    if (!atol || !y) abort();
    for (int i = 0; i < m->form.n; i++) atol[i] = s->rtol[tolerance] * model_scale(m, i);
    double first = one_round(s, m, tolerance, atol, y);
    int rounds = set->repeat ? set->repeat : first > 1 ? 3 : first > 0.3 ? 5 : 10;
    for (int round = 1; round < rounds; round++) one_round(s, m, tolerance, atol, y);
    free(atol);
    free(y);
}

/* rtol = 1e-3 .. 1e-9, by half decades on the small problems, by decades else */
static void choose_tolerances(study *s, const settings *set)
{
    int per_decade = s->problem->sparse || set->quick ? 1 : 2;
    int last = set->quick ? 3 : 6;
    s->tolerances = last * per_decade + 1;
    for (int i = 0; i < s->tolerances; i++) s->rtol[i] = pow(10, -3 - (double)i / per_decade);
}

static void build_curves(study *s)
{
    for (int c = 0; c < PEERS; c++)
        for (int i = 0; s->joined[c] && i < s->tolerances; i++) {
            const point *p = &s->points[i][c];
            if (p->counts) curve_add(&s->curves[c], p->error, p->best.seconds);
        }
}

/* ---------------------------------------------------------------------------------------------
 * Printing
 * ------------------------------------------------------------------------------------------- */

static void print_point(const study *s, int i, int c, FILE *csv)
{
    const point *p = &s->points[i][c];
    const run *r = &p->best;
    printf("%7.0e  %-7s %9.1e %6.1f %8ld %8ld %7ld %7ld %5ld %5ld %11.4f %8.2f  %s\n", s->rtol[i],
           peers[c]->name, p->error, p->digits, r->steps, r->residuals, r->jacobians, r->factors,
           r->bad_error, r->bad_newton, 1e3 * r->seconds,
           1e6 * r->seconds / (double)(r->steps ? r->steps : 1), r->note);
    if (!csv) return;
    fprintf(csv, "%s,%d,%s,%.3e,%.6e,%.4f,%ld,%ld,%ld,%ld,%ld,%ld,%.9f,%s\n", s->problem->name,
            s->n, peers[c]->name, s->rtol[i], p->error, p->digits, r->steps, r->residuals,
            r->jacobians, r->factors, r->bad_error, r->bad_newton, r->seconds,
            p->counts ? "ok" : r->note);
}

static void print_table(const study *s, FILE *csv)
{
    printf("   rtol  code        error digits    steps        F       J      LU  rejected "
           "         ms  us/step\n");
    for (int i = 0; i < s->tolerances; i++)
        for (int c = 0; c < PEERS; c++)
            if (s->joined[c]) print_point(s, i, c, csv);
}

/* One line per peer: its time over Daedal's at equal error, decade by decade. */
static void print_ratios(const study *s)
{
    for (int c = 1; c < PEERS; c++) {
        ratio r = curve_ratio(&s->curves[0], &s->curves[c]);
        if (!s->joined[c]) continue;
        printf("time of %s / time of %s at equal error: ", peers[c]->name, peers[0]->name);
        if (!r.valid) {
            printf("no common error\n");
            continue;
        }
        printf("mean %.2f, least %.2f (at error %.0e), over errors %.0e .. %.0e\n   ", r.mean,
               r.worst, r.at_worst, r.high, r.low);
        for (double at = floor(log10(r.high)); at >= log10(r.low); at--)
            printf("  1e%.0f: %.2f", at,
                   pow(10, curve_time(&s->curves[c], at) - curve_time(&s->curves[0], at)));
        printf("\n");
    }
    printf("\n");
}

/* Geometric mean of the ratios of one group of problems. */
static void print_group(const study *studies, bool sparse)
{
    for (int c = 1; c < PEERS; c++) {
        double sum = 0, worst = INFINITY;
        int count = 0;
        for (int p = 0; p < PROBLEMS; p++) {
            const study *s = &studies[p];
            if (!s->present || s->problem->sparse != sparse) continue;
            ratio r = curve_ratio(&s->curves[0], &s->curves[c]);
            if (!r.valid) continue;
            sum += log(r.mean), worst = fmin(worst, r.worst), count++;
        }
        if (count)
            printf("%-7s / Daedal, %s problems: geometric mean %.2f over %d, least anywhere %.2f\n",
                   peers[c]->name, sparse ? "sparse" : "small", exp(sum / count), count, worst);
    }
}

/* Least-squares slope of log time over log n at one tolerance; NAN if fewer than two sizes. */
static double growth(const study *studies, int tolerance, int c)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int count = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        const study *s = &studies[p];
        if (!s->present || !s->problem->ladder || tolerance >= s->tolerances) continue;
        if (!s->points[tolerance][c].counts) continue;
        double x = log(s->n), y = log(s->points[tolerance][c].best.seconds);
        sx += x, sy += y, sxx += x * x, sxy += x * y, count++;
    }
    return count < 2 ? NAN : (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void print_growth(const study *studies)
{
    if (isnan(growth(studies, 0, 0)) && isnan(growth(studies, 0, 1))) return;
    printf("growth of time with n on the ladder, exponent at rtol 1e-3, 1e-4, ..:\n");
    for (int c = 0; c < PEERS; c++) {
        if (!studies[PROBLEMS - 1].joined[c] && !studies[PROBLEMS - 2].joined[c]) continue;
        printf("%-7s", peers[c]->name);
        for (int i = 0; i < 7; i++) {
            double exponent = growth(studies, i, c);
            if (!isnan(exponent)) printf("  %.3f", exponent);
        }
        printf("\n");
    }
}

/* ---------------------------------------------------------------------------------------------
 * The run
 * ------------------------------------------------------------------------------------------- */

static bool wanted(const problem *p, const settings *set)
{
    char full[64];
    snprintf(full, sizeof full, "%s:%d", p->name, p->size);
    if (set->quick && p->size > 10000) return false;
    return !set->problem || !strcmp(set->problem, p->name) || !strcmp(set->problem, full);
}

static bool code_wanted(const peer *p, const settings *set)
{
    return !set->codes || strstr(set->codes, p->name);
}

static void run_study(study *s, const bool *available, const settings *set)
{
    model *m = model_new(s->problem->name, s->problem->size);
    if (!m || !m->reference) {
        printf("== %s: no such model, or no reference\n\n", s->problem->name);
        model_free(m);
        return;
    }
    s->present = true;
    s->n = m->form.n;
    for (int c = 0; c < PEERS; c++) s->joined[c] = available[c] && peers[c]->suits(m);
    choose_tolerances(s, set);
    printf("== %s: %s; n = %d, %s, t = %g .. %g\n", m->name, m->title, s->n,
           model_is_sparse(m) ? "sparse" : "dense", m->t0, m->tend);
    for (int i = 0; i < s->tolerances; i++) measure_tolerance(s, m, i, set);
    build_curves(s);
    print_table(s, set->csv);
    print_ratios(s);
    fflush(stdout);
    model_free(m);
}

static void find_codes(bool *available, const settings *set)
{
    for (int c = 0; c < PEERS; c++) {
        if (!code_wanted(peers[c], set)) continue;
        const char *why = peers[c]->missing();
        available[c] = !why;
        if (why)
            printf("%-7s absent: %s\n", peers[c]->name, why);
        else
            printf("%-7s %s\n", peers[c]->name, peers[c]->version());
    }
    printf("\n");
}

static FILE *open_csv(const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(2);
    }
    fprintf(file, "problem,n,code,rtol,error,digits,steps,residuals,jacobians,factors,"
                  "rejected_error,rejected_newton,seconds,status\n");
    return file;
}

static void read_arguments(int argc, char **argv, settings *set)
{
    static const struct option known[] = {
        {"problem", required_argument, NULL, 'p'}, {"codes", required_argument, NULL, 'c'},
        {"csv", required_argument, NULL, 'o'},     {"repeat", required_argument, NULL, 'r'},
        {"quick", no_argument, NULL, 'q'},         {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'p': set->problem = optarg; break;
        case 'c': set->codes = optarg; break;
        case 'o': set->csv = open_csv(optarg); break;
        case 'r': set->repeat = atoi(optarg); break;
        case 'q': set->quick = true, set->repeat = 3; break;
        default:
            fprintf(stderr,
                    "usage: %s [--problem NAME[:SIZE]] [--codes Daedal,IDA,DASSL] "
                    "[--quick] [--repeat N] [--csv FILE]\n",
                    argv[0]);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    static study studies[PROBLEMS];
    settings set = {0};
    bool available[PEERS] = {0};
    read_arguments(argc, argv, &set);
    find_codes(available, &set);
    bool any = false;
    for (int p = 0; p < PROBLEMS; p++) {
        studies[p].problem = &problems[p];
        if (!wanted(&problems[p], &set)) continue;
        run_study(&studies[p], available, &set);
        any = true;
    }
    if (!any) fprintf(stderr, "no problem of this name\n");
    print_group(studies, false);
    print_group(studies, true);
    print_growth(studies);
    if (set.csv) fclose(set.csv);
    return any ? 0 : 2;
}
