/* Stages on y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u): in stage i a nonlinear system
 * 0 = g(Ybar_i(Z_i)) [BH93 (2.2)], by simplified Newton with g_y f_z from the step's start.
 *
 * u is eliminated: f is read as f(t, y, z, u(t,y,z)), and f_z as its total derivative, which is
 * differenced where there is a u. With F = f_z and C = g_y the corrections solve
 *     [ I  F ] [ p  ]   [ 0 ]
 *     [ C  0 ] [ dz ] = [ r ],   that is  -C F dz = r  and  p = -F dz = -(change of f),
 * so that the change of Y is known together with that of Z. */
#include "method/hem_parts.h"

#include "base/vector.h"

#include <float.h>

/* The slope moves by f_z of another point. However fast z converges (in the pendulum g_y f_z hardly
 * changes), what this leaves over tangentially may be so much of the last correction. */
static const double LEAST_RATE = 0.05;
/* Newton ends when the change of Ybar that is still to come is below this part of the weights. */
static const double NEWTON_TOLERANCE = 1e-3;
/* At the end of a step the slope must be right to this part of itself as well, however short the
 * step. Where 0 = g_t + g_y f has no solution, behind an impasse, steps would otherwise become so
 * short that what cannot be solved stays below the weights: (1.9) was continued from its impasse at
 * 0.372 to 0.42. A part of 1e-2 would do there, too. */
static const double SLOPE_TOLERANCE = 1e-4;
enum { NEWTON_ITERATIONS = 12, INNER_ITERATIONS = 12, RENEWALS = 3 };

static const hem_failure NO_FAILURE = {.constraint = -1};

/* u with k(t,y,z,u) = 0, by simplified Newton with the factored k_u; u is a guess on entry */
static hem_failure solve_u(hem_cache *c, double t, const double *y, const double *z, double *u)
{
    const hessenberg_form *f = c->hessenberg;
    double *r = c->work[4], before = DBL_MAX;
    for (int k = 0; k < INNER_ITERATIONS; k++) {
        eval_status status = f->k(f->context, t, y, z, u, r);
        if (status != EVAL_OK) return hem_evaluation(status);
        linear_solve(c->k_u, r);
        double size = 0.0, most = 0.0;
        for (int i = 0; i < f->nu; i++) {
            u[i] -= r[i];
            size = fmax(size, fabs(r[i]));
            most = fmax(most, fabs(u[i]));
        }
        if (!isfinite(size)) return hem_evaluation(EVAL_RETRY);
        if (size <= 4.0 * DBL_EPSILON * most || (size >= before && size <= 1e-8 * most))
            return NO_FAILURE;
        before = size;
    }
    return before == 0.0
               ? NO_FAILURE
               : (hem_failure){ATTEMPT_CONVERGENCE, "0 = k(t,y,z,u) did not converge", -1};
}

/* dy = f(t, y, z, u(t,y,z)); w = (z, u), u is updated */
static hem_failure evaluate_slope(hem_cache *c, double t, const double *y, double *w, double *dy)
{
    const hessenberg_form *f = c->hessenberg;
    if (f->nu > 0) {
        hem_failure failure = solve_u(c, t, y, w, w + f->nz);
        if (failure.status) return failure;
    }
    return hem_evaluation(f->f(f->context, t, y, w, w + f->nz, dy));
}

/* F = d f(t, y, z, u(t,y,z)) / dz by differences, on the pattern of f_z (full where u is) */
static hem_failure total_f_z(hem_cache *c, double t, const double *y, const double *w)
{
    const hessenberg_form *f = c->hessenberg;
    double *base = c->work[0], *moved = c->work[1], *z = c->work[5];
    vector_copy(c->nw, w, z);
    hem_failure failure = evaluate_slope(c, t, y, z, base);
    for (int j = 0; j < f->nz && !failure.status; j++) {
        double keep = z[j], step = sqrt(DBL_EPSILON) * fmax(1.0, fabs(keep));
        z[j] += step;
        failure = evaluate_slope(c, t, y, z, moved);
        double *column = c->f_z + (size_t)j * (size_t)f->ny;
        for (int i = 0; i < f->ny; i++) column[i] = (moved[i] - base[i]) / step;
        z[j] = keep;
    }
    return failure;
}

