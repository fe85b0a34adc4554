/* Between the files of the recognition of mechanical form. */
#ifndef DAE_STRUCTURE_MECHANICAL_PARTS_H
#define DAE_STRUCTURE_MECHANICAL_PARTS_H

#include "structure/mechanical.h"

/* What is known while the form is sought. */
typedef struct mechanical_search {
    const equation_set *set;
    const equation_point *at;
    mechanical *m;
    expr *row;    /* m: residuals, explicit definitions seen through */
    int *highest; /* n: highest derivative of x_j anywhere */
    int *role;    /* n: role_of_variable */
    int *use;     /* m: role_of_row */
    expr *value;  /* n: of variables with a definition */
    int *place;   /* n: index of x_j in its list */
    char *reason;
    size_t size;
} mechanical_search;

enum role_of_variable { ROLE_OPEN, ROLE_POSITION, ROLE_DEFINED, ROLE_MULTIPLIER, ROLE_OTHER };
enum role_of_row { USE_OPEN, USE_DEFINITION, USE_DYNAMIC, USE_CONSTRAINT, USE_OTHER };

/* MECHANICAL_NOT with a reason. */
mechanical_status mechanical_refuse(mechanical_search *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool mechanical_add(mechanical_matrix *a, int row, int column, expr value); /* false: memory */

/* mechanical_define.c: find explicit definitions of algebraic variables, and see through them. */
mechanical_status mechanical_define(mechanical_search *s);
/* mechanical_forces.c: which equation moves which position, which multiplier belongs to which
 * constraint; M symmetric and C = G' up to factors, at points around s->at. Reorders the lists. */
mechanical_status mechanical_match(mechanical_search *s);

#endif
