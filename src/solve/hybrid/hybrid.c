#include "solve/hybrid/hybrid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/explain/explain_model.h"
#include "solve/hybrid/hybrid_parts.h"

/* ---- the entries ---- */

/* Over at (t, y): outputs there are the values after the event. */
static void end_run(dae_solver *s)
{
    double h = s->run.direction < 0.0 ? -1.0 : 1.0;
    start_point at = {.t = s->run.t, .h = h, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    s->run.t_old = s->run.t_new =
        s->run.t; /* there is nothing between: the end may be a rounding behind */
    s->bound.cache_used = true;
    s->run.phase = PHASE_ENDED;
}

/* Relations that changed after the last beginning are searched for from their new sides. */
static dae_status arm_again(dae_solver *s, double t)
{
    dae_status status = DAE_OK;
    if (!s->bound.events) return DAE_OK;
    if (!s->hybrid->armed) {
        status = solver_start_events(s, t);
        if (status == DAE_OK) hybrid_arm(s);
    }
    if (status == DAE_OK) relations_leap(s, t, s->bound.y, s->bound.yp);
    return status;
}

/* The step that the event at t lies in holds beyond it: the search goes on from there on the
 * interpolant, with the relations on their sides, and the method knows nothing of it. */
static dae_status carry_on(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    h->stays = reads_unchanged(s);
    if (!h->stays) return hybrid_begin_again(s); /* flags that went down */
    if (s->bound.events) {
        solver_interpolate(s, t, 0, h->ahead);
        solver_interpolate(s, t, 1, h->ahead_yp);
        eval_status eval = event_finder_start(s->bound.events, t, h->ahead, h->ahead_yp);
        if (eval != EVAL_OK) return explain_events(s, eval);
        hybrid_arm(s);
        relations_leap(s, t, h->ahead, h->ahead_yp);
    }
    h->armed = true;
    s->run.searched = t;
    newton_reset(&s->bound.newton); /* looks ahead have used its matrix */
    return DAE_OK;
}

/* The method that waited for the values of a start; one that runs keeps what it has. */
static dae_status end_search(dae_solver *s)
{
    bool waits = s->bound.searching;
    s->bound.searching = false;
    return waits ? solver_ready_method(s) : DAE_OK;
}

/* The event at t, where what delayed expressions read is held. `solved`: the continuous values are
 * those of the equations, for the memory that was kept with them. */
static dae_status solve_event(dae_solver *s, double t, bool solved)
{
    s->hybrid->solved = solved;
    s->hybrid->looked = false;
    model_instance_crossings(s->hybrid->instance, t, s->bound.y, s->bound.yp,
                             s->hybrid->crossing_entry);
    if (t != s->hybrid->started) s->hybrid->other[0] = 0;
    dae_status status = modes_mend(s, t, false, events_iterate(s, t));
    if (status == DAE_OK) status = end_search(s);
    if (status == DAE_OK && !s->hybrid->stays) status = arm_again(s, t);
    if (status != DAE_OK) return status;
    events_settle(s, t);
    model_instance_prepare(s->hybrid->instance);
    if (s->hybrid->stays) status = carry_on(s, t);
    mute_update(s); /* flags and pre(..) are down */
    if (status == DAE_OK) status = hybrid_check(s, t, s->bound.y, s->bound.yp);
    if (status == DAE_OK && s->hybrid->other[0]) solver_note(s, s->hybrid->other);
    s->hybrid->other[0] = 0;
    if (status == DAE_OK && s->run.terminated) end_run(s);
    hybrid_break_delays(s->hybrid, s->hybrid->stays ? DELAY_SMOOTH - 1 : DELAY_JUMP);
    crowd_settle(s, t);
    crowd_keep_point(s, t);
    return status;
}

/* Solve the event at s->run.t for its memory as it is. */
static dae_status run_event(dae_solver *s, double t, bool solved)
{
    delays_hold(s, t);
    dae_status status = solve_event(s, t, solved);
    delays_release(s);
    return status;
}

dae_status hybrid_explain(dae_solver *s, dae_status status)
{
    if (s->hybrid->no_memory) {
        s->hybrid->no_memory = false;
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an event at t = %.9g.",
                        s->run.t);
    }
    if (status < 0) explain_line(s->hybrid->instance->form, &s->diag);
    return status;
}

