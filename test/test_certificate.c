/* Rank, condition and culprits of the system Jacobian: against matrices of known rank, LAPACK's
 * own condition estimate, and points where a model is known to degenerate. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "base/memory.h"
#include "expr/derive.h"
#include "linalg/lapack.h"
#include "structure/rewrite/certificate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const double TOLERANCE = 1e-10;

/* ---- numbers ------------------------------------------------------------------------------------
 */

static unsigned seed = 1;

/* Uniform in [-1, 1) */
static double chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / 8388608.0 - 1.0;
}

/* A = L R, n x rank times rank x n */
static void product_of_rank(int n, int rank, double *A)
{
    double *L = calloc((size_t)(n * n), sizeof *L), *R = calloc((size_t)(n * n), sizeof *R);
    for (int k = 0; k < n * n; k++) {
        L[k] = chance();
        R[k] = chance();
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i + j * n] = 0.0;
            for (int k = 0; k < rank; k++) A[i + j * n] += L[i + k * n] * R[k + j * n];
        }
    free(L);
    free(R);
}

static void rank_of_products(void **state)
{
    enum { N = 30 };
    double A[N * N], v[N], condition;
    rank_work w;
    (void)state;
    assert_true(rank_work_new(&w, N));
    for (int rank = 0; rank <= N; rank += 3) {
        product_of_rank(N, rank, A);
        assert_int_equal(rank_dense(&w, N, A, TOLERANCE, &condition), rank);
        assert_true(rank == N ? condition > 1e-6 : condition < 1e-13);
        for (int k = 0; k < N - rank; k++) {
            double most = 0.0;
            rank_null_vector(&w, k, v);
            for (int i = 0; i < N; i++) {
                double sum = 0.0;
                for (int j = 0; j < N; j++) sum += A[i + j * N] * v[j];
                assert_true(fabs(sum) < 1e-11);
                most = fmax(most, fabs(v[i]));
            }
            assert_float_equal(most, 1.0, 1e-15);
        }
    }
    rank_work_free(&w);
}

/* Against the estimate from an LU factorisation: both estimate, so within a factor of n. */
static void condition_as_lapack_has_it(void **state)
{
    enum { N = 20 };
    double A[N * N], LU[N * N], mine, theirs, norm;
    int pivots[N];
    rank_work w;
    (void)state;
    assert_true(rank_work_new(&w, N));
    for (int k = 0; k < 10; k++) {
        product_of_rank(N, N, A);
        for (int i = 0; i < N; i++) A[i + 3 * N] *= pow(10.0, -k); /* worse and worse */
        memcpy(LU, A, sizeof A);
        norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', N, N, A, N);
        assert_int_equal(LAPACKE_dgetrf(LAPACK_COL_MAJOR, N, N, LU, N, pivots), 0);
        LAPACKE_dgecon(LAPACK_COL_MAJOR, '1', N, LU, N, norm, &theirs);
        rank_dense(&w, N, A, 1e-300, &mine);
        assert_true(mine < N * theirs && theirs < N * mine);
    }
    rank_work_free(&w);
}

/* Small ones are exact: 1 / (|R| |R^-1|) with the inverse that LAPACK has; singular ones have 0. */
static void condition_of_small_blocks(void **state)
{
    enum { N = 16 };
    double A[N * N], R[N * N], condition;
    rank_work w;
    (void)state;
    assert_true(rank_work_new(&w, N));
    for (int n = 1; n <= N; n++) {
        for (int k = 0; k < 12; k++) {
            product_of_rank(n, n, A);
            for (int i = 0; i < n; i++) A[i + (n - 1) * n] *= pow(10.0, -k);
            assert_int_equal(rank_dense(&w, n, A, 1e-300, &condition), n);
            memcpy(R, w.R, (size_t)(n * n) * sizeof *R);
            for (int j = 0; j < n; j++)
                for (int i = j + 1; i < n; i++) R[i + j * n] = 0.0;
            double norm = LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, R, n);
            assert_int_equal(LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'U', 'N', n, R, n), 0);
            double exact = 1.0 / (norm * LAPACKE_dlange(LAPACK_COL_MAJOR, '1', n, n, R, n));
            assert_true(fabs(condition - exact) <= 1e-12 * exact);
        }
        product_of_rank(n, n, A);
        for (int i = 0; i < n; i++) A[i] = 0.0; /* a column of zeros */
        assert_int_equal(rank_dense(&w, n, A, TOLERANCE, &condition), n - 1);
        assert_true(condition == 0.0);
    }
    rank_work_free(&w);
}

