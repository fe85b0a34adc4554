#include "solve/reform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid_parts.h"
#include "solve/solver.h"
#include "structure/mechanical.h"
#include "system/model_build.h"
#include "system/model_redundant.h"
#include "system/model_structure.h"

/* ---- life ---- */

reform *reform_new(const dae_problem *base)
{
    reform *r = DAE_NEW(reform);
    if (r) r->base = base;
    return r;
}

static void variant_free(variant *v)
{
    if (!v) return;
    dae_problem_free(v->problem);
    dae_problem_free(v->array_problem);
    array_run_free(v->array);
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

static dae_status out_of_memory(dae_solver *s)
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
static const model_form *all_levels(const model_form *f)
{
    return f->levels ? f->levels : f;
}

static double value_at_place(model_place at, const double *y, const double *yp)
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
        if (base_y) base_y[i] = value_at_place(f->place[i], y, yp);
        if (base_yp) base_yp[i] = value_at_place(f->place_slope[i], y, yp);
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

static void from_base(const model_form *f, const double *base_y, const double *base_yp, double *y,
                      double *yp)
{
    vector_zero(f->n, y);
    vector_zero(f->n, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place_slope[i], base_yp[i], y, yp);
    for (int i = 0; i < f->base->n; i++) put_at_place(f->place[i], base_y[i], y, yp);
}

/* ---- variants by mode ---- */

static bool same_mode(const reform *r, const variant *v, const double *memory)
{
    for (int k = 0; k < r->slots.count; k++)
        if (v->key[k] != memory[r->slots.slot[k]]) return false;
    return true;
}

static variant *find_variant(const reform *r, const double *memory)
{
    for (int k = 0; k < r->count; k++)
        if (!r->list[k]->retired && same_mode(r, r->list[k], memory)) return r->list[k];
    return NULL;
}

/* ---- making a variant ---- */

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
static dae_status explain_doubt(dae_solver *s, const variant *v, double t)
{
    s->diag.t = t;
    s->diag.line = v->doubt_line;
    return diag_set(&s->diag, DAE_ERR_SINGULAR, "%s", v->doubt);
}

/* Whether the equations lose rank where the run stands; s->diag tells then. */
static bool lost_rank(dae_solver *s)
{
    int n = s->base->form.n;
    double *y = DAE_ARRAY(double, 2 * (size_t)n);
    if (!y) return false;
    solver_interpolate(s, s->t_new, 0, s->at_y);
    solver_interpolate(s, s->t_new, 1, s->at_yp);
    if (reform_active(s)) {
        reform_to_base(s, s->t_new, s->at_y, s->at_yp, y, y + n);
    } else {
        vector_copy(n, s->at_y, y);
        vector_copy(n, s->at_yp, y + n);
    }
    bool told = explain_rank(s, s->t_new, y, y + n);
    dae_free(y);
    return told;
}

/* The same as a warning, where the run may still succeed. */
static void tell_doubt(dae_solver *s, const variant *v)
{
    char text[DAE_TEXT_SIZE + 20];
    snprintf(text, sizeof text, "warning: %s", v->doubt);
    hybrid_tell(s, text);
}

dae_status reform_explain(dae_solver *s, dae_status status)
{
    bool singular =
        status == DAE_ERR_SINGULAR || status == DAE_ERR_CONVERGENCE || status == DAE_ERR_ERROR_TEST;
    if (!s->reform || !singular || !s->reform->slots_known) return status;
    const variant *v = find_variant(s->reform, s->hybrid->instance->memory);
    if (v && v->doubt[0]) return explain_doubt(s, v, s->t_new);
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
    unsigned forms = s->method->forms;
    char reasons[2][DAE_TEXT_SIZE] = {"", ""};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (forms & FORM_MECHANICAL) {
        status = formulate_mechanical_form(a, at, y, &s->diag);
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
                    s->method->name, forms_text(forms), reasons[0], reasons[1]);
}

/* Whether a method on the residual form was told to end its steps on the constraints. */
static bool projection_asked(const dae_solver *s)
{
    dae_projection p = s->base_options.projection;
    return s->method->forms == 0 && s->method->projects && p != DAE_PROJECTION_AUTO &&
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
    if (!x) return out_of_memory(s);
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    formulation_setting setting = {s->base_options.formulation_parameter, &point};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (beside) status = formulate_mechanical_form(&a->reduced, &point, y, &s->diag);
    if (status == DAE_ERR_UNSUPPORTED && beside && projection_asked(s))
        status = refuse_projection(s);
    else if (status == DAE_ERR_UNSUPPORTED)
        status = f ? formulation_apply(f, &a->reduced, &setting, y, &s->diag)
                   : rewrite_for_method(s, &a->reduced, &point, y);
    dae_free(x);
    return status;
}

/* Methods on other forms take them as they are: which formulation, f, goes with that is decided. */
static dae_status check_formulation(dae_solver *s, const formulated *y, const char *name)
{
    bool plain = strcmp(name, "auto") == 0;
    bool levels = strcmp(name, "overdetermined") == 0 && s->method->forms & FORM_QUASILINEAR;
    if (method_needs_form(s->method) && !plain && !levels)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s gives a residual form, but method %s works on the form %s: "
                        "leave the formulation out, or use another method, such as bdf.",
                        name, s->method->name, forms_text(s->method->forms));
    if (!method_needs_form(s->method) && y->needs)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s has more equations than unknowns: it is for methods such "
                        "as %s, and not for %s.",
                        name, y->needs, s->method->name);
    return DAE_OK;
}

/* The formulation by default. Methods on the second order form take mechanical systems as they are,
 * of index 3: what measures best for them (docs/methods/formulations.md). NULL: memory. */
static const char *default_formulation(dae_solver *s, const model_point *at,
                                       const model_analysis *a)
{
    enum { ORDERS = 2 };
    if (a->index != 3 || !a->numbers_agree) return "dummy";
    if (projection_asked(s)) return "index3";
    if (!solver_second_order(s)) return "dummy";
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
    return found == MECHANICAL_OK ? "index3" : "dummy";
}

