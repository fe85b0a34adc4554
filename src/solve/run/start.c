/* Starts and restarts: weights, kinds of variables, consistent values, first step size. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "model/model_series.h"
#include "solve/bind/solver.h"
#include "solve/run/kinds.h"

/* DASSL refuses tolerances whose weights are within 100 roundings of y. Explicit one-step methods
 * have neither iterations that round-off would stop nor differences of old values: as RADAU does,
 * they go on to 5, which is 10 times half a unit in the last place. */
static double roundings(const dae_solver *s)
{
    return (s->bound.method->on_manifold ? 5.0 : 100.0) *
           precision_rounding(s->bound.options.precision);
}

dae_status solver_update_weights(dae_solver *s, double t, const double *y)
{
    s->bound.weights_sound = false;
    int bad = norm_update(&s->bound.norm, t, y);
    if (bad >= 0) return explain_weights(s, bad);
    if (s->bound.finest_rtol <= roundings(s)) { /* else ||y|| <= 1 / rtol: no need to look */
        double excess = roundings(s) * norm_of(&s->bound.norm, y, s->bound.norm.scale);
        if (excess > 1.0) return explain_accuracy(s, excess);
    }
    s->bound.weights_sound = true;
    return DAE_OK;
}

static bool any_auto_kind(const dae_solver *s)
{
    const dae_kind *kinds = s->bound.problem->form.kinds;
    if (!kinds) return true;
    for (int i = 0; i < s->bound.n; i++)
        if (kinds[i] == DAE_KIND_AUTO) return true;
    return false;
}

/* Whether there is a matrix whose columns can be looked at: not so for GMRES with the user's P or
 * none. */
static bool has_columns(const iteration *it)
{
    return !it->matrix_free || it->preconditioner == DAE_PRECOND_ILU ||
           it->preconditioner == DAE_PRECOND_BANDED;
}

/* The velocities of second order methods that test them count as differential at index 3 too. */
static void keep_velocities(dae_solver *s)
{
    const second_order *form = s->bound.context.second;
    if (!form || !s->bound.method->tests_velocities) return;
    for (int k = 0; k < form->n; k++) {
        int v = form->velocity[k];
        if (v >= 0 && s->bound.kinds[v] == DAE_KIND_INDEX2)
            s->bound.kinds[v] = DAE_KIND_DIFFERENTIAL;
    }
}

/* Velocities of a model that is taken as it is, of index 3, in order to be projected: within steps
 * they are of index 2, as those of callbacks are. */
static void note_projected_velocities(dae_solver *s)
{
    const mechanical_form *m = s->bound.form_set ? s->bound.form_set->mechanical : NULL;
    bool projected = s->bound.method->projects && s->bound.options.projection > DAE_PROJECTION_NONE;
    if (!s->hybrid || !m || m->nl == 0 || s->bound.method->forms != 0 || !projected) return;
    const int *place = s->bound.form_set->mechanical_places.v;
    for (int i = 0; i < m->nq; i++) s->bound.kinds[place ? place[i] : m->nq + i] = DAE_KIND_INDEX2;
}

/* Whether y' of variable i, which looks algebraic, may be in F after all. */
static bool may_have_slope(const dae_solver *s, int i)
{
    const bool *differential = s->hybrid ? s->hybrid->instance->form->differential : NULL;
    if (differential && !differential[i]) return false;
    return s->bound.kinds[i] == DAE_KIND_INDEX1 && s->bound.yp[i] == 0.0;
}

/* *matter: whether F changes with y' of the variables that look algebraic: dF/dy' may be zero only
 * because y' is guessed 0, as of der(x)^2 = x. moved: y' with them at 1. EVAL_STOP: the user's
 * wish. */
static eval_status slopes_matter(dae_solver *s, double t, double *moved, double *f, bool *matter)
{
    bool any = false;
    for (int i = 0; i < s->bound.n; i++) {
        bool may = may_have_slope(s, i);
        moved[i] = may ? 1.0 : s->bound.yp[i];
        any = any || may;
    }
    *matter = false;
    if (!any) return EVAL_OK;
    const eval_failure before = s->bound.eval.failure;
    long *count = &s->stats.jacobian_residuals;
    eval_status status =
        evaluate_residual(&s->bound.eval, t, s->bound.y, s->bound.yp, s->bound.work, count);
    if (status == EVAL_OK)
        status = evaluate_residual(&s->bound.eval, t, s->bound.y, moved, f, count);
    if (status == EVAL_STOP) return status;
    s->bound.eval.failure = before;
    for (int i = 0; status == EVAL_OK && i < s->bound.n && !*matter; i++)
        *matter = s->bound.work[i] != f[i];
    return EVAL_OK;
}

