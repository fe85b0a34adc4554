/* glm3: a two-step peer method in the frame of general linear methods for second order equations.
 *
 * Stage i of a step of length h is solved for X with
 *   X' = (X - psi)/(h g),  psi = sum_j b_ij x_j  + h sum_{j<i} g_ij X'_j
 *   X''= (X'- phi)/(h g),  phi = sum_j b_ij x'_j + h sum_{j<i} g_ij X''_j
 * (the second line where x'' appears), x_j and x'_j being the stages of the step before: one real
 * matrix F_x + F_x'/(h g) + F_x''/(h g)^2 serves all stages. The first step is Radau IIA
 * collocation, whose polynomial gives the first external stages. */
#include "method/multistep/glm.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/common/stage_newton.h"
#include "method/common/stages.h"

#include <math.h>

static const method *const starter = &method_colloc2nd;

static const double KAPPA = 0.003, WORN = 0.05;
static const double NOISE = 0.1; /* part of the tolerance that corrections may stay at */
enum { MOST_ITERATIONS = 10 };
static const double SAFETY = 0.9, LEAST_FACTOR = 0.2;
/* B(r) has its other eigenvalues in the unit circle for steps that grow by at most this; growth by
 * less than the dead zone is not worth a factorisation. */
static const double MOST_FACTOR = 1.2, DEAD_ZONE = 1.1;

typedef struct glm_cache {
    const glm_table *m;
    second_order second;
    second_matrix *matrix;
    bool evaluated;
    double h;        /* of the factors; 0: none */
    double constant; /* error constant for equal steps; after cuts of the step the derivative that
                        it is multiplied with is rough, and so is that of the cut */
    method_context start;        /* of the starting method, with its cache */
    double integral[GLM_STAGES]; /* of Lagrange's polynomials of the nodes over the step, times 6 */
} glm_cache;

typedef struct glm_state {
    double t, t_old;
    long taken;
    double *y, *yp, *y_old, *yp_old; /* n */
    double *Y, *Yp;                  /* stages of the last step */
    void *start;                     /* state of the starting method */
} glm_state;

typedef struct glm_scratch {
    double t, h;
    int tries, failures;
    double error;
    stage_newton newton;
    double stage_t; /* of the stage in hand */
    double *x, *xp, *xpp, *psi, *phi, *f, *point, *slope, *y, *yp, *estimate;
    double *rough; /* estimates of multipliers, which are not tested */
    double *Y, *Yp, *Ypp;
    void *start;
} glm_scratch;

/* ---- memory ---- */

static void room_for_start(int n, size_t *state, size_t *scratch)
{
    method_size(starter, n, state, scratch);
}

static const method_memory glm_memory = {
    .state = {sizeof(glm_state),
              {VECTORS(glm_state, y, yp_old), BLOCKS(glm_state, Y, Yp, GLM_STAGES)}},
    .gaps = {GAP(glm_state, start)},
    .scratch_gaps = {GAP(glm_scratch, start)},
    .scratch = {sizeof(glm_scratch),
                {VECTORS(glm_scratch, x, rough), BLOCKS(glm_scratch, Y, Ypp, GLM_STAGES)}},
    .more = room_for_start,
};

static void glm_cache_free(void *cache)
{
    glm_cache *c = cache;
    if (!c) return;
    starter->cache_free(c->start.cache);
    second_matrix_free(c->matrix);
    second_order_free(&c->second);
    dae_free(c);
}

static void glm_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    glm_cache *c = cache;
    (void)ctx;
    PERSIST(p, c->evaluated);
    PERSIST(p, c->h);
    if (c->matrix) second_matrix_persist(c->matrix, p);
    if (c->start.cache) starter->cache_persist(c->start.cache, &c->start, p);
}

/* The second order form behind the residual one, as far as kinematic rows are known. Those of a
 * model may change with its states: it is taken as a system of first order. */
static bool find_second_order(second_order *second, const method_context *ctx)
{
    const dae_problem *p = ctx->eval->problem;
    int known = 0;
    if (ctx->eval->instance) return second_order_new(second, ctx->n, 0, NULL);
    while (known < p->kinematic_count && p->kinematic[known].row >= 0) known++;
    return second_order_new(second, ctx->n, known, p->kinematic);
}

