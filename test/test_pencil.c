/* Linear systems with constant matrices: Kronecker's structure, eigenvalues, consistent values. */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "structure/linear/pencil.h"

enum { MOST = 12 };

#define assert_close(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* Matrices are written by rows here. */
static void by_columns(int n, const double *rows, double *columns)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) columns[i + j * n] = rows[i * n + j];
}

static dae_pencil_report *analyse(int n, const double *A, const double *B)
{
    double a[MOST * MOST], b[MOST * MOST];
    dae_pencil_report *report = NULL;
    by_columns(n, A, a);
    by_columns(n, B, b);
    dae_pencil p = {.n = n, .a = a, .b = b};
    assert_int_equal(dae_pencil_analyse(&p, &report, NULL), DAE_OK);
    assert_non_null(report);
    return report;
}

/* Deterministic numbers in (-1, 1). */
static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

/* M := P M Q for random P, Q near the identity: the same structure, hidden. */
static void hide(int n, uint32_t seed, double *M)
{
    double P[MOST * MOST], Q[MOST * MOST], T[MOST * MOST];
    for (int i = 0; i < n * n; i++) P[i] = 0.4 * noise(&seed) + (i % (n + 1) == 0);
    for (int i = 0; i < n * n; i++) Q[i] = 0.4 * noise(&seed) + (i % (n + 1) == 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[i * n + j] = 0.0;
            for (int k = 0; k < n; k++) T[i * n + j] += P[i * n + k] * M[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            M[i * n + j] = 0.0;
            for (int k = 0; k < n; k++) M[i * n + j] += T[i * n + k] * Q[k * n + j];
        }
}

/* [BCP96 (2.3.7)]: x1' + x3 = f1, x2' + x1 = f2, x2 = f3 */
static const double chain_A[] = {0, 0, 1, 1, 0, 0, 0, 1, 0};
static const double chain_B[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};

static void the_books_chain_has_index_3(void **state)
{
    (void)state;
    dae_pencil_report *r = analyse(3, chain_A, chain_B);
    assert_true(r->regular);
    assert_int_equal(r->index, 3);
    assert_int_equal(r->finite, 0);
    assert_int_equal(r->infinite, 3);
    assert_int_equal(r->rank_b, 2);
    assert_int_equal(r->levels, 3);
    assert_int_equal(r->block_count[0], 0);
    assert_int_equal(r->block_count[2], 1);
    assert_true(r->kept > 1e-3 && r->dropped < 1e-14);
    dae_pencil_report_free(r);
}

/* x1 = f2 - f3', x2 = f3, x3 = f1 - f2' + f3'' [BCP96 2.3], with f = (sin t, cos 2t, e^t) at 0.3 */
static void the_books_chain_starts_where_its_formula_says(void **state)
{
    (void)state;
    double a[9], b[9], u[3] = {7, -8, 9}, up[3];
    const double t = 0.3, e = exp(t);
    const double d[] = {sin(t),  cos(2 * t),      e, cos(t),  -2 * sin(2 * t), e,
                        -sin(t), -4 * cos(2 * t), e, -cos(t), 8 * sin(2 * t),  e};
    by_columns(3, chain_A, a);
    by_columns(3, chain_B, b);
    dae_pencil p = {.n = 3, .a = a, .b = b};
    assert_int_equal(dae_pencil_consistent(&p, 4, d, u, up, NULL), DAE_OK);
    assert_close(u[0], cos(2 * t) - e, 1e-13);
    assert_close(u[1], e, 1e-13);
    assert_close(u[2], sin(t) + 2 * sin(2 * t) + e, 1e-13);
    assert_close(up[0], -2 * sin(2 * t) - e, 1e-13);
    assert_close(up[1], e, 1e-13);
    assert_close(up[2], cos(t) + 4 * cos(2 * t) + e, 1e-13);
}

/* x' = -x + z, 0 = x + y - t, 0 = z - 2y: index 1, one degree of freedom; the nearest point on
 * x + y = t, z = 2y by Lagrange: minimise |(x,y,z) - (1,1,1)|^2 at t = 2: x = 2-y, z = 2y:
 * (1-y)^2 + (y-1)^2 + (2y-1)^2 least at 12 y = 8. */
static void the_nearest_consistent_value(void **state)
{
    (void)state;
    const double A[] = {1, 0, -1, 1, 1, 0, 0, -2, 1}, B[] = {1, 0, 0, 0, 0, 0, 0, 0, 0};
    double a[9], b[9], u[3] = {1, 1, 1}, up[3];
    const double d[] = {0, 2, 0, 0, 1, 0};
    by_columns(3, A, a);
    by_columns(3, B, b);
    dae_pencil p = {.n = 3, .a = a, .b = b};
    assert_int_equal(dae_pencil_consistent(&p, 2, d, u, up, NULL), DAE_OK);
    assert_close(u[1], 2.0 / 3, 1e-14);
    assert_close(u[0], 4.0 / 3, 1e-14);
    assert_close(u[2], 4.0 / 3, 1e-14);
    assert_close(up[0], -u[0] + u[2], 1e-13);
    assert_close(up[1], 1.0 - up[0], 1e-13);
    assert_close(up[2], 2.0 * up[1], 1e-13);
    double again[3] = {u[0], u[1], u[2]};
    assert_int_equal(dae_pencil_consistent(&p, 2, d, again, NULL, NULL), DAE_OK);
    for (int i = 0; i < 3; i++) assert_close(again[i], u[i], 1e-15);
}

/* Weierstrass form with eigenvalues -1 +- 2i, -3 and nilpotent blocks of sizes 3, 2, 1, hidden by
 * random equivalence: everything is found again. */
static void a_hidden_weierstrass_form(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        double A[81] = {0}, B[81] = {0};
        for (int i = 0; i < 3; i++) B[i * 9 + i] = 1;
        A[0] = A[10] = 1, A[1] = -2, A[9] = 2, A[20] = 3;
        for (int i = 3; i < 9; i++) A[i * 9 + i] = 1;
        B[3 * 9 + 4] = B[4 * 9 + 5] = B[6 * 9 + 7] = 1;
        hide(9, seed, A);
        hide(9, seed, B);
        dae_pencil_report *r = analyse(9, A, B);
        assert_int_equal(r->index, 3);
        assert_int_equal(r->finite, 3);
        for (int k = 0; k < 3; k++) assert_int_equal(r->block_count[k], 1);
        double sum = 0.0, product = 1.0, size = 0.0;
        for (int i = 0; i < 3; i++) {
            sum += r->re[i];
            product *= hypot(r->re[i], r->im[i]);
            size = fmax(size, fabs(r->im[i]));
        }
        assert_close(sum, -5.0, 1e-9);
        assert_close(product, 15.0, 1e-8);
        assert_close(size, 2.0, 1e-9);
        assert_int_equal(r->stability, DAE_STABILITY_ASYMPTOTIC);
        assert_true(r->dropped < 1e-13 && r->kept > 1e-7);
        dae_pencil_report_free(r);
    }
}

