/* The iteration for consistent values: R(x) = 0 by damped Newton or Gauss-Newton steps, whatever R
 * is. Residual problems, the forms of callbacks and the levels of models are its sources; each says
 * what its equations are, which unknowns may move, and what is large. */
#ifndef DAE_INIT_ENGINE_H
#define DAE_INIT_ENGINE_H

#include "problem/residual.h"

typedef enum engine_outcome {
    ENGINE_MET = 0,
    ENGINE_STALLED,   /* no damping factor helped, or too many iterations */
    ENGINE_SINGULAR,  /* the matrix has no inverse where it must have one */
    ENGINE_LINEAR,    /* GMRES made no progress */
    ENGINE_UNDEFINED, /* R or its matrix cannot be evaluated where we stand */
    ENGINE_STOP,      /* a callback asked to stop */
    ENGINE_MEMORY
} engine_outcome;

/* What an evaluation means for the iteration. */
engine_outcome engine_from(eval_status status);
/* Whether nothing else is to be tried after it. */
static inline bool engine_ends(engine_outcome outcome)
{
    return outcome == ENGINE_STOP || outcome == ENGINE_MEMORY;
}

typedef struct engine engine;

/* What a source does. Corrections are in units of its choice; `move` knows them. */
typedef struct engine_source {
    /* Partial derivatives at x, where R is r, with factors; sizes of the unknowns. */
    engine_outcome (*linearise)(engine *e);
    /* dx = -J^-1 r, or the shortest one of those that fit best, among unknowns that may move. */
    engine_outcome (*correction)(engine *e, const double *r, double *dx);
    /* trial = x + lambda dx; NULL: just that. */
    void (*move)(engine *e, double lambda, const double *dx);
    engine_outcome (*evaluate)(engine *e); /* trial_r = R(trial) */
    void (*take)(engine *e);               /* x = trial; NULL: just that; r follows here */
    /* Whether r is met up to rounding. NULL: corrections alone tell. */
    engine_outcome (*met)(engine *e, bool *met);
    /* The longest part of stride dx that bounds allow. NULL: there are none. */
    double (*room)(engine *e, double stride, const double *dx);
    /* The longest part of dx that stays near; more of it only where R proves nearly linear. NULL:
     * all of it. */
    double (*near)(engine *e);
    /* ENGINE_MET: the last correction, which is below the tolerance, is added, too; parts of it may
     * be taken back. NULL: the end is the source's affair. */
    engine_outcome (*last)(engine *e, double *dx);
    /* Unknown j in the units of dx. NULL: that of x. */
    double (*value)(engine *e, int j);
    /* One unit of unknown j; NULL: 1. */
    double (*unit)(engine *e, int j);
} engine_source;

struct engine {
    const engine_source *source;
    void *user;
    int n, m;
    int counted;         /* unknowns that the mean of a length is over */
    double *x, *trial;   /* n; not for sources with a move of their own */
    double *r, *trial_r; /* m; r is known at the beginning */
    double *dx, *next;   /* n: correction at x, and with the same factors at the trial point */
    double *size;        /* n: lengths are counted in these; NULL: in 1 */
    double tolerance;    /* of corrections; 0: `met` alone ends the iteration */
    double negligible;   /* corrections of which no component is larger pass every test */
    double keep;         /* factors are kept while full steps contract as much; 0: never */
    double
        longest_stride; /* where full steps do not get shorter they may grow to this; at least 1 */
    bool remembers;     /* the first damping factor is the one that served before; else 1 */
    int most;           /* steps */
    int taken;          /* steps so far */
    double length;      /* of the last correction */
};

/* From x to a solution; it may go on from there once more. */
engine_outcome engine_solve(engine *e);
/* From x to the solution at the end of the curve R(x(s)) = (1 - s) R(x(0)), s = 0 .. 1, where it
 * leads to one without turning back: what is near to x, and not where full steps happen to end.
 * r is known at the beginning (engine_follow.c). */
engine_outcome engine_follow(engine *e);

/* Solutions that are known, and how far it is from the guess to the first of them. */
typedef struct deflation {
    int count;           /* of solutions */
    const double *known; /* count times n values */
    const double *way;   /* n: lengths are counted in these; 0: the unknown does not count */
    const bool *bounded; /* n: the search goes no farther from the guess than that */
} deflation;
/* From x, which is the guess and not a solution, to a solution that is not known, if one is found
 * no farther from the guess than it is bounded (engine_deflate.c). */
engine_outcome engine_deflated(engine *e, const deflation *d);
/* sqrt(mean of (dx_j / size_j)^2) */
double engine_length(const engine *e, const double *dx);

#endif
