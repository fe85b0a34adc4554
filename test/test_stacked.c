/* [E; g_x] x' = [f; -g_t]: each component has digits of its own, whatever the sizes of the others.
 *
 * The matrix is that of a net of nanofarads and gigaohms: voltages change by 1e-8 a second and
 * currents by 1e2. The errors of a factorisation are as large as rounding of the largest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "forms/stacked.h"

enum { N = 6, NE = 3, NG = 3, MOST_NETS = 20 };

typedef struct entry {
    int row, column;
    double value;
} entry;

/* i3, i5, i6, v1, v2, v3 */
static const double RATES[N] = {312.5, -41.0, 29.0, 1.25e-8, -3.5e-9, 7.0e-9};
static const entry E_OF_NET[] = {{1, 2, 1.36e-7}, {0, 3, 2.7e10}, {2, 4, 1.8e10}, {0, 5, -2.7e10}};
static const entry G_OF_NET[] = {{1, 0, 1.0},   {2, 0, -1.0},  {0, 1, 1.0},    {2, 1, -1.0},
                                 {1, 2, 1.0},   {2, 2, -1.0},  {1, 3, 8.76e9}, {0, 4, -6.8e9},
                                 {0, 5, 6.8e9}, {2, 5, 2.37e8}};
enum { E_COUNT = sizeof E_OF_NET / sizeof *E_OF_NET, G_COUNT = sizeof G_OF_NET / sizeof *G_OF_NET };

typedef struct part {
    int colptr[MOST_NETS * N + 1], rowind[MOST_NETS * G_COUNT];
    double values[MOST_NETS * G_COUNT];
    form_matrix matrix;
} part;

/* Nets beside each other; right[i] is what the rates make of row i. */
static void fill(part *p, int nets, int rows, const entry *e, int count, double *right)
{
    long double sum[MOST_NETS * NG] = {0.0L};
    int at = 0;
    for (int j = 0; j < nets * N; j++) {
        for (int k = 0; k < count; k++) {
            const int i = j / N * rows + e[k].row;
            if (e[k].column != j % N) continue;
            p->rowind[at] = i;
            p->values[at++] = e[k].value;
            sum[i] += (long double)e[k].value * RATES[j % N];
        }
        p->colptr[j + 1] = at;
    }
    for (int i = 0; i < nets * rows; i++) right[i] = (double)sum[i];
    p->matrix = (form_matrix){nets * rows, nets * N, p->colptr, p->rowind, (size_t)at, .block = 0};
}

static void solve_nets(int nets)
{
    static part E, g_x;
    double right[MOST_NETS * (NE + NG)], xp[MOST_NETS * N];
    int undetermined;
    fill(&E, nets, NE, E_OF_NET, E_COUNT, right);
    fill(&g_x, nets, NG, G_OF_NET, G_COUNT, right + nets * NE);
    quasilinear_form form = {.n = nets * N, .ne = nets * NE, .ng = nets * NG};
    form.E_matrix = E.matrix;
    form.g_x_matrix = g_x.matrix;
    stacked *s = stacked_new(&form);
    assert_non_null(s);
    for (int i = 0; i < nets * (NE + NG); i++) stacked_right(s)[i] = right[i];
    assert_int_equal(stacked_solve(s, E.values, g_x.values, xp, &undetermined), STACKED_OK);
    for (int j = 0; j < nets * N; j++) {
        const double off = fabs(xp[j] - RATES[j % N]) / fabs(RATES[j % N]);
        if (!(off < 1e-13)) fail_msg("%d nets: rate %d is off by %.1e of it", nets, j, off);
    }
    assert_int_equal(stacked_is_sparse(s), nets > 1);
    stacked_free(s);
}

static void digits_dense(void **state)
{
    (void)state;
    solve_nets(1);
}

static void digits_sparse(void **state)
{
    (void)state;
    solve_nets(MOST_NETS);
}

/* A row that is the sum of others, with another right-hand side: least squares, and no rank is
 * lost; without it one is. */
static void rank_and_compromise(void **state)
{
    (void)state;
    int undetermined;
    double E[] = {1.0, 0.0, 0.0, 1.0}, g_x[] = {1.0, 1.0}, xp[2];
    quasilinear_form form = {.n = 2, .ne = 2, .ng = 1};
    form.E_matrix = (form_matrix){.rows = 2, .columns = 2, .count = 4};
    form.g_x_matrix = (form_matrix){.rows = 1, .columns = 2, .count = 2};
    stacked *s = stacked_new(&form);
    assert_non_null(s);
    const double right[] = {1.0, 2.0, 3.3};
    for (int i = 0; i < 3; i++) stacked_right(s)[i] = right[i];
    assert_int_equal(stacked_solve(s, E, g_x, xp, &undetermined), STACKED_OK);
    assert_true(fabs(xp[0] - 1.1) < 1e-14 && fabs(xp[1] - 2.1) < 1e-14);
    E[3] = 0.0; /* and g_x sees x'_0 alone */
    g_x[1] = 0.0;
    assert_int_equal(stacked_solve(s, E, g_x, xp, &undetermined), STACKED_DEFICIENT);
    assert_int_equal(undetermined, 1);
    stacked_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digits_dense),
                                       cmocka_unit_test(digits_sparse),
                                       cmocka_unit_test(rank_and_compromise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