/* A system of index 3 with a known solution u e^(t/2), hidden by random equivalence: starting there
 * nothing moves and u' = u/2; from elsewhere the equations hold at the point that is found. */
static void consistent_values_of_a_hidden_system(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        double A[81] = {0}, B[81] = {0}, a[81], b[81], d[36], u[9], start[9], up[9];
        for (int i = 0; i < 3; i++) B[i * 9 + i] = 1, A[i * 9 + i] = i + 1;
        for (int i = 3; i < 9; i++) A[i * 9 + i] = 1;
        B[3 * 9 + 4] = B[4 * 9 + 5] = B[6 * 9 + 7] = 1;
        hide(9, seed, A);
        hide(9, seed, B);
        by_columns(9, A, a);
        by_columns(9, B, b);
        for (int i = 0; i < 9; i++) start[i] = u[i] = i - 4;
        /* d such that u e^(t/2) is a solution */
        for (int i = 0; i < 9; i++) {
            d[i] = 0.0;
            for (int j = 0; j < 9; j++) d[i] += (0.5 * B[i * 9 + j] + A[i * 9 + j]) * u[j];
            for (int k = 1; k < 4; k++) d[k * 9 + i] = 0.5 * d[(k - 1) * 9 + i];
        }
        dae_pencil p = {.n = 9, .a = a, .b = b};
        assert_int_equal(dae_pencil_consistent(&p, 4, d, u, up, NULL), DAE_OK);
        for (int i = 0; i < 9; i++) {
            assert_close(u[i], start[i], 1e-9);
            assert_close(up[i], 0.5 * start[i], 1e-8);
        }
        for (int i = 0; i < 9; i++) u[i] += 0.1 * i;
        assert_int_equal(dae_pencil_consistent(&p, 4, d, u, up, NULL), DAE_OK);
        for (int i = 0; i < 9; i++) {
            double sum = -d[i];
            for (int j = 0; j < 9; j++) sum += B[i * 9 + j] * up[j] + A[i * 9 + j] * u[j];
            assert_close(sum, 0.0, 1e-9);
        }
    }
}

/* The pendulum linearised at rest below its pivot, g = l = 1: index 3, an oscillator of
 * frequency 1. Unknowns x, y, vx, vy, lambda: at the rest point lambda = 1, y = -1. */