/* A cycle graph's Laplacian with two further zeros hidden in it: three rings, one null vector each.
 */
static void null_space_of_a_large_sparse_matrix(void **state)
{
    enum { RING = 400, N = 3 * RING };
    static int start[N + 1], rows[3 * N];
    static double values[3 * N];
    matrix_layout layout;
    null_space s;
    (void)state;
    for (int j = 0; j < N; j++) {
        int ring = j / RING * RING, at = j % RING;
        int r[3] = {ring + (at + RING - 1) % RING, j, ring + (at + 1) % RING};
        double x[3] = {-1.0, 2.0, -1.0};
        for (int a = 0; a < 3; a++) /* rows increasing */
            for (int b = 0; b < 2; b++)
                if (r[b] > r[b + 1]) {
                    int t = r[b];
                    double u = x[b];
                    r[b] = r[b + 1], x[b] = x[b + 1];
                    r[b + 1] = t, x[b + 1] = u;
                }
        for (int a = 0; a < 3; a++) {
            rows[3 * j + a] = r[a];
            values[3 * j + a] = x[a];
        }
        start[j + 1] = 3 * (j + 1);
    }
    assert_false(rank_is_dense(N, 3 * N));
    assert_true(layout_sparse(&layout, N, start, rows));
    assert_true(null_space_new(&s, &layout, values, TOLERANCE, 8));
    assert_int_equal(s.count, 3);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < N; i++) { /* constant on every ring */
            int first = k * N + i / RING * RING;
            assert_float_equal(s.right[k * N + i], s.right[first], 1e-7);
            assert_float_equal(s.left[k * N + i], s.left[first], 1e-7);
        }
    null_space_free(&s);
    layout_free(&layout);
}

/* ---- systems ------------------------------------------------------------------------------------
 */

static graph *G;

static expr N(double value)
{
    return graph_constant(G, value);
}
static expr X(int j, int order)
{
    return graph_variable(G, j, order);
}
static expr add(expr a, expr b)
{
    return graph_binary(G, EXPR_ADD, a, b);
}
static expr mul(expr a, expr b)
{
    return graph_binary(G, EXPR_MUL, a, b);
}

typedef struct system_under_test {
    equation_set set;
    structure s;
    system_jacobian J;
    certificate c;
    double values[8][16];
    const double *rows[8];
    equation_point at;
} system_under_test;

static void start_system(system_under_test *u, int n)
{
    memset(u, 0, sizeof *u);
    G = graph_new();
    assert_true(equation_set_new(&u->set, G, n, n));
    for (int p = 0; p < 8; p++) {
        u->rows[p] = u->values[p];
        for (int j = 0; j < 16; j++) u->values[p][j] = 0.3 + 0.1 * j + 0.2 * p;
    }
    u->at = (equation_point){.time = 0.5, .x = u->rows, .orders = 7};
}

static bool check(system_under_test *u)
{
    structure_free(&u->s);
    system_jacobian_free(&u->J);
    certificate_free(&u->c);
    assert_true(structure_analyse(&u->s, &u->set));
    assert_false(u->s.singular);
    assert_true(system_jacobian_new(&u->J, &u->set, &u->s));
    assert_true(certify(&u->J, &u->s, &u->at, TOLERANCE, &u->c));
    return u->c.valid;
}

