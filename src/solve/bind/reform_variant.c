/* Making the variant of a model for a mode: analysis, formulation, and what to say of both. */
#include "solve/bind/reform_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "model/model_redundant.h"
#include "model/model_structure.h"
#include "solve/hybrid/hybrid_parts.h"
#include "structure/mechanical/mechanical.h"

/* An equation or a variable of a part, up to a few. */
static void list_part(dae_diag *diag, const equation_set *set, const singular_part *part)
{
    enum { MOST = 8 };
    diag_append(diag, " %d equation%s", part->rows, part->rows == 1 ? "" : "s");
    for (int k = 0; k < part->rows && k < MOST; k++)
        diag_append(diag, "%s %s", k ? "," : ":", set->row[part->row[k]].name);
    diag_append(diag, "%s for %d unknown%s", part->rows > MOST ? ", .." : "", part->columns,
                part->columns == 1 ? "" : "s");
    for (int k = 0; k < part->columns && k < MOST; k++)
        diag_append(diag, "%s %s", k ? "," : ":", set->name[part->column[k]]);
    diag_append(diag, "%s.", part->columns > MOST ? ", .." : "");
}

static dae_status explain_singular(dae_solver *s, double t, const model_analysis *a)
{
    const singular_report *parts = &a->written.parts;
    s->diag.t = t;
    diag_set(&s->diag, DAE_ERR_MODEL,
             "At t = %.9g the equations are structurally singular in the mode they are in.", t);
    for (int k = 0; k < parts->count && k < 2; k++) {
        diag_append(&s->diag, parts->part[k].over ? " Too many equations:" : " Too few:");
        list_part(&s->diag, &a->reduced.set, &parts->part[k]);
    }
    return DAE_ERR_MODEL;
}

/* Structure and numbers disagree, and no rewriting helped: what to say if that turns out to matter.
 */
static void note_doubt(variant *v, const model_analysis *a)
{
    enum { MOST = 6 };
    const equation_set *set = &a->reduced.set;
    const certificate *c = &a->certificate;
    dae_diag text = {0};
    diag_set(&text, DAE_ERR_SINGULAR, "These equations depend on each other:");
    for (int k = 0; k < c->row_count && k < MOST; k++)
        diag_append(&text, "%s %s", k ? "," : "", set->row[c->row[k]].name);
    diag_append(&text, "%s. They leave open:", c->row_count > MOST ? ", .." : "");
    for (int k = 0; k < c->column_count && k < MOST; k++)
        diag_append(&text, "%s %s", k ? "," : "", set->name[c->column[k]]);
    diag_append(&text, "%s. Remove one that repeats others, and say what is missing.",
                c->column_count > MOST ? ", .." : "");
    snprintf(v->doubt, sizeof v->doubt, "%s", text.text);
    v->doubt_line = c->row_count > 0 ? set->row[c->row[0]].line : 0;
}

/* A run or a start has failed where there was doubt: say so. */
dae_status variant_explain_doubt(dae_solver *s, const variant *v, double t)
{
    s->diag.t = t;
    s->diag.line = v->doubt_line;
    return diag_set(&s->diag, DAE_ERR_SINGULAR, "%s", v->doubt);
}

/* Whether the equations lose rank where the run stands; s->diag tells then. */
static bool lost_rank(dae_solver *s)
{
    int n = s->base->form.n;
    double *y = s->bound.at_y ? DAE_ARRAY(double, 2 * (size_t)n) : NULL;
    if (!y) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    if (reform_active(s)) {
        reform_to_base(s, s->run.t_new, s->bound.at_y, s->bound.at_yp, y, y + n);
    } else {
        vector_copy(n, s->bound.at_y, y);
        vector_copy(n, s->bound.at_yp, y + n);
    }
    bool told = explain_rank(s, s->run.t_new, y, y + n);
    dae_free(y);
    return told;
}

