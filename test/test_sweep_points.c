/* Points of sweeps: random numbers have the moments of their distributions, Latin hypercubes one
 * point in each part, Sobol's sequence its published points and nets; ranges, lists and grids have
 * the values that they say, and wrong ones are named. */
#define _POSIX_C_SOURCE 200809L
#include "sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Sobol's sequence ---- */

/* The first ten points in three dimensions, as printed by the authors' program [JK08]. */
static void sobol_has_published_points(void **unused)
{
    static const double points[10][3] = {{0, 0, 0},
                                         {0.5, 0.5, 0.5},
                                         {0.75, 0.25, 0.25},
                                         {0.25, 0.75, 0.75},
                                         {0.375, 0.375, 0.625},
                                         {0.875, 0.875, 0.125},
                                         {0.625, 0.125, 0.875},
                                         {0.125, 0.625, 0.375},
                                         {0.1875, 0.3125, 0.9375},
                                         {0.6875, 0.8125, 0.4375}};
    (void)unused;
    for (uint32_t i = 0; i < 10; i++)
        for (int d = 0; d < 3; d++) assert_true(sweep_sobol(d, i) * 0x1p-32 == points[i][d]);
}

/* In each dimension the first 2^k points lie in 2^k different parts: all m are odd and below 2^k.
 * The first two make a (0, k, 2)-net: one point in each box of 2^-a times 2^(a-k). */
static void sobol_fills_boxes(void **unused)
{
    enum { K = 10, N = 1 << K };
    (void)unused;
    for (int d = 0; d < SWEEP_SOBOL_DIMENSIONS; d++) {
        char seen[N] = {0};
        for (uint32_t i = 0; i < N; i++) seen[sweep_sobol(d, i) >> (32 - K)]++;
        for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    }
    for (int a = 0; a <= K; a++) {
        char seen[N] = {0};
        for (uint32_t i = 0; i < N; i++) {
            uint64_t x = (uint64_t)sweep_sobol(0, i) >> (32 - a);
            uint64_t y = (uint64_t)sweep_sobol(1, i) >> (32 - (K - a));
            seen[(x << (K - a)) | y]++;
        }
        for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    }
}

/* No two dimensions are the same, nor mirrored: the table has no line twice. */
static void sobol_dimensions_differ(void **unused)
{
    (void)unused;
    for (int d = 0; d < SWEEP_SOBOL_DIMENSIONS; d++)
        for (int e = 0; e < d; e++) {
            int same = 0;
            for (uint32_t i = 0; i < 256; i++) same += sweep_sobol(d, i) == sweep_sobol(e, i);
            assert_true(same < 200);
        }
}

/* ---- uniform numbers ---- */

static void numbers_are_uniform_and_repeat(void **unused)
{
    enum { N = 20000, D = 3 };
    static double u[N * D], again[N * D];
    (void)unused;
    for (int by = SWEEP_RANDOM; by <= SWEEP_SOBOL; by++) {
        assert_int_equal(sweep_uniform((sweep_by)by, 7, N, D, u, NULL), REPORT_OK);
        assert_int_equal(sweep_uniform((sweep_by)by, 7, N, D, again, NULL), REPORT_OK);
        assert_memory_equal(u, again, sizeof u);
        assert_int_equal(sweep_uniform((sweep_by)by, 8, N, D, again, NULL), REPORT_OK);
        assert_true(memcmp(u, again, sizeof u) != 0);
        for (int d = 0; d < D; d++) {
            double mean = 0.0, square = 0.0, cross = 0.0;
            for (int i = 0; i < N; i++) {
                double x = u[i * D + d], y = u[i * D + (d + 1) % D];
                assert_true(x > 0.0 && x < 1.0);
                mean += x / N;
                square += x * x / N;
                cross += (x - 0.5) * (y - 0.5) / N;
            }
            /* five standard errors of random numbers; the others are closer */
            assert_true(fabs(mean - 0.5) < 5.0 * sqrt(1.0 / 12.0 / N));
            assert_true(fabs(square - 1.0 / 3.0) < 5.0 * sqrt(4.0 / 45.0 / N));
            assert_true(fabs(cross) < 5.0 / 12.0 / sqrt(N));
        }
    }
}

