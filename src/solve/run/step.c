/* The driver loop: attempt, decide, accept, look for events, report. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/begin/declared_kinds.h"
#include "solve/explain/explain.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"
#include "solve/watch/watch.h"

static eval_status interpolate_for_events(void *context, double t, double *y, double *yp)
{
    const dae_solver *s = context;
    solver_interpolate(s, t, 0, y);
    if (yp) solver_interpolate(s, t, 1, yp);
    return EVAL_OK;
}

/* ---- one accepted step --------------------------------------------------------------------- */

static dae_step_result result_of(const attempt *a, bool accepted)
{
    switch (a->status) {
    case ATTEMPT_OK: return accepted ? DAE_STEP_ACCEPTED : DAE_STEP_ERROR_TEST;
    case ATTEMPT_EVALUATION: return DAE_STEP_EVALUATION;
    case ATTEMPT_BOUND: return DAE_STEP_BOUND;
    case ATTEMPT_SINGULAR: return DAE_STEP_SINGULAR;
    default: return DAE_STEP_CONVERGENCE;
    }
}

/* The variable that dominated the error estimate, or the last Newton correction; -1 if none. */
static int dominant_variable(const dae_solver *s, const attempt *a)
{
    if (a->status == ATTEMPT_OK && !a->estimate) return -1;
    if (a->status == ATTEMPT_OK)
        return vector_argmax(s->bound.n, a->estimate, a->scale ? a->scale : s->bound.norm.tested);
    if (a->reason) return a->variable;
    if (a->status == ATTEMPT_BOUND) return s->bound.newton.bound_variable;
    if (a->status == ATTEMPT_SINGULAR) return s->bound.matrix.singular_column;
    if (s->bound.newton.iterations == 0) return -1;
    return vector_argmax(s->bound.n, s->bound.newton.delta, s->bound.norm.newton);
}

static void tell_monitor(const dae_solver *s, const attempt *a, bool accepted)
{
    if (!s->bound.options.monitor) return;
    dae_step_info info = {.size = sizeof info,
                          .result = result_of(a, accepted),
                          .t = a->t,
                          .h = a->h,
                          .order = a->order,
                          .error = a->status == ATTEMPT_OK ? a->error : NAN,
                          .newton_iterations = s->bound.newton.iterations,
                          .convergence_rate = s->bound.newton.rate,
                          .variable = user_unknown(s, dominant_variable(s, a))};
    s->bound.options.monitor(&info, s->bound.options.user);
}

static void count_rejection(dae_stats *stats, const attempt *a)
{
    switch (a->status) {
    case ATTEMPT_OK: stats->rejected_error++; break;
    case ATTEMPT_EVALUATION: stats->rejected_evaluation++; break;
    case ATTEMPT_BOUND: stats->rejected_bound++; break;
    case ATTEMPT_SINGULAR: stats->rejected_singular++; break;
    default: stats->rejected_convergence++; break;
    }
}

/* The highest order that method and options allow. */
static int most_order(const dae_solver *s)
{
    return method_run_order(s->bound.method, &s->bound.options);
}

/* Methods that repeat a source to the letter have its errors. DASSL's are larger than ours: after a
 * first step that failed, say, its error test still counts with the length of that one. */
static void note_source(const dae_solver *s)
{
    const method *m = s->bound.method;
    char text[300];
    if (!(m->dassl || m->raw_output) || s->run.control.fixed || s->stats.attempts > 0) return;
    snprintf(text, sizeof text, "note: %s takes the steps of %s. For results choose %s.", m->name,
             m->dassl ? "DASSL, to compare with: its errors are DASSL's, and may be thousands of "
                        "tolerances"
                      : "a thesis, to compare with: values between them are those of its "
                        "polynomials, which nothing checks",
             m->dassl ? "bdf without a variant" : "the method without its variant");
    solver_note(s, text);
}

/* A formula for equal steps has others done by its starting method. */
static void note_uneven(const dae_solver *s)
{
    const dae_options *o = &s->bound.options;
    char text[300];
    if (!s->bound.method->equal_steps || o->formula_steps == 1 || s->stats.attempts > 0) return;
    int i = sequence_uneven(o, s->run.t);
    if (i < 0) return;
    snprintf(text, sizeof text,
             "note: %s is for steps of one length: the step to t = %.9g has another one than that "
             "before. Such steps, and those behind them until there are enough equal ones, are "
             "done by lobattoc:6.",
             s->bound.method->name, o->step_sequence[i]);
    solver_note(s, text);
}

/* Start the method where the solver is ready, towards tend. */
static void start_method(dae_solver *s, double tend)
{
    double h = solver_first_step(s, tend);
    start_point at = {.t = s->run.t,
                      .h = h,
                      .y = s->bound.y,
                      .yp = s->bound.yp,
                      .history = s->run.history,
                      .past_t = s->run.past_t,
                      .past_y = s->run.past_y};
    int order = s->run.history > 1 ? s->run.history - 1 : 1;
    if (order > most_order(s)) order = most_order(s);
    s->bound.context.fixed_steps = steps_are_given(&s->bound.options);
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    rank_watch_restart(s);
    s->bound.cache_used = true;
    if (s->bound.method->fixed_order)
        control_start_one_step(&s->run.control, h, most_order(s), &s->bound.options);
    else
        control_start(&s->run.control, h, order, &s->bound.options, most_order(s));
    if (newton_matrix_is_cheap(&s->bound.newton)) s->run.control.least_growth = 1.3;
    if (s->run.resumption.tried > 0.0) s->run.control.first = false; /* its size is no guess */
    s->run.control.dassl = s->bound.method->dassl;
    s->run.control.literal = s->bound.method->own_steps && !s->run.control.fixed;
    s->run.stiffness = (stiffness){0};
    note_source(s);
    note_uneven(s);
    s->stats.h0 = h;
    s->run.direction = h > 0.0 ? 1.0 : -1.0;
    s->run.phase = PHASE_RUNNING;
    keep_start(s);
    if (s->hybrid) hybrid_seek_seam(s);
    if (s->hybrid) hybrid_bind_forcing(s);
}

