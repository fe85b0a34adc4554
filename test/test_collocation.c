/* Tables of collocation methods against the conditions that define them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collocation_exact.h"

static const collocation *const methods[] = {&radau_iia_1, &radau_iia_2, &radau_iia_3, &radau_iia_4,
                                             &radau_iia_5, &radau_iia_7, &gauss_1,     &gauss_2,
                                             &gauss_3,     &gauss_4,     &gauss_5};
enum { METHODS = sizeof methods / sizeof methods[0] };

/* All tables, by their names and definitions. */
static const struct {
    const char *name;
    const collocation *table;
    family of;
    int stages;
} tables[] = {{"gauss_1", &gauss_1, GAUSS, 1},
              {"gauss_2", &gauss_2, GAUSS, 2},
              {"gauss_3", &gauss_3, GAUSS, 3},
              {"gauss_4", &gauss_4, GAUSS, 4},
              {"gauss_5", &gauss_5, GAUSS, 5},
              {"radau_iia_1", &radau_iia_1, RADAU_IIA, 1},
              {"radau_iia_2", &radau_iia_2, RADAU_IIA, 2},
              {"radau_iia_3", &radau_iia_3, RADAU_IIA, 3},
              {"radau_iia_4", &radau_iia_4, RADAU_IIA, 4},
              {"radau_iia_5", &radau_iia_5, RADAU_IIA, 5},
              {"radau_iia_7", &radau_iia_7, RADAU_IIA, 7},
              {"lobatto_iiic_2", &lobatto_iiic_2, LOBATTO_IIIC, 2},
              {"lobatto_iiic_3", &lobatto_iiic_3, LOBATTO_IIIC, 3},
              {"lobatto_iiic_4", &lobatto_iiic_4, LOBATTO_IIIC, 4},
              {"sirk_l", &sirk_l, SIRK_L, 2},
              {"sirk_a", &sirk_a, SIRK_A, 2},
              {"sirk_t", &sirk_t, SIRK_T, 3},
              {"lobatto_iiia_3", &lobatto_iiia_3, LOBATTO_IIIA, 3},
              {"lobatto_iiia_4", &lobatto_iiia_4, LOBATTO_IIIA, 4}};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* ---- every coefficient from its definition ---- */

static void print_numbers(const char *name, int count, const double *x)
{
    char line[120], number[40];
    int length = snprintf(line, sizeof line, "    /* %s */", name);
    for (int i = 0; i < count; i++) {
        const char *point = x[i] == floor(x[i]) ? ".0" : "";
        int more = snprintf(number, sizeof number, " %.17g%s,", x[i] == 0.0 ? 0.0 : x[i], point);
        if (length + more > 98) {
            puts(line);
            length = snprintf(line, sizeof line, "       ");
        }
        length += snprintf(line + length, sizeof line - (size_t)length, "%s", number);
    }
    if (count > 0) puts(line);
}

/* The tables as the library has them */
static void print_tables(void)
{
    for (int k = 0; k < TABLES; k++) {
        const int s = tables[k].stages;
        const bool transformed = tables[k].of != LOBATTO_IIIA;
        rounded m;
        make_method(&m, tables[k].of, s);
        printf("\nstatic const double %s_numbers[] = {\n", tables[k].name);
        print_numbers("nodes", s, m.nodes);
        print_numbers("A", s * s, m.A);
        print_numbers("b", s, m.b);
        if (transformed) {
            print_numbers("inverse", s * s, m.inverse);
            print_numbers("d", s, m.d);
            print_numbers("left", s, m.left);
            print_numbers("lagrange", s, m.lagrange);
            print_numbers("T", s * s, m.T);
            print_numbers("T_inverse", s * s, m.T_inverse);
            print_numbers("pairs", 2 * m.pairs, m.pair);
        }
        printf("};\n%s(%s, %d, %d", transformed ? "METHOD" : "NODES_ONLY", tables[k].name, s,
               m.order);
        if (transformed) printf(", %d, %d, %.17g", m.reals, m.pairs, m.gamma);
        printf(");\n");
    }
}

