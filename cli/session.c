/* Solving a model for the command line. */
#define _POSIX_C_SOURCE 200809L

#include "session.h"
#include "checkpoint.h"
#include "outputs.h"
#include "signals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- grid -------------------------------------------------------------------------------------
 */

bool grid_time(const grid *g, long k, double *t)
{
    double span = g->tend - g->t0, sign = span < 0.0 ? -1.0 : 1.0;
    double tiny = 1e-9 * fmin(g->interval, fabs(span)); /* a last interval of rounding is none */
    switch (g->kind) {
    case GRID_STEPS:
    case GRID_NONE: return false;
    case GRID_LINEAR:
        *t = k == g->count - 1 ? g->tend : g->t0 + span * (double)k / (double)(g->count - 1);
        return k < g->count;
    case GRID_INTERVAL:
        *t = g->t0 + sign * (double)k * g->interval;
        if ((g->tend - *t) * sign < tiny) *t = g->tend;
        return (double)(k - 1) * g->interval < fabs(span) - tiny;
    case GRID_LOG:
        *t = k == 0 ? g->t0
             : k == g->count
                 ? g->tend
                 : g->t0 + sign * g->first *
                               pow(fabs(span) / g->first, (double)(k - 1) / (double)(g->count - 1));
        return k <= g->count;
    }
    return false;
}

/* ---- progress, history ----------------------------------------------------------
 */

double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { BAR_WIDTH = 30 };

/* Whether progress is shown now: at most five times a second, once the work has taken a second.
 * Nobody asks for the time where none is shown: short runs of a sweep would feel it. */
static bool progress_due(session *s)
{
    double now = s->progress ? wall_time() : 0.0;
    if (!s->progress || now - s->wall_start < 1.0 || now - s->wall_shown < 0.2) return false;
    s->wall_shown = now;
    s->progress_on_screen = true;
    return true;
}

void session_begin_progress(session *s, double t0, double tend)
{
    s->t0 = t0;
    s->tend = tend;
    s->wall_start = s->wall_shown = wall_time();
}

/* How much of the interval is done; of none, as that of a start, nothing is shown. */
static void show_progress(session *s, double t)
{
    double done = (t - s->t0) / (s->tend - s->t0);
    if (!isfinite(done) || !progress_due(s)) return;
    int filled = (int)(fmin(fmax(done, 0.0), 1.0) * BAR_WIDTH);
    fprintf(stderr, "\r\033[K[%.*s%*s] %3.0f %%  t = %.6g  %.0f s", filled,
            "##############################", BAR_WIDTH - filled, "", 100.0 * done, t,
            s->wall_shown - s->wall_start);
    fflush(stderr);
}

void session_tell(session *s, const char *text)
{
    if (!progress_due(s)) return;
    fprintf(stderr, "\r\033[K%s  %.0f s", text, s->wall_shown - s->wall_start);
    fflush(stderr);
}

void session_clear_progress(session *s)
{
    if (s->progress_on_screen) fputs("\r\033[K", stderr);
    s->progress_on_screen = false;
}

/* What the model says while it runs. */
static void show_message(const char *text, void *user)
{
    session_clear_progress(user);
    if (signal_caught()) return; /* what is said while all is given up is of no interest */
    bool labelled = strncmp(text, "note:", 5) == 0 || strstr(text, "warning:");
    warn("daedal: %s%s\n", labelled ? "" : "warning: ", text);
}

static const char *result_name(dae_step_result result)
{
    static const char *const names[] = {"accepted",   "error_test", "convergence",
                                        "evaluation", "bound",      "singular"};
    return (size_t)result < sizeof names / sizeof names[0] ? names[result] : "?";
}

