/* Complex band LU with partial pivoting: own kernels for narrow bands, on real and imaginary parts
 * apart, LAPACK (zgbtrf, zgbtrs) above. */
#include "base/memory.h"
#include "linalg/complex_solver.h"
#include "linalg/lapack.h"

#include <float.h>
#include <math.h>

/* LAPACK's blocked factorisation pays for wide bands only: the limit of real bands (banded.c). */
enum { NARROW = 24 };

typedef struct banded_solver {
    complex_solver base;
    int lower, upper, stride;    /* stride = 2 lower + upper + 1 */
    double *re, *im;             /* narrow: stride * n each, U(k,k) at lower + upper of column k */
    double *pivot_re, *pivot_im; /* narrow: 1/U(k,k) */
    lapack_complex_double *lu, *x; /* wide: the same in LAPACK's form, and a right-hand side */
    int *swap;                     /* row interchanges, from 1 */
} banded_solver;

static void banded_free(complex_solver *solver)
{
    banded_solver *s = (banded_solver *)solver;
    dae_free(s->re);
    dae_free(s->im);
    dae_free(s->pivot_re);
    dae_free(s->pivot_im);
    dae_free(s->lu);
    dae_free(s->x);
    dae_free(s->swap);
    dae_free(s);
}

static bool allocate(banded_solver *s, size_t n)
{
    const size_t count = n * (size_t)s->stride;
    s->swap = DAE_ARRAY(int, n);
    if (s->lower > NARROW) {
        s->lu = DAE_ARRAY(lapack_complex_double, count);
        s->x = DAE_ARRAY(lapack_complex_double, n);
        return s->swap && s->lu && s->x;
    }
    s->re = DAE_ARRAY(double, count);
    s->im = DAE_ARRAY(double, count);
    s->pivot_re = DAE_ARRAY(double, n);
    s->pivot_im = DAE_ARRAY(double, n);
    return s->swap && s->re && s->im && s->pivot_re && s->pivot_im;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static complex_solver *banded_analyse(const matrix_layout *layout, const linear_solver *real)
{
    (void)real;
    banded_solver *s = DAE_NEW(banded_solver);
    if (!s) return NULL;
    s->base = (complex_solver){.ops = &complex_banded, .layout = layout, .singular_column = -1};
    s->lower = smaller(layout->lower, layout->n - 1);
    s->upper = smaller(layout->upper, layout->n - 1);
    s->stride = 2 * s->lower + s->upper + 1;
    if (allocate(s, (size_t)layout->n)) return &s->base;
    banded_free(&s->base);
    return NULL;
}

/* Spread a band into the factors' storage with room for fill above; `step` doubles from one element
 * to the next. Entries of the layout outside the matrix become zero. */
static void load_band(const banded_solver *s, const double *values, double *to, int step)
{
    const matrix_layout *layout = s->base.layout;
    const int n = layout->n, width = s->lower + s->upper + 1;
    const size_t source = (size_t)layout->lower + (size_t)layout->upper + 1;
    const double *from = values + (layout->upper - s->upper);
    for (int j = 0; j < n; j++, from += source, to += s->stride * step) {
        for (int i = 0; i < s->lower; i++) to[i * step] = 0.0;
        for (int i = 0; i < width; i++) {
            int row = j - s->upper + i;
            to[(s->lower + i) * step] = row >= 0 && row < n ? from[i] : 0.0;
        }
    }
}

/* x := x - m u, m and x of length n counted from 1, u = ur + i ui */
static inline void eliminate(int n, const double *restrict mr, const double *restrict mi, double ur,
                             double ui, double *restrict xr, double *restrict xi)
{
    for (int i = 1; i <= n; i++) {
        xr[i] -= mr[i] * ur - mi[i] * ui;
        xi[i] -= mr[i] * ui + mi[i] * ur;
    }
}

/* Offset of the largest |re_i| + |im_i|, i = 0 .. below */
static inline int largest(int below, const double *re, const double *im)
{
    int best = 0;
    double most = fabs(re[0]) + fabs(im[0]);
    for (int i = 1; i <= below; i++)
        if (fabs(re[i]) + fabs(im[i]) > most) {
            most = fabs(re[i]) + fabs(im[i]);
            best = i;
        }
    return best;
}

/* Exchange rows 0 and p of `count` columns; rows run in steps of `step` to the right. */
static inline void swap_rows(double *diagonal, int p, int count, int step)
{
    for (int j = 0; j < count; j++, diagonal += step) {
        double t = diagonal[0];
        diagonal[0] = diagonal[p];
        diagonal[p] = t;
    }
}

/* 1 / (a + i b) */
static inline void reciprocal(double a, double b, double *re, double *im)
{
    double size = fmax(fabs(a), fabs(b)), x = a / size, y = b / size;
    double d = 1.0 / ((x * x + y * y) * size);
    *re = x * d;
    *im = -y * d;
}

/* P A = L U right-looking on the band; returns the column without a usable pivot, or n */
static int factor_narrow(banded_solver *s, int n)
{
    const int kl = s->lower, ku = s->upper, ld = s->stride, step = ld - 1;
    double *dr = s->re + kl + ku, *di = s->im + kl + ku;
    int reach = 0; /* last column that an interchange has touched so far */
    for (int k = 0; k < n; k++, dr += ld, di += ld) {
        const int below = smaller(kl, n - 1 - k), p = largest(below, dr, di);
        const double size = fabs(dr[p]) + fabs(di[p]);
        if (!(size >= DBL_MIN && size <= DBL_MAX)) return k;
        s->swap[k] = k + p + 1;
        const int wanted = smaller(k + p + ku, n - 1);
        if (wanted > reach) reach = wanted;
        if (p > 0) {
            swap_rows(dr, p, reach - k + 1, step);
            swap_rows(di, p, reach - k + 1, step);
        }
        reciprocal(dr[0], di[0], s->pivot_re + k, s->pivot_im + k);
        const double r = s->pivot_re[k], q = s->pivot_im[k];
        for (int i = 1; i <= below; i++) {
            double a = dr[i], b = di[i];
            dr[i] = a * r - b * q;
            di[i] = a * q + b * r;
        }
        for (int j = 1; j <= reach - k; j++) {
            double *xr = dr + (ptrdiff_t)j * step, *xi = di + (ptrdiff_t)j * step;
            eliminate(below, dr, di, xr[0], xi[0], xr, xi);
        }
    }
    return n;
}

/* P A = L U by LAPACK; returns the column without a usable pivot, or n */
static int factor_wide(banded_solver *s, int n)
{
    lapack_enter();
    int info =
        LAPACKE_zgbtrf_work(LAPACK_COL_MAJOR, n, n, s->lower, s->upper, s->lu, s->stride, s->swap);
    lapack_leave();
    if (info > 0) return info - 1;
    const double *diagonal = (const double *)s->lu + 2 * (s->lower + s->upper);
    for (int k = 0; k < n; k++, diagonal += 2 * (ptrdiff_t)s->stride) {
        double size = fabs(diagonal[0]) + fabs(diagonal[1]);
        if (!(size >= DBL_MIN && size <= DBL_MAX)) return k;
    }
    return n;
}

static int load_and_factor(banded_solver *s, const double *re, const double *im)
{
    const int n = s->base.layout->n;
    if (s->lower > NARROW) {
        load_band(s, re, (double *)s->lu, 2);
        load_band(s, im, (double *)s->lu + 1, 2);
        return factor_wide(s, n);
    }
    load_band(s, re, s->re, 1);
    load_band(s, im, s->im, 1);
    return factor_narrow(s, n);
}

static linear_status banded_factor(complex_solver *solver, const double *re, const double *im)
{
    const int n = solver->layout->n;
    int failed = matrix_nonfinite_column(solver->layout, re);
    if (failed < 0) failed = matrix_nonfinite_column(solver->layout, im);
    if (failed < 0) failed = load_and_factor((banded_solver *)solver, re, im);
    solver->singular_column = failed < n ? failed : -1;
    return failed < n ? LINEAR_SINGULAR : LINEAR_OK;
}

static bool banded_refactor(complex_solver *solver, const double *re, const double *im)
{
    return banded_factor(solver, re, im) == LINEAR_OK;
}

static size_t banded_values(const complex_solver *solver)
{
    const banded_solver *s = (const banded_solver *)solver;
    return s->lower > NARROW ? 0 : (size_t)solver->layout->n * (size_t)s->stride;
}

static inline void exchange(double *b, int k, int p)
{
    double t = b[p];
    b[p] = b[k];
    b[k] = t;
}

/* b := U^-1 L^-1 P b with the interchanges in between */
static void solve_narrow(const banded_solver *s, int n, double *br, double *bi)
{
    const int kl = s->lower, ld = s->stride, reach = kl + s->upper;
    const double *dr = s->re + reach, *di = s->im + reach;
    for (int k = 0; k < n; k++, dr += ld, di += ld) {
        exchange(br, k, s->swap[k] - 1);
        exchange(bi, k, s->swap[k] - 1);
        eliminate(smaller(kl, n - 1 - k), dr, di, br[k], bi[k], br + k, bi + k);
    }
    for (int k = n - 1; k >= 0; k--) {
        dr -= ld;
        di -= ld;
        const double r = s->pivot_re[k], q = s->pivot_im[k];
        const double tr = br[k] * r - bi[k] * q, ti = br[k] * q + bi[k] * r;
        const int above = smaller(reach, k);
        br[k] = tr;
        bi[k] = ti;
        eliminate(above, dr - above - 1, di - above - 1, tr, ti, br + k - above - 1,
                  bi + k - above - 1);
    }
}

static void solve_wide(const banded_solver *s, int n, double *re, double *im)
{
    double *x = (double *)s->x;
    for (int i = 0; i < n; i++) {
        x[2 * i] = re[i];
        x[2 * i + 1] = im[i];
    }
    lapack_enter();
    LAPACKE_zgbtrs_work(LAPACK_COL_MAJOR, 'N', n, s->lower, s->upper, 1, s->lu, s->stride, s->swap,
                        s->x, n);
    lapack_leave();
    for (int i = 0; i < n; i++) {
        re[i] = x[2 * i];
        im[i] = x[2 * i + 1];
    }
}

static void banded_solve(complex_solver *solver, double *re, double *im)
{
    const banded_solver *s = (const banded_solver *)solver;
    const int n = solver->layout->n;
    if (s->lower > NARROW)
        solve_wide(s, n, re, im);
    else
        solve_narrow(s, n, re, im);
}

const complex_solver_ops complex_banded = {.name = "banded",
                                           .analyse = banded_analyse,
                                           .factor = banded_factor,
                                           .refactor = banded_refactor,
                                           .values = banded_values,
                                           .solve = banded_solve,
                                           .free = banded_free};
