/* Linear systems B u' + A u = d(t) with constant matrices: Kronecker's structure of the pencil
 * lambda B + A by the staircase algorithm [VD79], its finite eigenvalues by QZ [MS73], consistent
 * initial values by differentiating constraints [Lue77].
 *
 * Matrices are n x n, by columns. Before any rank decision the pencil is scaled: time by the
 * geometric mean over the rows of max|B| / max|A|, then rows and columns by powers of 2 so that
 * each has a largest entry of about 1. This is a strict equivalence and a change of the unit of
 * time. */
#ifndef DAE_STRUCTURE_LINEAR_PENCIL_H
#define DAE_STRUCTURE_LINEAR_PENCIL_H

#include <stdbool.h>
#include <stddef.h>

#include "linalg/singular_values.h"

/* Singular values below this, relative to the scaled pencil, count as zero: three digits above what
 * rounding leaves of a zero after the transformations of a staircase (measured 1e-15 to 1e-14 for n
 * up to 50). */
#define PENCIL_TOLERANCE 1e-11

typedef enum pencil_stability {
    PENCIL_NO_STABILITY = 0, /* singular */
    PENCIL_ASYMPTOTICALLY_STABLE,
    PENCIL_STABLE,
    PENCIL_UNSTABLE
} pencil_stability;

typedef struct pencil {
    int n;
    bool regular;
    int index; /* of nilpotency; -1: singular */
    int rank_b, normal_rank;
    int finite, infinite; /* dimensions of those parts */
    double *re, *im;      /* finite eigenvalues, owned */
    pencil_stability stability;
    int levels;       /* entries of blocks */
    int *blocks;      /* blocks[k]: nilpotent Jordan blocks of size k + 1; owned */
    int column_count; /* minimal indices of columns and rows, increasing; owned */
    int *column_index;
    int row_count;
    int *row_index;
    rank_gap gap;
    /* Singular: a null polynomial of least degree on each side, sparsest of its kind, largest
     * coefficient 1; coefficient of lambda^k in [k*n ..]. Owned; NULL: none, or too large to find.
     *   (lambda B + A) column(lambda) = 0,   row(lambda)' (lambda B + A) = 0 */
    double *column_polynomial, *row_polynomial;
    /* Regular and not too large: P B Q = diag(I, N), P A Q = diag(C, I), N of Jordan blocks by
     * decreasing size; n x n, owned; NULL: none, or ranks are not clear. */
    double *P, *Q;
} pencil;

/* All of it. The entries must be finite. False: memory. */
bool pencil_analyse(pencil *p, int n, const double *A, const double *B, double tolerance);
void pencil_free(pencil *p); /* leaves it zeroed */

/* The verdict in sentences. Names may be NULL. */
void pencil_text(const pencil *p, const char *const *variables, const char *const *equations,
                 char *text, size_t size);

typedef enum pencil_status {
    PENCIL_OK = 0,
    PENCIL_MEMORY,
    PENCIL_SINGULAR,
    PENCIL_UNCLEAR /* rank decisions contradict each other */
} pencil_status;

/* u := the consistent value nearest to u in the Euclidean norm, and up := u' there (may be NULL).
 * d: `orders` columns d(t0), d'(t0), ..; those beyond count as 0. */
pencil_status pencil_consistent(int n, const double *A, const double *B, double tolerance,
                                int orders, const double *d, double *u, double *up);

#endif
