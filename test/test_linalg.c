/* Layouts, colouring and the direct solvers, against plain dense arithmetic and LAPACK. */
#include "linalg/coloring.h"
#include "linalg/linear_solver.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- helpers: a generator with a fixed seed, matrices of any kind, their dense copies ---- */

static uint64_t seed;

static uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double random_number(void) /* in (-1, 1) */
{
    return (double)(random_bits() >> 11) * 0x1p-52 - 1.0;
}

static int random_below(int n)
{
    return (int)(random_bits() % (uint64_t)n);
}

static void assert_close(double value, double expected, double tolerance)
{
    assert_true(fabs(value - expected) <= tolerance);
}

static double *new_numbers(size_t count)
{
    double *x = calloc(count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

typedef struct matrix {
    matrix_layout layout;
    double *values;
} matrix;

static void matrix_done(matrix *m)
{
    layout_free(&m->layout);
    free(m->values);
}

/* A pattern from a dense n x n mask, by columns */
static void pattern_from_mask(matrix_layout *layout, int n, const bool *mask)
{
    int *colptr = calloc((size_t)n + 1, sizeof *colptr);
    int *rowind = calloc((size_t)n * (size_t)n + 1, sizeof *rowind);
    assert_non_null(colptr);
    assert_non_null(rowind);
    int count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (mask[i + j * n]) rowind[count++] = i;
        colptr[j + 1] = count;
    }
    assert_true(layout_sparse(layout, n, colptr, rowind));
    free(colptr);
    free(rowind);
}

static void random_pattern(matrix_layout *layout, int n, int per_column)
{
    bool *mask = calloc((size_t)n * (size_t)n, sizeof *mask);
    assert_non_null(mask);
    for (int j = 0; j < n; j++) {
        mask[j + j * n] = true;
        for (int k = 1; k < per_column; k++) mask[random_below(n) + j * n] = true;
    }
    pattern_from_mask(layout, n, mask);
    free(mask);
}

/* A random matrix of a kind; the unused corners of a band hold NaN, which nobody may read. */
static matrix random_matrix(dae_structure kind, int n)
{
    matrix m;
    if (kind == DAE_STRUCTURE_DENSE) assert_true(layout_dense(&m.layout, n));
    if (kind == DAE_STRUCTURE_BANDED)
        assert_true(layout_banded(&m.layout, n, random_below(4), random_below(4)));
    if (kind == DAE_STRUCTURE_SPARSE) random_pattern(&m.layout, n, 4);
    m.values = new_numbers(m.layout.count);
    for (size_t k = 0; k < m.layout.count; k++) m.values[k] = NAN;
    for (int j = 0; j < n; j++) {
        matrix_column c = layout_column(&m.layout, j);
        for (int k = 0; k < c.count; k++) m.values[c.first + (size_t)k] = random_number();
    }
    return m;
}

/* Position of element (i,j) among the values, from the public definition of the layouts; -1: none
 */
static ptrdiff_t find_element(const matrix_layout *l, int i, int j)
{
    if (l->kind == DAE_STRUCTURE_DENSE) return i + (ptrdiff_t)j * l->n;
    if (l->kind == DAE_STRUCTURE_BANDED)
        return i - j <= l->lower && j - i <= l->upper
                   ? l->upper + i - j + (ptrdiff_t)j * (l->lower + l->upper + 1)
                   : -1;
    for (int k = l->colptr[j]; k < l->colptr[j + 1]; k++)
        if (l->rowind[k] == i) return k;
    return -1;
}

static double *to_dense(const matrix *m)
{
    const int n = m->layout.n;
    double *a = new_numbers((size_t)n * (size_t)n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            ptrdiff_t at = find_element(&m->layout, i, j);
            if (at >= 0) a[i + j * n] = m->values[at];
        }
    return a;
}

static double one_norm(int n, const double *a)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) sum += fabs(a[i + j * n]);
        most = fmax(most, sum);
    }
    return most;
}

/* 1 / (||A||_1 ||A^-1||_1) with the inverse computed explicitly; 0 if LAPACK finds none */
static double exact_condition(int n, const double *a)
{
    double *lu = new_numbers((size_t)n * (size_t)n), *inverse = new_numbers((size_t)n * (size_t)n);
    int *pivot = calloc((size_t)n, sizeof *pivot);
    memcpy(lu, a, (size_t)n * (size_t)n * sizeof *a);
    for (int i = 0; i < n; i++) inverse[i + i * n] = 1.0;
    int info = LAPACKE_dgesv(LAPACK_COL_MAJOR, n, n, lu, n, pivot, inverse, n);
    double rcond = info == 0 ? 1.0 / (one_norm(n, a) * one_norm(n, inverse)) : 0.0;
    free(lu);
    free(inverse);
    free(pivot);
    return rcond;
}

