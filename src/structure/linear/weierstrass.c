/* P and Q of Weierstrass' form: P B Q = diag(I, N), P A Q = diag(C, I), N of Jordan blocks.
 *
 * A staircase of orthogonal transformations puts the part at infinity before the finite one [VD79],
 *     B = (B11 B12; 0 B22),  A = (A11 A12; 0 A22),  A11 and B22 invertible, A11^-1 B11 nilpotent.
 * The coupling goes by a Sylvester equation, which the nilpotent part makes finite; chains of
 * vectors of A11^-1 B11 make its Jordan blocks. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "structure/linear/pencil_parts.h"

bool pencil_solve(int n, int columns, double *M, double *X, bool *singular)
{
    int *pivot = DAE_ARRAY(int, n + 1), info = 0;
    if (!pivot) return false;
    lapack_enter();
    if (n > 0 && columns > 0) info = LAPACKE_dgesv(LAPACK_COL_MAJOR, n, columns, M, n, pivot, X, n);
    lapack_leave();
    dae_free(pivot);
    if (info > 0) *singular = true;
    return info == 0;
}

/* A pencil with rows U' and columns V of the scaled one. */
typedef struct splitting {
    int n, infinite;
    double *U, *V;    /* n x n: the part at infinity first */
    double *A, *B;    /* U' A V, U' B V */
    double *X, *work; /* n x n */
    bool unclear;     /* ranks are not those of a regular pencil, or a block is singular */
} splitting;

static void splitting_free(splitting *s)
{
    dae_free_all(s->U, s->V, s->A, s->B, s->X, s->work);
}

/* T (rows x columns) := L' M R, L of n x rows, R of n x columns */
static void project(splitting *s, const double *M, const double *L, int rows, const double *R,
                    int columns, double *T)
{
    dense_multiply(s->n, columns, s->n, M, R, s->work);
    dense_multiply_left(rows, columns, s->n, L, s->work, T);
}

/* The last k columns of X (n x n) := those times R (k x k), the columns from `from` of R first */
static void turn_last(splitting *s, int k, const double *R, int from, double *X)
{
    const int n = s->n;
    double *last = X + (n - k) * n;
    dense_multiply(n, k, k, last, R, s->work);
    vector_copy(n * (k - from), s->work + n * from, last);
    vector_copy(n * from, s->work, last + n * (k - from));
}

/* One step of the staircase on the last k rows and columns. *more: something was split off. False:
 * memory, or the ranks are not those of a regular pencil. */
static bool split_off(splitting *s, const scaled_pencil *p, int k, double tolerance, int *size)
{
    const int n = s->n;
    rank_split b = {0}, a = {0};
    double *block = s->B, *image = s->A;
    project(s, p->B, s->U + (n - k) * n, k, s->V + (n - k) * n, k, block);
    bool ok = rank_split_new(&b, k, k, block, tolerance, p->norm, NULL);
    *size = ok ? k - b.rank : 0;
    if (ok && *size > 0) {
        turn_last(s, k, b.V, b.rank, s->V);
        project(s, p->A, s->U + (n - k) * n, k, s->V + (n - k) * n, *size, image);
        ok = rank_split_new(&a, k, *size, image, tolerance, p->norm, NULL);
        if (ok && a.rank != *size) s->unclear = true;
        ok = ok && !s->unclear;
        if (ok) turn_last(s, k, a.U, 0, s->U);
    }
    rank_split_free(&b);
    rank_split_free(&a);
    return ok;
}

static bool split_infinite(splitting *s, const scaled_pencil *p, double tolerance)
{
    const int n = s->n;
    int size = 1;
    for (int i = 0; i < n; i++) s->U[i + i * n] = s->V[i + i * n] = 1.0;
    bool ok = true;
    for (int k = n; ok && k > 0 && size > 0; k -= size) {
        ok = split_off(s, p, k, tolerance, &size);
        s->infinite += size;
    }
    if (!ok) return false;
    project(s, p->A, s->U, n, s->V, n, s->A);
    project(s, p->B, s->U, n, s->V, n, s->B);
    return true;
}

/* The block of M at (row, column) */
static void block_of(const splitting *s, const double *M, int row, int column, int rows,
                     int columns, double *T)
{
    for (int j = 0; j < columns; j++)
        vector_copy(rows, M + row + (column + j) * s->n, T + j * rows);
}

/* Pieces of the two parts: work of one solution. */
typedef struct coupling {
    int k, f;       /* infinite, finite */
    bool *singular; /* what failed is a block, not memory; borrowed */
    double *A11, *A12, *A22, *B11, *B12, *B22;
    double *L, *R, *T, *copy;
} coupling;

