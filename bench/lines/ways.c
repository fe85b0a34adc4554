/* The ways to a solution: Daedal from the text and from callbacks, and other codes, each in the
 * form that suits it: mechanisms by mass, force and constraint for HEM5, with constraints on
 * accelerations for all others, on velocities for RADAU5-2 and RADAU-2; what has a narrow band is
 * banded, but for IDA, which takes KLU. */
#define _POSIX_C_SOURCE 200809L
#include "lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- from the text ---- */

/* The size of compared value i: below it, it is measured absolutely */
static double scale_of(const line *l, int i)
{
    return l->hybrid || l->e->mechanism ? 1.0 : model_scale(l->e->model, i);
}

double *line_text_atol(const line *l, const dae_problem *problem, double rtol)
{
    const int n = dae_problem_size(problem);
    double *atol = bench_space((size_t)n, sizeof *atol);
    dae_problem_atol(problem, rtol, rtol, false, atol);
    for (int i = 0; i < l->compared; i++) {
        const char *name = dae_problem_variable(problem, l->position[i]);
        const double scale = scale_of(l, i);
        for (int k = 0; scale != 1.0 && k < n; k++)
            if (!strcmp(name, dae_problem_unknown_name(problem, k))) atol[k] = rtol * scale;
    }
    return atol;
}

static void read_values(const line *l, const dae_problem *problem, dae_solver *solver, run *out)
{
    double *all = bench_space((size_t)dae_problem_variable_count(problem), sizeof *all);
    bool ok = dae_solver_variables(solver, l->tend, all) == DAE_OK;
    for (int i = 0; i < l->compared; i++) out->y[i] = ok ? all[l->position[i]] : NAN;
    free(all);
}

static void solve_problem(const line *l, const dae_problem *problem, const double *atol,
                          double rtol, run *out)
{
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.rtol = rtol, options.atol_by_unknown = atol;
    options.max_steps = 0, options.stop_time = l->tend;
    double start = bench_clock();
    dae_status status = dae_solver_new(problem, &options, &solver, NULL);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, l->tend, NULL, NULL);
    out->seconds = bench_clock() - start;
    if (solver) out->steps = dae_solver_stats(solver)->steps;
    if (status == DAE_OK) read_values(l, problem, solver, out);
    const char *engine =
        solver && dae_solver_engine(solver) == DAE_ENGINE_NATIVE ? "native" : "tape";
    snprintf(out->note, sizeof out->note, "%s %s",
             status == DAE_OK ? dae_solver_method(solver) : dae_status_name(status), engine);
    start = bench_clock();
    dae_solver_free(solver);
    out->seconds += bench_clock() - start;
    out->ok = status == DAE_OK;
}

void line_solve_text(const line *l, dae_problem *problem, double rtol, run *out)
{
    double *atol = line_text_atol(l, problem, rtol);
    solve_problem(l, problem, atol, rtol, out);
    free(atol);
}

static void solve_warm(const way *w, line *l, double rtol, run *out)
{
    line_solve_text(l, w == &ways[WAY_NATIVE] ? l->native : l->tape, rtol, out);
}

/* Translation, plan and solution with the engine that a user gets, and no module in the cache. The
 * time is that of this process: a compiler beside it is not counted. */
static void solve_first(const way *w, line *l, double rtol, run *out)
{
    (void)w;
    char cache[] = "/tmp/bench_lines_XXXXXX", command[64];
    double *atol = line_text_atol(l, l->tape, rtol);
    if (!mkdtemp(cache)) abort();
    setenv("DAEDAL_CACHE_DIR", cache, 1);
    double start = bench_clock();
    dae_problem *problem = line_translate(l, DAE_ENGINE_AUTO);
    double translation = bench_clock() - start;
    if (problem) solve_problem(l, problem, atol, rtol, out);
    start = bench_clock();
    dae_problem_free(problem);
    out->seconds += translation + bench_clock() - start;
    unsetenv("DAEDAL_CACHE_DIR");
    snprintf(command, sizeof command, "rm -rf %s", cache);
    if (rmdir(cache) && system(command)) fprintf(stderr, "%s stays\n", cache);
    free(atol);
}