/* The stop time, or the next time event of a model if that comes first; NAN: none. */
static double stop_limit(const dae_solver *s)
{
    double stop = solver_stop_time(s);
    double next = s->hybrid && s->run.direction > 0.0 ? hybrid_next_stop(s) : INFINITY;
    if (s->hybrid) next = fmin(next, hybrid_next_seam(s->hybrid));
    return next < (isnan(stop) ? INFINITY : stop) ? next : stop;
}

/* By how much a step may be stretched to meet the stop time: constant steps add up to it within one
 * unit of rounding each, and the rest is no step of its own. */
static double stretch(const dae_solver *s, double h, double stop)
{
    double sum = s->run.control.fixed ? (double)s->stats.steps * DBL_EPSILON * fabs(stop) : 0.0;
    return fmin(fmax(1e-9 * fabs(h), sum), 0.1 * fabs(h));
}

/* Never beyond the stop time; a step that nearly reaches it is stretched or halved to meet it,
 * unless the method's own control is to hold. */
static double limit_to_stop_time(const dae_solver *s, double h)
{
    double stop = stop_limit(s), rest = stop - s->run.t_new;
    if (isnan(rest)) return h;
    if (fabs(h) + stretch(s, h, stop) >= fabs(rest)) {
        bool rounds_beyond = (s->run.t_new + rest - stop) * rest > 0.0;
        return rounds_beyond ? nextafter(rest, 0.0) : rest;
    }
    if (s->run.control.fixed || s->run.control.literal || s->bound.method->dassl) return h;
    double part = s->hybrid ? GOLDEN : 0.5;
    return fabs(h) > part * fabs(rest) ? part * rest : h;
}

/* Smaller steps do not move t for sure, or are below the user's limit. */
static double least_step(const dae_solver *s)
{
    return fmax(4.0 * DBL_EPSILON * fabs(s->run.t_new), s->bound.options.min_step);
}

/* After a failure smaller steps are not tried. DASSL counts with the end, too [BCP96 5.2.3]; steps
 * that do not fail may be shorter than that. */
static double least_retry(const dae_solver *s)
{
    double least = least_step(s);
    return s->bound.method->dassl ? fmax(least, 4.0 * DBL_EPSILON * fabs(s->run.goal)) : least;
}

/* What delayed values allow. */
static double longest_step(const dae_solver *s)
{
    return s->hybrid ? hybrid_longest_step(s) : INFINITY;
}

/* A step that is given, or the shortest there is, is longer than that. */
static dae_status explain_long_step(dae_solver *s, double h)
{
    return diag_set(
        &s->diag, DAE_ERR_ARGUMENT,
        "The step of %g from t = %.9g is longer than a delay of the model, %g: it would "
        "read what has not been computed yet. Give shorter steps, or leave them to the "
        "method.",
        fabs(h), s->run.t_new, longest_step(s));
}

/* What control or the user's sequence asks for, made large enough to move t. */
static double next_step(const dae_solver *s)
{
    double h = s->run.control.h, least = least_step(s);
    if (s->bound.options.step_count > 0)
        h = sequence_step(&s->bound.options, s->run.t_old, s->run.t_new, s->run.direction);
    if (fabs(h) > longest_step(s) && !steps_are_given(&s->bound.options))
        h = copysign(longest_step(s), h);
    if (fabs(h) < least && !s->run.control.fixed) h = copysign(least, h);
    return limit_to_stop_time(s, h);
}

static bool step_too_small(const dae_solver *s, double h)
{
    return fabs(h) < least_retry(s) || s->run.t_new + h == s->run.t_new;
}

static const char *smallness_text(const dae_solver *s)
{
    const double least = least_retry(s);
    if (least > least_step(s)) return "the next one would be below DASSL's 4 u |tend|";
    bool by_user = s->bound.options.min_step > 0.0 && least == s->bound.options.min_step;
    return by_user ? "the next one would be below min_step"
                   : "the step size would become too small";
}

static bool too_many_failures(const dae_solver *s)
{
    return s->run.control.error_failures >= s->bound.options.max_error_failures ||
           s->run.control.other_failures >= s->bound.options.max_convergence_failures;
}

/* Which limit ends the attempts at a step. */
static const char *limit_text(const dae_solver *s)
{
    return too_many_failures(s) ? "too many failures in one step" : smallness_text(s);
}

static bool is_stuck(const dae_solver *s)
{
    return too_many_failures(s) || step_too_small(s, s->run.control.h);
}

/* A fixed step that is lost in the rounding of t. */
static dae_status explain_lost_step(dae_solver *s, double h)
{
    return diag_set(
        &s->diag, DAE_ERR_ARGUMENT,
        "A fixed step of %g does not move t = %.17g: numbers there are %g apart. Take a "
        "longer step (fixed_step, --fixed-step), or shift the time.",
        fabs(h), s->run.t_new, nextafter(fabs(s->run.t_new), INFINITY) - fabs(s->run.t_new));
}

