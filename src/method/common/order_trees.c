#include "method/common/order_trees.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

/* Conditions are met if they are off by no more than this, in units of their terms: coefficients
 * that are doubles leave 1e-14, ones of ten digits do not pass. */
static const long double ROUNDING = 1e-10L;

/* ---- trees ---- */

/* Whether tree k may stand directly above a vertex. */
static bool may_carry(const order_forest *f, bool fat_parent, int k)
{
    const order_tree *t = &f->trees[k];
    if (fat_parent) return !t->fat && !t->lone;
    return t->fat || !t->lone || f->kind == ORDER_PARTITIONED;
}

static long long divisor(long long a, long long b)
{
    while (b != 0) {
        long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Right-hand side: 1/r for meagre, r + 1 for fat vertices, r = order of the subtree. */
static void set_right_hand_side(const order_forest *f, order_tree *t)
{
    t->above = t->fat ? t->order + 1 : 1;
    t->below = t->fat ? 1 : t->order;
    for (int k = 0; k < t->children; k++) {
        t->above *= f->trees[t->child[k]].above;
        t->below *= f->trees[t->child[k]].below;
        long long common = divisor(t->above, t->below);
        t->above /= common;
        t->below /= common;
    }
    t->gamma = (long double)t->above / (long double)t->below;
}

/* Add all vertices of the kind with children of total order `rest`, none numbered above `most`. */
static void add_children(order_forest *f, order_tree *t, int rest, int most)
{
    if (rest == 0) {
        if ((t->fat && t->children < 2) || f->count == ORDER_TREES) return;
        t->lone = !t->fat && t->children == 1 && f->trees[t->child[0]].fat;
        set_right_hand_side(f, t);
        f->trees[f->count++] = *t;
        return;
    }
    for (int k = most; k >= 0; k--) {
        if (f->trees[k].order > rest || !may_carry(f, t->fat, k)) continue;
        t->child[t->children++] = k;
        add_children(f, t, rest - f->trees[k].order, k);
        t->children--;
    }
}

void order_forest_grow(order_forest *f, int order, order_kind kind)
{
    f->count = 0;
    f->kind = kind;
    for (int r = 1; r <= order; r++) {
        add_children(f, &(order_tree){.order = r}, r - 1, f->count - 1);
        if (kind != ORDER_CLASSICAL)
            add_children(f, &(order_tree){.order = r, .fat = true}, r + 1, f->count - 1);
    }
}

static bool is_condition(const order_tree *t, int order, bool transversal)
{
    return !t->fat && t->order <= order && (transversal || !t->lone);
}

int order_forest_roots(const order_forest *f, int order, bool transversal)
{
    int count = 0;
    for (int k = 0; k < f->count; k++) count += is_condition(&f->trees[k], order, transversal);
    return count;
}

/* ---- values ---- */

/* By Gauss and Jordan. */
bool order_invert(int s, order_matrix a_bar, order_matrix omega)
{
    long double m[DAE_TABLE_STAGES][2 * DAE_TABLE_STAGES] = {{0.0L}};
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) m[i][j] = a_bar[i][j];
        m[i][s + i] = 1.0L;
    }
    for (int k = 0; k < s; k++) {
        int best = k;
        for (int i = k + 1; i < s; i++)
            if (fabsl(m[i][k]) > fabsl(m[best][k])) best = i;
        if (!(fabsl(m[best][k]) > ROUNDING)) return false;
        for (int j = 0; j < 2 * s && best != k; j++) {
            long double keep = m[k][j];
            m[k][j] = m[best][j];
            m[best][j] = keep;
        }
        const long double pivot = m[k][k];
        for (int j = 0; j < 2 * s; j++) m[k][j] /= pivot;
        for (int i = 0; i < s; i++) {
            const long double factor = m[i][k];
            for (int j = 0; j < 2 * s && i != k; j++) m[i][j] -= factor * m[k][j];
        }
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) omega[i][j] = m[i][s + j];
    return true;
}

/* The product over the children of tree k, with the rows of a or of abar. */
static long double product_at(const condition_set *o, const order_tree *t, int i)
{
    const long double *row = t->fat ? o->a_bar[i] : o->a[i];
    long double product = 1.0L;
    for (int c = 0; c < t->children; c++) {
        const long double *child = o->at[t->child[c]];
        long double sum = 0.0L;
        for (int j = 0; j < o->stages; j++) sum += row[j] * child[j];
        product *= o->forest.trees[t->child[c]].fat ? child[i] : sum;
    }
    return product;
}

/* Values of all trees at the stages, children first. */
static void evaluate(condition_set *o)
{
    long double product[DAE_TABLE_STAGES];
    for (int k = 0; k < o->forest.count; k++) {
        const order_tree *t = &o->forest.trees[k];
        for (int i = 0; i < o->stages; i++) product[i] = product_at(o, t, i);
        for (int i = 0; i < o->stages; i++) {
            long double sum = 0.0L;
            for (int j = 0; t->fat && j < o->stages; j++) sum += o->omega[i][j] * product[j];
            o->at[k][i] = t->fat ? sum : product[i];
        }
    }
}

