/* Tables of explicit Runge-Kutta methods against the order conditions of rooted trees [HNW93 II.2],
 * in long double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "method/common/tableau.h"
#include "method/half_explicit/hem_table.h"

enum { MOST_ORDER = 9, MOST_TREES = 700, ALL = TABLEAU_MOST_ALL };

/* A rooted tree [t_1 .. t_m]: order, density gamma, branches by number. */
typedef struct tree {
    int order, branches, branch[MOST_ORDER];
    long double gamma;
} tree;

typedef struct forest {
    int count, first_of_order[MOST_ORDER + 2];
    tree at[MOST_TREES];
} forest;

/* Add all trees with the given branches so far and `rest` more vertices below the root. */
static void grow(forest *f, tree *t, int rest, int most_branch)
{
    if (rest == 0) {
        assert_true(f->count < MOST_TREES);
        t->gamma = t->order;
        for (int i = 0; i < t->branches; i++) t->gamma *= f->at[t->branch[i]].gamma;
        f->at[f->count++] = *t;
        return;
    }
    for (int b = 0; b <= most_branch; b++) {
        if (f->at[b].order > rest) return;
        t->branch[t->branches++] = b;
        grow(f, t, rest - f->at[b].order, b);
        t->branches--;
    }
}

static void grow_forest(forest *f)
{
    f->count = 0;
    for (int order = 1; order <= MOST_ORDER; order++) {
        f->first_of_order[order] = f->count;
        tree t = {.order = order};
        grow(f, &t, order - 1, f->count - 1);
    }
    f->first_of_order[MOST_ORDER + 1] = f->count;
}

/* A method with all its stages as one square matrix. */
typedef struct full_table {
    int all;
    long double a[ALL][ALL];
} full_table;

static full_table complete(const tableau *t)
{
    full_table f = {.all = t->stages + 1 + t->further};
    for (int i = 1; i < t->stages; i++)
        for (int j = 0; j < i; j++) f.a[i][j] = t->a[i * (i - 1) / 2 + j];
    for (int j = 0; j < t->stages; j++) f.a[t->stages][j] = t->b[j];
    const long double *row = t->further_a;
    for (int i = t->stages + 1; i < f.all; row += i, i++)
        for (int j = 0; j < i; j++) f.a[i][j] = row[j];
    return f;
}

/* phi[t][i]: product over branches u of sum_j a_ij phi[u][j] */
static void stage_weights(const forest *f, const full_table *table, long double phi[][ALL])
{
    for (int t = 0; t < f->count; t++)
        for (int i = 0; i < table->all; i++) {
            phi[t][i] = 1;
            for (int b = 0; b < f->at[t].branches; b++) {
                long double sum = 0;
                for (int j = 0; j < i; j++) sum += table->a[i][j] * phi[f->at[t].branch[b]][j];
                phi[t][i] *= sum;
            }
        }
}

/* Largest |sum_i w_i phi_i(t) - theta^order / gamma| over the trees of one order. */
static long double defect(const forest *f, long double phi[][ALL], int all, const long double *w,
                          int order, long double theta)
{
    long double most = 0;
    for (int t = f->first_of_order[order]; t < f->first_of_order[order + 1]; t++) {
        long double sum = -powl(theta, order) / f->at[t].gamma;
        for (int i = 0; i < all; i++) sum += w[i] * phi[t][i];
        most = fmaxl(most, fabsl(sum));
    }
    return most;
}

static const tableau *const all_tables[] = {
    &tableau_euler, &tableau_heun,   &tableau_kutta3, &tableau_rk4,
    &tableau_hem4,  &tableau_dopri5, &tableau_dop853,
};
enum { TABLES = sizeof all_tables / sizeof all_tables[0] };

static forest trees;
static long double phi[MOST_TREES][ALL];

static const long double EXACT = 2e-17L; /* sums of some hundred products of size up to 40 */

/* Exact up to `order`, and not by accident beyond. */
static void check_order(const full_table *table, const long double *w, int order)
{
    for (int q = 1; q <= order; q++) assert_true(defect(&trees, phi, table->all, w, q, 1) < EXACT);
    assert_true(defect(&trees, phi, table->all, w, order + 1, 1) > 1e-7L);
}

static void trees_are_all_there(void **state)
{
    (void)state;
    static const int known[] = {1, 1, 2, 4, 9, 20, 48, 115, 286}; /* [HNW93 Table II.2.1] */
    for (int q = 1; q <= MOST_ORDER; q++)
        assert_int_equal(trees.first_of_order[q + 1] - trees.first_of_order[q], known[q - 1]);
}

static void orders_are_met_exactly(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        const tableau *t = all_tables[k];
        full_table table = complete(t);
        long double w[ALL] = {0};
        stage_weights(&trees, &table, phi);
        for (int i = 0; i < t->stages; i++) w[i] = t->b[i];
        check_order(&table, w, t->order);
    }
}

static void nodes_are_row_sums(void **state)
{
    (void)state;
    for (int k = 0; k < TABLES; k++) {
        const tableau *t = all_tables[k];
        full_table table = complete(t);
        for (int i = 0; i < table.all; i++) {
            long double c = i < t->stages    ? t->c[i]
                            : i == t->stages ? 1
                                             : t->further_c[i - t->stages - 1];
            for (int j = 0; j < i; j++) c -= table.a[i][j];
            assert_true(fabsl(c) < EXACT);
        }
    }
}

/* Embedded solutions: 4 for dopri5; 5 and 3 for dop853. */
static void check_embedded(const tableau *t, const long double *error, int order)
{
    full_table table = complete(t);
    long double w[ALL] = {0};
    stage_weights(&trees, &table, phi);
    for (int i = 0; i <= t->stages; i++) w[i] = (i < t->stages ? t->b[i] : 0) - error[i];
    check_order(&table, w, order);
}

