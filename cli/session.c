/* Solving a model for the command line. */
#define _POSIX_C_SOURCE 200809L

#include "session.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- grid -------------------------------------------------------------------------------------
 */

bool grid_time(const grid *g, long k, double *t)
{
    double span = g->tend - g->t0, sign = span < 0.0 ? -1.0 : 1.0;
    switch (g->kind) {
    case GRID_STEPS: return false;
    case GRID_LINEAR:
        *t = k == g->count - 1 ? g->tend : g->t0 + span * (double)k / (double)(g->count - 1);
        return k < g->count;
    case GRID_INTERVAL:
        *t = g->t0 + sign * (double)k * g->interval;
        /* a last interval of rounding length is none */
        if ((g->tend - *t) * sign < 1e-9 * g->interval) *t = g->tend;
        return (double)(k - 1) * g->interval < fabs(span) - 1e-9 * g->interval;
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

/* ---- progress, history, interruption ----------------------------------------------------------
 */

static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    caught_signal = number;
}

void session_catch_signals(void)
{
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &ours, NULL);
    sigaction(SIGTERM, &ours, NULL);
}

static int ask_interrupted(void *user)
{
    (void)user;
    return caught_signal != 0;
}

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { BAR_WIDTH = 30 };

/* How much of the interval is done, at most five times a second, once a run has taken a second. */
static void show_progress(session *s, double t)
{
    double now = wall_time(), done = (t - s->t0) / (s->tend - s->t0);
    if (!s->progress || now - s->wall_start < 1.0 || now - s->wall_shown < 0.2) return;
    s->wall_shown = now;
    s->progress_on_screen = true;
    int filled = (int)(fmin(fmax(done, 0.0), 1.0) * BAR_WIDTH);
    fprintf(stderr, "\r\033[K[%.*s%*s] %3.0f %%  t = %.6g  %.0f s", filled,
            "##############################", BAR_WIDTH - filled, "", 100.0 * done, t,
            now - s->wall_start);
    fflush(stderr);
}

static void clear_progress(session *s)
{
    if (s->progress_on_screen) fputs("\r\033[K", stderr);
    s->progress_on_screen = false;
}

