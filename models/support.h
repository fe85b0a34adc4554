/* What the models share: memory tied to an instance, tables of small dense problems, patterns. */
#ifndef DAEDAL_MODELS_SUPPORT_H
#define DAEDAL_MODELS_SUPPORT_H

#include "models.h"

#define MODEL_PI 3.14159265358979323846

/* A small problem of fixed size with a dense Jacobian, as a constant table. */
typedef struct small_model {
    const char *name, *title, *source;
    int n;
    dae_residual_fn f;
    dae_jacobian_fn jacobian;
    const char *const *variable_names, *const *equation_names;
    const dae_kind *kinds; /* NULL: auto */
    double t0, tend;
    const double *y0;                          /* n values */
    void (*derivative)(double *y, double *yp); /* y'(t0); may also complete y */
    const double *reference;                   /* y(tend), or NULL */
    double reference_accuracy;
    const double *atol_factor;
    int (*solution)(const model *m, double t, double *y, double *yp);
} small_model;

/* An instance of a table; NULL without memory. */
model *model_from_table(const small_model *table);

/* An empty instance with room for n values of y0 and yp0; NULL without memory. */
model *model_allocate(const char *name, const char *title, const char *source, int n);

/* count*size zeroed bytes that live as long as the model; NULL without memory. */
void *model_memory(model *m, size_t count, size_t size);

/* n names of the form <prefix><i> from a formatter that writes name i into text. */
enum { MODEL_NAME_SIZE = 24 };
typedef void (*model_name_fn)(const model *m, int i, char text[MODEL_NAME_SIZE]);
const char *const *model_names(model *m, model_name_fn name);

/* The CSC pattern of the entries (row[k], col[k]), k < count, no two alike, into m->form. Returns
 * slot, owned by m, where slot[k] is the place of entry k in the values; NULL without memory. */
const int *model_pattern(model *m, int count, const int *row, const int *col);

/* One factory per registered model; size is 0 for the default. NULL: bad size or no memory. */
model *new_robertson(int size);
model *new_akzo(int size);
model *new_transamp(int size);
model *new_hires(int size);
model *new_ringmod(int size);
model *new_pendulum1(int size);
model *new_pendulum2(int size);
model *new_pendulum3(int size);
model *new_pendulum_rest(int size);
model *new_trajectory1(int size);
model *new_trajectory2(int size);
model *new_heat2d(int size);
model *new_ladder(int size);
model *new_brusselator(int size);

#endif
