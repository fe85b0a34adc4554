/* The public calls that can take long, with a scope that the caller's callback can end. */
#include <math.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"

/* A model is bound to its first mode at once. */
static dae_status open_ahead(dae_solver *s, dae_diag *diag)
{
    dae_status status = hybrid_open_ahead(s);
    if (status != DAE_OK && diag) *diag = s->diag;
    return status;
}

dae_status dae_solver_new(const dae_problem *problem, const dae_options *options,
                          dae_solver **solver, dae_diag *diag)
{
    dae_options known;
    interrupt_scope scope;
    bool sound = options_read(options, &known, NULL) == DAE_OK; /* else it is refused below */
    interrupt_open(&scope, sound ? known.interrupt : NULL, sound ? known.user : NULL);
    dae_status status = solver_new(problem, options, solver, diag);
    if (status == DAE_OK && problem->model) status = open_ahead(*solver, diag);
    bool interrupted = interrupt_close(&scope);
    if (!interrupted && status == DAE_OK) return DAE_OK;
    if (solver) {
        dae_solver_free(*solver);
        *solver = NULL;
    }
    return interrupted ? interrupt_explain(diag, "the making of a solver") : status;
}

dae_status dae_solver_start(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (!s) return DAE_ERR_ARGUMENT;
    interrupt_scope scope;
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    recycler *before = recycler_use(&s->spare);
    model_form *form = s->base->model;
    dae_status status =
        form && isfinite(t0) ? model_form_set_start_time(form, t0, &s->diag) : DAE_OK;
    if (status == DAE_OK) status = solver_start(s, t0, y0, yp0);
    recycler_use(before);
    if (!interrupt_close(&scope)) return status;
    s->run.phase = PHASE_NEW;
    s->diag.t = t0;
    return interrupt_explain(&s->diag, "the search for consistent initial values");
}

/* Between attempts a step can be interrupted without a trace. Inside one a model may be compiled,
 * or its equations analysed anew: what remains of that is not to be used. */
dae_status dae_solver_step(dae_solver *s, double tend)
{
    if (!s) return DAE_ERR_ARGUMENT;
    if (!s->hybrid) return solver_step(s, tend);
    interrupt_scope scope;
    interrupt_open_step(&scope, s->bound.options.interrupt, s->bound.options.user);
    recycler *before = recycler_use(&s->spare);
    dae_status status = solver_step(s, tend);
    recycler_use(before);
    if (!interrupt_close(&scope)) return status;
    s->run.phase = PHASE_NEW;
    s->diag.t = s->run.t;
    return interrupt_explain(&s->diag, "a change of the equations. Start again to go on");
}
