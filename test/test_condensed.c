/* Characteristic values, strangeness index and condensed forms of linear systems, square or not, of
 * first and second order; Weierstrass' P and Q. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

enum { MOST = 12 };

static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

/* X (m x n by columns) := L X R for random L, R near the identity */
static void hide(int m, int n, uint32_t seed, double *X)
{
    double L[MOST * MOST], R[MOST * MOST], T[MOST * MOST];
    for (int i = 0; i < m * m; i++) L[i] = 0.4 * noise(&seed) + (i % (m + 1) == 0);
    for (int i = 0; i < n * n; i++) R[i] = 0.4 * noise(&seed) + (i % (n + 1) == 0);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            T[i + j * m] = 0.0;
            for (int k = 0; k < m; k++) T[i + j * m] += L[i + k * m] * X[k + j * m];
        }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            X[i + j * m] = 0.0;
            for (int k = 0; k < n; k++) X[i + j * m] += T[i + k * m] * R[k + j * n];
        }
}

/* Matrices are written by rows here, A_0 first. */
static dae_condensed *condense_rows(int m, int n, int order, const double *const *rows,
                                    uint32_t seed)
{
    static double a[3][MOST * MOST];
    dae_linear_system s = {.m = m, .n = n, .order = order};
    dae_condensed *c = NULL;
    dae_diag diag = {0};
    for (int k = 0; k <= order; k++) {
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) a[k][i + j * m] = rows[k][i * n + j];
        if (seed) hide(m, n, seed, a[k]);
        s.a[k] = a[k];
    }
    if (dae_linear_condense(&s, &c, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return c;
}

/* r, a, s, d, u, v of a step of first order */
static void expect_step(const dae_condensed *c, int step, const int *wanted)
{
    const dae_characteristic *v = &c->steps[step];
    const int found[] = {v->r, v->a, v->s01, v->d1, v->left, v->right};
    for (int k = 0; k < 6; k++)
        if (found[k] != wanted[k])
            fail_msg("step %d: value %d is %d, not %d: %s", step, k, found[k], wanted[k], c->text);
    assert_true(v->s012 == 0 && v->s12 == 0 && v->s02 == 0 && v->d2 == 0);
}

/* [Wun05 example 2.1.3]: z2' + z1, z3' + z2, z3; by hand, and hidden */
static void test_chain(void **state)
{
    (void)state;
    static const double E[] = {0, 1, 0, 0, 0, 1, 0, 0, 0}, A[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *const rows[] = {A, E};
    static const int wanted[3][6] = {{2, 0, 1, 1, 0, 1}, {1, 1, 1, 0, 0, 1}, {0, 3, 0, 0, 0, 0}};
    for (uint32_t seed = 0; seed < 5; seed++) {
        dae_condensed *c = condense_rows(3, 3, 1, rows, seed);
        assert_int_equal(c->index, 2);
        assert_true(c->regular);
        assert_int_equal(c->derivatives, 2);
        for (int k = 0; k < 3; k++) expect_step(c, k, wanted[k]);
        assert_true(c->kept > 1e-6 && c->dropped < 1e-13);
        dae_condensed_free(c);
    }
}

/* d^(k) of f1 = exp(t/2), f2 = sin(2t) at t = 0.3 */
static void right_side(int k, double *d)
{
    const double t = 0.3;
    d[0] = pow(0.5, k) * exp(0.5 * t);
    d[1] = pow(2.0, k) * sin(2.0 * t + k * acos(0.0));
}

/* x of a[0] x = sum of left_k d^(k), all rows algebraic; d has 2 functions in front */
static void solve_algebraic(const dae_condensed *c, double *x)
{
    const int n = c->n;
    double M[MOST * MOST], b[MOST] = {0};
    memcpy(M, c->a[0], (size_t)(n * n) * sizeof *M);
    for (int k = 0; k <= c->derivatives; k++) {
        double d[MOST] = {0};
        right_side(k, d);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) b[i] += c->left[k * n * n + i + j * n] * d[j];
    }
    for (int k = 0; k < n; k++) { /* Gauss-Jordan with row interchanges */
        int top = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(M[i + k * n]) > fabs(M[top + k * n])) top = i;
        for (int j = 0; j < n; j++) {
            double swap = M[k + j * n];
            M[k + j * n] = M[top + j * n], M[top + j * n] = swap;
        }
        double swap = b[k];
        b[k] = b[top], b[top] = swap;
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : M[i + k * n] / M[k + k * n];
            for (int j = 0; j < n; j++) M[i + j * n] -= factor * M[k + j * n];
            b[i] -= factor * b[k];
        }
    }
    for (int i = 0; i < n; i++) x[i] = b[i] / M[i + i * n];
}

