/* daedal version. */
#include "cli.h"

static int run(int argc, char **argv)
{
    int status = no_arguments(&version_command, argc, argv);
    if (status == CLI_OK) say("daedal %s\n", dae_version());
    return status;
}

const command version_command = {
    .name = "version",
    .summary = "print the version",
    .help = "usage: daedal version\n\nPrints the version of the command and its library.\n",
    .run = run,
};
