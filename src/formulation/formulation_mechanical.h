/* What the formulations of mechanical systems share. */
#ifndef DAE_FORMULATION_FORMULATION_MECHANICAL_H
#define DAE_FORMULATION_FORMULATION_MECHANICAL_H

#include "formulation/formulation_parts.h"
#include "structure/mechanical/mechanical.h"

/* The mechanical form for a formulation, or why the equations have none, with constraints on
 * positions. */
dae_status mechanical_find(const analysed *a, const formulation_setting *setting,
                           const mechanical **m, dae_diag *diag);
/* sum_l G_lj mu_l per position, over y, with mu_l = y[first + l] for constraints on positions;
 * EXPR_NONE where there is nothing. */
bool mechanical_along(const formulated *f, const mechanical *m, const first_order *l, int first,
                      expr *sum);
/* New unknowns of index 2, from `first` on: "mu", or "mu[1]", .. */
bool mechanical_name_multipliers(formulated *f, const mechanical *m, int first, const char *stem);
/* Row *r = g_l^(k), derivatives of contact coordinates put in. */
bool mechanical_constraint_row(formulated *f, const analysed *a, const mechanical *m,
                               const unknown_index *index, int l, int k, int *r);
/* dependent[j]: the constraints determine position j best, by pivots of G where the run begins. */
dae_status mechanical_choose(const analysed *a, const mechanical *m,
                             const formulation_setting *setting, bool *dependent, dae_diag *diag);
/* Keep the choice with f, for a watch. */
bool mechanical_note_choice(formulated *f, const analysed *a, const mechanical *m,
                            const unknown_index *index, const bool *dependent);

#endif
