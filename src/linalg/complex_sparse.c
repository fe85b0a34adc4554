/* Sparse complex LU: pivots of the real solver of the same layout while they are stable, otherwise
 * of KLU [DPN10] on its symbolic analysis; with these frozen, new values are factored and solved by
 * dense panels (frozen_complex.h). */
#include "linalg/complex_sparse.h"
#include "base/memory.h"
#include "linalg/complex_solver.h"
#include "linalg/frozen_complex.h"

#include <math.h>

/* Old pivots are given up as in the real solver (sparse.c). */
static const double GROWTH_LIMIT = 1e-3;

typedef struct sparse_solver {
    complex_solver base;
    const linear_solver *real; /* borrowed */
    klu_common common;
    frozen_complex *factors; /* owned; NULL before the first factorisation */
    double growth;           /* reciprocal pivot growth when the pivots were chosen */
    bool valid;              /* the factors belong to the last matrix */
    bool pivoted;
} sparse_solver;

static void sparse_free(complex_solver *solver)
{
    sparse_solver *s = (sparse_solver *)solver;
    frozen_complex_free(s->factors);
    dae_free(s);
}

static complex_solver *sparse_analyse(const matrix_layout *layout, const linear_solver *real)
{
    sparse_solver *s = DAE_NEW(sparse_solver);
    if (!s) return NULL;
    s->base = (complex_solver){.ops = &complex_sparse, .layout = layout, .singular_column = -1};
    s->real = real;
    klu_defaults(&s->common);
    s->common.scale = 2; /* rows by their largest entry: no caller can know every unit */
    return &s->base;
}

static linear_status report_singular(sparse_solver *s, int column)
{
    const int n = s->base.layout->n;
    s->base.singular_column = column < 0 ? 0 : column < n ? column : n - 1;
    return LINEAR_SINGULAR;
}

/* What klu_z_extract delivers; it wants room for values, too. */
typedef struct extract {
    int *Lp, *Li, *Up, *Ui, *P, *Q, *R;
    double *Lx, *Lz, *Ux, *Uz;
} extract;

static void extract_free(extract *e)
{
    void *const blocks[] = {e->Lp, e->Li, e->Up, e->Ui, e->P, e->Q,
                            e->R,  e->Lx, e->Lz, e->Ux, e->Uz};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dae_free(blocks[k]);
}

static bool extract_new(extract *e, int n, const klu_numeric *numeric)
{
    e->Lp = DAE_ARRAY(int, n + 1);
    e->Li = DAE_ARRAY(int, numeric->lnz);
    e->Lx = DAE_ARRAY(double, numeric->lnz);
    e->Lz = DAE_ARRAY(double, numeric->lnz);
    e->Up = DAE_ARRAY(int, n + 1);
    e->Ui = DAE_ARRAY(int, numeric->unz);
    e->Ux = DAE_ARRAY(double, numeric->unz);
    e->Uz = DAE_ARRAY(double, numeric->unz);
    e->P = DAE_ARRAY(int, n);
    e->Q = DAE_ARRAY(int, n);
    e->R = DAE_ARRAY(int, n + 1);
    return e->Lp && e->Li && e->Lx && e->Lz && e->Up && e->Ui && e->Ux && e->Uz && e->P && e->Q &&
           e->R;
}

/* Factors on this shape, which may be NULL; false: memory */
static bool adopt(sparse_solver *s, frozen_shape *shape)
{
    frozen_complex *factors = shape ? frozen_complex_new(shape) : NULL;
    frozen_complex_free(s->factors);
    s->factors = factors;
    return factors != NULL;
}

/* Freeze the pivots of a KLU factorisation; false if memory is exhausted. */
static bool freeze(sparse_solver *s, klu_numeric *numeric)
{
    klu_symbolic *symbolic = sparse_symbolic(s->real);
    extract e = {0};
    frozen_shape *shape = NULL;
    if (extract_new(&e, s->base.layout->n, numeric) &&
        klu_z_extract(numeric, symbolic, e.Lp, e.Li, e.Lx, e.Lz, e.Up, e.Ui, e.Ux, e.Uz, NULL, NULL,
                      NULL, NULL, e.P, e.Q, NULL, e.R, &s->common)) {
        lu_pattern pattern = {.Lp = e.Lp,
                              .Li = e.Li,
                              .Up = e.Up,
                              .Ui = e.Ui,
                              .P = e.P,
                              .Q = e.Q,
                              .block = e.R,
                              .blocks = symbolic->nblocks};
        shape = shape_new(s->base.layout, &pattern);
    }
    extract_free(&e);
    bool frozen = adopt(s, shape);
    shape_free(shape);
    return frozen;
}

