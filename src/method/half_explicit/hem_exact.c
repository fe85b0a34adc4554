/* Explicit Runge-Kutta methods on x' = phi(t, x), c(t, x) = 0 [HW96 VII.2]: every stage is the
 * slope at its own point, on the mechanical, the Hessenberg or the manifold form, and the end of a
 * step is brought back to the constraints; or all points are, along fixed directions, in local
 * coordinates.
 */
#include "method/half_explicit/hem_parts.h"

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"
#include "method/half_explicit/chart.h"
#include "method/half_explicit/invariants.h"

#include <float.h>

/* A correction below this part of the error weights ends a projection. */
static const double PROJECTION_TOLERANCE = 0.1;
/* In local coordinates the stages carry what is left over into the solution: a part of the local
 * error. */
static const double LIFT_TOLERANCE = 1e-3;
/* Coordinates are chosen anew where their iterations contract by less than this: each iteration of
 * each stage costs an evaluation of the constraints, a new choice one of their Jacobian. */
static const double WORST_RATE = 0.02;
enum { PROJECTION_ITERATIONS = 5, LIFT_ITERATIONS = 30 };

static const hem_failure NO_FAILURE = {.constraint = -1};

/* ---- what is asked for ---- */

static bool damped(const method_context *ctx)
{
    return ctx->options && ctx->options->baumgarte;
}

/* Baumgarte's method stands in for projections, unless these are asked for as well. */
static dae_projection projection_of(const method_context *ctx)
{
    if (ctx->projection != DAE_PROJECTION_AUTO) return ctx->projection;
    return damped(ctx) ? DAE_PROJECTION_NONE : DAE_PROJECTION_BOTH;
}

bool hem_projects_position(const method_context *ctx)
{
    dae_projection what = projection_of(ctx);
    return what == DAE_PROJECTION_POSITION || what == DAE_PROJECTION_BOTH;
}

static bool hem_projects_velocity(const method_context *ctx)
{
    dae_projection what = projection_of(ctx);
    return what == DAE_PROJECTION_VELOCITY || what == DAE_PROJECTION_BOTH;
}

static bool keeps_invariants(const hem_cache *c, const method_context *ctx)
{
    return c->invariants && ctx->invariants->project && ctx->projection != DAE_PROJECTION_NONE;
}

/* alpha and beta of a step of size h. By default alpha is a quarter of the stability interval over
 * the longest step so far: the double root -alpha of s^2 + 2 alpha s + alpha^2 is then well inside
 * for all steps, so that their size is left alone, and what a step leaves over is damped by e^-0.8
 * (order 5) to e^-1.6 (order 8) in one of that length. With the step at hand in place of the
 * longest one alpha^2 g would grow without bounds where steps become short. */
static void set_damping(hem_cache *c, const method_context *ctx, double h, double stable)
{
    c->alpha = c->beta = 0.0;
    if (!damped(ctx)) return;
    double given = ctx->options->baumgarte_alpha, other = ctx->options->baumgarte_beta;
    c->alpha = given > 0.0 ? given : 0.01 * stable / fmax(fabs(h), c->longest);
    c->beta = other > 0.0 ? other : c->alpha;
}

/* ---- slopes ---- */

static hem_failure manifold_slope(hem_cache *c, double t, const double *x, double *k)
{
    const manifold_form *m = c->manifold;
    eval_status status = m->phi(m->context, t, x, c->alpha, k);
    int at = status == EVAL_RETRY ? m->undetermined(m->context) : -1;
    c->undetermined = at + 1;
    if (at >= 0) return (hem_failure){ATTEMPT_SINGULAR, m->deficient, -1, 0};
    if (status == EVAL_OK && !vector_finite(c->nx, k)) status = EVAL_RETRY;
    return mechanism_evaluation(status);
}

hem_failure hem_exact_slope(hem_cache *c, const method_context *ctx, double t, double h,
                            const double *x, double *k, double *w, bool end)
{
    if (c->mechanical) return hem_mechanical_slope(c, ctx, t, x, k, w, end);
    if (c->manifold) return manifold_slope(c, t, x, k);
    return hem_hessenberg_slope(c, ctx, t, h, x, k, w, end);
}

/* Nothing is asked outside of bounds, which residual forms alone have. */
static hem_failure keep_within(const hem_cache *c, const method_context *ctx, double *x)
{
    const dae_residual *form = &ctx->eval->problem->form;
    attempt_status status = ATTEMPT_OK;
    if (c->manifold && form->n == c->nx) status = stages_keep_within(form, ctx->norm, x);
    return (hem_failure){status, NULL, -1, 0};
}

