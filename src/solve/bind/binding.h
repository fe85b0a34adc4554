/* A binding: what is integrated, and all that was made for it. */
#ifndef DAE_SOLVE_BIND_BINDING_H
#define DAE_SOLVE_BIND_BINDING_H

#include <stdint.h>

#include "control/events.h"
#include "forms/form_explicit.h"
#include "init/init.h"
#include "method/common/method.h"
#include "model/model.h"
#include "solve/bind/part.h"

struct dae_solver;

/* A rejected step that may have met a jump of a variable: its end, its length, and how wrong the
 * prediction was. */
typedef struct jump_trace {
    double end, h, e;
} jump_trace;

/* Where the last step begins, and what is known of its interpolant. */
typedef struct step_start {
    double *y, *yp;
    bool judged;
    double error; /* of the interpolant, in tolerances, if it is judged */
} step_start;

/* The user's unknowns and those that are integrated: one table for callbacks, for a model as it is
 * written and for the form of a mode. */
typedef struct unknown_map {
    /* Either output may be NULL, and so may the input that it does not need. */
    void (*to_user)(const struct dae_solver *s, double t, const double *y, const double *yp,
                    double *user_y, double *user_yp);
    void (*from_user)(struct dae_solver *s, const double *user_y, const double *user_yp);
    /* Where unknown i of the user, or its derivative, is; and which one unknown i is, -1: none. */
    model_place (*place)(const struct dae_solver *s, int i, bool slope);
    int (*user_unknown)(const struct dae_solver *s, int i);
} unknown_map;

extern const unknown_map unknowns_as_given, unknowns_of_form;

/* What is integrated, and all that was made for it: the problem at hand, the method and its memory,
 * matrices, norms, the search for consistent values and for events. */
typedef struct binding {
    const dae_problem *problem; /* the user's, or a variant of its model; borrowed */
    dae_options options;        /* the user's, for this problem; arrays owned, strings static */
    int n;
    const unknown_map *unknowns; /* what its unknowns are to the user */

    evaluator eval;
    regular_terms terms; /* beside its equations (watch/undetermined.c), */
    int terms_within;    /* the last of them, for values within the last step alone; */
    double held_at;      /* the last time that terms were found at; */
    bool *undetermined;  /* variables that the user knows of, NULL: none, */
    uint64_t lost;       /* the set of entries that were lost in rounding, */
    long lost_of;        /* and whose derivatives these were */
    iteration matrix;
    error_norm norm;
    struct followers *followers; /* what the norm sees beside the unknowns; owned, NULL: nothing */
    newton newton;
    initializer *init;
    iteration view;                /* matrices of the output projector, */
    initializer *output_projector; /* which has its own: looking at a run must not change it */
    iteration ends;                /* matrices of the ends of steps (watch/step_end.c), */
    double *end_off, *end_beside;  /* corrections there; */
    bool ends_free;                /* it has no rows without y' */
    struct refiner *refiner; /* values between steps, where the interpolant will not do; a part, or
                                NULL */
    event_finder *events;    /* NULL if the problem has none */

    form_instance *forms;   /* callbacks in another form than the residual one; NULL: none */
    dae_problem *rewritten; /* residual problem made from them, with more unknowns behind those of
                               base, and another pattern; owned, NULL: base serves */
    long choices;           /* how often positions were chosen for it, see forms_choose */
    bool *multipliers;      /* its unknowns that base does not have; owned */
    struct callback_array *array; /* residual callbacks by their derivative array, whose problem is
                                     integrated; owned, NULL: none */
    ode_form *ode;                /* a residual problem as y' = phi(t, y); NULL: not wanted */
    const form_set *form_set;     /* what the problem offers beside its residual form, or NULL */

    const method *method;
    const method *waits;        /* the one that comes after values for it are found; NULL: none */
    const method *cache_method; /* whose cache there is; NULL: none */
    bool values_only;           /* it is there for consistent values: no method will start */
    bool searching;             /* more searches for values will follow: the method waits */
    void *state, *scratch;      /* NULL before binding_ready_method */
    void *kept; /* state and scratch, while an attempt is looked at (watch/defect.c) */
    size_t state_size;
    const form_set *cache_forms; /* what context.cache was made for */
    bool cache_used;             /* a method has started with it, or its forms look different now */
    method_context context;
    second_order second; /* what context.second points to; zeroed: none */

    dae_kind *kinds; /* resolved: never AUTO */
    double *y, *yp;  /* values at the start, and work space afterwards */
    double *work;
    double *at_y, *at_yp; /* values asked for by dae_solver_variables */
    step_start step_start;
    jump_trace *jumps;  /* per variable */
    double *extent;     /* per variable: largest value on steps of ordinary length */
    double finest_rtol; /* smallest relative tolerance; 0 with user weights */
    bool weights_sound; /* the error weights at the end of the last step are fit for use */
} binding;

/* Make everything for s->bound.problem with s->bound.options, method and forms; on failure it is
 * empty, and only a start may follow. */
dae_status binding_fill(struct dae_solver *s, dae_diag *diag);
/* Go on with another problem, from nothing but the statistics; takes over the arrays of options.
 * Values are not carried over. */
dae_status binding_replace(struct dae_solver *s, const dae_problem *problem, dae_options *options);
/* Nothing is integrated: there is room for values of the user's unknowns alone. */
dae_status binding_loosen(struct dae_solver *s);
/* The same variables and options, other equations and pattern: the method keeps its history. */
dae_status binding_repattern(binding *b, const dae_problem *problem, dae_diag *diag);
void binding_empty(binding *b);
/* Bytes of the scratch of its method. */
size_t binding_scratch_size(const binding *b);
/* Memory and matrices of the method, for the forms at hand, once there are values to start from:
 * the search for them needs much memory itself. False: memory. */
bool binding_ready_method(binding *b);

/* Whether the method works on a form beside the residual one; on the second order form. */
bool binding_uses_forms(const binding *b);
/* Whether the residual form has all rows of the form that a method integrates. Of more rows than
 * unknowns it has some, which need not determine them (formulation/form_plan_quasilinear.c): such
 * methods solve the constraints of all levels themselves. */
bool binding_has_all_rows(const binding *b);
bool binding_second_order(const binding *b);

/* What projects outputs, with matrices of its own; NULL: memory. */
initializer *binding_output_projector(binding *b);

/* second.c: which unknowns have velocities, once the problem at hand is bound, or, where rows must
 * be looked for (kinematic_find), by `rows`. */
dae_status second_bind(binding *b, dae_diag *diag);
dae_status second_order_build(binding *b, int count, const kinematic_row *rows, dae_diag *diag);
/* The rows y_i' = y_j that the method at work eliminates: pairs, or chains. */
const kinematic_row *second_rows_of(const binding *b, int *count);
void second_release(binding *b);

#endif