/* re + i im, interleaved; NULL: memory */
static double *interleaved(const matrix_layout *layout, const double *re, const double *im)
{
    double *values = DAE_ARRAY(double, 2 * layout->count);
    for (size_t k = 0; values && k < layout->count; k++) {
        values[2 * k] = re[k];
        values[2 * k + 1] = im[k];
    }
    return values;
}

/* Factor with fresh pivots of KLU. */
static linear_status factor_fully(sparse_solver *s, const double *re, const double *im)
{
    const matrix_layout *layout = s->base.layout;
    double *values = interleaved(layout, re, im);
    if (!values) return LINEAR_MEMORY;
    s->base.repivots += s->pivoted;
    klu_numeric *numeric =
        klu_z_factor(layout->colptr, layout->rowind, values, sparse_symbolic(s->real), &s->common);
    dae_free(values);
    bool singular = s->common.status == KLU_SINGULAR;
    bool frozen = numeric && !singular && freeze(s, numeric);
    if (numeric) klu_z_free_numeric(&numeric, &s->common);
    if (singular) return report_singular(s, s->common.singular_col);
    if (!frozen) return LINEAR_MEMORY;
    s->pivoted = true;
    int bad = frozen_complex_factor(s->factors, re, im, &s->growth);
    if (bad >= 0) return report_singular(s, bad);
    s->valid = true;
    return LINEAR_OK;
}

/* Factor with the pivots at hand; false if they will not do any more. */
static bool refactor(sparse_solver *s, const double *re, const double *im)
{
    double growth;
    if (frozen_complex_factor(s->factors, re, im, &growth) >= 0) return false;
    return s->valid = growth >= GROWTH_LIMIT * s->growth;
}

/* Factor with the pivots of the real matrix, if they are not those at hand; false: they will not
 * do, or there is no memory for them. */
static bool factor_as_real(sparse_solver *s, const double *re, const double *im)
{
    double growth;
    frozen_shape *shape = sparse_shape(s->real, &growth);
    if (!shape || (s->factors && frozen_complex_shape(s->factors) == shape)) return false;
    if (!adopt(s, shape)) return false;
    s->growth = growth;
    s->pivoted = true;
    return refactor(s, re, im);
}

/* First column that is not finite, or -1 */
static int nonfinite(const matrix_layout *layout, const double *re, const double *im)
{
    double check = 0.0;
    for (size_t k = 0; k < layout->count; k++) check += 0.0 * re[k] + 0.0 * im[k];
    if (check == 0.0) return -1;
    int bad = matrix_nonfinite_column(layout, re);
    return bad >= 0 ? bad : matrix_nonfinite_column(layout, im);
}

static bool sparse_refactor(complex_solver *solver, const double *re, const double *im)
{
    sparse_solver *s = (sparse_solver *)solver;
    s->valid = false;
    solver->singular_column = -1;
    return s->factors && nonfinite(solver->layout, re, im) < 0 && refactor(s, re, im);
}

static size_t sparse_values(const complex_solver *solver)
{
    const sparse_solver *s = (const sparse_solver *)solver;
    if (!s->factors) return 0;
    const frozen_shape *shape = frozen_complex_shape(s->factors);
    return shape_lower(shape) + shape_upper(shape);
}

static linear_status sparse_factor(complex_solver *solver, const double *re, const double *im)
{
    sparse_solver *s = (sparse_solver *)solver;
    solver->singular_column = -1;
    s->valid = false;
    int bad = nonfinite(solver->layout, re, im);
    if (bad >= 0) return report_singular(s, bad);
    if (s->factors && refactor(s, re, im)) return LINEAR_OK;
    if (factor_as_real(s, re, im)) return LINEAR_OK;
    return factor_fully(s, re, im);
}

static void sparse_solve(complex_solver *solver, double *re, double *im)
{
    sparse_solver *s = (sparse_solver *)solver;
    if (s->valid) frozen_complex_solve(s->factors, re, im);
}

const complex_solver_ops complex_sparse = {.name = "klu",
                                           .analyse = sparse_analyse,
                                           .factor = sparse_factor,
                                           .refactor = sparse_refactor,
                                           .values = sparse_values,
                                           .solve = sparse_solve,
                                           .free = sparse_free};
