#include "formulation/selection.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "linalg/row_pivots.h"
#include "linalg/singular_values.h"

/* A choice is bad when a dummy moves this much faster than a state, in their nominal sizes. Two
 * states that compete take turns at about 1; the gap between keeps them from taking turns often. */
static const double WORST = 3.0;

/* Multiplications of an elimination from which on a component counts as large, and from which on
 * even the first choice is a sparse one; entries from which on that is given up. */
static const double LARGE = 1e6, HUGE_EFFORT = 3e7;
enum { MOST_FILL = 50000000 };
/* A pivot this small against the largest of its component: the equations depend on each other. */
static const double SINGULAR = 1e-12;

/* The tangent space has turned: an entry of X, in nominal sizes, has changed by more than this. A
 * turn of the rows costs a new Jacobian; a step is the more accurate the less it turns. */
static const double TURNED = 0.2;

/* How much a column counts as a dummy, by stateSelect = never, avoid, default, prefer, always. */
static const double EAGERNESS[5] = {1e4, 1e1, 1.0, 1e-1, 1e-4};

/* One connected part of the rows with c_i >= 1: its matrix, and the candidates in its columns. */
typedef struct component {
    int rows, columns;
    int *row;     /* equations of the analysed set, by falling c_i */
    int *column;  /* variables of the analysed set */
    int *depth;   /* per row: c_i */
    int *dummy;   /* columns by stage: dummy[s * rows ..]: the ones solved for at stage -1 - s */
    int stages;   /* largest c_i */
    int *partner; /* per row: the column that it is solved for */
    bool chosen;  /* a large one: partners were found by elimination */
    bool large;   /* too large to be eliminated again and again: rows look after themselves */
    size_t first; /* its entries begin here */
    size_t entries;
} component;

struct selection {
    int count; /* rows to choose */
    int *chosen, *previous;
    int candidates;
    const kinematic *candidate; /* borrowed */
    int columns;
    int *local;    /* per column of the set: its number in its component, -1 */
    int *part;     /* and the component */
    double *scale; /* per column: nominal size */
    int *own;      /* per column: the unknown that is x_j itself, -1: none */
    double *eager; /* per column */
    component *component;
    int components;
    expr_code code;                /* entries, component by component */
    double *value;                 /* of the entries */
    int *entry_row, *entry_column; /* local */
    double *matrix;                /* of the largest component */
    int *pivot, *row_at;
    bool *taken;
    bool *is_dummy; /* per column of the set and stage */
    int most_stages;
    double quality, effort;
    int *culprit; /* equations that depend on each other */
    int culprits;
    /* rows of the choice: term_start[r] .. of them; more than one in the tangent space */
    bool tangent;
    int most_terms;
    int *term_start, *term_candidate;
    double *term_weight;
    int *candidate_at;       /* per stage and column of the set: the candidate, -1: none */
    const signed char *sign; /* of unknowns; borrowed */
};

/* ---- life ---- */

void selection_free(selection *s)
{
    if (!s) return;
    for (int k = 0; s->component && k < s->components; k++) {
        dae_free_all(s->component[k].row, s->component[k].column, s->component[k].depth,
                     s->component[k].dummy, s->component[k].partner);
    }
    dae_free_all(s->component, s->chosen, s->previous, s->local, s->part, s->scale, s->own,
                 s->eager);
    code_free(&s->code);
    dae_free_all(s->value, s->entry_row, s->entry_column, s->matrix, s->taken, s->row_at, s->pivot,
                 s->is_dummy, s->culprit, s->term_start, s->term_candidate, s->term_weight,
                 s->candidate_at, s);
}

static int find_root(int *parent, int k)
{
    while (parent[k] != k) k = parent[k] = parent[parent[k]];
    return k;
}

/* Whether entry k of row i belongs to the system Jacobian. */
static bool in_jacobian(const structure *t, int i, int k)
{
    return t->sigma.order[k] == t->d[t->sigma.column[k]] - t->c[i];
}

/* Join rows with c_i >= 1 that share a column of J; parent is over rows, then columns. */
static void join_rows(const structure *t, int *parent)
{
    for (int i = 0; i < t->sigma.m; i++)
        for (int k = t->sigma.start[i]; t->c[i] > 0 && k < t->sigma.start[i + 1]; k++)
            if (in_jacobian(t, i, k)) {
                int a = find_root(parent, i),
                    b = find_root(parent, t->sigma.m + t->sigma.column[k]);
                if (a != b) parent[a < b ? b : a] = a < b ? a : b;
            }
}

/* Number the components by their roots, count rows, columns and entries of each. */
static int number_components(const structure *t, int *parent, int *number)
{
    int count = 0, m = t->sigma.m;
    for (int i = 0; i < m; i++) {
        number[i] = -1;
        if (t->c[i] > 0 && find_root(parent, i) == i) number[i] = count++;
    }
    return count;
}

