/* Daedal: sensitivities, the derivatives of solutions by parameters and start values. Included by
 * daedal.h.
 *
 *     const char *by[] = {"k1", "k2"};
 *     dae_sensitivity *sens = NULL;
 *     dae_sensitivity_new(solver, &(dae_sensitivity_request){.count = 2, .names = by}, &sens,
 * &diag); dae_solver_start(solver, 0.0, NULL, NULL); dae_solver_run(solver, 10.0, y, NULL);
 *     dae_sensitivity_at(sens, 10.0, 0, dy); // dy/dk1 at t = 10
 *     dae_sensitivity_free(sens);
 *
 * They are integrated beside the run, with steps and an error test of their own: the run takes the
 * steps that it takes without them, by any method, unless the corrector is simultaneous. */
#ifndef DAEDAL_SENSITIVITY_H
#define DAEDAL_SENSITIVITY_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* f = dF/dp_k at (t, y, y') */
typedef int (*dae_parameter_derivative_fn)(double t, const double *y, const double *yp, int k,
                                           double *f, void *user);

/* Who decides on steps. */
typedef enum dae_corrector {
    DAE_CORRECTOR_STAGGERED,   /* the run alone for itself; S takes steps of its own within them */
    DAE_CORRECTOR_SIMULTANEOUS /* both: a step of the run is none longer than S had to take */
} dae_corrector;

/* By what a solution is differentiated. Zero means "absent" for every field but count. */
typedef struct dae_sensitivity_request {
    int count; /* directions */

    /* Models: names of parameters (Real, not structural, neither constant nor final), or of
     * variables, which stand for their start values. */
    const char *const *names;

    /* Residual callbacks of index 1: either the derivative, or the `count` numbers that callbacks
     * read, which are moved to take differences, and put back. Callbacks in mechanical and
     * Hessenberg form: these numbers. */
    dae_parameter_derivative_fn derivative;
    double *values;
    void *user;        /* of derivative */
    const double *y0;  /* count rows of n: dy/dp at the start; NULL: 0. Values of algebraic */
    const double *yp0; /* variables, and dy'/dp, are made consistent */

    const double *sizes; /* count: what p_k is of the size of; NULL: |p_k|, 1 where that is 0 or not
                            known. The absolute tolerance of dy/dp_k is that of y over it */
    double rtol, atol;   /* 0: those of the solver */
    bool without_error_test; /* one step for each of the run, also where equations have kinks */
    bool without_run_error;  /* no estimate of what errors of the run do (dae_sensitivity_doubt) */
    dae_corrector corrector; /* not heeded where the user says how long steps are */
} dae_sensitivity_request;

typedef struct dae_sensitivity dae_sensitivity;
DAE_API dae_status dae_sensitivity_new_sized(dae_solver *solver,
                                             const dae_sensitivity_request *request, size_t size,
                                             dae_sensitivity **sensitivity, dae_diag *diag);

/* Follow the runs of a solver, from its next start on. DAE_ERR_ARGUMENT names what is wrong with
 * the request, DAE_ERR_UNSUPPORTED what the problem lacks. A solver has one at a time. */
static inline dae_status dae_sensitivity_new(dae_solver *solver,
                                             const dae_sensitivity_request *request,
                                             dae_sensitivity **sensitivity, dae_diag *diag)
{
    return dae_sensitivity_new_sized(solver, request, sizeof *request, sensitivity, diag);
}

DAE_API void dae_sensitivity_free(dae_sensitivity *sensitivity); /* NULL is fine */

/* dy = dy/dp_k at t, n values: at any t in the last step, up to where the solver stands. What goes
 * wrong is in dae_solver_diag(). */
DAE_API dae_status dae_sensitivity_at(dae_sensitivity *sensitivity, double t, int k, double *dy);
/* The same of all variables of a model: dae_problem_variable_count() values. */
DAE_API dae_status dae_sensitivity_variables(dae_sensitivity *sensitivity, double t, int k,
                                             double *values);
/* The last event of a model: its time, and the derivative of that by p_k; DAE_ERR_STATE: there was
 * none. */
DAE_API dae_status dae_sensitivity_event(const dae_sensitivity *sensitivity, int k, double *time,
                                         double *derivative);

/* S is linearised at the run's own solution, whose errors it may magnify. The largest error that
 * this is estimated to have made in dy/dp_k since the start, in units of its tolerance. */
typedef struct dae_sensitivity_error {
    double tolerances; /* error over rtol max|dy/dp| + atol/|p|; 0: none was seen */
    double error;      /* of dy/dp_k, */
    double t;          /* at this time, */
    int variable;      /* of this unknown; -1: none */
    int others;        /* above 0: mixed with that of as many other directions */
} dae_sensitivity_error;

/* DAE_ERR_STATE: it was not asked for. Above 100 tolerances dae_solver_finish() tells it through
 * the solver's message, too. */
DAE_API dae_status dae_sensitivity_doubt(const dae_sensitivity *sensitivity, int k,
                                         dae_sensitivity_error *error);

/* Work since the last start. */
typedef struct dae_sensitivity_stats {
    long steps, rejected; /* of the sensitivities */
    long jacobians;       /* points at which the equations were linearised */
    long factorisations;  /* of matrices for a step */
    long solves;          /* of linear systems with them */
    long events;          /* that were passed */
} dae_sensitivity_stats;

DAE_API const dae_sensitivity_stats *dae_sensitivity_statistics(const dae_sensitivity *sensitivity);

#endif
