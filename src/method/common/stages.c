#include "method/common/stages.h"

#include "base/vector.h"
#include "method/common/interpolation.h"

/* Violations of bounds below this part of the tolerance are not told from rounding. */
static const double SETTLED = 0.1;

void stages_error_scale(const error_norm *norm, dae_error_test test, double *scale)
{
    bool higher = test != DAE_ERROR_DIFFERENTIAL && norm->kinds;
    for (int j = 0; j < norm->n; j++) {
        bool scaled = higher && norm->kinds[j] >= DAE_KIND_INDEX2 && norm->exempt[j] == 0 &&
                      !(norm->hidden && norm->hidden[j]);
        scale[j] = scaled ? norm->newton[j] : norm->tested[j];
    }
}

double stages_relative_tolerance(const error_norm *norm, const double *y)
{
    double rtol = norm->rtol;
    for (int i = 0; norm->rtol_by_unknown && i < norm->n; i++)
        rtol = i == 0 ? norm->rtol_by_unknown[0] : fmax(rtol, norm->rtol_by_unknown[i]);
    if (!(rtol > 0.0) || norm->user_weights) {
        double size = norm_of(norm, y, norm->scale);
        rtol = size > 1.0 ? 1.0 / size : 1.0;
    }
    return fmin(fmax(rtol, 1e-14), 0.1);
}

void stages_put_within(const dae_residual *form, double *y)
{
    for (int j = 0; form->lower_bounds && j < form->n; j++)
        y[j] = fmax(y[j], form->lower_bounds[j]);
    for (int j = 0; form->upper_bounds && j < form->n; j++)
        y[j] = fmin(y[j], form->upper_bounds[j]);
}

bound_slack stages_slack(const error_norm *norm, double h, double *first)
{
    if (!(*first > 0.0)) *first = fabs(h);
    return (bound_slack){norm, fmax(1.0, *first / fabs(h))};
}

/* By how much y_j is outside of its bounds; 0 if it is not, or it is forgiven. */
static double stages_violation(const dae_residual *form, bound_slack slack, int j, double y)
{
    double over = 0.0;
    if (form->lower_bounds) over = fmax(over, form->lower_bounds[j] - y);
    if (form->upper_bounds) over = fmax(over, y - form->upper_bounds[j]);
    bool moves = !slack.norm->kinds || slack.norm->kinds[j] == DAE_KIND_DIFFERENTIAL;
    double later = moves ? over * slack.stretch : over;
    return later * slack.norm->scale[j] <= SETTLED ? 0.0 : over;
}

void stages_within_bounds(const dae_residual *form, bound_slack slack, double c, const double *y0,
                          const double *y, double *part, int *who)
{
    if (!form->lower_bounds && !form->upper_bounds) return;
    for (int j = 0; j < form->n; j++) {
        double over = stages_violation(form, slack, j, y[j]), way = fabs(y[j] - y0[j]);
        double inside = over > 0.0 ? fmax(0.0, c * (1.0 - over / way)) : 1.0;
        if (inside >= *part) continue;
        *part = inside;
        *who = j;
    }
}

attempt_status stages_keep_within(const dae_residual *form, const error_norm *norm, double *y)
{
    const bound_slack slack = {norm, 1.0};
    if (!form->lower_bounds && !form->upper_bounds) return ATTEMPT_OK;
    for (int j = 0; j < form->n; j++) {
        if (!isfinite(y[j]) || stages_violation(form, slack, j, y[j]) > 0.0)
            return ATTEMPT_EVALUATION;
    }
    stages_put_within(form, y);
    return ATTEMPT_OK;
}

void stages_begin(attempt *a, double t, double h, int order, const double *y, const double *yp)
{
    *a = (attempt){.t = t,
                   .h = h,
                   .order = order,
                   .y = y,
                   .yp = yp,
                   .error_constant = 1.0,
                   .variable = -1,
                   .constraint = -1};
    for (int i = 0; i < 4; i++) a->terms[i] = NAN;
}

bool stages_refused(attempt *a, int variable, const char *reason)
{
    a->status = ATTEMPT_UNSUPPORTED;
    a->reason = reason;
    a->variable = variable;
    return true;
}

bool stages_need_matrix(const method_context *ctx, attempt *a)
{
    return ctx->newton->matrix->matrix_free &&
           stages_refused(a, -1,
                          "needs a matrix to factor: choose a dense, banded or sparse linear "
                          "solver");
}

bool stages_alone(const method_context *ctx)
{
    const error_norm *norm = ctx->norm;
    for (int j = 0; ctx->fixed_steps && norm->kinds && j < norm->n; j++)
        if (norm->kinds[j] == DAE_KIND_INDEX3) return true;
    return false;
}

