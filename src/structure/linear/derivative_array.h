/* Unstructured F(t, u, u') = 0 by its derivative array: F and its total derivatives up to order k
 * [CM95; HW96 VII.2 (2.28)-(2.32)], and the reduction to index 1 of Kunkel and Mehrmann [KM98,
 * KM06].
 *
 * A point of the array holds Taylor coefficients by order: x[p*n + j] = u_j^(p) / p!, p = 0 .. k+1.
 * Total derivatives are taken by running the equations and their Jacobians in truncated series;
 * nothing is expanded symbolically. Dense, for systems of moderate size and index. */
#ifndef DAE_STRUCTURE_LINEAR_DERIVATIVE_ARRAY_H
#define DAE_STRUCTURE_LINEAR_DERIVATIVE_ARRAY_H

#include "expr/series.h"
#include "linalg/least_squares.h"
#include "structure/index/equations.h"
#include "structure/linear/array_rank.h"

typedef enum array_status {
    ARRAY_OK = 0,
    ARRAY_MEMORY,
    ARRAY_SHAPE,        /* not as many equations as variables, or none */
    ARRAY_EVALUATION,   /* a value is not finite */
    ARRAY_INCONSISTENT, /* no solution of the array was found near the point */
    ARRAY_RANK          /* the hypothesis of the reduction does not hold at the point */
} array_status;

/* F_0 .. F_k of equations that are no expressions, at coefficients x (n (k+2)); and, if a is not
 * NULL, the coefficients 0 .. k of dF/du and dF/du' (n x n each). */
typedef array_status (*array_black_box)(void *context, int k, double t, const double *x, double *F,
                                        double *a, double *b);

/* Equations of higher order are written in first order: u has a component for each derivative below
 * the highest one of each variable of the set. */
typedef struct derivative_array {
    int n, limit; /* unknowns u; highest k */
    int *variable,
        *order;      /* n: u_i is the order-th derivative of that variable of the set; owned */
    int *source;     /* n: equation of the set, or -1 for u_i' = u_j; owned */
    double *nominal; /* n, owned */
    double *ease;    /* n: how easily u_i moves to be consistent, 1 unless set; owned */
    bool near; /* x is close to a solution: no single stiff row decides how dear a move of u is, so
                  that u can move where derivatives are large; false unless set */
    const double *parameters, *memory; /* borrowed; set them before evaluating */

    double noise; /* relative errors of F_k, where they are not those of rounding; 0 unless set */
    const double *rough; /* by k: errors of F_k against the terms of F; borrowed, NULL unless set */

    /* Private. */
    array_black_box black_box; /* NULL: the program */
    void *context;             /* of it; borrowed */
    bool old_jacobians;        /* `jac` belongs to another point than F */
    series_program *program;   /* the n residuals, then the entries of the Jacobians; owned */
    series_run_double run;
    int entries; /* entry e is d F_row / d u_column, or by u'_column */
    int *entry_row, *entry_column;
    bool *entry_rate;
    double *series;      /* n times limit + 2 coefficients */
    double *out;         /* of the program, at one stage */
    jacobian_series jac; /* limit + 1 coefficients, at the last point evaluated */
    double *F;           /* n (limit+1): F_i at the last point evaluated */
    double *J, *step, *trial, *weight, *size;
    least_squares solver;
} derivative_array;

array_status derivative_array_new(derivative_array *d, const equation_set *set, int limit);
/* The same for n equations in first order that are no expressions. */
array_status derivative_array_new_black(derivative_array *d, int n, int limit, array_black_box f,
                                        void *context);
void derivative_array_free(derivative_array *d); /* leaves it zeroed */

/* d->F[i*n ..] = F^(i)/i!, i <= k, and d->jac at x. OK or EVALUATION. No allocation. */
array_status derivative_array_evaluate(derivative_array *d, int k, double t, const double *x);
/* F alone, where Jacobians cost more. */
array_status derivative_array_values(derivative_array *d, int k, double t, const double *x);

/* Solve F_0 = .. = F_k = 0 for the derivatives in x by Gauss-Newton, u as given [HW96 VII.2]; k at
 * least the index determines u' = x[n ..]. INCONSISTENT: u does not satisfy the constraints of the
 * array; the derivatives are then those that leave the least residual. No allocation. */
array_status derivative_array_rates(derivative_array *d, int k, double t, double *x);

/* The same, and if u is inconsistent it is moved, by corrections of weighted minimum norm. */
array_status derivative_array_consistent(derivative_array *d, int k, double t, double *x);

/* Scaling by the typical sizes of the Jacobians at x and around it (x has n (limit+2) values).
 * OK, MEMORY or EVALUATION. */
array_status derivative_array_scaling(derivative_array *d, double t, const double *x,
                                      series_scaling *scaling);

/* The tests of level k at x; free the level if OK. */
array_status derivative_array_level(derivative_array *d, int k, double t, const double *x,
                                    const series_scaling *scaling, double tolerance,
                                    array_level *level);

/* What the array tells around a point. */
typedef struct array_report {
    int index; /* differentiation index on the solutions: smallest k where the array is 1-full
                  with constant rank, or what mu says it is; -1: none up to the limit */
    int uniform_index; /* the same in a full neighbourhood, where F is perturbed [CG95]; the
                          perturbation index is this or one more; -1: none up to the limit */
    int uniform_a;     /* relations between u alone there, at that level */
    int strangeness; /* mu: smallest k that satisfies Kunkel and Mehrmann's hypothesis; -1: none */
    int a, d;        /* its characteristic values: algebraic and differential equations */
    bool constant;   /* ranks are those at neighbouring solutions, too */
    bool dependent;  /* equations are redundant or contradict each other: (M N) loses row rank */
    rank_gap gap;
} array_report;

/* Analyse around x (n (limit+2) coefficients; u and, where known, its derivatives), which becomes a
 * consistent point. */
array_status derivative_array_analyse(derivative_array *d, double t, double *x, double tolerance,
                                      array_report *report);

/* The reduced system of index 1 around a point [KM98]:
 *     Z1' F(t, u, u') = 0                    d rows, differential
 *     Z2' (F_0, .., F_mu)(t, u, w(t,u)) = 0  a rows, algebraic: all constraints, hidden ones too
 * where w, the derivatives of u in the array, is chosen such that the array's other combinations
 * vanish. Its solutions are those of F. */
typedef struct reduced_system {
    derivative_array *array; /* borrowed */
    int mu, a, d;
    double *Z1, *Z2; /* n x d; n (mu+1) x a; owned */
    double *Y;       /* n (mu+1) x (n (mu+1) - a): the combinations besides Z2; owned */
    double *x;       /* n (mu+2): the point; its derivatives start the next evaluation; owned */
    double *origin;  /* n (mu+1): its derivatives where it was set up; owned */
    double *M, *b, *start;
    double *inverse;  /* of Y' M at some point; owned */
    bool has_inverse; /* it is known */
    least_squares solver;
} reduced_system;

/* Set up at a consistent point x, n (limit+2) values, with mu = the strangeness index. */
array_status reduced_system_new(reduced_system *r, derivative_array *d, int mu, double t,
                                const double *x, double tolerance);
void reduced_system_free(reduced_system *r);

/* f (n) = the reduced residual at (t, u, u'), d differential rows first. No allocation. */
array_status derivative_array_reduced_residual(reduced_system *r, double t, const double *u,
                                               const double *up, double *f);

/* fu, fup (n x n by columns) = its derivatives by u and u'. No allocation. */
array_status derivative_array_reduced_jacobian(reduced_system *r, double t, const double *u,
                                               const double *up, double *fu, double *fup);

#endif
