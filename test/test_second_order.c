/* The second order form behind kinematic rows, and its matrices A(a1, a2). For a linear F without
 * right-hand side, A(a1, a2) x is F(t, y, y') with x' = a1 x and x'' = a2 x: the reference needs no
 * matrix. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "matrix/second_order.h"

/* A chain of `bodies` masses with springs and dampers, one multiplier that ties the first to the
 * wall's motion, one first order unknown r. Unknowns y: for every body (v_i, q_i), then lambda, r.
 * Row 2i is kinematic with factor -2, row 2i+1 is dynamic. */
enum { MOST_BODIES = 60, MOST = 2 * MOST_BODIES + 2 };

static double coupling(int i, int j)
{
    return i == j ? 2.0 + 0.1 * i : abs(i - j) == 1 ? -0.7 : 0.0;
}

static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    int bodies = *(const int *)user, lambda = 2 * bodies, r = lambda + 1;
    (void)t;
    for (int i = 0; i < bodies; i++) {
        f[2 * i] = -2.0 * (yp[2 * i + 1] - y[2 * i]);
        double sum = 0.3 * (i + 1) * y[2 * i]; /* damping by v, and a bit by q' */
        for (int j = i > 0 ? i - 1 : 0; j <= i + 1 && j < bodies; j++)
            sum += (j == i ? 3.0 : 0.5) * yp[2 * j] + coupling(i, j) * y[2 * j + 1];
        sum += 0.2 * yp[2 * i + 1];
        f[2 * i + 1] = sum;
    }
    f[1] += y[lambda];
    f[2 * bodies - 1] += 0.4 * y[r];
    f[lambda] = y[1] - 0.5 * y[3];
    f[r] = yp[r] + 2.0 * y[r] - y[2 * bodies - 2];
    return 0;
}

typedef struct bench_top {
    int bodies;
    dae_problem *problem;
    dae_stats stats;
    evaluator eval;
    iteration matrix;
    second_order form;
    second_matrix *second;
} bench_top;

static void set_up(bench_top *b, int bodies, dae_linear_solver solver, int n_complex)
{
    *b = (bench_top){.bodies = bodies};
    int n = 2 * bodies + 2;
    dae_residual form = {.n = n, .f = chain, .user = &b->bodies};
    if (solver == DAE_LINEAR_BANDED) {
        form.structure = DAE_STRUCTURE_BANDED;
        form.lower = form.upper = n - 1;
    }
    assert_int_equal(dae_problem_from_residual(&form, &b->problem, NULL), DAE_OK);
    b->eval = (evaluator){.problem = b->problem, .stats = &b->stats};
    dae_options options = dae_options_default();
    options.linear_solver = solver;
    assert_int_equal(iteration_new(&b->matrix, &b->eval, &options, NULL), DAE_OK);
    kinematic_row rows[MOST_BODIES];
    for (int i = 0; i < bodies; i++) rows[i] = (kinematic_row){2 * i, 2 * i + 1, 2 * i};
    assert_true(second_order_new(&b->form, n, bodies, rows));
    b->second = second_matrix_new(&b->form, &b->matrix, n_complex);
    assert_non_null(b->second);
}

static void tear_down(bench_top *b)
{
    second_matrix_free(b->second);
    second_order_free(&b->form);
    iteration_free(&b->matrix);
    dae_problem_free(b->problem);
}

/* r = A x of the reference, with x' and x'' given beside x */
static void apply(bench_top *b, const double *x, const double *xp, const double *xpp, double *r)
{
    double y[MOST], yp[MOST], f[MOST];
    second_order_spread(&b->form, x, xp, xpp, y, yp);
    chain(0.0, y, yp, f, &b->bodies);
    for (int i = 0; i < b->form.n; i++) r[i] = f[b->form.row[i]];
    for (int i = 0; i < b->bodies; i++) assert_true(f[2 * i] == 0.0); /* kinematic rows hold */
}

static void evaluate(bench_top *b, double h)
{
    double y[MOST] = {0}, yp[MOST] = {0}, weights[MOST];
    for (int i = 0; i < MOST; i++) weights[i] = 1.0;
    for (int i = 0; i < 2 * b->bodies + 2; i++) y[i] = sin(i), yp[i] = cos(i);
    assert_int_equal(second_matrix_evaluate(b->second, 0.0, y, yp, h, weights, NULL), ITERATION_OK);
}