/* The same as a warning, where the run may still succeed. */
void variant_tell_doubt(dae_solver *s, const variant *v)
{
    char text[DAE_TEXT_SIZE + 20];
    snprintf(text, sizeof text, "warning: %s", v->doubt);
    hybrid_tell(s, text);
}

dae_status reform_explain(dae_solver *s, dae_status status)
{
    bool singular = status == DAE_ERR_SINGULAR || status == DAE_ERR_CONVERGENCE ||
                    status == DAE_ERR_ERROR_TEST || status == DAE_ERR_STALL;
    if (!s->reform || !singular || !s->reform->slots_known) return status;
    const variant *v = variant_find(s->reform, s->hybrid->instance->memory);
    if (s->hybrid->instance->array) { /* the doubt is settled, and something else has failed */
        diag_append(&s->diag, " The equations are integrated by their derivatives here, as their "
                              "structure does not tell enough.");
        return status;
    }
    if (v && v->doubt[0]) return variant_explain_doubt(s, v, s->run.t_new);
    return lost_rank(s) ? DAE_ERR_SINGULAR : status;
}

/* stateSelect of the variables of a set: -2 .. 2 */
static bool take_wishes(analysed *a, const model_form *base)
{
    if (a->wish) return true;
    a->wish = DAE_ARRAY(signed char, a->set.n);
    for (int j = 0; a->wish && j < a->set.n; j++) {
        int model = a->set.model[j], v = model >= 0 ? base->unknown_variable[model] : -1;
        if (v >= 0) a->wish[j] = (signed char)((int)base->flat->variables[v].state_select - 2);
    }
    return a->wish;
}

/* The numbers disagree although they can be computed. */
static bool doubtful(const model_analysis *a)
{
    return !a->numbers_agree && a->certificate.finite;
}

/* The strongest form of the equations that the method works on, of those their structure allows. */
static dae_status rewrite_for_method(dae_solver *s, const analysed *a, const equation_point *at,
                                     formulated *y)
{
    unsigned forms = s->bound.method->forms;
    char reasons[2][DAE_TEXT_SIZE] = {"", ""};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (forms & FORM_MECHANICAL) {
        /* without constraints for those alone that were asked for and take nothing else */
        bool free = forms == FORM_MECHANICAL && !s->choice.open;
        status = formulate_mechanical_form(a, at, free, y, &s->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[0], sizeof reasons[0], " They are not mechanical: %.400s.", s->diag.text);
    }
    if (forms & FORM_HESSENBERG) {
        status = formulate_hessenberg_form(a, at, y, &s->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[1], sizeof reasons[1], " They have no Hessenberg form: %.400s.",
                 s->diag.text);
    }
    if (forms & (FORM_QUASILINEAR | FORM_MANIFOLD)) {
        status = formulate_quasilinear_form(a, at, y, &s->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[1], sizeof reasons[1], " They are not quasilinear: %.400s.", s->diag.text);
    }
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Method %s works on the form %s, which the equations of the model do not "
                    "have.%s%s Use a method for residual forms, such as bdf.",
                    s->bound.method->name, forms_text(forms), reasons[0], reasons[1]);
}

/* Whether a method on the residual form was told to end its steps on the constraints. */
static bool projection_asked(const dae_solver *s)
{
    dae_projection p = s->base_options.projection;
    return s->bound.method->forms == 0 && s->bound.method->projects && p != DAE_PROJECTION_AUTO &&
           p != DAE_PROJECTION_NONE;
}

/* The model has no mechanical form; the diagnostic has the reason. */
static dae_status refuse_projection(dae_solver *s)
{
    char reason[DAE_TEXT_SIZE];
    snprintf(reason, sizeof reason, "%.400s", s->diag.text);
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Option projection needs the constraints of a mechanism, which the equations "
                    "of the model are not: %s. Leave it out: formulation dummy keeps all "
                    "constraints.",
                    reason);
}

