/* What bench_large measures of one code on one problem. */
#ifndef BENCH_LARGE_H
#define BENCH_LARGE_H

#include "problems.h"

typedef struct large_result {
    bool ok;
    long unknowns, steps;
    double translation, start, run; /* processor seconds */
    double wall;                    /* of the run */
    double memory[3];               /* peak in MB behind translation, start and run */
    double value;                   /* of the probe, at the end */
    char note[160];
} large_result;

double large_seconds(void);   /* of this process */
double large_wall(void);      /* since some time */
double large_megabytes(void); /* peak so far */

/* IDA with KLU, or with GMRES and the cells as preconditioner */
void large_ida(const large_problem *p, bool gmres, double rtol, large_result *r);

#endif
