/* Making and freeing a solver, and the questions one can ask it. */
#include "solve/bind/solver.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

/* The user's options with every field the library knows, and the method that a precision needs. */
static dae_status complete_options(const dae_options *options, dae_options *full, dae_diag *diag)
{
    dae_status status = options_read(options, full, diag);
    bool chosen = full->method && strcmp(full->method, "auto") != 0;
    if (full->precision != DAE_PRECISION_DOUBLE && !chosen) full->method = "taylor";
    return status;
}

/* The smallest relative tolerance of any variable; 0 if the user makes the weights. */
static double finest_rtol(const dae_options *o, int n)
{
    if (o->weights) return 0.0;
    double least = o->rtol_by_variable ? INFINITY : o->rtol;
    for (int i = 0; o->rtol_by_variable && i < n; i++) least = fmin(least, o->rtol_by_variable[i]);
    return least;
}

static bool allocate_work(dae_solver *s)
{
    size_t state, scratch;
    s->bound.method->size(s->bound.n, &state, &scratch);
    s->bound.state = dae_calloc(1, state);
    s->bound.scratch = dae_calloc(1, scratch);
    s->bound.kinds = DAE_ARRAY(dae_kind, s->bound.n);
    s->bound.y = DAE_ARRAY(double, s->bound.n);
    s->bound.yp = DAE_ARRAY(double, s->bound.n);
    s->bound.work = DAE_ARRAY(double, s->bound.n);
    int most = s->bound.n > s->base->form.n ? s->bound.n : s->base->form.n;
    s->bound.at_y = DAE_ARRAY(double, most);
    s->bound.at_yp = DAE_ARRAY(double, most);
    s->bound.jumps = DAE_ARRAY(jump_trace, s->bound.n);
    s->bound.extent = DAE_ARRAY(double, s->bound.n);
    s->run.step_start =
        (step_start){.y = DAE_ARRAY(double, s->bound.n), .yp = DAE_ARRAY(double, s->bound.n)};
    return s->run.step_start.y && s->run.step_start.yp && s->bound.state && s->bound.scratch &&
           s->bound.kinds && s->bound.y && s->bound.yp && s->bound.work && s->bound.at_y &&
           s->bound.at_yp && s->bound.jumps && s->bound.extent;
}

static void drop_output_projector(dae_solver *s)
{
    refine_free(s);
    initializer_free(s->bound.output_projector);
    iteration_free(&s->bound.view);
    s->bound.output_projector = NULL;
    s->bound.view = (iteration){0};
}

initializer *solver_output_projector(dae_solver *s)
{
    if (s->bound.output_projector) return s->bound.output_projector;
    if (iteration_new(&s->bound.view, &s->bound.eval, &s->bound.options, NULL) != DAE_OK ||
        initializer_new(&s->bound.output_projector, &s->bound.eval, &s->bound.view,
                        &s->bound.options, NULL) != DAE_OK)
        drop_output_projector(s);
    return s->bound.output_projector;
}

static const invariant_set *solver_invariants(const dae_solver *s)
{
    return s->monitors && s->monitors->set.count > 0 ? &s->monitors->set : NULL;
}

