/* Between the files of the rewriting: samples, collected sums, null vectors, the two methods. */
#ifndef DAE_STRUCTURE_REWRITE_REGULARISE_PARTS_H
#define DAE_STRUCTURE_REWRITE_REGULARISE_PARTS_H

#include "base/text.h"
#include "expr/walk.h"
#include "structure/rewrite/regularise.h"

/* ---- identities, tested by numbers (regularise_sample.c) ------------------------------------- */

enum { SAMPLES_NEAR = 4, SAMPLES_WIDE = 2, SAMPLES = SAMPLES_NEAR + SAMPLES_WIDE };

/* Points at which expressions are compared: around a given one, then far from it. Leaf values are
 * a function of the leaf and the sample's number, so that derivatives of any order and variables
 * that come later have values, too. */
typedef struct sampling {
    const equation_set *set;  /* borrowed */
    const equation_point *at; /* borrowed */
    int variables;            /* that the point has */
    bool parameters;          /* parameters vary as well, as if they had no values yet */
    const bool *zero;         /* of the first `zeros` variables: those that are zero with the */
    int zeros;                /* parameters' values (zeros.h); borrowed */
    walk nodes;               /* owned work */
    long double *value, *error;
    size_t capacity;
} sampling;

void sampling_free(sampling *s);
/* Values of expressions at one sample with bounds of their rounding errors (running error analysis
 * [Wil63]); error may be NULL. False: memory. */
bool sampling_values(sampling *s, int sample, const expr *e, size_t count, long double *value,
                     long double *error);
/* 1: e is zero within rounding wherever it could be evaluated; 0: not, or it could not be told;
 * -1: memory. */
int sampling_is_zero(sampling *s, expr e);
/* The same for a - b. */
int sampling_is_equal(sampling *s, expr a, expr b);

/* ---- sums in normal form (regularise_collect.c) ---------------------------------------------- */

/* e as a sum of products, equal terms collected, where e's parts are all defined; e itself if that
 * gives no less to compute and no fewer leaves, or is too long. EXPR_NONE: memory. */
expr collect(graph *g, expr e);
/* The same, always in normal form (unless it is too long). */
expr collect_fully(graph *g, expr e);
/* Divide expressions by the product of powers that all their terms have in common. False: memory.
 */
bool collect_divide_common(graph *g, expr *e, size_t count);

/* ---- one deficient block ----------------------------------------------------------------------
 */

/* What the methods work on. */
typedef struct rewriting {
    equation_set *set;
    const structure *s;
    const system_jacobian *J;
    const int *place; /* of columns within their blocks */
    const int *place_of_row;
    double *value; /* work: an entry of J each */
    sampling sample;
    rewrite_list *steps;
    bool singular_point; /* a block was singular at the point only, not identically */
} rewriting;

/* A null vector of a diagonal block: entries as expressions. */
typedef struct null_vector {
    int count;
    int *index;    /* rows (left) or columns (right) of the system; owned */
    expr *entry;   /* owned */
    double *value; /* near the point; owned */
} null_vector;

typedef struct null_vectors {
    int count;
    null_vector *vector; /* owned */
    int defect;          /* of the block at generic points: count, unless some could not be found */
} null_vectors;

/* Left (u'J = 0) or right null vectors of block b, identically in all variables. */
bool null_vectors_new(null_vectors *v, rewriting *r, int b, bool left); /* false: memory */
void null_vectors_free(null_vectors *v);

/* Rows (left) or columns of block b. */
const int *block_list(const rewriting *r, int b, bool left, int *n);
/* Entries as expressions for a vector whose index is known; 1, 0: none found, -1: memory */
int eliminate_null_vector(rewriting *r, int b, bool left, null_vector *v);

/* e without those variables on which it does not depend although they occur; which ones were
 * removed is appended to `text`, if not NULL. EXPR_NONE: memory. */
expr remove_idle_leaves(rewriting *r, expr e, char *text, size_t size);

/* Whether e keeps its sign around the point: then one may divide by it there. False: memory. */
bool keeps_sign(rewriting *r, expr e, bool *keeps);

/* Each tries to rewrite because of block b: 1: done, 0: does not apply, -1: memory. */
int rewrite_idle(rewriting *r, int b);         /* entries that are identically 0 */
int rewrite_combination(rewriting *r, int b);  /* [TNP17 4] */
int rewrite_substitution(rewriting *r, int b); /* [TNP17 5] */

/* Add a step to the list; text is copied. False: memory. */
bool note_step(rewriting *r, rewrite_kind kind, int row, const char *text);

/* e in the user's names, at the end of a text (base/text.h) */
void text_add_expr(const equation_set *set, char *text, size_t size, expr e);
/* That the parameters' values were needed, if they were. */
void text_add_proviso(const rewriting *r, char *text, size_t size);
/* ": left = right" */
void text_add_equation(const rewriting *r, char *text, size_t size, expr residual);
void text_add_row(const equation_set *set, char *text, size_t size, int row);

#endif
