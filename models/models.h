/* The corpus of models in C: one source of problems for tests, benchmarks, the command and docs. */
#ifndef DAEDAL_MODELS_H
#define DAEDAL_MODELS_H

#include "daedal.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One instance of a model. Everything it points to is owned by it and lives until model_free. */
typedef struct model {
    const char *name;   /* "robertson" */
    const char *title;  /* one line */
    const char *source; /* citation of the problem and of its reference values */
    dae_residual form; /* ready for dae_problem_from_residual: F, Jacobian, pattern, names, kinds */
    double t0, tend;
    double *y0, *yp0;    /* consistent initial values, form.n each */
    double *reference;   /* y(tend), form.n values, or NULL */
    double *atol_factor; /* suggested atol[i] = atol * atol_factor[i], or NULL for 1 */
    void *data;          /* parameters, private to the model */

    /* y(t) and y'(t) where they are known: a closed form, or a table of literature values. Returns
     * 0 if y is filled; 1 if nothing is known at this t. yp may be NULL; a table leaves it alone
     * (closed_form is then false). NULL: nothing is known but reference. */
    int (*solution)(const struct model *m, double t, double *y, double *yp);
    bool closed_form;          /* solution answers for every t, yp included */
    bool sized;                /* model_new looks at its size argument */
    double reference_accuracy; /* relative accuracy of reference, such as 1e-13 */
} model;

int model_count(void);
const char *model_name(int i); /* NULL past the end */

/* An instance; size is the model's discretisation parameter where it has one, 0 for its default.
 * NULL: unknown name, bad size or out of memory. */
model *model_new(const char *name, int size);
void model_free(model *m); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
