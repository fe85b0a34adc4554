#include "method/common/mechanism.h"

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"

#include <math.h>
#include <string.h>

/* A correction of q below this part of the error weights ends the projection: what it leaves over
 * is smaller by a factor O(h). */
static const double POSITION_TOLERANCE = 0.1;
enum { POSITION_ITERATIONS = 4 };

saddle_shape mechanism_shape(const mechanical_form *m)
{
    return (saddle_shape){.n = m->nq,
                          .m = m->nl,
                          .M = {m->M_matrix.colptr, m->M_matrix.rowind},
                          .C = {m->G_matrix.colptr, m->G_matrix.rowind},
                          .transposed = true,
                          .block = m->M_matrix.diagonal ? 1 : m->M_matrix.block};
}

static saddle *saddle_for(const mechanical_form *m)
{
    saddle_shape shape = mechanism_shape(m);
    return saddle_new(&shape);
}

static bool prepare(mechanism *c, const mechanical_form *m, const form_places *places)
{
    const size_t nq = (size_t)m->nq, nl = (size_t)m->nl, G = m->G_matrix.count;
    const size_t M = m->M_matrix.count;
    *c = (mechanism){.form = m,
                     .q_place = places->q,
                     .v_place = places->v,
                     .lambda_place = places->lambda,
                     .enough = POSITION_TOLERANCE,
                     .diagonal = m->M_matrix.diagonal};
    c->block = SHARED_BLOCK(SHARE(c->M, M + nq + G + nl), SHARE(c->G[1], G), SHARE(c->dx, nq),
                            SHARE(c->rate, nl), SHARE(c->r, nl));
    if (!c->block) return false;
    /* M, f, G and curvature side by side: programs that give all of them write them at once */
    c->force = c->M + M;
    c->G[0] = c->force + nq;
    c->curvature = c->G[0] + G;
    return true;
}

bool mechanism_new(mechanism *c, const method_context *ctx)
{
    const mechanical_form *m = ctx->forms->mechanical;
    bool ready = prepare(c, m, &ctx->forms->mechanical_places);
    c->saddle = saddle_for(m);
    return ready && c->saddle;
}

bool mechanism_of_multibody(mechanism *c, const multibody_form *full, const form_places *places)
{
    bool ready = prepare(c, full->mechanical, places);
    c->multibody = full;
    return ready;
}

void mechanism_free(mechanism *c)
{
    saddle_free(c->saddle);
    dae_free(c->block);
    *c = (mechanism){0};
}

void mechanism_persist(mechanism *c, double *block, persist *p)
{
    const persist_home home = {{c->block, block}};
    double **const vectors[] = {&c->M,    &c->G[0],      &c->G[1], &c->force,
                                &c->rate, &c->curvature, &c->r,    &c->dx};
    PERSIST_STRUCT(p, c, GAPS(mechanism, form, saddle), GAPS(mechanism, M, block));
    persist_block(p, c->block);
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        persist_within(p, vectors[k], &home);
    if (c->saddle) saddle_persist(c->saddle, &home, p);
}

mechanism_failure mechanism_restart(mechanism *c)
{
    c->mass_known = false;
    if (c->multibody || c->diagonal == c->form->M_matrix.diagonal) return mechanism_ok();
    saddle *other = saddle_for(c->form);
    if (!other) return (mechanism_failure){.status = ATTEMPT_MEMORY, .constraint = -1};
    saddle_free(c->saddle);
    c->saddle = other;
    c->diagonal = c->form->M_matrix.diagonal;
    return mechanism_ok();
}

mechanism_failure mechanism_ok(void)
{
    return (mechanism_failure){.status = ATTEMPT_OK, .constraint = -1};
}

void mechanism_report(mechanism_failure failure, attempt *result)
{
    result->status = failure.status;
    result->reason = failure.reason;
    result->constraint = failure.constraint;
    result->invariant = failure.invariant;
}

mechanism_failure mechanism_evaluation(eval_status status)
{
    attempt_status result = status == EVAL_OK      ? ATTEMPT_OK
                            : status == EVAL_RETRY ? ATTEMPT_EVALUATION
                            : status == EVAL_STOP  ? ATTEMPT_STOP
                                                   : ATTEMPT_MEMORY;
    return (mechanism_failure){.status = result, .constraint = -1};
}

int mechanism_place(const mechanism *c, int i)
{
    int nq = c->form->nq;
    if (!c->q_place) return i;
    return i < nq ? c->q_place[i] : c->v_place[i - nq];
}

int mechanism_multiplier(const mechanism *c, int i)
{
    return c->lambda_place ? c->lambda_place[i] : 2 * c->form->nq + i;
}

