/* Finite eigenvalues of a pencil by QZ, and stability. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "structure/linear/pencil_parts.h"

/* Right and left eigenvectors as LAPACK packs them, and the error bounds of the eigenvalues. */
typedef struct eigen {
    int n;
    double *re, *im, *beta, *left, *right, *work;
    double *error; /* first order bound of each eigenvalue's rounding error */
    int work_size;
} eigen;

static bool eigen_new(eigen *e, int n)
{
    double best = 0.0, none = 0.0;
    *e = (eigen){.n = n};
    LAPACKE_dggev_work(LAPACK_COL_MAJOR, 'V', 'V', n, &none, n, &none, n, &none, &none, &none,
                       &none, n, &none, n, &best, -1);
    e->work_size = (int)best;
    e->re = DAE_ARRAY(double, n);
    e->im = DAE_ARRAY(double, n);
    e->beta = DAE_ARRAY(double, n);
    e->error = DAE_ARRAY(double, n);
    e->left = DAE_ARRAY(double, n *n);
    e->right = DAE_ARRAY(double, n *n);
    e->work = DAE_ARRAY(double, e->work_size);
    return e->re && e->im && e->beta && e->error && e->left && e->right && e->work;
}

static void eigen_free(eigen *e)
{
    dae_free_all(e->re, e->im, e->beta, e->error, e->left, e->right, e->work);
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
static void bound_errors(eigen *e, const double *A, const double *B)
{
    const int n = e->n;
    const double a = dense_norm(n * n, A), b = dense_norm(n * n, B);
    for (int j = 0; j < n; j++) {
        double size = a + hypot(e->re[j], e->im[j]) * b;
        double s = fmax(sensitivity(e, B, j), sqrt(DBL_EPSILON) * b * 1e-2);
        e->error[j] = DBL_EPSILON * size / s;
    }
}

/* Eigenvalues of -A x = lambda B x. A and B stay. False: memory, or QZ does not converge. */
static bool solve(eigen *e, const double *A, const double *B)
{
    const int n = e->n;
    double *a = dae_copy(A, (size_t)(n * n), sizeof *A),
           *b = dae_copy(B, (size_t)(n * n), sizeof *B);
    int info = -1;
    if (a && b) {
        for (int i = 0; i < n * n; i++) a[i] = -a[i];
        lapack_enter();
        info = LAPACKE_dggev_work(LAPACK_COL_MAJOR, 'V', 'V', n, a, n, b, n, e->re, e->im, e->beta,
                                  e->left, n, e->right, n, e->work, e->work_size);
        lapack_leave();
    }
    for (int j = 0; info == 0 && j < n; j++) {
        e->re[j] /= e->beta[j];
        e->im[j] /= e->beta[j];
    }
    dae_free_all(a, b);
    return info == 0;
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
static int cluster(const eigen *e, int j)
{
    int count = 0;
    const double radius = 100.0 * e->error[j] + 1e-9 * hypot(e->re[j], e->im[j]);
    for (int k = 0; k < e->n; k++)
        count += hypot(e->re[k] - e->re[j], e->im[k] - e->im[j]) <= radius + 100.0 * e->error[k];
    return count;
}

/* Asymptotically stable, stable, or not; *verdict stays unset if memory runs out (false). */
static bool judge(const eigen *e, const double *A, const double *B, pencil_stability *verdict)
{
    pencil_stability result = PENCIL_ASYMPTOTICALLY_STABLE;
    for (int j = 0; j < e->n; j++) {
        if (e->re[j] < -100.0 * e->error[j]) continue;
        if (e->re[j] > 100.0 * e->error[j]) {
            *verdict = PENCIL_UNSTABLE;
            return true;
        }
        int alike = cluster(e, j), dimension = eigenspace(e->n, A, B, e->re[j], e->im[j]);
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
    done = eigen_new(&e, n) && solve(&e, A, B);
    if (done) bound_errors(&e, A, B);
    for (int j = 0; done && j < n; j++) {
        p->re[j] = unit * e.re[j];
        p->im[j] = unit * e.im[j];
    }
    if (done && p->regular) done = judge(&e, A, B, &p->stability);
    eigen_free(&e);
    return done;
}
