/* Coefficients of half-explicit Runge-Kutta methods for y' = f(y,z), 0 = g(y). */
#ifndef DAE_METHOD_HALF_EXPLICIT_HEM_TABLE_H
#define DAE_METHOD_HALF_EXPLICIT_HEM_TABLE_H

#include <stdbool.h>

enum {
    HEM_STAGES = 16, /* no fewer than TABLEAU_MOST_ALL */
    HEM_PLACES = 3,  /* inside of a step, where f is looked at */
    HEM_GOOD = 5     /* stages for that at most */
};

struct rounded_tableau;

/* Stage i, from Y_i = y0 + h sum_{j<i} a_ij k_j, finds Z_i with
 *     k_i = f(Y_i, Z_i),   0 = g(y0 + h sum_{j<=i} abar_ij k_j),
 * and the last row of abar gives y1. In [BH93 (2.1)] abar is a from its second row on; in
 * partitioned methods [Mur97] it is a matrix of its own, and k_1 is the exact slope at y0.
 *
 * Beside k_1 .. k_s there are two exact slopes, f(y0, z(y0)) and f(y1, z(y1)), with z(y) from
 * [BH93 (3.6)]: `start` and `end` below are their weights. docs/methods/half-explicit.md derives
 * the weights of the estimates and of the dense output from [BH93 Tables 1 and 3]. */
typedef struct hem_table {
    int stages, order;
    double stable;    /* on ODEs for h lambda in [-stable, 0] */
    int error_order;  /* y1 - the embedded solution is O(h^(error_order + 1)): order - 1 */
    bool partitioned; /* abar is not a shifted a; stage 1 is the slope at y0 */
    bool transversal; /* the estimate leaves the manifold and has to be brought back */
    bool published;   /* steps by [BH93 (6.2)], and nothing but the estimate is looked at */
    bool last_stage;  /* z at the ends of steps is Z_s [BH93 Table 4], not that of (3.6) */
    const double (*a)[HEM_STAGES], (*a_bar)[HEM_STAGES];
    const double *c, *c_bar;
    const double *zeta; /* Z_i = z0 + h zeta_i z'(t0) + O(h^2) */
    double error[HEM_STAGES], error_start, error_end;
    double caution;            /* the estimate counts so many times; 0: once */
    double coarse[HEM_STAGES]; /* error of a coarser solution; all 0: none */
    double
        middle; /* dense output passes through y(t0 + middle h) = y0 + h (..); 0: Hermite cubic */
    double dense[HEM_STAGES], dense_start, dense_end;
    /* stages whose slopes a polynomial may pass (hem_look.c); weights of h times the slopes at the
     * start, at the end and of these in its value and in its slope; none: Hermite's cubic */
    int good[HEM_GOOD], good_count;
    double look[HEM_PLACES][2][2 + HEM_GOOD];
    /* NULL, or an explicit method: every stage is the exact slope at Y_i, y1 is projected. The
     * continuous extension is the tableau's. */
    const struct rounded_tableau *exact;
} hem_table;

extern const hem_table hem3_table, hem4_table, hem5_table, phem5_table;
extern const hem_table hem4_published_table, hem4_stage_table;

#endif
