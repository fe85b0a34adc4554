/* Consistent initial values against hand-computed solutions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"
#include "init/init.h"

enum { MOST = 8 };

/* A problem with its evaluator, matrix and initialiser, as a solver would hold them. */
typedef struct rig {
    dae_problem *problem;
    dae_stats stats;
    evaluator eval;
    iteration matrix;
    initializer *init;
    dae_options options;
    dae_diag diag;
    double *weights;
    dae_kind *kinds;
} rig;

static rig *rig_new(const dae_residual *form, const dae_options *options)
{
    rig *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->options = options ? *options : dae_options_default();
    assert_int_equal(dae_problem_from_residual(form, &r->problem, &r->diag), DAE_OK);
    r->eval = (evaluator){.problem = r->problem, .stats = &r->stats};
    diag_clear(&r->diag);
    assert_int_equal(iteration_new(&r->matrix, &r->eval, &r->options, &r->diag), DAE_OK);
    assert_int_equal(initializer_new(&r->init, &r->eval, &r->matrix, &r->options, &r->diag),
                     DAE_OK);
    r->weights = calloc((size_t)form->n, sizeof *r->weights);
    r->kinds = calloc((size_t)form->n, sizeof *r->kinds);
    for (int j = 0; j < form->n; j++)
        r->kinds[j] = form->kinds ? form->kinds[j] : DAE_KIND_DIFFERENTIAL;
    return r;
}

static void rig_free(rig *r)
{
    initializer_free(r->init);
    iteration_free(&r->matrix);
    dae_problem_free(r->problem);
    free(r->weights);
    free(r->kinds);
    free(r);
}

static void rig_weigh(rig *r, const double *y)
{
    const dae_options *o = &r->options;
    for (int j = 0; j < r->problem->form.n; j++)
        r->weights[j] =
            o->rtol * fabs(y[j]) + (o->atol_by_unknown ? o->atol_by_unknown[j] : o->atol);
}

static dae_status rig_solve(rig *r, dae_init mode, double t, double h, double *y, double *yp)
{
    rig_weigh(r, y);
    return initialize(r->init, mode, t, h, r->kinds, r->weights, y, yp, &r->diag);
}

/* One start of a problem; iterations may be NULL. */
static dae_status solve_once(const dae_residual *form, const dae_options *options, dae_init mode,
                             double t, double h, double *y, double *yp, long *iterations,
                             dae_diag *diag)
{
    rig *r = rig_new(form, options);
    dae_status status = rig_solve(r, mode, t, h, y, yp);
    if (iterations) *iterations = r->stats.newton_iterations;
    if (diag) *diag = r->diag;
    rig_free(r);
    return status;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (fabs(value - expected) <= tolerance * fmax(1.0, fabs(expected))) return;
    fail_msg("%.17g is not %.17g within %g", value, expected, tolerance);
}

/* ---- (5.3.5): y1' + y2' + y1 = g1, y2 = g2 in units of time `scale` ---- */

static double g1(double t)
{
    return 2.0 + sin(3.0 * t);
}
static double g2(double t)
{
    return exp(-2.0 * t) * cos(t);
}
static double g2_rate(double t)
{
    return -exp(-2.0 * t) * (2.0 * cos(t) + sin(t));
}

static int book_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    double scale = *(double *)user, s = t / scale;
    f[0] = (yp[0] + yp[1]) * scale + y[0] - g1(s);
    f[1] = y[1] - g2(s);
    return 0;
}

static int book_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t;
    (void)y;
    (void)yp;
    dfdy[0] = dfdy[3] = 1.0;
    dfdyp[0] = dfdyp[2] = *(double *)user;
    return 0;
}

static void book_given_y1(void **state)
{
    (void)state;
    double scale = 1.0, t = 0.3;
    dae_residual form = {.n = 2, .f = book_residual, .user = &scale};
    for (int wrong = 0; wrong < 2; wrong++) {
        double y[2] = {0.7, g2(t) + 0.2 * wrong}, yp[2] = {0.0, 0.0};
        dae_diag diag;
        dae_status status =
            solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, t, 1e-6, y, yp, NULL, &diag);
        if (status != DAE_OK) fail_msg("%s", diag.text);
        assert_true(y[0] == 0.7);
        assert_near(y[1], g2(t), 1e-12);
        assert_near(yp[1], g2_rate(t), 1e-9);
        assert_near(yp[0], g1(t) - 0.7 - g2_rate(t), 1e-9);
    }
}

