/* daedal models: what can be run. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

/* "3", or "100 (size 10)" where the number of unknowns follows a size */
static void print_model(const model *m)
{
    say("%-14s %7d  %-5s  [%g, %g]  %s\n", m->name, m->form.n, m->sized ? "yes" : "no", m->t0,
        m->tend, m->title);
}

static const char *names_of(const model *m, bool equations, int i)
{
    return equations ? m->form.equation_names[i] : m->form.variable_names[i];
}

static void print_names(const model *m, bool equations)
{
    int shown = m->form.n > 24 ? 24 : m->form.n;
    say("%-10s", equations ? "equations" : "variables");
    for (int i = 0; i < shown; i++) say(" %s", names_of(m, equations, i));
    if (shown < m->form.n) say(" .. (%d)", m->form.n);
    putchar('\n');
}

/* Everything about one model. */
static int describe(const char *name)
{
    model *m = open_model(name, 0);
    if (!m) return CLI_USAGE;
    say("%s: %s\n", m->name, m->title);
    say("source     %s\n", m->source);
    say("unknowns   %d%s\n", m->form.n, m->sized ? " at the default size; see --size" : "");
    say("interval   [%g, %g]\n", m->t0, m->tend);
    print_names(m, false);
    print_names(m, true);
    say("reference  %s\n", m->closed_form ? "closed form, at every time"
                           : m->solution  ? "at the end and at some times between"
                           : m->reference ? "at the end"
                                          : "none");
    model_free(m);
    return CLI_OK;
}

static int list_models(void)
{
    say("%-14s %7s  %-5s  %s\n", "name", "n", "sized", "interval, title");
    for (int i = 0; model_name(i); i++) {
        model *m = open_model(model_name(i), 0);
        if (!m) return CLI_FAILED;
        print_model(m);
        model_free(m);
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    if (argc == 2 && names_text(argv[1]) && access(argv[1], F_OK) == 0)
        return complain(CLI_USAGE, "'%s' is a file; 'daedal check --list' describes it", argv[1]);
    if (argc > 2) return no_arguments(&models_command, argc - 1, argv + 1);
    return argc == 2 ? describe(argv[1]) : list_models();
}

const command models_command = {
    .name = "models",
    .summary = "list the built-in models, or describe one",
    .help = "usage: daedal models [MODEL]\n"
            "\n"
            "Lists the built-in models: name, number of unknowns at the default size, whether\n"
            "'daedal run --size' changes it, interval and title. With a MODEL: its source, names\n"
            "of variables and equations, and what reference values are known.\n",
    .run = run,
};
