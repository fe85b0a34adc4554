#include "structure/index/components.h"

#include "base/memory.h"

/* Tarjan's search [Tar72] without recursion: a chain of 1e6 equations must not exhaust the stack
 * of calls. Notation as in the paper: number, lowlink. */
typedef struct search {
    const row_graph *g;
    components *out;
    int *number;       /* 0: not seen, else order of discovery */
    int *low;          /* smallest number known to be reachable within the component */
    int *next;         /* next entry to follow */
    int *path, depth;  /* from the root to the row at work */
    int *open, opened; /* rows whose component is not complete */
    int clock, left;
} search;

static void enter(search *t, int i)
{
    t->number[i] = t->low[i] = ++t->clock;
    t->next[i] = t->g->s->start[i];
    t->path[t->depth++] = i;
    t->open[t->opened++] = i;
    t->out->of[i] = -1;
}

/* All rows opened since i are a component. */
static void close_component(search *t, int i)
{
    int row;
    do {
        row = t->open[--t->opened];
        t->out->of[row] = t->out->count;
    } while (row != i);
    t->out->count++;
}

static void leave(search *t, int i)
{
    t->depth--;
    t->out->finished[t->left++] = i;
    if (t->low[i] == t->number[i]) close_component(t, i);
    if (t->depth == 0) return;
    int parent = t->path[t->depth - 1];
    if (t->low[i] < t->low[parent]) t->low[parent] = t->low[i];
}

/* Follow entries of row i until one leads to a row not yet seen; false: no more entries. */
static bool advance(search *t, int i)
{
    int end = t->g->s->start[i + 1];
    while (t->next[i] < end) {
        int r = row_needed(t->g, i, t->next[i]++);
        if (r < 0) continue;
        if (t->number[r] == 0) {
            enter(t, r);
            return true;
        }
        if (t->out->of[r] < 0 && t->number[r] < t->low[i]) t->low[i] = t->number[r];
    }
    return false;
}

static void search_from(search *t, int root)
{
    enter(t, root);
    while (t->depth > 0) {
        int i = t->path[t->depth - 1];
        if (!advance(t, i)) leave(t, i);
    }
}

/* Rows by component, those left last first: a counting sort. */
static void sort_members(components *k, int rows)
{
    for (int b = 0; b <= k->count; b++) k->start[b] = 0;
    for (int i = 0; i < rows; i++) k->start[k->of[i] + 1]++;
    for (int b = 0; b < k->count; b++) k->start[b + 1] += k->start[b];
    for (int f = rows - 1; f >= 0; f--)
        k->member[k->start[k->of[k->finished[f]]]++] = k->finished[f];
    for (int b = k->count; b > 0; b--) k->start[b] = k->start[b - 1];
    k->start[0] = 0;
}

bool components_find(components *k, const row_graph *g)
{
    int m = g->s->m;
    int *work = DAE_ARRAY(int, 5 * (size_t)m);
    *k = (components){.of = DAE_ARRAY(int, m),
                      .finished = DAE_ARRAY(int, m),
                      .start = DAE_ARRAY(int, m + 1),
                      .member = DAE_ARRAY(int, m)};
    if (!work || !k->of || !k->finished || !k->start || !k->member) {
        dae_free(work);
        components_free(k);
        return false;
    }
    search t = {.g = g, .out = k, .number = work, .low = work + m};
    t.next = t.low + m;
    t.path = t.next + m;
    t.open = t.path + m;
    for (int i = 0; i < m; i++)
        if (t.number[i] == 0) search_from(&t, i);
    sort_members(k, m);
    dae_free(work);
    return true;
}

void components_free(components *k)
{
    dae_free_all(k->of, k->finished, k->start, k->member);
    *k = (components){0};
}

void match_inverse(const int *match, int rows, int columns, int *row_of)
{
    for (int j = 0; j < columns; j++) row_of[j] = -1;
    for (int i = 0; i < rows; i++)
        if (match[i] >= 0) row_of[match[i]] = i;
}
