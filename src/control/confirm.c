#include "control/confirm.h"

#include <math.h>
#include <stdint.h>

/* What may be left of e after one correction; and after more, if the last one has made so much less
 * of it: a variable that G moves with others by mistake may come near its place with them, but
 * once. */
static const double CLOSE = 0.03, LEFT = 0.5, SHRINKS = 0.3;
/* Errors of positions become those of velocities, and these those of multipliers, before any of
 * them shrinks: so many corrections may be needed, with errors that grow to this on the way. */
enum { CORRECTIONS = 3 };
static const double MOST_GROWTH = 1e4;

/* e_i, half of the part or more: signs and sizes without a pattern, but the same in every run */
static double displacement(const iteration_end *end, int i)
{
    const uint32_t mixed = ((uint32_t)i + 1u) * 2654435761u;
    const double size = end->part / end->norm->newton[i] * (0.5 + (mixed >> 8 & 0xff) / 512.0);
    return mixed >> 31 ? size : -size;
}

/* The same of x_k, so small that its velocity moves by no more tolerances either */
static double displacement_second(const iteration_end *end, int k)
{
    const second_order *s = end->second;
    const double *scale = end->norm->newton;
    const int i = s->place[k], v = s->velocity[k];
    const double weight = v >= 0 ? fmax(scale[i], fabs(end->cj) * scale[v]) : scale[i];
    return displacement(end, i) * scale[i] / weight;
}

/* The first e, one way or the other */
static void displace(const iteration_end *end, double way)
{
    if (!end->second)
        for (int i = 0; i < end->norm->n; i++) end->e[i] = way * displacement(end, i);
    else
        for (int k = 0; k < end->second->n; k++)
            end->e[end->second->place[k]] = way * displacement_second(end, k);
}

/* y, within the bounds of the problem: F need not exist outside */
static double within_bounds(const dae_residual *form, int i, double y)
{
    if (form->lower_bounds && y < form->lower_bounds[i]) return form->lower_bounds[i];
    if (form->upper_bounds && y > form->upper_bounds[i]) return form->upper_bounds[i];
    return y;
}

/* f = F(t, x + e, x' + a1 e, x'' + a2 e): y and y' hold the prediction, which sum has left */
static eval_status evaluate_beside_second(const iteration_end *end)
{
    const second_order *s = end->second;
    for (int k = 0; k < s->n; k++) {
        const int i = s->place[k], v = s->velocity[k];
        const double moved = end->sum[i] + end->e[i];
        end->point[i] = within_bounds(&end->eval->problem->form, i, end->y[i] + moved);
        if (end->point[i] != end->y[i] + moved) end->e[i] = end->point[i] - end->y[i] - end->sum[i];
        end->slope[i] = end->yp[i] + end->cj * (end->sum[i] + end->e[i]);
        if (v < 0) continue;
        end->point[v] = end->y[v] + end->cj * (end->sum[i] + end->e[i]);
        end->slope[v] = end->yp[v] + end->a2 * (end->sum[i] + end->e[i]);
    }
    return evaluate_residual(end->eval, end->t, end->point, end->slope, end->f,
                             &end->eval->stats->residuals);
}

/* f = F(t, y + e, y' + cj e) */
static eval_status evaluate_beside(const iteration_end *end)
{
    if (end->second) return evaluate_beside_second(end);
    double *e = end->e;
    for (int i = 0; i < end->norm->n; i++) {
        const double sum = end->sum ? end->sum[i] : 0.0, y = end->y[i] + sum;
        end->point[i] = within_bounds(&end->eval->problem->form, i, y + e[i]);
        if (end->point[i] != y + e[i]) e[i] = end->point[i] - y;
        end->slope[i] = end->yp[i] + end->cj * (sum + e[i]);
    }
    return evaluate_residual(end->eval, end->t, end->point, end->slope, end->f,
                             &end->eval->stats->residuals);
}

/* e += d, the direction that factors of the second order form make of F in f; the largest e_k over
 * what it was at first, INFINITY if it is not a number */
static double correct_second(const iteration_end *end)
{
    double most = 0.0;
    second_matrix_direction(end->factors, end->f, end->cj, end->a2, end->f);
    for (int k = 0; k < end->second->n; k++) {
        const int i = end->second->place[k];
        const double first = fabs(displacement_second(end, k));
        end->e[i] += end->f[i];
        const double size = fabs(end->e[i]) / first;
        if (!(size <= most)) most = isfinite(size) ? size : INFINITY;
    }
    return most;
}