static void book_given_derivative(void **state)
{
    (void)state;
    const dae_tag guess[2] = {DAE_TAG_GUESS, DAE_TAG_GUESS};
    const dae_tag first[2] = {DAE_TAG_FIXED, DAE_TAG_GUESS};
    dae_options options = dae_options_default();
    options.y_tags = guess;
    options.yp_tags = first;
    for (int k = 0; k < 12; k++) {
        double scale = pow(10.0, (k % 3 - 1) * 6), t = 0.3 * scale;
        double h = (k < 6 ? 1e-6 : 1.0) * (k % 2 ? 1.0 : -1.0);
        dae_residual form = {.n = 2, .f = book_residual, .user = &scale};
        if (k >= 3 && k < 9) form.jacobian = book_jacobian;
        double y[2] = {0.0, 0.0}, yp[2] = {0.4 / scale, 0.0};
        dae_diag diag;
        dae_status status = solve_once(&form, &options, DAE_INIT_GENERAL, t, h, y, yp, NULL, &diag);
        if (status != DAE_OK) fail_msg("scale %g, h %g: %s", scale, h, diag.text);
        assert_true(yp[0] == 0.4 / scale);
        assert_near(y[1], g2(0.3), 1e-12);
        assert_near(yp[1] * scale, g2_rate(0.3), 1e-9);
        assert_near(y[0], g1(0.3) - 0.4 - g2_rate(0.3), 1e-9);
    }
}

/* The same data by a condition, B = y1' - 0.4 */
static int book_condition(double t, const double *y, const double *yp, double *b, void *user)
{
    (void)t;
    (void)y;
    (void)user;
    b[0] = 1e5 * (yp[0] - 0.4);
    return 0;
}

static void book_condition_instead_of_tag(void **state)
{
    (void)state;
    double scale = 1.0, y[2] = {0.0, 0.0}, yp[2] = {0.0, 0.0};
    dae_residual form = {.n = 2,
                         .f = book_residual,
                         .user = &scale,
                         .condition_count = 1,
                         .conditions = book_condition};
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_GENERAL, 0.3, 1e-6, y, yp, NULL, NULL),
                     DAE_OK);
    assert_near(yp[0], 0.4, 1e-9);
    assert_near(y[0], g1(0.3) - 0.4 - g2_rate(0.3), 1e-8);
}

/* y1'^3 + y1 = y2, y2 = 9, and y1 = 1 as a condition: y1' = 2. The user's derivative 3 y1'^2 is
 * that of the right y'. */
static int cube_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] * yp[0] * yp[0] + y[0] - y[1];
    f[1] = y[1] - 9.0;
    return 0;
}

static int cube_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t;
    (void)y;
    (void)user;
    dfdy[0] = dfdy[3] = 1.0;
    dfdy[2] = -1.0;
    dfdyp[0] = 3.0 * yp[0] * yp[0];
    return 0;
}

static int cube_condition(double t, const double *y, const double *yp, double *b, void *user)
{
    (void)t;
    (void)yp;
    (void)user;
    b[0] = y[0] - 1.0;
    return 0;
}

static void derivatives_of_the_user_are_taken_at_the_point(void **state)
{
    (void)state;
    double y[2] = {0.0, 8.0}, yp[2] = {1.0, 0.0};
    dae_diag diag;
    dae_residual form = {.n = 2,
                         .f = cube_residual,
                         .jacobian = cube_jacobian,
                         .condition_count = 1,
                         .conditions = cube_condition};
    if (solve_once(&form, NULL, DAE_INIT_GENERAL, 0.0, 1e-6, y, yp, NULL, &diag))
        fail_msg("%s", diag.text);
    assert_near(y[0], 1.0, 1e-9);
    assert_near(y[1], 9.0, 1e-9);
    assert_near(yp[0], 2.0, 1e-9);
}

static void conflicting_tags_name_the_equation(void **state)
{
    (void)state;
    static const char *const equations[2] = {"balance", "constraint"};
    static const char *const variables[2] = {"mass", "level"};
    double scale = 1.0;
    dae_residual form = {.n = 2,
                         .f = book_residual,
                         .user = &scale,
                         .equation_names = equations,
                         .variable_names = variables};
    const dae_tag y_tags[2] = {DAE_TAG_GUESS, DAE_TAG_FIXED};
    dae_options options = dae_options_default();
    options.y_tags = y_tags;
    double y[2] = {0.0, g2(0.3) + 0.5}, yp[2] = {0.0, 0.0};
    dae_diag diag;
    assert_int_equal(solve_once(&form, &options, DAE_INIT_GENERAL, 0.3, 1e-3, y, yp, NULL, &diag),
                     DAE_ERR_INITIAL);
    assert_string_equal(diag.equation_name, "constraint");
    assert_string_equal(diag.variable_name, "level");
    assert_near(diag.value, 0.5, 1e-6);
    assert_non_null(strstr(diag.text, "constraint"));
    assert_null(strstr(diag.text, "balance"));

    /* and a hidden one: y2' fixed at a wrong value */
    const dae_tag yp_tags[2] = {DAE_TAG_GUESS, DAE_TAG_FIXED};
    options.y_tags = NULL;
    options.yp_tags = yp_tags;
    y[1] = 0.0;
    yp[1] = g2_rate(0.3) + 0.5;
    assert_int_equal(solve_once(&form, &options, DAE_INIT_GENERAL, 0.3, 1e-3, y, yp, NULL, &diag),
                     DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "d/dt constraint"));
}