static void watch_step(const dae_step_info *info, void *user)
{
    session *s = user;
    if (s->history.stream) {
        const char *name =
            info->variable >= 0 ? dae_problem_unknown_name(s->problem, info->variable) : "";
        fprintf(s->history.stream, "%.17g,%.17g,%d,%s,%.6g,%d,%.6g,\"%s\"\n", info->t, info->h,
                info->order, result_name(info->result), info->error, info->newton_iterations,
                info->convergence_rate, name);
    }
    if (info->result == DAE_STEP_ACCEPTED) show_progress(s, info->t + info->h);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

const char *session_name(const session *s, int i)
{
    return i < s->n ? dae_problem_variable(s->problem, i)
                    : dae_problem_derivative(s->problem, i - s->n);
}

const char *session_unit(const session *s, int i)
{
    return i < s->n ? dae_problem_unit(s->problem, i)
                    : dae_problem_derivative_unit(s->problem, i - s->n);
}

const char *session_description(const session *s, int i)
{
    return i < s->n ? dae_problem_description(s->problem, i) : "";
}

static const char *variable_name(int i, const void *user)
{
    const session *s = user;
    return i < s->n_all ? session_name(s, i) : NULL;
}

/* place[0 .. count-1] = count of the numbers 0 .. n-1, spread evenly; all of them if count = n */
static void spread(int n, int count, int *place)
{
    for (int k = 0; k < count; k++) place[k] = (int)((2L * k + 1) * n / (2L * count));
}

void session_spread(const session *s, int count, int *columns)
{
    spread(s->n_shown, count, columns);
}

bool pattern_fits(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == *name || (*pattern == '?' && *pattern)) {
            pattern++, name++;
        } else if (*name == '\'') {
            name++; /* quotes need not be written */
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

/* Once is enough. */
static void record(session *s, int i, bool *seen)
{
    if (seen[i]) return;
    seen[i] = true;
    s->recorded[s->n_recorded++] = i;
    if (i >= s->n) s->derivatives = true;
}

/* Record what a word means: a variable, a derivative, an array, a record, or all that fit. */
static int record_word(session *s, const char *word, bool *seen)
{
    char see[80] = "'daedal check --list' shows all of a model";
    bool pattern = strpbrk(word, "*?") != NULL, found = false;
    bool derivative = strncmp(word, "der(", 4) == 0;
    int exact = dae_problem_find_variable(s->problem, word);
    if (exact >= 0) record(s, exact, seen);
    for (int i = 0; i < s->n_all && exact < 0; i++) {
        const char *name = session_name(s, i);
        if (i >= s->n && !derivative) break; /* patterns mean variables, unless they begin so */
        if (pattern ? !pattern_fits(word, name) : !names_match(word, name)) continue;
        found = true;
        record(s, i, seen);
    }
    if (exact >= 0 || found) return CLI_OK;
    if (s->m) snprintf(see, sizeof see, "see 'daedal models %s'", s->m->name);
    if (pattern) return complain(CLI_USAGE, "no variable fits '%s' (%s)", word, see);
    if (is_parameter(s->problem, word))
        return complain(CLI_USAGE,
                        "'%s' is a parameter, not a variable; its value is in .json and .mat files",
                        word);
    return complain_unknown("variable", word, variable_name, s, see);
}

static int record_list(session *s, const char *list)
{
    bool *seen = calloc((size_t)s->n_all, sizeof *seen);
    int code = seen ? CLI_OK : complain(CLI_FAILED, "out of memory");
    for (const char *at = list; code == CLI_OK && (*at || at == list);) {
        size_t length = name_length(at);
        char *word = strndup(at, length);
        code = word ? record_word(s, word, seen) : complain(CLI_FAILED, "out of memory");
        free(word);
        at += length + (at[length] == ',');
    }
    free(seen);
    return code;
}

/* min and max of the variables, if any has one */
static bool note_bounds(session *s)
{
    bool any = false;
    size_t n = (size_t)s->n;
    s->lower = calloc(2 * n, sizeof *s->lower);
    s->warned = calloc(n, sizeof *s->warned);
    if (!s->lower || !s->warned) return false;
    s->upper = s->lower + n;
    for (int i = 0; i < s->n; i++) {
        dae_variable_info info = dae_problem_variable_info(s->problem, i);
        s->lower[i] = info.min;
        s->upper[i] = info.max;
        if (isfinite(info.min) || isfinite(info.max)) any = true;
    }
    if (any) return true;
    free(s->lower);
    s->lower = NULL;
    return true;
}

int session_record(session *s, const char *list, bool all_derivatives)
{
    int n = s->n, code = CLI_OK;
    s->n_all = n + dae_problem_derivative_count(s->problem);
    s->y = calloc((size_t)s->n_all, sizeof *s->y);
    s->row = calloc((size_t)s->n_all, sizeof *s->row);
    s->recorded = calloc((size_t)s->n_all, sizeof *s->recorded);
    if (!s->y || !s->row || !s->recorded || !note_bounds(s))
        return complain(CLI_FAILED, "out of memory");
    if (list && strcmp(list, "all") != 0) {
        code = record_list(s, list);
    } else {
        s->n_recorded = !list && n > MANY_VARIABLES ? CHOSEN_VARIABLES : n;
        spread(n, s->n_recorded, s->recorded);
    }
    s->n_shown = s->n_recorded;
    for (int i = n; all_derivatives && i < s->n_all; i++) s->recorded[s->n_recorded++] = i;
    if (s->n_recorded > s->n_shown) s->derivatives = true;
    return code;
}

int session_record_more(session *s, const more_columns *more)
{
    double *row = realloc(s->row, (size_t)(s->n_all + more->count) * sizeof *row);
    if (!row) return complain(CLI_FAILED, "out of memory");
    s->row = row;
    s->more = *more;
    return CLI_OK;
}

/* Wrong arguments are the caller's; everything else is a failure. */
static int complain_diagnostic(session *s, const dae_diag *diag)
{
    s->diag = *diag;
    bool usage = diag->status == DAE_ERR_ARGUMENT || diag->status == DAE_ERR_UNSUPPORTED;
    session_clear_progress(s);
    if (diag->status == DAE_ERR_INTERRUPTED && !s->solver)
        return complain_interrupted("during the start");
    if (diag->status == DAE_ERR_INTERRUPTED) return complain_interrupted("at t = %g", diag->t);
    const char *text = diag->text[0] ? diag->text : dae_status_name(diag->status);
    return complain(usage ? CLI_USAGE : CLI_FAILED, "%s", text);
}

int session_open_builtin(session *s)
{
    dae_diag diag = {0};
    if (dae_problem_from_residual(&s->m->form, &s->problem, &diag) < 0)
        return complain_diagnostic(s, &diag);
    s->name = s->m->name;
    s->t0 = s->m->t0;
    s->n = dae_problem_variable_count(s->problem);
    return CLI_OK;
}

int session_open_text(session *s, const char *file, const settings *parameters,
                      const inputs *driven, const settings *unknowns, const settings *ends,
                      dae_engine engine, bool allow_external)
{
    double begin = wall_time();
    int code = open_text_ends(file, parameters, driven, unknowns, ends, engine, allow_external,
                              &s->problem);
    if (code != CLI_OK) return code;
    s->name = dae_problem_name(s->problem);
    s->n = dae_problem_variable_count(s->problem);
    s->translation = wall_time() - begin;
    return CLI_OK;
}

void session_listen(session *s, dae_options *options)
{
    options->monitor = watch_step;
    options->interrupt = ask_interrupted;
    options->message = show_message;
    options->user = s;
    s->progress = isatty(STDERR_FILENO) != 0;
    s->wall_start = s->wall_shown = wall_time();
}

int session_complain(session *s, dae_status status, const char *text)
{
    dae_diag diag = {.status = status, .t = s->t};
    snprintf(diag.text, sizeof diag.text, "%s", text);
    return complain_diagnostic(s, &diag);
}

int session_prepare(session *s, dae_options *options)
{
    dae_diag diag = {0};
    session_listen(s, options);
    s->rtol = options->rtol;
    s->atol = options->atol;
    if (dae_solver_new(s->problem, options, &s->solver, &diag) < 0)
        return complain_diagnostic(s, &diag);
    if (options->precision == DAE_PRECISION_DOUBLE) return CLI_OK;
    s->digits = calloc((size_t)s->n + (size_t)s->n_all + (size_t)s->more.count, DAE_DIGITS_SIZE);
    return s->digits ? CLI_OK : complain(CLI_FAILED, "out of memory");
}

static bool is_number(const session *s, int parameter)
{
    return dae_problem_parameter_info(s->problem, parameter).type != DAE_TYPE_STRING;
}

/* Units and descriptions of a model text, and its parameters. */
static report_status label_series(const session *s, report_series *series, report_error *error)
{
    size_t count = (size_t)(s->n_recorded + s->more.count);
    const char **units = calloc(2 * count, sizeof *units), **texts = units ? units + count : NULL;
    if (!units) return REPORT_ERR_MEMORY;
    for (int k = 0; k < s->n_recorded; k++) {
        units[k] = session_unit(s, s->recorded[k]);
        texts[k] = session_description(s, s->recorded[k]);
    }
    for (int k = 0; k < s->more.count; k++) {
        units[s->n_recorded + k] = s->more.units[k];
        texts[s->n_recorded + k] = s->more.descriptions[k];
    }
    report_status status = report_series_label(series, "time", "s", units, texts, error);
    free(units);
    int all = dae_problem_parameter_count(s->problem), parameters = 0;
    for (int i = 0; i < all; i++) parameters += is_number(s, i);
    if (status == REPORT_OK) status = report_series_parameters(series, parameters, error);
    for (int i = 0, at = 0; i < all && status == REPORT_OK; i++)
        if (is_number(s, i))
            status =
                report_series_set_parameter(series, at++, dae_problem_parameter(s->problem, i),
                                            dae_problem_parameter_unit(s->problem, i),
                                            dae_problem_parameter_info(s->problem, i).description,
                                            dae_problem_parameter_value(s->problem, i), error);
    return status;
}

/* The variable of which number i is an alias, among variables and derivatives; -1: a constant. */
static int alias_of(const session *s, const int *derivative_of, int i, int *sign)
{
    int x = i < s->n ? i : dae_problem_derivative_of(s->problem, i - s->n);
    dae_variable_info info = dae_problem_variable_info(s->problem, x);
    *sign = info.alias_sign;
    return i < s->n || info.alias < 0 ? info.alias : derivative_of[info.alias];
}

/* Tell the series which columns are others' once more. */
static report_status alias_series(const session *s, report_series *series, report_error *error)
{
    int *column = calloc((size_t)(s->n_all + s->n), sizeof *column), *derivative_of, sign;
    if (!column) return REPORT_ERR_MEMORY;
    derivative_of = column + s->n_all;
    for (int i = 0; i < s->n_all; i++) column[i] = -1;
    for (int k = 0; k < s->n_recorded; k++) column[s->recorded[k]] = k;
    for (int k = 0; k < s->n_all - s->n; k++)
        derivative_of[dae_problem_derivative_of(s->problem, k)] = s->n + k;
    report_status status = REPORT_OK;
    for (int k = 0; k < s->n_recorded && status == REPORT_OK; k++) {
        int i = s->recorded[k], of = alias_of(s, derivative_of, i, &sign);
        if (of < 0)
            status = report_series_constant(series, k, error);
        else if (of != i && column[of] >= 0)
            status = report_series_alias(series, k, column[of], sign, error);
    }
    free(column);
    return status;
}

/* An empty series of the recorded variables; NULL after a message. */
static report_series *make_series(const session *s)
{
    report_series *series = NULL;
    report_error error = {0};
    int count = s->n_recorded + s->more.count;
    const char **names = calloc((size_t)count, sizeof *names);
    if (!names) {
        complain(CLI_FAILED, "out of memory");
        return NULL;
    }
    for (int k = 0; k < s->n_recorded; k++) names[k] = session_name(s, s->recorded[k]);
    for (int k = 0; k < s->more.count; k++) names[s->n_recorded + k] = s->more.names[k];
    report_status status = report_series_new(count, names, &series, &error);
    free(names);
    if (status == REPORT_OK && !s->m) status = label_series(s, series, &error);
    if (status == REPORT_OK && !s->m) status = alias_series(s, series, &error);
    if (status == REPORT_OK) report_series_show(series, s->n_shown + s->more.count);
    if (status == REPORT_OK) return series;
    complain(CLI_FAILED, "%s", error.text[0] ? error.text : "out of memory");
    report_series_free(series);
    return NULL;
}

/* ---- recording --------------------------------------------------------------------------------
 */

int recorder_open(recorder *r, const session *s, const char *csv, bool keep, const char *near)
{
    report_error error = {0};
    *r = (recorder){.csv = csv, .keep = keep, .last = NAN};
    r->checkpoint = s->checkpoint;
    r->series = make_series(s);
    if (!r->series) return CLI_FAILED;
    report_status status = REPORT_OK;
    if (near && !is_stdout(near)) status = report_series_spool(r->series, near, &error);
    if (csv && is_stdout(csv))
        r->stream = stdout;
    else if (csv && status == REPORT_OK)
        status = report_file_open(&r->file, csv, &error);
    if (r->file.stream) r->stream = r->file.stream;
    return status == REPORT_OK ? CLI_OK : complain(CLI_FAILED, "%s", error.text);
}

int recorder_add(recorder *r, double t, const double *y, const char *digits)
{
    report_error error = {0};
    report_status status = REPORT_OK;
    int n = r->series->shown;
    if (r->stream && r->count == 0) status = report_csv_labels(r->stream, r->series, &error);
    if (r->stream && status == REPORT_OK)
        status = digits ? report_csv_digits(r->stream, n, t, digits, &error)
                        : report_csv_row(r->stream, n, t, y, &error);
    if (status != REPORT_OK) {
        r->failed = true;
        r->stream = NULL;
        if (!r->file.stream) return finish_stdout(CLI_FAILED);
        return complain(CLI_FAILED, "'%s' cannot be written after %s. %s", r->csv,
                        PLURAL((long)r->count, "row"), error.text);
    }
    if (r->full) return CLI_FAILED;
    if (r->keep) status = report_series_add(r->series, t, y, &error);
    r->full = status != REPORT_OK;
    if (r->full) return complain(CLI_FAILED, "%s", error.text);
    r->count++;
    r->last = t;
    return checkpoint_row(r->checkpoint, r->series->n, t, y, digits);
}

int recorder_finish(recorder *r)
{
    report_error error = {0};
    if (r->failed) return CLI_FAILED;
    if (r->stream && !r->file.stream) return finish_stdout(CLI_OK);
    if (!r->file.stream || r->count == 0) return CLI_OK;
    return report_file_commit(&r->file, &error) == REPORT_OK
               ? CLI_OK
               : complain(CLI_FAILED, "%s", error.text);
}

void recorder_close(recorder *r)
{
    report_file_discard(&r->file);
    report_series_free(r->series);
    *r = (recorder){0};
}

/* ---- integrating ------------------------------------------------------------------------------
 */

void session_watch_bounds(session *s, double t)
{
    for (int i = 0; s->lower && i < s->n; i++) {
        double y = s->y[i], bound = y < s->lower[i] ? s->lower[i] : s->upper[i];
        bool out = y < s->lower[i] || y > s->upper[i];
        if (!out || s->warned[i] || fabs(y - bound) <= s->rtol * fabs(bound) + s->atol) continue;
        s->warned[i] = true;
        session_clear_progress(s);
        warn("daedal: warning: %s = %.9g at t = %g lies %s its %s = %g\n", session_name(s, i), y, t,
             y < bound ? "below" : "above", y < bound ? "min" : "max", bound);
    }
}

/* s->y = all variables and, if some are recorded, derivatives at time t inside the last step */
static int read_values(session *s, double t)
{
    dae_status status = dae_solver_variables(s->solver, t, s->y);
    if (status == DAE_OK && s->derivatives)
        status = dae_solver_derivatives(s->solver, t, s->y + s->n);
    if (status == DAE_OK && s->digits) status = dae_solver_digits(s->solver, t, s->digits);
    return status < 0 ? complain_diagnostic(s, dae_solver_diag(s->solver)) : CLI_OK;
}

/* The recorded values with all digits; derivatives have those of doubles. */
static const char *row_digits(session *s)
{
    char *to = s->digits + (size_t)s->n * DAE_DIGITS_SIZE;
    for (int k = 0; k < s->n_recorded; k++) {
        int i = s->recorded[k];
        char *text = to + (size_t)k * DAE_DIGITS_SIZE;
        if (i < s->n)
            memcpy(text, session_digits(s, i), DAE_DIGITS_SIZE);
        else
            snprintf(text, DAE_DIGITS_SIZE, "%.17g", s->y[i]);
    }
    for (int k = s->n_recorded; k < s->n_recorded + s->more.count; k++)
        snprintf(to + (size_t)k * DAE_DIGITS_SIZE, DAE_DIGITS_SIZE, "%.17g", s->row[k]);
    return to;
}

const char *session_digits(const session *s, int i)
{
    return s->digits && i < s->n ? s->digits + (size_t)i * DAE_DIGITS_SIZE : NULL;
}

static int add_row(session *s, recorder *rows, double t)
{
    session_watch_bounds(s, t);
    for (int k = 0; k < s->n_recorded; k++) s->row[k] = s->y[s->recorded[k]];
    if (s->more.fill) {
        int code = s->more.fill(s, t, s->row + s->n_recorded, s->more.user);
        if (code != CLI_OK) return code;
    }
    return recorder_add(rows, t, s->row, s->digits ? row_digits(s) : NULL);
}

/* Row at time t inside the last step. */
static int add_row_at(session *s, recorder *rows, double t)
{
    int code = read_values(s, t);
    return code == CLI_OK ? add_row(s, rows, t) : code;
}

/* All rows of the grid up to where the solver stands. An event gets a row of its own, in place of
 * one of the grid at the same time: a model's event is reported before and after its update. */
static int add_rows(session *s, const grid *g, recorder *rows, bool event, long *next)
{
    double now = dae_solver_time(s->solver), t, sign = g->tend < g->t0 ? -1.0 : 1.0;
    if (g->kind == GRID_NONE) return CLI_OK;
    for (; grid_time(g, *next, &t) && (t - now) * sign <= 0.0; (*next)++) {
        int status = event && t == now ? CLI_OK : add_row_at(s, rows, t);
        if (status != CLI_OK) return status;
    }
    bool due = event || (g->kind == GRID_STEPS && now != rows->last);
    return due ? add_row_at(s, rows, now) : CLI_OK;
}

/* The library counts the steps of a dae_solver_run; here single steps are taken. */
static int give_up(session *s, double t)
{
    dae_diag diag = {.status = DAE_ERR_MAX_STEPS, .variable = -1, .equation = -1, .t = t};
    snprintf(diag.text, sizeof diag.text,
             "%ld steps have reached t = %g only. Allow more with --max-steps, or loosen the "
             "tolerances.",
             s->max_steps, t);
    return complain_diagnostic(s, &diag);
}

static int let_watch(session *s, watch_when when)
{
    if (!s->watch || s->watch(when, s->solver, s->watcher) >= 0) return CLI_OK;
    return complain_diagnostic(s, dae_solver_diag(s->solver));
}

/* Start, and the row at the start. A model text starts from its own values. */
static int begin(session *s, const grid *g, recorder *rows)
{
    const double *y0 = s->m ? s->m->y0 : NULL, *yp0 = s->m ? s->m->yp0 : NULL;
    if (dae_solver_start(s->solver, g->t0, y0, yp0) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    int code = let_watch(s, WATCH_START);
    if (code == CLI_OK) code = checkpoint_start(s);
    return code == CLI_OK && g->kind != GRID_NONE ? add_row_at(s, rows, g->t0) : code;
}

/* After a failure: the rows of the grid up to the last point that was reached, which may lie inside
 * of a step, and that point, if they end before it. */
static void add_last_rows(session *s, const grid *g, recorder *rows, long next)
{
    const double now = dae_solver_time(s->solver), sign = g->tend < g->t0 ? -1.0 : 1.0;
    /* what a change of the equations left unfinished has no values */
    if ((now - rows->last) * sign <= 0.0 || dae_solver_variables(s->solver, now, s->y) != DAE_OK)
        return;
    for (double t; grid_time(g, next, &t) && (now - t) * sign > 0.0; next++)
        if (dae_solver_variables(s->solver, t, s->y) != DAE_OK || add_row_at(s, rows, t) != CLI_OK)
            return;
    (void)add_row_at(s, rows, now);
}

/* Whether an event changed a value: more than solving for it once more does. */
static bool visibly_different(double before, double after, double rtol)
{
    return fabs(after - before) > 100.0 * fmax(rtol, 1e-13) * (fabs(before) + fabs(after));
}

/* The run is over: a model's last event, with terminal() true, and a row for it if it changed what
 * is recorded. */
static int finish(session *s, const grid *g, recorder *rows)
{
    double t = dae_solver_time(s->solver);
    if (g->kind == GRID_NONE)
        return dae_solver_finish(s->solver) < 0 ? complain_diagnostic(s, dae_solver_diag(s->solver))
                                                : CLI_OK;
    int code = read_values(s, t);
    if (code != CLI_OK) return code;
    for (int k = 0; k < s->n_recorded; k++) s->row[k] = s->y[s->recorded[k]];
    if (dae_solver_finish(s->solver) < 0) return complain_diagnostic(s, dae_solver_diag(s->solver));
    code = read_values(s, t);
    if (code != CLI_OK) return code;
    for (int k = 0; k < s->n_recorded; k++)
        if (visibly_different(s->row[k], s->y[s->recorded[k]], s->rtol)) return add_row(s, rows, t);
    return CLI_OK;
}

/* The loop of steps; a long step serves several rows, and s->y ends at s->t. */
static int integrate(session *s, const grid *g, recorder *rows)
{
    long next = 1;
    const dae_stats *counters = dae_solver_stats(s->solver);
    const long before = counters->steps;
    dae_status status = DAE_STEPPED;
    int code = checkpoint_resumes(s) ? checkpoint_resume(s, g, rows, &next) : begin(s, g, rows);
    if (code != CLI_OK) return code;
    if (rows->stream || rows->keep || s->history.stream) signals_spare_results();
    while (code == CLI_OK && status > 0) {
        status = dae_solver_step(s->solver, g->tend);
        if (status >= 0) code = let_watch(s, WATCH_STEP);
        if (status >= 0 && code == CLI_OK) code = add_rows(s, g, rows, status == DAE_EVENT, &next);
        if (status >= 0 && code == CLI_OK) code = session_write_tableau(s);
        if (status > 0 && code == CLI_OK) code = checkpoint_step(s, g, rows, next);
        if (status > 0 && code == CLI_OK && s->max_steps > 0 &&
            counters->steps - before >= s->max_steps)
            code = give_up(s, dae_solver_time(s->solver));
    }
    if (status == DAE_OK && code == CLI_OK) code = finish(s, g, rows);
    if (status == DAE_OK && code == CLI_OK) code = let_watch(s, WATCH_END);
    session_clear_progress(s);
    s->t = dae_solver_time(s->solver);
    if (status < 0 && code == CLI_OK) code = complain_diagnostic(s, dae_solver_diag(s->solver));
    if (g->kind == GRID_NONE) return code;
    if (code != CLI_OK) {
        checkpoint_rescue(s);
        add_last_rows(s, g, rows, next);
    } else {
        code = read_values(s, s->t);
    }
    return code;
}

int session_open_history(session *s, const char *path)
{
    report_error error = {0};
    if (!path) return CLI_OK;
    if (is_stdout(path))
        s->history.stream = stdout;
    else if (report_file_open(&s->history, path, &error) != REPORT_OK)
        return complain(CLI_FAILED, "%s", error.text);
    fputs("t,h,order,result,error,newton_iterations,convergence_rate,variable\n",
          s->history.stream);
    return CLI_OK;
}

/* The history in its place. Exit code. */
static int close_history(session *s)
{
    report_error error = {0};
    if (!s->history.stream) return CLI_OK;
    if (s->history.stream == stdout) { /* the command closes it */
        s->history.stream = NULL;
        return CLI_OK;
    }
    s->history_written = report_file_commit(&s->history, &error) == REPORT_OK;
    return s->history_written ? CLI_OK : complain(CLI_FAILED, "%s", error.text);
}

int session_integrate(session *s, const grid *g, recorder *rows)
{
    session_begin_progress(s, g->t0, g->tend);
    int code = integrate(s, g, rows);
    s->seconds = wall_time() - s->wall_start;
    int written = close_history(s);
    if (written == CLI_OK) written = session_close_tableau(s);
    return code != CLI_OK ? code : written;
}

/* ---- afterwards -------------------------------------------------------------------------------
 */

/* reference = what is known at t; false if nothing is */
static bool known_values(const session *s, double t, double *reference)
{
    const model *m = s->m;
    if (!m) return false;
    if (m->solution && m->solution(m, t, reference, NULL) == 0) return true;
    if (!m->reference || t != m->tend) return false;
    memcpy(reference, m->reference, (size_t)m->form.n * sizeof *reference);
    return true;
}

void session_print_error(session *s, double t)
{
    int n = s->n, worst = 0, worst_relative = -1;
    double *reference = calloc((size_t)n, sizeof *reference), size = 0.0, relative = 0.0;
    if (!reference || !known_values(s, t, reference)) {
        free(reference);
        return;
    }
    for (int i = 0; i < n; i++) {
        double error = fabs(s->y[i] - reference[i]);
        if (error > fabs(s->y[worst] - reference[worst])) worst = i;
        size = fmax(size, fabs(reference[i]));
        if (reference[i] != 0.0 && !(error / fabs(reference[i]) <= relative))
            relative = error / fabs(reference[i]), worst_relative = i;
    }
    double error = fabs(s->y[worst] - reference[worst]);
    say("error at t = %g: largest %.2e (%s), of the largest value %.2e", t, error,
        s->m->form.variable_names[worst], error / size);
    if (error > 0.0) say(", %.1f digits", -log10(error / size));
    if (worst_relative >= 0 && !s->m->closed_form)
        say("; largest relative %.2e (%s)", relative, s->m->form.variable_names[worst_relative]);
    putchar('\n');
    free(reference);
}

void session_print_statistics(const session *s)
{
    const dae_stats *c = dae_solver_stats(s->solver);
    const struct {
        const char *name;
        long value;
    } lines[] = {
        {"steps", c->steps},
        {"attempts", c->attempts},
        {"rejected by the error test", c->rejected_error},
        {"rejected by the iteration", c->rejected_convergence},
        {"rejected by an evaluation", c->rejected_evaluation},
        {"rejected by a bound", c->rejected_bound},
        {"rejected as singular", c->rejected_singular},
        {"residuals", c->residuals},
        {"residuals for Jacobians", c->jacobian_residuals},
        {"Jacobians", c->jacobians},
        {"factorisations", c->factorisations},
        {"  as the step changed", c->factor_step_changed},
        {"  of a new Jacobian", c->factor_new_jacobian},
        {"  with new pivots", c->repivots},
        {"Newton iterations", c->newton_iterations},
        {"linear iterations", c->linear_iterations},
        {"linear solves", c->solves},
        {"events", c->events},
        {"starts", c->starts},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        say("%-28s %ld\n", lines[i].name, lines[i].value);
    say("%-28s %d\n%-28s %g\n%-28s %g\n%-28s %.3g\n", "last order", c->last_order, "last step",
        c->last_h, "first step", c->h0, "seconds", s->seconds);
    const struct {
        const char *name;
        double value;
    } largest[] = {{"largest |g|", c->position_residual},
                   {"largest |g'|, hidden", c->velocity_residual},
                   {"largest drift", c->invariant_drift}};
    for (size_t i = 0; i < sizeof largest / sizeof largest[0]; i++)
        if (largest[i].value >= 0.0) say("%-28s %.3g\n", largest[i].name, largest[i].value);
}

void session_close(session *s)
{
    dae_solver_free(s->solver);
    dae_problem_free(s->problem);
    model_free(s->m);
    free(s->y);
    free(s->row);
    free(s->digits);
    free(s->recorded);
    free(s->lower);
    free(s->warned);
    if (s->history.stream != stdout) report_file_discard(&s->history);
    if (s->tableau.stream != stdout) report_file_discard(&s->tableau);
    free(s->unknowns);
    checkpoint_close(s);
    *s = (session){0};
}
