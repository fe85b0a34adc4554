/* The judge reads the text: results that do not agree with it are found, whoever made them. Wrong
 * results are rows that are altered, or runs that are told to step over something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daedal.h"

enum { MOST_ROWS = 200, MOST_VARIABLES = 8 };

/* Rows in the order of the variables of a model. */
typedef struct rows {
    int count, n;
    double t[MOST_ROWS], v[MOST_ROWS * MOST_VARIABLES];
} rows;

static dae_problem *problem_of(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static dae_verify_report *verify(const dae_problem *p, const dae_options *o,
                                 const dae_verify_request *q)
{
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    dae_status status = dae_verify(p, o, q, &r, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    return r;
}

static dae_verify_report *verify_rows(const char *text, const rows *x)
{
    dae_problem *p = problem_of(text);
    assert_int_equal(dae_problem_variable_count(p), x->n);
    dae_verify_report *r =
        verify(p, NULL,
               &(dae_verify_request){
                   .tend = x->t[x->count - 1], .rows = x->count, .times = x->t, .values = x->v});
    dae_problem_free(p);
    return r;
}

static void add(rows *x, double t, const double *v, int n)
{
    x->n = n;
    x->t[x->count] = t;
    for (int i = 0; i < n; i++) x->v[x->count * n + i] = v[i];
    x->count++;
}

static void assert_good(dae_verify_report *r)
{
    if (r->verdict != DAE_VERDICT_GOOD) fail_msg("%s", r->text);
    assert_int_equal(r->fault_count, 0);
    assert_int_equal(r->gap_count, 0);
    dae_verify_report_free(r);
}

/* There is a fault of this line whose words contain these, at t or anywhere (NAN). */
static void assert_fault(dae_verify_report *r, int line, const char *words, double t)
{
    bool found = false;
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    for (int k = 0; k < r->fault_count && !found; k++) {
        const dae_verify_fault *f = &r->faults[k];
        found = f->line == line && strstr(f->what, words) && (isnan(t) || fabs(f->t - t) < 1e-9);
    }
    if (!found)
        fail_msg("no fault of line %d with '%s': %s", line, words,
                 r->fault_count > 0 ? r->faults[0].what : r->text);
    dae_verify_report_free(r);
}

/* ---- equations ---- */

static const char linear[] = "model M\n"
                             "  Real x(start = 0, fixed = true), y;\n"
                             "  Boolean b;\n"
                             "  Real z;\n"
                             "equation\n"
                             "  der(x) = 1;\n"
                             "  y = 7 + 0.5*x;\n"
                             "  b = x > 2.05;\n"
                             "  z = ceil(y - 0.02);\n"
                             "end M;\n";

static rows linear_rows(void)
{
    rows x = {0};
    for (int k = 0; k <= 40; k++) {
        double t = 0.1 * k, y = 7 + 0.5 * t;
        add(&x, t, (double[]){t, y, t > 2.05, ceil(y - 0.02)}, 4);
    }
    return x;
}

static void test_right_rows_pass(void **state)
{
    (void)state;
    rows x = linear_rows();
    assert_good(verify_rows(linear, &x));
}

static void test_finds_an_equation_that_does_not_hold(void **state)
{
    (void)state;
    rows x = linear_rows();
    x.v[17 * 4 + 1] += 0.01;
    assert_fault(verify_rows(linear, &x), 7, "y = 7 + 0.5*x", x.t[17]);
}

static void test_finds_a_relation_of_another_value(void **state)
{
    (void)state;
    rows x = linear_rows();
    x.v[30 * 4 + 2] = 0;
    assert_fault(verify_rows(linear, &x), 8, "b = x > 2.05", x.t[30]);
}

/* ceil rests at 8 while y goes on to 9. */
static void test_finds_a_ceiling_that_rests(void **state)
{
    (void)state;
    rows x = linear_rows();
    for (int k = 0; k <= 40; k++) x.v[k * 4 + 3] = 8;
    assert_fault(verify_rows(linear, &x), 9, "ceil", NAN);
}

/* Within the tolerance of the crossing either value is right: a row at x = 2.05 - 1e-9 with true.
 */
static void test_a_crossing_may_be_either(void **state)
{
    (void)state;
    rows x = {0};
    for (int k = 0; k <= 40; k++) {
        double t = k == 20 ? 2.05 - 1e-9 : 0.1 * k, y = 7 + 0.5 * t;
        add(&x, t, (double[]){t, y, t > 2.04, ceil(y - 0.02)}, 4);
    }
    x.v[20 * 4 + 2] = 1;
    dae_verify_report *r = verify_rows(linear, &x);
    assert_int_equal(r->fault_count, 0);
    dae_verify_report_free(r);
}

static void test_finds_a_start_that_was_moved(void **state)
{
    (void)state;
    rows x = {0};
    for (int k = 0; k <= 40; k++) {
        double t = 0.1 * k, v = t + 0.003, y = 7 + 0.5 * v;
        add(&x, t, (double[]){v, y, v > 2.05, ceil(y - 0.02)}, 4);
    }
    assert_fault(verify_rows(linear, &x), 2, "is fixed at 0", 0.0);
}

/* Where both sides meet and stay equal, a strict relation is false. */
static void test_finds_a_relation_on_a_plateau(void **state)
{
    static const char text[] = "model M\n"
                               "  Real shown, s(start = 0, fixed = true);\n"
                               "  Boolean alarm;\n"
                               "equation\n"
                               "  der(s) = 1;\n"
                               "  shown = min(s, 2);\n"
                               "  alarm = shown > 2;\n"
                               "end M;\n";
    (void)state;
    for (int wrong = 0; wrong < 2; wrong++) {
        rows x = {0};
        for (int k = 0; k <= 40; k++) {
            double t = 0.1 * k + 0.013;
            if (k == 0) t = 0;
            add(&x, t, (double[]){fmin(t, 2), t, wrong && t > 2}, 3);
        }
        dae_verify_report *r = verify_rows(text, &x);
        if (wrong)
            assert_fault(r, 7, "alarm = shown > 2", NAN);
        else
            dae_verify_report_free(r); /* the solver itself may be wrong here */
    }
}

static void test_finds_initial_equations_that_are_dropped(void **state)
{
    static const char text[] = "model M\n"
                               "  Real x;\n"
                               "initial equation\n"
                               "  x^2 = 4;\n"
                               "equation\n"
                               "  der(x) = 0;\n"
                               "end M;\n";
    (void)state;
    rows x = {0};
    for (int k = 0; k <= 10; k++) add(&x, 0.1 * k, (double[]){1.0}, 1);
    assert_fault(verify_rows(text, &x), 4, "x^2 = 4", 0.0);
}

/* With loose tolerances 100 of them are more than the value: there is to be a right digit. */
static void test_one_digit_is_right(void **state)
{
    static const char text[] = "model M\n"
                               "  Real x(start = 1, fixed = true);\n"
                               "equation\n"
                               "  der(x) = -x;\n"
                               "end M;\n";
    const double off[] = {0.05, 0.15};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double times[11], values[11];
        for (int i = 0; i <= 10; i++) {
            times[i] = 0.1 * i;
            values[i] = exp(-times[i]) + off[k] * times[i] * exp(-times[i]);
        }
        dae_problem *p = problem_of(text);
        dae_options o = dae_options_default();
        o.rtol = 1e-2;
        o.atol = 1e-5;
        dae_verify_report *r = verify(
            p, &o, &(dae_verify_request){.tend = 1, .rows = 11, .times = times, .values = values});
        assert_float_equal(r->limit, 10.0, 1e-9);
        assert_int_equal(r->verdict, k == 0 ? DAE_VERDICT_GOOD : DAE_VERDICT_OFF);
        dae_verify_report_free(r);
        dae_problem_free(p);
    }
}

/* ---- events ---- */

static const char counting[] = "model M\n"
                               "  Real x(start = 0, fixed = true), v(start = 1, fixed = true);\n"
                               "  Integer n(start = 0, fixed = true);\n"
                               "equation\n"
                               "  der(x) = v;\n"
                               "  der(v) = 0;\n"
                               "  when x > 1 then\n"
                               "    n = pre(n) + 1;\n"
                               "    reinit(v, 2*pre(v));\n"
                               "  end when;\n"
                               "end M;\n";

/* x = t up to the event, which is said to be at `at`, with these values after it. */
static rows counting_rows(double at, double v, double n)
{
    rows x = {0};
    for (int k = 0; k < 10; k++) add(&x, at * k / 10, (double[]){at * k / 10, 1, 0}, 3);
    add(&x, at, (double[]){at, 1, 0}, 3);
    for (int k = 0; k <= 10; k++) add(&x, at + 0.1 * k, (double[]){at + 0.1 * k * v, v, n}, 3);
    return x;
}

static void test_right_events_pass(void **state)
{
    (void)state;
    rows x = counting_rows(1, 2, 1);
    assert_good(verify_rows(counting, &x));
}

static void test_finds_a_when_that_fires_too_early(void **state)
{
    (void)state;
    rows x = counting_rows(0.7, 2, 1);
    assert_fault(verify_rows(counting, &x), 3, "n (line 3) changes from 0 to 1", 0.7);
}

static void test_finds_a_when_that_does_not_do_what_it_says(void **state)
{
    (void)state;
    rows a = counting_rows(1, 2, 2), b = counting_rows(1, 1.5, 1), c = counting_rows(1, 1, 0);
    assert_fault(verify_rows(counting, &a), 8, "n would be 1; it is 2", 1.0);
    assert_fault(verify_rows(counting, &b), 9, "v would be 2; it is 1.5", 1.0);
    assert_fault(verify_rows(counting, &c), 9, "v would be 2; it is 1", 1.0);
}

static void test_finds_a_jump_of_what_is_differentiated(void **state)
{
    static const char text[] = "model M\n"
                               "  Real y, x;\n"
                               "equation\n"
                               "  y = if time < 1 then 0.0 else 1.0;\n"
                               "  x = der(y);\n"
                               "end M;\n";
    (void)state;
    rows x = {0};
    for (int k = 0; k <= 10; k++) add(&x, 0.1 * k, (double[]){0, 0}, 2);
    for (int k = 10; k <= 20; k++) add(&x, 0.1 * k, (double[]){1, 0}, 2);
    assert_fault(verify_rows(text, &x), 2, "jumps from 0 to 1", 1.0);
}

/* ---- between rows ---- */

static dae_options long_steps(double h)
{
    dae_options o = dae_options_default();
    o.method = "dopri";
    o.fixed_step = h;
    return o;
}

/* The pulse at 7.55 lies between the stages of constant steps of 1. */
static void test_finds_a_pulse_that_was_stepped_over(void **state)
{
    static const char text[] = "model M\n"
                               "  Real c(start = 0, fixed = true);\n"
                               "equation\n"
                               "  2*der(c) = -0.2*c + 200*exp(-((time - 7.55)/0.01)^2);\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = problem_of(text);
    dae_options o = long_steps(1.0);
    dae_verify_report *r = verify(p, &o, &(dae_verify_request){.tend = 20, .rows = 21});
    assert_fault(r, 4, "the integral", NAN);
    dae_problem_free(p);
}

/* A run of short steps is right where judges, who choose their own, would step over the pulse: they
 * are held against the text, too. */
static void test_judges_that_step_over_are_none(void **state)
{
    static const char text[] = "model M\n"
                               "  Real c(start = 0, fixed = true);\n"
                               "equation\n"
                               "  der(c) = -0.1*c + 100*exp(-((time - 7.55)/0.01)^2);\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = problem_of(text);
    dae_options o = long_steps(0.002);
    assert_good(verify(p, &o, &(dae_verify_request){.tend = 20, .rows = 21}));
    dae_problem_free(p);
}

/* The same without time in it: the pulse is one of a variable. */
static void test_finds_a_pulse_of_a_variable(void **state)
{
    static const char text[] = "model M\n"
                               "  Real s(start = 0, fixed = true), c(start = 0, fixed = true);\n"
                               "equation\n"
                               "  der(s) = 1;\n"
                               "  der(c) = 100*exp(-((s - 5)/0.1)^2);\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = problem_of(text);
    dae_options o = long_steps(2.0);
    dae_verify_report *r = verify(p, &o, &(dae_verify_request){.tend = 10, .rows = 11});
    assert_fault(r, 5, "der(c)", NAN);
    dae_problem_free(p);
}

static int pulsed(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + 0.1 * y[0] - 100.0 * exp(-pow((t - 5.0) / 0.1, 2));
    return 0;
}

static void test_finds_a_pulse_of_callbacks(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 1, .f = pulsed}, &p, NULL),
                     DAE_OK);
    dae_options o = long_steps(2.0);
    double y0 = 0, yp0 = 0;
    assert_fault(
        verify(p, &o, &(dae_verify_request){.tend = 10, .rows = 11, .y0 = &y0, .yp0 = &yp0}), 0,
        "the integral", NAN);
    o = dae_options_default();
    o.max_step = 0.05;
    assert_good(
        verify(p, &o, &(dae_verify_request){.tend = 10, .rows = 11, .y0 = &y0, .yp0 = &yp0}));
    dae_problem_free(p);
}

