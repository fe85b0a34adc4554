/* Which equations bind preferred unknowns: Dulmage and Mendelsohn's coarse decomposition of the
 * equations against the free unknowns [PF90]. The rest can be solved for free unknowns afterwards.
 */
#include "base/memory.h"
#include "init/levels_parts.h"

/* The free part of the system by rows, a matching, and a stack for paths. */
typedef struct bipartite {
    int m, n;
    int *start, *column;     /* by rows */
    int *of_row, *of_column; /* partners, -1: none */
    int *next;               /* where the search of a row goes on */
    int *path, *seen;        /* rows; columns: last search that met them */
} bipartite;

static void bipartite_free(bipartite *b)
{
    int *const blocks[] = {b->start, b->column, b->of_row, b->of_column, b->next, b->path, b->seen};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dae_free(blocks[k]);
}

static bool bipartite_new(bipartite *b, const level_system *s, const dae_tag *tag)
{
    const int n = s->n, m = s->m;
    *b = (bipartite){.m = m, .n = n};
    b->start = DAE_ARRAY(int, m + 2);
    b->column = DAE_ARRAY(int, s->colptr[n]);
    b->of_row = DAE_ARRAY(int, m);
    b->of_column = DAE_ARRAY(int, n);
    b->next = DAE_ARRAY(int, m);
    b->path = DAE_ARRAY(int, m + 1);
    b->seen = DAE_ARRAY(int, n);
    if (!b->start || !b->column || !b->of_row || !b->of_column || !b->next || !b->path || !b->seen)
        return false;
    for (int j = 0; j < n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1] && tag[j] == DAE_TAG_FREE; e++)
            b->start[s->rowind[e] + 2]++;
    for (int i = 0; i < m; i++) b->start[i + 2] += b->start[i + 1];
    for (int j = 0; j < n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1] && tag[j] == DAE_TAG_FREE; e++)
            b->column[b->start[s->rowind[e] + 1]++] = j;
    for (int i = 0; i < m; i++) b->of_row[i] = -1;
    for (int j = 0; j < n; j++) b->of_column[j] = b->seen[j] = -1;
    return true;
}

/* Match row i with a column that has no partner yet. */
static bool match_directly(bipartite *b, int i)
{
    for (int e = b->start[i]; e < b->start[i + 1]; e++) {
        int j = b->column[e];
        if (b->of_column[j] >= 0) continue;
        b->of_column[j] = i;
        b->of_row[i] = j;
        return true;
    }
    return false;
}

/* Find a path from row `root` to a column without partner, depth first, and swap along it [Duf81].
 */
static void augment(bipartite *b, int root)
{
    int depth = 0;
    b->path[0] = root;
    b->next[root] = b->start[root];
    while (depth >= 0) {
        int i = b->path[depth], previous = b->of_row[i];
        if (match_directly(b, i)) {
            for (; depth > 0; depth--) { /* the column that row i gives up goes to the row before */
                int giver = b->path[depth - 1], column = b->column[b->next[giver] - 1];
                previous = column;
                b->of_row[giver] = previous;
                b->of_column[previous] = giver;
            }
            return;
        }
        while (b->next[i] < b->start[i + 1] && b->seen[b->column[b->next[i]]] == root) b->next[i]++;
        if (b->next[i] == b->start[i + 1]) {
            depth--;
            continue;
        }
        int j = b->column[b->next[i]++], owner = b->of_column[j];
        b->seen[j] = root;
        b->next[owner] = b->start[owner];
        b->path[++depth] = owner;
    }
}

/* Everything that an alternating path reaches from rows without partner. */
static void reach(bipartite *b, bool *core, bool *settled)
{
    int waiting = 0;
    for (int i = 0; i < b->m; i++)
        if ((core[i] = b->of_row[i] < 0)) b->path[waiting++] = i;
    while (waiting > 0) {
        int i = b->path[--waiting];
        for (int e = b->start[i]; e < b->start[i + 1]; e++) {
            int j = b->column[e], owner = b->of_column[j];
            if (settled[j]) continue;
            settled[j] = true;
            if (owner < 0 || core[owner]) continue;
            core[owner] = true;
            b->path[waiting++] = owner;
        }
    }
}

int level_split(const level_system *system, const dae_tag *tag, bool *core, bool *settled)
{
    bipartite b;
    int others = -1;
    for (int j = 0; j < system->n; j++) settled[j] = false;
    if (bipartite_new(&b, system, tag)) {
        for (int i = 0; i < b.m; i++) match_directly(&b, i);
        for (int i = 0; i < b.m; i++)
            if (b.of_row[i] < 0) augment(&b, i);
        reach(&b, core, settled);
        others = 0;
        for (int i = 0; i < b.m; i++) others += !core[i];
    }
    bipartite_free(&b);
    return others;
}
