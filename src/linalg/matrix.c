#include "linalg/matrix.h"

#include "base/memory.h"
#include "base/vector.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

bool layout_dense(matrix_layout *layout, int n)
{
    *layout = (matrix_layout){.kind = DAE_STRUCTURE_DENSE, .n = n};
    layout->count = (size_t)n * (size_t)n;
    return layout->count <= SIZE_MAX / sizeof(double);
}

bool layout_banded(matrix_layout *layout, int n, int lower, int upper)
{
    *layout = (matrix_layout){.kind = DAE_STRUCTURE_BANDED, .n = n, .lower = lower, .upper = upper};
    layout->count = (size_t)n * ((size_t)lower + (size_t)upper + 1);
    return layout->count <= SIZE_MAX / sizeof(double);
}

bool layout_sparse(matrix_layout *layout, int n, const int *colptr, const int *rowind)
{
    *layout = (matrix_layout){.kind = DAE_STRUCTURE_SPARSE, .n = n};
    layout->count = (size_t)colptr[n];
    layout->colptr = dae_copy(colptr, (size_t)n + 1, sizeof *colptr);
    layout->rowind = dae_copy(rowind, layout->count, sizeof *rowind);
    if (layout->colptr && layout->rowind) return true;
    layout_free(layout);
    return false;
}

bool layout_copy(matrix_layout *layout, const matrix_layout *source)
{
    if (source->kind == DAE_STRUCTURE_SPARSE)
        return layout_sparse(layout, source->n, source->colptr, source->rowind);
    *layout = *source;
    return true;
}

void layout_free(matrix_layout *layout)
{
    dae_free_all(layout->colptr, layout->rowind);
    *layout = (matrix_layout){0};
}

matrix_column layout_column(const matrix_layout *layout, int j)
{
    const int n = layout->n;
    if (layout->kind == DAE_STRUCTURE_SPARSE) {
        int first = layout->colptr[j];
        return (matrix_column){.count = layout->colptr[j + 1] - first,
                               .first = (size_t)first,
                               .rows = layout->rowind + first};
    }
    if (layout->kind == DAE_STRUCTURE_DENSE)
        return (matrix_column){.count = n, .first = (size_t)j * (size_t)n};
    int top = layout->upper < j ? j - layout->upper : 0;
    int bottom = layout->lower < n - 1 - j ? j + layout->lower : n - 1;
    size_t width = (size_t)layout->lower + (size_t)layout->upper + 1;
    return (matrix_column){.count = bottom - top + 1,
                           .first = (size_t)(layout->upper - (j - top)) + (size_t)j * width,
                           .top = top};
}

size_t layout_place(const matrix_layout *layout, int row, int j)
{
    matrix_column column = layout_column(layout, j);
    if (!column.rows) {
        bool inside = row >= column.top && row < column.top + column.count;
        return inside ? column.first + (size_t)(row - column.top) : SIZE_MAX;
    }
    int low = 0, high = column.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (column.rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < column.count && column.rows[low] == row ? column.first + (size_t)low : SIZE_MAX;
}

const char *pattern_check(int n, const int *colptr, const int *rowind, int *column)
{
    *column = 0;
    if (colptr[0] != 0) return "colptr[0] is not 0";
    for (*column = 0; *column < n; ++*column)
        if (colptr[*column + 1] < colptr[*column]) return "colptr decreases";
    for (int j = 0; j < n; j++) {
        *column = j;
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            if (rowind[k] < 0 || rowind[k] >= n) return "a row index is out of range";
            if (k > colptr[j] && rowind[k] == rowind[k - 1]) return "a row index appears twice";
            if (k > colptr[j] && rowind[k] < rowind[k - 1]) return "row indices are not sorted";
        }
    }
    *column = -1;
    return NULL;
}

void pattern_bandwidth(const matrix_layout *layout, int *lower, int *upper)
{
    *lower = *upper = 0;
    for (int j = 0; j < layout->n; j++) {
        matrix_column c = layout_column(layout, j);
        if (c.count == 0) continue;
        int top = column_row(&c, 0), bottom = column_row(&c, c.count - 1);
        if (j - top > *upper) *upper = j - top;
        if (bottom - j > *lower) *lower = bottom - j;
    }
}

int matrix_nonfinite_column(const matrix_layout *layout, const double *values)
{
    if (vector_all_finite(layout->count, values)) return -1;
    for (int j = 0; j < layout->n; j++) { /* the corners of a band may hold anything */
        matrix_column c = layout_column(layout, j);
        if (!vector_all_finite((size_t)c.count, values + c.first)) return j;
    }
    return -1;
}