/* ---- linearly dependent columns of dF/dy' in every row ---- */

static int dependent_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double sum = yp[0] + 3.0 * yp[1];
    f[0] = sum + y[0];
    f[1] = 0.3 * sum + 0.7 * y[1] - t * t;
    return 0;
}

static void dependent_derivatives(void **state)
{
    (void)state;
    /* 0.3 y1 - 0.7 y2 + t^2 = 0 and its derivative 0.3 y1' - 0.7 y2' = -2t; y1' + 3 y2' = -y1 */
    double t = 0.5, y1 = 1.1, y2 = (0.3 * y1 + t * t) / 0.7;
    double y[2] = {y1, y2}, yp[2] = {0.0, 0.0};
    dae_residual form = {.n = 2, .f = dependent_residual};
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, t, 1e-4, y, yp, NULL, NULL),
                     DAE_OK);
    double expected2 = (-0.3 * y1 + 2.0 * t) / (0.9 + 0.7);
    assert_true(y[0] == y1);
    assert_near(yp[1], expected2, 1e-8);
    assert_near(yp[0], -y1 - 3.0 * expected2, 1e-8);
}

/* A capacitor between two nodes and no other y': F = 0 holds for a line of y', D_h F = 0 for one
 * point. Values with F = 0 are trusted, others are made to meet both. */
static int capacitor_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    double current = 1e-6 * (yp[0] - yp[1]);
    f[0] = (y[0] - sin(100.0 * t)) / 1e3 + current;
    f[1] = y[1] / 2e3 - current;
    return 0;
}

static void capacitor_between_nodes(void **state)
{
    (void)state;
    /* sum: (y1 - sin(100t))/1e3 + y2/2e3 = 0, so y1' + y2'/2 = 100 cos(100t); 1e-6 (y1' - y2') =
     * y2/2e3 */
    double t = 0.002, y2 = 0.3, y1 = sin(0.2) - 0.5 * y2;
    double difference = 500.0 * y2, rate2 = (100.0 * cos(0.2) - difference) / 1.5;
    dae_residual form = {.n = 2, .f = capacitor_residual};
    double y[2] = {y1, y2}, yp[2] = {0.0, 0.0};
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, t, 1e-6, y, yp, NULL, NULL),
                     DAE_OK);
    assert_true(y[0] == y1 && y[1] == y2);
    assert_near(yp[1], rate2, 1e-8);
    assert_near(yp[0], rate2 + difference, 1e-8);
}

/* ---- index 1 that needs damping ---- */

static int atan_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] - y[1] * y[0];
    f[1] = atan(5.0 * (y[1] - 2.0 * y[0]));
    return 0;
}

static const dae_kind one_and_one[2] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};

static void arctangent_from_afar(void **state)
{
    (void)state;
    dae_residual form = {.n = 2, .f = atan_residual, .kinds = one_and_one};
    for (double guess = -100.0; guess <= 100.0; guess += 25.0) {
        double y[2] = {1.5, guess}, yp[2] = {0.0, 0.0};
        assert_int_equal(
            solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, NULL), DAE_OK);
        assert_near(y[1], 3.0, 1e-8);
        assert_near(yp[0], 4.5, 1e-7);
    }
}

/* A capacitor fed through a diode and a resistor: C u' = i, (V - u - d)/R = i = Is (e^(d/Vt) - 1).
 */
static int diode_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    double volts = *(double *)user, current = (volts - y[0] - y[1]) / 1e3;
    f[0] = 1e-6 * yp[0] - current;
    f[1] = current - 1e-12 * (exp(y[1] / 0.025) - 1.0);
    return 0;
}

static double diode_drop(double volts)
{
    double low = 0.0, high = 2.0;
    for (int k = 0; k < 200; k++) {
        double d = 0.5 * (low + high);
        if ((volts - d) / 1e3 > 1e-12 * (exp(d / 0.025) - 1.0))
            low = d;
        else
            high = d;
    }
    return low;
}

static void diode_from_zero(void **state)
{
    (void)state;
    double volts[] = {1.0, 5.0, 1000.0};
    for (int k = 0; k < 3; k++) {
        dae_residual form = {.n = 2, .f = diode_residual, .kinds = one_and_one, .user = &volts[k]};
        double y[2] = {0.0, 0.0}, yp[2] = {0.0, 0.0};
        dae_diag diag;
        dae_status status =
            solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, y, yp, NULL, &diag);
        if (status != DAE_OK) fail_msg("%s", diag.text);
        double d = diode_drop(volts[k]);
        assert_near(y[1], d, 1e-8);
        assert_near(yp[0], (volts[k] - d) * 1e3, 1e-7);
    }
}

