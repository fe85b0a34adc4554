/* opt.herk: the options of [Baese17 4.1.1] through the public face, and Procedure 3.11 as a call.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* ---- (4.5) and (4.6), m = l = 1: user is the number of constraints ---- */

static const double GRAVITY = 13.7503716373294544;

static int pendulum_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 25 * sizeof *E);
    for (int i = 0; i < 4; i++) E[6 * i] = 1;
    return 0;
}

static int pendulum_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x;
    (void)user;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -2 * x[0] * x[4];
    f[3] = -2 * x[1] * x[4] - GRAVITY;
    f[4] = x[0] * x[0] + x[1] * x[1] - 1;
    return 0;
}

static int pendulum_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x;
    const int count = *(const int *)user;
    const double all[3] = {x[0] * x[0] + x[1] * x[1] - 1, 2 * x[0] * x[2] + 2 * x[1] * x[3],
                           2 * x[2] * x[2] + 2 * x[3] * x[3] -
                               4 * (x[0] * x[0] + x[1] * x[1]) * x[4] - 2 * GRAVITY * x[1]};
    memcpy(g, all + 3 - count, (size_t)count * sizeof *g);
    return 0;
}

static int pendulum_g_x(const dae_quasilinear_point *at, double *J, void *user)
{
    const double *x = at->x;
    const int count = *(const int *)user;
    const double all[3][5] = {{2 * x[0], 2 * x[1], 0, 0, 0},
                              {2 * x[2], 2 * x[3], 2 * x[0], 2 * x[1], 0},
                              {-8 * x[0] * x[4], -8 * x[1] * x[4] - 2 * GRAVITY, 4 * x[2], 4 * x[3],
                               -4 * (x[0] * x[0] + x[1] * x[1])}};
    for (int i = 0; i < count; i++)
        for (int j = 0; j < 5; j++) J[i + count * j] = all[i + 3 - count][j];
    return 0;
}

static int three = 3, one = 1;

#define PENDULUM(count)                                                                            \
    {                                                                                              \
        .n = 5, .ne = 5, .ng = count, .E = pendulum_E, .f = pendulum_f, .g = pendulum_g,           \
        .g_x = pendulum_g_x, .user = count == 3 ? &three : &one, .autonomous = true,               \
        .E_constant = true                                                                         \
    }

/* ---- (1 + t) x' = x, 0 = x - y ---- */

static int varying_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)user;
    memset(E, 0, 4 * sizeof *E);
    E[0] = 1 + at->t;
    return 0;
}

static int varying_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    f[1] = 0;
    return 0;
}

static int varying_g(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] - at->x[1];
    return 0;
}

static const dae_quasilinear varying = {
    .n = 2, .ne = 2, .ng = 1, .E = varying_E, .f = varying_f, .g = varying_g, .autonomous = true};

/* ---- runs ---- */

typedef struct result {
    dae_status status;
    double x[5];
    dae_stats stats;
    dae_diag diag;
} result;

static result run(const dae_quasilinear *form, const char *method, const dae_herk_options *herk,
                  double atol, double h0, double tf)
{
    result r = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    double y[5] = {form->n == 5 ? -1 : 1, form->n == 5 ? 0 : 1};
    o.method = method;
    o.herk = herk;
    o.stop_time = tf;
    if (atol > 0)
        o.atol = atol, o.initial_step = h0;
    else
        o.fixed_step = h0;
    assert_int_equal(dae_problem_from_quasilinear(form, &problem, &r.diag), DAE_OK);
    r.status = dae_solver_new(problem, &o, &solver, &r.diag);
    if (r.status == DAE_OK) r.status = dae_solver_start(solver, 0, y, NULL);
    if (r.status == DAE_OK) r.status = dae_solver_run(solver, tf, r.x, NULL);
    if (solver) {
        r.stats = *dae_solver_stats(solver);
        if (r.status < 0) r.diag = *dae_solver_diag(solver);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return r;
}

#define OPTIONS(...) (&(const dae_herk_options){.size = sizeof(dae_herk_options), __VA_ARGS__})

static double swing_error(const double *x)
{
    return sqrt((x[0] + 1) * (x[0] + 1) + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] + x[4] * x[4]);
}