static void same_numbers(const char *name, const char *what, int count, const double *table,
                         const double *x)
{
    for (int i = 0; i < count; i++)
        if (table[i] != x[i])
            fail_msg("%s: %s[%d] is %.17g, not %.17g", name, what, i, x[i], table[i]);
}

static void numbers_of_the_definitions(void **state)
{
    (void)state;
    if (sizeof(exact) < 16) skip();
    for (int k = 0; k < TABLES; k++) {
        const collocation *t = tables[k].table;
        const char *name = tables[k].name;
        const int s = tables[k].stages;
        rounded m;
        make_method(&m, tables[k].of, s);
        assert_int_equal(t->stages, s);
        assert_int_equal(t->order, m.order);
        same_numbers(name, "nodes", s, t->nodes, m.nodes);
        same_numbers(name, "A", s * s, t->A, m.A);
        same_numbers(name, "b", s, t->b, m.b);
        if (tables[k].of == LOBATTO_IIIA) continue;
        assert_int_equal(t->reals, m.reals);
        assert_int_equal(t->pairs, m.pairs);
        same_numbers(name, "inverse", s * s, t->inverse, m.inverse);
        same_numbers(name, "d", s, t->d, m.d);
        same_numbers(name, "left", s, t->left, m.left);
        same_numbers(name, "lagrange", s, t->lagrange, m.lagrange);
        same_numbers(name, "T", s * s, t->T, m.T);
        same_numbers(name, "T^-1", s * s, t->T_inverse, m.T_inverse);
        same_numbers(name, "gamma", 1, &t->gamma, &m.gamma);
        same_numbers(name, "pair", 2 * m.pairs, t->pair, m.pair);
    }
}

/* ---- conditions that they meet ---- */

static bool is_gauss(const collocation *m)
{
    return m->nodes[m->stages - 1] < 1.0;
}

/* b = (x(1) from stages) A: the last row of A where 1 is a node */
static void quadrature_weights(const collocation *m, long double *b)
{
    int s = m->stages;
    double end[COLLOCATION_STAGES];
    collocation_weights(m, 1.0, 0, end);
    for (int j = 0; j < s; j++) {
        b[j] = is_gauss(m) ? 0.0L : m->A[(s - 1) * s + j];
        for (int i = 0; is_gauss(m) && i < s; i++) b[j] += (long double)end[i] * m->A[i * s + j];
    }
}

/* Sums of s products in long double: what is left are the roundings of the table entries. */
static void assert_near(long double value, long double expected, double size)
{
    double slack = 4.0 * DBL_EPSILON * (size + 1.0);
    if (!(fabs((double)(value - expected)) <= slack))
        fail_msg("%.20Lg instead of %.20Lg", value, expected);
}

