/* What the files that flatten declarations share. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_DECLARE_H
#define DAE_MODELICA_FLATTEN_FLATTEN_DECLARE_H

#include "modelica/flatten/flatten_internal.h"

typedef enum role { ROLE_VARIABLE, ROLE_PARAMETER, ROLE_CONSTANT } role;

enum { PATH_MAX_PARTS = TYPE_MAX_CHAIN + 4 };

/* One component, or one field of a record, on its way into the model. */
typedef struct instance {
    symbol *symbol;
    const ast_component *component;
    role role;
    bool discrete, final_, protected_;
    const char *part[PATH_MAX_PARTS]; /* r, a of r[2].a[3] */
    int part_rank[PATH_MAX_PARTS];
    int part_count;
    int rank; /* sizes of all parts */
    size_t dims[VALUE_MAX_RANK];
    const modifier *modifiers;
    const ast_expr *binding; /* expression, or */
    value given;             /* value that a record's binding gives; VALUE_ERROR: none */
    bool has_given, binding_in_class, modified; /* modified: a modification says the binding */
    const value *siblings;
    const record_level *levels;
} instance;

typedef struct attributes {
    value start, nominal, min, max;
    bool fixed_given;
    value fixed;
    char *unit, *display_unit, *quantity, *comment;
    flat_state_select state_select;
} attributes;

/* ---- flatten_declare.c ---- */

/* Value of an expression in a declaration. Expressions of a type's definition see its own fields
 * and global constants; others see the model. */
value evaluate_in(flattener *f, const ast_expr *e, bool in_class, const value *siblings);
/* The outermost modification of that name, or NULL. */
const ast_modification *find_modification(const modifier *m, const char *name, bool *in_class);
/* "r[2].a[3]" of the element with that row-major number. */
char *element_name(flattener *f, const instance *in, size_t element);

/* ---- flatten_attributes.c ---- */

/* start, min, max, unit, .. as the modifiers and the type of a component give them. */
attributes read_attributes(flattener *f, const instance *in, value_type type,
                           const ast_class *class_);
/* Element k of an attribute, which may be one value for all. */
expr attribute_element(const value *v, size_t k);
/* The leaf of one scalar variable with its attributes. */
expr declare_variable(flattener *f, const instance *in, const attributes *a, value_type type,
                      size_t k);

/* ---- flatten_parameters.c ---- */

/* Whether v may be the value of `in`: type, sizes and variability. Makes it so. */
value checked_binding(flattener *f, const instance *in, value_type type, const ast_class *class_);
/* Scalar parameters or constants of one component. */
value declare_parameters(flattener *f, instance *in, const attributes *a, const type_info *t);

/* ---- flatten_tables.c ---- */

value declare_object(flattener *f, instance *in, const ast_class *class_);
/* Append the sizes of one part of the path; own: how many of them. false after an error. */
bool add_sizes(flattener *f, instance *in, ast_expr *const *sizes, size_t count, int *own);
/* Whether the number of elements stays within the limit. */
bool check_total(flattener *f, const instance *in);

#endif
