/* From a problem and wishes to a plan. */
#include "base/diag.h"
#include "base/memory.h"
#include "solve/prepare/choose.h"
#include "solve/prepare/plan_store.h"

/* What all users of a plan share. */
static void free_shared(plan *p)
{
    model_form_free(p->form);
    if (p->basis) analysed_free(p->basis);
    dae_free(p->basis);
}

void solve_plan_free(plan *p)
{
    dae_problem_free(p->rewritten);
    rank_watch_free(p->watch);
    released_watch_free(p->released);
    if (p->kept)
        kept_plan_release(p->kept);
    else
        free_shared(p);
    rewrite_list_free(&p->rewrites);
    *p = (plan){0};
}

bool plan_is_plain(const plan *p)
{
    for (size_t k = 0; k < sizeof p->notes / sizeof p->notes[0]; k++)
        if (p->notes[k][0]) return false;
    return !p->doubt[0] && !p->released;
}

dae_status plan_exhausted(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a formulation of the model.");
}

/* The residual problem that the formulation asks for, unless it is the one that callbacks give. */
static dae_status rewrite_callbacks(const dae_problem *problem, const wishes *w, plan *p,
                                    dae_diag *diag)
{
    const form_source *source = problem->forms;
    const formulation *f = w->formulation;
    if (p->method->forms & FORM_SECOND_ORDER && f->automatic) f = &formulation_residual;
    p->parameter = w->options->formulation_parameter;
    if (!(p->parameter > 0.0)) p->parameter = f->parameter;
    p->rewriting = formulation_rewriting(f, source);
    if (p->rewriting == form_base_rewriting(source)) return DAE_OK;
    dae_status status = form_residual_problem(problem, p->rewriting, &p->rewritten, diag);
    if (status != DAE_OK) return status;
    if (p->rewritten->form.n > problem->form.n && (w->options->norm || w->options->weights))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Options norm and weights are for the unknowns of the problem, but "
                        "formulation %s adds others: choose another one (index1, index2, "
                        "index3, baumgarte), or a method on the form itself.",
                        f->name);
    return DAE_OK;
}

/* Callbacks have one mode: the method, and where it takes the residual form, which one that is. */
static dae_status prepare_callbacks(const dae_problem *problem, const wishes *w, plan *p,
                                    dae_diag *diag)
{
    p->method = w->open ? choose_first(problem, w, p->why) : w->method;
    if (!problem->forms) return DAE_OK;
    unsigned offers =
        form_source_offers(problem->forms) & ~(unsigned)(FORM_RESIDUAL | FORM_SECOND_ORDER);
    bool as_they_are = (p->method->forms & offers) != 0;
    return as_they_are ? DAE_OK : rewrite_callbacks(problem, w, p, diag);
}

dae_status prepare_plan(const dae_problem *problem, const mode_point *mode, const wishes *w,
                        plan *result, dae_diag *diag)
{
    if (mode) return prepare_model(problem, mode, w, result, diag);
    return prepare_callbacks(problem, w, result, diag);
}
