/* daedal init MODEL: consistent initial values, and how far they are from the start values. */
#include "json_parts.h"
#include "outputs.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    settings parameters, starts;
    inputs driven;
    bool allow_external;
    double start_time; /* NAN: the model's */
    bool all, json, quiet;
    const char *file, *output;
} request;

enum {
    OPT_OUTPUT = 'o',
    OPT_SET = 256,
    OPT_INPUT,
    OPT_INPUT_MODE,
    OPT_INPUT_HOLD,
    OPT_ALLOW_EXTERNAL,
    OPT_START,
    OPT_START_TIME,
    OPT_ALL,
    OPT_JSON,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"input", required_argument, NULL, OPT_INPUT},
    {"input-mode", required_argument, NULL, OPT_INPUT_MODE},
    {"input-hold", no_argument, NULL, OPT_INPUT_HOLD},
    {"allow-external", no_argument, NULL, OPT_ALLOW_EXTERNAL},
    {"start", required_argument, NULL, OPT_START},
    {"start-time", required_argument, NULL, OPT_START_TIME},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, OPT_JSON},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

static int read_time(const char *text, double *value)
{
    if (parse_double(text, value)) return CLI_OK;
    return complain(CLI_USAGE, "option '--start-time' needs a finite number, not '%s'", text);
}

static int read_output(request *r, const char *path)
{
    r->output = path;
    if (strcmp(path, "-") == 0 || same_ending(path, ".csv") || same_ending(path, ".json"))
        return CLI_OK;
    return complain(CLI_USAGE, "the format of '%s' is unclear: its name must end in .csv or .json",
                    path);
}

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
        switch (id) {
        case OPT_SET: code = settings_add(&r->parameters, "set", optarg); break;
        case OPT_INPUT: code = inputs_add(&r->driven, optarg); break;
        case OPT_INPUT_MODE: code = inputs_mode(&r->driven, optarg); break;
        case OPT_INPUT_HOLD: r->driven.hold = true; break;
        case OPT_ALLOW_EXTERNAL: r->allow_external = true; break;
        case OPT_START: code = settings_add(&r->starts, "start", optarg); break;
        case OPT_START_TIME: code = read_time(optarg, &r->start_time); break;
        case OPT_OUTPUT: code = read_output(r, optarg); break;
        case OPT_ALL: r->all = true; break;
        case OPT_JSON: r->json = true; break;
        case OPT_QUIET: r->quiet = true; break;
        default: code = complain_option(&init_command, argv, id, long_options);
        }
    }
    return code == CLI_OK ? one_text(&init_command, argc, argv, &r->file) : code;
}

/* What was found: the analysis for the roles, the solver for the values. */
typedef struct point {
    dae_problem *problem;
    dae_analysis *analysis;
    double t;
    double *values; /* all variables of the problem; owned */
    int count;
} point;

/* The analysis of a variable; NULL if it is discrete. The analysis keeps their order. */
static const dae_analysis_variable *find_role(const point *p, int i, int *next)
{
    const dae_analysis *a = p->analysis;
    if (!a || *next >= a->variable_count ||
        strcmp(a->variables[*next].name, dae_problem_variable(p->problem, i)) != 0)
        return NULL;
    return &a->variables[(*next)++];
}

static const char *role_text(const dae_analysis_variable *v)
{
    if (!v) return "discrete";
    return v->role == DAE_ROLE_FIXED ? "fixed" : v->role == DAE_ROLE_FREE ? "free" : "implied";
}

/* ---- for people ---- */

enum { MOST_ROWS = 40, NAME_WIDTH = 40 };

static int name_width(const point *p, int rows)
{
    int width = 8;
    for (int i = 0; i < rows; i++) {
        int length = (int)strlen(dae_problem_variable(p->problem, i));
        if (length > width) width = length < NAME_WIDTH ? length : NAME_WIDTH;
    }
    return width;
}

static void print_number(double x)
{
    char text[40] = "";
    if (!isnan(x)) snprintf(text, sizeof text, "%.9g", x == 0.0 ? 0.0 : x);
    say("  %15s", text);
}

