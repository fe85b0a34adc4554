/* Equations of motion in the order of the positions. */
#include "base/memory.h"
#include "structure/mechanical/mechanical_parts.h"

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* of[i] = the position of equation i: within the parts of M that are coupled, in their order. */
static bool pair_rows(const mechanical *m, int *parent, int *rows, int *columns, int *of)
{
    int n = m->nq;
    for (int k = 0; k < 2 * n; k++) parent[k] = k;
    for (int k = 0; k < m->M.count; k++) {
        int row = root_of(parent, m->M.entry[k].row);
        parent[row] = root_of(parent, n + m->M.entry[k].column);
    }
    for (int k = 0; k < 2 * n; k++) rows[k] = columns[k] = -1; /* heads, then links of lists */
    for (int i = n - 1; i >= 0; i--) {
        int part = root_of(parent, i), other = root_of(parent, n + i);
        of[i] = rows[part];
        rows[part] = i;
        of[n + i] = columns[other];
        columns[other] = i;
    }
    for (int part = 0; part < 2 * n; part++) {
        int i = rows[part], j = columns[part];
        while (i >= 0 && j >= 0) {
            int next_i = of[i], next_j = of[n + j];
            of[i] = j;
            i = next_i;
            j = next_j;
        }
        if (i >= 0 || j >= 0) return false;
    }
    return true;
}

void mechanical_renumber(mechanical_matrix *a, const int *of)
{
    for (int k = 0; k < a->count; k++) a->entry[k].row = of[a->entry[k].row];
}

/* Equation i of motion becomes number of[i]. */
static bool reorder_motion(mechanical *m, const int *of)
{
    int *dynamic = dae_copy(m->dynamic, (size_t)m->nq, sizeof *dynamic);
    expr *f = dae_copy(m->f, (size_t)m->nq, sizeof *f);
    for (int i = 0; dynamic && f && i < m->nq; i++) {
        m->dynamic[of[i]] = dynamic[i];
        m->f[of[i]] = f[i];
    }
    bool ok = dynamic && f;
    if (ok) {
        mechanical_renumber(&m->M, of);
        mechanical_renumber(&m->C, of);
    }
    dae_free_all(dynamic, f);
    return ok;
}

mechanical_status mechanical_order_motion(mechanical_search *s)
{
    size_t n = (size_t)s->m->nq;
    int *work = DAE_ARRAY(int, 8 * n);
    if (!work) return MECHANICAL_MEMORY;
    int *of = work + 6 * n;
    mechanical_status status = MECHANICAL_OK;
    if (!pair_rows(s->m, work, work + 2 * n, work + 4 * n, of))
        status = mechanical_refuse(s, "the matrix of the accelerations (%s, ..) is singular",
                                   s->set->row[s->m->dynamic[0]].name);
    else if (!reorder_motion(s->m, of))
        status = MECHANICAL_MEMORY;
    dae_free(work);
    return status;
}
