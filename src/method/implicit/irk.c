/* Gauss, Lobatto IIIC and singly implicit methods: the step. irk.h has the formulas. */
#include "method/implicit/irk_parts.h"

#include "base/vector.h"
#include "matrix/shifted.h"
#include "method/common/stages.h"

/* Weight of errors of stiff variables that the estimate of the table does not see. */
static const double STIFF = 0.1;

/* The longest step, over the last one, into which the polynomial of that is continued. */
static const double MOST_STRETCH = 2.0;

/* The iteration error may be this part of the tolerance; and corrections that stay this small are
 * noise of F. */
static const double KAPPA = 0.001, NOISE = 0.1;
/* Contraction beyond which partial derivatives are renewed at the next step. */
static const double WORN = 0.003;
enum { MOST_ITERATIONS = 12 };

const method_memory irk_memory = {
    .state = {sizeof(irk_state),
              {VECTORS(irk_state, y, yp_old), BLOCKS(irk_state, P, P, IRK_NODES)}},
    .gaps = {GAP(irk_state, table)},
    .scratch_gaps = {GAP(irk_scratch, step.m), GAPS(irk_scratch, step.y, step.yp),
                     GAP(irk_scratch, step.D), GAP(irk_scratch, step.scale)},
    .scratch = {sizeof(irk_scratch),
                {VECTORS(irk_scratch, slope, work), COLLOCATION_VECTORS(irk_scratch, IRK_STAGES),
                 BLOCKS(irk_scratch, P, P, IRK_NODES)}},
};

/* ---- interpolation -------------------------------------------------------------------------- */

/* weight_j = l_j(x) or l_j'(x), the Lagrange polynomials on 0 and the nodes that belong to node j
 */
static void irk_lagrange(int count, const double *nodes, double x, bool derivative, double *weight)
{
    for (int j = 0; j < count; j++) {
        double value = x, slope = 1.0, scale = nodes[j];
        for (int k = 0; k < count; k++) {
            if (k == j) continue;
            slope = slope * (x - nodes[k]) + value;
            value *= x - nodes[k];
            scale *= nodes[j] - nodes[k];
        }
        weight[j] = (derivative ? slope : value) / scale;
    }
}

/* Stages with c_i = 0 do not lie on the interpolant: it begins at y. */
static void choose_nodes(irk_state *s)
{
    const irk_table *table = s->table;
    s->on = 0;
    for (int i = 0; i < table->m->stages; i++)
        if (table->m->nodes[i] != 0.0 && !(table->aside >> i & 1)) {
            s->node[s->on] = table->m->nodes[i];
            s->stage[s->on++] = i;
        }
    s->nodes = s->on;
    irk_lagrange(s->on, s->node, 0.0, true, s->left);
    irk_lagrange(s->on, s->node, 1.0, true, s->right);
    if (!collocation_ends(table->m)) s->node[s->nodes++] = 1.0;
}

/* y = sum weight_j P_j */
static void combine(int count, int n, const double *weight, const double *P, double *y)
{
    vector_zero(n, y);
    for (int j = 0; j < count; j++) vector_axpy(n, weight[j], P + (size_t)j * (size_t)n, y);
}

/* y = sum weight_k Z_i over the stages on the interpolant */
static void combine_stages(const irk_state *s, int n, const double *weight, const double *Z,
                           double *y)
{
    vector_zero(n, y);
    for (int k = 0; k < s->on; k++)
        vector_axpy(n, weight[k], Z + (size_t)s->stage[k] * (size_t)n, y);
}

/* The increments at the nodes of the candidate. */
static void collect_nodes(const irk_state *s, irk_scratch *w, int n)
{
    for (int k = 0; k < s->on; k++)
        vector_copy(n, w->step.Z + (size_t)s->stage[k] * (size_t)n, w->P + (size_t)k * (size_t)n);
    double *end = w->P + (size_t)s->on * (size_t)n;
    for (int j = 0; !collocation_ends(s->table->m) && j < n; j++) end[j] = w->y[j] - s->y[j];
}

/* ---- step -------------------------------------------------------------------------------------
 */

