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
    s->method->size(s->n, &state, &scratch);
    s->state = dae_calloc(1, state);
    s->scratch = dae_calloc(1, scratch);
    s->kinds = DAE_ARRAY(dae_kind, s->n);
    s->y = DAE_ARRAY(double, s->n);
    s->yp = DAE_ARRAY(double, s->n);
    s->work = DAE_ARRAY(double, s->n);
    int most = s->n > s->base->form.n ? s->n : s->base->form.n;
    s->at_y = DAE_ARRAY(double, most);
    s->at_yp = DAE_ARRAY(double, most);
    s->jumps = DAE_ARRAY(jump_trace, s->n);
    s->extent = DAE_ARRAY(double, s->n);
    s->step_start = (step_start){.y = DAE_ARRAY(double, s->n), .yp = DAE_ARRAY(double, s->n)};
    return s->step_start.y && s->step_start.yp && s->state && s->scratch && s->kinds && s->y &&
           s->yp && s->work && s->at_y && s->at_yp && s->jumps && s->extent;
}

static void drop_output_projector(dae_solver *s)
{
    refine_free(s);
    initializer_free(s->output_projector);
    iteration_free(&s->view);
    s->output_projector = NULL;
    s->view = (iteration){0};
}

initializer *solver_output_projector(dae_solver *s)
{
    if (s->output_projector) return s->output_projector;
    if (iteration_new(&s->view, &s->eval, &s->options, NULL) != DAE_OK ||
        initializer_new(&s->output_projector, &s->eval, &s->view, &s->options, NULL) != DAE_OK)
        drop_output_projector(s);
    return s->output_projector;
}

static const invariant_set *solver_invariants(const dae_solver *s)
{
    return s->monitors && s->monitors->set.count > 0 ? &s->monitors->set : NULL;
}

/* Build the rooms that depend on the problem, lowest first. */
static dae_status furnish(dae_solver *s, dae_diag *diag)
{
    s->eval =
        (evaluator){.problem = s->problem, .stats = &s->stats, .forms = s->forms, .stop = &s->stop};
    if (s->hybrid) {
        s->eval.instance = s->hybrid->instance;
        if (!hybrid_options(s->hybrid->instance->form, &s->options))
            return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the model.");
    }
    bool fits = allocate_work(s) && norm_new(&s->norm, s->n, &s->options);
    if (!fits) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
    dae_status status = iteration_new(&s->matrix, &s->eval, &s->options, diag);
    if (status != DAE_OK) return status;
    if (!newton_new(&s->newton, &s->eval, &s->matrix, &s->norm, &s->options))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
    status = initializer_new(&s->init, &s->eval, &s->matrix, &s->options, diag);
    if (status != DAE_OK) return status;
    if (s->options.project_output && !solver_output_projector(s))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
    if (s->problem->form.n_events > 0)
        status = event_finder_new(&s->events, &s->eval, s->options.event_tolerance, diag);
    s->finest_rtol = finest_rtol(&s->options, s->n);
    if (s->multipliers) s->norm.hidden = s->multipliers;
    s->context = (method_context){.n = s->n,
                                  .eval = &s->eval,
                                  .newton = &s->newton,
                                  .norm = &s->norm,
                                  .forms = s->form_set,
                                  .projection = s->options.projection,
                                  .invariants = solver_invariants(s),
                                  .options = &s->options,
                                  .smooth = s->options.dense == DAE_DENSE_SMOOTH};
    if (!monitors_bind(s)) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the monitors.");
    if (status == DAE_OK) status = second_bind(s, diag);
    if (status != DAE_OK || !s->method->cache_new) return status;
    s->furnished = s->method;
    bool forms = !method_needs_form(s->method) || solver_uses_forms(s);
    bool second = !solver_second_order(s) || s->context.second;
    if (!forms || !second) return DAE_OK; /* not yet there */
    s->context.cache = s->method->cache_new(&s->context);
    s->cache_forms = s->context.forms;
    s->cache_used = false;
    if (!s->context.cache)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
    return DAE_OK;
}

