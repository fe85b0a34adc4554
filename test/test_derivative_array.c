/* Derivative arrays: indices of systems known from the literature, derivatives, consistent values,
 * and the reduced system of index 1. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "structure/linear/derivative_array.h"
#include "structure/linear/linear.h"

enum { MOST = 96 };
static const double TOLERANCE = 1e-10;

#define assert_close(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

/* ---- building systems ------------------------------------------------------------------------ */

static graph *G;

static expr num(double x)
{
    return graph_constant(G, x);
}
static expr u(int j)
{
    return graph_variable(G, j, 0);
}
static expr du(int j)
{
    return graph_variable(G, j, 1);
}
static expr add(expr a, expr b)
{
    return graph_binary(G, EXPR_ADD, a, b);
}
static expr sub(expr a, expr b)
{
    return graph_binary(G, EXPR_SUB, a, b);
}
static expr mul(expr a, expr b)
{
    return graph_binary(G, EXPR_MUL, a, b);
}

typedef struct rig {
    equation_set set;
    derivative_array array;
    double x[MOST];
} rig;

static rig *rig_new(int n, const expr *residual, int limit)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    assert_true(equation_set_new(&r->set, G, n, n));
    for (int i = 0; i < n; i++) r->set.row[i].residual = residual[i];
    assert_int_equal(derivative_array_new(&r->array, &r->set, limit), ARRAY_OK);
    assert_true(r->array.n * (limit + 2) <= MOST);
    return r;
}

static void rig_free(rig *r)
{
    derivative_array_free(&r->array);
    equation_set_free(&r->set);
    free(r);
}

static int fresh_graph(void **state)
{
    (void)state;
    G = graph_new();
    return G ? 0 : -1;
}

static int drop_graph(void **state)
{
    (void)state;
    graph_free(G);
    return 0;
}

static array_report analyse(rig *r, double t)
{
    array_report report;
    assert_int_equal(derivative_array_analyse(&r->array, t, r->x, TOLERANCE, &report), ARRAY_OK);
    return report;
}

/* Pendulum, L = g = 1, gravity along +y as in [BCP96 6.2]: unknowns x, y, vx, vy, lambda; the
 * constraint is that of position, velocity or acceleration. */
static void pendulum(int level, expr *f)
{
    expr x = u(0), y = u(1), vx = u(2), vy = u(3), lambda = u(4);
    f[0] = sub(du(0), vx);
    f[1] = sub(du(1), vy);
    f[2] = add(du(2), mul(lambda, x));
    f[3] = sub(add(du(3), mul(lambda, y)), num(1));
    expr length = add(mul(x, x), mul(y, y));
    if (level == 3) f[4] = sub(length, num(1));
    if (level == 2) f[4] = add(mul(x, vx), mul(y, vy));
    if (level == 1) f[4] = add(sub(add(mul(vx, vx), mul(vy, vy)), mul(lambda, length)), y);
}

/* A consistent point of it: angle phi from the x-axis, angular velocity omega. */
static void pendulum_point(double phi, double omega, double *x)
{
    x[0] = cos(phi), x[1] = sin(phi);
    x[2] = -omega * sin(phi), x[3] = omega * cos(phi);
    x[4] = omega * omega + sin(phi);
}

/* ---- counterexamples ------------------------------------------------------------------------- */

/* [HW96 VII.1 (1.31)]: y1' - y3 y2' + y2 y3' = 0, y2 = 0, y3 = 0: differentiation index 1, also
 * around the solution; perturbation index 2 is uniform index + 1. */
static void lubichs_counterexample(void **state)
{
    (void)state;
    expr f[] = {add(sub(du(0), mul(u(2), du(1))), mul(u(1), du(2))), u(1), u(2)};
    rig *r = rig_new(3, f, 4);
    array_report q = analyse(r, 0.0);
    assert_int_equal(q.index, 1);
    assert_int_equal(q.uniform_index, 1);
    assert_int_equal(q.strangeness, 0);
    assert_int_equal(q.a, 2);
    assert_int_equal(q.d, 1);
    assert_true(q.constant && !q.dependent);
    rig_free(r);
}

/* [HW96 VII.1 (1.32)]: y_m N y' + y = 0: index 1 on the solution y = 0, perturbation index m, which
 * is the index around it. */
