/* daedal emit MODEL: C text of a model, to be compiled into another program, its flat text, or that
 * of conditions of optimality. */
#include <string.h>

#include "outputs.h"
#include "signals.h"

typedef enum text_format { FORMAT_C, FORMAT_MODELICA, FORMAT_CONDITIONS } text_format;

typedef struct request {
    settings parameters;
    settings controls, unknown, ends; /* of conditions */
    const char *integral, *at_end;    /* what is minimised */
    inputs driven;
    bool allow_external;
    const char *file, *output;
    text_format format;
} request;

enum {
    OPT_OUTPUT = 'o',
    OPT_SET = 256,
    OPT_INPUT,
    OPT_INPUT_MODE,
    OPT_INPUT_HOLD,
    OPT_ALLOW_EXTERNAL,
    OPT_FORMAT,
    OPT_CONTROL,
    OPT_INTEGRAL,
    OPT_AT_END,
    OPT_FREE,
    OPT_END
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"set", required_argument, NULL, OPT_SET},
    {"input", required_argument, NULL, OPT_INPUT},
    {"input-mode", required_argument, NULL, OPT_INPUT_MODE},
    {"input-hold", no_argument, NULL, OPT_INPUT_HOLD},
    {"allow-external", no_argument, NULL, OPT_ALLOW_EXTERNAL},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"control", required_argument, NULL, OPT_CONTROL},
    {"integral", required_argument, NULL, OPT_INTEGRAL},
    {"at-end", required_argument, NULL, OPT_AT_END},
    {"free", required_argument, NULL, OPT_FREE},
    {"end", required_argument, NULL, OPT_END},
    {NULL, 0, NULL, 0},
};

static int read_format(request *r, const char *word)
{
    static const char *const words[] = {"c", "modelica", "conditions"};
    for (int k = 0; k < 3; k++)
        if (strcmp(word, words[k]) == 0) {
            r->format = (text_format)k;
            return CLI_OK;
        }
    return complain(CLI_USAGE, "--format %s: it is c, modelica or conditions", word);
}

/* Words of --format conditions. */
static int read_condition(request *r, int id)
{
    if (id == OPT_CONTROL) return settings_push(&r->controls, optarg);
    if (id == OPT_FREE) return settings_push(&r->unknown, optarg);
    if (id == OPT_END) return settings_push(&r->ends, optarg);
    *(id == OPT_INTEGRAL ? &r->integral : &r->at_end) = optarg;
    return CLI_OK;
}

static int read_word(request *r, char **argv, int id)
{
    if (id == OPT_SET) return settings_add(&r->parameters, "set", optarg);
    if (id == OPT_INPUT) return inputs_add(&r->driven, optarg);
    if (id == OPT_INPUT_MODE) return inputs_mode(&r->driven, optarg);
    if (id == OPT_FORMAT) return read_format(r, optarg);
    if (id >= OPT_CONTROL && id <= OPT_END) return read_condition(r, id);
    if (id == OPT_INPUT_HOLD)
        r->driven.hold = true;
    else if (id == OPT_ALLOW_EXTERNAL)
        r->allow_external = true;
    else if (id == OPT_OUTPUT)
        r->output = optarg;
    else
        return complain_option(&emit_command, argv, id, long_options);
    return CLI_OK;
}

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1)
        code = read_word(r, argv, id);
    bool conditions =
        r->controls.count || r->unknown.count || r->ends.count || r->integral || r->at_end;
    if (code == CLI_OK && conditions && r->format != FORMAT_CONDITIONS)
        code = complain(CLI_USAGE, "--control, --integral, --at-end, --free and --end belong to "
                                   "'--format conditions'");
    return code == CLI_OK ? one_text(&emit_command, argc, argv, &r->file) : code;
}

static void write_text(FILE *out, const void *text)
{
    fputs(text, out);
}

