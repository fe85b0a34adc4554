/* Every formulation with every method that fits, as tables of docs/methods.
 *
 * Usage: bench_formulations [-s] [problem ..]
 *   -s  only the methods bdf, radau5, bdf2nd and colloc2nd
 *
 * bench/formulations.sh writes both into the documentation. */
#include "formulation_cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_short;

static bool wanted(const char *method)
{
    static const char *const few[] = {"bdf", "radau:5", "bdf2nd", "colloc2nd"};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (!strcmp(few[i], method)) return true;
    return !is_short;
}

static void print_cell(const char *formulation, const char *method, const cell *c)
{
    printf("| `%s` | `%s` | %.0e |", formulation, method, c->rtol);
    for (int k = 0; k < 3; k++) printf(" %.1e |", c->error[k]);
    for (int k = 0; k < 3; k++) printf(" %.1e |", c->drift[k]);
    printf(" %ld | %ld | %.2f |\n", c->steps, c->evaluations, 1e3 * c->seconds);
}

static void remove_all(char *text, const char *part, const char *in_its_place)
{
    const size_t length = strlen(part), other = strlen(in_its_place);
    for (char *at = strstr(text, part); at && other <= length; at = strstr(at + other, part)) {
        memcpy(at, in_its_place, other);
        memmove(at + other, at + length, strlen(at + length) + 1);
    }
}

/* The library's own words: the first sentence, without the directory of the model and the name of
 * the method, so that many share one line */
static void reason(const char *method, const cell *c, char *text, size_t size)
{
    static const char *const words[] = {"", "refused: ", "fails: "};
    const char *end = strstr(c->why, ". ");
    char named[64];
    snprintf(text, size, "%s%.*s", words[c->status], end ? (int)(end - c->why) : DAE_TEXT_SIZE / 2,
             c->why);
    remove_all(text, BENCH_ROOT "/models/", "");
    snprintf(named, sizeof named, "ethod %s ", method);
    remove_all(text, named, "ethod ");
    snprintf(named, sizeof named, "ethod %s: ", method);
    remove_all(text, named, "ethod ");
    snprintf(named, sizeof named, " not for %s", method);
    remove_all(text, named, " not");
}

/* All methods that a formulation has not run with, by their reasons */
static void print_reasons(const char *formulation, cell *row, int count)
{
    char text[DAE_TEXT_SIZE], other[DAE_TEXT_SIZE];
    for (int m = 0; m < count; m++) {
        if (row[m].status == CELL_RUNS) continue;
        reason(dae_method_name(m), &row[m], text, sizeof text);
        printf("| `%s` |", formulation);
        for (int k = m; k < count; k++) {
            if (row[k].status == CELL_RUNS) continue;
            reason(dae_method_name(k), &row[k], other, sizeof other);
            if (strcmp(text, other)) continue;
            printf(" `%s`", dae_method_name(k));
            if (k > m) row[k].status = CELL_RUNS;
        }
        printf(" | %s |\n", text);
    }
}

enum { MOST_METHODS = 128, MOST_FORMULATIONS = 64 };

/* auto, then all formulations; NULL past the end */
static const char *name_at(int i)
{
    return i ? dae_formulation_name(i - 1) : "auto";
}

static void print_problem(const char *name)
{
    static cell cells[MOST_FORMULATIONS][MOST_METHODS];
    memset(cells, 0, sizeof cells);
    cell_problem *p = cell_problem_new(name, BENCH_ROOT, DAE_ENGINE_NATIVE);
    if (!p) {
        printf("%s: unknown, or it does not translate\n", name);
        return;
    }
    printf("\n### %s\n\n| formulation | method | rtol | q | v | lambda | g | g' | g'' | steps | F "
           "| ms |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
           p->name);
    int formulations = 0, methods = 0;
    while (dae_method_name(methods) && methods < MOST_METHODS) methods++;
    for (; formulations < MOST_FORMULATIONS && name_at(formulations); formulations++) {
        for (int m = 0; m < methods; m++) {
            cell *c = &cells[formulations][m];
            if (wanted(dae_method_name(m))) *c = cell_run(p, name_at(formulations), m, 0.0);
            if (wanted(dae_method_name(m)) && c->status == CELL_RUNS)
                print_cell(name_at(formulations), dae_method_name(m), c);
        }
        fflush(stdout);
    }
    printf("\n| formulation | methods | |\n|---|---|---|\n");
    for (int f = 0; f < formulations; f++) print_reasons(name_at(f), cells[f], methods);
    cell_problem_free(p);
}

int main(int argc, char **argv)
{
    int named = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-s"))
            is_short = true;
        else
            print_problem(argv[i]), named++;
    for (int i = 0; !named && i < CELL_PROBLEMS; i++) print_problem(cell_problem_name(i));
    return 0;
}
