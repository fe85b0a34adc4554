/* min |u - origin|^2 subject to R(u) = 0, in two phases.
 *
 * First a damped Gauss-Newton iteration for R(u) = 0 [Deu11 4.4]: each step is the shortest
 * solution of J du = -R. Free unknowns cost nothing, so that preferred ones move only where free
 * ones cannot help. The natural monotonicity test on these steps sees no scaling of equations.
 *
 * Then along the solutions: the projection of origin - u on the null space of J, followed by Newton
 * steps back to R(u) = 0, as long as the distance of preferred unknowns falls. */
#include "base/vector.h"
#include "init/levels_parts.h"

#include <float.h>

static const double FAR = 1.0;        /* a preferred unknown's step in its own size, at most */
static const double OPTIMAL = 1e-12;  /* distances that are not worth a tangential step */
static const double ROUNDING = 1e-14; /* of a distance, relative */
enum { POLISH = 4, RETURN = 8 };      /* iterations */
enum { TANGENTIAL = 30, TANGENTIAL_LARGE = 8, SHORTER = 6 };

/* du = -J^+ r, the shortest one */
static void normal_step(level_problem *p, const double *r, double *du)
{
    for (int i = 0; i < p->m; i++) p->rhs[i] = -p->rows[i] * r[i];
    kkt_solve(p->solver, p->rhs, du);
    for (int j = 0; j < p->n; j++) du[j] *= p->columns[j];
}

/* du = (I - J^+ J) (origin - u) */
static void tangential_step(level_problem *p, double *du)
{
    vector_zero(p->m, p->rhs);
    for (int j = 0; j < p->n; j++) {
        double way = p->work->origin[p->column[j]] - p->u[j];
        du[j] = p->preferred[j] ? way / p->columns[j] : 0.0;
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++)
            p->rhs[p->rowind[e]] += p->B[e] * du[j];
    }
    kkt_solve(p->solver, p->rhs, p->w);
    for (int j = 0; j < p->n; j++) du[j] = (du[j] - p->w[j]) * p->columns[j];
}

double level_allowed(const level_request *q, int j, double u)
{
    return q->absolute ? q->relative[j] * fabs(u) + q->absolute[j] : (double)INFINITY;
}

bool level_close(level_problem *p)
{
    const level_work *work = p->work;
    bool any = false;
    for (int i = 0; i < p->m; i++) {
        double excess = fabs(p->r[i]) - work->noise[p->row[i]];
        p->rhs[i] = excess > 0.0 ? -p->rows[i] * copysign(excess, p->r[i]) : 0.0;
        any = any || p->rhs[i] != 0.0;
    }
    if (!any || !work->request->absolute) return true;
    kkt_solve(p->solver, p->rhs, p->w);
    for (int j = 0; j < p->n; j++) {
        double allowed = level_allowed(work->request, p->column[j], p->u[j]);
        if (!(fabs(p->w[j]) * p->columns[j] <= allowed)) return false;
    }
    return true;
}

/* Up to `most` normal corrections of u (residual in r) with the factors at hand, while they help;
 * returns the misfit reached. */
static double correct(level_problem *p, double *u, double *r, int most)
{
    double misfit = level_misfit(p, r);
    for (int k = 0; k < most && misfit > 0.0; k++) {
        normal_step(p, r, p->w);
        for (int j = 0; j < p->n; j++) p->step[j] = u[j] + p->w[j];
        if (level_residual(p, p->step, p->rhs) != ENGINE_MET) break;
        double next = level_misfit(p, p->rhs);
        if (!(next < 0.5 * misfit)) break;
        misfit = next;
        vector_copy(p->n, p->step, u);
        vector_copy(p->m, p->rhs, r);
    }
    return misfit;
}

/* Jacobian at u and its factors. */
static engine_outcome linearise(level_problem *p, double rcond)
{
    engine_outcome outcome = level_jacobian(p, p->u);
    if (outcome != ENGINE_MET) return outcome;
    level_scale(p);
    return kkt_factor(p->solver, p->B, rcond, 0.0) == LINEAR_OK ? ENGINE_MET : ENGINE_MEMORY;
}