/* Counts of (4.6) are the print's, to the step; those of (4.5) within what rounding does. */
static void control_follows_table_1(void **state)
{
    static const struct {
        int constraints;
        double beta, eps0;
        long steps;
        double error;
    } cells[] = {{1, 0.7, 1e-5, 528, 4.83e-1}, {1, 0.9, 1e-5, 444, 2.34e-1},
                 {1, 0.7, 1e-6, 821, 6.61e-2}, {1, 0.9, 1e-7, 1041, 3.45e-3},
                 {3, 0.7, 1e-5, 577, 3.33e-2}, {3, 0.9, 1e-5, 493, 1.90e-2}};
    (void)state;
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; k++) {
        const dae_quasilinear form = PENDULUM(cells[k].constraints);
        result r = run(&form, "herk:thesis",
                       OPTIONS(.adaptive_steps = DAE_SWITCH_ON, .safety = cells[k].beta,
                               .newton_tolerance = 1e-13),
                       cells[k].eps0, 0.01, 20);
        assert_int_equal(r.status, DAE_OK);
        double allowed = cells[k].constraints == 1 ? 0 : 0.005 * (double)cells[k].steps;
        assert_true(fabs((double)(r.stats.steps + 1 - cells[k].steps)) <= allowed);
        assert_true(fabs(swing_error(r.x) - cells[k].error) <= 0.05 * cells[k].error);
    }
}

/* beta = 0.9 if nothing is said */
static void the_default_of_beta_is_that_of_the_circuit(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(1);
    result r =
        run(&form, "herk:thesis",
            OPTIONS(.adaptive_steps = DAE_SWITCH_ON, .newton_tolerance = 1e-13), 1e-5, 0.01, 20);
    assert_int_equal(r.status, DAE_OK);
    assert_int_equal(r.stats.steps + 1, 444);
    assert_true(r.stats.h0 == 0.01);
}

/* Every attempt, as the monitor sees it */
enum { MOST_ATTEMPTS = 2000 };
typedef struct trail {
    int count;
    dae_step_info attempt[MOST_ATTEMPTS];
} trail;

static void keep(const dae_step_info *info, void *user)
{
    trail *t = user;
    assert_true(t->count < MOST_ATTEMPTS);
    t->attempt[t->count++] = *info;
}

/* h := beta h (eps0/eps)^(1/(p+1)), after a failure 1/p, without limits; only the last one is cut
 * [Baese17 4.1.5]. Returns the longest row of failures. */
static int follow(const dae_quasilinear *form, const double *start, double first, double tf)
{
    static trail t;
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    o.method = "herk:4:thesis";
    o.herk = OPTIONS(.adaptive_steps = DAE_SWITCH_ON, .safety = 0.7);
    o.atol = 1e-6;
    o.initial_step = first;
    o.stop_time = tf;
    o.max_error_failures = 100;
    o.monitor = keep;
    o.user = &t;
    t.count = 0;
    assert_int_equal(dae_problem_from_quasilinear(form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0, start, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, tf, NULL, NULL), DAE_OK);
    int in_a_row = 0, most_in_a_row = 0;
    for (int k = 1; k < t.count; k++) {
        const dae_step_info *before = &t.attempt[k - 1], *now = &t.attempt[k];
        bool failed = before->result != DAE_STEP_ACCEPTED;
        double h = 0.7 * before->h * pow(fmax(before->error, 1e-30), failed ? -1.0 / 4 : -1.0 / 5);
        in_a_row = failed ? in_a_row + 1 : 0;
        if (in_a_row > most_in_a_row) most_in_a_row = in_a_row;
        bool cut = now->t + h >= tf;
        if (cut)
            assert_true(fabs(now->t + now->h - tf) < 1e-12);
        else
            assert_true(fabs(now->h - h) < 1e-12 * h);
    }
    dae_solver_free(solver);
    dae_problem_free(problem);
    return most_in_a_row;
}

/* x' leaps from 1 to 101 at t = 1/3: errors there fall as h only */
static int leap_f(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0] + (at->t < 1.0 / 3 ? 0 : 100);
    f[1] = 0;
    return 0;
}

static int constant_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 4 * sizeof *E);
    E[0] = 1;
    return 0;
}

static void steps_follow_the_control_to_the_letter(void **state)
{
    (void)state;
    const dae_quasilinear swing = PENDULUM(1);
    const dae_quasilinear leap = {.n = 2,
                                  .ne = 2,
                                  .ng = 1,
                                  .E = constant_E,
                                  .f = leap_f,
                                  .g = varying_g,
                                  .autonomous = true,
                                  .E_constant = true};
    follow(&swing, (const double[]){-1, 0, 0, 0, 0}, 0.3, 5);
    assert_true(follow(&leap, (const double[]){1, 1}, 0.05, 1) >= 3);
}

