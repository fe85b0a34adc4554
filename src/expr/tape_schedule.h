/* Reordering a tape before it gets registers. */
#ifndef DAE_EXPR_TAPE_SCHEDULE_H
#define DAE_EXPR_TAPE_SCHEDULE_H

#include "expr/tape_code.h"

/* Instructions reordered together; at most so many more values are alive at once. */
enum { TAPE_WINDOW = 1024 };

/* Reorder code[0 .. length-1] if it is irregular. Operands and results are still nodes (below
 * `nodes`), each made once. false: out of memory, code as it was. */
bool tape_schedule(tape_instruction *code, size_t length, size_t nodes);

#endif