static void campbell_and_gears_counterexample(void **state)
{
    (void)state;
    for (int m = 2; m <= 4; m++) {
        expr f[4];
        for (int i = 0; i < m; i++) f[i] = i + 1 < m ? add(mul(u(m - 1), du(i + 1)), u(i)) : u(i);
        rig *r = rig_new(m, f, m + 1);
        for (int i = 0; i < m; i++) r->x[i] = 0.1; /* not consistent: is moved to 0 */
        array_report q = analyse(r, 0.0);
        for (int i = 0; i < m; i++) assert_close(r->x[i], 0.0, 1e-12);
        assert_int_equal(q.index, 1);
        assert_int_equal(q.uniform_index, m);
        assert_int_equal(q.strangeness, 0);
        assert_int_equal(q.a, m);
        assert_int_equal(q.d, 0);
        rig_free(r);
    }
}

/* ---- known indices --------------------------------------------------------------------------- */

static void an_explicit_equation_has_index_0(void **state)
{
    (void)state;
    expr f[] = {add(du(0), mul(u(0), u(1))),
                sub(add(du(0), du(1)), graph_unary(G, EXPR_SIN, u(0)))};
    rig *r = rig_new(2, f, 2);
    r->x[0] = 1, r->x[1] = 2;
    array_report q = analyse(r, 0.0);
    assert_int_equal(q.index, 0);
    assert_int_equal(q.uniform_index, 0);
    assert_int_equal(q.strangeness, 0);
    assert_int_equal(q.a, 0);
    assert_int_equal(q.d, 2);
    assert_close(r->x[2], -2.0, 1e-14);
    assert_close(r->x[3], 2.0 + sin(1.0), 1e-14);
    rig_free(r);
}

/* Index 3, 2 or 1 by the level of the constraint; a = 6 - .. constraints, d = 5 - a */
static void the_pendulum_at_all_levels(void **state)
{
    (void)state;
    const int a[] = {0, 1, 2, 3};
    for (int level = 1; level <= 3; level++) {
        expr f[5];
        pendulum(level, f);
        rig *r = rig_new(5, f, 4);
        pendulum_point(0.7, 1.3, r->x);
        array_report q = analyse(r, 0.0);
        assert_int_equal(q.index, level);
        assert_int_equal(q.uniform_index, level);
        assert_int_equal(q.strangeness, level - 1);
        assert_int_equal(q.a, a[level]);
        assert_int_equal(q.d, 5 - a[level]);
        assert_true(q.gap.kept > 1e-4 && q.gap.dropped < 1e-12);
        rig_free(r);
    }
}

/* The same in second order, x'' = -lambda x, ..: the array makes its own velocities. */
static void second_order_equations(void **state)
{
    (void)state;
    expr f[] = {add(graph_variable(G, 0, 2), mul(u(2), u(0))),
                sub(add(graph_variable(G, 1, 2), mul(u(2), u(1))), num(1)),
                sub(add(mul(u(0), u(0)), mul(u(1), u(1))), num(1))};
    rig *r = rig_new(3, f, 4);
    assert_int_equal(r->array.n, 5);
    assert_int_equal(r->array.variable[1], 0);
    assert_int_equal(r->array.order[1], 1);
    assert_int_equal(r->array.source[3], -1);
    r->x[0] = 0.6, r->x[2] = 0.8, r->x[1] = -0.8, r->x[3] = 0.6;
    array_report q = analyse(r, 0.0);
    assert_int_equal(q.index, 3);
    assert_int_equal(q.strangeness, 2);
    assert_close(r->x[4], r->x[1] * r->x[1] + r->x[3] * r->x[3] + r->x[2], 1e-12);
    rig_free(r);
}

/* u_1' = u_2, .., u_1 = sin t: index n; all of u is determined */
static void hessenberg_chains(void **state)
{
    (void)state;
    for (int n = 2; n <= 6; n++) {
        expr f[6];
        for (int i = 0; i + 1 < n; i++) f[i] = sub(du(i), u(i + 1));
        f[n - 1] = sub(u(0), graph_unary(G, EXPR_SIN, graph_time(G)));
        rig *r = rig_new(n, f, n + 1);
        array_report q = analyse(r, 0.4);
        assert_int_equal(q.index, n);
        assert_int_equal(q.strangeness, n - 1);
        assert_int_equal(q.d, 0);
        for (int i = 0; i < n; i++) /* the i-th derivative of sin */
            assert_close(r->x[i], sin(0.4 + i * acos(0.0)), 1e-9);
        rig_free(r);
    }
}