/* One attempt; false: it was interrupted, and nothing of it is left. Its end must have a value:
 * what a method computes last may lie where the equations have none, and F tells which of them. */
static bool attempt_once(dae_solver *s, double h, attempt *a)
{
    newton_guard guard;
    gmres_begin_attempt(s);
    newton_guard_open(&s->bound.newton, &guard);
    s->bound.context.look_at_stability =
        !s->run.control.fixed &&
        stiffness_due(&s->run.stiffness, s->stats.steps - s->run.before, s->wishes.open);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h,
                             s->run.control.order, a);
    if (newton_guard_close(&s->bound.newton, &guard)) return false;
    if (s->stop.code < 0 && a->status < ATTEMPT_UNSUPPORTED) {
        a->status = ATTEMPT_STOP;
        s->bound.eval.failure = s->stop;
    }
    if (a->status != ATTEMPT_OK) return true;
    if (vector_finite(s->bound.n, a->y)) {
        a->status = step_end_look(s, a);
        return true;
    }
    a->status = ATTEMPT_EVALUATION;
    evaluate_residual(&s->bound.eval, a->t + a->h, a->y, a->yp, s->bound.work, &s->stats.residuals);
    return true;
}

/* Whether it was rounding that made the last attempt fail, by its largest error or correction, and
 * the tolerances could be raised to what it permits. Callbacks are asked only where a run would
 * end: shorter steps may cost less than their evaluations. */
static bool raises_tolerances(dae_solver *s, double tend)
{
    if (!s->modes) return false;
    const dae_diag said = s->diag;
    const attempt *a = &s->run.last;
    const bool iterates = a->status == ATTEMPT_CONVERGENCE;
    const double *off = iterates ? s->bound.newton.delta : a->estimate;
    const double *scale = iterates ? s->bound.norm.newton : s->bound.norm.tested;
    if (!off || (!iterates && a->status != ATTEMPT_OK)) return false;
    const int i = vector_argmax(s->bound.n, off, scale);
    const double error = fabs(off[i]) * (iterates ? 1.0 : a->error_constant);
    const bool held = rounding_hides(s, tend, s->run.tried, i, error) == ROUNDING_HELD;
    if (!held) s->diag = said;
    return held;
}

/* Failures of one step after which rounding is looked at. */
enum { SUSPICIOUS = 2 };

/* Whether steps fail since nothing but rounding determines some variables; these are held now, and
 * the step is tried again. */
static bool goes_on_held(dae_solver *s, bool held)
{
    if (!held) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.yp);
    /* lest a method go on with derivatives without the terms */
    (void)iteration_evaluate(&s->bound.matrix, s->run.t_new, s->bound.y, s->bound.yp,
                             1.0 / s->run.tried, s->run.tried, s->bound.norm.weights, NULL);
    newton_reset(&s->bound.newton);
    s->run.control.h = s->run.tried;
    s->run.control.error_failures = s->run.control.other_failures = 0;
    return true;
}

/* Whether Newton's iteration failed for rounding, and may be tried again with the step that failed
 * first. That is asked once in a step, before much shorter steps bring about noise of their own:
 * what inductors and capacities do to it goes with 1/h. */
static bool newton_met_noise(dae_solver *s, const attempt *a)
{
    if (a->status != ATTEMPT_CONVERGENCE || s->run.control.other_failures != SUSPICIOUS)
        return false;
    if (!raises_tolerances(s, s->run.goal)) return false;
    s->run.control.h = s->run.tried;
    return true;
}

/* GMRES is about to be replaced: nobody reads it, unless that fails, too. */
static dae_status explain_gmres(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_CONVERGENCE, "GMRES does not converge at t = %.9g.",
                    s->run.t_new);
}

/* Failures have taken the order from `before` to 1: of a second order form the polynomial through x
 * has the velocity to O(H^2) then, H being the step before, however short the next one is. The
 * method starts from x, x', x'' where it stands, and control goes on. */
