/* Constraints that follow from others wherever all are satisfied: a rod beside two parallel ones.
 *
 * Such rows leave the motion as it is, and the multipliers open. Those of least norm satisfy
 * N' lambda = 0, N a basis of the left null space of G: with G_l = sum c_i G_i over the rows that
 * are kept, lambda_l = sum c_i lambda_i. These equations stand in the place of the redundant ones.
 */
#ifndef DAE_SYSTEM_REDUNDANT_H
#define DAE_SYSTEM_REDUNDANT_H

#include <stdbool.h>

/* g (m values) and G (m x n, by rows) at q; false: they cannot be evaluated there. */
typedef bool redundant_fn(void *context, const double *q, double *g, double *G);

/* redundant[i]: row i of G depends on rows before it where g = 0, next to q and at points around;
 * so that what is lost is a repetition, and no singular configuration. size: of the positions.
 * Returns how many; -1: memory. */
int redundant_find(int m, int n, const double *q, const double *size, redundant_fn *f,
                   void *context, bool *redundant);

/* c[l * m + i]: of G_l = sum c_i G_i in the sense of least squares, for redundant l and kept i;
 * elsewhere 0. work: m n + m m values. */
void redundant_relations(int m, int n, const double *G, const bool *redundant, double *c,
                         double *work);

#endif
