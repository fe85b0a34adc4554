/* A flat model made ready to integrate: aliases eliminated, reduced to first order, with exact
 * sparse derivatives, as a problem in residual form.
 *
 * A model_form is immutable and shared by solvers; a model_instance holds what one solver changes:
 * parameter values, memory (discrete values and relations) and work space. */
#ifndef DAE_MODEL_MODEL_H
#define DAE_MODEL_MODEL_H

#include "daedal.h"
#include "expr/code.h"
#include "expr/emit.h"
#include "expr/native.h"
#include "formulation/selection.h"
#include "modelica/flatten/flat.h"

/* What became of a flat variable: sign * the order-th derivative of unknown `root`, a value over
 * parameters (x = 3 R), an output, evaluated after the solve, or a definition, evaluated wherever
 * something needs it. */
typedef struct model_alias {
    int root;             /* flat variable that stands for it (itself if none) */
    int equation;         /* flat equation that says so; -1: none */
    int top;              /* the end of the chain of roots */
    expr value;           /* not EXPR_NONE: eliminated, as a constant, an output or a definition */
    expr mapped;          /* of one that is evaluated: over the unknowns */
    expr of_time;         /* not EXPR_NONE: stays an unknown, and is this function of time */
    signed char sign;     /* +1 or -1 */
    signed char top_sign; /* product of the signs on the way there */
    bool evaluated;       /* an output or a definition: value is over variables */
    bool used;            /* a definition: equations, events or assertions contain it */
} model_alias;

/* An initial equation of a discrete variable: v = value, or pre(v) = value. */
typedef struct model_setting {
    int variable;
    bool previous; /* it is pre(v) that has the value */
    expr value;
    source_place place;
} model_setting;

/* One set of compiled outputs. */
typedef struct model_program {
    expr_code code;
    expr *e; /* over unknowns, owned; kept for emitted code */
    size_t outputs;
    int entry; /* 1 + its place in the native code of the problem, 0: not looked for */
} model_program;

/* Where a variable of the base form is in a variant: sign * y_unknown, or y' of it. */
typedef struct model_place {
    int unknown;
    bool slope;
    signed char sign;
} model_place;

/* What was made for the plans of a problem, for tests: all of it is to be made once. */
typedef struct plan_counts {
    long asked;    /* plans asked for, */
    long analyses; /* made from an analysis of their mode, */
    long forms;    /* and variants of the model, which were compiled */
} plan_counts;