static const dae_structure kinds[] = {DAE_STRUCTURE_DENSE, DAE_STRUCTURE_BANDED,
                                      DAE_STRUCTURE_SPARSE};
static const int sizes[] = {1, 2, 3, 4, 7, 8, 9, 17, 32, 33, 64, 65, 100};
enum { KINDS = 3, SIZES = sizeof sizes / sizeof *sizes };

/* Under valgrind every access of the library counts and its numbers, which other runs check, do
 * not: their measures by this file take most of the time. */
static bool looks_at_memory_alone(void)
{
    return getenv("TEST_MEMORY_ALONE");
}

/* Solve with b = A x for random x; check the backward error and the distance to x. */
static void check_solve(linear_solver *s, const matrix *m, double growth)
{
    const int n = m->layout.n;
    double *a = to_dense(m), *x = new_numbers((size_t)n), *b = new_numbers((size_t)n),
           *r = new_numbers((size_t)n);
    for (int i = 0; i < n; i++) x[i] = random_number();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) b[i] += a[i + j * n] * x[j];
    memcpy(r, b, (size_t)n * sizeof *b);
    s->ops->condition(s); /* leaves the factors as they are */
    linear_solve(s, b);
    for (int i = 0; i < n; i++) assert_true(isfinite(b[i]));
    const bool measured = !looks_at_memory_alone();
    double rcond = measured ? exact_condition(n, a) : 0.0;
    double error = 0.0, size = 0.0, residual = 0.0, right = 0.0;
    for (int i = 0; i < n && measured; i++) {
        right += fabs(r[i]);
        for (int j = 0; j < n; j++) r[i] -= a[i + j * n] * b[j];
        residual += fabs(r[i]);
        error += fabs(b[i] - x[i]);
        size += fabs(b[i]);
    }
    assert_true(residual <= growth * n * DBL_EPSILON * (one_norm(n, a) * size + right));
    assert_true(error * rcond <= growth * n * DBL_EPSILON * (size + 1.0));
    free(a);
    free(x);
    free(b);
    free(r);
}

/* How sparse matrices are solved: all tests run once for either way. */
static const linear_solver_ops *sparse_way = &linear_sparse;

static linear_solver *solver_of(const matrix_layout *layout)
{
    return layout->kind == DAE_STRUCTURE_SPARSE ? sparse_way->analyse(layout, NULL)
                                                : linear_new(layout);
}

static linear_solver *analyse(const matrix *m)
{
    linear_solver *s = solver_of(&m->layout);
    assert_non_null(s);
    return s;
}

/* ---- layouts and value arrays ---- */

static void test_matrix_operations(void **state)
{
    (void)state;
    seed = 17;
    for (int round = 0; round < 60; round++) {
        const int n = 1 + round % 11;
        matrix m = random_matrix(kinds[round % KINDS], n);
        matrix other = {m.layout, new_numbers(m.layout.count)};
        double *sum = new_numbers(m.layout.count), *a = to_dense(&m), *b;
        double x[11], y[11], column[11], row[11], most_row[11] = {0}, most_column[11] = {0};
        for (size_t k = 0; k < m.layout.count; k++) other.values[k] = random_number();
        for (int i = 0; i < n; i++) x[i] = random_number();
        b = to_dense(&other);

        matrix_multiply(&m.layout, m.values, x, y);
        for (int i = 0; i < n; i++) {
            double expected = 0.0;
            for (int j = 0; j < n; j++) expected += a[i + j * n] * x[j];
            assert_close(y[i], expected, 1e-14);
        }
        matrix_extents(&m.layout, m.values, row, column);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                most_row[i] = fmax(most_row[i], fabs(a[i + j * n]));
                most_column[j] = fmax(most_column[j], fabs(a[i + j * n]));
            }
        assert_memory_equal(row, most_row, (size_t)n * sizeof *row);
        assert_memory_equal(column, most_column, (size_t)n * sizeof *column);

        matrix c = {m.layout, sum};
        matrix_combine(&m.layout, 2.5, m.values, -3.0, other.values, sum);
        double *d = to_dense(&c);
        for (int k = 0; k < n * n; k++) assert_close(d[k], 2.5 * a[k] - 3.0 * b[k], 1e-14);
        free(d);
        matrix_combine(&m.layout, 1.0, m.values, 7.0, other.values, sum);
        d = to_dense(&c);
        for (int k = 0; k < n * n; k++) assert_close(d[k], a[k] + 7.0 * b[k], 1e-14);
        free(d);
        matrix_combine_columns(&m.layout, x, m.values, y, other.values, sum);
        matrix_scale_rows(&m.layout, x, sum);
        d = to_dense(&c);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                assert_close(d[i + j * n], x[i] * (x[j] * a[i + j * n] + y[j] * b[i + j * n]),
                             1e-14);
        free(d);
        free(a);
        free(b);
        free(sum);
        free(other.values);
        matrix_done(&m);
    }
}

