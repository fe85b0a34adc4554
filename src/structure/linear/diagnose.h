/* The index of F(t, y, y') = 0 around a point when F is known by its Jacobians only.
 *
 * The system linearised along a curve through the point, B(s) v' + A(s) v = .., has the index of F
 * if the curve is a solution and ranks are constant around it [BCP96 7.2]. Taylor coefficients of A
 * and B are found by differences along the curve, then the rank tests of derivative arrays tell the
 * index; the pencil of A(0) and B(0) alone may be wrong where the matrices vary [BCP96 2.4]. */
#ifndef DAE_STRUCTURE_LINEAR_DIAGNOSE_H
#define DAE_STRUCTURE_LINEAR_DIAGNOSE_H

#include "linalg/singular_values.h"

/* dF/dy and dF/dy' at a point, n x n by columns, all finite. 0: done; else: not to be had there. */
typedef int (*diagnose_jacobian)(void *context, double t, const double *y, const double *yp,
                                 double *dfdy, double *dfdyp);

typedef struct diagnose_input {
    int n;
    double t;
    const double *y, *yp;
    const double *ypp;     /* second derivatives; NULL: not known, taken as 0 */
    const double *typical; /* n, > 0: sizes of the variables */
    double accuracy;       /* relative error of the Jacobians */
    diagnose_jacobian jacobian;
    void *context;
} diagnose_input;

/* Arrays k = 0 .. 3 are tested, as far as n (k+1) stays below this. */
enum { DIAGNOSE_LEVELS = 4, DIAGNOSE_SIZE = 600 };

typedef struct diagnosis {
    int n;
    int index;        /* 0 .. 3; 4: above 3; -1: dependent equations, or the ranks are not clear */
    bool at_least;    /* n is too large, or differences too rough, to look further: this or more */
    bool dependent;   /* index -1 because of dependent equations */
    int pencil_index; /* of the frozen matrices; -1: singular */
    int freedom;      /* -1: unknown */
    bool certain;     /* clear ranks, and the same verdict at a neighbouring point */
    bool *rows;       /* n, owned: equations to be differentiated, or dependent */
    bool *variables;  /* n, owned: variables that the equations as they stand leave open */
    int *level;       /* n, owned: 0: y_j' occurs; else the smallest k whose array determines y_j';
                         -1: unknown */
    rank_gap gap;
} diagnosis;

typedef enum diagnose_status {
    DIAGNOSE_OK = 0,
    DIAGNOSE_MEMORY,
    DIAGNOSE_EVALUATION, /* no Jacobians at the point */
    DIAGNOSE_TOO_LARGE
} diagnose_status;

diagnose_status diagnose(const diagnose_input *in, diagnosis *result);
void diagnosis_free(diagnosis *d); /* leaves it zeroed */

#endif
