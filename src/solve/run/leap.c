/* Over changes of algebraic variables that no step resolves.
 *
 * When an inductor's current falls below the saturation current of a diode, 1e-14 A at 1000 A/s,
 * the voltage falls by volts within 1e-17 s. Steps shorten until t does not move, though the
 * states hardly move either: their tolerance is 1e-9 A. One step of the implicit Euler method in
 * which no state moves by more than half its tolerance is long enough to see the other side, and as
 * exact as asked for; Newton's iteration has a new matrix each time there, and damping. The method
 * starts again behind it. Where there is no other side, at a fold or a pole, Newton fails, or a
 * variable is beyond all sizes that it had before, and the run ends as it would have. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/bind/solver.h"
#include "solve/hybrid/hybrid_parts.h"

static const double OF_TOLERANCE = 0.5; /* what a state may move by */
/* Lengths: ten times that of the step that failed, and again, up to this part of the run. */
static const double LONGER = 10.0, LONGEST = 1e-6;
static const double CONVERGED = 0.01; /* in tolerances */
enum { ITERATIONS = 100, HALVINGS = 40, IN_A_ROW = 8 };

/* Models of index 0 or 1 in residual form, whose relations do not change within the leap. */
static bool applies(const dae_solver *s)
{
    if (!s->hybrid || s->phase != PHASE_RUNNING || s->control.fixed) return false;
    if (s->hybrid->instance->form->unmet >= 0 || s->hybrid->instance->array) return false;
    if (s->base->model->flat->relation_count > 0 || s->options.min_step > 0.0) return false;
    if (solver_uses_forms(s) || solver_second_order(s) || s->matrix.matrix_free) return false;
    for (int j = 0; j < s->n; j++)
        if (s->kinds[j] > DAE_KIND_INDEX1) return false;
    return true;
}

/* The longest step in which no state moves by more than it may. */
static double find_length(const dae_solver *s, const double *yp, double tend)
{
    double h = fmin(fabs(tend - s->t_new), LONGEST * fabs(s->t_new - s->hybrid->started));
    double next = s->direction > 0.0 ? hybrid_next_time(s->hybrid) : INFINITY;
    h = fmin(h, 0.5 * fabs(next - s->t_new));
    for (int j = 0; j < s->n; j++)
        if (s->kinds[j] == DAE_KIND_DIFFERENTIAL && yp[j] != 0.0)
            h = fmin(h, OF_TOLERANCE * s->norm.weights[j] / fabs(yp[j]));
    return h;
}

/* F(t, y, (y - y0)/h), with y' left in s->yp; false: no values */
static bool residual(dae_solver *s, double t, double h, const double *y0, const double *y,
                     double *f)
{
    for (int j = 0; j < s->n; j++) s->yp[j] = (y[j] - y0[j]) / h;
    return evaluate_residual(&s->eval, t, y, s->yp, f, &s->stats.residuals) == EVAL_OK &&
           vector_finite(s->n, f);
}

/* delta = -G^-1 f, and its size in tolerances; INFINITY: there is none */
static double correction(dae_solver *s, const double *f, double *delta)
{
    for (int j = 0; j < s->n; j++) delta[j] = -f[j];
    if (iteration_solve(&s->matrix, NULL, delta) != ITERATION_OK || !vector_finite(s->n, delta))
        return INFINITY;
    return norm_of(&s->norm, delta, s->norm.scale);
}

/* y += the largest half of delta behind which the next correction is shorter [Deu11 3.3]; f is F
 * there. False: there is none. */
static bool move(dae_solver *s, double t, double h, const double *delta, double size, double *f)
{
    double factor = 1.0;
    vector_axpy(s->n, 1.0, delta, s->y);
    for (int k = 0; k < HALVINGS; k++) {
        if (vector_finite(s->n, s->y) && residual(s, t, h, s->at_y, s->y, f)) {
            double next = correction(s, f, s->newton.delta);
            if (size <= CONVERGED || next <= (1.0 - 0.25 * factor) * size) return true;
        }
        factor *= 0.5;
        vector_axpy(s->n, -factor, delta, s->y);
    }
    return false;
}