/* How far a value is from its start, in words where that is nothing. */
static void print_move(double start, double value)
{
    double move = value - start;
    if (isnan(start)) return;
    if (fabs(move) <= 1e-9 * fmax(fabs(start), fabs(value)))
        say("  %15s", "-");
    else
        say("  %15.3g", move);
}

static void print_point(const request *r, const point *p)
{
    int rows = r->all || p->count <= MOST_ROWS ? p->count : MOST_ROWS, next = 0;
    int width = name_width(p, rows);
    say("%s (%s): consistent initial values at t = %g\n", dae_problem_name(p->problem), r->file,
        p->t);
    if (p->analysis && p->analysis->agree)
        say("  %d degree%s of freedom, %s, %s; %d left to start values\n", p->analysis->freedom,
            p->analysis->freedom == 1 ? "" : "s", PLURAL(p->analysis->fixed_count, "fixed value"),
            PLURAL(p->analysis->condition_count, "initial equation"), p->analysis->to_choose);
    say("\n  %-*s  %-8s  %15s  %15s  %15s\n", width, "", "", "start", "value", "moved by");
    for (int i = 0; i < rows; i++) {
        const dae_analysis_variable *v = find_role(p, i, &next);
        say("  %-*s  %-8s", width, dae_problem_variable(p->problem, i), role_text(v));
        print_number(v ? v->start : NAN);
        print_number(p->values[i]);
        print_move(v ? v->start : NAN, p->values[i]);
        putchar('\n');
    }
    if (rows < p->count) say("  and %d more (--all lists them)\n", p->count - rows);
}

/* ---- for programs ---- */

static void write_json(FILE *out, const void *what)
{
    const point *p = what;
    int next = 0;
    fputs("{\n  \"model\": ", out);
    json_string(out, dae_problem_name(p->problem));
    fprintf(out, ",\n  \"t\": %.17g,\n  \"variables\": [", p->t);
    for (int i = 0; i < p->count; i++) {
        const dae_analysis_variable *v = find_role(p, i, &next);
        fputs(i ? ",\n    {\"name\": " : "\n    {\"name\": ", out);
        json_string(out, dae_problem_variable(p->problem, i));
        fprintf(out, ", \"role\": \"%s\", \"start\": ", role_text(v));
        json_number(out, v ? v->start : NAN);
        fputs(", \"value\": ", out);
        json_number(out, p->values[i]);
        putc('}', out);
    }
    fputs("\n  ]\n}\n", out);
}

/* A name as a field of csv: in quotes, which are doubled inside. */
static void write_csv_name(FILE *out, const char *name)
{
    bool plain = !strpbrk(name, ",\"\n");
    if (!plain) putc('"', out);
    for (; *name; name++) {
        if (*name == '"') putc('"', out);
        putc(*name, out);
    }
    if (!plain) putc('"', out);
}

static void write_csv(FILE *out, const void *what)
{
    const point *p = what;
    int next = 0;
    fputs("name,role,start,value\n", out);
    for (int i = 0; i < p->count; i++) {
        const dae_analysis_variable *v = find_role(p, i, &next);
        write_csv_name(out, dae_problem_variable(p->problem, i));
        fprintf(out, ",%s,", role_text(v));
        if (v && !isnan(v->start)) fprintf(out, "%.17g", v->start);
        fprintf(out, ",%.17g\n", p->values[i]);
    }
}

static int write_results(const request *r, const point *p)
{
    bool json = r->output && same_ending(r->output, ".json");
    int code = r->output ? write_to(r->output, json ? write_json : write_csv, p) : CLI_OK;
    if (code != CLI_OK) return code;
    bool taken = r->output && is_stdout(r->output);
    if (r->json && !taken)
        write_json(stdout, p);
    else if (!r->quiet && !taken)
        print_point(r, p);
    return CLI_OK;
}

/* ---- the search ---- */

static void print_warning(const char *text, void *user)
{
    (void)user;
    warn("%s\n", text);
}

