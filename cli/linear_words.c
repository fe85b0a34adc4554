/* What `linearise` and `steady` share. */
#define _POSIX_C_SOURCE 200809L

#include "linear.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

/* The end of a name in a list: a comma outside of brackets, as x[1,2] has them. */
static char *name_end(char *text)
{
    int depth = 0;
    for (; *text && (*text != ',' || depth > 0); text++) depth += (*text == '[') - (*text == ']');
    return text;
}

static int read_names(name_words *names, const char *option, const char *text)
{
    free(names->text);
    free(names->list);
    *names = (name_words){.text = strdup(text), .list = calloc(strlen(text) + 1, sizeof(char *))};
    if (!names->text || !names->list) return complain(CLI_FAILED, "out of memory");
    for (char *name = names->text;;) {
        char *end = name_end(name);
        const bool last = *end == '\0';
        *end = '\0';
        if (*name) names->list[names->count++] = name;
        if (!*name && !(last && names->count == 0))
            return complain(CLI_USAGE, "option '--%s %s': a name is empty", option, text);
        if (last) return CLI_OK;
        name = end + 1;
    }
}

static int read_number(const char *option, const char *text, double least, double *value)
{
    if (parse_double(text, value) && *value > least) return CLI_OK;
    return complain(CLI_USAGE, "option '--%s' needs a finite number%s, not '%s'", option,
                    least >= 0.0 ? " above 0" : "", text);
}

static int read_steps(const char *text, long *value)
{
    if (parse_long(text, value) && *value > 0) return CLI_OK;
    return complain(CLI_USAGE, "option '--max-steps' needs a whole number above 0, not '%s'", text);
}

static int read_at(linear_words *r, const char *text)
{
    r->at_steady = strcmp(text, "steady") == 0;
    if (r->at_steady || parse_double(text, &r->at)) return CLI_OK;
    return complain(CLI_USAGE, "option '--at' needs a time, or the word steady, not '%s'", text);
}

static int read_output(linear_words *r, const char *path)
{
    const bool linear = r->command == &linearise_command;
    r->output = path;
    if (strcmp(path, "-") == 0 || same_ending(path, ".csv") || same_ending(path, ".json"))
        return CLI_OK;
    if (linear && same_ending(path, ".mat")) return CLI_OK;
    return complain(CLI_USAGE, "the format of '%s' is unclear: its name must end in .csv%s .json%s",
                    path, linear ? "," : " or", linear ? " or .mat" : "");
}

static int read_word(linear_words *r, int id)
{
    const double any = -INFINITY;
    switch (id) {
    case LINEAR_SET: return settings_add(&r->parameters, "set", optarg);
    case LINEAR_INPUT: return inputs_add(&r->driven, optarg);
    case LINEAR_INPUT_MODE: return inputs_mode(&r->driven, optarg);
    case LINEAR_INPUT_HOLD: return r->driven.hold = true, CLI_OK;
    case LINEAR_START: return settings_add(&r->starts, "start", optarg);
    case LINEAR_START_TIME: return read_number("start-time", optarg, any, &r->start_time);
    case LINEAR_STOP: return read_number("stop", optarg, any, &r->stop);
    case LINEAR_AT: return read_at(r, optarg);
    case LINEAR_INPUTS: return r->inputs_given = true, read_names(&r->inputs, "inputs", optarg);
    case LINEAR_OUTPUTS: return r->outputs_given = true, read_names(&r->outputs, "outputs", optarg);
    case LINEAR_METHOD: return r->method = optarg, CLI_OK;
    case LINEAR_RTOL: return read_number("rtol", optarg, 0.0, &r->rtol);
    case LINEAR_NEWTON: return r->newton_only = true, CLI_OK;
    case LINEAR_MAX_STEPS: return read_steps(optarg, &r->max_steps);
    case LINEAR_SPAN: return read_number("span", optarg, 0.0, &r->span);
    case LINEAR_OUTPUT: return read_output(r, optarg);
    case LINEAR_ALL: return r->all = true, CLI_OK;
    case LINEAR_JSON: return r->json = true, CLI_OK;
    default: return r->quiet = true, CLI_OK;
    }
}

int linear_words_read(const command *of, int argc, char **argv, const struct option *options,
                      linear_words *r)
{
    int id, code = CLI_OK;
    *r = (linear_words){.command = of, .start_time = NAN, .stop = NAN, .at = NAN, .rtol = NAN};
    r->driven.shift = true;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":o:", options, NULL)) != -1)
        code = id == '?' || id == ':' ? complain_option(of, argv, id, options) : read_word(r, id);
    if (code == CLI_OK) code = one_text(of, argc, argv, &r->file);
    const output list[] = {{"--json", r->json ? "-" : NULL}, {"--output", r->output}};
    return code == CLI_OK ? check_outputs(r->file, list, 2) : code;
}