typedef struct model_form {
    flat_model *flat; /* owned */
    /* Of a base form: plans that solvers share (solve/prepare/plan_store.h); owned, with the
     * function that frees them, and how often they were made. */
    struct plan_store *plans;
    void (*plans_free)(struct plan_store *);
    plan_counts counts;
    struct mode_slots *slots; /* of a base form: memory that decides the structure; owned, NULL: not
                                 sought yet */
    struct model_code *code;  /* native code of all forms (model_code.h); of the base form */
    model_alias *alias;       /* per flat variable, owned */
    int n;                    /* unknowns of the residual form */
    int *unknown_variable;    /* n: flat variable, owned */
    int *unknown_order;       /* n: which derivative of it, owned */
    int *
        first_unknown; /* per flat variable: its unknown of order 0; -1 if eliminated or discrete */
    bool *differential;   /* n: whether y' of it appears */
    int *colptr, *rowind; /* pattern of dF/dy and dF/dy', owned */
    int *scatter;         /* per Jacobian output: place in dfdy (>= 0) or -1 - place in dfdyp */
    size_t jacobian_outputs;
    model_program residual, jacobian, crossing, condition, output, assertion;
    double *parameters;  /* values set so far, owned */
    bool *parameter_set; /* which were set from outside */
    double *start;       /* per flat variable: value set from outside, or NAN */
    bool *start_moved;   /* which of these only stand beside their attributes, for a difference */
    double *attribute;   /* per flat variable: value of its start attribute, or NAN; owned */
    long revision;       /* how often one of these was changed */
    int eliminated;      /* number of alias variables */
    int *evaluated;      /* definitions, then outputs (flat variables), in the order of their
                            evaluation; owned */
    int evaluated_count, definition_count;
    const char **unknown_names, **equation_names; /* owned; the texts are in `texts`, or belong to
                                                     `formulated` or to the form that this one is
                                                     the initial system of. Equations of a base form
                                                     have no name before model_name_equations() */
    struct arena *texts;                          /* owned, NULL: none */
    size_t watch_count;   /* crossing functions behind those of the relations: for assertions */
    bool *rounded;        /* per relation: its crossing function carries rounding errors; owned */
    expr *delayed;        /* per delay: what is delayed, over y and y'; owned, NULL: not known */
    int *equation_source; /* of a base form, per row: equation of the flat model, -1: none; owned */
    int *equation_lines;  /* per equation: line of the text, 0 if none; owned */
    bool resting;         /* no continuous unknowns: y' = 0 stands in, so that time can go on */
    int *visible;         /* flat variables of the user; owned */
    int visible_count;
    int unmet;               /* index above 1 by structure: an equation that determines neither a
                                derivative nor an algebraic variable of its own; else -1 */
    int undetermined;        /* then an algebraic variable that no equation is left for; or -1 */
    bool overdetermined;     /* more initial equations and fixed values than states */
    size_t condition_count;  /* the first ones of flat->initial_equations: continuous */
    model_setting *settings; /* the others; owned */
    size_t settings_count;

    /* The initial system, if there are initial equations or fixed values that are no states:
     * unknowns y, then y' of the differential ones; equations F = 0, the initial equations, and
     * y_j = start_j for `pinned` ones, whose start values are parameters behind the model's own. */
    struct model_form *initial; /* owned; NULL: start values of differential variables are kept */
    int *slope_of; /* of an initial system: for i >= first, y_i is y' of unknown slope_of */
    int *pinned;   /* unknowns whose start value is an equation */
    int pinned_count;
    const struct model_form *starts; /* the form whose start this is; borrowed */
    bool failed;                     /* memory ran out while aliases were sought */
    bool borrowed;                   /* an initial system: flat belongs to the form it starts */

    /* A variant is the model rewritten by a formulation, in the unknowns of that; all else belongs
     * to the base form, the model as it was written. */
    const struct model_form *base;   /* borrowed; NULL: this is no variant */
    int rows;                        /* compiled equations; kinematic ones complete them to n */
    int kinematic_count;             /* compiled rows y_i' = y_j (matrix/second_order.h), */
    struct kinematic_row *kinematic; /* these; owned */
    model_place *place;              /* per unknown of base: where it is, */
    model_place *place_slope;        /* and its derivative; owned */
    expr *value;            /* per unknown of base that has no place: what it is over y and y', */
    expr *value_slope;      /* and its derivative, EXPR_NONE if out of reach; owned */
    int *seen;              /* those unknowns of base: a program of `more` has their values, then */
    int seen_count;         /* their slopes; owned */
    int *seen_at;           /* per unknown of base: where it is in `seen`, or -1; owned */
    int *follower;          /* flat variables that follow from the unknowns, but for outputs, */
    int follower_count;     /* of a base form, too; NULL and 0: none; */
    size_t *follower_start; /* where the derivatives of each begin, count + 1, */
    int *follower_unknown;  /* and of each derivative: by which unknown; owned */
    size_t follower_room;
    model_program *more; /* after the others: of followers, seen ones and a form; owned */
    int more_count;
    analysed *analysed;        /* owned, unless analysed_borrowed */
    formulated *formulated;    /* owned */
    struct model_form *levels; /* the variant with all levels, whose initial system is that of
                                  this one, too; owned, NULL: this one has them all */
    struct constraint_program *constraints; /* of `analysed`, for the search of redundant ones;
                                               owned, NULL: none, or not asked for */
    bool analysed_borrowed;
    model_place *level_place;    /* with levels: per unknown of levels, where it is here, */
    model_place *of_level;       /* per unknown here: where it is there, */
    model_place *of_level_slope; /* and its derivative; owned */

    const char **parameter_names; /* flat->parameter_count; texts of flat; owned, NULL: a variant */
    const char **memory_names;    /* flat->memory_count: of discrete variables, else NULL; owned */
    struct arena *notes;          /* whatever lives as long as the form; owned, NULL: nothing */
    struct model_listing
        *listing; /* in notes: names for the public face, solve/api/model_values.h */
} model_form;

