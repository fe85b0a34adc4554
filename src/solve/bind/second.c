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

const kinematic_row *second_rows_of(const binding *b, int *count)
{
    const dae_problem *p = b->problem;
    *count = b->method->chains ? p->chain_count : p->kinematic_count;
    return b->method->chains ? p->chain : p->kinematic;
}

dae_status second_order_build(binding *b, int count, const kinematic_row *rows, dae_diag *diag)
{
    second_release(b);
    if (!second_order_new(&b->second, b->n, count, rows))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", b->n);
    b->context.second = &b->second;
    return DAE_OK;
}

/* Rows that the user promised are known once there is a point to look at F. */
static bool rows_known(int count, const kinematic_row *rows)
{
    for (int k = 0; k < count; k++)
        if (rows[k].row < 0) return false;
    return count > 0;
}

dae_status second_bind(binding *b, dae_diag *diag)
{
    second_release(b);
    int count;
    const kinematic_row *rows = second_rows_of(b, &count);
    bool now = binding_second_order(b) && rows_known(count, rows);
    return now ? second_order_build(b, count, rows, diag) : DAE_OK;
}
