/* An interpreter of the language, straight from the Modelica specification 3.6: what do the
 * equations of a text say at a point? It shares no code with the way of a model to its solver but
 * the parser, so that an error there is not repeated here. It walks the tree: no simplification, no
 * aliases, no index reduction, no memory of relations.
 *
 * Use: judge_open once; then judge_evaluate at as many points as wanted, and again for single
 * groups with some relations the other way round (judge_evaluate_group). Everything that a function
 * hands out belongs to the judge; the results of an evaluation are valid until the next one. What
 * the judge cannot evaluate it lists (judge_gaps); it never guesses. A judge is used by one thread
 * at a time. */
#ifndef DAE_JUDGE_JUDGE_H
#define DAE_JUDGE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "daedal.h"

typedef struct judge judge;

/* ---- opening ---- */

/* name = value: a parameter (its value) or a variable (its start value), scalar names as in
 * judge_variable. Numbers of Booleans are 0 and 1, of enumerations 1, 2, .. */
typedef struct judge_override {
    const char *name;
    double value;
} judge_override;

/* Parse and elaborate a text. DAE_ERR_MODEL: it has errors of syntax, or no model (diag says
 * where); DAE_ERR_ARGUMENT: an override names nothing; DAE_ERR_MEMORY. What is understood by the
 * parser but not by the judge is a gap, not an error. The text is copied; diag may be NULL. */
dae_status judge_open(const char *text, size_t length, const char *file,
                      const judge_override *overrides, size_t override_count, judge **out,
                      dae_diag *diag);
void judge_free(judge *j); /* NULL is fine */

/* ---- what the model has ---- */

typedef enum judge_type {
    JUDGE_REAL,
    JUDGE_INTEGER,
    JUDGE_BOOLEAN,
    JUDGE_ENUMERATION, /* numbers from 1 */
    JUDGE_STRING       /* in no row; its value follows from its definition */
} judge_type;

typedef enum judge_variability {
    JUDGE_CONSTANT,
    JUDGE_PARAMETER,
    JUDGE_DISCRETE, /* said so, or no Real, or assigned in a when */
    JUDGE_CONTINUOUS
} judge_variability;

/* One scalar: x[1], r.a, m[1,2], 'a.b[1]', named as results name their columns. */
typedef struct judge_variable {
    const char *name;
    judge_type type;
    judge_variability variability;
    bool input;      /* declared input of the model without a binding */
    bool fixed;      /* as declared; parameters: true unless fixed = false is said */
    bool has_start;  /* a start value is declared (or overridden) */
    bool in_when;    /* assigned by a when (equation or statement): keeps its value elsewhere */
    bool reinit;     /* a reinit names it */
    double start;    /* declared or overridden; 0 (false, the first literal) if not given */
    double value;    /* of constants and parameters; NAN where it is not known (fixed = false) */
    double min, max; /* -INFINITY, INFINITY if not given */
    double nominal;  /* NAN if not given */
    int derivative;  /* index among the derivatives of der(name), or -1 */
    bool delayed;    /* a `delay` asks for its past */
    int line;        /* of the declaration */
} judge_variable;

size_t judge_variables(const judge *j, const judge_variable **list);
int judge_find(const judge *j, const char *name); /* index of a variable, or -1 */

/* A derivative that the text contains: der(x), or der(der(x)) with order 2. */
typedef struct judge_derivative {
    const char *name; /* "der(x)" */
    int variable, order;
} judge_derivative;

size_t judge_derivatives(const judge *j, const judge_derivative **list);

typedef enum judge_kind {
    JUDGE_EQUATION,  /* left = right, of the equation section */
    JUDGE_BINDING,   /* left = right, by a declaration: Real x = e */
    JUDGE_ALGORITHM, /* left: the row's value of a variable that a section assigns; right: what
                      * the section makes of it */
    JUDGE_ASSERT,    /* an assert, with left = its condition (1 or 0), right = 1 */
    JUDGE_WHEN,      /* a when clause of the equation section; it has no residual: holds is
                      * true, and what it does is in the effects */
    JUDGE_INITIAL_EQUATION, /* evaluated always, meant for the start */
    JUDGE_INITIAL_ALGORITHM,
    JUDGE_TERMINATE /* terminate(..): left = 1 if it is reached, else 0, right = 0 */
} judge_kind;

