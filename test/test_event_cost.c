/* What an event costs, in counts: beginnings, evaluations, factorisations and steps for each; and
 * that its time is as good as the tolerances at any of them. */
#include "model_run.h"

/* A run to tend that began at r: what was counted on the way, per event. */
typedef struct per_event {
    double starts, residuals, jacobians, factorisations, steps, looks;
    long events;
} per_event;

static per_event cost_of(run *r, double tend)
{
    const dae_stats from = *dae_solver_stats(r->solver);
    assert_int_equal(step_to(r, tend), DAE_OK);
    const dae_stats *to = dae_solver_stats(r->solver);
    double n = (double)(to->events - from.events);
    per_event c = {.starts = (double)(to->starts - from.starts) / n,
                   .residuals = (double)(to->residuals - from.residuals) / n,
                   .jacobians = (double)(to->jacobians - from.jacobians) / n,
                   .factorisations = (double)(to->factorisations - from.factorisations) / n,
                   .steps = (double)(to->steps - from.steps) / n,
                   .looks = (double)(to->event_evaluations - from.event_evaluations) / n,
                   .events = to->events - from.events};
    print_message(
        "%ld events: %.2f starts, %.1f residuals, %.1f jacobians, %.1f factorisations, %.1f "
        "steps, %.1f looks each\n",
        c.events, c.starts, c.residuals, c.jacobians, c.factorisations, c.steps, c.looks);
    return c;
}

static const char thermostat[] =
    MODEL("Real T(start=19, fixed=true);\nBoolean on(start=true, fixed=true);\n"
          "Integer n(start=0, fixed=true);\nequation\n"
          "der(T) = (if on then 15 else 0) - 0.5*(T - 10);\n"
          "when T >= 21 then\n  on = false;\n  n = pre(n) + 1;\n"
          "elsewhen T <= 19 then\n  on = true;\n  n = pre(n) + 1;\nend when;");

/* Counters, pre(..) and conditions of when change in several passes; the equations read one flag,
 * and are solved once. */
static void test_one_beginning_per_event(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, thermostat));
    per_event c = cost_of(&r, 200.0);
    assert_true(c.events > 300);
    assert_true(c.starts <= 1.01);
    assert_true(c.residuals <= 30.0);
    assert_true(c.steps <= 2.0);
    end(&r);
}

/* A reinit sets a state: the equations are solved before it and behind it. */
static void test_two_beginnings_per_reinit(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nInteger n(start=0, fixed=true);\n"
                       "equation\nder(x) = 1;\nwhen x >= 1 then\n  reinit(x, 0);\n"
                       "  n = pre(n) + 1;\nend when;")));
    per_event c = cost_of(&r, 100.5);
    EXACTLY("n", 100.0);
    assert_true(c.starts <= 2.01);
    assert_true(c.steps <= 2.0); /* straight lines: the first steps, and one each */
    end(&r);
}

static const char rectifier[] = MODEL("constant Real w = 6.283185307179586;\nReal e, u, i;\n"
                                      "Real Q(start=0, fixed=true);\n"
                                      "Boolean conducting(start=true, fixed=true);\nequation\n"
                                      "e = 10*sin(w*time + 0.5);\ne = u + 5*i;\n"
                                      "conducting = if pre(conducting) then i >= 0 else u > 0;\n"
                                      "if conducting then\n  u = 0;\nelse\n  i = 0;\nend if;\n"
                                      "der(Q) = i;");

static const char relays[] =
    MODEL("Real x[3](each start=0, each fixed=true);\nBoolean on[3](each start=false, each "
          "fixed=true);\nequation\nder(x[1]) = (if on[1] then 0 else 1) - x[1];\n"
          "0.4*der(x[2]) = (if on[1] then 1 else 0) - x[2];\n"
          "0.3*der(x[3]) = (if on[2] then 1 else 0) - x[3];\n"
          "for i in 1:3 loop\n  when x[i] >= 0.7 then\n    on[i] = true;\n"
          "  elsewhen x[i] <= 0.3 then\n    on[i] = false;\n  end when;\nend for;");

static const char pendulum[] =
    MODEL("Real x(start=1, fixed=true), y(start=0), vx(start=0), vy(start=0, fixed=true), F;\n"
          "Integer low(start=0, fixed=true), left(start=0, fixed=true), turns(start=0, "
          "fixed=true);\nequation\nder(x) = vx;\nder(y) = vy;\nder(vx) = F*x;\n"
          "der(vy) = F*y - 9.81;\nx^2 + y^2 = 1;\nwhen y < -0.5 then\n  low = pre(low) + 1;\n"
          "end when;\nwhen x < 0 then\n  left = pre(left) + 1;\nend when;\n"
          "when vy > 0 then\n  turns = pre(turns) + 1;\nend when;");

