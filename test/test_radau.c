/* Radau IIA: orders on problems of index 0 to 3 against closed forms, accuracy on stiff models,
 * dense output, matrices of all structures, failures inside stages. */
#include "models.h"
#include "solve/solver.h"
#include "system/shifted.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 8 };

/* ---- problems with closed forms ---- */

typedef struct closed_form {
    const char *name;
    int n;
    dae_residual_fn f;
    void (*solution)(double t, double *y, double *yp);
    const dae_kind *kinds;
    double tend;
    int first[3], count; /* first variable of each block (y, z, u), number of blocks */
} closed_form;

/* Known solutions run in a time phi(t) that is fast and slow by turns, lest the high orders meet
 * round-off at once: phi = t + 0.16 sin 5t. */
static double phase(double t)
{
    return t + 0.16 * sin(5.0 * t);
}

static double speed(double t)
{
    return 1.0 + 0.8 * cos(5.0 * t);
}

/* y1 = exp(sin phi), y2 = 1 / (1 + phi) */
static int ode_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - speed(t) * y[0] * cos(phase(t));
    f[1] = yp[1] + speed(t) * y[1] * y[1];
    return 0;
}

static void ode_solution(double t, double *y, double *yp)
{
    y[0] = exp(sin(phase(t)));
    y[1] = 1.0 / (1.0 + phase(t));
    yp[0] = speed(t) * y[0] * cos(phase(t));
    yp[1] = -speed(t) * y[1] * y[1];
}

/* The same with z = y1 y2, and a leading coefficient that depends on the state */
static int index1_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double product = y[0] * y[1];
    f[0] = yp[0] * y[1] - speed(t) * y[2] * cos(phase(t));
    f[1] = yp[1] + speed(t) * y[1] * y[1];
    f[2] = y[2] * y[2] * y[2] - product * product * product;
    return 0;
}

static void index1_solution(double t, double *y, double *yp)
{
    ode_solution(t, y, yp);
    y[2] = y[0] * y[1];
    yp[2] = yp[0] * y[1] + y[0] * yp[1];
}

/* y1' = y1 y2^2 z^2, y2' = y1^2 y2^2 - 3 y2^2 z, 0 = y1^2 y2 - 1 in the time phi:
 * y1 = exp(phi), y2 = exp(-2 phi), z = exp(2 phi) */
static int index2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double v = speed(t);
    f[0] = yp[0] - v * y[0] * y[1] * y[1] * y[2] * y[2];
    f[1] = yp[1] - v * (y[0] * y[0] * y[1] * y[1] - 3.0 * y[1] * y[1] * y[2]);
    f[2] = y[0] * y[0] * y[1] - 1.0;
    return 0;
}

static void index2_solution(double t, double *y, double *yp)
{
    double x = phase(t), v = speed(t);
    y[0] = exp(x);
    y[1] = exp(-2.0 * x);
    y[2] = exp(2.0 * x);
    yp[0] = v * y[0];
    yp[1] = -2.0 * v * y[1];
    yp[2] = 2.0 * v * y[2];
}

/* y1' = 2 y1 y2 z1 z2, y2' = -y1 y2 z2^2, z1' = (y1 y2 + z1 z2) u, z2' = -y1 y2^2 z2^2 u,
 * 0 = y1 y2^2 - 1 in the time phi: y1 = z1 = exp(2 phi), y2 = z2 = exp(-phi), u = exp(phi) */
static int index3_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double y1 = y[0], y2 = y[1], z1 = y[2], z2 = y[3], u = y[4], v = speed(t);
    f[0] = yp[0] - v * 2.0 * y1 * y2 * z1 * z2;
    f[1] = yp[1] + v * y1 * y2 * z2 * z2;
    f[2] = yp[2] - v * (y1 * y2 + z1 * z2) * u;
    f[3] = yp[3] + v * y1 * y2 * y2 * z2 * z2 * u;
    f[4] = y1 * y2 * y2 - 1.0;
    return 0;
}

static void index3_solution(double t, double *y, double *yp)
{
    double x = phase(t), v = speed(t);
    y[0] = y[2] = exp(2.0 * x);
    y[1] = y[3] = exp(-x);
    y[4] = exp(x);
    yp[0] = yp[2] = 2.0 * v * y[0];
    yp[1] = yp[3] = -v * y[1];
    yp[4] = v * y[4];
}

/* Rotation y1' = w y2, y2' = -w y1, 0 = z - y1 - 2 y2: linear, so that Newton's method takes long
 * steps, and the highest order shows before round-off does */
enum { ROTATION = 5 };

static int rotation_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - ROTATION * y[1];
    f[1] = yp[1] + ROTATION * y[0];
    f[2] = y[2] - y[0] - 2.0 * y[1];
    return 0;
}

