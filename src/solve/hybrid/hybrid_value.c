/* Values of expressions over the flat variables of a model. */
#include "solve/hybrid/hybrid_parts.h"

double hybrid_value(const dae_solver *s, double t, const double *y, const double *yp, expr e)
{
    double value = model_instance_value(s->hybrid->instance, t, y, yp, e);
    if (isnan(value) && !graph_has_memory(flat_of(s)->graph)) s->hybrid->no_memory = true;
    return value;
}
