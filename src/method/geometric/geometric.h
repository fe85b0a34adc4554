/* Geometric integration of M(q) v' = f(q,v) - G'lambda, 0 = g(q): symplectic Euler, SHAKE, RATTLE,
 * symmetric compositions of RATTLE, and Lobatto IIIA-IIIB pairs [HLW06 VII.1].
 *
 * With p = M v and p' = dL/dq - G'lambda these are maps of T*Q that keep its symplectic form; dL/dq
 * = f + (dM/dt) v, where dM/dt is taken along v. x = (q, v). Nonlinear equations are solved down to
 * round-off, since what is left over would show as drift. Constant steps only. */
#ifndef DAE_METHOD_GEOMETRIC_GEOMETRIC_H
#define DAE_METHOD_GEOMETRIC_GEOMETRIC_H

#include "method/common/mechanism.h"

struct hem_cache;

enum { GEOMETRIC_STAGES = 4, GEOMETRIC_SUBSTEPS = 17 };

/* A symmetric composition: substeps gamma_i h, i = 0 .. count-1, gamma_i = gamma_{count-1-i}. */
typedef struct composition {
    int order, count;
    double gamma[GEOMETRIC_SUBSTEPS];
} composition;

extern const composition composition_plain, composition_4, composition_6, composition_8;

/* Lobatto IIIA (a, for q) and IIIB (a_hat, for p) with s stages, order 2s - 2 [Jay96]. */
typedef struct lobatto_pair {
    int stages;
    double b[GEOMETRIC_STAGES], c[GEOMETRIC_STAGES];
    double a[GEOMETRIC_STAGES][GEOMETRIC_STAGES], a_hat[GEOMETRIC_STAGES][GEOMETRIC_STAGES];
    /* inverse of rows 1 .. s-1, columns 0 .. s-2 of a a_hat */
    double coupling[GEOMETRIC_STAGES][GEOMETRIC_STAGES];
} lobatto_pair;

void lobatto_pair_fill(lobatto_pair *pair, int stages); /* 3 or 4 */

/* Matrices and work, outside state. */
typedef struct geometric_cache {
    mechanism system;
    saddle *mass;       /* M alone */
    bool mass_factored; /* a constant M is in it */
    bool by_velocity;   /* f depends on v */
    lobatto_pair pair;
    double *x, *half, *last, *p, *phi; /* work, 2 nq each; x owns the block of all vectors */
    /* stages of Lobatto pairs, nq or nl each */
    double *Q[GEOMETRIC_STAGES], *V[GEOMETRIC_STAGES], *P[GEOMETRIC_STAGES],
        *force[GEOMETRIC_STAGES], *Lambda[GEOMETRIC_STAGES];
    double *residual;         /* (s - 1) nl */
    struct hem_cache *keeper; /* directions towards invariants; NULL: none are kept */
} geometric_cache;

/* One step of size h from (t, x) to `end`: the velocity at the end meets its constraint. */
typedef mechanism_failure (*geometric_step)(geometric_cache *c, double t, double h, const double *x,
                                            double *end);

mechanism_failure symplectic_euler_step(geometric_cache *c, double t, double h, const double *x,
                                        double *end);
mechanism_failure rattle_step(geometric_cache *c, double t, double h, const double *x, double *end);
mechanism_failure lobatto_step(geometric_cache *c, double t, double h, const double *x,
                               double *end);
/* SHAKE: from q and u = v(t - h_old/2) to the new q and v(t + h/2); `kick` = (h_old + h) / 2 */
mechanism_failure shake_step(geometric_cache *c, double t, double h, double kick, const double *q,
                             const double *u, double *end);

/* Invariants that the user declared (geometric_invariants.c): what keeping them needs, if they are
 * to be kept, false: memory; whether they are such at the start, (t, x) with x' = k; and the end
 * of a step moved to where they have their start values, along the constraints, with x' and lambda
 * there. */
bool geometric_keeper_new(geometric_cache *c, const method_context *ctx);
void geometric_keeper_free(geometric_cache *c);
void geometric_keeper_persist(geometric_cache *c, const method_context *ctx, persist *p);
mechanism_failure geometric_keep_start(geometric_cache *c, const method_context *ctx, double t,
                                       const double *x, const double *k, const double *lambda);
mechanism_failure geometric_keep(geometric_cache *c, const method_context *ctx, double t, double *x,
                                 double *k, double *lambda);

/* Whether an iteration with corrections `size`, before them `last`, of values of that scale, is as
 * good as it gets: at round-off, `finest`, or small and no longer shrinking. */
bool geometric_settled(double size, double last, double scale, double finest);
mechanism_failure geometric_not_settled(void);
/* phi = dL/dq (t, q, v); M at (t, q), and G in G[0], are evaluated, too */
mechanism_failure geometric_force(geometric_cache *c, double t, const double *x, double *phi);
/* v := M(t, q)^-1 p */
mechanism_failure geometric_velocity(geometric_cache *c, double t, const double *q, const double *p,
                                     double *v);

#endif
