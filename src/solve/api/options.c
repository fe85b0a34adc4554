/* Options: defaults, checks with messages, and the solver's own copy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "method/registry.h"
#include "solve/bind/solver.h"
#include "solve/prepare/choose.h"

static const dae_options defaults = {
    .size = sizeof(dae_options),
    .method = "auto",
    .formulation = "auto",
    .rtol = 1e-6,
    .atol = 1e-9,
    .stop_time = NAN,
    .max_steps = 100000,
    .max_error_failures = 10,
    .max_convergence_failures = 10,
    .precond_lower = 1,
    .precond_upper = 1,
    .krylov_restarts = 5,
    .krylov_tolerance = 0.05,
    .newton_iterations = NEWTON_USUAL,
    .newton_tolerance = 0.1,
    .init_iterations = 50,
    .init_tolerance = 0.01,
};

void dae_options_fill(dae_options *options, size_t size)
{
    if (!options) return;
    sized_write(options, size, &defaults, sizeof defaults);
    options->size = size;
}

dae_status options_read(const dae_options *options, dae_options *full, dae_diag *diag)
{
    *full = defaults;
    if (!options) return DAE_OK;
    dae_status status = sized_read(options, options->size, full, sizeof *full,
                                   "struct of options (see dae_options_default)", diag);
    full->size = sizeof *full;
    return status;
}

/* Old names work for one release; the caller is told which one replaces them. */
static void note_old_name(const dae_options *o, const char *name)
{
    const char *instead = method_replacement(name);
    char text[240];
    if (!instead || !o->message) return;
    snprintf(text, sizeof text,
             "note: method \"%s\" is now \"%s\" (options method, order and variant); the old name "
             "works in this version only.",
             name, instead);
    o->message(text, o->user);
}

/* The member that takes a table of the user: of the variant asked for, or the one for tables. */
static const method *select_for_table(const dae_options *o, const char *name, dae_diag *diag)
{
    const method *m = method_by_table(name);
    const char *instead = method_replacement(name), *full = instead ? instead : name;
    const bool plain = !*method_variant(full) && !(o->variant && *o->variant);
    if (m && !plain) m = method_select(name, 0, o->variant, diag);
    if (m && m->takes_table) return m;
    diag_set(diag, DAE_ERR_ARGUMENT,
             "Option table is for methods hem, herk, prk and irk; method %s%s%s has coefficients "
             "of its own.",
             name, plain || !o->variant ? "" : " in variant ",
             plain || !o->variant ? "" : o->variant);
    return NULL;
}

/* A table of the user: of the order that the method's name asks for, 0: any; and what it claims. */
static dae_status check_table(const dae_table *given, table_use use, int order, dae_diag *diag)
{
    dae_table table;
    dae_status status = own_table_take(given, &table, diag);
    if (status != DAE_OK) return status;
    if (order > 0 && order != table.order)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Order %d is asked for, but the table \"%s\" claims order %d.", order,
                        table.name, table.order);
    return own_table_check(&table, use, diag);
}

/* The member that method, order, variant and table ask for. NULL: the diagnostic says why not. */
static const method *select_member(const dae_options *o, const char *name, dae_diag *diag)
{
    if (o->table) return select_for_table(o, name, diag);
    const method *m = method_select(name, o->order, o->variant, diag);
    if (!m || m != method_by_table(name)) return m;
    diag_set(diag, DAE_ERR_ARGUMENT,
             "Method %s integrates by a table of yours: give it, opt.table (--table FILE).",
             m->name);
    return NULL;
}

