/* DASSL from its formulas [BCP96 5.2], without the library: dense matrices by differences,
 * variables in or out of the error test. Counts and values of runs to compare with. */
#ifndef DAE_BENCH_INDEPENDENT_DASSL_H
#define DAE_BENCH_INDEPENDENT_DASSL_H

#include <stdbool.h>

enum { INDEPENDENT_MOST = 8 };

typedef struct independent_problem {
    int n; /* at most INDEPENDENT_MOST */
    int (*f)(double t, const double *y, const double *yp, double *r, void *user);
    void *user;
    const bool *tested; /* n: variables of the error test; NULL: all */
} independent_problem;

typedef struct independent_run {
    int steps, functions, differences, matrices, error_failures, newton_failures;
    double y[INDEPENDENT_MOST]; /* at tend */
} independent_run;

/* From t0 to tend with rtol = atol = tolerance; false: it does not get there. rate_anew: S is 100
 * at the start of every step. */
bool independent_dassl(const independent_problem *p, double tolerance, bool rate_anew, double t0,
                       double tend, const double *y0, const double *yp0, independent_run *run);

#endif
