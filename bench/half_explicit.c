/* Half-explicit methods beside HEM5, RADAU5, RADAU, SEULEX and IDA.
 *
 * Usage: bench_half_explicit [-m] [-v] [-p directory] [problem ..]
 *   problem       pendulum, andrews, caraxis, fourbar, chain5, chain50, chain500; all if none
 *   -m            methods on manifolds, at 4, 7, 10 and 13 digits (bench_manifold)
 *   -v            every run: tolerance, digits, steps, time
 *   -p directory  write curves for plots there, a file a problem and code
 *
 * Digits are -log10(max|e| / max|q|) at the end. Times are the least of 10 interleaved runs, fewer
 * where a run is long, in processor time; times at 4, 7 and 10 digits are interpolated between
 * tolerances half a power of ten apart, errors that do not go down pooled. */
#include "half_explicit.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, FIRST = 4, LAST = 26, RUNS = 10 };

static bool verbose;
static int part = IN_HALF_EXPLICIT;
static double sum_of_logs; /* of the best other code against our best one, from 7 digits on */
static int lines, slower;
static const char *plots;

typedef struct record {
    curve c;
    bool given_up; /* too slow, or it failed twice */
    int failures;
    double per_step; /* of the last run */
} record;

static double digits(const mechanism *m, const double *q)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < m->nq; i++) {
        double e = fabs(q[i] - m->reference[i]);
        most = isnan(e) ? INFINITY : fmax(most, e);
        size = fmax(size, fabs(m->reference[i]));
    }
    return -log10(most / size);
}

/* One tolerance, all codes in turn */
static void measure(const mechanism *m, double rtol, record *records)
{
    outcome best[MOST] = {{0}};
    double good[MOST] = {0}, *q = calloc((size_t)m->nq, sizeof *q), spent[MOST] = {0};
    for (int round = 0; q && round < RUNS; round++)
        for (int k = 0; k < half_explicit_count; k++) {
            if (records[k].given_up || (round && (!best[k].ok || spent[k] > 0.25))) continue;
            outcome now = {.q = q};
            half_explicit_contenders[k].solve(&half_explicit_contenders[k], m, rtol, &now);
            spent[k] += now.seconds;
            good[k] = digits(m, q);
            if (!round || now.seconds < best[k].seconds) best[k] = now;
        }
    for (int k = 0; k < half_explicit_count; k++) {
        record *r = &records[k];
        if (r->given_up) continue;
        const char *name = half_explicit_contenders[k].name;
        if (verbose)
            printf("%8.1e  %-9s %6.2f %7ld %11.4f ms %8.3f us a step  %s\n", rtol, name, good[k],
                   best[k].steps, 1e3 * best[k].seconds,
                   1e6 * best[k].seconds / (double)best[k].steps, best[k].note);
        if (best[k].ok && good[k] > 1.0 && good[k] < 14.0) {
            curve_add(&r->c, pow(10.0, -good[k]), best[k].seconds);
            r->per_step = best[k].seconds / (double)best[k].steps;
        }
        r->failures += !best[k].ok;
        r->given_up = r->failures > 2 || best[k].seconds > 1.5;
    }
    free(q);
}

static double time_at(const record *r, int wanted)
{
    const curve *c = &r->c;
    if (c->count < 2 || -wanted > c->log_error[0] || -wanted < c->log_error[c->count - 1])
        return NAN;
    return pow(10.0, curve_time(c, -wanted));
}

static void print_line(const record *records, int wanted)
{
    double ours = INFINITY, peer = INFINITY, hem5 = NAN;
    const char *by = "none", *best = "none";
    printf("%6d ", wanted);
    for (int k = 0; k < half_explicit_count; k++) {
        const contender *c = &half_explicit_contenders[k];
        if (!(c->part & part)) continue;
        double t = time_at(&records[k], wanted);
        if (isnan(t))
            printf(" %9s", "-");
        else
            printf(" %9.3f", 1e3 * t);
        if (!strcmp(c->name, "HEM5")) hem5 = t;
        if (c->ours && (!c->model || part == IN_MANIFOLD) && t < ours) ours = t, by = c->name;
        if (!c->ours && t < peer) peer = t, best = c->name;
    }
    printf("   %-9s %6.2f %6.2f %s\n", by, hem5 / ours, peer / ours, best);
    if (wanted < 7 || isinf(ours) || isinf(peer)) return;
    sum_of_logs += log(peer / ours);
    slower += peer < ours;
    lines++;
}

