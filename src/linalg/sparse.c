/* Sparse LU by KLU [DPN10]: block triangular form and AMD once, then refactorisations with the
 * pivots of the last full factorisation for as long as they stay stable. */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/linear_solver.h"

#include <float.h>
#include <klu.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

/* Old pivots are given up when the reciprocal pivot growth min_j max|A(:,j)| / max|U(:,j)| falls
 * below this part of what it was when they were chosen: at most 3 more digits are lost, as many as
 * KLU's own threshold pivoting (common.tol = 0.001) risks. */
static const double GROWTH_LIMIT = 1e-3;

typedef struct sparse_solver {
    linear_solver base;
    klu_common common;
    klu_symbolic *symbolic; /* owned */
    klu_numeric *numeric;   /* owned; NULL while there are no factors */
    double growth;          /* reciprocal pivot growth when the pivots were chosen */
    double norm;            /* ||A||_1 */
    double *work;           /* 2n: for the condition estimate */
    int *iwork;             /* n */
    bool pivoted;           /* a full factorisation has succeeded before */
} sparse_solver;

static void sparse_free(linear_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    if (s->symbolic) klu_free_symbolic(&s->symbolic, &s->common);
    dae_free(s->work);
    dae_free(s->iwork);
    dae_free(s);
}

static linear_solver *sparse_analyse(const matrix_layout *layout)
{
    if (layout->count > INT_MAX) return NULL;
    sparse_solver *s = DAE_NEW(sparse_solver);
    if (!s) return NULL;
    s->base = (linear_solver){.ops = &linear_sparse, .layout = layout, .singular_column = -1};
    klu_defaults(&s->common);
    s->common.scale = 2; /* rows by their largest entry: no caller can know every unit */
    s->work = DAE_ARRAY(double, 2 * (size_t)layout->n);
    s->iwork = DAE_ARRAY(int, layout->n);
    if (s->work && s->iwork)
        s->symbolic = klu_analyze(layout->n, layout->colptr, layout->rowind, &s->common);
    if (s->symbolic) return &s->base;
    sparse_free(&s->base);
    return NULL;
}

/* ||A||_1, or the first column that is not finite in *bad (else -1) */
static double one_norm(const matrix_layout *layout, const double *values, int *bad)
{
    double most = 0.0;
    *bad = -1;
    for (int j = 0; j < layout->n; j++) {
        double sum = 0.0;
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++) sum += fabs(values[k]);
        if (!(sum <= DBL_MAX)) {
            *bad = j;
            return sum;
        }
        if (sum > most) most = sum;
    }
    return most;
}

/* Column of the first pivot that is zero or not finite, or -1. KLU itself does not look at the
 * pivots of 1 x 1 blocks in a refactorisation. */
static int unusable_pivot(const sparse_solver *s)
{
    const double *pivot = s->numeric->Udiag;
    for (int k = 0; k < s->base.layout->n; k++)
        if (!(fabs(pivot[k]) >= DBL_MIN && fabs(pivot[k]) <= DBL_MAX)) return s->symbolic->Q[k];
    return -1;
}

static linear_status report_singular(sparse_solver *s, int column)
{
    const int n = s->base.layout->n;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    s->base.singular_column = column < 0 ? 0 : column < n ? column : n - 1;
    return LINEAR_SINGULAR;
}

/* Reciprocal pivot growth of the current factors */
static double pivot_growth(sparse_solver *s, const double *values)
{
    const matrix_layout *layout = s->base.layout;
    klu_rgrowth(layout->colptr, layout->rowind, (double *)values, s->symbolic, s->numeric,
                &s->common);
    return s->common.rgrowth;
}

/* Refactor with the old pivots; false if they will not do any more. */
static bool refactor(sparse_solver *s, const double *values)
{
    const matrix_layout *layout = s->base.layout;
    if (!klu_refactor(layout->colptr, layout->rowind, (double *)values, s->symbolic, s->numeric,
                      &s->common) ||
        s->common.status != KLU_OK)
        return false;
    if (unusable_pivot(s) >= 0) return false;
    return pivot_growth(s, values) >= GROWTH_LIMIT * s->growth;
}

/* Factor with fresh pivots. */
static linear_status factor_fully(sparse_solver *s, const double *values)
{
    const matrix_layout *layout = s->base.layout;
    if (s->numeric) klu_free_numeric(&s->numeric, &s->common);
    if (s->pivoted) s->base.repivots++;
    s->numeric =
        klu_factor(layout->colptr, layout->rowind, (double *)values, s->symbolic, &s->common);
    if (s->common.status == KLU_SINGULAR) return report_singular(s, s->common.singular_col);
    if (!s->numeric) return LINEAR_MEMORY;
    int bad = unusable_pivot(s);
    if (bad >= 0) return report_singular(s, bad);
    s->growth = pivot_growth(s, values);
    s->pivoted = true;
    return LINEAR_OK;
}

static linear_status sparse_factor(linear_solver *solver, const double *values)
{
    sparse_solver *s = (sparse_solver *)solver;
    int bad;
    s->norm = one_norm(solver->layout, values, &bad);
    if (bad >= 0) return report_singular(s, bad);
    solver->singular_column = -1;
    if (s->numeric && refactor(s, values)) return LINEAR_OK;
    return factor_fully(s, values);
}

static void sparse_solve(linear_solver *solver, double *b)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (s->numeric) klu_solve(s->symbolic, s->numeric, solver->layout->n, 1, b, &s->common);
}

/* 1 / (||A||_1 est(||A^-1||_1)) with Higham's estimator [Hig88] */
static double sparse_condition(linear_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    const int n = solver->layout->n;
    if (!s->numeric || !(s->norm > 0.0)) return 0.0;
    double inverse = 0.0, *x = s->work, *v = s->work + n;
    int kase = 0, save[3] = {0};
    for (;;) {
        LAPACKE_dlacn2_work(n, v, x, s->iwork, &inverse, &kase, save);
        if (kase == 0) break;
        if (kase == 1)
            klu_solve(s->symbolic, s->numeric, n, 1, x, &s->common);
        else
            klu_tsolve(s->symbolic, s->numeric, n, 1, x, &s->common);
    }
    double rcond = 1.0 / s->norm / inverse;
    return rcond <= 1.0 ? rcond : 1.0;
}

const linear_solver_ops linear_sparse = {.name = "klu",
                                         .analyse = sparse_analyse,
                                         .factor = sparse_factor,
                                         .solve = sparse_solve,
                                         .condition = sparse_condition,
                                         .free = sparse_free};
