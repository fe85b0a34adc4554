#include "method/half_explicit/invariants.h"

#include "base/memory.h"
#include "base/vector.h"

#include <float.h>

struct invariant_work {
    int count, n;                     /* of invariants, of unknowns */
    double *y, *yp;                   /* as the user sees them; owned: one block, at y */
    double *value, *moved, *sum;      /* count each: values, at another point, sum of |terms| */
    double *gradient, *direction;     /* nx each, per invariant */
    double *matrix, *right, *scratch; /* count x count, count, and the size of w */
};

invariant_work *invariant_work_new(const hem_cache *c, const method_context *ctx)
{
    invariant_work *v = DAE_NEW(invariant_work);
    if (!v) return NULL;
    size_t m = (size_t)ctx->invariants->count, n = (size_t)ctx->n, nx = (size_t)c->nx;
    v->count = ctx->invariants->count;
    v->n = ctx->n;
    bool fits = SHARED_BLOCK(SHARE(v->y, n), SHARE(v->yp, n), SHARE(v->value, m),
                             SHARE(v->moved, m), SHARE(v->sum, m), SHARE(v->right, m),
                             SHARE(v->gradient, m * nx), SHARE(v->direction, m * nx),
                             SHARE(v->matrix, m * m), SHARE(v->scratch, (size_t)(c->nw + c->ng)));
    if (fits) return v;
    dae_free(v);
    return NULL;
}

void invariant_work_free(invariant_work *v)
{
    if (!v) return;
    dae_free_all(v->y, v);
}

/* y and y' from x, x' and w; y' of algebraic variables is 0 */
static void assemble(const hem_cache *c, const double *x, const double *k, const double *w)
{
    invariant_work *v = c->invariants;
    vector_zero(2 * v->n, v->y);
    for (int i = 0; i < c->nx; i++) {
        v->y[hem_x_at(c, i)] = x[i];
        v->yp[hem_x_at(c, i)] = k[i];
    }
    for (int i = 0; i < c->nw; i++) v->y[hem_w_at(c, i)] = w[i];
}

static eval_status evaluate(const hem_cache *c, const method_context *ctx, double t, double *value)
{
    const invariant_set *set = ctx->invariants;
    return set->values(set->context, t, c->invariants->y, c->invariants->yp, value);
}

/* Gradients by x at the assembled point, where the values are known: one-sided differences, good
 * to 1e-8, which is more than a direction needs. */
static eval_status gradients(const hem_cache *c, const method_context *ctx, double t)
{
    invariant_work *v = c->invariants;
    eval_status status = EVAL_OK;
    for (int j = 0; j < c->nx && status == EVAL_OK; j++) {
        double *at = &v->y[hem_x_at(c, j)], keep = *at;
        double size = fmax(fabs(keep), sqrt(ctx->norm->weights[hem_x_at(c, j)]));
        *at += sqrt(DBL_EPSILON) * size;
        double step = *at - keep;
        status = evaluate(c, ctx, t, v->moved);
        *at = keep;
        for (int i = 0; i < v->count; i++)
            v->gradient[i * c->nx + j] = (v->moved[i] - v->value[i]) / step;
    }
    return status;
}

/* moved = d/ds of the values along (t + s, x + s k) at s = 0, by four points */
static eval_status along(const hem_cache *c, const method_context *ctx, double t, const double *x,
                         const double *k, double step)
{
    static const double weight[4] = {1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0};
    static const double node[4] = {-2.0, -1.0, 1.0, 2.0};
    invariant_work *v = c->invariants;
    eval_status status = EVAL_OK;
    vector_zero(v->count, v->right);
    for (int p = 0; p < 4 && status == EVAL_OK; p++) {
        for (int i = 0; i < c->nx; i++) v->y[hem_x_at(c, i)] = x[i] + node[p] * step * k[i];
        status = evaluate(c, ctx, t + node[p] * step, v->moved);
        vector_axpy(v->count, weight[p] / step, v->moved, v->right);
    }
    for (int i = 0; i < c->nx; i++) v->y[hem_x_at(c, i)] = x[i];
    return status;
}

/* A time in which no component moves by more than a thousandth of the largest of its size and the
 * mean size */
