/* Over changes of algebraic variables that no step resolves.
 *
 * When an inductor's current falls below the saturation current of a diode, 1e-14 A at 1000 A/s,
 * the voltage falls by volts within 1e-17 s. Steps shorten until t does not move, though the
 * states hardly move either: their tolerance is 1e-9 A. One step of the implicit Euler method in
 * which no state moves by more than half its tolerance is long enough to see the other side, and as
 * exact as asked for; Newton's iteration has a new matrix each time there, and damping. The method
 * starts again after it. So it does where an algebraic variable begins with an infinite slope, as
 * sqrt(x) at x = 0, or jumps in a function or loop, which make no events. Where there is no other
 * side, at a fold or a pole, Newton fails, or a variable is beyond all sizes that it had before,
 * and the run ends as it would have; also where a relation changes, which is an event. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/explain/explain.h"
#include "solve/hybrid/hybrid.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/run/run.h"
#include "solve/watch/watch.h"

static const double OF_TOLERANCE = 0.5; /* what a state may move by */
/* Lengths: ten times that of the step that failed, and again, up to this part of the run. */
static const double LONGER = 10.0, LONGEST = 1e-6;
static const double CONVERGED = 0.01; /* in tolerances */
enum { ITERATIONS = 100, HALVINGS = 40, IN_A_ROW = 8 };

/* Models of index 0 or 1 in residual form. */
static bool applies(const dae_solver *s)
{
    if (!s->hybrid || s->run.phase != PHASE_RUNNING || s->run.control.fixed) return false;
    if (s->hybrid->instance->form->unmet >= 0 || s->hybrid->instance->array) return false;
    if (s->bound.options.min_step > 0.0) return false;
    if (binding_uses_forms(&s->bound) || binding_second_order(&s->bound) ||
        s->bound.matrix.matrix_free)
        return false;
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] > DAE_KIND_INDEX1) return false;
    return true;
}

/* The longest step in which no state moves by more than it may. */
static double find_length(const dae_solver *s, const double *yp, double tend)
{
    const double rest = fabs(tend - s->run.t_new), before = fabs(s->run.t_new - s->hybrid->started);
    double h = fmin(rest, LONGEST * fmax(before, rest));
    double next = s->run.direction > 0.0 ? hybrid_next_time(s->hybrid) : INFINITY;
    h = fmin(h, 0.5 * fabs(next - s->run.t_new));
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL && yp[j] != 0.0)
            h = fmin(h, OF_TOLERANCE * s->bound.norm.weights[j] / fabs(yp[j]));
    return h;
}

/* F(t, y, (y - y0)/h), with y' left in s->bound.yp; false: no values */
static bool residual(dae_solver *s, double t, double h, const double *y0, const double *y,
                     double *f)
{
    for (int j = 0; j < s->bound.n; j++) s->bound.yp[j] = (y[j] - y0[j]) / h;
    return evaluate_residual(&s->bound.eval, t, y, s->bound.yp, f, &s->stats.residuals) ==
               EVAL_OK &&
           vector_finite(s->bound.n, f);
}

/* delta = -G^-1 f, and its size in tolerances; INFINITY: there is none */
static double correction(dae_solver *s, const double *f, double *delta)
{
    for (int j = 0; j < s->bound.n; j++) delta[j] = -f[j];
    if (iteration_solve(&s->bound.matrix, NULL, delta) != ITERATION_OK ||
        !vector_finite(s->bound.n, delta))
        return INFINITY;
    return norm_of(&s->bound.norm, delta, s->bound.norm.scale);
}

/* y += the largest half of delta behind which the next correction is shorter [Deu11 3.3]; f is F
 * there. False: there is none. */
static bool move(dae_solver *s, double t, double h, const double *delta, double size, double *f)
{
    double factor = 1.0;
    vector_axpy(s->bound.n, 1.0, delta, s->bound.y);
    for (int k = 0; k < HALVINGS; k++) {
        if (vector_finite(s->bound.n, s->bound.y) &&
            residual(s, t, h, s->bound.at_y, s->bound.y, f)) {
            double next = correction(s, f, s->bound.newton.delta);
            if (size <= CONVERGED || next <= (1.0 - 0.25 * factor) * size) return true;
        }
        factor *= 0.5;
        vector_axpy(s->bound.n, -factor, delta, s->bound.y);
    }
    return false;
}

/* The implicit Euler step from s->bound.at_y, by Newton's iteration from s->bound.y, in that. */
static bool solve(dae_solver *s, double t, double h)
{
    double *f = s->bound.work, *delta = s->bound.at_yp, cj = 1.0 / h;
    if (!residual(s, t, h, s->bound.at_y, s->bound.y, f)) return false;
    for (int k = 0; k < ITERATIONS; k++) {
        iteration *it = &s->bound.matrix;
        if (iteration_evaluate(it, t, s->bound.y, s->bound.yp, cj, fabs(h), s->bound.norm.weights,
                               f) != ITERATION_OK ||
            iteration_factor(it, cj, NULL) != ITERATION_OK)
            return false;
        double size = correction(s, f, delta);
        if (!isfinite(size) || !move(s, t, h, delta, size, f)) return false;
        if (size <= CONVERGED) return true;
    }
    return false;
}

