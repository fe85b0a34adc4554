/* Models of index above 1 run as they are written: consistent values from the free ones alone, the
 * manifold kept at every output, states chosen anew while the method keeps its order, modes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sanitized.h"
#include "solve/bind/solver.h"

static const double TURN = 6.283185307179586;

enum { MOST_VALUES = 128 };

typedef struct run {
    dae_problem *problem;
    dae_solver *solver;
    dae_diag diag;
    double values[MOST_VALUES];
} run;

static void open_text(run *r, const char *text, const char *file, const dae_options *options)
{
    memset(r, 0, sizeof *r);
    dae_model model = {.text = text, .file = file, .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &r->problem, &r->diag);
    if (status == DAE_OK) status = dae_solver_new(r->problem, options, &r->solver, &r->diag);
    if (status != DAE_OK) print_error("%s\n", r->diag.text);
    assert_int_equal(status, DAE_OK);
}

/* A file of models/, which is beside the directory of this file. */
static void model_path(char *path, size_t size, const char *name, const char *ending)
{
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s../models/%s%s", length, __FILE__, name, ending);
}

static void open_model(run *r, const char *name, const dae_options *options)
{
    char path[512];
    model_path(path, sizeof path, name, ".mo");
    open_text(r, NULL, path, options);
}

static void start(run *r)
{
    double t0 = dae_problem_experiment(r->problem).start;
    dae_status status = dae_solver_start(r->solver, isnan(t0) ? 0.0 : t0, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(r->solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void run_to(run *r, double t)
{
    dae_status status = dae_solver_run(r->solver, t, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(r->solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void read_values(run *r)
{
    assert_in_range(dae_problem_variable_count(r->problem), 1, MOST_VALUES);
    double t = dae_solver_time(r->solver);
    assert_int_equal(dae_solver_variables(r->solver, t, r->values), DAE_OK);
}

static double value(const run *r, const char *name)
{
    int i = dae_problem_find_variable(r->problem, name);
    if (i < 0) print_error("no variable %s\n", name);
    assert_true(i >= 0);
    return r->values[i];
}

static void close_run(run *r)
{
    dae_solver_free(r->solver);
    dae_problem_free(r->problem);
}

static dae_options tolerances(double rtol)
{
    dae_options o = dae_options_default();
    o.rtol = rtol;
    o.atol = 1e-3 * rtol;
    o.max_steps = 0;
    return o;
}

/* ---- end values against references ---------------------------------------------------------- */

/* max |y - reference| / max |reference| over the variables of a .ref file whose names begin with
 * `prefix`, at its time. */
static double error_against_reference(run *r, const char *model, const char *prefix)
{
    char path[512], line[512], name[64];
    double t = NAN, v, error = 0.0, size = 0.0;
    model_path(path, sizeof path, model, ".ref");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%63s %lf", name, &v) != 2) continue;
        if (strcmp(name, "t") == 0) {
            t = v;
            run_to(r, t);
            read_values(r);
        } else if (!isnan(t) && strncmp(name, prefix, strlen(prefix)) == 0) {
            error = fmax(error, fabs(value(r, name) - v));
            size = fmax(size, fabs(v));
        }
    }
    fclose(file);
    assert_true(size > 0.0);
    return error / size;
}

static void check_model(const char *model, const char *prefix, double rtol, double bound)
{
    run r;
    dae_options o = tolerances(rtol);
    open_model(&r, model, &o);
    start(&r);
    double error = error_against_reference(&r, model, prefix);
    if (!(error <= bound)) print_error("%s: error %g of %s*\n", model, error, prefix);
    assert_true(error <= bound);
    close_run(&r);
}

static void test_pendulum(void **state)
{
    (void)state;
    check_model("pendulum", "", 1e-9, 1e-7);
}

static void test_andrews(void **state)
{
    (void)state;
    check_model("andrews", "q", 1e-9, 1e-6);
}

static void test_car_axis(void **state)
{
    (void)state;
    check_model("caraxis", "p", 1e-9, 1e-6);
}

static void test_spring_chain(void **state)
{
    (void)state;
    check_model("springchain", "", 1e-9, 1e-7);
}

static void test_trajectory(void **state)
{
    (void)state;
    check_model("trajectory3", "", 1e-9, 1e-7);
}

/* ---- the manifold --------------------------------------------------------------------------- */

static const char *const PENDULUM =
    "model Pendulum\n"
    "  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0), vy(start = 0, fixed = true);\n"
    "  Real lambda;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy;\n"
    "  der(vx) = -x*lambda;\n"
    "  der(vy) = -y*lambda - 1;\n"
    "  x^2 + y^2 = 1;\n"
    "end Pendulum;\n";

/* The largest residual of position, velocity and acceleration constraints. */
static double off_manifold(const run *r)
{
    double x = value(r, "x"), y = value(r, "y"), vx = value(r, "vx"), vy = value(r, "vy");
    double position = x * x + y * y - 1.0, velocity = x * vx + y * vy;
    double acceleration = vx * vx + vy * vy - y - value(r, "lambda");
    return fmax(fabs(position), fmax(fabs(velocity), fabs(acceleration)));
}

/* Default tolerances; outputs at times of their own, between the steps. */
static void test_outputs_are_on_the_manifold(void **state)
{
    (void)state;
    run r;
    open_text(&r, PENDULUM, "m.mo", NULL);
    start(&r);
    for (int k = 1; k <= 200; k++) {
        run_to(&r, 0.37 * k);
        read_values(&r);
        assert_true(off_manifold(&r) < 1e-9);
    }
    close_run(&r);
}

/* 1000 periods of 7.4163 from rest at (1, 0): the manifold is kept, and energy lost only as far as
 * BDF damps what it cannot resolve. */
static void test_thousand_periods(void **state)
{
    (void)state;
    run r;
    dae_options o = tolerances(1e-6);
    o.atol = 1e-9;
    open_text(&r, PENDULUM, "m.mo", &o);
    start(&r);
    int outputs = SANITIZED ? 200 : 2000;
    for (int k = 1; k <= outputs; k++) {
        run_to(&r, 3.70815 * k);
        read_values(&r);
        assert_true(off_manifold(&r) < 1e-9);
    }
    double vx = value(&r, "vx"), vy = value(&r, "vy");
    assert_true(fabs(0.5 * (vx * vx + vy * vy) + value(&r, "y")) < 5e-3);
    close_run(&r);
}

/* The index-1 formulation drifts off [HW96 VII.2, Fig. 2.1]; the default does not. */
static void test_index1_drifts(void **state)
{
    (void)state;
    double residual[2];
    const char *const names[2] = {"index1", "auto"};
    for (int k = 0; k < 2; k++) {
        run r;
        dae_options o = dae_options_default();
        o.formulation = names[k];
        open_text(&r, PENDULUM, "m.mo", &o);
        start(&r);
        run_to(&r, 100.0);
        read_values(&r);
        residual[k] = fabs(value(&r, "x") * value(&r, "x") + value(&r, "y") * value(&r, "y") - 1.0);
        close_run(&r);
    }
    assert_true(residual[0] >= 100.0 * residual[1]);
    assert_true(residual[1] < 1e-9);
}

/* ---- states chosen anew --------------------------------------------------------------------- */

/* vy = 3 from (1, 0): through all quadrants, again and again. E = v^2/2 + y = 4.5. No coordinate
 * jumps: the angle between outputs is what the speed, between sqrt(7) and sqrt(11), allows. */
static void test_looping_pendulum(void **state)
{
    (void)state;
    run r;
    int outputs = SANITIZED ? 2000 : 21500; /* 1000 turns of 2.1 time units */
    double angle = 0.0;
    dae_options o = tolerances(1e-7);
    open_model(&r, "pendulumloop", &o);
    start(&r);
    for (int k = 1; k <= outputs; k++) {
        run_to(&r, 0.1 * k);
        read_values(&r);
        double now = atan2(value(&r, "y"), value(&r, "x")), turn = remainder(now - angle, TURN);
        assert_true(turn > 0.1 * sqrt(7.0) * 0.99 && turn < 0.1 * sqrt(11.0) * 1.01);
        assert_true(off_manifold(&r) < 1e-9);
        angle = now;
    }
    double vx = value(&r, "vx"), vy = value(&r, "vy");
    assert_true(fabs(0.5 * (vx * vx + vy * vy) + value(&r, "y") - 4.5) < 1e-3);
    close_run(&r);
}

/* Error at t = 10 and steps at a tolerance, with the order held at k. */
static void measure(int k, double rtol, double *error, double *multiplier_error, double *steps)
{
    run r;
    dae_options o = tolerances(rtol);
    o.atol = rtol;
    o.min_order = o.max_order = k;
    open_model(&r, "pendulumloop", &o);
    start(&r);
    *error = error_against_reference(&r, "pendulumloop", "x");
    *multiplier_error = error_against_reference(&r, "pendulumloop", "lambda");
    *steps = (double)dae_solver_stats(r.solver)->steps;
    close_run(&r);
}

/* error ~ steps^-k over several turns: choosing states anew does not cost the method its order. */
static void test_order_is_kept(void **state)
{
    (void)state;
    for (int k = 2; k <= 4; k++) {
        double e[2], m[2], n[2];
        measure(k, 1e-6, &e[0], &m[0], &n[0]);
        measure(k, 1e-9, &e[1], &m[1], &n[1]);
        double order = log(e[0] / e[1]) / log(n[1] / n[0]);
        double multiplier_order = log(m[0] / m[1]) / log(n[1] / n[0]);
        assert_true(order > k - 0.3);
        assert_true(multiplier_order > k - 0.3);
    }
}

/* ---- modes ---------------------------------------------------------------------------------- */

/* An ODE while the bow slips, index 2 while it sticks. Times of the modal solution. */
static void test_violin(void **state)
{
    (void)state;
    static const double SWITCHES[14] = {0.027709, 0.966044, 2.123164, 3.004353, 4.416370,
                                        4.928516, 5.029198, 5.066506, 6.220459, 6.432274,
                                        6.531615, 6.961740, 8.262842, 9.028033};
    run r;
    dae_options o = tolerances(1e-10);
    int count = 0;
    double stick = 0.0;
    dae_status status;
    open_model(&r, "violin", &o);
    start(&r);
    while ((status = dae_solver_step(r.solver, 10.0)) > 0) {
        if (status != DAE_EVENT) continue;
        read_values(&r);
        if (value(&r, "stick") == stick) continue;
        stick = value(&r, "stick");
        assert_in_range(count, 0, 13);
        assert_true(fabs(dae_solver_time(r.solver) - SWITCHES[count++]) < 1e-6);
    }
    assert_int_equal(status, DAE_OK);
    assert_int_equal(count, 14);
    close_run(&r);
}

/* ---- the derivative array ------------------------------------------------------------------- */

/* Rank is lost by a combination too long to be written down: x_i = sin(t + i), lambda = cos(t). */
static void test_derivative_array(void **state)
{
    (void)state;
    run r;
    dae_options o = tolerances(1e-7);
    open_model(&r, "structure/ring", &o);
    start(&r);
    run_to(&r, 1.0);
    read_values(&r);
    assert_true(fabs(value(&r, "x[3]") - sin(4.0)) < 1e-5);
    assert_true(fabs(value(&r, "x[26]") - sin(27.0)) < 1e-5);
    assert_true(fabs(value(&r, "lambda") - cos(1.0)) < 1e-4);
    close_run(&r);
}

/* ---- calls ---------------------------------------------------------------------------------- */

/* The public vector is that of the model as written, whatever form is integrated. */
static void test_values_by_the_written_form(void **state)
{
    (void)state;
    run r;
    double y[5], yp[5];
    open_text(&r, PENDULUM, "m.mo", NULL);
    assert_int_equal(dae_problem_size(r.problem), 5);
    start(&r);
    run_to(&r, 1.0);
    read_values(&r);
    assert_int_equal(dae_solver_at(r.solver, 1.0, 0, y), DAE_OK);
    assert_int_equal(dae_solver_at(r.solver, 1.0, 1, yp), DAE_OK);
    assert_true(fabs(y[0] - (value(&r, "x"))) <= 0.0);
    assert_true(fabs(yp[0] - (value(&r, "vx"))) <= 1e-9);
    assert_true(fabs(yp[3] - (-y[1] * y[4] - 1.0)) <= 1e-8);
    close_run(&r);
}

/* A restart takes values of the written form and makes them consistent. */
static void test_restart(void **state)
{
    (void)state;
    run r;
    const double y[5] = {0.6, -0.8, 0.0, 0.0, 0.0};
    open_text(&r, PENDULUM, "m.mo", NULL);
    start(&r);
    run_to(&r, 1.0);
    assert_int_equal(dae_solver_restart(r.solver, y, NULL), DAE_OK);
    read_values(&r);
    assert_true(fabs(value(&r, "x") - (0.6)) <= 1e-12);
    assert_true(fabs(value(&r, "lambda") - (0.8)) <= 1e-12);
    run_to(&r, 2.0);
    read_values(&r);
    assert_true(off_manifold(&r) < 1e-9);
    close_run(&r);
}

/* Starting twice gives the same bits. */
static void test_starts_are_alike(void **state)
{
    (void)state;
    run r;
    double first[MOST_VALUES];
    open_text(&r, PENDULUM, "m.mo", NULL);
    for (int k = 0; k < 2; k++) {
        start(&r);
        run_to(&r, 5.0);
        read_values(&r);
        if (k == 0) memcpy(first, r.values, sizeof first);
    }
    assert_memory_equal(first, r.values, 5 * sizeof(double));
    close_run(&r);
}

/* ---- events of constrained models ----------------------------------------------------------- */

#define PENDULUM_EQUATIONS                                                                         \
    " der(x) = vx; der(y) = vy; der(vx) = -l*x - f*y; der(vy) = -l*y - 1 + f*x; x^2 + y^2 = 1;"

/* A wall below the bearing: reinit has the velocity as it was, though x and vy are zero there and
 * may move as little as that. From rest at y = 0 each of six impacts leaves 0.64 of E + 1. */
static void test_impacts(void **state)
{
    (void)state;
    static const char text[] =
        "model Impact Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = "
        "true), l, f, E;"
        " discrete Integer hits(start = 0, fixed = true); equation" PENDULUM_EQUATIONS " f = 0;"
        " E = (vx^2 + vy^2)/2 + y;"
        " when x < 0 then reinit(vx, -0.8*pre(vx)); hits = pre(hits) + 1; end when; end Impact;";
    run r;
    dae_options options = tolerances(1e-9);
    open_text(&r, text, NULL, &options);
    start(&r);
    run_to(&r, 20.0);
    read_values(&r);
    assert_true(value(&r, "hits") == 6.0);
    assert_true(fabs(value(&r, "E") - (pow(0.64, 6.0) - 1.0)) < 1e-7);
    close_run(&r);
}

/* Computed start values, zero up to rounding errors: what they miss their constraints by moves
 * them, not the velocity. */
static void test_start_values_near_zero(void **state)
{
    (void)state;
    static const char text[] =
        "model Turned parameter Real phi = 1.5707963267948966; Real x(start = sin(phi)), "
        "y(start = 1e-15 - cos(phi)), vx(start = cos(phi)), vy(start = sin(phi)), l, f; "
        "equation" PENDULUM_EQUATIONS " f = 0; end Turned;";
    run r;
    dae_options options = tolerances(1e-7);
    open_text(&r, text, NULL, &options);
    start(&r);
    read_values(&r);
    assert_true(fabs(value(&r, "x") - 1.0) < 1e-12 && fabs(value(&r, "y")) < 1e-12);
    assert_true(fabs(value(&r, "vy") - 1.0) < 1e-12 && fabs(value(&r, "vx")) < 1e-12);
    close_run(&r);
}

/* A brake that holds a combination of velocities stops the pendulum where it is: what is told of
 * velocities leaves positions alone, though x = y would allow to go on with v. */
static void test_positions_do_not_jump(void **state)
{
    (void)state;
    static const char text[] =
        "model Brake Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = "
        "true), l, f;"
        " Boolean brake(start = false, fixed = true); discrete Real x0(start = 0, fixed = true);"
        " equation" PENDULUM_EQUATIONS " if brake then vx + vy = 0; else f = 0; end if;"
        " when time > 5 then brake = true; x0 = pre(x); end when; end Brake;";
    run r;
    dae_options options = tolerances(1e-9);
    open_text(&r, text, NULL, &options);
    start(&r);
    run_to(&r, 10.0);
    read_values(&r);
    assert_true(fabs(value(&r, "x") + 0.6853448713) < 1e-7); /* where a free one is at t = 5 */
    assert_true(fabs(value(&r, "vx")) < 1e-12 && fabs(value(&r, "vy")) < 1e-12);
    assert_true(fabs(value(&r, "x") - value(&r, "x0")) < 1e-9);
    close_run(&r);
}

/* ---- monitor -------------------------------------------------------------------------------- */

typedef struct names_seen {
    const dae_problem *problem;
    long unnamed, named;
} names_seen;

static void see_variable(const dae_step_info *info, void *user)
{
    names_seen *seen = user;
    if (info->variable < 0) return;
    if (dae_problem_unknown_name(seen->problem, info->variable))
        seen->named++;
    else
        seen->unnamed++;
}

/* The variable that dominates an error is one of the problem's, whatever the formulation. */
static void test_monitor_names_variables(void **state)
{
    (void)state;
    run r;
    names_seen seen = {0};
    dae_options options = tolerances(1e-7);
    options.monitor = see_variable;
    options.user = &seen;
    open_model(&r, "pendulumloop", &options);
    seen.problem = r.problem;
    start(&r);
    run_to(&r, 10.0);
    assert_true(seen.unnamed == 0);
    assert_true(seen.named > 0);
    close_run(&r);
}

/* Two modes of different structure, in turns: each is analysed once. */
static void test_modes_are_kept(void **state)
{
    (void)state;
    run r;
    dae_options options = tolerances(1e-6);
    open_text(&r,
              "model M\n  Real x(start = 0, fixed = true), y, z;\nequation\n  der(x) = y;\n"
              "  if sin(10*time) > 0.01 then\n    y = 1;\n    z = x;\n  else\n"
              "    z = sin(time);\n    y = der(z);\n  end if;\nend M;\n",
              "m.mo", &options);
    start(&r);
    run_to(&r, 5.0);
    assert_true(dae_solver_stats(r.solver)->events > 12);
    assert_int_equal(r.solver->modes->count, 2);
    close_run(&r);
}

/* A restart at an event that is reported and not yet acted upon, of a mechanism that runs in
 * unknowns of its own: the event happens, once. */
static void test_restart_at_a_reported_event(void **state)
{
    (void)state;
    static const char *const text =
        "model M\n  Real x(start = 1, fixed = true), y;\n  Real vx, vy(start = 0, fixed = true), "
        "l;\n"
        "  Integer n(start = 0, fixed = true);\nequation\n  der(x) = vx;\n  der(y) = vy;\n"
        "  der(vx) = -l*x;\n  der(vy) = -l*y - 9.81;\n  x^2 + y^2 = 1;\n"
        "  when x < 0 then\n    n = pre(n) + 1;\n  end when;\nend M;\n";
    dae_options options = dae_options_default();
    options.rtol = 1e-8;
    options.atol = 1e-10;
    const char *const methods[] = {"auto", "bdf", "hem", "radau"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        dae_status status;
        options.method = methods[k];
        open_text(&r, text, "m.mo", &options);
        start(&r);
        while ((status = dae_solver_step(r.solver, 1.0)) == DAE_STEPPED) continue;
        assert_int_equal(status, DAE_EVENT);
        assert_true(is_formulated(r.solver));
        read_values(&r);
        assert_true(value(&r, "n") == 0.0 && fabs(value(&r, "x")) < 1e-6);
        assert_int_equal(dae_solver_restart(r.solver, NULL, NULL), DAE_OK);
        read_values(&r);
        assert_true(value(&r, "n") == 1.0);
        run_to(&r, 1.0);
        read_values(&r);
        if (value(&r, "n") != 1.0) fail_msg("%s: n = %g", methods[k], value(&r, "n"));
        dae_solver_free(r.solver);
        dae_problem_free(r.problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_andrews),
        cmocka_unit_test(test_car_axis),
        cmocka_unit_test(test_spring_chain),
        cmocka_unit_test(test_trajectory),
        cmocka_unit_test(test_outputs_are_on_the_manifold),
        cmocka_unit_test(test_thousand_periods),
        cmocka_unit_test(test_index1_drifts),
        cmocka_unit_test(test_looping_pendulum),
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_violin),
        cmocka_unit_test(test_derivative_array),
        cmocka_unit_test(test_values_by_the_written_form),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_starts_are_alike),
        cmocka_unit_test(test_impacts),
        cmocka_unit_test(test_start_values_near_zero),
        cmocka_unit_test(test_positions_do_not_jump),
        cmocka_unit_test(test_monitor_names_variables),
        cmocka_unit_test(test_modes_are_kept),
        cmocka_unit_test(test_restart_at_a_reported_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
