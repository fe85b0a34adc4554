/* Dense output of second order collocation.
 *
 * Positions and velocities of a projected mechanism: a polynomial of degree 7 through x, x', x'' at
 * both ends, which are more accurate than the stages, and x'' at two points inside from the
 * acceleration level for Hermite's quintic there; multipliers from the acceleration level. All
 * else: the collocation polynomials. */
#include "method/colloc2nd_parts.h"

#include "base/vector.h"

/* ---- collocation polynomials ---- */

/* The polynomial in x that is 1 at 1 and 0 at 0 and all nodes, or its derivative; 0 where 1 is a
 * node */
static double end_correction(const collocation *m, double x, int derivative)
{
    double value = x, slope = 1.0, at_1 = 1.0;
    if (m->nodes[m->stages - 1] == 1.0) return 0.0;
    for (int i = 0; i < m->stages; i++) {
        slope = slope * (x - m->nodes[i]) + value;
        value *= x - m->nodes[i];
        at_1 *= 1.0 - m->nodes[i];
    }
    return (derivative ? slope : value) / at_1;
}

static double dot(int s, int n, const double *weight, const double *Z)
{
    double sum = 0.0;
    for (int j = 0; j < s; j++) sum += weight[j] * Z[(size_t)j * (size_t)n];
    return sum;
}

/* y or y' at t_old + x h on the polynomials */
static void collocated(const colloc2nd_state *st, const method_context *ctx, double x,
                       int derivative, double *y)
{
    const colloc2nd_cache *c = ctx->cache;
    const second_order *second = ctx->second;
    const collocation *m = c->kind->m;
    const int s = m->stages, n = second->n;
    const double h = st->t - st->t_old, r = derivative ? 1.0 / h : 1.0;
    double weight[COLLOCATION_STAGES], of_slope[COLLOCATION_STAGES];
    collocation_weights(m, x, derivative, weight);
    for (int j = 0; j < s; j++) {
        of_slope[j] = 0.0;
        for (int i = 0; i < s; i++) of_slope[j] += weight[i] * m->inverse[i * s + j];
    }
    double last = end_correction(m, x, derivative);
    for (int k = 0; k < n; k++) {
        const double *Z = st->Z + k, drift = derivative ? 1.0 : x * h;
        const int place = second->place[k], v = second->velocity[k];
        double slope = v >= 0 ? st->y_old[v] : st->yp_old[place];
        double value = r * dot(s, n, weight, Z) + (c->drifts[k] ? drift * slope : 0.0);
        if (c->loose[k] && last != 0.0) {
            double missing = st->y[place] - st->y_old[place] - dot(s, n, c->end, Z);
            value += r * last * missing;
        }
        y[place] = value + (derivative ? 0.0 : st->y_old[place]);
        if (v >= 0) y[v] = r / h * dot(s, n, of_slope, Z) + (derivative ? 0.0 : st->y_old[v]);
    }
}

/* ---- projected mechanisms ---- */

/* sum of i (i-1) .. (i-d+1) p_i x^(i-d), i < count: the derivative of order d <= 2 */
static double polynomial(int count, const double *p, double x, int d)
{
    double sum = 0.0;
    for (int i = count - 1; i >= d; i--)
        sum = sum * x + (d == 0 ? 1.0 : d == 1 ? i : i * (i - 1)) * p[i];
    return sum;
}

/* Weights of x0, h x0', h^2 x0'', x1, h x1', h^2 x1'' in Hermite's quintic, or in its derivatives,
 * and the bumps x^3 (1-x)^3 and x^4 (1-x)^3, which vanish three times at both ends */
enum { QUINTIC = 6, BUMPS = 2, TERMS = QUINTIC + BUMPS };
static const double terms[TERMS][8] = {{1, 0, 0, -10, 15, -6},       {0, 1, 0, -6, 8, -3},
                                       {0, 0, 0.5, -1.5, 1.5, -0.5}, {0, 0, 0, 10, -15, 6},
                                       {0, 0, 0, -4, 7, -3},         {0, 0, 0, 0.5, -1, 0.5},
                                       {0, 0, 0, 1, -3, 3, -1},      {0, 0, 0, 0, 1, -3, 3, -1}};

/* The derivative of order d of q_i on the quintic, in units of h^-d, and on the bumps if these are
 * given */
static double position(const colloc2nd_state *st, const projection *p, int i,
                       const double weight[TERMS], const double *bumps)
{
    const int q = projection_q(p, i), v = projection_v(p, i);
    const double h = st->t - st->t_old;
    double value = weight[0] * st->y_old[q] + weight[3] * st->y[q] +
                   h * (weight[1] * st->y_old[v] + weight[4] * st->y[v]) +
                   h * h * (weight[2] * st->yp_old[v] + weight[5] * st->yp[v]);
    return bumps ? value + weight[6] * bumps[i] + weight[7] * bumps[p->form->nq + i] : value;
}

/* q and v at t_old + x h, or their derivatives */
static void motion(const colloc2nd_state *st, const projection *p, double x, int derivative,
                   const double *bumps, double *y)
{
    const double h = st->t - st->t_old;
    for (int d = derivative; d <= derivative + 1; d++) {
        double weight[TERMS], scale = d == 0 ? 1.0 : d == 1 ? 1.0 / h : 1.0 / (h * h);
        for (int k = 0; k < TERMS; k++) weight[k] = polynomial(8, terms[k], x, d);
        for (int i = 0; i < p->form->nq; i++)
            y[d == derivative ? projection_q(p, i) : projection_v(p, i)] =
                scale * position(st, p, i, weight, bumps);
    }
}

