/* daedal sens MODEL --by k1,k2: derivatives of a solution by parameters and start values. */
#include "sens.h"

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

/* Words of `run` and `verify` that have no meaning here. */
static int check_words(const request *r)
{
    if (!r->text)
        return complain(CLI_USAGE,
                        "sensitivities need a model text, and '%s' is built in: it has no "
                        "parameters",
                        r->model_name);
    const struct {
        const char *name;
        bool given;
    } words[] = {{"--verify", r->verify},
                 {"--judge", r->judge != NULL},
                 {"--limit", r->limit > 0.0},
                 {"--all", r->all}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].given)
            return complain(CLI_USAGE, "option '%s' is for 'daedal verify'", words[k].name);
    return CLI_OK;
}

static int make_sensitivity(sens *q, const request *r)
{
    const char **names = calloc((size_t)q->by_count, sizeof *names);
    if (!names) return complain(CLI_FAILED, "out of memory");
    for (int k = 0; k < q->by_count; k++) names[k] = q->by[k].name;
    dae_diag diag = {0};
    dae_sensitivity_request wanted = {
        .count = q->by_count, .names = names, .corrector = (dae_corrector)r->corrector};
    dae_status status = dae_sensitivity_new(q->s->solver, &wanted, &q->x, &diag);
    free(names);
    return status == DAE_OK ? CLI_OK : session_complain(q->s, status, diag.text);
}

/* ---- the picture ---- */

/* Of models with more, those that move most are drawn, unless the words choose. */
enum { MOST_VARIABLES = 4, MOST_PARAMETERS = 7 };

typedef struct picture {
    int *of, *by; /* numbers of variables and directions; owned, in one block at of */
    int of_count, by_count;
    report_series *series; /* owned */
} picture;

/* The largest relative derivative of variable i. */
static double moved(const sens *q, int i)
{
    double most = 0.0;
    for (int k = 0; k < q->by_count; k++)
        most = fmax(most, fabs(sens_factor(q, i, k) * q->largest[i * q->by_count + k]));
    return most;
}

/* The first `count` entries of list are those that move most; the others follow as they were. */
static void bring_forward(const sens *q, int *list, int all, int count)
{
    for (int place = 0; place < count; place++) {
        int best = place;
        for (int j = place + 1; j < all; j++)
            if (moved(q, list[j]) > moved(q, list[best])) best = j;
        int chosen = list[best];
        memmove(list + place + 1, list + place, (size_t)(best - place) * sizeof *list);
        list[place] = chosen;
    }
}

static int choose_curves(const sens *q, const request *r, picture *p)
{
    p->of = calloc((size_t)(q->of_count + q->by_count), sizeof *p->of);
    if (!p->of) return complain(CLI_FAILED, "out of memory");
    p->by = p->of + q->of_count;
    p->of_count = q->of_count;
    for (int i = 0; i < q->of_count; i++) p->of[i] = i;
    if (!r->variables && q->of_count > MOST_VARIABLES) {
        p->of_count = MOST_VARIABLES;
        bring_forward(q, p->of, q->of_count, p->of_count);
    }
    for (int e = 0; e < q->by_count && e < MOST_PARAMETERS; e++)
        for (int k = 0; k < q->by_count; k++)
            if (q->by[k].name == q->effects[e].name) p->by[p->by_count++] = k;
    return CLI_OK;
}

/* An empty series of the curves. A panel has those of one unit, and so of one variable. */
static report_status name_curves(const sens *q, picture *p, report_error *error)
{
    enum { SIZE = 200 };
    const size_t count = (size_t)p->of_count * (size_t)p->by_count;
    char(*texts)[SIZE] = calloc(2 * count, sizeof *texts);
    const char **names = calloc(2 * count, sizeof *names);
    report_status status = texts && names ? REPORT_OK : REPORT_ERR_MEMORY;
    for (size_t c = 0; c < count && status == REPORT_OK; c++) {
        int variable = q->s->recorded[q->of[p->of[c / (size_t)p->by_count]]];
        const char *x = session_name(q->s, variable);
        const char *k = q->by[p->by[c % (size_t)p->by_count]].name;
        snprintf(texts[c], SIZE, "%.90s by %.90s", x, k);
        snprintf(texts[count + c], SIZE, "relative, %.90s", x);
        names[c] = texts[c];
        names[count + c] = texts[count + c];
    }
    if (status == REPORT_OK) status = report_series_new((int)count, names, &p->series, error);
    if (status == REPORT_OK)
        status = report_series_label(p->series, "time", "s", names + count, NULL, error);
    free(texts);
    free(names);
    return status;
}

