#include "linalg/rank.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "linalg/sparse_order.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A QR factorisation of this size takes about 10 ms; full blocks are taken densely up to the next
 * one (some seconds), since a sparse factorisation of them would be no faster. */
enum { DENSE_SIZE = 300, FULL_SIZE = 2000 };

bool rank_is_dense(int n, size_t entries)
{
    return n <= DENSE_SIZE || (n <= FULL_SIZE && entries > (size_t)n * (size_t)n / 8);
}

/* ---- dense ---------------------------------------------------------------------------------- */

bool rank_work_new(rank_work *w, int n)
{
    double best = 0.0, none = 0.0;
    int pivot = 0;
    const int size = n > 0 ? n : 1;
    *w = (rank_work){.capacity = n};
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, size, size, &none, size, &pivot, &none, &best, -1);
    w->work_size = (int)best > 3 * size + 1 ? (int)best : 3 * size + 1;
    return SHARED_BLOCK(SHARE(w->R, (size_t)size * (size_t)size), SHARE(w->tau, size),
                        SHARE(w->pivot, size), SHARE(w->work, w->work_size),
                        SHARE(w->integers, size));
}

void rank_work_free(rank_work *w)
{
    dae_free(w->R);
    *w = (rank_work){0};
}

/* The number of leading |r_kk| above tolerance |r_11|; with a condition below the tolerance one
 * less than n at most. */
static int rank_of_triangle(const rank_work *w, double tolerance, double condition)
{
    const int n = w->n;
    const size_t step = (size_t)n + 1;
    int rank = 0;
    if (condition >= tolerance) return n;
    while (rank < n && fabs(w->R[(size_t)rank * step]) > tolerance * fabs(w->R[0])) rank++;
    return rank < n ? rank : n - 1;
}

/* Up to this size norms of inverses take less time than estimates of them. */
enum { SMALL_SIZE = 16 };

/* 1 / (|R| |R^-1|) in the 1-norm, 0 where R^-1 is none; x: room for n */
static double triangle_condition(int n, const double *R, double *x)
{
    double norm = 0.0, inverse = 0.0;
    for (int k = 0; k < n; k++) { /* R x = e_k */
        double size = 0.0, sum = 0.0;
        for (int i = 0; i <= k; i++) size += fabs(R[i + k * n]);
        for (int i = 0; i < k; i++) x[i] = 0.0;
        x[k] = 1.0;
        for (int j = k; j >= 0; j--) {
            const double *column = R + j * n;
            const double t = x[j] /= column[j];
            sum += fabs(t);
            for (int i = 0; i < j; i++) x[i] -= t * column[i];
        }
        if (!isfinite(sum)) return 0.0;
        norm = size > norm ? size : norm;
        inverse = sum > inverse ? sum : inverse;
    }
    return 1.0 / norm / inverse;
}

int rank_dense(rank_work *w, int n, const double *A, double tolerance, double *condition)
{
    w->n = n;
    *condition = 1.0;
    if (n == 0) return w->rank = 0;
    memcpy(w->R, A, (size_t)n * (size_t)n * sizeof *A);
    memset(w->pivot, 0, (size_t)n * sizeof *w->pivot);
    lapack_enter();
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, n, n, w->R, n, w->pivot, w->tau, w->work, w->work_size);
    if (n <= SMALL_SIZE)
        *condition = triangle_condition(n, w->R, w->work);
    else
        LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', n, w->R, n, condition, w->work,
                            w->integers);
    lapack_leave();
    return w->rank = rank_of_triangle(w, tolerance, *condition);
}

/* v := v / (its component of largest modulus) */
static void normalise(int n, double *v)
{
    double largest = v[vector_argmax(n, v, NULL)];
    if (largest == 0.0) return;
    for (int i = 0; i < n; i++) v[i] /= largest;
}

void rank_null_vector(const rank_work *w, int k, double *v)
{
    const int n = w->n, r = w->rank;
    const size_t step = (size_t)n;
    double *x = w->work;
    for (int i = r - 1; i >= 0; i--) {
        const double *row = w->R + i;
        double sum = -row[(size_t)(r + k) * step];
        for (int j = i + 1; j < r; j++) sum -= row[(size_t)j * step] * x[j];
        x[i] = sum / row[(size_t)i * step];
    }
    vector_zero(n, v);
    for (int i = 0; i < r; i++) v[w->pivot[i] - 1] = x[i];
    v[w->pivot[r + k] - 1] = 1.0;
    normalise(n, v);
}

/* ---- scaling -------------------------------------------------------------------------------- */

/* From the exponent as it stands in the bits; numbers without one of their own take the long way.
 */
