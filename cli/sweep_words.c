/* The points of `daedal sweep`: words, and what they mean on the model. */
#define _POSIX_C_SOURCE 200809L

#include "fit.h"
#include "sweep_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(void)
{
    return complain(CLI_FAILED, "out of memory");
}

/* ---- words to points ---- */

static const char *by_word(int i, const void *user)
{
    static const char *const names[] = {"random", "lhs", "sobol"};
    (void)user;
    return i < 3 ? names[i] : NULL;
}

static int read_by(const request *r, sweep_by *by)
{
    *by = SWEEP_RANDOM;
    for (int k = 0; k < r->by.count; k++) {
        int i = 0;
        while (by_word(i, NULL) && strcmp(by_word(i, NULL), r->by.list[k]) != 0) i++;
        if (!by_word(i, NULL))
            return complain_unknown("way to draw", r->by.list[k], by_word, NULL,
                                    "'--by' takes random, lhs or sobol");
        *by = (sweep_by)i;
    }
    return CLI_OK;
}

static int check_words(const request *r)
{
    const sweep_request *q = &r->sweep;
    if (q->samples.count > 0 && q->sample == 0)
        return complain(CLI_USAGE, "'%s' is to be drawn; say how often: --sample 1000",
                        q->samples.list[0]);
    if (q->sample > 0 && q->samples.count == 0)
        return complain(CLI_USAGE, "sample what? --sample %ld 'k=normal(1,0.1)'", q->sample);
    if (r->by.count > 0 && q->sample == 0)
        return complain(CLI_USAGE, "option '--by' goes with '--sample'");
    if (q->over.count + q->lists.count + q->samples.count == 0)
        return complain(CLI_USAGE,
                        "sweep over what? '--over k=1:0.1:5', '--list points.csv' or '--sample "
                        "1000 k=normal(1,0.1)' (see 'daedal help sweep')");
    return CLI_OK;
}

int sweep_read_points(sweep_work *w)
{
    const sweep_request *q = &w->r->sweep;
    int code = check_words(w->r), count = 0, most = q->over.count + q->lists.count + 1;
    sweep_by by = SWEEP_RANDOM;
    report_error error = {0};
    if (code == CLI_OK) code = read_by(w->r, &by);
    if (code != CLI_OK) return code;
    sweep_points **parts = calloc((size_t)most, sizeof *parts);
    report_status status = parts ? REPORT_OK : REPORT_ERR_MEMORY;
    for (int k = 0; k < q->over.count && status == REPORT_OK; k++)
        status = sweep_points_over(q->over.list[k], &parts[count++], &error);
    for (int k = 0; k < q->lists.count && status == REPORT_OK; k++)
        status = sweep_points_list(q->lists.list[k], &parts[count++], &error);
    if (q->sample > 0 && status == REPORT_OK)
        status = sweep_points_sample((size_t)q->sample, q->samples.list, q->samples.count, by,
                                     q->seed, &parts[count++], &error);
    if (status == REPORT_OK)
        status = sweep_points_join(parts, count, q->grid, &w->points, &error);
    else
        for (int k = 0; k < count; k++) sweep_points_free(parts[k]);
    free(parts);
    if (status == REPORT_OK) return CLI_OK;
    if (status == REPORT_ERR_MEMORY) return no_memory();
    return complain(CLI_USAGE, "%s", error.text);
}

/* ---- points to the model ---- */

/* The number of a word of an enumeration, "fast" or "Mode.fast", or of a Boolean; NAN: none */
static double word_value(dae_type type, const char *const *literals, int count, const char *word)
{
    const char *dot = strrchr(word, '.');
    if (type == DAE_TYPE_BOOLEAN)
        return strcmp(word, "true") == 0 ? 1.0 : strcmp(word, "false") == 0 ? 0.0 : NAN;
    for (int k = 0; k < count && type == DAE_TYPE_ENUMERATION; k++)
        if (strcmp(literals[k], word) == 0 || (dot && strcmp(literals[k], dot + 1) == 0))
            return k + 1;
    return NAN;
}

/* Words of a column become numbers. */
static int translate_words(sweep_points *p, int c, dae_type type, const char *const *literals,
                           int count)
{
    sweep_column *column = &p->column[c];
    for (size_t i = 0; i < p->count && column->words; i++) {
        double *cell = &p->value[i * (size_t)p->columns + (size_t)c];
        const char *word = column->words[(int)*cell];
        char *end;
        double value = strtod(word, &end);
        if (end == word || *end || !isfinite(value))
            value = word_value(type, literals, count, word);
        if (isnan(value))
            return complain(CLI_USAGE, "'%s' is no value of '%s', which is %s", word, column->name,
                            type == DAE_TYPE_BOOLEAN       ? "a Boolean: true or false"
                            : type == DAE_TYPE_ENUMERATION ? "an enumeration with other literals"
                                                           : "a number");
        *cell = value;
    }
    for (int k = 0; k < column->word_count; k++) free(column->words[k]);
    free(column->words);
    column->words = NULL;
    column->word_count = 0;
    return CLI_OK;
}