double matrix_one_norm(const matrix_layout *layout, const double *values)
{
    double most = 0.0;
    for (int j = 0; j < layout->n; j++) {
        const matrix_column c = layout_column(layout, j);
        double sum = 0.0;
        for (int k = 0; k < c.count; k++) sum += fabs(values[c.first + (size_t)k]);
        if (!(sum <= most)) most = sum;
    }
    return most;
}

/* y = A x, dense: two columns a sweep, so that y travels half as often */
static void multiply_dense(int n, const double *restrict A, const double *restrict x,
                           double *restrict y)
{
    int j = 0;
    for (; j + 1 < n; j += 2) {
        const double *restrict a = A + (size_t)j * (size_t)n, *restrict b = a + n;
        const double xa = x[j], xb = x[j + 1];
        for (int i = 0; i < n; i++) y[i] += a[i] * xa + b[i] * xb;
    }
    if (j < n) {
        const double *restrict a = A + (size_t)j * (size_t)n;
        for (int i = 0; i < n; i++) y[i] += a[i] * x[j];
    }
}

/* y = A x, compressed columns */
static void multiply_sparse(int n, const int *restrict colptr, const int *restrict rowind,
                            const double *restrict A, const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; j++) {
        const double xj = x[j];
        for (int k = colptr[j]; k < colptr[j + 1]; k++) y[rowind[k]] += A[k] * xj;
    }
}

/* y = A x, banded */
static void multiply_banded(const matrix_layout *layout, const double *A, const double *x,
                            double *y)
{
    for (int j = 0; j < layout->n; j++) {
        matrix_column c = layout_column(layout, j);
        vector_axpy(c.count, x[j], A + c.first, y + c.top);
    }
}

void matrix_multiply(const matrix_layout *layout, const double *values, const double *x, double *y)
{
    vector_zero(layout->n, y);
    if (layout->kind == DAE_STRUCTURE_DENSE)
        multiply_dense(layout->n, values, x, y);
    else if (layout->kind == DAE_STRUCTURE_SPARSE)
        multiply_sparse(layout->n, layout->colptr, layout->rowind, values, x, y);
    else
        multiply_banded(layout, values, x, y);
}

double matrix_column_dot(const matrix_layout *layout, int j, const double *values, const double *x)
{
    const matrix_column column = layout_column(layout, j);
    double sum = 0.0;
    for (int k = 0; k < column.count; k++)
        sum += values[column.first + (size_t)k] * x[column_row(&column, k)];
    return sum;
}

void matrix_combine(const matrix_layout *layout, double a, const double *A, double b,
                    const double *B, double *C)
{
    const size_t count = layout->count;
    const double *restrict p = A, *restrict q = B;
    double *restrict r = C;
    if (a == 1.0)
        for (size_t k = 0; k < count; k++) r[k] = p[k] + b * q[k];
    else
        for (size_t k = 0; k < count; k++) r[k] = a * p[k] + b * q[k];
}

void matrix_combine_columns(const matrix_layout *layout, const double *a, const double *A,
                            const double *b, const double *B, double *C)
{
    for (int j = 0; j < layout->n; j++) {
        matrix_column c = layout_column(layout, j);
        const double aj = a[j], bj = b[j];
        const double *restrict p = A + c.first, *restrict q = B + c.first;
        double *restrict r = C + c.first;
        for (int k = 0; k < c.count; k++) r[k] = aj * p[k] + bj * q[k];
    }
}

void matrix_scale_rows(const matrix_layout *layout, const double *r, double *A)
{
    if (layout->kind == DAE_STRUCTURE_SPARSE) {
        const int *restrict row = layout->rowind;
        double *restrict a = A;
        for (size_t k = 0; k < layout->count; k++) a[k] *= r[row[k]];
        return;
    }
    for (int j = 0; j < layout->n; j++) {
        matrix_column c = layout_column(layout, j);
        const double *restrict s = r + c.top;
        double *restrict a = A + c.first;
        for (int k = 0; k < c.count; k++) a[k] *= s[k];
    }
}

void matrix_extents(const matrix_layout *layout, const double *A, double *row_max,
                    double *column_max)
{
    if (row_max) vector_zero(layout->n, row_max);
    for (int j = 0; j < layout->n; j++) {
        matrix_column c = layout_column(layout, j);
        double most = 0.0;
        for (int k = 0; k < c.count; k++) {
            double size = fabs(A[c.first + (size_t)k]);
            int i = column_row(&c, k);
            if (row_max && size > row_max[i]) row_max[i] = size;
            if (size > most) most = size;
        }
        if (column_max) column_max[j] = most;
    }
}

void layout_persist(matrix_layout *layout, persist *p)
{
    PERSIST_STRUCT(p, layout, GAPS(matrix_layout, colptr, rowind));
    if (layout->n < 0) persist_refuse(p, "a matrix has no size");
    PERSIST_OWNED(p, layout->colptr, layout->n + 1);
    PERSIST_OWNED(p, layout->rowind, layout->count);
}
