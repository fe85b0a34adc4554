/* Daedal: optimal controls and parameters of models. Included by daedal.h.
 *
 *     dae_optimise_range u[] = {{.name = "u", .lower = -1.0, .upper = 1.0}};
 *     const char *end[] = {"x = 0", "v = 0"};
 *     dae_optimise_request r = {.end = 2.0, .integral = "u^2", .controls = u, .control_count = 1,
 *                               .at_end = end, .end_count = 2};
 *     dae_optimum *best = NULL;
 *     dae_optimise(&(dae_model){.file = "cart.mo"}, &r, &best, &diag);
 *     printf("%g\n", dae_optimum_statistics(best)->objective);
 *     dae_optimum_free(best);
 *
 * Controls are inputs of the model. Direct collocation at Radau points with exact first and second
 * derivatives, or runs with exact sensitivities; the search is that of IPOPT, a library that is
 * looked for when it is needed. docs/optimise.md. */
#ifndef DAEDAL_OPTIMISE_H
#define DAEDAL_OPTIMISE_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* What is sought, and between which bounds. */
typedef struct dae_optimise_range {
    const char *name;    /* an input of the model, or a parameter */
    double lower, upper; /* they hold beside min and max of the model; both 0 unless bounds_given:
                            those alone; -INFINITY, INFINITY: no more than those */
    double guess;        /* where the search begins; 0 unless guess_given: the model's value, of a
                            control that has none the middle between its bounds */
    bool guess_given;
    bool bounds_given; /* lower and upper count even if both are 0 */
} dae_optimise_range;

typedef enum dae_optimise_way {
    DAE_OPTIMISE_AUTO = 0,    /* collocation; runs where there are events and no controls */
    DAE_OPTIMISE_COLLOCATION, /* all of the solution is unknown */
    DAE_OPTIMISE_SIMULATION   /* parameters are, and runs tell what they do */
} dae_optimise_way;

/* Called at every iteration; nonzero stops the search, which returns what it has. */
typedef int (*dae_optimise_progress_fn)(int iteration, int intervals, double objective,
                                        double violation, void *user);

/* Zero means "default" for all fields but end. Expressions and conditions are texts over all names
 * of the model and `time`; conditions are "a = b", "a <= b", "a >= b" or "a <= b <= c". */
typedef struct dae_optimise_request {
    double start, end;     /* the interval; a free end is a parameter that scales time */
    const char *objective; /* its value at the end is made small; NULL: 0 */
    const char *integral;  /* so is the integral of this, which is added; NULL: 0 */
    bool maximise;         /* both are made large instead */
    const dae_optimise_range *controls;
    int control_count;
    const dae_optimise_range *parameters;
    int parameter_count;
    const char *const *path; /* conditions at all times */
    int path_count;
    const char *const *at_end; /* conditions at the end, beside those of the model's annotation */
    int end_count;
    bool bounds;                 /* min and max of variables are conditions at all times */
    const char *const *settings; /* start values: "x = 0.5" */
    int setting_count;

    dae_optimise_way way;
    double rtol, atol;  /* of states, given the controls; 0: 1e-6, 1e-6 */
    int intervals;      /* of the first mesh; 0: 20. Of runs: between samples of conditions */
    int max_intervals;  /* 0: 1000 */
    int max_iterations; /* of the search on one mesh; 0: 500 */

    dae_bvp_guess guess; /* as for boundary values, with controls at their guesses */
    int rows, columns;   /* of a table, which may have columns of controls, too */
    const double *times;
    const char *const *variables;
    const double *values;

    dae_optimise_progress_fn progress;
    dae_interrupt_fn interrupt; /* nonzero gives the whole up */
    void *user;
} dae_optimise_request;

typedef enum dae_optimise_end {
    DAE_OPTIMISE_CONVERGED = 0,
    DAE_OPTIMISE_INACCURATE, /* found, but states are less accurate than asked for, or the
                                objective still moves with the mesh: error, objective_change */
    DAE_OPTIMISE_STOPPED     /* by progress(): the last iterate, or the last mesh that was solved */
} dae_optimise_end;

typedef struct dae_optimise_stats {
    dae_optimise_end end;
    dae_optimise_way way;
    double objective;        /* at the end and the integral, as they were given */
    double objective_change; /* from the mesh before; NAN: there was one only */
    double error;            /* of states, estimated, in tolerances */
    double violation;        /* of conditions at the end of the search, in their own units */
    double deviation;        /* of a simulation with the controls that were found, in tolerances;
                                NAN: there was none, deviation_text says why */
    double deviation_time;   /* where it is largest, and of what: */
    char deviation_text[DAE_TEXT_SIZE];
    int states, controls, parameters;
    int at_start; /* conditions there; with less than there are states some of these are free */
    int intervals, meshes; /* of the last mesh; that were solved on */
    int unknowns, conditions;
    long iterations;        /* of the search, on all meshes */
    long runs;              /* of the model */
    bool simulated;         /* the guess was a simulation */
    double bound_violation; /* of bounds of controls between points, in parts of their range */
    double path_violation;  /* of conditions along the path between points, in their own units */
    char path_text[DAE_TEXT_SIZE]; /* which one, and when; "": none */
    char note[DAE_TEXT_SIZE];      /* what else there is to be told; "": nothing */
    double gap;            /* what the distance of the search from bounds costs, of the objective */
    double integral_error; /* between points, of the objective */
} dae_optimise_stats;

typedef struct dae_optimum dae_optimum;
DAE_API dae_status dae_optimise_sized(const dae_model *model, const dae_optimise_request *request,
                                      size_t size, dae_optimum **optimum, dae_diag *diag);

/* Search. The model is translated here, with controls as unknowns; nothing of it is kept.
 * DAE_ERR_ARGUMENT: a name, a bound, a condition; DAE_ERR_UNSUPPORTED: what the model has that has
 * no place here, or IPOPT is not there; DAE_ERR_CONVERGENCE: the search failed, the text names the
 * condition that is violated most and when. */
static inline dae_status dae_optimise(const dae_model *model, const dae_optimise_request *request,
                                      dae_optimum **optimum, dae_diag *diag)
{
    return dae_optimise_sized(model, request, sizeof *request, optimum, diag);
}

DAE_API void dae_optimum_free(dae_optimum *optimum); /* NULL is fine */

/* The model as it was translated, for names of variables; lives as long as the optimum. */
DAE_API const dae_problem *dae_optimum_problem(const dae_optimum *optimum);
/* All variables at t, controls too: dae_problem_variable_count() values of that problem. */
DAE_API dae_status dae_optimum_at(dae_optimum *optimum, double t, double *values);
/* Control or parameter k of the request. A control between two meshes' points is a polynomial. */
DAE_API double dae_optimum_control(const dae_optimum *optimum, int k, double t);
DAE_API double dae_optimum_parameter(const dae_optimum *optimum, int k);
/* Point i of the mesh, 0 .. intervals. */
DAE_API double dae_optimum_mesh(const dae_optimum *optimum, int i);
DAE_API const dae_optimise_stats *dae_optimum_statistics(const dae_optimum *optimum);
/* What went wrong in the last dae_optimum_at(). */
DAE_API const dae_diag *dae_optimum_diag(const dae_optimum *optimum);
/* Whether IPOPT is found; else `text`, if not NULL, says what to install. */
DAE_API bool dae_optimise_available(const char **text);

#endif