/* One name in place of method, order and variant; orders of methods with several become limits. */
static dae_status resolve_method(dae_options *o, dae_diag *diag)
{
    const char *name = o->method ? o->method : "auto";
    bool open = strcmp(name, "auto") == 0, asks = o->order != 0 || (o->variant && *o->variant);
    if (open && asks)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Options order and variant belong to a method; name one in option method.");
    if (o->order < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Option order is %d; it cannot be negative.",
                        o->order);
    if (open && o->table)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option table belongs to a method; name hem, herk, prk or irk in option "
                        "method.");
    if (open) return DAE_OK;
    const method *m = select_member(o, name, diag);
    if (!m) return DAE_ERR_ARGUMENT;
    note_old_name(o, name);
    o->method = m->name;
    int order = o->order > 0 ? o->order : method_order(method_replacement(name) ? m->name : name);
    dae_status status = o->table ? check_table(o->table, m->takes_table, order, diag) : DAE_OK;
    if (status != DAE_OK) return status;
    if (order > 0 && ((o->max_order > 0 && order > o->max_order) || order < o->min_order))
        return diag_set(diag, DAE_ERR_ARGUMENT, "Order %d of method %s contradicts option %s = %d.",
                        order, m->name, order < o->min_order ? "min_order" : "max_order",
                        order < o->min_order ? o->min_order : o->max_order);
    if (order > 0 && (!m->fixed_order || m->own_order)) o->min_order = o->max_order = order;
    if (o->max_order == 0 && o->min_order > method_most_order(m, 0)) o->max_order = o->min_order;
    if (m->dassl && o->newton_tolerance == defaults.newton_tolerance)
        o->newton_tolerance = NEWTON_DASSL;
    o->order = 0;
    o->variant = NULL;
    return DAE_OK;
}

/* Local coordinates of methods on residual forms are formulations: states among the variables, or
 * in the tangent space. */
static dae_status resolve_coordinates(dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    if (o->coordinates != DAE_COORDINATES_PARTITIONED && o->coordinates != DAE_COORDINATES_TANGENT)
        return DAE_OK;
    if (m->on_manifold || method_needs_form(m) || (m->forms & FORM_SECOND_ORDER)) return DAE_OK;
    const char *name = o->coordinates == DAE_COORDINATES_TANGENT ? "tangent" : "dummy";
    const formulation *asked = formulation_find(o->formulation, NULL);
    if (asked && !asked->automatic && strcmp(asked->name, name) != 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option coordinates is formulation %s with method %s, and formulation %s "
                        "is asked for.",
                        name, m->name, asked->name);
    if (asked) o->formulation = name;
    o->coordinates = DAE_COORDINATES_AMBIENT;
    return DAE_OK;
}

/* Steps of an integrator from outside take the place of a method. */
static dae_status resolve_integrator(dae_options *o, dae_diag *diag)
{
    const bool named = o->method && strcmp(o->method, "auto") != 0;
    if (named && strcmp(o->method, method_integrator.name) != 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Options method = \"%s\" and integrator exclude each other: who takes the "
                        "steps? Leave one of them out.",
                        o->method);
    if (!o->integrator->start || !o->integrator->attempt)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Option integrator: its function %s is NULL.",
                        o->integrator->start ? "attempt" : "start");
    o->method = method_integrator.name;
    return DAE_OK;
}

dae_status options_complete(const dae_options *options, dae_options *full, dae_diag *diag)
{
    dae_status status = options_read(options, full, diag);
    if (status != DAE_OK) return status;
    bool chosen = full->method && strcmp(full->method, "auto") != 0;
    if (full->precision != DAE_PRECISION_DOUBLE && !chosen) full->method = method_taylor.name;
    status = full->integrator ? resolve_integrator(full, diag) : resolve_method(full, diag);
    return status == DAE_OK ? resolve_coordinates(full, diag) : status;
}

