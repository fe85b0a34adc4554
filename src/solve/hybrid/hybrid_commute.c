/* States at events.
 *
 * A state is what an event leaves alone: it jumps where reinit says so, and where a variable that
 * it follows jumps, whose derivative is an impulse then (hybrid_impulse.c). Where ideal switches
 * open, the relations may come, one pass after the other, to a mode in which the equations bind a
 * state that was free: with the transistor of a converter off and its diode not yet on, the current
 * of the inductor has no way to go, and 0 is the only value that the equations have for it. That is
 * no solution of the event, though all of its relations hold: circuits commutate, that is, go to
 * the mode that keeps the states. It is found by trial, from where the event began
 * (hybrid_modes.c); where there is none the run ends, and says which states the equations bind. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* A jump of so many tolerances is not an error of the solver. */
static const double JUMP = 100.0;

/* Whether unknown i of the base form is a state in the mode at hand, for all that its form tells.
 */
static bool is_state(const dae_solver *s, int i)
{
    const model_form *f = s->base->model;
    if (!f->differential[i] || f->unknown_order[i] > 0) return false;
    return is_formulated(s) || s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
}

bool *mode_states(const dae_solver *s)
{
    bool *states = DAE_ARRAY(bool, (size_t)s->base->form.n);
    for (int i = 0; states && i < s->base->form.n; i++) states[i] = is_state(s, i);
    return states;
}

int mode_freedom(const dae_solver *s)
{
    const model_mode *v = s->modes ? s->modes->current : NULL;
    const analysed *a = !v ? NULL : v->plan.form ? v->plan.form->analysed : v->plan.basis;
    int count = 0;
    if (a) return a->structure.freedom;
    for (int i = 0; i < s->base->form.n; i++) count += is_state(s, i);
    return count;
}

/* Whether a clause that is active sets states. */
static bool sets_states(const dae_solver *s)
{
    const flat_model *m = flat_of(s);
    for (size_t w = 0; w < m->when_count; w++) {
        const int active = s->hybrid->active[w];
        const flat_branch *b = active >= 0 ? &m->whens[w].branches[active] : NULL;
        for (size_t i = 0; b && i < b->action_count; i++)
            if (b->actions[i].kind == ACTION_REINIT) return true;
    }
    return false;
}

static bool jumps(const dae_solver *s, int i, const mode_entry *e, const double *after)
{
    const dae_options *o = &s->bound.options;
    const double size = fmax(fabs(e->y[i]), fabs(after[i]));
    return e->state[i] && fabs(after[i] - e->y[i]) > JUMP * (o->rtol * size + o->atol);
}

/* The first unknown from i on that jumps; n: none */
static int next_jump(const dae_solver *s, int i, const mode_entry *e, const double *after)
{
    while (i < s->base->form.n && !jumps(s, i, e, after)) i++;
    return i;
}

static bool have_jumped(const dae_solver *s, const mode_entry *e)
{
    double *after = user_values(s);
    const bool any = after && next_jump(s, 0, e, after) < s->base->form.n;
    dae_free(after);
    return any;
}

/* Whether the mode at hand leaves less free than that before the event, and no reinit acts. */
static bool binds_states(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    return h->freedom >= 0 && !h->stays && mode_freedom(s) < h->freedom && h->thrown != s->run.t &&
           !sets_states(s);
}

bool states_jump(const dae_solver *s, const mode_entry *e)
{
    return e->state && binds_states(s) && have_jumped(s, e);
}

/* The form of the mode at hand need not have the states that it binds, so that the model as it is
 * written takes them. */
dae_status states_return(dae_solver *s, const mode_entry *e)
{
    if (!states_jump(s, e)) return DAE_OK;
    return bind_written(s, e->y, e->y + s->base->form.n);
}

/* Where the relations are that no equation has the solution of alone. */
static void append_relations(dae_solver *s)
{
    enum { MOST = 6 };
    const flat_model *m = flat_of(s);
    text_list list = text_list_in(&s->diag, MOST);
    int last = -1;
    for (size_t r = 0; r < m->relation_count; r++) {
        const int line = m->relations[r].place.line;
        if (!s->hybrid->instance->form->rounded[r] || line == last) continue;
        if (list.count == 0) diag_append(&s->diag, ", and no other sides of the relations at ");
        text_list_add(&list, "%s:%d", model_file(s), line);
        last = line;
    }
    text_list_end(&list);
    if (list.count) diag_append(&s->diag, " keep it");
}

