/* A failure in terms of what the analysis of the mode at hand has found. */
#include "base/diag.h"
#include "base/memory.h"
#include "solve/explain/explain.h"

/* Whether the equations lose rank where the run stands; s->diag tells then. */
static bool lost_rank(dae_solver *s)
{
    int n = s->base->form.n;
    double *y = s->bound.at_y ? DAE_ARRAY(double, 2 * (size_t)n) : NULL;
    if (!y) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    values_to_user(s, s->run.t_new, s->bound.at_y, s->bound.at_yp, y, y + n);
    bool lost = explain_rank(s, s->run.t_new, y, y + n);
    dae_free(y);
    return lost;
}

void explain_array(dae_solver *s)
{
    if (s->wishes.formulation->by_array)
        diag_append(&s->diag, " Formulation array computes derivatives by ranks, which badly "
                              "scaled equations make rough: leave it out.");
    else
        diag_append(&s->diag, " The equations are integrated by their derivatives here, as their "
                              "structure does not tell enough: look for a factor of a derivative "
                              "that is zero.");
}

dae_status explain_mode(dae_solver *s, dae_status status)
{
    bool singular = status == DAE_ERR_SINGULAR || status == DAE_ERR_CONVERGENCE ||
                    status == DAE_ERR_ERROR_TEST || status == DAE_ERR_STALL;
    if (!s->modes || !singular || !s->modes->slots_known) return status;
    const model_mode *v = mode_find(s->modes, s->hybrid->instance->memory);
    if (s->hybrid->instance->array) { /* the doubt is settled, and something else has failed */
        explain_array(s);
        return status;
    }
    if (v && v->plan.doubt[0]) return explain_doubt(&v->plan, s->run.t_new, &s->diag);
    return lost_rank(s) ? DAE_ERR_SINGULAR : status;
}
