/* The data of `daedal fit`: files, their columns, standard deviations and settings. */
#define _POSIX_C_SOURCE 200809L

#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return complain(CLI_FAILED, "out of memory");
}

/* ---- settings ---- */

/* Length of the file in FILE[:NAME=VALUE,..]. */
static size_t path_length(const char *word)
{
    for (const char *colon = strchr(word, ':'); colon; colon = strchr(colon + 1, ':')) {
        char *path = strndup(word, (size_t)(colon - word));
        bool ends = path && (same_ending(path, ".csv") || same_ending(path, ".json") ||
                             same_ending(path, ".mat"));
        free(path);
        if (ends) return (size_t)(colon - word);
    }
    return strlen(word);
}

static bool is_fitted(const fit_work *w, const char *name)
{
    for (int k = 0; k < w->parameter_count; k++)
        if (w->parameters[k].name == name) return true;
    return false;
}

/* NAME=VALUE of one experiment. */
static int add_setting(const fit_work *w, experiment *e, char *word)
{
    int parameter = -1, variable = -1;
    double value;
    char *equals = strchr(word, '=');
    if (!equals || equals == word || !parse_double(equals + 1, &value))
        return complain(CLI_USAGE, "'%s' behind '%s:' is no setting NAME=NUMBER", word, e->path);
    *equals = '\0';
    int code = fit_find(w->s, word, &parameter, &variable);
    if (code != CLI_OK) return code;
    const char *name = parameter >= 0 ? dae_problem_parameter(w->s->problem, parameter)
                                      : dae_problem_variable(w->s->problem, variable);
    if (is_fitted(w, name))
        return complain(CLI_USAGE, "'%s' is set for '%s', and '--fit' varies it", name, e->path);
    dae_setting *list = realloc(e->settings, (size_t)(e->setting_count + 1) * sizeof *list);
    if (!list) return no_memory();
    e->settings = list;
    list[e->setting_count++] = (dae_setting){name, value};
    return CLI_OK;
}

static int read_settings(const fit_work *w, experiment *e, const char *list)
{
    for (const char *at = list; *at;) {
        size_t length = name_length(at);
        char *word = strndup(at, length);
        int code = word ? add_setting(w, e, word) : no_memory();
        free(word);
        if (code != CLI_OK) return code;
        at += length + (at[length] == ',');
    }
    return CLI_OK;
}

/* ---- columns ---- */

/* Whether a name is one of the words, which may be patterns. */
static bool is_listed(const settings *words, const char *name)
{
    for (int k = 0; k < words->count; k++)
        for (const char *at = words->list[k]; *at;) {
            size_t length = name_length(at);
            char *word = strndup(at, length);
            bool fits = word && (pattern_fits(word, name) || names_match(word, name));
            free(word);
            if (fits) return true;
            at += length + (at[length] == ',');
        }
    return false;
}

/* The column "sigma(x)" of a variable x. */
static int sigma_column(const report_curves *c, const char *name)
{
    size_t size = strlen(name) + 8;
    char *text = malloc(size);
    if (!text) return REPORT_NO_CURVE;
    snprintf(text, size, "sigma(%s)", name);
    int found = report_curves_find(c, text);
    free(text);
    return found;
}

static const char *variable_name(int i, const void *user)
{
    const session *s = user;
    return i < s->n ? dae_problem_variable(s->problem, i) : NULL;
}

/* Columns that are nobody's are named; parameters, which files of a run have too, are no data. */
static int check_columns(const fit_work *w, const request *r, const experiment *e, const bool *used)
{
    for (int c = 0; c < e->curves->n; c++) {
        const char *name = e->curves->curves[c].name;
        bool parameter = e->curves->curves[c].stride == 0 && is_parameter(w->s->problem, name);
        if (used[c] || parameter || is_listed(&r->fit.ignored, name)) continue;
        const char *near = nearest_word(name, variable_name, w->s);
        return complain(CLI_USAGE,
                        "'%s' has a column '%s', which is no variable of the model%s%s%s; "
                        "'--ignore' leaves it out",
                        e->path, name, near ? " (did you mean '" : "", near ? near : "",
                        near ? "'?)" : "");
    }
    return CLI_OK;
}

/* Column c, or the times for c = -1, in this unit. */
static int convert(const experiment *e, int c, const char *unit, bool difference)
{
    report_error error = {0};
    report_status status = report_curves_convert(e->curves, c, unit, difference, &error);
    if (status == REPORT_OK) return CLI_OK;
    return complain(status == REPORT_ERR_ARGUMENT ? CLI_USAGE : CLI_FAILED, "%s: %s", e->path,
                    error.text);
}

