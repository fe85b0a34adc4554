/* daedal fit MODEL data.csv --fit k1,k2=0.1:10: parameters of a model from data. */
#include "fit.h"

#include "outputs.h"
#include "signals.h"

#include <math.h>
#include <stdlib.h>

/* Words of other commands that have no meaning here. */
static int check_words(const request *r)
{
    if (!r->text)
        return complain(CLI_USAGE,
                        "a fit needs a model text, and '%s' is built in: it has no parameters",
                        r->model_name);
    const struct {
        const char *name;
        bool given;
    } words[] = {
        {"verify", r->verify}, {"judge", r->judge != NULL},     {"limit", r->limit > 0.0},
        {"all", r->all},       {"history", r->history != NULL}, {"tableau", r->tableau != NULL},
        {"stats", r->stats},   {"vars", r->variables != NULL},  {"steps", r->steps != NULL}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].given)
            return complain(CLI_USAGE, "'daedal fit' has no option '--%s'", words[k].name);
    return CLI_OK;
}

/* Nothing that is written is something that is read. */
static int check_files(const fit_work *w, const request *r)
{
    const output list[] = {{"--csv", r->csv},
                           {"--json", r->json},
                           {"--output", r->mat},
                           {"--plot", r->plot},
                           {"--set-file", r->fit.words}};
    int count = (int)(sizeof list / sizeof *list), code = check_outputs(r->model_name, list, count);
    for (int k = 0; k < w->count && code == CLI_OK; k++)
        for (int i = 0; i < count && code == CLI_OK; i++)
            if (list[i].path && same_place(list[i].path, w->list[k].path))
                code = complain(CLI_USAGE, "'%s' (%s) has the data; it is not overwritten",
                                list[i].path, list[i].option);
    return code;
}

/* ---- the search ---- */

static int show_progress(int iteration, double cost, const double *values, void *user)
{
    fit_work *w = user;
    char text[100];
    (void)values;
    snprintf(text, sizeof text, "iteration %d, cost %.8g", iteration, cost);
    session_tell(w->s, text);
    return signal_caught() != 0;
}

/* Runs end with the last row. What the model says it says once, in the runs at the best point. */
static void ask(fit_work *w, request *r, dae_options *silent)
{
    r->options.stop_time = isnan(r->stop) ? w->last : r->stop;
    if (r->max_steps > 0) r->options.max_steps = r->max_steps;
    session_listen(w->s, &r->options);
    r->options.monitor = NULL;
    *silent = r->options;
    silent->message = NULL;
    w->request = (dae_fit_request){.parameters = w->parameters,
                                   .parameter_count = w->parameter_count,
                                   .data = w->data,
                                   .data_count = w->count,
                                   .options = silent,
                                   .loss = (dae_fit_loss)r->fit.loss,
                                   .loss_scale = r->fit.scale,
                                   .max_iterations = (int)r->fit.iterations,
                                   .tolerance = r->fit.tolerance,
                                   .progress = show_progress,
                                   .user = w};
}

static int search(fit_work *w)
{
    dae_diag diag = {0};
    w->s->wall_start = w->s->wall_shown = wall_time();
    signals_spare_results();
    dae_status status = dae_fit(w->s->problem, &w->request, &w->result, &diag);
    session_clear_progress(w->s);
    if (status == DAE_ERR_INTERRUPTED) return complain_interrupted("during the first run");
    return status == DAE_OK ? CLI_OK : session_complain(w->s, status, diag.text);
}

/* Search again without the rows that stand where the model found jumps. */
static int search_beside_jumps(fit_work *w)
{
    enum { MOST = 4 }; /* events may come to other rows */
    bool any = true;
    int code = search(w);
    for (int k = 0; k < MOST && any && code == CLI_OK && !signal_caught(); k++) {
        code = fit_leave_out_jumps(w, &any);
        if (code != CLI_OK || !any) break;
        dae_fit_result_free(w->result);
        w->result = NULL;
        code = search(w);
    }
    return code;
}

/* Words and files of a result; a search that was interrupted has one, too. */
static int tell(fit_work *w, request *r)
{
    bool quiet = r->quiet || request_streams(r) || is_stdout(r->fit.words);
    int code = fit_exit_code(w);
    if (!quiet) fit_print(w, r);
    if (code == CLI_UNFIT)
        complain(code, "the fit did not converge (%s)%s%s", report_fit_end(w->result->end),
                 quiet && w->result->text[0] ? ": " : "", quiet ? w->result->text : "");
    if (signal_caught()) complain(code, "interrupted; the best point so far counts");
    r->options.interrupt = NULL; /* what was found is written in any case */
    w->request.options = &r->options;
    int written = fit_write(w, r);
    if (!quiet && written == CLI_OK) fit_print_files(w, r);
    return code == CLI_OK ? written : code;
}