/* [BCP96 example 2.4.1]: a singular pencil at every t, index 2 */
static void index_2_with_a_singular_pencil(void **state)
{
    (void)state;
    expr t = graph_time(G);
    expr f[] = {sub(add(du(0), mul(t, du(1))), graph_unary(G, EXPR_SIN, t)),
                sub(add(u(0), mul(t, u(1))), graph_unary(G, EXPR_COS, t))};
    rig *r = rig_new(2, f, 4);
    array_report q = analyse(r, 0.5);
    assert_int_equal(q.index, 2);
    assert_int_equal(q.strangeness, 1);
    assert_int_equal(q.a, 2);
    /* y = Q^-1 x has y1 + y2' = sin t, y2 = cos t: y1 = 2 sin t; x = (t y1 + y2, -y1) */
    assert_close(r->x[0], 0.5 * 2 * sin(0.5) + cos(0.5), 1e-12);
    assert_close(r->x[1], -2 * sin(0.5), 1e-12);
    rig_free(r);
}

/* [BCP96 (3.1.13)]: index 2 for every eta, where the pencil is singular for eta = -1 */
static void the_unstable_index_2_system(void **state)
{
    (void)state;
    for (double eta = -1.0; eta < 3.0; eta += 1.5) {
        expr t = graph_time(G), et = mul(num(eta), t);
        expr f[] = {sub(add(u(0), mul(et, u(1))), graph_unary(G, EXPR_EXP, t)),
                    add(add(du(0), mul(et, du(1))), mul(num(1 + eta), u(1)))};
        rig *r = rig_new(2, f, 4);
        array_report q = analyse(r, 0.3);
        assert_int_equal(q.index, 2);
        assert_int_equal(q.strangeness, 1);
        assert_close(r->x[1], -exp(0.3), 1e-11);
        assert_close(r->x[0], exp(0.3) * (1 + eta * 0.3), 1e-11);
        rig_free(r);
    }
}

/* [BCP96 example 2.4.2]: the pencil is regular of index 2, the system is not solvable */
static void an_unsolvable_system_is_seen(void **state)
{
    (void)state;
    expr t = graph_time(G), t2 = mul(t, t);
    expr f[] = {add(u(0), sub(mul(t2, du(1)), mul(t, du(0)))),
                add(u(1), sub(mul(t, du(1)), du(0)))};
    rig *r = rig_new(2, f, 4);
    array_report q = analyse(r, 0.5);
    assert_true(q.dependent);
    assert_int_equal(q.index, -1);
    rig_free(r);
}

/* [BCP96 7.3]: index 1 where the structure says 0 */
static void the_structural_counterexample(void **state)
{
    (void)state;
    expr t = graph_time(G), sum = add(add(du(0), du(1)), add(u(0), u(1)));
    expr f[] = {sub(sum, graph_unary(G, EXPR_COS, t)), sub(add(sum, u(1)), t)};
    rig *r = rig_new(2, f, 3);
    array_report q = analyse(r, 0.2);
    assert_int_equal(q.index, 1);
    assert_int_equal(q.strangeness, 0);
    assert_close(r->x[1], 0.2 - cos(0.2), 1e-13);
    rig_free(r);
}

/* A rank that drops at one point only: x y' = .. with x = 0 there. F: u0' = 1, u0 u1' + u1 = 0 */
static void a_rank_drop_is_not_called_constant(void **state)
{
    (void)state;
    expr f[] = {sub(du(0), num(1)), add(mul(u(0), du(1)), u(1))};
    rig *r = rig_new(2, f, 1);
    array_report q = analyse(r, 0.0);
    assert_int_equal(q.index, -1);
    assert_false(q.constant);
    rig_free(r);
    r = rig_new(2, f, 1);
    r->x[0] = 1.0;
    assert_int_equal(analyse(r, 0.0).index, 0);
    rig_free(r);
}

