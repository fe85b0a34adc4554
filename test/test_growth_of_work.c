/* Translation and analysis of large models take processor time in proportion to their size, also
 * where definitions stand on definitions, or equations differ in their constants: the least of a
 * few tries at two sizes, a factor of 8 apart. Work that grows with the square takes 64 times. */
#include "daedal.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { SMALL = SANITIZED ? 500 : 2000, TRIES = 2 };

/* A definition stands on the one before: the expression of the last one has all of them. */
static const char chain[] =
    "model Chain\n  parameter Integer n = 10;\n"
    "  Real x(start = 1, fixed = true), y[n];\nequation\n  der(x) = -x;\n  y[1] = x;\n"
    "  for i in 2:n loop\n    y[i] = y[i-1] + x/i;\n  end for;\nend Chain;\n";

/* Equations of n shapes: their constants are no whole numbers. */
static const char rates[] = "model Rates\n  parameter Integer n = 10;\n"
                            "  Real x[n](each start = 1, each fixed = true), mean;\nequation\n"
                            "  for i in 1:n loop\n    der(x[i]) = mean - x[i]*i/7;\n  end for;\n"
                            "  mean = sum(x)/n;\nend Rates;\n";

/* Processor seconds of translation and analysis */
static double seconds_of(const char *text, int n)
{
    char size[32];
    const char *assignment = size;
    snprintf(size, sizeof size, "n = %d", n);
    dae_model model = {.text = text,
                       .file = "large.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .assignments = &assignment,
                       .assignment_count = 1};
    dae_problem *problem = NULL;
    dae_analysis *analysis = NULL;
    dae_diag diag = {0};
    const clock_t begin = clock();
    dae_status status = dae_problem_from_model(&model, &problem, &diag);
    if (status == DAE_OK) status = dae_problem_analyse(problem, 0.0, &analysis, &diag);
    const clock_t end = clock();
    if (status != DAE_OK) fail_msg("%s", diag.text);
    dae_analysis_free(analysis);
    dae_problem_free(problem);
    return (double)(end - begin) / CLOCKS_PER_SEC;
}

static double least_seconds(const char *text, int n)
{
    double least = INFINITY;
    for (int k = 0; k < TRIES; k++) least = fmin(least, seconds_of(text, n));
    return least;
}

static void grows_with_the_model(const char *name, const char *text, int small)
{
    const double a = least_seconds(text, small), b = least_seconds(text, 8 * small);
    const double exponent = log(b / a) / log(8.0);
    print_message("%s: %.3g s, %.3g s, n^%.2f\n", name, a, b, exponent);
    if (!(exponent < 1.45)) fail_msg("%s: n^%.2f", name, exponent);
}

static void definitions_on_definitions(void **state)
{
    (void)state;
    grows_with_the_model("chain", chain, SMALL);
}

static void equations_of_many_shapes(void **state)
{
    (void)state;
    grows_with_the_model("rates", rates, 4 * SMALL); /* hashes that agree cost little at first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_on_definitions),
        cmocka_unit_test(equations_of_many_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
