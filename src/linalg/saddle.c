/* Notation: rows of B = F' and of C are kept by rows (row k at [k*n]), so that elimination, scalar
 * products and triangular solves all run along contiguous memory.
 *
 * The constraints are eliminated row by row with column interchanges: a row without a pivot depends
 * on the rows before it, which is what a user wants to know.
 *
 * LDL' is not among the ways: the matrices of half-explicit stages are not symmetric (B and C
 * belong to different points), and where M is singular the null spaces do the same at a third of
 * the cost of the whole matrix. */
#include "linalg/saddle.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/linear_solver.h"
#include "linalg/saddle_schur.h"
#include "linalg/saddle_small.h"

#include <float.h>
#include <math.h>

/* A pivot below this part of its row's largest entry counts as zero: n roundings of a row that
 * depends on others leave about n u, and n is below 100 where this is used. */
static const double PIVOT_LIMIT = 1e-13;

/* Above this size of the whole matrix, full matrices go to LAPACK and sparse ones to KLU; below,
 * patterns are expanded. Andrews (13), seven-link chains and the like stay with the own kernels. */
enum { SMALL = 64 };

/* L U of a rows x columns matrix, rows <= columns, by rows: A P = L [U1 U2]. */
typedef struct row_lu {
    int rows, columns;
    double *A;          /* owned: L strictly below the diagonal, U1 and U2 */
    double *reciprocal; /* owned: 1 / U(k,k) */
    int *column;        /* owned: column k of A P is column column[k] */
    double *basis;      /* owned: U1^-1 U2 by columns, rows x (columns - rows) */
} row_lu;

struct saddle {
    saddle_shape shape;
    saddle_kind kind;
    int n, m, dof, block; /* dof = n - m */
    bool symmetric;
    int row;
    int *M_colptr, *M_rowind, *C_colptr, *C_rowind, *F_colptr, *F_rowind; /* owned copies */
    double *mass;          /* M by blocks: column j at [j*block], rows from the block's first */
    double *cholesky;      /* L in the same layout, with reciprocal diagonals */
    double *TB, *TC;       /* RANGE: rows L^-1 B(k,:)', L^-1 C(k,:)' */
    row_lu schur;          /* RANGE: S, square */
    row_lu B, C;           /* NULL */
    row_lu reduced;        /* NULL: W' M Z, square */
    double *MZ;            /* NULL: M Z by columns, n x dof */
    small_null *small;     /* NULL, and few rows */
    small_range *diagonal; /* RANGE, M diagonal, and few rows */
    double *full;          /* NULL, few rows, M by blocks smaller than n: M, n x n */
    double *work;          /* 3 (n + m) */
    sparse_schur *sparse;  /* SCHUR */
    matrix_layout layout;  /* AUGMENTED, SPARSE */
    linear_solver *solver;
    double *values;
    size_t *place; /* SPARSE: where the values of M, F, C go, in this order */
    size_t M_count, F_count, C_count;
};

/* ---- elimination by rows ---- */

static bool row_lu_new(row_lu *f, int rows, int columns)
{
    size_t size = (size_t)rows * (size_t)columns;
    f->rows = rows;
    f->columns = columns;
    f->A = DAE_ARRAY(double, size);
    f->reciprocal = DAE_ARRAY(double, rows);
    f->column = DAE_ARRAY(int, columns);
    f->basis = DAE_ARRAY(double, size);
    return f->A && f->reciprocal && f->column && f->basis;
}

static void row_lu_free(row_lu *f)
{
    dae_free_all(f->A, f->reciprocal, f->column, f->basis);
}

/* Exchange columns k and p. */
static void swap_columns(row_lu *f, int k, int p)
{
    for (int i = 0; i < f->rows; i++) {
        double *row = f->A + (size_t)i * (size_t)f->columns, t = row[k];
        row[k] = row[p];
        row[p] = t;
    }
    int t = f->column[k];
    f->column[k] = f->column[p];
    f->column[p] = t;
}

/* row_i -= (row_i[k] / pivot) row_k for i > k; the quotient is kept in row_i[k]. Constraints share
 * few variables: half of the rows of Andrews' mechanism have a zero there. */
static inline void eliminate(row_lu *f, int k)
{
    const int n = f->columns;
    const double *restrict pivot = f->A + (size_t)k * (size_t)n;
    for (int i = k + 1; i < f->rows; i++) {
        double *restrict row = f->A + (size_t)i * (size_t)n;
        if (row[k] == 0.0) continue;
        const double l = row[k] *= f->reciprocal[k];
        for (int j = k + 1; j < n; j++) row[j] -= l * pivot[j];
    }
}

