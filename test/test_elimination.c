/* Lists of operations for small sparse matrices: backward errors while values drift over many
 * decades and the order must be given up, real and complex; the rule that prefers them; and the
 * same solutions of models by dense LU, lists and KLU. What they share with KLU is in
 * test_linalg.c. */
#include "daedal.h"
#include "linalg/elimination_shape.h"
#include "linalg/linear_solver.h"
#include "numbers.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40 };

static unsigned long seed;

static double number(void) /* in (-1, 1) */
{
    return 2.0 * uniform(&seed) - 1.0;
}

/* About `per_column` entries in each column, among them one in each row, in random places */
static void random_pattern(matrix_layout *layout, int n, int per_column)
{
    int colptr[MOST + 1] = {0}, rowind[MOST * MOST], rows[MOST];
    for (int i = 0; i < n; i++) rows[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int other = (int)(uniform(&seed) * (i + 1)), row = rows[i];
        rows[i] = rows[other];
        rows[other] = row;
    }
    for (int j = 0; j < n; j++) {
        bool has[MOST] = {false};
        has[rows[j]] = true;
        for (int k = 1; k < per_column; k++) has[(int)(uniform(&seed) * n)] = true;
        colptr[j + 1] = colptr[j];
        for (int i = 0; i < n; i++)
            if (has[i]) rowind[colptr[j + 1]++] = i;
    }
    assert_true(layout_sparse(layout, n, colptr, rowind));
}

/* max_i |b - A x|_i / (|A| |x| + |b|)_i over rows scaled to maximum 1, in units of rounding: the
 * normwise backward error of the scaled matrix */
static double backward_error(const matrix_layout *layout, const double *re, const double *im,
                             const double complex *b, const double complex *x)
{
    double complex rest[MOST];
    double most[MOST] = {0.0}, worst = 0.0, matrix = 0.0, solution = 0.0, right = 0.0;
    memcpy(rest, b, (size_t)layout->n * sizeof *rest);
    for (int j = 0; j < layout->n; j++) {
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++) {
            const double complex a = re[k] + I * (im ? im[k] : 0.0);
            rest[layout->rowind[k]] -= a * x[j];
            most[layout->rowind[k]] = fmax(most[layout->rowind[k]], cabs(a));
        }
        solution = fmax(solution, cabs(x[j]));
    }
    for (int i = 0; i < layout->n; i++) {
        worst = fmax(worst, cabs(rest[i]) / most[i]);
        right = fmax(right, cabs(b[i]) / most[i]);
    }
    matrix = layout->n; /* at least the norm of a matrix whose rows have maximum 1 */
    return worst / (DBL_EPSILON * (matrix * solution + right));
}

/* Solve for a random right-hand side; the error is at most n times growth, which a fresh order
 * bounds by experience at some ten, and the watch at a thousand times that. */
static double solved(linear_solver *s, const double *re, const double *im)
{
    double br[MOST], bi[MOST];
    double complex b[MOST], x[MOST];
    const int n = s->layout->n;
    for (int i = 0; i < n; i++) {
        br[i] = number();
        bi[i] = im ? number() : 0.0;
        b[i] = br[i] + I * bi[i];
    }
    s->ops->solve(s, br, im ? bi : NULL);
    for (int i = 0; i < n; i++) x[i] = br[i] + I * bi[i];
    return backward_error(s->layout, re, im, b, x);
}

typedef struct drift {
    double worst;
    long repivots, steps;
} drift;

/* Values that move by factors up to 2^(+-rate) a step, for 40 steps */
static drift follow(const matrix_layout *layout, bool is_complex, double rate)
{
    double re[MOST * MOST], im[MOST * MOST], speed[MOST * MOST], *imaginary = NULL;
    drift d = {0};
    for (size_t k = 0; k < layout->count; k++) {
        re[k] = number();
        im[k] = number();
        speed[k] = exp2(rate * number());
    }
    linear_solver *real = linear_elimination.analyse(layout, NULL), *s = real;
    assert_non_null(real);
    if (is_complex) {
        s = complex_elimination.analyse(layout, real);
        assert_non_null(s);
        assert_int_equal(linear_factor(real, re), LINEAR_OK);
        imaginary = im;
    }
    for (d.steps = 0; d.steps < 40; d.steps++) {
        assert_int_equal(s->ops->factor(s, re, imaginary), LINEAR_OK);
        d.worst = fmax(d.worst, solved(s, re, imaginary));
        for (size_t k = 0; k < layout->count; k++) {
            re[k] *= speed[k];
            im[k] *= speed[k];
        }
    }
    d.repivots = s->repivots;
    if (is_complex) linear_free(real == s ? NULL : s);
    linear_free(real);
    return d;
}