/* What the starting method may use: its own cache, and the second order form */
static method_context context_of_starter(const glm_cache *c, const method_context *ctx)
{
    method_context own = *ctx;
    own.method = starter;
    own.second = &c->second;
    own.forms = NULL;
    own.cache = c->start.cache;
    return own;
}

static void *glm_cache_new(const method_context *ctx)
{
    glm_cache *c = DAE_NEW(glm_cache);
    if (!c) return NULL;
    double B[GLM_STAGES][GLM_STAGES], at[3][GLM_STAGES];
    c->m = ctx->method->table;
    glm_weights(c->m, 1.0, B);
    c->constant = glm_error_constant(c->m, 1.0, B);
    for (int k = 0; k < 3; k++) interpolation_row(c->m->stages, c->m->c, 0.5 * k, 0, at[k]);
    for (int j = 0; j < c->m->stages; j++) /* Simpson's rule is exact for cubic polynomials */
        c->integral[j] = at[0][j] + 4.0 * at[1][j] + at[2][j];
    bool factors = !ctx->newton->matrix->matrix_free; /* else the first attempt tells */
    bool fits = find_second_order(&c->second, ctx);
    if (fits && factors) {
        c->matrix = second_matrix_new(&c->second, ctx->newton->matrix, 0);
        c->start = context_of_starter(c, ctx);
        c->start.cache = starter->cache_new(&c->start);
    }
    if (fits && (!factors || (c->matrix && c->start.cache))) return c;
    glm_cache_free(c);
    return NULL;
}

static void glm_start(void *state, void *scratch, const method_context *ctx, const start_point *at)
{
    glm_state *s = state;
    glm_scratch *w = scratch;
    glm_cache *c = ctx->cache;
    s->start = vectors_place(&glm_memory.state, ctx->n, s);
    w->start = vectors_place(&glm_memory.scratch, ctx->n, w);
    s->t = s->t_old = at->t;
    c->evaluated = false;
    c->h = 0.0;
    vectors_begin(ctx->n, at->y, s->y, s->y_old);
    vectors_begin(ctx->n, at->yp, s->yp, s->yp_old);
    for (int j = 0; j < c->m->stages; j++) /* a one-step method needs nothing more */
        second_order_gather(&c->second, s->y, s->yp, s->Y + j * c->second.n,
                            s->Yp + j * c->second.n);
    if (!c->start.cache) return;
    c->start = context_of_starter(c, ctx); /* some of it was not resolved when that was made */
    starter->start(s->start, w->start, &c->start, at);
}

/* Of the step to the one before; 1 at a start. */
static double ratio_of(const glm_state *s, const glm_scratch *w)
{
    return s->taken > 0 ? w->h / (s->t - s->t_old) : 1.0;
}

/* ---- one stage ---- */

static stage_matrices at_hand(const stage_task *k)
{
    const glm_cache *c = k->ctx->cache;
    const glm_scratch *w = k->scratch;
    return !c->evaluated ? STAGE_NOTHING : c->h == w->h ? STAGE_FACTORS : STAGE_DERIVATIVES;
}

/* Partial derivatives where the step begins */
static iteration_status evaluate(const stage_task *k, bool ahead)
{
    const glm_state *s = k->state;
    const glm_scratch *w = k->scratch;
    glm_cache *c = k->ctx->cache;
    (void)ahead;
    c->h = 0.0;
    iteration_status status =
        second_matrix_evaluate(c->matrix, s->t, s->y, s->yp, w->h, k->ctx->norm->weights, NULL);
    c->evaluated = status == ITERATION_OK;
    return status;
}

static iteration_status factor(const stage_task *k)
{
    const glm_scratch *w = k->scratch;
    glm_cache *c = k->ctx->cache;
    const double a = 1.0 / (w->h * c->m->G[0][0]);
    iteration_status status = second_matrix_factor(c->matrix, a, a * a);
    c->h = status == ITERATION_OK ? w->h : 0.0;
    return status;
}

/* psi and phi of stage i, and the first guess: the old stages, extrapolated */
static void begin_stage(const glm_state *s, glm_scratch *w, const glm_cache *c,
                        double B[GLM_STAGES][GLM_STAGES], double ratio, int i)
{
    const glm_table *m = c->m;
    const int n = c->second.n;
    double guess[GLM_STAGES];
    interpolation_row(m->stages, m->c, 1.0 + ratio * m->c[i], 0, guess);
    vector_zero(n, w->psi);
    vector_zero(n, w->phi);
    vector_zero(n, w->x);
    for (int j = 0; j < m->stages; j++) {
        const size_t row = (size_t)j * (size_t)n;
        vector_axpy(n, B[i][j], s->Y + row, w->psi);
        vector_axpy(n, B[i][j], s->Yp + row, w->phi);
        vector_axpy(n, guess[j], s->Y + row, w->x);
        if (j >= i) continue;
        vector_axpy(n, w->h * m->G[i][j], w->Yp + row, w->psi);
        vector_axpy(n, w->h * m->G[i][j], w->Ypp + row, w->phi);
    }
}

