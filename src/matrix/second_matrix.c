/* A(a1, a2) = F_x + a1 F_x' + a2 F_x'', from dF/dy and dF/dy' on the layout of an iteration.
 *
 * With p = place[k] and v = velocity[k], column k is made of two columns of the source:
 *   F_x = dF/dy_p,   F_x' = dF/dy_v + dF/dy'_p,   F_x'' = dF/dy'_v,
 * and so on for chains of velocities.
 * Kinematic rows are left out. One precomputed map carries the entries over when there are new
 * partial derivatives; new shifts are a flat sum of three arrays. */
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/elimination_kernel.h"
#include "matrix/second_order.h"

enum {
    DENSE_BELOW = 20, /* as in jacobian.c: below this n dense LU beats the others */
    BAND_WASTE = 4    /* a band may hold so many times the entries of the pattern */
};

struct second_matrix {
    const second_order *form; /* borrowed */
    iteration *source;        /* borrowed */
    int n_complex;
    long layout_version; /* of source->jac that all below belongs to; 0: none yet */
    matrix_layout layout;
    size_t moves;                       /* entries of the source that are used */
    size_t *from, *to;                  /* moves: position in the source, and in the layout */
    signed char *of_level;              /* moves: from the column of x^(level) */
    double *parts;                      /* F_x, F_x', .., one behind the other; owned */
    double *stiffness, *damping, *mass; /* the first three of them, on the layout */
    double *values;                     /* combined and scaled */
    double *imaginary;                  /* the same, complex only */
    int *entry_row;                     /* layout.count: row of every value */
    signed char *level;                 /* n: highest derivative in the row */
    signed char *multiplier;            /* n: unknown without derivatives: the highest level of
                                           its rows; else -1 */
    double *work;                       /* n */
    double a1, a2;                      /* of the real factors */
    bool has_factors;
    double *row_scale;                   /* n: of the real factors */
    double *complex_scale[SECOND_MOST];  /* n each */
    linear_solver *solver;               /* owned */
    linear_solver *complex[SECOND_MOST]; /* owned */
    long counted_repivots;
    long evaluations, factored; /* of derivatives, and which the factors belong to */
    int singular;               /* unknown of y */
};

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------- */

/* Give up what belongs to the layout. */
static void drop(second_matrix *m)
{
    for (int k = 0; k < SECOND_MOST; k++) {
        linear_free(m->complex[k]);
        m->complex[k] = NULL;
    }
    linear_free(m->solver);
    layout_free(&m->layout);
    dae_free_all(m->from, m->to, m->of_level, m->parts, m->values, m->imaginary, m->entry_row);
    m->solver = NULL;
    m->from = m->to = NULL;
    m->of_level = NULL;
    m->parts = m->values = m->imaginary = NULL;
    m->entry_row = NULL;
    m->layout_version = 0;
    m->counted_repivots = 0;
    m->has_factors = false;
}

void second_matrix_free(second_matrix *m)
{
    if (!m) return;
    drop(m);
    dae_free_all(m->level, m->multiplier, m->work, m->row_scale);
    for (int k = 0; k < SECOND_MOST; k++) dae_free(m->complex_scale[k]);
    dae_free(m);
}

second_matrix *second_matrix_new(const second_order *s, iteration *source, int n_complex)
{
    if (source->matrix_free || n_complex > SECOND_MOST) return NULL;
    second_matrix *m = DAE_NEW(second_matrix);
    if (!m) return NULL;
    *m = (second_matrix){.form = s, .source = source, .n_complex = n_complex, .singular = -1};
    m->level = DAE_ARRAY(signed char, s->n);
    m->row_scale = DAE_ARRAY(double, s->n);
    m->multiplier = DAE_ARRAY(signed char, s->n);
    m->work = DAE_ARRAY(double, s->n);
    bool ok = m->level && m->row_scale && m->multiplier && m->work;
    for (int k = 0; ok && k < n_complex; k++) {
        m->complex_scale[k] = DAE_ARRAY(double, s->n);
        ok = m->complex_scale[k] != NULL;
    }
    if (ok) return m;
    second_matrix_free(m);
    return NULL;
}

/* ---------------------------------------------------------------------------------------------
 * Pattern and map
 * ------------------------------------------------------------------------------------------- */

/* equation[r]: number among the n equations of row r of F, or -1 */
static int *number_rows(const second_order *s, int n_y)
{
    int *equation = DAE_ARRAY(int, n_y);
    if (!equation) return NULL;
    for (int r = 0; r < n_y; r++) equation[r] = -1;
    for (int i = 0; i < s->n; i++) equation[s->row[i]] = i;
    return equation;
}

