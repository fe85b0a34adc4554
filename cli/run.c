/* daedal run MODEL: solve a model, show a table, write files. */
#define _POSIX_C_SOURCE 200809L

#include "session.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the words of the command line ask for. Strings are borrowed from argv. */
typedef struct request {
    const char *model_name;
    long size, max_steps;
    dae_options options;
    double tend; /* NAN: the model's */
    grid output;
    bool log_time, stats, quiet;
    const char *csv, *json, *plot, *history, *variables;
} request;

enum option_id {
    OPT_SIZE = 1,
    OPT_METHOD,
    OPT_RTOL,
    OPT_ATOL,
    OPT_TEND,
    OPT_POINTS,
    OPT_INTERVAL,
    OPT_LOG_TIME,
    OPT_FIRST,
    OPT_CSV,
    OPT_JSON,
    OPT_PLOT,
    OPT_VARIABLES,
    OPT_LINEAR_SOLVER,
    OPT_MAX_ORDER,
    OPT_MAX_STEPS,
    OPT_MAX_STEP,
    OPT_ERROR_TEST,
    OPT_INIT,
    OPT_STATS,
    OPT_HISTORY,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"size", required_argument, NULL, OPT_SIZE},
    {"method", required_argument, NULL, OPT_METHOD},
    {"rtol", required_argument, NULL, OPT_RTOL},
    {"atol", required_argument, NULL, OPT_ATOL},
    {"tend", required_argument, NULL, OPT_TEND},
    {"points", required_argument, NULL, OPT_POINTS},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"log-time", no_argument, NULL, OPT_LOG_TIME},
    {"first", required_argument, NULL, OPT_FIRST},
    {"csv", required_argument, NULL, OPT_CSV},
    {"json", required_argument, NULL, OPT_JSON},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"variables", required_argument, NULL, OPT_VARIABLES},
    {"linear-solver", required_argument, NULL, OPT_LINEAR_SOLVER},
    {"max-order", required_argument, NULL, OPT_MAX_ORDER},
    {"max-steps", required_argument, NULL, OPT_MAX_STEPS},
    {"max-step", required_argument, NULL, OPT_MAX_STEP},
    {"error-test", required_argument, NULL, OPT_ERROR_TEST},
    {"init", required_argument, NULL, OPT_INIT},
    {"stats", no_argument, NULL, OPT_STATS},
    {"history", required_argument, NULL, OPT_HISTORY},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

/* ---- options ----------------------------------------------------------------------------------
 */

/* Names in the order of the enum they stand for. */
static const char *const linear_solver_names[] = {"auto",   "dense", "banded",
                                                  "sparse", "gmres", NULL};
static const char *const error_test_names[] = {"auto", "all", "differential", "filtered", NULL};

static const char *const init_names[] = {"auto", "none", "differential", "derivative", NULL};

static const char *word_of(int i, const void *user)
{
    return ((const char *const *)user)[i];
}

/* *value = the place of word in names */
static int choose(const char *option, const char *word, const char *const *names, int *value)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0) {
            *value = i;
            return CLI_OK;
        }
    return complain_unknown(option, word, word_of, names, "see 'daedal help run'");
}

static const char *method_name(int i, const void *user)
{
    (void)user;
    return i == 0 ? "auto" : dae_method_name(i - 1);
}

static int choose_method(const char *word, dae_options *options)
{
    for (int i = 0; method_name(i, NULL); i++)
        if (strcmp(method_name(i, NULL), word) == 0) {
            options->method = word;
            return CLI_OK;
        }
    return complain_unknown("method", word, method_name, NULL, "see 'daedal methods'");
}

static const char *option_text(int id)
{
    for (int i = 0; long_options[i].name; i++)
        if (long_options[i].val == id) return long_options[i].name;
    return "?";
}

/* A number above a limit (or equal, if allowed). */
static int read_number(int id, const char *text, double limit, bool equal_too, double *value)
{
    if (parse_double(text, value) && (*value > limit || (equal_too && *value == limit)))
        return CLI_OK;
    return complain(CLI_USAGE, "option '--%s' needs a number %s %g, not '%s'", option_text(id),
                    equal_too ? "of at least" : "above", limit, text);
}

static int read_whole(int id, const char *text, long low, long high, long *value)
{
    if (parse_long(text, value) && *value >= low && *value <= high) return CLI_OK;
    if (high == LONG_MAX)
        return complain(CLI_USAGE, "option '--%s' needs a whole number of at least %ld, not '%s'",
                        option_text(id), low, text);
    return complain(CLI_USAGE, "option '--%s' needs a whole number from %ld to %ld, not '%s'",
                    option_text(id), low, high, text);
}

