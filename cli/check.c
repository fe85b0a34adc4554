/* daedal check MODEL: translate a model text and say what it is. */
#include "outputs.h"
#include "signals.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct request {
    settings parameters;
    inputs driven;
    bool allow_external;
    bool list, quiet, all, json;
    const char *file, *incidence, *index;
} request;

enum {
    OPT_SET = 256,
    OPT_INPUT,
    OPT_INPUT_MODE,
    OPT_INPUT_HOLD,
    OPT_ALLOW_EXTERNAL,
    OPT_LIST,
    OPT_QUIET,
    OPT_ALL,
    OPT_JSON,
    OPT_INCIDENCE,
    OPT_INDEX
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"input", required_argument, NULL, OPT_INPUT},
    {"input-mode", required_argument, NULL, OPT_INPUT_MODE},
    {"input-hold", no_argument, NULL, OPT_INPUT_HOLD},
    {"allow-external", no_argument, NULL, OPT_ALLOW_EXTERNAL},
    {"list", no_argument, NULL, OPT_LIST},
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"incidence", required_argument, NULL, OPT_INCIDENCE},
    {"index", required_argument, NULL, OPT_INDEX},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        switch (id) {
        case OPT_SET: code = settings_add(&r->parameters, "set", optarg); break;
        case OPT_INPUT: code = inputs_add(&r->driven, optarg); break;
        case OPT_INPUT_MODE: code = inputs_mode(&r->driven, optarg); break;
        case OPT_INPUT_HOLD: r->driven.hold = true; break;
        case OPT_ALLOW_EXTERNAL: r->allow_external = true; break;
        case OPT_LIST: r->list = true; break;
        case OPT_ALL: r->all = true; break;
        case OPT_JSON: r->json = true; break;
        case OPT_INCIDENCE: r->incidence = optarg; break;
        case OPT_INDEX: r->index = optarg; break;
        case OPT_QUIET: r->quiet = true; break;
        default: code = complain_option(&check_command, argv, id, long_options);
        }
    }
    return code == CLI_OK ? one_text(&check_command, argc, argv, &r->file) : code;
}

static void print_number(const char *what, double value)
{
    if (!isnan(value)) say(", %s %g", what, value);
}

static void print_sizes(const request *r, const dae_problem *p)
{
    dae_counts c = dae_problem_counts(p);
    dae_experiment e = dae_problem_experiment(p);
    say("%s (%s): no errors\n", dae_problem_name(p), r->file);
    int equations = c.equations - c.idle + c.definitions + c.outputs;
    say("  %s for %s, ", PLURAL(equations, "equation"), PLURAL(equations, "unknown"));
    say("%s, %s", PLURAL(c.states, "state"), PLURAL(c.nonzeros - c.idle, "partial derivative"));
    if (c.definitions > 0) say(", %s", PLURAL(c.definitions, "definition"));
    if (c.outputs > 0) say(", %s", PLURAL(c.outputs, "output"));
    putchar('\n');
    say("  %s", PLURAL(c.variables, "variable"));
    if (c.eliminated > 0) say(", %d eliminated", c.eliminated);
    if (c.discrete > 0) say(", %d discrete", c.discrete);
    say(", %s (and constants)\n", PLURAL(c.parameters, "parameter"));
    if (c.relations + c.samples + c.whens > 0)
        say("  %s, %s, %s\n", PLURAL(c.relations, "relation"), PLURAL(c.samples, "sample"),
            PLURAL(c.whens, "when-clause"));
    if (c.delays > 0) {
        say("  %s", PLURAL(c.delays, "delay"));
        if (!isnan(c.longest_delay)) say(" of up to %g s", c.longest_delay);
        say(": no step is longer than the shortest\n");
    }
    if (!isnan(e.start) || !isnan(e.stop) || !isnan(e.tolerance) || !isnan(e.interval)) {
        say("  experiment");
        print_number("start", e.start);
        print_number("stop", e.stop);
        print_number("tolerance", e.tolerance);
        print_number("interval", e.interval);
        putchar('\n');
    }
    putchar('\n');
}

/* "mode = fast", "title = "text"", "g = 9.81 m/s2", with what it may be. */
static void print_parameter(const dae_problem *p, int i)
{
    dae_parameter_info info = dae_problem_parameter_info(p, i);
    const char *unit = dae_problem_parameter_unit(p, i);
    double value = dae_problem_parameter_value(p, i);
    say("  %-24s = ", dae_problem_parameter(p, i));
    if (info.text)
        say("\"%s\"", info.text);
    else
        print_value(stdout, info.type, info.literals, info.literal_count, value, 0);
    if (*unit) say(" %s", unit);
    if (isfinite(info.min) || isfinite(info.max)) say("  in [%g, %g]", info.min, info.max);
    if (!info.settable) say("  (not to be set)");
    for (int k = 0; k < info.literal_count; k++)
        say("%s%s", k ? ", " : "  one of ", info.literals[k]);
    if (*info.description) say("  %s", info.description);
    putchar('\n');
}