/* Scalar or per-variable tolerances: non-negative, finite, not both zero for one variable. */
static dae_status check_tolerances(const dae_options *o, const dae_problem *p, dae_diag *diag)
{
    for (int i = 0; i < p->form.n; i++) {
        double rtol = o->rtol_by_unknown ? o->rtol_by_unknown[i] : o->rtol;
        double atol = o->atol_by_unknown ? o->atol_by_unknown[i] : o->atol;
        bool sound = isfinite(rtol) && isfinite(atol) && rtol >= 0.0 && atol >= 0.0;
        if (sound && rtol + atol > 0.0) continue;
        diag_variable(diag, i, problem_variable(p, i));
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The tolerances of variable %s are rtol = %g, atol = %g. Both must be "
                        "finite and not negative, and at least one of them positive.",
                        diag ? diag->variable_name : "", rtol, atol);
    }
    return DAE_OK;
}

typedef struct number_rule {
    const char *name;
    double value;
    bool positive; /* else: not negative */
} number_rule;

static dae_status check_numbers(const dae_options *o, dae_diag *diag)
{
    const number_rule rules[] = {
        {"initial_step", fabs(o->initial_step), false},
        {"max_step", o->max_step, false},
        {"min_step", o->min_step, false},
        {"fixed_step", o->fixed_step, false},
        {"min_order", o->min_order, false},
        {"max_order", o->max_order, false},
        {"max_steps", (double)o->max_steps, false},
        {"max_error_failures", o->max_error_failures, true},
        {"max_convergence_failures", o->max_convergence_failures, true},
        {"precond_lower", o->precond_lower, false},
        {"precond_upper", o->precond_upper, false},
        {"krylov_dimension", o->krylov_dimension, false},
        {"krylov_restarts", o->krylov_restarts, false},
        {"krylov_orthogonal", o->krylov_orthogonal, false},
        {"krylov_tolerance", o->krylov_tolerance, true},
        {"newton_iterations", o->newton_iterations, true},
        {"threads", o->threads, false},
        {"baumgarte_alpha", o->baumgarte_alpha, false},
        {"baumgarte_beta", o->baumgarte_beta, false},
        {"newton_tolerance", o->newton_tolerance, true},
        {"init_iterations", o->init_iterations, true},
        {"init_tolerance", o->init_tolerance, true},
        {"event_tolerance", o->event_tolerance, false},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        double value = rules[i].value;
        if (isfinite(value) && (value > 0.0 || (value == 0.0 && !rules[i].positive))) continue;
        if (diag) diag->value = value;
        return diag_set(diag, DAE_ERR_ARGUMENT, "Option %s is %g; it must be finite and %s.",
                        rules[i].name, value, rules[i].positive ? "positive" : "not negative");
    }
    if (!(o->max_step > 0.0 && o->max_step < o->min_step)) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Option max_step is %g and min_step %g: no step is as short as the one and as "
                    "long as the other.",
                    o->max_step, o->min_step);
}

/* Options of GMRES that say nothing without it. */
static dae_status check_krylov(const dae_options *o, dae_diag *diag)
{
    if (o->krylov_orthogonal == 0 || o->linear_solver == DAE_LINEAR_GMRES) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Option krylov_orthogonal (--krylov-kmp) is %d, but the linear solver is not "
                    "GMRES: choose it (linear_solver, --linear-solver gmres).",
                    o->krylov_orthogonal);
}

typedef struct choice_rule {
    const char *name;
    int value, last;
} choice_rule;

static dae_status check_choices(const dae_options *o, dae_diag *diag)
{
    const choice_rule rules[] = {
        {"error_test", (int)o->error_test, DAE_ERROR_FILTERED},
        {"linear_solver", (int)o->linear_solver, DAE_LINEAR_GMRES},
        {"preconditioner", (int)o->preconditioner, DAE_PRECOND_ILU},
        {"init", (int)o->init, DAE_INIT_GENERAL},
        {"dense", (int)o->dense, DAE_DENSE_SMOOTH},
        {"projection", (int)o->projection, DAE_PROJECTION_BOTH},
        {"precision", (int)o->precision, DAE_PRECISION_QUAD},
        {"coordinates", (int)o->coordinates, DAE_COORDINATES_TANGENT},
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i].value < 0 || rules[i].value > rules[i].last)
            return diag_set(diag, DAE_ERR_ARGUMENT, "Option %s is %d; choices are 0 to %d.",
                            rules[i].name, rules[i].value, rules[i].last);
    return DAE_OK;
}

