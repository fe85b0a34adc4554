/* The systems of seed 004 that are integrated as they are printed, E(t,x) x' = f and 0 = g with all
 * constraints, as callbacks: models have fewer unknowns once aliases have left. */
#ifndef DAE_BENCH_SEEDS_004_SYSTEMS_H
#define DAE_BENCH_SEEDS_004_SYSTEMS_H

#include <daedal.h>

enum { BAESE_MOST = 7 };

typedef struct baese_system {
    dae_quasilinear form;
    double start[BAESE_MOST], t0, tf;
    void (*exact)(double t, double *x); /* NULL: not known */
} baese_system;

extern const baese_system baese_chain, baese_circuit, baese_akzo, baese_crane, baese_crane_printed,
    baese_example313, baese_varying, baese_differential, baese_algebraic;

#endif
