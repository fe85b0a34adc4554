/* The table: time of the best other code over the time of Daedal, at equal digits. */
#include "lines.h"

#include <math.h>
#include <string.h>

typedef struct tally {
    double sum, least;
    int count, slower;
    char at[48]; /* where it is least */
} tally;
static tally tallies[WAYS_OF_OURS], fifteen[WAYS_OF_OURS];

static void count_ratio(tally *t, double value, const char *name, int digits)
{
    if (!(value > 0.0 && isfinite(value))) return;
    if (!t->count || value < t->least) {
        t->least = value;
        snprintf(t->at, sizeof t->at, "%s, %d digits", name, digits);
    }
    t->sum += log(value), t->count++, t->slower += value < 1.0;
}

void table_begin(const wishes *w)
{
    if (w->csv) fprintf(w->csv, "problem,code,rtol,digits,steps,seconds,status\n");
    printf("| problem | digits | best other | ms | native | tape | first | callbacks |\n"
           "|---|---:|---|---:|---:|---:|---:|---:|\n");
}

/* The fastest other code for so many digits; -1: none */
static int best_other(const record *records, int digits)
{
    int best = -1;
    double least = INFINITY;
    for (int k = WAYS_OF_OURS; k < way_count; k++) {
        double t = record_time(&records[k], digits);
        if (t < least) best = k, least = t;
    }
    return best;
}

/* The lines that issue and notes call the fifteen */
static bool is_one_of_five(const char *name)
{
    for (int i = 0; i < 5; i++)
        if (!strcmp(line_names[i], name)) return true;
    return false;
}

void table_line(const line *l, const wishes *w, const record *records)
{
    for (int i = 0; i < w->digit_count; i++) {
        const int digits = line_digits(l, w, i), by = best_other(records, digits);
        if (digits == 0) continue;
        const double least = by < 0 ? NAN : record_time(&records[by], digits);
        printf("| %s | %d | %s | %.4g |", l->name, digits, by < 0 ? "none" : ways[by].name,
               1e3 * least);
        for (int k = 0; k < WAYS_OF_OURS; k++) {
            const double t = record_time(&records[k], digits), gain = least / t;
            if (isnan(t))
                printf(" not reached |");
            else if (isnan(gain))
                printf(" %.4g ms |", 1e3 * t);
            else
                printf(" %.2f |", gain);
            count_ratio(&tallies[k], gain, l->name, digits);
            if (is_one_of_five(l->name)) count_ratio(&fifteen[k], gain, l->name, digits);
        }
        printf("\n");
    }
    fflush(stdout);
    if (w->csv) fflush(w->csv);
}

static void print_tallies(const char *what, const tally *t)
{
    printf("\n| %s | lines | mean | least | where | below 1 |\n|---|---:|---:|---:|---|---:|\n",
           what);
    for (int k = 0; k < WAYS_OF_OURS; k++)
        if (t[k].count)
            printf("| %s | %d | %.2f | %.2f | %s | %d |\n", ways[k].name, t[k].count,
                   exp(t[k].sum / t[k].count), t[k].least, t[k].at, t[k].slower);
}

void table_end(const wishes *w)
{
    (void)w;
    print_tallies("the fifteen lines", fifteen);
    print_tallies("all lines", tallies);
}
