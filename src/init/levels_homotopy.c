/* The stages in their order, and the last of them: R(u) = (1 - s) R(u0) from s = 0 to 1. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

static const double RANK_LOOSE = 1e-7; /* for rows that depend on each other at the solution only */
static const double FIRST_STEP = 0.125, LEAST_STEP = 1e-4;
static const double NUDGE = 1e-3; /* away from points where a row has no gradient, in scales */
enum { HOMOTOPY_STEPS = 100, HOMOTOPY_STEPS_LARGE = 20, CORRECTOR = 8 };

/* Newton at s; u stays if it fails */
static engine_outcome corrector(level_problem *p, const double *r0, double s)
{
    for (int i = 0; i < p->m; i++) p->offset[i] = (1.0 - s) * r0[i];
    vector_copy(p->n, p->u, p->least);
    engine_outcome outcome = level_newton(p, LEVEL_RANK);
    if (outcome != ENGINE_MET) vector_copy(p->n, p->least, p->u);
    return outcome;
}

static engine_outcome follow(level_problem *p, const double *r0)
{
    const int most = kkt_is_dense(p->solver) ? HOMOTOPY_STEPS : HOMOTOPY_STEPS_LARGE;
    double s = 0.0, ds = FIRST_STEP;
    for (int k = 0; k < most && s < 1.0 && ds >= LEAST_STEP; k++) {
        engine_outcome outcome = corrector(p, r0, fmin(1.0, s + ds));
        if (engine_ends(outcome)) return outcome;
        s = outcome == ENGINE_MET ? fmin(1.0, s + ds) : s;
        ds *= outcome == ENGINE_MET ? 2.0 : 0.25;
    }
    return s < 1.0 ? ENGINE_STALLED : ENGINE_MET;
}

static engine_outcome level_homotopy(level_problem *p)
{
    engine_outcome outcome = level_residual(p, p->u, p->r);
    if (outcome != ENGINE_MET) return outcome;
    double *r0 = dae_copy(p->r, (size_t)p->m, sizeof *p->r);
    if (!r0) return ENGINE_MEMORY;
    p->least_change = false;
    p->iterations = CORRECTOR;
    outcome = follow(p, r0);
    vector_zero(p->m, p->offset);
    p->least_change = true;
    p->iterations = p->work->iterations;
    dae_free(r0);
    return outcome == ENGINE_MET ? level_newton(p, LEVEL_RANK) : outcome;
}

/* Move the unknowns of the rows with misfit_i < 0 a little: deterministic, away from 0. */
static void nudge(level_problem *p)
{
    const double *scale = p->work->request->scale;
    for (int j = 0; j < p->n; j++) {
        if (p->work->request->kept && p->preferred[j]) continue; /* a state would jump by it */
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
            if (p->misfit[p->rowind[e]] >= 0.0) continue;
            bool downward = p->start[j] < 0.0 || (p->start[j] == 0.0 && p->work->request->turned);
            p->start[j] += NUDGE * scale[p->column[j]] * (downward ? -1.0 : 1.0);
            p->work->displaced[p->column[j]] = true;
            break;
        }
    }
}

/* misfit_i = -1 for rows that are not met and have no gradient, or an infinite one; how many. */
static int singular_rows(level_problem *p, engine_outcome outcome)
{
    int count = 0;
    for (int i = 0; i < p->m; i++) {
        bool flat = !(p->rows[i] > 0.0) && p->misfit[i] > p->work->tolerance;
        bool steep = p->row[i] == p->work->failed_row;
        p->misfit[i] = (outcome == ENGINE_MET ? flat : steep) ? -1.0 : 0.0;
        count += p->misfit[i] < 0.0;
    }
    return count;
}

/* Leave a start where a row that is not met has no gradient, as y = 0 in x^2 + y^2 = 1 with x
 * fixed, or an infinite one, as sqrt(x) at 0. */
static engine_outcome leave_singular_start(level_problem *p)
{
    engine_outcome outcome = level_residual(p, p->start, p->r);
    if (outcome != ENGINE_MET) return outcome;
    outcome = level_jacobian(p, p->start);
    if (outcome != ENGINE_MET && outcome != ENGINE_UNDEFINED) return outcome;
    level_misfit(p, p->r);
    level_scale(p);
    if (singular_rows(p, outcome) == 0) return outcome;
    nudge(p);
    if (outcome == ENGINE_MET) return outcome;
    outcome = level_residual(p, p->start, p->r);
    return outcome == ENGINE_MET ? level_jacobian(p, p->start) : outcome;
}

/* Least squares, then Newton with a looser idea of rank. */
static engine_outcome gauss_newton(level_problem *p)
{
    engine_outcome outcome = level_least_squares(p);
    if (outcome != ENGINE_MET) return outcome;
    return level_newton(p, RANK_LOOSE);
}

engine_outcome level_from_start(level_problem *p)
{
    engine_outcome outcome = leave_singular_start(p);
    if (outcome != ENGINE_MET) return outcome;
    vector_copy(p->n, p->start, p->u);
    return level_newton(p, LEVEL_RANK);
}

engine_outcome level_stages(level_problem *p, level_stage *stage)
{
    engine_outcome outcome = leave_singular_start(p);
    if (outcome != ENGINE_MET) return outcome;
    *stage = LEVEL_NEWTON;
    vector_copy(p->n, p->start, p->u);
    outcome = level_newton(p, LEVEL_RANK);
    if (outcome == ENGINE_MET || engine_ends(outcome)) return outcome;
    *stage = LEVEL_GAUSS_NEWTON;
    vector_copy(p->n, p->start, p->u);
    outcome = gauss_newton(p);
    if (outcome == ENGINE_MET || engine_ends(outcome)) return outcome;
    double *least = dae_copy(p->u, (size_t)p->n, sizeof *p->u);
    if (!least) return ENGINE_MEMORY;
    *stage = LEVEL_HOMOTOPY;
    vector_copy(p->n, p->start, p->u);
    outcome = level_homotopy(p);
    if (outcome != ENGINE_MET && !engine_ends(outcome)) outcome = level_bracketed(p);
    if (outcome != ENGINE_MET && !engine_ends(outcome)) {
        vector_copy(p->n, least, p->u);
        outcome = ENGINE_STALLED;
    }
    dae_free(least);
    return outcome;
}
