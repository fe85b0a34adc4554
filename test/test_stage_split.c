/* Stages of a step that are alike, solved by systems of one stage: against one matrix of all of
 * them, on every layout, forth and transposed; factors are kept for the same equations alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "solve/sensitivity/stage_split.h"
#include "solve/sensitivity/stage_system.h"

enum { N = 30, MOST = N * COLLOCATION_STAGES };

/* Three diagonals and, if they fit, more: not symmetric; every fifth row has no slope. */
static double entry(int i, int j, bool slope)
{
    if (slope) return i == j && i % 5 != 0 ? 1.0 + 0.1 * i : i == j + 1 && i % 5 == 2 ? 0.3 : 0.0;
    return i == j ? 3.0 + 0.2 * i : i == j + 1 ? -1.0 : i + 1 == j ? 0.5 + 0.01 * i : 0.0;
}

static void lay_out(matrix_layout *layout, dae_structure kind)
{
    int colptr[N + 1] = {0}, rowind[3 * N], count = 0;
    *layout = (matrix_layout){0};
    for (int j = 0; j < N; j++) {
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < N) rowind[count++] = i;
        colptr[j + 1] = count;
    }
    assert_true(kind == DAE_STRUCTURE_DENSE    ? layout_dense(layout, N)
                : kind == DAE_STRUCTURE_BANDED ? layout_banded(layout, N, 1, 1)
                                               : layout_sparse(layout, N, colptr, rowind));
}

static void fill(const matrix_layout *layout, bool slope, double *values)
{
    memset(values, 0, layout->count * sizeof *values);
    for (int j = 0; j < N; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++)
            values[column.first + (size_t)k] = entry(column_row(&column, k), j, slope);
    }
}

/* x = M^-1 b or M^-T b by one matrix of all stages, whose rows with slopes are multiplied by h. */
static void solve_at_once(const matrix_layout *layout, const collocation *m, double h,
                          bool transposed, const double *fy, const double *fyp, double *x)
{
    stage_system *q = stage_system_new(N, m->stages, layout->count, 0, transposed);
    assert_non_null(q);
    for (int a = 0; a < m->stages; a++) {
        memcpy(q->fy + (size_t)a * layout->count, fy, layout->count * sizeof *fy);
        memcpy(q->fyp + (size_t)a * layout->count, fyp, layout->count * sizeof *fyp);
    }
    assert_int_equal(stage_system_factor(q, layout, m, h), LINEAR_OK);
    for (int i = 0; !transposed && i < N * m->stages; i++) x[i] *= q->sloped[i % N] ? h : 1.0;
    linear_solve(q->solver, x);
    for (int i = 0; transposed && i < N * m->stages; i++) x[i] *= q->sloped[i % N] ? h : 1.0;
    stage_system_free(q);
}

/* Both ways agree; `anew`: factors are to be made. */
static void compare(stage_split *q, const matrix_layout *layout, const collocation *m, double h,
                    bool transposed, const double *fy, const double *fyp, bool anew)
{
    double x[MOST], exact[MOST], work[MOST], most = 0.0, error = 0.0;
    bool made;
    for (int i = 0; i < N * m->stages; i++) x[i] = exact[i] = sin(1.0 + 3.0 * i);
    solve_at_once(layout, m, h, transposed, fy, fyp, exact);
    assert_int_equal(stage_split_factor(q, fy, fyp, h, &made), LINEAR_OK);
    assert_true(made == anew);
    stage_split_solve(q, x, work);
    for (int i = 0; i < N * m->stages; i++) {
        most = fmax(most, fabs(exact[i]));
        error = fmax(error, fabs(x[i] - exact[i]));
    }
    if (error > 1e-11 * most) fail_msg("%d stages, h = %g: off by %g", m->stages, h, error / most);
}

static void test_split(void **state)
{
    (void)state;
    static const dae_structure kinds[] = {DAE_STRUCTURE_DENSE, DAE_STRUCTURE_BANDED,
                                          DAE_STRUCTURE_SPARSE};
    static double fy[N * N], fyp[N * N];
    for (int way = 0; way < 18; way++) {
        const collocation *m = radau_iia(3 + 2 * (way % 3));
        const bool transposed = way / 3 % 2;
        matrix_layout layout;
        lay_out(&layout, kinds[way / 6]);
        stage_split *q = stage_split_new(&layout, m, transposed);
        assert_non_null(q);
        fill(&layout, false, fy);
        fill(&layout, true, fyp);
        compare(q, &layout, m, 0.1, transposed, fy, fyp, true);
        compare(q, &layout, m, 0.1 + 1e-16, transposed, fy, fyp, false);
        compare(q, &layout, m, 0.1 + 1e-10, transposed, fy, fyp, true);
        fy[layout_place(&layout, 3, 4)] = 7.0;
        compare(q, &layout, m, 0.1 + 1e-10, transposed, fy, fyp, true);
        fyp[layout_place(&layout, 3, 3)] = 5.0;
        compare(q, &layout, m, 0.1 + 1e-10, transposed, fy, fyp, true);
        stage_split_free(q);
        layout_free(&layout);
    }
}

/* The real system alone: (F_Y + (gamma/h) F_Y') x = b. */
static void test_filter(void **state)
{
    (void)state;
    static double fy[N * N], fyp[N * N];
    const collocation *m = radau_iia(5);
    const double h = 0.02;
    double x[N], y[N], z[N];
    bool anew;
    matrix_layout layout;
    lay_out(&layout, DAE_STRUCTURE_SPARSE);
    fill(&layout, false, fy);
    fill(&layout, true, fyp);
    stage_split *q = stage_split_new(&layout, m, false);
    assert_non_null(q);
    assert_int_equal(stage_split_factor(q, fy, fyp, h, &anew), LINEAR_OK);
    for (int i = 0; i < N; i++) x[i] = cos(i);
    stage_split_filter(q, x);
    matrix_multiply(&layout, fy, x, y);
    matrix_multiply(&layout, fyp, x, z);
    for (int i = 0; i < N; i++)
        assert_true(fabs(y[i] + m->gamma / h * z[i] - cos(i)) <= 1e-12 * (1.0 + m->gamma / h));
    memset(fyp, 0, sizeof fyp);
    memset(fy, 0, sizeof fy);
    assert_int_equal(stage_split_factor(q, fy, fyp, h, &anew), LINEAR_SINGULAR);
    stage_split_free(q);
    layout_free(&layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_split), cmocka_unit_test(test_filter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
