/* Values of half-explicit methods in their order conditions [BH93 section 3]: weights, estimates
 * and dense output over the trees of method/common/order_trees.h. */
#ifndef TEST_HALF_EXPLICIT_TREES_H
#define TEST_HALF_EXPLICIT_TREES_H

#include "method/common/order_trees.h"
#include "method/half_explicit/hem_table.h"

#include <math.h>
#include <stdbool.h>

enum { MOST_TREES = ORDER_TREES };

typedef order_tree tree;
typedef order_forest forest;

static inline void forest_grow(forest *f, int order, bool partitioned)
{
    order_forest_grow(f, order, partitioned ? ORDER_PARTITIONED : ORDER_INDEX2);
}

static inline int forest_roots(const forest *f, int order, bool transversal)
{
    return order_forest_roots(f, order, transversal);
}

/* Values of all trees at the stages: of meagre ones the product over the children, of fat ones the
 * coefficient of Z_i, from sum_j abar_ij Z_j = product over the children at abar. */
typedef struct stage_values {
    long double at[MOST_TREES][HEM_STAGES];
} stage_values;

static inline void evaluate_trees(const forest *f, const hem_table *table, stage_values *v)
{
    for (int k = 0; k < f->count; k++) {
        const tree *t = &f->trees[k];
        for (int i = 0; i < table->stages; i++) {
            const double *row = t->fat ? table->a_bar[i] : table->a[i];
            long double product = 1.0L;
            for (int c = 0; c < t->children; c++) {
                const tree *child = &f->trees[t->child[c]];
                long double sum = 0.0L;
                for (int j = 0; j <= i; j++) sum += (long double)row[j] * v->at[t->child[c]][j];
                product *= child->fat ? v->at[t->child[c]][i] : sum;
            }
            if (t->fat && (i > 0 || !table->partitioned)) {
                for (int j = 0; j < i; j++)
                    product -= (long double)table->a_bar[i][j] * v->at[k][j];
                product /= (long double)table->a_bar[i][i];
            } else if (t->fat) {
                product = 0.0L;
            }
            v->at[k][i] = product;
        }
    }
}

/* Value at an exact slope in t0 + theta h. */
static inline long double exact_value(const forest *f, const tree *t, long double theta)
{
    long double value = 1.0L;
    for (int c = 0; c < t->children; c++) {
        const tree *child = &f->trees[t->child[c]];
        value *= child->gamma * powl(theta, child->order);
    }
    return value;
}

/* Weights of the slopes in an approximation of (y(t0 + theta h) - y0) / h. */
typedef struct weights {
    long double stage[HEM_STAGES], start, end, theta;
} weights;

/* Largest defect of the conditions up to an order; theta = 0: of an error estimate. */
static inline long double worst(const forest *f, const hem_table *table, const weights *b,
                                int order, bool transversal)
{
    static stage_values v;
    evaluate_trees(f, table, &v);
    long double most = 0.0L;
    for (int k = 0; k < f->count; k++) {
        const tree *t = &f->trees[k];
        if (t->fat || t->order > order || (t->lone && !transversal)) continue;
        long double sum = b->start * exact_value(f, t, 0.0L) + b->end * exact_value(f, t, 1.0L);
        for (int i = 0; i < table->stages; i++) sum += b->stage[i] * v.at[k][i];
        long double right = b->theta > 0.0L ? t->gamma * powl(b->theta, t->order) : 0.0L;
        most = fmaxl(most, fabsl(sum - right));
    }
    return most;
}

static inline weights of_method(const hem_table *table)
{
    weights b = {.theta = 1.0L};
    for (int i = 0; i < table->stages; i++) b.stage[i] = table->a_bar[table->stages - 1][i];
    return b;
}

static inline long double worst_condition(const forest *f, const hem_table *table, int order)
{
    weights b = of_method(table);
    return worst(f, table, &b, order, false);
}

static inline long double worst_estimate(const forest *f, const hem_table *table, int order)
{
    weights b = {.start = table->error_start, .end = table->error_end};
    for (int i = 0; i < table->stages; i++) b.stage[i] = table->error[i];
    return worst(f, table, &b, order, false);
}

static inline long double worst_dense(const forest *f, const hem_table *table, int order)
{
    weights b = {.start = table->dense_start, .end = table->dense_end, .theta = table->middle};
    for (int i = 0; i < table->stages; i++) b.stage[i] = table->dense[i];
    return worst(f, table, &b, order, true);
}

/* Hermite's cubic through both ends and their exact slopes, at several points. */
static inline long double worst_hermite(const forest *f, const hem_table *table, int order)
{
    long double most = 0.0L;
    for (int k = 1; k < 8; k++) {
        long double s = k / 8.0L, r = 1.0L - s;
        weights b = of_method(table);
        for (int i = 0; i < table->stages; i++) b.stage[i] *= s * s * (3.0L - 2.0L * s);
        b.start = s * r * r;
        b.end = -s * s * r;
        b.theta = s;
        most = fmaxl(most, worst(f, table, &b, order, true));
    }
    return most;
}

/* Row sums, and zeta_i = half the value of the fat vertex with two leaves. */
static inline bool sums_fit(const hem_table *table)
{
    static forest f;
    static stage_values v;
    forest_grow(&f, 1, table->partitioned);
    evaluate_trees(&f, table, &v);
    for (int i = 0; i < table->stages; i++) {
        double a = 0.0, a_bar = 0.0;
        for (int j = 0; j < table->stages; j++) {
            a += j < i ? table->a[i][j] : 0.0;
            a_bar += j <= i ? table->a_bar[i][j] : 0.0;
        }
        if (fabs(a - table->c[i]) > 1e-14 || fabs(a_bar - table->c_bar[i]) > 1e-14) return false;
        if (fabs((double)v.at[1][i] / 2.0 - table->zeta[i]) > 1e-13) return false;
    }
    return true;
}
#define check_sums(table) assert_true(sums_fit(table))

#endif
