/* What a failure means in terms of a model's text: functions at the end of their domain, and an
 * index above 1. */
#ifndef DAE_SOLVE_EXPLAIN_EXPLAIN_MODEL_H
#define DAE_SOLVE_EXPLAIN_EXPLAIN_MODEL_H

#include "model/model.h"

/* The function that is closest to the end of its domain (a denominator at zero, a logarithm of
 * nothing) at a point, in one equation or in all of them (row < 0): append a sentence to the
 * diagnostic and name the equation. false: there is none near. */
bool explain_domain(const model_instance *m, double t, const double *y, const double *yp, int row,
                    dae_diag *diag);

/* The same for the value of visible variable k, an output. */
bool explain_output(const model_instance *m, double t, const double *y, const double *yp, int k,
                    dae_diag *diag);

/* Append that the index is above 1, and by which equation; false if it is not, by structure. */
bool explain_index(const model_form *f, dae_diag *diag);

/* The line of the equation, else of the variable, that a diagnostic names. */
void explain_line(const model_form *f, dae_diag *diag);

#endif