/* The name of an equation, for messages: it is made when it is asked for first, as a large model
 * has many, and stays. May be called by threads that share the form. */
const char *model_equation_name(const model_form *form, int row);
/* All of them, for who reads equation_names; false: memory. */
bool model_name_equations(const model_form *form);

/* Take over a flat model (freed with the form, also on failure), and what flat_contents() finds in
 * it (model_structure.h); NULL: it is found here. */
struct signature;
dae_status model_form_new(flat_model *flat, struct signature *contents, model_form **form,
                          dae_diag *diag);
void model_form_free(model_form *form); /* NULL is fine */

/* The model in the unknowns of y, whose unknowns of the analysed set are those of `base`; takes
 * over what *a, *y and *levels hold, also on failure. levels: the formulation that has all levels,
 * for initial values, where y lacks some (else NULL). base must outlive it. Adds to the graph of
 * base: lock it. */
dae_status model_form_variant(const model_form *base, analysed *a, formulated *y,
                              formulated *levels, model_form **form, dae_diag *diag);

/* C text of all programs: functions model_residual, model_jacobian, .. with the names of unknowns.
 */
void model_form_emit(const model_form *form, emit_text *text);

/* The residual description of a form, for dae_problem_from_residual; arrays borrowed from it. */
void model_form_describe(model_form *form, dae_residual *r);

/* Parameter values from their expressions and what was set; DAE_ERR_ARGUMENT names a bad one. */
dae_status model_form_evaluate_parameters(model_form *form, dae_diag *diag);
/* Whether the start value of a flat variable was set from outside. */
bool model_start_is_outside(const model_form *form, size_t variable);
/* Parameter and start values as they are now, to be put back; zeroed: nothing kept. */
typedef struct kept_values {
    double *parameters, *start; /* owned */
    bool *set;
} kept_values;

bool model_form_keep(const model_form *form, kept_values *kept); /* false: memory */
/* Put them back and forget them. */
dae_status model_form_put_back(model_form *form, kept_values *kept, dae_diag *diag);

/* Tell the parameters that depend on it when the run begins. */
dae_status model_form_set_start_time(model_form *form, double t, dae_diag *diag);

/* The nominal size of an unknown, 1 where the text has none (analyse.c). */
double model_form_nominal(const model_form *f, int unknown);
double model_variable_nominal(const model_form *f, int variable); /* of a flat variable */
/* Value of e at compile-time knowledge: parameters only; NAN if it needs more. */
double model_form_constant(const model_form *form, expr e);

enum { MOST_PROGRAMS = 16 };

typedef struct model_instance {
    const model_form *form;
    double *parameters, *memory;             /* owned */
    double *work;                            /* of all programs, owned */
    double *work_of[MOST_PROGRAMS];          /* per program: residual, jacobian, crossing, .. */
    double *jacobian_values;                 /* owned */
    bool native;                             /* the equations have native code */
    native_function function[MOST_PROGRAMS]; /* NULL: the tape runs */
    long runs[MOST_PROGRAMS];                /* how often it did */
    unsigned code_version;                   /* of the native code that was seen last */
    /* A variant with a choice of states: the choice, and the pattern that goes with it. Owned. */
    position_watch *positions; /* of a form that chose p2; NULL: it did not */
    selection *selection;
    int *colptr, *rowind, *scatter;
    int *kinematic_at; /* per term of a chosen row: where its entries of dF/dy' and dF/dy are */
    const char **equation_names; /* n: of the compiled rows, then of the chosen ones */
    dae_kind *kinds;
    struct array_run *array;    /* takes the place of the equations, or NULL; borrowed */
    struct row_program *rows;   /* of the rows asked for last (model_rows.c); owned, NULL: none */
    double noise;               /* `rounded` crossing functions below it count as zero */
    struct delay_table *delays; /* pasts of delayed values (model_delay.h); borrowed, NULL: none */
    struct team *threads;       /* that share its large programs; borrowed, NULL: none */
    struct model_pieces *pieces[MOST_PROGRAMS]; /* these (model_pieces.h); owned, NULL: in one */
} model_instance;

