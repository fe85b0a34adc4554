/* An arena: many small blocks, freed at once. */
#ifndef DAE_BASE_ARENA_H
#define DAE_BASE_ARENA_H

#include <stddef.h>

typedef struct arena arena;

/* limit: bytes the arena may hold at most, 0 for none. NULL: out of memory. */
arena *arena_new(size_t limit);
void arena_free(arena *a); /* NULL is fine */

/* Zeroed, suitably aligned; NULL when memory or the limit is exhausted (remembered). */
void *arena_alloc(arena *a, size_t bytes);
/* Terminated copy; zeros if text is NULL. */
char *arena_text(arena *a, const char *text, size_t length);
int arena_failed(const arena *a);
void arena_recover(arena *a); /* forget the failure: all blocks there are are sound */

#endif
