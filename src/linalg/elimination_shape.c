#include "linalg/elimination_shape.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

/* ---- what is left of a matrix ---- */

void active_free(active_part *a)
{
    dae_free_all(a->in_row, a->column_of);
    *a = (active_part){0};
}

static void active_add(active_part *a, int i, int j)
{
    const size_t n = (size_t)a->n;
    a->stored[(size_t)i * n + (size_t)j] = true;
    a->column_of[(size_t)i * n + (size_t)a->in_row[i]++] = j;
    a->row_of[(size_t)j * n + (size_t)a->in_column[j]++] = i;
}

bool active_new(active_part *a, const matrix_layout *pattern)
{
    const int n = pattern->n;
    const size_t square = (size_t)n * (size_t)n;
    *a = (active_part){.n = n};
    SHARED_BLOCK(SHARE(a->in_row, n), SHARE(a->in_column, n), SHARE(a->pivot_row, n),
                 SHARE(a->pivot_column, n), SHARE(a->gone, n));
    SHARED_BLOCK(SHARE(a->column_of, square), SHARE(a->row_of, square), SHARE(a->stored, square));
    if (!a->in_row || !a->column_of) {
        active_free(a);
        return false;
    }
    for (int j = 0; j < n; j++) {
        const matrix_column column = layout_column(pattern, j);
        for (int k = 0; k < column.count; k++) active_add(a, column_row(&column, k), j);
    }
    return true;
}

/* Take `item` out of a list of `*count`. */
static void take_out(int *list, int *count, int item)
{
    int k = 0;
    while (list[k] != item) k++;
    list[k] = list[--*count];
}

void active_eliminate(active_part *a, int k, int p, int q)
{
    const size_t n = (size_t)a->n;
    int *columns = a->column_of + (size_t)p * n, *rows = a->row_of + (size_t)q * n;
    a->pivot_row[k] = p;
    a->pivot_column[k] = q;
    a->gone[q] = true;
    take_out(columns, &a->in_row[p], q);
    take_out(rows, &a->in_column[q], p);
    for (int c = 0; c < a->in_row[p]; c++) {
        const int j = columns[c];
        take_out(a->row_of + (size_t)j * n, &a->in_column[j], p);
    }
    for (int r = 0; r < a->in_column[q]; r++) {
        const int i = rows[r];
        take_out(a->column_of + (size_t)i * n, &a->in_row[i], q);
        for (int c = 0; c < a->in_row[p]; c++)
            if (!a->stored[(size_t)i * n + (size_t)columns[c]]) active_add(a, i, columns[c]);
    }
}

/* An entry of least Markowitz cost (r - 1) (c - 1); false: a column is empty */
static bool cheapest_entry(const active_part *a, int *p, int *q)
{
    long best = LONG_MAX;
    for (int j = 0; j < a->n && best > 0; j++) {
        if (a->gone[j]) continue;
        const int *rows = a->row_of + (size_t)j * (size_t)a->n, count = a->in_column[j];
        if (count == 0) return false;
        for (int r = 0; r < count; r++) {
            const long cost = (long)(count - 1) * (a->in_row[rows[r]] - 1);
            if (cost >= best) continue;
            best = cost;
            *p = rows[r];
            *q = j;
        }
    }
    return true;
}

bool elimination_count(const matrix_layout *pattern, elimination_work *work)
{
    active_part a;
    int p = 0, q = 0, k = 0;
    *work = (elimination_work){0};
    if (!active_new(&a, pattern)) return false;
    for (; k < a.n && cheapest_entry(&a, &p, &q); k++) {
        active_eliminate(&a, k, p, q);
        const double lower = a.in_column[q], upper = a.in_row[p];
        work->factor += lower * (1.0 + upper);
        work->solve += 1.0 + lower + upper;
    }
    active_free(&a);
    work->possible = k == pattern->n;
    return true;
}

/* ns for a real and a complex factorisation with six solutions each, as steps of radau have them,
 * fitted to bench/linalg_kernels.c (AMD EPYC, AVX2) within 30 % for n from 3 to 100. */
