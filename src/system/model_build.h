/* What the files that build model forms share. */
#ifndef DAE_SYSTEM_MODEL_BUILD_H
#define DAE_SYSTEM_MODEL_BUILD_H

#include "system/model.h"

enum { PROGRAMS = 6 };

/* Program k of a form: residual, jacobian, crossing, condition, output, assertion; and those of a
 * variant that sees through variables or offers a form, `more`. */
model_program *model_program_at(model_form *f, int k);
int model_program_count(const model_form *f);
/* Number of program k of a form_plan: in `more` it comes after that of variables seen through. */
static inline int model_form_program(int k)
{
    return PROGRAMS + 1 + k;
}
/* Run program k; a, b, c: what VARIABLE of order 0, 1, 2 is. */
void model_instance_run(model_instance *m, int k, double t, const double *a, const double *b,
                        const double *c, double *out);

typedef struct build {
    model_form *f;
    int *order;
    bool *gone;      /* per flat equation: eliminated */
    expr *residuals; /* n */
    int *source;     /* n: flat equation, -1 for definitions of derivatives */
    expr *entries;   /* Jacobian outputs */
    int *row, *column, *is_slope;
    size_t entry_count, entry_capacity;
    bool dense; /* MOST_ENTRIES are not enough */
    size_t equations;
} build;

void build_free(build *b);

/* Gradients of the equations from number `first` on; false: memory. */
bool build_differentiate(build *b, size_t first);
/* One CSC pattern for dF/dy and dF/dy', and where each entry goes. */
bool build_pattern(build *b);
bool build_program(model_form *f, model_program *p, const expr *e, size_t count);
/* Which crossing functions depend on what Newton's iteration computes. */
bool build_rounded(model_form *f);
/* Note the compiled rows y_i' = y_j; false: memory. */
bool build_kinematics(model_form *f);
/* F = 0 and the initial equations over y and y' as unknowns: f->initial of a variant. */
bool build_levels(model_form *f);
/* Where the order-th derivative of the root of an alias class is; unknown -1: nowhere. */
model_place model_form_locate(const model_form *f, int root, int order);

/* The kinematic rows of an instance (system/variant.c); nothing happens if it chooses no states. */
bool instance_begin_selection(model_instance *m); /* false: memory */
void instance_end_selection(model_instance *m);
void instance_kinematic_residual(const model_instance *m, const double *y, const double *yp,
                                 double *f);
void instance_kinematic_jacobian(const model_instance *m, double *dfdy, double *dfdyp);

/* Memory or the limit of the graph is exhausted. */
dae_status build_exhausted(const build *b, dae_diag *diag);

#endif
