/* Taylor series of expressions, one coefficient at a time: O(k) work per operation for coefficient
 * k, so that a series of degree p costs O(p^2) [Moore66, GW08 13.2].
 *
 * Made for Pryce's scheme [Pryce98, Pryce01]. At stage s the wanted coefficient of e_i is number
 * lag_i + s, and the highest known one of x_j, perhaps a trial value, is number top_j + s; stages
 * come one after the other, from -max top on. A node between them advances by one coefficient a
 * stage: by how many it is ahead of s follows from its users.
 *
 * A stage is a sweep with a trial value for the coefficients top_j + s and, if s > 0, one
 * correction by what these lack: the outputs are linear in them there, and a correction costs O(1)
 * per operation. Operations with branches (abs, min, max, if) take one by the coefficients of order
 * 0. Loops of functions are run as wholes, up to the coefficient wanted: the condition looks at the
 * coefficient of order 0. What does not move stays constant even where a function has no derivative
 * (sqrt of a parameter that is 0). */
#ifndef DAE_EXPR_SERIES_H
#define DAE_EXPR_SERIES_H

#include "expr/graph.h"
#include "expr/scalar_math.h"

typedef struct series_program series_program;

/* Code for e[0 .. count-1] over x_j, j < variables, for stages up to `last`. NULL: memory. */
series_program *series_program_new(const graph *g, const expr *e, const int *lag, size_t count,
                                   const int *top, int variables, int last);
void series_program_free(series_program *p);           /* NULL is fine */
size_t series_program_length(const series_program *p); /* operations of a sweep */
/* How many of them multiply series: those cost O(k), the others O(1). */
size_t series_program_products(const series_program *p);
/* Whether a series around one point tells what comes farther on: it has no pieces, and no function
 * that is flat in one place and not in another, as exp(-x x), tanh and high powers are. */
bool series_program_is_tame(const series_program *p);

/* One run in numbers of type T. The caller sets time, parameters, memory and rows: rows[j][k] is
 * coefficient k of x_j, k <= top_j + last. All coefficients are those of ((t - time) / unit)^k, so
 * that high ones neither overflow nor vanish; unit is 1 unless it is set, best to a power of 2.
 *   prepare  after parameters or memory have changed
 *   sweep    stage s of all nodes
 *   correct  the same after x_j's coefficient top_j + s has grown by more[j]
 *   outputs  out[i] = coefficient lag_i + s of e_i; 0 if that is negative */
#define SERIES_RUN(T, SUFFIX)                                                                      \
    typedef struct series_run##SUFFIX {                                                            \
        const series_program *program;                                                             \
        T time, unit, inverse; /* inverse: of the unit, set by a sweep */                          \
        const T *parameters, *memory;                                                              \
        T *work, *delta;                  /* series, changes of one coefficient; owned */          \
        const T **rows;                   /* owned, entries borrowed */                            \
        struct series_run##SUFFIX *loops; /* one pass of each; owned */                            \
        T *cells;                         /* of a pass: its rows; owned */                         \
    } series_run##SUFFIX;                                                                          \
    bool series_run_new##SUFFIX(series_run##SUFFIX *r,                                             \
                                const series_program *p); /* false: memory */                      \
    void series_run_free##SUFFIX(series_run##SUFFIX *r);                                           \
    void series_prepare##SUFFIX(series_run##SUFFIX *r);                                            \
    void series_sweep##SUFFIX(series_run##SUFFIX *r, int stage);                                   \
    void series_correct##SUFFIX(series_run##SUFFIX *r, int stage, const T *more);                  \
    void series_outputs##SUFFIX(const series_run##SUFFIX *r, int stage, T *out);                   \
    T graph_apply##SUFFIX(expr_op op, T a, T b, T c); /* one operation on numbers */               \
    /* A number of a model: the shortest decimal that rounds to the double, so that a literal of   \
     * up to 15 digits is meant as written. */                                                     \
    T decimal_value##SUFFIX(double value);                                                         \
    /* So many digits that the value is told apart from its neighbours; size >= DIGITS_SIZE. */    \
    void decimal_text##SUFFIX(T value, char *text, size_t size);

enum { DIGITS_SIZE = 48 }; /* DAE_DIGITS_SIZE */

SERIES_RUN(double, _double)
SERIES_RUN(tape_long, _long)
#ifdef TAPE_QUAD
SERIES_RUN(tape_quad, _quad)
#endif

#endif