/* Crossings of algebraic variables are found by the equations: few solves, with few factors. */
static void test_polished_crossings(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, rectifier));
    per_event c = cost_of(&r, 100.1);
    assert_true(c.events == 200); /* no current of an open switch makes one */
    assert_true(c.starts <= 1.01);
    assert_true(c.factorisations <= c.steps + 10.0);
    end(&r);
}

/* The error of an interpolant, on a relation that the equations hold at zero, is no event: neither
 * with bdf, whose first steps are of low order. */
static void test_events_of_low_order(void **state)
{
    (void)state;
    for (double tolerance = 1e-3; tolerance > 5e-10; tolerance *= 0.1) {
        run r;
        prepare(&r, rectifier);
        r.options.rtol = r.options.atol = tolerance;
        r.options.method = "bdf";
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 5.1));
        assert_int_equal(dae_solver_stats(r.solver)->events, 10);
        end(&r);
    }
}

/* x' = -x down to 1/2 and up again: at t_k = k log(2) + .. the closed form; times at every
 * tolerance as good as that, or better. */
static void test_times_at_all_tolerances(void **state)
{
    (void)state;
    for (double tolerance = 1e-4; tolerance > 5e-11; tolerance *= 0.1) {
        run r;
        prepare(&r, MODEL("Real x(start=1, fixed=true);\nReal last(start=0, fixed=true);\n"
                          "Boolean falls(start=true, fixed=true);\nequation\n"
                          "der(x) = if falls then -x else 1.5 - x;\n"
                          "when x <= 0.5 then\n  falls = false;\n  last = time;\n"
                          "elsewhen x >= 1 then\n  falls = true;\n  last = time;\n"
                          "end when;"));
        r.options.rtol = r.options.atol = tolerance;
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 13.0));
        /* down and up each take log 2: 18 in 12.48 */
        double error = fabs(value(&r, "last") - 18.0 * log(2.0));
        assert_true(error <= 200.0 * tolerance);
        end(&r);
    }
}

/* ---- events that the equations do not feel ---- */

static const char *const every_method[] = {"auto",   "radau", "bdf", "dopri",
                                           "taylor", "rodas", "irk"};
enum { METHODS = sizeof every_method / sizeof *every_method };

static void with_method(run *r, const char *text, const char *method, double tolerance)
{
    prepare(r, text);
    r->options.method = method;
    r->options.rtol = r->options.atol = tolerance;
    expect_ok(r, start_at(r, 0.0), __LINE__);
}

/* A counter, a discrete variable that nothing reads but a row, a clock of 0.01: the method begins
 * once, and takes the steps of a run without them, two a period of events more at most. */
static void test_unfelt_events_leave_the_method_alone(void **state)
{
    (void)state;
    static const char plain[] = MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true);\n"
                                      "equation\nder(x) = v;\nder(v) = -x;");
    static const char counts[] =
        MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true);\n"
              "Integer n(start=0, fixed=true), k(start=0, fixed=true);\n"
              "Real last(start=0, fixed=true);\nequation\nder(x) = v;\nder(v) = -x;\n"
              "when x <= 0 then\n  n = pre(n) + 1;\nend when;\n"
              "when sample(0.01, 0.01) then\n  k = pre(k) + 1;\n  last = x;\nend when;");
    for (int m = 0; m < METHODS; m++) {
        run r;
        with_method(&r, plain, every_method[m], 1e-6);
        OK(step_to(&r, 20.005));
        const long steps = dae_solver_stats(r.solver)->steps;
        end(&r);
        with_method(&r, counts, every_method[m], 1e-6);
        const long starts = dae_solver_stats(r.solver)->starts;
        per_event c = cost_of(&r, 20.005);
        EXACTLY("n", 3.0);
        EXACTLY("k", 2000.0);
        assert_true(fabs(value(&r, "last") - cos(20.0)) < 1e-4);
        assert_int_equal(dae_solver_stats(r.solver)->starts, starts);
        assert_int_equal(c.events, 2006);
        assert_true(dae_solver_stats(r.solver)->steps <= steps);
        end(&r);
    }
}

/* Relays switch at one end of their range, and nothing happens where they leave it again: half of
 * the events have no beginning. */
