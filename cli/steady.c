/* daedal steady MODEL: a point where a model rests. */
#include "linear.h"
#include "outputs.h"

#include "json_parts.h"

#include <math.h>
#include <string.h>

static const struct option long_options[] = {
    LINEAR_OPTIONS,
    {"newton-only", no_argument, NULL, LINEAR_NEWTON},
    {NULL, 0, NULL, 0},
};

/* What is written: the state, and whose it is. */
typedef struct steady_result {
    const dae_problem *problem;
    const dae_steady_state *steady;
} steady_result;

enum { MOST_ROWS = 40, NAME_WIDTH = 40 };

/* ---- for people ---- */

static int name_width(const steady_result *q, int rows)
{
    int width = 8;
    for (int i = 0; i < rows; i++) {
        int length = (int)strlen(dae_problem_variable(q->problem, i));
        if (length > width) width = length < NAME_WIDTH ? length : NAME_WIDTH;
    }
    return width;
}

static void print_values(const steady_result *q, bool all)
{
    const dae_steady_state *s = q->steady;
    int rows = all || s->variable_count <= MOST_ROWS ? s->variable_count : MOST_ROWS;
    int width = name_width(q, rows);
    say("\n");
    for (int i = 0; i < rows; i++)
        say("  %-*s  %15.9g\n", width, dae_problem_variable(q->problem, i),
            s->variables[i] == 0.0 ? 0.0 : s->variables[i]);
    if (rows < s->variable_count)
        say("  and %d more (--all lists them)\n", s->variable_count - rows);
}

/* "x + 2 y + z": a quantity that no motion changes. */
static void print_conserved(const dae_steady_state *s)
{
    const int n = s->linear->state_count;
    for (int k = 0; k < s->conserved_count; k++) {
        const double *w = s->conserved + (size_t)k * (size_t)n;
        bool any = false;
        say("  conserved  ");
        for (int i = 0; i < n; i++) {
            if (fabs(w[i]) < 1e-9) continue;
            say("%s", !any ? w[i] < 0.0 ? "-" : "" : w[i] < 0.0 ? " - " : " + ");
            if (fabs(fabs(w[i]) - 1.0) > 1e-9) say("%.6g ", fabs(w[i]));
            say("%s", s->linear->states[i]);
            any = true;
        }
        say(", as it was where the search began\n");
    }
    if (s->linear->zero_count > s->conserved_count)
        say("  note       states beside this one rest, too: a run may come to another of them\n");
}

static void print_way(const linear_words *r, const steady_result *q)
{
    const dae_steady_state *s = q->steady;
    say("%s (%s): a steady state, ", dae_problem_name(q->problem), r->file);
    if (s->way == DAE_STEADY_NEWTON)
        say("by Newton's method from the start, in %s\n", PLURAL(s->iterations, "iteration"));
    else
        say("by Newton's method behind %s of the run, up to t = %g\n", PLURAL(s->steps, "step"),
            s->t);
    if (s->held > 0)
        say("  discrete values and clocks of the model (%d) stay as they are at t = %g\n", s->held,
            s->t);
    print_conserved(s);
}

/* ---- for programs ---- */

static void write_conserved(FILE *out, const dae_steady_state *s)
{
    const int n = s->linear->state_count;
    putc('[', out);
    for (int k = 0; k < s->conserved_count; k++) {
        if (k > 0) fputs(", ", out);
        json_array(out, (size_t)n, s->conserved + (size_t)k * (size_t)n, 1);
    }
    putc(']', out);
}

static void write_json(FILE *out, const void *what)
{
    const steady_result *q = what;
    const dae_steady_state *s = q->steady;
    json_object o = json_open(out, 1);
    json_string_member(&o, "model", dae_problem_name(q->problem));
    json_number_member(&o, "t", s->t);
    json_string_member(&o, "way", s->way == DAE_STEADY_NEWTON ? "newton" : "run");
    json_integer_member(&o, "steps", s->steps);
    json_integer_member(&o, "iterations", s->iterations);
    json_integer_member(&o, "held", s->held);
    json_member(&o, "conserved");
    write_conserved(out, s);
    json_member(&o, "variables");
    json_object values = json_open(out, 2);
    for (int i = 0; i < s->variable_count; i++)
        json_number_member(&values, dae_problem_variable(q->problem, i), s->variables[i]);
    json_close(&values);
    json_member(&o, "linear");
    report_linear_json(out, NULL, s->linear, NULL);
    json_close(&o);
    putc('\n', out);
}

