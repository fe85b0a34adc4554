/* Which equations bind preferred unknowns: Dulmage and Mendelsohn's coarse decomposition of the
 * equations against the free unknowns [PF90]. The rest can be solved for free unknowns afterwards.
 */
#include "base/memory.h"
#include "init/levels_parts.h"

bool level_rows(const level_system *s, const dae_tag *tag, bool free_only, signature *g)
{
    *g = (signature){.m = s->m, .n = s->n};
    g->start = DAE_ARRAY(int, s->m + 2);
    g->column = DAE_ARRAY(int, s->colptr[s->n]);
    if (!g->start || !g->column) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < s->n; j++) {
            if (free_only ? tag[j] != DAE_TAG_FREE : tag[j] == DAE_TAG_FIXED) continue;
            for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++)
                if (pass == 0)
                    g->start[s->rowind[e] + 2]++;
                else
                    g->column[g->start[s->rowind[e] + 1]++] = j;
        }
        for (int i = 0; pass == 0 && i < s->m; i++) g->start[i + 2] += g->start[i + 1];
    }
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

/* Everything that an alternating path reaches from rows without partner. owner: the row of each
 * column; waiting: work, m */
static void reach(const signature *g, const int *column_of, const int *owner, int *waiting,
                  bool *core, bool *settled)
{
    int count = 0;
    for (int i = 0; i < g->m; i++)
        if ((core[i] = column_of[i] < 0)) waiting[count++] = i;
    while (count > 0) {
        int i = waiting[--count];
        for (int e = g->start[i]; e < g->start[i + 1]; e++) {
            int j = g->column[e];
            if (settled[j]) continue;
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
    bool ok =
        owner && waiting && level_rows(system, tag, true, &g) && level_matching_new(&m, system);
    for (int j = 0; ok && j < system->n; j++) {
        settled[j] = false;
        owner[j] = -1;
        if (tag[j] == DAE_TAG_FREE) matching_add(&m.of, j);
    }
    for (int i = 0; ok && i < system->m; i++)
        if (m.of.row_of[i] >= 0) owner[m.of.row_of[i]] = i;
    if (ok) {
        reach(&g, m.of.row_of, owner, waiting, core, settled);
        others = 0;
        for (int i = 0; i < system->m; i++) others += !core[i];
    }
    signature_free(&g);
    level_matching_free(&m);
    dae_free_all(owner, waiting);
    return others;
}