static void begin_anew(dae_solver *s, int before)
{
    const step_control *c = &s->run.control;
    if (!s->bound.method->anew_at_one || before <= 1 || c->order > 1 || c->min_order > 1) return;
    solver_interpolate(s, s->run.t_new, 0, s->bound.y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.yp);
    start_point at = {.t = s->run.t_new, .h = c->h, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
}

/* Whether an attempt that passes its test has not seen what functions of time do within it. The
 * next one is shorter. */
static bool is_blind(dae_solver *s, const attempt *a)
{
    const double seen = s->hybrid ? hybrid_seen_step(s, a) : a->h;
    if (seen == a->h || !(fabs(seen) > least_retry(s))) return false;
    s->stats.rejected_error++;
    control_shorten(&s->run.control, seen);
    s->bound.newton.stale = true; /* derivatives may be those of the end */
    return true;
}

/* Try until an attempt passes; on DAE_OK s->run.last holds it. */
static dae_status attempt_until_accepted(dae_solver *s)
{
    attempt *a = &s->run.last;
    s->run.evaluation_first = false;
    /* values at tend are between steps unless the stop time cuts them */
    s->bound.context.between = s->wishes.open && isnan(solver_stop_time(s));
    int failures = 0;
    for (bool first = true;; first = false) {
        if (s->bound.options.interrupt && s->bound.options.interrupt(s->bound.options.user) != 0)
            return explain_interrupt(s);
        double h = next_step(s);
        if (s->run.control.fixed && s->run.t_new + h == s->run.t_new)
            return explain_lost_step(s, h);
        if (fabs(h) > longest_step(s) * (1.0 + 2e-9)) /* a stop time may stretch it */
            return explain_long_step(s, h);
        if (first) s->run.tried = h;
        if (!attempt_once(s, h, a)) return explain_interrupt(s);
        if (a->status >= ATTEMPT_UNSUPPORTED) return explain_fatal(s, a);
        s->stats.attempts++;
        bool accepted = a->status == ATTEMPT_OK && (a->error <= 1.0 || s->run.control.fixed);
        const bool blind = accepted && is_blind(s, a);
        tell_monitor(s, a, accepted && !blind);
        if (blind) continue;
        bool lost = accepted && s->hybrid && !hybrid_on_branch(s, a->h, a->y, a->yp);
        const bool ends = accepted && !lost;
        const bool held =
            ends && !s->run.control.fixed && goes_on_held(s, undetermined_ahead(s, a));
        if (ends && !held && a->status == ATTEMPT_OK) return DAE_OK;
        if (held) {
            count_rejection(&s->stats, a);
            continue;
        }
        if (lost) a->error = 16.0; /* a shorter step stays on its branch */
        count_rejection(&s->stats, a);
        if (first) s->run.evaluation_first = a->status == ATTEMPT_EVALUATION;
        if (s->run.control.fixed) return explain_rejections(s, a, "the step size is fixed");
        if (gmres_gives_up(s, a)) return explain_gmres(s);
        if (++failures == SUSPICIOUS && goes_on_held(s, undetermined_hold(s))) continue;
        bool jumps = !lost && a->status == ATTEMPT_OK && !s->bound.method->dassl;
        jump_result jump = jumps ? jump_exempt(s, a) : JUMP_NONE;
        if (jump == JUMP_AGAIN) continue;
        if (jump == JUMP_NONE) {
            control_reject(&s->run.control, a);
            begin_anew(s, a->order);
        }
        if (jump == JUMP_NONE && jumps && is_stuck(s)) jump = jump_last_resort(s, a);
        if (jump == JUMP_ROUNDING) return explain_growth(s, DAE_ERR_TOLERANCE);
        if (jump == JUMP_AGAIN) {
            s->run.control.h = a->h;
            s->run.control.error_failures = 0;
            continue;
        }
        if (newton_met_noise(s, a) || !is_stuck(s)) continue;
        dae_status status = hybrid_explain_lag(s, explain_rejections(s, a, limit_text(s)));
        return lost ? hybrid_explain_lost(s, status) : status;
    }
}

/* Whether accepted steps get anywhere. */
static void note_progress(dae_solver *s, const attempt *a, double tend)
{
    s->run.stall.unstable = s->bound.method->forms == FORM_SERIES;
    stall_note(&s->run.stall, a, &s->bound.norm, tend, s->stats.attempts - s->stats.steps - 1);
}

/* Commit the attempt and choose what comes next. */
static dae_status accept_step(dae_solver *s, double tend)
{
    const attempt *a = &s->run.last;
    refine_note_start(s);
    s->bound.method->accept(s->bound.state, s->bound.scratch, &s->bound.context);
    s->run.t_old = s->run.t_new;
    s->run.t_new = a->t + a->h;
    control_accept(&s->run.control, a);
    solver_note_resumed(s);
    stiffness_note(&s->run.stiffness, a->stability);
    bool cut = s->run.t_new == stop_limit(s) || fabs(a->h) == s->bound.options.max_step ||
               fabs(a->h) >= longest_step(s);
    if (!s->run.control.fixed && !cut) note_progress(s, a, tend);
    norm_step_done(&s->bound.norm);
    if (s->hybrid) hybrid_accept_forcing(s);
    jump_note(s);
    unwatched_note(s);
    threads_note(s);
    gmres_note_step(s);
    fallback_note_step(s);
    s->stats.steps++;
    s->stats.t = s->run.t_new;
    s->stats.last_order = a->order;
    s->stats.last_h = a->h;
    s->stats.order = a->next_order > 0 ? a->next_order : s->run.control.order;
    s->stats.h = s->bound.options.step_count > 0 ? next_step(s) : s->run.control.h;
    monitors_note(s, s->run.t_new, a->y, a->yp);
    keep_point(s);
    /* not before the step is looked at */
    s->run.watch_due = binding_second_order(&s->bound) || s->bound.rewritten ||
                       s->bound.method->own_pattern || has_chosen_positions(s);
    dae_status status = s->run.watch_due ? DAE_OK : watch_formulated(s);
    return status == DAE_OK ? solver_update_weights(s, s->run.t_new, a->y) : status;
}

/* Before a step: where other states are chosen and what the method keeps is of no more use (it
 * works on the second order form, or the unknowns have another meaning), it starts anew. */
static dae_status watch_states(dae_solver *s, double tend)
{
    long before = s->bound.choices + (s->modes ? s->modes->choices : 0);
    s->run.watch_due = false;
    dae_status status = s->bound.rewritten ? forms_choose(s, s->run.t, false) : watch_formulated(s);
    long after = s->bound.choices + (s->modes ? s->modes->choices : 0);
    if (status != DAE_OK || after == before) return status;
    if (s->run.phase == PHASE_READY) { /* in the unknowns of another choice of positions */
        status = s->hybrid ? hybrid_ready(s) : DAE_OK;
        if (status == DAE_OK) start_method(s, tend);
        return status;
    }
    if (!s->bound.rewritten) {
        vector_copy(s->bound.n, s->run.last.y, s->bound.y);
        vector_copy(s->bound.n, s->run.last.yp, s->bound.yp);
    }
    if (binding_second_order(&s->bound) && !s->bound.context.second)
        return second_find(s, s->run.t); /* it says so */
    start_method(s, tend);
    return DAE_OK;
}

/* ---- where the solver stands ---------------------------------------------------------------- */

/* The stop time, and the end of a prescribed step, count as reached when all but rounding errors
 * are behind. */
static bool reached(const dae_solver *s, double t, double goal)
{
    bool exact = goal == solver_stop_time(s) || s->bound.options.step_count > 0;
    bool there = exact && fabs(t - goal) <= time_slack(s);
    return there || (t - goal) * s->run.direction >= 0.0;
}

static double direction_to(const dae_solver *s, double tend)
{
    return s->run.direction != 0.0 ? s->run.direction : (tend >= s->run.t ? 1.0 : -1.0);
}

/* tend, or the stop time if that comes first */
static double effective_end(const dae_solver *s, double tend)
{
    double stop = solver_stop_time(s); /* NAN: no comparison holds */
    return (tend - stop) * direction_to(s, tend) > 0.0 ? stop : tend;
}

/* Look for the next event up to `to`. Where g cannot be evaluated look half as far ahead: what lies
 * beyond an event may be out of the model's reach. A failure that does not come again is over; one
 * that does is approached by halves. */
static eval_status search_events(dae_solver *s, double to, bool *found, bool *interrupted)
{
    enum { MOST_CUTS = 20 };
    double reach = to, beyond = to; /* there g has no value, once a search has failed */
    int cuts = 0, failures = 0;
    *found = false;
    while (!*found && (to - s->run.searched) * s->run.direction > 0.0) {
        if (s->hybrid && s->hybrid->delays) /* a step may pass over many turns of the past */
            reach = fmin(reach, hybrid_next_piece(s->hybrid, s->run.searched));
        double when = reach;
        eval_status status =
            event_finder_search(s->bound.events, interpolate_for_events, s, reach, found, &when);
        if (status == EVAL_OK && !*found && event_finder_time(s->bound.events) != reach) {
            s->run.searched = event_finder_time(s->bound.events);
            *interrupted = s->bound.options.interrupt &&
                           s->bound.options.interrupt(s->bound.options.user) != 0;
            if (*interrupted) return EVAL_STOP;
            continue; /* pieces are many */
        }
        failures += status == EVAL_RETRY;
        bool cut = status == EVAL_RETRY || failures > 1 || reach == s->run.searched;
        if (status == EVAL_STOP || (cut && ++cuts > MOST_CUTS)) return status ? status : EVAL_RETRY;
        if (status == EVAL_OK) s->run.searched = *found ? when : reach;
        if (status == EVAL_RETRY) beyond = reach;
        reach = cut ? s->run.searched + 0.5 * (beyond - s->run.searched) : to;
    }
    return EVAL_OK;
}

/* A model's events are reported where they are found, and their update comes with the next call;
 * up to `from` all was reported before. */
static dae_status advance_model(dae_solver *s, double from, bool found, bool ends)
{
    hybrid *h = s->hybrid;
    if (!found && s->run.t == s->run.t_new) { /* what comes back then may have turned out smooth */
        dae_status recorded = delays_record(s);
        if (recorded != DAE_OK) return recorded;
    }
    double next = s->run.direction > 0.0 ? hybrid_next_time(h) : INFINITY;
    if (found && !hybrid_relation_changes(s)) {
        hybrid_forget_crossings(s);
        dae_status status = hybrid_check_watches(s);
        return status == DAE_OK ? DAE_STEPPED : status;
    }
    if (found && hybrid_take_back(s)) return DAE_STEPPED;
    if (found) {
        bool again = false;
        dae_status status = hybrid_refute(s, &again);
        if (status != DAE_OK || again) return status == DAE_OK ? DAE_STEPPED : status;
    }
    if (found && !hybrid_polish(s, from)) {
        hybrid_forget_crossings(s);
        return DAE_STEPPED;
    }
    if (found)
        h->pending = EVENT_CROSSING;
    else if (s->run.t >= next - time_slack(s))
        h->pending = EVENT_SAMPLE;
    if (h->pending) return DAE_EVENT;
    if (s->run.t == s->run.t_new) {
        dae_status status = hybrid_check(s, s->run.t, s->run.last.y, s->run.last.yp);
        if (status != DAE_OK) return status;
    }
    return ends ? DAE_OK : DAE_STEPPED;
}

/* The next time event within the step before `to`, which did not end there; else `to`. */
static double clock_before(const dae_solver *s, double to)
{
    if (!s->hybrid || s->run.direction < 0.0) return to;
    return fmin(to, fmax(hybrid_next_time(s->hybrid), s->run.t));
}

/* Move to the next event in the unreported part of the last step, to tend, or to its end. */
static dae_status advance_within_step(dae_solver *s, double tend)
{
    const double fold = hybrid_fold_ahead(s), last = isnan(fold) ? s->run.t_new : fold;
    bool ends = reached(s, last, tend), found = false, interrupted = false;
    const double goal = ends ? tend : last, to = clock_before(s, goal), from = s->run.t;
    ends = ends && to == goal;
    eval_status status = s->bound.events ? search_events(s, to, &found, &interrupted) : EVAL_OK;
    if (status != EVAL_OK) {
        s->run.t = s->run.searched;
        return interrupted ? explain_interrupt(s) : explain_events(s, status);
    }
    s->run.t = found ? s->run.searched : to;
    if (s->hybrid) return advance_model(s, from, found, ends);
    if (found && event_finder_terminal(s->bound.events)) s->run.phase = PHASE_ENDED;
    if (found) return DAE_EVENT;
    return ends ? DAE_OK : DAE_STEPPED;
}

/* Calls out of order and impossible goals. */
static dae_status check_goal(dae_solver *s, double tend)
{
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "A step was asked for before a successful dae_solver_start.");
    if (!isfinite(tend))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT, "The end time is %g; it must be finite.", tend);
    if (s->bound.options.max_step > 0.0 && fabs(tend) + s->bound.options.max_step == fabs(tend))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "Steps of at most %g do not reach t = %.9g: numbers there are %g apart. "
                        "Allow longer ones (max_step, --max-step).",
                        s->bound.options.max_step, tend,
                        nextafter(fabs(tend), INFINITY) - fabs(tend));
    if (s->run.direction != 0.0 && (tend - s->run.t) * s->run.direction < 0.0 &&
        !in_last_step(s, tend))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The end time %g lies behind the last step [%g, %g]; start again to "
                        "integrate in the other direction.",
                        tend, s->run.t_old, s->run.t_new);
    if (s->hybrid && s->hybrid->delays && (tend - s->run.t) * direction_to(s, tend) > 0.0 &&
        direction_to(s, tend) < 0.0)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "The model has delayed values, of which the future is not known: it cannot "
                        "be integrated backwards from t = %.9g to %.9g.",
                        s->run.t, tend);
    double stop = solver_stop_time(s);
    if ((stop - s->run.t) * direction_to(s, tend) < 0.0 && tend != s->run.t)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The stop time %g lies behind t = %g on the way to %g; move it with "
                        "dae_solver_set_stop_time.",
                        stop, s->run.t, tend);
    return DAE_OK;
}

