/* daedal: the command line of the library. Picks the command and hands the words over. */
#include "outputs.h"
#include "signals.h"

#include <string.h>

static const command *const commands[] = {
    &run_command,     &sweep_command,        &verify_command,  &sens_command,    &fit_command,
    &bvp_command,     &optimise_command,     &compare_command, &check_command,   &init_command,
    &steady_command,  &linearise_command,    &emit_command,    &demo_command,    &models_command,
    &methods_command, &formulations_command, &help_command,    &version_command,
};

const command *command_at(int i)
{
    int count = (int)(sizeof commands / sizeof commands[0]);
    return i >= 0 && i < count ? commands[i] : NULL;
}

const command *command_find(const char *name)
{
    for (int i = 0; command_at(i); i++)
        if (strcmp(command_at(i)->name, name) == 0) return command_at(i);
    return NULL;
}

static const char *command_name(int i, const void *user)
{
    (void)user;
    return command_at(i) ? command_at(i)->name : NULL;
}

/* --help and --version are the commands of that name. */
static const char *without_dashes(const char *word)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return "help";
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return "version";
    return word;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: daedal COMMAND [ARGUMENT ...]; try 'daedal help' or 'daedal demo'\n", stderr);
        return CLI_USAGE;
    }
    const command *chosen = command_find(without_dashes(argv[1]));
    if (!chosen)
        return complain_unknown("command", argv[1], command_name, NULL, "see 'daedal help'");
    signals_catch();
    if (!asks_for_help(argc - 1, argv + 1)) {
        int code = finish_stdout(chosen->run(argc - 1, argv + 1));
        /* what failed after a signal failed by it, say a write */
        return code == CLI_FAILED && signal_caught() ? CLI_SIGNAL + signal_caught() : code;
    }
    fputs(chosen->help, stdout);
    if (chosen->more) fputs(chosen->more, stdout);
    return finish_stdout(CLI_OK);
}
