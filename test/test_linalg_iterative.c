/* GMRES, ILU(0) and least squares, against dense arithmetic and LAPACK's SVD. */
#include "linalg/gmres.h"
#include "linalg/ilu.h"
#include "linalg/least_squares.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed;

static double random_number(void) /* in (-1, 1) */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

/* ---- GMRES ---- */

enum { MOST = 200 };

/* A dense operator with a diagonal or no preconditioner, counting calls and checking its input. */
typedef struct operation {
    int n;
    const double *a;        /* column-major */
    const double *diagonal; /* P, or NULL */
    const double *scale;
    int applied, preconditioned;
    int fail_apply, fail_precondition; /* the call that fails, from 1; 0: none */
    double least_norm, most_norm;      /* of what the operator was given */
} operation;

static double weighted_norm(int n, const double *x, const double *scale)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * scale[i] * x[i] * scale[i];
    return sqrt(sum / n);
}

static int apply(void *context, const double *v, double *av)
{
    operation *op = context;
    double size = weighted_norm(op->n, v, op->scale);
    op->least_norm = fmin(op->least_norm, size);
    op->most_norm = fmax(op->most_norm, size);
    for (int i = 0; i < op->n; i++) {
        av[i] = 0.0;
        for (int j = 0; j < op->n; j++) av[i] += op->a[i + j * op->n] * v[j];
    }
    return ++op->applied == op->fail_apply ? -7 : 0;
}

static int precondition(void *context, double *b)
{
    operation *op = context;
    for (int i = 0; i < op->n; i++) b[i] /= op->diagonal[i];
    return ++op->preconditioned == op->fail_precondition ? 5 : 0;
}

static operation new_operation(int n, const double *a, const double *diagonal, const double *scale)
{
    return (operation){.n = n, .a = a, .diagonal = diagonal, .scale = scale, .least_norm = 1e300};
}

/* ||P^-1(b - A x)|| in the weighted norm, computed from the definition */
static double true_residual(const operation *op, const double *b, const double *x)
{
    double r[MOST];
    for (int i = 0; i < op->n; i++) {
        r[i] = b[i];
        for (int j = 0; j < op->n; j++) r[i] -= op->a[i + j * op->n] * x[j];
        if (op->diagonal) r[i] /= op->diagonal[i];
    }
    return weighted_norm(op->n, r, op->scale);
}

/* A nonsymmetric matrix with its diagonal away from zero, spread over `decades` */
static void nonsymmetric(int n, double *a, double *diagonal, double decades)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) a[i + j * n] = 0.3 * random_number() / sqrt((double)n);
    for (int i = 0; i < n; i++) {
        diagonal[i] = pow(10.0, decades * random_number());
        for (int j = 0; j < n; j++) a[i + j * n] *= diagonal[i];
        a[i + i * n] += diagonal[i];
    }
}

static double a_store[MOST * MOST], diagonal_store[MOST], scale_store[MOST], b_store[MOST];

static void random_vectors(int n, double spread)
{
    for (int i = 0; i < n; i++) {
        scale_store[i] = pow(10.0, spread * random_number());
        b_store[i] = random_number();
    }
}

static void check_gmres(int n, int dimension, int orthogonal, int restarts, bool preconditioned,
                        double tolerance)
{
    gmres g;
    double x[MOST];
    operation op = new_operation(n, a_store, preconditioned ? diagonal_store : NULL, scale_store);
    memcpy(x, b_store, sizeof x);
    assert_true(gmres_new(&g, n, dimension, orthogonal, restarts));
    gmres_status status = gmres_solve(&g, apply, preconditioned ? precondition : NULL, &op,
                                      scale_store, tolerance, x);
    assert_int_equal(status, GMRES_OK);
    double residual = true_residual(&op, b_store, x);
    assert_true(residual <= 1.01 * tolerance + 1e-10);
    assert_true(fabs(residual - g.residual) <= 0.01 * tolerance + 1e-10);
    assert_int_equal(g.iterations, op.applied);
    if (op.applied > 0) assert_true(op.least_norm > 1.0 - 1e-10 && op.most_norm < 1.0 + 1e-10);
    gmres_free(&g);
    assert_null(g.work);
}

static void test_gmres_complete(void **state)
{
    (void)state;
    seed = 3;
    const int sizes[] = {1, 2, 3, 10, 50, 150};
    for (int k = 0; k < 6; k++) {
        const int n = sizes[k];
        nonsymmetric(n, a_store, diagonal_store, 0.0);
        random_vectors(n, 0.0);
        check_gmres(n, n, n, 0, false, 1e-8);
        nonsymmetric(n, a_store, diagonal_store, 4.0); /* hopeless without P */
        random_vectors(n, 2.0);
        check_gmres(n, n, n, 0, true, 1e-6);
    }
}