/* Instances of the form and of its initial system, and if it has a plan what it offers to methods
 */
static dae_status furnish_variant(dae_solver *s, variant *v, bool planned)
{
    v->instance = model_instance_new(v->form);
    v->levels = model_instance_new(all_levels(v->form)->initial);
    v->seen = DAE_ARRAY(double, 2 * (size_t)v->form->seen_count);
    if (!v->instance || !v->levels || !v->seen) return out_of_memory(s);
    bool series = s->method->forms == FORM_SERIES;
    if (series) v->series = model_series_new(v->instance, s->base_options.precision);
    if (planned && !series) v->forms = model_forms_new(v->instance);
    return !planned || v->forms || v->series ? DAE_OK : out_of_memory(s);
}

/* Whether variables of the model are derivatives of multipliers, which methods on forms do not know
 * to full accuracy: x_j^(p) where the form has neither it nor x_j^(p-1) among q and v. */
static bool names_beyond(const analysed *a, const formulated *y)
{
    int moving = y->plan && y->plan->form == FORM_MECHANICAL ? 2 * y->plan->size[0] : y->set.n;
    for (int k = 0; k < a->set.synonym_count; k++) {
        const equation_synonym *name = &a->set.synonym[k];
        bool known = false;
        for (int i = 0; i < moving && !known; i++)
            known = y->variable[i] == name->variable && y->order[i] >= name->order - 1;
        if (!known) return true;
    }
    return false;
}

static dae_status apply_formulation(dae_solver *s, const model_point *at, model_analysis *a,
                                    variant *v)
{
    const char *name = s->base_options.formulation;
    bool forms = method_needs_form(s->method);
    bool series = s->method->forms == FORM_SERIES; /* in the unknowns of all levels */
    bool plain = strcmp(name, "auto") == 0 || a->index <= 1 || !a->numbers_agree;
    bool projects = solver_second_order(s) && s->method->projects;
    bool as_given = projects && strcmp(name, "index3") == 0;
    const char *usual = plain || as_given ? default_formulation(s, at, a) : name;
    if (!usual) return out_of_memory(s);
    const char *chosen = series ? "dummy" : plain ? usual : name;
    const formulation *f = forms && !series ? NULL : formulation_find(chosen, NULL);
    formulated y = {0}, levels = {0};
    if (doubtful(a)) note_doubt(v, a);
    if (doubtful(a) && forms) return explain_doubt(s, v, at->t);
    if (!take_wishes(&a->reduced, s->base->model)) return out_of_memory(s);
    /* Methods that project need the mechanical form beside the one they work on. */
    bool second = projects && (plain || as_given) && strcmp(usual, "index3") == 0;
    bool beside = second || projection_asked(s);
    if (projection_asked(s) && strcmp(chosen, "index3") != 0)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Option projection goes with formulation index3 of a mechanism, and not "
                        "with %s: leave one of them out.",
                        chosen);
    dae_status status = rewrite_as(s, f, a, at, beside, &y);
    if (status == DAE_OK && forms && s->choice.open && names_beyond(&a->reduced, &y))
        status = DAE_ERR_UNSUPPORTED;
    bool planned = forms || (beside && y.plan);
    if (status == DAE_OK) status = check_formulation(s, &y, name);
    if (status != DAE_OK) {
        formulated_free(&y);
        return status;
    }
    bool all = f && strcmp(f->name, "dummy") == 0; /* the one that has all levels */
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
static dae_status describe_array(dae_solver *s, variant *v)
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
static double *ease_of_values(const dae_solver *s)
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

/* A formulation was asked for that has nothing to do. */
static void tell_idle_formulation(dae_solver *s, int index)
{
    char text[200];
    const char *name = s->base_options.formulation;
    if (strcmp(name, "auto") == 0 || strcmp(name, "dummy") == 0) return;
    snprintf(text, sizeof text,
             "note: formulation %s is for models of index above 1; this one has index %d and is "
             "integrated as it is written",
             name, index);
    hybrid_tell(s, text);
}

/* Whether forms belong to the point they are made at and to the forms of the method alone: not to
 * other options */
static bool may_share(const dae_solver *s)
{
    return method_needs_form(s->method) && s->method->forms != FORM_SERIES &&
           strcmp(s->base_options.formulation, "auto") == 0;
}

/* The form that an earlier solver made at the same point, if there is one. True: v has it. */
static bool take_kept(dae_solver *s, const model_point *at, variant *v, dae_status *status)
{
    if (!may_share(s)) return false;
    v->kept = kept_form_find(s->base->model, s->method->forms, at);
    if (!v->kept) return false;
    v->form = v->kept->form;
    v->index = v->kept->index;
    *status = furnish_variant(s, v, true);
    return true;
}

/* A warning that names the constraints which follow from others. */
static void tell_redundant(dae_solver *s, const equation_set *set, const bool *rows)
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

/* Release the constraints that the variant is made without, or, where the equations depend on each
 * other whatever the values are, those that follow from others. */
static dae_status release_rows(dae_solver *s, const model_point *at, model_analysis *a)
{
    enum { ORDERS = 2 };
    const bool *release = s->reform->release;
    if (!release && (a->written.singular || !doubtful(a))) return DAE_OK;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    bool *rows = DAE_ARRAY(bool, a->reduced.set.m);
    bool ok = x && rows;
    int count = 0;
    if (ok) {
        equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters,
                                at->memory};
        if (!release) count = model_redundant_find(&a->reduced, &point, rows);
        if (count > 0) tell_redundant(s, &a->reduced.set, rows);
        if (release || count > 0)
            ok = model_redundant_release(&a->reduced, &point, release ? release : rows);
    }
    if (ok && count > 0) {
        ok = model_analysis_settle(a, at);
        a->index = ok ? regularised_index(&a->reduced.set, &a->reduced.structure) : 0;
        ok = ok && a->index >= 0;
    }
    dae_free(x);
    dae_free(rows);
    return ok && count >= 0 ? DAE_OK : out_of_memory(s);
}

