/* The beginning of a stretch: kinds of variables, consistent values, events, the method's matrices.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "matrix/kinematic.h"
#include "solve/begin/begin_parts.h"
#include "solve/begin/declared_kinds.h"
#include "solve/bind/array_callbacks.h"
#include "solve/explain/explain.h"

/* What DAE_ERROR_AUTO stands for; docs/notes/bdf.md has the measurements. */
static dae_error_test resolve_error_test(const dae_solver *s)
{
    if (s->bound.options.error_test != DAE_ERROR_AUTO) return s->bound.options.error_test;
    return DAE_ERROR_ALL;
}

/* No larger than the way to the stop time, beyond which F may not exist. */
static double within_stop_time(const dae_solver *s, double t, double h)
{
    double room = fabs(s->bound.options.stop_time - t);
    return room > 0.0 && h > room ? room : h; /* NAN: no comparison holds */
}

/* The first of prescribed steps; 0: they are not. */
static double given_step(const dae_solver *s, double t)
{
    const dae_options *o = &s->bound.options;
    if (o->step_count == 0) return o->fixed_step;
    return fabs(sequence_step(o, t, t, sequence_direction(o, t)));
}

/* The length over which y moves by half a tolerance; a guess where y' is zero or unknown. It scales
 * increments and units at the start, nothing more, so that a user's step counts within reason only.
 */
static double start_scale(const dae_solver *s, double t)
{
    double sign = isnan(s->bound.options.stop_time) || s->bound.options.stop_time >= t ? 1.0 : -1.0;
    double least = 1e-10 * fmax(fabs(t), DBL_MIN / DBL_EPSILON), h = given_step(s, t);
    if (h <= 0.0) h = fabs(s->bound.options.initial_step);
    if (h > 0.0) least = fmax(least, 1e-30);
    if (h == 0.0) {
        double speed = norm_of(&s->bound.norm, s->bound.yp, s->bound.norm.scale);
        h = speed > 0.0 && isfinite(speed) ? 0.5 / speed : 1e-6 * fmax(1.0, fabs(t));
    }
    return sign * within_stop_time(s, t, fmin(fmax(h, least), 1e6));
}

static dae_init resolve_init(const dae_solver *s, dae_init mode)
{
    if (mode != DAE_INIT_AUTO) return mode;
    bool general = s->bound.options.y_tags || s->bound.options.yp_tags ||
                   s->bound.problem->form.condition_count > 0;
    return general ? DAE_INIT_GENERAL : DAE_INIT_DIFFERENTIAL;
}

/* A method on forms that the problem, or the model as it is now, cannot offer. */
static dae_status check_forms(dae_solver *s)
{
    if (!method_needs_form(s->bound.method) || binding_uses_forms(&s->bound)) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Method %s works on the form %s, which the equations of the %s do not have. "
                    "Use a method for residual forms, such as bdf.",
                    s->bound.method->name, forms_text(s->bound.method->forms),
                    s->hybrid ? "model" : "problem");
}

/* The forms tell consistent values on all levels themselves, unless all y' are given, or they are
 * integrated as a square residual that leaves hidden constraints to the general engine. */
static bool forms_initialize(const dae_solver *s, dae_init mode)
{
    if (!s->bound.forms || mode == DAE_INIT_DERIVATIVE) return false;
    if (s->base->forms && !form_source_has_levels(s->base->forms)) return false;
    return binding_uses_forms(&s->bound) || !s->bound.form_set->quasilinear || s->bound.rewritten;
}

/* A warning that names the constraints which follow from others. */
static void tell_redundant(dae_solver *s)
{
    enum { MOST = 4 };
    dae_diag text = {0};
    text_list list = text_list_in(&text, MOST);
    diag_set(&text, DAE_OK, "warning: these constraints follow from the others: ");
    for (int l = 0; l < form_instance_constraints(s->bound.forms); l++)
        if (form_instance_released(s->bound.forms, l))
            text_list_add(&list, "%s", form_instance_constraint_name(s->bound.forms, l));
    if (list.count == 0) return;
    text_list_end(&list);
    diag_append(&text, ". The multipliers are not unique: they are those of least norm.");
    solver_note(s, text.text);
}

/* Whether the user wants steps to be moved onto the constraints, all of which must be independent
 * for that; a method that does so by default does without. */
static bool projects(const dae_solver *s)
{
    return s->bound.method->projects && s->bound.options.projection > DAE_PROJECTION_NONE;
}

/* A note of the solution that was not taken where the search had to leave its start. */
static void tell_other(dae_solver *s, double t)
{
    double other;
    bool slope;
    char text[DAE_TEXT_SIZE];
    int i = initializer_other(s->bound.init, &other, &slope);
    if (i < 0 || !s->bound.options.message) return;
    const char *name = problem_variable(s->bound.problem, i);
    snprintf(text, sizeof text,
             "note: the equations have more than one solution at t = %.9g: %s%.100s%s = %.9g was "
             "taken, %.9g is another. Give a start value near the one that is meant.",
             t, slope ? "der(" : "", name ? name : "y", slope ? ")" : "",
             slope ? s->bound.yp[i] : s->bound.y[i], other);
    s->bound.options.message(text, s->bound.options.user);
}

