/* The large problems in C, for other codes: M y' = A y + g(t, y), A a sparse matrix, M diagonal, g
 * within cells of a few unknowns. */
#ifndef BENCH_LARGE_PROBLEMS_H
#define BENCH_LARGE_PROBLEMS_H

#include <stdbool.h>

enum { CELL_MOST = 5 };

typedef struct large_problem {
    const char *name, *file, *probe; /* model text; a format for the variable that is compared */
    double end;
    int cell;     /* unknowns of a cell */
    bool plane;   /* cells on a square, else in a row */
    bool iterate; /* GMRES with cells as preconditioner is worth a try */
    int size;     /* cells a side, or in a row */
    long n, probed, *start, *row;
    double *A, *M, *y, *yp; /* A by columns, on the pattern start, row */
    /* g, and its derivatives by columns (or NULL), of cell k */
    void (*local)(const struct large_problem *p, long k, double t, const double *y, double *g,
                  double *dg);
} large_problem;

/* All names, up to NULL. */
extern const char *const large_names[];
/* Make one of them with so many cells a side; false: memory, or no such name. */
bool large_new(large_problem *p, const char *name, int size);
void large_free(large_problem *p);

/* f = M y' - A y - g */
void large_residual(const large_problem *p, double t, const double *y, const double *yp, double *f);
/* values = cj M - A - dg/dy, by columns */
void large_jacobian(const large_problem *p, double cj, double t, const double *y, double *values);
/* The cells of that matrix on its diagonal, in place of `blocks`, cell * n numbers: their factors
 */
void large_blocks(const large_problem *p, double cj, double t, const double *y, double *blocks);
/* b := blocks^-1 b */
void large_block_solve(const large_problem *p, const double *blocks, double *b);

#endif
