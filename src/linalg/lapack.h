/* LAPACK, one thread at a time.
 *
 * OpenBLAS built without threads and without USE_LOCKING, as Debian's serial package is, hands out
 * its work buffers from a table that nobody guards: two threads may be given the same one and spoil
 * each other's factors. So every LAPACK call that may reach level 2 or 3 BLAS goes between these
 * two. A lock costs nothing beside such a call. */
#ifndef DAE_LINALG_LAPACK_H
#define DAE_LINALG_LAPACK_H

#include <lapacke.h>

void lapack_enter(void);
void lapack_leave(void);

#endif