static dae_status make_consistent(dae_solver *s, double t, double h, dae_init mode)
{
    if (!forms_initialize(s, mode)) {
        const dae_tag *tags = s->hybrid ? NULL : s->bound.options.y_tags;
        for (int i = 0; tags && i < s->bound.n; i++)
            initializer_fixed(s->bound.init)[i] = tags[i] == DAE_TAG_FIXED;
        bool known;
        dae_status status = initialize_once(s, t, h, mode, &known);
        if (status == DAE_OK && !known) tell_other(s, t);
        return status;
    }
    int n = s->base->form.n;
    for (int i = n; i < s->bound.n; i++) s->bound.y[i] = s->bound.yp[i] = 0.0; /* multipliers mu */
    form_instance_release(s->bound.forms, !binding_uses_forms(&s->bound) && !projects(s));
    const mechanical_form *before = form_instance_set(s->bound.forms)->mechanical;
    dae_status status = form_consistent(s->bound.forms, t, s->bound.norm.weights,
                                        s->bound.options.y_tags, s->bound.y, s->bound.yp, &s->diag);
    if (form_instance_set(s->bound.forms)->mechanical != before) s->bound.cache_used = true;
    if (status == DAE_OK) tell_redundant(s);
    return status;
}

dae_status solver_ready_method(dae_solver *s)
{
    if (s->bound.searching || binding_ready_method(&s->bound)) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for method %s.",
                    s->bound.method->name);
}

/* Derivatives that the callbacks of a user are said not to have. */
static dae_status check_orders(dae_solver *s, double t)
{
    bool said = s->bound.forms && !s->hybrid;
    int i = said ? form_instance_wrong(s->bound.forms, t, s->bound.y, s->bound.yp) : -1;
    if (i < 0) return DAE_OK;
    diag_variable(&s->diag, i, problem_variable(s->bound.problem, i));
    s->diag.t = t;
    int order = form_instance_order(s->bound.forms, i);
    if (order >= 0)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "orders[%d] is %d, but F depends on a higher derivative of %s at t = %.9g: "
                        "raise it.",
                        i, order, s->diag.variable_name, t);
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "second[%d] is false, but F depends on the second derivative of %s at t = "
                    "%.9g: set it.",
                    i, s->diag.variable_name, t);
}

static dae_status explain_choice(dae_solver *s, double t, form_choice chosen)
{
    if (chosen == CHOICE_EVALUATION) return explain_evaluation(s, EVAL_RETRY);
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Formulation %s chooses positions that the constraints determine, but at t = "
                    "%.9g the constraints depend on each other.",
                    s->wishes.formulation->name, t);
}

dae_status forms_choose(dae_solver *s, double t, bool anew)
{
    if (!s->bound.rewritten || !s->bound.forms) return DAE_OK;
    const double *y = anew ? s->bound.y : s->run.last.y;
    form_choice chosen = form_instance_choose(s->bound.forms, t, y, anew);
    if (chosen > CHOICE_CHANGED) return explain_choice(s, t, chosen);
    if (chosen == CHOICE_CHANGED) {
        dae_problem *problem;
        dae_status status = form_residual_chosen(s->bound.forms, s->base, &problem, &s->diag);
        if (status != DAE_OK) return status;
        status = binding_repattern(&s->bound, problem, &s->diag);
        dae_problem_free(s->bound.rewritten);
        s->bound.rewritten = problem;
        s->bound.choices++;
        if (status != DAE_OK) return status;
        memcpy(s->bound.kinds, problem->form.kinds, (size_t)s->bound.n * sizeof *s->bound.kinds);
        norm_classify(&s->bound.norm, s->bound.kinds, s->bound.context.error_test);
    }
    if (!anew && chosen == CHOICE_CHANGED) {
        vector_copy(s->bound.n, s->run.last.y, s->bound.y);
        vector_copy(s->bound.n, s->run.last.yp, s->bound.yp);
    }
    if (anew || chosen == CHOICE_CHANGED)
        form_instance_complete(s->bound.forms, s->bound.y, s->bound.yp);
    return DAE_OK;
}

/* What kind each variable and equation is, and whether that fits what was declared. */
static dae_status settle_kinds(dae_solver *s, double t, double h)
{
    dae_status status = solver_check_kinds(s, t, h);
    if (status == DAE_OK) status = resolve_kinds(s, t, h);
    if (status == DAE_OK) status = solver_check_declared_index(s, t);
    if (status == DAE_OK) status = check_orders(s, t);
    if (status != DAE_OK) return status;
    s->bound.context.error_test = resolve_error_test(s);
    norm_classify(&s->bound.norm, s->bound.kinds, s->bound.context.error_test);
    return DAE_OK;
}