/* Next equation of a source column from entry *k on, n if there is none; equations ascend. */
static int next_row(const matrix_column *column, const int *equation, int n, int *k)
{
    for (; *k < column->count; (*k)++) {
        int row = equation[column_row(column, *k)];
        if (row >= 0) return row;
    }
    return n;
}

/* Visit column k: the union of the source columns of x_k and its derivatives by rows. Fills what is
 * not NULL, returns the number of rows. */
static int merge_column(const second_matrix *m, const int *equation, int k, int *rows)
{
    const second_order *s = m->form;
    matrix_column column[SECOND_HIGHEST];
    int columns = 0, at[SECOND_HIGHEST] = {0}, from[SECOND_HIGHEST], count = 0;
    for (int j = 0; j < s->levels[k]; j++)
        column[columns++] = layout_column(&m->source->jac.layout, second_order_place(s, k, j));
    for (;;) {
        int row = s->n;
        for (int j = 0; j < columns; j++) {
            from[j] = next_row(&column[j], equation, s->n, &at[j]);
            if (from[j] < row) row = from[j];
        }
        if (row == s->n) return count;
        if (rows) rows[count] = row;
        count++;
        for (int j = 0; j < columns; j++) at[j] += from[j] == row;
    }
}

/* The union of the patterns, as compressed columns. */
static bool reduce_pattern(const second_matrix *m, const int *equation, matrix_layout *pattern)
{
    int n = m->form->n;
    int *colptr = DAE_ARRAY(int, n + 1);
    if (!colptr) return false;
    for (int k = 0; k < n; k++) colptr[k + 1] = colptr[k] + merge_column(m, equation, k, NULL);
    int *rowind = DAE_ARRAY(int, colptr[n]);
    for (int k = 0; rowind && k < n; k++) merge_column(m, equation, k, rowind + colptr[k]);
    bool ok = rowind && layout_sparse(pattern, n, colptr, rowind);
    dae_free_all(colptr, rowind);
    return ok;
}

/* Whether a pattern had better be dense; false: memory */
static bool prefers_dense(const jacobian *jac, const matrix_layout *pattern, bool *dense)
{
    bool lists = false;
    *dense = pattern->n < DENSE_BELOW && jac->solver == DAE_LINEAR_AUTO;
    if (!*dense || jac->layout.kind == DAE_STRUCTURE_BANDED) return true;
    if (!elimination_pays(pattern, &lists)) return false;
    *dense = !lists;
    return true;
}

/* A band stays one if the order of the unknowns keeps it narrow. */
static bool choose_layout(second_matrix *m, const int *equation)
{
    const jacobian *jac = &m->source->jac;
    int n = m->form->n;
    bool dense = false;
    if (jac->layout.kind == DAE_STRUCTURE_DENSE) return layout_dense(&m->layout, n);
    matrix_layout pattern = {0};
    if (!reduce_pattern(m, equation, &pattern)) return false;
    const bool known = prefers_dense(jac, &pattern, &dense);
    if (!known || dense) {
        layout_free(&pattern);
        return known && layout_dense(&m->layout, n);
    }
    int lower, upper;
    pattern_bandwidth(&pattern, &lower, &upper);
    size_t band = (size_t)(2 * lower + upper + 1) * (size_t)n;
    if (jac->layout.kind == DAE_STRUCTURE_BANDED && band <= BAND_WASTE * pattern.count) {
        layout_free(&pattern);
        return layout_banded(&m->layout, n, lower, upper);
    }
    m->layout = pattern;
    return true;
}

/* Moves of one source column into column k. Rows ascend on both sides. */
static void map_column(second_matrix *m, const int *equation, int source_column, int k, int level)
{
    matrix_column from = layout_column(&m->source->jac.layout, source_column);
    matrix_column to = layout_column(&m->layout, k);
    int at = 0;
    for (int e = 0; e < from.count; e++) {
        int row = equation[column_row(&from, e)];
        if (row < 0) continue;
        while (column_row(&to, at) != row) at++;
        m->from[m->moves] = from.first + (size_t)e;
        m->to[m->moves] = to.first + (size_t)at;
        m->of_level[m->moves++] = (signed char)level;
    }
}

