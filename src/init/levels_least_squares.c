/* min |R(u)|^2, rows in units of their most influential unknown, by Levenberg and Marquardt's
 * method with the control of Nielsen [MNT04 3.2]. Where R = 0 has no solution nearby, the residual
 * at the minimum is a left null vector of J: it names the equations that contradict each other. */
#include "base/vector.h"
#include "init/levels_parts.h"

static const double CLOSE = 1e-9;      /* misfit from which Newton takes over */
static const double STATIONARY = 1e-9; /* of |J'R| against |R| */
static const double LEAST_DAMPING = 1e-12, MOST_DAMPING = 1e12;

static double square(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}

/* Scales that stay for the whole iteration. */
static void fix_scales(level_problem *p)
{
    for (int i = 0; i < p->m; i++) {
        double size = p->work->size[p->row[i]];
        p->rows[i] = size > 0.0 ? 1.0 / size : p->r[i] != 0.0 ? 1.0 / fabs(p->r[i]) : 1.0;
    }
    for (int j = 0; j < p->n; j++)
        p->columns[j] = fmax(p->work->request->scale[p->column[j]], fabs(p->u[j]));
}

/* B = diag(rows) J diag(columns), rhs = -diag(rows) r; returns max |B' rhs| */
static double linearise(level_problem *p)
{
    double most = 0.0;
    for (int i = 0; i < p->m; i++) p->rhs[i] = -p->rows[i] * p->r[i];
    for (int j = 0; j < p->n; j++) {
        double sum = 0.0;
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
            p->B[e] = p->rows[p->rowind[e]] * p->values[e] * p->columns[j];
            sum += p->B[e] * p->rhs[p->rowind[e]];
        }
        most = fmax(most, fabs(sum));
    }
    return most;
}

/* |rhs|^2 - |rhs - B w|^2: what the linear model promises; misfit is overwritten */
static double promise(level_problem *p)
{
    vector_copy(p->m, p->rhs, p->misfit);
    for (int j = 0; j < p->n; j++)
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++)
            p->misfit[p->rowind[e]] -= p->B[e] * p->w[j];
    return square(p->m, p->rhs) - square(p->m, p->misfit);
}

/* Gain of u + w over the promise; not positive if it is no better or cannot be evaluated. The
 * residual there goes to `misfit`. */
static engine_outcome gain_of_step(level_problem *p, double *gain)
{
    double promised = promise(p), before = square(p->m, p->rhs), after = 0.0;
    *gain = -1.0;
    for (int j = 0; j < p->n; j++) p->trial[j] = p->u[j] + p->columns[j] * p->w[j];
    engine_outcome outcome = level_residual(p, p->trial, p->misfit);
    if (outcome == ENGINE_UNDEFINED) return ENGINE_MET;
    if (outcome != ENGINE_MET) return outcome;
    for (int i = 0; i < p->m; i++) {
        double part = p->rows[i] * p->misfit[i];
        after += part * part;
    }
    if (promised > 0.0) *gain = (before - after) / promised;
    return ENGINE_MET;
}

engine_outcome level_least_squares(level_problem *p)
{
    double damping = 1e-3, raise = 2.0;
    engine_outcome outcome = level_residual(p, p->u, p->r);
    if (outcome == ENGINE_MET) outcome = level_jacobian(p, p->u);
    if (outcome != ENGINE_MET) return outcome;
    fix_scales(p);
    for (int k = 0; k < (kkt_is_dense(p->solver) ? 4 : 1) * p->work->iterations; k++, p->used++) {
        double slope = linearise(p), length = sqrt(square(p->m, p->rhs)), gain;
        if (level_misfit(p, p->r) <= CLOSE) return ENGINE_MET;
        if (slope <= STATIONARY * length || damping > MOST_DAMPING) break;
        if (kkt_factor(p->solver, p->B, 0.0, damping) != LINEAR_OK) return ENGINE_MEMORY;
        kkt_solve(p->solver, p->rhs, p->w);
        outcome = gain_of_step(p, &gain);
        if (outcome != ENGINE_MET) return outcome;
        if (gain > 1e-4) {
            vector_copy(p->n, p->trial, p->u);
            vector_copy(p->m, p->misfit, p->r);
            outcome = level_jacobian(p, p->u);
            if (outcome != ENGINE_MET) return outcome;
            double fall = 1.0 - pow(2.0 * gain - 1.0, 3.0);
            damping = fmax(damping * fmax(1.0 / 10.0, fall), LEAST_DAMPING);
            raise = 2.0;
        } else {
            damping *= raise;
            raise *= 2.0;
        }
    }
    return ENGINE_STALLED;
}
