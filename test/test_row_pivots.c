/* Columns of large sparse matrices that form a regular block: ranks that are known, dependent and
 * nearly dependent rows, groups, and fill that grows with the matrix. */
#include "linalg/row_pivots.h"

#include "base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 40, COLUMNS = 60, ROOM = ROWS * COLUMNS };
static const double ZERO = 1e-12;

typedef struct sparse {
    int rowptr[ROWS + 1], colind[ROOM];
    double values[ROOM];
} sparse;

/* The rows of a dense matrix, scaled to 1 */
static row_pivots_matrix take(sparse *a, int rows, int columns, const double (*A)[COLUMNS])
{
    int at = 0;
    for (int i = 0; i < rows; i++) {
        double most = 0.0;
        a->rowptr[i] = at;
        for (int j = 0; j < columns; j++) most = fmax(most, fabs(A[i][j]));
        for (int j = 0; j < columns; j++) {
            if (A[i][j] == 0.0) continue;
            a->colind[at] = j;
            a->values[at++] = A[i][j] / most;
        }
    }
    a->rowptr[rows] = at;
    return (row_pivots_matrix){.rows = rows,
                               .columns = columns,
                               .rowptr = a->rowptr,
                               .colind = a->colind,
                               .values = a->values};
}

static void random_rows(uint64_t *seed, int rows, int columns, double density, double (*A)[COLUMNS])
{
    memset(A, 0, sizeof(double[ROWS][COLUMNS]));
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++)
            if (fabs(random_number(seed)) < density) A[i][j] = random_number(seed);
        A[i][(7 * i) % columns] += 1.0;
    }
}

/* Rank of some columns, by complete pivoting */
static int dense_rank(int rows, int columns, const double (*A)[COLUMNS], const int *column)
{
    double B[ROWS][COLUMNS];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < columns; k++) B[i][k] = A[i][column ? column[k] : k];
    for (int step = 0; step < rows; step++) {
        int row = step, at = step;
        for (int i = step; i < rows; i++)
            for (int j = step; j < columns; j++)
                if (fabs(B[i][j]) > fabs(B[row][at])) row = i, at = j;
        if (fabs(B[row][at]) < 1e-10) return step;
        for (int j = 0; j < columns; j++) {
            double keep = B[step][j];
            B[step][j] = B[row][j], B[row][j] = keep;
        }
        for (int i = 0; i < rows; i++) {
            double keep = B[i][step];
            B[i][step] = B[i][at], B[i][at] = keep;
        }
        for (int i = step + 1; i < rows; i++)
            for (int j = columns - 1; j >= step; j--)
                B[i][j] -= B[i][step] / B[step][step] * B[step][j];
    }
    return rows;
}

/* Full rank is found where it is, and the block is regular then. */
static void random_ranks(void **state)
{
    (void)state;
    static double A[ROWS][COLUMNS];
    static sparse a;
    uint64_t seed = 3;
    int full = 0, trials = 600;
    for (int trial = 0; trial < trials; trial++) {
        const int rows = 1 + trial % ROWS, columns = rows + trial % 3;
        const double(*B)[COLUMNS] = (const double(*)[COLUMNS])A;
        int pivot[ROWS], row = -1;
        random_rows(&seed, rows, columns, 0.02 + 0.05 * (trial % 5), A);
        row_pivots_matrix m = take(&a, rows, columns, B);
        bool found = row_pivots(&m, ZERO, 1000000, pivot, &row, NULL) == ROW_PIVOTS_FOUND;
        assert_int_equal(found, dense_rank(rows, columns, B, NULL) == rows);
        if (found) assert_int_equal(dense_rank(rows, rows, B, pivot), rows);
        full += found;
    }
    assert_true(full > trials / 4 && full < trials - trials / 20);
}

/* One row is a combination of others: it is seen, or one of those is; a part of 1e-6 in another
 * direction makes it independent again, one of 1e-15 does not. */
static void dependent_rows(void **state)
{
    (void)state;
    static double A[ROWS][COLUMNS];
    static sparse a;
    uint64_t seed = 11;
    for (int trial = 0; trial < 300; trial++) {
        const int rows = 5 + trial % (ROWS - 5), columns = rows + 10;
        const double beside = trial % 3 == 0 ? 0.0 : trial % 3 == 1 ? 1e-15 : 1e-6;
        int pivot[ROWS], row = -1, last = (trial * 3) % rows;
        random_rows(&seed, rows, columns - 1, 0.1, A);
        for (int i = 0; i < rows; i++) A[i][i] += 5.0;
        memset(A[last], 0, sizeof A[last]);
        for (int k = 1; k <= 3; k++)
            for (int j = 0; j < columns; j++) A[last][j] += k * A[(last + k) % rows][j];
        A[last][columns - 1] = beside;
        row_pivots_matrix m = take(&a, rows, columns, (const double(*)[COLUMNS])A);
        row_pivots_status status = row_pivots(&m, ZERO, 1000000, pivot, &row, NULL);
        assert_int_equal(status, beside > 1e-9 ? ROW_PIVOTS_FOUND : ROW_PIVOTS_DEPENDENT);
    }
}