static void unfurnish(dae_solver *s)
{
    if (s->context.cache) s->furnished->cache_free(s->context.cache);
    s->context.cache = NULL;
    second_release(s);
    drop_output_projector(s);
    event_finder_free(s->events);
    initializer_free(s->init);
    newton_free(&s->newton);
    iteration_free(&s->matrix);
    norm_free(&s->norm);
    dae_free(s->state);
    dae_free(s->scratch);
    dae_free(s->kinds);
    dae_free(s->y);
    dae_free(s->yp);
    dae_free(s->work);
    dae_free(s->at_y);
    dae_free(s->at_yp);
    dae_free(s->jumps);
    dae_free(s->extent);
    dae_free(s->step_start.y);
    dae_free(s->step_start.yp);
    s->events = NULL;
    s->init = NULL;
    s->newton = (newton){0};
    s->matrix = (iteration){0};
    s->norm = (error_norm){0};
    s->state = s->scratch = NULL;
    s->kinds = NULL;
    s->y = s->yp = s->work = s->at_y = s->at_yp = NULL;
    s->jumps = NULL;
    s->extent = NULL;
    s->step_start = (step_start){0};
}

dae_status solver_bind(dae_solver *s, const dae_problem *problem, dae_options *options)
{
    unfurnish(s);
    options_free(&s->options);
    s->options = *options;
    s->problem = problem;
    s->n = problem->form.n;
    s->phase = PHASE_NEW;
    dae_status status = furnish(s, &s->diag);
    if (status != DAE_OK) unfurnish(s);
    return status;
}

/* Other velocities, or none: the method begins anew, with matrices for them. */
static dae_status renew_second(dae_solver *s)
{
    if (s->context.cache) s->method->cache_free(s->context.cache);
    s->context.cache = NULL;
    dae_status status = second_bind(s, &s->diag);
    if (status != DAE_OK || !s->context.second || !s->method->cache_new) return status;
    s->context.cache = s->method->cache_new(&s->context);
    if (s->context.cache) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
}

dae_status solver_repattern(dae_solver *s, const dae_problem *problem)
{
    s->problem = s->eval.problem = problem;
    iteration_free(&s->matrix);
    s->matrix = (iteration){0};
    drop_output_projector(s);
    dae_status status = iteration_new(&s->matrix, &s->eval, &s->options, &s->diag);
    newton_reset(&s->newton);
    if (status == DAE_OK && solver_second_order(s)) status = renew_second(s);
    if (status == DAE_OK && s->options.project_output && !solver_output_projector(s))
        status = diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
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
    form_rewriting how;
    const form_source *source = s->base->forms;
    const formulation *f = s->formulation;
    if (solver_second_order(s) && f->automatic) f = &formulation_residual;
    formulation_rewriting(f, source, &how);
    double alpha = s->options.formulation_parameter;
    if (!(alpha > 0.0)) alpha = f->parameter;
    if (!form_instance_rewrite(s->forms, how, alpha))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the choice of positions.");
    if (how == form_base_rewriting(source)) return DAE_OK;
    dae_status status = form_residual_problem(s->base, how, &s->rewritten, diag);
    if (status != DAE_OK) return status;
    int n = s->n, longer = s->rewritten->form.n;
    s->problem = s->rewritten;
    s->n = longer;
    s->multipliers = DAE_ARRAY(bool, longer);
    if (!s->multipliers || !extend_options(&s->options, n, longer))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", longer);
    for (int i = n; i < longer; i++) s->multipliers[i] = true;
    if (longer > n && (s->options.norm || s->options.weights))
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
    unsigned wanted = s->method->forms;
    s->forms = form_instance_new(source, wanted, &s->eval);
    if (!s->forms) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the problem's form.");
    form_instance_rewrite(s->forms, form_base_rewriting(source), 0.0);
    s->form_set = form_instance_set(s->forms);
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
    return (s->method->forms & forms_in(s->form_set)) != 0;
}

bool solver_rewritten(const dae_solver *s)
{
    return reform_active(s) || s->rewritten;
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
    s->finest_rtol = finest_rtol(&s->options, s->n);
    s->method = s->choice.open ? choice_first(s) : method_find(s->options.method);
    if (s->choice.open && s->base->model) s->method = choice_residual(s); /* until it is analysed */
    if (s->base->forms) {
        dae_status status = adopt_forms(s, diag);
        if (status != DAE_OK) return status;
    }
    if (!s->base->forms && !s->problem->model && (s->method->forms & FORM_MANIFOLD)) {
        s->eval = (evaluator){.problem = s->problem, .stats = &s->stats, .stop = &s->stop};
        s->ode = ode_form_new(&s->eval);
        if (!s->ode) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for y' = phi(t, y).");
        s->form_set = ode_form_set(s->ode);
    }
    if (s->problem->model) {
        s->hybrid = hybrid_new(s->problem->model);
        s->reform = s->hybrid ? reform_new(s->problem) : NULL;
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
    s->problem = s->base = problem;
    s->n = problem->form.n;
    diag_clear(&s->diag);
    s->choice.open = choice_is_open(&full);
    s->choice.reason = "";
    s->formulation = formulation_find(full.formulation, NULL);
    status = options_copy(&s->options, &full, s->n, diag);
    if (status == DAE_OK) status = options_copy(&s->base_options, &full, s->n, diag);
    s->sizes = DAE_ARRAY(double, 2 * (size_t)s->n);
    if (status == DAE_OK && !s->sizes)
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->n);
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
    options_free(&s->options);
    form_instance_free(s->forms);
    dae_problem_free(s->rewritten);
    dae_free(s->multipliers);
    s->forms = NULL;
    s->form_set = NULL;
    s->rewritten = NULL;
    s->multipliers = NULL;
    s->problem = s->base;
    s->n = s->base->form.n;
}