/* A hundredth of the absolute tolerance, here of 1e-9, if nothing is said */
static void the_default_of_tol_follows_eps0(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(3);
    result open = run(&form, "herk:thesis", OPTIONS(.safety = 0), 0, 0.02, 1);
    result same = run(&form, "herk:thesis", OPTIONS(.newton_tolerance = 1e-11), 0, 0.02, 1);
    result less = run(&form, "herk:thesis", OPTIONS(.newton_tolerance = 1e-10), 0, 0.02, 1);
    assert_int_equal(open.stats.newton_iterations, same.stats.newton_iterations);
    assert_true(less.stats.newton_iterations < same.stats.newton_iterations);
    for (int i = 0; i < 5; i++) assert_true(open.x[i] == same.x[i]);
}

/* The tolerance ends the iteration: what is left of |g| grows with it. */
static void newton_ends_at_its_tolerance(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(3);
    long before = 0;
    for (int k = 0; k < 3; k++) {
        double tol = pow(10, -4 * (k + 1));
        result r = run(&form, "herk:thesis", OPTIONS(.newton_tolerance = tol), 0, 0.02, 1);
        assert_int_equal(r.status, DAE_OK);
        assert_true(r.stats.newton_iterations > before);
        before = r.stats.newton_iterations;
    }
}

static void a_simplified_iteration_needs_fewer_jacobians(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(3);
    static const char *const methods[] = {"herk:thesis", "herk"};
    for (int k = 0; k < 2; k++) {
        result full =
            run(&form, methods[k], OPTIONS(.simplified_newton = DAE_SWITCH_OFF), 0, 0.01, 1);
        result simple =
            run(&form, methods[k], OPTIONS(.simplified_newton = DAE_SWITCH_ON), 0, 0.01, 1);
        assert_int_equal(full.status, DAE_OK);
        assert_int_equal(simple.status, DAE_OK);
        assert_true(5 * simple.stats.jacobians < 4 * full.stats.jacobians);
        for (int i = 0; i < 5; i++) assert_true(fabs(full.x[i] - simple.x[i]) < 1e-9);
    }
}

/* Differences by increments of 1e-7 leave 7 digits of g_x and all of the solution. */
static void differences_replace_the_jacobian(void **state)
{
    (void)state;
    dae_quasilinear form = PENDULUM(3);
    result exact = run(&form, "herk:thesis", OPTIONS(.newton_tolerance = 1e-13), 0, 0.01, 1);
    for (int k = 0; k < 2; k++) {
        result r = run(&form, "herk:thesis",
                       OPTIONS(.newton_tolerance = 1e-13, .increment = k ? 1e-7 : 0,
                               .given_jacobian = DAE_SWITCH_OFF),
                       0, 0.01, 1);
        assert_int_equal(r.status, DAE_OK);
        assert_true(r.stats.newton_iterations > exact.stats.newton_iterations);
        for (int i = 0; i < 5; i++) assert_true(fabs(r.x[i] - exact.x[i]) < 1e-9);
    }
    result lost = run(&form, "herk", OPTIONS(.increment = 1e-30), 0, 0.01, 1);
    assert_true(lost.status < 0 && strstr(lost.diag.text, "delta") && lost.diag.variable == 0);
    form.g_x = NULL;
    result none = run(&form, "herk", OPTIONS(.given_jacobian = DAE_SWITCH_ON), 0, 0.01, 1);
    assert_true(none.status == DAE_ERR_UNSUPPORTED && strstr(none.diag.text, "Jopt"));
}