/* One scalar equation. Those of one declaration, equation or section are a group and stand one
 * after the other: they are evaluated together. */
typedef struct judge_equation {
    judge_kind kind;
    judge_type type;  /* of what is compared: Real by residual and tolerance, the others exactly */
    int group;        /* from 0, ascending */
    int element;      /* scalar index within the group, from 0 */
    int line;         /* where it begins in the text */
    int variable;     /* BINDING, ALGORITHM: the variable that it defines; else -1 */
    const char *text; /* as written, with the passes of its loops: "x[i] = i (i = 3)" */
    bool warning;     /* ASSERT: of the level warning, which stops no run */
} judge_equation;

size_t judge_equations(const judge *j, const judge_equation **list);
size_t judge_groups(const judge *j); /* how many groups */

/* One branch of a when clause (when or elsewhen), in equations or algorithms. */
typedef struct judge_when {
    int line;
    int group;    /* the group (of kind WHEN or ALGORITHM) that contains it */
    int previous; /* the branch before it in its clause, which comes first if both rise; or -1 */
    int first, count; /* its conditions: judge_result.conditions[first .. first + count - 1]. The
                       * branch fires where one of them becomes true that was false before */
    const char *text; /* the condition as written */
} judge_when;

size_t judge_whens(const judge *j, const judge_when **list);

/* sample(start, interval): its ticks. Several may come from one place (arrays, loops). */
typedef struct judge_sample {
    int line;
    double start, interval;
} judge_sample;

size_t judge_samples(const judge *j, const judge_sample **list);

/* The longest time that a `delay` goes back; 0: there is none, INFINITY: it is not known. */
double judge_longest_delay(const judge *j);

/* What the judge cannot evaluate. Equations that contain it have error set in their rows. */
typedef struct judge_gap {
    const char *construct; /* "the function 'delay'", "an external function 'f'", .. */
    int line;
    int group;     /* the group that contains it; -1: a declaration or an attribute */
    bool harmless; /* it has no influence on the equations (text of a message, nominal, ..) */
} judge_gap;

size_t judge_gaps(const judge *j, const judge_gap **list);

/* ---- evaluation ---- */

/* A relation or another switch whose value is prescribed; see judge_switch. */
typedef struct judge_force {
    int id;
    double value;
} judge_force;

/* What a variable was at a time before the point's, which may be off by `off`; NAN: not known.
 * spread: how far the value may be off. */
typedef double (*judge_past)(void *of, int variable, double t, double off, double *spread);

/* Arrays are indexed like the lists above. NULL is fine for all but `values`. */
typedef struct judge_point {
    double time;
    const double *values;      /* of all variables. NAN for a constant or parameter: the judge's own
                                * value is taken; so may Strings be. judge_start_values fills them */
    const double *derivatives; /* NULL: unknown, and equations with derivatives give NAN */
    const double *before;      /* pre(v) of all variables; NULL: pre(v) = v */
    /* Errors of the row, for judge_row.spread: how far each may be off. NULL: 0 */
    const double *tolerances, *derivative_tolerances;
    double time_tolerance;
    bool initial, terminal; /* initial(), terminal() */
    bool event;             /* the right side of an event: sample(..) ticks if time is one of its
                             * ticks; also at the start */
    const bool *fires;      /* for each when branch: its body is executed; NULL: none is */
    const judge_force *forces;
    size_t force_count;
    judge_past past; /* for `delay`; NULL: not known */
    void *past_of;
    double origin; /* where the past begins: what is delayed was there what it is at this time */
    bool lasting;  /* judge_evaluate: equations, bindings and algorithms alone; rows of others keep
                    * what they were */
} judge_point;

/* One scalar equation at the point. */
typedef struct judge_row {
    double left, right;
    double residual;   /* left - right */
    double size;       /* sum of the magnitudes of the terms: rounding is a few DBL_EPSILON of it */
    double spread;     /* what errors of the tolerances in each value read make of the residual, to
                        * first order: sum over all readings of |d residual/d v| tolerance(v) */
    bool holds;        /* left == right exactly; asserts: the condition holds */
    const char *error; /* NULL: none; else why there is no value: "division by zero", a gap, .. */
    int error_line;
} judge_row;

