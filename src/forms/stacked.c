#include "forms/stacked.h"

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "linalg/kkt.h"

#include <float.h>
#include <math.h>

/* Pivots below this part of the largest entry of a row count as 0. */
static const double RANK_TOLERANCE = 1e-11;
enum { DENSE_UP_TO = 64 };

const char *const STACKED_DEFICIENT_TEXT =
    "[E; g_x] has not full rank: equations and constraints do not determine a derivative";

struct stacked {
    const quasilinear_form *form; /* borrowed */
    int rows, n;
    bool sparse;
    kkt *factors;
    int *colptr, *rowind; /* sparse: the pattern */
    double *values, *right, *scale;
    double *unit;            /* n: of x'_j */
    double *residual, *size; /* rows: that of x', and |A| |x'| + |b| */
    double *change;          /* n */
};

bool stacked_is_sparse(const stacked *s)
{
    return s->sparse;
}

bool stacked_pattern(const form_matrix *E, const form_matrix *g_x, int **colptr, int **rowind)
{
    const form_matrix *part[] = {E, g_x};
    *colptr = DAE_ARRAY(int, E->columns + 1);
    *rowind = DAE_ARRAY(int, E->count + g_x->count);
    if (!*colptr || !*rowind) return false;
    int at = 0;
    for (int j = 0; j < E->columns; j++) {
        for (int b = 0; b < 2; b++)
            for (form_entry e = form_matrix_column(part[b], j);
                 form_matrix_next(part[b], &e) && e.column == j;)
                (*rowind)[at++] = (b ? E->rows : 0) + e.row;
        (*colptr)[j + 1] = at;
    }
    return true;
}

void stacked_values(const form_matrix *E, const double *E_values, const form_matrix *g_x,
                    const double *g_x_values, double *values)
{
    for (int j = 0; j < E->columns; j++) {
        form_entry e = form_matrix_column(E, j), g = form_matrix_column(g_x, j);
        while (form_matrix_next(E, &e) && e.column == j) *values++ = E_values[e.at];
        while (form_matrix_next(g_x, &g) && g.column == j) *values++ = g_x_values[g.at];
    }
}

void stacked_free(stacked *s)
{
    if (!s) return;
    kkt_free(s->factors);
    dae_free_all(s->colptr, s->rowind, s->values, s->right, s->scale, s->unit, s->residual, s->size,
                 s->change, s);
}

static bool factors_new(stacked *s)
{
    if (s->sparse &&
        !stacked_pattern(&s->form->E_matrix, &s->form->g_x_matrix, &s->colptr, &s->rowind))
        return false;
    s->factors = kkt_new(s->rows, s->n, s->colptr, s->rowind, NULL);
    return s->factors && kkt_reserve(s->factors); /* steps ask for no memory */
}

stacked *stacked_new(const quasilinear_form *form)
{
    const form_matrix *E = &form->E_matrix, *g_x = &form->g_x_matrix;
    stacked *s = DAE_NEW(stacked);
    if (!s) return NULL;
    s->form = form;
    s->rows = form->ne + form->ng;
    s->n = form->n;
    s->sparse = E->colptr && g_x->colptr && s->n > DENSE_UP_TO;
    s->values =
        DAE_ARRAY(double, s->sparse ? E->count + g_x->count : (size_t)s->rows *(size_t)s->n);
    s->right = DAE_ARRAY(double, s->rows);
    s->residual = DAE_ARRAY(double, s->rows);
    s->scale = DAE_ARRAY(double, s->rows);
    s->size = DAE_ARRAY(double, s->rows);
    s->unit = DAE_ARRAY(double, s->n);
    s->change = DAE_ARRAY(double, s->n);
    if (s->values && s->right && s->residual && s->scale && s->size && s->unit && s->change &&
        factors_new(s))
        return s;
    stacked_free(s);
    return NULL;
}

double *stacked_right(stacked *s)
{
    return s->right;
}

/* Values of one part, rows from `first` on, in the dense matrix */
static void place_dense(stacked *s, const form_matrix *m, const double *values, int first)
{
    double *to = s->values + first;
    for (int j = 0; j < s->n; j++) vector_zero(m->rows, to + (size_t)j * (size_t)s->rows);
    form_matrix_place(m, values, 1, (size_t)s->rows, to);
}

/* Rows scaled to a largest entry of 1, with the right-hand side: their units say nothing about the
 * rank */