static int set_grid(request *r, grid_kind kind)
{
    if (r->output.kind != GRID_STEPS && r->output.kind != kind)
        return complain(CLI_USAGE, "options '--points' and '--interval' exclude each other");
    r->output.kind = kind;
    return CLI_OK;
}

static int read_output_option(request *r, int id, const char *text)
{
    switch (id) {
    case OPT_POINTS:
        if (set_grid(r, GRID_LINEAR) != CLI_OK) return CLI_USAGE;
        return read_whole(id, text, 2, 100000000, &r->output.count);
    case OPT_INTERVAL:
        if (set_grid(r, GRID_INTERVAL) != CLI_OK) return CLI_USAGE;
        return read_number(id, text, 0.0, false, &r->output.interval);
    case OPT_LOG_TIME: r->log_time = true; return CLI_OK;
    case OPT_FIRST: return read_number(id, text, 0.0, false, &r->output.first);
    case OPT_CSV: r->csv = text; return CLI_OK;
    case OPT_JSON: r->json = text; return CLI_OK;
    case OPT_PLOT: r->plot = text; return CLI_OK;
    case OPT_VARIABLES: r->variables = text; return CLI_OK;
    case OPT_HISTORY: r->history = text; return CLI_OK;
    case OPT_STATS: r->stats = true; return CLI_OK;
    default: r->quiet = true; return CLI_OK;
    }
}

static int read_option(request *r, int id, const char *text)
{
    int choice = 0, status;
    long whole = 0;
    switch (id) {
    case OPT_SIZE: return read_whole(id, text, 1, INT_MAX, &r->size);
    case OPT_METHOD: return choose_method(text, &r->options);
    case OPT_RTOL: return read_number(id, text, 0.0, true, &r->options.rtol);
    case OPT_ATOL: return read_number(id, text, 0.0, true, &r->options.atol);
    case OPT_TEND: return read_number(id, text, -HUGE_VAL, false, &r->tend);
    case OPT_MAX_STEP: return read_number(id, text, 0.0, false, &r->options.max_step);
    case OPT_MAX_STEPS: return read_whole(id, text, 0, LONG_MAX, &r->max_steps);
    case OPT_MAX_ORDER:
        status = read_whole(id, text, 1, 100, &whole);
        r->options.max_order = (int)whole;
        return status;
    case OPT_LINEAR_SOLVER:
        status = choose("linear solver", text, linear_solver_names, &choice);
        r->options.linear_solver = (dae_linear_solver)choice;
        return status;
    case OPT_ERROR_TEST:
        status = choose("error test", text, error_test_names, &choice);
        r->options.error_test = (dae_error_test)choice;
        return status;
    case OPT_INIT:
        status = choose("initialisation", text, init_names, &choice);
        r->options.init = (dae_init)choice;
        return status;
    default: return read_output_option(r, id, text);
    }
}

