/* daedal bvp MODEL: solutions with conditions at both ends. */
#include "guess.h"
#include "outputs.h"
#include "signals.h"
#include "whole.h"

#include <stdlib.h>
#include <string.h>

/* What a request asks for, and what is found. */
typedef struct boundary {
    session *s;
    dae_bvp_request wanted;
    name_lists unknown; /* parameters */
    guess_rows guess;
    dae_bvp *b;
} boundary;

/* ---- words ---- */

/* Options of 'daedal run' that have a meaning here. */
static const char *const allowed[] = {
    "end",        "free",      "guess",  "intervals", "max-intervals", "set",    "start",
    "start-time", "stop",      "tend",   "rtol",      "atol",          "points", "interval",
    "vars",       "variables", "output", "csv",       "json",          "plot",   "stats",
    "quiet",      "engine",    "input",  "method",    "stages",        NULL};

/* Names in the order of dae_bvp_method. */
static const char *const method_names[] = {"gauss",     "radau",           "shooting",
                                           "projected", "projected-radau", NULL};

static int read_method(boundary *q, const request *r)
{
    if (!r->boundary_method) return CLI_OK;
    for (int k = 0; method_names[k]; k++)
        if (strcmp(method_names[k], r->boundary_method) == 0) {
            q->wanted.method = (dae_bvp_method)k;
            return CLI_OK;
        }
    return complain(CLI_USAGE,
                    "option '--method': '%s' is none of 'daedal bvp'; there are gauss, radau, "
                    "shooting, projected and projected-radau",
                    r->boundary_method);
}

/* ---- guesses ---- */

static int read_guess(boundary *q, const char *word)
{
    int code = guess_read(&q->guess, q->s, word);
    q->wanted.guess = q->guess.kind;
    q->wanted.rows = q->guess.rows;
    q->wanted.columns = q->guess.columns;
    q->wanted.times = guess_times(&q->guess);
    q->wanted.variables = q->guess.variables;
    q->wanted.values = q->guess.values;
    return code;
}

/* ---- results ---- */

static int values_at(void *user, double t)
{
    const boundary *q = user;
    if (dae_bvp_at(q->b, t, q->s->y) == DAE_OK) return CLI_OK;
    return session_complain(q->s, dae_bvp_diag(q->b)->status, dae_bvp_diag(q->b)->text);
}

static double mesh_at(void *user, int i)
{
    const boundary *q = user;
    return dae_bvp_mesh(q->b, i);
}

static void print_results(void *user, const request *r);

static whole_solution solution_of(boundary *q)
{
    return (whole_solution){.s = q->s,
                            .intervals = dae_bvp_statistics(q->b)->intervals,
                            .mesh = mesh_at,
                            .values = values_at,
                            .print = print_results,
                            .user = q};
}

static void print_method(const boundary *q)
{
    const dae_bvp_request *w = &q->wanted;
    const dae_bvp_stats *c = dae_bvp_statistics(q->b);
    const bool right = w->method == DAE_BVP_RADAU || w->method == DAE_BVP_PROJECTED_RADAU;
    const bool projected = w->method == DAE_BVP_PROJECTED || w->method == DAE_BVP_PROJECTED_RADAU;
    if (w->method == DAE_BVP_SHOOTING)
        say("  method    multiple shooting");
    else
        say("  method    %scollocation at %d %s point%s", projected ? "projected " : "",
            w->stages > 0 ? w->stages : 4, right ? "Radau" : "Gauss", w->stages == 1 ? "" : "s");
    say(", %s, rtol %g, atol %g%s\n", PLURAL(c->intervals, "interval"), w->rtol, w->atol,
        c->simulated ? ", from a simulation" : "");
}

/* The condition of regular problems is many powers of ten below, stiff ones included; that of
 * singular ones is above, as far as collocation and runs are close to their solutions. */
static void print_condition(const dae_bvp_stats *c)
{
    static const double rounding = 1e12;
    if (c->condition > rounding)
        say("  note      the conditions determine the solution up to rounding only (condition "
            "%.1e):\n            there may be others, or none\n",
            c->condition);
}

static void print_results(void *user, const request *r)
{
    boundary *q = user;
    const whole_solution w = solution_of(q);
    const dae_bvp_stats *c = dae_bvp_statistics(q->b);
    say("%s (%s)\n", q->s->name, r->model_name);
    say("  interval  %g to %g s\n", r->output.t0, r->output.tend);
    say("  unknown   %s, %s; %s at the start, %d at the end\n", PLURAL(c->states, "state"),
        PLURAL(c->parameters, "parameter"), PLURAL(c->at_start, "condition"), c->at_end);
    print_method(q);
    say("  work      %s, %s of Newton's method, %.3g s\n",
        PLURAL(c->meshes, q->wanted.method == DAE_BVP_SHOOTING ? "solution" : "mesh solution"),
        PLURAL(c->iterations, "iteration"), q->s->seconds);
    say("  error     %.2g tolerances, as estimated\n", c->error);
    print_condition(c);
    for (int k = 0; k < q->wanted.unknown_count; k++)
        say("  %s = %.10g\n", q->wanted.unknown[k], dae_bvp_parameter(q->b, k));
    whole_print_ends(&w, r);
    if (r->stats)
        say("%-28s %d\n%-28s %ld\n", "unknowns of the system", c->unknowns, "factorisations",
            c->factorisations);
}

