/* The tape in all its arithmetics: against direct evaluation of the graph, exact derivatives and
 * series known in closed form. */
#define _POSIX_C_SOURCE 200809L
#include "base/memory.h"
#include "expr/code.h"
#include "expr/derive.h"
#include "expr/series.h"
#include "expr/tape.h"
#include "expr_random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { ORDERS = 8 };

/* ---- a point to evaluate at ------------------------------------------------------------------ */

typedef struct point {
    double time, value[ORDERS][RANDOM_VARIABLES];
    double parameter[RANDOM_PARAMETERS], memory[RANDOM_MEMORIES];
} point;

static point random_point(random_source *s)
{
    point p = {.time = random_between(s, 0.0, 2.0)};
    for (int m = 0; m < ORDERS; m++)
        for (int i = 0; i < RANDOM_VARIABLES; i++) p.value[m][i] = random_between(s, -2.0, 2.0);
    for (int i = 0; i < RANDOM_PARAMETERS; i++) p.parameter[i] = random_between(s, -2.0, 2.0);
    for (int i = 0; i < RANDOM_MEMORIES; i++) p.memory[i] = random_below(s, 3) - 1;
    return p;
}

static tape_inputs inputs_of(const point *p)
{
    return (tape_inputs){.time = p->time,
                         .values = {p->value[0], p->value[1], p->value[2], p->value[3]},
                         .parameters = p->parameter,
                         .memory = p->memory};
}

static double leaf_value(void *context, const expr_node *leaf)
{
    const point *p = context;
    switch (leaf->op) {
    case EXPR_TIME: return p->time;
    case EXPR_VARIABLE: return p->value[leaf->order][leaf->index];
    case EXPR_PARAMETER: return p->parameter[leaf->index];
    default: return p->memory[leaf->index];
    }
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void run_once(const graph *g, const expr *e, size_t count, const point *p, double *out)
{
    expr_code c;
    tape_inputs in = inputs_of(p);
    assert_true(code_new(&c, g, e, count));
    code_prepare(&c, &in);
    code_run(&c, &in, out);
    code_free(&c);
}

static void assert_near(double got, double wanted, double tolerance)
{
    if (fabs(got - wanted) <= tolerance * (1.0 + fabs(wanted))) return;
    fail_msg("%.17g is not %.17g within %g", got, wanted, tolerance);
}

/* ---- doubles --------------------------------------------------------------------------------- */

/* Every value as graph_value has it. sincos may differ from sin in the last bit, rarely. */
static void test_random_values(void **state)
{
    (void)state;
    random_source s = {1};
    graph *g = graph_new();
    int differ = 0;
    for (int k = 0; k < 500; k++) {
        expr e = random_wild(g, &s, 2 + k % 7);
        point p = random_point(&s);
        double value;
        run_once(g, &e, 1, &p, &value);
        differ += !same_bits(value, graph_value(g, e, leaf_value, &p));
    }
    assert_in_range(differ, 0, 5);
    graph_free(g);
}

/* Many outputs share one tape, some of them twice and some of them leaves. */
static void test_many_outputs(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    random_source s = {2};
    graph *g = graph_new();
    expr e[COUNT];
    double together[COUNT], alone;
    for (int k = 0; k < COUNT - 20; k++) e[k] = random_smooth(g, &s, 6);
    for (int k = COUNT - 20; k < COUNT - 10; k++) e[k] = random_leaf(g, &s);
    for (int k = COUNT - 10; k < COUNT; k++) e[k] = e[k - 100];
    point p = random_point(&s);
    run_once(g, e, COUNT, &p, together);
    for (int k = 0; k < COUNT; k++) {
        run_once(g, &e[k], 1, &p, &alone);
        assert_near(together[k], alone, 1e-13);
        assert_near(together[k], graph_value(g, e[k], leaf_value, &p), 1e-13);
    }
    graph_free(g);
}

/* sin x and cos x come from one instruction, whatever else uses them and in whichever order. */
static void test_sine_and_cosine(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), p0 = graph_parameter(g, 0);
    expr c = graph_unary(g, EXPR_COS, x), s = graph_unary(g, EXPR_SIN, x);
    expr e[] = {s, c, graph_binary(g, EXPR_MUL, s, c), graph_unary(g, EXPR_SIN, p0),
                graph_binary(g, EXPR_ADD, graph_unary(g, EXPR_COS, p0), x)};
    random_source source = {3};
    point p = random_point(&source);
    double out[5], at = p.value[0][0], q = p.parameter[0];
    run_once(g, e, 5, &p, out);
    assert_near(out[0], sin(at), 1e-15);
    assert_near(out[1], cos(at), 1e-15);
    assert_near(out[2], sin(at) * cos(at), 1e-15);
    assert_near(out[3], sin(q), 1e-15);
    assert_near(out[4], cos(q) + at, 1e-15);
    tape *t = tape_new(g, e, 3);
    assert_int_equal(tape_length(t), 4); /* sincos, two copies, the product */
    tape_free(t);
    graph_free(g);
}

