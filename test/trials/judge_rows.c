/* Rows of a result against the text of their model, by the interpreter of the language alone:
 *   trial_judge_rows MODEL.mo ROWS.csv   the largest residual of every equation over the rows
 *   trial_judge_rows MODEL.mo ROWS.csv -r  the equations that do not hold to 1e-12 of their size,
 * row by row, for programs: time, residual, size, line, text; gaps trial_judge_rows MODEL.mo the
 * lists of the model, and its gaps trial_judge_rows MODEL.mo -e EXPR T..  an expression over start
 * values at the times T Columns der(x) give derivatives; without them equations with derivatives
 * are not judged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/judge.h"

enum { LINE = 1 << 20 };

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) text[0] = '\0';
    fclose(f);
    return text;
}

/* The next field of a line of separated values, quotes taken off; NULL: none. */
static char *next_field(char **at)
{
    char *c = *at;
    if (!c) return NULL;
    bool quoted = *c == '"';
    char *end = quoted ? strchr(c + 1, '"') : c + strcspn(c, ",\n\r");
    if (!end) end = c + strlen(c);
    char *field = quoted ? c + 1 : c;
    char *more = end + (quoted && *end == '"');
    *at = *more == ',' ? more + 1 : NULL;
    *end = '\0';
    return field;
}

static void show_lists(judge *j)
{
    const judge_variable *v;
    const judge_equation *e;
    const judge_gap *g;
    const judge_when *w;
    size_t n = judge_variables(j, &v);
    for (size_t k = 0; k < n; k++)
        printf("variable %s type %d variability %d start %g value %g fixed %d\n", v[k].name,
               v[k].type, v[k].variability, v[k].start, v[k].value, v[k].fixed);
    const judge_derivative *d;
    n = judge_derivatives(j, &d);
    for (size_t k = 0; k < n; k++) printf("derivative %s\n", d[k].name);
    n = judge_equations(j, &e);
    for (size_t k = 0; k < n; k++)
        printf("equation %zu kind %d group %d line %d type %d: %s\n", k, e[k].kind, e[k].group,
               e[k].line, e[k].type, e[k].text);
    n = judge_whens(j, &w);
    for (size_t k = 0; k < n; k++)
        printf("when %zu line %d group %d previous %d conditions %d..: %s\n", k, w[k].line,
               w[k].group, w[k].previous, w[k].first, w[k].text);
    n = judge_gaps(j, &g);
    for (size_t k = 0; k < n; k++)
        printf("gap line %d group %d: %s%s\n", g[k].line, g[k].group, g[k].construct,
               g[k].harmless ? " (harmless)" : "");
}

typedef struct table {
    size_t columns, variables, derivatives;
    int variable[65536], derivative[65536]; /* of each column, -1: none */
} table;

static void read_header(judge *j, char *line, table *t)
{
    const judge_derivative *d;
    size_t derivatives = judge_derivatives(j, &d);
    for (char *at = line, *f; t->columns < 65536 && (f = next_field(&at)); t->columns++) {
        char *unit = strstr(f, " [");
        if (unit) *unit = '\0';
        t->variable[t->columns] = judge_find(j, f);
        t->derivative[t->columns] = -1;
        for (size_t k = 0; k < derivatives; k++)
            if (strcmp(d[k].name, f) == 0) t->derivative[t->columns] = (int)k;
    }
}

typedef struct worst {
    double residual, size, at, left, right;
    long wrong, errors;
    const char *error;
} worst;

static bool of_start(const judge_equation *e)
{
    return e->kind == JUDGE_INITIAL_EQUATION || e->kind == JUDGE_INITIAL_ALGORITHM;
}

/* Whether rounding of the values may turn a switch of a group. */
static bool on_edge(const judge_result *r, int group)
{
    for (size_t k = 0; k < r->switch_count; k++) {
        const judge_switch *s = &r->switches[k];
        if (s->group == group && !s->discrete && fabs(s->crossing) <= s->spread) return true;
    }
    return false;
}

/* A line for each equation that does not hold. */
static void show_row(const judge_equation *e, const judge_row *r, double time)
{
    double scale = fmax(fmax(r->size, fabs(r->left)), 1.0);
    if (of_start(e) || e->warning) return;
    if (r->error)
        printf("error\t%.17g\t0\t0\t%d\t%s: %s\n", time, e->line, r->error, e->text);
    else if (!(fabs(r->residual) <= 1e-12 * scale))
        printf("off\t%.17g\t%.3g\t%.3g\t%d\t%.12g = %.12g in %s\n", time, r->residual, r->size,
               e->line, r->left, r->right, e->text);
}

