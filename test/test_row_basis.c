/* Independent rows of sparse matrices, proved by a square part. */
#include "linalg/row_basis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 60, COLUMNS = 90, ENTRIES = 6 * COLUMNS };

typedef struct sparse {
    int colptr[COLUMNS + 1], rowind[ENTRIES];
    double values[ENTRIES];
} sparse;

/* Two diagonals and a third below them, row i of size 1; columns beyond the rows repeat rows. */
static void banded(sparse *a)
{
    int at = 0;
    for (int j = 0; j < COLUMNS; j++) {
        a->colptr[j] = at;
        for (int k = 0; k < 3; k++) {
            int i = (j + 7 * k) % ROWS;
            int place = at;
            while (place > a->colptr[j] && a->rowind[place - 1] > i) {
                a->rowind[place] = a->rowind[place - 1];
                a->values[place] = a->values[place - 1];
                place--;
            }
            a->rowind[place] = i;
            a->values[place] = k == 0 ? 1.0 : 0.4 - 0.1 * k + 0.001 * j;
            at++;
        }
    }
    a->colptr[COLUMNS] = at;
}

static void independent_rows(void **state)
{
    (void)state;
    static sparse a;
    banded(&a);
    assert_int_equal(row_basis(ROWS, COLUMNS, a.colptr, a.rowind, a.values, 1e-7), BASIS_FOUND);
    assert_int_equal(row_basis(ROWS, ROWS, a.colptr, a.rowind, a.values, 1e-7), BASIS_FOUND);
    assert_int_equal(row_basis(ROWS, ROWS - 1, a.colptr, a.rowind, a.values, 1e-7),
                     BASIS_NOT_FOUND);
}

/* A row of zeros, and two rows that are multiples of each other */
static void dependent_rows(void **state)
{
    (void)state;
    static sparse a;
    banded(&a);
    for (int e = 0; e < a.colptr[COLUMNS]; e++)
        if (a.rowind[e] == 11) a.values[e] = 0.0;
    assert_int_equal(row_basis(ROWS, COLUMNS, a.colptr, a.rowind, a.values, 1e-7), BASIS_NOT_FOUND);
    static const int colptr[] = {0, 2, 4, 6, 7};
    static const int rowind[] = {0, 1, 0, 1, 0, 1, 2};
    static const double values[] = {1.0, -0.5, 0.5, -0.25, 0.2, -0.1, 1.0};
    assert_int_equal(row_basis(3, 4, colptr, rowind, values, 1e-7), BASIS_NOT_FOUND);
    static const double others[] = {1.0, -0.5, 0.5, 1.0, 0.2, -0.1, 1.0};
    assert_int_equal(row_basis(3, 4, colptr, rowind, others, 1e-7), BASIS_FOUND);
}

/* All levels of a constraint x_i - x_{i+1}: short columns go to the last level, where they belong
 */
static void levels_of_derivatives(void **state)
{
    (void)state;
    enum { LEVELS = 3, LINKS = 30 };
    static int colptr[LEVELS * (LINKS + 1) + 1], rowind[6 * LEVELS * (LINKS + 1)];
    static double values[6 * LEVELS * (LINKS + 1)];
    int at = 0;
    for (int level = 0; level < LEVELS; level++) /* columns of x, x', x'' */
        for (int j = 0; j <= LINKS; j++) {
            colptr[level * (LINKS + 1) + j] = at;
            for (int l = level; l < LEVELS; l++) /* they appear in that level and above it */
                for (int i = j - 1; i <= j; i++) {
                    if (i < 0 || i >= LINKS) continue;
                    rowind[at] = l * LINKS + i;
                    values[at++] = (l == level ? 1.0 : 0.9) * (i == j ? 1.0 : -1.0);
                }
        }
    colptr[LEVELS * (LINKS + 1)] = at;
    assert_int_equal(row_basis(LEVELS * LINKS, LEVELS * (LINKS + 1), colptr, rowind, values, 1e-7),
                     BASIS_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(independent_rows),
                                       cmocka_unit_test(dependent_rows),
                                       cmocka_unit_test(levels_of_derivatives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