/* Whether each step has to be led back to the constraints: where |R(infinity)| = 1 [AP91], and at
 * index 1 wherever it does not end on them, as no error estimate sees how far it is off. */
static bool has_to_project(const irk_table *table, const method_context *ctx)
{
    if (table->project || collocation_ends(table->m) || ctx->fixed_steps) return table->project;
    for (int j = 0; j < ctx->n; j++)
        if (ctx->norm->kinds[j] >= DAE_KIND_INDEX2) return false;
    return true;
}

void irk_begin(const irk_table *table, void *state, void *scratch, const method_context *ctx,
               const start_point *at)
{
    irk_state *s = state;
    irk_scratch *w = scratch;
    const int n = ctx->n;
    method_clear(ctx, s, w);
    s->table = table;
    s->project = has_to_project(table, ctx) && ctx->projection != DAE_PROJECTION_NONE;
    w->step.m = table->m;
    s->t = s->t_old = at->t;
    s->step = 1;
    w->step.newton.eta = 1.0;
    choose_nodes(s);
    vectors_begin(n, at->y, s->y, s->y_old);
    vectors_begin(n, at->yp, s->yp, s->yp_old);
    if (table->m->pairs > 0) /* a failure shows at the first attempt */
        shifted_prepare(ctx->newton->matrix, table->m->pairs);
}

static bool projects(const irk_state *s, const irk_scratch *w)
{
    return s->project && !w->unprojected;
}

/* Before the first step that projects: whether it can. A table that does without goes on as it is.
 */
static void check_index(const irk_state *s, irk_scratch *w, const method_context *ctx,
                        attempt *result)
{
    result->status = irk_check_index(s, w, ctx, result);
    if (s->table->project || result->status != ATTEMPT_UNSUPPORTED) return;
    w->unprojected = true;
    result->status = ATTEMPT_OK;
    result->reason = NULL;
}

static void irk_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    irk_begin(ctx->method->table, state, scratch, ctx, at);
}

/* Stages on the polynomial of the last step, unless it is stretched too far or of low degree; on a
 * first step on the tangent. Else, and after a failure there, 0: an extrapolation may lead to
 * another root of the equations. With it throughout, half of 41 runs of lobattoc2 on Robertson's
 * problem at rtol = 1e-2 .. 1e-6 left the positive solution, and 5 of lobattoc4; in this way none
 * does. */
static void predict(const irk_state *s, irk_scratch *w, const method_context *ctx)
{
    const irk_table *table = s->table;
    const int n = ctx->n;
    const bool alone = stages_alone(ctx);
    double weight[IRK_NODES], end[IRK_NODES], ratio = w->step.h / (s->t - s->t_old);
    bool tangent = s->step == 1 && !w->rejected;
    bool continued = s->step > 1 && (table->m->stages > 2 || alone) && ratio <= MOST_STRETCH;
    if (continued) irk_lagrange(s->nodes, s->node, 1.0, false, end);
    for (int i = 0; i < table->m->stages; i++) {
        double *Z = w->step.Z + (size_t)i * (size_t)n;
        vector_zero(n, Z);
        if (tangent) vector_axpy(n, table->m->nodes[i] * w->step.h, s->yp, Z);
        if (!continued) continue;
        irk_lagrange(s->nodes, s->node, 1.0 + ratio * table->m->nodes[i], false, weight);
        for (int k = 0; k < s->nodes; k++) weight[k] -= end[k];
        combine(s->nodes, n, weight, s->P, Z);
        for (int j = 0; alone && j < n; j++) /* stages have them to O(h) only */
            if (ctx->norm->kinds[j] == DAE_KIND_INDEX3) Z[j] = 0.0;
    }
}

/* y_1, and y_1' as the stages have it */
static void finish_stages(const irk_state *s, irk_scratch *w, int n)
{
    const irk_table *table = s->table;
    const int last = table->m->stages - 1;
    const double *row = table->m->inverse + last * table->m->stages;
    if (collocation_ends(table->m)) {
        vector_copy(n, w->step.Z + (size_t)last * (size_t)n, w->y);
        combine(table->m->stages, n, row, w->step.Z, w->yp);
    } else {
        combine(table->m->stages, n, table->m->d, w->step.Z, w->y);
        combine_stages(s, n, s->right, w->step.Z, w->yp);
    }
    for (int j = 0; j < n; j++) {
        w->y[j] += s->y[j];
        w->yp[j] /= w->step.h;
    }
}

