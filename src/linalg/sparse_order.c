#include "linalg/sparse_order.h"

#include "base/memory.h"
#include "linalg/transversal.h"

/* BTF finds its transversal as fast as we do in matrices that are smaller. */
enum { SMALL = 256 };

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

klu_symbolic *sparse_order(const matrix_layout *layout, klu_common *common)
{
    const int n = layout->n;
    if (n < SMALL) return klu_analyze(n, layout->colptr, layout->rowind, common);
    int *column_of = DAE_ARRAY(int, n), matched = -1;
    int *rowind = dae_copy(layout->rowind, layout->count, sizeof *rowind);
    klu_symbolic *symbolic = NULL;
    if (column_of && rowind)
        matched = transversal(n, n, layout->colptr, layout->rowind, true, column_of, NULL);
    if (matched >= 0) symbolic = order_matched(layout, matched, column_of, rowind, common);
    dae_free_all(column_of, rowind);
    return symbolic;
}
