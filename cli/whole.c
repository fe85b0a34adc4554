/* Solutions that are known at all times at once: rows, values at both ends, files. */
#include "whole.h"

#include <stdlib.h>
#include <string.h>

static int record(const whole_solution *w, const grid *g, recorder *rows)
{
    session *s = w->s;
    int code = CLI_OK;
    for (long k = 0; code == CLI_OK; k++) {
        double t;
        if (g->kind == GRID_STEPS && k > w->intervals) break;
        if (g->kind == GRID_STEPS)
            t = w->mesh(w->user, (int)k);
        else if (!grid_time(g, k, &t))
            break;
        code = w->values(w->user, t);
        if (code == CLI_OK) session_watch_bounds(s, t);
        for (int i = 0; i < s->n_recorded; i++) s->row[i] = s->y[s->recorded[i]];
        if (code == CLI_OK) code = recorder_add(rows, t, s->row, NULL);
        s->t = t;
    }
    return code;
}

static void print_table(const session *s, const double *start, int count)
{
    int width = 4;
    for (int k = 0; k < count; k++) {
        int length = (int)strlen(session_name(s, s->recorded[k]));
        if (length > width && length <= 40) width = length;
    }
    say("  %-*s  %-18s %-18s\n", width, "", "at the start", "at the end");
    for (int k = 0; k < count; k++)
        say("  %-*s  %-18.10g %-18.10g %s\n", width, session_name(s, s->recorded[k]),
            start[s->recorded[k]], s->y[s->recorded[k]], session_unit(s, s->recorded[k]));
}

void whole_print_ends(const whole_solution *w, const request *r)
{
    enum { MOST = 10 };
    session *s = w->s;
    int count = r->variables || s->n_shown <= MOST ? s->n_shown : MOST;
    double *start = calloc((size_t)s->n_all + 1, sizeof *start);
    bool ok = start && w->values(w->user, r->output.t0) == CLI_OK;
    if (ok) memcpy(start, s->y, (size_t)s->n * sizeof *start);
    if (ok && w->values(w->user, r->output.tend) == CLI_OK) {
        print_table(s, start, count);
        if (count < s->n && !r->variables)
            say("  .. and %d more; --vars '*' shows all\n", s->n - count);
    }
    free(start);
}

int whole_report(const whole_solution *w, const request *r)
{
    recorder rows;
    const bool quiet = r->quiet || request_streams(r);
    const char *near = r->mat ? r->mat : r->json ? r->json : r->plot;
    int code = recorder_open(&rows, w->s, r->csv, near != NULL, near);
    w->s->rtol = r->options.rtol; /* by which values may leave their bounds */
    w->s->atol = r->atol >= 0.0 ? r->atol : r->options.rtol;
    if (code == CLI_OK) {
        code = record(w, &r->output, &rows);
        if (!quiet && code == CLI_OK) w->print(w->user, r);
        if (code == CLI_OK) code = results_write(r, w->s, &rows, NULL);
        if (!quiet && code == CLI_OK) results_print_files(r, w->s, &rows);
    }
    recorder_close(&rows);
    return code;
}

int whole_check_recorded(const session *s, const command *of)
{
    for (int k = 0; k < s->n_recorded; k++)
        if (s->recorded[k] >= s->n)
            return complain(CLI_USAGE,
                            "option '--vars': %s is no variable: 'daedal %s' records no "
                            "derivatives; give it a name in the model",
                            session_name(s, s->recorded[k]), of->name);
    return CLI_OK;
}
