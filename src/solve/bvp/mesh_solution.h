/* A solution on a mesh: times and a vector of unknowns, whose layout its owner knows. */
#ifndef DAE_SOLVE_BVP_MESH_SOLUTION_H
#define DAE_SOLVE_BVP_MESH_SOLUTION_H

#include <stdbool.h>
#include <stddef.h>

#include "method/common/collocation.h"

typedef struct mesh_solution {
    int intervals;
    double *t; /* intervals + 1; owned, as x */
    double *x;
} mesh_solution;

bool mesh_solution_new(int intervals, size_t size, mesh_solution *s); /* false: memory */
void mesh_solution_free(mesh_solution *s);
/* s becomes what `by` is, which is empty then. */
void mesh_solution_replace(mesh_solution *s, mesh_solution *by);
/* The last interval that begins at or before t. */
int mesh_interval(const mesh_solution *s, double t);
/* weight_a = the Lagrange polynomial of node a at r */
void stage_weights(const collocation *m, double r, double *weight);

#endif
