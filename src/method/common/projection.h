/* The end of a step on a mechanism, brought onto its constraints: positions and velocities by the
 * shortest way in the metric of M, accelerations and multipliers from the acceleration level
 * [HW96 VII.2]. For methods that integrate something else than the mechanical form, which the
 * problem offers beside it: values are among the n unknowns. */
#ifndef DAE_METHOD_COMMON_PROJECTION_H
#define DAE_METHOD_COMMON_PROJECTION_H

#include "method/common/mechanism.h"

/* Matrices and work of one solver; part of a method's cache. form = NULL: nothing to project. */
typedef struct projection {
    const mechanical_form *form; /* borrowed */
    mechanism mechanism;
    bool factored;
    double *x, *k, *lambda, *begin; /* (q, v), (v, v'), multipliers, and q before; one block */
    double *dr;                     /* changes of r of the full form; in it */
} projection;

/* For the mechanical form that the problem offers, if it has constraints; false: memory. */
bool projection_new(projection *p, const method_context *ctx);
void projection_free(projection *p);
void projection_persist(projection *ends, persist *p);

/* A new start: what is known of M may have changed. */
mechanism_failure projection_start(projection *p);

/* (y, y') at t onto the constraints: g = 0 within a part of the error weights, g' = 0 and g'' = 0
 * to round-off; of the full form w and s with them. y' of multipliers, w and s stays. `move` tells
 * which of q and v do; AUTO: both. */
mechanism_failure projection_apply(projection *p, const error_norm *norm, double t, double *y,
                                   double *yp, dae_projection move);

/* The part of a difference of velocities, among n unknowns, that the constraints allow at the point
 * (t, y), that of the last factors; of the full form that of r with it. */
void projection_tangent(projection *p, double t, double *y, double *e);

/* Places of the parts among the unknowns. */
int projection_q(const projection *p, int i);
int projection_v(const projection *p, int i);
int projection_lambda(const projection *p, int i);
/* Unknowns that follow from the others: multipliers, and w and s of the full form. */
int projection_followers(const projection *p);
int projection_follower(const projection *p, int i);

#endif