static void hypercubes_have_one_in_each_part(void **unused)
{
    enum { N = 1000, D = 4 };
    static double u[N * D];
    (void)unused;
    assert_int_equal(sweep_uniform(SWEEP_LHS, 3, N, D, u, NULL), REPORT_OK);
    for (int d = 0; d < D; d++) {
        char seen[N] = {0};
        for (int i = 0; i < N; i++) seen[(int)(u[i * D + d] * N)]++;
        for (int i = 0; i < N; i++) assert_int_equal(seen[i], 1);
    }
}

static void sobol_refuses_more_dimensions(void **unused)
{
    double u[SWEEP_SOBOL_DIMENSIONS + 1];
    report_error error = {0};
    (void)unused;
    assert_int_equal(sweep_uniform(SWEEP_SOBOL, 1, 1, SWEEP_SOBOL_DIMENSIONS + 1, u, &error),
                     REPORT_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "30 dimensions"));
}

/* ---- distributions ---- */

/* Values of [AS64 26.5], and what erfc says of others. */
static void normal_quantiles_are_exact(void **unused)
{
    static const double known[][2] = {{0.5, 0.0},
                                      {0.975, 1.959963984540054},
                                      {0.999, 3.090232306167813},
                                      {1e-10, -6.361340902404056}};
    (void)unused;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        assert_true(fabs(sweep_normal_quantile(known[k][0]) - known[k][1]) < 4e-15 * 8);
    for (double u = 1e-300; u < 0.5; u *= 7.0) {
        double x = sweep_normal_quantile(u), back = 0.5 * erfc(-x / sqrt(2.0));
        /* relative rounding of x is magnified by x^2 */
        assert_true(fabs(back / u - 1.0) < 4e-16 * (4.0 + x * x));
    }
}

/* Mean and variance of 2^17 points of Sobol's sequence against the formulas. */
static void distributions_have_their_moments(void **unused)
{
    enum { N = 1 << 17 };
    static double u[N];
    static const struct {
        const char *text;
        double mean, variance, tolerance;
    } list[] = {
        {"normal(3, 0.5)", 3.0, 0.25, 1e-3},
        {"uniform(-1, 3)", 1.0, 16.0 / 12.0, 1e-4},
        {"lognormal(0.2, 0.3)", 1.2776213132048868, 0.1537222107946945, 1e-3},
        {"loguniform(1, 10)", 3.908650337129266, 6.220029396270236, 1e-4},
        {"triangular(0, 1, 4)", 5.0 / 3.0, 13.0 / 18.0, 1e-4},
        {"exponential(2)", 2.0, 4.0, 2e-3},
        {"weibull(2, 1)", 0.886226925452758, 0.21460183660255172, 1e-3},
        {"integers(1, 6)", 3.5, 35.0 / 12.0, 1e-4},
        {"choice(1, 2, 6)", 3.0, 14.0 / 3.0, 1e-4},
        /* of the standard normal between -1 and 1: 1 - 2 phi(1)/(2 Phi(1) - 1) */
        {"normal(0, 1, -1, 1)", 0.0, 0.2911250947727933, 1e-4},
        /* far above the mean, where 1 - u has few digits: phi(8)/(1 - Phi(8)) */
        {"normal(0, 1, 8, 40)", 8.1213681122361127, 0.01432488344334091, 1e-4},
        {"normal(0, 2, -40, -16)", -16.242736224472225, 0.057299533773363641, 5e-4},
    };
    (void)unused;
    assert_int_equal(sweep_uniform(SWEEP_SOBOL, 0, N, 1, u, NULL), REPORT_OK);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        sweep_distribution d;
        double mean = 0.0, square = 0.0;
        assert_int_equal(sweep_distribution_read(list[k].text, &d, NULL), REPORT_OK);
        for (int i = 0; i < N; i++) {
            double x = sweep_quantile(&d, u[i]);
            mean += x / N;
            square += (x - list[k].mean) * (x - list[k].mean) / N;
        }
        if (fabs(mean - list[k].mean) > list[k].tolerance ||
            fabs(square - list[k].variance) > 10.0 * list[k].tolerance * list[k].variance)
            fail_msg("%s: mean %.9g, variance %.9g", list[k].text, mean, square);
    }
}