static int read_words(int argc, char **argv, request *r)
{
    int id;
    opterr = 0;
    optind = 1;
    while ((id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        int status = id == '?' || id == ':' ? complain_option(&run_command, argv, id, long_options)
                                            : read_option(r, id, optarg);
        if (status != CLI_OK) return status;
    }
    if (optind == argc)
        return complain(CLI_USAGE, "which model? ('daedal models' lists them, 'daedal help run' "
                                   "explains)");
    if (optind + 1 < argc)
        return complain(CLI_USAGE, "one model at a time; '%s' is one too many", argv[optind + 1]);
    r->model_name = argv[optind];
    return CLI_OK;
}

/* ---- checks before the work -------------------------------------------------------------------
 */

/* The directory of a result must be there and writable, before a long run finds out. */
static int check_writable(const char *path)
{
    char directory[PATH_MAX];
    const char *slash;
    if (!path || strcmp(path, "-") == 0) return CLI_OK;
    slash = strrchr(path, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    if (access(slash == path ? "/" : directory, W_OK | X_OK) == 0) return CLI_OK;
    return complain(CLI_FAILED, "'%s' cannot be written: %s", path, strerror(errno));
}

static int check_plot_name(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!path || (dot && (strcmp(dot, ".svg") == 0 || strcmp(dot, ".png") == 0))) return CLI_OK;
    return complain(CLI_USAGE, "'%s' is no picture I can draw: its name must end in .svg or .png",
                    path);
}

static int check_files(const request *r)
{
    const char *paths[] = {r->csv, r->json, r->plot, r->history};
    int status = check_plot_name(r->plot);
    for (int i = 0; i < 4 && status == CLI_OK; i++) status = check_writable(paths[i]);
    return status;
}

/* The output times; logarithmic ones start at --first, or at 1e-12 of the interval. */
static int finish_grid(request *r, const model *m)
{
    grid *g = &r->output;
    g->t0 = m->t0;
    g->tend = isnan(r->tend) ? m->tend : r->tend;
    double span = fabs(g->tend - g->t0);
    if (!r->log_time)
        return g->first > 0.0 ? complain(CLI_USAGE, "option '--first' goes with '--log-time'")
                              : CLI_OK;
    if (g->kind == GRID_INTERVAL)
        return complain(CLI_USAGE, "options '--interval' and '--log-time' exclude each other");
    if (g->kind == GRID_LINEAR) g->kind = GRID_LOG;
    if (g->first == 0.0) g->first = 1e-12 * span;
    if (g->first >= span && span > 0.0)
        return complain(CLI_USAGE, "option '--first' must lie inside the interval of length %g",
                        span);
    return CLI_OK;
}

/* atol by variable where the model suggests factors; the array is handed to the caller. */
static int model_tolerances(dae_options *options, const model *m, double **by_variable)
{
    *by_variable = NULL;
    if (!m->atol_factor) return CLI_OK;
    *by_variable = calloc((size_t)m->form.n, sizeof(double));
    if (!*by_variable) return complain(CLI_FAILED, "out of memory");
    for (int i = 0; i < m->form.n; i++) (*by_variable)[i] = options->atol * m->atol_factor[i];
    options->atol_by_variable = *by_variable;
    return CLI_OK;
}

static int open_history(session *s, const char *path)
{
    if (!path) return CLI_OK;
    s->history = fopen(path, "w");
    return s->history ? CLI_OK
                      : complain(CLI_FAILED, "'%s' cannot be written: %s", path, strerror(errno));
}

/* ---- results ----------------------------------------------------------------------------------
 */

static int write_csv(const char *path, const report_series *series, report_error *error)
{
    return strcmp(path, "-") == 0 ? report_csv(stdout, series, error)
                                  : report_csv_file(path, series, error);
}

static int write_json(const char *path, const session *s, const report_series *series,
                      report_error *error)
{
    const dae_diag *diag = s->diag.status < 0 ? &s->diag : NULL;
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!file) {
        snprintf(error->text, sizeof error->text, "'%s' cannot be written: %s", path,
                 strerror(errno));
        return REPORT_ERR_FILE;
    }
    int status = report_json(file, series, dae_solver_stats(s->solver), diag, error);
    if (file != stdout && fclose(file) != 0 && status == REPORT_OK) {
        snprintf(error->text, sizeof error->text, "'%s' cannot be written: %s", path,
                 strerror(errno));
        status = REPORT_ERR_FILE;
    }
    return status;
}

/* At most so many curves in a picture and columns on the screen, unless the user lists them. */
enum { MAX_CURVES = 12, MAX_COLUMNS = 6 };

