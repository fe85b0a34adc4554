/* The form of index 1 that is collocated: its states, its matrix, and what moves with unknown
 * parameters. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/bvp/bvp_parts.h"

static bool number_states(dae_bvp *q)
{
    const size_t n = (size_t)q->n;
    q->state = DAE_ARRAY(int, n);
    q->number = DAE_ARRAY(int, n);
    q->y = DAE_ARRAY(double, 6 * n);
    if (!q->state || !q->number || !q->y) return false;
    q->yp = q->y + n; /* and n more behind it */
    q->f = q->y + 3 * n;
    q->work = q->y + 4 * n;
    q->weights = q->y + 5 * n;
    for (int i = 0; i < q->n; i++) {
        bool state = q->companion->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
        q->number[i] = state ? q->d : -1;
        if (state) q->state[q->d++] = i;
    }
    q->stats.states = q->d;
    q->stats.parameters = q->m;
    return true;
}

/* The unknown parameters, and F by them. */
static dae_status take_directions(dae_bvp *q, dae_diag *diag)
{
    static const char before[] = "Sensitivities: ";
    const dae_sensitivity_request wanted = {.count = q->m, .names = q->request.unknown};
    dae_status status = directions_new(&q->directions, q->companion, &wanted, diag);
    if (status != DAE_OK) {
        dae_diag told = *diag;
        bool known = strncmp(told.text, before, sizeof before - 1) == 0;
        diag_set(diag, status, "Boundary values: %s",
                 known ? told.text + sizeof before - 1 : told.text);
        return status;
    }
    q->directed = true;
    directions_start(&q->directions, q->instance);
    q->rows = model_tangent_new(q->form->flat->graph, q->form->residual.e, (size_t)q->form->rows,
                                q->form->n, &q->directions.inputs, false);
    return q->rows ? DAE_OK : bvp_no_memory(diag);
}

dae_status bvp_bind_form(dae_bvp *q, const dae_options *o, dae_diag *diag)
{
    dae_options own = *o;
    own.linear_solver = DAE_LINEAR_AUTO;
    q->instance = q->companion->hybrid->instance;
    q->form = q->instance->form;
    q->n = q->companion->bound.n;
    q->sink = &q->system;
    dae_status status = iteration_new(&q->matrix, &q->companion->bound.eval, &own, diag);
    q->has_matrix = status == DAE_OK;
    if (status == DAE_OK && !number_states(q)) status = bvp_no_memory(diag);
    q->layout = (bvp_layout){q->n, q->d, q->n, 0, q->n};
    return status == DAE_OK ? take_directions(q, diag) : status;
}
