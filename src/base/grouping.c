#include "base/grouping.h"

#include <string.h>

/* start[g] = how many are in groups before g */
static void count_groups(int groups, int count, const int *of, int *start)
{
    memset(start, 0, ((size_t)groups + 1) * sizeof *start);
    for (int k = 0; k < count; k++) start[of[k] + 1]++;
    for (int g = 0; g < groups; g++) start[g + 1] += start[g];
}

/* Back from ends to beginnings. */
static void shift_back(int groups, int *start)
{
    memmove(start + 1, start, (size_t)groups * sizeof *start);
    start[0] = 0;
}

void group_numbers(int groups, int count, const int *of, int *start, int *sorted)
{
    count_groups(groups, count, of, start);
    for (int k = 0; k < count; k++) sorted[start[of[k]]++] = k;
    shift_back(groups, start);
}

void pattern_transpose(int rows, int columns, const int *colptr, const int *rowind, int *rowptr,
                       int *column)
{
    count_groups(rows, colptr[columns], rowind, rowptr);
    for (int j = 0; j < columns; j++)
        for (int k = colptr[j]; k < colptr[j + 1]; k++) column[rowptr[rowind[k]]++] = j;
    shift_back(rows, rowptr);
}
