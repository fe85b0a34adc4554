/* hem3, hem4, hem5: order conditions, observed orders, dense output, steps, failures. */
#include "half_explicit.h"
#include "half_explicit_trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const method *const methods[] = {&method_hem3, &method_hem4, &method_hem5};
static const hem_table *const tables[] = {&hem3_table, &hem4_table, &hem5_table};
enum { METHODS = 3 };

/* ---- tables ---- */

/* All conditions of [BH93 Table 1], continued to order 5; row sums; the start values of Newton. */
static void order_conditions(void **state)
{
    (void)state;
    static const int expected[6] = {0, 1, 2, 6, 20, 76};
    for (int k = 0; k < METHODS; k++) {
        const hem_table *table = tables[k];
        static forest f;
        forest_grow(&f, table->order, false);
        assert_int_equal(forest_roots(&f, table->order, false), expected[table->order]);
        assert_true(worst_condition(&f, table, table->order) < 1e-13L);
        check_sums(table);
    }
}

/* Estimates see orders below error_order only; dense output satisfies Tables 1 and 3. */
static void estimate_and_dense_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        const hem_table *table = tables[k];
        static forest f;
        forest_grow(&f, 5, false);
        bool two = table->coarse[table->stages - 1] != 0.0;
        int order = two ? table->error_order - 1 : table->error_order;
        assert_true(worst_estimate(&f, table, order) < 1e-13L);
        assert_true(worst_estimate(&f, table, order + 1) > 1e-3L);
        if (table->middle > 0.0) assert_true(worst_dense(&f, table, 4) < 1e-13L);
        assert_true(worst_hermite(&f, table, 3) < 1e-13L);
    }
}

/* ---- observed orders ---- */

/* (1.9): y and z within 0.2 of the order; the reference of the guide. */
static void steering_orders(void **state)
{
    (void)state;
    static const double exact[3] = {0.91114967, 0.41207557, -0.533220190};
    counts c = {0};
    hessenberg_form form = steering(&c);
    form_set forms = {.hessenberg = &form};
    for (int k = 0; k < METHODS; k++) {
        order_pair o =
            observed_order(methods[k], &forms, 3, 2, (double[]){1.0, 0.0, 0.0}, 0.28, 28);
        assert_true(fabs(o.x - methods[k]->max_order) < 0.2);
        assert_true(fabs(o.w - methods[k]->max_order) < 0.2);
        o = observed_order(methods[k], &forms, 3, 2, (double[]){1.0, 0.0, 0.0}, 0.2, 10);
        for (int i = 0; i < 3; i++) assert_true(fabs(o.end[i] - exact[i]) < 6e-9);
    }
}

/* z = Z_s has order 2, y order 4 [BH93 Table 4; the guide]; the published estimate is y1 - Y_5, of
 * order 2 and on the manifold. */
static void variants_of_hem4(void **state)
{
    (void)state;
    counts c = {0};
    hessenberg_form form = steering(&c);
    form_set forms = {.hessenberg = &form};
    static forest f;
    order_pair o =
        observed_order(&method_hem4_stage, &forms, 3, 2, (double[]){1.0, 0.0, 0.0}, 0.28, 56);
    assert_true(fabs(o.x - 4.0) < 0.2 && fabs(o.w - 2.0) < 0.1);
    forest_grow(&f, 3, false);
    assert_true(worst_estimate(&f, &hem4_published_table, 2) < 1e-13L);
    assert_true(worst_estimate(&f, &hem4_published_table, 3) > 1e-3L);
    for (int i = 0; i < 5; i++) {
        double difference = hem4_table.a_bar[4][i] - hem4_table.a[4][i];
        assert_true(fabs(hem4_published_table.error[i] - difference) < 1e-14);
    }
}

static const double classical_a[5][HEM_STAGES] = {
    {0.0}, {0.5}, {0.0, 0.5}, {0.0, 0.0, 1.0}, {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0}};
