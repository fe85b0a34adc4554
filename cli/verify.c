/* daedal verify MODEL: an independent judge of a result. */
#include "outputs.h"
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 10 };

/* The output times of the request, owned by the caller; NULL and *count = 0: evenly spaced. */
static int make_times(const grid *g, double **times, int *count)
{
    double t;
    long rows = 0;
    *times = NULL;
    *count = 0;
    while (grid_time(g, rows, &t)) rows++;
    if (rows < 2) return CLI_OK;
    if (rows > 1000000)
        return complain(CLI_USAGE, "%ld rows are too many for a judge; choose with --points", rows);
    *times = calloc((size_t)rows, sizeof **times);
    if (!*times) return complain(CLI_FAILED, "out of memory");
    for (long k = 0; k < rows; k++) grid_time(g, k, &(*times)[k]);
    *count = (int)rows;
    return CLI_OK;
}

static int write_report(const request *r, const dae_verify_report *report)
{
    report_error error = {0};
    report_status status = strcmp(r->json, "-") == 0
                               ? report_verify_json(stdout, report, &error)
                               : report_verify_json_file(r->json, report, &error);
    if (status == REPORT_ERR_FILE && ferror(stdout)) return finish_stdout(CLI_FAILED);
    if (status != REPORT_OK) return complain(CLI_FAILED, "%s", error.text);
    if (strcmp(r->json, "-") != 0 && !r->quiet) say("wrote %s\n", r->json);
    return CLI_OK;
}

/* The exit code that a report means. */
static int verdict_code(session *s, const dae_verify_report *report)
{
    if (report->run.status < 0) return session_complain(s, report->run.status, report->run.text);
    return report->verdict == DAE_VERDICT_GOOD  ? CLI_OK
           : report->verdict == DAE_VERDICT_OFF ? CLI_OFF
                                                : CLI_UNSURE;
}

/* What people read: everything, or the verdict alone; what is not good goes to stderr. */
static int print_report(const request *r, const dae_verify_report *report, bool brief)
{
    report_error error = {0};
    bool streams = r->json && strcmp(r->json, "-") == 0;
    bool quiet = r->quiet || streams || request_streams(r);
    if (!brief && !quiet &&
        report_verify(stdout, report, r->all ? 0 : MOST_ROWS, &error) != REPORT_OK)
        return ferror(stdout) ? finish_stdout(CLI_FAILED) : complain(CLI_FAILED, "%s", error.text);
    if (report->verdict != DAE_VERDICT_GOOD)
        complain(CLI_OFF, "%s", report->text);
    else if (!quiet)
        say("%s%s\n", brief ? "  judge     " : "\n", report->text);
    return CLI_OK;
}

int request_verify(const request *r, session *s, bool brief)
{
    dae_options options = r->options;
    dae_verify_request q = {.t0 = r->output.t0,
                            .tend = r->output.tend,
                            .y0 = s->m ? s->m->y0 : NULL,
                            .yp0 = s->m ? s->m->yp0 : NULL,
                            .judge = r->judge,
                            .limit = r->limit,
                            .thorough = r->thorough};
    dae_verify_report *report = NULL;
    dae_diag diag = {0};
    double *times = NULL;
    int code = make_times(&r->output, &times, &q.rows);
    if (code != CLI_OK) return code;
    q.times = times;
    session_listen(s, &options);
    session_begin_progress(s, q.t0, q.tend);
    options.max_steps = r->max_steps;
    if (brief) options.message = NULL; /* it was said before */
    dae_status status = dae_verify(s->problem, &options, &q, &report, &diag);
    free(times);
    if (status != DAE_OK) return session_complain(s, status, diag.text);
    code = print_report(r, report, brief);
    if (code == CLI_OK && !brief && r->json) code = write_report(r, report);
    if (code == CLI_OK) code = verdict_code(s, report);
    dae_verify_report_free(report);
    return code;
}

/* Options of `run` that say what to do with its rows. */
static int check_words(const request *r)
{
    const struct {
        const char *name;
        bool given;
    } words[] = {{"--csv", r->csv != NULL},        {"-o FILE.mat", r->mat != NULL},
                 {"--plot", r->plot != NULL},      {"--history", r->history != NULL},
                 {"--vars", r->variables != NULL}, {"--stats", r->stats}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].given)
            return complain(CLI_USAGE, "option '%s' is for 'daedal run'; add '--verify' there",
                            words[k].name);
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    request r;
    session s = {0};
    int code = request_read(&verify_command, argc, argv, &r);
    if (code == CLI_OK) code = check_words(&r);
    if (code == CLI_OK) code = request_open(&r, &s);
    bool quiet = r.quiet || (r.json && strcmp(r.json, "-") == 0);
    if (code == CLI_OK && !quiet) say("%s (%s)\n", s.name, r.model_name);
    if (code == CLI_OK) code = request_verify(&r, &s, false);
    session_close(&s);
    request_free(&r);
    return code;
}

const command verify_command = {
    .name = "verify",
    .summary = "judge a result: solve again by other means, compare, check every equation",
    .help =
        "usage: daedal verify MODEL [OPTION ...]\n"
        "\n"
        "  daedal verify pendulum.mo                    is what 'daedal run' says right?\n"
        "  daedal verify pendulum.mo --rtol 1e-8 --method prk\n"
        "  daedal verify pendulum.mo --json report.json\n"
        "\n"
        "Solves the model as 'daedal run' with the same options does. Reads its text a second\n"
        "time, by an interpreter, and holds each equation and each when against the result, also\n"
        "between rows. Evaluates every equation\n"
        "and every hidden constraint at every row, and shows the worst with their lines. Solves\n"
        "again with a method of another family and tolerances a hundred times tighter, and shows\n"
        "the estimated error of each variable in units of its tolerance, rtol |y| + atol, with\n"
        "energy, invariants and event times side by side. If both disagree a third family\n"
        "decides who is right. docs/verify.md tells how to read it, and what no judge sees.\n"
        "\n"
        "  --judge NAME         method of the judge (one of another family)\n"
        "  --limit X            a variable off by more than X tolerances is wrong (100)\n"
        "  --thorough           solve the same model renamed, in another order, in other units, "
        "with\n"
        "                       aliases, and from other guesses, too\n"
        "  --all                lists in full; else 10 rows of each\n"
        "  --json FILE          the whole report as json; - for standard output\n"
        "  --quiet              print nothing but what is wrong\n"
        "\n"
        "and all options of 'daedal run' on problem, method and output times.\n"
        "\n"
        "Exit codes: 0 good, 1 the run failed, 2 usage or a wrong name, 3 the model text has\n"
        "errors, 4 a variable is off by more than the limit, or an equation does not hold, 5 it\n"
        "cannot be told: no judge gets as far, the judges disagree with each other, or the text\n"
        "has something that cannot be judged.\n",
    .run = run,
};
