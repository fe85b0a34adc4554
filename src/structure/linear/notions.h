/* Perturbation and tractability index, where theory tells them from F and its Jacobians at a point.
 */
#ifndef DAE_STRUCTURE_LINEAR_NOTIONS_H
#define DAE_STRUCTURE_LINEAR_NOTIONS_H

#include "structure/linear/derivative_array.h"

/* How dF/du' depends on where one is. */
typedef enum leading_term {
    LEADING_CONSTANT, /* on parameters alone */
    LEADING_OF_TIME,
    LEADING_OF_UNKNOWNS,
    LEADING_MEMORY
} leading_term;

leading_term leading_term_of(const equation_set *set);

/* Why the perturbation index is what it is. */
typedef enum perturbation_reason {
    PERTURBATION_ODE,       /* dF/du' is regular: 0 */
    PERTURBATION_LEADING,   /* dF/du' does not depend on u: the uniform index */
    PERTURBATION_EXPLICIT,  /* M(u) y' = f for some unknowns y, M regular, and equations without
                               derivatives: the uniform index */
    PERTURBATION_POINTWISE, /* no initial value is free: the uniform index */
    PERTURBATION_CLOSED,    /* uniform index 1, and the forms dF/du' du are closed where it matters:
                               1 */
    PERTURBATION_AREA,      /* uniform index 1, and they are not: 2 */
    PERTURBATION_BOUNDS,    /* the uniform index or one more [CG95] */
    PERTURBATION_UNKNOWN
} perturbation_reason;

typedef struct perturbation_index {
    int low, high;
    perturbation_reason reason;
} perturbation_index;

/* At a consistent point x of an array with this report. MEMORY or EVALUATION: no result. */
array_status perturbation_index_of(derivative_array *d, double t, const double *x,
                                   const array_report *report, leading_term leading,
                                   perturbation_index *result);

enum { TRACTABILITY_NONE = -1, TRACTABILITY_MEMORY = -2 };
/* 0, 1 or 2 at a point; 3: above; NONE: no value; MEMORY. `fixed_kernel`: ker dF/du' is that of
 * unit vectors, or dF/du' is constant; else indices above 1 are not told: 3. */
int tractability_index_of(derivative_array *d, double t, const double *x, bool fixed_kernel,
                          double tolerance);
/* dF/du' at x by its entries: whether its rank is the number of unknowns that have derivatives, and
 * of equations that contain derivatives. False in both: no value, or memory. */
typedef struct leading_shape {
    bool unit_kernel, semi_explicit, memory;
} leading_shape;
leading_shape leading_shape_at(derivative_array *d, double t, const double *x, double tolerance);

/* The index of the matrix chain G_0 = B, G_{i+1} = G_i + B_i Q_i of constant matrices with
 * admissible projectors [Mae92]; NONE: the pencil is singular; MEMORY. */
int tractability_of_pencil(int n, const double *A, const double *B, double tolerance);

#endif
