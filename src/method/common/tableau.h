/* Tables of explicit Runge-Kutta methods, their embedded estimates and continuous extensions.
 *
 * A method with s stages moves x by
 *     X_i = x_0 + h sum_{j<i} a_ij K_j,  K_i = X'_i,  i = 1..s,     x_1 = x_0 + h sum_i b_i K_i,
 * and K_{s+1} is the derivative at x_1, the first one of the next step. An estimate of the local
 * error is h sum_{i<=s+1} e_i K_i. The continuous extension nests
 *     x(theta) = r_1 + theta (r_2 + (1-theta) (r_3 + theta (r_4 + (1-theta) (r_5 + ...)))),
 * r_1 .. r_4 from x and x' at both ends, r_{4+k} = h sum_i d_ki K_i, perhaps with further stages
 * after K_{s+1} [HNW93 II.6]. */
#ifndef DAE_METHOD_COMMON_TABLEAU_H
#define DAE_METHOD_COMMON_TABLEAU_H

#include <stdbool.h>

enum {
    TABLEAU_MOST_STAGES = 12, /* s */
    TABLEAU_MOST_ALL = 16,    /* s + 1 + further stages */
    TABLEAU_MOST_ROWS = 4     /* of d */
};

/* Coefficients with all the digits there are; rows of a packed, row i (from 0) at a[i (i-1) / 2].
 */
typedef struct tableau {
    int stages, order;
    double stable; /* stable for h lambda in [-stable, 0] */
    const long double *a, *b, *c;
    int estimate_order;           /* of the embedded solution; 0: there is none */
    const long double *error;     /* e, s + 1 entries; NULL: none */
    const long double *error_low; /* a second, cruder estimate, or NULL [HNW93 II.10] */
    int further;                  /* stages for the continuous extension alone */
    const long double *further_a; /* packed, rows of s + 1, s + 2, .. entries */
    const long double *further_c;
    int rows;                 /* of d; 0: the cubic Hermite polynomial will do */
    const long double *dense; /* d: rows x (s + 1 + further) */
} tableau;

extern const tableau tableau_euler, tableau_heun, tableau_kutta3, tableau_rk4, tableau_hem4,
    tableau_dopri5, tableau_dop853;

/* The same in double, for use. */
typedef struct rounded_tableau { /* see also hem_table.h */
    int stages, order, estimate_order, further, rows;
    bool has_error, has_low;
    double stable;
    double a[TABLEAU_MOST_ALL][TABLEAU_MOST_ALL]; /* further stages behind row s, which is b */
    double b[TABLEAU_MOST_STAGES], c[TABLEAU_MOST_ALL];
    double error[TABLEAU_MOST_STAGES + 1], error_low[TABLEAU_MOST_STAGES + 1];
    double dense[TABLEAU_MOST_ROWS][TABLEAU_MOST_ALL];
} rounded_tableau;

void tableau_round(const tableau *t, rounded_tableau *r);

#endif
