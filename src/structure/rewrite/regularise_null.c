/* Null vectors of a diagonal block of the system Jacobian that hold identically: found at sample
 * points, then as numbers if they are the same everywhere, else by elimination on expressions. */
#include "structure/rewrite/regularise_parts.h"

#include "base/memory.h"
#include "base/vector.h"

enum {
    MOST_VECTORS = 64,     /* of a large block */
    MOST_DENOMINATOR = 64, /* of a component that is a fraction */
    MOST_MULTIPLE = 10000  /* common to all of them */
};
static const double RANK_TOLERANCE = 1e-10; /* generic points: what is regular is so clearly */
static const double PRESENT = 1e-7;         /* a component of a scaled null vector */

void null_vectors_free(null_vectors *v)
{
    for (int k = 0; k < v->count; k++) {
        dae_free_all(v->vector[k].index, v->vector[k].entry, v->vector[k].value);
    }
    dae_free(v->vector);
    *v = (null_vectors){0};
}

/* ---- the block at one sample ------------------------------------------------------------------
 */

/* Null vectors of the block at one sample, in the block's own scales, with identity at `pivot`. */
typedef struct snapshot {
    int count;       /* vectors; -1: the block could not be evaluated here */
    double *vectors; /* n each, owned: component k of the true vector is scale_k times this */
} snapshot;

const int *block_list(const rewriting *r, int b, bool left, int *n)
{
    const block_form *f = &r->s->blocks;
    *n = f->start[b + 1] - f->start[b];
    return (left ? f->rows : f->columns) + f->start[b];
}

/* Values of the entries of the block's rows at a sample, noise as zero; 0: not finite, -1: memory
 */
static int sample_entries(rewriting *r, int b, int sample, double *value)
{
    int n;
    const int *rows = block_list(r, b, true, &n);
    for (int i = 0; i < n; i++) {
        const int first = r->J->start[rows[i]], count = r->J->start[rows[i] + 1] - first;
        long double *v = DAE_ARRAY(long double, 2 * (size_t)count + 1), *e = v + count;
        if (!v) return -1;
        bool ok = sampling_values(&r->sample, sample, r->J->entry + first, (size_t)count, v, e);
        bool finite = true;
        for (int k = 0; ok && k < count; k++) {
            bool inside = r->s->blocks.of_column[r->J->column[first + k]] == b;
            value[first + k] = fabsl(v[k]) > 16.0L * e[k] ? (double)v[k] : 0.0;
            finite = finite && (!inside || isfinite(v[k]));
        }
        dae_free(v);
        if (!ok || !finite) return ok ? 0 : -1;
    }
    return 1;
}

/* vectors := scale * vectors, so that they belong to the block as it is */
static void unscale(int n, int count, const double *scale, double *vectors)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n; i++) vectors[(size_t)k * (size_t)n + (size_t)i] *= scale[i];
}

static bool take_null_space(rewriting *r, int b, bool left, const double *value, snapshot *shot)
{
    int n;
    null_space null = {0};
    block_list(r, b, left, &n);
    double *scale = DAE_ARRAY(double, 2 * (size_t)n);
    bool ok = scale && system_jacobian_null(r->J, r->s, r->place, b, value, RANK_TOLERANCE,
                                            MOST_VECTORS, &null, scale);
    if (ok) {
        shot->count = null.count;
        shot->vectors = left ? null.left : null.right;
        dae_free(left ? null.right : null.left);
        for (size_t k = 0; k < (size_t)n * (size_t)null.count; k++)
            if (fabs(shot->vectors[k]) < PRESENT) shot->vectors[k] = 0.0;
        unscale(n, null.count, left ? scale : scale + n, shot->vectors);
    }
    dae_free(scale);
    return ok;
}

static bool snapshot_take(rewriting *r, int b, bool left, int sample, snapshot *shot)
{
    *shot = (snapshot){.count = -1};
    int state = sample_entries(r, b, sample, r->value);
    return state == 0 || (state > 0 && take_null_space(r, b, left, r->value, shot));
}

/* ---- one basis for all samples ----------------------------------------------------------------
 */

/* Gauss-Jordan on vectors so that vector k is 1 at pivot[k] and the others 0 there; chosen here if
 * `choose`. False: a pivot vanishes. */
static bool reduce(int n, int count, double *vectors, int *pivot, bool choose)
{
    for (int k = 0; k < count; k++) {
        double *v = vectors + (size_t)k * (size_t)n;
        if (choose) pivot[k] = vector_argmax(n, v, NULL);
        double p = v[pivot[k]], most = fabs(v[vector_argmax(n, v, NULL)]);
        if (!(fabs(p) > 1e-12 * most)) return false;
        for (int i = 0; i < n; i++) v[i] /= p;
        for (int m = 0; m < count; m++) {
            double *w = vectors + (size_t)m * (size_t)n;
            const double factor = w[pivot[k]];
            if (m == k || factor == 0.0) continue;
            for (int i = 0; i < n; i++) {
                double difference = w[i] - factor * v[i];
                /* what cancels leaves rounding only */
                w[i] = fabs(difference) > 1e-9 * fabs(w[i]) ? difference : 0.0;
            }
        }
    }
    return true;
}

