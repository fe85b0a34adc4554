/* Small matrices: complete orthogonal factorisation A P = Q [T 0; 0 0] Z [GVL13 5.4.7], or with
 * damping the Cholesky factors of A A' + mu I.
 *
 * Large ones: LU of the augmented matrix  [ I  A' ; A  -delta I ]  [Bjo96 2.5.3]. It is quasidefinite,
 * so that every symmetric pivot order exists [Van95]; delta keeps it away from singularity where
 * rows depend on each other, and refinement against the equations with delta = 0 takes its
 * influence out again: errors along a singular value s fall by delta/(s^2 + delta) in every sweep. */
#include "linalg/kkt.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"

#include <float.h>

/* Up to this many entries (350 x 350, say) the dense factorisation takes less than 50 ms. */
static const long DENSE_ENTRIES = 120000;
/* Two regularisations: one that survives dependent rows, and one for independent rows with singular
 * values too small for the first. */
static const double DELTA = 1e-9, DELTA_SMALL = 1e-14;
enum { SWEEPS = 8 };

struct kkt {
    int m, n;
    const int *colptr, *rowind; /* borrowed */
    const double *values;       /* borrowed */
    double damping, delta;
    bool factored; /* sparse: the augmented matrix has usable factors */
    int rank;
    /* dense */
    double *matrix, *tau, *tau_z, *work, *vector;
    int *pivot, work_size;
    /* sparse */
    matrix_layout layout;
    linear_solver *solver;
    double *augmented; /* values */
    int *place;        /* of the entries of A' in the augmented matrix */
    double *b, *residual, *x, *best;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

void kkt_free(kkt *k)
{
    if (!k) return;
    linear_free(k->solver);
    layout_free(&k->layout);
    void *const blocks[] = {k->matrix, k->tau,      k->tau_z, k->work, k->vector, k->pivot,
                            k->place,  k->residual, k->x,     k->best, k->b,      k->augmented};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) dae_free(blocks[i]);
    dae_free(k);
}

bool kkt_is_dense(const kkt *k)
{
    return k->matrix != NULL;
}

static bool dense_new(kkt *k)
{
    const int m = k->m, n = k->n, most = larger(larger(m, n), 1);
    k->work_size = 64 * (most + 1) + 3 * most; /* block size 64 for every routine below */
    k->matrix = DAE_ARRAY(double, (size_t)larger(m, 1) * (size_t)most);
    k->tau = DAE_ARRAY(double, most);
    k->tau_z = DAE_ARRAY(double, most);
    k->work = DAE_ARRAY(double, k->work_size);
    k->vector = DAE_ARRAY(double, most);
    k->pivot = DAE_ARRAY(int, most);
    return k->matrix && k->tau && k->tau_z && k->work && k->vector && k->pivot;
}

/* Pattern of the augmented matrix: column j < n holds (j, j) and A(:, j), column n + i holds
 * A(i, :)' and (n + i, n + i). place[e] = where entry e of A stands once more, as one of A'. */
static bool augmented_pattern(kkt *k, int *colptr, int *rowind)
{
    const int m = k->m, n = k->n, count = k->colptr[n];
    int *next = DAE_ARRAY(int, m + 1), at = 0;
    if (!next) return false;
    for (int e = 0; e < count; e++) next[k->rowind[e]]++;
    for (int j = 0; j < n; j++) {
        colptr[j] = at;
        rowind[at++] = j;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) rowind[at++] = n + k->rowind[e];
    }
    for (int i = 0; i < m; i++) {
        int length = next[i];
        colptr[n + i] = next[i] = at;
        at += length;
        rowind[at++] = n + i;
    }
    colptr[n + m] = at;
    for (int j = 0; j < n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            int p = next[k->rowind[e]]++;
            rowind[p] = j;
            k->place[e] = p;
        }
    dae_free(next);
    return true;
}

static bool sparse_new(kkt *k)
{
    const int size = k->m + k->n, count = k->colptr[k->n];
    int *colptr = DAE_ARRAY(int, size + 1), *rowind = DAE_ARRAY(int, 2 * (size_t)count + (size_t)size);
    k->place = DAE_ARRAY(int, count);
    k->augmented = DAE_ARRAY(double, 2 * (size_t)count + (size_t)size);
    k->residual = DAE_ARRAY(double, size);
    k->b = DAE_ARRAY(double, size);
    k->x = DAE_ARRAY(double, size);
    k->best = DAE_ARRAY(double, size);
    bool ok = colptr && rowind && k->place && k->augmented && k->residual && k->b && k->x &&
              k->best && augmented_pattern(k, colptr, rowind) &&
              layout_sparse(&k->layout, size, colptr, rowind);
    dae_free(colptr);
    dae_free(rowind);
    if (ok) k->solver = linear_sparse.analyse(&k->layout);
    return ok && k->solver;
}