/* Build the rooms that depend on the problem, lowest first. */
static dae_status furnish(dae_solver *s, dae_diag *diag)
{
    s->bound.eval = (evaluator){
        .problem = s->bound.problem, .stats = &s->stats, .forms = s->bound.forms, .stop = &s->stop};
    if (s->hybrid) {
        s->bound.eval.instance = s->hybrid->instance;
        if (!hybrid_options(s->hybrid->instance->form, &s->bound.options))
            return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the model.");
    }
    bool fits = allocate_work(s) && norm_new(&s->bound.norm, s->bound.n, &s->bound.options);
    if (!fits) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    dae_status status = iteration_new(&s->bound.matrix, &s->bound.eval, &s->bound.options, diag);
    if (status != DAE_OK) return status;
    if (!newton_new(&s->bound.newton, &s->bound.eval, &s->bound.matrix, &s->bound.norm,
                    &s->bound.options))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    status =
        initializer_new(&s->bound.init, &s->bound.eval, &s->bound.matrix, &s->bound.options, diag);
    if (status != DAE_OK) return status;
    if (s->bound.options.project_output && !solver_output_projector(s))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    if (s->bound.problem->form.n_events > 0)
        status = event_finder_new(&s->bound.events, &s->bound.eval,
                                  s->bound.options.event_tolerance, diag);
    s->bound.finest_rtol = finest_rtol(&s->bound.options, s->bound.n);
    if (s->bound.multipliers) s->bound.norm.hidden = s->bound.multipliers;
    s->bound.context = (method_context){.method = s->bound.method,
                                        .n = s->bound.n,
                                        .eval = &s->bound.eval,
                                        .newton = &s->bound.newton,
                                        .norm = &s->bound.norm,
                                        .forms = s->bound.form_set,
                                        .projection = s->bound.options.projection,
                                        .invariants = solver_invariants(s),
                                        .options = &s->bound.options,
                                        .smooth = s->bound.options.dense == DAE_DENSE_SMOOTH};
    if (!monitors_bind(s)) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the monitors.");
    if (status == DAE_OK) status = second_bind(s, diag);
    if (status != DAE_OK || !s->bound.method->cache_new) return status;
    s->bound.furnished = s->bound.method;
    bool forms = !method_needs_form(s->bound.method) || solver_uses_forms(s);
    bool second = !solver_second_order(s) || s->bound.context.second;
    if (!forms || !second) return DAE_OK; /* not yet there */
    s->bound.context.cache = s->bound.method->cache_new(&s->bound.context);
    s->bound.cache_forms = s->bound.context.forms;
    s->bound.cache_used = false;
    if (!s->bound.context.cache)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    return DAE_OK;
}

static void unfurnish(dae_solver *s)
{
    if (s->bound.context.cache) s->bound.furnished->cache_free(s->bound.context.cache);
    s->bound.context.cache = NULL;
    second_release(s);
    drop_output_projector(s);
    event_finder_free(s->bound.events);
    initializer_free(s->bound.init);
    newton_free(&s->bound.newton);
    iteration_free(&s->bound.matrix);
    norm_free(&s->bound.norm);
    dae_free(s->bound.state);
    dae_free(s->bound.scratch);
    dae_free(s->bound.kinds);
    dae_free(s->bound.y);
    dae_free(s->bound.yp);
    dae_free(s->bound.work);
    dae_free(s->bound.at_y);
    dae_free(s->bound.at_yp);
    dae_free(s->bound.jumps);
    dae_free(s->bound.extent);
    dae_free(s->run.step_start.y);
    dae_free(s->run.step_start.yp);
    s->bound.events = NULL;
    s->bound.init = NULL;
    s->bound.newton = (newton){0};
    s->bound.matrix = (iteration){0};
    s->bound.norm = (error_norm){0};
    s->bound.state = s->bound.scratch = NULL;
    s->bound.kinds = NULL;
    s->bound.y = s->bound.yp = s->bound.work = s->bound.at_y = s->bound.at_yp = NULL;
    s->bound.jumps = NULL;
    s->bound.extent = NULL;
    s->run.step_start = (step_start){0};
}

dae_status solver_bind(dae_solver *s, const dae_problem *problem, dae_options *options)
{
    unfurnish(s);
    options_free(&s->bound.options);
    s->bound.options = *options;
    s->bound.problem = problem;
    s->bound.n = problem->form.n;
    s->run.phase = PHASE_NEW;
    dae_status status = furnish(s, &s->diag);
    if (status != DAE_OK) unfurnish(s);
    return status;
}

/* Other velocities, or none: the method begins anew, with matrices for them. */
static dae_status renew_second(dae_solver *s)
{
    if (s->bound.context.cache) s->bound.method->cache_free(s->bound.context.cache);
    s->bound.context.cache = NULL;
    dae_status status = second_bind(s, &s->diag);
    if (status != DAE_OK || !s->bound.context.second || !s->bound.method->cache_new) return status;
    s->bound.context.cache = s->bound.method->cache_new(&s->bound.context);
    if (s->bound.context.cache) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
}

dae_status solver_repattern(dae_solver *s, const dae_problem *problem)
{
    s->bound.problem = s->bound.eval.problem = problem;
    iteration_free(&s->bound.matrix);
    s->bound.matrix = (iteration){0};
    drop_output_projector(s);
    dae_status status =
        iteration_new(&s->bound.matrix, &s->bound.eval, &s->bound.options, &s->diag);
    newton_reset(&s->bound.newton);
    if (status == DAE_OK && solver_second_order(s)) status = renew_second(s);
    if (status == DAE_OK && s->bound.options.project_output && !solver_output_projector(s))
        status = diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    return status;
}

