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

bool kinematic_keep(dae_problem *p, int count, const kinematic_row *candidates)
{
    int n = p->form.n;
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
