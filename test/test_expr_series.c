/* Series, one coefficient at a time, against symbolic derivatives, against series from a handbook,
 * and in all precisions. Every coefficient is made in two ways at once: as a trial value of 0 that
 * is then corrected, at positive stages, and directly. */
#include "expr/derive.h"
#include "expr/loop.h"
#include "expr/scalar_math.h"
#include "expr/series.h"
#include "expr_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LAST = 5, TOP = 4, LENGTH = TOP + LAST + 1 };

static double factorial(int k)
{
    return k < 2 ? 1.0 : k * factorial(k - 1);
}

/* Where a trial happens: x_j = sum_k c[j][k] (t - time)^k. */
typedef struct place {
    double time, c[RANDOM_VARIABLES][LENGTH];
    double parameter[RANDOM_PARAMETERS], memory[RANDOM_MEMORIES];
} place;

static place random_place(random_source *s)
{
    place p = {.time = random_between(s, 0.0, 2.0)};
    for (int j = 0; j < RANDOM_VARIABLES; j++)
        for (int k = 0; k < LENGTH; k++) p.c[j][k] = random_between(s, -1.5, 1.5) / factorial(k);
    for (int k = 0; k < RANDOM_PARAMETERS; k++) p.parameter[k] = random_between(s, -1.5, 1.5);
    for (int k = 0; k < RANDOM_MEMORIES; k++) p.memory[k] = random_below(s, 2);
    return p;
}

static double leaf_value(void *context, const expr_node *leaf)
{
    const place *p = context;
    switch (leaf->op) {
    case EXPR_TIME: return p->time;
    case EXPR_VARIABLE: return p->c[leaf->index][leaf->order] * factorial(leaf->order);
    case EXPR_PARAMETER: return p->parameter[leaf->index];
    default: return p->memory[leaf->index];
    }
}

/* Coefficient lag + s of e[i] at all stages into out[s + lag_i] of row i; by trial and correction.
 */
static void run_stages(const graph *g, const expr *e, const int *lag, int count, const place *p,
                       double out[][LENGTH])
{
    int top[RANDOM_VARIABLES];
    double x[RANDOM_VARIABLES][LENGTH] = {{0}}, more[RANDOM_VARIABLES], now[8];
    for (int j = 0; j < RANDOM_VARIABLES; j++) top[j] = TOP - j % 2;
    series_program *program =
        series_program_new(g, e, lag, (size_t)count, top, RANDOM_VARIABLES, LAST);
    series_run_double run;
    assert_non_null(program);
    assert_true(series_run_new_double(&run, program));
    run.time = p->time;
    for (int j = 0; j < RANDOM_VARIABLES; j++) run.rows[j] = x[j];
    run.parameters = p->parameter;
    run.memory = p->memory;
    series_prepare_double(&run);
    for (int s = -TOP; s <= LAST; s++) {
        for (int j = 0; j < RANDOM_VARIABLES; j++) {
            more[j] = top[j] + s < 0 ? 0.0 : p->c[j][top[j] + s];
            if (s <= 0 && top[j] + s >= 0) x[j][top[j] + s] = more[j];
        }
        series_sweep_double(&run, s);
        for (int j = 0; j < RANDOM_VARIABLES && s > 0; j++) x[j][top[j] + s] = more[j];
        if (s > 0) series_correct_double(&run, s, more);
        series_outputs_double(&run, s, now);
        for (int i = 0; i < count; i++)
            if (lag[i] + s >= 0) out[i][lag[i] + s] = now[i];
    }
    series_run_free_double(&run);
    series_program_free(program);
}

static void assert_near(double value, double expected, double tolerance)
{
    double size = fmax(1.0, fabs(expected));
    if (!(fabs(value - expected) <= tolerance * size))
        fail_msg("%.17g, not %.17g", value, expected);
}

/* Coefficient k is the k-th total derivative by k!. Leaves have orders up to 2, so that a lag of 1
 * makes some of them trial values, and a lag of 0 none of the even variables. */
static void derivatives_by_symbols(void **state)
{
    (void)state;
    random_source s = {17};
    for (int trial = 0; trial < 300; trial++) {
        graph *g = graph_new();
        expr shared = random_smooth(g, &s, 3);
        expr e[3] = {random_smooth(g, &s, 4),
                     graph_binary(g, EXPR_ADD, shared, random_smooth(g, &s, 3)),
                     graph_binary(g, EXPR_MUL, shared, random_smooth(g, &s, 2))};
        const int lag[3] = {random_below(&s, 2), random_below(&s, 2), random_below(&s, 2)};
        place p = random_place(&s);
        double out[3][LENGTH];
        run_stages(g, e, lag, 3, &p, out);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k <= 4; k++) {
                assert_near(out[i][k] * factorial(k), graph_value(g, e[i], leaf_value, &p), 2e-11);
                e[i] = derive_time(g, e[i]);
            }
        graph_free(g);
    }
}

