/* daedal sens MODEL --by '*' --gradient NAME,integral(NAME): few numbers by many parameters, by the
 * adjoint. */
#define _POSIX_C_SOURCE 200809L

#include "sens.h"

#include "outputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct gradient_work {
    sens *q;
    int count;     /* numbers asked for */
    char **names;  /* as they were written; owned, as all */
    int *variable; /* of each, */
    bool *integral;
    double *values, *derivatives; /* count; count rows of by_count */
    double *weights;              /* work: of all variables */
    report_input *list;
    int *order;
    dae_adjoint *adjoint;
} gradient_work;

static void work_free(gradient_work *w)
{
    dae_adjoint_free(w->adjoint);
    for (int m = 0; m < w->count; m++) free(w->names[m]);
    free(w->names);
    free(w->variable);
    free(w->integral);
    free(w->values);
    free(w->derivatives);
    free(w->weights);
    free(w->list);
    free(w->order);
}

static int no_memory(void)
{
    return complain(CLI_FAILED, "out of memory");
}

/* ---- of what ---- */

static const char *variable_name(int i, const void *user)
{
    const session *s = user;
    return i < s->n ? dae_problem_variable(s->problem, i) : NULL;
}

/* NAME, or integral(NAME); takes over the word. */
static int add_number(gradient_work *w, char *word)
{
    static const char begin[] = "integral(";
    const session *s = w->q->s;
    const size_t length = strlen(word), first = sizeof begin - 1;
    const bool integral =
        length > first + 1 && strncmp(word, begin, first) == 0 && word[length - 1] == ')';
    char *name = integral ? strndup(word + first, length - first - 1) : strdup(word);
    if (!name) {
        free(word);
        return no_memory();
    }
    const int i = dae_problem_find_variable(s->problem, name);
    int code = CLI_OK;
    if (i < 0)
        code = complain_unknown("variable", name, variable_name, s,
                                "--gradient takes NAME, its value at the end, and integral(NAME); "
                                "write an equation for more in the model");
    else if (!integral && dae_problem_variable_info(s->problem, i).type != DAE_TYPE_REAL)
        code = complain(CLI_USAGE, "'%s' is no Real: it has no derivatives", name);
    free(name);
    if (code != CLI_OK) {
        free(word);
        return code;
    }
    w->names[w->count] = word;
    w->variable[w->count] = i;
    w->integral[w->count++] = integral;
    return CLI_OK;
}

/* How many words there can be: one more than commas. */
static size_t most_words(const settings *list)
{
    size_t most = 0;
    for (int k = 0; k < list->count; k++) {
        most++;
        for (const char *at = list->list[k]; *at; at++) most += *at == ',';
    }
    return most;
}

static int read_numbers(gradient_work *w, const request *r)
{
    const size_t most = most_words(&r->gradients), by = (size_t)w->q->by_count;
    w->names = calloc(most, sizeof *w->names);
    w->variable = calloc(most, sizeof *w->variable);
    w->integral = calloc(most, sizeof *w->integral);
    w->values = calloc(most, sizeof *w->values);
    w->derivatives = calloc(most * by, sizeof *w->derivatives);
    w->weights = calloc((size_t)w->q->s->n, sizeof *w->weights);
    w->list = calloc(by, sizeof *w->list);
    w->order = calloc(by, sizeof *w->order);
    if (!w->names || !w->variable || !w->integral || !w->values || !w->derivatives || !w->weights ||
        !w->list || !w->order)
        return no_memory();
    for (int k = 0; k < r->gradients.count; k++) {
        const char *list = r->gradients.list[k];
        for (const char *at = list; *at || at == list;) {
            const size_t length = name_length(at);
            char *word = strndup(at, length);
            int code = word ? add_number(w, word) : no_memory();
            if (code != CLI_OK) return code;
            at += length + (at[length] == ',');
        }
    }
    return CLI_OK;
}

/* Words of trajectories have no meaning here. */
static int check_words(const request *r)
{
    const char *word = r->relative          ? "--relative"
                       : r->of_given        ? "--of"
                       : r->corrector_given ? "--corrector"
                       : r->plot            ? "--plot"
                       : r->mat             ? "a .mat file"
                                            : NULL;
    if (r->checkpoints > 0 && r->adjoint != DAE_ADJOINT_CONTINUOUS)
        return complain(CLI_USAGE, "option '--checkpoints' is for '--adjoint continuous'; beyond "
                                   "'--memory' the discrete one has a temporary file");
    if (!word) return CLI_OK;
    return complain(CLI_USAGE,
                    "%s is for trajectories; with '--gradient' there is a table, and -o FILE.csv "
                    "or .json",
                    word);
}

/* ---- the run ---- */

static int complain_solver(session *s, dae_status status)
{
    return session_complain(s, status, dae_solver_diag(s->solver)->text);
}

static const double *weigh(gradient_work *w, int m)
{
    memset(w->weights, 0, (size_t)w->q->s->n * sizeof *w->weights);
    w->weights[w->variable[m]] = 1.0;
    return w->weights;
}