/* ---- derivatives and consistent values ------------------------------------------------------- */

/* lambda' = 2 v.a + vy = 3 vy for gravity along +y */
static void derivatives_at_a_consistent_point(void **state)
{
    (void)state;
    expr f[5];
    pendulum(3, f);
    rig *r = rig_new(5, f, 3);
    pendulum_point(-0.4, 2.0, r->x);
    double *x = r->x, lambda = x[4];
    assert_int_equal(derivative_array_rates(&r->array, 3, 0.0, x), ARRAY_OK);
    assert_close(x[5], x[2], 1e-12);
    assert_close(x[6], x[3], 1e-12);
    assert_close(x[7], -lambda * x[0], 1e-11);
    assert_close(x[8], 1.0 - lambda * x[1], 1e-11);
    assert_close(x[9], 3.0 * x[3], 1e-10);
    rig_free(r);
}

static void an_inconsistent_point_is_told_and_moved(void **state)
{
    (void)state;
    expr f[5];
    pendulum(3, f);
    rig *r = rig_new(5, f, 3);
    const double start[] = {0.8, 0.65, 0.4, 0.2, 3.0};
    double *x = r->x;
    memcpy(x, start, sizeof start);
    assert_int_equal(derivative_array_rates(&r->array, 2, 0.0, x), ARRAY_INCONSISTENT);
    for (int i = 0; i < 5; i++) assert_true(x[i] == start[i]);
    assert_int_equal(derivative_array_consistent(&r->array, 2, 0.0, x), ARRAY_OK);
    assert_close(x[0] * x[0] + x[1] * x[1], 1.0, 1e-12);
    assert_close(x[0] * x[2] + x[1] * x[3], 0.0, 1e-12);
    assert_close(x[4], x[2] * x[2] + x[3] * x[3] + x[1], 1e-11);
    for (int i = 0; i < 4; i++) assert_close(x[i], start[i], 0.5);
    rig_free(r);
}

/* ---- the reduced system ---------------------------------------------------------------------- */

/* Zero at other solutions than the one it was set up at, not zero where only a hidden constraint
 * fails. */
static void the_reduced_system_knows_all_constraints(void **state)
{
    (void)state;
    expr f[5];
    pendulum(3, f);
    rig *r = rig_new(5, f, 3);
    pendulum_point(0.3, 1.0, r->x);
    array_report q = analyse(r, 0.0);
    reduced_system reduced;
    assert_int_equal(reduced_system_new(&reduced, &r->array, q.strangeness, 0.0, r->x, TOLERANCE),
                     ARRAY_OK);
    assert_int_equal(reduced.a, 3);
    for (int i = 0; i < 3; i++) {
        double at[5], rate[5], g[5];
        pendulum_point(0.3 + 0.1 * i, 1.0 + 0.05 * i, at);
        rate[0] = at[2], rate[1] = at[3], rate[2] = -at[4] * at[0], rate[3] = 1 - at[4] * at[1];
        rate[4] = 3 * at[3];
        assert_int_equal(derivative_array_reduced_residual(&reduced, 0.0, at, rate, g), ARRAY_OK);
        for (int k = 0; k < 5; k++) assert_close(g[k], 0.0, 1e-11);
        at[2] += 0.01 * at[0]; /* the velocity constraint fails by 0.01, F itself does not */
        at[3] += 0.01 * at[1];
        rate[0] = at[2], rate[1] = at[3];
        assert_int_equal(derivative_array_reduced_residual(&reduced, 0.0, at, rate, g), ARRAY_OK);
        double most = 0.0;
        for (int k = 2; k < 5; k++) most = fmax(most, fabs(g[k]));
        assert_true(most > 1e-3);
    }
    reduced_system_free(&reduced);
    rig_free(r);
}

/* df/du at (at, rate) by central differences, one column */
static void difference_column(reduced_system *s, const double *at, const double *rate, int j,
                              double *column)
{
    const double delta = 1e-5;
    double moved[5], g[2][5];
    for (int side = 0; side < 2; side++) {
        memcpy(moved, at, sizeof moved);
        moved[j] += side ? delta : -delta;
        assert_int_equal(derivative_array_reduced_residual(s, 0.0, moved, rate, g[side]), ARRAY_OK);
    }
    for (int i = 0; i < 5; i++) column[i] = (g[1][i] - g[0][i]) / (2.0 * delta);
}