/* Relative derivatives of the chosen pairs, from rows of the run. */
static int draw_curves(const sens *q, const request *r, const report_series *rows, picture *p)
{
    report_error error = {0};
    int code = choose_curves(q, r, p);
    if (code != CLI_OK) return code;
    report_status status = name_curves(q, p, &error);
    if (status == REPORT_OK) status = report_series_spool(p->series, r->plot, &error);
    double *y = calloc((size_t)p->of_count * (size_t)p->by_count, sizeof *y);
    if (!y) status = REPORT_ERR_MEMORY;
    for (size_t row = 0; row < rows->count && status == REPORT_OK; row++) {
        double t;
        const double *from = report_series_row(rows, row, &t) + q->s->n_recorded;
        for (int i = 0; i < p->of_count; i++)
            for (int k = 0; k < p->by_count; k++) {
                double factor = r->relative ? 1.0 : sens_factor(q, p->of[i], p->by[k]);
                y[i * p->by_count + k] = factor * from[p->of[i] * q->by_count + p->by[k]];
            }
        status = report_series_add(p->series, t, y, &error);
    }
    free(y);
    if (status == REPORT_OK) return CLI_OK;
    return complain(CLI_FAILED, "%s", error.text[0] ? error.text : "out of memory");
}

/* ---- rows ---- */

/* Relative derivatives need the largest |x|, which the last row may have: rows are written when all
 * are there. */
static int make_relative(const sens *q, const request *r, const char *near, recorder *rows)
{
    recorder scaled;
    double *row = calloc((size_t)rows->series->n, sizeof *row);
    int code = row ? recorder_open(&scaled, q->s, r->csv, near != NULL, near)
                   : complain(CLI_FAILED, "out of memory");
    for (size_t k = 0; k < rows->count && code == CLI_OK; k++) {
        double t, *at = row + q->s->n_recorded;
        memcpy(row, report_series_row(rows->series, k, &t), (size_t)rows->series->n * sizeof *row);
        for (int i = 0; i < q->of_count; i++)
            for (int d = 0; d < q->by_count; d++) *at++ *= sens_factor(q, i, d);
        code = recorder_add(&scaled, t, row, NULL);
    }
    if (row) {
        recorder_close(rows);
        *rows = scaled;
    }
    free(row);
    return code;
}

/* ---- what people read ---- */

static void print_notes(const sens *q)
{
    for (int k = 0; k < q->by_count; k++)
        if (q->by[k].value == 0.0)
            say("  note      %s is 0; in relative derivatives it counts as 1\n", q->by[k].name);
    for (int k = 0; k < q->s->n_recorded; k++) {
        const char *name = session_name(q->s, q->s->recorded[k]);
        dae_type type = dae_problem_variable_info(q->s->problem, q->s->recorded[k]).type;
        if (type != DAE_TYPE_REAL) say("  note      %s is no Real: it has no derivatives\n", name);
    }
}

static void print_event(const report_effects *effects)
{
    if (isnan(effects->event_time)) return;
    say("last event at %.10g\n", effects->event_time);
    for (int k = 0; k < effects->count; k++)
        say("  its time by %s: %.10g\n", effects->list[k].name,
            effects->list[k].event_derivative + 0.0); /* no -0 */
}

static void print_statistics(const session *s, const dae_sensitivity_stats *c)
{
    session_print_statistics(s);
    const struct {
        const char *name;
        long value;
    } lines[] = {{"steps", c->steps},
                 {"rejected steps", c->rejected},
                 {"linearisations", c->jacobians},
                 {"factorisations", c->factorisations},
                 {"linear solves", c->solves},
                 {"events", c->events}};
    say("of sensitivities\n");
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++)
        say("  %-26s %ld\n", lines[k].name, lines[k].value);
}

static void print_results(const sens *q, const request *r, const report_effects *effects)
{
    results_print_summary(r, q->s);
    print_notes(q);
    say("largest relative derivatives, k/max|x| dx/dk\n");
    (void)report_effects_table(stdout, effects, NULL);
    if (!r->stats) return;
    print_event(effects);
    print_statistics(q->s, effects->stats);
}

static void print_files(const sens *q, const request *r, const recorder *rows, const picture *p)
{
    results_print_data_files(r, q->s, rows);
    if (!r->plot) return;
    bool some = p->of_count < q->of_count || p->by_count < q->by_count;
    say("wrote %s (%s by %s%s)\n", r->plot, PLURAL(p->of_count, "variable"),
        PLURAL(p->by_count, "parameter"), some ? "; --of and --by choose" : "");
}

/* ---- the work ---- */

/* Effects, files and words of rows that are there. */
static int report_rows(sens *q, const request *r, const char *near, recorder *rows)
{
    bool quiet = r->quiet || request_streams(r);
    report_effects effects;
    picture p = {0};
    int code = sens_rank(q, r, &effects);
    if (code == CLI_OK && !quiet) print_results(q, r, &effects);
    if (code == CLI_OK && r->relative && (near || r->csv)) code = make_relative(q, r, near, rows);
    if (code == CLI_OK && r->plot) code = draw_curves(q, r, rows->series, &p);
    results_more more = {&effects, p.series};
    if (code == CLI_OK) code = results_write(r, q->s, rows, &more);
    if (code == CLI_OK && !quiet) print_files(q, r, rows, &p);
    report_series_free(p.series);
    free(p.of);
    return code;
}

