/* What `daedal fit` prints and writes. */
#include "fit.h"
#include "outputs.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const loss_names[] = {"squares", "huber", "cauchy"};

static int no_memory(void)
{
    return complain(CLI_FAILED, "out of memory");
}

/* ---- the result for reports ---- */

/* Owned by the caller; NULL: memory. */
static report_fit_parameter *describe(const fit_work *w, report_fit *fit)
{
    const dae_problem *problem = w->s->problem;
    report_fit_parameter *list = calloc((size_t)w->parameter_count, sizeof *list);
    for (int k = 0; list && k < w->parameter_count; k++) {
        const dae_fit_parameter *p = &w->parameters[k];
        bool bounded = p->lower != 0.0 || p->upper != 0.0, start = w->number[k] < 0;
        const char *unit =
            start ? dae_problem_unit(problem, dae_problem_find_variable(problem, p->name))
                  : dae_problem_parameter_unit(problem, w->number[k]);
        list[k] = (report_fit_parameter){.name = p->name,
                                         .unit = unit,
                                         .start = start,
                                         .lower = bounded ? p->lower : -INFINITY,
                                         .upper = bounded ? p->upper : INFINITY};
    }
    *fit = (report_fit){list, w->result, loss_names[w->request.loss], w->count};
    return list;
}

int fit_exit_code(const fit_work *w)
{
    if (signal_caught()) return CLI_SIGNAL + signal_caught();
    return w->result->end == DAE_FIT_CONVERGED ? CLI_OK : CLI_UNFIT;
}

void fit_print(const fit_work *w, const request *r)
{
    report_fit fit;
    report_fit_parameter *list = describe(w, &fit);
    say("%s (%s)\n", w->s->name, r->model_name);
    for (int k = 0; k < w->count; k++) {
        const experiment *e = &w->list[k];
        say("  data      %s: %s of %s", e->path, PLURAL(e->data.rows, "row"),
            PLURAL(e->data.columns, "variable"));
        for (int i = 0; i < e->setting_count; i++)
            say(", %s = %g", e->settings[i].name, e->settings[i].value);
        putchar('\n');
        fit_print_times(w, r, e);
    }
    if (list) (void)report_fit_table(stdout, &fit, NULL);
    free(list);
}

void fit_print_files(const fit_work *w, const request *r)
{
    const char *files[] = {r->csv, r->json, r->mat, r->plot, r->fit.words};
    (void)w;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k]) say("wrote %s\n", files[k]);
}

/* ---- rows: the model at the times of the data, and the data ---- */

/* All measured variables, in the order of the model. Owned by the caller; NULL: memory. */
static int *measured(const fit_work *w, int *count)
{
    int *list = calloc((size_t)w->s->n, sizeof *list);
    *count = 0;
    for (int i = 0; list && i < w->s->n; i++) {
        bool found = false;
        for (int e = 0; e < w->count; e++)
            for (int j = 0; j < w->list[e].data.columns; j++)
                found = found || w->list[e].variables[j] == i;
        if (found) list[(*count)++] = i;
    }
    return list;
}

/* The model with the best values, along the times of `where`: rows x columns. */
static int compute(const fit_work *w, const dae_fit_data *where, double **values)
{
    dae_diag diag = {0};
    *values = calloc((size_t)where->rows * (size_t)where->columns, sizeof **values);
    if (!*values) return no_memory();
    dae_status status =
        dae_fit_curves(w->s->problem, &w->request, w->result->values, where, *values, &diag);
    return status == DAE_OK ? CLI_OK : session_complain(w->s, status, diag.text);
}

