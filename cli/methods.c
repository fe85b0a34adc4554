/* daedal methods and daedal formulations: what can integrate, and what it is given. */
#include "cli.h"

#include <string.h>

/* The first member after i that is of another family. */
static int next_family(int i)
{
    const char *family = dae_method_at(i).family;
    while (dae_method_at(i).name && strcmp(dae_method_at(i).family, family) == 0) i++;
    return i;
}

/* The next order above one that the family has without a variant; 0: none */
static int next_order(int first, int above)
{
    int next = 0, end = next_family(first);
    for (int i = first; i < end; i++) {
        dae_method_info m = dae_method_at(i);
        if (!*m.variant && m.order > above && (next == 0 || m.order < next)) next = m.order;
    }
    return next;
}

/* "order 5, 9, 13 or by itself", "order 1 to 5" */
static void say_orders(int first)
{
    dae_method_info m = dae_method_at(first);
    int order = next_order(first, 0);
    const char *several = m.by_tolerance ? "order up to %d, by itself" : "order 1 to %d";
    if (order == 0) say(m.variable_order || m.by_tolerance ? several : "order %d", m.max_order);
    for (const char *before = "order "; order > 0; before = ", ") {
        int last = order;
        while (next_order(first, last) == last + 1) last++;
        say("%s%d", before, order);
        if (last > order) say(last > order + 1 ? " to %d" : ", %d", last);
        order = next_order(first, last);
    }
    if (next_order(first, 0) > 0 && m.by_tolerance) say(" or by itself");
}

static void say_variants(int first)
{
    const char *last = "", *before = "; variant ";
    for (int i = first, end = next_family(first); i < end; i++) {
        dae_method_info m = dae_method_at(i);
        if (!*m.variant || strcmp(m.variant, last) == 0) continue;
        say("%s%s", before, m.variant);
        last = m.variant;
        before = ", ";
    }
}

/* Whether a family is there for those who compare methods. */
static bool is_for_comparison(int i)
{
    static const char words[] = "you compare";
    return strncmp(dae_method_at(i).use, words, sizeof words - 1) == 0;
}

static bool has_variants(int first)
{
    for (int i = first, end = next_family(first); i < end; i++)
        if (*dae_method_at(i).variant) return true;
    return false;
}

/* "order 1 to 5; index 3; variant modified": what is in brackets has to give way to variants */
static void say_choices(int i)
{
    const char *range = dae_method_at(i).index_range;
    size_t length = strcspn(range, has_variants(i) ? ",(" : ",");
    while (length > 0 && range[length - 1] == ' ') length--;
    say_orders(i);
    say("; index %.*s", (int)length, range);
    say_variants(i);
    say("\n");
}

/* Two lines of 80 columns for each family, under the heading of its group; one line for each of
 * those to compare with. */
static void say_families(void)
{
    const char *group = "";
    say("Name (--method)    Use this when ..; order (--order), index, variant (--variant)\n");
    for (int i = 0; dae_method_at(i).name; i = next_family(i)) {
        dae_method_info m = dae_method_at(i);
        if (is_for_comparison(i)) continue;
        if (strcmp(m.group, group) != 0) say("%s\n", m.group);
        group = m.group;
        say("  %-16s %s\n  %16s ", m.family, m.use, "");
        say_choices(i);
    }
    say("To compare with\n");
    for (int i = 0; dae_method_at(i).name; i = next_family(i)) {
        if (!is_for_comparison(i)) continue;
        say("  %-16s ", dae_method_at(i).family);
        say_choices(i);
    }
    say("hem, herk, prk and irk also run by a Butcher table of yours (--table FILE).\n");
    say("'daedal methods NAME' tells more: who it is for, forms, citations.\n");
}

/* Everything about one family. */
static void say_family(int first)
{
    dae_method_info m = dae_method_at(first);
    say("%s (%s)\n  use this when %s\n  %s\n", m.family, m.group, m.use, m.reason);
    for (int i = first, end = next_family(first); i < end; i++) {
        m = dae_method_at(i);
        say("\n%s%s\n  %s\n  form: %s; %s: %d; index: %s\n  %s\n", m.name,
            i == first ? " (the default)" : "", m.summary, m.forms,
            m.variable_order ? "highest order" : "order", m.max_order, m.index_range, m.citation);
    }
}

/* For programs: every name that --method takes, one a line. */
static void say_names(void)
{
    for (int i = 0; dae_method_name(i); i++) say("%s\n", dae_method_name(i));
}

static const char *family_name(int i, const void *user)
{
    (void)user;
    return dae_method_at(i).family;
}