/* [Wun05 examples 3.2.1, 3.2.2]: index 2 as it is, 3 in first order, and what derivatives enter */
static void test_order_reduction(void **state)
{
    (void)state;
    static const double A2[] = {1, 0, 0, 0}, A0[] = {0, 1, 1, 0};
    static const double E[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const double A[] = {1, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0};
    const double *const second[] = {A0, A2, A2}, *const first[] = {A, E};
    double f[4][2], x[4], y[4];
    for (int k = 0; k < 4; k++) right_side(k, f[k]);
    const double x1 = f[0][1], x2 = f[0][0] - f[1][1] - f[2][1];
    dae_condensed *c = condense_rows(2, 2, 2, second, 0);
    assert_int_equal(c->index, 2);
    assert_int_equal(c->derivatives, 2);
    assert_true(c->steps[0].r == 1 && c->steps[0].s02 == 1 && c->steps[0].a == 0);
    assert_true(c->steps[1].r == 0 && c->steps[1].s01 == 1 && c->steps[2].a == 2);
    solve_algebraic(c, x);
    assert_true(fabs(x[0] - x1) < 1e-12 && fabs(x[1] - x2) < 1e-12);
    dae_condensed_free(c);
    c = condense_rows(4, 4, 1, first, 0);
    assert_int_equal(c->index, 3);
    assert_int_equal(c->derivatives, 3);
    solve_algebraic(c, y); /* (v1, v2, x1, x2) [Wun05 (3.12)], f2'' for the f2' printed in v2 */
    assert_true(fabs(y[0] - f[1][1]) < 1e-11 && fabs(y[2] - x1) < 1e-11 && fabs(y[3] - x2) < 1e-11);
    assert_true(fabs(y[1] - (f[1][0] - f[2][1] - f[3][1])) < 1e-11);
    dae_condensed_free(c);
}

/* x'' + p = f1, x' + z = 0, x = f2: all three orders at once, gone in one step [Wun05 (3.8)];
 * p = f1 - f2'', z = -f2' */
static void test_all_orders(void **state)
{
    (void)state;
    static const double A2[] = {1, 0, 0, 0, 0, 0, 0, 0, 0}, A1[] = {0, 0, 0, 0, 0, 0, 1, 0, 0};
    static const double A0[] = {0, 1, 0, 1, 0, 0, 0, 0, 1}; /* rows: x'', x, x' */
    const double *const rows[] = {A0, A1, A2};
    double f[3][2], x[3];
    for (int k = 0; k < 3; k++) right_side(k, f[k]);
    dae_condensed *c = condense_rows(3, 3, 2, rows, 0);
    assert_int_equal(c->index, 1);
    assert_true(c->steps[0].s012 == 1 && c->steps[0].s02 == 0 && c->steps[0].s12 == 0);
    assert_true(c->steps[1].a == 3 && c->derivatives == 2);
    solve_algebraic(c, x);
    assert_true(fabs(x[0] - f[0][1]) < 1e-13 && fabs(x[1] - (f[0][0] - f[2][1])) < 1e-13);
    assert_true(fabs(x[2] + f[1][1]) < 1e-13);
    dae_condensed_free(c);
}

/* x'' + p = f1, x = f2, y' + x' + w = 0, y = 0: the derivatives of both constraints leave the third
 * equation in the first step, as in [Wun05 (3.5)] its A_1 has y alone: index 1, not 2 */
static void test_constraints_together(void **state)
{
    (void)state;
    static const double A2[16] = {1}, A1[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
    static const double A0[] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0}; /* x, y, p, w */
    const double *const rows[] = {A0, A1, A2};
    double f[3][2], x[4];
    for (int k = 0; k < 3; k++) right_side(k, f[k]);
    dae_condensed *c = condense_rows(4, 4, 2, rows, 0);
    assert_true(c->steps[0].s02 == 1 && c->steps[0].s01 == 1);
    assert_int_equal(c->index, 1);
    solve_algebraic(c, x);
    assert_true(fabs(x[2] - (f[0][0] - f[2][1])) < 1e-12 && fabs(x[3] + f[1][1]) < 1e-12);
    dae_condensed_free(c);
}

/* M q'' + K q + G' lambda = f, G q = g: strangeness once, by s02; with the velocity constraint
 * G q' = g by s12; and both, redundantly, by s012 */
static void test_mechanisms(void **state)
{
    (void)state;
    static const double A2[] = {2, 0, 0, 0, 3, 0, 0, 0, 0};
    static const double position[] = {1, 0, 1, 0, 1, 2, 1, 2, 0};
    static const double velocity[] = {1, 0, 1, 0, 1, 2, 0, 0, 0};
    static const double none[9] = {0}, constraint[] = {0, 0, 0, 0, 0, 0, 1, 2, 0};
    const double *const q[] = {position, none, A2}, *const v[] = {velocity, constraint, A2};
    for (uint32_t seed = 0; seed < 4; seed++) {
        dae_condensed *c = condense_rows(3, 3, 2, q, seed);
        assert_int_equal(c->index, 1);
        assert_true(c->steps[0].r == 2 && c->steps[0].s02 == 1 && c->steps[0].d2 == 1);
        assert_true(c->steps[1].d2 == 1 && c->steps[1].d1 == 0 && c->steps[1].a == 2);
        assert_true(c->regular && c->derivatives == 2);
        dae_condensed_free(c);
        c = condense_rows(3, 3, 2, v, seed);
        assert_int_equal(c->index, 1);
        assert_true(c->steps[0].s12 == 1 && c->steps[0].s02 == 0);
        assert_true(c->steps[1].d2 == 1 && c->steps[1].d1 == 1 && c->steps[1].a == 1);
        assert_true(c->regular && c->derivatives == 1);
        dae_condensed_free(c);
    }
    static const double E2[] = {1, 0, 0, 0, 0, 0, 0, 0}, E1[] = {0, 0, 0, 0, 1, 0, 0, 0};
    static const double E0[] = {0, 1, 0, 1, 1, 0, 0, 0};   /* rows: q'' + p, p, q' + q, 0 */
    static const double with[] = {0, 1, 0, 1, 0, 0, 1, 0}; /* .. q'', p, q', q */
    const double *const a[] = {E0, E1, E2}, *const b[] = {with, E1, E2};
    dae_condensed *c = condense_rows(4, 2, 2, a, 0);
    assert_true(c->steps[0].s12 == 1 && c->steps[0].a == 1 && c->steps[0].left == 1);
    dae_condensed_free(c);
    c = condense_rows(4, 2, 2, b, 0);
    assert_true(c->steps[0].s012 == 1 && c->steps[0].s12 == 0 && c->steps[0].a == 1);
    assert_int_equal(c->steps[c->index].left, 2);
    assert_false(c->regular);
    dae_condensed_free(c);
}

/* The condensed form itself, hidden: s, d, a, s, u rows and s, d, a, v columns; P and Q find it */
static void test_pairs(void **state)
{
    (void)state;
    enum { S = 2, D = 1, A = 2, U = 1, V = 2, ROWS = S + D + A + S + U, COLUMNS = S + D + A + V };
    double e[ROWS * COLUMNS] = {0}, f[ROWS * COLUMNS] = {0};
    for (int i = 0; i < S + D; i++) e[i * COLUMNS + i] = 1.0;
    for (int i = 0; i < S + D; i++) /* A12, A14, A22, A24 */
        for (int j = 0; j < D + V; j++)
            f[i * COLUMNS + (j < D ? S + j : S + A + j)] = 1.0 + i - 2.0 * j;
    for (int i = 0; i < A; i++) f[(S + D + i) * COLUMNS + S + D + i] = 1.0;
    for (int i = 0; i < S; i++) f[(S + D + A + i) * COLUMNS + i] = 1.0;
    const double *const rows[] = {f, e};
    for (uint32_t seed = 1; seed < 6; seed++) {
        static const int wanted[] = {S + D, A, S, D, U, V};
        dae_condensed *c = condense_rows(ROWS, COLUMNS, 1, rows, seed);
        expect_step(c, 0, wanted);
        assert_true(c->p && c->q);
        double x[2][MOST * MOST];
        for (int k = 0; k < 2; k++) { /* P a[k] Q of the hidden matrices */
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++) x[k][i + j * ROWS] = rows[k][i * COLUMNS + j];
            hide(ROWS, COLUMNS, seed, x[k]);
            double left[MOST * MOST];
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++) {
                    left[i + j * ROWS] = 0.0;
                    for (int l = 0; l < ROWS; l++)
                        left[i + j * ROWS] += c->p[i + l * ROWS] * x[k][l + j * ROWS];
                }
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < COLUMNS; j++) {
                    x[k][i + j * ROWS] = 0.0;
                    for (int l = 0; l < COLUMNS; l++)
                        x[k][i + j * ROWS] += left[i + l * ROWS] * c->q[l + j * COLUMNS];
                }
        }
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++) {
                const bool open = i < S + D && ((j >= S && j < S + D) || j >= S + D + A);
                double one = i == j && i >= S + D && i < S + D + A ? 1.0 : 0.0;
                if (j < S && i == S + D + A + j) one = 1.0;
                assert_true(fabs(x[1][i + j * ROWS] - (i == j && i < S + D)) < 1e-12);
                assert_true(open || fabs(x[0][i + j * ROWS] - one) < 1e-12);
            }
        dae_condensed_free(c);
    }
}

