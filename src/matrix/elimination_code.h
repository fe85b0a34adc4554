/* C text for the elimination of one shape: what its lists do, written out (linalg/elimination.inc).
 * Every operation is that of the lists, in their order for each value: the bits are the same. */
#ifndef DAE_MATRIX_ELIMINATION_CODE_H
#define DAE_MATRIX_ELIMINATION_CODE_H

#include "expr/emit.h"
#include "expr/native.h"
#include "linalg/elimination_kernel.h"

/* Pattern and order of pivots, and how code for them is written */
void elimination_key(const elimination_shape *shape, native_key *key);

/* What the functions need, once in a text */
void elimination_emit_head(emit_text *t);
/* Functions for the shape, and one with the name of its key that returns them. */
void elimination_emit(emit_text *t, const elimination_shape *shape, const native_key *key);

/* Bytes of other functions that compilers take as long for, about */
double elimination_emit_cost(const elimination_shape *shape);

/* The functions behind that name in a module */
const elimination_kernel *elimination_kernel_of(native_function function);

#endif