/* F at the stage's point, into w->f */
static attempt_status stage_residual(const glm_scratch *w, const method_context *ctx)
{
    const glm_cache *c = ctx->cache;
    const double a = 1.0 / (w->h * c->m->G[0][0]);
    for (int k = 0; k < c->second.n; k++) {
        w->xp[k] = a * (w->x[k] - w->psi[k]);
        w->xpp[k] = c->second.velocity[k] >= 0 ? a * (w->xp[k] - w->phi[k]) : 0.0;
    }
    second_order_spread(&c->second, w->x, w->xp, w->xpp, w->point, w->slope);
    attempt_status inside = stages_keep_within(&ctx->eval->problem->form, ctx->norm, w->point);
    if (inside != ATTEMPT_OK) return inside;
    eval_status status = evaluate_residual(ctx->eval, w->stage_t, w->point, w->slope, w->f,
                                           &ctx->eval->stats->residuals);
    return stages_from_evaluation(status);
}

/* x += D = -A^-1 F; the norm of D, and of D/(h g) for velocities */
static attempt_status correct(const stage_task *k, double *size)
{
    glm_scratch *w = k->scratch;
    const method_context *ctx = k->ctx;
    glm_cache *c = ctx->cache;
    const second_order *second = &c->second;
    const double a = 1.0 / (w->h * c->m->G[0][0]);
    attempt_status status = stage_residual(w, ctx);
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < second->n; i++) w->xpp[i] = -w->f[second->row[i]];
    second_matrix_solve(c->matrix, w->xpp);
    vector_axpy(second->n, 1.0, w->xpp, w->x);
    double *delta = ctx->newton->delta;
    vector_zero(ctx->n, delta);
    for (int i = 0; i < second->n; i++) {
        delta[second->place[i]] = w->xpp[i];
        if (second->velocity[i] >= 0) delta[second->velocity[i]] = a * w->xpp[i];
    }
    *size = norm_of(ctx->norm, delta, ctx->norm->newton);
    return ATTEMPT_OK;
}

/* Multipliers need a second correction, which may be as large as the first. */
static bool is_second(const stage_task *k, double q)
{
    (void)k, (void)q;
    return true;
}

static const stage_equations equations = {.at_hand = at_hand,
                                          .evaluate = evaluate,
                                          .factor = factor,
                                          .correct = correct,
                                          .is_transient = is_second};

/* Stage after stage, each by Newton's method */
static attempt_status solve_stages(const stage_task *k, double B[GLM_STAGES][GLM_STAGES])
{
    const glm_state *s = k->state;
    glm_scratch *w = k->scratch;
    const glm_cache *c = k->ctx->cache;
    const glm_table *m = c->m;
    const int n = c->second.n;
    double ratio = ratio_of(s, w);
    for (int i = 0; i < m->stages; i++) {
        w->stage_t = i + 1 == m->stages ? w->t : s->t + m->c[i] * w->h;
        begin_stage(s, w, c, B, ratio, i);
        w->newton.eta = INFINITY; /* a rate of another stage says nothing of multipliers here */
        attempt_status status = stage_newton_iterate(k);
        if (status == ATTEMPT_OK) status = stage_residual(w, k->ctx); /* x', x'' of the last x */
        k->result->stage = i + 1;
        if (status != ATTEMPT_OK) return status;
        vector_copy(n, w->x, w->Y + i * n);
        vector_copy(n, w->xp, w->Yp + i * n);
        vector_copy(n, w->xpp, w->Ypp + i * n);
    }
    k->result->stage = 0;
    return ATTEMPT_OK;
}