/* Residual forms of callbacks in another form. */
static dae_status check_rewriting(const formulation *f, const dae_options *o, const dae_problem *p,
                                  dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    const method *takes = f ? choose_needed(f, choice_is_open(o) ? NULL : m) : NULL;
    unsigned offers = form_source_offers(p->forms);
    if (takes && takes->forms & f->forms & offers) return DAE_OK;
    if (f && f->needs && f->forms & offers)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation \"%s\" has more equations than unknowns: it is for methods "
                        "such as %s, and not for %s.",
                        o->formulation, f->needs, m->name);
    if (method_needs_form(m) && !(f && f->automatic))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation \"%s\" is for methods on residual forms; method %s works on "
                        "the %s form itself.",
                        o->formulation, o->method, form_source_kind_name(p->forms));
    if (f && formulation_rewriting(f, p->forms)) return DAE_OK;
    diag_set(diag, DAE_ERR_UNSUPPORTED,
             "Formulation \"%s\" is not on offer for a problem in %s form; choices are",
             o->formulation, form_source_kind_name(p->forms));
    for (int i = 0; formulation_at(i); i++)
        if (formulation_rewriting(formulation_at(i), p->forms) || formulation_at(i)->forms & offers)
            diag_append(diag, "%s %s", i > 0 ? "," : "", formulation_at(i)->name);
    diag_append(diag, ".");
    return DAE_ERR_UNSUPPORTED;
}

/* What goes with the derivative array of callbacks. */
static dae_status check_array(const dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    if (m->forms & ~(unsigned)FORM_RESIDUAL || m->needs_rows)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation array gives a residual form whose constraints are "
                        "combinations of each other, which method %s is not for: use bdf or radau.",
                        m->name);
    if (o->linear_solver == DAE_LINEAR_GMRES)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation array has dense matrices: use another linear solver than "
                        "GMRES.");
    return DAE_OK;
}

/* Models can be rewritten; residual callbacks are integrated as they are. */
static dae_status check_formulation(const dae_options *o, const dae_problem *p, dae_diag *diag)
{
    const formulation *f = formulation_find(o->formulation, NULL);
    if (p->forms) return check_rewriting(f, o, p, diag);
    if (f && !p->model && f->by_array) return check_array(o, diag);
    if (f && (p->model || f->automatic || f->as_given)) return DAE_OK;
    if (!p->model)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation \"%s\" is not on offer for a problem in residual form; use "
                        "\"auto\", \"residual\" or \"array\".",
                        o->formulation);
    diag_set(diag, DAE_ERR_ARGUMENT, "There is no formulation \"%s\"; choices are", o->formulation);
    for (int i = 0; formulation_at(i); i++)
        diag_append(diag, "%s %s", i > 0 ? "," : "", formulation_at(i)->name);
    diag_append(diag, ". Some take a positive number, as baumgarte:10.");
    return DAE_ERR_ARGUMENT;
}

