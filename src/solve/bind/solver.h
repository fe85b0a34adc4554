/* The solver handle: a few parts, and the rooms above that read and change them. */
#ifndef DAE_SOLVE_BIND_SOLVER_H
#define DAE_SOLVE_BIND_SOLVER_H

#include "base/persist.h"
#include "base/recycle.h"
#include "control/stall.h"
#include "control/step_control.h"
#include "control/stiffness.h"
#include "solve/bind/binding.h"
#include "solve/bind/discrete.h"
#include "solve/bind/mode.h"
#include "solve/bind/monitors.h"

typedef enum solver_phase {
    PHASE_NEW = 0, /* not started */
    PHASE_READY,   /* at a consistent point, no step taken: the method starts with the first step */
    PHASE_RUNNING,
    PHASE_ENDED /* a terminal event was returned */
} solver_phase;

/* Work that was done at two times of a run, the first when it was at most half of the second */
typedef struct work_rate {
    double t[2], work[2];
} work_rate;

/* What decides whether native code pays (solve/hybrid/hybrid_code.c). */
typedef struct code_watch {
    long calls, next;    /* steps and events; when to think about it again */
    double clock, asked; /* when the first one was; when the compiler was asked last; seconds */
    work_rate tape;      /* instructions of the tape */
    work_rate lists;     /* seconds that lists eliminated matrices, all solvers of the problem, */
    double lists_before; /* and those before this run; */
    bool lists_seen;     /* they are known */
    double end;          /* where the last call wanted to go, */
    int ends;            /* and how many such ends there were */
    long processors;     /* of the machine; 0: not known yet */
    bool first;          /* the form that is integrated first was compiled, as the user asked */
    bool begun;          /* a compiler was started */
    bool busy;           /* one is at work */
    bool over;           /* there will be none */
    bool told;           /* the user knows why */
} code_watch;

/* Points of a run that it may go back to, in the user's unknowns: y and then y' of each. */
typedef struct past_points {
    double *values; /* 4 n, owned; NULL: the method is not our choice */
    double t[2];    /* the older one first; both where the method started at first */
    long step;      /* number of the step that ended at the newer one */
} past_points;

/* What the step size before an event says of the first one behind it. */
typedef struct resumption {
    double h;     /* the size before it, as far as it counts; 0: the method starts from nothing */
    double share; /* of such sizes that first steps had of late; 0: not known, all of it */
    double tried; /* the first step behind the last event, until one is accepted; else 0, */
    long before;  /* and the attempts before it */
} resumption;

/* What GMRES costs where it is our choice: failures, 10 each, less 1 for every step since; and the
 * counts where the steps began that are looked at. */
typedef struct hardship {
    int failures;
    long unmet; /* of the matrix before the attempt */
    long steps, iterations, factorings;
} hardship;

/* Where a run stands, what controls its steps, and what it has reported. */
/* A method of another family, where one has failed: what it may cost. */
typedef struct fallback {
    char from[24];    /* the method that failed last; "": the trouble is over */
    double t, beyond; /* where it failed; it is over when a step has come beyond this */
    long attempts;    /* no more attempts than this, of the run */
    dae_status failed;
} fallback;

typedef struct run_state {
    solver_phase phase;
    double t;            /* where the solver stands */
    double t_old, t_new; /* the last step */
    double direction;    /* +1, -1, or 0 while unknown */
    double searched;     /* events up to here have been reported */
    double goal;         /* the end time of the last call */
    double end;          /* the only one that was asked for since the start; NAN: there were others,
                            or none */
    bool headed;         /* one was asked for */
    long before;         /* steps of the starts before this one */
    bool terminated;     /* by the model */
    code_watch code;     /* when native code is looked for, and made */

    step_control control;
    resumption resumption;
    stiffness stiffness;
    past_points past;
    double shown; /* the user has seen the run up to here; NAN: up to t */
    stall stall;
    hardship gmres;
    fallback fallback;
    unsigned stalled; /* families whose steps have come nowhere since the start */
    attempt last;
    double *last_values;   /* its vectors behind the reading of a checkpoint; owned, NULL: none */
    double tried;          /* the step that was tried first, where it ended or will end */
    bool evaluation_first; /* a callback was the first to reject the step that is tried */
    bool index_suspect;    /* residual callbacks may have an index that the method is not for */
    bool watch_due;        /* states are to be looked at before the next step */
    long leap_step;        /* number of the step after which the last leap was, */
    int leaps;             /* and how many there were since */
    double *sizes; /* per unknown of base: largest value at the ends of steps; then per unknown:
                      value that a start gave it, 0: none */

    double *floors; /* per unknown of base, then per derivative of it: what rounding has raised its
                       tolerance to, 0: nothing; NULL: none is raised */
    double floor_told; /* by how many times; the worst that the user knows of, 0: none */

    bool jump_reported;      /* the user knows of one */
    bool unwatched_reported; /* of multipliers that are not in the error test */
    int unwatched_steps;     /* in a row with estimates of them that are too large */
    bool follower_reported;  /* of variables that magnify rounding errors of those integrated */
    bool doubt_reported;     /* and of values between steps that are not as good as asked for */

    /* A history handed over by dae_solver_start_history; owned, freed when consumed. */
    int history;
    double *past_t, *past_y;
} run_state;