static bool coupling_new(coupling *c, splitting *s)
{
    const int k = s->infinite, f = s->n - k, all = s->n * s->n + 1;
    *c = (coupling){.k = k, .f = f, .singular = &s->unclear};
    double **pieces[] = {&c->A11, &c->A12, &c->A22, &c->B11, &c->B12,
                         &c->B22, &c->L,   &c->R,   &c->T,   &c->copy};
    bool ok = true;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        ok = (*pieces[i] = DAE_ARRAY(double, all)) && ok;
    if (!ok) return false;
    block_of(s, s->A, 0, 0, k, k, c->A11);
    block_of(s, s->A, 0, k, k, f, c->A12);
    block_of(s, s->A, k, k, f, f, c->A22);
    block_of(s, s->B, 0, 0, k, k, c->B11);
    block_of(s, s->B, 0, k, k, f, c->B12);
    block_of(s, s->B, k, k, f, f, c->B22);
    return true;
}

static void coupling_free(coupling *c)
{
    dae_free_all(c->A11, c->A12, c->A22, c->B11, c->B12, c->B22, c->L, c->R, c->T, c->copy);
}

/* R = -A11^-1 (L A22 + A12) */
static bool back_substitute(coupling *c)
{
    const int k = c->k, f = c->f;
    dense_multiply(k, f, f, c->L, c->A22, c->R);
    for (int i = 0; i < k * f; i++) c->R[i] = -(c->R[i] + c->A12[i]);
    vector_copy(k * k, c->A11, c->copy);
    return pencil_solve(k, f, c->copy, c->R, c->singular);
}

/* L, R with B11 R + L B22 + B12 = 0, A11 R + L A22 + A12 = 0: with R from the second, L = -(B11 R +
 * B12) B22^-1 is exact after as many rounds as B11 A11^-1 has steps */
static bool decouple(coupling *c)
{
    const int k = c->k, f = c->f;
    for (int round = 0; round <= k; round++) {
        if (!back_substitute(c)) return false;
        dense_multiply(k, f, k, c->B11, c->R, c->L);
        for (int i = 0; i < k * f; i++) c->L[i] = -(c->L[i] + c->B12[i]);
        dense_transpose(k, f, c->L, c->T); /* B22' L' = .. */
        dense_transpose(f, f, c->B22, c->copy);
        if (!pencil_solve(f, k, c->copy, c->T, c->singular)) return false;
        dense_transpose(f, k, c->T, c->L);
    }
    return back_substitute(c);
}

/* ---- chains ---- */

/* Columns of `basis` (k x *count) that are not in the span of `taken` (k x used), as many as said,
 * those farthest from it: out. False: memory. */
static bool farthest(int k, const double *basis, int columns, const double *taken, int used,
                     int wanted, double *out)
{
    rank_split t = {0}, left = {0};
    double *rest = DAE_ARRAY(double, k *columns + 1), *along = DAE_ARRAY(double, k *columns + 1);
    bool ok = rest && along && rank_split_new(&t, k, used, taken, 1e-8, 0.0, NULL);
    if (ok) {
        const double *beside = t.U + t.rank * k;
        dense_multiply_left(k - t.rank, columns, k, beside, basis, along);
        dense_multiply(k, columns, k - t.rank, beside, along, rest);
        ok = rank_split_new(&left, k, columns, rest, 0.0, 1.0, NULL);
    }
    if (ok) dense_multiply(k, wanted, columns, basis, left.V, out); /* in the space itself */
    rank_split_free(&t);
    rank_split_free(&left);
    dae_free_all(rest, along);
    return ok;
}

/* Orthonormal columns that span ker N^j, whose dimension is known: the right singular vectors of
 * the smallest singular values. False: memory. */
static bool kernel_of_power(int k, const double *N, int j, int dimension, double *out)
{
    double *power = DAE_ARRAY(double, k *k + 1), *next = DAE_ARRAY(double, k *k + 1);
    rank_split s = {0};
    bool ok = power && next;
    for (int i = 0; ok && i < k; i++) power[i + i * k] = 1.0;
    for (int i = 0; ok && i < j; i++) {
        dense_multiply(k, k, k, power, N, next);
        vector_copy(k * k, next, power);
    }
    ok = ok && rank_split_new(&s, k, k, power, 0.0, 1.0, NULL);
    if (ok) vector_copy(k * dimension, s.V + (k - dimension) * k, out);
    rank_split_free(&s);
    dae_free_all(power, next);
    return ok;
}

/* dim ker N^j, blocks[b] of size b + 1 */
static int kernel_dimension(int levels, const int *blocks, int j)
{
    int sum = 0;
    for (int b = 0; b < levels; b++) sum += blocks[b] * (b + 1 < j ? b + 1 : j);
    return sum;
}

/* T (k x k): chains N^(j-1) v, .., N v, v of nilpotent N by decreasing size. The last vectors of
 * chains of length j are in ker N^j, beside ker N^(j-1) and longer chains. False: memory. */