/* The method exists, and the orders asked for are within its limits. */
static dae_status check_method(const dae_options *o, dae_diag *diag)
{
    const char *name = o->method ? o->method : "auto";
    const method *m = method_find(name);
    const int top = method_top_order(m, o);
    bool other =
        (o->max_order > 0 && o->max_order != top) || (o->min_order > 0 && o->min_order != top);
    if (m->fixed_order && !m->own_order && m->forms != 0 && other)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Method %s has order %d only; %d was asked for.",
                        m->name, top, o->max_order > 0 ? o->max_order : o->min_order);
    if (o->max_order > top || o->min_order > top)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Method %s has orders 1 to %d; %d was asked for.",
                        m->name, top, o->max_order > top ? o->max_order : o->min_order);
    /* none is what methods without projections do anyway */
    bool projection = o->projection != DAE_PROJECTION_AUTO && o->projection != DAE_PROJECTION_NONE;
    if (projection && !m->projects)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option projection is for methods that project, such as prk and phem; "
                        "method %s does not.",
                        m->name);
    if (o->invariants_in_output && !m->shows_invariants)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option invariants_in_output is for geometric methods, such as "
                        "symplectic_euler; method %s is none.",
                        name);
    if ((o->baumgarte || o->coordinates != DAE_COORDINATES_AMBIENT) && !m->on_manifold)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Options baumgarte and coordinates are for explicit methods on manifolds, "
                        "such as dopri, coordinates also for those on residual forms, such as bdf "
                        "and radau; method %s is none.%s",
                        m->name,
                        o->baumgarte ? " Formulation baumgarte is for methods on residual forms."
                                     : "");
    if (o->max_order > 0 && o->min_order > o->max_order)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Option min_order = %d is above max_order = %d.",
                        o->min_order, o->max_order);
    return DAE_OK;
}

/* Numbers of small steps increase, and there are enough of them for the order. */
static dae_status check_small_steps(const dae_options *o, dae_diag *diag)
{
    enum { MOST = sizeof o->small_steps / sizeof o->small_steps[0] };
    const method *m = method_find(o->method ? o->method : "auto");
    int count = 0;
    for (int i = 0; i < MOST; i++) {
        if (o->small_steps[i] == 0) continue;
        int before = i > 0 ? o->small_steps[i - 1] : 0;
        if (o->small_steps[i] < 0 || count < i || o->small_steps[i] <= before)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Option small_steps: number %d is %d after %d; the numbers of small "
                            "steps must be positive and increase, as 1, 2, 4.",
                            i + 1, o->small_steps[i], before);
        count = i + 1;
    }
    if (count == 0) return DAE_OK;
    if (!m->small_steps)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option small_steps is for extrapolated Euler, method liex; method %s does "
                        "not do a step in small ones.",
                        m->name);
    if (count < 2 || o->max_order > count)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option small_steps has %d number%s, but order %d needs %d.", count,
                        count == 1 ? "" : "s", count < 2 ? 2 : o->max_order,
                        count < 2 ? 2 : o->max_order);
    return DAE_OK;
}

/* Coefficients of a multistep formula belong to a method that takes them, and are stable. */
static dae_status check_formula(const dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    bool marginal;
    if (!m->takes_formula && o->formula_steps == 0) return DAE_OK;
    if (!m->takes_formula)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Options formula_steps, formula_a and formula_b are for methods "
                        "multistep:own and oneleg:own; method %s has coefficients of its own.",
                        m->name);
    if (o->formula_steps == 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Method %s has no coefficients of its own: give formula_steps, formula_a "
                        "and formula_b (--formula 'a_0,a_1,..;b_0,b_1,..').",
                        m->name);
    formula f = formula_of_options(o, m->takes_formula);
    dae_status status = formula_check(&f, &marginal, diag);
    if (status == DAE_OK && marginal && o->message)
        o->message("note: sigma of the one-leg formula has a root of magnitude 1: perturbations of "
                   "algebraic variables are not damped, and may grow in proportion to the number "
                   "of steps.",
                   o->user);
    return status;
}

/* The method computes in that precision, and so do compiler and C library. */
static dae_status check_precision(const dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    if (o->precision == DAE_PRECISION_DOUBLE) return DAE_OK;
    if (!m->precise)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Method %s computes in double precision only; for option precision use "
                        "method taylor.",
                        m->name);
    if (precision_size(o->precision) > 0) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "This library was built without quadruple precision: its compiler or C library "
                    "has no 128 bit numbers. Use DAE_PRECISION_LONG.");
}

/* The method works on a form that the callbacks were written in, or on a weaker one. A model is
 * asked when it starts. */
