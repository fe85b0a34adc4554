/* What the files of this room share: sensitivities S = dY/dp of what is integrated, or would be by
 * an index-1 form of the same equations, F(t, Y, Y') = 0:
 *
 *     dF/dY S + dF/dY' S' + dF/dp = 0
 *
 * The solver whose form that is, `lead`, is the run's own where its form has index 1 and shows all
 * constraints, else a companion that is bound to such a form and never steps. docs/sensitivity.md.
 */
#ifndef DAE_SOLVE_SENSITIVITY_SENSITIVITY_PARTS_H
#define DAE_SOLVE_SENSITIVITY_SENSITIVITY_PARTS_H

#include "matrix/iteration.h"
#include "method/common/collocation.h"
#include "model/model_tangent.h"
#include "solve/bind/solver.h"

/* ---- directions.c: by what, and what moves with it ---- */

typedef struct direction {
    int parameter; /* of the model; -1: */
    int variable;  /* the start value of this flat variable; -1: */
    int memory;    /* a slot, which the shift of an input reads; -1: a number of callbacks */
    double size;
} direction;

typedef struct directions {
    int count;  /* that are integrated: those with names, or one that is mixed from them, */
    int errors; /* and as the last ones errors of the run and what they do (run_error.c) */
    int named;
    direction *list;       /* named */
    bool by_start;         /* one of them is a start value */
    double *mix;           /* named: parts in the mixture; owned, NULL: there is none */
    tangent_inputs inputs; /* parameters that move in some direction, then discrete Reals, */
    int first_discrete;    /* from this number on: events set how they move; then delayed values */
    double *moved;  /* rows of inputs.count, how fast they move: named, then mixture or errors */
    int *dependent; /* parameters that follow from others that move; owned, */
    int dependent_count;
    model_tangent *bindings; /* derivatives of their values, */
    model_tangent *starts;   /* and of the start values of all flat variables */
} directions;

dae_status directions_new(directions *d, const dae_solver *s, const dae_sensitivity_request *r,
                          dae_diag *diag);
/* The same of a list, which is copied. */
dae_status directions_listed(directions *d, const dae_solver *s, const direction *list, int count,
                             dae_diag *diag);
/* Whether parameter p of a model can move; `what` begins the message. */
dae_status directions_check(const flat_parameter *p, const char *what, dae_diag *diag);
void directions_free(directions *d);
/* The rates of all parameters at their present values; discrete Reals rest. */
void directions_start(directions *d, const model_instance *m);
/* Integrate one mixture of them, in parts of their sizes that nothing favours. False: memory. */
bool directions_mix(directions *d);
/* Make room for this many columns of errors behind them; once, before a start. False: memory. */
bool directions_add_errors(directions *d, int errors);
/* The mixture follows what its parts are now. */
void directions_remix(directions *d);
/* What moves in the k-th direction with a name, and in the k-th that is integrated. */
static inline double *directions_named(const directions *d, int k)
{
    return d->moved + (size_t)k * (size_t)d->inputs.count;
}
static inline double *directions_moved(const directions *d, int k)
{
    return directions_named(d, d->mix ? d->named + k : k);
}
/* What a move in direction k, which is integrated, is of the size of; errors are those of y. */
static inline double directions_size(const directions *d, int k)
{
    return d->mix || k >= d->named ? 1.0 : d->list[k].size;
}
/* Whether the start value of a flat variable moves in some direction with a name. */
bool directions_move_start(const directions *d, const model_form *f, int variable);
/* How many are integrated for themselves: errors are behind them. */
static inline int directions_asked(const directions *d)
{
    return d->count - d->errors;
}
/* Derivative of the start value of a flat variable in the k-th direction with a name, or that is
 * integrated. */
double directions_start_value(const directions *d, const model_form *f, int k, int variable);
double directions_start_rate(const directions *d, const model_form *f, int k, int variable);

/* ---- lead.c: the equations that are linearised ---- */

/* Derivatives of what a form computes, made once for each. */
typedef struct form_tangents {
    const model_form *form;
    bool constant;            /* those by unknowns and slopes, which are not here, never change */
    model_tangent *rows;      /* of its equations, by inputs and time alone */
    model_tangent *crossings; /* of its relations, */
    model_tangent *outputs;   /* of all variables, */
    model_tangent *actions;   /* of what events compute (jump.c), */
    model_tangent *delayed;   /* and of what is delayed; NULL: not asked for so far */
    bool delayed_states;      /* which reads states alone */
    bool past_checked;        /* rows have no derivatives by time of delayed values */
    struct form_tangents *next;
} form_tangents;

