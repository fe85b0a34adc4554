/* The stages of a step with matrices of the size of one: derivatives of the stage in the middle
 * stand for those of all, which makes the equations fall apart into a real system and complex ones
 * [HW96 IV.8]; what that neglects is iterated away. Where all stages have the same derivatives
 * nothing is neglected, and one solution does. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "matrix/shifted.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"

/* Whether all stages have the same derivatives. */
static bool stages_alike(const stage_system *q)
{
    const size_t bytes = q->count * sizeof(double);
    for (int a = 1; a < q->stages; a++)
        if (memcmp(q->fy, q->fy + (size_t)a * q->count, bytes) != 0 ||
            memcmp(q->fyp, q->fyp + (size_t)a * q->count, bytes) != 0)
            return false;
    return true;
}

/* Factors of the stage in the middle for all shifts. */
static iteration_status factor_middle(dae_sensitivity *x, double h)
{
    const stage_system *q = x->system;
    const collocation *m = x->method;
    iteration *it = &x->lead.matrix;
    const size_t middle = (size_t)(q->stages / 2) * q->count;
    double shift[2 * COLLOCATION_PAIRS];
    memcpy(it->jac.dfdy, q->fy + middle, q->count * sizeof(double));
    memcpy(it->jac.dfdyp, q->fyp + middle, q->count * sizeof(double));
    if (!shifted_prepare(it, m->pairs)) return ITERATION_MEMORY;
    for (int k = 0; k < 2 * m->pairs; k++) shift[k] = m->pair[k] / h;
    x->stats.factorisations++;
    return shifted_factor_all(it, m->gamma / h, m->pairs, shift);
}

/* r = -(F_Y S + F_p) of all stages: the defects of Z = 0. `alike`: they share F_Y. */
static void take_first_defects(const dae_sensitivity *x, int k, bool alike, double *r, double *sum)
{
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n;
    for (size_t a = 0; a < (size_t)q->stages; a++) {
        const double *p = q->explicit_part + ((size_t)k * (size_t)q->stages + a) * n;
        if (a == 0 || !alike)
            matrix_multiply(&x->lead.matrix.jac.layout, q->fy + a * q->count, x->s + (size_t)k * n,
                            sum);
        for (size_t i = 0; i < n; i++) r[a * n + i] = -(sum[i] + p[i]);
    }
}

/* r = -(F_Y (S + Z) + F_Y' Z' + F_p) of all stages; work has n (s + 1) values. */
static void take_defects(const dae_sensitivity *x, double h, int k, const double *z, double *r,
                         double *work)
{
    const stage_system *q = x->system;
    const matrix_layout *of = &x->lead.matrix.jac.layout;
    const size_t n = (size_t)q->n;
    const double *s = x->s + (size_t)k * n;
    double *slopes = work, *sum = work + n * (size_t)q->stages;
    collocation_combine(q->stages, q->stages, q->n, 1.0 / h, x->method->inverse, z, slopes);
    for (size_t a = 0; a < (size_t)q->stages; a++) {
        const double *p = q->explicit_part + ((size_t)k * (size_t)q->stages + a) * n;
        double *own = r + a * n;
        for (size_t i = 0; i < n; i++) own[i] = s[i] + z[a * n + i];
        matrix_multiply(of, q->fy + a * q->count, own, sum);
        matrix_multiply(of, q->fyp + a * q->count, slopes + a * n, own);
        for (size_t i = 0; i < n; i++) own[i] = -(own[i] + sum[i] + p[i]);
    }
}

/* Z += D with D in r; its size in tolerances. */
static double add_correction(const dae_sensitivity *x, int k, const double *r, double *z)
{
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n, all = n * (size_t)q->stages;
    double sum = 0.0;
    for (size_t a = 0; a < (size_t)q->stages; a++)
        for (size_t i = 0; i < n; i++) {
            const double from = x->s[(size_t)k * n + i], d = r[a * n + i];
            z[a * n + i] += d;
            double part = d / sensitivity_weight(x, k, (int)i, from, from + z[a * n + i]);
            sum += part * part;
        }
    return sqrt(sum / (double)all);
}

/* Z of direction k; false: the iteration is too slow. work has n (2 s + 1) values. */
static bool iterate(dae_sensitivity *x, double h, int k, bool alike, double *z, double *work)
{
    enum { MOST = 10 };
    static const double KAPPA = 1e-3, SLOW = 0.3;
    const stage_system *q = x->system;
    const collocation *m = x->method;
    const int s = q->stages;
    double *r = work, *w = work + (size_t)s * (size_t)q->n, before = 0.0;
    vector_zero(s * q->n, z);
    for (int round = 0; round < MOST; round++) {
        if (round == 0)
            take_first_defects(x, k, alike, r, w);
        else
            take_defects(x, h, k, z, r, w);
        collocation_combine(s, s, q->n, 1.0, m->T_inverse, r, w);
        x->stats.solves++;
        if (shifted_solve_all(&x->lead.matrix, m->pairs, w) != ITERATION_OK) return false;
        collocation_combine(s, s, q->n, 1.0, m->T, w, alike ? z : r);
        if (alike) return vector_finite(s * q->n, z);
        const double size = add_correction(x, k, r, z);
        if (!isfinite(size)) return false;
        if (size == 0.0) return true;
        const double theta = round > 0 ? size / before : 0.0;
        if (round > 0 && theta > SLOW) return false;
        if (round > 0 && size * theta / (1.0 - theta) <= KAPPA) return true;
        before = size;
    }
    return false;
}

dae_status stages_iterate(dae_sensitivity *x, double h, double *stages, bool *solved)
{
    const stage_system *q = x->system;
    const size_t rows = (size_t)q->n * (size_t)q->stages;
    *solved = false;
    if (rows <= STAGE_SYSTEM_SMALL || x->lead.matrix.matrix_free) return DAE_OK;
    const bool alike = stages_alike(q);
    if (x->recorder && !alike) return DAE_OK; /* the adjoint goes back through exact solutions */
    iteration_status status = factor_middle(x, h);
    if (status == ITERATION_MEMORY) return sensitivity_no_memory(x);
    if (status != ITERATION_OK) return DAE_OK;
    double *work = DAE_ARRAY(double, 2 * rows + (size_t)q->n);
    if (!work) return sensitivity_no_memory(x);
    *solved = true;
    for (size_t k = 0; k < (size_t)x->directions.count && *solved; k++)
        *solved = iterate(x, h, (int)k, alike, stages + k * rows, work);
    dae_free(work);
    return DAE_OK;
}