static void wrong_distributions_are_named(void **unused)
{
    static const char *const wrong[] = {
        "normal(1)",        "normal(1, 0)",        "normal(1, -1)",
        "normal(1, 1, 2)",  "normal(0,1,3,2)",     "normal(0,1,900,901)",
        "uniform(2, 1)",    "uniform(1, 1)",       "gauss(1, 2)",
        "loguniform(0, 1)", "triangular(0, 5, 1)", "exponential(0)",
        "weibull(1, 0)",    "integers(1.5, 2)",    "integers(3, 2)",
        "choice()",         "normal(a, b)",        "uniform(1, 2",
        "uniform(1, 2) x",  "uniform(nan, 1)",     "",
        "uniform",          "lognormal(0, inf)"};
    (void)unused;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sweep_distribution d;
        report_error error = {0};
        if (sweep_distribution_read(wrong[k], &d, &error) != REPORT_ERR_ARGUMENT)
            fail_msg("'%s' is accepted", wrong[k]);
        assert_true(strlen(error.text) > 20);
    }
}

/* ---- points ---- */

static sweep_points *over(const char *text)
{
    sweep_points *p;
    report_error error = {0};
    if (sweep_points_over(text, &p, &error) != REPORT_OK) fail_msg("%s: %s", text, error.text);
    return p;
}

static void ranges_have_their_ends(void **unused)
{
    static const struct {
        const char *text;
        size_t count;
        double first, last;
    } list[] = {{"k=1:0.1:5", 41, 1, 5},
                {"k = 0:0.1:0.3", 4, 0, 0.3},
                {"k=5:-1:1", 5, 5, 1},
                {"k=1:2:6", 3, 1, 5},
                {"k=2:1:2", 1, 2, 2},
                {"k=1:*2:64", 7, 1, 64},
                {"k=1e-3:*10:1e3", 7, 1e-3, 1e3},
                {"k=8:*0.5:1", 4, 8, 1},
                {"k=-1:*10:-1000", 4, -1, -1000},
                {"k=0:1e-3:1", 1001, 0, 1},
                /* rounding of the ends is worth much of a step */
                {"k=100000.1:0.00001:100000.10003", 4, 100000.1, 100000.10003},
                {"k=1000.7:1e-5:1000.71", 1001, 1000.7, 1000.71},
                {"k=100000.1:0.001:100007.099", 7000, 100000.1, 100007.099},
                {"k=1.3:*1.0000001:1.300130006493716", 1001, 1.3, 1.300130006493716},
                {"k=0.1:1e-6:1.1", 1000001, 0.1, 1.1},
                {"k=1000.71:-1e-5:1000.7", 1001, 1000.71, 1000.7},
                {"k=1000.5:0.25:1000.9", 2, 1000.5, 1000.75}};
    (void)unused;
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        sweep_points *p = over(list[k].text);
        if (p->count != list[k].count || p->value[0] != list[k].first ||
            p->value[p->count - 1] != list[k].last)
            fail_msg("%s: %zu values, %.17g to %.17g", list[k].text, p->count, p->value[0],
                     p->value[p->count - 1]);
        assert_string_equal(p->column[0].name, "k");
        sweep_points_free(p);
    }
}

static void values_may_be_words(void **unused)
{
    (void)unused;
    sweep_points *p = over("mode=a, b,a");
    assert_int_equal(p->count, 3);
    assert_int_equal(p->column[0].word_count, 2);
    assert_string_equal(p->column[0].words[1], "b");
    assert_true(p->value[0] == 0.0 && p->value[1] == 1.0 && p->value[2] == 0.0);
    sweep_points_free(p);
    p = over("'a=b'[1,2]=1,2.5");
    assert_string_equal(p->column[0].name, "'a=b'[1,2]");
    assert_true(p->value[1] == 2.5 && !p->column[0].words);
    sweep_points_free(p);
}

static void wrong_ranges_are_named(void **unused)
{
    static const char *const wrong[] = {"k",
                                        "k=",
                                        "=1,2",
                                        "k=1:0:5",
                                        "k=5:1:1",
                                        "k=1:2",
                                        "k=1:x:2",
                                        "k=1:2:",
                                        "k=1,,2",
                                        "k=1:1e-12:1e9",
                                        "k=1:*1:5",
                                        "k=0:*2:8",
                                        "k=-1:*2:8",
                                        "k=1:*-2:8",
                                        "k=1:*2:0.5",
                                        "k=1:2:3:4",
                                        "k=nan:1:2",
                                        "k=1e16:1:1e16000000",
                                        "k=1e17:1:100000000000000100"};
    (void)unused;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sweep_points *p;
        report_error error = {0};
        if (sweep_points_over(wrong[k], &p, &error) == REPORT_OK)
            fail_msg("'%s' is accepted", wrong[k]);
        assert_null(p);
        assert_true(strlen(error.text) > 15);
    }
}