/* ---- Robertson ---- */

static int robertson_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
    f[1] = yp[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

static const dae_kind two_and_one[3] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                        DAE_KIND_INDEX1};

static void robertson_inconsistent(void **state)
{
    (void)state;
    dae_residual form = {.n = 3, .f = robertson_residual, .kinds = two_and_one};
    double y[3] = {1.0, 0.0, 0.1}, yp[3] = {0.0, 0.0, 0.0};
    long iterations;
    assert_int_equal(
        solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, y, yp, &iterations, NULL),
        DAE_OK);
    assert_near(y[2], 0.0, 1e-14);
    assert_near(yp[0], -0.04, 1e-13);
    assert_near(yp[1], 0.04, 1e-13);
    assert_true(iterations <= 3);

    /* consistent values come back bit for bit */
    double again[3] = {y[0], y[1], y[2]}, again_p[3] = {yp[0], yp[1], yp[2]};
    assert_int_equal(
        solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, y, yp, &iterations, NULL),
        DAE_OK);
    assert_memory_equal(y, again, sizeof y);
    assert_memory_equal(yp, again_p, sizeof yp);
    assert_int_equal(iterations, 0);
}

/* ---- given y', find y ---- */

/* Stirred tank with an exothermic reaction; user[0..1] receive nothing, the point y' = 0 is tested
 * by its own equations. */
static int reactor_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    double rate = 5.0 * y[0] * exp(3.0 - 3.0 / y[1]);
    f[0] = yp[0] - (1.0 - y[0] - rate);
    f[1] = yp[1] - (1.0 - y[1] + 0.2 * rate - 0.5 * (y[1] - y[2]));
    f[2] = y[2] - 0.9 - 0.1 * y[1];
    return 0;
}

static void steady_state(void **state)
{
    (void)state;
    dae_residual form = {.n = 3, .f = reactor_residual, .kinds = two_and_one};
    double y[3] = {1.0, 1.0, 0.0}, yp[3] = {0.0, 0.0, 0.0}, f[3];
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DERIVATIVE, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    reactor_residual(0.0, y, yp, f, NULL);
    for (int i = 0; i < 3; i++) {
        assert_near(f[i], 0.0, 1e-9);
        assert_true(yp[i] == 0.0);
    }
    assert_true(y[0] > 0.0 && y[0] < 1.0);
}

/* A <-> B: the steady states are a line, and the nearest one is asked for */
static int exchange_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    double flow = 2.0 * y[0] - y[1];
    f[0] = yp[0] + flow;
    f[1] = yp[1] - flow;
    return 0;
}

static void steady_state_with_conserved_sum(void **state)
{
    (void)state;
    dae_residual form = {.n = 2, .f = exchange_residual};
    dae_options options = dae_options_default();
    options.rtol = 1e-10; /* equal weights, nearly */
    options.atol = 1e-6;
    double y[2] = {1.0, 0.0}, yp[2] = {0.0, 0.0};
    assert_int_equal(solve_once(&form, &options, DAE_INIT_DERIVATIVE, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    /* foot of the perpendicular on 2 y1 = y2 */
    assert_near(y[0], 0.2, 1e-3);
    assert_near(y[1], 0.4, 1e-3);
    assert_near(2.0 * y[0] - y[1], 0.0, 1e-9);
}

/* ---- invariance ---- */

typedef struct scaling {
    double equation[2], variable[2], time;
} scaling;

static int scaled_atan(double t, const double *y, const double *yp, double *f, void *user)
{
    const scaling *s = user;
    double v[2] = {y[0] / s->variable[0], y[1] / s->variable[1]};
    double vp[2] = {yp[0] / s->variable[0] * s->time, yp[1] / s->variable[1] * s->time};
    atan_residual(t / s->time, v, vp, f, NULL);
    for (int i = 0; i < 2; i++) f[i] *= s->equation[i];
    return 0;
}

static long scaled_start(const scaling *s, double *solution)
{
    double atol[2] = {1e-9 * s->variable[0], 1e-9 * s->variable[1]};
    dae_options options = dae_options_default();
    options.atol_by_unknown = atol;
    dae_residual form = {
        .n = 2, .f = scaled_atan, .kinds = one_and_one, .user = (void *)(uintptr_t)s};
    double y[2] = {1.5 * s->variable[0], 40.0 * s->variable[1]}, yp[2] = {0.0, 0.0};
    long iterations;
    assert_int_equal(solve_once(&form, &options, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3 * s->time, y, yp,
                                &iterations, NULL),
                     DAE_OK);
    *solution = y[1] / s->variable[1];
    return iterations;
}

static void scaling_changes_nothing(void **state)
{
    (void)state;
    const scaling plain = {{1, 1}, {1, 1}, 1};
    const scaling cases[] = {{{1e8, 1e-8}, {1, 1}, 1},        {{1e-8, 1e8}, {1, 1}, 1},
                             {{1, 1}, {1e6, 1e-6}, 1},        {{1, 1}, {1e-6, 1e6}, 1},
                             {{1e10, 1e10}, {1e6, 1e6}, 1},   {{1, 1}, {1, 1}, 1e9},
                             {{1e-8, 1e8}, {1e6, 1e-6}, 1e-9}};
    double expected, solution;
    long iterations = scaled_start(&plain, &expected);
    assert_true(iterations > 4); /* damping was at work */
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        assert_int_equal(scaled_start(&cases[k], &solution), iterations);
        assert_near(solution, expected, 1e-9);
    }
}

/* ---- bounds and failing callbacks ---- */

/* 1/z = 10 x: a full Newton step from z = 1 lands at z = -8 */
static int pole_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    assert_true(y[1] >= 0.0);
    f[0] = yp[0] - y[1];
    f[1] = 1.0 / y[1] - 10.0 * y[0];
    return 0;
}