/* Columns: the experiment, if there are several; x, data(x) for each of the measured variables. */
static report_series *new_series(const fit_work *w, const int *list, int count)
{
    enum { SIZE = 300 };
    int first = w->count > 1 ? 1 : 0, n = first + 2 * count;
    char(*texts)[SIZE] = calloc((size_t)n, sizeof *texts);
    const char **names = calloc(2 * (size_t)n, sizeof *names), **units = names ? names + n : NULL;
    report_series *series = NULL;
    for (int k = 0; texts && names && k < n; k++) {
        int i = k < first ? -1 : list[(k - first) / 2];
        const char *name = i < 0 ? "experiment" : dae_problem_variable(w->s->problem, i);
        snprintf(texts[k], SIZE, (k - first) % 2 == 1 ? "data(%.280s)" : "%.290s", name);
        names[k] = texts[k];
        units[k] = i < 0 ? "" : dae_problem_unit(w->s->problem, i);
    }
    bool ok = texts && names && report_series_new(n, names, &series, NULL) == REPORT_OK &&
              report_series_label(series, "time", "s", units, NULL, NULL) == REPORT_OK;
    free(texts);
    free(names);
    if (ok) return series;
    report_series_free(series);
    return NULL;
}

/* The place of a variable among the columns of an experiment; -1: it was not measured there. */
static int column_of(const experiment *e, int variable)
{
    for (int j = 0; j < e->data.columns; j++)
        if (e->variables[j] == variable) return j;
    return -1;
}

/* The rows of experiment number k. */
static int add_rows(const fit_work *w, int k, const int *list, int count, report_series *series)
{
    const experiment *e = &w->list[k];
    double *values = NULL, *row = calloc((size_t)series->n, sizeof *row);
    int code = row ? compute(w, &e->data, &values) : no_memory();
    for (int i = 0; i < e->data.rows && code == CLI_OK; i++) {
        double *to = row;
        if (w->count > 1) *to++ = k + 1;
        for (int v = 0; v < count; v++) {
            int j = column_of(e, list[v]);
            size_t at = (size_t)i * (size_t)e->data.columns + (size_t)(j < 0 ? 0 : j);
            *to++ = j < 0 ? NAN : values[at];
            *to++ = j < 0 ? NAN : e->values[at];
        }
        if (report_series_add(series, e->data.times[i], row, NULL) != REPORT_OK) code = no_memory();
    }
    free(values);
    free(row);
    return code;
}

/* ---- the picture ---- */

/* Times of a curve: the grid of the words up to the last row of the experiment. */
static double *curve_times(const request *r, const experiment *e, int *count)
{
    enum { POINTS = 501 };
    grid g = r->output;
    g.tend = e->data.times[e->data.rows - 1];
    if (g.kind == GRID_STEPS || !(g.tend > g.t0)) g.kind = GRID_LINEAR, g.count = POINTS;
    double t, *times = NULL;
    *count = 0;
    while (grid_time(&g, *count, &t)) ++*count;
    times = calloc((size_t)*count, sizeof *times);
    for (int k = 0; times && k < *count; k++) (void)grid_time(&g, k, &times[k]);
    return times;
}

/* A curve for each column of each experiment; of several, files are named. */
static report_series *new_curves(const fit_work *w)
{
    enum { SIZE = 300 };
    int n = 0, at = 0;
    for (int k = 0; k < w->count; k++) n += w->list[k].data.columns;
    char(*texts)[SIZE] = calloc((size_t)n, sizeof *texts);
    const char **names = calloc(2 * (size_t)n, sizeof *names), **units = names ? names + n : NULL;
    report_series *series = NULL;
    for (int k = 0; texts && names && k < w->count; k++)
        for (int j = 0; j < w->list[k].data.columns; j++, at++) {
            const char *file = strrchr(w->list[k].path, '/');
            snprintf(texts[at], SIZE, w->count > 1 ? "%.140s, %d: %.140s" : "%.140s",
                     w->list[k].names[j], k + 1, file ? file + 1 : w->list[k].path);
            names[at] = texts[at];
            units[at] = dae_problem_unit(w->s->problem, w->list[k].variables[j]);
        }
    bool ok = texts && names && report_series_new(n, names, &series, NULL) == REPORT_OK &&
              report_series_label(series, "time", "s", units, NULL, NULL) == REPORT_OK;
    free(texts);
    free(names);
    if (ok) return series;
    report_series_free(series);
    return NULL;
}