/* What the user asked of a start holds, whatever way the values have come. */
static dae_status check_start(dae_solver *s, double t)
{
    if (s->hybrid->given) return DAE_OK;
    dae_status status = check_fixed_starts(s, t);
    return status == DAE_OK ? check_initial_equations(s, t) : status;
}

/* Values of the form that is integrated belong to the solution that the start has found: a warning
 * if they do not. y: that solution, by the user's unknowns. */
static dae_status tell_departed(dae_solver *s, double t, const double *y)
{
    static const double SAME = 1e-3; /* as init/nearest.c tells two solutions from each other */
    double *now = user_values(s);
    if (!now) return plan_exhausted(&s->diag);
    int worst = -1;
    double most = 0.0;
    for (int i = 0; i < s->base->form.n; i++) {
        const double size = fmax(fabs(now[i]), fabs(y[i]));
        const double way = fabs(now[i] - y[i]) / (SAME * size + model_atol(s, i));
        if (way > fmax(most, 1.0)) most = way, worst = i;
    }
    char text[DAE_TEXT_SIZE];
    if (worst >= 0) {
        snprintf(text, sizeof text,
                 "warning: the equations have more than one solution at t = %.9g: method %s begins "
                 "with %.200s = %.9g, and other methods with %.9g. Give a start value near the one "
                 "that is meant.",
                 t, s->bound.method->name, problem_variable(s->base, worst), now[worst], y[worst]);
        solver_note(s, text);
    }
    dae_free(now);
    return DAE_OK;
}

/* The event at the initial time; where it changes nothing the start is as it was asked for. Solved
 * again although little has changed: the second solution is the more accurate one. */
static dae_status first_event(dae_solver *s, double t)
{
    const size_t slots = (size_t)flat_of(s)->memory_count;
    double *before = dae_copy(s->hybrid->instance->memory, slots, sizeof *before);
    double *y = user_values(s);
    dae_status status = before && y ? run_event(s, t, false) : plan_exhausted(&s->diag);
    bool same = before && memcmp(before, s->hybrid->instance->memory, slots * sizeof *before) == 0;
    if (status == DAE_OK && same && s->hybrid->thrown != t) {
        status = check_start(s, t);
        if (status == DAE_OK && !s->hybrid->given) status = tell_departed(s, t, y);
    }
    dae_free_all(before, y);
    return status;
}

/* No mode holds at t as its relations have it there: with all currents and voltages of a rectifier
 * at zero each diode conducts, and their equations depend on each other. One that holds a moment
 * later serves. */
static dae_status start_ahead(dae_solver *s, double t, dae_status status)
{
    s->hybrid->at_start = false;
    status = modes_mend(s, t, true, status);
    s->hybrid->at_start = true;
    return status;
}

/* The initial equations, with initial() true and pre(..) given by the start values; then the event
 * at the initial time: samples due at once. Both search for values, and need more memory for that
 * than a method does: it gets its own behind them. */
static dae_status start_opened(dae_solver *s, double t, dae_init mode)
{
    bool reset;
    s->bound.searching = true;
    s->hybrid->begins = !s->hybrid->given;
    dae_status status = modes_mend(s, t, true, events_agree_at_start(s, t, mode));
    if (status != DAE_OK) status = start_ahead(s, t, status);
    if (status == DAE_OK) status = settings_check(s, t);
    if (status == DAE_OK) status = check_start(s, t);
    s->hybrid->begins = false;
    if (status == DAE_OK) status = events_act(s, t, &reset);
    if (status == DAE_OK) status = delays_begin(s, t);
    if (status == DAE_OK) {
        for (size_t w = 0; w < flat_of(s)->when_count; w++) s->hybrid->active[w] = -1;
        events_settle(s, t);
        status = samples_raise(s, t);
    }
    if (status == DAE_OK) status = first_event(s, t);
    s->bound.searching = false;
    return hybrid_explain(s, status);
}

dae_status hybrid_start(dae_solver *s, double t)
{
    dae_init mode = s->bound.options.init;
    dae_status status = s->hybrid->opening.stands ? DAE_OK : hybrid_open(s, t, mode, false);
    if (status == DAE_OK) status = start_opened(s, t, mode);
    if (status == DAE_OK) hybrid_tell_lost_starts(s, t);
    if (status == DAE_OK) hybrid_give_back(s);
    return status;
}