static void test_layout_copy_and_bandwidth(void **state)
{
    (void)state;
    int colptr[] = {0, 2, 2, 4, 5}, rowind[] = {0, 2, 0, 2, 3}, lower, upper;
    matrix_layout l, copy;
    assert_true(layout_sparse(&l, 4, colptr, rowind));
    assert_true(layout_copy(&copy, &l));
    layout_free(&l);
    assert_null(l.colptr);
    assert_int_equal(copy.count, 5);
    assert_memory_equal(copy.rowind, rowind, sizeof rowind);
    pattern_bandwidth(&copy, &lower, &upper);
    assert_int_equal(lower, 2);
    assert_int_equal(upper, 2);
    layout_free(&copy);
    assert_true(layout_dense(&l, 5));
    pattern_bandwidth(&l, &lower, &upper);
    assert_int_equal(lower, 4);
    assert_int_equal(upper, 4);
    assert_true(layout_banded(&l, 5, 1, 9)); /* wider than the matrix */
    pattern_bandwidth(&l, &lower, &upper);
    assert_int_equal(lower, 1);
    assert_int_equal(upper, 4);
}

static void test_pattern_check(void **state)
{
    (void)state;
    int column;
    int good_p[] = {0, 1, 3, 3}, good_i[] = {2, 0, 1};
    assert_null(pattern_check(3, good_p, good_i, &column));
    assert_int_equal(column, -1);
    int offset_p[] = {1, 1, 3, 3};
    assert_non_null(pattern_check(3, offset_p, good_i, &column));
    int falling_p[] = {0, 2, 1, 3}, rising_i[] = {0, 1, 2};
    assert_non_null(pattern_check(3, falling_p, rising_i, &column));
    assert_int_equal(column, 1);
    int unsorted_i[] = {2, 1, 0}, twice_i[] = {2, 1, 1}, high_i[] = {2, 0, 3}, low_i[] = {-1, 0, 1};
    assert_non_null(pattern_check(3, good_p, unsorted_i, &column));
    assert_int_equal(column, 1);
    assert_non_null(pattern_check(3, good_p, twice_i, &column));
    assert_non_null(pattern_check(3, good_p, high_i, &column));
    assert_non_null(pattern_check(3, good_p, low_i, &column));
    assert_int_equal(column, 0);
}

/* ---- colouring ---- */

/* Every column in exactly one group, no row twice in a group; returns the number of groups. */
static int check_coloring(const matrix_layout *layout)
{
    const int n = layout->n;
    coloring c;
    assert_true(coloring_build(&c, layout));
    int *owner = calloc((size_t)n, sizeof *owner), *seen = calloc((size_t)n, sizeof *seen);
    assert_int_equal(c.start[0], 0);
    assert_int_equal(c.start[c.groups], n);
    for (int g = 0; g < c.groups; g++) {
        assert_true(c.start[g] < c.start[g + 1]);
        for (int q = c.start[g]; q < c.start[g + 1]; q++) {
            matrix_column column = layout_column(layout, c.column[q]);
            assert_int_equal(seen[c.column[q]]++, 0);
            for (int k = 0; k < column.count; k++) {
                assert_int_not_equal(owner[column_row(&column, k)], g + 1);
                owner[column_row(&column, k)] = g + 1;
            }
        }
    }
    int groups = c.groups;
    free(owner);
    free(seen);
    coloring_free(&c);
    return groups;
}

