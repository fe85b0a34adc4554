#include "structure/index/assignment.h"
#include "structure/index/components.h"

#include "base/grouping.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Dulmage and Mendelsohn's decomposition around a matching of greatest cardinality [PF90]:
 * alternating paths from a row without a column stay within the over-determined part, those from a
 * column without a row within the under-determined one. */
typedef struct decomposition {
    const signature *s;
    const int *column_of, *row_of; /* the matching */
    int *by_column;                /* start of each column in */
    int *row;                      /* rows of each column's entries */
    int *row_seen, *column_seen;   /* stamps of searches */
    int *rows, *columns;           /* found by a search */
    int row_count, column_count;
    singular_report *report;
    size_t capacity;
    size_t budget; /* entries of parts that may still be listed */
} decomposition;

/* Overlapping over-determined parts together may hold this many times the number of entries of the
 * signature, which keeps time and memory linear; beyond that, further ones are left out. */
enum { BUDGET = 8 };

/* ---- the report ----------------------------------------------------------------------------- */

static int compare_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Take what the search found as a part, in increasing order. */
static bool add_part(decomposition *q, bool over)
{
    singular_report *r = q->report;
    if (!dae_grow(&r->part, &q->capacity, (size_t)r->count + 1, sizeof *r->part)) return false;
    singular_part *p = &r->part[r->count++];
    *p = (singular_part){.over = over, .rows = q->row_count, .columns = q->column_count};
    p->row = dae_copy(q->rows, (size_t)q->row_count, sizeof *p->row);
    p->column = dae_copy(q->columns, (size_t)q->column_count, sizeof *p->column);
    if (!p->row || !p->column) return false;
    qsort(p->row, (size_t)p->rows, sizeof *p->row, compare_int);
    qsort(p->column, (size_t)p->columns, sizeof *p->column, compare_int);
    return true;
}

/* Smallest first; as long ones in the order of their first row, or column. */
static int compare_part(const void *a, const void *b)
{
    const singular_part *p = a, *q = b;
    int by_size = p->rows + p->columns - q->rows - q->columns;
    if (p->over != q->over) return p->over ? -1 : 1; /* the cause before its consequence */
    if (by_size != 0) return by_size;
    for (int i = 0; i < p->rows && i < q->rows; i++)
        if (p->row[i] != q->row[i]) return p->row[i] < q->row[i] ? -1 : 1;
    for (int j = 0; j < p->columns && j < q->columns; j++)
        if (p->column[j] != q->column[j]) return p->column[j] < q->column[j] ? -1 : 1;
    return 0;
}

void singular_report_free(singular_report *report)
{
    for (int p = 0; p < report->count; p++) {
        dae_free_all(report->part[p].row, report->part[p].column);
    }
    dae_free(report->part);
    *report = (singular_report){0};
}

/* ---- over-determined parts ------------------------------------------------------------------ */

static void see_row(decomposition *q, int i, int stamp)
{
    if (q->row_seen[i] == stamp) return;
    q->row_seen[i] = stamp;
    q->rows[q->row_count++] = i;
}

static bool see_column(decomposition *q, int j, int stamp)
{
    if (q->column_seen[j] == stamp) return false;
    q->column_seen[j] = stamp;
    q->columns[q->column_count++] = j;
    return true;
}

/* Rows on alternating paths from row i without a column: each of them can be the one that is left
 * over instead, so that without any one of them the others are matched. */
static void search_over(decomposition *q, int i, int stamp)
{
    const signature *s = q->s;
    q->row_count = q->column_count = 0;
    see_row(q, i, stamp);
    for (int at = 0; at < q->row_count; at++)
        for (int k = s->start[q->rows[at]]; k < s->start[q->rows[at] + 1]; k++)
            if (see_column(q, s->column[k], stamp)) see_row(q, q->row_of[s->column[k]], stamp);
}