/* What a lead is known by: another one has other unknowns, or another pattern. */
typedef struct lead_key {
    const dae_problem *problem;
    const model_mode *mode;
    const method *method;
    long choices;
} lead_key;

typedef struct lead {
    dae_solver *solver; /* the run's, or the companion; NULL: none stands */
    dae_solver *companion;
    lead_key key;
    int n;
    const model_form *form; /* NULL: callbacks */
    form_tangents *tangents;
    form_tangents *all; /* of forms so far; owned */
    iteration matrix;   /* its derivatives at a point, and factors; while solver is not NULL */
    bool constant;      /* these derivatives are the same everywhere, */
    bool evaluated;     /* and were taken */
    bool plain;         /* its constraints do not show: S can be integrated, but not completed */
    double *y, *yp;     /* of that point, n each; owned */
    double at;          /* the time of these values; NAN: there are none */
    bool as_taken;      /* they are to be those that an event at work takes, */
    bool as_solved;     /* or those of the run's own stages */
    double *forms;      /* 7 n, for differences of callbacks in mechanical form; behind y */
    bool renew;         /* the companion has chosen other positions: make another one */
    double *user;       /* values of the run in its user's unknowns, y, then y'; owned */
    double *weights;    /* error weights of Y there, borrowed */
    double *work;       /* n, */
    double *values;     /* numbers that callbacks read, while they are moved; both behind y */
    double row; /* the time at which values were given out last, with linearised equations */
    double row_outputs; /* .. and derivatives of all variables; NAN: these are of another time */
} lead;

struct stage_system;

/* A step of the sensitivities: S(t + x h) = S0 + sum_j weight_j(x) Z_j. */
typedef struct piece {
    const collocation *method;
    double t, h;
    double *start, *stages; /* count rows of n; count times stages rows of n; owned */
} piece;

struct tangent_ledger;

/* Who keeps all that is done to the first direction: the adjoint. */
typedef struct step_recorder {
    void *user;
    bool any_stages; /* steps may have the stages of the run's, and their number (own_stages.c) */
    /* Takes the place of collocation_step, NULL: nothing does. */
    dae_status (*walk)(void *user, double h, double *error);
    /* A step of length h from x->t is about to be taken; stages: X_a - S of the first direction. */
    dae_status (*step)(void *user, double h, const double *stages);
    /* Whether it may be: *error grows to what the step would be wrong by, in tolerances. */
    dae_status (*judge)(void *user, double h, const double *stages, double *error);
    dae_status (*started)(void *user);
    bool (*integrates)(void *user, int i);  /* variable i of the model: a jump of it counts */
    dae_status (*event_begins)(void *user); /* with values before it */
    dae_status (*event_ends)(void *user);   /* with those behind it */
    dae_status (*changed)(void *user);      /* the ledger is complete */
} step_recorder;

struct dae_sensitivity {
    run_observer observer;
    const char *what; /* for messages: "Sensitivities" */
    bool apart;       /* states are chosen beside those of the run */
    int states;       /* directions that are states where it begins, the first ones; -1: names */
    dae_solver *run;  /* borrowed; NULL: it was freed */
    dae_sensitivity_request request;
    directions directions;
    lead lead;
    struct stage_system *system; /* of the method at hand; NULL at first */
    const collocation *method;   /* of the step at hand, */
    const collocation *usual;    /* and of those that do not have the stages of the run */
    struct stage_system *aside[COLLOCATION_STAGES + 1]; /* systems of other numbers of stages */

    double t;       /* where S stands */
    bool stands;    /* it has values */
    double *s, *sp; /* count rows of lead.n: S and S' there; owned */
    double *rates; /* of states where the run began, named rows of the lead's size then; owned, kept
                      for mixtures alone */
    const step_recorder *recorder; /* borrowed; NULL: none */
    struct tangent_ledger *ledger; /* what it records between steps; borrowed, NULL: nothing */
    double h;                      /* the step that the error test permits; 0: no limit known; */
    double part;   /* of estimates that counts as the error; 1 unless own_stages.c says so */
    piece *pieces; /* of the last step of the run; owned */
    int piece_count;
    size_t piece_room;