static void count_component(selection *s, const structure *t, int *parent, const int *number)
{
    int m = t->sigma.m;
    for (int i = 0; i < m; i++) {
        if (t->c[i] == 0) continue;
        component *q = &s->component[number[find_root(parent, i)]];
        q->rows++;
        if (t->c[i] > q->stages) q->stages = t->c[i];
        for (int k = t->sigma.start[i]; k < t->sigma.start[i + 1]; k++)
            q->entries += in_jacobian(t, i, k);
    }
    for (int j = 0; j < t->sigma.n; j++) {
        int root = find_root(parent, m + j);
        s->part[j] = root < m ? number[root] : -1;
        s->local[j] = s->part[j] >= 0 ? s->component[s->part[j]].columns++ : -1;
    }
}

static bool allocate_components(selection *s)
{
    size_t largest = 0, vector = 1, entries = 0;
    for (int k = 0; k < s->components; k++) {
        component *q = &s->component[k];
        size_t rows = (size_t)q->rows, columns = (size_t)q->columns;
        q->row = DAE_ARRAY(int, rows);
        q->depth = DAE_ARRAY(int, rows);
        q->column = DAE_ARRAY(int, columns);
        q->dummy = DAE_ARRAY(int, rows *(size_t)q->stages);
        q->partner = DAE_ARRAY(int, rows);
        if (!q->row || !q->depth || !q->column || !q->dummy || !q->partner) return false;
        bool eliminated = (double)rows * (double)rows * (double)columns <= HUGE_EFFORT;
        if (eliminated && rows * columns > largest) largest = rows * columns;
        if (columns + rows > vector) vector = columns + rows;
        if (q->stages > s->most_stages) s->most_stages = q->stages;
        q->first = entries;
        entries += q->entries;
        double effort = (double)q->stages * (double)rows * (double)rows * (double)columns;
        q->large = effort > LARGE;
        s->effort += q->large ? (double)q->entries : effort;
    }
    s->value = DAE_ARRAY(double, entries);
    s->entry_row = DAE_ARRAY(int, entries);
    s->entry_column = DAE_ARRAY(int, entries);
    s->matrix = DAE_ARRAY(double, largest);
    s->taken = DAE_ARRAY(bool, vector);
    s->row_at = DAE_ARRAY(int, vector);
    s->pivot = DAE_ARRAY(int, vector);
    s->culprit = DAE_ARRAY(int, vector);
    s->is_dummy = DAE_ARRAY(bool, (size_t)s->columns *(size_t)(s->most_stages + 1));
    return s->value && s->entry_row && s->entry_column && s->matrix && s->taken && s->row_at &&
           s->culprit && s->pivot && s->is_dummy;
}

/* Rows and columns into their components, rows of many differentiations first, so that the rows of
 * a stage are the leading ones. */
static void fill_components(selection *s, const structure *t, int *parent, const int *number)
{
    for (int j = 0; j < s->columns; j++)
        if (s->part[j] >= 0) s->component[s->part[j]].column[s->local[j]] = j;
    for (int k = 0; k < s->components; k++) s->component[k].rows = 0;
    for (int depth = s->most_stages; depth > 0; depth--)
        for (int i = 0; i < t->sigma.m; i++) {
            if (t->c[i] != depth) continue;
            component *q = &s->component[number[find_root(parent, i)]];
            q->row[q->rows] = i;
            q->partner[q->rows] = s->local[t->match[i]];
            q->depth[q->rows++] = depth;
        }
}

/* Where the entries d f_i / d x_j^(sigma_ij) are, in their order; returns how many. */
static size_t place_entries(selection *s, const structure *t)
{
    size_t at = 0;
    for (int k = 0; k < s->components; k++)
        for (int r = 0; r < s->component[k].rows; r++) {
            int i = s->component[k].row[r];
            for (int e = t->sigma.start[i]; e < t->sigma.start[i + 1]; e++) {
                if (!in_jacobian(t, i, e)) continue;
                s->entry_row[at] = r;
                s->entry_column[at++] = s->local[t->sigma.column[e]];
            }
        }
    return at;
}

