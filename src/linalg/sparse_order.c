#include "linalg/sparse_order.h"

#include "base/memory.h"
#include "linalg/transversal.h"

#include <limits.h>
#include <math.h>

/* BTF finds its transversal as fast as we do in matrices that are smaller. */
enum { SMALL = 256 };

/* KLU's number for an order whose fill is bounded whatever rows the pivots come from: that of AMD
 * counts on the diagonal. Augmented matrices at singular points of a chain with 200 links: 15 times
 * less fill, 30 times faster. */
enum { COLAMD = 1 };

/* Column by column the rows of the pattern, the one of the transversal first: BTF takes the first
 * row that is free, so that it need not search. */
static void transversal_first(const matrix_layout *layout, const int *column_of, int *rowind)
{
    for (int j = 0; j < layout->n; j++)
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++) {
            if (column_of[rowind[k]] != j) continue;
            int first = rowind[layout->colptr[j]];
            rowind[layout->colptr[j]] = rowind[k];
            rowind[k] = first;
        }
}

/* By the transversal, or without blocks if there is none: BTF would look for one again, from every
 * column in vain. The factorisation then tells that the matrix is singular. */
static klu_symbolic *order_matched(const matrix_layout *layout, int matched, const int *column_of,
                                   int *rowind, klu_common *common)
{
    const int btf = common->btf;
    if (matched < layout->n)
        common->btf = 0;
    else
        transversal_first(layout, column_of, rowind);
    klu_symbolic *symbolic = klu_analyze(layout->n, layout->colptr, rowind, common);
    common->btf = btf;
    return symbolic;
}

/* The pattern of the entries that are not smaller than `part` of the largest of their column, all
 * rows scaled by `most`; returns how many there are */
static int large_entries(const matrix_layout *layout, const double *values, const double *most,
                         double part, int *colptr, int *rowind)
{
    int at = 0;
    for (int j = 0; j < layout->n; j++) {
        double largest = 0.0;
        colptr[j] = at;
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            largest = fmax(largest, fabs(values[k]) / most[layout->rowind[k]]);
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            if (values[k] != 0.0 && fabs(values[k]) / most[layout->rowind[k]] >= part * largest)
                rowind[at++] = layout->rowind[k];
    }
    return colptr[layout->n] = at;
}

int large_transversal(const matrix_layout *layout, const double *values, int *column_of)
{
    static const double PART[] = {0.3, 0.01};
    const int n = layout->n;
    int *colptr = DAE_ARRAY(int, n + 1), *rowind = DAE_ARRAY(int, layout->count);
    double *most = DAE_ARRAY(double, 2 * (size_t)n);
    int matched = colptr && rowind && most ? 0 : -1;
    if (matched == 0) matrix_extents(layout, values, most, most + n);
    for (size_t k = 0; matched >= 0 && matched < n && k < sizeof PART / sizeof *PART; k++) {
        large_entries(layout, values, most, PART[k], colptr, rowind);
        matched = transversal(n, n, colptr, rowind, true, column_of, NULL);
    }
    dae_free_all(colptr, rowind, most);
    if (matched < 0 || matched == n) return matched;
    return transversal(n, n, layout->colptr, layout->rowind, true, column_of, NULL);
}

klu_symbolic *sparse_order(const matrix_layout *layout, const double *values, klu_common *common)
{
    const int n = layout->n;
    if (n < SMALL) return klu_analyze(n, layout->colptr, layout->rowind, common);
    int *column_of = DAE_ARRAY(int, n), matched = -1;
    int *rowind = dae_copy(layout->rowind, layout->count, sizeof *rowind);
    const int ordering = common->ordering;
    klu_symbolic *symbolic = NULL;
    if (column_of && rowind)
        matched = values ? large_transversal(layout, values, column_of)
                         : transversal(n, n, layout->colptr, rowind, true, column_of, NULL);
    if (values) common->ordering = COLAMD;
    if (matched >= 0) symbolic = order_matched(layout, matched, column_of, rowind, common);
    common->ordering = ordering;
    dae_free_all(column_of, rowind);
    return symbolic;
}

double sparse_forecast(const matrix_layout *layout)
{
    klu_common common;
    klu_defaults(&common);
    if (layout->count > INT_MAX) return -1.0;
    klu_symbolic *symbolic = sparse_order(layout, NULL, &common);
    const double work = symbolic ? symbolic->est_flops : -1.0;
    if (symbolic) klu_free_symbolic(&symbolic, &common);
    return work;
}
