/* A code that takes part in the comparison: it solves a model at a tolerance and reports its work.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "models.h"

#include <stdbool.h>

/* What one solution of one problem at one tolerance gave and cost. */
typedef struct run {
    bool ok;         /* tend was reached */
    char note[96];   /* why not */
    long steps;      /* accepted */
    long residuals;  /* F evaluations */
    long jacobians;  /* evaluations of the Jacobian callback */
    long factors;    /* factorisations of the iteration matrix */
    long bad_error;  /* steps rejected by the error test */
    long bad_newton; /* steps, or Newton solves, that did not converge */
    double seconds;  /* from the creation of the solver to y(tend), everything freed again */
    double *y;       /* y(tend); space for n values given by the caller */
} run;

/* The task: the model with rtol and atol[i], the same for all codes. */
typedef struct task {
    const model *model;
    double rtol;
    const double *atol;
    const double *tested; /* for IDA: 1 where its error test looks, else 0; NULL: everywhere */
} task;

typedef struct peer {
    const char *name;
    const char *(*missing)(void);           /* why it cannot run at all, or NULL; asked first */
    const char *(*version)(void);           /* in one line, with the options that matter */
    bool (*suits)(const model *m);          /* does it take this problem? */
    void (*solve)(const task *k, run *out); /* fills all of out but y's address */
} peer;

extern const peer peer_daedal, peer_ida, peer_dassl, peer_daspk;

/* Processor time of this process in seconds. All codes here run in one thread, so that this is the
 * time they take on an idle machine, and other programs on a busy one disturb it less. */
double bench_clock(void);

/* Zeroed memory; ends the program if there is none. */
void *bench_space(size_t count, size_t size);

/* Correct digits, -log10(max|e| / max|y|), or of each value in its own size. */
double bench_digits(int count, const double *y, const double *reference, bool each);

bool model_is_sparse(const model *m);

/* s_i = atol_i / rtol: the size below which y_i is measured absolutely */
double model_scale(const model *m, int i);

/* a[i] += cj * b[i] : the iteration matrix dF/dy + cj dF/dy' from the model's two Jacobians */
static inline void add_scaled(long count, double *restrict a, double cj, const double *restrict b)
{
    for (long i = 0; i < count; i++) a[i] += cj * b[i];
}

#endif