static void a_leading_matrix_that_changes_is_seen(void **state)
{
    (void)state;
    static const char *const methods[] = {"herk:4:thesis", "herk"};
    for (int k = 0; k < 2; k++) {
        result r = run(&varying, methods[k], OPTIONS(.constant_E = DAE_SWITCH_OFF), 0, 0.01, 1);
        assert_int_equal(r.status, DAE_OK);
        assert_true(fabs(r.x[0] - 2) < 1e-10);
        r = run(&varying, methods[k], OPTIONS(.constant_E = DAE_SWITCH_ON), 0, 0.01, 1);
        assert_true(r.status == DAE_ERR_UNSUPPORTED && strstr(r.diag.text, "Estat"));
    }
    const dae_quasilinear form = PENDULUM(3);
    result once = run(&form, "herk", OPTIONS(.constant_E = DAE_SWITCH_ON), 0, 0.01, 1);
    result often = run(&form, "herk", OPTIONS(.constant_E = DAE_SWITCH_OFF), 0, 0.01, 1);
    assert_int_equal(once.status, DAE_OK);
    assert_int_equal(often.status, DAE_OK);
    assert_true(often.stats.factorisations > once.stats.factorisations + 99);
    for (int i = 0; i < 5; i++) assert_true(fabs(once.x[i] - often.x[i]) < 1e-12);
}

/* x + y = 2 and x + (1 + 1e-3) y = 2 + 1e-3: a pivot of 1e-3 is left for the second */
static int nothing(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 4 * sizeof *E);
    return 0;
}

static int nearly_dependent(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x;
    (void)user;
    g[0] = x[0] + x[1] - 2;
    g[1] = x[0] + (1 + 1e-3) * x[1] - 2 - 1e-3;
    return 0;
}

static void small_pivots_count_as_zero(void **state)
{
    (void)state;
    const dae_quasilinear form = {.n = 2,
                                  .ne = 2,
                                  .ng = 2,
                                  .E = nothing,
                                  .f = nearly_dependent,
                                  .g = nearly_dependent,
                                  .autonomous = true,
                                  .E_constant = true};
    static const char *const methods[] = {"herk:thesis", "herk"};
    for (int k = 0; k < 2; k++) {
        result r = run(&form, methods[k], OPTIONS(.pivot_tolerance = 1e-2), 0, 0.1, 1);
        assert_int_equal(r.status, DAE_ERR_SINGULAR);
        r = run(&form, methods[k], OPTIONS(.pivot_tolerance = 1e-9), 0, 0.1, 1);
        assert_int_equal(r.status, DAE_OK);
    }
}

/* ---- bad input ---- */