static const double classical_c[5] = {0.0, 0.5, 0.5, 1.0, 1.0};
static const hem_table classical = {.stages = 4,
                                    .order = 4,
                                    .error_order = 3,
                                    .a = classical_a,
                                    .a_bar = classical_a + 1,
                                    .c = classical_c,
                                    .c_bar = classical_c + 1,
                                    .zeta = classical_c};
static void classical_start(void *s, void *w, const method_context *ctx, const start_point *at)
{
    hem_start(&classical, s, w, ctx, at);
}

/* The classical method of order 4 put into (2.1) has order 2 on (1.9). */
static void classical_drops(void **state)
{
    (void)state;
    method m = method_hem4;
    m.start = classical_start;
    counts c = {0};
    hessenberg_form form = steering(&c);
    form_set forms = {.hessenberg = &form};
    order_pair o = observed_order(&m, &forms, 3, 2, (double[]){1.0, 0.0, 0.0}, 0.2, 40);
    assert_true(fabs(o.x - 2.0) < 0.2);
}

/* Pendulum: linear stages in mechanical form. */
static void pendulum_orders(void **state)
{
    (void)state;
    static const double exact[5] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697 / 2};
    counts c = {0};
    mechanical_form form = pendulum(&c);
    form_set forms = {.mechanical = &form};
    for (int k = 0; k < METHODS; k++) {
        order_pair o = observed_order(methods[k], &forms, 5, 4, (double[]){1.0, 0.0, 0.0, 0.0, 0.0},
                                      10.0, 320);
        assert_true(fabs(o.x - methods[k]->max_order) < 0.25);
        assert_true(fabs(o.w - methods[k]->max_order) < 0.25);
        for (int i = 0; i < 5; i++) assert_true(fabs(o.end[i] - exact[i]) < 1e-6);
    }
}

/* Pendulum at velocity level in Hessenberg form: the same as in mechanical form without the
 * correction of positions. */
static void velocity_level_orders(void **state)
{
    (void)state;
    hessenberg_form form = velocity_pendulum();
    form_set forms = {.hessenberg = &form};
    for (int k = 0; k < METHODS; k++) {
        order_pair o =
            observed_order(methods[k], &forms, 5, 4, (double[]){1.0, 0.0, 0.0, 0.0, 0.0}, 2.0, 40);
        assert_true(fabs(o.x - methods[k]->max_order) < 0.2);
        assert_true(o.w > methods[k]->max_order - 0.2); /* hem4's first term vanishes at t = 2 */
    }
}

/* A circle that grows with time: rheonomic, f nonlinear in z; reference from the underlying ODE. */
static void rheonomic_orders(void **state)
{
    (void)state;
    hessenberg_form form = growing_circle();
    form_set forms = {.hessenberg = &form};
    double y[2] = {1.0, 0.0};
    growing_circle_reference(0.64, y);
    for (int k = 0; k < METHODS; k++) {
        order_pair o =
            observed_order(methods[k], &forms, 3, 2, (double[]){1.0, 0.0, 0.08}, 0.64, 28);
        assert_true(fabs(o.x - methods[k]->max_order) < 0.2);
        assert_true(fabs(o.w - methods[k]->max_order) < 0.2);
        assert_true(fabs(o.end[0] - y[0]) < 1e-10 && fabs(o.end[1] - y[1]) < 1e-10);
    }
}

/* (1.4): with u from 0 = k(y,z,u) the solution of (1.9) is the same, and u has its order, too. */
static void with_u(void **state)
{
    (void)state;
    counts c = {0};
    hessenberg_form form = steering_with_u(&c), plain = steering(&c);
    form_set forms = {.hessenberg = &form}, without = {.hessenberg = &plain};
    for (int k = 0; k < METHODS; k++) {
        double y[4] = {1.0, 0.0, 0.0, 0.0}, z[3] = {1.0, 0.0, 0.0};
        run r, p;
        assert_true(run_new(&r, methods[k], &forms, 4, 1e-12));
        assert_true(run_new(&p, methods[k], &without, 3, 1e-12));
        assert_true(run_fixed(&r, 0.0, 0.2, 20, y));
        assert_true(run_fixed(&p, 0.0, 0.2, 20, z));
        for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - z[i]) < 1e-11);
        assert_true(fabs(y[3] - sin(2.5 * y[2])) < 1e-12);
        run_free(&r);
        run_free(&p);
    }
}

