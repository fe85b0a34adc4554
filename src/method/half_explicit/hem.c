/* Half-explicit Runge-Kutta methods hem3, hem4, hem5: the engine for all tables.
 *
 * A step solves its stages (hem_mechanical.c, hem_hessenberg.c), estimates its error, and ends with
 * the exact slope f(y1, z1), z1 from [BH93 (3.6)]: it gives z to the order of y, the slopes of the
 * dense output, and what the next step starts with. */
#include "method/half_explicit/hem_parts.h"

#include "base/memory.h"
#include "base/vector.h"
#include "base/wide.h"
#include "method/common/interpolation.h"
#include "method/common/stages.h"

#include <float.h>

const method_memory hem_memory = {
    .state = {sizeof(hem_state), {VECTORS(hem_state, x_old, middle)}},
    .gaps = {GAP(hem_state, table), GAP(hem_state, failure)},
    .scratch = {sizeof(hem_scratch), {VECTORS(hem_scratch, K[0], estimate)}},
};

/* The combination for `width` components from `first` on; the sums stay in registers. */
DAE_INLINE int combine_some(int width, int first, int n, const double *x0, double h, int count,
                            const double *weight, double *const *K, double *out)
{
    for (; first + width <= n; first += width) {
        double sum[16];
        for (int i = 0; i < width; i++) sum[i] = x0[first + i];
        for (int j = 0; j < count; j++) {
            if (weight[j] == 0.0) continue;
            const double *k = K[j] + first, t = h * weight[j];
            for (int i = 0; i < width; i++) sum[i] += t * k[i];
        }
        for (int i = 0; i < width; i++) out[first + i] = sum[i];
    }
    return first;
}

DAE_WIDE static void combine(int n, const double *x0, double h, int count, const double *weight,
                             double *const *K, double *out)
{
    int done = combine_some(16, 0, n, x0, h, count, weight, K, out);
    done = combine_some(8, done, n, x0, h, count, weight, K, out);
    done = combine_some(4, done, n, x0, h, count, weight, K, out);
    done = combine_some(2, done, n, x0, h, count, weight, K, out);
    combine_some(1, done, n, x0, h, count, weight, K, out);
}

void hem_combine(int n, const double *x0, double h, int count, const double *weight,
                 double *const *K, double *out)
{
    combine(n, x0, h, count, weight, K, out);
}

/* Place of differential variable i among the unknowns. */
int hem_x_at(const hem_cache *c, int i)
{
    if (!c->x_place) return i;
    if (!c->mechanical) return c->x_place[i];
    int nq = c->mechanical->nq;
    return i < nq ? c->x_place[i] : c->v_place[i - nq];
}

/* Place of algebraic variable i among the unknowns. */
int hem_w_at(const hem_cache *c, int i)
{
    if (!c->w_place) return c->nx + i;
    return i < c->nz ? c->w_place[i] : c->u_place[i - c->nz];
}

double hem_norm(const hem_cache *c, const error_norm *norm, const double *v, int first, int last)
{
    double sum = 0.0;
    for (int i = first; i < last; i++) {
        double scaled = v[i] * norm->scale[hem_x_at(c, i)];
        sum += scaled * scaled;
    }
    return last > first ? sqrt(sum / (last - first)) : 0.0;
}

hem_failure hem_linear(const hem_cache *c, saddle_status status)
{
    if (status == SADDLE_OK) return mechanism_ok();
    if (status == SADDLE_NOT_FINITE) return mechanism_evaluation(EVAL_RETRY);
    if (status == SADDLE_MEMORY) return mechanism_evaluation(EVAL_MEMORY);
    return (hem_failure){ATTEMPT_SINGULAR,
                         "g_y f_z is singular, at this constraint: the system has not index 2 here",
                         saddle_row(c->saddle), 0};
}

/* ---- start ---- */

static saddle_layout pattern_of(const form_matrix *m)
{
    return (saddle_layout){m->colptr, m->rowind};
}

bool hem_restart(hem_cache *c)
{
    if (!c->mechanical) return true;
    hem_failure failure = mechanism_restart(&c->system);
    c->saddle = c->system.saddle;
    return failure.status == ATTEMPT_OK;
}

/* k = x' and w at (t, x), on either form */
static hem_failure slope(const method_context *ctx, double t, double h, const double *x, double *k,
                         double *w, bool end)
{
    return hem_exact_slope(ctx->cache, ctx, t, h, x, k, w, end);
}

void hem_start(const hem_table *table, void *state, void *scratch, const method_context *ctx,
               const start_point *at)
{
    hem_state *s = state;
    hem_cache *c = ctx->cache;
    method_clear(ctx, state, scratch);
    s->table = table;
    s->rough = -1.0;
    s->t = s->t_old = at->t;
    s->step = c->starts = ++c->numbered;
    c->norm = ctx->norm;
    c->w_begin = s->w;
    c->start_step = c->inner_step = c->slopes_step = c->rows_step = c->doubt_step = -1;
    c->inner_slope_step = -1;
    c->convergence = 1.0;
    c->spoilt = false;
    c->lost = 0;
    hem_exact_start(c);
    for (int i = 0; i < c->nx; i++) s->x[i] = at->y[hem_x_at(c, i)];
    for (int i = 0; i < c->nw; i++) s->w[i] = at->y[hem_w_at(c, i)];
    if (!hem_restart(c))
        s->failure = (hem_failure){ATTEMPT_MEMORY, NULL, -1, 0};
    else
        s->failure = slope(ctx, s->t, at->h, s->x, s->k, s->w, c->hessenberg != NULL);
    vector_copy(c->nx, s->x, s->x_old);
    vector_copy(c->nx, s->k, s->k_old);
    vector_copy(c->nw, s->w, s->w_old);
    vectors_begin(c->nw, s->w, s->z, s->z_old);
    vector_copy(c->nx, s->x, s->middle);
    if (!s->failure.status) s->failure = hem_refinement_restart(c->refinement, s, ctx);
}

