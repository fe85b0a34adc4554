/* Projection after a step that does not end on the constraints by itself [AP91]: for methods with
 * |R(infinity)| = 1, which lose their order on constraints otherwise [BCP96 4.4, 7.3].
 *
 * With rows F_d (which contain y') and F_c (constraints), columns x (whose y' occurs), w
 * (algebraic, of index 1) and u (of index 2), the matrix M = [ dF_d/dx' + e dF_d/dx   dF_d/dw
 * dF_d/du ] [ e dF_c/dx              dF_c/dw   0       ],  e -> 0, serves two Newton iterations.
 * Positions: F_c(t, x + e X, w + W) = 0 along M (X, W, U) = (0, -F_c): x moves in the directions
 * that u has, by as much as it must. Slopes: F_d(t, x', w, u) = 0 and d/dt F_c = 0 for x' += X, w'
 * += W/e, u += U.
 * Where y' of index 1 stands in more rows than there are x (fully implicit), w is found with x':
 * F(t, x, x', w) = 0 along M of e = 0; w' stays that of the stages. */
#include "method/implicit/irk_parts.h"

#include <float.h>

#include "base/vector.h"
#include "method/common/stages.h"

/* e in units of h: small against all time scales, and far from rounding. */
static const double SMALL = 1e-8;
/* Part of h over which constraints are differentiated, to order 3, within the step. */
static const double TIME_PART = 1.0 / 256.0;
/* Corrections this small end an iteration, in units of the tolerance. */
static const double ENOUGH = 1e-4;
/* And so do corrections that are lost in rounding, relative to y; for h y' in that of differences.
 */
static const double ROUND_OFF = 100.0 * DBL_EPSILON, SLOPE_NOISE = 1e-11;
enum { MOST_ITERATIONS = 15, MOST_RENEWALS = 3 };

/* How far apart the two e are that tell the index, and how much of the growth is not held against a
 * variable. */
static const double PROBE = 1024.0, SLACK = 32.0;
/* A reciprocal condition below it is that of a singular matrix, in the accuracy of differences. */
static const double RANK_NOISE = 1e-7;

static iteration_status factor_projection(irk_scratch *w, const method_context *ctx, double e)
{
    iteration *it = ctx->newton->matrix;
    for (int j = 0; j < ctx->n; j++) {
        bool algebraic = it->algebraic_column[j];
        w->cy[j] = algebraic ? 1.0 : e;
        w->cyp[j] = algebraic ? 0.0 : 1.0;
    }
    return iteration_factor_columns(it, w->cy, w->cyp);
}

static bool has_constraints(const method_context *ctx)
{
    for (int i = 0; i < ctx->n; i++)
        if (ctx->newton->matrix->constraint_row[i]) return true;
    return false;
}

/* f = F(t, y, y') at the candidate, or y moved by -back along y' */
static attempt_status residual_at(irk_scratch *w, const method_context *ctx, double back, double *f)
{
    for (int j = 0; j < ctx->n; j++) w->step.point[j] = w->y[j] - back * w->yp[j];
    stages_clamp(&ctx->eval->problem->form, w->step.point);
    return stages_from_evaluation(evaluate_residual(ctx->eval, w->step.t - back, w->step.point,
                                                    w->yp, f, &ctx->eval->stats->residuals));
}

/* work = (11 F - 18 F(-d) + 9 F(-2d) - 2 F(-3d)) / 6d, d/dt F along y'; `error` holds F; V is work
 */
static attempt_status rate_of_constraints(irk_scratch *w, const method_context *ctx)
{
    const double weight[3] = {-18.0, 9.0, -2.0}, d = TIME_PART * w->step.h;
    for (int i = 0; i < ctx->n; i++) w->work[i] = 11.0 * w->error[i];
    for (int k = 0; k < 3; k++) {
        attempt_status status = residual_at(w, ctx, (k + 1) * d, w->step.V);
        if (status != ATTEMPT_OK) return status;
        vector_axpy(ctx->n, weight[k], w->step.V, w->work);
    }
    for (int i = 0; i < ctx->n; i++) w->work[i] /= 6.0 * d;
    return ATTEMPT_OK;
}

/* How an iteration goes on: done if its correction is small, or as small as rounding makes it;
 * failed if it does not shrink. */
typedef enum progress { PROGRESS_ON, PROGRESS_DONE, PROGRESS_FAILED } progress;

static progress progress_of(double size, double *last, double floor)
{
    bool stalls = *last >= 0.0 && size > 0.5 * *last;
    *last = size;
    if (size <= fmax(ENOUGH, floor)) return PROGRESS_DONE;
    if (!isfinite(size)) return PROGRESS_FAILED;
    return !stalls ? PROGRESS_ON : size <= 1.0 ? PROGRESS_DONE : PROGRESS_FAILED;
}