static int emit(const request *r, const dae_problem *p)
{
    dae_diag diag = {0};
    char *text =
        r->format == FORMAT_MODELICA ? dae_problem_emit_modelica(p, &diag) : dae_problem_emit(p);
    if (!text && signal_caught()) return complain_interrupted("during the writing of the model");
    if (!text && diag.status == DAE_ERR_UNSUPPORTED) return complain(CLI_FAILED, "%s", diag.text);
    if (!text) return complain(CLI_FAILED, "out of memory");
    int code = write_to(r->output, write_text, text);
    dae_text_free(text);
    return code;
}

static int emit_conditions(const request *r)
{
    name_lists controls = {0}, unknown = {0};
    char *text = NULL;
    int code = names_read(&controls, &r->controls);
    if (code == CLI_OK) code = names_read(&unknown, &r->unknown);
    const dae_optimality_request wanted = {.controls = (const char *const *)controls.list,
                                           .control_count = controls.count,
                                           .integral = r->integral,
                                           .at_end = r->at_end,
                                           .unknown = (const char *const *)unknown.list,
                                           .unknown_count = unknown.count};
    if (code == CLI_OK)
        code = conditions_text(r->file, &r->parameters, &r->driven, &r->ends, r->allow_external,
                               &wanted, &text);
    if (code == CLI_OK) code = write_to(r->output, write_text, text);
    dae_text_free(text);
    names_free(&controls);
    names_free(&unknown);
    return code;
}

static int emit_model(const request *r)
{
    dae_problem *problem = NULL;
    int code = open_text(r->file, &r->parameters, &r->driven, NULL, DAE_ENGINE_TAPE,
                         r->allow_external, &problem);
    if (code == CLI_OK) code = emit(r, problem);
    dae_problem_free(problem);
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
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_file(&r);
    if (code == CLI_OK) code = r.format == FORMAT_CONDITIONS ? emit_conditions(&r) : emit_model(&r);
    settings_free(&r.parameters);
    settings_free(&r.controls);
    settings_free(&r.unknown);
    settings_free(&r.ends);
    inputs_free(&r.driven);
    return code;
}

const command emit_command = {
    .name = "emit",
    .summary = "write a model as C, as a flat text, or its conditions of optimality",
    .help = "usage: daedal emit MODEL [OPTION ...]\n"
            "\n"
            "  daedal emit pendulum.mo -o pendulum.c\n"
            "  daedal emit pendulum.mo --format modelica\n"
            "  daedal emit tank.mo --format conditions --control u --integral 'x^2 + u^2'\n"
            "\n"
            "Writes the equations of a model text as self-contained, readable C: residual,\n"
            "Jacobian, zero crossings, initial equations and outputs as functions; sizes,\n"
            "parameters, consistent start values and the pattern of the Jacobian as arrays. A\n"
            "comment at its head says how to call it. With --format modelica it writes a flat\n"
            "model text instead, one equation to a line, with the equations of motion that were\n"
            "made from energies; daedal run reads it back. With --format conditions it writes the\n"
            "necessary conditions of an optimal control problem as such a text, which daedal bvp\n"
            "solves (docs/optimality.md).\n"
            "\n"
            "  --format FORMAT      c, modelica or conditions (default: c)\n"
            "  -o, --output FILE    write into FILE (default: standard output)\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "  --input FILE, --input NAME=EXPRESSION, --input-mode MODE, --input-hold\n"
            "                       what inputs follow, as in 'daedal run'\n"
            "  --allow-external     compile and call the C code of external functions\n"
            "\n"
            "Of conditions:\n"
            "  --control NAME,..    inputs that are to be chosen\n"
            "  --integral TEXT      minimise the integral of TEXT over the interval, and\n"
            "  --at-end TEXT        the value of TEXT at its end\n"
            "  --free NAME,..       parameters that are to be chosen, too\n"
            "  --end 'LEFT = RIGHT' a condition at the end; repeat it for more\n"
            "\n"
            "Exit codes: 0 success, 1 the file could not be written, 2 usage or a wrong name, 3\n"
            "the model text has errors.\n",
    .run = run,
};