/* k_u and f_z at a point. */
static hem_failure renew_f_z(hem_cache *c, double t, const double *y, const double *w)
{
    const hessenberg_form *f = c->hessenberg;
    if (f->nu == 0) return hem_evaluation(f->f_z(f->context, t, y, w, w + f->nz, c->f_z));
    eval_status status = f->k_u(f->context, t, y, w, w + f->nz, c->k_u_values);
    if (status != EVAL_OK) return hem_evaluation(status);
    linear_status linear = linear_factor(c->k_u, c->k_u_values);
    if (linear == LINEAR_MEMORY) return (hem_failure){ATTEMPT_MEMORY, NULL, -1};
    if (linear == LINEAR_SINGULAR)
        return (hem_failure){ATTEMPT_SINGULAR, "k_u is singular: 0 = k(t,y,z,u) does not give u",
                             -1};
    return total_f_z(c, t, y, w);
}

/* Factors for (t, y, w), with C = g_y that the caller evaluated there. */
static hem_failure renew(hem_cache *c, double t, const double *y, const double *w, const double *C)
{
    hem_failure failure = renew_f_z(c, t, y, w);
    if (failure.status) return failure;
    return hem_linear(c, saddle_factor(c->saddle, NULL, c->f_z, C));
}

/* r = g_t + g_y f for the matrix C = g_y */
static hem_failure hidden_residual(hem_cache *c, double t, const double *y, const double *C,
                                   const double *slope, double *r)
{
    const hessenberg_form *f = c->hessenberg;
    const form_matrix *g = &f->g_y_matrix;
    eval_status status = f->g_t(f->context, t, y, r);
    if (status != EVAL_OK) return hem_evaluation(status);
    for (int j = 0; j < g->columns; j++) {
        if (!g->colptr) {
            vector_axpy(g->rows, slope[j], C + (size_t)j * (size_t)g->rows, r);
            continue;
        }
        for (int k = g->colptr[j]; k < g->colptr[j + 1]; k++) r[g->rowind[k]] += C[k] * slope[j];
    }
    return NO_FAILURE;
}

/* One correction: w and its slope move by what makes the linearised residual r zero; returns the
 * size of h times the change of the slope, in error weights. */
static double correct(hem_cache *c, const error_norm *norm, double h, double *r, double *w,
                      double *slope)
{
    double *p = c->work[2];
    vector_zero(c->nx, p);
    saddle_solve(c->saddle, p, r);
    for (int j = 0; j < c->nz; j++) w[j] += r[j];
    for (int i = 0; i < c->nx; i++) slope[i] -= p[i];
    for (int i = 0; i < c->nx; i++) p[i] *= h;
    return hem_norm(c, norm, p, 0, c->nx);
}

/* Progress of an iteration. */
typedef struct progress {
    double before; /* last correction */
    double rate;   /* of convergence; at first what other stages saw */
    bool measured;
} progress;

typedef enum verdict { GO_ON, DONE, FAILED } verdict;

/* Whether a correction of this size was the last: what is left over is size * rate. Iterations that
 * would need more than four others are given up; new matrices are cheaper. */
static verdict judge(progress *p, double size, int k)
{
    if (k > 0 && p->before > 0.0) {
        p->rate = size / p->before;
        p->measured = true;
    }
    bool stalled = k > 1 && p->rate > 0.5;
    p->before = size;
    if (size * fmax(LEAST_RATE, fmin(p->rate, 1.0)) <= NEWTON_TOLERANCE) return DONE;
    if (stalled && size <= 0.1) return DONE; /* round-off of g */
    if (k == 0) return GO_ON;
    bool slow = size * p->rate * p->rate * p->rate * p->rate > NEWTON_TOLERANCE;
    return k > 1 && slow && size > 0.1 ? FAILED : GO_ON;
}

