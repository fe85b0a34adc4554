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

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static int ask_interrupted(void *user)
{
    (void)user;
    return interrupted;
}

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* How much of the interval is done, at most five times a second, once a run has taken a second. */
static void show_progress(session *s, double t)
{
    double now = wall_time(), t0 = s->m->t0;
    if (!s->progress || now - s->wall_start < 1.0 || now - s->wall_shown < 0.2) return;
    s->wall_shown = now;
    s->progress_on_screen = true;
    fprintf(stderr, "\r\033[Kdaedal: t = %.6g, %.0f %% of the interval, %.0f s", t,
            100.0 * (t - t0) / (s->tend - t0), now - s->wall_start);
    fflush(stderr);
}

static void clear_progress(session *s)
{
    if (s->progress_on_screen) fputs("\r\033[K", stderr);
    s->progress_on_screen = false;
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
    const model *m = user;
    return i < m->form.n ? m->form.variable_names[i] : NULL;
}

/* Index of a variable by name, or -1. */
static int find_variable(const model *m, const char *name, size_t length)
{
    for (int i = 0; i < m->form.n; i++)
        if (strlen(m->form.variable_names[i]) == length &&
            memcmp(m->form.variable_names[i], name, length) == 0)
            return i;
    return -1;
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

static int record_list(session *s, const char *list)
{
    for (const char *at = list; *at || at == list;) {
        size_t length = name_length(at);
        int i = find_variable(s->m, at, length);
        if (i < 0) {
            char word[64], see[64];
            snprintf(word, sizeof word, "%.*s", (int)length, at);
            snprintf(see, sizeof see, "see 'daedal models %s'", s->m->name);
            return complain_unknown("variable", word, variable_name, s->m, see);
        }
        if (s->n_recorded == s->m->form.n)
            return complain(CLI_USAGE, "a variable is listed more than once in '%s'", list);
        s->recorded[s->n_recorded++] = i;
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

int session_record(session *s, const char *list)
{
    int n = s->m->form.n;
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
    if (diag->status == DAE_ERR_INTERRUPTED)
        return complain(CLI_FAILED, "interrupted at t = %g", diag->t);
    const char *text = diag->text[0] ? diag->text : dae_status_name(diag->status);
    return complain(usage ? CLI_USAGE : CLI_FAILED, "%s", text);
}

int session_open(session *s, dae_options *options)
{
    dae_diag diag = {0};
    options->monitor = watch_step;
    options->interrupt = ask_interrupted;
    options->user = s;
    s->progress = isatty(STDERR_FILENO) != 0;
    if (dae_problem_from_residual(&s->m->form, &s->problem, &diag) < 0 ||
        dae_solver_new(s->problem, options, &s->solver, &diag) < 0)
        return complain_diagnostic(s, &diag);
    return CLI_OK;
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
    for (int k = 0; k < s->n_recorded; k++) names[k] = s->m->form.variable_names[s->recorded[k]];
    if (report_series_new(s->n_recorded, names, &series, &error) != REPORT_OK)
        complain(CLI_FAILED, "%s", error.text);
    free(names);
    return series;
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
    if (dae_solver_at(s->solver, t, 0, s->y) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    return add_row(s, series, t);
}

/* All rows of the grid up to where the solver stands. */
static int add_rows(session *s, const grid *g, report_series *series, long *next)
{
    double now = dae_solver_time(s->solver), t, sign = g->tend < g->t0 ? -1.0 : 1.0;
    if (g->kind == GRID_STEPS)
        return now == series->times[series->count - 1] ? CLI_OK : add_row_at(s, series, now);
    for (; grid_time(g, *next, &t) && (t - now) * sign <= 0.0; (*next)++) {
        int status = add_row_at(s, series, t);
        if (status != CLI_OK) return status;
    }
    return CLI_OK;
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

/* Start, and the row at the start. */
static int begin(session *s, const grid *g, report_series *series)
{
    if (dae_solver_start(s->solver, s->m->t0, s->m->y0, s->m->yp0) < 0 ||
        dae_solver_at(s->solver, g->t0, 0, s->y) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    return add_row(s, series, g->t0);
}

/* The loop of steps; a long step serves several rows, and s->y ends at g->tend. */
static int integrate(session *s, const grid *g, report_series *series)
{
    long next = 1;
    const dae_stats *counters = dae_solver_stats(s->solver);
    dae_status status = DAE_STEPPED;
    int code = begin(s, g, series);
    while (code == CLI_OK && status > 0) {
        status = dae_solver_step(s->solver, g->tend);
        if (status >= 0) code = add_rows(s, g, series, &next);
        if (status > 0 && code == CLI_OK && s->max_steps > 0 && counters->steps >= s->max_steps)
            code = give_up(s, dae_solver_time(s->solver));
    }
    clear_progress(s);
    if (code != CLI_OK) return code;
    if (status < 0 || dae_solver_at(s->solver, g->tend, 0, s->y) < 0)
        return complain_diagnostic(s, dae_solver_diag(s->solver));
    return CLI_OK;
}

int session_integrate(session *s, const grid *g, report_series *series)
{
    struct sigaction ours = {.sa_handler = on_interrupt}, before;
    sigaction(SIGINT, &ours, &before);
    if (s->history)
        fputs("t,h,order,result,error,newton_iterations,convergence_rate,variable\n", s->history);
    s->tend = g->tend;
    s->wall_start = s->wall_shown = wall_time();
    int code = integrate(s, g, series);
    s->seconds = wall_time() - s->wall_start;
    sigaction(SIGINT, &before, NULL);
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
    if (m->solution && m->solution(m, t, reference, NULL) == 0) return true;
    if (!m->reference || t != m->tend) return false;
    memcpy(reference, m->reference, (size_t)m->form.n * sizeof *reference);
    return true;
}

void session_print_error(session *s, double t)
{
    int n = s->m->form.n, worst = 0, worst_relative = -1;
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
