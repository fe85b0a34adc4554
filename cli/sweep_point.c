/* One point of a sweep: set it, run it, keep what was asked for. In a worker process. */
#define _POSIX_C_SOURCE 200809L

#include "sweep_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what is said ---- */

/* Messages go to a file, not to the terminal: they become the last column of the row. */
void sweep_begin_worker(void *user)
{
    sweep_work *w = user;
    w->said = tmpfile();
    if (w->said) (void)!dup2(fileno(w->said), STDERR_FILENO);
    w->s->progress = false;
}

static void forget_messages(sweep_work *w)
{
    if (!w->said || lseek(STDERR_FILENO, 0, SEEK_CUR) == 0) return;
    (void)!ftruncate(STDERR_FILENO, 0);
    (void)!lseek(STDERR_FILENO, 0, SEEK_SET);
}

/* The messages of a run as one line, without "daedal: " before each. */
static void collect_messages(const sweep_work *w, char *text, size_t size)
{
    static const char label[] = "daedal: ";
    char all[8192];
    off_t length = w->said ? lseek(STDERR_FILENO, 0, SEEK_CUR) : 0;
    size_t n = 0, most = length < (off_t)sizeof all ? (size_t)length : sizeof all - 1;
    ssize_t got = most > 0 ? pread(STDERR_FILENO, all, most, 0) : 0;
    all[got > 0 ? got : 0] = '\0';
    for (const char *at = all; *at && n + 1 < size;) {
        if (strncmp(at, label, sizeof label - 1) == 0) at += sizeof label - 1;
        size_t line = strcspn(at, "\n"), room = size - n - 1;
        size_t part = line < room ? line : room;
        memcpy(text + n, at, part);
        n += part;
        at += line + (at[line] == '\n');
        if (*at && n + 2 < size) text[n++] = ' ';
    }
    text[n] = '\0';
}

/* ---- models with structural parameters ---- */

static void close_other(sweep_work *w)
{
    if (!w->other.s) return;
    sweep_keep_free(w->other.keep);
    session_close(&w->other_session);
    for (int k = w->r->parameters.count; k < w->other_words.parameters.count; k++)
        free((char *)w->other_words.parameters.list[k]);
    settings_free(&w->other_words.parameters);
    free(w->other_words.atol_values);
    free(w->other_words.rtol_values);
    free(w->other_words.step_times);
    w->other = (sweep_model){0};
}

/* Whether the model at hand has the structural parameters of a point. */
static bool has_structure(const sweep_work *w, const double *point)
{
    for (int c = 0; c < w->points->columns; c++)
        if (w->columns[c].structural && w->other_values[c] != point[c]) return false;
    return w->other.s != NULL;
}

/* The words "name=value" of the structural columns, behind those of the user. */
static int add_words(sweep_work *w, const double *point)
{
    int code = CLI_OK;
    for (int k = 0; k < w->r->parameters.count && code == CLI_OK; k++)
        code = settings_push(&w->other_words.parameters, w->r->parameters.list[k]);
    for (int c = 0; c < w->points->columns && code == CLI_OK; c++) {
        const bound_column *b = &w->columns[c];
        size_t size = 64 + strlen(b->name);
        if (!b->structural) continue;
        if (b->report.words) size += strlen(b->report.words[(int)point[c]]);
        char *word = malloc(size);
        if (!word) return complain(CLI_FAILED, "out of memory");
        if (b->report.words)
            snprintf(word, size, "%s=%s", b->name, b->report.words[(int)point[c]]);
        else
            snprintf(word, size, "%s=%.17g", b->name, point[c]);
        code = settings_push(&w->other_words.parameters, word);
    }
    return code;
}

/* Translate the model with the structural parameters of a point. Exit code */
static int open_other(sweep_work *w, const double *point)
{
    close_other(w);
    w->other_words = w->unopened;
    w->other_words.parameters = (settings){0};
    w->other_session = (session){0};
    w->other = (sweep_model){.r = &w->other_words, .s = &w->other_session};
    int code = add_words(w, point);
    if (code == CLI_OK) code = request_open(&w->other_words, &w->other_session);
    if (code == CLI_OK) code = session_prepare(&w->other_session, &w->other_words.options);
    if (code == CLI_OK)
        code = sweep_make_keep(w, &w->other_words, &w->other_session, &w->other.keep);
    if (code == CLI_OK && sweep_keep_columns(w->other.keep) != sweep_keep_columns(w->keep))
        code = complain(CLI_USAGE,
                        "%d values are to be kept here, and %d in other rows; name them: "
                        "--keep 'end(x),..'",
                        sweep_keep_columns(w->other.keep), sweep_keep_columns(w->keep));
    w->other_session.progress = false;
    for (int c = 0; c < w->points->columns; c++) w->other_values[c] = point[c];
    return code;
}

/* ---- a run ---- */

/* Whether all parameters lie within their bounds, as a translation with these values would want:
 * one that was set first, or was not set, may lie outside of bounds that follow from another. */
static bool within_bounds(const dae_problem *problem, char *text, size_t size)
{
    for (int p = 0; p < dae_problem_parameter_count(problem); p++) {
        dae_parameter_info info = dae_problem_parameter_info(problem, p);
        double x = dae_problem_parameter_value(problem, p);
        bool below = x < info.min;
        if (info.type == DAE_TYPE_STRING || (!below && !(x > info.max))) continue;
        snprintf(text, size, "Parameter %s = %.15g lies %s its %s = %.15g.",
                 dae_problem_parameter(problem, p), x, below ? "below" : "above",
                 below ? "min" : "max", below ? info.min : info.max);
        return false;
    }
    return true;
}

/* All numbers of the point. The bounds of one may depend on another: what is refused is tried again
 * once the others are set. */