static void rotation_solution(double t, double *y, double *yp)
{
    y[0] = cos(ROTATION * t + 0.4);
    y[1] = -sin(ROTATION * t + 0.4);
    yp[0] = ROTATION * y[1];
    yp[1] = -ROTATION * y[0];
    y[2] = y[0] + 2.0 * y[1];
    yp[2] = yp[0] + 2.0 * yp[1];
}

/* Linear systems of index 2 and 3 in Hessenberg form with slow coefficients and fast solutions. */
static double slow_a(double t)
{
    return 0.5 + 0.2 * cos(t);
}

static double slow_b(double t)
{
    return 1.0 + 0.3 * sin(t);
}

/* y1 = sin wt, y2 = cos wt exp(-t), z = exp(sin(wt)/2) */
static void linear2_solution(double t, double *y, double *yp)
{
    double w = ROTATION, decay = exp(-t), s = sin(w * t), c = cos(w * t);
    y[0] = s;
    y[1] = c * decay;
    y[2] = exp(0.5 * s);
    yp[0] = w * c;
    yp[1] = -(w * s + c) * decay;
    yp[2] = 0.5 * w * c * y[2];
}

static int linear2_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double e[3], ep[3];
    linear2_solution(t, e, ep);
    f[0] = (yp[0] - ep[0]) - (y[1] - e[1]) - (y[2] - e[2]);
    f[1] = (yp[1] - ep[1]) + (y[0] - e[0]) - slow_b(t) * (y[2] - e[2]);
    f[2] = (y[0] - e[0]) + slow_a(t) * (y[1] - e[1]);
    return 0;
}

/* y as before, z1 = cos wt, z2 = exp(sin(wt)/3), u = sin(wt + 1) + 2 */
static void linear3_solution(double t, double *y, double *yp)
{
    double w = ROTATION;
    linear2_solution(t, y, yp);
    y[2] = cos(w * t) + 2.0;
    yp[2] = -w * sin(w * t);
    y[3] = exp(sin(w * t) / 3.0);
    yp[3] = w * cos(w * t) / 3.0 * y[3];
    y[4] = sin(w * t + 1.0) + 2.0;
    yp[4] = w * cos(w * t + 1.0);
}

static int linear3_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double e[5], ep[5];
    linear3_solution(t, e, ep);
    f[0] = (yp[0] - ep[0]) - (y[2] - e[2]) - 0.3 * (y[1] - e[1]);
    f[1] = (yp[1] - ep[1]) - (y[3] - e[3]);
    f[2] = (yp[2] - ep[2]) - (y[1] - e[1]) - (y[4] - e[4]);
    f[3] = (yp[3] - ep[3]) + (y[0] - e[0]) - slow_b(t) * (y[4] - e[4]);
    f[4] = (y[0] - e[0]) + slow_a(t) * (y[1] - e[1]);
    return 0;
}

