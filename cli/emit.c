/* daedal emit MODEL: C text of a model, to be compiled into another program. */
#define _POSIX_C_SOURCE 200809L

#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    settings parameters;
    const char *file, *output;
} request;

enum { OPT_OUTPUT = 'o', OPT_SET = 256 };

static const struct option long_options[] = {
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"set", required_argument, NULL, OPT_SET},
    {NULL, 0, NULL, 0},
};

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
        if (id == OPT_SET)
            code = settings_add(&r->parameters, "set", optarg);
        else if (id == OPT_OUTPUT)
            r->output = optarg;
        else
            code = complain_option(&emit_command, argv, id, long_options);
    }
    return code == CLI_OK ? one_text(&emit_command, argc, argv, &r->file) : code;
}

/* A name inside a comment: no end of comment, no line ends. */
static void write_name(FILE *out, const char *name)
{
    for (const char *c = name; *c; c++)
        putc((unsigned char)*c < ' ' || (c > name && c[-1] == '*' && *c == '/') ? ' ' : *c, out);
}

static void write_comment(FILE *out, const dae_problem *p)
{
    fputs("/* Model ", out);
    write_name(out, dae_problem_name(p));
    fprintf(
        out,
        ", written by daedal %s.\n"
        " *\n"
        " * Compile: cc -std=c11 -O2 -ffp-contract=off -c FILE.c\n"
        " * Call:    model_residual(time, y, yp, NULL, model_parameters, m, f);\n"
        " *\n"
        " * gives f[0 .. MODEL_EQUATIONS-1] = F(time, y, y'), zero on a solution. y holds the\n"
        " * unknowns and yp their derivatives, MODEL_EQUATIONS each, named below; ypp is not used\n"
        " * and may be NULL. m holds the discrete variables and the relations' values for models\n"
        " * that have events, and may be NULL for others. model_output gives all MODEL_VARIABLES\n"
        " * variables of the model from y and yp. */\n\n",
        dae_version());
    fprintf(out, "enum { MODEL_EQUATIONS = %d, MODEL_VARIABLES = %d, MODEL_PARAMETERS = %d };\n\n",
            dae_problem_size(p), dae_problem_variable_count(p), dae_problem_parameter_count(p));
}

/* A number that C reads back to the same value. */
static void write_number(FILE *out, double x)
{
    if (isnan(x))
        fputs("(0.0 / 0.0)", out);
    else if (isinf(x))
        fputs(x > 0.0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)", out);
    else
        fprintf(out, "%.17g", x);
}

/* The parameters' values, each with its name. */
static void write_parameters(FILE *out, const dae_problem *p)
{
    int count = dae_problem_parameter_count(p);
    fprintf(out, "const double model_parameters[%d] = {\n", count > 0 ? count : 1);
    for (int i = 0; i < count; i++) {
        const char *unit = dae_problem_parameter_unit(p, i);
        fputs("    ", out);
        write_number(out, dae_problem_parameter_value(p, i));
        fputs(", /* ", out);
        write_name(out, dae_problem_parameter(p, i));
        if (*unit) fputs(" [", out), write_name(out, unit), putc(']', out);
        fputs(" */\n", out);
    }
    fputs(count > 0 ? "};\n\n" : "    0\n};\n\n", out);
}

static void write_values(FILE *out, const dae_problem *p, const char *name, const double *x)
{
    int n = dae_problem_size(p);
    fprintf(out, "const double %s[%d] = {\n", name, n);
    for (int i = 0; i < n; i++) {
        fputs("    ", out);
        write_number(out, x[i]);
        fputs(", /* ", out);
        write_name(out, dae_problem_variable_name(p, i));
        fputs(" */\n", out);
    }
    fputs("};\n\n", out);
}

/* Consistent values at the start, if they can be found. */
static void write_start(FILE *out, const dae_problem *p)
{
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    size_t n = (size_t)dae_problem_size(p);
    double t0 = dae_problem_experiment(p).start, *y = calloc(2 * n, sizeof *y);
    if (isnan(t0)) t0 = 0.0;
    bool found = y && dae_solver_new(p, NULL, &solver, &diag) == DAE_OK &&
                 dae_solver_start(solver, t0, NULL, NULL) == DAE_OK &&
                 dae_solver_at(solver, t0, 0, y) == DAE_OK &&
                 dae_solver_at(solver, t0, 1, y + n) == DAE_OK;
    if (found) {
        fprintf(out, "/* Consistent values at the start, time = %.17g. */\n", t0);
        write_values(out, p, "model_y0", y);
        write_values(out, p, "model_yp0", y + n);
    }
    dae_solver_free(solver);
    free(y);
}

static int write_text(FILE *out, const dae_problem *p)
{
    char *text = dae_problem_emit(p);
    if (!text) return complain(CLI_FAILED, "out of memory");
    write_comment(out, p);
    write_parameters(out, p);
    write_start(out, p);
    fputs(text, out);
    dae_text_free(text);
    return CLI_OK;
}

static int emit(const request *r, const dae_problem *p)
{
    bool to_file = r->output && strcmp(r->output, "-") != 0;
    FILE *out = to_file ? fopen(r->output, "w") : stdout;
    if (!out) return complain(CLI_FAILED, "'%s' cannot be written: %s", r->output, strerror(errno));
    int code = write_text(out, p);
    bool failed = fflush(out) != 0 || ferror(out);
    if (to_file && fclose(out) != 0) failed = true;
    if (code == CLI_OK && failed)
        code = complain(CLI_FAILED, "'%s' cannot be written: %s",
                        to_file ? r->output : "standard output", strerror(errno));
    if (code != CLI_OK && to_file) remove(r->output);
    return code;
}

static int run(int argc, char **argv)
{
    request r = {0};
    dae_problem *problem = NULL;
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = open_text(r.file, &r.parameters, DAE_ENGINE_TAPE, &problem);
    if (code == CLI_OK) code = emit(&r, problem);
    dae_problem_free(problem);
    settings_free(&r.parameters);
    return code;
}

const command emit_command = {
    .name = "emit",
    .summary = "write a model as C for a program of your own",
    .help = "usage: daedal emit MODEL [OPTION ...]\n"
            "\n"
            "  daedal emit pendulum.mo -o pendulum.c\n"
            "\n"
            "Writes the equations of a model text as self-contained, readable C: residual,\n"
            "Jacobian, zero crossings, initial equations and outputs as functions; parameters and\n"
            "consistent start values as arrays. A comment at its head says how to call it.\n"
            "\n"
            "  -o, --output FILE    write into FILE (default: standard output)\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "\n"
            "Exit codes: 0 success, 1 the file could not be written, 2 usage or a wrong name, 3\n"
            "the model text has errors.\n",
    .run = run,
};
