/* The solver handle: the rooms below it, wired together. */
#ifndef DAE_SOLVE_BIND_SOLVER_H
#define DAE_SOLVE_BIND_SOLVER_H

#include "control/events.h"
#include "control/stall.h"
#include "control/step_control.h"
#include "control/stiffness.h"
#include "forms/form_explicit.h"
#include "formulation/formulation.h"
#include "init/init.h"
#include "method/common/method.h"
#include "solve/bind/reform.h"
#include "solve/hybrid/hybrid.h"
#include "solve/prepare/choice.h"
#include "solve/run/monitors.h"
#include "solve/run/refine.h"

typedef enum solver_phase {
    PHASE_NEW = 0, /* not started */
    PHASE_READY,   /* at a consistent point, no step taken: the method starts with the first step */
    PHASE_RUNNING,
    PHASE_ENDED /* a terminal event was returned */
} solver_phase;

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

/* What is integrated, and all that was made for it: the problem at hand, the method and its memory,
 * matrices, norms, the search for consistent values and for events. */
typedef struct binding {
    const dae_problem *problem; /* the user's, or a variant of its model; borrowed */
    dae_options options;        /* the user's, for this problem; arrays owned, strings static */
    int n;

    evaluator eval;
    iteration matrix;
    error_norm norm;
    newton newton;
    initializer *init;
    iteration view;                /* matrices of the output projector, */
    initializer *output_projector; /* which has its own: looking at a run must not change it */
    refiner *refiner;     /* values between steps, where the interpolant will not do; or NULL */
    event_finder *events; /* NULL if the problem has none */

    form_instance *forms;     /* callbacks in another form than the residual one; NULL: none */
    dae_problem *rewritten;   /* residual problem made from them, with more unknowns behind those of
                                 base, and another pattern; owned, NULL: base serves */
    long choices;             /* how often positions were chosen for it, see forms_choose */
    bool *multipliers;        /* its unknowns that base does not have; owned */
    ode_form *ode;            /* a residual problem as y' = phi(t, y); NULL: not wanted */
    const form_set *form_set; /* what the problem offers beside its residual form, or NULL */

    const method *method;
    const method *furnished; /* whose state, scratch and cache there are; NULL: none */
    void *state, *scratch;
    const form_set *cache_forms; /* what context.cache was made for */
    bool cache_used;             /* a method has started with it, or its forms look different now */
    method_context context;
    second_order second; /* what context.second points to; zeroed: none */

    dae_kind *kinds; /* resolved: never AUTO */
    double *y, *yp;  /* values at the start, and work space afterwards */
    double *work;
    double *at_y, *at_yp; /* values asked for by dae_solver_variables */
    jump_trace *jumps;    /* per variable */
    double *extent;       /* per variable: largest value on steps of ordinary length */
    double finest_rtol;   /* smallest relative tolerance; 0 with user weights */
    bool weights_sound;   /* the error weights at the end of the last step are fit for use */
} binding;

/* Where a run stands, what controls its steps, and what it has reported. */
typedef struct run_state {
    solver_phase phase;
    double t;            /* where the solver stands */
    double t_old, t_new; /* the last step */
    double direction;    /* +1, -1, or 0 while unknown */
    double searched;     /* events up to here have been reported */
    bool terminated;     /* by the model */
    bool compile_tried;  /* native code has been asked for */

    step_control control;
    stiffness stiffness;
    stall stall;
    attempt last;
    step_start step_start;
    bool evaluation_first; /* a callback was the first to reject the step that is tried */
    bool index_suspect;    /* residual callbacks may have an index that the method is not for */
    bool watch_due;        /* states are to be looked at before the next step */
    long leap_step;        /* number of the step after which the last leap was, */
    int leaps;             /* and how many there were since */
    double *sizes; /* per unknown of base: largest value at the ends of steps; then per unknown:
                      value that a start gave it, 0: none */

    bool jump_reported;      /* the user knows of one */
    bool unwatched_reported; /* of multipliers that are not in the error test */
    int unwatched_steps;     /* in a row with estimates of them that are too large */
    bool doubt_reported;     /* and of values between steps that are not as good as asked for */

    /* A history handed over by dae_solver_start_history; owned, freed when consumed. */
    int history;
    double *past_t, *past_y;
} run_state;