static int make_adjoint(gradient_work *w, const request *r)
{
    sens *q = w->q;
    dae_diag diag = {0};
    const char **names = calloc((size_t)q->by_count, sizeof *names);
    if (!names) return no_memory();
    for (int k = 0; k < q->by_count; k++) names[k] = q->by[k].name;
    dae_adjoint_request wanted = {.count = q->by_count,
                                  .names = names,
                                  .functionals = w->count,
                                  .memory = r->memory,
                                  .kind = (dae_adjoint_kind)r->adjoint,
                                  .checkpoints = (int)r->checkpoints};
    dae_status status = dae_adjoint_new(q->s->solver, &wanted, &w->adjoint, &diag);
    free(names);
    if (status != DAE_OK) return session_complain(q->s, status, diag.text);
    for (int m = 0; m < w->count && status == DAE_OK; m++)
        if (w->integral[m]) status = dae_adjoint_integral(w->adjoint, m, weigh(w, m));
    return status == DAE_OK ? CLI_OK : complain_solver(q->s, status);
}

/* Values of variables where the run begins; no columns. */
static int note_start(session *s, double t, double *values, void *user)
{
    sens *q = user;
    (void)t, (void)values;
    for (int k = 0; k < q->by_count && !q->begun; k++)
        if (q->by[k].parameter < 0) q->by[k].value = s->y[q->by[k].variable];
    q->begun = true;
    return CLI_OK;
}

static int take_gradients(gradient_work *w)
{
    session *s = w->q->s;
    const size_t by = (size_t)w->q->by_count;
    dae_status status = DAE_OK;
    for (int m = 0; m < w->count && status == DAE_OK; m++) {
        if (!w->integral[m]) status = dae_adjoint_point(w->adjoint, m, weigh(w, m));
        if (status == DAE_OK) status = dae_adjoint_value(w->adjoint, m, &w->values[m]);
        if (status == DAE_OK)
            status = dae_adjoint_gradient(w->adjoint, m, w->derivatives + (size_t)m * by);
    }
    for (size_t k = 0; k < by; k++) {
        const direction *d = &w->q->by[k];
        w->list[k] = (report_input){d->name, sens_unit(w->q, (int)k), d->value, d->parameter < 0};
    }
    return status == DAE_OK ? CLI_OK : complain_solver(s, status);
}

/* ---- what was found ---- */

/* Parameters of number m, the largest relative derivative first. */
static void rank(gradient_work *w, const report_gradient *g, int m)
{
    for (int k = 0; k < g->count; k++) {
        const double own = fabs(report_gradient_relative(g, m, k));
        int place = k;
        while (place > 0 && fabs(report_gradient_relative(g, m, w->order[place - 1])) < own) {
            w->order[place] = w->order[place - 1];
            place--;
        }
        w->order[place] = k;
    }
}

typedef struct gradient_file {
    const char *model;
    const report_gradient *gradient;
} gradient_file;

static void write_csv(FILE *out, const void *what)
{
    const gradient_file *f = what;
    (void)report_gradient_csv(out, f->gradient, NULL);
}

static void write_json(FILE *out, const void *what)
{
    const gradient_file *f = what;
    (void)report_gradient_json(out, f->model, f->gradient, NULL);
}

static int show(gradient_work *w, const request *r)
{
    const session *s = w->q->s;
    const report_gradient g = {.functionals = w->count,
                               .names = (const char *const *)w->names,
                               .values = w->values,
                               .count = w->q->by_count,
                               .list = w->list,
                               .derivatives = w->derivatives};
    const gradient_file file = {s->name, &g};
    const bool quiet = r->quiet || request_streams(r);
    int code = CLI_OK;
    if (!quiet) results_print_summary(r, s);
    for (int m = 0; m < w->count && !quiet; m++) {
        rank(w, &g, m);
        (void)report_gradient_table(stdout, &g, m, w->order, NULL);
    }
    if (r->csv) code = write_to(r->csv, write_csv, &file);
    if (r->json && code == CLI_OK) code = write_to(r->json, write_json, &file);
    for (int k = 0; k < 2 && code == CLI_OK && !quiet; k++) {
        const char *path = k == 0 ? r->csv : r->json;
        if (path) say("wrote %s (%s)\n", path, PLURAL(w->count * g.count, "derivative"));
    }
    return code;
}

static int solve(gradient_work *w, const request *r)
{
    session *s = w->q->s;
    recorder rows;
    int code = recorder_open(&rows, s, NULL, false, NULL);
    if (code == CLI_OK) code = session_integrate(s, &r->output, &rows);
    recorder_close(&rows);
    if (code == CLI_OK) code = take_gradients(w);
    return code == CLI_OK ? show(w, r) : code;
}

int sens_gradient(sens *q, request *r)
{
    gradient_work w = {.q = q};
    int code = check_words(r);
    if (code == CLI_OK) code = read_numbers(&w, r);
    if (code == CLI_OK)
        code = session_record_more(q->s, &(more_columns){.fill = note_start, .user = q});
    if (code == CLI_OK) code = session_prepare(q->s, &r->options);
    if (code == CLI_OK) code = make_adjoint(&w, r);
    if (code == CLI_OK) code = session_open_history(q->s, r->history);
    if (code == CLI_OK) code = session_open_tableau(q->s, r->tableau);
    if (code == CLI_OK) code = solve(&w, r);
    work_free(&w);
    return code;
}