static const dae_kind kinds1[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
static const dae_kind kinds2[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
static const dae_kind kinds3[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                                  DAE_KIND_INDEX2, DAE_KIND_INDEX3};

static const closed_form ode = {"ode", 2, ode_f, ode_solution, NULL, 2.0, {0}, 1};
static const closed_form index1 = {"index 1", 3, index1_f, index1_solution, kinds1, 2.0, {0, 2}, 2};
static const closed_form index2 = {"index 2", 3, index2_f, index2_solution, kinds2, 1.0, {0, 2}, 2};
static const closed_form index3 = {"index 3", 5,   index3_f,  index3_solution,
                                   kinds3,    1.0, {0, 2, 4}, 3};

static const closed_form rotation = {"rotation", 3,   rotation_f, rotation_solution,
                                     kinds1,     4.0, {0, 2},     2};
static const closed_form linear2 = {
    "linear, index 2", 3, linear2_f, linear2_solution, kinds2, 1.7, {0, 2}, 2};
static const closed_form linear3 = {"linear, index 3", 5, linear3_f, linear3_solution, kinds3, 1.7,
                                    {0, 2, 4},         3};

static dae_problem *problem_of(const closed_form *c)
{
    dae_problem *p;
    dae_residual form = {.n = c->n, .f = c->f, .kinds = c->kinds};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

/* Largest relative errors of the blocks at tend with `steps` equal steps; false: a step failed. */
static bool block_errors(const closed_form *c, const char *name, int steps, double error[3])
{
    dae_problem *p = problem_of(c);
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST], exact[MOST];
    o.method = name;
    o.rtol = o.atol = 1e-13;
    o.fixed_step = c->tend / steps;
    o.newton_iterations = 200;
    o.stop_time = c->tend;
    o.init = DAE_INIT_NONE;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    dae_status status = dae_solver_run(s, c->tend, y, NULL);
    c->solution(c->tend, exact, yp);
    for (int b = 0; b < c->count; b++) {
        int end = b + 1 < c->count ? c->first[b + 1] : c->n;
        error[b] = 0.0;
        for (int i = c->first[b]; i < end; i++)
            error[b] = fmax(error[b], fabs(y[i] - exact[i]) / (1.0 + fabs(exact[i])));
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return status == DAE_OK;
}

/* Orders of the blocks from the finest pair of step sizes above round-off. */
static void measure_orders(const closed_form *c, const char *name, const double floor_of[3],
                           double order[3])
{
    enum { COUNTS = 8 };
    double error[COUNTS][3];
    bool solved[COUNTS], done[3] = {false, false, false};
    for (int b = 0; b < 3; b++) order[b] = NAN;
    for (int k = 0; k < COUNTS; k++) {
        solved[k] = block_errors(c, name, 1 << k, error[k]);
        for (int b = 0; solved[k] && b < c->count; b++) {
            done[b] = done[b] || error[k][b] <= floor_of[b];
            if (k > 0 && solved[k - 1] && !done[b]) order[b] = log2(error[k - 1][b] / error[k][b]);
        }
    }
}

static void check_order(const closed_form *c, const char *name, int b, double order, double least,
                        double most)
{
    if (!(order >= least && order <= most))
        fail_msg("%s on %s, block %d: order %.2f, not in %.1f .. %.1f", name, c->name, b, order,
                 least, most);
}

static const char *const methods[] = {"radau5", "radau9", "radau13"};

/* Index 0 and 1: 2s - 1 for all variables [HW96 VI.1]; on nonlinear problems at least */
static void orders_index_0_and_1(void **state)
{
    (void)state;
    double floors[3] = {2e-12, 2e-12, 2e-12}, order[3];
    for (int m = 0; m < 3; m++) {
        int p = 4 * m + 5;
        double slack = m < 2 ? 0.3 : 0.7;
        const closed_form *both[] = {&rotation, &ode, &index1};
        for (int k = 0; k < (m < 2 ? 3 : 1); k++) {
            measure_orders(both[k], methods[m], floors, order);
            for (int b = 0; b < both[k]->count; b++)
                check_order(both[k], methods[m], b, order[b], p - slack,
                            k == 0 ? p + slack : 2.0 * p);
        }
    }
}

/* Index 2: y 2s - 1, z s in theory [HLR89 4], s + 1 at least. */
static void orders_index_2(void **state)
{
    (void)state;
    double floors[3] = {2e-12, 2e-10, 0.0}, order[3];
    for (int m = 0; m < 3; m++) {
        int s = 2 * m + 3;
        measure_orders(&linear2, methods[m], floors, order);
        check_order(&linear2, methods[m], 0, order[0], s + 1 - 0.3, 3.0 * s);
        check_order(&linear2, methods[m], 1, order[1], s - 0.3, 3.0 * s);
    }
}

/* Index 3: y s + 1 for 3 stages and s + 2 above, z s, u s - 1 [HLR89 6] */
static void orders_index_3(void **state)
{
    (void)state;
    double floors[3] = {2e-11, 2e-10, 2e-8}, order[3];
    for (int m = 0; m < 3; m++) {
        int s = 2 * m + 3;
        measure_orders(&linear3, methods[m], floors, order);
        check_order(&linear3, methods[m], 0, order[0], (s == 3 ? 4 : s + 2) - 0.3, 3.0 * s);
        check_order(&linear3, methods[m], 1, order[1], s - 0.3, 3.0 * s);
        check_order(&linear3, methods[m], 2, order[2], s - 1 - 0.3, 3.0 * s);
    }
}

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
    o.atol_by_variable = atol;
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
    static const char *const names[] = {"radau", "radau5", "radau9", "radau13"};
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
            assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
            if (dae_solver_run(s, 0.01 * m->tend, y[k], NULL) != DAE_OK)
                fail_msg("%s: %s", m->name, dae_solver_diag(s)->text);
            assert_int_equal(s->matrix.shifted->helper != NULL, k == 1);
            assert_int_equal(s->matrix.shifted->helped.last > 0, k == 1);
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
    s->method->size(s->n, &size, &scratch);
    unsigned char *copy = malloc(size);
    memcpy(copy, s->state, size);
    for (double h = 1e-3; h < 1e3; h *= 10.0) {
        s->method->attempt(s->state, s->scratch, &s->context, h, 13, &a);
        assert_memory_equal(copy, s->state, size);
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
    o.method = "radau5";
    dae_residual form = {.n = 1, .f = hole_f};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(s, 2.0, &y, NULL), DAE_ERR_EVALUATION);
    assert_true(dae_solver_diag(s)->t >= 1.0 && dae_solver_diag(s)->t < 1.001);
    assert_int_equal(dae_solver_diag(s)->equation, 0);
    assert_in_range(s->last.stage, 1, 3);
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
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_SINGULAR);
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
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(orders_index_3),
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
