#include "method/common/own_table.h"

#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "method/common/order_trees.h"
#include "method/common/own_collocation.h"
#include "method/common/tableau.h"

/* What is below it counts as rounding of coefficients, as in order_trees.c. */
static const double ROUNDING = 1e-10;

/* What a method asks of a table. Dense output of herk is a quintic. */
typedef struct table_rule {
    const char *method;
    bool is_explicit;
    bool fixed_without; /* without embedded weights it has no error estimate */
    int most_stages, most_order;
    int least_index, most_index; /* that the table may claim */
    bool shifted;                /* conditions of index 2 are those of half-explicit methods */
} table_rule;

static const table_rule rules[] = {
    [TABLE_HEM] = {"hem", true, true, TABLEAU_MOST_STAGES, ORDER_MOST_INDEX2, 2, 2, true},
    [TABLE_HERK] = {"herk", true, false, TABLEAU_MOST_STAGES, 5, 1, 9, false},
    [TABLE_PRK] = {"prk", true, true, TABLEAU_MOST_STAGES, ORDER_MOST, 1, 9, false},
    [TABLE_IRK] = {"irk", false, false, 5, ORDER_MOST, 1, 2, false},
};

static dae_status reject(const dae_table *t, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_ARGUMENT, "Table \"%s\": ", t->name[0] ? t->name : "no name");
}

#define REJECT(t, diag, ...) (reject(t, diag), diag_append(diag, __VA_ARGS__), DAE_ERR_ARGUMENT)

dae_status own_table_take(const dae_table *given, dae_table *full, dae_diag *diag)
{
    *full = (dae_table){.size = sizeof *full};
    if (!given) return diag_set(diag, DAE_ERR_ARGUMENT, "The table is NULL.");
    dae_status status = sized_read(given, given->size, full, sizeof *full,
                                   "table of coefficients (see dae_table_empty)", diag);
    full->size = sizeof *full;
    full->name[sizeof full->name - 1] = '\0';
    return status;
}

/* ---- numbers ---- */

static dae_status check_claims(const dae_table *t, const table_rule *rule, dae_diag *diag)
{
    const int most = t->index == 2 && rule->most_order > ORDER_MOST_INDEX2 && rule->most_index == 2
                         ? ORDER_MOST_INDEX2
                         : rule->most_order;
    if (t->stages < 1 || t->stages > rule->most_stages)
        return REJECT(t, diag, "it has %d stages; method %s takes 1 to %d.", t->stages,
                      rule->method, rule->most_stages);
    if (t->order < 1 || t->order > most)
        return REJECT(t, diag, "it claims order %d; method %s takes tables of order 1 to %d%s.",
                      t->order, rule->method, most, t->index == 2 ? " for index 2" : "");
    if (t->index != 0 && (t->index < rule->least_index || t->index > rule->most_index))
        return REJECT(t, diag,
                      "it claims its order for index %d; method %s takes tables for index %d%s.",
                      t->index, rule->method, rule->least_index,
                      rule->most_index == 2 && rule->least_index == 1 ? " or 2" : "");
    return DAE_OK;
}

/* All numbers of a row are finite. */
static dae_status check_finite(const dae_table *t, const char *what, int row, const double *numbers,
                               dae_diag *diag)
{
    for (int j = 0; j < t->stages; j++) {
        if (isfinite(numbers[j])) continue;
        if (row == 0) return REJECT(t, diag, "number %d of %s is not finite.", j + 1, what);
        return REJECT(t, diag, "number %d in row %d of %s is not finite.", j + 1, row, what);
    }
    return DAE_OK;
}

static dae_status check_numbers(const dae_table *t, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int i = 0; i < t->stages && status == DAE_OK; i++)
        status = check_finite(t, "A", i + 1, t->A[i], diag);
    if (status == DAE_OK) status = check_finite(t, "b", 0, t->b, diag);
    if (status == DAE_OK) status = check_finite(t, "c", 0, t->c, diag);
    if (status == DAE_OK && t->has_embedded)
        status = check_finite(t, "embedded", 0, t->embedded, diag);
    return status;
}

/* sum of a row and, in *size, that of the sizes, 1 at least */
static double sum_of(int count, const double *row, double *size)
{
    double sum = 0.0;
    *size = 1.0;
    for (int j = 0; j < count; j++) {
        sum += row[j];
        *size += fabs(row[j]);
    }
    return sum;
}