/* Tolerances and tags of unknowns that are only behind those of the user. */
static bool extend_options(dae_options *o, int n, int longer)
{
    double *rtol = o->rtol_by_variable ? DAE_ARRAY(double, longer) : NULL;
    double *atol = o->atol_by_variable ? DAE_ARRAY(double, longer) : NULL;
    dae_tag *tags[2] = {o->y_tags ? DAE_ARRAY(dae_tag, longer) : NULL,
                        o->yp_tags ? DAE_ARRAY(dae_tag, longer) : NULL};
    bool ok = (rtol || !o->rtol_by_variable) && (atol || !o->atol_by_variable) &&
              (tags[0] || !o->y_tags) && (tags[1] || !o->yp_tags);
    for (int i = 0; ok && i < longer; i++) {
        if (rtol) rtol[i] = i < n ? o->rtol_by_variable[i] : o->rtol;
        if (atol) atol[i] = i < n ? o->atol_by_variable[i] : o->atol;
        if (tags[0]) tags[0][i] = i < n ? o->y_tags[i] : DAE_TAG_GUESS;
        if (tags[1]) tags[1][i] = i < n ? o->yp_tags[i] : DAE_TAG_GUESS;
    }
    options_free(o);
    o->rtol_by_variable = rtol;
    o->atol_by_variable = atol;
    o->y_tags = tags[0];
    o->yp_tags = tags[1];
    return ok;
}

/* The residual problem that the formulation asks for, in place of base. */
static dae_status rewrite(dae_solver *s, dae_diag *diag)
{
    const form_source *source = s->base->forms;
    const formulation *f = s->formulation;
    if (solver_second_order(s) && f->automatic) f = &formulation_residual;
    const form_rewriting *how = formulation_rewriting(f, source);
    double alpha = s->bound.options.formulation_parameter;
    if (!(alpha > 0.0)) alpha = f->parameter;
    if (!form_instance_rewrite(s->bound.forms, how, alpha))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the choice of positions.");
    if (how == form_base_rewriting(source)) return DAE_OK;
    dae_status status = form_residual_problem(s->base, how, &s->bound.rewritten, diag);
    if (status != DAE_OK) return status;
    int n = s->bound.n, longer = s->bound.rewritten->form.n;
    s->bound.problem = s->bound.rewritten;
    s->bound.n = longer;
    s->bound.multipliers = DAE_ARRAY(bool, longer);
    if (!s->bound.multipliers || !extend_options(&s->bound.options, n, longer))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", longer);
    for (int i = n; i < longer; i++) s->bound.multipliers[i] = true;
    if (longer > n && (s->bound.options.norm || s->bound.options.weights))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Options norm and weights are for the unknowns of the problem, but "
                        "formulation ggl adds multipliers: choose another one (index1, index2, "
                        "index3, baumgarte), or a method on the form itself.");
    return DAE_OK;
}

/* Callbacks in another form: for the method as they are, or as a residual. */
static dae_status adopt_forms(dae_solver *s, dae_diag *diag)
{
    const form_source *source = s->base->forms;
    unsigned wanted = s->bound.method->forms;
    s->bound.forms = form_instance_new(source, wanted, &s->bound.eval);
    if (!s->bound.forms)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the problem's form.");
    s->bound.form_set = form_instance_set(s->bound.forms);
    return solver_uses_forms(s) ? DAE_OK : rewrite(s, diag);
}

/* Which of the forms the set has. */
static unsigned forms_in(const form_set *set)
{
    if (!set) return 0;
    return (set->hessenberg ? FORM_HESSENBERG : 0u) | (set->mechanical ? FORM_MECHANICAL : 0u) |
           (set->quasilinear ? FORM_QUASILINEAR : 0u) | (set->manifold ? FORM_MANIFOLD : 0u) |
           (set->series ? FORM_SERIES : 0u);
}

bool solver_uses_forms(const dae_solver *s)
{
    return (s->bound.method->forms & forms_in(s->bound.form_set)) != 0;
}

