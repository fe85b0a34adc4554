#include "linalg/singular_values.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"

static void identity(int n, double *A)
{
    vector_zero(n * n, A);
    for (int i = 0; i < n; i++) A[i + i * n] = 1.0;
}

/* U, sigma and V' = vt of A, which is destroyed. False: memory, or no convergence. */
static bool decompose(rank_split *s, double *A, double *vt)
{
    const int m = s->rows, n = s->columns;
    double best = 0.0;
    int none = 0;
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'A', m, n, A, m, s->sigma, s->U, m, vt, n, &best, -1,
                        &none);
    double *work = DAE_ARRAY(double, best);
    int *integers = DAE_ARRAY(int, 8 * (m < n ? m : n)), info = -1;
    if (work && integers) {
        lapack_enter();
        info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'A', m, n, A, m, s->sigma, s->U, m, vt, n,
                                   work, (int)best, integers);
        lapack_leave();
    }
    dae_free_all(work, integers);
    return info == 0;
}

/* The number of singular values above tolerance * scale. */
static int count_rank(const rank_split *s, double tolerance, double scale, rank_gap *gap)
{
    const int least = s->rows < s->columns ? s->rows : s->columns;
    if (scale <= 0.0 && least > 0) scale = s->sigma[0];
    if (scale <= 0.0) scale = 1.0;
    int rank = 0;
    while (rank < least && s->sigma[rank] > tolerance * scale) rank++;
    if (gap && rank > 0) gap->kept = fmin(gap->kept, s->sigma[rank - 1] / scale);
    if (gap && rank < least) gap->dropped = fmax(gap->dropped, s->sigma[rank] / scale);
    return rank;
}

bool rank_split_new(rank_split *s, int rows, int columns, const double *A, double tolerance,
                    double scale, rank_gap *gap)
{
    const int count = rows * columns;
    *s = (rank_split){.rows = rows, .columns = columns};
    s->U = DAE_ARRAY(double, rows *rows);
    s->V = DAE_ARRAY(double, columns *columns);
    s->sigma = DAE_ARRAY(double, rows < columns ? rows : columns);
    double *copy = DAE_ARRAY(double, count), *vt = DAE_ARRAY(double, columns *columns);
    bool done = s->U && s->V && s->sigma && copy && vt;
    if (done && count == 0) {
        identity(rows, s->U);
        identity(columns, s->V);
    } else if (done) {
        vector_copy(count, A, copy);
        done = decompose(s, copy, vt);
        if (done) dense_transpose(columns, columns, vt, s->V);
    }
    dae_free_all(copy, vt);
    if (done)
        s->rank = count_rank(s, tolerance, scale, gap);
    else
        rank_split_free(s);
    return done;
}

void rank_split_free(rank_split *s)
{
    dae_free_all(s->U, s->V, s->sigma);
    *s = (rank_split){0};
}

const double *rank_left_null(const rank_split *s)
{
    return s->U + s->rank * s->rows;
}

const double *rank_null(const rank_split *s)
{
    return s->V + s->rank * s->columns;
}

int rank_of(int rows, int columns, const double *A, double tolerance, double scale, rank_gap *gap)
{
    rank_split s;
    if (!rank_split_new(&s, rows, columns, A, tolerance, scale, gap)) return -1;
    int rank = s.rank;
    rank_split_free(&s);
    return rank;
}

void dense_multiply(int m, int n, int k, const double *A, const double *B, double *C)
{
    vector_zero(m * n, C);
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) vector_axpy(m, B[l + j * k], A + l * m, C + j * m);
}

void dense_multiply_left(int m, int n, int k, const double *A, const double *B, double *C)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++) sum += A[l + i * k] * B[l + j * k];
            C[i + j * m] = sum;
        }
}

void dense_transpose(int rows, int columns, const double *A, double *B)
{
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) B[j + i * columns] = A[i + j * rows];
}

double dense_norm(int count, const double *A)
{
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(A[i]));
    if (largest <= 0.0) return 0.0;
    for (int i = 0; i < count; i++) sum += (A[i] / largest) * (A[i] / largest);
    return largest * sqrt(sum);
}