    struct run_error *error;   /* what errors of the run do to S; owned, NULL: not looked at */
    struct rough_watch *rough; /* jumps inside of noEvent; owned, NULL: none is watched */
    double *rough_work;        /* owned */
    const char *broken;        /* what the run has met that S cannot pass; static, NULL: nothing */
    double broken_t;
    struct jump *jump;         /* an event at work, or the last one; owned */
    struct tangent_past *past; /* of derivatives of delayed values; owned, NULL: there are none */
    dae_sensitivity_stats stats;
};

/* Choose and bind the lead of the run at a time of its last step, for the mode that it is in.
 * `whole`: S is to be completed from its states; else the run's own form will do where its
 * constraints do not show, such as those of C (u1' - u2') = i. */
dae_status lead_take(dae_sensitivity *x, double t, bool whole);
/* The same, and S moves over to its unknowns. */
dae_status lead_change(dae_sensitivity *x, bool whole);
/* The same of a companion, at values of the user's unknowns, y and then y', beside the run. */
dae_status lead_take_at(dae_sensitivity *x, double t, const double *y);
void lead_free(lead *l);
/* Whether what is bound now is what was taken. */
bool lead_stands(const dae_sensitivity *x);
/* Values of the lead's unknowns at a time of the run's last step, in l->y and l->yp. */
dae_status lead_values(dae_sensitivity *x, double t);
/* Keep them, 2 n of them, and take them again: a run that is asked for its values a second time may
 * have to take steps of its own for them, from the beginning of its last one. */
void lead_keep(const lead *l, double *point);
void lead_recall(lead *l, double t, const double *point);
/* Whether its states are a companion's choice, which numbers may change. */
bool lead_states_may_change(const dae_sensitivity *x);
/* Whether the states that a companion has chosen are good there, after lead_values. Else others
 * have been: it must be taken anew. */
bool lead_states_hold(dae_sensitivity *x, double t);
/* dF/dY and dF/dY' at l->y, l->yp, in l->matrix.jac. */
dae_status lead_linearise(dae_sensitivity *x, double t);
/* out = dF/dp_k of callbacks at (t, y, y'), for the k-th direction with a name. */
dae_status lead_explicit_named(dae_sensitivity *x, double t, const double *y, const double *yp,
                               int k, double *out);
/* out = dF/dp_k + dt dF/dt at l->y, l->yp, after lead_linearise. */
dae_status lead_explicit(dae_sensitivity *x, double t, int k, double dt, double *out);
/* Derivatives of crossing functions, or of all variables, taken there. NULL: memory. */
model_tangent *lead_crossings(dae_sensitivity *x, double t);
model_tangent *lead_outputs(dae_sensitivity *x, double t);
/* The same of discrete equations, then of the actions of all when-clauses, in their order. */
model_tangent *lead_actions(dae_sensitivity *x, double t);
/* The same of what delays delay; refused where the form does not reach it. */
dae_status lead_delayed(dae_sensitivity *x, double t, const model_tangent **delayed);
/* The point as programs of the form read it. */
tape_inputs lead_point(const dae_sensitivity *x, double t);
/* Given the states in s: algebraic variables in s, and slopes of states in sp, along direction k
 * (-1: none) with dt of time; at the point that was linearised, whose states factor. */
dae_status lead_factor_states(dae_sensitivity *x);
/* After it: the values that follow from the states, by one Newton step. */
dae_status lead_settle(dae_sensitivity *x, double t);
/* After it, within the last step: how much faster than l->yp the smooth solution moves beside the
 * run, dY/dt in c and its slope in cp. */
dae_status lead_smooth(dae_sensitivity *x, double t, double *c, double *cp);
dae_status lead_complete(dae_sensitivity *x, double t, int k, double dt, double *s, double *sp);
/* The same with F_p in b, which is lost. */
dae_status lead_complete_with(dae_sensitivity *x, double t, double *b, double *s, double *sp);
static inline bool lead_is_state(const lead *l, int i)
{
    return l->solver->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
}
/* Options of a companion in the formulation `how`; NULL: the equations as they are given. */
dae_options lead_companion_options(const dae_options *tolerances, const char *how);
/* A solver of a model on its form of index 1 with all constraints, also where it fails. */
dae_status lead_companion_new(const dae_problem *base, const dae_options *tolerances,
                              dae_solver **companion, dae_diag *diag);
/* The same, at consistent values at t; refused where the equations have no such form. `what` begins
 * the message. */
dae_status lead_companion_start(const dae_problem *base, const dae_options *tolerances, double t,
                                const char *what, dae_solver **companion, dae_diag *diag);
