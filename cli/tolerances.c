/* Tolerances by variable: what the words and the model say, and variables that have too large ones.
 */
#include "run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- before a run ---- */

static int add_names(const settings *words, settings *names)
{
    for (int k = 0; k < words->count; k++) {
        char *name = setting_name(words->list[k]);
        if (!name) return complain(CLI_FAILED, "out of memory");
        if (strpbrk(name, "*?"))
            free(name); /* a pattern means what is there */
        else
            names->list[names->count++] = name;
    }
    return CLI_OK;
}

int tolerance_names(const request *r, settings *names)
{
    names->list = calloc((size_t)(r->atols.count + r->rtols.count) + 1, sizeof *names->list);
    if (!names->list) return complain(CLI_FAILED, "out of memory");
    int code = add_names(&r->atols, names);
    return code == CLI_OK ? add_names(&r->rtols, names) : code;
}

void tolerance_names_free(settings *names)
{
    for (int k = 0; k < names->count; k++) free((char *)names->list[k]);
    settings_free(names);
}

/* The unknown that a variable stands for; -1: it is none (discrete, a constant, an output). It is
 * looked for from *next on, behind the one found last: elements of arrays follow each other. */
static int unknown_of(const session *s, int variable, int *next)
{
    const int n = dae_problem_size(s->problem);
    dae_variable_info info = dae_problem_variable_info(s->problem, variable);
    const char *name = info.alias >= 0 ? dae_problem_variable(s->problem, info.alias) : NULL;
    for (int k = 0; name && k < n; k++) {
        const int u = (*next + k) % n;
        if (strcmp(dae_problem_unknown_name(s->problem, u), name) != 0) continue;
        *next = u + 1;
        return u;
    }
    return -1;
}

static const char *variable_name(int i, const void *user)
{
    const session *s = user;
    return i < s->n ? session_name(s, i) : NULL;
}

/* The tolerance, in `values`, of all variables that a name, an array or a pattern means. */
static int set_tolerance(const session *s, const char *name, double value, double *values)
{
    bool pattern = strpbrk(name, "*?") != NULL, found = false, some = false;
    int next = 0;
    for (int i = 0; i < s->n; i++) {
        const char *variable = session_name(s, i);
        if (pattern ? !pattern_fits(name, variable) : !names_match(name, variable)) continue;
        int u = unknown_of(s, i, &next);
        found = true;
        if (u >= 0) values[u] = value, some = true;
    }
    if (!found && pattern) return complain(CLI_USAGE, "no variable fits '%s'", name);
    if (!found)
        return complain_unknown("variable", name, variable_name, s,
                                "'daedal check --list' shows all of a model");
    if (some) return CLI_OK;
    return complain(CLI_USAGE, "'%s' has no tolerance of its own: no method solves for it", name);
}

/* One word "name=value" of an option. */
static int read_tolerance(const session *s, const char *option, const char *word, double *values)
{
    double value;
    const char *equals = strrchr(word, '=');
    char *name = setting_name(word);
    if (!name) return complain(CLI_FAILED, "out of memory");
    bool sound = equals && parse_double(equals + 1, &value) && value >= 0.0;
    int code = sound ? set_tolerance(s, name, value, values)
                     : complain(CLI_USAGE,
                                "option '--%s' needs NAME=VALUE with a value of at "
                                "least 0, not '%s'",
                                option, word);
    free(name);
    return code;
}

static int absolute_tolerances(request *r, const session *s)
{
    int n = dae_problem_size(s->problem), code = CLI_OK;
    bool follow = !s->m && isnan(r->atol), same = r->atols.count == 0;
    const double *factor = s->m ? s->m->atol_factor : NULL;
    double *plain = calloc((size_t)n, sizeof *plain);
    r->atol_values = calloc((size_t)n, sizeof *r->atol_values);
    if (plain && r->atol_values) {
        dae_problem_atol(s->problem, r->options.rtol, r->options.atol, false, plain);
        dae_problem_atol(s->problem, r->options.rtol, r->options.atol, follow, r->atol_values);
    } else {
        code = complain(CLI_FAILED, "out of memory");
    }
    for (int i = 0; factor && code == CLI_OK && i < n; i++) r->atol_values[i] *= factor[i];
    for (int k = 0; k < r->atols.count && code == CLI_OK; k++)
        code = read_tolerance(s, "atol-of", r->atols.list[k], r->atol_values);
    for (int i = 0; i < n && code == CLI_OK && same; i++) same = r->atol_values[i] == plain[i];
    if (!same) r->options.atol_by_unknown = r->atol_values;
    free(plain);
    return code;
}