/* Analyse the mode at hand; v->form stays NULL where the model can be integrated as it is, unless
 * its levels are wanted by all means. */
/* The formulation that the method takes, where one is needed; if the method was our choice and the
 * equations do not have its form, that of another one. */
static dae_status rewrite_analysed(dae_solver *s, const model_point *at, model_analysis *a,
                                   bool levels, variant *v)
{
    bool hidden = levels || a->index > 1 || has_levels(a) || doubtful(a);
    if (doubtful(a)) choice_fall_back(s);
    if (method_needs_form(s->method)) {
        dae_status status = apply_formulation(s, at, a, v);
        if (status != DAE_ERR_UNSUPPORTED || !choice_fall_back(s)) return status;
    }
    return hidden ? apply_formulation(s, at, a, v) : DAE_OK;
}

static dae_status make_form(dae_solver *s, double t, const double *y, const double *yp, bool levels,
                            variant *v)
{
    const model_instance *m = s->hybrid->instance;
    model_point at = {t, y, yp, m->parameters, m->memory};
    graph *g = s->base->model->flat->graph; /* shared with other solvers of the problem */
    model_analysis a;
    dae_status status = DAE_OK;
    if (s->choice.open) s->method = levels ? choice_residual(s) : choice_first(s);
    v->method = s->method;
    graph_enter(g);
    if (!levels && take_kept(s, &at, v, &status)) {
        graph_leave(g);
        return status;
    }
    status = model_analyse(s->base->model, &s->reform->slots, &at, &a, &s->diag);
    if (status == DAE_OK) status = release_rows(s, &at, &a);
    v->index = a.index;
    if (status == DAE_OK && a.written.singular)
        status = explain_singular(s, t, &a);
    else if (status == DAE_OK)
        status = rewrite_analysed(s, &at, &a, levels, v);
    v->method = s->method;
    v->runs_base = a.index <= 1 && !method_needs_form(s->method);
    if (status == DAE_OK && v->runs_base) tell_idle_formulation(s, a.index);
    if (status == DAE_OK && !levels && may_share(s) && v->form && !v->doubt[0])
        v->kept =
            kept_form_add(s->base->model, s->method->forms, &at, v->form, &v->rewrites, v->index);
    model_analysis_free(&a);
    graph_recover(g);
    graph_leave(g);
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

static dae_status make_variant(dae_solver *s, double t, const double *y, const double *yp,
                               variant **result)
{
    reform *r = s->reform;
    const double *memory = s->hybrid->instance->memory;
    variant *v = DAE_NEW(variant);
    if (v) v->key = DAE_ARRAY(double, r->slots.count);
    dae_status status = v && v->key ? make_form(s, t, y, yp, false, v) : out_of_memory(s);
    for (int k = 0; status == DAE_OK && k < r->slots.count; k++)
        v->key[k] = memory[r->slots.slot[k]];
    if (status == DAE_OK && !keep_variant(r, v)) status = out_of_memory(s);
    if (status != DAE_OK) variant_free(v);
    *result = status == DAE_OK ? v : NULL;
    return status;
}

/* ---- binding the solver to a form ---- */

/* A dummy keeps in its past what the iteration left undone, and shows it in its differences once it
 * becomes a state. With 0.03 in place of 0.1 the looping pendulum takes a quarter fewer steps and
 * Andrews' mechanism a tenth, in less time; 0.01 gains nothing more. */
static const double TIGHTER_NEWTON = 0.03;

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
        plain.newton_tolerance = TIGHTER_NEWTON;
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
static dae_status describe(dae_solver *s, variant *v)
{
    dae_residual d;
    dae_problem *problem = NULL;
    if (!model_instance_describe(v->instance, &d)) return out_of_memory(s);
    dae_status status = dae_problem_from_residual(&d, &problem, &s->diag);
    if (status != DAE_OK) return status;
    if (!model_kinematics(v->form, v->instance, problem)) {
        dae_problem_free(problem);
        return out_of_memory(s);
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
    if (!hybrid_bind(h, to)) return out_of_memory(s);
    s->compile_tried = s->compile_tried && to->native;
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
    form_instance *old = s->forms;
    const form_source *source = v && v->forms ? model_forms_source(v->forms) : NULL;
    s->forms = source ? form_instance_new(source, s->method->forms, &s->eval) : NULL;
    s->form_set = s->forms         ? form_instance_set(s->forms)
                  : v && v->series ? model_series_set(v->series)
                                   : NULL;
    dae_status status = solver_bind(s, problem, options);
    form_instance_free(old); /* the method's matrices may have referred to it until now */
    return source && !s->forms ? out_of_memory(s) : status;
}

/* Bind to a variant (NULL: the base form) with the values base_y, base_yp of the base form. */
static dae_status bind_to(dae_solver *s, variant *v, const double *base_y, const double *base_yp)
{
    reform *r = s->reform;
    dae_options options;
    dae_status status = v ? variant_options(s, v->form, &options)
                          : options_copy(&options, &s->base_options, s->base->form.n, &s->diag);
    if (status != DAE_OK) return out_of_memory(s);
    if (v && !v->problem) status = describe(s, v); /* states are chosen at a consistent point */
    if (status == DAE_OK) status = rebind_hybrid(s, v);
    if (status != DAE_OK) {
        options_free(&options);
        return status;
    }
    double direction = s->direction;
    r->base_instance->array = NULL;
    if (s->choice.open) s->method = v ? v->method : choice_residual(s);
    status = bind_forms(s, v, v ? v->problem : s->base, &options);
    if (status != DAE_OK) return status;
    s->direction = direction;
    s->norm.hidden = v ? v->form->formulated->hidden : NULL;
    r->current = v;
    if (v) {
        from_base(v->form, base_y, base_yp, s->y, s->yp);
    } else {
        vector_copy(s->n, base_y, s->y);
        vector_copy(s->n, base_yp, s->yp);
    }
    return DAE_OK;
}

/* Bind to the reduced system of a derivative array, over the unknowns of the base form. */
static dae_status bind_array(dae_solver *s, variant *v, const double *y, const double *yp)
{
    dae_status status = bind_to(s, NULL, y, yp);
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
    vector_copy(s->n, y, s->y);
    vector_copy(s->n, yp, s->yp);
    return DAE_OK;
}

/* The values of the base form where the solver stands, in *y and *yp = *y + n; owned by caller. */
static double *base_values(const dae_solver *s)
{
    int n = s->base->form.n;
    double *y = DAE_ARRAY(double, 2 * (size_t)n);
    if (!y) return NULL;
    if (reform_active(s)) {
        reform_to_base(s, s->t, s->y, s->yp, y, y + n);
    } else {
        vector_copy(n, s->y, y);
        vector_copy(n, s->yp, y + n);
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
    return r->start && r->fixed_by && r->slots_known ? DAE_OK : out_of_memory(s);
}

/* Whether the solver integrates what belongs to a variant. */
static bool is_bound(const dae_solver *s, const variant *v)
{
    return v->form ? s->reform->current == v : s->problem == s->base;
}

dae_status reform_adopt(dae_solver *s, double t)
{
    reform *r = s->reform;
    if (strcmp(s->base_options.formulation, "residual") == 0) return DAE_OK;
    dae_status status = prepare(s);
    if (status != DAE_OK) return status;
    if (!r->current) {
        vector_copy(s->n, s->hybrid->start, r->start);
        memcpy(r->fixed_by, s->hybrid->fixed_by, (size_t)s->n * sizeof *r->fixed_by);
    }
    variant *v = find_variant(r, s->hybrid->instance->memory);
    if (v && is_bound(s, v)) return DAE_OK;
    double *y = base_values(s);
    if (!y) return out_of_memory(s);
    const double *yp = y + s->base->form.n;
    if (!v) status = make_variant(s, t, y, yp, &v);
    if (status == DAE_OK && !is_bound(s, v)) status = bind_to(s, v->form ? v : NULL, y, yp);
    dae_free(y);
    return status;
}

dae_status reform_return(dae_solver *s)
{
    if (!s->reform || (s->problem == s->base && s->init)) return DAE_OK;
    double *y = s->y ? base_values(s) : DAE_ARRAY(double, 2 * (size_t)s->base->form.n);
    if (!y) return out_of_memory(s);
    dae_status status = bind_to(s, NULL, y, y + s->base->form.n);
    dae_free(y);
    return status;
}

void reform_forget(reform *r)
{
    for (int i = 0; i < r->count; i++) variant_free(r->list[i]);
    r->count = 0;
}

dae_status reform_rechoose(dae_solver *s)
{
    reform *r = s->reform;
    double direction = s->direction;
    dae_status status = reform_return(s);
    if (status != DAE_OK) return status;
    reform_forget(r);
    status = hybrid_begin_again(s);
    s->direction = direction;
    return status;
}

/* ---- consistent values on all levels ---- */

/* The compiled rows of a variant and, at the start, its initial equations, as a level system. */
typedef struct level_context {
    model_instance *m;
    double t;
    int rows;                    /* of all that the programs give, the first ones count */
    int *colptr, *rowind, *from; /* pattern of those rows; value k is number from[k] of all */
    double *residual, *values;
} level_context;

static eval_status level_residual(void *user, const double *u, double *out)
{
    level_context *c = user;
    model_residual(c->t, u, NULL, c->residual, c->m);
    vector_copy(c->rows, c->residual, out);
    return vector_finite(c->rows, out) ? EVAL_OK : EVAL_RETRY;
}

static eval_status level_jacobian(void *user, const double *u, double *values)
{
    level_context *c = user;
    int n = c->m->form->n, count = c->colptr[n];
    memset(c->values, 0, (size_t)c->m->form->colptr[n] * sizeof *c->values);
    model_jacobian(c->t, u, NULL, c->values, NULL, c->m);
    for (int k = 0; k < count; k++) values[k] = c->values[c->from[k]];
    return vector_finite(count, values) ? EVAL_OK : EVAL_RETRY;
}

static void level_context_free(level_context *c)
{
    dae_free(c->colptr);
    dae_free(c->rowind);
    dae_free(c->from);
    dae_free(c->residual);
    dae_free(c->values);
    *c = (level_context){0};
}

static bool level_context_new(level_context *c, model_instance *m, double t, int rows)
{
    const model_form *f = m->form;
    size_t n = (size_t)f->n, entries = (size_t)f->colptr[n];
    *c = (level_context){.m = m, .t = t, .rows = rows};
    c->colptr = DAE_ARRAY(int, n + 1);
    c->rowind = DAE_ARRAY(int, entries);
    c->from = DAE_ARRAY(int, entries);
    c->residual = DAE_ARRAY(double, f->rows);
    c->values = DAE_ARRAY(double, entries);
    if (!c->colptr || !c->rowind || !c->from || !c->residual || !c->values) {
        level_context_free(c);
        return false;
    }
    int count = 0;
    for (size_t j = 0; j < n; j++) {
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) {
            if (f->rowind[k] >= rows) continue;
            c->rowind[count] = f->rowind[k];
            c->from[count++] = k;
        }
        c->colptr[j + 1] = count;
    }
    return true;
}

/* tag[i] = GUESS for unknowns that some variable gives a start value. */
static void tag_starts(const dae_solver *s, dae_tag *tag)
{
    const model_form *f = all_levels(s->reform->current->form);
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int i = q->discrete ? -1 : f->first_unknown[f->alias[v].top];
        bool given = q->has_start || !isnan(f->start[v]);
        if (i >= 0 && given && tag[i] == DAE_TAG_FREE) tag[i] = DAE_TAG_GUESS;
    }
}

/* given = values of the levels' unknowns where the form that is integrated sees through them, as
 * far as the model has a name for them; what has none is free. False: memory. */
static bool give_seen(const dae_solver *s, dae_tag *tag, double *given)
{
    const model_form *here = s->reform->current->form, *f = all_levels(here);
    double *base = here->seen_count > 0 ? base_values(s) : NULL;
    if (here->seen_count == 0) return true;
    for (int i = 0; base && i < f->n; i++) {
        int model = f->formulated->set.model[i];
        if (here->level_place[i].unknown >= 0) continue;
        if (model >= 0)
            given[i] = base[model];
        else
            tag[i] = DAE_TAG_FREE;
    }
    dae_free(base);
    return base;
}

/* At the start the attributes tell what is fixed and what is a guess; later values are kept where
 * they can be: those of all variables whose derivative the analysis knows. */
static void tag_values(const dae_solver *s, bool initial, dae_tag *tag, double *given)
{
    const reform *r = s->reform;
    const model_form *here = r->current->form, *f = all_levels(here);
    for (int i = 0; i < f->initial->n; i++) {
        tag[i] = DAE_TAG_FREE;
        given[i] = 0.0;
    }
    for (int i = 0; initial && i < s->base->form.n; i++) {
        model_place at = f->place[i];
        if (at.unknown < 0 || at.slope) continue;
        if (r->fixed_by[i] >= 0) tag[at.unknown] = DAE_TAG_FIXED;
        given[at.unknown] = at.sign * r->start[i];
    }
    for (int i = 0; !initial && i < f->n; i++) {
        model_place at = here->levels ? here->level_place[i] : (model_place){i, false, 1};
        bool fixed = at.unknown >= 0 && !at.slope && s->hybrid->is_held[at.unknown];
        tag[i] = fixed ? DAE_TAG_FIXED : f->differential[i] ? DAE_TAG_GUESS : DAE_TAG_FREE;
        given[i] = value_at_place(at, s->y, s->yp);
    }
    for (int i = f->n; !here->levels && i < f->initial->n; i++)
        given[i] = s->yp[f->initial->slope_of[i]];
    if (initial) tag_starts(s, tag);
}

/* Nominal sizes; where there are none, the size of the value given. That may be small by chance, as
 * of a position that passes zero, or sin(pi): such a value may move like others, as far as 1. */
static void size_values(const dae_solver *s, const double *given, double *scale, double *reach)
{
    /* a value computed to be zero is no size: below this the absolute tolerance counts */
    double ratio = s->options.rtol > 0.0 ? s->options.atol / s->options.rtol : 1.0;
    double least = fmin(1.0, fmax(ratio, 1e-6));
    const model_form *f = all_levels(s->reform->current->form);
    for (int i = 0; i < f->initial->n; i++) {
        int of = i < f->n ? i : f->initial->slope_of[i];
        double nominal = f->formulated->set.nominal[of];
        scale[i] = nominal != 1.0 || given[i] == 0.0 ? nominal : fmax(fabs(given[i]), least);
        reach[i] = fmax(scale[i], nominal);
    }
}

/* States without a start value begin at 0 where they can: before algebraic variables, behind all
 * that was said. */
static void prefer_states(const dae_solver *s, dae_tag *tag, double *reach)
{
    const model_form *f = all_levels(s->reform->current->form);
    for (int i = 0; i < f->n; i++) {
        if (tag[i] != DAE_TAG_FREE || !f->differential[i]) continue;
        tag[i] = DAE_TAG_GUESS;
        reach[i] *= 1e3;
    }
}

/* Unknown i is x_j^(p): rank p - d_j, so that positions come before velocities and those before
 * accelerations. */
static void rank_values(const dae_solver *s, int *rank)
{
    const model_form *f = all_levels(s->reform->current->form);
    const formulated *y = f->formulated;
    for (int i = 0; i < f->initial->n; i++) {
        int j = i < f->n ? y->variable[i] : -1;
        rank[i] = j >= 0 ? y->order[i] - f->analysed->structure.d[j] : 0;
    }
}

/* y, y' of the form with all levels from its initial system. */
static void unpack_levels(const model_form *f, const double *u, double *y, double *yp)
{
    vector_copy(f->n, u, y);
    vector_zero(f->n, yp);
    for (int i = f->n; i < f->initial->n; i++) yp[f->initial->slope_of[i]] = u[i];
    for (int k = 0; k < f->formulated->candidates; k++) {
        const kinematic *q = &f->formulated->candidate[k];
        yp[q->unknown] = q->sign * y[q->next];
    }
}

/* The consistent values for the form that is integrated; work: twice the size of all levels'. What
 * is new in it starts at 0. */
static void take_levels(dae_solver *s, const double *u, double *work)
{
    const model_form *f = s->reform->current->form;
    if (!f->levels) {
        unpack_levels(f, u, s->y, s->yp);
        return;
    }
    double *y = work, *yp = work + f->levels->n;
    unpack_levels(f->levels, u, y, yp);
    for (int i = 0; i < s->n; i++) {
        s->y[i] = value_at_place(f->of_level[i], y, yp);
        s->yp[i] = value_at_place(f->of_level_slope[i], y, yp);
    }
}

/* ---- aliases behind a conflict ---- */

typedef struct alias_list {
    const model_form *base;
    bool *seen; /* per flat equation */
} alias_list;

/* Mark the equations that made the variable of a leaf an alias of its root. */
static void mark_alias(void *context, expr leaf)
{
    alias_list *list = context;
    const model_form *f = list->base;
    const expr_node *node = graph_node(f->flat->graph, leaf);
    int v = node->op == EXPR_VARIABLE ? node->index : -1;
    while (v >= 0 && f->alias[v].equation >= 0) {
        list->seen[f->alias[v].equation] = true;
        v = f->alias[v].root != v ? f->alias[v].root : -1;
    }
}

/* Equations x = y were eliminated before the levels saw them; where a conflict's equations use such
 * variables, they belong to it. */
static void append_aliases(dae_solver *s, const level_report *report)
{
    const model_form *base = s->base->model, *form = all_levels(s->reform->current->form);
    alias_list list = {base, DAE_ARRAY(bool, base->flat->equation_count)};
    for (int k = 0; list.seen && k < report->equation_count; k++) {
        int r = report->equation[k];
        int row = r < form->rows ? form->formulated->set.row[r].source : -1;
        int flat = row >= 0 ? base->equation_source[row] : -1;
        if (flat >= 0)
            graph_leaves(base->flat->graph, &base->flat->equations[flat].residual, 1, mark_alias,
                         &list);
    }
    int listed = 0;
    for (size_t i = 0; list.seen && i < base->flat->equation_count; i++) {
        if (!list.seen[i]) continue;
        char *name = flat_equation_name(base->flat, &base->flat->equations[i]);
        diag_append(&s->diag, "%s %s", listed++ ? "," : " They use", name ? name : "?");
        dae_free(name);
    }
    if (listed) diag_append(&s->diag, ".");
    dae_free(list.seen);
}

/* Nearest values that satisfy all levels. */
static dae_status solve_levels(dae_solver *s, double t, bool initial)
{
    variant *v = s->reform->current;
    const model_form *levels = all_levels(v->form)->initial;
    int rows = initial ? levels->rows : all_levels(v->form)->rows, n = levels->n;
    double *work = DAE_ARRAY(double, 6 * (size_t)n), *given = work, *scale = work + n,
           *reach = work + 2 * n, *u = work + 3 * n;
    dae_tag *tag = DAE_ARRAY(dae_tag, n);
    int *rank = DAE_ARRAY(int, n);
    level_context c = {0};
    level_report report = {0};
    dae_status status = DAE_ERR_MEMORY;
    if (work && tag && rank && level_context_new(&c, v->levels, t, rows)) {
        memcpy(v->levels->memory, v->instance->memory,
               (size_t)v->form->flat->memory_count * sizeof(double));
        memcpy(v->levels->parameters, v->instance->parameters,
               v->form->flat->parameter_count * sizeof(double));
        model_instance_prepare(v->levels);
        tag_values(s, initial, tag, given);
        bool told = initial || give_seen(s, tag, given);
        size_values(s, given, scale, reach);
        if (initial)
            prefer_states(s, tag, reach);
        else
            rank_values(s, rank);
        vector_copy(n, given, u);
        level_system system = {.n = n,
                               .m = rows,
                               .residual = level_residual,
                               .jacobian = level_jacobian,
                               .colptr = c.colptr,
                               .rowind = c.rowind,
                               .variable_names = (const char *const *)levels->unknown_names,
                               .equation_names = (const char *const *)levels->equation_names,
                               .equation_lines = levels->equation_lines,
                               .user = &c};
        level_request request = {.tag = tag,
                                 .given = given,
                                 .scale = scale,
                                 .reach = reach,
                                 .tolerance = 1e-12,
                                 .iterations = s->options.init_iterations,
                                 .rank = initial ? NULL : rank};
        status = told ? levels_solve(&system, &request, u, &report, &s->diag) : out_of_memory(s);
        s->diag.t = t;
        if (status == DAE_OK) take_levels(s, u, work + 4 * n);
        if (status == DAE_ERR_INITIAL) append_aliases(s, &report);
        level_report_free(&report);
    } else {
        out_of_memory(s);
    }
    level_context_free(&c);
    dae_free(rank);
    dae_free(tag);
    dae_free(work);
    return status;
}

/* ---- states ---- */

static dae_status explain_selection(dae_solver *s, double t, selection_status status)
{
    const variant *v = s->reform->current;
    const equation_set *set = &v->form->analysed->set;
    s->diag.t = t;
    if (status == SELECTION_NOT_FINITE)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The derivatives of the constraints cannot be evaluated at t = %.9g.", t);
    const int *culprit;
    int count = selection_culprits(v->instance->selection, &culprit);
    if (count > 0) {
        diag_equation(&s->diag, -1, set->row[culprit[0]].name);
        s->diag.line = set->row[culprit[0]].line;
    }
    diag_set(&s->diag, DAE_ERR_SINGULAR,
             "The index changes at t = %.9g: constraints depend on each other there:", t);
    for (int k = 0; k < count && k < 8; k++)
        diag_append(&s->diag, "%s %s", k ? "," : "", set->row[culprit[k]].name);
    diag_append(&s->diag,
                "%s. A mechanism in such a position can move in more ways than before; start "
                "elsewhere, or leave out a redundant constraint.",
                count > 8 ? ", .." : "");
    return DAE_ERR_SINGULAR;
}

/* Take the choice of states at s->y, s->yp. */
static dae_status choose_states(dae_solver *s, double t)
{
    variant *v = s->reform->current;
    if (!v->instance->selection) return DAE_OK;
    selection_status chosen = model_instance_select(v->instance, t, s->y, s->yp, true);
    if (chosen != SELECTION_CHANGED) return explain_selection(s, t, chosen);
    dae_status status = describe(s, v);
    return status == DAE_OK ? solver_repattern(s, v->problem) : status;
}

/* Fixed start values must be what the array found. */
static dae_status check_fixed(dae_solver *s, double t)
{
    const hybrid *h = s->hybrid;
    for (int i = 0; i < s->n; i++) {
        double size = fmax(1.0, fabs(h->start[i]));
        if (h->fixed_by[i] < 0 || fabs(s->y[i] - h->start[i]) <= 1e-6 * size) continue;
        diag_variable(&s->diag, i, problem_variable(s->problem, i));
        s->diag.t = t;
        s->diag.value = s->y[i];
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "The fixed start value %.9g of %s does not satisfy the equations and their "
                        "derivatives; near it they hold with %.9g. Free it, or another one.",
                        h->start[i], s->diag.variable_name, s->y[i]);
    }
    return DAE_OK;
}

