#include "solve/bvp/mesh_solution.h"

#include "base/memory.h"

bool mesh_solution_new(int intervals, size_t size, mesh_solution *s)
{
    *s = (mesh_solution){.intervals = intervals};
    s->t = DAE_ARRAY(double, intervals + 1);
    s->x = DAE_ARRAY(double, size);
    if (s->t && s->x) return true;
    mesh_solution_free(s);
    return false;
}

void mesh_solution_free(mesh_solution *s)
{
    dae_free_all(s->t, s->x);
    *s = (mesh_solution){0};
}

void mesh_solution_replace(mesh_solution *s, mesh_solution *by)
{
    mesh_solution_free(s);
    *s = *by;
    *by = (mesh_solution){0};
}

int mesh_interval(const mesh_solution *s, double t)
{
    int low = 0, high = s->intervals - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (s->t[middle] <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

void stage_weights(const collocation *m, double r, double *weight)
{
    for (int a = 0; a < m->stages; a++) {
        weight[a] = 1.0;
        for (int b = 0; b < m->stages; b++)
            if (b != a) weight[a] *= (r - m->nodes[b]) / (m->nodes[a] - m->nodes[b]);
    }
}