void linear_words_free(linear_words *r)
{
    settings_free(&r->parameters);
    settings_free(&r->starts);
    inputs_free(&r->driven);
    free(r->inputs.text);
    free(r->inputs.list);
    free(r->outputs.text);
    free(r->outputs.list);
}

/* ---- the point ---- */

static void print_warning(const char *text, void *user)
{
    (void)user;
    if (!signal_caught()) warn("%s\n", text);
}

int linear_complain(dae_status status, const dae_diag *diag)
{
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the search");
    return complain(status == DAE_ERR_ARGUMENT ? CLI_USAGE : CLI_FAILED, "%s",
                    diag->text[0] ? diag->text : dae_status_name(status));
}

/* Times from the words, else from the model. */
static int find_times(const linear_words *r, linear_point *p)
{
    dae_experiment e = dae_problem_experiment(p->problem);
    const double stop = !isnan(r->stop) ? r->stop : e.stop;
    p->t = !isnan(r->start_time) ? r->start_time : !isnan(e.start) ? e.start : 0.0;
    if (r->at < p->t || r->at > stop)
        return complain(
            CLI_USAGE,
            "t = %g is outside of the run, which goes from %g to %g; '--start-time' and "
            "'--stop' change that",
            r->at, p->t, stop);
    return CLI_OK;
}

static dae_options options_of(const linear_words *r, const linear_point *p)
{
    dae_options o = dae_options_default();
    double wanted = dae_problem_experiment(p->problem).tolerance;
    if (wanted > 0.0) o.rtol = wanted;
    if (!isnan(r->rtol)) o.rtol = r->rtol;
    o.atol = 1e-3 * o.rtol;
    o.method = r->method ? r->method : "auto";
    o.message = print_warning;
    o.interrupt = ask_interrupted;
    return o;
}

/* Up to r->at; a run that ends before is told. */
static int run_to(const linear_words *r, linear_point *p)
{
    dae_status status = DAE_OK;
    if (isnan(r->at) || r->at == p->t) return CLI_OK;
    do status = dae_solver_run(p->solver, r->at, NULL, NULL);
    while (status == DAE_EVENT && dae_solver_time(p->solver) < r->at);
    if (status < 0) return linear_complain(status, dae_solver_diag(p->solver));
    p->t = dae_solver_time(p->solver);
    if (p->t >= r->at) return CLI_OK;
    return complain(CLI_FAILED, "the model ends its run at t = %g, before t = %g", p->t, r->at);
}

int linear_point_open(const linear_words *r, linear_point *p)
{
    dae_diag diag = {0};
    *p = (linear_point){0};
    int code =
        open_text(r->file, &r->parameters, &r->driven, NULL, DAE_ENGINE_AUTO, false, &p->problem);
    for (int i = 0; i < r->starts.count && code == CLI_OK; i++)
        code = set_start(p->problem, r->starts.list[i]);
    if (code == CLI_OK) code = find_times(r, p);
    if (code != CLI_OK) return code;
    dae_options o = options_of(r, p);
    dae_status status = dae_solver_new(p->problem, &o, &p->solver, &diag);
    if (status != DAE_OK) return linear_complain(status, &diag);
    status = dae_solver_start(p->solver, p->t, NULL, NULL);
    if (status != DAE_OK) return linear_complain(status, dae_solver_diag(p->solver));
    return run_to(r, p);
}

void linear_point_close(linear_point *p)
{
    dae_solver_free(p->solver);
    dae_problem_free(p->problem);
}

/* ---- requests ---- */

dae_linearise_request linear_request(const linear_words *r)
{
    dae_linearise_request q = {0};
    if (r->inputs_given) q.inputs = r->inputs.list, q.input_count = r->inputs.count;
    q.without_inputs = r->inputs_given && r->inputs.count == 0;
    if (r->outputs_given) q.outputs = r->outputs.list, q.output_count = r->outputs.count;
    return q;
}

int linear_find_steady(const linear_words *r, linear_point *p, dae_steady_state **steady)
{
    dae_diag diag = {0};
    dae_steady_request q = {.newton_only = r->newton_only,
                            .max_steps = r->max_steps,
                            .span = r->span,
                            .linear = linear_request(r)};
    dae_status status = dae_steady(p->solver, &q, steady, &diag);
    return status == DAE_OK ? CLI_OK : linear_complain(status, &diag);
}