typedef struct known_series {
    expr_op op;
    double at, coefficients[5];
} known_series;

/* Series of f(at + t), from any handbook. */
static const known_series handbook[] = {
    {EXPR_EXP, 0.0, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24}},
    {EXPR_LOG, 1.0, {0.0, 1.0, -1.0 / 2, 1.0 / 3, -1.0 / 4}},
    {EXPR_LOG10,
     1.0,
     {0.0, 0.43429448190325183, -0.43429448190325183 / 2, 0.43429448190325183 / 3,
      -0.43429448190325183 / 4}},
    {EXPR_SQRT, 1.0, {1.0, 1.0 / 2, -1.0 / 8, 1.0 / 16, -5.0 / 128}},
    {EXPR_SIN, 0.0, {0.0, 1.0, 0.0, -1.0 / 6, 0.0}},
    {EXPR_COS, 0.0, {1.0, 0.0, -1.0 / 2, 0.0, 1.0 / 24}},
    {EXPR_TAN, 0.0, {0.0, 1.0, 0.0, 1.0 / 3, 0.0}},
    {EXPR_ASIN, 0.0, {0.0, 1.0, 0.0, 1.0 / 6, 0.0}},
    {EXPR_ACOS, 0.0, {1.57079632679489661923, -1.0, 0.0, -1.0 / 6, 0.0}},
    {EXPR_ATAN, 0.0, {0.0, 1.0, 0.0, -1.0 / 3, 0.0}},
    {EXPR_SINH, 0.0, {0.0, 1.0, 0.0, 1.0 / 6, 0.0}},
    {EXPR_COSH, 0.0, {1.0, 0.0, 1.0 / 2, 0.0, 1.0 / 24}},
    {EXPR_TANH, 0.0, {0.0, 1.0, 0.0, -1.0 / 3, 0.0}},
    {EXPR_ABS, -2.0, {2.0, -1.0, 0.0, 0.0, 0.0}},
    {EXPR_FLOOR, 1.5, {1.0, 0.0, 0.0, 0.0, 0.0}},
    {EXPR_SIGN, -1.5, {-1.0, 0.0, 0.0, 0.0, 0.0}},
};

/* f(at + t) by a variable whose series that is, with every coefficient a trial value once. */
static void functions_of_a_line(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof handbook / sizeof handbook[0]; k++) {
        graph *g = graph_new();
        expr e = graph_unary(g, handbook[k].op, graph_variable(g, 0, 0));
        place p = {.c = {{handbook[k].at, 1.0}}};
        double out[1][LENGTH];
        run_stages(g, &e, (const int[]){TOP}, 1, &p, out);
        for (int m = 0; m < 5; m++) assert_near(out[0][m], handbook[k].coefficients[m], 1e-15);
        graph_free(g);
    }
}

/* Powers of t and of 1 + t, branches, and what does not move where there is no derivative. */
static void powers_and_branches(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), y = graph_variable(g, 2, 0), zero = graph_variable(g, 4, 0);
    expr e[8] = {graph_binary(g, EXPR_POW, x, graph_constant(g, 5)),
                 graph_binary(g, EXPR_POW, x, graph_parameter(g, 0)),
                 graph_binary(g, EXPR_POW, y, graph_constant(g, 2.5)),
                 graph_binary(g, EXPR_POW, y, graph_constant(g, 4)),
                 graph_binary(g, EXPR_MAX, x, y),
                 graph_select(g, graph_binary(g, EXPR_LT, x, y), x, y),
                 graph_unary(g, EXPR_SQRT, zero),
                 graph_binary(g, EXPR_POW, y, zero)};
    const int lag[8] = {TOP, TOP, TOP, TOP, TOP, TOP, TOP, TOP};
    place p = {.c = {{0.0, 1.0}, {0}, {1.0, 1.0}}, .parameter = {3.0}};
    double out[8][LENGTH];
    const double expected[8][6] = {
        {0, 0, 0, 0, 0, 1}, {0, 0, 0, 1, 0, 0}, {1, 2.5, 1.875, 0.3125, -0.0390625, 0.01171875},
        {1, 4, 6, 4, 1, 0}, {1, 1, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0},
        {0, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}};
    run_stages(g, e, lag, 8, &p, out);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 6; k++) assert_near(out[i][k], expected[i][k], 1e-15);
    graph_free(g);
}

/* A root of a variable that starts at zero and moves has no series: not a number, not a guess. */
static void no_series(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr e = graph_unary(g, EXPR_SQRT, graph_variable(g, 0, 0));
    place p = {.c = {{0.0, 0.0, 1.0}}};
    double out[1][LENGTH];
    run_stages(g, &e, (const int[]){TOP}, 1, &p, out);
    assert_true(!isfinite(out[0][2]));
    graph_free(g);
}

