/* Which components are algebraic: LU factorisations of g_x whose pivot columns are the choice. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "method/herk_parts.h"

/* ---- dense: Procedure 3.11 ------------------------------------------------------------------ */

typedef struct elimination {
    int rows, columns;
    double *A;
    int *row, *column; /* row i of A is row[i] as given, column j column[j] */
} elimination;

static double *entry(const elimination *e, int i, int j)
{
    return e->A + i + (size_t)e->column[j] * (size_t)e->rows;
}

/* Largest entry of rows and columns k.. of A, among required columns only if there are such. */
static double find_pivot(const elimination *e, int k, const bool *required, int *row, int *column)
{
    double most = -1.0;
    for (int j = k; j < e->columns; j++) {
        if (required && !required[e->column[j]]) continue;
        for (int i = k; i < e->rows; i++) {
            if (fabs(*entry(e, i, j)) <= most) continue;
            most = fabs(*entry(e, i, j));
            *row = i;
            *column = j;
        }
    }
    return most;
}

static void swap_ints(int *a, int *b)
{
    int keep = *a;
    *a = *b;
    *b = keep;
}

/* Steps 2 to 5: bring the pivot to (k,k), eliminate below it. */
static void eliminate(elimination *e, int k, int row, int column)
{
    swap_ints(&e->row[k], &e->row[row]);
    swap_ints(&e->column[k], &e->column[column]);
    for (int j = 0; row != k && j < e->columns; j++) {
        double keep = *entry(e, k, j);
        *entry(e, k, j) = *entry(e, row, j);
        *entry(e, row, j) = keep;
    }
    for (int i = k + 1; i < e->rows; i++) *entry(e, i, k) /= *entry(e, k, k);
    for (int j = k + 1; j < e->columns; j++) {
        double u = *entry(e, k, j);
        for (int i = k + 1; u != 0.0 && i < e->rows; i++) *entry(e, i, j) -= *entry(e, i, k) * u;
    }
}

select_status select_dense(int rows, int columns, double *A, const bool *required, double tolerance,
                           int *order, int *chosen, int *row, int *column)
{
    elimination e = {
        .rows = rows, .columns = columns, .A = A, .row = order, .column = order + rows};
    int count = 0, i = 0, j = 0;
    for (int k = 0; k < rows; k++) e.row[k] = k;
    for (int k = 0; k < columns; k++) e.column[k] = k;
    for (int k = 0; k < columns; k++) count += required[k];
    double least = tolerance * fmax(find_pivot(&e, 0, NULL, &i, &j), 1e-300);
    if (count > rows) count = rows + 1; /* one too many: the last step finds no row for it */
    for (int k = 0; k < rows || k < count; k++) {
        j = i = k;
        double pivot = find_pivot(&e, k, k < count ? required : NULL, &i, &j);
        if (!(pivot > least) && k < count) {
            for (j = k; !required[e.column[j]];) j++;
            *column = e.column[j];
            return SELECT_REQUIRED;
        }
        if (!(pivot > least)) {
            *row = e.row[k];
            return SELECT_DEPENDENT;
        }
        eliminate(&e, k, i, j);
        chosen[k] = e.column[k];
    }
    return SELECT_OK;
}

/* ---- row by row, by levels ------------------------------------------------------------------ */

/* Rows of U as they grow, with the column of each pivot. */
typedef struct row_factors {
    int count, *start, *pivot;
    int *column;
    double *value;
    size_t room;
} row_factors;

typedef struct row_work {
    const form_matrix *m;
    int *rowptr, *colind; /* the pattern by rows */
    int *from;            /* where each of its values is */
    int *order;           /* rows, those with few entries first */
    double *row;          /* one row, spread out */
    bool *taken;          /* per column: it is a pivot */
    bool *done;           /* per row */
    row_factors U;
} row_work;