/* ---- the work ---- */

static int solve(boundary *q, const request *r)
{
    dae_diag diag = {0};
    double begin = wall_time();
    q->wanted.start = r->output.t0;
    q->wanted.end = r->output.tend;
    q->wanted.rtol = r->options.rtol;
    q->wanted.atol = r->atol >= 0.0 ? r->atol : r->options.rtol;
    q->wanted.intervals = (int)r->intervals;
    q->wanted.stages = (int)r->stages;
    q->wanted.max_intervals = (int)r->max_intervals;
    q->wanted.interrupt = ask_interrupted;
    dae_status status = dae_bvp_new(q->s->problem, &q->wanted, &q->b, &diag);
    q->s->seconds = wall_time() - begin;
    return status == DAE_OK ? CLI_OK : session_complain(q->s, status, diag.text);
}

static int bvp_request(boundary *q, request *r)
{
    int code = whole_check_recorded(q->s, r->command);
    if (code == CLI_OK) code = read_method(q, r);
    if (code == CLI_OK) code = names_read(&q->unknown, &r->free);
    q->wanted.unknown = (const char *const *)q->unknown.list;
    q->wanted.unknown_count = q->unknown.count;
    if (code == CLI_OK) code = read_guess(q, r->guess);
    if (code == CLI_OK) code = solve(q, r);
    if (code != CLI_OK) return code;
    const whole_solution w = solution_of(q);
    return whole_report(&w, r);
}

static void boundary_free(boundary *q)
{
    dae_bvp_free(q->b);
    guess_free(&q->guess);
    names_free(&q->unknown);
}

int boundary_solve(request *r, session *s)
{
    boundary q = {.s = s};
    int code = bvp_request(&q, r);
    boundary_free(&q);
    return code;
}

static int run(int argc, char **argv)
{
    request r = {0};
    session s = {0};
    int code = words_allowed(&bvp_command, allowed, argc, argv);
    if (code != CLI_OK) return code;
    code = request_read(&bvp_command, argc, argv, &r);
    if (code == CLI_OK && !r.text)
        code = complain(CLI_USAGE, "boundary values need a model text, and '%s' is built in",
                        r.model_name);
    if (code == CLI_OK) code = request_open(&r, &s);
    if (code == CLI_OK) code = boundary_solve(&r, &s);
    session_close(&s);
    request_free(&r);
    return code;
}

const command bvp_command = {
    .name = "bvp",
    .summary = "solve a model with conditions at both ends, and for unknown parameters",
    .help =
        "usage: daedal bvp MODEL [OPTION ...]\n"
        "\n"
        "  daedal bvp bratu.mo                          conditions at the end from the model\n"
        "  daedal bvp string.mo --end 'u = 0'           .. or from here\n"
        "  daedal bvp string.mo --end 'u = 0' --free k  k is unknown: one condition more\n"
        "  daedal bvp bratu.mo --start v=10.5 --guess simulate -o u.csv --plot u.svg\n"
        "  daedal bvp throw.mo --method shooting --guess simulate    events on the way\n"
        "\n"
        "Solves a two-point boundary value problem by collocation on an adaptive mesh, or by\n"
        "runs between nodes, for any index. Conditions at the start are the model's initial\n"
        "equations and start values with fixed = true; other start values are guesses.\n"
        "Conditions at the end are those of\n"
        "  annotation(__Daedal(terminal = {u == 0, v == 1}));\n"
        "and those of --end. There must be as many in all as the model has states and unknown\n"
        "parameters.\n"
        "\n"
        "  --end 'LEFT = RIGHT' a condition at the end, over all names of the model; repeat it\n"
        "                       for more\n"
        "  --free NAME,..       parameters that are unknown; their values are guesses\n"
        "  --guess WORD         where the search begins: start (the values at the start,\n"
        "                       everywhere), simulate (a run from there), or a .csv, .json or\n"
        "                       .mat file with rows; by default start, then simulate\n"
        "  --method WORD        gauss (collocation at Gauss points, the default), radau, shooting\n"
        "                       (runs between nodes: events are allowed), projected or\n"
        "                       projected-radau (equations of index 2, projected at mesh points)\n"
        "  --stages N           collocation points of an interval: 1 to 5, for radau 7, too (4)\n"
        "  --intervals N        of the first mesh, or between nodes (10)\n"
        "  --max-intervals N    give up beyond (5000)\n"
        "  --rtol X, --atol X   tolerance of the solution (1e-6; atol as rtol)\n"
        "  --set NAME=VALUE, --start NAME=VALUE, --input .., --start-time T, --stop T,\n"
        "  --points N, --interval X, --vars NAME,.., -o FILE, --json FILE, --plot FILE, --stats,\n"
        "  --quiet              as for 'daedal run'; --interval 0: rows at the mesh\n"
        "\n"
        "docs/bvp.md tells how it works, and what is not supported.\n",
    .run = run,
};