/* P B Q = diag(I, N), P A Q = diag(C, I) of a hidden pencil: a finite part and blocks 3, 2, 2, 1 */
static void test_weierstrass(void **state)
{
    (void)state;
    enum { FINITE = 3, N = FINITE + 8 };
    static const int size[] = {3, 2, 2, 1};
    double J[N * N] = {0};
    for (int b = 0, at = FINITE; b < 4; at += size[b++])
        for (int i = 1; i < size[b]; i++) J[(at + i - 1) + (at + i) * N] = 1.0;
    for (uint32_t seed = 1; seed < 21; seed++) {
        double a[N * N] = {0}, b[N * N];
        memcpy(b, J, sizeof b);
        for (int i = 0; i < FINITE; i++) b[i + i * N] = 1.0;
        for (int i = 0; i < N; i++) a[i + i * N] = i < FINITE ? 10.0 * (i - 1.5) : 1.0;
        a[1 + 2 * N] = -4.0;
        hide(N, N, seed, a), hide(N, N, seed, b);
        dae_pencil_report *r = NULL;
        assert_int_equal(dae_pencil_analyse(&(dae_pencil){.n = N, .a = a, .b = b}, &r, NULL),
                         DAE_OK);
        assert_true(r->regular && r->index == 3 && r->finite == FINITE && r->p && r->q);
        double worst = 0.0, trace = 0.0, sum = 0.0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double pbq = 0.0, paq = 0.0;
                for (int k = 0; k < N; k++)
                    for (int l = 0; l < N; l++) {
                        pbq += r->p[i + k * N] * b[k + l * N] * r->q[l + j * N];
                        paq += r->p[i + k * N] * a[k + l * N] * r->q[l + j * N];
                    }
                const bool finite = i < FINITE && j < FINITE;
                worst = fmax(worst, fabs(pbq - (finite ? i == j : J[i + j * N])));
                if (!finite) worst = fmax(worst, fabs(paq - (i == j)));
                if (i == j && finite) trace += paq;
            }
        for (int i = 0; i < FINITE; i++) sum -= r->re[i]; /* of lambda B + A */
        if (!(worst < 1e-9)) fail_msg("seed %u: residual %g", (unsigned)seed, worst);
        assert_true(fabs(trace - sum) < 1e-8);
        dae_pencil_report_free(r);
    }
}

