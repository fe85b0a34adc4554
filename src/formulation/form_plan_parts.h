/* Between the files that find the forms of a model. */
#ifndef DAE_FORMULATION_FORM_PLAN_PARTS_H
#define DAE_FORMULATION_FORM_PLAN_PARTS_H

#include "expr/derive.h"
#include "formulation/form_plan.h"
#include "formulation/formulation_parts.h"

/* Entries of a matrix in any order. */
typedef struct entry_list {
    int count, room;
    struct list_entry {
        int row, column;
        expr value;
    } * entry; /* owned */
} entry_list;

bool entry_add(entry_list *list, int row, int column, expr value); /* false: memory */
void entry_list_free(entry_list *list);

/* The list by columns; frees it. False: memory. */
bool form_block_new(form_block *b, const graph *g, int rows, int columns, entry_list *list);

/* d e_r / d VARIABLE(j, order) for r = 0 .. count-1 as entries (r, j); false: memory */
bool entry_gradients(graph *g, const expr *e, int count, int order, entry_list *list);

/* Space for a program of `count` outputs; false: memory. */
bool form_program_new(form_program *p, size_t count);
/* The program that delivers a block. */
bool form_program_block(form_program *p, const form_block *b);

/* The accelerations of a mechanism with its other programs, where it is small; false: memory. */
bool form_plan_accelerations(graph *g, form_plan *p);

/* Whether e depends on parameters and constants alone; false also where memory ran out. */
bool depends_on_parameters_alone(const graph *g, expr e);

/* An explicit definition: x_j = value from a row that is linear in it. EXPR_NONE: memory. */
expr definition_from(graph *g, expr residual, int j);

/* value[j] of variables with a definition, seen through each other; false: memory. They do not go
 * in circles. */
bool see_through_definitions(graph *g, int n, expr *value);
/* e with the definitions put in. EXPR_NONE: memory. */
expr put_definitions(graph *g, const expr *value, expr e);

/* Note definitions in f, over its unknowns; value: n of the analysed set, EXPR_NONE where none. */
bool note_definitions(formulated *f, const analysed *a, const unknown_index *index,
                      const expr *value);

/* The unknown is x_j^(p) itself, whatever sign a variable of the model gives it. */
bool formulated_stands_plainly(formulated *f, const analysed *a, int i, int j, int p);

/* e over the unknowns of f as arguments of a form: `first` unknowns are VARIABLE(i, 0), the next
 * `second` (i, 1), the others (i, 2). EXPR_NONE: memory, or e contains y'. */
expr form_arguments(graph *g, int first, int second, expr e);

/* out_r = d e_r / dt at fixed arguments; *none: all are zero. False: memory. */
bool time_derivatives(graph *g, const expr *e, int count, expr *out, bool *none);

#endif
