/* Daedal: differential-algebraic equations, solved as people write them down.
 *
 * This file has all that a first program needs: status, the residual form, options, the solver.
 * Other forms, models, methods, statistics, analysis and verification are in the headers of folder
 * daedal, which the end of this file includes.
 *
 *     #include <daedal.h>
 *     #include <stdio.h>
 *
 *     // y0' = -y1, 0 = y1 - y0^2
 *     static int decay(double t, const double *y, const double *yp, double *f, void *user)
 *     {
 *         (void)t, (void)user;
 *         f[0] = yp[0] + y[1];
 *         f[1] = y[1] - y[0] * y[0];
 *         return 0;
 *     }
 *
 *     int main(void)
 *     {
 *         dae_problem *problem = NULL;
 *         dae_solver *solver = NULL;
 *         dae_residual equations = {.n = 2, .f = decay};
 *         dae_diag diag = {.status = DAE_OK};
 *         dae_options options = dae_options_default();
 *         options.rtol = 1e-8;
 *         double y[2] = {1.0, 0.0}; // y[1] is a guess
 *         dae_status status = dae_problem_from_residual(&equations, &problem, &diag);
 *         if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
 *         if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y, NULL);
 *         if (status == DAE_OK) status = dae_solver_run(solver, 1.0, y, NULL);
 *         if (solver) diag = *dae_solver_diag(solver);
 *         if (status == DAE_OK)
 *             printf("y(1) = %.6f, %.6f\n", y[0], y[1]); // 0.500000, 0.250000
 *         else
 *             fprintf(stderr, "%s\n", diag.text);
 *         dae_solver_free(solver);
 *         dae_problem_free(problem);
 *         return status != DAE_OK;
 *     }
 *
 * Conventions
 * - An unknown is what is solved for: y has n of them. A variable is what the author of a problem
 *   named: the unknowns, and in a model what was eliminated and what is discrete. Indices count
 *   from 0; x_count says how many x there are.
 * - Handles (dae_problem, dae_solver) are opaque and independent; one thread uses one at a time. A
 *   problem is immutable but for dae_problem_set_..; solvers in several threads may share it, if
 *   its callbacks allow that. Free solvers before their problem.
 * - Functions return a dae_status, negative for errors; NULL for a handle is DAE_ERR_ARGUMENT, a
 *   call before the one that it needs DAE_ERR_STATE. On failure out parameters are NULL and nothing
 *   leaks. The library never prints and never exits.
 * - Pointers that you give are borrowed for the call, and what is needed later is copied, but for
 *   callbacks and their `user`, which must outlive the handle. Pointers that you get belong to the
 *   handle that gave them, unless a function to free them is named.
 * - Callbacks return 0 for success, > 0 to ask for a smaller step, < 0 to stop. NaN or Inf in a
 *   result counts as > 0.
 * - Growth: every struct that crosses the border is given with its size, by these headers or in a
 *   member `size`, and grows at its end only. Fields that an older program lacks are their
 *   defaults; a newer one may run with an older library if the fields this does not know are zero.
 *   Structs in arrays, and dae_diag, do not grow; those that a callback gets may.
 *
 * Copyright (c) 2026 the Daedal authors. MIT licence.
 */
#ifndef DAEDAL_H
#define DAEDAL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAE_VERSION_MAJOR 0
#define DAE_VERSION_MINOR 2
#define DAE_VERSION_PATCH 0

#include "daedal/types.h" /* dae_kind, dae_projection, ..: words that fields take */

/* ---- Status and diagnostics ---- */

