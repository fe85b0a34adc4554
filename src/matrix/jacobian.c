#include "matrix/jacobian.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/team.h"
#include "base/vector.h"
#include "linalg/elimination_shape.h"
#include "matrix/jacobian_parts.h"

#include <float.h>

enum {
    DETECT_FROM = 60, /* unknown structure: below this n dense LU costs less than finding it */
    DENSE_BELOW = 20, /* known structure: below this n dense LU beats KLU and band LU */
    FULL_REFRESH = 20 /* dF/dy' is differenced in full at least every so many evaluations */
};
static const double PROBE_TOLERANCE = 1e-5;   /* change of dF/dy' that Newton does not notice */
static const double PATTERN_TOLERANCE = 1e-2; /* part of a row that Newton does not miss much */
/* Increments of central differences, cbrt(u), over those of the others: rounding errors and the
 * third derivative both leave u^(2/3). */
static const double CENTRAL = 0x1p-17 / 0x1p-26;
static const double SHARP = 1e4 * DBL_EPSILON; /* a change of F by so much of it has four digits */

/* ---------------------------------------------------------------------------------------------
 * Layouts
 * ------------------------------------------------------------------------------------------- */

const matrix_layout *jacobian_source(const jacobian *j)
{
    if (!j->map) return &j->layout;
    return j->eval->problem->has_layout ? &j->eval->problem->layout : &j->detected;
}

static double *source_values(const jacobian *j, bool derivative)
{
    if (j->map) return derivative ? j->source_dfdyp : j->source_dfdy;
    return derivative ? j->dfdyp : j->dfdy;
}

/* Number of entries that belong to the matrix (a band has padding). */
static size_t entry_count(const matrix_layout *layout)
{
    size_t count = 0;
    for (int c = 0; c < layout->n; c++) count += (size_t)layout_column(layout, c).count;
    return count;
}

static bool prefers_dense(const matrix_layout *source)
{
    if (source->n < DENSE_BELOW) return true;
    double full = (double)source->n * source->n;
    return (double)entry_count(source) > JACOBIAN_DENSE_DENSITY * full;
}

/* The layout that is best for a linear solver of the user's choice, or of ours; false: memory */
static bool target_kind(dae_linear_solver solver, const matrix_layout *source, dae_structure *kind)
{
    bool lists = false;
    *kind = source->kind;
    switch (solver) {
    case DAE_LINEAR_DENSE: *kind = DAE_STRUCTURE_DENSE; return true;
    case DAE_LINEAR_BANDED: *kind = DAE_STRUCTURE_BANDED; return true;
    case DAE_LINEAR_SPARSE: *kind = DAE_STRUCTURE_SPARSE; return true;
    case DAE_LINEAR_AUTO:
    case DAE_LINEAR_GMRES: break;
    }
    if (source->kind == DAE_STRUCTURE_SPARSE && !elimination_pays(source, &lists)) return false;
    if (!lists && prefers_dense(source)) *kind = DAE_STRUCTURE_DENSE;
    return true;
}

/* Compressed columns of any layout; false when memory is exhausted or int too small. */
static bool compress(matrix_layout *target, const matrix_layout *source)
{
    size_t count = entry_count(source);
    int *colptr = DAE_ARRAY(int, source->n + 1);
    int *rowind = count <= INT32_MAX ? DAE_ARRAY(int, count) : NULL;
    bool ok = colptr && rowind;
    for (int c = 0, next = 0; ok && c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        for (int k = 0; k < column.count; k++) rowind[next++] = column_row(&column, k);
        colptr[c + 1] = next;
    }
    ok = ok && layout_sparse(target, source->n, colptr, rowind);
    dae_free_all(colptr, rowind);
    return ok;
}

static bool make_target(matrix_layout *target, dae_structure kind, const matrix_layout *source)
{
    if (kind == source->kind) return layout_copy(target, source);
    if (kind == DAE_STRUCTURE_SPARSE) return compress(target, source);
    if (kind == DAE_STRUCTURE_DENSE) return layout_dense(target, source->n);
    int lower, upper;
    pattern_bandwidth(source, &lower, &upper);
    return layout_banded(target, source->n, lower, upper);
}

static bool same_layout(const matrix_layout *a, const matrix_layout *b)
{
    return a->kind == b->kind && a->lower == b->lower && a->upper == b->upper;
}

/* The map from source to target entries, and the values it reads from. */
static bool build_map(jacobian *j, const matrix_layout *source)
{
    if (same_layout(source, &j->layout)) return true;
    j->map = DAE_ARRAY(size_t, source->count);
    j->source_dfdy = DAE_ARRAY(double, source->count);
    j->source_dfdyp = DAE_ARRAY(double, source->count);
    if (!j->map || !j->source_dfdy || !j->source_dfdyp) return false;
    for (size_t k = 0; k < source->count; k++) j->map[k] = SIZE_MAX;
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        for (int k = 0; k < column.count; k++)
            j->map[column.first + (size_t)k] = layout_place(&j->layout, column_row(&column, k), c);
    }
    return true;
}