/* sum_j a_ij = c_i, sum b_i = 1, and the same for the embedded weights */
static dae_status check_sums(const dae_table *t, dae_diag *diag)
{
    double size;
    for (int i = 0; i < t->stages; i++) {
        double sum = sum_of(t->stages, t->A[i], &size);
        if (fabs(sum - t->c[i]) <= ROUNDING * size) continue;
        return REJECT(t, diag, "row %d of A sums to %.10g, but c_%d is %.10g.", i + 1, sum, i + 1,
                      t->c[i]);
    }
    for (int k = 0; k < (t->has_embedded ? 2 : 1); k++) {
        double sum = sum_of(t->stages, k ? t->embedded : t->b, &size);
        if (fabs(sum - 1.0) <= ROUNDING * size) continue;
        return REJECT(t, diag, "the %s sum to %.10g, not to 1.",
                      k ? "embedded weights" : "weights b", sum);
    }
    return DAE_OK;
}

/* a_ij = 0 for j >= i; of half-explicit methods a_{i,i-1} and b_s are not 0 [BH93 (2.3)] */
static dae_status check_explicit(const dae_table *t, table_use use, dae_diag *diag)
{
    const int s = t->stages;
    for (int i = 0; i < s; i++)
        for (int j = i; j < s; j++) {
            if (t->A[i][j] == 0.0) continue;
            return REJECT(
                t, diag,
                "row %d of A has %g in column %d; method %s is explicit, and takes zeros on "
                "and above the diagonal only. Method irk takes implicit tables.",
                i + 1, t->A[i][j], j + 1, rules[use].method);
        }
    for (int i = 1; i <= s && use == TABLE_HEM; i++) {
        const double last = i < s ? t->A[i][i - 1] : t->b[s - 1];
        if (fabs(last) > ROUNDING) continue;
        reject(t, diag);
        diag_append(diag, i < s ? "number %d in row %d of A is 0" : "number %d of b is 0", i,
                    i + 1);
        diag_append(diag,
                    ", and method hem divides by it: stage %d could not meet the constraint "
                    "[BH93 (2.3)].",
                    i);
        return DAE_ERR_ARGUMENT;
    }
    return DAE_OK;
}

/* ---- conditions ---- */

/* "0.2483, not 1/4" */
static void append_miss(const order_miss *m, const char *weights, dae_diag *diag)
{
    if (m->number > 0) diag_append(diag, "condition (%d) of Brasey and Hairer, ", m->number);
    diag_append(diag, "%s = %.10g, not %lld", m->text, m->value, m->above);
    if (m->below != 1) diag_append(diag, "/%lld", m->below);
    diag_append(diag, "%s", weights);
    if (m->count > 1)
        diag_append(diag, "; %d more condition%s not met", m->count - 1,
                    m->count > 2 ? "s are" : " is");
    diag_append(diag, ".");
}

static dae_status check_order(const dae_table *t, const condition_set *o, dae_diag *diag)
{
    order_miss miss;
    if (condition_set_meets(o, t->b, t->order, &miss)) return DAE_OK;
    reject(t, diag);
    diag_append(diag, "it has not order %d", t->order);
    if (o->forest.kind == ORDER_INDEX2) diag_append(diag, " for index 2");
    diag_append(diag, " but %d: ", miss.order - 1);
    append_miss(&miss, "", diag);
    return DAE_ERR_ARGUMENT;
}

/* The embedded weights: another solution, of the order that they claim. */
static dae_status check_embedded(dae_table *t, const condition_set *o, dae_diag *diag)
{
    order_miss miss;
    double most = 0.0;
    if (!t->has_embedded) return DAE_OK;
    for (int i = 0; i < t->stages; i++) most = fmax(most, fabs(t->embedded[i] - t->b[i]));
    if (most <= ROUNDING) {
        return REJECT(t, diag,
                      "the embedded weights are those of b, so that there is no error to see.");
    }
    int reached = order_reached(o, t->embedded, t->order);
    if (t->embedded_order == 0) t->embedded_order = reached;
    if (t->embedded_order <= reached) return DAE_OK;
    reject(t, diag);
    diag_append(diag, "the embedded weights have not order %d but %d", t->embedded_order, reached);
    if (t->embedded_order > t->order) {
        diag_append(diag, ", or more than the method's %d.", t->order);
        return DAE_ERR_ARGUMENT;
    }
    condition_set_meets(o, t->embedded, t->embedded_order, &miss);
    diag_append(diag, ": ");
    append_miss(&miss, " (embedded weights for b)", diag);
    return DAE_ERR_ARGUMENT;
}

static bool is_stiffly_accurate(const dae_table *t)
{
    const int s = t->stages;
    for (int j = 0; j < s; j++)
        if (fabs(t->A[s - 1][j] - t->b[j]) > ROUNDING) return false;
    return true;
}

/* sum_j a_ij c_j^(k-1) - c_i^k / k, C(k) of row i; or for columns, D(k):
 * sum_i b_i c_i^(k-1) a_ij - b_j (1 - c_j^k) / k */