struct dae_solver {
    const dae_problem *base;        /* the user's problem; borrowed */
    dae_options base_options;       /* the user's; arrays owned, strings static */
    const formulation *formulation; /* that the user asked for */
    dae_stats stats;
    dae_diag diag;
    eval_failure stop; /* a callback asked for it during this call (code < 0) */
    method_choice choice;

    binding bound;
    run_state run;
    hybrid *hybrid;     /* discrete side of a model; NULL for callbacks */
    reform *reform;     /* variants of a model; NULL for callbacks */
    monitors *monitors; /* invariants and constraints that are watched; NULL: none */
};

/* solve/api/options.c: check and copy what the user asked for. */
/* *full = the caller's options, of which it may know fewer or more fields; NULL: the defaults. */
dae_status options_read(const dae_options *options, dae_options *full, dae_diag *diag);
dae_status options_check(const dae_options *options, const dae_problem *problem, dae_diag *diag);
dae_status options_copy(dae_options *copy, const dae_options *options, int n, dae_diag *diag);
void options_free(dae_options *copy);

/* solve/bind/solver.c: what there is for the method at hand is made anew, for s->y and s->yp of the
 * base, from where the solver stands; for callbacks. */
dae_status solver_reassemble(dae_solver *s);
/* The same without values, before a start. */
dae_status solver_renew(dae_solver *s);
/* The same for models: all variants are forgotten (reform.c). */
dae_status reform_rechoose(dae_solver *s);

/* solve/bind/solver.c: go on with another problem of n variables, from nothing but the statistics;
 * takes over the arrays of options. Values are not carried over. After a failure only a start may
 * follow.
 */
dae_status solver_bind(dae_solver *s, const dae_problem *problem, dae_options *options);
/* The same variables and options, other equations and pattern: the method keeps its history. */
dae_status solver_repattern(dae_solver *s, const dae_problem *problem);

/* Whether the method works on a form beside the residual one. */
bool solver_uses_forms(const dae_solver *s);
/* Whether other unknowns are integrated than the user has; and the user's from those. Either output
 * may be NULL, and so may the input that it does not need. */
bool solver_rewritten(const dae_solver *s);
void solver_to_base(const dae_solver *s, double t, const double *y, const double *yp,
                    double *base_y, double *base_yp);

/* solve/bind/second.c: whether the method works on the second order form; which that is, once the
 * problem at hand is bound, or, where rows must be looked for, at a start. */
bool solver_second_order(const dae_solver *s);
dae_status second_bind(dae_solver *s, dae_diag *diag);
dae_status second_find(dae_solver *s, double t);
void second_release(dae_solver *s);

/* What projects outputs, with matrices of its own; NULL: memory. */
initializer *solver_output_projector(dae_solver *s);

/* solve/run/start.c: begin at (t, s->bound.y, s->bound.yp), made consistent as `init` says. */
dae_status solver_begin(dae_solver *s, double t, dae_init init);
/* After that, at values that meet the equations: where these do not determine y', as where the
 * coefficient of a derivative vanishes, by their derivatives; or an error that says so. */
dae_status solver_settle_singular(dae_solver *s, double t);
/* Callbacks in a formulation that chooses positions: at the start (`anew`), or after a step where
 * the choice has become bad; then s->bound.choices grows, and the method has to start at
 * s->bound.y, s->bound.yp. */
dae_status forms_choose(dae_solver *s, double t, bool anew);
/* First step size towards tend, signed. */
double solver_first_step(const dae_solver *s, double tend);
/* Error weights at y, with the checks that belong to them. */
dae_status solver_update_weights(dae_solver *s, double t, const double *y);

/* solve/run/step.c: whether values at t can be asked for; values of the form that is integrated
 * into s->bound.at_y and s->bound.at_yp, projected as the options say. */
dae_status solver_check_point(dae_solver *s, double t, const char *call);
dae_status solver_point(dae_solver *s, double t);
/* The end of a public call: `status`, unless a callback asked to stop in it. */
dae_status solver_heed_stop(dae_solver *s, dae_status status);
/* Values on the last step, without checks. */
void solver_interpolate(const dae_solver *s, double t, int derivative, double *y);

/* solve/run/output.c: whether algebraic variables have to be corrected at t, since the interpolant
 * of the method is not good enough for them; and their correction in s->bound.at_y with the factors
 * of the step: EVAL_RETRY if these do not serve. The run goes on as if nothing had been looked at.
 */
