/* Folds: algebraic equations with several solutions.
 *
 * A comparator with positive feedback has two outputs for one input. Its solution stays on a branch
 * as long as that exists; where it folds back, the solution jumps to another branch. The steps lead
 * to the fold by themselves: beyond it they have no solution. What is done there is to look for
 * another solution of the algebraic equations, with the states as they are: along the direction in
 * which Newton's iteration wants to go, the nearest first. */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

enum { REACHES = 12 }; /* distances tried on either side, each REACH times the one before */
static const double REACH = 4.0, FIRST_REACH = 1e-3;
/* A solution is another one if a variable of it is this part of its size away. */
static const double OTHER = 1e-3;
/* A point beside it is this part away. */
static const double BESIDE = 1e-5;
/* A fold is located in so many attempts. */
enum { MOST_APPROACHES = 20 };
/* Two folds are at least this part of the time run so far apart, or it is the same one. */
static const double APART = 1e-7;

/* ---- to another one ---- */

/* The size of unknown i, for distances. */
static double size_of(const dae_solver *s, int i)
{
    double least =
        s->bound.options.rtol > 0.0 ? s->bound.norm.weights[i] / s->bound.options.rtol : 1.0;
    return fmax(fmax(fabs(s->hybrid->branch[i]), s->bound.extent[i]), least);
}

/* The algebraic unknown that is farthest from where it was; *far: by how much of its size. */
static int farthest(const dae_solver *s, double *far)
{
    int worst = -1;
    *far = 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        double d = fabs(s->bound.y[i] - s->hybrid->branch[i]) / size_of(s, i);
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL || !(d > *far)) continue;
        *far = d;
        worst = i;
    }
    return worst;
}

/* h->ahead - from, of algebraic unknowns, scaled to 1 in units of their sizes; whether there is
 * any. */
static bool take_direction(dae_solver *s, const double *from)
{
    hybrid *h = s->hybrid;
    double most = 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        bool moves = s->bound.kinds[i] != DAE_KIND_DIFFERENTIAL;
        h->ahead[i] = moves ? h->ahead[i] - from[i] : 0.0;
        most = fmax(most, fabs(h->ahead[i]) / size_of(s, i));
    }
    for (int i = 0; most > 0.0 && i < s->bound.n; i++) h->ahead[i] /= most;
    return most > 0.0 && isfinite(most);
}

/* The direction in which one correction a moment later goes: h->ahead. Where the matrix is singular
 * already, that in which the solution came. */
static bool find_direction(dae_solver *s, double t, double delta)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, h->branch, h->ahead);
    vector_copy(s->bound.n, h->branch_yp, h->ahead_yp);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * h->branch_yp[i];
    initializer_correct(s->bound.init, t + delta, delta, s->bound.kinds, s->bound.norm.weights,
                        h->ahead, h->ahead_yp);
    if (take_direction(s, h->branch)) return true;
    solver_interpolate(s, s->run.t_old, 0, h->track);
    vector_copy(s->bound.n, h->branch, h->ahead);
    return take_direction(s, h->track);
}

/* Whether one more correction leaves s->bound.y where it is. On the way to a double root, as of q
 * |q| = 0, corrections halve for ever, and what is near enough to pass is no solution. */
static bool is_settled(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    vector_copy(s->bound.n, s->bound.y, h->ahead);
    vector_copy(s->bound.n, s->bound.yp, h->ahead_yp);
    initializer_correct(s->bound.init, t, s->run.last.h, s->bound.kinds, s->bound.norm.weights,
                        h->ahead, h->ahead_yp);
    for (int i = 0; i < s->bound.n; i++)
        if (!(fabs(h->ahead[i] - s->bound.y[i]) <= s->bound.norm.weights[i])) return false;
    return true;
}

/* Whether one correction leads back to the solution in s->bound.y from a point beside it. Where
 * equations are flat, as exp(y) = 0 is far on the negative side, anything meets them and nothing is
 * a solution. */
static bool is_isolated(dae_solver *s, double t, const double *direction)
{
    hybrid *h = s->hybrid;
    double off = 0.0, left = 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        h->ahead[i] = s->bound.y[i] + BESIDE * direction[i];
        off = fmax(off, fabs(h->ahead[i] - s->bound.y[i]) / size_of(s, i));
    }
    vector_copy(s->bound.n, s->bound.yp, h->ahead_yp);
    initializer_correct(s->bound.init, t, s->run.last.h, s->bound.kinds, s->bound.norm.weights,
                        h->ahead, h->ahead_yp);
    for (int i = 0; i < s->bound.n; i++)
        left = fmax(left, fabs(h->ahead[i] - s->bound.y[i]) / size_of(s, i));
    return left <= 0.25 * off;
}

