/* Butcher tables of the user: what each method asks of them, and how it reads them. */
#ifndef DAE_METHOD_COMMON_OWN_TABLE_H
#define DAE_METHOD_COMMON_OWN_TABLE_H

#include "daedal.h"

struct rounded_tableau;

/* Which method takes the table; each has its own rules. */
typedef enum table_use { TABLE_NONE = 0, TABLE_HEM, TABLE_HERK, TABLE_PRK, TABLE_IRK } table_use;

/* full = a table of a caller's program, as much of it as its header knows; its size is checked. */
dae_status own_table_take(const dae_table *given, dae_table *full, dae_diag *diag);

/* All rules of a use, and the conditions of the order that it claims. DAE_ERR_ARGUMENT names what
 * is wrong. */
dae_status own_table_check(const dae_table *table, table_use use, dae_diag *diag);
/* The same; index and embedded_order that are 0 become what they stand for. */
dae_status own_table_complete(dae_table *table, table_use use, dae_diag *diag);

/* Whether a use needs constant steps with it: it has no embedded weights, and no other estimate is
 * any good, as that of irk by the stages where these have order 1; or it has order 1 itself. */
bool own_table_needs_fixed_step(const dae_table *table, table_use use);

/* A complete explicit table as methods read it; with embedded weights and few stages the quintic
 * through the middle of the step is its continuous extension, by a step of half the size. */
void own_tableau(const dae_table *table, struct rounded_tableau *r);
/* zeta_i = 1/2 sum_j omega_ij c_{j+1}^2 of a half-explicit one: Z_i = z0 + h zeta_i z' + O(h^2) */
void own_table_zeta(const dae_table *table, double *zeta);

/* A text in the format of docs/methods/tables.md. */
dae_status own_table_read(const char *text, dae_table *table, dae_diag *diag);

/* The half-explicit method of order 4 with free c2 and c3 [BH93 section 4]. */
dae_status own_table_construct(double c2, double c3, dae_table *table, dae_diag *diag);

#endif
