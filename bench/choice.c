/* Which method is the best one: every model text with reference values, every method that might be
 * chosen, and `auto` beside them. docs/notes/choice.md holds the output of choice.sh.
 *
 *     bench_choice [-v] [-o methods] DIRECTORY-OF-MODELS [model ..]
 *       -v          every run on stderr: tolerance, digits, steps, time
 *       -o methods  only these, as radau,prk, and auto
 *
 * Tolerances are rtol = 1e-3 .. 1e-12, atol = rtol/1000. Digits are -log10 of the largest error at
 * the end, relative to the largest value of the array that a variable belongs to. Times are the
 * least of interleaved runs, in processor time, without translation and start, on the tape. Times
 * at 4, 7 and 10 digits are interpolated, errors that do not go down pooled; a method that is more
 * accurate at 1e-3 already counts with that run. */
#define _POSIX_C_SOURCE 200809L
#include "work_precision.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daedal.h"

enum { RUNS = 5, LOOSEST = 3, TIGHTEST = 12, MOST = 256, NAME = 64, PATH = 1024, MODELS = 64 };
static const double most_seconds = 0.5;    /* a run that takes longer is given up */
static const double most_repeating = 0.05; /* no more runs once they have taken so long */

static const char *const methods[] = {
    "bdf",   "radau", "rodas",   "rodas:p2", "liex",   "prk",    "phem",      "hem:5",
    "midex", "herk",  "dopri:5", "dopri:8",  "taylor", "bdf2nd", "colloc2nd", "auto"};
enum { METHODS = sizeof methods / sizeof *methods, AUTO = METHODS - 1 };
static const int wanted[] = {4, 7, 10};
enum { WANTED = 3 };

static bool verbose;
static const char *only; /* names between commas; NULL: all */

typedef struct reference {
    double t, values[MOST];
    char names[MOST][NAME];
    int count;
} reference;

typedef struct record {
    curve c;
    bool given_up;
} record;

typedef struct outcome {
    double seconds, digits; /* NAN: it failed */
    long steps;
    bool slow;
    char at_work[NAME];
} outcome;

/* Ratios of auto to the best single method, over everything */
typedef struct summary {
    double sum_of_logs, worst;
    int count, beyond;
} summary;

