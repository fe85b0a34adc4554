/* Equations of third and higher order by callbacks, and BDF for them as they stand [Wun05 3.3]:
 * orders on closed forms with constant and random steps, the modified Euler method (3.18) to the
 * letter, descriptions, refusals. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"

enum { MOST_N = 9, MOST_STEPS = 800, SEEDS = 5 };

/* ---- problems with closed forms ---- */

typedef struct high_problem {
    const char *name;
    int n, order, unknowns; /* of x; of y */
    const int *orders;
    dae_higher_order_fn f;
    dae_higher_order_jacobian_fn jacobian;
    const dae_kind *kinds;
    void (*exact)(double t, double *y, double *yp);
    int multiplier; /* in y; -1: none */
} high_problem;

/* x''' + x'' x + x' = .., x = sin t */
static int third(double t, const double *const *x, double *f, void *user)
{
    (void)user;
    f[0] = x[3][0] + x[2][0] * x[0][0] + x[1][0] + sin(t) * sin(t);
    return 0;
}

static int third_jacobian(double t, const double *const *x, double *const *f_x, void *user)
{
    (void)t, (void)user;
    f_x[0][0] = x[2][0];
    f_x[1][0] = 1.0;
    f_x[2][0] = x[0][0];
    f_x[3][0] = 1.0;
    return 0;
}

static void third_exact(double t, double *y, double *yp)
{
    y[0] = sin(t), y[1] = cos(t), y[2] = -sin(t);
    yp[0] = y[1], yp[1] = y[2], yp[2] = -cos(t);
}

static double multiplier(double t)
{
    return cos(2.0 * t) + 2.0;
}

/* y''' = (-y2, y1) + (lambda - c(t)) y, 0 = |y|^2 - 1: y = (sin t, cos t), lambda = c: (3.14) with
 * d = 3 and index 4 */
static int circle(double t, const double *const *x, double *f, void *user)
{
    double push = x[0][2] - multiplier(t);
    (void)user;
    f[0] = x[3][0] + x[0][1] - push * x[0][0];
    f[1] = x[3][1] - x[0][0] - push * x[0][1];
    f[2] = x[0][0] * x[0][0] + x[0][1] * x[0][1] - 1.0;
    return 0;
}

static void circle_exact(double t, double *y, double *yp)
{
    const double s = sin(t), c = cos(t);
    const double values[7] = {s, c, multiplier(t), c, -s, -s, -c};
    const double slopes[7] = {c, -s, -2.0 * sin(2.0 * t), -s, -c, -c, s};
    memcpy(y, values, sizeof values);
    memcpy(yp, slopes, sizeof slopes);
}

/* Orders 4, 2 and 1 together: x1'''' = x1 + x2 - x3^2, x2'' = -x2 x3', x3' = cos t:
 * x1 = e^-t + .., made up for x = (cos t, sin t + 2, sin t) */
static int mixed(double t, const double *const *x, double *f, void *user)
{
    (void)user;
    f[0] = x[4][0] - x[0][0] - x[0][1] + x[0][2] * x[0][2] + sin(t) + 2.0 - sin(t) * sin(t);
    f[1] = x[2][1] + x[0][1] * x[1][2] + sin(t) - (sin(t) + 2.0) * cos(t);
    f[2] = x[1][2] - cos(t) + x[1][0] + sin(t);
    return 0;
}

static void mixed_exact(double t, double *y, double *yp)
{
    const double s = sin(t), c = cos(t);
    const double values[7] = {c, s + 2.0, s, -s, c, -c, s};
    const double slopes[7] = {-s, c, c, -c, -s, s, c};
    memcpy(y, values, sizeof values);
    memcpy(yp, slopes, sizeof slopes);
}

static const dae_kind circle_kinds[9] = {
    DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX3, DAE_KIND_INDEX2,
    DAE_KIND_INDEX2,       DAE_KIND_AUTO,         DAE_KIND_INDEX2, DAE_KIND_INDEX2};
static const int circle_orders[] = {3, 3, 0}, mixed_orders[] = {4, 2, 1};

