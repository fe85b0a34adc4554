/* Dense output of second order collocation.
 *
 * Positions and velocities of a projected mechanism: a polynomial of degree 9 through x, x', x'' at
 * both ends, which are more accurate than the stages, and x'' at four points inside from the
 * acceleration level, where x and x' are those of a polynomial of degree 7 made in the same way
 * from Hermite's quintic; multipliers from the acceleration level. All else, and mechanisms with
 * stiff forces: the collocation polynomials. */
#include "method/implicit/colloc2nd_parts.h"

#include "base/vector.h"
#include "method/common/interpolation.h"

/* Where polynomials are compared, over h. */
enum { SAMPLES = COLLOC2ND_SAMPLES };
static const double SAMPLE_PLACES[SAMPLES] = {0.3, 0.7};

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
 * and the bumps x^j (1-x)^3, j = 3 .. 6, which vanish three times at both ends */
enum { QUINTIC = 6, BUMPS = COLLOC2ND_INNER, TERMS = QUINTIC + BUMPS, COEFFICIENTS = 10 };
static const double terms[TERMS][COEFFICIENTS] = {
    {1, 0, 0, -10, 15, -6},          {0, 1, 0, -6, 8, -3},       {0, 0, 0.5, -1.5, 1.5, -0.5},
    {0, 0, 0, 10, -15, 6},           {0, 0, 0, -4, 7, -3},       {0, 0, 0, 0.5, -1, 0.5},
    {0, 0, 0, 1, -3, 3, -1},         {0, 0, 0, 0, 1, -3, 3, -1}, {0, 0, 0, 0, 0, 1, -3, 3, -1},
    {0, 0, 0, 0, 0, 0, 1, -3, 3, -1}};

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
    for (int j = 0; bumps && j < BUMPS; j++)
        value += weight[QUINTIC + j] * bumps[j * p->form->nq + i];
    return value;
}

/* q and v at t_old + x h, or their derivatives */
static void motion(const colloc2nd_state *st, const projection *p, double x, int derivative,
                   const double *bumps, double *y)
{
    const double h = st->t - st->t_old;
    for (int d = derivative; d <= derivative + 1; d++) {
        double weight[TERMS], scale = d == 0 ? 1.0 : d == 1 ? 1.0 / h : 1.0 / (h * h);
        for (int k = 0; k < TERMS; k++) weight[k] = polynomial(COEFFICIENTS, terms[k], x, d);
        for (int i = 0; i < p->form->nq; i++)
            y[d == derivative ? projection_q(p, i) : projection_v(p, i)] =
                scale * position(st, p, i, weight, bumps);
    }
}

/* Dynamic force elements of the full form, behind q and v in y */
int colloc2nd_elements(const colloc2nd_cache *c)
{
    return c->ends.mechanism.multibody ? c->ends.mechanism.multibody->nr : 0;
}

/* Point k of `count` inside the step, over h */
static double inner_place(int k, int count)
{
    return (k + 1.0) / (count + 1.0);
}

/* Weights of r' at both ends and the points inside in its integral from 0 to x, by Gauss' formula
 * of degree 5, or in its value */
static void slope_weights(double x, int derivative, double weight[BUMPS + 2])
{
    static const double node[3] = {-0.7745966692414834, 0.0, 0.7745966692414834};
    static const double share[3] = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
    double place[BUMPS + 2], at[BUMPS + 2];
    for (int k = 0; k < BUMPS + 2; k++) place[k] = inner_place(k - 1, BUMPS);
    if (derivative) {
        interpolation_row(BUMPS + 2, place, x, 0, weight);
        return;
    }
    for (int k = 0; k < BUMPS + 2; k++) weight[k] = 0.0;
    for (int g = 0; g < 3; g++) {
        interpolation_row(BUMPS + 2, place, 0.5 * x * (1.0 + node[g]), 0, at);
        for (int k = 0; k < BUMPS + 2; k++) weight[k] += x * share[g] * at[k];
    }
}

static double sum_slopes(const colloc2nd_state *st, const colloc2nd_cache *c, int i,
                         const double weight[BUMPS + 2])
{
    const int first = 2 * c->ends.form->nq, nr = colloc2nd_elements(c);
    double sum = weight[0] * st->yp_old[i] + weight[BUMPS + 1] * st->yp[i];
    for (int k = 0; k < BUMPS; k++) sum += weight[k + 1] * c->inner_slopes[k * nr + i - first];
    return sum;
}

/* r or r' at t_old + x h: the integral of r', and what it lacks at the end, spread so that slopes
 * at both ends stay */