static void print_list(const dae_problem *p)
{
    puts("parameters and constants");
    for (int i = 0; i < dae_problem_parameter_count(p); i++) print_parameter(p, i);
    puts("variables");
    for (int i = 0; i < dae_problem_variable_count(p); i++)
        say("  %-24s %-10s %s\n", dae_problem_variable(p, i), dae_problem_unit(p, i),
            dae_problem_description(p, i));
}

enum { MOST_ROWS = 20 };

/* What was found, in the form asked for. Exit code. */
static int print_analysis(const request *r, const dae_analysis *a)
{
    report_analysis_options options = {.max_rows = r->all ? 0 : MOST_ROWS};
    report_error error;
    report_status status = REPORT_OK;
    if (r->json)
        status = report_analysis_json(stdout, a, &error);
    else if (!r->quiet)
        status = report_analysis(stdout, a, &options, &error);
    if (status == REPORT_OK && r->incidence)
        status = report_incidence(r->incidence, a, a->model, NULL, &error);
    if (status == REPORT_ERR_FILE && ferror(stdout)) return finish_stdout(CLI_FAILED);
    if (status == REPORT_ERR_ARGUMENT) return complain(CLI_USAGE, "%s", error.text);
    return status == REPORT_OK ? CLI_OK : complain(CLI_FAILED, "%s", error.text);
}

/* A text that no problem can be made of: if its structure is at fault, tell the parts of it. */
static void print_singular(const request *r)
{
    dae_analysis *a = NULL;
    dae_model m = {.file = r->file,
                   .assignments = r->parameters.list,
                   .assignment_count = r->parameters.count,
                   .interrupt = ask_interrupted};
    if (dae_model_analyse(&m, NAN, &a, NULL) != DAE_OK) return;
    if (!r->quiet && !r->json) say("%s (%s)\n", a->model, r->file);
    print_analysis(r, a);
    dae_analysis_free(a);
}

enum { MOST_CULPRITS = 8 };

/* "the equations depend on each other: ..; they leave open: .." */
static int complain_culprits(const dae_analysis *a)
{
    char text[1600] = "";
    size_t at = 0, size = sizeof text;
    for (int k = 0; k < a->culprit_equation_count && k < MOST_CULPRITS && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s %.100s", k ? "," : "",
                               a->equation[a->culprit_equations[k]].name);
    if (a->culprit_equation_count > MOST_CULPRITS && at < size)
        at += (size_t)snprintf(text + at, size - at, " and %d more",
                               a->culprit_equation_count - MOST_CULPRITS);
    for (int k = 0; k < a->culprit_unknown_count && k < MOST_CULPRITS && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s %.60s",
                               k ? "," : ". They leave open:", a->culprit_unknowns[k]);
    return complain(CLI_FAILED, "the equations depend on each other:%s", text);
}

/* Why a model cannot run as it is, in one line: where the start of a run was tried, what that says
 * counts, and no other opinion beside it. Exit code. */
static int verdict(const dae_analysis *a)
{
    if (a->singular)
        return complain(CLI_MODEL, "the equations are structurally singular in the mode that the "
                                   "start values say");
    if (a->consistent) return CLI_OK;
    bool told = strstr(a->initial_text, "depend on each other:") ||
                strstr(a->initial_text, "cannot hold together:");
    if (!a->agree_here && !told) complain_culprits(a);
    if (*a->initial_text) return complain(CLI_FAILED, "%s", a->initial_text);
    return a->agree_here ? CLI_OK : CLI_FAILED;
}

/* "  strangeness      2  sentence" */
static void print_notion(const dae_index_notion *q)
{
    char number[40] = "-";
    if (q->low >= 0 && q->low == q->high) snprintf(number, sizeof number, "%d", q->low);
    if (q->low >= 0 && q->low < q->high)
        snprintf(number, sizeof number, "%d or %d", q->low, q->high);
    say("  %-16s %-6s  %s [%s]\n", q->name, number, q->text, q->citation);
}

/* Characteristic values of every step, where the model is linear. */
static void print_steps(const dae_index_notions *n)
{
    for (int k = 0; k < n->step_count; k++)
        say("%s  step %d: r = %d, a = %d, s = %d, d = %d, u = %d, v = %d\n",
            k ? "" : "  characteristic values of the pair of matrices\n", k, n->steps[k].r,
            n->steps[k].a, n->steps[k].s01, n->steps[k].d1, n->steps[k].left, n->steps[k].right);
}

