/* Half-explicit Runge-Kutta methods for index 2: docs/methods/half-explicit.md. */
#ifndef DAE_METHOD_HALF_EXPLICIT_HEM_H
#define DAE_METHOD_HALF_EXPLICIT_HEM_H

#include "method/common/method.h"

extern const method method_hem3, method_hem4, method_hem5; /* [BH93], [Bra94] */
extern const method method_phem5;                          /* partitioned [Mur97] */
extern const method method_prk, method_dopri5, method_dop853,
    method_euler; /* explicit on manifolds [HW96 VII.2] */

#endif
