/* What methods on M(t,q) v' = f(t,q,v) - G(t,q)'lambda, 0 = g(t,q) share: matrices and factors,
 * accelerations, and projections onto the constraints of positions and velocities. x = (q, v). */
#ifndef DAE_METHOD_COMMON_MECHANISM_H
#define DAE_METHOD_COMMON_MECHANISM_H

#include "linalg/saddle.h"
#include "method/common/method.h"

/* How something ended; status 0: well. */
typedef struct mechanism_failure {
    attempt_status status;
    const char *reason; /* static, or NULL */
    int constraint;     /* row of g, or -1 */
    int invariant;      /* from 1; 0: none */
} mechanism_failure;

/* Matrices and work, part of a method's cache. */
typedef struct mechanism {
    const mechanical_form *form;
    const int *q_place, *v_place, *lambda_place; /* among the unknowns; NULL: in order */
    const multibody_form *multibody; /* of the full form, which has its own factors; else NULL */
    saddle *saddle;
    bool mass_known; /* a constant M is in the factors */
    bool diagonal;   /* M is, as far as the factors know */
    int massless;    /* q that made the last factors fail, from 1; 0: none */
    double enough; /* a correction of q below this part of the error weights ends its projection */
    double left;   /* the last correction where there were too many, in these weights; else 0 */
    bool exactly;  /* positions meet their constraints to round-off, not only for the error test */
    double *M, *G[2], *force, *rate, *curvature, *r, *dx;
    double *block; /* owned: where these are, unless they changed places with others */
} mechanism;

saddle_shape mechanism_shape(const mechanical_form *m);      /* of [M G'; G 0] */
bool mechanism_new(mechanism *c, const method_context *ctx); /* false: memory; free it */
/* The same for projections of the full form, which stays the caller's: the factors are its own. */
bool mechanism_of_multibody(mechanism *c, const multibody_form *full, const form_places *places);
void mechanism_free(mechanism *c); /* leaves it zeroed */
/* Matrices and factors in a checkpoint; some vectors may be in a block of the caller's. */
void mechanism_persist(mechanism *c, double *block, persist *p);
/* Before the first evaluation of a start: M may have been found diagonal meanwhile. */
mechanism_failure mechanism_restart(mechanism *c);

mechanism_failure mechanism_ok(void);
void mechanism_report(mechanism_failure failure, attempt *result);
mechanism_failure mechanism_evaluation(eval_status status);

/* Place of component i of x, and of multiplier i, among the n unknowns. */
int mechanism_place(const mechanism *c, int i);
int mechanism_multiplier(const mechanism *c, int i);

/* M (unless it is constant and known), f, G, g_t and the curvature at (t, x); NULL: not */
mechanism_failure mechanism_values(const mechanism *c, double t, const double *x, double *M,
                                   double *f, double *G, double *rate, double *curvature);
/* The same for the M, f and G[0] of c */
mechanism_failure mechanism_evaluate(mechanism *c, double t, const double *x, double *rate,
                                     double *curvature);
/* G[which] and g_t at (t, q) */
mechanism_failure mechanism_gradient(mechanism *c, double t, const double *x, int which);
/* Factor [M B'; C 0] with the M of c, or with another one; a constant M goes in once. */
mechanism_failure mechanism_factor(mechanism *c, const double *B, const double *C);
mechanism_failure mechanism_factor_with(mechanism *c, const double *M, const double *B,
                                        const double *C);
/* p = M v, M the last one evaluated */
void mechanism_momentum(const mechanism *c, const double *v, double *p);
/* r += G v */
void mechanism_add_product(const mechanism *c, const double *G, const double *v, double *r);

/* k = (v, v') and lambda from the f and the curvature last evaluated, by the factors at hand;
 * lambda may be NULL, which is faster */
mechanism_failure mechanism_slope(mechanism *c, const double *x, double *k, double *lambda);
/* q := q + M^-1 B'mu with g(t, q) = 0, by simplified Newton with the factors at hand, to a small
 * part of the error weights, or to round-off (c->exactly) */
mechanism_failure mechanism_project_position(mechanism *c, const error_norm *norm, double t,
                                             double *q);
/* v := v + M^-1 G'mu with G v + rate = 0, by the factors at hand, which belong to that G */
void mechanism_project_velocity(mechanism *c, const double *G, double *v);
/* v := v + M^-1 (kick phi - G'mu) likewise */
void mechanism_kick(mechanism *c, const double *G, double kick, const double *phi, double *v);
/* The part of a difference of velocities with G[0] e = 0, likewise; the rate is lost */
void mechanism_tangent(mechanism *c, double *e);

/* k = (v, v') and lambda at (t, x), with M, f, G, g_t (rate; NULL: not) and the curvature there */
mechanism_failure mechanism_slope_at(mechanism *c, double t, const double *x, double *rate,
                                     double *k, double *lambda);
/* The same k without matrices, which stay as they are, by the form's accelerations; false: it takes
 * them. */
bool mechanism_accelerate(const mechanism *c, double t, const double *x, double *k);
/* (t, x) moved onto the constraints of positions and velocities, from factors near by, with all
 * values and factors there. One evaluation and one factorisation: f and the curvature belong to v
 * before its correction, which is of the size of the local error and enters the slope only. */
mechanism_failure mechanism_end(mechanism *c, const error_norm *norm, double t, double *x,
                                bool position, bool velocity);
/* The same as the options say, with k = (v, v') and lambda there. */
mechanism_failure mechanism_finish(mechanism *c, const method_context *ctx, double t, double *x,
                                   double *k, double *lambda);
/* (y, y') as the driver sees them. */
void mechanism_scatter(const mechanism *c, const double *x, const double *lambda, double *y);

#endif