/* Integrate and report. A failed run still shows and writes what it reached. */
static int solve(sens *q, const request *r)
{
    recorder rows;
    const char *near = r->mat ? r->mat : r->json ? r->json : r->plot;
    bool later = r->relative && (near || r->csv);
    int code = recorder_open(&rows, q->s, later ? NULL : r->csv, near || later, near);
    if (code == CLI_OK) {
        code = session_integrate(q->s, &r->output, &rows);
        int written = rows.count > 0 ? report_rows(q, r, near, &rows) : CLI_OK;
        if (code == CLI_OK) code = written;
    }
    recorder_close(&rows);
    return code;
}

static int sens_request(sens *q, request *r)
{
    int code = check_words(r);
    if (code == CLI_OK) code = request_open(r, q->s);
    if (code == CLI_OK) code = sens_read_by(q, r);
    if (code == CLI_OK && r->gradients.count > 0) return sens_gradient(q, r);
    const char *how = r->adjoint_given     ? "--adjoint"
                      : r->checkpoints > 0 ? "--checkpoints"
                      : r->memory > 0.0    ? "--memory"
                                           : NULL;
    if (code == CLI_OK && how)
        return complain(CLI_USAGE, "'%s' says how '--gradient' is found, which is not here", how);
    if (code == CLI_OK) code = sens_add_columns(q, r);
    if (code == CLI_OK) code = session_prepare(q->s, &r->options);
    if (code == CLI_OK) code = make_sensitivity(q, r);
    if (code == CLI_OK) code = session_open_history(q->s, r->history);
    if (code == CLI_OK) code = session_open_tableau(q->s, r->tableau);
    if (code == CLI_OK) code = solve(q, r);
    return code;
}

static int run(int argc, char **argv)
{
    request r;
    session s = {0};
    sens q = {.s = &s};
    int code = request_read(&sens_command, argc, argv, &r);
    if (code == CLI_OK) code = sens_request(&q, &r);
    sens_free(&q);
    session_close(&s);
    request_free(&r);
    return code;
}

const command sens_command = {
    .name = "sens",
    .summary = "derivatives of a solution by parameters and start values; which matter most",
    .help =
        "usage: daedal sens MODEL --by NAME,.. [OPTION ...]\n"
        "\n"
        "  daedal sens pendulum.mo --by L,g             which of them matters, where and when\n"
        "  daedal sens pendulum.mo --by '*'             all parameters\n"
        "  daedal sens pendulum.mo --by L,x -o s.csv    x: by its start value; into a table\n"
        "  daedal sens pendulum.mo --by L,g --of x,y --plot s.svg\n"
        "  daedal sens thermostat.mo --by '*' --gradient 'integral(T)'\n"
        "\n"
        "Solves the model as 'daedal run' with the same options does, and beside it the\n"
        "derivatives of all variables by each parameter or start value: exact ones, through\n"
        "events and for any index, with an error test of their own. Files have the variables,\n"
        "and d(x)/d(k) for each pair. The table says for each parameter which variable it moves\n"
        "most, by how much, and when: a relative derivative of 0.5 means that 1 % more of the\n"
        "parameter moves the variable by 0.5 % of its largest value.\n"
        "\n"
        "  --by NAME,..         parameters, arrays of them, or patterns 'k*' (Real, neither\n"
        "                       final nor structural); variables stand for their start values\n"
        "  --gradient NAME,..   only the value of NAME at the end, or that of integral(NAME) over\n"
        "                       the run, by all of --by: one way back through the run each,\n"
        "                       however many parameters there are; -o FILE.csv, .json\n"
        "  --adjoint WORD       how: discrete (back through the steps of the run; the default) or\n"
        "                       continuous (the adjoint equations, with an error test of their\n"
        "                       own; keeps values alone)\n"
        "  --checkpoints N      continuous: keep N states of the run (2 or more) in place of all\n"
        "                       values, and integrate pieces of it again on the way back; the\n"
        "                       same bits\n"
        "  --memory BYTES       for what is kept, 1e9 unless given: equations of steps, or "
        "values,\n"
        "                       beyond it go to a temporary file; with --checkpoints the states\n"
        "                       and a piece are in it, and there is no file\n"
        "  --of NAME,..         only these variables, in files, picture and table, as --vars\n"
        "  --relative           files have k/max|x| dx/dk in place of dx/dk: max|x| is the\n"
        "                       largest |x| of the run (not x, which passes 0), 1 where that is\n"
        "                       below the absolute tolerance; a k that is 0 counts as 1\n"
        "  --corrector staggered|simultaneous\n"
        "                       steps of the run as without derivatives, which take steps of "
        "their\n"
        "                       own (the default); or none longer than the derivatives permit\n"
        "  -o, --output FILE    into a .csv, .json or .mat file; - is csv on standard output\n"
        "  --plot FILE          parameters as bars, the largest first, and relative derivatives\n"
        "                       over time, in a .svg, .png or .pdf file\n"
        "  --json FILE          as -o, with the table, the time of the last event and its\n"
        "                       derivatives\n"
        "  --stats              print the last event and all counters, too\n"
        "  --quiet              print nothing on success\n"
        "\n"
        "and all options of 'daedal run' on problem, method, tolerances and output times.\n"
        "docs/sensitivity.md tells how it works, and what is not supported.\n",
    .run = run,
};
