/* The index at a point, for messages. */
#ifndef DAE_SOLVE_EXPLAIN_DIAGNOSE_API_H
#define DAE_SOLVE_EXPLAIN_DIAGNOSE_API_H

#include "solve/bind/solver.h"

/* One sentence, " The index at t = 0.5 is 3 (equation F[4], variable y[4]): ..", about what the
 * solver integrates at (t, y, y'); empty if the index is 0 or 1, or cannot be told. Allocates,
 * costs some hundred Jacobians; changes nothing but statistics. Whether there is something to say.
 */
bool solver_index_sentence(dae_solver *s, double t, const double *y, const double *yp, char *text,
                           size_t size);

/* The index at (t, s->bound.y, s->bound.yp) if it is certain, else -1; from 2 on with a text such
 * as "3 (equation F[4]; variable y[4])", the variable in the diagnostic. As above. */
int solver_certain_index(dae_solver *s, double t, char *text, size_t size);

/* Whether the Jacobians frozen at the start have the index of the system, for certain. As above. */
bool solver_index_is_frozen(dae_solver *s, double t);

#endif
