/* Daedal: parameters of a model from data. Included by daedal.h.
 *
 *     dae_fit_parameter k[] = {{.name = "k1", .start = 0.5, .lower = 0.01, .upper = 10}};
 *     dae_fit_data data = {.rows = 20, .columns = 1, .times = t, .variables = names, .values = v};
 *     dae_fit_result *result = NULL;
 *     dae_fit(problem, &(dae_fit_request){.parameters = k, .parameter_count = 1, .data = &data,
 *                                         .data_count = 1}, &result, &diag);
 *     printf("k1 = %g +- %g\n", result->values[0], result->errors[0]);
 *     dae_fit_result_free(result);
 *
 * Levenberg and Marquardt's method with exact sensitivities. */
#ifndef DAEDAL_FIT_H
#define DAEDAL_FIT_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

typedef struct dae_fit_parameter {
    const char *name;    /* a parameter, or a variable, which stands for its start value */
    double start;        /* where the search begins; NAN: the value that the problem has */
    double lower, upper; /* both 0: no bounds; -INFINITY and INFINITY: none on that side */
} dae_fit_parameter;

/* One experiment. */
typedef struct dae_fit_data {
    int rows, columns;
    const double *times;          /* rows, ascending; none before the start of the run */
    const char *const *variables; /* columns: what was measured */
    const double *values;         /* rows x columns, row by row; NAN: not measured */
    const double *sigma;          /* the same: standard deviations, > 0; NULL: */
    const double *column_sigma;   /* columns: those of all values of a variable; NULL: 1 */
    const dae_setting *settings;  /* parameters and start values of this experiment alone */
    int setting_count;
    double start; /* time at which its run begins */
} dae_fit_data;

typedef enum dae_fit_loss {
    DAE_LOSS_SQUARES = 0, /* r^2/2, with r = (value - data)/sigma */
    DAE_LOSS_HUBER,       /* the same up to |r| = c, linear beyond: outliers count less */
    DAE_LOSS_CAUCHY       /* c^2/2 log(1 + (r/c)^2): outliers hardly count */
} dae_fit_loss;

/* Called with the best point so far; nonzero stops the search, which returns that point. */
typedef int (*dae_fit_progress_fn)(int iteration, double cost, const double *values, void *user);

/* Zero means "default" for all fields but parameters and data. */
typedef struct dae_fit_request {
    const dae_fit_parameter *parameters;
    int parameter_count;
    const dae_fit_data *data;
    int data_count;
    const dae_options *options; /* of the runs; NULL: defaults */
    dae_fit_loss loss;
    double loss_scale;  /* c; 0: 1.345 of Huber's, 2.385 of Cauchy's, in sigmas */
    int max_iterations; /* 0: 100 */
    double tolerance;   /* on the relative change of cost and parameters; 0: 1e-8 */
    dae_fit_progress_fn progress;
    void *user;
} dae_fit_request;

typedef enum dae_fit_end {
    DAE_FIT_CONVERGED = 0,
    DAE_FIT_ITERATIONS, /* max_iterations were not enough */
    DAE_FIT_STUCK,  /* no step makes the cost smaller, and its slope is not 0, or the data see no
                       parameter at all: `text` says why */
    DAE_FIT_STOPPED /* by progress(), or by the interrupt of the options behind the first run */
} dae_fit_end;

/* The best point, and what the data say of it. Owned by the caller. */
typedef struct dae_fit_result {
    dae_fit_end end;
    int count;           /* parameters */
    double *values;      /* count */
    double *errors;      /* count: standard errors; INFINITY: the data do not fix it; NAN: the
                            search ended before the derivatives at this point were there, or
                            there are no sigmas and no more data than the rank */
    double *correlation; /* count x count; NAN likewise */
    bool *at_bound;      /* count */
    bool *unidentified;  /* count: moves along a direction that the data do not see */
    double cost;         /* sum of losses */
    double sigma; /* sqrt(sum r^2 / (observations - rank)): 1 if sigmas and model are right; NAN:
                     0/0 */
    int observations, rank;   /* of the sensitivities */
    int iterations, runs;     /* runs of the model */
    char text[DAE_TEXT_SIZE]; /* what cannot be identified, or why it is stuck; "" */
    double *starts;           /* count: where the search began */
} dae_fit_result;

DAE_API dae_status dae_fit_sized(dae_problem *problem, const dae_fit_request *request, size_t size,
                                 dae_fit_result **result, dae_diag *diag);

/* Find parameters of a model that fit the data. The problem is as it was afterwards. DAE_OK: there
 * is a result, and result->end says how good; DAE_ERR_ARGUMENT: a name, bound, time or column;
 * otherwise why the first run failed. Errors are scaled by sigma where the data have none of their
 * own. */
static inline dae_status dae_fit(dae_problem *problem, const dae_fit_request *request,
                                 dae_fit_result **result, dae_diag *diag)
{
    return dae_fit_sized(problem, request, sizeof *request, result, diag);
}

/* The model beside data: out[i * columns + j] = variable j at time i of `where`, with its settings,
 * and these values of the request's parameters. Values and standard deviations of `where` are not
 * asked for. The problem is as it was afterwards. */
DAE_API dae_status dae_fit_curves(dae_problem *problem, const dae_fit_request *request,
                                  const double *values, const dae_fit_data *where, double *out,
                                  dae_diag *diag);

DAE_API void dae_fit_result_free(dae_fit_result *result); /* NULL is fine */

#endif
