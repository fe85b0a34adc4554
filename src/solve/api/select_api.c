/* Procedure 3.11 of [Baese17] as a public call. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/pivoting.h"

static dae_status check_arguments(int ng, int n, const double *g_x, double tolerance,
                                  const int *unknowns, dae_diag *diag)
{
    if (ng < 1 || n < ng || n > 10000 || !g_x || !unknowns)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "dae_select_unknowns needs a matrix of ng rows and n columns, 1 <= ng <= n "
                        "<= 10000, and room for ng unknowns; ng is %d, n is %d.",
                        ng, n);
    if (!(tolerance >= 0.0 && tolerance < 1.0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "pivot_tolerance of dae_select_unknowns is %g; it must be in [0, 1).",
                        tolerance);
    if (!vector_all_finite((size_t)ng * (size_t)n, g_x))
        return diag_set(diag, DAE_ERR_ARGUMENT, "g_x must have finite entries.");
    return DAE_OK;
}

/* What the elimination could not do. */
static dae_status explain(select_status status, int row, int column, dae_diag *diag)
{
    if (status == SELECT_OK) return DAE_OK;
    diag_set(diag, DAE_ERR_SINGULAR,
             status == SELECT_DEPENDENT
                 ? "Constraint g[%d] depends on the others: g_x has not full rank."
                 : "No constraint determines unknown x[%d], which is required.",
             status == SELECT_DEPENDENT ? row : column);
    if (diag) diag->equation = status == SELECT_DEPENDENT ? row : -1;
    if (diag) diag->variable = status == SELECT_DEPENDENT ? -1 : column;
    return DAE_ERR_SINGULAR;
}

dae_status dae_select_unknowns(int ng, int n, const double *g_x, const bool *required,
                               double pivot_tolerance, int *unknowns, int *rows, dae_diag *diag)
{
    diag_clear(diag);
    dae_status status = check_arguments(ng, n, g_x, pivot_tolerance, unknowns, diag);
    if (status != DAE_OK) return status;
    double *copy = dae_copy(g_x, (size_t)ng * (size_t)n, sizeof *copy);
    int *order = DAE_ARRAY(int, 2 * (size_t)ng + (size_t)n + 1), row = -1, column = -1;
    int *chosen = order ? order + ng + n : NULL; /* one more than ng: a required one too many */
    if (copy && order) {
        double tolerance = pivot_tolerance > 0.0 ? pivot_tolerance : 1e-15;
        select_status selected =
            select_dense(ng, n, copy, required, tolerance, order, chosen, &row, &column);
        status = explain(selected, row, column, diag);
        for (int k = 0; status == DAE_OK && k < ng; k++) {
            unknowns[k] = chosen[k];
            if (rows) rows[k] = order[k];
        }
    } else {
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a matrix of %d columns.", n);
    }
    dae_free_all(copy, order);
    return status;
}