/* ---- attempt ---- */

/* The part of a difference that the constraints leave */
static void tangential(const hem_state *s, const method_context *ctx, double *e)
{
    hem_cache *c = ctx->cache;
    if (s->table->exact)
        hem_exact_tangent(c, ctx, e);
    else if (c->mechanical)
        hem_mechanical_tangent(c, e);
    else
        hem_hessenberg_tangent(c, e);
}

/* h times the weighted slopes: an estimate of the error, brought back to the tangent space */
static void estimate(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    double *e = w->error;
    vector_zero(c->nx, e);
    hem_combine(c->nx, e, w->h, table->stages, table->error, w->K, e);
    if (table->error_start != 0.0) vector_axpy(c->nx, w->h * table->error_start, s->k, e);
    if (table->error_end != 0.0) vector_axpy(c->nx, w->h * table->error_end, w->k, e);
    if (table->transversal) tangential(s, ctx, e);
}

double hem_tested_norm(const hem_cache *c, const error_norm *norm, const double *v, double *full)
{
    vector_zero(norm->n, full);
    for (int i = 0; i < c->nx; i++) full[hem_x_at(c, i)] = v[i];
    return norm_of(norm, full, norm->tested);
}

/* What is left of an estimate of order 5 after a step, where it passes through zero. */
static const double REMEMBERED = 0.1;

/* An estimate of one component, as a mechanism of one degree of freedom has it, passes through zero
 * now and then, and its square is the error: no smaller than expected from the step before. */
static double remembered(const hem_state *s, const hem_scratch *w, double fine)
{
    double before = s->t - s->t_old;
    if (before == 0.0) return fine;
    return fmax(fine, REMEMBERED * s->fine * pow(fabs(w->h / before), 6.0));
}

/* The local error: one estimate, or e^2 / (e + 0.01 e_coarse), which falls as fast as an estimate
 * of one order more and does not miss what e cannot see [Bra94]. */
static double local_error(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    estimate(s, w, ctx);
    double fine = hem_tested_norm(c, ctx->norm, w->error, w->estimate);
    double counts = table->caution > 0.0 ? table->caution : 1.0;
    w->rough = 0.0;
    w->fine = fine;
    if (table->exact && table->exact->has_low) fine = remembered(s, w, fine);
    if (table->coarse[table->stages - 1] == 0.0) return counts * fine;
    vector_zero(c->nx, w->coarse);
    hem_combine(c->nx, w->coarse, w->h, table->stages, table->coarse, w->K, w->coarse);
    /* else what the projection removes would hide the rest of the error */
    if (table->transversal) tangential(s, ctx, w->coarse);
    double coarse = hem_tested_norm(c, ctx->norm, w->coarse, w->y);
    if (table->exact) w->rough = 0.1 * coarse;
    double sum = table->exact ? hypot(fine, 0.1 * coarse) /* [HNW93 II.10] */
                              : fine + 0.01 * coarse;
    return sum > 0.0 ? counts * fine * fine / sum : 0.0;
}

/* x at the inner point of the dense output */
static void dense_point(const hem_state *s, hem_scratch *w, const hem_cache *c)
{
    const hem_table *table = s->table;
    if (table->middle == 0.0) return;
    hem_combine(c->nx, s->x, w->h, table->stages, table->dense, w->K, w->middle);
    if (table->dense_start != 0.0) vector_axpy(c->nx, w->h * table->dense_start, s->k, w->middle);
    if (table->dense_end != 0.0) vector_axpy(c->nx, w->h * table->dense_end, w->k, w->middle);
}

/* The cubic is Hermite's; the quartic adds a multiple of s^2 (1-s)^2 that makes it pass the middle.
 */
void hem_dense_weights(double m, double s, int derivative, double weight[5])
{
    double r = 1.0 - s;
    weight[0] = derivative ? -6.0 * s * r : r * r * (1.0 + 2.0 * s);
    weight[1] = derivative ? 6.0 * s * r : s * s * (3.0 - 2.0 * s);
    cubic_ends(s, 1.0, derivative, &weight[2], &weight[3]);
    weight[4] = 0.0;
    if (m == 0.0) return;
    double at_m[5], hump = derivative ? 2.0 * s * r * (1.0 - 2.0 * s) : s * s * r * r;
    hem_dense_weights(0.0, m, 0, at_m);
    weight[4] = hump / (m * m * (1.0 - m) * (1.0 - m));
    for (int k = 0; k < 4; k++) weight[k] -= weight[4] * at_m[k];
}

/* |x - cubic| at the inner point of the dense output, where there is one */
static double roughness(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    const hem_cache *c = ctx->cache;
    double weight[5], m = s->table->middle, *d = w->coarse; /* free once the error is known */
    if (m == 0.0) return w->rough;
    hem_dense_weights(0.0, m, 0, weight);
    for (int i = 0; i < c->nx; i++)
        d[i] = w->middle[i] - weight[0] * s->x[i] - weight[1] * w->x[i] -
               w->h * (weight[2] * s->k[i] + weight[3] * w->k[i]);
    return hem_tested_norm(c, ctx->norm, d, w->y);
}

/* The error where f leaps; the memory goes on as the step does. */
static double leap(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    double before = s->t - s->t_old, ratio = before != 0.0 ? w->h / before : 1.0;
    double rough = roughness(s, w, ctx);
    w->rough = s->rough;
    return stages_leap(rough, ratio, s->rough >= 0.0, &w->rough);
}

