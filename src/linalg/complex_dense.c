/* Dense complex LU with partial pivoting: P A = L U. Own kernels for small matrices, on real and
 * imaginary parts apart; LAPACK above. Pivots are chosen by |re| + |im|, as LAPACK does. */
#include "base/memory.h"
#include "base/wide.h"
#include "linalg/complex_solver.h"
#include "linalg/lapack.h"
#include "linalg/short_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Up to this size the own kernels beat OpenBLAS's zgetrf and zgetrs at a factorisation with four
 * solutions; least of 15 runs on an AMD EPYC with AVX2. Factor 0.11 us at n = 3, 0.39 us at 8, 6 us
 * at 32, 18 against 21 us at 48, 46 against 40 us at 64; solve 0.04 us at 3, 0.12 us at 8, 1.1
 * against 2.6 us at 48, 1.7 against 4.2 us at 64. */
enum { CROSSOVER = 64 };
/* From this size on rows with at most two entries are eliminated before: 4 % fewer instructions for
 * all of radau on a pendulum (n = 5), 9 % on the car axis (n = 10), 3 % on Andrews' squeezer (n =
 * 20); 12 % more on van der Pol's equation (n = 2). */
enum { SHORT_ROWS_PAY = 4 };

typedef struct dense_solver {
    complex_solver base;
    /* Small: columns of `blocks` fours. L and U lie apart, with zeros elsewhere, so that whole
     * blocks can be subtracted whatever row of a block a column begins with. */
    short_rows aside; /* rows that are eliminated before */
    int left;         /* rows and columns that are factored */
    int blocks;
    four *lower_re, *lower_im;     /* n columns: L without its diagonal */
    four *upper_re, *upper_im;     /* n columns: U without its diagonal */
    double *pivot_re, *pivot_im;   /* n: 1/U(k,k) */
    int *permutation;              /* n: row i of P A is row permutation[i] of A */
    lapack_complex_double *lu, *x; /* n*n and n, large */
    int *swap;                     /* n: LAPACK's row interchanges */
} dense_solver;

static void dense_free(complex_solver *solver)
{
    dense_solver *s = (dense_solver *)solver;
    short_rows_free(&s->aside);
    dae_free(s->lower_re);
    dae_free(s->lower_im);
    dae_free(s->upper_re);
    dae_free(s->upper_im);
    dae_free(s->pivot_re);
    dae_free(s->pivot_im);
    dae_free(s->permutation);
    dae_free(s->lu);
    dae_free(s->x);
    dae_free(s->swap);
    dae_free(s);
}

static bool allocate_small(dense_solver *s, size_t n)
{
    s->blocks = (int)(n + 3) / 4;
    size_t count = n * (size_t)s->blocks;
    s->lower_re = DAE_ARRAY(four, count);
    s->lower_im = DAE_ARRAY(four, count);
    s->upper_re = DAE_ARRAY(four, count);
    s->upper_im = DAE_ARRAY(four, count);
    s->pivot_re = DAE_ARRAY(double, n);
    s->pivot_im = DAE_ARRAY(double, n);
    s->permutation = DAE_ARRAY(int, n);
    s->aside.none = n < SHORT_ROWS_PAY;
    if (!s->aside.none && !short_rows_new(&s->aside, (int)n)) return false;
    return s->lower_re && s->lower_im && s->upper_re && s->upper_im && s->pivot_re && s->pivot_im &&
           s->permutation;
}

static bool allocate_large(dense_solver *s, size_t n)
{
    s->lu = DAE_ARRAY(lapack_complex_double, n * n);
    s->x = DAE_ARRAY(lapack_complex_double, n);
    s->swap = DAE_ARRAY(int, n);
    return s->lu && s->x && s->swap;
}

static complex_solver *dense_analyse(const matrix_layout *layout, const linear_solver *real)
{
    (void)real;
    size_t n = (size_t)layout->n;
    dense_solver *s = DAE_NEW(dense_solver);
    if (!s) return NULL;
    s->base = (complex_solver){.ops = &complex_dense, .layout = layout, .singular_column = -1};
    if (n <= CROSSOVER ? allocate_small(s, n) : allocate_large(s, n)) return &s->base;
    dense_free(&s->base);
    return NULL;
}

