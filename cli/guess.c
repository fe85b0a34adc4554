/* --guess: a word, or a file whose columns have names of variables. */
#include "guess.h"

#include <stdlib.h>
#include <string.h>

static int convert(guess_rows *g, int column, const char *unit, const char *path)
{
    report_error error = {0};
    if (report_curves_convert(g->file, column, unit, false, &error) == REPORT_OK) return CLI_OK;
    return complain(CLI_USAGE, "%s: %s", path, error.text);
}

/* Columns of the file that are variables of the model. */
static int choose_columns(guess_rows *g, const session *s, const char *path)
{
    const report_curves *c = g->file;
    const size_t n = (size_t)s->n;
    int *curve = calloc(n + 1, sizeof *curve);
    g->variables = calloc(n + 1, sizeof *g->variables);
    g->values = calloc(n * c->count + 1, sizeof *g->values);
    int code = curve && g->variables && g->values ? CLI_OK : complain(CLI_FAILED, "out of memory");
    for (int v = 0; v < s->n && code == CLI_OK; v++) {
        int k = report_curves_find(c, dae_problem_variable(s->problem, v));
        if (k < 0) continue;
        code = convert(g, k, dae_problem_unit(s->problem, v), path);
        curve[g->columns] = k;
        g->variables[g->columns++] = dae_problem_variable(s->problem, v);
    }
    if (code == CLI_OK && g->columns == 0)
        code = complain(CLI_USAGE, "%s: no column has the name of a variable", path);
    for (size_t i = 0; i < c->count && code == CLI_OK; i++)
        for (int k = 0; k < g->columns; k++)
            g->values[i * (size_t)g->columns + (size_t)k] = report_curves_value(c, curve[k], i);
    free(curve);
    return code;
}

int guess_read(guess_rows *g, const session *s, const char *word)
{
    report_error error = {0};
    *g = (guess_rows){.kind = DAE_BVP_GUESS_AUTO};
    if (!word || strcmp(word, "auto") == 0) return CLI_OK;
    if (strcmp(word, "start") == 0) {
        g->kind = DAE_BVP_GUESS_START;
        return CLI_OK;
    }
    if (strcmp(word, "simulate") == 0) {
        g->kind = DAE_BVP_GUESS_SIMULATE;
        return CLI_OK;
    }
    if (report_read(word, &g->file, &error) != REPORT_OK)
        return complain(CLI_USAGE, "option '--guess' needs start, simulate or a file with rows: %s",
                        error.text);
    g->kind = DAE_BVP_GUESS_TABLE;
    g->rows = (int)g->file->count;
    int code = convert(g, -1, "s", word);
    if (code != CLI_OK) return code;
    return choose_columns(g, s, word);
}

void guess_free(guess_rows *g)
{
    report_curves_free(g->file);
    free(g->variables);
    free(g->values);
}
