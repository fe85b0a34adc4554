/* Saddle-point systems: every way against LAPACK on the whole matrix, and what singular ones say.
 */
#include "linalg/saddle.h"

#include "linalg/lapack.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double noise(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

/* A random problem: full arrays by columns. */
typedef struct system_data {
    int n, m;
    double *M, *B, *C, *f, *r;
} system_data;

static system_data make(int n, int m, int block, bool definite, unsigned seed)
{
    system_data s = {.n = n, .m = m};
    size_t nn = (size_t)n, mm = (size_t)m;
    s.M = calloc(nn * nn, sizeof(double));
    s.B = calloc(nn * mm + 1, sizeof(double));
    s.C = calloc(nn * mm + 1, sizeof(double));
    s.f = calloc(nn, sizeof(double));
    s.r = calloc(mm + 1, sizeof(double));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (i / block == j / block) s.M[(size_t)j * nn + (size_t)i] += noise(&seed);
    for (int j = 0; j < n; j++) /* symmetric */
        for (int i = 0; i < j; i++)
            s.M[(size_t)j * nn + (size_t)i] = s.M[(size_t)i * nn + (size_t)j];
    for (int j = 0; j < n; j++) s.M[(size_t)j * nn + (size_t)j] += definite ? block + 1.0 : 0.0;
    for (size_t k = 0; k < nn * mm; k++) {
        s.C[k] = noise(&seed);
        s.B[k] = s.C[k] + 0.1 * noise(&seed);
    }
    for (int i = 0; i < n; i++) s.f[i] = noise(&seed);
    for (int i = 0; i < m; i++) s.r[i] = noise(&seed);
    return s;
}

static void drop(system_data *s)
{
    free(s->M);
    free(s->B);
    free(s->C);
    free(s->f);
    free(s->r);
}

/* The solution by dgesv on [M F; C 0]; F = B', or given by columns. */
static double *reference(const system_data *s, const double *B, bool transposed)
{
    int n = s->n, m = s->m, size = n + m;
    double *A = calloc((size_t)size * (size_t)size, sizeof(double));
    double *x = calloc((size_t)size, sizeof(double));
    int *pivot = calloc((size_t)size, sizeof(int));
    for (int j = 0; j < n; j++) {
        memcpy(A + (size_t)j * (size_t)size, s->M + (size_t)j * (size_t)n, (size_t)n * sizeof *A);
        for (int i = 0; i < m; i++) {
            A[(size_t)j * (size_t)size + (size_t)(n + i)] = s->C[(size_t)j * (size_t)m + (size_t)i];
            A[(size_t)(n + i) * (size_t)size + (size_t)j] =
                transposed ? B[(size_t)j * (size_t)m + (size_t)i]
                           : B[(size_t)i * (size_t)n + (size_t)j];
        }
    }
    memcpy(x, s->f, (size_t)n * sizeof *x);
    memcpy(x + n, s->r, (size_t)m * sizeof *x);
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, size, 1, A, size, pivot, x, size), 0);
    free(A);
    free(pivot);
    return x;
}

/* Solve by the module and compare. */
static void compare(const system_data *s, saddle *solver, const double *M, const double *B,
                    bool transposed)
{
    assert_non_null(solver);
    assert_int_equal(saddle_factor(solver, M, B, s->C), SADDLE_OK);
    double *expected = reference(s, B, transposed);
    double *x = calloc((size_t)s->n, sizeof *x), *lambda = calloc((size_t)s->m + 1, sizeof *lambda);
    memcpy(x, s->f, (size_t)s->n * sizeof *x);
    memcpy(lambda, s->r, (size_t)s->m * sizeof *lambda);
    saddle_solve(solver, x, lambda);
    for (int i = 0; i < s->n; i++) assert_true(fabs(x[i] - expected[i]) < 1e-8);
    for (int i = 0; i < s->m; i++) assert_true(fabs(lambda[i] - expected[s->n + i]) < 1e-8);
    free(x);
    free(lambda);
    free(expected);
}

/* Sizes, structures of M, symmetric or not: all agree with LAPACK. */
static void dense_ways(void **state)
{
    (void)state;
    static const struct {
        int n, m, block;
        saddle_kind way;
    } cases[] = {
        {1, 1, 1, SADDLE_RANGE},   {2, 1, 2, SADDLE_RANGE},   {4, 2, 1, SADDLE_RANGE},
        {9, 4, 1, SADDLE_RANGE},   {30, 20, 1, SADDLE_RANGE}, {7, 6, 7, SADDLE_NULL},
        {7, 6, 1, SADDLE_NULL},    {12, 2, 3, SADDLE_RANGE},  {10, 9, 10, SADDLE_NULL},
        {20, 3, 20, SADDLE_RANGE}, {5, 0, 5, SADDLE_RANGE},   {70, 20, 70, SADDLE_AUGMENTED},
        {90, 10, 1, SADDLE_RANGE}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int n = cases[k].n, m = cases[k].m, block = cases[k].block;
        system_data s = make(n, m, block, true, (unsigned)(k + 1));
        saddle_shape shape = {.n = n, .m = m, .transposed = true, .block = block == n ? 0 : block};
        saddle *solver = saddle_new(&shape);
        compare(&s, solver, s.M, s.B, true);
        if (n > 1) assert_int_equal(saddle_way(solver), cases[k].way);
        compare(&s, solver, NULL, s.C, true); /* the same M, symmetric */
        saddle_free(solver);
        drop(&s);
    }
}