bool stages_refuse_index3(const method_context *ctx, attempt *a)
{
    const error_norm *norm = ctx->norm;
    for (int j = 0; norm->kinds && j < norm->n; j++)
        if (norm->kinds[j] == DAE_KIND_INDEX3)
            return stages_refused(a, j,
                                  "has no order on variables of index 3: choose radau, or a "
                                  "formulation of lower index (ggl, index2, index1)");
    return false;
}

double stages_next_factor(double error, int power, bool first, bool rejected)
{
    const double safety = 0.9, most = 8.0, little = 1.2;
    const double least = error > 1.0 && first ? 1e-3 : 0.2;
    if (!isfinite(error)) return least;
    double factor = safety * pow(fmax(error, 1e-10), -1.0 / power);
    if (error > 1.0) return fmax(least, fmin(factor, safety));
    factor = fmax(least, fmin(factor, rejected ? 1.0 : most));
    return factor >= 1.0 && factor < little ? 1.0 : factor;
}

void stages_no_newton(const method_context *ctx)
{
    ctx->newton->iterations = 0;
    ctx->newton->rate = 0.0;
}

bool stages_looked_at(const method_context *ctx)
{
    return ctx->eval->problem->form.event_count > 0 || ctx->between;
}

double stages_dense_error(const method_context *ctx, double t, double *y, const double *yp,
                          const double *scale, double *work)
{
    stages_clamp(&ctx->eval->problem->form, y);
    eval_failure failure = ctx->eval->failure;
    eval_status status = evaluate_residual(ctx->eval, t, y, yp, work, &ctx->eval->stats->residuals);
    ctx->eval->failure = failure;
    if (status == EVAL_RETRY && ctx->between) return STAGES_NOWHERE;
    if (status != EVAL_OK || iteration_solve(ctx->newton->matrix, NULL, work) != ITERATION_OK)
        return 0.0;
    double error = norm_of(ctx->norm, work, scale);
    return isfinite(error) ? error : 0.0;
}

double stages_falling(stages_trial *last, double error, double h, bool again)
{
    bool falls = !again || error <= last->error * sqrt(fabs(h / last->h));
    double exponent = INFINITY;
    if (again && h != last->h) exponent = log(last->error / error) / log(last->h / h);
    *last = (stages_trial){error, h, exponent};
    return falls ? error : 0.0;
}

/* Steps of smooth solutions come to this part of the tolerance at a start only, where they grow
 * from a guess; and the part of an error between steps that counts: 10 tolerances pass. */
static const double QUIET = 1e-6, QUIET_WEIGHT = 0.1;
enum { QUIET_LOOKS = 16 };

/* The norm of those parts of a correction that stay, in the differential variables. */
static double error_of_states(const error_norm *norm, double *correction, const double *scale)
{
    for (int j = 0; j < norm->n; j++)
        if (norm->kinds[j] != DAE_KIND_DIFFERENTIAL) correction[j] = 0.0;
    double error = norm_of(norm, correction, scale);
    return isfinite(error) ? error : 0.0;
}

static bool has_states(const error_norm *norm)
{
    for (int j = 0; norm->kinds && j < norm->n; j++)
        if (norm->kinds[j] == DAE_KIND_DIFFERENTIAL) return true;
    return false;
}

double stages_quiet_error(const method_context *ctx, double error, double h, stages_trial *last,
                          const double *scale, stages_look look, const void *state, void *scratch)
{
    const error_norm *norm = ctx->norm;
    bool higher = norm->newton != norm->scale; /* what F says of constraints does not count */
    bool seen = !(error < QUIET) || ctx->newton->matrix->matrix_free;
    if (seen || higher || ctx->fixed_steps || !has_states(norm)) return error;
    double worst = 0.0, *correction = NULL;
    for (int k = 1; k <= QUIET_LOOKS; k++) { /* spread evenly, away from nodes */
        const double x = k * STAGES_LOOK;
        double found = look(state, scratch, ctx, x - (int)x, &correction);
        if (found > 0.0 && found != STAGES_NOWHERE)
            worst = fmax(worst, error_of_states(norm, correction, scale));
    }
    worst = stages_falling(last, QUIET_WEIGHT * worst, h, last->h != 0.0);
    return worst > 1.0 ? worst : error;
}

double stages_error_between(const method_context *ctx, double weight, double error, double h,
                            stages_trial *last, const double *scale, stages_look look,
                            const void *state, void *scratch)
{
    double *correction;
    if (weight > 0.0)
        error = fmax(error, weight * look(state, scratch, ctx, STAGES_LOOK, &correction));
    return stages_quiet_error(ctx, error, h, last, scale, look, state, scratch);
}