/* Solve from `reach` along the direction; whether that is another solution. */
static bool solve_from(dae_solver *s, double t, double reach, const double *direction)
{
    hybrid *h = s->hybrid;
    double far;
    for (int i = 0; i < s->bound.n; i++) s->bound.y[i] = h->branch[i] + reach * direction[i];
    vector_copy(s->bound.n, h->branch_yp, s->bound.yp);
    if (initialize(s->bound.init, DAE_INIT_DIFFERENTIAL, t, s->run.last.h, s->bound.kinds,
                   s->bound.norm.weights, s->bound.y, s->bound.yp, &s->diag) != DAE_OK)
        return false;
    return farthest(s, &far) >= 0 && far > OTHER && is_settled(s, t) &&
           is_isolated(s, t, direction);
}

/* Another solution at t into s->bound.y and s->bound.yp; whether there is one. */
static bool find_other(dae_solver *s, double t)
{
    double delta = s->run.direction * 1e-9 * fmax(fabs(t), fabs(t - s->hybrid->started));
    double *direction = s->hybrid->track_yp;
    bool found = find_direction(s, t, delta);
    if (found) vector_copy(s->bound.n, s->hybrid->ahead, direction);
    double reach = FIRST_REACH;
    bool other = false;
    for (int k = 0; found && !other && k < REACHES; k++, reach *= REACH)
        other = solve_from(s, t, reach, direction) || solve_from(s, t, -reach, direction);
    return other;
}

static void tell_fold(dae_solver *s)
{
    double far;
    const model_form *f = s->hybrid->instance->form;
    int i = farthest(s, &far), v = i >= 0 ? f->unknown_variable[i] : -1;
    char text[400];
    if (s->hybrid->fold_reported || v < 0) return;
    s->hybrid->fold_reported = true;
    snprintf(text, sizeof text,
             "note: %.100s:%d: %.100s jumps from %.6g to %.6g at t = %.9g: its equations have "
             "several solutions, and the one it was on ends there.",
             model_file(s), f->flat->variables[v].place.line, problem_variable(s->bound.problem, i),
             s->hybrid->branch[i], s->bound.y[i], s->run.t);
    solver_note(s, text);
}

/* ---- where it ends ---- */

/* Whether the branch of the last step has a solution at t; h->ahead: that. */
static bool branch_reaches(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double step = s->run.t_new - s->run.t_old;
    solver_interpolate(s, t, 0, h->ahead);
    solver_interpolate(s, t, 1, h->ahead_yp);
    vector_copy(s->bound.n, h->ahead, h->branch);
    if (initializer_project(s->bound.init, t, step != 0.0 ? step : 1e-9, s->bound.kinds,
                            s->bound.norm.weights, h->ahead, h->ahead_yp) != EVAL_OK)
        return false;
    if (!points_agree(s->bound.n, s->bound.norm.weights, h->ahead, h->branch, SAME_POINT))
        return false;
    vector_copy(s->bound.n, h->ahead, h->branch);
    vector_copy(s->bound.n, h->ahead_yp, h->branch_yp);
    initializer_correct(s->bound.init, t, step != 0.0 ? step : 1e-9, s->bound.kinds,
                        s->bound.norm.weights, h->ahead, h->ahead_yp);
    return points_agree(s->bound.n, s->bound.norm.weights, h->ahead, h->branch, 1.0);
}

/* The last step may have gone beyond the fold by what its tolerance allows: the last time up to
 * which the branch reaches, with the solution there in h->branch. */
static double branch_end(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double near = s->run.t_old, far = s->run.t_new, end = s->run.t_new;
    bool whole = branch_reaches(s, far);
    for (int k = 0; !whole && k < 60; k++) {
        double middle = near + 0.5 * (far - near);
        if (middle == near || middle == far) break;
        if (branch_reaches(s, middle))
            near = middle;
        else
            far = middle;
    }
    if (!whole && branch_reaches(s, near)) end = near;
    if (whole || end == near) {
        vector_copy(s->bound.n, h->ahead, h->branch);
        vector_copy(s->bound.n, h->ahead_yp, h->branch_yp);
        return end;
    }
    solver_interpolate(s, end, 0, h->branch);
    solver_interpolate(s, end, 1, h->branch_yp);
    return end;
}