/* Drifting values: errors stay bounded, by new orders, which are few. */
static void drifting_values_get_new_orders(void **state)
{
    (void)state;
    seed = 3;
    long repivots = 0, steps = 0;
    for (int round = 0; round < 120; round++) {
        const int n = 3 + round % 30;
        matrix_layout layout;
        random_pattern(&layout, n, 2 + round % 4);
        const drift d = follow(&layout, round % 2 == 1, 2.0);
        if (!(d.worst <= 1e3)) fail_msg("n = %d, round %d: %g", n, round, d.worst);
        repivots += d.repivots;
        steps += d.steps;
        layout_free(&layout);
    }
    assert_true(repivots > steps / 100);
    assert_true(repivots < steps / 4);
}

/* Sizes in wild disorder: a row of any size, entries down to 10^-20 of it, some zero */
static void draw_values(const matrix_layout *layout, bool scaled, double *value)
{
    double row[MOST];
    for (int i = 0; i < layout->n; i++) row[i] = scaled ? pow(10.0, 20.0 * number()) : 1.0;
    for (size_t k = 0; k < layout->count; k++) {
        const double kind = uniform(&seed), small = kind < 0.3 ? pow(10.0, -20.0 * kind) : 1.0;
        value[k] = kind > 0.9 ? 0.0 : number() * small * row[layout->rowind[k]];
    }
}

/* An order is kept for a matrix of other sizes only where it does: rows that were small when it was
 * chosen, multipliers that did no harm before, and products that cancel hide nothing. */
static void other_sizes_do_no_harm(void **state)
{
    (void)state;
    seed = 5;
    for (int round = 0; round < 6000; round++) {
        double value[MOST * MOST];
        matrix_layout layout;
        random_pattern(&layout, 2 + round % 11, 2 + round % 5);
        linear_solver *s = linear_elimination.analyse(&layout, NULL);
        assert_non_null(s);
        for (int step = 0; step < 6; step++) {
            draw_values(&layout, round % 2 == 1, value);
            if (linear_factor(s, value) != LINEAR_OK) continue;
            const double error = solved(s, value, NULL);
            if (error > 1e4) fail_msg("round %d, step %d: %g", round, step, error);
        }
        linear_free(s);
        layout_free(&layout);
    }
}

/* What is left behind the pivots is not zero, and too small to divide by: singular. */
static void remainders_near_underflow_are_singular(void **state)
{
    (void)state;
    const int colptr[] = {0, 2, 4}, rowind[] = {0, 1, 0, 1};
    const double value[] = {0.5 + 1e-10, 0.5e-300, 1.0, 1e-300};
    matrix_layout layout;
    assert_true(layout_sparse(&layout, 2, colptr, rowind));
    linear_solver *s = linear_elimination.analyse(&layout, NULL);
    assert_int_equal(linear_factor(s, value), LINEAR_SINGULAR);
    assert_int_equal(s->singular_column, 0);
    linear_free(s);
    layout_free(&layout);
}

/* A complex pivot whose square overflows, underflows or loses a part to underflow is divided by as
 * exactly as any other. */
