/* daedal optimise MODEL: optimal controls and parameters. */
#define _POSIX_C_SOURCE 200809L

#include "guess.h"
#include "outputs.h"
#include "signals.h"
#include "whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a request asks for, and what is found. */
typedef struct optimisation {
    session *s;
    dae_optimise_request wanted;
    dae_optimise_range *controls, *varied; /* owned, with their names */
    int own_inputs;                        /* inputs that are no controls */
    guess_rows guess;
    bool by_conditions; /* '--by conditions': necessary conditions, as boundary values */
    int *place;         /* per variable of the session: that of the optimum */
    double *values;     /* of all variables of the optimum */
    dae_optimum *best;
} optimisation;

/* ---- words ---- */

/* Options of 'daedal run' that have a meaning here. */
static const char *const allowed[] = {
    "control",    "vary",           "minimise",  "minimize",      "maximise",
    "maximize",   "integral",       "path",      "end",           "bounds",
    "by",         "guess",          "intervals", "max-intervals", "set",
    "start",      "start-time",     "stop",      "tend",          "rtol",
    "atol",       "points",         "interval",  "iterations",    "vars",
    "variables",  "output",         "csv",       "json",          "plot",
    "stats",      "quiet",          "engine",    "input",         "input-mode",
    "input-hold", "allow-external", NULL};

/* NAME[=LOW:HIGH][@GUESS] */
static int read_range(const char *option, char *word, dae_optimise_range *r)
{
    char *whole = strdup(word), *at = strrchr(word, '@'), *equals = strchr(word, '=');
    if (!whole) return complain(CLI_FAILED, "out of memory");
    if (at) *at = '\0';
    if (equals) *equals = '\0';
    *r = (dae_optimise_range){.guess_given = at != NULL, .bounds_given = equals != NULL};
    bool ok = *word && (!at || parse_double(at + 1, &r->guess)) &&
              (!equals || !at || at > equals) &&
              (!equals || read_bounds(equals + 1, &r->lower, &r->upper));
    int code = CLI_OK;
    if (!ok)
        code = complain(CLI_USAGE,
                        "option '--%s' needs NAME, NAME=LOW:HIGH or NAME=LOW:HIGH@GUESS, not '%s' "
                        "(LOW or HIGH may be left out)",
                        option, whole);
    else if (r->lower > r->upper)
        code = complain(CLI_USAGE, "option '--%s': the bounds of '%s', from %g to %g, are empty",
                        option, word, r->lower, r->upper);
    r->name = ok ? strdup(word) : NULL;
    free(whole);
    return code;
}

/* Lists of such words, separated by commas. */
static int read_ranges(const char *option, const settings *lists, dae_optimise_range **ranges,
                       int *count)
{
    int code = CLI_OK;
    for (int i = 0; i < lists->count; i++)
        for (const char *at = lists->list[i]; *at && code == CLI_OK;) {
            size_t length = name_length(at);
            char *word = strndup(at, length);
            dae_optimise_range *more = realloc(*ranges, ((size_t)*count + 1) * sizeof *more);
            if (more) *ranges = more;
            if (more && word)
                code = read_range(option, word, &more[(*count)++]);
            else
                code = complain(CLI_FAILED, "out of memory");
            free(word);
            at += length;
            at += *at == ',';
        }
    return code;
}

static int read_way(optimisation *q, const settings *by)
{
    static const char *const names[] = {"auto", "collocation", "simulation"};
    if (by->count == 0) return CLI_OK;
    q->by_conditions = strcmp(by->list[0], "conditions") == 0;
    if (q->by_conditions) return CLI_OK;
    for (int k = 0; k < 3; k++)
        if (strcmp(by->list[0], names[k]) == 0) {
            q->wanted.way = (dae_optimise_way)k;
            return CLI_OK;
        }
    return complain(CLI_USAGE,
                    "option '--by' needs auto, collocation, simulation or conditions, not '%s'",
                    by->list[0]);
}

