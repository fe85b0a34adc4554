/* Tables of collocation methods against the conditions that define them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "method/collocation.h"

static const collocation *const methods[] = {&radau_iia_1, &radau_iia_3, &radau_iia_5,
                                             &radau_iia_7};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* Sums of s products in long double: what is left are the roundings of the table entries. */
static void assert_near(long double value, long double expected, double size)
{
    double slack = 4.0 * DBL_EPSILON * (size + 1.0);
    if (!(fabs((double)(value - expected)) <= slack))
        fail_msg("%.20Lg instead of %.20Lg", value, expected);
}

/* B(p): sum b_i c_i^(k-1) = 1/k for k = 1 .. 2s-1, with b the last row of A; not for k = 2s */
static void quadrature_order(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int s = methods[m]->stages;
        const double *b = methods[m]->A + (s - 1) * s;
        assert_int_equal(methods[m]->order, 2 * s - 1);
        for (int k = 1; k <= 2 * s; k++) {
            long double sum = 0.0L;
            for (int i = 0; i < s; i++) sum += b[i] * powl(methods[m]->nodes[i], k - 1);
            if (k < 2 * s)
                assert_near(sum, 1.0L / k, 1.0);
            else
                assert_true(fabs((double)(sum - 1.0L / k)) > 1e-9);
        }
    }
}

/* C(s): sum_j a_ij c_j^(k-1) = c_i^k / k */
static void stage_order(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int s = methods[m]->stages;
        const double *c = methods[m]->nodes;
        for (int i = 0; i < s; i++)
            for (int k = 1; k <= s; k++) {
                long double sum = 0.0L;
                for (int j = 0; j < s; j++) sum += methods[m]->A[i * s + j] * powl(c[j], k - 1);
                assert_near(sum, powl(c[i], k) / k, 1.0);
            }
    }
}

/* D(s-1): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k */
static void simplifying_condition(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int s = methods[m]->stages;
        const double *c = methods[m]->nodes, *A = methods[m]->A, *b = A + (s - 1) * s;
        for (int j = 0; j < s; j++)
            for (int k = 1; k < s; k++) {
                long double sum = 0.0L;
                for (int i = 0; i < s; i++) sum += b[i] * powl(c[i], k - 1) * A[i * s + j];
                assert_near(sum, b[j] * (1.0L - powl(c[j], k)) / k, 1.0);
            }
    }
}

/* |A^-1 A - I|, |T^-1 T - I| and |T^-1 A^-1 T - Lambda| vanish up to the condition of the factors
 */
static void product(int s, const double *X, const double *Y, long double *XY)
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            XY[i * s + j] = 0.0L;
            for (int k = 0; k < s; k++) XY[i * s + j] += (long double)X[i * s + k] * Y[k * s + j];
        }
}

static double largest(int count, const double *x)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static void inverses(void **state)
{
    (void)state;
    long double P[COLLOCATION_STAGES * COLLOCATION_STAGES];
    for (int m = 0; m < METHODS; m++) {
        const collocation *t = methods[m];
        int s = t->stages;
        for (int which = 0; which < 2; which++) {
            const double *X = which ? t->T_inverse : t->inverse, *Y = which ? t->T : t->A;
            product(s, X, Y, P);
            for (int i = 0; i < s * s; i++)
                assert_near(P[i], i % (s + 1) == 0, largest(s * s, X) * largest(s * s, Y));
        }
    }
}

/* Entry (i, j) of Lambda. */
static double block_entry(const collocation *t, int i, int j)
{
    if (i == 0 || j == 0) return i == j ? t->gamma : 0.0;
    const double *pair = t->pair + (i - 1) / 2 * 2;
    if ((i - 1) / 2 != (j - 1) / 2) return 0.0;
    return i == j ? pair[0] : (i > j ? pair[1] : -pair[1]);
}

static void eigenvalues(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        const collocation *t = methods[m];
        int s = t->stages;
        assert_int_equal(2 * t->pairs + 1, s);
        double size = largest(s * s, t->T_inverse) * largest(s * s, t->inverse);
        for (int i = 0; i < s; i++)
            for (int j = 0; j < s; j++) {
                long double sum = 0.0L;
                for (int k = 0; k < s; k++)
                    for (int l = 0; l < s; l++)
                        sum += (long double)t->T_inverse[i * s + k] * t->inverse[k * s + l] *
                               t->T[l * s + j];
                assert_near(sum, block_entry(t, i, j), s * size);
            }
    }
}

/* For three stages everything has a closed form [HW96 IV.8]. */
static void three_stages(void **state)
{
    (void)state;
    double root = sqrt(6.0), c3 = cbrt(9.0), c9 = cbrt(81.0);
    const collocation *t = &radau_iia_3;
    assert_near(t->nodes[0], (4.0 - root) / 10.0, 1.0);
    assert_near(t->nodes[1], (4.0 + root) / 10.0, 1.0);
    assert_near(t->gamma, 30.0 / (6.0 + c9 - c3), 10.0);
    double a = (12.0 - c9 + c3) / 60.0, b = (c9 + c3) * sqrt(3.0) / 60.0;
    assert_near(t->pair[0], a / (a * a + b * b), 10.0);
    assert_near(t->pair[1], b / (a * a + b * b), 10.0);
    assert_near(t->left[0], (13.0 + 7.0 * root) / 3.0, 20.0);
    assert_near(t->left[1], (13.0 - 7.0 * root) / 3.0, 20.0);
    assert_near(t->left[2], 1.0 / 3.0, 20.0);
}

/* q(x) = x^s - 2x is met exactly: values, slopes, the slope at 0, and the next step's stages */
static double sample(int s, double x)
{
    return pow(x, s) - 2.0 * x;
}

static void interpolation(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        const collocation *t = methods[m], *next = methods[(m + 1) % METHODS];
        int s = t->stages;
        double w[COLLOCATION_STAGES], d[COLLOCATION_STAGES], E[49], left = 0.0;
        for (double x = -0.25; x < 2.0; x += 0.375) {
            double value = 0.0, slope = 0.0;
            collocation_weights(t, x, 0, w);
            collocation_weights(t, x, 1, d);
            for (int j = 0; j < s; j++) {
                value += w[j] * sample(s, t->nodes[j]);
                slope += d[j] * sample(s, t->nodes[j]);
            }
            assert_true(fabs(value - sample(s, x)) < 1e-10);
            assert_true(fabs(slope - (s * pow(x, s - 1) - 2.0)) < 1e-9);
        }
        for (int j = 0; j < s; j++) left += t->left[j] * sample(s, t->nodes[j]);
        assert_true(fabs(left - (s == 1 ? -1.0 : -2.0)) < 1e-12);
        collocation_extrapolation(t, next, 0.7, E);
        for (int i = 0; i < next->stages; i++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) sum += E[i * s + j] * sample(s, t->nodes[j]);
            double expected = sample(s, 1.0 + 0.7 * next->nodes[i]) - sample(s, 1.0);
            assert_true(fabs(sum - expected) < 1e-9);
        }
    }
}

static void choice_by_stages(void **state)
{
    (void)state;
    for (int s = 1; s <= 8; s++)
        assert_int_equal(radau_iia(s)->stages, s < 3 ? 1 : s < 5 ? 3 : s < 7 ? 5 : 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadrature_order),      cmocka_unit_test(stage_order),
        cmocka_unit_test(simplifying_condition), cmocka_unit_test(inverses),
        cmocka_unit_test(eigenvalues),           cmocka_unit_test(three_stages),
        cmocka_unit_test(interpolation),         cmocka_unit_test(choice_by_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
