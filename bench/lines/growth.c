/* bench_growth: how time and memory grow with the size of a model text.
 *
 *     bench_growth [--limit SECONDS] [--most N] [--csv FILE] [-r RTOL] [series ..]
 *       series   rods, bent, span, sag, pendulums, circuit, ladder, heat; all
 *       --limit  processor time for one size, 60; larger ones are left out once it is passed
 *       --most   no sizes above this one
 *
 * Each size runs in a process of its own, on the engine that a user gets: translation, start
 * (dae_solver_new and dae_solver_start), run to the end, and the peak of its memory. Exponents are
 * fitted to the larger half of the sizes, by least squares of logarithms. */
#define _DEFAULT_SOURCE
#include "peer.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

enum { SIZES_MOST = 12 };

typedef struct series {
    const char *name, *file, *size, *other; /* assignments: the parameter that is the size, and one
                                               more or NULL */
    int sizes[SIZES_MOST];
} series;

static const series all[] = {
    {"rods", "bench/lines/rods.mo", "n", "bend = 0", {50, 100, 200, 400, 800, 1600, 3200, 10000}},
    {"bent", "bench/lines/rods.mo", "n", "bend = 0.5", {50, 100, 200, 400, 800, 1600, 3200, 10000}},
    {"span", "bench/lines/span.mo", "n", "bend = 0", {50, 100, 200, 400, 800, 1600, 3200, 10000}},
    {"sag", "bench/lines/span.mo", "n", "bend = 0.2", {50, 100, 200, 400, 800, 1600, 3200, 10000}},
    {"pendulums", "bench/second_order_chain.mo", "n", NULL, {100, 300, 1000, 3000, 10000, 20000}},
    {"circuit", "bench/lines/circuit.mo", "n", NULL, {100, 300, 1000, 3000, 10000}},
    {"ladder", "models/ladder.mo", "n", NULL, {300, 1000, 3000, 10000, 30000, 100000}},
    {"heat", "models/heat2d.mo", "n", NULL, {10, 20, 40, 80, 150, 300}}};

typedef struct result {
    int size, unknowns;
    bool ok;
    double translation, start, run, kilobytes;
    long steps;
    char note[64];
} result;

static double limit = 60.0, rtol = 1e-5;
static int most = 1000000;
static FILE *csv;

static double kilobytes_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss;
}

static void solve(dae_problem *problem, result *r)
{
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    const double end = dae_problem_experiment(problem).stop;
    options.rtol = options.atol = rtol, options.max_steps = 0, options.stop_time = end;
    double before = bench_clock();
    dae_status status = dae_solver_new(problem, &options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    r->start = bench_clock() - before;
    before = bench_clock();
    if (status == DAE_OK) status = dae_solver_run(solver, end, NULL, NULL);
    r->run = bench_clock() - before;
    r->ok = status == DAE_OK;
    if (solver) r->steps = dae_solver_stats(solver)->steps;
    snprintf(r->note, sizeof r->note, "%s",
             r->ok ? dae_solver_method(solver) : dae_status_name(status));
    dae_solver_free(solver);
}

/* One size, in the process at hand */
static void measure(const series *s, result *r)
{
    char path[1024], size[32];
    const char *assignments[2] = {size, s->other};
    dae_problem *problem = NULL;
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, s->file);
    snprintf(size, sizeof size, "%s = %d", s->size, r->size);
    dae_model text = {
        .file = path, .assignments = assignments, .assignment_count = s->other ? 2 : 1};
    const double memory = kilobytes_now(), before = bench_clock();
    dae_status status = dae_problem_from_model(&text, &problem, NULL);
    r->translation = bench_clock() - before;
    snprintf(r->note, sizeof r->note, "%s", dae_status_name(status));
    if (status != DAE_OK) return;
    r->unknowns = dae_problem_size(problem);
    solve(problem, r);
    r->kilobytes = kilobytes_now() - memory;
    dae_problem_free(problem);
}

/* One size, in a process of its own with a limit */
static result measure_apart(const series *s, int size)
{
    int ends[2];
    result r = {.size = size};
    if (pipe(ends)) abort();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const rlim_t seconds = (rlim_t)ceil(limit);
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
        measure(s, &r);
        _exit(write(ends[1], &r, sizeof r) != sizeof r);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &r, sizeof r) != sizeof r)
        r = (result){.size = size, .note = "beyond the limit"};
    close(ends[0]);
    waitpid(child, NULL, 0);
    return r;
}

/* The slope of log(value) over log(unknowns) in the larger half of the sizes */
static double exponent(const result *r, int count, double (*value)(const result *r))
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    const int from = count / 2;
    for (int i = from; i < count; i++) {
        const double x = log(r[i].unknowns), y = log(value(&r[i]));
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    const double n = count - from;
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

static double of_translation(const result *r)
{
    return r->translation;
}

static double of_start(const result *r)
{
    return r->start;
}

static double of_run(const result *r)
{
    return r->run;
}

static double of_step(const result *r)
{
    return r->run / (double)(r->steps > 0 ? r->steps : 1);
}

static double of_memory(const result *r)
{
    return r->kilobytes;
}

static void print_result(const series *s, const result *r)
{
    printf("| %s | %d | %d | %.3f | %.3f | %.3f | %ld | %.2f | %s |\n", s->name, r->size,
           r->unknowns, r->translation, r->start, r->run, r->steps,
           r->kilobytes / fmax(1, r->unknowns), r->note);
    if (csv)
        fprintf(csv, "%s,%d,%d,%.4f,%.4f,%.4f,%ld,%.0f,%s\n", s->name, r->size, r->unknowns,
                r->translation, r->start, r->run, r->steps, r->kilobytes, r->note);
    fflush(NULL);
}

static void measure_series(const series *s)
{
    result done[SIZES_MOST];
    int count = 0;
    for (int i = 0; i < SIZES_MOST && s->sizes[i] && s->sizes[i] <= most; i++) {
        const result r = measure_apart(s, s->sizes[i]);
        print_result(s, &r);
        if (!r.ok) break;
        done[count++] = r;
    }
    if (count < 3) return;
    printf("| %s | n^ | | %.2f | %.2f | %.2f | a step %.2f | %.2f | |\n", s->name,
           exponent(done, count, of_translation), exponent(done, count, of_start),
           exponent(done, count, of_run), exponent(done, count, of_step),
           exponent(done, count, of_memory));
}

static bool wanted(int argc, char **argv, const char *name)
{
    bool found = optind == argc;
    for (int i = optind; i < argc; i++) found |= !strcmp(argv[i], name);
    return found;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"limit", 1, NULL, 'l'}, {"most", 1, NULL, 'm'}, {"csv", 1, NULL, 'o'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "r:", names, NULL)) != -1;) {
        if (o == 'l') limit = atof(optarg);
        if (o == 'm') most = atoi(optarg);
        if (o == 'r') rtol = atof(optarg);
        if (o == 'o' && !(csv = fopen(optarg, "w"))) return perror(optarg), 2;
        if (o == '?') return 2;
    }
    if (csv) fprintf(csv, "series,size,unknowns,translation,start,run,steps,kilobytes,note\n");
    printf(
        "| series | size | unknowns | translation s | start s | run s | steps | kB an unknown | |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (wanted(argc, argv, all[i].name)) measure_series(&all[i]);
    if (csv) fclose(csv);
    return 0;
}
