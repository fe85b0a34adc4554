/* What a run writes and prints. */
#include "outputs.h"
#include "run.h"
#include "signals.h"

#include <string.h>

/* ---- files ---- */

/* Seconds that a picture may take after a signal. */
static const double PATIENCE = 0.8;

/* When a drawing began, and signals before. A further one ends it; after one that ended the run a
 * picture of what was reached is drawn if that does not take long. */
typedef struct drawing {
    int before;
    double begin;
} drawing;

static int drawing_ends(void *user)
{
    const drawing *d = user;
    return signals_counted() > d->before || (d->before > 0 && wall_time() - d->begin > PATIENCE);
}

static report_status write_plot(const request *r, const session *s, const recorder *rows,
                                const results_more *more, report_error *error)
{
    drawing d = {signals_counted(), wall_time()};
    report_plot_options plot = {.title = s->m ? s->m->title : s->name,
                                .log_time = r->log_time,
                                .interrupt = drawing_ends,
                                .user = &d,
                                .bars = more ? more->effects : NULL};
    int curves[CHOSEN_VARIABLES];
    signals_watched();
    if (more) return report_plot(r->plot, more->picture, &plot, error);
    if (!r->variables && s->n_shown > MANY_VARIABLES) {
        session_spread(s, CHOSEN_VARIABLES, curves);
        plot.variables = curves;
        plot.variable_count = CHOSEN_VARIABLES;
    }
    return report_plot(r->plot, rows->series, &plot, error);
}

typedef struct json_parts {
    const session *s;
    const report_series *series;
    const results_more *more;
} json_parts;

static void write_json(FILE *out, const void *what)
{
    const json_parts *p = what;
    const dae_diag *diag = p->s->diag.status < 0 ? &p->s->diag : NULL;
    const dae_stats *stats = dae_solver_stats(p->s->solver);
    if (p->more)
        (void)report_effects_json(out, p->series, stats, diag, p->more->effects, NULL);
    else
        (void)report_json(out, p->series, stats, diag, NULL);
}

/* One failure does not keep the others from being written. */
int results_write(const request *r, const session *s, recorder *rows, const results_more *more)
{
    report_error error = {0};
    int code = recorder_finish(rows);
    if (r->json && write_to(r->json, write_json, &(json_parts){s, rows->series, more}) != CLI_OK)
        code = CLI_FAILED;
    if (r->mat && report_mat_file(r->mat, rows->series, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    if (r->plot && write_plot(r, s, rows, more, &error) != REPORT_OK)
        code =
            complain(signal_caught() ? CLI_SIGNAL + signal_caught() : CLI_FAILED, "%s", error.text);
    if (r->json && report_series_check(rows->series, &error) != REPORT_OK)
        code = complain(CLI_FAILED, "%s", error.text);
    return code;
}

/* Columns on the screen, unless the user lists them. */
enum { MAX_COLUMNS = 6 };

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
        double t;
        const double *y = report_series_row(series, i, &t);
        for (int k = 0; k < count; k++) row[k] = y[columns[k]];
        if (report_series_add(part, t, row, NULL) != REPORT_OK) break;
    }
    report_table(stdout, part, &table, NULL);
    report_series_free(part);
}

/* A built-in model: table and, where something is known, the error. */
static void print_builtin(const request *r, session *s, const recorder *rows, int code)
{
    const dae_stats *c = dae_solver_stats(s->solver);
    say("%s: %s\n", s->m->name, s->m->title);
    if (s->n_shown < s->n && !r->variables)
        say("%d of %d variables are recorded; --vars '*' records all\n", s->n_shown, s->n);
    print_table(r, s, rows->series);
    if (code == CLI_OK) session_print_error(s, r->output.tend);
    results_print_notes(r, s, stdout, "note: ");
    say("%ld steps, %ld residuals, %ld Jacobians, %ld factorisations, %.3g s\n", c->steps,
        c->residuals + c->jacobian_residuals, c->jacobians, c->factorisations, s->seconds);
}

/* ---- the summary of a model text ---- */

/* The method's full name, or that the choice is left to the library. */
static const char *method_used(const request *r, const session *s)
{
    if (r->options.integrator) return r->options.integrator->name;
    return strcmp(r->options.method, "auto") == 0 ? "auto" : dae_solver_method(s->solver);
}

static void print_size(const session *s)
{
    dae_counts c = dae_problem_counts(s->problem);
    say("  size      %s, %s", PLURAL(c.equations - c.idle + c.definitions + c.outputs, "equation"),
        PLURAL(c.variables, "variable"));
    if (c.eliminated > 0 && c.discrete > 0)
        say(" (%d eliminated, %d discrete)", c.eliminated, c.discrete);
    else if (c.eliminated + c.discrete > 0)
        say(" (%d %s)", c.eliminated + c.discrete, c.eliminated ? "eliminated" : "discrete");
    if (c.definitions > 0) say(", %s", PLURAL(c.definitions, "definition"));
    if (c.outputs > 0) say(", %s", PLURAL(c.outputs, "output"));
    say(", %s\n", PLURAL(c.parameters, "parameter"));
}

