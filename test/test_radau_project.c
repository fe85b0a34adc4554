/* radau with steps that end on the constraints of a mechanism: residuals at round-off, orders at
 * least those without, dense output through the ends, models and refusals. */
#include "colloc2nd_problems.h"

#include <stdio.h>

enum { FORMULATIONS = 4, LEVELS = 3 };
static const char *const formulations[FORMULATIONS] = {"index3", "index2", "index1", "ggl"};

static dae_options options_for(const char *name, const char *rewriting, double tol)
{
    dae_options o = dae_options_default();
    o.method = name;
    o.formulation = rewriting;
    o.rtol = o.atol = tol;
    o.projection = DAE_PROJECTION_BOTH;
    return o;
}

/* g, G v and G v' + curvature with v' = f - G' lambda */
static void residuals_of(const curve *c, const double *y, double r[LEVELS])
{
    double w = c->k / (c->a * c->a), G[2] = {w * y[0], c->k * y[1]}, f[2];
    c->force(y, y + 2, f);
    r[0] = 0.5 * c->k * (y[0] * y[0] / (c->a * c->a) + y[1] * y[1] - 1.0);
    r[1] = G[0] * y[2] + G[1] * y[3];
    r[2] = G[0] * (f[0] - G[0] * y[4]) + G[1] * (f[1] - G[1] * y[4]) + w * y[2] * y[2] +
           c->k * y[3] * y[3];
}

