/* What the files that build model forms share. */
#ifndef DAE_MODEL_MODEL_BUILD_H
#define DAE_MODEL_MODEL_BUILD_H

#include "formulation/form_plan.h"
#include "model/model.h"
#include "structure/index/signature.h"

enum { PROGRAMS = 6 };
enum { MOST_ENTRIES = 100000000 }; /* of the Jacobian: a dense one of 10^4 equations */

/* Program k of a form: residual, jacobian, crossing, condition, output, assertion; then those of
 * `more`: what follows from the unknowns, and of a variant that offers a form what it sees through
 * and those of a form_plan. */
static inline model_program *model_program_at(model_form *f, int k)
{
    model_program *all[PROGRAMS] = {&f->residual,  &f->jacobian, &f->crossing,
                                    &f->condition, &f->output,   &f->assertion};
    return k < PROGRAMS ? all[k] : &f->more[k - PROGRAMS];
}
static inline int model_program_count(const model_form *f)
{
    return PROGRAMS + f->more_count;
}
enum { FOLLOWERS = PROGRAMS, SEEN_THROUGH };
/* Number of program k of a form_plan. */
static inline int model_form_program(int k)
{
    return SEEN_THROUGH + 1 + k;
}
/* Run program k; a, b, c: what VARIABLE of order 0, 1, 2 is. */
void model_instance_run(model_instance *m, int k, double t, const double *a, const double *b,
                        const double *c, double *out);

typedef struct build {
    model_form *f;
    int *order;         /* per flat variable: the highest derivative of its root */
    bool same;          /* unknowns are the flat variables, one by one */
    signature contents; /* per flat equation: its variables, until unknowns are known; owned */
    bool *gone;         /* per flat equation: eliminated */
    expr *residuals;    /* n */
    expr *entries;      /* Jacobian outputs, */
    size_t *row_start;  /* n + 1: where those of a row begin */
    int *column;        /* per entry, until there is a pattern */
    bool *is_slope;
    size_t entry_count, entry_capacity, row_capacity;
    size_t differentiated; /* rows that have their entries */
    bool dense;            /* MOST_ENTRIES are not enough */
    bool as_written;       /* definitions stay unknowns */
    int stopped_line;      /* of the equation whose derivatives were too many; 0: none */
    size_t equations;
} build;

void build_free(build *b);
/* All three in one text that lives as long as the form; NULL: memory. */
const char *build_text(model_form *f, const char *before, const char *text, const char *behind);

/* ---- model_alias.c ---- */

/* The variable that stands for v; v = *sign times it. Once all aliases are settled. */
int model_alias_root(const model_form *f, int v, int *sign);
/* Decide aliases, orders and unknowns; false: memory. */
bool build_unknowns(build *b);
/* e over the unknowns of the form. */
expr build_mapped(build *b, expr e);

/* ---- model_rates.c ---- */

/* Velocities by their positions, and which positions an equation of their own ties. */
typedef struct rate_ties {
    int *position; /* per flat variable v: x with der(x) = v, -1: none; owned */
    int *pair;     /* 2 each, sorted: the variables of equations with two of them; owned */
    int count;
} rate_ties;

bool rate_ties_new(rate_ties *t, const flat_model *m); /* false: memory */
void rate_ties_free(rate_ties *t);
/* Whether v1 and v2 are velocities of positions that an equation ties. */
bool rate_ties_tied(const rate_ties *t, int v1, int v2);

/* ---- model_outputs.c ---- */

/* Take outputs and their equations out of the system, once aliases are settled; false: memory. */
bool build_outputs(build *b);
/* Their values over the unknowns, once these are numbered; false: memory. */
bool build_map_outputs(build *b);
/* The variable that stands for a leaf, and the order of its derivative; -1: no variable. */
int build_root_of_leaf(const model_form *f, const expr_node *leaf, int *order);

/* ---- model_isolate.c ---- */

/* *value = the root from residual = 0; EXPR_NONE: it cannot be had without a division by what may
 * be zero. False: memory. */
bool build_isolate(const model_form *f, int root, expr residual, expr *value);

/* ---- model_differences.c ---- */

/* Make differences among the outputs unknowns again; false: memory. */
bool build_keep_differences(build *b);

