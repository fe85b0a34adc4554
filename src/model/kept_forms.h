/* Variants of a model that are kept with it, so that the next solver of the same problem need not
 * analyse and compile again what the last one had at the very same point.
 *
 * Which variant comes out depends on time, values, parameters and memory where the analysis looks:
 * all of them, bit by bit, are the key. A model keeps the last few. Counts and lists are guarded by
 * the lock of the model's graph. */
#ifndef DAE_MODEL_KEPT_FORMS_H
#define DAE_MODEL_KEPT_FORMS_H

#include "model/analyse.h"
#include "model/model.h"

typedef struct kept_form {
    model_form *form;      /* owned */
    rewrite_list rewrites; /* names in the form refer to it; owned */
    int index;
    unsigned forms; /* what it was made for: FORM_MECHANICAL, .. of the method, */
    double *key;    /* and the point; owned */
    int users;      /* the list of the model is one */
} kept_form;

/* The variant for methods on `forms` made at this point, with one user more, or NULL. The caller
 * holds the lock of the graph. */
kept_form *kept_form_find(const model_form *base, unsigned forms, const model_point *at);

/* Keep a variant and its rewrites, which are taken over, with the caller as a user; NULL, and
 * nothing is taken, if there is no memory. The caller holds the lock. */
kept_form *kept_form_add(model_form *base, unsigned forms, const model_point *at, model_form *form,
                         rewrite_list *rewrites, int index);

/* One user less; the caller does not hold the lock. NULL is fine. */
void kept_form_release(kept_form *kept);

/* With the model they belong to. */
void kept_forms_free(struct kept_list *list);

#endif
