/* daedal methods: what can integrate. */
#include "cli.h"

static int run(int argc, char **argv)
{
    int status = no_arguments(&methods_command, argc, argv);
    for (int i = 0; status == CLI_OK && dae_method_name(i); i++)
        printf("%-10s %s\n%-10s %s\n", dae_method_name(i), dae_method_summary(i), "",
               dae_method_citation(i));
    return status;
}

const command methods_command = {
    .name = "methods",
    .summary = "list the integration methods with their citations",
    .help = "usage: daedal methods\n"
            "\n"
            "Lists the methods that 'daedal run --method' accepts, each with its citation.\n",
    .run = run,
};
