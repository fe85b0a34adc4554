/* What the files of the judge share: trails of runs, their comparison, and the inspection of
 * equations. docs/verify.md tells what it is for. */
#ifndef DAE_SOLVE_VERIFY_VERIFY_PARTS_H
#define DAE_SOLVE_VERIFY_VERIFY_PARTS_H

#include "base/arena.h"
#include "solve/bind/solver.h"
#include "solve/run/run.h"

/* ---- trails: verify_trail.c ---- */

/* An event: why, which relation or event function came first (-1: none is known), and when. */
typedef struct trail_event {
    double t;
    int cause, index;
    int partner; /* of the other trail; -1: it has none */
} trail_event;

/* Rows of a run: all variables of the problem at times in order, and the events on the way. At an
 * event there may be a row before it and one after it: `passed` tells, the number of events behind
 * the row. */
typedef struct trail {
    int n; /* variables */
    int count;
    size_t room;
    double *t, *values; /* room, room * n */
    double *unit;       /* room * n: the least meaningful errors; NULL: nobody has looked */
    int *passed;
    trail_event *event;
    int event_count;
    size_t event_room;
    double *drift;     /* of the declared invariants, and */
    double *origin;    /* their values at the start; options.invariant_count each */
    unsigned families; /* bits: of the methods that were at work */
    dae_verify_run run;
} trail;

struct inspector;
struct reader;

/* What to run, and where to look. */
typedef struct trail_plan {
    const dae_problem *problem;
    const dae_verify_request *request;
    const double *times; /* in the order of time, repeated ones count once */
    int count;
    bool event_rows;       /* rows of its own at events, before and after */
    long most_steps;       /* 0: no limit */
    long most_evaluations; /* 0: no limit */
    long first_steps; /* > 0: so many are free, of most_steps as many as the time that is done */
    struct inspector *inspector; /* looks at every row; NULL: nobody does */
    struct reader *reader;       /* looks at every step, row and event; NULL: nobody does */
    double looser; /* > 0: find the least meaningful errors for tolerances so many times its own */
} trail_plan;

/* Solve by these options and record. DAE_OK also where the run ends early, which trail->run tells;
 * else memory, or (first) what a start says. */
dae_status trail_run(trail *x, const trail_plan *aim, const dae_options *options, dae_diag *diag);
/* A trail of rows that are given; false: memory. */
bool trail_given(trail *x, const dae_problem *problem, const dae_verify_request *request);
void trail_free(trail *x);

/* verify_certainty.c: unit[i] = what errors in the differential variables of a run with tolerances
 * `looser` times those of s make of variable i at t, the equations being solved for all others; 0
 * where that is not known. False: memory. */
bool certainty_find(dae_solver *s, double t, double looser, double *unit);

/* The group of a method, as a bit: one that shares no ideas with it can judge it. */
unsigned method_kin(const char *name);

/* ---- comparison: verify_compare.c ---- */

/* The tolerances of the variables. */
typedef struct tolerances {
    double *rtol, *atol; /* n each; owned, one block at rtol */
} tolerances;

/* One trail against another, in units of tolerances. */
typedef struct comparison {
    double *error;         /* n: largest, in tolerances, */
    double *rms;           /* n */
    int *row, *other;      /* n: where it is, rows of both trails; -1: nowhere */
    int compared, between; /* rows */
    double worst;          /* of all, and */
    int variable;          /* whose; -1 */
    double parted;         /* first time at which some error is above the limit; NAN: never */
} comparison;

/* The nominal value of an unknown of the base form; 1 if it has none. */
double nominal_size(const dae_problem *problem, int unknown);
/* atol and rtol of each variable as a solver with these options has them; false: memory */
bool tolerances_new(tolerances *w, const dae_problem *problem, const dae_options *options);
void tolerances_free(tolerances *w);

/* What two trails are measured by. */
typedef struct yardstick {
    const tolerances *tolerance;
    const trail *units[2]; /* whose units hold at their times; NULL: none */
    double span, limit;    /* the interval; in tolerances */
} yardstick;

/* Pair the events of two trails, by what they are or by their times, and in their order. */
void trail_pair_events(trail *a, trail *b, const yardstick *by);

/* Compare; both have their events paired with each other. False: memory. */
bool comparison_new(comparison *c, const trail *a, const trail *b, const yardstick *by);
void comparison_free(comparison *c);

/* ---- the same model in other words: verify_thorough.c ---- */

enum { MOST_VARIANTS = 5 };

/* What a run is compared with. */
typedef struct variant_plan {
    const dae_problem *problem;
    const dae_verify_request *request;
    const dae_options *options;
    const tolerances *tolerance;
    trail *run;
    double limit;
    arena *texts; /* of what is found */
} variant_plan;

/* Solve and compare; *count of them, of at most MOST_VARIANTS. False: memory, or interrupted. */
bool variants_find(const variant_plan *plan, dae_verify_variant *list, int *count);

/* ---- equations and constraints at rows: verify_inspect.c ---- */

/* What is found of one equation or constraint. */
typedef struct finding {
    const char *name; /* in the inspector's notes */
    int line, level;
    bool differential;
    double residual, t;     /* the largest one, and when */
    double terms, relative; /* largest size of its terms; residual against that */
    double by, tolerances;  /* largest effect of errors of one tolerance; residual against that */
} finding;

typedef struct inspector inspector;

/* NULL: memory. The problem is borrowed. */
inspector *inspector_new(const dae_problem *problem, const dae_options *options);
void inspector_free(inspector *x); /* NULL is fine */
/* Evaluate everything at t on the last step of s. False: memory. */
bool inspector_look(inspector *x, dae_solver *s, double t);
/* unit[i] = the least meaningful error of variable i of the problem where it looked last: for an
 * output what the tolerances of what it is computed from make of it; else 0. */
void inspector_units(const inspector *x, double *unit);
/* What was found; arrays live as long as the inspector. NULL: memory. */
const finding *inspector_equations(const inspector *x, int *count);
const finding *inspector_constraints(inspector *x, int *count);

/* ---- the text by the interpreter, callbacks, and quadrature between rows: verify_reader.c ---- */

typedef struct reader reader;

/* Of a model's text, or of callbacks; limit: how many tolerances are fine. NULL: memory */
reader *reader_of_text(const dae_problem *problem, const tolerances *tolerance, double t0,
                       double span, double limit);
reader *reader_of_callbacks(const dae_problem *problem, const tolerances *tolerance, double span,
                            double limit);
void reader_free(reader *x); /* NULL is fine */

/* What a run shows, in its order; row: of all variables of the problem. False: memory.
 * The start; fixed: start values that the text fixes are to hold. */
bool reader_start(reader *x, double t, const double *row, bool fixed);
/* A step, with the solver at its end. */
bool reader_step(reader *x, dae_solver *s, double from, double to);
/* A row that the user asked for, or one at an event: any side of it. */
bool reader_row(reader *x, double t, const double *row, bool event);
/* An event: before its update, after it. */
bool reader_watch_event(reader *x, double t, const double *row);
bool reader_end(reader *x);
/* All of that for rows from elsewhere. */
bool reader_rows(reader *x, const trail *rows);

/* Steps as long as this follow what is made of time alone; INFINITY: nothing of it bends. */
double reader_finest(const reader *x);

/* What was found, and what could not be judged. */
const dae_verify_fault *reader_faults(const reader *x, int *count);
const dae_verify_gap *reader_gaps(const reader *x, int *count);

#endif