/* Rewrite the equations as f says, with the values at `at` for formulations that choose; f NULL:
 * for the method. */
static dae_status rewrite_as(dae_solver *s, const formulation *f, const model_analysis *a,
                             const model_point *at, bool beside, formulated *y)
{
    enum { ORDERS = 2 };
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    if (!x) return reform_exhausted(s);
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    formulation_setting setting = {.parameter = s->base_options.formulation_parameter,
                                   .at = &point};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (beside) status = formulate_mechanical_form(&a->reduced, &point, false, y, &s->diag);
    if (status == DAE_ERR_UNSUPPORTED && beside && projection_asked(s))
        status = refuse_projection(s);
    else if (status == DAE_ERR_UNSUPPORTED)
        status = f ? formulation_apply(f, &a->reduced, &setting, y, &s->diag)
                   : rewrite_for_method(s, &a->reduced, &point, y);
    dae_free(x);
    return status;
}

/* Methods on other forms take them as they are: which formulation, f, goes with that is decided. */
static dae_status check_formulation(dae_solver *s, const formulated *y, const formulation *f)
{
    const formulation *asked = s->formulation;
    bool fits = asked->automatic || s->bound.method->forms & asked->forms;
    if (method_needs_form(s->bound.method) && !fits)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s gives a residual form, but method %s works on the form %s: "
                        "leave the formulation out, or use another method, such as bdf.",
                        asked->name, s->bound.method->name, forms_text(s->bound.method->forms));
    if (f && f->needs)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s has more equations than unknowns: it is for methods such "
                        "as %s, and not for %s.",
                        f->name, f->needs, s->bound.method->name);
    if (y->set.n == 0)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Every variable of this model is a function of time alone that its "
                        "equations give explicitly: the form %s that method %s works on has no "
                        "unknowns. Use a method for residual forms, such as radau.",
                        forms_text(s->bound.method->forms), s->bound.method->name);
    return DAE_OK;
}

/* The formulation by default. Methods on the second order form take mechanical systems as they are,
 * of index 3: what measures best for them (docs/notes/formulations.md). NULL: memory. */
static const formulation *default_formulation(dae_solver *s, const model_point *at,
                                              const model_analysis *a)
{
    enum { ORDERS = 2 };
    if (a->index != 3 || !a->numbers_agree) return &formulation_dummy;
    if (projection_asked(s)) return &formulation_index3;
    if (!solver_second_order(s)) return &formulation_dummy;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    if (!x) return NULL;
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    mechanical m = {0};
    char reason[DAE_TEXT_SIZE];
    mechanical_status found =
        mechanical_recognise(&a->reduced.set, &point, &m, reason, sizeof reason);
    mechanical_free(&m);
    dae_free(x);
    if (found == MECHANICAL_MEMORY) return NULL;
    return found == MECHANICAL_OK ? &formulation_index3 : &formulation_dummy;
}

/* Instances of the form and of its initial system, and if it has a plan what it offers to methods
 */
static dae_status furnish_variant(dae_solver *s, variant *v, bool planned)
{
    v->instance = model_instance_new(v->form);
    v->levels = model_instance_new(variant_levels(v->form)->initial);
    v->seen = DAE_ARRAY(double, 2 * (size_t)v->form->seen_count);
    if (!v->instance || !v->levels || !v->seen) return reform_exhausted(s);
    bool series = s->bound.method->forms == FORM_SERIES;
    if (series) v->series = model_series_new(v->instance, s->base_options.precision);
    if (planned && !series) v->forms = model_forms_new(v->instance);
    return !planned || v->forms || v->series ? DAE_OK : reform_exhausted(s);
}

/* Forms whose algebraic variables have no slopes; others see through them, or have slopes of all.
 */
static bool leaves_slopes(const formulated *y)
{
    return y->plan && y->plan->form & (FORM_MECHANICAL | FORM_HESSENBERG);
}

