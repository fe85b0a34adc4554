/* The extrapolation tableau of linearly implicit Euler with 1, 2, .. 10 small steps, in 33 digits:
 * the problem is in the .c file. which: 0 for y, 2 for z. */
#ifndef DAE_BENCH_INDEPENDENT_EXTRAPOLATION_H
#define DAE_BENCH_INDEPENDENT_EXTRAPOLATION_H

void independent_tableau(double H, int which, double T[10][10]);
/* Observed orders of the errors of T_jk after one step, H = 1/512 against 1/1024. */
void independent_tableau_orders(int which, double order[10][10]);

#endif