/* All stages with the matrices at hand, or else with new ones */
static attempt_status solve(const glm_state *s, glm_scratch *w, const method_context *ctx,
                            double B[GLM_STAGES][GLM_STAGES], attempt *result)
{
    const glm_cache *c = ctx->cache;
    stage_newton *nw = &w->newton;
    stage_task task = {.equations = &equations,
                       .newton = nw,
                       .state = s,
                       .scratch = w,
                       .ctx = ctx,
                       .result = result};
    norm_set_step(ctx->norm, w->h);
    nw->most = newton_most(ctx->newton, MOST_ITERATIONS);
    nw->first = 1;
    nw->kappa = KAPPA;
    nw->noise = NOISE;
    nw->floor = stage_newton_round_off(norm_of(ctx->norm, s->y, ctx->norm->newton));
    nw->patient = true;
    attempt_status status = stage_newton_prepare(&task, false);
    if (status == ATTEMPT_OK) status = solve_stages(&task, B);
    bool retry = status == ATTEMPT_CONVERGENCE || status == ATTEMPT_EVALUATION;
    if (retry && !nw->fresh) {
        status = stage_newton_prepare(&task, true);
        if (status == ATTEMPT_OK) status = solve_stages(&task, B);
    }
    if (status == ATTEMPT_SINGULAR)
        ctx->newton->matrix->singular_column = second_matrix_singular(c->matrix);
    return status;
}

/* ---- attempt ---- */

/* h^s x^(s) from X' of the stages, and h^s v^(s) from X'', times the error constant. Algebraic
 * variables follow from the others, and their X' is rough: they are not tested. */
static void estimate_error(glm_scratch *w, const method_context *ctx, double constant,
                           attempt *result)
{
    const glm_cache *c = ctx->cache;
    const glm_table *m = c->m;
    const second_order *second = &c->second;
    vector_zero(ctx->n, w->estimate);
    for (int j = 0; j < m->stages; j++) {
        double weight = 6.0 * w->h * constant; /* (s-1)! */
        for (int k = 0; k < m->stages; k++)
            if (k != j) weight /= m->c[j] - m->c[k];
        for (int k = 0; k < second->n; k++) {
            w->estimate[second->place[k]] += weight * w->Yp[j * second->n + k];
            if (second->velocity[k] >= 0)
                w->estimate[second->velocity[k]] += weight * w->Ypp[j * second->n + k];
        }
    }
    vector_copy(ctx->n, w->estimate, w->rough);
    for (int k = 0; k < ctx->n && ctx->norm->kinds; k++)
        if (ctx->norm->kinds[k] != DAE_KIND_DIFFERENTIAL) w->estimate[k] = 0.0;
    result->error = w->error = norm_of(ctx->norm, w->estimate, ctx->norm->tested);
    result->estimate = w->estimate;
    result->error_constant = 1.0;
}

/* Slopes of one step tell nothing of a solution whose slope has jumped since the step before: x may
 * move by more than any of them allows. What x moves by and the integral of the slopes differ by
 * errors of the stages where the solution is smooth, which are of the order of the method; MISMATCH
 * leaves them room, those of stages of earlier steps among them. */
static void compare_with_slopes(const glm_state *s, glm_scratch *w, const method_context *ctx,
                                attempt *result)
{
    static const double MISMATCH = 0.1;
    const glm_cache *c = ctx->cache;
    const second_order *second = &c->second;
    double *off = w->f;
    for (int k = 0; k < ctx->n; k++) off[k] = w->y[k] - s->y[k];
    for (int j = 0; j < c->m->stages; j++) {
        double weight = w->h / 6.0 * c->integral[j];
        for (int k = 0; k < second->n; k++) {
            off[second->place[k]] -= weight * w->Yp[j * second->n + k];
            if (second->velocity[k] >= 0)
                off[second->velocity[k]] -= weight * w->Ypp[j * second->n + k];
        }
    }
    for (int k = 0; k < ctx->n && ctx->norm->kinds; k++) {
        if (ctx->norm->kinds[k] == DAE_KIND_INDEX3) w->rough[k] = off[k]; /* X' is too rough */
        if (ctx->norm->kinds[k] != DAE_KIND_DIFFERENTIAL) off[k] = 0.0;
    }
    double error = MISMATCH * norm_of(ctx->norm, off, ctx->norm->tested);
    if (error <= w->error) return;
    result->error = w->error = error;
    vector_copy(ctx->n, off, w->estimate);
}

