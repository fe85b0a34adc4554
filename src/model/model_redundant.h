/* Redundant constraints of models (forms/redundant.h): found where all equations hold, and
 * released. */
#ifndef DAE_MODEL_MODEL_REDUNDANT_H
#define DAE_MODEL_MODEL_REDUNDANT_H

#include "formulation/formulation.h"

/* Equations that cannot hold together. */
typedef struct model_conflict {
    int row;       /* -1: none; an equation of the set */
    bool *with;    /* m of the set: the others; the caller's array */
    double t, off; /* as in redundant_conflict */
    bool on_rates;
} model_conflict;

/* The constraints of the mechanism that equations are, with their derivatives, compiled once: what
 * the search looks at. */
typedef struct constraint_program constraint_program;

/* *program: NULL where the equations are no mechanism, which is recognised at a point. It refers to
 * *a; the caller frees it. Adds to the graph. False: memory. */
bool model_redundant_prepare(const analysed *a, const equation_point *at,
                             constraint_program **program);
void constraint_program_free(constraint_program *program); /* NULL is fine */

/* rows[i]: equation i is a constraint that follows from others, where all of them hold. Returns how
 * many; 0 also where there is no program, or equations contradict each other, as *conflict tells;
 * -1: memory. */
int model_redundant_find(const analysed *a, constraint_program *program, const equation_point *at,
                         bool *rows, model_conflict *conflict);
/* Put equations for multipliers of least norm in the place of such equations; the structure is
 * found anew. False: memory. */
bool model_redundant_release(analysed *a, const equation_point *at, const bool *rows);

#endif
