/* Variables that plain equations make equal, opposite or zero: a = b, a + b = 0, a = 0. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_LINKS_H
#define DAE_MODELICA_FLATTEN_FLATTEN_LINKS_H

#include "modelica/flatten/flatten_internal.h"

/* Per variable: another one that it is `sign` times of, or itself; of that one: whether it is 0. */
typedef struct link_table {
    int *parent;
    signed char *sign;
    bool *zero;
    int *size; /* how many stand behind it */
} link_table;

bool links_find(flattener *f, link_table *t); /* of all continuous equations; false: no memory */
void links_free(link_table *t);
/* v = *sign times the variable that stands for all that are linked. */
int links_root(const link_table *t, int v, int *sign);
/* The continuous variable that e is, or -e is with *sign = -1; -1: none. */
int links_variable(const flattener *f, expr e, int *sign);

#endif
