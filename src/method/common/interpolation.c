#include "method/common/interpolation.h"

void interpolation_row(int count, const double *t, double at, int d, double *w)
{
    for (int i = 0; i < count; i++) {
        double value = 1.0, slope = 0.0;
        for (int j = 0; j < count; j++) {
            if (j == i) continue;
            double factor = (at - t[j]) / (t[i] - t[j]);
            if (d) slope = slope * factor + value / (t[i] - t[j]);
            value *= factor;
        }
        w[i] = d ? slope : value;
    }
}

double lagrange_term(int count, const double *t, int i, double at, double *slope)
{
    double value = 1.0;
    *slope = 0.0;
    for (int j = 0; j < count; j++) {
        if (j == i) continue;
        double gap = t[i] - t[j];
        *slope = (*slope * (at - t[j]) + value) / gap;
        value *= (at - t[j]) / gap;
    }
    return value;
}

void cubic_ends(double x, double h, int derivative, double *left, double *right)
{
    double u = 1.0 - x;
    *left = derivative ? u * (1.0 - 3.0 * x) : h * x * u * u;
    *right = derivative ? x * (3.0 * x - 2.0) : -h * x * x * u;
}