static bool build_map(second_matrix *m, const int *equation)
{
    size_t most = m->source->jac.layout.count;
    m->from = DAE_ARRAY(size_t, most);
    m->to = DAE_ARRAY(size_t, most);
    m->of_level = DAE_ARRAY(signed char, most);
    m->entry_row = DAE_ARRAY(int, m->layout.count);
    if (!m->from || !m->to || !m->of_level || !m->entry_row) return false;
    m->moves = 0;
    for (int k = 0; k < m->form->n; k++) {
        for (int j = 0; j < m->form->levels[k]; j++)
            map_column(m, equation, second_order_place(m->form, k, j), k, j);
        matrix_column column = layout_column(&m->layout, k);
        for (int e = 0; e < column.count; e++)
            m->entry_row[column.first + (size_t)e] = column_row(&column, e);
    }
    return true;
}

/* Parts: F_x, F_x', F_x'', and those of higher derivatives. */
static size_t part_count(const second_matrix *m)
{
    return m->form->order > 2 ? (size_t)m->form->order + 1 : 3;
}

/* Values, and the symbolic analysis that all shifts share. */
static bool build_solvers(second_matrix *m)
{
    size_t count = m->layout.count;
    m->parts = DAE_ARRAY(double, part_count(m) * count);
    m->values = DAE_ARRAY(double, count);
    m->solver = linear_new(&m->layout);
    if (!m->parts || !m->values || !m->solver) return false;
    linear_use_kernels(m->solver, m->source->eval->problem->kernels);
    m->stiffness = m->parts;
    m->damping = m->parts + count;
    m->mass = m->parts + 2 * count;
    if (m->n_complex > 0) m->imaginary = DAE_ARRAY(double, count);
    if (m->n_complex > 0 && !m->imaginary) return false;
    for (int k = 0; k < m->n_complex; k++) {
        m->complex[k] = complex_new(&m->layout, m->solver);
        if (!m->complex[k]) return false;
    }
    return true;
}

/* All of the above for the layout of the source, once it is known and again when it has grown. */
static bool prepare(second_matrix *m)
{
    const jacobian *jac = &m->source->jac;
    if (m->solver && m->layout_version == jac->layout_version) return true;
    drop(m);
    int *equation = number_rows(m->form, jac->layout.n);
    bool ok = equation && choose_layout(m, equation) && build_map(m, equation) && build_solvers(m);
    dae_free(equation);
    if (ok)
        m->layout_version = jac->layout_version;
    else
        drop(m);
    return ok;
}

/* ---------------------------------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------------------------------- */

/* F_x, F_x', .. from dF/dy and dF/dy' */
static void collect_parts(second_matrix *m)
{
    const double *restrict dfdy = m->source->jac.dfdy, *restrict dfdyp = m->source->jac.dfdyp;
    const size_t count = m->layout.count;
    memset(m->parts, 0, part_count(m) * count * sizeof *m->parts);
    for (size_t e = 0; e < m->moves; e++) {
        size_t from = m->from[e], to = (size_t)m->of_level[e] * count + m->to[e];
        m->parts[to] += dfdy[from];
        m->parts[to + count] += dfdyp[from];
    }
}

/* The highest derivative of its unknown that entry e has. */
static signed char level_of_entry(const second_matrix *m, size_t e)
{
    size_t level = part_count(m) - 1;
    while (level > 0 && m->parts[level * m->layout.count + e] == 0.0) level--;
    return (signed char)level;
}

/* Highest derivative of each row. */
static void find_levels(second_matrix *m)
{
    memset(m->level, 0, (size_t)m->form->n);
    for (size_t e = 0; e < m->layout.count; e++) {
        signed char level = level_of_entry(m, e);
        int row = m->entry_row[e];
        if (level > m->level[row]) m->level[row] = level;
    }
}

/* Unknowns without derivatives, and the highest level of the rows that have them. */
static void find_multipliers(second_matrix *m)
{
    for (int k = 0; k < m->form->n; k++) {
        matrix_column column = layout_column(&m->layout, k);
        signed char most = 0;
        for (int e = 0; e < column.count; e++) {
            size_t at = column.first + (size_t)e;
            signed char level = m->level[column_row(&column, e)];
            if (m->stiffness[at] != 0.0 && level > most) most = level;
            if (level_of_entry(m, at) > 0) {
                most = -1;
                break;
            }
        }
        m->multiplier[k] = most;
    }
}

/* An unknown without derivatives in a row with x'' is of the size of x'', and so are other rows
 * without derivatives that have it: accelerations that are unknowns, force laws with multipliers.
 * True: some row has risen.
 */
static bool raise_levels(second_matrix *m)
{
    bool risen = false;
    for (int k = 0; k < m->form->n; k++) {
        matrix_column column = layout_column(&m->layout, k);
        for (int e = 0; e < column.count && m->multiplier[k] > 0; e++) {
            signed char *level = &m->level[column_row(&column, e)];
            bool higher = m->stiffness[column.first + (size_t)e] != 0.0 && *level == 0;
            if (higher) *level = m->multiplier[k];
            risen = risen || higher;
        }
    }
    return risen;
}

