/* Nanoseconds per factorisation and solve: own dense and band kernels, LAPACK, KLU, lists of
 * operations.
 *
 * The crossover sizes in src/linalg/dense.c and banded.c, and the rule in elimination_shape.c, come
 * from this program. It includes the first two to reach the two kernels behind each solver; own
 * dense kernels stop at CROSSOVER. Compile by hand, for instance
 *
 *   cc -std=c11 -O3 -Iinclude -Isrc -I/usr/include/suitesparse bench/linalg_kernels.c
 *      src/linalg/{complex_*,sparse,sparse_order,transversal,frozen_shape,short_rows,lapack,matrix}.c
 *      src/linalg/{elimination*,inverse_norm,linear_solver,coloring}.c
 *      src/base/{memory,blocks,grouping,interrupt,diag,printable}.c
 *      -lklu -llapacke -llapack -lblas -lm */
#define _POSIX_C_SOURCE 199309L

#define factor_kernel dense_factor_kernel
#define solve_kernel dense_solve_kernel
#define eliminate dense_eliminate
#include "../src/linalg/dense.c"
#undef factor_kernel
#undef solve_kernel
#undef eliminate
#include "../src/linalg/banded.c"

#include "linalg/coloring.h"
#include "linalg/elimination_shape.h"

#include <klu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double random_number(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

/* One measured operation on a solver. */
typedef struct job {
    linear_solver *solver;
    const double *values, *right;
    double *b;
} job;

/* Least time of `body` over 7 batches of about 2 ms, in ns per call */
static double measure(void (*body)(job *), job *j)
{
    double best = 1e300;
    long batch = 1;
    for (int round = 0; round < 7; round++) {
        double start = now();
        for (long k = 0; k < batch; k++) body(j);
        double spent = now() - start;
        if (spent / (double)batch < best) best = spent / (double)batch;
        if (round == 0) batch = spent < 2e6 ? (long)(2e6 / (spent + 1.0)) + 1 : 1;
    }
    return best;
}

static void run_factor(job *j)
{
    linear_factor(j->solver, j->values);
}

static void run_solve(job *j)
{
    memcpy(j->b, j->right, (size_t)j->solver->layout->n * sizeof *j->b);
    linear_solve(j->solver, j->b);
}

static void dense_own_factor(job *j)
{
    factor_left((dense_solver *)j->solver, j->solver->layout->n, j->values, NULL);
}

static void dense_lapack_factor(job *j)
{
    factor_large((dense_solver *)j->solver, j->solver->layout->n, j->values, NULL);
}

static void dense_own_solve(job *j)
{
    const int n = j->solver->layout->n;
    memcpy(j->b, j->right, (size_t)n * sizeof *j->b);
    solve_small(n, (dense_solver *)j->solver, j->b, NULL);
}

static void dense_lapack_solve(job *j)
{
    const int n = j->solver->layout->n;
    memcpy(j->b, j->right, (size_t)n * sizeof *j->b);
    solve_large((dense_solver *)j->solver, n, j->b, NULL);
}

static void banded_own_factor(job *j)
{
    load_band((banded_solver *)j->solver, j->values, NULL);
    factor_narrow((banded_solver *)j->solver, j->solver->layout->n);
}

static void banded_lapack_factor(job *j)
{
    load_band((banded_solver *)j->solver, j->values, NULL);
    factor_wide((banded_solver *)j->solver, j->solver->layout->n);
}

static void banded_own_solve(job *j)
{
    banded_solver *s = (banded_solver *)j->solver;
    const int n = j->solver->layout->n;
    memcpy(j->b, j->right, (size_t)n * sizeof *j->b);
    solve_kernel(n, s->lower, s->upper, s, parts_of(j->b, NULL));
}

static void banded_lapack_solve(job *j)
{
    const int n = j->solver->layout->n;
    memcpy(j->b, j->right, (size_t)n * sizeof *j->b);
    solve_wide((banded_solver *)j->solver, n, j->b, NULL);
}

/* A solver with random values, diagonally heavy so that pivots stay put */
static job new_job(const matrix_layout *layout)
{
    const int n = layout->n;
    job j = {.solver = linear_new(layout)};
    double *values = calloc(layout->count, sizeof *values), *right = calloc((size_t)n, 8);
    j.b = calloc((size_t)n, sizeof *j.b);
    if (!j.solver || !values || !right || !j.b) exit(1);
    for (size_t k = 0; k < layout->count; k++) values[k] = random_number();
    for (int c = 0; c < n; c++) {
        matrix_column column = layout_column(layout, c);
        for (int k = 0; k < column.count; k++)
            if (column_row(&column, k) == c) values[column.first + (size_t)k] += 4.0;
        right[c] = random_number();
    }
    j.values = values;
    j.right = right;
    return j;
}

static void free_job(job *j)
{
    linear_free(j->solver);
    free((void *)j->values);
    free((void *)j->right);
    free(j->b);
}

