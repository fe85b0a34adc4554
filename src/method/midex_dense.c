/* Dense output of midex. Steps are long, so that their ends alone do not tell enough: once a value
 * within a step is asked for, half of it is done again. Positions, velocities and accelerations at
 * both ends and in the middle give a polynomial of degree 8 for q, whose derivative is v; lambda is
 * interpolated at the quarters, where it follows from the accelerations. */
#include "method/midex_parts.h"

#include "base/vector.h"

enum { MOST_POINTS = 3, PER_POINT = 3 };

/* Node of datum k with so many points: 0,0,0,(1/2,1/2,1/2,)1,1,1 */
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
    return c->middle_known ? 3 : 2;
}

static void make_coefficients(const midex_state *s, midex_cache *c)
{
    const int nq = c->system.form->nq, points = points_of(c);
    const double h = s->t - s->t_old;
    const double *x[MOST_POINTS] = {s->x_old, c->middle_known ? c->inner_x : s->x, s->x};
    const double *k[MOST_POINTS] = {s->k_old, c->middle_known ? c->inner_k : s->k, s->k};
    for (int i = 0; i < nq; i++) {
        double data[MOST_POINTS][PER_POINT];
        for (int p = 0; p < points; p++) {
            data[p][0] = x[p][i];
            data[p][1] = h * x[p][nq + i];
            data[p][2] = 0.5 * h * h * k[p][nq + i];
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

/* lambda at t_old + x h from the accelerations there; on the straight line where that fails. */
static void inner_multipliers(const midex_state *s, midex_cache *c, double x, double *lambda)
{
    mechanism *m = &c->system;
    dense_x(s, c, x, 0, c->inner_x);
    mechanism_failure failure =
        mechanism_evaluate(m, s->t_old + x * (s->t - s->t_old), c->inner_x, NULL, m->curvature);
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    if (!failure.status) failure = mechanism_slope(m, c->inner_x, c->inner_k, lambda);
    for (int i = 0; failure.status && i < m->form->nl; i++)
        lambda[i] = (1.0 - x) * s->lambda_old[i] + x * s->lambda[i];
}

/* What dense output of the last step needs; made when first asked for. */
static void look_inside(const midex_state *s, const method_context *ctx)
{
    midex_cache *c = ctx->cache;
    if (c->inner_step == s->step) return;
    const size_t nl = (size_t)c->system.form->nl;
    double half = 0.5 * (s->t - s->t_old), *middle = c->inner_lambda + nl;
    mechanism_failure failure = midex_extrapolate(ctx, s->t_old, half, s->x_old, s->row, true);
    if (!failure.status) failure = midex_finish(c, c->inner_x, c->inner_k, middle);
    c->middle_known = !failure.status;
    make_coefficients(s, c);
    for (int p = 1; p <= 3; p++)
        if (p != 2 || !c->middle_known)
            inner_multipliers(s, c, 0.25 * p, c->inner_lambda + (size_t)(p - 1) * nl);
    c->inner_step = s->step;
}

/* Weights of values at 0, 1/4, .., 1 in their polynomial at x, or in its derivative */
static void quarter_weights(double x, int derivative, double weight[5])
{
    for (int i = 0; i < 5; i++) {
        double value = 1.0, rate = 0.0;
        for (int j = 0; j < 5; j++) {
            if (j == i) continue;
            double width = 0.25 * (i - j);
            rate = (rate * (x - 0.25 * j) + value) / width;
            value *= (x - 0.25 * j) / width;
        }
        weight[i] = derivative ? rate : value;
    }
}

static void interpolate_inside(const midex_state *s, const method_context *ctx, double t,
                               int derivative, double *y)
{
    midex_cache *c = ctx->cache;
    const mechanism *m = &c->system;
    const int nl = m->form->nl;
    double h = s->t - s->t_old, x = (t - s->t_old) / h, weight[5];
    look_inside(s, ctx);
    dense_x(s, c, x, derivative, c->inner_x);
    quarter_weights(x, derivative, weight);
    for (int i = 0; i < 2 * m->form->nq; i++) y[mechanism_place(m, i)] = c->inner_x[i];
    for (int i = 0; i < nl; i++) {
        double sum = weight[0] * s->lambda_old[i] + weight[4] * s->lambda[i];
        for (int p = 0; p < 3; p++)
            sum += weight[p + 1] * c->inner_lambda[(size_t)p * (size_t)nl + (size_t)i];
        y[mechanism_multiplier(m, i)] = derivative ? sum / h : sum;
    }
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
