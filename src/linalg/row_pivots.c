/* Markowitz's rule [Mar57] row by row: the shortest row that is left is solved for one of its large
 * columns, the one in the fewest rows, and that is put into those rows. Nothing is kept of a row
 * that is solved: the caller wants the choice, not the factors. */
#include "linalg/row_pivots.h"

#include "base/interrupt.h"
#include "base/memory.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* A column may be solved for if it is not so many times smaller than the largest of its row: what
 * is put into other rows is at most so many times larger than what it replaces. */
static const double SMALLER = 10.0;

/* A list in a pool, with room to grow; it moves to the end of the pool when that is used up. */
typedef struct list {
    int start, count, room;
} list;

typedef struct elimination {
    const row_pivots_matrix *m;
    list *row, *column; /* the entries of a row; rows that may have a column */
    int *entry;         /* pool of rows: columns, */
    double *value;      /* and values */
    int *member;        /* pool of columns */
    size_t entry_room, value_room, member_room;
    size_t entries, members; /* used of the pools */
    size_t most;
    int *present; /* per column: rows left that have it */
    bool *done;   /* per row */
    /* rows of the group in hand by their lengths: bucket[l] .. linked; -1: the end */
    int *bucket, *next, *before;
    int shortest;
    double *spread; /* the pivot row over the columns; 0 elsewhere */
    int *seen;      /* per column: the last row that was found to have it, by a running number */
    int visits;
} elimination;

/* ---- pools ---- */

/* Room for `count` in a list: at least twice as much, at the end of the pool. -1: memory */
static int move_list(list *l, int count, size_t *used, size_t most)
{
    const int room = 2 * count + 4;
    const int to = (int)*used;
    if (*used + (size_t)room > most || *used + (size_t)room > INT_MAX) return -1;
    *used += (size_t)room;
    l->room = room;
    return to;
}

static bool row_room(elimination *w, list *l, int count)
{
    if (count <= l->room) return true;
    const int from = l->start, to = move_list(l, count, &w->entries, w->most);
    if (to < 0 || !dae_grow(&w->entry, &w->entry_room, w->entries, sizeof *w->entry) ||
        !dae_grow(&w->value, &w->value_room, w->entries, sizeof *w->value))
        return false;
    memcpy(w->entry + to, w->entry + from, (size_t)l->count * sizeof *w->entry);
    memcpy(w->value + to, w->value + from, (size_t)l->count * sizeof *w->value);
    l->start = to;
    return true;
}

/* Row i has column j from now on. */
static bool join(elimination *w, int i, int j)
{
    list *l = &w->column[j];
    if (l->count == l->room) {
        const int from = l->start, to = move_list(l, l->count, &w->members, 2 * w->most);
        if (to < 0 || !dae_grow(&w->member, &w->member_room, w->members, sizeof *w->member))
            return false;
        memcpy(w->member + to, w->member + from, (size_t)l->count * sizeof *w->member);
        l->start = to;
    }
    w->member[l->start + l->count++] = i;
    w->present[j]++;
    return true;
}

/* ---- rows by their lengths ---- */

static void take_out(elimination *w, int i)
{
    if (w->before[i] >= 0)
        w->next[w->before[i]] = w->next[i];
    else
        w->bucket[w->row[i].count] = w->next[i];
    if (w->next[i] >= 0) w->before[w->next[i]] = w->before[i];
}

static void put_in(elimination *w, int i)
{
    const int length = w->row[i].count;
    w->before[i] = -1;
    w->next[i] = w->bucket[length];
    if (w->next[i] >= 0) w->before[w->next[i]] = i;
    w->bucket[length] = i;
    if (length < w->shortest) w->shortest = length;
}

static int shortest_row(elimination *w)
{
    while (w->shortest <= w->m->columns && w->bucket[w->shortest] < 0) w->shortest++;
    return w->shortest <= w->m->columns ? w->bucket[w->shortest] : -1;
}

/* ---- life ---- */

static void elimination_free(elimination *w)
{
    dae_free_all(w->row, w->entry, w->value, w->member);
}

static bool elimination_new(elimination *w, const row_pivots_matrix *m, size_t most)
{
    const int rows = m->rows, columns = m->columns, count = m->rowptr[rows];
    *w = (elimination){.m = m, .most = most};
    if (!SHARED_BLOCK(SHARE(w->row, rows), SHARE(w->column, columns), SHARE(w->spread, columns),
                      SHARE(w->present, columns), SHARE(w->bucket, columns + 1),
                      SHARE(w->next, rows), SHARE(w->before, rows), SHARE(w->seen, columns),
                      SHARE(w->done, rows)))
        return false;
    bool ok = true;
    w->entries = (size_t)count;
    if (!dae_grow(&w->entry, &w->entry_room, w->entries, sizeof *w->entry) ||
        !dae_grow(&w->value, &w->value_room, w->entries, sizeof *w->value))
        return false;
    memcpy(w->entry, m->colind, (size_t)count * sizeof *w->entry);
    memcpy(w->value, m->values, (size_t)count * sizeof *w->value);
    for (int i = 0; i < rows && ok; i++) {
        int length = m->rowptr[i + 1] - m->rowptr[i];
        w->row[i] = (list){m->rowptr[i], length, length};
        for (int e = m->rowptr[i]; e < m->rowptr[i + 1] && ok; e++) ok = join(w, i, m->colind[e]);
    }
    for (int l = 0; l <= columns; l++) w->bucket[l] = -1;
    return ok;
}

/* ---- one row ---- */