/* Errors of smooth solutions vary by less from step to step, if they are not tiny; and fall with
 * more than this part of the power that they should have. */
static const double ABRUPT = 1e3, TINY = 1e-6, SLOWLY = 0.6;

double stages_abruptness(const stages_trial *now, double before, double ratio, int power,
                         double weight)
{
    if (weight >= 1.0) return 1.0;
    double most = 1.0 / weight, surprise = 0.0;
    if (now->error > ABRUPT * TINY)
        surprise = now->error / (ABRUPT * fmax(before * pow(fabs(ratio), power), TINY));
    if (now->exponent < SLOWLY * power)
        surprise = fmax(surprise, pow(most, 1.0 - fmax(now->exponent, 0.0) / power));
    return fmin(fmax(surprise, 1.0), most);
}

/* A leap by more than this counts so many times: near nodes of weight 0 a kink moves the end by ten
 * times what is seen of it. */
static const double LEAP = 100.0, LEAP_COUNTS = 10.0;
/* How much of the memory of rough steps is left after another one; and how much of it may come of
 * growing steps alone, in tolerances: rounding errors would be taken for roughness after a few
 * steps that grow eightfold. */
static const double FADES = 0.1, UNSEEN = 0.1;

double stages_leap(double rough, double ratio, bool known, double *memory)
{
    double before = *memory, usual = before * ratio * ratio * ratio * ratio;
    *memory = fmax(rough, fmin(FADES * usual, fmax(before, UNSEEN)));
    return known && rough > LEAP * usual ? LEAP_COUNTS * rough : 0.0;
}

bool stages_filter_slope(const method_context *ctx, double *e, double *work)
{
    iteration *it = ctx->newton->matrix;
    if (iteration_apply_yp(it, NULL, e, work) != ITERATION_OK) return false;
    vector_copy(ctx->n, work, e);
    return iteration_solve(it, NULL, e) == ITERATION_OK;
}

/* work = P v */
static bool slow_part(const method_context *ctx, const double *v, double *work)
{
    iteration *it = ctx->newton->matrix;
    if (iteration_apply_yp(it, NULL, v, work) != ITERATION_OK ||
        iteration_solve(it, NULL, work) != ITERATION_OK)
        return false;
    for (int j = 0; j < ctx->n; j++) work[j] *= it->cj;
    return true;
}

/* v := (I - P)^times v */
static bool keep_stiff(const method_context *ctx, int times, double *v, double *work)
{
    for (int k = 0; k < times; k++) {
        if (!slow_part(ctx, v, work)) return false;
        vector_axpy(ctx->n, -1.0, work, v);
    }
    return true;
}

double stages_stiff_part(const method_context *ctx, const double *scale, const double *e,
                         double little, double *keep, double *work)
{
    enum { TIMES = 3 };
    double size = INFINITY;
    vector_copy(ctx->n, e, keep);
    for (int k = 0; k < TIMES && !(size <= little); k++) {
        if (!keep_stiff(ctx, 1, keep, work)) return INFINITY;
        size = norm_of(ctx->norm, keep, scale);
    }
    return size;
}

double stages_stiff_end(const method_context *ctx, const double *scale, double *c, double *work)
{
    if (!keep_stiff(ctx, 2, c, work) || !slow_part(ctx, c, work)) return INFINITY;
    return norm_of(ctx->norm, work, scale);
}

void cubic_value(int n, double x, double h, int derivative, const double *y0, const double *y1,
                 const double *d1, const double *d2, double *y)
{
    double r = 1.0 / h, a = x * (1.0 - x), a1 = 1.0 - 2.0 * x, b = a * x, b1 = x * (2.0 - 3.0 * x);
    if (derivative)
        for (int j = 0; j < n; j++) y[j] = r * (y1[j] - y0[j] + a1 * d1[j] + b1 * d2[j]);
    else
        for (int j = 0; j < n; j++) y[j] = y0[j] + x * (y1[j] - y0[j]) + a * d1[j] + b * d2[j];
}

void cubic_from_slopes(int n, double h, const double *y0, const double *y1, const double *z0,
                       const double *z1, double *d1, double *d2)
{
    for (int j = 0; j < n; j++) {
        double way = y1[j] - y0[j];
        d1[j] = z0 ? h * z0[j] - way : way - h * z1[j];
        d2[j] = way - h * z1[j] - d1[j];
    }
}

void cubic_bend(int n, double x, double h, int derivative, double l, double r, const double *v,
                double *y)
{
    double left, right;
    cubic_ends(x, h, derivative, &left, &right);
    vector_axpy(n, -(left * l + right * r), v, y);
}
