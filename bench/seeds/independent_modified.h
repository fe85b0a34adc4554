/* alpha_1 of BDF(1,2,2) [Wun05 Table 3.3] from its definition alone, without the library. */
#ifndef DAE_BENCH_INDEPENDENT_MODIFIED_H
#define DAE_BENCH_INDEPENDENT_MODIFIED_H

/* t: t_n, t_{n-1}, t_{n-2}, t_{n-3} */
double independent_bdf_122(const double *t);

#endif
