/* A heap that refuses, for tests of what happens when there is no memory. The library asks calloc
 * and aligned_alloc only, through base/memory.h: these are replaced here, and while the heap is
 * watched one request, or every one, comes back empty. malloc and realloc serve other libraries
 * (KLU, LAPACK, qsort) and are never refused. All blocks handed out while watched stand in a table
 * until they are freed, so that what is left in the end leaked; blocks from before are not counted.
 *
 * To be included first, once in a program, and not with the address sanitizer, which has a heap of
 * its own. test_fault_alloc.c refuses other libraries as well, with functions of its own. */
#ifndef DAE_TEST_FAULT_ALLOC_H
#define DAE_TEST_FAULT_ALLOC_H

#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

static struct {
    bool watching;  /* only then requests are counted and refused */
    bool exhausted; /* every one is refused */
    long countdown; /* requests until one is refused; negative: none is */
    long requests;  /* of calloc and aligned_alloc, */
    size_t bytes;   /* asked for by them, */
    long foreign;   /* of malloc and realloc */
    long live;      /* blocks in the table */
} heap = {.countdown = -1};

/* ---- the table: open addressing, a block stands in the first free slot from its own on ---- */

enum { SLOT_BITS = 16, SLOTS = 1 << SLOT_BITS };
static void *heap_table[SLOTS];

/* Where the block stands, or the free slot where it would. */
static size_t heap_slot(const void *block)
{
    uint64_t mixed = ((uint64_t)(uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    size_t k = (size_t)(mixed >> (64 - SLOT_BITS));
    while (heap_table[k] && heap_table[k] != block) k = (k + 1) % SLOTS;
    return k;
}

static void heap_enter(void *block)
{
    if (heap.live == SLOTS - 1) abort(); /* the table is too small for this test */
    heap_table[heap_slot(block)] = block;
    heap.live++;
}

/* Whether the block stood in the table. Those behind it move up, for no search may end too soon. */
static bool heap_leave(const void *block)
{
    size_t k = block ? heap_slot(block) : 0;
    if (!block || !heap_table[k]) return false;
    heap_table[k] = NULL;
    heap.live--;
    for (k = (k + 1) % SLOTS; heap_table[k]; k = (k + 1) % SLOTS) {
        void *other = heap_table[k];
        heap_table[k] = NULL;
        heap_table[heap_slot(other)] = other;
    }
    return true;
}

/* ---- the functions of the C library ---- */

static void *heap_obtain(size_t alignment, size_t size)
{
    void *block = NULL;
    if (posix_memalign(&block, alignment, size) != 0) return NULL;
    if (heap.watching) heap_enter(block);
    return block;
}

static void *heap_request(size_t alignment, size_t size)
{
    if (heap.watching) {
        heap.requests++;
        heap.bytes += size;
        if (heap.exhausted || (heap.countdown >= 0 && heap.countdown-- == 0)) return NULL;
    }
    return heap_obtain(alignment, size);
}

static void heap_find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return heap_request(alignment, size);
}

void *calloc(size_t count, size_t size)
{
    void *block = size == 0 || count <= SIZE_MAX / size ? heap_request(64, count * size) : NULL;
    return block ? memset(block, 0, count * size) : NULL;
}

void *malloc(size_t size)
{
    heap.foreign += heap.watching;
    return heap_obtain(64, size);
}

void *realloc(void *old, size_t size)
{
    static void *(*original)(void *, size_t);
    if (!original) heap_find("realloc", &original);
    heap.foreign += heap.watching;
    bool watched = old ? heap_leave(old) : heap.watching;
    void *block = original(old, size);
    if (watched && block) heap_enter(block);
    return block;
}

void free(void *block)
{
    static void (*original)(void *);
    if (!original) heap_find("free", &original);
    heap_leave(block);
    original(block);
}

/* No block is worth keeping for the next start (base/recycle.c): every request comes here. */
size_t malloc_usable_size(void *block)
{
    (void)block;
    return 0;
}

/* ---- watching ---- */

/* Count from here on, and refuse request number k, from 0; with k < 0 none. */
static inline void heap_watch(long k)
{
    if (heap.live > 0) memset(heap_table, 0, sizeof heap_table);
    heap.live = heap.requests = heap.foreign = 0;
    heap.bytes = 0;
    heap.countdown = k;
    heap.watching = true;
}

/* Whether a request was refused since heap_watch(k), k >= 0. */
static inline bool heap_unwatch(void)
{
    bool refused = heap.countdown < 0;
    heap.watching = heap.exhausted = false;
    heap.countdown = -1;
    return refused;
}

/* What is tried: DAE_OK, or what became of it. It may switch heap.watching off for a while. */
typedef dae_status heap_trial(void *context);

typedef struct heap_faults {
    dae_status status;    /* with enough memory */
    long requests;        /* then */
    long told;            /* refusals that were answered by DAE_ERR_MEMORY, */
    long unnoticed;       /* those that did not change the status, */
    long first_unnoticed; /* the first of them, or LONG_MAX */
} heap_faults;

/* The trial with memory, twice: at first libraries fetch what they keep for ever. It succeeds, or
 * what is asked for is not offered. */
static inline heap_faults heap_healthy(const char *name, heap_trial *trial, void *context)
{
    heap_faults f = {.first_unnoticed = LONG_MAX};
    for (int i = 0; i < 2; i++) {
        heap_watch(-1);
        f.status = trial(context);
        heap_unwatch();
    }
    if (f.status != DAE_OK && f.status != DAE_ERR_UNSUPPORTED)
        fail_msg("%s, with memory: %s", name, dae_status_name(f.status));
    f.requests = heap.requests;
    if (heap.live != 0) fail_msg("%s: %ld blocks leak", name, heap.live);
    return f;
}

/* Refuse every request of the trial in turn, or with the same distance only so many that about
 * `most` trials are made, until one comes to its end without a refusal. After each nothing may be
 * left, and its status is DAE_ERR_MEMORY or as with memory. */
static inline heap_faults fail_some(const char *name, heap_trial *trial, void *context, long most)
{
    heap_faults f = heap_healthy(name, trial, context);
    const long stride = f.requests > most ? f.requests / most : 1;
    bool refused = true;
    for (long k = 0; refused; k += stride) {
        heap_watch(k);
        dae_status status = trial(context);
        refused = heap_unwatch();
        if (heap.live != 0)
            fail_msg("%s, request %ld of %ld: %ld blocks leak", name, k, f.requests, heap.live);
        if (status != f.status && (status != DAE_ERR_MEMORY || !refused))
            fail_msg("%s, request %ld of %ld: %s", name, k, f.requests, dae_status_name(status));
        f.told += status != f.status;
        f.unnoticed += refused && status == f.status;
        if (f.unnoticed == 1 && f.first_unnoticed == LONG_MAX) f.first_unnoticed = k;
    }
    return f;
}

static inline heap_faults fail_each(const char *name, heap_trial *trial, void *context)
{
    return fail_some(name, trial, context, LONG_MAX);
}

/* The same where the trial succeeds with memory, makes more than `least` requests, and no refusal
 * goes unnoticed. */
static inline void every_failure_is_told(const char *name, heap_trial *trial, void *context,
                                         long least)
{
    heap_faults f = fail_each(name, trial, context);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.requests > least);
    if (f.unnoticed > 0) fail_msg("%s: request %ld goes unnoticed", name, f.first_unnoticed);
}

#endif