/* Who follows a run, step by step: what integrates sensitivities beside it. A negative status ends
 * the call with s->diag. */
typedef struct run_observer {
    void *user;
    dae_status (*started)(void *user);  /* consistent values stand at s->run.t */
    dae_status (*advanced)(void *user); /* the run has come to s->run.t, within the last step */
    dae_status (*before_event)(void *user);
    /* A pass of the event: discrete and continuous values agree; clauses that are active are about
     * to act, and pre(v) := v follows. */
    dae_status (*acting)(void *user);
    dae_status (*after_event)(void *user);
    /* The run goes on where its solution is not smooth, and nothing was found of when: on another
     * branch of its equations, or beyond a change that no step resolves. */
    void (*broken)(void *user, const char *what);
    dae_status (*restarting)(void *user); /* the user is about to change values or equations */
    void (*finished)(void *user);         /* the run is over */
    void (*gone)(void *user);             /* the solver is being freed */
    /* A call is about to go towards tend; values at t are asked for from outside of the run, by the
     * interpolant of the method alone where they are `taken`. NULL: nobody wants to know. */
    dae_status (*stepping)(void *user, double tend);
    dae_status (*asked)(void *user, double t, bool taken);
} run_observer;

struct dae_solver {
    const run_observer *observer; /* borrowed; NULL: none */
    const dae_problem *base;      /* the user's problem; borrowed */
    dae_options base_options;     /* the user's; arrays owned, strings static */
    double *steps;                /* its step_sequence, which options of bindings borrow; owned */
    dae_table *table;             /* that options->table of all copies is; owned, or NULL */
    dae_herk_options herk;        /* what all copies of them refer to, if the user gave it, */
    dae_integrator integrator;    /* and this one */
    wishes wishes; /* what plans are made by: those options, and what runs have shown */
    char why_linear[CHOICE_TEXT]; /* dae_solver_linear() */
    double factor_work;           /* operations of a factorisation, where GMRES was chosen for it */
    char why[CHOICE_TEXT];        /* the method at work in one line, where it is our choice */
    char reason[CHOICE_TEXT];     /* wishes.reason behind the reading of a checkpoint */
    dae_stats stats;
    dae_diag diag;
    eval_failure stop; /* a callback asked for it during this call (code < 0) */

    binding bound;
    run_state run;
    hybrid *hybrid;       /* discrete side of a model; NULL for callbacks */
    mode_list *modes;     /* modes of a model; NULL for callbacks */
    monitors *monitors;   /* invariants and constraints that are watched; NULL: none */
    struct team *threads; /* opt.threads; owned, NULL: this one alone */
    bool threads_told;    /* that they are fewer */
    recycler spare;       /* short blocks that starts use again */
};

/* ---- solve/api/options.c: what the user asked for ---- */

/* *full = the caller's options, of which it may know fewer or more fields; NULL: the defaults. */
dae_status options_read(const dae_options *options, dae_options *full, dae_diag *diag);
/* The same, with one method in the place of name, order and variant. */
dae_status options_complete(const dae_options *options, dae_options *full, dae_diag *diag);
dae_status options_check(const dae_options *options, const dae_problem *problem, dae_diag *diag);
dae_status options_copy(dae_options *copy, const dae_options *options, int n, dae_diag *diag);
void options_free(dae_options *copy);
/* opt.herk (solve/api/options_herk.c): as given, of any size, NULL: all defaults; whether it is
 * sound, and the method heeds it; whether steps follow the thesis' control. */
dae_status herk_options_read(const dae_herk_options *given, dae_herk_options *full, dae_diag *diag);
dae_status herk_options_check(const dae_options *o, dae_diag *diag);
bool herk_options_adaptive(const dae_options *o);

/* ---- solver.c ---- */

/* dae_solver_new without the scope that interrupts it. */
dae_status solver_new(const dae_problem *problem, const dae_options *options, dae_solver **solver,
                      dae_diag *diag);

/* Steps never pass it: opt.stop_time, else, where the method is our choice, the end of the run as
 * long as only one was asked for. NAN: there is none. */
