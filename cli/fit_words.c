/* What `daedal fit` varies: the words of --fit. */
#define _POSIX_C_SOURCE 200809L

#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parameters, then variables. */
static const char *any_name(int i, const void *user)
{
    const session *s = user;
    int parameters = dae_problem_parameter_count(s->problem);
    if (i < parameters) return dae_problem_parameter(s->problem, i);
    return i - parameters < s->n ? dae_problem_variable(s->problem, i - parameters) : NULL;
}

/* The number behind `first` of all parameters and variables that a word means; -1: no more. */
static int next_match(const session *s, const char *word, int first)
{
    int parameters = dae_problem_parameter_count(s->problem);
    for (int i = first; any_name(i, s); i++) {
        if (i == parameters && first > 0 && first <= parameters) return -1; /* parameters it was */
        if (names_match(word, any_name(i, s))) return i;
    }
    return -1;
}

static int complain_name(const session *s, const char *word)
{
    return complain_unknown("parameter or variable", word, any_name, s,
                            "'daedal check --list' shows all of a model");
}

int fit_find(const session *s, const char *word, int *parameter, int *variable)
{
    int parameters = dae_problem_parameter_count(s->problem), i = next_match(s, word, 0);
    if (i < 0) return complain_name(s, word);
    if (strcmp(any_name(i, s), word) != 0 && next_match(s, word, i + 1) >= 0)
        return complain(CLI_USAGE, "'%s' has several elements; give one of them, as '%s'", word,
                        any_name(i, s));
    *parameter = i < parameters ? i : -1;
    *variable = i < parameters ? -1 : i - parameters;
    return CLI_OK;
}

/* Without bounds in the words those of the model count. */
static void bound(const dae_problem *problem, int i, dae_fit_parameter *p)
{
    int parameters = dae_problem_parameter_count(problem);
    double low, high;
    if (i < parameters) {
        dae_parameter_info info = dae_problem_parameter_info(problem, i);
        low = info.min, high = info.max;
    } else {
        dae_variable_info info = dae_problem_variable_info(problem, i - parameters);
        low = info.min, high = info.max;
    }
    if (p->lower != 0.0 || p->upper != 0.0) return;
    p->lower = isnan(low) ? -INFINITY : low;
    p->upper = isnan(high) ? INFINITY : high;
}

/* What cannot move is refused here, before anything runs. */
static int check_movable(const dae_problem *problem, int i)
{
    dae_parameter_info info = dae_problem_parameter_info(problem, i);
    const char *why = info.type != DAE_TYPE_REAL ? "no Real"
                      : info.structural          ? "structural: it shapes the equations"
                      : !info.settable           ? "final, or a constant"
                                                 : NULL;
    if (!why) return CLI_OK;
    return complain(CLI_USAGE, "'%s' cannot be fitted: it is %s", dae_problem_parameter(problem, i),
                    why);
}

static int add_parameter(fit_work *w, int i, const dae_fit_parameter *words)
{
    const session *s = w->s;
    int parameters = dae_problem_parameter_count(s->problem);
    const char *name = any_name(i, s);
    int code = i < parameters ? check_movable(s->problem, i) : CLI_OK;
    if (code != CLI_OK) return code;
    for (int k = 0; k < w->parameter_count; k++)
        if (w->parameters[k].name == name)
            return complain(CLI_USAGE, "'%s' stands twice in '--fit'", name);
    size_t count = (size_t)w->parameter_count + 1;
    dae_fit_parameter *list = realloc(w->parameters, count * sizeof *list);
    if (list) w->parameters = list;
    int *number = realloc(w->number, count * sizeof *number);
    if (number) w->number = number;
    if (!list || !number) return complain(CLI_FAILED, "out of memory");
    w->parameters[w->parameter_count] = *words;
    w->parameters[w->parameter_count].name = name;
    bound(s->problem, i, &w->parameters[w->parameter_count]);
    w->number[w->parameter_count++] = i < parameters ? i : -1;
    return CLI_OK;
}

static int complain_word_of(const char *word)
{
    return complain(CLI_USAGE,
                    "option '--fit' needs NAME, NAME=LOW:HIGH or NAME=LOW:HIGH@START, not '%s' "
                    "(LOW or HIGH may be left out)",
                    word);
}

bool read_bounds(char *text, double *lower, double *upper)
{
    char *colon = strchr(text, ':');
    if (!colon) return false;
    *colon = '\0';
    *lower = -INFINITY;
    *upper = INFINITY;
    if (*text && !parse_double(text, lower)) return false;
    if (colon[1] && !parse_double(colon + 1, upper)) return false;
    return *text || colon[1];
}

/* NAME[=LOW:HIGH][@START] */
static int read_word(fit_work *w, char *word)
{
    dae_fit_parameter p = {.start = NAN};
    char *whole = strdup(word), *at = strrchr(word, '@'), *equals = strchr(word, '=');
    if (!whole) return complain(CLI_FAILED, "out of memory");
    if (at) *at = '\0';
    if (equals) *equals = '\0';
    bool ok = *word && (!at || parse_double(at + 1, &p.start)) &&
              (!equals || (!at || at > equals)) &&
              (!equals || read_bounds(equals + 1, &p.lower, &p.upper));
    int code = ok ? CLI_OK : complain_word_of(whole), i = ok ? next_match(w->s, word, 0) : -1;
    if (ok && i < 0) code = complain_name(w->s, word);
    for (; code == CLI_OK && i >= 0; i = next_match(w->s, word, i + 1))
        code = add_parameter(w, i, &p);
    free(whole);
    return code;
}

int fit_read_parameters(fit_work *w, const request *r)
{
    if (r->fit.parameters.count == 0)
        return complain(CLI_USAGE,
                        "fit what? '--fit NAME=LOW:HIGH,..' takes parameters, and variables for "
                        "their start values ('daedal check --list' shows all of a model)");
    for (int k = 0; k < r->fit.parameters.count; k++) {
        const char *list = r->fit.parameters.list[k];
        for (const char *at = list; *at || at == list;) {
            size_t length = name_length(at);
            char *word = strndup(at, length);
            int code = word ? read_word(w, word) : complain(CLI_FAILED, "out of memory");
            free(word);
            if (code != CLI_OK) return code;
            at += length + (at[length] == ',');
        }
    }
    return CLI_OK;
}
