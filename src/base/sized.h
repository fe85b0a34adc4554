/* Structs that cross the border between a program and the library, each built with its own
 * daedal.h. */
#ifndef DAE_BASE_SIZED_H
#define DAE_BASE_SIZED_H

#include "daedal.h"

/* full = what the caller's struct says, of which it knows `size` bytes and the library `known`.
 * An older caller's struct is shorter: what it lacks stays as `full` is on entry, the defaults. A
 * newer caller's struct is longer: accepted if all of its tail is zero, else DAE_ERR_ARGUMENT. So
 * are NULL and a size that no struct of this kind has. `what` names it, as "problem description".
 */
dae_status sized_read(const void *given, size_t size, void *full, size_t known, const char *what,
                      dae_diag *diag);

/* The other way: the caller's `size` bytes = as much of `full` as fits; what is left over is 0. */
void sized_write(void *place, size_t size, const void *full, size_t known);

#endif