static void end_system(system_under_test *u)
{
    certificate_free(&u->c);
    system_jacobian_free(&u->J);
    structure_free(&u->s);
    equation_set_free(&u->set);
    graph_free(G);
}

static void build_pendulum(system_under_test *u)
{
    start_system(u, 3);
    u->set.row[0].residual = add(X(0, 2), mul(X(0, 0), X(2, 0)));
    u->set.row[1].residual = add(add(X(1, 2), mul(X(1, 0), X(2, 0))), N(9.81));
    u->set.row[2].residual = add(add(mul(X(0, 0), X(0, 0)), mul(X(1, 0), X(1, 0))), N(-1.0));
}

/* det J = -2 (x^2 + y^2): regular but for x = y = 0 */
static void pendulum(void **state)
{
    system_under_test u;
    (void)state;
    build_pendulum(&u);
    assert_true(check(&u));
    assert_true(u.c.finite);
    assert_true(u.c.condition > 0.01 && u.c.condition <= 1.0);
    u.values[0][0] = 0.0; /* on an axis it is regular still */
    assert_true(check(&u));
    u.values[0][1] = 0.0;
    assert_false(check(&u));
    assert_true(u.c.finite);
    assert_int_equal(u.c.deficiency, 1);
    /* the length's equation is the row, the force the column that nothing is left for */
    assert_int_equal(u.c.row_count, 1);
    assert_int_equal(u.c.row[0], 2);
    assert_int_equal(u.c.column_count, 1);
    assert_int_equal(u.c.column[0], 2);
    end_system(&u);
}

/* Units do not matter: rows and columns multiplied by powers of ten up to 1e+-15. */
static void units(void **state)
{
    system_under_test u;
    (void)state;
    start_system(&u, 4);
    for (int i = 0; i < 4; i++) {
        expr sum = X(i, 0);
        for (int j = 0; j < 4; j++) {
            double size = pow(10.0, 5.0 * (i - 1.5) + 7.0 * (j - 1.5));
            sum = add(sum, mul(N(size / (1.0 + i + j)), X(j, 1))); /* Hilbert's matrix, scaled */
        }
        u.set.row[i].residual = sum;
    }
    assert_true(check(&u));
    assert_true(u.c.condition > 1e-6); /* cond of Hilbert's 4 x 4 is 2.8e4 */
    end_system(&u);
}

/* Currents f = g x, h = g' y into one node, and x = y: small conductances beside entries 1 are no
 * rounding, unless they cancel. Maxima of rows and columns are 1 as it stands. */
static void small_beside_large(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        system_under_test u;
        const double g = k == 2 ? 1e-40 : 1e-13, other = k == 1 ? -g : 2.0 * g;
        start_system(&u, 4);
        u.set.row[0].residual = add(X(0, 0), mul(N(-1.0), X(1, 0)));
        u.set.row[1].residual = add(X(2, 0), mul(N(-g), X(0, 0)));
        u.set.row[2].residual = add(X(3, 0), mul(N(-other), X(1, 0)));
        u.set.row[3].residual = add(X(2, 0), X(3, 0));
        assert_int_equal(check(&u), k != 1);
        assert_true(k == 1 || u.c.condition > 0.01);
        assert_true(k != 1 || u.c.deficiency == 1);
        end_system(&u);
    }
}

