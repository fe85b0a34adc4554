/* What a solver keeps for the discrete side of a model, beside the instance of its form. */
#ifndef DAE_SOLVE_BIND_DISCRETE_H
#define DAE_SOLVE_BIND_DISCRETE_H

#include "model/model.h"
#include "model/model_delay.h"

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
    EVENT_LEAVING,  /* relations leave zero after the start */
    EVENT_SEAM      /* relations change at a kink or jump that is not an event */
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
    double scatter;   /* what the last digits of the variables change of it, */
    double peak;      /* how far it went off zero between its last two events */
    int age;          /* so and so many events ago; */
    double flight;    /* how long that took, */
    double onwards;   /* and where it was about to be a part of that later */
    int shrinks;      /* how often the gap became shorter; halved if it did not */
    int resting;      /* +-1: it does so again and again, and is held on this side, else 0, */
    double band;      /* as long as its crossing function is within this; */
    bool reacted;     /* the model has had another event since */
    bool seen;        /* off zero since its last event, before the search began anew at a seam */
    bool met;         /* the event at hand has given it the value of equality once */
    bool mute;        /* nothing hears it up to the next event */
    long turned;      /* of all turns of relations at solved events, the number of its last one */
} relation_trace;

/* Bounds of crossing functions (hybrid_range.c). */
typedef struct relation_ranges relation_ranges;
/* What equations and crossing functions read of the memory (hybrid_reads.c). */
typedef struct memory_reads memory_reads;
/* Which relations nothing hears (hybrid_mute.c). */
typedef struct mute_relations mute_relations;
/* Changes of relations of time that are no events (hybrid_seams.c). */
typedef struct time_seams time_seams;
/* The same of variables (hybrid_state_seams.c). */
typedef struct state_seams state_seams;

/* Functions of time alone in the equations (hybrid_forcing.c). */
typedef struct forcing forcing;

/* Algebraic equations as they are written, for methods on other forms (hybrid_branch.c). */
typedef struct base_branch base_branch;

/* How far outputs move with the states (doubtful_outputs.c). */
typedef struct output_doubt output_doubt;

/* A start that stands open: discrete values and guesses are those of the start values, and the mode
 * that these say is bound. It serves the start it was made for. */
typedef struct opening {
    bool stands;
    double t;
    long revision; /* of the parameters and start values (model_form); options that change end it */
} opening;