/* Values of parameters alone are computed by tape_prepare and stay until it is called again. */
static void test_hoisting(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr k = graph_unary(g, EXPR_EXP,
                         graph_binary(g, EXPR_MUL, graph_parameter(g, 0), graph_memory(g, 0)));
    expr e[] = {graph_binary(g, EXPR_MUL, k, graph_variable(g, 0, 0)), k};
    tape *t = tape_new(g, e, 2);
    double work[16], out[2], y = 3.0, parameter = 0.5, memory = 2.0;
    tape_inputs in = {.values = {&y}, .parameters = &parameter, .memory = &memory};
    assert_in_range(tape_work_size(t), 1, 16);
    assert_int_equal(tape_length(t), 2);
    tape_prepare(t, &in, work);
    parameter = 0.25;
    y = 4.0;
    tape_run(t, &in, work, out);
    assert_near(out[0], 4.0 * exp(1.0), 1e-15);
    assert_near(out[1], exp(1.0), 1e-15);
    tape_prepare(t, &in, work);
    tape_run(t, &in, work, out);
    assert_near(out[0], 4.0 * exp(0.5), 1e-15);
    tape_free(t);
    graph_free(g);
}

/* Two operations in one instruction are rounded twice: with a = 1 + 2^-30, the product a a loses
 * 2^-60 before the sum. */
static void test_no_contraction(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr a = graph_variable(g, 0, 0), b = graph_variable(g, 1, 0), c = graph_variable(g, 2, 0);
    expr ab = graph_binary(g, EXPR_MUL, a, b);
    expr e[] = {graph_binary(g, EXPR_ADD, ab, c)};
    point p = {.value = {{1.0 + 0x1p-30, 1.0 + 0x1p-30, -1.0 - 0x1p-29}}};
    double out;
    run_once(g, e, 1, &p, &out);
    assert_true(out == 0.0);
    graph_free(g);
}

/* The branch not taken may be anything. */
static void test_select(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), zero = graph_constant(g, 0.0);
    expr positive = graph_binary(g, EXPR_LT, zero, x);
    expr e = graph_select(g, positive, graph_unary(g, EXPR_LOG, x), zero);
    point p = {.value = {{-1.0}}};
    double out;
    run_once(g, &e, 1, &p, &out);
    assert_true(out == 0.0);
    p.value[0][0] = 1.5;
    run_once(g, &e, 1, &p, &out);
    assert_true(out == log(1.5));
    graph_free(g);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Of the processor, not of the clock: others may be at work. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* n equations of a resistor-capacitor ladder: y'_i - (y_{i-1} - 2 y_i + y_{i+1}) p0 - sin(y_i) */
/* Left neighbours by a rule that is no loop, if `irregular`. */
static int left_of(int i, int n, bool irregular)
{
    if (irregular) return (int)((int64_t)i * i % n);
    return i > 0 ? i - 1 : 0;
}

