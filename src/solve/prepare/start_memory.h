/* What starts of a plan have computed, so that the next solver that begins in the very same way
 * need not: consistent values, and that nothing is wrong there.
 *
 * Each of these is a function of numbers alone, those of the key: found again bit by bit, the
 * result has the bits that the computation would have. Plans keep those of their last few starts,
 * guarded by the lock of the model's graph. */
#ifndef DAE_SOLVE_PREPARE_START_MEMORY_H
#define DAE_SOLVE_PREPARE_START_MEMORY_H

#include "solve/prepare/plan.h"

typedef enum start_fact {
    FACT_LEVELS,      /* values that satisfy all levels */
    FACT_REGULAR,     /* structure and numbers agree where the equations hold */
    FACT_INDEPENDENT, /* no constraint follows from others, or contradicts them */
    FACT_GUESSES,     /* values that single equations give, before there is a plan */
    FACT_CONSISTENT   /* values that satisfy the equations as they are written, and the work */
} start_fact;

/* What a fact is known by: the bytes of some arrays, borrowed until it is asked for. */
typedef struct fact_key {
    struct {
        const void *from;
        size_t bytes;
    } part[16];
    int count;
} fact_key;

void fact_key_add(fact_key *key, const void *from, size_t bytes);
static inline void fact_key_add_numbers(fact_key *key, const double *from, size_t count)
{
    fact_key_add(key, from, count * sizeof *from);
}

/* Of the problem, before there is a plan; otherwise as below. */
bool problem_recalls(const dae_problem *problem, start_fact what, const fact_key *key, void *result,
                     size_t bytes);
void problem_remembers(const dae_problem *problem, start_fact what, const fact_key *key,
                       const void *result, size_t bytes);
/* True: the fact is known, and its result, of so many bytes, is in *result. */
bool plan_recalls(const plan *p, start_fact what, const fact_key *key, void *result, size_t bytes);
/* Where there is no memory for it, where the plan is not kept, and for large models, it is not
 * remembered. */
void plan_remembers(const plan *p, start_fact what, const fact_key *key, const void *result,
                    size_t bytes);

#endif
