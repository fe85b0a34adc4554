/* Eigenvalues of a linear system, the states that carry them, and stability. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/diag.h"
#include "base/memory.h"
#include "linalg/lapack.h"
#include "linalg/singular_values.h"
#include "solve/linearise/linearise_parts.h"

/* As LAPACK packs them: eigenvectors of a pair are columns j +- i (j + 1). */
typedef struct spectrum {
    int n;
    double *A, *re, *im, *left, *right;
    double *scale, *rounding; /* of balancing; what rounding may have moved eigenvalues by */
    int *order;               /* the largest real part first */
    double *block;
} spectrum;

static bool spectrum_room(spectrum *q, int n)
{
    const size_t square = (size_t)n * (size_t)n;
    *q = (spectrum){.n = n, .order = DAE_ARRAY(int, n)};
    q->block =
        SHARED_BLOCK(SHARE(q->A, square), SHARE(q->left, square), SHARE(q->right, square),
                     SHARE(q->re, n), SHARE(q->im, n), SHARE(q->scale, n), SHARE(q->rounding, n));
    return q->order && q->block;
}

/* By the QR algorithm, balanced, with vectors of both sides. 0, or what LAPACK says. */
static int decompose(spectrum *q)
{
    const int n = q->n;
    int low, high, info, whole = 0;
    double best = 0.0, norm, none;
    LAPACKE_dgeevx_work(LAPACK_COL_MAJOR, 'B', 'V', 'V', 'N', n, q->A, n, q->re, q->im, q->left, n,
                        q->right, n, &low, &high, q->scale, &norm, &none, &none, &best, -1, &whole);
    double *work = DAE_ARRAY(double, best);
    if (!work) return LAPACK_WORK_MEMORY_ERROR;
    lapack_enter();
    info = LAPACKE_dgeevx_work(LAPACK_COL_MAJOR, 'B', 'V', 'V', 'N', n, q->A, n, q->re, q->im,
                               q->left, n, q->right, n, &low, &high, q->scale, &norm, &none, &none,
                               work, (int)best, &whole);
    lapack_leave();
    dae_free(work);
    return info;
}

/* ---- order ---- */

/* Sort by merging, which keeps the order of equal ones. */
static void merge_order(const spectrum *q, int *list, int *work, int count)
{
    if (count < 2) return;
    const int half = count / 2;
    merge_order(q, list, work, half);
    merge_order(q, list + half, work, count - half);
    for (int i = 0, j = half, k = 0; k < count; k++) {
        bool first = j >= count || (i < half && q->re[list[i]] >= q->re[list[j]]);
        work[k] = first ? list[i++] : list[j++];
    }
    for (int k = 0; k < count; k++) list[k] = work[k];
}

/* Equal real parts keep the order of LAPACK, which has pairs together, the upper one first. */
static bool sort(spectrum *q)
{
    int *work = DAE_ARRAY(int, q->n);
    for (int j = 0; j < q->n; j++) q->order[j] = j;
    if (work) merge_order(q, q->order, work, q->n);
    dae_free(work);
    return work;
}

/* ---- what they mean ---- */

/* Vectors of an eigenvalue: real parts, and imaginary ones, NULL where there are none. */
typedef struct vectors {
    const double *l, *li, *r, *ri;
} vectors;

static vectors vectors_of(const spectrum *q, int j)
{
    const size_t n = (size_t)q->n, first = (size_t)(q->im[j] < 0.0 ? j - 1 : j) * n;
    const bool paired = q->im[j] < 0.0 || q->im[j] > 0.0;
    return (vectors){q->left + first, paired ? q->left + first + n : NULL, q->right + first,
                     paired ? q->right + first + n : NULL};
}

/* |l_i r_i| / sum over i: how much state i takes part in eigenvalue j [PVS82]. */
static void participate(const spectrum *q, int j, double *share)
{
    const vectors v = vectors_of(q, j);
    double sum = 0.0;
    for (int i = 0; i < q->n; i++) {
        share[i] = hypot(v.l[i], v.li ? v.li[i] : 0.0) * hypot(v.r[i], v.ri ? v.ri[i] : 0.0);
        sum += share[i];
    }
    for (int i = 0; i < q->n && sum > 0.0; i++) share[i] /= sum;
}

