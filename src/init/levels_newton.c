/* Damped Gauss-Newton iteration for  min |u - origin|^2  subject to  R(u) = 0  [Deu11 4.4].
 *
 * Each step is a normal part, the shortest solution of J du = -R, and a tangential part, the
 * projection of origin - u on the null space of J. Free unknowns have no origin and are cheap to
 * move, so that preferred ones move only where free ones cannot help. The natural monotonicity test
 * on normal parts sees no scaling of equations. */
#include "base/vector.h"
#include "init/levels_parts.h"

#include <float.h>

static const double FREE_FACTOR = 1e4;  /* a free unknown moves 1e4 times as easily */
static const double LEAST_LAMBDA = 1e-8;
static const double FAR = 1.0;          /* a preferred unknown's step in its own size, at most */
static const double FAR_FREE = 10.0;    /* the same of a free one */
static const double NEARLY_LINEAR = 0.1; /* contraction of a full step that may be long */
static const double CURVATURE = 0.1;    /* part of a tangential step that may leave the solutions */
static const double OPTIMAL = 1e-11;    /* tangential steps below this are not worth making */
enum { TANGENTIAL = 30, POLISH = 4 };   /* iterations */

/* sqrt(mean (step_j / max(scale_j, |u_j|))^2) */
static double mean_length(const level_problem *p, const double *step)
{
    const double *scale = p->work->request->scale;
    double sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        double part = step[j] / fmax(scale[p->column[j]], fabs(p->u[j]));
        sum += part * part;
    }
    return p->n > 0 ? sqrt(sum / p->n) : 0.0;
}

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
        du[j] = p->preferred[j] && p->least_change ? way / p->columns[j] : 0.0;
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) p->rhs[p->rowind[e]] += p->B[e] * du[j];
    }
    kkt_solve(p->solver, p->rhs, p->w);
    for (int j = 0; j < p->n; j++) du[j] = (du[j] - p->w[j]) * p->columns[j];
}

/* Barzilai and Borwein's length of the tangential step [BB88]: curvature of the solutions makes
 * plain Gauss-Newton steps too short or too long. `factor` is the last one. */
static double tangential_factor(const level_problem *p, double factor)
{
    double sy = 0.0, yy = 0.0;
    for (int j = 0; j < p->n; j++) {
        double s = factor * p->before[j] / p->columns[j];
        double y = (p->before[j] - p->tangent[j]) / p->columns[j];
        sy += s * y;
        yy += y * y;
    }
    if (!(yy > 0.0) || !(sy > 0.0)) return 1.0;
    return fmin(fmax(sy / yy, 0.05), 5.0);
}

/* The longest part of the step that stays near. */
static double near_part(const level_problem *p)
{
    const double *scale = p->work->request->scale;
    double part = 1.0;
    for (int j = 0; j < p->n; j++) {
        double far = (p->preferred[j] ? FAR : FAR_FREE) * fmax(scale[p->column[j]], fabs(p->u[j]));
        if (fabs(p->step[j]) * part > far) part = far / fabs(p->step[j]);
    }
    return part;
}

/* trial = u + lambda step; its residual goes to r, the normal correction there to w */
static level_outcome try_step(level_problem *p, double lambda)
{
    for (int j = 0; j < p->n; j++) p->trial[j] = p->u[j] + lambda * p->step[j];
    level_outcome outcome = level_residual(p, p->trial, p->misfit);
    if (outcome == LEVEL_MET) normal_step(p, p->misfit, p->w);
    return outcome;
}

/* lambda for which the curvature seen at the last one would be harmless [Deu11 (3.47)] */
static double shorter(const level_problem *p, double lambda, double normal)
{
    double sum = 0.0;
    const double *scale = p->work->request->scale;
    for (int j = 0; j < p->n; j++) {
        double bend = p->w[j] - (1.0 - lambda) * p->normal[j];
        bend /= fmax(scale[p->column[j]], fabs(p->u[j]));
        sum += bend * bend;
    }
    double bend = sqrt(sum / p->n), best = 0.5 * lambda * lambda * normal / bend;
    return fmin(fmax(best, 0.1 * lambda), 0.5 * lambda);
}

