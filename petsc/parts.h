/* What the files of this folder share. Unknown j stands at place `place[j]` of PETSc's vectors, and
 * so does the row that is matched with it: matrices have no zero on their diagonals by structure.
 */
#ifndef DAEDAL_PETSC_PARTS_H
#define DAEDAL_PETSC_PARTS_H

#include "daedal_petsc.h"

/* Who has which rows, and what these read. */
typedef struct share {
    int n;
    PetscInt first, last; /* places of this rank: first .. last-1 */
    PetscInt *place;      /* n: of unknown j; owned, as all that follows */
    int *unknown;         /* n: at a place */
    int *row_of;          /* n: the row that is matched with unknown j */
    int *rows;            /* the rows of this rank, by place */
    int *start;           /* per row of this rank: its entries in column and entry */
    PetscInt *column;     /* places of the unknowns, */
    int *entry;           /* and where dF/dy and dF/dy' of it are on the pattern */
    int *read;            /* unknowns that the rows read, ascending, */
    int reads;            /* so many */
} share;

PetscErrorCode share_make(share *s, const dae_equations *q, MPI_Comm comm, int *failed);
void share_free(share *s);

struct dae_petsc {
    MPI_Comm comm;
    int rank, ranks;
    bool initialised; /* PETSc, by us */
    dae_integrator integrator;
    dae_solver *own; /* of dae_petsc_ts: it has started, and takes no steps; owned, NULL: none */
    dae_equations *equations;
    const int *colptr; /* of the pattern that the parts below were made for */
    int n;
    share share;
    TS ts;
    Vec u, slope, rtol, atol; /* slope: y' where F was evaluated last */
    Mat matrix;
    Vec needed;                        /* what rows of this rank read */
    VecScatter bring, all;             /* to `needed`; of everything, to all ranks, */
    Vec whole;                         /* here */
    double *y, *yp, *f, *dfdy, *dfdyp; /* of all unknowns, filled in where they are read */
    PetscScalar *values;               /* of one row */
    double t, evaluated; /* where the last accepted step ended; where F was evaluated last */
    bool pending;        /* an attempt is there that was not accepted */
    bool begun;          /* a step was tried since the start */
    int code;            /* what an evaluation returned that failed; 0: none */
    char error[200];     /* words for the message of a run that cannot go on; "": none */
    char type[64];       /* of TS, for messages */
    dae_petsc_stats stats;
};

#endif
