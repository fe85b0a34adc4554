/* Between the files of the recognition of mechanical form. */
#ifndef DAE_STRUCTURE_MECHANICAL_MECHANICAL_PARTS_H
#define DAE_STRUCTURE_MECHANICAL_MECHANICAL_PARTS_H

#include "structure/mechanical/mechanical.h"

/* What is known while the form is sought. */
typedef struct mechanical_search {
    const equation_set *set;
    const equation_point *at;
    mechanical *m;
    expr *row;    /* m: residuals, explicit definitions seen through */
    int *highest; /* n: highest derivative of x_j anywhere */
    int *role;    /* n: role_of_variable */
    int *use;     /* m: role_of_row */
    expr *value;  /* n: of variables with a definition */
    int *place;   /* n: index of x_j in its list */
    int *surface; /* nsurface: rows over q, s and time */
    int nsurface;
    mechanical_matrix J; /* their derivatives by q, then s (columns nq ..); owned */
    int candidates;      /* columns of C while multipliers are chosen */
    bool unconstrained;  /* a system without constraints is one, too */
    char *reason;
    size_t size;
} mechanical_search;

enum role_of_variable {
    ROLE_OPEN,
    ROLE_POSITION,
    ROLE_DEFINED,
    ROLE_CONTACT,
    ROLE_MULTIPLIER,
    ROLE_OTHER
};
enum role_of_row {
    USE_OPEN,
    USE_DEFINITION,
    USE_DYNAMIC,
    USE_CONSTRAINT,
    USE_VELOCITY, /* a constraint, on velocities */
    USE_CONTACT,
    USE_OTHER
};

/* MECHANICAL_NOT with a reason. */
mechanical_status mechanical_refuse(mechanical_search *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Relations are tested at so many points, these parts of the variables' sizes away: the larger one,
 * or where the equations cannot be evaluated there, smaller ones. */
enum { MECHANICAL_POINTS = 3 };
static const double MECHANICAL_SPREAD = 0.4, MECHANICAL_NARROW = 1e-6;
/* Ratios of expressions that are equal agree to this, relatively: rounding of a few operations. */
static const double MECHANICAL_SAME = 1e-8;
/* Point p around `at`; work: 3 n values, to which x refers */
equation_point mechanical_sample(const equation_set *set, const equation_point *at, int p,
                                 double spread, double *work, const double *x[3]);

bool mechanical_add(mechanical_matrix *a, int row, int column, expr value); /* false: memory */

/* mechanical_zeros.c: the equations without terms that are zero, and parameters that are zero at
 * the point; 1, 0: there are none, -1: memory. After 1 both are owned by the caller. */
int mechanical_without_zeros(const equation_set *set, const equation_point *at,
                             equation_set *reduced, int **zero, int *count);
/* mechanical_define.c: find explicit definitions of algebraic variables, and see through them. */
mechanical_status mechanical_define(mechanical_search *s);
/* mechanical_sort.c: equations of motion, surfaces and what they determine, constraints on
 * velocities; then which of the candidates are multipliers. */
mechanical_status mechanical_sort_rows(mechanical_search *s);
mechanical_status mechanical_sort_variables(mechanical_search *s);
/* mechanical_contact.c: which surfaces determine s, and which are constraints; G of these. */
mechanical_status mechanical_contact(mechanical_search *s);
/* Move x (n values) onto the surfaces; 1, 0: they are not reached, -1: memory. */
int mechanical_settle(const mechanical_search *s, double time, double *x);
/* mechanical_order.c: which equation moves which position. Row i of a becomes row of[i]. */
mechanical_status mechanical_order_motion(mechanical_search *s);
void mechanical_renumber(mechanical_matrix *a, const int *of);
/* mechanical_forces.c: along[k]: candidate k acts along the gradient of a constraint. */
mechanical_status mechanical_acts_along(mechanical_search *s, bool *along);
/* Which multiplier belongs to which constraint; M symmetric and C = G' up to factors, at points
 * around s->at. Reorders the lists. */
mechanical_status mechanical_match(mechanical_search *s);
/* mechanical_friction.c: whether [M C; G 0] is regular, from the values of M by rows, C by columns
 * and G by rows at a point; 1, 0, -1: memory. */
int mechanical_regular(const mechanical *m, const double *M, const double *C, const double *G);

#endif
