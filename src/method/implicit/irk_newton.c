/* Simplified Newton for all stages at once, in transformed variables [HW96 IV.8; But76].
 *
 *   R_i = F(t + c_i h, y + Z_i, (A^-1 Z)_i / h) = 0
 *   (I x dF/dy + A^-1/h x dF/dy') D = -R
 * With A^-1 = T Lambda T^-1 and V = T^-1 D: real systems of shift gamma/h, one after the other
 * where there are two, and a complex one for every pair (a + i b)/h. */
#include "method/implicit/irk_parts.h"

#include <float.h>

#include "base/vector.h"
#include "matrix/shifted.h"
#include "method/common/stages.h"

/* The iteration error may be this part of the tolerance; constants of radau_newton.c. */
static const double KAPPA = 0.001, SLOWEST_RATE = 0.99, BEST_OLD_ETA = 0.02;
static const double ROUND_OFF = 100.0 * DBL_EPSILON, NOISE = 0.1;
/* Contraction beyond which partial derivatives are renewed at the next step. */
static const double WORN = 0.003;
/* A first contraction up to the second number says nothing while that of differential variables is
 * below the first one (radau_newton.c). */
static const double TRANSIENT = 0.1, MOST_TRANSIENT = 10.0;
enum { MOST_ITERATIONS = 12 };

void irk_transform(int s, int n, double a, const double *M, const double *X, double *Y)
{
    for (int i = 0; i < s; i++, M += s, Y += n)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < s; k++) sum += M[k] * X[k * n + j];
            Y[j] = a * sum;
        }
}

/* ---- matrices ------------------------------------------------------------------------------- */

static bool factors_fit(const irk_state *s, const irk_scratch *w, const iteration *it)
{
    const struct shifted *f = it->shifted;
    if (!it->factored || it->by_columns || it->cj != s->table->m->gamma / w->h) return false;
    if (s->table->m->pairs == 0) return true;
    return f && f->h == w->h && f->stages == s->table->m->stages &&
           f->evaluations == it->evaluations;
}

/* One real factorisation, which the error estimate needs in any case, and one for every pair. */
static iteration_status factor(const irk_state *s, const irk_scratch *w, iteration *it)
{
    const irk_table *table = s->table;
    if (table->m->pairs > 0 && !shifted_prepare(it, table->m->pairs)) return ITERATION_MEMORY;
    iteration_status status = iteration_factor(it, table->m->gamma / w->h, NULL);
    for (int p = 0; p < table->m->pairs && status == ITERATION_OK; p++)
        status =
            shifted_factor(it, p, table->m->pair[2 * p] / w->h, table->m->pair[2 * p + 1] / w->h);
    if (table->m->pairs == 0) return status;
    it->shifted->h = w->h;
    it->shifted->stages = status == ITERATION_OK ? table->m->stages : 0;
    it->shifted->evaluations = it->evaluations;
    return status;
}

/* Partial derivatives at the beginning of the step if they are worn or asked for, and factors. */
static iteration_status prepare(const irk_state *s, irk_scratch *w, const method_context *ctx,
                                bool evaluate)
{
    newton *nw = ctx->newton;
    iteration *it = nw->matrix;
    if (evaluate || nw->stale || !it->jac.valid) {
        nw->stale = true;
        iteration_status status = iteration_evaluate(
            it, s->t, s->y, s->yp, s->table->m->gamma / w->h, w->h, ctx->norm->weights, NULL);
        if (status != ITERATION_OK) return status;
        nw->stale = false;
        w->fresh = true;
    }
    return factors_fit(s, w, it) ? ITERATION_OK : factor(s, w, it);
}

/* V := transformed matrices^-1 V */
static iteration_status solve_transformed(const irk_state *s, const irk_scratch *w,
                                          const method_context *ctx)
{
    iteration *it = ctx->newton->matrix;
    const irk_table *table = s->table;
    const int n = ctx->n;
    double *V = w->V;
    iteration_status status = ITERATION_OK;
    for (int r = 0; r < table->m->reals && status == ITERATION_OK; r++, V += n) {
        if (r > 0) { /* V_1 -= gamma/h dF/dy' V_0 */
            status = iteration_apply_yp(it, NULL, V - n, w->work);
            vector_axpy(n, -table->m->gamma / w->h, w->work, V);
        }
        if (status == ITERATION_OK) status = iteration_solve(it, NULL, V);
    }
    for (int p = 0; p < table->m->pairs && status == ITERATION_OK; p++, V += 2 * n)
        shifted_solve(it, p, V, V + n);
    return status;
}

/* ---- iteration ------------------------------------------------------------------------------ */

/* R_i = F(t + c_i h, y + Z_i, Y'_i) */
static attempt_status residuals(const irk_state *s, irk_scratch *w, const method_context *ctx,
                                attempt *result)
{
    const irk_table *table = s->table;
    const size_t n = (size_t)ctx->n;
    irk_transform(table->m->stages, ctx->n, 1.0 / w->h, table->m->inverse, w->Z, w->V);
    for (int i = 0; i < table->m->stages; i++) {
        double t = table->m->nodes[i] == 1.0 ? w->t : s->t + table->m->nodes[i] * w->h;
        for (size_t j = 0; j < n; j++) w->point[j] = s->y[j] + w->Z[(size_t)i * n + j];
        stages_clamp(&ctx->eval->problem->form, w->point);
        result->stage = i + 1;
        eval_status status = evaluate_residual(ctx->eval, t, w->point, w->V + (size_t)i * n,
                                               w->R + (size_t)i * n, &ctx->eval->stats->residuals);
        if (status != EVAL_OK) return stages_from_evaluation(status);
    }
    result->stage = 0;
    return ATTEMPT_OK;
}