/* A value must fit the type, before a thousand rows say that it does not. */
static int check_values(const sweep_points *p, int c, dae_type type, int literals)
{
    for (size_t i = 0; i < p->count; i++) {
        double x = p->value[i * (size_t)p->columns + (size_t)c];
        bool whole = floor(x) == x;
        bool fits = type == DAE_TYPE_REAL || (type == DAE_TYPE_INTEGER && whole) ||
                    (type == DAE_TYPE_BOOLEAN && (x == 0.0 || x == 1.0)) ||
                    (type == DAE_TYPE_ENUMERATION && whole && x >= 1.0 && x <= literals);
        if (!fits)
            return complain(CLI_USAGE, "point %zu: %.17g is no value of '%s', which is %s", i + 1,
                            x, p->column[c].name,
                            type == DAE_TYPE_INTEGER   ? "an Integer"
                            : type == DAE_TYPE_BOOLEAN ? "a Boolean"
                                                       : "an enumeration");
    }
    return CLI_OK;
}

static void label(bound_column *b, dae_type type, const char *unit, const char *const *literals,
                  int count)
{
    static const char *const truths[] = {"false", "true"};
    b->report = (report_sweep_column){.name = b->name, .unit = unit};
    if (type == DAE_TYPE_BOOLEAN) b->report.words = truths, b->report.word_count = 2;
    if (type == DAE_TYPE_ENUMERATION) {
        b->report.words = literals;
        b->report.word_count = count;
        b->report.first = 1;
    }
}

/* Structural parameters, and texts, are words of '--set' for a translation of their own. */
static int bind_structural(sweep_work *w, int c, dae_type type)
{
    sweep_column *column = &w->points->column[c];
    bound_column *b = &w->columns[c];
    b->structural = w->structural = true;
    b->report = (report_sweep_column){
        .name = b->name, .unit = dae_problem_parameter_unit(w->s->problem, b->parameter)};
    if (column->words) {
        b->report.words = (const char *const *)column->words;
        b->report.word_count = column->word_count;
    } else if (type == DAE_TYPE_STRING) {
        return complain(
            CLI_USAGE,
            "'%s' is a String, and all of its values are numbers: put them into quotes, as "
            "\"1\"",
            column->name);
    }
    return CLI_OK;
}

static int bind_column(sweep_work *w, int c)
{
    sweep_column *column = &w->points->column[c];
    bound_column *b = &w->columns[c];
    int variable, code = fit_find(w->s, column->name, &b->parameter, &variable);
    if (code != CLI_OK) return code;
    if (b->parameter < 0) {
        dae_variable_info v = dae_problem_variable_info(w->s->problem, variable);
        b->name = dae_problem_variable(w->s->problem, variable);
        label(b, v.type, dae_problem_unit(w->s->problem, variable), v.literals, v.literal_count);
        code = translate_words(w->points, c, v.type, v.literals, v.literal_count);
        return code == CLI_OK ? check_values(w->points, c, v.type, v.literal_count) : code;
    }
    dae_parameter_info p = dae_problem_parameter_info(w->s->problem, b->parameter);
    b->name = dae_problem_parameter(w->s->problem, b->parameter);
    if (p.structural || p.type == DAE_TYPE_STRING) return bind_structural(w, c, p.type);
    if (!p.settable)
        return complain(CLI_USAGE, "'%s' cannot be varied: it is final, or a constant", b->name);
    label(b, p.type, dae_problem_parameter_unit(w->s->problem, b->parameter), p.literals,
          p.literal_count);
    code = translate_words(w->points, c, p.type, p.literals, p.literal_count);
    return code == CLI_OK ? check_values(w->points, c, p.type, p.literal_count) : code;
}

/* Numbers are taken in the units of the model: a list that says otherwise is not understood. */
static int check_unit(const sweep_work *w, int c)
{
    const char *given = w->points->column[c].unit, *own = w->columns[c].report.unit;
    if (!given || !own || !*own || strcmp(given, own) == 0) return CLI_OK;
    return complain(CLI_USAGE,
                    "'%s' has the unit '%s' in the list and '%s' in the model: give its values in "
                    "that, or its name alone",
                    w->columns[c].name, given, own);
}

int sweep_bind(sweep_work *w)
{
    int code = CLI_OK;
    w->columns = calloc((size_t)w->points->columns, sizeof *w->columns);
    if (!w->columns) return no_memory();
    for (int c = 0; c < w->points->columns && code == CLI_OK; c++) {
        code = bind_column(w, c);
        if (code == CLI_OK) code = check_unit(w, c);
    }
    for (int c = 0; c < w->points->columns && code == CLI_OK; c++)
        for (int k = 0; k < c && code == CLI_OK; k++)
            if (strcmp(w->columns[c].name, w->columns[k].name) == 0)
                code = complain(CLI_USAGE, "'%s' is varied twice", w->columns[c].name);
    return code;
}

/* ---- what is kept ---- */

int sweep_make_keep(const sweep_work *w, const request *r, const session *s, sweep_keep **keep)
{
    report_error error = {0};
    const sweep_keep_request wanted = {.text = w->r->sweep.keep ? w->r->sweep.keep : "end",
                                       .start = r->output.t0,
                                       .stop = r->output.tend,
                                       .variables = s->recorded,
                                       .variable_count = s->n_recorded,
                                       .times = w->times,
                                       .time_count = w->time_count,
                                       .rtol = r->options.rtol,
                                       .atol = r->options.atol};
    if (sweep_keep_new(s->problem, &wanted, keep, &error) == REPORT_OK) return CLI_OK;
    if (error.status == REPORT_ERR_MEMORY) return no_memory();
    return complain(CLI_USAGE, "%s", error.text);
}
