/* Finite eigenvalues of a pencil by QZ, and stability. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "structure/linear/pencil_parts.h"

bool eigen_find(eigen *e, int n, const double *A, const double *B, bool left)
{
    const size_t square = (size_t)n * (size_t)n;
    const char wish = left ? 'V' : 'N';
    const int stride = left ? n : 1;
    double best = 0.0, *a = dae_copy(A, square, sizeof *A), *b = dae_copy(B, square, sizeof *B);
    int info = -1;
    *e = (eigen){.n = n,
                 .re = DAE_ARRAY(double, n),
                 .im = DAE_ARRAY(double, n),
                 .beta = DAE_ARRAY(double, n),
                 .right = DAE_ARRAY(double, square),
                 .left = DAE_ARRAY(double, left ? square : 1)};
    LAPACKE_dggev_work(LAPACK_COL_MAJOR, wish, 'V', n, a, n, b, n, e->re, e->im, e->beta, e->left,
                       stride, e->right, n, &best, -1);
    double *work = DAE_ARRAY(double, best);
    if (a && b && e->re && e->im && e->beta && e->left && e->right && work) {
        for (size_t i = 0; i < square; i++) a[i] = -a[i];
        lapack_enter();
        info = LAPACKE_dggev_work(LAPACK_COL_MAJOR, wish, 'V', n, a, n, b, n, e->re, e->im, e->beta,
                                  e->left, stride, e->right, n, work, (int)best);
        lapack_leave();
    }
    dae_free_all(a, b, work);
    return info == 0;
}

void eigen_free(eigen *e)
{
    dae_free_all(e->re, e->im, e->beta, e->left, e->right);
}

/* y^H B x for the vectors of eigenvalue j, packed as pairs (real, imaginary) where im[j] != 0. */
static double sensitivity(const eigen *e, const double *B, int j)
{
    const int n = e->n, first = e->im[j] < 0.0 ? j - 1 : j;
    const bool paired = e->im[j] < 0.0 || e->im[j] > 0.0;
    const double *x = e->right + first * n, *y = e->left + first * n;
    double re = 0.0, im = 0.0, xx = 0.0, yy = 0.0;
    for (int k = 0; k < n; k++) {
        double br = 0.0, bi = 0.0;
        for (int l = 0; l < n; l++) {
            br += B[k + l * n] * x[l];
            if (paired) bi += B[k + l * n] * x[l + n];
        }
        const double yi = paired ? y[k + n] : 0.0, xi = paired ? x[k + n] : 0.0;
        re += y[k] * br + yi * bi;
        im += y[k] * bi - yi * br;
        xx += x[k] * x[k] + xi * xi;
        yy += y[k] * y[k] + yi * yi;
    }
    return hypot(re, im) / sqrt(xx * yy);
}

/* |d lambda| <= u (||A|| + |lambda| ||B||) ||x|| ||y|| / |y^H B x|, to first order [GVL13 7.7]; for
 * a defective eigenvalue the denominator is small itself, which gives about u^(1/2). */
static void bound_errors(const eigen *e, const double *A, const double *B, double *error)
{
    const int n = e->n;
    const double a = dense_norm(n * n, A), b = dense_norm(n * n, B);
    for (int j = 0; j < n; j++) {
        double size = a + hypot(e->re[j], e->im[j]) * b;
        double s = fmax(sensitivity(e, B, j), sqrt(DBL_EPSILON) * b * 1e-2);
        error[j] = DBL_EPSILON * size / s;
    }
}

/* dim ker(lambda B + A) for complex lambda by the real matrix [X -Y; Y X] of twice the size, whose
 * null space has twice the dimension. -1: memory. */
static int eigenspace(int n, const double *A, const double *B, double re, double im)
{
    const int size = 2 * n;
    double *M = DAE_ARRAY(double, size *size);
    if (!M) return -1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const double b = B[i + j * n], x = A[i + j * n] + re * b, y = im * b;
            M[i + j * size] = M[i + n + (j + n) * size] = x;
            M[i + n + j * size] = y;
            M[i + (j + n) * size] = -y;
        }
    double scale = dense_norm(n * n, A) + hypot(re, im) * dense_norm(n * n, B);
    int rank = rank_of(size, size, M, 1e-6, scale, NULL);
    dae_free(M);
    return rank < 0 ? -1 : (size - rank) / 2;
}

/* Eigenvalues as close to number j as rounding lets equal ones be. */
static int cluster(const eigen *e, const double *error, int j)
{
    int count = 0;
    const double radius = 100.0 * error[j] + 1e-9 * hypot(e->re[j], e->im[j]);
    for (int k = 0; k < e->n; k++)
        count += hypot(e->re[k] - e->re[j], e->im[k] - e->im[j]) <= radius + 100.0 * error[k];
    return count;
}

/* Asymptotically stable, stable, or not; *verdict stays unset if memory runs out (false). */
static bool judge(const eigen *e, const double *error, const double *A, const double *B,
                  pencil_stability *verdict)
{
    pencil_stability result = PENCIL_ASYMPTOTICALLY_STABLE;
    for (int j = 0; j < e->n; j++) {
        if (e->re[j] < -100.0 * error[j]) continue;
        if (e->re[j] > 100.0 * error[j]) {
            *verdict = PENCIL_UNSTABLE;
            return true;
        }
        int alike = cluster(e, error, j), dimension = eigenspace(e->n, A, B, e->re[j], e->im[j]);
        if (dimension < 0) return false;
        if (dimension < alike) {
            *verdict = PENCIL_UNSTABLE; /* a Jordan block on the axis: powers of t */
            return true;
        }
        result = PENCIL_STABLE;
    }
    *verdict = result;
    return true;
}

bool pencil_eigenvalues(pencil *p, double *A, double *B, double unit)
{
    const int n = p->finite;
    eigen e = {0};
    p->re = DAE_ARRAY(double, n);
    p->im = DAE_ARRAY(double, n);
    bool done = p->re && p->im;
    if (p->regular) p->stability = PENCIL_ASYMPTOTICALLY_STABLE;
    if (n == 0 || !done) return done;
    double *error = DAE_ARRAY(double, n); /* first order bounds of rounding errors */
    done = eigen_find(&e, n, A, B, true) && error;
    for (int j = 0; done && j < n; j++) {
        p->re[j] = unit * (e.re[j] /= e.beta[j]);
        p->im[j] = unit * (e.im[j] /= e.beta[j]);
    }
    if (done) bound_errors(&e, A, B, error);
    if (done && p->regular) done = judge(&e, error, A, B, &p->stability);
    eigen_free(&e);
    dae_free(error);
    return done;
}