/* Variables whose columns of dF/dy' are zero at y' = 0 only are differential. */
static dae_status look_beside_zero(dae_solver *s, double t, double h)
{
    bool any = false, matter = false;
    for (int i = 0; i < s->bound.n; i++) any = any || may_have_slope(s, i);
    if (!any) return DAE_OK;
    double *moved = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
    if (!moved) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    iteration_status status = ITERATION_RETRY;
    if (slopes_matter(s, t, moved, moved + s->bound.n, &matter) == EVAL_STOP)
        status = ITERATION_STOP;
    if (matter) {
        s->bound.matrix.jac.unmask = true;
        status = iteration_evaluate(&s->bound.matrix, t, s->bound.y, moved, 1.0 / h, h,
                                    s->bound.norm.weights, NULL);
    }
    for (int i = 0; status == ITERATION_OK && i < s->bound.n; i++)
        if (may_have_slope(s, i) && !s->bound.matrix.jac.algebraic_column[i])
            s->bound.kinds[i] = DAE_KIND_DIFFERENTIAL;
    dae_free(moved);
    if (status == ITERATION_MEMORY)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    return status == ITERATION_STOP ? explain_evaluation(s, EVAL_STOP) : DAE_OK;
}

/* Whether the text of a model tells that variable i is algebraic, for methods without a matrix. */
static bool is_algebraic(const dae_solver *s, int i)
{
    return s->hybrid && !s->bound.forms && !s->hybrid->instance->form->differential[i];
}

/* Differential or index-1 for every variable left to us, told by the columns of dF/dy'. Without
 * columns, but for texts, all variables count as differential, as in DASPK. */
static dae_status resolve_kinds(dae_solver *s, double t, double h)
{
    const dae_kind *given = s->bound.problem->form.kinds;
    bool residual = !solver_uses_forms(s) || s->bound.ode; /* else there is no need for a matrix */
    bool look = residual && any_auto_kind(s) && has_columns(&s->bound.matrix);
    if (look ||
        (residual &&
         s->bound.matrix.jac.undetected)) { /* finding a pattern allocates: not while stepping */
        s->bound.matrix.jac.unmask = look;  /* h is a guess: a zero may be but a small number */
        iteration_status status = iteration_evaluate(&s->bound.matrix, t, s->bound.y, s->bound.yp,
                                                     1.0 / h, h, s->bound.norm.weights, NULL);
        if (status == ITERATION_MEMORY)
            return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
        if (status != ITERATION_OK)
            return explain_evaluation(s, status == ITERATION_STOP ? EVAL_STOP : EVAL_RETRY);
    }
    for (int i = 0; i < s->bound.n; i++) {
        s->bound.kinds[i] = given ? given[i] : DAE_KIND_AUTO;
        if (s->bound.kinds[i] != DAE_KIND_AUTO) continue;
        bool algebraic = look ? s->bound.matrix.jac.algebraic_column[i] : is_algebraic(s, i);
        s->bound.kinds[i] = algebraic ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
    }
    dae_status beside = look && !given ? look_beside_zero(s, t, h) : DAE_OK;
    if (beside != DAE_OK) return beside;
    if (s->bound.forms && !residual) form_kinds(s->bound.forms, s->bound.kinds);
    note_projected_velocities(s);
    keep_velocities(s);
    return DAE_OK;
}

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

/* The length over which y moves by half a tolerance; a guess where y' is zero or unknown. It scales
 * increments and units at the start, nothing more, so that a user's step counts within reason only.
 */
static double start_scale(const dae_solver *s, double t)
{
    double sign = isnan(s->bound.options.stop_time) || s->bound.options.stop_time >= t ? 1.0 : -1.0;
    double least = 1e-10 * fmax(fabs(t), DBL_MIN / DBL_EPSILON), h = s->bound.options.fixed_step;
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
                   s->bound.problem->form.n_conditions > 0;
    return general ? DAE_INIT_GENERAL : DAE_INIT_DIFFERENTIAL;
}

