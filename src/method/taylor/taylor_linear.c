/* Linear systems of the Taylor series method: the system Jacobian, and what keeps given values. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "method/taylor/taylor_parts.h"

/* ---- messages -------------------------------------------------------------------------------- */

/* The block of the column where the factorisation broke down: its equations and unknowns. */
static void blame_block(taylor_cache *c, int column)
{
    enum { MOST = 4 };
    const series_form *f = c->form;
    const block_form *b = f->blocks;
    char buffer[64];
    const size_t size = sizeof c->reason;
    int block = b->of_column[column], from = b->start[block], count = b->start[block + 1] - from;
    text_list rows = {.text = c->reason, .size = size, .most = MOST}, columns = rows;
    snprintf(c->reason, size, "the equations lose rank: ");
    for (int k = 0; k < count; k++) text_list_add(&rows, "%s", f->set->row[b->rows[from + k]].name);
    text_list_end(&rows);
    text_add(c->reason, size, " do not determine ");
    for (int k = 0; k < count; k++) {
        int j = b->columns[from + k];
        text_list_add(&columns, "%s",
                      equation_set_variable(f->set, j, f->d[j], buffer, sizeof buffer));
    }
    text_list_end(&columns);
    c->variable = c->at[c->place[column] + f->d[column]];
}

attempt_status taylor_blame_equation(taylor_cache *c, int i)
{
    snprintf(c->reason, sizeof c->reason, "the Taylor series has a term that is not finite in %s",
             c->form->set->row[i].name);
    c->variable = -1;
    return ATTEMPT_CONVERGENCE;
}

/* ---- the system Jacobian --------------------------------------------------------------------- */

/* Columns and rows of J may differ by many powers of ten in size; a pivot this much smaller than
 * its column is none. */
attempt_status taylor_factor(taylor_cache *c)
{
    const series_form *f = c->form;
    const double *values = c->J;
    if (c->layout.kind == DAE_STRUCTURE_DENSE) {
        for (size_t k = 0; k < c->layout.count; k++) c->matrix[k] = 0.0;
        for (int j = 0; j < f->n; j++)
            for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++)
                c->matrix[(size_t)f->rowind[k] + (size_t)j * (size_t)f->n] = c->J[k];
        values = c->matrix;
    }
    c->context->eval->stats->factorisations++;
    linear_status status = linear_factor(c->solver, values);
    if (status == LINEAR_OK) return ATTEMPT_OK;
    if (status == LINEAR_MEMORY) return ATTEMPT_MEMORY;
    blame_block(c, c->solver->singular_column < 0 ? 0 : c->solver->singular_column);
    return ATTEMPT_SINGULAR;
}

/* ---- given values ---------------------------------------------------------------------------- */

enum {
    MOST_KEPT = 300
}; /* larger systems, whose normal equations are dense, are projected plainly */

/* Squared weight of x_j^(d_j + stage): 0 if it is kept, or not there. */
static double weight_of(const taylor_cache *c, int j, int stage, bool *kept)
{
    int p = c->form->d[j] + stage, i = p < 0 ? -1 : c->at[c->place[j] + p];
    if (i < 0) return p < 0 ? 0.0 : 1.0;
    if (c->form->kept[i]) {
        *kept = true;
        return 0.0;
    }
    double w = c->context->norm->weights[i];
    return w * w;
}

/* N := A W A' for the rows with c_i + stage >= 0, the unit matrix for the others */
static bool fill_normal(const taylor_cache *c, int stage, double *N)
{
    const series_form *f = c->form;
    size_t n = (size_t)f->n;
    bool kept = false;
    for (int j = 0; j < f->n; j++) {
        double w = weight_of(c, j, stage, &kept);
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++)
            for (int l = f->colptr[j]; l < f->colptr[j + 1]; l++) {
                int a = f->rowind[k], b = f->rowind[l];
                if (f->c[a] + stage < 0 || f->c[b] + stage < 0) continue;
                N[(size_t)a + (size_t)b * n] += c->J[k] * w * c->J[l];
            }
    }
    for (int i = 0; i < f->n; i++)
        if (f->c[i] + stage < 0) N[(size_t)i * (n + 1)] = 1.0;
    return kept;
}

/* N := D N D with a unit diagonal; scale = the diagonal of D */
static bool equilibrate(int n, double *N, double *scale)
{
    for (int i = 0; i < n; i++) {
        double size = N[(size_t)i * (size_t)(n + 1)];
        if (!(size > 0.0)) return false;
        scale[i] = 1.0 / sqrt(size);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) N[(size_t)i + (size_t)j * (size_t)n] *= scale[i] * scale[j];
    return true;
}

/* right := D (D N D)^-1 D right */
static bool solve_normal(taylor_cache *c, double *N, double *scale)
{
    int n = c->form->n;
    matrix_layout layout = {0};
    if (!equilibrate(n, N, scale) || !layout_dense(&layout, n)) return false;
    linear_solver *solver = linear_dense.analyse(&layout, NULL);
    bool ok = solver && linear_factor(solver, N) == LINEAR_OK;
    if (ok && linear_dense.condition(solver) > 1e-14) {
        for (int i = 0; i < n; i++) c->right[i] *= scale[i];
        linear_solve(solver, c->right);
        for (int i = 0; i < n; i++) c->right[i] *= scale[i];
    } else {
        ok = false;
    }
    linear_free(solver);
    layout_free(&layout);
    return ok;
}

bool taylor_keep(taylor_cache *c, int stage)
{
    const series_form *f = c->form;
    if (f->n > MOST_KEPT) return false;
    size_t n = (size_t)f->n;
    double *N = DAE_ARRAY(double, n *(n + 1));
    bool ok = N && fill_normal(c, stage, N), kept = false;
    for (int i = 0; ok && i < f->n; i++)
        if (f->c[i] + stage < 0) c->right[i] = 0.0;
    ok = ok && solve_normal(c, N, N + n * n);
    for (int j = 0; ok && j < f->n; j++) {
        double sum = 0.0;
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++)
            if (f->c[f->rowind[k]] + stage >= 0) sum += c->J[k] * c->right[f->rowind[k]];
        c->more[j] = weight_of(c, j, stage, &kept) * sum;
    }
    dae_free(N);
    return ok;
}