/* Whether a failure may be that of a step beyond a fold. */
static bool may_be_fold(const dae_solver *s, dae_status status)
{
    const hybrid *h = s->hybrid;
    bool failed = status == DAE_ERR_SINGULAR || status == DAE_ERR_CONVERGENCE ||
                  status == DAE_ERR_ERROR_TEST || status == DAE_ERR_STALL;
    bool same = fabs(s->run.t_new - h->fold) <= APART * fabs(s->run.t_new - h->started);
    return failed && !same && s->run.phase == PHASE_RUNNING && branch_is_index_one(s) &&
           !steps_are_given(&s->bound.options);
}

/* Go on from t with the values in s->bound.y and s->bound.yp. */
static bool go_on(dae_solver *s, double t)
{
    double direction = s->run.direction;
    s->run.t = t;
    if (hybrid_begin_again(s) != DAE_OK) return false;
    diag_clear(&s->diag);
    s->run.direction = direction;
    crowd_keep_point(s, t);
    return true;
}

/* The last step passed the fold: come closer to it from before, with shorter ones. What is no
 * longer on the branch, by the sign of a determinant, is not before it. */
static bool approach(dae_solver *s, double end)
{
    hybrid *h = s->hybrid;
    double beyond = fabs(s->run.t_new - end), step = fabs(s->run.t_new - s->run.t_old);
    if (h->approaches >= MOST_APPROACHES ||
        beyond <= CLOSE_TO_FOLD * fabs(s->run.t_new - h->started))
        return false;
    if (!rank_watch_agrees(s, end, h->branch, h->branch_yp)) return false;
    h->approaches++;
    vector_copy(s->bound.n, h->branch, s->bound.y);
    vector_copy(s->bound.n, h->branch_yp, s->bound.yp);
    if (!go_on(s, end)) return false;
    h->first_step = step / 16.0;
    return true;
}

/* Go on at t, where the branch of h->branch ends, on another one. */
static bool jump_at(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    dae_diag said = s->diag;
    if (!find_other(s, t)) {
        s->diag = said;
        return false;
    }
    h->fold = s->run.t = t;
    h->approaches = 0;
    tell_fold(s);
    return go_on(s, t);
}

/* Whether the branch of h->branch goes on after t: there is a solution beside it a time later that
 * is long against what a fold is located to. A step that failed there has failed for another
 * reason, as rounding. */
static bool branch_goes_on(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const double delta = s->run.direction * APART * fabs(t - h->started);
    if (delta == 0.0) return false;
    vector_copy(s->bound.n, h->branch, h->ahead);
    vector_copy(s->bound.n, h->branch_yp, h->ahead_yp);
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * h->branch_yp[i];
    if (initializer_project(s->bound.init, t + delta, delta, s->bound.kinds, s->bound.norm.weights,
                            h->ahead, h->ahead_yp) != EVAL_OK)
        return false;
    for (int i = 0; i < s->bound.n; i++)
        if (!(fabs(h->ahead[i] - h->branch[i]) <= OTHER * size_of(s, i))) return false;
    return true;
}

bool hybrid_fold(dae_solver *s, dae_status status)
{
    if (!may_be_fold(s, status)) return false;
    double end = branch_end(s);
    return approach(s, end) || (!branch_goes_on(s, end) && jump_at(s, end));
}

bool hybrid_fold_passed(dae_solver *s, dae_status status)
{
    hybrid *h = s->hybrid;
    double t = s->diag.t;
    bool within = (t - s->run.t_old) * s->run.direction >= 0.0 &&
                  (s->run.t_new - t) * s->run.direction >= 0.0;
    if (!h->branch_ended || !within || !may_be_fold(s, status)) return false;
    h->fold_ahead = t;
    h->fold_step = s->stats.steps;
    h->fold_reason = s->diag;
    diag_clear(&s->diag);
    return true;
}

double hybrid_fold_ahead(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    if (!h || h->fold_step == 0 || h->fold_step != s->stats.steps) return NAN;
    bool within = s->run.phase == PHASE_RUNNING &&
                  (h->fold_ahead - s->run.t) * s->run.direction >= 0.0 &&
                  (s->run.t_new - h->fold_ahead) * s->run.direction >= 0.0;
    return within ? h->fold_ahead : (double)NAN;
}

dae_status hybrid_fold_now(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double t = h->fold_ahead;
    h->fold_step = 0;
    solver_interpolate(s, t, 0, h->branch);
    solver_interpolate(s, t, 1, h->branch_yp);
    if (jump_at(s, t)) return DAE_STEPPED;
    s->diag = h->fold_reason;
    return s->diag.status;
}