/* (y, y') as the driver sees them: y' of algebraic variables is their mean slope. */
static void assemble(const hem_state *s, hem_scratch *w, const hem_cache *c)
{
    for (int i = 0; i < c->nx; i++) {
        w->y[hem_x_at(c, i)] = w->x[i];
        w->yp[hem_x_at(c, i)] = w->k[i];
    }
    const double *last = s->table->last_stage ? w->z : w->w;
    const double *before = s->table->last_stage ? s->z : s->w;
    for (int i = 0; i < c->nw; i++) {
        w->y[hem_w_at(c, i)] = last[i];
        w->yp[hem_w_at(c, i)] = (last[i] - before[i]) / w->h;
    }
}

/* The slope at the end, from the last stage's z; where that is a bad guess, as in the shortest of
 * steps, from that at the start. */
static hem_failure end_slope(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    const hem_cache *c = ctx->cache;
    hem_failure failure = slope(ctx, s->t + w->h, w->h, w->x, w->k, w->w, true);
    if (failure.status != ATTEMPT_CONVERGENCE) return failure;
    vector_copy(c->nw, s->w, w->w);
    return slope(ctx, s->t + w->h, w->h, w->x, w->k, w->w, true);
}

/* All stages: K, and the end of the step in w->x. */
static hem_failure stages(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    const bool partitioned = table->partitioned;
    hem_failure failure =
        c->mechanical ? hem_mechanical_begin(s, ctx) : hem_hessenberg_begin(s, ctx);
    if (partitioned) vector_copy(c->nx, s->k, w->K[0]);
    for (int i = partitioned ? 1 : 0; i < table->stages && !failure.status; i++) {
        if (partitioned || i == 0)
            hem_combine(c->nx, s->x, w->h, i, table->a[i], w->K, w->X);
        else
            vector_copy(c->nx, w->X_bar, w->X);
        failure =
            c->mechanical ? hem_mechanical_stage(s, w, ctx, i) : hem_hessenberg_stage(s, w, ctx, i);
    }
    if (!failure.status) vector_copy(c->nx, w->X_bar, w->x);
    return failure;
}

/* Stages, slope at the end, error. The estimate of mechanical stages that needs no slope comes
 * first, since it uses the factors of the last stage. */
static hem_failure try_step(const hem_state *s, hem_scratch *w, const method_context *ctx,
                            double *error)
{
    hem_cache *c = ctx->cache;
    bool end_first = s->table->error_end != 0.0 || c->hessenberg;
    vector_copy(c->nw, s->w, w->w);
    if (s->table->exact) {
        hem_failure exact = hem_exact_step(s, w, ctx);
        if (exact.status) return exact;
        *error = local_error(s, w, ctx);
        return isfinite(*error) ? exact : mechanism_evaluation(EVAL_RETRY);
    }
    hem_failure failure = stages(s, w, ctx);
    if (failure.status) return failure;
    if (s->table->last_stage && c->hessenberg) vector_copy(c->nw, w->w, w->z);
    if (end_first) failure = end_slope(s, w, ctx);
    if (failure.status) return failure;
    *error = local_error(s, w, ctx);
    if (!isfinite(*error)) return mechanism_evaluation(EVAL_RETRY);
    if (!end_first) failure = end_slope(s, w, ctx);
    return failure;
}

/* h |lambda| over the boundary of stability: |lambda| from the slopes at the last stage and at the
 * end, both at t + h [HW96 IV.2]. Half-explicit stages have multipliers of their own, which do not
 * count: only the tangential part does. */
static double stability(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    double *d = w->coarse; /* free once the error is known */
    for (int i = 0; i < c->nx; i++) d[i] = w->x[i] - w->X[i];
    double values = hem_norm(c, ctx->norm, d, 0, c->nx);
    for (int i = 0; i < c->nx; i++) d[i] = w->k[i] - w->K[s->table->stages - 1][i];
    if (c->mechanical && !s->table->exact) hem_mechanical_tangent(c, d);
    if (c->hessenberg && !s->table->exact) hem_hessenberg_tangent(c, d);
    double slopes = hem_norm(c, ctx->norm, d, 0, c->nx);
    return values > 0.0 ? fabs(w->h) * slopes / values / s->table->stable : 0.0;
}

/* In front of an impasse steps would become shorter for ever, some of them accepted: so many
 * failures while no step is longer than this part of the longest are its end. At a corner of f
 * there are a dozen at most before steps grow again. */
enum { MOST_LOST = 40 };
static const double FAR_BELOW = 1e-6;

/* Where errors are far below the tolerance nothing but growth limits a step, and what f does
 * between the nodes of the table, and no longer at its end, is in no estimate: f is looked at in
 * between. */
static const double QUIET = 1e-3;
/* Values inside of a step may be off the constraints by a hundred tolerances, not more: polynomials
 * may be that far off, and other means give these values then. */
static const double BESIDE = 0.01;

/* h_new / h = 0.9 (tol/err)^(1/3) within bounds [BH93 (6.2)], which the article leaves open */
static double published_factor(double error)
{
    const double safety = 0.9, least = 0.2, most = 5.0;
    return fmax(least, fmin(most, safety * cbrt(1.0 / fmax(error, 1e-30))));
}

/* A step, unless there have been too many failures. */
static hem_failure try_unless_lost(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                   double *error)
{
    hem_cache *c = ctx->cache;
    if (s->failure.status) return s->failure;
    if (c->lost >= MOST_LOST) return hem_hessenberg_impasse(c);
    hem_failure failure = try_step(s, w, ctx, error);
    if (c->hessenberg && failure.status == ATTEMPT_CONVERGENCE) c->lost++;
    c->spoilt = failure.status != ATTEMPT_OK;
    return failure;
}

/* The estimate, or what f does where no estimate sees it, if that is more. */
static double unseen_error(const hem_state *s, hem_scratch *w, const method_context *ctx,
                           double estimate)
{
    double error = fmax(estimate, leap(s, w, ctx));
    bool quiet = error < QUIET && w->rough < QUIET && !ctx->fixed_steps;
    bool longer = fabs(w->h) > fabs(s->t - s->t_old);
    if (quiet && longer) return fmax(error, hem_look_inside(s, w, ctx));
    return ctx->fixed_steps ? error : fmax(error, BESIDE * hem_look_beside(s, w, ctx));
}

