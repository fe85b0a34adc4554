/* Numbers by groups, and patterns by rows: counting sorts. */
#ifndef DAE_BASE_GROUPING_H
#define DAE_BASE_GROUPING_H

/* Those k < count with of[k] = g stand at sorted[start[g] .. start[g+1]), increasing; start has
 * groups + 1 entries. */
void group_numbers(int groups, int count, const int *of, int *start, int *sorted);

/* The pattern of the transposed matrix: the columns that row i is in stand at
 * column[rowptr[i] .. rowptr[i+1]), increasing; rowptr has rows + 1 entries. */
void pattern_transpose(int rows, int columns, const int *colptr, const int *rowind, int *rowptr,
                       int *column);

#endif