static bool set_values(const sweep_work *w, dae_problem *problem, const double *point, char *text,
                       size_t size, dae_status *status)
{
    bool refused = true, parameters = false;
    dae_diag diag = {0};
    for (int pass = 0; pass < w->points->columns && refused; pass++) {
        refused = false;
        for (int c = 0; c < w->points->columns; c++) {
            const bound_column *b = &w->columns[c];
            dae_diag own = {0};
            if (b->structural) continue;
            parameters = parameters || b->parameter >= 0;
            *status = b->parameter >= 0
                          ? dae_problem_set_parameter(problem, b->name, point[c], &own)
                          : dae_problem_set_start(problem, b->name, point[c], &own);
            if (*status < 0) refused = true, diag = own;
        }
    }
    if (refused) snprintf(text, size, "%s", diag.text);
    if (refused) *status = diag.status;
    if (refused || !parameters || within_bounds(problem, text, size)) return !refused;
    *status = DAE_ERR_ARGUMENT;
    return false;
}

static dae_status watch_run(watch_when when, dae_solver *solver, void *user)
{
    sweep_model *m = user;
    if (when == WATCH_START) return sweep_keep_start(m->keep, m->s->problem, solver);
    return when == WATCH_STEP ? sweep_keep_step(m->keep, solver) : sweep_keep_end(m->keep, solver);
}

/* Tolerances follow start values; a solver has those that it was made with. */
static int refresh_solver(sweep_work *w, sweep_model *m)
{
    bool changed = false;
    int code = request_tolerances_again(m->r, m->s, &changed);
    if (code != CLI_OK || !changed) return code;
    dae_solver_free(m->s->solver);
    m->s->solver = NULL;
    code = session_prepare(m->s, &m->r->options);
    m->s->progress = false;
    if (code == CLI_OK) forget_messages(w);
    return code;
}

/* Where the rows of a run go; NULL: nowhere */
static const char *run_file(const sweep_work *w, uint64_t item, char path[4096])
{
    if (!w->r->sweep.runs) return NULL;
    snprintf(path, 4096, "%s/%llu.csv", w->r->sweep.runs, (unsigned long long)item + 1);
    return path;
}

/* Exit code; values are in m->keep, why it failed in m->s->diag */
static int run_model(sweep_work *w, sweep_model *m, uint64_t item)
{
    char path[4096];
    const char *file = run_file(w, item, path);
    grid g = m->r->output;
    recorder rows = {0};
    if (!file) g.kind = GRID_NONE;
    m->s->watch = watch_run;
    m->s->watcher = m;
    m->s->diag = (dae_diag){0};
    int code = refresh_solver(w, m);
    if (code == CLI_OK && file) code = recorder_open(&rows, m->s, file, false, NULL);
    if (code == CLI_OK) {
        code = session_integrate(m->s, &g, &rows);
        int written = file && rows.count > 0 ? recorder_finish(&rows) : CLI_OK;
        if (code == CLI_OK) code = written;
        if (code == CLI_OK) results_print_notes(m->r, m->s, stderr, "daedal: note: ");
    }
    if (file) recorder_close(&rows);
    return code;
}

/* A row without values. */
static void write_failure(const sweep_work *w, int status, const char *text, sweep_buffer *result)
{
    int columns = sweep_keep_columns(w->keep);
    double *none = malloc(((size_t)columns + 1) * sizeof *none);
    for (int c = 0; none && c < columns; c++) none[c] = NAN;
    if (none)
        sweep_result_write(result, &(sweep_result){status, none, text}, columns);
    else
        result->failed = true;
    free(none);
}

void sweep_run_point(uint64_t item, sweep_buffer *result, void *user)
{
    sweep_work *w = user;
    sweep_model plain = {.r = w->r, .s = w->s, .keep = w->keep}, *m = &plain;
    const double *point = w->points->value + item * (size_t)w->points->columns;
    char text[DAE_TEXT_SIZE] = "";
    dae_status status = DAE_OK;
    int code = CLI_OK;
    forget_messages(w);
    if (w->structural) {
        m = &w->other;
        if (!has_structure(w, point)) code = open_other(w, point);
        if (code == CLI_OK) forget_messages(w); /* whose turn it was decides about those */
    }
    bool set = code == CLI_OK && set_values(w, m->s->problem, point, text, sizeof text, &status);
    if (set) code = run_model(w, m, item);
    bool failed = !set || code != CLI_OK;
    if (set && failed) status = m->s->diag.status;
    if (failed && status >= 0) status = DAE_ERR_ARGUMENT;
    if (set && failed && m->s->diag.text[0]) snprintf(text, sizeof text, "%s", m->s->diag.text);
    if (!text[0]) collect_messages(w, text, sizeof text);
    const char *undefined = failed ? NULL : sweep_keep_undefined(m->keep);
    if (undefined && !text[0])
        snprintf(text, sizeof text, "%s has no finite value in this run.", undefined);
    if (failed)
        write_failure(w, (int)status, text, result);
    else
        sweep_result_write(result, &(sweep_result){DAE_OK, sweep_keep_values(m->keep), text},
                           sweep_keep_columns(w->keep));
    if (w->structural && code != CLI_OK && !set) close_other(w);
}

void sweep_lost_point(uint64_t item, int signal, sweep_buffer *result, void *user)
{
    char text[200];
    (void)item;
    if (signal)
        snprintf(text, sizeof text,
                 "The process of this run was ended by signal %d (%s), repeatedly.", signal,
                 strsignal(signal));
    else
        snprintf(text, sizeof text, "The process of this run ended without a result, repeatedly.");
    write_failure(user, SWEEP_CRASHED, text, result);
}
