/* A mode by its derivative array: the last resort where structure and numbers disagree. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/begin/begin_parts.h"

/* ---- the reduced system as a problem ---- */

static int reduced_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    model_instance_recall(user, t, y, yp);
    return array_run_residual(((model_instance *)user)->array, t, y, yp, f);
}

static int reduced_jacobian(double t, const double *y, const double *yp, double *dfdy,
                            double *dfdyp, void *user)
{
    model_instance_recall(user, t, y, yp);
    return array_run_jacobian(((model_instance *)user)->array, t, y, yp, dfdy, dfdyp);
}

/* The base form's problem with the reduced system in place of its equations. */
static dae_status describe_array(dae_solver *s, model_mode *v)
{
    dae_residual d;
    model_form_describe(s->base->model, &d);
    d.f = reduced_residual;
    d.jacobian = reduced_jacobian;
    d.structure = DAE_STRUCTURE_DENSE;
    d.colptr = d.rowind = NULL;
    d.condition_count = 0;
    d.conditions = NULL;
    return dae_problem_from_residual(&d, &v->array_problem, &s->diag);
}

/* ---- starting ---- */

/* How easily the unknowns of the base form move to be consistent: fixed ones hardly, those with a
 * start value rather less than those without. NULL: memory */
static double *start_ease(const dae_solver *s)
{
    const model_form *f = s->base->model;
    double *ease = DAE_ARRAY(double, f->n);
    for (int i = 0; ease && i < f->n; i++) ease[i] = s->modes->fixed_by[i] >= 0 ? 1e-6 : 1.0;
    for (size_t v = 0; ease && v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int i = q->discrete ? -1 : f->first_unknown[f->alias[v].top];
        if (i >= 0 && (q->has_start || !isnan(f->start[v]))) ease[i] = fmin(ease[i], 1e-3);
    }
    return ease;
}

/* Consistent values by the derivative array. */
static dae_status begin_array(dae_solver *s, double t, bool initial)
{
    array_run *run = s->hybrid->instance->array;
    array_status found = array_run_start(run, t, s->bound.y, s->bound.yp);
    s->diag.t = t;
    if (found == ARRAY_MEMORY) return plan_exhausted(&s->diag);
    if (found != ARRAY_OK)
        return diag_set(&s->diag, DAE_ERR_INITIAL,
                        "No consistent values were found at t = %.9g by the derivatives of the "
                        "equations, whose structure tells too little here. Give better start "
                        "values.",
                        t);
    dae_status status = initial ? check_fixed_starts(s, t) : DAE_OK;
    run->steps = 0;
    return status == DAE_OK ? solver_begin(s, t, DAE_INIT_NONE) : status;
}

/* A product with a vector, by differences, solves the whole array: that takes minutes where
 * matrices take a second. */
static dae_status refuse_gmres(dae_solver *s, double t)
{
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "From t = %.9g on the equations are integrated by their derivatives, as their "
                    "structure does not tell enough there, and GMRES would solve for all of these "
                    "in each of its iterations. Use another linear solver, such as dense.",
                    t);
}

static dae_status refuse_projection(dae_solver *s, double t)
{
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "From t = %.9g on the equations are integrated by their derivatives, whose "
                    "constraints are combinations of each other, and method %s, which does not "
                    "damp, projects onto one after the other. Use another method, such as radau.",
                    t, s->bound.method->name);
}

/* The array does not determine the solution: what the structure says of it, or, where the array was
 * asked for, that. */
static dae_status refuse_array(dae_solver *s, const model_mode *v, double t)
{
    if (!s->wishes.formulation->by_array) return explain_doubt(&v->plan, t, &s->diag);
    s->diag.t = t;
    if (s->base->form.n > ARRAY_RUN_SIZE)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Formulation array is for models of up to %d unknowns, as its matrices "
                        "are dense; this one has %d. Leave it out.",
                        (int)ARRAY_RUN_SIZE, s->base->form.n);
    return diag_set(&s->diag, DAE_ERR_SINGULAR,
                    "Formulation array: at t = %.9g the equations and their derivatives up to "
                    "order %d do not determine the solution, or ranks change there. Give other "
                    "start values, or leave the formulation out.",
                    t, array_run_limit(v->plan.index));
}

/* Without a rewriting that makes structure and numbers agree: by the derivative array, if that
 * determines the solution near the values found so far. */
dae_status seek_array(dae_solver *s, double t, bool initial)
{
    if (s->base_options.linear_solver == DAE_LINEAR_GMRES) return refuse_gmres(s, t);
    if (s->bound.method->needs_rows) return refuse_projection(s, t);
    model_mode *v = s->modes->current;
    const model_instance *m = s->modes->base_instance;
    graph *g = s->base->model->flat->graph;
    double *ease = start_ease(s), *y = user_values(s);
    dae_status status = ease && y ? DAE_OK : plan_exhausted(&s->diag);
    if (status == DAE_OK) {
        model_point at = {t, y, y + s->base->form.n, m->parameters, v->instance->memory};
        graph_enter(g);
        if (!v->array)
            status = array_run_new(&v->array, s->base->model, &s->modes->slots, &at,
                                   array_run_limit(v->plan.index), ease);
        graph_recover(g);
        graph_leave(g);
        if (status != DAE_OK) plan_exhausted(&s->diag);
    }
    if (status == DAE_OK && !v->array) status = refuse_array(s, v, t);
    if (status == DAE_OK && !v->array_problem) status = describe_array(s, v);
    if (status == DAE_OK) status = bind_array(s, v, y, y + s->base->form.n);
    dae_free_all(ease, y);
    return status == DAE_OK ? begin_array(s, t, initial) : status;
}