typedef enum judge_switch_kind {
    JUDGE_RELATION, /* left < right etc. of numbers; value 0 or 1 */
    JUDGE_ROUNDING, /* floor, ceil, integer, div, and the quotient within mod and rem: the integer
                     */
    JUDGE_SIGN,     /* sign: -1, 0 or 1 */
    JUDGE_KINK,     /* abs (value -1 or 1: the sign taken), min and max (0 or 1: which argument),
                     * semiLinear (0 or 1): continuous, a kink only */
    JUDGE_SAMPLE    /* sample: 0 or 1 */
} judge_switch_kind;

/* A switch that an evaluation met: with judge_force{id, other} it goes the other way. Ids are kept:
 * the same place of the text in the same pass of its loops has the same id at every point. */
typedef struct judge_switch {
    int id;
    judge_switch_kind kind;
    int group, line;
    double value;    /* as evaluated (or forced) */
    double other;    /* the value across the nearest discontinuity */
    double crossing; /* left - right of a relation; the signed distance of the argument from the
                      * nearest discontinuity. 0: on it */
    double
        spread;   /* of `crossing`, as in judge_row: |crossing| <= spread means both are possible */
    bool noevent; /* inside of noEvent or smooth: no event belongs to it */
    bool discrete; /* operands are no Reals, or do not change between events: no uncertainty */
    bool forced;
} judge_switch;

typedef enum judge_effect_kind {
    JUDGE_ASSIGN,   /* variable = value */
    JUDGE_REINIT,   /* reinit(variable, value) */
    JUDGE_STOP,     /* terminate(..) is reached */
    JUDGE_ASSERTION /* an assert in the body; value: its condition */
} judge_effect_kind;

/* What the body of a when branch of an equation section does that point.fires says. */
typedef struct judge_effect {
    judge_effect_kind kind;
    int when, line;
    int variable; /* -1: none */
    double value, size, spread;
    const char *error;
} judge_effect;

typedef struct judge_result {
    const judge_row *rows;        /* of every equation */
    const double *conditions;     /* of every when condition: 0, 1, or NAN after an error */
    const judge_switch *switches; /* in the order of their groups */
    size_t switch_count;
    const judge_effect *effects;
    size_t effect_count;
} judge_result;

/* All equations at a point. DAE_ERR_MEMORY is the only failure; what is wrong with an equation is
 * in its row. */
dae_status judge_evaluate(judge *j, const judge_point *point, const judge_result **result);

/* One group alone: of `result` only its rows, its conditions, its switches and its effects are new
 * (switches and effects of other groups are not in it). */
dae_status judge_evaluate_group(judge *j, const judge_point *point, int group,
                                const judge_result **result);

/* What one group reads at the point: indices of variables and derivatives, each once, ascending.
 * The lists belong to the judge until the next call. pre(v) alone is not a reading of v. */
dae_status judge_reads(judge *j, const judge_point *point, int group, const int **variables,
                       size_t *variable_count, const int **derivatives, size_t *derivative_count);

/* values of all variables = values of parameters and constants, start values of the others. */
void judge_start_values(const judge *j, double *values);

/* An expression of the language over the names of the model, at a point: elements in row-major
 * order. DAE_ERR_MODEL: it cannot be parsed or evaluated; diag says why. count is the number of
 * elements, also if more than capacity. */
dae_status judge_function(judge *j, const char *expression, const judge_point *point,
                          double *values, size_t capacity, size_t *count, dae_diag *diag);

/* times[0 .. count - 1]: ascending, in (t0, t1), between which every expression of time (and
 * parameters) alone is within tolerance times its largest magnitude of a straight line, by interval
 * bounds: so there are some within every pulse. Jumps (if time > 3 ..) are enclosed from both
 * sides. At most `most` times; DAE_ERR_MAX_STEPS: more would be needed (those found are valid, the
 * coarsest first). The values of parameters are those of the judge. */
dae_status judge_breaks(judge *j, double t0, double t1, double tolerance, size_t most,
                        double *times, size_t *count);

#endif
