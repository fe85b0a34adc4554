/* What the files share in which the text of a model, or the callbacks of a problem, are held
 * against the rows of a run. docs/verify.md tells what is checked. */
#ifndef DAE_SOLVE_VERIFY_VERIFY_READER_H
#define DAE_SOLVE_VERIFY_VERIFY_READER_H

#include "judge/judge.h"
#include "solve/verify/verify_parts.h"

/* ---- quadrature over panels: verify_panel.c ---- */

enum { PANEL_NODES = 7 };

/* Values, slopes and second derivatives at one point of a panel; errors of the slopes that errors
 * of the values explain are `per_length` times these, and as much again for second derivatives. */
typedef struct panel_point {
    double t;
    const double *v, *slope, *second; /* second NULL: not asked for */
    double per_length;
    bool anywhere; /* it may be the end of a step, where switches may have either value */
} panel_point;

/* Residuals that are to vanish there. spread: what errors of the values make of them; NAN: it has
 * no value. False: memory. */
typedef bool (*residuals_fn)(void *of, const panel_point *at, double *residual, double *spread);
/* v = values at t, on the last step of a run; false: there are none */
typedef bool (*values_fn)(void *of, dae_solver *s, double t, double *v);
/* The integral of residual e over from .. to is `sum`, where `allowed` would be fine. */
typedef void (*leak_fn)(void *of, int e, double from, double to, double t, double sum,
                        double allowed);

/* What intervals in a row add up to, per residual: the integral, how far it may be wrong, what
 * errors inside and at ends explain, where it begins. */
typedef struct drift {
    double *of; /* owned */
    long steps;
} drift;

typedef struct panels {
    int values, residuals;
    residuals_fn residual;
    values_fn value;
    void (*sized)(void *of, const double *v); /* values that tolerances are to know of */
    bool second;                              /* second derivatives are asked for */
    leak_fn leak;
    void *of;
    long evaluations, most; /* of points, and how many there may be */
    double length;          /* of the step at hand, */
    bool anywhere;          /* or of a tile, whose ends may be those of steps */
    const double *off;      /* per value: what errors are fine */
    drift looked, tiled;    /* of the last steps in a row that were looked at; of the last tiles, */
    double tile_from;       /* of which the one at hand begins here, */
    int collected;          /* and so many of its values are known: */
    double *tile;           /* these; owned */
    double stretch;         /* the next one is so many times as long as it need be */
    long tile_evaluations;
    double *work; /* owned */
} panels;

bool panels_new(panels *p); /* the fields above are set; false: memory */
void panels_free(panels *p);
/* There is an event between the last step and the next; jumps: of what is differentiated. */
void panels_part(panels *p, bool jumps);
/* The last step was not looked at. */
void panels_skip(panels *p);
/* A drift is too small to be seen in one step, and adds up: steps are covered by tiles, whose
 * values are collected on the way. The last step goes up to `to`, the tile at hand to tile_end; it
 * is over where collected is 1 again. False: memory. */
bool panels_follow(panels *p, dae_solver *s, double to, double tile_end);
/* Whether the slopes of the values between `count` times within the last step are what the
 * equations say: the integral of each residual over all of it by two rules on each part, halved
 * where these differ. False: memory. */
bool panels_look(panels *p, dae_solver *s, const double *times, size_t count);

/* ---- what was: verify_past.c ---- */

/* Values of what is delayed, in pieces of steps: each has its ends, errors of its polynomials, and
 * values at its nodes. */
typedef struct past {
    int *slot; /* per value: its number among those that are delayed; -1: it is not */
    int delayed;
    double origin, longest; /* where it begins, and how long it is kept */
    double *piece;          /* owned; `stride` numbers each, those from `first` to `count` - 1 */
    size_t room, stride, first, count;
    bool lost; /* it was asked for what it does not know */
} past;

/* ---- the reader ---- */

enum { MOST_FAULTS = 100, MOST_GAPS = 100, MOST_CHAIN = 6, MOST_FLIPS = 4 };

/* Values at one time, of all variables of the judge. */
typedef struct reading {
    double t;
    double *v;
    bool there;
} reading;

/* The switches that an evaluation of groups met. */
typedef struct switch_list {
    judge_switch *item; /* owned */
    size_t count, room;
} switch_list;