/* These over y, compiled, in f->chooser. */
static bool compile_entries(const selection *s, const analysed *a, formulated *f, size_t total)
{
    const structure *t = &a->structure;
    unknown_index index = {0};
    size_t at = 0;
    expr *entry = DAE_ARRAY(expr, total);
    bool ok = entry && unknown_index_new(&index, a, f);
    for (int k = 0; ok && k < s->components; k++)
        for (int r = 0; ok && r < s->component[k].rows; r++) {
            int i = s->component[k].row[r];
            for (int e = t->sigma.start[i]; ok && e < t->sigma.start[i + 1]; e++) {
                if (!in_jacobian(t, i, e)) continue;
                expr leaf = graph_variable(a->set.graph, t->sigma.column[e], t->sigma.order[e]);
                expr partial = derive_partial(a->set.graph, a->set.row[i].residual, leaf);
                if (partial != EXPR_NONE) partial = formulated_expression(f, &index, partial);
                ok = partial != EXPR_NONE;
                entry[at++] = partial;
            }
        }
    ok = ok && code_new(&f->chooser, a->set.graph, entry, total);
    unknown_index_free(&index);
    dae_free(entry);
    return ok;
}

/* The program of the entries: made once, with work space of our own. False: memory */
static bool take_entries(selection *s, const analysed *a, formulated *f)
{
    size_t total = place_entries(s, &a->structure);
    if (!f->chooser.tape && !compile_entries(s, a, f, total)) return false;
    return code_share(&s->code, &f->chooser);
}

static bool find_components(selection *s, const analysed *a)
{
    const structure *t = &a->structure;
    int m = t->sigma.m, n = t->sigma.n;
    int *parent = DAE_ARRAY(int, m + n), *number = DAE_ARRAY(int, m);
    bool ok = parent && number;
    for (int k = 0; ok && k < m + n; k++) parent[k] = k;
    if (ok) {
        join_rows(t, parent);
        s->components = number_components(t, parent, number);
        s->component = DAE_ARRAY(component, s->components);
        ok = s->component;
    }
    if (ok) {
        count_component(s, t, parent, number);
        ok = allocate_components(s);
    }
    if (ok) fill_components(s, t, parent, number);
    dae_free_all(parent, number);
    return ok;
}

/* Room for the terms of all rows, and where candidates are. */
static bool allocate_terms(selection *s, const formulated *f)
{
    int most = 1;
    s->tangent = f->tangent;
    s->sign = f->sign;
    for (int k = 0; s->tangent && k < s->components; k++)
        if (!s->component[k].large && s->component[k].rows + 1 > most)
            most = s->component[k].rows + 1;
    s->most_terms = s->count * most;
    s->term_start = DAE_ARRAY(int, s->count + 1);
    s->term_candidate = DAE_ARRAY(int, s->most_terms);
    s->term_weight = DAE_ARRAY(double, s->most_terms);
    s->candidate_at = DAE_ARRAY(int, (size_t)s->columns *(size_t)(s->most_stages + 1));
    if (!s->term_start || !s->term_candidate || !s->term_weight || !s->candidate_at) return false;
    for (int k = 0; k < s->columns * (s->most_stages + 1); k++) s->candidate_at[k] = -1;
    for (int k = 0; k < s->candidates; k++) {
        const int stage = -1 - s->candidate[k].stage;
        if (stage < s->most_stages)
            s->candidate_at[stage * s->columns + s->candidate[k].column] = k;
    }
    return true;
}

selection *selection_new(const analysed *a, formulated *f)
{
    selection *s = DAE_NEW(selection);
    if (!s) return NULL;
    int n = a->set.n;
    s->count = f->set.n - f->set.m;
    s->candidates = f->candidates;
    s->candidate = f->candidate;
    s->columns = n;
    s->chosen = DAE_ARRAY(int, s->count);
    s->previous = DAE_ARRAY(int, s->count);
    s->local = DAE_ARRAY(int, n);
    s->part = DAE_ARRAY(int, n);
    s->scale = DAE_ARRAY(double, n);
    s->eager = DAE_ARRAY(double, n);
    s->own = DAE_ARRAY(int, n);
    bool ok = s->chosen && s->previous && s->local && s->part && s->scale && s->eager && s->own &&
              find_components(s, a) && take_entries(s, a, f) && allocate_terms(s, f);
    if (!ok) {
        selection_free(s);
        return NULL;
    }
    for (int j = 0; j < n; j++) {
        s->scale[j] = a->set.nominal[j];
        s->eager[j] = EAGERNESS[a->wish ? a->wish[j] + 2 : 2];
        s->own[j] = -1;
    }
    for (int i = 0; i < f->set.n; i++)
        if (f->variable[i] >= 0 && f->order[i] == 0) s->own[f->variable[i]] = i;
    return s;
}

/* ---- one component ---- */