static double time_step(const hem_cache *c, const double *x, const double *k)
{
    double size = 0.0, fastest = 0.0;
    for (int i = 0; i < c->nx; i++) size = fmax(size, fabs(x[i]));
    for (int i = 0; i < c->nx; i++)
        fastest = fmax(fastest, fabs(k[i]) / fmax(fabs(x[i]), 1e-2 * size + DBL_MIN));
    return fastest > 0.0 ? 1e-3 / fastest : 1e-3;
}

hem_failure invariants_check_arguments(hem_cache *c, const method_context *ctx, double t,
                                       const double *x, const double *k, const double *w)
{
    invariant_work *v = c->invariants;
    assemble(c, x, k, w);
    eval_status status = evaluate(c, ctx, t, v->value);
    for (int i = 0; i < c->nw; i++) v->y[hem_w_at(c, i)] = 1.1 * w[i] + 0.1;
    for (int i = 0; i < c->nx; i++) v->yp[hem_x_at(c, i)] = 1.1 * k[i] + 0.1;
    if (status == EVAL_OK) status = evaluate(c, ctx, t, v->moved);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    for (int i = 0; i < v->count; i++)
        if (fabs(v->moved[i] - v->value[i]) > 1e-12 * fabs(v->value[i]))
            return (hem_failure){
                ATTEMPT_UNSUPPORTED,
                "It depends on multipliers, other algebraic variables or "
                "derivatives: an invariant is a function of differential variables",
                -1, i + 1};
    return (hem_failure){.constraint = -1};
}

hem_failure invariants_check(hem_cache *c, const method_context *ctx, double t, const double *x,
                             const double *k, const double *w, double allowed)
{
    invariant_work *v = c->invariants;
    double step = time_step(c, x, k);
    assemble(c, x, k, w);
    eval_status status = evaluate(c, ctx, t, v->value);
    if (status == EVAL_OK) status = gradients(c, ctx, t);
    if (status == EVAL_OK) status = along(c, ctx, t, x, k, step);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    for (int i = 0; i < v->count; i++) {
        double terms = 0.0, rounding = 1e3 * DBL_EPSILON * fabs(v->value[i]) / step;
        for (int j = 0; j < c->nx; j++) terms += fabs(v->gradient[i * c->nx + j] * k[j]);
        rounding += 1e-13 * fmax(terms, fabs(v->right[i]));
        if (fabs(v->right[i]) <= allowed * terms + rounding && terms + 1.0 > 0.0) continue;
        return (hem_failure){ATTEMPT_UNSUPPORTED,
                             "It changes along the solution: it is no invariant of the equations",
                             -1, i + 1};
    }
    return (hem_failure){.constraint = -1};
}

/* ---- directions ---- */

/* level = G(t, q) v + g_t */
static eval_status velocity_level(hem_cache *c, double t, const double *q, const double *v,
                                  double *level)
{
    const mechanical_form *m = c->mechanical;
    eval_status status = m->evaluate(m->context, t, q, v, NULL, NULL, c->G_aside, level, NULL);
    if (status == EVAL_OK) form_matrix_multiply(&m->G_matrix, c->G_aside, 1.0, v, level);
    return status;
}

/* d_v += M^-1 G'mu with G d_v = -g_qq(v, d_q): where q moves, 0 = G v + g_t asks for that of v */
static eval_status follow_positions(hem_cache *c, double t, const double *x, double *d)
{
    const mechanical_form *m = c->mechanical;
    double *moved = c->work[0], *r = c->work[1], *before = c->work[2], size = 0.0, step = 0.0;
    for (int i = 0; i < m->nq; i++) {
        size = fmax(size, fabs(x[i]));
        step = fmax(step, fabs(d[i]));
    }
    if (step == 0.0 || m->nl == 0) return EVAL_OK;
    step = 1e-6 * fmax(size, DBL_MIN) / step;
    for (int i = 0; i < m->nq; i++) moved[i] = x[i] + step * d[i];
    eval_status status = velocity_level(c, t, x, x + m->nq, before);
    if (status == EVAL_OK) status = velocity_level(c, t, moved, x + m->nq, r);
    for (int i = 0; i < m->nl; i++) r[i] = (before[i] - r[i]) / step;
    vector_zero(m->nq, moved);
    saddle_solve_x(c->saddle, moved, r);
    vector_axpy(m->nq, 1.0, moved, d + m->nq);
    return status;
}

/* d := [M G'; G 0]^-1 of the gradient, for q and v apart: M^-1 grad along the constraints. Weights
 * tell how much of q goes with how much of v. */