static tape *ladder(int n, bool irregular, double *elapsed)
{
    graph *g = graph_new();
    expr *e = DAE_ARRAY(expr, n);
    for (int i = 0; i < n; i++) {
        expr y = graph_variable(g, i, 0), left = graph_variable(g, left_of(i, n, irregular), 0);
        expr right = graph_variable(g, i < n - 1 ? i + 1 : i, 0);
        expr sum = graph_binary(g, EXPR_ADD, left, right);
        expr bend =
            graph_binary(g, EXPR_SUB, sum, graph_binary(g, EXPR_MUL, graph_constant(g, 2.0), y));
        expr flow = graph_binary(g, EXPR_MUL, bend, graph_parameter(g, 0));
        expr rest = graph_binary(g, EXPR_SUB, graph_variable(g, i, 1), flow);
        e[i] = graph_binary(g, EXPR_SUB, rest, graph_unary(g, EXPR_SIN, y));
    }
    double start = seconds();
    tape *t = tape_new(g, e, (size_t)n);
    *elapsed = seconds() - start;
    dae_free(e);
    graph_free(g);
    return t;
}

/* Rows without a loop: temporaries are reused, only leaves grow with n. */
static void test_large_straight(void **state)
{
    (void)state;
    enum { N = 20011 };
    double elapsed;
    tape *t = ladder(N, true, &elapsed);
    assert_non_null(t);
    assert_in_range(tape_work_size(t), 2 * N, 2 * N + 20);
    tape_free(t);
}

/* Rows are a loop, and the time is that of a linear algorithm. */
static void test_large(void **state)
{
    (void)state;
    enum { N = 100000 };
    double elapsed, *y = DAE_ARRAY(double, N), *yp = DAE_ARRAY(double, N),
                    *out = DAE_ARRAY(double, N), parameter = 2.0;
    tape *t = ladder(N, false, &elapsed);
    assert_non_null(t);
    assert_true(elapsed < 3.0); /* 0.05 s measured; a quadratic algorithm takes minutes */
    assert_true(tape_work_size(t) < 2000); /* its rows are a loop, 20 registers in 64 lanes */
    assert_true(tape_size(t) < 100);
    assert_true(tape_length(t) > 3 * N);
    for (int i = 0; i < N; i++) {
        y[i] = sin(i);
        yp[i] = cos(i);
    }
    tape_inputs in = {.values = {y, yp}, .parameters = &parameter};
    double *work = DAE_ARRAY(double, tape_work_size(t));
    tape_prepare(t, &in, work);
    tape_run(t, &in, work, out);
    for (int i = 1; i < N - 1; i++)
        assert_near(out[i], yp[i] - 2.0 * (y[i - 1] + y[i + 1] - 2.0 * y[i]) - sin(y[i]), 1e-14);
    dae_free(work);
    tape_free(t);
    dae_free(y);
    dae_free(yp);
    dae_free(out);
}

/* ---- other scalars --------------------------------------------------------------------------- */

/* Values of e[0 .. count-1] at one point, with `step` added to one variable leaf (index, order):
 * the coefficients of order 0 of a series. */
