/* Simplified Newton for Radau IIA: the frame of stage_newton.h, and what is tried where it fails.
 */
#include "method/implicit/radau_parts.h"

#include <math.h>
#include <string.h>

/* The iteration error may be this part of the tolerance, and less where that is loose. RADAU has
 * 0.02 to 0.03 in these units; the work at equal error is the same from 0.002 to 0.02, but at loose
 * tolerances iteration errors are large beside variables that are small by themselves: of 100 runs
 * of Robertson's problem with rtol = 1e-2 .. 1e-5, 11 leave the positive solution with 0.005
 * throughout, and 2 in this way. */
static const double KAPPA = 0.005, KAPPA_LEAST = 0.001, KAPPA_FULL = 1e-5;
/* Failures in one step before matrices are renewed within any iteration, how often, and the slowest
 * iteration with which that is tried; before, steps up to MODEST times the last one may, if they
 * converge at all. Over 13 problems this saves 5 % of the evaluations, half of them on a pendulum
 * at 10 digits; for larger steps too it costs accuracy (HIRES). */
enum { PATIENCE = 2, MOST_RENEWALS = 5, EARLY_RENEWALS = 3 };
static const double MOST_RATE_EARLY = 0.99, MOST_RATE_TO_RENEW = 2.0, MODEST = 1.5;
/* With current matrices a correction that small which does not shrink is noise of F; where
 * tolerances are loose (KAPPA_FULL) less. (Larger ones that the error test would not see must not
 * pass: y' and multipliers suffer, and the next steps with them.) */
static const double NOISE = 0.1;

iteration_status radau_filter(const method_context *ctx, double *b)
{
    return iteration_solve(ctx->newton->matrix, NULL, b);
}

/* KAPPA sqrt(KAPPA_FULL / rtol) between the least and the usual one */
static double iteration_tolerance(double rtol)
{
    return fmax(KAPPA_LEAST, fmin(KAPPA, KAPPA * sqrt(KAPPA_FULL / rtol)));
}

/* Once more from Z = 0 and the matrices of where the step begins: F does not exist where the
 * prediction leads, or its exponentials overflow there. */
static attempt_status from_rest(const stage_task *k)
{
    const collocation_step *step = k->scratch;
    memset(step->Z, 0, (size_t)step->m->stages * (size_t)k->ctx->n * sizeof(double));
    k->newton->eta = 1.0;
    k->newton->trusted = false;
    k->result->stage = 0;
    attempt_status status = stage_newton_prepare(k, true);
    return status == ATTEMPT_OK ? stage_newton_iterate(k) : status;
}

/* Where smaller steps do not help, or the step is no longer than the last ones, it is the matrix
 * that is wrong (a diode that opens, a mechanism that swings), so that it is renewed where the
 * iteration has come to, as long as it goes somewhere. */
static attempt_status insist(const stage_task *k, bool early)
{
    const double worst = early ? MOST_RATE_EARLY : MOST_RATE_TO_RENEW;
    attempt_status status = ATTEMPT_CONVERGENCE;
    for (int i = 0; i < (early ? EARLY_RENEWALS : MOST_RENEWALS); i++) {
        if (status != ATTEMPT_CONVERGENCE || !(k->newton->theta < worst)) break;
        k->result->stage = 0;
        status = stage_newton_renew_here(k);
        if (status == ATTEMPT_OK) status = stage_newton_iterate(k);
    }
    return status;
}

/* Whether the prediction is worth partial derivatives. */
static bool prediction_trusted(const radau_state *s, const radau_scratch *w)
{
    if (w->interpolates) return true;
    return s->m && w->tries <= 1 &&
           stage_prediction_trusted(s->surprise, fabs(w->step.h / s->accepted_h),
                                    w->step.m->stages);
}

attempt_status radau_solve(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           attempt *result)
{
    const bool early = w->newton_failures < PATIENCE;
    const double noise = NOISE * fmin(1.0, KAPPA_FULL / w->factor_rtol);
    stage_task task = collocation_task(&w->step, ctx, result, iteration_tolerance(w->factor_rtol),
                                       noise, radau_max_iterations(w->step.m->stages));
    w->step.newton.trusted = prediction_trusted(s, w);
    attempt_status status = stage_newton_solve(&task);
    if (status == ATTEMPT_EVALUATION && s->m) status = from_rest(&task);
    bool modest = s->m && fabs(w->step.h) <= MODEST * fabs(s->accepted_h);
    if (status == ATTEMPT_CONVERGENCE && (modest || !early)) status = insist(&task, early);
    if (status == ATTEMPT_OK && !w->interpolates) w->first_size = w->step.newton.sizes.first;
    if (status != ATTEMPT_OK && w->step.newton.ahead) ctx->newton->stale = true; /* of a bad one */
    return status;
}