/* CSC pattern of the five-point difference operator on a k x k grid */
static void five_point(matrix_layout *layout, int k)
{
    const int n = k * k;
    int *colptr = calloc((size_t)n + 1, sizeof *colptr);
    int *rowind = calloc((size_t)n * 5, sizeof *rowind), count = 0;
    for (int j = 0; j < n; j++) {
        if (j >= k) rowind[count++] = j - k;
        if (j % k > 0) rowind[count++] = j - 1;
        rowind[count++] = j;
        if (j % k < k - 1) rowind[count++] = j + 1;
        if (j < n - k) rowind[count++] = j + k;
        colptr[j + 1] = count;
    }
    assert_true(layout_sparse(layout, n, colptr, rowind));
    free(colptr);
    free(rowind);
}

static void band_pattern(matrix_layout *layout, int n, int lower, int upper)
{
    int *colptr = calloc((size_t)n + 1, sizeof *colptr);
    int *rowind = calloc((size_t)n * (size_t)(lower + upper + 1), sizeof *rowind), count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j - upper; i <= j + lower; i++)
            if (i >= 0 && i < n) rowind[count++] = i;
        colptr[j + 1] = count;
    }
    assert_true(layout_sparse(layout, n, colptr, rowind));
    free(colptr);
    free(rowind);
}

static void test_coloring_structured(void **state)
{
    (void)state;
    matrix_layout l;
    assert_true(layout_dense(&l, 6));
    assert_int_equal(check_coloring(&l), 6);
    assert_true(layout_banded(&l, 50, 2, 1));
    assert_int_equal(check_coloring(&l), 4);
    assert_true(layout_banded(&l, 3, 2, 2));
    assert_int_equal(check_coloring(&l), 3);
    assert_true(layout_banded(&l, 3, 7, 5));
    assert_int_equal(check_coloring(&l), 3);
    band_pattern(&l, 1000, 1, 1);
    assert_int_equal(check_coloring(&l), 3);
    layout_free(&l);
    band_pattern(&l, 1000, 3, 2);
    assert_int_equal(check_coloring(&l), 6);
    layout_free(&l);
    for (int k = 1; k <= 100; k = k < 10 ? k + 1 : k * 3) {
        five_point(&l, k);
        int groups = check_coloring(&l);
        print_message("five-point %d x %d: %d groups\n", k, k, groups);
        assert_true(groups <= 7); /* 5 is the least possible inside a grid */
        layout_free(&l);
    }
}

static void test_coloring_random(void **state)
{
    (void)state;
    seed = 23;
    for (int round = 0; round < 100; round++) {
        matrix_layout l;
        random_pattern(&l, 1 + random_below(60), 1 + random_below(6));
        check_coloring(&l);
        layout_free(&l);
    }
}

/* A full row forces one group a column; it must not cost n^2 either. Empty columns share a group.
 */
static void test_coloring_dense_row_and_empty_columns(void **state)
{
    (void)state;
    const int n = 100000;
    int *colptr = calloc((size_t)n + 1, sizeof *colptr);
    int *rowind = calloc((size_t)n * 2, sizeof *rowind), count = 0;
    for (int j = 0; j < n; j++) {
        rowind[count++] = 0;
        if (j > 0) rowind[count++] = j;
        colptr[j + 1] = count;
    }
    matrix_layout l;
    assert_true(layout_sparse(&l, n, colptr, rowind));
    assert_int_equal(check_coloring(&l), n);
    layout_free(&l);
    memset(colptr, 0, ((size_t)n + 1) * sizeof *colptr);
    assert_true(layout_sparse(&l, n, colptr, rowind));
    assert_int_equal(check_coloring(&l), 1);
    layout_free(&l);
    free(colptr);
    free(rowind);
}

/* ---- direct solvers ---- */

static void test_solve_random(void **state)
{
    (void)state;
    seed = 5;
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++)
            for (int round = 0; round < 5; round++) {
                matrix m = random_matrix(kinds[kind], sizes[size]);
                linear_solver *s = analyse(&m);
                for (int again = 0; again < 2; again++) {
                    linear_status status = linear_factor(s, m.values);
                    if (status == LINEAR_SINGULAR) continue; /* a random band may have zero rows */
                    assert_int_equal(status, LINEAR_OK);
                    assert_int_equal(s->singular_column, -1);
                    check_solve(s, &m, 2000.0); /* KLU's threshold pivoting lets L grow */
                }
                linear_free(s);
                matrix_done(&m);
            }
}