/* Rows of the first group get the columns that they have alone, others what is left. */
static void groups_come_first(void **state)
{
    (void)state;
    static const double A[2][COLUMNS] = {{1.0, 0.9}, {1.0}};
    static sparse a;
    const int late_short[] = {1, 0}, late_long[] = {0, 1};
    int pivot[2], row;
    row_pivots_matrix m = take(&a, 2, 2, A);
    m.group = late_long;
    assert_int_equal(row_pivots(&m, ZERO, 100, pivot, &row, NULL), ROW_PIVOTS_FOUND);
    assert_int_equal(pivot[1], 0);
    assert_int_equal(pivot[0], 1);
    m.group = late_short;
    assert_int_equal(row_pivots(&m, ZERO, 100, pivot, &row, NULL), ROW_PIVOTS_FOUND);
    assert_true(pivot[0] != pivot[1]);
}

/* What counts more is chosen, if it is not much too small. */
static void eager_columns(void **state)
{
    (void)state;
    static const double A[1][COLUMNS] = {{1.0, 0.5, 1e-5}};
    static sparse a;
    const double eager[] = {1.0, 100.0, 100.0};
    int pivot, row;
    row_pivots_matrix m = take(&a, 1, 3, A);
    m.eager = eager;
    assert_int_equal(row_pivots(&m, ZERO, 100, &pivot, &row, NULL), ROW_PIVOTS_FOUND);
    assert_int_equal(pivot, 1);
}

/* A straight chain of n bodies with joints, x_i - x_i-1 = 0, y_i - y_i-1 = (p_i + p_i-1) / 2: the
 * room that is taken. */
static double fill_of_chain(int n)
{
    int *rowptr = malloc((2 * (size_t)n + 1) * sizeof(int)), *colind = malloc(6 * (size_t)n * 8);
    int *pivot = malloc(2 * (size_t)n * sizeof(int)), row, at = 0;
    double *values = malloc(6 * (size_t)n * sizeof(double));
    size_t fill = 0;
    assert_true(rowptr && colind && pivot && values);
    for (int r = 0; r < 2 * n; r++) {
        const int i = r / 2, part = r % 2;
        rowptr[r] = at;
        for (int k = i > 0 ? i - 1 : i; k <= i; k++) {
            colind[at] = 3 * k + part, values[at++] = k < i ? -1.0 : 1.0;
            if (part == 1) colind[at] = 3 * k + 2, values[at++] = -0.5;
        }
    }
    rowptr[2 * n] = at;
    row_pivots_matrix m = {
        .rows = 2 * n, .columns = 3 * n, .rowptr = rowptr, .colind = colind, .values = values};
    assert_int_equal(row_pivots(&m, ZERO, 100000000, pivot, &row, &fill), ROW_PIVOTS_FOUND);
    free(rowptr), free(colind), free(pivot), free(values);
    return (double)fill;
}

static void fill_grows_with_the_chain(void **state)
{
    (void)state;
    double small = fill_of_chain(500), large = fill_of_chain(8000);
    assert_true(log(large / small) / log(16.0) < 1.15);
}

/* Rows with one column in common and one of their own, half as large: solved for their own ones,
 * they need no more room. */
static void fewest_rows_first(void **state)
{
    (void)state;
    static double A[ROWS][COLUMNS];
    static sparse a;
    int pivot[ROWS], row;
    size_t fill = 0;
    for (int i = 0; i < ROWS; i++) A[i][0] = 1.0, A[i][i + 1] = 0.5;
    row_pivots_matrix m = take(&a, ROWS, ROWS + 1, (const double(*)[COLUMNS])A);
    assert_int_equal(row_pivots(&m, ZERO, 1000000, pivot, &row, &fill), ROW_PIVOTS_FOUND);
    for (int i = 0; i < ROWS; i++) assert_true(pivot[i] == i + 1 || pivot[i] == 0);
    assert_int_equal(fill, 2 * ROWS);
}

/* A column that came into a row is solved for only where none of its own is large enough. */
static void own_columns_first(void **state)
{
    (void)state;
    static const double A[4][COLUMNS] = {{1.0, 0.05},
                                         {1.0, 0.0, 0.05, 0.05},
                                         {0.0, 0.0, 1.0, 0.5, 1.0, 1.0},
                                         {0.0, 0.0, 1.0, 0.9, 1.0, 0.0, 1.0}};
    static sparse a;
    int pivot[4], row;
    row_pivots_matrix m = take(&a, 4, 7, A);
    assert_int_equal(row_pivots(&m, ZERO, 1000, pivot, &row, NULL), ROW_PIVOTS_FOUND);
    assert_int_equal(pivot[0], 0);
    assert_true(pivot[1] == 2 || pivot[1] == 3);
}

/* No room: that is told, and nothing else happens. */
static void bounded(void **state)
{
    (void)state;
    static double A[ROWS][COLUMNS];
    static sparse a;
    uint64_t seed = 5;
    int pivot[ROWS], row;
    random_rows(&seed, ROWS, COLUMNS, 0.1, A);
    row_pivots_matrix m = take(&a, ROWS, COLUMNS, (const double(*)[COLUMNS])A);
    assert_int_equal(row_pivots(&m, ZERO, (size_t)m.rowptr[ROWS] + 10, pivot, &row, NULL),
                     ROW_PIVOTS_FILLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ranks),
        cmocka_unit_test(dependent_rows),
        cmocka_unit_test(groups_come_first),
        cmocka_unit_test(eager_columns),
        cmocka_unit_test(fill_grows_with_the_chain),
        cmocka_unit_test(fewest_rows_first),
        cmocka_unit_test(own_columns_first),
        cmocka_unit_test(bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