static void grids_and_pairs(void **unused)
{
    report_error error = {0};
    sweep_points *p, *parts[2] = {over("a=1,2"), over("b=10:10:30")};
    (void)unused;
    assert_int_equal(sweep_points_join(parts, 2, true, &p, &error), REPORT_OK);
    static const double grid[] = {1, 10, 1, 20, 1, 30, 2, 10, 2, 20, 2, 30};
    assert_int_equal(p->count, 6);
    assert_memory_equal(p->value, grid, sizeof grid);
    sweep_points_free(p);
    sweep_points *pairs[2] = {over("a=1,2"), over("b=x,y")};
    assert_int_equal(sweep_points_join(pairs, 2, false, &p, &error), REPORT_OK);
    static const double side[] = {1, 0, 2, 1};
    assert_memory_equal(p->value, side, sizeof side);
    assert_string_equal(p->column[1].words[1], "y");
    sweep_points_free(p);
    sweep_points *uneven[2] = {over("a=1,2"), over("b=1,2,3")};
    assert_int_equal(sweep_points_join(uneven, 2, false, &p, &error), REPORT_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "--grid"));
    sweep_points *twice[2] = {over("a=1,2"), over("a=1,2")};
    assert_int_equal(sweep_points_join(twice, 2, true, &p, &error), REPORT_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "twice"));
    sweep_points *huge[2] = {over("a=1:1:100000"), over("b=1:1:100000")};
    assert_int_equal(sweep_points_join(huge, 2, true, &p, &error), REPORT_ERR_ARGUMENT);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void lists_of_points(void **unused)
{
    static const struct {
        const char *text, *message; /* NULL: it is sound */
    } list[] = {{"k [1/s], mode\n1, fast\n\n2.5, \"slow, very\"\n", NULL},
                {"\xEF\xBB\xBFk;mode\r\n1;fast\r\n2.5;\"slow, very\"\r\n", NULL},
                {"k,mode\n1\n", ":2: 1 values"},
                {"k,mode\n1,\n", "'mode' is empty"},
                {"k,mode\n", "no points"},
                {"", "no points"},
                {"\nk;mode\n1;fast\n2.5;\"slow, very\" \n", NULL}, /* the first line is empty */
                {"k,mode\n1,\"a\n", ":2: a quote is not closed"},
                {"k,mode\n1,\"a\"\"\n", ":2: a quote is not closed"},
                {"k,mode\n\"1\"2,a\n", "behind a closing quote"},
                {"k,\n1,2\n", "no name"}};
    char path[] = "/tmp/sweep_list_XXXXXX";
    int file = mkstemp(path);
    (void)unused;
    assert_true(file >= 0);
    close(file);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        sweep_points *p;
        report_error error = {0};
        write_file(path, list[k].text);
        report_status status = sweep_points_list(path, &p, &error);
        if (list[k].message) {
            assert_int_equal(status, REPORT_ERR_READ);
            if (!strstr(error.text, list[k].message)) fail_msg("%s", error.text);
            continue;
        }
        assert_int_equal(status, REPORT_OK);
        assert_int_equal(p->count, 2);
        assert_string_equal(p->column[0].name, "k");
        assert_string_equal(p->column[0].unit ? p->column[0].unit : "none",
                            k == 0 ? "1/s" : "none");
        assert_true(p->value[2] == 2.5);
        assert_string_equal(p->column[1].words[(int)p->value[3]], "slow, very");
        sweep_points_free(p);
    }
    unlink(path);
    sweep_points *p;
    report_error error = {0};
    assert_int_equal(sweep_points_list(path, &p, &error), REPORT_ERR_READ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sobol_has_published_points),
        cmocka_unit_test(sobol_fills_boxes),
        cmocka_unit_test(sobol_dimensions_differ),
        cmocka_unit_test(numbers_are_uniform_and_repeat),
        cmocka_unit_test(hypercubes_have_one_in_each_part),
        cmocka_unit_test(sobol_refuses_more_dimensions),
        cmocka_unit_test(normal_quantiles_are_exact),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(wrong_distributions_are_named),
        cmocka_unit_test(ranges_have_their_ends),
        cmocka_unit_test(values_may_be_words),
        cmocka_unit_test(wrong_ranges_are_named),
        cmocka_unit_test(grids_and_pairs),
        cmocka_unit_test(lists_of_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
