/* daedal help [command]. */
#include "cli.h"

static const char *command_name(int i, const void *user)
{
    (void)user;
    return command_at(i) ? command_at(i)->name : NULL;
}

static void overview(void)
{
    fputs("usage: daedal COMMAND [ARGUMENT ...]\n"
          "\n"
          "Solves differential-algebraic equations F(t, y, y') = 0.\n"
          "\n",
          stdout);
    for (int i = 0; command_at(i); i++)
        printf("  %-8s  %s\n", command_at(i)->name, command_at(i)->summary);
    fputs("\n"
          "'daedal help COMMAND' tells more. Start with 'daedal demo'.\n"
          "Exit codes: 0 success, 1 the solver failed or a file could not be written, 2 usage.\n",
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
    return CLI_OK;
}

const command help_command = {
    .name = "help",
    .summary = "explain a command",
    .help = "usage: daedal help [COMMAND]\n\nLists the commands, or explains one.\n",
    .run = run,
};
