/* Square matrices that are surely regular have one solution, which sparse LU finds: all below is
 * for the others.
 *
 * Small matrices: complete orthogonal factorisations A P = Q [T 0; 0 0] Z [GVL13 5.4.7], first of
 * A_f, then of what Q' leaves of A_p in the rows where A_f cannot help; or with damping the
 * Cholesky factors of A A' + mu I.
 *
 * Large ones: LU of the augmented matrix  [ D  A' ; A -delta I ] [Bjo96 2.5.3], D = 1 for costly
 * unknowns and small for free ones. It is quasidefinite, so that every symmetric pivot order exists
 * [Van95], and refinement against the equations with delta = 0 takes the influence of delta out
 * again: errors along a singular value s fall by delta/(s^2 + delta) in every sweep. Where that is
 * too slow there is the matrix with delta = 0 and without free unknowns in D, whose pivots take
 * longer to find. */
#include "linalg/kkt.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "linalg/lapack.h"

#include <float.h>

/* Up to this many entries (350 x 350, say) the dense factorisation takes less than 50 ms. */
static const long DENSE_ENTRIES = 120000;
/* Two regularisations: one that refinement can take out again, and one that tells singular values
 * from zero. */
static const double DELTA = 1e-9, DELTA_SMALL = 1e-14;
static const double FREE_WEIGHT = 1e-10; /* of free unknowns in the regularised matrix */
static const double SOLVED = 1e-8;       /* misfit of a linear system that counts as solved */
static const double REGULAR = 1e-13;     /* reciprocal condition that LU of A may have */
/* Dense matrices are surely of full rank with so many times the reciprocal condition that ranks are
 * decided by: the estimate is of another norm, and not exact. */
static const double SURE = 1e4;
enum { DIRECT_FROM = 40 }; /* rows: below, orthogonal factors take less than 0.2 ms */
enum { SWEEPS = 8 };
enum { MORE_FILL = 3 }; /* times that of the first factors: time for another order */

/* A P = Q [T 0; 0 0] Z */
typedef struct orthogonal {
    int m, n, rank;
    double *matrix, *tau, *tau_z;
    int *pivot;
} orthogonal;

/* An augmented matrix: some diagonal entries may be missing. */
typedef struct augmented {
    matrix_layout layout;
    linear_solver *solver;
    double *values;
    int *place;    /* of A' in it: one for each entry of A */
    int *diagonal; /* n + m: place of the diagonal entry, or -1 */
    size_t fill;   /* values of the factors when their order was chosen */
    bool factored;
} augmented;

