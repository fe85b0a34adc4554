#include "base/arena.h"

#include "base/interrupt.h"
#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 16, FIRST_CHUNK = 1 << 12, LARGEST_CHUNK = 1 << 20 };

/* Chunks form a list, newest first; blocks are cut from the front of the newest one. */
typedef struct chunk {
    struct chunk *older;
    size_t capacity, used; /* bytes of `data` */
    _Alignas(ALIGNMENT) unsigned char data[];
} chunk;

struct arena {
    chunk *newest;
    size_t limit; /* bytes, 0: none */
    size_t held;  /* bytes of all chunks, headers included */
    size_t next;  /* capacity of the next ordinary chunk */
    int failed;
};

arena *arena_new(size_t limit)
{
    arena *a = DAE_NEW(arena);
    if (!a) return NULL;
    a->limit = limit;
    a->next = FIRST_CHUNK;
    return a;
}

void arena_free(arena *a)
{
    if (!a) return;
    for (chunk *c = a->newest, *older; c; c = older) {
        older = c->older;
        dae_free(c);
    }
    dae_free(a);
}

/* Bytes that the limit still allows for a chunk's data. */
static size_t allowance(const arena *a)
{
    if (a->limit == 0) return SIZE_MAX - sizeof(chunk) - a->held;
    size_t taken = a->held + sizeof(chunk);
    return a->limit > taken ? a->limit - taken : 0;
}

/* A chunk with room for `bytes` becomes the newest; chunks double up to 1 MiB so that their number
 * stays logarithmic for small arenas and waste stays bounded for large ones. */
static chunk *add_chunk(arena *a, size_t bytes)
{
    size_t allowed = allowance(a);
    if (bytes > allowed) return NULL;
    size_t capacity = bytes > a->next ? bytes : a->next;
    if (capacity > allowed) capacity = allowed / ALIGNMENT * ALIGNMENT;
    chunk *c = dae_alloc(1, sizeof(chunk) + capacity);
    if (!c) return NULL;
    *c = (chunk){.older = a->newest, .capacity = capacity};
    a->newest = c;
    a->held += sizeof(chunk) + capacity;
    if (a->next < LARGEST_CHUNK) a->next *= 2;
    return c;
}

/* Bytes from the next place with that alignment on, which hold anything; NULL: exhausted. */
static void *cut(arena *a, size_t bytes, size_t alignment)
{
    if (a->failed || bytes > SIZE_MAX - ALIGNMENT || interrupted()) {
        a->failed = 1;
        return NULL;
    }
    chunk *c = a->newest;
    size_t at = c ? (c->used + alignment - 1) / alignment * alignment : 0;
    if (!c || at > c->capacity || c->capacity - at < bytes) {
        c = add_chunk(a, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
        at = 0;
    }
    if (!c) {
        a->failed = 1;
        return NULL;
    }
    c->used = at + bytes;
    return c->data + at;
}

void *arena_alloc(arena *a, size_t bytes)
{
    const size_t least = bytes > 0 ? bytes : 1;
    void *block = cut(a, least, ALIGNMENT);
    return block ? memset(block, 0, least) : NULL;
}

/* Letters need no alignment: a model has many short names. */
char *arena_text(arena *a, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        a->failed = 1;
        return NULL;
    }
    char *copy = cut(a, length + 1, 1);
    if (!copy) return NULL;
    if (!text)
        memset(copy, 0, length);
    else if (length > 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

int arena_failed(const arena *a)
{
    return a->failed;
}

void arena_recover(arena *a)
{
    a->failed = 0;
}