/* Measured values, and their standard deviations if there are any, in the unit of variable i.
 * Deviations without a unit are in that of the values. */
static int convert_column(const fit_work *w, const experiment *e, int i, int c, int sigma)
{
    const char *own = dae_problem_unit(w->s->problem, i), *unit = e->curves->curves[c].unit;
    report_curve *s = sigma >= 0 ? &e->curves->curves[sigma] : NULL;
    if (s && !s->unit && unit && !(s->unit = strdup(unit))) return no_memory();
    int code = s ? convert(e, sigma, own, true) : CLI_OK;
    return code == CLI_OK ? convert(e, c, own, false) : code;
}

static int convert_times(experiment *e)
{
    const char *unit = e->curves->time_unit;
    if (unit && *unit && strcmp(unit, "s") != 0 && !(e->time_unit = strdup(unit)))
        return no_memory();
    return convert(e, -1, "s", false);
}

/* Take column c for variable i. */
static int take_column(const fit_work *w, experiment *e, int i, int c, bool *used)
{
    const char *name = dae_problem_variable(w->s->problem, i);
    if (c == REPORT_TWO_CURVES)
        return complain(CLI_USAGE, "'%s' has several columns '%s'", e->path, name);
    if (dae_problem_variable_info(w->s->problem, i).type != DAE_TYPE_REAL)
        return complain(CLI_USAGE,
                        "'%s' has a column '%s', which is no Real; '--ignore' leaves it out",
                        e->path, name);
    used[c] = true;
    e->names[e->data.columns] = name;
    e->variables[e->data.columns++] = i;
    return CLI_OK;
}

/* Which variables were measured. */
static int find_columns(const fit_work *w, const request *r, experiment *e)
{
    size_t n = (size_t)e->curves->n + 1;
    bool *used = calloc(n, sizeof *used);
    e->names = calloc(n, sizeof *e->names);
    e->variables = calloc(n, sizeof *e->variables);
    int code = used && e->names && e->variables ? CLI_OK : no_memory();
    for (int i = 0; i < w->s->n && code == CLI_OK; i++) {
        const char *name = dae_problem_variable(w->s->problem, i);
        int c = report_curves_find(e->curves, name);
        if (c == REPORT_NO_CURVE || is_listed(&r->fit.ignored, name)) continue;
        code = take_column(w, e, i, c, used);
        int sigma = sigma_column(e->curves, name);
        if (code == CLI_OK) code = convert_column(w, e, i, c, sigma);
        if (sigma >= 0) used[sigma] = true;
    }
    if (code == CLI_OK) code = check_columns(w, r, e, used);
    if (code == CLI_OK && e->data.columns == 0)
        code = complain(CLI_USAGE, "'%s' has no column that is a variable of the model", e->path);
    free(used);
    return code;
}

/* ---- values ---- */

/* "data.csv:12", or "data.mat, row 11" of a file without lines. */
static const char *place_of(const experiment *e, size_t row, char text[300])
{
    if (e->curves->lines)
        snprintf(text, 300, "%.250s:%ld", e->path, e->curves->lines[row]);
    else
        snprintf(text, 300, "%.250s, row %zu", e->path, row + 1);
    return text;
}

static int check_times(const request *r, const experiment *e)
{
    char place[300];
    for (size_t i = 0; i < e->curves->count; i++) {
        double t = e->curves->times[i];
        if (t < r->output.t0)
            return complain(CLI_USAGE,
                            "%s: the time %g lies before the start of the run, %g ('--start-time' "
                            "moves that)",
                            place_of(e, i, place), t, r->output.t0);
        if (!isnan(r->stop) && t > r->stop)
            return complain(CLI_USAGE, "%s: the time %g lies behind '--stop %g'",
                            place_of(e, i, place), t, r->stop);
    }
    return CLI_OK;
}

static void print_late(const fit_work *w, const experiment *e)
{
    char place[300];
    const double stop = dae_problem_experiment(w->s->problem).stop, *t = e->curves->times;
    const size_t last = e->curves->count - 1;
    size_t first = 0;
    while (first < last && !(t[first] > stop)) first++;
    if (t[first] > stop)
        say("  note      %s: the time %g lies behind %g, where the model ends (StopTime); runs go "
            "on "
            "to %g ('--stop %g' refuses such data)\n",
            place_of(e, first, place), t[first], stop, t[last], stop);
}