static dae_status check_forms(const dae_options *o, const dae_problem *p, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    unsigned offers = p->forms ? form_source_offers(p->forms) : FORM_RESIDUAL | FORM_MANIFOLD;
    if (o->linear_solver == DAE_LINEAR_GMRES && (m->forms & FORM_SECOND_ORDER) &&
        !(m->forms & FORM_RESIDUAL))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Method %s factors matrices of the second order form and cannot use GMRES.",
                        m->name);
    bool second = !p->model && p->kinematic_count == 0 && (m->forms & FORM_SECOND_ORDER);
    if (second && !(m->forms & offers))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Method %s is for equations of second order, but the problem does not say "
                        "which unknown is the derivative of which: set `velocity`, or give the "
                        "callbacks to dae_problem_from_mechanical, or use a method for first "
                        "order, such as bdf.",
                        m->name);
    bool wanted = o->projection != DAE_PROJECTION_AUTO && o->projection != DAE_PROJECTION_NONE;
    if (m->forms == 0 && wanted && !p->model && !(offers & FORM_MECHANICAL))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option projection needs q, v, lambda and the constraints of a mechanism, "
                        "which the problem, in %s form, does not offer: give the callbacks to "
                        "dae_problem_from_mechanical, without r, w and s.",
                        p->forms ? form_source_kind_name(p->forms) : "residual");
    if (p->model && m->forms == FORM_SERIES && p->model->flat->delay_count > 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Method %s expands equations into Taylor series, and delayed values (line "
                        "%d of the model) have none: use another method, such as radau.",
                        m->name, p->model->flat->delays[0].place.line);
    if (p->model && method_needs_form(m) && flat_lags_by_unknowns(p->model->flat))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "A delay time of the model depends on its variables, which method %s does "
                        "not know where it needs them: use a method for the residual form, such as "
                        "radau or bdf.",
                        m->name);
    if (p->model || !method_needs_form(m) || (m->forms & offers)) return DAE_OK;
    if (m->forms == FORM_SERIES)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Method %s expands equations into Taylor series, and callbacks cannot be: "
                        "give the problem as a model text, or use another method, such as radau.",
                        m->name);
    bool quasilinear = (m->forms & FORM_QUASILINEAR) != 0;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Method %s works on the form %s, but the problem is in %s form: give the "
                    "callbacks to %s, or use a method for this form, such as bdf.",
                    m->name, forms_text(m->forms),
                    p->forms ? form_source_kind_name(p->forms) : "residual",
                    quasilinear ? "dae_problem_from_quasilinear"
                                : "dae_problem_from_mechanical or dae_problem_from_hessenberg");
}

/* Options that need something of the problem. */
static dae_status check_against_problem(const dae_options *o, const dae_problem *p, dae_diag *diag)
{
    bool user_precond = o->preconditioner == DAE_PRECOND_USER;
    if (user_precond && !p->form.precond_solve)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option preconditioner is DAE_PRECOND_USER, but the problem has no "
                        "precond_solve callback.");
    if (o->linear_solver == DAE_LINEAR_GMRES && o->norm)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "GMRES minimises the weighted root mean square norm and cannot use option "
                        "norm; set weights instead, or use a direct linear solver.");
    for (int i = 0; i < p->form.n; i++) {
        const dae_tag *sets[2] = {o->y_tags, o->yp_tags};
        for (int k = 0; k < 2; k++)
            if (sets[k] && ((int)sets[k][i] < 0 || sets[k][i] > DAE_TAG_FREE)) {
                diag_variable(diag, i, problem_variable(p, i));
                return diag_set(diag, DAE_ERR_ARGUMENT, "%s[%d] is %d, which is not a dae_tag.",
                                k == 0 ? "y_tags" : "yp_tags", i, (int)sets[k][i]);
            }
    }
    return DAE_OK;
}

/* Geometric methods have no step control, nor have tables without embedded weights; who prescribes
 * steps one by one knows what they keep. */