/* Which index is which: all notions, or the one that is named. Exit code of the printing. */
static int print_indices(const request *r, const dae_problem *problem)
{
    dae_index_notions *n = NULL;
    dae_diag diag = {0};
    bool all = strcmp(r->index, "all") == 0;
    dae_status status = dae_problem_indices(problem, NAN, &n, &diag);
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the analysis");
    if (status != DAE_OK) return complain(CLI_FAILED, "%s", diag.text);
    say("%s (%s), %s at time %g\n", n->model, r->file,
        n->consistent ? "consistent values" : "no consistent values found; near the start values",
        n->t);
    for (int k = 0; k < n->count; k++) {
        if (!all && strcasecmp(r->index, n->notion[k].name) != 0) continue;
        print_notion(&n->notion[k]);
    }
    if (all) print_steps(n);
    dae_index_notions_free(n);
    return finish_stdout(CLI_OK);
}

/* All that is asked for, and whether a run can start. Exit code. */
static int analyse(const request *r, const dae_problem *problem)
{
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    dae_status status = dae_problem_analyse(problem, NAN, &a, &diag);
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the analysis");
    if (status != DAE_OK) return complain(CLI_FAILED, "%s", diag.text);
    int code = CLI_OK;
    if (!r->index)
        code = print_analysis(r, a);
    else if (!r->quiet)
        code = print_indices(r, problem);
    int found = code == CLI_OK ? verdict(a) : code;
    dae_analysis_free(a);
    return found;
}

static int check_index(const char *name)
{
    static const char *const known[] = {"all",         "structural",   "differentiation",
                                        "strangeness", "perturbation", "tractability",
                                        "Kronecker"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcasecmp(name, known[k]) == 0) return CLI_OK;
    return complain(CLI_USAGE,
                    "unknown notion of index '%s': all, structural, differentiation, strangeness, "
                    "perturbation, tractability or Kronecker",
                    name);
}

static int check_files(const request *r)
{
    if (r->index && (r->json || r->incidence || r->list))
        return complain(CLI_USAGE, "--index goes without --json, --incidence and --list");
    if (r->index && check_index(r->index) != CLI_OK) return CLI_USAGE;
    const output list[] = {{"--json", r->json ? "-" : NULL}, {"--incidence", r->incidence}};
    return check_outputs(r->file, list, 2);
}

static int run(int argc, char **argv)
{
    request r = {0};
    dae_problem *problem = NULL;
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_files(&r);
    if (code == CLI_OK) {
        code = open_text(r.file, &r.parameters, &r.driven, NULL, DAE_ENGINE_TAPE, r.allow_external,
                         &problem);
        if (code == CLI_MODEL) print_singular(&r);
    }
    if (code == CLI_OK && !r.quiet && !r.json && !r.index) print_sizes(&r, problem);
    if (code == CLI_OK && r.list && !r.json) print_list(problem);
    if (code == CLI_OK) code = analyse(&r, problem);
    dae_problem_free(problem);
    settings_free(&r.parameters);
    inputs_free(&r.driven);
    return code;
}

const command check_command = {
    .name = "check",
    .summary = "explain a model: errors, index, hidden constraints, initial values",
    .help =
        "usage: daedal check MODEL [OPTION ...]\n"
        "\n"
        "  daedal check pendulum.mo                     what the model is, for people\n"
        "  daedal check pendulum.mo --json              .. and for programs\n"
        "  daedal check pendulum.mo --incidence a.svg   a picture of its equations\n"
        "  daedal check pendulum.mo --index all         which index is which\n"
        "\n"
        "Translates a model text and analyses its equations: numbers of equations and\n"
        "unknowns, index, degrees of freedom, which variables are differential, which\n"
        "initial values are free, fixed or implied, constraints that nobody wrote down,\n"
        "and whether the numbers agree with the structure. Errors and warnings go to\n"
        "standard error with file, line and column.\n"
        "\n"
        "  --set NAME=VALUE     value of a parameter; repeat for more\n"
        "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
        "                       what inputs follow, as in 'daedal run'\n"
        "  --allow-external     compile and call the C code of external functions\n"
        "  --list               list parameters with their values, variables with units\n"
        "  --all                lists in full; else 20 rows of each\n"
        "  --json               one json object on standard output\n"
        "  --incidence FILE     draw the sorted incidence matrix (.svg, .png or .pdf)\n"
        "  --index NOTION       all, structural, differentiation, strangeness, perturbation,\n"
        "                       tractability or Kronecker: the number and why\n"
        "  --quiet              messages only\n"
        "\n"
        "Exit codes: 0 a run can start, 1 it cannot: equations depend on each other, contradict\n"
        "each other or have no consistent initial values, 2 usage or a wrong name, 3 the model\n"
        "text has errors or its equations are structurally singular.\n",
    .run = run,
};