/* The largest residuals over all ends of steps to tend */
static void worst_residuals(const curve *c, const dae_options *o, double tend, double worst[LEVELS])
{
    dae_problem *problem;
    dae_solver *s = curve_solver(c, o, &problem);
    double y[5], r[LEVELS];
    dae_status status;
    for (int k = 0; k < LEVELS; k++) worst[k] = 0.0;
    while ((status = dae_solver_step(s, tend)) == DAE_STEPPED) {
        assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
        residuals_of(c, y, r);
        for (int k = 0; k < LEVELS; k++) worst[k] = fmax(worst[k], fabs(r[k]));
    }
    assert_int_equal(status, DAE_OK);
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void residuals_at_round_off(void **state)
{
    (void)state;
    const curve *const curves[] = {&curve_pendulum, &curve_ellipse};
    for (int i = 0; i < 2; i++)
        for (int f = 0; f < FORMULATIONS; f++) {
            dae_options o = options_for("radau", formulations[f], 1e-5);
            double with[LEVELS], without[LEVELS];
            worst_residuals(curves[i], &o, 10.0, with);
            o.projection = DAE_PROJECTION_AUTO;
            worst_residuals(curves[i], &o, 10.0, without);
            print_message("%s %s: %.1e %.1e %.1e, without %.1e %.1e %.1e\n", curves[i]->name,
                          formulations[f], with[0], with[1], with[2], without[0], without[1],
                          without[2]);
            for (int k = 0; k < LEVELS; k++) assert_true(with[k] < 3e-14);
            assert_true(fmax(without[0], fmax(without[1], without[2])) > 1e-10);
        }
}

/* Errors of q, v, lambda on [Wun05 (2.55)] at t: q = (sin t^2, cos t^2), lambda = 4 t^2 */
static bool errors_of(const char *name, const char *rewriting, dae_projection moved, double t,
                      int steps, double e[3])
{
    const double x = t * t;
    const double exact[5] = {sin(x), cos(x), 2.0 * t * cos(x), -2.0 * t * sin(x), 4.0 * x};
    dae_options o = options_for(name, rewriting, 1e-11);
    dae_problem *problem;
    double y[5];
    o.projection = moved;
    o.fixed_step = t / steps;
    o.stop_time = t;
    o.newton_iterations = 200;
    dae_solver *s = curve_solver(&curve_255, &o, &problem);
    bool solved = dae_solver_run(s, t, y, NULL) == DAE_OK; /* unless round-off stops Newton */
    for (int b = 0; b < 3; b++) e[b] = 0.0;
    for (int i = 0; i < 5; i++) e[i / 2] = fmax(e[i / 2], fabs(y[i] - exact[i]));
    dae_solver_free(s);
    dae_problem_free(problem);
    return solved;
}

/* Orders of q, v, lambda between two numbers of steps, coarse enough that round-off does not show
 */
static void orders_of(const char *name, const char *rewriting, dae_projection moved, double t,
                      const int steps[2], double order[3])
{
    double coarse[3], fine[3];
    assert_true(errors_of(name, rewriting, moved, t, steps[0], coarse));
    assert_true(errors_of(name, rewriting, moved, t, steps[1], fine));
    for (int b = 0; b < 3; b++)
        order[b] = log(coarse[b] / fine[b]) / log((double)steps[1] / steps[0]);
}

/* With the whole end on its constraints v and lambda have the order of q, 2s - 1. */
static void check_orders(const char *name, const char *rewriting, double t, int coarse, int fine,
                         double least)
{
    const int steps[2] = {coarse, fine};
    double with[3], without[3];
    orders_of(name, rewriting, DAE_PROJECTION_BOTH, t, steps, with);
    orders_of(name, rewriting, DAE_PROJECTION_AUTO, t, steps, without);
    print_message("%s %s: %.2f %.2f %.2f, without %.2f %.2f %.2f\n", name, rewriting, with[0],
                  with[1], with[2], without[0], without[1], without[2]);
    for (int b = 0; b < 3; b++) assert_true(with[b] > least);
}

static void orders(void **state)
{
    (void)state;
    for (int f = 0; f < FORMULATIONS; f++)
        check_orders("radau:5", formulations[f], 2.0, 64, 128, 4.7);
    /* between steps that are too long for Newton and round-off, far from the limit */
    check_orders("radau:9", "index3", 4.0, 48, 64, 8.5);
}

/* Values of the interpolant meet at ends of steps; with DAE_DENSE_SMOOTH its slopes do, too. */
static void dense_output(void **state)
{
    (void)state;
    dae_options o = options_for("radau", "index3", 1e-5);
    dae_problem *problem;
    double end[5], y[5], t, last = 0.0;
    o.dense = DAE_DENSE_SMOOTH;
    dae_solver *s = curve_solver(&curve_pendulum, &o, &problem);
    dae_status status = dae_solver_step(s, 5.0);
    for (int k = 0; k < 20 && status == DAE_STEPPED; k++) {
        t = dae_solver_time(s);
        for (int d = 0; d < 2; d++) {
            double near = 1e-9 * (t - last);
            assert_int_equal(dae_solver_at(s, t, d, end), DAE_OK);
            assert_int_equal(dae_solver_at(s, t - near, d, y), DAE_OK);
            for (int i = 0; i < 5; i++)
                assert_true(fabs(y[i] - end[i]) < 1e-7 * (1.0 + fabs(end[i])));
        }
        status = dae_solver_step(s, 5.0);
        last = t;
        assert_int_equal(dae_solver_at(s, t + 1e-9 * (dae_solver_time(s) - t), 1, y), DAE_OK);
        for (int i = 0; i < 5; i++) assert_true(fabs(y[i] - end[i]) < 1e-7 * (1.0 + fabs(end[i])));
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

static const char pendulum_text[] =
    "model P Real x(start=1); Real y(start=0,fixed=true); Real vx; Real vy(start=0,fixed=true); "
    "Real lambda; equation der(x) = vx; der(y) = vy; der(vx) = -x*lambda; "
    "der(vy) = -y*lambda - 1; x^2 + y^2 = 1; end P;";
/* Index 3, but x' is not a velocity */
static const char driven_text[] = "model D Real x(start=1); Real y(start=1); Real z; equation "
                                  "der(x) = y^3; der(y) = z^3; x = 1 + time + time^2; end D;";

static dae_solver *model_solver(const char *text, const dae_options *o, dae_problem **problem)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_model(&(dae_model){.text = text, .file = "text"}, problem, &diag) !=
        DAE_OK)
        fail_msg("%s", diag.text);
    if (dae_solver_new(*problem, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return s;
}

/* The mechanical form is found in the equations, in the order x, y, vx, vy, lambda. */
static void model_text(void **state)
{
    (void)state;
    dae_options o = options_for("radau", "auto", 1e-6);
    dae_problem *problem;
    dae_solver *s = model_solver(pendulum_text, &o, &problem);
    double y[8], g = 0.0, velocity = 0.0, force = 0.0, energy = 0.0;
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    while (dae_solver_step(s, 10.0) == DAE_STEPPED) {
        assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, y), DAE_OK);
        double speed = y[2] * y[2] + y[3] * y[3];
        g = fmax(g, fabs(y[0] * y[0] + y[1] * y[1] - 1.0));
        velocity = fmax(velocity, fabs(y[0] * y[2] + y[1] * y[3]));
        force = fmax(force, fabs(y[4] - (speed - y[1])));
        energy = fmax(energy, fabs(0.5 * speed + y[1]));
    }
    print_message("model: %.1e %.1e %.1e, energy %.1e\n", g, velocity, force, energy);
    assert_true(g < 1e-14 && velocity < 1e-14 && force < 1e-13);
    assert_true(energy < 1e-5);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* A model of index 1 has nothing to be projected on; it runs, and a note says so. */
static void hear(const char *text, void *user)
{
    if (strstr(text, "option projection")) ++*(int *)user;
}

static void note_at_index_1(void **state)
{
    (void)state;
    int notes = 0;
    double y[1];
    dae_options o = options_for("radau", "auto", 1e-6);
    o.message = hear;
    o.user = &notes;
    dae_problem *problem;
    dae_solver *s = model_solver("model D Real x(start=1,fixed=true); equation der(x) = -x; end D;",
                                 &o, &problem);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
    assert_true(fabs(y[0] - exp(-1.0)) < 1e-4);
    assert_int_equal(notes, 1);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Andrews' mechanism: velocities are of index 2 within steps, and tested as such. Taken for
 * differential ones they drown in rounding from rtol = 1e-8 on. The reference is that of
 * models/andrews.ref. */
static void stiff_mechanism(void **state)
{
    (void)state;
    char path[512];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s../models/andrews.mo", slash ? (int)(slash + 1 - __FILE__) : 0,
             __FILE__);
    const double reference = 15.8107711951537071; /* q[1] at t = 0.03 */
    for (double rtol = 1e-6; rtol > 5e-11; rtol *= 0.01) {
        dae_problem *problem;
        dae_solver *s;
        dae_diag diag = {0};
        double values[100];
        dae_options o = options_for("radau", "auto", rtol);
        o.stop_time = 0.03;
        if (dae_problem_from_file(path, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        if (dae_solver_run(s, 0.03, NULL, NULL) != DAE_OK)
            fail_msg("%g: %s", rtol, dae_solver_diag(s)->text);
        assert_true(dae_problem_variable_count(problem) <= 100);
        assert_int_equal(dae_solver_variables(s, 0.03, values), DAE_OK);
        double error = values[dae_problem_find_variable(problem, "q[1]")] - reference;
        if (!(fabs(error) < 30.0 * rtol * reference)) fail_msg("%g: error %.2e", rtol, error);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* What has no mechanical form says so. */
static void refusals(void **state)
{
    (void)state;
    dae_options o = options_for("radau", "auto", 1e-6);
    dae_residual form = {.n = 1, .f = decay};
    dae_problem *problem;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &s, &diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "dae_problem_from_mechanical"));
    dae_problem_free(problem);
    const char *const text[2] = {driven_text, pendulum_text};
    const char *const rewriting[2] = {"auto", "ggl"};
    const char *const why[2] = {"which the equations of the model are not", "index3"};
    for (int k = 0; k < 2; k++) {
        o.formulation = rewriting[k];
        s = model_solver(text[k], &o, &problem);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
        const char *told = dae_solver_diag(s)->text;
        if (!strstr(told, why[k])) fail_msg("%s", told);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_at_round_off),
        cmocka_unit_test(orders),
        cmocka_unit_test(dense_output),
        cmocka_unit_test(model_text),
        cmocka_unit_test(note_at_index_1),
        cmocka_unit_test(stiff_mechanism),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