static dae_status check_steps(const dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    dae_status status = sequence_check(o, diag);
    if (status != DAE_OK || steps_are_given(o)) return status;
    if (o->table && own_table_needs_fixed_step(o->table, m->takes_table))
        return diag_set(
            diag, DAE_ERR_ARGUMENT,
            o->table->order == 1
                ? "The table has order 1, with which method %s takes constant steps "
                  "only: give their size, opt.fixed_step (--fixed-step)."
                : "The table has no embedded weights, and without them method %s cannot "
                  "estimate errors: add them, or give the size of constant steps, "
                  "opt.fixed_step (--fixed-step).",
            m->name);
    if (!m->constant_steps) return DAE_OK;
    if (m->own_steps && herk_options_adaptive(o)) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Method %s takes constant steps only: give their size, "
                    "opt.fixed_step (--fixed-step), or all of them, opt.step_sequence (--steps)%s.",
                    m->name,
                    m->own_steps ? ", or ask for the thesis' control of steps, "
                                   "opt.herk->adaptive_steps (--herk ssc=1)"
                                 : "");
}

dae_status options_check(const dae_options *o, const dae_problem *p, dae_diag *diag)
{
    dae_status status = check_numbers(o, diag);
    if (status == DAE_OK) status = check_choices(o, diag);
    if (status == DAE_OK) status = check_krylov(o, diag);
    if (status == DAE_OK && isinf(o->stop_time))
        status = diag_set(diag, DAE_ERR_ARGUMENT,
                          "Option stop_time is infinite; use NAN for no stop time.");
    if (status == DAE_OK && !o->weights) status = check_tolerances(o, p, diag);
    if (status == DAE_OK) status = check_method(o, diag);
    if (status == DAE_OK) status = check_small_steps(o, diag);
    if (status == DAE_OK) status = check_formula(o, diag);
    if (status == DAE_OK) status = check_precision(o, diag);
    if (status == DAE_OK) status = check_forms(o, p, diag);
    if (status == DAE_OK) status = herk_options_check(o, diag);
    if (status == DAE_OK) status = check_steps(o, diag);
    if (status == DAE_OK) status = check_formulation(o, p, diag);
    if (status == DAE_OK) status = check_against_problem(o, p, diag);
    return status;
}

/* Replace a borrowed array by an owned copy; NULL stays NULL. */
static bool own_array(const void *field, void *destination, int n, size_t size)
{
    void *copy = NULL;
    if (field) {
        copy = dae_copy(field, (size_t)n, size);
        if (!copy) return false;
    }
    memcpy(destination, &copy, sizeof copy);
    return true;
}

dae_status options_copy(dae_options *copy, const dae_options *options, int n, dae_diag *diag)
{
    *copy = *options;
    copy->rtol_by_unknown = copy->atol_by_unknown = NULL;
    copy->y_tags = copy->yp_tags = NULL;
    copy->invariants = NULL; /* the monitors have them */
    /* step_sequence is borrowed: the solver has one copy for all of its bindings */
    copy->method = method_find(options->method ? options->method : "auto")->name;
    copy->formulation = formulation_find(options->formulation, &copy->formulation_parameter)->name;
    bool ok = own_array(options->rtol_by_unknown, &copy->rtol_by_unknown, n, sizeof(double)) &&
              own_array(options->atol_by_unknown, &copy->atol_by_unknown, n, sizeof(double)) &&
              own_array(options->y_tags, &copy->y_tags, n, sizeof(dae_tag)) &&
              own_array(options->yp_tags, &copy->yp_tags, n, sizeof(dae_tag));
    if (ok) return DAE_OK;
    options_free(copy);
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while copying the options.");
}

void options_free(dae_options *copy)
{
    dae_free_all((void *)copy->rtol_by_unknown, (void *)copy->atol_by_unknown, (void *)copy->y_tags,
                 (void *)copy->yp_tags);
    copy->rtol_by_unknown = copy->atol_by_unknown = NULL;
    copy->y_tags = copy->yp_tags = NULL;
}