static int read_objective(optimisation *q, const request *r)
{
    const optimise_words *o = &r->optimise;
    if (o->minimise && o->maximise)
        return complain(CLI_USAGE, "options '--minimise' and '--maximise' exclude each other");
    if (!o->minimise && !o->maximise && !o->integral)
        return complain(CLI_USAGE,
                        "minimise what? '--minimise EXPRESSION' at the end, '--maximise' likewise, "
                        "or '--integral EXPRESSION'");
    q->wanted.objective = o->minimise ? o->minimise : o->maximise;
    q->wanted.maximise = o->maximise != NULL;
    q->wanted.integral = o->integral;
    return CLI_OK;
}

/* Controls are driven in the session's own model, which serves for names. */
static int drive_controls(optimisation *q, request *r)
{
    int code = CLI_OK;
    q->own_inputs = r->driven.count;
    for (int k = 0; k < q->wanted.control_count && code == CLI_OK; k++) {
        size_t size = strlen(q->controls[k].name) + 8;
        char *text = malloc(size);
        if (!text) return complain(CLI_FAILED, "out of memory");
        snprintf(text, size, "%s = 0", q->controls[k].name);
        code = inputs_add(&r->driven, text);
        free(text);
    }
    return code;
}

static int read_words(optimisation *q, request *r)
{
    int code = read_objective(q, r);
    if (code == CLI_OK)
        code =
            read_ranges("control", &r->optimise.controls, &q->controls, &q->wanted.control_count);
    if (code == CLI_OK)
        code = read_ranges("vary", &r->optimise.varied, &q->varied, &q->wanted.parameter_count);
    if (code == CLI_OK) code = read_way(q, &r->by);
    if (code == CLI_OK && q->wanted.control_count + q->wanted.parameter_count == 0)
        code = complain(CLI_USAGE,
                        "vary what? '--control NAME=LOW:HIGH' takes inputs of the model, '--vary "
                        "NAME=LOW:HIGH' parameters");
    q->wanted.controls = q->controls;
    q->wanted.parameters = q->varied;
    return code;
}

/* ---- guesses ---- */

static int read_guess(optimisation *q, const char *word)
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

/* The optimum's variables by the session's numbers. */
static int match_variables(optimisation *q)
{
    const dae_problem *p = dae_optimum_problem(q->best);
    q->place = calloc((size_t)q->s->n + 1, sizeof *q->place);
    q->values = calloc((size_t)dae_problem_variable_count(p) + 1, sizeof *q->values);
    if (!q->place || !q->values) return complain(CLI_FAILED, "out of memory");
    for (int v = 0; v < q->s->n; v++)
        q->place[v] = dae_problem_find_variable(p, dae_problem_variable(q->s->problem, v));
    return CLI_OK;
}

static int values_at(void *user, double t)
{
    optimisation *q = user;
    session *s = q->s;
    if (dae_optimum_at(q->best, t, q->values) != DAE_OK)
        return session_complain(s, dae_optimum_diag(q->best)->status,
                                dae_optimum_diag(q->best)->text);
    for (int v = 0; v < s->n; v++) s->y[v] = q->place[v] < 0 ? NAN : q->values[q->place[v]];
    return CLI_OK;
}

static double mesh_at(void *user, int i)
{
    const optimisation *q = user;
    return dae_optimum_mesh(q->best, i);
}

static void print_results(void *user, const request *r);

static whole_solution solution_of(optimisation *q)
{
    return (whole_solution){.s = q->s,
                            .intervals = dae_optimum_statistics(q->best)->intervals,
                            .mesh = mesh_at,
                            .values = values_at,
                            .print = print_results,
                            .user = q};
}

