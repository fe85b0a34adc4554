/* Loops whose number of passes is known only during the run, as of a while in a function.
 *
 * A loop has cells. It starts with a value for each and, as long as its condition holds, replaces
 * all of them at once by what its body makes of them; where it ends, every cell is a RESULT. The
 * body is closed: its leaves are its cells and constants, and what it needs from outside are cells
 * that never change. So a loop depends on what its LIST of start values depends on, substitution
 * and walks need not look inside, and equal bodies are stored once, however often they are used.
 *
 * A loop must end: whoever makes one puts a bound on its passes into its condition. */
#ifndef DAE_EXPR_LOOP_H
#define DAE_EXPR_LOOP_H

#include "expr/graph.h"

/* The index-th variable of the loop being written; numbers need not start at 0 while drafting. */
expr graph_cell(graph *g, int index);

/* A loop as it was found: its expressions may use anything. */
typedef struct loop_draft {
    size_t count;
    int first;         /* its cells are CELLs first .. first+count-1 */
    const expr *start; /* values before the first pass */
    const expr *next;  /* values after a pass, by CELLs before it */
    expr condition;    /* by CELLs: one more pass */
} loop_draft;

/* The LOOP node of a draft; its cells 0 .. count-1 are the draft's, those of invariants follow. */
expr loop_close(graph *g, const loop_draft *draft);
/* What a cell holds when the loop has ended. */
expr loop_result(graph *g, expr loop, int cell);

size_t loop_cells(const graph *g, expr loop);
/* start[k] = the value cell k starts with */
void loop_starts(const graph *g, expr loop, expr *start);

/* d result = sum_k (d result / d start_k) tangent_k for a RESULT; EXPR_NONE among the tangents is
 * zero. The same loop with a second cell, its tangent, for every cell that varies: exact. Constant
 * 0 if nothing that varies reaches the result; EXPR_NONE: memory. */
expr loop_tangent(graph *g, expr result, const expr *tangent);

/* Run a body on cells in place, in double. false: memory. Not for the step loop. */
bool loop_run(const graph *g, int body, double *cell);

#endif