/* Methods that rely on exact Jacobians lose their order where one is exact at one point alone. */
static void the_jacobian_is_exact_away_from_the_set_up(void **state)
{
    (void)state;
    expr f[5];
    pendulum(3, f);
    rig *r = rig_new(5, f, 3);
    pendulum_point(0.3, 1.0, r->x);
    array_report q = analyse(r, 0.0);
    reduced_system s;
    assert_int_equal(reduced_system_new(&s, &r->array, q.strangeness, 0.0, r->x, TOLERANCE),
                     ARRAY_OK);
    for (int i = 0; i < 3; i++) {
        double at[5], rate[5], fu[25], fup[25], column[5];
        pendulum_point(0.3 + 0.1 * i, 1.0 + 0.05 * i, at);
        rate[0] = at[2], rate[1] = at[3], rate[2] = -at[4] * at[0], rate[3] = 1 - at[4] * at[1];
        rate[4] = 3 * at[3];
        assert_int_equal(derivative_array_reduced_jacobian(&s, 0.0, at, rate, fu, fup), ARRAY_OK);
        for (int j = 0; j < 5; j++) {
            difference_column(&s, at, rate, j, column);
            for (int k = 0; k < 5; k++) assert_close(fu[k + 5 * j], column[k], 1e-7);
        }
    }
    reduced_system_free(&s);
    rig_free(r);
}

/* LU-free Newton correction by Gauss-Jordan, n = 5 */
static void solve5(double *A, double *b)
{
    for (int c = 0; c < 5; c++) {
        int p = c;
        for (int i = c; i < 5; i++)
            if (fabs(A[i + 5 * c]) > fabs(A[p + 5 * c])) p = i;
        for (int j = 0; j < 5; j++) {
            double keep = A[c + 5 * j];
            A[c + 5 * j] = A[p + 5 * j];
            A[p + 5 * j] = keep;
        }
        double keep = b[c];
        b[c] = b[p];
        b[p] = keep;
        for (int i = 0; i < 5; i++) {
            if (i == c) continue;
            double m = A[i + 5 * c] / A[c + 5 * c];
            for (int j = 0; j < 5; j++) A[i + 5 * j] -= m * A[c + 5 * j];
            b[i] -= m * b[c];
        }
    }
    for (int i = 0; i < 5; i++) b[i] /= A[i + 5 * i];
}

/* One step of BDF2 on the reduced system; y is predicted on entry. */
static void bdf2(reduced_system *s, double h, const double *y1, const double *y2, double *y)
{
    for (int it = 0; it < 4; it++) {
        double yp[5], g[5], fu[25], fup[25];
        for (int i = 0; i < 5; i++) yp[i] = (1.5 * y[i] - 2 * y1[i] + 0.5 * y2[i]) / h;
        assert_int_equal(derivative_array_reduced_residual(s, 0.0, y, yp, g), ARRAY_OK);
        assert_int_equal(derivative_array_reduced_jacobian(s, 0.0, y, yp, fu, fup), ARRAY_OK);
        for (int i = 0; i < 25; i++) fu[i] += 1.5 / h * fup[i];
        solve5(fu, g);
        for (int i = 0; i < 5; i++) y[i] -= g[i];
    }
}