static void print_accuracy(const dae_optimise_stats *c)
{
    if (c->way == DAE_OPTIMISE_SIMULATION) return;
    say("  error     %.2g tolerances in states, as estimated; ", c->error);
    if (isnan(c->deviation))
        say("no simulation%s%s\n", c->deviation_text[0] ? ": " : "", c->deviation_text);
    else if (c->deviation == 0.0)
        say("a simulation with these controls agrees\n");
    else
        say("a simulation is %.2g off (%s at t = %g)\n", c->deviation, c->deviation_text,
            c->deviation_time);
}

/* What bounds and conditions do between points, and what else there is to be told. */
static void print_notes(const dae_optimise_stats *c)
{
    if (c->bound_violation > 1e-6)
        say("  bounds    polynomials of controls leave them by %.2g of the range between points; "
            "values are cut there\n",
            c->bound_violation);
    if (c->path_text[0])
        say("  path      %s is violated by %.2g, most between points\n", c->path_text,
            c->path_violation);
    if (c->note[0]) say("  note      %s\n", c->note);
}

static void print_results(void *user, const request *r)
{
    optimisation *q = user;
    const whole_solution w = solution_of(q);
    const dae_optimise_stats *c = dae_optimum_statistics(q->best);
    const bool runs = c->way == DAE_OPTIMISE_SIMULATION;
    say("%s (%s)\n", q->s->name, r->model_name);
    say("  interval  %g to %g s\n", r->output.t0, r->output.tend);
    if (runs)
        say("  method    runs with sensitivities, rtol %g, atol %g\n", q->wanted.rtol,
            q->wanted.atol);
    else
        say("  method    collocation at 3 Radau points, %s, rtol %g, atol %g\n",
            PLURAL(c->intervals, "interval"), q->wanted.rtol, q->wanted.atol);
    say("  unknown   %s, %s, %s\n", PLURAL(c->states, "state"), PLURAL(c->controls, "control"),
        PLURAL(c->parameters, "parameter"));
    if (!runs && c->at_start < c->states)
        say("  free      %d of %s at the start: no initial equation or fixed start value gives "
            "more\n",
            c->states - c->at_start, PLURAL(c->states, "state"));
    if (runs)
        say("  work      %s, %s, %.3g s\n", PLURAL(c->iterations, "iteration"),
            PLURAL(c->runs, "run"), q->s->seconds);
    else
        say("  work      %s, %s, %.3g s\n",
            c->meshes == 1 ? "1 mesh" : PLURAL(c->meshes, "mesh solution"),
            PLURAL(c->iterations, "iteration"), q->s->seconds);
    print_accuracy(c);
    print_notes(c);
    say("  %s %.10g", q->wanted.maximise ? "maximum  " : "minimum  ", c->objective);
    if (isnan(c->objective_change))
        say("\n");
    else
        say(" (%.2g on the mesh before)\n", c->objective_change);
    for (int k = 0; k < q->wanted.parameter_count; k++)
        say("  %s = %.10g\n", q->varied[k].name, dae_optimum_parameter(q->best, k));
    whole_print_ends(&w, r);
    if (r->stats)
        say("%-28s %d\n%-28s %d\n%-28s %.3g\n", "unknowns of the last mesh", c->unknowns,
            "conditions", c->conditions, "largest violation", c->violation);
}

/* Why a result is not what was asked for. */
static int complain_inaccurate(const optimisation *q, const dae_optimise_stats *c)
{
    const double most = q->wanted.rtol * fabs(c->objective) + q->wanted.atol;
    if (c->way == DAE_OPTIMISE_SIMULATION)
        return complain(CLI_UNFIT, "the result is less accurate than asked for: %s%s",
                        c->note[0] ? c->note : c->path_text,
                        c->note[0] ? "" : " is violated between samples; give more '--intervals'");
    char moved[200] = "there was one mesh only";
    if (!isnan(c->objective_change))
        snprintf(moved, sizeof moved, "the objective moved by %.2g with the last mesh",
                 c->objective_change);
    if (c->integral_error > most || c->gap > most)
        snprintf(moved + strlen(moved), sizeof moved - strlen(moved),
                 ", between points it is off by %.2g, the distance from bounds costs %.2g",
                 c->integral_error, c->gap);
    if (isnan(c->deviation))
        return complain(CLI_UNFIT,
                        "the result is not verified: a run with these controls failed: %s",
                        c->deviation_text);
    if (c->note[0])
        return complain(CLI_UNFIT, "the result is less accurate than asked for: %s", c->note);
    return complain(CLI_UNFIT,
                    "the result is less accurate than asked for: states %.2g tolerances (a "
                    "simulation %.2g), %s%s%s; give '--max-intervals' or a larger '--rtol'",
                    c->error, c->deviation, moved,
                    c->path_text[0] ? ", violated between points: " : "", c->path_text);
}