/* while n > 0: product := product * x, n := n - 1; the series of (1 + t)^5 */
static void loops_are_wholes(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr product = graph_cell(g, 0), n = graph_cell(g, 1), x = graph_variable(g, 0, 0);
    expr one = graph_constant(g, 1);
    expr start[2] = {one, graph_constant(g, 5)};
    expr next[2] = {graph_binary(g, EXPR_MUL, product, x), graph_binary(g, EXPR_SUB, n, one)};
    loop_draft d = {2, 0, start, next, graph_binary(g, EXPR_LT, graph_constant(g, 0), n)};
    expr e = graph_binary(g, EXPR_MUL, graph_constant(g, 2), loop_result(g, loop_close(g, &d), 0));
    place p = {.c = {{1.0, 1.0}}};
    double out[1][LENGTH];
    const double expected[7] = {2, 10, 20, 20, 10, 2, 0};
    run_stages(g, &e, (const int[]){TOP}, 1, &p, out);
    for (int k = 0; k < 7; k++) assert_near(out[0][k], expected[k], 1e-15);
    graph_free(g);
}

/* exp(sin t) / (1 + 0.1 t) to the last digit of each precision: products give back exp(sin t). */
#define PRECISE(T, SUFFIX, epsilon)                                                                \
    static void precise##SUFFIX(void **state)                                                      \
    {                                                                                              \
        (void)state;                                                                               \
        enum { DEGREE = 20 };                                                                      \
        graph *g = graph_new();                                                                    \
        expr t = graph_variable(g, 0, 0), sine = graph_unary(g, EXPR_SIN, t);                      \
        expr line = graph_binary(g, EXPR_ADD, graph_constant(g, 1),                                \
                                 graph_binary(g, EXPR_MUL, graph_constant(g, 0.1), t));            \
        expr whole = graph_unary(g, EXPR_EXP, sine);                                               \
        expr e[2] = {whole, graph_binary(g, EXPR_DIV, whole, line)};                               \
        const int lag[2] = {0, 0}, top[1] = {0};                                                   \
        T x[DEGREE + 1] = {0, 1}, out[2], before = 0;                                              \
        series_program *p = series_program_new(g, e, lag, 2, top, 1, DEGREE);                      \
        series_run##SUFFIX run;                                                                    \
        assert_true(series_run_new##SUFFIX(&run, p));                                              \
        run.rows[0] = x;                                                                           \
        series_prepare##SUFFIX(&run);                                                              \
        for (int s = 0; s <= DEGREE; s++) {                                                        \
            series_sweep##SUFFIX(&run, s);                                                         \
            series_outputs##SUFFIX(&run, s, out);                                                  \
            T error = out[0] - out[1] - before / 10;                                               \
            assert_true(error < (epsilon) && -error < (epsilon));                                  \
            before = out[1];                                                                       \
        }                                                                                          \
        series_run_free##SUFFIX(&run);                                                             \
        series_program_free(p);                                                                    \
        graph_free(g);                                                                             \
    }

PRECISE(double, _double, 4e-16)
PRECISE(tape_long, _long, 2e-19L)
#ifdef TAPE_QUAD
PRECISE(tape_quad, _quad, 4e-34)
#endif

/* Decimal literals are meant as written, and texts tell all digits. */
static void decimals(void **state)
{
    (void)state;
    char text[DIGITS_SIZE];
    assert_true(decimal_value_long(0.1) == 0.1L);
    assert_true(decimal_value_double(0.1) == 0.1);
#ifdef TAPE_QUAD
    decimal_text_quad(decimal_value_quad(0.1) * 10 - 1, text, sizeof text);
    assert_true(fabs(strtod(text, NULL)) < 1e-33);
    decimal_text_quad(decimal_value_quad(-1234.5e10), text, sizeof text);
    assert_string_equal(text, "-12345000000000");
    decimal_text_quad((tape_quad)1 / 3, text, sizeof text);
    assert_memory_equal(text, "0.3333333333333333333333333333333333", 36);
#endif
    decimal_text_double(1.0 / 3, text, sizeof text);
    assert_string_equal(text, "0.33333333333333331");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_by_symbols),
        cmocka_unit_test(functions_of_a_line),
        cmocka_unit_test(powers_and_branches),
        cmocka_unit_test(no_series),
        cmocka_unit_test(loops_are_wholes),
        cmocka_unit_test(precise_double),
        cmocka_unit_test(precise_long),
#ifdef TAPE_QUAD
        cmocka_unit_test(precise_quad),
#endif
        cmocka_unit_test(decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
