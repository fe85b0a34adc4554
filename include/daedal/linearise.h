/* Daedal: the linear system beside a solution, and steady states. Included by daedal.h.
 *
 *     dae_linearisation *linear = NULL;
 *     dae_linearise(solver, NULL, &linear, &diag); // where the solver stands
 *     printf("%d states, slowest %g\n", linear->state_count, linear->re[0]);
 *     dae_linearise_free(linear);
 *
 * A model of any index has as many states x as degrees of freedom: those of an index-1 form that
 * shows all constraints. With inputs u and outputs y
 *
 *     dx' = A dx + B du,   dy = C dx + D du
 *
 * Derivatives of a model text are exact. */
#ifndef DAEDAL_LINEARISE_H
#define DAEDAL_LINEARISE_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* What is an input, and what an output. Zero means the default for every field. */
typedef struct dae_linearise_request {
    /* Models: names of inputs (which need dae_model.shift_inputs) and of parameters (Real, not
     * structural, neither constant nor final); an array stands for its elements. NULL: all
     * continuous Real inputs of the model. */
    const char *const *inputs;
    int input_count;
    bool without_inputs; /* B and D are not wanted */
    /* Names of continuous variables. NULL: the outputs of a model, all variables if it has none;
     * all unknowns of callbacks. */
    const char *const *outputs;
    int output_count;
    bool without_eigenvalues; /* they take most of the time of large systems */

    /* Residual callbacks of index 1: input_count inputs, by their derivative, or as the numbers
     * that callbacks read, which are moved to take differences, and put back. */
    dae_parameter_derivative_fn derivative;
    double *values;
    void *user; /* of derivative */
} dae_linearise_request;

/* A linear system. Matrices are stored by columns: A[i + j*state_count], B[i + k*state_count],
 * C[o + j*output_count], D[o + k*output_count]. All arrays and names belong to it. */
typedef struct dae_linearisation {
    double t;
    int state_count, input_count, output_count;
    const char *const *states;
    const char *const *inputs; /* "der(u)", "der(u, 2)" behind u: where equations of higher index
                                  differentiate an input, its derivatives are inputs, too */
    const char *const *outputs;
    const double *state_values, *state_rates, *output_values; /* x, x' and y there */
    const double
        *input_values; /* NAN: of a derivative of an input, and of callbacks by derivative */
    const double *A, *B, *C, *D;

    /* Eigenvalues of A, the largest real part first; of a pair, the one above the real axis first.
     * NULL without them. */
    const double *re, *im;
    const double *participation; /* [i + j*state_count]: the share of state i in eigenvalue j, from
                                    left and right eigenvectors; each sums up to 1 */
    const bool *zero;            /* eigenvalue j is 0 up to rounding */
    int zero_count;
    dae_stability stability; /* up to rounding; DAE_STABILITY_NONE without eigenvalues */
} dae_linearisation;

DAE_API dae_status dae_linearise_sized(dae_solver *solver, const dae_linearise_request *request,
                                       size_t size, dae_linearisation **linear, dae_diag *diag);

/* The linear system where the solver stands, at dae_solver_time(), behind a start. The run goes on
 * as if it had not been asked for. Discrete values rest. request may be NULL. DAE_ERR_ARGUMENT
 * names what is wrong with the request, DAE_ERR_UNSUPPORTED what the problem lacks. */
static inline dae_status dae_linearise(dae_solver *solver, const dae_linearise_request *request,
                                       dae_linearisation **linear, dae_diag *diag)
{
    return dae_linearise_sized(solver, request, sizeof *request, linear, diag);
}

DAE_API void dae_linearise_free(dae_linearisation *linear); /* NULL is fine */

/* ---- steady states ---- */

typedef struct dae_steady_request {
    bool newton_only; /* do not follow the run where Newton's method fails */
    long max_steps;   /* of the run; 0: 20000 */
    double span;      /* .. and how far it is followed in time; 0: a million times the interval that
                         the model is to be run over, else 1e6 */
    dae_linearise_request linear; /* of the linear system at the steady state */
} dae_steady_request;

typedef enum dae_steady_way {
    DAE_STEADY_NEWTON = 1, /* by Newton's method from where the solver stood, */
    DAE_STEADY_RUN         /* or from a later point of its run */
} dae_steady_way;

/* A point where all states rest. All arrays and names belong to it. */
typedef struct dae_steady_state {
    dae_steady_way way;
    double t;       /* where the search ended: discrete values are those that hold there */
    long steps;     /* of the run */
    int iterations; /* of Newton's method, in the last search */
    int n;
    const double *y, *yp; /* unknowns of the problem, and their derivatives; n each */
    int variable_count;
    const double *variables; /* all of a model; NULL for callbacks */
    int held; /* discrete variables and clocks of the model: they are held as they are */
    /* Conserved quantities w'x: rows of state_count numbers, the largest 1, as many as there are
     * independent ones. The steady state has the values of these that the search began with. */
    int conserved_count;
    const double *conserved;
    const dae_linearisation *linear; /* the linear system there, with its stability */
} dae_steady_state;

DAE_API dae_status dae_steady_sized(dae_solver *solver, const dae_steady_request *request,
                                    size_t size, dae_steady_state **steady, dae_diag *diag);

/* A steady state: damped Newton iteration from where the solver stands, behind a start. Where that
 * fails, or ends where a relation of the model holds otherwise, where an assertion fails or beyond
 * the min and max of a variable, the run goes on, over longer and longer times, with another
 * iteration behind each: the solver stands where the search ended. DAE_ERR_CONVERGENCE names the
 * variable that keeps moving, and how fast. request may be NULL. */
static inline dae_status dae_steady(dae_solver *solver, const dae_steady_request *request,
                                    dae_steady_state **steady, dae_diag *diag)
{
    return dae_steady_sized(solver, request, sizeof *request, steady, diag);
}

DAE_API void dae_steady_free(dae_steady_state *steady); /* NULL is fine */

#endif
