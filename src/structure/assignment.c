#include "structure/assignment.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

enum { ABSENT = -1 };

bool assignment_new(assignment *a, const signature *s)
{
    size_t m = (size_t)s->m, n = (size_t)s->n;
    *a = (assignment){.s = s, .work = DAE_ARRAY(int, 10 * m + 2 * n)};
    if (!a->work) return false;
    int **part[] = {&a->column_of, &a->c,    &a->look, &a->next, &a->seen,
                    &a->path,      &a->wait, &a->key,  &a->heap, &a->place};
    int *at = a->work;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++, at += m) *part[i] = at;
    a->row_of = at;
    a->d = at + n;
    for (int i = 0; i < s->m; i++) a->column_of[i] = -1;
    for (int j = 0; j < s->n; j++) a->row_of[j] = -1;
    return true;
}

void assignment_free(assignment *a)
{
    dae_free(a->work);
    *a = (assignment){0};
}

/* Whether entry k of row i takes part. */
static bool present(const assignment *a, int i, int k)
{
    return !a->row_label || a->row_label[i] == a->column_label[a->s->column[k]];
}

/* d_j - c_i - sigma_ij of entry k; ABSENT where it takes no part */
static int slack(const assignment *a, int i, int k)
{
    if (a->plain) return 0;
    if (!present(a, i, k)) return ABSENT;
    return a->d[a->s->column[k]] - a->c[i] - a->s->order[k];
}

void assignment_start(assignment *a)
{
    const signature *s = a->s;
    memset(a->d, 0, (size_t)s->n * sizeof *a->d);
    for (int i = 0; i < s->m; i++)
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            if (present(a, i, k) && a->d[s->column[k]] < s->order[k])
                a->d[s->column[k]] = s->order[k];
    for (int i = 0; i < s->m; i++) {
        int least = INT_MAX;
        for (int k = s->start[i]; k < s->start[i + 1]; k++)
            if (present(a, i, k) && a->d[s->column[k]] - s->order[k] < least)
                least = a->d[s->column[k]] - s->order[k];
        a->c[i] = least == INT_MAX ? 0 : least;
        a->look[i] = s->start[i];
    }
}

/* ---- augmenting paths without slack --------------------------------------------------------- */

/* A free column that row i reaches without slack; -1: none. */
static int free_column(assignment *a, int i)
{
    for (; a->look[i] < a->s->start[i + 1]; a->look[i]++) {
        int j = a->s->column[a->look[i]];
        if (a->row_of[j] < 0 && slack(a, i, a->look[i]) == 0) return j;
    }
    return -1;
}

/* The next row, not seen so far, whose column row i reaches without slack; -1: none. Every second
 * search takes the entries backwards, so that none is always left to the end (fairness of
 * [DKU11]). */
static int next_row(assignment *a, int i)
{
    int first = a->s->start[i], count = a->s->start[i + 1] - first;
    while (a->next[i] < count) {
        int step = a->next[i]++;
        int k = a->stamp % 2 ? first + step : first + count - 1 - step;
        int r = a->row_of[a->s->column[k]];
        if (r >= 0 && a->seen[r] != a->stamp && slack(a, i, k) == 0) return r;
    }
    return -1;
}

static void enter(assignment *a, int row, int *depth)
{
    a->seen[row] = a->stamp;
    a->next[row] = 0;
    a->path[(*depth)++] = row;
}

/* The last row of the path takes column j, each one before it the column of its successor. */
static void shift(assignment *a, int depth, int j)
{
    while (depth > 0) {
        int i = a->path[--depth], old = a->column_of[i];
        a->column_of[i] = j;
        a->row_of[j] = i;
        j = old;
    }
}

/* A column for `row` along rows that the search has not seen; false: there is none. */
static bool augment(assignment *a, int row)
{
    int depth = 0;
    enter(a, row, &depth);
    while (depth > 0) {
        int i = a->path[depth - 1], j = free_column(a, i);
        if (j >= 0) {
            shift(a, depth, j);
            return true;
        }
        int r = next_row(a, i);
        if (r >= 0)
            enter(a, r, &depth);
        else
            depth--;
    }
    return false;
}

/* Pothen and Fan's phases [PF90]: disjoint searches from all rows that wait, as long as some
 * succeed. */