static void test_gmres_restarted(void **state)
{
    (void)state;
    seed = 4;
    nonsymmetric(100, a_store, diagonal_store, 1.0);
    random_vectors(100, 0.0);
    check_gmres(100, 5, 5, 20, true, 1e-9);
    check_gmres(100, 3, 3, 40, true, 1e-9);
}

/* Incomplete orthogonalisation: the estimate must still be the true residual. */
static void test_gmres_incomplete(void **state)
{
    (void)state;
    seed = 5;
    nonsymmetric(100, a_store, diagonal_store, 1.0);
    random_vectors(100, 1.0);
    check_gmres(100, 40, 1, 10, true, 1e-7);
    check_gmres(100, 40, 2, 10, true, 1e-7);
    check_gmres(100, 40, 7, 10, true, 1e-7);
    for (int j = 0; j < 100; j++) /* far from the identity: vectors lose each other soon */
        for (int i = 0; i < 100; i++)
            if (i != j) a_store[i + j * 100] *= 4.0;
    check_gmres(100, 60, 2, 40, true, 1e-7);
    check_gmres(100, 60, 5, 40, true, 1e-7);
}

/* On a symmetric matrix two vectors are as good as all: ten eigenvalues, ten steps. One is not. */
static void test_gmres_two_vectors(void **state)
{
    (void)state;
    const int n = 30, orthogonal[] = {30, 2, 1};
    int applied[3];
    seed = 8;
    memset(a_store, 0, sizeof a_store);
    random_vectors(n, 0.0);
    for (int i = 0; i < n; i++) a_store[i + i * n] = 1.0 + i % 10;
    for (int k = 0; k < 3; k++) {
        operation op = new_operation(n, a_store, NULL, scale_store);
        gmres g;
        double x[MOST];
        memcpy(x, b_store, sizeof x);
        assert_true(gmres_new(&g, n, n, orthogonal[k], 10));
        assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale_store, 1e-8, x), GMRES_OK);
        applied[k] = op.applied;
        gmres_free(&g);
    }
    assert_int_equal(applied[0], 10);
    assert_int_equal(applied[1], 10);
    assert_true(applied[2] > 10);
}

/* Below the tolerance at once: no call of A, x = 0. */
static void test_gmres_nothing_to_do(void **state)
{
    (void)state;
    double a[4] = {1, 0, 0, 1}, scale[2] = {1, 1}, b[2] = {1e-3, 1e-3}, zero[2] = {0, 0};
    operation op = new_operation(2, a, NULL, scale);
    gmres g;
    assert_true(gmres_new(&g, 2, 2, 2, 1));
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 1e-2, b), GMRES_OK);
    assert_true(b[0] == 0.0 && b[1] == 0.0 && op.applied == 0);
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 0.0, zero), GMRES_OK);
    gmres_free(&g);
}

/* Two distinct eigenvalues: the Krylov space is exhausted after two steps, with the solution. The
 * matrix is symmetric, so that two vectors are enough to stay orthogonal to all. */
static void test_gmres_happy_breakdown(void **state)
{
    (void)state;
    const int n = 30;
    seed = 6;
    memset(a_store, 0, sizeof a_store);
    random_vectors(n, 0.0);
    for (int i = 0; i < n; i++) a_store[i + i * n] = i % 2 ? 2.0 : -5.0;
    operation op = new_operation(n, a_store, NULL, scale_store);
    gmres g;
    double x[MOST];
    for (int orthogonal = 2; orthogonal <= n; orthogonal += n - 2) {
        op.applied = 0;
        memcpy(x, b_store, sizeof x);
        assert_true(gmres_new(&g, n, n, orthogonal, 0));
        assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale_store, 1e-12, x), GMRES_OK);
        assert_true(op.applied <= 2);
        for (int i = 0; i < n; i++)
            assert_true(fabs(x[i] - b_store[i] / a_store[i + i * n]) <= 1e-10);
        gmres_free(&g);
    }
}

