/* The form of a model that the method of a plan integrates, by the formulation asked for, or the
 * one that is usual for it. */
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "formulation/form_plan.h"
#include "solve/prepare/plan.h"
#include "structure/mechanical/mechanical.h"

/* stateSelect of the variables of a set: -2 .. 2 */
static bool take_state_wishes(analysed *a, const model_form *base)
{
    if (a->wish) return true;
    a->wish = DAE_ARRAY(signed char, a->set.n);
    for (int j = 0; a->wish && j < a->set.n; j++) {
        int model = a->set.model[j], v = model >= 0 ? base->unknown_variable[model] : -1;
        if (v >= 0) a->wish[j] = (signed char)((int)base->flat->variables[v].state_select - 2);
    }
    return a->wish;
}

/* The strongest form of the equations that the method works on, of those their structure allows. */
static dae_status rewrite_for_method(preparation *p, const analysed *a, const equation_point *at,
                                     formulated *y)
{
    const formulation *asked = p->wishes->formulation;
    unsigned forms = p->plan->method->forms;
    if (asked->forms & forms) forms &= asked->forms;
    char reasons[2][DAE_TEXT_SIZE] = {"", ""};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (forms & FORM_MECHANICAL) {
        /* without constraints for those alone that were asked for and take nothing else */
        bool free = forms == FORM_MECHANICAL && !p->wishes->open;
        status = formulate_mechanical_form(a, at, free, y, p->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[0], sizeof reasons[0], " They are not mechanical: %.400s.", p->diag->text);
    }
    if (forms & FORM_HESSENBERG) {
        status = formulate_hessenberg_form(a, at, y, p->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[1], sizeof reasons[1], " They have no Hessenberg form: %.400s.",
                 p->diag->text);
    }
    if (forms & (FORM_QUASILINEAR | FORM_MANIFOLD)) {
        status = formulate_quasilinear_form(a, at, y, p->diag);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        snprintf(reasons[1], sizeof reasons[1], " They are not quasilinear: %.400s.",
                 p->diag->text);
    }
    return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                    "Method %s works on the form %s, which the equations of the model do not "
                    "have.%s%s Use a method for residual forms, such as bdf.",
                    p->plan->method->name, forms_text(forms), reasons[0], reasons[1]);
}

/* The model has no mechanical form; the diagnostic has the reason. */
static dae_status refuse_projection(preparation *p)
{
    char reason[DAE_TEXT_SIZE];
    snprintf(reason, sizeof reason, "%.400s", p->diag->text);
    return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                    "Option projection needs the constraints of a mechanism, which the equations "
                    "of the model are not: %s. Leave it out: formulation dummy keeps all "
                    "constraints.",
                    reason);
}

/* Rewrite the equations as f says, with the values at `at` for formulations that choose; f NULL:
 * for the method. */
static dae_status rewrite_as(preparation *p, const formulation *f, bool beside, formulated *y)
{
    enum { ORDERS = 2 };
    const model_analysis *a = &p->analysis;
    const model_point *at = &p->mode->at;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    if (!x) return plan_exhausted(p->diag);
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    formulation_setting setting = {.parameter = p->wishes->options->formulation_parameter,
                                   .at = &point};
    dae_status status = DAE_ERR_UNSUPPORTED;
    if (beside) status = formulate_mechanical_form(&a->reduced, &point, false, y, p->diag);
    if (status == DAE_ERR_UNSUPPORTED && beside && projection_asked(p->wishes, p->plan->method))
        status = refuse_projection(p);
    else if (status == DAE_ERR_UNSUPPORTED)
        status = f ? formulation_apply(f, &a->reduced, &setting, y, p->diag)
                   : rewrite_for_method(p, &a->reduced, &point, y);
    dae_free(x);
    return status;
}

/* Methods on other forms take them as they are: which formulation, f, goes with that is decided. */
static dae_status check_formulation(preparation *p, const formulated *y, const formulation *f)
{
    const formulation *asked = p->wishes->formulation;
    bool fits = asked->automatic || p->plan->method->forms & asked->forms;
    bool idle = f && p->analysis.index <= 1; /* residual methods take the equations as written */
    if (asked->needs && !idle && (!fits || f == asked))
        return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s has more equations than unknowns: it is for methods such "
                        "as %s, and not for %s.",
                        asked->name, asked->needs, p->plan->method->name);
    if (method_needs_form(p->plan->method) && !fits)
        return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation %s gives a residual form, but method %s works on the form %s: "
                        "leave the formulation out, or use another method, such as bdf.",
                        asked->name, p->plan->method->name, forms_text(p->plan->method->forms));
    if (y->set.n == 0)
        return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                        "Every variable of this model is a function of time alone that its "
                        "equations give explicitly: the form %s that method %s works on has no "
                        "unknowns. Use a method for residual forms, such as radau.",
                        forms_text(p->plan->method->forms), p->plan->method->name);
    return DAE_OK;
}

/* The formulation by default. Methods on the second order form take mechanical systems as they are,
 * of index 3: what measures best for them (docs/notes/formulations.md). NULL: memory. */
