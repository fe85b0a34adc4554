/* First rows and columns with one entry left, for which there is no choice [KS81], then any entry,
 * which brings further ones of that kind: on chains, trees and ladders that is all. Then the rest
 * by shortest augmenting paths, many at a time [HK73], in O(entries sqrt(n)). Paths one after the
 * other, as in BTF, follow a chain to its end for every row: quadratic where chains are long. */
#include "linalg/transversal.h"

#include "base/memory.h"

#include <stddef.h>

typedef struct search {
    int m, n, matched;
    bool diagonal; /* entries of the diagonal come first */
    const int *colptr, *rowind;
    int *rowptr, *colind;    /* the pattern by rows */
    int *column_of, *row_of; /* -1: none */
    int *left;               /* per column, then per row: entries with a free partner */
    int *stack, waiting;     /* columns j and rows n + i with left = 1; later rows on a path */
    int *layer;              /* per row: its distance from a free one; -1: not reached, or no way */
    int *next;               /* per row: the entry to look at next */
    long steps;
} search;

static bool search_new(search *s)
{
    const int m = s->m, n = s->n, count = s->colptr[n];
    if (!SHARED_BLOCK(SHARE(s->rowptr, m + 2), SHARE(s->colind, count), SHARE(s->row_of, n),
                      SHARE(s->left, m + n), SHARE(s->stack, m + n), SHARE(s->layer, m),
                      SHARE(s->next, m)))
        return false;
    for (int j = 0; j < n; j++) s->row_of[j] = -1;
    for (int i = 0; i < m; i++) s->column_of[i] = -1;
    for (int e = 0; e < count; e++) s->rowptr[s->rowind[e] + 2]++;
    for (int i = 0; i < m; i++) s->rowptr[i + 2] += s->rowptr[i + 1];
    for (int j = 0; j < n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++)
            s->colind[s->rowptr[s->rowind[e] + 1]++] = j;
    for (int j = 0; j < n; j++) s->left[j] = s->colptr[j + 1] - s->colptr[j];
    for (int i = 0; i < m; i++) s->left[n + i] = s->rowptr[i + 1] - s->rowptr[i];
    return true;
}

/* ---- no choice, or any ---- */

/* A row or column with one entry left has no choice; columns that are too many anyway may wait. */
static void ask(search *s, int node)
{
    if (s->left[node] == 1 && (node >= s->n || s->n <= s->m)) s->stack[s->waiting++] = node;
}

static void one_less(search *s, int node)
{
    s->left[node]--;
    ask(s, node);
}

static void match(search *s, int i, int j)
{
    s->column_of[i] = j;
    s->row_of[j] = i;
    s->matched++;
    for (int e = s->rowptr[i]; e < s->rowptr[i + 1]; e++) one_less(s, s->colind[e]);
    for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) one_less(s, s->n + s->rowind[e]);
    s->steps += s->rowptr[i + 1] - s->rowptr[i] + s->colptr[j + 1] - s->colptr[j];
}

/* A free row of column j; -1: none */
static int free_row(search *s, int j)
{
    int found = -1;
    for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++, s->steps++) {
        int i = s->rowind[e];
        if (s->column_of[i] < 0 && (found < 0 || i == j)) found = i;
        if (found == j || (found >= 0 && !s->diagonal)) break;
    }
    return found;
}

static int free_column(search *s, int i)
{
    for (int e = s->rowptr[i]; e < s->rowptr[i + 1]; e++, s->steps++)
        if (s->row_of[s->colind[e]] < 0) return s->colind[e];
    return -1;
}

/* Rows and columns with one entry left, as long as there are any */
static void match_forced(search *s)
{
    while (s->waiting > 0) {
        int node = s->stack[--s->waiting];
        bool column = node < s->n;
        int j = column ? node : -1, i = column ? -1 : node - s->n;
        if (column ? s->row_of[j] >= 0 : s->column_of[i] >= 0) continue;
        if (column)
            i = free_row(s, j);
        else
            j = free_column(s, i);
        if (i >= 0 && j >= 0) match(s, i, j);
    }
}

static void match_first(search *s)
{
    for (int node = 0; node < s->n + s->m; node++) ask(s, node);
    match_forced(s);
    for (int j = 0; j < s->n; j++) {
        int i = s->row_of[j] < 0 ? free_row(s, j) : -1;
        if (i < 0) continue;
        match(s, i, j);
        match_forced(s);
    }
}

/* ---- augmenting paths ---- */

/* Distances of rows from free ones along alternating paths, up to the first that has a free column;
 * whether there is one */
static bool lay(search *s)
{
    int *queue = s->stack, end = 0, last = s->m;
    for (int i = 0; i < s->m; i++) {
        s->next[i] = s->rowptr[i];
        s->layer[i] = s->column_of[i] < 0 ? 0 : -1;
        if (s->column_of[i] < 0) queue[end++] = i;
    }
    for (int at = 0; at < end && s->layer[queue[at]] <= last; at++)
        for (int e = s->rowptr[queue[at]]; e < s->rowptr[queue[at] + 1]; e++, s->steps++) {
            int other = s->row_of[s->colind[e]], here = s->layer[queue[at]];
            if (other < 0) last = here;
            if (other < 0 || s->layer[other] >= 0 || here >= last) continue;
            s->layer[other] = here + 1;
            queue[end++] = other;
        }
    return last < s->m;
}

/* Rows path[0 .. depth] move on to the columns they looked at last. */
static void augment(search *s, const int *path, int depth)
{
    for (; depth >= 0; depth--) {
        int i = path[depth], j = s->colind[s->next[i] - 1];
        s->column_of[i] = j;
        s->row_of[j] = i;
    }
    s->matched++;
}

/* A path from the free row `root`, one layer further each time, to a free column */
static bool follow(search *s, int root)
{
    int *path = s->stack, depth = 0;
    path[0] = root;
    while (depth >= 0) {
        int i = path[depth];
        if (s->next[i] == s->rowptr[i + 1]) {
            s->layer[i] = -1;
            depth--;
            continue;
        }
        s->steps++;
        int other = s->row_of[s->colind[s->next[i]++]];
        if (other < 0) {
            augment(s, path, depth);
            return true;
        }
        if (s->layer[other] == s->layer[i] + 1) path[++depth] = other;
    }
    return false;
}

int transversal(int m, int n, const int *colptr, const int *rowind, bool diagonal, int *column_of,
                long *steps)
{
    search s = {.m = m,
                .n = n,
                .colptr = colptr,
                .rowind = rowind,
                .diagonal = diagonal,
                .column_of = column_of};
    if (!search_new(&s)) return -1;
    match_first(&s);
    const int most = m < n ? m : n;
    for (bool more = true; more && s.matched < most && lay(&s);) {
        more = false;
        for (int i = 0; i < m; i++)
            if (column_of[i] < 0 && s.layer[i] == 0 && follow(&s, i)) more = true;
    }
    if (steps) *steps = s.steps;
    dae_free(s.rowptr);
    return s.matched;
}
