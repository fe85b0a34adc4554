/* Range spaces of small systems with a diagonal mass matrix: S = C M^-1 B', column by column of B
 * and C as they are given, and its inverse by exchanges. */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/exchange.h"
#include "linalg/saddle_small.h"

struct small_range {
    int n, m;
    const int *colptr, *rowind; /* borrowed; NULL: full */
    const double *B, *C;        /* borrowed */
    exchanged S;
    double *weight; /* 1/M */
    double *moved;  /* M^-1 f */
    double block[]; /* what is pointed to */
};

bool small_range_fits(int m)
{
    return m > 0 && m <= EXCHANGE_ROWS;
}

small_range *small_range_new(int n, int m, const int *colptr, const int *rowind)
{
    size_t values = (size_t)(m * m) + 2 * (size_t)n;
    small_range *s = dae_calloc(sizeof *s + values * sizeof(double), 1);
    if (!s) return NULL;
    s->n = n;
    s->m = m;
    s->colptr = colptr;
    s->rowind = rowind;
    s->S.A = s->block;
    s->weight = s->S.A + m * m;
    s->moved = s->weight + n;
    for (int j = 0; j < n; j++) s->weight[j] = 1.0;
    return s;
}

void small_range_free(small_range *s)
{
    dae_free(s);
}

double small_range_pivot(const small_range *s)
{
    return s->S.smallest;
}

/* S = sum_j C(:,j) B(:,j)' / M_j, full columns */
static inline void form_full(small_range *s, int m)
{
    double *restrict S = s->S.A;
    vector_zero(m * m, S);
    for (int j = 0; j < s->n; j++) {
        const double *C = s->C + j * m, *B = s->B + j * m;
        for (int k = 0; k < m; k++) {
            const double t = s->weight[j] * B[k];
            if (t == 0.0) continue;
            for (int i = 0; i < m; i++) S[i + k * m] += t * C[i];
        }
    }
}

static void form_compressed(small_range *s)
{
    const int m = s->m;
    double *S = s->S.A;
    vector_zero(m * m, S);
    for (int j = 0; j < s->n; j++)
        for (int k = s->colptr[j]; k < s->colptr[j + 1]; k++) {
            const double t = s->weight[j] * s->B[k];
            double *column = S + s->rowind[k] * m;
            for (int i = s->colptr[j]; i < s->colptr[j + 1]; i++)
                column[s->rowind[i]] += t * s->C[i];
        }
}

int small_range_factor(small_range *s, const double *M, const double *B, const double *C)
{
    for (int j = 0; M && j < s->n; j++) s->weight[j] = 1.0 / M[j];
    s->B = B;
    s->C = C;
    if (s->colptr)
        form_compressed(s);
    else if (s->m == 1)
        form_full(s, 1);
    else if (s->m == 2)
        form_full(s, 2);
    else
        form_full(s, s->m);
    int row = exchange(&s->S, s->m, s->m);
    return row < s->m ? row : -1;
}

/* S lambda = C y - r with y = M^-1 f, x = y - M^-1 B' lambda, full columns */
static inline void solve_full(const small_range *s, int m, double *restrict x,
                              double *restrict lambda)
{
    double *restrict y = s->moved, r[EXCHANGE_ROWS] = {0.0}, at_pivots[EXCHANGE_ROWS];
    for (int i = 0; i < m; i++) r[i] = -lambda[i];
    for (int j = 0; j < s->n; j++) {
        const double t = y[j] = s->weight[j] * x[j];
        for (int i = 0; i < m; i++) r[i] += s->C[i + j * m] * t;
    }
    exchange_solve(&s->S, m, r, at_pivots);
    for (int k = 0; k < m; k++) lambda[s->S.pivot[k]] = at_pivots[k];
    for (int j = 0; j < s->n; j++) {
        double pull = 0.0;
        for (int i = 0; i < m; i++) pull += s->B[i + j * m] * lambda[i];
        x[j] = y[j] - s->weight[j] * pull;
    }
}

static void solve_compressed(const small_range *s, double *restrict x, double *restrict lambda)
{
    const int m = s->m;
    double *restrict y = s->moved, r[EXCHANGE_ROWS] = {0.0}, at_pivots[EXCHANGE_ROWS];
    for (int i = 0; i < m; i++) r[i] = -lambda[i];
    for (int j = 0; j < s->n; j++) {
        y[j] = s->weight[j] * x[j];
        for (int k = s->colptr[j]; k < s->colptr[j + 1]; k++) r[s->rowind[k]] += s->C[k] * y[j];
    }
    exchange_solve(&s->S, m, r, at_pivots);
    for (int k = 0; k < m; k++) lambda[s->S.pivot[k]] = at_pivots[k];
    for (int j = 0; j < s->n; j++) {
        double pull = 0.0;
        for (int k = s->colptr[j]; k < s->colptr[j + 1]; k++)
            pull += s->B[k] * lambda[s->rowind[k]];
        x[j] = y[j] - s->weight[j] * pull;
    }
}

void small_range_solve(small_range *s, double *x, double *lambda)
{
    if (s->colptr)
        solve_compressed(s, x, lambda);
    else if (s->m == 1)
        solve_full(s, 1, x, lambda);
    else if (s->m == 2)
        solve_full(s, 2, x, lambda);
    else
        solve_full(s, s->m, x, lambda);
}
