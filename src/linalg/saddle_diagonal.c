/* Range spaces of small systems with a diagonal mass matrix: S = C M^-1 B', column by column of B
 * and C as they are given, and its inverse by exchanges, for one and two constraints by formulas.
 */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/exchange.h"
#include "linalg/saddle_small.h"

#include <float.h>
#include <math.h>

/* As for exchanges. */
static const double PIVOT_LIMIT = 1e-13;

struct small_range {
    int n, m;
    const int *colptr, *rowind; /* borrowed; NULL: full */
    const double *B, *C;        /* borrowed */
    exchanged S;
    double inverse[4]; /* of S by columns, for full columns and m <= 2 */
    double *weight;    /* 1/M */
    double *moved;     /* M^-1 f */
    double block[];    /* what is pointed to */
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

void small_range_persist(small_range *s, const persist_home *home, persist *p)
{
    PERSIST_STRUCT(p, s, GAPS(small_range, colptr, C), GAP(small_range, S.A),
                   GAPS(small_range, weight, moved));
    PERSIST_ARRAY(p, s->block, s->m * s->m + 2 * s->n);
    persist_within(p, &s->B, home);
    persist_within(p, &s->C, home);
}

void small_range_free(small_range *s)
{
    dae_free(s);
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

/* One constraint: 1/S; 0 if that is no number, else -1 */
static int factor_one(small_range *s)
{
    double sum = 0.0;
    for (int j = 0; j < s->n; j++) sum += s->weight[j] * s->B[j] * s->C[j];
    s->inverse[0] = 1.0 / sum;
    return fabs(sum) >= DBL_MIN && fabs(sum) <= DBL_MAX ? -1 : 0;
}

/* Two: S by columns, then the formula, where the larger entry of the first row is the first pivot
 * and tells the second; the row without one, or -1 */
static int factor_two(small_range *s)
{
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0; /* (a b; c d) */
    for (int j = 0; j < s->n; j++) {
        const double *C = s->C + 2 * j, *B = s->B + 2 * j, w = s->weight[j];
        const double left = w * B[0], right = w * B[1];
        a += C[0] * left, b += C[0] * right;
        c += C[1] * left, d += C[1] * right;
    }
    bool swapped = fabs(b) > fabs(a);
    const double first = swapped ? b : a, scale = fmax(fabs(c), fabs(d));
    if (!(fabs(first) >= DBL_MIN && fabs(first) <= DBL_MAX)) return 0;
    const double second = swapped ? c - a / b * d : d - c / a * b, size = fabs(second);
    if (!(size > PIVOT_LIMIT * scale && size >= DBL_MIN && size <= DBL_MAX)) return 1;
    const double by_det = 1.0 / (swapped ? -first * second : first * second);
    s->inverse[0] = d * by_det, s->inverse[1] = -c * by_det;
    s->inverse[2] = -b * by_det, s->inverse[3] = a * by_det;
    return -1;
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
    if (!s->colptr && s->m == 1) return factor_one(s);
    if (!s->colptr && s->m == 2) return factor_two(s);
    if (s->colptr)
        form_compressed(s);
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

static void solve_one(const small_range *s, double *restrict x, double *restrict lambda)
{
    double r = -lambda[0];
    for (int j = 0; j < s->n; j++) {
        x[j] *= s->weight[j];
        r += s->C[j] * x[j];
    }
    lambda[0] = r *= s->inverse[0];
    for (int j = 0; j < s->n; j++) x[j] -= s->weight[j] * (s->B[j] * r);
}

static void solve_two(const small_range *s, double *restrict x, double *restrict lambda)
{
    const double *restrict inverse = s->inverse;
    double r = -lambda[0], t = -lambda[1];
    for (int j = 0; j < s->n; j++) {
        x[j] *= s->weight[j];
        r += s->C[2 * j] * x[j];
        t += s->C[2 * j + 1] * x[j];
    }
    const double first = inverse[0] * r + inverse[2] * t, second = inverse[1] * r + inverse[3] * t;
    for (int j = 0; j < s->n; j++)
        x[j] -= s->weight[j] * (s->B[2 * j] * first + s->B[2 * j + 1] * second);
    lambda[0] = first;
    lambda[1] = second;
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
        solve_one(s, x, lambda);
    else if (s->m == 2)
        solve_two(s, x, lambda);
    else
        solve_full(s, s->m, x, lambda);
}
