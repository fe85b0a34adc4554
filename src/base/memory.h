/* The one door to the heap: every allocation of the library goes through here. */
#ifndef DAE_BASE_MEMORY_H
#define DAE_BASE_MEMORY_H

#include <stddef.h>

/* count*size zeroed bytes, long blocks on a cache line; NULL on overflow, exhaustion or
 * interruption. count = 0 gives a valid pointer, so that NULL always means failure. */
void *dae_calloc(size_t count, size_t size);
void dae_free(void *pointer); /* NULL is fine */

/* Copy of a block or string; NULL on failure. A NULL source must not be passed. */
void *dae_copy(const void *source, size_t count, size_t size);
char *dae_strdup(const char *text);

/* Typed shorthands. */
#define DAE_NEW(type) ((type *)dae_calloc(1, sizeof(type)))
#define DAE_ARRAY(type, count) ((type *)dae_calloc((size_t)(count), sizeof(type)))

#endif