/* Whether a name, perhaps with order and variant, or an old one, is of the family at i. */
static bool is_in_family(int i, const char *name)
{
    const char *family = dae_method_at(i).family;
    size_t length = strcspn(name, ":");
    if (strlen(family) == length && strncmp(family, name, length) == 0) return true;
    for (int k = i, end = next_family(i); k != end && dae_method_at(k).name; k++)
        if (strcmp(dae_method_at(k).old_name, name) == 0) return true;
    return false;
}

/* ---- tables of the user ---- */

static void say_numbers(const char *key, int count, const double *numbers)
{
    say("%s", key);
    for (int j = 0; j < count; j++) say(" %.17g", numbers[j]);
    say("\n");
}

/* A table as --table reads it. */
static void say_table(const dae_table *t)
{
    say("name %s\norder %d\nindex %d\n", t->name, t->order, t->index);
    say_numbers("c", t->stages, t->c);
    say("A\n");
    for (int i = 0; i < t->stages; i++) say_numbers(" ", t->stages, t->A[i]);
    say_numbers("b", t->stages, t->b);
    if (t->has_embedded) say_numbers("embedded", t->stages, t->embedded);
}

/* methods hem --construct C2,C3 */
static int construct(const char *method, char *nodes)
{
    double c2, c3;
    char *comma = strchr(nodes, ',');
    dae_table table;
    dae_diag diag = {0};
    if (comma) *comma = '\0';
    if (!comma || !parse_double(nodes, &c2) || !parse_double(comma + 1, &c3))
        return complain(CLI_USAGE, "option '--construct' needs two numbers C2,C3, such as 0.3,0.2");
    if (strcmp(method, "hem") != 0)
        return complain(CLI_USAGE, "option '--construct' is for method hem, not '%s'", method);
    if (dae_table_hem4(c2, c3, &table, &diag) != DAE_OK)
        return complain(CLI_USAGE, "%s", diag.text);
    say_table(&table);
    return CLI_OK;
}

/* methods NAME --table FILE */
static int check_table(const char *method, const char *path)
{
    dae_table table;
    dae_diag diag = {0};
    dae_status status = dae_table_from_file(path, &table, &diag);
    if (status == DAE_OK) status = dae_table_check(&table, method, &diag);
    if (status == DAE_ERR_FILE) return complain(CLI_USAGE, "%s", diag.text);
    if (status != DAE_OK) return complain(CLI_USAGE, "%s: %s", path, diag.text);
    say("Method %s takes table \"%s\": %d stage%s, order %d%s; %s embedded weights.\n", method,
        table.name, table.stages, table.stages == 1 ? "" : "s", table.order,
        table.index == 2 ? " for index 2" : "", table.has_embedded ? "with" : "no");
    return CLI_OK;
}

static int run_methods(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "--construct") == 0) return construct(argv[1], argv[3]);
    if (argc == 4 && strcmp(argv[2], "--table") == 0) return check_table(argv[1], argv[3]);
    if (argc > 2) return no_arguments(&methods_command, argc - 1, argv + 1);
    if (argc < 2 || strcmp(argv[1], "--names") == 0) {
        if (argc < 2)
            say_families();
        else
            say_names();
        return CLI_OK;
    }
    for (int i = 0; dae_method_at(i).name; i = next_family(i))
        if (is_in_family(i, argv[1])) {
            say_family(i);
            return CLI_OK;
        }
    return complain_unknown("method", argv[1], family_name, NULL, "see 'daedal methods'");
}

const command methods_command = {
    .name = "methods",
    .summary = "list the integration methods: when to use which, or describe one",
    .help = "usage: daedal methods [NAME | --names]\n"
            "       daedal methods NAME --table FILE\n"
            "       daedal methods hem --construct C2,C3\n"
            "\n"
            "Lists the methods that 'daedal run --method' accepts: when to use each, its orders\n"
            "(--order), its variants (--variant) and the index it is for. With a NAME: all about\n"
            "one of them, with the form of the equations that it works on and its citation.\n"
            "  --names   only all names, one a line, with orders and variants\n"
            "  --table FILE       whether NAME (hem, herk, prk, irk) takes this Butcher table:\n"
            "                     its order conditions, and which one fails\n"
            "  --construct C2,C3  print the half-explicit method of order 4 with these nodes,\n"
            "                     as 'daedal run --table' reads it\n"
            "\n"
            "NAME:ORDER, NAME:VARIANT and NAME:ORDER:VARIANT stand for both options.\n",
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