/* A method on forms that the problem, or the model as it is now, cannot offer. */
static dae_status check_forms(dae_solver *s)
{
    if (!method_needs_form(s->bound.method) || solver_uses_forms(s)) return DAE_OK;
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
    return solver_uses_forms(s) || !s->bound.form_set->quasilinear || s->bound.rewritten;
}

/* A warning that names the constraints which follow from others. */
static void tell_redundant(dae_solver *s)
{
    enum { MOST = 4 };
    dae_diag text = {0};
    int count = 0;
    for (int l = 0; l < form_instance_constraints(s->bound.forms); l++) {
        if (!form_instance_released(s->bound.forms, l)) continue;
        const char *name = form_instance_constraint_name(s->bound.forms, l);
        if (count == 0)
            diag_set(&text, DAE_OK, "warning: these constraints follow from the others: %s", name);
        else if (count < MOST)
            diag_append(&text, ", %s", name);
        count++;
    }
    if (count == 0 || !s->bound.options.message) return;
    diag_append(&text, "%s. The multipliers are not unique: they are those of least norm.",
                count > MOST ? ", .." : "");
    s->bound.options.message(text.text, s->bound.options.user);
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
        dae_status status = initialize(s->bound.init, mode, t, h, s->bound.kinds,
                                       s->bound.norm.weights, s->bound.y, s->bound.yp, &s->diag);
        if (status == DAE_OK) tell_other(s, t);
        return status;
    }
    int n = s->base->form.n;
    for (int i = n; i < s->bound.n; i++) s->bound.y[i] = s->bound.yp[i] = 0.0; /* multipliers mu */
    form_instance_release(s->bound.forms, !solver_uses_forms(s) && !projects(s));
    const mechanical_form *before = form_instance_set(s->bound.forms)->mechanical;
    dae_status status = form_consistent(s->bound.forms, t, s->bound.norm.weights,
                                        s->bound.options.y_tags, s->bound.y, s->bound.yp, &s->diag);
    if (form_instance_set(s->bound.forms)->mechanical != before) s->bound.cache_used = true;
    if (status == DAE_OK) tell_redundant(s);
    return status;
}

/* The matrices of the method, for the forms at hand. */
static dae_status renew_cache(dae_solver *s)
{
    const method *m = s->bound.method;
    if (!m->cache_new) return DAE_OK;
    bool unused = !s->bound.cache_used && s->bound.cache_forms == s->bound.context.forms;
    if (s->bound.context.cache && unused) return DAE_OK;
    if (s->bound.context.cache && !s->bound.forms && s->bound.cache_forms == s->bound.context.forms)
        return DAE_OK;
    if (s->bound.context.cache) m->cache_free(s->bound.context.cache);
    s->bound.context.cache = m->cache_new(&s->bound.context);
    s->bound.cache_forms = s->bound.context.forms;
    s->bound.cache_used = false;
    if (s->bound.context.cache) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for method %s.", m->name);
}

/* Second derivatives that the user said there are none of. */
static dae_status check_orders(dae_solver *s, double t)
{
    int i = s->bound.forms ? form_instance_wrong(s->bound.forms, t, s->bound.y, s->bound.yp) : -1;
    if (i < 0) return DAE_OK;
    diag_variable(&s->diag, i, problem_variable(s->bound.problem, i));
    s->diag.t = t;
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
                    s->formulation->name, t);
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
        status = solver_repattern(s, problem);
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

static dae_status start_events(dae_solver *s, double t)
{
    if (s->bound.events) {
        eval_status eval = event_finder_start(s->bound.events, t, s->bound.y, s->bound.yp);
        if (eval != EVAL_OK) return explain_events(s, eval);
        if (s->hybrid) hybrid_arm(s);
    }
    return s->hybrid ? hybrid_check_branches(s) : DAE_OK;
}

dae_status solver_begin(dae_solver *s, double t, dae_init mode)
{
    s->run.phase = PHASE_NEW;
    s->run.t = s->run.t_old = s->run.t_new = t;
    s->run.direction = 0.0;
    s->run.last = (attempt){0};
    newton_reset(&s->bound.newton);
    jump_forget(s);
    dae_status status = check_forms(s);
    if (status == DAE_OK) status = solver_update_weights(s, t, s->bound.y);
    if (status != DAE_OK) return status;
    if (s->bound.forms && form_instance_look(s->bound.forms, t, s->bound.y))
        s->bound.cache_used = true;
    double h = start_scale(s, t);
    status = settle_kinds(s, t, h);
    if (status == DAE_OK) status = settle_values(s, t, h, resolve_init(s, mode));
    if (status == DAE_OK) status = start_events(s, t);
    if (status == DAE_OK) status = forms_choose(s, t, true);
    if (status == DAE_OK) status = second_find(s, t);
    if (status == DAE_OK) status = renew_cache(s);
    if (status != DAE_OK) return status;
    s->run.watch_due = false;
    s->run.searched = t;
    s->stats.starts++;
    s->stats.t = t;
    s->run.phase = PHASE_READY;
    return DAE_OK;
}

