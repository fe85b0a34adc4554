/* The beginning of a run: start values, which of them stay, and the initial system. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "model/model_structure.h"
#include "solve/explain/explain_model.h"
#include "solve/hybrid/hybrid_parts.h"

/* ---- start values ---- */

/* Which start value counts where several variables are one: one set from outside (3), a fixed one
 * (2), that of the variable which stands for them (1), another (0). */
static int start_level(const model_form *f, size_t v)
{
    if (model_start_is_outside(f, v)) return 3;
    return f->flat->variables[v].fixed ? 2 : f->alias[v].root == (int)v;
}

static bool differ(double a, double b)
{
    return fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b));
}

/* The value that an equation v = value gave to a variable that left the system. */
static double eliminated_value(const model_form *f, int v)
{
    int sign, root = hybrid_root(f, v, &sign);
    return sign * model_form_constant(f, f->alias[root].value);
}

/* Flat variable v is fixed, and its unknown with it, wherever the value comes from; two fixed ones
 * that differ are a conflict, unless one of them alone was set from outside. */
static void fix_start(dae_solver *s, size_t v, int first, double value)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    const int other = h->fixed_by[first];
    if (other < 0 || start_level(f, (size_t)other) < start_level(f, v))
        h->fixed_by[first] = (int)v;
    else if (differ(value, s->bound.y[first]))
        h->conflict = (int)v;
}

/* Give the unknown of flat variable v its start value; one that is fixed and differs from the
 * constant which the equations give to v is a conflict. */
static void take_start(dae_solver *s, size_t v)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    int sign, first = f->first_unknown[hybrid_root(f, (int)v, &sign)];
    double value = sign * hybrid_start_value(f, v);
    if (isnan(value)) return;
    if (first < 0) {
        bool fixed =
            f->flat->variables[v].fixed && differ(sign * value, eliminated_value(f, (int)v));
        if (fixed) h->conflict = (int)v;
        return;
    }
    if (f->flat->variables[v].fixed) fix_start(s, v, first, value);
    s->bound.y[first] = value;
}

void hybrid_start_values(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    vector_zero(s->bound.n, s->bound.y);
    vector_zero(s->bound.n, s->bound.yp);
    for (int i = 0; i < s->bound.n; i++) h->fixed_by[i] = -1;
    h->conflict = -1;
    for (int level = 0; level < 4; level++) /* later ones win */
        for (size_t v = 0; v < f->flat->variable_count; v++)
            if (!f->flat->variables[v].discrete && start_level(f, v) == level) take_start(s, v);
}

void hybrid_note_guessed(const hybrid *h, bool *guessed)
{
    const model_form *f = h->instance->form;
    for (int i = 0; i < f->n; i++) guessed[i] = false;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        int sign;
        if (f->flat->variables[v].discrete || isnan(hybrid_start_value(f, v))) continue;
        const int i = f->first_unknown[hybrid_root(f, (int)v, &sign)];
        if (i >= 0 && h->fixed_by[i] < 0) guessed[i] = true;
    }
}

/* The equations on the ways from v and w to the variable that stands for both; what the ways have
 * in common does not matter. */
static void append_aliases(const model_form *f, int v, int w, dae_diag *diag)
{
    bool *used = DAE_ARRAY(bool, f->flat->equation_count);
    int ends[2] = {v, w}, listed = 0;
    for (int k = 0; used && k < 2; k++)
        for (int at = ends[k]; f->alias[at].equation >= 0; at = f->alias[at].root) {
            used[f->alias[at].equation] = !used[f->alias[at].equation];
            if (f->alias[at].root == at) break;
        }
    for (size_t i = 0; used && i < f->flat->equation_count && listed < 6; i++) {
        if (!used[i]) continue;
        char *name = flat_equation_name(f->flat, &f->flat->equations[i]);
        diag_append(diag, "%s %s", listed++ ? "," : ":", name ? name : "?");
        dae_free(name);
    }
    diag_append(diag, ".");
    dae_free(used);
}

/* Fixed start values must agree. */
dae_status hybrid_check_fixed(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    int v = s->hybrid->conflict, sign;
    if (v < 0) return DAE_OK;
    const flat_variable *q = &f->flat->variables[v];
    int first = f->first_unknown[hybrid_root(f, v, &sign)];
    diag_variable(&s->diag, v, q->name);
    s->diag.line = q->place.line;
    s->diag.value = hybrid_start_value(f, (size_t)v);
    if (first < 0)
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "The fixed start value %.9g of %s (%s:%d) contradicts the equations, which "
                        "give it the value %.9g.",
                        s->diag.value, q->name, model_file(s), q->place.line,
                        eliminated_value(f, v));
    const flat_variable *p = &f->flat->variables[s->hybrid->fixed_by[first]];
    diag_set(
        &s->diag, DAE_ERR_INITIAL,
        "The fixed start value %.9g of %s (%s:%d) contradicts that of %s (%s:%d): equations make "
        "them one variable",
        s->diag.value, q->name, model_file(s), q->place.line, p->name, model_file(s),
        p->place.line);
    append_aliases(f, v, s->hybrid->fixed_by[first], &s->diag);
    return DAE_ERR_INITIAL;
}