static double weight(const elimination *w, int e)
{
    return fabs(w->value[e]) * (w->m->eager ? w->m->eager[w->entry[e]] : 1.0);
}

/* seen[j] = visits for the row's own columns */
static void mark_own(elimination *w, int i)
{
    w->visits++;
    for (int e = w->m->rowptr[i]; e < w->m->rowptr[i + 1]; e++)
        w->seen[w->m->colind[e]] = w->visits;
}

/* The entry that row i is solved for: not much smaller than the largest; of those one of its own
 * columns if there is one, in the fewest rows; -1: all are 0 */
static int choose_entry(elimination *w, int i, double tolerance)
{
    const list *l = &w->row[i];
    int best = -1, fewest = INT_MAX;
    bool own = false;
    double most = 0.0;
    mark_own(w, i);
    for (int e = l->start; e < l->start + l->count; e++)
        if (fabs(w->value[e]) > tolerance) most = fmax(most, weight(w, e));
    for (int e = l->start; e < l->start + l->count; e++) {
        const int present = w->present[w->entry[e]];
        if (fabs(w->value[e]) <= tolerance || !(weight(w, e) * SMALLER >= most)) continue;
        const bool is = w->seen[w->entry[e]] == w->visits;
        if (best >= 0 && is < own) continue;
        if (best >= 0 && is == own && present > fewest) continue;
        if (best >= 0 && is == own && present == fewest && weight(w, e) <= weight(w, best))
            continue;
        best = e, fewest = present, own = is;
    }
    return best;
}

/* Row k := row k without column j, less factor times the other columns of the spread row i */
static bool subtract(elimination *w, int i, int k, int j)
{
    list *l = &w->row[k];
    const list *p = &w->row[i];
    double factor = 0.0;
    int at = l->start;
    if (!row_room(w, l, l->count + p->count)) return false;
    w->visits++;
    for (at = l->start; w->entry[at] != j; at++) {
    }
    factor = w->value[at] / w->spread[j];
    w->entry[at] = w->entry[l->start + --l->count];
    w->value[at] = w->value[l->start + l->count];
    for (int e = l->start; e < l->start + l->count; e++) {
        w->seen[w->entry[e]] = w->visits;
        w->value[e] -= factor * w->spread[w->entry[e]];
    }
    for (int e = p->start; e < p->start + p->count; e++) {
        const int c = w->entry[e];
        if (c == j || w->seen[c] == w->visits) continue;
        w->entry[l->start + l->count] = c;
        w->value[l->start + l->count++] = -factor * w->value[e];
        if (!join(w, k, c)) return false;
    }
    return true;
}

/* Whether row k is left and has column j. */
static bool has(const elimination *w, int k, int j)
{
    const list *l = &w->row[k];
    for (int e = l->start; !w->done[k] && e < l->start + l->count; e++)
        if (w->entry[e] == j) return true;
    return false;
}

/* Solve row i for column j, in all rows that are left. `group` is the one in hand. */
static bool solve_row(elimination *w, int i, int j, const int *group, int hand)
{
    const list p = w->row[i];
    bool ok = true;
    w->done[i] = true;
    take_out(w, i);
    for (int e = p.start; e < p.start + p.count; e++) {
        w->spread[w->entry[e]] = w->value[e];
        w->present[w->entry[e]]--;
    }
    for (int q = 0; q < w->column[j].count && ok; q++) {
        const int k = w->member[w->column[j].start + q];
        if (!has(w, k, j)) continue;
        const bool listed = !group || group[k] == hand;
        if (listed) take_out(w, k);
        ok = subtract(w, i, k, j);
        if (listed) put_in(w, k);
    }
    for (int e = p.start; e < p.start + p.count; e++) w->spread[w->entry[e]] = 0.0;
    return ok && !interrupted_whole();
}

/* ---- all of them ---- */

/* The rows of one group, shortest first */
static row_pivots_status solve_group(elimination *w, int hand, double tolerance, int *pivot,
                                     int *dependent)
{
    const int *group = w->m->group;
    w->shortest = w->m->columns + 1;
    for (int i = w->m->rows - 1; i >= 0; i--)
        if (!group || group[i] == hand) put_in(w, i);
    for (int i; (i = shortest_row(w)) >= 0;) {
        const int e = choose_entry(w, i, tolerance);
        *dependent = i;
        if (e < 0) return ROW_PIVOTS_DEPENDENT;
        pivot[i] = w->entry[e];
        if (!solve_row(w, i, pivot[i], group, hand)) return ROW_PIVOTS_FILLED;
    }
    return ROW_PIVOTS_FOUND;
}

/* The largest group below `group`; INT_MIN: none */
static int next_group(const row_pivots_matrix *m, int group)
{
    int next = INT_MIN;
    for (int i = 0; i < m->rows; i++)
        if (m->group[i] < group && m->group[i] > next) next = m->group[i];
    return next;
}

row_pivots_status row_pivots(const row_pivots_matrix *m, double tolerance, size_t most, int *pivot,
                             int *dependent, size_t *fill)
{
    elimination w;
    row_pivots_status status = elimination_new(&w, m, most) ? ROW_PIVOTS_FOUND : ROW_PIVOTS_FILLED;
    if (!m->group && status == ROW_PIVOTS_FOUND)
        status = solve_group(&w, 0, tolerance, pivot, dependent);
    for (int hand = INT_MAX; m->group && status == ROW_PIVOTS_FOUND;) {
        hand = next_group(m, hand);
        if (hand == INT_MIN) break;
        status = solve_group(&w, hand, tolerance, pivot, dependent);
    }
    if (fill) *fill = w.entries;
    elimination_free(&w);
    return status;
}
