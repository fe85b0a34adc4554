/* Each call of dae_solver_step is timed by itself. Runs repeat bit by bit, so that the least time
 * of call i over all rounds is free of what else the machine does. A call that returns DAE_EVENT
 * holds a step, the search for the crossing, the event and the new start; what it takes more than
 * the mean of the other calls is the cost of the event, and so are steps beyond those of the same
 * run. */
#include "events.h"

#include <math.h>
#include <stdlib.h>

enum { CALLS_MOST = 400000 };

typedef struct calls {
    int count;
    double *seconds;
    bool *event;
    double starting;
} calls;

void events_begin(void)
{
    printf(
        "| problem | engine | rtol | events | steps | us a step | us an event | event in steps | "
        "share of events |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
}

/* What two readings of the clock take */
static double clock_cost(void)
{
    double least = INFINITY;
    for (int i = 0; i < 1000; i++) {
        double t = bench_clock();
        least = fmin(least, bench_clock() - t);
    }
    return least;
}

static void time_calls(const line *l, const dae_problem *problem, double rtol, calls *c)
{
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.rtol = options.atol = rtol, options.max_steps = 0, options.stop_time = l->tend;
    double before = bench_clock(), now;
    dae_status status = dae_solver_new(problem, &options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    c->starting = fmin(c->starting, bench_clock() - before);
    bool more = status == DAE_OK;
    c->count = 0;
    while (more && c->count < CALLS_MOST) {
        before = bench_clock();
        status = dae_solver_step(solver, l->tend);
        now = bench_clock() - before;
        more = status > 0;
        c->seconds[c->count] = fmin(c->seconds[c->count], now);
        c->event[c->count++] = status == DAE_EVENT;
    }
    dae_solver_free(solver);
}

static void print_costs(const line *l, const char *engine, double rtol, const calls *c)
{
    double step = 0.0, event = 0.0, clock = clock_cost();
    int steps = 0, events = 0;
    for (int i = 0; i < c->count; i++) {
        const double t = fmax(0.0, c->seconds[i] - clock);
        if (c->event[i])
            event += t, events++;
        else
            step += t, steps++;
    }
    const double share = event / (event + step);
    step /= fmax(1, steps), event /= fmax(1, events);
    printf("| %s | %s | %.0e | %d | %d | %.2f | %.2f | %.1f | %.0f %% |\n", l->name, engine, rtol,
           events, steps + events, 1e6 * step, 1e6 * event, event / step - 1.0, 100.0 * share);
    fflush(stdout);
}

void events_line(line *l, const wishes *w)
{
    static const double tolerances[] = {1e-4, 1e-7, 1e-10};
    const dae_problem *const problems[] = {l->native, l->tape};
    const double budget = 2.0;
    calls c = {0, bench_space(CALLS_MOST, sizeof *c.seconds), bench_space(CALLS_MOST, 1), 0.0};
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 3; k++) {
            if (l->hard && k != 1) continue;
            for (int i = 0; i < CALLS_MOST; i++) c.seconds[i] = INFINITY;
            c.starting = INFINITY;
            const double before = bench_clock();
            for (int round = 0; round < w->rounds && bench_clock() - before < budget; round++)
                time_calls(l, problems[p], tolerances[k], &c);
            print_costs(l, p ? "tape" : "native", tolerances[k], &c);
        }
    free(c.seconds), free(c.event);
}