/* p = |k| + |f_z| |z|: what the slope is made of, which tells its round-off where it cancels */
static void slope_terms(const hem_cache *c, const double *k, const double *z, double *p)
{
    const form_matrix *F = &c->hessenberg->f_z_matrix;
    bool full = !F->colptr || c->hessenberg->nu > 0;
    for (int i = 0; i < c->nx; i++) p[i] = fabs(k[i]);
    for (int j = 0; j < c->nz; j++) {
        int first = full ? 0 : F->colptr[j], last = full ? c->nx : F->colptr[j + 1];
        const double *column = full ? c->f_z + (size_t)j * (size_t)c->nx : c->f_z;
        for (int i = first; i < last; i++) p[full ? i : F->rowind[i]] += fabs(column[i] * z[j]);
    }
}

/* Whether the last correction leaves the slope right to a part of itself, or x to the last bit. */
static bool slope_settled(const hem_cache *c, const error_norm *norm, double h, const double *x,
                          const double *k, const double *z, const progress *p)
{
    double *terms = c->work[2];
    slope_terms(c, k, z, terms);
    double slope = SLOPE_TOLERANCE * hem_norm(c, norm, k, 0, c->nx);
    double rounding = 1e4 * DBL_EPSILON * hem_norm(c, norm, terms, 0, c->nx);
    double allowed = fabs(h) * (slope + rounding) + DBL_EPSILON * hem_norm(c, norm, x, 0, c->nx);
    return p->before <= allowed;
}

/* The constraint that is furthest from what cannot be reached. */
static hem_failure no_solution(const hem_cache *c, const double *r)
{
    return (hem_failure){ATTEMPT_CONVERGENCE,
                         "0 = g_t + g_y f cannot be solved for z: the solution may end here (an "
                         "impasse, g_y f_z becomes singular)",
                         vector_argmax(c->ng, r, NULL)};
}

/* k and w = (z, u) at (t, y) with 0 = g_t + g_y f [BH93 (3.6)]. At the end of a step the matrices
 * are made new there: the next step lives on them, and the tangential part of the error estimate is
 * small beside its other part, so that old ones would blur it. Elsewhere those at hand serve. */
hem_failure hem_hessenberg_slope(hem_cache *c, const method_context *ctx, double t, double h,
                                 const double *x, double *k, double *w, bool end)
{
    const hessenberg_form *f = c->hessenberg;
    double *C = end ? c->g_y_end : c->g_y, *r = c->work[3];
    eval_status status = f->g_y(f->context, t, x, C);
    if (status != EVAL_OK) return hem_evaluation(status);
    hem_failure failure = NO_FAILURE;
    if (end) failure = renew(c, t, x, w, C);
    progress p = {.rate = end ? c->convergence : 1.0};
    for (int i = 0; i < NEWTON_ITERATIONS && !failure.status; i++) {
        failure = evaluate_slope(c, t, x, w, k);
        if (!failure.status) failure = hidden_residual(c, t, x, C, k, r);
        if (failure.status) break;
        double size = correct(c, ctx->norm, h, r, w, k);
        if (!isfinite(size)) return hem_evaluation(EVAL_RETRY);
        verdict v = judge(&p, size, i);
        if (end && v == DONE && !slope_settled(c, ctx->norm, h, x, k, w, &p)) v = GO_ON;
        if (v == DONE) return f->nu > 0 ? solve_u(c, t, x, w, w + f->nz) : NO_FAILURE;
        if (v == FAILED && end && i < 6) failure = renew(c, t, x, w, C);
    }
    return failure.status ? failure : no_solution(c, r);
}

/* Newton for Z_i: K_i = f(Y_i, Z_i) with g(Ybar_i) = 0, Ybar_i = X_bar + h d K_i (left in work[0])
 */