bool condition_set_prepare(condition_set *o, const dae_table *table, int order, order_kind kind,
                           bool shifted)
{
    const int s = o->stages = table->stages;
    o->shifted = shifted;
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            const double *bar = i + 1 < s ? table->A[i + 1] : table->b;
            o->a[i][j] = (long double)table->A[i][j];
            o->a_bar[i][j] = shifted ? (long double)bar[j] : o->a[i][j];
        }
    order_forest_grow(&o->forest, order, kind);
    if (kind != ORDER_CLASSICAL && !order_invert(s, o->a_bar, o->omega)) return false;
    evaluate(o);
    return true;
}

/* ---- texts ---- */

/* Where the text of a condition is written, with the letter of the next vertex. */
typedef struct condition_text {
    text_writer out;
    char next;
    bool shifted;
} condition_text;

/* " c_i^2": so many leaves above vertex i */
static void write_leaves(const condition_text *c, const char *vertex, int leaves)
{
    if (leaves == 0) return;
    text_put(&c->out, strlen(vertex) > 1 ? " c_{%s}" : " c_%s", vertex);
    if (leaves > 1) text_put(&c->out, "^%d", leaves);
}

/* The factors above vertex `at` of tree k: leaves first, then the other children. */
static void write_above(const order_forest *f, condition_text *c, int k, char at)
{
    const order_tree *t = &f->trees[k];
    const bool moved = t->fat && c->shifted;
    const char vertex[4] = {at, moved ? '+' : '\0', '1', '\0'};
    int leaves = 0;
    for (int n = 0; n < t->children; n++)
        leaves += f->trees[t->child[n]].order == 1 && f->trees[t->child[n]].children == 0;
    write_leaves(c, vertex, leaves);
    for (int n = 0; n < t->children; n++) {
        const order_tree *child = &f->trees[t->child[n]];
        if (child->children == 0) continue;
        const char letter = c->next++;
        text_put(&c->out,
                 child->fat ? " omega_%s%c"
                 : moved    ? " a_{%s,%c}"
                            : " a_%s%c",
                 vertex, letter);
        write_above(f, c, t->child[n], letter);
    }
}

/* The conditions of [BH93 Table 1] in their order; (16) as the tree has it, which is misprinted. */
static const char *const table_1[] = {
    "sum b_i",
    "sum b_i c_i",
    "sum b_i c_i^2",
    "sum b_i a_ij c_j",
    "sum b_i c_i omega_ij c_{j+1}^2",
    "sum b_i omega_ij c_{j+1}^2 omega_ik c_{k+1}^2",
    "sum b_i c_i^3",
    "sum b_i c_i a_ij c_j",
    "sum b_i a_ij c_j^2",
    "sum b_i a_ij a_jk c_k",
    "sum b_i c_i^2 omega_ij c_{j+1}^2",
    "sum b_i c_i omega_ij c_{j+1}^2 omega_ik c_{k+1}^2",
    "sum b_i omega_ij c_{j+1}^2 omega_ik c_{k+1}^2 omega_il c_{l+1}^2",
    "sum b_i c_i omega_ij c_{j+1}^3",
    "sum b_i c_i omega_ij c_{j+1} a_{j+1,k} c_k",
    "sum b_i a_ij c_j omega_ik c_{k+1}^2",
    "sum b_i omega_ij c_{j+1}^3 omega_ik c_{k+1}^2",
    "sum b_i omega_ij c_{j+1} a_{j+1,k} c_k omega_il c_{l+1}^2",
    "sum b_i a_ij c_j omega_jk c_{k+1}^2",
    "sum b_i a_ij omega_jk c_{k+1}^2 omega_jl c_{l+1}^2",
};

int order_condition_text(const condition_set *o, int k, char text[ORDER_TEXT])
{
    condition_text c = {{text, ORDER_TEXT}, 'j', o->shifted};
    text[0] = '\0';
    text_put(&c.out, "sum b_i");
    write_above(&o->forest, &c, k, 'i');
    for (int n = 0; o->shifted && n < (int)(sizeof table_1 / sizeof *table_1); n++)
        if (strcmp(table_1[n], text) == 0) return n + 1;
    return 0;
}

/* ---- conditions ---- */

/* sum b_i Phi_i of tree k; whether it is what it must be */
static bool is_met(const condition_set *o, const double *weights, int k, double *value)
{
    long double sum = 0.0L, size = 1.0L;
    for (int i = 0; i < o->stages; i++) {
        const long double term = (long double)weights[i] * o->at[k][i];
        sum += term;
        size += fabsl(term);
    }
    *value = (double)sum;
    return fabsl(sum - o->forest.trees[k].gamma) <= ROUNDING * size;
}

bool condition_set_meets(const condition_set *o, const double *weights, int order, order_miss *miss)
{
    double value;
    *miss = (order_miss){0};
    for (int k = 0; k < o->forest.count; k++) {
        const order_tree *t = &o->forest.trees[k];
        if (!is_condition(t, order, false) || is_met(o, weights, k, &value)) continue;
        if (miss->count++ > 0) continue;
        miss->order = t->order;
        miss->value = value;
        miss->above = t->above;
        miss->below = t->below;
        miss->number = order_condition_text(o, k, miss->text);
    }
    return miss->count == 0;
}

int order_reached(const condition_set *o, const double *weights, int most)
{
    order_miss miss;
    int order = 0;
    while (order < most && condition_set_meets(o, weights, order + 1, &miss)) order++;
    return order;
}