static bool jordan_chains(int k, const double *N, int levels, const int *blocks, double *T)
{
    double *kernel = DAE_ARRAY(double, k *k + 1), *taken = DAE_ARRAY(double, 2 * k * k + 1);
    double *tops = DAE_ARRAY(double, k *k + 1);
    bool ok = kernel && taken && tops;
    int found = 0; /* columns of T */
    for (int j = levels; ok && j >= 1; j--) {
        const int count = blocks[j - 1], below = kernel_dimension(levels, blocks, j - 1);
        const int here = kernel_dimension(levels, blocks, j);
        ok = kernel_of_power(k, N, j - 1, below, taken) && kernel_of_power(k, N, j, here, kernel);
        if (ok) vector_copy(k * found, T, taken + k * below);
        ok = ok && farthest(k, kernel, here, taken, below + found, count, tops);
        for (int b = 0; ok && b < count; b++, found += j) {
            vector_copy(k, tops + b * k, T + (found + j - 1) * k);
            for (int i = j - 1; i > 0; i--)
                dense_multiply(k, 1, k, N, T + (found + i) * k, T + (found + i - 1) * k);
        }
    }
    dae_free_all(kernel, taken, tops);
    return ok; /* the blocks add up to k */
}

/* ---- the result ---- */

/* Finite rows of P and columns of Q: B22^-1 U2' and V1 R + V2, in scaled units */
static bool write_finite(const splitting *s, coupling *c, double *P, double *Q)
{
    const int n = s->n, k = c->k, f = c->f;
    dense_transpose(n, f, s->U + k * n, c->T);
    vector_copy(f * f, c->B22, c->copy);
    if (!pencil_solve(f, n, c->copy, c->T, c->singular)) return false;
    for (int j = 0; j < n; j++) vector_copy(f, c->T + j * f, P + j * n);
    dense_multiply(n, f, k, s->V, c->R, Q);
    vector_axpy(n * f, 1.0, s->V + k * n, Q);
    return true;
}

/* Infinite ones: T^-1 A11^-1 (U1' + L U2') and V1 T for the chains T of A11^-1 B11 */
static bool write_infinite(const splitting *s, coupling *c, const pencil *p, double *P, double *Q)
{
    const int n = s->n, k = c->k, f = c->f;
    double *chains = c->B12, *U2 = s->work, *rows = s->X; /* what was there is used up */
    vector_copy(k * k, c->A11, c->copy);
    vector_copy(k * k, c->B11, c->T);
    if (!pencil_solve(k, k, c->copy, c->T, c->singular)) return false;
    if (!jordan_chains(k, c->T, p->levels, p->blocks, chains)) return false;
    dense_multiply(n, k, k, s->V, chains, Q + f * n);
    dense_transpose(n, f, s->U + k * n, U2);
    dense_multiply(k, n, f, c->L, U2, rows);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < k; i++) rows[i + j * k] += s->U[j + i * n];
    if (!pencil_solve(k, n, c->A11, rows, c->singular) ||
        !pencil_solve(k, n, chains, rows, c->singular))
        return false;
    for (int j = 0; j < n; j++) vector_copy(k, rows + j * k, P + f + j * n);
    return true;
}

/* From scaled to given units; links of chains stay 1 */
static void unscale(const pencil *p, const scaled_pencil *s, double *P, double *Q)
{
    const int n = p->n;
    const double ratio = s->beta / s->alpha;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            P[i + j * n] *= s->row[j] / (i < p->finite ? s->beta : s->alpha);
            Q[i + j * n] *= s->column[i];
        }
    int at = p->finite;
    for (int size = p->levels; size >= 1; size--)
        for (int b = 0; b < p->blocks[size - 1]; b++)
            for (int i = 0; i < size; i++, at++) {
                const double factor = pow(ratio, i);
                for (int j = 0; j < n; j++) {
                    P[at + j * n] *= factor;
                    Q[j + at * n] /= factor;
                }
            }
}

static bool splitting_new(splitting *s, int n)
{
    const int all = n * n + 1;
    *s = (splitting){.n = n,
                     .U = DAE_ARRAY(double, all),
                     .V = DAE_ARRAY(double, all),
                     .A = DAE_ARRAY(double, all),
                     .B = DAE_ARRAY(double, all),
                     .X = DAE_ARRAY(double, all),
                     .work = DAE_ARRAY(double, all)};
    return s->U && s->V && s->A && s->B && s->X && s->work;
}

pencil_status pencil_weierstrass(const pencil *p, const scaled_pencil *scaled, double tolerance,
                                 double *P, double *Q)
{
    splitting s;
    coupling c = {0};
    bool ok = splitting_new(&s, p->n) && split_infinite(&s, scaled, tolerance);
    if (ok && s.infinite != p->infinite) s.unclear = true;
    ok = ok && !s.unclear && coupling_new(&c, &s) && decouple(&c) && write_finite(&s, &c, P, Q) &&
         write_infinite(&s, &c, p, P, Q);
    if (ok) unscale(p, scaled, P, Q);
    coupling_free(&c);
    splitting_free(&s);
    return ok ? PENCIL_OK : s.unclear ? PENCIL_UNCLEAR : PENCIL_MEMORY;
}