/* The name of a variable that is the derivative of one that is algebraic in the form: methods on
 * forms know slopes of those from values alone, and not to full accuracy. NULL: there is none. */
static const char *name_beyond(const analysed *a, const formulated *y)
{
    const bool some = leaves_slopes(y);
    for (int k = 0; k < a->set.synonym_count; k++) {
        const equation_synonym *name = &a->set.synonym[k];
        bool known = false;
        for (int i = 0; i < y->set.n && !known; i++) {
            bool slope = !some || y->kinds[i] == DAE_KIND_DIFFERENTIAL;
            known = y->variable[i] == name->variable && y->order[i] >= name->order - slope;
        }
        if (!known) return name->name;
    }
    return NULL;
}

/* Slopes of algebraic variables are values of the model. */
static dae_status refuse_slopes(dae_solver *s, const char *name)
{
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "%s is the derivative of a variable that is algebraic in the form that method "
                    "%s works on, and so is not known to full accuracy. Use a method for residual "
                    "forms, such as radau.",
                    name, s->bound.method->name);
}

static dae_status apply_formulation(dae_solver *s, const model_point *at, model_analysis *a,
                                    variant *v)
{
    const formulation *asked = s->formulation;
    bool forms = method_needs_form(s->bound.method);
    bool series = s->bound.method->forms == FORM_SERIES; /* in the unknowns of all levels */
    bool plain = asked->automatic || a->index <= 1 || !a->numbers_agree;
    bool projects = solver_second_order(s) && s->bound.method->projects;
    bool as_given = projects && asked->projects;
    const formulation *usual = plain || as_given ? default_formulation(s, at, a) : asked;
    if (!usual) return reform_exhausted(s);
    const formulation *chosen = series ? &formulation_dummy : plain ? usual : asked;
    const formulation *f = forms && !series ? NULL : chosen;
    formulated y = {0}, levels = {0};
    if (doubtful(a)) note_doubt(v, a);
    if (doubtful(a) && forms) return variant_explain_doubt(s, v, at->t);
    if (!take_wishes(&a->reduced, s->base->model)) return reform_exhausted(s);
    /* Methods that project need the mechanical form beside the one they work on. */
    bool second = projects && (plain || as_given) && usual->projects;
    bool beside = second || projection_asked(s);
    if (projection_asked(s) && !chosen->projects)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Option projection goes with formulation index3 of a mechanism, and not "
                        "with %s: leave one of them out.",
                        chosen->name);
    dae_status status = rewrite_as(s, f, a, at, beside, &y);
    bool doubted = status == DAE_OK && forms && (s->choice.open || leaves_slopes(&y));
    const char *beyond = doubted ? name_beyond(&a->reduced, &y) : NULL;
    if (beyond) status = refuse_slopes(s, beyond);
    bool planned = forms || (beside && y.plan);
    if (status == DAE_OK) status = check_formulation(s, &y, f);
    if (status != DAE_OK) {
        formulated_free(&y);
        return status;
    }
    bool all = f && f->all_levels;
    if (!all) status = formulate_dummy(&a->reduced, &levels, &s->diag);
    if (status != DAE_OK) {
        formulated_free(&y);
        return status;
    }
    v->rewrites = a->rewrites;
    a->rewrites = (rewrite_list){0};
    status = model_form_variant(s->base->model, &a->reduced, &y, all ? NULL : &levels, &v->form,
                                &s->diag);
    return status == DAE_OK ? furnish_variant(s, v, planned) : status;
}

static int reduced_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    return array_run_residual(((model_instance *)user)->array, t, y, yp, f);
}

static int reduced_jacobian(double t, const double *y, const double *yp, double *dfdy,
                            double *dfdyp, void *user)
{
    return array_run_jacobian(((model_instance *)user)->array, t, y, yp, dfdy, dfdyp);
}

