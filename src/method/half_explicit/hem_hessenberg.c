/* Stages on y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u): in stage i a nonlinear system
 * 0 = g(Ybar_i(Z_i)) [BH93 (2.2)], by simplified Newton with g_y f_z from the step's start.
 *
 * u is eliminated: f is read as f(t, y, z, u(t,y,z)), and f_z as its total derivative, which is
 * differenced where there is a u. With F = f_z and C = g_y the corrections solve
 *     [ I  F ] [ p  ]   [ 0 ]
 *     [ C  0 ] [ dz ] = [ r ],   that is  -C F dz = r  and  p = -F dz = -(change of f),
 * so that the change of Y is known together with that of Z. */
#include "method/half_explicit/hem_parts.h"

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
/* Newton for u may take a dozen iterations with old factors: 0.05^12 is rounding. */
static const double FAST = 0.05;
enum { NEWTON_ITERATIONS = 12, INNER_ITERATIONS = 20, RENEWALS = 3, PATIENCE = 40 };
/* A projection ends when what it leaves over is below this part of the weights. */
static const double PROJECTION_TOLERANCE = 0.1;

static const hem_failure NO_FAILURE = {.constraint = -1};

/* Factors of k_u at a point. */
static hem_failure factor_k_u(hem_cache *c, double t, const double *y, const double *z,
                              const double *u)
{
    const hessenberg_form *f = c->hessenberg;
    eval_status status = f->k_u(f->context, t, y, z, u, c->k_u_values);
    c->k_u_trusted = false;
    if (status != EVAL_OK) return mechanism_evaluation(status);
    switch (linear_factor(c->k_u, c->k_u_values)) {
    case LINEAR_OK: return NO_FAILURE;
    case LINEAR_MEMORY: return (hem_failure){ATTEMPT_MEMORY, NULL, -1, 0};
    default:
        return (hem_failure){ATTEMPT_SINGULAR, "k_u is singular: 0 = k(t,y,z,u) does not give u",
                             -1, 0};
    }
}

/* u := u - r; the largest r_i in error weights, 0 if none of them is more than rounding of u_i */
static double correct_u(const hem_cache *c, const double *r, double *u)
{
    double size = 0.0;
    bool rounding = true;
    for (int i = 0; i < c->hessenberg->nu; i++) {
        int place = c->u_place ? c->u_place[i] : c->nx + c->nz + i;
        u[i] -= r[i];
        if (!isfinite(r[i])) return INFINITY;
        rounding = rounding && fabs(r[i]) <= 4.0 * DBL_EPSILON * fabs(u[i]);
        size = fmax(size, fabs(r[i]) * c->norm->scale[place]);
    }
    return rounding ? 0.0 : size;
}

/* u with k(t,y,z,u) = 0 to rounding, by Newton's method; u is a guess on entry. The factors of k_u
 * at hand serve while they converge fast; with new ones what does not become smaller is rounding,
 * of terms in k that cancel. A small correction says something only if the factors come from a
 * solution: those from the way of an iteration, or of an attempt that went astray, may be 1e50
 * times too large (a diode with 5 V across it), and then nothing moves. Beyond the knee of an
 * exponential each correction takes no more than a factor e off the residual: the iteration may go
 * on while that falls by half. */