void hem_attempt(const void *state, void *scratch, const method_context *ctx, double h, int order,
                 attempt *result)
{
    const hem_state *s = state;
    hem_scratch *w = scratch;
    (void)order;
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, s->table->error_order + 1, w->y, w->yp);
    result->estimate = w->estimate;
    hem_cache *c = ctx->cache;
    c->w_begin = s->w;
    c->projected = false;
    c->end_here = true;
    hem_failure failure = try_unless_lost(s, w, ctx, &result->error);
    mechanism_report(failure, result);
    int culprit = c->mechanical ? c->system.massless : c->undetermined;
    if (failure.status == ATTEMPT_SINGULAR && culprit > 0)
        result->variable = hem_x_at(c, culprit - 1);
    if (failure.status) return;
    dense_point(s, w, ctx->cache);
    if (s->table->published)
        result->next_factor = published_factor(result->error);
    else
        result->error = unseen_error(s, w, ctx, result->error);
    result->terms[2] = result->error;
    if (ctx->look_at_stability && c->lost == 0) result->stability = stability(s, w, ctx);
    assemble(s, w, ctx->cache);
}

/* ---- accept and dense output ---- */

void hem_accept(void *state, void *scratch, const method_context *ctx)
{
    hem_state *s = state;
    const hem_scratch *w = scratch;
    hem_cache *c = ctx->cache;
    vectors_swap(&s->x, &s->x_old);
    vectors_swap(&s->k, &s->k_old);
    vectors_swap(&s->w, &s->w_old);
    vector_copy(c->nx, w->x, s->x);
    vector_copy(c->nx, w->k, s->k);
    vector_copy(c->nw, w->w, s->w);
    if (s->table->last_stage) vectors_advance(c->nw, w->z, s->z, s->z_old);
    if (s->table->middle != 0.0) vector_copy(c->nx, w->middle, s->middle);
    s->t_old = s->t;
    s->t = w->t;
    s->rough = w->rough;
    s->fine = w->fine;
    s->step = ++c->numbered; /* another one than if this step is taken back, and made again */
    c->longest = fmax(c->longest, fabs(w->h));
    if (fabs(w->h) > FAR_BELOW * c->longest) c->lost = 0;
    if (s->table->exact) {
        for (int i = 0; i < s->table->stages; i++) vector_copy(c->nx, w->K[i], c->slopes[i]);
        c->slopes_step = s->step;
    } else if (c->mechanical) {
        hem_mechanical_accept(c);
        c->start_step = s->step;
    }
}

/* r_5, r_6, .. of the continuous extension [HNW93 II.6], with further stages where it has some;
 * made when first asked for. False if that failed. */
static bool exact_rows(const hem_state *st, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const rounded_tableau *table = c->tableau;
    if (c->rows_step == st->step) return true;
    if (c->slopes_step != st->step) return false;
    int s = table->stages, all = s + 1 + table->further;
    double h = st->t - st->t_old;
    vector_copy(c->nx, st->k, c->slopes[s]);
    vector_copy(c->nw, st->w, c->inner);
    for (int i = s + 1; i < all; i++) {
        hem_combine(c->nx, st->x_old, h, i, table->a[i], c->slopes, c->inner_x);
        hem_failure failure = hem_exact_inner_slope(c, ctx, st->t_old + table->c[i] * h, h,
                                                    c->inner_x, c->slopes[i], c->inner);
        if (failure.status) return false;
    }
    for (int k = 0; k < table->rows; k++) {
        vector_zero(c->nx, c->rows[k]);
        hem_combine(c->nx, c->rows[k], h, all, table->dense[k], c->slopes, c->rows[k]);
    }
    c->rows_step = st->step;
    return true;
}

/* x(t_old + s h), or h x' there, from the inside out: p := r_k + (s or 1 - s) p. Without the rows
 * this is Hermite's cubic. */
static void dense_exact(const hem_state *st, const method_context *ctx, double s, int derivative,
                        double *x)
{
    hem_cache *c = ctx->cache;
    int rows = exact_rows(st, ctx) ? c->tableau->rows : 0;
    double h = st->t - st->t_old;
    for (int i = 0; i < c->nx; i++) {
        double rise = st->x[i] - st->x_old[i], r3 = h * st->k_old[i] - rise;
        double first[4] = {st->x_old[i], rise, r3, rise - h * st->k[i] - r3};
        double value = 0.0, slant = 0.0;
        for (int k = rows + 3; k >= 0; k--) {
            double factor = k % 2 ? 1.0 - s : s, turn = k % 2 ? -1.0 : 1.0;
            slant = turn * value + factor * slant;
            value = (k < 4 ? first[k] : c->rows[k - 4][i]) + factor * value;
        }
        x[i] = derivative ? slant : value;
    }
}

/* The same by the table alone */
static void plain_x(const hem_state *st, const method_context *ctx, double s, int derivative,
                    double *x)
{
    if (st->table->exact) {
        dense_exact(st, ctx, s, derivative, x);
        return;
    }
    const int n = ((const hem_cache *)ctx->cache)->nx;
    double weight[5], h = st->t - st->t_old;
    hem_dense_weights(st->table->middle, s, derivative, weight);
    for (int i = 0; i < n; i++)
        x[i] = weight[0] * st->x_old[i] + weight[1] * st->x[i] +
               h * (weight[2] * st->k_old[i] + weight[3] * st->k[i]) +
               (weight[4] != 0.0 ? weight[4] * st->middle[i] : 0.0);
}

/* Points inside that are so many tolerances from the interpolant: error estimates see what is
 * tangential to the constraints alone, so that where these leave no freedom steps have any length.
 */
static const double FAR_OFF = 3.0;