/* Several right-hand sides at once have the bits of one by one, whatever their number. */
static void test_solve_rows(void **state)
{
    (void)state;
    enum { ROWS = 9 };
    int solved = 0; /* dense ones: random bands and patterns may have no solution */
    seed = 7;
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++)
            for (int count = 0; count <= ROWS; count++) {
                const size_t n = (size_t)sizes[size];
                matrix m = random_matrix(kinds[kind], sizes[size]);
                linear_solver *s = analyse(&m);
                double *one = new_numbers(ROWS * n), *all = new_numbers(ROWS * n);
                for (size_t k = 0; k < ROWS * n; k++) one[k] = all[k] = random_number();
                if (linear_factor(s, m.values) == LINEAR_OK) {
                    for (size_t k = 0; k < (size_t)count; k++) linear_solve(s, one + k * n);
                    linear_solve_rows(s, count, all); /* rows behind them stay as they are */
                    solved += kind == 0;
                }
                assert_memory_equal(one, all, ROWS * n * sizeof *one);
                free(one);
                free(all);
                linear_free(s);
                matrix_done(&m);
            }
    assert_int_equal(solved, SIZES * (ROWS + 1));
}

/* Wide bands leave the narrow kernels; the band may be wider than the matrix. */
static void test_solve_bands(void **state)
{
    (void)state;
    seed = 6;
    const int widths[][2] = {{0, 0}, {1, 0}, {0, 3},   {1, 1},   {2, 2},  {1, 4},    {5, 2},
                             {8, 8}, {9, 3}, {20, 31}, {33, 40}, {40, 0}, {200, 300}};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int size = 0; size < SIZES; size++) {
            matrix m;
            assert_true(layout_banded(&m.layout, sizes[size], widths[w][0], widths[w][1]));
            m.values = new_numbers(m.layout.count);
            for (size_t k = 0; k < m.layout.count; k++) m.values[k] = random_number();
            linear_solver *s = analyse(&m);
            assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
            check_solve(s, &m, 50.0);
            linear_free(s);
            matrix_done(&m);
        }
}

/* Columns scaled over 16 decades, and for KLU, which equilibrates them, rows too: every component
 * of the solution must stay good. */
static void test_solve_badly_scaled(void **state)
{
    (void)state;
    seed = 7;
    for (int round = 0; round < 60; round++) {
        const int n = 2 + random_below(40);
        matrix m = random_matrix(kinds[round % KINDS], n);
        double *x = new_numbers((size_t)n), *b = new_numbers((size_t)n);
        double *row = new_numbers((size_t)n), *scale = new_numbers((size_t)n);
        for (int i = 0; i < n; i++)
            row[i] = m.layout.kind == DAE_STRUCTURE_SPARSE ? pow(10.0, 8.0 * random_number()) : 1.0;
        for (int j = 0; j < n; j++) {
            matrix_column c = layout_column(&m.layout, j);
            scale[j] = pow(10.0, 8.0 * random_number());
            x[j] = random_number() / scale[j];
            for (int k = 0; k < c.count; k++) {
                double *v = &m.values[c.first + (size_t)k];
                int i = column_row(&c, k);
                if (i == j) *v += 8.0; /* well conditioned but for the scaling */
                *v *= scale[j] * row[i];
            }
        }
        linear_solver *s = analyse(&m);
        matrix_multiply(&m.layout, m.values, x, b);
        assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
        linear_solve(s, b);
        for (int i = 0; i < n; i++)
            assert_true(fabs(b[i] - x[i]) <= 1e-10 * (fabs(x[i]) + 1.0 / scale[i]));
        linear_free(s);
        free(x);
        free(b);
        free(row);
        free(scale);
        matrix_done(&m);
    }
}

/* A permutation matrix times a diagonal: every diagonal entry zero, so nothing works unpivoted. */
static void test_solve_permuted(void **state)
{
    (void)state;
    seed = 8;
    for (int round = 0; round < 40; round++) {
        const int n = 2 + random_below(50);
        int shift = 1 + random_below(n - 1);
        matrix m;
        if (round % 2 == 0) {
            assert_true(layout_dense(&m.layout, n));
        } else {
            bool *mask = calloc((size_t)(n * n), sizeof *mask);
            for (int j = 0; j < n; j++) mask[(j + shift) % n + j * n] = mask[j + j * n] = true;
            pattern_from_mask(&m.layout, n, mask);
            free(mask);
        }
        m.values = new_numbers(m.layout.count);
        for (int j = 0; j < n; j++)
            m.values[find_element(&m.layout, (j + shift) % n, j)] = 1.0 + fabs(random_number());
        linear_solver *s = analyse(&m);
        assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
        check_solve(s, &m, 10.0);
        linear_free(s);
        matrix_done(&m);
    }
}

