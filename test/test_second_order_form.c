/* The second order form behind problems: which rows say y_i' = y_j, of callbacks and of models. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "matrix/kinematic.h"
#include "method/common/method.h"
#include "pendulum.h"

/* ---- mechanical callbacks: a pendulum ---- */

static int gravity(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at;
    (void)user;
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

static const dae_mechanical pendulum = {
    .nq = 2, .nlambda = 1, .force = gravity, .constraint = pendulum_rod, .scleronomic = true};

static void expect_rows(const dae_problem *p, int count, const kinematic_row *rows)
{
    assert_int_equal(p->kinematic_count, count);
    for (int k = 0; k < count; k++) {
        assert_int_equal(p->kinematic[k].row, rows[k].row);
        assert_int_equal(p->kinematic[k].unknown, rows[k].unknown);
        assert_int_equal(p->kinematic[k].velocity, rows[k].velocity);
    }
}

static void test_mechanical(void **state)
{
    (void)state;
    const kinematic_row rows[] = {{0, 0, 2}, {1, 1, 3}};
    const form_rewriting *const with[] = {&mechanical_as_given, &mechanical_index2,
                                          &mechanical_index1, &mechanical_baumgarte};
    dae_problem *p, *other;
    assert_int_equal(dae_problem_from_mechanical(&pendulum, &p, NULL), DAE_OK);
    expect_rows(p, 2, rows);
    for (size_t k = 0; k < sizeof with / sizeof with[0]; k++) {
        assert_int_equal(form_residual_problem(p, with[k], &other, NULL), DAE_OK);
        expect_rows(other, 2, rows);
        dae_problem_free(other);
    }
    assert_int_equal(form_residual_problem(p, &mechanical_ggl, &other, NULL), DAE_OK);
    expect_rows(other, 0, NULL); /* q' = v - G' mu */
    dae_problem_free(other);
    dae_problem_free(p);
}

/* ---- residual callbacks that say which unknown is a velocity ---- */

/* x'' = -x, z'' + z' = x + sin(z), 0 = w - x v, with rows mixed: y = (v, x, w, z, u) with v = x', u
 * = z'. Row 3 looks like x' = v in its slopes, but is not. */
static int oscillators(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    int *calls = user;
    if (calls) ++*calls;
    f[0] = yp[0] + y[1];
    f[1] = -2.5 * (yp[3] - y[4]);
    f[2] = y[2] - y[1] * y[0];
    f[3] = yp[4] + y[4] - y[1] - sin(y[3]);
    f[4] = 1e-3 * yp[1] - 1e-3 * y[0];
    return 0;
}

static const int velocity[] = {-1, 0, -1, 4, -1};

static void test_velocity(void **state)
{
    (void)state;
    int calls = 0;
    const dae_residual r = {.n = 5, .f = oscillators, .user = &calls, .velocity = velocity};
    dae_problem *p;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(&r, &p, &diag), DAE_OK);
    const kinematic_row promised[] = {{-1, 1, 0}, {-1, 3, 4}};
    expect_rows(p, 2, promised);

    dae_stats stats = {0};
    evaluator eval = {.problem = p, .stats = &stats};
    const double y[5] = {0.0, 1.0, 0.0, 0.3, 0.0}, yp[5] = {0.0};
    kinematic_row rows[2];
    memcpy(rows, p->kinematic, sizeof rows);
    int missing = -2;
    assert_int_equal(kinematic_find(&eval, 0.0, y, yp, 2, rows, &missing), EVAL_OK);
    assert_int_equal(missing, -1);
    assert_int_equal(rows[0].row, 4);
    assert_int_equal(rows[1].row, 1);
    assert_int_equal(stats.jacobian_residuals, calls);

    rows[0] = (kinematic_row){-1, 1, 0};
    rows[1] = (kinematic_row){-1, 3, 2}; /* no row says z' = w */
    assert_int_equal(kinematic_find(&eval, 0.0, y, yp, 2, rows, &missing), EVAL_OK);
    assert_int_equal(missing, 1);
    dae_problem_free(p);
}

static void expect_refused(const int *bad, const char *text)
{
    const dae_residual r = {.n = 5, .f = oscillators, .velocity = bad};
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(&r, &p, &diag), DAE_ERR_ARGUMENT);
    assert_null(p);
    if (!strstr(diag.text, text)) fail_msg("\"%s\" is not in: %s", text, diag.text);
}