/* matrix = the component's entries, columns in nominal sizes, rows of largest entry 1. */
static bool load_component(selection *s, const component *q)
{
    size_t rows = (size_t)q->rows;
    memset(s->matrix, 0, rows * (size_t)q->columns * sizeof *s->matrix);
    for (size_t e = q->first; e < q->first + q->entries; e++) {
        double v = s->value[e] * s->scale[q->column[s->entry_column[e]]];
        if (!isfinite(v)) return false;
        s->matrix[(size_t)s->entry_row[e] + rows * (size_t)s->entry_column[e]] = v;
    }
    for (int r = 0; r < q->rows; r++) {
        double most = 0.0;
        for (int k = 0; k < q->columns; k++)
            most = fmax(most, fabs(s->matrix[(size_t)r + rows * (size_t)k]));
        for (int k = 0; most > 0.0 && k < q->columns; k++)
            s->matrix[(size_t)r + rows * (size_t)k] /= most;
    }
    return true;
}

/* Rows of a stage: the leading ones. */
static int stage_rows(const component *q, int stage)
{
    int rows = 0;
    while (rows < q->rows && q->depth[rows] > stage) rows++;
    return rows;
}

/* Where the next pivot is. */
typedef struct pivot_place {
    int row, k; /* column pool[k]; -1: there is none */
    double size;
} pivot_place;

/* What is a good pivot: the largest entry; weighted by how much its column is wanted as a dummy;
 * the same, and rows of many differentiations first. Only then is each row solved for a column that
 * it may be solved for, as others bring columns of lower derivatives into it. */
typedef enum pivot_rule { PIVOT_LARGEST, PIVOT_EAGER, PIVOT_EAGER_BY_DEPTH } pivot_rule;

/* Behind the rows of the depth that the row at hand has: rows stand by falling depth. */
static int end_of_depth(const component *q, int step, int rows)
{
    int end = step;
    while (end < rows && q->depth[end] == q->depth[step]) end++;
    return end;
}

/* The best entry in rows step .. rows-1 of columns pool[step .. limit). */
static pivot_place find_pivot(const selection *s, const component *q, int step, int rows,
                              const int *pool, int limit, bool eager)
{
    pivot_place best = {-1, -1, 0.0};
    double most = 0.0;
    for (int k = step; k < limit; k++) {
        const double *column = s->matrix + (size_t)q->rows * (size_t)pool[k];
        double factor = eager ? s->eager[q->column[pool[k]]] : 1.0;
        for (int r = step; r < rows; r++)
            if (fabs(column[r]) * factor > most) {
                most = fabs(column[r]) * factor;
                best = (pivot_place){r, k, fabs(column[r])};
            }
    }
    return best;
}

static void swap_rows(double *column, int a, int b)
{
    double keep = column[a];
    column[a] = column[b];
    column[b] = keep;
}

/* column := column less its multiple of the pivot column, which leaves the factor in its place */
static void subtract_pivot(double *column, const double *pivot, int step, int rows)
{
    if (column[step] == 0.0) return;
    double factor = column[step] / pivot[step];
    for (int r = 0; r < rows; r++)
        if (r != step) column[r] -= factor * pivot[r];
    column[step] = factor;
}

/* Gauss-Jordan on the first `rows` rows over columns pool[0 .. size), pivots among the first
 * `limit` of them: they come first in pool afterwards, and the others hold X. Returns the step that
 * found no pivot, -1 if all did. */
static int eliminate_columns(selection *s, const component *q, int rows, int *pool, int size,
                             int limit, pivot_rule rule)
{
    size_t ld = (size_t)q->rows;
    double largest = 0.0;
    for (int r = 0; r < rows; r++) s->row_at[r] = r;
    for (int step = 0; step < rows; step++) {
        int end = rule == PIVOT_EAGER_BY_DEPTH ? end_of_depth(q, step, rows) : rows;
        pivot_place at = find_pivot(s, q, step, end, pool, limit, rule != PIVOT_LARGEST);
        largest = fmax(largest, at.size);
        if (at.k < 0 || at.size <= SINGULAR * largest) return step;
        int keep = pool[step];
        pool[step] = pool[at.k];
        pool[at.k] = keep;
        int row = s->row_at[step];
        s->row_at[step] = s->row_at[at.row];
        s->row_at[at.row] = row;
        const double *pivot = s->matrix + ld * (size_t)pool[step];
        for (int k = 0; k < size; k++) swap_rows(s->matrix + ld * (size_t)pool[k], step, at.row);
        for (int k = step + 1; k < size; k++)
            subtract_pivot(s->matrix + ld * (size_t)pool[k], pivot, step, rows);
    }
    return -1;
}

/* max |X| over the columns behind the pivots, after elimination */
static double largest_behind(const selection *s, const component *q, int rows, const int *pool,
                             int size)
{
    double most = 0.0;
    for (int k = rows; k < size; k++)
        for (int r = 0; r < rows; r++)
            most = fmax(most, fabs(s->matrix[(size_t)r + (size_t)q->rows * (size_t)pool[k]]));
    return most;
}

/* The equations in a left null vector of the first `rows` rows: those with a large part in it; all
 * of them if there is no memory to tell. */
