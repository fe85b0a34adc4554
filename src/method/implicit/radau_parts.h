/* Radau IIA collocation: what the parts of the method share.
 *
 * Notation of collocation.h: Z_i = q(c_i), y_1 = y + Z_s, h Y' = A^-1 Z; stages are rows of n
 * values, one after the other. */
#ifndef DAE_METHOD_IMPLICIT_RADAU_PARTS_H
#define DAE_METHOD_IMPLICIT_RADAU_PARTS_H

#include "method/common/projection.h"
#include "method/common/stages.h"
#include "method/implicit/collocation_newton.h"

/* 1, 3, 5 and 7 stages */
enum { RADAU_METHODS = 4 };

/* What survives between steps. */
typedef struct radau_state {
    double t, t_old;        /* the last step */
    int least, most;        /* stages allowed */
    int stages;             /* of the next step */
    int since_change;       /* accepted steps since the number of stages changed */
    const collocation *m;   /* of the last step; NULL before the first one */
    double surprise;        /* how wrong the last prediction was, in units of the error test */
    double miss;            /* and relative to the way of the step */
    double h_limit;         /* > 0: Newton's method failed with steps of this size */
    double accepted_h;      /* of the last step */
    double plain_error;     /* and its error by the estimate alone */
    double reach;           /* the step that would have had the error 1; 0: unknown */
    double exponent;        /* by which the error grew with h */
    double *y, *yp;         /* at t */
    double *y_old, *yp_old; /* at t_old */
    double *Z;              /* stages of the last step */
    bool moved; /* the last step ends on constraints or bounds, maybe apart from y_old + Z_s */
    mechanism_failure failure; /* of the start */
} radau_state;

/* Weights of the stages at a place x of the step, value and slope: places are looked at again in
 * the next step. */
enum { RADAU_PLACES = 32 };
typedef struct radau_place {
    const collocation *m; /* NULL: none yet */
    double x, value[COLLOCATION_STAGES], slope[COLLOCATION_STAGES];
} radau_place;

/* What the end of a step needs of a method (radau.c): five rows over the stages, the place inside
 * that is looked at, and the weight of the defect there. */
typedef struct radau_ends {
    const collocation *m; /* NULL: none yet */
    double x, weight, rows[5 * COLLOCATION_STAGES];
} radau_ends;

/* One attempt. */
typedef struct radau_scratch {
    collocation_step step;           /* stages and Newton's method */
    int tries;                       /* attempts since the last accepted step, this one included */
    double first_h;                  /* size of the first of them that Newton's method solved */
    int newton_failures;             /* among them */
    int error_failures;              /* and those */
    double first_size;               /* norm of the first correction */
    int cap;                         /* most stages that the caller allows */
    int next_stages;                 /* proposal after this attempt */
    double leading;                  /* weighted norm of the leading coefficient of q */
    double failed_h;                 /* smallest step with which Newton's method failed, 0: none */
    stages_trial stiff;              /* error of stiff variables */
    bool limited;                    /* by more than the estimate: orders are not compared by it */
    stages_trial quiet;              /* what a quiet step may not have seen */
    stages_trial plain;              /* error by the estimate alone */
    double error_factor;             /* weight of the estimate, for */
    double factor_rtol;              /* this tolerance */
    double factors[RADAU_METHODS];   /* of 1, 3, 5 and 7 stages, */
    double constants[RADAU_METHODS]; /* and the constants of their estimates */
    double gain_to_lower;            /* what fewer stages must promise */
    double reach;                    /* this step, were its error 1, */
    double exponent;                 /* by this power of h */
    double trend;                    /* that over the one before; at most 1 */
    double log_theta;                /* of the contraction, within bounds */
    const collocation *rejected_m;   /* of the last try that failed the error test, NULL: none; */
    double rejected_h, rejected_error; /* its step and error */
    bool interpolates;                 /* its stages are in Z, and good for a prediction */
    bool stop;                         /* a callback asked for it in the estimate */
    double *y, *yp;                    /* candidate; */
    double *slope;                     /* q'(0) / h, */
    double *error;                     /* estimate: these three follow each other in memory */
    double *defect;                    /* work */
    double *scale;                     /* reciprocal weights of the error test */
    double ratio;                      /* extrapolation matrix for this ratio of step sizes, */
    const collocation *from, *to;      /* between these methods */
    double E[COLLOCATION_STAGES * COLLOCATION_STAGES];
    radau_ends ends;
    radau_place places[RADAU_PLACES]; /* by their part of the step */
} radau_scratch;

/* radau_newton.c: solve the collocation equations for the stages w->Z, predicted and in place on
 * entry; renews the matrices as needed. result->stage tells where it failed. */
attempt_status radau_solve(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           attempt *result);
/* b := (dF/dy + gamma/h dF/dy')^-1 b */
iteration_status radau_filter(const method_context *ctx, double *b);

/* radau_control.c: the weight of the estimate in the error test, kept in scratch for this attempt.
 */
void radau_set_error_factor(radau_scratch *w, const method_context *ctx, const double *y);
/* h_next / h after a solved attempt of that error, accepted or not, and w->next_stages. */
double radau_next_factor(const radau_state *s, radau_scratch *w, double error);
/* The number of stages to begin with, for a tolerance. */
int radau_first_stages(const error_norm *norm, const double *y);
/* The number of stages to try now. */
int radau_stages_now(const radau_state *s, const radau_scratch *w);
/* Whether the last solve asks for new partial derivatives at the next step. */
bool radau_jacobian_worn(const radau_scratch *w);
int radau_max_iterations(int stages);

/* radau_dense.c: q(x) or q'(x) of the last step, added to y_old for values. */
void radau_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                       double *y);
const collocation *radau_collocates(const void *state, const method_context *ctx);
/* How wrong the polynomial of this attempt is at a place x of (0, 1) between its ends. */
double radau_error_between(const radau_state *s, radau_scratch *w, const method_context *ctx,
                           double x);

/* radau_project.c: the cache, and the end of the step on its constraints, if that is asked for. */
void *radau_cache_new(const method_context *ctx);
void radau_cache_persist(void *cache, const method_context *ctx, persist *p);
void radau_cache_free(void *cache);
attempt_status radau_project(radau_scratch *w, const method_context *ctx, attempt *result);

#endif
