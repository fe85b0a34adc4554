/* Consistent values where the form of a mode is integrated, and its choice of states along the run.
 */
#include "solve/begin/begin_parts.h"
#include "solve/bind/array_callbacks.h"

#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

/* A run may still succeed where there is doubt. */
static void warn_of_doubt(const dae_solver *s, const model_mode *v)
{
    char text[DAE_TEXT_SIZE + 20];
    snprintf(text, sizeof text, "warning: %s", v->plan.doubt);
    solver_note(s, text);
}

dae_status begin_formulated(dae_solver *s, double t, bool initial)
{
    dae_status status = solve_levels(s, t, initial);
    if (status == DAE_OK) status = settle_redundant(s, t);
    if (status == DAE_OK) status = certify_mode(s, t);
    if (status != DAE_OK) return status;
    const model_mode *v = s->modes->current;
    if (v->series) note_kept_starts(s, t, initial);
    if (s->wishes.formulation->by_array && !v->plan.runs_base) return seek_array(s, t, initial);
    bool small = s->base->form.n <= ARRAY_RUN_SIZE; /* else only steps can tell */
    if (v->plan.doubt[0] && (small || !v->plan.runs_base)) return seek_array(s, t, initial);
    if (v->plan.runs_base) {
        if (v->plan.doubt[0] && initial) warn_of_doubt(s, v);
        status = bind_as_written(s);
        return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
    }
    bool changed;
    status = choose_states(s, t);
    if (status == DAE_OK) status = reconsider_positions(s, t, &changed);
    s->modes->steps_since_watch = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

bool levels_may_help(const dae_solver *s)
{
    const model_mode *v = s->modes && s->modes->slots_known && !is_formulated(s)
                              ? mode_find(s->modes, s->hybrid->instance->memory)
                              : NULL;
    return v && (!v->plan.form || v->plan.begins_as_written);
}

/* The usual way to initial values of the base form has failed, and s->diag says why. The levels may
 * find them, or name those that cannot hold together; if neither, the old message stays. */
dae_status rescue_by_levels(dae_solver *s, double t, bool initial, dae_status failed)
{
    mode_list *r = s->modes;
    const int n = s->base->form.n;
    bool worth =
        failed == DAE_ERR_INITIAL || failed == DAE_ERR_SINGULAR || failed == DAE_ERR_EVALUATION;
    if (!worth || !levels_may_help(s)) return failed;
    model_mode *v = mode_find(r, s->hybrid->instance->memory);
    dae_diag before = s->diag;
    double *y = DAE_ARRAY(double, 2 * (size_t)n), *yp = y + n; /* unknown slopes: zero */
    if (!y) return failed;
    vector_copy(n, initial ? r->start : s->hybrid->entry, y);
    if (!initial) vector_copy(n, s->hybrid->entry_yp, yp);
    const bool has_levels = v->plan.form; /* and begins with them from here on */
    v->plan.begins_as_written = false;
    dae_status status = has_levels ? DAE_OK : ask_for_levels(s, t, y, yp, v);
    if (status == DAE_OK) status = bind_mode(s, v, y, yp);
    dae_free(y);
    if (status == DAE_OK && has_levels) status = begin_formulated(s, t, initial);
    if (status == DAE_OK && has_levels) return DAE_OK;
    if (status == DAE_OK) status = solve_levels(s, t, initial);
    dae_diag found = s->diag;
    bool named = status == DAE_ERR_INITIAL || has_levels;
    if (status == DAE_OK || (is_formulated(s) && !has_levels)) {
        dae_status back = bind_as_written(s);
        if (status == DAE_OK) status = back;
    }
    if (status == DAE_OK) {
        status = solver_begin(s, t, DAE_INIT_NONE);
        return status == DAE_OK ? solver_settle_singular(s, t) : status;
    }
    s->diag = named ? found : before;
    return named ? status : failed;
}

/* The kinds of the variables by the new choice. */
static void renew_kinds(dae_solver *s)
{
    const formulated *y = s->modes->current->plan.form->formulated;
    for (int k = 0; k < y->candidates; k++) {
        int i = y->candidate[k].unknown;
        s->bound.kinds[i] = s->bound.problem->form.kinds[i];
    }
    norm_classify(&s->bound.norm, s->bound.kinds, s->bound.context.error_test);
}

/* A watch that takes longer than this many multiplications waits for some steps. */
static const double CHEAP_WATCH = 1e4;

enum { PATIENCE = 10 };

/* The derivative array that is integrated, or NULL */
static array_run *array_at_work(const dae_solver *s)
{
    return s->bound.array ? s->bound.array->run : s->hybrid ? s->hybrid->instance->array : NULL;
}

/* The reduced system of a derivative array holds around the point it was made at. */
static dae_status renew_array(dae_solver *s, array_run *run)
{
    int patience = s->bound.method->fixed_order ? 1 : PATIENCE; /* one-step methods go far */
    if (++run->steps < patience) return DAE_OK;
    run->steps = 0;
    array_status renewed = array_run_renew(run, s->run.t_new, s->run.last.y, s->run.last.yp);
    if (renewed == ARRAY_MEMORY) return plan_exhausted(&s->diag);
    if (renewed == ARRAY_OK) return binding_repattern(&s->bound, s->bound.problem, &s->diag);
    s->diag.t = s->run.t_new;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index changes at t = %.9g: ranks of the derivatives of the equations are "
                    "no longer what they were.",
                    s->run.t_new);
}

/* Between two steps: the method begins anew in other unknowns where positions are chosen anew. */
static dae_status watch_positions(dae_solver *s)
{
    mode_list *r = s->modes;
    bool cheap = position_watch_work(r->current->instance->positions) <= CHEAP_WATCH, changed;
    if (!cheap && ++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    vector_copy(s->bound.n, s->run.last.y, s->bound.y);
    vector_copy(s->bound.n, s->run.last.yp, s->bound.yp);
    dae_status status = reconsider_positions(s, s->run.t_new, &changed);
    return status == DAE_OK && changed ? solver_begin(s, s->run.t_new, DAE_INIT_NONE) : status;
}

dae_status watch_formulated(dae_solver *s)
{
    array_run *run = array_at_work(s);
    if (run) return renew_array(s, run);
    if (!is_formulated(s)) return DAE_OK;
    mode_list *r = s->modes;
    model_mode *v = r->current;
    if (v->instance->positions) return watch_positions(s);
    if (!v->instance->selection || v->forms || v->series)
        return DAE_OK; /* nothing depends on the states */
    bool cheap = selection_work(v->instance->selection) <= CHEAP_WATCH;
    if (!cheap && ++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    selection_status chosen =
        model_instance_select(v->instance, s->run.t_new, s->run.last.y, s->run.last.yp, false);
    if (chosen == SELECTION_KEPT) return DAE_OK;
    if (chosen != SELECTION_CHANGED) return explain_selection(s, s->run.t_new, chosen);
    r->choices++;
    dae_status status = describe_mode(s, v);
    if (status == DAE_OK) status = binding_repattern(&s->bound, v->problem, &s->diag);
    if (status == DAE_OK) renew_kinds(s);
    return status;
}