static void dense_table(void)
{
    puts("dense, ns        factor own     LAPACK   solve own     LAPACK");
    for (int n = 2; n <= 128; n += n < 12 ? 1 : n < 64 ? 4 : 16) {
        matrix_layout layout;
        layout_dense(&layout, n);
        job j = new_job(&layout);
        double lapack = measure(dense_lapack_factor, &j);
        double lapack_solve = measure(dense_lapack_solve, &j), own = 0.0, own_solve = 0.0;
        if (n <= CROSSOVER) own = measure(dense_own_factor, &j);
        if (n <= CROSSOVER) own_solve = measure(dense_own_solve, &j);
        printf("n = %3d        %10.0f %10.0f  %10.0f %10.0f\n", n, own, lapack, own_solve,
               lapack_solve);
        free_job(&j);
    }
}

static void band_table(void)
{
    const int widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}, n = 2000;
    puts("band n = 2000, ns per row   factor own  LAPACK   solve own  LAPACK");
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        matrix_layout layout;
        layout_banded(&layout, n, widths[w], widths[w]);
        job j = new_job(&layout);
        double own = measure(banded_own_factor, &j), lapack = measure(banded_lapack_factor, &j);
        double own_solve = measure(banded_own_solve, &j);
        double lapack_solve = measure(banded_lapack_solve, &j);
        printf("lower = upper = %2d         %9.1f %9.1f   %9.1f %9.1f\n", widths[w], own / n,
               lapack / n, own_solve / n, lapack_solve / n);
        free_job(&j);
    }
}

/* CSC pattern with entries at the given distances from the diagonal, as on a grid of `columns` */
static void stencil(matrix_layout *layout, int n, int columns, const int *offsets, int count)
{
    int *colptr = calloc((size_t)n + 1, sizeof *colptr), *rowind = calloc((size_t)(n * count), 4);
    int used = 0;
    if (!colptr || !rowind) exit(1);
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < count; k++) {
            int i = j + offsets[k];
            bool wraps = columns > 0 && abs(offsets[k]) == 1 && i / columns != j / columns;
            if (i >= 0 && i < n && !wraps) rowind[used++] = i;
        }
        colptr[j + 1] = used;
    }
    layout_sparse(layout, n, colptr, rowind);
    free(colptr);
    free(rowind);
}

/* KLU by itself on the same matrix, for comparison with the panels of src/linalg/frozen_lu.c */
static struct {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
} plain;

static void klu_factor_again(job *j)
{
    const matrix_layout *l = j->solver->layout;
    klu_refactor(l->colptr, l->rowind, (double *)j->values, plain.symbolic, plain.numeric,
                 &plain.common);
}

static void klu_solve_again(job *j)
{
    memcpy(j->b, j->right, (size_t)j->solver->layout->n * sizeof *j->b);
    klu_solve(plain.symbolic, plain.numeric, j->solver->layout->n, 1, j->b, &plain.common);
}

static void report_klu(job *j)
{
    const matrix_layout *l = j->solver->layout;
    klu_defaults(&plain.common);
    plain.symbolic = klu_analyze(l->n, l->colptr, l->rowind, &plain.common);
    double start = now();
    plain.numeric =
        klu_factor(l->colptr, l->rowind, (double *)j->values, plain.symbolic, &plain.common);
    double first = now() - start;
    if (!plain.numeric) exit(1);
    double again = measure(klu_factor_again, j), solve = measure(klu_solve_again, j);
    printf("%-26s %8s %8.0f %8.0f %8.0f\n", "  KLU by itself", "", first / 1e3, again / 1e3,
           solve / 1e3);
    klu_free_numeric(&plain.numeric, &plain.common);
    klu_free_symbolic(&plain.symbolic, &plain.common);
}

static void report_sparse(const char *name, const matrix_layout *layout)
{
    coloring c;
    double start = now();
    if (!coloring_build(&c, layout)) exit(1);
    double painting = now() - start;
    start = now();
    job j = new_job(layout);
    double analysis = now() - start;
    start = now();
    run_factor(&j);
    double first = now() - start, again = measure(run_factor, &j), solve = measure(run_solve, &j);
    printf("%-26s %8.0f %8.0f %8.0f %8.0f %8.0f   %d\n", name, analysis / 1e3, first / 1e3,
           again / 1e3, solve / 1e3, painting / 1e3, c.groups);
    if (layout->kind == DAE_STRUCTURE_SPARSE) report_klu(&j);
    coloring_free(&c);
    free_job(&j);
}

static void sparse_table(void)
{
    puts("us                          analyse    first refactor    solve   colour   groups");
    for (int n = 1000; n <= 100000; n *= 10) {
        const int offsets[] = {-1, 0, 1};
        char name[32];
        matrix_layout layout;
        stencil(&layout, n, 0, offsets, 3);
        snprintf(name, sizeof name, "sparse tridiagonal %d", n);
        report_sparse(name, &layout);
        layout_free(&layout);
        layout_banded(&layout, n, 1, 1);
        snprintf(name, sizeof name, "band tridiagonal %d", n);
        report_sparse(name, &layout);
    }
    const int offsets[] = {-100, -1, 0, 1, 100};
    matrix_layout layout;
    stencil(&layout, 10000, 100, offsets, 5);
    report_sparse("sparse five-point 100x100", &layout);
    layout_free(&layout);
    layout_banded(&layout, 10000, 100, 100);
    report_sparse("band five-point 100x100", &layout);
}

