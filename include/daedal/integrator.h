/* Daedal: an integrator of your own, or of another library, in the place of a method. Included by
 * daedal.h.
 *
 *     dae_integrator mine = {.name = "mine", .start = .., .attempt = .., .user = &my_data};
 *     dae_options opt = dae_options_default();
 *     opt.integrator = &mine;          // then dae_solver_new, start, step as with any method
 *
 * Daedal analyses the model, reduces its index, finds consistent values, looks for events and
 * writes results; the integrator takes the steps, on equations F(t, y, y') = 0 of index 1. */
#ifndef DAEDAL_INTEGRATOR_H
#define DAEDAL_INTEGRATOR_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* The equations that are integrated; they belong to the solver, from one start to the next. Calls
 * that evaluate return 0, or > 0 where a value does not exist (try a shorter step), or < 0 to stop:
 * hand that on. */
typedef struct dae_equations dae_equations;

DAE_API int dae_equations_size(const dae_equations *equations);
DAE_API const char *dae_equations_unknown(const dae_equations *equations, int i);
DAE_API const char *dae_equations_row(const dae_equations *equations, int i);
/* Columns of dF/dy and dF/dy' together: row indices rowind[colptr[j] .. colptr[j+1]-1], ascending.
 * Only of problems with a sparse pattern, such as models; else both are NULL. */
DAE_API void dae_equations_pattern(const dae_equations *equations, const int **colptr,
                                   const int **rowind);
/* row_of[j] = a row that contains unknown j, or its derivative, each row once: with rows in this
 * order the matrix has no zero on its diagonal by structure. DAE_ERR_UNSUPPORTED: no pattern. */
DAE_API dae_status dae_equations_match(const dae_equations *equations, int *row_of);
/* Which unknowns are differential, and which algebraic. */
DAE_API void dae_equations_kinds(const dae_equations *equations, dae_kind *kinds);
/* n relative and n absolute tolerances. */
DAE_API void dae_equations_tolerances(const dae_equations *equations, double *rtol, double *atol);

/* f = F(t, y, y'). With rows: f[rows[k]], k < count, alone; y and y' need be right only where these
 * read them. */
DAE_API int dae_equations_residual(dae_equations *equations, double t, const double *y,
                                   const double *yp, double *f);
DAE_API int dae_equations_residual_rows(dae_equations *equations, double t, const double *y,
                                        const double *yp, const int *rows, int count, double *f);
/* dF/dy and dF/dy' on the pattern. With rows: entries of these alone. */
DAE_API int dae_equations_jacobian(dae_equations *equations, double t, const double *y,
                                   const double *yp, double *dfdy, double *dfdyp);
DAE_API int dae_equations_jacobian_rows(dae_equations *equations, double t, const double *y,
                                        const double *yp, const int *rows, int count, double *dfdy,
                                        double *dfdyp);

/* A step, as the integrator took it. */
typedef struct dae_integrator_step {
    double h;       /* on entry the longest one that may be taken, with its sign; then its length */
    double error;   /* of it, in tolerances: above 1 it is refused; 0 where the integrator has seen
                       to that itself */
    double next;    /* the step that should follow, or the next try; 0: the solver chooses */
    int order;      /* 0: that of the integrator */
    double *y, *yp; /* values at its end: to be filled in */
    double *errors; /* of each unknown: to be filled in where known, for messages and jumps; 0 on
                       entry */
    const char *reason; /* after a failure: static words for the message, such as "the linear solver
                           did not converge"; NULL: none */
} dae_integrator_step;

/* Every function returns 0, > 0 (attempt: try a shorter step), < 0: stop. */
typedef struct dae_integrator {
    const char *name;
    int order; /* the highest that it has; 0: 2 */
    /* Begin at t with consistent values; the first step to be tried is h. Whatever was before does
     * not count any more. It comes again behind each event and change of states, where equations
     * may be others, with another size. */
    int (*start)(void *user, dae_equations *equations, double t, double h, const double *y,
                 const double *yp);
    /* Try a step from where the last one that was accepted has ended. */
    int (*attempt)(void *user, dae_integrator_step *step);
    /* The last attempt counts. NULL: nothing is to be done. */
    int (*accept)(void *user);
    /* y(t), or y'(t) (derivative = 1), in the last step that was accepted. NULL: the cubic through
     * both of its ends. Where that is not as good as tolerances ask, the solver finds better
     * values. */
    int (*interpolate)(void *user, double t, int derivative, double *y);
    void *user;
} dae_integrator;

#endif