/* The power of h in the estimate. */
static int estimate_power(const irk_table *table)
{
    if (table->power > 0) return table->power;
    return table->estimate == IRK_FIRST_STAGE ? table->m->stages : table->stage_order + 1;
}

/* The estimate is O(h^k), errors are O(h^p): an estimate of rtol^(k/p) goes with errors about rtol.
 */
static double error_factor(const irk_table *table, double rtol)
{
    return pow(rtol, 1.0 - (double)estimate_power(table) / table->m->order);
}

/* error = (dF/dy + gamma/h dF/dy')^-1 dF/dy' r, with the r that the table asks for */
static bool estimate(const irk_state *s, irk_scratch *w, const method_context *ctx)
{
    const irk_table *table = s->table;
    const int n = ctx->n;
    iteration *it = ctx->newton->matrix;
    if (table->estimate == IRK_EMBEDDED) {
        combine(table->m->stages, n, table->error, w->step.Z, w->slope);
        for (int j = 0; j < n; j++) w->slope[j] *= table->m->gamma / w->step.h;
    } else if (table->estimate == IRK_FIRST_STAGE) {
        for (int j = 0; j < n; j++) w->slope[j] = table->m->gamma / w->step.h * w->step.Z[j];
    } else {
        combine_stages(s, n, s->left, w->step.Z, w->slope);
        for (int j = 0; j < n; j++) w->slope[j] = s->yp[j] - w->slope[j] / w->step.h;
    }
    return iteration_apply_yp(it, NULL, w->slope, w->error) == ITERATION_OK &&
           iteration_solve(it, NULL, w->error) == ITERATION_OK;
}

/* After a failure, and at a start, filtered once more: stiff components make the estimate far too
 * large there [HW96 IV.8]. */
static double filtered_again(const irk_state *s, irk_scratch *w, const method_context *ctx)
{
    iteration *it = ctx->newton->matrix;
    if (iteration_apply_yp(it, NULL, w->error, w->work) != ITERATION_OK) return INFINITY;
    for (int j = 0; j < ctx->n; j++) w->work[j] *= s->table->m->gamma / w->step.h;
    if (iteration_solve(it, NULL, w->work) != ITERATION_OK) return INFINITY;
    return norm_of(ctx->norm, w->work, w->scale);
}

/* work = the correction that F asks for at the end of the step, with the slope that the stages have
 * there: (dF/dy + gamma/h dF/dy')^-1 F(t_1, y_1, q'(1)/h). For methods without a stage there. What
 * a projection mends afterwards, algebraic variables, is left out. */
static attempt_status defect_at_end(irk_scratch *w, const method_context *ctx, bool projected)
{
    vector_copy(ctx->n, w->y, w->step.point);
    stages_clamp(&ctx->eval->problem->form, w->step.point);
    attempt_status status = stages_from_evaluation(evaluate_residual(
        ctx->eval, w->step.t, w->step.point, w->yp, w->work, &ctx->eval->stats->residuals));
    if (status == ATTEMPT_OK)
        status = stages_from_iteration(iteration_solve(ctx->newton->matrix, NULL, w->work));
    for (int j = 0; projected && j < ctx->n; j++)
        if (ctx->norm->kinds[j] != DAE_KIND_DIFFERENTIAL) w->work[j] = 0.0;
    return status;
}

/* work = (dF/dy + gamma/h dF/dy')^-1 dF/dy' (y' - q'(0)/h) for Lobatto IIIC, whose first stage
 * meets functions of t alone, and says nothing of their slopes */