/* A zero column, NaN and Inf are reported with their column; a good matrix afterwards works. */
static void test_singular_column(void **state)
{
    (void)state;
    seed = 9;
    const double poison[] = {0.0, NAN, INFINITY};
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 1; size < SIZES; size++)
            for (int p = 0; p < 3; p++) {
                const int n = sizes[size], bad = random_below(n);
                matrix m = random_matrix(kinds[kind], n);
                for (int j = 0; j < n; j++) m.values[find_element(&m.layout, j, j)] += 8.0;
                double *sick = new_numbers(m.layout.count);
                memcpy(sick, m.values, m.layout.count * sizeof *sick);
                matrix_column c = layout_column(&m.layout, bad);
                for (int k = 0; k < c.count; k++) sick[c.first + (size_t)k] = poison[p];
                linear_solver *s = analyse(&m);
                for (int again = 0; again < 2; again++) {
                    assert_int_equal(linear_factor(s, sick), LINEAR_SINGULAR);
                    if (p == 0) assert_int_equal(s->singular_column, bad);
                    assert_in_range(s->singular_column, 0, n - 1);
                    assert_true(s->ops->condition(s) == 0.0);
                    assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
                    assert_int_equal(s->singular_column, -1);
                    check_solve(s, &m, 100.0);
                }
                linear_free(s);
                free(sick);
                matrix_done(&m);
            }
}

/* One NaN anywhere in the matrix is never taken for a success. */
static void test_single_nan(void **state)
{
    (void)state;
    seed = 10;
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++) {
            const int n = sizes[size];
            matrix m = random_matrix(kinds[kind], n);
            linear_solver *s = analyse(&m);
            for (int round = 0; round < 20; round++) {
                matrix_column c = layout_column(&m.layout, random_below(n));
                if (c.count == 0) continue;
                double *v = &m.values[c.first + (size_t)random_below(c.count)], old = *v;
                *v = round % 2 ? NAN : -INFINITY;
                assert_int_equal(linear_factor(s, m.values), LINEAR_SINGULAR);
                *v = old;
            }
            linear_free(s);
            matrix_done(&m);
        }
}

/* Equal rows in small integers: elimination is exact, so the zero pivot is found exactly. */
static void test_singular_by_rank(void **state)
{
    (void)state;
    const double a[9] = {1, 4, 1, 2, 8, 2, 3, 5, 3}; /* columns; rows 0 and 2 equal */
    bool mask[9];
    for (int k = 0; k < 9; k++) mask[k] = true;
    matrix_layout layouts[2];
    assert_true(layout_dense(&layouts[0], 3));
    pattern_from_mask(&layouts[1], 3, mask);
    for (int k = 0; k < 2; k++) {
        linear_solver *s = solver_of(&layouts[k]);
        assert_int_equal(linear_factor(s, a), LINEAR_SINGULAR);
        assert_in_range(s->singular_column, 0, 2);
        linear_free(s);
    }
    layout_free(&layouts[1]);
}

/* A structurally singular pattern: columns 0 and 1 share their only row. */
static void test_singular_structure(void **state)
{
    (void)state;
    int colptr[] = {0, 1, 2, 4}, rowind[] = {1, 1, 0, 2};
    double values[] = {1.0, 2.0, 3.0, 4.0};
    matrix_layout l;
    assert_true(layout_sparse(&l, 3, colptr, rowind));
    linear_solver *s = sparse_way->analyse(&l, NULL);
    assert_non_null(s);
    assert_int_equal(linear_factor(s, values), LINEAR_SINGULAR);
    assert_in_range(s->singular_column, 0, 1);
    linear_free(s);
    layout_free(&l);
}

/* Values that turn the old pivots into a disaster: fresh ones must be chosen, and counted. */
static void test_repivot(void **state)
{
    (void)state;
    bool mask[4] = {true, true, true, true};
    matrix m;
    pattern_from_mask(&m.layout, 2, mask);
    m.values = new_numbers(4);
    linear_solver *s = analyse(&m);
    const double first[] = {1.0, 0.5, 0.25, 1.0}, close[] = {0.9, 0.6, 0.2, 1.1};
    const double tiny[] = {1e-14, 1.0, 1.0, 1.0}, other[] = {1.0, 1e-14, 1.0, 1.0};
    const double zero[] = {0.0, 1.0, 1.0, 0.0};
    const double *sequence[] = {first, close, tiny, close, other, zero};
    const long klu[] = {0, 0, 1, 1, 2, 3}, lists[] = {0, 0, 0, 0, 0, 1}; /* last column first */
    const long *repivots = sparse_way == &linear_sparse ? klu : lists;
    for (int k = 0; k < 6; k++) {
        memcpy(m.values, sequence[k], sizeof first);
        assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
        assert_int_equal(s->repivots, repivots[k]);
        check_solve(s, &m, 50.0);
    }
    linear_free(s);
    matrix_done(&m);
}

