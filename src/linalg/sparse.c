/* Sparse LU: KLU [DPN10] chooses a block triangular form and an order (AMD) once, and pivots when
 * needed; with these frozen, new values are factored and solved by dense panels (frozen_lu.h) for
 * as long as the pivots stay stable. */
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/complex_sparse.h"
#include "linalg/frozen_lu.h"
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
    frozen_lu *factors;     /* owned; NULL before the first pivoting */
    bool valid;             /* the factors belong to the last matrix */
    double growth;          /* reciprocal pivot growth when the pivots were chosen */
    double norm;            /* ||A||_1 */
    double *work;           /* 2n: for the condition estimate */
    int *iwork;             /* n */
    bool pivoted;           /* pivots have been chosen before */
} sparse_solver;

static void sparse_free(linear_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    frozen_free(s->factors);
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

klu_symbolic *sparse_symbolic(const linear_solver *real)
{
    return ((const sparse_solver *)real)->symbolic;
}

frozen_shape *sparse_shape(const linear_solver *real, double *growth)
{
    const sparse_solver *s = (const sparse_solver *)real;
    *growth = s->growth;
    return s->factors ? frozen_shape_of(s->factors) : NULL;
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

static linear_status report_singular(sparse_solver *s, int column)
{
    const int n = s->base.layout->n;
    s->base.singular_column = column < 0 ? 0 : column < n ? column : n - 1;
    return LINEAR_SINGULAR;
}

/* What klu_extract delivers. */
typedef struct extract {
    int *Lp, *Li, *Up, *Ui, *P, *Q, *R;
    double *Lx, *Ux;
} extract;

static void extract_free(extract *e)
{
    void *const blocks[] = {e->Lp, e->Li, e->Up, e->Ui, e->P, e->Q, e->R, e->Lx, e->Ux};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dae_free(blocks[k]);
}

static bool extract_new(extract *e, int n, const klu_numeric *numeric)
{
    e->Lp = DAE_ARRAY(int, n + 1);
    e->Li = DAE_ARRAY(int, numeric->lnz);
    e->Lx = DAE_ARRAY(double, numeric->lnz);
    e->Up = DAE_ARRAY(int, n + 1);
    e->Ui = DAE_ARRAY(int, numeric->unz);
    e->Ux = DAE_ARRAY(double, numeric->unz);
    e->P = DAE_ARRAY(int, n);
    e->Q = DAE_ARRAY(int, n);
    e->R = DAE_ARRAY(int, n + 1);
    return e->Lp && e->Li && e->Lx && e->Up && e->Ui && e->Ux && e->P && e->Q && e->R;
}

/* Freeze the pivots of a KLU factorisation; false if memory is exhausted. */
static bool freeze(sparse_solver *s, klu_numeric *numeric)
{
    extract e = {0};
    frozen_free(s->factors);
    s->factors = NULL;
    if (extract_new(&e, s->base.layout->n, numeric) &&
        klu_extract(numeric, s->symbolic, e.Lp, e.Li, e.Lx, e.Up, e.Ui, e.Ux, NULL, NULL, NULL, e.P,
                    e.Q, NULL, e.R, &s->common)) {
        lu_pattern pattern = {.Lp = e.Lp,
                              .Li = e.Li,
                              .Up = e.Up,
                              .Ui = e.Ui,
                              .P = e.P,
                              .Q = e.Q,
                              .block = e.R,
                              .blocks = s->symbolic->nblocks};
        s->factors = frozen_new(s->base.layout, &pattern);
    }
    extract_free(&e);
    return s->factors != NULL;
}

/* Factor with fresh pivots. */
static linear_status factor_fully(sparse_solver *s, const double *values)
{
    const matrix_layout *layout = s->base.layout;
    if (interrupted_whole()) return LINEAR_MEMORY;
    if (s->pivoted) s->base.repivots++;
    klu_numeric *numeric =
        klu_factor(layout->colptr, layout->rowind, (double *)values, s->symbolic, &s->common);
    bool singular = s->common.status == KLU_SINGULAR;
    bool frozen = numeric && !singular && freeze(s, numeric);
    if (numeric) klu_free_numeric(&numeric, &s->common);
    if (singular) return report_singular(s, s->common.singular_col);
    if (!frozen) return LINEAR_MEMORY;
    s->pivoted = true;
    int bad = frozen_factor(s->factors, values, &s->growth);
    if (bad >= 0) return report_singular(s, bad);
    s->valid = true;
    return LINEAR_OK;
}

/* Factor with the old pivots; false if they will not do any more. */
static bool refactor(sparse_solver *s, const double *values)
{
    double growth;
    if (frozen_factor(s->factors, values, &growth) >= 0) return false;
    return s->valid = growth >= GROWTH_LIMIT * s->growth;
}

static linear_status sparse_factor(linear_solver *solver, const double *values)
{
    sparse_solver *s = (sparse_solver *)solver;
    int bad;
    s->norm = one_norm(solver->layout, values, &bad);
    s->valid = false;
    solver->singular_column = -1;
    if (bad >= 0) return report_singular(s, bad);
    if (s->factors && refactor(s, values)) return LINEAR_OK;
    return factor_fully(s, values);
}

static void sparse_solve(linear_solver *solver, double *b)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (s->valid) frozen_solve(s->factors, b);
}

/* 1 / (||A||_1 est(||A^-1||_1)) with Higham's estimator [Hig88] */
static double sparse_condition(linear_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    const int n = solver->layout->n;
    if (!s->valid || !(s->norm > 0.0)) return 0.0;
    double inverse = 0.0, *x = s->work, *v = s->work + n;
    int kase = 0, save[3] = {0};
    for (;;) {
        LAPACKE_dlacn2_work(n, v, x, s->iwork, &inverse, &kase, save);
        if (kase == 0) break;
        if (kase == 1)
            frozen_solve(s->factors, x);
        else
            frozen_solve_transpose(s->factors, x);
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