dae_status hybrid_start_given(dae_solver *s, double t)
{
    dae_status status = hybrid_open(s, t, DAE_INIT_DIFFERENTIAL, true);
    return status == DAE_OK ? start_opened(s, t, DAE_INIT_DIFFERENTIAL) : status;
}

dae_status hybrid_restart(dae_solver *s, bool anew)
{
    hybrid *h = s->hybrid;
    if (anew && h->pending == EVENT_CROSSING)
        h->pending = EVENT_NONE; /* it was another solution's */
    for (size_t r = 0; anew && r < flat_of(s)->relation_count; r++) h->zero[r] = 0.0;
    h->at_start = false;
    dae_status status = samples_raise(s, s->run.t);
    relations_cross(s, s->run.t);
    h->pending = EVENT_NONE;
    return hybrid_explain(s, status == DAE_OK ? run_event(s, s->run.t, h->stays) : status);
}

void hybrid_leave(dae_solver *s, double direction)
{
    hybrid *h = s->hybrid;
    h->direction = direction;
    if (!h->at_start) return;
    h->at_start = false;
    if (relations_leave(s, s->run.t)) h->pending = EVENT_LEAVING;
}

/* A clock within a step reads what a row there would show. */
static void refine_values(dae_solver *s, double t)
{
    bool refined = false;
    vector_copy(s->bound.n, s->bound.y, s->bound.at_y);
    vector_copy(s->bound.n, s->bound.yp, s->bound.at_yp);
    if (refine_point(s, t, &refined) != DAE_OK) {
        diag_clear(&s->diag);
        return;
    }
    vector_copy(s->bound.n, s->bound.at_y, s->bound.y);
    vector_copy(s->bound.n, s->bound.at_yp, s->bound.yp);
}

/* The values at an event at t within a step, algebraic variables and derivatives as the equations
 * say where they are read; and the memory that they were solved for. */
static void take_values(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    solver_interpolate(s, t, 0, s->bound.y);
    solver_interpolate(s, t, 1, s->bound.yp);
    if (!h->stays) return;
    if (h->pending == EVENT_SAMPLE) refine_values(s, t);
    reads_keep(s);
    memcpy(h->before, h->instance->memory, (size_t)flat_of(s)->memory_count * sizeof *h->before);
    vector_copy(s->bound.n, s->bound.y, h->ahead);
    vector_copy(s->bound.n, s->bound.yp, h->ahead_yp);
    if (!reads_solved(s) ||
        initializer_project(s->bound.init, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                            s->bound.norm.weights, h->ahead, h->ahead_yp) != EVAL_OK)
        return;
    vector_copy(s->bound.n, h->ahead, s->bound.y);
    vector_copy(s->bound.n, h->ahead_yp, s->bound.yp);
}

/* Whether the event at t may turn out to change nothing that the equations read. Where that is not
 * likely, it is found out for nothing if events read time and states alone. */
static bool may_stay(const dae_solver *s, double t)
{
    return s->hybrid->reads && !delays_due(s->hybrid, t) &&
           (!reads_solved(s) || !reads_event(s, t));
}

dae_status hybrid_update(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double t = s->run.t;
    h->stays = s->run.phase == PHASE_RUNNING && may_stay(s, t);
    if (s->run.phase == PHASE_RUNNING) take_values(s, t);
    dae_status status = crowd_watch(s, t);
    if (status == DAE_OK) status = samples_raise(s, t);
    if (status != DAE_OK) return status;
    relations_cross(s, t);
    h->pending = EVENT_NONE;
    h->at_start = false;
    s->run.stall = (stall){.t0 = s->run.stall.t0}; /* events that crowd are looked at above */
    s->run.history = 0;                            /* the solution is another one from here on */
    double direction =
        s->run.direction; /* an event may lie beyond tend by its rounding: no way back */
    step_memory left = resume_leave(s, t);
    double *before = impulse_before(s);
    h->freedom = mode_freedom(s);
    status = run_event(s, t, h->stays);
    h->freedom = -1;
    impulse_after(s, t, before);
    s->run.direction = direction;
    if (status == DAE_OK && !h->stays) resume_enter(s, &left);
    h->stays = false;
    return hybrid_explain(s, status);
}