/* Consistent values by the derivative array. */
static dae_status begin_array(dae_solver *s, double t, bool initial)
{
    array_run *run = s->hybrid->instance->array;
    array_status found = array_run_start(run, t, s->y, s->yp);
    s->diag.t = t;
    if (found == ARRAY_MEMORY) return out_of_memory(s);
    if (found != ARRAY_OK)
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "No consistent values were found at t = %.9g by the derivatives of the "
                        "equations, whose structure tells too little here. Give better start "
                        "values.",
                        t);
    dae_status status = initial ? check_fixed(s, t) : DAE_OK;
    s->reform->steps_since_watch = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

/* Without a rewriting that makes structure and numbers agree: by the derivative array, if that
 * determines the solution near the values found so far. */
static dae_status seek_array(dae_solver *s, double t, bool initial)
{
    variant *v = s->reform->current;
    const model_instance *m = s->reform->base_instance;
    graph *g = s->base->model->flat->graph;
    double *ease = ease_of_values(s), *y = base_values(s);
    dae_status status = ease && y ? DAE_OK : out_of_memory(s);
    if (status == DAE_OK) {
        model_point at = {t, y, y + s->base->form.n, m->parameters, v->instance->memory};
        graph_enter(g);
        if (!v->array)
            status = array_run_new(&v->array, s->base->model, &s->reform->slots, &at, ease);
        graph_recover(g);
        graph_leave(g);
        if (status != DAE_OK) out_of_memory(s);
    }
    if (status == DAE_OK && !v->array) status = explain_doubt(s, v, t);
    if (status == DAE_OK && !v->array_problem) status = describe_array(s, v);
    if (status == DAE_OK) status = bind_array(s, v, y, y + s->base->form.n);
    dae_free(ease);
    dae_free(y);
    return status == DAE_OK ? begin_array(s, t, initial) : status;
}

