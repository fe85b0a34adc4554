/* Names of derivatives. */
#ifndef DAE_STRUCTURE_INDEX_EQUATION_NAMES_H
#define DAE_STRUCTURE_INDEX_EQUATION_NAMES_H

#include "structure/index/equations.h"

/* The first synonym of a variable >= j: they are sorted by variable, then order. */
int equation_set_first_synonym(const equation_set *set, int j);
/* The synonym of x_j of the highest order <= p; -1: none. */
int equation_set_synonym(const equation_set *set, int j, int p);

#endif