/* How it ended, for those who only look at the code. */
static int judge(const optimisation *q)
{
    const dae_optimise_stats *c = dae_optimum_statistics(q->best);
    if (c->end == DAE_OPTIMISE_STOPPED) {
        if (signal_caught()) {
            complain(CLI_UNFIT,
                     "interrupted; the last iterate counts (conditions are violated by "
                     "%.2g at most)",
                     c->violation);
            return CLI_SIGNAL + signal_caught();
        }
        return CLI_UNFIT;
    }
    if (c->end == DAE_OPTIMISE_CONVERGED) return CLI_OK;
    return complain_inaccurate(q, c);
}

static int report_optimum(optimisation *q, const request *r)
{
    int code = match_variables(q);
    const whole_solution w = solution_of(q);
    if (code == CLI_OK) code = whole_report(&w, r);
    return code == CLI_OK ? judge(q) : code;
}

/* ---- the work ---- */

static int show_progress(int iteration, int intervals, double objective, double violation,
                         void *user)
{
    optimisation *q = user;
    char text[140];
    snprintf(text, sizeof text, "iteration %d, %d intervals, objective %.8g, violation %.2g",
             iteration, intervals, objective, violation);
    session_tell(q->s, text);
    return signal_caught() != 0;
}

static void ask(optimisation *q, const request *r)
{
    dae_optimise_request *w = &q->wanted;
    w->start = r->output.t0;
    w->end = r->output.tend;
    w->rtol = r->options.rtol;
    w->atol = r->atol >= 0.0 ? r->atol : r->options.rtol;
    w->intervals = (int)r->intervals;
    w->max_intervals = (int)r->max_intervals;
    w->max_iterations = (int)r->optimise.iterations;
    w->path = r->optimise.path.list;
    w->path_count = r->optimise.path.count;
    w->at_end = r->ends.list;
    w->end_count = r->ends.count;
    w->bounds = r->optimise.bounds;
    w->settings = r->starts.list;
    w->setting_count = r->starts.count;
    w->progress = show_progress;
    w->user = q;
}

static int search(optimisation *q, const request *r)
{
    dae_diag diag = {0};
    const dae_model m = {.file = r->model_name,
                         .assignments = r->parameters.list,
                         .assignment_count = r->parameters.count,
                         .inputs = r->driven.list,
                         .input_count = q->own_inputs,
                         .engine = r->engine,
                         .allow_external = r->allow_external};
    double begin = wall_time();
    q->s->wall_start = q->s->wall_shown = begin;
    signals_spare_results();
    dae_status status = dae_optimise(&m, &q->wanted, &q->best, &diag);
    session_clear_progress(q->s);
    q->s->seconds = wall_time() - begin;
    if (status == DAE_ERR_ARGUMENT || status == DAE_ERR_MODEL)
        return complain(CLI_USAGE, "%s", diag.text);
    return status == DAE_OK ? CLI_OK : session_complain(q->s, status, diag.text);
}

/* ---- by necessary conditions ---- */