/* Every file that was asked for; one failure does not keep the others from being written. */
static int write_files(const request *r, const session *s, const report_series *series)
{
    report_error error = {0};
    int curves[MAX_CURVES], code = CLI_OK;
    report_plot_options plot = {.title = s->m->title, .log_time = r->log_time};
    if (!r->variables && s->n_recorded > MAX_CURVES) {
        session_spread(s, MAX_CURVES, curves);
        plot.variables = curves;
        plot.variable_count = MAX_CURVES;
    }
    if (r->csv && write_csv(r->csv, series, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    if (r->json && write_json(r->json, s, series, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    if (r->plot && report_plot(r->plot, series, &plot, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    return code;
}

/* The table on the screen: columns spread over the variables where there are too many. */
static void print_table(const request *r, const session *s, const report_series *series)
{
    int columns[MAX_COLUMNS], count = r->variables ? series->n : MAX_COLUMNS;
    const report_table_options table = {.max_rows = 12, .max_columns = r->variables ? 0 : 8};
    const char *names[MAX_COLUMNS];
    double row[MAX_COLUMNS];
    report_series *part = NULL;
    if (series->n <= count || !s->m->sized) {
        report_table(stdout, series, &table, NULL);
        return;
    }
    session_spread(s, count, columns);
    for (int k = 0; k < count; k++) names[k] = series->names[columns[k]];
    if (report_series_new(count, names, &part, NULL) != REPORT_OK) return;
    for (size_t i = 0; i < series->count; i++) {
        for (int k = 0; k < count; k++)
            row[k] = series->rows[i * (size_t)series->n + (size_t)columns[k]];
        if (report_series_add(part, series->times[i], row, NULL) != REPORT_OK) break;
    }
    report_table(stdout, part, &table, NULL);
    report_series_free(part);
}

static void print_result(const request *r, session *s, const report_series *series, int code)
{
    const dae_stats *c = dae_solver_stats(s->solver);
    printf("%s: %s\n", s->m->name, s->m->title);
    if (s->n_recorded < s->m->form.n && !r->variables)
        printf("%d of %d variables are recorded; choose with --variables\n", s->n_recorded,
               s->m->form.n);
    print_table(r, s, series);
    if (code == CLI_OK) session_print_error(s, r->output.tend);
    printf("%ld steps, %ld residuals, %ld Jacobians, %ld factorizations, %.3g s\n", c->steps,
           c->residuals + c->jacobian_residuals, c->jacobians, c->factorizations, s->seconds);
}

static void print_files(const request *r)
{
    const char *paths[] = {r->csv, r->json, r->plot, r->history};
    for (int i = 0; i < 4; i++)
        if (paths[i]) printf("wrote %s\n", paths[i]);
}

/* Integrate and report. A failed run still shows and writes what it reached. */
static int solve(const request *r, session *s)
{
    report_series *series = session_series(s);
    bool quiet =
        r->quiet || (r->csv && strcmp(r->csv, "-") == 0) || (r->json && strcmp(r->json, "-") == 0);
    if (!series) return CLI_FAILED;
    int code = session_integrate(s, &r->output, series);
    if (!quiet && series->count > 0) print_result(r, s, series, code);
    if (!quiet && r->stats) session_print_statistics(s);
    int written = series->count > 0 ? write_files(r, s, series) : CLI_OK;
    if (!quiet && written == CLI_OK) print_files(r);
    report_series_free(series);
    return code != CLI_OK ? code : written;
}

static int run(int argc, char **argv)
{
    request r = {.options = dae_options_default(), .tend = NAN};
    r.options.init = DAE_INIT_NONE; /* the models' start values are consistent */
    session s = {0};
    double *atol = NULL;
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_files(&r);
    if (code == CLI_OK && !(s.m = open_model(r.model_name, r.size))) code = CLI_USAGE;
    if (code == CLI_OK && r.size > 0 && !s.m->sized)
        code = complain(CLI_USAGE, "model '%s' has no size to choose", s.m->name);
    if (code == CLI_OK) code = finish_grid(&r, s.m);
    if (code == CLI_OK) code = session_record(&s, r.variables);
    if (code == CLI_OK) code = model_tolerances(&r.options, s.m, &atol);
    s.max_steps = r.max_steps;
    if (code == CLI_OK) code = session_open(&s, &r.options);
    if (code == CLI_OK) code = open_history(&s, r.history);
    if (code == CLI_OK) code = solve(&r, &s);
    session_close(&s);
    free(atol);
    return code;
}

const command run_command = {
    .name = "run",
    .summary = "solve a model",
    .help =
        "usage: daedal run MODEL [OPTION ...]\n"
        "\n"
        "Solves a built-in model, shows a table of the solution and, where the exact solution is\n"
        "known, the error at the end. 'daedal models' lists the models.\n"
        "\n"
        "Problem\n"
        "  --size N             size of models that have one (grid points a side, nodes)\n"
        "  --tend T             end of the integration (default: the model's)\n"
        "Method\n"
        "  --method NAME        a name from 'daedal methods', or auto\n"
        "  --rtol X, --atol X   relative and absolute tolerance (1e-6, 1e-9); where a model\n"
        "                       suggests factors, atol is multiplied by them\n"
        "  --error-test WHAT    auto, all, differential, filtered: what the error test sees\n"
        "  --linear-solver WHAT auto, dense, banded, sparse, gmres\n"
        "  --max-order K        highest order\n"
        "  --max-step H         longest step\n"
        "  --max-steps N        give up after N steps; 0, the default, for no limit\n"
        "  --init WHAT          auto, none, differential, derivative: which start values are made\n"
        "                       consistent (default: none, the models' are)\n"
        "Output\n"
        "  --points N           N times from start to end, both included (default: every step)\n"
        "  --interval DT        every DT\n"
        "  --log-time           logarithmic times (with --points) and logarithmic time axis\n"
        "  --first T            first of the logarithmic times (1e-12 of the interval)\n"
        "  --variables A,B,..   record these variables, or 'all' (default: all up to 200, else a\n"
        "                       dozen)\n"
        "  --csv FILE           write the rows as csv; - for standard output\n"
        "  --json FILE          write rows, statistics and diagnostic as json; - likewise\n"
        "  --plot FILE          draw the solution into a .svg or .png file\n"
        "  --history FILE       write every attempted step as csv\n"
        "  --stats              print all counters\n"
        "  --quiet              print nothing on success\n"
        "\n"
        "Exit codes: 0 success, 1 the solver failed or a file could not be written, 2 usage.\n"
        "A failed run still writes what it reached.\n",
    .run = run,
};