/* Steps that the user prescribes go towards tend, and there is one left. */
static dae_status check_sequence(dae_solver *s, double tend)
{
    const dae_options *o = &s->bound.options;
    double direction = direction_to(s, tend);
    if (o->step_count == 0) return DAE_OK;
    if (sequence_direction(o, s->run.t) * direction < 0.0)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The times of step_sequence go from t = %.9g to %.9g, but the end time is "
                        "%.9g.",
                        s->run.t, o->step_sequence[o->step_count - 1], tend);
    if (sequence_step(o, s->run.t_old, s->run.t, direction) != 0.0) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "The steps end before the end time: step_sequence[%d] = %.9g is the last, and "
                    "the end time is %.9g.",
                    o->step_count - 1, o->step_sequence[o->step_count - 1], tend);
}

/* Try again what failed at the end of the last step; the user may have loosened the tolerances. */
static dae_status renew_weights(dae_solver *s)
{
    solver_interpolate(s, s->run.t_new, 0, s->bound.work);
    return solver_update_weights(s, s->run.t_new, s->bound.work);
}

/* The method starts anew where its last step ended. */
static void start_again(dae_solver *s, double tend)
{
    solver_interpolate(s, s->run.t_new, 0, s->bound.y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.yp);
    diag_clear(&s->diag);
    newton_reset(&s->bound.newton);
    s->run.stall = (stall){.t0 = s->run.stall.t0};
    s->run.history = 0;
    start_method(s, tend);
}

