/* bench_large: discretised equations, a mesh and a chain of 10^4 to 10^6 unknowns, from model
 * texts, beside IDA on the same equations by hand.
 *
 *     bench_large [--limit SECONDS] [--memory MB] [--most N] [--csv FILE] [-r RTOL] [-t THREADS]
 *                 [--codes text,direct,gmres,klu,spgmr] [problem ..]
 *       problem  heat1d, heat2d, brusselator2d, mesh, pendulums; all
 *       codes    text: Daedal with its own choices; direct, gmres: with that linear solver; klu,
 *                spgmr: IDA
 *       --limit  processor time of one run, 300; larger sizes are left out once it is passed
 *       --memory address space of one run, 8000
 *
 * Each run is a process of its own: processor times of translation, start and run, wall clock of
 * the run, and the peak of memory behind each. Exponents are fitted to all sizes of a code, by
 * least squares of logarithms. */
#define _GNU_SOURCE
#include "large.h"
#include "daedal.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

enum { SIZES = 5 };

static const long unknowns[SIZES] = {10000, 31600, 100000, 316000, 1000000};
static double limit = 300.0, megabytes = 8000.0, rtol = 1e-5;
static long most = 1000000;
static int threads = 1;
static FILE *csv;

double large_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double large_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double large_megabytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* ---- Daedal ---- */

/* The value of the probe at the end */
static double probed(const large_problem *p, const dae_problem *problem, const double *y)
{
    char name[64];
    const int middle = 1 + (int)(p->probed / p->cell) % p->size;
    snprintf(name, sizeof name, p->probe, middle, middle);
    for (int i = 0; i < dae_problem_size(problem); i++)
        if (strcmp(dae_problem_unknown_name(problem, i), name) == 0) return y[i];
    return NAN;
}

static void solve(const large_problem *p, const dae_problem *problem, dae_linear_solver solver,
                  large_result *r)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    double *y = calloc((size_t)dae_problem_size(problem), sizeof *y);
    options.rtol = rtol, options.atol = 1e-3 * rtol, options.max_steps = 0;
    options.stop_time = p->end, options.linear_solver = solver, options.threads = threads;
    double before = large_seconds();
    dae_status status = dae_solver_new(problem, &options, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    r->start = large_seconds() - before;
    r->memory[1] = large_megabytes();
    before = large_seconds();
    const double wall = large_wall();
    if (status == DAE_OK) status = dae_solver_run(s, p->end, y, NULL);
    r->run = large_seconds() - before;
    r->wall = large_wall() - wall;
    r->memory[2] = large_megabytes();
    r->ok = status == DAE_OK;
    r->value = probed(p, problem, y);
    if (s) r->steps = dae_solver_stats(s)->steps;
    snprintf(r->note, sizeof r->note, "%.20s %.130s",
             r->ok ? dae_solver_method(s) : dae_status_name(status),
             r->ok ? dae_solver_linear(s)
             : s   ? dae_solver_diag(s)->text
                   : diag.text);
    dae_solver_free(s);
    free(y);
}

static void by_text(const large_problem *p, dae_linear_solver solver, large_result *r)
{
    char path[1024], size[32];
    const char *assignments[1] = {size};
    dae_problem *problem = NULL;
    snprintf(path, sizeof path, "%s/bench/large/%s.mo", BENCH_ROOT, p->name);
    snprintf(size, sizeof size, "n = %d", p->size);
    dae_model text = {.file = path, .assignments = assignments, .assignment_count = 1};
    const double before = large_seconds();
    dae_status status = dae_problem_from_model(&text, &problem, NULL);
    r->translation = large_seconds() - before;
    r->memory[0] = large_megabytes();
    snprintf(r->note, sizeof r->note, "%s", dae_status_name(status));
    if (status != DAE_OK) return;
    r->unknowns = dae_problem_size(problem);
    solve(p, problem, solver, r);
    dae_problem_free(problem);
}

/* ---- measuring ---- */

static void measure(const char *problem, const char *code, int size, large_result *r)
{
    large_problem p;
    if (!large_new(&p, problem, size)) return;
    r->note[0] = '\0';
    if (!strcmp(code, "text")) by_text(&p, DAE_LINEAR_AUTO, r);
    if (!strcmp(code, "direct")) by_text(&p, DAE_LINEAR_SPARSE, r);
    if (!strcmp(code, "gmres")) by_text(&p, DAE_LINEAR_GMRES, r);
    if (!strcmp(code, "klu")) large_ida(&p, false, rtol, r);
    if (!strcmp(code, "spgmr")) large_ida(&p, true, rtol, r);
    large_free(&p);
}

