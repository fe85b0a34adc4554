/* A system of equations over the expression graph: m equations in n variables whose derivatives of
 * any order may appear. What structural analysis reads and what a formulation rewrites. */
#ifndef DAE_STRUCTURE_INDEX_EQUATIONS_H
#define DAE_STRUCTURE_INDEX_EQUATIONS_H

#include "expr/graph.h"

/* residual = 0 over VARIABLE(j, p) = the p-th derivative of x_j (j < n), TIME, parameters, memory
 */
typedef struct equation_row {
    expr residual;
    int source;       /* equation of the model that it comes from; -1: none */
    int times;        /* how often that one was differentiated */
    const char *name; /* borrowed: "equation 4 (pendulum.mo:17)" */
    int line;         /* of the model text; 0: none */
} equation_row;

/* Another variable of the model is a derivative of x_j: v = sign * x_j^(order), order >= 1. */
typedef struct equation_synonym {
    int variable; /* j */
    int order, sign;
    int model;        /* v, a variable of the model */
    const char *name; /* of v, borrowed */
} equation_synonym;

typedef struct equation_set {
    graph *graph; /* borrowed; rewriting adds nodes to it */
    int n, m;
    equation_row *row;         /* m, owned */
    int *model;                /* n: the variable of the model that x_j is; owned */
    const char **name;         /* n: its name; texts borrowed, array owned */
    double *nominal;           /* n: > 0, typical size of x_j; owned */
    equation_synonym *synonym; /* sorted by variable, then order; owned */
    int synonym_count;
    const char *const *parameter_name; /* for printing; borrowed; NULL: p[k] */
    const char *const *memory_name;    /* the same; entries may be NULL */
} equation_set;

/* Space for n variables and m equations, zeroed (nominal = 1); false: memory. */
bool equation_set_new(equation_set *set, graph *g, int n, int m);
bool equation_set_copy(equation_set *copy, const equation_set *set);
void equation_set_free(equation_set *set); /* leaves it zeroed */

/* Name of x_j^(p) for messages: x, der(x), or the synonym v; the text goes to `buffer`. */
const char *equation_set_variable(const equation_set *set, int j, int p, char *buffer, size_t size);
/* "left = right" in Modelica's notation, derivatives by their synonyms; as expr_print. */
size_t equation_set_print(const equation_set *set, expr residual, char *buffer, size_t size);

/* Second order variables: an equation der(x) = v or der(x) = -v makes v a synonym of der(x). Those
 * equations and variables leave the set, so that q' = v, M v' = f is seen as M q'' = f. The set is
 * renumbered; false: memory. */
bool equation_set_join_derivatives(equation_set *set);

/* Values of the leaves at one point. */
typedef struct equation_point {
    double time;
    const double *const *x; /* x[p][j] = x_j^(p), p <= orders */
    int orders;
    const double *parameters, *memory;
} equation_point;

/* Value of e at a point; NAN if it needs a derivative of higher order than given. */
double equation_set_value(const equation_set *set, expr e, const equation_point *at);

#endif
