/* Events of models: relations, when, sample, reinit, assert and terminate. */
#ifndef DAE_SOLVE_HYBRID_HYBRID_H
#define DAE_SOLVE_HYBRID_HYBRID_H

#include "model/model.h"

struct dae_solver;

/* Steps of models that are chosen without knowing the solution, the first one and the last before a
 * time event, are this part of the way: a simple fraction would meet sin(2 pi time) at its zeros,
 * one step after the other, and take it for a constant. No ratio is further from simple ones. */
#define GOLDEN 0.61803398874989485

/* sample(start, interval): event number `count` is at start + count interval. */
typedef struct sample_clock {
    double start, interval, count, next;
} sample_clock;

/* Why an update is due. */
typedef enum event_cause {
    EVENT_NONE = 0,
    EVENT_CROSSING, /* relations cross, as the event finder's flags tell */
    EVENT_SAMPLE,   /* a clock strikes */
    EVENT_OVERDUE,  /* a relation was found on its other side after the fact */
    EVENT_LEAVING   /* relations leave zero after the start */
} event_cause;

/* What is remembered of the events of a relation. */
typedef struct relation_trace {
    double when;      /* its last one; NAN: none yet */
    double gap;       /* from the one before to it */
    double ratio;     /* of the last two gaps */
    int flag;         /* which way, */
    int returns;      /* how often in a row it came back before it could be seen to leave */
    int small;        /* how often in a row it stayed within the tolerances between two events, */
    double tolerance; /* which are this for its crossing function, */
    double rounding;  /* and its rounding this, 0 if not known, */
    double peak;      /* how far it went off zero between its last two events */
    int age;          /* so and so many events ago; */
    double flight;    /* how long that took, */
    double onwards;   /* and where it was about to be a part of that later */
    int shrinks;      /* how often the gap became shorter; halved if it did not */
    int resting;      /* +-1: it does so again and again, and is held on this side, else 0, */
    double band;      /* as long as its crossing function is within this; */
    bool reacted;     /* the model has had another event since */
} relation_trace;

/* Bounds of crossing functions (hybrid_range.c). */
typedef struct relation_ranges relation_ranges;
/* Changes of relations of time that are no events (hybrid_seams.c). */
typedef struct time_seams time_seams;
/* The same of variables (hybrid_state_seams.c). */
typedef struct state_seams state_seams;

/* Algebraic equations as they are written, for methods on other forms (hybrid_branch.c). */
typedef struct base_branch base_branch;

/* How far outputs move with the states (doubtful_outputs.c). */
typedef struct output_doubt output_doubt;
void output_doubt_free(output_doubt *d);

