/* Binding a solver to a variant: options, kinds, names and values carried over. */
#include "solve/bind/reform_parts.h"

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* A dummy keeps in its past what the iteration left undone, and shows it in its differences once it
 * becomes a state. With 0.03 in place of 0.1 the looping pendulum takes a quarter fewer steps and
 * Andrews' mechanism a tenth, in less time; 0.01 gains nothing more. */
static const double TIGHTER_NEWTON = 0.03;
/* And by this again where springs, unlike constraints, pass on to velocities what Newton leaves of
 * their forces: BDF takes 1207 steps in place of 2739 for the pendulum at 1e-6. */
static const double SPRINGS = 0.1;

/* The user's options per variable, for the unknowns of a variant. */
static dae_status variant_options(const dae_solver *s, const model_form *f, dae_options *options)
{
    dae_options plain = s->base_options;
    double *arrays[2] = {NULL, NULL};
    const double *given[2] = {plain.rtol_by_variable, plain.atol_by_variable};
    const double scalar[2] = {plain.rtol, plain.atol};
    plain.rtol_by_variable = plain.atol_by_variable = NULL;
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
    options->rtol_by_variable = arrays[0];
    options->atol_by_variable = arrays[1];
    return DAE_OK;
}

/* A problem for a variant with the choice of states it has. */
dae_status variant_describe(dae_solver *s, variant *v)
{
    dae_residual d;
    dae_problem *problem = NULL;
    if (!model_instance_describe(v->instance, &d)) return reform_exhausted(s);
    dae_status status = dae_problem_from_residual(&d, &problem, &s->diag);
    if (status != DAE_OK) return status;
    if (!model_kinematics(v->form, v->instance, problem)) {
        dae_problem_free(problem);
        return reform_exhausted(s);
    }
    problem->engine = s->base->engine;
    dae_problem_free(v->problem);
    v->problem = problem;
    return DAE_OK;
}

/* Give the discrete side the instance and the start values of a variant, or of the base. */
static dae_status rebind_hybrid(dae_solver *s, variant *v)
{
    reform *r = s->reform;
    hybrid *h = s->hybrid;
    model_instance *to = v ? v->instance : r->base_instance;
    if (!hybrid_bind(h, to)) return reform_exhausted(s);
    s->run.compile_tried = s->run.compile_tried && to->native;
    for (int i = 0; i < to->form->n; i++) {
        h->fixed_by[i] = v ? -1 : r->fixed_by[i];
        h->start[i] = v ? 0.0 : r->start[i];
    }
    for (int i = 0; v && i < s->base->form.n; i++) {
        model_place at = v->form->place[i];
        if (at.unknown < 0 || at.slope) continue;
        h->fixed_by[at.unknown] = r->fixed_by[i];
        h->start[at.unknown] = at.sign * r->start[i];
    }
    return DAE_OK;
}

/* Bind to a problem, and to the forms of a variant that go with it, if it has any. */
static dae_status bind_forms(dae_solver *s, variant *v, const dae_problem *problem,
                             dae_options *options)
{
    form_instance *old = s->bound.forms;
    const form_source *source = v && v->forms ? model_forms_source(v->forms) : NULL;
    s->bound.forms =
        source ? form_instance_new(source, s->bound.method->forms, &s->bound.eval) : NULL;
    s->bound.form_set = s->bound.forms   ? form_instance_set(s->bound.forms)
                        : v && v->series ? model_series_set(v->series)
                                         : NULL;
    dae_status status = solver_bind(s, problem, options);
    form_instance_free(old); /* the method's matrices may have referred to it until now */
    return source && !s->bound.forms ? reform_exhausted(s) : status;
}

/* Bind to a variant (NULL: the base form) with the values base_y, base_yp of the base form. */
dae_status reform_bind_to(dae_solver *s, variant *v, const double *base_y, const double *base_yp)
{
    reform *r = s->reform;
    dae_options options;
    dae_status status = v ? variant_options(s, v->form, &options)
                          : options_copy(&options, &s->base_options, s->base->form.n, &s->diag);
    if (status != DAE_OK) return reform_exhausted(s);
    if (v && !v->problem)
        status = variant_describe(s, v); /* states are chosen at a consistent point */
    if (status == DAE_OK) status = rebind_hybrid(s, v);
    if (status != DAE_OK) {
        options_free(&options);
        return status;
    }
    double direction = s->run.direction;
    r->base_instance->array = NULL;
    if (s->choice.open) s->bound.method = v ? v->method : choice_residual(s);
    status = bind_forms(s, v, v ? v->problem : s->base, &options);
    if (status != DAE_OK) return status;
    s->run.direction = direction;
    s->bound.norm.hidden = v ? v->form->formulated->hidden : NULL;
    r->current = v;
    if (v) {
        reform_from_base(v->form, base_y, base_yp, s->bound.y, s->bound.yp);
    } else {
        vector_copy(s->bound.n, base_y, s->bound.y);
        vector_copy(s->bound.n, base_yp, s->bound.yp);
    }
    return DAE_OK;
}