/* The states that jump, with their lines and values. */
static void append_jumps(const dae_solver *s, const mode_entry *e, const double *after,
                         dae_diag *diag)
{
    enum { MOST = 6 };
    const model_form *f = s->base->model;
    text_list list = text_list_in(diag, MOST);
    for (int i = next_jump(s, 0, e, after); i < s->base->form.n;
         i = next_jump(s, i + 1, e, after)) {
        const flat_variable *q = &f->flat->variables[f->unknown_variable[i]];
        text_list_add(&list, "%s (%s:%d) from %.6g to %.6g", q->name, model_file(s), q->place.line,
                      e->y[i], after[i]);
    }
    text_list_end(&list);
}

/* Whether the equations alone say where the states go: from values twice as far away they come to
 * the same. Else it is a choice of the nearest values, which knows no mass. */
static bool is_determined(dae_solver *s, const mode_entry *e, const double *after)
{
    const int n = s->base->form.n;
    double *other = dae_copy(e->y, 2 * (size_t)n, sizeof *other);
    mode_entry from = {NULL, other, e->state};
    for (int i = 0; other && i < n; i++)
        if (jumps(s, i, e, after)) other[i] += e->y[i] - after[i];
    if (other) values_from_user(s, other, other + n);
    const bool found = other && hybrid_begin_again(s) == DAE_OK;
    double *again = found ? user_values(s) : NULL;
    bool same = again;
    if (again) vector_copy(n, after, other);
    for (int i = 0; same && i < n; i++) same = !jumps(s, i, &from, again);
    dae_free_all(other, again);
    return same;
}

/* A brake that locks, a switch that opens: what stops them is an impulse. */
static void tell_impulse(dae_solver *s, double t, const mode_entry *e, const double *after)
{
    dae_diag text;
    diag_clear(&text);
    diag_set(
        &text, DAE_OK,
        "note: at t = %.9g the equations bind what was free before, so that states jump, which "
        "takes an impulse: ",
        t);
    append_jumps(s, e, after, &text);
    diag_append(&text, ". If none is meant, give them a way to go on; reinit(..) says that it is.");
    if (!s->hybrid->impulse_told) solver_note(s, text.text);
    s->hybrid->impulse_told = true;
}

static dae_status explain_jump(dae_solver *s, double t, const mode_entry *e, const double *after)
{
    const model_form *f = s->base->model;
    const int v = f->unknown_variable[next_jump(s, 0, e, after)];
    diag_variable(&s->diag, v, f->flat->variables[v].name);
    s->diag.line = f->flat->variables[v].place.line;
    s->diag.t = t;
    diag_set(&s->diag, DAE_ERR_EVENT,
             "States would jump at the event at t = %.9g, though no reinit says so: ", t);
    append_jumps(s, e, after, &s->diag);
    diag_append(&s->diag,
                ". The equations bind in the mode that begins there what was free before");
    append_relations(s);
    diag_append(&s->diag, ". Set the new values by reinit(..), or give what would jump a way to go "
                          "on: in a circuit a diode, or a large resistance in place of an open "
                          "switch and a small one in place of a closed switch.");
    return DAE_ERR_EVENT;
}

/* Nothing keeps the states, which go to `after`: whether the run goes on with that, or why not. */
static dae_status judge_jump(dae_solver *s, double t, const mode_entry *e, const double *after)
{
    const bool determined = is_determined(s, e, after);
    values_from_user(s, e->y, e->y + s->base->form.n);
    s->hybrid->solved = false;
    diag_clear(&s->diag);
    if (!determined) return explain_jump(s, t, e, after);
    tell_impulse(s, t, e, after);
    return DAE_OK;
}

dae_status commute(dae_solver *s, double t, const mode_entry *e, dae_status status, bool *changed)
{
    const bool thrown = status == DAE_OK && states_jump(s, e);
    *changed = thrown || ended_badly(status);
    if (!*changed) return status;
    double *after = thrown ? user_values(s) : NULL;
    if (thrown && !after) return plan_exhausted(&s->diag);
    if (modes_keep_states(s, t, e))
        status = DAE_OK;
    else if (thrown)
        status = judge_jump(s, t, e, after);
    dae_free(after);
    return status;
}