/* Right runs of everything at once: stiff, implicit in derivatives, events, an index of 3. */
static void test_right_runs_pass(void **state)
{
    static const char *const texts[] = {
        "model Stiff Real x(start = 1, fixed = true), y(start = 0);\n"
        "equation der(x) = -x + y; 1e-6*der(y) = sin(time) - y; end Stiff;",
        "model Implicit Real a(start = 1, fixed = true), b(start = 0, fixed = true);\n"
        "equation 2*der(a) + cos(a)*der(b) = -a; cos(a)*der(a) + der(b) = -0.5*b; end Implicit;",
        "model Ball Real h(start = 1, fixed = true), v(start = 0, fixed = true);\n"
        "equation der(h) = v; der(v) = -9.81;\n"
        "when h < 0 then reinit(v, -0.8*pre(v)); end when; end Ball;",
        "model Clock discrete Real s(start = 0, fixed = true); Real x(start = 1, fixed = true);\n"
        "equation when sample(0, 0.3) then s = x; end when; der(x) = -s; end Clock;",
        "model Heat Real T(start = 15, fixed = true); Boolean on(start = true, fixed = true);\n"
        "equation der(T) = (if on then 10 else 0) - 0.3*T;\n"
        "on = if pre(on) then T < 21 else T < 19; end Heat;",
        "model Second Real x(start = 1, fixed = true);\n"
        "equation der(der(x)) + x = 0; end Second;",
        "model Rod Real x(start = 1), y(start = 0, fixed = true), u, v(start = 0, fixed = true), "
        "f;\n"
        "equation der(x) = u; der(y) = v; der(u) = -f*x; der(v) = -f*y - 9.81;\n"
        "x^2 + y^2 = 1; end Rod;"};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        dae_problem *p = problem_of(texts[k]);
        assert_good(verify(p, NULL, &(dae_verify_request){.tend = 1.6, .rows = 33}));
        dae_problem_free(p);
    }
}

