/* [E; g_x] x' = [f; -g_t]: leading coefficients and constraint derivatives one below the other. It
 * has more rows than columns, and its rows agree on the solution manifold. */
#ifndef DAE_FORMS_STACKED_H
#define DAE_FORMS_STACKED_H

#include "forms/forms.h"

extern const char *const STACKED_DEFICIENT_TEXT;

/* The pattern of [E; g_x] by columns: n+1 and E->count + g_x->count numbers, owned by the caller
 * even where memory is exhausted (false) */
bool stacked_pattern(const form_matrix *E, const form_matrix *g_x, int **colptr, int **rowind);

/* Its values on that pattern */
void stacked_values(const form_matrix *E, const double *E_values, const form_matrix *g_x,
                    const double *g_x_values, double *values);

/* Its solution by least squares: dense by a QR factorisation with column pivoting, which tells the
 * rank, large and sparse through its Karush-Kuhn-Tucker matrix; refined, row by row */
typedef struct stacked stacked;

typedef enum stacked_status { STACKED_OK, STACKED_DEFICIENT, STACKED_MEMORY } stacked_status;

stacked *stacked_new(const quasilinear_form *form); /* borrows its patterns; NULL: memory */
void stacked_free(stacked *s);                      /* NULL is fine */
bool stacked_is_sparse(const stacked *s);           /* its pivots depend on earlier values */

/* ne + ng numbers: what the right-hand side is written to before a solution */
double *stacked_right(stacked *s);

/* xp := the solution for these values of E and g_x. STACKED_DEFICIENT: *undetermined is a component
 * that is not determined, or -1. */
stacked_status stacked_solve(stacked *s, const double *E, const double *g_x, double *xp,
                             int *undetermined);

#endif
