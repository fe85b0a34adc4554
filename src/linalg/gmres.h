/* Scaled, left preconditioned, restarted, possibly incomplete GMRES: SPIGMR [BHP94; BCP96 7.5]. */
#ifndef DAE_LINALG_GMRES_H
#define DAE_LINALG_GMRES_H

#include <stdbool.h>

/* Linear maps of the caller: 0 ok, nonzero stops GMRES with GMRES_CALLBACK and is handed back. */
typedef int (*gmres_operator)(void *context, const double *v, double *av); /* av = A v */
typedef int (*gmres_precond)(void *context, double *b);                    /* b := P^-1 b */

typedef enum gmres_status {
    GMRES_OK = 0,
    GMRES_STALLED = 1, /* not below tolerance, but the residual went down: x is usable */
    GMRES_FAILED = 2,  /* no progress */
    GMRES_CALLBACK = 3 /* gmres.callback_code holds the code */
} gmres_status;

typedef struct gmres {
    int n, dimension; /* Krylov dimension before a restart */
    int orthogonal;   /* orthogonalise against this many: dimension = complete */
    int restarts;
    double *work;    /* all vectors, owned */
    int iterations;  /* of the last call */
    double residual; /* ||P^-1 (b - A x)|| in the weighted norm after the last call */
    int callback_code;
} gmres;

bool gmres_new(gmres *g, int n, int dimension, int orthogonal, int restarts);
void gmres_free(gmres *g);

/* Solve A x = b from x = 0 until ||P^-1(b - A x)||_wrms <= tolerance, with scale = reciprocal
 * weights. b is overwritten by x. precond may be NULL. The operator sees vectors of weighted norm 1
 * (DASPK's sigma = 1). */
gmres_status gmres_solve(gmres *g, gmres_operator apply, gmres_precond precond, void *context,
                         const double *scale, double tolerance, double *b);

#endif