/* What stands at the end of a run, before its last event: discrete values, then y and y'. */
static double *keep_end(const dae_solver *s)
{
    const size_t slots = (size_t)flat_of(s)->memory_count, n = (size_t)s->bound.n;
    double *kept = DAE_ARRAY(double, slots + 2 * n);
    if (!kept) return NULL;
    memcpy(kept, s->hybrid->instance->memory, slots * sizeof *kept);
    vector_copy(s->bound.n, s->bound.y, kept + slots);
    vector_copy(s->bound.n, s->bound.yp, kept + slots + n);
    return kept;
}

static bool same_memory(const dae_solver *s, const double *kept)
{
    const size_t slots = (size_t)flat_of(s)->memory_count;
    return memcmp(kept, s->hybrid->instance->memory, slots * sizeof *kept) == 0;
}

/* The event with terminal() true. Where it changes nothing the values are those of the method: a
 * new start would make them look better than they are. */
static dae_status last_event(dae_solver *s, const double *kept)
{
    const flat_model *m = flat_of(s);
    const dae_problem *problem = s->bound.problem;
    double *memory = s->hybrid->instance->memory;
    const run_observer *o = s->observer;
    dae_status status = o ? o->before_event(o->user) : DAE_OK;
    memory[m->memory_terminal] = 1.0;
    if (status == DAE_OK) status = run_event(s, s->run.t, s->hybrid->stays);
    if (status == DAE_OK && o) status = o->after_event(o->user);
    s->hybrid->instance->memory[m->memory_terminal] = 0.0;
    if (status != DAE_OK || s->bound.problem != problem || !same_memory(s, kept)) return status;
    vector_copy(s->bound.n, kept + m->memory_count, s->bound.y);
    vector_copy(s->bound.n, kept + m->memory_count + s->bound.n, s->bound.yp);
    return status;
}

dae_status hybrid_finish(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    const bool running = s->run.phase == PHASE_RUNNING;
    if (running) {
        solver_interpolate(s, s->run.t, 0, s->bound.y);
        solver_interpolate(s, s->run.t, 1, s->bound.yp);
    }
    double *kept = keep_end(s);
    if (!kept) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the end of a run.");
    relations_decide(s, true); /* nothing lies ahead */
    dae_status status = DAE_OK;
    if (m->has_terminal || !same_memory(s, kept))
        status = last_event(s, kept);
    else if (running)
        s->run.phase = PHASE_ENDED;
    dae_free(kept);
    if (status == DAE_OK && s->run.phase != PHASE_ENDED) end_run(s);
    return hybrid_explain(s, status);
}

/* The assertions at a point: one that fails ends the run, or is told once. */
static dae_status check_assertions(dae_solver *s, double t, const double *y, const double *yp)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (m->assert_count == 0) return DAE_OK;
    model_instance_assertions(h->instance, t, y, yp, h->assertion);
    for (size_t i = 0; i < m->assert_count; i++) {
        if (h->assertion[i] != 0.0) continue;
        if (y != s->bound.y) { /* values in its message are those of this point */
            vector_copy(s->bound.n, y, s->bound.y);
            vector_copy(s->bound.n, yp, s->bound.yp);
        }
        if (!m->asserts[i].warning) return hybrid_fail(s, t, &m->asserts[i]);
        if (!h->warned[i]) hybrid_warn(s, t, &m->asserts[i]);
        h->warned[i] = true;
    }
    return DAE_OK;
}

dae_status hybrid_check(dae_solver *s, double t, const double *y, const double *yp)
{
    if (!y) return DAE_OK; /* no step since the last event, whose location rounded beyond tend */
    if (s->run.phase == PHASE_RUNNING && !s->hybrid->stays) {
        relations_note_overdue(s, t, y, yp);
        dae_status status = crowd_check(s);
        if (status != DAE_OK) return status;
    }
    return check_assertions(s, t, y, yp);
}

dae_status hybrid_check_watches(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    const int *flags = event_finder_flags(s->bound.events) + f->flat->relation_count;
    double *y = s->hybrid->ahead, *yp = s->hybrid->ahead_yp;
    bool any = false;
    for (size_t k = 0; k < f->watch_count; k++) any = any || flags[k] != 0;
    if (!any) return DAE_OK;
    solver_interpolate(s, s->run.t, 0, y);
    solver_interpolate(s, s->run.t, 1, yp);
    return check_assertions(s, s->run.t, y, yp);
}