static void complex_pivots_of_any_size(void **state)
{
    (void)state;
    const int colptr[] = {0, 1, 3}, rowind[] = {0, 0, 1};
    static const double sizes[][2] = {{1.0, 1.0},       {3e200, -4e200},   {3e-200, 4e-200},
                                      {1e-140, 1e-170}, {-2e135, 1e-200},  {1e-300, 1e-280},
                                      {0.0, 1e160},     {2e-308, 2.5e-308}};
    matrix_layout layout;
    assert_true(layout_sparse(&layout, 2, colptr, rowind));
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const double re[] = {sizes[k][0], 1.0, 2.0}, im[] = {sizes[k][1], 0.0, 1.0};
        double br[] = {sizes[k][0], 0.0}, bi[] = {sizes[k][1], 0.0};
        linear_solver *s = complex_elimination.analyse(&layout, NULL);
        assert_int_equal(s->ops->factor(s, re, im), LINEAR_OK);
        s->ops->solve(s, br, bi);
        if (!(hypot(br[0] - 1.0, bi[0]) <= 8.0 * DBL_EPSILON && br[1] == 0.0 && bi[1] == 0.0))
            fail_msg("%zu: %g %g, %g %g", k, br[0] - 1.0, bi[0], br[1], bi[1]);
        linear_free(s);
    }
    layout_free(&layout);
}

/* Values that hardly move keep their order. */
static void quiet_values_keep_their_order(void **state)
{
    (void)state;
    seed = 4;
    for (int round = 0; round < 60; round++) {
        matrix_layout layout;
        random_pattern(&layout, 5 + round % 20, 4);
        assert_true(follow(&layout, round % 2 == 1, 0.02).repivots <= (round % 2));
        layout_free(&layout);
    }
}

/* A row y = 10^12 x: a large multiplier that nothing grows from is no reason for another order. */
static void definitions_are_no_growth(void **state)
{
    (void)state;
    const int colptr[] = {0, 2, 3, 5}, rowind[] = {0, 1, 1, 1, 2};
    const double first[] = {1.0, 1e12, 1.0, 2.0, 3.0}, later[] = {1e-9, 1e12, 1.0, 2.0, 3.0};
    double b[] = {1e-9, 1e12 + 3.0, 3.0};
    matrix_layout layout;
    assert_true(layout_sparse(&layout, 3, colptr, rowind));
    linear_solver *s = linear_elimination.analyse(&layout, NULL);
    assert_int_equal(linear_factor(s, first), LINEAR_OK);
    assert_int_equal(linear_factor(s, later), LINEAR_OK);
    assert_int_equal(s->repivots, 0);
    linear_solve(s, b);
    for (int i = 0; i < 3; i++) assert_true(fabs(b[i] - 1.0) <= 1e12 * DBL_EPSILON);
    linear_free(s);
    layout_free(&layout);
}

/* Systems solved side by side have the bits of each alone, whatever orders they have. */
static void side_by_side_is_the_same(void **state)
{
    (void)state;
    enum { SYSTEMS = 5 };
    seed = 6;
    for (int n = 2; n < 20; n++) {
        matrix_layout layout;
        random_pattern(&layout, n, 3);
        linear_solver *real = linear_elimination.analyse(&layout, NULL), *all[SYSTEMS];
        double re[SYSTEMS][MOST], im[SYSTEMS][MOST], *r[SYSTEMS], *i[SYSTEMS];
        double alone_re[SYSTEMS][MOST], alone_im[SYSTEMS][MOST], a[MOST * MOST], b[MOST * MOST];
        for (size_t k = 0; k < layout.count; k++) a[k] = number();
        assert_int_equal(linear_factor(real, a), LINEAR_OK);
        for (int c = 0; c < SYSTEMS; c++) {
            all[c] = complex_elimination.analyse(&layout, c == n % 7 ? NULL : real);
            for (size_t k = 0; k < layout.count; k++) b[k] = number();
            assert_int_equal(all[c]->ops->factor(all[c], a, b), LINEAR_OK);
            r[c] = re[c];
            i[c] = im[c];
            for (int k = 0; k < n; k++) {
                re[c][k] = alone_re[c][k] = number();
                im[c][k] = alone_im[c][k] = number();
            }
            all[c]->ops->solve(all[c], alone_re[c], alone_im[c]);
        }
        linear_solve_several(all, SYSTEMS, r, i);
        for (int c = 0; c < SYSTEMS; c++) {
            assert_memory_equal(re[c], alone_re[c], (size_t)n * sizeof **re);
            assert_memory_equal(im[c], alone_im[c], (size_t)n * sizeof **im);
            linear_free(all[c]);
        }
        linear_free(real);
        layout_free(&layout);
    }
}

