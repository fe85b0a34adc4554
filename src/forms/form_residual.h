/* Between the files of the residual forms. */
#ifndef DAE_FORMS_FORM_RESIDUAL_H
#define DAE_FORMS_FORM_RESIDUAL_H

#include "forms/form_parts.h"

/* The pattern of dF/dy and dF/dy' of a rewriting with n unknowns, where the patterns of its parts
 * say it; else it stays empty. False: memory. */
bool form_residual_pattern(const form_source *s, const form_rewriting *how, int n,
                           form_pattern *pattern);

#endif
