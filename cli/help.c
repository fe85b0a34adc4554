/* daedal help [command]. */
#include "cli.h"

static const char *command_name(int i, const void *user)
{
    (void)user;
    return command_at(i) ? command_at(i)->name : NULL;
}

static void overview(void)
{
    fputs(
        "usage: daedal COMMAND [ARGUMENT ...]\n"
        "\n"
        "Solves differential-algebraic equations: your model in Base Modelica, or a built-in one.\n"
        "\n"
        "  daedal run pendulum.mo --plot pendulum.svg   solve a model and draw it\n"
        "  daedal check pendulum.mo                     translate it only\n"
        "\n",
        stdout);
    for (int i = 0; command_at(i); i++)
        say("  %-9s  %s\n", command_at(i)->name, command_at(i)->summary);
    fputs("\n"
          "'daedal help COMMAND' tells more. Start with 'daedal demo'.\n"
          "Exit codes: 0 success, 1 the run failed or a file could not be written, 2 usage or a\n"
          "wrong name, 3 the model text has errors, 4 a judge found the result wrong, 5 the judge\n"
          "cannot tell, 6 a fit did not converge, 130 interrupted.\n",
          stdout);
}

static int run(int argc, char **argv)
{
    if (argc > 2) return no_arguments(&help_command, argc - 1, argv + 1);
    if (argc < 2) {
        overview();
        return CLI_OK;
    }
    const command *which = command_find(argv[1]);
    if (!which)
        return complain_unknown("command", argv[1], command_name, NULL, "see 'daedal help'");
    fputs(which->help, stdout);
    if (which->more) fputs(which->more, stdout);
    return CLI_OK;
}

const command help_command = {
    .name = "help",
    .summary = "explain a command",
    .help = "usage: daedal help [COMMAND]\n\nLists the commands, or explains one.\n",
    .run = run,
};