/* |l|' E |r| / |l^H r| to first order [GVL13 7.2], where entries of E are 100 units of rounding of
 * the largest entry in their row of A, which solutions of linear systems are; of a defective
 * eigenvalue the denominator is no less than u^(1/2), about. */
static double rounding_of(const spectrum *q, const double *A, int j)
{
    const vectors v = vectors_of(q, j);
    double left = 0.0, right = 0.0, re = 0.0, im = 0.0;
    for (int i = 0; i < q->n; i++) {
        const double li = v.li ? v.li[i] : 0.0, ri = v.ri ? v.ri[i] : 0.0;
        double most = 0.0;
        for (int k = 0; k < q->n; k++)
            most = fmax(most, fabs(A[(size_t)i + (size_t)k * (size_t)q->n]));
        left += hypot(v.l[i], li) * most;
        right += hypot(v.r[i], ri);
        re += v.l[i] * v.r[i] + li * ri;
        im += v.l[i] * ri - li * v.r[i];
    }
    return 100.0 * DBL_EPSILON * left * right / fmax(hypot(re, im), 1e-2 * sqrt(DBL_EPSILON));
}

/* Stability; zeros of which A has fewer vectors than values grow like powers of time. */
static dae_status judge(const spectrum *q, dae_linearisation *out, const bool *zero)
{
    dae_stability verdict = DAE_STABILITY_ASYMPTOTIC;
    for (int j = 0; j < q->n; j++) {
        const int from = q->order[j];
        const double slack = q->rounding[from];
        out->zero_count += zero[j];
        if (q->re[from] < -slack) continue;
        if (!zero[j] && q->re[from] > slack) verdict = DAE_STABILITY_UNSTABLE;
        if (verdict == DAE_STABILITY_ASYMPTOTIC) verdict = DAE_STABILITY_STABLE;
    }
    out->stability = verdict;
    if (out->zero_count == 0 || verdict == DAE_STABILITY_UNSTABLE) return DAE_OK;
    int rank = rank_of(q->n, q->n, out->A, 1e-11, 0.0, NULL);
    if (rank < 0) return DAE_ERR_MEMORY;
    if (q->n - rank < out->zero_count) out->stability = DAE_STABILITY_UNSTABLE;
    return DAE_OK;
}

static dae_status take(spectrum *q, dae_linearisation *out, arena *a)
{
    const size_t n = (size_t)q->n;
    double *re = arena_alloc(a, 2 * n * sizeof *re), *im = re ? re + n : NULL;
    double *share = arena_alloc(a, n * n * sizeof *share);
    bool *zero = arena_alloc(a, n * sizeof *zero);
    if (!re || !share || !zero || !sort(q)) return DAE_ERR_MEMORY;
    for (int j = 0; j < q->n; j++) {
        const int from = q->order[j];
        re[j] = q->re[from];
        im[j] = q->im[from];
        q->rounding[from] = rounding_of(q, out->A, from);
        zero[j] = hypot(re[j], im[j]) <= q->rounding[from];
        participate(q, from, share + (size_t)j * n);
    }
    out->re = re;
    out->im = im;
    out->participation = share;
    out->zero = zero;
    return judge(q, out, zero);
}

dae_status linear_eigenvalues(dae_linearisation *out, arena *a, dae_diag *diag)
{
    spectrum q;
    const int n = out->state_count;
    out->stability = DAE_STABILITY_ASYMPTOTIC;
    if (n == 0) return DAE_OK;
    dae_status status = spectrum_room(&q, n) ? DAE_OK : DAE_ERR_MEMORY;
    int info = 0;
    if (status == DAE_OK) {
        for (size_t i = 0; i < (size_t)n * (size_t)n; i++) q.A[i] = out->A[i];
        info = decompose(&q);
        if (info == LAPACK_WORK_MEMORY_ERROR) status = DAE_ERR_MEMORY;
    }
    if (status == DAE_OK && info == 0) status = take(&q, out, a);
    dae_free_all(q.order, q.block);
    if (status == DAE_ERR_MEMORY) return diag_set(diag, status, "Linearisation: out of memory.");
    if (info == 0) return status;
    return diag_set(diag, DAE_ERR_CONVERGENCE,
                    "Linearisation: the QR algorithm found no eigenvalues of A at t = %.9g.",
                    out->t);
}
