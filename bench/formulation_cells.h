/* One formulation with one method on one mechanism: what it gave and cost. */
#ifndef BENCH_FORMULATION_CELLS_H
#define BENCH_FORMULATION_CELLS_H

#include "half_explicit.h"

/* A mechanism with its model text and q, v, lambda at the end. */
typedef struct cell_problem {
    const char *name;
    mechanism *m;         /* owned */
    dae_problem *problem; /* owned */
    double *reference;    /* q, v, lambda at the end: of a run with prk, or as known */
    double fixed_step;    /* for methods without step size control */
    double multiplier_sign;
} cell_problem;

enum { CELL_PROBLEMS = 4 };
const char *cell_problem_name(int i); /* circle, pendulum, caraxis, andrews; NULL past the end */
/* root: the directory of models/. NULL: memory, or the model does not translate. */
cell_problem *cell_problem_new(const char *name, const char *root, dae_engine engine);
void cell_problem_free(cell_problem *p); /* NULL is fine */

typedef enum cell_status {
    CELL_RUNS,
    CELL_REFUSED, /* formulation and method do not fit, or not this problem: `why` */
    CELL_FAILS
} cell_status;

typedef struct cell {
    cell_status status;
    char why[DAE_TEXT_SIZE];
    double rtol;
    double error[3]; /* largest in q, v, lambda, against the largest value */
    double drift[3]; /* largest of g, G v + g_t, G a + g_tt .., a from M a = f - G' lambda */
    long steps, evaluations;
    double seconds; /* from the start to the end of the run */
} cell;

/* rtol 0: 1e-6, for methods of order p below 5: 10^-(p+1), but at most 1e-3. */
cell cell_run(const cell_problem *p, const char *formulation, int method, double rtol);

#endif
