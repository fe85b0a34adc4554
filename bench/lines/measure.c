/* The ladder of tolerances: times as the least of interleaved runs. */
#include "lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs shorter than this many seconds are repeated at once, and the second one counts: else codes
 * pay for those that ran before. */
static const double SHORT = 0.003;
/* No more rounds of a code at a tolerance once its runs have taken so long */
static const double BUDGET = 0.06;
static const double LOOSEST = 2.0, LOOSEST_HARD = 5.0, TIGHTEST = 13.0; /* -log10 rtol */

static bool takes_part(const wishes *w, const char *name)
{
    char list[256], wanted[32];
    if (!w->codes) return true;
    snprintf(list, sizeof list, ",%s,", w->codes);
    snprintf(wanted, sizeof wanted, ",%s,", name);
    return strstr(list, wanted) != NULL;
}

/* One tolerance, all ways in turn */
static void run_all(line *l, const wishes *w, double rtol, const record *records, run *best,
                    double *good)
{
    double *y = bench_space((size_t)l->compared, sizeof *y), spent[WAYS_MOST] = {0};
    for (int round = 0; round < w->rounds; round++)
        for (int k = 0; k < way_count; k++) {
            if (records[k].given_up || (round && (!best[k].ok || spent[k] > BUDGET))) continue;
            run now = {.y = y};
            if (round && best[k].seconds < SHORT) ways[k].solve(&ways[k], l, rtol, &now);
            now = (run){.y = y};
            ways[k].solve(&ways[k], l, rtol, &now);
            spent[k] += now.seconds;
            if (round && now.seconds >= best[k].seconds) continue;
            best[k] = now;
            good[k] = now.ok ? bench_digits(l->compared, y, l->reference, l->each) : NAN;
        }
    free(y);
}

static void report(const line *l, const wishes *w, double rtol, int k, const run *r, double good)
{
    if (w->verbose)
        printf("%-16s %7.1e %-10s %6.2f digits %8ld steps %11.4f ms  %s\n", l->name, rtol,
               ways[k].name, good, r->steps, 1e3 * r->seconds, r->note);
    if (w->csv)
        fprintf(w->csv, "%s,%s,%.2e,%.2f,%ld,%.7f,%s\n", l->name, ways[k].name, rtol, good,
                r->steps, r->seconds, r->ok ? "ok" : r->note);
}

int line_digits(const line *l, const wishes *w, int i)
{
    const int fewer = 2, digits = l->hard ? w->digits[i] - fewer : w->digits[i];
    return digits > l->most ? 0 : digits;
}

static int most_digits(const line *l, const wishes *w)
{
    int most = 0;
    for (int i = 0; i < w->digit_count; i++)
        most = line_digits(l, w, i) > most ? line_digits(l, w, i) : most;
    return most;
}

/* One tolerance into the curves. A code is given up where it takes too long or fails again and
 * again, and done where two runs have more digits than are asked for. */
static void keep(const line *l, const wishes *w, double rtol, const run *best, const double *good,
                 record *records)
{
    for (int k = 0; k < way_count; k++) {
        record *r = &records[k];
        if (r->given_up) continue;
        report(l, w, rtol, k, &best[k], good[k]);
        if (best[k].ok && good[k] > 1.0) /* exact to the last bit: as good as the type */
            curve_add(&r->c, pow(10.0, -fmin(good[k], 16.0)), best[k].seconds);
        r->failures += !best[k].ok;
        r->beyond += best[k].ok && good[k] > most_digits(l, w) + 0.3;
        r->given_up = r->failures > 4 || r->beyond > 1 || best[k].seconds > l->patience;
    }
}

/* Plans are made and code is compiled before the first run that counts */
static void warm_up(line *l, const record *records, double rtol)
{
    double *y = bench_space((size_t)l->compared, sizeof *y);
    for (int k = WAY_NATIVE; k <= WAY_TAPE; k++)
        if (!records[k].given_up) ways[k].solve(&ways[k], l, rtol, &(run){.y = y});
    free(y);
}

void line_measure(line *l, const wishes *w, record *records)
{
    for (int k = 0; k < way_count; k++)
        records[k].given_up = !ways[k].suits(l) || !takes_part(w, ways[k].name);
    warm_up(l, records, pow(10.0, -LOOSEST));
    for (double d = l->hard ? LOOSEST_HARD : LOOSEST; d < TIGHTEST + 0.01;
         d += l->hard ? 1.0 : w->step) {
        run best[WAYS_MOST] = {{0}};
        double good[WAYS_MOST] = {0}, rtol = pow(10.0, -d);
        run_all(l, w, rtol, records, best, good);
        keep(l, w, rtol, best, good, records);
    }
}

/* Interpolated; a code that has more digits at the loosest tolerance counts with that run */
double record_time(const record *r, int digits)
{
    const curve *c = &r->c;
    if (c->count == 0 || c->log_error[c->count - 1] > -digits) return NAN;
    if (c->log_error[0] <= -digits) return pow(10.0, c->log_time[0]);
    return pow(10.0, curve_time(c, -digits));
}
