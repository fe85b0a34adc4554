/* A flat model: scalar variables, parameters, equations and events over the expression graph. What
 * the front end delivers and everything after it starts from. */
#ifndef DAE_MODELICA_FLATTEN_FLAT_H
#define DAE_MODELICA_FLATTEN_FLAT_H

#include "base/arena.h"
#include "expr/graph.h"
#include "modelica/syntax/ast.h"

typedef enum flat_type {
    FLAT_REAL,
    FLAT_INTEGER,
    FLAT_BOOLEAN,
    FLAT_STRING,
    FLAT_ENUMERATION
} flat_type;
typedef enum flat_state_select {
    SELECT_NEVER,
    SELECT_AVOID,
    SELECT_DEFAULT,
    SELECT_PREFER,
    SELECT_ALWAYS
} flat_state_select;

/* What a declaration says in words; NULL if it does not. */
typedef struct flat_words {
    char *unit, *display_unit, *quantity, *comment;
} flat_words;
extern const flat_words flat_no_words;

/* A scalar unknown. Continuous ones are EXPR_VARIABLE(index); discrete ones live in memory slots:
 * EXPR_MEMORY(memory) is the current value, EXPR_MEMORY(memory_pre) the value before the event. */
typedef struct flat_variable {
    char *name;              /* "x[3].v" */
    const flat_words *words; /* the elements of an array share them; never NULL */
    expr start;              /* over parameters; EXPR_NONE: 0 / false */
    expr nominal, min, max;  /* EXPR_NONE if absent */
    int memory, memory_pre;  /* discrete: slots; else -1 */
    int shift;               /* of an input: 1 + the first slot of its shift; 0: it has none */
    source_place place;
    flat_type type;
    flat_state_select state_select;
    bool discrete;
    bool input, output, protected_;
    bool has_start, fixed;
    bool rests; /* declared as a parameter: the initial system computes it */
    bool asked; /* to be an unknown, with a tolerance of its own */
} flat_variable;

/* A parameter or constant. */
typedef struct flat_parameter {
    char *name;
    flat_type type;
    char *unit, *display_unit, *quantity, *comment;
    expr value;            /* over earlier parameters and constants; EXPR_NONE: no value given */
    char *text;            /* String parameters */
    bool constant, final_; /* may not be set from outside */
    bool structural; /* decided sizes, loops or branches: may not be changed after flattening */
    expr min, max;
    source_place place;
} flat_parameter;

/* residual = 0 */
typedef struct flat_equation {
    expr residual;    /* left - right */
    expr left, right; /* as written, for messages and aliases; EXPR_NONE if there are none */
    source_place place;
    int number;       /* from 1, among those of its kind */
    char *name;       /* the user's comment string; NULL: flat_equation_name() makes one */
    const char *pass; /* of the loops around it: "i = 4, j = 2"; NULL: none */
} flat_equation;

/* A relation a < b or a <= b whose value is held in memory between events; it switches when
 * crossing = a - b passes zero. Relations inside noEvent or of discrete values stay plain nodes. */
typedef struct flat_relation {
    expr crossing; /* a - b */
    bool strict;   /* a < b, else a <= b */
    expr steps;    /* it says where the floor of this jumps; EXPR_NONE: of nothing */
    int steps_of;  /* slot of that floor */
    bool steps_up; /* it jumps upwards there */
    int memory;    /* slot of its current value */
    source_place place;
} flat_relation;

/* How an input that follows a table moves from row to row. */
typedef enum flat_curve {
    CURVE_STEP,   /* it keeps the value of the last row, */
    CURVE_LINEAR, /* goes straight to the next one, */
    CURVE_CUBIC   /* or along a cubic spline: twice differentiable but for jumps */
} flat_curve;

enum { CURVE_MOST = 4 }; /* coefficients */

/* One input that follows a table: between two rows a polynomial in time - origin. Its coefficients
 * stand in memory and change at events. */
typedef struct flat_track {
    flat_curve curve;
    const double *value; /* per row */
    const double *bend;  /* of a cubic, per row: its second derivative; else NULL */
    int memory[CURVE_MOST];
} flat_track;

