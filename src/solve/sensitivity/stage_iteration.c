/* The stages of a step with matrices of the size of one: derivatives of the stage in the middle
 * stand for those of all, which makes the equations fall apart into a real system and complex ones
 * [HW96 IV.8]; what that neglects is iterated away. Where all stages have the same derivatives
 * nothing is neglected: one solution does (stage_split.c). */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "matrix/shifted.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_split.h"
#include "solve/sensitivity/stage_system.h"

/* Whether all stages have the same derivatives. */
static bool stages_alike(const stage_system *q)
{
    const size_t bytes = q->count * sizeof(double);
    if (q->filled) return true;
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

/* r = -(F_Y S + F_p) of all stages: the defects of Z = 0. */
static void take_first_defects(const dae_sensitivity *x, int k, double *r, double *sum)
{
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n;
    for (size_t a = 0; a < (size_t)q->stages; a++) {
        const double *p = q->explicit_part + ((size_t)k * (size_t)q->stages + a) * n;
        if (a == 0 || !q->alike)
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

enum { MOST_ROUNDS = 10 };
/* What stages may be wrong by, in tolerances: nothing beside the error of a step. */
static const double KAPPA = 1e-3;

/* Whether corrections that become smaller by theta from round to round will be small enough in time
 * [HW96 IV.8]: after all rounds the rest is size theta^(rounds to come)/(1 - theta). */
static bool will_converge(double size, double theta, int round)
{
    return theta < 1.0 && size * pow(theta, MOST_ROUNDS - 1 - round) / (1.0 - theta) <= KAPPA;
}

/* Z of direction k; false: the iteration is too slow. work has n (2 s + 1) values. */
static bool iterate(dae_sensitivity *x, double h, int k, double *z, double *work)
{
    const stage_system *q = x->system;
    const collocation *m = x->method;
    const int s = q->stages;
    double *r = work, *w = work + (size_t)s * (size_t)q->n, before = 1.0;
    vector_zero(s * q->n, z);
    for (int round = 0; round < MOST_ROUNDS; round++) {
        if (round == 0)
            take_first_defects(x, k, r, w);
        else
            take_defects(x, h, k, z, r, w);
        collocation_combine(s, s, q->n, 1.0, m->T_inverse, r, w);
        x->stats.solves++;
        if (shifted_solve_all(&x->lead.matrix, m->pairs, w) != ITERATION_OK) return false;
        collocation_combine(s, s, q->n, 1.0, m->T, w, r);
        const double size = add_correction(x, k, r, z);
        if (!isfinite(size)) return false;
        if (size == 0.0) return true;
        const double theta = size / before; /* of no meaning in the first round */
        if (round > 0 && !will_converge(size, theta, round)) return false;
        if (round > 0 && size * theta / (1.0 - theta) <= KAPPA) return true;
        before = size;
    }
    return false;
}

typedef struct columns {
    int first, count;
} columns;

/* Z of some directions by the factors of one stage, where all stages have the same derivatives. */
static bool solve_split(dae_sensitivity *x, columns c, double *stages, double *work)
{
    const stage_system *q = x->system;
    const size_t rows = (size_t)q->n * (size_t)q->stages;
    for (int k = c.first; k < c.first + c.count; k++) {
        double *z = stages + (size_t)k * rows;
        take_first_defects(x, k, z, work);
        stage_split_solve(q->split, z, work);
        x->stats.solves++;
        if (!vector_finite((int)rows, z)) return false;
    }
    return true;
}

/* The same where they differ, by iteration. */
static bool solve_iterated(dae_sensitivity *x, double h, columns c, double *stages, double *work)
{
    const size_t rows = (size_t)x->system->n * (size_t)x->system->stages;
    for (int k = c.first; k < c.first + c.count; k++)
        if (!iterate(x, h, k, stages + (size_t)k * rows, work)) return false;
    return true;
}

static dae_status solve_by_one_stage(dae_sensitivity *x, double h, columns c, double *stages,
                                     bool *solved)
{
    const stage_system *q = x->system;
    double *work = DAE_ARRAY(double, (size_t)q->n *(2 * (size_t)q->stages + 1));
    if (!work) return sensitivity_no_memory(x);
    *solved = q->alike ? solve_split(x, c, stages, work) : solve_iterated(x, h, c, stages, work);
    dae_free(work);
    return DAE_OK;
}

/* Factors where all stages have the same derivatives; they are said to differ where that fails. */
static dae_status factor_alike(dae_sensitivity *x, double h)
{
    stage_system *q = x->system;
    bool anew = false;
    if (!q->split) q->split = stage_split_new(&x->lead.matrix.jac.layout, x->method, false);
    linear_status status =
        q->split ? stage_split_factor(q->split, q->fy, q->fyp, h, &anew) : LINEAR_MEMORY;
    if (status == LINEAR_MEMORY) return sensitivity_no_memory(x);
    x->stats.factorisations += anew;
    q->alike = status == LINEAR_OK;
    return DAE_OK;
}

/* Factors where they differ. */
static dae_status factor_different(dae_sensitivity *x, double h, bool *factored)
{
    if (x->recorder) return DAE_OK; /* the adjoint goes back through exact solutions */
    iteration_status status = factor_middle(x, h);
    *factored = status == ITERATION_OK;
    return status == ITERATION_MEMORY ? sensitivity_no_memory(x) : DAE_OK;
}

dae_status stages_iterate(dae_sensitivity *x, double h, double *stages, bool *solved)
{
    stage_system *q = x->system;
    const size_t rows = (size_t)q->n * (size_t)q->stages;
    bool factored = false;
    *solved = q->alike = false;
    if (rows <= STAGE_SYSTEM_SMALL || x->lead.matrix.matrix_free) return DAE_OK;
    q->alike = stages_alike(q);
    dae_status status = q->alike ? factor_alike(x, h) : factor_different(x, h, &factored);
    if (status != DAE_OK || !(q->alike || factored)) return status;
    status =
        solve_by_one_stage(x, h, (columns){0, directions_asked(&x->directions)}, stages, solved);
    q->alike = q->alike && *solved;
    return status;
}

dae_status stages_iterate_more(dae_sensitivity *x, double h, int first, int count, double *stages,
                               bool *solved)
{
    return solve_by_one_stage(x, h, (columns){first, count}, stages, solved);
}