static void the_pendulum_at_rest(void **state)
{
    (void)state;
    const double A[] = {0, 0, -1, 0, 0, 0, 0,  0, -1, 0, 1, 0, 0,
                        0, 0, 0,  1, 0, 0, -1, 0, -1, 0, 0, 0};
    double B[25] = {0};
    for (int i = 0; i < 4; i++) B[i * 6] = 1;
    dae_pencil_report *r = analyse(5, A, B);
    assert_int_equal(r->index, 3);
    assert_int_equal(r->finite, 2);
    for (int i = 0; i < 2; i++) {
        assert_close(r->re[i], 0.0, 1e-13);
        assert_close(fabs(r->im[i]), 1.0, 1e-13);
    }
    assert_int_equal(r->stability, DAE_STABILITY_STABLE);
    dae_pencil_report_free(r);
}

static dae_stability stability_of(int n, const double *A)
{
    double B[MOST * MOST] = {0};
    for (int i = 0; i < n; i++) B[i * n + i] = 1;
    dae_pencil_report *r = analyse(n, A, B);
    dae_stability verdict = r->stability;
    dae_pencil_report_free(r);
    return verdict;
}

static void stability_on_the_axis_depends_on_jordan_blocks(void **state)
{
    (void)state;
    const double twice_zero[] = {0, 0, 0, 0}, integrators[] = {0, -1, 0, 0};
    assert_int_equal(stability_of(2, twice_zero), DAE_STABILITY_STABLE);
    assert_int_equal(stability_of(2, integrators), DAE_STABILITY_UNSTABLE);
    /* two equal oscillators: apart they are bounded, in resonance they grow */
    double pair[] = {0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0};
    assert_int_equal(stability_of(4, pair), DAE_STABILITY_STABLE);
    pair[6] = 1;
    assert_int_equal(stability_of(4, pair), DAE_STABILITY_UNSTABLE);
    const double slow[] = {1e-3, 0, 0, 1e6}, grows[] = {-1e-3, 0, 0, 1e6};
    assert_int_equal(stability_of(2, slow), DAE_STABILITY_ASYMPTOTIC);
    assert_int_equal(stability_of(2, grows), DAE_STABILITY_UNSTABLE);
}

/* [BCP96 example 2.4.1] at t = 2: singular for every lambda; -d/dt F[1] + F[0] vanishes and
 * (t, -1) phi is free. */
static void the_books_singular_pencil_is_explained(void **state)
{
    (void)state;
    const double B[] = {1, 2, 0, 0}, A[] = {0, 0, 1, 2};
    dae_pencil_report *r = analyse(2, A, B);
    assert_false(r->regular);
    assert_int_equal(r->index, -1);
    assert_int_equal(r->normal_rank, 1);
    assert_int_equal(r->column_count, 1);
    assert_int_equal(r->column_index[0], 0);
    assert_int_equal(r->row_count, 1);
    assert_int_equal(r->row_index[0], 1);
    assert_int_equal(r->stability, DAE_STABILITY_NONE);
    assert_non_null(strstr(r->text, "F[0] - d/dt F[1]"));
    assert_non_null(strstr(r->text, "u[0] = phi, u[1] = -0.5 phi"));
    dae_pencil_report_free(r);
}

/* [BCP96 example 2.4.2]: det(lambda A + I) = 1 for every t, index 2 although the system is not
 * solvable: regularity at each t is not solvability. */
static void the_books_regular_pencil_of_an_unsolvable_system(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 1};
    for (double t = -1.5; t < 2; t += 1.0) {
        const double B[] = {-t, t * t, -1, t};
        dae_pencil_report *r = analyse(2, A, B);
        assert_int_equal(r->index, 2);
        assert_int_equal(r->finite, 0);
        dae_pencil_report_free(r);
    }
}

/* [BCP96 example 2.4.3]: index 2 where phi > 0, index 1 where phi = psi = 0 */
static void a_rank_change(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 1}, B[] = {0, 0.5, 0, 0}, zero[4] = {0};
    dae_pencil_report *r = analyse(2, A, B);
    assert_int_equal(r->index, 2);
    dae_pencil_report_free(r);
    r = analyse(2, A, zero);
    assert_int_equal(r->index, 1);
    assert_int_equal(r->block_count[0], 2);
    dae_pencil_report_free(r);
}

