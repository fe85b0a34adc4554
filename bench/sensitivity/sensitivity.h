/* Problems whose solutions are differentiated, and the codes that do it. */
#ifndef BENCH_SENSITIVITY_H
#define BENCH_SENSITIVITY_H

#include "../peer.h"
#include "../work_precision.h"

enum { NAME_ROOM = 16 };

typedef struct problem {
    const char *name;
    const char *file; /* the model text under BENCH_ROOT */
    const char *set;  /* an assignment for it, or "" */
    dae_residual form;
    double tend, *y0, *yp0; /* consistent; owned unless `of` has them */
    double *scale;          /* n: atol over rtol; owned */
    double tight, check;    /* tolerances of the reference, and of IDAS, which confirms it */
    double tightest;        /* -log10 of the tightest tolerance that is measured */
    int np;
    const char **names;             /* of parameters in the text; owned, with their text */
    double *p;                      /* their sizes; owned */
    dae_parameter_derivative_fn by; /* dF/dp_k */
    double *s0, *sp0;               /* np rows of n: consistent; owned */
    const char *(*variable)(int i, char text[32]); /* unknown i in the text */
    double *weights;                    /* adjoint: J = the integral of weights y; owned, or NULL */
    double adjoint_size, gradient_size; /* of multipliers, and of components of the gradient */
    /* out_k = l^T dF/dp_k */
    void (*all_by)(double t, const double *y, const double *yp, const double *l, double *out,
                   void *user);
    model *of;           /* owned, or NULL */
    dae_problem *native; /* the text, translated once; owned */
    int *position;       /* of unknowns among its variables; owned */
} problem;

problem *problem_new(const char *name); /* NULL: unknown, or the text is wrong */
void problem_free(problem *q);          /* NULL is fine */

/* A code solves with the first np parameters and writes np rows of n, or the gradient. */
typedef struct outcome {
    bool ok;
    char note[160];
    long steps;
    double seconds;
    double *s;
} outcome;

typedef struct code {
    const char *name;
    bool ours;
    void (*solve)(const problem *q, double rtol, int np, outcome *out);
} code;

extern const code forward_codes[], adjoint_codes[];
extern const int forward_count, adjoint_count;

void ours_callbacks(const problem *q, double rtol, int np, outcome *out);
void ours_native(const problem *q, double rtol, int np, outcome *out);
void ours_adjoint(const problem *q, double rtol, int np, outcome *out);
void ours_by_radau(const problem *q, double rtol, int np, outcome *out); /* discrete */
void ours_continuous(const problem *q, double rtol, int np, outcome *out);
void ours_unchecked(const problem *q, double rtol, int np, outcome *out);
void idas_staggered(const problem *q, double rtol, int np, outcome *out);
void idas_simultaneous(const problem *q, double rtol, int np, outcome *out);
void idas_adjoint(const problem *q, double rtol, int np, outcome *out);

#endif