/* A P = L U for A in f->A; returns the first row without a pivot, or rows. NaN has none. */
static int row_lu_factor(row_lu *f)
{
    const int n = f->columns;
    for (int j = 0; j < n; j++) f->column[j] = j;
    /* The scale of a row is its largest entry before elimination; kept where 1/U goes later. */
    for (int k = 0; k < f->rows; k++) {
        const double *row = f->A + (size_t)k * (size_t)n;
        double scale = 0.0;
        for (int j = 0; j < n; j++) scale = fabs(row[j]) > scale ? fabs(row[j]) : scale;
        f->reciprocal[k] = scale;
    }
    for (int k = 0; k < f->rows; k++) {
        const double *row = f->A + (size_t)k * (size_t)n, scale = f->reciprocal[k];
        int p = k;
        double size = fabs(row[k]);
        for (int j = k + 1; j < n; j++)
            if (fabs(row[j]) > size) size = fabs(row[p = j]);
        if (!(size > PIVOT_LIMIT * scale && size >= DBL_MIN && size <= DBL_MAX)) return k;
        if (p != k) swap_columns(f, k, p);
        f->reciprocal[k] = 1.0 / row[k];
        eliminate(f, k);
    }
    return f->rows;
}

/* b := L^-1 b */
static inline void forward(const row_lu *f, double *restrict b)
{
    for (int i = 1; i < f->rows; i++) {
        const double *restrict row = f->A + (size_t)i * (size_t)f->columns;
        double sum = b[i];
        for (int k = 0; k < i; k++) sum -= row[k] * b[k];
        b[i] = sum;
    }
}

/* b := U1^-1 b */
static inline void backward(const row_lu *f, double *restrict b)
{
    for (int i = f->rows - 1; i >= 0; i--) {
        const double *restrict row = f->A + (size_t)i * (size_t)f->columns;
        double sum = b[i];
        for (int k = i + 1; k < f->rows; k++) sum -= row[k] * b[k];
        b[i] = sum * f->reciprocal[i];
    }
}

/* b := L^-T U1^-T b */
static inline void transposed_solve(const row_lu *f, double *restrict b)
{
    for (int k = 0; k < f->rows; k++) {
        const double *restrict row = f->A + (size_t)k * (size_t)f->columns;
        const double t = b[k] *= f->reciprocal[k];
        for (int i = k + 1; i < f->rows; i++) b[i] -= row[i] * t;
    }
    for (int k = f->rows - 1; k > 0; k--) {
        const double *restrict row = f->A + (size_t)k * (size_t)f->columns;
        for (int i = 0; i < k; i++) b[i] -= row[i] * b[k];
    }
}

/* basis = U1^-1 U2: the null space is spanned by P (-basis; I) */
static void null_basis(row_lu *f)
{
    for (int j = f->rows; j < f->columns; j++) {
        double *b = f->basis + (size_t)(j - f->rows) * (size_t)f->rows;
        for (int i = 0; i < f->rows; i++) b[i] = f->A[(size_t)i * (size_t)f->columns + (size_t)j];
        backward(f, b);
    }
}

/* Square: b := A^-1 b; work of length rows */
static void row_lu_solve(const row_lu *f, double *b, double *work)
{
    forward(f, b);
    backward(f, b);
    for (int k = 0; k < f->rows; k++) work[f->column[k]] = b[k];
    vector_copy(f->rows, work, b);
}

static void row_lu_persist(row_lu *f, persist *p)
{
    persist_block(p, f->A);
    persist_block(p, f->reciprocal);
    persist_block(p, f->column);
    persist_block(p, f->basis);
}

void saddle_persist(saddle *s, const persist_home *home, persist *p)
{
    void *const blocks[] = {s->mass, s->cholesky, s->TB, s->TC, s->MZ, s->full, s->values};
    row_lu *const factors[] = {&s->schur, &s->B, &s->C, &s->reduced};
    PERSIST(p, s->symmetric);
    PERSIST(p, s->row);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        if (blocks[k]) persist_block(p, blocks[k]);
    for (size_t k = 0; k < sizeof factors / sizeof *factors; k++)
        if (factors[k]->A) row_lu_persist(factors[k], p);
    if (s->small) small_null_persist(s->small, s->full ? s->full : s->mass, p);
    if (s->diagonal) small_range_persist(s->diagonal, home, p);
    if (s->sparse) schur_persist(s->sparse, home, p);
    if (s->solver) linear_persist(s->solver, p);
}

/* ---- loading values ---- */