mechanism_failure mechanism_values(const mechanism *c, double t, const double *x, double *M,
                                   double *f, double *G, double *rate, double *curvature)
{
    const mechanical_form *m = c->form;
    bool keep = m->M_matrix.constant && c->mass_known;
    return mechanism_evaluation(
        m->evaluate(m->context, t, x, x + m->nq, keep ? NULL : M, f, G, rate, curvature));
}

mechanism_failure mechanism_evaluate(mechanism *c, double t, const double *x, double *rate,
                                     double *curvature)
{
    return mechanism_values(c, t, x, c->M, c->force, c->G[0], rate, curvature);
}

mechanism_failure mechanism_gradient(mechanism *c, double t, const double *x, int which)
{
    const mechanical_form *m = c->form;
    return mechanism_evaluation(
        m->evaluate(m->context, t, x, x + m->nq, NULL, NULL, c->G[which], c->rate, NULL));
}

/* The coordinate, from 1, whose row of M is zero beside the others; 0: none is */
static int massless_coordinate(const form_matrix *m, const double *M, double *row)
{
    vector_zero(m->rows, row);
    for (form_entry e = {0}; form_matrix_next(m, &e);) row[e.row] += fabs(M[e.at]);
    double most = row[vector_argmax(m->rows, row, NULL)];
    for (int i = 0; i < m->rows; i++)
        if (row[i] <= 1e-14 * most) return i + 1;
    return 0;
}

/* What a failure of the linear algebra means for the mechanism. */
static mechanism_failure explain_factors(const mechanism *c, saddle_status status)
{
    switch (status) {
    case SADDLE_OK: return mechanism_ok();
    case SADDLE_NOT_FINITE: return mechanism_evaluation(EVAL_RETRY);
    case SADDLE_DEPENDENT:
        return (mechanism_failure){ATTEMPT_SINGULAR,
                                   "This constraint depends on those before it: G has not full "
                                   "rank. Leave out redundant constraints",
                                   saddle_row(c->saddle), 0};
    case SADDLE_SINGULAR:
        return (mechanism_failure){ATTEMPT_SINGULAR,
                                   "The mass matrix is singular for motions that the constraints "
                                   "allow: look for a body that has neither mass nor constraint",
                                   -1, 0};
    case SADDLE_MEMORY: break;
    }
    return (mechanism_failure){.status = ATTEMPT_MEMORY, .constraint = -1};
}

mechanism_failure mechanism_factor_with(mechanism *c, const double *M, const double *B,
                                        const double *C)
{
    bool keep = c->form->M_matrix.constant && c->mass_known;
    saddle_status status = saddle_factor(c->saddle, keep ? NULL : M, B, C);
    c->massless = 0;
    if (status == SADDLE_OK)
        c->mass_known = true;
    else if (status == SADDLE_SINGULAR && !keep)
        c->massless = massless_coordinate(&c->form->M_matrix, M, c->dx);
    return explain_factors(c, status);
}

mechanism_failure mechanism_factor(mechanism *c, const double *B, const double *C)
{
    return mechanism_factor_with(c, c->M, B, C);
}

void mechanism_momentum(const mechanism *c, const double *v, double *p)
{
    vector_zero(c->form->nq, p);
    form_matrix_multiply(&c->form->M_matrix, c->M, 1.0, v, p);
}

void mechanism_add_product(const mechanism *c, const double *values, const double *v, double *r)
{
    form_matrix_multiply(&c->form->G_matrix, values, 1.0, v, r);
}

mechanism_failure mechanism_slope(mechanism *c, const double *x, double *k, double *lambda)
{
    const mechanical_form *m = c->form;
    const int nq = m->nq;
    double *r = lambda ? lambda : c->r;
    vector_copy(nq, x + nq, k);
    vector_copy(nq, c->force, k + nq);
    for (int i = 0; i < m->nl; i++) r[i] = -c->curvature[i];
    if (lambda)
        saddle_solve(c->saddle, k + nq, r);
    else
        saddle_solve_x(c->saddle, k + nq, r);
    bool finite = vector_finite(nq, k + nq) && (!lambda || vector_finite(m->nl, lambda));
    return finite ? mechanism_ok() : mechanism_evaluation(EVAL_RETRY);
}

mechanism_failure mechanism_slope_at(mechanism *c, double t, const double *x, double *rate,
                                     double *k, double *lambda)
{
    mechanism_failure failure = mechanism_evaluate(c, t, x, rate, c->curvature);
    if (!failure.status) failure = mechanism_factor(c, c->G[0], c->G[0]);
    return failure.status ? failure : mechanism_slope(c, x, k, lambda);
}

bool mechanism_accelerate(const mechanism *c, double t, const double *x, double *k)
{
    const mechanical_form *m = c->form;
    const int nq = m->nq;
    for (int i = 0; i < nq; i++) k[i] = x[nq + i];
    return m->accelerations(m->context, t, x, x + nq, k + nq);
}