/* Fixed start values are exact, also where the events of the start end; later nothing is. */
static void tell_kept(dae_solver *s, double t, bool initial)
{
    reform *r = s->reform;
    bool *kept = model_series_kept(r->current->series);
    if (initial) r->start_time = t;
    for (int i = 0; i < r->current->form->n; i++)
        kept[i] = t == r->start_time && s->hybrid->fixed_by[i] >= 0;
}

/* ---- positions ---- */

bool reform_chose_positions(const dae_solver *s)
{
    return reform_active(s) && s->reform->current->instance->positions;
}

static dae_status explain_positions(dae_solver *s, double t, position_status status)
{
    const variant *v = s->reform->current;
    const equation_set *set = &v->form->analysed->set;
    s->diag.t = t;
    if (status == POSITIONS_NOT_FINITE)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The derivatives of the constraints cannot be evaluated at t = %.9g.", t);
    int culprit =
        v->form->formulated->positions->source[position_watch_culprit(v->instance->positions)];
    diag_equation(&s->diag, -1, set->row[culprit].name);
    s->diag.line = set->row[culprit].line;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Formulation %s chooses positions that the constraints determine, but at t = "
                    "%.9g %s depends on the other constraints.",
                    s->base_options.formulation, t, set->row[culprit].name);
}

