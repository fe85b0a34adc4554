/* Constraints that follow from others wherever all are satisfied: a rod beside two parallel ones.
 *
 * Such rows leave the motion as it is, and the multipliers open. Those of least norm satisfy
 * N' lambda = 0, N a basis of the left null space of G: with G_l = sum c_i G_i over the rows that
 * are kept, lambda_l = sum c_i lambda_i. These equations stand in the place of the redundant ones.
 */
#ifndef DAE_FORMS_REDUNDANT_H
#define DAE_FORMS_REDUNDANT_H

#include <stdbool.h>

/* m constraints in n positions, and where they are looked at. */
typedef struct redundant_rows {
    int m, n;
    double t;
    const double *q, *v; /* borrowed; v NULL: at rest */
    const double *size;  /* n: of the positions; borrowed */
    /* At (t, q, v): g (0 for constraints on velocities alone), rate = G v + g_t or what a
     * constraint on velocities is, and G = d rate / dv (m x n, by rows); false: no values there. */
    bool (*evaluate)(void *context, double t, const double *q, const double *v, double *g,
                     double *rate, double *G);
    void *context;
} redundant_rows;

/* A constraint that depends on others and cannot hold beside them. */
typedef struct redundant_conflict {
    int row;       /* -1: there is none */
    bool *with;    /* m: those others; the caller's array, may be NULL */
    double t, off; /* when, and what the constraint is where they hold */
    bool on_rates; /* off is of its time derivative */
} redundant_conflict;

/* redundant[i]: row i of G depends on rows before it, next to q and at points around, now and
 * later, so that what is lost is a repetition and no singular configuration; and its values, too,
 * are zero on both levels wherever those of the rows before it are. Where they are not, the
 * constraints contradict each other: *conflict tells. Returns how many are redundant, 0 after a
 * conflict; -1: memory. */
int redundant_find(const redundant_rows *rows, bool *redundant, redundant_conflict *conflict);

/* c[l * m + i]: of G_l = sum c_i G_i in the sense of least squares, for redundant l and kept i;
 * elsewhere 0. work: m n + m m values. */
void redundant_relations(int m, int n, const double *G, const bool *redundant, double *c,
                         double *work);

#endif
