/* Ranges of expressions along a solution: interval arithmetic on values and on their derivatives
 * with respect to time [Moore66]. What they say of a piece of time holds at every point of it, not
 * only at samples: a crossing function whose range excludes zero has no crossing there, and one
 * whose slope excludes zero has at most one.
 *
 * Rounding is not directed: bounds are good to a few units of rounding. */
#ifndef DAE_EXPR_RANGE_H
#define DAE_EXPR_RANGE_H

#include "expr/graph.h"

typedef struct interval {
    double lo, hi; /* lo <= hi; +-INFINITY: no bound is known */
} interval;

/* fmin and fmax, but for NaN: without a call. */
static inline double lesser(double x, double y)
{
    return x < y ? x : y;
}

static inline double greater(double x, double y)
{
    return x > y ? x : y;
}

static inline interval interval_hull(interval a, interval b)
{
    return (interval){lesser(a.lo, b.lo), greater(a.hi, b.hi)};
}

/* A value and its derivative with respect to time. */
typedef struct range {
    interval value, slope;
} range;

/* Where leaves get their ranges from. */
typedef struct range_leaves {
    interval time;
    const range *y; /* per variable of order 0: its value and derivative; NULL: not known */
    const double *parameters, *memory;
    bool still;         /* time stands: slopes are those that y brings about */
    const bool *either; /* per slot of the memory: it may be 0 or 1; NULL: none */
} range_leaves;

typedef struct range_program range_program;

/* For `count` roots; NULL: memory. */
range_program *range_program_new(const graph *g, const expr *roots, size_t count);
void range_program_free(range_program *p); /* NULL is fine */
/* Whether any root has a variable in it. */
bool range_program_reads_variables(const range_program *p);
/* Whether a root is more than a polynomial in its leaves: it may do anything between samples of
 * smooth leaves. */
bool range_program_is_wild(const range_program *p, size_t root);
/* Whether there is something in a root of which no range is known, however short the time: a loop
 * or a second derivative. */
bool range_program_is_opaque(const range_program *p, size_t root);
/* Whether a root has pieces: a branch, a kink or a jump that depends on a variable. */
bool range_program_has_pieces(const range_program *p, size_t root);
/* False: no root has pieces, whatever it depends on; told without a program. */
bool range_may_have_pieces(const graph *g, const expr *roots, size_t count);
/* What neither time nor variables move has its value from now on: runs leave it out. Again where
 * parameters or the memory change. */
void range_program_settle(range_program *p, const range_leaves *leaves);
/* out: a range per root. Derivatives of variables in it have no bounds on their slopes. */
void range_program_run(range_program *p, const range_leaves *leaves, range *out);

/* Keeps what the roots are made of at one end (0 or 1) of what is looked at, for the next. */
void range_program_hold(range_program *p, const range_leaves *leaves, int end);
/* Whether all functions in the roots are tame over these ranges: each moves by less than its own
 * length, as tanh(x) where x moves by less than 1, sides of max keep their order, 1/x changes by
 * less than a factor e, and what grows without an end, as exp, goes one way, or, with the ends
 * known, leaves the values there by no more than its length. Polynomials of low degree are. Lengths
 * are so many times as long where so many pieces are known. */
bool range_program_is_tame(range_program *p, const range_leaves *leaves, int known, bool ends);

/* slots[k] = true for the slots of the memory that may be either, and that a root does not have the
 * same value with, as the last run tells; others are left as they are. */
void range_program_open_slots(range_program *p, bool *slots);

/* Whether what has this range goes through zero at most once: it keeps away from zero, goes only
 * one way, or does not move at all. */
bool range_is_plain(const range *r);

#endif