static eval_status mechanical_direction(hem_cache *c, const method_context *ctx, double t,
                                        const double *x, double *d)
{
    const int nq = c->mechanical->nq;
    double q = 0.0, v = 0.0;
    for (int i = 0; i < nq; i++) {
        double a = ctx->norm->weights[hem_x_at(c, i)], b = ctx->norm->weights[hem_x_at(c, nq + i)];
        q += a * a;
        v += b * b;
    }
    vector_zero(c->ng, c->invariants->scratch);
    saddle_solve_x(c->saddle, d, c->invariants->scratch);
    vector_zero(c->ng, c->invariants->scratch);
    saddle_solve_x(c->saddle, d + nq, c->invariants->scratch);
    for (int i = 0; i < nq; i++) d[nq + i] *= v / q;
    return follow_positions(c, t, x, d);
}

/* d := W^2 grad, and that along the constraints */
static void weighted_direction(hem_cache *c, const method_context *ctx, double *d)
{
    for (int i = 0; i < c->nx; i++) {
        double weight = ctx->norm->weights[hem_x_at(c, i)];
        d[i] *= weight * weight;
    }
    hem_exact_tangent(c, ctx, d);
}

/* matrix_ij = grad_i . direction_j */
static eval_status fill_matrix(hem_cache *c, const method_context *ctx, double t, const double *x)
{
    invariant_work *v = c->invariants;
    eval_status status = EVAL_OK;
    vector_copy(v->count * c->nx, v->gradient, v->direction);
    for (int j = 0; j < v->count && status == EVAL_OK; j++) {
        double *d = v->direction + (size_t)j * (size_t)c->nx;
        if (c->mechanical)
            status = mechanical_direction(c, ctx, t, x, d);
        else
            weighted_direction(c, ctx, d);
        for (int i = 0; i < v->count; i++) {
            double sum = 0.0;
            for (int l = 0; l < c->nx; l++) sum += v->gradient[i * c->nx + l] * d[l];
            v->matrix[i * v->count + j] = sum;
        }
    }
    return status;
}

/* right := matrix^-1 right by elimination; where a pivot vanishes (at rest, say) the invariant
 * cannot be moved, and is left alone. */
static void solve(invariant_work *v)
{
    int m = v->count;
    double *A = v->matrix, *b = v->right;
    for (int k = 0; k < m; k++) v->sum[k] = fabs(A[k * m + k]);
    for (int k = 0; k < m; k++) {
        double pivot = A[k * m + k];
        bool dead = !(fabs(pivot) > 1e-12 * v->sum[k]);
        for (int i = k + 1; i < m && !dead; i++) {
            double factor = A[i * m + k] / pivot;
            for (int j = k; j < m; j++) A[i * m + j] -= factor * A[k * m + j];
            b[i] -= factor * b[k];
        }
        if (dead) A[k * m + k] = 0.0;
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++) b[k] -= A[k * m + j] * b[j];
        b[k] = A[k * m + k] != 0.0 ? b[k] / A[k * m + k] : 0.0;
    }
}

hem_failure invariants_project(hem_cache *c, const method_context *ctx, double t, double *x,
                               const double *k, const double *w)
{
    enum { ITERATIONS = 4 };
    invariant_work *v = c->invariants;
    double last = INFINITY;
    for (int p = 0; p < ITERATIONS; p++) {
        assemble(c, x, k, w);
        eval_status status = evaluate(c, ctx, t, v->value);
        if (status == EVAL_OK && p == 0) status = gradients(c, ctx, t);
        if (status == EVAL_OK) status = fill_matrix(c, ctx, t, x);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        for (int i = 0; i < v->count; i++) v->right[i] = ctx->invariants->start[i] - v->value[i];
        solve(v);
        vector_zero(c->nx, v->yp); /* the correction: y' is assembled anew */
        for (int j = 0; j < v->count; j++)
            vector_axpy(c->nx, v->right[j], v->direction + (size_t)j * (size_t)c->nx, v->yp);
        double size = hem_norm(c, ctx->norm, v->yp, 0, c->nx);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        if (size >= last) break; /* round-off */
        vector_axpy(c->nx, 1.0, v->yp, x);
        if (size <= 1e-3) break;
        last = size;
    }
    return (hem_failure){.constraint = -1};
}