static void print_work(const session *s)
{
    const dae_stats *c = dae_solver_stats(s->solver);
    const char *choice = dae_solver_choice(s->solver);
    const char *linear = dae_solver_linear(s->solver);
    if (*choice) say("  chosen    %s\n", choice);
    if (*linear) say("  %s%s\n", *choice ? "          " : "chosen    ", linear);
    say("  work      %s, %ld rejected, %s, %.3g s, and %.3g s to translate\n",
        PLURAL(c->steps, "step"), c->attempts - c->steps, PLURAL(c->events, "event"), s->seconds,
        s->translation);
}

enum { MOST_END_VALUES = 10 };

/* Name, value, unit and description of one variable. */
static void print_end_value(const session *s, int i, int width)
{
    const char *unit = session_unit(s, i), *text = session_description(s, i);
    dae_variable_info info = dae_problem_variable_info(s->problem, i < s->n ? i : -1);
    say("  %-*s  ", width, session_name(s, i));
    if (session_digits(s, i) && info.type == DAE_TYPE_REAL)
        say("%-*s", *unit || *text ? 42 : 0, session_digits(s, i));
    else
        print_value(stdout, info.type, info.literals, info.literal_count, s->y[i],
                    *unit || *text ? -16 : 0);
    if (*text)
        say(" %-8s %s", unit, text);
    else if (*unit)
        say(" %s", unit);
    putchar('\n');
}

/* The recorded variables where the run ended, or the first few of them. */
static void print_end_values(const request *r, const session *s)
{
    int count = r->variables || s->n_shown <= MOST_END_VALUES ? s->n_shown : MOST_END_VALUES;
    int width = 0;
    for (int k = 0; k < count; k++) {
        int length = (int)strlen(session_name(s, s->recorded[k]));
        if (length > width) width = length;
    }
    if (width > 40) width = 40;
    say("at time %.10g\n", s->t);
    for (int k = 0; k < count; k++) print_end_value(s, s->recorded[k], width);
    if (count < s->n && !r->variables)
        say("  .. and %d more; --vars '*' shows all\n", s->n - count);
}

/* How the equations were evaluated in the end. */
static const char *engine_used(const request *r, const session *s)
{
    bool native = dae_solver_engine(s->solver) == DAE_ENGINE_NATIVE;
    return native ? "native" : r->engine == DAE_ENGINE_NATIVE ? "tape (not native)" : "tape";
}

void results_print_notes(const request *r, const session *s, FILE *out, const char *label)
{
    const dae_diag *last = dae_solver_diag(s->solver); /* as that a model has ended the run */
    if (last->status == DAE_OK && last->text[0]) fprintf(out, "%s%s\n", label, last->text);
    if (r->options.fixed_step > 0.0)
        fprintf(out,
                "%sConstant steps of %g: no error was estimated, and rtol and atol were not asked "
                "for. Compare with half the step, or with '--verify'.\n",
                label, r->options.fixed_step);
    if (r->steps)
        fprintf(out,
                "%sSteps of '%s': no error was estimated, and rtol and atol were not asked for. "
                "Compare with steps half as long, or with '--verify'.\n",
                label, r->steps);
    print_unresolved(s, out, label);
}

void results_print_summary(const request *r, const session *s)
{
    say("%s (%s)\n", s->name, r->model_name);
    print_size(s);
    say("  interval  %g to %g s\n", r->output.t0, r->output.tend);
    say("  method    %s, rtol %g, atol %g, engine %s\n", method_used(r, s), r->options.rtol,
        r->options.atol, engine_used(r, s));
    print_work(s);
    results_print_notes(r, s, stdout, "  note      ");
}

static void print_text(const request *r, const session *s)
{
    results_print_summary(r, s);
    print_end_values(r, s);
}

void results_print(const request *r, session *s, const recorder *rows, int code)
{
    if (s->m)
        print_builtin(r, s, rows, code);
    else
        print_text(r, s);
    if (r->stats) session_print_statistics(s);
}

/* "wrote p.svg (12 of 500 variables; --vars '*' draws all)" */
static void print_picture(const request *r, const session *s)
{
    int drawn = s->n_shown <= MANY_VARIABLES || r->variables ? s->n_shown : CHOSEN_VARIABLES;
    say("wrote %s (", r->plot);
    if (drawn < s->n && !r->variables)
        say("%d of %d variables; --vars '*' draws all)\n", drawn, s->n);
    else
        say("%s)\n", PLURAL(drawn, "variable"));
}

void results_print_data_files(const request *r, const session *s, const recorder *rows)
{
    const char *data[] = {r->csv, r->json, r->mat};
    for (int i = 0; i < 3; i++)
        if (data[i])
            say("wrote %s (%s, %s)\n", data[i], PLURAL((long)rows->count, "row"),
                PLURAL(i < 2 ? rows->series->shown : rows->series->n, "variable"));
    if (s->history_written) say("wrote %s\n", r->history);
    if (s->tableau_written) say("wrote %s\n", r->tableau);
}

void results_print_files(const request *r, const session *s, const recorder *rows)
{
    results_print_data_files(r, s, rows);
    if (r->plot) print_picture(r, s);
}