static void force_elements(const colloc2nd_state *st, const colloc2nd_cache *c, double x,
                           int derivative, double *y)
{
    const int first = 2 * c->ends.form->nq, nr = colloc2nd_elements(c);
    const double h = st->t - st->t_old;
    const double spread = derivative ? 6.0 * x * (1.0 - x) / h : x * x * (3.0 - 2.0 * x);
    double weight[BUMPS + 2], whole[BUMPS + 2];
    slope_weights(x, derivative, weight);
    slope_weights(1.0, 0, whole);
    for (int i = first; i < first + nr; i++) {
        double missing = st->y[i] - st->y_old[i] - h * sum_slopes(st, c, i, whole);
        double value = sum_slopes(st, c, i, weight);
        y[i] = (derivative ? value : st->y_old[i] + h * value) + spread * missing;
    }
}

/* Accelerations and multipliers at t_old + x h for q and v there, into work; false: failed */
static bool inner_point(const colloc2nd_state *st, const method_context *ctx, double x,
                        const double *bumps)
{
    colloc2nd_cache *c = ctx->cache;
    double *y = c->inner_work, t = st->t_old + x * (st->t - st->t_old);
    collocated(st, ctx, x, 0, y);
    motion(st, &c->ends, x, 0, bumps, y);
    if (c->inner_step == st->step) force_elements(st, c, x, 0, y);
    return projection_apply(&c->ends, ctx->norm, t, y, y + ctx->n, DAE_PROJECTION_NONE).status ==
           ATTEMPT_OK;
}

/* bumps = A^-1 rest for all nq positions at once; A is used up. Pivots in their order are far from
 * 0 for the points of inner_place. */
static void solve_bumps(int count, int nq, double *A, double *rest, double *bumps)
{
    for (int c = 0; c < count; c++)
        for (int r = c + 1; r < count; r++) {
            double factor = A[r * count + c] / A[c * count + c];
            for (int j = c; j < count; j++) A[r * count + j] -= factor * A[c * count + j];
            vector_axpy(nq, -factor, rest + c * nq, rest + r * nq);
        }
    for (int c = count - 1; c >= 0; c--) {
        for (int j = c + 1; j < count; j++)
            vector_axpy(nq, -A[c * count + j], bumps + j * nq, rest + c * nq);
        for (int i = 0; i < nq; i++) bumps[c * nq + i] = rest[c * nq + i] / A[c * count + c];
    }
}

/* The multipliers, and all that follows from the motion, and r', at point k of BUMPS; on a straight
 * line where they were not found */
static void keep_followers(const colloc2nd_state *st, const method_context *ctx, int k, bool found)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const double x = inner_place(k, BUMPS), *yp = c->inner_work + ctx->n;
    const int count = projection_followers(p), first = 2 * p->form->nq, nr = colloc2nd_elements(c);
    for (int i = first; i < first + nr; i++) {
        double line = (1.0 - x) * st->yp_old[i] + x * st->yp[i];
        c->inner_slopes[k * nr + i - first] = found ? yp[i] : line;
    }
    for (int i = 0; i < count; i++) {
        int l = projection_follower(p, i);
        double line = (1.0 - x) * st->y_old[l] + x * st->y[l];
        c->inner[k * count + i] = found ? c->inner_work[l] : line;
    }
}

/* The first `count` bumps such that the second derivatives at as many points are the accelerations
 * there, for q and v on the bumps `known`, NULL: on the quintic. False: not found. */
static bool find_bumps(const colloc2nd_state *st, const method_context *ctx, int count,
                       const double *known)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int nq = p->form->nq;
    const double h = st->t - st->t_old, *yp = c->inner_work + ctx->n;
    double *rest = c->inner_rest, *bumps = c->inner_bumps, A[BUMPS * BUMPS];
    bool found = true;
    for (int k = 0; k < count; k++) {
        double x = inner_place(k, count), weight[TERMS];
        bool here = inner_point(st, ctx, x, known);
        if (count == BUMPS) keep_followers(st, ctx, k, here);
        found = found && here;
        for (int j = 0; j < TERMS; j++) weight[j] = polynomial(COEFFICIENTS, terms[j], x, 2);
        for (int j = 0; j < count; j++) A[k * count + j] = weight[QUINTIC + j];
        for (int i = 0; here && i < nq; i++)
            rest[k * nq + i] = h * h * yp[projection_v(p, i)] - position(st, p, i, weight, NULL);
    }
    if (found) solve_bumps(count, nq, A, rest, bumps);
    return found;
}

/* How far the polynomial with these bumps is from the one before, in tolerances of q and v; the
 * samples are then its own. */
