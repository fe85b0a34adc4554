/* A stream of bytes that the parts of a solver are written to, or read back from. One function of a
 * part does both, so that what is written and what is read cannot drift apart.
 *
 * A struct goes as it is in memory, without the members that point to something: those are listed,
 * and keep what they have where the part was made. So a new member is saved without a word, and a
 * new pointer that nobody lists is found by the first test that loads. */
#ifndef DAE_BASE_PERSIST_H
#define DAE_BASE_PERSIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct persist {
    bool reading;
    unsigned char *bytes; /* writing: owned; reading: borrowed */
    size_t count, room;   /* bytes there are; writing: room for */
    size_t at;            /* reading: the next one */
    bool no_memory;       /* writing: it ran out; reading: of whoever makes what is read */
    const char *wrong;    /* the first thing that does not fit, static; NULL: nothing so far */
    bool later;           /* writing: it will fit behind one of the next steps */
} persist;

void persist_free(persist *p); /* what was written goes */

static inline bool persist_ok(const persist *p)
{
    return !p->no_memory && !p->wrong;
}
/* Something does not fit: what follows is neither read nor written. */
void persist_refuse(persist *p, const char *what);
/* Writing: something does not fit yet. */
void persist_postpone(persist *p, const char *what);

/* Reading past the end refuses, and leaves zeros. */
void persist_bytes(persist *p, void *data, size_t size);
#define PERSIST(p, x) persist_bytes(p, &(x), sizeof(x))
#define PERSIST_ARRAY(p, x, count) persist_bytes(p, x, (size_t)(count) * sizeof *(x))

/* An array that its struct owns, of so many items, or NULL. Reading: a new one takes its place. */
void persist_owned(persist *p, void *pointer, size_t count, size_t size);
#define PERSIST_OWNED(p, x, count) persist_owned(p, &(x), (size_t)(count), sizeof *(x))

/* A whole block of the heap that holds no pointers, or NULL, where one was made for the same sizes.
 */
void persist_block(persist *p, void *block);

/* Blocks of the heap that pointers of a part refer to. */
typedef struct persist_home {
    void *block[6];
} persist_home;
/* A pointer into one of these blocks, or NULL, as the place there. `pointer` is its address. */
void persist_within(persist *p, void *pointer, const persist_home *home);

/* Whether an optional part is there: as it is, or as it was. */
bool persist_flag(persist *p, bool present);
/* A number that must be the same where it is read. */
void persist_same(persist *p, uint64_t number, const char *what);
/* A text of at most `room` bytes with its end, which must be the same where it is read. */
void persist_same_text(persist *p, const char *text, const char *what);

/* A member of a struct that is not saved: it points to something, or is made anew. */
typedef struct persist_gap {
    size_t offset, size;
} persist_gap;
#define GAP(type, member)                                                                          \
    {                                                                                              \
        offsetof(type, member), sizeof(((type *)0)->member)                                        \
    }
/* All members from `first` up to `last`. */
#define GAPS(type, first, last)                                                                    \
    {                                                                                              \
        offsetof(type, first),                                                                     \
            offsetof(type, last) + sizeof(((type *)0)->last) - offsetof(type, first)               \
    }
/* `size` bytes without some gaps, in any order. */
void persist_around(persist *p, void *object, size_t size, const persist_gap *gaps, size_t count);
#define PERSIST_STRUCT(p, object, ...)                                                             \
    persist_around(p, object, sizeof *(object), (persist_gap[]){__VA_ARGS__},                      \
                   sizeof((persist_gap[]){__VA_ARGS__}) / sizeof(persist_gap))

/* CRC-64 of ECMA-182, going on from `before` (0 at first): a change of up to 64 bits in a row is
 * always seen. */
uint64_t checksum(uint64_t before, const void *bytes, size_t count);

#endif