model_instance *model_instance_new(const model_form *form); /* NULL: memory */
void model_instance_free(model_instance *instance);
/* Choose states at a point (`anew`), or see whether the choice is still good. SELECTION_CHANGED:
 * describe the instance anew. */
/* How good the choice of p2 is at a point; POSITIONS_KEPT where nothing was chosen. */
position_status model_instance_look(model_instance *instance, double t, const double *y,
                                    const double *yp);
selection_status model_instance_select(model_instance *instance, double t, const double *y,
                                       const double *yp, bool anew);
/* The residual description of an instance with its choice of states; arrays borrowed from it. */
bool model_instance_describe(model_instance *instance, dae_residual *r); /* false: memory */
/* Note the rows y_i' = y_j of a form in its problem, and those of a choice of states; instance may
 * be NULL. False: memory. */
bool model_kinematics(const model_form *form, const model_instance *instance, dae_problem *problem);
/* Take the form's parameters anew. */
void model_instance_load(model_instance *instance);
/* Parameters or memory have changed: recompute what is hoisted. */
void model_instance_prepare(model_instance *instance);

/* What delayed expressions read is that of time t, and of y and y' where delay times depend on
 * them (NULL: these stay as they are). Whoever evaluates something at a point does so. */
void model_instance_recall(model_instance *instance, double t, const double *y, const double *yp);
/* Parameters, memory and pasts of another instance of the same model. */
void model_instance_follow(model_instance *instance, const model_instance *from);

/* The callbacks of the residual form; user is the instance. */
int model_residual(double t, const double *y, const double *yp, double *f, void *user);
int model_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                   void *user);

/* model_rows.c: the same of some rows, by programs of these, which are kept until others are asked
 * for. */
int model_rows(double t, const double *y, const double *yp, const int *rows, int count, double *f,
               void *user);
int model_jacobian_rows(double t, const double *y, const double *yp, const int *rows, int count,
                        double *dfdy, double *dfdyp, void *user);
struct row_program;
void row_program_free(struct row_program *p); /* NULL is fine, here and below */
/* Parameters or memory have changed. */
void row_program_prepare(struct row_program *p, const tape_inputs *in);

/* out = crossing functions of the relations, then those of assertions: crossing.outputs */
void model_instance_crossings(model_instance *instance, double t, const double *y, const double *yp,
                              double *out);
/* out = all visible variables, discrete ones included, at a point */
void model_instance_outputs(model_instance *instance, double t, const double *y, const double *yp,
                            double *out);
/* out = assertion conditions (flat->assert_count) */
void model_instance_assertions(model_instance *instance, double t, const double *y,
                               const double *yp, double *out);
/* out = what follows from the unknowns (follower_count), and its derivatives */
void model_instance_followers(model_instance *instance, double t, const double *y, const double *yp,
                              double *out);
/* Value of any expression at a point (not for the step loop). Leaves are flat variables. */
double model_instance_value(model_instance *instance, double t, const double *y, const double *yp,
                            expr e);
/* The same with the memory as it is. */
double model_instance_value_now(const model_instance *instance, double t, const double *y,
                                const double *yp, expr e);
/* Initial equation k at y, y' of the base form (2n in one array, as the units), with the graph
 * entered: *off = |its residual|, 0 where it has no value; *reach: by how much that changes as each
 * of its unknowns moves by its unit, and by rounding. y is moved meanwhile. False: memory. */
bool model_condition_misfit(const model_instance *m, size_t k, double t, double *y,
                            const double *unit, double *off, double *reach);

#endif
