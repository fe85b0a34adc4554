/* Compiled code for the elimination of one shape, in the place of its lists, with the same bits:
 * solvers take it as soon as it is there, and may go back to lists at any time.
 *
 * The library makes no code here. Solvers that are given a store say which shapes they work with,
 * and how much; who compiles looks there (model/model_kernels.c). */
#ifndef DAE_LINALG_ELIMINATION_KERNEL_H
#define DAE_LINALG_ELIMINATION_KERNEL_H

#include "linalg/elimination_shape.h"
#include "linalg/linear_solver.h"

#include <pthread.h>
#include <stdatomic.h>

/* Systems that are solved side by side */
enum { TOGETHER = 3 };

/* For real numbers, or for complex ones, whose factors are re and im in turn. */
typedef struct kernel_functions {
    /* Values of A at their places in the factors, 0 elsewhere; largest entries of its rows */
    void (*place)(const double *re, const double *im, double *factors, double *most);
    /* The list of operations; returns the step whose pivot is not usable, or n */
    int (*eliminate)(const double *weight, double *factors, double *most);
    /* b := A^-1 b */
    void (*solve)(const double *factors, double *re, double *im);
    /* The same for 2, and for 3 systems of the shape; complex only */
    void (*several[TOGETHER - 1])(double *const *factors, double *const *re, double *const *im);
} kernel_functions;

typedef struct elimination_kernel {
    kernel_functions of[2]; /* real, and complex, numbers */
} elimination_kernel;

/* A shape that a solver works with. It lives as long as the store. */
typedef struct kernel_entry {
    elimination_shape *shape;                   /* shared */
    _Atomic(const elimination_kernel *) kernel; /* NULL: lists */
    atomic_long work;         /* ns that lists took, about; threads may lose some of each other's */
    long factor[2], solve[2]; /* ns, real and complex */
    bool looked, pending, failed; /* of who compiles, and under its lock */
} kernel_entry;

/* Shapes of one problem, for all its solvers. */
enum { KERNELS_MOST = 32 };
typedef struct kernel_store kernel_store;
struct kernel_store {
    pthread_mutex_t lock;
    kernel_entry *list[KERNELS_MOST]; /* owned */
    atomic_int count;
};

kernel_store *kernel_store_new(void);        /* NULL: memory */
void kernel_store_free(kernel_store *store); /* NULL is fine */

/* The entry of a shape, made if need be; NULL: it is too large for code to pay, there are too many,
 * or no memory: lists do as well. The store may be NULL. */
kernel_entry *kernel_store_enter(kernel_store *store, elimination_shape *shape);

/* Seconds that lists have worked on all of them */
double kernel_store_work(kernel_store *store);

/* What this real solver has to eliminate may get code from the store, and its complex relatives'
 * that are made from now on; nothing for solvers of other kinds. */
void linear_use_kernels(linear_solver *solver, kernel_store *store);

#endif