dae_status solver_settle_singular(dae_solver *s, double t)
{
    double h = start_scale(s, t);
    if (solver_uses_forms(s) || initializer_regular(s->bound.init, t, h, s->bound.kinds,
                                                    s->bound.norm.weights, s->bound.y, s->bound.yp))
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

/* A one-step method of order p: over T = ||y|| / ||y'|| the solution changes by all of itself, and
 * errors of size ||y|| (h/T)^p are within the tolerance for h = T ||y||^(-1/p); a fifth of that. */
static double guess_one_step(const dae_solver *s, double tend, double speed)
{
    double most = 0.1 * fabs(tend - s->run.t),
           size = norm_of(&s->bound.norm, s->bound.y, s->bound.norm.tested);
    if (!(speed > 0.0)) return fmin(most, 1e-3 * fabs(tend - s->run.t));
    if (!(size > 1.0)) return fmin(most, 0.5 / speed);
    return fmin(most, 0.2 * size / speed * pow(size, -1.0 / s->bound.method->max_order));
}

/* Where x' is known as well as x, the first prediction x + h x' is wrong by h^2 x'' / 2: h0 =
 * min(1e-3 |tend - t|, ||x''||^(-1/2)), and 1/2 / ||x'|| for unknowns of first order. A smaller one
 * would drown multipliers in rounding errors, which are u / h^2. work: n */
static double guess_second_order(const dae_solver *s, double tend)
{
    const second_order *form = s->bound.context.second;
    double h = 1e-3 * fabs(tend - s->run.t);
    for (int order = 1; order <= 2; order++) {
        vector_zero(s->bound.n, s->bound.work);
        for (int k = 0; k < form->n; k++) {
            int v = form->velocity[k], i = form->place[k];
            if ((v >= 0) == (order == 2)) s->bound.work[i] = s->bound.yp[v >= 0 ? v : i];
        }
        double size = norm_of(&s->bound.norm, s->bound.work, s->bound.norm.tested);
        if (!(size > 0.0) || !isfinite(size)) continue;
        h = fmin(h, order == 2 ? 1.0 / sqrt(size) : 0.5 / size);
    }
    return fmax(h, 1e-150);
}

/* h0 = min(1e-3 |tend - t|, 1/2 / ||y'||) [BCP96 5.2.3]; with a history its last step */
static double guess_first_step(const dae_solver *s, double tend)
{
    if (s->run.history > 1)
        return fmin(fabs(s->run.past_t[0] - s->run.past_t[1]), fabs(tend - s->run.t));
    if (s->bound.context.second && !s->bound.method->fixed_order)
        return guess_second_order(s, tend);
    double h = 1e-3 * fabs(tend - s->run.t);
    double speed = fmin(norm_of(&s->bound.norm, s->bound.yp, s->bound.norm.tested),
                        1e150); /* h0 = 0 is none */
    if (s->bound.method->fixed_order) return guess_one_step(s, tend, speed);
    return speed > 0.5 / h ? 0.5 / speed : h;
}

/* The user's first step or ours, within the user's limits; it may pass the end, but not by far. */
double solver_first_step(const dae_solver *s, double tend)
{
    double direction = tend >= s->run.t ? 1.0 : -1.0, h = fabs(s->bound.options.initial_step);
    if (s->bound.options.fixed_step > 0.0) return direction * s->bound.options.fixed_step;
    if (h == 0.0) h = guess_first_step(s, tend) * (s->hybrid && s->run.history == 0 ? GOLDEN : 1.0);
    h = fmin(h, 10.0 * fabs(tend - s->run.t));
    if (s->hybrid && s->hybrid->first_step > 0.0) h = fmin(h, s->hybrid->first_step);
    if (s->bound.options.max_step > 0.0) h = fmin(h, s->bound.options.max_step);
    h = fmax(h, DBL_MIN / DBL_EPSILON); /* 1/h must not overflow */
    h = fmax(h, fmax(s->bound.options.min_step, 8.0 * DBL_EPSILON * fabs(s->run.t)));
    return direction * h;
}

static bool finite_input(dae_solver *s, double t, const double *y, const double *yp)
{
    int n = s->base->form.n, bad = y ? vector_first_nonfinite(n, y) : -1;
    const char *what = "y";
    if (bad < 0 && yp) {
        bad = vector_first_nonfinite(n, yp);
        what = "y'";
    }
    if (!isfinite(t)) {
        diag_set(&s->diag, DAE_ERR_ARGUMENT, "The initial time is %g.", t);
        return false;
    }
    if (bad < 0) return true;
    double value = what[1] ? yp[bad] : y[bad];
    diag_variable(&s->diag, bad, problem_variable(s->bound.problem, bad));
    s->diag.value = value;
    diag_set(&s->diag, DAE_ERR_ARGUMENT, "The initial value of %s for variable %s is %g.", what,
             s->diag.variable_name, value);
    return false;
}

static void take_values(dae_solver *s, const double *y, const double *yp)
{
    int n = s->bound.rewritten ? s->base->form.n : s->bound.n;
    if (y) vector_copy(n, y, s->bound.y);
    if (yp) vector_copy(n, yp, s->bound.yp);
}

static void drop_history(dae_solver *s)
{
    dae_free(s->run.past_t);
    dae_free(s->run.past_y);
    s->run.past_t = s->run.past_y = NULL;
    s->run.history = 0;
}

/* The same input gives the same bits: nothing of what was done before may show. */
static dae_status forget_matrices(dae_solver *s)
{
    s->bound.eval.failure = (eval_failure){0};
    bool viewed = !s->bound.output_projector || iteration_reset(&s->bound.view) == ITERATION_OK;
    if (viewed && iteration_reset(&s->bound.matrix) == ITERATION_OK) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the iteration matrix.");
}

/* Back to the base form of a model; what a run has shown of the method does not count for the next.
 */
static dae_status start_choice(dae_solver *s)
{
    bool other = s->choice.open && (s->choice.implicit || s->choice.careful);
    s->choice.implicit = s->choice.careful = false;
    s->choice.reason = "";
    if (!other) return reform_return(s);
    return s->hybrid ? reform_reset(s) : solver_renew(s);
}

static dae_status begin_with(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (s->hybrid)
        hybrid_start_values(s);
    else if (!yp0 || s->bound.rewritten)
        vector_zero(s->bound.n, s->bound.yp);
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.y);
    take_values(s, y0, yp0);
    return s->hybrid ? hybrid_start(s, t0) : solver_begin(s, t0, s->bound.options.init);
}