double rank_half_scale(double size)
{
    enum { BIAS = 1023, ALL = 2047, FRACTION = 52 };
    uint64_t bits;
    int exponent;
    if (!(size > 0.0)) return 1.0;
    memcpy(&bits, &size, sizeof bits);
    const int stored = (int)(bits >> FRACTION);
    if (stored > 0 && stored < ALL) {
        const int e = stored - BIAS, half = (e < 0 ? e - 1 : e + 1) / 2; /* away from zero */
        bits = (uint64_t)(BIAS - half) << FRACTION;
        memcpy(&size, &bits, sizeof size);
        return size;
    }
    frexp(size, &exponent);
    return ldexp(1.0, -(int)lround((exponent - 1) / 2.0));
}

/* One sweep; whether nothing had to be done. */
static bool equilibrate_once(const matrix_layout *layout, double *values, double *row,
                             double *column, double *most)
{
    const int n = layout->n;
    bool settled = true;
    matrix_extents(layout, values, most, most + n);
    for (int i = 0; i < n; i++) {
        double r = rank_half_scale(most[i]), c = rank_half_scale(most[n + i]);
        settled = settled && r == 1.0 && c == 1.0;
        row[i] *= most[i] = r;
        column[i] *= most[n + i] = c;
    }
    for (int j = 0; j < n; j++)
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            values[k] *= most[layout->rowind[k]] * most[n + j];
    return settled;
}

void rank_equilibrate(const matrix_layout *layout, double *values, double *row, double *column,
                      double *most)
{
    const int sweeps = 12; /* each takes half of what is left of the exponents */
    for (int i = 0; i < layout->n; i++) row[i] = column[i] = 1.0;
    for (int k = 0; k < sweeps; k++)
        if (equilibrate_once(layout, values, row, column, most)) return;
}

/* ---- null spaces ---------------------------------------------------------------------------- */

void null_space_free(null_space *s)
{
    dae_free_all(s->right, s->left);
    *s = (null_space){0};
}

static bool null_space_alloc(null_space *s, int n, int count)
{
    *s = (null_space){.n = n, .count = count};
    s->right = DAE_ARRAY(double, (size_t)n *(size_t)count);
    s->left = DAE_ARRAY(double, (size_t)n *(size_t)count);
    return s->right && s->left;
}

/* The matrix, or its transpose, with all its zeros. */
static void fill_dense(const matrix_layout *layout, const double *values, bool transposed,
                       double *A)
{
    const size_t n = (size_t)layout->n;
    memset(A, 0, n * n * sizeof *A);
    for (size_t j = 0; j < n; j++)
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++) {
            size_t i = (size_t)layout->rowind[k];
            A[transposed ? j + i * n : i + j * n] = values[k];
        }
}

static bool null_space_dense(null_space *s, const matrix_layout *layout, const double *values,
                             double tolerance)
{
    const int n = layout->n;
    rank_work w = {0};
    double *A = DAE_ARRAY(double, (size_t)n *(size_t)n), condition;
    bool ok = A && rank_work_new(&w, n);
    if (ok) {
        fill_dense(layout, values, false, A);
        ok = null_space_alloc(s, n, n - rank_dense(&w, n, A, tolerance, &condition));
    }
    for (int k = 0; ok && k < s->count; k++)
        rank_null_vector(&w, k, s->right + (size_t)k * (size_t)n);
    if (ok && s->count > 0) {
        fill_dense(layout, values, true, A);
        rank_dense(&w, n, A, tolerance, &condition);
        w.rank = n - s->count;
        for (int k = 0; k < s->count; k++) rank_null_vector(&w, k, s->left + (size_t)k * (size_t)n);
    }
    if (!ok) null_space_free(s);
    rank_work_free(&w);
    dae_free(A);
    return ok;
}

/* ---- large sparse blocks: A v = lambda D v near lambda = 0 ----------------------------------- */

/* B = A + delta D, D a diagonal of numbers between 1 and 2 that have nothing to do with A: then B
 * is regular and A's null vectors are what the iteration v := B^-1 D v keeps. */
typedef struct shifted {
    const matrix_layout *layout; /* borrowed */
    const double *given;         /* A; borrowed */
    double *values, *diagonal;   /* B, D; owned */
    double *work;                /* n, owned */
    double tolerance;            /* |A v| up to it is zero */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
} shifted;

static const double SHIFT = 1e-8; /* about the root of the precision */

static void shifted_free(shifted *b)
{
    if (b->numeric) klu_free_numeric(&b->numeric, &b->common);
    if (b->symbolic) klu_free_symbolic(&b->symbolic, &b->common);
    dae_free_all(b->values, b->diagonal, b->work);
}