static void scatter(const jacobian *j, const double *from, double *to)
{
    size_t count = jacobian_source(j)->count;
    for (size_t k = 0; k < count; k++)
        if (j->map[k] != SIZE_MAX) to[j->map[k]] = from[k];
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------- */

static bool allocate_vectors(jacobian *j)
{
    enum { VECTORS = 7 };
    int n = j->eval->problem->form.n;
    j->constraint_row = DAE_ARRAY(bool, n);
    j->algebraic_column = DAE_ARRAY(bool, n);
    j->missed = DAE_ARRAY(int, n);
    j->flags = DAE_ARRAY(bool, 6 * (size_t)n);
    j->work = DAE_ARRAY(double, (size_t)VECTORS *(size_t)n);
    if (!j->constraint_row || !j->algebraic_column || !j->missed || !j->flags || !j->work)
        return false;
    j->rescued = j->flags;
    j->zero_row = j->flags + 2 * (size_t)n;
    j->zero_column = j->flags + 3 * (size_t)n;
    j->seen_row = j->flags + 4 * (size_t)n;
    j->seen_column = j->flags + 5 * (size_t)n;
    double **vectors[VECTORS] = {&j->y,         &j->yp,        &j->f0,   &j->f1,
                                 &j->predicted, &j->magnitude, &j->noise};
    for (int k = 0; k < VECTORS; k++) *vectors[k] = j->work + (size_t)k * (size_t)n;
    return true;
}

/* With j->layout set: the map from `source` (NULL: the layout itself), values and column groups. */
static bool allocate_matrices(jacobian *j, const matrix_layout *source)
{
    if (source && !build_map(j, source)) return false;
    j->dfdy = DAE_ARRAY(double, j->layout.count);
    j->dfdyp = DAE_ARRAY(double, j->layout.count);
    if (!j->dfdy || !j->dfdyp) return false;
    return j->eval->problem->form.jacobian || coloring_build(&j->groups, jacobian_source(j));
}

static bool build_from(jacobian *j, const matrix_layout *source)
{
    dae_structure kind;
    return target_kind(j->solver, source, &kind) && make_target(&j->layout, kind, source) &&
           allocate_matrices(j, source);
}

static dae_status out_of_memory(jacobian *j, dae_diag *diag)
{
    int n = j->eval->problem->form.n;
    jacobian_free(j);
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian of %d equations.", n);
}

dae_status jacobian_new(jacobian *j, evaluator *eval, dae_linear_solver solver, dae_diag *diag)
{
    const dae_problem *problem = eval->problem;
    *j = (jacobian){.eval = eval, .solver = solver, .random = 1};
    if (solver == DAE_LINEAR_BANDED && problem->form.structure == DAE_STRUCTURE_DENSE)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "The band solver needs bandwidths, but the problem's Jacobian is dense: "
                        "set structure = DAE_STRUCTURE_BANDED with lower and upper, or give the "
                        "sparsity pattern.");
    if (!allocate_vectors(j)) return out_of_memory(j, diag);
    if (problem->has_layout)
        return build_from(j, &problem->layout) ? DAE_OK : out_of_memory(j, diag);
    bool small =
        problem->form.n < DETECT_FROM && solver != DAE_LINEAR_SPARSE && solver != DAE_LINEAR_BANDED;
    j->undetected = !small && solver != DAE_LINEAR_DENSE;
    if (j->undetected) return DAE_OK;
    bool ok = layout_dense(&j->layout, problem->form.n) && allocate_matrices(j, NULL);
    return ok ? DAE_OK : out_of_memory(j, diag);
}

dae_status jacobian_new_band(jacobian *j, evaluator *eval, int lower, int upper, dae_diag *diag)
{
    const dae_problem *problem = eval->problem;
    int widest = problem->form.n - 1;
    *j = (jacobian){.eval = eval, .solver = DAE_LINEAR_BANDED, .random = 1};
    bool use_source = problem->has_layout &&
                      (problem->form.jacobian || problem->layout.kind != DAE_STRUCTURE_DENSE);
    bool ok = allocate_vectors(j);
    ok = ok && layout_banded(&j->layout, problem->form.n, lower < widest ? lower : widest,
                             upper < widest ? upper : widest);
    ok = ok && allocate_matrices(j, use_source ? &problem->layout : NULL);
    return ok ? DAE_OK : out_of_memory(j, diag);
}

/* Everything that depends on the layout. */
static void free_matrices(jacobian *j)
{
    layout_free(&j->layout);
    layout_free(&j->detected);
    coloring_free(&j->groups);
    dae_free_all(j->dfdy, j->dfdyp, j->source_dfdy, j->source_dfdyp, j->map);
    j->dfdy = j->dfdyp = j->source_dfdy = j->source_dfdyp = NULL;
    j->map = NULL;
    j->valid = j->yp_known = j->may_grow = false;
}

eval_status jacobian_adopt(jacobian *j, bool dense, const int *colptr, const int *rowind)
{
    int n = j->eval->problem->form.n;
    free_matrices(j);
    bool ok = dense ? layout_dense(&j->layout, n) && allocate_matrices(j, NULL)
                    : layout_sparse(&j->detected, n, colptr, rowind) && build_from(j, &j->detected);
    if (!ok) free_matrices(j);
    j->undetected = !ok;
    j->was_detected = ok;
    j->may_grow = ok && j->layout.kind != DAE_STRUCTURE_DENSE;
    j->layout_version++;
    return ok ? EVAL_OK : EVAL_MEMORY;
}

void jacobian_reset(jacobian *j)
{
    size_t n = (size_t)j->eval->problem->form.n;
    if (j->was_detected) {
        free_matrices(j);
        j->undetected = true;
        j->was_detected = false;
    }
    memset(j->flags, 0, 6 * n * sizeof *j->flags);
    memset(j->constraint_row, 0, n * sizeof *j->constraint_row);
    memset(j->algebraic_column, 0, n * sizeof *j->algebraic_column);
    j->valid = j->yp_known = j->recheck = j->unmask = j->distrusted = false;
    j->differences = 0;
    j->ahead = 0.0;
    j->random = 1;
    j->fruitless = 0;
    j->patience = 0;
}