/* ---- rows of E x' = f, 0 = g ---- */

static int matrix(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    E[0] = 1;
    return 0;
}

static int slope(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    return 0;
}

/* They agree up to t = 0.5. */
static int parting(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[1] - 1;
    g[1] = at->x[1] - 1 - 0.01 * fmax(0.0, at->t - 0.5);
    return 0;
}

/* A run may refuse it, or be off; nothing is Good. */
static void test_rows_that_contradict_each_other(void **state)
{
    static const char *const methods[] = {"auto", "dopri", "bdf"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        double y0[] = {1, 1};
        dae_problem *p = NULL;
        dae_diag diag = {0};
        dae_options o = dae_options_default();
        dae_quasilinear form = {
            .n = 2, .ne = 1, .ng = 2, .E = matrix, .f = slope, .g = parting, .E_constant = true};
        assert_int_equal(dae_problem_from_quasilinear(&form, &p, &diag), DAE_OK);
        o.method = methods[k];
        dae_verify_request q = {.tend = 1, .y0 = y0};
        dae_verify_report *r = verify(p, &o, &q);
        if (r->run.status >= 0) {
            assert_int_equal(r->verdict, DAE_VERDICT_OFF);
            assert_int_equal(r->fault_count, 2);
            assert_non_null(strstr(r->faults[0].what, "g["));
        }
        dae_verify_report_free(r);
        dae_problem_free(p);
    }
}

