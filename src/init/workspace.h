/* What the files of this room share: scales, the damped Newton iteration, the general engine.
 *
 * Notation: F(t, y, y') the n equations; w_j the error weight of y_j; T a time scale, so that w_j/T
 * is a weight for y'_j; u the unit round-off. */
#ifndef DAE_INIT_WORKSPACE_H
#define DAE_INIT_WORKSPACE_H

#include "init/engine.h"
#include "init/guesses.h"
#include "init/init.h"
#include "linalg/least_squares.h"

enum {
    GENERAL_LIMIT = 2000,  /* largest n of the dense general engine when asked for */
    FALLBACK_LIMIT = 300,  /* largest n for which it is tried unasked */
    RANK_TEST_LIMIT = 100, /* largest n for which Newton's matrix is tested for its rank */
    REPORTED = 5           /* equations named in a message */
};

/* How the rows of F are measured, from the partial derivatives at one point. */
typedef struct row_scales {
    double *unit;     /* change of F_i by one tolerance unit of its most influential variable */
    double *roundoff; /* sum_j |dF_i/dy_j y_j| + |dF_i/dy'_j y'_j|: u times it is noise in F_i */
    int *variable;    /* the most influential variable */
    bool known;
} row_scales;

typedef struct general_work general_work;

/* One call: what is given, and where the result goes. */
typedef struct start {
    double t, h;
    const dae_kind *kinds;
    const double *weights;
    double *y, *yp; /* the user's */
} start;

struct initializer {
    evaluator *eval;            /* borrowed */
    iteration *matrix;          /* borrowed */
    const dae_options *options; /* borrowed */
    int n;
    const start *call;           /* borrowed, while it lasts */
    double T;                    /* time scale of this call */
    double rate;                 /* of the equations, where the last matrix was made; 0: unknown */
    long kept;                   /* factoring of `matrix` that this made last; 0: none */
    double *weights;             /* at the current iterate */
    double *y, *yp, *f;          /* current iterate */
    double *ynew, *ypnew, *fnew; /* trial point */
    double *unit;                /* tolerance unit of Newton's unknown x_j = y_j or y'_j */
    double *cy, *cyp;            /* column factors of Newton's matrix */
    double *dx, *dxbar;          /* corrections, in these units */
    double *spread;              /* sizes for difference increments */
    double *scale;               /* dx in units = scale times the solution of the linear system */
    bool *derivative;            /* n: x_j is y'_j, else y_j */
    dae_tag *y_tags, *yp_tags;   /* n each, for general solves */
    row_scales rows;             /* of F at the last matrix */
    bool test_rank;              /* at the first matrix */
    int iterations;              /* of the last solve */
    int tried;                   /* of all solves for one start */
    int singular_variable;       /* -1: none */
    bool conflict;               /* a general solve ended at values that cannot be met */
    int blocking;                /* variable whose bound stopped the iteration, -1: none */
    bool *fixed;                 /* n: y_j is never moved */
    bool *guessed;               /* n: y_j is a guess that somebody gave; borrowed, NULL: all are */
    const deflation *deflation;  /* borrowed, while it lasts */
    bool nearest;                /* of several solutions the one near the guess is sought */
    bool rescued;                /* who calls has a better engine for what Newton cannot do */
    const int *slope_of;         /* borrowed, NULL: no unknown is the derivative of another; */
    int first_slope;             /* else from here on each is that of slope_of[j] */
    int other;                   /* variable of which there is another solution, -1: none seen */
    double other_value;          /* its value there, or that of its derivative */
    double *rank_matrix;         /* owned, as the vectors: one block, at weights */
    least_squares rank;          /* for n <= RANK_TEST_LIMIT */
    general_work *general;       /* NULL until needed */
};

/* ---- scales.c ---- */

/* init->weights_j = rtol_j |y_j| + atol_j at this y: the size of a guess must not set the scale of
 * the solution. A user's own weights, given for the guess, are only raised. */
void scales_weights(const initializer *init, const double *y);
/* T: time in which the fastest component changes by its own size; at most 1000/rate, where rate is
 * that of the equations (scales_rate), or 1000 |h| if rate = 0 says nothing. */
double scales_time(const initializer *init, double rate, const double *y, const double *yp);
/* What increments of y are divided by to give those of y': min(|h|, T) with the sign of h. Too
 * small a time costs nothing, since most F are linear in y'; too large a one lets increments drown.
 */
double scales_difference_time(const initializer *init);
/* spread_j = factor max(|y_j|, w_j/rtol_j): what to move y_j by in differences. Not by what T y'_j
 * is: y' may be a guess, and differences over many times y_j tell of another function. */
void scales_spread(const initializer *init, double factor, const double *y);
/* Tolerance unit of y'_j: max(w_j/T, rtol_j |y'_j|) */
double scales_derivative_unit(const initializer *init, int j, double yp);
/* init->weights_j of unknowns that are derivatives: the largest change that the weights of values
 * allow in a row with x'_j, the strictest of these rows; or rtol_j |x'_j| if that is larger. No
 * unit of time enters. */
