/* A flat model as a text in Base Modelica, which reads back as the same model. */
#ifndef DAE_SOLVE_API_MODEL_TEXT_H
#define DAE_SOLVE_API_MODEL_TEXT_H

#include "daedal.h"
#include "modelica/flatten/flat.h"

/* A flat model, and what was set from outside. */
typedef struct model_source {
    const flat_model *flat;
    const double *parameters;  /* their values, */
    const bool *parameter_set; /* and which of them were set */
    const double *start;       /* per variable: the start value that was set, or NAN */
    const bool *omitted;       /* parameters that nothing uses, and are not declared; NULL: none */
    const char *head;          /* what the first line says; NULL: as it is for any model */
} model_source;

/* Owned by the caller; NULL after a diagnostic. */
char *model_write_text(const model_source *source, dae_diag *diag);

#endif