iteration_status second_matrix_evaluate(second_matrix *m, double t, const double *y,
                                        const double *yp, double h, const double *weights,
                                        const double *f0)
{
    double cj = h != 0.0 ? 1.0 / h : 0.0;
    iteration_status status = iteration_evaluate(m->source, t, y, yp, cj, h, weights, f0);
    if (status != ITERATION_OK) return status;
    if (!prepare(m)) return ITERATION_MEMORY;
    collect_parts(m);
    find_levels(m);
    do find_multipliers(m);
    while (raise_levels(m));
    m->has_factors = false;
    m->evaluations++;
    return ITERATION_OK;
}

int second_matrix_top(const second_matrix *m)
{
    int top = 0;
    for (int i = 0; i < m->form->n; i++)
        if (m->level[i] > top) top = m->level[i];
    return top;
}

/* Row factors that bring rows with x' and rows without derivatives to the size of those with x'',
 * or, if a2 = 0 or there is no x'', to that of those with x' [BCP96 5.4.2]. */
static void set_scales(const second_matrix *m, double a1, double a2, double *scale)
{
    int top = second_matrix_top(m);
    if (top == 2 && a2 == 0.0) top = 1;
    double size[3] = {1.0, a1 != 0.0 ? a1 : 1.0, a2};
    for (int i = 0; i < m->form->n; i++)
        scale[i] = m->level[i] < top ? size[top] / size[m->level[i]] : 1.0;
}

static iteration_status from_linear(second_matrix *m, linear_status status, int column)
{
    dae_stats *stats = m->source->eval->stats;
    stats->factorisations++;
    if (m->factored != m->evaluations)
        stats->factor_new_jacobian++;
    else
        stats->factor_step_changed++;
    m->factored = m->evaluations;
    m->singular = column >= 0 ? m->form->place[column] : -1;
    if (status == LINEAR_MEMORY) return ITERATION_MEMORY;
    return status == LINEAR_OK ? ITERATION_OK : ITERATION_SINGULAR;
}

/* Factors of m->values */
static iteration_status factor_values(second_matrix *m)
{
    linear_status status = linear_factor(m->solver, m->values);
    m->source->eval->stats->repivots += m->solver->repivots - m->counted_repivots;
    m->counted_repivots = m->solver->repivots;
    m->has_factors = status == LINEAR_OK;
    return from_linear(m, status, status == LINEAR_SINGULAR ? m->solver->singular_column : -1);
}

iteration_status second_matrix_factor(second_matrix *m, double a1, double a2)
{
    if (!m->solver || m->evaluations == 0) return ITERATION_RETRY;
    set_scales(m, fabs(a1), fabs(a2), m->row_scale);
    m->a1 = a1;
    m->a2 = a2;
    const double *restrict K = m->stiffness, *restrict D = m->damping, *restrict M = m->mass;
    const double *restrict scale = m->row_scale;
    double *restrict values = m->values;
    for (size_t e = 0; e < m->layout.count; e++)
        values[e] = scale[m->entry_row[e]] * (K[e] + a1 * D[e] + a2 * M[e]);
    return factor_values(m);
}

/* Row factors that bring all rows to the size of those with the highest derivative; a: shifts of
 * the longest chains. */
static void set_higher_scales(const second_matrix *m, const double *a, double *scale)
{
    int top = second_matrix_top(m);
    for (int i = 0; i < m->form->n; i++) scale[i] = fabs(a[top] / a[(int)m->level[i]]);
}

iteration_status higher_matrix_factor(second_matrix *m, higher_shifts a)
{
    if (!m->solver || m->evaluations == 0) return ITERATION_RETRY;
    const size_t count = m->layout.count;
    set_higher_scales(m, a[m->form->order], m->row_scale);
    m->a1 = a[m->form->order][1];
    m->a2 = a[m->form->order][2];
    memset(m->values, 0, count * sizeof *m->values);
    for (int k = 0; k < m->form->n; k++) {
        matrix_column column = layout_column(&m->layout, k);
        const double *shift = a[m->form->levels[k]];
        for (size_t e = column.first; e < column.first + (size_t)column.count; e++) {
            double sum = m->parts[e];
            for (int j = 1; j <= m->form->levels[k]; j++)
                sum += shift[j] * m->parts[(size_t)j * count + e];
            m->values[e] = m->row_scale[m->entry_row[e]] * sum;
        }
    }
    return factor_values(m);
}

