/* Equations one by one, each for one unknown between two values of opposite sign.
 *
 * Where an equation is flat at the start, as i = Is (exp(v/Vt) - 1) is for v far below 0, its
 * derivative tells nothing of where it holds, and every iteration that follows derivatives ends
 * there. But it changes its sign at some distance. Newton's iteration goes on from values that meet
 * equations so. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

enum { LARGEST = 40, NEAREST = -6, FARTHEST = 16, HALVINGS = 100 };

/* R_i with u_j = v; NAN: it has no value */
static double row_at(level_problem *p, int i, int j, double v)
{
    p->u[j] = v;
    return level_residual(p, p->u, p->r) == ENGINE_MET ? p->r[i] : NAN;
}

/* u_j between `from`, where R_i has the sign of `before`, and `to`, where it has the other */
static void bisect(level_problem *p, int i, int j, double before, double from, double to)
{
    for (int k = 0; k < HALVINGS && from != to; k++) {
        const double middle = 0.5 * (from + to);
        if (middle == from || middle == to) break;
        if (row_at(p, i, j, middle) * before > 0.0)
            from = middle;
        else
            to = middle;
    }
    p->u[j] = to;
}

/* Whether R_i = 0 for some u_j beside the one at hand, the nearest one on a grid of powers of two;
 * u_j is there then. */
static bool meet(level_problem *p, int i, int j, double before)
{
    const double start = p->u[j], scale = p->work->request->scale[p->column[j]];
    double last[2] = {start, start};
    for (int k = NEAREST; k <= FARTHEST; k++)
        for (int side = 0; side < 2; side++) {
            const double v = start + (side ? -1.0 : 1.0) * ldexp(scale, k);
            const double r = row_at(p, i, j, v);
            if (r * before < 0.0) {
                bisect(p, i, j, before, last[side], v);
                return true;
            }
            if (isfinite(r)) last[side] = v;
        }
    p->u[j] = start;
    return false;
}

/* One unknown that is not `met` yet for the first row that does not hold and can be met by it */
static bool meet_one(level_problem *p, bool *met)
{
    if (level_residual(p, p->u, p->r) != ENGINE_MET || level_jacobian(p, p->u) != ENGINE_MET)
        return false;
    (void)level_misfit(p, p->r);
    vector_copy(p->m, p->r, p->rhs);
    for (int j = 0; j < p->n; j++)
        for (int e = p->colptr[j]; e < p->colptr[j + 1] && !met[j]; e++) {
            const int i = p->rowind[e];
            if (!(p->misfit[i] > p->work->tolerance)) continue;
            met[j] = meet(p, i, j, p->rhs[i]);
            if (met[j]) return true;
        }
    return false;
}

engine_outcome level_bracketed(level_problem *p)
{
    if (p->n > LARGEST) return ENGINE_STALLED;
    bool *met = DAE_ARRAY(bool, p->n);
    if (!met) return ENGINE_MEMORY;
    vector_copy(p->n, p->start, p->u);
    int count = 0;
    while (count < p->n && meet_one(p, met)) count++;
    dae_free(met);
    return count > 0 ? level_newton(p, LEVEL_RANK) : ENGINE_STALLED;
}