static void note_culprits(selection *s, const component *q, int rows)
{
    size_t ld = (size_t)q->rows, m = (size_t)rows, n = (size_t)q->columns;
    double *A = load_component(s, q) ? DAE_ARRAY(double, m *n) : NULL;
    rank_split split = {0};
    for (size_t k = 0; A && k < n; k++) memcpy(A + k * m, s->matrix + k * ld, m * sizeof *A);
    bool told = A && rank_split_new(&split, rows, q->columns, A, SINGULAR, 0.0, NULL);
    s->culprits = 0;
    for (int r = 0; r < rows; r++) {
        double part = told ? split.U[(size_t)r + m * (m - 1)] : 1.0;
        if (fabs(part) > 0.05) s->culprit[s->culprits++] = q->row[r];
    }
    if (told) rank_split_free(&split);
    dae_free(A);
}

/* ---- large components: each row looks after itself ---- */

/* Size of entry e as a pivot. */
static double entry_size(const selection *s, const component *q, size_t e)
{
    int j = q->column[s->entry_column[e]];
    return fabs(s->value[e]) * s->scale[j] * s->eager[j];
}

/* Let every row that has a much better column among its own and the free ones take it; the quality
 * is how much better the best one is at worst. Entries come row by row. */
static selection_status exchange_partners(selection *s, component *q, double *worst)
{
    memset(s->taken, 0, (size_t)q->columns * sizeof *s->taken);
    for (int r = 0; r < q->rows; r++) s->taken[q->partner[r]] = true;
    *worst = 1.0;
    for (size_t e = q->first, end = q->first + q->entries; e < end;) {
        int r = s->entry_row[e], best = q->partner[r];
        double own = 0.0, most = 0.0;
        bool listed = false; /* else it was found by elimination, and is not the row's own */
        for (; e < end && s->entry_row[e] == r; e++) {
            int k = s->entry_column[e];
            double size = entry_size(s, q, e);
            if (!isfinite(size)) return SELECTION_NOT_FINITE;
            if (k == q->partner[r]) own = size, listed = true;
            if (size > most && (k == q->partner[r] || !s->taken[k])) {
                most = size;
                best = k;
            }
        }
        if (!listed) continue;
        if (most == 0.0) {
            s->culprit[0] = q->row[r];
            s->culprits = 1;
            return SELECTION_SINGULAR;
        }
        if (most > WORST * own) {
            s->taken[q->partner[r]] = false;
            s->taken[q->partner[r] = best] = true;
        } else {
            *worst = fmax(*worst, most / own);
        }
    }
    for (int stage = 0; stage < q->stages; stage++)
        memcpy(q->dummy + stage * q->rows, q->partner,
               (size_t)stage_rows(q, stage) * sizeof *q->dummy);
    return SELECTION_CHANGED;
}

/* The rows of a component that has entries in them, scaled to 1, without zeros: rowptr, colind and
 * values have room for them. False: not finite */
static bool scaled_rows(const selection *s, const component *q, int *rowptr, int *colind,
                        double *values)
{
    size_t e = q->first, end = q->first + q->entries;
    int at = 0;
    for (int r = 0; r < q->rows; r++) {
        double most = 0.0;
        rowptr[r] = at;
        for (; e < end && s->entry_row[e] == r; e++) {
            double v = s->value[e] * s->scale[q->column[s->entry_column[e]]];
            if (!isfinite(v)) return false;
            if (v == 0.0) continue;
            most = fmax(most, fabs(v));
            colind[at] = s->entry_column[e];
            values[at++] = v;
        }
        for (int k = rowptr[r]; k < at; k++) values[k] /= most;
    }
    rowptr[q->rows] = at;
    return true;
}

/* Partners by sparse elimination; where that takes too much memory they stay as they are. */
static selection_status choose_sparse(selection *s, component *q)
{
    int *rowptr = DAE_ARRAY(int, q->rows + 1), *colind = DAE_ARRAY(int, q->entries), row = 0;
    double *values = DAE_ARRAY(double, q->entries), *eager = DAE_ARRAY(double, q->columns);
    row_pivots_matrix m = {.rows = q->rows,
                           .columns = q->columns,
                           .rowptr = rowptr,
                           .colind = colind,
                           .values = values,
                           .eager = eager,
                           .group = q->depth};
    selection_status status = SELECTION_KEPT;
    if (rowptr && colind && values && eager) {
        for (int k = 0; k < q->columns; k++) eager[k] = s->eager[q->column[k]];
        status = SELECTION_NOT_FINITE;
        if (scaled_rows(s, q, rowptr, colind, values)) {
            row_pivots_status found = row_pivots(&m, SINGULAR, MOST_FILL, s->pivot, &row, NULL);
            status = found == ROW_PIVOTS_FOUND       ? SELECTION_CHANGED
                     : found == ROW_PIVOTS_DEPENDENT ? SELECTION_SINGULAR
                                                     : SELECTION_KEPT;
        }
    }
    s->culprits = status == SELECTION_SINGULAR;
    s->culprit[0] = q->row[row];
    if (status == SELECTION_CHANGED) memcpy(q->partner, s->pivot, (size_t)q->rows * sizeof(int));
    dae_free_all(rowptr, colind, values, eager);
    return status;
}

