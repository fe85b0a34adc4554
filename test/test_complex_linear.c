/* Complex solvers against LAPACK's zgesv on the same matrices, for every layout and many sizes; and
 * the factors for complex shifts. */
#include "linalg/lapack.h"
#include "linalg/linear_solver.h"
#include "matrix/shifted.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef lapack_complex_double complex_value;

static unsigned long seed = 12345;

/* Uniform in (-1, 1) */
static double uniform(void)
{
    seed = seed * 6364136223846793005UL + 1442695040888963407UL;
    return (double)(long)(seed >> 12) / (double)(1UL << 51) - 1.0;
}

/* Random values on the layout. */
static void fill(const matrix_layout *layout, double *re, double *im)
{
    for (size_t k = 0; k < layout->count; k++) re[k] = im[k] = 0.0;
    for (int j = 0; j < layout->n; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++) {
            re[column.first + (size_t)k] = uniform();
            im[column.first + (size_t)k] = uniform();
        }
    }
}

/* x = A^-1 b by zgesv on a dense copy */
static void reference(const matrix_layout *layout, const double *re, const double *im,
                      complex_value *x)
{
    size_t n = (size_t)layout->n;
    complex_value *A = calloc(n * n, sizeof *A);
    int *pivots = malloc(n * sizeof *pivots);
    for (int j = 0; j < layout->n; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++) {
            size_t at = column.first + (size_t)k;
            A[(size_t)j * n + (size_t)column_row(&column, k)] = re[at] + im[at] * I;
        }
    }
    assert_int_equal(
        LAPACKE_zgesv(LAPACK_COL_MAJOR, layout->n, 1, A, layout->n, pivots, x, layout->n), 0);
    free(A);
    free(pivots);
}

/* Row i of A := two entries, or one if other < 0 */
static void shorten(const matrix_layout *layout, double *re, double *im, int i, int pivot,
                    int other)
{
    for (int j = 0; j < layout->n; j++)
        if (j != pivot && j != other)
            re[(size_t)(i + j * layout->n)] = im[(size_t)(i + j * layout->n)] = 0.0;
}

/* The residual of a solution, relative to |A| |x| */
static double residual(const matrix_layout *layout, const double *re, const double *im,
                       const double *br, const double *bi, const double *xr, const double *xi)
{
    const int n = layout->n;
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        complex_value sum = br[i] + bi[i] * I;
        double row = cabs(sum);
        for (int j = 0; j < n; j++) {
            complex_value term = (re[i + j * n] + im[i + j * n] * I) * (xr[j] + xi[j] * I);
            sum -= term;
            row += cabs(term);
        }
        worst = fmax(worst, cabs(sum));
        size = fmax(size, row);
    }
    return worst / size;
}

/* Rows with one or two entries, also in chains (x' = v, v' = a) and with a column in common, in one
 * place, then with the larger entry on the other side, then no more */
static void short_rows_are_eliminated(void **state)
{
    (void)state;
    double re[400], im[400], br[20], bi[20], xr[20], xi[20];
    for (int n = 4; n <= 20; n++) {
        matrix_layout layout = {
            .kind = DAE_STRUCTURE_DENSE, .n = n, .count = (size_t)n * (size_t)n};
        linear_solver *solver = complex_new(&layout, NULL);
        assert_non_null(solver);
        for (int round = 0; round < 6; round++) {
            fill(&layout, re, im);
            for (int i = 0; i < n / 3 && round < 4; i++) shorten(&layout, re, im, i, i, i + n / 3);
            if (round < 4) shorten(&layout, re, im, n / 3, n / 3, n - 1); /* a chain */
            if (round < 3) shorten(&layout, re, im, n - 1, 0, -1);        /* a shared column */
            for (int i = 0; i < n / 3 && round == 2; i++) re[i + i * n] *= 1e-6;
            for (int i = 0; i < n; i++) br[i] = xr[i] = uniform(), bi[i] = xi[i] = uniform();
            assert_int_equal(solver->ops->factor(solver, re, im), LINEAR_OK);
            solver->ops->solve(solver, xr, xi);
            double r = residual(&layout, re, im, br, bi, xr, xi);
            if (!(r < 1e-13)) fail_msg("n = %d, round %d: %.1e", n, round, r);
        }
        linear_free(solver);
    }
}