/* ---- the rule ---- */

static bool pays(int n, int bandwidth)
{
    int colptr[MOST + 1] = {0}, rowind[MOST * MOST];
    for (int j = 0; j < n; j++) {
        colptr[j + 1] = colptr[j];
        for (int i = 0; i < n; i++)
            if (abs(i - j) <= bandwidth) rowind[colptr[j + 1]++] = i;
    }
    matrix_layout layout;
    assert_true(layout_sparse(&layout, n, colptr, rowind));
    elimination_work work;
    assert_true(elimination_count(&layout, &work));
    if (bandwidth >= n) /* no order saves anything: n(n-1)(n+1)/3 and n^2 */
        assert_true(work.factor == n * (n - 1) * (n + 1) / 3.0 && work.solve == n * n);
    if (bandwidth == 1) assert_true(work.factor == 2.0 * (n - 1) && work.solve == 3.0 * n - 2);
    bool answer = false;
    assert_true(elimination_pays(&layout, &answer));
    layout_free(&layout);
    return answer;
}

static void counted_operations_decide(void **state)
{
    (void)state;
    for (int n = 3; n <= MOST; n++) assert_true(pays(n, 1));
    for (int n = 16; n <= MOST; n++) assert_false(pays(n, n));
}

/* ---- models ---- */

static const char chain[] = "model Chain \"a stiff chain with sparse and dense parts\"\n"
                            "  parameter Integer n = 6;\n"
                            "  Real x[n](each start = 1, each fixed = true);\n"
                            "  Real total;\n"
                            "equation\n"
                            "  der(x[1]) = -1e4*x[1] + x[2]^2;\n"
                            "  for i in 2:n - 1 loop\n"
                            "    der(x[i]) = i*x[i - 1]*total - x[i]*(1 + x[i + 1]);\n"
                            "  end for;\n"
                            "  der(x[n]) = x[n - 1] - 10*x[n];\n"
                            "  total^3 + total = sum(x);\n"
                            "end Chain;\n";

static void run_chain(int n, const char *method, dae_linear_solver solver, double *y)
{
    char size[32];
    snprintf(size, sizeof size, "n = %d", n);
    const char *settings[] = {size};
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-9;
    options.method = method;
    options.linear_solver = solver;
    const dae_model model = {.text = chain, .assignments = settings, .assignment_count = 1};
    if (dae_problem_from_model(&model, &problem, &diag) ||
        dae_solver_new(problem, &options, &s, &diag))
        fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    if (dae_solver_run(s, 2.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void all_ways_agree_on_models(void **state)
{
    (void)state;
    const char *methods[] = {"bdf", "radau", "rodas"};
    for (int k = 0; k < 3; k++)
        for (int n = 6; n <= 120; n += n < 24 ? 9 : 96) { /* 6, 15, 24: lists; 120: KLU */
            double dense[200], sparse[200], chosen[200];
            run_chain(n, methods[k], DAE_LINEAR_DENSE, dense);
            run_chain(n, methods[k], DAE_LINEAR_SPARSE, sparse);
            run_chain(n, methods[k], DAE_LINEAR_AUTO, chosen);
            for (int i = 0; i < n; i++) {
                assert_true(fabs(dense[i] - sparse[i]) <= 1e-7 * (1.0 + fabs(dense[i])));
                assert_true(fabs(dense[i] - chosen[i]) <= 1e-7 * (1.0 + fabs(dense[i])));
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drifting_values_get_new_orders),
        cmocka_unit_test(other_sizes_do_no_harm),
        cmocka_unit_test(remainders_near_underflow_are_singular),
        cmocka_unit_test(complex_pivots_of_any_size),
        cmocka_unit_test(quiet_values_keep_their_order),
        cmocka_unit_test(definitions_are_no_growth),
        cmocka_unit_test(side_by_side_is_the_same),
        cmocka_unit_test(counted_operations_decide),
        cmocka_unit_test(all_ways_agree_on_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