/* A variant of the mode at hand with p2 as told; NULL: there is none yet. */
static variant *find_choice(const dae_solver *s, const bool *dependent)
{
    const reform *r = s->reform;
    size_t bytes = (size_t)r->current->form->formulated->positions->columns * sizeof *dependent;
    for (int k = 0; k < r->count; k++) {
        variant *v = r->list[k];
        const position_choice *c = v->form ? v->form->formulated->positions : NULL;
        bool fits = c && same_mode(r, v, s->hybrid->instance->memory);
        if (fits && memcmp(c->dependent, dependent, bytes) == 0) return v;
    }
    return NULL;
}

/* Other positions: to the variant that has them, made here if need be, with the values at s->y. */
static dae_status change_positions(dae_solver *s, double t)
{
    reform *r = s->reform;
    variant *old = r->current, *v = find_choice(s, position_watch_better(old->instance->positions));
    double *y = base_values(s), direction = s->direction;
    if (!y) return out_of_memory(s);
    const double *yp = y + s->base->form.n;
    old->retired = true;
    dae_status status = v ? DAE_OK : make_variant(s, t, y, yp, &v);
    if (v) v->retired = false;
    if (status == DAE_OK) status = bind_to(s, v, y, yp);
    if (status != DAE_OK) old->retired = false;
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->direction = direction;
    s->history = 0;
    r->choices++;
    return solve_levels(s, t, false);
}

