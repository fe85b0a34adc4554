/* The one door to the heap: every allocation of the library goes through here. */
#ifndef DAE_BASE_MEMORY_H
#define DAE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* count*size zeroed bytes, long blocks on a cache line; NULL on overflow, exhaustion or
 * interruption. count = 0 gives a valid pointer, so that NULL always means failure. */
void *dae_calloc(size_t count, size_t size);
/* The same, but long blocks hold anything: for who fills what it asks for. */
void *dae_alloc(size_t count, size_t size);
void dae_free(void *pointer); /* NULL is fine */
size_t dae_size(void *block); /* bytes of a block, no less than was asked for; NULL: 0 */
/* The same for several. */
#define dae_free_all(...)                                                                          \
    dae_free_list((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void dae_free_list(void *const *pointers, size_t count);

/* Room for `least` items of `size` bytes in an array that grows by doubling; `items` is the
 * address of the pointer to it. The items are kept, new ones are zeroed. false: out of memory, and
 * nothing has changed. */
bool dae_enlarge(void *items, size_t *capacity, size_t least, size_t size);
static inline bool dae_grow(void *items, size_t *capacity, size_t least, size_t size)
{
    return least <= *capacity || dae_enlarge(items, capacity, least, size);
}

/* Copy of a block or string; NULL on failure. A NULL source must not be passed. */
void *dae_copy(const void *source, size_t count, size_t size);
char *dae_strdup(const char *text);

/* Typed shorthands. */
#define DAE_NEW(type) ((type *)dae_calloc(1, sizeof(type)))
#define DAE_ARRAY(type, count) ((type *)dae_calloc((size_t)(count), sizeof(type)))

/* So many pointers one after the other, each to an array of `count` items of some size. */
typedef struct array_share {
    void *pointers;
    int number;
    size_t size, count;
} array_share;

/* One pointer, or an array of them. */
#define SHARE(pointer, count) SHARES(&(pointer), 1, count)
#define SHARES(pointers, number, count)                                                            \
    {                                                                                              \
        pointers, number, sizeof **(pointers), (size_t)(count)                                     \
    }

/* One zeroed block for all of these arrays, which begins with the first; NULL: memory. */
#define SHARED_BLOCK(...)                                                                          \
    shared_block((array_share[]){__VA_ARGS__},                                                     \
                 sizeof((array_share[]){__VA_ARGS__}) / sizeof(array_share))
void *shared_block(const array_share *shares, size_t count);

#endif