/* A matching of largest product is scaled to 1 at most, all else below that. */
static void scaled_by_a_matching(void **state)
{
    enum { SIZE = 3 };
    const double A[SIZE][SIZE] = {{1.0, 1e20, 0.0}, {1e-30, 1.0, 3e-40}, {5.0, 0.0, 1e-25}};
    double row[SIZE], column[SIZE];
    matched_scale m = {0};
    (void)state;
    assert_true(matched_scale_new(&m, SIZE, SIZE * SIZE));
    for (int pass = 0; pass < 2; pass++) { /* 1e20 * 3e-40 * 5 is the largest product */
        matched_scale_begin(&m, SIZE);
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) matched_scale_add(&m, i, j, A[i][j]);
        assert_true(matched_scale_end(&m, row, column));
        for (int i = 0; i < SIZE; i++)
            for (int j = 0; j < SIZE; j++) {
                double scaled = row[i] * A[i][j] * column[j];
                bool matched = (i == 0 && j == 1) || (i == 1 && j == 2) || (i == 2 && j == 0);
                assert_true(scaled < 1.0 && (!matched || scaled >= 0.5));
            }
    }
    matched_scale_begin(&m, 2); /* two rows for one column, and a row without entries */
    matched_scale_add(&m, 0, 1, 1.0);
    matched_scale_add(&m, 1, 1, 1.0);
    assert_false(matched_scale_end(&m, row, column));
    matched_scale_begin(&m, 2);
    matched_scale_add(&m, 1, 1, 1.0);
    assert_false(matched_scale_end(&m, row, column));
    matched_scale_free(&m);
}

/* Two of four rows depend on the others, which the report has to say without the fifth. */
static void culprits(void **state)
{
    system_under_test u;
    (void)state;
    start_system(&u, 5);
    expr a = add(X(0, 1), X(1, 1)), b = add(X(2, 1), mul(N(2), X(3, 1)));
    u.set.row[0].residual = add(a, X(0, 0));
    u.set.row[1].residual = add(mul(N(2), a), X(1, 0));
    u.set.row[2].residual = add(b, X(2, 0));
    u.set.row[3].residual = add(mul(N(-3), b), X(3, 0));
    u.set.row[4].residual = add(X(4, 1), add(X(0, 1), X(2, 1)));
    assert_false(check(&u));
    assert_int_equal(u.c.deficiency, 1); /* in each of two blocks */
    assert_int_equal(u.c.row_count, 2);
    assert_int_equal(u.c.column_count, 2);
    int low = u.c.row[0] < u.c.row[1] ? u.c.row[0] : u.c.row[1];
    assert_true(low == 0 || low == 2);
    assert_int_equal(u.c.row[0] + u.c.row[1], 2 * low + 1);
    assert_int_equal(u.c.column[0] + u.c.column[1], 2 * low + 1);
    end_system(&u);
}

/* cos(t) x' at t = pi/2 as doubles have it is 6e-17, which is no pivot. */
static void rounding_is_no_pivot(void **state)
{
    system_under_test u;
    (void)state;
    start_system(&u, 1);
    u.set.row[0].residual = add(mul(graph_unary(G, EXPR_COS, graph_time(G)), X(0, 1)), X(0, 0));
    assert_true(check(&u));
    u.at.time = 1.5707963267948966;
    assert_false(check(&u));
    assert_int_equal(u.c.row[0], 0);
    end_system(&u);
    start_system(&u, 1); /* but a small number is one */
    u.set.row[0].residual = add(mul(N(1e-25), X(0, 1)), X(0, 0));
    assert_true(check(&u));
    end_system(&u);
}

/* An entry that cannot be evaluated is told apart from one that vanishes. */
static void not_finite(void **state)
{
    system_under_test u;
    (void)state;
    start_system(&u, 2);
    u.set.row[0].residual = add(X(0, 1), X(1, 0));
    u.set.row[1].residual = add(mul(graph_unary(G, EXPR_LOG, X(0, 0)), X(1, 1)), X(0, 0));
    assert_true(check(&u));
    u.values[0][0] = -1.0;
    assert_false(check(&u));
    assert_false(u.c.finite);
    assert_int_equal(u.c.row_count, 1);
    assert_int_equal(u.c.row[0], 1);
    end_system(&u);
}