/* What a solver keeps for a model beside its instance. */
typedef struct hybrid {
    model_instance *instance; /* of the form that is integrated; borrowed, or `own` */
    model_instance *own;      /* of the base form; owned */
    sample_clock *sample;     /* per sample */
    double next_time;         /* the earliest of their next times; INFINITY: none */
    double *crossing;         /* work: values of the crossing functions, */
    double *crossing_ahead;   /* and a moment later, */
    double *crossing_entry;   /* and before the event at hand */
    double *zero;             /* per relation: its crossing function at its last event */
    bool *decided;            /* per relation: by the event at hand */
    relation_trace *trace;    /* per relation */
    relation_ranges *ranges;  /* owned; NULL: not needed so far */
    time_seams *seams;        /* owned; NULL: not needed so far */
    state_seams *state_seams; /* owned; NULL: not needed so far */
    double cut, cut_from;     /* a seam of them, for the step from there; NAN: none */
    int cuts;                 /* how often that step was made */
    double close_from;        /* of seams that follow each other closely, the first; NAN: none, */
    int close;                /* and how many there were since */
    int *active;              /* per when: its active branch, -1 */
    double *reset;            /* per unknown: what reinit gives it, */
    bool *is_reset;           /* if it does */
    bool *is_held;            /* per unknown: reinit has set it in the event at hand */
    bool solved;              /* continuous values agree with the memory in `before` */
    double started;           /* initial time */
    double crowd_since;       /* events close to each other: since when, */
    int crowd;                /* and how many */
    double *assertion;        /* work: values of the assertions */
    double *ahead, *ahead_yp; /* work: y and y' a moment later, */
    double *tangent;          /* y' where that moment begins, */
    double *further;          /* y further along it, */
    double *further_yp;       /* and y' there */
    double *after, *after_yp; /* y and y' after the last event, */
    double event_time;        /* which was then */
    double thrown;            /* when reinit acted last; NAN: never */
    double first_step;        /* the first step from there is at most this; 0: no limit */
    double soon;              /* when that is */
    bool foreseen;            /* the equations have a solution then */
    double window;            /* part of that moment which times can tell apart */
    double *before;           /* work: memory before a pass */
    double *outputs;          /* work: all visible variables */
    bool *warned;             /* per assertion at level warning: told once */
    output_doubt *doubt;      /* how far outputs move with the states; NULL: not looked at yet */
    bool *undefined; /* per visible variable: an output that had no finite value: reported once */
    event_cause pending;         /* an event was located and reported, its update is due */
    long calls;                  /* steps and events since the start */
    bool slow_reported;          /* the user knows how long it would take */
    bool uncertain_reported;     /* and which events are chance */
    bool no_memory;              /* a value could not be computed for lack of it */
    double fold;                 /* the last one was then */
    double fold_ahead;           /* where the branch ends within step number fold_step, */
    long fold_step;              /* which goes beyond; 0: none does */
    dae_diag fold_reason;        /* what is said if there is no other branch */
    int approaches;              /* to the next one */
    const model_form *pieces_of; /* the form whose equations were looked at: */
    bool pieces;                 /* they have pieces */
    double *track, *track_yp;    /* work: y and y' where a step begins */
    double *branch, *branch_yp;  /* work: y and y' on a branch of solutions */
    bool fold_reported;          /* the user knows of one */
    bool beyond_reported;        /* and of a relation that is left behind after its events */
    base_branch *base;           /* owned; NULL: not needed so far */
    bool branches_hidden;        /* from the method at hand: `base` is asked */
    bool branch_ended;           /* as the watch of ranks saw */
    double rescued;              /* another mode was sought at the event then */
    bool given;                  /* started at values that stay */
    bool at_start;    /* relations and floor have their values at t, not a moment later */
    double direction; /* of time: +1 or -1 */

    /* The initial system of the model, if it has one: a problem and a solver of its own. */
    model_instance *initial;
    dae_problem *initial_problem;
    struct dae_solver *initial_solver;
    double *initial_y, *initial_yp; /* its unknowns */
    int *fixed_by;            /* per unknown: the variable whose fixed start value it has, -1 */
    int conflict;             /* a variable whose fixed start value contradicts another's, -1 */
    double *start;            /* n: the start values given */
    double *entry, *entry_yp; /* n each: the values that the last search for consistent ones had */
    bool turned; /* unknowns that nobody gave are looked for on their negative side first */
    char other[DAE_TEXT_SIZE]; /* note of another solution at the start or event, "": none */
} hybrid;

/* NULL: out of memory. */
hybrid *hybrid_new(const model_form *form);
void hybrid_free(hybrid *h);

/* Go on with another form of the same model: memory and parameters are carried over. The instance
 * is borrowed, unless it is the first one. false: memory. */
bool hybrid_bind(hybrid *h, model_instance *instance);

/* Tags from `fixed` where there are initial equations, atol from `nominal`; false: memory. */
bool hybrid_options(const model_form *form, dae_options *options);

/* Switch to native code once it is asked for, or pays. */
void hybrid_consider_compiling(struct dae_solver *s);

/* Start values of the unknowns into s->bound.y and s->bound.yp. */
void hybrid_start_values(struct dae_solver *s);
/* Initialise at t: discrete values, relations and continuous values agree afterwards. */
dae_status hybrid_start(struct dae_solver *s, double t);
/* The same at given values, which stay: those of a history. */
dae_status hybrid_start_given(struct dae_solver *s, double t);
/* An event at s->run.t with the values in s->bound.y and s->bound.yp; anew: they are not those of
 * the solution. */
dae_status hybrid_restart(struct dae_solver *s, bool anew);
/* The first step after a start goes in this direction: an event is due if relations that are zero
 * there change at once. */
void hybrid_leave(struct dae_solver *s, double direction);
/* Update at the event at s->run.t; the solver is ready to go on, or has ended. */
/* Consistent values where the solver stands, for the memory as it is: no event. */
dae_status hybrid_begin_again(struct dae_solver *s);
dae_status hybrid_update(struct dae_solver *s);
/* The last event of a run, with terminal() true; the solver has ended. */
dae_status hybrid_finish(struct dae_solver *s);
/* values = all visible variables at a point, outputs evaluated; one note in a run tells of outputs
 * that are not finite. */