static const high_problem problems[] = {
    {"third order", 1, 3, 3, NULL, third, third_jacobian, NULL, third_exact, -1},
    {"circle, index 4", 3, 3, 7, circle_orders, circle, NULL, circle_kinds, circle_exact, 2},
    {"orders 4, 2, 1", 3, 4, 7, mixed_orders, mixed, NULL, NULL, mixed_exact, -1},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static dae_problem *problem_of(const high_problem *p)
{
    const dae_higher_order form = {.n = p->n,
                                   .order = p->order,
                                   .f = p->f,
                                   .orders = p->orders,
                                   .jacobian = p->jacobian,
                                   .kinds = p->kinds};
    dae_problem *problem;
    dae_diag diag;
    if (dae_problem_from_higher_order(&form, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_problem_size(problem), p->unknowns);
    return problem;
}

/* ---- orders ---- */

typedef enum grid_shape { EQUAL, SMOOTH, RANDOM } grid_shape;

/* Points of [0, 1]: equal steps, steps whose ratio is 1 + O(h), or points moved by up to a fifth of
 * a step */
static void make_grid(grid_shape shape, int steps, unsigned long seed, double *grid)
{
    const double turn = 6.283185307179586;
    for (int i = 0; i <= steps; i++) {
        double s = (double)i / steps;
        grid[i] = s;
        if (shape == SMOOTH) grid[i] += 0.5 * sin(turn * s) / turn;
        if (shape == RANDOM && i > 0 && i < steps) grid[i] += 0.4 * (uniform(&seed) - 0.5) / steps;
    }
}

static dae_solver *solver_of(const dae_problem *problem, const dae_options *o)
{
    dae_solver *s;
    dae_diag diag;
    if (dae_solver_new(problem, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return s;
}

/* Largest errors over the second half of [0, 1], of x and its derivatives and of the multiplier,
 * with order k from k + 1 exact values */
static void errors_of(const high_problem *p, const char *method, int k, int steps, grid_shape shape,
                      unsigned long seed, double error[2])
{
    static double grid[MOST_STEPS + 1];
    double past_t[6], past_y[6 * MOST_N], yp[MOST_N], y[MOST_N], exact[MOST_N];
    dae_problem *problem = problem_of(p);
    dae_options o = dae_options_default();
    make_grid(shape, steps, seed, grid);
    for (int i = 0; i <= k; i++) {
        past_t[i] = grid[k - i];
        p->exact(past_t[i], past_y + i * p->unknowns, i == 0 ? yp : exact);
    }
    o.method = method;
    o.min_order = o.max_order = k;
    o.rtol = o.atol = 1e-12;
    o.newton_iterations = 10;
    o.step_sequence = grid + k;
    o.step_count = steps - k + 1;
    dae_solver *s = solver_of(problem, &o);
    assert_int_equal(dae_solver_start_history(s, k + 1, past_t, past_y, yp), DAE_OK);
    error[0] = error[1] = 0.0;
    for (int i = k + 1; i <= steps; i++) {
        dae_status status = dae_solver_run(s, grid[i], y, NULL);
        if (status != DAE_OK) fail_msg("%s: %s", p->name, dae_solver_diag(s)->text);
        p->exact(grid[i], exact, yp);
        for (int j = 0; 2 * i >= steps && j < p->unknowns; j++) {
            double *e = &error[j == p->multiplier];
            *e = fmax(*e, fabs(y[j] - exact[j]));
        }
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Steps on the coarser grid: errors are asymptotic, and above rounding, which is u/h^3 in third
 * derivatives and the multiplier. */
static int coarse_steps(grid_shape shape, int k)
{
    static const int steps[] = {0, 160, 80, 40, 32};
    return shape == SMOOTH && k == 3 ? 80 : steps[k];
}

/* Observed orders, of x with its derivatives and of the multiplier */
static void observe(const high_problem *p, const char *method, int k, grid_shape shape,
                    unsigned long seed, double order[2])
{
    double coarse[2], fine[2];
    int steps = coarse_steps(shape, k);
    errors_of(p, method, k, steps, shape, seed, coarse);
    errors_of(p, method, k, 2 * steps, shape, seed + 100, fine);
    for (int i = 0; i < 2; i++) order[i] = log2(coarse[i] / fine[i]);
}

/* At least k; on the circle x may do better than its multiplier, which has no more than that. */
static void check_orders(const high_problem *p, const char *method, int k, const double order[2])
{
    bool exact = p->multiplier < 0;
    if (!(order[0] >= k - 0.4) || (exact && !(order[0] <= k + 0.4)))
        fail_msg("%s, %s, order %d: observed %.3f", p->name, method, k, order[0]);
    if (!exact && !(fabs(order[1] - k) <= 0.4))
        fail_msg("%s, %s, order %d, multiplier: observed %.3f", p->name, method, k, order[1]);
}

static void equal_steps(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++)
        for (int k = 1; k <= 4; k++) {
            double order[2];
            observe(&problems[i], "bdfhigh", k, EQUAL, 1, order);
            check_orders(&problems[i], "bdfhigh", k, order);
            observe(&problems[i], "bdfhigh:modified", k, EQUAL, 1, order);
            check_orders(&problems[i], "bdfhigh:modified", k, order);
        }
}

static void smooth_steps(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++)
        for (int k = 1; k <= 3; k++) {
            double order[2];
            observe(&problems[i], "bdfhigh", k, SMOOTH, 1, order);
            check_orders(&problems[i], "bdfhigh", k, order);
            if (k > 2) continue; /* see RANDOM */
            observe(&problems[i], "bdfhigh:modified", k, SMOOTH, 1, order);
            check_orders(&problems[i], "bdfhigh:modified", k, order);
        }
}

/* The median of five grids. Modified formulas of order 2 and more have singular histories among
 * them (docs/methods/bdf2nd.md); that of order 1 has none (Theorem 3.3.3). */
static void random_steps(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++)
        for (int k = 1; k <= 4; k++)
            for (int m = 0; m < (k == 1 ? 2 : 1); m++) {
                const char *method = m == 0 ? "bdfhigh" : "bdfhigh:modified";
                double orders[2][SEEDS], median[2];
                for (int seed = 0; seed < SEEDS; seed++) {
                    double order[2];
                    observe(&problems[i], method, k, RANDOM, (unsigned long)seed + 7, order);
                    orders[0][seed] = order[0];
                    orders[1][seed] = order[1];
                }
                for (int part = 0; part < 2; part++) {
                    qsort(orders[part], SEEDS, sizeof(double), compare);
                    median[part] = orders[part][SEEDS / 2];
                }
                check_orders(&problems[i], method, k, median);
            }
}

/* ---- (3.18) to the letter ---- */

static int pushed(double t, const double *const *x, double *f, void *user)
{
    (void)user;
    f[0] = x[3][0] - exp(t);
    return 0;
}

static const double odd[] = {0.1, 0.15, 0.4, 0.41, 0.7, 0.75};
enum { ODD = sizeof odd / sizeof *odd };

static double node(int n) /* t_n, and t_0 = 0 before */
{
    return n > 0 ? odd[n - 1] : 0.0;
}

/* x''' = e^t from (0.3, -0.2, 0.7) along these steps, with order 1 */
static dae_solver *euler(const char *method, dae_problem **p)
{
    const dae_higher_order form = {.n = 1, .order = 3, .f = pushed};
    const double start[3] = {0.3, -0.2, 0.7}, slope[3] = {-0.2, 0.7, 1.0};
    dae_options o = dae_options_default();
    o.method = method;
    o.max_order = 1;
    o.rtol = o.atol = 1e-13;
    o.step_sequence = odd;
    o.step_count = ODD;
    assert_int_equal(dae_problem_from_higher_order(&form, p, NULL), DAE_OK);
    dae_solver *s = solver_of(*p, &o);
    assert_int_equal(dae_solver_start(s, 0.0, start, slope), DAE_OK);
    return s;
}

/* y_j,n - y_j,n-1 = (t_n - t_{n-1-j})/(j + 1) y_{j+1},n, j = 0, 1, 2, with y_3,n = e^t_n */
static void modified_euler_is_3_18(void **state)
{
    (void)state;
    double y[3] = {0.3, -0.2, 0.7}, found[3];
    dae_problem *p;
    dae_solver *s = euler("bdfhigh:modified", &p);
    for (int n = 1; n <= ODD; n++) {
        double next = exp(node(n));
        for (int j = 2; j >= 0; j--) next = y[j] += (node(n) - node(n - 1 - j)) / (j + 1) * next;
        assert_int_equal(dae_solver_run(s, node(n), found, NULL), DAE_OK);
        for (int j = 0; j < 3; j++) assert_true(fabs(found[j] - y[j]) < 1e-11);
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* The direct formula of order 1 has the same third difference, 3! x[t_n, .., t_{n-3}]: the same x
 * where no other derivative appears. */
static void direct_euler_has_the_same_difference(void **state)
{
    (void)state;
    double found[2][3];
    for (int m = 0; m < 2; m++) {
        dae_problem *p;
        dae_solver *s = euler(m == 0 ? "bdfhigh" : "bdfhigh:modified", &p);
        assert_int_equal(dae_solver_run(s, node(ODD), found[m], NULL), DAE_OK);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    assert_true(fabs(found[0][0] - found[1][0]) < 1e-11);
}

/* ---- the error estimate ---- */

/* x''' = (t^p)''' */
static int power(double t, const double *const *x, double *f, void *user)
{
    int p = *(const int *)user;
    f[0] = x[3][0] - p * (p - 1) * (p - 2) * pow(t, p - 3);
    return 0;
}

/* One step at order k from exact values of t^(k+3), the first power that the formula does not meet:
 * the estimate of x'' is h times what the third derivative of the polynomial through exact values
 * misses.
 */
static void the_estimate_is_the_local_error(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        const int p = k + 3;
        const double h = 0.1, t = 1.0 + h * (k + 1);
        double past_t[6], past_y[18], yp[3], node[9], weight[9], error[3], y[3], defect = 0.0;
        const dae_higher_order form = {.n = 1, .order = 3, .f = power, .user = (void *)&p};
        dae_problem *problem;
        dae_options o = dae_options_default();
        for (int i = 0; i <= k; i++) {
            double s = past_t[i] = t - (i + 1) * h, *at = past_y + 3 * i;
            at[0] = pow(s, p), at[1] = p * pow(s, p - 1), at[2] = p * (p - 1) * pow(s, p - 2);
            if (i == 0) yp[0] = at[1], yp[1] = at[2], yp[2] = p * (p - 1) * (p - 2) * pow(s, p - 3);
        }
        o.method = "bdfhigh";
        o.min_order = o.max_order = k;
        o.rtol = o.atol = 1e-10;
        o.fixed_step = h;
        assert_int_equal(dae_problem_from_higher_order(&form, &problem, NULL), DAE_OK);
        dae_solver *s = solver_of(problem, &o);
        assert_int_equal(dae_solver_start_history(s, k + 1, past_t, past_y, yp), DAE_OK);
        assert_int_equal(dae_solver_step(s, t + 1.0), DAE_STEPPED);
        assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
        assert_int_equal(dae_solver_local_errors(s, error), DAE_OK);
        /* K + 1 = k + 3 nodes; those behind the history coincide with its oldest: x, x', x'' there
         */
        for (int i = 0; i <= k + 1; i++) node[i] = t - i * h;
        double gap = 1e-4; /* in place of coinciding nodes: two more near by */
        node[k + 2] = node[k + 1] - gap;
        assert_int_equal(dae_bdf_weights(3, k + 3, node, weight, NULL), DAE_OK);
        for (int i = 0; i < k + 3; i++) defect += weight[i] * pow(node[i], p);
        defect -= p * (p - 1) * (p - 2) * pow(t, p - 3);
        if (!(fabs(fabs(error[2]) / (h * fabs(defect)) - 1.0) < 0.01))
            fail_msg("order %d: %g, not %g", k, error[2], h * defect);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

/* ---- runs with error control, from a start ---- */

static void tolerances_are_met(void **state)
{
    (void)state;
    for (int i = 0; i < PROBLEMS; i++)
        for (double rtol = 1e-3; rtol > 1e-7; rtol *= 0.1) {
            const high_problem *p = &problems[i];
            double y[MOST_N], yp[MOST_N], exact[MOST_N], worst = 0.0;
            dae_problem *problem = problem_of(p);
            dae_options o = dae_options_default();
            o.method = "bdfhigh";
            o.rtol = o.atol = rtol;
            dae_solver *s = solver_of(problem, &o);
            p->exact(0.0, y, yp);
            dae_status status = dae_solver_start(s, 0.0, y, yp);
            if (status == DAE_OK) status = dae_solver_run(s, 3.0, y, yp);
            if (status != DAE_OK) fail_msg("%s: %s", p->name, dae_solver_diag(s)->text);
            p->exact(3.0, exact, yp);
            for (int j = 0; j < p->unknowns; j++)
                if (j != p->multiplier) worst = fmax(worst, fabs(y[j] - exact[j]) / rtol);
            if (!(worst < 100.0)) fail_msg("%s, %g: %.1f tolerances", p->name, rtol, worst);
            dae_solver_free(s);
            dae_problem_free(problem);
        }
}

/* ---- descriptions ---- */

/* Rows and columns of the circle: dF/dx^(j), j = 0 .. 3, on one pattern with 7 entries */
static const int circle_colptr[] = {0, 3, 6, 8}, circle_rowind[] = {0, 1, 2, 0, 1, 2, 0, 1};

static int circle_jacobian(double t, const double *const *x, double *const *f_x, void *user)
{
    double push = x[0][2] - multiplier(t);
    const double values[8] = {-push, -1.0,          2.0 * x[0][0], 1.0,
                              -push, 2.0 * x[0][1], -x[0][0],      -x[0][1]};
    (void)user;
    memcpy(f_x[0], values, sizeof values);
    f_x[3][0] = f_x[3][4] = 1.0;
    return 0;
}

/* Sparse derivatives of the user serve as well as differences. */
static void derivatives_of_the_user(void **state)
{
    (void)state;
    dae_higher_order form = {
        .n = 3, .order = 3, .f = circle, .orders = circle_orders, .kinds = circle_kinds};
    double y[2][7], yp[7];
    for (int k = 0; k < 2; k++) {
        dae_problem *p;
        dae_options o = dae_options_default();
        o.method = "bdfhigh";
        o.rtol = o.atol = 1e-6;
        o.linear_solver = k == 0 ? DAE_LINEAR_AUTO : DAE_LINEAR_SPARSE;
        form.jacobian = k == 0 ? NULL : circle_jacobian;
        form.pattern = (dae_pattern){k == 0 ? NULL : circle_colptr, k == 0 ? NULL : circle_rowind};
        assert_int_equal(dae_problem_from_higher_order(&form, &p, NULL), DAE_OK);
        dae_solver *s = solver_of(p, &o);
        circle_exact(0.0, y[k], yp);
        assert_int_equal(dae_solver_start(s, 0.0, y[k], yp), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, y[k], NULL), DAE_OK);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    double exact[7];
    circle_exact(1.0, exact, yp);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 7; i++)
            assert_true(fabs(y[k][i] - exact[i]) < (i == 2 ? 1e-3 : 1e-4)); /* 100 tolerances */
}

/* Other methods get a residual problem with named derivatives. */
static void first_order_methods_run_it(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&problems[2]);
    dae_options o = dae_options_default();
    double y[7], yp[7], exact[7];
    static const char *const names[] = {
        "x[0]", "x[1]", "x[2]", "der(x[0])", "der(x[1])", "der(der(x[0]))", "der(der(der(x[0])))"};
    for (int i = 0; i < 7; i++) assert_string_equal(dae_problem_unknown_name(p, i), names[i]);
    o.method = "radau";
    o.rtol = o.atol = 1e-8;
    dae_solver *s = solver_of(p, &o);
    mixed_exact(0.0, y, yp);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
    mixed_exact(1.0, exact, yp);
    for (int i = 0; i < 7; i++) assert_true(fabs(y[i] - exact[i]) < 1e-6);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Values between steps, and slopes, have the order of the method: a step of 0.1 in the middle */
static void values_between_steps(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&problems[0]);
    dae_options o = dae_options_default();
    double y[3], yp[3], exact[3], slope[3];
    o.method = "bdfhigh";
    o.rtol = o.atol = 1e-7;
    dae_solver *s = solver_of(p, &o);
    third_exact(0.0, y, yp);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    for (double t = 0.05; t < 2.0; t += 0.05) {
        assert_int_equal(dae_solver_run(s, t, y, yp), DAE_OK);
        third_exact(t, exact, slope);
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(y[i] - exact[i]) < 1e-5);
            assert_true(fabs(yp[i] - slope[i]) < 1e-3);
        }
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

static void refused_form(dae_higher_order form, const char *words)
{
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_higher_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, words)) fail_msg("no '%s' in: %s", words, diag.text);
    assert_null(p);
}

static void bad_descriptions(void **state)
{
    (void)state;
    static const int far[] = {4}, negative[] = {-1};
    const dae_higher_order good = {.n = 1, .order = 3, .f = third};
    dae_higher_order form = good;
    form.order = 7;
    refused_form(form, "order = 7: it must be 1 to 6");
    form.order = 0;
    refused_form(form, "order = 0");
    form = good;
    form.f = NULL;
    refused_form(form, "f is NULL");
    form = good;
    form.orders = far;
    refused_form(form, "orders[0] = 4: it must be 0 to order = 3");
    form.orders = negative;
    refused_form(form, "orders[0] = -1");
    form = good;
    form.n = 0;
    refused_form(form, "n = 0");
}

/* The status of a start and one step by a method, and its words */
static void refused_run(dae_higher_order form, const char *method, const char *words)
{
    dae_problem *p;
    dae_solver *s;
    dae_diag diag;
    dae_options o = dae_options_default();
    const double y0[MOST_N] = {0.0, 1.0};
    double y[MOST_N];
    o.method = method;
    o.fixed_step = 0.01;
    assert_int_equal(dae_problem_from_higher_order(&form, &p, NULL), DAE_OK);
    dae_status status = dae_solver_new(p, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.1, y, NULL);
    const char *text = s ? dae_solver_diag(s)->text : diag.text;
    assert_true(status < 0);
    if (!strstr(text, words)) fail_msg("no '%s' in: %s", words, text);
    dae_solver_free(s);
    dae_problem_free(p);
}

static int fifth(double t, const double *const *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[5][0] + x[0][0];
    return 0;
}

static int second(double t, const double *const *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[2][0] + x[0][0];
    return 0;
}

static void bad_runs(void **state)
{
    (void)state;
    static const int low[] = {2};
    refused_run((dae_higher_order){.n = 1, .order = 3, .f = third, .orders = low}, "bdf",
                "orders[0] is 2, but F depends on a higher derivative of x[0]");
    refused_run((dae_higher_order){.n = 1, .order = 2, .f = second}, "bdfhigh",
                "is for equations of order 3 and higher");
    refused_run((dae_higher_order){.n = 1, .order = 5, .f = fifth}, "bdfhigh:modified",
                "its variant modified up to order 4");
}

/* ---- texts ---- */

static void texts_have_chains(void **state)
{
    (void)state;
    static const char text[] = "model Jerk\n"
                               "  Real x(start = 0, fixed = true), v(start = 1, fixed = true);\n"
                               "  Real a(start = 0, fixed = true);\n"
                               "equation\n"
                               "  v = der(x);\n"
                               "  a = der(v);\n"
                               "  der(der(der(x))) + a*x + v + sin(time)^2 = 0;\n"
                               "end Jerk;\n";
    dae_problem *p;
    dae_diag diag;
    dae_options o = dae_options_default();
    if (dae_problem_from_model(&(dae_model){.text = text}, &p, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    o.method = "bdfhigh";
    o.rtol = o.atol = 1e-7;
    dae_solver *s = solver_of(p, &o);
    double y[8];
    assert_true(dae_problem_size(p) <= 8);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_status status = dae_solver_run(s, 2.0, y, NULL);
    if (status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    for (int i = 0; i < dae_problem_size(p); i++)
        if (!strcmp(dae_problem_unknown_name(p, i), "x")) assert_true(fabs(y[i] - sin(2.0)) < 1e-5);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equal_steps),
                                       cmocka_unit_test(smooth_steps),
                                       cmocka_unit_test(random_steps),
                                       cmocka_unit_test(modified_euler_is_3_18),
                                       cmocka_unit_test(direct_euler_has_the_same_difference),
                                       cmocka_unit_test(the_estimate_is_the_local_error),
                                       cmocka_unit_test(tolerances_are_met),
                                       cmocka_unit_test(derivatives_of_the_user),
                                       cmocka_unit_test(first_order_methods_run_it),
                                       cmocka_unit_test(values_between_steps),
                                       cmocka_unit_test(bad_descriptions),
                                       cmocka_unit_test(bad_runs),
                                       cmocka_unit_test(texts_have_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