/* A layout that was found by differences */
static void persist_detected(jacobian *j, persist *p)
{
    const bool found = persist_flag(p, j->was_detected);
    if (!found) return;
    const size_t n = (size_t)j->eval->problem->form.n;
    const bool dense = persist_flag(p, j->detected.colptr == NULL);
    int *colptr = p->reading ? NULL : j->detected.colptr;
    int *rowind = p->reading ? NULL : j->detected.rowind;
    if (!dense) PERSIST_OWNED(p, colptr, n + 1);
    if (!dense && persist_ok(p)) PERSIST_OWNED(p, rowind, colptr[n]);
    if (!p->reading) return;
    if (persist_ok(p) && jacobian_adopt(j, dense, colptr, rowind) != EVAL_OK) p->no_memory = true;
    dae_free_all(colptr, rowind);
}

void jacobian_persist(jacobian *j, persist *p)
{
    const size_t n = (size_t)j->eval->problem->form.n;
    persist_detected(j, p);
    PERSIST_STRUCT(p, j, GAPS(jacobian, eval, algebraic_column),
                   GAPS(jacobian, solver, seen_column));
    persist_same(p, j->undetected ? 0 : j->layout.count, "a matrix has other entries");
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, j->constraint_row, n);
    PERSIST_ARRAY(p, j->algebraic_column, n);
    PERSIST_ARRAY(p, j->flags, 6 * n);
    PERSIST_ARRAY(p, j->work, 7 * n);
    if (j->undetected) return;
    PERSIST_ARRAY(p, j->dfdy, j->layout.count);
    PERSIST_ARRAY(p, j->dfdyp, j->layout.count);
    if (!j->map) return;
    PERSIST_ARRAY(p, j->source_dfdy, jacobian_source(j)->count);
    PERSIST_ARRAY(p, j->source_dfdyp, jacobian_source(j)->count);
}

void jacobian_free(jacobian *j)
{
    free_matrices(j);
    dae_free_all(j->constraint_row, j->algebraic_column, j->missed, j->flags, j->work, j->copies,
                 j->codes);
    *j = (jacobian){0};
}

/* ---------------------------------------------------------------------------------------------
 * Differences
 * ------------------------------------------------------------------------------------------- */

/* The point of a difference Jacobian. */
typedef struct difference_point {
    double t;
    const double *y, *yp, *weights, *f0;
    double h;            /* nonzero */
    double largest;      /* max |y_j|, or 1 */
    double inverse_rtol; /* max |y_j|/weight_j, within [1, 1/sqrt(u)] */
    bool derivative;     /* differences for y', else for y */
    double amplify;      /* increments of y' are that much larger than usual */
} difference_point;

/* Maximum and minimum without fmax's care for NaN, which costs a call. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* x + d as a number, so that the increment divided by is the one that was made. */
static double shifted(double x, double d)
{
    volatile double sum = x + d;
    return sum;
}

/* Increment of y_c: sqrt(u) max(|y_c|, |h y'_c|, weight_c) [BCP96 (5.2.17)], but for a variable
 * near zero that drowns in the rounding errors of its neighbours. The weights tell how large it is
 * meant to be: weight_c/rtol, with 1/rtol = max_i |y_i|/weight_i. That never exceeds the weight,
 * follows any scaling of variables, and changes nothing where weights are sizes already. */
static double plain_increment(const difference_point *p, int c)
{
    double size = larger(fabs(p->y[c]), fabs(p->h * p->yp[c]));
    size = larger(size, p->weights[c] * p->inverse_rtol);
    return sqrt(DBL_EPSILON) * (size > 0.0 ? size : p->largest);
}

/* An increment that shows what rounding hid in spite of that: visible beside the largest variable,
 * or as large as the weight if that is small too. And whether it is worth trying. */
static double wide_increment(const difference_point *p, int c)
{
    double visible = 1e-3 * sqrt(DBL_EPSILON) * p->largest;
    return larger(visible, smaller(p->weights[c], 1e-6 * p->largest));
}

static bool can_widen(const difference_point *p, int c)
{
    return plain_increment(p, c) < 0.1 * wide_increment(p, c);
}

/* Signed increment of y_c, or of y'_c: the same one over |h|, so that rounding errors of F hurt
 * dF/dy and cj dF/dy' alike. */
static double increment(const difference_point *p, int c, bool wide)
{
    double size = wide ? wide_increment(p, c) : plain_increment(p, c);
    if (p->derivative) size = size * p->amplify / fabs(p->h);
    return p->h * p->yp[c] < 0.0 ? -size : size;
}

/* x[c] += factor * increment for the columns given, away from bounds. */
static void perturb(const jacobian *j, const difference_point *p, const int *columns, int count,
                    double factor, bool wide)
{
    const double *base = p->derivative ? p->yp : p->y;
    double *x = p->derivative ? j->yp : j->y;
    const dae_residual *form = &j->eval->problem->form;
    for (int k = 0; k < count; k++) {
        int c = columns[k];
        double step = factor * increment(p, c, wide);
        x[c] = shifted(base[c], step);
        if (p->derivative || within_bounds(form, c, x[c])) continue;
        double other = shifted(base[c], -step);
        if (within_bounds(form, c, other)) x[c] = other;
    }
}

/* f1 = F at (j->y, j->yp) */
static eval_status evaluate_beside(jacobian *j, const difference_point *p)
{
    return evaluate_residual(j->eval, p->t, j->y, j->yp, j->f1,
                             &j->eval->stats->jacobian_residuals);
}

/* f1 = F with the columns perturbed. A callback that refuses the point is asked on the other side,
 * and then nearer. */
static eval_status evaluate_perturbed(jacobian *j, const difference_point *p, const int *columns,
                                      int count, bool wide)
{
    static const double factors[] = {1.0, -1.0, 0.1};
    eval_status status = EVAL_RETRY;
    for (int k = 0; k < 3 && status == EVAL_RETRY; k++) {
        perturb(j, p, columns, count, factors[k], wide);
        status = evaluate_beside(j, p);
    }
    return status;
}

