/* Prescribed steps: opt.step_sequence. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 40 };

/* What the monitor saw. */
typedef struct trace {
    int count, orders[MOST];
    double ends[MOST];
} trace;

static void note(const dae_step_info *info, void *user)
{
    trace *seen = user;
    if (info->result != DAE_STEP_ACCEPTED || seen->count == MOST) return;
    seen->orders[seen->count] = info->order;
    seen->ends[seen->count++] = info->t + info->h;
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* y' = -y, y(0) = 1, ready to go with these times */
static dae_solver *decaying(const char *method, int count, const double *times, trace *seen,
                            dae_problem **p)
{
    const dae_residual form = {.n = 1, .f = decay};
    const double y0 = 1.0, yp0 = -1.0;
    dae_options o = dae_options_default();
    dae_solver *s;
    dae_diag diag;
    o.method = method;
    o.step_sequence = times;
    o.step_count = count;
    o.rtol = o.atol = 1e-13;
    o.monitor = seen ? note : NULL;
    o.user = seen;
    assert_int_equal(dae_problem_from_residual(&form, p, NULL), DAE_OK);
    if (dae_solver_new(*p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    return s;
}

static void leave(dae_solver *s, dae_problem *p)
{
    dae_solver_free(s);
    dae_problem_free(p);
}

static const double odd[] = {0.1, 0.15, 0.4, 0.41, 1.0};
enum { ODD = sizeof odd / sizeof *odd };

/* Implicit Euler: y_n = prod 1/(1 + h_i), whatever the steps; the caller's array is copied. */
static void euler_takes_these_steps(void **state)
{
    (void)state;
    dae_problem *p;
    trace seen = {0};
    double times[ODD], y, exact = 1.0;
    memcpy(times, odd, sizeof times);
    dae_solver *s = decaying("bdf:1", ODD, times, &seen, &p);
    memset(times, 0, sizeof times);
    assert_int_equal(dae_solver_run(s, odd[ODD - 1], &y, NULL), DAE_OK);
    for (int i = 0; i < ODD; i++) exact /= 1.0 + odd[i] - (i > 0 ? odd[i - 1] : 0.0);
    assert_true(fabs(y - exact) < 1e-14);
    assert_int_equal(seen.count, ODD);
    for (int i = 0; i < ODD; i++) assert_true(fabs(seen.ends[i] - odd[i]) < 1e-15);
    leave(s, p);
}

/* The order rises by one a step, and starts again nowhere; steps of 1 and more would have it stay
 * low if estimates counted. */
static void orders_rise_step_by_step(void **state)
{
    (void)state;
    for (double unit = 0.01; unit < 20.0; unit *= 10.0) {
        dae_problem *p;
        trace seen = {0};
        double times[10], y;
        for (int i = 0; i < 10; i++) times[i] = unit * (i + 1) + 0.2 * unit * (i % 3);
        dae_solver *s = decaying("bdf", 10, times, &seen, &p);
        assert_int_equal(dae_solver_run(s, times[9], &y, NULL), DAE_OK);
        assert_int_equal(seen.count, 10);
        for (int i = 0; i < 10; i++) assert_int_equal(seen.orders[i], i < 5 ? i + 1 : 5);
        leave(s, p);
    }
}

/* Backwards, from a grid that begins with its start; values between steps are interpolated. */
static void backwards_and_between(void **state)
{
    (void)state;
    const double times[] = {0.0, -0.1, -0.3, -0.35};
    dae_problem *p;
    trace seen = {0};
    double y;
    dae_solver *s = decaying("radau", 4, times, &seen, &p);
    assert_int_equal(dae_solver_run(s, -0.2, &y, NULL), DAE_OK);
    assert_int_equal(seen.count, 2);
    assert_true(fabs(y - exp(0.2)) < 1e-5);
    assert_int_equal(dae_solver_run(s, -0.35, &y, NULL), DAE_OK);
    assert_int_equal(seen.count, 3);
    assert_true(fabs(seen.ends[1] + 0.3) < 1e-15);
    assert_true(fabs(y - exp(0.35)) < 1e-7);
    leave(s, p);
}

/* Past the last time there is no step, and towards the wrong side none either. */
static void ends_are_errors(void **state)
{
    (void)state;
    dae_problem *p;
    double y;
    dae_solver *s = decaying("bdf", ODD, odd, NULL, &p);
    assert_int_equal(dae_solver_run(s, -1.0, &y, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(s)->text, "go from t = 0 to 1"));
    assert_int_equal(dae_solver_run(s, 1.5, &y, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(s)->text, "step_sequence[4] = 1 is the last"));
    assert_true(fabs(dae_solver_time(s) - 1.0) < 1e-15);
    leave(s, p);
}

/* A solver is refused, with these words. */
static void refused(dae_options o, const char *words)
{
    const dae_residual form = {.n = 1, .f = decay};
    dae_problem *p;
    dae_solver *s = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, words)) fail_msg("no '%s' in: %s", words, diag.text);
    leave(s, p);
}

static void bad_sequences(void **state)
{
    (void)state;
    const double back[] = {0.1, 0.3, 0.2}, twice[] = {0.1, 0.1}, nan[] = {0.1, NAN},
                 infinite[] = {INFINITY}, short_step[] = {1.0, 1.0 + 2.0 * 2.220446049250313e-16};
    dae_options o = dae_options_default();
    const struct {
        const double *times;
        int count;
        const char *words;
    } cases[] = {{back, 3, "step_sequence[2] = 0.2 goes back: the time before is 0.3"},
                 {twice, 2, "step_sequence[1] = 0.10000000000000001 repeats the time before"},
                 {nan, 2, "step_sequence[1] is nan"},
                 {infinite, 1, "step_sequence[0] is inf"},
                 {short_step, 2, "does not move t"},
                 {back, 0, "go together"},
                 {NULL, 2, "go together"},
                 {back, -1, "go together"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.step_sequence = cases[i].times;
        o.step_count = cases[i].count;
        refused(o, cases[i].words);
    }
    o.step_sequence = odd;
    o.step_count = ODD;
    o.fixed_step = 0.1;
    refused(o, "Option fixed_step contradicts step_sequence");
    o.fixed_step = 0.0;
    o.max_step = 0.1;
    refused(o, "Option max_step contradicts step_sequence");
}

/* Against start and stop time, which the start knows. */
static void bad_spans(void **state)
{
    (void)state;
    const dae_residual form = {.n = 1, .f = decay};
    const double y0 = 1.0;
    const struct {
        double start, stop;
        const char *words;
    } cases[] = {{0.2, NAN, "begin before the start: step_sequence[0] = 0.1"},
                 {0.0, 2.0, "end before the stop time: step_sequence[4] = 1 is the last"},
                 {0.0, 1.0, NULL},
                 {0.1, 0.7, NULL}};
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dae_options o = dae_options_default();
        dae_solver *s;
        double y;
        o.method = "bdf:1";
        o.step_sequence = odd;
        o.step_count = ODD;
        o.stop_time = cases[i].stop;
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        dae_status status = dae_solver_start(s, cases[i].start, &y0, NULL);
        assert_int_equal(status, cases[i].words ? DAE_ERR_ARGUMENT : DAE_OK);
        if (cases[i].words) assert_non_null(strstr(dae_solver_diag(s)->text, cases[i].words));
        if (status == DAE_OK) assert_int_equal(dae_solver_run(s, cases[i].stop, &y, NULL), DAE_OK);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* A ball that falls from 1 and is stopped at 0.5, t = sqrt(1/g): the event cuts the third step, and
 * the next one leads to the next time. */
static void events_cut_steps(void **state)
{
    (void)state;
    static const char text[] = "model Fall\n"
                               "  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                               "equation\n"
                               "  der(x) = v;\n"
                               "  der(v) = -1;\n"
                               "  when x < 0.5 then reinit(v, 0); end when;\n"
                               "end Fall;\n";
    const double times[] = {0.4, 0.8, 1.2, 1.6, 2.0};
    dae_problem *p;
    dae_solver *s;
    dae_diag diag;
    trace seen = {0};
    double y[2];
    dae_options o = dae_options_default();
    o.method = "radau";
    o.step_sequence = times;
    o.step_count = 5;
    o.monitor = note;
    o.user = &seen;
    if (dae_problem_from_model(&(dae_model){.text = text}, &p, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 2.0, y, NULL), DAE_OK);
    const double ends[] = {0.4, 0.8, 1.2, 1.2, 1.6, 2.0}; /* 1.2 twice: up to it, then from 1 on */
    assert_int_equal(seen.count, 6);
    for (int i = 0; i < 6; i++) assert_true(fabs(seen.ends[i] - ends[i]) < 1e-14);
    assert_true(fabs(y[0]) < 1e-8 && fabs(y[1] + 1.0) < 1e-8); /* 0.5 - 1/2 (2 - 1)^2 */
    leave(s, p);
}

static const char oscillator[] = "model Circle\n"
                                 "  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                                 "equation\n"
                                 "  der(x) = v;\n"
                                 "  der(v) = -x;\n"
                                 "end Circle;\n";

/* The steps that a method takes of what is prescribed; -1: it does not run the problem. */
static int steps_taken(dae_problem *p, const char *name, bool sequence, double *x)
{
    const double times[] = {0.01, 0.03, 0.04, 0.06, 0.07};
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[2];
    trace seen = {0};
    o.method = name;
    o.rtol = o.atol = 1e-3;
    o.rtol_by_unknown = o.atol_by_unknown = (double[]){1e-3, 1e-3};
    o.monitor = note;
    o.user = &seen;
    o.fixed_step = sequence ? 0.0 : 0.014;
    o.step_sequence = sequence ? times : NULL;
    o.step_count = sequence ? 5 : 0;
    o.stop_time = 0.07;
    if (dae_solver_new(p, &o, &s, NULL) != DAE_OK) return -1;
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.07, y, NULL);
    *x = y[0];
    dae_solver_free(s);
    for (int i = 0; sequence && status == DAE_OK && i < seen.count; i++)
        assert_true(fabs(seen.ends[i] - times[i]) < 1e-15);
    return status == DAE_OK ? seen.count : -1;
}

/* Every method that runs with constant steps takes prescribed ones. */
static void every_method(void **state)
{
    (void)state;
    dae_problem *p;
    int runs = 0;
    assert_int_equal(dae_problem_from_model(&(dae_model){.text = oscillator}, &p, NULL), DAE_OK);
    for (int i = 0; dae_method_at(i).name; i++) {
        const char *name = dae_method_at(i).name;
        double x = 0.0;
        if (steps_taken(p, name, false, &x) != 5) continue;
        int taken = steps_taken(p, name, true, &x);
        if (taken != 5) fail_msg("method %s takes %d steps of 5", name, taken);
        if (fabs(x - cos(0.07)) > 2e-3) fail_msg("method %s: x = %g", name, x);
        runs++;
    }
    assert_true(runs > 40);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(euler_takes_these_steps), cmocka_unit_test(orders_rise_step_by_step),
        cmocka_unit_test(backwards_and_between),   cmocka_unit_test(ends_are_errors),
        cmocka_unit_test(bad_sequences),           cmocka_unit_test(bad_spans),
        cmocka_unit_test(events_cut_steps),        cmocka_unit_test(every_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