/* F as a matrix of its own, M = I: what Hessenberg systems need. */
static void own_matrix(void **state)
{
    (void)state;
    system_data s = make(6, 2, 1, true, 5);
    memset(s.M, 0, 36 * sizeof *s.M);
    for (int i = 0; i < 6; i++) s.M[7 * i] = 1.0;
    saddle *solver = saddle_new(&(saddle_shape){.n = 6, .m = 2, .identity = true});
    compare(&s, solver, NULL, s.B, false);
    saddle_free(solver);
    drop(&s);
}

/* An indefinite and a singular M: the null space takes over, for good. */
static void singular_mass(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        system_data s = make(8, 3, 8, k == 1, 9);
        if (k == 1)
            for (int i = 0; i < 8; i++)
                s.M[8 * i + 2] = s.M[16 + i] = 0.0; /* a massless variable */
        saddle *solver = saddle_new(&(saddle_shape){.n = 8, .m = 3, .transposed = true});
        compare(&s, solver, s.M, s.B, true);
        assert_int_equal(saddle_way(solver), SADDLE_NULL);
        compare(&s, solver, s.M, s.C, true);
        saddle_free(solver);
        drop(&s);
    }
}

/* The null space way of all small sizes, by exchanges and, above 20 rows, by L U; x alone is x. */
static void null_sizes(void **state)
{
    (void)state;
    for (int m = 1; m <= 22; m++)
        for (int dof = 1; dof <= 7; dof++) {
            int n = m + dof;
            system_data s = make(n, m, n, false, (unsigned)(10 * m + dof)); /* indefinite */
            saddle *solver = saddle_new(&(saddle_shape){.n = n, .m = m, .transposed = true});
            compare(&s, solver, s.M, s.B, true);
            compare(&s, solver, s.M, s.C, true);
            double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
            double *r = calloc((size_t)m, sizeof *r), *l = calloc((size_t)m, sizeof *l);
            memcpy(x, s.f, (size_t)n * sizeof *x), memcpy(y, s.f, (size_t)n * sizeof *y);
            memcpy(r, s.r, (size_t)m * sizeof *r), memcpy(l, s.r, (size_t)m * sizeof *l);
            saddle_solve(solver, x, l);
            saddle_solve_x(solver, y, r);
            for (int i = 0; i < n; i++) assert_true(fabs(x[i] - y[i]) < 1e-8);
            free(x), free(y), free(r), free(l);
            saddle_free(solver);
            drop(&s);
        }
}

/* Many constraints on y' = f(y,z): F a matrix of its own, by exchanges */
static void own_matrix_null(void **state)
{
    (void)state;
    system_data s = make(6, 5, 1, true, 5);
    memset(s.M, 0, 36 * sizeof *s.M);
    for (int i = 0; i < 6; i++) s.M[7 * i] = 1.0;
    saddle *solver = saddle_new(&(saddle_shape){.n = 6, .m = 5, .identity = true});
    assert_int_equal(saddle_way(solver), SADDLE_NULL);
    compare(&s, solver, NULL, s.B, false);
    saddle_free(solver);
    drop(&s);
}

/* A chain: M diagonal, C bidiagonal, compressed; small ones are expanded, large ones stay sparse.
 */
