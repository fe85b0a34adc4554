/* What the formulations of mechanical systems share. */
#ifndef DAE_FORMULATION_FORMULATION_MECHANICAL_H
#define DAE_FORMULATION_FORMULATION_MECHANICAL_H

#include "formulation/formulation_parts.h"

/* The mechanical form for the formulation, positions chosen if it wants that, and work space; or
 * why the equations do not fit. */
dae_status mechanical_begin(rewriting *p, dae_diag *diag);
/* p->sum_j = sum_l G_lj mu_l per position, over y, with mu_l = y[first + l] for constraints on
 * positions; EXPR_NONE where there is nothing. */
bool mechanical_along(rewriting *p, int first);
/* New unknowns of index 2, from `first` on: "mu", or "mu[1]", .. */
bool mechanical_name_multipliers(rewriting *p, int first, const char *stem);
/* Rows g^(k), from <= k <= to, derivatives of contact coordinates put in. */
bool mechanical_levels(rewriting *p, int from, int to);
/* Kinds where one level is still hidden. */
bool mechanical_kinds(rewriting *p);
/* Keep the choice of positions with f, for a watch. */
bool mechanical_note_choice(rewriting *p);

/* a + b; EXPR_NONE is nothing */
static inline expr expr_plus(graph *g, expr a, expr b)
{
    if (a == EXPR_NONE || b == EXPR_NONE) return a == EXPR_NONE ? b : a;
    return graph_binary(g, EXPR_ADD, a, b);
}

#endif
