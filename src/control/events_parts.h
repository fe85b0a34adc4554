/* What the files behind events.h share: the finder, its samples, the quintics through them. */
#ifndef DAE_CONTROL_EVENTS_PARTS_H
#define DAE_CONTROL_EVENTS_PARTS_H

#include "base/vector.h"
#include "control/events.h"

#include <float.h>
#include <stdlib.h>

enum {
    NODES = 6,                /* Chebyshev-Lobatto points of a search interval */
    DEGREE = NODES - 1,       /* of the polynomial through them */
    EXTRA = 26,               /* room for samples at dips; beyond it dips go unchecked */
    CAPACITY = NODES + EXTRA, /* samples in one search */
    WIDE = 16,                /* tolerances in a bracket in which a jump can be told from a slope */
    PRESUMED = 2              /* a sign times this: known, but not seen off zero yet */
};

typedef struct polynomial {
    int degree;
    double a[NODES]; /* sum a_k u^k, -1 <= u <= 1 */
} polynomial;

/* The quintic through the nodes' g_i. */
typedef struct component_fit {
    polynomial p;
    double change; /* of g_i in the interval, as it tells */
    double error;  /* how far g_i may be from it, judged by its last coefficients */
    bool near;     /* it may have zeros within that error; the rest does not matter if not */
    bool poor;     /* the error is large against the change of g_i */
} component_fit;

typedef struct sample {
    double t;
    double *g; /* one vector of the finder's store; pointers are swapped, not copied */
    bool node; /* a Chebyshev-Lobatto point */
} sample;

struct event_finder {
    evaluator *eval;  /* borrowed */
    int count;        /* components of g */
    double tolerance; /* relative */

    double t;                     /* where the last search ended */
    double *g;                    /* g there */
    int *sign;                    /* last sign off zero; 0: not armed; +-PRESUMED */
    double *band;                 /* |g_i| up to this is zero while not armed, or presumed */
    int *held;                    /* side on which it is held since the start, 0: not known */
    int *zero;                    /* side to which zero belongs, 0: not known */
    bool *unresolved;             /* of the last find: flagged while presumed; */
    bool *jumped;                 /* flagged by a jump or a pole */
    bool *quiet;                  /* zero for the rest of the step */
    bool *mute;                   /* as it was at the start, until the next */
    double *peak;                 /* largest |g_i| since its last crossing */
    double *last_peak;            /* the same at the last find, where flagged */
    bool fresh;                   /* no search since the start */
    double *entry_g, *entry_band; /* copies for a failing search to go back to */
    int *entry_sign;
    double start_time; /* of the last start */

    event_bound bound; /* NULL: none */
    void *bound_context;
    bool bound_for_all;
    double reach;          /* length of the next piece to ask for */
    double counted_to;     /* end of the step that these count pieces of: */
    int pieces, unbounded; /* all; short ones that are not plain */
    int culprit;           /* the component that was not plain last, or EVENTS_PLAIN */

    int *flags;        /* of the last find */
    double found_at;   /* its time; NAN if none */
    double *overshoot; /* |g_i| there where flagged and not beyond a jump, else 0 */
    double *rounding;  /* of g_i; 0: not known */
    double *extent;    /* change of g_i over the bracket that the location began with */

    sample samples[CAPACITY]; /* sorted in the direction of integration */
    int sample_count;
    int rest; /* the sample where the last find was: those behind it are left for the
                 next search, from rest_from to rest_to; 0: there are none */
    double rest_from, rest_to;
    double far_t, *far;      /* that sample as it was before the location moved it */
    double *trial;           /* g at the point tried last */
    component_fit *fit;      /* per component: through the nodes of the samples, */
    double fit_from, fit_to; /* which are those of this interval; fit_to = NAN: there are none */
    double dropped_t;        /* the end that the bracket gave up last; NAN: none, */
    double *dropped;         /* and g there */
    bool slopes;             /* g reads y' */
    int *state;              /* sign during a search */
    int *changed;            /* new sign of the components that cross in the bracket, else 0 */
    double *y, *yp;          /* work, n each */
    double *real_store;      /* owns all double arrays */
    int *int_store;          /* owns all int arrays */
};

/* What the interpolant callback needs to be called. */
typedef struct trajectory {
    event_interpolant at;
    void *context;
} trajectory;

static inline int sign_of(double x)
{
    return (x > 0.0) - (x < 0.0);
}

static inline void swap_vectors(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* A sign that was seen off zero. */
static inline bool is_seen(int s)
{
    return s == 1 || s == -1;
}

/* Whether signs s and next are on the two sides of zero. */
static inline bool opposite(int s, int next)
{
    return s * next < 0;
}

/* Not seen off zero: where it is held, or nothing is known. */
static inline int presumed_sign(const event_finder *f, int i)
{
    return PRESUMED * f->held[i];
}

/* events_quintic.c */

double polynomial_at(const polynomial *p, double u);
polynomial polynomial_derivative(const polynomial *p);
/* The zeros in (-1, 1) at which p changes sign, ascending. */
int polynomial_zeros(const polynomial *p, double *zeros);
/* The zero between a and b of p plus the straight line that makes its values there va and vb, which
 * have different signs. */
double polynomial_zero_between(const polynomial *p, double a, double va, double b, double vb);
/* The quintic through the values v at the nodes. */
component_fit fit_values(const double *v);

/* events_samples.c */

/* trial = g(t, y(t), y'(t)) */
eval_status evaluate_trial(event_finder *f, const trajectory *path, double t);
/* The sign of g_i that counts at sample k, given its sign s before: a zero takes the sign that
 * follows, so that a touch is not a crossing; zero up to the end is the side that it belongs to,
 * and a crossing (-s) where that is not known, unless the sign is but presumed. */
int sign_at(const event_finder *f, int k, int i, int s);
/* Samples at both ends of [t, to]: between them there are no times worth telling apart. */
eval_status sample_ends(event_finder *f, const trajectory *path, double to);
/* Samples of [t, *to], with *to drawn back as far as needed for good guidance, but no closer to t
 * than `least`, and of dips. */
eval_status sample_interval(event_finder *f, const trajectory *path, double least, double *to);

/* events_locate.c */

/* The first sample before which a wanted component crosses, or 0; state = signs at the one before
 * it. */
int first_bracket(event_finder *f);
/* Narrow the bracket (samples k-1 and k) around its first crossings; which of them are jumps. */
eval_status locate_crossings(event_finder *f, const trajectory *path, int k, double tolerance);

#endif