static double simplifying_defect(const dae_table *t, bool columns, int k, int at)
{
    double sum = columns ? -t->b[at] * (1.0 - pow(t->c[at], k)) / k : -pow(t->c[at], k) / k;
    for (int j = 0; j < t->stages; j++)
        sum += columns ? t->b[j] * pow(t->c[j], k - 1) * t->A[j][at]
                       : t->A[at][j] * pow(t->c[j], k - 1);
    return sum;
}

/* The largest k up to s with C(k), or D(k); then the place where k + 1 fails, and by how much. */
static int simplifying_order(const dae_table *t, bool columns, int *at, double *defect)
{
    for (int k = 1; k <= t->stages; k++)
        for (*at = 0; *at < t->stages; (*at)++) {
            *defect = simplifying_defect(t, columns, k, *at);
            if (fabs(*defect) > ROUNDING) return k - 1;
        }
    return t->stages;
}

/* "C(3) in row 1 of A, sum a_ij c_j^2 - c_i^3/3 = .., not 0." */
static void append_rows(int q, int row, double defect, dae_diag *diag)
{
    diag_append(diag, "C(%d) in row %d of A, sum a_ij c_j^%d - c_i^%d/%d = %.10g, not 0.", q + 1,
                row + 1, q, q + 1, q + 1, defect);
}

/* Methods that end with their last stage have variables of index 2 from it, to its order [HLR89 5].
 * With order 1 their errors would be far above the tolerance, and no estimate sees them. */
static dae_status check_last_stage(const dae_table *t, dae_diag *diag)
{
    int row;
    double defect;
    const int q = simplifying_order(t, false, &row, &defect);
    if (q >= 2 || t->order == 1) return DAE_OK;
    reject(t, diag);
    diag_append(diag,
                "it claims order %d for index 2, but variables of index 2 have order %d "
                "only: ",
                t->order, q);
    append_rows(q, row, defect, diag);
    return DAE_ERR_ARGUMENT;
}

/* Methods that do not end with their last stage are projected on the constraints: with B(p), C(q)
 * and D(r) they have order min(p, 2q, q + r + 1) for index 2 [Lub91b]. */
static dae_status check_projected(const dae_table *t, dae_diag *diag)
{
    int row, column;
    double off_row, off_column;
    const int q = simplifying_order(t, false, &row, &off_row);
    const int r = simplifying_order(t, true, &column, &off_column);
    const bool rows = 2 * q < t->order;
    if (!rows && q + r + 1 >= t->order) return DAE_OK;
    reject(t, diag);
    diag_append(diag,
                "it claims order %d for index 2; b is not the last row of A, so that steps are "
                "projected, and with C(%d) and D(%d) the order is no more than %d: ",
                t->order, q, r, rows ? 2 * q : q + r + 1);
    if (rows)
        append_rows(q, row, off_row, diag);
    else
        diag_append(diag,
                    "D(%d) in column %d of A, sum b_i c_i^%d a_ij - b_j (1 - c_j^%d)/%d = %.10g, "
                    "not 0.",
                    r + 1, column + 1, r, r + 1, r + 1, off_column);
    return DAE_ERR_ARGUMENT;
}

static dae_status check_conditions(dae_table *t, table_use use, dae_diag *diag)
{
    const table_rule *rule = &rules[use];
    const bool claims2 = t->index == 2 && rule->most_index == 2;
    const bool projected = claims2 && use == TABLE_IRK && !is_stiffly_accurate(t);
    const bool index2 = claims2 && !projected;
    condition_set *o = DAE_NEW(condition_set);
    if (!o) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the order conditions.");
    dae_status status = DAE_OK;
    if (!rule->is_explicit && !condition_set_prepare(o, t, 1, ORDER_INDEX2, false))
        status = REJECT(t, diag, "its matrix A is singular, and method irk needs its inverse.");
    else
        condition_set_prepare(o, t, t->order, index2 ? ORDER_INDEX2 : ORDER_CLASSICAL,
                              rule->shifted);
    if (status == DAE_OK) status = check_order(t, o, diag);
    if (status == DAE_OK && projected) status = check_projected(t, diag);
    if (status == DAE_OK && index2 && use == TABLE_IRK) status = check_last_stage(t, diag);
    if (status == DAE_OK) status = check_embedded(t, o, diag);
    dae_free(o);
    return status;
}

/* Newton's method needs the eigenvalues of A^-1. */
static dae_status check_implicit(const dae_table *t, dae_diag *diag)
{
    own_collocation made;
    if (own_collocation_make(t, &made)) return DAE_OK;
    return REJECT(t, diag, "the eigenvalues of A^-1 cannot be found.");
}