/* What the model says while it runs. */
static void show_message(const char *text, void *user)
{
    clear_progress(user);
    bool labelled = strncmp(text, "note:", 5) == 0 || strstr(text, "warning:");
    fprintf(stderr, "daedal: %s%s\n", labelled ? "" : "warning: ", text);
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
    if (s->history) {
        const char *name =
            info->variable >= 0 ? dae_problem_variable_name(s->problem, info->variable) : "";
        fprintf(s->history, "%.17g,%.17g,%d,%s,%.6g,%d,%.6g,\"%s\"\n", info->t, info->h,
                info->order, result_name(info->result), info->error, info->newton_iterations,
                info->convergence_rate, name);
    }
    if (info->result == DAE_STEP_ACCEPTED) show_progress(s, info->t + info->h);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static const char *variable_name(int i, const void *user)
{
    const session *s = user;
    return i < s->n ? dae_problem_variable(s->problem, i) : NULL;
}

enum { MANY_VARIABLES = 200, CHOSEN_VARIABLES = 12 };

/* place[0 .. count-1] = count of the numbers 0 .. n-1, spread evenly; all of them if count = n */
static void spread(int n, int count, int *place)
{
    for (int k = 0; k < count; k++) place[k] = (int)((2L * k + 1) * n / (2L * count));
}

void session_spread(const session *s, int count, int *columns)
{
    spread(s->n_recorded, count, columns);
}

/* Length of the first name in a list: up to a comma that is not inside brackets. */
static size_t name_length(const char *list)
{
    int depth = 0;
    size_t k = 0;
    for (; list[k] && (list[k] != ',' || depth > 0); k++)
        depth += (list[k] == '[') - (list[k] == ']');
    return k;
}

/* Record the variable whose name begins at `at`. */
static int record_name(session *s, const char *at, size_t length)
{
    char *word = strndup(at, length), see[80] = "'daedal check --list' shows all of a model";
    if (!word) return complain(CLI_FAILED, "out of memory");
    int i = dae_problem_find_variable(s->problem, word), code = CLI_OK;
    if (s->m) snprintf(see, sizeof see, "see 'daedal models %s'", s->m->name);
    if (i < 0)
        code = complain_unknown("variable", word, variable_name, s, see);
    else if (s->n_recorded == s->n)
        code = complain(CLI_USAGE, "variable '%s' is listed more than once", word);
    else
        s->recorded[s->n_recorded++] = i;
    free(word);
    return code;
}

static int record_list(session *s, const char *list)
{
    int code = CLI_OK;
    for (const char *at = list; code == CLI_OK && (*at || at == list);) {
        size_t length = name_length(at);
        code = record_name(s, at, length);
        at += length + (at[length] == ',');
    }
    return code;
}

int session_record(session *s, const char *list)
{
    int n = s->n;
    s->y = calloc((size_t)n, sizeof *s->y);
    s->row = calloc((size_t)n, sizeof *s->row);
    s->recorded = calloc((size_t)n, sizeof *s->recorded);
    if (!s->y || !s->row || !s->recorded) return complain(CLI_FAILED, "out of memory");
    if (list && strcmp(list, "all") != 0) return record_list(s, list);
    s->n_recorded = !list && n > MANY_VARIABLES ? CHOSEN_VARIABLES : n;
    spread(n, s->n_recorded, s->recorded);
    return CLI_OK;
}

/* Wrong arguments are the caller's; everything else is a failure. */
static int complain_diagnostic(session *s, const dae_diag *diag)
{
    s->diag = *diag;
    bool usage = diag->status == DAE_ERR_ARGUMENT || diag->status == DAE_ERR_UNSUPPORTED;
    clear_progress(s);
    if (diag->status == DAE_ERR_INTERRUPTED)
        return complain(CLI_SIGNAL + (int)caught_signal, "interrupted at t = %g", diag->t);
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

int session_open_text(session *s, const char *file, const settings *parameters, dae_engine engine)
{
    double begin = wall_time();
    int code = open_text(file, parameters, engine, &s->problem);
    if (code != CLI_OK) return code;
    s->name = dae_problem_name(s->problem);
    s->n = dae_problem_variable_count(s->problem);
    s->translation = wall_time() - begin;
    return CLI_OK;
}

int session_prepare(session *s, dae_options *options)
{
    dae_diag diag = {0};
    options->monitor = watch_step;
    options->interrupt = ask_interrupted;
    options->message = show_message;
    options->user = s;
    s->rtol = options->rtol;
    s->progress = isatty(STDERR_FILENO) != 0;
    if (dae_solver_new(s->problem, options, &s->solver, &diag) < 0)
        return complain_diagnostic(s, &diag);
    return CLI_OK;
}

/* Units and descriptions of a model text, and its parameters. */
static report_status label_series(const session *s, report_series *series, report_error *error)
{
    size_t count = (size_t)s->n_recorded;
    const char **units = calloc(2 * count, sizeof *units), **texts = units ? units + count : NULL;
    if (!units) return REPORT_ERR_MEMORY;
    for (int k = 0; k < s->n_recorded; k++) {
        units[k] = dae_problem_unit(s->problem, s->recorded[k]);
        texts[k] = dae_problem_description(s->problem, s->recorded[k]);
    }
    report_status status = report_series_label(series, "time", "s", units, texts, error);
    free(units);
    int parameters = dae_problem_parameter_count(s->problem);
    if (status == REPORT_OK) status = report_series_parameters(series, parameters, error);
    for (int i = 0; i < parameters && status == REPORT_OK; i++)
        status = report_series_set_parameter(series, i, dae_problem_parameter(s->problem, i),
                                             dae_problem_parameter_unit(s->problem, i), "",
                                             dae_problem_parameter_value(s->problem, i), error);
    return status;
}

report_series *session_series(const session *s)
{
    report_series *series = NULL;
    report_error error = {0};
    const char **names = calloc((size_t)s->n_recorded, sizeof *names);
    if (!names) {
        complain(CLI_FAILED, "out of memory");
        return NULL;
    }
    for (int k = 0; k < s->n_recorded; k++)
        names[k] = dae_problem_variable(s->problem, s->recorded[k]);
    report_status status = report_series_new(s->n_recorded, names, &series, &error);
    free(names);
    if (status == REPORT_OK && !s->m) status = label_series(s, series, &error);
    if (status == REPORT_OK) return series;
    complain(CLI_FAILED, "%s", error.text[0] ? error.text : "out of memory");
    report_series_free(series);
    return NULL;
}

/* ---- integrating ------------------------------------------------------------------------------
 */

static int add_row(session *s, report_series *series, double t)
{
    report_error error = {0};
    for (int k = 0; k < s->n_recorded; k++) s->row[k] = s->y[s->recorded[k]];
    if (report_series_add(series, t, s->row, &error) == REPORT_OK) return CLI_OK;
    return complain(CLI_FAILED, "%s", error.text);
}

/* Row at time t inside the last step. */
static int add_row_at(session *s, report_series *series, double t)
{
    if (dae_solver_variables(s->solver, t, s->y) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    return add_row(s, series, t);
}

/* All rows of the grid up to where the solver stands. An event gets a row of its own, in place of
 * one of the grid at the same time: a model's event is reported before and after its update. */
static int add_rows(session *s, const grid *g, report_series *series, bool event, long *next)
{
    double now = dae_solver_time(s->solver), t, sign = g->tend < g->t0 ? -1.0 : 1.0;
    for (; grid_time(g, *next, &t) && (t - now) * sign <= 0.0; (*next)++) {
        int status = event && t == now ? CLI_OK : add_row_at(s, series, t);
        if (status != CLI_OK) return status;
    }
    bool due = event || (g->kind == GRID_STEPS && now != series->times[series->count - 1]);
    return due ? add_row_at(s, series, now) : CLI_OK;
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

/* Start, and the row at the start. A model text starts from its own values. */
static int begin(session *s, const grid *g, report_series *series)
{
    const double *y0 = s->m ? s->m->y0 : NULL, *yp0 = s->m ? s->m->yp0 : NULL;
    if (dae_solver_start(s->solver, g->t0, y0, yp0) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    return add_row_at(s, series, g->t0);
}

/* After a failure: the last point that was reached, if the rows end before it. */
static void add_last_row(session *s, const grid *g, report_series *series)
{
    double now = dae_solver_time(s->solver), last = series->times[series->count - 1];
    if ((now - last) * (g->tend - g->t0) > 0.0 && dae_solver_variables(s->solver, now, s->y) >= 0)
        (void)add_row(s, series, now);
}

/* Whether an event changed a value: more than solving for it once more does. */
static bool visibly_different(double before, double after, double rtol)
{
    return fabs(after - before) > 100.0 * rtol * (fabs(before) + fabs(after));
}

/* The run is over: a model's last event, with terminal() true, and a row for it if it changed what
 * is recorded. */
static int finish(session *s, report_series *series)
{
    double t = dae_solver_time(s->solver);
    if (dae_solver_variables(s->solver, t, s->y) < 0 || dae_solver_finish(s->solver) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    for (int k = 0; k < s->n_recorded; k++) s->row[k] = s->y[s->recorded[k]];
    if (dae_solver_variables(s->solver, t, s->y) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    for (int k = 0; k < s->n_recorded; k++)
        if (visibly_different(s->row[k], s->y[s->recorded[k]], s->rtol))
            return add_row(s, series, t);
    return CLI_OK;
}

/* The loop of steps; a long step serves several rows, and s->y ends at s->t. */
static int integrate(session *s, const grid *g, report_series *series)
{
    long next = 1;
    const dae_stats *counters = dae_solver_stats(s->solver);
    dae_status status = DAE_STEPPED;
    int code = begin(s, g, series);
    if (code != CLI_OK) return code;
    while (code == CLI_OK && status > 0) {
        status = dae_solver_step(s->solver, g->tend);
        if (status >= 0) code = add_rows(s, g, series, status == DAE_EVENT, &next);
        if (status > 0 && code == CLI_OK && s->max_steps > 0 && counters->steps >= s->max_steps)
            code = give_up(s, dae_solver_time(s->solver));
    }
    if (status == DAE_OK && code == CLI_OK) code = finish(s, series);
    clear_progress(s);
    s->t = dae_solver_time(s->solver);
    if (status < 0 && code == CLI_OK) code = complain_diagnostic(s, dae_solver_diag(s->solver));
    if (code != CLI_OK)
        add_last_row(s, g, series);
    else if (dae_solver_variables(s->solver, s->t, s->y) < 0)
        code = complain_diagnostic(s, dae_solver_diag(s->solver));
    return code;
}

int session_integrate(session *s, const grid *g, report_series *series)
{
    if (s->history)
        fputs("t,h,order,result,error,newton_iterations,convergence_rate,variable\n", s->history);
    s->t0 = g->t0;
    s->tend = g->tend;
    s->wall_start = s->wall_shown = wall_time();
    int code = integrate(s, g, series);
    s->seconds = wall_time() - s->wall_start;
    if (s->history && (fflush(s->history) != 0 || ferror(s->history)))
        return complain(CLI_FAILED, "the history could not be written: %s", strerror(errno));
    return code;
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
    printf("error at t = %g: largest %.2e (%s), of the largest value %.2e", t, error,
           s->m->form.variable_names[worst], error / size);
    if (error > 0.0) printf(", %.1f digits", -log10(error / size));
    if (worst_relative >= 0 && !s->m->closed_form)
        printf("; largest relative %.2e (%s)", relative, s->m->form.variable_names[worst_relative]);
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
        {"factorizations", c->factorizations},
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
        printf("%-28s %ld\n", lines[i].name, lines[i].value);
    printf("%-28s %d\n%-28s %g\n%-28s %g\n%-28s %.3g\n", "last order", c->last_order, "last step",
           c->last_h, "first step", c->h0, "seconds", s->seconds);
}

void session_close(session *s)
{
    dae_solver_free(s->solver);
    dae_problem_free(s->problem);
    model_free(s->m);
    free(s->y);
    free(s->row);
    free(s->recorded);
    if (s->history) fclose(s->history);
    *s = (session){0};
}