/* B(p): sum b_i c_i^(k-1) = 1/k for k = 1 .. p, p = 2s-1 (Radau) or 2s (Gauss); not for p+1 */
static void quadrature_order(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int s = methods[m]->stages;
        long double b[COLLOCATION_STAGES];
        int p = is_gauss(methods[m]) ? 2 * s : 2 * s - 1;
        quadrature_weights(methods[m], b);
        assert_int_equal(methods[m]->order, p);
        for (int k = 1; k <= p + 1; k++) {
            long double sum = 0.0L;
            for (int i = 0; i < s; i++) sum += b[i] * powl(methods[m]->nodes[i], k - 1);
            if (k <= p)
                assert_near(sum, 1.0L / k, 2.0);
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

/* D(s-1), for Gauss D(s): sum_i b_i c_i^(k-1) a_ij = b_j (1 - c_j^k) / k */
static void simplifying_condition(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        int s = methods[m]->stages;
        const double *c = methods[m]->nodes, *A = methods[m]->A;
        long double b[COLLOCATION_STAGES];
        quadrature_weights(methods[m], b);
        for (int j = 0; j < s; j++)
            for (int k = 1; k < s + is_gauss(methods[m]); k++) {
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
    int real = t->stages % 2, k = (i - real) / 2;
    if (real && (i == 0 || j == 0)) return i == j ? t->gamma : 0.0;
    if (k != (j - real) / 2) return 0.0;
    const double *pair = t->pair + 2 * k;
    return i == j ? pair[0] : (i > j ? pair[1] : -pair[1]);
}

static void eigenvalues(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        const collocation *t = methods[m];
        int s = t->stages;
        assert_int_equal(2 * t->pairs + s % 2, s);
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

/* gamma of methods without a real eigenvalue: the geometric mean of all */
static void mean_eigenvalue(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        const collocation *t = methods[m];
        double product = t->stages % 2 ? t->gamma : 1.0;
        for (int p = 0; p < t->pairs; p++)
            product *= t->pair[2 * p] * t->pair[2 * p] + t->pair[2 * p + 1] * t->pair[2 * p + 1];
        if (t->stages % 2 == 0)
            assert_near(t->gamma, pow(product, 1.0 / t->stages), 4.0 * t->gamma);
    }
}

/* [Wun05 Table 6.1]: the two-stage methods in closed form, with A~ = A^2 */
static void two_stages(void **state)
{
    (void)state;
    double root = sqrt(3.0), square[2][4];
    const double table[2][4] = {
        {1.0 / 9.0, -1.0 / 18.0, 0.5, 0.0},
        {1.0 / 24.0, (3.0 - 2.0 * root) / 24.0, (3.0 + 2.0 * root) / 24.0, 1.0 / 24.0}};
    const collocation *const of[2] = {&radau_iia_2, &gauss_2};
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < 4; i++) {
            const double *A = of[m]->A, *row = A + i / 2 * 2;
            square[m][i] = row[0] * A[i % 2] + row[1] * A[2 + i % 2];
            assert_near(square[m][i], table[m][i], 1.0);
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

/* Small matrices on stages against plain sums, for all sizes; what lies behind the result stays. */
static void combinations(void **state)
{
    (void)state;
    enum { MOST = 9, ALL = COLLOCATION_STAGES * MOST };
    double M[COLLOCATION_STAGES * COLLOCATION_STAGES], X[ALL], set[ALL + 4], added[ALL + 4];
    for (int k = 0; k < ALL; k++) X[k] = sin(1.0 + k);
    for (int k = 0; k < COLLOCATION_STAGES * COLLOCATION_STAGES; k++) M[k] = cos(2.0 * k);
    for (int rows = 1; rows <= COLLOCATION_STAGES; rows++)
        for (int columns = 1; columns <= COLLOCATION_STAGES; columns++)
            for (int n = 1; n <= MOST; n++) {
                for (int k = 0; k < ALL + 4; k++) set[k] = added[k] = 5.0;
                collocation_combine(rows, columns, n, 0.5, M, X, set);
                collocation_combine_add(rows, columns, n, 0.5, M, X, added);
                for (int i = 0; i < rows; i++)
                    for (int j = 0; j < n; j++) {
                        double sum = 0.0;
                        for (int k = 0; k < columns; k++) sum += M[i * columns + k] * X[k * n + j];
                        assert_true(fabs(set[i * n + j] - 0.5 * sum) < 1e-14);
                        assert_true(fabs(added[i * n + j] - 5.0 - 0.5 * sum) < 1e-14);
                    }
                for (int k = rows * n; k < ALL + 4; k++)
                    assert_true(set[k] == 5.0 && added[k] == 5.0);
            }
}

int main(int count, char **word)
{
    if (count > 1 && strcmp(word[1], "print") == 0) {
        print_tables();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_definitions),
        cmocka_unit_test(quadrature_order),
        cmocka_unit_test(stage_order),
        cmocka_unit_test(simplifying_condition),
        cmocka_unit_test(inverses),
        cmocka_unit_test(eigenvalues),
        cmocka_unit_test(mean_eigenvalue),
        cmocka_unit_test(two_stages),
        cmocka_unit_test(three_stages),
        cmocka_unit_test(interpolation),
        cmocka_unit_test(choice_by_stages),
        cmocka_unit_test(combinations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