static double distance(const colloc2nd_state *st, const method_context *ctx, const double *bumps)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    double *y = c->inner_work, most = 0.0;
    for (int k = 0; k < SAMPLES; k++) {
        double *before = c->inner_samples[k];
        motion(st, p, SAMPLE_PLACES[k], 0, bumps, y);
        for (int i = 0; i < 2 * p->form->nq; i++) {
            int j = i < p->form->nq ? projection_q(p, i) : projection_v(p, i - p->form->nq);
            most = fmax(most, fabs(y[j] - before[j]) * ctx->norm->scale[j]);
            before[j] = y[j];
        }
    }
    return most;
}

/* How far multipliers on the polynomial with these bumps are from those on the one before, at the
 * points inside, in tolerances; INFINITY: not found. */
static double multiplier_distance(const colloc2nd_state *st, const method_context *ctx)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int count = projection_followers(p);
    double most = 0.0;
    for (int k = 0; k < BUMPS; k++) {
        if (!inner_point(st, ctx, inner_place(k, BUMPS), c->inner_bumps)) return INFINITY;
        for (int i = 0; i < count; i++) {
            int l = projection_follower(p, i);
            double off = fabs(c->inner_work[l] - c->inner[k * count + i]) * ctx->norm->scale[l];
            most = fmax(most, off);
        }
    }
    return most;
}

/* Polynomials of higher degree come from accelerations on those before: an iteration that, where
 * forces are stiff, makes of every error h^2 times their stiffness. Where its second step is not
 * much smaller than its first, and not small, none of it is of any use; small in multipliers, too,
 * which stiff forces make of tiny errors of positions. */
static const double CONTRACTS = 0.3, NEGLIGIBLE = 10.0;

/* What belongs to the inside of the last step, made when first asked for; positions are on the
 * polynomial of lower degree where the accelerations cannot be found. */
static void prepare_inside(const colloc2nd_state *st, const method_context *ctx)
{
    colloc2nd_cache *c = ctx->cache;
    if (c->inner_step == st->step) return;
    vector_zero(BUMPS * c->ends.form->nq, c->inner_bumps);
    distance(st, ctx, NULL);
    bool found = find_bumps(st, ctx, 2, NULL);
    double first = distance(st, ctx, c->inner_bumps);
    found = find_bumps(st, ctx, BUMPS, c->inner_bumps) && found;
    double second = distance(st, ctx, c->inner_bumps);
    bool contracts = second <= CONTRACTS * first;
    c->smooth = found &&
                (contracts || (second <= NEGLIGIBLE && multiplier_distance(st, ctx) <= NEGLIGIBLE));
    c->inner_step = st->step;
}

/* y += what the collocation polynomials lack at the end of the step, spread so that slopes at both
 * ends stay; or its derivative */
static void meet_end(const colloc2nd_state *st, const method_context *ctx, double x, int derivative,
                     double *y)
{
    const colloc2nd_cache *c = ctx->cache;
    double *end = c->inner_work, h = st->t - st->t_old;
    double spread = derivative ? 6.0 * x * (1.0 - x) / h : x * x * (3.0 - 2.0 * x);
    collocated(st, ctx, 1.0, 0, end);
    for (int j = 0; j < ctx->n; j++) y[j] += spread * (st->y[j] - end[j]);
}

/* Multipliers that belong to q and v at t_old + x h; their derivatives, and where they cannot be
 * found, from the polynomial through those at both ends and at the points inside */
static void multipliers(const colloc2nd_state *st, const method_context *ctx, double x,
                        int derivative, double *y)
{
    const colloc2nd_cache *c = ctx->cache;
    const projection *p = &c->ends;
    const int count = projection_followers(p);
    bool exact = !derivative && inner_point(st, ctx, x, c->inner_bumps);
    double weight[BUMPS + 2], place[BUMPS + 2];
    double scale = derivative ? 1.0 / (st->t - st->t_old) : 1.0;
    for (int k = 0; k < BUMPS + 2; k++) place[k] = inner_place(k - 1, BUMPS);
    interpolation_row(BUMPS + 2, place, x, derivative, weight);
    for (int i = 0; i < count; i++) {
        int l = projection_follower(p, i);
        double sum = weight[0] * st->y_old[l] + weight[BUMPS + 1] * st->y[l];
        for (int k = 0; k < BUMPS; k++) sum += weight[k + 1] * c->inner[k * count + i];
        y[l] = exact ? c->inner_work[l] : scale * sum;
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
    if (!c->smooth) {
        meet_end(s, ctx, x, derivative, y);
        return;
    }
    motion(s, &c->ends, x, derivative, c->inner_bumps, y);
    force_elements(s, c, x, derivative, y);
    multipliers(s, ctx, x, derivative, y);
}