/* An ideal boost converter: where the switch opens the current has nowhere to go but through the
 * diode. Rows in which it is 0 at once satisfy all equations but that of the inductor. */
static void test_currents_do_not_jump(void **state)
{
    static const char text[] = "model Boost\n"
                               "  parameter Real L = 1e-3, C = 1e-4, R = 20, Vs = 10;\n"
                               "  Real i(start = 0, fixed = true), v(start = 20, fixed = true);\n"
                               "  Real vs, is, id, s;\n"
                               "  Boolean on, off(start = true);\n"
                               "equation\n"
                               "  on = time < 5e-4;\n"
                               "  off = s < 0;\n"
                               "  L*der(i) = Vs - vs;\n"
                               "  0 = if on then vs else is;\n"
                               "  i = is + id;\n"
                               "  vs - v = if off then s else 0;\n"
                               "  id = if off then 0 else s;\n"
                               "  C*der(v) = id - v/R;\n"
                               "end Boost;\n";
    (void)state;
    rows x = {0};
    for (int k = 0; k <= 41; k++) {
        bool on = k <= 20;
        double t = 2.5e-5 * (on ? k : k - 1), v = 20 * exp(-t / 2e-3), i = on ? 1e4 * t : 0;
        double vs = on ? 0 : 10;
        add(&x, t, (double[]){i, v, vs, i, 0, vs - v, on, 1}, 8);
    }
    assert_fault(verify_rows(text, &x), 3, "i (line 3) jumps from 5 to 0", 5e-4);
}