dae_status solver_renew(dae_solver *s)
{
    disassemble(s);
    dae_status status = options_copy(&s->options, &s->base_options, s->n, &s->diag);
    return status == DAE_OK ? assemble(s, &s->diag) : status;
}

dae_status solver_reassemble(dae_solver *s)
{
    const size_t n = (size_t)s->base->form.n;
    double *values = DAE_ARRAY(double, 2 * n), t = s->t;
    if (!values) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d values.", (int)n);
    memcpy(values, s->y, n * sizeof *values);
    memcpy(values + n, s->yp, n * sizeof *values);
    dae_status status = solver_renew(s);
    if (status == DAE_OK) {
        memcpy(s->y, values, n * sizeof *values);
        memcpy(s->yp, values + n, n * sizeof *values);
        status = solver_begin(s, t, s->options.init);
    }
    dae_free(values);
    return status;
}

void dae_solver_free(dae_solver *s)
{
    if (!s) return;
    unfurnish(s);
    ode_form_free(s->ode);
    monitors_free(s->monitors);
    dae_free(s->sizes);
    options_free(&s->options);
    options_free(&s->base_options);
    form_instance_free(s->forms); /* before what its source belongs to */
    reform_free(s->reform);
    hybrid_free(s->hybrid);
    dae_problem_free(s->rewritten);
    dae_free(s->multipliers);
    dae_free(s->past_t);
    dae_free(s->past_y);
    dae_free(s);
}

double dae_solver_time(const dae_solver *s)
{
    return s ? s->t : NAN;
}

void dae_solver_last_step(const dae_solver *s, double *start, double *end)
{
    if (start) *start = s ? s->t_old : NAN;
    if (end) *end = s ? s->t_new : NAN;
}

const int *dae_solver_events(const dae_solver *s)
{
    return s && s->events ? event_finder_flags(s->events) : NULL;
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
    return s ? iteration_condition(&s->matrix) : -1.0;
}

dae_status dae_solver_local_errors(const dae_solver *s, double *errors)
{
    if (!s || !errors) return DAE_ERR_ARGUMENT;
    bool accepted = s->last.t + s->last.h == s->t_new; /* not so after a rejected attempt */
    if (s->phase < PHASE_RUNNING || !s->last.estimate || !accepted) return DAE_ERR_STATE;
    if (solver_rewritten(s)) { /* of a variant: variables of the base that are no unknowns: 0 */
        solver_to_base(s, s->t_new, s->last.estimate, NULL, errors, NULL);
        for (int i = 0; i < s->base->form.n; i++) errors[i] *= s->last.error_constant;
        return DAE_OK;
    }
    for (int i = 0; i < s->n; i++) errors[i] = s->last.error_constant * s->last.estimate[i];
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
    dae_free((void *)s->options.rtol_by_variable);
    dae_free((void *)s->options.atol_by_variable);
    s->options.rtol_by_variable = s->options.atol_by_variable = NULL;
    s->norm.rtol_by_variable = s->norm.atol_by_variable = NULL;
    dae_free((void *)s->base_options.rtol_by_variable);
    dae_free((void *)s->base_options.atol_by_variable);
    s->base_options.rtol_by_variable = s->base_options.atol_by_variable = NULL;
    s->options.rtol = s->norm.rtol = s->base_options.rtol = rtol;
    s->options.atol = s->norm.atol = s->base_options.atol = atol;
    if (!s->options.weights) s->finest_rtol = rtol;
    if (s->phase == PHASE_NEW) return DAE_OK;
    solver_interpolate(s, s->t_new, 0, s->work);
    return solver_update_weights(s, s->t_new, s->work);
}

dae_status dae_solver_set_stop_time(dae_solver *s, double stop_time)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    if (isinf(stop_time))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "The stop time is infinite; use NAN for no stop time.");
    s->options.stop_time = s->base_options.stop_time = stop_time;
    return DAE_OK;
}