/* The slope of a stage. Hessenberg forms start from the multipliers of the stage before, with old
 * matrices as long as these do. */
static hem_failure stage_slope(const hem_state *s, hem_scratch *w, const method_context *ctx, int i)
{
    hem_cache *c = ctx->cache;
    double t = s->t + s->table->c[i] * w->h;
    hem_failure outside = keep_within(c, ctx, w->X);
    if (outside.status) return outside;
    if (!c->hessenberg) return hem_exact_slope(c, ctx, t, w->h, w->X, w->K[i], NULL, false);
    hem_failure failure = hem_hessenberg_slope(c, ctx, t, w->h, w->X, w->K[i], w->w, false);
    if (failure.status != ATTEMPT_CONVERGENCE) return failure;
    vector_copy(c->nw, s->w, w->w);
    return hem_hessenberg_slope(c, ctx, t, w->h, w->X, w->K[i], w->w, true);
}

/* ---- projection ---- */

/* Whether constraint i of the manifold form is met at the ends of steps */
static bool wanted(const hem_cache *c, const method_context *ctx, int i)
{
    const int *level = c->manifold->level;
    return level && level[i] > 0 ? hem_projects_velocity(ctx) : hem_projects_position(ctx);
}

/* Factors of c_x at (t, x), of the wanted rows */
static hem_failure factor_rows(hem_cache *c, const method_context *ctx, double t, const double *x)
{
    const manifold_form *m = c->manifold;
    manifold *p = &c->projector;
    eval_status status = m->c_x(m->context, t, x, p->A);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    for (form_entry e = {0}; form_matrix_next(&m->c_x_matrix, &e);)
        if (!wanted(c, ctx, e.row)) p->A[e.at] = 0.0;
    c->projected = manifold_factor(p, p->A);
    return c->projected ? NO_FAILURE : (hem_failure){ATTEMPT_MEMORY, NULL, -1, 0};
}

/* x moved by the shortest way, in units of the weights, onto the wanted constraints */
static hem_failure project_shortest(hem_cache *c, const method_context *ctx, double t, double *x)
{
    const manifold_form *m = c->manifold;
    manifold *p = &c->projector;
    double last = INFINITY;
    for (int k = 0; k < PROJECTION_ITERATIONS; k++) {
        eval_status status = m->c(m->context, t, x, p->c);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        manifold_step(p, p->c, p->dx);
        double size = hem_norm(c, ctx->norm, p->dx, 0, c->nx);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        if (size > last) break; /* round-off, or hopeless: see below */
        vector_axpy(c->nx, 1.0, p->dx, x);
        if (size <= PROJECTION_TOLERANCE) return NO_FAILURE;
        last = size;
    }
    if (last <= 1.0) return NO_FAILURE;
    return (hem_failure){ATTEMPT_CONVERGENCE, "The constraints could not be met",
                         vector_argmax(c->ng, p->c, NULL), 0};
}

double hem_exact_distance(hem_cache *c, const method_context *ctx, double t, const double *x,
                          bool factored)
{
    const manifold_form *m = c->manifold;
    manifold *p = &c->projector;
    bool any = m && c->ng > 0 && (hem_projects_position(ctx) || hem_projects_velocity(ctx));
    if (!any || (factored ? !c->projected : factor_rows(c, ctx, t, x).status != ATTEMPT_OK))
        return 0.0;
    if (m->c(m->context, t, x, p->c) != EVAL_OK) return 0.0;
    manifold_step(p, p->c, p->dx);
    return hem_norm(c, ctx->norm, p->dx, 0, c->nx);
}

static hem_failure manifold_end(hem_cache *c, const method_context *ctx, double t, double *x,
                                double *k, bool project)
{
    hem_failure failure = NO_FAILURE;
    bool any = project && c->ng > 0 && (hem_projects_position(ctx) || hem_projects_velocity(ctx));
    if (any) failure = factor_rows(c, ctx, t, x);
    if (any && !failure.status) failure = project_shortest(c, ctx, t, x);
    if (!failure.status) failure = keep_within(c, ctx, x);
    return failure.status ? failure : manifold_slope(c, t, x, k);
}

