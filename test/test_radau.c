/* Radau IIA: accuracy on stiff models, dense output, matrices of all structures, failures inside
 * stages. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "closed_problems.h"
#include "counted_threads.h"
#include "models.h"
#include "solve/bind/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- adaptive runs ---- */

/* Largest error at tend over rtol |y| + atol. */
static double weighted_error(const model *m, const char *name, double rtol, dae_stats *stats)
{
    int n = m->form.n;
    double *atol = malloc((size_t)n * sizeof *atol), *y = malloc((size_t)n * sizeof *y);
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    for (int i = 0; i < n; i++) atol[i] = rtol * (m->atol_factor ? m->atol_factor[i] : 1.0);
    o.method = name;
    o.rtol = rtol;
    o.atol_by_unknown = atol;
    o.stop_time = m->tend;
    o.max_steps = 0;
    assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
    dae_status status = dae_solver_run(s, m->tend, y, NULL);
    if (status != DAE_OK) fail_msg("%s: %s", m->name, dae_solver_diag(s)->text);
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double e = fabs(y[i] - m->reference[i]) / (rtol * fabs(m->reference[i]) + atol[i]);
        most = isnan(e) ? INFINITY : fmax(most, e);
    }
    if (stats) *stats = *dae_solver_stats(s);
    dae_solver_free(s);
    dae_problem_free(p);
    free(atol);
    free(y);
    return most;
}

static void check_model(const char *name, int size, int first, int last, double factor)
{
    model *m = model_new(name, size);
    assert_non_null(m);
    assert_non_null(m->reference);
    for (int k = first; k <= last; k++) {
        double e = weighted_error(m, "radau", pow(10.0, -k), NULL);
        if (!(e <= factor)) fail_msg("%s at rtol = 1e-%d: error %.3g tolerances", name, k, e);
    }
    model_free(m);
}

static void stiff_models(void **state)
{
    (void)state;
    check_model("robertson", 0, 3, 12, 30.0);
    check_model("hires", 0, 3, 12, 600.0);
    check_model("akzo", 0, 3, 12, 30.0);
    check_model("transamp", 0, 3, 12, 30.0);
    check_model("ringmod", 0, 3, 7, 1000.0);
}

/* The pendulum with its constraint as written, on position (index 3) and on velocity (index 2):
 * positions follow the tolerance, whatever the multipliers do. */
static void pendulum(void **state)
{
    (void)state;
    static const char *const names[] = {"pendulum2", "pendulum3"};
    for (int k = 0; k < 2; k++)
        for (double rtol = 1e-3; rtol > 1e-11; rtol *= 0.1) {
            model *m = model_new(names[k], 0);
            dae_problem *p;
            dae_solver *s;
            dae_options o = dae_options_default();
            double y[MOST];
            o.method = "radau";
            o.rtol = o.atol = rtol;
            o.stop_time = m->tend;
            assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
            if (dae_solver_run(s, m->tend, y, NULL) != DAE_OK)
                fail_msg("%s at %g: %s", m->name, rtol, dae_solver_diag(s)->text);
            for (int i = 0; i < 2; i++)
                if (!(fabs(y[i] - m->reference[i]) <= 30.0 * rtol))
                    fail_msg("%s at %g: error %g", m->name, rtol, y[i] - m->reference[i]);
            dae_solver_free(s);
            dae_problem_free(p);
            model_free(m);
        }
}

/* Van der Pol as y1' = y2, y2' = mu ((1 - y1^2) y2 - y1), and its limit 0 = (1 - y1^2) y2 - y1 */
static double mu_of_van_der_pol;

static int vanderpol_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] / mu_of_van_der_pol - ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    return 0;
}

static int limit_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[1];
    f[1] = (1.0 - y[0] * y[0]) * y[1] - y[0];
    return 0;
}