static bool takes_part(int k)
{
    char list[PATH], name[NAME + 3];
    if (!only || k == AUTO) return true;
    snprintf(list, sizeof list, ",%s,", only);
    snprintf(name, sizeof name, ",%s,", methods[k]);
    return strstr(list, name) != NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines "name value"; the events are not looked at. False if there is no such file. */
static bool read_reference(const char *path, reference *r)
{
    static const char *const properties[] = {"index", "accuracy", "rtol", "growth", "event"};
    char line[400], name[NAME];
    double value;
    FILE *file = fopen(path, "r");
    *r = (reference){.t = NAN};
    while (file && fgets(line, sizeof line, file)) {
        bool skip = line[0] == '#' || sscanf(line, "%63s %lf", name, &value) != 2;
        for (int i = 0; !skip && i < 5; i++) skip = strcmp(name, properties[i]) == 0;
        if (skip || r->count == MOST) continue;
        if (strcmp(name, "t") == 0) {
            r->t = value;
        } else {
            strcpy(r->names[r->count], name);
            r->values[r->count++] = value;
        }
    }
    if (file) fclose(file);
    return file && r->count > 0;
}

/* The largest |value| in the array that value k belongs to; 1 if all are 0 */
static double block_size(const reference *r, int k)
{
    double largest = fabs(r->values[k]);
    size_t stem = strcspn(r->names[k], "[");
    for (int i = 0; i < r->count; i++)
        if (r->names[i][stem] == '[' && strncmp(r->names[i], r->names[k], stem) == 0)
            largest = fmax(largest, fabs(r->values[i]));
    return largest > 0.0 ? largest : 1.0;
}

static int find_variable(const dae_problem *p, const char *name)
{
    char quoted[NAME + 3];
    int i = dae_problem_find_variable(p, name);
    size_t stem = strcspn(name, "[");
    if (i >= 0) return i;
    snprintf(quoted, sizeof quoted, "'%.*s'%s", (int)stem, name, name + stem);
    return dae_problem_find_variable(p, quoted);
}

static double digits_of(const dae_problem *p, const double *values, const reference *r)
{
    double error = 1e-16;
    for (int k = 0; k < r->count; k++) {
        int i = find_variable(p, r->names[k]);
        double e = i < 0 ? INFINITY : fabs(values[i] - r->values[k]) / block_size(r, k);
        error = isnan(e) ? INFINITY : fmax(error, e);
    }
    return -log10(error);
}

static int is_late(void *deadline)
{
    return now() > *(double *)deadline;
}

static void run_once(const dae_problem *p, const reference *r, const char *method, double rtol,
                     outcome *out)
{
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    double *values = calloc((size_t)dae_problem_variable_count(p), sizeof *values), deadline;
    double t0 = dae_problem_experiment(p).start;
    *out = (outcome){.seconds = NAN, .digits = NAN};
    o.method = method;
    o.rtol = rtol, o.atol = 1e-3 * rtol;
    o.stop_time = r->t;
    o.max_steps = 0;
    o.interrupt = is_late, o.user = &deadline;
    deadline = now() + 10.0 * most_seconds;
    if (values && dae_solver_new(p, &o, &s, NULL) == DAE_OK &&
        dae_solver_start(s, isnan(t0) ? 0.0 : t0, NULL, NULL) == DAE_OK) {
        double start = now();
        deadline = start + most_seconds;
        dae_status status;
        while ((status = dae_solver_step(s, r->t)) > 0)
            if (status == DAE_EVENT && is_late(&deadline)) break;
        double seconds = now() - start;
        out->slow = status == DAE_ERR_INTERRUPTED || status > 0;
        if (status == DAE_OK && dae_solver_variables(s, r->t, values) == DAE_OK) {
            out->seconds = seconds;
            out->digits = digits_of(p, values, r);
            out->steps = dae_solver_stats(s)->steps;
        }
        snprintf(out->at_work, sizeof out->at_work, "%s", dae_solver_method(s));
    }
    dae_solver_free(s);
    free(values);
}

/* The second of two runs where they are short: a first one finds the caches as another method left
 * them, which is up to a fifth of its time. */
static void run_warm(const dae_problem *p, const reference *r, const char *method, double rtol,
                     outcome *out)
{
    static const double brief = 5e-3;
    run_once(p, r, method, rtol, out);
    if (out->seconds < brief) run_once(p, r, method, rtol, out);
}

/* One tolerance, all methods in turn */
static void measure(const dae_problem *p, const reference *r, double rtol, record *records)
{
    outcome best[METHODS];
    double spent[METHODS] = {0};
    for (int round = 0; round < RUNS; round++)
        for (int k = 0; k < METHODS; k++) {
            outcome once;
            bool repeat = round && (isnan(best[k].seconds) || spent[k] > most_repeating);
            if (records[k].given_up || repeat) continue;
            run_warm(p, r, methods[k], rtol, &once);
            spent[k] += once.seconds;
            if (!round || once.seconds < best[k].seconds) best[k] = once;
        }
    for (int k = 0; k < METHODS; k++) {
        if (records[k].given_up) continue;
        if (verbose)
            fprintf(stderr, "  %7.0e %-12s %6.2f digits %7ld steps %10.4f ms  %s\n", rtol,
                    methods[k], best[k].digits, best[k].steps, 1e3 * best[k].seconds,
                    best[k].slow ? "too slow" : best[k].at_work);
        if (best[k].digits > 0.5)
            curve_add(&records[k].c, pow(10.0, -best[k].digits), best[k].seconds);
        records[k].given_up = best[k].slow;
    }
}

/* Seconds for so many digits; NAN: not reached */
static double time_at(const record *r, int digits)
{
    const curve *c = &r->c;
    if (c->count == 0 || c->log_error[c->count - 1] > -digits) return NAN;
    if (c->log_error[0] <= -digits) return pow(10.0, c->log_time[0]);
    return pow(10.0, curve_time(c, -digits));
}

static void print_line(const char *name, const record *records, int digits, summary *all)
{
    double best = INFINITY, mine = time_at(&records[AUTO], digits);
    int by = -1;
    for (int k = 0; k < AUTO; k++) {
        double t = time_at(&records[k], digits);
        if (t < best) best = t, by = k;
    }
    printf("| %s | %d |", name, digits);
    for (int k = 0; k < METHODS; k++) {
        double t = time_at(&records[k], digits);
        if (isnan(t))
            printf(" |");
        else
            printf(k == by ? " **%.3g** |" : " %.3g |", 1e3 * t);
    }
    if (by < 0 || isnan(mine)) {
        printf(" |\n");
        return;
    }
    printf(" %.2f |\n", mine / best);
    all->sum_of_logs += log(mine / best);
    all->worst = fmax(all->worst, mine / best);
    all->beyond += mine > 1.5 * best;
    all->count++;
}

static void compare(const char *directory, const char *name, summary *all)
{
    char path[PATH];
    static reference r;
    dae_problem *p = NULL;
    record *records = calloc(METHODS, sizeof *records);
    snprintf(path, sizeof path, "%s/%s.ref", directory, name);
    bool ok = records && read_reference(path, &r);
    snprintf(path, sizeof path, "%s/%s.mo", directory, name);
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (ok && dae_problem_from_model(&model, &p, NULL) == DAE_OK) {
        if (verbose) fprintf(stderr, "%s\n", name);
        for (int k = 0; k < METHODS; k++) records[k].given_up = !takes_part(k);
        for (int k = LOOSEST; k <= TIGHTEST; k++) measure(p, &r, pow(10.0, -k), records);
        for (int i = 0; i < WANTED; i++) print_line(name, records, wanted[i], all);
        fflush(stdout);
    }
    dae_problem_free(p);
    free(records);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The models with reference values in a directory, sorted */
static int find_models(const char *directory, char names[][NAME])
{
    int count = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d)) && count < MODELS;) {
        char *dot = strrchr(e->d_name, '.');
        if (dot && strcmp(dot, ".ref") == 0 && dot - e->d_name < NAME)
            snprintf(names[count++], NAME, "%.*s", (int)(dot - e->d_name), e->d_name);
    }
    if (d) closedir(d);
    qsort(names, (size_t)count, NAME, by_name);
    return count;
}

int main(int argc, char **argv)
{
    static char names[MODELS][NAME];
    summary all = {0};
    int first = 1, count = 0;
    for (; first < argc && argv[first][0] == '-'; first++)
        if (strcmp(argv[first], "-o") == 0 && first + 1 < argc)
            only = argv[++first];
        else
            verbose = true;
    if (argc <= first) return fprintf(stderr, "bench_choice [-v] [-o methods] DIRECTORY ..\n"), 2;
    const char *directory = argv[first];
    for (int i = first + 1; i < argc && count < MODELS; i++)
        snprintf(names[count++], NAME, "%s", argv[i]);
    if (count == 0) count = find_models(directory, names);
    printf("| model | digits |");
    for (int k = 0; k < METHODS; k++) printf(" `%s` |", methods[k]);
    printf(" ratio |\n|---|---|");
    for (int k = 0; k <= METHODS; k++) printf("---|");
    printf("\n");
    for (int i = 0; i < count; i++) compare(directory, names[i], &all);
    if (all.count > 0)
        printf("\n`auto` beside the best single method: geometric mean %.2f, worst %.2f, above "
               "1.5 in %d of %d lines.\n",
               exp(all.sum_of_logs / all.count), all.worst, all.beyond, all.count);
    return 0;
}