dae_status own_table_complete(dae_table *table, table_use use, dae_diag *diag)
{
    const table_rule *rule = &rules[use];
    dae_status status = check_claims(table, rule, diag);
    if (status == DAE_OK) status = check_numbers(table, diag);
    if (status == DAE_OK && rule->is_explicit) status = check_explicit(table, use, diag);
    if (status == DAE_OK) status = check_sums(table, diag);
    if (status != DAE_OK) return status;
    if (table->index == 0) table->index = rule->least_index;
    status = check_conditions(table, use, diag);
    return status == DAE_OK && !rule->is_explicit ? check_implicit(table, diag) : status;
}

dae_status own_table_check(const dae_table *table, table_use use, dae_diag *diag)
{
    dae_table copy = *table;
    return own_table_complete(&copy, use, diag);
}

bool own_table_needs_fixed_step(const dae_table *table, table_use use)
{
    int row;
    double defect;
    const int q = simplifying_order(table, false, &row, &defect);
    const bool low = use == TABLE_IRK && q < 2 && q < table->stages;
    return table->order == 1 || (!table->has_embedded && (rules[use].fixed_without || low));
}

/* ---- as methods read it ---- */

/* R(z) on y' = z y, h = 1 */
static double amplification(const dae_table *t, double z)
{
    double k[DAE_TABLE_STAGES], end = 1.0;
    for (int i = 0; i < t->stages; i++) {
        k[i] = 1.0;
        for (int j = 0; j < i; j++) k[i] += z * t->A[i][j] * k[j];
        end += z * t->b[i] * k[i];
    }
    return end;
}

/* The end of the interval [-r, 0] where |R| <= 1, to a hundredth */
static double stability_interval(const dae_table *t)
{
    const double grid = 0.01, longest = 100.0;
    double r = grid;
    while (r < longest && fabs(amplification(t, -r - grid)) <= 1.0 + ROUNDING) r += grid;
    return r;
}

/* Stages s + 2 .. of the half step: they begin with K_1, and the last is the slope at the middle.
 * x(theta) = cubic + theta^2 (1-theta)^2 (r_5 + theta r_6) passes value and slope there:
 *     r_6 = 16 (h x'_m - H'(1/2)),   r_5 = 16 (x_m - H(1/2)) - r_6 / 2. */
static void extend(const dae_table *t, rounded_tableau *r)
{
    const int s = t->stages, first = s + 1, middle = 2 * s;
    double *value = r->dense[0], *slope = r->dense[1];
    for (int i = 1; i <= s; i++) {
        const double *row = i < s ? t->A[i] : t->b;
        r->c[s + i] = 0.5 * (i < s ? t->c[i] : 1.0);
        r->a[s + i][0] = 0.5 * row[0];
        for (int j = 1; j < i; j++) r->a[s + i][first + j - 1] = 0.5 * row[j];
    }
    for (int j = 0; j < s; j++) {
        slope[j] -= 16.0 * 1.5 * t->b[j];
        value[j] -= 16.0 * 0.5 * t->b[j];
        value[j == 0 ? 0 : first + j - 1] += 16.0 * 0.5 * t->b[j];
    }
    slope[middle] += 16.0;
    slope[0] += 16.0 * 0.25;
    slope[s] += 16.0 * 0.25;
    value[0] -= 16.0 * 0.125;
    value[s] += 16.0 * 0.125;
    for (int j = 0; j <= middle; j++) value[j] -= 0.5 * slope[j];
    r->further = s;
    r->rows = 2;
}

void own_tableau(const dae_table *t, rounded_tableau *r)
{
    const int s = t->stages;
    *r = (rounded_tableau){.stages = s,
                           .order = t->order,
                           .estimate_order = t->embedded_order,
                           .has_error = t->has_embedded,
                           .stable = stability_interval(t)};
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < i; j++) r->a[i][j] = t->A[i][j];
        r->b[i] = r->a[s][i] = t->b[i];
        r->c[i] = t->c[i];
        if (t->has_embedded) r->error[i] = t->b[i] - t->embedded[i];
    }
    r->c[s] = 1.0;
    if (t->has_embedded && 2 * s + 1 <= TABLEAU_MOST_ALL) extend(t, r);
}

void own_table_zeta(const dae_table *t, double *zeta)
{
    const int s = t->stages;
    for (int i = 0; i < s; i++) {
        const double *row = i + 1 < s ? t->A[i + 1] : t->b, c = i + 1 < s ? t->c[i + 1] : 1.0;
        double sum = 0.5 * c * c;
        for (int j = 0; j < i; j++) sum -= row[j] * zeta[j];
        zeta[i] = sum / row[i];
    }
}
