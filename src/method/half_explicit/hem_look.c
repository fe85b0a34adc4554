/* What f does inside of a step and no longer at its end, nor at the nodes of the table, is in no
 * estimate: f at places in between against the slope of a polynomial through the step.
 *
 * Hermite's cubic would do for methods of order 3. To one of order 8 every smooth step is rough
 * that way: its error is of order 4. There the polynomial passes the slopes of those stages that
 * are of order 4 at least [HNW93 (II.5.20)]: with four of them, and both ends, its slope is right
 * up to h^6, and so is what is seen of f. */
#include "method/half_explicit/hem_parts.h"

#include "method/common/interpolation.h"

#include <math.h>

enum { LEAST_ORDER = 4, LEAST_GOOD = 3 };
static const double places[HEM_PLACES] = {0.21, 0.55, 0.72};
/* Nodes that are nearer to each other would magnify what their slopes are off. */
static const double APART = 0.08;

/* ---- weights ---- */

/* Whether sum a_ij c_j^(q-1) = c_i^q / q for all q up to LEAST_ORDER */
static bool is_good(const rounded_tableau *r, int i)
{
    double sum[LEAST_ORDER] = {0.0}, power = 1.0;
    for (int j = 0; j < i; j++, power = 1.0)
        for (int q = 0; q < LEAST_ORDER; q++, power *= r->c[j]) sum[q] += r->a[i][j] * power;
    for (int q = 0; q < LEAST_ORDER; q++) {
        power *= r->c[i];
        if (fabs(sum[q] - power / (q + 1)) > 1e-10) return false;
    }
    return true;
}

static bool is_apart(const hem_table *table, double c)
{
    bool apart = c > APART && c < 1.0 - APART;
    for (int k = 0; k < table->good_count; k++)
        apart = apart && fabs(c - table->c[table->good[k]]) > APART;
    return apart;
}

/* The integral of Lagrange's polynomial of node j from 0 to s, by Gauss's formula, which is exact
 * up to degree 7 */
static double integral(int count, const double *node, int j, double s)
{
    static const double place[4] = {0.069431844202973712, 0.33000947820757187, 0.66999052179242813,
                                    0.93056815579702629},
                        weight[4] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                     0.17392742256872693};
    double sum = 0.0;
    for (int k = 0; k < 4; k++) sum += s * weight[k] * lagrange_value(count, node, j, s * place[k]);
    return sum;
}

void hem_look_prepare(hem_table *table)
{
    double node[2 + HEM_GOOD] = {0.0, 1.0};
    table->good_count = 0;
    for (int i = 1; table->exact && i < table->stages && table->good_count < HEM_GOOD; i++)
        if (is_good(table->exact, i) && is_apart(table, table->c[i]))
            table->good[table->good_count++] = i;
    if (table->good_count < LEAST_GOOD) table->good_count = 0;
    const int count = table->good_count + 2;
    for (int k = 2; k < count; k++) node[k] = table->c[table->good[k - 2]];
    for (int p = 0; p < HEM_PLACES; p++) {
        for (int k = 0; k < count; k++) table->look[p][0][k] = integral(count, node, k, places[p]);
        interpolation_row(count, node, places[p], 0, table->look[p][1]);
    }
}

/* ---- the look ---- */

/* The polynomial, or h times its slope, at place p */
static void expected(const hem_state *s, const hem_scratch *w, int n, int p, int derivative,
                     double *out)
{
    const hem_table *table = s->table;
    const double *of = table->look[p][derivative];
    double weight[5] = {derivative ? 0.0 : 1.0, 0.0, of[0], of[1], 0.0};
    if (table->good_count == 0) hem_dense_weights(0.0, places[p], derivative, weight);
    for (int i = 0; i < n; i++)
        out[i] = weight[0] * s->x[i] + weight[1] * w->x[i] +
                 w->h * (weight[2] * s->k[i] + weight[3] * w->k[i]);
    for (int k = 0; k < table->good_count; k++) {
        const double *K = w->K[table->good[k]];
        for (int i = 0; i < n; i++) out[i] += w->h * of[k + 2] * K[i];
    }
}

/* h |f - slope| at place p, 0 where f is not known, or how far that place is from the constraints
 * if that is more: between two plateaus of an algebraic variable f, its derivative, may be 0 all
 * along the step, next to which the constraints are not met. */
static double look_at(const hem_state *s, hem_scratch *w, const method_context *ctx, int p)
{
    hem_cache *c = ctx->cache, *own = hem_refinement_cache(c->refinement);
    double *x = c->inner_x, *slope = own->inner_k, *k = c->inner_k, *z = c->work[5];
    double place = places[p];
    method_context aside = *ctx;
    aside.cache = own;
    expected(s, w, c->nx, p, 0, x);
    expected(s, w, c->nx, p, 1, slope);
    const double off = hem_exact_distance(own, &aside, s->t + place * w->h, x, false);
    for (int i = 0; i < c->nw; i++) z[i] = (1.0 - place) * s->w[i] + place * w->w[i];
    hem_failure failure =
        hem_exact_slope(own, &aside, s->t + place * w->h, w->h, x, k, z, own->hessenberg != NULL);
    if (failure.status) return off;
    for (int i = 0; i < c->nx; i++) k[i] = w->h * k[i] - slope[i];
    return fmax(off, hem_tested_norm(c, ctx->norm, k, w->y));
}

double hem_look_inside(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache, *own = hem_refinement_cache(c->refinement);
    double most = 0.0;
    if (!own) return 0.0; /* a step inside of another one */
    own->norm = ctx->norm;
    own->w_begin = s->w;
    for (int p = 0; p < HEM_PLACES; p++) most = fmax(most, look_at(s, w, ctx, p));
    return most;
}

double hem_look_beside(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    double most = 0.0;
    if (!c->manifold || c->ng == 0 || !hem_refinement_cache(c->refinement)) return 0.0;
    for (int p = 0; p < HEM_PLACES; p++) {
        expected(s, w, c->nx, p, 0, c->inner_x);
        most = fmax(most, hem_exact_distance(c, ctx, s->t + places[p] * w->h, c->inner_x, true));
    }
    return most;
}