/* The parts of c->inner: multipliers at 1/3 and 2/3, bumps, and y, y' as work space */
static double *inner_bumps(const colloc2nd_cache *c)
{
    return c->inner + 2 * c->ends.form->nl;
}

static double *inner_work(const colloc2nd_cache *c)
{
    return inner_bumps(c) + 2 * c->ends.form->nq;
}

/* Accelerations and multipliers at t_old + x h for q and v there, into work; false: failed */
static bool inner_point(const colloc2nd_state *st, const method_context *ctx, double x,
                        const double *bumps)
{
    colloc2nd_cache *c = ctx->cache;
    double *y = inner_work(c), t = st->t_old + x * (st->t - st->t_old);
    collocated(st, ctx, x, 0, y);
    motion(st, &c->ends, x, 0, bumps, y);
    return projection_apply(&c->ends, ctx->norm, t, y, y + ctx->n, DAE_PROJECTION_NONE).status ==
           ATTEMPT_OK;
}

/* The bumps a, b for which the second derivatives at 1/3 and 2/3 are the accelerations there: with
 * what the quintic lacks, r1 and r2,
 *   -4/27 a + 4/81 b = r1,  -4/27 a - 16/81 b = r2 */
static void find_bumps(const colloc2nd_state *st, const method_context *ctx)
{
    colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int nq = p->form->nq;
    const double h = st->t - st->t_old, *yp = inner_work(c) + ctx->n;
    double *bumps = inner_bumps(c);
    vector_zero(2 * nq, bumps);
    for (int k = 0; k < 2; k++) {
        double x = (k + 1) / 3.0, weight[TERMS];
        if (!inner_point(st, ctx, x, NULL)) {
            vector_zero(2 * nq, bumps);
            return;
        }
        for (int j = 0; j < TERMS; j++) weight[j] = polynomial(8, terms[j], x, 2);
        for (int i = 0; i < nq; i++)
            bumps[k * nq + i] = h * h * yp[projection_v(p, i)] - position(st, p, i, weight, NULL);
    }
    for (int i = 0; i < nq; i++) {
        double r1 = bumps[i], r2 = bumps[nq + i];
        bumps[nq + i] = 81.0 / 20.0 * (r1 - r2);
        bumps[i] = bumps[nq + i] / 3.0 - 27.0 / 4.0 * r1;
    }
}

/* What belongs to the inside of the last step, made when first asked for; multipliers are on a
 * straight line where that fails. */
static void prepare_inside(const colloc2nd_state *st, const method_context *ctx)
{
    colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int nl = p->form->nl;
    if (c->inner_step == st->step) return;
    find_bumps(st, ctx);
    for (int k = 0; k < 2; k++) {
        double x = (k + 1) / 3.0;
        bool found = inner_point(st, ctx, x, inner_bumps(c));
        for (int i = 0; i < nl; i++) {
            int l = projection_lambda(p, i);
            double line = (1.0 - x) * st->y_old[l] + x * st->y[l];
            c->inner[k * nl + i] = found ? inner_work(c)[l] : line;
        }
    }
    c->inner_step = st->step;
}

/* The cubic through values at 0, 1/3, 2/3, 1, or its derivative */
static void cubic_weights(double x, int derivative, double weight[4])
{
    static const double p[4][4] = {
        {1, -5.5, 9, -4.5}, {0, 9, -22.5, 13.5}, {0, -4.5, 18, -13.5}, {0, 1, -4.5, 4.5}};
    for (int k = 0; k < 4; k++)
        weight[k] = derivative ? p[k][1] + x * (2.0 * p[k][2] + x * 3.0 * p[k][3])
                               : p[k][0] + x * (p[k][1] + x * (p[k][2] + x * p[k][3]));
}

/* Multipliers that belong to q and v at t_old + x h; their derivatives, and where they cannot be
 * found, from the cubic */
static void multipliers(const colloc2nd_state *st, const method_context *ctx, double x,
                        int derivative, double *y)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int nl = p->form->nl;
    bool exact = !derivative && inner_point(st, ctx, x, inner_bumps(c));
    double weight[4], scale = derivative ? 1.0 / (st->t - st->t_old) : 1.0;
    cubic_weights(x, derivative, weight);
    for (int i = 0; i < nl; i++) {
        int l = projection_lambda(p, i);
        double cubic = scale * (weight[0] * st->y_old[l] + weight[1] * c->inner[i] +
                                weight[2] * c->inner[nl + i] + weight[3] * st->y[l]);
        y[l] = exact ? inner_work(c)[l] : cubic;
    }
}

void colloc2nd_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                           double *y)
{
    const colloc2nd_state *s = state;
    const colloc2nd_cache *c = ctx->cache;
    if (s->taken == 0 || t == s->t) {
        vector_copy(ctx->n, derivative ? s->yp : s->y, y);
        return;
    }
    double x = (t - s->t_old) / (s->t - s->t_old);
    collocated(s, ctx, x, derivative, y);
    if (!c->ends.form) return;
    prepare_inside(s, ctx);
    motion(s, &c->ends, x, derivative, inner_bumps(c), y);
    multipliers(s, ctx, x, derivative, y);
}