void scales_slopes(const initializer *init, const matrix_layout *layout, const double *dfdy);
/* Row scales of F at (y, yp) from stored partial derivatives. */
void scales_rows(const initializer *init, row_scales *rows, const matrix_layout *layout,
                 const double *dfdy, const double *dfdyp, const double *y, const double *yp);
/* 1/T as the geometric mean over the rows of ||dF_i/dy||/||dF_i/dy'||; 0 if no row has both. */
double scales_rate(const matrix_layout *layout, const double *dfdy, const double *dfdyp,
                   const double *weights, double *row_y, double *row_yp);
/* Largest fraction in [0, 1] of the step dy from y that stays within the bounds; *blocking is the
 * variable that cuts it, or -1. Components below `slack` tolerance units never cut. */
double scales_bounds(const initializer *init, const double *y, const double *dy, double slack,
                     int *blocking);
/* A component that was inside and overshot by no more than the slack is put on its bound. */
void scales_settle(const initializer *init, const double *y, double *ynew);
/* Whether y is within the bounds of variable j; the first variable outside its bounds, or -1. */
bool scales_inside(const initializer *init, int j, double y);
int scales_outside(const initializer *init, const double *y);

/* ---- damped_newton.c ---- */

/* Solve F = 0 for x_j = y'_j where init->derivative[j], y_j elsewhere, from init->y, init->yp. */
engine_outcome damped_newton(initializer *init);
/* The same along the curve of engine_follow(). */
engine_outcome followed_newton(initializer *init);
/* To one that is not known, if engine_deflated() finds it. */
engine_outcome deflated_newton(initializer *init, const deflation *known);
/* From a solution at the iterate to one that is as good as rounding lets it be. */
void newton_polish(initializer *init);
/* New partial derivatives at the iterate, factored in units: ready for newton_correction. */
engine_outcome newton_matrix(initializer *init, bool reuse_derivatives);
/* Whether the factors of the last newton_matrix are still there, for the unknowns at hand; then
 * they are: in units of the point at hand. */
bool newton_keeps_factors(initializer *init);
/* dx = -G^-1 f in units. The iterate is where matrix-free products are taken. */
engine_outcome newton_correction(initializer *init, const double *f, double *dx);
/* Root mean square of a correction in units. */
double newton_norm(int n, const double *dx);
/* (ynew, ypnew) = (y, yp) + lambda dx */
void newton_move(const initializer *init, double lambda, const double *dx);
/* Longest part of stride dx that the bounds allow. */
double newton_room(initializer *init, double stride, const double *dx);
/* Whether every |F_i| is within the noise of its own evaluation. */
bool newton_at_roundoff(const initializer *init, const double *f);
/* Whether the matrix of the unknowns has full rank, rows and columns equilibrated. */
bool newton_full_rank(initializer *init);

/* ---- elsewhere.c ---- */

/* After a failure from the point given: Newton's iteration from other guesses of the unknowns that
 * are 0 there. On ENGINE_MET the solution is in init->y, init->yp, and init->other tells of another
 * one. found: work, 2n. */
engine_outcome newton_elsewhere(initializer *init, double *found);
/* The guess number `attempt` of an unknown, within its bounds; false: it stays as given. */
bool elsewhere_place(const initializer *init, int attempt, int j, double given, bool slope,
                     double *value);

/* ---- nearest.c ---- */

/* After Newton's iteration: another solution, if there is one that is nearer to the guess.
 * ENGINE_MET, ENGINE_STOP or ENGINE_MEMORY. */
engine_outcome nearest_solution(initializer *init);

/* ---- general.c ---- */

typedef struct general_task {
    const dae_tag *y_tags, *yp_tags; /* n each */
    bool differentiate;              /* D_h F = 0 too */
    bool conditions;                 /* B = 0 too */
} general_task;

dae_status general_new(initializer *init, dae_diag *diag);
void general_free(general_work *g);
/* Solve from (y, yp), which receive the last iterate in every case. */
dae_status general_solve(initializer *init, const general_task *task, double *y, double *yp,
                         dae_diag *diag);

/* ---- report.c ---- */

/* Why Newton failed, with the equations that are not met. */
dae_status report_newton(const initializer *init, engine_outcome status, dae_diag *diag);
/* The fixed value of variable j is not the one that the equations give it. */
dae_status report_moved(const initializer *init, int j, double found, dae_diag *diag);
/* Rows of the general system that are not met, worst first; misfit is in tolerance units. */
dae_status report_general(const initializer *init, const general_task *task, const double *misfit,
                          const double *residual, const int *variable, dae_diag *diag);
dae_status report_outside(const initializer *init, int variable, dae_diag *diag);
dae_status report_memory(dae_diag *diag);

#endif