static int grow(assignment *a, int waiting)
{
    for (int before = waiting + 1; waiting > 0 && waiting < before;) {
        before = waiting;
        waiting = 0;
        a->stamp++;
        for (int w = 0; w < before; w++)
            if (!augment(a, a->wait[w])) a->wait[waiting++] = a->wait[w];
    }
    return waiting;
}

static int list_waiting(assignment *a, const int *rows, int count)
{
    int waiting = 0;
    for (int w = 0; w < count; w++)
        if (a->column_of[rows[w]] < 0) a->wait[waiting++] = rows[w];
    return waiting;
}

int assignment_grow(assignment *a, const int *rows, int count)
{
    return grow(a, list_waiting(a, rows, count));
}

/* ---- distances: a heap of rows by key ------------------------------------------------------- */

static void put(assignment *a, int at, int row)
{
    a->heap[at] = row;
    a->place[row] = at;
}

static void sift_up(assignment *a, int at)
{
    int row = a->heap[at];
    for (int up; at > 0 && a->key[a->heap[up = (at - 1) / 2]] > a->key[row]; at = up)
        put(a, at, a->heap[up]);
    put(a, at, row);
}

static int pop(assignment *a, int *size)
{
    int top = a->heap[0], row = a->heap[--*size], at = 0;
    a->place[top] = -1;
    for (int down; (down = 2 * at + 1) < *size; at = down) {
        if (down + 1 < *size && a->key[a->heap[down + 1]] < a->key[a->heap[down]]) down++;
        if (a->key[a->heap[down]] >= a->key[row]) break;
        put(a, at, a->heap[down]);
    }
    if (*size > 0) put(a, at, row);
    return top;
}

/* The state of one search for the nearest free columns. */
typedef struct reach {
    int settled; /* rows whose distance is final: path[0 .. settled), */
    int scanned; /* those of them whose entries were followed */
    int size;    /* of the heap */
    int nearest; /* least distance of a free column so far */
} reach;

static void settle(assignment *a, reach *q, int row)
{
    a->place[row] = -1;
    a->path[q->settled++] = row;
}

/* Row r is at distance `key` or less. */
static void reach_row(assignment *a, reach *q, int r, int key, int now)
{
    bool known = a->seen[r] == a->stamp;
    if (known && (a->place[r] < 0 || a->key[r] <= key)) return;
    bool queued = known;
    a->seen[r] = a->stamp;
    a->key[r] = key;
    if (key == now && !queued) {
        settle(a, q, r);
        return;
    }
    if (!queued) put(a, q->size++, r);
    sift_up(a, a->place[r]);
}

static void scan_row(assignment *a, reach *q, int i)
{
    for (int k = a->s->start[i]; k < a->s->start[i + 1]; k++) {
        int gap = slack(a, i, k), r = a->row_of[a->s->column[k]];
        if (gap == ABSENT || gap >= q->nearest - a->key[i]) continue;
        if (r < 0)
            q->nearest = a->key[i] + gap;
        else
            reach_row(a, q, r, a->key[i] + gap, a->key[i]);
    }
}

/* Distances, by slack, of rows from those that wait, as far as the nearest free column [Dij59]. */
static reach find_nearest(assignment *a, int waiting)
{
    reach q = {.nearest = INT_MAX};
    a->stamp++;
    for (int w = 0; w < waiting; w++) {
        a->seen[a->wait[w]] = a->stamp;
        a->key[a->wait[w]] = 0;
        settle(a, &q, a->wait[w]);
    }
    for (;;) {
        while (q.scanned < q.settled) scan_row(a, &q, a->path[q.scanned++]);
        if (q.size == 0 || a->key[a->heap[0]] >= q.nearest) return q;
        settle(a, &q, pop(a, &q.size));
    }
}

/* Raise the duals of what is nearer than the nearest free column by the difference, so that it is
 * reached without slack. */
static bool raise_duals(assignment *a, int waiting)
{
    reach q = find_nearest(a, waiting);
    if (q.nearest == INT_MAX) return false;
    for (int w = 0; w < q.settled; w++) {
        int i = a->path[w], by = q.nearest - a->key[i];
        if (by <= 0) continue;
        a->c[i] += by;
        a->look[i] = a->s->start[i];
        if (a->column_of[i] >= 0) a->d[a->column_of[i]] += by;
    }
    return true;
}

bool assignment_complete(assignment *a, const int *rows, int count)
{
    int waiting = assignment_grow(a, rows, count);
    while (waiting > 0) {
        if (!raise_duals(a, waiting)) return false;
        waiting = grow(a, waiting);
    }
    return true;
}
