#include "system/jacobian.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

#include <float.h>
#include <stdint.h>

enum {
    DETECT_FROM = 60, /* unknown structure: below this n dense LU costs less than finding it */
    DENSE_BELOW = 20, /* known structure: below this n dense LU beats KLU and band LU */
    FULL_REFRESH = 20 /* dF/dy' is differenced in full at least every so many evaluations */
};
static const double DENSE_DENSITY = 0.3;    /* fuller than this: dense */
static const double PROBE_TOLERANCE = 1e-5; /* change of dF/dy' that Newton does not notice */
static const size_t OUTSIDE = SIZE_MAX;     /* in the map: entry is not in the target */

/* ---------------------------------------------------------------------------------------------
 * Layouts
 * ------------------------------------------------------------------------------------------- */

/* The layout in which derivatives are obtained. */
static const matrix_layout *source_layout(const jacobian *j)
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
    return (double)entry_count(source) > DENSE_DENSITY * full;
}

static dae_structure target_kind(dae_linear_solver solver, const matrix_layout *source)
{
    switch (solver) {
    case DAE_LINEAR_DENSE: return DAE_STRUCTURE_DENSE;
    case DAE_LINEAR_BANDED: return DAE_STRUCTURE_BANDED;
    case DAE_LINEAR_SPARSE: return DAE_STRUCTURE_SPARSE;
    case DAE_LINEAR_AUTO:
    case DAE_LINEAR_GMRES: break;
    }
    return prefers_dense(source) ? DAE_STRUCTURE_DENSE : source->kind;
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
    dae_free(colptr);
    dae_free(rowind);
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

/* Where entry (row, c) lies among a layout's values, or OUTSIDE. */
static size_t entry_position(const matrix_layout *layout, int row, int c)
{
    matrix_column column = layout_column(layout, c);
    if (!column.rows) {
        bool inside = row >= column.top && row < column.top + column.count;
        return inside ? column.first + (size_t)(row - column.top) : OUTSIDE;
    }
    int low = 0, high = column.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (column.rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < column.count && column.rows[low] == row ? column.first + (size_t)low : OUTSIDE;
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
    for (size_t k = 0; k < source->count; k++) j->map[k] = OUTSIDE;
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        for (int k = 0; k < column.count; k++)
            j->map[column.first + (size_t)k] =
                entry_position(&j->layout, column_row(&column, k), c);
    }
    return true;
}

static void scatter(const jacobian *j, const double *from, double *to)
{
    size_t count = source_layout(j)->count;
    for (size_t k = 0; k < count; k++)
        if (j->map[k] != OUTSIDE) to[j->map[k]] = from[k];
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------- */

static bool allocate_vectors(jacobian *j)
{
    enum { VECTORS = 6 };
    int n = j->eval->problem->form.n;
    j->constraint_row = DAE_ARRAY(bool, n);
    j->algebraic_column = DAE_ARRAY(bool, n);
    j->missed = DAE_ARRAY(int, n);
    j->rescued = DAE_ARRAY(bool, 2 * (size_t)n);
    j->work = DAE_ARRAY(double, (size_t)VECTORS *(size_t)n);
    if (!j->constraint_row || !j->algebraic_column || !j->missed || !j->rescued || !j->work)
        return false;
    double **vectors[VECTORS] = {&j->y, &j->yp, &j->f0, &j->f1, &j->predicted, &j->magnitude};
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
    return j->eval->problem->form.jacobian || coloring_build(&j->groups, source_layout(j));
}

static bool build_from(jacobian *j, const matrix_layout *source)
{
    dae_structure kind = target_kind(j->solver, source);
    return make_target(&j->layout, kind, source) && allocate_matrices(j, source);
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
    *j = (jacobian){.eval = eval, .solver = solver};
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
    *j = (jacobian){.eval = eval, .solver = DAE_LINEAR_BANDED};
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
    dae_free(j->dfdy);
    dae_free(j->dfdyp);
    dae_free(j->source_dfdy);
    dae_free(j->source_dfdyp);
    dae_free(j->map);
    j->dfdy = j->dfdyp = j->source_dfdy = j->source_dfdyp = NULL;
    j->map = NULL;
}

void jacobian_free(jacobian *j)
{
    free_matrices(j);
    dae_free(j->constraint_row);
    dae_free(j->algebraic_column);
    dae_free(j->missed);
    dae_free(j->rescued);
    dae_free(j->work);
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

static bool within_bounds(const dae_residual *form, int c, double value)
{
    return !(form->lower_bounds && value < form->lower_bounds[c]) &&
           !(form->upper_bounds && value > form->upper_bounds[c]);
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
    if (p->derivative) size /= fabs(p->h);
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

/* f1 = F with the columns perturbed. A callback that refuses the point is asked on the other side,
 * and then nearer. */
static eval_status evaluate_perturbed(jacobian *j, const difference_point *p, const int *columns,
                                      int count, bool wide)
{
    static const double factors[] = {1.0, -1.0, 0.1};
    eval_status status = EVAL_RETRY;
    for (int k = 0; k < 3 && status == EVAL_RETRY; k++) {
        perturb(j, p, columns, count, factors[k], wide);
        status = evaluate_residual(j->eval, p->t, j->y, j->yp, j->f1,
                                   &j->eval->stats->jacobian_residuals);
    }
    return status;
}

/* Column c of the matrix from f1 - f0. Restores x[c]. */
static void store_column(const jacobian *j, const difference_point *p, int c)
{
    const double *base = p->derivative ? p->yp : p->y;
    double *x = p->derivative ? j->yp : j->y, *values = source_values(j, p->derivative);
    double inverse = 1.0 / (x[c] - base[c]);
    matrix_column column = layout_column(source_layout(j), c);
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
    const matrix_layout *source = source_layout(j);
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
    matrix_column column = layout_column(source_layout(j), c);
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
    matrix_column column = layout_column(source_layout(j), c);
    for (int k = 0; k < column.count; k++)
        if (drowned(j, p, column_row(&column, k), c, values[column.first + (size_t)k])) return true;
    return false;
}

/* Difference columns of tiny variables again where they drowned. */
static eval_status rescue_columns(jacobian *j, const difference_point *p, bool careful)
{
    int n = j->eval->problem->form.n, first = 0;
    while (first < n && !may_need_rescue(j, p, first, careful)) first++;
    if (first == n) return EVAL_OK;
    row_magnitudes(j, p);
    for (int g = 0; g < j->groups.groups; g++) {
        int count = 0;
        for (int k = j->groups.start[g]; k < j->groups.start[g + 1]; k++) {
            int c = j->groups.column[k];
            if (needs_rescue(j, p, c, careful)) j->missed[count++] = c;
        }
        if (count == 0) continue;
        eval_status status = evaluate_perturbed(j, p, j->missed, count, true);
        if (status) return status;
        for (int k = 0; k < count; k++) rescue_column(j, p, j->missed[k]);
    }
    return EVAL_OK;
}

/* All columns, group by group: columns of a group share no row and one evaluation. */
static eval_status difference_all(jacobian *j, difference_point *p, bool derivative, bool careful)
{
    p->derivative = derivative;
    eval_status status = EVAL_OK;
    for (int g = 0; g < j->groups.groups && status == EVAL_OK; g++) {
        const int *columns = j->groups.column + j->groups.start[g];
        int count = j->groups.start[g + 1] - j->groups.start[g];
        status = evaluate_perturbed(j, p, columns, count, false);
        for (int k = 0; k < count && status == EVAL_OK; k++) store_column(j, p, columns[k]);
    }
    return status == EVAL_OK ? rescue_columns(j, p, careful) : status;
}

/* predicted = dF/dy' d and magnitude = (|dF/dy'| + |h| |dF/dy|) |d| for d = j->yp - y' */
static void predict_probe(const jacobian *j, const difference_point *p)
{
    const matrix_layout *source = source_layout(j);
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
    eval_status status =
        evaluate_residual(j->eval, p->t, j->y, j->yp, j->f1, &j->eval->stats->jacobian_residuals);
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

/* Which rows and columns of dF/dy' are zero. */
static void classify(jacobian *j)
{
    const matrix_layout *source = source_layout(j);
    const double *dfdyp = source_values(j, true);
    for (int i = 0; i < source->n; i++) j->constraint_row[i] = true;
    for (int c = 0; c < source->n; c++) {
        matrix_column column = layout_column(source, c);
        bool empty = true;
        for (int k = 0; k < column.count; k++)
            if (dfdyp[column.first + (size_t)k] != 0.0) {
                j->constraint_row[column_row(&column, k)] = false;
                empty = false;
            }
        j->algebraic_column[c] = empty;
    }
}

/* Both matrices by differences. */
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
        if (status) return status;
        classify(j);
        j->yp_known = true;
    }
    j->recheck = false;
    j->differences++;
    return EVAL_OK;
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

eval_status jacobian_evaluate(jacobian *j, double t, const double *y, const double *yp, double h,
                              const double *weights, const double *f0)
{
    eval_status status = jacobian_detect(j, t, y, yp, weights);
    if (status) return status;
    j->valid = false;
    if (j->eval->problem->form.jacobian) {
        status = evaluate_jacobian(j->eval, source_layout(j), t, y, yp, source_values(j, false),
                                   source_values(j, true));
        if (status == EVAL_OK) classify(j);
    } else {
        status = base_residual(j, t, y, yp, &f0);
        if (status) return status;
        difference_point p = {.t = t, .y = y, .yp = yp, .weights = weights, .f0 = f0};
        p.h = h != 0.0 ? h : 1.0;
        measure_point(&p, j->eval->problem->form.n);
        status = difference_matrices(j, &p);
    }
    if (status) return status;
    if (j->map) {
        scatter(j, j->source_dfdy, j->dfdy);
        scatter(j, j->source_dfdyp, j->dfdyp);
    }
    j->valid = true;
    j->version++;
    j->eval->stats->jacobians++;
    return EVAL_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Detection of an unknown pattern
 * ------------------------------------------------------------------------------------------- */

/* A random point near the start and F there, with what is needed to perturb around it. */
typedef struct detection_point {
    double *y, *yp, *f;
    double spread; /* perturbations are spread * [0.1, 1) * scale */
    double floor;  /* least scale of a variable */
} detection_point;

typedef struct detection {
    jacobian *j;
    double t;
    const double *y, *yp, *weights;
    uint64_t random;
    detection_point points[2];
    double *f; /* F at a perturbed point */
    double *work;
    bool *hit; /* rows that react to the current column */
    int *colptr, *rowind;
    size_t capacity;
} detection;

/* Uniform in [0.1, 1): splitmix64 [SLF14] */
static double random_size(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return 0.1 + 0.9 * ((double)(z >> 11) * 0x1p-53);
}

/* x moved away from zero by a random part of spread times its scale, so that roots and logarithms
 * stay defined. */
static double random_shift(detection *d, const detection_point *p, double x, int c, double spread)
{
    double scale = fmax(fabs(x), fmax(d->weights[c], p->floor));
    double shift = spread * random_size(&d->random) * scale;
    return x < 0.0 ? x - shift : x + shift;
}

static double into_bounds(const dae_residual *form, int c, double value)
{
    if (form->lower_bounds) value = fmax(value, form->lower_bounds[c]);
    if (form->upper_bounds) value = fmin(value, form->upper_bounds[c]);
    return value;
}

static eval_status detection_residual(detection *d, const double *y, const double *yp, double *f)
{
    evaluator *eval = d->j->eval;
    return evaluate_residual(eval, d->t, y, yp, f, &eval->stats->jacobian_residuals);
}

/* Choose the point as far away as F allows: relative distance 1/2 down to 0. */
static eval_status choose_point(detection *d, detection_point *p)
{
    const dae_residual *form = &d->j->eval->problem->form;
    eval_status status = EVAL_RETRY;
    for (p->spread = 0.5; status != EVAL_OK; p->spread *= 0.1) {
        bool last = p->spread < sqrt(DBL_EPSILON);
        double spread = last ? 0.0 : p->spread;
        for (int c = 0; c < form->n; c++) {
            p->y[c] = into_bounds(form, c, random_shift(d, p, d->y[c], c, spread));
            p->yp[c] = random_shift(d, p, d->yp[c], c, spread);
        }
        status = detection_residual(d, p->y, p->yp, p->f);
        if (status == EVAL_OK || last) break;
    }
    return status;
}

/* Mark the rows that react when y_c and y'_c move together; they cannot cancel, being random. */
static eval_status react(detection *d, detection_point *p, int c)
{
    const dae_residual *form = &d->j->eval->problem->form;
    double y = p->y[c], yp = p->yp[c];
    eval_status status = EVAL_RETRY;
    for (double spread = p->spread; status != EVAL_OK && spread > 0.1 * sqrt(DBL_EPSILON);
         spread *= 0.1) {
        p->y[c] = random_shift(d, p, y, c, spread);
        p->yp[c] = random_shift(d, p, yp, c, spread);
        if (!within_bounds(form, c, p->y[c])) p->y[c] = into_bounds(form, c, 2.0 * y - p->y[c]);
        status = detection_residual(d, p->y, p->yp, d->f);
    }
    p->y[c] = y;
    p->yp[c] = yp;
    for (int i = 0; i < form->n && status == EVAL_OK; i++)
        if (d->f[i] != p->f[i]) d->hit[i] = true;
    return status;
}

/* Room for `needed` more entries, by doubling. */
static bool reserve(detection *d, size_t used, size_t needed)
{
    if (used + needed <= d->capacity) return true;
    size_t capacity = 2 * d->capacity > used + needed ? 2 * d->capacity : used + needed;
    int *larger = capacity <= INT32_MAX ? DAE_ARRAY(int, capacity) : NULL;
    if (!larger) return false;
    if (used > 0) memcpy(larger, d->rowind, used * sizeof *larger);
    dae_free(d->rowind);
    d->rowind = larger;
    d->capacity = capacity;
    return true;
}

/* Append the rows marked, and the diagonal, as column c; clear the marks. */
static bool append_column(detection *d, int c)
{
    int n = d->j->eval->problem->form.n, count = 0;
    d->hit[c] = true;
    for (int i = 0; i < n; i++) count += d->hit[i];
    size_t next = (size_t)d->colptr[c];
    if (!reserve(d, next, (size_t)count)) return false;
    for (int i = 0; i < n; i++) {
        if (d->hit[i]) d->rowind[next++] = i;
        d->hit[i] = false;
    }
    d->colptr[c + 1] = (int)next;
    return true;
}

static bool detection_begin(detection *d)
{
    size_t n = (size_t)d->j->eval->problem->form.n;
    d->work = DAE_ARRAY(double, 7 * n);
    d->hit = DAE_ARRAY(bool, n);
    d->colptr = DAE_ARRAY(int, n + 1);
    if (!d->work || !d->hit || !d->colptr || !reserve(d, 0, 4 * n)) return false;
    for (size_t k = 0; k < 2; k++) {
        double *block = d->work + 3 * k * n;
        d->points[k] = (detection_point){.y = block, .yp = block + n, .f = block + 2 * n};
    }
    /* One point in the variables' own scales, one that moves even zeros by order one, so that
     * products of vanishing variables show. */
    d->points[1].floor = 1.0;
    d->f = d->work + 6 * n;
    return true;
}

static void detection_end(detection *d)
{
    dae_free(d->work);
    dae_free(d->hit);
    dae_free(d->colptr);
    dae_free(d->rowind);
}

/* Find the columns one by one; *full tells that dense is better and the rest was not looked at. */
static eval_status detect_columns(detection *d, bool *full)
{
    int n = d->j->eval->problem->form.n;
    bool may_stop = d->j->solver == DAE_LINEAR_AUTO || d->j->solver == DAE_LINEAR_GMRES;
    eval_status status = choose_point(d, &d->points[0]);
    if (status == EVAL_OK) status = choose_point(d, &d->points[1]);
    for (int c = 0; c < n && status == EVAL_OK && !*full; c++) {
        status = react(d, &d->points[0], c);
        if (status == EVAL_OK) status = react(d, &d->points[1], c);
        if (status == EVAL_OK && !append_column(d, c)) return EVAL_MEMORY;
        *full = may_stop && (double)d->colptr[c + 1] > DENSE_DENSITY * n * (double)n;
    }
    return status;
}

/* The layout from a finished detection. */
static bool adopt_pattern(jacobian *j, const detection *d, bool full)
{
    int n = j->eval->problem->form.n;
    if (full) return layout_dense(&j->layout, n) && allocate_matrices(j, NULL);
    return layout_sparse(&j->detected, n, d->colptr, d->rowind) && build_from(j, &j->detected);
}

eval_status jacobian_detect(jacobian *j, double t, const double *y, const double *yp,
                            const double *weights)
{
    if (!j->undetected) return EVAL_OK;
    detection d = {.j = j, .t = t, .y = y, .yp = yp, .weights = weights, .random = 1};
    bool full = false;
    eval_status status = detection_begin(&d) ? detect_columns(&d, &full) : EVAL_MEMORY;
    if (status == EVAL_OK && !adopt_pattern(j, &d, full)) {
        free_matrices(j);
        status = EVAL_MEMORY;
    }
    detection_end(&d);
    j->undetected = status != EVAL_OK;
    return status;
}