typedef enum dae_status {
    DAE_OK = 0,      /* done; from dae_solver_step: tend, or a terminal event, was reached */
    DAE_STEPPED = 1, /* one accepted step; call again */
    DAE_EVENT = 2,   /* one or more events at dae_solver_time(); call again */

    DAE_ERR_ARGUMENT = -1,    /* an argument, option or problem description is wrong */
    DAE_ERR_MEMORY = -2,      /* an allocation failed */
    DAE_ERR_CALLBACK = -3,    /* a user callback returned a negative value */
    DAE_ERR_EVALUATION = -4,  /* callbacks kept asking for a smaller step, or returned NaN or Inf */
    DAE_ERR_MAX_STEPS = -5,   /* opt.max_steps steps did not reach tend */
    DAE_ERR_TOLERANCE = -6,   /* tolerances below what the arithmetic can deliver */
    DAE_ERR_ERROR_TEST = -7,  /* the error test kept failing as h went to 0 */
    DAE_ERR_CONVERGENCE = -8, /* the Newton iteration kept failing as h went to 0 */
    DAE_ERR_SINGULAR = -9,    /* the iteration matrix is singular whatever the step size */
    DAE_ERR_INITIAL = -10,    /* no consistent initial values could be found */
    DAE_ERR_BOUND = -11,      /* a bound on a variable cannot be met by any step size */
    DAE_ERR_EVENT = -12,      /* an event function failed, or could not be located */
    DAE_ERR_INTERRUPTED = -13, /* an interrupt callback asked to stop */
    DAE_ERR_UNSUPPORTED = -14, /* the problem cannot offer what the method or option needs */
    DAE_ERR_STATE = -15,       /* calls out of order, such as a step before a start */
    DAE_ERR_MODEL = -16,       /* a model text has errors */
    DAE_ERR_ASSERT = -17,      /* an assertion of the model failed */
    DAE_ERR_FILE = -18,        /* a file could not be read */
    DAE_ERR_STIFF = -19, /* too stiff for an explicit method; stepping may go on, or take another */
    DAE_ERR_STALL = -20  /* steps without progress, as along a jump; stepping may go on */
} dae_status;

enum { DAE_NAME_SIZE = 64, DAE_TEXT_SIZE = 1024 };

/* What went wrong, in words and numbers. Caller-owned; fill with {0}. Indices are -1 if none. */
typedef struct dae_diag {
    dae_status status;
    int variable, equation;            /* the culprit, if one is known */
    int line;                          /* line of the model text, 0 if there is none */
    double t, h;                       /* time and step size of the failure */
    double value;                      /* the offending number: an error, a residual, a value */
    char variable_name[DAE_NAME_SIZE]; /* the user's name, or "y[3]" */
    char equation_name[DAE_NAME_SIZE]; /* the user's name, or "F[3]" */
    char text[DAE_TEXT_SIZE];          /* full sentences: what happened, where, what to try */
} dae_diag;

DAE_API const char *dae_status_name(dae_status status);
DAE_API const char *dae_version(void);

/* ---- A problem from callbacks: the residual form F(t, y, y') = 0 ---- */

/* f = F(t, y, y') */
typedef int (*dae_residual_fn)(double t, const double *y, const double *yp, double *f, void *user);

/* Zero means "absent" for every field but n and f. */
typedef struct dae_residual {
    int n;             /* number of equations and of unknowns */
    dae_residual_fn f; /* F */
    void *user;        /* handed to every callback of this problem */

    dae_jacobian_fn jacobian; /* NULL: differences, coloured where the structure allows */
    dae_structure structure;
    int lower, upper;           /* bandwidths, for banded structure */
    const int *colptr, *rowind; /* CSC pattern of dF/dy and dF/dy' together, for sparse */

    const char *const *variable_names; /* n, or NULL: "y[0]" */
    const char *const *equation_names; /* n, or NULL: "F[0]" */
    const dae_kind *kinds;             /* n kinds, or NULL for all auto */
    const double *lower_bounds;        /* y[i] >= lower_bounds[i]; -INFINITY for none; or NULL. */
    const double *upper_bounds; /* Steps ask f inside bounds only, but for products of GMRES */

    int event_count;
    dae_event_fn event_function;
    const dae_event *events; /* event_count, or NULL: both directions, not terminal */

    int condition_count;
    dae_condition_fn conditions; /* for DAE_INIT_GENERAL */

    dae_precond_setup_fn precond_setup; /* may be NULL if precond_solve needs no setup */
    dae_precond_solve_fn precond_solve;
    dae_jac_times_fn jac_times; /* NULL: differences of F */

    const int *velocity; /* n, or NULL. For second order methods: velocity[i] = j says that y_j is
                            the derivative of y_i, by one row of F that is y_i' - y_j times a
                            constant, which is checked at the start; -1: y_i has none */
    dae_rows_fn rows;    /* some rows of F, for integrators on several processes; */
    dae_jacobian_rows_fn jacobian_rows; /* NULL: all are computed */
    bool reentrant; /* f may be called by several threads at once: they share differences */
} dae_residual;

typedef struct dae_problem dae_problem;
DAE_API dae_status dae_problem_from_residual_sized(const dae_residual *residual, size_t size,
                                                   dae_problem **problem, dae_diag *diag);

/* Check and copy a description. DAE_ERR_ARGUMENT names what is wrong with it. diag may be NULL. */
static inline dae_status dae_problem_from_residual(const dae_residual *residual,
                                                   dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_residual_sized(residual, sizeof *residual, problem, diag);
}