/* Where the method was our choice, and its form is singular here, as with constraints that follow
 * from each other: the residual form may not be. */
static dae_status begin_residual(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    diag_clear(&s->diag);
    s->choice.implicit = true;
    s->choice.reason = "the form is singular at the start, so ";
    dae_status status = solver_renew(s);
    return status == DAE_OK ? begin_with(s, t0, y0, yp0) : status;
}

dae_status solver_start(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    s->run.phase = PHASE_NEW;
    s->run.doubt_reported = s->run.unwatched_reported = false;
    s->run.unwatched_steps = 0;
    drop_history(s);
    if (!y0 && !s->hybrid)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT, "dae_solver_start: y0 is NULL.");
    if (!finite_input(s, t0, y0, yp0)) return s->diag.status;
    s->run.stall = (stall){.t0 = t0};
    norm_drop_floors(&s->bound.norm);
    sizes_start(s, y0);
    dae_status status = start_choice(s);
    if (status == DAE_OK) status = forget_matrices(s);
    if (status != DAE_OK) return status;
    status = begin_with(s, t0, y0, yp0);
    bool again = status == DAE_ERR_SINGULAR && !s->hybrid && choice_may_help(s, status);
    if (again) return begin_residual(s, t0, y0, yp0);
    bool conflict = status == DAE_ERR_INITIAL || status == DAE_ERR_SINGULAR;
    return conflict ? explain_parameters(s, t0, status) : status;
}

/* Times must move strictly in one direction, away from times[0]. */
static bool ordered_times(int count, const double *times)
{
    for (int i = 1; i < count; i++) {
        double step = times[i] - times[i - 1];
        if (!isfinite(step) || step == 0.0 || (step > 0.0) != (times[1] > times[0])) return false;
    }
    return isfinite(times[0]);
}