/* Norm of a correction over differential variables alone, in the scale of the iteration */
static double differential_part(const error_norm *norm, int stages, const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < stages; i++, D += norm->n)
        for (int j = 0; j < norm->n; j++) {
            double x = norm->kinds[j] == DAE_KIND_DIFFERENTIAL ? D[j] * norm->newton[j] : 0.0;
            sum += x * x;
        }
    return sqrt(sum / (stages * norm->n));
}

/* One correction D = -T Lambda-solve T^-1 R in R, Z += D; its norm in *size. */
static attempt_status iterate_once(const irk_state *s, irk_scratch *w, const method_context *ctx,
                                   attempt *result, double *size)
{
    const irk_table *table = s->table;
    const int n = ctx->n;
    attempt_status status = residuals(s, w, ctx, result);
    if (status != ATTEMPT_OK) return status;
    irk_transform(table->m->stages, n, -1.0, table->m->T_inverse, w->R, w->V);
    status = stages_from_iteration(solve_transformed(s, w, ctx));
    if (status != ATTEMPT_OK) return status;
    irk_transform(table->m->stages, n, 1.0, table->m->T, w->V, w->R);
    double sum = 0.0, most = -1.0;
    for (int i = 0; i < table->m->stages; i++) {
        const double *D = w->R + (size_t)i * (size_t)n;
        double part = norm_of(ctx->norm, D, ctx->norm->newton);
        sum += part * part;
        vector_axpy(n, 1.0, D, w->Z + (size_t)i * (size_t)n);
        if (part <= most) continue;
        most = part; /* the largest one, for diagnostics */
        result->stage = i + 1;
        vector_copy(n, D, ctx->newton->delta);
    }
    *size = sqrt(sum / table->m->stages);
    w->iterations++;
    ctx->eval->stats->newton_iterations++;
    return isfinite(*size) ? ATTEMPT_OK : ATTEMPT_CONVERGENCE;
}

/* Iterate until the iteration error is below KAPPA, also in the units of the error test, if these
 * are finer: the estimate contains the y' that Newton's method left. */
static attempt_status iterate(const irk_state *s, irk_scratch *w, const method_context *ctx,
                              attempt *result)
{
    const int wanted = ctx->newton->max_iterations;
    const int most = wanted > MOST_ITERATIONS ? wanted : MOST_ITERATIONS;
    const double round_off = ROUND_OFF * norm_of(ctx->norm, s->y, ctx->norm->newton);
    /* Multipliers need a second correction to come right, as large as the first. */
    int first = ctx->norm->newton != ctx->norm->scale ? 2 : 1;
    const int earliest = first;
    const double unit = 1.0 / fmax(1.0, w->factor);
    double size = 0.0, last = 0.0, part = 0.0;
    w->theta = 0.0;
    w->eta = fmax(pow(w->eta, 0.75), BEST_OLD_ETA);
    for (int k = 0; k < most; k++) {
        attempt_status status = iterate_once(s, w, ctx, result, &size);
        if (status != ATTEMPT_OK) return status;
        if (k >= first) {
            w->theta = k > first ? sqrt(w->theta * size / last) : size / last;
            if (w->theta < SLOWEST_RATE) w->eta = w->theta / (1.0 - w->theta);
        }
        bool slow = k >= first && !(w->theta < SLOWEST_RATE);
        if (size <= round_off || (!slow && w->eta * size <= KAPPA * unit)) return ATTEMPT_OK;
        double before = part;
        part = differential_part(ctx->norm, s->table->m->stages, w->R);
        bool transient =
            slow && k == earliest && size < MOST_TRANSIENT * last && part <= TRANSIENT * before;
        last = size;
        if (transient) first = k + 1; /* algebraic variables have yet to follow */
        if (slow && !transient)
            return w->fresh && size <= NOISE * unit ? ATTEMPT_OK : ATTEMPT_CONVERGENCE;
    }
    return ATTEMPT_CONVERGENCE;
}

attempt_status irk_solve(const irk_state *s, irk_scratch *w, const method_context *ctx,
                         attempt *result)
{
    const size_t count = (size_t)s->table->m->stages * (size_t)ctx->n;
    norm_set_step(ctx->norm, w->h);
    w->iterations = 0;
    attempt_status status = stages_from_iteration(prepare(s, w, ctx, false));
    if (status != ATTEMPT_OK) return status;
    bool fresh = w->fresh;
    memcpy(w->P, w->Z, count * sizeof(double));
    status = iterate(s, w, ctx, result);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (retry && !fresh) { /* once more with new matrices */
        memcpy(w->Z, w->P, count * sizeof(double));
        w->eta = 1.0;
        status = stages_from_iteration(prepare(s, w, ctx, true));
        if (status == ATTEMPT_OK) status = iterate(s, w, ctx, result);
    }
    if (status == ATTEMPT_OK) result->stage = 0;
    if (status == ATTEMPT_OK && w->theta > WORN) ctx->newton->stale = true;
    ctx->newton->iterations = w->iterations;
    ctx->newton->rate = w->theta;
    return status;
}