/* Entries that depend on the fifth and sixth derivatives, beyond what code reads by itself. */
static void high_derivatives(void **state)
{
    system_under_test u;
    (void)state;
    start_system(&u, 2);
    expr product = mul(X(0, 6), X(1, 5));
    u.set.row[0].residual = add(product, mul(X(0, 4), X(0, 3)));
    u.set.row[1].residual = add(X(0, 6), X(1, 5));
    assert_true(check(&u));
    /* J = [x1^(5) x0^(6); 1 1] is singular where both are equal */
    u.values[6][0] = u.values[5][1];
    assert_false(check(&u));
    u.values[6][0] *= 1.001;
    assert_true(check(&u));
    end_system(&u);
}

/* The watch says at every point what the certificate says. */
static void watch_follows(void **state)
{
    system_under_test u;
    certify_watch w;
    (void)state;
    build_pendulum(&u);
    assert_true(check(&u));
    assert_true(certify_watch_new(&w, &u.J, &u.s, TOLERANCE));
    for (int k = 0; k < 50; k++) {
        certificate c;
        double size = k % 5 == 4 ? 0.0 : 1.0;
        u.values[0][0] = size * cos(0.1 * k);
        u.values[0][1] = size * sin(0.1 * k);
        bool valid = certify_watch_check(&w, &u.at, NULL);
        assert_true(certify(&u.J, &u.s, &u.at, TOLERANCE, &c));
        assert_int_equal(valid, c.valid);
        assert_int_equal(valid, size != 0.0);
        assert_true(w.condition == c.condition);
        certificate_free(&c);
    }
    certify_watch_free(&w);
    end_system(&u);
}

/* ---- size ---------------------------------------------------------------------------------------
 */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* n blocks of two equations each; the last one may be singular */
static double time_of_blocks(int n, double last)
{
    equation_set set;
    structure s;
    system_jacobian J;
    certificate c;
    double *zero = calloc(2 * (size_t)n, sizeof *zero);
    const double *rows[2] = {zero, zero};
    G = graph_new();
    assert_true(equation_set_new(&set, G, 2 * n, 2 * n));
    for (int k = 0; k < n; k++) {
        expr a = X(2 * k, 1), b = X(2 * k + 1, 1);
        double factor = k == n / 2 ? last : 1.0;
        set.row[2 * k].residual = add(add(a, b), k ? X(2 * k - 1, 0) : N(1.0));
        set.row[2 * k + 1].residual = add(add(a, mul(N(-factor), b)), X(2 * k, 0));
    }
    equation_point at = {.x = rows, .orders = 1};
    assert_true(structure_analyse(&s, &set));
    double start = seconds();
    assert_true(system_jacobian_new(&J, &set, &s) && certify(&J, &s, &at, TOLERANCE, &c));
    double time = seconds() - start;
    assert_int_equal(c.valid, last != -1.0);
    if (!c.valid) assert_int_equal(c.row[0] / 2, n / 2);
    certificate_free(&c);
    system_jacobian_free(&J);
    structure_free(&s);
    equation_set_free(&set);
    graph_free(G);
    free(zero);
    return time;
}

static void cost_is_linear(void **state)
{
    (void)state;
    double small = time_of_blocks(5000, 1.0), large = time_of_blocks(50000, -1.0);
    if (getenv("SHOW")) printf("   %g s, %g s\n", small, large);
    assert_true(large < 30.0 * small + 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_of_products),
        cmocka_unit_test(condition_as_lapack_has_it),
        cmocka_unit_test(condition_of_small_blocks),
        cmocka_unit_test(null_space_of_a_large_sparse_matrix),
        cmocka_unit_test(pendulum),
        cmocka_unit_test(units),
        cmocka_unit_test(small_beside_large),
        cmocka_unit_test(scaled_by_a_matching),
        cmocka_unit_test(culprits),
        cmocka_unit_test(rounding_is_no_pivot),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(high_derivatives),
        cmocka_unit_test(watch_follows),
        cmocka_unit_test(cost_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
