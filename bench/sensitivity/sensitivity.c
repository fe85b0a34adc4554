/* bench_sensitivity: derivatives of solutions, Daedal beside IDAS, all in one process.
 *
 *     bench_sensitivity [options] [problem ..]
 *       -d DIGITS     4,6,8
 *       -n ROUNDS     the least of so many interleaved runs counts; 9
 *       -v            every tolerance on the way
 *       --quick       3 rounds
 *       --growth      time by the number of parameters, in place of the comparison
 *       -t RTOL -c CODE   one run of one code at one tolerance, for a profiler; no digits
 *
 * Problems: robertson, akzo, transamp, heat by forward sensitivities, ladder by the adjoint. Both
 * codes get the same exact residual, Jacobian and dF/dp; Daedal also runs from the text, translated
 * and compiled before. Times are processor times from the creation of the solver to the derivatives
 * at the end, everything freed. Digits: per variable the largest error over all parameters by the
 * largest p dy/dp, the worst variable counts; of a gradient the largest error by its largest
 * component. The reference is Daedal's radau at a tight tolerance, and IDAS confirms it. Times at
 * equal digits are interpolated between tolerances, errors that do not go down pooled. */
#include "sensitivity.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODES_MOST = 5, DIGITS_MOST = 6 };

const code forward_codes[] = {{"callbacks", true, ours_callbacks},
                              {"native", true, ours_native},
                              {"staggered", false, idas_staggered},
                              {"simultaneous", false, idas_simultaneous}};
const int forward_count = 4;
const code adjoint_codes[] = {{"discrete", true, ours_adjoint},
                              {"radau", true, ours_by_radau},
                              {"continuous", true, ours_continuous},
                              {"unchecked", true, ours_unchecked},
                              {"adjoint", false, idas_adjoint}};
const int adjoint_count = 5;

static const char *const names[] = {"robertson", "akzo", "transamp", "heat", "ladder"};
enum { NAMES = sizeof names / sizeof *names };

typedef struct wishes {
    int rounds, digits[DIGITS_MOST], digit_count;
    bool verbose, growth;
    double only; /* the one tolerance; 0: all */
    const char *code;
} wishes;

typedef struct record {
    curve c;
    int failures;
    bool slow; /* a run took longer than anybody waits: none at a tighter tolerance follows */
} record;

static double log_sum; /* of ratios of the faster of ours */
static int ratio_count;

/* ---- digits ---- */

static size_t result_size(const problem *q, int np)
{
    return q->weights ? (size_t)np : (size_t)np * (size_t)q->form.n;
}

static double digits_of(const problem *q, int np, const double *s, const double *reference)
{
    const int n = q->weights ? 1 : q->form.n;
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double error = 0.0, size = 0.0;
        for (int k = 0; k < np; k++) {
            const size_t at = (size_t)k * (size_t)n + (size_t)i;
            error = fmax(error, fabs(s[at] - reference[at]) * q->p[k]);
            size = fmax(size, fabs(reference[at]) * q->p[k]);
            if (isnan(s[at])) error = INFINITY;
        }
        if (size > 0.0) worst = fmax(worst, error / size);
    }
    return -log10(fmax(worst, 1e-16));
}

/* ---- measuring ---- */

static const code *codes_of(const problem *q, int *count)
{
    *count = q->weights ? adjoint_count : forward_count;
    return q->weights ? adjoint_codes : forward_codes;
}

/* Seconds of a run behind which a code is not asked for more digits. IDAS takes up to 10^6 steps
 * for the amplifier, half a minute for each of them. */
static const double TOO_LONG = 5.0;

/* One tolerance, all codes in turn: the least times, and values. */
static void run_all(const problem *q, double rtol, int np, int rounds, const record *records,
                    outcome *best)
{
    static const double PATIENCE = 2.0; /* seconds for all rounds of a code */
    int count;
    double spent[CODES_MOST] = {0};
    const code *codes = codes_of(q, &count);
    for (int round = 0; round < rounds; round++)
        for (int c = 0; c < count; c++) {
            if (records && (records[c].failures > 2 || records[c].slow)) continue;
            if (round && (!best[c].ok || spent[c] > PATIENCE)) continue;
            outcome now = {.s = best[c].s};
            codes[c].solve(q, rtol, np, &now);
            spent[c] += now.seconds;
            if (round == 0 || now.seconds < best[c].seconds) best[c] = now;
        }
}

static void make_room(const problem *q, int np, outcome *best)
{
    for (int c = 0; c < CODES_MOST; c++)
        best[c] = (outcome){.s = bench_space(result_size(q, np), sizeof(double))};
}