bool solver_rewritten(const dae_solver *s)
{
    return reform_active(s) || s->bound.rewritten;
}

void solver_to_base(const dae_solver *s, double t, const double *y, const double *yp,
                    double *base_y, double *base_yp)
{
    if (reform_active(s)) {
        reform_to_base(s, t, y, yp, base_y, base_yp);
        return;
    }
    if (base_y) vector_copy(s->base->form.n, y, base_y);
    if (base_yp) vector_copy(s->base->form.n, yp, base_yp);
}

static dae_status assemble(dae_solver *s, dae_diag *diag)
{
    s->bound.finest_rtol = finest_rtol(&s->bound.options, s->bound.n);
    s->bound.method = s->choice.open ? choice_first(s) : method_find(s->bound.options.method);
    if (s->choice.open && s->base->model)
        s->bound.method = choice_residual(s); /* until it is analysed */
    if (s->base->forms) {
        dae_status status = adopt_forms(s, diag);
        if (status != DAE_OK) return status;
    }
    if (!s->base->forms && !s->bound.problem->model && (s->bound.method->forms & FORM_MANIFOLD)) {
        s->bound.eval =
            (evaluator){.problem = s->bound.problem, .stats = &s->stats, .stop = &s->stop};
        s->bound.ode = ode_form_new(&s->bound.eval);
        if (!s->bound.ode)
            return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for y' = phi(t, y).");
        s->bound.form_set = ode_form_set(s->bound.ode);
    }
    if (s->bound.problem->model) {
        s->hybrid = hybrid_new(s->bound.problem->model);
        s->reform = s->hybrid ? reform_new(s->bound.problem) : NULL;
        if (!s->reform) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the model.");
    }
    return furnish(s, diag);
}

dae_status solver_new(const dae_problem *problem, const dae_options *options, dae_solver **solver,
                      dae_diag *diag)
{
    diag_clear(diag);
    if (!solver) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_new: solver is NULL.");
    *solver = NULL;
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_new: problem is NULL.");
    dae_options full;
    dae_status status = complete_options(options, &full, diag);
    if (status == DAE_OK) status = options_check(&full, problem, diag);
    if (status != DAE_OK) return status;
    dae_solver *s = DAE_NEW(dae_solver);
    if (!s) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a solver.");
    s->bound.problem = s->base = problem;
    s->bound.n = problem->form.n;
    diag_clear(&s->diag);
    s->choice.open = choice_is_open(&full);
    s->choice.reason = "";
    s->formulation = formulation_find(full.formulation, NULL);
    status = options_copy(&s->bound.options, &full, s->bound.n, diag);
    if (status == DAE_OK) status = options_copy(&s->base_options, &full, s->bound.n, diag);
    s->run.sizes = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
    if (status == DAE_OK && !s->run.sizes)
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
    if (status == DAE_OK) status = monitors_new(s, &full, diag);
    if (status == DAE_OK) status = assemble(s, diag);
    if (status != DAE_OK) {
        dae_solver_free(s);
        return status;
    }
    *solver = s;
    return DAE_OK;
}

/* Everything but the problem, the user's options and the statistics goes. */
static void disassemble(dae_solver *s)
{
    unfurnish(s);
    options_free(&s->bound.options);
    form_instance_free(s->bound.forms);
    dae_problem_free(s->bound.rewritten);
    dae_free(s->bound.multipliers);
    s->bound.forms = NULL;
    s->bound.form_set = NULL;
    s->bound.rewritten = NULL;
    s->bound.multipliers = NULL;
    s->bound.problem = s->base;
    s->bound.n = s->base->form.n;
}

dae_status solver_renew(dae_solver *s)
{
    disassemble(s);
    dae_status status = options_copy(&s->bound.options, &s->base_options, s->bound.n, &s->diag);
    return status == DAE_OK ? assemble(s, &s->diag) : status;
}

dae_status solver_reassemble(dae_solver *s)
{
    const size_t n = (size_t)s->base->form.n;
    double *values = DAE_ARRAY(double, 2 * n), t = s->run.t;
    if (!values) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d values.", (int)n);
    memcpy(values, s->bound.y, n * sizeof *values);
    memcpy(values + n, s->bound.yp, n * sizeof *values);
    dae_status status = solver_renew(s);
    if (status == DAE_OK) {
        memcpy(s->bound.y, values, n * sizeof *values);
        memcpy(s->bound.yp, values + n, n * sizeof *values);
        status = solver_begin(s, t, s->bound.options.init);
    }
    dae_free(values);
    return status;
}

