#include "base/memory.h"

#include "base/interrupt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Long arrays begin on a cache line. Short ones come from calloc, which is several times faster:
 * making a solver for a handful of variables is mostly allocation. */
enum { CACHE_LINE = 64, LONG_BLOCK = 2048 };

void *dae_calloc(size_t count, size_t size)
{
    if (interrupted()) return NULL;
    if (size != 0 && count > (SIZE_MAX - CACHE_LINE) / size) return NULL;
    size_t bytes = count * size;
    if (bytes < LONG_BLOCK) return calloc(bytes > 0 ? bytes : 1, 1);
    bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *block = aligned_alloc(CACHE_LINE, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void dae_free(void *pointer)
{
    free(pointer);
}

void dae_free_list(void *const *pointers, size_t count)
{
    for (size_t k = 0; k < count; k++) dae_free(pointers[k]);
}

bool dae_enlarge(void *items, size_t *capacity, size_t needed, size_t size)
{
    size_t larger = 2 * *capacity > needed ? 2 * *capacity : needed + 15;
    void *block = dae_calloc(larger, size), *old;
    if (!block) return false;
    memcpy(&old, items, sizeof old); /* whatever it points to, it is a pointer */
    if (old) memcpy(block, old, *capacity * size);
    dae_free(old);
    memcpy(items, &block, sizeof block);
    *capacity = larger;
    return true;
}

void *dae_copy(const void *source, size_t count, size_t size)
{
    void *block = dae_calloc(count, size);
    if (block && count * size > 0) memcpy(block, source, count * size);
    return block;
}

char *dae_strdup(const char *text)
{
    return dae_copy(text, strlen(text) + 1, 1);
}
