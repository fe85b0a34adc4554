/* daedal emit MODEL: C text of a model, to be compiled into another program. */
#include "outputs.h"
#include "signals.h"

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

static void write_text(FILE *out, const void *text)
{
    fputs(text, out);
}

static int emit(const request *r, const dae_problem *p)
{
    char *text = dae_problem_emit(p);
    if (!text && signal_caught()) return complain_interrupted("the writing of C");
    if (!text) return complain(CLI_FAILED, "out of memory");
    int code = write_to(r->output, write_text, text);
    dae_text_free(text);
    return code;
}

static int check_file(const request *r)
{
    const output list[] = {{"--output", r->output}};
    return check_outputs(r->file, list, 1);
}

static int run(int argc, char **argv)
{
    request r = {0};
    dae_problem *problem = NULL;
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_file(&r);
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
            "Jacobian, zero crossings, initial equations and outputs as functions; sizes,\n"
            "parameters, consistent start values and the pattern of the Jacobian as arrays. A\n"
            "comment at its head says how to call it.\n"
            "\n"
            "  -o, --output FILE    write into FILE (default: standard output)\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "\n"
            "Exit codes: 0 success, 1 the file could not be written, 2 usage or a wrong name, 3\n"
            "the model text has errors.\n",
    .run = run,
};
