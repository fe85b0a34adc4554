#include "base/memory.h"

#include "base/interrupt.h"
#include "base/recycle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Long arrays begin on a cache line. Short ones come from calloc, which is several times faster:
 * making a solver for a handful of variables is mostly allocation. The shortest ones, up to
 * SHORT_BLOCK, are asked for with the alignment that all blocks have: glibc then takes blocks that
 * were freed in the same thread, which calloc does not look for. */
enum {
    CACHE_LINE = 64,
    LONG_BLOCK = 2048,
    SHORT_BLOCK = 1024,
    SHORT_LINE = 16,
    HUGE_BLOCK = 1 << 19
};

/* So many bytes, rounded up to lines of this length; `zeroed`: with zeros on them */
static void *block_on(size_t line, size_t bytes, bool zeroed)
{
    bytes = (bytes + line - 1) / line * line;
    void *block = aligned_alloc(line, bytes);
    return block && zeroed ? memset(block, 0, bytes) : block;
}

/* A long block, with zeros. A huge one comes from calloc, which takes fresh pages from the system
 * for it: what a model of 10^4 unknowns has for events, values inside steps or a way out of
 * failures, and never needs, takes no memory then. */
static void *long_block(size_t bytes)
{
    return bytes >= HUGE_BLOCK ? calloc(bytes, 1) : block_on(CACHE_LINE, bytes, true);
}

/* From the heap */
static void *fresh_block(size_t bytes, bool zeroed)
{
    if (bytes <= SHORT_BLOCK) return block_on(SHORT_LINE, bytes, true);
    return bytes < LONG_BLOCK ? calloc(recycler_size(bytes), 1)
           : zeroed           ? long_block(bytes)
                              : block_on(CACHE_LINE, bytes, false);
}

static inline void *obtain(size_t count, size_t size, bool zeroed)
{
    if (interrupted()) return NULL;
    if (size != 0 && count > (SIZE_MAX - CACHE_LINE) / size) return NULL;
    size_t bytes = count * size;
    if (bytes == 0) bytes = 1;
    void *again = recycler_take(bytes);
    if (!again) return fresh_block(bytes, zeroed);
    return zeroed || bytes < LONG_BLOCK ? memset(again, 0, bytes) : again;
}

void *dae_calloc(size_t count, size_t size)
{
    return obtain(count, size, true);
}

void *dae_alloc(size_t count, size_t size)
{
    return obtain(count, size, false);
}

void dae_free(void *pointer)
{
    if (!recycler_keep(pointer)) free(pointer);
}
