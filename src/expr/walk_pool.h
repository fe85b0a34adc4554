/* Memory of walks that have ended, for those to come: a graph has one. Threads may share it. */
#ifndef DAE_EXPR_WALK_POOL_H
#define DAE_EXPR_WALK_POOL_H

#include <stddef.h>
#include <stdint.h>

typedef struct walk_pool walk_pool;

/* Arrays of one walk over up to `room` nodes. */
typedef struct walk_memory {
    uint32_t *place; /* room; owned, NULL: there is none */
    size_t room;
    uint32_t *order; /* length; owned, NULL: there is none */
    size_t length;
} walk_memory;

walk_pool *walk_pool_new(void); /* NULL: out of memory */
void walk_pool_free(walk_pool *p);
/* Nothing is kept any more. */
void walk_pool_empty(walk_pool *p);

walk_memory walk_pool_take(walk_pool *p); /* zeroed: there is none */
void walk_pool_give(walk_pool *p, walk_memory memory);

#endif
