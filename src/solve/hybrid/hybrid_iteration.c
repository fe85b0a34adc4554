/* The event iteration.
 *
 * The equations of an event hold for discrete and continuous variables at once, with pre(..) given.
 * Inner passes solve them: discrete equations and when-clauses in the order of their data flow,
 * then consistent continuous values and the relations, until nothing changes. Then the clauses act:
 * reinit, assert, terminate. If pre(v) differs from v, or a state was set anew, or a relation
 * leaves zero for its other side, pre := v and all of it again (Modelica 3.6, section 8.6). */

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* Passes of an event iteration before it is given up as chattering. */
enum { MOST_PASSES = 100 };

/* ---- memory ---- */

/* Discrete variables and pre values from their start attributes, flags cleared. */
void memory_start(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    double *memory = s->hybrid->instance->memory;
    for (int k = 0; k < f->flat->memory_count; k++) memory[k] = 0.0;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        if (!q->discrete) continue;
        double value = hybrid_start_value(f, v);
        memory[q->memory] = memory[q->memory_pre] = isnan(value) ? 0.0 : value;
    }
    delays_open(s);
}

/* pre(v) := v, for variables and conditions of when; whether anything changed. */
static bool memory_take_pre(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    bool changed = false;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete &&
            memory_store(&memory[m->variables[v].memory_pre], memory[m->variables[v].memory]))
            changed = true;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            if (memory_store(&memory[q->memory_pre], memory[q->memory])) changed = true;
        }
    return changed;
}

/* ---- discrete equations and clauses ---- */

/* Whether an active branch gives the variable a value; -1: none is active. */
static bool is_assigned(const flat_when *w, int active, int variable)
{
    const flat_branch *b = active >= 0 ? &w->branches[active] : NULL;
    for (size_t i = 0; b && i < b->action_count; i++)
        if (b->actions[i].kind == ACTION_ASSIGN && b->actions[i].variable == variable) return true;
    return false;
}

/* Discrete variables that a clause defines keep their values unless the active branch assigns them.
 * Those that it does are as in the pass before until it has: other actions may read them through
 * equations, where the form that is integrated has no unknown in between. */
static void hold_assigned(dae_solver *s, const flat_when *w, int active)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    for (size_t b = 0; b < w->branch_count; b++)
        for (size_t i = 0; i < w->branches[b].action_count; i++) {
            const flat_action *a = &w->branches[b].actions[i];
            if (a->kind != ACTION_ASSIGN || (int)b == active) continue;
            if (is_assigned(w, active, a->variable)) continue;
            const flat_variable *v = &m->variables[a->variable];
            memory[v->memory] = memory[v->memory_pre];
        }
}

/* Which branch is active: the first whose condition has just become true; -1 for none. Conditions
 * of all branches are noted, so that each has its own edge. */
static int active_branch(dae_solver *s, double t, size_t index, bool initial)
{
    const flat_when *w = &flat_of(s)->whens[index];
    double *memory = s->hybrid->instance->memory;
    int active = -1;
    for (size_t b = 0; b < w->branch_count; b++) {
        const flat_branch *q = &w->branches[b];
        bool now = reads_condition(s, t, index, b) != 0.0;
        bool fires = initial ? q->at_initial : now && memory[q->memory_pre] == 0.0;
        memory[q->memory] = now;
        if (fires && active < 0) active = (int)b;
    }
    return active;
}

static void evaluate_when(dae_solver *s, double t, size_t index, bool initial)
{
    const flat_model *m = flat_of(s);
    const flat_when *w = &m->whens[index];
    double *memory = s->hybrid->instance->memory;
    int active = active_branch(s, t, index, initial);
    s->hybrid->active[index] = active;
    hold_assigned(s, w, active);
    for (size_t i = 0; active >= 0 && i < w->branches[active].action_count; i++) {
        const flat_action *a = &w->branches[active].actions[i];
        if (a->kind == ACTION_ASSIGN)
            memory[m->variables[a->variable].memory] = value_at(s, t, a->value);
    }
}

/* What counts as zero of the relations at which floor(a) changes: rounding errors of what a is
 * solved for. */
static double noise_of_steps(const dae_solver *s, double t, expr a)
{
    const flat_model *m = flat_of(s);
    for (size_t r = 0; r < m->relation_count; r++)
        if (m->relations[r].steps == a) return relation_noise(s, t, s->bound.y, s->bound.yp, r);
    return 0.0;
}

/* floor(a) at the start, where a may be an integer up to the last digits of what it is solved for:
 * as its relations take it. */
