/* Values of expressions over the flat variables of a model. */
#include "solve/hybrid/hybrid_parts.h"

static void ignore_leaf(void *context, expr leaf)
{
    (void)context, (void)leaf;
}

double hybrid_value(const dae_solver *s, double t, const double *y, const double *yp, expr e)
{
    double value = model_instance_value(s->hybrid->instance, t, y, yp, e);
    if (isnan(value) && !graph_leaves(flat_of(s)->graph, &e, 1, ignore_leaf, NULL))
        s->hybrid->no_memory = true;
    return value;
}