/* Whether the form that a solver is bound to has index 1 and shows all constraints. */
bool lead_is_fit(const dae_solver *s);
/* Tangents in the user's unknowns, and back: n of the base each. */
void lead_to_user(const dae_sensitivity *x, const double *s, const double *sp, double *user_s,
                  double *user_sp);
void lead_from_user(const dae_sensitivity *x, const double *user_s, const double *user_sp,
                    double *s, double *sp);

/* ---- lead_forms.c: callbacks in mechanical form ---- */

bool lead_has_forms(const lead *l);
/* A companion for the run at t and values y, then y'. */
dae_status lead_take_form(dae_sensitivity *x, double t, const double *y, dae_solver **chosen);
/* Whether its choice of positions is good at l->y. */
bool lead_form_holds(dae_sensitivity *x, double t);
/* dF/dY and dF/dY' at l->y, l->yp by differences that are good enough for S. */
eval_status lead_sharpen(dae_sensitivity *x, double t);
/* dF/dp_k at (t, y, y'), likewise. */
eval_status lead_differ_form(dae_sensitivity *x, double t, const double *y, const double *yp, int k,
                             double *out);
/* Whether y0 of direction k meets the linearised constraints of positions and velocities. */
dae_status lead_check_start(dae_sensitivity *x, int k);

/* ---- collocation_step.c ---- */

/* One step of length h from x->t: x->s, x->sp move, a piece is kept; *error of it in tolerances.
 * Above 1 nothing has moved. */
dae_status collocation_step(dae_sensitivity *x, double h, double *error);
/* Columns first .. first + count - 1 of the stages Z, with the factors of the step at hand. */
dae_status stages_solve_more(dae_sensitivity *x, double h, int first, int count, double *stages);
/* What an error of 1 is in dY_i/dp_k, which goes from a to b. */
double sensitivity_weight(const dae_sensitivity *x, int k, int i, double a, double b);
/* S at a time of the pieces, direction k. */
void pieces_at(const dae_sensitivity *x, double t, int k, double *s, double *sp);
void pieces_drop(dae_sensitivity *x);

/* Steps are by this method from now on. */
void collocation_use(dae_sensitivity *x, const collocation *c);
/* Forget systems of the lead before. */
void collocation_drop_systems(dae_sensitivity *x);

/* ---- own_stages.c ---- */

/* One step over the whole last step of the run, at the stages that it has solved. *taken: it was;
 * else S stands where it stood, and steps of its own are to follow. */
dae_status own_stages_step(dae_sensitivity *x, bool *taken);

/* ---- stage_iteration.c ---- */

/* The stages Z of all directions for a step of length h, with matrices of the size of one stage.
 * *solved is false where few equations, or the rate of the iteration, call for one of all. */
dae_status stages_iterate(dae_sensitivity *x, double h, double *stages, bool *solved);
/* The same for more columns, with the factors that it has left. */
dae_status stages_iterate_more(dae_sensitivity *x, double h, int first, int count, double *stages,
                               bool *solved);

/* ---- start.c, jump.c ---- */

dae_status sensitivity_start(dae_sensitivity *x);
/* Derivatives by `states` states of the lead, whichever it has, then by parameters of a list: they
 * begin where the run stands when sensitivity_begin_states() is called, not with its start. */
dae_status sensitivity_by_states(dae_solver *s, int states, const direction *parameters, int count,
                                 const dae_sensitivity_request *tolerances,
                                 dae_sensitivity **result, dae_diag *diag);
dae_status sensitivity_begin_states(dae_sensitivity *x);
/* Derivatives of the user's unknowns, and of their slopes, at a time of the last step. */
dae_status sensitivity_user(dae_sensitivity *x, double t, int k, double *dy, double *dyp);
/* Room for S of the lead's size. */
bool sensitivity_room(dae_sensitivity *x);

dae_status jump_before(void *user);
dae_status jump_acting(void *user);
/* Whether clocks that strike where the run begins stay there. */
dae_status jump_check_start(dae_sensitivity *x);
dae_status jump_after(void *user);
/* dY/dt of the lead's states behind the last event, as S has left it. */
const double *jump_slopes(const struct jump *j);
void jump_free(struct jump *j);
/* Time and derivative of the last event; false: there was none. */
bool jump_last(const struct jump *j, int k, double *time, double *derivative);

dae_status sensitivity_no_memory(const dae_sensitivity *x);

#endif