/* s->bound.y = s->bound.at_y with states a time h later: beyond a jump by them the iteration has
 * algebraic variables alone to move, and no jump on its way. */
static void predict(dae_solver *s, double h)
{
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    vector_copy(s->bound.n, s->bound.at_y, s->bound.y);
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL) s->bound.y[j] += h * s->bound.at_yp[j];
}

/* Whether states are where they were, and no variable is near a pole; *moved: the algebraic
 * variable that moved most. */
static bool is_sound(const dae_solver *s, int *moved)
{
    const bool all = s->bound.options.error_test == DAE_ERROR_ALL; /* by name */
    double most = 0.0;
    for (int j = 0; j < s->bound.n; j++) {
        double change = fabs(s->bound.y[j] - s->bound.at_y[j]) / s->bound.norm.weights[j];
        const bool stays = all || s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL;
        if (stays && change > 2.0 * OF_TOLERANCE) return false;
        const bool known = s->bound.extent[j] > 0.0; /* by steps before */
        if (known && (jump_outgrown(s, j, s->bound.y[j]) || jump_outgrown(s, j, s->bound.at_y[j])))
            return false;
        if (s->bound.kinds[j] == DAE_KIND_DIFFERENTIAL || change <= most) continue;
        most = change;
        *moved = j;
    }
    return true;
}

/* Whether there is a solution beyond a step h, sought from values as they are or as predicted. */
static bool leads_beyond(dae_solver *s, double h, bool predicted, int *moved)
{
    const double t = s->run.t_new + h;
    predict(s, predicted ? h : 0.0);
    return solve(s, t, h) && is_sound(s, moved) && relations_agree(s, t);
}

/* Methods whose error test sees algebraic variables at the ends of all steps, or that give way to
 * one: where these move and states do not, as while a diode blocks, others may take steps over what
 * happens next. */
static bool looks_at_algebraic(const dae_solver *s)
{
    return s->bound.method->tests_algebraic || (s->bound.method->gives_way && s->wishes.open);
}

/* To the method that looks; the sizes of variables are known still. */
static bool other_method(dae_solver *s, const char *reason)
{
    int n = s->bound.n;
    double direction = s->run.direction,
           *extent = dae_copy(s->bound.extent, (size_t)n, sizeof *extent);
    bool changed = extent && change_method(s, reason) == DAE_OK;
    if (changed && s->bound.n == n) vector_copy(n, extent, s->bound.extent);
    s->run.direction = direction;
    dae_free(extent);
    return changed;
}

bool leap_over(dae_solver *s, dae_status failed, double tend)
{
    bool step = failed == DAE_ERR_CONVERGENCE || failed == DAE_ERR_ERROR_TEST ||
                failed == DAE_ERR_EVALUATION || failed == DAE_ERR_SINGULAR;
    if (!step || !looks_at_algebraic(s) || !applies(s)) return false;
    const eval_failure before = s->bound.eval.failure;
    s->run.leaps = s->stats.steps == s->run.leap_step ? s->run.leaps + 1 : 1;
    s->run.leap_step = s->stats.steps;
    if (s->run.leaps > IN_A_ROW) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    double direction = s->run.direction, most = find_length(s, s->bound.at_yp, tend);
    const double least = LONGER * 4.0 * DBL_EPSILON * fabs(s->run.t_new);
    double h = fmin(fmax(LONGER * fabs(s->run.last.h), least), fmax(most, least));
    int moved = -1;
    bool found = false;
    for (; h <= most && !found; h *= found ? 1.0 : LONGER)
        found = leads_beyond(s, direction * h, false, &moved) ||
                leads_beyond(s, direction * h, true, &moved);
    h *= direction;
    s->bound.eval.failure = before;
    if (!found) return false;
    if (moved >= 0) jump_tell(s, moved, s->run.t_new);
    dae_diag diag = s->diag;
    const double from = s->run.t_new;
    bool ready = solver_begin(s, from + h, DAE_INIT_NONE) == DAE_OK &&
                 (!s->hybrid || hybrid_ready(s) == DAE_OK);
    s->run.direction = direction;
    if (ready && s->bound.method->gives_way)
        ready = other_method(s, moved >= 0 ? "algebraic variables jump, so " : "radau failed, so ");
    solver_join(s, from);
    if (ready)
        diag_clear(&s->diag);
    else
        s->diag = diag;
    return ready;
}
