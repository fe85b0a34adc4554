/* Half-explicit methods beside HEM5, RADAU5, RADAU, SEULEX and IDA.
 *
 * Usage: bench_half_explicit [-m] [-v] [-p directory] [problem ..]
 *   problem       pendulum, andrews, caraxis, fourbar, chain5, chain50, chain500; all if none
 *   -m            methods on manifolds, at 4, 7, 10 and 13 digits (bench_manifold)
 *   -v            every run: tolerance, digits, steps, time
 *   -p directory  write curves for plots there, a file a problem and code
 *
 * Digits are -log10(max|e| / max|q|) at the end. Times are the least of 10 interleaved runs, fewer
 * where a run is long, in processor time; times at 4, 7, 10 and, with -m, 13 digits are
 * interpolated between tolerances half a power of ten apart, errors that do not go down pooled.
 *
 * With -m tolerances go down to 1e-15, as far as a code takes them, and two ratios are printed: of
 * the best other code on a line to our best one on it, and to that one of ours which is the best on
 * all lines of the problem from 7 digits on. */
#include "half_explicit.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, FIRST = 4, LAST = 26, LAST_MANIFOLD = 30, RUNS = 10 };
/* With -m a code stops where it has more digits than the last line asks for, and where it takes so
 * much longer than another one that no line can change it. */
static const double FAR_BEYOND = 13.8, HOPELESS = 50.0;
static const double MOST_DIGITS = 15.5; /* what is below is round-off of the reference, too */

static bool verbose;
static int part = IN_HALF_EXPLICIT;

/* Of the best other code against ours, from 7 digits on */
typedef struct total {
    double sum_of_logs;
    int lines, slower;
} total;

static total by_line, by_problem;
static const char *plots;

typedef struct record {
    curve c;
    bool given_up; /* too slow, it failed twice, or it is beyond all lines */
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
    const double enough = part == IN_MANIFOLD ? 0.1 : 0.25; /* seconds for a code */
    double fastest = INFINITY;
    double good[MOST] = {0}, *q = calloc((size_t)m->nq, sizeof *q), spent[MOST] = {0};
    for (int round = 0; q && round < RUNS; round++)
        for (int k = 0; k < half_explicit_count; k++) {
            if (records[k].given_up || (round && (!best[k].ok || spent[k] > enough))) continue;
            outcome now = {.q = q};
            half_explicit_contenders[k].solve(&half_explicit_contenders[k], m, rtol, &now);
            spent[k] += now.seconds;
            good[k] = digits(m, q);
            if (!round || now.seconds < best[k].seconds) best[k] = now;
        }
    for (int k = 0; k < half_explicit_count; k++)
        if (best[k].ok) fastest = fmin(fastest, best[k].seconds);
    for (int k = 0; k < half_explicit_count; k++) {
        record *r = &records[k];
        if (r->given_up) continue;
        const char *name = half_explicit_contenders[k].name;
        if (verbose)
            printf("%8.1e  %-9s %6.2f %7ld %11.4f ms %8.3f us a step  %s\n", rtol, name, good[k],
                   best[k].steps, 1e3 * best[k].seconds,
                   1e6 * best[k].seconds / (double)best[k].steps, best[k].note);
        if (best[k].ok && good[k] > 1.0 && good[k] < MOST_DIGITS) {
            curve_add(&r->c, pow(10.0, -good[k]), best[k].seconds);
            r->per_step = best[k].seconds / (double)best[k].steps;
        }
        r->failures += !best[k].ok;
        r->given_up = r->failures > 2 || best[k].seconds > 1.5;
        bool settled = good[k] > FAR_BEYOND || best[k].seconds > HOPELESS * fastest;
        if (part == IN_MANIFOLD && best[k].ok && settled) r->given_up = true;
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

static void add_to(total *sum, double gain)
{
    sum->sum_of_logs += log(gain);
    sum->slower += gain < 1.0;
    sum->lines++;
}

/* Whether a contender of ours counts: from model texts only where they are all there is */
static bool counts(const contender *c)
{
    return c->ours && (c->part & part) && (!c->model || part == IN_MANIFOLD);
}

/* That one of ours which reaches most lines from 7 digits on and is the fastest on them, or -1 */
static int best_on_problem(const record *records, int last)
{
    int best = -1, reached = 0;
    double least = INFINITY;
    for (int k = 0; k < half_explicit_count; k++) {
        if (!counts(&half_explicit_contenders[k])) continue;
        double sum = 0.0;
        int count = 0;
        for (int wanted = 7; wanted <= last; wanted += 3) {
            double t = time_at(&records[k], wanted);
            if (isnan(t)) continue;
            sum += log(t);
            count++;
        }
        if (count < reached || (count == reached && sum >= least)) continue;
        best = k, reached = count, least = sum;
    }
    return best;
}

static void print_line(const record *records, int wanted, int chosen)
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
        if (counts(c) && t < ours) ours = t, by = c->name;
        if (!c->ours && t < peer) peer = t, best = c->name;
    }
    double one = chosen < 0 ? NAN : time_at(&records[chosen], wanted);
    printf("   %-9s %6.2f %6.2f %-6s", by, hem5 / ours, peer / ours, best);
    if (part == IN_MANIFOLD) printf(" %6.2f", peer / one);
    printf("\n");
    if (wanted < 7 || isinf(ours) || isinf(peer)) return;
    add_to(&by_line, peer / ours);
    if (!isnan(one)) add_to(&by_problem, peer / one);
}