static void restore_column(const jacobian *j, const difference_point *p, int c)
{
    (p->derivative ? j->yp : j->y)[c] = (p->derivative ? p->yp : p->y)[c];
}

/* Column c of the matrix from f1 - f0. Restores x[c]. */
static void store_column(const jacobian *j, const difference_point *p, int c)
{
    const double *base = p->derivative ? p->yp : p->y;
    double *x = p->derivative ? j->yp : j->y, *values = source_values(j, p->derivative);
    double inverse = 1.0 / (x[c] - base[c]);
    matrix_column column = layout_column(jacobian_source(j), c);
    for (int k = 0; k < column.count; k++) {
        int row = column_row(&column, k);
        values[column.first + (size_t)k] = (j->f1[row] - p->f0[row]) * inverse;
    }
    x[c] = base[c];
}

/* magnitude_i = |F_i| + sum_j |dF_i/dy_j y_j| (+ sum_j |dF_i/dy'_j y'_j|): the terms whose rounding
 * errors are in F_i */
static void row_magnitudes(const jacobian *j, const difference_point *p)
{
    const matrix_layout *source = jacobian_source(j);
    const double *dfdy = source_values(j, false), *dfdyp = source_values(j, true);
    bool with_yp = p->derivative || j->yp_known;
    for (int i = 0; i < source->n; i++) j->magnitude[i] = fabs(p->f0[i]);
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        for (int k = 0; k < column.count; k++) {
            size_t at = column.first + (size_t)k;
            double term = fabs(dfdy[at] * p->y[c]) + (with_yp ? fabs(dfdyp[at] * p->yp[c]) : 0.0);
            j->magnitude[column_row(&column, k)] += term;
        }
    }
}

/* Whether a difference of F_row, made with the plain increment of column c, is below two digits
 * above rounding. */
static bool drowned(const jacobian *j, const difference_point *p, int row, int c, double value)
{
    double difference = fabs(value * increment(p, c, false));
    return difference <= 100.0 * DBL_EPSILON * j->magnitude[row];
}

/* Whether column c was rescued when it was last looked at carefully. */
static bool *rescue_flag(const jacobian *j, const difference_point *p, int c)
{
    return &j->rescued[p->derivative ? j->eval->problem->form.n + c : c];
}

/* The same as store_column from a wide increment, but only where the plain one told nothing. */
static void rescue_column(const jacobian *j, const difference_point *p, int c)
{
    bool *rescued = rescue_flag(j, p, c);
    const double *base = p->derivative ? p->yp : p->y;
    double *x = p->derivative ? j->yp : j->y, *values = source_values(j, p->derivative);
    double inverse = 1.0 / (x[c] - base[c]);
    matrix_column column = layout_column(jacobian_source(j), c);
    for (int k = 0; k < column.count; k++) {
        int row = column_row(&column, k);
        double *value = &values[column.first + (size_t)k];
        if (!drowned(j, p, row, c, *value)) continue;
        *value = (j->f1[row] - p->f0[row]) * inverse;
        *rescued = *rescued || *value != 0.0;
    }
    x[c] = base[c];
}

/* Whether column c may need a wider increment: its variable is tiny and, between careful looks,
 * something was found there before. */
static bool may_need_rescue(const jacobian *j, const difference_point *p, int c, bool careful)
{
    return (careful || *rescue_flag(j, p, c)) && can_widen(p, c);
}

/* Whether it has drowned entries; a zero may be one. */
static bool needs_rescue(const jacobian *j, const difference_point *p, int c, bool careful)
{
    if (!may_need_rescue(j, p, c, careful)) return false;
    if (careful) *rescue_flag(j, p, c) = false;
    const double *values = source_values(j, p->derivative);
    matrix_column column = layout_column(jacobian_source(j), c);
    for (int k = 0; k < column.count; k++)
        if (drowned(j, p, column_row(&column, k), c, values[column.first + (size_t)k])) return true;
    return false;
}

/* Columns group by group, as far as they are picked (NULL: all of them): columns of a group share
 * no row and one evaluation. */
typedef bool (*column_pick)(const jacobian *j, const difference_point *p, int c, bool careful);
typedef void (*column_store)(const jacobian *j, const difference_point *p, int c);
static eval_status difference_groups(jacobian *j, const difference_point *p, bool wide,
                                     column_pick picks, bool careful, column_store store)
{
    for (int g = 0; g < j->groups.groups; g++) {
        int count = 0;
        for (int k = j->groups.start[g]; k < j->groups.start[g + 1]; k++) {
            int c = j->groups.column[k];
            if (!picks || picks(j, p, c, careful)) j->missed[count++] = c;
        }
        if (count == 0) continue;
        eval_status status = evaluate_perturbed(j, p, j->missed, count, wide);
        if (status && !(wide && status == EVAL_RETRY)) return status;
        for (int k = 0; k < count; k++)
            if (status) /* so far away there are no values; a column that tells little stays */
                restore_column(j, p, j->missed[k]);
            else
                store(j, p, j->missed[k]);
    }
    return EVAL_OK;
}

/* Difference columns of tiny variables again where they drowned. */
static eval_status rescue_columns(jacobian *j, const difference_point *p, bool careful)
{
    int n = j->eval->problem->form.n, first = 0;
    while (first < n && !may_need_rescue(j, p, first, careful)) first++;
    if (first == n) return EVAL_OK;
    row_magnitudes(j, p);
    return difference_groups(j, p, true, needs_rescue, careful, rescue_column);
}

/* ---- groups by several threads ---- */

