/* Butcher tables of the user, as the public header has them. */
#include "base/diag.h"
#include "base/sized.h"
#include "method/registry.h"

void dae_table_fill(dae_table *table, size_t size)
{
    const dae_table empty = {.size = sizeof empty};
    if (!table) return;
    sized_write(table, size, &empty, sizeof empty);
    table->size = size;
}

/* The caller's struct from a full one. */
static void hand_out(dae_table *place, size_t size, const dae_table *full)
{
    sized_write(place, size, full, sizeof *full);
    place->size = size;
}

static dae_status no_room(const char *call, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s: text or table is NULL.", call);
}

dae_status dae_table_from_text_sized(const char *text, dae_table *table, size_t size,
                                     dae_diag *diag)
{
    dae_table full = {.size = sizeof full};
    diag_clear(diag);
    if (!text || !table) return no_room("dae_table_from_text", diag);
    dae_table_fill(table, size);
    dae_status status = own_table_read(text, &full, diag);
    if (status == DAE_OK) hand_out(table, size, &full);
    return status;
}

dae_status dae_table_hem4_sized(double c2, double c3, dae_table *table, size_t size, dae_diag *diag)
{
    dae_table full = {.size = sizeof full};
    diag_clear(diag);
    if (!table) return no_room("dae_table_hem4", diag);
    dae_table_fill(table, size);
    dae_status status = own_table_construct(c2, c3, &full, diag);
    if (status == DAE_OK) hand_out(table, size, &full);
    return status;
}

dae_status dae_table_check(const dae_table *table, const char *name, dae_diag *diag)
{
    dae_table full;
    diag_clear(diag);
    const method *m = name ? method_by_table(name) : NULL;
    if (!m)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Method \"%s\" takes no table; hem, herk, prk and irk do.",
                        name ? name : "NULL");
    dae_status status = own_table_take(table, &full, diag);
    return status == DAE_OK ? own_table_check(&full, m->takes_table, diag) : status;
}
