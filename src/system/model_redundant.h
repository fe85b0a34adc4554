/* Redundant constraints of models (system/redundant.h): found where all equations hold, and
 * released. */
#ifndef DAE_SYSTEM_MODEL_REDUNDANT_H
#define DAE_SYSTEM_MODEL_REDUNDANT_H

#include "system/formulation.h"

/* rows[i]: equation i is a constraint that follows from others. Returns how many; 0 also where the
 * equations are not mechanical, -1: memory. */
int model_redundant_find(const analysed *a, const equation_point *at, bool *rows);
/* Put equations for multipliers of least norm in the place of such equations; the structure is
 * found anew. False: memory. */
bool model_redundant_release(analysed *a, const equation_point *at, const bool *rows);

#endif