/* ---- small sparse matrices: dense LU, lists of operations, KLU's panels; real and complex ---- */

enum { WAYS = 3, KINDS = 2 }; /* real and complex */

static const linear_solver_ops *const small_ways[KINDS][WAYS] = {
    {&linear_dense, &linear_elimination, &linear_sparse},
    {&complex_dense, &complex_elimination, &complex_sparse}};

/* The same matrix by columns and as a square, real parts and imaginary ones */
typedef struct small_matrix {
    matrix_layout layout[2];
    double *re[2], *im[2];
} small_matrix;

static void random_small(small_matrix *m, int n, int per_column)
{
    int *colptr = calloc((size_t)n + 1, sizeof *colptr), *rowind = calloc((size_t)(n * n), 4);
    if (!colptr || !rowind) exit(1);
    for (int j = 0, used = 0; j < n; j++) {
        for (int i = 0; i < n; i++)
            if (i == j || 0.5 * (random_number() + 1.0) * (n - 1) < per_column - 1)
                rowind[used++] = i;
        colptr[j + 1] = used;
    }
    layout_dense(&m->layout[0], n);
    layout_sparse(&m->layout[1], n, colptr, rowind);
    for (int w = 0; w < 2; w++) {
        m->re[w] = calloc(m->layout[w].count, sizeof(double));
        m->im[w] = calloc(m->layout[w].count, sizeof(double));
        if (!m->re[w] || !m->im[w]) exit(1);
    }
    for (int j = 0; j < n; j++)
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            const int at = rowind[k] + j * n;
            m->re[0][at] = m->re[1][k] = random_number() + (rowind[k] == j ? 2.0 : 0.0);
            m->im[0][at] = m->im[1][k] = rowind[k] == j ? 1.0 : 0.0;
        }
    free(colptr);
    free(rowind);
}

static void free_small(small_matrix *m)
{
    for (int w = 0; w < 2; w++) {
        free(m->re[w]);
        free(m->im[w]);
        layout_free(&m->layout[w]);
    }
}

static struct {
    const double *im;
    double *b_im;
} parts_of_job; /* what a job has no room for; NULL for real ones */

static void run_any_factor(job *j)
{
    j->solver->ops->factor(j->solver, j->values, parts_of_job.im);
}

static void run_any_solve(job *j)
{
    const size_t size = (size_t)j->solver->layout->n * sizeof *j->b;
    memcpy(j->b, j->right, size);
    if (parts_of_job.b_im) memcpy(parts_of_job.b_im, j->right, size);
    j->solver->ops->solve(j->solver, j->b, parts_of_job.b_im);
}

/* One way for one kind of scalars; `real` is the solver that a complex one borrows from. */
static linear_solver *report_way(const small_matrix *m, int kind, int way, linear_solver *real)
{
    const int square = way > 0, n = m->layout[0].n;
    double right[ELIMINATION_MOST], b[ELIMINATION_MOST], b_im[ELIMINATION_MOST];
    for (int i = 0; i < n; i++) right[i] = random_number();
    job j = {.solver = small_ways[kind][way]->analyse(&m->layout[square], real),
             .values = m->re[square],
             .right = right,
             .b = b};
    if (!j.solver) exit(1);
    parts_of_job.im = kind ? m->im[square] : NULL;
    parts_of_job.b_im = kind ? b_im : NULL;
    const double factor = measure(run_any_factor, &j);
    printf(" %8.0f %6.0f", factor, measure(run_any_solve, &j));
    return j.solver;
}

static void small_table(void)
{
    const int sizes[] = {3, 5, 8, 12, 20, 40, 100};
    puts("small sparse, ns: real factor, solve, complex factor, solve; by dense LU, lists, KLU");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int per_column = 2; per_column <= 4; per_column++) {
            small_matrix m;
            elimination_work work;
            random_small(&m, sizes[k], per_column);
            if (!elimination_count(&m.layout[1], &work)) exit(1);
            printf("n = %3d, %4.0f multiplications:", sizes[k], work.factor);
            for (int way = 0; way < WAYS; way++) {
                linear_solver *real = report_way(&m, 0, way, NULL);
                linear_free(report_way(&m, 1, way, way > 0 ? real : NULL));
                linear_free(real);
            }
            bool lists = false;
            if (!elimination_pays(&m.layout[1], &lists)) exit(1);
            puts(lists ? "   lists" : "   dense");
            free_small(&m);
        }
}

int main(void)
{
    small_table();
    dense_table();
    band_table();
    sparse_table();
    return 0;
}
