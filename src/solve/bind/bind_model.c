/* Binding a model: plans of its modes, and the solver on the form of one of them. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/team.h"
#include "base/vector.h"
#include "model/model_pieces.h"
#include "model/model_structure.h"
#include "solve/bind/solver.h"
#include "solve/prepare/choose.h"
#include "solve/prepare/plan_store.h"

/* ---- plans ---- */

/* Notes of a plan that is not for trial only. */
static void report_notes(const dae_solver *s, const plan *p)
{
    for (size_t k = 0; k < sizeof p->notes / sizeof p->notes[0]; k++)
        if (p->notes[k][0]) solver_note(s, p->notes[k]);
}

/* A plan for the memory as it is, at values of the user's unknowns. */
static dae_status ask(dae_solver *s, const mode_point *at, plan *p)
{
    dae_status status = prepare_plan(s->base, at, &s->wishes, p, &s->diag);
    report_notes(s, p);
    if (status != DAE_OK) solve_plan_free(p);
    return status;
}

static mode_point point_of(const dae_solver *s, double t, const double *y, const double *yp)
{
    const model_instance *m = s->hybrid->instance;
    return (mode_point){.slots = &s->modes->slots, .at = {t, y, yp, m->parameters, m->memory}};
}

/* t, y, y', parameters and memory of a point, in one array; NULL: memory */
static double *numbers_of(const model_form *base, const model_point *at)
{
    const size_t n = (size_t)base->n, parameters = base->flat->parameter_count,
                 memory = (size_t)base->flat->memory_count;
    double *numbers = DAE_ARRAY(double, mode_numbers(base)), *to = numbers;
    if (!numbers) return NULL;
    *to++ = at->t;
    memcpy(to, at->y, n * sizeof *to);
    memcpy(to + n, at->yp, n * sizeof *to);
    memcpy(to + 2 * n, at->parameters, parameters * sizeof *to);
    memcpy(to + 2 * n + parameters, at->memory, memory * sizeof *to);
    return numbers;
}

/* Keep what the plan of v was made from; false: memory */
static bool keep_origin(const dae_solver *s, const mode_point *mode, model_mode *v)
{
    plan_origin *o = &v->origin;
    const model_form *base = s->base->model;
    dae_free_all(o->numbers, o->release);
    *o = (plan_origin){.release_count = mode->release_count, .levels = mode->levels};
    o->numbers = v->plan.kept ? dae_copy(kept_plan_numbers(v->plan.kept), mode_numbers(base),
                                         sizeof *o->numbers)
                              : numbers_of(base, &mode->at);
    if (mode->release)
        o->release = dae_copy(mode->release, (size_t)mode->release_count, sizeof *o->release);
    return o->numbers && (o->release || !mode->release);
}

dae_status ask_for_mode(dae_solver *s, double t, const double *y, const double *yp,
                        const bool *release, model_mode **result)
{
    plan p = {0};
    mode_point at = point_of(s, t, y, yp);
    at.release = release;
    if (release) at.release_count = s->modes->current->plan.form->analysed->set.m;
    dae_status status = ask(s, &at, &p);
    *result = NULL;
    if (status != DAE_OK) return status;
    *result = mode_add(s->modes, &p, s->hybrid->instance->memory, s->base_options.precision);
    if (!*result) return plan_exhausted(&s->diag);
    if (keep_origin(s, &at, *result)) return DAE_OK;
    (*result)->retired = true; /* the next to ask for the mode begins anew */
    return plan_exhausted(&s->diag);
}

dae_status ask_for_levels(dae_solver *s, double t, const double *y, const double *yp, model_mode *v)
{
    plan p = {0};
    mode_point at = point_of(s, t, y, yp);
    at.levels = true;
    dae_status status = ask(s, &at, &p);
    if (status != DAE_OK) return status;
    bool made = mode_replan(v, &p, s->base_options.precision) && keep_origin(s, &at, v);
    return made ? DAE_OK : plan_exhausted(&s->diag);
}

/* ---- the problem of a mode ---- */

/* A dummy keeps in its past what the iteration left undone, and shows it in its differences once it
 * becomes a state. With 0.03 in place of 0.1 the looping pendulum takes a quarter fewer steps and
 * Andrews' mechanism a tenth, in less time; 0.01 gains nothing more. */