iteration_status second_matrix_factor_complex(second_matrix *m, int k, double a1_re, double a1_im,
                                              double a2_re, double a2_im)
{
    if (!m->solver || m->evaluations == 0) return ITERATION_RETRY;
    double *restrict scale = m->complex_scale[k];
    set_scales(m, hypot(a1_re, a1_im), hypot(a2_re, a2_im), scale);
    const double *restrict K = m->stiffness, *restrict D = m->damping, *restrict M = m->mass;
    double *restrict re = m->values, *restrict im = m->imaginary;
    for (size_t e = 0; e < m->layout.count; e++) {
        double factor = scale[m->entry_row[e]];
        re[e] = factor * (K[e] + a1_re * D[e] + a2_re * M[e]);
        im[e] = factor * (a1_im * D[e] + a2_im * M[e]);
    }
    linear_solver *solver = m->complex[k];
    long repivots = solver->repivots;
    linear_status status = solver->ops->factor(solver, re, im);
    m->source->eval->stats->repivots += solver->repivots - repivots;
    return from_linear(m, status, status == LINEAR_SINGULAR ? solver->singular_column : -1);
}

int second_matrix_singular(const second_matrix *m)
{
    return m->singular;
}

int second_matrix_multiplier(const second_matrix *m, int k)
{
    return m->multiplier[k];
}

void second_matrix_solve(second_matrix *m, double *b)
{
    for (int i = 0; i < m->form->n; i++) b[i] *= m->row_scale[i];
    m->source->eval->stats->solves++;
    linear_solve(m->solver, b);
}

bool second_matrix_shifts(const second_matrix *m, double *a1, double *a2)
{
    *a1 = m->a1;
    *a2 = m->a2;
    return m->has_factors;
}

/* 2 / (1 + a / a_hat): the factor that is best for all stiffnesses (5.2.13) */
static double relaxation(double a, double factored)
{
    return factored != 0.0 ? 2.0 / (1.0 + a / factored) : 1.0;
}

void second_matrix_direction(second_matrix *m, const double *f, double a1, double a2, double *delta)
{
    const second_order *s = m->form;
    double *b = m->work;
    double relax[3] = {1.0, relaxation(a1, m->a1), relaxation(a2, m->a2)};
    for (int i = 0; i < s->n; i++) b[i] = -relax[(int)m->level[i]] * f[s->row[i]];
    second_matrix_solve(m, b);
    for (int k = 0; k < s->n; k++) {
        double d = m->multiplier[k] > 0 ? b[k] / relax[(int)m->multiplier[k]] : b[k];
        delta[s->place[k]] = d;
        if (s->velocity[k] >= 0) delta[s->velocity[k]] = a1 * d;
    }
}

void second_matrix_solve_complex(second_matrix *m, int k, double *re, double *im)
{
    const double *scale = m->complex_scale[k];
    for (int i = 0; i < m->form->n; i++) {
        re[i] *= scale[i];
        im[i] *= scale[i];
    }
    m->source->eval->stats->solves++;
    m->complex[k]->ops->solve(m->complex[k], re, im);
}

void second_matrix_multiply(second_matrix *m, double a0, double a1, double a2, const double *x,
                            double *b)
{
    const double *restrict K = m->stiffness, *restrict D = m->damping, *restrict M = m->mass;
    double *restrict values = m->values;
    for (size_t e = 0; e < m->layout.count; e++) values[e] = a0 * K[e] + a1 * D[e] + a2 * M[e];
    matrix_multiply(&m->layout, values, x, b);
}

void second_matrix_persist(second_matrix *m, persist *p)
{
    const size_t n = (size_t)m->form->n;
    const bool there = persist_flag(p, m->solver != NULL);
    if (p->reading && !there) drop(m);
    if (p->reading && there && persist_ok(p) && !prepare(m)) p->no_memory = true;
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, m->level, n);
    PERSIST_ARRAY(p, m->multiplier, n);
    PERSIST_ARRAY(p, m->row_scale, n);
    for (int k = 0; k < m->n_complex; k++) PERSIST_ARRAY(p, m->complex_scale[k], n);
    PERSIST(p, m->a1);
    PERSIST(p, m->a2);
    PERSIST(p, m->has_factors);
    PERSIST(p, m->counted_repivots);
    PERSIST(p, m->evaluations);
    PERSIST(p, m->factored);
    PERSIST(p, m->singular);
    if (!there) return;
    PERSIST_ARRAY(p, m->parts, part_count(m) * m->layout.count);
    linear_persist(m->solver, p);
    for (int k = 0; k < m->n_complex; k++) linear_persist(m->complex[k], p);
}