static attempt_status defect_of_slope(const irk_state *s, irk_scratch *w, const method_context *ctx)
{
    const int n = ctx->n;
    combine_stages(s, n, s->left, w->step.Z, w->work);
    for (int j = 0; j < n; j++) w->work[j] = s->yp[j] - w->work[j] / w->step.h;
    return stages_filter_slope(ctx, w->work, w->step.point) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

/* An error that falls with the step counts more the more abrupt it is. */
static double abrupt_error(const irk_state *s, const irk_scratch *w, const stages_trial *now,
                           double error)
{
    if (s->step == 1 || !(error > 0.0)) return error;
    return error * stages_abruptness(now, s->plain_error, w->step.h / (s->t - s->t_old),
                                     estimate_power(s->table), w->factor);
}

/* The stiff part of an estimate with its own weight, whatever the order; with variables of
 * index 2 and 3 there is no telling. */
static double stiff_error(irk_scratch *w, const method_context *ctx, const double *e, double weight,
                          bool rejected, irk_trials *last)
{
    const bool higher = ctx->norm->newton != ctx->norm->scale;
    if (higher || weight <= w->factor) return 0.0;
    double part = weight * stages_stiff_part(ctx, w->scale, e, 0.0, w->slope, w->step.point);
    return stages_falling(&last->stiff, part, w->step.h, rejected);
}

/* What the estimate of the table does not see. */
static double further_error(const irk_state *s, irk_scratch *w, const method_context *ctx,
                            bool rejected, attempt *result)
{
    const irk_table *table = s->table;
    const bool ends = !collocation_ends(table->m);
    irk_trials *last = ends ? &w->at_end : &w->of_slope;
    if (!ends && (table->estimate != IRK_FIRST_STAGE || s->step == 1)) return 0.0;
    result->status = ends ? defect_at_end(w, ctx, projects(s, w)) : defect_of_slope(s, w, ctx);
    if (result->status != ATTEMPT_OK) return INFINITY;
    bool again = rejected && !projects(s, w); /* a projection leaves nothing of earlier steps */
    double error = w->factor * norm_of(ctx->norm, w->work, w->scale);
    error = abrupt_error(s, w, &last->plain, stages_falling(&last->plain, error, w->step.h, again));
    return fmax(error, stiff_error(w, ctx, w->work, STIFF, again, last));
}

/* How wrong the interpolant is at x. */
static double look(const void *state, void *scratch, const method_context *ctx, double x,
                   double **correction)
{
    const irk_state *s = state;
    irk_scratch *w = scratch;
    double weight[IRK_NODES];
    irk_lagrange(s->nodes, s->node, x, false, weight);
    combine(s->nodes, ctx->n, weight, w->P, w->step.point);
    vector_axpy(ctx->n, 1.0, s->y, w->step.point);
    irk_lagrange(s->nodes, s->node, x, true, weight);
    for (int k = 0; k < s->nodes; k++) weight[k] /= w->step.h;
    combine(s->nodes, ctx->n, weight, w->P, w->slope);
    *correction = w->work;
    return stages_dense_error(ctx, s->t + x * w->step.h, w->step.point, w->slope, w->scale,
                              w->work);
}

/* What events see of the interpolant, whose order is half of that of the steps, to a tolerance: an
 * event may be in any step, and the solution goes on from its values; and anybody, where there are
 * few stages, between which a pulse of F may hide, or the estimate is that of the first stage
 * (Lobatto IIIC), which does not see what algebraic variables do along the step. Where steps do not
 * end on the constraints (SIRK23) no shorter step would help: nothing is asked. */
static double error_between(const irk_state *s, irk_scratch *w, const method_context *ctx,
                            double error)
{
    bool on_constraints = collocation_ends(s->table->m) || projects(s, w);
    bool few = s->table->m->stages < STAGES_ENOUGH || s->table->estimate == IRK_FIRST_STAGE ||
               s->table->power > 0;
    bool events = ctx->eval->problem->form.event_count > 0;
    double weight = events ? 1.0 : stages_looked_at(ctx) || few ? STAGES_DENSE : 0.0;
    return stages_error_between(ctx, on_constraints ? weight : 0.0, error, w->step.h, &w->quiet,
                                w->scale, look, s, w);
}

/* The part of the step within the bounds, over its end and all stages. */
static double part_within_bounds(const irk_state *s, irk_scratch *w, const method_context *ctx)
{
    const dae_residual *form = &ctx->eval->problem->form;
    double part = collocation_within_bounds(&w->step, ctx, &w->first_h);
    if (!form->lower_bounds && !form->upper_bounds) return part;
    bound_slack slack = stages_slack(ctx->norm, w->step.h, &w->first_h);
    stages_within_bounds(form, slack, 1.0, s->y, w->y, &part, &ctx->newton->bound_variable);
    return part < 1.0 ? fmin(0.5, part) : 1.0;
}

/* Bounds, error, and the projection, which takes the factors away. */
static void judge(const irk_state *s, irk_scratch *w, const method_context *ctx, bool rejected,
                  attempt *result)
{
    const irk_table *table = s->table;
    const double factor = w->factor;
    finish_stages(s, w, ctx->n);
    result->bound_ratio = part_within_bounds(s, w, ctx);
    if (result->bound_ratio < 1.0) result->status = ATTEMPT_BOUND;
    if (result->status == ATTEMPT_OK && !estimate(s, w, ctx)) result->status = ATTEMPT_EVALUATION;
    if (result->status != ATTEMPT_OK) return;
    stages_clamp(&ctx->eval->problem->form, w->y);
    stages_error_scale(ctx->norm, ctx->error_test, w->scale);
    double plain = factor * norm_of(ctx->norm, w->error, w->scale);
    if (plain >= 1.0 && (rejected || s->step == 1))
        plain = fmin(plain, factor * filtered_again(s, w, ctx));
    w->plain_error = plain;
    double falling = stages_falling(&w->estimated.plain, plain, w->step.h, rejected);
    result->error = fmax(plain, abrupt_error(s, w, &w->estimated.plain, falling));
    double stiff = STAGES_STIFF * table->m->stages;
    if (s->step > 1) /* at a start y' may be a guess */
        result->error =
            fmax(result->error, stiff_error(w, ctx, w->error, stiff, rejected, &w->estimated));
    result->error = fmax(result->error, further_error(s, w, ctx, rejected, result));
    if (result->status != ATTEMPT_OK) return;
    collect_nodes(s, w, ctx->n);
    result->error = error_between(s, w, ctx, result->error);
    result->estimate = w->error;
    result->error_constant = factor;
    result->next_factor =
        stages_next_factor(result->error, estimate_power(table), s->step == 1, rejected);
    if (!projects(s, w)) return;
    vector_copy(ctx->n, w->error, w->step.R); /* the vectors serve the projection */
    result->estimate = w->step.R;
    result->status = irk_project(s, w, ctx, result);
    if (result->status != ATTEMPT_OK) result->next_factor = 0.0;
    stages_clamp(&ctx->eval->problem->form, w->y);
    collect_nodes(s, w, ctx->n);
    ctx->newton->stale = result->status != ATTEMPT_OK;
    w->step.newton.ahead = true; /* derivatives are those of the end */
}

/* Solve for the stages, predicted on entry. The iteration error is small also in the units of the
 * error test, if these are finer: the estimate contains the y' that Newton's method left. */
static attempt_status solve(irk_scratch *w, const method_context *ctx, attempt *result)
{
    const stage_newton *nw = &w->step.newton;
    const double unit = ctx->fixed_steps ? 1.0 : 1.0 / fmax(1.0, w->factor);
    stage_task task =
        collocation_task(&w->step, ctx, result, KAPPA * unit, NOISE * unit, MOST_ITERATIONS);
    /* With partial derivatives of where the step begins neither forecasts nor updates pay: with
     * both gauss6 and lobattoc6 take 3 and 4 % more steps on the models. */
    w->step.newton.patient = true;
    attempt_status status = stage_newton_solve(&task);
    if (status == ATTEMPT_OK && nw->theta > WORN) ctx->newton->stale = true;
    ctx->newton->iterations = nw->iterations;
    ctx->newton->rate = nw->theta;
    return status;
}

/* Multipliers of index 3 have order q - 1, q the stage order, if the steps end on the constraints
 * [Jay93]; else what a change of the step excites is not damped [HLR89 6], as by SIRK23 with
 * R(infinity) = -0.73. */
static bool reaches_index3(const irk_table *table, const method_context *ctx)
{
    return table->stage_order >= 2 && !table->project &&
           (collocation_ends(table->m) || ctx->fixed_steps);
}

/* Tables of the user that claim their order for index 1 only. */
static bool refuse_index2(const irk_table *table, const method_context *ctx, attempt *result)
{
    for (int j = 0; table->index1 && ctx->norm->kinds && j < ctx->n; j++)
        if (ctx->norm->kinds[j] == DAE_KIND_INDEX2)
            return stages_refused(result, j,
                                  "claims its order for index 1, and this variable has index 2: "
                                  "claim index 2 in the table, which is checked, or choose a "
                                  "formulation of index 1");
    return false;
}

void irk_attempt(const void *state, void *scratch, const method_context *ctx, double h, int order,
                 attempt *result)
{
    const irk_state *s = state;
    irk_scratch *w = scratch;
    const irk_table *table = s->table;
    bool rejected = w->rejected;
    (void)order;
    w->step.from = s->t;
    w->step.t = s->t + h;
    w->step.h = h;
    w->step.y = s->y;
    w->step.yp = s->yp;
    stages_begin(result, s->t, h, table->m->order, w->y, w->yp);
    if (stages_need_matrix(ctx, result)) return;
    if (!reaches_index3(table, ctx) && stages_refuse_index3(ctx, result)) return;
    if (refuse_index2(table, ctx, result)) return;
    w->factor = error_factor(table, stages_relative_tolerance(ctx->norm, s->y));
    predict(s, w, ctx);
    w->rejected = true; /* until it is accepted */
    if (projects(s, w) && s->step == 1) check_index(s, w, ctx, result);
    if (result->status == ATTEMPT_OK) result->status = solve(w, ctx, result);
    if (result->status == ATTEMPT_OK) judge(s, w, ctx, rejected, result);
    const bool passed = result->status == ATTEMPT_OK && result->error <= 1.0;
    if (!passed && w->step.newton.ahead) ctx->newton->stale = true; /* of a point that is left */
}

void irk_accept(void *state, void *scratch, const method_context *ctx)
{
    irk_state *s = state;
    irk_scratch *w = scratch;
    const int n = ctx->n;
    s->plain_error = w->plain_error;
    s->t_old = s->t;
    s->t = w->step.t;
    s->step++;
    w->rejected = w->step.newton.fresh = w->step.newton.ahead = false;
    w->quiet = (stages_trial){0};
    w->first_h = 0.0;
    vectors_advance(n, w->y, s->y, s->y_old);
    vectors_advance(n, w->yp, s->yp, s->yp_old);
    memcpy(s->P, w->P, (size_t)s->nodes * (size_t)n * sizeof(double));
}

void irk_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                     double *y)
{
    const irk_state *s = state;
    const int n = ctx->n;
    if (s->step == 1 || t == s->t) {
        vector_copy(n, derivative ? s->yp : s->y, y);
        return;
    }
    double h = s->t - s->t_old, x = (t - s->t_old) / h, weight[IRK_NODES], ends[2][IRK_NODES];
    irk_lagrange(s->nodes, s->node, x, derivative, weight);
    for (int k = 0; derivative && k < s->nodes; k++) weight[k] /= h;
    combine(s->nodes, n, weight, s->P, y);
    if (!derivative) vector_axpy(n, 1.0, s->y_old, y);
    if (!ctx->smooth) return;
    irk_lagrange(s->nodes, s->node, 0.0, true, ends[0]);
    irk_lagrange(s->nodes, s->node, 1.0, true, ends[1]);
    for (int k = 0; k < s->nodes; k++)
        cubic_bend(n, x, h, derivative, ends[0][k] / h, ends[1][k] / h,
                   s->P + (size_t)k * (size_t)n, y);
    cubic_bend(n, x, h, derivative, -1.0, 0.0, s->yp_old, y);
    cubic_bend(n, x, h, derivative, 0.0, -1.0, s->yp, y);
}

