/* Daedal: two-point boundary value problems of models. Included by daedal.h.
 *
 *     const char *end[] = {"u = 0"};
 *     dae_model m = {.file = "bratu.mo", .terminal = end, .terminal_count = 1};
 *     dae_problem_from_model(&m, &problem, &diag);
 *     dae_bvp *b = NULL;
 *     dae_bvp_new(problem, &(dae_bvp_request){.end = 1.0}, &b, &diag);
 *     dae_bvp_at(b, 0.5, values);  // all variables at t = 0.5
 *     dae_bvp_free(b);
 *
 * Conditions at the start are the model's initial equations and fixed start values, those at the
 * end its terminal conditions: as many in all as the model has states and unknown
 * parameters.
 * Collocation on an adaptive mesh, or multiple shooting; docs/bvp.md. */
#ifndef DAEDAL_BVP_H
#define DAEDAL_BVP_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

typedef enum dae_bvp_guess {
    DAE_BVP_GUESS_AUTO = 0, /* the table if there is one; else start values, then a simulation */
    DAE_BVP_GUESS_START,    /* the values at the start, everywhere */
    DAE_BVP_GUESS_SIMULATE, /* a run from the start values */
    DAE_BVP_GUESS_TABLE     /* the rows given */
} dae_bvp_guess;

typedef enum dae_bvp_method {
    DAE_BVP_GAUSS = 0, /* collocation at Gauss points, symmetric: layers may stand at either end */
    DAE_BVP_RADAU,     /* .. at Radau points: order 2 s - 1; stiff decaying parts are damped */
    DAE_BVP_SHOOTING,  /* runs between nodes: events are allowed, states are chosen at each node */
    DAE_BVP_PROJECTED, /* Gauss points on equations of index 2, projected at mesh points */
    DAE_BVP_PROJECTED_RADAU
} dae_bvp_method;

/* Zero means "default" for all fields but end. */
typedef struct dae_bvp_request {
    double start, end;          /* the two points, start < end */
    const char *const *unknown; /* parameters that are unknowns, too; their values are guesses */
    int unknown_count;
    double rtol, atol;  /* of the result; 0: 1e-6, 1e-6 */
    int intervals;      /* of the first mesh; 0: 10 */
    int max_intervals;  /* 0: 5000 */
    int max_iterations; /* of Newton's method on one mesh; 0: 50 */

    dae_bvp_guess guess;
    /* Rows of a guess, straight between them: names of variables, times that ascend. */
    int rows, columns;
    const double *times;          /* rows */
    const char *const *variables; /* columns */
    const double *values;         /* rows x columns, row by row */

    dae_interrupt_fn interrupt; /* asked now and then; NULL: none */
    void *user;

    dae_bvp_method method;
    int stages; /* collocation points of an interval: 1 .. 5, for Radau 7, too; 0: 4 */
} dae_bvp_request;

typedef struct dae_bvp_stats {
    int states, parameters; /* unknown at the start */
    int at_start, at_end;   /* conditions */
    int intervals;          /* of the last mesh */
    int meshes;             /* that were solved on */
    long iterations;        /* of Newton's method */
    long factorisations;
    int unknowns;   /* of the last system */
    double error;   /* estimated, in tolerances: at most 1 */
    bool simulated; /* the guess was a simulation */
    /* Of the last system, by components and in tolerances [Ske79]: how many times larger relative
     * errors of the solution may be than those of the equations. */
    double condition;
} dae_bvp_stats;

typedef struct dae_bvp dae_bvp;
DAE_API dae_status dae_bvp_new_sized(dae_problem *problem, const dae_bvp_request *request,
                                     size_t size, dae_bvp **bvp, dae_diag *diag);

/* Solve. The problem is as it was afterwards, and must outlive the result. DAE_ERR_ARGUMENT: a
 * name, a time, or too many or too few conditions; DAE_ERR_UNSUPPORTED: what the model has that has
 * no place here, such as events; DAE_ERR_CONVERGENCE: Newton's method, or the mesh; the text says
 * where and by which equation or variable. */
static inline dae_status dae_bvp_new(dae_problem *problem, const dae_bvp_request *request,
                                     dae_bvp **bvp, dae_diag *diag)
{
    return dae_bvp_new_sized(problem, request, sizeof *request, bvp, diag);
}

DAE_API void dae_bvp_free(dae_bvp *bvp); /* NULL is fine */

/* All variables at t: dae_problem_variable_count() values. */
DAE_API dae_status dae_bvp_at(dae_bvp *bvp, double t, double *values);
/* The value that an unknown parameter has, by its number in the request. */
DAE_API double dae_bvp_parameter(const dae_bvp *bvp, int k);
/* Point i of the mesh, 0 .. intervals. */
DAE_API double dae_bvp_mesh(const dae_bvp *bvp, int i);
DAE_API const dae_bvp_stats *dae_bvp_statistics(const dae_bvp *bvp);
/* What went wrong in the last dae_bvp_at(). */
DAE_API const dae_diag *dae_bvp_diag(const dae_bvp *bvp);

#endif
