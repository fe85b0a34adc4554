#include "linalg/row_basis.h"

#include "base/memory.h"
#include "linalg/linear_solver.h"
#include "linalg/transversal.h"

#include <math.h>
#include <string.h>

/* Entries from which a pivot may come: of rows scaled to 1. First large ones alone, then most. */
static const double LARGE[] = {0.3, 1e-3};

/* Columns by their numbers of entries, short ones first: they have the fewest rows to go to. Those
 * of higher derivatives are short, since they are in the last differentiated equations alone. */
static void sort_columns(int n, const int *colptr, int *order, int *start)
{
    int most = 0;
    for (int j = 0; j < n; j++) {
        int length = colptr[j + 1] - colptr[j];
        most = length > most ? length : most;
    }
    memset(start, 0, ((size_t)most + 2) * sizeof *start);
    for (int j = 0; j < n; j++) start[colptr[j + 1] - colptr[j] + 1]++;
    for (int k = 0; k <= most; k++) start[k + 1] += start[k];
    for (int j = 0; j < n; j++) order[start[colptr[j + 1] - colptr[j]]++] = j;
}

/* Columns of A in this order, without entries below `least`; the largest one first, since the first
 * one has the best chance to be taken */
static void large_entries(int n, const int *order, const int *colptr, const int *rowind,
                          const double *values, double least, int *to_colptr, int *to_rowind)
{
    int at = 0;
    for (int k = 0; k < n; k++) {
        const int j = order[k];
        double largest = 0.0;
        to_colptr[k] = at;
        for (int e = colptr[j]; e < colptr[j + 1]; e++) {
            if (!(fabs(values[e]) >= least)) continue;
            to_rowind[at++] = rowind[e];
            if (!(fabs(values[e]) > largest)) continue;
            largest = fabs(values[e]);
            to_rowind[at - 1] = to_rowind[to_colptr[k]];
            to_rowind[to_colptr[k]] = rowind[e];
        }
    }
    to_colptr[n] = at;
}

/* match[i]: a column for row i, all different. work: 2 n + m + 3 and the entries of A */
static basis_status match_rows(int m, int n, const int *colptr, const int *rowind,
                               const double *values, double least, int *match, int *work)
{
    int *to_colptr = work, *order = to_colptr + n + 1, *start = order + n;
    int *to_rowind = start + m + 2;
    sort_columns(n, colptr, order, start);
    large_entries(n, order, colptr, rowind, values, least, to_colptr, to_rowind);
    int matched = transversal(m, n, to_colptr, to_rowind, false, match, NULL);
    if (matched < m) return matched < 0 ? BASIS_MEMORY : BASIS_NOT_FOUND;
    for (int i = 0; i < m; i++) match[i] = order[match[i]];
    return BASIS_FOUND;
}

/* The chosen columns as a matrix of its own; values follow the pattern. */
static int take_columns(int m, const int *match, const int *colptr, const int *rowind,
                        const double *values, int *to_colptr, int *to_rowind, double *to_values)
{
    int at = 0;
    for (int i = 0; i < m; i++) {
        to_colptr[i] = at;
        for (int e = colptr[match[i]]; e < colptr[match[i] + 1]; e++) {
            to_rowind[at] = rowind[e];
            to_values[at++] = values[e];
        }
    }
    return to_colptr[m] = at;
}

/* Whether the square part is regular enough */
static basis_status judge(int m, const int *colptr, const int *rowind, const double *values,
                          double rcond)
{
    matrix_layout layout = {0};
    if (!layout_sparse(&layout, m, colptr, rowind)) return BASIS_MEMORY;
    linear_solver *solver = linear_sparse.analyse(&layout, NULL);
    linear_status status = solver ? linear_factor(solver, values) : LINEAR_MEMORY;
    bool regular = status == LINEAR_OK && solver->ops->condition(solver) > rcond;
    linear_free(solver);
    layout_free(&layout);
    if (status == LINEAR_MEMORY) return BASIS_MEMORY;
    return regular ? BASIS_FOUND : BASIS_NOT_FOUND;
}

basis_status row_basis(int m, int n, const int *colptr, const int *rowind, const double *values,
                       double rcond)
{
    if (m > n) return BASIS_NOT_FOUND;
    const size_t count = (size_t)colptr[n];
    int *work = DAE_ARRAY(int, 2 * (size_t)n + (size_t)m + 3 + count), *match = DAE_ARRAY(int, n);
    int *part_colptr = DAE_ARRAY(int, m + 1), *part_rowind = DAE_ARRAY(int, count);
    double *part = DAE_ARRAY(double, count);
    bool fits = work && match && part_colptr && part_rowind && part;
    basis_status status = fits ? BASIS_NOT_FOUND : BASIS_MEMORY;
    for (size_t k = 0; status == BASIS_NOT_FOUND && k < sizeof LARGE / sizeof *LARGE; k++) {
        status = match_rows(m, n, colptr, rowind, values, LARGE[k], match, work);
        if (status != BASIS_FOUND) continue;
        take_columns(m, match, colptr, rowind, values, part_colptr, part_rowind, part);
        status = judge(m, part_colptr, part_rowind, part, rcond);
    }
    dae_free_all(work, match, part_colptr, part_rowind, part);
    return status;
}
