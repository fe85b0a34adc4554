/* x' where E is not regularly reducible: [E; g_x] x' = [f; -g_t] has more rows than columns but
 * agrees on the solution manifold (forms/stacked.h).
 *
 * This takes the place of the variant in the thesis' summary, which puts secants of stage values
 * for x' and so uses neither E nor f: on x' = x, x(0) = 1 it gives 2 instead of e. */
#include "method/common/stages.h"
#include "method/half_explicit/herk_parts.h"

attempt_status herk_general_derivative(herk_work *w, double t, const double *x, double *xp)
{
    if (!w->stacked) w->stacked = stacked_new(w->form);
    if (!w->stacked) return ATTEMPT_MEMORY;
    double *right = stacked_right(w->stacked);
    if (w->ne + w->ng < w->form->n)
        return herk_fail(w, ATTEMPT_SINGULAR,
                         "E and g_x together have fewer rows than there are components", -1, -1);
    attempt_status status = herk_evaluate(w, HERK_RIGHT_HAND_SIDE, t, x, right);
    if (status == ATTEMPT_OK)
        status = stages_from_evaluation(w->form->E(w->form->context, t, x, w->E));
    if (status == ATTEMPT_OK) status = herk_evaluate(w, HERK_JACOBIAN, t, x, w->J_stage);
    if (status == ATTEMPT_OK) status = herk_evaluate(w, HERK_TIME_SLOPE, t, x, w->g_t);
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < w->ng; i++) right[w->ne + i] = -w->g_t[i];
    HERK_COUNT(w, factorisations);
    int undetermined;
    switch (stacked_solve(w->stacked, w->E, w->J_stage, xp, &undetermined)) {
    case STACKED_OK: return ATTEMPT_OK;
    case STACKED_DEFICIENT:
        return herk_fail(w, ATTEMPT_SINGULAR, STACKED_DEFICIENT_TEXT, undetermined, -1);
    case STACKED_MEMORY: break;
    }
    return ATTEMPT_MEMORY;
}