double solver_stop_time(const dae_solver *s);

/* Whether GMRES solves the linear systems, and that is our choice. */
bool solver_iterates(const dae_solver *s);

/* ---- bind_callbacks.c ---- */

/* Callbacks: make a plan by s->wishes, and bind it; what was bound before goes. */
dae_status bind_callbacks(dae_solver *s, dae_diag *diag);

/* ---- bind_model.c ---- */

/* Make a plan for the mode that the memory says, at values of the user's unknowns, and keep it. The
 * equations `release` are left out; NULL: none. */
dae_status ask_for_mode(dae_solver *s, double t, const double *y, const double *yp,
                        const bool *release, model_mode **result);
/* The same for consistent values of v, which has no form so far. */
dae_status ask_for_levels(dae_solver *s, double t, const double *y, const double *yp,
                          model_mode *v);
/* Integrate what belongs to a mode, or the model as it is written, from values of the user's
 * unknowns. */
dae_status bind_mode(dae_solver *s, model_mode *v, const double *user_y, const double *user_yp);
dae_status bind_written(dae_solver *s, const double *user_y, const double *user_yp);
/* The latter from the values at hand. */
dae_status bind_as_written(dae_solver *s);
/* The same by the reduced system of a derivative array. */
dae_status bind_array(dae_solver *s, model_mode *v, const double *y, const double *yp);
/* Whether the solver integrates what belongs to the memory as it is. */
bool is_mode_bound(const dae_solver *s);
/* See to it that it does: the values at hand are carried over. */
dae_status bind_mode_at_hand(dae_solver *s, double t);
/* Nothing is integrated, values are those of the user's unknowns: for starts. */
dae_status release_mode(dae_solver *s);
/* The same, and all modes are forgotten: the method is chosen anew. */
dae_status forget_modes(dae_solver *s);
/* The problem of a mode with the choice of states it has. */
dae_status describe_mode(dae_solver *s, model_mode *v);

/* modes_persist.c: the modes of a checkpoint. Reading, where there are none: plans are made again
 * from what they were made from. *current: the one whose form is integrated, NULL: the model as it
 * is written. */
dae_status modes_persist(dae_solver *s, persist *p, model_mode **current);
/* Nothing is bound, no mode is known, discrete values are those of a new solver. */
dae_status model_hold(dae_solver *s, dae_diag *diag);

/* ---- values.c: the solution in terms of what is integrated, and in the user's ---- */

/* Values on the last step, without checks. */
void solver_interpolate(const dae_solver *s, double t, int derivative, double *y);
/* Whether the form of a mode is integrated, with unknowns of its own; or at least other unknowns
 * than the user has. */
bool is_formulated(const dae_solver *s);
bool solver_rewritten(const dae_solver *s);
/* The user's unknowns from those, and s->bound.y, s->bound.yp from the user's, by the map of the
 * binding; where they are the same, NULL leaves what is there. */
void values_to_user(const dae_solver *s, double t, const double *y, const double *yp,
                    double *user_y, double *user_yp);
void values_from_user(dae_solver *s, const double *user_y, const double *user_yp);
/* Those of the user where the solver stands, y and then y'; the caller frees them. NULL: memory. */
double *user_values(const dae_solver *s);
/* Where unknown i of the user, or its derivative, is in the form that is integrated. */
model_place place_of(const dae_solver *s, int i, bool slope);
/* The user's unknown that is unknown i of the present form; -1: none. */
int user_unknown(const dae_solver *s, int i);
/* What has no place there: look at a point, then ask for its value, or slope. */
void look_at_eliminated(const dae_solver *s, double t, const double *y, const double *yp);
double value_of_eliminated(const dae_solver *s, int i, bool slope);
/* floors.c: tolerances that rounding has raised hold for the run. Those of the present form are
 * kept; a form that is bound takes them; a run begins without. false: memory. */
bool floors_keep(dae_solver *s);
bool floors_take(dae_solver *s);
void floors_drop(dae_solver *s);
/* followers.c: the tolerances of unknown i of a model as it is written. */
double model_rtol(const dae_solver *s, int i);
double model_atol(const dae_solver *s, int i);
/* From now on weights are by what follows from the unknowns, too; false: memory. */
bool followers_bind(dae_solver *s);
void followers_free(struct followers *followers); /* NULL is fine */
void followers_start(dae_solver *s);
void followers_persist(dae_solver *s, persist *p);
/* A line for the user, through opt.message, of characters that may be shown. */
void solver_note(const dae_solver *s, const char *text);
/* The file of the model, or its name, for messages. */
const char *model_file(const dae_solver *s);

#endif