/* The cyclic shift makes no progress before step n: FAILED with fewer steps, OK with all. */
static void test_gmres_no_progress(void **state)
{
    (void)state;
    const int n = 12;
    memset(a_store, 0, sizeof a_store);
    for (int i = 0; i < n; i++) {
        a_store[(i + 1) % n + i * n] = 1.0;
        scale_store[i] = 1.0;
    }
    operation op = new_operation(n, a_store, NULL, scale_store);
    for (int dimension = n - 1; dimension <= n; dimension++) {
        gmres g;
        double x[MOST] = {1.0};
        assert_true(gmres_new(&g, n, dimension, dimension, 2));
        gmres_status status = gmres_solve(&g, apply, NULL, &op, scale_store, 1e-10, x);
        assert_int_equal(status, dimension == n ? GMRES_OK : GMRES_FAILED);
        for (int i = 0; i < n; i++)
            assert_true(fabs(x[i] - (dimension == n && i == n - 1 ? 1.0 : 0.0)) < 1e-12);
        gmres_free(&g);
    }
}

/* A x = b with b partly outside the range: the residual can only fall to that part. */
static void test_gmres_singular(void **state)
{
    (void)state;
    double a[9] = {2, 0, 0, 0, 3, 0, 0, 0, 0}, scale[3] = {1, 1, 1}, b[3] = {1, 1, 1};
    operation op = new_operation(3, a, NULL, scale);
    gmres g;
    assert_true(gmres_new(&g, 3, 3, 3, 3));
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 1e-8, b), GMRES_STALLED);
    assert_true(fabs(g.residual - sqrt(1.0 / 3.0)) < 1e-6);
    double nothing[3] = {0, 0, 1}; /* not in the range at all */
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 1e-8, nothing), GMRES_FAILED);
    gmres_free(&g);
}

/* One step on a slow problem: better than nothing. */
static void test_gmres_stalled(void **state)
{
    (void)state;
    seed = 8;
    nonsymmetric(50, a_store, diagonal_store, 1.0);
    random_vectors(50, 0.0);
    operation op = new_operation(50, a_store, NULL, scale_store);
    gmres g;
    double x[MOST], start = weighted_norm(50, b_store, scale_store);
    memcpy(x, b_store, sizeof x);
    assert_true(gmres_new(&g, 50, 2, 2, 0));
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale_store, 1e-10, x), GMRES_STALLED);
    assert_int_equal(g.iterations, 2);
    assert_true(g.residual < start);
    assert_true(fabs(true_residual(&op, b_store, x) - g.residual) < 1e-12);
    gmres_free(&g);
}

static void test_gmres_callback_fails(void **state)
{
    (void)state;
    seed = 9;
    const int n = 20;
    nonsymmetric(n, a_store, diagonal_store, 1.0);
    random_vectors(n, 0.0);
    gmres g;
    assert_true(gmres_new(&g, n, 4, 4, 3));
    for (int k = 1; k < 8; k++) {
        operation op = new_operation(n, a_store, diagonal_store, scale_store);
        double x[MOST];
        memcpy(x, b_store, sizeof x);
        op.fail_apply = k;
        assert_int_equal(gmres_solve(&g, apply, precondition, &op, scale_store, 1e-13, x),
                         GMRES_CALLBACK);
        assert_int_equal(g.callback_code, -7);
        assert_int_equal(op.applied, k);
        op = new_operation(n, a_store, diagonal_store, scale_store);
        memcpy(x, b_store, sizeof x);
        op.fail_precondition = k;
        assert_int_equal(gmres_solve(&g, apply, precondition, &op, scale_store, 1e-13, x),
                         GMRES_CALLBACK);
        assert_int_equal(g.callback_code, 5);
    }
    check_gmres(n, 4, 4, 9, true, 1e-6); /* and a fresh call is not disturbed */
    gmres_free(&g);
}

static void test_gmres_not_finite(void **state)
{
    (void)state;
    double a[4] = {1, NAN, 0, 1}, scale[2] = {1, 1}, b[2] = {1, 1}, c[2] = {INFINITY, 1};
    operation op = new_operation(2, a, NULL, scale);
    gmres g;
    assert_true(gmres_new(&g, 2, 2, 2, 3));
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 1e-8, b), GMRES_FAILED);
    assert_true(b[0] == 0.0 && b[1] == 0.0);
    assert_int_equal(gmres_solve(&g, apply, NULL, &op, scale, 1e-8, c), GMRES_FAILED);
    gmres_free(&g);
}

/* ---- ILU(0) ---- */

