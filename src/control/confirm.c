#include "control/confirm.h"

#include <math.h>
#include <stdint.h>

/* What may be left of e: the slowest rate at which an iteration is said to converge. */
static const double AGREES = 0.9;
/* Errors of positions become those of velocities, and these those of multipliers, before any of them
 * shrinks: so many corrections may be needed, with errors that grow to this on the way. */
enum { CORRECTIONS = 3 };
static const double MOST_GROWTH = 100.0;

/* e_i: signs without a pattern, but the same in every run; within the bounds of the problem */
static double displacement(const iteration_end *end, int i)
{
    const dae_residual *form = &end->eval->problem->form;
    const double size = end->part / end->norm->newton[i];
    double e = ((uint32_t)i * 2654435761u) >> 31 ? size : -size;
    bool below = form->lower_bounds && end->y[i] + e < form->lower_bounds[i];
    bool above = form->upper_bounds && end->y[i] + e > form->upper_bounds[i];
    return below || above ? -e : e;
}

/* F(t, y + e, y' + cj e) in f */
static eval_status evaluate_beside(const iteration_end *end, const double *e, double *f)
{
    const int n = end->norm->n;
    const double cj = end->matrix->cj;
    double *y = end->work + n, *yp = y + n;
    for (int i = 0; i < n; i++) {
        y[i] = end->y[i] + e[i];
        yp[i] = end->yp[i] + cj * e[i];
    }
    return evaluate_residual(end->eval, end->t, y, yp, f, &end->eval->stats->residuals);
}

/* e -= d; the largest e_i over what it was at first; INFINITY if it is not a number */
static double correct(const iteration_end *end, double *e, const double *d)
{
    double most = 0.0;
    for (int i = 0; i < end->norm->n; i++) {
        e[i] -= d[i];
        const double size = fabs(e[i]) * end->norm->newton[i];
        if (!(size <= most)) most = isfinite(size) ? size : INFINITY;
    }
    return most / end->part;
}

attempt_status iteration_confirm(const iteration_end *end, bool *confirmed)
{
    const int n = end->norm->n;
    double *e = end->work, *f = end->work + 3 * (size_t)n;
    const eval_failure failure = end->eval->failure;
    *confirmed = false;
    for (int i = 0; i < n; i++) e[i] = displacement(end, i);
    double left = 1.0;
    for (int k = 0; k < CORRECTIONS && left > AGREES && left <= MOST_GROWTH; k++) {
        eval_status status = evaluate_beside(end, e, f);
        if (status == EVAL_STOP) return ATTEMPT_STOP;
        if (status == EVAL_MEMORY) return ATTEMPT_MEMORY;
        if (status != EVAL_OK || iteration_solve(end->matrix, NULL, f) != ITERATION_OK) break;
        left = correct(end, e, f);
    }
    *confirmed = left <= AGREES;
    end->eval->failure = failure;
    return ATTEMPT_OK;
}
