/* Differences for derivatives that the user did not give, and sums with form matrices. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

/* ---- matrices ---- */

form_matrix form_matrix_dense(int rows, int columns)
{
    return (form_matrix){.rows = rows, .columns = columns, .count = (size_t)rows * (size_t)columns};
}

form_matrix form_matrix_on(int rows, int columns, const int *colptr, const int *rowind)
{
    if (!colptr) return form_matrix_dense(rows, columns);
    return (form_matrix){.rows = rows,
                         .columns = columns,
                         .colptr = colptr,
                         .rowind = rowind,
                         .count = (size_t)colptr[columns]};
}

/* A dense matrix by columns */
static void multiply_dense(const form_matrix *m, const double *values, double a, const double *x,
                           double *out)
{
    for (int j = 0; j < m->columns; j++, values += m->rows) {
        const double ax = a * x[j];
        for (int i = 0; i < m->rows; i++) out[i] += ax * values[i];
    }
}

void form_matrix_multiply(const form_matrix *m, const double *values, double a, const double *x,
                          double *out)
{
    if (!m->colptr) {
        multiply_dense(m, values, a, x, out);
        return;
    }
    for (int j = 0; j < m->columns; j++) {
        const double ax = a * x[j];
        for (int k = m->colptr[j]; k < m->colptr[j + 1]; k++) out[m->rowind[k]] += ax * values[k];
    }
}

void form_matrix_transposed(const form_matrix *m, const double *values, double a, const double *x,
                            double *out)
{
    for (int j = 0; j < m->columns; j++) {
        double sum = 0.0;
        if (m->colptr)
            for (int k = m->colptr[j]; k < m->colptr[j + 1]; k++)
                sum += values[k] * x[m->rowind[k]];
        else
            for (int i = 0; i < m->rows; i++) sum += *values++ * x[i];
        out[j] += a * sum;
    }
}

void form_matrix_place(const form_matrix *m, const double *values, size_t row, size_t column,
                       double *to)
{
    for (form_entry e = {0}; form_matrix_next(m, &e);)
        to[(size_t)e.row * row + (size_t)e.column * column] = values[e.at];
}

bool form_solver_new(form_solver *s, const form_matrix *m)
{
    *s = (form_solver){.matrix = m};
    bool ok = m->colptr ? layout_sparse(&s->layout, m->columns, m->colptr, m->rowind)
                        : layout_dense(&s->layout, m->columns);
    if (ok) s->solver = linear_new(&s->layout);
    return s->solver != NULL;
}

void form_solver_free(form_solver *s)
{
    linear_free(s->solver);
    layout_free(&s->layout);
    *s = (form_solver){0};
}

linear_status form_solver_factor(form_solver *s, const double *values)
{
    if (s->factored && s->matrix->constant) return LINEAR_OK;
    linear_status status = linear_factor(s->solver, values);
    s->factored = status == LINEAR_OK;
    return status;
}

/* ---- work space ---- */

/* Colours of a rectangular pattern: it is padded to a square. */
static bool group_columns(coloring *groups, const form_matrix *m)
{
    int n = m->rows > m->columns ? m->rows : m->columns;
    int *colptr = DAE_ARRAY(int, n + 1);
    if (!colptr) return false;
    for (int j = 0; j <= n; j++) colptr[j] = m->colptr[j < m->columns ? j : m->columns];
    matrix_layout layout = {0};
    bool ok = layout_sparse(&layout, n, colptr, m->rowind) && coloring_build(groups, &layout);
    layout_free(&layout);
    dae_free(colptr);
    return ok;
}

bool differencer_new(differencer *d, const form_matrix *m)
{
    size_t rows = (size_t)m->rows, columns = (size_t)m->columns;
    *d = (differencer){.rows = m->rows, .columns = m->columns};
    return SHARED_BLOCK(SHARE(d->x, columns), SHARE(d->up, rows), SHARE(d->down, rows),
                        SHARE(d->further, 2 * rows)) &&
           (!m->colptr || group_columns(&d->groups, m));
}

void differencer_free(differencer *d)
{
    coloring_free(&d->groups);
    dae_free(d->x);
    *d = (differencer){0};
}

/* ---- differences ---- */

/* A size for x_j: between its value and its nominal value, since a long way in an angle is many
 * turns, and a long way in a distance is none. */
static double size_of(const double *x, const double *nominal, int j)
{
    double least = nominal ? nominal[j] : 1.0, value = fabs(x[j]);
    return value > least ? sqrt(value * least) : least;
}

double difference_scale(int n, const double *x, const double *v, const double *nominal, double most)
{
    double rate = 1.0 / most;
    for (int j = 0; v && j < n; j++) rate = fmax(rate, fabs(v[j]) / size_of(x, nominal, j));
    return 1.0 / rate;
}