static hem_failure solve_u(hem_cache *c, double t, const double *y, const double *z, double *u)
{
    const hessenberg_form *f = c->hessenberg;
    double *r = c->work[4], before = INFINITY, left = INFINITY;
    bool fresh = false, here = c->k_u_here, falls = true;
    c->k_u_here = false;
    for (int k = 0; k < INNER_ITERATIONS || falls; k++) {
        eval_status status = f->k(f->context, t, y, z, u, r);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        const double rest = fabs(r[vector_argmax(f->nu, r, NULL)]);
        falls = rest <= 0.5 * left;
        left = rest;
        linear_solve(c->k_u, r);
        double size = correct_u(c, r, u);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        if (here) c->k_u_trusted = size <= NEWTON_TOLERANCE;
        bool stands = fresh && size > 0.5 * before && size <= NEWTON_TOLERANCE;
        bool small = size == 0.0 || stands;
        if (small && c->k_u_trusted) return NO_FAILURE;
        here = small || size > FAST * before;
        if (here) {
            hem_failure failure = factor_k_u(c, t, y, z, u);
            if (failure.status) return failure;
            fresh = true;
        }
        before = size;
    }
    return (hem_failure){ATTEMPT_CONVERGENCE, "0 = k(t,y,z,u) did not converge", -1, 0};
}

/* dy = f(t, y, z, u(t,y,z)); w = (z, u), u is updated */
static hem_failure evaluate_slope(hem_cache *c, double t, const double *y, double *w, double *dy)
{
    const hessenberg_form *f = c->hessenberg;
    if (f->nu > 0) {
        hem_failure failure = solve_u(c, t, y, w, w + f->nz);
        if (failure.status) return failure;
    }
    return mechanism_evaluation(f->f(f->context, t, y, w, w + f->nz, dy));
}

/* F = d f(t, y, z, u(t,y,z)) / dz by differences, on the pattern of f_z (full where u is) */
static hem_failure total_f_z(hem_cache *c, double t, const double *y, const double *w)
{
    const hessenberg_form *f = c->hessenberg;
    double *base = c->work[0], *moved = c->work[1], *z = c->work[5];
    vector_copy(c->nw, w, z);
    hem_failure failure = evaluate_slope(c, t, y, z, base);
    for (int j = 0; j < f->nz && !failure.status; j++) {
        double keep = z[j], least = f->z_size ? f->z_size[j] : 1.0;
        double step = sqrt(DBL_EPSILON) * fmax(least, fabs(keep));
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
    if (f->nu == 0) return mechanism_evaluation(f->f_z(f->context, t, y, w, w + f->nz, c->f_z));
    hem_failure failure = factor_k_u(c, t, y, w, w + f->nz);
    if (failure.status) return failure;
    c->k_u_here = true;
    return total_f_z(c, t, y, w);
}

/* Factors for (t, y, w), with C = g_y that the caller evaluated there. */
static hem_failure renew(hem_cache *c, double t, const double *y, const double *w, const double *C)
{
    hem_failure failure = renew_f_z(c, t, y, w);
    if (failure.status) return failure;
    return hem_linear(c, saddle_factor(c->saddle, NULL, c->f_z, C));
}

/* Factors for (t, y, w) where a failure has spoilt those at hand. */
static hem_failure restore(hem_cache *c, double t, const double *y, const double *w)
{
    const hessenberg_form *f = c->hessenberg;
    if (!c->spoilt) return NO_FAILURE;
    eval_status status = f->g_y(f->context, t, y, c->g_y);
    hem_failure failure =
        status == EVAL_OK ? renew(c, t, y, w, c->g_y) : mechanism_evaluation(status);
    c->spoilt = failure.status != ATTEMPT_OK;
    return failure;
}

/* r = g_t + g_y f for the matrix C = g_y; with Baumgarte's alpha g as well */
static hem_failure hidden_residual(hem_cache *c, double t, const double *y, const double *C,
                                   const double *slope, double *r)
{
    const hessenberg_form *f = c->hessenberg;
    const form_matrix *g = &f->g_y_matrix;
    eval_status status = f->g_t(f->context, t, y, r);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    form_matrix_multiply(g, C, 1.0, slope, r);
    if (c->alpha <= 0.0) return NO_FAILURE;
    status = f->g(f->context, t, y, c->work[1]);
    vector_axpy(g->rows, c->alpha, c->work[1], r);
    return mechanism_evaluation(status);
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
    double before;   /* last correction */
    double rate;     /* of convergence; at first what other stages saw */
    double rounding; /* corrections that may be due to that of g */
    bool measured;
} progress;

/* Corrections up to here may be rounding: of x, times what the constraints make of it */
static double rounding_of(const hem_cache *c, const double *x)
{
    return fmin(0.1, 1e4 * DBL_EPSILON * hem_norm(c, c->norm, x, 0, c->nx));
}

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
    if (stalled && size <= p->rounding) return DONE;
    if (k == 0) return GO_ON;
    bool slow = size * p->rate * p->rate * p->rate * p->rate > NEWTON_TOLERANCE;
    return k > 1 && slow && size > p->rounding ? FAILED : GO_ON;
}