/* Into the estimate of a step that is accepted what nobody tests, but somebody is told of */
static void add_multipliers(glm_scratch *w, const method_context *ctx)
{
    const dae_kind *kinds = w->error <= 1.0 ? ctx->norm->kinds : NULL;
    for (int k = 0; kinds && k < ctx->n; k++)
        if (kinds[k] >= DAE_KIND_INDEX2) w->estimate[k] = w->rough[k];
}

static double next_factor(const glm_scratch *w, double error)
{
    double factor = SAFETY * pow(fmax(error, 1e-12), -0.25);
    if (error > 1.0) return fmax(LEAST_FACTOR, fmin(SAFETY, factor));
    factor = fmin(factor, w->tries > 1 ? 1.0 : MOST_FACTOR);
    return factor >= 1.0 && factor < DEAD_ZONE ? 1.0 : fmax(factor, LEAST_FACTOR);
}

static attempt_status try_step(const glm_state *s, glm_scratch *w, const method_context *ctx,
                               attempt *result)
{
    glm_cache *c = ctx->cache;
    double B[GLM_STAGES][GLM_STAGES], ratio = ratio_of(s, w);
    glm_weights(c->m, ratio, B);
    attempt_status status = solve(s, w, ctx, B, result);
    if (status != ATTEMPT_OK) return status;
    vector_copy(ctx->n, w->point, w->y); /* the last stage ends the step, within the bounds */
    double *end = w->Y + (size_t)(c->m->stages - 1) * (size_t)c->second.n;
    for (int k = 0; k < c->second.n; k++) end[k] = w->y[c->second.place[k]];
    vector_copy(ctx->n, w->slope, w->yp);
    double constant = c->constant;
    if (ratio >= 1.0) constant = glm_error_constant(c->m, ratio, B);
    estimate_error(w, ctx, constant, result);
    compare_with_slopes(s, w, ctx, result);
    add_multipliers(w, ctx);
    return isfinite(w->error) ? ATTEMPT_OK : ATTEMPT_EVALUATION;
}

static void glm_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                        int order, attempt *result)
{
    const glm_state *s = state;
    glm_scratch *w = scratch;
    const glm_cache *c = ctx->cache;
    w->tries++;
    w->t = s->t + h;
    w->h = h;
    if (c->start.cache && s->taken == 0 && !c->m->one_step) {
        starter->attempt(s->start, w->start, &c->start, h, order, result);
        return;
    }
    stages_begin(result, s->t, h, c->m->order, w->y, w->yp);
    if (stages_need_matrix(ctx, result)) return;
    if (c->m->one_step && stages_refuse_index3(ctx, result)) return;
    result->status = try_step(s, w, ctx, result);
    bool solved = result->status == ATTEMPT_OK;
    w->failures += !solved;
    result->next_factor = solved ? next_factor(w, result->error) : w->failures < 3 ? 0.5 : 0.25;
    ctx->newton->iterations = w->newton.iterations;
    ctx->newton->rate = w->newton.theta;
}

/* ---- accept and dense output ---- */

/* External stages from the polynomial of the starting method */
static void take_start(glm_state *s, glm_scratch *w, glm_cache *c)
{
    const glm_table *m = c->m;
    const int n = c->second.n;
    starter->accept(s->start, w->start, &c->start);
    for (int j = 0; j < m->stages; j++) {
        double t = j + 1 == m->stages ? w->t : s->t + m->c[j] * w->h;
        starter->interpolate(s->start, &c->start, t, 0, w->y);
        starter->interpolate(s->start, &c->start, t, 1, w->yp);
        second_order_gather(&c->second, w->y, w->yp, s->Y + j * n, s->Yp + j * n);
    }
}

static void glm_accept(void *state, void *scratch, const method_context *ctx)
{
    glm_state *s = state;
    glm_scratch *w = scratch;
    glm_cache *c = ctx->cache;
    const int n = c->second.n;
    if (s->taken == 0 && !c->m->one_step) {
        take_start(s, w, c);
    } else {
        vector_copy(c->m->stages * n, w->Y, s->Y);
        vector_copy(c->m->stages * n, w->Yp, s->Yp);
    }
    vectors_advance(ctx->n, w->y, s->y, s->y_old);
    vectors_advance(ctx->n, w->yp, s->yp, s->yp_old);
    s->t_old = s->t;
    s->t = w->t;
    s->taken++;
    if (w->newton.theta > WORN) ctx->newton->stale = true;
    w->newton.fresh = false;
    w->tries = w->failures = 0;
}

