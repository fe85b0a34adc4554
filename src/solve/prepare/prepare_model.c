/* The plan of a model in a mode: analysis, method and formulation. */
#include "base/diag.h"
#include "base/memory.h"
#include "formulation/form_plan.h"
#include "model/model_structure.h"
#include "solve/prepare/choose.h"
#include "solve/prepare/plan_store.h"

bool is_doubtful(const model_analysis *a)
{
    return !a->numbers_agree && a->certificate.finite;
}

/* Whether initial values must satisfy more than the equations as they are written. */
static bool has_levels(const model_analysis *a)
{
    if (!a->numbers_agree) return false;
    for (int i = 0; i < a->reduced.set.m; i++)
        if (a->reduced.structure.c[i] > 0) return true;
    return false;
}

/* ---- redundant constraints ---- */

/* The constraints that follow from others where the equations depend on each other whatever the
 * values are: rows, and how many; -1: memory. */
static int find_redundant(preparation *p, const equation_point *at, bool *rows, dae_status *status)
{
    const analysed *a = &p->analysis.reduced;
    constraint_program *program = NULL;
    model_conflict conflict = {.row = -1, .with = DAE_ARRAY(bool, a->set.m)};
    bool ready = conflict.with && model_redundant_prepare(a, at, &program);
    int count = ready ? model_redundant_find(a, program, at, rows, &conflict) : -1;
    constraint_program_free(program);
    if (count > 0) note_redundant(p->plan, &a->set, rows);
    if (count == 0 && conflict.row >= 0) *status = refuse_conflict(&a->set, &conflict, p->diag);
    dae_free(conflict.with);
    return count;
}

/* The analysis without the equations `rows`; found: it is to be looked at anew. */
static bool leave_out(preparation *p, const equation_point *at, const bool *rows, bool found)
{
    model_analysis *a = &p->analysis;
    if (!model_redundant_release(&a->reduced, at, rows)) return false;
    if (found) {
        if (!model_analysis_settle(a, &p->mode->at)) return false;
        a->index = regularised_index(&a->reduced.set, &a->reduced.structure);
        if (a->index < 0) return false;
    }
    return a->reduced.structure.singular ||
           released_watch_new(&p->plan->released, p->problem->model, &a->reduced, rows);
}

/* Leave out the constraints that the plan is to be made without, or, where the equations depend on
 * each other whatever the values are, those that follow from others. */
static dae_status release_rows(preparation *p)
{
    enum { ORDERS = 2 };
    model_analysis *a = &p->analysis;
    const model_point *at = &p->mode->at;
    const bool *release = p->mode->release;
    bool suspect = is_doubtful(a) || p->wishes->formulation->chooses_positions;
    if (!release && (a->written.singular || !suspect)) return DAE_OK;
    double **x = analysed_values(&a->reduced.set, at, ORDERS);
    bool *rows = DAE_ARRAY(bool, a->reduced.set.m);
    bool ok = x && rows;
    int count = 0;
    dae_status status = DAE_OK;
    if (ok) {
        equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters,
                                at->memory};
        if (release)
            note_redundant(p->plan, &a->reduced.set, release);
        else
            count = find_redundant(p, &point, rows, &status);
        if (release || count > 0) ok = leave_out(p, &point, release ? release : rows, count > 0);
    }
    dae_free_all(x, rows);
    return ok && count >= 0 ? status : plan_exhausted(p->diag);
}

/* Nothing but a search would show redundant constraints, as no states are chosen; it takes time. */
static bool should_seek_redundant(const plan *p)
{
    enum { LARGEST = 500 };
    return p->form && p->index == 3 && !p->doubt[0] && p->method->forms != FORM_SERIES &&
           p->form->formulated->candidates == 0 && p->form->analysed->set.n <= LARGEST;
}

/* What the search looks at, made where the plan is. False: memory */
static bool prepare_search(const preparation *p)
{
    enum { ORDERS = 2 };
    model_form *f = p->plan->form;
    const model_point *at = &p->mode->at;
    p->plan->seeks_redundant = should_seek_redundant(p->plan);
    if (!p->plan->seeks_redundant || p->mode->release || f->constraints) return true;
    double **x = analysed_values(&f->analysed->set, at, ORDERS);
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    bool ok = x && model_redundant_prepare(f->analysed, &point, &f->constraints);
    dae_free(x);
    return ok;
}

/* ---- the plan ---- */

/* The formulation that the method takes, where one is needed; if the method was our choice and the
 * equations do not have its form, that of another one. */
