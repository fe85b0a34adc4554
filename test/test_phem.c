/* phem5: order conditions of partitioned methods, observed orders, projection, work. */
#include "half_explicit.h"
#include "half_explicit_trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* 110 conditions: those of [BH93 Table 1] to order 5, and those of stages off the manifold. */
static void order_conditions(void **state)
{
    (void)state;
    static forest f;
    forest_grow(&f, 5, true);
    assert_int_equal(forest_roots(&f, 5, false), 110);
    assert_true(worst_condition(&f, &phem5_table, 5) < 1e-14L);
    assert_true(worst_estimate(&f, &phem5_table, 4) < 1e-14L);
    assert_true(worst_estimate(&f, &phem5_table, 5) > 1e-4L);
    assert_true(worst_dense(&f, &phem5_table, 4) < 1e-14L);
    assert_true(worst_hermite(&f, &phem5_table, 3) < 1e-14L);
    check_sums(&phem5_table);
    assert_true(phem5_table.dense_start == 0.0);
}

static void orders(void **state)
{
    (void)state;
    counts c = {0};
    hessenberg_form steer = steering(&c), velocity = velocity_pendulum();
    form_set forms = {.hessenberg = &steer};
    order_pair o = observed_order(&method_phem5, &forms, 3, 2, (double[]){1.0, 0.0, 0.0}, 0.28, 16);
    assert_true(fabs(o.x - 5.0) < 0.2 && fabs(o.w - 5.0) < 0.2);
    forms.hessenberg = &velocity;
    o = observed_order(&method_phem5, &forms, 5, 4, (double[]){1.0, 0.0, 0.0, 0.0, 0.0}, 2.0, 80);
    assert_true(fabs(o.x - 5.0) < 0.2 && fabs(o.w - 5.0) < 0.2);
    mechanical_form form = pendulum(&c);
    form_set mechanical = {.mechanical = &form};
    o = observed_order(&method_phem5, &mechanical, 5, 4, (double[]){1.0, 0.0, 0.0, 0.0, 0.0}, 10.0,
                       320);
    assert_true(fabs(o.x - 5.0) < 0.2 && fabs(o.w - 5.0) < 0.2);
    dense_pair d = dense_order(&method_phem5);
    assert_true(d.x > 4.8 && d.w > 3.8 && d.continuous < 1e-14);
}

/* A pivot that moves: position and velocity constraints hold with their time derivatives, and the
 * order is kept; all half-explicit methods against the equation of the angle. */
static void rheonomic(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_hem3, &method_hem4, &method_hem5,
                                            &method_phem5};
    double angle[2] = {0.5, 0.2}, t = 3.0;
    rk4(moved_slope, 2, t, 4000, angle);
    double x = 0.3 * sin(2.0 * t) + sin(angle[0]), y = -cos(angle[0]);
    mechanical_form form = moved_pendulum();
    form_set forms = {.mechanical = &form};
    for (int k = 0; k < 4; k++) {
        double error[2];
        for (int i = 0; i < 2; i++) {
            double u[5] = {sin(0.5), -cos(0.5), 0.6 + 0.2 * cos(0.5), 0.2 * sin(0.5), 0.0};
            run r;
            assert_true(run_new(&r, methods[k], &forms, 5, 1e-12));
            assert_true(run_fixed(&r, 0.0, t, 60 << i, u));
            error[i] = hypot(u[0] - x, u[1] - y);
            double s = 0.3 * sin(2.0 * t), s1 = 0.6 * cos(2.0 * t);
            assert_true(fabs(hypot(u[0] - s, u[1]) - 1.0) < 1e-12);
            assert_true(fabs((u[0] - s) * (u[2] - s1) + u[1] * u[3]) < 1e-13);
            run_free(&r);
        }
        assert_true(log2(error[0] / error[1]) > methods[k]->max_order - 0.3);
    }
}

/* Long runs stay on both constraints. */
static void stays_on_manifold(void **state)
{
    (void)state;
    counts c = {0};
    mechanical_form form = pendulum(&c);
    form_set forms = {.mechanical = &form};
    double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    run r;
    assert_true(run_new(&r, &method_phem5, &forms, 5, 1e-7));
    assert_true(run_adaptive(&r, 0.0, 500.0, 0.01, y));
    assert_true(fabs(hypot(y[0], y[1]) - 1.0) < 1e-8);
    assert_true(fabs(y[0] * y[2] + y[1] * y[3]) < 1e-12);
    run_free(&r);
}

/* Six evaluations of forces a step, and fewer steps than HEM4 needs at the same error. */
static void work(void **state)
{
    (void)state;
    counts c = {0};
    mechanical_form form = pendulum(&c);
    form_set forms = {.mechanical = &form};
    double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    run r;
    assert_true(run_new(&r, &method_phem5, &forms, 5, 1e-6));
    assert_true(run_fixed(&r, 0.0, 1.0, 20, y));
    assert_int_equal(c.f, 20 * 6 + 1);
    assert_int_equal(c.evaluations, 20 * 11 + 1);
    run_free(&r);
    double z[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    assert_true(run_new(&r, &method_phem5, &forms, 5, 1e-10));
    assert_true(run_adaptive(&r, 0.0, 10.0, 0.1, z));
    assert_true(pendulum_error(z) < 9.8e-9 && r.steps + r.rejected < 691 / 2);
    run_free(&r);
}

/* Failures are those of the other half-explicit methods. */
static void failures(void **state)
{
    (void)state;
    mechanical_form form = doubled_constraint();
    form_set forms = {.mechanical = &form};
    run r;
    assert_true(run_new(&r, &method_phem5, &forms, 8, 1e-6));
    run_start(&r, 0.0, 0.01, (double[8]){1.0});
    method_phem5.attempt(r.state, r.scratch, &r.ctx, 0.01, 5, &r.last);
    assert_int_equal(r.last.status, ATTEMPT_SINGULAR);
    assert_int_equal(r.last.constraint, 1);
    run_free(&r);
    counts c = {.poison = 4};
    form = pendulum(&c);
    assert_true(run_new(&r, &method_phem5, &forms, 5, 1e-6));
    run_start(&r, 0.0, 0.01, (double[5]){1.0});
    method_phem5.attempt(r.state, r.scratch, &r.ctx, 0.01, 5, &r.last);
    assert_int_equal(r.last.status, ATTEMPT_EVALUATION);
    run_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),  cmocka_unit_test(orders), cmocka_unit_test(rheonomic),
        cmocka_unit_test(stays_on_manifold), cmocka_unit_test(work),   cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
