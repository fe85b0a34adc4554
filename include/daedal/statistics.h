/* Daedal: what a solver did, and rarely used calls of it. Included by daedal.h. */
#ifndef DAEDAL_STATISTICS_H
#define DAEDAL_STATISTICS_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

typedef struct dae_stats {
    size_t size;   /* bytes that the library at hand fills in */
    long steps;    /* accepted */
    long attempts; /* accepted and rejected */
    long rejected_error, rejected_convergence, rejected_evaluation, rejected_bound,
        rejected_singular;
    long residuals;          /* F calls for Newton, error estimates and initial values */
    long jacobian_residuals; /* F calls for difference Jacobians and matrix-free products */
    long jacobians;          /* evaluations of dF/dy, dF/dy' (or of the preconditioner) */
    long factorisations;     /* all; of these: */
    long factor_step_changed, factor_new_jacobian; /* because cj moved; because J is new */
    long repivots; /* sparse factorisations with a fresh pivot order */
    long newton_iterations;
    long linear_iterations; /* GMRES */
    long solves;            /* linear solves with the factors */
    long event_evaluations, events;
    long starts;           /* starts and restarts */
    int order, last_order; /* next and last */
    double h, last_h;      /* next and last */
    double h0;             /* first step tried */
    double t;              /* end of the last step */
    /* Largest values at the ends of steps; -1: not measured. Of the constraints as written (0 = g),
     * and of hidden ones (0 = G v + g_t), with opt.watch_constraints; of |I - I(t0)| over all
     * invariants, dae_solver_invariant tells them apart. */
    double position_residual, velocity_residual, invariant_drift;
} dae_stats;

typedef enum dae_step_result {
    DAE_STEP_ACCEPTED = 0,
    DAE_STEP_ERROR_TEST,
    DAE_STEP_CONVERGENCE,
    DAE_STEP_EVALUATION,
    DAE_STEP_BOUND,
    DAE_STEP_SINGULAR
} dae_step_result;

/* One attempted step, for opt.monitor. */
typedef struct dae_step_info {
    size_t size; /* bytes that the library at hand fills in */
    dae_step_result result;
    double t, h; /* from t to t + h */
    int order;
    double error; /* weighted error estimate; <= 1 passes */
    int newton_iterations;
    double convergence_rate;
    int variable; /* the one that dominates the error or the Newton correction; -1 if none */
} dae_step_info;

/* Kept current until the solver is freed. NULL only for NULL. */
DAE_API const dae_stats *dae_solver_stats(const dae_solver *solver);
/* Invariant i of opt.invariant_count: its value at the start, and the largest |I - I(t0)| at the
 * ends of steps; either place may be NULL. */
DAE_API dae_status dae_solver_invariant(const dae_solver *solver, int i, double *start,
                                        double *drift);
/* Reciprocal condition estimate of the current iteration matrix; < 0 if there is none. */
DAE_API double dae_solver_condition(dae_solver *solver);
/* Unknowns that no accuracy was asked for: at the ends of all steps since the start |y_i| was below
 * ten absolute tolerances, and yet the equations do not hold with 0 in its place. Returns how many
 * there are, or an error (< 0); flags, the largest |y_i|, and the absolute tolerances have n values
 * each, and may be NULL. Not for weights of the user's own. */
DAE_API int dae_solver_unresolved(dae_solver *solver, bool *flags, double *largest, double *atol);
/* Estimated local errors of the last accepted step, n values; DAE_ERR_STATE if there is none, or
 * no estimate. */
DAE_API dae_status dae_solver_local_errors(const dae_solver *solver, double *errors);
/* Extrapolation (liex): entry T_jk of the tableau of the last accepted step, n values, with
 * row = j - 1 and column = k - 1 <= row. Returns the number of rows, or an error (< 0):
 * DAE_ERR_UNSUPPORTED if the method has no tableau, DAE_ERR_STATE before the first step, also
 * behind an event, DAE_ERR_ARGUMENT if there is no such entry. y may be NULL: the number of rows
 * alone. */
DAE_API int dae_solver_tableau(dae_solver *solver, int row, int column, double *y);

/* The system: n, and the names of its unknowns y[i] and equations F[i], which live as long as the
 * problem. The variables of a model are more than its unknowns: dae_problem_variable(). */
DAE_API int dae_problem_size(const dae_problem *problem);
DAE_API const char *dae_problem_unknown_name(const dae_problem *problem, int i);
DAE_API const char *dae_problem_equation_name(const dae_problem *problem, int i);

/* Start with known past values y(times[i]) = values[i*n ..], times strictly towards the past,
 * times[0] = current time. Allows multistep methods to start at order count-1. No initialisation.
 * In place of dae_solver_start; DAE_ERR_ARGUMENT says what is wrong with the times. */
DAE_API dae_status dae_solver_start_history(dae_solver *solver, int count, const double *times,
                                            const double *values, const double *yp0);

/* The run is over: the last event of a model, with terminal() true, at the solver's time. Its
 * values are read afterwards at that time; further steps do nothing. Nothing happens for callbacks.
 */
DAE_API dae_status dae_solver_finish(dae_solver *solver);

/* All variables of the problem (dae_problem_variable_count values) at any t in the last step (else
 * DAE_ERR_ARGUMENT), also after a failure. */
DAE_API dae_status dae_solver_variables(dae_solver *solver, double t, double *values);

/* Their derivatives (dae_problem_derivative_count values), likewise. */
DAE_API dae_status dae_solver_derivatives(dae_solver *solver, double t, double *values);

/* All variables as decimal numbers with every digit of the precision of the run (opt.precision),
 * likewise; t is taken as the decimal number that it is printed as, so that 0.03 is 3/100. text has
 * DAE_DIGITS_SIZE bytes for each of them, where one string stands. */
enum { DAE_DIGITS_SIZE = 48 };
DAE_API dae_status dae_solver_digits(dae_solver *solver, double t, char *text);

/* How a model runs at the moment: DAE_ENGINE_TAPE or DAE_ENGINE_NATIVE; DAE_ENGINE_AUTO for
 * callbacks. */
DAE_API dae_engine dae_solver_engine(const dae_solver *solver);

/* The method at work, and, if opt.method is "auto", why it was chosen, in one line ("" if it was
 * not). It may change at a start, at an event and during a run. Borrowed until the next call. */
DAE_API const char *dae_solver_method(const dae_solver *solver);
DAE_API const char *dae_solver_choice(const dae_solver *solver);
/* The linear solver that was chosen by the predicted work, and why, in one line; "": the usual one,
 * or the caller's choice. */
DAE_API const char *dae_solver_linear(const dae_solver *solver);

/* The last step covers [last_step_start, last_step_end]; dae_solver_at is valid there. */
DAE_API void dae_solver_last_step(const dae_solver *solver, double *start, double *end);

/* Change the tolerances or the stop time between steps. DAE_ERR_ARGUMENT leaves them as they are:
 * tolerances that are negative, infinite or both zero; an infinite stop time (NAN: none). */
DAE_API dae_status dae_solver_set_tolerances(dae_solver *solver, double rtol, double atol);
DAE_API dae_status dae_solver_set_stop_time(dae_solver *solver, double stop_time);

#endif