/* The base form's problem with the reduced system in place of its equations. */
dae_status variant_describe_array(dae_solver *s, variant *v)
{
    dae_residual d;
    model_form_describe(s->base->model, &d);
    d.f = reduced_residual;
    d.jacobian = reduced_jacobian;
    d.structure = DAE_STRUCTURE_DENSE;
    d.colptr = d.rowind = NULL;
    d.n_conditions = 0;
    d.conditions = NULL;
    return dae_problem_from_residual(&d, &v->array_problem, &s->diag);
}

/* How easily the unknowns of the base form move to be consistent: fixed ones hardly, those with a
 * start value rather less than those without. NULL: memory */
double *reform_ease(const dae_solver *s)
{
    const model_form *f = s->base->model;
    double *ease = DAE_ARRAY(double, f->n);
    for (int i = 0; ease && i < f->n; i++) ease[i] = s->reform->fixed_by[i] >= 0 ? 1e-6 : 1.0;
    for (size_t v = 0; ease && v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int i = q->discrete ? -1 : f->first_unknown[f->alias[v].top];
        if (i >= 0 && (q->has_start || !isnan(f->start[v]))) ease[i] = fmin(ease[i], 1e-3);
    }
    return ease;
}

/* Whether initial values must satisfy more than the equations as they are written. */
static bool has_levels(const model_analysis *a)
{
    if (!a->numbers_agree) return false;
    for (int i = 0; i < a->reduced.set.m; i++)
        if (a->reduced.structure.c[i] > 0) return true;
    return false;
}

/* A formulation or a projection was asked for that has nothing to do. */
static void tell_idle_formulation(dae_solver *s, int index)
{
    char text[200];
    if (projection_asked(s)) {
        snprintf(
            text, sizeof text,
            "note: option projection is for mechanisms of index 3; this model has index %d and "
            "nothing to be projected on",
            index);
        hybrid_tell(s, text);
    }
    if (s->formulation->automatic || s->formulation->all_levels) return;
    snprintf(text, sizeof text,
             "note: formulation %s is for models of index above 1; this one has index %d and is "
             "integrated as it is written",
             s->formulation->name, index);
    hybrid_tell(s, text);
}

/* Whether forms belong to the point they are made at and to the forms of the method alone: not to
 * other options */
static bool may_share(const dae_solver *s)
{
    return method_needs_form(s->bound.method) && s->formulation->automatic && !s->reform->release;
}

/* The form that an earlier solver made at the same point, if there is one. True: v has it. */
static bool take_kept(dae_solver *s, const model_point *at, variant *v, dae_status *status)
{
    if (!may_share(s)) return false;
    v->kept = kept_form_find(s->base->model, s->bound.method->forms, at);
    if (!v->kept) return false;
    v->form = v->kept->form;
    v->index = v->kept->index;
    *status = furnish_variant(s, v, true);
    if (*status == DAE_OK && !rank_watch_new(&v->watch, v->form->analysed, s->base->form.n))
        *status = reform_exhausted(s);
    return true;
}

/* Keep the form of v for other solvers, unless one is kept already: it was not found where the
 * method that was tried first has none. */
static void share(dae_solver *s, const model_point *at, variant *v)
{
    model_form *base = s->base->model;
    kept_form *before = kept_form_find(base, s->bound.method->forms, at);
    if (before)
        kept_form_release(before);
    else
        v->kept = kept_form_add(base, s->bound.method->forms, at, v->form, &v->rewrites, v->index);
}

/* A warning that names the constraints which follow from others. */
void reform_tell_redundant(dae_solver *s, const equation_set *set, const bool *rows)
{
    enum { MOST = 4 };
    dae_diag text = {0};
    int count = 0;
    for (int i = 0; i < set->m; i++) {
        if (!rows[i]) continue;
        if (count == 0)
            diag_set(&text, DAE_OK, "warning: these constraints follow from the others: %s",
                     set->row[i].name);
        else if (count < MOST)
            diag_append(&text, ", %s", set->row[i].name);
        count++;
    }
    diag_append(&text, "%s. The multipliers are not unique: they are those of least norm.",
                count > MOST ? ", .." : "");
    hybrid_tell(s, text.text);
}