/* Times at which inputs from outside begin a new piece, in the place of start + k interval. Two
 * rows with one time are a jump. */
typedef struct flat_schedule {
    size_t rows;
    const double *time;
    flat_track *tracks;
    size_t track_count;
    bool hold;  /* before the first row and behind the last one the input rests; else it has no
                   value there */
    double end; /* of what is not held: its last time, and a rounding; behind it the clock strikes
                   once more */
    int origin; /* slots: time of the row that the piece at hand begins with, */
    int from;   /* and the first time it is good for */
    /* Not NULL: in the place of rows the first jump behind a time, which goes to slot `from`. */
    double (*jump)(double time, void *user);
    void *user;
} flat_schedule;

/* Put the piece that begins at time t into memory; rows up to t + slack are reached. Returns the
 * time of the next row; INFINITY: there is none. */
double flat_schedule_enter(const flat_schedule *s, double t, double slack, double *memory);
/* Second derivatives of the spline through rows; work: 2 numbers a row. */
void flat_spline(const double *time, const double *value, size_t rows, double *bend, double *work);

/* sample(start, interval): true at start + k interval only. */
typedef struct flat_sample {
    expr start, interval; /* over parameters */
    int memory;           /* slot: 1 during such an event */
    source_place place;
    const flat_schedule *schedule; /* not NULL: its times in their place */
} flat_sample;

/* delay(value, lag, most). It is `value` itself while the slot `memory` holds 1, as it does at the
 * start; else a polynomial of time - lag, whose numbers stand in the slots behind it: the time
 * where it begins, 1/length, and divided differences over the nodes of flat_delay_node(). What
 * integrates the model keeps the past of `value`, and puts there the piece that time - lag is in.
 */
struct flat_model;
typedef struct flat_delay {
    expr value;       /* over variables, parameters and memory */
    expr lag, most;   /* most: over parameters; lag itself, if it is so */
    bool varies;      /* lag changes during a run, */
    bool by_unknowns; /* and depends on more than time and memory */
    int memory;       /* the first of DELAY_SLOTS */
    source_place place;
} flat_delay;

enum {
    DELAY_NODES = 6,
    DELAY_FROM = 1,
    DELAY_SCALE,
    DELAY_FIRST,
    DELAY_SLOTS = DELAY_FIRST + DELAY_NODES
};

/* The delay whose piece of the past a slot of the memory is of; NULL: none. */
const flat_delay *flat_delay_of(const struct flat_model *m, int slot);
/* Whether there is one. */
bool flat_is_delayed(const struct flat_model *m, int slot);
/* Whether a delay time depends on variables. */
bool flat_lags_by_unknowns(const struct flat_model *m);
/* Node k of a piece of the past, in 0 .. 1: extrema of the Chebyshev polynomial, ends included. */
double flat_delay_node(int k);

typedef enum flat_action_kind {
    ACTION_ASSIGN,
    ACTION_REINIT,
    ACTION_ASSERT,
    ACTION_TERMINATE
} flat_action_kind;

/* How String(x, ..) writes a value. */
typedef struct flat_format {
    int digits;        /* significant ones of a Real; 0: six */
    int least;         /* characters at least; blanks fill up, */
    bool right;        /* before the text, else behind it */
    const char *given; /* a format of C without its %; NULL: none */
} flat_format;

/* Whether a format is [flags][width][.precision] and a conversion for a Real, or for an Integer. */
bool flat_format_valid(const char *format, bool real);
void flat_print(double x, flat_type type, const flat_format *format, char *text, size_t size);

/* A value of the run inside a message: message[offset .. offset+length) is a readable stand-in,
 * "{x}", to be replaced by the value of x. Holes do not overlap and come in order of offset. */
typedef struct flat_hole {
    size_t offset, length;
    expr value;
    flat_type type;
    flat_format format;
    const char *const *choices; /* texts of the values 1, 2, .., or NULL */
    size_t choice_count;
} flat_hole;