/* t = 2 for mu = 1e6: the value of the test set of Hairer and Wanner, after two jumps */
static void van_der_pol(void **state)
{
    (void)state;
    double y0[2] = {2.0, 0.0}, yp0[2] = {0.0, -2e6};
    double reference[2] = {0.1706167732170483e1, -0.8928097010247975e0};
    model m = {.name = "van der Pol", .form = {.n = 2, .f = vanderpol_f}, .tend = 2.0};
    m.y0 = y0;
    m.yp0 = yp0;
    m.reference = reference;
    mu_of_van_der_pol = 1e6;
    for (int k = 3; k <= 11; k++) {
        double e = weighted_error(&m, "radau", pow(10.0, -k), NULL);
        if (!(e <= 30.0)) fail_msg("rtol = 1e-%d: error %.3g tolerances", k, e);
    }
}

/* In the limit t = log(y1/2) + 2 - y1^2/2, which gives y1 at t = 1/2, before the first jump. mu =
 * 1e9 differs from it by about 1e-9. */
static void van_der_pol_limit(void **state)
{
    (void)state;
    double x = 1.6;
    for (int k = 0; k < 60; k++) {
        double g = log(x / 2.0) + 2.0 - 0.5 * x * x - 0.5;
        x -= g / (1.0 / x - x);
    }
    double reference[2] = {x, x / (1.0 - x * x)}, y0[2] = {2.0, -2.0 / 3.0}, yp0[2];
    yp0[0] = y0[1];
    yp0[1] = y0[1] * (1.0 + 2.0 * y0[0] * y0[1]) / (1.0 - y0[0] * y0[0]);
    model m = {.name = "limit", .form = {.n = 2, .f = limit_f}, .tend = 0.5};
    m.y0 = y0;
    m.yp0 = yp0;
    m.reference = reference;
    for (int k = 3; k <= 12; k++) {
        double e = weighted_error(&m, "radau", pow(10.0, -k), NULL);
        if (!(e <= 30.0)) fail_msg("limit at rtol = 1e-%d: error %.3g tolerances", k, e);
    }
    m.form.f = vanderpol_f;
    mu_of_van_der_pol = 1e9;
    for (int k = 3; k <= 7; k++)
        assert_true(weighted_error(&m, "radau", pow(10.0, -k), NULL) < 30.0);
}

/* Banded and sparse matrices give what dense ones give. */
static void structures(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int size;
    } cases[] = {{"heat2d", 8}, {"ladder", 40}, {"brusselator", 30}};
    static const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED,
                                                DAE_LINEAR_SPARSE};
    for (size_t c = 0; c < 3; c++) {
        model *m = model_new(cases[c].name, cases[c].size);
        assert_non_null(m);
        int n = m->form.n;
        double *y[3];
        for (int k = 0; k < 3; k++) {
            dae_problem *p;
            dae_solver *s;
            dae_options o = dae_options_default();
            y[k] = malloc((size_t)n * sizeof(double));
            o.method = "radau";
            o.rtol = o.atol = 1e-9;
            o.linear_solver = solvers[k];
            o.stop_time = m->tend;
            assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
            if (dae_solver_run(s, m->tend, y[k], NULL) != DAE_OK)
                fail_msg("%s: %s", m->name, dae_solver_diag(s)->text);
            dae_solver_free(s);
            dae_problem_free(p);
        }
        for (int i = 0; i < n; i++)
            for (int k = 1; k < 3; k++)
                assert_true(fabs(y[k][i] - y[0][i]) <= 1e-6 * (1e-3 + fabs(y[0][i])));
        for (int k = 0; k < 3; k++) free(y[k]);
        model_free(m);
    }
}

/* A second thread changes nothing but the time: sparse and banded matrices, all numbers of stages.
 */
static void threads_give_the_same_bits(void **state)
{
    (void)state;
    static const dae_linear_solver solvers[] = {DAE_LINEAR_SPARSE, DAE_LINEAR_BANDED};
    static const char *const names[] = {"radau", "radau:5", "radau:9", "radau:13"};
    static const int sizes[] = {40, 1500};
    for (int c = 0; c < 8; c++) {
        model *m = model_new(c % 2 ? "brusselator" : "heat2d", sizes[c % 2]);
        assert_non_null(m);
        double *y[2];
        for (int k = 0; k < 2; k++) {
            dae_problem *p;
            dae_solver *s;
            dae_options o = dae_options_default();
            y[k] = malloc((size_t)m->form.n * sizeof(double));
            o.method = names[c / 2];
            o.rtol = o.atol = 1e-4;
            o.linear_solver = solvers[c % 2];
            o.threads = k + 1;
            threads_made = 0;
            assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
            if (dae_solver_run(s, 0.01 * m->tend, y[k], NULL) != DAE_OK)
                fail_msg("%s: %s", m->name, dae_solver_diag(s)->text);
            assert_int_equal(threads_made, k); /* with the first systems, where it is allowed */
            dae_solver_free(s);
            dae_problem_free(p);
        }
        assert_memory_equal(y[0], y[1], (size_t)m->form.n * sizeof(double));
        for (int k = 0; k < 2; k++) free(y[k]);
        model_free(m);
    }
}

