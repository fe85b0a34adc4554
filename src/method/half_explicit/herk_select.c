/* Which components are algebraic: LU factorisations of g_x whose pivot columns are the choice. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/row_elimination.h"
#include "method/common/layout.h"
#include "method/half_explicit/herk_parts.h"

/* ---- row by row, by levels ------------------------------------------------------------------ */

typedef struct row_work {
    const form_matrix *m;
    int *rowptr, *colind; /* the pattern by rows */
    int *from;            /* where each of its values is */
    int *order;           /* rows, those with few entries first */
    int *first;           /* of rows, by their number of entries */
    bool *done;           /* per row */
    double *row_size;     /* per row: its largest entry */
    double *column_size;  /* per column: 1; where it is required its largest entry in scaled rows */
    int *pivot_of;        /* per row: its pivot; borrowed */
    row_elimination U;
} row_work;

static void row_work_free(row_work *w)
{
    row_elimination_free(&w->U);
    dae_free(w->row_size);
}

static int row_of(const form_matrix *m, size_t q)
{
    return m->colptr ? m->rowind[q] : (int)(q % (size_t)m->rows);
}

static size_t column_start(const form_matrix *m, int j)
{
    return m->colptr ? (size_t)m->colptr[j] : (size_t)j * (size_t)m->rows;
}

/* Entries by rows; seen tells which entries of a dense matrix are there. */
static void transpose_pattern(row_work *w, const bool *seen)
{
    const form_matrix *m = w->m;
    for (size_t q = 0; q < m->count; q++)
        if (!seen || seen[q]) w->rowptr[row_of(m, q) + 1]++;
    for (int i = 0; i < m->rows; i++) w->rowptr[i + 1] += w->rowptr[i];
    for (int j = 0; j < m->columns; j++)
        for (size_t q = column_start(m, j); q < column_start(m, j + 1); q++) {
            if (seen && !seen[q]) continue;
            int at = w->rowptr[row_of(m, q)]++;
            w->colind[at] = j;
            w->from[at] = (int)q;
        }
    for (int i = m->rows; i > 0; i--) w->rowptr[i] = w->rowptr[i - 1];
    w->rowptr[0] = 0;
}

/* Rows by their number of entries, sorted by counting */
static void order_rows(row_work *w)
{
    int rows = w->m->rows, most = w->m->columns, *first = w->first;
    for (int i = 0; i < rows; i++) first[w->rowptr[i + 1] - w->rowptr[i] + 1]++;
    for (int k = 0; k <= most; k++) first[k + 1] += first[k];
    for (int i = 0; i < rows; i++) w->order[first[w->rowptr[i + 1] - w->rowptr[i]]++] = i;
}

/* What entries are compared with before they count as 0: the units of a constraint do not matter,
 * nor those of a multiplier, whose column may be as small as 1/M. */
static void find_sizes(row_work *w, const double *values, const bool *required)
{
    const form_matrix *m = w->m;
    for (int i = 0; i < m->rows; i++) {
        double most = 0.0;
        for (int q = w->rowptr[i]; q < w->rowptr[i + 1]; q++)
            most = fmax(most, fabs(values[w->from[q]]));
        w->row_size[i] = most;
        for (int q = w->rowptr[i]; most > 0.0 && q < w->rowptr[i + 1]; q++) {
            double *size = &w->column_size[w->colind[q]];
            *size = fmax(*size, fabs(values[w->from[q]]) / most);
        }
    }
    for (int j = 0; j < m->columns; j++)
        if (!required[j]) w->column_size[j] = 1.0;
}

static bool row_work_new(row_work *w, const form_matrix *m, const bool *seen)
{
    const int rows = m->rows, columns = m->columns;
    *w = (row_work){.m = m};
    bool fits = SHARED_BLOCK(SHARE(w->row_size, rows), SHARE(w->column_size, columns),
                             SHARE(w->rowptr, rows + 1), SHARE(w->colind, m->count),
                             SHARE(w->from, m->count), SHARE(w->order, rows),
                             SHARE(w->first, columns + 2), SHARE(w->done, rows));
    if (!row_elimination_new(&w->U, rows, columns, m->count) || !fits) return false;
    transpose_pattern(w, seen);
    order_rows(w);
    return true;
}