/* Constraints of which one cannot hold where the others do. */
dae_status reform_refuse_conflict(dae_solver *s, const equation_set *set,
                                  const model_conflict *conflict)
{
    enum { MOST = 4 };
    const char *name = set->row[conflict->row].name;
    int listed = 0;
    diag_equation(&s->diag, -1, name);
    s->diag.line = set->row[conflict->row].line;
    s->diag.t = conflict->t;
    s->diag.value = conflict->off;
    diag_set(&s->diag, DAE_ERR_INITIAL, "These constraints cannot hold together: %s and", name);
    for (int i = 0; i < set->m; i++)
        if (conflict->with[i] && listed++ < MOST)
            diag_append(&s->diag, "%s %s", listed > 1 ? "," : "", set->row[i].name);
    diag_append(&s->diag,
                "%s. They restrict the same motion, and at t = %.9g %s%s is off by %.6g where the "
                "other%s. Correct one of them, or leave it out.",
                listed > MOST ? ", .." : "", conflict->t,
                conflict->on_rates ? "on velocities " : "", name, conflict->off,
                listed == 1 ? " holds" : "s hold");
    return DAE_ERR_INITIAL;
}

/* The constraints that follow from others where the equations depend on each other whatever the
 * values are: rows, and how many; -1: memory. */
static int find_redundant(dae_solver *s, const analysed *a, const equation_point *at, bool *rows,
                          dae_status *status)
{
    model_conflict conflict = {.row = -1, .with = DAE_ARRAY(bool, a->set.m)};
    int count = conflict.with ? model_redundant_find(a, at, rows, &conflict) : -1;
    if (count > 0) reform_tell_redundant(s, &a->set, rows);
    if (count == 0 && conflict.row >= 0) *status = reform_refuse_conflict(s, &a->set, &conflict);
    dae_free(conflict.with);
    return count;
}

/* Release the constraints that the variant is made without, or, where the equations depend on each
 * other whatever the values are, those that follow from others. */
static dae_status release_rows(dae_solver *s, const model_point *at, model_analysis *a, variant *v)
{
    enum { ORDERS = 2 };
    const bool *release = s->reform->release;
    bool suspect = doubtful(a) || s->formulation->chooses_positions;
    if (!release && (a->written.singular || !suspect)) return DAE_OK;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    bool *rows = DAE_ARRAY(bool, a->reduced.set.m);
    bool ok = x && rows;
    int count = 0;
    dae_status status = DAE_OK;
    if (ok) {
        equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters,
                                at->memory};
        if (!release) count = find_redundant(s, &a->reduced, &point, rows, &status);
        if (release || count > 0)
            ok = model_redundant_release(&a->reduced, &point, release ? release : rows);
    }
    if (ok && count > 0) {
        ok = model_analysis_settle(a, at);
        a->index = ok ? regularised_index(&a->reduced.set, &a->reduced.structure) : 0;
        ok = ok && a->index >= 0;
    }
    if (ok && (release || count > 0) && !a->reduced.structure.singular)
        ok =
            released_watch_new(&v->released, s->base->model, &a->reduced, release ? release : rows);
    dae_free(x);
    dae_free(rows);
    return ok && count >= 0 ? status : reform_exhausted(s);
}

/* The formulation that the method takes, where one is needed; if the method was our choice and the
 * equations do not have its form, that of another one. */
static dae_status rewrite_analysed(dae_solver *s, const model_point *at, model_analysis *a,
                                   bool levels, variant *v)
{
    bool hidden = levels || a->index > 1 || has_levels(a) || doubtful(a);
    if (doubtful(a)) choice_fall_back(s, 0);
    while (method_needs_form(s->bound.method)) {
        dae_status status = apply_formulation(s, at, a, v);
        if (status != DAE_ERR_UNSUPPORTED || !choice_fall_back(s, a->index)) return status;
    }
    return hidden ? apply_formulation(s, at, a, v) : DAE_OK;
}