/* The first choice of a large component: by elimination, else from the transversal, which is
 * regular by structure. */
static selection_status choose_large(selection *s, component *q)
{
    double effort = (double)q->rows * (double)q->rows * (double)q->columns, worst;
    if (effort > HUGE_EFFORT && !q->chosen) {
        selection_status chosen = choose_sparse(s, q);
        if (chosen == SELECTION_NOT_FINITE || chosen == SELECTION_SINGULAR) return chosen;
    }
    if (effort <= HUGE_EFFORT && !q->chosen) {
        int *pool = s->pivot;
        for (int k = 0; k < q->columns; k++) pool[k] = k;
        if (!load_component(s, q)) return SELECTION_NOT_FINITE;
        if (eliminate_columns(s, q, q->rows, pool, q->columns, q->columns, PIVOT_EAGER_BY_DEPTH) >=
            0) {
            note_culprits(s, q, q->rows);
            return SELECTION_SINGULAR;
        }
        for (int r = 0; r < q->rows; r++) q->partner[s->row_at[r]] = pool[r];
    }
    q->chosen = true;
    selection_status status = exchange_partners(s, q, &worst);
    s->quality = fmax(s->quality, worst);
    return status;
}

/* The dummies of all stages of one component, each stage among those of the one before. */
static selection_status choose_component(selection *s, component *q)
{
    if (q->large) return choose_large(s, q);
    int *pool = s->pivot, size = q->columns;
    for (int k = 0; k < size; k++) pool[k] = k;
    for (int stage = 0; stage < q->stages; stage++) {
        int rows = stage_rows(q, stage);
        if (!load_component(s, q)) return SELECTION_NOT_FINITE;
        int bad = eliminate_columns(s, q, rows, pool, size, size, PIVOT_EAGER);
        if (bad >= 0) {
            note_culprits(s, q, rows);
            return SELECTION_SINGULAR;
        }
        s->quality = fmax(s->quality, largest_behind(s, q, rows, pool, size));
        memcpy(q->dummy + stage * q->rows, pool, (size_t)rows * sizeof *pool);
        size = rows;
    }
    return SELECTION_CHANGED;
}

/* Columns of a stage, its present dummies first; returns how many. */
static int present_pool(selection *s, const component *q, int stage, int *pool)
{
    const int *dummy = q->dummy + stage * q->rows;
    const int *wider = stage == 0 ? NULL : dummy - q->rows;
    int rows = stage_rows(q, stage), size = rows;
    int all = stage == 0 ? q->columns : stage_rows(q, stage - 1);
    memset(s->taken, 0, (size_t)q->columns * sizeof *s->taken);
    for (int r = 0; r < rows; r++) s->taken[pool[r] = dummy[r]] = true;
    for (int k = 0; k < all; k++) {
        int column = wider ? wider[k] : k;
        if (!s->taken[column]) pool[size++] = column;
    }
    return size;
}

/* max |X| of the present choice in one component; NAN: not finite. */
static double present_quality(selection *s, const component *q)
{
    double worst = 0.0;
    for (int stage = 0; stage < q->stages; stage++) {
        int rows = stage_rows(q, stage), size = present_pool(s, q, stage, s->pivot);
        if (!load_component(s, q)) return NAN;
        if (eliminate_columns(s, q, rows, s->pivot, size, rows, PIVOT_LARGEST) >= 0)
            return INFINITY;
        worst = fmax(worst, largest_behind(s, q, rows, s->pivot, size));
    }
    return worst;
}

/* ---- the rows of the choice ---- */

/* Each state by itself. */
static void write_plain_terms(selection *s)
{
    for (int r = 0; r < s->count; r++) {
        s->term_start[r] = r;
        s->term_candidate[r] = s->chosen[r];
        s->term_weight[r] = 1.0;
    }
    s->term_start[s->count] = s->count;
}

/* Behind the chosen candidate of local column k at a stage: those of the dummies, which are the
 * first `rows` columns of s->pivot, with -X in the sizes of the variables. */