static void embedded_solutions_have_their_orders(void **state)
{
    (void)state;
    check_embedded(&tableau_dopri5, tableau_dopri5.error, 4);
    check_embedded(&tableau_dop853, tableau_dop853.error, 5);
    check_embedded(&tableau_dop853, tableau_dop853.error_low, 3);
}

/* Weights of the continuous extension at theta, from its nested form. */
static void dense_weights(const tableau *t, long double theta, long double *w)
{
    int s = t->stages, all = s + 1 + t->further;
    long double rest = 1 - theta;
    for (int i = 0; i < all; i++) {
        long double b = i < s ? t->b[i] : 0, nested = 0;
        for (int k = t->rows - 1; k >= 0; k--) {
            nested = t->dense[k * all + i] + nested * (k % 2 == 0 ? theta : rest);
        }
        long double r3 = (i == 0) - b, r4 = b - (i == s) - r3;
        w[i] = theta * (b + rest * (r3 + theta * (r4 + rest * nested)));
    }
}

static void check_extension(const tableau *t, int order)
{
    full_table table = complete(t);
    long double w[ALL] = {0};
    stage_weights(&trees, &table, phi);
    for (int part = 0; part <= 8; part++) {
        long double theta = part / 8.0L;
        dense_weights(t, theta, w);
        for (int q = 1; q <= order; q++)
            assert_true(defect(&trees, phi, table.all, w, q, theta) < 1e-16L);
    }
    dense_weights(t, 0.4L, w);
    assert_true(defect(&trees, phi, table.all, w, order + 1, 0.4L) > 1e-7L);
}

static void extensions_have_their_orders(void **state)
{
    (void)state;
    check_extension(&tableau_dopri5, 4);
    check_extension(&tableau_dop853, 7);
}

/* Index-2 conditions that HEM4 was made for: C(2) from the third stage on, D(1), and the fifth
 * order quadrature condition [BH93 section 4]. */
static void hem4_meets_its_simplifying_assumptions(void **state)
{
    (void)state;
    const tableau *t = &tableau_hem4;
    full_table f = complete(t);
    long double fifth = 0;
    for (int i = 2; i < 5; i++) {
        long double sum = 0;
        for (int j = 0; j < i; j++) sum += f.a[i][j] * t->c[j];
        assert_true(fabsl(sum - t->c[i] * t->c[i] / 2) < EXACT);
    }
    for (int j = 0; j < 5; j++) {
        long double sum = 0;
        for (int i = j + 1; i < 5; i++) sum += t->b[i] * f.a[i][j];
        assert_true(fabsl(sum - t->b[j] * (1 - t->c[j])) < EXACT);
        fifth += t->b[j] * powl(t->c[j], 4);
    }
    assert_true(fabsl(fifth - 0.2L) < EXACT);
}

static void rounding_keeps_the_layout(void **state)
{
    (void)state;
    rounded_tableau r;
    tableau_round(&tableau_dop853, &r);
    assert_true(r.a[8][3] == -3.36089262944694129406857109825);
    assert_true(r.a[12][11] == r.b[11] && r.c[12] == 1.0);
    assert_true(r.a[15][14] == -9.15095847217987001081870187138 && r.c[15] == 7.0 / 9.0);
    assert_true(r.dense[3][15] == -149.72683625798562581422125276);
}

/* R(z) of x' = lambda x, z = h lambda: row s of a is b */
static double growth(int stages, const double *a, int width, double z)
{
    double k[TABLEAU_MOST_ALL], x = 1.0;
    for (int i = 0; i <= stages; i++) {
        x = 1.0;
        for (int j = 0; j < i; j++) x += a[i * width + j] * k[j];
        if (i < stages) k[i] = z * x;
    }
    return x;
}

static void check_boundary(int stages, const double *a, int width, double stable)
{
    for (double part = 0.01; part < 0.9995; part += 0.01)
        assert_true(fabs(growth(stages, a, width, -part * stable)) <= 1.0);
    assert_true(fabs(growth(stages, a, width, -1.001 * stable)) > 1.0);
}

/* The boundaries of stability on the negative axis */
static void boundaries_of_stability(void **state)
{
    (void)state;
    static const tableau *const tables[] = {&tableau_euler, &tableau_heun, &tableau_kutta3,
                                            &tableau_rk4,   &tableau_hem4, &tableau_dopri5,
                                            &tableau_dop853};
    static const hem_table *const half[] = {&hem3_table, &hem4_table, &hem5_table, &phem5_table};
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++) {
        rounded_tableau r;
        tableau_round(tables[k], &r);
        check_boundary(r.stages, &r.a[0][0], TABLEAU_MOST_ALL, r.stable);
    }
    for (size_t k = 0; k < sizeof half / sizeof *half; k++) {
        const hem_table *t = half[k];
        double a[HEM_STAGES][HEM_STAGES] = {{0}};
        for (int i = 0; i < t->stages; i++) memcpy(a[i], t->a[i], sizeof a[i]);
        memcpy(a[t->stages], t->a_bar[t->stages - 1], sizeof a[0]);
        check_boundary(t->stages, &a[0][0], HEM_STAGES, t->stable);
    }
}

int main(void)
{
    grow_forest(&trees);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_all_there),
        cmocka_unit_test(orders_are_met_exactly),
        cmocka_unit_test(nodes_are_row_sums),
        cmocka_unit_test(embedded_solutions_have_their_orders),
        cmocka_unit_test(extensions_have_their_orders),
        cmocka_unit_test(hem4_meets_its_simplifying_assumptions),
        cmocka_unit_test(rounding_keeps_the_layout),
        cmocka_unit_test(boundaries_of_stability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