/* The implicit Euler step from s->at_y, in s->y. */
static bool solve(dae_solver *s, double t, double h)
{
    double *f = s->work, *delta = s->at_yp, cj = 1.0 / h;
    vector_copy(s->n, s->at_y, s->y);
    if (!residual(s, t, h, s->at_y, s->y, f)) return false;
    for (int k = 0; k < ITERATIONS; k++) {
        iteration *it = &s->matrix;
        if (iteration_evaluate(it, t, s->y, s->yp, cj, fabs(h), s->norm.weights, f) !=
                ITERATION_OK ||
            iteration_factor(it, cj, NULL) != ITERATION_OK)
            return false;
        double size = correction(s, f, delta);
        if (!isfinite(size) || !move(s, t, h, delta, size, f)) return false;
        if (size <= CONVERGED) return true;
    }
    return false;
}

/* Whether states are where they were, and no variable is near a pole; *moved: the algebraic
 * variable that moved most. */
static bool is_sound(const dae_solver *s, int *moved)
{
    double most = 0.0;
    for (int j = 0; j < s->n; j++) {
        double change = fabs(s->y[j] - s->at_y[j]) / s->norm.weights[j];
        if (s->kinds[j] == DAE_KIND_DIFFERENTIAL && change > 2.0 * OF_TOLERANCE) return false;
        if (jump_outgrown(s, j, s->y[j]) || jump_outgrown(s, j, s->at_y[j])) return false;
        if (s->kinds[j] == DAE_KIND_DIFFERENTIAL || change <= most) continue;
        most = change;
        *moved = j;
    }
    return true;
}

/* Methods whose error test sees algebraic variables at the ends of all steps, or that give way to
 * one: where these move and states do not, as while a diode blocks, others may take steps over what
 * happens next. */
static bool looks_at_algebraic(const dae_solver *s)
{
    return s->method == &method_bdf || (s->method == &method_radau && s->choice.open);
}

/* To the method that looks; the sizes of variables are known still. */
static bool change_method(dae_solver *s, const char *reason)
{
    int n = s->n;
    double direction = s->direction, *extent = dae_copy(s->extent, (size_t)n, sizeof *extent);
    bool changed = extent && choice_change(s, reason) == DAE_OK;
    if (changed && s->n == n) vector_copy(n, extent, s->extent);
    s->direction = direction;
    dae_free(extent);
    return changed;
}

bool leap_over(dae_solver *s, dae_status failed, double tend)
{
    bool step = failed == DAE_ERR_CONVERGENCE || failed == DAE_ERR_ERROR_TEST ||
                failed == DAE_ERR_EVALUATION || failed == DAE_ERR_SINGULAR;
    if (!step || !looks_at_algebraic(s) || !applies(s)) return false;
    const eval_failure before = s->eval.failure;
    s->leaps = s->stats.steps == s->leap_step ? s->leaps + 1 : 1;
    s->leap_step = s->stats.steps;
    if (s->leaps > IN_A_ROW) return false;
    solver_interpolate(s, s->t_new, 0, s->at_y);
    solver_interpolate(s, s->t_new, 1, s->at_yp);
    double direction = s->direction, most = find_length(s, s->at_yp, tend);
    double h = LONGER * fmax(fabs(s->last.h), 4.0 * DBL_EPSILON * fabs(s->t_new));
    int moved = -1;
    bool found = false;
    for (; h <= most && !found; h *= found ? 1.0 : LONGER)
        found = solve(s, s->t_new + direction * h, direction * h) && is_sound(s, &moved);
    h *= direction;
    s->eval.failure = before;
    if (!found) return false;
    if (moved >= 0) jump_tell(s, moved, s->t_new);
    dae_diag diag = s->diag;
    bool ready = solver_begin(s, s->t_new + h, DAE_INIT_NONE) == DAE_OK;
    s->direction = direction;
    if (ready && s->method == &method_radau)
        ready =
            change_method(s, moved >= 0 ? "algebraic variables jump, so " : "radau failed, so ");
    if (ready)
        diag_clear(&s->diag);
    else
        s->diag = diag;
    return ready;
}