static hem_failure stage_newton(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                int i, double *z, progress *p)
{
    hem_cache *c = ctx->cache;
    const hessenberg_form *f = c->hessenberg;
    const double h = w->h, hd = h * s->table->a_bar[i][i], t = s->t + s->table->c[i] * h;
    const double t_bar = s->t + s->table->c_bar[i] * h;
    double *moved = c->work[0], *r = c->work[3];
    for (int k = 0; k < NEWTON_ITERATIONS; k++) {
        hem_failure failure = evaluate_slope(c, t, w->X, z, w->K[i]);
        if (failure.status) return failure;
        for (int j = 0; j < c->nx; j++) moved[j] = w->X_bar[j] + hd * w->K[i][j];
        eval_status status = f->g(f->context, t_bar, moved, r);
        if (status != EVAL_OK) return hem_evaluation(status);
        for (int j = 0; j < c->ng; j++) r[j] /= hd;
        double size = correct(c, ctx->norm, hd, r, z, w->K[i]);
        if (!isfinite(size)) return hem_evaluation(EVAL_RETRY);
        verdict v = judge(p, size, k);
        if (v == DONE) return NO_FAILURE;
        if (v == FAILED) break;
    }
    return (hem_failure){ATTEMPT_CONVERGENCE, "A stage's constraints could not be met", -1};
}

/* The exact matrix of the stage's Newton iteration: f_z at (Y_i, Z_i), g_y at Ybar_i */
static hem_failure renew_in_stage(const hem_state *s, hem_scratch *w, hem_cache *c, int i,
                                  const double *z)
{
    const hessenberg_form *f = c->hessenberg;
    const hem_table *table = s->table;
    eval_status status = f->g_y(f->context, s->t + table->c_bar[i] * w->h, c->work[0], c->g_y);
    if (status != EVAL_OK) return hem_evaluation(status);
    return renew(c, s->t + table->c[i] * w->h, w->X, z, c->g_y);
}

/* Stage i, with new matrices if the old ones do not do. */
static hem_failure stage(const hem_state *s, hem_scratch *w, const method_context *ctx, int i,
                         double slope_of_z, double *z)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    /* The first stage measures how well the matrices do; the others rely on it. */
    progress p = {.rate = c->convergence > 0.0 ? c->convergence : 1.0};
    for (int j = 0; j < c->nw; j++)
        z[j] = s->w[j] + slope_of_z * table->zeta[i] * (s->w[j] - s->w_old[j]);
    hem_combine(c->nx, s->x, w->h, i, table->a_bar[i], w->K, w->X_bar);
    for (int k = 0;; k++) {
        hem_failure failure = stage_newton(s, w, ctx, i, z, &p);
        if (p.measured) c->convergence = fmax(c->convergence, p.rate);
        if (failure.status != ATTEMPT_CONVERGENCE || k == RENEWALS) return failure;
        failure = renew_in_stage(s, w, c, i, z);
        if (failure.status) return failure;
        p = (progress){.rate = 1.0};
    }
}

/* All stages: K, and the end of the step in w->x. */
hem_failure hem_hessenberg_stages(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    const int n = c->nx;
    double before = s->t - s->t_old, slope_of_z = before != 0.0 ? w->h / before : 0.0;
    if (table->partitioned) vector_copy(n, s->k, w->K[0]);
    c->convergence = 0.0;
    for (int i = table->partitioned ? 1 : 0; i < table->stages; i++) {
        if (table->partitioned || i == 0)
            hem_combine(n, s->x, w->h, i, table->a[i], w->K, w->X);
        else
            vector_copy(n, w->X_bar, w->X);
        hem_failure failure = stage(s, w, ctx, i, slope_of_z, w->w);
        if (failure.status) return failure;
        vector_axpy(n, w->h * table->a_bar[i][i], w->K[i], w->X_bar);
    }
    vector_copy(n, w->X_bar, w->x);
    return NO_FAILURE;
}

/* e := e - f_z (g_y f_z)^-1 g_y e by the factors at hand */
void hem_hessenberg_tangent(hem_cache *c, double *e)
{
    const form_matrix *g = &c->hessenberg->g_y_matrix;
    double *p = c->work[2], *r = c->work[3];
    const double *C = c->g_y_end;
    vector_zero(c->nx, p);
    vector_zero(c->ng, r);
    for (int j = 0; j < g->columns; j++) {
        if (!g->colptr) {
            vector_axpy(g->rows, e[j], C + (size_t)j * (size_t)g->rows, r);
            continue;
        }
        for (int k = g->colptr[j]; k < g->colptr[j + 1]; k++) r[g->rowind[k]] += C[k] * e[j];
    }
    saddle_solve(c->saddle, p, r);
    for (int i = 0; i < c->nx; i++) e[i] -= p[i];
}