/* Unknowns from which on that is worth while: F takes 10 us and more then, by an estimate. */
enum { SHARED_FROM = 2000 };

/* Evaluations under way: copy k of y, or of y', has group `first` + k moved. */
typedef struct shared_groups {
    const jacobian *j;
    const difference_point *p;
    int first;
} shared_groups;

/* The Jacobian as copy k sees it: with a point and values of its own. */
static jacobian copy_of(const jacobian *j, const difference_point *p, int k)
{
    const size_t n = (size_t)j->eval->problem->form.n;
    jacobian own = *j;
    double *moved = j->copies + 2 * (size_t)k * n;
    if (p->derivative)
        own.yp = moved;
    else
        own.y = moved;
    own.f1 = moved + n;
    return own;
}

/* F where group first + part is moved; for any thread: no failure is noted. */
static void evaluate_group(void *data, int part)
{
    const shared_groups *q = data;
    const jacobian own = copy_of(q->j, q->p, part);
    const int g = q->first + part;
    const int *start = q->j->groups.start;
    const dae_residual *form = &own.eval->problem->form;
    vector_copy(form->n, q->p->derivative ? q->p->yp : q->p->y, q->p->derivative ? own.yp : own.y);
    perturb(&own, q->p, q->j->groups.column + start[g], start[g + 1] - start[g], 1.0, false);
    q->j->codes[part] = form->f(q->p->t, own.y, own.yp, own.f1, form->user);
}

/* The columns of group first + k, from its copy; where F failed there, in the usual way. */
static eval_status store_group(jacobian *j, const difference_point *p, int first, int k)
{
    const jacobian own = copy_of(j, p, k);
    const int g = first + k, count = j->groups.start[g + 1] - j->groups.start[g];
    const int *column = j->groups.column + j->groups.start[g];
    bool sound = j->codes[k] == 0 && vector_all_finite((size_t)own.eval->problem->form.n, own.f1);
    eval_status status = EVAL_OK;
    if (sound)
        j->eval->stats->jacobian_residuals++;
    else
        status = evaluate_perturbed(j, p, column, count, false);
    for (int i = 0; i < count && status == EVAL_OK; i++)
        store_column(sound ? &own : j, p, column[i]);
    return status;
}

/* Whether F may be and should be asked by several threads; makes room for their copies. */
static bool shares_groups(jacobian *j)
{
    const dae_residual *form = &j->eval->problem->form;
    const int threads = team_threads(j->eval->threads);
    if (!form->reentrant || j->eval->forms || j->eval->instance || threads < 2 ||
        form->n < SHARED_FROM || j->groups.groups < 2)
        return false;
    if (!j->copies) j->copies = DAE_ARRAY(double, 2 * (size_t)threads * (size_t)form->n);
    if (!j->codes) j->codes = DAE_ARRAY(int, threads);
    if (j->copies && j->codes) return j->copy_count = threads, true;
    team_give_up(j->eval->threads);
    return false;
}

/* difference_groups with all columns, F asked by several threads */
static eval_status difference_shared(jacobian *j, const difference_point *p)
{
    eval_status status = EVAL_OK;
    shared_groups q = {j, p, 0};
    for (; q.first < j->groups.groups && status == EVAL_OK; q.first += j->copy_count) {
        const int left = j->groups.groups - q.first;
        const int count = left < j->copy_count ? left : j->copy_count;
        team_run(j->eval->threads, count, evaluate_group, &q);
        for (int k = 0; k < count && status == EVAL_OK; k++) status = store_group(j, p, q.first, k);
    }
    return status;
}

/* All columns. */
static eval_status difference_all(jacobian *j, difference_point *p, bool derivative, bool careful)
{
    p->derivative = derivative;
    eval_status status = shares_groups(j)
                             ? difference_shared(j, p)
                             : difference_groups(j, p, false, NULL, careful, store_column);
    return status == EVAL_OK ? rescue_columns(j, p, careful) : status;
}

/* predicted = dF/dy' d and magnitude = (|dF/dy'| + |h| |dF/dy|) |d| for d = j->yp - y' */
static void predict_probe(const jacobian *j, const difference_point *p)
{
    const matrix_layout *source = jacobian_source(j);
    const double *dfdy = source_values(j, false), *dfdyp = source_values(j, true);
    vector_zero(source->n, j->predicted);
    vector_zero(source->n, j->magnitude);
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        double d = j->yp[c] - p->yp[c];
        for (int k = 0; k < column.count; k++) {
            int row = column_row(&column, k);
            size_t at = column.first + (size_t)k;
            j->predicted[row] += dfdyp[at] * d;
            j->magnitude[row] += (fabs(dfdyp[at]) + fabs(p->h * dfdy[at])) * fabs(d);
        }
    }
}

/* Whether the stored dF/dy' still holds, told by one evaluation with all of y' perturbed at once:
 * in most problems it is constant, and this saves a difference per column. The test is relative to
 * the rows of the iteration matrix; a row without y' must not react at all. */
static eval_status probe_derivative(jacobian *j, difference_point *p, bool *holds)
{
    int n = j->eval->problem->form.n;
    *holds = false;
    if (!j->yp_known || j->recheck || j->differences % FULL_REFRESH == 0) return EVAL_OK;
    p->derivative = true;
    for (int c = 0; c < n; c++) {
        double factor = 1.0 + 0.25 * (c % 3); /* unequal, lest changes cancel */
        j->yp[c] = shifted(p->yp[c], factor * increment(p, c, can_widen(p, c)));
    }
    eval_status status = evaluate_beside(j, p);
    predict_probe(j, p);
    vector_copy(n, p->yp, j->yp);
    if (status) return status == EVAL_RETRY ? EVAL_OK : status;
    for (int i = 0; i < n; i++) {
        double difference = j->f1[i] - p->f0[i];
        double allowed = j->constraint_row[i] ? 0.0 : PROBE_TOLERANCE * j->magnitude[i];
        if (!(fabs(difference - j->predicted[i]) <= allowed)) return EVAL_OK;
    }
    *holds = true;
    return EVAL_OK;
}