static void bounds_shorten_the_step(void **state)
{
    (void)state;
    const double lower[2] = {-INFINITY, 0.0};
    dae_residual form = {.n = 2, .f = pole_residual, .kinds = one_and_one, .lower_bounds = lower};
    double y[2] = {1.0, 1.0}, yp[2] = {0.0, 0.0};
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    assert_near(y[1], 0.1, 1e-8);
    assert_near(yp[0], 0.1, 1e-8);
}

static int below_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = y[1] + y[0];
    return 0;
}

static void bound_in_the_way(void **state)
{
    (void)state;
    const double lower[2] = {-INFINITY, 0.0};
    static const char *const names[2] = {"speed", "pressure"};
    dae_residual form = {.n = 2,
                         .f = below_residual,
                         .kinds = one_and_one,
                         .lower_bounds = lower,
                         .variable_names = names};
    double y[2] = {1.0, 1.0}, yp[2] = {0.0, 0.0};
    dae_diag diag;
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, &diag),
                     DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "bound of pressure"));
    assert_true(y[1] >= 0.0);

    /* a solution exactly on the bound is fine */
    y[0] = 0.0;
    y[1] = 1.0;
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    assert_true(y[1] >= 0.0 && y[1] < 1e-8);
}

static int logarithm_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    int mode = *(int *)user;
    f[0] = yp[0] - y[1];
    if (y[1] <= 0.0 && mode == 0) return 1;
    f[1] = log(y[1]) + y[0]; /* NaN below 0 in mode 1 */
    return mode > 1 ? -7 : 0;
}

static void callbacks_may_ask_for_less(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; mode++) {
        dae_residual form = {.n = 2, .f = logarithm_residual, .kinds = one_and_one, .user = &mode};
        double y[2] = {3.0, 20.0}, yp[2] = {0.0, 0.0};
        assert_int_equal(
            solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, NULL), DAE_OK);
        assert_near(y[1], exp(-3.0), 1e-8);
        double z[2] = {3.0, 20.0}, zp[2] = {0.0, 0.0};
        const dae_tag fixed[2] = {DAE_TAG_FIXED, DAE_TAG_GUESS};
        dae_options options = dae_options_default();
        options.y_tags = fixed;
        assert_int_equal(
            solve_once(&form, &options, DAE_INIT_GENERAL, 0.0, 1e-3, z, zp, NULL, NULL), DAE_OK);
        assert_near(z[1], exp(-3.0), 1e-8);
    }
}

static void callbacks_may_stop_or_fail(void **state)
{
    (void)state;
    const dae_init modes[] = {DAE_INIT_DIFFERENTIAL, DAE_INIT_DERIVATIVE, DAE_INIT_GENERAL};
    for (int k = 0; k < 3; k++) {
        int mode = 2;
        dae_residual form = {.n = 2, .f = logarithm_residual, .kinds = one_and_one, .user = &mode};
        double y[2] = {3.0, 20.0}, yp[2] = {0.0, 0.0};
        dae_diag diag;
        assert_int_equal(solve_once(&form, NULL, modes[k], 0.0, 1e-3, y, yp, NULL, &diag),
                         DAE_ERR_CALLBACK);
        assert_true(strlen(diag.text) > 0);
        mode = 1; /* NaN where we start */
        y[1] = -1.0;
        assert_int_equal(solve_once(&form, NULL, modes[k], 0.0, 1e-3, y, yp, NULL, &diag),
                         DAE_ERR_EVALUATION);
    }
}

