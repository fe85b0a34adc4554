/* Filling a diagnostic where the failure is understood. */
#ifndef DAE_BASE_DIAG_H
#define DAE_BASE_DIAG_H

#include "daedal.h"

/* Reset to "nothing wrong": status DAE_OK, indices -1, numbers 0, empty text. NULL is fine. */
void diag_clear(dae_diag *diag);

/* Set status and formatted text, keep what else is filled in; returns status. NULL diag is fine. */
dae_status diag_set(dae_diag *diag, dae_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append formatted text (sentences of advice). */
void diag_append(dae_diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Name the culprit. A name of NULL gives "y[i]" or "F[i]". */
void diag_variable(dae_diag *diag, int variable, const char *name);
void diag_equation(dae_diag *diag, int equation, const char *name);

#endif
