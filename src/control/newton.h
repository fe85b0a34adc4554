/* Modified Newton for G(y) = F(t, y, y'_0 + cj (y - y_0)) = 0 [BCP96 5.2.2], and for the second
 * order form: F(t, x, x'_0 + a1 (x - x_0), x''_0 + a2 (x - x_0)) = 0 [Wun05 4.2]. */
#ifndef DAE_CONTROL_NEWTON_H
#define DAE_CONTROL_NEWTON_H

#include "control/attempt.h"
#include "control/norm.h"
#include "matrix/second_order.h"

/* Iterations of BDF where the user does not say otherwise; other methods then have numbers of their
 * own. */
enum { NEWTON_USUAL = 4 };

/* The tolerance of DASSL's iteration (5.2.15), where the user does not ask for another one. */
#define NEWTON_DASSL 0.33

/* Newton's part of the matrix cache: how good the matrix is. None of it is method state. */
typedef struct newton {
    evaluator *eval; /* borrowed, as are the next two */
    iteration *matrix;
    error_norm *norm;
    int max_iterations;
    bool cheap_jacobian; /* the user's callback, not differences */
    double tolerance;    /* kappa of (5.2.15) */
    double krylov_tolerance;
    double rate_factor; /* S = rho / (1 - rho) of the last estimate */
    double last_cj;
    int solves;         /* since the last reset, as far as they count */
    bool stale;         /* ask for a new Jacobian at the next solve */
    long jacobian_age;  /* solves since the Jacobian was evaluated */
    int excess;         /* iterations beyond two a solve since then; second order only */
    double *first;      /* F at the predicted point */
    double *delta;      /* current correction */
    double *trial;      /* the next one, of a damped iteration; NULL unless steps are given */
    int iterations;     /* of the last solve */
    double rate;        /* rho of the last solve; 0 if one iteration did */
    double last_size;   /* norm of the last correction */
    int bound_variable; /* after ATTEMPT_BOUND */
    double bound_ratio; /* the part of the step that stays within the bounds */
} newton;

/* One corrector equation. y and yp hold the predicted values on entry and the solution on return;
 * e = y - y_0 on return. y0 and yp0 keep the prediction. With `second` all vectors are those of the
 * residual form still, cj is a1, and velocities move with their unknowns. */
typedef struct corrector {
    double t, h, cj;
    const second_order *second; /* NULL: first order */
    second_matrix *factors;     /* of the second order form */
    double a2;
    double tightness;   /* the iteration error must be this much below newton.tolerance */
    bool every_iterate; /* a matrix of every iterate: Newton's own iteration [Wun05 (4.8)] */
    const double *y0, *yp0;
    const double *y_old; /* y at the step's start, for bounds */
    bool damped; /* no shorter step can help: where the iteration fails, a damped one comes after it
                  */
    /* Where partial derivatives are taken, if y' as predicted is no use for that: F may contain
     * products of y and y'. NULL: at the prediction. */
    double at_t;
    const double *at_y, *at_yp;
    double *y, *yp, *e;
} corrector;

bool newton_new(newton *nw, evaluator *eval, iteration *matrix, error_norm *norm,
                const dae_options *options);
void newton_free(newton *nw);

/* Whether a new factorisation is so cheap that steps and matrices may change often. */
bool newton_matrix_is_cheap(const newton *nw);

/* Iterations of a method that usually takes so many at most: as many as the user asks for. */
int newton_most(const newton *nw, int usual);

/* Forget what is known of the matrix: the system or its mode has changed. */
void newton_reset(newton *nw);

/* Save all that is known of the matrix, or read it over a new one. */
void newton_persist(newton *nw, persist *p);

/* An attempt of which nothing is left where the user interrupts it in the midst of GMRES, so that
 * it can be made again, with the same bits. */
typedef struct newton_guard {
    newton before;
    dae_stats counted;
    iteration_guard matrix;
} newton_guard;
void newton_guard_open(newton *nw, newton_guard *guard);
bool newton_guard_close(newton *nw, newton_guard *guard); /* true: it was interrupted */

/* ATTEMPT_CONVERGENCE: too slow with a current matrix; ATTEMPT_BOUND: converged to a point outside
 * the bounds */
attempt_status newton_solve(newton *nw, const corrector *c);

/* The same as DASSL does it, to the letter [BCP96 5.2.2]: for runs that are to be compared with its
 * own. Bounds are DASSL's option for solutions that must not be negative: what the solution lies
 * outside of them by less than the tolerance of the iteration is put on them. First order only;
 * rate_anew: every solve begins without a rate of convergence. */
attempt_status newton_solve_dassl(newton *nw, const corrector *c, bool rate_anew);

#endif
