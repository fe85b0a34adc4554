/* Models that are structurally singular: equations that are too many for their unknowns, unknowns
 * that have too few equations. Told of the equations as they were written, before aliases leave. */
#ifndef DAE_MODEL_MODEL_STRUCTURE_H
#define DAE_MODEL_MODEL_STRUCTURE_H

#include "daedal.h"
#include "modelica/flatten/flat.h"
#include "modelica/syntax/message.h"
#include "structure/index/signature.h"

/* The over- and under-determined parts of a flat model. Rows of the report are flat equations. */
typedef struct flat_parts {
    singular_report report; /* no parts: every equation has an unknown of its own */
    int *variable;          /* per column of the report: the flat variable; owned */
    int unknowns;           /* columns: continuous variables */
    signature incidence;    /* of all equations over these columns; owned */
} flat_parts;

bool flat_parts_find(flat_parts *parts, const flat_model *m); /* false: memory */
void flat_parts_free(flat_parts *parts);

/* The variables of each flat equation, and their highest derivatives in it; false: memory. */
bool flat_contents(signature *s, const flat_model *m);

/* DAE_OK, or DAE_ERR_MODEL with the parts, too many equations before too few, smallest first: as
 * errors at their places in `messages` (NULL: nowhere), and in words. contents: flat_contents(),
 * which the check has found anyway, if all is well; NULL: not wanted. */
dae_status flat_structure_check(const flat_model *m, message_list *messages, signature *contents,
                                dae_diag *diag);

/* "comment (file:12)": a name that tells the place, too; owned by the caller. NULL: memory. */
char *flat_equation_name(const flat_model *m, const flat_equation *q);

/* For expr_print: the name of a variable, parameter or held value of a flat model, the context. */
const char *flat_leaf_name(void *context, const expr_node *leaf);

#endif