/* Bounds and conditions on the way have no place in them. */
static int check_smooth(const optimisation *q, const request *r)
{
    const char *name = NULL;
    for (int k = 0; k < q->wanted.control_count; k++)
        if (q->controls[k].bounds_given) name = q->controls[k].name;
    for (int k = 0; k < q->wanted.parameter_count; k++)
        if (q->varied[k].bounds_given) name = q->varied[k].name;
    if (name)
        return complain(CLI_USAGE,
                        "'--by conditions' knows no bounds, and '%s' has some: leave them out, or "
                        "take '--by collocation'",
                        name);
    if (r->optimise.path.count > 0 || r->optimise.bounds)
        return complain(CLI_USAGE,
                        "'--by conditions' knows no conditions on the way ('%s'): take '--by "
                        "collocation'",
                        r->optimise.bounds ? "--bounds" : "--path");
    return CLI_OK;
}

/* "-(text)", which the caller frees; NULL stays NULL. */
static char *negative(const char *text)
{
    size_t size = text ? strlen(text) + 4 : 0;
    char *result = text ? malloc(size) : NULL;
    if (result) snprintf(result, size, "-(%s)", text);
    return result;
}

/* The model of the conditions; s is open on it afterwards. */
static int open_conditions(optimisation *q, const request *r)
{
    const int controls = q->wanted.control_count, varied = q->wanted.parameter_count;
    const char **names = calloc((size_t)(controls + varied) + 1, sizeof *names);
    const bool most = q->wanted.maximise;
    char *least = most ? negative(q->wanted.objective) : NULL, *text = NULL;
    char *rate = most ? negative(q->wanted.integral) : NULL;
    dae_diag diag = {0};
    int code = names && (!most || least) && (!most || !q->wanted.integral || rate)
                   ? CLI_OK
                   : complain(CLI_FAILED, "out of memory");
    for (int k = 0; k < controls && names; k++) names[k] = q->controls[k].name;
    for (int k = 0; k < varied && names; k++) names[controls + k] = q->varied[k].name;
    const dae_optimality_request wanted = {.controls = names,
                                           .control_count = controls,
                                           .integral = rate ? rate : q->wanted.integral,
                                           .at_end = least ? least : q->wanted.objective,
                                           .unknown = names ? names + controls : NULL,
                                           .unknown_count = varied};
    if (code == CLI_OK)
        code = conditions_text(r->model_name, &r->parameters, &r->driven, &r->ends,
                               r->allow_external, &wanted, &text);
    if (code == CLI_OK) {
        const dae_model m = {.text = text, .file = r->model_name, .engine = r->engine};
        if (dae_problem_from_model(&m, &q->s->problem, &diag) != DAE_OK)
            code = complain(CLI_FAILED, "%s", diag.text);
    }
    if (code == CLI_OK) {
        q->s->name = dae_problem_name(q->s->problem);
        q->s->n = dae_problem_variable_count(q->s->problem);
    }
    dae_text_free(text);
    free(names);
    free(least);
    free(rate);
    return code;
}

static int solve_conditions(optimisation *q, request *r)
{
    int code = check_smooth(q, r);
    if (code == CLI_OK) code = open_conditions(q, r);
    if (code == CLI_OK) code = request_open(r, q->s);
    return code == CLI_OK ? boundary_solve(r, q->s) : code;
}

static int optimise_request(optimisation *q, request *r)
{
    if (!r->text)
        return complain(CLI_USAGE, "an optimisation needs a model text, and '%s' is built in",
                        r->model_name);
    int code = read_words(q, r);
    if (code == CLI_OK && q->by_conditions) return solve_conditions(q, r);
    if (code == CLI_OK) code = drive_controls(q, r);
    if (code == CLI_OK) code = request_open(r, q->s);
    if (code == CLI_OK) code = whole_check_recorded(q->s, r->command);
    if (code == CLI_OK) code = read_guess(q, r->guess);
    if (code != CLI_OK) return code;
    ask(q, r);
    code = search(q, r);
    return code == CLI_OK ? report_optimum(q, r) : code;
}