struct kkt {
    int m, n;
    const int *colptr, *rowind; /* borrowed */
    const double *values;       /* borrowed */
    int free_count;
    double damping, delta;
    int rank;
    bool reserved; /* memory for factors is there: */
    void *block;   /* owned */
    /* dense */
    bool dense;
    orthogonal first, second;     /* of A_f, and of the rest of A_p */
    double *work, *vector, *rest; /* rest: w_p, and b less what it explains */
    double *square;               /* m x m: Cholesky factors */
    int work_size;
    bool positive; /* the Cholesky factors exist */
    /* square */
    matrix_layout layout;
    double *own_residual;  /* of dense ones; owned */
    linear_solver *direct; /* factors of A, if they are in force: */
    bool solved_directly;
    /* sparse */
    augmented exact, regular;    /* without solver until they are needed */
    augmented *used;             /* the one with the factors in force */
    bool tried;                  /* the exact one was of no use for these values */
    double *residual, *x, *best; /* n + m */
    bool free[];
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void augmented_free(augmented *a)
{
    linear_free(a->solver);
    layout_free(&a->layout);
    dae_free_all(a->values, a->place, a->diagonal);
    *a = (augmented){0};
}

void kkt_free(kkt *k)
{
    if (!k) return;
    augmented_free(&k->exact);
    augmented_free(&k->regular);
    linear_free(k->direct);
    layout_free(&k->layout);
    dae_free_all(k->block, k->own_residual, k);
}

bool kkt_is_dense(const kkt *k)
{
    return k->dense;
}

static bool dense_new(kkt *k)
{
    const int m = larger(k->m, 1), most = larger(larger(k->m, k->n), 1);
    const size_t rows = (size_t)m, free = (size_t)larger(k->free_count, 1);
    const size_t costly = (size_t)larger(k->n - k->free_count, 1);
    orthogonal *f = &k->first, *g = &k->second;
    k->work_size = 64 * (most + 1) + 3 * most; /* block size 64 for every routine below */
    k->block = SHARED_BLOCK(
        SHARE(k->work, k->work_size), SHARE(k->vector, most), SHARE(k->rest, 2 * (size_t)most),
        SHARE(k->square, rows * rows), SHARE(f->matrix, rows * free), SHARE(f->tau, most),
        SHARE(f->tau_z, most), SHARE(f->pivot, most), SHARE(g->matrix, rows * costly),
        SHARE(g->tau, most), SHARE(g->tau_z, most), SHARE(g->pivot, most));
    return k->block;
}

/* ---- dense ---- */

/* Column j of A: entries [first, first + count), entry e in row entry_row(k, first, e) */
static size_t column_entries(const kkt *k, int j, int *count)
{
    *count = k->colptr ? k->colptr[j + 1] - k->colptr[j] : k->m;
    return k->colptr ? (size_t)k->colptr[j] : (size_t)j * (size_t)k->m;
}

static int entry_row(const kkt *k, size_t first, int e)
{
    return k->colptr ? k->rowind[first + (size_t)e] : e;
}

/* matrix := the free or the costly columns of A, leading dimension m; returns how many */
static int fill_columns(const kkt *k, bool free, double *matrix)
{
    int n = 0;
    for (int j = 0; j < k->n; j++) {
        if (k->free[j] != free) continue;
        double *column = matrix + (size_t)n++ * (size_t)k->m;
        int count;
        size_t first = column_entries(k, j, &count);
        vector_zero(k->m, column);
        for (int e = 0; e < count; e++)
            column[entry_row(k, first, e)] = k->values[first + (size_t)e];
    }
    return n;
}

/* Factor f->matrix (m x n, leading dimension m): the rank is the number of pivots above rcond. */
static void orthogonal_factor(kkt *k, orthogonal *f, int m, int n, double rcond)
{
    const int least = m < n ? m : n;
    f->m = m;
    f->n = n;
    f->rank = 0;
    if (least == 0) return;
    memset(f->pivot, 0, (size_t)n * sizeof *f->pivot);
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, m, n, f->matrix, m, f->pivot, f->tau, k->work,
                        k->work_size);
    while (f->rank < least && fabs(f->matrix[f->rank * (m + 1)]) > rcond) f->rank++;
    if (f->rank > 0 && f->rank < n)
        LAPACKE_dtzrzf_work(LAPACK_COL_MAJOR, f->rank, n, f->matrix, m, f->tau_z, k->work,
                            k->work_size);
}

/* c := Q' c for `columns` columns with leading dimension ld */
static void apply_q(kkt *k, const orthogonal *f, int columns, double *c, int ld)
{
    const int least = f->m < f->n ? f->m : f->n;
    if (least > 0 && columns > 0)
        LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', f->m, columns, least, f->matrix, f->m,
                            f->tau, c, ld, k->work, k->work_size);
}

/* b := Q' b, one reflection (I - tau v v') after the other: blocks of them, as LAPACK makes, cost
 * more than they save on one vector */
static void reflect(const orthogonal *f, double *b)
{
    const int least = f->m < f->n ? f->m : f->n;
    for (int k = 0; k < least; k++) {
        const double *v = f->matrix + (size_t)k * (size_t)f->m;
        double sum = b[k];
        for (int i = k + 1; i < f->m; i++) sum += v[i] * b[i];
        sum *= f->tau[k];
        b[k] -= sum;
        for (int i = k + 1; i < f->m; i++) b[i] -= sum * v[i];
    }
}