bool output_is_rough(const dae_solver *s, double t);
/* Whether t lies within a step of a method whose interpolant is to be looked at. */
bool output_is_between(const dae_solver *s, double t);
eval_status output_correct(dae_solver *s, double t);
/* The same for values that are known to be within the tolerances: a little better, if they can be.
 */
dae_status output_polish(dae_solver *s, double t);
/* at_y where variables jump without an event: as the equations say, if that is near the values at
 * the ends of the step. A voltage that a current determines only up to rounding is not: there the
 * method's own values are taken. */
dae_status output_beside_jump(dae_solver *s, double t);

/* solve/run/jump.c: after a failed error test, exempt the algebraic variables that jump without an
 * event from it; whether there are any new ones, so that the step is worth another try. */
bool jump_exempt(dae_solver *s, const attempt *a);
/* The same where the run would have to end because of algebraic variables alone. */
bool jump_last_resort(dae_solver *s, const attempt *a);
/* After an accepted step: how large the variables are. */
void jump_note(dae_solver *s);
/* unwatched.c: after an accepted step, multipliers that are far off. */
void unwatched_note(dae_solver *s);
void jump_forget(dae_solver *s);
/* The user hears of a variable that jumps at t, once; whether y is beyond what variable i was on
 * ordinary steps, as near a pole. For models. */
void jump_tell(dae_solver *s, int i, double t);
bool jump_outgrown(const dae_solver *s, int i, double y);

/* solve/run/leap.c: after a failure of the step from t_new: over a change of algebraic variables
 * that no step resolves. Whether the solver is ready behind it. */
bool leap_over(dae_solver *s, dae_status failed, double tend);

/* solve/run/unresolved.c: how large variables are: at a start from y0 (NULL: a model's own values),
 * and at a point of what is integrated. */
void sizes_start(dae_solver *s, const double *y0);
void sizes_note(dae_solver *s, const double *y, const double *yp);

/* solve/explain/explain.c: failures in words. Each returns the status it puts into the diagnostic.
 */
dae_status explain_evaluation(dae_solver *s, eval_status status);
dae_status explain_events(dae_solver *s, eval_status status);
dae_status explain_interrupt(dae_solver *s);
/* A variable has no finite value at t, in the last step. */
dae_status explain_no_row(dae_solver *s, double t, const char *name);

/* dae_solver_new, dae_solver_start and dae_solver_step without the scope that interrupts them. */
dae_status solver_new(const dae_problem *problem, const dae_options *options, dae_solver **solver,
                      dae_diag *diag);
dae_status solver_start(dae_solver *s, double t0, const double *y0, const double *yp0);
dae_status solver_step(dae_solver *s, double tend);
dae_status explain_stiff(dae_solver *s);
dae_status explain_stall(dae_solver *s, double tend); /* explain_stall.c */
/* What a model's equations say about steps that had to become tiny. Whether they say anything. */
bool explain_small_steps(dae_solver *s);
dae_status explain_max_steps(dae_solver *s, double tend);
dae_status explain_weights(dae_solver *s, int variable);
dae_status explain_accuracy(dae_solver *s, double factor);
dae_status explain_rejections(dae_solver *s, const attempt *a, const char *limit);
/* A solution that has grown far beyond its start, and grows on: the diagnostic of a failure tells
 * that instead, which is its cause. Returns status (explain_growth.c). */
dae_status explain_growth(dae_solver *s, dae_status status);
/* A start that fails at values of parameters where equations depend on each other: name these
 * first. Returns status (explain_parameters.c). */
dae_status explain_parameters(dae_solver *s, double t, dae_status status);
dae_status explain_fatal(dae_solver *s, const attempt *a);

/* solve/run/rounding.c: whether the tolerances are below what rounding in the equations permits
 * where a run to tend stands. If so they are raised to that from here on, with a note, or the
 * diagnostic tells it. stalling: it goes on, but in steps that lead nowhere. */
typedef enum rounding_result { ROUNDING_FINE, ROUNDING_HELD, ROUNDING_TOO_MUCH } rounding_result;
rounding_result rounding_look(dae_solver *s, double tend, bool stalling);

/* solve/explain/explain_rank.c: tell if the equations of a model lose rank at a point of its base
 * form; false: they do not, or it cannot be told. */
bool explain_rank(dae_solver *s, double t, const double *base_y, const double *base_yp);

#endif
