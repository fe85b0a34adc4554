/* daedal linearise MODEL: the linear system beside a solution, and its eigenvalues. */
#include "linear.h"
#include "outputs.h"

#include <math.h>

static const struct option long_options[] = {
    LINEAR_OPTIONS,
    {"at", required_argument, NULL, LINEAR_AT},
    {"stop", required_argument, NULL, LINEAR_STOP},
    {NULL, 0, NULL, 0},
};

/* What is written: the system, and whose it is. */
typedef struct linear_result {
    const char *model;
    const dae_linearisation *linear;
} linear_result;

static void write_json(FILE *out, const void *what)
{
    const linear_result *q = what;
    report_linear_json(out, q->model, q->linear, NULL);
}

static void write_csv(FILE *out, const void *what)
{
    const linear_result *q = what;
    report_linear_csv(out, q->linear, NULL);
}

static void write_mat(FILE *out, const void *what)
{
    const linear_result *q = what;
    report_linear_mat(out, q->linear, NULL);
}

static int write_results(const linear_words *r, const linear_result *q)
{
    report_error error = {0};
    int code = CLI_OK;
    if (r->output)
        code = write_to(r->output,
                        same_ending(r->output, ".json")  ? write_json
                        : same_ending(r->output, ".mat") ? write_mat
                                                         : write_csv,
                        q);
    if (code != CLI_OK) return code;
    bool taken = r->output && is_stdout(r->output);
    if (r->json && !taken) write_json(stdout, q);
    if (r->json || r->quiet || taken) return CLI_OK;
    say("%s (%s): linearised at t = %g%s\n", q->model, r->file, q->linear->t,
        r->at_steady ? ", at a steady state" : "");
    return report_linear(stdout, q->linear, r->all ? 0 : 12, &error) == REPORT_OK ? CLI_OK
           : ferror(stdout) ? finish_stdout(CLI_FAILED)
                            : complain(CLI_FAILED, "%s", error.text);
}

static int run(int argc, char **argv)
{
    linear_words r;
    linear_point p = {0};
    dae_diag diag = {0};
    dae_linearisation *linear = NULL;
    dae_steady_state *steady = NULL;
    int code = linear_words_read(&linearise_command, argc, argv, long_options, &r);
    if (code == CLI_OK) code = linear_point_open(&r, &p);
    if (code == CLI_OK && r.at_steady) code = linear_find_steady(&r, &p, &steady);
    if (code == CLI_OK && !r.at_steady) {
        dae_linearise_request q = linear_request(&r);
        dae_status status = dae_linearise(p.solver, &q, &linear, &diag);
        if (status != DAE_OK) code = linear_complain(status, &diag);
    }
    if (code == CLI_OK) {
        linear_result q = {dae_problem_name(p.problem), steady ? steady->linear : linear};
        code = write_results(&r, &q);
    }
    dae_linearise_free(linear);
    dae_steady_free(steady);
    linear_point_close(&p);
    linear_words_free(&r);
    return code;
}

const command linearise_command = {
    .name = "linearise",
    .summary = "A, B, C, D of a model at a point of its run, and eigenvalues",
    .help =
        "usage: daedal linearise MODEL [OPTION ...]\n"
        "\n"
        "  daedal linearise pendulum.mo                     at the start\n"
        "  daedal linearise motor.mo --at 2 -o motor.mat    at t = 2 of the run, into a file\n"
        "  daedal linearise crane.mo --at steady --inputs u,m --outputs x\n"
        "\n"
        "x' = A x + B u, y = C x + D u for small changes of the model, of any index: states x are\n"
        "its degrees of freedom. Derivatives are exact. Prints the eigenvalues of A, with their\n"
        "frequency, damping and the states that carry them. Discrete values rest.\n"
        "\n"
        "  --at T               time of the run (the start); steady: where the model rests, see\n"
        "                       'daedal help steady'\n"
        "  --inputs A,B,..      inputs of the model, or parameters (all inputs); '' for none. "
        "Where\n"
        "                       equations differentiate an input, der(u) is an input, too\n"
        "  --outputs A,B,..     variables (outputs of the model; all variables if it has none)\n"
        "  -o, --output FILE    all matrices and names; .mat, .json or .csv; - is standard output\n"
        "  --set NAME=VALUE     value of a parameter; repeat for more\n"
        "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
        "                       what inputs follow, as in 'daedal run'\n"
        "  --start NAME=VALUE   start value of a variable; repeat for more\n"
        "  --start-time T       initial time\n"
        "  --stop T             end of the run, in which --at lies\n"
        "  --method NAME        of the run up to there; auto is the default\n"
        "  --rtol X             its relative tolerance\n"
        "  --max-steps N, --span T   of the search for a steady state\n"
        "  --json               one json object on standard output\n"
        "  --all                matrices and lists in full; else those of up to 12 rows\n"
        "  --quiet              messages only\n"
        "\n"
        "Exit codes: 0 done, 1 the run or the search failed, or a file could not be written, 2\n"
        "usage or a wrong name, 3 the model text has errors.\n",
    .run = run,
};
