/* SPIGMR [BHP94; BCP96 7.5]. Notation: D^-1 = diag(scale)/sqrt(n), so ||x||_wrms = ||D^-1 x||_2;
 * At = D^-1 P^-1 A D; V = stored basis (scaled); H = Hessenberg matrix, turned into R by Givens
 * rotations (c, s) as it grows; gamma = rotated right-hand side, so that in the complete case
 * |gamma_l| = ||residual||. */
#include "linalg/gmres.h"

#include "base/memory.h"
#include "base/vector.h"

#include <float.h>

/* Views into gmres.work, and the caller's maps, for one solve. */
typedef struct krylov {
    int n, dimension, orthogonal;
    double *basis;              /* (dimension+1) vectors: V */
    double *hessenberg;         /* dimension columns of dimension+1: H, then R */
    double *cosine, *sine;      /* dimension each */
    double *gamma;              /* dimension+1 */
    double *direction;          /* residual / gamma_l = V_{l+1} Q_l' e_{l+1} */
    double *x;                  /* scaled solution so far */
    double *unscaled;           /* argument of the caller's maps */
    double *image;              /* their result */
    const double *scale;        /* reciprocal weights */
    double root;                /* sqrt(n) */
    gmres_operator apply;       /* A */
    gmres_precond precondition; /* P^-1, or NULL */
    void *context;
} krylov;

/* Doubles needed by krylov_view; kept in step with it. */
static size_t work_size(int n, int dimension)
{
    const size_t rows = (size_t)n, l = (size_t)dimension;
    return (l + 1) * rows + l * (l + 1) + 2 * l + (l + 1) + 4 * rows;
}

static krylov krylov_view(const gmres *g)
{
    krylov k = {.n = g->n, .dimension = g->dimension, .orthogonal = g->orthogonal};
    const size_t n = (size_t)g->n, l = (size_t)g->dimension;
    k.basis = g->work;
    k.direction = k.basis + (l + 1) * n;
    k.x = k.direction + n;
    k.unscaled = k.x + n;
    k.image = k.unscaled + n;
    k.hessenberg = k.image + n;
    k.cosine = k.hessenberg + l * (l + 1);
    k.sine = k.cosine + l;
    k.gamma = k.sine + l;
    k.root = sqrt((double)g->n);
    return k;
}

bool gmres_new(gmres *g, int n, int dimension, int orthogonal, int restarts)
{
    if (dimension > n) dimension = n;
    if (dimension < 1) dimension = 1;
    if (orthogonal < 1 || orthogonal > dimension) orthogonal = dimension;
    *g = (gmres){.n = n, .dimension = dimension, .orthogonal = orthogonal, .restarts = restarts};
    g->work = DAE_ARRAY(double, work_size(n, dimension));
    return g->work != NULL;
}

void gmres_free(gmres *g)
{
    dae_free(g->work);
    *g = (gmres){0};
}

static double dot(int n, const double *restrict x, const double *restrict y)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0}; /* independent chains: additions overlap */
    int i = 0;
    for (; i + 3 < n; i += 4)
        for (int c = 0; c < 4; c++) sum[c] += x[i + c] * y[i + c];
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double norm(int n, const double *x)
{
    return sqrt(dot(n, x, x));
}

static double *basis_vector(const krylov *k, int l)
{
    return k->basis + (size_t)l * (size_t)k->n;
}

/* w = At v_l; returns the caller's code. */
static int apply_scaled(krylov *k, int l, double *w)
{
    const double *v = basis_vector(k, l);
    for (int i = 0; i < k->n; i++) k->unscaled[i] = k->root * v[i] / k->scale[i];
    int code = k->apply(k->context, k->unscaled, k->image);
    if (code == 0 && k->precondition) code = k->precondition(k->context, k->image);
    for (int i = 0; i < k->n; i++) w[i] = k->image[i] * k->scale[i] / k->root;
    return code;
}

/* w -= sum_i <w, v_i> v_i over i = first..l, one after the other; coefficients are added to h. */
static void orthogonalise_once(const krylov *k, int first, int l, double *w, double *h)
{
    for (int i = first; i <= l; i++) {
        const double *v = basis_vector(k, i);
        double projection = dot(k->n, w, v);
        h[i] += projection;
        vector_axpy(k->n, -projection, v, w);
    }
}

/* Modified Gram-Schmidt of w = At v_l against the last `orthogonal` vectors, repeated once if w
 * lost three digits. Sets column h and v_{l+1}; returns h_{l+1,l}. */
static double orthogonalise(const krylov *k, int l, double *w, double *h)
{
    const int first = l + 1 > k->orthogonal ? l + 1 - k->orthogonal : 0;
    const double before = norm(k->n, w);
    for (int i = 0; i <= l; i++) h[i] = 0.0;
    orthogonalise_once(k, first, l, w, h);
    double after = norm(k->n, w);
    if (after < 1e-3 * before) {
        orthogonalise_once(k, first, l, w, h);
        after = norm(k->n, w);
    }
    if (after <= 4 * DBL_EPSILON * before) after = 0.0; /* v_1..v_l span an invariant space */
    for (int i = 0; i < k->n; i++) w[i] = after > 0.0 ? w[i] / after : 0.0;
    h[l + 1] = after;
    return after;
}

