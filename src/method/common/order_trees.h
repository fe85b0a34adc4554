/* Order conditions of Runge-Kutta methods, one for each tree: classical ones [HNW93 II.2], and
 * those of index 2 [BH93 section 3; HLR89 5].
 *
 * A tree has meagre vertices (f) and fat ones (z); its order is the number of meagre minus that of
 * fat vertices. Fat vertices have two or more meagre children. A meagre vertex whose only child is
 * fat gives no condition where the stage meets the constraint: at the root, under a fat vertex, and
 * under a meagre one unless the method is partitioned. Classical trees have no fat vertices. */
#ifndef DAE_METHOD_COMMON_ORDER_TREES_H
#define DAE_METHOD_COMMON_ORDER_TREES_H

#include <stdbool.h>

#include "daedal.h"

enum {
    ORDER_TREES = 2400,    /* up to order 10, or 6 with fat vertices */
    ORDER_CHILDREN = 9,    /* of a vertex */
    ORDER_MOST = 10,       /* highest order whose conditions are checked */
    ORDER_MOST_INDEX2 = 6, /* and with fat vertices */
    ORDER_TEXT = 160       /* characters of a condition */
};

typedef struct order_tree {
    bool fat, lone; /* lone: meagre with a single child, and that is fat */
    int order, children, child[ORDER_CHILDREN];
    long double gamma;      /* right-hand side of its condition, */
    long long above, below; /* as a fraction */
} order_tree;

typedef enum order_kind { ORDER_CLASSICAL, ORDER_INDEX2, ORDER_PARTITIONED } order_kind;

typedef struct order_forest {
    int count;
    order_kind kind;
    order_tree trees[ORDER_TREES];
} order_forest;

/* All trees up to an order: of each order first the meagre roots, then the fat ones. */
void order_forest_grow(order_forest *f, int order, order_kind kind);
/* Number of conditions up to an order; transversal: with those of [BH93 Table 3]. */
int order_forest_roots(const order_forest *f, int order, bool transversal);

/* A method as its conditions see it: fat vertices multiply by the inverse omega of abar, which is a
 * itself, or of half-explicit methods a from its second row on and then b. */
typedef struct condition_set {
    order_forest forest;
    int stages;
    bool shifted;                                  /* abar is that of a half-explicit method */
    long double at[ORDER_TREES][DAE_TABLE_STAGES]; /* values of the trees at the stages */
    long double a[DAE_TABLE_STAGES][DAE_TABLE_STAGES], a_bar[DAE_TABLE_STAGES][DAE_TABLE_STAGES];
    long double omega[DAE_TABLE_STAGES][DAE_TABLE_STAGES];
} condition_set;

/* A condition that weights do not meet. */
typedef struct order_miss {
    int order, count;       /* its order; conditions that are not met, up to the order asked for */
    int number;             /* in [BH93 Table 1], of half-explicit methods up to order 4; else 0 */
    double value;           /* of its left-hand side */
    long long above, below; /* the right one */
    char text[ORDER_TEXT];  /* "sum b_i a_ij c_j" */
} order_miss;

typedef long double order_matrix[DAE_TABLE_STAGES][DAE_TABLE_STAGES];
/* omega = abar^-1 for s rows and columns; false: singular */
bool order_invert(int s, order_matrix a_bar, order_matrix omega);

/* Prepare the conditions of a table up to an order. False: abar is singular. */
bool condition_set_prepare(condition_set *o, const dae_table *table, int order, order_kind kind,
                           bool shifted);
/* Whether weights meet all conditions up to an order; else the first that they miss. */
bool condition_set_meets(const condition_set *o, const double *weights, int order,
                         order_miss *miss);
/* The highest order up to `most` that they reach; 0: none. */
int order_reached(const condition_set *o, const double *weights, int most);
/* The left-hand side of the condition of tree k, "sum b_i c_i omega_ij c_{j+1}^2", and its number
 * in [BH93 Table 1]; 0: it is not there. */
int order_condition_text(const condition_set *o, int k, char text[ORDER_TEXT]);

#endif
