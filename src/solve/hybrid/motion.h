/* An unknown along a step: the cubic with its values and slopes at both ends. */
#ifndef DAE_SOLVE_HYBRID_MOTION_H
#define DAE_SOLVE_HYBRID_MOTION_H

#include "expr/range.h"

typedef struct motion {
    double t[2], y[2], slope[2];
} motion;

/* Its value (order 0) or slope (order 1) at t. */
double motion_at(const motion *m, int order, double t);
/* Bounds of both between a and b. */
range motion_between(const motion *m, double a, double b);

#endif
