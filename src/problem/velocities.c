#include "problem/velocities.h"

#include "base/memory.h"
#include "problem/residual.h"

/* Take the candidates whose unknown is free, first only those at the lower end of a chain. */
static int take_pairs(int count, const kinematic_row *rows, const bool *upper, bool *used,
                      bool lowest, kinematic_row *chosen)
{
    int taken = 0;
    for (int k = 0; k < count; k++) {
        int i = rows[k].unknown, j = rows[k].velocity;
        if (i == j || used[i] || used[j] || (lowest && upper[i])) continue;
        used[i] = used[j] = true;
        chosen[taken++] = rows[k];
    }
    return taken;
}

/* The candidates that go on from each other: one velocity an unknown, one unknown a velocity, and
 * none that leads back to where it began. next[i], before[i]: velocity of i, and whose it is; -1 */
static int take_chains(int count, const kinematic_row *rows, int *next, int *before,
                       kinematic_row *chosen)
{
    int taken = 0;
    for (int k = 0; k < count; k++) {
        int i = rows[k].unknown, j = rows[k].velocity, end = j;
        if (next[i] >= 0 || before[j] >= 0) continue;
        while (next[end] >= 0) end = next[end];
        if (end == i) continue;
        next[i] = j;
        before[j] = i;
        chosen[taken++] = rows[k];
    }
    return taken;
}

static bool keep_chains(dae_problem *p, int count, const kinematic_row *candidates)
{
    int n = p->form.n, *next = DAE_ARRAY(int, n), *before = DAE_ARRAY(int, n);
    kinematic_row *chosen = DAE_ARRAY(kinematic_row, count);
    bool ok = next && before && chosen;
    for (int i = 0; ok && i < n; i++) next[i] = before[i] = -1;
    dae_free(p->chain);
    p->chain_count = ok ? take_chains(count, candidates, next, before, chosen) : 0;
    p->chain = ok ? chosen : NULL;
    if (!ok) dae_free(chosen);
    dae_free_all(next, before);
    return ok;
}

bool kinematic_keep(dae_problem *p, int count, const kinematic_row *candidates)
{
    int n = p->form.n;
    if (!keep_chains(p, count, candidates)) return false;
    bool *used = DAE_ARRAY(bool, n), *upper = DAE_ARRAY(bool, n);
    kinematic_row *chosen = DAE_ARRAY(kinematic_row, count);
    bool ok = used && upper && chosen;
    if (ok) {
        for (int k = 0; k < count; k++) upper[candidates[k].velocity] = true;
        int low = take_pairs(count, candidates, upper, used, true, chosen);
        p->kinematic_count = low + take_pairs(count, candidates, upper, used, false, chosen + low);
        dae_free(p->kinematic);
        p->kinematic = chosen;
    } else {
        dae_free(chosen);
    }
    dae_free_all(used, upper);
    return ok;
}
