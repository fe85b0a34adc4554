#include "method/collocation.h"

const collocation *radau_iia(int stages)
{
    if (stages >= 7) return &radau_iia_7;
    if (stages >= 5) return &radau_iia_5;
    return stages >= 3 ? &radau_iia_3 : &radau_iia_1;
}

/* Node k of 0, c_1 .. c_s. */
static double node(const collocation *m, int k)
{
    return k == 0 ? 0.0 : m->nodes[k - 1];
}

/* Product over k of (x - x_k), leaving out k = j and k = skip */
static double partial_product(const collocation *m, int j, int skip, double x)
{
    double product = 1.0;
    for (int k = 0; k <= m->stages; k++)
        if (k != j && k != skip) product *= x - node(m, k);
    return product;
}

/* sum over i of the products without i and j: the derivative of the product without j */
static double slope(const collocation *m, int j, double x)
{
    double sum = 0.0;
    for (int i = 0; i <= m->stages; i++)
        if (i != j) sum += partial_product(m, j, i, x);
    return sum;
}

void collocation_weights(const collocation *m, double x, int derivative, double *weight)
{
    for (int j = 1; j <= m->stages; j++)
        weight[j - 1] =
            (derivative ? slope(m, j, x) : partial_product(m, j, -1, x)) * m->lagrange[j - 1];
}

void collocation_extrapolation(const collocation *m, const collocation *next, double r, double *E)
{
    int s = m->stages;
    for (int i = 0; i < next->stages; i++) {
        collocation_weights(m, 1.0 + r * next->nodes[i], 0, E + i * s);
        E[i * s + s - 1] -= 1.0; /* q(1) = Z_s, since c_s = 1 */
    }
}
