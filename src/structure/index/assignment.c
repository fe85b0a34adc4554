#include "structure/index/assignment.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

enum { ABSENT = -1 };

bool assignment_new(assignment *a, const signature *s)
{
    size_t m = (size_t)s->m, n = (size_t)s->n;
    *a = (assignment){.s = s, .work = DAE_ARRAY(int, 11 * m + 2 * n)};
    if (!a->work) return false;
    int **part[] = {&a->column_of, &a->c,    &a->look, &a->parent, &a->root, &a->seen,
                    &a->path,      &a->wait, &a->key,  &a->heap,   &a->place};
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

/* a->wait = those of `count` rows that have no column; rows may be a->wait itself. */
static int list_waiting(assignment *a, const int *rows, int count)
{
    int waiting = 0;
    for (int w = 0; w < count; w++)
        if (a->column_of[rows[w]] < 0) a->wait[waiting++] = rows[w];
    return waiting;
}

/* The search of one phase: trees of rows, rooted in those that wait. */
typedef struct forest {
    int reached; /* rows in the trees: path[0 .. reached), nearest first */
} forest;

static void reach_tree(assignment *a, forest *f, int row, int parent, int root)
{
    a->seen[row] = a->stamp;
    a->parent[row] = parent;
    a->root[row] = root;
    a->path[f->reached++] = row;
}

/* Row i takes column j, its parent the column that i had, and so on to the root. */
static void shift(assignment *a, int i, int j)
{
    while (i >= 0) {
        int old = a->column_of[i];
        a->column_of[i] = j;
        a->row_of[j] = i;
        j = old;
        i = a->parent[i];
    }
}

/* Add the rows to the tree of row i whose columns it reaches without slack. */
static void extend_tree(assignment *a, forest *f, int i)
{
    const signature *s = a->s;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        int r = a->row_of[s->column[k]];
        if (r >= 0 && a->seen[r] != a->stamp && slack(a, i, k) == 0)
            reach_tree(a, f, r, i, a->root[i]);
    }
}

/* One augmenting path in each tree that meets a free column; a tree is left alone after that.
 * Breadth first, as paths found by going deep are long, and all of a path has to be changed. */
static int grow_once(assignment *a, int waiting)
{
    forest f = {0};
    a->stamp++;
    for (int w = 0; w < waiting; w++) reach_tree(a, &f, a->wait[w], -1, a->wait[w]);
    for (int at = 0; at < f.reached; at++) {
        int i = a->path[at], j;
        if (a->column_of[a->root[i]] >= 0) continue;
        if ((j = free_column(a, i)) >= 0)
            shift(a, i, j);
        else
            extend_tree(a, &f, i);
    }
    return list_waiting(a, a->wait, waiting);
}

/* Phases of disjoint searches from all rows that wait [PF90], as long as some succeed. */
static int grow(assignment *a, int waiting)
{
    for (int before = waiting + 1; waiting > 0 && waiting < before;) {
        before = waiting;
        waiting = grow_once(a, waiting);
    }
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
    int settled;     /* rows whose distance is final: path[0 .. settled), */
    int scanned;     /* those of them whose entries were followed */
    int size;        /* of the heap */
    int nearest;     /* least distance of a free column so far, */
    int row, column; /* which is this one, met from this row */
} reach;

static void settle(assignment *a, reach *q, int row)
{
    a->place[row] = -1;
    a->path[q->settled++] = row;
}

/* Row r is at distance `key` or less, by way of row i. */
static void reach_row(assignment *a, reach *q, int r, int key, int i)
{
    bool known = a->seen[r] == a->stamp;
    if (known && (a->place[r] < 0 || a->key[r] <= key)) return;
    bool queued = known;
    a->seen[r] = a->stamp;
    a->key[r] = key;
    a->parent[r] = i;
    if (key == a->key[i] && !queued) {
        settle(a, q, r);
        return;
    }
    if (!queued) put(a, q->size++, r);
    sift_up(a, a->place[r]);
}

static void scan_row(assignment *a, reach *q, int i)
{
    for (int k = a->s->start[i]; k < a->s->start[i + 1]; k++) {
        int j = a->s->column[k], gap = slack(a, i, k), r = a->row_of[j];
        if (gap == ABSENT || gap >= q->nearest - a->key[i]) continue;
        if (r >= 0) {
            reach_row(a, q, r, a->key[i] + gap, i);
        } else {
            q->nearest = a->key[i] + gap;
            q->row = i;
            q->column = j;
        }
    }
}

/* Distances, by slack, of rows from those that wait, as far as the nearest free column [Dij59]. */
static reach find_nearest(assignment *a, int waiting)
{
    reach q = {.nearest = INT_MAX};
    a->stamp++;
    for (int w = 0; w < waiting; w++) {
        int i = a->wait[w];
        a->seen[i] = a->stamp;
        a->key[i] = 0;
        a->parent[i] = -1;
        settle(a, &q, i);
    }
    for (;;) {
        while (q.scanned < q.settled) scan_row(a, &q, a->path[q.scanned++]);
        if (q.size == 0 || a->key[a->heap[0]] >= q.nearest) return q;
        settle(a, &q, pop(a, &q.size));
    }
}

/* Raise the duals of what is nearer than the nearest free column by the difference, so that it is
 * reached without slack. */
static void raise_duals(assignment *a, const reach *q)
{
    for (int w = 0; w < q->settled; w++) {
        int i = a->path[w], by = q->nearest - a->key[i];
        if (by <= 0) continue;
        a->c[i] += by;
        a->look[i] = a->s->start[i];
        if (a->column_of[i] >= 0) a->d[a->column_of[i]] += by;
    }
}

/* Give a column to the nearest of the rows that wait, and bring others near theirs; false: none of
 * them can have one. */
static bool serve(assignment *a, int waiting)
{
    reach q = find_nearest(a, waiting);
    if (q.nearest == INT_MAX) return false;
    raise_duals(a, &q);
    shift(a, q.row, q.column);
    return true;
}

/* All rows that wait are served at once, as single searches from each of them could each have to
 * leave the same large part of the signature. */
bool assignment_complete(assignment *a, const int *rows, int count)
{
    int waiting = assignment_grow(a, rows, count);
    while (waiting > 0) {
        if (!serve(a, waiting)) return false;
        waiting = grow(a, list_waiting(a, a->wait, waiting));
    }
    return true;
}