static void free_room(outcome *best)
{
    for (int c = 0; c < CODES_MOST; c++) free(best[c].s);
}

/* Values at tight tolerances; both codes are to agree. NULL: they do not come. */
static double *find_reference(const problem *q)
{
    const double tight = q->tight, check = q->check;
    int count;
    const code *codes = codes_of(q, &count);
    double *s = bench_space(result_size(q, q->np), sizeof *s);
    double *other = bench_space(result_size(q, q->np), sizeof *s);
    outcome ours = {.s = s}, idas = {.s = other};
    codes[q->weights ? 0 : 1].solve(q, tight, q->np, &ours);
    int other_code = 0;
    while (codes[other_code].ours) other_code++;
    codes[other_code].solve(q, check, q->np, &idas);
    if (!ours.ok) fprintf(stderr, "%s: no reference: %s\n", q->name, ours.note);
    if (ours.ok)
        fprintf(stderr, "%s: Daedal at %g and IDAS at %g agree to %.1f digits %s\n", q->name, tight,
                check, digits_of(q, q->np, other, s), idas.note);
    free(other);
    if (ours.ok) return s;
    free(s);
    return NULL;
}

static void measure(const problem *q, const wishes *w, const double *reference, record *records)
{
    int count;
    const code *codes = codes_of(q, &count);
    const double tightest = q->tightest;
    outcome best[CODES_MOST];
    make_room(q, q->np, best);
    run_all(q, 1e-3, q->np, 1, NULL, best); /* plans are made before the first run that counts */
    for (double d = 3.0; d <= tightest; d += 0.5) {
        for (int c = 0; c < CODES_MOST; c++) best[c] = (outcome){.s = best[c].s};
        run_all(q, pow(10.0, -d), q->np, w->rounds, records, best);
        for (int c = 0; c < count; c++) {
            const double good = best[c].ok ? digits_of(q, q->np, best[c].s, reference) : 0.0;
            if (w->verbose)
                printf("%-10s %7.1e %-12s %6.2f digits %7ld steps %10.4f ms  %s\n", q->name,
                       pow(10.0, -d), codes[c].name, good, best[c].steps, 1e3 * best[c].seconds,
                       best[c].note);
            if (best[c].ok && good > 0.5)
                curve_add(&records[c].c, pow(10.0, -good), best[c].seconds);
            records[c].failures += !best[c].ok;
            if (!records[c].slow && best[c].seconds > TOO_LONG) {
                records[c].slow = true;
                fprintf(stderr, "%s: %s took %.1f s at %.1e: no tighter ones\n", q->name,
                        codes[c].name, best[c].seconds, pow(10.0, -d));
            }
        }
    }
    free_room(best);
}

/* ---- the table ---- */

static double time_at(const record *r, int digits)
{
    const curve *c = &r->c;
    if (c->count == 0 || c->log_error[c->count - 1] > -digits) return NAN;
    if (c->log_error[0] <= -digits) return pow(10.0, c->log_time[0]);
    return pow(10.0, curve_time(c, -digits));
}

/* The fastest of IDAS, or of Daedal; -1: none */
static int fastest(const code *codes, int count, const record *records, int digits, bool ours)
{
    int best = -1;
    for (int c = 0; c < count; c++) {
        const double t = time_at(&records[c], digits);
        if (codes[c].ours != ours || isnan(t)) continue;
        if (best < 0 || t < time_at(&records[best], digits)) best = c;
    }
    return best;
}

static void print_ratio(double other, double own)
{
    if (isnan(own))
        printf(" not reached |");
    else if (isnan(other))
        printf(" %.4g ms |", 1e3 * own);
    else
        printf(" %.2f |", other / own);
}

static void print_line(const problem *q, const wishes *w, const record *records)
{
    int count;
    const code *codes = codes_of(q, &count);
    for (int i = 0; i < w->digit_count; i++) {
        const int digits = w->digits[i], by = fastest(codes, count, records, digits, false);
        const int own = fastest(codes, count, records, digits, true);
        const double least = by < 0 ? NAN : time_at(&records[by], digits);
        if (by < 0 && own < 0) continue;
        printf("| %s | %d | %d | %d | %s | %.4g |", q->name, q->form.n, q->np, digits,
               by < 0 ? "none" : codes[by].name, 1e3 * least);
        if (q->weights) printf(" none |");
        for (int c = 0; c < count; c++)
            if (codes[c].ours) print_ratio(least, time_at(&records[c], digits));
        printf("\n");
        if (own < 0 || by < 0) continue;
        log_sum += log(least / time_at(&records[own], digits)), ratio_count++;
    }
}