static void print_table(const mechanism *m, const record *records)
{
    printf("\n%s: milliseconds; HEM5 and the best other code against our best one\ndigits ",
           m->name);
    if (m->links) printf("(%d links) ", m->links);
    for (int k = 0; k < half_explicit_count; k++)
        if (half_explicit_contenders[k].part & part)
            printf(" %9s", half_explicit_contenders[k].name);
    int last = part == IN_MANIFOLD ? 13 : 10, chosen = best_on_problem(records, last);
    printf("   best       HEM5/   best/");
    if (part == IN_MANIFOLD && chosen >= 0)
        printf("        with %s", half_explicit_contenders[chosen].name);
    printf("\n");
    for (int wanted = 4; wanted <= last; wanted += 3) print_line(records, wanted, chosen);
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

/* Where no reference is stored: Taylor series in quadruple, for long chains in long double
 * precision, with Hairer's and Wanner's implicit method as a check */
static void find_reference(mechanism *m)
{
    double *other = calloc((size_t)m->nq, sizeof *other), agree = 0.0;
    bool quad = m->links <= 50;
    const contender *precise = quad ? &half_explicit_precise : &half_explicit_long;
    outcome out = {.q = m->reference};
    precise->solve(precise, m, quad ? 1e-20 : 3e-17, &out);
    if (!out.ok) fprintf(stderr, "%s: no reference: %s\n", m->name, out.note);
    out.q = other;
    for (int k = 0; other && k < half_explicit_count; k++) {
        const contender *c = &half_explicit_contenders[k];
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
        int last = part == IN_MANIFOLD ? LAST_MANIFOLD : LAST;
        for (int k = FIRST; k <= last; k++) measure(m, pow(10.0, -0.5 * k), records);
        print_table(m, records);
        write_curves(m, records);
        if (chain) print_growth(m->links, records);
    }
    free(records);
    mechanism_free(m);
}

static void print_total(const char *which, const total *sum)
{
    if (sum->lines == 0) return;
    printf("\nbest other code / %s, 7 digits and beyond: geometric mean %.2f, slower on %d of %d "
           "lines\n",
           which, exp(sum->sum_of_logs / sum->lines), sum->slower, sum->lines);
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
    print_total("our best", &by_line);
    if (part == IN_MANIFOLD) print_total("our best on all lines of the problem", &by_problem);
    return 0;
}