/* Where the words give any tolerance by variable, all have one: a method can tell that from nominal
 * values, which are absolute only. */
static int relative_tolerances(request *r, const session *s)
{
    int n = dae_problem_size(s->problem), code = CLI_OK;
    if (r->rtols.count == 0 && r->atols.count == 0) return CLI_OK;
    r->rtol_values = calloc((size_t)n, sizeof *r->rtol_values);
    if (!r->rtol_values) return complain(CLI_FAILED, "out of memory");
    for (int i = 0; i < n; i++) r->rtol_values[i] = r->options.rtol;
    for (int k = 0; k < r->rtols.count && code == CLI_OK; k++)
        code = read_tolerance(s, "rtol-of", r->rtols.list[k], r->rtol_values);
    r->options.rtol_by_unknown = r->rtol_values;
    return code;
}

int request_tolerances(request *r, const session *s)
{
    int code = relative_tolerances(r, s);
    return code == CLI_OK ? absolute_tolerances(r, s) : code;
}

int request_tolerances_again(request *r, const session *s, bool *changed)
{
    size_t bytes = (size_t)dae_problem_size(s->problem) * sizeof(double);
    double *absolute = r->atol_values, *relative = r->rtol_values;
    bool own = r->options.atol_by_unknown != NULL;
    r->atol_values = r->rtol_values = NULL;
    r->options.atol_by_unknown = r->options.rtol_by_unknown = NULL;
    int code = request_tolerances(r, s);
    *changed = own != (r->options.atol_by_unknown != NULL) ||
               (own && memcmp(absolute, r->atol_values, bytes) != 0);
    free(absolute);
    free(relative);
    return code;
}

/* ---- after a run ---- */

enum { MOST_NAMED = 4 };

/* A tolerance for a variable of this size: a decade below it, times rtol. */
static double fitting(double rtol, double size)
{
    return pow(10.0, floor(log10(rtol * size)));
}

/* "c (at most 1e-11, atol 1e-09), d (..)" */
static void name_unresolved(const session *s, const bool *flags, const double *largest,
                            const double *atol, int count, char *text, size_t size)
{
    int named = 0;
    size_t at = 0;
    for (int i = 0; i < dae_problem_size(s->problem) && named < MOST_NAMED && at < size; i++)
        if (flags[i])
            at += (size_t)snprintf(text + at, size - at, "%s%.80s (at most %.2g, atol %.2g)",
                                   named++ ? ", " : "", dae_problem_unknown_name(s->problem, i),
                                   largest[i], atol[i]);
    if (count > named && at < size) snprintf(text + at, size - at, " and %d more", count - named);
}

/* The name to give: that of the first one, or of its array if another element is with it. */
static void advised_name(const session *s, const bool *flags, int first, char *name, size_t size)
{
    const char *whole = dae_problem_unknown_name(s->problem, first);
    size_t length = strcspn(whole, "[");
    snprintf(name, size, "%.100s", whole);
    if (whole[length] == '\0' || length >= size) return;
    for (int i = first + 1; i < dae_problem_size(s->problem); i++)
        if (flags[i] && strncmp(dae_problem_unknown_name(s->problem, i), whole, length + 1) == 0) {
            name[length] = '\0';
            return;
        }
}

void print_unresolved(const session *s, FILE *out, const char *label)
{
    int n = dae_problem_size(s->problem), first = 0;
    char names[600] = "", advised[120];
    bool *flags = calloc((size_t)n, sizeof *flags);
    double *largest = calloc(2 * (size_t)n, sizeof *largest);
    int count =
        flags && largest ? dae_solver_unresolved(s->solver, flags, largest, largest + n) : 0;
    if (count > 0) {
        while (!flags[first]) first++;
        advised_name(s, flags, first, advised, sizeof advised);
        name_unresolved(s, flags, largest, largest + n, count, names, sizeof names);
        fprintf(out,
                "%s%s: hardly above the absolute tolerance, or below it, all along: no digit of %s "
                "is sure. Give %s: --atol-of '%s=%.0e', or nominal = %.0e in the text\n",
                label, names, count == 1 ? "it" : "them",
                count == 1 ? "a smaller one" : "smaller ones", advised,
                fitting(s->rtol, largest[first]), largest[first]);
    }
    free(flags);
    free(largest);
}