static void row_work_free(row_work *w)
{
    dae_free(w->rowptr);
    dae_free(w->colind);
    dae_free(w->from);
    dae_free(w->order);
    dae_free(w->row);
    dae_free(w->taken);
    dae_free(w->done);
    dae_free(w->U.start);
    dae_free(w->U.pivot);
    dae_free(w->U.column);
    dae_free(w->U.value);
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

/* Rows by their number of entries, counted; U.start serves as work. */
static void order_rows(row_work *w)
{
    int most = 0, rows = w->m->rows, *at = w->order, next = 0;
    for (int i = 0; i < rows; i++) {
        int entries = w->rowptr[i + 1] - w->rowptr[i];
        if (entries > most) most = entries;
    }
    for (int entries = 0; entries <= most && next < rows; entries++)
        for (int i = 0; i < rows; i++)
            if (w->rowptr[i + 1] - w->rowptr[i] == entries) at[next++] = i;
}

static bool row_work_new(row_work *w, const form_matrix *m, const bool *seen)
{
    *w = (row_work){.m = m, .U.room = 4 * m->count + 64};
    w->rowptr = DAE_ARRAY(int, m->rows + 1);
    w->colind = DAE_ARRAY(int, m->count);
    w->from = DAE_ARRAY(int, m->count);
    w->order = DAE_ARRAY(int, m->rows);
    w->row = DAE_ARRAY(double, m->columns);
    w->taken = DAE_ARRAY(bool, m->columns);
    w->done = DAE_ARRAY(bool, m->rows);
    w->U.start = DAE_ARRAY(int, m->rows + 1);
    w->U.pivot = DAE_ARRAY(int, m->rows);
    w->U.column = DAE_ARRAY(int, w->U.room);
    w->U.value = DAE_ARRAY(double, w->U.room);
    bool ok = w->rowptr && w->colind && w->from && w->order && w->row && w->taken && w->done &&
              w->U.start && w->U.pivot && w->U.column && w->U.value;
    if (!ok) return false;
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

/* row := row i of the matrix, eliminated by all rows of U */
static void eliminate_row(row_work *w, const double *values, int i)
{
    const row_factors *U = &w->U;
    vector_zero(w->m->columns, w->row);
    for (int q = w->rowptr[i]; q < w->rowptr[i + 1]; q++) w->row[w->colind[q]] = values[w->from[q]];
    for (int k = 0; k < U->count; k++) {
        int pivot = U->pivot[k];
        if (w->row[pivot] == 0.0) continue;
        double factor = w->row[pivot];
        for (int q = U->start[k]; q < U->start[k + 1]; q++)
            w->row[U->column[q]] -= factor * U->value[q];
        w->row[pivot] = 0.0;
    }
}

static bool make_room(row_factors *U, size_t more)
{
    size_t used = (size_t)U->start[U->count];
    if (used + more <= U->room) return true;
    size_t room = 2 * U->room + more;
    int *column = DAE_ARRAY(int, room);
    double *value = DAE_ARRAY(double, room);
    if (!column || !value) {
        dae_free(column);
        dae_free(value);
        return false;
    }
    memcpy(column, U->column, used * sizeof *column);
    memcpy(value, U->value, used * sizeof *value);
    dae_free(U->column);
    dae_free(U->value);
    U->column = column;
    U->value = value;
    U->room = room;
    return true;
}

/* The spread row becomes the next row of U, divided by its pivot. */
static bool keep_row(row_work *w, int pivot)
{
    row_factors *U = &w->U;
    size_t entries = 0;
    for (int j = 0; j < w->m->columns; j++) entries += w->row[j] != 0.0;
    if (!make_room(U, entries)) return false;
    int at = U->start[U->count];
    for (int j = 0; j < w->m->columns; j++) {
        if (w->row[j] == 0.0) continue;
        U->column[at] = j;
        U->value[at++] = w->row[j] / w->row[pivot];
    }
    U->pivot[U->count++] = pivot;
    U->start[U->count] = at;
    w->taken[pivot] = true;
    return true;
}

/* Largest entry of the spread row above `least` among required columns (among != NULL), or columns
 * of a generation (from >= 0); -1: none. */
static int largest(const row_work *w, const bool *among, const int *generation, int from,
                   double least, double *size)
{
    int pivot = -1;
    *size = least;
    for (int j = 0; j < w->m->columns; j++) {
        if (fabs(w->row[j]) <= *size || (among && !among[j])) continue;
        if (from >= 0 && generation[j] != from) continue;
        *size = fabs(w->row[j]);
        pivot = j;
    }
    return pivot;
}

/* Required columns take their rows first. */
static select_status take_required(row_work *w, const double *values, const bool *required,
                                   double least)
{
    double size;
    for (int k = 0; k < w->m->rows; k++) {
        int i = w->order[k];
        bool concerned = false;
        for (int q = w->rowptr[i]; q < w->rowptr[i + 1]; q++) concerned |= required[w->colind[q]];
        if (!concerned) continue;
        eliminate_row(w, values, i);
        int pivot = largest(w, required, NULL, -1, least, &size);
        if (pivot < 0) continue;
        if (!keep_row(w, pivot)) return SELECT_MEMORY;
        w->done[i] = true;
    }
    return SELECT_OK;
}

/* Then every row takes a column that no earlier row knows, unless that is a very small one. */
static select_status take_others(row_work *w, const double *values, const int *generation,
                                 double least, int *row)
{
    static const double MUCH_SMALLER = 1e-3;
    double size, new_size;
    for (int k = 0; k < w->m->rows; k++) {
        int i = w->order[k];
        if (w->done[i]) continue;
        eliminate_row(w, values, i);
        int pivot = largest(w, NULL, NULL, -1, least, &size);
        int of_its_own = largest(w, NULL, generation, k, least, &new_size);
        if (of_its_own >= 0 && new_size > MUCH_SMALLER * size) pivot = of_its_own;
        *row = i;
        if (pivot < 0) return SELECT_DEPENDENT;
        if (!keep_row(w, pivot)) return SELECT_MEMORY;
    }
    return SELECT_OK;
}

select_status select_by_levels(const form_matrix *m, const double *values, const bool *seen,
                               const bool *required, double tolerance, int *chosen, int *generation,
                               int *row, int *column)
{
    row_work w;
    double most = 1e-300;
    for (size_t q = 0; q < m->count; q++) most = fmax(most, fabs(values[q]));
    double least = tolerance * most;
    select_status status = row_work_new(&w, m, seen) ? SELECT_OK : SELECT_MEMORY;
    if (status == SELECT_OK) {
        find_generations(&w, generation);
        status = take_required(&w, values, required, least);
    }
    for (int j = 0; j < m->columns && status == SELECT_OK; j++)
        if (required[j] && !w.taken[j]) {
            *column = j;
            status = SELECT_REQUIRED;
        }
    if (status == SELECT_OK) status = take_others(&w, values, generation, least, row);
    for (int k = 0; k < m->rows && status == SELECT_OK; k++) chosen[k] = w.U.pivot[k];
    row_work_free(&w);
    return status;
}