void fit_print_times(const fit_work *w, const request *r, const experiment *e)
{
    if (e->time_unit)
        say("  note      %s: the times are in '%s': they become seconds\n", e->path, e->time_unit);
    if (isnan(r->stop)) print_late(w, e);
    char place[300];
    if (e->jumps > 0)
        say("  note      %s: %s jumps at t = %g: its values there are left out%s; repeated "
            "measurements "
            "belong into several files\n",
            place_of(e, e->jump_row, place), e->jump_name, e->curves->times[e->jump_row],
            e->jumps > 1 ? ", and so are those of other jumps" : "");
}

/* The standard deviation that --sigma gives a variable; NAN: none. The last word that fits counts.
 */
static double given_sigma(const request *r, const char *name)
{
    double sigma = NAN;
    for (int k = 0; k < r->fit.sigmas.count; k++) {
        char *word = setting_name(r->fit.sigmas.list[k]);
        const char *equals = strrchr(r->fit.sigmas.list[k], '=');
        if (word && (pattern_fits(word, name) || names_match(word, name)))
            (void)parse_double(equals + 1, &sigma);
        free(word);
    }
    return sigma;
}

/* Values and standard deviations of column j. */
static int fill_column(const request *r, experiment *e, int j, bool *any)
{
    const char *name = e->names[j];
    const int c = report_curves_find(e->curves, name), from = sigma_column(e->curves, name);
    const double given = given_sigma(r, name);
    char place[300];
    if (from >= 0 || !isnan(given)) *any = true;
    for (size_t i = 0; i < e->curves->count; i++) {
        size_t at = i * (size_t)e->data.columns + (size_t)j;
        double value = report_curves_value(e->curves, c, i);
        double own = from >= 0 ? report_curves_value(e->curves, from, i) : NAN;
        e->values[at] = value;
        e->sigma[at] = isnan(own) ? given : own;
        if (isinf(value))
            return complain(CLI_USAGE, "%s: %s is not finite", place_of(e, i, place), name);
        if (isnan(value) || isnan(e->sigma[at])) continue;
        if (!(e->sigma[at] > 0.0) || isinf(e->sigma[at]))
            return complain(CLI_USAGE,
                            "%s: the standard deviation of %s is %g; it must be positive",
                            place_of(e, i, place), name, e->sigma[at]);
    }
    return CLI_OK;
}

/* Whether rows i - 1 and i are the only ones of their time. */
static bool are_a_pair(const report_curves *c, size_t i)
{
    const double *t = c->times;
    return t[i] == t[i - 1] && (i < 2 || t[i - 2] < t[i]) && (i + 1 == c->count || t[i + 1] > t[i]);
}

/* Whether pairs of rows may be the sides of events, as in files of `daedal run`. Where half of the
 * times are there twice they are measurements that were repeated. */
static bool has_sides(const fit_work *w, const report_curves *c)
{
    const dae_counts n = dae_problem_counts(w->s->problem);
    size_t pairs = 0, times = 1;
    for (size_t i = 1; i < c->count; i++) {
        pairs += are_a_pair(c, i);
        times += c->times[i] > c->times[i - 1];
    }
    return n.relations + n.samples + n.whens > 0 && 2 * pairs < times;
}

void fit_leave_out(experiment *e, size_t i, size_t j)
{
    const report_curves *c = e->curves;
    const size_t n = (size_t)e->data.columns;
    const double near = fit_beside(c);
    for (size_t k = i; k < c->count && c->times[k] - c->times[i] <= near; k++)
        e->values[k * n + j] = NAN;
    for (size_t k = i; k-- > 0 && c->times[i] - c->times[k] <= near;) e->values[k * n + j] = NAN;
    if (e->jumps++ == 0) e->jump_row = i, e->jump_name = e->names[j];
}

/* Leave out the values of a variable that jumps from one row of a pair to the other: the event is
 * at another time for other parameters, and no derivative tells on which side of it the rows are.
 */
static void leave_out_jumps(const fit_work *w, experiment *e)
{
    const double same = 1e-6; /* of the size of both: what errors of a run may be */
    const report_curves *c = e->curves;
    const size_t n = (size_t)e->data.columns;
    bool sides = has_sides(w, c);
    for (size_t i = 1; i < c->count && sides; i++)
        for (size_t j = 0; j < n && are_a_pair(c, i); j++) {
            double before = e->values[(i - 1) * n + j], after = e->values[i * n + j];
            if (fabs(after - before) > same * fmax(fabs(before), fabs(after)))
                fit_leave_out(e, i, j);
        }
}