kkt *kkt_new(int m, int n, const int *colptr, const int *rowind)
{
    kkt *k = DAE_NEW(kkt);
    if (!k) return NULL;
    *k = (kkt){.m = m, .n = n, .colptr = colptr, .rowind = rowind};
    long entries = (long)m * n, square = (long)m * m;
    bool dense = entries <= DENSE_ENTRIES && square <= 4 * DENSE_ENTRIES;
    if (dense ? dense_new(k) : sparse_new(k)) return k;
    kkt_free(k);
    return NULL;
}

/* ---- dense ---- */

/* matrix := A, by columns with leading dimension m */
static void dense_fill(kkt *k)
{
    const int m = larger(k->m, 1);
    vector_zero(m * k->n, k->matrix);
    for (int j = 0; j < k->n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++)
            k->matrix[(size_t)k->rowind[e] + (size_t)j * (size_t)m] = k->values[e];
}

/* A P = Q [T 0; 0 0] Z, with rank = number of diagonal entries above rcond times the first */
static void orthogonal_factors(kkt *k, double rcond)
{
    const int m = k->m, n = k->n, least = m < n ? m : n;
    dense_fill(k);
    memset(k->pivot, 0, (size_t)n * sizeof *k->pivot);
    k->rank = 0;
    if (least == 0) return;
    lapack_enter();
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, k->matrix, m, k->pivot, k->tau, k->work,
                        k->work_size);
    double first = fabs(k->matrix[0]);
    while (k->rank < least && fabs(k->matrix[k->rank * (m + 1)]) > rcond * first) k->rank++;
    if (k->rank > 0 && k->rank < n)
        LAPACKE_dtzrzf_work(LAPACK_COL_MAJOR, k->rank, n, k->matrix, m, k->tau_z, k->work,
                            k->work_size);
    lapack_leave();
}

/* w = P Z' [T^-1 (Q'b)_1; 0] */
static void orthogonal_solve(kkt *k, const double *b, double *w)
{
    const int m = k->m, n = k->n, rank = k->rank, least = m < n ? m : n;
    vector_zero(n, w);
    if (rank == 0) return;
    double *c = k->vector;
    vector_zero(larger(m, n), c);
    vector_copy(m, b, c);
    lapack_enter();
    LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, 1, least, k->matrix, m, k->tau, c,
                        larger(m, n), k->work, k->work_size);
    LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', rank, 1, k->matrix, m, c, larger(m, n));
    for (int i = rank; i < larger(m, n); i++) c[i] = 0.0;
    if (rank < n)
        LAPACKE_dormrz_work(LAPACK_COL_MAJOR, 'L', 'T', n, 1, rank, n - rank, k->matrix, m, k->tau_z,
                            c, larger(m, n), k->work, k->work_size);
    lapack_leave();
    for (int j = 0; j < n; j++) w[k->pivot[j] - 1] = c[j];
}

/* Cholesky factors of A A' + mu I, in place of A */
static linear_status damped_factors(kkt *k)
{
    const int m = k->m, n = k->n;
    double *full = DAE_ARRAY(double, (size_t)larger(m, 1) * (size_t)larger(m, 1));
    if (!full) return LINEAR_MEMORY;
    dense_fill(k);
    for (int j = 0; j < n; j++) {
        const double *column = k->matrix + (size_t)j * (size_t)m;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++)
            vector_axpy(m, k->values[e], column, full + (size_t)k->rowind[e] * (size_t)m);
    }
    for (int i = 0; i < m; i++) full[(size_t)i * (size_t)(m + 1)] += k->damping;
    lapack_enter();
    int info = m > 0 ? LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', m, full, m) : 0;
    lapack_leave();
    k->factored = info == 0;
    vector_copy(m * m, full, k->matrix);
    dae_free(full);
    return LINEAR_OK;
}

/* w = A' (A A' + mu I)^-1 b */
static void damped_solve(kkt *k, const double *b, double *w)
{
    const int m = k->m;
    vector_zero(k->n, w);
    if (!k->factored || m == 0) return;
    vector_copy(m, b, k->vector);
    lapack_enter();
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', m, 1, k->matrix, m, k->vector, m);
    lapack_leave();
    for (int j = 0; j < k->n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++)
            w[j] += k->values[e] * k->vector[k->rowind[e]];
}

/* ---- sparse ---- */

static linear_status augmented_factor(kkt *k, double delta)
{
    const int m = k->m, n = k->n;
    for (int j = 0; j < n; j++) {
        int at = k->layout.colptr[j];
        k->augmented[at++] = 1.0;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            k->augmented[at++] = k->values[e];
            k->augmented[k->place[e]] = k->values[e];
        }
    }
    for (int i = 0; i < m; i++) k->augmented[k->layout.colptr[n + i + 1] - 1] = -delta;
    k->delta = delta;
    linear_status status = linear_factor(k->solver, k->augmented);
    k->factored = status == LINEAR_OK;
    return status;
}