/* ---- what cannot be judged, and other words ---- */

static void test_gaps_are_not_good(void **state)
{
    static const char text[] = "model M\n"
                               "  Real x(start = 1, fixed = true);\n"
                               "equation\n"
                               "  der(x) = -'Modelica.Math.sin'(x);\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = problem_of(text);
    dae_verify_report *r = verify(p, NULL, &(dae_verify_request){.tend = 1, .rows = 11});
    assert_int_equal(r->verdict, DAE_VERDICT_UNKNOWN);
    assert_true(r->gap_count > 0);
    assert_int_equal(r->gaps[0].line, 4);
    assert_non_null(strstr(r->text, "line 4"));
    assert_non_null(strstr(r->text, "Modelica.Math.sin"));
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* Parameters that were set count, before the translation and after it. */
static void test_settings_are_known(void **state)
{
    static const char text[] = "model M\n"
                               "  parameter Real a = 1, b = 2*a, c[2] = {1, 2};\n"
                               "  Real x(start = 1, fixed = true);\n"
                               "equation\n"
                               "  der(x) = -a*x + b*c[2];\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = NULL;
    const char *const assignments[] = {"c = {5, 6}"};
    assert_int_equal(
        dae_problem_from_model(
            &(dae_model){.text = text, .assignments = assignments, .assignment_count = 1}, &p,
            NULL),
        DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "a", 3, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "x", 2, NULL), DAE_OK);
    assert_good(verify(p, NULL, &(dae_verify_request){.tend = 1, .rows = 11}));
    dae_problem_free(p);
}

static void test_other_words(void **state)
{
    static const char text[] =
        "model Words \"a name: x = y; in a text\"\n"
        "  parameter Real k(unit = \"1\") = 2;\n"
        "  Real x(start = 1, fixed = true), v(start = 0, fixed = true), e, f(start = 0.5);\n"
        "  Real a[2](each start = 0, each fixed = true);\n"
        "equation\n"
        "  der(x) = v; // x, v\n"
        "  der(v) = -k*x + 0.1*f;\n"
        "  e = v^2/2 + k*x^2/2;\n"
        "  f^3 + f = x;\n"
        "  for i in 1:2 loop\n"
        "    der(a[i]) = i*x - a[i];\n"
        "  end for;\n"
        "end Words;\n";
    static const char *const names[] = {"renamed", "permuted", "scaled", "split", "other guesses"};
    (void)state;
    dae_problem *p = problem_of(text);
    dae_verify_report *r =
        verify(p, NULL, &(dae_verify_request){.tend = 5, .rows = 51, .thorough = true});
    if (r->verdict != DAE_VERDICT_GOOD) fail_msg("%s", r->text);
    assert_int_equal(r->variant_count, 5);
    for (int k = 0; k < 5; k++) {
        assert_string_equal(r->variants[k].name, names[k]);
        assert_string_equal(r->variants[k].text, "");
        assert_true(r->variants[k].tolerances < 100);
    }
    assert_true(r->variants[2].tolerances > 0); /* other units are other numbers */
    dae_verify_report_free(r);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_rows_pass),
        cmocka_unit_test(test_finds_an_equation_that_does_not_hold),
        cmocka_unit_test(test_finds_a_relation_of_another_value),
        cmocka_unit_test(test_finds_a_ceiling_that_rests),
        cmocka_unit_test(test_a_crossing_may_be_either),
        cmocka_unit_test(test_finds_a_start_that_was_moved),
        cmocka_unit_test(test_finds_a_relation_on_a_plateau),
        cmocka_unit_test(test_finds_initial_equations_that_are_dropped),
        cmocka_unit_test(test_one_digit_is_right),
        cmocka_unit_test(test_right_events_pass),
        cmocka_unit_test(test_finds_a_when_that_fires_too_early),
        cmocka_unit_test(test_finds_a_when_that_does_not_do_what_it_says),
        cmocka_unit_test(test_finds_a_jump_of_what_is_differentiated),
        cmocka_unit_test(test_finds_a_pulse_that_was_stepped_over),
        cmocka_unit_test(test_judges_that_step_over_are_none),
        cmocka_unit_test(test_finds_a_pulse_of_a_variable),
        cmocka_unit_test(test_finds_a_pulse_of_callbacks),
        cmocka_unit_test(test_right_runs_pass),
        cmocka_unit_test(test_rows_that_contradict_each_other),
        cmocka_unit_test(test_currents_do_not_jump),
        cmocka_unit_test(test_gaps_are_not_good),
        cmocka_unit_test(test_settings_are_known),
        cmocka_unit_test(test_other_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