static void options_that_cannot_be_are_named(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(3);
    const struct {
        const char *method;
        const dae_herk_options *herk;
        double atol, h0;
        const char *named;
    } cases[] = {
        {"herk:thesis", OPTIONS(.safety = 1.5), 0, 0.01, "beta"},
        {"herk:thesis", OPTIONS(.safety = -0.5), 0, 0.01, "beta"},
        {"herk:thesis", OPTIONS(.safety = NAN), 0, 0.01, "beta"},
        {"herk:thesis", OPTIONS(.newton_tolerance = -1), 0, 0.01, "tol"},
        {"herk:thesis", OPTIONS(.pivot_tolerance = 1), 0, 0.01, "ptol"},
        {"herk:thesis", OPTIONS(.increment = INFINITY), 0, 0.01, "delta"},
        {"herk:thesis", OPTIONS(.adaptive_steps = (dae_switch)7), 0, 0.01, "ssc"},
        {"herk", OPTIONS(.simplified_newton = (dae_switch)-1), 0, 0.01, "Nopt"},
        {"herk", OPTIONS(.given_jacobian = DAE_SWITCH_ON, .increment = 1e-8), 0, 0.01, "Jopt"},
        {"herk", OPTIONS(.safety = 0.8), 1e-6, 0.01, "beta"},
        {"herk", OPTIONS(.newton_tolerance = 0.8), 1e-6, 0.01, "tol"},
        {"herk:4", OPTIONS(.adaptive_steps = DAE_SWITCH_ON), 1e-6, 0.01, "ssc"},
        {"radau", OPTIONS(.safety = 0.8), 1e-6, 0.01, "radau"},
        {"auto", OPTIONS(.safety = 0.8), 1e-6, 0.01, "herk"},
        {"herk:thesis", OPTIONS(.adaptive_steps = DAE_SWITCH_ON), 0, 0.01, "fixed_step"},
        {"herk:thesis", OPTIONS(.adaptive_steps = DAE_SWITCH_OFF), 1e-6, 0.01, "fixed_step"},
        {"herk:thesis", OPTIONS(.safety = 0.8), 1e-6, 0.01, "ssc"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        result r = run(&form, cases[k].method, cases[k].herk, cases[k].atol, cases[k].h0, 1);
        assert_true(r.status == DAE_ERR_ARGUMENT || r.status == DAE_ERR_UNSUPPORTED);
        assert_non_null(strstr(r.diag.text, cases[k].named));
    }
}

/* A program built with fewer fields gets the defaults of the others; one without a size is told. */
static void the_struct_may_grow(void **state)
{
    (void)state;
    const dae_quasilinear form = PENDULUM(1);
    dae_herk_options old = {.size = offsetof(dae_herk_options, newton_tolerance),
                            .adaptive_steps = DAE_SWITCH_ON,
                            .safety = 0.7,
                            .newton_tolerance = NAN};
    result r = run(&form, "herk:thesis", &old, 1e-5, 0.01, 20);
    assert_int_equal(r.status, DAE_OK);
    assert_true(fabs((double)r.stats.steps + 1 - 528) <= 2);
    old.size = 0;
    r = run(&form, "herk:thesis", &old, 1e-5, 0.01, 20);
    assert_int_equal(r.status, DAE_ERR_ARGUMENT);
    assert_non_null(strstr(r.diag.text, "herk"));
}

/* ---- Procedure 3.11 ---- */

static void required_unknowns_come_first(void **state)
{
    (void)state;
    static const double J[] = {2, 1, 1, 0.5, 0, 1}; /* example 3.13 */
    static const bool required[] = {false, false, true};
    int unknowns[3] = {-1, -1, -1}, rows[3] = {-1, -1, -1};
    dae_diag diag = {0};
    assert_int_equal(dae_select_unknowns(2, 3, J, required, 0, unknowns, rows, &diag), DAE_OK);
    assert_int_equal(unknowns[0], 2);
    assert_int_equal(unknowns[1], 0);
    assert_int_equal(rows[0], 1);
    assert_int_equal(rows[1], 0);
    assert_int_equal(unknowns[2], -1);
    assert_int_equal(dae_select_unknowns(2, 3, J, NULL, 0, unknowns, NULL, &diag), DAE_OK);
    assert_int_equal(unknowns[0], 0); /* the largest entry, then what is left */
    assert_int_equal(unknowns[1], 2);
}

static void what_cannot_be_selected_is_named(void **state)
{
    (void)state;
    static const double twice[] = {1, 2, 1, 2, 0, 0}, single[] = {1, 0, 0};
    static const bool required[] = {false, false, true}, all[] = {true, true, true};
    int unknowns[3];
    dae_diag diag = {0};
    assert_int_equal(dae_select_unknowns(2, 3, twice, NULL, 0, unknowns, NULL, &diag),
                     DAE_ERR_SINGULAR);
    assert_true(diag.equation == 0 && diag.variable < 0);
    assert_int_equal(dae_select_unknowns(1, 3, single, required, 0, unknowns, NULL, &diag),
                     DAE_ERR_SINGULAR);
    assert_true(diag.variable == 2 && diag.equation < 0);
    assert_int_equal(dae_select_unknowns(1, 3, single, all, 0, unknowns, NULL, &diag),
                     DAE_ERR_SINGULAR);
    assert_int_equal(dae_select_unknowns(1, 3, single, NULL, 0, unknowns, NULL, NULL), DAE_OK);
    assert_int_equal(dae_select_unknowns(4, 3, single, NULL, 0, unknowns, NULL, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_select_unknowns(1, 3, single, NULL, 1, unknowns, NULL, &diag),
                     DAE_ERR_ARGUMENT);
    const double nan_entry[] = {1, NAN, 0};
    assert_int_equal(dae_select_unknowns(1, 3, nan_entry, NULL, 0, unknowns, NULL, &diag),
                     DAE_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_follows_table_1),
        cmocka_unit_test(the_default_of_beta_is_that_of_the_circuit),
        cmocka_unit_test(steps_follow_the_control_to_the_letter),
        cmocka_unit_test(the_default_of_tol_follows_eps0),
        cmocka_unit_test(newton_ends_at_its_tolerance),
        cmocka_unit_test(a_simplified_iteration_needs_fewer_jacobians),
        cmocka_unit_test(differences_replace_the_jacobian),
        cmocka_unit_test(a_leading_matrix_that_changes_is_seen),
        cmocka_unit_test(small_pivots_count_as_zero),
        cmocka_unit_test(options_that_cannot_be_are_named),
        cmocka_unit_test(the_struct_may_grow),
        cmocka_unit_test(required_unknowns_come_first),
        cmocka_unit_test(what_cannot_be_selected_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