/* Where the solution goes on without being smooth. */
static const char A_FOLD[] = "a fold, behind which another branch of the equations begins";

static void tell_break(const dae_solver *s, const char *what)
{
    if (s->observer) s->observer->broken(s->observer->user, what);
}

/* What rounding may be the cause of. */
static bool may_be_rounding(dae_status status)
{
    return status == DAE_ERR_CONVERGENCE || status == DAE_ERR_ERROR_TEST ||
           status == DAE_ERR_STALL || status == DAE_STEPPED;
}

/* Where rounding is what keeps steps small: DAE_OK if the run may go on with tolerances that it
 * permits, or that it may not; else `status`, what was found before. */
static dae_status look_at_rounding(dae_solver *s, dae_status status, double tend)
{
    static const double OUT = 100.0; /* of steps that lead nowhere, by steps so many times longer */
    bool stalling = status == DAE_ERR_STALL || status == DAE_STEPPED;
    double step = stalling ? OUT * s->stats.last_h : 0.0;
    const dae_diag said = s->diag;
    rounding_result found = may_be_rounding(status) ? rounding_look(s, tend, step) : ROUNDING_FINE;
    if (found == ROUNDING_FINE) return status;
    if (found == ROUNDING_TOO_MUCH && status < 0 && solver_index_is_undeclared(s)) {
        s->diag = said;
        return status;
    }
    if (found == ROUNDING_TOO_MUCH) return explain_growth(s, DAE_ERR_TOLERANCE);
    start_again(s, tend);
    return DAE_OK;
}

/* Whether steps of this length get to the end of the run, if that is known, before another method
 * would: it takes some dozens at least, up to half as many where hardly anything is stiff, and each
 * of them costs three to five times as much. Those of a Taylor series by name get to tend stiff or
 * not. */
static bool ends_soon(const dae_solver *s, double tend)
{
    static const double FEW = 500.0, FEW_BY_NAME = 2e4;
    double end = s->wishes.open ? solver_stop_time(s) : tend; /* NAN: no comparison holds */
    double left = fabs(end - s->run.t) / fabs(s->stats.last_h);
    if (s->wishes.open) return left < FEW;
    return s->bound.method->forms == FORM_SERIES && left < FEW_BY_NAME;
}