#define RUN_SCALAR(T, SUFFIX)                                                                      \
    static void run##SUFFIX(const graph *g, const expr *e, size_t count, const point *p,           \
                            int index, int order, T step, T *out)                                  \
    {                                                                                              \
        T x[RANDOM_VARIABLES][3], parameter[RANDOM_PARAMETERS], memory[RANDOM_MEMORIES];           \
        int top[RANDOM_VARIABLES], *lag = DAE_ARRAY(int, count);                                   \
        series_run##SUFFIX run;                                                                    \
        for (int i = 0; i < RANDOM_VARIABLES; i++) {                                               \
            top[i] = 2;                                                                            \
            for (int m = 0; m < 3; m++) {                                                          \
                x[i][m] = p->value[m][i];                                                          \
                if (i == index && m == order) x[i][m] += step;                                     \
            }                                                                                      \
            x[i][2] /= 2;                                                                          \
        }                                                                                          \
        for (int i = 0; i < RANDOM_PARAMETERS; i++) parameter[i] = p->parameter[i];                \
        for (int i = 0; i < RANDOM_MEMORIES; i++) memory[i] = p->memory[i];                        \
        series_program *program = series_program_new(g, e, lag, count, top, RANDOM_VARIABLES, 0);  \
        assert_true(program &&series_run_new##SUFFIX(&run, program));                              \
        for (int i = 0; i < RANDOM_VARIABLES; i++) run.rows[i] = x[i];                             \
        run.time = p->time;                                                                        \
        run.parameters = parameter;                                                                \
        run.memory = memory;                                                                       \
        series_prepare##SUFFIX(&run);                                                              \
        series_sweep##SUFFIX(&run, 0);                                                             \
        series_outputs##SUFFIX(&run, 0, out);                                                      \
        series_run_free##SUFFIX(&run);                                                             \
        series_program_free(program);                                                              \
        dae_free(lag);                                                                             \
    }

RUN_SCALAR(double, _double)
RUN_SCALAR(tape_long, _long)
#ifdef TAPE_QUAD
RUN_SCALAR(tape_quad, _quad)

/* d e / d leaf by central differences in quadruple precision: good to 20 digits. */
static double quad_slope(const graph *g, expr e, const point *p, int index, int order)
{
    const tape_quad h = 1e-11;
    tape_quad low, high;
    run_quad(g, &e, 1, p, index, order, -h, &low);
    run_quad(g, &e, 1, p, index, order, h, &high);
    return (double)((high - low) / (2 * h));
}
#endif

static void test_scalars_agree(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    random_source s = {4};
    graph *g = graph_new();
    expr e[COUNT];
    for (int k = 0; k < COUNT; k++) e[k] = random_smooth(g, &s, 6);
    point p = random_point(&s);
    double reference[COUNT], value[COUNT];
    tape_long longer[COUNT];
    run_once(g, e, COUNT, &p, reference);
    run_double(g, e, COUNT, &p, 0, 0, 0.0, value);
    for (int k = 0; k < COUNT; k++) assert_near(value[k], reference[k], 1e-13);
    run_long(g, e, COUNT, &p, 0, 0, 0.0L, longer);
    for (int k = 0; k < COUNT; k++) assert_near((double)longer[k], reference[k], 1e-13);
#ifdef TAPE_QUAD
    tape_quad q[COUNT];
    run_quad(g, e, COUNT, &p, 0, 0, 0, q);
    for (int k = 0; k < COUNT; k++) assert_near((double)q[k], reference[k], 1e-13);
#endif
    graph_free(g);
}

/* Relations, pieces and steps at a point away from their jumps: the same in every arithmetic. */
static void test_scalars_agree_on_pieces(void **state)
{
    (void)state;
    static const expr_op two[] = {EXPR_MIN, EXPR_MAX, EXPR_LT,  EXPR_LE,
                                  EXPR_EQ,  EXPR_NE,  EXPR_AND, EXPR_OR};
    static const expr_op one[] = {EXPR_NOT, EXPR_ABS, EXPR_SIGN, EXPR_FLOOR, EXPR_CEIL};
    graph *g = graph_new();
    expr a = graph_variable(g, 0, 0), b = graph_variable(g, 1, 0), e[16];
    size_t n = 0;
    for (int k = 0; k < 8; k++) e[n++] = graph_binary(g, two[k], a, b);
    for (int k = 0; k < 5; k++) e[n++] = graph_unary(g, one[k], a);
    e[n++] = graph_select(g, a, b, graph_time(g));
    static const double values[] = {-1.5, 0.0, 0.5, 2.25};
    for (int k = 0; k < 16; k++) {
        point p = {.time = 7.0, .value = {{values[k % 4], values[k / 4]}}};
        double reference[16], value[16];
        tape_long longer[16];
        run_once(g, e, n, &p, reference);
        run_double(g, e, n, &p, 0, 0, 0.0, value);
        run_long(g, e, n, &p, 0, 0, 0.0L, longer);
        for (size_t i = 0; i < n; i++) {
            assert_true(reference[i] == graph_value(g, e[i], leaf_value, &p));
            assert_true(value[i] == reference[i]);
            assert_true((double)longer[i] == reference[i]);
        }
    }
    graph_free(g);
}

#ifdef TAPE_QUAD
/* sqrt(2)^2 - 2 in quadruple precision is about 2^-112, not 2^-52; likewise exp(log(x)) - x. */
static void test_quad_precision(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), root = graph_unary(g, EXPR_SQRT, x);
    expr back = graph_unary(g, EXPR_EXP, graph_unary(g, EXPR_LOG, x));
    expr arc = graph_unary(g, EXPR_TAN, graph_unary(g, EXPR_ATAN, x));
    expr e[] = {graph_binary(g, EXPR_SUB, graph_binary(g, EXPR_MUL, root, root), x),
                graph_binary(g, EXPR_SUB, back, x), graph_binary(g, EXPR_SUB, arc, x)};
    point p = {.value = {{2.0}}};
    tape_quad out[3];
    run_quad(g, e, 3, &p, 0, 0, 0, out);
    for (int k = 0; k < 3; k++) assert_true(fabs((double)out[k]) < 1e-32);
    graph_free(g);
}