static const formulation *default_formulation(const preparation *p)
{
    enum { ORDERS = 2 };
    const model_analysis *a = &p->analysis;
    const model_point *at = &p->mode->at;
    if (a->index != 3 || !a->numbers_agree) return &formulation_dummy;
    if (projection_asked(p->wishes, p->plan->method)) return &formulation_index3;
    if (!(p->plan->method->forms & FORM_SECOND_ORDER)) return &formulation_dummy;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    if (!x) return NULL;
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    const mechanical *m;
    char reason[DAE_TEXT_SIZE];
    mechanical_status found = analysed_mechanism(&a->reduced, &point, &m, reason, sizeof reason);
    dae_free(x);
    if (found == MECHANICAL_MEMORY) return NULL;
    return found == MECHANICAL_OK ? &formulation_index3 : &formulation_dummy;
}

/* Forms whose algebraic variables have no slopes; others see through them, or have slopes of all.
 */
static bool leaves_slopes(const formulated *y)
{
    return y->plan && y->plan->form & (FORM_MECHANICAL | FORM_HESSENBERG);
}

/* *name: a variable that is the derivative of one that is algebraic in the form: methods on forms
 * know slopes of those from values alone, and not to full accuracy. NULL: there is none. False:
 * memory */
static bool name_beyond(const analysed *a, const formulated *y, const char **name)
{
    const bool some = leaves_slopes(y);
    int *known = DAE_ARRAY(int, a->set.n); /* per variable: 1 + the highest order that is known */
    *name = NULL;
    if (!known) return false;
    for (int i = 0; i < y->set.n; i++) {
        const int order = y->order[i] + (!some || y->kinds[i] == DAE_KIND_DIFFERENTIAL) + 1;
        if (y->variable[i] >= 0 && order > known[y->variable[i]]) known[y->variable[i]] = order;
    }
    for (int k = 0; k < a->set.synonym_count && !*name; k++)
        if (a->set.synonym[k].order + 1 > known[a->set.synonym[k].variable])
            *name = a->set.synonym[k].name;
    dae_free(known);
    return true;
}

/* Slopes of algebraic variables are values of the model. */
static dae_status refuse_slopes(preparation *p, const char *name)
{
    return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                    "%s is the derivative of a variable that is algebraic in the form that method "
                    "%s works on, and so is not known to full accuracy. Use a method for residual "
                    "forms, such as radau.",
                    name, p->plan->method->name);
}

/* Which formulation a plan takes. */
typedef struct formulation_choice {
    const formulation *by; /* NULL: the form that the method works on, as it is */
    const formulation *named;
    bool beside; /* methods that project need the mechanical form beside the one they work on */
} formulation_choice;

/* False: memory. */
static bool choose_formulation(const preparation *p, formulation_choice *c)
{
    const method *m = p->plan->method;
    const formulation *asked = p->wishes->formulation;
    bool series = m->forms == FORM_SERIES; /* in the unknowns of all levels */
    bool plain = asked->automatic || p->analysis.index <= 1 || !p->analysis.numbers_agree;
    bool projects = m->forms & FORM_SECOND_ORDER && m->projects;
    bool as_given = projects && asked->projects;
    const formulation *usual = plain || as_given ? default_formulation(p) : asked;
    if (!usual) return false;
    c->named = series ? &formulation_dummy : plain ? usual : asked;
    c->by = method_needs_form(m) && !series ? NULL : c->named;
    c->beside =
        (projects && (plain || as_given) && usual->projects) || projection_asked(p->wishes, m);
    return true;
}

/* y = the rewritten equations, if they are what the method takes. */
static dae_status rewrite_checked(preparation *p, const formulation_choice *c, formulated *y)
{
    bool forms = method_needs_form(p->plan->method);
    dae_status status = rewrite_as(p, c->by, c->beside, y);
    bool other = p->wishes->open && !p->wishes->formulation->needs; /* method may do better */
    bool doubted = status == DAE_OK && forms && (other || leaves_slopes(y));
    const char *beyond = NULL;
    if (doubted && !name_beyond(&p->analysis.reduced, y, &beyond)) return plan_exhausted(p->diag);
    if (beyond) status = refuse_slopes(p, beyond);
    p->plan->offers_forms = forms || (c->beside && y->plan);
    return status == DAE_OK ? check_formulation(p, y, c->by) : status;
}

dae_status formulate(preparation *p)
{
    model_analysis *a = &p->analysis;
    const method *m = p->plan->method;
    formulation_choice c;
    formulated y = {0}, levels = {0};
    if (!choose_formulation(p, &c)) return plan_exhausted(p->diag);
    if (is_doubtful(a)) note_doubt(p);
    if (is_doubtful(a) && method_needs_form(m))
        return explain_doubt(p->plan, p->mode->at.t, p->diag);
    if (!take_state_wishes(&a->reduced, p->problem->model)) return plan_exhausted(p->diag);
    if (projection_asked(p->wishes, m) && !c.named->projects)
        return diag_set(p->diag, DAE_ERR_UNSUPPORTED,
                        "Option projection goes with formulation index3 of a mechanism, and not "
                        "with %s: leave one of them out.",
                        c.named->name);
    bool all = c.by && c.by->all_levels;
    dae_status status = rewrite_checked(p, &c, &y);
    if (status == DAE_OK && !all) status = formulate_dummy(&a->reduced, &levels, p->diag);
    if (status != DAE_OK) {
        formulated_free(&y);
        return status;
    }
    p->plan->rewrites = a->rewrites;
    a->rewrites = (rewrite_list){0};
    return model_form_variant(p->problem->model, &a->reduced, &y, all ? NULL : &levels,
                              &p->plan->form, p->diag);
}