static int group_count(const differencer *d)
{
    return d->groups.groups > 0 ? d->groups.groups : d->columns;
}

/* Column k of group g; -1 past the end, -2 for columns that only pad the pattern. */
static int group_member(const differencer *d, int g, int k)
{
    if (d->groups.groups == 0) return k == 0 ? g : -1;
    if (d->groups.start[g] + k >= d->groups.start[g + 1]) return -1;
    int j = d->groups.column[d->groups.start[g] + k];
    return j < d->columns ? j : -2;
}

static const double STEP = 6.0554544523933429e-06; /* cbrt(DBL_EPSILON) */

/* Move the columns of a group by `sign` increments. */
static void move_group(const differencer *d, int g, double sign, const double *x,
                       const double *nominal)
{
    for (int k = 0, j; (j = group_member(d, g, k)) != -1; k++)
        if (j >= 0) d->x[j] = x[j] + sign * STEP * size_of(x, nominal, j);
}

/* Put the differences of a group into its columns, with the increments as they were rounded. */
static void store_group(const differencer *d, int g, const form_matrix *m, const double *x,
                        const double *nominal, double *values)
{
    for (int k = 0, j; (j = group_member(d, g, k)) != -1; k++) {
        if (j < 0) continue;
        double step = STEP * size_of(x, nominal, j);
        double width = (x[j] + step) - (x[j] - step);
        for (form_entry e = form_matrix_column(m, j); form_matrix_next(m, &e) && e.column == j;)
            values[e.at] = (d->up[e.row] - d->down[e.row]) / width;
        d->x[j] = x[j];
    }
}

eval_status difference_matrix(differencer *d, const form_matrix *m, form_function c, void *context,
                              double t, const double *x, const double *nominal, double *values)
{
    vector_copy(d->columns, x, d->x);
    for (int g = 0; g < group_count(d); g++) {
        move_group(d, g, 1.0, x, nominal);
        eval_status status = c(context, t, d->x, d->up);
        if (status != EVAL_OK) return status;
        move_group(d, g, -1.0, x, nominal);
        status = c(context, t, d->x, d->down);
        if (status != EVAL_OK) return status;
        store_group(d, g, m, x, nominal, values);
    }
    return EVAL_OK;
}

/* c at (t + s, x + s v) */
static eval_status at_distance(differencer *d, form_function c, void *context, double t,
                               const double *x, const double *v, double s, double *out)
{
    vector_copy(d->columns, x, d->x);
    if (v) vector_axpy(d->columns, s, v, d->x);
    return c(context, d->still ? t : t + s, d->x, out);
}

/* A step that t + s keeps without rounding. */
static double exact_step(double t, double s)
{
    volatile double moved = t + s;
    return moved - t;
}

eval_status difference_along(differencer *d, form_function c, void *context, double t,
                             const double *x, const double *v, double scale, double *out)
{
    /* 8 (c(s) - c(-s)) - (c(2s) - c(-2s)) over 12 s: error s^4, rounding u/s, so s = u^(1/5) */
    double s = exact_step(t, fmax(pow(DBL_EPSILON, 0.2) * scale, 1e3 * DBL_EPSILON * fabs(t)));
    double *places[4] = {d->up, d->down, d->further, d->further + d->rows};
    const double at[4] = {s, -s, 2.0 * s, -2.0 * s};
    for (int k = 0; k < 4; k++) {
        eval_status status = at_distance(d, c, context, t, x, v, at[k], places[k]);
        if (status != EVAL_OK) return status;
    }
    for (int i = 0; i < d->rows; i++)
        out[i] = (8.0 * (d->up[i] - d->down[i]) - (places[2][i] - places[3][i])) / (12.0 * s);
    return EVAL_OK;
}

eval_status difference_twice(differencer *d, form_function c, void *context, double t,
                             const double *x, const double *v, double scale, double *out)
{
    /* 16 (c(s) + c(-s)) - (c(2s) + c(-2s)) - 30 c(0) over 12 s^2: s = u^(1/6) */
    double s =
        exact_step(t, fmax(pow(DBL_EPSILON, 1.0 / 6.0) * scale, 1e3 * DBL_EPSILON * fabs(t)));
    double *places[4] = {d->up, d->down, d->further, d->further + d->rows};
    const double at[4] = {s, -s, 2.0 * s, -2.0 * s};
    eval_status status = at_distance(d, c, context, t, x, v, 0.0, out);
    for (int k = 0; status == EVAL_OK && k < 4; k++)
        status = at_distance(d, c, context, t, x, v, at[k], places[k]);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < d->rows; i++)
        out[i] = (16.0 * (d->up[i] + d->down[i]) - (places[2][i] + places[3][i]) - 30.0 * out[i]) /
                 (12.0 * s * s);
    return EVAL_OK;
}