struct reader {
    const dae_problem *problem;
    arena *texts;
    double limit, span;
    const tolerances *tolerance; /* borrowed */
    int n;                       /* values: variables of the judge, or unknowns of callbacks */
    bool given;                  /* rows from elsewhere: what is between them is not known */
    /* of a text */
    judge *judge; /* NULL: callbacks, or nothing can be read */
    const judge_variable *variable;
    const judge_equation *equation;
    const judge_when *when;
    const judge_derivative *derivative;
    const judge_sample *sample;
    int equations, whens, derivatives, samples, conditions;
    int *column;       /* per variable of the judge: that of the problem, -1: none */
    bool *skipped;     /* per equation: not to be judged */
    bool *seen;        /* per equation: it had a value at some point */
    const char **mute; /* per equation: why it has none */
    bool *fires;       /* per when branch; work space */
    /* of callbacks */
    evaluator eval;
    struct form_instance *forms;         /* owned */
    const struct quasilinear_form *rows; /* E x' = f, 0 = g; NULL: a residual form */
    double *matrix;                      /* values of E; work space */
    dae_stats stats;
    double *moved; /* of callbacks: values, slopes, residuals; work space */
    /* of both */
    double *base;                  /* per value: of parameters and constants */
    double *row;                   /* of the problem's variables; work space */
    double *size;                  /* per value: how large it was of late, */
    double size_time;              /* at this time */
    double *off;                   /* per value: what errors are fine */
    double *slope, *slope_off;     /* per derivative of the judge; work space */
    double *mixed, *here, *beside; /* n each; work space */
    panels panels;
    double cell, probed; /* panels begin so far apart, and the last one ended there */
    past past;
    double *passed;   /* per value: at the end of the last step, */
    double way, move; /* what they have moved since the last panel, and are to move */
    int moved_panels; /* that were chosen for it */
    double *breaks;   /* times at which something of time alone bends, increasing */
    size_t break_count;
    double *pieces; /* break_count + 2: ends of panels; work space */
    unsigned random;
    long looks;
    reading last, next, chain[MOST_CHAIN]; /* inside of steps before and after an event; at it */
    int chained;                           /* rows of the chain; 0: no event is under way */
    bool overlong;                         /* it had more rows than that */
    bool starting;                         /* the event under way is the start, */
    bool fixed;                            /* with the values that the text fixes */
    bool *moves;                           /* per value: whens or definitions of what is discrete */
    int *defined;                          /* per equation: what it defines of that; -1: nothing */
    int passes;                            /* of events, that were tried */
    char *could, *can, *now; /* per condition: what it may be in `last`, at the event, and after */
    switch_list at, after;
    bool *reached; /* per variable: what an event changes, sooner or later */
    dae_verify_fault fault[MOST_FAULTS];
    int faults;
    bool *faulty; /* per equation, then per when branch, then per value: a fault is listed */
    dae_verify_gap gap[MOST_GAPS];
    int gaps;
};

/* Note a fault; `of` indexes `faulty`, and one of each is enough. */
void reader_note(reader *x, int of, const dae_verify_fault *fault, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A value in the words of its type. */
const char *reader_value(const reader *x, int variable, double value, char *text, size_t size);

/* ---- rows: verify_rows.c ---- */

/* What is known of a point. */
typedef struct sighting {
    double t;
    const double *v, *before; /* before NULL: as v */
    bool event;               /* at an event: relations at their zero may have either value */
    bool first;               /* at the start */
    const double *slopes, *slopes_off;
    const bool *fires;
    bool clocks; /* a clock that strikes may be over already */
} sighting;

judge_point reader_point(reader *x, const sighting *at);
/* Let tolerances know of values, at their time. */
void reader_sized(reader *x, double t, const double *v);
/* Values of the run at t on the last step; false: there are none. */
bool reader_values(reader *x, dae_solver *s, double t, double *v);
/* The same of a row of the problem's variables. */
void reader_place(const reader *x, const double *row, double *v);
/* All equations at a point. residual, spread (NULL: not asked for): of those of Reals; 0 of one
 * that is judged already. False: memory. */
bool reader_equations(reader *x, const sighting *at, double *residual, double *spread);
/* Initial equations without derivatives, at the start. False: memory. */
bool reader_initial_equations(reader *x, const sighting *at);
/* Whether the value of a switch is uncertain at a point. */
bool reader_uncertain(const judge_switch *w, bool event);

/* Evaluate a group as it is, then with all combinations of the switches that are uncertain, until
 * `found` is true or there are no more; `found` is asked without a result if there are too many.
 * False: memory. */
typedef bool (*flip_fn)(void *context, const judge_result *r);
bool reader_flip(reader *x, const sighting *at, int group, const judge_force *fixed,
                 size_t fixed_count, flip_fn found, void *context);

/* verify_past.c: what is delayed is found; the past begins at t; a step from .. to is written down.
 * False: memory. */
bool reader_past_new(reader *x);
bool reader_past_start(reader *x, double t, const double *v);
void reader_past_free(reader *x);
bool reader_past_step(reader *x, dae_solver *s, double from, double to);
/* A judge_past of a reader. */
double reader_past_value(void *of, int variable, double t, double off, double *spread);

/* ---- events: verify_whens.c ---- */

/* What a condition may be. */
enum { MAY_BE_FALSE = 1, MAY_BE_TRUE = 2, MAY_BE_BOTH = 3 };

/* may[c] |= what the conditions of a group may be at a point, if branch k is the first of the
 * group. False: memory. */
bool reader_add_conditions(reader *x, const sighting *at, int k, char *may);

/* A step from .. to has been made. False: memory, here and below. */
bool reader_watch_step(reader *x, dae_solver *s, double from, double to);
/* A row inside of a step. */
bool reader_watch_row(reader *x, double t, const double *v);
/* The run has ended. */
bool reader_watch_end(reader *x);
/* Whether branch k is to fire at the event under way. */
bool reader_must_fire(const reader *x, int k);

/* verify_passes.c: find x->moves and x->defined. False: memory. */
bool reader_find_definitions(reader *x);
/* Note a fault if no passes of the whens lead from the first row of the event under
 * way to its last one; first: it is the start. False: memory. */
bool reader_explain(reader *x, bool first);

#endif