static void print_table(const mechanism *m, const record *records)
{
    printf("\n%s: milliseconds; HEM5 and the best other code against our best one\ndigits ",
           m->name);
    if (m->links) printf("(%d links) ", m->links);
    for (int k = 0; k < half_explicit_count; k++)
        if (half_explicit_contenders[k].part & part)
            printf(" %9s", half_explicit_contenders[k].name);
    printf("   best       HEM5/   best/\n");
    for (int wanted = 4; wanted <= (part == IN_MANIFOLD ? 13 : 10); wanted += 3)
        print_line(records, wanted);
    fflush(stdout);
}

/* digits and seconds, for gnuplot */
static void write_curves(const mechanism *m, const record *records)
{
    for (int k = 0; plots && k < half_explicit_count; k++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s-%s.dat", plots, m->name,
                 half_explicit_contenders[k].name);
        const curve *c = &records[k].c;
        FILE *file = fopen(path, "w");
        if (!file) continue;
        for (int i = 0; i < c->count; i++)
            fprintf(file, "%.3f %.4e\n", -c->log_error[i], pow(10.0, c->log_time[i]));
        fclose(file);
    }
}

/* Where no reference is stored: Taylor series in quadruple precision, for long chains Daedal's
 * half-explicit method, with Hairer's and Wanner's implicit one as a check */
static void find_reference(mechanism *m)
{
    double *other = calloc((size_t)m->nq, sizeof *other), agree = 0.0;
    bool precise = m->links <= 50;
    outcome out = {.q = m->reference};
    if (precise) half_explicit_precise.solve(&half_explicit_precise, m, 1e-20, &out);
    for (int k = 0; other && k < half_explicit_count; k++) {
        const contender *c = &half_explicit_contenders[k];
        out.q = !strcmp(c->name, "phem5") ? m->reference : other;
        if (!strcmp(c->name, "phem5") && !precise) c->solve(c, m, 3e-14, &out);
        if (!strcmp(c->name, "RADAU")) c->solve(c, m, 1e-13, &out), agree = digits(m, other);
    }
    printf("\n%s, %d links: two methods agree to %.1f digits\n", m->name, m->links, agree);
    free(other);
}

/* Time per accepted step at the finest tolerance, where the start does not count, and its growth
 * from the last shorter chain on: n^exponent */
static void print_growth(int links, const record *records)
{
    static double before[MOST];
    static int shorter;
    printf("microseconds per accepted step:");
    for (int k = 0; k < half_explicit_count; k++) {
        double now = 1e6 * records[k].per_step;
        if (!half_explicit_contenders[k].ours || now == 0.0) continue;
        printf("  %s %.1f", half_explicit_contenders[k].name, now);
        if (shorter && before[k] > 0.0)
            printf(" (n^%.2f)", log(now / before[k]) / log((double)links / shorter));
        before[k] = now;
    }
    printf("\n");
    shorter = links;
}

static void compare(const char *name)
{
    bool chain = !strncmp(name, "chain", 5);
    mechanism *m = mechanism_new(chain ? "chain" : name, chain ? atoi(name + 5) : 0);
    record *records = calloc(MOST, sizeof *records);
    if (m && records) {
        if (chain || !strcmp(name, "fourbar")) find_reference(m);
        for (int k = 0; k < half_explicit_count; k++)
            records[k].given_up = !(half_explicit_contenders[k].part & part);
        for (int k = FIRST; k <= LAST; k++) measure(m, pow(10.0, -0.5 * k), records);
        print_table(m, records);
        write_curves(m, records);
        if (chain) print_growth(m->links, records);
    }
    free(records);
    mechanism_free(m);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"pendulum", "andrews", "caraxis", "fourbar",
                                        "chain5",   "chain50", "chain500"};
    int named = 0;
    const char *missing = half_explicit_open();
    if (missing) return fprintf(stderr, "%s\n", missing), 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else if (!strcmp(argv[i], "-p") && i + 1 < argc)
            plots = argv[++i];
        else if (!strcmp(argv[i], "-m"))
            part = IN_MANIFOLD;
        else
            compare(argv[i]), named++;
    for (size_t i = 0; !named && i < sizeof usual / sizeof *usual; i++) compare(usual[i]);
    if (lines > 0)
        printf("\nbest other code / our best, 7 digits and beyond: geometric mean %.2f, slower on "
               "%d of %d lines\n",
               exp(sum_of_logs / lines), slower, lines);
    return 0;
}