typedef struct difference_search difference_search;
difference_search *difference_search_new(const model_form *f); /* NULL: memory */
void difference_search_free(difference_search *s);             /* NULL is fine */
typedef enum difference_kind {
    DIFFERENCE_NONE,
    DIFFERENCE_PLAIN, /* a polynomial */
    DIFFERENCE_INSIDE /* under a function: exp(u - v) */
} difference_kind;
/* What the value of a root is; outputs in it must have been looked at before. False: memory. */
bool difference_search_look(difference_search *s, int root, expr value, difference_kind *kind);
/* Whether it was seen to be divided by a difference, 1/(x - 1): it magnifies errors close to the
 * pole, and beyond it nothing would tell. Definitions in it must have been looked at before. */
bool difference_search_pole(const difference_search *s, int root);

/* ---- model_definitions.c ---- */

/* Take explicit definitions that others use, and their equations, out of the system, once outputs
 * are; false: memory. */
bool build_definitions(build *b);

/* ---- model_equations.c ---- */

/* residuals = the equations that stay, then der(x_j) - x_{j+1} = 0. The count may differ from n. */
bool build_equations(build *b);
/* One more row, whose name it takes; false: there is none for lack of memory. */
bool build_add_row(build *b, const char *name, int line, int source, expr residual);
/* Programs of what a form computes beside its derivatives. */
bool build_programs(build *b);
/* Names of unknowns: x, der(x), der(der(x)), .. */
bool build_names(model_form *f);
/* Gradients of the equations from number `first` on; false: memory. */
bool build_differentiate(build *b, size_t first);
/* One CSC pattern for dF/dy and dF/dy', and where each entry goes; rows and columns are forgotten.
 */
bool build_pattern(build *b);
/* A program that is never run: what it computes, and no code. */
bool build_expressions(model_program *p, const expr *e, size_t count);
bool build_program(model_form *f, model_program *p, const expr *e, size_t count);
/* Programs of the residuals and of the entries, which are forgotten. */
bool build_rows(build *b);
/* Which crossing functions depend on what Newton's iteration computes. */
bool build_rounded(model_form *f);
/* Note the compiled rows y_i' = y_j; false: memory. */
bool build_kinematics(model_form *f);

/* ---- model_followers.c ---- */

/* What follows from the unknowns, and its derivatives: the first program of `more`, with room for
 * so many others; false: memory. */
bool build_followers(model_form *f, int others);

/* ---- model_check.c ---- */

/* Start of each row in the entries of a build, which come row by row; NULL: memory. */
size_t *build_row_starts(const build *b, size_t rows);
/* As many equations as unknowns, and a perfect matching between them. */
dae_status build_check_structure(const build *b, dae_diag *diag);
/* Whether every equation has a derivative or an algebraic variable of its own to determine, which
 * is index 1 as far as structure tells; if not, which equation has none, and which variable is left
 * over. Higher indices are no error: they are for messages. false: memory */
bool build_find_index(build *b);
/* An initial equation may use only derivatives that the equations determine. */
dae_status build_check_conditions(const model_form *f, dae_diag *diag);

/* ---- model_initial.c ---- */

/* Take the initial equations of discrete variables out of the list of those for the continuous
 * ones, which come first afterwards. */
bool build_split_initials(model_form *f);
/* Build f->initial where it is needed and square; otherwise f->initial stays NULL. */
bool build_initial(model_form *f);
/* F = 0 and the initial equations over y and y' as unknowns: f->initial of a variant. */
bool build_levels(model_form *f);

/* ---- model_parameters.c, model_instance.c ---- */

/* Value of e; what is not a number is looked at twice, since lack of memory looks the same. */
double model_value_of(const model_form *f, expr e, graph_leaf_value leaf, void *context);

/* The kinematic rows of an instance (model/variant.c); nothing happens if it chooses no states. */
bool instance_begin_selection(model_instance *m); /* false: memory */
void instance_end_selection(model_instance *m);
void instance_kinematic_residual(const model_instance *m, const double *y, const double *yp,
                                 double *f);
void instance_kinematic_jacobian(const model_instance *m, double *dfdy, double *dfdyp);

dae_status build_no_memory(dae_diag *diag);
/* Memory or the limit of the graph is exhausted. */
dae_status build_exhausted(const build *b, dae_diag *diag);

#endif