/* Analyse the mode at hand, for the method that suits it, s->bound.method afterwards; v->form stays
 * NULL where the model can be integrated as it is, unless its levels are wanted by all means. */
static dae_status find_form(dae_solver *s, double t, const double *y, const double *yp, bool levels,
                            variant *v)
{
    const model_instance *m = s->hybrid->instance;
    model_point at = {t, y, yp, m->parameters, m->memory};
    graph *g = s->base->model->flat->graph; /* shared with other solvers of the problem */
    model_analysis a;
    dae_status status = DAE_OK;
    if (s->choice.open) s->bound.method = levels ? choice_residual(s) : choice_first(s);
    v->method = s->bound.method;
    graph_enter(g);
    if (!levels && take_kept(s, &at, v, &status)) {
        graph_recover(g);
        graph_leave(g);
        return status;
    }
    status = model_analyse(s->base->model, &s->reform->slots, &at, &a, &s->diag);
    if (status == DAE_OK) status = release_rows(s, &at, &a, v);
    v->index = a.index;
    if (status == DAE_OK && a.written.singular)
        status = explain_singular(s, t, &a);
    else if (status == DAE_OK)
        status = rewrite_analysed(s, &at, &a, levels, v);
    v->method = s->bound.method;
    v->runs_base = a.index <= 1 && !method_needs_form(s->bound.method);
    if (status == DAE_OK && v->runs_base) tell_idle_formulation(s, a.index);
    bool sound = status == DAE_OK && a.numbers_agree;
    if (sound) { /* a form that is made for initial values later has a watch of its own */
        rank_watch_free(v->watch);
        v->watch = NULL;
    }
    if (sound &&
        !rank_watch_new(&v->watch, v->form ? v->form->analysed : &a.reduced, s->base->form.n))
        status = reform_exhausted(s);
    if (status == DAE_OK && !levels && may_share(s) && v->form && !v->doubt[0]) share(s, &at, v);
    model_analysis_free(&a);
    graph_recover(g);
    graph_leave(g);
    return status;
}

/* Until the solver is bound to the variant its state is that of the method at work. */
dae_status variant_make_form(dae_solver *s, double t, const double *y, const double *yp,
                             bool levels, variant *v)
{
    const method *at_work = s->bound.method;
    dae_status status = find_form(s, t, y, yp, levels, v);
    s->bound.method = at_work;
    return status;
}

/* ---- keeping variants ---- */

static bool keep_variant(reform *r, variant *v)
{
    if (r->count == r->room) {
        int room = 2 * r->room + 4;
        variant **list = DAE_ARRAY(variant *, room);
        if (!list) return false;
        if (r->count > 0) memcpy(list, r->list, (size_t)r->count * sizeof *list);
        dae_free(r->list);
        r->list = list;
        r->room = room;
    }
    r->list[r->count++] = v;
    return true;
}

dae_status variant_make(dae_solver *s, double t, const double *y, const double *yp,
                        variant **result)
{
    reform *r = s->reform;
    const double *memory = s->hybrid->instance->memory;
    variant *v = DAE_NEW(variant);
    if (v) v->key = DAE_ARRAY(double, r->slots.count);
    dae_status status =
        v && v->key ? variant_make_form(s, t, y, yp, false, v) : reform_exhausted(s);
    for (int k = 0; status == DAE_OK && k < r->slots.count; k++)
        v->key[k] = memory[r->slots.slot[k]];
    if (status == DAE_OK && !keep_variant(r, v)) status = reform_exhausted(s);
    if (status != DAE_OK) variant_free(v);
    *result = status == DAE_OK ? v : NULL;
    return status;
}
