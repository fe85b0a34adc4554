/* bdf2nd and colloc2nd beside IDA, DASSL, DASPK and RADAU5 at index 3, 2 and GGL.
 *
 * Usage: bench_second_order [-v] [problem ..]
 *   problem  pendulum, andrews, caraxis, truck, pendulums:SIZE; a standard set if none
 *   -v       every run
 *
 * Digits are -log10(max|e| / max|y|) at the end, of q and of lambda apart. Times are the least of
 * up to 30 interleaved runs, in processor time; those at 4, 6 and 8 digits in q, and the digits of
 * lambda there, are interpolated between tolerances half a power of ten apart; a code that has more
 * digits at its loosest tolerance counts with its time there. References are prk
 * at 1e-13, of the pendulums colloc2nd at 1e-11, checked by radau at 1e-9. */
#include "second_order.h"
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20, RUNS = 30, CHAIN_RUNS = 3, LINES = 3 };
static const int wanted_digits[LINES] = {4, 6, 8};
static bool verbose;

typedef struct record {
    curve time, lambda; /* over the error in q; lambda: 10^digits in place of seconds */
    int failures;
    bool given_up;
    double step_time; /* seconds for an accepted step at rtol = 1e-6 */
} record;

/* Sums of logarithms over problems and digits: times against ours, digits of lambda below ours */
typedef struct tally {
    double time, lambda;
    int count, lambda_count;
} tally;
static tally total[MOST];

static double digits(const double *y, const double *reference, int n)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        double d = fabs(y[i] - reference[i]);
        most = isnan(d) ? INFINITY : fmax(most, d);
        size = fmax(size, fabs(reference[i]));
    }
    return most > 0.0 ? -log10(most / size) : 16.0;
}

static void one_run(const solver_code *c, const trial *p, double rtol, result *out)
{
    c->solve(c, p, rtol, out);
    out->q_digits = digits(out->y, p->m->reference, p->m->nq);
    out->lambda_digits = digits(out->y + p->m->nq, p->lambda, p->m->nl);
}

static bool gives_step_time(double rtol)
{
    return fabs(log10(rtol) + 6.0) < 0.1;
}

static void keep(const solver_code *c, const trial *p, double rtol, const result *best, record *r)
{
    if (verbose)
        printf("%8.1e  %-12s %6.2f %6.2f %7ld steps %8ld F %6ld J %6ld LU %11.4f ms  %s\n", rtol,
               c->name, best->q_digits, best->lambda_digits, best->steps, best->residuals,
               best->jacobians, best->factors, 1e3 * best->seconds, best->note);
    if (best->ok && best->q_digits > 1.0 && best->q_digits < 15.0) {
        double error = pow(10.0, -best->q_digits);
        curve_add(&r->time, error, best->seconds);
        curve_add(&r->lambda, error, pow(10.0, best->lambda_digits));
    }
    if (best->ok && gives_step_time(rtol)) r->step_time = best->seconds / (double)best->steps;
    r->failures += !best->ok;
    r->given_up = r->failures > 3 || best->seconds > (p->m->links ? 4.0 : 0.3);
}

/* One tolerance, all codes in turn */
static void measure(const trial *p, double rtol, record *records)
{
    const size_t n = (size_t)(p->m->nq + p->m->nl);
    /* seconds for the runs of one code; of chains more where the time for a step is taken */
    const double enough = !p->m->links ? 0.05 : gives_step_time(rtol) ? 10.0 : 0.3;
    double *y = calloc(n, sizeof *y), spent[MOST] = {0};
    result best[MOST] = {{0}};
    if (!y) abort();
    for (int round = 0; round < (p->m->links ? CHAIN_RUNS : RUNS); round++)
        for (int c = 0; c < second_order_code_count; c++) {
            if (records[c].given_up || (round && (!best[c].ok || spent[c] > enough))) continue;
            result now = {.y = y};
            one_run(&second_order_codes[c], p, rtol, &now);
            spent[c] += now.seconds;
            if (!round || now.seconds < best[c].seconds) best[c] = now;
        }
    for (int c = 0; c < second_order_code_count; c++)
        if (!records[c].given_up) keep(&second_order_codes[c], p, rtol, &best[c], &records[c]);
    free(y);
}

/* The value of a curve where q has the wanted digits; at its first point if it has more everywhere;
 * NAN: not reached */
static double value_at(const curve *c, int wanted)
{
    if (c->count < 2 || -wanted < c->log_error[c->count - 1]) return NAN;
    return pow(10.0, curve_time(c, fmin(c->log_error[0], -wanted)));
}

/* The method that stands for Daedal on a problem: the one that is fastest at 6 digits */
static int chosen(const record *records)
{
    int best = 0;
    for (int c = 0; second_order_codes[c].method; c++)
        if (!(value_at(&records[best].time, 6) <= value_at(&records[c].time, 6)) &&
            !second_order_codes[c].text)
            best = c;
    return best;
}

