/* Radau IIA collocation: the polynomial of a step between its ends. */
#include "base/vector.h"
#include "method/common/stages.h"
#include "method/implicit/radau_parts.h"

enum { MOST_STAGES = COLLOCATION_STAGES };

/* Row `weights` over the stages of the last step, whose end is where it was moved to:
 * out += a (sum weights_i Z_i + weights_s (y - y_old - Z_s)) */
static void add_stages(const radau_state *s, int n, double a, const double *weights, double *out)
{
    const int last = s->m->stages - 1;
    for (int i = 0; i < last + !s->moved; i++)
        vector_axpy(n, a * weights[i], s->Z + (size_t)i * (size_t)n, out);
    if (!s->moved) return;
    vector_axpy(n, a * weights[last], s->y, out);
    vector_axpy(n, -a * weights[last], s->y_old, out);
}

/* p(x) = prod (1 - x/c_i) and p'(x) */
static void node_product(const collocation *m, double x, double *value, double *slope)
{
    *value = 1.0;
    *slope = 0.0;
    for (int i = 0; i < m->stages; i++) {
        double factor = 1.0 - x / m->nodes[i];
        *slope = *slope * factor - *value / m->nodes[i];
        *value *= factor;
    }
}

/* Add (y_old' - q'(0)) h x (1 - x) p(x) and, where the end was moved, (y' - q'(1)) h x^2 p(x) /
 * p'(1): they vanish at all nodes, each has a slope at one end only. Slopes are continuous from
 * step to step, and the order stays. */
static void smooth_correction(const radau_state *s, int n, double x, int derivative, double *y)
{
    const collocation *m = s->m;
    const double h = s->t - s->t_old, a = x * (1.0 - x), b = x * x;
    const double *right = m->inverse + (m->stages - 1) * m->stages;
    double p, dp, end, dend;
    node_product(m, x, &p, &dp);
    node_product(m, 1.0, &end, &dend);
    double w0 = derivative ? (1.0 - 2.0 * x) * p + a * dp : h * a * p;
    double w1 = (derivative ? 2.0 * x * p + b * dp : h * b * p) / dend;
    vector_axpy(n, w0, s->yp_old, y);
    add_stages(s, n, -w0 / h, m->left, y);
    if (!s->moved) return;
    vector_axpy(n, w1, s->yp, y);
    add_stages(s, n, -w1 / h, right, y);
}

void radau_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                       double *y)
{
    const radau_state *s = state;
    const int n = ctx->n;
    if (!s->m || t == s->t) {
        vector_copy(n, derivative ? s->yp : s->y, y);
        return;
    }
    double h = s->t - s->t_old, x = (t - s->t_old) / h, weight[MOST_STAGES];
    collocation_weights(s->m, x, derivative, weight);
    if (derivative)
        vector_zero(n, y);
    else
        vector_copy(n, s->y_old, y);
    add_stages(s, n, derivative ? 1.0 / h : 1.0, weight, y);
    if (ctx->smooth) smooth_correction(s, n, x, derivative, y);
}

const collocation *radau_collocates(const void *state, const method_context *ctx)
{
    const radau_state *s = state;
    return s->moved || ctx->smooth ? NULL : s->m; /* slopes, or the end, are others then */
}

/* The weights at x in (0, 1), found once for every method and place. */
static const radau_place *weights_at(radau_scratch *w, double x)
{
    radau_place *place = &w->places[(int)(RADAU_PLACES * x) % RADAU_PLACES];
    if (place->m == w->step.m && place->x == x) return place;
    place->m = w->step.m;
    place->x = x;
    collocation_weights(w->step.m, x, 0, place->value);
    collocation_weights(w->step.m, x, 1, place->slope);
    return place;
}

/* y and y' of this attempt's polynomial at x, in w->step.point and w->slope */
static void look_inside(const radau_state *s, radau_scratch *w, int n, double x)
{
    const radau_place *place = weights_at(w, x);
    collocation_combine(1, w->step.m->stages, n, 1.0, place->value, w->step.Z, w->step.point);
    vector_axpy(n, 1.0, s->y, w->step.point);
    collocation_combine(1, w->step.m->stages, n, 1.0 / w->step.h, place->slope, w->step.Z,
                        w->slope);
}

double radau_error_between(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           double x)
{
    look_inside(s, w, ctx->n, x);
    return stages_dense_error(ctx, s->t + x * w->step.h, w->step.point, w->slope, w->scale,
                              w->defect);
}
