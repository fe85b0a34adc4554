#include "solve/bind/reform_parts.h"

#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "model/model_build.h"
#include "model/model_structure.h"
#include "solve/hybrid/hybrid_parts.h"

reform *reform_new(const dae_problem *base)
{
    reform *r = DAE_NEW(reform);
    if (r) r->base = base;
    return r;
}

void variant_free(variant *v)
{
    if (!v) return;
    dae_problem_free(v->problem);
    dae_problem_free(v->array_problem);
    array_run_free(v->array);
    rank_watch_free(v->watch);
    released_watch_free(v->released);
    model_forms_free(v->forms);
    model_series_free(v->series);
    dae_free(v->seen);
    model_instance_free(v->levels);
    model_instance_free(v->instance);
    if (v->kept)
        kept_form_release(v->kept);
    else
        model_form_free(v->form);
    rewrite_list_free(&v->rewrites);
    dae_free(v->key);
    dae_free(v);
}

void reform_free(reform *r)
{
    if (!r) return;
    for (int k = 0; k < r->count; k++) variant_free(r->list[k]);
    dae_free(r->list);
    mode_slots_free(&r->slots);
    dae_free(r->start);
    dae_free(r->fixed_by);
    dae_free(r);
}

bool reform_active(const dae_solver *s)
{
    return s->reform && s->reform->current;
}

dae_status reform_exhausted(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a formulation of the model.");
}

/* ---- values of the base form and of a variant ---- */

model_place reform_place(const dae_solver *s, int i, bool slope)
{
    if (!reform_active(s)) return (model_place){i, slope, 1};
    const model_form *f = s->reform->current->form;
    return slope ? f->place_slope[i] : f->place[i];
}

/* The variant that has all levels of f's equations. */
const model_form *variant_levels(const model_form *f)
{
    return f->levels ? f->levels : f;
}

double reform_value_at(model_place at, const double *y, const double *yp)
{
    const double *from = at.slope ? yp : y;
    return at.unknown >= 0 && from ? at.sign * from[at.unknown] : 0.0;
}

/* Variables that the variant sees through, at their places in the base form. */
static void see_through(const variant *v, double t, const double *y, const double *yp,
                        double *base_y, double *base_yp)
{
    const model_form *f = v->form;
    if (f->seen_count == 0 || !yp) return;
    model_instance_run(v->instance, PROGRAMS, t, y, yp, NULL, v->seen);
    for (int k = 0; k < f->seen_count; k++) {
        int i = f->seen[k];
        if (base_y && f->value[i] != EXPR_NONE) base_y[i] = v->seen[k];
        if (base_yp && f->value_slope[i] != EXPR_NONE) base_yp[i] = v->seen[f->seen_count + k];
    }
}

double reform_seen(const dae_solver *s, int i, bool slope)
{
    const variant *v = s->reform->current;
    int k = v->form->seen_at[i];
    return k < 0 ? (double)NAN : v->seen[slope ? v->form->seen_count + k : k];
}

void reform_look(const dae_solver *s, double t, const double *y, const double *yp)
{
    if (reform_active(s)) see_through(s->reform->current, t, y, yp, NULL, NULL);
}

void reform_to_base(const dae_solver *s, double t, const double *y, const double *yp,
                    double *base_y, double *base_yp)
{
    const model_form *f = s->reform->current->form;
    for (int i = 0; i < f->base->n; i++) {
        if (base_y) base_y[i] = reform_value_at(f->place[i], y, yp);
        if (base_yp) base_yp[i] = reform_value_at(f->place_slope[i], y, yp);
    }
    see_through(s->reform->current, t, y, yp, base_y, base_yp);
}

int reform_base_unknown(const dae_solver *s, int i)
{
    if (!reform_active(s)) return i < s->base->form.n ? i : -1;
    const model_form *f = s->reform->current->form;
    for (int k = 0; k < f->base->n; k++)
        if (f->place[k].unknown == i && !f->place[k].slope) return k;
    return -1;
}

static void put_at_place(model_place at, double value, double *y, double *yp)
{
    if (at.unknown >= 0) (at.slope ? yp : y)[at.unknown] = at.sign * value;
}

void reform_from_base(const model_form *f, const double *base_y, const double *base_yp, double *y,
                      double *yp)
{
    vector_zero(f->n, y);
    vector_zero(f->n, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place_slope[i], base_yp[i], y, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place[i], base_y[i], y, yp);
}

/* ---- variants by mode ---- */

bool variant_same_mode(const reform *r, const variant *v, const double *memory)
{
    for (int k = 0; k < r->slots.count; k++)
        if (v->key[k] != memory[r->slots.slot[k]]) return false;
    return true;
}

variant *variant_find(const reform *r, const double *memory)
{
    for (int k = 0; k < r->count; k++)
        if (!r->list[k]->retired && variant_same_mode(r, r->list[k], memory)) return r->list[k];
    return NULL;
}

