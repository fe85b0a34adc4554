/* Where the values of a sparse LU with frozen pivots go: dense panels for columns of L with
 * (almost) the same rows, as in SuperLU, and pieces of U above them. Real and complex factors share
 * one shape. */
#ifndef DAE_LINALG_FROZEN_SHAPE_H
#define DAE_LINALG_FROZEN_SHAPE_H

#include "base/persist.h"
#include "linalg/matrix.h"

/* L U + F = P D A Q, with D = the rows' scales: L unit lower, U upper, both block diagonal; F the
 * entries above the blocks. Patterns by columns, rows in any order; L and U with their diagonals.
 * All borrowed. */
typedef struct lu_pattern {
    const int *Lp, *Li, *Up, *Ui;
    const int *P, *Q; /* row and column k of the factors is row P[k], column Q[k] of A */
    const int *block; /* blocks+1: first column of each block */
    int blocks;
} lu_pattern;

/* Entries of A on their way into the factors: row[k] receives values[source[k]] * scale[row[k]]. */
typedef struct gather {
    int *start;  /* n+1, by columns of the factors */
    int *source; /* position among the values of A */
    int *row;    /* row of the factors */
} gather;

/* Supernode s holds columns first[s] .. first[s+1]-1. Its panel is dense and column-major: on top
 * the square block of L and U, below it the rows of L in row[below[s] ..]. */
typedef struct frozen_shape {
    int references;
    int n, supernodes, blocks;
    int *first;         /* supernodes+1 */
    int *owner;         /* n: supernode of a column */
    int *below, *row;   /* supernodes+1, and the rows */
    size_t *panel;      /* supernodes+1: where a panel starts among the values of L */
    int *segment;       /* n+1: pieces of U above the panel, by columns */
    int *segment_first; /* first row of a piece; it ends with its supernode */
    size_t *piece;      /* where its values start among those of U */
    int *upper_row;     /* row of each value of U */
    bool short_pieces;  /* solves had better go by upper_row than by pieces */
    int *P, *Q, *block; /* copies, see lu_pattern */
    gather diagonal;    /* entries of A inside the blocks */
    gather outside;     /* and above them: F */
} frozen_shape;

frozen_shape *shape_new(const matrix_layout *layout, const lu_pattern *pattern); /* NULL: memory */
frozen_shape *shape_share(frozen_shape *f); /* one more owner, of the same thread */
void shape_free(frozen_shape *f);           /* one owner less; NULL is fine */
/* Save a shape for matrices of n rows, or read one into an empty shape. */
void shape_persist(frozen_shape *f, int n, persist *p);

/* Values of L in panels, of U above them, and of F */
static inline size_t shape_lower(const frozen_shape *f)
{
    return f->panel[f->supernodes];
}
static inline size_t shape_upper(const frozen_shape *f)
{
    return f->piece[f->segment[f->n]];
}
static inline size_t shape_outside(const frozen_shape *f)
{
    return (size_t)f->outside.start[f->n];
}

static inline int width_of(const frozen_shape *f, int s)
{
    return f->first[s + 1] - f->first[s];
}
static inline int stride_of(const frozen_shape *f, int s)
{
    return width_of(f, s) + f->below[s + 1] - f->below[s];
}

#endif