static void test_ways_back_begin_nothing(void **state)
{
    (void)state;
    static const double most_steps[METHODS] = {1.0, 1.0, 15.0, 3.0, 1.0, 5.0, 16.0};
    for (int m = 0; m < METHODS; m++) {
        run r;
        with_method(&r, relays, every_method[m], 1e-6);
        per_event c = cost_of(&r, 20.0);
        assert_int_equal(c.events, 113);
        assert_true(c.starts <= 0.5);
        assert_true(c.steps <= most_steps[m]);
        end(&r);
    }
}

/* A pendulum in Cartesian coordinates passes y = -1/2 and its lowest point as often as it does,
 * with methods whose unknowns have y for an algebraic variable, too. */
static void test_counts_of_a_pendulum(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++)
        for (double tolerance = 1e-3; tolerance > 5e-8; tolerance *= 0.1) {
            run r;
            if (!strcmp(every_method[m], "irk")) continue;
            with_method(&r, pendulum, every_method[m], tolerance);
            OK(step_to(&r, 18.8));
            EXACTLY("low", 16.0);
            EXACTLY("left", 8.0);
            EXACTLY("turns", 16.0);
            end(&r);
        }
}

/* Crossing functions of derivatives are those of the equations, not of the interpolant, whether the
 * equations feel the event or not: each peak of x is met once, and the slope there is zero. */
static void test_peaks_by_slopes(void **state)
{
    (void)state;
    static const char *const felt[] = {"0", "n"};
    for (int k = 0; k < 2; k++)
        for (int m = 0; m < METHODS; m++)
            for (double tolerance = 1e-3; tolerance > 5e-9; tolerance *= 0.1) {
                char text[600];
                run r;
                snprintf(text, sizeof text,
                         MODEL("Real x(start=1, fixed=true), f(start=0, fixed=true);\n"
                               "Integer n(start=0, fixed=true);\n"
                               "Real slope(start=1, fixed=true);\nequation\n"
                               "der(x) = cos(3*time) - 0.1*x;\nder(f) = %s - f;\n"
                               "when der(x) < 0 then\n  n = pre(n) + 1;\n"
                               "  slope = der(x);\nend when;"),
                         felt[k]);
                with_method(&r, text, every_method[m], tolerance);
                OK(step_to(&r, 10.0));
                EXACTLY("n", 5.0);
                assert_true(fabs(value(&r, "slope")) < 1e-12);
                assert_int_equal(dae_solver_stats(r.solver)->events, 10);
                end(&r);
            }
}

/* What looks around an event does with the matrix of the method is not taken for its own in the
 * next step: that step of irk came to y = +1. */
static void test_matrices_behind_unfelt_events(void **state)
{
    (void)state;
    run r;
    for (double tolerance = 1e-3; tolerance > 5e-7; tolerance *= 0.1) {
        prepare(&r, MODEL("Real x(start=1, fixed=true), y(start=0), vx(start=0), vy(start=0, "
                          "fixed=true), F;\nInteger n(start=0, fixed=true);\nequation\n"
                          "der(x) = vx;\nder(y) = vy;\nder(vx) = F*x;\nder(vy) = F*y - 9.81;\n"
                          "x^2 + y^2 = 1;\nwhen x < 0 then\n  n = pre(n) + 1;\nend when;"));
        r.options.method = "irk";
        r.options.rtol = tolerance;
        r.options.atol = 1e-3 * tolerance;
        OK(start_at(&r, 0.0));
        dae_status status = step_to(&r, 1.9); /* where irk can, that it cannot is told */
        assert_true(status == DAE_OK || status == DAE_ERR_ERROR_TEST);
        assert_true(value(&r, "y") < 0.0);
        end(&r);
    }
}

/* A discrete variable in a crossing function: the threshold moves at each event, and the equations
 * do not see it. Values before the event are those of another threshold, and not to be had. */
static void test_moving_threshold(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=0, fixed=true);\nReal next(start=0.3, fixed=true);\n"
                       "equation\nder(x) = 1;\nwhen x >= pre(next) then\n"
                       "  next = pre(next) + 0.7;\nend when;")));
    const long starts = dae_solver_stats(r.solver)->starts;
    for (int reports = 0; reports < 40;) reports += dae_solver_step(r.solver, 98.9) == DAE_EVENT;
    const double t = dae_solver_time(r.solver);
    assert_int_equal(dae_solver_variables(r.solver, t, r.values), DAE_OK);
    assert_int_equal(dae_solver_variables(r.solver, t - 0.1, r.values), DAE_ERR_ARGUMENT);
    OK(step_to(&r, 98.9));
    assert_true(fabs(value(&r, "next") - (0.3 + 0.7 * 141.0)) < 1e-9);
    assert_int_equal(dae_solver_stats(r.solver)->starts, starts);
    end(&r);
}

