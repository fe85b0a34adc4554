/* The second order form for methods that work on it: which unknowns have velocities, and where. */
#include "base/diag.h"
#include "matrix/kinematic.h"
#include "solve/bind/binding.h"

void second_release(binding *b)
{
    part_free(b->refiner); /* made for the same velocities */
    b->refiner = NULL;
    second_order_free(&b->second);
    b->context.second = NULL;
}

dae_status second_order_build(binding *b, const kinematic_row *rows, dae_diag *diag)
{
    second_release(b);
    if (!second_order_new(&b->second, b->n, b->problem->kinematic_count, rows))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", b->n);
    b->context.second = &b->second;
    return DAE_OK;
}

/* Rows that the user promised are known once there is a point to look at F. */
static bool rows_known(const dae_problem *p)
{
    for (int k = 0; k < p->kinematic_count; k++)
        if (p->kinematic[k].row < 0) return false;
    return p->kinematic_count > 0;
}

dae_status second_bind(binding *b, dae_diag *diag)
{
    second_release(b);
    bool now = binding_second_order(b) && rows_known(b->problem);
    return now ? second_order_build(b, b->problem->kinematic, diag) : DAE_OK;
}
