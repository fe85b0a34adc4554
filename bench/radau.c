/* radau and its relatives beside RADAU5, RADAU, RODAS, SEULEX, DASSL, DASPK and IDA.
 *
 * Usage: bench_radau [-v] [problem ..]
 *   problem  vanderpol, robertson, hires, ringmod, akzo, transamp; pendulum1 .. pendulum3, andrews1
 * .., caraxis1 .. (the digit is the index); heat2d:SIZE, brusselator:SIZE; "small" and "sparse":
 * all of these; both if none is given -v       every run
 *
 * Digits are -log10(max|e| / max|y|) at the end, of positions for mechanisms, and of every variable
 * by itself for Robertson's problem. Times are the least of up to 10 interleaved runs, in processor
 * time; those at 4, 7 and 10 digits are interpolated between tolerances half a power of ten apart
 * (a power for what is large). The reaction-diffusion system has a reference by radau at rtol =
 * 1e-11, checked by IDA.
 *
 * "best of ours" is the one of our methods from callbacks with the least geometric mean of times
 * over the lines of a problem that radau has, the same one for all of them. */
#include "radau.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20, RUNS = 10, SPARSE_RUNS = 3, LINES = 4 };
static const int wanted_digits[LINES] = {4, 7, 10, 6}; /* the last one for sparse systems only */
/* Runs shorter than this many seconds are repeated at once, and the second one counts: else codes
 * pay for those that ran before. */
static const double SHORT = 0.003;
static bool verbose;

typedef struct record {
    curve c;
    int failures;
    bool given_up;
} record;

/* Sums of logarithms of ratios, and how many are below 1 */
typedef struct tally {
    double sum;
    int count, slower;
} tally;
static tally against_radau, against_best, chosen_against_radau, chosen_against_best;

static void count_ratio(tally *t, double value)
{
    if (!(value > 0.0 && isfinite(value))) return;
    t->sum += log(value);
    t->count++;
    t->slower += value < 1.0;
}

static void print_tally(const char *text, const tally *t)
{
    printf("%s %.2f over %d lines, slower on %d\n", text, exp(t->sum / fmax(1, t->count)), t->count,
           t->slower);
}

static double digits(const entry *e, const double *y)
{
    return bench_digits(e->compared, y, e->model->reference, e->each);
}

/* Seconds for one run after which a code is given up */
static double patience(const entry *e)
{
    const int n = e->model->form.n;
    return n > 20000 ? 60.0 : model_is_sparse(e->model) ? 5.0 : n > 10 ? 0.6 : 0.3;
}

static void show(const code *c, double rtol, double good, const run *r)
{
    printf("%8.1e  %-9s %6.2f %7ld steps %5ld rejected %8ld F %6ld J %6ld LU %11.4f ms  %s\n", rtol,
           c->name, good, r->steps, r->bad_error + r->bad_newton, r->residuals, r->jacobians,
           r->factors, 1e3 * r->seconds, r->note);
}

/* One tolerance, all codes in turn */
static void measure(const entry *e, double rtol, record *records)
{
    const size_t n = (size_t)e->model->form.n;
    double *atol = calloc(n, 8), *y = calloc(n, 8), good[MOST] = {0}, spent[MOST] = {0};
    run best[MOST] = {{0}};
    if (!atol || !y) abort();
    for (size_t i = 0; i < n; i++) atol[i] = rtol * model_scale(e->model, (int)i);
    const task k = {e->model, rtol, atol, NULL};
    const int rounds = model_is_sparse(e->model) ? SPARSE_RUNS : RUNS;
    for (int round = 0; round < rounds; round++)
        for (int c = 0; c < radau_code_count; c++) {
            if (records[c].given_up || (round && (!best[c].ok || spent[c] > 0.05))) continue;
            run now = {.y = y};
            if (round && best[c].seconds < SHORT)
                radau_codes[c].solve(&radau_codes[c], e, &k, &now); /* to warm caches */
            radau_codes[c].solve(&radau_codes[c], e, &k, &now);
            spent[c] += now.seconds;
            if (!round || now.seconds < best[c].seconds) best[c] = now, good[c] = digits(e, y);
        }
    for (int c = 0; c < radau_code_count; c++) {
        record *r = &records[c];
        if (r->given_up) continue;
        if (verbose) show(&radau_codes[c], rtol, good[c], &best[c]);
        if (best[c].ok && good[c] > 1.0 && good[c] < 15.0)
            curve_add(&r->c, pow(10.0, -good[c]), best[c].seconds);
        r->failures += !best[c].ok;
        r->given_up = r->failures > 3 || best[c].seconds > patience(e);
    }
    free(atol), free(y);
}