/* ---- callbacks: several crossings in one step ---- */

enum { THRESHOLDS = 9 };

static int unit_slope(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0] - 1.0;
    return 0;
}

/* 0.05, 0.15, .., not in the order of their numbers */
static double threshold(int i)
{
    return 0.05 + 0.1 * (i * 4 % THRESHOLDS);
}

static int thresholds(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    for (int i = 0; i < THRESHOLDS; i++) g[i] = exp(y[0]) - exp(threshold(i));
    return 0;
}

/* One pass over the samples finds them all, in order, and to the last digits. */
static void test_crossings_of_one_step(void **state)
{
    (void)state;
    dae_residual form = {
        .n = 1, .f = unit_slope, .event_count = THRESHOLDS, .event_function = thresholds};
    dae_options o = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    double y = 0.0, yp = 1.0;
    o.method = "radau";
    o.initial_step = 1.0;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
    for (int k = 0; k < THRESHOLDS; k++) {
        assert_int_equal(dae_solver_step(s, 1.0), DAE_EVENT);
        assert_true(fabs(dae_solver_time(s) - (0.05 + 0.1 * k)) < 1e-12);
    }
    const dae_stats *stats = dae_solver_stats(s);
    assert_int_equal(stats->steps, 1);
    assert_true(stats->event_evaluations <= 1 + 5 + 6 * THRESHOLDS);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- the same run twice ---- */

/* A ball on a spring: first steps behind events fail now and then, and are shorter afterwards. */
static void test_second_start_is_the_first(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "irk", "dop853"};
    for (int k = 0; k < 4; k++) {
        run r;
        double h[2];
        prepare(&r, MODEL("Real h(start=1, fixed=true), v(start=2, fixed=true), F;\nequation\n"
                          "der(h) = v;\nder(v) = F - 9.81;\n"
                          "F = if h < 0 then -1000*h else 0;"));
        r.options.method = methods[k];
        r.options.rtol = r.options.atol = 1e-4;
        for (int n = 0; n < 2; n++) {
            OK(n == 0 ? start_at(&r, 0.0) : dae_solver_start(r.solver, 0.0, NULL, NULL));
            OK(step_to(&r, 2.0));
            h[n] = value(&r, "h");
        }
        assert_true(h[0] == h[1]);
        end(&r);
    }
}

/* Events at which other states are chosen, thrice alike: whether the step before one had the
 * unknowns of the step behind it does not depend on addresses of what was freed. */
static void test_runs_do_not_depend_on_addresses(void **state)
{
    (void)state;
    double y[3];
    for (int n = 0; n < 3; n++) {
        run r;
        prepare(&r, MODEL("Real x(start=0.4, fixed=true), v(start=0.3, fixed=true);\n"
                          "Real y(start=0.8), w(start=0.6), f;\n"
                          "parameter Real m = 0, M = 2e-6, k = 6;\n"
                          "Boolean j(start=false, fixed=true);\nequation\n"
                          "der(x) = v; der(y) = w; m*der(v) = -k*x + f; M*der(w) = -f;\n"
                          "0 = if j then v - w else f + k*(x - y);\n"
                          "when x < 0.2 then\n  j = true; reinit(v, (m*v + M*w)/(m + M));\n"
                          "  reinit(w, (m*v + M*w)/(m + M));\nend when;"));
        r.options.method = "taylor";
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 0.1));
        y[n] = value(&r, "y");
        end(&r);
    }
    assert_true(y[0] == y[1] && y[0] == y[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_beginning_per_event),
        cmocka_unit_test(test_two_beginnings_per_reinit),
        cmocka_unit_test(test_polished_crossings),
        cmocka_unit_test(test_events_of_low_order),
        cmocka_unit_test(test_times_at_all_tolerances),
        cmocka_unit_test(test_unfelt_events_leave_the_method_alone),
        cmocka_unit_test(test_ways_back_begin_nothing),
        cmocka_unit_test(test_counts_of_a_pendulum),
        cmocka_unit_test(test_peaks_by_slopes),
        cmocka_unit_test(test_matrices_behind_unfelt_events),
        cmocka_unit_test(test_moving_threshold),
        cmocka_unit_test(test_crossings_of_one_step),
        cmocka_unit_test(test_second_start_is_the_first),
        cmocka_unit_test(test_runs_do_not_depend_on_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
