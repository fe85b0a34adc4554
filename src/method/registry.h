/* The registry: which methods there are, for whom, and which one a caller asks for. */
#ifndef DAE_METHOD_REGISTRY_H
#define DAE_METHOD_REGISTRY_H

#include "method/common/method.h"

/* Methods that share ideas and code; one is judged by those of another group. */
typedef enum method_group {
    GROUP_MULTISTEP,
    GROUP_COLLOCATION,
    GROUP_LINEARLY_IMPLICIT,
    GROUP_EXTRAPOLATION,
    GROUP_SERIES,
    GROUP_EXPLICIT,
    GROUP_GEOMETRIC
} method_group;

/* What a user asks for by one name; orders and variants are options of it. */
typedef struct method_family {
    const char *name;
    method_group group;
    const char *use;    /* "use this when .." */
    const char *reason; /* for whom it is there: best on some problems, of a source, or a classic */
    bool by_tolerance;  /* its first member chooses between orders of its own */
} method_family;

const method *method_member_at(int i); /* by name family[:order][:variant]; NULL past the end */
const method_family *method_family_of(const char *name); /* NULL: there is none */
int method_order(const char *name);                      /* in a name; 0: none */
const char *method_variant(const char *name);            /* "": none */
/* "radau:9" for "radau9"; NULL: that is no old name. */
const char *method_replacement(const char *name);

/* The member that a name (of a family, a member, or an old one), an order (0: any) and a variant
 * (NULL: none) ask for. NULL: there is none, and the diagnostic says what there is. */
const method *method_select(const char *name, int order, const char *variant, dae_diag *diag);

/* The member of the family that integrates by a table of the user, "hem:table"; NULL: none does.
 * These are found by name, too, but not listed: they cannot run without a table. */
const method *method_by_table(const char *name);
#endif