/* Few stiff steps are enough where there is another method; where the run would end it takes many.
 */
static bool is_stiff(const dae_solver *s)
{
    bool changes = change_may_help(s, DAE_ERR_STIFF);
    return changes ? stiffness_seen(&s->run.stiffness) : stiffness_found(&s->run.stiffness);
}

static dae_status after_change(dae_solver *s, dae_status status)
{
    return status == DAE_OK ? DAE_OK : explain_mode(s, status);
}

/* Whether the method at hand is of no more use: DAE_STEPPED if it is, DAE_OK if there is another
 * one now, or why the run ends. */
static dae_status reconsider(dae_solver *s, double tend)
{
    if (is_stiff(s) && !ends_soon(s, tend)) {
        if (!change_may_help(s, DAE_ERR_STIFF)) return explain_stiff(s);
        s->run.stiffness = (stiffness){0};
        return change_stiff_method(s, "stiff, so ");
    }
    if (fallback_is_spent(s)) return fallback_explain_spent(s);
    if (gmres_is_slow(s)) return after_change(s, gmres_replace(s, "is slower than factors"));
    if (is_slow(s, tend)) return change_stiff_method(s, "many steps of taylor, so ");
    if (stall_suspects_rounding(&s->run.stall)) {
        dae_status status = look_at_rounding(s, DAE_STEPPED, tend);
        if (status != DAE_STEPPED) return status;
    }
    if (stall_found(&s->run.stall, s->run.t) == STALL_NONE || s->run.stiffness.stiff > 0)
        return DAE_STEPPED;
    if (s->hybrid && hybrid_fold(s, DAE_ERR_STALL)) {
        tell_break(s, A_FOLD);
        s->run.stall = (stall){.t0 = s->run.stall.t0};
        return DAE_OK;
    }
    if (!change_may_help(s, DAE_ERR_STALL))
        return look_at_rounding(s, explain_mode(s, explain_stall(s, tend)), tend);
    s->run.stall = (stall){.t0 = s->run.stall.t0};
    return change_stalled(s);
}

/* The next step of the method at hand, committed, or why there is none. */
static dae_status make_step(dae_solver *s, double tend)
{
    dae_status status = s->run.watch_due ? watch_states(s, tend) : DAE_OK;
    if (status == DAE_OK && !s->bound.weights_sound) status = renew_weights(s);
    undetermined_note(s); /* values within the last step were those with its terms */
    if (status == DAE_OK) status = attempt_until_accepted(s);
    if (status == DAE_OK) status = accept_step(s, tend);
    return status;
}

/* Whether a step failed for rounding alone, and the run may go on with tolerances that it permits.
 * That is asked before another mode is sought, which would have the same trouble. */
static bool holds_to_rounding(dae_solver *s, dae_status failure, double tend)
{
    if (!may_be_rounding(failure) || !raises_tolerances(s, tend)) return false;
    start_again(s, tend);
    return true;
}

/* Whether a step failed since nothing but rounding determines some variables, which are held now.
 */
static bool holds_undetermined(dae_solver *s, dae_status failure, double tend)
{
    const bool may_be =
        may_be_rounding(failure) || failure == DAE_ERR_SINGULAR || failure == DAE_ERR_EVALUATION;
    if (!may_be || !undetermined_hold(s)) return false;
    start_again(s, tend);
    return true;
}

/* Where a step failed: DAE_STEPPED if the model goes on from another branch of its equations or
 * from beyond a jump, DAE_OK if another step is worth a try, or why the run ends. */
static dae_status recover(dae_solver *s, dae_status failure, double tend)
{
    if (gmres_failed(s, failure)) return after_change(s, gmres_replace(s, "failed"));
    if (holds_undetermined(s, failure, tend)) return DAE_OK;
    if (holds_to_rounding(s, failure, tend)) return DAE_OK;
    if (s->hybrid && hybrid_reach(s, failure)) {
        diag_clear(&s->diag);
        return DAE_EVENT;
    }
    if (s->hybrid && (hybrid_rescue(s, failure) || hybrid_fold(s, failure))) {
        tell_break(s, A_FOLD);
        return DAE_STEPPED;
    }
    if (leap_over(s, failure, tend)) {
        tell_break(s, "a change that no step resolves");
        return DAE_STEPPED;
    }
    if (!change_may_help(s, failure))
        return fallback_explain(s, look_at_rounding(s, explain_mode(s, failure), tend));
    return fallback_explain(s, after_change(s, change_family(s, failure)));
}

/* Whether the equations kept their rank, their constraints and their index over the last step. A
 * singular point that is a fold of a model's equations is where its other branch begins. */
static dae_status inspect_step(dae_solver *s)
{
    dae_status status = rank_watch_step(s);
    if (status < 0 && s->hybrid && hybrid_fold_passed(s, status)) {
        tell_break(s, A_FOLD);
        return DAE_OK;
    }
    if (status == DAE_OK) status = released_watch_step(s);
    if (status == DAE_OK) status = solver_check_index(s);
    return status;
}

/* The event at s->run.t, which was reported. */
static dae_status pass_event(dae_solver *s)
{
    const run_observer *o = s->observer;
    dae_status status = delays_record(s);
    if (status == DAE_OK && o) status = o->before_event(o->user);
    if (status == DAE_OK) status = hybrid_update(s);
    if (status == DAE_OK && o) status = o->after_event(o->user);
    return status == DAE_OK ? DAE_EVENT : status;
}