/* On a tridiagonal matrix there is no fill: ILU(0) is exact. Banded and sparse layouts alike. */
static void test_ilu_tridiagonal(void **state)
{
    (void)state;
    seed = 12;
    const int n = 60;
    int colptr[61] = {0}, rowind[180], count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j - 1; i <= j + 1; i++)
            if (i >= 0 && i < n) rowind[count++] = i;
        colptr[j + 1] = count;
    }
    matrix_layout layouts[2];
    assert_true(layout_sparse(&layouts[0], n, colptr, rowind));
    assert_true(layout_banded(&layouts[1], n, 1, 1));
    for (int k = 0; k < 2; k++) {
        double values[180], x[60], b[60];
        for (size_t i = 0; i < layouts[k].count; i++) values[i] = random_number();
        for (int j = 0; j < n; j++) {
            matrix_column c = layout_column(&layouts[k], j);
            for (int q = 0; q < c.count; q++)
                if (column_row(&c, q) == j) values[c.first + (size_t)q] += 3.0;
            x[j] = random_number();
        }
        matrix_multiply(&layouts[k], values, x, b);
        ilu *f = ilu_analyse(&layouts[k]);
        assert_non_null(f);
        assert_true(ilu_factor(f, values));
        ilu_solve(f, b);
        for (int i = 0; i < n; i++) assert_true(fabs(b[i] - x[i]) < 1e-13);
        ilu_free(f);
    }
    layout_free(&layouts[0]);
    ilu_free(NULL);
}

/* The defining property [Saa03 10.3]: (L U)_ij = a_ij on the pattern. Apply A - L U to the unit
 * vectors through solves: A - LU vanishes on the pattern exactly if L U e_j matches A e_j there. */
static void test_ilu_matches_on_pattern(void **state)
{
    (void)state;
    seed = 13;
    enum { K = 6, N = K * K };
    int colptr[N + 1] = {0}, rowind[5 * N], count = 0;
    for (int j = 0; j < N; j++) {
        if (j >= K) rowind[count++] = j - K;
        if (j % K > 0) rowind[count++] = j - 1;
        rowind[count++] = j;
        if (j % K < K - 1) rowind[count++] = j + 1;
        if (j < N - K) rowind[count++] = j + K;
        colptr[j + 1] = count;
    }
    matrix_layout l;
    assert_true(layout_sparse(&l, N, colptr, rowind));
    double values[5 * N], inverse[N * N] = {0};
    for (int j = 0; j < N; j++)
        for (int k = colptr[j]; k < colptr[j + 1]; k++)
            values[k] = random_number() + (rowind[k] == j ? 5.0 : 0.0);
    ilu *f = ilu_analyse(&l);
    assert_true(ilu_factor(f, values));
    for (int j = 0; j < N; j++) {
        inverse[j + j * N] = 1.0;
        ilu_solve(f, inverse + (size_t)j * N);
    }
    int pivots[N]; /* (L U) = inverse of what the solves gave */
    assert_int_equal(LAPACKE_dgetrf(LAPACK_COL_MAJOR, N, N, inverse, N, pivots), 0);
    assert_int_equal(LAPACKE_dgetri(LAPACK_COL_MAJOR, N, inverse, N, pivots), 0);
    double outside = 0.0;
    for (int j = 0; j < N; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            assert_true(fabs(inverse[rowind[k] + j * N] - values[k]) < 1e-12);
            inverse[rowind[k] + j * N] = 0.0;
        }
        for (int i = 0; i < N; i++) outside = fmax(outside, fabs(inverse[i + j * N]));
    }
    assert_true(outside > 1e-3); /* and not elsewhere, or it would be the full LU */
    ilu_free(f);
    layout_free(&l);
}

/* Missing and zero diagonals: reported, yet the factors stay finite. */
static void test_ilu_pivots(void **state)
{
    (void)state;
    int colptr[] = {0, 1, 3, 4}, rowind[] = {1, 0, 1, 2}; /* (0,0) is not stored */
    double values[] = {1.0, 1.0, 2.0, 0.0}, good[] = {0.0, 0.0, 2.0, 4.0}, b[] = {1.0, 2.0, 3.0};
    matrix_layout l;
    assert_true(layout_sparse(&l, 3, colptr, rowind));
    ilu *f = ilu_analyse(&l);
    assert_non_null(f);
    assert_false(ilu_factor(f, values));
    ilu_solve(f, b);
    for (int i = 0; i < 3; i++) assert_true(isfinite(b[i]));
    double c[] = {7.0, 2.0, 3.0};
    assert_false(ilu_factor(f, good)); /* row 0 is empty: its unknown is left alone */
    ilu_solve(f, c);
    assert_true(c[0] == 7.0 && c[1] == 1.0 && c[2] == 0.75);
    ilu_free(f);
    layout_free(&l);
}

