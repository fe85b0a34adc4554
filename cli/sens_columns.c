/* What `daedal sens` records: names that the words mean, columns, and the largest values. */
#define _POSIX_C_SOURCE 200809L

#include "sens.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- by what ---- */

static bool is_free(const dae_problem *problem, int parameter)
{
    dae_parameter_info info = dae_problem_parameter_info(problem, parameter);
    return info.type == DAE_TYPE_REAL && info.settable && !info.structural;
}

/* Parameters, then variables. */
static const char *any_name(int i, const void *user)
{
    const session *s = user;
    int parameters = dae_problem_parameter_count(s->problem);
    if (i < parameters) return dae_problem_parameter(s->problem, i);
    return i - parameters < s->n ? dae_problem_variable(s->problem, i - parameters) : NULL;
}

/* Without any: how, and what there is. */
static int complain_none(const session *s)
{
    enum { MOST_NAMES = 20 };
    char names[1000] = "";
    size_t length = 0;
    int found = 0;
    for (int p = 0; p < dae_problem_parameter_count(s->problem); p++) {
        if (!is_free(s->problem, p) || ++found > MOST_NAMES) continue;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.40s",
                                   length > 0 ? ", " : "", dae_problem_parameter(s->problem, p));
    }
    if (found == 0)
        return complain(CLI_USAGE,
                        "by what? '%s' has no Real parameter that can move; '--by x' is by the "
                        "start value of a variable",
                        s->name);
    return complain(CLI_USAGE,
                    "by what? '--by NAME,..' takes start values of variables, and the parameters "
                    "%s%s",
                    names, found > MOST_NAMES ? " .. ('daedal check --list' shows all)" : "");
}

static int add_direction(sens *q, int parameter, int variable)
{
    const dae_problem *problem = q->s->problem;
    const char *name = parameter >= 0 ? dae_problem_parameter(problem, parameter)
                                      : dae_problem_variable(problem, variable);
    for (int k = 0; k < q->by_count; k++)
        if (q->by[k].parameter == parameter && q->by[k].variable == variable)
            return complain(CLI_USAGE, "'%s' stands twice in '--by'", name);
    direction *by = realloc(q->by, (size_t)(q->by_count + 1) * sizeof *by);
    if (!by) return complain(CLI_FAILED, "out of memory");
    q->by = by;
    double value = parameter >= 0 ? dae_problem_parameter_value(problem, parameter) : 0.0;
    by[q->by_count++] = (direction){name, parameter, variable, value};
    return CLI_OK;
}

/* All parameters that a word means: one, an array, a record; those that fit a pattern and can move.
 * -1: there is none; else an exit code. */
static int add_parameters(sens *q, const char *word)
{
    const dae_problem *problem = q->s->problem;
    bool pattern = strpbrk(word, "*?") != NULL;
    int code = -1;
    for (int p = 0; p < dae_problem_parameter_count(problem); p++) {
        const char *name = dae_problem_parameter(problem, p);
        if (pattern ? !is_free(problem, p) || !pattern_fits(word, name) : !names_match(word, name))
            continue;
        code = add_direction(q, p, -1);
        if (code != CLI_OK) return code;
    }
    return code;
}

/* The same of variables, for which their start values stand; a pattern means parameters only. */
static int add_starts(sens *q, const char *word)
{
    int code = -1;
    for (int i = 0; i < q->s->n; i++) {
        if (!names_match(word, dae_problem_variable(q->s->problem, i))) continue;
        code = add_direction(q, -1, i);
        if (code != CLI_OK) return code;
    }
    return code;
}

static int add_word(sens *q, const char *word)
{
    int code = add_parameters(q, word);
    if (code >= 0) return code;
    if (strpbrk(word, "*?"))
        return complain(CLI_USAGE,
                        "no Real parameter that can move fits '%s' ('daedal check --list' shows "
                        "all of a model)",
                        word);
    code = add_starts(q, word);
    if (code >= 0) return code;
    return complain_unknown("parameter or variable", word, any_name, q->s,
                            "'daedal check --list' shows all of a model");
}