static double floor_at_start(const dae_solver *s, double t, expr e)
{
    const double a = value_at(s, t, e), near = nearbyint(a);
    const double digits = fmax(4.0 * DBL_EPSILON * fabs(a), noise_of_steps(s, t, e));
    return fabs(a - near) <= digits ? near : floor(a);
}

/* The relation of the steps of the floor in that slot, up or down; -1: none. */
static ptrdiff_t step_relation(const flat_model *m, int slot, bool up)
{
    for (size_t r = 0; r < m->relation_count; r++) {
        const flat_relation *q = &m->relations[r];
        if (q->steps && q->steps_of == slot && q->steps_up == up) return (ptrdiff_t)r;
    }
    return -1;
}

/* k = floor(a) where a is at the integer n but for noise, and stays there for a moment: as its
 * relations, a < k and k + 1 <= a, have it, which know whether it came to rest or goes on. NAN:
 * they are not known, or a is not that near. */
static double floor_at_rest(const dae_solver *s, double t, expr a, int memory, double now,
                            double soon)
{
    const flat_model *m = flat_of(s);
    const model_instance *i = s->hybrid->instance;
    const double n = nearbyint(now), k = i->memory[memory];
    const double noise = noise_of_steps(s, t, a);
    if (!(fabs(now - n) <= noise && fabs(soon - n) <= noise)) return NAN;
    const ptrdiff_t below = step_relation(m, memory, false), above = step_relation(m, memory, true);
    if (below < 0 || above < 0 || !i->form->rounded[below]) return NAN;
    if (n == k) return i->memory[m->relations[below].memory] != 0.0 ? k - 1.0 : k;
    return n == k + 1.0 && i->memory[m->relations[above].memory] == 0.0 ? k : n;
}

/* The value of a discrete equation for a variable with that memory. Like relations, floor(a) with a
 * at an integer goes where a goes. */
static double discrete_value(const dae_solver *s, double t, expr e, int memory)
{
    const hybrid *h = s->hybrid;
    graph_enter(flat_of(s)->graph);
    const expr_node *node = graph_node(flat_of(s)->graph, e);
    graph_leave(flat_of(s)->graph);
    if (node->op == EXPR_FLOOR && h->at_start) return floor_at_start(s, t, node->a);
    if (node->op != EXPR_FLOOR || !h->solved) return value_at(s, t, e);
    double now = value_at(s, t, node->a);
    double soon = hybrid_value(s, h->soon, h->ahead, h->ahead_yp, node->a);
    const double rest = floor_at_rest(s, t, node->a, memory, now, soon);
    if (!isnan(rest)) return rest;
    bool away = fabs(now - nearbyint(now)) > fabs(soon - now);
    return floor(away ? now : soon);
}

/* Discrete equations and when-clauses, each after what it reads. */
static void evaluate_discretes(dae_solver *s, double t, bool initial)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    if (initial) settings_take(s, t);
    for (size_t k = 0; k < m->event_count; k++) {
        size_t index = m->event_order[k].index;
        if (m->event_order[k].is_when) {
            evaluate_when(s, t, index, initial);
        } else {
            const flat_discrete *q = &m->discretes[index];
            const int slot = m->variables[q->variable].memory;
            memory[slot] = discrete_value(s, t, q->value, slot);
        }
    }
}

void events_take(dae_solver *s, double t)
{
    evaluate_discretes(s, t, false);
}

/* Values that stay where they are: fixed ones at the start, those that reinit has set. What
 * Newton's iteration cannot do is left to the levels, if the form that is integrated has them. */
static void hold_values(dae_solver *s, bool starts)
{
    const hybrid *h = s->hybrid;
    bool *fixed = initializer_fixed(s->bound.init);
    for (int i = 0; i < s->bound.n; i++)
        fixed[i] = h->is_held[i] || (starts && h->fixed_by[i] >= 0);
    initializer_rescued(s->bound.init, levels_may_help(s));
    initializer_nearest(s->bound.init, starts);
    initializer_guessed(s->bound.init, starts ? h->guessed : NULL);
    if (starts) hybrid_note_guessed(h, h->guessed);
    vector_copy(s->bound.n, s->bound.y, h->entry);
    vector_copy(s->bound.n, s->bound.yp, h->entry_yp);
}

/* Consistent values of what is bound. */
static dae_status solve_bound(dae_solver *s, double t, bool starts, dae_init mode)
{
    if (is_formulated(s)) return begin_formulated(s, t, starts);
    dae_status status = DAE_OK;
    hold_values(s, starts);
    if (starts && s->hybrid->instance->form->initial) {
        status = hybrid_solve_initial(s, t);
        mode = DAE_INIT_DIFFERENTIAL;
    }
    if (status == DAE_OK) status = solver_begin(s, t, mode);
    return status != DAE_OK ? rescue_by_levels(s, t, starts, status) : status;
}