/* out[i*down + j*across] = A(i,j) of an m x n matrix given by columns */
static void load(int m, int n, const int *colptr, const int *rowind, const double *values, int down,
                 int across, double *out)
{
    const size_t bytes = (size_t)m * (size_t)n * sizeof *out;
    if (bytes == 0) return; /* no constraints: there may be no values */
    if (!colptr && down == 1) {
        memcpy(out, values, bytes);
        return;
    }
    if (colptr) memset(out, 0, bytes);
    for (int j = 0; j < n; j++) {
        const int end = colptr ? colptr[j + 1] : (j + 1) * m;
        for (int k = colptr ? colptr[j] : j * m; k < end; k++)
            out[(size_t)(colptr ? rowind[k] : k - j * m) * (size_t)down +
                (size_t)j * (size_t)across] = values[k];
    }
}

/* C by rows */
static void load_C(const saddle *s, const double *C, double *rows)
{
    load(s->m, s->n, s->C_colptr, s->C_rowind, C, s->n, 1, rows);
}

/* B = F' by rows, which are the columns of F */
static void load_B(const saddle *s, const double *F, double *rows)
{
    if (s->shape.transposed)
        load_C(s, F, rows);
    else
        load(s->n, s->m, s->F_colptr, s->F_rowind, F, 1, s->n, rows);
}

/* M by blocks */
static void load_mass(saddle *s, const double *M)
{
    const int n = s->n, b = s->block;
    if (!s->M_colptr && b == n) {
        vector_copy(n * n, M, s->mass);
        return;
    }
    if (s->M_colptr) vector_zero(n * b, s->mass);
    for (int j = 0; j < n; j++) {
        int first = j - j % b, rows = first + b <= n ? b : n - first;
        double *column = s->mass + (size_t)j * (size_t)b;
        if (!s->M_colptr) {
            vector_copy(rows, M + (size_t)j * (size_t)n + first, column);
            continue;
        }
        for (int k = s->M_colptr[j]; k < s->M_colptr[j + 1]; k++) {
            int i = s->M_rowind[k] - first;
            if (i >= 0 && i < rows) column[i] = M[k];
        }
    }
}

/* M by blocks into full columns; outside of the blocks there are zeros already */
static void expand_mass(saddle *s)
{
    const int n = s->n, b = s->block;
    for (int j = 0; j < n; j++) {
        int first = j - j % b, rows = first + b <= n ? b : n - first;
        vector_copy(rows, s->mass + (size_t)j * (size_t)b, s->full + j * n + first);
    }
}

/* y = M x, block by block */
static void multiply_mass(const saddle *s, const double *restrict x, double *restrict y)
{
    const int n = s->n, b = s->block;
    if (b == 1) {
        for (int j = 0; j < n; j++) y[j] = s->mass[j] * x[j];
        return;
    }
    vector_zero(n, y);
    for (int j = 0; j < n; j++) {
        int first = j - j % b, rows = first + b <= n ? b : n - first;
        const double *restrict column = s->mass + (size_t)j * (size_t)b;
        const double t = x[j];
        if (t == 0.0) continue;
        for (int i = 0; i < rows; i++) y[first + i] += column[i] * t;
    }
}

/* ---- range space ---- */

/* Cholesky factor of the block of M at `first`, by columns; diagonals are reciprocal. */
static bool block_cholesky(saddle *s, int first, int size)
{
    const int b = s->block;
    double *L = s->cholesky + (size_t)first * (size_t)b;
    const double *M = s->mass + (size_t)first * (size_t)b;
    for (int j = 0; j < size; j++) {
        double *restrict column = L + (size_t)j * (size_t)b;
        vector_copy(size - j, M + (size_t)j * (size_t)b + j, column + j);
        for (int k = 0; k < j; k++) {
            const double *restrict left = L + (size_t)k * (size_t)b;
            const double l = left[j];
            for (int i = j; i < size; i++) column[i] -= l * left[i];
        }
        double d = column[j];
        if (!(d > 10.0 * DBL_EPSILON * fabs(M[(size_t)j * (size_t)b + (size_t)j]))) return false;
        const double r = 1.0 / sqrt(d);
        for (int i = j + 1; i < size; i++) column[i] *= r;
        column[j] = r;
    }
    return true;
}

/* M = L L'; false if M is not positive definite */
static bool mass_cholesky(saddle *s)
{
    for (int first = 0; first < s->n; first += s->block) {
        int size = first + s->block <= s->n ? s->block : s->n - first;
        if (!block_cholesky(s, first, size)) return false;
    }
    return true;
}

/* Whether a diagonal M has no entry that is zero, negative or not finite */
static bool mass_positive(const saddle *s)
{
    bool positive = true;
    for (int j = 0; j < s->n; j++)
        positive = s->mass[j] >= DBL_MIN && s->mass[j] <= DBL_MAX && positive;
    return positive;
}