static void judge_line(judge *j, char *line, const table *t, double *values, double *derivatives,
                       worst *w)
{
    const judge_equation *e;
    const judge_result *r;
    size_t n = judge_equations(j, &e), column = 0;
    double *tolerances = values + t->variables, *rates = derivatives + t->derivatives;
    judge_point p = {.values = values,
                     .derivatives = derivatives,
                     .tolerances = tolerances,
                     .derivative_tolerances = rates,
                     .time_tolerance = 1e-12};
    for (char *at = line, *f; (f = next_field(&at)) && column < t->columns; column++) {
        double v = strtod(f, NULL);
        if (column == 0) p.time = v;
        if (t->variable[column] >= 0) values[t->variable[column]] = v;
        if (t->derivative[column] >= 0) derivatives[t->derivative[column]] = v;
    }
    for (size_t k = 0; k < t->variables; k++) tolerances[k] = 1e-11 * (fabs(values[k]) + 1.0);
    for (size_t k = 0; k < t->derivatives; k++) rates[k] = 1e-11 * (fabs(derivatives[k]) + 1.0);
    if (judge_evaluate(j, &p, &r) != DAE_OK) return;
    if (!w) {
        for (size_t k = 0; k < n; k++)
            if (!on_edge(r, e[k].group)) show_row(&e[k], &r->rows[k], p.time);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        if (r->rows[k].error) {
            w[k].errors++;
            w[k].error = r->rows[k].error;
        } else if (!(fabs(r->rows[k].residual) <= w[k].residual)) {
            w[k] = (worst){fabs(r->rows[k].residual), r->rows[k].size, p.time,      r->rows[k].left,
                           r->rows[k].right,          w[k].wrong,      w[k].errors, w[k].error};
        }
        w[k].wrong += !r->rows[k].holds;
    }
}

static void show_worst(judge *j, const worst *w)
{
    const judge_equation *e;
    size_t n = judge_equations(j, &e);
    for (size_t k = 0; k < n; k++) {
        if (of_start(&e[k])) continue;
        printf("%-8.2g of %-8.2g kind %d line %d at %g (%g, %g): %s%s%s\n", w[k].residual,
               w[k].size, e[k].kind, e[k].line, w[k].at, w[k].left, w[k].right, e[k].text,
               w[k].error ? " ERROR " : "", w[k].error ? w[k].error : "");
    }
}

static void show_gaps(judge *j)
{
    const judge_gap *g;
    size_t n = judge_gaps(j, &g);
    for (size_t k = 0; k < n; k++)
        if (!g[k].harmless) printf("gap\t0\t0\t0\t%d\t%s\n", g[k].line, g[k].construct);
}

static int judge_rows_of(judge *j, const char *path, bool by_row)
{
    static table t; /* values and, behind them, their tolerances */
    const judge_variable *v;
    const judge_equation *e;
    const judge_derivative *d;
    size_t variables = judge_variables(j, &v), n = judge_equations(j, &e),
           nd = judge_derivatives(j, &d);
    double *values = calloc(2 * variables + 1, sizeof *values);
    double *derivatives = calloc(2 * nd + 1, sizeof *derivatives);
    t.variables = variables;
    t.derivatives = nd;
    worst *w = calloc(n + 1, sizeof *w);
    char *line = malloc(LINE);
    FILE *f = fopen(path, "r");
    if (!f || !values || !derivatives || !w || !line || !fgets(line, LINE, f)) return 2;
    judge_start_values(j, values);
    for (size_t k = 0; k < variables; k++)
        if (v[k].variability >= JUDGE_DISCRETE) values[k] = NAN;
    for (size_t k = 0; k < nd; k++) derivatives[k] = NAN;
    read_header(j, line, &t);
    while (fgets(line, LINE, f)) judge_line(j, line, &t, values, derivatives, by_row ? NULL : w);
    if (by_row)
        show_gaps(j);
    else
        show_worst(j, w);
    fclose(f);
    free(values), free(derivatives), free(w), free(line);
    return 0;
}

static int show_expression(judge *j, int count, char **arguments)
{
    const judge_variable *v;
    size_t variables = judge_variables(j, &v);
    double *values = calloc(variables + 1, sizeof *values), out[64];
    dae_diag diag;
    if (!values) return 2;
    judge_start_values(j, values);
    for (int k = 1; k < count; k++) {
        judge_point p = {.time = strtod(arguments[k], NULL), .values = values};
        size_t elements;
        if (judge_function(j, arguments[0], &p, out, 64, &elements, &diag) != DAE_OK)
            printf("%s: %s", arguments[k], diag.text);
        else
            for (size_t i = 0; i < elements && i < 64; i++) printf("%s%.17g", i ? " " : "", out[i]);
        printf("\n");
    }
    free(values);
    return 0;
}

int main(int count, char **arguments)
{
    judge *j;
    dae_diag diag;
    char *text = count > 1 ? read_text(arguments[1]) : NULL;
    if (!text) return 2;
    if (judge_open(text, strlen(text), arguments[1], NULL, 0, &j, &diag) != DAE_OK) {
        printf("%s\n", diag.text);
        free(text);
        return 1;
    }
    int status = 0;
    if (count == 2)
        show_lists(j);
    else if (count > 4 && strcmp(arguments[2], "-e") == 0)
        status = show_expression(j, count - 3, arguments + 3);
    else
        status = judge_rows_of(j, arguments[2], count > 3 && strcmp(arguments[3], "-r") == 0);
    judge_free(j);
    free(text);
    return status;
}