/* The pendulum as written, index 3, to t = 1 by a method for index 1: the truth of [BCP96 6.2]. */
static void the_reduced_system_can_be_integrated(void **state)
{
    (void)state;
    const double truth[] = {0.1349949261, 0.9908462897, -1.710951582, 0.2331035448, 3.972538869};
    expr f[5];
    double error[2];
    pendulum(3, f);
    rig *r = rig_new(5, f, 3);
    for (int run = 0; run < 2; run++) {
        const int steps = 100 << run;
        const double h = 1.0 / steps;
        reduced_system s;
        memset(r->x, 0, sizeof r->x);
        r->x[0] = 1, r->x[3] = 1, r->x[4] = 1;
        assert_int_equal(derivative_array_consistent(&r->array, 3, 0.0, r->x), ARRAY_OK);
        double y[5], y1[5], y2[5];
        for (int i = 0; i < 5; i++) { /* y2 = y(-h) by Taylor's series */
            const double *c = r->x + i;
            y1[i] = c[0];
            y2[i] = c[0] - h * (c[5] - h * (c[10] - h * c[15]));
        }
        y2[4] = y1[4] - h * r->x[9];
        for (int n = 0; n < steps; n++) {
            if (n % 10 == 0) {
                if (n > 0) reduced_system_free(&s);
                memcpy(r->x, y1, sizeof y1);
                assert_int_equal(derivative_array_consistent(&r->array, 2, 0.0, r->x), ARRAY_OK);
                assert_int_equal(reduced_system_new(&s, &r->array, 2, 0.0, r->x, TOLERANCE),
                                 ARRAY_OK);
            }
            for (int i = 0; i < 5; i++) y[i] = 2 * y1[i] - y2[i];
            bdf2(&s, h, y1, y2, y);
            memcpy(y2, y1, sizeof y1);
            memcpy(y1, y, sizeof y);
            assert_close(y[0] * y[0] + y[1] * y[1], 1.0, 1e-9);
        }
        reduced_system_free(&s);
        error[run] = 0.0;
        for (int i = 0; i < 5; i++) error[run] = fmax(error[run], fabs(y1[i] - truth[i]));
    }
    assert_true(error[1] < 1e-3);
    assert_true(error[0] / error[1] > 3.5 && error[0] / error[1] < 4.5);
    rig_free(r);
}

/* p x' + 2 y = sin t, 3 x + p y' - x = 1 with p = 5 a parameter is linear with constant matrices; x
 * y, t x and x'' are not. */
static void linear_equations_are_recognised(void **state)
{
    (void)state;
    const double p[] = {5.0};
    const equation_point at = {.parameters = p};
    expr q = graph_parameter(G, 0), t = graph_time(G);
    const expr other[] = {mul(u(0), u(1)), mul(t, u(0)), graph_variable(G, 0, 2)};
    double A[4], B[4];
    equation_set set;
    assert_true(equation_set_new(&set, G, 2, 2));
    set.row[0].residual = sub(add(mul(q, du(0)), mul(num(2), u(1))), graph_unary(G, EXPR_SIN, t));
    set.row[1].residual = sub(sub(add(mul(num(3), u(0)), mul(q, du(1))), u(0)), num(1));
    assert_int_equal(equation_set_linear(&set, &at, A, B), LINEARITY_CONSTANT);
    const double a[] = {0, 2, 2, 0}, b[] = {5, 0, 0, 5};
    for (int i = 0; i < 4; i++) assert_true(A[i] == a[i] && B[i] == b[i]);
    for (int i = 0; i < 3; i++) {
        set.row[0].residual = other[i];
        assert_int_equal(equation_set_linear(&set, &at, A, B), LINEARITY_NONE);
    }
    equation_set_free(&set);
}

static void shapes_are_checked(void **state)
{
    (void)state;
    equation_set set;
    derivative_array d;
    assert_true(equation_set_new(&set, G, 2, 1));
    set.row[0].residual = u(0);
    assert_int_equal(derivative_array_new(&d, &set, 2), ARRAY_SHAPE);
    equation_set_free(&set);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fresh_graph, drop_graph)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lubichs_counterexample),
        TEST(campbell_and_gears_counterexample),
        TEST(an_explicit_equation_has_index_0),
        TEST(the_pendulum_at_all_levels),
        TEST(second_order_equations),
        TEST(hessenberg_chains),
        TEST(index_2_with_a_singular_pencil),
        TEST(the_unstable_index_2_system),
        TEST(an_unsolvable_system_is_seen),
        TEST(the_structural_counterexample),
        TEST(a_rank_drop_is_not_called_constant),
        TEST(derivatives_at_a_consistent_point),
        TEST(an_inconsistent_point_is_told_and_moved),
        TEST(the_reduced_system_knows_all_constraints),
        TEST(the_jacobian_is_exact_away_from_the_set_up),
        TEST(the_reduced_system_can_be_integrated),
        TEST(linear_equations_are_recognised),
        TEST(shapes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