/* z^2 + 1 = 0 */
static int impossible_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] - y[0];
    f[1] = y[1] * y[1] + 1.0;
    return 0;
}

static void unsolvable_is_named(void **state)
{
    (void)state;
    static const char *const equations[2] = {"growth", "circle"};
    dae_residual form = {
        .n = 2, .f = impossible_residual, .kinds = one_and_one, .equation_names = equations};
    double y[2] = {3.0, 2.0}, yp[2] = {0.0, 0.0};
    dae_diag diag;
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-3, y, yp, NULL, &diag),
                     DAE_ERR_INITIAL);
    assert_string_equal(diag.equation_name, "circle");
    assert_non_null(strstr(diag.text, "circle (residual"));
}

/* ---- pendulum [BCP96 6.2], L = g = 1, gravity along +z2 as in the corrected text ---- */

/* stabilised index 2: z1' = z3 + z1 mu, z2' = z4 + z2 mu, .., constraints on both levels */
static int ggl_residual(double t, const double *z, const double *zp, double *f, void *user)
{
    (void)t;
    (void)user;
    double lambda = z[4], mu = z[5];
    f[0] = zp[0] - z[2] - z[0] * mu;
    f[1] = zp[1] - z[3] - z[1] * mu;
    f[2] = zp[2] + z[0] * lambda;
    f[3] = zp[3] + z[1] * lambda - 1.0;
    f[4] = z[0] * z[0] + z[1] * z[1] - 1.0;
    f[5] = z[0] * z[2] + z[1] * z[3];
    return 0;
}

static const dae_kind ggl_kinds[6] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                      DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                                      DAE_KIND_INDEX2,       DAE_KIND_INDEX2};

static void check_pendulum(const double *z, const double *zp)
{
    double lambda = z[2] * z[2] + z[3] * z[3] + z[1];
    assert_near(z[4], lambda, 1e-7);
    assert_near(z[5], 0.0, 1e-7);
    assert_near(zp[0], z[2], 1e-7);
    assert_near(zp[1], z[3], 1e-7);
    assert_near(zp[2], -z[0] * lambda, 1e-7);
    assert_near(zp[3], 1.0 - z[1] * lambda, 1e-7);
}

static void pendulum_index2(void **state)
{
    (void)state;
    dae_residual form = {.n = 6, .f = ggl_residual, .kinds = ggl_kinds};
    for (int k = 0; k < 3; k++) {
        double angle = 0.4 * k, speed = 1.0 + k;
        double start[4] = {cos(angle), sin(angle), -speed * sin(angle), speed * cos(angle)};
        double z[6] = {start[0], start[1], start[2], start[3], 0.0, 0.0}, zp[6] = {0.0};
        dae_diag diag;
        dae_status status =
            solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, z, zp, NULL, &diag);
        if (status != DAE_OK) fail_msg("%s", diag.text);
        for (int i = 0; i < 4; i++) assert_true(z[i] == start[i]);
        check_pendulum(z, zp);
        if (k == 0) assert_near(z[4], 1.0, 1e-8);

        /* what is consistent stays, and costs next to nothing */
        double same[6], same_p[6];
        memcpy(same, z, sizeof z);
        memcpy(same_p, zp, sizeof zp);
        rig *r = rig_new(&form, NULL);
        assert_int_equal(rig_solve(r, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, z, zp), DAE_OK);
        assert_memory_equal(z, same, sizeof z);
        assert_memory_equal(zp, same_p, sizeof zp);
        assert_int_equal(r->stats.residuals, 1);
        rig_free(r);
    }
}

static void pendulum_off_its_constraints(void **state)
{
    (void)state;
    dae_residual form = {.n = 6, .f = ggl_residual, .kinds = ggl_kinds};
    double z[6] = {1.01, 0.0, 0.02, 1.0, 0.0, 0.0}, zp[6] = {0.0};
    dae_diag diag;
    dae_status status =
        solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, z, zp, NULL, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    assert_near(z[0] * z[0] + z[1] * z[1], 1.0, 1e-9);
    assert_near(z[0] * z[2] + z[1] * z[3], 0.0, 1e-9);
    assert_near(z[0], 1.0, 1e-2);
    assert_near(z[3], 1.0, 1e-2);
    check_pendulum(z, zp);
}

/* index 3: z' as in F, 0 = z1^2 + z2^2 - 1 */
static int pendulum3_residual(double t, const double *z, const double *zp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = zp[0] - z[2];
    f[1] = zp[1] - z[3];
    f[2] = zp[2] + z[0] * z[4];
    f[3] = zp[3] + z[1] * z[4] - 1.0;
    f[4] = z[0] * z[0] + z[1] * z[1] - 1.0;
    return 0;
}