/* The end of a step, on the constraints if it is to be projected, with x' and w there */
static hem_failure finish(const hem_state *s, hem_scratch *w, const method_context *ctx,
                          bool project)
{
    hem_cache *c = ctx->cache;
    double t = s->t + w->h;
    if (c->mechanical)
        return hem_mechanical_end(c, ctx, t, w->x, w->k, w->w,
                                  project && hem_projects_position(ctx),
                                  project && hem_projects_velocity(ctx));
    if (c->manifold) return manifold_end(c, ctx, t, w->x, w->k, project);
    hem_failure failure = NO_FAILURE;
    if (project && projection_of(ctx) != DAE_PROJECTION_NONE)
        failure = hem_hessenberg_project(c, ctx, t, w->x, w->w);
    if (!failure.status) failure = hem_hessenberg_slope(c, ctx, t, w->h, w->x, w->k, w->w, true);
    return failure;
}

/* ---- local coordinates ---- */

/* The constraints that a chart solves for: g(t, q), g(t, y) or c(t, x) */
static eval_status constraint_values(const hem_cache *c, double t, const double *x, double *r)
{
    if (c->mechanical) return c->mechanical->g(c->mechanical->context, t, x, r);
    if (c->manifold) return c->manifold->c(c->manifold->context, t, x, r);
    return c->hessenberg->g(c->hessenberg->context, t, x, r);
}

/* Their Jacobian, and for mechanisms M and g_t */
static eval_status constraint_jacobian(hem_cache *c, double t, const double *x, bool mass)
{
    chart *h = c->chart;
    const mechanical_form *m = c->mechanical;
    if (m)
        return m->evaluate(m->context, t, x, x + m->nq, mass ? h->M : NULL, NULL, h->A,
                           c->system.rate, NULL);
    if (c->manifold) return c->manifold->c_x(c->manifold->context, t, x, h->A);
    return c->hessenberg->g_y(c->hessenberg->context, t, x, h->A);
}

static hem_failure chart_failure(const hem_cache *c, chart_status status)
{
    switch (status) {
    case CHART_OK: return NO_FAILURE;
    case CHART_RETRY: return mechanism_evaluation(EVAL_RETRY);
    case CHART_MEMORY: return (hem_failure){ATTEMPT_MEMORY, NULL, -1, 0};
    case CHART_DEPENDENT: break;
    }
    return (hem_failure){ATTEMPT_SINGULAR,
                         "The constraints have lost rank, here they depend on each other: there "
                         "are no local coordinates",
                         c->chart->row, 0};
}

static hem_failure choose_chart(hem_cache *c, const hem_state *s, bool anew)
{
    eval_status status = constraint_jacobian(c, s->t, s->x, c->chart->saddle != NULL);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    return chart_failure(c,
                         anew ? chart_choose(c->chart, c->reach) : chart_watch(c->chart, c->reach));
}

/* Coordinates for the step from s: those at hand, as long as they are good */
static hem_failure begin_chart(hem_cache *c, const hem_state *s)
{
    chart *h = c->chart;
    h->fresh = false;
    if (!h->chosen || h->rate > WORST_RATE) return choose_chart(c, s, true);
    return h->kind == DAE_COORDINATES_PARTITIONED ? choose_chart(c, s, false) : NO_FAILURE;
}

/* An iteration that moves x[0..n) along the chart's directions: whether it has converged */
typedef struct lift_progress {
    double last;
    int count;
} lift_progress;

/* One correction from the residual in work[3]; 1: done, 0: go on, -1: it does not converge */
static int lift_once(hem_cache *c, const method_context *ctx, lift_progress *p, int first,
                     double *x)
{
    chart *h = c->chart;
    chart_correct(h, c->work[3], h->dx);
    double sum = 0.0, rounding = 0.0;
    for (int i = 0; i < h->n; i++) {
        double scale = ctx->norm->scale[hem_x_at(c, first + i)], scaled = h->dx[i] * scale;
        sum += scaled * scaled;
        rounding = fmax(rounding, 100.0 * DBL_EPSILON * fabs(x[i]) * scale);
    }
    double size = sqrt(sum / h->n), rate = p->count > 0 ? size / p->last : 0.0;
    double enough = fmax(LIFT_TOLERANCE, rounding);
    bool stalled = p->count > 0 && rate > 0.5;
    if (!isfinite(size) || (p->count > 1 && stalled && p->last > enough)) return -1;
    if (stalled && p->last <= enough) return 1;
    vector_axpy(h->n, 1.0, h->dx, x);
    if (p->count > 0 && p->last > 1e3 * enough) h->rate = fmax(h->rate, rate);
    p->last = size;
    p->count++;
    return size * (p->count > 1 ? fmin(rate, 1.0) : 1.0) <= enough ? 1 : 0;
}