static dae_status settle_values(dae_solver *s, double t, double h, dae_init mode)
{
    if (mode == DAE_INIT_NONE) return solver_update_weights(s, t, s->bound.y);
    dae_status status =
        solver_update_weights(s, t, s->bound.y); /* anew, since the kinds are known now */
    if (status == DAE_OK) status = make_consistent(s, t, h, mode);
    if (status == DAE_ERR_EVALUATION && s->hybrid) return explain_evaluation(s, EVAL_RETRY);
    return status == DAE_OK ? solver_update_weights(s, t, s->bound.y) : status;
}

dae_status solver_start_events(dae_solver *s, double t)
{
    if (!s->bound.events) return DAE_OK;
    eval_status eval = event_finder_start(s->bound.events, t, s->bound.y, s->bound.yp);
    return eval == EVAL_OK ? DAE_OK : explain_events(s, eval);
}

/* Variables that jump were seen on another stretch. */
static void forget_jumps(dae_solver *s)
{
    for (int i = 0; i < s->bound.n; i++) s->bound.jumps[i] = (jump_trace){0};
}

/* Values and reduced system by the derivative array of callbacks; values are consistent then. */
static dae_status begin_array_of(dae_solver *s, double t)
{
    const dae_tag *tags = s->bound.options.y_tags;
    bool *fixed = DAE_ARRAY(bool, s->bound.n);
    if (!fixed) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a start.");
    for (int i = 0; tags && i < s->bound.n; i++) fixed[i] = tags[i] == DAE_TAG_FIXED;
    double rtol = s->bound.finest_rtol > 0.0 ? s->bound.finest_rtol : s->bound.options.rtol;
    dae_status status =
        callback_array_start(s->bound.array, t, fixed, rtol, s->bound.y, s->bound.yp, &s->diag);
    dae_free(fixed);
    return status;
}

dae_status solver_begin(dae_solver *s, double t, dae_init mode)
{
    s->run.phase = PHASE_NEW;
    s->run.t = s->run.t_old = s->run.t_new = t;
    s->run.direction = 0.0;
    s->run.last = (attempt){0};
    s->run.resumption.h = s->run.resumption.tried = 0.0;
    newton_reset(&s->bound.newton);
    forget_jumps(s);
    dae_status status = check_forms(s);
    if (status == DAE_OK && s->bound.array) status = begin_array_of(s, t);
    if (s->bound.array) mode = DAE_INIT_NONE;
    if (status == DAE_OK) status = solver_update_weights(s, t, s->bound.y);
    if (status != DAE_OK) return status;
    if (s->bound.forms && form_instance_look(s->bound.forms, t, s->bound.y))
        s->bound.cache_used = true;
    double h = start_scale(s, t);
    status = settle_kinds(s, t, h);
    if (status == DAE_OK) status = settle_values(s, t, h, resolve_init(s, mode));
    if (status == DAE_OK) status = solver_start_events(s, t);
    if (status == DAE_OK) status = forms_choose(s, t, true);
    if (status == DAE_OK && binding_second_order(&s->bound)) status = second_find(s, t);
    if (status == DAE_OK) status = solver_ready_method(s);
    if (status != DAE_OK) return status;
    s->run.watch_due = false;
    s->run.searched = t;
    s->stats.starts++;
    s->stats.t = t;
    s->run.phase = PHASE_READY;
    return DAE_OK;
}

void solver_join(dae_solver *s, double from)
{
    s->run.t_old = from;
}

dae_status solver_settle_singular(dae_solver *s, double t)
{
    double h = start_scale(s, t);
    if (binding_uses_forms(&s->bound) ||
        initializer_regular(s->bound.init, t, h, s->bound.kinds, s->bound.norm.weights, s->bound.y,
                            s->bound.yp))
        return DAE_OK;
    dae_diag found = {0};
    dae_status status = initialize_hidden(s->bound.init, t, h, s->bound.kinds,
                                          s->bound.norm.weights, s->bound.y, s->bound.yp, &found);
    if (status == DAE_OK) return solver_begin(s, t, DAE_INIT_NONE);
    s->run.phase = PHASE_NEW;
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index is not what it seems at t = %.9g: the equations do not determine "
                    "the derivatives and algebraic variables there, as where the coefficient of a "
                    "derivative vanishes. %.400s",
                    t, found.text);
}

dae_status begin_callbacks(dae_solver *s, double t, const double *y0, const double *yp0)
{
    if (!yp0 || s->bound.rewritten) vector_zero(s->bound.n, s->bound.yp);
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.y);
    values_from_user(s, y0, yp0);
    if (s->bound.init) initializer_nearest(s->bound.init, true);
    dae_status status = solver_begin(s, t, s->bound.options.init);
    if (s->bound.init) initializer_nearest(s->bound.init, false);
    return status;
}

dae_status forget_matrices(dae_solver *s)
{
    if (!s->bound.init) return DAE_OK; /* nothing is bound */
    s->bound.eval.failure = (eval_failure){0};
    bool viewed = !s->bound.output_projector || iteration_reset(&s->bound.view) == ITERATION_OK;
    viewed = viewed && (!s->bound.ends.eval || iteration_reset(&s->bound.ends) == ITERATION_OK);
    if (viewed && iteration_reset(&s->bound.matrix) == ITERATION_OK) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the iteration matrix.");
}