/* Move u as far along the step as the test allows; *lambda tells how far. */
static level_outcome line_search(level_problem *p, double factor, double *lambda)
{
    const double normal = mean_length(p, p->normal);
    const double tangential = CURVATURE * factor * mean_length(p, p->tangent);
    const double near = near_part(p);
    *lambda = 1.0;
    while (*lambda >= LEAST_LAMBDA) {
        level_outcome outcome = try_step(p, *lambda);
        if (outcome == LEVEL_STOP || outcome == LEVEL_NO_MEMORY) return outcome;
        bool linear = false, monotone = false;
        if (outcome == LEVEL_MET) {
            double next = mean_length(p, p->w), drift = *lambda * tangential;
            linear = next <= NEARLY_LINEAR * normal + drift;
            monotone = next <= (1.0 - 0.25 * *lambda) * normal + drift ||
                       level_length(p, p->w) <= p->work->tolerance;
        }
        if (linear || (monotone && *lambda <= near)) {
            vector_copy(p->n, p->trial, p->u);
            vector_copy(p->m, p->misfit, p->r);
            return LEVEL_MET;
        }
        double next = outcome == LEVEL_MET ? shorter(p, *lambda, normal) : 0.5 * *lambda;
        *lambda = *lambda > near && outcome == LEVEL_MET ? near : next;
    }
    return LEVEL_STALLED;
}

/* Up to four more normal corrections with the factors at hand, while they help: to round-off. */
static void polish(level_problem *p)
{
    double misfit = level_misfit(p, p->r);
    for (int k = 0; k < POLISH && misfit > DBL_EPSILON; k++) {
        normal_step(p, p->r, p->w);
        for (int j = 0; j < p->n; j++) p->trial[j] = p->u[j] + p->w[j];
        if (level_residual(p, p->trial, p->rhs) != LEVEL_MET) return;
        double next = level_misfit(p, p->rhs);
        if (!(next < 0.5 * misfit)) return;
        misfit = next;
        vector_copy(p->n, p->trial, p->u);
        vector_copy(p->m, p->rhs, p->r);
    }
}

/* Jacobian at u, its factors, and the two parts of the step. */
static level_outcome directions(level_problem *p, double rcond, int iteration, double *factor)
{
    level_outcome outcome = level_jacobian(p, p->u);
    if (outcome != LEVEL_MET) return outcome;
    level_scale(p, FREE_FACTOR);
    if (kkt_factor(p->solver, p->B, rcond, 0.0) != LINEAR_OK) return LEVEL_NO_MEMORY;
    normal_step(p, p->r, p->normal);
    vector_copy(p->n, p->tangent, p->before);
    tangential_step(p, p->tangent);
    *factor = iteration > 0 ? tangential_factor(p, *factor) : 1.0;
    for (int j = 0; j < p->n; j++) p->step[j] = p->normal[j] + *factor * p->tangent[j];
    return LEVEL_MET;
}

/* A failure after a solution was found only means that it cannot be brought nearer. */
static level_outcome fall_back(level_problem *p, int met, level_outcome outcome)
{
    if (met == 0 || outcome == LEVEL_STOP || outcome == LEVEL_NO_MEMORY) return outcome;
    vector_copy(p->n, p->good, p->u);
    outcome = level_residual(p, p->u, p->r);
    return outcome == LEVEL_MET ? level_jacobian(p, p->u) : outcome;
}

level_outcome level_newton(level_problem *p, double rcond)
{
    double factor = 1.0, lambda = 1.0;
    int met = 0;
    level_outcome outcome = level_residual(p, p->u, p->r);
    for (int k = 0; outcome == LEVEL_MET; k++) {
        double last = factor * lambda;
        outcome = directions(p, rcond, k, &last);
        factor = last;
        if (outcome != LEVEL_MET) break;
        if (level_misfit(p, p->r) <= p->work->tolerance) {
            vector_copy(p->n, p->u, p->good);
            if (level_length(p, p->tangent) <= OPTIMAL || ++met > TANGENTIAL) {
                polish(p);
                return LEVEL_MET;
            }
        } else if (level_length(p, p->normal) <= DBL_EPSILON) {
            outcome = LEVEL_STALLED;
            break;
        }
        if (k >= p->iterations + met) outcome = LEVEL_STALLED;
        p->used++;
        if (outcome == LEVEL_MET) outcome = line_search(p, factor, &lambda);
    }
    return fall_back(p, met, outcome);
}
