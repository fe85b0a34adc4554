#include "linalg/least_squares.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"

static int larger(int a, int b)
{
    return a > b ? a : b;
}

bool least_squares_new(least_squares *ls, int max_rows, int max_columns)
{
    const int m = larger(max_rows, 1), n = larger(max_columns, 1), ldb = larger(m, n);
    double best = 0.0, none = 0.0;
    int pivot = 0, rank = 0;
    *ls = (least_squares){.rows = max_rows, .columns = max_columns};
    ls->pivots = DAE_ARRAY(int, n);
    /* a query: nothing but `best` is written */
    LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, m, n, 1, &none, m, &none, ldb, &pivot, 0.0, &rank, &best,
                        -1);
    /* what smaller problems must have grows with their sizes, so this covers all of them */
    int least = (m < n ? m : n) + 3 * n + 1 + 2 * ldb;
    ls->work_size = larger((int)best, least);
    ls->work = DAE_ARRAY(double, ls->work_size);
    if (ls->pivots && ls->work) return true;
    least_squares_free(ls);
    return false;
}

void least_squares_free(least_squares *ls)
{
    dae_free_all(ls->work, ls->pivots);
    *ls = (least_squares){0};
}

/* For `count` right-hand sides B, leading dimension max(rows, columns) > 0 */
static bool solve_all(least_squares *ls, int rows, int columns, int count, double *A, double *B,
                      double rcond)
{
    memset(ls->pivots, 0, (size_t)columns * sizeof *ls->pivots);
    lapack_enter();
    int info = LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, rows, columns, count, A, rows, B,
                                   larger(rows, columns), ls->pivots, rcond, &ls->rank, ls->work,
                                   ls->work_size);
    lapack_leave();
    return info == 0;
}

bool least_squares_solve(least_squares *ls, int rows, int columns, double *A, double *b,
                         double rcond)
{
    ls->rank = 0;
    if (rows == 0 || columns == 0) {
        vector_zero(larger(rows, columns), b);
        return true;
    }
    return solve_all(ls, rows, columns, 1, A, b, rcond);
}

bool least_squares_inverse(least_squares *ls, int rows, int columns, double *A, double *B,
                           double rcond)
{
    const int stride = larger(rows, columns);
    ls->rank = 0;
    vector_zero(stride * rows, B);
    for (int i = 0; i < rows; i++) B[i + i * stride] = 1.0;
    return rows == 0 || columns == 0 || solve_all(ls, rows, columns, rows, A, B, rcond);
}