/* Random sequences with values changing over many decades, always solved to backward stability */
static void test_refactor_sequence(void **state)
{
    (void)state;
    seed = 11;
    matrix m;
    random_pattern(&m.layout, 40, 5);
    m.values = new_numbers(m.layout.count);
    linear_solver *s = analyse(&m);
    for (int round = 0; round < 200; round++) {
        for (size_t k = 0; k < m.layout.count; k++)
            m.values[k] = random_number() * pow(10.0, (double)(round % 7) * random_number());
        assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
        check_solve(s, &m, 1e7); /* KLU's pivot threshold times the growth limit */
    }
    linear_free(s);
    matrix_done(&m);
}

static void check_condition(const matrix *m)
{
    const int n = m->layout.n;
    const bool measured = !looks_at_memory_alone();
    double *a = to_dense(m), exact = measured ? exact_condition(n, a) : 0.0;
    linear_solver *s = analyse(m);
    if (linear_factor(s, m->values) == LINEAR_OK) {
        double estimate = s->ops->condition(s);
        assert_true(estimate >= 0.99 * exact && (estimate <= 10.0 * exact || !measured));
    }
    linear_free(s);
    free(a);
}

static void test_condition(void **state)
{
    (void)state;
    seed = 12;
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++)
            for (int round = 0; round < 5; round++) {
                matrix m = random_matrix(kinds[kind], sizes[size]);
                if (round % 2) /* something on the diagonal, so that few are singular */
                    for (int j = 0; j < sizes[size]; j++)
                        m.values[find_element(&m.layout, j, j)] += 2.0;
                check_condition(&m);
                matrix_done(&m);
            }
}

/* Hilbert matrices are nearly singular: 1/cond_1 is 2.9e-5 / 2.8e-8 / 1.0e-9 for n = 4, 6, 7 */
static void test_condition_hilbert(void **state)
{
    (void)state;
    const int order[] = {4, 6, 7};
    const double expected[] = {1.0 / 28375.0, 1.0 / 29070279.0, 1.0 / 985194889.72};
    for (int k = 0; k < 3; k++)
        for (int kind = 0; kind < KINDS; kind++) {
            const int n = order[k];
            bool mask[49];
            for (int i = 0; i < 49; i++) mask[i] = true;
            matrix m;
            if (kind == 0) assert_true(layout_dense(&m.layout, n));
            if (kind == 1) assert_true(layout_banded(&m.layout, n, n - 1, n - 1));
            if (kind == 2) pattern_from_mask(&m.layout, n, mask);
            m.values = new_numbers(m.layout.count);
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++)
                    m.values[find_element(&m.layout, i, j)] = 1.0 / (i + j + 1);
            linear_solver *s = analyse(&m);
            assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
            double estimate = s->ops->condition(s);
            assert_true(estimate > 0.9 * expected[k] && estimate < 1.5 * expected[k]);
            linear_free(s);
            matrix_done(&m);
        }
}

/* The kinds agree with each other on one tridiagonal matrix whose solution is known:
 * (-1, 2, -1) x = 1 gives x_i = (i+1)(n-i)/2. */
static void test_kinds_agree(void **state)
{
    (void)state;
    const int n = 200;
    for (int kind = 0; kind < KINDS; kind++) {
        matrix m;
        if (kind == 0) assert_true(layout_dense(&m.layout, n));
        if (kind == 1) assert_true(layout_banded(&m.layout, n, 1, 1));
        if (kind == 2) band_pattern(&m.layout, n, 1, 1);
        m.values = new_numbers(m.layout.count);
        double *b = new_numbers((size_t)n);
        for (int j = 0; j < n; j++) {
            m.values[find_element(&m.layout, j, j)] = 2.0;
            if (j > 0) m.values[find_element(&m.layout, j - 1, j)] = -1.0;
            if (j < n - 1) m.values[find_element(&m.layout, j + 1, j)] = -1.0;
            b[j] = 1.0;
        }
        linear_solver *s = analyse(&m);
        assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
        linear_solve(s, b);
        for (int i = 0; i < n; i++) assert_close(b[i], 0.5 * (i + 1) * (n - i), 1e-8);
        linear_free(s);
        free(b);
        matrix_done(&m);
    }
    linear_free(NULL);
}