static int add_dummies(selection *s, const component *q, int stage, int rows, int k, int at)
{
    const int state = s->term_candidate[at - 1], j = q->column[k];
    for (int r = 0; r < rows; r++) {
        const int d = q->column[s->pivot[r]], c = s->candidate_at[stage * s->columns + d];
        const double X = s->matrix[(size_t)r + (size_t)q->rows * (size_t)k];
        if (c < 0 || X == 0.0) continue;
        s->term_candidate[at] = c;
        s->term_weight[at++] = -X * s->scale[j] / s->scale[d] * s->sign[s->candidate[c].unknown] *
                               s->sign[s->candidate[state].unknown];
    }
    return at;
}

/* X of one stage of a component, over all of its columns; false: it has none any more. */
static bool eliminate_stage(selection *s, const component *q, int stage)
{
    const int rows = stage_rows(q, stage);
    int size = rows;
    if (!load_component(s, q)) return false;
    memset(s->taken, 0, (size_t)q->columns * sizeof *s->taken);
    for (int r = 0; r < rows; r++) s->taken[s->pivot[r] = q->dummy[stage * q->rows + r]] = true;
    for (int k = 0; k < q->columns; k++)
        if (!s->taken[k]) s->pivot[size++] = k;
    return eliminate_columns(s, q, rows, s->pivot, size, rows, PIVOT_LARGEST) < 0;
}

/* The component and stage that were eliminated last. */
typedef struct eliminated {
    int part, stage;
    bool found;
} eliminated;

/* X for the row of a candidate, unless it is there; NULL: its row stands alone. Rows of a stage
 * follow each other, so that one elimination serves them all. */
static const component *eliminate_for(selection *s, const kinematic *c, eliminated *last)
{
    const int stage = -1 - c->stage, part = s->part[c->column];
    const component *q = part >= 0 ? &s->component[part] : NULL;
    if (!q || q->large || stage >= q->stages) return NULL;
    if (part != last->part || stage != last->stage)
        *last = (eliminated){part, stage, eliminate_stage(s, q, stage)};
    return last->found ? q : NULL;
}

/* N' (x' - x^(+1)), row by row */
static void write_tangent_terms(selection *s)
{
    int at = 0;
    eliminated last = {-1, -1, false};
    for (int r = 0; r < s->count; r++) {
        const kinematic *c = &s->candidate[s->chosen[r]];
        const component *q = eliminate_for(s, c, &last);
        s->term_start[r] = at;
        s->term_candidate[at] = s->chosen[r];
        s->term_weight[at++] = 1.0;
        if (q)
            at = add_dummies(s, q, last.stage, stage_rows(q, last.stage), s->local[c->column], at);
    }
    s->term_start[s->count] = at;
}

static void write_terms(selection *s)
{
    if (s->tangent)
        write_tangent_terms(s);
    else
        write_plain_terms(s);
}

/* X_dk, now, in the sizes of the variables and the signs of the unknowns */
static double present_weight(const selection *s, const component *q, const kinematic *d,
                             const kinematic *state, double *unit)
{
    int row = 0;
    while (q->column[s->pivot[row]] != d->column) row++;
    *unit = s->scale[state->column] / s->scale[d->column];
    return -s->matrix[(size_t)row + (size_t)q->rows * (size_t)s->local[state->column]] * *unit *
           s->sign[d->unknown] * s->sign[state->unknown];
}

/* The largest change of X since the rows were written, in nominal sizes. */
static double turn_of_tangent(selection *s)
{
    double most = 0.0, unit;
    eliminated last = {-1, -1, false};
    for (int r = 0; r < s->count; r++) {
        const kinematic *c = &s->candidate[s->term_candidate[s->term_start[r]]];
        const component *q = eliminate_for(s, c, &last);
        for (int k = s->term_start[r] + 1; q && k < s->term_start[r + 1]; k++) {
            const kinematic *d = &s->candidate[s->term_candidate[k]];
            double now = present_weight(s, q, d, c, &unit);
            most = fmax(most, fabs(s->term_weight[k] - now) / unit);
        }
    }
    return most;
}

int selection_terms(const selection *s, int r, const int **candidate, const double **weight)
{
    *candidate = s->term_candidate + s->term_start[r];
    *weight = s->term_weight + s->term_start[r];
    return s->term_start[r + 1] - s->term_start[r];
}

int selection_most_terms(const selection *s)
{
    return s->most_terms;
}

/* ---- all components ---- */

/* chosen = candidates that are no dummies; false: they are not as many as there are states */
static bool write_choice(selection *s)
{
    int count = 0;
    memset(s->is_dummy, 0, (size_t)s->columns * (size_t)s->most_stages * sizeof *s->is_dummy);
    for (int k = 0; k < s->components; k++) {
        const component *q = &s->component[k];
        for (int stage = 0; stage < q->stages; stage++)
            for (int r = 0, rows = stage_rows(q, stage); r < rows; r++) {
                int j = q->column[q->dummy[stage * q->rows + r]];
                s->is_dummy[stage * s->columns + j] = true;
            }
    }
    for (int k = 0; k < s->candidates; k++) {
        const kinematic *c = &s->candidate[k];
        if (s->is_dummy[(-1 - c->stage) * s->columns + c->column]) continue;
        if (count < s->count) s->chosen[count] = k;
        count++;
    }
    s->culprits = 0;
    return count == s->count;
}

