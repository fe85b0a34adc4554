/* Mechanisms for the comparison of half-explicit methods with other codes: every problem once, as
 * mass, force, constraint and their derivatives, from which each code gets the form it takes. */
#ifndef BENCH_HALF_EXPLICIT_H
#define BENCH_HALF_EXPLICIT_H

#include "daedal.h"

#include <stdbool.h>

/* What is asked for; NULL: not needed. */
typedef struct mechanism_values {
    double *mass; /* diagonal values, or a full matrix with leading dimension ld */
    int ld;       /* 0: as the problem stores it by itself */
    double *force, *gradient, *rate, *curvature;
} mechanism_values;

typedef struct mechanism mechanism;

struct mechanism {
    const char *name;
    const char *model;      /* file with the same equations in the language, and */
    const char *assignment; /* its size, or NULL */
    int nq, nl, links;      /* links > 0: a chain */
    double tend;
    double *q0, *v0, *a0, *l0; /* consistent; a0 and l0 for the implicit codes */
    double *reference;         /* q(tend) */
    void (*values)(const mechanism *m, double t, const double *q, const double *v,
                   const mechanism_values *out);
    void (*constraint)(const mechanism *m, double t, const double *q, double *g);
    bool mass_diagonal; /* and constant */
    bool rheonomic;
    dae_pattern gradient_pattern;                /* of a chain */
    const char *(*variable)(int i, char *space); /* the name of q_i in the model */

    /* Index 1: r = (M v' - f + G'lambda, G v' + curvature), and its derivatives by q, v, v',
     * lambda, full by columns, ld rows each (small mechanisms) */
    void (*residual)(const mechanism *m, double t, const double *q, const double *v,
                     const double *a, const double *lambda, double *r);
    void (*jacobian)(const mechanism *m, double t, const double *q, const double *v,
                     const double *a, const double *lambda, double *jacobian, int ld);
};

mechanism *mechanism_new(const char *name, int links); /* exits if there is no memory */
void mechanism_free(mechanism *m);

/* The chain, index 1 and explicit: y = (x, y, x', y', lambda) link by link, diag(1,1,1,1,0) y' = f.
 * The Jacobian is banded; band[upper + i - j + j*ld] is element (i,j). */
enum { CHAIN_LOWER = 14, CHAIN_UPPER = 7, CHAIN_UNKNOWNS = 5 };
void chain_explicit(int links, const double *y, double *f);
void chain_explicit_jacobian(int links, const double *y, double *band, int ld);

/* One solution. */
typedef struct outcome {
    bool ok;
    char note[64];
    double seconds;
    long steps;
    double *q; /* q(tend); space for nq values given by the caller */
} outcome;

enum { IN_HALF_EXPLICIT = 1, IN_MANIFOLD = 2 }; /* in which comparison a code takes part */

typedef struct contender {
    const char *name;
    bool ours, model;
    const char *method; /* of ours */
    void (*solve)(const struct contender *c, const mechanism *m, double rtol, outcome *out);
    int part;                  /* IN_.. */
    dae_precision precision;   /* of ours */
    dae_projection projection; /* of ours */
} contender;

extern const contender half_explicit_contenders[];
extern const int half_explicit_count;
/* for references, quadruple and, for long chains, long double precision */
extern const contender half_explicit_precise, half_explicit_long;
extern const contender
    half_explicit_auto;               /* ours, from callbacks, with the method that auto takes */
const char *half_explicit_open(void); /* loads the other codes; what is missing, or NULL */

#endif