static const double TIGHTER_NEWTON = 0.03;
/* And by this again where springs, unlike constraints, pass on to velocities what Newton leaves of
 * their forces: BDF takes 1207 steps in place of 2739 for the pendulum at 1e-6. */
static const double SPRINGS = 0.1;

/* The user's options per variable, for the unknowns of a mode's form. */
static dae_status mode_options(const dae_solver *s, const model_form *f, dae_options *options)
{
    dae_options plain = s->base_options;
    double *arrays[2] = {NULL, NULL};
    const double *given[2] = {plain.rtol_by_unknown, plain.atol_by_unknown};
    const double scalar[2] = {plain.rtol, plain.atol};
    plain.rtol_by_unknown = plain.atol_by_unknown = NULL;
    plain.y_tags = plain.yp_tags = NULL;
    plain.project_output = true;
    if (plain.newton_tolerance == dae_options_default().newton_tolerance)
        plain.newton_tolerance = TIGHTER_NEWTON * (f->formulated->springs ? SPRINGS : 1.0);
    *options = plain;
    for (int k = 0; k < 2; k++) {
        if (!given[k]) continue;
        arrays[k] = DAE_ARRAY(double, f->n);
        for (int i = 0; arrays[k] && i < f->n; i++) {
            int model = f->formulated->set.model[i];
            arrays[k][i] = model >= 0 ? given[k][model] : scalar[k];
        }
        if (!arrays[k]) {
            dae_free(arrays[0]);
            return DAE_ERR_MEMORY;
        }
    }
    options->rtol_by_unknown = arrays[0];
    options->atol_by_unknown = arrays[1];
    return DAE_OK;
}

dae_status describe_mode(dae_solver *s, model_mode *v)
{
    dae_residual d;
    dae_problem *problem = NULL;
    if (!model_instance_describe(v->instance, &d)) return plan_exhausted(&s->diag);
    dae_status status = dae_problem_from_residual(&d, &problem, &s->diag);
    if (status != DAE_OK) return status;
    if (!model_kinematics(v->plan.form, v->instance, problem)) {
        dae_problem_free(problem);
        return plan_exhausted(&s->diag);
    }
    problem->engine = s->base->engine;
    problem->kernels = s->base->kernels;
    dae_problem_free(v->problem);
    v->problem = problem;
    return DAE_OK;
}

/* ---- binding ---- */

/* Which of the user's unknowns reinit has set in the event at hand: another binding holds them,
 * too.
 */
static void note_held(dae_solver *s)
{
    mode_list *r = s->modes;
    for (int i = 0; r->held && i < s->base->form.n; i++) {
        model_place at = place_of(s, i, false);
        r->held[i] = at.unknown >= 0 && !at.slope && s->hybrid->is_held[at.unknown];
    }
}

/* What reinit has set is set in the unknowns at hand, before other variables that are the same. */
static void hold_again(dae_solver *s, const double *user_y)
{
    const mode_list *r = s->modes;
    for (int i = 0; r->held && i < s->base->form.n; i++) {
        model_place at = place_of(s, i, false);
        if (!r->held[i] || at.unknown < 0 || at.slope) continue;
        s->hybrid->is_held[at.unknown] = true;
        s->bound.y[at.unknown] = at.sign * user_y[i];
    }
}

/* Give the discrete side the instance and the start values of a mode, or of the model as written.
 */
static dae_status bind_discrete(dae_solver *s, model_mode *v)
{
    mode_list *r = s->modes;
    hybrid *h = s->hybrid;
    model_instance *to = v ? v->instance : r->base_instance ? r->base_instance : h->instance;
    note_held(s);
    if (!hybrid_bind(h, to)) return plan_exhausted(&s->diag);
    graph_enter(to->form->flat->graph);
    if (!model_instance_share(to, s->threads, PIECES_LEAST)) team_give_up(s->threads);
    graph_leave(to->form->flat->graph);
    s->run.code.next = 0; /* its programs may be others */
    for (int i = 0; !v && i < to->form->n; i++) {
        h->fixed_by[i] = r->fixed_by ? r->fixed_by[i] : -1;
        h->start[i] = r->start ? r->start[i] : 0.0;
    }
    if (v) (void)modes_starts_of_form(r, v->plan.form, h->start, h->fixed_by);
    return DAE_OK;
}