static hem_failure left_chart(const hem_cache *c)
{
    return (hem_failure){ATTEMPT_CONVERGENCE,
                         "The step left the chart: with these local coordinates the constraints "
                         "cannot be met",
                         vector_argmax(c->chart->m, c->work[3], NULL), 0};
}

/* x onto the constraints with its coordinates kept */
static hem_failure lift(hem_cache *c, const method_context *ctx, double t, double *x)
{
    lift_progress p = {.last = INFINITY};
    int done = 0;
    while (!done && p.count < LIFT_ITERATIONS) {
        eval_status status = constraint_values(c, t, x, c->work[3]);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        done = lift_once(c, ctx, &p, 0, x);
    }
    if (done <= 0) return left_chart(c);
    if (!c->mechanical) return NO_FAILURE;
    const mechanical_form *m = c->mechanical;
    eval_status status = constraint_jacobian(c, t, x, false);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    p = (lift_progress){.last = INFINITY};
    for (done = 0; !done && p.count < LIFT_ITERATIONS;) {
        vector_copy(m->nl, c->system.rate, c->work[3]);
        form_matrix_multiply(&m->G_matrix, c->chart->A, 1.0, x + m->nq, c->work[3]);
        done = lift_once(c, ctx, &p, m->nq, x + m->nq);
    }
    return done > 0 ? NO_FAILURE : left_chart(c);
}

/* e moved along the directions of the chart into the tangent space at the end of the step, where
 * c_x was evaluated last: what lifting does to a difference */
static void chart_tangent(hem_cache *c, double *e)
{
    chart *h = c->chart;
    double *r = c->work[3];
    for (int part = 0; part < (c->mechanical ? 2 : 1); part++, e += h->n) {
        vector_zero(h->m, r);
        form_matrix_multiply(h->matrix, h->A, 1.0, e, r);
        chart_correct(h, r, h->dx);
        vector_axpy(h->n, 1.0, h->dx, e);
    }
}

void hem_exact_tangent(hem_cache *c, const method_context *ctx, double *e)
{
    if (c->chart) {
        chart_tangent(c, e);
        return;
    }
    bool projects = projection_of(ctx) != DAE_PROJECTION_NONE;
    if (c->mechanical && hem_projects_velocity(ctx)) hem_mechanical_tangent(c, e);
    if (c->hessenberg && projects) hem_hessenberg_tangent(c, e);
    if (!c->manifold || c->ng == 0 || !projects) return;
    manifold *p = &c->projector;
    vector_zero(c->ng, p->c);
    form_matrix_multiply(&c->manifold->c_x_matrix, p->A, 1.0, e, p->c);
    manifold_step(p, p->c, p->dx);
    vector_axpy(c->nx, 1.0, p->dx, e);
}

/* ---- the step ---- */

static hem_failure stages(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    const hem_table *table = s->table;
    /* the last stage leaves factors for the projection */
    const int matrixless = !c->chart && hem_mechanical_matrixless(c) ? table->stages - 1 : 0;
    vector_copy(c->nx, s->k, w->K[0]);
    for (int i = 1; i < table->stages; i++) {
        hem_failure failure = NO_FAILURE;
        hem_combine(c->nx, s->x, w->h, i, table->a[i], w->K, w->X);
        if (i < matrixless &&
            mechanism_accelerate(&c->system, s->t + table->c[i] * w->h, w->X, w->K[i]))
            continue;
        if (c->chart) failure = lift(c, ctx, s->t + table->c[i] * w->h, w->X);
        if (!failure.status) failure = stage_slope(s, w, ctx, i);
        if (failure.status) return failure;
    }
    hem_combine(c->nx, s->x, w->h, table->stages, table->a[table->stages], w->K, w->x);
    return c->chart ? lift(c, ctx, s->t + w->h, w->x) : NO_FAILURE;
}

/* All stages in coordinates that are good for all of them */
static hem_failure stages_in_chart(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    hem_failure failure = begin_chart(c, s);
    if (!failure.status) failure = stages(s, w, ctx);
    if (failure.status != ATTEMPT_CONVERGENCE || c->chart->fresh) return failure;
    failure = choose_chart(c, s, true);
    return failure.status ? failure : stages(s, w, ctx);
}

/* The part of the terms of an invariant that its derivative may be: constraints are met to the
 * tolerance only. */
static double allowed_change(const method_context *ctx, bool start)
{
    return start ? 1e-6 : fmax(1e-6, 100.0 * ctx->norm->rtol);
}