static double time_at(const record *r, int wanted)
{
    const curve *c = &r->c;
    if (c->count < 2 || -wanted > c->log_error[0] || -wanted < c->log_error[c->count - 1])
        return NAN;
    return pow(10.0, curve_time(c, -wanted));
}

static bool is_candidate(int k)
{
    return radau_codes[k].ours && !strstr(radau_codes[k].name, ".mo");
}

/* The one of our methods with the least product of times on the lines that radau has */
static int best_of_ours(const entry *e, const record *records)
{
    const int lines = model_is_sparse(e->model) ? LINES : LINES - 1;
    int best = 0;
    double least = INFINITY;
    for (int k = 0; k < radau_code_count; k++) {
        double sum = is_candidate(k) ? 0.0 : NAN;
        for (int i = 0; i < lines; i++) {
            double ours = time_at(&records[0], wanted_digits[i]);
            if (!isnan(ours)) sum += log(time_at(&records[k], wanted_digits[i]));
        }
        if (sum < least) best = k, least = sum;
    }
    return best;
}

static void print_line(const record *records, int wanted, int chosen)
{
    double ours = time_at(&records[0], wanted), least = INFINITY, radau = NAN;
    double other = time_at(&records[chosen], wanted);
    const char *best = "none";
    printf("%6d ", wanted);
    for (int k = 0; k < radau_code_count; k++) {
        double t = time_at(&records[k], wanted);
        if (isnan(t))
            printf(" %8s", "-");
        else
            printf(" %8.*f", t < 1.0 ? 3 : 0, 1e3 * t);
        if (!strcmp(radau_codes[k].name, "RADAU")) radau = t;
        if (!radau_codes[k].ours && t < least) least = t, best = radau_codes[k].name;
    }
    printf("  %6.2f %6.2f %6.2f %6.2f %s\n", radau / ours, least / ours, radau / other,
           least / other, best);
    count_ratio(&against_radau, radau / ours);
    count_ratio(&against_best, least / ours);
    count_ratio(&chosen_against_radau, radau / other);
    count_ratio(&chosen_against_best, least / other);
}

static void print_table(const entry *e, const record *records)
{
    const int chosen = best_of_ours(e, records);
    printf(
        "\n%s, n = %d: milliseconds; RADAU and the best other code against radau, and against the "
        "best of ours, %s\ndigits ",
        e->name, e->model->form.n, radau_codes[chosen].name);
    for (int k = 0; k < radau_code_count; k++) printf(" %8s", radau_codes[k].name);
    printf("  RADAU/  best/ RADAU/  best/\n");
    for (int i = 0; i < LINES; i++)
        if (i < LINES - 1 || model_is_sparse(e->model))
            print_line(records, wanted_digits[i], chosen);
    for (int k = 0; k < radau_code_count; k++)
        if (records[k].failures)
            printf("%s fails %d times. ", radau_codes[k].name, records[k].failures);
    printf("\n");
    fflush(stdout);
}