/* ---- the initial system ---- */

/* Tolerances of the run for the unknowns of the initial system, those of y for y', too. */
static double *initial_tolerances(const model_form *initial, int n, const double *of)
{
    double *all = of ? DAE_ARRAY(double, initial->n) : NULL;
    for (int i = 0; all && i < initial->n; i++) all[i] = of[i < n ? i : initial->slope_of[i]];
    return all;
}

/* A solver for the initial system, as accurate as the run. */
static dae_status new_initial_solver(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const model_form *initial = h->instance->form->initial;
    const dae_options *of = &s->bound.options;
    double *rtol = initial_tolerances(initial, s->bound.n, of->rtol_by_unknown);
    double *atol = initial_tolerances(initial, s->bound.n, of->atol_by_unknown);
    dae_options options = dae_options_default();
    options.rtol = of->rtol;
    options.atol = of->atol;
    options.rtol_by_unknown = rtol;
    options.atol_by_unknown = atol;
    options.init = DAE_INIT_DERIVATIVE;
    options.init_iterations = of->init_iterations;
    options.init_tolerance = of->init_tolerance;
    bool ok = (rtol || !of->rtol_by_unknown) && (atol || !of->atol_by_unknown);
    dae_status status = ok ? solver_new(h->initial_problem, &options, &h->initial_solver, &s->diag)
                           : plan_exhausted(&s->diag);
    dae_free_all(rtol, atol);
    return status;
}

/* A problem and a solver for the initial system. */
static dae_status new_initial(dae_solver *s)
{
    hybrid *h = s->hybrid;
    model_form *form = h->instance->form->initial;
    dae_residual r;
    h->initial = model_instance_new(form);
    h->initial_y = DAE_ARRAY(double, form->n);
    h->initial_yp = DAE_ARRAY(double, form->n);
    h->initial_guessed = DAE_ARRAY(bool, form->n);
    if (!h->initial || !h->initial_y || !h->initial_yp || !h->initial_guessed)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the initial equations.");
    model_form_describe(form, &r);
    r.user = h->initial;
    dae_status status = dae_problem_from_residual(&r, &h->initial_problem, &s->diag);
    if (status != DAE_OK) return status;
    status = new_initial_solver(s);
    if (status != DAE_OK) return status;
    h->initial_solver->bound.values_only = true;
    h->initial_solver->bound.eval.instance = h->initial;
    initializer_rescued(h->initial_solver->bound.init, levels_may_help(s));
    initializer_slopes(h->initial_solver->bound.init, s->bound.n, form->slope_of);
    initializer_guessed(h->initial_solver->bound.init, h->initial_guessed);
    return DAE_OK;
}

/* Solve F = 0, initial equations and kept start values for y and y' at once. */
dae_status hybrid_solve_initial(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const model_form *form = h->instance->form, *initial = form->initial;
    size_t parameters = form->flat->parameter_count;
    dae_status status = h->initial_solver ? DAE_OK : new_initial(s);
    if (status != DAE_OK) {
        hybrid_drop_initial(h);
        return status;
    }
    memcpy(h->initial->parameters, h->instance->parameters, parameters * sizeof(double));
    memcpy(h->initial->memory, h->instance->memory,
           (size_t)form->flat->memory_count * sizeof(double));
    h->starts_chosen = false;
    for (int k = 0; k < initial->pinned_count; k++) {
        h->initial->parameters[parameters + (size_t)k] = h->start[initial->pinned[k]];
        if (h->fixed_by[initial->pinned[k]] < 0) h->starts_chosen = true;
    }
    model_instance_prepare(h->initial);
    vector_copy(s->bound.n, s->bound.y, h->initial_y);
    for (int i = s->bound.n; i < initial->n; i++)
        h->initial_y[i] = s->bound.yp[initial->slope_of[i]];
    vector_zero(initial->n, h->initial_yp);
    hybrid_note_guessed(h, h->initial_guessed);
    dae_solver *initial_solver = h->initial_solver;
    diag_clear(&initial_solver->diag);
    status = forget_matrices(initial_solver);
    if (status == DAE_OK) status = begin_callbacks(initial_solver, t, h->initial_y, h->initial_yp);
    if (status != DAE_OK) {
        const dae_solver *of = h->initial_solver;
        s->diag = of->diag;
        if (status == DAE_ERR_EVALUATION)
            explain_domain(h->initial, t, of->bound.y, of->bound.yp,
                           of->bound.eval.failure.component, &s->diag);
        explain_line(initial, &s->diag);
        return status;
    }
    vector_copy(initial->n, initial_solver->bound.y, h->initial_y);
    vector_copy(s->bound.n, h->initial_y, s->bound.y);
    for (int i = s->bound.n; i < initial->n; i++)
        s->bound.yp[initial->slope_of[i]] = h->initial_y[i];
    return DAE_OK;
}