/* f := G^-1 F, where that is not done with the factors of the second order form */
static bool solves(const iteration_end *end)
{
    return end->second || iteration_solve(end->matrix, NULL, end->f) == ITERATION_OK;
}

/* The same of first order: e -= c f, with c for a matrix of another shift [BCP96 (5.2.11)] */
static double correct(const iteration_end *end)
{
    if (end->second) return correct_second(end);
    const double c = 2.0 / (1.0 + end->cj / end->matrix->cj);
    double most = 0.0;
    for (int i = 0; i < end->norm->n; i++) {
        end->e[i] -= c * end->f[i];
        const double size = fabs(end->e[i]) * end->norm->newton[i];
        if (!(size <= most)) most = isfinite(size) ? size : INFINITY;
    }
    return most / end->part;
}

bool iteration_is_local(const error_norm *norm, correction_sizes sizes)
{
    static const double NEAR = 1e3, PART = 0.01, FAR = 100.0, FASTEST = 1e-5;
    const double near = fmin(NEAR, PART / norm_finest(norm));
    const bool measured = sizes.before <= near && sizes.last >= FASTEST * sizes.before;
    return sizes.first <= near || (measured && sizes.first <= FAR * near);
}

/* Whether corrections take e away that it was displaced by that way; *known: F has values there */
static attempt_status confirm_way(iteration_end *end, double way, bool *confirmed, bool *known)
{
    *confirmed = false;
    *known = true;
    displace(end, way);
    end->left = 1.0;
    for (int k = 0; k < CORRECTIONS && !*confirmed && end->left <= MOST_GROWTH; k++) {
        const double before = end->left;
        eval_status status = evaluate_beside(end);
        if (status == EVAL_STOP) return ATTEMPT_STOP;
        if (status == EVAL_MEMORY) return ATTEMPT_MEMORY;
        *known = status == EVAL_OK;
        if (!*known || !solves(end)) break;
        end->left = correct(end);
        *confirmed = end->left <= CLOSE || (k > 0 && end->left <= fmin(LEFT, SHRINKS * before));
    }
    return ATTEMPT_OK;
}

/* Both ways: where G is far too large for a variable G^-1 F moves it by the same bit, however it
 * was displaced, and one way that bit may take it to its place. */
attempt_status iteration_confirm(iteration_end *end, bool *confirmed)
{
    const eval_failure failure = end->eval->failure;
    attempt_status status = confirm_way(end, 1.0, confirmed, &end->known);
    const bool lost = !end->known || end->left > 1.0;
    const bool other = end->ways == CONFIRM_EITHER ? lost : end->ways == CONFIRM_BOTH && *confirmed;
    if (status == ATTEMPT_OK && other) status = confirm_way(end, -1.0, confirmed, &end->known);
    if (status == ATTEMPT_OK) end->eval->failure = failure;
    return status;
}

/* Without a matrix, or F, nothing is confirmed; what else a callback or the memory says ends all.
 */
static attempt_status unless_fatal(iteration_status status)
{
    return status == ITERATION_STOP     ? ATTEMPT_STOP
           : status == ITERATION_MEMORY ? ATTEMPT_MEMORY
                                        : ATTEMPT_OK;
}

attempt_status iteration_confirm_anew(const iteration_end *end, double h, bool *confirmed)
{
    const double cj = end->cj;
    double *f = end->f;
    const eval_failure failure = end->eval->failure;
    *confirmed = false;
    iteration_status status =
        iteration_evaluate(end->matrix, end->t, end->y, end->yp, cj, h, end->norm->weights, NULL);
    if (status == ITERATION_OK) status = iteration_factor(end->matrix, cj, NULL);
    if (status != ITERATION_OK) return unless_fatal(status);
    eval_status value =
        evaluate_residual(end->eval, end->t, end->y, end->yp, f, &end->eval->stats->residuals);
    if (value == EVAL_STOP) return ATTEMPT_STOP;
    if (value == EVAL_MEMORY) return ATTEMPT_MEMORY;
    end->eval->failure = failure;
    if (value == EVAL_OK && iteration_solve(end->matrix, NULL, f) == ITERATION_OK)
        *confirmed = norm_of(end->norm, f, end->norm->newton) <= end->part;
    return ATTEMPT_OK;
}
