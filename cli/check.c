/* daedal check MODEL: translate a model text, report its messages and sizes. */
#include "cli.h"

#include <math.h>
#include <string.h>

typedef struct request {
    settings parameters;
    bool list, quiet;
    const char *file;
} request;

enum { OPT_SET = 256, OPT_LIST, OPT_QUIET };

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"list", no_argument, NULL, OPT_LIST},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        if (id == OPT_SET)
            code = settings_add(&r->parameters, "set", optarg);
        else if (id == OPT_LIST)
            r->list = true;
        else if (id == OPT_QUIET)
            r->quiet = true;
        else
            code = complain_option(&check_command, argv, id, long_options);
    }
    return code == CLI_OK ? one_text(&check_command, argc, argv, &r->file) : code;
}

static void print_number(const char *what, double value)
{
    if (!isnan(value)) printf(", %s %g", what, value);
}

static void print_sizes(const request *r, const dae_problem *p)
{
    dae_counts c = dae_problem_counts(p);
    dae_experiment e = dae_problem_experiment(p);
    printf("%s (%s): no errors\n", dae_problem_name(p), r->file);
    printf("  %s for %s, ", PLURAL(c.equations, "equation"), PLURAL(c.equations, "unknown"));
    printf("%s, %s\n", PLURAL(c.states, "state"), PLURAL(c.nonzeros, "partial derivative"));
    printf("  %s", PLURAL(c.variables, "variable"));
    if (c.eliminated > 0) printf(", %d eliminated", c.eliminated);
    if (c.discrete > 0) printf(", %d discrete", c.discrete);
    printf("\n  %s (and constants)\n", PLURAL(c.parameters, "parameter"));
    if (c.relations + c.samples + c.whens > 0)
        printf("  %s, %s, %s\n", PLURAL(c.relations, "relation"), PLURAL(c.samples, "sample"),
               PLURAL(c.whens, "when-clause"));
    if (isnan(e.start) && isnan(e.stop) && isnan(e.tolerance) && isnan(e.interval)) return;
    printf("  experiment");
    print_number("start", e.start);
    print_number("stop", e.stop);
    print_number("tolerance", e.tolerance);
    print_number("interval", e.interval);
    putchar('\n');
}

/* "mode = fast", "title = "text"", "g = 9.81 m/s2", with what it may be. */
static void print_parameter(const dae_problem *p, int i)
{
    dae_parameter_info info = dae_problem_parameter_info(p, i);
    const char *unit = dae_problem_parameter_unit(p, i);
    double value = dae_problem_parameter_value(p, i);
    printf("  %-24s = ", dae_problem_parameter(p, i));
    if (info.text)
        printf("\"%s\"", info.text);
    else
        print_value(stdout, info.type, info.literals, info.literal_count, value, 0);
    if (*unit) printf(" %s", unit);
    if (isfinite(info.min) || isfinite(info.max)) printf("  in [%g, %g]", info.min, info.max);
    if (!info.settable) printf("  (not to be set)");
    for (int k = 0; k < info.literal_count; k++)
        printf("%s%s", k ? ", " : "  one of ", info.literals[k]);
    if (*info.description) printf("  %s", info.description);
    putchar('\n');
}

static void print_list(const dae_problem *p)
{
    puts("parameters and constants");
    for (int i = 0; i < dae_problem_parameter_count(p); i++) print_parameter(p, i);
    puts("variables");
    for (int i = 0; i < dae_problem_variable_count(p); i++)
        printf("  %-24s %-10s %s\n", dae_problem_variable(p, i), dae_problem_unit(p, i),
               dae_problem_description(p, i));
}

static int run(int argc, char **argv)
{
    request r = {0};
    dae_problem *problem = NULL;
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = open_text(r.file, &r.parameters, DAE_ENGINE_TAPE, &problem);
    if (code == CLI_OK && !r.quiet) print_sizes(&r, problem);
    if (code == CLI_OK && r.list) print_list(problem);
    dae_problem_free(problem);
    settings_free(&r.parameters);
    return code;
}

const command check_command = {
    .name = "check",
    .summary = "translate a model text and report its errors and sizes",
    .help = "usage: daedal check MODEL [OPTION ...]\n"
            "\n"
            "  daedal check pendulum.mo            errors and warnings, numbers of equations\n"
            "  daedal check pendulum.mo --list     and the names of parameters and variables\n"
            "\n"
            "Translates a model text without solving it. Errors and warnings go to standard\n"
            "error with file, line and column.\n"
            "\n"
            "  --set NAME=VALUE     value of a parameter; repeat for more\n"
            "  --list               list parameters with their values, variables with units\n"
            "  --quiet              no sizes\n"
            "\n"
            "Exit codes: 0 no errors, 2 usage or a wrong name, 3 the model text has errors.\n",
    .run = run,
};