static void write_csv(FILE *out, const void *what)
{
    const steady_result *q = what;
    fputs("name,value\n", out);
    for (int i = 0; i < q->steady->variable_count; i++) {
        report_csv_field(out, dae_problem_variable(q->problem, i));
        fprintf(out, ",%.17g\n", q->steady->variables[i]);
    }
}

static int write_results(const linear_words *r, const steady_result *q)
{
    report_error error = {0};
    int code = CLI_OK;
    if (r->output)
        code = write_to(r->output, same_ending(r->output, ".json") ? write_json : write_csv, q);
    if (code != CLI_OK) return code;
    bool taken = r->output && is_stdout(r->output);
    if (r->json && !taken) write_json(stdout, q);
    if (r->json || r->quiet || taken) return CLI_OK;
    print_way(r, q);
    print_values(q, r->all);
    return report_linear_eigenvalues(stdout, q->steady->linear, r->all ? 0 : 12, &error) ==
                   REPORT_OK
               ? CLI_OK
           : ferror(stdout) ? finish_stdout(CLI_FAILED)
                            : complain(CLI_FAILED, "%s", error.text);
}

static int run(int argc, char **argv)
{
    linear_words r;
    linear_point p = {0};
    dae_steady_state *steady = NULL;
    int code = linear_words_read(&steady_command, argc, argv, long_options, &r);
    if (code == CLI_OK) code = linear_point_open(&r, &p);
    if (code == CLI_OK) code = linear_find_steady(&r, &p, &steady);
    if (code == CLI_OK) {
        steady_result q = {p.problem, steady};
        code = write_results(&r, &q);
    }
    dae_steady_free(steady);
    linear_point_close(&p);
    linear_words_free(&r);
    return code;
}

const command steady_command = {
    .name = "steady",
    .summary = "a steady state of a model, and whether it is stable",
    .help =
        "usage: daedal steady MODEL [OPTION ...]\n"
        "\n"
        "  daedal steady reactor.mo                     every variable, and stability\n"
        "  daedal steady reactor.mo --start T=400       another one, from another start\n"
        "  daedal steady reactor.mo -o rest.csv         into a file\n"
        "\n"
        "Finds values at which all degrees of freedom rest: by Newton's method from the start\n"
        "values; where that fails, by following the run over longer and longer times, with "
        "another\n"
        "try behind each. Conserved quantities keep the values they start with, and are named.\n"
        "Discrete values are those of the time where the search ends; a point behind an event, an\n"
        "assertion that fails or the min or max of a variable is none. If there is none, the\n"
        "variable that keeps moving is named.\n"
        "\n"
        "  --newton-only        do not follow the run\n"
        "  --max-steps N        follow it for N steps at most (20000)\n"
        "  --span T             follow it no longer than that (a million times the model's\n"
        "                       interval)\n"
        "  --inputs A,B,.., --outputs A,B,..\n"
        "                       of the linear system in a json file, see 'daedal help linearise'\n"
        "  -o, --output FILE    name and value of all variables, .csv; with all else, .json; - is\n"
        "                       standard output\n"
        "  --set NAME=VALUE     value of a parameter; repeat for more\n"
        "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
        "                       what inputs follow, as in 'daedal run'\n"
        "  --start NAME=VALUE   start value of a variable; repeat for more\n"
        "  --start-time T       initial time\n"
        "  --method NAME        of the run that is followed; auto is the default\n"
        "  --rtol X             its relative tolerance\n"
        "  --json               one json object on standard output\n"
        "  --all                the lists in full; else 40 rows of them\n"
        "  --quiet              messages only\n"
        "\n"
        "Exit codes: 0 found, 1 there is none, or a file could not be written, 2 usage or a wrong\n"
        "name, 3 the model text has errors.\n",
    .run = run,
};
