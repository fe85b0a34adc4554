/* The series form of a problem: its equations, as they are, in Taylor series.
 *
 * f_i = 0, i < n, over x_j and their derivatives, with the offsets of the signature method: at
 * stage s the coefficients c_i + s of the f_i determine the coefficients d_j + s of the x_j, by the
 * system Jacobian J = (df_i / dx_j^(d_j - c_i)) [Pryce01]. */
#ifndef DAE_FORMS_SERIES_FORM_H
#define DAE_FORMS_SERIES_FORM_H

#include "daedal.h"
#include "expr/series.h"
#include "structure/index/signature.h"

enum { SERIES_LAST = 29 }; /* highest stage: order 30 */

typedef struct series_form {
    int n;
    const int *c, *d;
    const series_program *equations; /* f_i, c_i coefficients ahead of the stage */
    const series_program *jacobian;  /* the entries of J, by columns; stage 0 only */
    const int *colptr, *rowind;      /* where they are */
    int unknowns;                    /* y_i = sign_i x_variable^(order), i < unknowns */
    const int *variable, *order;
    const signed char *sign;
    const bool *kept;        /* unknowns whose given values are exact at the start at hand */
    const equation_set *set; /* names */
    const block_form *blocks;
    dae_precision precision;
    int parameters, memories; /* numbers of them; `numbers` writes them in the precision */
    void (*numbers)(void *context, void *parameters, void *memory);
    void *context;
} series_form;

#endif