dae_status reform_begin(dae_solver *s, double t, bool initial)
{
    dae_status status = reform_solve_levels(s, t, initial);
    if (status == DAE_OK) status = reform_settle_redundant(s, t);
    if (status == DAE_OK) status = reform_certify(s, t);
    variant *v = s->reform->current;
    if (v->series) reform_tell_kept(s, t, initial);
    bool small = s->base->form.n <= ARRAY_RUN_SIZE; /* else only steps can tell */
    if (status == DAE_OK && v->doubt[0] && (small || !v->runs_base))
        return reform_seek_array(s, t, initial);
    if (status == DAE_OK && v->runs_base) {
        if (v->doubt[0] && initial) variant_tell_doubt(s, v);
        status = reform_return(s);
        return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
    }
    bool changed;
    if (status == DAE_OK) status = reform_choose_states(s, t);
    if (status == DAE_OK) status = reform_reconsider_positions(s, t, &changed);
    s->reform->steps_since_watch = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

bool reform_may_rescue(const dae_solver *s)
{
    const variant *v = s->reform && s->reform->slots_known && !reform_active(s)
                           ? variant_find(s->reform, s->hybrid->instance->memory)
                           : NULL;
    return v && !v->form;
}

/* The usual way to initial values of the base form has failed, and s->diag says why. The levels may
 * find them, or name those that cannot hold together; if neither, the old message stays. */
dae_status reform_rescue(dae_solver *s, double t, bool initial, dae_status failed)
{
    reform *r = s->reform;
    const int n = s->base->form.n;
    bool worth =
        failed == DAE_ERR_INITIAL || failed == DAE_ERR_SINGULAR || failed == DAE_ERR_EVALUATION;
    if (!worth || !reform_may_rescue(s)) return failed;
    variant *v = variant_find(r, s->hybrid->instance->memory);
    dae_diag before = s->diag;
    double *y = DAE_ARRAY(double, 2 * (size_t)n), *yp = y + n; /* unknown slopes: zero */
    if (!y) return failed;
    vector_copy(n, initial ? r->start : s->hybrid->entry, y);
    if (!initial) vector_copy(n, s->hybrid->entry_yp, yp);
    dae_status status = variant_make_form(s, t, y, yp, true, v);
    if (status == DAE_OK) status = reform_bind_to(s, v, y, yp);
    dae_free(y);
    if (status == DAE_OK) status = reform_solve_levels(s, t, initial);
    dae_diag found = s->diag;
    bool told = status == DAE_ERR_INITIAL;
    if (status == DAE_OK || reform_active(s)) {
        dae_status back = reform_return(s);
        if (status == DAE_OK) status = back;
    }
    if (status == DAE_OK) {
        status = solver_begin(s, t, DAE_INIT_NONE);
        return status == DAE_OK ? solver_settle_singular(s, t) : status;
    }
    s->diag = told ? found : before;
    return told ? status : failed;
}

/* The kinds of the variables by the new choice. */
static void renew_kinds(dae_solver *s)
{
    const formulated *y = s->reform->current->form->formulated;
    for (int k = 0; k < y->candidates; k++) {
        int i = y->candidate[k].unknown;
        s->bound.kinds[i] = s->bound.problem->form.kinds[i];
    }
    norm_classify(&s->bound.norm, s->bound.kinds, s->bound.context.error_test);
}

/* A watch that takes longer than this many multiplications waits for some steps. */
static const double CHEAP_WATCH = 1e4;

enum { PATIENCE = 10 };

/* The reduced system of a derivative array holds around the point it was made at. */
static dae_status renew_array(dae_solver *s)
{
    reform *r = s->reform;
    if (++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    array_status renewed =
        array_run_renew(s->hybrid->instance->array, s->run.t_new, s->run.last.y, s->run.last.yp);
    if (renewed == ARRAY_MEMORY) return reform_exhausted(s);
    if (renewed == ARRAY_OK) return solver_repattern(s, s->bound.problem);
    s->diag.t = s->run.t_new;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index changes at t = %.9g: ranks of the derivatives of the equations are "
                    "no longer what they were.",
                    s->run.t_new);
}

/* Between two steps: the method begins anew in other unknowns where positions are chosen anew. */
static dae_status watch_positions(dae_solver *s)
{
    reform *r = s->reform;
    bool cheap = position_watch_work(r->current->instance->positions) <= CHEAP_WATCH, changed;
    if (!cheap && ++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    vector_copy(s->bound.n, s->run.last.y, s->bound.y);
    vector_copy(s->bound.n, s->run.last.yp, s->bound.yp);
    dae_status status = reform_reconsider_positions(s, s->run.t_new, &changed);
    return status == DAE_OK && changed ? solver_begin(s, s->run.t_new, DAE_INIT_NONE) : status;
}

dae_status reform_watch(dae_solver *s)
{
    if (s->hybrid && s->hybrid->instance->array) return renew_array(s);
    if (!reform_active(s)) return DAE_OK;
    reform *r = s->reform;
    variant *v = r->current;
    if (v->instance->positions) return watch_positions(s);
    if (!v->instance->selection || v->forms || v->series)
        return DAE_OK; /* nothing depends on the states */
    bool cheap = selection_work(v->instance->selection) <= CHEAP_WATCH;
    if (!cheap && ++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    selection_status chosen =
        model_instance_select(v->instance, s->run.t_new, s->run.last.y, s->run.last.yp, false);
    if (chosen == SELECTION_KEPT) return DAE_OK;
    if (chosen != SELECTION_CHANGED) return reform_explain_selection(s, s->run.t_new, chosen);
    r->choices++;
    dae_status status = variant_describe(s, v);
    if (status == DAE_OK) status = solver_repattern(s, v->problem);
    if (status == DAE_OK) renew_kinds(s);
    return status;
}