/* Which rows and columns of dF/dy' are zero, for compressed columns */
static void classify_sparse(jacobian *j, const matrix_layout *source, const double *dfdyp)
{
    const int n = source->n, *start = source->colptr, *row = source->rowind;
    bool *restrict constraint = j->constraint_row, *restrict algebraic = j->algebraic_column;
    memset(constraint, true, (size_t)n * sizeof *constraint);
    for (int c = 0, k = 0; c < n; c++) {
        bool zero = true;
        for (; k < start[c + 1]; k++) {
            if (dfdyp[k] == 0.0) continue;
            constraint[row[k]] = zero = false;
        }
        algebraic[c] = zero;
    }
}

/* Which rows and columns of dF/dy' are zero; with a point, which have no entry that stands out of
 * the rounding errors there. */
static void classify(jacobian *j, const difference_point *p)
{
    const matrix_layout *source = jacobian_source(j);
    const double *dfdyp = source_values(j, true);
    if (!p && source->kind == DAE_STRUCTURE_SPARSE) {
        classify_sparse(j, source, dfdyp);
        return;
    }
    for (int i = 0; i < source->n; i++) j->constraint_row[i] = true;
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        j->algebraic_column[c] = true;
        for (int k = 0; k < column.count; k++) {
            const int row = column_row(&column, k);
            const double value = dfdyp[column.first + (size_t)k];
            if (p ? drowned(j, p, row, c, value) : value == 0.0) continue;
            j->constraint_row[row] = j->algebraic_column[c] = false;
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * Zeros of dF/dy' that are none
 *
 * A coefficient of y' shows in a difference of F only if the increment is as large as the time
 * scale of the problem asks for, and at a start nobody knows that scale: 1e-19 y' + 1e-3 y is a
 * femtosecond's circuit, with a state that must not be taken for an algebraic variable. So where a
 * row or a column of dF/dy' drowns, y' is moved further and further, by up to 64 powers of ten.
 * ------------------------------------------------------------------------------------------- */

/* Whether one is marked that is not known to be zero. */
static bool any_unknown(int n, const bool *marked, const bool *zero)
{
    for (int i = 0; i < n; i++)
        if (marked[i] && !zero[i]) return true;
    return false;
}

/* f1 = F with y'_c moved, in random proportions, for all c or for those without visible entries. */
static eval_status evaluate_moved(jacobian *j, const difference_point *p, bool all)
{
    int n = j->eval->problem->form.n;
    for (int c = 0; c < n; c++)
        if (all || j->algebraic_column[c])
            j->yp[c] = shifted(p->yp[c], random_size(&j->random) * increment(p, c, false));
    eval_status status = evaluate_beside(j, p);
    vector_copy(n, p->yp, j->yp);
    return status;
}

/* Whether F_row moved by enough to tell a derivative from. */
static bool moved(const jacobian *j, const difference_point *p, int row)
{
    return fabs(j->f1[row] - p->f0[row]) > SHARP * j->magnitude[row];
}

/* Whether rows that look like constraints react to y', or any row to y' that look algebraic. */
static eval_status find_reaction(jacobian *j, const difference_point *p, bool *found)
{
    int n = j->eval->problem->form.n;
    bool rows = any_unknown(n, j->constraint_row, j->zero_row);
    bool columns = any_unknown(n, j->algebraic_column, j->zero_column);
    *found = false;
    eval_status status = rows ? evaluate_moved(j, p, true) : EVAL_OK;
    for (int i = 0; rows && i < n && status == EVAL_OK; i++)
        *found = *found || (j->constraint_row[i] && moved(j, p, i));
    if (*found || !columns || status) return status;
    status = evaluate_moved(j, p, false);
    for (int i = 0; i < n && status == EVAL_OK; i++) *found = *found || moved(j, p, i);
    return status;
}

/* Whether column c takes part in the search: nothing of it is seen, or nothing of a row it is in.
 */
static bool is_masked(const jacobian *j, const difference_point *p, int c, bool careful)
{
    (void)p, (void)careful;
    if (j->algebraic_column[c]) return true;
    matrix_column column = layout_column(jacobian_source(j), c);
    for (int k = 0; k < column.count; k++)
        if (j->constraint_row[column_row(&column, k)]) return true;
    return false;
}

/* Store what f1 shows of column c that the usual increment did not. Restores y'_c. */
static void unmask_column(const jacobian *j, const difference_point *p, int c)
{
    double *values = source_values(j, true), inverse = 1.0 / (j->yp[c] - p->yp[c]);
    matrix_column column = layout_column(jacobian_source(j), c);
    for (int k = 0; k < column.count; k++) {
        int row = column_row(&column, k);
        double *value = &values[column.first + (size_t)k];
        bool masked = j->algebraic_column[c] || j->constraint_row[row];
        difference_point usual = *p;
        usual.amplify = 1.0;
        if (!masked || !drowned(j, &usual, row, c, *value) || !moved(j, p, row)) continue;
        *value = (j->f1[row] - p->f0[row]) * inverse;
        j->seen_row[row] = j->seen_column[c] = true;
    }
    j->yp[c] = p->yp[c];
}

/* Columns that may hide something, with increments at which something showed. */
static eval_status unmask_columns(jacobian *j, const difference_point *p)
{
    int n = j->eval->problem->form.n;
    eval_status status = difference_groups(j, p, false, is_masked, true, unmask_column);
    vector_copy(n, p->yp, j->yp);
    for (int i = 0; i < n; i++) {
        j->constraint_row[i] = j->constraint_row[i] && !j->seen_row[i];
        j->algebraic_column[i] = j->algebraic_column[i] && !j->seen_column[i];
    }
    return status;
}

/* One look with y' moved by `power` times its increments. */
static eval_status look_farther(jacobian *j, difference_point *p, double power)
{
    bool found;
    p->amplify = power;
    eval_status status = find_reaction(j, p, &found);
    if (status == EVAL_OK && found) status = unmask_columns(j, p);
    p->amplify = 1.0;
    return status;
}

/* Move y' ever further while rows or columns of dF/dy' drown; where F cannot follow it ends. What
 * never shows is zero, and need not be asked again. */
static eval_status unmask_derivative(jacobian *j, difference_point *p)
{
    size_t n = (size_t)j->eval->problem->form.n;
    p->derivative = true;
    row_magnitudes(j, p);
    classify(j, p);
    memset(j->seen_row, 0, 2 * n * sizeof *j->seen_row);
    for (double power = 1e4; power < 1e65; power *= power) {
        if (!any_unknown((int)n, j->constraint_row, j->zero_row) &&
            !any_unknown((int)n, j->algebraic_column, j->zero_column))
            return EVAL_OK;
        eval_status status = look_farther(j, p, power);
        if (status == EVAL_RETRY)
            j->eval->failure = (eval_failure){0}; /* not of the point itself */
        if (status != EVAL_OK) return status == EVAL_RETRY ? EVAL_OK : status;
    }
    memcpy(j->zero_row, j->constraint_row, n * sizeof *j->zero_row);
    memcpy(j->zero_column, j->algebraic_column, n * sizeof *j->zero_column);
    return EVAL_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Both matrices by differences
 * ------------------------------------------------------------------------------------------- */

/* dF/dy, and dF/dy' unless the stored one still holds. */
static eval_status difference_matrices(jacobian *j, difference_point *p)
{
    int n = j->eval->problem->form.n;
    vector_copy(n, p->y, j->y);
    vector_copy(n, p->yp, j->yp);
    bool careful = j->recheck || j->differences % FULL_REFRESH < 2;
    eval_status status = difference_all(j, p, false, careful);
    if (status) return status;
    bool holds;
    status = probe_derivative(j, p, &holds);
    if (status) return status;
    if (!holds) {
        j->yp_known = false;
        status = difference_all(j, p, true, careful);
        if (status == EVAL_OK && (j->recheck || j->unmask)) status = unmask_derivative(j, p);
        if (status) return status;
        classify(j, NULL);
        j->yp_known = true;
    }
    j->recheck = j->unmask = false;
    j->differences++;
    return EVAL_OK;
}

/* predicted = dF/dy d + dF/dy' d', magnitude = |dF/dy| |d| + |dF/dy'| |d'|, where d and d' lead
 * from the point to (j->y, j->yp) */
static void predict_change(const jacobian *j, const difference_point *p)
{
    const matrix_layout *source = jacobian_source(j);
    const double *dfdy = source_values(j, false), *dfdyp = source_values(j, true);
    vector_zero(source->n, j->predicted);
    vector_zero(source->n, j->magnitude);
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        double d = j->y[c] - p->y[c], dp = j->yp[c] - p->yp[c];
        for (int k = 0; k < column.count; k++) {
            int row = column_row(&column, k);
            size_t at = column.first + (size_t)k;
            j->predicted[row] += dfdy[at] * d + dfdyp[at] * dp;
            j->magnitude[row] += fabs(dfdy[at] * d) + fabs(dfdyp[at] * dp);
        }
    }
}

/* Move all of (y, y') at once, in random proportions of their increments, within the bounds. */
static void move_all(jacobian *j, difference_point *p)
{
    const dae_residual *form = &j->eval->problem->form;
    for (int c = 0; c < form->n; c++) {
        p->derivative = true;
        j->yp[c] = shifted(p->yp[c], random_size(&j->random) * increment(p, c, false));
        p->derivative = false;
        double step = random_size(&j->random) * increment(p, c, false);
        j->y[c] = shifted(p->y[c], step);
        if (!within_bounds(form, c, j->y[c])) j->y[c] = shifted(p->y[c], -step);
    }
}

/* Whether F moves as the matrices say: what they lack, a coupling that did not exist when the
 * pattern was detected, shows. One evaluation, all rows at once. */
static eval_status probe_pattern(jacobian *j, difference_point *p, bool *holds)
{
    int n = j->eval->problem->form.n;
    *holds = true;
    p->derivative = true;
    row_magnitudes(j, p);
    vector_copy(n, j->magnitude, j->noise);
    move_all(j, p);
    eval_status status = evaluate_beside(j, p);
    predict_change(j, p);
    vector_copy(n, p->y, j->y);
    vector_copy(n, p->yp, j->yp);
    if (status) return status == EVAL_RETRY ? EVAL_OK : status;
    for (int i = 0; i < n && *holds; i++) {
        double excess = fabs(j->f1[i] - p->f0[i] - j->predicted[i]);
        *holds = excess <= PATTERN_TOLERANCE * j->magnitude[i] + 0.1 * SHARP * j->noise[i];
    }
    return EVAL_OK;
}

/* Searches that find nothing make doubts count less: the next 1, 2, 4, .. are ignored. */
static bool take_doubt(jacobian *j)
{
    if (!j->may_grow) return false;
    if (j->patience == 0) return true;
    j->patience--;
    return false;
}

bool jacobian_distrust(jacobian *j)
{
    j->distrusted = j->distrusted || take_doubt(j);
    return j->distrusted;
}

/* Both matrices, on a pattern that holds where they are taken. */
static eval_status difference_on_pattern(jacobian *j, difference_point *p)
{
    eval_status status = difference_matrices(j, p);
    if (status || !j->may_grow) return status;
    bool holds = true, grown = false;
    if (!j->distrusted) status = probe_pattern(j, p, &holds);
    if (status) return status;
    if (!j->distrusted && (holds || !take_doubt(j))) return EVAL_OK;
    j->distrusted = false;
    status = jacobian_grow(j, p->t, p->y, p->yp, p->weights, &grown);
    return status == EVAL_OK && grown ? difference_matrices(j, p) : status;
}

/* Columns of dF/dy' by (F(y' + d) - F(y' - d)) / 2d, or from one side where F is not defined on the
 * other. */
static eval_status difference_centrally(jacobian *j, difference_point *p, const int *columns,
                                        int count)
{
    const int n = j->eval->problem->form.n;
    difference_point back = *p;
    back.f0 = j->predicted;
    back.yp = j->noise;
    p->amplify = CENTRAL;
    perturb(j, p, columns, count, -1.0, false);
    eval_status status = evaluate_beside(j, p);
    vector_copy(n, j->yp, j->noise);
    vector_copy(n, j->f1, j->predicted);
    perturb(j, p, columns, count, 1.0, false);
    if (status == EVAL_OK) status = evaluate_beside(j, p);
    p->amplify = 1.0;
    const bool one_side = status == EVAL_RETRY;
    if (one_side) status = evaluate_perturbed(j, p, columns, count, false);
    for (int k = 0; k < count && status == EVAL_OK; k++)
        store_column(j, one_side ? p : &back, columns[k]);
    for (int k = 0; k < count; k++) j->yp[columns[k]] = p->yp[columns[k]];
    return status;
}

/* All columns of dF/dy'. */
static eval_status difference_leading(jacobian *j, difference_point *p)
{
    const int n = j->eval->problem->form.n, *start = j->groups.start;
    eval_status status = EVAL_OK;
    vector_copy(n, p->y, j->y);
    vector_copy(n, p->yp, j->yp);
    p->derivative = true;
    for (int g = 0; g < j->groups.groups && status == EVAL_OK; g++)
        status = difference_centrally(j, p, j->groups.column + start[g], start[g + 1] - start[g]);
    if (status == EVAL_OK) status = rescue_columns(j, p, false);
    if (status == EVAL_OK) classify(j, NULL);
    return status;
}

/* What the point as a whole says about sizes. */
static void measure_point(difference_point *p, int n)
{
    double ratio = 1.0;
    p->largest = 0.0;
    for (int i = 0; i < n; i++) {
        double size = fabs(p->y[i]);
        p->largest = larger(p->largest, size);
        if (size > ratio * p->weights[i] && p->weights[i] > 0.0) ratio = size / p->weights[i];
    }
    p->inverse_rtol = smaller(ratio, 1.0 / sqrt(DBL_EPSILON));
    if (p->largest == 0.0) p->largest = 1.0;
}

/* f0 of the caller, or evaluated here. */
static eval_status base_residual(jacobian *j, double t, const double *y, const double *yp,
                                 const double **f0)
{
    if (*f0) return EVAL_OK;
    *f0 = j->f0;
    return evaluate_residual(j->eval, t, y, yp, j->f0, &j->eval->stats->jacobian_residuals);
}

/* The difference point at (t, y, y'), with F there. */
static eval_status open_point(jacobian *j, double t, const double *y, const double *yp, double h,
                              const double *weights, const double *f0, difference_point *p)
{
    eval_status status = base_residual(j, t, y, yp, &f0);
    *p = (difference_point){.t = t, .y = y, .yp = yp, .weights = weights, .f0 = f0, .amplify = 1.0};
    p->h = h != 0.0 ? h : 1.0;
    measure_point(p, j->eval->problem->form.n);
    return status;
}

/* What comes after new values: in their target layout, and counted. */
static void finish_evaluation(jacobian *j, bool leading)
{
    if (j->map && !leading) scatter(j, j->source_dfdy, j->dfdy);
    if (j->map) scatter(j, j->source_dfdyp, j->dfdyp);
    j->valid = true;
    j->version++;
    j->eval->stats->jacobians++;
}

static eval_status user_matrices(jacobian *j, double t, const double *y, const double *yp)
{
    eval_status status = evaluate_jacobian(j->eval, jacobian_source(j), t, y, yp,
                                           source_values(j, false), source_values(j, true));
    if (status == EVAL_OK) classify(j, NULL);
    return status;
}

eval_status jacobian_evaluate(jacobian *j, double t, const double *y, const double *yp, double h,
                              const double *weights, const double *f0)
{
    eval_status status = jacobian_detect(j, t, y, yp, weights);
    if (status) return status;
    j->valid = false;
    if (j->eval->problem->form.jacobian) {
        status = user_matrices(j, t, y, yp);
    } else {
        difference_point p;
        status = open_point(j, t, y, yp, h, weights, f0, &p);
        if (status == EVAL_OK) status = difference_on_pattern(j, &p);
    }
    if (status == EVAL_OK) finish_evaluation(j, false);
    return status;
}

eval_status jacobian_evaluate_leading(jacobian *j, double t, const double *y, const double *yp,
                                      double h, const double *weights)
{
    eval_status status;
    j->valid = false;
    if (j->eval->problem->form.jacobian) {
        status = user_matrices(j, t, y, yp);
    } else {
        difference_point p;
        status = open_point(j, t, y, yp, h, weights, NULL, &p);
        if (status == EVAL_OK) status = difference_leading(j, &p);
    }
    if (status == EVAL_OK) finish_evaluation(j, true);
    return status;
}
