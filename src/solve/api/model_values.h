/* Values as people write them, "mode = Mode.fast", "v = {1, 2, 3}", and what a value may be. */
#ifndef DAE_SOLVE_API_MODEL_VALUES_H
#define DAE_SOLVE_API_MODEL_VALUES_H

#include "model/model.h"
#include "modelica/flatten/flatten.h"

/* The literals of an enumeration. */
typedef struct value_literals {
    const char *type; /* its name */
    const char *const *names;
    int count;
} value_literals;

/* der(x) of a visible variable: sign times y' of an unknown, or times y where der(x) is one. */
typedef struct model_derivative {
    int variable; /* visible */
    int unknown, sign;
    bool is_unknown; /* y[unknown], else y'[unknown] */
    const char *name, *unit;
} model_derivative;

/* What a form does not know about the names of its model; lives in form->notes. */
struct model_listing {
    const value_literals *
        *parameter;                  /* per parameter: its literals, NULL if it is no enumeration */
    const value_literals **variable; /* per flat variable */
    int *first_visible;              /* per flat variable: the first visible alias of it, or -1 */
    model_derivative *derivatives;
    int derivative_count;
};

/* Make form->listing from the model's syntax tree; false: memory. */
bool model_listing_make(model_form *form, const ast_file *tree);

/* Put the values of a model description into the tree (whole components: parsed, so that types and
 * sizes are checked where they stand) or into settings (elements and fields; room for all of them).
 * *count = number of settings. */
dae_status model_values_assign(arena *a, ast_file *tree, const dae_model *model,
                               flatten_setting *settings, size_t *count, dae_diag *diag);

/* The expression for a component (or a part of it), placed at its declaration, where messages about
 * it point to; DAE_ERR_ARGUMENT: it is none. */
dae_status model_value_expression(arena *a, ast_file *tree, const char *name, const char *text,
                                  const ast_expr **expression, dae_diag *diag);

/* Conditions at the end, "left = right", read; in `a`. DAE_ERR_ARGUMENT: one is none. */
dae_status model_conditions_read(arena *a, const dae_model *model, flatten_condition **list,
                                 dae_diag *diag);

/* Whether a number may be the value of something of this type; DAE_ERR_ARGUMENT says what may. */
dae_status model_value_check(const char *name, flat_type type, const value_literals *literals,
                             double value, dae_diag *diag);

/* Names are the same but for the quotes of quoted identifiers. */
bool same_but_quotes(const char *a, const char *b);

/* Called for each scalar of "v = {1, 2}": "v[1]", 1. Sets stop when one fails. */
typedef dae_status (*value_setter)(void *context, const char *name, double value, dae_diag *diag);
/* The literals that may stand for a value of `name` (or of its first element); NULL: none. */
typedef const value_literals *(*literal_finder)(void *context, const char *name);

/* Read "name = value" and hand its scalars over. */
dae_status model_values_spread(const char *assignment, literal_finder literals, value_setter set,
                               void *context, dae_diag *diag);

/* dae_problem_from_model_sized; a model that is structurally singular goes to *singular (unless
 * that is NULL), owned by the caller, with the diagnostic that says so. */
dae_status model_problem(const dae_model *model, size_t size, dae_problem **problem,
                         flat_model **singular, dae_diag *diag);

#endif