DAE_API void dae_problem_free(dae_problem *problem); /* NULL is fine; free its solvers first */

/* ---- Options: plain data ---- */

/* Start from dae_options_default(). Arrays have n entries, and NULL stands for none of them. */
typedef struct dae_options {
    size_t size; /* set by dae_options_default; do not touch */

    const char *method; /* "auto" or a name from dae_method_at(); see order and variant below */
    const char *formulation; /* "auto", "residual" (as given), or a name from
                                dae_formulation_name(), with a parameter as "baumgarte:10" */

    double rtol, atol;             /* 1e-6, 1e-9 */
    const double *rtol_by_unknown; /* NULL: rtol */
    const double *atol_by_unknown; /* NULL: atol; dae_problem_atol() has values for a model */
    dae_error_test error_test;

    double initial_step;       /* 0: chosen; the sign follows tend */
    double max_step, min_step; /* 0: no limit, and where round-off decides */
    double fixed_step;         /* > 0: constant steps, no error control */
    int min_order, max_order;  /* 0: the method's limits. Equal: fixed order after the start */
    double stop_time;          /* F is never evaluated beyond it, but for differences by t of
                                  constraints. NAN: none. A run beyond it stops there with
                                  DAE_ERR_ARGUMENT, until dae_solver_set_stop_time() moves it */
    long max_steps;            /* steps in one dae_solver_run, 100000; 0: no limit */
    int max_error_failures, max_convergence_failures; /* per step: 10 */

    dae_linear_solver linear_solver;
    dae_preconditioner preconditioner;
    int precond_lower, precond_upper; /* 1, 1 */
    int krylov_dimension;             /* 0: min(n, 20) */
    int krylov_restarts;              /* 5 */
    double krylov_tolerance;          /* linear against nonlinear tolerance, 0.05 */

    int newton_iterations;   /* at most this many per attempt: 4, or a method's own number */
    double newton_tolerance; /* iteration error against local error tolerance: 0.1 */

    dae_init init;
    const dae_tag *y_tags, *yp_tags; /* for DAE_INIT_GENERAL */
    int init_iterations;             /* 50 */
    double init_tolerance;           /* against the error tolerances: 0.01 */

    dae_dense dense;
    bool project_output;    /* one Newton correction of the algebraic variables in dae_solver_at */
    double event_tolerance; /* location in time, relative to max(|t|, |h|): 0 means 100 ulp */

    dae_norm_fn norm;           /* NULL: weighted root mean square */
    dae_weights_fn weights;     /* NULL: rtol|y| + atol */
    dae_monitor_fn monitor;     /* NULL: none */
    dae_interrupt_fn interrupt; /* NULL: none */
    void *user;                 /* handed to the callbacks of the options */
    dae_message_fn message;     /* notes and warnings of the library and of a model; NULL: none */

    double formulation_parameter; /* of the formulation, if it has one; 0: its default */
    dae_projection projection;    /* for methods that project */
    dae_precision precision;      /* other than double: for methods that have it, such as taylor */
    int threads; /* that share large work, with the same bits; 0: one a processor, up to 8 */
    bool multiplier_correction; /* bdf on index-3 forms with velocities: multipliers keep their
                                   accuracy where step or order change */

    bool baumgarte; /* explicit methods on manifolds: g'' + 2 alpha g' + beta^2 g = 0 */
    double baumgarte_alpha, baumgarte_beta; /* in place of projection; 0: by step size; alpha */
    dae_coordinates coordinates;

    int invariant_count;                 /* first integrals, whose values at the start are kept, */
    dae_invariant_fn invariant_function; /* given by a function of the options' user, */
    const char *const *invariants;       /* or for models by names of variables; methods on */
    bool watch_invariants;  /* manifolds and geometric ones project, unless this is set */
    bool watch_constraints; /* the statistics tell the largest residuals */

    int order;           /* of the method: one that it has, dae_method_at(); 0: its own choice */
    const char *variant; /* of the method, such as "thesis"; NULL: none */

    const double *step_sequence;   /* times at which prescribed steps end: no error control */
    int step_count;                /* how many times; 0: steps are chosen */
    const struct dae_table *table; /* coefficients for hem, herk, prk or irk: daedal/tables.h */
    int small_steps[10];           /* of liex: numbers of small steps, up to a 0. 0: 2, 3, .. 11 */
    const dae_herk_options *herk;  /* of method herk; NULL: defaults */
    bool invariants_in_output; /* geometric methods: output alone is projected onto invariants */
    int krylov_orthogonal;     /* GMRES: KMP of DASPK, incomplete; 0: complete */

    int formula_steps; /* k of multistep:own and oneleg:own, 1 to 7: 1/h sum a_j x_(n-j), */
    double formula_a[8], formula_b[8]; /* j = 0 .. k, for sum b_j x'_(n-j), or x' at the leg */
    bool pass_end; /* "auto": steps may pass the first end of a run, which is else a stop time */
    const struct dae_integrator *integrator; /* takes the steps in place of a method; or NULL */
} dae_options;