/* One step, event or piece of a step towards tend. */
static dae_status advance(dae_solver *s, double tend)
{
    if (s->hybrid) {
        hybrid_consider_code(s, tend);
        if (tend != s->run.t) hybrid_leave(s, direction_to(s, tend));
        if (s->hybrid->pending) return pass_event(s);
    }
    tend = s->run.goal = effective_end(s, tend);
    if (tend == s->run.t || (s->run.direction != 0.0 && reached(s, s->run.t, tend))) {
        s->run.t = tend;
        return DAE_OK;
    }
    if (s->run.phase == PHASE_READY) {
        dae_status status = check_sequence(s, tend);
        if (status == DAE_OK) status = monitors_start(s, s->run.t, s->bound.y, s->bound.yp);
        if (status != DAE_OK) return status;
        start_method(s, tend);
    }
    if (s->run.t == hybrid_fold_ahead(s)) {
        tell_break(s, A_FOLD);
        return hybrid_fold_now(s);
    }
    if (s->run.t != s->run.t_new) return advance_within_step(s, tend);
    dae_status status = delays_record(s);
    if (status != DAE_OK) return status;
    if (s->hybrid && hybrid_at_seam(s)) {
        dae_status passed = hybrid_pass_seam(s);
        return passed || !s->hybrid->pending ? (passed ? passed : DAE_STEPPED) : DAE_EVENT;
    }
    status = check_sequence(s, tend);
    if (status == DAE_OK) status = reconsider(s, tend);
    if (status != DAE_STEPPED) return status == DAE_OK ? advance(s, tend) : status;
    status = make_step(s, tend);
    if (status != DAE_OK) {
        status = recover(s, status, tend);
        return status == DAE_OK ? advance(s, tend) : status;
    }
    if (s->hybrid && hybrid_undo_step(s)) return DAE_STEPPED;
    status = inspect_step(s);
    return status == DAE_OK ? advance_within_step(s, tend) : status;
}

/* The stop time ends a run before tend: that is no success. */
static dae_status explain_stop(dae_solver *s, double tend)
{
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "The run has come to its stop time %.9g, which lies before the end time %.9g; "
                    "the values are those at the stop time. Move it with "
                    "dae_solver_set_stop_time, and stepping goes on.",
                    s->run.t, tend);
}

/* The first end time that is asked for is the end of the run; another one behind it, as of rows,
 * says that it was not. */
static void note_end(dae_solver *s, double tend)
{
    static const double TOO_SHORT = 1e-280; /* for a step that ends there */
    if (!s->run.headed) s->run.end = fabs(tend - s->run.t) > TOO_SHORT ? tend : NAN;
    if (s->run.end != tend) s->run.end = NAN;
    s->run.headed = true;
}

/* Whether the run has gone back, and is not where the user has seen it. */
static bool is_behind(dae_solver *s)
{
    if ((s->run.shown - s->run.t) * s->run.direction > 0.0) return true;
    s->run.shown = NAN;
    return false;
}

dae_status solver_step(dae_solver *s, double tend)
{
    if (!s) return DAE_ERR_ARGUMENT;
    if (s->diag.status != DAE_OK) diag_clear(&s->diag);
    const run_observer *o = s->observer;
    dae_status status = o && o->stepping ? o->stepping(o->user, tend) : DAE_OK;
    if (status != DAE_OK) return status;
    if (s->run.phase != PHASE_NEW) note_end(s, tend);
    status = check_goal(s, tend);
    if (status != DAE_OK || s->run.phase == PHASE_ENDED) return status;
    solver_forget_stop(s);
    do status = solver_heed_stop(s, advance(s, tend));
    while (status == DAE_STEPPED && is_behind(s));
    if (status >= 0 && s->observer) {
        dae_status followed = s->observer->advanced(s->observer->user);
        if (followed < 0) status = followed;
    }
    bool over = s->run.phase == PHASE_ENDED || s->run.terminated;
    if (status == DAE_OK && !over && effective_end(s, tend) != tend) return explain_stop(s, tend);
    if (!s->hybrid) return status;
    if (status > 0) hybrid_note_progress(s, tend);
    return hybrid_explain(s, status);
}

/* The values where the solver stands; after an error without projection, which might fail again. */
static dae_status deliver(dae_solver *s, dae_status status, double *y, double *yp)
{
    if (s->run.phase == PHASE_NEW) return status;
    if (status < 0) {
        solver_interpolate(s, s->run.t, 0, s->bound.at_y);
        solver_interpolate(s, s->run.t, 1, s->bound.at_yp);
        values_to_user(s, s->run.t, s->bound.at_y, s->bound.at_yp, y, yp);
        return status;
    }
    dae_status at = y ? dae_solver_at(s, s->run.t, 0, y) : DAE_OK;
    if (yp && at == DAE_OK) at = dae_solver_at(s, s->run.t, 1, yp);
    return at < 0 ? at : status;
}

dae_status dae_solver_run(dae_solver *s, double tend, double *y, double *yp)
{
    if (!s) return DAE_ERR_ARGUMENT;
    dae_status status = DAE_STEPPED;
    long limit = s->bound.options.max_steps;
    for (long steps = 0; status == DAE_STEPPED; steps++) {
        status =
            limit > 0 && steps >= limit ? explain_max_steps(s, tend) : dae_solver_step(s, tend);
        if (status == DAE_EVENT && s->hybrid && s->run.phase != PHASE_ENDED) status = DAE_STEPPED;
    }
    return deliver(s, status, y, yp);
}