/* Three matrices in turn with one analysis. */
static void check_layout(const matrix_layout *layout, double tolerance)
{
    size_t n = (size_t)layout->n;
    double *re = malloc(layout->count * sizeof *re), *im = malloc(layout->count * sizeof *im);
    double *br = malloc(n * sizeof *br), *bi = malloc(n * sizeof *bi);
    complex_value *x = malloc(n * sizeof *x);
    linear_solver *real = linear_new(layout);
    linear_solver *solver = complex_new(layout, real);
    assert_non_null(solver);
    for (int round = 0; round < 3; round++) {
        fill(layout, re, im);
        for (size_t i = 0; i < n; i++) x[i] = (br[i] = uniform()) + (bi[i] = uniform()) * I;
        reference(layout, re, im, x);
        assert_int_equal(solver->ops->factor(solver, re, im), LINEAR_OK);
        assert_int_equal(solver->singular_column, -1);
        solver->ops->solve(solver, br, bi);
        double size = 0.0, error = 0.0;
        for (size_t i = 0; i < n; i++) {
            size = fmax(size, cabs(x[i]));
            error = fmax(error, cabs(br[i] + bi[i] * I - x[i]));
        }
        if (!(error <= tolerance * size))
            fail_msg("%s, n = %d: error %g", solver->ops->name, layout->n, error / size);
    }
    linear_free(solver);
    linear_free(real);
    free(re), free(im), free(br), free(bi), free(x);
}

static void dense(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 39, 40, 41, 50, 100};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        matrix_layout layout;
        assert_true(layout_dense(&layout, sizes[k]));
        check_layout(&layout, 1e-10);
        layout_free(&layout);
    }
}

static void banded(void **state)
{
    (void)state;
    static const int shapes[][3] = {{1, 0, 0},  {5, 0, 2},   {5, 2, 0},   {10, 1, 1},  {30, 2, 2},
                                    {40, 3, 7}, {60, 24, 5}, {60, 25, 5}, {90, 30, 31}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        matrix_layout layout;
        assert_true(layout_banded(&layout, shapes[k][0], shapes[k][1], shapes[k][2]));
        check_layout(&layout, 1e-8);
        layout_free(&layout);
    }
}

/* A pattern with a full diagonal and some entries elsewhere. */
static void sparse_layout(matrix_layout *layout, int n, int extra)
{
    int *colptr = malloc(((size_t)n + 1) * sizeof *colptr), count = 0;
    int *rowind = malloc((size_t)n * (size_t)n * sizeof *rowind);
    for (int j = 0; j < n; j++) {
        colptr[j] = count;
        for (int i = 0; i < n; i++)
            if (i == j || (uniform() + 1.0) * n < 2.0 * extra) rowind[count++] = i;
    }
    colptr[n] = count;
    assert_true(layout_sparse(layout, n, colptr, rowind));
    free(colptr);
    free(rowind);
}

static void sparse(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 10, 60, 200};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        matrix_layout layout;
        sparse_layout(&layout, sizes[k], 3);
        check_layout(&layout, 1e-7);
        layout_free(&layout);
    }
}

/* A zero column is found, a NaN is found, and the solver works again afterwards. */
static void check_singular(const matrix_layout *layout)
{
    double *re = malloc(layout->count * sizeof *re), *im = malloc(layout->count * sizeof *im);
    linear_solver *real = linear_new(layout);
    linear_solver *solver = complex_new(layout, real);
    int bad = layout->n / 2;
    matrix_column column = layout_column(layout, bad);
    fill(layout, re, im);
    for (int k = 0; k < column.count; k++)
        re[column.first + (size_t)k] = im[column.first + (size_t)k] = 0.0;
    assert_int_equal(solver->ops->factor(solver, re, im), LINEAR_SINGULAR);
    assert_int_equal(solver->singular_column, bad);
    im[column.first] = NAN;
    assert_int_equal(solver->ops->factor(solver, re, im), LINEAR_SINGULAR);
    assert_in_range(solver->singular_column, 0, layout->n - 1);
    fill(layout, re, im);
    assert_int_equal(solver->ops->factor(solver, re, im), LINEAR_OK);
    linear_free(solver);
    linear_free(real);
    free(re), free(im);
}