/* Start a solver; its values go to p. Exit code. */
static int find_values(point *p)
{
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.message = print_warning;
    options.interrupt = ask_interrupted;
    p->count = dae_problem_variable_count(p->problem);
    p->values = calloc((size_t)p->count + 1, sizeof *p->values);
    if (!p->values) return complain(CLI_FAILED, "out of memory");
    dae_status status = dae_solver_new(p->problem, &options, &solver, &diag);
    if (status == DAE_OK) {
        status = dae_solver_start(solver, p->t, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_variables(solver, p->t, p->values);
        diag = *dae_solver_diag(solver);
    }
    dae_solver_free(solver);
    if (status == DAE_OK) return CLI_OK;
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the search");
    return complain(CLI_FAILED, "%s", diag.text[0] ? diag.text : dae_status_name(status));
}

/* Roles are told if they can be; values are there without. Exit code. */
static int find_roles(point *p)
{
    dae_status status = dae_problem_analyse(p->problem, p->t, &p->analysis, NULL);
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the analysis");
    if (status != DAE_OK) p->analysis = NULL;
    if (!p->analysis || !p->analysis->singular) return CLI_OK;
    dae_analysis_free(p->analysis);
    p->analysis = NULL;
    return CLI_OK;
}

/* --json and -o - would both be standard output. */
static int check_file(const request *r)
{
    const output list[] = {{"--json", r->json ? "-" : NULL}, {"--output", r->output}};
    return check_outputs(r->file, list, 2);
}

static int run(int argc, char **argv)
{
    request r = {.start_time = NAN};
    point p = {0};
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_file(&r);
    if (code == CLI_OK)
        code = open_text(r.file, &r.parameters, &r.driven, NULL, DAE_ENGINE_TAPE, r.allow_external,
                         &p.problem);
    for (int i = 0; i < r.starts.count && code == CLI_OK; i++)
        code = set_start(p.problem, r.starts.list[i]);
    if (code == CLI_OK) {
        dae_experiment e = dae_problem_experiment(p.problem);
        p.t = !isnan(r.start_time) ? r.start_time : !isnan(e.start) ? e.start : 0.0;
        code = find_values(&p);
    }
    if (code == CLI_OK) code = find_roles(&p);
    if (code == CLI_OK) code = write_results(&r, &p);
    dae_analysis_free(p.analysis);
    dae_problem_free(p.problem);
    free(p.values);
    settings_free(&r.parameters);
    inputs_free(&r.driven);
    settings_free(&r.starts);
    return code;
}

const command init_command = {
    .name = "init",
    .summary = "consistent initial values of a model, and what moved",
    .help = "usage: daedal init MODEL [OPTION ...]\n"
            "\n"
            "  daedal init pendulum.mo                   every variable: start, value, move\n"
            "  daedal init pendulum.mo --start x=0.6     from another start value\n"
            "  daedal init pendulum.mo -o point.csv      into a file\n"
            "\n"
            "Finds values that satisfy all equations at the initial time, hidden constraints\n"
            "included, and the initial equations. Fixed values stay; the others stay as near to\n"
            "their start values as can be. If there are none, a smallest set of fixed values and\n"
            "equations that cannot hold together is named.\n"
            "\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
            "                       what inputs follow, as in 'daedal run'\n"
            "  --allow-external     compile and call the C code of external functions\n"
            "  --start NAME=VALUE   start value of a variable; repeat for more\n"
            "  --start-time T       initial time\n"
            "  -o, --output FILE    name, role, start and value of all variables; .csv or .json;\n"
            "                       - is standard output\n"
            "  --json               one json object on standard output\n"
            "  --all                the list in full; else 40 rows of it\n"
            "  --quiet              messages only\n"
            "\n"
            "Roles: fixed values stay as they are; free ones can be chosen by start values;\n"
            "implied ones follow.\n"
            "\n"
            "Exit codes: 0 found, 1 there are no consistent initial values, or a file could not\n"
            "be written, 2 usage or a wrong name, 3 the model text has errors.\n",
    .run = run,
};