/* Consistent continuous values for the memory as it is, whose mode is bound. */
static dae_status solve_continuous(dae_solver *s, double t, bool initial, dae_init mode)
{
    bool starts = initial && !s->hybrid->given;
    model_instance_prepare(s->hybrid->instance);
    dae_status status = solve_bound(s, t, starts, mode);
    return status == DAE_OK && starts ? check_fixed_starts(s, t) : status;
}

/* The relations are armed at these values. */
dae_status hybrid_ready(dae_solver *s)
{
    if (s->bound.events) hybrid_arm(s);
    s->hybrid->armed = true;
    dae_status status = reads_bind(s) ? hybrid_check_branches(s) : plan_exhausted(&s->diag);
    if (status != DAE_OK) s->run.phase = PHASE_NEW;
    return status;
}

dae_status hybrid_begin_mode(dae_solver *s, bool initial)
{
    const dae_init init = initial ? s->bound.options.init : DAE_INIT_DIFFERENTIAL;
    dae_status status = bind_mode_at_hand(s, s->run.t);
    hybrid_break_delays(s->hybrid, DELAY_JUMP);
    if (status == DAE_OK) status = solve_continuous(s, s->run.t, initial, init);
    return status == DAE_OK ? hybrid_ready(s) : status;
}

dae_status hybrid_begin_again(dae_solver *s)
{
    return hybrid_begin_mode(s, false);
}

/* ---- passes ---- */

/* Name what differs between the last two passes. */
static dae_status explain_flipping(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    const hybrid *h = s->hybrid;
    const double *memory = h->instance->memory;
    s->diag.t = t;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "The event iteration at t = %.9g does not settle after %d passes. These keep changing:", t,
        MOST_PASSES);
    int named = 0;
    for (size_t v = 0; v < m->variable_count && named < 5; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || (h->before[q->memory] == memory[q->memory] &&
                             h->before[q->memory_pre] == memory[q->memory_pre]))
            continue;
        diag_append(&s->diag, "%s %s (%s:%d)", named ? "," : "", q->name, model_file(s),
                    q->place.line);
        if (named++ == 0) {
            diag_variable(&s->diag, (int)v, q->name);
            s->diag.line = q->place.line;
        }
    }
    for (size_t r = 0; r < m->relation_count && named < 5; r++) {
        const flat_relation *q = &m->relations[r];
        if (h->before[q->memory] == memory[q->memory]) continue;
        diag_append(&s->diag, "%s the relation at %s:%d", named ? "," : "", model_file(s),
                    q->place.line);
        if (named++ == 0) s->diag.line = q->place.line;
    }
    diag_append(&s->diag,
                "%s. Add hysteresis, break the circle with pre(..), or use noEvent(..) "
                "where no event is meant.",
                named ? "" : " states that reinit sets");
    return DAE_ERR_EVENT;
}

static size_t memory_bytes(const dae_solver *s)
{
    return (size_t)flat_of(s)->memory_count * sizeof(double);
}

/* The first half of a pass: discrete values for the continuous ones as they are, and guesses that
 * follow from them. *agreed: nothing has changed. */
static dae_status take_discretes(dae_solver *s, double t, bool initial, dae_init init, int *passes,
                                 bool *agreed)
{
    hybrid *h = s->hybrid;
    evaluate_discretes(s, t, initial);
    *agreed = h->solved && memcmp(h->before, h->instance->memory, memory_bytes(s)) == 0;
    if (*agreed) return DAE_OK;
    if (++*passes > MOST_PASSES) return explain_flipping(s, t);
    memcpy(h->before, h->instance->memory, memory_bytes(s));
    circle_watch(h);
    return initial && !h->solved ? hybrid_guess(s, t, init) : DAE_OK;
}

dae_status events_find_mode(dae_solver *s, double t, dae_init init)
{
    int passes = 0;
    bool agreed;
    return take_discretes(s, t, true, init, &passes, &agreed);
}

/* Passes of a start in which equations may have no value. */
enum { MOST_TURNS = 10 };

/* Where the equations cannot be evaluated: relations that are on another side there than they are
 * held, as x > 0 in (if x > 0 then sqrt(x) else 0), take that side. Whether one did. What comes out
 * must agree with them, as ever. */