/* ---- from callbacks ---- */

static void solve_mechanism(const contender *c, const line *l, double rtol, run *out)
{
    outcome o = {.q = out->y};
    c->solve(c, l->e->mechanism, rtol, &o);
    out->ok = o.ok, out->seconds = o.seconds, out->steps = o.steps;
    snprintf(out->note, sizeof out->note, "%s", o.note);
}

static void solve_entry(const code *c, const entry *e, double rtol, run *out)
{
    const size_t n = (size_t)e->model->form.n;
    double *atol = bench_space(n, sizeof *atol), *y = bench_space(n, sizeof *y), *to = out->y;
    for (size_t i = 0; i < n; i++) atol[i] = rtol * model_scale(e->model, (int)i);
    out->y = y;
    c->solve(c, e, &(task){e->model, rtol, atol, NULL}, out);
    memcpy(to, y, (size_t)e->compared * sizeof *y);
    out->y = to;
    free(atol), free(y);
}

static void solve_callbacks(const way *w, line *l, double rtol, run *out)
{
    (void)w;
    const code ours = {"callbacks", true, "auto", NULL, radau_solve_ours};
    if (l->hybrid)
        event_run_daedal(l->hybrid, rtol, out);
    else if (l->e->mechanism)
        solve_mechanism(&half_explicit_auto, l, rtol, out);
    else
        solve_entry(&ours, l->e, rtol, out);
}

/* ---- other codes ---- */

static const contender *find_contender(const char *name)
{
    for (int i = 0; i < half_explicit_count; i++)
        if (!strcmp(half_explicit_contenders[i].name, name)) return &half_explicit_contenders[i];
    return NULL;
}

/* By its name up to a hyphen */
static const code *find_code(const char *name)
{
    const size_t length = strcspn(name, "-");
    for (int i = 0; i < radau_code_count; i++)
        if (strlen(radau_codes[i].name) == length && !strncmp(radau_codes[i].name, name, length))
            return &radau_codes[i];
    return NULL;
}

static void solve_other(const way *w, line *l, double rtol, run *out)
{
    const contender *c = l->e && l->e->mechanism ? find_contender(w->name) : NULL;
    if (l->hybrid)
        (strcmp(w->name, "IDA") ? event_run_dasrt : event_run_ida)(l->hybrid, rtol, out);
    else if (c)
        solve_mechanism(c, l, rtol, out);
    else
        solve_entry(find_code(w->name), strchr(w->name, '-') ? l->second : l->e, rtol, out);
}

/* ---- all ---- */

static bool always(const line *l)
{
    (void)l;
    return true;
}

static bool is_mechanism(const line *l)
{
    return l->second != NULL;
}

static bool is_smooth(const line *l)
{
    return l->e != NULL;
}

const way ways[] = {
    {"native", true, always, solve_warm},          {"tape", true, always, solve_warm},
    {"first", true, always, solve_first},          {"callbacks", true, always, solve_callbacks},
    {"RADAU5", false, is_smooth, solve_other},     {"RADAU", false, is_smooth, solve_other},
    {"RODAS", false, is_smooth, solve_other},      {"SEULEX", false, is_smooth, solve_other},
    {"HEM5", false, is_mechanism, solve_other},    {"RADAU5-2", false, is_mechanism, solve_other},
    {"RADAU-2", false, is_mechanism, solve_other}, {"IDA", false, always, solve_other},
    {"DASSL", false, always, solve_other}}; /* with events: DASRT */
const int way_count = sizeof ways / sizeof *ways;

const char *ways_open(void)
{
    const char *missing = radau_open();
    if (!missing) missing = half_explicit_open();
    return missing ? missing : event_codes_open();
}
