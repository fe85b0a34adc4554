/* The code of [Wun05 chapter 4] on (8.1), written from its formulas alone: it shares nothing with
 * the library. Table 8.1 does not come out of it as printed. */
#ifndef DAE_BENCH_SEEDS_INDEPENDENT_SECOND_ORDER_H
#define DAE_BENCH_SEEDS_INDEPENDENT_SECOND_ORDER_H

typedef struct circle_output {
    double q1, lambda; /* absolute errors */
    int steps;         /* taken so far */
} circle_output;

/* Errors at t = 0.1, 0.2, .., 1 with the tolerances of Table 8.1 and h0 = 1e-4. */
void independent_table_8_1(circle_output rows[10]);

#endif