/* The cubic with y and y' at both ends of the step, at the part x of it */
static void hermite(const glm_state *s, int n, double x, int derivative, double *y)
{
    const double h = s->t - s->t_old, z = 1.0 - x;
    for (int i = 0; i < n; i++) {
        const double rise = s->y[i] - s->y_old[i];
        const double left = h * s->yp_old[i] - rise, right = rise - h * s->yp[i];
        const double bump = left * z + right * x;
        y[i] = derivative ? (rise + (1.0 - 2.0 * x) * bump + x * z * (right - left)) / h
                          : s->y_old[i] + x * rise + x * z * bump;
    }
}

/* The polynomial through the stages of the last step, of x and of velocities; stages of Runge-Kutta
 * methods are less accurate than its ends. */
static void glm_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                            double *y)
{
    const glm_state *s = state;
    const glm_cache *c = ctx->cache;
    const second_order *second = &c->second;
    if (s->taken == 0 || t == s->t) {
        vector_copy(ctx->n, derivative ? s->yp : s->y, y);
        return;
    }
    const double h = s->t - s->t_old, r = derivative ? 1.0 / h : 1.0;
    double weight[GLM_STAGES];
    if (c->m->one_step) {
        hermite(s, ctx->n, (t - s->t_old) / h, derivative, y);
        return;
    }
    for (int j = 0; j < c->m->stages; j++) {
        double slope, value = lagrange_term(c->m->stages, c->m->c, j, (t - s->t_old) / h, &slope);
        weight[j] = derivative ? slope : value;
    }
    for (int k = 0; k < second->n; k++) {
        int place = second->place[k], velocity = second->velocity[k];
        double value = 0.0, slope = 0.0;
        for (int j = 0; j < c->m->stages; j++) {
            value += weight[j] * s->Y[j * second->n + k];
            slope += weight[j] * s->Yp[j * second->n + k];
        }
        y[place] = r * value;
        if (velocity >= 0) y[velocity] = r * slope;
    }
}

/* The starting method has done its step: behind the first one nobody asks it. */
static void glm_persist(void *state, const method_context *ctx, persist *p)
{
    const glm_state *s = state;
    (void)ctx;
    if (s->taken == 0) persist_postpone(p, "the starting method of glm is at work");
}

const method method_glm3 = {
    .name = "glm",
    .summary = "general linear method of order 3: two-step peer, four stages, L-stable",
    .citation = "Schmitt, Weiner: Parallel two-step W-methods with peer variables, SIAM J. Numer. "
                "Anal. 42 (2004) 265-282; Wunderlich: thesis, TU Berlin 2005, appendix A",
    .max_order = 3,
    .fixed_order = true,
    .rough_between = true,
    .index_range = "1 to 3",
    .table = &glm_peer4,
    METHOD_STEPS(glm),
    METHOD_CACHE(glm),
    .persist = glm_persist};

/* Classic methods as general linear ones, to study the theorems of the appendix: without error
 * estimates. */
#define GLM_EXAMPLE(id, called, coefficients, highest, indices, text)                              \
    const method method_##id = {                                                                   \
        .name = called,                                                                            \
        .summary = text,                                                                           \
        .citation = "Wunderlich: Numerical Solution of Second Order Differential-Algebraic "       \
                    "Equations, TU Berlin 2005, appendix A",                                       \
        .max_order = highest,                                                                      \
        .fixed_order = true,                                                                       \
        .constant_steps = true,                                                                    \
        .rough_between = true,                                                                     \
        .confirms = true,                                                                          \
        .index_range = indices,                                                                    \
        .table = &coefficients,                                                                    \
        METHOD_STEPS(glm),                                                                         \
        METHOD_CACHE(glm),                                                                         \
        .persist = glm_persist}
GLM_EXAMPLE(glm_bdf2, "glm:2:bdf", glm_bdf2, 2, "1 to 3", "BDF of order 2 as a GLM, A.0.2");
GLM_EXAMPLE(glm_bdf3, "glm:3:bdf", glm_bdf3, 3, "1 to 3", "BDF of order 3 as a GLM, A.0.2");
GLM_EXAMPLE(glm_bdf4, "glm:4:bdf", glm_bdf4, 4, "1 to 3", "BDF of order 4 as a GLM, A.0.2");
GLM_EXAMPLE(glm_rk3, "glm:3:rk", glm_rk3, 3, "1 to 2",
            "an SDIRK method of order 3 as a GLM, A.0.1");