/* Look at the positions at s->y, s->yp, and change them if they have become bad. */
static dae_status reconsider_positions(dae_solver *s, double t, bool *changed)
{
    position_status found = model_instance_look(s->reform->current->instance, t, s->y, s->yp);
    *changed = found == POSITIONS_BAD;
    if (found == POSITIONS_KEPT) return DAE_OK;
    return found == POSITIONS_BAD ? change_positions(s, t) : explain_positions(s, t, found);
}

/* ---- redundant constraints ---- */

/* To a variant without the equations `rows`, with the values at s->y. */
static dae_status release(dae_solver *s, double t, const bool *rows)
{
    reform *r = s->reform;
    variant *old = r->current, *v = NULL;
    double *y = base_values(s), direction = s->direction;
    if (!y) return out_of_memory(s);
    old->retired = true;
    r->release = rows;
    dae_status status = make_variant(s, t, y, y + s->base->form.n, &v);
    r->release = NULL;
    if (status == DAE_OK) {
        tell_redundant(s, &old->form->analysed->set, rows);
        v->searched = true;
        status = bind_to(s, v, y, y + s->base->form.n);
    } else {
        old->retired = false;
    }
    dae_free(y);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    s->direction = direction;
    return solve_levels(s, t, false);
}

/* Whether the search is worth its time: the states cannot be chosen, or nothing else would tell. */
static bool suspects_redundant(const dae_solver *s, double t)
{
    enum { LARGEST = 500 };
    const variant *v = s->reform->current;
    if (v->index != 3 || v->doubt[0] || v->series) return false;
    if (!v->instance->selection) return v->form->analysed->set.n <= LARGEST;
    return model_instance_select(v->instance, t, s->y, s->yp, true) == SELECTION_SINGULAR;
}