static void pendulum_index3(void **state)
{
    (void)state;
    const dae_kind kinds[5] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
                               DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX3};
    dae_residual form = {.n = 5, .f = pendulum3_residual, .kinds = kinds};
    double z[5] = {1.0, 0.0, 0.0, 1.0, 1.0}, zp[5] = {0.0};
    const double expected[5] = {1.0, 0.0, 0.0, 1.0, 1.0};
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, z, zp, NULL, NULL),
                     DAE_OK);
    assert_memory_equal(z, expected, sizeof z);
    assert_near(zp[0], 0.0, 1e-12);
    assert_near(zp[1], 1.0, 1e-12);
    assert_near(zp[2], -1.0, 1e-12);
    assert_near(zp[3], 1.0, 1e-12);

    dae_diag diag;
    z[0] = 1.1;
    assert_int_equal(solve_once(&form, NULL, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, z, zp, NULL, &diag),
                     DAE_ERR_INITIAL);
    assert_string_equal(diag.equation_name, "F[4]");
    assert_non_null(strstr(diag.text, "index-3"));
}

/* ---- minimum norm ---- */

/* y1 + 2 y2 = 5, y1' = y2' */
static int plane_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[0] + 2.0 * y[1] - 5.0;
    f[1] = yp[0] - yp[1];
    return 0;
}