/* ---- dense output ---- */

/* Largest error inside steps falls with order 3 at least, for x and for the multiplier. */
static void dense_orders(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        dense_pair d = dense_order(methods[k]);
        double least = methods[k] == &method_hem5 ? 4.8 : 3.8; /* O(h^(q+1)) for order q */
        if (methods[k] == &method_hem3) least = 2.8; /* the global error of the method itself */
        assert_true(d.x > least);
        assert_true(d.w > fmin(least, 3.8) - 0.2);
        assert_true(d.continuous < 1e-14);
    }
}

/* ---- steps ---- */

/* Attempts to reach the errors of the guide's list of HEM4 on the pendulum, and far fewer for the
 * same tolerance. */
static void adaptive_steps(void **state)
{
    (void)state;
    static const struct {
        double tolerance, error;
        long steps, rejected;
    } list[] = {{1e-2, 6.6e-4, 37, 8},
                {1e-4, 2.3e-6, 152, 12},
                {1e-6, 9.8e-9, 691, 7},
                {1e-8, 3.2e-11, 3201, 8}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        double tolerance = list[k].tolerance, error = 1.0;
        long attempts = 0;
        for (int i = 0; i < 60 && error > list[k].error; i++, tolerance *= 0.88) {
            counts c = {0};
            mechanical_form form = pendulum(&c);
            form_set forms = {.mechanical = &form};
            run r;
            double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
            assert_true(run_new(&r, &method_hem4, &forms, 5, tolerance));
            assert_true(run_adaptive(&r, 0.0, 10.0, 0.1, y));
            error = pendulum_error(y);
            attempts = r.steps + r.rejected;
            if (i == 0) assert_true(2 * r.steps < list[k].steps + 10);
            run_free(&r);
        }
        assert_true(error <= list[k].error);
        assert_true(attempts <= list[k].steps + list[k].rejected);
    }
}

/* Work of a step: evaluations of the mechanical form and of f in Hessenberg form. */
static void work(void **state)
{
    (void)state;
    static const int stages[METHODS] = {3, 5, 8};
    for (int k = 0; k < METHODS; k++) {
        counts c = {0};
        mechanical_form form = pendulum(&c);
        form_set forms = {.mechanical = &form};
        run r;
        double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
        assert_true(run_new(&r, methods[k], &forms, 5, 1e-6));
        assert_true(run_fixed(&r, 0.0, 1.0, 20, y));
        /* forces at every stage and at the end, which is the next step's first stage */
        assert_int_equal(c.f, 20 * stages[k] + 2);
        assert_int_equal(c.evaluations, 20 * 2 * stages[k] + 2);
        run_free(&r);
    }
}

/* ---- failures ---- */

static attempt first_attempt(const method *m, const form_set *forms, int n, const double *y)
{
    run r;
    assert_true(run_new(&r, m, forms, n, 1e-6));
    run_start(&r, 0.0, 0.01, y);
    m->attempt(r.state, r.scratch, &r.ctx, 0.01, m->max_order, &r.last);
    attempt a = r.last;
    run_free(&r);
    a.y = a.yp = a.estimate = NULL;
    return a;
}

/* Dependent constraints are named; a free massless variable is told from them. */
static void singular_systems(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        mechanical_form form = doubled_constraint();
        form_set forms = {.mechanical = &form};
        attempt a = first_attempt(methods[k], &forms, 8, (double[8]){1.0});
        assert_int_equal(a.status, ATTEMPT_SINGULAR);
        assert_int_equal(a.constraint, 1);
        assert_non_null(a.reason);
        form = massless(false);
        a = first_attempt(methods[k], &forms, 7, (double[7]){1.0});
        assert_int_equal(a.status, ATTEMPT_SINGULAR);
        assert_int_equal(a.constraint, -1);
        assert_non_null(a.reason);
    }
}

