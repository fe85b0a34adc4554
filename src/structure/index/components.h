/* Which rows of a matched signature need which others, and the strongly connected components of
 * that relation. */
#ifndef DAE_STRUCTURE_INDEX_COMPONENTS_H
#define DAE_STRUCTURE_INDEX_COMPONENTS_H

#include "structure/index/signature.h"

/* Row i needs row r if i has an entry in r's column. Entries may be left out. */
typedef struct row_graph {
    const signature *s;
    const int *row_of; /* per column: the row matched to it, -1: none */
    const int *c, *d;  /* not NULL: only entries with sigma_ij = d_j - c_i */
    const int *label;  /* not NULL: only entries between rows of one label */
} row_graph;

/* The row that row i needs because of entry k; -1: none. */
static inline int row_needed(const row_graph *g, int i, int k)
{
    int j = g->s->column[k], r = g->row_of[j];
    if (r < 0) return -1;
    if (g->c && g->s->order[k] != g->d[j] - g->c[i]) return -1;
    if (g->label && g->label[i] != g->label[r]) return -1;
    return r;
}

/* Components of rows 0 .. m-1, numbered so that each needs those of lower number only. */
typedef struct components {
    int count;
    int *of;       /* per row; owned */
    int *finished; /* rows in the order in which a depth-first search left them; owned */
    int *start;    /* count + 1: component b has member[start[b] .. start[b+1]); owned */
    int *member;   /* those that need come before those needed, as far as cycles allow; owned */
} components;

bool components_find(components *k, const row_graph *g); /* false: memory */
void components_free(components *k);

/* row_of[match[i]] = i, -1 for columns without a row */
void match_inverse(const int *match, int rows, int columns, int *row_of);

#endif
