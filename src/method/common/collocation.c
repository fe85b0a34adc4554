#include "method/common/collocation.h"

#include <math.h>
#include <stdbool.h>

#include "base/wide.h"

const collocation *radau_iia(int stages)
{
    if (stages >= 7) return &radau_iia_7;
    if (stages >= 5) return &radau_iia_5;
    return stages >= 3 ? &radau_iia_3 : &radau_iia_1;
}

/* The products of all x - x_k before, and of all after, node j = 1 .. s; `skip` counts as left out.
 */
static void products(const collocation *m, double x, int skip, double *before, double *after)
{
    const int s = m->stages;
    double product = skip == 0 ? 1.0 : x;
    for (int j = 1; j <= s; j++) {
        before[j - 1] = product;
        if (j != skip) product *= x - m->nodes[j - 1];
    }
    product = 1.0;
    for (int j = s; j >= 1; j--) {
        after[j - 1] = product;
        if (j != skip) product *= x - m->nodes[j - 1];
    }
}

/* weight_j = l_j(x) */
DAE_INLINE void values_of(int s, const double *nodes, const double *lagrange, double x,
                          double *restrict weight)
{
    double before = x, after = 1.0;
    for (int j = 0; j < s; j++) {
        weight[j] = before * lagrange[j];
        before *= x - nodes[j];
    }
    for (int j = s - 1; j >= 0; j--) {
        weight[j] *= after;
        after *= x - nodes[j];
    }
}

/* The same; without loops for three stages, the most usual number */
static inline void values(int s, const double *nodes, const double *lagrange, double x,
                          double *weight)
{
    if (s == 3)
        values_of(3, nodes, lagrange, x, weight);
    else
        values_of(s, nodes, lagrange, x, weight);
}

/* l_j(x) / lagrange_j is the product without j; its derivative the sum over i of those without i
 * and j. */
void collocation_weights(const collocation *m, double x, int derivative, double *weight)
{
    double before[COLLOCATION_STAGES], after[COLLOCATION_STAGES];
    const int s = m->stages;
    if (!derivative) {
        values(s, m->nodes, m->lagrange, x, weight);
        return;
    }
    for (int j = 0; j < s; j++) weight[j] = 0.0;
    for (int skip = 0; skip <= s; skip++) {
        products(m, x, skip, before, after);
        for (int j = 1; j <= s; j++)
            if (j != skip) weight[j - 1] += before[j - 1] * after[j - 1];
    }
    for (int j = 0; j < s; j++) weight[j] *= m->lagrange[j];
}

void collocation_extrapolation(const collocation *m, const collocation *next, double r, double *E)
{
    int s = m->stages;
    bool stiffly = m->nodes[s - 1] == 1.0;
    double end[COLLOCATION_STAGES] = {0.0};
    if (!stiffly) collocation_weights(m, 1.0, 0, end);
    for (int i = 0; i < next->stages; i++) {
        values(s, m->nodes, m->lagrange, 1.0 + r * next->nodes[i], E + i * s);
        if (stiffly) E[i * s + s - 1] -= 1.0; /* q(1) = Z_s */
        for (int j = 0; j < s && !stiffly; j++) E[i * s + j] -= end[j];
    }
}

double collocation_error_factor(double rtol, int stages)
{
    double s = stages;
    return 10.0 * pow(rtol, (s - 1.0) / (2.0 * s));
}