/* w := P Z' [T^-1 (Q'b)_1; 0], for the n unknowns of f; b is lost */
static void orthogonal_solve(kkt *k, const orthogonal *f, double *b, double *w)
{
    const int n = f->n, rank = f->rank;
    double *c = k->vector;
    vector_zero(n, w);
    if (rank == 0) return;
    reflect(f, b);
    vector_zero(n, c);
    vector_copy(rank, b, c);
    LAPACKE_dtrtrs_work(LAPACK_COL_MAJOR, 'U', 'N', 'N', rank, 1, f->matrix, f->m, c, n);
    if (rank < n)
        LAPACKE_dormrz_work(LAPACK_COL_MAJOR, 'L', 'T', n, 1, rank, n - rank, f->matrix, f->m,
                            f->tau_z, c, n, k->work, k->work_size);
    for (int j = 0; j < n; j++) w[f->pivot[j] - 1] = c[j];
}

/* Factors of A_f = Q1 .., and of the last rows of Q1' A_p, where A_f has none. */
static void dense_factor(kkt *k, double rcond)
{
    const int m = k->m;
    int n = fill_columns(k, true, k->first.matrix);
    lapack_enter();
    orthogonal_factor(k, &k->first, m, n, rcond);
    n = fill_columns(k, false, k->second.matrix);
    apply_q(k, &k->first, n, k->second.matrix, m);
    const int known = k->first.rank, left = m - known;
    for (int j = 0; j < n && known > 0; j++)
        memmove(k->second.matrix + (size_t)j * (size_t)left,
                k->second.matrix + (size_t)j * (size_t)m + known, (size_t)left * sizeof(double));
    orthogonal_factor(k, &k->second, left, n, rcond);
    lapack_leave();
    k->rank = known + k->second.rank;
}

/* w_p from the rows where w_f cannot help, then w_f from what is left */
static void dense_solve(kkt *k, const double *b, double *w)
{
    const int m = k->m, most = larger(m, k->n);
    double *left = k->rest, *part = k->rest + most;
    vector_copy(m, b, left);
    lapack_enter();
    reflect(&k->first, left);
    orthogonal_solve(k, &k->second, left + k->first.rank, part);
    vector_copy(m, b, left);
    for (int j = 0, p = 0; j < k->n; j++) {
        if (k->free[j]) continue;
        int count;
        size_t first = column_entries(k, j, &count);
        w[j] = part[p++];
        for (int e = 0; e < count; e++)
            left[entry_row(k, first, e)] -= k->values[first + (size_t)e] * w[j];
    }
    orthogonal_solve(k, &k->first, left, part);
    lapack_leave();
    for (int j = 0, f = 0; j < k->n; j++)
        if (k->free[j]) w[j] = part[f++];
}

/* Cholesky factors of A A' + mu I */
static void damped_factor(kkt *k)
{
    const int m = k->m;
    vector_zero(m * m, k->square);
    for (int j = 0; j < k->n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            double *column = k->square + (size_t)k->rowind[e] * (size_t)m;
            for (int f = k->colptr[j]; f < k->colptr[j + 1]; f++)
                column[k->rowind[f]] += k->values[e] * k->values[f];
        }
    for (int i = 0; i < m; i++) k->square[(size_t)i * (size_t)(m + 1)] += k->damping;
    lapack_enter();
    k->positive = m == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', m, k->square, m) == 0;
    lapack_leave();
}

/* w = A' (A A' + mu I)^-1 b */
static void damped_solve(kkt *k, const double *b, double *w)
{
    const int m = k->m;
    vector_zero(k->n, w);
    if (!k->positive || m == 0) return;
    vector_copy(m, b, k->vector);
    lapack_enter();
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', m, 1, k->square, m, k->vector, m);
    lapack_leave();
    for (int j = 0; j < k->n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++)
            w[j] += k->values[e] * k->vector[k->rowind[e]];
}

/* ---- sparse ---- */