/* The largest component in error weights */
static double largest(const hem_cache *c, const double *v)
{
    double most = 0.0;
    for (int i = 0; i < c->nx; i++) most = fmax(most, fabs(v[i]) * c->norm->scale[hem_x_at(c, i)]);
    return most;
}

/* What the term of highest degree adds to the interpolant at most, in error weights: where it is
 * below the tolerance, so is what comes behind it. */
static double last_term(const hem_state *st, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = st->table;
    if (table->exact && !exact_rows(st, ctx)) return INFINITY;
    int rows = table->exact ? c->tableau->rows : 0;
    if (rows > 0) { /* r_k times s^i (1-s)^j */
        double i = (rows + 4) / 2, j = (rows + 3) / 2, peak = i / (i + j);
        return largest(c, c->rows[rows - 1]) * pow(peak, i) * pow(1.0 - peak, j);
    }
    /* Hermite's cubic will do for order 3, if the error test sees all there is */
    if (table->middle == 0.0) return table->order <= 3 && c->ng == 0 ? 0.0 : INFINITY;
    double weight[5], h = st->t - st->t_old;
    hem_dense_weights(0.0, table->middle, 0, weight);
    for (int i = 0; i < c->nx; i++)
        c->inner_k[i] = st->middle[i] - weight[0] * st->x_old[i] - weight[1] * st->x[i] -
                        h * (weight[2] * st->k_old[i] + weight[3] * st->k[i]);
    return largest(c, c->inner_k);
}

/* Whether the points inside are far from the interpolant, or were not found. */
static bool far_off(const hem_state *st, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    if (!hem_refine(c->refinement, st, ctx)) return true;
    const double *middle = hem_refined_middle(c->refinement);
    plain_x(st, ctx, 0.5, 0, c->inner_k);
    for (int i = 0; i < c->nx; i++) c->inner_k[i] -= middle[i];
    bool far = largest(c, c->inner_k) > FAR_OFF;
    if (far) hem_refine_doubted(c->refinement, st, ctx);
    return far;
}

/* Whether values inside are those of steps to points inside. */
static bool refined(const hem_state *st, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    if (ctx->plain) return false;
    if (c->doubt_step != st->step) {
        c->doubt = last_term(st, ctx);
        c->doubt_step = st->step;
        c->off = c->doubt > 1.0 && far_off(st, ctx);
    }
    return c->doubt > 1.0 && hem_refine(c->refinement, st, ctx);
}

/* x(t_old + s h) or h x' there */
static void dense_x(const hem_state *st, const method_context *ctx, double s, int derivative,
                    double *x)
{
    const hem_cache *c = ctx->cache;
    if (s != 0.0 && s != 1.0 && refined(st, ctx))
        hem_refined(c->refinement, st, c->nx, s, derivative, x);
    else
        plain_x(st, ctx, s, derivative, x);
}

/* Weights of w at both ends and at the points inside in the polynomial through them, or in its
 * derivative. */
static void inner_weights(double s, int derivative, double weight[HEM_INNER + 2])
{
    double node[HEM_INNER + 2];
    for (int k = 0; k < HEM_INNER + 2; k++) node[k] = k / (HEM_INNER + 1.0);
    interpolation_row(HEM_INNER + 2, node, s, derivative, weight);
}

/* Algebraic variables at t in w: those that belong to the x at hand in inner_x. */
static bool exact_w(const hem_state *st, const method_context *ctx, double t, double *w)
{
    hem_cache *c = ctx->cache;
    double h = st->t - st->t_old, s = (t - st->t_old) / h;
    for (int i = 0; i < c->nw; i++) w[i] = (1.0 - s) * st->w_old[i] + s * st->w[i]; /* a guess */
    return c->refinement && hem_followers(c->refinement, st, ctx, t, c->inner_x, w);
}

/* The same at t_old + s h; on the straight line where that fails. */
static bool exact_inside(const hem_state *st, const method_context *ctx, double s, double *w)
{
    hem_cache *c = ctx->cache;
    dense_x(st, ctx, s, 0, c->inner_x);
    if (exact_w(st, ctx, st->t_old + s * (st->t - st->t_old), w)) return true;
    for (int i = 0; i < c->nw; i++) w[i] = (1.0 - s) * st->w_old[i] + s * st->w[i];
    return false;
}

/* w_i on that polynomial */
static double inner_w(const hem_state *st, const hem_cache *c, const double *weight, int i)
{
    double sum = weight[0] * st->w_old[i] + weight[HEM_INNER + 1] * st->w[i];
    for (int k = 0; k < HEM_INNER; k++) sum += weight[k + 1] * c->inner[k * c->nw + i];
    return sum;
}

/* Whether the polynomial is right at t_old + s h, to the tolerance */
static bool inner_right(const hem_state *st, const method_context *ctx, double s)
{
    const hem_cache *c = ctx->cache;
    double weight[HEM_INNER + 2], *w = c->work[5];
    inner_weights(s, 0, weight);
    if (!exact_inside(st, ctx, s, w)) return false;
    for (int i = 0; i < c->nw; i++) {
        double off = fabs(inner_w(st, c, weight, i) - w[i]);
        if (!(off * c->norm->scale[hem_w_at(c, i)] <= 1.0)) return false;
    }
    return true;
}

/* w at the points inside of the last step, consistent with x there; made when first asked for. Two
 * other points are looked at, since what w depends on may be faster than the steps. */
static void inner_values(const hem_state *st, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    if (c->inner_step == st->step) return;
    bool found = true;
    for (int k = 0; k < HEM_INNER; k++)
        found = exact_inside(st, ctx, (k + 1) / (HEM_INNER + 1.0), c->inner + k * c->nw) && found;
    c->inner_holds = found && inner_right(st, ctx, 0.5) && inner_right(st, ctx, 0.09);
    c->inner_step = st->step;
}