static double largest_gap(int n, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* A^-1 A x = x, and the products, for one shift */
static void check_real(bench_top *b, double a1, double a2)
{
    int n = b->form.n;
    double x[MOST] = {0}, xp[MOST] = {0}, xpp[MOST] = {0}, r[MOST], product[MOST];
    for (int i = 0; i < n; i++) {
        x[i] = sin(3.0 * i + a1);
        xp[i] = a1 * x[i];
        xpp[i] = a2 * x[i];
    }
    apply(b, x, xp, xpp, r);
    second_matrix_multiply(b->second, 1.0, a1, a2, x, product);
    assert_true(largest_gap(n, r, product) < 1e-6 * a2);
    assert_int_equal(second_matrix_factor(b->second, a1, a2), ITERATION_OK);
    second_matrix_solve(b->second, r);
    /* multipliers carry the size of the dynamic rows, and differences of F give 8 digits */
    int lambda = b->bodies;
    assert_true(fabs(r[lambda] - x[lambda]) < 1e-5 * a2);
    r[lambda] = x[lambda];
    assert_true(largest_gap(n, r, x) < 1e-5);
}

static void check_complex(bench_top *b, int k, double a1_re, double a1_im, double a2_re,
                          double a2_im)
{
    int n = b->form.n;
    double x[2][MOST], xp[2][MOST], xpp[2][MOST], r[2][MOST];
    for (int i = 0; i < n; i++) {
        double re = x[0][i] = cos(2.0 * i), im = x[1][i] = sin(1.0 + i);
        xp[0][i] = a1_re * re - a1_im * im;
        xp[1][i] = a1_re * im + a1_im * re;
        xpp[0][i] = a2_re * re - a2_im * im;
        xpp[1][i] = a2_re * im + a2_im * re;
    }
    apply(b, x[0], xp[0], xpp[0], r[0]);
    apply(b, x[1], xp[1], xpp[1], r[1]);
    assert_int_equal(second_matrix_factor_complex(b->second, k, a1_re, a1_im, a2_re, a2_im),
                     ITERATION_OK);
    second_matrix_solve_complex(b->second, k, r[0], r[1]);
    for (int part = 0; part < 2; part++) {
        r[part][b->bodies] = x[part][b->bodies];
        assert_true(largest_gap(n, r[part], x[part]) < 1e-5);
    }
}

static void test_matrices_of_every_layout(void **state)
{
    (void)state;
    static const dae_linear_solver solvers[] = {DAE_LINEAR_AUTO, DAE_LINEAR_DENSE,
                                                DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    static const int sizes[] = {2, 5, 29, 60};
    for (int k = 0; k < 4; k++)
        for (int m = 0; m < 4; m++) {
            bench_top b;
            set_up(&b, sizes[m], solvers[k], 2);
            for (double h = 1.0; h > 1e-3; h *= 0.125) {
                evaluate(&b, h);
                check_real(&b, 1.0 / h, 1.0 / (h * h));
                check_real(&b, 1.5 / h, 1.0 / (h * h)); /* factors for another shift */
                check_complex(&b, 0, 2.0 / h, 1.0 / h, 3.0 / (h * h), 4.0 / (h * h));
                check_complex(&b, 1, 1.0 / h, -2.0 / h, -3.0 / (h * h), 4.0 / (h * h));
            }
            assert_int_equal(b.form.n, sizes[m] + 2);
            tear_down(&b);
        }
}

/* x = y if there are no kinematic rows: A(a1, .) is dF/dy + a1 dF/dy'. */
static void test_no_kinematic_rows(void **state)
{
    (void)state;
    second_order s;
    assert_true(second_order_new(&s, 3, 0, NULL));
    double y[3] = {1, 2, 3}, yp[3] = {4, 5, 6}, x[3], xp[3], back[3], back_p[3];
    second_order_gather(&s, y, yp, x, xp);
    second_order_spread(&s, x, xp, NULL, back, back_p);
    for (int i = 0; i < 3; i++) {
        assert_true(x[i] == y[i] && xp[i] == yp[i] && back[i] == y[i] && back_p[i] == yp[i]);
        assert_int_equal(s.velocity[i], -1);
    }
    second_order_free(&s);
}

/* x = (q, lambda, r), x' = (v, lambda', r') out of y = (v, q, v2, q2, lambda, r) */
static void test_gather_and_spread(void **state)
{
    (void)state;
    bench_top b;
    set_up(&b, 2, DAE_LINEAR_AUTO, 0);
    double y[6] = {0, 1, 2, 3, 4, 5}, yp[6] = {10, 11, 12, 13, 14, 15}, x[4], xp[4];
    second_order_gather(&b.form, y, yp, x, xp);
    static const double want[4] = {1, 3, 4, 5}, want_p[4] = {0, 2, 14, 15};
    for (int i = 0; i < 4; i++) assert_true(x[i] == want[i] && xp[i] == want_p[i]);
    double xpp[4] = {20, 21, 22, 23}, back[6], back_p[6];
    second_order_spread(&b.form, x, xp, xpp, back, back_p);
    static const double accelerations[6] = {20, 0, 21, 2, 14, 15};
    for (int i = 0; i < 6; i++) assert_true(back[i] == y[i] && back_p[i] == accelerations[i]);
    tear_down(&b);
}

/* The matrix with equal columns names an unknown. */
static int dependent(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] + y[2] + y[3];
    f[2] = y[0];
    f[3] = y[2] + y[3];
    return 0;
}

static void test_singular_names_the_unknown(void **state)
{
    (void)state;
    dae_problem *p;
    dae_residual form = {.n = 4, .f = dependent};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    dae_stats stats = {0};
    evaluator eval = {.problem = p, .stats = &stats};
    dae_options options = dae_options_default();
    iteration matrix;
    assert_int_equal(iteration_new(&matrix, &eval, &options, NULL), DAE_OK);
    second_order s;
    assert_true(second_order_new(&s, 4, 1, &(kinematic_row){0, 0, 1}));
    second_matrix *m = second_matrix_new(&s, &matrix, 0);
    double y[4] = {0}, yp[4] = {0}, weights[4] = {1, 1, 1, 1};
    assert_int_equal(second_matrix_factor(m, 1.0, 1.0), ITERATION_RETRY); /* nothing there yet */
    assert_int_equal(second_matrix_evaluate(m, 0.0, y, yp, 0.1, weights, NULL), ITERATION_OK);
    assert_int_equal(second_matrix_factor(m, 10.0, 100.0), ITERATION_SINGULAR);
    assert_true(second_matrix_singular(m) == 2 || second_matrix_singular(m) == 3);
    second_matrix_free(m);
    second_order_free(&s);
    iteration_free(&matrix);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices_of_every_layout),
        cmocka_unit_test(test_no_kinematic_rows),
        cmocka_unit_test(test_gather_and_spread),
        cmocka_unit_test(test_singular_names_the_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