/* Without a finite part, without a part at infinity, and singular ones */
static void test_weierstrass_limits(void **state)
{
    (void)state;
    const double chain_a[] = {0, 1, 0, 0, 0, 1, 1, 0, 0}, chain_b[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
    const double one[] = {1}, zero[] = {0}, two[] = {2};
    dae_pencil_report *r = NULL;
    dae_pencil_analyse(&(dae_pencil){.n = 3, .a = chain_a, .b = chain_b}, &r, NULL);
    assert_true(r->p && r->q && r->finite == 0);
    dae_pencil_report_free(r);
    dae_pencil_analyse(&(dae_pencil){.n = 1, .a = one, .b = two}, &r, NULL);
    assert_true(fabs(r->p[0] * 2.0 * r->q[0] - 1.0) < 1e-15);
    dae_pencil_report_free(r);
    dae_pencil_analyse(&(dae_pencil){.n = 1, .a = zero, .b = zero}, &r, NULL);
    assert_true(!r->regular && !r->p && !r->q);
    dae_pencil_report_free(r);
}

static void refuse(dae_linear_system s, const char *words)
{
    dae_condensed *c = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_linear_condense(&s, &c, &diag), DAE_ERR_ARGUMENT);
    assert_null(c);
    if (!strstr(diag.text, words)) fail_msg("%s", diag.text);
}

static void test_refusals(void **state)
{
    (void)state;
    const double a[] = {1}, bad[] = {NAN};
    refuse((dae_linear_system){.m = 0, .n = 1, .order = 1, .a = {a, a}}, "m is 0");
    refuse((dae_linear_system){.m = 1, .n = -2, .order = 1, .a = {a, a}}, "n is -2");
    refuse((dae_linear_system){.m = 1, .n = 1, .order = 3, .a = {a, a, a}}, "order 1 or 2; 3");
    refuse((dae_linear_system){.m = 1, .n = 1, .order = 2, .a = {a, a}}, "a[2]");
    refuse((dae_linear_system){.m = 1, .n = 1, .order = 1, .a = {bad, a}}, "a[0]");
    refuse((dae_linear_system){.m = 1, .n = 1, .order = 1, .a = {a, a}, .tolerance = 2.0},
           "tolerance");
    dae_condensed_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),       cmocka_unit_test(test_order_reduction),
        cmocka_unit_test(test_all_orders),  cmocka_unit_test(test_constraints_together),
        cmocka_unit_test(test_mechanisms),  cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_weierstrass), cmocka_unit_test(test_weierstrass_limits),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
