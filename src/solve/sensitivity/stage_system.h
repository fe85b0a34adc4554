/* The matrix of all stages of a collocation step on linear equations F_Y S + F_Y' S' + F_p = 0:
 *
 *     block (a, b) = delta_ab F_Y(t_a) + (inverse_ab / h) F_Y'(t_a),    a, b = 1 .. s
 *
 * and its factors, or those of its transpose. */
#ifndef DAE_SOLVE_SENSITIVITY_STAGE_SYSTEM_H
#define DAE_SOLVE_SENSITIVITY_STAGE_SYSTEM_H

#include "linalg/linear_solver.h"
#include "method/common/collocation.h"

/* Up to this many equations of all stages a dense matrix of them is faster. */
enum { STAGE_SYSTEM_SMALL = 64 };

/* Entries of the layout of F_Y and F_Y' are numbered 0 .. count - 1. */
typedef struct stage_system {
    int n, stages;
    size_t count;
    bool transposed;
    bool *slope;          /* per entry: F_Y' has had a value there */
    bool *sloped;         /* per row: it has such an entry; such rows are multiplied by h */
    matrix_layout layout; /* of all stages */
    size_t *place;        /* per (a, b, entry): where its value goes; SIZE_MAX: nowhere */
    double *values;
    linear_solver *solver;
    double *fy, *fyp;      /* per stage: entries of both matrices, for the caller to fill */
    double *point;         /* per stage: Y and Y' there, the same */
    double *explicit_part; /* per direction and stage: F_p, the same */
    double *first;         /* F_Y and F_Y' where the step begins, */
    double *first_point;   /* and Y and Y' there, */
    double first_t;        /* at this time; NAN: not there */
    bool filled;           /* fy and fyp have values that never change */
    bool alike;            /* derivatives are the same at all stages, and `split` has solved them */
    struct stage_split *split; /* owned; NULL at first */
    bool iterated;             /* the step at hand was solved by stage_iteration.c */
} stage_system;

/* NULL: memory. */
stage_system *stage_system_new(int n, int stages, size_t count, int directions, bool transposed);
void stage_system_free(stage_system *q); /* NULL is fine */
/* Factor for fy and fyp, which are on the layout `of`, and a step of length h. */
linear_status stage_system_factor(stage_system *q, const matrix_layout *of, const collocation *m,
                                  double h);

#endif
