/* Matchings of a signature's rows to its columns: of greatest cardinality, and of highest value. */
#ifndef DAE_STRUCTURE_INDEX_ASSIGNMENT_H
#define DAE_STRUCTURE_INDEX_ASSIGNMENT_H

#include "structure/index/signature.h"

/* A matching with dual variables c, d: the slack d_j - c_i - sigma_ij of an entry is never
 * negative, and 0 where it is matched. */
typedef struct assignment {
    const signature *s;
    const int *row_label, *column_label; /* not NULL: entries between different labels are absent */
    bool plain;                          /* all slacks count as 0: cardinality only */
    int *column_of, *row_of;             /* the matching, -1: none */
    int *c, *d;
    int *look;          /* per row: entries before it lead to no free column without slack */
    int *parent, *root; /* per row reached: where from, and from which row without a column */
    int *seen;          /* per row: last search that reached it */
    int stamp;          /* of the search */
    int *path;          /* rows of the search */
    int *wait;          /* rows without a column */
    int *key;           /* per row: distance from the rows without a column */
    int *heap;          /* rows reached, by key */
    int *place;         /* per row: its place in the heap; -1: settled */
    int *work;          /* all of the above but the labels; owned */
} assignment;

bool assignment_new(assignment *a, const signature *s); /* no row matched; false: memory */
void assignment_free(assignment *a);

/* Feasible duals to start with: d_j = max_i sigma_ij, c_i = min_j d_j - sigma_ij. */
void assignment_start(assignment *a);
/* Grow the matching of `count` rows along entries without slack as far as that goes. Returns how
 * many of them are left without a column (a->wait lists them). */
int assignment_grow(assignment *a, const int *rows, int count);
/* Highest value: change duals and grow until every one of these rows has a column; false: there is
 * no such matching. */
bool assignment_complete(assignment *a, const int *rows, int count);

#endif