/* Once per variant, where all equations hold: release constraints that follow from others. */
static dae_status settle_redundant(dae_solver *s, double t)
{
    enum { ORDERS = 2 };
    variant *v = s->reform->current;
    if (v->searched || !suspects_redundant(s, t)) return DAE_OK;
    v->searched = true;
    const analysed *a = v->form->analysed;
    const model_instance *m = v->instance;
    double *y = base_values(s);
    model_point at = {t, y, y + s->base->form.n, m->parameters, m->memory};
    double **x = y ? analysed_values(&a->set, &at, ORDERS) : NULL;
    bool *rows = DAE_ARRAY(bool, a->set.m);
    int count = -1;
    if (x && rows) {
        equation_point point = {t, (const double *const *)x, ORDERS, m->parameters, m->memory};
        graph *g = s->base->model->flat->graph;
        graph_enter(g);
        count = model_redundant_find(a, &point, rows);
        graph_recover(g);
        graph_leave(g);
    }
    dae_status status = count < 0 ? out_of_memory(s) : DAE_OK;
    if (count > 0) status = release(s, t, rows);
    dae_free(rows);
    dae_free(x);
    dae_free(y);
    return status;
}

dae_status reform_begin(dae_solver *s, double t, bool initial)
{
    dae_status status = solve_levels(s, t, initial);
    if (status == DAE_OK) status = settle_redundant(s, t);
    variant *v = s->reform->current;
    if (v->series) tell_kept(s, t, initial);
    if (status == DAE_OK && !v->runs_base && v->doubt[0]) return seek_array(s, t, initial);
    if (status == DAE_OK && v->runs_base) {
        if (v->doubt[0] && initial) tell_doubt(s, v);
        status = reform_return(s);
        return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
    }
    bool changed;
    if (status == DAE_OK) status = choose_states(s, t);
    if (status == DAE_OK) status = reconsider_positions(s, t, &changed);
    s->reform->steps_since_watch = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

/* The usual way to initial values of the base form has failed, and s->diag says why. The levels may
 * find them, or name those that cannot hold together; if neither, the old message stays. */
dae_status reform_rescue(dae_solver *s, double t, dae_status failed)
{
    reform *r = s->reform;
    variant *v = find_variant(r, s->hybrid->instance->memory);
    bool worth = failed == DAE_ERR_INITIAL || failed == DAE_ERR_SINGULAR;
    if (!worth || !v || v->form) return failed;
    dae_diag before = s->diag;
    double *rates = DAE_ARRAY(double, s->base->form.n); /* unknown: zero */
    if (!rates) return failed;
    dae_status status = make_form(s, t, r->start, rates, true, v);
    if (status == DAE_OK) status = bind_to(s, v, r->start, rates);
    dae_free(rates);
    if (status == DAE_OK) status = solve_levels(s, t, true);
    dae_diag found = s->diag;
    bool told = status == DAE_ERR_INITIAL;
    if (status == DAE_OK || reform_active(s)) {
        dae_status back = reform_return(s);
        if (status == DAE_OK) status = back;
    }
    if (status == DAE_OK) status = solver_begin(s, t, DAE_INIT_NONE);
    if (status == DAE_OK) return DAE_OK;
    s->diag = told ? found : before;
    return told ? status : failed;
}

/* The kinds of the variables by the new choice. */
static void renew_kinds(dae_solver *s)
{
    const formulated *y = s->reform->current->form->formulated;
    for (int k = 0; k < y->candidates; k++) {
        int i = y->candidate[k].unknown;
        s->kinds[i] = s->problem->form.kinds[i];
    }
    norm_classify(&s->norm, s->kinds, s->context.error_test);
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
        array_run_renew(s->hybrid->instance->array, s->t_new, s->last.y, s->last.yp);
    if (renewed == ARRAY_MEMORY) return out_of_memory(s);
    if (renewed == ARRAY_OK) return solver_repattern(s, s->problem);
    s->diag.t = s->t_new;
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "The index changes at t = %.9g: ranks of the derivatives of the equations are "
                    "no longer what they were.",
                    s->t_new);
}

/* Between two steps: the method begins anew in other unknowns where positions are chosen anew. */
static dae_status watch_positions(dae_solver *s)
{
    reform *r = s->reform;
    bool cheap = position_watch_work(r->current->instance->positions) <= CHEAP_WATCH, changed;
    if (!cheap && ++r->steps_since_watch < PATIENCE) return DAE_OK;
    r->steps_since_watch = 0;
    vector_copy(s->n, s->last.y, s->y);
    vector_copy(s->n, s->last.yp, s->yp);
    dae_status status = reconsider_positions(s, s->t_new, &changed);
    return status == DAE_OK && changed ? solver_begin(s, s->t_new, DAE_INIT_NONE) : status;
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
        model_instance_select(v->instance, s->t_new, s->last.y, s->last.yp, false);
    if (chosen == SELECTION_KEPT) return DAE_OK;
    if (chosen != SELECTION_CHANGED) return explain_selection(s, s->t_new, chosen);
    r->choices++;
    dae_status status = describe(s, v);
    if (status == DAE_OK) status = solver_repattern(s, v->problem);
    if (status == DAE_OK) renew_kinds(s);
    return status;
}
