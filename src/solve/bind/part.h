/* A part of a solver that a higher room makes and a lower one keeps: it knows how to free itself,
 * so that the lower room need not know what it is. The first member of its struct is an
 * `owned_part`. */
#ifndef DAE_SOLVE_BIND_PART_H
#define DAE_SOLVE_BIND_PART_H

#include <stddef.h>

typedef struct owned_part {
    void (*free)(void *self);
} owned_part;

static inline void part_free(void *p) /* NULL is fine */
{
    if (p) ((const owned_part *)p)->free(p);
}

#endif