#define IRK_METHOD(id, label, about, source, highest, range, projected, tableau, stage, kind, ...) \
    const irk_table irk_##id = {                                                                   \
        .m = &(tableau), .stage_order = stage, .project = projected, .estimate = kind};            \
    const method method_##id = {.name = label,                                                     \
                                .summary = about,                                                  \
                                .citation = source,                                                \
                                .max_order = highest,                                              \
                                .fixed_order = true,                                               \
                                .rough_between = true,                                             \
                                .sharp_multipliers = projected,                                    \
                                .dim_multipliers = (kind) == IRK_FIRST_STAGE,                      \
                                .needs_rows = projected,                                           \
                                .index_range = range,                                              \
                                .table = &irk_##id,                                                \
                                METHOD_STEPS(irk),                                                 \
                                __VA_ARGS__}

#define PROJECTED                                                                                  \
    "Ascher, Petzold: Projected implicit Runge-Kutta methods for differential-algebraic "          \
    "equations, SIAM J. Numer. Anal. 28 (1991) 1097-1120"
#define CHIPMAN "Chipman: A-stable Runge-Kutta processes, BIT 11 (1971) 384-388"
#define BURRAGE                                                                                    \
    "Burrage: A special family of Runge-Kutta methods for solving stiff differential equations, "  \
    "BIT 18 (1978) 22-41"