/* Exact derivatives are those by differences in quadruple precision, to the last digits. */
static void test_derivatives_by_differences(void **state)
{
    (void)state;
    random_source s = {5};
    graph *g = graph_new();
    for (int k = 0; k < 200; k++) {
        expr e = random_smooth(g, &s, 5);
        point p = random_point(&s);
        gradient slope = {0};
        assert_true(derive_gradient(g, e, &slope));
        for (size_t j = 0; j < slope.count; j++) {
            const expr_node *leaf = graph_node(g, slope.leaf[j]);
            double exact = graph_value(g, slope.derivative[j], leaf_value, &p);
            assert_near(quad_slope(g, e, &p, leaf->index, leaf->order), exact, 1e-14);
        }
        gradient_free(&slope);
    }
    graph_free(g);
}

/* atan2 in all quadrants, its value and its derivative. */
static void test_angle(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr y = graph_variable(g, 0, 0), x = graph_variable(g, 1, 0);
    expr e = graph_binary(g, EXPR_ATAN2, y, x);
    for (int k = 0; k < 16; k++) {
        double angle = -3.0 + 0.4 * k;
        point p = {.value = {{2.0 * sin(angle), 2.0 * cos(angle)}}};
        tape_quad value;
        run_quad(g, &e, 1, &p, 0, 0, 0, &value);
        assert_near((double)value, atan2(p.value[0][0], p.value[0][1]), 1e-15);
        assert_near(quad_slope(g, e, &p, 0, 0), cos(angle) / 2.0, 1e-14);
    }
    graph_free(g);
}
#endif

/* ---- series ---------------------------------------------------------------------------------- */

enum { DEGREE = 6 };

/* Coefficients of e along variables given by theirs, in doubles. */
static void run_series(const graph *g, expr e, const point *p, int degree,
                       double coefficients[][DEGREE + 1], double *out)
{
    double x[RANDOM_VARIABLES][DEGREE + 3] = {{0}};
    int top[RANDOM_VARIABLES];
    for (int i = 0; i < RANDOM_VARIABLES; i++) {
        top[i] = 2;
        memcpy(x[i], coefficients[i], sizeof coefficients[i]);
    }
    series_program *program =
        series_program_new(g, &e, (const int[]){0}, 1, top, RANDOM_VARIABLES, degree);
    series_run_double run;
    assert_true(program && series_run_new_double(&run, program));
    for (int i = 0; i < RANDOM_VARIABLES; i++) run.rows[i] = x[i];
    run.time = p->time;
    run.parameters = p->parameter;
    run.memory = p->memory;
    series_prepare_double(&run);
    for (int k = 0; k <= degree; k++) {
        series_sweep_double(&run, k);
        series_outputs_double(&run, k, &out[k]);
    }
    series_run_free_double(&run);
    series_program_free(program);
}

/* Coefficient k is the k-th total derivative by k!. With leaves up to order 2 it is exact for
 * k <= degree - 2. */
static void test_series_against_derivatives(void **state)
{
    (void)state;
    random_source s = {6};
    for (int k = 0; k < 200; k++) {
        graph *g = graph_new();
        expr e = random_smooth(g, &s, 4);
        point p = random_point(&s);
        double c[RANDOM_VARIABLES][DEGREE + 1], out[DEGREE + 1], factorial = 1.0;
        for (int i = 0; i < RANDOM_VARIABLES; i++) {
            factorial = 1.0;
            for (int m = 0; m <= DEGREE; m++) {
                c[i][m] = p.value[m][i] / factorial;
                factorial *= m + 1;
            }
        }
        run_series(g, e, &p, DEGREE, c, out);
        factorial = 1.0;
        for (int m = 0; m <= DEGREE - 2; m++) {
            assert_near(out[m] * factorial, graph_value(g, e, leaf_value, &p), 1e-11);
            e = derive_time(g, e);
            factorial *= m + 1;
        }
        graph_free(g);
    }
}

