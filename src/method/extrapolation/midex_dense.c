/* Dense output of midex. Steps are long, so that their ends alone do not tell enough: once a value
 * within a step is asked for, it is done again up to a quarter, half, and three quarters.
 * Positions, velocities and accelerations at five points give a polynomial of degree 14 for q,
 * whose derivative is v; lambda follows from the accelerations at the very point. */
#include "method/extrapolation/midex_parts.h"

#include "base/vector.h"
#include "method/common/interpolation.h"

enum { PER_POINT = 3 };

/* Node of datum k with so many points: 0,0,0,1/4,1/4,1/4,..,1,1,1 */
static double node(int k, int points)
{
    return (double)(k / PER_POINT) / (points - 1);
}

/* Newton's coefficients of the polynomial with data[p] = (q, q', q''/2) at point p: divided
 * differences, those over coinciding nodes being data */
static void divided_differences(const double (*data)[PER_POINT], int points, double *coefficient)
{
    double value[MIDEX_DEGREE + 1];
    const int count = PER_POINT * points;
    for (int i = 0; i < count; i++) value[i] = data[i / PER_POINT][0];
    coefficient[0] = value[0];
    for (int order = 1; order < count; order++) {
        for (int i = 0; i + order < count; i++) {
            double width = node(i + order, points) - node(i, points);
            bool same = i / PER_POINT == (i + order) / PER_POINT;
            value[i] = same ? data[i / PER_POINT][order] : (value[i + 1] - value[i]) / width;
        }
        coefficient[order] = value[0];
    }
}

/* p(x), p'(x), p''(x) of Newton's form */
static void evaluate_newton(const double *coefficient, int points, double x, double p[3])
{
    p[0] = p[1] = p[2] = 0.0;
    for (int k = PER_POINT * points - 1; k >= 0; k--) {
        double factor = x - node(k, points);
        p[2] = p[2] * factor + 2.0 * p[1];
        p[1] = p[1] * factor + p[0];
        p[0] = p[0] * factor + coefficient[k];
    }
}

static int points_of(const midex_cache *c)
{
    return c->inner_known ? MIDEX_POINTS : 2;
}

static void make_coefficients(const midex_state *s, midex_cache *c)
{
    const int nq = c->system.form->nq, points = points_of(c);
    const double h = s->t - s->t_old;
    for (int i = 0; i < nq; i++) {
        double data[MIDEX_POINTS][PER_POINT];
        for (int p = 0; p < points; p++) {
            bool first = p == 0, last = p == points - 1;
            const double *x = first ? s->x_old : last ? s->x : c->inner_x[p - 1];
            const double *k = first ? s->k_old : last ? s->k : c->inner_k[p - 1];
            data[p][0] = x[i];
            data[p][1] = h * x[nq + i];
            data[p][2] = 0.5 * h * h * k[nq + i];
        }
        divided_differences((const double(*)[PER_POINT])data, points,
                            c->coefficient + (size_t)i * (MIDEX_DEGREE + 1));
    }
}

/* (q, v) at t_old + x h, or their derivatives */
static void dense_x(const midex_state *s, const midex_cache *c, double x, int derivative,
                    double *out)
{
    const int nq = c->system.form->nq, points = points_of(c);
    const double r = 1.0 / (s->t - s->t_old);
    for (int i = 0; i < nq; i++) {
        double p[3];
        evaluate_newton(c->coefficient + (size_t)i * (MIDEX_DEGREE + 1), points, x, p);
        out[i] = derivative ? r * p[1] : p[0];
        out[nq + i] = derivative ? r * r * p[2] : r * p[1];
    }
}

/* (x, k, lambda) at point p + 1 of five, from (t, x0) by a step h with as many rows as it needs: a
 * half has one less than the whole, a quarter two. */
static mechanism_failure inner_point(const method_context *ctx, int p, double t, double h,
                                     const double *x0, int rows)
{
    midex_cache *c = ctx->cache;
    mechanism_failure failure = midex_extrapolate(ctx, t, h, x0, rows > 1 ? rows : 1, true);
    if (failure.status) return failure;
    return midex_finish(c, c->inner_x[p], c->inner_k[p], c->inner_lambda[p]);
}

/* What dense output of the last step needs; made when first asked for. */
static void look_inside(const midex_state *s, const method_context *ctx)
{
    midex_cache *c = ctx->cache;
    if (c->inner_step == s->step) return;
    double h = s->t - s->t_old, half = 0.5 * h, middle = s->t_old + half;
    mechanism_failure failure = inner_point(ctx, 1, s->t_old, half, s->x_old, s->row - 1);
    if (!failure.status) failure = inner_point(ctx, 0, s->t_old, 0.5 * half, s->x_old, s->row - 2);
    if (!failure.status)
        failure = inner_point(ctx, 2, middle, 0.5 * half, c->inner_x[1], s->row - 2);
    c->inner_known = !failure.status;
    make_coefficients(s, c);
    c->inner_step = s->step;
}

/* lambda at (t, dense_x) from the accelerations there; false if that fails. */
static bool multipliers_at(midex_cache *c, double t)
{
    return !mechanism_slope_at(&c->system, t, c->dense_x, NULL, c->dense_k, c->dense_lambda).status;
}

/* lambda, or lambda', at t_old + x h by the values at the quarters; by the ends without them */
static void interpolate_multipliers(const midex_state *s, midex_cache *c, double x, int derivative)
{
    static const double quarters[MIDEX_POINTS] = {0.0, 0.25, 0.5, 0.75, 1.0};
    const double h = s->t - s->t_old;
    double weight[MIDEX_POINTS];
    for (int p = 0; p < MIDEX_POINTS; p++) {
        double slope, value = lagrange_term(MIDEX_POINTS, quarters, p, x, &slope);
        weight[p] = derivative ? slope : value;
    }
    for (int i = 0; i < c->system.form->nl; i++) {
        double first = s->lambda_old[i], last = s->lambda[i];
        double sum = derivative ? last - first : (1.0 - x) * first + x * last;
        if (c->inner_known) {
            sum = weight[0] * first + weight[MIDEX_POINTS - 1] * last;
            for (int p = 0; p < MIDEX_INNER; p++) sum += weight[p + 1] * c->inner_lambda[p][i];
        }
        c->dense_lambda[i] = derivative ? sum / h : sum;
    }
}

static void interpolate_inside(const midex_state *s, const method_context *ctx, double t,
                               int derivative, double *y)
{
    midex_cache *c = ctx->cache;
    double x = (t - s->t_old) / (s->t - s->t_old);
    look_inside(s, ctx);
    dense_x(s, c, x, derivative, c->dense_x);
    if (derivative || !multipliers_at(c, t)) interpolate_multipliers(s, c, x, derivative);
    mechanism_scatter(&c->system, c->dense_x, c->dense_lambda, y);
}

void midex_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                       double *y)
{
    const midex_state *s = state;
    const midex_cache *c = ctx->cache;
    const mechanism *m = &c->system;
    if (s->stepped && t != s->t) {
        interpolate_inside(s, ctx, t, derivative, y);
        return;
    }
    mechanism_scatter(m, derivative ? s->k : s->x, s->lambda, y);
    double h = s->t - s->t_old;
    for (int i = 0; derivative && i < m->form->nl; i++)
        y[mechanism_multiplier(m, i)] = s->stepped ? (s->lambda[i] - s->lambda_old[i]) / h : 0.0;
}