static int fit_request_words(fit_work *w, request *r)
{
    dae_options silent;
    int code = check_words(r);
    if (code == CLI_OK) code = request_open(r, w->s);
    if (code == CLI_OK) code = fit_read_parameters(w, r);
    if (code == CLI_OK) code = fit_read_data(w, r);
    if (code == CLI_OK) code = check_files(w, r);
    if (code != CLI_OK) return code;
    ask(w, r, &silent);
    code = search_beside_jumps(w);
    return code == CLI_OK ? tell(w, r) : code;
}

static void work_free(fit_work *w)
{
    for (int k = 0; k < w->count; k++) {
        experiment *e = &w->list[k];
        free(e->path);
        free(e->time_unit);
        free(e->settings);
        free(e->names);
        free(e->variables);
        free(e->values);
        free(e->sigma);
        report_curves_free(e->curves);
    }
    free(w->list);
    free(w->data);
    free(w->parameters);
    free(w->number);
    dae_fit_result_free(w->result);
}

static int run(int argc, char **argv)
{
    request r;
    session s = {0};
    fit_work w = {.s = &s};
    int code = request_read(&fit_command, argc, argv, &r);
    if (code == CLI_OK) code = fit_request_words(&w, &r);
    work_free(&w);
    session_close(&s);
    request_free(&r);
    return code;
}

const command fit_command = {
    .name = "fit",
    .summary = "parameters and start values from data, with standard errors",
    .help =
        "usage: daedal fit MODEL FILE[:NAME=VALUE,..] .. --fit NAME,.. [OPTION ...]\n"
        "\n"
        "  daedal fit reactor.mo data.csv --fit k1,k2=0.1:10      k2 stays within bounds\n"
        "  daedal fit reactor.mo data.csv --fit k1,x --plot fit.svg   x: its start value\n"
        "  daedal fit reactor.mo a.csv:T=300 b.csv:T=350,x=0.2 --fit k1,E\n"
        "\n"
        "Finds the values for which the model meets the data best: the sum of the squares of\n"
        "(model - data)/sigma over all files is least. The search is Levenberg and Marquardt's,\n"
        "with exact derivatives, through events and for any index. It begins at the values of\n"
        "the model (or '--set'), which decide where it ends if there are several minima.\n"
        "\n"
        "Data: .csv files with a header, or .json and .mat files. A column 'time' (or 't') has\n"
        "the times; the others have the names of variables. Empty cells and nan are missing\n"
        "values. Behind FILE: values of parameters and start values in its experiment alone.\n"
        "\n"
        "  --fit NAME[=LOW:HIGH][@START],..   parameters, arrays of them; variables stand for\n"
        "                       their start values. LOW or HIGH may be left out\n"
        "  --sigma NAME=X       standard deviation of a measured variable, an array or all that\n"
        "                       fit 'c*'; a column 'sigma(NAME)' of the file comes first. Without\n"
        "                       any, all values count alike, and errors follow the residuals\n"
        "  --ignore NAME,..     columns that are no data; patterns 'n*'\n"
        "  --loss WHAT          squares, huber, cauchy: outliers count less\n"
        "  --loss-scale C       from C sigmas on (1.345 of huber, 2.385 of cauchy)\n"
        "  --iterations N       at most so many (100)\n"
        "  --fit-tolerance X    relative change of cost and parameters at the end (1e-8)\n"
        "  -o, --output FILE    model and data, x and data(x), at the times of the data, into a\n"
        "                       .csv, .json or .mat file; json has all results, too\n"
        "  --plot FILE          data as points and the fit as curves: .svg, .png or .pdf\n"
        "  --set-file FILE      the result as words: daedal run MODEL $(cat FILE)\n"
        "  --quiet              print nothing on success\n"
        "\n"
        "and all options of 'daedal run' on problem, inputs, method and tolerances. Runs end with\n"
        "the last row. Control-C prints and writes the best point so far (exit code 130).\n"
        "Exit code 6: not converged (stuck, or out of iterations); the best point is printed.\n"
        "docs/fit.md tells how to read the results.\n",
    .run = run,
};