/* Row of the largest |re_i| + |im_i|, i = k..n-1. A NaN at k stays there and fails the pivot test.
 */
DAE_INLINE int largest_row(int n, int k, const double *re, const double *im)
{
    int best = k;
    double most = fabs(re[k]) + fabs(im[k]);
    for (int i = k + 1; i < n; i++) {
        double size = fabs(re[i]) + fabs(im[i]);
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

/* Exchange rows k and p of `count` columns of ld values. */
DAE_INLINE void swap_rows(int count, int ld, int k, int p, double *a)
{
    for (int j = 0; j < count; j++, a += ld) {
        double t = a[k];
        a[k] = a[p];
        a[p] = t;
    }
}

/* 1 / (a + i b) without overflow on the way */
DAE_INLINE void reciprocal(double a, double b, double *re, double *im)
{
    if (fabs(a) >= fabs(b)) {
        double q = b / a, d = 1.0 / (a + b * q);
        *re = d;
        *im = -q * d;
    } else {
        double q = a / b, d = 1.0 / (a * q + b);
        *re = q * d;
        *im = -d;
    }
}

/* x := x - m u on blocks first .. last-1, u = ur + i ui */
DAE_INLINE void eliminate(int first, int last, const four *restrict mr, const four *restrict mi,
                          double ur, double ui, four *restrict xr, four *restrict xi)
{
    for (int b = first; b < last; b++) {
        const four r = mr[b], i = mi[b];
        xr[b] -= r * ur - i * ui;
        xi[b] -= r * ui + i * ur;
    }
}

/* The same on rows first .. last-1: a single block is not worth vectors, which would wait for the
 * scalar stores before them. */
DAE_INLINE void eliminate_rows(int first, int last, const double *restrict mr,
                               const double *restrict mi, double ur, double ui, double *restrict xr,
                               double *restrict xi)
{
    for (int i = first; i < last; i++) {
        xr[i] -= mr[i] * ur - mi[i] * ui;
        xi[i] -= mr[i] * ui + mi[i] * ur;
    }
}

/* Columns j > k of what is left of A, without their part along column k of L */
DAE_INLINE void update_columns(int n, int blocks, int k, dense_solver *s)
{
    const four *lr = s->lower_re + k * blocks, *li = s->lower_im + k * blocks;
    for (int j = k + 1; j < n; j++) {
        four *xr = s->upper_re + j * blocks, *xi = s->upper_im + j * blocks;
        double *yr = (double *)xr, *yi = (double *)xi;
        if (blocks == 1)
            eliminate_rows(k + 1, n, (const double *)lr, (const double *)li, yr[k], yi[k], yr, yi);
        else
            eliminate((k + 1) / 4, blocks, lr, li, yr[k], yi[k], xr, xi);
    }
}

/* l := (0, a(k+1..)) r: the multipliers of column k, zeros above */
DAE_INLINE void multipliers(int k, int ld, const double *restrict ar, const double *restrict ai,
                            double r, double q, double *restrict lr, double *restrict li)
{
    for (int i = (k + 1) & ~3; i <= k; i++) lr[i] = li[i] = 0.0;
    for (int i = k + 1; i < ld; i++) {
        lr[i] = ar[i] * r - ai[i] * q;
        li[i] = ar[i] * q + ai[i] * r;
    }
}

/* U without its diagonal: zeros from the diagonal to the end of its block */
DAE_INLINE void trim_upper(int n, int ld, double *ur, double *ui)
{
    for (int k = 0; k < n; k++, ur += ld, ui += ld)
        for (int i = k; i < ((k + 4) & ~3); i++) ur[i] = ui[i] = 0.0;
}

/* P A = L U by columns, right-looking, A in the place of U; returns the column without a usable
 * pivot, or n. */
DAE_INLINE int factor_kernel(int n, int blocks, dense_solver *s)
{
    const int ld = 4 * blocks;
    double *re = (double *)s->upper_re, *im = (double *)s->upper_im;
    for (int i = 0; i < n; i++) s->permutation[i] = i;
    for (int k = 0; k < n; k++) {
        double *ar = re + k * ld, *ai = im + k * ld;
        four *lr = s->lower_re + k * blocks, *li = s->lower_im + k * blocks;
        int p = largest_row(n, k, ar, ai);
        double size = fabs(ar[p]) + fabs(ai[p]);
        if (!(size >= DBL_MIN && size <= DBL_MAX)) return k;
        if (p != k) {
            swap_rows(n - k, ld, k, p, ar);
            swap_rows(n - k, ld, k, p, ai);
            swap_rows(k, ld, k, p, (double *)s->lower_re);
            swap_rows(k, ld, k, p, (double *)s->lower_im);
            int t = s->permutation[k];
            s->permutation[k] = s->permutation[p];
            s->permutation[p] = t;
        }
        reciprocal(ar[k], ai[k], s->pivot_re + k, s->pivot_im + k);
        multipliers(k, ld, ar, ai, s->pivot_re[k], s->pivot_im[k], (double *)lr, (double *)li);
        update_columns(n, blocks, k, s);
    }
    trim_upper(n, ld, re, im);
    return n;
}

/* The kernel with known trip counts for the sizes of small models */
DAE_WIDE static int factor_small(dense_solver *s, int n)
{
    switch (n) {
    case 1: return factor_kernel(1, 1, s);
    case 2: return factor_kernel(2, 1, s);
    case 3: return factor_kernel(3, 1, s);
    case 4: return factor_kernel(4, 1, s);
    case 6: return factor_kernel(6, 2, s);
    case 8: return factor_kernel(8, 2, s);
    default: return factor_kernel(n, s->blocks, s);
    }
}

/* Columns of n values to columns of whole blocks, filled with zeros */
static void load_small(int n, int blocks, const double *from, four *to)
{
    double *at = (double *)to;
    if (n == 4 * blocks) {
        memcpy(at, from, (size_t)n * (size_t)n * sizeof *at);
        return;
    }
    for (int j = 0; j < n; j++, from += n, at += 4 * blocks) {
        for (int i = 0; i < n; i++) at[i] = from[i];
        for (int i = n; i < 4 * blocks; i++) at[i] = 0.0;
    }
}

/* P A = L U by LAPACK; returns the column without a usable pivot, or n */
static int factor_lapack(dense_solver *s, int n, const double *re, const double *im)
{
    double *lu = (double *)s->lu;
    const size_t count = (size_t)n * (size_t)n;
    double check = 0.0;
    for (size_t k = 0; k < count; k++) {
        lu[2 * k] = re[k];
        lu[2 * k + 1] = im[k];
        check += 0.0 * re[k] + 0.0 * im[k];
    }
    if (check != 0.0) {
        int bad = matrix_nonfinite_column(s->base.layout, re);
        return bad >= 0 ? bad : matrix_nonfinite_column(s->base.layout, im);
    }
    lapack_enter();
    int info = LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, n, n, s->lu, n, s->swap);
    lapack_leave();
    if (info > 0) return info - 1;
    for (int k = 0; k < n; k++) {
        const double *pivot = lu + 2 * ((size_t)k * (size_t)n + (size_t)k);
        double size = fabs(pivot[0]) + fabs(pivot[1]);
        if (!(size >= DBL_MIN && size <= DBL_MAX)) return k;
    }
    return n;
}

/* P A = L U of what short rows leave; returns the column without a usable pivot, or n */
static int factor_left(dense_solver *s, int n, const double *re, const double *im)
{
    s->left = n - short_rows_reduce(&s->aside, re, im);
    s->blocks = (s->left + 3) / 4;
    if (s->left < n) {
        short_rows_left(&s->aside, 4 * s->blocks, (double *)s->upper_re, (double *)s->upper_im);
    } else {
        load_small(n, s->blocks, re, s->upper_re);
        load_small(n, s->blocks, im, s->upper_im);
    }
    int failed = factor_small(s, s->left);
    if (failed == s->left) return n;
    return s->left < n ? s->aside.kept_column[failed] : failed;
}

static linear_status dense_factor(complex_solver *solver, const double *re, const double *im)
{
    dense_solver *s = (dense_solver *)solver;
    const int n = solver->layout->n;
    int failed = n <= CROSSOVER ? factor_left(s, n, re, im) : factor_lapack(s, n, re, im);
    solver->singular_column = failed < n ? failed : -1;
    return failed < n ? LINEAR_SINGULAR : LINEAR_OK;
}

static bool dense_refactor(complex_solver *solver, const double *re, const double *im)
{
    return dense_factor(solver, re, im) == LINEAR_OK;
}

static size_t dense_values(const complex_solver *solver)
{
    const size_t n = (size_t)solver->layout->n;
    return n <= CROSSOVER ? n * n : 0;
}

/* b := U^-1 L^-1 P b, by columns */
DAE_INLINE void solve_kernel(int n, int blocks, const dense_solver *s, double *restrict br,
                             double *restrict bi)
{
    four xr[(CROSSOVER + 3) / 4], xi[(CROSSOVER + 3) / 4];
    double *yr = (double *)xr, *yi = (double *)xi;
    xr[blocks - 1] = xi[blocks - 1] = (four){0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < n; i++) {
        yr[i] = br[s->permutation[i]];
        yi[i] = bi[s->permutation[i]];
    }
    const four *lr = s->lower_re, *li = s->lower_im;
    for (int k = 0; k < n - 1; k++, lr += blocks, li += blocks)
        if (blocks == 1)
            eliminate_rows(k + 1, n, (const double *)lr, (const double *)li, yr[k], yi[k], yr, yi);
        else
            eliminate((k + 1) / 4, blocks, lr, li, yr[k], yi[k], xr, xi);
    const four *ur = s->upper_re + n * blocks, *ui = s->upper_im + n * blocks;
    for (int k = n - 1; k >= 0; k--) {
        const double pr = s->pivot_re[k], pi = s->pivot_im[k];
        const double tr = yr[k] * pr - yi[k] * pi, ti = yr[k] * pi + yi[k] * pr;
        br[k] = tr;
        bi[k] = ti;
        ur -= blocks;
        ui -= blocks;
        if (blocks == 1)
            eliminate_rows(0, k, (const double *)ur, (const double *)ui, tr, ti, yr, yi);
        else
            eliminate(0, (k + 3) / 4, ur, ui, tr, ti, xr, xi);
    }
}

DAE_WIDE static void solve_small(int n, const dense_solver *s, double *re, double *im)
{
    switch (n) {
    case 1: solve_kernel(1, 1, s, re, im); break;
    case 2: solve_kernel(2, 1, s, re, im); break;
    case 3: solve_kernel(3, 1, s, re, im); break;
    case 4: solve_kernel(4, 1, s, re, im); break;
    case 6: solve_kernel(6, 2, s, re, im); break;
    case 8: solve_kernel(8, 2, s, re, im); break;
    default: solve_kernel(n, s->blocks, s, re, im); break;
    }
}

static void solve_lapack(const dense_solver *s, int n, double *re, double *im)
{
    double *x = (double *)s->x;
    for (int i = 0; i < n; i++) {
        x[2 * i] = re[i];
        x[2 * i + 1] = im[i];
    }
    lapack_enter();
    LAPACKE_zgetrs_work(LAPACK_COL_MAJOR, 'N', n, 1, s->lu, n, s->swap, s->x, n);
    lapack_leave();
    for (int i = 0; i < n; i++) {
        re[i] = x[2 * i];
        im[i] = x[2 * i + 1];
    }
}

static void dense_solve(complex_solver *solver, double *re, double *im)
{
    const dense_solver *s = (const dense_solver *)solver;
    const int n = solver->layout->n;
    if (n > CROSSOVER) {
        solve_lapack(s, n, re, im);
    } else if (s->left == n) {
        solve_small(n, s, re, im);
    } else {
        double xr[CROSSOVER], xi[CROSSOVER];
        short_rows_forward(&s->aside, re, im, xr, xi);
        solve_small(s->left, s, xr, xi);
        short_rows_back(&s->aside, xr, xi, re, im);
    }
}

const complex_solver_ops complex_dense = {.name = "dense",
                                          .analyse = dense_analyse,
                                          .factor = dense_factor,
                                          .refactor = dense_refactor,
                                          .values = dense_values,
                                          .solve = dense_solve,
                                          .free = dense_free};