/* dx = M^-1 G' mu with G dx = r, or what the full form has in its place; r is used up */
static void solve_shortest(mechanism *c, double *r, double *dx)
{
    if (c->multibody) {
        c->multibody->solve(c->multibody->context, dx, r);
        return;
    }
    vector_zero(c->form->nq, dx);
    saddle_solve_x(c->saddle, dx, r);
}

/* sqrt of the mean of (dq_i / weight of q_i)^2 */
static double position_norm(const mechanism *c, const error_norm *norm, const double *dq)
{
    double sum = 0.0;
    for (int i = 0; i < c->form->nq; i++) {
        double scaled = dq[i] * norm->scale[mechanism_place(c, i)];
        sum += scaled * scaled;
    }
    return sqrt(sum / c->form->nq);
}

mechanism_failure mechanism_project_position(mechanism *c, const error_norm *norm, double t,
                                             double *q)
{
    const mechanical_form *m = c->form;
    const double enough = c->exactly ? 0.0 : c->enough;
    double last = INFINITY;
    for (int k = 0; k < POSITION_ITERATIONS; k++) {
        vector_zero(m->nl, c->r); /* rows without positions */
        eval_status status = m->g(m->context, t, q, c->r);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        for (int i = 0; i < m->nl; i++) c->r[i] = -c->r[i];
        solve_shortest(c, c->r, c->dx);
        double size = position_norm(c, norm, c->dx);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        if (size > last) break; /* round-off, or hopeless */
        for (int i = 0; i < m->nq; i++) q[i] += c->dx[i];
        if (size <= enough) {
            c->left = 0.0;
            return mechanism_ok();
        }
        last = c->left = size;
    }
    return last <= 1.0 ? mechanism_ok()
                       : (mechanism_failure){ATTEMPT_CONVERGENCE,
                                             "The position constraints could not be met", -1, 0};
}

/* r = -(rate + G v) */
static void velocity_residual(mechanism *c, const double *G, const double *v)
{
    vector_copy(c->form->nl, c->rate, c->r);
    mechanism_add_product(c, G, v, c->r);
    for (int i = 0; i < c->form->nl; i++) c->r[i] = -c->r[i];
}

void mechanism_project_velocity(mechanism *c, const double *G, double *v)
{
    velocity_residual(c, G, v);
    solve_shortest(c, c->r, c->dx);
    for (int i = 0; i < c->form->nq; i++) v[i] += c->dx[i];
}

void mechanism_kick(mechanism *c, const double *G, double kick, const double *phi, double *v)
{
    velocity_residual(c, G, v);
    for (int i = 0; i < c->form->nq; i++) c->dx[i] = kick * phi[i];
    saddle_solve_x(c->saddle, c->dx, c->r);
    for (int i = 0; i < c->form->nq; i++) v[i] += c->dx[i];
}

void mechanism_tangent(mechanism *c, double *e)
{
    vector_zero(c->form->nl, c->rate);
    mechanism_project_velocity(c, c->G[0], e);
}

static bool mechanism_projects_position(const method_context *ctx)
{
    return ctx->projection != DAE_PROJECTION_NONE && ctx->projection != DAE_PROJECTION_VELOCITY;
}

/* Whether ends of steps are moved onto 0 = g, and onto 0 = G v + g_t. AUTO: both. */
static bool mechanism_projects_velocity(const method_context *ctx)
{
    return ctx->projection != DAE_PROJECTION_NONE && ctx->projection != DAE_PROJECTION_POSITION;
}

mechanism_failure mechanism_end(mechanism *c, const error_norm *norm, double t, double *x,
                                bool position, bool velocity)
{
    mechanism_failure failure = mechanism_ok();
    if (position) failure = mechanism_project_position(c, norm, t, x);
    if (!failure.status) failure = mechanism_evaluate(c, t, x, c->rate, c->curvature);
    if (!failure.status) failure = mechanism_factor(c, c->G[0], c->G[0]);
    if (!failure.status && velocity) mechanism_project_velocity(c, c->G[0], x + c->form->nq);
    return failure;
}

mechanism_failure mechanism_finish(mechanism *c, const method_context *ctx, double t, double *x,
                                   double *k, double *lambda)
{
    mechanism_failure failure = mechanism_end(c, ctx->norm, t, x, mechanism_projects_position(ctx),
                                              mechanism_projects_velocity(ctx));
    return failure.status ? failure : mechanism_slope(c, x, k, lambda);
}

void mechanism_scatter(const mechanism *c, const double *x, const double *lambda, double *y)
{
    for (int i = 0; i < 2 * c->form->nq; i++) y[mechanism_place(c, i)] = x[i];
    for (int i = 0; i < c->form->nl; i++) y[mechanism_multiplier(c, i)] = lambda[i];
}