void hybrid_variables(struct dae_solver *s, double t, const double *y, const double *yp,
                      double *values);
/* The name of the first variable of a row without a finite value, outputs and discrete ones apart;
 * NULL: there is none. */
const char *hybrid_without_value(const struct dae_solver *s, const double *values);
/* Complete the diagnostic of a failure by the line of the equation it names; returns status. */
dae_status hybrid_explain(struct dae_solver *s, dae_status status);
/* Whether the crossings just found change a relation. One that comes back to the side where it is
 * already held to be does not: the interpolant wiggles where a solution leaves zero. */
bool hybrid_relation_changes(const struct dae_solver *s);

/* Whether the crossings just found are those of a relation that has not been seen to leave zero,
 * in the first step after an event: that step is then taken back, and a shorter one comes next. */
bool hybrid_take_back(struct dae_solver *s);
/* The first step after an event has failed: go on in another mode, if one holds where this one
 * determines nothing. */
bool hybrid_rescue(struct dae_solver *s, dae_status status);
/* A step has failed: whether the algebraic equations have another solution where it begins, on
 * which the run goes on. */
bool hybrid_fold(struct dae_solver *s, dae_status status);
/* The same where a step went beyond the end of its branch, which is at s->diag.t: a factor of an
 * algebraic variable passes through zero there (branch_ended). */
bool hybrid_fold_passed(struct dae_solver *s, dae_status status);

/* Where the branch ends within the last step, which is good up to there; NAN: it does not. */
double hybrid_fold_ahead(const struct dae_solver *s);

/* Go on from there on another branch; DAE_STEPPED, or why the run ends. */
dae_status hybrid_fold_now(struct dae_solver *s);
/* Whether a step of length h from s->run.t_new to y, y' ends on the branch of solutions on which it
 * began; asked where nothing else limits steps. */
bool hybrid_on_branch(struct dae_solver *s, double h, const double *y, const double *yp);
/* Refuses a method that would pass folds unseen, or makes them seen. */
dae_status hybrid_check_branches(struct dae_solver *s);
/* The steps of an attempt that failed with this status left their branch, however short: say so. */
dae_status hybrid_explain_lost(struct dae_solver *s, dae_status status);
/* The interpolant lets relations cross at s->run.t, but the equations say that they go back: its
 * error is larger than their excursion. *again: there is no event, the solution goes on from there.
 */
dae_status hybrid_refute(struct dae_solver *s, bool *again);
/* The sides on which relations are held, for the search of their crossings. */
void hybrid_arm(struct dae_solver *s);

/* What the crossings just found mean for the assertions. */
dae_status hybrid_check_watches(struct dae_solver *s);
/* Why the search for crossings ends: crossing function r needs more of it than there is. */
dae_status ranges_explain(struct dae_solver *s, int r);
/* The crossings just found are no events of the model: do not count them. */
void hybrid_forget_crossings(struct dae_solver *s);

/* The interpolant finds an event at s->run.t; its algebraic variables carry the interpolation
 * error. Move s->run.t to where the crossing happens with variables that meet the equations, not
 * before `from`.
 */
void hybrid_polish(struct dae_solver *s, double from);

/* After so and so many steps and events: say what is slow if the way to tend is far too long. */
void hybrid_note_progress(struct dae_solver *s, double tend);

/* The next sample time; INFINITY if there is none. */
double hybrid_next_time(const hybrid *h);

/* Look for the next seam behind s->t, where the method begins. */
void hybrid_seek_seam(struct dae_solver *s);
/* After a step: whether it went over a kink or a jump without a word. Then it is undone, and the
 * next one ends there. */
bool hybrid_undo_step(struct dae_solver *s);
/* The last time before it, where a step must end; INFINITY: there is none. */
double hybrid_next_seam(const hybrid *h);
bool hybrid_at_seam(const struct dae_solver *s);
/* Begin again behind the seam. */
dae_status hybrid_pass_seam(struct dae_solver *s);
/* Check the assertions at an accepted point. */
dae_status hybrid_check(struct dae_solver *s, double t, const double *y, const double *yp);

#endif
