/* Sparse complex LU by KLU [DPN10], on the symbolic analysis of the real solver of the same layout.
 * Pivots are chosen once and kept for as long as they are stable. */
#include "linalg/complex_sparse.h"
#include "base/memory.h"
#include "linalg/complex_solver.h"

#include <math.h>

/* Old pivots are given up as in the real solver (sparse.c). */
static const double GROWTH_LIMIT = 1e-3;

typedef struct sparse_solver {
    complex_solver base;
    klu_common common;
    klu_symbolic *symbolic; /* borrowed */
    klu_numeric *numeric;   /* owned; NULL before the first factorisation */
    double growth;          /* reciprocal pivot growth when the pivots were chosen */
    double *values;         /* 2 count: interleaved */
    double *x;              /* 2n: right-hand side */
    bool pivoted;
} sparse_solver;

static void sparse_free(complex_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (s->numeric) klu_z_free_numeric(&s->numeric, &s->common);
    dae_free(s->values);
    dae_free(s->x);
    dae_free(s);
}

static complex_solver *sparse_analyse(const matrix_layout *layout, const linear_solver *real)
{
    sparse_solver *s = DAE_NEW(sparse_solver);
    if (!s) return NULL;
    s->base = (complex_solver){.ops = &complex_sparse, .layout = layout, .singular_column = -1};
    s->symbolic = sparse_symbolic(real);
    klu_defaults(&s->common);
    s->common.scale = 2; /* rows by their largest entry: no caller can know every unit */
    s->values = DAE_ARRAY(double, 2 * layout->count);
    s->x = DAE_ARRAY(double, 2 * (size_t)layout->n);
    if (s->values && s->x) return &s->base;
    sparse_free(&s->base);
    return NULL;
}

static linear_status report_singular(sparse_solver *s, int column)
{
    const int n = s->base.layout->n;
    s->base.singular_column = column < 0 ? 0 : column < n ? column : n - 1;
    return LINEAR_SINGULAR;
}

/* min_j max|A(:,j)| / max|U(:,j)|; 0 if it cannot be told */
static double reciprocal_growth(sparse_solver *s)
{
    const matrix_layout *layout = s->base.layout;
    if (!klu_z_rgrowth(layout->colptr, layout->rowind, s->values, s->symbolic, s->numeric,
                       &s->common))
        return 0.0;
    return s->common.rgrowth;
}

/* Factor with fresh pivots. */
static linear_status factor_fully(sparse_solver *s)
{
    const matrix_layout *layout = s->base.layout;
    if (s->numeric) klu_z_free_numeric(&s->numeric, &s->common);
    s->base.repivots += s->pivoted;
    s->numeric = klu_z_factor(layout->colptr, layout->rowind, s->values, s->symbolic, &s->common);
    if (s->common.status == KLU_SINGULAR) {
        if (s->numeric) klu_z_free_numeric(&s->numeric, &s->common);
        return report_singular(s, s->common.singular_col);
    }
    if (!s->numeric) return LINEAR_MEMORY;
    s->pivoted = true;
    s->growth = reciprocal_growth(s);
    return LINEAR_OK;
}

/* Factor with the old pivots; false if they will not do any more. */
static bool refactor(sparse_solver *s)
{
    const matrix_layout *layout = s->base.layout;
    if (!klu_z_refactor(layout->colptr, layout->rowind, s->values, s->symbolic, s->numeric,
                        &s->common))
        return false;
    if (s->common.status != KLU_OK) return false;
    double growth = reciprocal_growth(s);
    return growth > 0.0 && growth >= GROWTH_LIMIT * s->growth;
}

/* Whether all is finite; interleaves on the way. */
static bool load(sparse_solver *s, const double *re, const double *im)
{
    const size_t count = s->base.layout->count;
    double check = 0.0;
    for (size_t k = 0; k < count; k++) {
        s->values[2 * k] = re[k];
        s->values[2 * k + 1] = im[k];
        check += 0.0 * re[k] + 0.0 * im[k];
    }
    return check == 0.0;
}

static linear_status sparse_factor(complex_solver *solver, const double *re, const double *im)
{
    sparse_solver *s = (sparse_solver *)solver;
    solver->singular_column = -1;
    if (!load(s, re, im)) {
        int bad = matrix_nonfinite_column(solver->layout, re);
        return report_singular(s, bad >= 0 ? bad : matrix_nonfinite_column(solver->layout, im));
    }
    if (s->numeric && refactor(s)) return LINEAR_OK;
    return factor_fully(s);
}

static void sparse_solve(complex_solver *solver, double *re, double *im)
{
    sparse_solver *s = (sparse_solver *)solver;
    const int n = solver->layout->n;
    if (!s->numeric) return;
    for (int i = 0; i < n; i++) {
        s->x[2 * i] = re[i];
        s->x[2 * i + 1] = im[i];
    }
    klu_z_solve(s->symbolic, s->numeric, n, 1, s->x, &s->common);
    for (int i = 0; i < n; i++) {
        re[i] = s->x[2 * i];
        im[i] = s->x[2 * i + 1];
    }
}

const complex_solver_ops complex_sparse = {.name = "klu",
                                           .analyse = sparse_analyse,
                                           .factor = sparse_factor,
                                           .solve = sparse_solve,
                                           .free = sparse_free};
