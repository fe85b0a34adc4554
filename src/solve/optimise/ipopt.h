/* IPOPT, an interior point method [WB06], found at run time: nothing is linked. */
#ifndef DAE_SOLVE_OPTIMISE_IPOPT_H
#define DAE_SOLVE_OPTIMISE_IPOPT_H

#include <stdbool.h>
#include <stddef.h>

/* min f(x), row_lower <= g(x) <= row_upper, lower <= x <= upper. Functions return false where there
 * is no value. */
typedef struct ipopt_problem {
    int size, rows;
    size_t jacobian, hessian; /* entries; those at one place add up */
    double *lower, *upper, *row_lower, *row_upper;
    const int *jacobian_row, *jacobian_column;
    const int *hessian_row, *hessian_column; /* the lower triangle */
    bool (*objective)(void *user, const double *x, double *value);
    bool (*gradient)(void *user, const double *x, double *gradient);
    bool (*constraints)(void *user, const double *x, double *g);
    bool (*derivatives)(void *user, const double *x, double *values);
    /* NULL: second derivatives are estimated from gradients */
    bool (*second)(void *user, const double *x, double factor, const double *lambda,
                   double *values);
    bool (*go_on)(void *user, int iteration, double objective, double violation);
    void *user;
    int max_iterations;
    double
        objective_scale; /* 0: 1. What the objective is multiplied by: its gradient is about 1, */
    const double *row_scale; /* NULL: 1. and those of rows, as x is about 1 */
    double tolerance;        /* in these units */
    double complementarity;  /* multipliers times distances from bounds, at most; 0: tolerance */
    double accepted;         /* what counts as solved where it stops early; 0: tolerance */
    bool warm;               /* x is near the solution */
    int groups;              /* of unknowns that are chosen, and not followed from others */
    int (*group)(const void *user, int k); /* of unknown k, -1: none; NULL: each is one */
} ipopt_problem;

typedef enum ipopt_end {
    IPOPT_SOLVED,
    IPOPT_STOPPED,    /* by go_on */
    IPOPT_INFEASIBLE, /* a point of least violation */
    IPOPT_ITERATIONS, /* too many */
    IPOPT_UNBOUNDED,  /* x grows beyond all bounds */
    IPOPT_TIGHT,      /* more equations than unknowns */
    IPOPT_FAILED,     /* no way on from x */
    IPOPT_NO_MEMORY,
    IPOPT_MISSING
} ipopt_end;

/* Whether it is there. */
bool ipopt_available(void);
extern const char ipopt_advice[];

/* x: from where, and what was found. *gap, if not NULL: what multipliers times distances from
 * bounds add up to, in units of the objective. An interior point method ends inside of the bounds;
 * by so much, to first order, the least value is below what it found [WB06]. lambda, if not NULL:
 * multipliers of rows. */
ipopt_end ipopt_solve(const ipopt_problem *p, double *x, double *gap, double *lambda);

/* The same, and once more from beside x where a group of unknowns has not left x, away from bounds:
 * the search ends at every stationary point, and x, often the middle of a symmetric problem, may be
 * a largest value or a saddle. The lower one of both counts. */
ipopt_end ipopt_solve_aside(const ipopt_problem *p, double *x, double *gap, double *lambda);

#endif