/* Sizes that nobody gave are those of the values: 1/g with g = 1e-7 beside 1 looks like a loss of
 * rank in units of 1, and is none. Whether anything changes. */
static bool size_by_values(selection *s, const tape_inputs *in)
{
    bool changed = false;
    for (int j = 0; j < s->columns; j++) {
        double value = s->own[j] >= 0 ? fabs(in->values[0][s->own[j]]) : 0.0;
        if (s->scale[j] != 1.0 || !(value > 0.0) || !isfinite(value) || value == 1.0) continue;
        s->scale[j] = value;
        changed = true;
    }
    return changed;
}

static selection_status choose_all(selection *s)
{
    selection_status status = SELECTION_CHANGED;
    s->quality = 0.0;
    for (int k = 0; k < s->components && status == SELECTION_CHANGED; k++)
        status = choose_component(s, &s->component[k]);
    return status;
}

selection_status selection_choose(selection *s, const tape_inputs *in)
{
    code_run(&s->code, in, s->value);
    selection_status status = choose_all(s);
    if (status == SELECTION_SINGULAR && size_by_values(s, in)) status = choose_all(s);
    if (status != SELECTION_CHANGED) return status;
    if (!write_choice(s)) return SELECTION_SINGULAR;
    write_terms(s);
    return status;
}

/* The choice of states is kept; in the tangent space the rows may turn. */
static selection_status keep_or_turn(selection *s)
{
    if (!s->tangent || turn_of_tangent(s) <= TURNED) return SELECTION_KEPT;
    write_terms(s);
    return SELECTION_CHANGED;
}

selection_status selection_watch(selection *s, const tape_inputs *in)
{
    bool anew = false;
    double worst = 0.0, quality_of_rows;
    code_run(&s->code, in, s->value);
    for (int k = 0; k < s->components; k++) {
        component *q = &s->component[k];
        if (q->large) {
            selection_status status = exchange_partners(s, q, &quality_of_rows);
            if (status != SELECTION_CHANGED) return status;
            worst = fmax(worst, quality_of_rows);
            anew = true; /* write_choice tells whether anything changed */
            continue;
        }
        double quality = present_quality(s, q);
        if (isnan(quality)) return SELECTION_NOT_FINITE;
        if (quality > WORST) {
            s->quality = 0.0;
            selection_status status = choose_component(s, q);
            if (status != SELECTION_CHANGED) return status;
            anew = true;
            quality = s->quality;
        }
        worst = fmax(worst, quality);
    }
    s->quality = worst;
    if (!anew) return keep_or_turn(s);
    size_t bytes = (size_t)s->count * sizeof *s->chosen;
    memcpy(s->previous, s->chosen, bytes);
    if (!write_choice(s)) return SELECTION_SINGULAR;
    if (memcmp(s->previous, s->chosen, bytes) == 0) return keep_or_turn(s);
    write_terms(s);
    return SELECTION_CHANGED;
}

void selection_prepare(selection *s, const tape_inputs *in)
{
    code_prepare(&s->code, in);
}

int selection_count(const selection *s)
{
    return s->count;
}

const int *selection_chosen(const selection *s)
{
    return s->chosen;
}

double selection_work(const selection *s)
{
    return s->effort;
}

int selection_culprits(const selection *s, const int **equation)
{
    *equation = s->culprit;
    return s->culprits;
}

void selection_persist(selection *s, persist *p)
{
    const size_t columns = (size_t)s->columns, count = (size_t)s->count;
    persist_same(p, columns, "the equations have other variables");
    persist_same(p, count, "the equations have other states");
    PERSIST_ARRAY(p, s->scale, columns);
    for (int k = 0; k < s->components; k++) {
        component *q = &s->component[k];
        PERSIST_ARRAY(p, q->dummy, q->rows * q->stages);
        PERSIST_ARRAY(p, q->partner, q->rows);
        PERSIST(p, q->chosen);
    }
    PERSIST_ARRAY(p, s->chosen, count);
    PERSIST_ARRAY(p, s->previous, count);
    PERSIST_ARRAY(p, s->is_dummy, columns * (size_t)(s->most_stages + 1));
    PERSIST(p, s->quality);
    PERSIST_ARRAY(p, s->term_start, count + 1);
    PERSIST_ARRAY(p, s->term_candidate, s->most_terms);
    PERSIST_ARRAY(p, s->term_weight, s->most_terms);
}
