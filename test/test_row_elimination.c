/* Sparse elimination row by row: kept rows are what dense elimination gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/random.h"
#include "linalg/row_elimination.h"

enum { ROWS = 40, COLUMNS = 60 };

/* A row of U times its pivot is a combination of rows of A: dense elimination by the same pivots
 * leaves the same row. */
static void rows_are_those_of_dense_elimination(void **state)
{
    (void)state;
    static double A[ROWS][COLUMNS];
    uint64_t random = 5;
    row_elimination w;
    assert_true(row_elimination_new(&w, ROWS, COLUMNS, 4 * ROWS));
    for (int i = 0; i < ROWS; i++) {
        int column[4], count = 0;
        double values[4];
        while (count < 4) {
            int j = (int)((random_number(&random) + 1) / 2 * COLUMNS);
            bool twice = false;
            for (int k = 0; k < count; k++) twice |= column[k] == j;
            if (twice) continue;
            column[count] = j;
            A[i][j] = values[count++] = random_number(&random);
        }
        row_elimination_load(&w, 4, column, NULL, values);
        for (int r = 0; r < i; r++) {
            double factor = A[i][w.pivot[r]];
            for (int j = 0; j < COLUMNS; j++) A[i][j] -= factor * A[r][j];
        }
        int pivot = 0;
        for (int j = 0; j < COLUMNS; j++) {
            assert_true(fabs(A[i][j] - w.row[j]) < 1e-9);
            if (fabs(A[i][j]) > fabs(A[i][pivot])) pivot = j;
        }
        double size = A[i][pivot];
        for (int j = 0; j < COLUMNS; j++) A[i][j] /= size;
        assert_true(row_elimination_keep(&w, pivot));
        assert_int_equal(w.taken[pivot], i + 1);
    }
    row_elimination_free(&w);
}

/* A row that depends on others has nothing left; values may be picked by places. */
static void a_dependent_row_vanishes(void **state)
{
    (void)state;
    row_elimination w;
    const double values[] = {9, 1, 2, 3};
    assert_true(row_elimination_new(&w, 3, 3, 6));
    row_elimination_load(&w, 2, (const int[]){0, 1}, (const int[]){1, 2}, values); /* 1 2 0 */
    assert_true(row_elimination_keep(&w, 0));
    row_elimination_load(&w, 2, (const int[]){1, 2}, (const int[]){2, 3}, values); /* 0 2 3 */
    assert_true(row_elimination_keep(&w, 2));
    row_elimination_load(&w, 3, (const int[]){0, 1, 2}, NULL, (const double[]){1, 4, 3});
    for (int j = 0; j < 3; j++) assert_true(w.row[j] == 0);
    row_elimination_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_dense_elimination),
        cmocka_unit_test(a_dependent_row_vanishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