/* x and w on the constraints. */
static attempt_status project_positions(irk_scratch *w, const method_context *ctx, double e)
{
    iteration *it = ctx->newton->matrix;
    const int n = ctx->n;
    double last = -1.0, floor = ROUND_OFF * norm_of(ctx->norm, w->y, ctx->norm->scale);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        attempt_status status = residual_at(w, ctx, 0.0, w->error);
        if (status != ATTEMPT_OK) return status;
        for (int i = 0; i < n; i++) w->work[i] = it->constraint_row[i] ? -w->error[i] : 0.0;
        status = stages_from_iteration(iteration_solve(it, NULL, w->work));
        if (status != ATTEMPT_OK) return status;
        for (int j = 0; j < n; j++) {
            bool algebraic = it->algebraic_column[j];
            double change = algebraic ? w->work[j] : e * w->work[j];
            if (algebraic && ctx->norm->kinds[j] >= DAE_KIND_INDEX2) change = 0.0;
            w->work[j] = change;
            w->y[j] += change;
        }
        progress next = progress_of(norm_of(ctx->norm, w->work, ctx->norm->scale), &last, floor);
        if (next == PROGRESS_FAILED) break;
        if (next == PROGRESS_DONE) return ATTEMPT_OK;
    }
    return ATTEMPT_CONVERGENCE;
}

/* x', w' and u */
static attempt_status project_slopes(irk_scratch *w, const method_context *ctx, double e,
                                     bool constrained)
{
    iteration *it = ctx->newton->matrix;
    const int n = ctx->n;
    double last = -1.0, floor = SLOPE_NOISE * norm_of(ctx->norm, w->y, ctx->norm->scale);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        attempt_status status = residual_at(w, ctx, 0.0, w->error);
        if (status == ATTEMPT_OK && constrained) status = rate_of_constraints(w, ctx);
        if (status != ATTEMPT_OK) return status;
        for (int i = 0; i < n; i++)
            w->work[i] = it->constraint_row[i] ? -e * w->work[i] : -w->error[i];
        status = stages_from_iteration(iteration_solve(it, NULL, w->work));
        if (status != ATTEMPT_OK) return status;
        for (int j = 0; j < n; j++) {
            bool algebraic = it->algebraic_column[j];
            bool multiplier = algebraic && ctx->norm->kinds[j] >= DAE_KIND_INDEX2;
            if (multiplier)
                w->y[j] += w->work[j];
            else
                w->yp[j] += algebraic ? w->work[j] / e : w->work[j];
            w->work[j] *= algebraic && !multiplier ? w->step.h / e : w->step.h;
        }
        progress next = progress_of(norm_of(ctx->norm, w->work, ctx->norm->scale), &last, floor);
        if (next == PROGRESS_FAILED) break;
        if (next == PROGRESS_DONE) return ATTEMPT_OK;
    }
    return ATTEMPT_CONVERGENCE;
}

/* Why the projection cannot do with y_j; NULL: it can. `growth` is that of y_j over PROBE in e. */
static const char *growth_reason(const method_context *ctx, int j, double growth)
{
    const bool declared = ctx->norm->kinds[j] == DAE_KIND_INDEX2;
    if (!ctx->newton->matrix->algebraic_column[j])
        return growth <= SLACK * PROBE
                   ? NULL
                   : "does not damp, and cannot end its steps on constraints that a second "
                     "derivative alone moves: choose a formulation of lower index (ggl, index2, "
                     "index1), or radau";
    if (declared && growth < SLACK)
        return "does not damp, but a variable declared as of index 2 is of index 1: it follows the "
               "others by a stiff relation; choose radau or bdf, or another formulation";
    return growth <= (declared ? SLACK * PROBE : SLACK)
               ? NULL
               : "loses its order on variables of higher index unless it projects, and for that "
                 "must know them: declare their kinds (index 2), or choose a formulation of index "
                 "1, ggl, or radau";
}

/* Whether dF_d/dx' has more rows than columns, and there is no u */
static bool is_implicit(const method_context *ctx)
{
    const iteration *it = ctx->newton->matrix;
    int excess = 0;
    for (int j = 0; j < ctx->n; j++) {
        if (ctx->norm->kinds[j] >= DAE_KIND_INDEX2) return false;
        excess += it->algebraic_column[j] - it->constraint_row[j];
    }
    return excess > 0;
}

/* x' and w, where x stays */
static attempt_status project_implicit(irk_scratch *w, const method_context *ctx)
{
    iteration *it = ctx->newton->matrix;
    double last = -1.0, floor = SLOPE_NOISE * norm_of(ctx->norm, w->y, ctx->norm->scale);
    attempt_status status = stages_from_iteration(factor_projection(w, ctx, 0.0));
    for (int k = 0; k < MOST_ITERATIONS && status == ATTEMPT_OK; k++) {
        status = residual_at(w, ctx, 0.0, w->work);
        if (status == ATTEMPT_OK)
            status = stages_from_iteration(iteration_solve(it, NULL, w->work));
        for (int j = 0; j < ctx->n && status == ATTEMPT_OK; j++) {
            bool algebraic = it->algebraic_column[j];
            double *moved = algebraic ? &w->y[j] : &w->yp[j];
            *moved -= w->work[j];
            w->work[j] *= algebraic ? 1.0 : w->step.h;
        }
        if (status != ATTEMPT_OK) break;
        progress next = progress_of(norm_of(ctx->norm, w->work, ctx->norm->scale), &last, floor);
        if (next == PROGRESS_DONE) return ATTEMPT_OK;
        if (next == PROGRESS_FAILED) status = ATTEMPT_CONVERGENCE;
    }
    return status == ATTEMPT_OK ? ATTEMPT_CONVERGENCE : status;
}

