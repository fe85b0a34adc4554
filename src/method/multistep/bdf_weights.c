/* Coefficients of backward differentiation formulas, for users. */
#include <math.h>

#include "base/diag.h"
#include "method/common/method.h"
#include "method/multistep/bdf2nd_tables.h"

enum { MOST_TIMES = 64, MOST_LEVELS = 4 };

/* Times that differ from each other and are finite. */
static dae_status check_times(int count, const double *t, dae_diag *diag)
{
    for (int i = 0; i < count; i++) {
        if (!isfinite(t[i]))
            return diag_set(diag, DAE_ERR_ARGUMENT, "Time t[%d] is %g; it must be finite.", i,
                            t[i]);
        for (int j = 0; j < i; j++)
            if (t[i] == t[j])
                return diag_set(diag, DAE_ERR_ARGUMENT, "Times t[%d] and t[%d] are both %.9g.", j,
                                i, t[i]);
    }
    return DAE_OK;
}

/* (e_0 + e_1 s + ..) := (e_0 + e_1 s + ..) (s + z) / gap, up to s^d: the next factor of a Lagrange
 * polynomial around t_0 */
static void multiply(double *e, int d, double z, double gap)
{
    for (int m = d; m >= 0; m--) e[m] = (e[m] * z + (m > 0 ? e[m - 1] : 0.0)) / gap;
}

/* d! times the coefficient of s^d in prod_{j != i} (s + t_0 - t_j) / (t_i - t_j) */
static double lagrange_derivative(int d, int count, const double *t, int i)
{
    double e[MOST_TIMES] = {1.0}, factorial = 1.0;
    for (int j = 0; j < count; j++)
        if (j != i) multiply(e, d, t[0] - t[j], t[i] - t[j]);
    for (int m = 2; m <= d; m++) factorial *= m;
    return factorial * e[d];
}

dae_status dae_bdf_weights(int derivative, int count, const double *t, double *weights,
                           dae_diag *diag)
{
    diag_clear(diag);
    if (!t || !weights || count < 1 || count > MOST_TIMES || derivative < 0 || derivative >= count)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_bdf_weights: derivative %d of a polynomial through %d values; there "
                        "must be more values than that, and at most %d.",
                        derivative, count, MOST_TIMES);
    dae_status status = check_times(count, t, diag);
    for (int i = 0; status == DAE_OK && i < count; i++)
        weights[i] = lagrange_derivative(derivative, count, t, i);
    return status;
}

/* The last node that a derivative of the given level at node m looks at, as the method holds it for
 * t^p; count if it is beyond all of them. */
static int reach_of_value(int level, int p, int m, int count, const int *orders);

/* The last node that the formula of the given level and order k at node m looks at. */
static int reach_of_formula(int level, int k, int m, int count, const int *orders)
{
    int far = m + k;
    for (int s = 1; level > 1 && s <= k; s++)
        for (int i = 0; i <= k && far < count; i++) {
            int reach = reach_of_value(level - 1, s + level - 1, m + i, count, orders);
            if (reach > far) far = reach;
        }
    return far < count ? far : count;
}

static int reach_of_value(int level, int p, int m, int count, const int *orders)
{
    if (m >= count || level == 0 || orders[m] >= p - level + 1) return m;
    int far = reach_of_formula(level, orders[m], m, count, orders);
    for (int i = 0; i <= orders[m] && far < count; i++) {
        int reach = reach_of_value(level - 1, p, m + i, count, orders);
        if (reach > far) far = reach;
    }
    return far;
}

/* What dae_bdf_modified cannot do. */
static dae_status check_history(int derivative, int order, int count, const int *orders,
                                dae_diag *diag)
{
    if (derivative < 1 || derivative > MOST_LEVELS || order < 1 || order > MODIFIED_MOST)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_bdf_modified: derivative %d by order %d; derivatives are 1 to %d, "
                        "orders 1 to %d.",
                        derivative, order, MOST_LEVELS, MODIFIED_MOST);
    if (count > MODIFIED_NODES)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_bdf_modified: %d times are more than %d.",
                        count, MODIFIED_NODES);
    if (orders[0] != order)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_bdf_modified: orders[0] = %d is that of the formula itself, %d.",
                        orders[0], order);
    for (int i = 0; i < count; i++)
        if (orders[i] < 1)
            return diag_set(diag, DAE_ERR_ARGUMENT, "dae_bdf_modified: orders[%d] is %d.", i,
                            orders[i]);
    if (reach_of_formula(derivative, order, 0, count, orders) < count) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "dae_bdf_modified: the formulas behind look at more than the %d times that are "
                    "given.",
                    count);
}

dae_status dae_bdf_modified(int derivative, int order, int count, const double *t,
                            const int *orders, double *alpha, dae_diag *diag)
{
    const double WORST = 1e-6; /* as bdf2nd:modified: beyond it a lower order is taken */
    double found[MODIFIED_MOST + 1];
    diag_clear(diag);
    if (!t || !orders || !alpha || count < 2)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_bdf_modified: times, their orders and alpha must be given.");
    dae_status status = check_times(count, t, diag);
    if (status == DAE_OK) status = check_history(derivative, order, count, orders, diag);
    if (status != DAE_OK) return status;
    if (modified_coefficients(derivative, order, count, t, orders, found) < WORST)
        return diag_set(diag, DAE_ERR_SINGULAR,
                        "There is no modified formula of order %d on this history: its conditions "
                        "are singular.",
                        order);
    for (int i = 0; i < order; i++) alpha[i] = found[i + 1];
    return DAE_OK;
}