static double time_of_lists(int n, const elimination_work *work)
{
    const double real = 10.0 + 2.5 * n + 0.85 * work->factor,
                 complex = 10.0 + 9.0 * n + 1.7 * work->factor,
                 solutions = 16.0 + 3.6 * n + 2.0 * work->solve;
    return real + complex + 6.0 * solutions;
}

static double time_of_dense(double n)
{
    const double real = 15.0 * n + 0.1 * n * n * n, complex = 30.0 * n + 0.17 * n * n * n,
                 solutions = 18.0 * n + 0.47 * n * n;
    return real + complex + 6.0 * solutions;
}

bool elimination_pays(const matrix_layout *pattern, bool *pays)
{
    elimination_work work;
    *pays = false;
    if (pattern->n > ELIMINATION_MOST) return true;
    if (!elimination_count(pattern, &work)) return false;
    *pays = work.possible && time_of_lists(pattern->n, &work) < time_of_dense(pattern->n);
    return true;
}

/* ---- the lists ---- */

void elimination_shape_free(elimination_shape *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) return;
    dae_free_all(s->lower, s->index, s);
}

elimination_shape *elimination_shape_share(elimination_shape *s)
{
    atomic_fetch_add(&s->references, 1);
    return s;
}

static bool same(const int *a, const int *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

bool elimination_shape_equal(const elimination_shape *a, const elimination_shape *b)
{
    if (a == b) return true;
    if (a->n != b->n || a->values != b->values || a->targets != b->targets || a->count != b->count)
        return false;
    const size_t n = (size_t)a->n;
    return same(a->row, b->row, n) && same(a->column, b->column, n) &&
           same(a->lower, b->lower, n) && same(a->upper, b->upper, n) &&
           same(a->index, b->index, a->values) && same(a->target, b->target, a->targets) &&
           same(a->place, b->place, a->count) && same(a->home, b->home, a->count);
}

void elimination_times(const elimination_shape *s, long factor[2], long solve[2])
{
    const double n = s->n, values = (double)s->values,
                 operations = (double)(s->targets + s->multipliers);
    factor[0] = (long)(10.0 + 2.5 * n + 0.85 * operations);
    factor[1] = (long)(10.0 + 9.0 * n + 1.7 * operations);
    solve[0] = (long)(6.0 + 1.3 * n + 0.7 * values);
    solve[1] = (long)(10.0 + 2.3 * n + 1.3 * values);
}

/* Positions of the entries of the factors, by rows and columns of A; NULL: memory */
static int *number_entries(elimination_shape *s, const active_part *a)
{
    const size_t n = (size_t)s->n;
    int *position = DAE_ARRAY(int, n *n), next = 0;
    if (!position) return NULL;
    for (int k = 0; k < s->n; k++) {
        const size_t p = (size_t)a->pivot_row[k], q = (size_t)a->pivot_column[k];
        position[p * n + q] = next++;
        for (int r = 0; r < s->lower[k]; r++)
            position[(size_t)a->row_of[q * n + (size_t)r] * n + q] = next++;
        for (int c = 0; c < s->upper[k]; c++)
            position[p * n + (size_t)a->column_of[p * n + (size_t)c]] = next++;
    }
    return position;
}

/* Rows of L, columns of U, targets; rank = step at which a row, or behind them a column, is done */
static void list_operations(elimination_shape *s, const active_part *a, const int *position,
                            const int *rank)
{
    const size_t n = (size_t)s->n;
    int *index = s->index, *target = s->target;
    for (int k = 0; k < s->n; k++) {
        const size_t p = (size_t)a->pivot_row[k], q = (size_t)a->pivot_column[k];
        const int *rows = a->row_of + q * n, *columns = a->column_of + p * n;
        *index++ = k;
        for (int r = 0; r < s->lower[k]; r++) *index++ = rank[rows[r]];
        for (int c = 0; c < s->upper[k]; c++) *index++ = rank[s->n + columns[c]];
        for (int r = 0; r < s->lower[k]; r++)
            for (int c = 0; c < s->upper[k]; c++)
                *target++ = position[(size_t)rows[r] * n + (size_t)columns[c]];
    }
}

static void list_places(elimination_shape *s, const matrix_layout *layout, const int *position)
{
    for (int j = 0; j < s->n; j++) {
        const matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++) {
            const size_t e = column.first + (size_t)k;
            s->home[e] = column_row(&column, k);
            s->place[e] = position[(size_t)s->home[e] * (size_t)s->n + (size_t)j];
        }
    }
}

