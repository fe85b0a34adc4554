#include "structure/linear/array_rank.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/pencil_parts.h"

bool jacobian_series_new(jacobian_series *s, int n, int count)
{
    *s = (jacobian_series){.n = n,
                           .count = count,
                           .a = DAE_ARRAY(double, n *n *count),
                           .b = DAE_ARRAY(double, n *n *count)};
    if (s->a && s->b) return true;
    jacobian_series_free(s);
    return false;
}

void jacobian_series_free(jacobian_series *s)
{
    dae_free_all(s->a, s->b);
    *s = (jacobian_series){0};
}

bool series_scaling_new(series_scaling *scaling, int n, const double *a, const double *b)
{
    scaled_pencil p;
    *scaling = (series_scaling){.row = DAE_ARRAY(double, n), .column = DAE_ARRAY(double, n)};
    if (!scaling->row || !scaling->column || !scaled_pencil_new(&p, n, a, b)) {
        series_scaling_free(scaling);
        return false;
    }
    scaling->unit = p.beta / p.alpha;
    for (int i = 0; i < n; i++) {
        scaling->row[i] = p.row[i] / p.alpha;
        scaling->column[i] = p.column[i];
    }
    scaled_pencil_free(&p);
    return true;
}

void series_scaling_free(series_scaling *scaling)
{
    dae_free_all(scaling->row, scaling->column);
    *scaling = (series_scaling){0};
}

void jacobian_series_scale(jacobian_series *s, const series_scaling *scaling)
{
    const int n = s->n;
    double power = 1.0;
    for (int l = 0; l < s->count; l++, power *= scaling->unit)
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                const double factor = scaling->row[i] * scaling->column[j] * power;
                s->a[l * n * n + i + j * n] *= factor;
                s->b[l * n * n + i + j * n] *= factor / scaling->unit;
            }
}

void array_jacobian(const jacobian_series *s, int k, double *J)
{
    const int n = s->n, rows = n * (k + 1);
    for (int block = 0; block <= k + 1; block++)
        for (int c = 0; c < n; c++)
            for (int i = 0; i <= k; i++) {
                double *part = J + (block * n + c) * rows + i * n;
                const int l = i - block;
                vector_zero(n, part);
                if (l >= 0) vector_axpy(n, 1.0, s->a + (l * n + c) * n, part);
                if (l >= -1 && block > 0) vector_axpy(n, block, s->b + ((l + 1) * n + c) * n, part);
            }
}

/* Which components of u' vanish on the null space of M. */
static void test_rates(array_level *level, const rank_split *M, double tolerance)
{
    const int rows = M->columns;
    level->full = true;
    for (int j = 0; j < level->n; j++) {
        double most = 0.0;
        for (int c = M->rank; c < M->columns; c++) most = fmax(most, fabs(M->V[j + c * rows]));
        level->rate[j] = most <= sqrt(tolerance);
        level->full = level->full && level->rate[j];
    }
}

/* Z2, then T2 = ker Z2'N, then Z1 = range dF/du' T2. */
static bool test_reduction(array_level *level, const jacobian_series *s, const double *N,
                           double tolerance, double scale)
{
    const int n = level->n, rows = n * (level->k + 1), a = level->a;
    rank_split hidden = {0}, rest = {0};
    double *S = DAE_ARRAY(double, a *n), *BT = DAE_ARRAY(double, n *n);
    bool done = S && BT;
    if (done) dense_multiply_left(a, n, rows, level->Z2, N, S);
    done = done && rank_split_new(&hidden, a, n, S, tolerance, scale, &level->gap);
    if (done) {
        const int free = n - hidden.rank;
        level->a_rank = hidden.rank;
        level->T2 = dae_copy(rank_null(&hidden), (size_t)(n * free), sizeof(double));
        dense_multiply(n, free, n, s->b, rank_null(&hidden), BT);
        done = level->T2 && rank_split_new(&rest, n, free, BT, tolerance, scale, &level->gap);
    }
    if (done) {
        level->d_rank = rest.rank;
        level->reduces = level->a_rank == a && level->d_rank == n - a;
        level->Z1 = dae_copy(rest.U, (size_t)(n * rest.rank), sizeof(double));
        done = level->Z1 != NULL;
    }
    rank_split_free(&hidden);
    rank_split_free(&rest);
    dae_free_all(S, BT);
    return done;
}

bool array_level_new(array_level *level, const jacobian_series *s, int k, double tolerance)
{
    const int n = s->n, rows = n * (k + 1);
    rank_split M = {0};
    *level = (array_level){.n = n, .k = k, .rate = DAE_ARRAY(bool, n), .gap = RANK_GAP_NEW};
    double *J = DAE_ARRAY(double, rows *(rows + n)), scale = 1.0;
    bool done = level->rate && J;
    if (done) {
        array_jacobian(s, k, J);
        scale = fmax(1.0, dense_norm(rows * (rows + n), J) / sqrt(rows));
        done = rank_split_new(&M, rows, rows, J + rows * n, tolerance, scale, &level->gap);
    }
    if (done) {
        level->rank = M.rank;
        level->a = rows - M.rank;
        test_rates(level, &M, tolerance);
        level->Z2 = dae_copy(rank_left_null(&M), (size_t)(rows * level->a), sizeof(double));
        done = level->Z2 && test_reduction(level, s, J, tolerance, scale);
    }
    rank_split_free(&M);
    dae_free(J);
    if (!done) array_level_free(level);
    return done;
}

void array_level_free(array_level *level)
{
    dae_free_all(level->rate, level->Z2, level->T2, level->Z1);
    *level = (array_level){0};
}
