/* How many of 100 starts find the answer: alpha-pinene [BHME73] and the gas oil of [TB91].
 *
 *     bench_fit_starts [-v] [FACTOR]
 *       -v      a line for every start
 *       FACTOR  starts are within this factor of the answer, in equal parts of its logarithm (10)
 *
 * Found: the search converged, and every parameter is within 1 % of the answer. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daedal.h"

enum { STARTS = 100, MOST_PARAMETERS = 5, MOST_ROWS = 21 };

typedef struct problem {
    const char *name, *text;
    int parameters, rows, columns;
    const char *names[MOST_PARAMETERS], *variables[MOST_PARAMETERS];
    double answer[MOST_PARAMETERS];
    const double *times, *values;
} problem;

static const char pinene_text[] =
    "model Pinene\n  parameter Real th[5] = {1, 1, 1, 1, 1};\n"
    "  Real y1(start = 100, fixed = true), y2(start = 0, fixed = true);\n"
    "  Real y3(start = 0, fixed = true), y4(start = 0, fixed = true);\n"
    "  Real y5(start = 0, fixed = true);\nequation\n  der(y1) = -(th[1] + th[2])*y1;\n"
    "  der(y2) = th[1]*y1;\n  der(y3) = th[2]*y1 - (th[3] + th[4])*y3 + th[5]*y5;\n"
    "  der(y4) = th[3]*y3;\n  der(y5) = th[4]*y3 - th[5]*y5;\nend Pinene;\n";
static const double pinene_times[] = {1230, 3060, 4920, 7800, 10680, 15030, 22620, 36420};
static const double pinene_values[] = {88.35, 7.3,  2.3, 0.4, 1.75, 76.4, 15.6, 4.5, 0.7, 2.8,
                                       65.1,  23.1, 5.3, 1.1, 5.8,  50.4, 32.9, 6.0, 1.5, 9.3,
                                       37.5,  42.7, 6.0, 1.9, 12.0, 25.9, 49.1, 5.9, 2.2, 17.0,
                                       14.0,  57.4, 5.1, 2.6, 21.0, 4.5,  63.1, 3.8, 2.9, 25.7};

/* Catalytic cracking of gas oil; the data are those of a run with the answer. */
static const char oil_text[] =
    "model Oil\n  parameter Real th[3] = {12, 8, 2};\n"
    "  Real y1(start = 1, fixed = true), y2(start = 0, fixed = true);\nequation\n"
    "  der(y1) = -(th[1] + th[3])*y1^2;\n  der(y2) = th[1]*y1^2 - th[2]*y2;\nend Oil;\n";
static double oil_times[MOST_ROWS], oil_values[2 * MOST_ROWS];

static problem pinene = {.name = "alpha-pinene",
                         .text = pinene_text,
                         .parameters = 5,
                         .rows = 8,
                         .columns = 5,
                         .names = {"th[1]", "th[2]", "th[3]", "th[4]", "th[5]"},
                         .variables = {"y1", "y2", "y3", "y4", "y5"},
                         .answer = {5.926e-5, 2.963e-5, 2.047e-5, 2.745e-4, 3.998e-5},
                         .times = pinene_times,
                         .values = pinene_values};
static problem oil = {.name = "gas oil",
                      .text = oil_text,
                      .parameters = 3,
                      .rows = MOST_ROWS,
                      .columns = 2,
                      .names = {"th[1]", "th[2]", "th[3]"},
                      .variables = {"y1", "y2"},
                      .answer = {12.0, 8.0, 2.0},
                      .times = oil_times,
                      .values = oil_values};

static void stop(const dae_diag *diag)
{
    fprintf(stderr, "%s\n", diag->text);
    exit(1);
}

static dae_problem *open_problem(const problem *p)
{
    dae_problem *q = NULL;
    dae_diag diag;
    const dae_model m = {.text = p->text, .file = p->name, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &q, &diag) != DAE_OK) stop(&diag);
    return q;
}

static dae_fit_data data_of(const problem *p)
{
    return (dae_fit_data){.rows = p->rows,
                          .columns = p->columns,
                          .times = p->times,
                          .variables = p->variables,
                          .values = p->values};
}

/* The data of gas oil, by a tight run, off by 0.1 % up and down in turn. */
static void make_oil(void)
{
    dae_problem *q = open_problem(&oil);
    dae_diag diag;
    dae_options options = dae_options_default();
    options.rtol = 1e-11;
    options.atol = 1e-13;
    for (int i = 0; i < MOST_ROWS; i++) oil_times[i] = 0.05 * i;
    const dae_fit_data where = data_of(&oil);
    const dae_fit_request request = {.options = &options};
    if (dae_fit_curves(q, &request, oil.answer, &where, oil_values, &diag) != DAE_OK) stop(&diag);
    for (int i = 0; i < 2 * MOST_ROWS; i++) oil_values[i] *= i % 4 < 2 ? 1.001 : 0.999;
    dae_problem_free(q);
}

/* A number between 0 and 1, the same in all runs. */
static double next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (double)(1 << 24);
}

static bool is_found(const problem *p, const dae_fit_result *r)
{
    for (int k = 0; k < p->parameters; k++)
        if (!(fabs(r->values[k] - p->answer[k]) <= 0.01 * p->answer[k])) return false;
    return r->end == DAE_FIT_CONVERGED;
}

/* One start; runs of the model are added. */
static bool try_start(const problem *p, dae_problem *q, double factor, uint32_t *seed, long *runs,
                      bool verbose)
{
    dae_fit_parameter list[MOST_PARAMETERS];
    dae_fit_result *result = NULL;
    dae_diag diag;
    dae_options options = dae_options_default();
    options.rtol = 1e-8;
    options.atol = 1e-10;
    const dae_fit_data data = data_of(p);
    for (int k = 0; k < p->parameters; k++) {
        double start = p->answer[k] * pow(factor, 2.0 * next_random(seed) - 1.0);
        list[k] = (dae_fit_parameter){p->names[k], start, 0.0, INFINITY};
    }
    const dae_fit_request request = {.parameters = list,
                                     .parameter_count = p->parameters,
                                     .data = &data,
                                     .data_count = 1,
                                     .options = &options};
    bool ok = dae_fit(q, &request, &result, &diag) == DAE_OK, found = ok && is_found(p, result);
    if (verbose && !ok) printf("  failed: %s\n", diag.text);
    if (verbose && ok)
        printf("  %s: end %d, cost %.6g, %d iterations, %d runs %s\n",
               found ? "found" : "NOT found", (int)result->end, result->cost, result->iterations,
               result->runs, result->text);
    if (ok) *runs += result->runs;
    dae_fit_result_free(result);
    return found;
}

static void study(const problem *p, double factor, bool verbose)
{
    dae_problem *q = open_problem(p);
    uint32_t seed = 1;
    int found = 0;
    long runs = 0;
    for (int n = 0; n < STARTS; n++) found += try_start(p, q, factor, &seed, &runs, verbose);
    printf("%-14s within a factor of %g: %d of %d starts find the answer, %.1f runs each\n",
           p->name, factor, found, STARTS, (double)runs / STARTS);
    dae_problem_free(q);
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    double factor = argc > 1 + verbose ? atof(argv[1 + verbose]) : 10.0;
    make_oil();
    study(&pinene, factor, verbose);
    study(&oil, factor, verbose);
    return 0;
}
