/* radau beside RADAU5, RADAU, RODAS, SEULEX, DASSL, DASPK and IDA.
 *
 * Usage: bench_radau [-v] [problem ..]
 *   problem  vanderpol, robertson, hires, ringmod, akzo, transamp; pendulum1 .. pendulum3, andrews1
 * .., caraxis1 .. (the digit is the index); heat2d:SIZE, brusselator:SIZE; a standard set if none
 *   -v       every run
 *
 * Digits are -log10(max|e| / max|y|) at the end, of positions for mechanisms. Times are the least
 * of up to 10 interleaved runs, in processor time; those at 4, 7 and 10 digits are interpolated
 * between tolerances half a power of ten apart. Sparse systems have a reference by radau at rtol =
 * 1e-11, checked by IDA. */
#include "radau.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, RUNS = 10, SPARSE_RUNS = 3 };
static bool verbose;

typedef struct record {
    curve c;
    int failures;
    bool given_up;
} record;

/* The ratios at a number of digits, for the means */
typedef struct tally {
    double radau, best;
    int radau_count, best_count, slower;
} tally;
static tally total;

static double digits(const entry *e, const double *y)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < e->compared; i++) {
        double d = fabs(y[i] - e->model->reference[i]);
        most = isnan(d) ? INFINITY : fmax(most, d);
        size = fmax(size, fabs(e->model->reference[i]));
    }
    return -log10(most / size);
}

static void show(const code *c, double rtol, double good, const run *r)
{
    printf("%8.1e  %-9s %6.2f %7ld steps %8ld F %6ld J %6ld LU %11.4f ms  %s\n", rtol, c->name,
           good, r->steps, r->residuals, r->jacobians, r->factors, 1e3 * r->seconds, r->note);
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
        r->given_up = r->failures > 3 || best[c].seconds > (model_is_sparse(e->model) ? 5.0 : 0.3);
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

static void print_line(const record *records, int wanted)
{
    double ours = time_at(&records[0], wanted), least = INFINITY, radau = NAN;
    const char *best = "none";
    printf("%6d ", wanted);
    for (int k = 0; k < radau_code_count; k++) {
        double t = time_at(&records[k], wanted);
        if (isnan(t))
            printf(" %9s", "-");
        else
            printf(" %9.3f", 1e3 * t);
        if (!strcmp(radau_codes[k].name, "RADAU")) radau = t;
        if (!radau_codes[k].ours && t < least) least = t, best = radau_codes[k].name;
    }
    printf("  %6.2f %6.2f %s\n", radau / ours, least / ours, best);
    if (radau / ours > 0.0) total.radau += log(radau / ours), total.radau_count++;
    if (ours > 0.0 && isfinite(least)) {
        total.best += log(least / ours), total.best_count++;
        total.slower += least < ours;
    }
}

static void print_table(const entry *e, const record *records)
{
    printf("\n%s, n = %d: milliseconds; RADAU and the best other code against radau\ndigits ",
           e->name, e->model->form.n);
    for (int k = 0; k < radau_code_count; k++) printf(" %9s", radau_codes[k].name);
    printf("  RADAU/  best/\n");
    for (int wanted = 4; wanted <= 10; wanted += 3) print_line(records, wanted);
    if (model_is_sparse(e->model)) print_line(records, 6);
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
    const bool sparse = model_is_sparse(e->model);
    if (!e->model->reference) find_reference(e);
    for (int k = 0; k < radau_code_count; k++) records[k].given_up = !radau_codes[k].suits(e);
    for (int k = sparse ? 6 : 4; k <= (sparse ? 16 : 25); k += sparse ? 2 : 1)
        measure(e, pow(10.0, -0.5 * k), records);
    print_table(e, records);
    if (sparse) print_growth(e, records);
    free(records);
    entry_free(e);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"vanderpol",
                                        "robertson",
                                        "hires",
                                        "akzo",
                                        "transamp",
                                        "ringmod",
                                        "pendulum1",
                                        "pendulum2",
                                        "pendulum3",
                                        "caraxis1",
                                        "caraxis2",
                                        "caraxis3",
                                        "andrews1",
                                        "andrews2",
                                        "andrews3",
                                        "heat2d:32",
                                        "heat2d:100",
                                        "brusselator:500",
                                        "brusselator:5000",
                                        "brusselator:50000"};
    int named = 0;
    const char *missing = radau_open();
    if (missing) return fprintf(stderr, "%s\n", missing), 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else
            compare(argv[i]), named++;
    for (size_t i = 0; !named && i < sizeof usual / sizeof *usual; i++) compare(usual[i]);
    printf(
        "\ngeometric means: RADAU / radau %.2f over %d lines, best other code / radau %.2f over %d "
        "lines, of which radau is slower on %d\n",
        exp(total.radau / fmax(1, total.radau_count)), total.radau_count,
        exp(total.best / fmax(1, total.best_count)), total.best_count, total.slower);
    return 0;
}