/* Pattern of the augmented matrix: column j < n holds (j, j), unless it is free in the exact one,
 * and A(:, j); column n + i holds A(i, :)' and, in the regular one, (n + i, n + i). */
static bool augmented_pattern(const kkt *k, augmented *a, bool exact, int *colptr, int *rowind)
{
    const int m = k->m, n = k->n, count = k->colptr[n];
    int *next = DAE_ARRAY(int, m + 1), at = 0;
    if (!next) return false;
    for (int e = 0; e < count; e++) next[k->rowind[e]]++;
    for (int j = 0; j < n; j++) {
        colptr[j] = at;
        a->diagonal[j] = exact && k->free[j] ? -1 : at;
        if (a->diagonal[j] >= 0) rowind[at++] = j;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) rowind[at++] = n + k->rowind[e];
    }
    for (int i = 0; i < m; i++) {
        int length = next[i];
        colptr[n + i] = next[i] = at;
        at += length;
        a->diagonal[n + i] = exact ? -1 : at;
        if (!exact) rowind[at++] = n + i;
    }
    colptr[n + m] = at;
    for (int j = 0; j < n; j++)
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            a->place[e] = next[k->rowind[e]]++;
            rowind[a->place[e]] = j;
        }
    dae_free(next);
    return true;
}

/* The pattern, when it is needed first. False: memory. */
static bool augmented_new(const kkt *k, augmented *a, bool exact)
{
    const size_t size = (size_t)(k->m + k->n), count = (size_t)k->colptr[k->n];
    int *colptr = DAE_ARRAY(int, size + 1), *rowind = DAE_ARRAY(int, 2 * count + size);
    a->place = DAE_ARRAY(int, count);
    a->diagonal = DAE_ARRAY(int, size);
    a->values = DAE_ARRAY(double, 2 * count + size);
    bool ok = colptr && rowind && a->place && a->diagonal && a->values &&
              augmented_pattern(k, a, exact, colptr, rowind) &&
              layout_sparse(&a->layout, (int)size, colptr, rowind);
    dae_free_all(colptr, rowind);
    if (!ok) augmented_free(a);
    return ok;
}

static bool sparse_new(kkt *k)
{
    const int size = k->m + k->n;
    k->block = SHARED_BLOCK(SHARE(k->residual, size), SHARE(k->x, size), SHARE(k->best, size));
    return k->block;
}

/* LU of A, if that is square and worth it. False: memory. */
static bool direct_new(kkt *k)
{
    if (k->m != k->n || !k->colptr || (k->dense && k->m < DIRECT_FROM)) return true;
    if (!k->residual) k->residual = k->own_residual = DAE_ARRAY(double, k->n);
    if (!k->residual || !layout_sparse(&k->layout, k->n, k->colptr, k->rowind)) return false;
    k->direct = linear_sparse.analyse(&k->layout, NULL);
    if (!k->direct) layout_free(&k->layout);
    return k->direct != NULL;
}

/* Factors in the order at hand, or in one for these values if there is none or it has become bad.
 */
static linear_status factor_in_order(augmented *a)
{
    linear_status status = LINEAR_SINGULAR;
    if (a->solver) {
        status = linear_factor(a->solver, a->values);
        bool filled = linear_sparse.values(a->solver) > MORE_FILL * a->fill;
        if (status == LINEAR_MEMORY || (status == LINEAR_OK && !filled)) return status;
    }
    linear_free(a->solver);
    a->solver = sparse_analyse_values(&a->layout, a->values);
    status = a->solver ? linear_factor(a->solver, a->values) : LINEAR_MEMORY;
    if (status == LINEAR_OK) a->fill = linear_sparse.values(a->solver);
    return status;
}