/* x in c->inner_x moved onto the constraints, or by steps of its own to t, with its slope in
 * c->inner_k, and w; false: not wanted, or it failed. */
static bool project_inside(const hem_state *st, const method_context *ctx, double t, double *w)
{
    hem_cache *c = ctx->cache;
    if (ctx->plain) return false;
    if (refined(st, ctx) && hem_refined_at(c->refinement, st, ctx, t, c->inner_x, c->inner_k, w))
        return true;
    bool asked = st->table->exact && c->mechanical && ctx->options->project_output;
    bool needed = c->ng > 0 && (refined(st, ctx) || c->doubt > 1.0) && c->off;
    if (!c->refinement || !(asked || needed)) return false;
    double s = (t - st->t_old) / (st->t - st->t_old);
    for (int i = 0; i < c->nw; i++) w[i] = (1.0 - s) * st->w_old[i] + s * st->w[i]; /* a guess */
    return hem_point_inside(c->refinement, st, ctx, t, c->inner_x, c->inner_k, w);
}

/* Values, or slopes of x, on the constraints; lambda' remains to be found. */
static bool interpolate_projected(const hem_state *st, const method_context *ctx, double t,
                                  int derivative, double *y)
{
    hem_cache *c = ctx->cache;
    double h = st->t - st->t_old, *w = c->work[5];
    if (derivative) dense_x(st, ctx, (t - st->t_old) / h, 0, c->inner_x);
    if (!project_inside(st, ctx, t, w)) return false;
    for (int i = 0; i < c->nx; i++) y[hem_x_at(c, i)] = derivative ? c->inner_k[i] : c->inner_x[i];
    for (int i = 0; i < c->nw && !derivative; i++) y[hem_w_at(c, i)] = w[i];
    return !derivative || c->nw == 0;
}

/* w' at t_old + s h, on the cubic through w at both ends and at a third and two thirds, which
 * belong to the table's own x there: outputs ask for slopes at every row, and few look at these. */
static void slopes_of_w(const hem_state *st, const method_context *ctx, double s, double *y)
{
    static const double node[4] = {0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0};
    hem_cache *c = ctx->cache;
    double weight[4], h = st->t - st->t_old, *third = c->inner + HEM_INNER * c->nw;
    for (int k = 0; k < 2 && c->inner_slope_step != st->step; k++) {
        double *w = third + k * c->nw, t = st->t_old + node[k + 1] * h;
        plain_x(st, ctx, node[k + 1], 0, c->inner_x);
        if (exact_w(st, ctx, t, w)) continue;
        for (int i = 0; i < c->nw; i++)
            w[i] = (1.0 - node[k + 1]) * st->w_old[i] + node[k + 1] * st->w[i];
    }
    c->inner_slope_step = st->step;
    interpolation_row(4, node, s, 1, weight);
    for (int i = 0; i < c->nw; i++)
        y[hem_w_at(c, i)] = (weight[0] * st->w_old[i] + weight[1] * third[i] +
                             weight[2] * third[c->nw + i] + weight[3] * st->w[i]) /
                            h;
}

/* z where it is Z_s at both ends, which is of order 2: a straight line has that, too. */
static void line_of_z(const hem_state *st, const hem_cache *c, double s, int derivative, double *y)
{
    const double h = st->t - st->t_old;
    for (int i = 0; i < c->nw; i++)
        y[hem_w_at(c, i)] =
            derivative ? (st->z[i] - st->z_old[i]) / h : (1.0 - s) * st->z_old[i] + s * st->z[i];
}

/* Algebraic variables at t, inside of the step. Explicit methods solve for them each time,
 * half-explicit ones use a polynomial where it is right: its values are smooth to the last bit. */
static void interpolate_w(const hem_state *st, const method_context *ctx, double s, double *y)
{
    hem_cache *c = ctx->cache;
    double weight[HEM_INNER + 2], *w = c->work[5];
    if (!st->table->exact) inner_values(st, ctx);
    bool exact = st->table->exact || !c->inner_holds;
    if (exact) exact = exact_inside(st, ctx, s, w);
    if (!exact) inner_values(st, ctx);
    inner_weights(s, 0, weight);
    for (int i = 0; i < c->nw; i++) y[hem_w_at(c, i)] = exact ? w[i] : inner_w(st, c, weight, i);
}

/* Where t lies, from 0 to 1; times that differ from an end by rounding are that end. */
static double place_in_step(const hem_state *st, double t)
{
    double h = st->t - st->t_old, slack = 8.0 * DBL_EPSILON * fmax(fabs(st->t), fabs(st->t_old));
    if (h == 0.0 || fabs(t - st->t) <= slack) return 1.0;
    return fabs(t - st->t_old) <= slack ? 0.0 : (t - st->t_old) / h;
}

/* Values or slopes at an end of the step; slopes of w are their mean ones, as in assemble. */
static void at_end(const hem_state *st, const hem_cache *c, bool last, int derivative, double *y)
{
    const double h = st->t - st->t_old, *x = last ? st->x : st->x_old,
                 *k = last ? st->k : st->k_old;
    const double *w = last ? st->w : st->w_old;
    for (int i = 0; i < c->nx; i++) y[hem_x_at(c, i)] = derivative ? k[i] : x[i];
    for (int i = 0; i < c->nw; i++)
        y[hem_w_at(c, i)] = derivative ? (st->w[i] - st->w_old[i]) / h : w[i];
}

