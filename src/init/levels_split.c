/* Which equations bind preferred unknowns: Dulmage and Mendelsohn's coarse decomposition of the
 * equations against the free unknowns [PF90]. The rest can be solved for free unknowns afterwards.
 */
#include "base/grouping.h"
#include "base/memory.h"
#include "init/levels_parts.h"

bool level_rows(const level_system *s, signature *g)
{
    *g = (signature){.m = s->m, .n = s->n};
    g->start = DAE_ARRAY(int, s->m + 1);
    g->column = DAE_ARRAY(int, s->colptr[s->n]);
    if (!g->start || !g->column) return false;
    pattern_transpose(s->m, s->n, s->colptr, s->rowind, g->start, g->column);
    return true;
}

bool level_matching_new(level_matching *m, const level_system *s)
{
    *m = (level_matching){.start = DAE_ARRAY(size_t, s->n + 1)};
    for (int j = 0; m->start && j <= s->n; j++) m->start[j] = (size_t)s->colptr[j];
    return m->start && matching_new(&m->of, m->start, s->rowind, s->n, s->m);
}

void level_matching_free(level_matching *m)
{
    matching_free(&m->of);
    dae_free(m->start);
}

/* Everything that an alternating path over free unknowns reaches from rows without partner. owner:
 * the row of each column; waiting: work, m */
static void reach(const signature *g, const dae_tag *tag, const int *column_of, const int *owner,
                  int *waiting, bool *core, bool *settled)
{
    int count = 0;
    for (int i = 0; i < g->m; i++)
        if ((core[i] = column_of[i] < 0)) waiting[count++] = i;
    while (count > 0) {
        int i = waiting[--count];
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            int j = g->column[e];
            if (settled[j] || tag[j] != DAE_TAG_FREE) continue;
            settled[j] = true;
            if (owner[j] < 0 || core[owner[j]]) continue;
            core[owner[j]] = true;
            waiting[count++] = owner[j];
        }
    }
}

int level_split(const level_system *system, const dae_tag *tag, bool *core, bool *settled)
{
    signature g = {0};
    level_matching m = {0};
    int *owner = DAE_ARRAY(int, system->n), *waiting = DAE_ARRAY(int, system->m), others = -1;
    bool ok = owner && waiting && level_rows(system, &g) && level_matching_new(&m, system);
    for (int j = 0; ok && j < system->n; j++) {
        settled[j] = false;
        owner[j] = -1;
        if (tag[j] == DAE_TAG_FREE) matching_add(&m.of, j);
    }
    for (int i = 0; ok && i < system->m; i++)
        if (m.of.row_of[i] >= 0) owner[m.of.row_of[i]] = i;
    if (ok) {
        reach(&g, tag, m.of.row_of, owner, waiting, core, settled);
        others = 0;
        for (int i = 0; i < system->m; i++) others += !core[i];
    }
    signature_free(&g);
    level_matching_free(&m);
    dae_free_all(owner, waiting);
    return others;
}