static void compare(const problem *q, const wishes *w)
{
    record *records = bench_space(CODES_MOST, sizeof *records);
    double *reference = find_reference(q);
    if (reference) measure(q, w, reference, records);
    if (reference) print_line(q, w, records);
    free(reference), free(records);
}

/* ---- growth ---- */

/* Time of np parameters over that of none, and what each one behind the first costs in runs. */
static void grow(const problem *q, const wishes *w)
{
    const double rtol = 1e-6;
    double base[CODES_MOST], one[CODES_MOST] = {0};
    int count;
    const code *codes = codes_of(q, &count);
    outcome best[CODES_MOST];
    make_room(q, q->np, best);
    run_all(q, rtol, q->np, 1, NULL, best);
    for (int np = 0;; np = np == 0 ? 1 : 2 * np > q->np && np < q->np ? q->np : 2 * np) {
        if (np > q->np) break;
        run_all(q, rtol, np, w->rounds, NULL, best);
        for (int c = 0; c < count; c++) {
            if (np == 0) base[c] = best[c].seconds;
            if (np == 1) one[c] = best[c].seconds;
            printf("| %s | %d | %s | %.4g |", q->name, np, codes[c].name, 1e3 * best[c].seconds);
            if (!best[c].ok)
                printf(" failed | |\n");
            else if (np <= 1)
                printf(" %.2f | |\n", best[c].seconds / base[c]);
            else
                printf(" %.2f | %.2f |\n", best[c].seconds / base[c],
                       (best[c].seconds - one[c]) / (base[c] * (np - 1)));
        }
    }
    free_room(best);
}

/* ---- one run ---- */

static void run_one(const problem *q, const wishes *w)
{
    int count;
    const code *codes = codes_of(q, &count);
    for (int c = 0; c < count; c++) {
        if (!w->code || strcmp(codes[c].name, w->code) != 0) continue;
        outcome out = {.s = bench_space(result_size(q, q->np), sizeof(double))};
        codes[c].solve(q, w->only, q->np, &out);
        printf("%-10s %7.1e %-12s %7ld steps %10.4f ms  %s\n", q->name, w->only, codes[c].name,
               out.steps, 1e3 * out.seconds, out.note);
        free(out.s);
    }
}

/* ---- all ---- */

static void read_digits(const char *text, wishes *w)
{
    w->digit_count = 0;
    for (char *end; *text && w->digit_count < DIGITS_MOST; text = *end ? end + 1 : end)
        w->digits[w->digit_count++] = (int)strtol(text, &end, 10);
}

static bool read_options(int argc, char **argv, wishes *w)
{
    static const struct option options[] = {{"quick", 0, NULL, 'q'}, {"growth", 0, NULL, 'g'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "d:n:vt:c:", options, NULL)) != -1;) switch (o) {
        case 'd': read_digits(optarg, w); break;
        case 'n': w->rounds = atoi(optarg); break;
        case 'v': w->verbose = true; break;
        case 'q': w->rounds = 3; break;
        case 'g': w->growth = true; break;
        case 't': w->only = strtod(optarg, NULL); break;
        case 'c': w->code = optarg; break;
        default: return false;
        }
    return true;
}

static void take(const char *name, const wishes *w)
{
    problem *q = problem_new(name);
    if (!q)
        fprintf(stderr, "%s: no such problem\n", name);
    else if (w->only > 0.0)
        run_one(q, w);
    else if (w->growth)
        grow(q, w);
    else
        compare(q, w);
    problem_free(q);
}

int main(int argc, char **argv)
{
    wishes w = {.rounds = 9, .digits = {4, 6, 8}, .digit_count = 3};
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!read_options(argc, argv, &w)) return 2;
    printf(w.growth
               ? "| problem | parameters | code | ms | over none | each more |\n"
                 "|---|---:|---|---:|---:|---:|\n"
               : "| problem | n | parameters | digits | best IDAS | ms | callbacks | native |\n"
                 "|---|---:|---:|---:|---|---:|---:|---:|\n");
    for (int i = optind; i < argc; i++) take(argv[i], &w);
    for (int i = 0; optind == argc && i < NAMES; i++) take(names[i], &w);
    if (ratio_count > 0)
        printf("\nIDAS over the faster of ours, geometric mean of %d lines: %.2f\n", ratio_count,
               exp(log_sum / ratio_count));
    return 0;
}