/* The text in place of a hole whose value is x. */
void flat_fill(const flat_hole *h, double x, char *text, size_t size);

typedef struct flat_action {
    flat_action_kind kind;
    int variable;  /* ASSIGN: discrete variable; REINIT: continuous variable; else -1 */
    expr value;    /* ASSIGN, REINIT: value; ASSERT: condition */
    char *message; /* ASSERT, TERMINATE */
    bool warning;  /* ASSERT at level warning */
    source_place place;
    expr guard; /* TERMINATE: only if this is not 0; EXPR_NONE: always */
    flat_hole *holes;
    size_t hole_count;
} flat_action;

/* when condition then actions; elsewhen ..: the first branch whose condition just became true. */
typedef struct flat_branch {
    expr condition;         /* over memory, variables, relations' memory */
    int memory, memory_pre; /* slots: condition now and before, for the edge */
    bool at_initial;        /* active during initialisation: when initial() or {initial(), ..} */
    flat_action *actions;
    size_t action_count;
    source_place place;
} flat_branch;

typedef struct flat_when {
    flat_branch *branches;
    size_t branch_count;
} flat_when;

/* A discrete variable defined by an equation outside when: v = value, evaluated in this order. */
typedef struct flat_discrete {
    int variable;
    expr value;
    source_place place;
} flat_discrete;

/* One step of evaluating an event: a discrete equation or a when-clause. */
typedef struct flat_event_step {
    bool is_when;
    size_t index; /* in discretes or whens */
} flat_event_step;

typedef struct flat_experiment {
    bool has_start, has_stop, has_tolerance, has_interval;
    double start, stop, tolerance, interval;
} flat_experiment;

typedef struct flat_model {
    char *name, *file; /* file: for messages; may be NULL */
    graph *graph;      /* owned */
    flat_variable *variables;
    size_t variable_count;
    flat_parameter *parameters;
    size_t parameter_count;
    flat_equation *equations;
    size_t equation_count; /* continuous */
    flat_equation *initial_equations;
    size_t initial_count;
    flat_equation
        *terminal_equations; /* conditions at the other end, for boundary value problems */
    size_t terminal_count;
    flat_relation *relations;
    size_t relation_count;
    flat_sample *samples;
    size_t sample_count;
    flat_delay *delays; /* those inside of others first */
    size_t delay_count;
    flat_when *whens;
    size_t when_count;
    flat_discrete *discretes;
    size_t discrete_count; /* sorted: later may use earlier */
    flat_action *asserts;
    size_t assert_count; /* outside when: checked at accepted steps */
    int start_parameter; /* 1 + number of the parameter that is the time at the start; 0: none */
    int way_parameter;   /* 1 + number of the one that leads from simplified to actual; 0: none */
    size_t homotopies;   /* calls of homotopy(actual, simplified) */
    int memory_count;    /* number of memory slots */
    int memory_initial;  /* slot: 1 during initialisation (initial()) */
    int memory_terminal; /* slot: 1 at the end of the run (terminal()) */
    bool has_terminal;   /* terminal() appears */
    flat_experiment experiment;
    /* discretes and whens in one order in which every value is computed before it is read */
    flat_event_step *event_order;
    size_t event_count;
    arena *texts; /* all names and messages live here; owned */
} flat_model;

/* Whether a name, whose quotes may be left out, means a variable: its own name, or that of an array
 * or a record around it. */
bool flat_name_means(const char *given, const char *name);

/* flat_shift.c: u = what it follows + c_0 + c_1 (time - o) + c_2 (time - o)^2 / 2 + .. for each
 * continuous Real input u that an equation of its own gives, over slots of the memory that are 0:
 * o, which is variable.shift - 1, and the SHIFT_TERMS numbers c behind it, derivatives of the shift
 * at o. false: out of memory. */
enum { SHIFT_TERMS = 6 };
bool flat_shift_inputs(flat_model *m);

void flat_when_free(flat_when *w);   /* its branches */
void flat_model_free(flat_model *m); /* NULL is fine */

#endif