/* generation[j]: place in the order of the first row that knows column j; rows if none does */
static void find_generations(const row_work *w, int *generation)
{
    for (int j = 0; j < w->m->columns; j++) generation[j] = w->m->rows;
    for (int k = w->m->rows - 1; k >= 0; k--) {
        int i = w->order[k];
        for (int q = w->rowptr[i]; q < w->rowptr[i + 1]; q++) generation[w->colind[q]] = k;
    }
}

/* row i of the matrix, eliminated by those before it */
static void eliminate_row(row_work *w, const double *values, int i)
{
    int first = w->rowptr[i];
    row_elimination_load(&w->U, w->rowptr[i + 1] - first, w->colind + first, w->from + first,
                         values);
}

/* The spread row i is solved for a column. */
static bool keep_row(row_work *w, int i, int pivot)
{
    w->pivot_of[i] = pivot;
    return row_elimination_keep(&w->U, pivot);
}

/* Largest entry of the spread row i above a part `tolerance` of its sizes, among required columns
 * (among != NULL), or columns of a generation (from >= 0), the first of equal ones; -1: none. */
static int largest(const row_work *w, int i, const bool *among, const int *generation, int from,
                   double tolerance, double *size)
{
    int pivot = -1;
    *size = 0.0;
    for (int k = 0; k < w->U.count; k++) {
        int j = w->U.touched[k];
        double entry_size = fabs(w->U.row[j]);
        if (entry_size <= tolerance * w->row_size[i] * w->column_size[j]) continue;
        if (entry_size < *size || (among && !among[j])) continue;
        if (entry_size == *size && j > pivot) continue;
        if (from >= 0 && generation[j] != from) continue;
        *size = entry_size;
        pivot = j;
    }
    return pivot;
}

/* Required columns take their rows first. */
static select_status take_required(row_work *w, const double *values, const bool *required,
                                   double tolerance)
{
    double size;
    for (int k = 0; k < w->m->rows; k++) {
        int i = w->order[k];
        bool concerned = false;
        for (int q = w->rowptr[i]; q < w->rowptr[i + 1]; q++) concerned |= required[w->colind[q]];
        if (!concerned) continue;
        eliminate_row(w, values, i);
        int pivot = largest(w, i, required, NULL, -1, tolerance, &size);
        if (pivot < 0) continue;
        if (!keep_row(w, i, pivot)) return SELECT_MEMORY;
        w->done[i] = true;
    }
    return SELECT_OK;
}

/* Then every row takes a column that no earlier row knows, unless that is a very small one. */
static select_status take_others(row_work *w, const double *values, const int *generation,
                                 double tolerance, int *row)
{
    static const double MUCH_SMALLER = 1e-3;
    double size, new_size;
    for (int k = 0; k < w->m->rows; k++) {
        int i = w->order[k];
        if (w->done[i]) continue;
        eliminate_row(w, values, i);
        int pivot = largest(w, i, NULL, NULL, -1, tolerance, &size);
        int of_its_own = largest(w, i, NULL, generation, k, tolerance, &new_size);
        if (of_its_own >= 0 && new_size > MUCH_SMALLER * size) pivot = of_its_own;
        *row = i;
        if (pivot < 0) return SELECT_DEPENDENT;
        if (!keep_row(w, i, pivot)) return SELECT_MEMORY;
    }
    return SELECT_OK;
}

select_status select_by_levels(const form_matrix *m, const double *values, const bool *seen,
                               const bool *required, double tolerance, int *pivot_of,
                               int *generation, int *row, int *column)
{
    row_work w;
    select_status status = row_work_new(&w, m, seen) ? SELECT_OK : SELECT_MEMORY;
    if (status == SELECT_OK) {
        w.pivot_of = pivot_of;
        find_generations(&w, generation);
        find_sizes(&w, values, required);
        status = take_required(&w, values, required, tolerance);
    }
    for (int j = 0; j < m->columns && status == SELECT_OK; j++)
        if (required[j] && w.U.taken[j] == 0) {
            *column = j;
            status = SELECT_REQUIRED;
        }
    if (status == SELECT_OK) status = take_others(&w, values, generation, tolerance, row);
    row_work_free(&w);
    return status;
}
