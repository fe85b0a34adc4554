/* (3.12) of [Wun05] from (3.10) alone, without the library. */
#ifndef DAE_BENCH_INDEPENDENT_REDUCTION_H
#define DAE_BENCH_INDEPENDENT_REDUCTION_H

/* d/dt of x2 = f1 - f2' - f2'' at t, for f1 = exp(t/2), f2 = sin(2t): by differences */
double independent_slope(double t);

#endif