/* The method of a mode, or the one for residual forms, and why. */
static void take_method(dae_solver *s, const model_mode *v)
{
    s->bound.waits = NULL;
    if (!s->wishes.open) {
        s->bound.method = s->wishes.method;
        return;
    }
    if (v) memcpy(s->why, v->plan.why, sizeof s->why);
    s->bound.method = v ? v->plan.method : choose_residual(s->base, &s->wishes, s->why);
}

/* Whether a mode is integrated as it is written, or begins so. */
static bool as_written(const dae_solver *s, const model_mode *v)
{
    return !v || !v->plan.form || (s->hybrid->begins && v->plan.begins_as_written);
}

/* Bind to a problem, and to the forms of a mode that go with it, if it has any. */
static dae_status bind_problem(dae_solver *s, model_mode *v, const dae_problem *problem,
                               dae_options *options)
{
    binding *b = &s->bound;
    form_instance *old = b->forms;
    const form_source *source = v && v->forms ? model_forms_source(v->forms) : NULL;
    double direction = s->run.direction;
    unsigned wanted = b->method->forms;
    if (wanted & FORM_QUASILINEAR) wanted |= FORM_MANIFOLD; /* slopes, where events look ahead */
    b->forms = source ? form_instance_new(source, wanted, &b->eval) : NULL;
    b->form_set = b->forms         ? form_instance_set(b->forms)
                  : v && v->series ? model_series_set(v->series)
                                   : NULL;
    dae_status status = DAE_OK;
    if (source && !b->forms) {
        binding_empty(b);
        options_free(options);
        status = plan_exhausted(&s->diag);
    } else {
        status = binding_replace(s, problem, options);
    }
    form_instance_free(old); /* the method's matrices may have referred to it until now */
    s->run.direction = direction;
    return status;
}

/* Nothing of a derivative array, and of a mode, is at work any more. */
static void leave_mode(dae_solver *s)
{
    if (s->modes->base_instance) s->modes->base_instance->array = NULL;
    s->modes->current = NULL;
    s->bound.unknowns = &unknowns_as_given;
}

dae_status bind_mode(dae_solver *s, model_mode *v, const double *user_y, const double *user_yp)
{
    dae_options options;
    if (mode_options(s, v->plan.form, &options) != DAE_OK) return plan_exhausted(&s->diag);
    /* states are chosen at a consistent point, later */
    dae_status status = v->problem ? DAE_OK : describe_mode(s, v);
    if (status == DAE_OK) status = bind_discrete(s, v);
    if (status != DAE_OK) {
        options_free(&options);
        return status;
    }
    leave_mode(s);
    take_method(s, v);
    status = bind_problem(s, v, v->problem, &options);
    if (status != DAE_OK) return status;
    s->bound.norm.hidden = v->plan.form->formulated->hidden;
    s->modes->current = v;
    s->bound.unknowns = &unknowns_of_form;
    values_from_user(s, user_y, user_yp);
    hold_again(s, user_y);
    return floors_take(s) ? DAE_OK : plan_exhausted(&s->diag);
}

/* The model as it is written, or its reduced system, over the user's unknowns. */
static dae_status bind_base(dae_solver *s, const dae_problem *problem, bool project,
                            const double *user_y, const double *user_yp)
{
    dae_options options;
    dae_status status = options_copy(&options, &s->base_options, s->base->form.n, &s->diag);
    if (status != DAE_OK) return plan_exhausted(&s->diag);
    options.project_output = options.project_output || project;
    status = bind_problem(s, NULL, problem, &options);
    if (status != DAE_OK) return status;
    values_from_user(s, user_y, user_yp);
    hold_again(s, user_y);
    return floors_take(s) ? DAE_OK : plan_exhausted(&s->diag);
}

dae_status bind_written(dae_solver *s, const double *user_y, const double *user_yp)
{
    dae_status status = bind_discrete(s, NULL);
    if (status != DAE_OK) return status;
    leave_mode(s);
    take_method(s, NULL);
    return bind_base(s, s->base, false, user_y, user_yp);
}

/* The model as it is written, for the values that mode v begins with: its method, on another form,
 * waits. */