static void test_bad_velocity(void **state)
{
    (void)state;
    expect_refused((const int[]){-1, 5, -1, 4, -1}, "velocity[1] = 5");
    expect_refused((const int[]){-1, -2, -1, 4, -1}, "velocity[1] = -2");
    expect_refused((const int[]){-1, 1, -1, 4, -1}, "velocity[1] = 1");
    expect_refused((const int[]){4, 0, -1, -1, -1}, "cannot have a velocity of its own");
}

/* ---- models ---- */

static dae_problem *model(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag;
    const dae_model m = {.text = text};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static bool says(const dae_problem *p, const char *unknown, const char *of)
{
    for (int k = 0; k < p->kinematic_count; k++)
        if (strcmp(problem_variable(p, p->kinematic[k].unknown), unknown) == 0 &&
            strcmp(problem_variable(p, p->kinematic[k].velocity), of) == 0)
            return true;
    return false;
}

static void test_models_as_written(void **state)
{
    (void)state;
    dae_problem *p = model("model M Real x, v(start = 1), w; equation 2*v = 2*der(x); der(v) = -x; "
                           "w = x*v; end M;");
    assert_int_equal(p->kinematic_count, 1);
    assert_true(says(p, "x", "v"));
    dae_problem_free(p);

    p = model("model M Real x(start = 1), z; equation der(der(x)) = -x; der(z) = x + 1; end M;");
    assert_int_equal(p->kinematic_count, 1); /* not z' = x + 1 */
    assert_true(says(p, "x", "der(x)"));
    dae_problem_free(p);

    p = model("model M Real x(start = 1), v, a; equation der(x) = v; der(v) = a; "
              "der(a) = -x - v - a; end M;");
    assert_int_equal(p->kinematic_count, 1); /* of a chain its lower end */
    assert_true(says(p, "x", "v"));
    dae_problem_free(p);

    p = model("model M Real x(start = 1), v; equation der(x) = 2*v; der(v) = -x; end M;");
    assert_int_equal(p->kinematic_count, 0); /* twice a velocity is none */
    dae_problem_free(p);

    p = model("model M Real x(start = 1), v; equation -der(x) = -v; der(v) = -x; end M;");
    assert_true(says(p, "x", "v"));
    dae_problem_free(p);
}

/* Two unknowns of one velocity: it serves one of them. */
static void test_choice(void **state)
{
    (void)state;
    dae_problem *p = model("model M Real x(start = 1), z(start = 2), v; equation der(x) = v; "
                           "der(z) = v; der(v) = -x; end M;");
    assert_int_equal(p->kinematic_count, 1);
    assert_true(says(p, "x", "v"));
    const kinematic_row chain[] = {{2, 2, 0}, {1, 1, 2}, {0, 0, 1}}; /* a circle: no lower end */
    assert_true(kinematic_keep(p, 3, chain));
    assert_int_equal(p->kinematic_count, 1);
    dae_problem_free(p);
}

/* ---- F(t, x, x', x'') = 0 as it is given ---- */

/* A chain x_i'' + c x_i' x_i = x_{i-1} - 2 x_i + x_{i+1} with an unknown of first order behind it,
 * x_m' = -x_m + x_{m-1}, and an algebraic one, 0 = x_{m+1} - sin(x_m) - t. */
enum { CHAIN = 4, ALL = CHAIN + 2 };

static int chain(double t, const double *x, const double *xp, const double *xpp, double *f,
                 void *user)
{
    (void)user;
    for (int i = 0; i < CHAIN; i++) {
        double left = i > 0 ? x[i - 1] : 0.0, right = i < CHAIN - 1 ? x[i + 1] : 0.0;
        f[i] = xpp[i] + 0.3 * xp[i] * x[i] - (left - 2.0 * x[i] + right);
    }
    f[CHAIN] = xp[CHAIN] + x[CHAIN] - x[CHAIN - 1];
    f[CHAIN + 1] = x[CHAIN + 1] - sin(x[CHAIN]) - t;
    return 0;
}

static void chain_entry(double *values, const dae_pattern *p, int i, int j, double value)
{
    if (!p) {
        values[i + j * ALL] += value;
        return;
    }
    for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++)
        if (p->rowind[k] == i) {
            values[k] += value;
            return;
        }
    fail_msg("entry (%d, %d) is not in the pattern", i, j);
}