void dae_solver_free(dae_solver *s)
{
    if (!s) return;
    unfurnish(s);
    ode_form_free(s->bound.ode);
    monitors_free(s->monitors);
    dae_free(s->run.sizes);
    options_free(&s->bound.options);
    options_free(&s->base_options);
    form_instance_free(s->bound.forms); /* before what its source belongs to */
    reform_free(s->reform);
    hybrid_free(s->hybrid);
    dae_problem_free(s->bound.rewritten);
    dae_free(s->bound.multipliers);
    dae_free(s->run.past_t);
    dae_free(s->run.past_y);
    dae_free(s);
}

double dae_solver_time(const dae_solver *s)
{
    return s ? s->run.t : NAN;
}

void dae_solver_last_step(const dae_solver *s, double *start, double *end)
{
    if (start) *start = s ? s->run.t_old : NAN;
    if (end) *end = s ? s->run.t_new : NAN;
}

const int *dae_solver_events(const dae_solver *s)
{
    return s && s->bound.events ? event_finder_flags(s->bound.events) : NULL;
}

const dae_stats *dae_solver_stats(const dae_solver *s)
{
    return s ? &s->stats : NULL;
}

const dae_diag *dae_solver_diag(const dae_solver *s)
{
    return s ? &s->diag : NULL;
}

double dae_solver_condition(dae_solver *s)
{
    return s ? iteration_condition(&s->bound.matrix) : -1.0;
}

dae_status dae_solver_local_errors(const dae_solver *s, double *errors)
{
    if (!s || !errors) return DAE_ERR_ARGUMENT;
    bool accepted =
        s->run.last.t + s->run.last.h == s->run.t_new; /* not so after a rejected attempt */
    if (s->run.phase < PHASE_RUNNING || !s->run.last.estimate || !accepted) return DAE_ERR_STATE;
    if (solver_rewritten(s)) { /* of a variant: variables of the base that are no unknowns: 0 */
        solver_to_base(s, s->run.t_new, s->run.last.estimate, NULL, errors, NULL);
        for (int i = 0; i < s->base->form.n; i++) errors[i] *= s->run.last.error_constant;
        return DAE_OK;
    }
    for (int i = 0; i < s->bound.n; i++)
        errors[i] = s->run.last.error_constant * s->run.last.estimate[i];
    return DAE_OK;
}

dae_status dae_solver_set_tolerances(dae_solver *s, double rtol, double atol)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    bool sound = isfinite(rtol) && isfinite(atol) && rtol >= 0.0 && atol >= 0.0;
    if (!sound || rtol + atol <= 0.0)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "Tolerances rtol = %g, atol = %g: both must be finite and not negative, "
                        "and one of them positive.",
                        rtol, atol);
    dae_free((void *)s->bound.options.rtol_by_variable);
    dae_free((void *)s->bound.options.atol_by_variable);
    s->bound.options.rtol_by_variable = s->bound.options.atol_by_variable = NULL;
    s->bound.norm.rtol_by_variable = s->bound.norm.atol_by_variable = NULL;
    dae_free((void *)s->base_options.rtol_by_variable);
    dae_free((void *)s->base_options.atol_by_variable);
    s->base_options.rtol_by_variable = s->base_options.atol_by_variable = NULL;
    s->bound.options.rtol = s->bound.norm.rtol = s->base_options.rtol = rtol;
    s->bound.options.atol = s->bound.norm.atol = s->base_options.atol = atol;
    if (!s->bound.options.weights) s->bound.finest_rtol = rtol;
    if (s->run.phase == PHASE_NEW) return DAE_OK;
    solver_interpolate(s, s->run.t_new, 0, s->bound.work);
    return solver_update_weights(s, s->run.t_new, s->bound.work);
}

dae_status dae_solver_set_stop_time(dae_solver *s, double stop_time)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    if (isinf(stop_time))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The stop time is infinite; use NAN for no stop time.");
    s->bound.options.stop_time = s->base_options.stop_time = stop_time;
    return DAE_OK;
}
