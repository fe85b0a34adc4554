/* Steps of the adjoint's mixture at the stages that the run has solved.
 *
 * Where the run collocates, its values at the nodes of its last step are known, and solve the
 * equations there. A step of the mixture over the same interval, by the same method, needs no other
 * values: its result is the derivative of what the run has computed, as accurate at the end of the
 * step as the run is [Boc83]. Steps of another length would have to ask for values between the
 * stages, where polynomials of long steps are not good enough, and a second run has to find them.
 */
#include <math.h>

#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"

/* The method of the run's last step, where its stages serve; NULL: they do not. Errors of the run
 * cannot be told at them (run_error.c): its equations hold there. Where all stages have the same
 * matrix and are solved one by one (stage_split.c), any number of them pays; else, and of few
 * equations, steps are those of forward sensitivities, and gradients agree with these. */
static const collocation *stages_of_run(const dae_sensitivity *x)
{
    const dae_solver *s = x->run;
    const run_state *r = &s->run;
    const method *m = s->bound.method;
    if (!x->recorder || !x->recorder->any_stages || x->error || x->lead.solver != s) return NULL;
    if (r->phase != PHASE_RUNNING || x->t != r->t_old || r->t != r->t_new) return NULL;
    if (!m->collocates || s->bound.norm.exempt_count > 0 || s->bound.options.project_output)
        return NULL;
    if (!x->lead.constant || x->lead.n * x->usual->stages <= STAGE_SYSTEM_SMALL) return NULL;
    return m->collocates(s->bound.state, &s->bound.context);
}

dae_status own_stages_step(dae_sensitivity *x, bool *taken)
{
    const collocation *c = stages_of_run(x);
    const double from = x->t, h = x->run->run.t - from;
    double error = 0.0;
    *taken = false;
    collocation_use(x, c ? c : x->usual);
    if (!c) return DAE_OK;
    x->lead.at = NAN;
    x->lead.as_solved = true;
    x->part = fmin(1.0, collocation_error_factor(x->run->base_options.rtol, c->stages));
    dae_status status = collocation_step(x, h, &error);
    x->lead.as_solved = false;
    x->part = 1.0;
    x->lead.at = NAN;
    *taken = x->t != from;
    if (*taken) x->t = x->run->run.t;
    if (status == DAE_OK && !*taken) collocation_use(x, x->usual);
    return status;
}
