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
    static const char *const few[] = {"bdf", "radau5", "bdf2nd", "colloc2nd"};
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

/* The library's own words: the first sentence, without the directory of the model */
static void print_reason(const char *formulation, const char *method, const cell *c)
{
    const char *end = strstr(c->why, ". "), *cut;
    char text[DAE_TEXT_SIZE];
    snprintf(text, sizeof text, "%.*s", end ? (int)(end - c->why) : DAE_TEXT_SIZE - 1, c->why);
    while ((cut = strstr(text, BENCH_ROOT "/models/"))) {
        const char *rest = cut + sizeof BENCH_ROOT "/models/" - 1;
        memmove(text + (cut - text), rest, strlen(rest) + 1);
    }
    static const char *const words[] = {"", "refused: ", "fails: ", "left out: "};
    printf("| `%s` | `%s` | %s%s |\n", formulation, method, words[c->status], text);
}

enum { MOST_METHODS = 128, MOST_FORMULATIONS = 64 };

static void print_problem(const char *name)
{
    static cell cells[MOST_FORMULATIONS][MOST_METHODS];
    cell_problem *p = cell_problem_new(name, BENCH_ROOT, DAE_ENGINE_NATIVE);
    if (!p) {
        printf("%s: unknown, or it does not translate\n", name);
        return;
    }
    printf("\n### %s\n\n| formulation | method | rtol | q | v | lambda | g | g' | g'' | steps | F "
           "| ms |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|\n",
           p->name);
    int refused = 0;
    for (int f = -1; f + 1 < MOST_FORMULATIONS && (f < 0 || dae_formulation_name(f)); f++) {
        const char *formulation = f < 0 ? "auto" : dae_formulation_name(f);
        for (int m = 0; m < MOST_METHODS && dae_method_name(m); m++) {
            if (!wanted(dae_method_name(m))) continue;
            cell *c = &cells[f + 1][m];
            *c = cell_run(p, formulation, m, 0.0);
            if (c->status == CELL_RUNS)
                print_cell(formulation, dae_method_name(m), c);
            else
                refused++;
        }
        fflush(stdout);
    }
    if (refused) printf("\n| formulation | method | |\n|---|---|---|\n");
    for (int f = -1; f + 1 < MOST_FORMULATIONS && (f < 0 || dae_formulation_name(f)); f++)
        for (int m = 0; m < MOST_METHODS && dae_method_name(m); m++)
            if (wanted(dae_method_name(m)) && cells[f + 1][m].status != CELL_RUNS)
                print_reason(f < 0 ? "auto" : dae_formulation_name(f), dae_method_name(m),
                             &cells[f + 1][m]);
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
