/* The table of a sweep: files, pictures, and words for people. */
#define _POSIX_C_SOURCE 200809L

#include "sweep_work.h"

#include "module.h"
#include "outputs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *sweep_main_file(const request *r)
{
    const char *const list[] = {r->csv, r->json, r->mat, r->sweep.hdf5, r->plot};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (list[k] && !is_stdout(list[k])) return list[k];
    return NULL;
}

/* ---- the table ---- */

/* A table of what was found; its lists are the caller's, in one block at `columns`. */
typedef struct table {
    report_sweep_column *columns;
    const char **status, **message;
    int *curves;
    report_sweep sweep;
} table;

static void table_free(table *t)
{
    free(t->columns);
    free(t->status);
    free(t->message);
    free(t->curves);
}

static const char *status_word(int status)
{
    if (status == SWEEP_CRASHED) return "CRASHED";
    return status >= 0 ? "ok" : dae_status_name((dae_status)status);
}

static bool table_fill(const sweep_work *w, table *t)
{
    const sweep_points *p = w->points;
    int kept = sweep_keep_columns(w->keep), curves = sweep_keep_curves(w->keep);
    static const char *const ways[] = {"random", "lhs", "sobol"};
    *t = (table){.columns = calloc((size_t)(p->columns + kept) + 1, sizeof *t->columns),
                 .status = calloc(p->count + 1, sizeof *t->status),
                 .message = calloc(p->count + 1, sizeof *t->message),
                 .curves = calloc((size_t)curves + 1, sizeof *t->curves)};
    if (!t->columns || !t->status || !t->message || !t->curves) return false;
    for (int c = 0; c < p->columns; c++) t->columns[c] = w->columns[c].report;
    for (int c = 0; c < kept; c++)
        t->columns[p->columns + c] = (report_sweep_column){.name = sweep_keep_name(w->keep, c),
                                                           .unit = sweep_keep_unit(w->keep, c)};
    for (size_t i = 0; i < p->count; i++) {
        t->status[i] = status_word(w->status[i]);
        t->message[i] = w->text[i] ? w->text[i] : "";
    }
    for (int k = 0; k < curves; k++) t->curves[k] = sweep_keep_curve_column(w->keep, k);
    t->sweep = (report_sweep){.model = w->s->name,
                              .version = dae_version(),
                              .count = p->count,
                              .inputs = p->columns,
                              .outputs = kept,
                              .columns = t->columns,
                              .input = p->value,
                              .output = w->values,
                              .status = t->status,
                              .message = t->message,
                              .by = p->sampled ? ways[p->by] : NULL,
                              .seed = p->seed,
                              .times = w->times,
                              .time_count = curves > 0 ? w->time_count : 0,
                              .curves = t->curves,
                              .curve_count = curves};
    return true;
}

/* ---- files ---- */

static void write_csv(FILE *out, const void *what)
{
    (void)report_sweep_csv(out, what, NULL);
}

static void write_json(FILE *out, const void *what)
{
    (void)report_sweep_json(out, what, NULL);
}

static void write_mat(FILE *out, const void *what)
{
    (void)report_sweep_mat(out, what, NULL);
}

/* HDF5 writes a file by itself: beside its place, until it is complete. */
static int write_hdf5(const char *path, const report_sweep *sweep)
{
    char beside[4200];
    const hdf5_module *module = module_hdf5();
    if (!module) return CLI_FAILED;
    snprintf(beside, sizeof beside, "%s.%ld.partial", path, (long)getpid());
    const char *why = module->write(beside, sweep);
    if (!why && rename(beside, path) != 0) why = strerror(errno);
    if (!why) return CLI_OK;
    unlink(beside);
    return complain(CLI_FAILED, "'%s' cannot be written: %s", path, why);
}

static int write_picture(const char *path, const report_sweep *sweep)
{
    report_error error = {0};
    if (report_sweep_plot(path, sweep, NULL, &error) == REPORT_OK) return CLI_OK;
    return complain(CLI_FAILED, "%s", error.text);
}

/* The journal goes when all files are written. That of a sweep whose points all failed stays, for
 * '--resume', until another sweep takes its place. */
