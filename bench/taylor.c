/* Taylor series beside our other methods, from model texts: error at the end point against the
 * reference of the model, and time of the run without translation; and the work of runs in
 * quadruple precision against digits.
 *
 *     bench_taylor DIRECTORY-OF-MODELS [quad] */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daedal.h"

enum { RUNS = 5, MOST = 64, MOST_TEXT = 200 };

typedef struct reference {
    char name[MOST][MOST_TEXT], digits[MOST][MOST_TEXT];
    int count;
    double t;
} reference;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Lines "name value" of a .ref file. */
static int read_reference(const char *path, reference *r)
{
    char line[400], name[MOST_TEXT], value[MOST_TEXT];
    FILE *file = fopen(path, "r");
    *r = (reference){.t = NAN};
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%199s %199s", name, value) != 2) continue;
        if (strcmp(name, "t") == 0)
            r->t = atof(value);
        else if (strcmp(name, "index") && strcmp(name, "accuracy") && r->count < MOST) {
            strcpy(r->name[r->count], name);
            strcpy(r->digits[r->count++], value);
        }
    }
    fclose(file);
    return r->count;
}

/* max |error| / max |value| over the variables with the first letter of the first one */
static double error_of(const dae_problem *p, const double *y, const reference *r)
{
    double error = 0.0, size = 0.0;
    for (int k = 0; k < r->count && r->name[k][0] == r->name[0][0]; k++) {
        double expected = atof(r->digits[k]);
        int i = dae_problem_find_variable(p, r->name[k]);
        error = fmax(error, i < 0 ? INFINITY : fabs(y[i] - expected));
        size = fmax(size, fabs(expected));
    }
    return error / size;
}

/* One run; seconds, or NAN. */
static double run_once(const dae_problem *p, const dae_options *o, double tend, double *y,
                       dae_stats *stats, char *digits)
{
    dae_solver *s = NULL;
    dae_options options = *o;
    options.stop_time = tend;
    options.max_steps = 0;
    if (dae_solver_new(p, &options, &s, NULL) != DAE_OK) return NAN;
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    double start = now();
    if (status == DAE_OK) status = dae_solver_run(s, tend, NULL, NULL);
    double seconds = now() - start;
    if (status == DAE_OK) status = dae_solver_variables(s, tend, y);
    if (status == DAE_OK && digits) status = dae_solver_digits(s, tend, digits);
    *stats = *dae_solver_stats(s);
    dae_solver_free(s);
    return status == DAE_OK ? seconds : NAN;
}

static void compare(const char *directory, const char *model)
{
    static const char *const methods[] = {"taylor", "phem", "prk", "radau"};
    char path[1000];
    reference r;
    dae_problem *p = NULL;
    snprintf(path, sizeof path, "%s/%s.ref", directory, model);
    if (!read_reference(path, &r)) return;
    snprintf(path, sizeof path, "%s/%s.mo", directory, model);
    if (dae_problem_from_file(path, &p, NULL) != DAE_OK) return;
    double *y = calloc((size_t)dae_problem_variable_count(p), sizeof *y);
    for (int k = 0; y && k < 4; k++)
        for (double rtol = 1e-6; rtol > 1e-15; rtol *= 0.1) {
            dae_options o = dae_options_default();
            dae_stats stats = {0};
            double best = INFINITY;
            o.method = methods[k];
            o.rtol = rtol;
            o.atol = rtol;
            for (int run = 0; run < RUNS; run++)
                best = fmin(best, run_once(p, &o, r.t, y, &stats, NULL));
            if (isinf(best)) continue;
            printf("%-12s %-8s %7.0e %6.2f digits %9.3f ms %6ld steps  order %d\n", model,
                   methods[k], rtol, -log10(error_of(p, y, &r)), 1e3 * best, stats.steps,
                   stats.last_order);
        }
    free(y);
    dae_problem_free(p);
}

/* Decimal digits that two numbers share, relative to the first: by long doubles of the parts. */
static void work_of_digits(const char *directory, const char *model, double tend)
{
    char path[1000];
    dae_problem *p = NULL;
    snprintf(path, sizeof path, "%s/%s.mo", directory, model);
    if (dae_problem_from_file(path, &p, NULL) != DAE_OK) return;
    int count = dae_problem_variable_count(p);
    double *y = calloc((size_t)count, sizeof *y);
    char *text = calloc((size_t)count, DAE_DIGITS_SIZE);
    for (int digits = 6; y && text && digits <= 28; digits += 2) {
        dae_options o = dae_options_default();
        dae_stats stats = {0};
        o.method = "taylor";
        o.precision = DAE_PRECISION_QUAD;
        o.rtol = o.atol = pow(10.0, -digits);
        double seconds = run_once(p, &o, tend, y, &stats, text);
        printf("%-12s 1e-%02d %6ld steps  order %2d %9.2f ms  %s\n", model, digits, stats.steps,
               stats.last_order, 1e3 * seconds, text);
    }
    free(text);
    free(y);
    dae_problem_free(p);
}

int main(int argc, char **argv)
{
    static const char *const models[] = {"pendulum", "andrews", "caraxis"};
    static const double ends[] = {10.0, 0.03, 3.0};
    if (argc < 2) return 2;
    for (int k = 0; k < 3; k++)
        if (argc > 2)
            work_of_digits(argv[1], models[k], ends[k]);
        else
            compare(argv[1], models[k]);
    return 0;
}