/* Rows of one experiment, whose columns begin at `first`; NAN elsewhere. */
static int add_part(report_series *series, const dae_fit_data *d, const double *values, int first)
{
    double *row = calloc((size_t)series->n, sizeof *row);
    int code = row ? CLI_OK : no_memory();
    for (int k = 0; row && k < series->n; k++) row[k] = NAN;
    for (int i = 0; i < d->rows && code == CLI_OK; i++) {
        memcpy(row + first, values + (size_t)i * (size_t)d->columns,
               (size_t)d->columns * sizeof *row);
        if (report_series_add(series, d->times[i], row, NULL) != REPORT_OK) code = no_memory();
    }
    free(row);
    return code;
}

/* Curve and points of experiment number k. */
static int draw_experiment(const fit_work *w, const request *r, int k, int first,
                           report_series *curves, report_series *points)
{
    const experiment *e = &w->list[k];
    dae_fit_data where = e->data;
    double *times = curve_times(r, e, &where.rows), *values = NULL;
    where.times = times;
    int code = times ? compute(w, &where, &values) : no_memory();
    if (code == CLI_OK) code = add_part(curves, &where, values, first);
    if (code == CLI_OK) code = add_part(points, &e->data, e->values, first);
    free(times);
    free(values);
    return code;
}

static int draw(const fit_work *w, const request *r)
{
    report_error error = {0};
    char title[200];
    report_series *curves = new_curves(w), *points = new_curves(w);
    int code = curves && points ? CLI_OK : no_memory();
    for (int k = 0, first = 0; k < w->count && code == CLI_OK; k++) {
        code = draw_experiment(w, r, k, first, curves, points);
        first += w->list[k].data.columns;
    }
    snprintf(title, sizeof title, "%.150s: fit and data", w->s->name);
    report_plot_options plot = {.title = title, .log_time = r->log_time, .points = points};
    signals_watched();
    if (code == CLI_OK && report_plot(r->plot, curves, &plot, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    report_series_free(curves);
    report_series_free(points);
    return code;
}

/* ---- files ---- */

/* Words that `daedal run` takes. */
static void write_words(FILE *out, const void *what)
{
    const fit_work *w = what;
    for (int k = 0; k < w->parameter_count; k++)
        fprintf(out, "--%s %s=%.17g\n", w->number[k] >= 0 ? "set" : "start", w->parameters[k].name,
                w->result->values[k]);
}

typedef struct json_parts {
    const report_series *series;
    const report_fit *fit;
} json_parts;

static void write_json(FILE *out, const void *what)
{
    const json_parts *p = what;
    (void)report_fit_json(out, p->series, p->fit, NULL);
}

static void write_csv(FILE *out, const void *what)
{
    (void)report_csv(out, what, NULL);
}

/* One failure does not keep the others from being written. */
static int write_series(const fit_work *w, const request *r, const report_series *series)
{
    report_error error = {0};
    report_fit fit;
    report_fit_parameter *list = describe(w, &fit);
    int code = list ? CLI_OK : no_memory();
    if (r->csv && write_to(r->csv, write_csv, series) != CLI_OK) code = CLI_FAILED;
    if (list && r->json && write_to(r->json, write_json, &(json_parts){series, &fit}) != CLI_OK)
        code = CLI_FAILED;
    if (r->mat && report_mat_file(r->mat, series, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    free(list);
    return code;
}

static int write_rows(const fit_work *w, const request *r)
{
    int count, *list = measured(w, &count);
    report_series *series = list ? new_series(w, list, count) : NULL;
    int code = series ? CLI_OK : no_memory();
    for (int k = 0; k < w->count && code == CLI_OK; k++) code = add_rows(w, k, list, count, series);
    if (code == CLI_OK) code = write_series(w, r, series);
    report_series_free(series);
    free(list);
    return code;
}

int fit_write(fit_work *w, const request *r)
{
    int code = CLI_OK;
    if (r->fit.words) code = write_to(r->fit.words, write_words, w);
    if (r->csv || r->json || r->mat) {
        int written = write_rows(w, r);
        if (code == CLI_OK) code = written;
    }
    if (r->plot) {
        int drawn = draw(w, r);
        if (code == CLI_OK) code = drawn;
    }
    return code;
}
