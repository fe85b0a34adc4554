/* Shortest solutions of linear systems: square and regular ones by LU, others by ranks. */
#include "base/random.h"
#include "linalg/kkt.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 60 }; /* above the size from which LU is tried */

/* Second differences with `corner` in the first and last place: with 1 their rows have the sum 0.
 */
typedef struct chain {
    int colptr[N + 1], rowind[3 * N];
    double values[3 * N];
} chain;

static void chain_make(chain *c, double corner)
{
    int at = 0;
    for (int j = 0; j < N; j++) {
        c->colptr[j] = at;
        for (int i = j - 1; i <= j + 1; i++) {
            if (i < 0 || i >= N) continue;
            c->rowind[at] = i;
            c->values[at++] = i != j ? -0.5 : j == 0 || j == N - 1 ? 0.5 * corner : 1.0;
        }
    }
    c->colptr[N] = at;
}

static void chain_times(const chain *c, const double *w, double *b)
{
    for (int i = 0; i < N; i++) b[i] = 0.0;
    for (int j = 0; j < N; j++)
        for (int e = c->colptr[j]; e < c->colptr[j + 1]; e++)
            b[c->rowind[e]] += c->values[e] * w[j];
}

static void square_and_regular(void **state)
{
    (void)state;
    chain c;
    double w[N], b[N], exact[N];
    chain_make(&c, 2.0);
    for (int i = 0; i < N; i++) exact[i] = sin(1.0 + i);
    chain_times(&c, exact, b);
    kkt *k = kkt_new(N, N, c.colptr, c.rowind, NULL);
    assert_non_null(k);
    assert_int_equal(kkt_factor(k, c.values, 1e-10, 0.0), LINEAR_OK);
    assert_int_equal(kkt_rank(k), N);
    kkt_solve(k, b, w);
    for (int i = 0; i < N; i++) assert_true(fabs(w[i] - exact[i]) < 1e-11);
    kkt_free(k);
}

/* Rows of the sum 0: solutions differ by a constant, and the shortest has the sum 0. The same
 * object then takes a regular matrix, and this one again. */
static void square_and_singular(void **state)
{
    (void)state;
    chain c, regular;
    double w[N], b[N], exact[N];
    chain_make(&c, 1.0);
    chain_make(&regular, 2.0);
    for (int i = 0; i < N; i++) exact[i] = i - 0.5 * (N - 1);
    chain_times(&c, exact, b);
    kkt *k = kkt_new(N, N, c.colptr, c.rowind, NULL);
    assert_non_null(k);
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(kkt_factor(k, c.values, 1e-10, 0.0), LINEAR_OK);
        assert_int_equal(kkt_rank(k), N - 1);
        kkt_solve(k, b, w);
        for (int i = 0; i < N; i++) assert_true(fabs(w[i] - exact[i]) < 1e-9);
        assert_int_equal(kkt_factor(k, regular.values, 1e-10, 0.0), LINEAR_OK);
        assert_int_equal(kkt_rank(k), N);
    }
    kkt_free(k);
}

/* A rank that is decided by large pivots is not that of LU. */
static void ranks_by_their_bound(void **state)
{
    (void)state;
    chain c;
    chain_make(&c, 2.0);
    kkt *k = kkt_new(N, N, c.colptr, c.rowind, NULL);
    assert_non_null(k);
    assert_int_equal(kkt_factor(k, c.values, 0.3, 0.0), LINEAR_OK);
    assert_true(kkt_rank(k) < N);
    kkt_free(k);
}

/* A random matrix of 20 rows and 30 columns: A w = b, and w = A' y for some y, so that w is
 * orthogonal to the difference to any other solution. */
static void shortest_of_many(void **state)
{
    (void)state;
    enum { M = 20, WIDE = 30 };
    double a[M * WIDE], b[M], w[WIDE], other[WIDE], across = 0.0;
    uint64_t seed = 3;
    for (int e = 0; e < M * WIDE; e++) a[e] = random_number(&seed);
    for (int j = 0; j < WIDE; j++) other[j] = cos(j);
    for (int i = 0; i < M; i++) b[i] = 0.0;
    for (int e = 0; e < M * WIDE; e++) b[e % M] += a[e] * other[e / M];
    kkt *k = kkt_new(M, WIDE, NULL, NULL, NULL);
    assert_non_null(k);
    assert_int_equal(kkt_factor(k, a, 1e-10, 0.0), LINEAR_OK);
    assert_int_equal(kkt_rank(k), M);
    kkt_solve(k, b, w);
    for (int e = 0; e < M * WIDE; e++) b[e % M] -= a[e] * w[e / M];
    for (int i = 0; i < M; i++) assert_true(fabs(b[i]) < 1e-12);
    for (int j = 0; j < WIDE; j++) across += w[j] * (other[j] - w[j]);
    assert_true(fabs(across) < 1e-12);
    kkt_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(square_and_regular), cmocka_unit_test(square_and_singular),
        cmocka_unit_test(ranks_by_their_bound), cmocka_unit_test(shortest_of_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
