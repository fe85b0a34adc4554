#include "base/recycle.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* A sanitizer watches blocks from request to return: none may be used twice behind its back. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define WATCHED 1
#endif
#endif
#if defined(__GLIBC__) && !defined(WATCHED)
enum { POSSIBLE = 1 };
#else
enum { POSSIBLE = 0 };
#endif

/* A store holds 256 kB: starts of models with 20 unknowns need half of that, and for large ones the
 * heap is no burden. Blocks from 2 kB on begin on a cache line (memory.c). */
enum { CAPACITY = 1 << 18, ALIGNED_BYTES = 2048 };

/* What the calls of this thread use. It is set by a public call, and back to what it was when that
 * call returns: an argument of all functions below it, as the scope of interrupts is. */
static _Thread_local recycler *used;

static inline size_t usable_bytes(void *block)
{
#if defined(__GLIBC__)
    return malloc_usable_size(block);
#else
    (void)block;
    return 0;
#endif
}

/* The kind of the longest request that a block of so many bytes serves. */
static inline size_t kind_of(size_t bytes)
{
    if (bytes < RECYCLER_FINE_BYTES + RECYCLER_COARSE)
        return bytes < RECYCLER_FINE_BYTES ? bytes / RECYCLER_FINE : RECYCLER_FINE_KINDS;
    return RECYCLER_FINE_KINDS + (bytes - RECYCLER_FINE_BYTES) / RECYCLER_COARSE;
}

static inline size_t bytes_of(size_t kind)
{
    return kind <= RECYCLER_FINE_KINDS
               ? RECYCLER_FINE * kind
               : RECYCLER_FINE_BYTES + RECYCLER_COARSE * (kind - RECYCLER_FINE_KINDS);
}

void recycler_empty(recycler *r)
{
    for (size_t k = 0; k < RECYCLER_KINDS; k++)
        for (void *block = r->first[k], *next; block; block = next) {
            memcpy(&next, block, sizeof next);
            dae_free(block);
        }
    *r = (recycler){0};
}

recycler *recycler_use(recycler *r)
{
    recycler *before = used;
    if (POSSIBLE) used = r;
    return before;
}

size_t recycler_size(size_t bytes)
{
    size_t unit = bytes <= RECYCLER_FINE_BYTES ? RECYCLER_FINE : RECYCLER_COARSE;
    return (bytes + unit - 1) / unit * unit;
}

void *recycler_take(size_t bytes)
{
    recycler *r = used;
    if (!r || bytes > RECYCLER_MOST_BYTES) return NULL;
    size_t kind = kind_of(recycler_size(bytes));
    void *block = r->first[kind];
    if (!block) return NULL;
    memcpy(&r->first[kind], block, sizeof block);
    r->bytes -= bytes_of(kind);
    return block;
}

bool recycler_keep(void *block)
{
    recycler *r = used;
    if (!r || !block) return false;
    size_t bytes = usable_bytes(block), kind = kind_of(bytes);
    bool aligned = bytes < ALIGNED_BYTES || (uintptr_t)block % RECYCLER_COARSE == 0;
    if (bytes < RECYCLER_FINE || kind >= RECYCLER_KINDS || !aligned ||
        r->bytes + bytes_of(kind) > CAPACITY)
        return false;
    memcpy(block, &r->first[kind], sizeof block);
    r->first[kind] = block;
    r->bytes += bytes_of(kind);
    return true;
}