static bool list_over(decomposition *q)
{
    for (int i = 0; i < q->s->m && q->budget > 0; i++) {
        if (q->column_of[i] >= 0) continue;
        search_over(q, i, i + 1);
        size_t size = (size_t)q->row_count + (size_t)q->column_count;
        q->budget -= size < q->budget ? size : q->budget;
        if (!add_part(q, true)) return false;
    }
    return true;
}

/* ---- under-determined parts ----------------------------------------------------------------- */

enum { UNDER = -1 }; /* stamp of what alternating paths from columns without a row reach */

/* Mark all of the under-determined part. */
static void mark_under(decomposition *q)
{
    q->column_count = q->row_count = 0;
    for (int j = 0; j < q->s->n; j++)
        if (q->row_of[j] < 0) see_column(q, j, UNDER);
    for (int at = 0; at < q->column_count; at++) {
        int j = q->columns[at];
        for (int k = q->by_column[j]; k < q->by_column[j + 1]; k++) {
            see_row(q, q->row[k], UNDER);
            see_column(q, q->column_of[q->row[k]], UNDER);
        }
    }
}

/* Rows of column j in the under-determined part: all of them are in it. */
static void join_rows(decomposition *q, int j, int stamp)
{
    for (int k = q->by_column[j]; k < q->by_column[j + 1]; k++) see_row(q, q->row[k], stamp);
}

static void join_columns(decomposition *q, int i, int stamp)
{
    for (int k = q->s->start[i]; k < q->s->start[i + 1]; k++)
        if (q->column_seen[q->s->column[k]] == UNDER) see_column(q, q->s->column[k], stamp);
}

/* Connected components of the under-determined part. */
static bool list_under(decomposition *q)
{
    mark_under(q);
    for (int j = 0; j < q->s->n; j++) {
        if (q->column_seen[j] != UNDER) continue;
        int stamp = q->s->m + 1 + j;
        q->row_count = q->column_count = 0;
        see_column(q, j, stamp);
        for (int rows = 0, columns = 0; columns < q->column_count;) {
            join_rows(q, q->columns[columns++], stamp);
            for (; rows < q->row_count; rows++) join_columns(q, q->rows[rows], stamp);
        }
        if (!add_part(q, false)) return false;
    }
    return true;
}

/* ---- both ----------------------------------------------------------------------------------- */

static bool decompose(decomposition *q, assignment *a)
{
    for (int i = 0; i < a->s->m; i++) q->rows[i] = i;
    a->plain = true;
    memcpy(a->look, a->s->start, (size_t)a->s->m * sizeof *a->look);
    assignment_grow(a, q->rows, a->s->m);
    q->column_of = a->column_of;
    q->row_of = a->row_of;
    q->budget = BUDGET * ((size_t)a->s->start[a->s->m] + (size_t)a->s->m);
    pattern_transpose(q->s->n, q->s->m, q->s->start, q->s->column, q->by_column, q->row);
    return list_over(q) && list_under(q);
}

bool signature_explain(const signature *s, singular_report *report)
{
    size_t m = (size_t)s->m, n = (size_t)s->n, entries = (size_t)s->start[s->m];
    int *work = DAE_ARRAY(int, 2 * m + 3 * n + 1 + entries);
    assignment a = {0};
    decomposition q = {.s = s, .report = report};
    *report = (singular_report){0};
    bool ok = work && assignment_new(&a, s);
    if (ok) {
        q.row_seen = work;
        q.rows = q.row_seen + m;
        q.column_seen = q.rows + m;
        q.columns = q.column_seen + n;
        q.by_column = q.columns + n;
        q.row = q.by_column + n + 1;
        ok = decompose(&q, &a);
    }
    if (!ok)
        singular_report_free(report);
    else if (report->count > 1)
        qsort(report->part, (size_t)report->count, sizeof *report->part, compare_part);
    assignment_free(&a);
    dae_free(work);
    return ok;
}