/* What a solver keeps for a model beside its instance. */
typedef struct hybrid {
    model_instance *instance; /* of the form that is integrated; borrowed, or `own` */
    model_instance *own;      /* of the base form; owned */
    sample_clock *sample;     /* per sample */
    double next_time;         /* the earliest of their next times; INFINITY: none */
    double *crossing;         /* work: values of the crossing functions, */
    double *crossing_ahead;   /* and a moment later, */
    double *crossing_entry;   /* and before the event at hand */
    double *zero;             /* per relation: its crossing function at its last event, */
    double *noise;            /* and what counts as zero of it where it was evaluated last */
    bool *decided;            /* per relation: by the event at hand */
    bool alone;               /* one relation has made it, and nothing else */
    bool at_seam;             /* it is one at a seam, whose time no crossing has told */
    bool *came;               /* per relation: it was away from zero before the event at hand */
    relation_trace *trace;    /* per relation */
    relation_ranges *ranges;  /* owned; NULL: not needed so far */
    memory_reads *reads;      /* owned; NULL: not known, and all of it counts as read */
    mute_relations *mute;     /* owned; NULL: not needed so far */
    time_seams *seams;        /* owned; NULL: not needed so far */
    delay_table *delays;      /* pasts of delayed expressions; owned, NULL: there are none */
    forcing *forcing;         /* owned; NULL: not needed so far */
    state_seams *state_seams; /* owned; NULL: not needed so far */
    double cut, cut_from;     /* a seam of them, for the step from there; NAN: none */
    int cuts;                 /* how often that step was made */
    double close_from;        /* of seams that follow each other closely, the first; NAN: none, */
    int close;                /* and how many there were since */
    int *active;              /* per when: its active branch, -1 */
    double *reset;            /* per unknown: what reinit gives it, */
    bool *is_reset;           /* if it does */
    bool *guessed;            /* per unknown: a start value is given, as a start knows */
    bool *is_held;            /* per unknown: reinit has set it in the event at hand */
    bool solved;              /* continuous values agree with the memory in `before` */
    bool looked;              /* crossing and crossing_ahead belong to them */
    bool armed;               /* the search knows the sides of the relations */
    bool stays; /* the event at hand has changed nothing so far that the equations read: the step in
                   which it lies holds beyond it */
    bool begins;              /* values are sought that do not depend on what is integrated */
    double started;           /* initial time */
    double crowd_since;       /* events close to each other: since when, */
    int crowd;                /* and how many */
    double *assertion;        /* work: values of the assertions */
    double *ahead, *ahead_yp; /* work: y and y' a moment later, */
    double *tangent;          /* y' where that moment begins, */
    double *further;          /* y further along it, */
    double *further_yp;       /* and y' there */
    double *onward;           /* work: y some moments later, */
    double *onward_yp;        /* and y' there */
    double *after, *after_yp; /* y and y' after the last event, */
    double *left, *left_yp;   /* weights and y' before it; while one at a seam is due, y and y', */
    double left_at;           /* the time of these */
    double event_time;        /* which was then */
    double pace, paced;       /* mean time between the last events, and the last; NAN: none */
    double reached;           /* time of the last event that no step reached; NAN: none */
    double thrown;            /* when reinit acted last; NAN: never */
    double first_step;        /* the first step from there is at most this; 0: no limit */
    double soon;              /* when that is */
    bool foreseen;            /* the equations have a solution then */
    bool stands;              /* what does not move in that moment stays where it is */
    double window;            /* part of that moment which times can tell apart */
    double *before;           /* work: memory before a pass, */
    double *kept;             /* and of an earlier one: passes that come back to it are a circle; */
    int circle_passes;        /* how many there were since pre(..) has been held as it is; */
    bool one_by_one;          /* they went round: of several relations one is turned at a time */
    long turns;               /* of relations so far, as passes found them on their other side */
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
    bool impulse_told;           /* and of a jump whose derivative is left out */
    bool beyond_reported;        /* and of a relation that is left behind after its events */
    base_branch *base;           /* owned; NULL: not needed so far */
    bool branches_hidden;        /* from the method at hand: `base` is asked */
    bool branch_ended;           /* as the watch of ranks saw */
    double rescued;              /* another mode was sought at the event then */
    opening opening;             /* made ahead of the start */
    bool given;                  /* started at values that stay */
    bool at_start;    /* relations and floor have their values at t, not a moment later */
    int freedom;      /* of the mode before the event at hand; -1: states need not stay */
    double direction; /* of time: +1 or -1 */

    /* The initial system of the model, if it has one: a problem and a solver of its own. */
    model_instance *initial;
    dae_problem *initial_problem;
    struct dae_solver *initial_solver;
    double *initial_y, *initial_yp; /* its unknowns, */
    bool *initial_guessed;          /* and which of them have a start value */
    int *fixed_by;            /* per unknown: the variable whose fixed start value it has, -1 */
    int conflict;             /* a variable whose fixed start value contradicts another's, -1 */
    bool starts_chosen;       /* start values that are not fixed decided where the run begins */
    double *start;            /* n: the start values given */
    double *entry, *entry_yp; /* n each: the values that the last search for consistent ones had */
    bool unexplained; /* a start that fails is a trial: others follow, and nobody reads why */
    bool turned;      /* unknowns that nobody gave are looked for on their negative side first */
    char other[DAE_TEXT_SIZE]; /* note of another solution at the start or event, "": none */
} hybrid;

/* NULL: out of memory. */
hybrid *hybrid_new(const model_form *form);
void hybrid_free(hybrid *h);
/* Whether the model is so large that what is not needed at once is not kept. */
bool hybrid_is_large(const hybrid *h);
/* What the graph of the model keeps for more nodes and walks goes: it comes again when needed. */
void hybrid_tidy(const hybrid *h);

/* Go on with another form of the same model: memory and parameters are carried over. The instance
 * is borrowed, unless it is the first one. false: memory. */
bool hybrid_bind(hybrid *h, model_instance *instance);

/* Options of a form: tags from `fixed` where there are initial equations, atol from `nominal`;
 * false: memory. */
bool model_options(const model_form *form, dae_options *options);

/* The solver of the initial system goes. */
void hybrid_drop_initial(hybrid *h);

/* ---- values ---- */

/* The flat variable that stands for v, and the sign between them. */
static inline int hybrid_root(const model_form *f, int v, int *sign)
{
    *sign = f->alias[v].top_sign;
    return f->alias[v].top;
}

/* The start value of flat variable v: set from outside, or its attribute; 0 if it is fixed without
 * one, NAN if there is none. */
double hybrid_start_value(const model_form *f, size_t v);

/* Whether visible variable k is an output. */
bool hybrid_is_output(const model_form *f, int k);

#endif
