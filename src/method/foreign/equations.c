/* The equations as an integrator from outside sees them: sizes, names, pattern, values. */
#include "method/foreign/equations.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/transversal.h"

int dae_equations_size(const dae_equations *q)
{
    return q ? q->eval->problem->form.n : 0;
}

const char *dae_equations_unknown(const dae_equations *q, int i)
{
    return q ? problem_variable(q->eval->problem, i) : NULL;
}

const char *dae_equations_row(const dae_equations *q, int i)
{
    return q ? problem_equation(q->eval->problem, i) : NULL;
}

void dae_equations_pattern(const dae_equations *q, const int **colptr, const int **rowind)
{
    const matrix_layout *layout = q ? &q->eval->problem->layout : NULL;
    const bool sparse = layout && layout->kind == DAE_STRUCTURE_SPARSE;
    *colptr = sparse ? layout->colptr : NULL;
    *rowind = sparse ? layout->rowind : NULL;
}

dae_status dae_equations_match(const dae_equations *q, int *row_of)
{
    if (!q || !row_of) return DAE_ERR_ARGUMENT;
    const matrix_layout *layout = &q->eval->problem->layout;
    if (layout->kind != DAE_STRUCTURE_SPARSE) return DAE_ERR_UNSUPPORTED;
    int *column_of = DAE_ARRAY(int, layout->n);
    if (!column_of) return DAE_ERR_MEMORY;
    int matched =
        transversal(layout->n, layout->n, layout->colptr, layout->rowind, true, column_of, NULL);
    for (int i = 0; i < layout->n && matched == layout->n; i++) row_of[column_of[i]] = i;
    dae_free(column_of);
    return matched == layout->n ? DAE_OK : matched < 0 ? DAE_ERR_MEMORY : DAE_ERR_SINGULAR;
}

void dae_equations_kinds(const dae_equations *q, dae_kind *kinds)
{
    for (int i = 0; i < dae_equations_size(q); i++) kinds[i] = q->norm->kinds[i];
}

void dae_equations_tolerances(const dae_equations *q, double *rtol, double *atol)
{
    const error_norm *norm = q->norm;
    for (int i = 0; i < dae_equations_size(q); i++) {
        rtol[i] = norm->rtol_by_unknown ? norm->rtol_by_unknown[i] : norm->rtol;
        atol[i] = norm->atol_by_unknown ? norm->atol_by_unknown[i] : norm->atol;
        if (norm->floor) atol[i] = fmax(atol[i], norm->floor[i]);
    }
}

int dae_equations_residual(dae_equations *q, double t, const double *y, const double *yp, double *f)
{
    return evaluate_residual(q->eval, t, y, yp, f, &q->eval->stats->residuals);
}

int dae_equations_residual_rows(dae_equations *q, double t, const double *y, const double *yp,
                                const int *rows, int count, double *f)
{
    return evaluate_rows(q->eval, t, y, yp, rows, count, f);
}

int dae_equations_jacobian(dae_equations *q, double t, const double *y, const double *yp,
                           double *dfdy, double *dfdyp)
{
    q->eval->stats->jacobians++;
    return evaluate_jacobian(q->eval, &q->eval->problem->layout, t, y, yp, dfdy, dfdyp);
}

int dae_equations_jacobian_rows(dae_equations *q, double t, const double *y, const double *yp,
                                const int *rows, int count, double *dfdy, double *dfdyp)
{
    q->eval->stats->jacobians++;
    return evaluate_jacobian_rows(q->eval, t, y, yp, rows, count, dfdy, dfdyp);
}