int sens_read_by(sens *q, const request *r)
{
    if (r->by.count == 0) return complain_none(q->s);
    for (int w = 0; w < r->by.count; w++) {
        const char *list = r->by.list[w];
        for (const char *at = list; *at || at == list;) {
            size_t length = name_length(at);
            char *word = strndup(at, length);
            int code = word ? add_word(q, word) : complain(CLI_FAILED, "out of memory");
            free(word);
            if (code != CLI_OK) return code;
            at += length + (at[length] == ',');
        }
    }
    return CLI_OK;
}

/* ---- columns ---- */

/* The Real variables among the recorded ones. */
static int choose_variables(sens *q)
{
    const session *s = q->s;
    q->of = calloc((size_t)s->n_recorded + 1, sizeof *q->of);
    if (!q->of) return complain(CLI_FAILED, "out of memory");
    for (int k = 0; k < s->n_recorded; k++) {
        int i = s->recorded[k];
        if (i >= s->n)
            return complain(CLI_USAGE,
                            "'%s' is a derivative by time; sensitivities are of variables: write "
                            "an equation for one in the model",
                            session_name(s, i));
        if (dae_problem_variable_info(s->problem, i).type == DAE_TYPE_REAL)
            q->of[q->of_count++] = k;
    }
    if (q->of_count > 0) return CLI_OK;
    return complain(CLI_USAGE, "no Real variable is chosen: others have no derivatives");
}

/* Largest values, and the columns of a row: dx/dk of all pairs. */
static void note_largest(sens *q, int i, int k, double t, double derivative)
{
    size_t at = (size_t)i * (size_t)q->by_count + (size_t)k;
    if (!(fabs(derivative) > fabs(q->largest[at]))) return;
    q->largest[at] = derivative;
    q->when[at] = t;
}

/* Values of variables where the run begins. */
static void begin(sens *q)
{
    for (int k = 0; k < q->by_count; k++)
        if (q->by[k].parameter < 0) q->by[k].value = q->s->y[q->by[k].variable];
    q->begun = true;
}

static int fill(session *s, double t, double *values, void *user)
{
    sens *q = user;
    if (!q->begun) begin(q);
    for (int i = 0; i < q->of_count; i++)
        q->size[i] = fmax(q->size[i], fabs(s->y[s->recorded[q->of[i]]]));
    for (int k = 0; k < q->by_count; k++) {
        dae_status status = dae_sensitivity_variables(q->x, t, k, q->values);
        bool failed = status < 0;
        /* behind a failure that was told there are none */
        if (failed && s->diag.status == DAE_OK)
            return session_complain(s, status, dae_solver_diag(s->solver)->text);
        for (int i = 0; i < q->of_count; i++) {
            double derivative = failed ? NAN : q->values[s->recorded[q->of[i]]];
            values[i * q->by_count + k] = derivative;
            note_largest(q, i, k, t, derivative);
        }
    }
    return CLI_OK;
}

/* "m/(s)"; nothing where nothing has a unit. */
static char *quotient(const char *unit, const char *by)
{
    size_t length = strlen(unit) + strlen(by) + 5;
    char *text = malloc(length);
    if (text && *by)
        snprintf(text, length, "%s/(%s)", *unit ? unit : "1", by);
    else if (text)
        snprintf(text, length, "%s", unit);
    return text;
}

static char *joined(const char *a, const char *x, const char *b, const char *k, const char *c)
{
    size_t length = strlen(a) + strlen(x) + strlen(b) + strlen(k) + strlen(c) + 1;
    char *text = malloc(length);
    if (text) snprintf(text, length, "%s%s%s%s%s", a, x, b, k, c);
    return text;
}

const char *sens_unit(const sens *q, int k)
{
    const direction *d = &q->by[k];
    return d->parameter >= 0 ? dae_problem_parameter_unit(q->s->problem, d->parameter)
                             : session_unit(q->s, d->variable);
}

/* Name, unit and description of the column of pair (i, k). */
static bool name_column(sens *q, const request *r, int i, int k)
{
    const session *s = q->s;
    const direction *d = &q->by[k];
    int variable = s->recorded[q->of[i]];
    size_t all = (size_t)q->of_count * (size_t)q->by_count;
    char **at = q->texts + (size_t)i * (size_t)q->by_count + (size_t)k;
    const char *x = session_name(s, variable);
    bool start = d->parameter < 0;
    at[0] = joined("d(", x, start ? ")/d(start(" : ")/d(", d->name, start ? "))" : ")");
    at[all] = r->relative ? strdup("") : quotient(session_unit(s, variable), sens_unit(q, k));
    at[2 * all] = joined(r->relative ? "relative derivative of " : "derivative of ", x, " by ",
                         start ? "the start value of " : "", d->name);
    return at[0] && at[all] && at[2 * all];
}

