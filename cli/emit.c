/* daedal emit MODEL: C text of a model, to be compiled into another program, or its flat text. */
#include <string.h>

#include "outputs.h"
#include "signals.h"

typedef struct request {
    settings parameters;
    inputs driven;
    bool allow_external;
    const char *file, *output;
    bool modelica;
} request;

enum {
    OPT_OUTPUT = 'o',
    OPT_SET = 256,
    OPT_INPUT,
    OPT_INPUT_MODE,
    OPT_INPUT_HOLD,
    OPT_ALLOW_EXTERNAL,
    OPT_FORMAT
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"set", required_argument, NULL, OPT_SET},
    {"input", required_argument, NULL, OPT_INPUT},
    {"input-mode", required_argument, NULL, OPT_INPUT_MODE},
    {"input-hold", no_argument, NULL, OPT_INPUT_HOLD},
    {"allow-external", no_argument, NULL, OPT_ALLOW_EXTERNAL},
    {"format", required_argument, NULL, OPT_FORMAT},
    {NULL, 0, NULL, 0},
};

static int read_format(request *r, const char *word)
{
    r->modelica = strcmp(word, "modelica") == 0;
    if (r->modelica || strcmp(word, "c") == 0) return CLI_OK;
    return complain(CLI_USAGE, "--format %s: it is c or modelica", word);
}

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
        if (id == OPT_SET)
            code = settings_add(&r->parameters, "set", optarg);
        else if (id == OPT_INPUT)
            code = inputs_add(&r->driven, optarg);
        else if (id == OPT_INPUT_MODE)
            code = inputs_mode(&r->driven, optarg);
        else if (id == OPT_INPUT_HOLD)
            r->driven.hold = true;
        else if (id == OPT_ALLOW_EXTERNAL)
            r->allow_external = true;
        else if (id == OPT_OUTPUT)
            r->output = optarg;
        else if (id == OPT_FORMAT)
            code = read_format(r, optarg);
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
    dae_diag diag = {0};
    char *text = r->modelica ? dae_problem_emit_modelica(p, &diag) : dae_problem_emit(p);
    if (!text && signal_caught()) return complain_interrupted("the writing of the model");
    if (!text && diag.status == DAE_ERR_UNSUPPORTED) return complain(CLI_FAILED, "%s", diag.text);
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
    if (code == CLI_OK)
        code = open_text(r.file, &r.parameters, &r.driven, NULL, DAE_ENGINE_TAPE, r.allow_external,
                         &problem);
    if (code == CLI_OK) code = emit(&r, problem);
    dae_problem_free(problem);
    settings_free(&r.parameters);
    inputs_free(&r.driven);
    return code;
}

const command emit_command = {
    .name = "emit",
    .summary = "write a model as C, or as a flat text",
    .help = "usage: daedal emit MODEL [OPTION ...]\n"
            "\n"
            "  daedal emit pendulum.mo -o pendulum.c\n"
            "  daedal emit pendulum.mo --format modelica\n"
            "\n"
            "Writes the equations of a model text as self-contained, readable C: residual,\n"
            "Jacobian, zero crossings, initial equations and outputs as functions; sizes,\n"
            "parameters, consistent start values and the pattern of the Jacobian as arrays. A\n"
            "comment at its head says how to call it. With --format modelica it writes a flat\n"
            "model text instead, one equation to a line, with the equations of motion that were\n"
            "made from energies; daedal run reads it back.\n"
            "\n"
            "  --format FORMAT      c or modelica (default: c)\n"
            "  -o, --output FILE    write into FILE (default: standard output)\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
            "                       what inputs follow, as in 'daedal run'\n"
            "  --allow-external     compile and call the C code of external functions\n"
            "\n"
            "Exit codes: 0 success, 1 the file could not be written, 2 usage or a wrong name, 3\n"
            "the model text has errors.\n",
    .run = run,
};
