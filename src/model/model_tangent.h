/* Derivatives of expressions of a model by all that they may move with: unknowns and their slopes,
 * parameters, discrete Reals, and time. */
#ifndef DAE_MODEL_MODEL_TANGENT_H
#define DAE_MODEL_MODEL_TANGENT_H

#include "model/model.h"

/* Parameters and memory that move, numbered one after the other; owned arrays. */
typedef struct tangent_inputs {
    int *parameter; /* per parameter of the model: its number, -1: it does not move */
    int *memory;    /* per slot of the memory: the same */
    int count;
} tangent_inputs;

void tangent_inputs_free(tangent_inputs *in); /* leaves it zeroed */

/* The derivatives of a list of expressions, as a program of their entries. */
typedef struct model_tangent model_tangent;

/* e: over unknowns y_i, i < n, of order 0 and 1. with_unknowns: derivatives by them, too. `in` is
 * borrowed. NULL: memory. */
model_tangent *model_tangent_new(graph *g, const expr *e, size_t count, int n,
                                 const tangent_inputs *in, bool with_unknowns);
void model_tangent_free(model_tangent *m); /* NULL is fine */

/* Take the values of all derivatives at a point. */
void model_tangent_at(model_tangent *m, const tape_inputs *at);
/* out_i = de_i/dy s + de_i/dy' sp + de_i/dinputs moved + de_i/dt dt at that point. s and sp may be
 * NULL: these do not move. */
void model_tangent_apply(const model_tangent *m, const double *s, const double *sp,
                         const double *moved, double dt, double *out);

/* out_i += de_i/dinputs moved: the same of inputs alone, where few of them move. */
void model_tangent_add_inputs(const model_tangent *m, const double *moved, double *out);

/* The same as model_tangent_apply for row i alone. */
double model_tangent_row(const model_tangent *m, int i, const double *s, const double *sp,
                         const double *moved, double dt);

/* The other way round: to s, sp, inputs and *dt (NULL: not wanted) is added what each contributes
 * to sum_i weight_i e_i, as entries (size_t model_tangent_size of them) say. */
void model_tangent_transposed(const model_tangent *m, const double *entries, const double *weight,
                              double *s, double *sp, double *inputs, double *dt);
size_t model_tangent_size(const model_tangent *m);
const double *model_tangent_entries(const model_tangent *m); /* at the last point */

/* The same for row i alone, and its entries. */
const double *model_tangent_row_entries(const model_tangent *m, int i, size_t *count);
void model_tangent_row_transposed(const model_tangent *m, int i, const double *entries,
                                  double weight, double *s, double *sp, double *inputs, double *dt);

/* An expression over flat variables in terms of the unknowns of a form; EXPR_NONE: one of its
 * variables is out of reach there, or memory. */
expr model_form_mapped(const model_form *f, expr e);

#endif
