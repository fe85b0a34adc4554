/* Problems by lines of seed 003, 6.5, by another program. */
#ifndef DAE_BENCH_SEEDS_INDEPENDENT_LINES_H
#define DAE_BENCH_SEEDS_INDEPENDENT_LINES_H

#include <stdbool.h>

/* models/seeds/ignition.mo at t = 0.1: N temperatures from the axis on; returns the pressure. */
double independent_ignition(int N, double *T);
/* models/seeds/flame3.mo (moving: N temperatures and N places) and flame4.mo at tend. */
void independent_flame(int N, bool moving, double tend, double *y);
/* models/seeds/gasnetwork.mo at t = 24: nodes 2, 3 and 4 of n sections. */
void independent_network(int n, double *p);

#endif
