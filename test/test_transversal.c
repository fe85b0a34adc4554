/* Largest transversals of sparse patterns: as large as BTF's, on random ones too, and found in a
 * time that grows with the entries. */
#include "linalg/transversal.h"

#include "base/random.h"

#include <btf.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 60, MOST_ENTRIES = MOST * MOST };

/* A pattern whose entries are there with this probability */
static int random_pattern(uint64_t *seed, int m, int n, double density, int *colptr, int *rowind)
{
    int at = 0;
    for (int j = 0; j < n; j++) {
        colptr[j] = at;
        for (int i = 0; i < m; i++)
            if (fabs(random_number(seed)) < density) rowind[at++] = i;
    }
    return colptr[n] = at;
}

static bool contains(const int *colptr, const int *rowind, int i, int j)
{
    for (int e = colptr[j]; e < colptr[j + 1]; e++)
        if (rowind[e] == i) return true;
    return false;
}

/* How many rows have a column; each entry is one of the pattern, each column is taken once. */
static int check(int m, int n, const int *colptr, const int *rowind, const int *column_of)
{
    int count = 0;
    bool taken[MOST] = {false};
    for (int i = 0; i < m; i++) {
        if (column_of[i] < 0) continue;
        assert_true(column_of[i] < n && !taken[column_of[i]]);
        assert_true(contains(colptr, rowind, i, column_of[i]));
        taken[column_of[i]] = true;
        count++;
    }
    return count;
}

static void as_large_as_others(void **state)
{
    (void)state;
    uint64_t seed = 7;
    int colptr[MOST + 1], match[MOST], other[MOST], work[5 * MOST], incomplete = 0;
    static int rowind[MOST_ENTRIES];
    for (int trial = 0; trial < 3000; trial++) {
        int m = 1 + trial % MOST, n = 1 + (trial * 7) % MOST;
        double density = 0.5 / (1 + trial % 23), used;
        random_pattern(&seed, m, n, density, colptr, rowind);
        int found = transversal(m, n, colptr, rowind, trial % 2 == 0, match, NULL);
        assert_int_equal(found, btf_maxtrans(m, n, colptr, rowind, 0.0, &used, other, work));
        assert_int_equal(found, check(m, n, colptr, rowind, match));
        incomplete += found < (m < n ? m : n);
    }
    assert_true(incomplete > 300 && incomplete < 2700);
}

/* A diagonal that is there is taken, with `diagonal`. */
static void diagonal_first(void **state)
{
    (void)state;
    enum { N = 50 };
    int colptr[N + 1], rowind[3 * N], match[N], at = 0;
    for (int j = 0; j < N; j++) {
        colptr[j] = at;
        for (int k = -1; k <= 1; k++) rowind[at++] = (j + k + N) % N;
    }
    colptr[N] = at;
    assert_int_equal(transversal(N, N, colptr, rowind, true, match, NULL), N);
    for (int i = 0; i < N; i++) assert_int_equal(match[i], i);
}

/* Steps for the equations of a chain of n rods: rows x_i, y_i and rod i; unknowns x_i, y_i and
 * forces, where rod i has no force and rows x_i, y_i have those of rods i and i + 1. The columns
 * come in an order that lets every path run along the chain. */
static double steps_of_chain(int n)
{
    const int size = 3 * n;
    int *colptr = malloc(((size_t)size + 1) * sizeof(int)), *rowind = malloc((size_t)size * 16);
    int *match = malloc((size_t)size * sizeof(int)), at = 0;
    long steps = 0;
    assert_true(colptr && rowind && match);
    for (int k = 0; k < size; k++) {
        const int part = k / n, i = k % n;
        colptr[k] = at;
        if (part == 0 && i > 0) rowind[at++] = i - 1; /* force i in rows x_i-1, y_i-1, x_i, y_i */
        if (part == 0) rowind[at++] = i;
        if (part == 0 && i > 0) rowind[at++] = n + i - 1;
        if (part == 0) rowind[at++] = n + i;
        if (part > 0) rowind[at++] = (part - 1) * n + i; /* x_i in row x_i, rods i and i + 1 */
        if (part > 0) rowind[at++] = 2 * n + i;
        if (part > 0 && i + 1 < n) rowind[at++] = 2 * n + i + 1;
    }
    colptr[size] = at;
    assert_int_equal(transversal(size, size, colptr, rowind, true, match, &steps), size);
    free(colptr), free(rowind), free(match);
    return (double)steps;
}

static void linear_on_chains(void **state)
{
    (void)state;
    double small = steps_of_chain(1000), large = steps_of_chain(16000);
    assert_true(log(large / small) / log(16.0) < 1.1);
    assert_true(small < 60.0 * 3000.0);
}

/* A tree whose nodes are rows and columns by turns, leaves first: entries without a choice are all
 * there is to do, and each is looked at a few times. */
static void trees_need_no_paths(void **state)
{
    (void)state;
    enum { N = 20000 };
    int *colptr = calloc(N + 1, sizeof(int)), *rowind = calloc(2 * N, sizeof(int));
    int *match = calloc(N, sizeof(int));
    uint64_t seed = 19;
    long steps = 0;
    assert_true(colptr && rowind && match);
    for (int j = 0; j < N; j++) { /* it joins row N - 1 - j to one of those before */
        const int row = N - 1 - j, before = (int)(fabs(random_number(&seed)) * row);
        colptr[j + 1] = colptr[j];
        if (before < row) rowind[colptr[j + 1]++] = before;
        rowind[colptr[j + 1]++] = row;
    }
    assert_int_equal(transversal(N, N, colptr, rowind, false, match, &steps), N);
    assert_true((double)steps < 4.0 * colptr[N]);
    free(colptr), free(rowind), free(match);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_large_as_others),
        cmocka_unit_test(diagonal_first),
        cmocka_unit_test(linear_on_chains),
        cmocka_unit_test(trees_need_no_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
