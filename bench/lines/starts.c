/* bench_starts: what a first and a second solver of a problem do, as functions for callgrind to
 * count: starts.sh prints the table.
 *
 *     bench_starts MODEL.mo [RTOL]
 *
 * count_translation: the text to a problem. count_first_start and count_second_start:
 * dae_solver_new and dae_solver_start. count_first_run and count_second_run: dae_solver_run to the
 * end. With the time of each on stdout; the engine is the one that a user gets. */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct work {
    const char *file;
    dae_options options;
    dae_problem *problem;
    dae_solver *solver;
    double end;
} work;

dae_status count_translation(work *w);
dae_status count_first_start(work *w);
dae_status count_first_run(work *w);
dae_status count_second_start(work *w);
dae_status count_second_run(work *w);

/* Kept apart, so that each one is seen */
#define APART __attribute__((noinline))

APART static dae_status start(work *w)
{
    dae_status status = dae_solver_new(w->problem, &w->options, &w->solver, NULL);
    return status == DAE_OK ? dae_solver_start(w->solver, 0.0, NULL, NULL) : status;
}

APART dae_status count_translation(work *w)
{
    return dae_problem_from_file(w->file, &w->problem, NULL);
}

APART dae_status count_first_start(work *w)
{
    dae_status status = start(w);
    return status;
}

APART dae_status count_first_run(work *w)
{
    dae_status status = dae_solver_run(w->solver, w->end, NULL, NULL);
    return status;
}

APART dae_status count_second_start(work *w)
{
    dae_status status = start(w);
    return status;
}

APART dae_status count_second_run(work *w)
{
    dae_status status = dae_solver_run(w->solver, w->end, NULL, NULL);
    return status;
}

/* One part, with its time; the program ends where it fails */
static void part(const char *name, dae_status (*does)(work *w), work *w)
{
    const double before = bench_clock();
    const dae_status status = does(w);
    printf("%-14s %9.4f ms\n", name, 1e3 * (bench_clock() - before));
    if (status == DAE_OK) return;
    fprintf(stderr, "%s: %s\n", name, dae_status_name(status));
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 2) return fprintf(stderr, "bench_starts MODEL.mo [RTOL]\n"), 2;
    work w = {.file = argv[1], .options = dae_options_default()};
    part("translation", count_translation, &w);
    w.end = dae_problem_experiment(w.problem).stop;
    w.options.rtol = w.options.atol = argc > 2 ? atof(argv[2]) : 1e-7;
    w.options.stop_time = w.end, w.options.max_steps = 0;
    part("first start", count_first_start, &w);
    part("first run", count_first_run, &w);
    dae_solver_free(w.solver), w.solver = NULL;
    part("second start", count_second_start, &w);
    part("second run", count_second_run, &w);
    dae_solver_free(w.solver);
    dae_problem_free(w.problem);
    return 0;
}