typedef struct known_series {
    expr_op op;
    double at, coefficients[5];
} known_series;

/* Maclaurin and Taylor series of f(at + t), from any handbook. */
static const known_series handbook[] = {
    {EXPR_EXP, 0.0, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24}},
    {EXPR_LOG, 1.0, {0.0, 1.0, -1.0 / 2, 1.0 / 3, -1.0 / 4}},
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

static void test_series_of_functions(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof handbook / sizeof *handbook; k++) {
        graph *g = graph_new();
        expr e = graph_unary(g, handbook[k].op, graph_variable(g, 0, 0));
        double c[RANDOM_VARIABLES][DEGREE + 1] = {{handbook[k].at, 1.0}}, out[DEGREE + 1];
        run_series(g, e, &(point){0}, 4, c, out);
        for (int m = 0; m <= 4; m++) assert_near(out[m], handbook[k].coefficients[m], 1e-15);
        graph_free(g);
    }
}

/* t^5, t^(5/2) and 2^t about 0; (1+t)^(1+t) = 1 + t + t^2 + t^3/2 + t^4/3 + .. */
static void test_series_of_powers(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0),
         shifted = graph_binary(g, EXPR_ADD, graph_constant(g, 1.0), x);
    double c[RANDOM_VARIABLES][DEGREE + 1] = {{0.0, 1.0}}, out[DEGREE + 1];
    run_series(g, graph_binary(g, EXPR_POW, x, graph_constant(g, 5.0)), &(point){0}, 6, c, out);
    for (int m = 0; m <= 6; m++) assert_true(out[m] == (m == 5));
    run_series(g, graph_binary(g, EXPR_POW, x, graph_constant(g, 2.5)), &(point){0}, 4, c, out);
    for (int m = 0; m <= 2; m++) assert_true(out[m] == 0.0);
    assert_true(isnan(out[3]));
    run_series(g, graph_binary(g, EXPR_POW, graph_constant(g, 2.0), x), &(point){0}, 3, c, out);
    assert_near(out[3], pow(log(2.0), 3) / 6, 1e-15);
    static const double tower[] = {1.0, 1.0, 1.0, 0.5, 1.0 / 3};
    run_series(g, graph_binary(g, EXPR_POW, shifted, shifted), &(point){0}, 4, c, out);
    for (int m = 0; m <= 4; m++) assert_near(out[m], tower[m], 1e-15);
    graph_free(g);
}

/* What does not move has a series even where the function has no derivative. */
static void test_series_of_constants(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr p0 = graph_parameter(g, 0), e = graph_unary(g, EXPR_SQRT, p0);
    double c[RANDOM_VARIABLES][DEGREE + 1] = {{0}}, out[DEGREE + 1];
    run_series(g, e, &(point){0}, 3, c, out);
    for (int m = 0; m <= 3; m++) assert_true(out[m] == 0.0);
    run_series(g, graph_time(g), &(point){.time = 4.0}, 3, c, out);
    assert_true(out[0] == 4.0 && out[1] == 1.0 && out[2] == 0.0);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_values),
        cmocka_unit_test(test_many_outputs),
        cmocka_unit_test(test_sine_and_cosine),
        cmocka_unit_test(test_hoisting),
        cmocka_unit_test(test_no_contraction),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_large_straight),
        cmocka_unit_test(test_scalars_agree),
        cmocka_unit_test(test_scalars_agree_on_pieces),
#ifdef TAPE_QUAD
        cmocka_unit_test(test_quad_precision),
        cmocka_unit_test(test_derivatives_by_differences),
        cmocka_unit_test(test_angle),
#endif
        cmocka_unit_test(test_series_against_derivatives),
        cmocka_unit_test(test_series_of_functions),
        cmocka_unit_test(test_series_of_powers),
        cmocka_unit_test(test_series_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