int sens_add_columns(sens *q, const request *r)
{
    int code = choose_variables(q);
    if (code != CLI_OK) return code;
    size_t of = (size_t)q->of_count, by = (size_t)q->by_count, all = of * by;
    q->texts = calloc(3 * all, sizeof *q->texts);
    q->values = calloc((size_t)q->s->n, sizeof *q->values);
    q->size = calloc(of, sizeof *q->size);
    q->largest = calloc(all, sizeof *q->largest);
    q->when = calloc(all, sizeof *q->when);
    bool ok = q->texts && q->values && q->size && q->largest && q->when;
    for (int i = 0; i < q->of_count && ok; i++)
        for (int k = 0; k < q->by_count && ok; k++) ok = name_column(q, r, i, k);
    if (!ok) return complain(CLI_FAILED, "out of memory");
    const char *const *texts = (const char *const *)q->texts;
    more_columns more = {.count = (int)all,
                         .names = texts,
                         .units = texts + all,
                         .descriptions = texts + 2 * all,
                         .fill = fill,
                         .user = q};
    return session_record_more(q->s, &more);
}

/* ---- what was found ---- */

double sens_factor(const sens *q, int i, int k)
{
    double value = q->by[k].value, size = q->size[i];
    if (value == 0.0 || !isfinite(value)) value = 1.0;
    if (!(size > q->s->atol)) size = 1.0;
    return value / size;
}

/* The variable that direction k moves most. One that it moves by less than the absolute tolerance,
 * when it moves by its own size, is not moved: the error test sees no more. */
static report_effect find_effect(const sens *q, int k)
{
    const session *s = q->s;
    report_effect e = {.name = q->by[k].name,
                       .unit = sens_unit(q, k),
                       .value = q->by[k].value,
                       .start = q->by[k].parameter < 0,
                       .event_derivative = NAN};
    for (int i = 0; i < q->of_count; i++) {
        size_t at = (size_t)i * (size_t)q->by_count + (size_t)k;
        double relative = sens_factor(q, i, k) * q->largest[at];
        double move = fabs(q->largest[at]) * (q->by[k].value != 0.0 ? fabs(q->by[k].value) : 1.0);
        if (!(move > s->atol) || !(fabs(relative) > fabs(e.relative))) continue;
        e.relative = relative;
        e.time = q->when[at];
        e.variable = session_name(s, s->recorded[q->of[i]]);
    }
    return e;
}

static int larger(const void *a, const void *b)
{
    double x = fabs(((const report_effect *)a)->relative),
           y = fabs(((const report_effect *)b)->relative);
    if (x != y) return x > y ? -1 : 1;
    return strcmp(((const report_effect *)a)->name, ((const report_effect *)b)->name);
}

int sens_rank(sens *q, const request *r, report_effects *effects)
{
    q->effects = calloc((size_t)q->by_count, sizeof *q->effects);
    if (!q->effects) return complain(CLI_FAILED, "out of memory");
    *effects = (report_effects){.count = q->by_count,
                                .list = q->effects,
                                .relative = r->relative,
                                .event_time = NAN,
                                .stats = dae_sensitivity_statistics(q->x)};
    for (int k = 0; k < q->by_count; k++) {
        q->effects[k] = find_effect(q, k);
        (void)dae_sensitivity_event(q->x, k, &effects->event_time, &q->effects[k].event_derivative);
    }
    qsort(q->effects, (size_t)q->by_count, sizeof *q->effects, larger);
    return CLI_OK;
}

void sens_free(sens *q)
{
    size_t texts = q->texts ? 3 * (size_t)q->of_count * (size_t)q->by_count : 0;
    dae_sensitivity_free(q->x);
    for (size_t k = 0; k < texts; k++) free(q->texts[k]);
    free(q->texts);
    free(q->by);
    free(q->of);
    free(q->values);
    free(q->size);
    free(q->largest);
    free(q->when);
    free(q->effects);
    *q = (sens){0};
}
