/* Inner loops of the Radau methods: small matrices applied to stages, norms and products of all
 * stages at once. */
#include "method/radau_parts.h"

#include "base/vector.h"
#include "base/wide.h"

/* Y_i = a sum_k M_ik X_k for one, two or four variables from j on; a constant number of columns */
#define COMBINE_COLUMN(type)                                                                       \
    do {                                                                                           \
        type x[COLLOCATION_STAGES];                                                                \
        for (int k = 0; k < columns; k++) x[k] = *(const type *)(const void *)(X + k * n + j);     \
        for (int i = 0; i < rows; i++) {                                                           \
            type sum = M[i * columns] * x[0];                                                      \
            for (int k = 1; k < columns; k++) sum += M[i * columns + k] * x[k];                    \
            *(type *)(void *)(Y + i * n + j) = a * sum;                                            \
        }                                                                                          \
    } while (0)

DAE_INLINE void combine(int rows, int columns, int n, double a, const double *restrict M,
                        const double *restrict X, double *restrict Y)
{
    int j = 0;
    for (; j + 3 < n; j += 4) COMBINE_COLUMN(four);
    for (; j + 1 < n; j += 2) COMBINE_COLUMN(two);
    if (j < n) COMBINE_COLUMN(double);
}

DAE_WIDE static void combine_any(int rows, int columns, int n, double a, const double *M,
                                 const double *X, double *Y)
{
    switch (columns) {
    case 1: combine(rows, 1, n, a, M, X, Y); break;
    case 3: combine(rows, 3, n, a, M, X, Y); break;
    case 5: combine(rows, 5, n, a, M, X, Y); break;
    default: combine(rows, 7, n, a, M, X, Y); break;
    }
}

void radau_combine(int rows, int columns, int n, double a, const double *M, const double *X,
                   double *Y)
{
    combine_any(rows, columns, n, a, M, X, Y);
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