/* The defect of the block at most samples: the smallest; 0 if nothing could be evaluated. */
static int generic_defect(const snapshot *shot)
{
    int defect = -1;
    for (int k = 0; k < SAMPLES_NEAR; k++)
        if (shot[k].count >= 0 && (defect < 0 || shot[k].count < defect)) defect = shot[k].count;
    return defect < 0 ? 0 : defect;
}

/* Reduce all samples by the pivots of the first good one; those that do not fit are dropped. How
 * many are left (none: memory, too). */
static int align(int n, int defect, snapshot *shot)
{
    int *pivot = DAE_ARRAY(int, defect), good = 0;
    for (int k = 0; pivot && k < SAMPLES_NEAR; k++) {
        if (shot[k].count == defect && reduce(n, defect, shot[k].vectors, pivot, good == 0))
            good++;
        else
            shot[k].count = -1;
    }
    dae_free(pivot);
    return good;
}

/* ---- a vector of numbers ----------------------------------------------------------------------
 */

/* The least q with q x a whole number; 0: none that is small */
static int denominator(double x)
{
    for (int q = 1; q <= MOST_DENOMINATOR; q++) {
        double p = round(x * q);
        if (p != 0.0 && fabs(x * q - p) <= 1e-9 * fabs(p)) return q;
    }
    return 0;
}

/* Component i of vector k if it is the same at all samples; NAN if not. */
static double constant_component(const snapshot *shot, int n, int k, int i)
{
    const size_t at = (size_t)k * (size_t)n + (size_t)i;
    double first = NAN;
    for (int s = 0; s < SAMPLES_NEAR; s++) {
        if (shot[s].count < 0) continue;
        double x = shot[s].vectors[at];
        if (isnan(first)) first = x;
        if (fabs(x - first) > 1e-8 * fabs(first)) return NAN;
    }
    return first;
}

static int common_multiple(int a, int b)
{
    int p = a, q = b;
    while (q) {
        int rest = p % q;
        p = q;
        q = rest;
    }
    return a / p * b;
}

static bool component_present(const snapshot *shot, int n, int k, int i)
{
    for (int s = 0; s < SAMPLES_NEAR; s++)
        if (shot[s].count >= 0 && shot[s].vectors[(size_t)k * (size_t)n + (size_t)i] != 0.0)
            return true;
    return false;
}

static bool null_vector_alloc(null_vector *v, int n)
{
    *v = (null_vector){0};
    v->index = DAE_ARRAY(int, n);
    v->entry = DAE_ARRAY(expr, n);
    v->value = DAE_ARRAY(double, n);
    return v->index && v->entry && v->value;
}

/* Support of vector k and its values; the least number that makes all of them whole, 0 if they are
 * no constants or no such fractions. */
static int gather_support(rewriting *r, int b, bool left, const snapshot *shot, int k,
                          null_vector *v)
{
    int n, multiple = 1;
    const int *names = block_list(r, b, left, &n);
    v->count = 0;
    for (int i = 0; i < n; i++) {
        if (!component_present(shot, n, k, i)) continue;
        double value = constant_component(shot, n, k, i);
        int q = isnan(value) ? 0 : denominator(value);
        multiple = q && multiple ? common_multiple(multiple, q) : 0;
        if (multiple > MOST_MULTIPLE) multiple = 0;
        v->index[v->count] = names[i];
        v->value[v->count++] = value;
    }
    return multiple;
}

/* Support and, where they are constant, entries: whole numbers, for these cancel exactly. */
static void gather_vector(rewriting *r, int b, bool left, const snapshot *shot, int k,
                          null_vector *v, bool *constant)
{
    int multiple = gather_support(r, b, left, shot, k, v);
    *constant = multiple > 0;
    for (int i = 0; *constant && i < v->count; i++)
        v->entry[i] = graph_constant(r->set->graph, round(v->value[i] * multiple));
}

/* ---- is it one? -------------------------------------------------------------------------------
 */

/* Sums over the vector at one sample, by rows or columns of the block, with bounds of errors. */
typedef struct product {
    long double *sum, *error; /* n each, one block, owned */
    long double *value;       /* of expressions: 2 a row, owned */
    int n;
} product;

/* sum_k += u a */
static void accumulate(product *p, int k, long double u, long double eu, long double a,
                       long double ea)
{
    p->sum[k] += u * a;
    p->error[k] += fabsl(u) * ea + fabsl(a) * eu + fabsl(u * a) * 1e-18L;
}