/* residual := [0; b] - [I A'; A -delta I] x; returns the largest component of the second part */
static double augmented_residual(kkt *k, const double *b, double delta)
{
    const int m = k->m, n = k->n;
    double *r = k->residual, *lower = r + n, most = 0.0;
    const double *y = k->x + n;
    for (int i = 0; i < m; i++) lower[i] = b[i] + delta * y[i];
    for (int j = 0; j < n; j++) {
        double sum = k->x[j];
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            sum += k->values[e] * y[k->rowind[e]];
            lower[k->rowind[e]] -= k->values[e] * k->x[j];
        }
        r[j] = -sum;
    }
    for (int i = 0; i < m; i++) most = fmax(most, fabs(lower[i]));
    return most;
}

/* Solve with refinement against delta_true; returns |b - A w| reached, relative to |b|. */
static double refined_solve(kkt *k, const double *b, double delta_true, double *w)
{
    const int n = k->n, size = k->m + n;
    double norm = 0.0, least = DBL_MAX;
    for (int i = 0; i < k->m; i++) norm = fmax(norm, fabs(b[i]));
    vector_zero(size, k->x);
    vector_zero(n, w);
    if (!(norm > 0.0) || !k->factored) return norm > 0.0 ? 1.0 : 0.0;
    for (int sweep = 0; sweep <= SWEEPS; sweep++) {
        double misfit = augmented_residual(k, b, delta_true);
        if (!(misfit < 0.5 * least) && sweep > 2) break;
        if (misfit < least || sweep <= 1) {
            least = misfit;
            vector_copy(n, k->x, w);
        }
        if (misfit <= 4.0 * DBL_EPSILON * norm || sweep == SWEEPS) break;
        linear_solve(k->solver, k->residual);
        if (!vector_finite(size, k->residual)) break;
        vector_axpy(size, 1.0, k->residual, k->x);
    }
    return least / norm;
}

/* ---- both ---- */

linear_status kkt_factor(kkt *k, const double *values, double rcond, double damping)
{
    k->values = values;
    k->damping = damping;
    k->rank = k->m < k->n ? k->m : k->n;
    if (kkt_is_dense(k)) {
        if (damping > 0.0) return damped_factors(k);
        orthogonal_factors(k, rcond);
        return LINEAR_OK;
    }
    linear_status status = augmented_factor(k, damping > 0.0 ? damping : DELTA);
    return status == LINEAR_MEMORY ? status : LINEAR_OK;
}

/* Where refinement stands still although A w = b may have a solution, a smaller delta is tried; the
 * better of both stays. */
static void sparse_solve(kkt *k, const double *b, double *w)
{
    double misfit = refined_solve(k, b, 0.0, w);
    if (misfit <= 1e-8) return;
    double delta = k->delta;
    if (augmented_factor(k, delta == DELTA ? DELTA_SMALL : DELTA) == LINEAR_OK) {
        double other = refined_solve(k, b, 0.0, k->best);
        if (other < 1e-2 * misfit) {
            vector_copy(k->n, k->best, w);
            return;
        }
    }
    augmented_factor(k, delta);
}

void kkt_solve(kkt *k, const double *b, double *w)
{
    if (kkt_is_dense(k)) {
        if (k->damping > 0.0)
            damped_solve(k, b, w);
        else
            orthogonal_solve(k, b, w);
    } else if (k->damping > 0.0) {
        refined_solve(k, b, k->damping, w);
    } else {
        sparse_solve(k, b, w);
    }
}

int kkt_rank(const kkt *k)
{
    return k->rank;
}

/* Random in [-1, 1], the same on every machine [SLF14]. */
static double random_number(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
}

/* Two steps of inverse iteration with A A' + delta I: null vectors grow by 1/delta in each. */
bool kkt_dependent(kkt *k, unsigned seed, double *y)
{
    if (kkt_is_dense(k) || !k->factored || k->damping > 0.0) return false;
    if (k->delta != DELTA && augmented_factor(k, DELTA) != LINEAR_OK) return false;
    const int m = k->m, n = k->n;
    unsigned long long state = seed;
    double growth = 0.0;
    for (int i = 0; i < m; i++) y[i] = random_number(&state);
    for (int step = 0; step < 2; step++) {
        double before = 0.0, after = 0.0;
        vector_zero(n, k->b);
        vector_copy(m, y, k->b + n);
        linear_solve(k->solver, k->b);
        for (int i = 0; i < m; i++) {
            before += y[i] * y[i];
            after += k->b[n + i] * k->b[n + i];
        }
        if (!(before > 0.0) || !isfinite(after)) return false;
        growth = sqrt(after / before);
        for (int i = 0; i < m; i++) y[i] = k->b[n + i] / sqrt(after);
    }
    return growth > 0.1 / DELTA;
}