/* Numbers of steps and of values; false: memory */
static bool allocate(elimination_shape *s, const matrix_layout *layout, const active_part *a)
{
    SHARED_BLOCK(SHARE(s->lower, s->n), SHARE(s->upper, s->n), SHARE(s->row, s->n),
                 SHARE(s->column, s->n));
    if (!s->lower) return false;
    for (int k = 0; k < s->n; k++) {
        s->row[k] = a->pivot_row[k];
        s->column[k] = a->pivot_column[k];
        s->lower[k] = a->in_column[s->column[k]];
        s->upper[k] = a->in_row[s->row[k]];
        s->values += (size_t)(1 + s->lower[k] + s->upper[k]);
        s->multipliers += (size_t)s->lower[k];
        s->targets += (size_t)s->lower[k] * (size_t)s->upper[k];
    }
    s->count = layout->count;
    SHARED_BLOCK(SHARE(s->index, s->values), SHARE(s->target, s->targets),
                 SHARE(s->place, layout->count), SHARE(s->home, layout->count));
    return s->index != NULL;
}

/* Whether (row, column) can be pivot k: an entry of the part that is left. */
static bool is_left(const active_part *a, int k, int row, int column)
{
    if (row < 0 || row >= a->n || column < 0 || column >= a->n || a->gone[column]) return false;
    for (int before = 0; before < k; before++)
        if (a->pivot_row[before] == row) return false;
    return a->stored[(size_t)row * (size_t)a->n + (size_t)column];
}

/* The order of the pivots is all of it: the elimination is done again on the pattern. */
void elimination_shape_persist(elimination_shape **s, const matrix_layout *layout, persist *p)
{
    active_part a = {0};
    if (p->reading) *s = NULL;
    if (p->reading && !active_new(&a, layout)) p->no_memory = true;
    for (int k = 0; k < layout->n && persist_ok(p); k++) {
        int row = p->reading ? 0 : (*s)->row[k], column = p->reading ? 0 : (*s)->column[k];
        PERSIST(p, row);
        PERSIST(p, column);
        if (!p->reading || !persist_ok(p)) continue;
        if (is_left(&a, k, row, column))
            active_eliminate(&a, k, row, column);
        else
            persist_refuse(p, "a pivot is outside of its matrix");
    }
    if (!p->reading) return;
    if (persist_ok(p)) *s = elimination_shape_new(layout, &a);
    if (persist_ok(p) && !*s) p->no_memory = true;
    active_free(&a);
}

elimination_shape *elimination_shape_new(const matrix_layout *layout, const active_part *done)
{
    elimination_shape *s = DAE_NEW(elimination_shape);
    if (!s) return NULL;
    atomic_init(&s->references, 1);
    s->n = layout->n;
    int *rank = DAE_ARRAY(int, 2 * (size_t)s->n), *position = NULL;
    if (rank && allocate(s, layout, done)) position = number_entries(s, done);
    if (position) {
        for (int k = 0; k < s->n; k++) rank[s->row[k]] = rank[s->n + s->column[k]] = k;
        list_operations(s, done, position, rank);
        list_places(s, layout, position);
    } else {
        elimination_shape_free(s);
        s = NULL;
    }
    dae_free_all(rank, position);
    return s;
}

void elimination_weights(const elimination_shape *s, const double *scale, double *weight)
{
    const int *index = s->index;
    for (int k = 0; k < s->n; k++) {
        const double own = scale[s->row[k]];
        for (int i = 1; i <= s->lower[k]; i++)
            *weight++ = s->upper[k] > 0 ? scale[s->row[index[i]]] / own : 0.0;
        index += 1 + s->lower[k] + s->upper[k];
    }
}