/* A reference for a model that has none at this size */
static void find_reference(entry *e)
{
    const size_t n = (size_t)e->model->form.n;
    double *atol = calloc(n, 8), *y = calloc(n, 8);
    if (!atol || !y) abort();
    for (size_t i = 0; i < n; i++) atol[i] = 1e-11 * model_scale(e->model, (int)i);
    run out = {.y = y};
    radau_codes[0].solve(&radau_codes[0], e, &(task){e->model, 1e-11, atol, NULL}, &out);
    if (!e->model->reference) e->model->reference = calloc(n, 8);
    if (!e->model->reference) abort();
    memcpy(e->model->reference, y, n * sizeof *y);
    for (size_t i = 0; i < n; i++) atol[i] = 1e-8 * model_scale(e->model, (int)i);
    peer_ida.solve(&(task){e->model, 1e-8, atol, NULL}, &out);
    printf("\n%s: the reference agrees with IDA at 1e-8 to %.1f digits\n", e->name, digits(e, y));
    free(atol), free(y);
}

/* Growth of the time at 6 digits since the last size of the same problem */
static void print_growth(const entry *e, const record *records)
{
    static double before[MOST];
    static char name[32];
    static int n;
    bool same = !strcmp(name, e->name);
    printf("at 6 digits:");
    for (int k = 0; k < radau_code_count; k++) {
        double t = time_at(&records[k], 6);
        if (isnan(t)) continue;
        printf("  %s %.1f ms", radau_codes[k].name, 1e3 * t);
        if (same && before[k] > 0.0)
            printf(" (n^%.2f)", log(t / before[k]) / log((double)e->model->form.n / n));
    }
    printf("\n");
    for (int k = 0; k < radau_code_count; k++) before[k] = time_at(&records[k], 6);
    snprintf(name, sizeof name, "%s", e->name);
    n = e->model->form.n;
}

static void compare(const char *argument)
{
    char name[32];
    const char *colon = strchr(argument, ':');
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - argument) : 31, argument);
    entry *e = entry_new(name, colon ? atoi(colon + 1) : 0);
    record *records = calloc(MOST, sizeof *records);
    if (!records) abort();
    if (!e) {
        printf("%s: unknown\n", argument);
        free(records);
        return;
    }
    const bool sparse = model_is_sparse(e->model), large = e->model->form.n > 20000;
    const bool long_run = !strcmp(name, "ringmod");
    if (!e->model->reference) find_reference(e);
    for (int k = 0; k < radau_code_count; k++) records[k].given_up = !radau_codes[k].suits(e);
    for (int k = sparse || long_run ? 6 : 4; k <= (sparse ? 16 : 25); k += large                ? 4
                                                                           : sparse || long_run ? 2
                                                                                                : 1)
        measure(e, pow(10.0, -0.5 * k), records);
    print_table(e, records);
    if (sparse) print_growth(e, records);
    free(records);
    entry_free(e);
}

static const char *const small[] = {"vanderpol", "robertson", "hires",     "akzo",     "transamp",
                                    "pendulum1", "pendulum2", "pendulum3", "caraxis1", "caraxis2",
                                    "caraxis3",  "andrews1",  "andrews2",  "andrews3", "ringmod"};
static const char *const sparse[] = {"heat2d:32",        "heat2d:64",       "heat2d:100",
                                     "heat2d:316",       "brusselator:500", "brusselator:5000",
                                     "brusselator:50000"};

static void compare_all(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) compare(names[i]);
}

/* A problem, or a set of them */
static void compare_named(const char *name)
{
    bool all = !strcmp(name, "all");
    if (all || !strcmp(name, "small")) compare_all(small, sizeof small / sizeof *small);
    if (all || !strcmp(name, "sparse")) compare_all(sparse, sizeof sparse / sizeof *sparse);
    if (!all && strcmp(name, "small") && strcmp(name, "sparse")) compare(name);
}

int main(int argc, char **argv)
{
    int named = 0;
    const char *missing = radau_open();
    if (missing) return fprintf(stderr, "%s\n", missing), 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else
            compare_named(argv[i]), named++;
    if (!named) compare_named("all");
    printf("\n");
    print_tally("RADAU / radau", &against_radau);
    print_tally("best other code / radau", &against_best);
    print_tally("RADAU / best of ours", &chosen_against_radau);
    print_tally("best other code / best of ours", &chosen_against_best);
    return 0;
}