DAE_API void dae_options_fill(dae_options *options, size_t size);

static inline dae_options dae_options_default(void)
{
    dae_options options;
    dae_options_fill(&options, sizeof options);
    return options;
}

/* ---- A solver: new, start, then step or run, and read values in between ---- */

typedef struct dae_solver dae_solver;

/* A solver for a problem, which is borrowed and must outlive it. Options are copied, with arrays
 * and strings; NULL: the defaults. DAE_ERR_ARGUMENT and DAE_ERR_UNSUPPORTED name the option. */
DAE_API dae_status dae_solver_new(const dae_problem *problem, const dae_options *options,
                                  dae_solver **solver, dae_diag *diag);
DAE_API void dae_solver_free(dae_solver *solver); /* NULL is fine */

/* Set the initial point and make it consistent (opt.init): the first call, and again to run again.
 * y0 and yp0 have n values. yp0 may be NULL: not known; so may y0 of a model: its start values.
 * DAE_ERR_INITIAL names the equations and values that conflict. */
DAE_API dae_status dae_solver_start(dae_solver *solver, double t0, const double *y0,
                                    const double *yp0);

/* One internal step towards tend: DAE_STEPPED, DAE_EVENT, DAE_OK if tend is reached, or an error,
 * after which values at dae_solver_time() can still be read. It may pass tend, which is then
 * interpolated; opt.stop_time, or "auto" (opt.pass_end), forbids that. DAE_ERR_STATE: no start. */
DAE_API dae_status dae_solver_step(dae_solver *solver, double tend);

/* Step until tend (DAE_OK), an event (DAE_EVENT), or an error; y and yp (n values each, or NULL)
 * get the values there. Events of a model do not end it, unless they terminate the run. */
DAE_API dae_status dae_solver_run(dae_solver *solver, double tend, double *y, double *yp);

/* y(t) (derivative = 0) or y'(t) (1), n values, at t in the last step (else DAE_ERR_ARGUMENT). */
DAE_API dae_status dae_solver_at(dae_solver *solver, double t, int derivative, double *y);

/* Go on from the current time with new values (NULL: keep), made consistent; history is dropped.
 * DAE_ERR_UNSUPPORTED: sensitivities or gradients follow the run. */
DAE_API dae_status dae_solver_restart(dae_solver *solver, const double *y, const double *yp);

/* Where the solver stands: tend, an event, or the end of the last step. */
DAE_API double dae_solver_time(const dae_solver *solver);
/* event_count flags for the last DAE_EVENT: 0, +1 rising, -1 falling; until the next call. */
DAE_API const int *dae_solver_events(const dae_solver *solver);
/* The last failure in words and numbers; until the next call. */
DAE_API const dae_diag *dae_solver_diag(const dae_solver *solver);

/* ---- The rest ---- */

#include "daedal/forms.h" /* problems in a form with more structure, from callbacks */
#include "daedal/model.h" /* problems from a model text; names, parameters, start values */

#include "daedal/analysis.h"    /* index and structure */
#include "daedal/bvp.h"         /* conditions at both ends */
#include "daedal/checkpoint.h"  /* runs that are saved, and go on in another process */
#include "daedal/fit.h"         /* parameters from data */
#include "daedal/integrator.h"  /* integrators from outside in the place of a method */
#include "daedal/methods.h"     /* methods and formulations on offer */
#include "daedal/optimality.h"  /* conditions of optimal control, as a model */
#include "daedal/optimise.h"    /* optimal controls and parameters */
#include "daedal/sensitivity.h" /* derivatives of solutions by parameters and start values */
#include "daedal/statistics.h"  /* what a solver did; rarely used calls of it */
#include "daedal/tables.h"      /* Runge-Kutta methods by coefficients of your own */
#include "daedal/verify.h"      /* is a result right? */

#include "daedal/adjoint.h"   /* gradients of functionals of solutions by many parameters */
#include "daedal/linearise.h" /* linear systems beside solutions, and steady states */

#ifdef __cplusplus
}
#endif

#endif /* DAEDAL_H */