void hem_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                     double *y)
{
    const hem_state *st = state;
    hem_cache *c = ctx->cache;
    double h = st->t - st->t_old, s = place_in_step(st, t);
    double scale = derivative && h != 0.0 ? 1.0 / h : 1.0;
    if (h == 0.0) {
        for (int i = 0; i < c->nx; i++) y[hem_x_at(c, i)] = derivative ? st->k[i] : st->x[i];
        for (int i = 0; i < c->nw; i++) y[hem_w_at(c, i)] = derivative ? 0.0 : st->w[i];
        return;
    }
    if (s == 0.0 || s == 1.0) { /* no need for what is inside */
        at_end(st, c, s == 1.0, derivative, y);
        if (st->table->last_stage) line_of_z(st, c, s, derivative, y);
        return;
    }
    dense_x(st, ctx, s, derivative, c->inner_x);
    for (int i = 0; i < c->nx; i++) y[hem_x_at(c, i)] = scale * c->inner_x[i];
    if (st->table->last_stage) {
        line_of_z(st, c, s, derivative, y);
        return;
    }
    if (interpolate_projected(st, ctx, t, derivative, y)) return;
    if (c->nw == 0) return;
    if (derivative)
        slopes_of_w(st, ctx, s, y);
    else
        interpolate_w(st, ctx, s, y);
}

/* ---- cache ---- */

static bool mechanical_cache(hem_cache *c, const method_context *ctx)
{
    const mechanical_form *m = c->mechanical;
    c->nx = 2 * m->nq;
    c->nw = c->nz = c->ng = m->nl;
    size_t M = m->M_matrix.count, G = m->G_matrix.count;
    bool fits = mechanism_new(&c->system, ctx);
    c->saddle = c->system.saddle;
    c->matrices = SHARED_BLOCK(SHARE(c->M_start, M), SHARE(c->G_start, G), SHARE(c->G_aside, G),
                               SHARE(c->force_start, (size_t)m->nq));
    return fits && c->matrices;
}

/* k_u as a solver's matrix */
static bool k_u_cache(hem_cache *c)
{
    const form_matrix *k = &c->hessenberg->k_u_matrix;
    bool fits = k->colptr ? layout_sparse(&c->k_u_layout, k->rows, k->colptr, k->rowind)
                          : layout_dense(&c->k_u_layout, k->rows);
    if (!fits) return false;
    c->k_u_values = DAE_ARRAY(double, c->k_u_layout.count);
    c->k_u = linear_new(&c->k_u_layout);
    return c->k_u_values && c->k_u;
}

static bool hessenberg_cache(hem_cache *c)
{
    const hessenberg_form *f = c->hessenberg;
    c->nx = f->ny;
    c->nz = c->ng = f->nz;
    c->nw = f->nz + f->nu;
    size_t full = (size_t)f->ny * (size_t)f->nz, g_y = f->g_y_matrix.count;
    c->matrices = SHARED_BLOCK(SHARE(c->f_z, f->nu > 0 ? full : f->f_z_matrix.count),
                               SHARE(c->g_y, g_y), SHARE(c->g_y_end, g_y));
    saddle_shape shape = {.n = f->ny,
                          .m = f->nz,
                          .C = pattern_of(&f->g_y_matrix),
                          .F = f->nu > 0 ? (saddle_layout){NULL, NULL} : pattern_of(&f->f_z_matrix),
                          .identity = true};
    c->saddle = saddle_new(&shape);
    return c->matrices && c->saddle && (f->nu == 0 || k_u_cache(c));
}

static bool manifold_cache(hem_cache *c)
{
    if (!c->manifold) return true;
    c->nx = c->manifold->n;
    c->ng = c->manifold->nc;
    return true;
}

/* The form to work on: the mechanical one if there is one. */
static void choose_form(hem_cache *c, const form_set *forms)
{
    c->mechanical = forms->mechanical;
    c->hessenberg = c->mechanical ? NULL : forms->hessenberg;
    c->manifold = c->mechanical || c->hessenberg ? NULL : forms->manifold;
    const form_places *p = c->mechanical   ? &forms->mechanical_places
                           : c->hessenberg ? &forms->hessenberg_places
                                           : &forms->manifold_places;
    c->x_place = p->q;
    c->w_place = p->lambda;
    c->v_place = c->u_place = p->v;
}

hem_cache *hem_bare_cache(const method_context *ctx)
{
    hem_cache *c = DAE_NEW(hem_cache);
    if (!c || !ctx->forms) return c;
    choose_form(c, ctx->forms);
    bool fits = c->mechanical   ? mechanical_cache(c, ctx)
                : c->hessenberg ? hessenberg_cache(c)
                                : manifold_cache(c);
    size_t size = (size_t)(c->nx + c->nw + c->ng);
    fits = SHARED_BLOCK(SHARES(c->work, 6, size), SHARE(c->inner, (HEM_INNER + 2) * (size_t)c->nw),
                        SHARE(c->inner_x, c->nx), SHARE(c->inner_k, c->nx)) &&
           fits;
    if (fits) return c;
    hem_cache_free(c);
    return NULL;
}

hem_cache *hem_cache_with(const method_context *ctx, hem_cache *cache, hem_cache *own)
{
    if (!cache || !ctx->forms) {
        hem_cache_free(own);
        return cache;
    }
    cache->refinement = hem_refinement_new(ctx, own);
    if (cache->refinement) return cache;
    hem_cache_free(cache);
    return NULL;
}

static void *hem_cache_new(const method_context *ctx)
{
    return hem_cache_with(ctx, hem_bare_cache(ctx), hem_bare_cache(ctx));
}

void hem_cache_free(void *cache)
{
    hem_cache *c = cache;
    if (!c) return;
    hem_refinement_free(c->refinement);
    if (!c->mechanical) saddle_free(c->saddle);
    mechanism_free(&c->system);
    if (c->k_u) linear_free(c->k_u);
    layout_free(&c->k_u_layout);
    hem_exact_release(c);
    dae_free_all(c->tableau, c->slopes[0], c->matrices, c->k_u_values, c->work[0], c);
}