/* Where some have standard deviations, all need them: else they would not count alike. */
static int check_sigmas(const experiment *e)
{
    char place[300];
    for (size_t i = 0; i < e->curves->count; i++)
        for (int j = 0; j < e->data.columns; j++) {
            size_t at = i * (size_t)e->data.columns + (size_t)j;
            if (isnan(e->values[at]) || !isnan(e->sigma[at])) continue;
            return complain(CLI_USAGE,
                            "%s: %s has no standard deviation, and others have; give all one, "
                            "with columns 'sigma(%s)' or '--sigma %s=X'",
                            place_of(e, i, place), e->names[j], e->names[j], e->names[j]);
        }
    return CLI_OK;
}

static int fill_values(const request *r, experiment *e, bool *any)
{
    size_t all = e->curves->count * (size_t)e->data.columns;
    e->values = calloc(all, sizeof *e->values);
    e->sigma = calloc(all, sizeof *e->sigma);
    int code = e->values && e->sigma ? CLI_OK : no_memory();
    for (int j = 0; j < e->data.columns && code == CLI_OK; j++) code = fill_column(r, e, j, any);
    return code;
}

/* ---- the files ---- */

static int read_experiment(fit_work *w, const request *r, const char *word, bool *any)
{
    experiment *e = &w->list[w->count++];
    report_error error = {0};
    size_t length = path_length(word);
    e->path = strndup(word, length);
    if (!e->path) return no_memory();
    int code = word[length] ? read_settings(w, e, word + length + 1) : CLI_OK;
    if (code != CLI_OK) return code;
    if (report_read_data(e->path, &e->curves, &error) != REPORT_OK)
        return complain(CLI_USAGE, "%s", error.text);
    code = convert_times(e);
    if (code == CLI_OK) code = check_times(r, e);
    if (code == CLI_OK) code = find_columns(w, r, e);
    if (code == CLI_OK) code = fill_values(r, e, any);
    if (code == CLI_OK) leave_out_jumps(w, e);
    w->last = fmax(w->last, e->curves->times[e->curves->count - 1]);
    return code;
}

/* The same for the library. */
static void describe(const request *r, experiment *e, bool weighted, dae_fit_data *data)
{
    e->data.rows = (int)e->curves->count;
    e->data.times = e->curves->times;
    e->data.variables = e->names;
    e->data.values = e->values;
    e->data.sigma = weighted ? e->sigma : NULL;
    e->data.settings = e->settings;
    e->data.setting_count = e->setting_count;
    e->data.start = r->output.t0;
    *data = e->data;
}

/* Whether a pattern or name means a measured variable of some file. */
static bool is_measured(const fit_work *w, const char *word)
{
    for (int k = 0; k < w->count; k++)
        for (int j = 0; j < w->list[k].data.columns; j++)
            if (pattern_fits(word, w->list[k].names[j]) || names_match(word, w->list[k].names[j]))
                return true;
    return false;
}

static int check_sigma_numbers(const settings *sigmas)
{
    for (int k = 0; k < sigmas->count; k++) {
        double value;
        if (!parse_double(strrchr(sigmas->list[k], '=') + 1, &value) || !(value > 0.0))
            return complain(CLI_USAGE, "option '--sigma' needs NAME=X with X above 0, not '%s'",
                            sigmas->list[k]);
    }
    return CLI_OK;
}

/* Words of --sigma that mean nothing in the data. */
static int check_sigma_names(const fit_work *w, const settings *sigmas)
{
    for (int k = 0; k < sigmas->count; k++) {
        char *word = setting_name(sigmas->list[k]);
        bool found = word && is_measured(w, word);
        free(word);
        if (!found)
            return complain(CLI_USAGE, "no measured variable is meant by '--sigma %s'",
                            sigmas->list[k]);
    }
    return CLI_OK;
}

int fit_read_data(fit_work *w, const request *r)
{
    bool any = false;
    if (r->fit.file_count == 0)
        return complain(CLI_USAGE, "to which data? 'daedal fit MODEL data.csv --fit NAME,..'");
    w->list = calloc((size_t)r->fit.file_count, sizeof *w->list);
    w->data = calloc((size_t)r->fit.file_count, sizeof *w->data);
    w->last = -INFINITY;
    int code = w->list && w->data ? check_sigma_numbers(&r->fit.sigmas) : no_memory();
    for (int k = 0; k < r->fit.file_count && code == CLI_OK; k++)
        code = read_experiment(w, r, r->fit.files[k], &any);
    if (code == CLI_OK) code = check_sigma_names(w, &r->fit.sigmas);
    for (int k = 0; k < w->count && code == CLI_OK; k++) {
        if (any) code = check_sigmas(&w->list[k]);
        describe(r, &w->list[k], any, &w->data[k]);
    }
    return code;
}
