/* A crossing between two times: the next time to look at, so that few are needed. */
#ifndef DAE_CONTROL_BRACKET_H
#define DAE_CONTROL_BRACKET_H

#include <stdbool.h>

/* g has one sign at near, the other or zero at far; `before` is the end that was given up last. */
typedef struct bracket {
    double near, far, g_near, g_far;
    double before, g_before; /* before = NAN: there was none yet */
    bool far_moved;          /* by the last look; else near */
} bracket;

/* A time between the ends, at least a part of the tolerance away from both. */
double bracket_next(const bracket *b, double tolerance);

/* g at a time between the ends: it becomes one of them; crossed: the far one. */
void bracket_take(bracket *b, double t, double g, bool crossed);

/* The zero of the quadratic in g through three times, of which the first two are ends of a bracket,
 * as a part of the way from the first to the second; a half where that is no good guide. */
double quadratic_zero(const double t[3], const double g[3]);

#endif