IRK_METHOD(irk, "irk", "implicit Runge-Kutta by a table; without one Radau IIA of order 3",
           "Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, "
           "section IV.5",
           3, "1 to 3", false, radau_iia_2, 2, IRK_LEFT_SLOPE, .confirms = true);
IRK_METHOD(gauss2, "gauss:2", "Projected Gauss collocation of order 2 (midpoint rule)", PROJECTED,
           2, "1 to 2", true, gauss_1, 1, IRK_LEFT_SLOPE, .confirms = false);
IRK_METHOD(gauss4, "gauss:4", "Projected Gauss collocation of order 4; F(t,y,y') = 0", PROJECTED, 4,
           "1 to 2", true, gauss_2, 2, IRK_LEFT_SLOPE, .confirms = false);
IRK_METHOD(gauss6, "gauss:6", "Projected Gauss collocation of order 6; F(t,y,y') = 0", PROJECTED, 6,
           "1 to 2", true, gauss_3, 3, IRK_LEFT_SLOPE, .confirms = false);
IRK_METHOD(gauss8, "gauss:8", "Projected Gauss collocation of order 8; F(t,y,y') = 0", PROJECTED, 8,
           "1 to 2", true, gauss_4, 4, IRK_LEFT_SLOPE, .confirms = false);
IRK_METHOD(gauss10, "gauss:10", "Projected Gauss collocation of order 10; F(t,y,y') = 0", PROJECTED,
           10, "1 to 2", true, gauss_5, 5, IRK_LEFT_SLOPE, .confirms = false);