/* Grids have wide supernodes: the sparse solver against the band solver on the same matrix, with
 * values that change between factorisations. */
static void test_sparse_grid(void **state)
{
    (void)state;
    seed = 14;
    for (int k = 5; k <= 45; k += 20) {
        const int n = k * k;
        matrix m, band;
        five_point(&m.layout, k);
        m.values = new_numbers(m.layout.count);
        assert_true(layout_banded(&band.layout, n, k, k));
        band.values = new_numbers(band.layout.count);
        double *x = new_numbers((size_t)n), *y = new_numbers((size_t)n);
        linear_solver *s = analyse(&m), *reference = analyse(&band);
        for (int round = 0; round < 3; round++) {
            for (int j = 0; j < n; j++) {
                for (int q = m.layout.colptr[j]; q < m.layout.colptr[j + 1]; q++) {
                    const int i = m.layout.rowind[q];
                    m.values[q] = random_number() + (i == j ? 3.0 : 0.0);
                    band.values[find_element(&band.layout, i, j)] = m.values[q];
                }
                x[j] = y[j] = random_number();
            }
            assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
            assert_int_equal(linear_factor(reference, band.values), LINEAR_OK);
            linear_solve(s, x);
            linear_solve(reference, y);
            for (int i = 0; i < n; i++) assert_close(x[i], y[i], 1e-11);
            double ratio = s->ops->condition(s) / reference->ops->condition(reference);
            assert_true(ratio > 0.3 && ratio < 3.0);
        }
        assert_int_equal(s->repivots, 0);
        linear_free(s);
        linear_free(reference);
        free(x);
        free(y);
        matrix_done(&m);
        matrix_done(&band);
    }
}

/* Block triangular matrices hidden behind permutations, with entries above the blocks */
static void test_sparse_blocks(void **state)
{
    (void)state;
    seed = 16;
    for (int round = 0; round < 40; round++) {
        const int n = 30, size = 1 + round % 7;
        int rows[30], columns[30];
        bool mask[900] = {false};
        for (int i = 0; i < n; i++) rows[i] = columns[i] = i;
        for (int i = n - 1; i > 0; i--) {
            int p = random_below(i + 1), q = random_below(i + 1), t = rows[i];
            rows[i] = rows[p];
            rows[p] = t;
            t = columns[i];
            columns[i] = columns[q];
            columns[q] = t;
        }
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++)
                mask[rows[i] + columns[j] * n] =
                    i / size == j / size || (i < j && random_below(5) == 0);
        matrix m;
        pattern_from_mask(&m.layout, n, mask);
        m.values = new_numbers(m.layout.count);
        linear_solver *s = analyse(&m);
        for (int again = 0; again < 3; again++) {
            for (size_t k = 0; k < m.layout.count; k++) m.values[k] = random_number();
            assert_int_equal(linear_factor(s, m.values), LINEAR_OK);
            check_solve(s, &m, 1e6);
        }
        check_condition(&m);
        linear_free(s);
        matrix_done(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_operations),
        cmocka_unit_test(test_layout_copy_and_bandwidth),
        cmocka_unit_test(test_pattern_check),
        cmocka_unit_test(test_coloring_structured),
        cmocka_unit_test(test_coloring_random),
        cmocka_unit_test(test_coloring_dense_row_and_empty_columns),
        cmocka_unit_test(test_solve_random),
        cmocka_unit_test(test_solve_rows),
        cmocka_unit_test(test_solve_bands),
        cmocka_unit_test(test_solve_badly_scaled),
        cmocka_unit_test(test_solve_permuted),
        cmocka_unit_test(test_singular_column),
        cmocka_unit_test(test_single_nan),
        cmocka_unit_test(test_singular_by_rank),
        cmocka_unit_test(test_singular_structure),
        cmocka_unit_test(test_repivot),
        cmocka_unit_test(test_refactor_sequence),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_condition_hilbert),
        cmocka_unit_test(test_kinds_agree),
        cmocka_unit_test(test_sparse_grid),
        cmocka_unit_test(test_sparse_blocks),
    };
    int failed = cmocka_run_group_tests_name("KLU", tests, NULL, NULL);
    sparse_way = &linear_elimination;
    return failed + cmocka_run_group_tests_name("lists of operations", tests, NULL, NULL);
}