/* b := L^-1 b */
static void cholesky_forward(const saddle *s, double *restrict x)
{
    const int n = s->n, b = s->block;
    if (b == 1) {
        for (int j = 0; j < n; j++) x[j] *= s->cholesky[j];
        return;
    }
    for (int j = 0; j < n; j++) {
        int at = j % b, first = j - at, rows = first + b <= n ? b : n - first;
        const double *restrict column = s->cholesky + (size_t)j * (size_t)b;
        const double t = x[j] *= column[at];
        for (int i = at + 1; i < rows; i++) x[first + i] -= column[i] * t;
    }
}

/* b := L^-T b */
static void cholesky_backward(const saddle *s, double *restrict x)
{
    const int n = s->n, b = s->block;
    for (int j = n - 1; j >= 0; j--) {
        int at = j % b, first = j - at, rows = first + b <= n ? b : n - first;
        const double *restrict column = s->cholesky + (size_t)j * (size_t)b;
        double sum = x[j];
        for (int i = at + 1; i < rows; i++) sum -= column[i] * x[first + i];
        x[j] = sum * column[at];
    }
}

/* S = (L^-1 C')' (L^-1 B') and its factors; `mass` tells that M is new */
static saddle_status factor_range(saddle *s, bool mass, const double *F, const double *C)
{
    const int n = s->n, m = s->m;
    if (s->diagonal) {
        s->row = small_range_factor(s->diagonal, mass ? s->mass : NULL, F, C);
        return s->row >= 0 ? SADDLE_DEPENDENT : SADDLE_OK;
    }
    load_C(s, C, s->TC);
    if (!s->shape.identity)
        for (int k = 0; k < m; k++) cholesky_forward(s, s->TC + (size_t)k * (size_t)n);
    const double *TB = s->symmetric ? s->TC : s->TB;
    if (!s->symmetric) {
        load_B(s, F, s->TB);
        if (!s->shape.identity)
            for (int k = 0; k < m; k++) cholesky_forward(s, s->TB + (size_t)k * (size_t)n);
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            s->schur.A[(size_t)i * (size_t)m + (size_t)j] =
                s->symmetric && j < i
                    ? s->schur.A[(size_t)j * (size_t)m + (size_t)i]
                    : vector_dot(n, s->TC + (size_t)i * (size_t)n, TB + (size_t)j * (size_t)n);
    s->row = row_lu_factor(&s->schur);
    return s->row < m ? SADDLE_DEPENDENT : SADDLE_OK;
}

/* S lambda = C M^-1 f - r, x = M^-1 (f - F lambda) */
static void solve_range(saddle *s, double *x, double *lambda)
{
    const int n = s->n, m = s->m;
    if (s->diagonal) {
        small_range_solve(s->diagonal, x, lambda);
        return;
    }
    const double *TB = s->symmetric ? s->TC : s->TB;
    if (!s->shape.identity) cholesky_forward(s, x);
    for (int k = 0; k < m; k++)
        lambda[k] = vector_dot(n, s->TC + (size_t)k * (size_t)n, x) - lambda[k];
    row_lu_solve(&s->schur, lambda, s->work);
    for (int k = 0; k < m; k++) vector_axpy(n, -lambda[k], TB + (size_t)k * (size_t)n, x);
    if (!s->shape.identity) cholesky_backward(s, x);
}

/* ---- null space ---- */

/* x = P (-basis w; w) for one column of the null basis, w = e_j */
static void null_vector(const row_lu *f, int j, double *x)
{
    const double *basis = f->basis + (size_t)j * (size_t)f->rows;
    vector_zero(f->columns, x);
    for (int i = 0; i < f->rows; i++) x[f->column[i]] = -basis[i];
    x[f->column[f->rows + j]] = 1.0;
}

/* W' v for the null basis W of f: component j of it */
static double null_product(const row_lu *f, int j, const double *v)
{
    const double *basis = f->basis + (size_t)j * (size_t)f->rows;
    double sum = v[f->column[f->rows + j]];
    for (int i = 0; i < f->rows; i++) sum -= basis[i] * v[f->column[i]];
    return sum;
}

/* Null spaces by exchanges */
static saddle_status factor_small(saddle *s, const double *F, const double *C)
{
    const int n = s->n, m = s->m;
    load(m, n, s->C_colptr, s->C_rowind, C, 1, m, small_null_C(s->small));
    if (!s->symmetric && s->shape.transposed)
        load(m, n, s->C_colptr, s->C_rowind, F, 1, m, small_null_B(s->small));
    else if (!s->symmetric)
        load(n, m, s->F_colptr, s->F_rowind, F, m, 1, small_null_B(s->small));
    s->row = small_null_factor(s->small, s->full ? s->full : s->mass, s->symmetric);
    if (s->row < 0) return SADDLE_OK;
    if (s->row < m) return SADDLE_DEPENDENT;
    s->row = -1;
    return SADDLE_SINGULAR;
}

static saddle_status factor_null(saddle *s, const double *F, const double *C)
{
    if (s->small) return factor_small(s, F, C);
    const int n = s->n, m = s->m, dof = s->dof;
    load_C(s, C, s->C.A);
    s->row = row_lu_factor(&s->C);
    if (s->row < m) return SADDLE_DEPENDENT;
    null_basis(&s->C);
    if (!s->symmetric) {
        load_B(s, F, s->B.A);
        s->row = row_lu_factor(&s->B);
        if (s->row < m) return SADDLE_DEPENDENT;
        null_basis(&s->B);
    }
    const row_lu *B = s->symmetric ? &s->C : &s->B;
    for (int j = 0; j < dof; j++) {
        double *column = s->MZ + (size_t)j * (size_t)n;
        null_vector(&s->C, j, s->work);
        multiply_mass(s, s->work, column);
        for (int i = 0; i < dof; i++)
            s->reduced.A[(size_t)i * (size_t)dof + (size_t)j] = null_product(B, i, column);
    }
    s->row = -1;
    return row_lu_factor(&s->reduced) < dof ? SADDLE_SINGULAR : SADDLE_OK;
}

/* x = x_p + Z w with C x_p = r, W'M Z w = W'(f - M x_p); then B1' lambda = (f - M x)_1 */
static void solve_null(saddle *s, double *x, double *lambda)
{
    const int n = s->n, m = s->m, dof = s->dof;
    const row_lu *B = s->symmetric ? &s->C : &s->B;
    double *particular = s->work, *force = s->work + n, *w = s->work + 2 * n;
    forward(&s->C, lambda);
    backward(&s->C, lambda);
    vector_zero(n, particular);
    for (int i = 0; i < m; i++) particular[s->C.column[i]] = lambda[i];
    multiply_mass(s, particular, force);
    for (int i = 0; i < n; i++) force[i] = x[i] - force[i];
    for (int j = 0; j < dof; j++) w[j] = null_product(B, j, force);
    row_lu_solve(&s->reduced, w, x);
    for (int j = 0; j < dof; j++) {
        const double *basis = s->C.basis + (size_t)j * (size_t)m;
        for (int i = 0; i < m; i++) particular[s->C.column[i]] -= basis[i] * w[j];
        particular[s->C.column[m + j]] = w[j];
        vector_axpy(n, -w[j], s->MZ + (size_t)j * (size_t)n, force);
    }
    for (int i = 0; i < m; i++) lambda[i] = force[B->column[i]];
    transposed_solve(B, lambda);
    vector_copy(n, particular, x);
}

/* ---- the whole matrix ---- */

/* Scatter the values of one part to their places in the whole. */
static void scatter(saddle *s, size_t first, size_t count, const double *values)
{
    for (size_t k = 0; k < count; k++) s->values[s->place[first + k]] = values[k];
}

/* A dependent row of C by elimination on a copy, for messages; -1: none, or no memory */
static int find_dependent(const saddle *s, const double *C)
{
    row_lu f = {0};
    int row = -1;
    if (row_lu_new(&f, s->m, s->n)) {
        load_C(s, C, f.A);
        row = row_lu_factor(&f);
    }
    row_lu_free(&f);
    return row < s->m ? row : -1;
}

static saddle_status factor_whole(saddle *s, const double *M, const double *F, const double *C)
{
    if (M) scatter(s, 0, s->M_count, M);
    scatter(s, s->M_count, s->F_count, F);
    scatter(s, s->M_count + s->F_count, s->C_count, C);
    linear_status status = linear_factor(s->solver, s->values);
    if (status == LINEAR_OK) return SADDLE_OK;
    if (status == LINEAR_MEMORY) return SADDLE_MEMORY;
    s->row = find_dependent(s, C);
    return s->row >= 0 ? SADDLE_DEPENDENT : SADDLE_SINGULAR;
}

static void solve_whole(saddle *s, double *x, double *lambda)
{
    vector_copy(s->n, x, s->work);
    vector_copy(s->m, lambda, s->work + s->n);
    linear_solve(s->solver, s->work);
    vector_copy(s->n, s->work, x);
    vector_copy(s->m, s->work + s->n, lambda);
}

/* One entry of the whole matrix and which value goes there. */
typedef struct entry {
    int row, column;
} entry;

/* Entries of one part, shifted by (row, column), or transposed; returns how many. */
static size_t list_part(int rows, int columns, const int *colptr, const int *rowind, bool transpose,
                        int row, int column, entry *list)
{
    size_t count = 0;
    for (int j = 0; j < columns; j++) {
        int end = colptr ? colptr[j + 1] : rows;
        for (int k = colptr ? colptr[j] : 0; k < end; k++, count++) {
            int i = colptr ? rowind[k] : k;
            if (list)
                list[count] =
                    transpose ? (entry){row + j, column + i} : (entry){row + i, column + j};
        }
    }
    return count;
}

/* All entries in the order M, F, C; counts are set. */
static size_t list_whole(saddle *s, entry *list)
{
    const int n = s->n, m = s->m;
    s->M_count =
        s->shape.identity ? 0 : list_part(n, n, s->M_colptr, s->M_rowind, false, 0, 0, list);
    entry *next = list ? list + s->M_count : NULL;
    s->F_count = s->shape.transposed ? list_part(m, n, s->C_colptr, s->C_rowind, true, 0, n, next)
                                     : list_part(n, m, s->F_colptr, s->F_rowind, false, 0, n, next);
    next = list ? next + s->F_count : NULL;
    s->C_count = list_part(m, n, s->C_colptr, s->C_rowind, false, n, 0, next);
    size_t count = s->M_count + s->F_count + s->C_count;
    if (s->shape.identity)
        for (int j = 0; j < n; j++, count++)
            if (list) list[count] = (entry){j, j};
    return count;
}

/* Compressed columns of the listed entries, which are distinct; rows increasing. */
static bool compress(saddle *s, const entry *list, size_t count)
{
    const int size = s->n + s->m;
    int *colptr = DAE_ARRAY(int, size + 2), *rowptr = DAE_ARRAY(int, size + 2);
    int *rowind = DAE_ARRAY(int, count), *by_row = DAE_ARRAY(int, count);
    bool fits = colptr && rowptr && rowind && by_row;
    if (fits) {
        for (size_t k = 0; k < count; k++) {
            rowptr[list[k].row + 2]++;
            colptr[list[k].column + 2]++;
        }
        for (int j = 0; j <= size; j++) {
            rowptr[j + 1] += rowptr[j];
            colptr[j + 1] += colptr[j];
        }
        for (size_t k = 0; k < count; k++) by_row[rowptr[list[k].row + 1]++] = (int)k;
        for (size_t k = 0; k < count; k++) { /* by rows, so that rows increase in columns */
            const entry *e = &list[by_row[k]];
            int at = colptr[e->column + 1]++;
            rowind[at] = e->row;
            s->place[by_row[k]] = (size_t)at;
        }
        fits = layout_sparse(&s->layout, size, colptr, rowind);
    }
    dae_free_all(colptr, rowptr, rowind, by_row);
    return fits;
}

/* Layout of the whole matrix, places of the values, and its solver. */
static bool whole_new(saddle *s)
{
    const int size = s->n + s->m;
    size_t count = list_whole(s, NULL);
    entry *list = DAE_ARRAY(entry, count);
    s->place = DAE_ARRAY(size_t, count);
    bool fits = list && s->place;
    if (fits) {
        list_whole(s, list);
        fits = s->kind == SADDLE_SPARSE ? compress(s, list, count) : layout_dense(&s->layout, size);
    }
    if (fits && s->kind == SADDLE_AUGMENTED)
        for (size_t k = 0; k < count; k++)
            s->place[k] = (size_t)list[k].column * (size_t)size + (size_t)list[k].row;
    dae_free(list);
    if (!fits) return false;
    s->values = DAE_ARRAY(double, s->layout.count);
    if (!s->values) return false;
    if (s->shape.identity)
        for (size_t k = count - (size_t)s->n; k < count; k++) s->values[s->place[k]] = 1.0;
    s->solver = linear_new(&s->layout);
    return s->solver != NULL;
}

/* ---- the choice, and the outside ---- */

/* Multiplications of the range space way for one matrix. */
static double range_cost(double n, double m, double block)
{
    return n * block * block / 6.0 + n * block * m + n * m * m + m * m * m / 3.0;
}

/* Multiplications of the null space way. */
static double null_cost(double n, double m, double block)
{
    double dof = n - m;
    return 2.0 * (m * m * n / 2.0 - m * m * m / 6.0 + m * m * dof / 2.0) + n * block * dof +
           m * dof * dof + dof * dof * dof / 3.0;
}

/* The way for a shape: sparse for large patterns, then by the count of multiplications. */
static saddle_kind choose(const saddle *s)
{
    const int n = s->n, m = s->m;
    bool large = n + m > SMALL;
    bool diagonal = s->block == 1 && s->shape.transposed && m > 0;
    if (large && diagonal && s->C_colptr && schur_fits(n, s->C_colptr)) return SADDLE_SCHUR;
    if (large && (m > 0 ? s->C_colptr : s->M_colptr)) return SADDLE_SPARSE;
    bool range = range_cost(n, m, s->block) <= null_cost(n, m, s->block);
    if (large && !(range && s->block * 4 <= n)) return SADDLE_AUGMENTED;
    return range ? SADDLE_RANGE : SADDLE_NULL;
}

static bool copy_pattern(const saddle_layout *from, int columns, int **colptr, int **rowind)
{
    if (!from->colptr) return true;
    *colptr = dae_copy(from->colptr, (size_t)columns + 1, sizeof(int));
    *rowind = dae_copy(from->rowind, (size_t)from->colptr[columns], sizeof(int));
    return *colptr && *rowind;
}

/* Work of the dense ways; the null space one is kept ready for masses that turn out singular. */
static bool dense_new(saddle *s)
{
    size_t n = (size_t)s->n, m = (size_t)s->m, dof = (size_t)s->dof;
    s->mass = DAE_ARRAY(double, n *(size_t)s->block);
    s->cholesky = DAE_ARRAY(double, n *(size_t)s->block);
    s->TB = DAE_ARRAY(double, n *m);
    s->TC = DAE_ARRAY(double, n *m);
    s->MZ = DAE_ARRAY(double, n *dof);
    if (!s->mass || !s->cholesky || !s->TB || !s->TC || !s->MZ) return false;
    if (s->shape.identity)
        for (int j = 0; j < s->n; j++) s->mass[j] = s->cholesky[j] = 1.0;
    if (s->kind == SADDLE_RANGE && s->block == 1 && s->shape.transposed && small_range_fits(s->m)) {
        s->diagonal = small_range_new(s->n, s->m, s->C_colptr, s->C_rowind);
        if (!s->diagonal) return false;
    }
    if (s->kind == SADDLE_NULL && small_null_fits(s->n, s->m)) {
        s->small = small_null_new(s->n, s->m);
        if (s->block < s->n) s->full = DAE_ARRAY(double, n *n);
        if (!s->small || (s->block < s->n && !s->full)) return false;
        if (s->shape.identity && s->full) expand_mass(s); /* else the mass is full: n = 1 */
    }
    return row_lu_new(&s->schur, s->m, s->m) && row_lu_new(&s->B, s->m, s->n) &&
           row_lu_new(&s->C, s->m, s->n) && row_lu_new(&s->reduced, s->dof, s->dof);
}

/* The sparse Schur complement; 1/M is kept where dense ways have M. */
static bool schur_parts_new(saddle *s)
{
    s->mass = DAE_ARRAY(double, s->n);
    s->sparse = schur_new(s->n, s->m, s->C_colptr, s->C_rowind);
    return s->mass && s->sparse;
}

saddle *saddle_new(const saddle_shape *shape)
{
    saddle *s = DAE_NEW(saddle);
    if (!s) return NULL;
    s->shape = *shape;
    s->n = shape->n;
    s->m = shape->m;
    s->dof = shape->n > shape->m ? shape->n - shape->m : 0;
    s->block = shape->identity ? 1 : shape->block > 0 ? shape->block : shape->n;
    if (s->block < 1) s->block = 1;
    bool fits = copy_pattern(&shape->M, s->n, &s->M_colptr, &s->M_rowind) &&
                copy_pattern(&shape->C, s->n, &s->C_colptr, &s->C_rowind) &&
                (shape->transposed || copy_pattern(&shape->F, s->m, &s->F_colptr, &s->F_rowind));
    s->work = DAE_ARRAY(double, 3 * (size_t)(s->n + s->m));
    s->kind = choose(s);
    if (fits && s->work && s->kind == SADDLE_SCHUR) fits = schur_parts_new(s);
    if (fits && s->work && s->kind >= SADDLE_AUGMENTED) fits = whole_new(s);
    if (fits && s->work && s->kind < SADDLE_SCHUR) fits = dense_new(s);
    if (fits && s->work) return s;
    saddle_free(s);
    return NULL;
}

void saddle_free(saddle *s)
{
    if (!s) return;
    dae_free_all(s->M_colptr, s->M_rowind, s->C_colptr, s->C_rowind, s->F_colptr, s->F_rowind,
                 s->mass, s->cholesky, s->TB, s->TC, s->MZ, s->work, s->values, s->place, s->full);
    row_lu_free(&s->schur);
    row_lu_free(&s->B);
    row_lu_free(&s->C);
    row_lu_free(&s->reduced);
    if (s->solver) linear_free(s->solver);
    schur_free(s->sparse);
    small_null_free(s->small);
    small_range_free(s->diagonal);
    layout_free(&s->layout);
    dae_free(s);
}

saddle_kind saddle_way(const saddle *s)
{
    return s->kind;
}

/* Whether everything that was factored is finite: a failed pivot may be a NaN. */
static bool values_finite(const saddle *s, const double *F, const double *C)
{
    size_t F_count = s->shape.transposed
                         ? (s->C_colptr ? (size_t)s->C_colptr[s->n] : (size_t)s->n * (size_t)s->m)
                         : (s->F_colptr ? (size_t)s->F_colptr[s->m] : (size_t)s->n * (size_t)s->m);
    size_t C_count = s->C_colptr ? (size_t)s->C_colptr[s->n] : (size_t)s->n * (size_t)s->m;
    bool mass = !s->mass || vector_finite(s->n * s->block, s->mass);
    return mass && vector_finite((int)F_count, F) && vector_finite((int)C_count, C);
}

/* M into blocks, and its Cholesky factor for the range space; a mass that is not positive definite
 * turns to the null space for good. False: not finite. */
static bool take_mass(saddle *s, const double *M)
{
    load_mass(s, M);
    if (s->kind == SADDLE_RANGE) {
        if (s->diagonal ? mass_positive(s) : mass_cholesky(s)) return true;
        if (!vector_finite(s->n * s->block, s->mass)) return false;
        s->kind = SADDLE_NULL;
    }
    if (s->full) expand_mass(s);
    return true;
}

/* S = C M^-1 F, sparse. A mass that is not positive turns to the whole matrix for good. */
static saddle_status factor_schur(saddle *s, const double *M, const double *F, const double *C)
{
    if (M) {
        load_mass(s, M);
        for (int j = 0; j < s->n; j++) {
            if (s->mass[j] > 0.0) continue;
            if (isnan(s->mass[j])) return SADDLE_NOT_FINITE;
            s->kind = SADDLE_SPARSE;
            return whole_new(s) ? factor_whole(s, M, F, C) : SADDLE_MEMORY;
        }
        for (int j = 0; j < s->n; j++) s->mass[j] = 1.0 / s->mass[j];
    }
    linear_status status = schur_factor(s->sparse, M ? s->mass : NULL, F, C);
    if (status == LINEAR_OK) return SADDLE_OK;
    if (status == LINEAR_MEMORY) return SADDLE_MEMORY;
    s->row = find_dependent(s, C);
    return SADDLE_DEPENDENT;
}

saddle_status saddle_factor(saddle *s, const double *M, const double *F, const double *C)
{
    s->row = -1;
    s->symmetric = s->shape.transposed && F == C;
    saddle_status status = SADDLE_NOT_FINITE;
    if (s->m > s->n) {
        s->row = s->n;
        return SADDLE_DEPENDENT;
    }
    if (s->kind >= SADDLE_AUGMENTED) {
        status = factor_whole(s, M, F, C);
    } else if (s->kind == SADDLE_SCHUR) {
        status = factor_schur(s, M, F, C);
    } else if (!M || take_mass(s, M)) {
        status = s->kind == SADDLE_RANGE ? factor_range(s, M != NULL, F, C) : factor_null(s, F, C);
    }
    bool bad = status == SADDLE_DEPENDENT || status == SADDLE_SINGULAR;
    return bad && !values_finite(s, F, C) ? SADDLE_NOT_FINITE : status;
}

void saddle_solve(saddle *s, double *x, double *lambda)
{
    if (s->kind == SADDLE_NULL && s->small)
        small_null_solve(s->small, x, lambda, true);
    else if (s->kind >= SADDLE_AUGMENTED)
        solve_whole(s, x, lambda);
    else if (s->kind == SADDLE_SCHUR)
        schur_solve(s->sparse, x, lambda);
    else if (s->kind == SADDLE_RANGE)
        solve_range(s, x, lambda);
    else
        solve_null(s, x, lambda);
}

void saddle_solve_x(saddle *s, double *x, double *r)
{
    if (s->kind == SADDLE_NULL && s->small)
        small_null_solve(s->small, x, r, false);
    else
        saddle_solve(s, x, r);
}

int saddle_row(const saddle *s)
{
    return s->row;
}