static linear_status augmented_factor(kkt *k, augmented *a, double delta)
{
    const int m = k->m, n = k->n;
    const double weight = k->damping > 0.0 ? 1.0 : FREE_WEIGHT;
    if (!a->place && !augmented_new(k, a, a == &k->exact)) return LINEAR_MEMORY;
    for (int j = 0; j < n; j++) {
        int at = a->layout.colptr[j];
        if (a->diagonal[j] >= 0) a->values[at++] = k->free[j] ? weight : 1.0;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++)
            a->values[at++] = a->values[a->place[e]] = k->values[e];
    }
    for (int i = 0; i < m; i++)
        if (a->diagonal[n + i] >= 0) a->values[a->diagonal[n + i]] = -delta;
    k->delta = delta;
    k->used = a;
    a->factored = false;
    linear_status status = factor_in_order(a);
    a->factored = status == LINEAR_OK;
    return status;
}

/* residual := [0; b] - [D A'; A -delta I] x; returns the largest component of the second part */
static double augmented_residual(kkt *k, const double *b, double delta)
{
    const int m = k->m, n = k->n;
    const augmented *a = k->used;
    double *r = k->residual, *lower = r + n, most = 0.0;
    const double *y = k->x + n;
    for (int i = 0; i < m; i++) lower[i] = b[i] + delta * y[i];
    for (int j = 0; j < n; j++) {
        double sum = a->diagonal[j] >= 0 ? a->values[a->diagonal[j]] * k->x[j] : 0.0;
        for (int e = k->colptr[j]; e < k->colptr[j + 1]; e++) {
            sum += k->values[e] * y[k->rowind[e]];
            lower[k->rowind[e]] -= k->values[e] * k->x[j];
        }
        r[j] = -sum;
    }
    for (int i = 0; i < m; i++) most = fmax(most, fabs(lower[i]));
    return most;
}

/* Solve with refinement against `delta`; returns |b - A w| reached, relative to |b|. */
static double refined_solve(kkt *k, const double *b, double delta, double *w)
{
    const int n = k->n, size = k->m + n;
    double norm = 0.0, least = DBL_MAX;
    for (int i = 0; i < k->m; i++) norm = fmax(norm, fabs(b[i]));
    vector_zero(size, k->x);
    vector_zero(n, w);
    if (!(norm > 0.0) || !k->used->factored) return norm > 0.0 ? 1.0 : 0.0;
    for (int sweep = 0; sweep <= SWEEPS; sweep++) {
        double misfit = augmented_residual(k, b, delta);
        if (!(misfit < 0.5 * least) && sweep > 2) break;
        if (misfit < least || sweep <= 1) {
            least = misfit;
            vector_copy(n, k->x, w);
        }
        if ((misfit <= 4.0 * DBL_EPSILON * norm && sweep > 1) || sweep == SWEEPS) break;
        linear_solve(k->used->solver, k->residual);
        if (!vector_finite(size, k->residual)) break;
        vector_axpy(size, 1.0, k->residual, k->x);
    }
    return least / norm;
}

/* LU of A itself; LINEAR_SINGULAR unless it is square and regular: 1/cond(A) > least */
static linear_status direct_factor(kkt *k, double least)
{
    k->solved_directly = false;
    if (!k->direct || k->damping > 0.0) return LINEAR_SINGULAR;
    linear_status status = linear_factor(k->direct, k->values);
    if (status != LINEAR_OK) return status;
    k->solved_directly = linear_sparse.condition(k->direct) > least;
    return k->solved_directly ? LINEAR_OK : LINEAR_SINGULAR;
}

/* w = A^-1 b, refined once */
static void direct_solve(kkt *k, const double *b, double *w)
{
    const int n = k->n;
    double *r = k->residual;
    vector_copy(n, b, w);
    linear_solve(k->direct, w);
    matrix_multiply(&k->layout, k->values, w, r);
    for (int i = 0; i < n; i++) r[i] = b[i] - r[i];
    linear_solve(k->direct, r);
    vector_axpy(n, 1.0, r, w);
}

static linear_status sparse_factor(kkt *k)
{
    k->tried = false;
    linear_status status = direct_factor(k, REGULAR);
    if (status == LINEAR_SINGULAR)
        status = augmented_factor(k, &k->regular, k->damping > 0.0 ? k->damping : DELTA);
    return status == LINEAR_MEMORY ? status : LINEAR_OK;
}