/* One run, in a process of its own with limits */
static large_result measure_apart(const char *problem, const char *code, int size)
{
    int ends[2];
    large_result r = {.note = "beyond the limit of time or memory"};
    if (pipe(ends)) abort();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const rlim_t seconds = (rlim_t)ceil(limit), bytes = (rlim_t)(megabytes * 1024.0 * 1024.0);
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
        setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
        measure(problem, code, size, &r);
        _exit(write(ends[1], &r, sizeof r) != sizeof r);
    }
    close(ends[1]);
    large_result read_back;
    if (child > 0 && read(ends[0], &read_back, sizeof read_back) == sizeof read_back) r = read_back;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return r;
}

/* The slope of log y over log x */
static double exponent(int count, const double *x, const double *y)
{
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int i = 0; i < count; i++) {
        const double a = log(x[i]), b = log(fmax(y[i], 1e-4));
        sx += a, sy += b, sxx += a * a, sxy += a * b;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void print_result(const char *problem, const char *code, const large_result *r)
{
    printf("| %s | %s | %ld | %.2f | %.2f | %.2f | %.2f | %ld | %.0f | %.0f | %.0f | %.9g | %s |\n",
           problem, code, r->unknowns, r->translation, r->start, r->run, r->wall, r->steps,
           r->memory[0], r->memory[1], r->memory[2], r->value, r->note);
    if (csv)
        fprintf(csv, "%s,%s,%ld,%.3f,%.3f,%.3f,%.3f,%ld,%.0f,%.0f,%.0f,%.12g,\"%s\"\n", problem,
                code, r->unknowns, r->translation, r->start, r->run, r->wall, r->steps,
                r->memory[0], r->memory[1], r->memory[2], r->value, r->note);
    fflush(NULL);
}

static void measure_code(const char *name, const char *code)
{
    double x[SIZES], y[4][SIZES];
    int count = 0;
    large_problem p;
    if (!large_new(&p, name, 10)) return;
    const bool plane = p.plane, iterate = p.iterate;
    const int cell = p.cell;
    large_free(&p);
    if (!iterate && (!strcmp(code, "spgmr") || !strcmp(code, "gmres"))) return;
    for (int k = 0; k < SIZES && unknowns[k] <= most; k++) {
        const double cells = (double)unknowns[k] / cell;
        const int size = (int)lround(plane ? sqrt(cells) : cells);
        const large_result r = measure_apart(name, code, size);
        print_result(name, code, &r);
        if (!r.ok) break;
        x[count] = (double)r.unknowns;
        y[0][count] = r.translation, y[1][count] = r.start, y[2][count] = r.run;
        y[3][count++] = r.memory[2];
    }
    if (count > 1)
        printf("| %s | %s | n^ | %.2f | %.2f | %.2f | | | | | %.2f | | |\n", name, code,
               exponent(count, x, y[0]), exponent(count, x, y[1]), exponent(count, x, y[2]),
               exponent(count, x, y[3]));
    fflush(NULL);
}

static bool listed(const char *list, const char *word)
{
    const char *at = strstr(list, word);
    const size_t n = strlen(word);
    return at && (at == list || at[-1] == ',') && (at[n] == '\0' || at[n] == ',');
}

static bool wanted(int argc, char **argv, const char *name)
{
    bool found = optind == argc;
    for (int i = optind; i < argc; i++) found |= !strcmp(argv[i], name);
    return found;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"limit", 1, NULL, 'l'}, {"memory", 1, NULL, 'M'},
                                          {"most", 1, NULL, 'm'},  {"csv", 1, NULL, 'o'},
                                          {"codes", 1, NULL, 'c'}, {0}};
    static const char *const codes[] = {"text", "direct", "gmres", "klu", "spgmr"};
    const char *list = "text,klu,spgmr";
    for (int o; (o = getopt_long(argc, argv, "r:t:", names, NULL)) != -1;) {
        if (o == 'l') limit = atof(optarg);
        if (o == 'M') megabytes = atof(optarg);
        if (o == 'm') most = atol(optarg);
        if (o == 'r') rtol = atof(optarg);
        if (o == 't') threads = atoi(optarg);
        if (o == 'c') list = optarg;
        if (o == 'o' && !(csv = fopen(optarg, "w"))) return perror(optarg), 2;
        if (o == '?') return 2;
    }
    if (csv)
        fprintf(csv, "problem,code,unknowns,translation,start,run,wall,steps,MB translated,MB "
                     "started,MB run,value,note\n");
    printf(
        "| problem | code | unknowns | translation s | start s | run s | wall s | steps | MB | MB "
        "| MB | value | |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (int i = 0; large_names[i]; i++)
        for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
            if (wanted(argc, argv, large_names[i]) && listed(list, codes[k]))
                measure_code(large_names[i], codes[k]);
    if (csv) fclose(csv);
    return 0;
}
