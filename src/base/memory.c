#include "base/memory.h"

#include "base/interrupt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Long arrays begin on a cache line. Short ones come from calloc, which is several times faster:
 * making a solver for a handful of variables is mostly allocation. The shortest ones come from
 * malloc: glibc has blocks up to this size at hand that were freed in the same thread, and calloc
 * does not look for them. */
enum { CACHE_LINE = 64, LONG_BLOCK = 2048, SHORT_BLOCK = 1024 };

/* Zeros, from blocks that were freed */
static void *short_block(size_t bytes)
{
    void *block = malloc(bytes > 0 ? bytes : 1);
    return block && bytes > 0 ? memset(block, 0, bytes) : block;
}

void *dae_calloc(size_t count, size_t size)
{
    if (interrupted()) return NULL;
    if (size != 0 && count > (SIZE_MAX - CACHE_LINE) / size) return NULL;
    size_t bytes = count * size;
    if (bytes <= SHORT_BLOCK) return short_block(bytes);
    if (bytes < LONG_BLOCK) return calloc(bytes, 1);
    bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *block = aligned_alloc(CACHE_LINE, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

void dae_free(void *pointer)
{
    free(pointer);
}
