/* daedal methods and daedal formulations: what can integrate, and what it is given. */
#include "cli.h"

static int run_methods(int argc, char **argv)
{
    int status = no_arguments(&methods_command, argc, argv);
    for (int i = 0; status == CLI_OK && dae_method_name(i); i++)
        say("%-10s %s\n%-10s form: %s; order: %d; index: %s\n%-10s %s\n", dae_method_name(i),
            dae_method_summary(i), "", dae_method_forms(i), dae_method_order(i),
            dae_method_index_range(i), "", dae_method_citation(i));
    return status;
}

const command methods_command = {
    .name = "methods",
    .summary = "list the integration methods with their forms, orders and citations",
    .help = "usage: daedal methods\n"
            "\n"
            "Lists the methods that 'daedal run --method' accepts, each with the form of the\n"
            "equations that it works on, its highest order, the index it is for, and its\n"
            "citation.\n",
    .run = run_methods,
};

static int run_formulations(int argc, char **argv)
{
    int status = no_arguments(&formulations_command, argc, argv);
    for (int i = 0; status == CLI_OK && dae_formulation_name(i); i++)
        say("%-14s %s\n%-14s %s\n", dae_formulation_name(i), dae_formulation_summary(i), "",
            dae_formulation_citation(i));
    return status;
}

const command formulations_command = {
    .name = "formulations",
    .summary = "list the ways to rewrite equations of index above 1",
    .help = "usage: daedal formulations\n"
            "\n"
            "Lists the formulations that 'daedal run --formulation' accepts, each with its\n"
            "citation. Some take a number behind a colon, as baumgarte:10.\n",
    .run = run_formulations,
};