static int chain_jacobian(double t, const double *x, const double *xp, const double *xpp,
                          double *f_x, double *f_xp, double *f_xpp, void *user)
{
    (void)t;
    (void)xpp;
    const dae_pattern *p = user;
    for (int i = 0; i < CHAIN; i++) {
        chain_entry(f_xpp, p, i, i, 1.0);
        chain_entry(f_xp, p, i, i, 0.3 * x[i]);
        chain_entry(f_x, p, i, i, 0.3 * xp[i] + 2.0);
        if (i > 0) chain_entry(f_x, p, i, i - 1, -1.0);
        if (i < CHAIN - 1) chain_entry(f_x, p, i, i + 1, -1.0);
    }
    chain_entry(f_xp, p, CHAIN, CHAIN, 1.0);
    chain_entry(f_x, p, CHAIN, CHAIN, 1.0);
    chain_entry(f_x, p, CHAIN, CHAIN - 1, -1.0);
    chain_entry(f_x, p, CHAIN + 1, CHAIN + 1, 1.0);
    chain_entry(f_x, p, CHAIN + 1, CHAIN, -cos(x[CHAIN]));
    return 0;
}

static const bool chain_second[ALL] = {true, true, true, true, false, false};
static const int chain_colptr[] = {0, 2, 5, 8, 11, 13, 14};
static const int chain_rowind[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3, 4, 4, 5, 5};

/* The same in first order, by hand. */
static int chain_first_order(double t, const double *y, const double *yp, double *f, void *user)
{
    double xp[ALL], xpp[ALL] = {0.0};
    for (int i = 0; i < ALL; i++) xp[i] = i < CHAIN ? y[ALL + i] : yp[i];
    for (int i = 0; i < CHAIN; i++) {
        xpp[i] = yp[ALL + i];
        f[ALL + i] = yp[i] - y[ALL + i];
    }
    return chain(t, y, xp, xpp, f, user);
}

