/* Conditions of optimality: what the files of this room share. */
#ifndef DAE_SOLVE_OPTIMALITY_PARTS_H
#define DAE_SOLVE_OPTIMALITY_PARTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/memory.h"
#include "solve/api/model_text.h"
#include "solve/bind/solver.h"
#include "structure/index/signature.h"

/* e = 0, or what is minimised. */
typedef struct flat_list {
    flat_equation *items; /* owned */
    size_t count, room;
} flat_list;

typedef struct optimality {
    const dae_optimality_request *request;
    dae_problem *problem; /* the model, its controls driven by 0; owned */
    const model_form *form;
    graph *g;
    arena *memory; /* of names and tables; owned */

    /* The model without what drives its controls, and then the conditions. Parameters that are
     * chosen, and those that follow from them, are variables. */
    flat_variable *variables; /* owned */
    size_t variable_count, variable_room;
    flat_list equations, initial, terminal;
    flat_action *asserts; /* owned */
    size_t assert_count, assert_room;
    int *moved;    /* per parameter: the variable in its place; -1: it stays */
    bool *omitted; /* the same as truth */
    expr integrand, at_end;

    int own;            /* variables of the model, moved parameters among them */
    int rows;           /* equations of the model */
    bool *control;      /* per own variable */
    bool *matters;      /* per own variable: the objective or a condition depends on it */
    bool seen;          /* of a walk over leaves */
    structure analysed; /* of rows that matter, then controls and others as x = 0; has no parts
                           where it is not made yet */
    int *row_of;        /* per own variable: the equation matched to it; -1: none that matters */
    int *adjoint;       /* per row: the variable; -1: the row does not matter */
    int *namesake;      /* per row that matters: the variable that its adjoint is named after */

    /* L - sum of adjoint times residual: partial derivatives A by x_j^(m), and the factors P of
     * dx_j^(m) at the ends after integration by parts; at j (orders + 1) + m. */
    int orders;
    expr *partial, *momentum;
    expr lagrangian;
} optimality;

static inline size_t at_leaf(const optimality *q, int j, int m)
{
    return (size_t)j * (size_t)(q->orders + 1) + (size_t)m;
}

static inline dae_status no_memory_for_conditions(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for conditions of optimality.");
}

/* optimality_model.c: the model with its objective, from a description that is complete. */
dae_status optimality_read(optimality *q, const dae_model *model, dae_diag *diag);
/* An attribute without parameters that are variables now: the values that these begin with. */
expr optimality_in_values(optimality *q, expr e);

/* optimality_lists.c: one more of each; false: memory. */
bool optimality_add(flat_list *list, expr left, expr right, graph *g, const char *name);
/* A copy that lives as long as the conditions; NULL: memory. */
const flat_words *optimality_words(optimality *q, flat_words words);
/* A variable whose name begins with `name`, longer if that is taken; -1: memory. */
int optimality_variable(optimality *q, const char *name, const char *comment);
const char *optimality_text(optimality *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* optimality_adjoint.c: what matters; adjoint and stationarity equations; objective and Hamiltonian
 * as variables. */
dae_status optimality_structure(optimality *q, dae_diag *diag);
/* Whether an expression contains a variable that matters. */
bool optimality_concerns(optimality *q, expr e, bool *failed);
dae_status optimality_adjoints(optimality *q, dae_diag *diag);
dae_status optimality_outputs(optimality *q, dae_diag *diag);

/* optimality_ends.c: what holds at the ends beside the conditions of the model. */
dae_status optimality_ends(optimality *q, dae_diag *diag);
/* x minus its start value. */
expr optimality_fixed(optimality *q, int v);

/* optimality_count.c: conditions at the ends that the equations say already are dropped where there
 * are too many, but not those of the model, the first `initial` and `terminal` ones; a control that
 * is not determined is named. */
dae_status optimality_count(optimality *q, size_t initial, size_t terminal, dae_diag *diag);

#endif
