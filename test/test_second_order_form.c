/* The second order form behind problems: which rows say y_i' = y_j, of callbacks and of models. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "method/method.h"
#include "system/kinematic.h"

/* ---- mechanical callbacks: a pendulum ---- */

static int gravity(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at;
    (void)user;
    f[0] = 0.0;
    f[1] = -1.0;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static const dae_mechanical pendulum = {
    .nq = 2, .nlambda = 1, .force = gravity, .constraint = rod, .scleronomic = true};

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
    const form_rewriting with[] = {FORM_AS_GIVEN, FORM_INDEX2, FORM_INDEX1, FORM_BAUMGARTE};
    dae_problem *p, *other;
    assert_int_equal(dae_problem_from_mechanical(&pendulum, &p, NULL), DAE_OK);
    expect_rows(p, 2, rows);
    for (size_t k = 0; k < sizeof with / sizeof with[0]; k++) {
        assert_int_equal(form_residual_problem(p, with[k], &other, NULL), DAE_OK);
        expect_rows(other, 2, rows);
        dae_problem_free(other);
    }
    assert_int_equal(form_residual_problem(p, FORM_GGL, &other, NULL), DAE_OK);
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
        cmocka_unit_test(test_mechanical),   cmocka_unit_test(test_velocity),
        cmocka_unit_test(test_bad_velocity), cmocka_unit_test(test_models_as_written),
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_forms_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
