#include "linalg/row_elimination.h"

#include "base/memory.h"

static bool make_room(row_elimination *w, size_t more)
{
    size_t least = (size_t)w->start[w->rows] + more;
    return dae_grow(&w->column, &w->column_room, least, sizeof *w->column) &&
           dae_grow(&w->value, &w->value_room, least, sizeof *w->value);
}

bool row_elimination_new(row_elimination *w, int rows, int columns, size_t entries)
{
    *w = (row_elimination){0};
    return SHARED_BLOCK(SHARE(w->row, columns), SHARE(w->touched, columns),
                        SHARE(w->taken, columns), SHARE(w->heap, rows + columns + 2),
                        SHARE(w->start, rows + 1), SHARE(w->pivot, rows),
                        SHARE(w->mark, columns)) &&
           make_room(w, 4 * entries + 64);
}

void row_elimination_free(row_elimination *w)
{
    dae_free_all(w->row, w->column, w->value);
}

static void heap_push(row_elimination *w, int k)
{
    int at = w->waiting++;
    for (; at > 0 && w->heap[(at - 1) / 2] > k; at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = k;
}

static int heap_pop(row_elimination *w)
{
    int top = w->heap[0], last = w->heap[--w->waiting], at = 0;
    for (int child = 1; child < w->waiting; child = 2 * at + 1) {
        if (child + 1 < w->waiting && w->heap[child + 1] < w->heap[child]) child++;
        if (w->heap[child] >= last) break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = last;
    return top;
}

/* Column j of the spread row may not be 0 from now on. */
static void touch(row_elimination *w, int j)
{
    if (w->mark[j]) return;
    w->mark[j] = true;
    w->touched[w->count++] = j;
    if (w->taken[j] > 0) heap_push(w, w->taken[j] - 1);
}

void row_elimination_load(row_elimination *w, int count, const int *column, const int *from,
                          const double *values)
{
    for (int k = 0; k < w->count; k++) {
        w->row[w->touched[k]] = 0.0;
        w->mark[w->touched[k]] = false;
    }
    w->count = w->waiting = 0;
    for (int k = 0; k < count; k++) {
        touch(w, column[k]);
        w->row[column[k]] = values[from ? from[k] : k];
    }
    while (w->waiting > 0) { /* by the rows of U whose pivots it meets, in their order */
        int k = heap_pop(w), pivot = w->pivot[k];
        double factor = w->row[pivot];
        for (int q = w->start[k]; factor != 0.0 && q < w->start[k + 1]; q++) {
            touch(w, w->column[q]);
            w->row[w->column[q]] -= factor * w->value[q];
        }
        w->row[pivot] = 0.0;
    }
}

bool row_elimination_keep(row_elimination *w, int pivot)
{
    if (!make_room(w, (size_t)w->count)) return false;
    int at = w->start[w->rows];
    for (int k = 0; k < w->count; k++) {
        int j = w->touched[k];
        if (w->row[j] == 0.0) continue;
        w->column[at] = j;
        w->value[at++] = w->row[j] / w->row[pivot];
    }
    w->pivot[w->rows++] = pivot;
    w->start[w->rows] = at;
    w->taken[pivot] = w->rows;
    return true;
}
