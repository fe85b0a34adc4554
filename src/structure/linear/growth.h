/* Growth: the eigenvalue of largest real part of B u' + A u = 0, and the loop of variables and
 * equations that feeds it. */
#ifndef DAE_STRUCTURE_LINEAR_GROWTH_H
#define DAE_STRUCTURE_LINEAR_GROWTH_H

#include <stdbool.h>

enum { GROWTH_LOOP = 8 };

typedef struct growth {
    bool found;
    double rate, frequency; /* real and imaginary part of the eigenvalue */
    int loop;               /* variables of the loop that feeds it, */
    int variable[GROWTH_LOOP];
    int equation[GROWTH_LOOP]; /* each with the equation that determines it, or its derivative */
} growth;

/* n x n matrices by columns, finite. The loop is followed from variable `from`, which grows: to the
 * variable that contributes most to its growth in phase with it, and on, until one comes again.
 * Longer loops than GROWTH_LOOP have loop = 0. False: memory. */
bool growth_find(int n, const double *A, const double *B, int from, growth *result);

#endif