static int end_journal(sweep_work *w, int code)
{
    report_error error = {0};
    bool stays = code != CLI_OK || w->failed == w->points->count;
    if (w->journal && code == CLI_OK && stays &&
        sweep_journal_finish(w->journal, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    sweep_journal_close(w->journal, !stays);
    w->journal = NULL;
    return code;
}

/* One failure does not keep the others from being written. */
int sweep_write(sweep_work *w)
{
    const request *r = w->r;
    table t;
    int code = table_fill(w, &t) ? CLI_OK : complain(CLI_FAILED, "out of memory");
    if (code == CLI_OK) {
        if (r->csv && write_to(r->csv, write_csv, &t.sweep) != CLI_OK) code = CLI_FAILED;
        if (r->json && write_to(r->json, write_json, &t.sweep) != CLI_OK) code = CLI_FAILED;
        if (r->mat && write_to(r->mat, write_mat, &t.sweep) != CLI_OK) code = CLI_FAILED;
        if (r->sweep.hdf5 && write_hdf5(r->sweep.hdf5, &t.sweep) != CLI_OK) code = CLI_FAILED;
        if (r->plot && write_picture(r->plot, &t.sweep) != CLI_OK) code = CLI_FAILED;
    }
    table_free(&t);
    return end_journal(w, code);
}

/* ---- words ---- */

enum { MOST_ROWS = 12, MOST_COLUMNS = 12, MOST_FAILURES = 3 };

static void print_statistics(const sweep_work *w, int c)
{
    size_t columns = (size_t)sweep_keep_columns(w->keep), n = 0;
    double least = INFINITY, most = -INFINITY, mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < w->points->count; i++) {
        double x = w->values[i * columns + (size_t)c];
        if (w->status[i] < 0 || isnan(x)) continue;
        least = fmin(least, x);
        most = fmax(most, x);
        double step = x - mean; /* Welford's update */
        mean += step / (double)++n;
        squares += step * (x - mean);
    }
    say("  %-24s", sweep_keep_name(w->keep, c));
    if (n == 0) {
        say("  no value\n");
        return;
    }
    say("  %12.6g  %12.6g  %12.6g  %12.6g  %s", least, mean, most,
        n > 1 ? sqrt(squares / (double)(n - 1)) : 0.0, sweep_keep_unit(w->keep, c));
    if (n < w->points->count) say("  (%zu values)", n);
    putchar('\n');
}

/* All rows of a small sweep that goes to no file. */
static void print_rows(const sweep_work *w)
{
    int kept = sweep_keep_columns(w->keep);
    const sweep_points *p = w->points;
    for (int c = 0; c < p->columns; c++) say("  %14.14s", w->columns[c].name);
    for (int c = 0; c < kept && c < MOST_COLUMNS / 2; c++)
        say("  %14.14s", sweep_keep_name(w->keep, c));
    say("\n");
    for (size_t i = 0; i < p->count; i++) {
        for (int c = 0; c < p->columns; c++) {
            const report_sweep_column *b = &w->columns[c].report;
            double x = p->value[i * (size_t)p->columns + (size_t)c];
            if (b->words)
                say("  %14.14s", b->words[(int)x - b->first]);
            else
                say("  %14.7g", x);
        }
        for (int c = 0; c < kept && c < MOST_COLUMNS / 2; c++)
            say("  %14.7g", w->values[i * (size_t)kept + (size_t)c]);
        say("%s%s\n", w->status[i] < 0 ? "  " : "",
            w->status[i] < 0 ? status_word(w->status[i]) : "");
    }
}

static void print_failures(const sweep_work *w)
{
    int shown = 0;
    for (size_t i = 0; i < w->points->count && shown < MOST_FAILURES; i++) {
        if (w->status[i] >= 0) continue;
        say("  point %zu failed: %s\n", i + 1, w->text[i] ? w->text[i] : "");
        shown++;
    }
    if (w->failed > MOST_FAILURES)
        say("  .. and %zu more; column 'message' of the table has them all\n",
            w->failed - MOST_FAILURES);
}

void sweep_print(const sweep_work *w)
{
    const request *r = w->r;
    size_t noted = 0, all = w->points->count;
    int kept = sweep_keep_columns(w->keep);
    const char *const files[] = {r->csv, r->json, r->mat, r->sweep.hdf5, r->plot};
    for (size_t i = 0; i < all; i++) noted += w->status[i] >= 0 && w->text[i];
    say("%s (%s): %s, %zu failed\n", w->s->name, r->model_name, PLURAL((long)all, "point"),
        w->failed);
    say("  work      %.3g s, %.4g runs/s on %s", w->seconds,
        (double)(all - w->known) / fmax(w->seconds, 1e-9),
        PLURAL((long)w->jobs * w->ranks, "worker"));
    if (w->known > 0) say("; %zu points were in the journal", w->known);
    say("\n");
    if (w->points->sampled) say("  seed      %llu\n", (unsigned long long)w->points->seed);
    if (noted > 0) say("  notes     %zu runs have something to say: column 'message'\n", noted);
    print_failures(w);
    bool small = all <= MOST_ROWS && !sweep_main_file(r);
    if (small) print_rows(w);
    if (!small) say("  %-24s  %12s  %12s  %12s  %12s\n", "", "least", "mean", "most", "deviation");
    for (int c = 0; c < kept && c < MOST_COLUMNS && !small; c++) print_statistics(w, c);
    if (kept > MOST_COLUMNS && !small) say("  .. and %d more\n", kept - MOST_COLUMNS);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k]) say("wrote %s\n", files[k]);
    if (r->sweep.runs) say("wrote %zu runs into %s\n", all - w->failed, r->sweep.runs);
}