/* The better solution of two: where refinement stands still, another matrix is tried. */
static void sparse_solve(kkt *k, const double *b, double *w)
{
    double least = refined_solve(k, b, 0.0, w);
    if (least <= SOLVED || k->used != &k->regular || k->tried) return;
    k->tried = true;
    if (augmented_factor(k, &k->exact, 0.0) == LINEAR_OK) {
        double misfit = refined_solve(k, b, 0.0, k->best);
        if (misfit < 0.1 * least) {
            vector_copy(k->n, k->best, w);
            return; /* the next one starts with this matrix */
        }
    }
    k->used = &k->regular;
    k->delta = DELTA;
}

/* ---- both ---- */

kkt *kkt_new(int m, int n, const int *colptr, const int *rowind, const bool *free)
{
    kkt *k = dae_calloc(sizeof *k + (size_t)n * sizeof *k->free, 1);
    if (!k) return NULL;
    k->m = m;
    k->n = n;
    k->colptr = colptr;
    k->rowind = rowind;
    k->dense = !colptr || ((long)m * n <= DENSE_ENTRIES && (long)m * m <= 4 * DENSE_ENTRIES);
    for (int j = 0; j < n && free; j++) k->free_count += k->free[j] = free[j];
    return k;
}

bool kkt_reserve(kkt *k)
{
    if (k->reserved) return true;
    k->reserved = (k->block || (k->dense ? dense_new(k) : sparse_new(k))) && direct_new(k);
    return k->reserved;
}

linear_status kkt_factor(kkt *k, const double *values, double rcond, double damping)
{
    k->values = values;
    k->damping = damping;
    k->rank = k->m < k->n ? k->m : k->n;
    if (interrupted_whole() || !kkt_reserve(k)) return LINEAR_MEMORY;
    if (!k->dense) return sparse_factor(k);
    linear_status status = direct_factor(k, fmax(REGULAR, SURE * rcond));
    if (status != LINEAR_SINGULAR) return status;
    if (damping > 0.0)
        damped_factor(k);
    else
        dense_factor(k, rcond);
    return LINEAR_OK;
}

void kkt_solve(kkt *k, const double *b, double *w)
{
    if (k->solved_directly)
        direct_solve(k, b, w);
    else if (k->dense && k->damping > 0.0)
        damped_solve(k, b, w);
    else if (k->dense)
        dense_solve(k, b, w);
    else if (k->damping > 0.0)
        refined_solve(k, b, k->damping, w);
    else
        sparse_solve(k, b, w);
}

int kkt_rank(const kkt *k)
{
    return k->rank;
}

int kkt_undetermined(const kkt *k)
{
    return k->second.pivot[k->n - 1] - 1;
}

/* Two steps of inverse iteration with A D^-1 A' + delta I: null vectors grow by 1/delta in each. */
bool kkt_dependent(kkt *k, unsigned seed, double *y)
{
    if (k->dense || k->damping > 0.0 || k->solved_directly) return false;
    if (augmented_factor(k, &k->regular, DELTA_SMALL) != LINEAR_OK) return false;
    const int m = k->m, n = k->n;
    uint64_t state = seed;
    double growth = 0.0;
    for (int i = 0; i < m; i++) y[i] = random_number(&state);
    for (int step = 0; step < 2; step++) {
        double before = 0.0, after = 0.0;
        vector_zero(n, k->best);
        vector_copy(m, y, k->best + n);
        linear_solve(k->regular.solver, k->best);
        for (int i = 0; i < m; i++) {
            before += y[i] * y[i];
            after += k->best[n + i] * k->best[n + i];
        }
        if (!(before > 0.0) || !isfinite(after)) return false;
        growth = sqrt(after / before);
        for (int i = 0; i < m; i++) y[i] = k->best[n + i] / sqrt(after);
    }
    return growth > 0.1 / DELTA_SMALL;
}