static void scale_rows(stacked *s)
{
    const size_t rows = (size_t)s->rows;
    const size_t count = s->sparse ? (size_t)s->colptr[s->n] : rows * (size_t)s->n;
    vector_zero(s->rows, s->scale);
    for (size_t q = 0; q < count; q++) {
        const size_t i = s->sparse ? (size_t)s->rowind[q] : q % rows;
        s->scale[i] = fmax(s->scale[i], fabs(s->values[q]));
    }
    for (size_t i = 0; i < rows; i++) s->scale[i] = s->scale[i] > 0.0 ? 1.0 / s->scale[i] : 1.0;
    for (size_t q = 0; q < count; q++)
        s->values[q] *= s->scale[s->sparse ? (size_t)s->rowind[q] : q % rows];
    for (size_t i = 0; i < rows; i++) s->right[i] *= s->scale[i];
}

/* Columns in units of x' that make their largest entries 1 or somewhat more: a solution in the
 * sense of least squares has these, and what is small for its unit alone is not lost in rounding,
 * as the rate of a current of nanoamperes beside that of a voltage. Powers of 2 change no bits. */
static void scale_columns(stacked *s)
{
    const size_t rows = (size_t)s->rows;
    for (size_t j = 0; j < (size_t)s->n; j++) {
        const size_t first = s->sparse ? (size_t)s->colptr[j] : j * rows;
        const size_t end = s->sparse ? (size_t)s->colptr[j + 1] : first + rows;
        double most = 0.0;
        for (size_t q = first; q < end; q++) most = fmax(most, fabs(s->values[q]));
        s->unit[j] = most > 0.0 && isfinite(most) ? ldexp(1.0, -ilogb(most)) : 1.0;
        for (size_t q = first; q < end; q++) s->values[q] *= s->unit[j];
    }
}

/* Factors, and a first solution */
static stacked_status solve(stacked *s, double *x, int *undetermined)
{
    if (kkt_factor(s->factors, s->values, RANK_TOLERANCE, 0.0) != LINEAR_OK) return STACKED_MEMORY;
    if (!s->sparse && kkt_rank(s->factors) < s->n) {
        *undetermined = kkt_undetermined(s->factors);
        return STACKED_DEFICIENT;
    }
    kkt_solve(s->factors, s->right, x);
    *undetermined = vector_first_nonfinite(s->n, x);
    return *undetermined < 0 ? STACKED_OK : STACKED_DEFICIENT;
}

/* The residual of x, and its largest part of a row: of |A| |x| + |b| */
static double judge_residual(stacked *s, const double *x)
{
    double most = 0.0;
    vector_copy(s->rows, s->right, s->residual);
    for (int i = 0; i < s->rows; i++) s->size[i] = fabs(s->right[i]);
    for (size_t j = 0; j < (size_t)s->n; j++) {
        const size_t rows = (size_t)s->rows, first = s->sparse ? (size_t)s->colptr[j] : j * rows;
        const size_t end = s->sparse ? (size_t)s->colptr[j + 1] : first + rows;
        for (size_t q = first; q < end; q++) {
            const size_t i = s->sparse ? (size_t)s->rowind[q] : q - first;
            const double part = s->values[q] * x[j];
            s->residual[i] -= part;
            s->size[i] += fabs(part);
        }
    }
    for (int i = 0; i < s->rows; i++)
        if (s->residual[i] != 0.0) most = fmax(most, fabs(s->residual[i]) / s->size[i]);
    return most;
}

/* Where components are of very different sizes a factorisation leaves rounding errors of the
 * largest in all rows, also in those that it is not in. Corrections leave each row with those of
 * its own, about (n + 1) units in its last place [Hig02 12.2]; they end as those of LAPACK's gerfs.
 */
static void refine(stacked *s, double *x)
{
    enum { MOST = 5 };
    double before = INFINITY;
    for (int k = 0; k < MOST; k++) {
        const double off = judge_residual(s, x);
        if (!(off > (s->n + 1) * DBL_EPSILON) || !(off <= 0.5 * before)) return;
        before = off;
        kkt_solve(s->factors, s->residual, s->change);
        for (int j = 0; j < s->n; j++) x[j] += s->change[j];
    }
}

stacked_status stacked_solve(stacked *s, const double *E, const double *g_x, double *xp,
                             int *undetermined)
{
    const quasilinear_form *f = s->form;
    *undetermined = -1;
    if (s->sparse) {
        stacked_values(&f->E_matrix, E, &f->g_x_matrix, g_x, s->values);
    } else {
        place_dense(s, &f->E_matrix, E, 0);
        place_dense(s, &f->g_x_matrix, g_x, f->ne);
    }
    scale_rows(s);
    scale_columns(s);
    const stacked_status status = solve(s, xp, undetermined);
    if (status == STACKED_OK) refine(s, xp);
    for (int j = 0; j < s->n && status == STACKED_OK; j++) xp[j] *= s->unit[j];
    return status;
}