static void run_bdf(const dae_problem *p, double *y, dae_stats *stats)
{
    dae_solver *s;
    dae_diag diag;
    dae_options o = dae_options_default();
    double y0[ALL + CHAIN] = {1.0, 0.5, 0.0, -0.5, 0.2, 0.0};
    o.rtol = o.atol = 1e-9;
    o.method = "bdf";
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y0, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    if (dae_solver_run(s, 3.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    *stats = *dae_solver_stats(s);
    dae_solver_free(s);
}

static void test_second_order_callbacks(void **state)
{
    (void)state;
    const dae_pattern pattern = {chain_colptr, chain_rowind};
    const dae_second_order plain = {.n = ALL, .f = chain, .second = chain_second};
    dae_second_order dense = plain, sparse = plain;
    dense.jacobian = chain_jacobian;
    sparse.jacobian = chain_jacobian;
    sparse.pattern = pattern;
    sparse.user = (void *)(uintptr_t)&pattern;
    const dae_residual by_hand = {.n = ALL + CHAIN, .f = chain_first_order};
    const dae_second_order *forms[] = {&plain, &dense, &sparse};
    dae_problem *p;
    dae_stats expected, stats;
    double reference[ALL + CHAIN], y[ALL + CHAIN];
    assert_int_equal(dae_problem_from_residual(&by_hand, &p, NULL), DAE_OK);
    run_bdf(p, reference, &expected);
    dae_problem_free(p);
    for (int k = 0; k < 3; k++) {
        dae_diag diag;
        if (dae_problem_from_second_order(forms[k], &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_int_equal(dae_problem_size(p), ALL + CHAIN);
        assert_int_equal(p->kinematic_count, CHAIN);
        assert_int_equal(p->kinematic[1].row, ALL + 1);
        assert_int_equal(p->kinematic[1].unknown, 1);
        assert_int_equal(p->kinematic[1].velocity, ALL + 1);
        assert_string_equal(dae_problem_unknown_name(p, 4), "x[4]");
        assert_string_equal(dae_problem_unknown_name(p, ALL + 1), "der(x[1])");
        assert_string_equal(dae_problem_equation_name(p, ALL + 1), "velocity of x[1]");
        run_bdf(p, y, &stats);
        for (int i = 0; i < ALL + CHAIN; i++) assert_true(fabs(y[i] - reference[i]) < 1e-6);
        assert_true(labs(stats.steps - expected.steps) <= expected.steps / 10);
        assert_true(k > 0 ? stats.jacobian_residuals <= 1 : stats.jacobian_residuals > 0);
        dae_problem_free(p);
    }
}

/* Jacobians with and without a pattern are the same matrices, those of differences of F. */
static void test_second_order_jacobians(void **state)
{
    (void)state;
    enum { N = ALL + CHAIN };
    const dae_pattern pattern = {chain_colptr, chain_rowind};
    const dae_second_order sparse = {.n = ALL,
                                     .f = chain,
                                     .second = chain_second,
                                     .jacobian = chain_jacobian,
                                     .pattern = pattern,
                                     .user = (void *)(uintptr_t)&pattern};
    dae_problem *p;
    assert_int_equal(dae_problem_from_second_order(&sparse, &p, NULL), DAE_OK);
    dae_stats stats = {0};
    evaluator eval = {.problem = p, .stats = &stats};
    form_instance *x = form_instance_new(p->forms, FORM_RESIDUAL, &eval);
    assert_non_null(x);
    eval.forms = x;
    double y[N], yp[N], a[200], b[200], f[2][N];
    for (int i = 0; i < N; i++) {
        y[i] = sin(1.0 + i);
        yp[i] = cos(2.0 * i);
    }
    assert_int_equal(evaluate_jacobian(&eval, &p->layout, 0.5, y, yp, a, b), EVAL_OK);
    for (int j = 0; j < N; j++)
        for (int slope = 0; slope < 2; slope++) {
            double *moved = slope ? yp : y, full[N] = {0.0}, step = 1e-6, before = moved[j];
            for (int k = 0; k < 2; k++) {
                moved[j] = before + (k ? -step : step);
                chain_first_order(0.5, y, yp, f[k], NULL);
            }
            moved[j] = before;
            for (int k = p->layout.colptr[j]; k < p->layout.colptr[j + 1]; k++)
                full[p->layout.rowind[k]] = (slope ? b : a)[k];
            for (int i = 0; i < N; i++)
                assert_true(fabs(full[i] - (f[0][i] - f[1][i]) / (2.0 * step)) < 1e-8);
        }
    form_instance_free(x);
    dae_problem_free(p);
}

/* [Wun05 (3.9)]: x1'' + x1' + x2 = f1, x1 = f2, whose leading matrix is singular, with f1 = cos t,
 * f2 = sin 2t. */
static int coupled(double t, const double *x, const double *xp, const double *xpp, double *f,
                   void *user)
{
    (void)user;
    f[0] = xpp[0] + xp[0] + x[1] - cos(t);
    f[1] = x[0] - sin(2.0 * t);
    return 0;
}

static double coupled_x2(double t)
{
    return cos(t) - 2.0 * cos(2.0 * t) + 4.0 * sin(2.0 * t);
}

/* Largest errors of x1 and x2 at t = 1 and at the last steps before it. */
static void run_coupled(const char *name, double rtol, double h, double error[2])
{
    static const bool second[] = {true, false};
    static const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX3};
    static const dae_kind velocity_kinds[] = {DAE_KIND_INDEX2, DAE_KIND_AUTO};
    const dae_second_order form = {
        .n = 2, .f = coupled, .second = second, .kinds = kinds, .velocity_kinds = velocity_kinds};
    dae_problem *p;
    dae_solver *s;
    dae_diag diag;
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = o.atol = rtol;
    o.init = DAE_INIT_NONE;
    o.fixed_step = h;
    if (h > 0.0) o.max_order = 2;
    double y[3] = {0.0, coupled_x2(0.0), 2.0}, yp[3] = {2.0, 8.0, 0.0};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_OK);
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, y, yp) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    if (dae_solver_run(s, 1.0, y, yp) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    error[0] = fabs(y[0] - sin(2.0));
    error[1] = fabs(y[1] - coupled_x2(1.0));
    dae_solver_free(s);
    dae_problem_free(p);
}

static void test_singular_leading_matrix(void **state)
{
    (void)state;
    double coarse[2], fine[2];
    run_coupled("bdf", 1e-6, 0.02, coarse); /* first order methods have it, too: order 2 */
    run_coupled("bdf", 1e-6, 0.01, fine);
    assert_true(fine[0] < 1e-9 && fine[1] < 2e-3);
    assert_true(coarse[1] / fine[1] > 3.5);
}

/* x1'' appears although the description says that it does not. */
static void test_wrong_orders(void **state)
{
    (void)state;
    static const bool none[] = {false, false};
    const dae_second_order form = {.n = 2, .f = coupled, .second = none};
    const double y[2] = {0.0, 1.0};
    dae_problem *p;
    dae_solver *s;
    assert_int_equal(dae_problem_from_second_order(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, NULL, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(s)->text, "second[0] is false"));
    assert_int_equal(dae_solver_diag(s)->variable, 0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* [Wun05 (3.9)] by a second order method, to tolerance; and velocities that no row says. */
static void test_second_order_method(void **state)
{
    (void)state;
    double error[2];
    run_coupled("bdf2nd", 1e-6, 0.0, error);
    assert_true(error[0] < 1e-6 && error[1] < 1e-3);

    const int wrong[] = {-1, 0, -1, 2, -1};
    const int *given[] = {velocity, wrong};
    const double y0[5] = {0.0, 1.0, 0.0, 0.3, 0.0};
    for (int k = 0; k < 2; k++) {
        const dae_residual r = {.n = 5, .f = oscillators, .velocity = given[k]};
        dae_problem *p;
        dae_solver *s;
        dae_diag diag;
        dae_options o = dae_options_default();
        double y[5];
        o.method = "bdf2nd";
        o.rtol = o.atol = 1e-8;
        assert_int_equal(dae_problem_from_residual(&r, &p, &diag), DAE_OK);
        if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
        dae_status status = dae_solver_start(s, 0.0, y0, NULL);
        if (k == 0) {
            assert_int_equal(status, DAE_OK);
            assert_int_equal(dae_solver_run(s, 3.0, y, NULL), DAE_OK);
            assert_true(fabs(y[1] - cos(3.0)) < 1e-5 && fabs(y[0] + sin(3.0)) < 1e-5);
        } else {
            assert_int_equal(status, DAE_ERR_ARGUMENT);
            assert_non_null(strstr(dae_solver_diag(s)->text, "velocity[3] = 2"));
        }
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* A first order method may have them; one for second order asks for velocities. */
static void test_bad_second_order(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_diag diag;
    static const dae_kind kinds[] = {DAE_KIND_AUTO, (dae_kind)9};
    dae_second_order form = {.n = 0, .f = coupled};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    form = (dae_second_order){.n = 2};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "f is NULL"));
    form = (dae_second_order){.n = 2, .f = coupled, .velocity_kinds = kinds};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "velocity_kinds[1] = 9"));
    form = (dae_second_order){.n = 2, .f = coupled, .event_count = 1};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    static const int colptr[] = {0, 1, 2}, rowind[] = {0, 2};
    form = (dae_second_order){.n = 2, .f = coupled, .pattern = {colptr, rowind}};
    assert_int_equal(dae_problem_from_second_order(&form, &p, &diag), DAE_ERR_ARGUMENT);
    assert_null(p);
}

static void test_forms_text(void **state)
{
    (void)state;
    assert_string_equal(forms_text(FORM_RESIDUAL), "residual");
    assert_string_equal(forms_text(FORM_SECOND_ORDER), "second order");
    assert_string_equal(forms_text(FORM_MECHANICAL | FORM_HESSENBERG), "mechanical, hessenberg");
    assert_string_equal(forms_text(FORM_QUASILINEAR | FORM_RESIDUAL | FORM_MANIFOLD),
                        "quasilinear, manifold, residual");
    assert_string_equal(forms_text(63u), "mechanical, second order, hessenberg, quasilinear, "
                                         "manifold, residual");
    assert_string_equal(forms_text(0u), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mechanical),
        cmocka_unit_test(test_velocity),
        cmocka_unit_test(test_bad_velocity),
        cmocka_unit_test(test_models_as_written),
        cmocka_unit_test(test_second_order_callbacks),
        cmocka_unit_test(test_second_order_jacobians),
        cmocka_unit_test(test_singular_leading_matrix),
        cmocka_unit_test(test_bad_second_order),
        cmocka_unit_test(test_wrong_orders),
        cmocka_unit_test(test_second_order_method),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_forms_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