static void print_table(const trial *p, const record *records)
{
    const int ours = chosen(records);
    printf(
        "\n%s, %d positions, %d constraints: milliseconds (digits of lambda) at digits of q, and "
        "time against %s\n%-12s",
        p->name, p->m->nq, p->m->nl, second_order_codes[ours].name, "");
    for (int k = 0; k < LINES; k++) printf(" %10d%16s", wanted_digits[k], "");
    printf("\n");
    for (int c = 0; c < second_order_code_count; c++) {
        if (!second_order_codes[c].suits(p)) continue;
        printf("%-12s", second_order_codes[c].name);
        for (int k = 0; k < LINES; k++) {
            double t = value_at(&records[c].time, wanted_digits[k]);
            double l = log10(value_at(&records[c].lambda, wanted_digits[k]));
            double times = t / value_at(&records[ours].time, wanted_digits[k]);
            double behind = log10(value_at(&records[ours].lambda, wanted_digits[k])) - l;
            if (isnan(t)) {
                printf(" %10s %15s", "-", "");
                continue;
            }
            printf(" %10.3f (%5.1f)%7.2f", 1e3 * t, l, times);
            if (isnan(times)) continue;
            total[c].time += log(times), total[c].count++;
            if (!isnan(behind)) total[c].lambda += behind, total[c].lambda_count++;
        }
        if (records[c].failures) printf("  fails %d times", records[c].failures);
        printf("\n");
    }
    fflush(stdout);
}

/* q and lambda at the end by another method of ours; false: it fails */
static bool by_method(const trial *p, const char *method, double rtol, double *y)
{
    solver_code c = second_order_codes[0];
    result out = {.y = y};
    c.method = method;
    c.solve(&c, p, rtol, &out);
    if (!out.ok) printf("%s: %s fails, %s\n", p->name, method, out.note);
    return out.ok;
}

static void find_reference(trial *p)
{
    const int nq = p->m->nq, nl = p->m->nl, chain = p->m->links;
    double *y = calloc((size_t)(nq + nl), sizeof *y);
    if (!y) abort();
    by_method(p, chain ? "colloc2nd" : "prk", chain ? 1e-11 : 1e-13, y);
    if (p->m->reference[0] != 0.0)
        printf("\n%s: the reference agrees with that of the test set to %.1f digits\n", p->name,
               digits(y, p->m->reference, nq));
    memcpy(p->m->reference, y, (size_t)nq * sizeof *y);
    memcpy(p->lambda, y + nq, (size_t)nl * sizeof *y);
    by_method(p, "radau", chain ? 1e-9 : 1e-11, y);
    printf("%s%s: the reference agrees with radau to %.1f digits in q, %.1f in lambda\n",
           chain ? "\n" : "", p->name, digits(y, p->m->reference, nq),
           digits(y + nq, p->lambda, nl));
    fflush(stdout);
    free(y);
}

/* Growth of the time for an accepted step since the last size */
static void print_growth(const trial *p, const record *records)
{
    static double before[MOST];
    static int n;
    printf("time for a step at rtol = 1e-6:");
    for (int c = 0; c < second_order_code_count; c++) {
        double t = records[c].step_time;
        if (t <= 0.0) continue;
        printf("  %s %.1f us", second_order_codes[c].name, 1e6 * t);
        if (before[c] > 0.0) printf(" (n^%.2f)", log(t / before[c]) / log((double)p->m->nl / n));
    }
    printf("\n");
    for (int c = 0; c < second_order_code_count; c++) before[c] = records[c].step_time;
    n = p->m->nl;
}

static void compare(const char *argument)
{
    char name[32];
    const char *colon = strchr(argument, ':');
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - argument) : 31, argument);
    trial *p = trial_new(name, colon ? atoi(colon + 1) : 0);
    record *records = calloc(MOST, sizeof *records);
    if (!records) abort();
    if (!p) {
        printf("%s: unknown\n", argument);
        free(records);
        return;
    }
    const bool chain = p->m->links;
    find_reference(p);
    for (int c = 0; c < second_order_code_count; c++)
        records[c].given_up = !second_order_codes[c].suits(p);
    for (int k = chain ? 6 : 4; k <= (chain ? 18 : 23); k += chain ? 2 : 1)
        measure(p, pow(10.0, -0.5 * k), records);
    print_table(p, records);
    if (chain) print_growth(p, records);
    free(records);
    trial_free(p);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"pendulum",       "andrews",       "caraxis",
                                        "truck",          "pendulums:100", "pendulums:1000",
                                        "pendulums:10000"};
    int named = 0;
    const char *missing = second_order_open();
    if (missing) return fprintf(stderr, "%s\n", missing), 1;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-v"))
            verbose = true;
        else
            compare(argv[i]), named++;
    for (size_t i = 0; !named && i < sizeof usual / sizeof *usual; i++) compare(usual[i]);
    printf("\ngeometric means against the faster of bdf2nd and colloc2nd from callbacks on each "
           "problem\n");
    for (int c = 0; c < second_order_code_count; c++)
        if (total[c].count)
            printf("%-12s %7.2f times the time over %2d lines, lambda %5.2f digits behind\n",
                   second_order_codes[c].name, exp(total[c].time / total[c].count), total[c].count,
                   total[c].lambda / fmax(1, total[c].lambda_count));
    return 0;
}
