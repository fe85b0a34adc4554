/* Which initial values of an analysed model are free, fixed or implied, by structure. */
#ifndef DAE_MODEL_INITIAL_ROLES_H
#define DAE_MODEL_INITIAL_ROLES_H

#include "formulation/formulation.h"
#include "model/model.h"

/* An unknown of the base form in the analysed set: sign * x_variable^(order); variable -1: none. */
typedef struct analysed_place {
    int variable, order, sign;
} analysed_place;

/* f->n places, owned by the caller; NULL: memory. */
analysed_place *analysed_places(const equation_set *set, const model_form *f);

/* All x_j^(p), p = 0 .. d_j, against all f_i^(k), k = 0 .. c_i, initial equations and fixed values.
 */
typedef struct initial_roles {
    int *place;  /* x_j^(p) is number place[j] + p; owned */
    bool *open;  /* per number: not determined; owned */
    bool *fixed; /* per number: by an attribute; owned */
    int fixed_count;
    int to_choose; /* values that are still to be chosen */
    int unsettled; /* conditions beyond what can be chosen */
} initial_roles;

/* Adds to the graph. False: memory. */
bool initial_roles_find(initial_roles *r, const equation_set *set, const structure *s,
                        const model_form *f, const analysed_place *places);
void initial_roles_free(initial_roles *r);

#endif
