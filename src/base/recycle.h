/* Short blocks of memory that are used again.
 *
 * A start of a small model asks the heap for some hundred short blocks and gives most of them back,
 * and the next start asks for the same ones: that was half of its instructions. A solver has a
 * store of blocks that were given back during its calls; requests look there first. While a call
 * uses a store, this thread's dae_calloc, dae_alloc and dae_free do, so that nothing below has to
 * know of it. What lies in a store are ordinary blocks of the C library. */
#ifndef DAE_BASE_RECYCLE_H
#define DAE_BASE_RECYCLE_H

#include <stdbool.h>
#include <stddef.h>

/* Kinds of blocks: multiples of 16 bytes up to 1 kB, of a cache line up to 16 kB. */
enum {
    RECYCLER_FINE = 16,
    RECYCLER_COARSE = 64,
    RECYCLER_FINE_BYTES = 1024,
    RECYCLER_MOST_BYTES = 16384,
    RECYCLER_FINE_KINDS = RECYCLER_FINE_BYTES / RECYCLER_FINE,
    RECYCLER_KINDS =
        RECYCLER_FINE_KINDS + (RECYCLER_MOST_BYTES - RECYCLER_FINE_BYTES) / RECYCLER_COARSE + 1
};

/* All zero: empty. */
typedef struct recycler {
    void *first[RECYCLER_KINDS]; /* each block begins with a pointer to the next of its kind */
    size_t bytes;
} recycler;

/* Give all blocks back to the heap, while nothing uses the store. */
void recycler_empty(recycler *r);

/* From here on this thread uses r; NULL: none. Returns what it has used before: set it back. Where
 * blocks cannot be used again, as with sanitizers, nothing happens. */
recycler *recycler_use(recycler *r);

/* Bytes to ask the heap for, so that a block of `bytes` finds others of its kind. */
size_t recycler_size(size_t bytes);
/* A block of so many bytes, whatever is on it; NULL: the store has none. */
void *recycler_take(size_t bytes);
/* Put a block into the store. False: it does not take it. */
bool recycler_keep(void *block);

#endif
