/* A run that stalls, in words. */
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/explain/explain.h"

/* The variable that dominates the error. */
static void blame(dae_solver *s)
{
    const attempt *a = &s->run.last;
    if (!a->estimate) return;
    int variable = vector_argmax(s->bound.n, a->estimate, s->bound.norm.tested);
    diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
    s->diag.value = a->y ? a->y[variable] : 0.0;
    diag_append(&s->diag, " Variable %s dominates the error; it is about %.3g.",
                s->diag.variable_name, s->diag.value);
}

static const char *advice(const dae_solver *s, stall_kind kind)
{
    if (kind == STALL_STANDS)
        return " Time has no digits for shorter steps: there is a singularity, or a jump without "
               "an "
               "event.";
    if (kind == STALL_HOPELESS)
        return " Rounding errors in the equations may be larger than the tolerances, or something "
               "oscillates that fast: loosen the tolerances, above all the absolute one.";
    return s->hybrid ? " It goes to and fro within its tolerance: the equations jump there without "
                       "an event, as noEvent(sign(x)) does at 0, and hold the solution at the "
                       "jump. Use an if outside of noEvent with a state for sticking, or a steep "
                       "but smooth "
                       "function, or loosen the tolerances."
                     : " It goes to and fro within its tolerance: the equations jump there without "
                       "an event, as sign(x) does at 0, and hold the solution at the jump. Put an "
                       "event there, or use a steep but smooth function, or loosen the tolerances.";
}

/* Taylor series, which have no test of stability, stand as still on stiff equations as along a
 * jump; but there hardly a step is rejected. */
static bool may_be_stiff(const dae_solver *s)
{
    return s->bound.method->forms == FORM_SERIES && s->stats.rejected_error < s->stats.steps / 10;
}

dae_status explain_stall(dae_solver *s, double tend)
{
    stall_kind kind = stall_found(&s->run.stall, s->run.t);
    s->diag.t = s->run.t;
    s->diag.h = s->stats.last_h;
    diag_set(&s->diag, DAE_ERR_STALL,
             "The steps have become so short at t = %.10g (h = %.3g) that %.1e of them are left to "
             "%.6g.",
             s->run.t, s->stats.last_h, fabs((tend - s->run.t) / s->stats.last_h), tend);
    blame(s);
    if (kind == STALL_SLIDES && may_be_stiff(s))
        diag_append(
            &s->diag,
            " It does not move, and hardly a step is rejected: the problem is stiff, as it seems, "
            "which is not for the explicit method %s. Use an implicit one, such as bdf or "
            "radau.",
            s->bound.method->name);
    else if (!explain_small_steps(s))
        diag_append(&s->diag, "%s", advice(s, kind));
    diag_append(&s->diag, " A further call goes on.");
    s->run.stall = (stall){.t0 = s->run.stall.t0};
    return DAE_ERR_STALL;
}
