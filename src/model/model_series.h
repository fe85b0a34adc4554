/* The series form of a model, in the mode that a variant is for. */
#ifndef DAE_MODEL_MODEL_SERIES_H
#define DAE_MODEL_MODEL_SERIES_H

#include "forms/forms.h"
#include "forms/series_form.h"
#include "model/model.h"

typedef struct model_series model_series;

/* For an instance of a variant whose unknowns are those of the dummy derivatives. Adds to the graph
 * of the model: lock it. NULL: memory. */
model_series *model_series_new(model_instance *instance, dae_precision precision);
void model_series_free(model_series *s); /* NULL is fine */
const form_set *model_series_set(const model_series *s);

/* Which unknowns have exact start values: n of the variant, all false before. */
bool *model_series_kept(model_series *s);

/* All visible variables as decimal numbers, from y and y' of the variant in the precision; text has
 * DIGITS_SIZE bytes for each. */
void model_series_digits(model_series *s, double t, const void *y, const void *yp, char *text);

/* Bytes of a number; 0: the precision is not on offer by compiler and C library. */
size_t precision_size(dae_precision precision);

#endif