/* yp = derivative at times[0] of the polynomial through the past values (Lagrange's form) */
static void history_slope(int n, int count, const double *times, const double *values, double *yp)
{
    double first = 0.0;
    vector_zero(n, yp);
    for (int i = 1; i < count; i++) {
        double weight = 1.0 / (times[i] - times[0]);
        first -= weight;
        for (int j = 1; j < count; j++)
            if (j != i) weight *= (times[0] - times[j]) / (times[i] - times[j]);
        vector_axpy(n, weight, values + (size_t)i * (size_t)n, yp);
    }
    vector_axpy(n, first, values, yp);
}

/* count rows of n values each, with zeros behind up to `longer`; NULL: memory */
static double *longer_rows(const double *values, int count, int n, int longer)
{
    double *rows = DAE_ARRAY(double, (size_t)count *(size_t)longer);
    for (int i = 0; rows && i < count; i++)
        vector_copy(n, values + (size_t)i * (size_t)n, rows + (size_t)i * (size_t)longer);
    return rows;
}

/* A model starts with an event; a history that it does not continue is of no use. */
static dae_status start_model(dae_solver *s, double t)
{
    vector_copy(s->bound.n, s->bound.yp, s->bound.at_yp);
    dae_status status = hybrid_start_given(s, t);
    if (status != DAE_OK) return status;
    if (reform_active(s)) { /* its derivatives have no past */
        drop_history(s);
        return DAE_OK;
    }
    for (int i = 0; i < s->bound.n; i++) s->bound.work[i] = s->bound.y[i] - s->run.past_y[i];
    if (norm_of(&s->bound.norm, s->bound.work, s->bound.norm.scale) > 1.0) {
        drop_history(s);
        return DAE_OK;
    }
    take_values(s, s->run.past_y, s->bound.at_yp);
    return DAE_OK;
}

dae_status dae_solver_start_history(dae_solver *s, int count, const double *times,
                                    const double *values, const double *yp0)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    s->run.phase = PHASE_NEW;
    drop_history(s);
    if (count < 1 || count > s->bound.method->max_order + 1)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_start_history: %d past values; method %s takes 1 to %d.", count,
                        s->bound.method->name, s->bound.method->max_order + 1);
    if (!times || !values || !ordered_times(count, times))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_start_history: times and values must be given, and times move "
                        "strictly from the newest to the oldest.");
    for (int i = 0; i < count; i++)
        if (!finite_input(s, times[i], values + (size_t)i * (size_t)s->base->form.n, yp0))
            return s->diag.status;
    dae_status status = reform_return(s);
    if (status != DAE_OK) return status;
    int n = s->base->form.n;
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.yp);
    if (!yp0) history_slope(s->bound.rewritten ? n : s->bound.n, count, times, values, s->bound.yp);
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.y);
    take_values(s, values, yp0);
    s->run.past_t = dae_copy(times, (size_t)count, sizeof(double));
    s->run.past_y = s->bound.rewritten
                        ? longer_rows(values, count, n, s->bound.n)
                        : dae_copy(values, (size_t)count * (size_t)s->bound.n, sizeof(double));
    if (!s->run.past_t || !s->run.past_y) {
        drop_history(s);
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the history.");
    }
    s->run.history = count;
    status = forget_matrices(s);
    if (status == DAE_OK)
        status = s->hybrid ? start_model(s, times[0]) : solver_begin(s, times[0], DAE_INIT_NONE);
    if (s->run.history > 1) s->run.direction = times[0] > times[1] ? 1.0 : -1.0;
    return status;
}

dae_status dae_solver_restart(dae_solver *s, const double *y, const double *yp)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "dae_solver_restart was called before a successful dae_solver_start.");
    if (!finite_input(s, s->run.t, y, yp)) return s->diag.status;
    if (s->run.phase != PHASE_READY) {
        if (!y) solver_interpolate(s, s->run.t, 0, s->bound.y);
        if (!yp) solver_interpolate(s, s->run.t, 1, s->bound.yp);
    }
    dae_status status = reform_return(s);
    if (status != DAE_OK) return status;
    drop_history(s);
    take_values(s, y, yp);
    if (s->hybrid) return hybrid_restart(s, y || yp);
    return solver_begin(s, s->run.t, s->bound.options.init);
}