/* sum over preferred unknowns of ((u_j - origin_j) / scale_j)^2 */
static double distance(const level_problem *p, const double *u)
{
    double sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        double way = (u[j] - p->work->origin[p->column[j]]) / p->columns[j];
        if (p->preferred[j]) sum += way * way;
    }
    return sum;
}

/* sum over preferred unknowns of (du_j / scale_j)^2 */
static double weighted_square(const level_problem *p, const double *du)
{
    double sum = 0.0;
    for (int j = 0; j < p->n; j++)
        if (p->preferred[j]) sum += du[j] * du[j] / (p->columns[j] * p->columns[j]);
    return sum;
}

/* Barzilai and Borwein's length of the tangential step [BB88]: by the curvature of the solutions
 * plain Gauss-Newton steps are too short or too long. `factor` is the last one. */
static double tangential_factor(const level_problem *p, double factor)
{
    double sy = 0.0, yy = 0.0;
    for (int j = 0; j < p->n; j++) {
        if (!p->preferred[j]) continue;
        double y = (p->before[j] - p->tangent[j]) / p->columns[j];
        sy += factor * p->before[j] / p->columns[j] * y;
        yy += y * y;
    }
    return yy > 0.0 && sy > 0.0 ? fmin(fmax(sy / yy, 0.01), 100.0) : 1.0;
}

/* Move along the tangent and back to the solutions if that brings u nearer; *factor: how far. */
static bool tangential_move(level_problem *p, double *factor)
{
    const double before = distance(p, p->u), slope = weighted_square(p, p->tangent);
    for (int k = 0; k < SHORTER; k++, *factor *= 0.25) {
        for (int j = 0; j < p->n; j++) p->trial[j] = p->u[j] + *factor * p->tangent[j];
        if (level_residual(p, p->trial, p->r) != ENGINE_MET) continue;
        if (correct(p, p->trial, p->r, RETURN) > 10.0 * p->work->tolerance) continue;
        double gain = before - distance(p, p->trial);
        if (!(gain >= 1e-4 * *factor * slope - ROUNDING * before)) continue;
        vector_copy(p->n, p->trial, p->u);
        return true;
    }
    return false;
}

/* Bring a solution nearer to the origin; it stays a solution. */
static engine_outcome approach(level_problem *p, double rcond)
{
    const int most = kkt_is_dense(p->solver) ? TANGENTIAL : TANGENTIAL_LARGE;
    double factor = 1.0, last = DBL_MAX;
    for (int k = 0; k < most; k++) {
        vector_copy(p->n, p->tangent, p->before);
        tangential_step(p, p->tangent);
        double slope = weighted_square(p, p->tangent), way = distance(p, p->u);
        if (sqrt(slope) <= OPTIMAL * (1.0 + sqrt(way))) break;
        if (slope <= 1e-10 * way && slope >= 0.5 * last) break; /* only rounding errors move */
        last = slope;
        factor = k > 0 ? tangential_factor(p, factor) : 1.0;
        if (!tangential_move(p, &factor)) break;
        p->used++;
        engine_outcome outcome = linearise(p, rcond);
        if (outcome != ENGINE_MET) return outcome;
    }
    return level_residual(p, p->u, p->r);
}

/* Misfit at u; where it stands still, after a look at the rounding errors of R. */
static engine_outcome judge(level_problem *p, double *misfit)
{
    const double last = *misfit;
    *misfit = level_misfit(p, p->r);
    if (!level_suspicious(p, *misfit) || *misfit < 0.1 * last) return ENGINE_MET;
    engine_outcome outcome = level_measure_noise(p, p->u, p->r);
    *misfit = level_misfit(p, p->r);
    return outcome;
}

/* Whether all rows are met, and no unknown is far from where Newton's iteration leads: where one
 * is, and the residual is all rounding, that has not been measured yet. */
