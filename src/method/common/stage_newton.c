#include "method/common/stage_newton.h"

#include "base/vector.h"
#include "method/common/stages.h"

#include <float.h>
#include <math.h>

/* Beyond this rate the iteration has failed; and no old eta is believed that is better: where
 * exponentials are switched on it would pass far too much. */
static const double SLOWEST_RATE = 0.99, BEST_OLD_ETA = 0.02;
static const double ROUND_OFF = 100.0 * DBL_EPSILON;
/* The largest error of a prediction that is trusted with partial derivatives, in units of the error
 * test: where it is far off they may be far too large (exponentials), so that corrections and
 * estimates come out too small. */
static const double MOST_SURPRISE = 1e5;

/* What is left over at the end may be so many times the tolerance of the iteration; and how often
 * it goes on from an end that is none with the matrices of that point. */
static const double PROOF = 30.0;
enum { MOST_DOUBTS = 3 };

/* Where rates and sizes of corrections prove the end, it is doubted if they leave more than this
 * part of a displacement, and refused if it is off by so many tolerances. */
static const double HELD = 0.5, MOST_OFF = 10.0;

bool stage_prediction_trusted(double surprise, double ratio, int stages)
{
    for (int k = 0; k <= stages && ratio > 1.0; k++) surprise *= ratio;
    return surprise <= MOST_SURPRISE;
}

double stage_newton_round_off(double size)
{
    return ROUND_OFF * size;
}

/* ---- matrices ---- */

/* Partial derivatives at the stage in the middle, as predicted: they differ less from those along
 * the step than the ones at its beginning. There, if there is no prediction or it is no use. */
static iteration_status evaluate(const stage_task *k)
{
    stage_newton *nw = k->newton;
    iteration_status status = ITERATION_RETRY;
    k->ctx->newton->stale = true;
    if (nw->trusted) status = k->equations->evaluate(k, true);
    nw->ahead = nw->trusted && status == ITERATION_OK;
    if (status == ITERATION_RETRY) status = k->equations->evaluate(k, false);
    if (status != ITERATION_OK) return status;
    k->ctx->newton->stale = false;
    nw->fresh = true;
    return ITERATION_OK;
}

attempt_status stage_newton_prepare(const stage_task *k, bool renew)
{
    const stage_equations *own = k->equations;
    iteration_status status = ITERATION_OK;
    if (renew || k->ctx->newton->stale || own->at_hand(k) == STAGE_NOTHING) status = evaluate(k);
    if (status == ITERATION_OK && own->at_hand(k) != STAGE_FACTORS) status = own->factor(k);
    if (status == ITERATION_SINGULAR && !k->newton->fresh) {
        status = evaluate(k);
        if (status == ITERATION_OK) status = own->factor(k);
    }
    return stages_from_iteration(status);
}

attempt_status stage_newton_renew_here(const stage_task *k)
{
    k->ctx->newton->stale = true;
    iteration_status status = k->equations->evaluate(k, true);
    if (status != ITERATION_OK) return stages_from_iteration(status);
    k->ctx->newton->stale = false;
    k->newton->ahead = true;
    return stages_from_iteration(k->equations->factor(k));
}

/* ---- iteration ---- */

/* What the contraction says of an iteration that goes on: whether so many more iterations suffice,
 * or by how much to cut h [HW96 IV.8]. */
static bool will_converge(stage_newton *nw, double size, int left)
{
    double remaining = nw->eta * size / nw->kappa, rate = nw->theta;
    for (int k = 0; k < left && remaining >= 1.0; k++) {
        remaining *= rate;
        if (nw->improves > 0.0) rate *= nw->improves;
    }
    if (remaining < 1.0) return true;
    nw->shrink = 0.8 * pow(fmin(20.0, remaining), -1.0 / (4.0 + left));
    return false;
}

static attempt_status diverged(const stage_task *k)
{
    if (k->equations->blame) k->equations->blame(k);
    if (!(k->newton->theta < SLOWEST_RATE)) k->newton->shrink = 0.5;
    return ATTEMPT_CONVERGENCE;
}

