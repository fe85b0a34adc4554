/* Small matrices applied to the stages of collocation methods. */
#include "method/common/collocation.h"

#include <stdbool.h>

#include "base/wide.h"

/* Y_i = a sum_k M_ik X_k, or that added to Y_i, for one, two or four variables from j on; a
 * constant number of columns */
#define COMBINE_COLUMN(type)                                                                       \
    do {                                                                                           \
        type x[COLLOCATION_STAGES];                                                                \
        for (int k = 0; k < columns; k++) x[k] = *(const type *)(const void *)(X + k * n + j);     \
        for (int i = 0; i < rows; i++) {                                                           \
            type *to = (type *)(void *)(Y + i * n + j), sum = M[i * columns] * x[0];               \
            for (int k = 1; k < columns; k++) sum += M[i * columns + k] * x[k];                    \
            *to = add ? *to + a * sum : a * sum;                                                   \
        }                                                                                          \
    } while (0)

/* Y = a M X for three variables: rows are read and written as four values, of which the last
 * belongs to the next row. What is written there first is written again with that row. */
DAE_INLINE void combine_three(int rows, int columns, double a, const double *restrict M,
                              const double *restrict X, double *restrict Y)
{
    const double *last = X + 3 * (columns - 1);
    four x[COLLOCATION_STAGES];
    for (int k = 0; k < columns - 1; k++) x[k] = *(const four *)(const void *)(X + 3 * k);
    x[columns - 1] = (four){last[0], last[1], last[2], 0.0};
    for (int i = 0; i < rows; i++) {
        four sum = M[i * columns] * x[0];
        for (int k = 1; k < columns; k++) sum += M[i * columns + k] * x[k];
        sum *= a;
        if (i < rows - 1) {
            *(four *)(void *)(Y + 3 * i) = sum;
        } else {
            *(two *)(void *)(Y + 3 * i) = (two){sum[0], sum[1]};
            Y[3 * i + 2] = sum[2];
        }
    }
}

/* The last variables are done twice where that keeps vectors whole, which changes nothing unless
 * sums are added. */
DAE_INLINE void combine(bool add, int rows, int columns, int n, double a, const double *restrict M,
                        const double *restrict X, double *restrict Y)
{
    int j = 0;
    if (!add && n == 3) {
        combine_three(rows, columns, a, M, X, Y);
        return;
    }
    if (!add && n > 3) {
        for (; j + 3 < n; j += 4) COMBINE_COLUMN(four);
        if (j == n) return;
        j = n - 4;
        COMBINE_COLUMN(four);
        return;
    }
    for (; add && j + 3 < n; j += 4) COMBINE_COLUMN(four);
    for (; j + 1 < n; j += 2) COMBINE_COLUMN(two);
    if (j < n) COMBINE_COLUMN(double);
}

DAE_INLINE void combine_rows(bool add, int rows, int columns, int n, double a, const double *M,
                             const double *X, double *Y)
{
    switch (columns) {
    case 1: combine(add, rows, 1, n, a, M, X, Y); break;
    case 2: combine(add, rows, 2, n, a, M, X, Y); break;
    case 3: combine(add, rows, 3, n, a, M, X, Y); break;
    case 4: combine(add, rows, 4, n, a, M, X, Y); break;
    case 5: combine(add, rows, 5, n, a, M, X, Y); break;
    case 6: combine(add, rows, 6, n, a, M, X, Y); break;
    default: combine(add, rows, 7, n, a, M, X, Y); break;
    }
}

/* One row (a value inside a step) and three by three (order 5) without loops: for few variables
 * these are half of the work. Square ones of orders 9 and 13 have constant bounds. */
DAE_INLINE void combine_any(bool add, int rows, int columns, int n, double a, const double *M,
                            const double *X, double *Y)
{
    if (rows == 3 && columns == 3)
        combine(add, 3, 3, n, a, M, X, Y);
    else if (rows == 1)
        combine_rows(add, 1, columns, n, a, M, X, Y);
    else if (rows == 5 && columns == 5)
        combine(add, 5, 5, n, a, M, X, Y);
    else if (rows == 7 && columns == 7)
        combine(add, 7, 7, n, a, M, X, Y);
    else
        combine_rows(add, rows, columns, n, a, M, X, Y);
}

DAE_WIDE static void combine_set(int rows, int columns, int n, double a, const double *M,
                                 const double *X, double *Y)
{
    combine_any(false, rows, columns, n, a, M, X, Y);
}

DAE_WIDE static void combine_add(int rows, int columns, int n, double a, const double *M,
                                 const double *X, double *Y)
{
    combine_any(true, rows, columns, n, a, M, X, Y);
}

void collocation_combine(int rows, int columns, int n, double a, const double *M, const double *X,
                         double *Y)
{
    combine_set(rows, columns, n, a, M, X, Y);
}

void collocation_combine_add(int rows, int columns, int n, double a, const double *M,
                             const double *X, double *Y)
{
    combine_add(rows, columns, n, a, M, X, Y);
}