/* diag(L_2, L_1', J) of size 2x3, 2x1, 1x1, at once with its minimal indices. */
static void minimal_indices_are_found(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 10; seed++) {
        double A[25] = {0}, B[25] = {0};
        B[0] = B[6] = 1, A[1] = A[7] = 1;   /* L_2: rows 0, 1, columns 0..2 */
        B[2 * 5 + 3] = 1, A[3 * 5 + 3] = 1; /* L_1': rows 2, 3, column 3 */
        B[24] = 1, A[24] = 4;
        hide(5, seed, A);
        hide(5, seed, B);
        dae_pencil_report *r = analyse(5, A, B);
        assert_false(r->regular);
        assert_int_equal(r->column_count, 1);
        assert_int_equal(r->column_index[0], 2);
        assert_int_equal(r->row_count, 1);
        assert_int_equal(r->row_index[0], 1);
        assert_int_equal(r->finite, 1);
        assert_close(r->re[0], -4.0, 1e-8);
        dae_pencil_report_free(r);
    }
}

/* A redundant loop: the third equation is the sum of the others; names are the user's. */
static void redundant_equations_are_named(void **state)
{
    (void)state;
    const double A[] = {1, -1, 0, 0, 1, -1, 1, 0, -1}, B[9] = {0};
    const char *const names[] = {"loop a", "loop b", "loop c"};
    double a[9];
    dae_pencil_report *r = NULL;
    by_columns(3, A, a);
    dae_pencil p = {.n = 3, .a = a, .b = B, .equation_names = names};
    assert_int_equal(dae_pencil_analyse(&p, &r, NULL), DAE_OK);
    assert_false(r->regular);
    assert_int_equal(r->row_index[0], 0);
    assert_non_null(strstr(r->text, "loop a + loop b - loop c"));
    dae_pencil_report_free(r);
    double u[3] = {0};
    dae_diag diag = {0};
    assert_int_equal(dae_pencil_consistent(&p, 0, NULL, u, NULL, &diag), DAE_ERR_SINGULAR);
    assert_non_null(strstr(diag.text, "singular"));
}

/* Hessenberg chains u_1' = u_2, .., 0 = u_1 - g: index n, in units of 1e-9 s and 1e6 m. */
static void hessenberg_chains_in_any_units(void **state)
{
    (void)state;
    for (int n = 2; n <= 6; n++) {
        double A[36] = {0}, B[36] = {0};
        for (int i = 0; i + 1 < n; i++) {
            B[i * n + i] = 1e6;
            A[i * n + i + 1] = -1e6 * 1e9;
        }
        A[(n - 1) * n] = 1e-3;
        dae_pencil_report *r = analyse(n, A, B);
        assert_int_equal(r->index, n);
        assert_int_equal(r->finite, 0);
        dae_pencil_report_free(r);
    }
}

/* [BCP96 7.3]: x' + y' + x + y = cos t, x' + y' + x + 2y = t has index 1, where structure says 0.
 */
static void the_structural_counterexample(void **state)
{
    (void)state;
    const double A[] = {1, 1, 1, 2}, B[] = {1, 1, 1, 1};
    dae_pencil_report *r = analyse(2, A, B);
    assert_int_equal(r->index, 1);
    assert_int_equal(r->finite, 1);
    assert_close(r->re[0], -1.0, 1e-14);
    dae_pencil_report_free(r);
}

static void wrong_arguments_are_told(void **state)
{
    (void)state;
    double a[1] = {NAN}, b[1] = {1};
    dae_pencil p = {.n = 1, .a = a, .b = b};
    dae_pencil_report *r = (dae_pencil_report *)1;
    dae_diag diag = {0};
    assert_int_equal(dae_pencil_analyse(&p, &r, &diag), DAE_ERR_ARGUMENT);
    assert_null(r);
    assert_non_null(strstr(diag.text, "finite"));
    assert_int_equal(dae_pencil_analyse(NULL, &r, &diag), DAE_ERR_ARGUMENT);
    p.n = 0;
    assert_int_equal(dae_pencil_analyse(&p, &r, &diag), DAE_ERR_ARGUMENT);
    dae_pencil_report_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_books_chain_has_index_3),
        cmocka_unit_test(the_books_chain_starts_where_its_formula_says),
        cmocka_unit_test(the_nearest_consistent_value),
        cmocka_unit_test(a_hidden_weierstrass_form),
        cmocka_unit_test(consistent_values_of_a_hidden_system),
        cmocka_unit_test(the_pendulum_at_rest),
        cmocka_unit_test(stability_on_the_axis_depends_on_jordan_blocks),
        cmocka_unit_test(the_books_singular_pencil_is_explained),
        cmocka_unit_test(the_books_regular_pencil_of_an_unsolvable_system),
        cmocka_unit_test(a_rank_change),
        cmocka_unit_test(minimal_indices_are_found),
        cmocka_unit_test(redundant_equations_are_named),
        cmocka_unit_test(hessenberg_chains_in_any_units),
        cmocka_unit_test(the_structural_counterexample),
        cmocka_unit_test(wrong_arguments_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