/* The vector's component of index i times what belongs to it in row i, or in column i. */
static bool accumulate_row(rewriting *r, int b, int sample, bool left, const int *component,
                           const null_vector *v, int row, product *p)
{
    const int first = r->J->start[row], count = r->J->start[row + 1] - first;
    const int here = r->s->blocks.of_row[row] == b ? component[r->place_of_row[row]] : -1;
    long double *a = p->value, *ea = a + count, u = 0.0L, eu = 0.0L;
    if (left && here < 0) return true;
    if (!sampling_values(&r->sample, sample, r->J->entry + first, (size_t)count, a, ea))
        return false;
    if (left && !sampling_values(&r->sample, sample, &v->entry[here], 1, &u, &eu)) return false;
    for (int k = 0; k < count; k++) {
        const int j = r->J->column[first + k];
        if (r->s->blocks.of_column[j] != b) continue;
        const int m = left ? 0 : component[r->place[j]];
        if (m < 0) continue;
        if (!left && !sampling_values(&r->sample, sample, &v->entry[m], 1, &u, &eu)) return false;
        accumulate(p, left ? r->place[j] : r->place_of_row[row], u, eu, a[k], ea[k]);
    }
    return true;
}

/* Whether all sums are zero within rounding, where they could be evaluated. */
static bool sums_vanish(const product *p)
{
    for (int k = 0; k < p->n; k++)
        if (isfinite(p->sum[k]) && isfinite(p->error[k]) && fabsl(p->sum[k]) > 16.0L * p->error[k])
            return false;
    return true;
}

/* u'J = 0 (left) or J v = 0 within the block at all samples: 1, 0, -1: memory */
static int check_product(rewriting *r, int b, bool left, const null_vector *v, const int *component,
                         product *p)
{
    int n;
    const int *rows = block_list(r, b, true, &n);
    for (int sample = 0; sample < SAMPLES; sample++) {
        for (int k = 0; k < 2 * n; k++) p->sum[k] = 0.0L;
        for (int i = 0; i < n; i++)
            if (!accumulate_row(r, b, sample, left, component, v, rows[i], p)) return -1;
        if (!sums_vanish(p)) return 0;
    }
    return 1;
}

static int longest_row(const rewriting *r, int b)
{
    int n, most = 1;
    const int *rows = block_list(r, b, true, &n);
    for (int i = 0; i < n; i++) {
        int count = r->J->start[rows[i] + 1] - r->J->start[rows[i]];
        if (count > most) most = count;
    }
    return most;
}

static int is_null_vector(rewriting *r, int b, bool left, const null_vector *v)
{
    product p = {0};
    int state = -1;
    block_list(r, b, left, &p.n);
    int *component = DAE_ARRAY(int, p.n);
    p.sum = DAE_ARRAY(long double, 2 * (size_t)p.n);
    p.value = DAE_ARRAY(long double, 2 * (size_t)longest_row(r, b));
    if (component && p.sum && p.value) {
        p.error = p.sum + p.n;
        for (int i = 0; i < p.n; i++) component[i] = -1;
        for (int i = 0; i < v->count; i++)
            component[left ? r->place_of_row[v->index[i]] : r->place[v->index[i]]] = i;
        state = check_product(r, b, left, v, component, &p);
    }
    dae_free_all(component, p.sum, p.value);
    return state;
}

/* Values of the entries near the point. */
static bool value_vector(rewriting *r, null_vector *v)
{
    long double *value = DAE_ARRAY(long double, v->count);
    bool ok = value && sampling_values(&r->sample, 0, v->entry, (size_t)v->count, value, NULL);
    for (int i = 0; ok && i < v->count; i++) v->value[i] = (double)value[i];
    dae_free(value);
    return ok;
}

/* Vector k of the snapshots as expressions; 1, 0: not found, -1: memory */
static int find_vector(rewriting *r, int b, bool left, const snapshot *shot, int k, null_vector *v)
{
    bool constant;
    gather_vector(r, b, left, shot, k, v, &constant);
    int state = constant ? is_null_vector(r, b, left, v) : 0;
    if (state == 0) {
        state = eliminate_null_vector(r, b, left, v);
        if (state == 1) state = is_null_vector(r, b, left, v);
    }
    if (state == 1 && !value_vector(r, v)) state = -1;
    return state;
}

static bool find_all(null_vectors *v, rewriting *r, int b, bool left, const snapshot *shot)
{
    int n;
    block_list(r, b, left, &n);
    v->vector = DAE_ARRAY(null_vector, v->defect);
    if (!v->vector) return false;
    for (int k = 0; k < v->defect; k++) {
        null_vector *next = &v->vector[v->count++];
        if (!null_vector_alloc(next, n)) return false;
        int state = find_vector(r, b, left, shot, k, next);
        if (state < 0) return false;
        if (state == 1) continue;
        v->count--;
        dae_free_all(next->index, next->entry, next->value);
        *next = (null_vector){0};
    }
    return true;
}

bool null_vectors_new(null_vectors *v, rewriting *r, int b, bool left)
{
    snapshot shot[SAMPLES_NEAR] = {{0}};
    int n;
    block_list(r, b, left, &n);
    *v = (null_vectors){0};
    bool ok = true;
    for (int k = 0; ok && k < SAMPLES_NEAR; k++) ok = snapshot_take(r, b, left, k, &shot[k]);
    if (ok) v->defect = generic_defect(shot);
    if (ok && v->defect > 0 && align(n, v->defect, shot) >= 2) ok = find_all(v, r, b, left, shot);
    for (int k = 0; k < SAMPLES_NEAR; k++) dae_free(shot[k].vectors);
    if (!ok) null_vectors_free(v);
    return ok;
}