/* Bind to the reduced system of a derivative array, over the unknowns of the base form. */
dae_status reform_bind_array(dae_solver *s, variant *v, const double *y, const double *yp)
{
    dae_status status = reform_bind_to(s, NULL, y, yp);
    dae_options options;
    if (status == DAE_OK)
        status = options_copy(&options, &s->base_options, s->base->form.n, &s->diag);
    if (status != DAE_OK) return status;
    options.project_output = true;
    model_instance *m = s->reform->base_instance;
    m->array = v->array;
    v->array->array.parameters = m->parameters;
    v->array->array.memory = m->memory;
    status = solver_bind(s, v->array_problem, &options);
    if (status != DAE_OK) return status;
    vector_copy(s->bound.n, y, s->bound.y);
    vector_copy(s->bound.n, yp, s->bound.yp);
    return DAE_OK;
}

/* The values of the base form where the solver stands, in *y and *yp = *y + n; owned by caller. */
double *reform_base_values(const dae_solver *s)
{
    int n = s->base->form.n;
    double *y = DAE_ARRAY(double, 2 * (size_t)n);
    if (!y) return NULL;
    if (reform_active(s)) {
        reform_to_base(s, s->run.t, s->bound.y, s->bound.yp, y, y + n);
    } else {
        vector_copy(n, s->bound.y, y);
        vector_copy(n, s->bound.yp, y + n);
    }
    return y;
}

/* Things that are found out once. */
static dae_status prepare(dae_solver *s)
{
    reform *r = s->reform;
    size_t n = (size_t)s->base->form.n;
    if (!r->base_instance) r->base_instance = s->hybrid->instance;
    if (!r->start) r->start = DAE_ARRAY(double, n);
    if (!r->fixed_by) r->fixed_by = DAE_ARRAY(int, n);
    if (!r->slots_known) r->slots_known = mode_slots_find(&r->slots, s->base->model);
    return r->start && r->fixed_by && r->slots_known ? DAE_OK : reform_exhausted(s);
}

/* Whether the solver integrates what belongs to a variant. */
static bool is_bound(const dae_solver *s, const variant *v)
{
    return v->form ? s->reform->current == v : s->bound.problem == s->base;
}

dae_status reform_adopt(dae_solver *s, double t)
{
    reform *r = s->reform;
    if (s->formulation->as_given) return DAE_OK;
    dae_status status = prepare(s);
    if (status != DAE_OK) return status;
    if (!r->current) {
        vector_copy(s->bound.n, s->hybrid->start, r->start);
        memcpy(r->fixed_by, s->hybrid->fixed_by, (size_t)s->bound.n * sizeof *r->fixed_by);
    }
    variant *v = variant_find(r, s->hybrid->instance->memory);
    if (v && is_bound(s, v)) return DAE_OK;
    double *y = reform_base_values(s);
    if (!y) return reform_exhausted(s);
    const double *yp = y + s->base->form.n;
    if (!v) status = variant_make(s, t, y, yp, &v);
    if (status == DAE_OK && !is_bound(s, v)) status = reform_bind_to(s, v->form ? v : NULL, y, yp);
    dae_free(y);
    return status;
}

/* Bind to the base form, with the method chosen anew. */
static dae_status bind_to_base(dae_solver *s)
{
    double *y = s->bound.y ? reform_base_values(s) : DAE_ARRAY(double, 2 * (size_t)s->base->form.n);
    if (!y) return reform_exhausted(s);
    dae_status status = reform_bind_to(s, NULL, y, y + s->base->form.n);
    dae_free(y);
    return status;
}

dae_status reform_return(dae_solver *s)
{
    if (!s->reform || (s->bound.problem == s->base && s->bound.init)) return DAE_OK;
    return bind_to_base(s);
}

dae_status reform_reset(dae_solver *s)
{
    reform *r = s->reform;
    dae_status status = bind_to_base(s);
    for (int i = 0; status == DAE_OK && i < r->count; i++) variant_free(r->list[i]);
    if (status == DAE_OK) r->count = 0;
    return status;
}

dae_status reform_rechoose(dae_solver *s)
{
    double direction = s->run.direction;
    dae_status status = reform_reset(s);
    if (status == DAE_OK) status = hybrid_begin_again(s);
    s->run.direction = direction;
    return status;
}