hem_failure hem_exact_step(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    bool keeps = keeps_invariants(c, ctx);
    hem_failure failure = NO_FAILURE;
    set_damping(c, ctx, w->h, s->table->stable);
    for (int i = 0; i < c->nx; i++) c->reach[i] = ctx->norm->weights[hem_x_at(c, i)];
    bool begins = keeps && s->step == c->starts;
    if (begins) failure = invariants_check_arguments(c, ctx, s->t, s->x, s->k, s->w);
    if (begins && !failure.status)
        failure = invariants_check(c, ctx, s->t, s->x, s->k, s->w, allowed_change(ctx, true));
    if (!failure.status) failure = c->chart ? stages_in_chart(s, w, ctx) : stages(s, w, ctx);
    if (!failure.status) failure = finish(s, w, ctx, !c->chart);
    if (failure.status || !keeps) return failure;
    failure = invariants_project(c, ctx, s->t + w->h, w->x, w->k, w->w);
    if (!failure.status && c->chart) failure = lift(c, ctx, s->t + w->h, w->x);
    if (!failure.status) failure = finish(s, w, ctx, !c->chart);
    if (failure.status) return failure;
    return invariants_check(c, ctx, s->t + w->h, w->x, w->k, w->w, allowed_change(ctx, false));
}

hem_failure hem_exact_point(const hem_state *s, hem_scratch *w, const method_context *ctx)
{
    hem_cache *c = ctx->cache;
    double t = s->t + w->h;
    /* factors of the very point: what was asked for before leaves no trace */
    hem_failure failure = hem_exact_slope(c, ctx, t, w->h, w->x, w->k, w->w, c->hessenberg != NULL);
    if (!failure.status && c->chart && !c->chart->chosen) failure = choose_chart(c, s, true);
    if (!failure.status && c->chart) failure = lift(c, ctx, t, w->x);
    return failure.status ? failure : finish(s, w, ctx, !c->chart);
}

hem_failure hem_exact_inner_slope(hem_cache *c, const method_context *ctx, double t, double h,
                                  double *x, double *k, double *w)
{
    double rate = c->chart ? c->chart->rate : 0.0;
    hem_failure failure = NO_FAILURE;
    if (c->chart) failure = lift(c, ctx, t, x);
    if (c->chart) c->chart->rate = rate; /* looking at a step changes nothing */
    if (!failure.status && hem_mechanical_matrixless(c) &&
        mechanism_accelerate(&c->system, t, x, k))
        return failure;
    return failure.status ? failure : hem_exact_slope(c, ctx, t, h, x, k, w, false);
}

void hem_exact_start(hem_cache *c)
{
    c->alpha = c->beta = c->longest = 0.0;
    if (c->chart) c->chart->chosen = false;
}

/* ---- cache ---- */

static bool chart_cache(hem_cache *c, dae_coordinates kind)
{
    const mechanical_form *m = c->mechanical;
    if (kind == DAE_COORDINATES_AMBIENT || c->ng == 0) return true;
    saddle_shape shape = m ? mechanism_shape(m) : (saddle_shape){0};
    shape.block = 0;
    const form_matrix *matrix = m             ? &m->G_matrix
                                : c->manifold ? &c->manifold->c_x_matrix
                                              : &c->hessenberg->g_y_matrix;
    c->chart = chart_new(kind, matrix, m ? &shape : NULL, m ? m->M_matrix.count : 0);
    return c->chart != NULL;
}

bool hem_exact_cache(hem_cache *c, const method_context *ctx)
{
    c->reach = DAE_ARRAY(double, c->nx);
    if (!c->reach) return false;
    if (c->manifold && c->ng > 0 &&
        !manifold_new(&c->projector, &c->manifold->c_x_matrix, c->reach, NULL))
        return false;
    if (ctx->invariants && !(c->invariants = invariant_work_new(c, ctx))) return false;
    return chart_cache(c, ctx->options ? ctx->options->coordinates : DAE_COORDINATES_AMBIENT);
}

void hem_exact_release(hem_cache *c)
{
    manifold_free(&c->projector);
    chart_free(c->chart);
    invariant_work_free(c->invariants);
    dae_free(c->reach);
}

/* The other matrices are made anew for every point. */
void hem_exact_persist(hem_cache *c, persist *p)
{
    if (c->chart)
        persist_refuse(p, "it is integrated in local coordinates (option coordinates), whose "
                          "factors are not saved");
    if (c->projector.solver && !kkt_is_dense(c->projector.solver))
        persist_refuse(p, "its constraints are projected onto by a large sparse matrix, whose "
                          "pivots are not saved");
}