static void singular(void **state)
{
    (void)state;
    matrix_layout layout;
    for (int n = 5; n <= 100; n += 95) {
        assert_true(layout_dense(&layout, n));
        check_singular(&layout);
        layout_free(&layout);
        assert_true(layout_banded(&layout, n, 2, 1));
        check_singular(&layout);
        layout_free(&layout);
        assert_true(layout_banded(&layout, n, n < 50 ? 3 : 30, 4));
        check_singular(&layout);
        layout_free(&layout);
        sparse_layout(&layout, n, 3);
        check_singular(&layout);
        layout_free(&layout);
    }
}

/* ---- shifts ---- */

/* F = E y' + K y with a constraint in its last row */
enum { N = 4 };
static const double E[N][N] = {{1, 0.5, 0, 0}, {0, 2, 0, 0.25}, {0.5, 0, 1, 0}, {0, 0, 0, 0}};
static const double K[N][N] = {{3, 1, 0, 2}, {-1, 4, 1, 0}, {0, 2, 5, 1}, {1, 1, -2, 6}};

static int linear_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < N; i++) {
        f[i] = 0.0;
        for (int j = 0; j < N; j++) f[i] += E[i][j] * yp[j] + K[i][j] * y[j];
    }
    return 0;
}

static int linear_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            dfdy[i + j * N] = K[i][j];
            dfdyp[i + j * N] = E[i][j];
        }
    return 0;
}

/* All entries, so that a sparse matrix is stored as a dense one is. */
static const int full_colptr[N + 1] = {0, 4, 8, 12, 16};
static const int full_rowind[N * N] = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};

/* (K + mu E) x = b for three shifts at once, beside the real one */
static void shifts(void **state)
{
    (void)state;
    static const dae_linear_solver kinds[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED,
                                              DAE_LINEAR_SPARSE};
    static const double mu[3][2] = {{2.0, 3.0}, {200.0, -1.0}, {0.01, 0.02}};
    for (int kind = 0; kind < 3; kind++) {
        dae_problem *p;
        dae_stats stats = {0};
        dae_options options = dae_options_default();
        dae_residual form = {.n = N,
                             .f = linear_f,
                             .jacobian = linear_jacobian,
                             .structure = DAE_STRUCTURE_SPARSE,
                             .colptr = full_colptr,
                             .rowind = full_rowind};
        iteration it;
        double y[N] = {0}, weights[N] = {1, 1, 1, 1};
        options.linear_solver = kinds[kind];
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        evaluator eval = {.problem = p, .stats = &stats};
        assert_int_equal(iteration_new(&it, &eval, &options, NULL), DAE_OK);
        assert_int_equal(iteration_evaluate(&it, 0.0, y, y, 100.0, 0.01, weights, NULL),
                         ITERATION_OK);
        assert_true(shifted_prepare(&it, 3));
        assert_int_equal(iteration_factor(&it, 100.0, NULL), ITERATION_OK);
        for (int k = 0; k < 3; k++)
            assert_int_equal(shifted_factor(&it, k, mu[k][0], mu[k][1]), ITERATION_OK);
        for (int k = 0; k < 3; k++) {
            double re[N] = {1, -2, 3, 4}, im[N] = {0.5, 1, -1, 2};
            const double br[N] = {1, -2, 3, 4}, bi[N] = {0.5, 1, -1, 2};
            shifted_solve(&it, k, re, im);
            for (int i = 0; i < N; i++) {
                double complex sum = 0.0;
                for (int j = 0; j < N; j++)
                    sum += (K[i][j] + (mu[k][0] + mu[k][1] * I) * E[i][j]) * (re[j] + im[j] * I);
                assert_true(cabs(sum - (br[i] + bi[i] * I)) < 1e-11);
            }
        }
        assert_int_equal(stats.factorisations, 4);
        iteration_free(&it);
        dae_problem_free(p);
    }
}

/* Without a matrix there are no shifts. */
static void no_matrix(void **state)
{
    (void)state;
    dae_problem *p;
    dae_stats stats = {0};
    dae_options options = dae_options_default();
    dae_residual form = {.n = N, .f = linear_f};
    iteration it;
    options.linear_solver = DAE_LINEAR_GMRES;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    evaluator eval = {.problem = p, .stats = &stats};
    assert_int_equal(iteration_new(&it, &eval, &options, NULL), DAE_OK);
    assert_false(shifted_prepare(&it, 1));
    iteration_free(&it);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows_are_eliminated),
        cmocka_unit_test(dense),
        cmocka_unit_test(banded),
        cmocka_unit_test(sparse),
        cmocka_unit_test(singular),
        cmocka_unit_test(shifts),
        cmocka_unit_test(no_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