/* A massless variable that the constraints determine is welcome [BH93 (5.3)]. */
static void massless_variable(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        mechanical_form form = massless(true);
        form_set forms = {.mechanical = &form};
        double y[8] = {1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, plain[5] = {1.0};
        run r;
        assert_true(run_new(&r, methods[k], &forms, 8, 1e-10));
        assert_true(run_fixed(&r, 0.0, 1.0, 50, y));
        run_free(&r);
        counts c = {0};
        form = pendulum(&c);
        assert_true(run_new(&r, methods[k], &forms, 5, 1e-10));
        assert_true(run_fixed(&r, 0.0, 1.0, 50, plain));
        assert_true(fabs(y[0] - plain[0]) < 1e-6 && fabs(y[1] - plain[1]) < 1e-6);
        assert_true(fabs(y[2] - y[0]) < 1e-7); /* q3 = q1 */
        run_free(&r);
    }
}

/* NaN in a stage asks for a smaller step; g_y f_z singular (the impasse) is a failure, not a NaN.
 */
static void bad_values(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        counts c = {.poison = 3};
        mechanical_form form = pendulum(&c);
        form_set forms = {.mechanical = &form};
        attempt a = first_attempt(methods[k], &forms, 5, (double[5]){1.0});
        assert_int_equal(a.status, ATTEMPT_EVALUATION);
        counts d = {.poison = 6};
        hessenberg_form steer = steering(&d);
        form_set other = {.hessenberg = &steer};
        a = first_attempt(methods[k], &other, 3, (double[3]){1.0});
        assert_int_equal(a.status, ATTEMPT_EVALUATION);
        counts e = {0};
        hessenberg_form impasse = steering(&e);
        form_set third = {.hessenberg = &impasse};
        run r;
        double y[3] = {1.0, 0.0, 0.0};
        assert_true(run_new(&r, methods[k], &third, 3, 1e-6));
        assert_false(run_adaptive(&r, 0.0, 0.5, 0.01, y)); /* impasse at 0.37249 */
        assert_true(r.last.t > 0.36 && r.last.t < 0.38);
        assert_true(r.last.status == ATTEMPT_CONVERGENCE || r.last.status == ATTEMPT_SINGULAR ||
                    r.last.status == ATTEMPT_EVALUATION);
        run_free(&r);
    }
}

/* An attempt leaves the state as it was, byte for byte, and a repeated one gives the same. */
static void state_untouched(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        counts c = {0};
        mechanical_form form = pendulum(&c);
        form_set forms = {.mechanical = &form};
        run r;
        double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0}, first[5];
        assert_true(run_new(&r, methods[k], &forms, 5, 1e-6));
        assert_true(run_fixed(&r, 0.0, 0.5, 10, y));
        size_t size, scratch;
        method_size(methods[k], 5, &size, &scratch);
        void *shadow = malloc(size);
        memcpy(shadow, r.state, size);
        methods[k]->attempt(r.state, r.scratch, &r.ctx, 0.05, 4, &r.last);
        memcpy(first, r.last.y, sizeof first);
        methods[k]->attempt(r.state, r.scratch, &r.ctx, 0.5, 4, &r.last);
        methods[k]->attempt(r.state, r.scratch, &r.ctx, 0.05, 4, &r.last);
        assert_memory_equal(shadow, r.state, size);
        assert_memory_equal(first, r.last.y, sizeof first);
        free(shadow);
        run_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(estimate_and_dense_conditions),
        cmocka_unit_test(steering_orders),
        cmocka_unit_test(variants_of_hem4),
        cmocka_unit_test(classical_drops),
        cmocka_unit_test(pendulum_orders),
        cmocka_unit_test(velocity_level_orders),
        cmocka_unit_test(rheonomic_orders),
        cmocka_unit_test(with_u),
        cmocka_unit_test(dense_orders),
        cmocka_unit_test(adaptive_steps),
        cmocka_unit_test(work),
        cmocka_unit_test(singular_systems),
        cmocka_unit_test(massless_variable),
        cmocka_unit_test(bad_values),
        cmocka_unit_test(state_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
