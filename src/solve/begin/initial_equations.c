/* Initial equations hold at a start, or it fails. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model_structure.h"
#include "solve/begin/begin.h"

/* An initial equation is violated if its unknowns would have to move by more than this part of
 * their sizes, or of rtol if that is larger. */
static const double SAME = 1e-6;

static dae_status refuse_start(dae_solver *s, double t, size_t k, double off)
{
    const flat_model *m = s->base->model->flat;
    const flat_equation *q = &m->initial_equations[k];
    char *name = flat_equation_name(m, q);
    diag_equation(&s->diag, -1, name ? name : "?");
    s->diag.line = q->place.line;
    s->diag.t = t;
    s->diag.value = off;
    diag_set(&s->diag, DAE_ERR_INITIAL,
             "The initial %s does not hold at the start, where it is off by %.6g: fixed values, "
             "equations or other initial equations contradict it. Leave one of them out.",
             name ? name : "equation", off);
    dae_free(name);
    return DAE_ERR_INITIAL;
}

dae_status check_initial_equations(dae_solver *s, double t)
{
    const model_form *f = s->base->model;
    if (f->condition_count == 0) return DAE_OK;
    double *y = user_values(s);
    if (!y) return plan_exhausted(&s->diag);
    model_instance m = *s->modes->base_instance; /* with the discrete side as it is */
    m.memory = s->hybrid->instance->memory;
    m.parameters = s->hybrid->instance->parameters;
    dae_status status = DAE_OK;
    graph_enter(f->flat->graph);
    for (size_t k = 0; status == DAE_OK && k < f->condition_count; k++) {
        double off, reach;
        if (!model_condition_misfit(&m, k, t, y, y + f->n, &off, &reach))
            status = plan_exhausted(&s->diag);
        else if (off > fmax(SAME, s->bound.options.rtol) * reach)
            status = refuse_start(s, t, k, off);
    }
    graph_leave(f->flat->graph);
    dae_free(y);
    return status;
}