static void optimisation_free(optimisation *q)
{
    dae_optimum_free(q->best);
    guess_free(&q->guess);
    for (int k = 0; k < q->wanted.control_count; k++) free((char *)q->controls[k].name);
    for (int k = 0; k < q->wanted.parameter_count; k++) free((char *)q->varied[k].name);
    free(q->controls);
    free(q->varied);
    free(q->place);
    free(q->values);
}

static int run(int argc, char **argv)
{
    request r = {0};
    session s = {0};
    optimisation q = {.s = &s};
    int code = words_allowed(&optimise_command, allowed, argc, argv);
    if (code != CLI_OK) return code;
    code = request_read(&optimise_command, argc, argv, &r);
    if (code == CLI_OK) code = optimise_request(&q, &r);
    optimisation_free(&q);
    session_close(&s);
    request_free(&r);
    return code;
}

const command optimise_command = {
    .name = "optimise",
    .summary = "optimal controls and parameters, with conditions on the way and at the end",
    .help =
        "usage: daedal optimise MODEL --minimise EXPRESSION --control NAME=LOW:HIGH [OPTION ...]\n"
        "\n"
        "  daedal optimise cart.mo --integral 'u^2' --control u --end 'x = 1' --end 'v = 0'\n"
        "  daedal optimise rocket.mo --maximise h --control u=0:3.5 --vary T=0.1:1 --end 'm >= "
        "0.6'\n"
        "  daedal optimise reactor.mo --maximise c --vary k=0.1:10 --path 'T <= 350'\n"
        "\n"
        "Finds inputs of the model as functions of time, and parameters, for which an expression\n"
        "is least, or largest. Start values that are not fixed are free, too. The interval is\n"
        "that of the model; for a free end scale time by a parameter (docs/optimise.md).\n"
        "\n"
        "  --minimise EXPR      the value of this at the end, over all names of the model\n"
        "  --maximise EXPR      likewise\n"
        "  --integral EXPR      and the integral of this over time\n"
        "  --control NAME[=LOW:HIGH][@GUESS],..   inputs; LOW or HIGH may be left out; without\n"
        "                       bounds those of the model hold (min, max)\n"
        "  --vary NAME[=LOW:HIGH][@GUESS],..      parameters, likewise\n"
        "  --path 'v <= 10'     a condition at all times: a = b, a <= b, a >= b, a <= b <= c;\n"
        "                       repeat it for more\n"
        "  --end 'x = 1'        a condition at the end, likewise, beside those of\n"
        "                       annotation(__Daedal(terminal = {..}))\n"
        "  --bounds             min and max of variables are conditions at all times\n"
        "  --by WAY             collocation: the whole solution is unknown; simulation: runs, for\n"
        "                       parameters of models with events; auto takes what fits;\n"
        "                       conditions: the necessary ones, as boundary values, without\n"
        "                       bounds and conditions on the way\n"
        "  --guess WORD         simulate (with controls at their guesses), start (the values at\n"
        "                       the start, everywhere), or a .csv, .json or .mat file with rows\n"
        "  --intervals N        of the first mesh (20)\n"
        "  --max-intervals N    no more than that (1000)\n"
        "  --iterations N       of the search on a mesh (500)\n"
        "  --rtol X, --atol X   tolerance of states, given the controls (1e-6; atol as rtol)\n"
        "  --set NAME=VALUE, --start NAME=VALUE, --input .., --start-time T, --stop T,\n"
        "  --points N, --interval X, --vars NAME,.., -o FILE, --json FILE, --plot FILE, --stats,\n"
        "  --quiet              as for 'daedal run'; --interval 0: rows at the mesh\n"
        "\n"
        "It needs the library IPOPT (Debian: coinor-libipopt1v5). Control-C prints and writes the\n"
        "last point (exit code 130). Exit code 6: found, but less accurate than asked for.\n"
        "docs/optimise.md tells how to read the results.\n",
    .run = run,
};