static bool turn_undefined(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    bool any = false;
    if (m->relation_count == 0) return false;
    model_instance_crossings(h->instance, t, s->bound.y, s->bound.yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++) {
        double *side = &h->instance->memory[m->relations[r].memory];
        if (!isfinite(h->crossing[r]) || h->crossing[r] == 0.0) continue;
        if ((*side != 0.0) == (h->crossing[r] < 0.0)) continue;
        *side = h->crossing[r] < 0.0;
        any = true;
    }
    if (any) diag_clear(&s->diag);
    return any;
}

/* Inner passes: discrete and continuous values that agree, with pre(..) as it is. *passes counts.
 * *mode: the pass has come to a mode that is not bound; once it is, the pass goes on from there. */
static dae_status agree(dae_solver *s, double t, bool initial, dae_init init,
                        const mode_entry *entry, int *passes, bool *mode)
{
    for (;; *mode = false) {
        bool agreed = false;
        dae_status status = DAE_OK;
        if (!*mode) {
            status = take_discretes(s, t, initial, init, passes, &agreed);
            if (status != DAE_OK || agreed) return status;
            if (!initial && reads_unchanged(s)) {
                relations_update(s, t);
                continue;
            }
            *mode = true;
            s->hybrid->stays = false;
            if (entry) status = states_return(s, entry);
            if (status != DAE_OK || !is_mode_bound(s)) return status;
        }
        status = solve_continuous(s, t, initial, init);
        if (initial && status == DAE_ERR_EVALUATION && *passes <= MOST_TURNS &&
            turn_undefined(s, t))
            continue;
        if (status == DAE_OK) status = hybrid_ready(s);
        if (status != DAE_OK) return status;
        s->hybrid->solved = true;
        s->hybrid->looked = false;
        reads_keep(s);
        relations_update(s, t);
    }
}

dae_status events_agree(dae_solver *s, double t, bool initial, dae_init init,
                        const mode_entry *entry, int *passes)
{
    bool mode = s->hybrid->opening.stands; /* then half of the first pass is done */
    s->hybrid->opening.stands = false;
    circle_open(s->hybrid);
    for (*passes += mode;;) {
        dae_status status = agree(s, t, initial, init, entry, passes, &mode);
        if (status != DAE_OK || !mode) return status;
        status = bind_mode_at_hand(s, t); /* outside of the iteration: a plan, and its binding */
        if (status != DAE_OK) return status;
    }
}

/* Where reinit of flat variable v goes: it is sign times that unknown. */
static model_place reinit_place(const dae_solver *s, int v)
{
    const model_form *f = s->base->model;
    int sign, i = f->first_unknown[hybrid_root(f, v, &sign)];
    model_place at = i < 0 ? (model_place){-1, false, 1} : place_of(s, i, false);
    at.sign = (signed char)(sign * at.sign);
    return at;
}

/* The form that is integrated has no unknown for variable v. */
static dae_status refuse_reinit(dae_solver *s, double t, int v)
{
    const flat_variable *q = &flat_of(s)->variables[v];
    diag_variable(&s->diag, v, q->name);
    s->diag.line = q->place.line;
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "reinit cannot set %s (%s:%d) at t = %.9g: in the formulation at hand it "
                    "follows from other variables. Set those, or take another formulation.",
                    q->name, model_file(s), q->place.line, t);
}

/* Note the new values first and set them afterwards: reinit(x, y) and reinit(y, x) exchange. */
static dae_status act(dae_solver *s, double t, const flat_branch *b, bool *reset)
{
    hybrid *h = s->hybrid;
    for (size_t i = 0; i < b->action_count; i++) {
        const flat_action *a = &b->actions[i];
        model_place at;
        switch (a->kind) {
        case ACTION_ASSIGN: break;
        case ACTION_REINIT:
            at = reinit_place(s, a->variable);
            if (at.unknown < 0 || at.slope) return refuse_reinit(s, t, a->variable);
            h->reset[at.unknown] = at.sign * value_at(s, t, a->value);
            h->is_reset[at.unknown] = *reset = true;
            break;
        case ACTION_ASSERT:
            if (value_at(s, t, a->value) != 0.0) break;
            if (!a->warning) return hybrid_fail(s, t, a);
            hybrid_warn(s, t, a);
            break;
        case ACTION_TERMINATE: hybrid_terminate(s, t, a); break;
        }
    }
    return DAE_OK;
}

/* A reinit value must be a number. */
static dae_status check_reset(dae_solver *s, double t, int i)
{
    if (isfinite(s->hybrid->reset[i])) return DAE_OK;
    diag_variable(&s->diag, i, problem_variable(s->bound.problem, i));
    s->diag.t = t;
    s->diag.value = s->hybrid->reset[i];
    return diag_set(&s->diag, DAE_ERR_EVALUATION, "reinit sets %s to %g at t = %.9g.",
                    s->diag.variable_name, s->hybrid->reset[i], t);
}