/* p = |k| + |f_z| |z|: what the slope is made of, which tells its round-off where it cancels. z is
 * not taken for more than twice what it was when the step began: iterations that diverge would find
 * rounding wherever they go. */
static void slope_terms(const hem_cache *c, const double *k, const double *z, double *p)
{
    const form_matrix *F = &c->hessenberg->f_z_matrix;
    bool full = !F->colptr || c->hessenberg->nu > 0;
    for (int i = 0; i < c->nx; i++) p[i] = fabs(k[i]);
    for (int j = 0; j < c->nz; j++) {
        int first = full ? 0 : F->colptr[j], last = full ? c->nx : F->colptr[j + 1];
        const double *column = full ? c->f_z + (size_t)j * (size_t)c->nx : c->f_z;
        double size = fmin(fabs(z[j]), 2.0 * fabs(c->w_begin[j]));
        for (int i = first; i < last; i++) p[full ? i : F->rowind[i]] += fabs(column[i]) * size;
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
hem_failure hem_hessenberg_impasse(const hem_cache *c)
{
    return (hem_failure){ATTEMPT_CONVERGENCE,
                         "0 = g_t + g_y f cannot be solved for z: the solution may end here (an "
                         "impasse, g_y f_z becomes singular)",
                         vector_argmax(c->ng, c->work[3], NULL), 0};
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
    if (status != EVAL_OK) return mechanism_evaluation(status);
    hem_failure failure = end ? renew(c, t, x, w, C) : restore(c, t, x, w);
    progress p = {.rate = end ? c->convergence : 1.0, .rounding = rounding_of(c, x)};
    int most = end ? NEWTON_ITERATIONS : PATIENCE; /* old matrices have to do */
    for (int i = 0; i < most && !failure.status && !(i > 4 && p.rate > 0.9); i++) {
        failure = evaluate_slope(c, t, x, w, k);
        if (!failure.status) failure = hidden_residual(c, t, x, C, k, r);
        if (failure.status) break;
        double size = correct(c, ctx->norm, h, r, w, k);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        verdict v = judge(&p, size, i);
        if (end && v == DONE && !slope_settled(c, ctx->norm, h, x, k, w, &p)) v = GO_ON;
        if (v == DONE) return f->nu > 0 ? solve_u(c, t, x, w, w + f->nz) : NO_FAILURE;
        if (v != FAILED || i >= 6) continue;
        failure = renew(c, t, x, w, C);
        c->spoilt = !end; /* the next step begins elsewhere */
    }
    return failure.status ? failure : hem_hessenberg_impasse(c);
}

hem_failure hem_hessenberg_project(hem_cache *c, const method_context *ctx, double t, double *x,
                                   const double *w)
{
    enum { ITERATIONS = 6, RENEW_AT = 2 };
    const hessenberg_form *f = c->hessenberg;
    double *p = c->work[2], *r = c->work[3], before = DBL_MAX;
    for (int k = 0; k < ITERATIONS && f->nz > 0; k++) {
        eval_status status = f->g(f->context, t, x, r);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        for (int i = 0; i < f->nz; i++) r[i] = -r[i];
        vector_zero(c->nx, p);
        saddle_solve(c->saddle, p, r);
        double size = hem_norm(c, ctx->norm, p, 0, c->nx);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        if (size > before) break; /* round-off, or hopeless: see below */
        vector_axpy(c->nx, 1.0, p, x);
        if (size * (k > 0 ? size / before : 1.0) <= PROJECTION_TOLERANCE) return NO_FAILURE;
        before = size;
        if (k != RENEW_AT) continue;
        hem_failure failure = mechanism_evaluation(f->g_y(f->context, t, x, c->g_y_end));
        if (!failure.status) failure = renew(c, t, x, w, c->g_y_end);
        if (failure.status) return failure;
    }
    return f->nz == 0 || before <= 1.0
               ? NO_FAILURE
               : (hem_failure){ATTEMPT_CONVERGENCE, "The constraints could not be met", -1, 0};
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
        if (status != EVAL_OK) return mechanism_evaluation(status);
        for (int j = 0; j < c->ng; j++) r[j] /= hd;
        double size = correct(c, ctx->norm, hd, r, z, w->K[i]);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        verdict v = judge(p, size, k);
        if (v == DONE) return NO_FAILURE;
        if (v == FAILED) break;
    }
    return (hem_failure){ATTEMPT_CONVERGENCE, "A stage's constraints could not be met", -1, 0};
}

/* The exact matrix of the stage's Newton iteration: f_z at (Y_i, Z_i), g_y at Ybar_i */
static hem_failure renew_in_stage(const hem_state *s, hem_scratch *w, hem_cache *c, int i,
                                  const double *z)
{
    const hessenberg_form *f = c->hessenberg;
    const hem_table *table = s->table;
    eval_status status = f->g_y(f->context, s->t + table->c_bar[i] * w->h, c->work[0], c->g_y);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    return renew(c, s->t + table->c[i] * w->h, w->X, z, c->g_y);
}

/* With new matrices if the old ones do not do. */
hem_failure hem_hessenberg_stage(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                 int i)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    double before = s->t - s->t_old, slope_of_z = before != 0.0 ? w->h / before : 0.0, *z = w->w;
    /* The first stage measures how well the matrices do; the others rely on it. */
    progress p = {.rate = c->convergence > 0.0 ? c->convergence : 1.0,
                  .rounding = rounding_of(c, s->x)};
    for (int j = 0; j < c->nw; j++)
        z[j] = s->w[j] + slope_of_z * table->zeta[i] * (s->w[j] - s->w_old[j]);
    hem_combine(c->nx, s->x, w->h, i, table->a_bar[i], w->K, w->X_bar);
    hem_failure failure = stage_newton(s, w, ctx, i, z, &p);
    for (int k = 0;; k++) {
        if (p.measured) c->convergence = fmax(c->convergence, p.rate);
        if (failure.status != ATTEMPT_CONVERGENCE || k == RENEWALS) break;
        failure = renew_in_stage(s, w, c, i, z);
        if (failure.status) break;
        p = (progress){.rate = 1.0, .rounding = p.rounding};
        failure = stage_newton(s, w, ctx, i, z, &p);
    }
    if (!failure.status) vector_axpy(c->nx, w->h * table->a_bar[i][i], w->K[i], w->X_bar);
    return failure;
}

hem_failure hem_hessenberg_begin(const hem_state *s, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    hem_failure failure = restore(c, s->t, s->x, s->w);
    if (!failure.status) c->convergence = 0.0;
    return failure;
}

/* e := e - f_z (g_y f_z)^-1 g_y e by the factors at hand */
void hem_hessenberg_tangent(hem_cache *c, double *e)
{
    double *p = c->work[2], *r = c->work[3];
    vector_zero(c->nx, p);
    vector_zero(c->ng, r);
    form_matrix_multiply(&c->hessenberg->g_y_matrix, c->g_y_end, 1.0, e, r);
    saddle_solve(c->saddle, p, r);
    for (int i = 0; i < c->nx; i++) e[i] -= p[i];
}