/* ---- one solver, looked at from inside ---- */

static dae_solver *solver_for(const closed_form *c, dae_problem **p, dae_dense dense, double rtol)
{
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST];
    *p = problem_of(c);
    o.method = "radau";
    o.rtol = o.atol = rtol;
    o.dense = dense;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(*p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

/* Between steps values and slopes are those of the solution, algebraic variables included; the
 * smooth interpolant has no jumps of its slope. */
static void dense_output(void **state)
{
    (void)state;
    for (int smooth = 0; smooth < 2; smooth++) {
        dae_problem *p;
        dae_solver *s =
            solver_for(&index1, &p, smooth ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS, 1e-10);
        double y[MOST], exact[MOST], slope[MOST], a, b, before[MOST];
        for (int k = 0; dae_solver_step(s, 2.0) == DAE_STEPPED; k++) {
            dae_solver_last_step(s, &a, &b);
            for (int j = 0; j <= 4; j++) {
                double t = a + (b - a) * j / 4.0;
                index1.solution(t, exact, slope);
                assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
                for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - exact[i]) < 2e-6);
                assert_int_equal(dae_solver_at(s, t, 1, y), DAE_OK);
                for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - slope[i]) < 1e-3);
                for (int i = 0; smooth && k > 0 && j == 0 && i < 3; i++)
                    assert_true(fabs(y[i] - before[i]) < 1e-9);
                memcpy(before, y, sizeof before);
            }
            index1.solution(b, exact, slope);
            dae_solver_at(s, b, 0, y);
            for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - exact[i]) < 1e-8);
        }
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* An attempt writes scratch only, whether it passes or not. */
static void attempts_leave_state(void **state)
{
    (void)state;
    dae_problem *p;
    dae_solver *s = solver_for(&index1, &p, DAE_DENSE_CONTINUOUS, 1e-6);
    size_t size, scratch;
    attempt a;
    for (int k = 0; k < 3; k++) assert_int_equal(dae_solver_step(s, 2.0), DAE_STEPPED);
    method_size(s->bound.method, s->bound.n, &size, &scratch);
    unsigned char *copy = malloc(size);
    memcpy(copy, s->bound.state, size);
    for (double h = 1e-3; h < 1e3; h *= 10.0) {
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h, 13, &a);
        assert_memory_equal(copy, s->bound.state, size);
        assert_true(a.status != ATTEMPT_OK || a.error > 0.0);
        assert_true(a.next_factor > 0.0);
    }
    free(copy);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- failures inside stages ---- */

/* y' = -sqrt(y), which exists for y >= 0 only; F says so */
static int root_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    if (y[0] < 0.0) return 1;
    f[0] = yp[0] + sqrt(y[0]);
    return 0;
}

static void recoverable_errors(void **state)
{
    (void)state;
    double y0 = 1.0, yp0 = -1.0, y, tend = 1.9;
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "radau";
    o.initial_step = 3.0;
    o.stop_time = tend;
    dae_residual form = {.n = 1, .f = root_f};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(s, tend, &y, NULL), DAE_OK);
    assert_true(fabs(y - (1.0 - tend / 2.0) * (1.0 - tend / 2.0)) < 1e-5);
    /* beyond t = 2 there is no solution: the failure says which callback, and where */
    assert_int_equal(dae_solver_set_stop_time(s, 3.0), DAE_OK);
    dae_status status = dae_solver_run(s, 3.0, &y, NULL);
    if (status != DAE_OK) assert_true(dae_solver_diag(s)->t < 2.1);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y' = -y^3 + 0 with a NaN from F in the middle of the interval: the stage is told. */
