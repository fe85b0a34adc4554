/* The callbacks of a model in another form than the residual one, by the plan of that form. */
#ifndef DAE_MODEL_MODEL_FORMS_H
#define DAE_MODEL_MODEL_FORMS_H

#include "forms/forms.h"
#include "formulation/form_plan.h"
#include "model/model.h"

/* The callbacks of an instance of a variant with a plan, and their description. */
typedef struct model_forms model_forms;

model_forms *model_forms_new(model_instance *instance); /* NULL: memory */
void model_forms_free(model_forms *forms);              /* NULL is fine */
const form_source *model_forms_source(const model_forms *forms);

#endif