/* M^-1 for two e, applied to the constraints' rows: an algebraic variable of index k grows as
 * e^(1-k); x' as 1/e up to index 2, so that x moves by what it must, and as e^-2 beyond. */
static attempt_status compare_growth(irk_scratch *w, const method_context *ctx, double e,
                                     attempt *result)
{
    iteration *it = ctx->newton->matrix;
    double *x[2] = {w->error, w->work};
    for (int k = 0; k < 2; k++) {
        iteration_status status = factor_projection(w, ctx, k ? PROBE * e : e);
        for (int i = 0; i < ctx->n; i++)
            x[k][i] = it->constraint_row[i] ? 1.0 + 0.3 * sin(i + 1.0) : 0.0;
        if (status == ITERATION_OK) status = iteration_solve(it, NULL, x[k]);
        if (status != ITERATION_OK) return stages_from_iteration(status);
    }
    for (int k = 0; k < 2 * ctx->n; k++) { /* algebraic variables first: they tell more */
        const int j = k % ctx->n;
        bool turn = it->algebraic_column[j] == (k < ctx->n);
        if (!turn || !(fabs(x[1][j]) > 0.0)) continue;
        result->reason = growth_reason(ctx, j, fabs(x[0][j] / x[1][j]));
        if (!result->reason) continue;
        result->variable = j;
        return ATTEMPT_UNSUPPORTED;
    }
    return ATTEMPT_OK;
}

/* Whether some combination of equations has no y' though every one of them has: M is singular then,
 * but for e, also after its rows are scaled. */
static bool constraints_are_hidden(irk_scratch *w, const method_context *ctx, double e)
{
    iteration_status status = factor_projection(w, ctx, e);
    return status == ITERATION_SINGULAR ||
           (status == ITERATION_OK && iteration_condition(ctx->newton->matrix) < RANK_NOISE);
}

attempt_status irk_check_index(const irk_state *s, irk_scratch *w, const method_context *ctx,
                               attempt *result)
{
    newton *nw = ctx->newton;
    attempt_status status = stages_from_iteration(
        iteration_evaluate(nw->matrix, s->t, s->y, s->yp, s->table->m->gamma / w->step.h, w->step.h,
                           ctx->norm->weights, NULL));
    nw->stale = status != ATTEMPT_OK;
    w->step.newton.fresh = !nw->stale;
    const double e = SMALL * fabs(w->step.h);
    if (status == ATTEMPT_OK && has_constraints(ctx)) status = compare_growth(w, ctx, e, result);
    if (status != ATTEMPT_OK || !constraints_are_hidden(w, ctx, e)) return status;
    result->reason =
        "projects onto equations without y', and here equations that contain y' have a "
        "combination that does not: write that as an equation of its own, or choose "
        "radau";
    return ATTEMPT_UNSUPPORTED;
}

/* New partial derivatives at the candidate, and their factors. */
static attempt_status renew(const irk_state *s, irk_scratch *w, const method_context *ctx, double e)
{
    iteration *it = ctx->newton->matrix;
    iteration_status status =
        iteration_evaluate(it, w->step.t, w->y, w->yp, s->table->m->gamma / w->step.h, w->step.h,
                           ctx->norm->weights, NULL);
    if (status == ITERATION_OK) status = factor_projection(w, ctx, e);
    return stages_from_iteration(status);
}

/* Both iterations, anew with other derivatives where they are too far off to converge. */
static attempt_status project(const irk_state *s, irk_scratch *w, const method_context *ctx,
                              double e, bool constrained)
{
    attempt_status status = ATTEMPT_CONVERGENCE;
    for (int k = 0; k <= MOST_RENEWALS && status == ATTEMPT_CONVERGENCE; k++) {
        status = k > 0 ? renew(s, w, ctx, e) : ATTEMPT_OK;
        if (status == ATTEMPT_OK && is_implicit(ctx)) {
            status = project_implicit(w, ctx);
            continue;
        }
        if (status == ATTEMPT_OK && constrained) status = project_positions(w, ctx, e);
        if (status == ATTEMPT_OK) status = project_slopes(w, ctx, e, constrained);
    }
    return status;
}

attempt_status irk_project(const irk_state *s, irk_scratch *w, const method_context *ctx,
                           attempt *result)
{
    const double e = SMALL * fabs(w->step.h);
    attempt_status status = renew(s, w, ctx, e);
    bool constrained = has_constraints(ctx);
    if (status == ATTEMPT_OK) status = project(s, w, ctx, e, constrained);
    if (status == ATTEMPT_CONVERGENCE) {
        result->reason = "cannot project the end of a step on the constraints";
        result->variable = vector_argmax(ctx->n, w->work, ctx->norm->scale);
    }
    return status;
}