/* theta and eta from the quotient q of the last two corrections, and `before` of those before; 0 if
 * there are none. Patience has all quotients in theta. */
static void measure_contraction(stage_newton *nw, double q, double before)
{
    nw->theta = before > 0.0 ? sqrt(q * (nw->patient ? nw->theta : before)) : q;
    if (nw->theta < SLOWEST_RATE) nw->eta = nw->theta / (1.0 - nw->theta);
}

/* eta^(3/4): trust in an old rate fades (RADAU has the power 0.8) */
static double faded(double eta)
{
    double root = sqrt(eta);
    return fmax(root * sqrt(root), BEST_OLD_ETA);
}

static void begin(const stage_task *k)
{
    stage_newton *nw = k->newton;
    nw->iterations = 0;
    nw->theta = 0.0;
    nw->noisy = false;
    nw->eta = faded(nw->eta);
    if (k->equations->begin) k->equations->begin(k);
}

/* One correction, counted */
static attempt_status correct(const stage_task *k, double *size)
{
    attempt_status status = k->equations->correct(k, size);
    if (status != ATTEMPT_OK) return status;
    correction_sizes *sizes = &k->newton->sizes;
    if (k->newton->iterations++ == 0) *sizes = (correction_sizes){.first = *size};
    sizes->before = sizes->last;
    sizes->last = *size;
    k->ctx->eval->stats->newton_iterations++;
    k->ctx->newton->last_size = *size;
    return isfinite(*size) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

/* Whether corrections with current matrices have ceased to shrink where rounding errors of
 * multipliers are: u / h^2 of the positions, and more where equations are ill-conditioned. */
static bool stays_in_rounding(const stage_newton *nw, double size, double quotient)
{
    const double STAYS = 0.5;
    bool last = nw->iterations >= nw->most;
    return nw->fresh && size <= nw->rounding && nw->iterations > 3 && (quotient > STAYS || last);
}

static attempt_status iterate(const stage_task *k)
{
    const stage_equations *own = k->equations;
    stage_newton *nw = k->newton;
    double size = 0.0, last = 0.0, q = 0.0;
    begin(k);
    for (int i = 0; i < nw->most; i++, last = size) {
        attempt_status status = correct(k, &size);
        if (status != ATTEMPT_OK) return status;
        const bool measured = i >= nw->first;
        if (measured) {
            double before = q;
            q = size / last;
            measure_contraction(nw, q, before);
        }
        if (measured && stays_in_rounding(nw, size, q)) return ATTEMPT_OK;
        bool slow = measured && !(nw->theta < SLOWEST_RATE);
        bool small = !slow && nw->eta * size <= nw->kappa;
        if (size <= nw->floor || (small && (!own->settled || own->settled(k)))) return ATTEMPT_OK;
        bool early = i == 1 && nw->first == 1 && (slow || !nw->patient);
        if (early && own->is_transient && own->is_transient(k, q)) {
            q = 0.0; /* the next one tells */
            continue;
        }
        if (slow || (measured && !nw->patient && !will_converge(nw, size, nw->most - 1 - i))) {
            nw->noisy = nw->fresh && size <= nw->noise;
            return nw->noisy ? ATTEMPT_OK : diverged(k);
        }
    }
    nw->shrink = 0.5;
    return diverged(k);
}

/* What may be left over of each variable at the end, in tolerances: where corrections could not be
 * smaller than rounding makes them, some of those, whose size is a root of a mean over n variables.
 */
static double part_left(const stage_newton *nw, double last_size, int n)
{
    const double SPREAD = 4.0, noise = fmax(nw->fresh ? nw->noise : 0.0, nw->rounding);
    const double most = sqrt((double)n) * fmin(last_size, fmax(noise, nw->floor));
    return fmax(PROOF * nw->kappa, SPREAD * most);
}

/* Whether the last stage solves its equations where the iteration has ended: by the matrices that
 * it took, else by those of that point. */
static attempt_status confirm(const stage_task *k, bool once, bool *confirmed)
{
    newton *nw = k->ctx->newton;
    iteration_end end = {.eval = k->ctx->eval,
                         .matrix = nw->matrix,
                         .norm = k->ctx->norm,
                         .cj = nw->matrix->cj,
                         .ways = once ? CONFIRM_EITHER : CONFIRM_BOTH,
                         .part = part_left(k->newton, nw->last_size, k->ctx->norm->n),
                         .e = nw->delta,
                         .f = nw->first};
    k->equations->last_stage(k, &end);
    attempt_status status = iteration_confirm(&end, confirmed);
    if (status != ATTEMPT_OK || *confirmed) return status;
    if (once) { /* nothing but corrections that hardly move y speaks against it */
        *confirmed = !end.known || end.left < HELD || end.left > 1.0;
        end.part = fmax(end.part, MOST_OFF);
    }
    if (*confirmed) return status;
    nw->stale = true;
    status = iteration_confirm_anew(&end, k->result->h, confirmed);
    nw->stale = !nw->matrix->jac.valid || status != ATTEMPT_OK;
    k->newton->fresh = k->newton->ahead = true;
    return status;
}

/* The iteration goes on from an end that is none, with the matrices of that point. */
static attempt_status go_on(const stage_task *k)
{
    stage_newton *nw = k->newton;
    const int before = nw->iterations;
    nw->shrink = 0.5;
    attempt_status status = stage_newton_prepare(k, false);
    if (status == ATTEMPT_OK) status = iterate(k);
    nw->iterations += before;
    return status;
}

/* Whether corrections tell much of the end. With matrices of an earlier step they do not, however
 * small they are: nodes that diodes tied down then barely move where these have ceased to conduct.
 */
static bool proves(const stage_task *k)
{
    const stage_newton *nw = k->newton;
    return nw->theta > 0.0 && (nw->fresh || !k->ctx->newton->cheap_jacobian);
}

/* Whether F is asked although corrections tell much: matrices of the step are those of its middle,
 * where diodes may conduct that do not at its end. Not where new derivatives cost so much that the
 * rate has to do, where all corrections were small, nor of higher index, whose displacements tell
 * less. */
static bool may_be_held(const stage_task *k)
{
    const error_norm *norm = k->ctx->norm;
    return k->ctx->newton->cheap_jacobian && k->newton->sizes.first > MOST_OFF &&
           norm->newton == norm->scale;
}

attempt_status stage_newton_iterate(const stage_task *k)
{
    stage_newton *nw = k->newton;
    attempt_status status = iterate(k);
    if (!k->equations->last_stage) return status;
    const double first = nw->sizes.first;
    for (int m = 0; status == ATTEMPT_OK; m++) {
        const bool local = proves(k) && iteration_is_local(k->ctx->norm, nw->sizes);
        bool confirmed = local && !may_be_held(k);
        if (!confirmed) status = confirm(k, local, &confirmed);
        if (status != ATTEMPT_OK || confirmed) break;
        status = m < MOST_DOUBTS && nw->iterations < nw->most ? go_on(k) : ATTEMPT_CONVERGENCE;
    }
    nw->sizes.first = first; /* what the prediction was off by */
    /* The quotient of corrections that noise makes is not a rate: a step control that took it for
     * one would hold h, and with it the noise, for ever. */
    if (status == ATTEMPT_OK && nw->noisy) nw->theta = 0.0;
    return status;
}

attempt_status stage_newton_solve(const stage_task *k)
{
    stage_newton *nw = k->newton;
    const double eta = nw->eta;
    nw->shrink = 0.5;
    attempt_status status = stage_newton_prepare(k, false);
    if (status != ATTEMPT_OK) return status;
    bool fresh = nw->fresh;
    if (!fresh) vector_copy(k->count, k->stages, k->predicted);
    status = stage_newton_iterate(k);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (!retry || fresh) return status;
    vector_copy(k->count, k->predicted, k->stages);
    nw->eta = eta;
    k->result->stage = 0;
    status = stage_newton_prepare(k, true);
    return status == ATTEMPT_OK ? stage_newton_iterate(k) : status;
}