static void guesses_move_least(void **state)
{
    (void)state;
    dae_residual form = {.n = 2, .f = plane_residual};
    dae_options options = dae_options_default();
    options.rtol = 1e-10;
    options.atol = 1e-4;
    double y[2] = {0.0, 0.0}, yp[2] = {0.3, -0.2};
    assert_int_equal(solve_once(&form, &options, DAE_INIT_GENERAL, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    assert_near(y[0], 1.0, 1e-6);
    assert_near(y[1], 2.0, 1e-6);
    assert_near(yp[0], 0.0, 1e-7);
    assert_near(yp[1], 0.0, 1e-7);

    /* a free one moves in place of a guess, a fixed one not at all */
    const dae_tag tags[2] = {DAE_TAG_GUESS, DAE_TAG_FREE};
    options.y_tags = tags;
    y[0] = y[1] = 0.0;
    assert_int_equal(solve_once(&form, &options, DAE_INIT_GENERAL, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    assert_near(y[0], 0.0, 1e-5);
    assert_near(y[1], 2.5, 1e-5);
    const dae_tag fixed[2] = {DAE_TAG_FREE, DAE_TAG_FIXED};
    options.y_tags = fixed;
    y[0] = y[1] = 0.0;
    assert_int_equal(solve_once(&form, &options, DAE_INIT_GENERAL, 0.0, 1e-3, y, yp, NULL, NULL),
                     DAE_OK);
    assert_true(y[1] == 0.0);
    assert_near(y[0], 5.0, 1e-9);
}

/* ---- large, sparse and matrix-free ---- */

enum { NODES = 400 };

/* u_i' = a coupling of neighbours - v_i for even places, v_i + v_i^3 = 2 u_i at odd ones */
static int chain_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    for (int i = 0; i < NODES; i += 2) {
        double left = i > 0 ? y[i - 2] : 0.0, right = i < NODES - 2 ? y[i + 2] : 0.0;
        f[i] = yp[i] - (left - 2.0 * y[i] + right) + y[i + 1];
        f[i + 1] = y[i + 1] + pow(y[i + 1], 3.0) - 2.0 * y[i];
    }
    return 0;
}

/* v = 1 where u = 1 exactly, so the solution for u = 1 is known */
static void chain_start(const dae_options *options, dae_structure structure)
{
    dae_kind kinds[NODES];
    double y[NODES], yp[NODES];
    for (int i = 0; i < NODES; i++) {
        kinds[i] = i % 2 ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
        y[i] = i % 2 ? 5.0 : 1.0;
        yp[i] = 0.0;
    }
    dae_residual form = {.n = NODES, .f = chain_residual, .kinds = kinds, .structure = structure};
    if (structure == DAE_STRUCTURE_BANDED) form.lower = form.upper = 2;
    dae_diag diag;
    dae_status status =
        solve_once(&form, options, DAE_INIT_DIFFERENTIAL, 0.0, 1e-6, y, yp, NULL, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    for (int i = 0; i < NODES; i += 2) {
        assert_near(y[i + 1], 1.0, 1e-7);
        double laplace = i == 0 || i == NODES - 2 ? -1.0 : 0.0;
        assert_near(yp[i], laplace - 1.0, 1e-6);
    }
}

static void chain_direct(void **state)
{
    (void)state;
    dae_options options = dae_options_default();
    chain_start(&options, DAE_STRUCTURE_AUTO);
    chain_start(&options, DAE_STRUCTURE_BANDED);
    options.linear_solver = DAE_LINEAR_SPARSE;
    chain_start(&options, DAE_STRUCTURE_BANDED);
    options.linear_solver = DAE_LINEAR_DENSE;
    chain_start(&options, DAE_STRUCTURE_AUTO);
}

static void chain_matrix_free(void **state)
{
    (void)state;
    dae_options options = dae_options_default();
    options.linear_solver = DAE_LINEAR_GMRES;
    options.preconditioner = DAE_PRECOND_ILU;
    chain_start(&options, DAE_STRUCTURE_BANDED);
    options.preconditioner = DAE_PRECOND_BANDED;
    chain_start(&options, DAE_STRUCTURE_AUTO);
    options.preconditioner = DAE_PRECOND_NONE;
    chain_start(&options, DAE_STRUCTURE_AUTO);
}

static int idle_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    for (int i = 0; i < *(int *)user; i++) f[i] = yp[i] + y[i];
    return 0;
}

static void general_has_a_limit(void **state)
{
    (void)state;
    int n = 2001;
    dae_residual form = {.n = n, .f = idle_residual, .user = &n, .structure = DAE_STRUCTURE_BANDED};
    dae_problem *problem;
    dae_diag diag = {0};
    dae_stats stats = {0};
    iteration matrix;
    initializer *init;
    dae_options options = dae_options_default();
    options.init = DAE_INIT_GENERAL;
    assert_int_equal(dae_problem_from_residual(&form, &problem, &diag), DAE_OK);
    evaluator eval = {.problem = problem, .stats = &stats};
    assert_int_equal(iteration_new(&matrix, &eval, &options, &diag), DAE_OK);
    assert_int_equal(initializer_new(&init, &eval, &matrix, &options, &diag), DAE_ERR_UNSUPPORTED);
    assert_null(init);
    assert_non_null(strstr(diag.text, "2001"));
    iteration_free(&matrix);
    dae_problem_free(problem);
}

/* ---- projection ---- */

static void projection_improves_or_declines(void **state)
{
    (void)state;
    dae_residual form = {.n = 3, .f = robertson_residual, .kinds = two_and_one};
    rig *r = rig_new(&form, NULL);
    double y[3] = {0.9, 2e-5, 0.1}, yp[3] = {0.0};
    rig_weigh(r, y);
    assert_int_equal(initializer_project(r->init, 1.0, 1e-3, two_and_one, r->weights, y, yp),
                     EVAL_OK);
    assert_true(y[0] == 0.9 && y[1] == 2e-5);
    assert_near(y[2], 0.1 - 2e-5, 1e-10);
    assert_near(yp[0], -0.04 * 0.9 + 1e4 * 2e-5 * y[2], 1e-8);
    rig_free(r);

    dae_residual steep = {.n = 2, .f = atan_residual, .kinds = one_and_one};
    r = rig_new(&steep, NULL);
    double z[2] = {1.0, 50.0}, zp[2] = {0.0};
    rig_weigh(r, z);
    assert_int_equal(initializer_project(r->init, 0.0, 1e-3, one_and_one, r->weights, z, zp),
                     EVAL_RETRY);
    assert_true(z[1] == 50.0 && zp[0] == 0.0);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(book_given_y1),
        cmocka_unit_test(book_given_derivative),
        cmocka_unit_test(book_condition_instead_of_tag),
        cmocka_unit_test(derivatives_of_the_user_are_taken_at_the_point),
        cmocka_unit_test(conflicting_tags_name_the_equation),
        cmocka_unit_test(dependent_derivatives),
        cmocka_unit_test(capacitor_between_nodes),
        cmocka_unit_test(arctangent_from_afar),
        cmocka_unit_test(diode_from_zero),
        cmocka_unit_test(robertson_inconsistent),
        cmocka_unit_test(steady_state),
        cmocka_unit_test(steady_state_with_conserved_sum),
        cmocka_unit_test(scaling_changes_nothing),
        cmocka_unit_test(bounds_shorten_the_step),
        cmocka_unit_test(bound_in_the_way),
        cmocka_unit_test(callbacks_may_ask_for_less),
        cmocka_unit_test(callbacks_may_stop_or_fail),
        cmocka_unit_test(unsolvable_is_named),
        cmocka_unit_test(pendulum_index2),
        cmocka_unit_test(pendulum_off_its_constraints),
        cmocka_unit_test(pendulum_index3),
        cmocka_unit_test(guesses_move_least),
        cmocka_unit_test(chain_direct),
        cmocka_unit_test(chain_matrix_free),
        cmocka_unit_test(general_has_a_limit),
        cmocka_unit_test(projection_improves_or_declines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
