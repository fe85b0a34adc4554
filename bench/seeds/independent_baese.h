/* Table 1 of seed 004 by another program. */
#ifndef DAE_BENCH_SEEDS_INDEPENDENT_BAESE_H
#define DAE_BENCH_SEEDS_INDEPENDENT_BAESE_H

#include <stdbool.h>

/* The pendulum (4.5), 3 constraints, or (4.6), 1, to tf, a multiple of 2: the Euclidean distance
 * from the start, and accepted steps + 1. False: an iteration failed. */
bool independent_baese(int constraint_count, double tf, double beta, double eps0, double *error,
                       double *steps);

/* The error at `to` of n steps on (4.1) with methods (a) to (d), order 1 to 4; its constraints are
 * solved by roots and quotients. */
double independent_baese_selector(int order, int n, double from, double to);

#endif