/* Rotate column l of H into R and the right-hand side with it. False, and the column is of no use,
 * if R(l,l) is zero to round-off: then A is singular on the Krylov space. */
static bool rotate_column(krylov *k, int l, double *h)
{
    const double column = norm(l + 2, h);
    for (int i = 0; i < l; i++) {
        double t = k->cosine[i] * h[i] + k->sine[i] * h[i + 1];
        h[i + 1] = k->cosine[i] * h[i + 1] - k->sine[i] * h[i];
        h[i] = t;
    }
    double length = hypot(h[l], h[l + 1]);
    if (!(length > 16 * DBL_EPSILON * column && length <= DBL_MAX)) return false;
    k->cosine[l] = h[l] / length;
    k->sine[l] = h[l + 1] / length;
    h[l] = length;
    k->gamma[l + 1] = -k->sine[l] * k->gamma[l];
    k->gamma[l] *= k->cosine[l];
    return true;
}

/* direction_l = c_l v_{l+1} - s_l direction_{l-1} */
static void advance_direction(krylov *k, int l)
{
    const double *v = basis_vector(k, l + 1), c = k->cosine[l], s = k->sine[l];
    for (int i = 0; i < k->n; i++) k->direction[i] = c * v[i] - s * k->direction[i];
}

/* x += V_l R^-1 gamma */
static void add_correction(krylov *k, int l)
{
    double *y = k->gamma;
    for (int j = l - 1; j >= 0; j--) {
        const double *r = k->hessenberg + (size_t)j * ((size_t)k->dimension + 1);
        y[j] /= r[j];
        for (int i = 0; i < j; i++) y[i] -= r[i] * y[j];
    }
    for (int j = 0; j < l; j++) vector_axpy(k->n, y[j], basis_vector(k, j), k->x);
}

typedef struct cycle {
    int code;        /* of the caller's maps */
    double residual; /* at the end; the scaled residual vector is in v_1, unnormalised */
    bool exhausted;  /* broken down: another cycle would do the same */
} cycle;

/* One sweep of up to `dimension` Krylov steps from the residual v_1 * beta. */
static cycle run_cycle(krylov *k, gmres *g, double beta, double tolerance)
{
    const bool complete = k->orthogonal == k->dimension;
    cycle result = {.residual = beta};
    int l = 0;
    k->gamma[0] = beta;
    vector_copy(k->n, k->basis, k->direction);
    while (l < k->dimension && result.residual > tolerance && !result.exhausted) {
        double *h = k->hessenberg + (size_t)l * ((size_t)k->dimension + 1);
        double *w = basis_vector(k, l + 1);
        result.code = apply_scaled(k, l, w);
        if (result.code != 0) return result;
        g->iterations++;
        result.exhausted = !(orthogonalise(k, l, w, h) > 0.0);
        if (!rotate_column(k, l, h)) {
            result.exhausted = true;
            break;
        }
        advance_direction(k, l);
        l++;
        result.residual = fabs(k->gamma[l]) * (complete ? 1.0 : norm(k->n, k->direction));
    }
    const double last = k->gamma[l];
    add_correction(k, l);
    for (int i = 0; i < k->n; i++) k->basis[i] = last * k->direction[i];
    return result;
}

/* Cycles until the tolerance, the restarts or the progress end; x is left scaled in k->x. */
static gmres_status iterate(krylov *k, gmres *g, double tolerance)
{
    const double start = g->residual;
    for (int round = 0; round <= g->restarts && g->residual > tolerance; round++) {
        const double beta = norm(k->n, k->basis);
        if (!(beta > 0.0)) break;
        for (int i = 0; i < k->n; i++) k->basis[i] /= beta;
        cycle c = run_cycle(k, g, beta, tolerance);
        g->callback_code = c.code;
        if (c.code != 0) return GMRES_CALLBACK;
        g->residual = c.residual;
        if (c.exhausted || !(c.residual <= DBL_MAX)) break;
    }
    if (!vector_finite(k->n, k->x)) return GMRES_FAILED;
    if (g->residual <= tolerance) return GMRES_OK;
    return g->residual < start ? GMRES_STALLED : GMRES_FAILED;
}

gmres_status gmres_solve(gmres *g, gmres_operator apply, gmres_precond precond, void *context,
                         const double *scale, double tolerance, double *b)
{
    krylov k = krylov_view(g);
    k.apply = apply;
    k.precondition = precond;
    k.context = context;
    k.scale = scale;
    g->iterations = 0;
    g->callback_code = precond ? precond(context, b) : 0;
    for (int i = 0; i < k.n; i++) k.basis[i] = b[i] * scale[i] / k.root;
    vector_zero(k.n, k.x);
    vector_zero(k.n, b);
    if (g->callback_code != 0) return GMRES_CALLBACK;
    g->residual = norm(k.n, k.basis);
    if (!(g->residual <= DBL_MAX)) return GMRES_FAILED;

    gmres_status status = iterate(&k, g, tolerance);
    if (status == GMRES_OK || status == GMRES_STALLED)
        for (int i = 0; i < k.n; i++) b[i] = k.root * k.x[i] / scale[i];
    return status;
}