IRK_METHOD(lobattoc2, "lobattoc:2", "Lobatto IIIC of order 2, L-stable; F(t,y,y') = 0", CHIPMAN, 2,
           "1 to 2", false, lobatto_iiic_2, 1, IRK_FIRST_STAGE, .confirms = true);
IRK_METHOD(lobattoc4, "lobattoc:4", "Lobatto IIIC of order 4, L-stable; F(t,y,y') = 0", CHIPMAN, 4,
           "1 to 3", false, lobatto_iiic_3, 2, IRK_FIRST_STAGE, .confirms = true);
IRK_METHOD(lobattoc6, "lobattoc:6", "Lobatto IIIC of order 6, L-stable; F(t,y,y') = 0", CHIPMAN, 6,
           "1 to 3", false, lobatto_iiic_4, 3, IRK_FIRST_STAGE, .confirms = true);
IRK_METHOD(sirk22, "sirk:2", "Singly implicit method of order 2, L-stable; F(t,y,y') = 0", BURRAGE,
           2, "1 to 3", false, sirk_l, 2, IRK_LEFT_SLOPE, .confirms = true);
IRK_METHOD(sirk23, "sirk:3", "Singly implicit method of order 3, A-stable, a stage beyond the step",
           BURRAGE, 3, "1 (2, 3: constant steps)", false, sirk_a, 2, IRK_LEFT_SLOPE,
           .confirms = false);
IRK_METHOD(sirk33, "sirk:3:lstable",
           "Singly implicit method of order 3, L-stable, all stages in the step", BURRAGE, 3,
           "1 to 3", false, sirk_t, 2, IRK_LEFT_SLOPE, .confirms = true);