static dae_status formulate_for_method(preparation *p)
{
    const model_analysis *a = &p->analysis;
    plan *made = p->plan;
    bool hidden = p->mode->levels || a->index > 1 || has_levels(a) || is_doubtful(a);
    made->begins_as_written = !hidden;
    const method *next = a->index > 1 ? choose_by_formulation(p->wishes, made->why) : NULL;
    equation_traits traits = {0};
    if (!next && is_doubtful(a))
        next = choose_next(p->problem, p->wishes, made->method, &traits, made->why);
    if (next) made->method = next;
    while (method_needs_form(made->method)) {
        dae_status status = formulate(p);
        if (status != DAE_ERR_UNSUPPORTED) return status;
        if (!find_traits(a, &traits)) return plan_exhausted(p->diag);
        next = choose_next(p->problem, p->wishes, made->method, &traits, made->why);
        if (!next) return status;
        made->method = next;
        diag_clear(p->diag);
    }
    return hidden ? formulate(p) : DAE_OK;
}

static dae_status plan_mode(preparation *p)
{
    plan *made = p->plan;
    model_analysis *a = &p->analysis;
    dae_status status = model_analyse(p->problem->model, p->mode->slots, &p->mode->at, a, p->diag);
    if (status == DAE_OK) status = release_rows(p);
    made->index = a->index;
    if (status != DAE_OK) return status;
    if (a->written.singular) return explain_singular_mode(p);
    status = formulate_for_method(p);
    if (status != DAE_OK) return status;
    made->runs_base = a->index <= 1 && !method_needs_form(made->method) && !p->wishes->unfolded;
    if (made->runs_base) note_idle_formulation(p);
    if (a->numbers_agree &&
        !rank_watch_new(&made->watch, made->form ? made->form->analysed : &a->reduced,
                        p->problem->form.n))
        return plan_exhausted(p->diag);
    return prepare_search(p) ? DAE_OK : plan_exhausted(p->diag);
}

/* Whether what the plan was decided on is in it, so that it can be checked elsewhere: structure and
 * numbers of the equations, and the mechanism. Rewritten equations may have been multiplied by what
 * vanishes elsewhere; formulations by name, and other forms, have chosen by numbers. Large models
 * are not worth the memory. */
static bool is_portable(const preparation *p, bool rewritten)
{
    enum { LARGEST = 5000 };
    const plan *made = p->plan;
    const form_plan *form = made->form ? made->form->formulated->plan : NULL;
    const analysed *a = made->form ? made->form->analysed : &p->analysis.reduced;
    bool mechanism = a->mechanism && a->mechanism->q,
         refused = a->mechanism && !mechanism && a->mechanism->looked;
    bool as_it_is = !rewritten || (made->form && made->rewrites.everywhere);
    bool plain = p->analysis.numbers_agree && as_it_is && !made->doubt[0] && !made->released;
    bool usual = p->wishes->formulation->automatic && !p->mode->release;
    bool known = !form || (form->form == FORM_MECHANICAL && mechanism);
    return plain && usual && known && !refused && a->jacobian && a->set.n <= LARGEST;
}

/* Keep what was analysed with a plan without a form. False: memory */
static bool keep_basis(preparation *p)
{
    plan *made = p->plan;
    if (!made->portable || made->form) return true;
    made->basis = DAE_NEW(analysed);
    if (!made->basis) return false;
    *made->basis = p->analysis.reduced;
    p->analysis.reduced = (analysed){0};
    return true;
}

/* The plan that is made where none is kept. */
static dae_status make_plan(const dae_problem *problem, const mode_point *mode, const wishes *w,
                            plan *made, dae_diag *diag)
{
    preparation p = {.problem = problem, .mode = mode, .wishes = w, .plan = made, .diag = diag};
    made->method = w->method;
    if (w->open)
        made->method = mode->levels ? choose_residual(problem, w, made->why)
                                    : choose_first(problem, w, made->why);
    problem->model->counts.analyses++;
    dae_status status = plan_mode(&p);
    bool rewritten = p.analysis.rewrites.count > 0 || made->rewrites.count > 0;
    made->portable = status == DAE_OK && is_portable(&p, rewritten);
    if (status == DAE_OK && !keep_basis(&p)) status = plan_exhausted(diag);
    model_analysis_free(&p.analysis);
    if (status != DAE_OK) return status;
    problem->model->counts.forms += made->form != NULL;
    return plan_store_add(problem, mode, w, made) ? DAE_OK : plan_exhausted(diag);
}

dae_status prepare_model(const dae_problem *problem, const mode_point *mode, const wishes *w,
                         plan *made, dae_diag *diag)
{
    graph *g = problem->model->flat->graph; /* shared with other solvers of the problem */
    dae_status status = DAE_OK;
    bool ok = true;
    graph_enter(g);
    problem->model->counts.asked++;
    if (!plan_store_find(problem, mode, w, made, &ok))
        status = make_plan(problem, mode, w, made, diag);
    else if (!ok)
        status = plan_exhausted(diag);
    graph_recover(g);
    graph_leave(g);
    return status;
}