/* Numbers of the cache: all but what points to something, and the table, which a start brings. */
static void persist_numbers(hem_cache *c, persist *p)
{
    PERSIST_STRUCT(p, c, GAPS(hem_cache, mechanical, manifold), GAPS(hem_cache, x_place, matrices),
                   GAPS(hem_cache, f_z, k_u_values), GAPS(hem_cache, norm, w_begin),
                   GAP(hem_cache, work), GAP(hem_cache, inner), GAPS(hem_cache, inner_x, inner_k),
                   GAPS(hem_cache, own, rows), GAPS(hem_cache, projector, refinement));
}

void hem_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    hem_cache *c = cache;
    if (!ctx->forms) return;
    const persist_home home = {{c->matrices, c->system.block}};
    double **const vectors[] = {&c->M_start, &c->G_start, &c->G_aside, &c->force_start,
                                &c->f_z,     &c->g_y,     &c->g_y_end};
    void *const blocks[] = {c->work[0], c->matrices, c->slopes[0], c->k_u_values, c->reach};
    persist_numbers(c, p);
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) persist_block(p, blocks[k]);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        persist_within(p, vectors[k], &home);
    if (c->mechanical) mechanism_persist(&c->system, c->matrices, p);
    if (c->hessenberg) saddle_persist(c->saddle, &home, p);
    if (c->k_u) linear_persist(c->k_u, p);
    hem_exact_persist(c, p);
    if (c->refinement) hem_refinement_persist(c->refinement, ctx, p);
}

/* ---- the methods ---- */

static void start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    hem_start(ctx->method->table, state, scratch, ctx, at);
}

/* A table of the user as the engine reads it. */
static void fill_own_table(hem_cache *c, const dae_table *t)
{
    rounded_tableau *r = c->tableau;
    own_tableau(t, r);
    own_table_zeta(t, c->own_zeta);
    c->own = (hem_table){.stages = r->stages,
                         .order = r->order,
                         .stable = r->stable,
                         .error_order = r->has_error ? r->estimate_order : r->order - 1,
                         .transversal = true,
                         .a = (const double(*)[HEM_STAGES])r->a,
                         .a_bar = (const double(*)[HEM_STAGES])(r->a + 1),
                         .c = r->c,
                         .c_bar = r->c + 1,
                         .zeta = c->own_zeta};
    vector_copy(r->stages, r->error, c->own.error);
}

static hem_cache *own_bare_cache(const method_context *ctx)
{
    hem_cache *c = hem_bare_cache(ctx);
    if (!c || !ctx->forms) return c;
    c->tableau = DAE_NEW(rounded_tableau);
    if (c->tableau) return c;
    hem_cache_free(c);
    return NULL;
}

static void *own_hem_cache_new(const method_context *ctx)
{
    return hem_cache_with(ctx, own_bare_cache(ctx), own_bare_cache(ctx));
}

static void own_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    hem_cache *c = ctx->cache;
    fill_own_table(c, ctx->options->table);
    hem_start(&c->own, state, scratch, ctx, at);
}

const method method_own_hem = {.name = "hem:table",
                               .summary = "half-explicit Runge-Kutta by a table of the user",
                               .citation = "the user's table",
                               .max_order = 6,
                               .forms = FORM_MECHANICAL | FORM_HESSENBERG,
                               .fixed_order = true,
                               .projects = true,
                               .takes_table = TABLE_HEM,
                               .index_range = "2 (mechanical: 3)",
                               .memory = &hem_memory,
                               .start = own_start,
                               .attempt = hem_attempt,
                               .accept = hem_accept,
                               .interpolate = hem_interpolate,
                               .cache_new = own_hem_cache_new,
                               .cache_free = hem_cache_free,
                               .cache_persist = hem_cache_persist};

#define HEM_METHOD(id, label, about, source, highest)                                              \
    HEM_VARIANT(id, label, about, source, highest, false)
#define HEM_VARIANT(id, label, about, source, highest, CONSTANT)                                   \
    const method method_##id = {.name = label,                                                     \
                                .summary = about "; y' = f(y,z), 0 = g(y)",                        \
                                .citation = source,                                                \
                                .max_order = highest,                                              \
                                .forms = FORM_MECHANICAL | FORM_HESSENBERG,                        \
                                .fixed_order = true,                                               \
                                .projects = true,                                                  \
                                .constant_steps = CONSTANT,                                        \
                                .index_range = "2 (mechanical: 3)",                                \
                                .table = &id##_table,                                              \
                                .memory = &hem_memory,                                             \
                                .start = start,                                                    \
                                .attempt = hem_attempt,                                            \
                                .accept = hem_accept,                                              \
                                .interpolate = hem_interpolate,                                    \
                                METHOD_CACHE(hem)}

#define BRASEY                                                                                     \
    "Brasey, Hairer: Half-explicit Runge-Kutta methods for differential-algebraic systems of "     \
    "index 2, SIAM J. Numer. Anal. 30 (1993) 538-552"

HEM_METHOD(hem3, "hem:3", "half-explicit Runge-Kutta of order 3", BRASEY, 3);
HEM_METHOD(hem4, "hem:4", "half-explicit Runge-Kutta of order 4", BRASEY, 4);
HEM_METHOD(hem4_published, "hem:4:published",
           "half-explicit Runge-Kutta of order 4, steps by (6.1) and (6.2) of the article", BRASEY,
           4);
HEM_VARIANT(hem4_stage, "hem:4:stage",
            "half-explicit Runge-Kutta of order 4, z of order 2 from the last stage", BRASEY, 4,
            true);
HEM_METHOD(hem5, "hem:5", "half-explicit Runge-Kutta of order 5",
           "Brasey: Half-explicit methods for semi-explicit differential-algebraic equations of "
           "index 2, thesis, Geneva 1994",
           5);
HEM_METHOD(phem5, "phem", "partitioned half-explicit Runge-Kutta of order 5",
           "Murua: Partitioned half-explicit Runge-Kutta methods for differential-algebraic "
           "systems of index 2, Computing 59 (1997) 43-61",
           5);
