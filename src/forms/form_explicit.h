/* F(t, y, y') = 0 with a regular dF/dy', as the ODE y' = phi(t, y): the manifold form of a residual
 * problem of index 0, which has no constraints. */
#ifndef DAE_FORMS_FORM_EXPLICIT_H
#define DAE_FORMS_FORM_EXPLICIT_H

#include "forms/forms.h"

typedef struct ode_form ode_form;

/* The evaluator is borrowed, and need not be ready yet. NULL: memory. */
ode_form *ode_form_new(evaluator *eval);
void ode_form_free(ode_form *x);                /* NULL is fine */
void ode_form_persist(ode_form *x, persist *p); /* dF/dy', its factors, and the last y' */
const form_set *ode_form_set(const ode_form *x);

#endif