/* Numbers in [0, 1), the same on every machine: a linear congruence modulo 2^32. */
static double next_random(unsigned *state)
{
    *state = (*state * 1664525u + 1013904223u) & 0xffffffffu;
    return *state / 4294967296.0;
}

static bool shifted_new(shifted *b, const matrix_layout *layout, const double *values,
                        double tolerance)
{
    unsigned state = 1u;
    const int n = layout->n;
    *b = (shifted){.layout = layout, .given = values, .tolerance = tolerance};
    klu_defaults(&b->common);
    b->values = dae_copy(values, layout->count, sizeof *values);
    b->diagonal = DAE_ARRAY(double, n);
    b->work = DAE_ARRAY(double, n);
    if (!b->values || !b->diagonal || !b->work) return false;
    for (int j = 0; j < n; j++) {
        b->diagonal[j] = 1.0 + next_random(&state);
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            if (layout->rowind[k] == j) b->values[k] += SHIFT * b->diagonal[j];
    }
    b->symbolic = sparse_order(layout, b->values, &b->common);
    if (b->symbolic)
        b->numeric = klu_factor(layout->colptr, layout->rowind, b->values, b->symbolic, &b->common);
    return b->numeric && b->common.status == KLU_OK;
}

/* v := v - sum (v, basis_k) basis_k / (basis_k, basis_k), so that v brings something new */
static void orthogonalise(int n, int count, const double *basis, double *v)
{
    for (int k = 0; k < count; k++) {
        const double *u = basis + (size_t)k * (size_t)n;
        double dot = 0.0, square = 0.0;
        for (int i = 0; i < n; i++) {
            dot += u[i] * v[i];
            square += u[i] * u[i];
        }
        if (square > 0.0) vector_axpy(n, -dot / square, u, v);
    }
}

/* max_i |A v|_i, or of A'v */
static double residual(const shifted *b, bool left, const double *v)
{
    double most = 0.0;
    const matrix_layout *layout = b->layout;
    if (!left) {
        matrix_multiply(layout, b->given, v, b->work);
        return fabs(b->work[vector_argmax(layout->n, b->work, NULL)]);
    }
    for (int j = 0; j < layout->n; j++) {
        double sum = 0.0;
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            sum += b->given[k] * v[layout->rowind[k]];
        if (fabs(sum) > most) most = fabs(sum);
    }
    return most;
}

/* v := B^-1 D v, normalised and apart from those found */
static void iterate_once(shifted *b, bool left, int found, const double *basis, double *v)
{
    const int n = b->layout->n;
    for (int i = 0; i < n; i++) v[i] *= b->diagonal[i];
    if (left)
        klu_tsolve(b->symbolic, b->numeric, n, 1, v, &b->common);
    else
        klu_solve(b->symbolic, b->numeric, n, 1, v, &b->common);
    orthogonalise(n, found, basis, v);
    normalise(n, v);
}

/* One vector from a random start; false if there is no further one. */
static bool iterate_null(shifted *b, bool left, int found, const double *basis, double *v)
{
    const int n = b->layout->n, least = 4, most = 10;
    unsigned state = 7u + (unsigned)found;
    for (int i = 0; i < n; i++) v[i] = next_random(&state) - 0.5;
    for (int k = 1; k <= most; k++) {
        iterate_once(b, left, found, basis, v);
        if (!vector_finite(n, v)) return false;
        if (k >= least && residual(b, left, v) <= b->tolerance) return true;
    }
    return false;
}

static int iterate_all(shifted *b, bool left, int most, double *basis)
{
    int found = 0;
    while (found < most &&
           iterate_null(b, left, found, basis, basis + (size_t)found * (size_t)b->layout->n))
        found++;
    return found;
}

static bool null_space_sparse(null_space *s, const matrix_layout *layout, const double *values,
                              double tolerance, int most)
{
    shifted b;
    bool ok = shifted_new(&b, layout, values, tolerance) || b.common.status == KLU_SINGULAR;
    ok = ok && null_space_alloc(s, layout->n, most);
    if (ok && b.numeric && b.common.status == KLU_OK) {
        int right = iterate_all(&b, false, most, s->right);
        int left = iterate_all(&b, true, most, s->left);
        s->count = right < left ? right : left;
    } else if (ok) {
        s->count = 0;
    }
    if (!ok) null_space_free(s);
    shifted_free(&b);
    return ok;
}

bool null_space_new(null_space *s, const matrix_layout *layout, const double *values,
                    double tolerance, int most)
{
    *s = (null_space){0};
    if (rank_is_dense(layout->n, layout->count))
        return null_space_dense(s, layout, values, tolerance);
    return null_space_sparse(s, layout, values, tolerance, most);
}