/* What the active clauses do beside assigning; *reset: states have new values. */
dae_status events_act(dae_solver *s, double t, bool *reset)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    const run_observer *o = s->observer;
    dae_status status = o ? o->acting(o->user) : DAE_OK;
    *reset = false;
    for (size_t w = 0; w < m->when_count && status == DAE_OK; w++)
        if (h->active[w] >= 0) status = act(s, t, &m->whens[w].branches[h->active[w]], reset);
    if (*reset) h->thrown = t;
    for (int i = 0; *reset && i < s->bound.n && status == DAE_OK; i++) {
        if (!h->is_reset[i]) continue;
        h->is_reset[i] = false;
        h->is_held[i] = true;
        status = check_reset(s, t, i);
        s->bound.y[i] = h->reset[i];
    }
    return status;
}

/* Whether a clause that is active does more than assign: what it does begins anew, and is done
 * once.
 */
static bool clauses_act(const dae_solver *s)
{
    const flat_model *m = flat_of(s);
    for (size_t w = 0; w < m->when_count; w++) {
        const int active = s->hybrid->active[w];
        const flat_branch *b = active >= 0 ? &m->whens[w].branches[active] : NULL;
        for (size_t i = 0; b && i < b->action_count; i++)
            if (b->actions[i].kind != ACTION_ASSIGN) return true;
    }
    return false;
}

/* What reinit has set is held until the values agree with it. */
static void hybrid_release(dae_solver *s)
{
    for (int i = 0; i < s->bound.n; i++) s->hybrid->is_held[i] = false;
}

/* Values and mode for the memory, which keep the states as they are in e. */
static dae_status agree_in_mode(dae_solver *s, double t, const mode_entry *e, int *passes)
{
    bool changed = false;
    dae_status status = events_agree(s, t, false, DAE_INIT_DIFFERENTIAL, e, passes);
    if (e->memory) status = commute(s, t, e, status, &changed);
    if (status != DAE_OK || !changed) return status;
    return events_agree(s, t, false, DAE_INIT_DIFFERENTIAL, e, passes);
}

/* Outer passes: until pre(v) = v, no state is set anew, and the relations are where they go. */
static dae_status iterate(dae_solver *s, double t, const mode_entry *e)
{
    bool again = true, reset;
    int passes = 0;
    while (again) {
        dae_status status = agree_in_mode(s, t, e, &passes);
        if (status == DAE_OK && s->hybrid->stays && clauses_act(s)) {
            s->hybrid->stays = s->hybrid->solved = false;
            continue;
        }
        if (status == DAE_OK) status = events_act(s, t, &reset);
        if (status != DAE_OK) return status;
        again = memory_take_pre(s);
        if (reset) s->hybrid->solved = false;
        if (!again && !reset) {
            if (!s->hybrid->at_start) relations_decide(s, false);
            again = relations_update(s, t);
        }
        again = again || reset;
        if (!reset) hybrid_release(s);
        if (++passes > MOST_PASSES) return explain_flipping(s, t);
    }
    return DAE_OK;
}

dae_status events_iterate(dae_solver *s, double t)
{
    mode_entry e = {0};
    const bool keeps = s->hybrid->freedom >= 0;
    dae_status status = keeps && !mode_entry_take(s, &e) ? plan_exhausted(&s->diag) : DAE_OK;
    if (keeps && status == DAE_OK && !(e.state = mode_states(s))) status = plan_exhausted(&s->diag);
    if (status == DAE_OK) status = iterate(s, t, &e);
    mode_entry_free(&e);
    return status;
}

void events_follow(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    memory_take_pre(s);
    for (size_t i = 0; i < m->discrete_count; i++) {
        const flat_discrete *q = &m->discretes[i];
        const int slot = m->variables[q->variable].memory;
        memory[slot] = discrete_value(s, t, q->value, slot);
    }
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            memory[q->memory] = reads_condition(s, t, w, b) != 0.0;
        }
    memory_take_pre(s);
}

/* After the event: flags down, conditions of when as they are now, without acting. pre(v) := v
 * first, so that what a clause of initial() gave to a variable stays. */
void events_settle(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    bool flags = memory[m->memory_initial] != 0.0;
    memory[m->memory_initial] = 0.0;
    for (size_t i = 0; i < m->sample_count; i++) {
        flags = flags || memory[m->samples[i].memory] != 0.0;
        memory[m->samples[i].memory] = 0.0;
    }
    if (flags) events_follow(s, t);
}
