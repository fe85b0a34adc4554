/* Inner loops of the Radau methods: norms and products of all stages at once. */
#include "method/implicit/radau_parts.h"

#include "base/vector.h"

void radau_combine(int rows, int columns, int n, double a, const double *M, const double *X,
                   double *Y)
{
    collocation_combine(rows, columns, n, a, M, X, Y);
}

void radau_transform(int s, int n, double a, const double *M, const double *X, double *Y)
{
    radau_combine(s, s, n, a, M, X, Y);
}

/* sum_i ||D_i||^2 n by the caller's norm */
static double squares_by_user(const error_norm *norm, int s, const double *D)
{
    double sum = 0.0;
    for (int i = 0; i < s; i++) {
        double size = norm_of(norm, D + (size_t)i * (size_t)norm->n, norm->newton);
        sum += size * size * norm->n;
    }
    return sum;
}

double radau_correct(const error_norm *norm, int s, const double *restrict D, double *restrict Z)
{
    const int n = norm->n;
    const double *restrict scale = norm->newton;
    double sum = 0.0;
    if (norm->user_norm) {
        sum = squares_by_user(norm, s, D);
        vector_axpy(s * n, 1.0, D, Z);
        return sum;
    }
    for (int i = 0; i < s; i++, D += n, Z += n)
        for (int j = 0; j < n; j++) {
            const double d = D[j] * scale[j];
            Z[j] += D[j];
            sum += d * d;
        }
    return sum;
}

double radau_product(const error_norm *norm, int s, const double *restrict X,
                     const double *restrict Y)
{
    const int n = norm->n;
    const double *restrict scale = norm->newton;
    double sum = 0.0;
    for (int i = 0; i < s; i++, X += n, Y += n)
        for (int j = 0; j < n; j++) sum += (X[j] * scale[j]) * (Y[j] * scale[j]);
    return sum;
}