static engine_outcome is_met(level_problem *p, bool *met)
{
    engine_outcome outcome = judge(p, &p->misfits);
    *met = outcome == ENGINE_MET && p->misfits <= p->work->tolerance;
    if (!*met || level_close(p)) return outcome;
    outcome = level_measure_noise(p, p->u, p->r);
    if (outcome == ENGINE_MET) level_misfit(p, p->r);
    *met = outcome == ENGINE_MET && level_close(p);
    return outcome;
}

/* The end of an iteration that has met all rows; p->good stays if coming nearer goes wrong. */
static engine_outcome settle(level_problem *p, double rcond)
{
    correct(p, p->u, p->r, POLISH);
    vector_copy(p->n, p->u, p->good);
    if (!p->least_change) return ENGINE_MET;
    engine_outcome outcome = approach(p, rcond);
    if (engine_ends(outcome)) return outcome;
    if (outcome == ENGINE_MET) {
        double misfit = correct(p, p->u, p->r, POLISH);
        outcome = judge(p, &misfit);
        if (outcome == ENGINE_MET && misfit <= p->work->tolerance) return ENGINE_MET;
    }
    vector_copy(p->n, p->good, p->u);
    outcome = level_residual(p, p->u, p->r);
    return outcome == ENGINE_MET ? level_jacobian(p, p->u) : outcome;
}

/* ---- R(u) = 0 as a source of the engine ---- */

static engine_outcome source_linearise(engine *e)
{
    level_problem *p = e->user;
    const double *scale = p->work->request->scale;
    for (int j = 0; j < p->n; j++) p->sizes[j] = fmax(scale[p->column[j]], fabs(p->u[j]));
    return linearise(p, p->rcond);
}

static engine_outcome source_correction(engine *e, const double *r, double *du)
{
    normal_step(e->user, r, du);
    return ENGINE_MET;
}

static engine_outcome source_evaluate(engine *e)
{
    return level_residual(e->user, e->trial, e->trial_r);
}

static engine_outcome source_met(engine *e, bool *met)
{
    return is_met(e->user, met);
}

/* The longest part of the normal step that stays near. */
static double source_near(engine *e)
{
    const level_problem *p = e->user;
    double part = 1.0;
    for (int j = 0; j < p->n; j++) {
        double far = FAR * p->sizes[j], step = fabs(p->normal[j]);
        if (p->preferred[j] && step * part > far) part = far / step;
    }
    return part;
}

static const engine_source level_source = {.linearise = source_linearise,
                                           .correction = source_correction,
                                           .evaluate = source_evaluate,
                                           .met = source_met,
                                           .near = source_near};

static engine_outcome run(level_problem *p, double rcond, engine_outcome (*way)(engine *))
{
    engine e = {.source = &level_source,
                .user = p,
                .n = p->n,
                .m = p->m,
                .counted = p->n,
                .x = p->u,
                .trial = p->trial,
                .r = p->r,
                .trial_r = p->misfit,
                .dx = p->normal,
                .next = p->w,
                .size = p->sizes,
                .negligible = p->work->tolerance,
                .longest_stride = 1.0,
                .most = p->iterations};
    p->rcond = rcond;
    p->misfits = DBL_MAX;
    engine_outcome outcome = level_residual(p, p->u, p->r);
    if (outcome == ENGINE_MET) outcome = way(&e);
    p->used += e.taken;
    return outcome == ENGINE_MET ? settle(p, rcond) : outcome;
}

engine_outcome level_newton(level_problem *p, double rcond)
{
    return run(p, rcond, engine_solve);
}

engine_outcome level_followed(level_problem *p, double rcond)
{
    return run(p, rcond, engine_follow);
}

static engine_outcome deflated(engine *e)
{
    const level_problem *p = e->user;
    return engine_deflated(e, p->deflation);
}

engine_outcome level_deflated(level_problem *p, double rcond, const deflation *known)
{
    p->deflation = known;
    engine_outcome outcome = run(p, rcond, deflated);
    p->deflation = NULL;
    return outcome;
}
