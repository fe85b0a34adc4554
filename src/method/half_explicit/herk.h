/* Half-explicit Runge-Kutta methods for E(t,x) x' = f(t,x), 0 = g(t,x) with all constraints of all
 * levels [Baese17]: differential components move by an explicit table, algebraic ones solve g. */
#ifndef DAE_METHOD_HALF_EXPLICIT_HERK_H
#define DAE_METHOD_HALF_EXPLICIT_HERK_H

#include "method/common/method.h"
#include "method/common/tableau.h"

/* How to run Algorithm 3.3. */
typedef struct herk_config {
    const tableau *table; /* NULL: dopri5, or dop853 for tight tolerances */
    /* As the thesis has it: the selection before every step, Newton from the last stage with a new
     * Jacobian per stage until |g|_2 < newton_tolerance, errors by Richardson with X_h kept, in the
     * Euclidean norm against the absolute tolerance alone, and the next step from the thesis'
     * control [Baese17 4.1.5]. */
    bool thesis;
    bool classical;              /* Newton with a new Jacobian at every iterate */
    double newton_tolerance;     /* thesis; 0: a hundredth of the absolute tolerance */
    double beta;                 /* safety factor of the thesis' step control; 0: 0.9 */
    double pivot_tolerance;      /* 0: 1e-15 in the thesis, else 1e-12 */
    double increment;            /* of differences; 0: by the size of a component */
    bool differences;            /* g_x is made of differences of g, whatever the form has */
    bool need_jacobian;          /* g_x must not be that */
    bool constant_E, variable_E; /* whatever the form says */
} herk_config;

/* The start of any of them with a configuration of one's own; config is borrowed. */
void herk_start(void *state, void *scratch, const method_context *ctx, const start_point *at,
                const herk_config *config);

#endif