/* ---- least squares ---- */

/* x = A^+ b from LAPACK's SVD, singular values below rcond times the first dropped; returns rank */
static int pseudo_solve(int m, int n, const double *a, const double *b, double rcond, double *x)
{
    double copy[400], s[20], u[400], vt[400], superb[20];
    const int k = m < n ? m : n;
    memcpy(copy, a, (size_t)(m * n) * sizeof *a);
    assert_int_equal(
        LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'S', 'S', m, n, copy, m, s, u, m, vt, k, superb), 0);
    memset(x, 0, (size_t)n * sizeof *x);
    int rank = 0;
    for (int q = 0; q < k && s[q] > rcond * s[0]; q++, rank++) {
        double t = 0.0;
        for (int i = 0; i < m; i++) t += u[i + q * m] * b[i];
        for (int j = 0; j < n; j++) x[j] += vt[q + j * k] * t / s[q];
    }
    return rank;
}

/* Random matrices of given rank, wide, tall and square, in one workspace */
static void test_least_squares(void **state)
{
    (void)state;
    seed = 15;
    least_squares ls;
    assert_true(least_squares_new(&ls, 20, 20));
    for (int round = 0; round < 300; round++) {
        const int m = 1 + (int)(10.0 + 10.0 * random_number()) % 20;
        const int n = 1 + (int)(10.0 + 10.0 * random_number()) % 20, least = m < n ? m : n;
        const int rank = 1 + round % least;
        double a[400] = {0}, copy[400], b[20] = {0}, x[20], left[400], right[400];
        for (int k = 0; k < 400; k++) left[k] = random_number();
        for (int k = 0; k < 400; k++) right[k] = random_number();
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < rank; k++) a[i + j * m] += left[i + k * m] * right[j + k * n];
        for (int i = 0; i < m; i++) b[i] = random_number();
        if (pseudo_solve(m, n, a, b, 1e-3, x) != rank) continue; /* a random tiny singular value */
        assert_int_equal(pseudo_solve(m, n, a, b, 1e-10, x), rank);
        memcpy(copy, a, sizeof a);
        assert_true(least_squares_solve(&ls, m, n, copy, b, 1e-10));
        assert_int_equal(ls.rank, rank);
        for (int j = 0; j < n; j++) assert_true(fabs(b[j] - x[j]) < 1e-8);
    }
    least_squares_free(&ls);
    assert_null(ls.work);
}

static void test_least_squares_edges(void **state)
{
    (void)state;
    least_squares ls;
    assert_true(least_squares_new(&ls, 3, 3));
    double a[9] = {0}, b[3] = {1, 2, 3};
    assert_true(least_squares_solve(&ls, 3, 3, a, b, 1e-10)); /* A = 0: x = 0 */
    assert_int_equal(ls.rank, 0);
    for (int i = 0; i < 3; i++) assert_true(b[i] == 0.0);
    double c[3] = {1, 2, 3};
    assert_true(least_squares_solve(&ls, 0, 3, a, c, 1e-10)); /* no equations: x = 0 */
    for (int i = 0; i < 3; i++) assert_true(c[i] == 0.0);
    double one[2] = {3.0, 4.0}, d[2] = {5.0, 0.0}; /* 3x + 4y = 5: shortest is (0.6, 0.8) */
    assert_true(least_squares_solve(&ls, 1, 2, one, d, 1e-10));
    assert_true(fabs(d[0] - 0.6) < 1e-15 && fabs(d[1] - 0.8) < 1e-15);
    least_squares_free(&ls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gmres_complete),         cmocka_unit_test(test_gmres_restarted),
        cmocka_unit_test(test_gmres_incomplete),       cmocka_unit_test(test_gmres_two_vectors),
        cmocka_unit_test(test_gmres_nothing_to_do),    cmocka_unit_test(test_gmres_happy_breakdown),
        cmocka_unit_test(test_gmres_no_progress),      cmocka_unit_test(test_gmres_singular),
        cmocka_unit_test(test_gmres_stalled),          cmocka_unit_test(test_gmres_callback_fails),
        cmocka_unit_test(test_gmres_not_finite),       cmocka_unit_test(test_ilu_tridiagonal),
        cmocka_unit_test(test_ilu_matches_on_pattern), cmocka_unit_test(test_ilu_pivots),
        cmocka_unit_test(test_least_squares),          cmocka_unit_test(test_least_squares_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