static int hole_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = t > 1.0 ? NAN : yp[0] + y[0] * y[0] * y[0];
    return 0;
}

static void failing_stage(void **state)
{
    (void)state;
    double y0 = 1.0, yp0 = -1.0, y;
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "radau:5";
    dae_residual form = {.n = 1, .f = hole_f};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(s, 2.0, &y, NULL), DAE_ERR_EVALUATION);
    assert_true(dae_solver_diag(s)->t >= 1.0 && dae_solver_diag(s)->t < 1.001);
    assert_int_equal(dae_solver_diag(s)->equation, 0);
    assert_in_range(s->run.last.stage, 1, 3);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Bounds: y' = -50 y, y >= 0 is met without leaving it. */
static int decay_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (y[0] < 0.0) *(int *)user = 1;
    f[0] = yp[0] + 50.0 * y[0];
    return 0;
}

static void bounds(void **state)
{
    (void)state;
    int left = 0;
    double y0 = 1.0, yp0 = -50.0, y, zero = 0.0;
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "radau";
    o.rtol = o.atol = 1e-3;
    dae_residual form = {.n = 1, .f = decay_f, .lower_bounds = &zero, .user = &left};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    while (dae_solver_step(s, 5.0) > 0) {
        assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, &y), DAE_OK);
        assert_true(y >= 0.0 && y <= 1.0);
    }
    assert_true(dae_solver_time(s) == 5.0);
    assert_false(left);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* GMRES has no matrix for the complex systems: that is said. */
static void no_gmres(void **state)
{
    (void)state;
    double y[MOST], yp[MOST];
    dae_problem *p = problem_of(&ode);
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = "radau";
    o.linear_solver = DAE_LINEAR_GMRES;
    ode.solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_int_equal(dae_solver_stats(s)->attempts, 0);
    assert_non_null(strstr(dae_solver_diag(s)->text, "linear solver"));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Backwards from the end to the beginning. */
static void backwards(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&index1);
    dae_solver *s;
    dae_options o = dae_options_default();
    double y[MOST], yp[MOST], exact[MOST];
    o.method = "radau";
    o.rtol = o.atol = 1e-9;
    o.stop_time = 0.0;
    index1.solution(2.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 2.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 0.0, y, NULL), DAE_OK);
    index1.solution(0.0, exact, yp);
    for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - exact[i]) < 1e-7);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Index 2 and 3 with error control: the tolerance is met within what the lower orders allow. */
static void higher_index_adaptive(void **state)
{
    (void)state;
    const closed_form *both[] = {&index2, &index3};
    for (int k = 0; k < 2; k++)
        for (double rtol = 1e-4; rtol > 1e-9; rtol *= 0.1) {
            const closed_form *c = both[k];
            dae_problem *p;
            dae_solver *s = solver_for(c, &p, DAE_DENSE_CONTINUOUS, rtol);
            double y[MOST], exact[MOST], yp[MOST];
            dae_solver_set_stop_time(s, c->tend);
            if (dae_solver_run(s, c->tend, y, NULL) != DAE_OK)
                fail_msg("%s: %s", c->name, dae_solver_diag(s)->text);
            c->solution(c->tend, exact, yp);
            for (int i = 0; i < c->n; i++) {
                /* 3 stages have the least spread of orders: 5, 3 and 2 */
                double power = i < c->first[1] ? 1.0 : c->count == 2 || i < c->first[2] ? 0.6 : 0.3;
                double e = fabs(y[i] - exact[i]) / (fabs(exact[i]) + 1.0);
                if (!(e <= 30.0 * pow(rtol, power)))
                    fail_msg("%s at rtol = %g: error %g of y[%d]", c->name, rtol, e, i);
            }
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_index_adaptive),
        cmocka_unit_test(stiff_models),
        cmocka_unit_test(van_der_pol),
        cmocka_unit_test(pendulum),
        cmocka_unit_test(van_der_pol_limit),
        cmocka_unit_test(structures),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(dense_output),
        cmocka_unit_test(attempts_leave_state),
        cmocka_unit_test(recoverable_errors),
        cmocka_unit_test(failing_stage),
        cmocka_unit_test(bounds),
        cmocka_unit_test(backwards),
        cmocka_unit_test(no_gmres),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