static dae_status bind_beginning(dae_solver *s, const model_mode *v, const double *user_y,
                                 const double *user_yp)
{
    dae_status status = bind_discrete(s, NULL);
    if (status != DAE_OK) return status;
    leave_mode(s);
    take_method(s, v);
    s->bound.waits = v->plan.method;
    s->bound.method = &method_radau;
    return bind_base(s, s->base, false, user_y, user_yp);
}

dae_status bind_as_written(dae_solver *s)
{
    const model_mode *v = s->modes->current;
    double *y = user_values(s), *yp = y + s->base->form.n;
    if (!y) return plan_exhausted(&s->diag);
    const bool begins = v && !v->plan.runs_base && as_written(s, v);
    dae_status status = begins ? bind_beginning(s, v, y, yp) : bind_written(s, y, yp);
    dae_free(y);
    return status;
}

dae_status bind_array(dae_solver *s, model_mode *v, const double *y, const double *yp)
{
    dae_status status = bind_discrete(s, NULL);
    if (status != DAE_OK) return status;
    leave_mode(s);
    model_instance *m = s->modes->base_instance;
    m->array = v->array;
    v->array->array.parameters = m->parameters;
    v->array->array.memory = m->memory;
    take_method(s, NULL);
    return bind_base(s, v->array_problem, true, y, yp);
}

/* ---- the mode at hand ---- */

/* Whether the solver integrates what belongs to a mode. */
static bool is_bound(const dae_solver *s, const model_mode *v)
{
    bool written = s->bound.problem == s->base && s->bound.init;
    return as_written(s, v) ? written : s->modes->current == v;
}

bool is_mode_bound(const dae_solver *s)
{
    if (s->wishes.formulation->as_given) return is_bound(s, NULL);
    if (!s->modes->slots_known) return false;
    const model_mode *v = mode_find(s->modes, s->hybrid->instance->memory);
    return v && is_bound(s, v);
}

dae_status bind_mode_at_hand(dae_solver *s, double t)
{
    mode_list *r = s->modes;
    hybrid *h = s->hybrid;
    const int n = s->base->form.n;
    model_mode *v = NULL;
    dae_status status = DAE_OK;
    if (!modes_begin(r, s->base->model, h->instance)) return plan_exhausted(&s->diag);
    if (!r->current) modes_note_starts(r, s->base->model, h->start, h->fixed_by);
    if (is_mode_bound(s)) return DAE_OK;
    double *y = user_values(s);
    if (!y) return plan_exhausted(&s->diag);
    bool as_given = s->wishes.formulation->as_given;
    if (!as_given) v = mode_find(r, h->instance->memory);
    if (!as_given && !v) status = ask_for_mode(s, t, y, y + n, NULL, &v);
    if (status == DAE_OK && !is_bound(s, v))
        status = !as_written(s, v)   ? bind_mode(s, v, y, y + n)
                 : v && v->plan.form ? bind_beginning(s, v, y, y + n)
                                     : bind_written(s, y, y + n);
    dae_free(y);
    return status;
}

/* Nothing is integrated; values of the user's unknowns are kept. */
static dae_status loosen(dae_solver *s)
{
    const int n = s->base->form.n;
    form_instance *old = s->bound.forms;
    double *y = s->bound.y ? user_values(s) : DAE_ARRAY(double, 2 * (size_t)n);
    double direction = s->run.direction;
    if (!y) return plan_exhausted(&s->diag);
    dae_status status = bind_discrete(s, NULL);
    if (status == DAE_OK) {
        leave_mode(s);
        s->bound.forms = NULL;
        s->bound.form_set = NULL;
        status = binding_loosen(s);
        form_instance_free(old);
        s->run.direction = direction;
    }
    if (status == DAE_OK) {
        values_from_user(s, y, y + n);
        take_method(s, NULL);
    }
    dae_free(y);
    return status;
}

dae_status release_mode(dae_solver *s)
{
    bool written = s->bound.problem == s->base && s->bound.y && !is_formulated(s);
    return !s->modes || written ? DAE_OK : loosen(s);
}

dae_status forget_modes(dae_solver *s)
{
    dae_status status = loosen(s);
    if (status == DAE_OK) modes_forget(s->modes);
    return status;
}
