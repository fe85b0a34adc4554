/* Daedal on PETSc: a TS of PETSc takes the steps of a run, on one process or on many.
 *
 *     dae_petsc *petsc = NULL;
 *     dae_petsc_new(MPI_COMM_WORLD, "-ts_type bdf -pc_type gamg", &petsc, message, sizeof message);
 *     dae_options opt = dae_options_default();
 *     opt.integrator = dae_petsc_integrator(petsc);
 *     ..                                 // dae_solver_new, start, run: the same on every rank
 *     dae_petsc_free(petsc);
 *
 * Every rank makes the same problem and the same calls. Equations are shared out by their graph:
 * each rank compiles and evaluates its rows, and PETSc solves. After a step all ranks have all
 * values, so that each finds the same events, starts and results. docs/petsc.md. */
#ifndef DAEDAL_PETSC_H
#define DAEDAL_PETSC_H

#include <daedal.h>
#include <petscts.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dae_petsc dae_petsc;

/* options: words of PETSc ("-ts_bdf_order 3 -ksp_rtol 1e-8"), NULL: none. PETSc is initialised if
 * it is not so far. On failure *petsc is NULL, and message says why. */
DAE_API dae_status dae_petsc_new(MPI_Comm comm, const char *options, dae_petsc **petsc,
                                 char *message, size_t size);
DAE_API void dae_petsc_free(dae_petsc *petsc); /* after its solvers; NULL is fine */

/* For opt.integrator; it belongs to petsc. */
DAE_API const dae_integrator *dae_petsc_integrator(dae_petsc *petsc);
DAE_API int dae_petsc_rank(const dae_petsc *petsc);
DAE_API int dae_petsc_ranks(const dae_petsc *petsc);

/* A TS of PETSc for a program of your own, on the equations of a model from t0 on, at consistent
 * values, on which Daedal takes no steps: set its end, call TSSolve. It belongs to petsc, which
 * serves one such TS and no runs beside it; the problem must outlive it. Refused: models with
 * events, which runs of Daedal handle (dae_petsc_integrator), and those whose states would have to
 * change on the way are not watched. options may be NULL. */
DAE_API dae_status dae_petsc_ts(dae_petsc *petsc, const dae_problem *problem,
                                const dae_options *options, double t0, TS *ts, dae_diag *diag);
/* Unknowns of that TS by name, and their values where it stands, on every rank. */
DAE_API int dae_petsc_size(const dae_petsc *petsc);
DAE_API const char *dae_petsc_unknown(const dae_petsc *petsc, int i);
DAE_API dae_status dae_petsc_values(dae_petsc *petsc, double *y);

/* Work since the start, of this rank; sums over all are the caller's to make. */
typedef struct dae_petsc_stats {
    long steps, rejected; /* of TS */
    long newton, linear;  /* iterations of SNES and KSP */
    long rows;            /* of the equations that this rank has */
    long read;            /* unknowns that these rows read from other ranks */
    const char *ts;       /* its type; belongs to petsc */
} dae_petsc_stats;
DAE_API void dae_petsc_statistics(const dae_petsc *petsc, dae_petsc_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
