/* Vectors of one block: those behind the structs of a method, and those of a cache. */
#ifndef DAE_METHOD_COMMON_LAYOUT_H
#define DAE_METHOD_COMMON_LAYOUT_H

#include <stddef.h>
#include <string.h>

#include "base/persist.h"

/* Pointers of a struct that stand one after the other, from `offset` on, each to `length` vectors
 * of n numbers. */
typedef struct vector_group {
    size_t offset;
    int pointers, length;
} vector_group;

/* The pointers from member `first` to member `last` of a struct. */
#define VECTORS(type, first, last) BLOCKS(type, first, last, 1)
#define BLOCKS(type, first, last, each)                                                            \
    {                                                                                              \
        offsetof(type, first),                                                                     \
            1 + (int)((offsetof(type, last) - offsetof(type, first)) / sizeof(double *)), each     \
    }

/* A struct and, behind it, its vectors: groups up to the first one without pointers. What else
 * points to something, and is the same after every start, is not saved in checkpoints
 * (vectors_persist). */
enum { LAYOUT_GAPS = 6 };
typedef struct vector_layout {
    size_t size;
    vector_group groups[4];
} vector_layout;

/* At a start both ends of the step before are one point; then `next` becomes the last point. */
static inline void vectors_begin(int n, const double *at, double *last, double *before)
{
    memcpy(last, at, (size_t)n * sizeof *last);
    memcpy(before, at, (size_t)n * sizeof *before);
}

static inline void vectors_advance(int n, const double *next, double *last, double *before)
{
    memcpy(before, last, (size_t)n * sizeof *before);
    memcpy(last, next, (size_t)n * sizeof *last);
}

static inline void vectors_swap(double **a, double **b)
{
    double *held = *a;
    *a = *b;
    *b = held;
}

size_t vectors_size(const vector_layout *layout, int n); /* in bytes, of struct and vectors */
/* Zero the struct and point to its vectors. What is behind the last one. */
void *vectors_place(const vector_layout *layout, int n, void *memory);
/* Save both but for LAYOUT_GAPS gaps, or read them over what was placed there: pointers to vectors
 * as places among them, since methods exchange them. */
void vectors_persist(const vector_layout *layout, const persist_gap *gaps, int n, void *memory,
                     persist *p);

#endif