static void sparse_patterns(void **state)
{
    (void)state;
    for (int n = 6; n <= 120; n += 114) {
        int m = n / 2;
        int *Mp = calloc((size_t)n + 1, sizeof *Mp), *Mi = calloc((size_t)n, sizeof *Mi);
        int *Cp = calloc((size_t)n + 1, sizeof *Cp), *Ci = calloc(2 * (size_t)n, sizeof *Ci);
        double *Mx = calloc((size_t)n, sizeof *Mx), *Cx = calloc(2 * (size_t)n, sizeof *Cx);
        system_data s = make(n, m, 1, true, 3);
        memset(s.C, 0, (size_t)(n * m) * sizeof *s.C);
        int count = 0;
        for (int j = 0; j < n; j++) {
            Mp[j] = Mi[j] = j;
            Mx[j] = s.M[(size_t)j * (size_t)n + (size_t)j];
            Cp[j] = count;
            for (int i = j / 2; i < m && i <= j / 2 + 1; i++) {
                Ci[count] = i;
                Cx[count] = s.C[(size_t)j * (size_t)m + (size_t)i] = 1.0 + 0.3 * (i + j % 5);
                count++;
            }
        }
        Mp[n] = n;
        Cp[n] = count;
        saddle_shape shape = {
            .n = n, .m = m, .M = {Mp, Mi}, .C = {Cp, Ci}, .transposed = true, .block = 1};
        saddle *solver = saddle_new(&shape);
        memset(s.M, 0, (size_t)(n * n) * sizeof *s.M);
        for (int j = 0; j < n; j++) s.M[(size_t)j * (size_t)(n + 1)] = Mx[j];
        assert_non_null(solver);
        assert_int_equal(saddle_way(solver), n == 6 ? SADDLE_RANGE : SADDLE_SCHUR);
        assert_int_equal(saddle_factor(solver, Mx, Cx, Cx), SADDLE_OK);
        double *expected = reference(&s, s.C, true);
        double *x = calloc((size_t)n, sizeof *x), *lambda = calloc((size_t)m, sizeof *lambda);
        memcpy(x, s.f, (size_t)n * sizeof *x);
        memcpy(lambda, s.r, (size_t)m * sizeof *lambda);
        saddle_solve(solver, x, lambda);
        for (int i = 0; i < n; i++) assert_true(fabs(x[i] - expected[i]) < 1e-9);
        for (int i = 0; i < m; i++) assert_true(fabs(lambda[i] - expected[n + i]) < 1e-9);
        free(x), free(lambda);
        /* a massless variable, tied by its constraints, from the same solver */
        double keep = Mx[1];
        Mx[1] = s.M[n + 1] = 0.0;
        free(expected);
        expected = reference(&s, s.C, true);
        double *f = calloc((size_t)n, sizeof *f), *r = calloc((size_t)m, sizeof *r);
        memcpy(f, s.f, (size_t)n * sizeof *f);
        memcpy(r, s.r, (size_t)m * sizeof *r);
        assert_int_equal(saddle_factor(solver, Mx, Cx, Cx), SADDLE_OK);
        assert_int_equal(saddle_way(solver), n == 6 ? SADDLE_NULL : SADDLE_SPARSE);
        saddle_solve(solver, f, r);
        for (int i = 0; i < n; i++) assert_true(fabs(f[i] - expected[i]) < 1e-9);
        free(f), free(r);
        saddle_free(solver);
        solver = saddle_new(&shape);
        Mx[1] = keep;
        /* a row without entries */
        for (int k = 0; k < count; k++)
            if (Ci[k] == 2) Cx[k] = 0.0;
        assert_int_equal(saddle_factor(solver, Mx, Cx, Cx), SADDLE_DEPENDENT);
        assert_int_equal(saddle_row(solver), 2);
        free(expected);
        saddle_free(solver);
        drop(&s);
        free(Mp), free(Mi), free(Cp), free(Ci), free(Mx), free(Cx);
    }
}

/* The dependent row by number; a motion without mass; values that are not finite. */
static void failures(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        int n = 7, m = way ? 5 : 2, bad = m - 1;
        system_data s = make(n, m, n, true, 11);
        saddle *solver = saddle_new(&(saddle_shape){.n = n, .m = m, .transposed = true});
        for (int j = 0; j < n; j++) s.C[j * m + bad] = 3.0 * s.C[j * m];
        assert_int_equal(saddle_factor(solver, s.M, s.C, s.C), SADDLE_DEPENDENT);
        assert_int_equal(saddle_row(solver), bad);
        s.C[2] = NAN;
        assert_int_equal(saddle_factor(solver, s.M, s.C, s.C), SADDLE_NOT_FINITE);
        s.C[2] = 1.0;
        s.M[0] = NAN;
        assert_int_equal(saddle_factor(solver, s.M, s.B, s.B), SADDLE_NOT_FINITE);
        saddle_free(solver);
        drop(&s);
    }
    double M[9] = {1.0}, C[3] = {1.0, 1.0, 0.0}; /* x3 has neither mass nor constraint */
    M[4] = 1.0;
    saddle *solver = saddle_new(&(saddle_shape){.n = 3, .m = 1, .transposed = true});
    assert_int_equal(saddle_factor(solver, M, C, C), SADDLE_SINGULAR);
    saddle_free(solver);
    solver = saddle_new(&(saddle_shape){.n = 1, .m = 2, .transposed = true});
    assert_int_equal(saddle_factor(solver, M, C, C), SADDLE_DEPENDENT);
    assert_int_equal(saddle_row(solver), 1);
    saddle_free(solver);
    saddle_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_ways),      cmocka_unit_test(own_matrix),
        cmocka_unit_test(singular_mass),   cmocka_unit_test(null_sizes),
        cmocka_unit_test(own_matrix_null), cmocka_unit_test(sparse_patterns),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
