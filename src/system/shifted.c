#include "system/shifted.h"

#include "base/memory.h"

void shifted_free(struct shifted *s)
{
    if (!s) return;
    for (int k = 0; k < SHIFTED_MOST; k++) complex_free(s->solver[k]);
    dae_free(s->re);
    dae_free(s->im);
    dae_free(s);
}

static bool allocate(struct shifted *s, const iteration *it, int count)
{
    const matrix_layout *layout = &it->jac.layout;
    if (!s->re) s->re = DAE_ARRAY(double, layout->count);
    if (!s->im) s->im = DAE_ARRAY(double, layout->count);
    if (!s->re || !s->im) return false;
    for (int k = 0; k < count; k++) {
        if (s->solver[k]) continue;
        s->solver[k] = complex_solver_for(layout)->analyse(layout, it->solver);
        if (!s->solver[k]) return false;
    }
    return true;
}

bool shifted_prepare(iteration *it, int count)
{
    if (it->matrix_free || it->jac.undetected || !it->solver) return false;
    if (!it->shifted) it->shifted = DAE_NEW(struct shifted);
    if (it->shifted && allocate(it->shifted, it, count)) return true;
    shifted_free(it->shifted);
    it->shifted = NULL;
    return false;
}

/* re + i im = D (dF/dy + (a + i b) dF/dy'), D the row scales */
static void combine(iteration *it, double a, double b)
{
    const matrix_layout *layout = &it->jac.layout;
    const double *restrict f = it->jac.dfdy, *restrict g = it->jac.dfdyp;
    double *restrict re = it->shifted->re, *restrict im = it->shifted->im;
    for (size_t k = 0; k < layout->count; k++) {
        re[k] = f[k] + a * g[k];
        im[k] = b * g[k];
    }
    if (it->scaled_count == 0) return;
    for (int c = 0; c < layout->n; c++) { /* scaled rows have no dF/dy': only re matters */
        matrix_column column = layout_column(layout, c);
        for (int k = 0; k < column.count; k++)
            re[column.first + (size_t)k] *= it->row_scale[column_row(&column, k)];
    }
}

iteration_status shifted_factor(iteration *it, int k, double re, double im)
{
    complex_solver *solver = it->shifted->solver[k];
    dae_stats *stats = it->eval->stats;
    long repivots = solver->repivots;
    combine(it, re, im);
    linear_status status = solver->ops->factor(solver, it->shifted->re, it->shifted->im);
    stats->factorizations++;
    stats->repivots += solver->repivots - repivots;
    it->singular_column = solver->singular_column;
    if (status == LINEAR_MEMORY) return ITERATION_MEMORY;
    return status == LINEAR_OK ? ITERATION_OK : ITERATION_SINGULAR;
}

void shifted_solve(iteration *it, int k, double *re, double *im)
{
    complex_solver *solver = it->shifted->solver[k];
    for (int s = 0; s < it->scaled_count; s++) {
        int row = it->scaled_rows[s];
        re[row] *= it->row_scale[row];
        im[row] *= it->row_scale[row];
    }
    it->eval->stats->solves++;
    solver->ops->solve(solver, re, im);
}
