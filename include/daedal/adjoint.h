/* Daedal: adjoints, gradients of few functionals of a solution by many parameters. Included by
 * daedal.h.
 *
 *     dae_adjoint *adjoint = NULL;
 *     dae_adjoint_request request = {.count = np, .names = names, .functionals = 1};
 *     dae_adjoint_new(solver, &request, &adjoint, &diag);
 *     dae_adjoint_integral(adjoint, 0, weights);   // J = integral of sum_i weights_i v_i,
 *     dae_solver_start(solver, 0.0, NULL, NULL);
 *     dae_solver_run(solver, 10.0, NULL, NULL);
 *     dae_adjoint_point(adjoint, 0, more);         // + sum_i more_i v_i(10)
 *     dae_adjoint_gradient(adjoint, 0, gradient);  // dJ/dp_k, np values
 *     dae_adjoint_free(adjoint);
 *
 * The run integrates one mixture of all sensitivities beside it, which decides about the steps, and
 * keeps their linear equations. Going back through these, transposed, gives the gradient that all
 * sensitivities one by one would give, to rounding; the mixture checks it. */
#ifndef DAEDAL_ADJOINT_H
#define DAEDAL_ADJOINT_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* The integrand of functional m at (t, v): *g, its derivatives dv by all v, and dp by p_0 ..
 * p_count-1 where it has them by itself. All are 0 at the call. Not 0: failure. */
typedef int (*dae_integrand_fn)(double t, const double *v, int m, double *g, double *dv, double *dp,
                                void *user);

/* How a gradient is found; docs/adjoint.md says when to take which. */
typedef enum dae_adjoint_kind {
    DAE_ADJOINT_DISCRETE = 0, /* back through the linear equations of the steps of the run */
    DAE_ADJOINT_CONTINUOUS =
        1 /* the adjoint equations, with steps and an error test of their own */
} dae_adjoint_kind;

/* Zero means "absent" for every field but count and functionals. */
typedef struct dae_adjoint_request {
    int count;                /* parameters, or start values */
    const char *const *names; /* of a model, as in dae_sensitivity_request */
    int functionals;          /* J_0, J_1, .. */
    double rtol, atol;        /* of the mixture; 0: those of the solver */
    double memory; /* bytes for the equations of all steps; beyond it a temporary file has them; 0:
                      1e9 */

    /* Callbacks, as in dae_sensitivity_request. The way back calls residual ones, too.
     */
    dae_parameter_derivative_fn derivative;
    double *values;
    void *user;
    const double *y0;

    /* J_m += the integral of g, beside those of dae_adjoint_integral. */
    dae_integrand_fn integrand;
    void *integrand_user;

    dae_adjoint_kind kind;
    int unchecked; /* continuous: no mixture runs along, whose derivative each gradient must give */
    /* Continuous: so many states of the run are kept, no values and no file, and the way back
     * integrates pieces of the run again; `memory` has the states and the values of a piece. 0: all
     * values are kept. */
    int checkpoints;
} dae_adjoint_request;

typedef struct dae_adjoint dae_adjoint;
DAE_API dae_status dae_adjoint_new_sized(dae_solver *solver, const dae_adjoint_request *request,
                                         size_t size, dae_adjoint **adjoint, dae_diag *diag);

/* Follow the next run of a solver. DAE_ERR_ARGUMENT names what is wrong. */
static inline dae_status dae_adjoint_new(dae_solver *solver, const dae_adjoint_request *request,
                                         dae_adjoint **adjoint, dae_diag *diag)
{
    return dae_adjoint_new_sized(solver, request, sizeof *request, adjoint, diag);
}

DAE_API void dae_adjoint_free(dae_adjoint *adjoint); /* NULL is fine */

/* J_m += the integral of sum_i weights_i v_i over the run, before its start. v are all variables of
 * a model (dae_problem_variable_count() weights), or the unknowns of callbacks. */
DAE_API dae_status dae_adjoint_integral(dae_adjoint *adjoint, int m, const double *weights);
/* J_m += sum_i weights_i v_i(t), where the solver stands: at the end of a run, or on the way, at
 * times of data. For a sum of squares give 2 (v_i - data_i); its value is then yours to know.
 * Times rest, but for the end that terminate sets: that moves with the parameters. */
DAE_API dae_status dae_adjoint_point(dae_adjoint *adjoint, int m, const double *weights);

/* J_m up to where the solver stands. */
DAE_API dae_status dae_adjoint_value(const dae_adjoint *adjoint, int m, double *value);
/* dJ_m/dp_k of the run so far, count values. DAE_ERR_TOLERANCE: rounding has spoilt it. */
DAE_API dae_status dae_adjoint_gradient(dae_adjoint *adjoint, int m, double *gradient);

#endif
