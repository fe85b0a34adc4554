/* The judge: right results pass, wrong ones are found, and what cannot be told is said. Bounds are
 * those of closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "solve/verify/verify_parts.h"

/* ---- x'' = -x as callbacks: x = cos t ---- */

static int oscillator(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] + y[0];
    return 0;
}

static dae_problem *new_oscillator(void)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 2, .f = oscillator}, &p, &diag),
                     DAE_OK);
    return p;
}

static const double start[2] = {1.0, 0.0}, slope[2] = {0.0, -1.0};

static dae_verify_report *verify(const dae_problem *p, const dae_options *o,
                                 const dae_verify_request *request)
{
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    dae_status status = dae_verify(p, o, request, &r, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    assert_non_null(r);
    return r;
}

static dae_verify_report *verify_text(const char *text, const dae_options *o, double tend, int rows)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    dae_verify_report *r = verify(p, o, &(dae_verify_request){.tend = tend, .rows = rows});
    dae_problem_free(p); /* the report stands alone */
    return r;
}

/* What it says of the error is the error, as far as the judge is a hundred times better. */
static void test_estimates_the_error(void **state)
{
    (void)state;
    dae_problem *p = new_oscillator();
    dae_options o = dae_options_default();
    o.method = "bdf";
    o.rtol = 1e-5;
    o.atol = 1e-8;
    dae_verify_report *r =
        verify(p, &o, &(dae_verify_request){.tend = 20.0, .rows = 201, .y0 = start, .yp0 = slope});
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_string_equal(r->run.method, "bdf");
    assert_string_equal(r->judges[0].method, "radau");
    assert_int_equal(r->compared, 201);
    assert_true(fabs(r->judges[0].rtol - 1e-7) < 1e-12);
    for (int i = 0; i < 2; i++) {
        const dae_verify_variable *v = &r->variables[i];
        double exact = i == 0 ? cos(v->t) : -sin(v->t), error = fabs(v->run - exact);
        assert_true(error > 1e-7);
        assert_true(fabs(v->error - error) < 0.05 * error);
        assert_true(v->rms <= v->tolerances);
        /* within a twentieth of 20 there is a value of at least sin(1) */
        assert_true(v->tolerances <= v->error / (1e-5 * sin(1.0)));
        assert_true(v->tolerances >= v->error / (1e-5 + 1e-8) * 0.999);
    }
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* Backward Euler with constant steps of 0.05 loses exp(-t h/2), a fifth, by t = 10. */
static void test_finds_a_wrong_run(void **state)
{
    (void)state;
    dae_problem *p = new_oscillator();
    dae_options o = dae_options_default();
    o.fixed_step = 0.05;
    o.method = "bdf";
    o.max_order = 1;
    dae_verify_request q = {.tend = 10.0, .rows = 101, .y0 = start, .yp0 = slope};
    dae_verify_report *r = verify(p, &o, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    assert_non_null(strstr(r->text, "y["));
    const dae_verify_variable *v = &r->variables[r->worst];
    assert_true(v->error > 0.1 && v->error < 0.4);
    assert_true(r->judge_count >= 2); /* a second one was heard */
    dae_verify_report_free(r);
    q.limit = 1e9; /* nothing is wrong then */
    r = verify(p, &o, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* Rows from elsewhere: the closed form is right, and one altered value is found where it is. */
static void test_finds_an_altered_row(void **state)
{
    (void)state;
    enum { ROWS = 51, ALTERED = 17 };
    double times[ROWS], values[2 * ROWS];
    dae_problem *p = new_oscillator();
    for (int k = 0; k < ROWS; k++) {
        times[k] = 0.1 * k;
        values[2 * k] = cos(times[k]);
        values[2 * k + 1] = -sin(times[k]);
    }
    dae_verify_request q = {
        .tend = 5.0, .y0 = start, .yp0 = slope, .rows = ROWS, .times = times, .values = values};
    dae_verify_report *r = verify(p, NULL, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_true(r->variables[r->worst].tolerances < 1.0);
    assert_int_equal(r->equation_count, 0);
    dae_verify_report_free(r);
    values[2 * ALTERED + 1] += 1e-3; /* a thousand tolerances, or less than the size of 1 allows */
    r = verify(p, NULL, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    assert_int_equal(r->worst, 1);
    assert_true(r->variables[1].t == times[ALTERED]);
    assert_true(r->variables[0].tolerances < 1.0);
    assert_true(fabs(r->variables[1].error - 1e-3) < 1e-6);
    dae_verify_report_free(r);
    values[2 * ALTERED + 1] = NAN; /* no number is no value */
    r = verify(p, NULL, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    assert_true(isinf(r->variables[1].tolerances));
    dae_verify_report_free(r);
    dae_problem_free(p);
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* exp(-t) around t = 8 is measured by what it is there, 5.5e-4 at most within 0.5, not by 1: an
 * error of 1e-6 is 600 tolerances. */
static void test_errors_are_local(void **state)
{
    (void)state;
    enum { ROWS = 101, ALTERED = 80 };
    double times[ROWS], values[ROWS], y0 = 1.0, yp0 = -1.0;
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 1, .f = decay}, &p, NULL),
                     DAE_OK);
    for (int k = 0; k < ROWS; k++) {
        times[k] = 0.1 * k;
        values[k] = exp(-times[k]);
    }
    values[ALTERED] += 1e-6;
    dae_verify_request q = {
        .tend = 10.0, .y0 = &y0, .yp0 = &yp0, .rows = ROWS, .times = times, .values = values};
    dae_verify_report *r = verify(p, NULL, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    double unit = 1e-6 * exp(-7.5) + 1e-9;
    assert_true(fabs(r->variables[0].tolerances - 1e-6 / unit) < 0.01 * 1e-6 / unit);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* ---- events ---- */

static const char *const ball =
    "model B\n  Real h(start = 1, fixed = true), v(start = 0, fixed = true);\n"
    "  Integer n(start = 0, fixed = true);\nequation\n  der(h) = v;\n  der(v) = -9.81;\n"
    "  when h <= 0 then\n    reinit(v, -0.8*pre(v));\n    n = pre(n) + 1;\n  end when;\nend B;\n";

/* Impacts at T, T + 1.6 T, .. with T = sqrt(2/g); rows at them, before and after, agree. */
static void test_events_side_by_side(void **state)
{
    (void)state;
    dae_verify_report *r = verify_text(ball, NULL, 2.0, 41);
    double fall = sqrt(2.0 / 9.81);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_int_equal(r->run_events, 3);
    assert_int_equal(r->judge_events, 3);
    assert_int_equal(r->event_count, 3);
    assert_non_null(strstr(r->events[0].name, "h <= 0"));
    double expected[3] = {fall, fall * (1.0 + 1.6), fall * (1.0 + 1.6 + 1.28)};
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(r->events[k].run - expected[k]) < 1e-7);
        assert_true(fabs(r->events[k].judge - expected[k]) < 1e-8);
    }
    assert_int_equal(r->rows, 41 + 6); /* two at each event */
    assert_true(r->compared + r->between == r->rows);
    assert_true(r->between <= 6);
    dae_verify_report_free(r);
}

/* Both relations change where u passes zero; which of them the run, and which the judge, meets
 * first is a matter of rounding. Zeros of sin(t) cos(2.3 t) below 10: pi, 2 pi, 3 pi, (k + 1/2)
 * pi/2.3. */
static void test_one_crossing_of_two_relations(void **state)
{
    (void)state;
    static const char *const text =
        "model S\n  Real u, k, x(start = 0, fixed = true);\nequation\n"
        "  u = sin(time)*cos(2.3*time);\n"
        "  k = if u > 0 then 1 elseif u < 0 then -1 else 0;\n  der(x) = k;\nend S;\n";
    dae_verify_report *r = verify_text(text, NULL, 10.0, 501);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_int_equal(r->event_count, 11); /* one at the start */
    for (int k = 0; k < r->event_count; k++)
        assert_true(fabs(r->events[k].run - r->events[k].judge) < 1e-6);
    dae_verify_report_free(r);
}

/* At an event the interpreter knows no derivatives: what a when does with one is not judged. */
static void test_derivatives_in_whens_are_not_judged(void **state)
{
    (void)state;
    static const char *const text =
        "model D\n  Real x(start = 0, fixed = true);\n  Integer n(start = 0, fixed = true);\n"
        "  discrete Real s(start = 0, fixed = true);\nequation\n  der(x) = cos(3*time)*exp(-x);\n"
        "  when der(x) < 0 then\n    n = pre(n) + 1;\n  end when;\n"
        "  when sample(0.5, 0.5) then\n    s = der(x);\n  end when;\nend D;\n";
    dae_verify_report *r = verify_text(text, NULL, 3.0, 101);
    assert_int_equal(r->verdict, DAE_VERDICT_UNKNOWN);
    assert_int_equal(r->fault_count, 0);
    assert_int_equal(r->gap_count, 1); /* one is enough */
    dae_verify_report_free(r);
}

/* x = sin(t) crosses 0.5 at pi/6; with Euler's constant steps the run is late or early. */
static void test_finds_shifted_events(void **state)
{
    (void)state;
    static const char *const text =
        "model E\n  Real x(start = 0, fixed = true), y(start = 1, fixed = true);\n"
        "  Boolean high(start = false, fixed = true);\nequation\n  der(x) = y;\n  der(y) = -x;\n"
        "  when x > 0.5 then\n    high = true;\n  end when;\nend E;\n";
    dae_options o = dae_options_default();
    o.method = "bdf";
    o.max_order = 1;
    o.fixed_step = 0.01;
    dae_verify_report *r = verify_text(text, &o, 1.0, 1001);
    const double crossing = 0.52359877559829887; /* pi/6 */
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    assert_true(r->event_count >= 1);
    assert_true(fabs(r->events[0].judge - crossing) < 1e-7);
    double late = fabs(r->events[0].run - crossing); /* x is off by about t h/2 x = 1.3e-3 */
    assert_true(late > 1e-4 && late < 1e-2);
    const dae_verify_variable *high = NULL;
    for (int i = 0; i < r->variable_count; i++)
        if (strcmp(r->variables[i].name, "high") == 0) high = &r->variables[i];
    assert_non_null(high);
    assert_true(high->error == 1.0); /* rows between the two times count: they are far apart */
    assert_true(fabs(high->t - crossing) <= late + 1e-9);
    dae_verify_report_free(r);
}

/* ---- what cannot be told ---- */

static void test_chaos_is_said(void **state)
{
    (void)state;
    static const char *const lorenz =
        "model L\n  Real x(start = 1), y(start = 1), z(start = 1);\nequation\n"
        "  der(x) = 10*(y - x);\n  der(y) = x*(28 - z) - y;\n  der(z) = x*y - 8/3*z;\nend L;\n";
    dae_options o = dae_options_default();
    o.rtol = 1e-6;
    dae_verify_report *r = verify_text(lorenz, &o, 60.0, 601);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF); /* the judges part ln(100)/0.906 = 5 later */
    assert_non_null(strstr(r->text, "magnifies"));
    /* errors of 1e-8 grow like exp(0.906 t): to a hundred tolerances of 1e-6 in about 10, to the
     * size of the attractor in about 25; nobody gets to 45, and everybody to 5 */
    assert_true(r->trusted_until > 5.0 && r->trusted_until < 45.0);
    dae_verify_report_free(r);
}

/* A judge that does not take the problem leaves the question open. */
static void test_no_judge(void **state)
{
    (void)state;
    dae_problem *p = new_oscillator();
    dae_verify_request q = {.tend = 1.0, .y0 = start, .yp0 = slope, .judge = "hem:5"};
    dae_verify_report *r = verify(p, NULL, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_UNKNOWN);
    assert_int_equal(r->judge_count, 1);
    assert_true(r->judges[0].status < 0);
    assert_true(r->judges[0].text[0] != '\0');
    assert_int_equal(r->worst, -1);
    assert_int_equal(r->compared, 0);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* ---- equations that are known up to noise ---- */

/* x' = -x, z = 1 + x, where z is told with an error of +-noise from t = from on */
typedef struct noisy {
    double noise, from;
    long calls;
} noisy;

static int noisy_sum(double t, const double *y, const double *yp, double *f, void *user)
{
    noisy *u = user;
    double error = t >= u->from ? u->noise : 0.0;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - 1.0 - y[0] + (u->calls++ % 2 ? error : -error);
    return 0;
}

static int noisy_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                          void *user)
{
    (void)t;
    (void)y;
    (void)yp;
    (void)user;
    dfdy[0] = 1.0;
    dfdy[1] = -1.0;
    dfdy[3] = 1.0;
    dfdyp[0] = 1.0;
    return 0;
}

static dae_problem *new_noisy(noisy *u)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_residual form = {.n = 2, .f = noisy_sum, .jacobian = noisy_jacobian, .user = u};
    if (dae_problem_from_residual(&form, &p, &diag)) fail_msg("%s", diag.text);
    return p;
}

/* Noise of a third of a hundredth of the tolerance is too much for a judge with a hundredth of it:
 * one with a tenth is heard. */
static void test_judges_above_the_noise(void **state)
{
    (void)state;
    noisy u = {.noise = 2e-8};
    dae_problem *p = new_noisy(&u);
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-6;
    double y0[2] = {1.0, 2.0}, yp0[2] = {-1.0, -1.0};
    dae_verify_request q = {.tend = 1.0, .y0 = y0, .yp0 = yp0, .rows = 11};
    dae_verify_report *r = verify(p, &o, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_int_equal(r->judges[0].status, DAE_OK);
    assert_true(fabs(r->judges[0].rtol - 1e-7) < 1e-12);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* Run and judge differ from t = 5 on. The same judge with tighter tolerances comes as far as t = 3
 * only, where noise begins: it cannot tell who is right. */
static void test_a_second_judge_that_does_not_get_there(void **state)
{
    (void)state;
    enum { ROWS = 81 };
    double times[ROWS], values[2 * ROWS], y0[2] = {1.0, 2.0}, yp0[2] = {-1.0, -1.0};
    noisy u = {.noise = 2e-9, .from = 3.0};
    dae_problem *p = new_noisy(&u);
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-6;
    for (int k = 0; k < ROWS; k++) {
        times[k] = 0.1 * k;
        values[2 * k] = exp(-times[k]);
        values[2 * k + 1] = 1.0 + values[2 * k] + (times[k] > 4.95 ? 1.0 : 0.0);
    }
    dae_verify_request q = {.tend = 8.0,
                            .y0 = y0,
                            .yp0 = yp0,
                            .rows = ROWS,
                            .times = times,
                            .values = values,
                            .judge = "radau"};
    dae_verify_report *r = verify(p, &o, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_UNKNOWN);
    assert_true(fabs(r->trusted_until - 5.0) < 0.11);
    dae_verify_report_free(r);
    u.noise = 0.0; /* without it the run is wrong */
    r = verify(p, &o, &q);
    assert_int_equal(r->verdict, DAE_VERDICT_OFF);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

/* ---- equations and constraints ---- */

static const char *const pendulum =
    "model P\n  Real x(start = 1, fixed = true), y(start = 0), vx, vy(start = 0, fixed = true), "
    "f;\n"
    "  Real energy;\nequation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n"
    "  der(vy) = -f*y - 9.81;\n  x^2 + y^2 = 1;\n  energy = (vx^2 + vy^2)/2 + 9.81*y;\nend P;\n";

/* The worst finding of a level; NULL: none */
static const dae_verify_equation *constraint(const dae_verify_report *r, int level)
{
    for (int i = 0; i < r->constraint_count; i++)
        if (r->constraints[i].level == level) return &r->constraints[i];
    return NULL;
}

/* Without projection the index-1 form drifts off both hidden levels, and that is seen with the
 * line; a method that projects stays on them. */
static void test_hidden_constraints(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    dae_verify_report *r = verify_text(pendulum, &o, 10.0, 201);
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    for (int level = 0; level <= 2; level++) {
        const dae_verify_equation *c = constraint(r, level);
        assert_non_null(c);
        assert_int_equal(c->line, 9);
        assert_true(c->residual < 1e-5);
    }
    assert_int_equal(r->invariant_count, 1);
    assert_string_equal(r->invariants[0].name, "energy");
    assert_true(r->invariants[0].run < 1e-3 && r->invariants[0].judge < 1e-5);
    dae_verify_report_free(r);
    o.method = "bdf";
    o.formulation = "index1";
    o.rtol = 1e-4;
    o.atol = 1e-7;
    r = verify_text(pendulum, &o, 10.0, 201);
    const dae_verify_equation *drift = constraint(r, 0);
    assert_non_null(drift);
    assert_true(drift->residual > 1e-4);
    assert_true(drift->tolerances > 1.0);
    assert_true(drift->t > 5.0);
    dae_verify_report_free(r);
}

/* Every equation in its own units: alter none, and the residual of each is small in its terms. */
static void test_equations(void **state)
{
    (void)state;
    static const char *const text =
        "model U\n  Real x(start = 1e6, fixed = true), y, z;\nequation\n  der(x) = -x;\n"
        "  y + y^3 = 1e-9*x;\n  z^3 + z = y;\nend U;\n";
    dae_verify_report *r = verify_text(text, NULL, 2.0, 51);
    assert_string_equal(r->run.method, "radau");
    assert_string_equal(r->judges[0].method, "bdf"); /* of another family */
    assert_int_equal(r->equation_count, 3);
    int differential = 0;
    for (int i = 0; i < 3; i++) {
        const dae_verify_equation *e = &r->equations[i];
        differential += e->differential;
        assert_int_equal(isnan(e->tolerances), e->differential);
        if (!e->differential) assert_true(e->tolerances < 1.0);
        assert_true(e->relative < 1e-3);
        if (i > 0) assert_true(e->relative <= r->equations[i - 1].relative);
        assert_true(e->line >= 4 && e->line <= 6);
    }
    assert_int_equal(differential, 1);
    dae_verify_report_free(r);
}

/* x = cos t up to some 1e-6, so that f is 0 up to some 1e-3: no tolerance of x gives more digits.
 */
static void test_certainty(void **state)
{
    (void)state;
    static const char *const text =
        "model C\n  parameter Real k = 1e3;\n  Real x(start = 1, fixed = true), f, out;\n"
        "  Real w(start = 1, fixed = true);\nequation\n"
        "  der(x) = -(x - cos(time)) - sin(time);\n  f^3 + f = k*(x - cos(time));\n"
        "  der(w) = -w + 1e-9*f;\n  out = 2*f;\nend C;\n";
    dae_options o = dae_options_default();
    o.method = "bdf";
    o.error_test = DAE_ERROR_DIFFERENTIAL;
    for (int absolute = 0; absolute < 2; absolute++) {
        if (absolute) o.rtol = 0.0;
        dae_verify_report *r = verify_text(text, &o, 10.0, 201);
        assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
        for (int i = 0; i < r->variable_count; i++) {
            const dae_verify_variable *v = &r->variables[i];
            bool derived = strcmp(v->name, "f") == 0 || strcmp(v->name, "out") == 0;
            double plain = v->error / (v->rtol * v->largest + v->atol);
            assert_true(derived ? plain > 1e3 : plain < 100.0);
            /* f/x has a slope of k, and so have their units */
            if (derived) assert_true(v->tolerances < 10.0 * r->variables[0].tolerances);
        }
        assert_string_equal(r->variables[0].name, "x");
        dae_verify_report_free(r);
    }
}

/* ---- callbacks in another form ---- */

static int weight(const dae_mechanical_point *at, double *out, void *user)
{
    (void)at;
    (void)user;
    out[0] = 0.0;
    out[1] = -9.81;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0) / 2.0;
    return 0;
}

static void test_mechanical(void **state)
{
    (void)state;
    static const char *const names[] = {"rod"};
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    dae_problem *p = NULL;
    dae_mechanical m = {
        .nq = 2, .nlambda = 1, .force = weight, .constraint = rod, .constraint_names = names};
    assert_int_equal(dae_problem_from_mechanical(&m, &p, NULL), DAE_OK);
    dae_verify_report *r = verify(p, NULL, &(dae_verify_request){.tend = 5.0, .y0 = y0});
    assert_int_equal(r->verdict, DAE_VERDICT_GOOD);
    assert_int_equal(r->rows, 501);
    assert_int_equal(r->constraint_count, 2);
    for (int level = 0; level < 2; level++) {
        assert_non_null(constraint(r, level));
        assert_string_equal(constraint(r, level)->name, "rod");
        assert_true(constraint(r, level)->residual < 1e-5);
        assert_true(constraint(r, level)->tolerances < 10.0);
    }
    dae_verify_report_free(r);
    dae_problem_free(p);
}

static void test_arguments(void **state)
{
    (void)state;
    dae_problem *p = new_oscillator();
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    const double times[2] = {0.5, 0.25}, values[4] = {0};
    const dae_verify_request wrong[] = {
        {.tend = NAN, .y0 = start},
        {.tend = 1.0, .y0 = start, .rows = 1},
        {.tend = 1.0, .y0 = start, .limit = -1.0},
        {.tend = 1.0, .y0 = start, .rows = 2, .times = times},
        {.tend = 1.0, .y0 = start, .rows = 2, .values = values},
        {.tend = 1.0}, /* callbacks need y0 */
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_true(dae_verify(p, NULL, &wrong[k], &r, &diag) < 0);
        assert_null(r);
        assert_true(diag.text[0] != '\0');
    }
    assert_int_equal(dae_verify(NULL, NULL, &wrong[0], &r, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_verify(p, NULL, NULL, &r, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_verify(p, NULL, &wrong[0], NULL, &diag), DAE_ERR_ARGUMENT);
    dae_verify_report_free(NULL);
    dae_problem_free(p);
}

/* At the end the tanks are level, where q is a square root: no method gets far beyond at this
 * tolerance. Judges are given up when they have taken a multiple of what the run took. */
static void test_judges_that_come_nowhere_are_given_up(void **state)
{
    static const char text[] =
        "model M\n"
        "  Real h1(start = 3, fixed = true), h2(start = 1, fixed = true), q;\n"
        "equation\n"
        "  q*abs(q) = 0.0025*(h1 - h2);\n"
        "  2*der(h1) = -q;\n"
        "  der(h2) = q;\n"
        "end M;\n";
    (void)state;
    dae_options o = dae_options_default();
    o.rtol = 1e-8;
    o.atol = 1e-11;
    dae_verify_report *r = verify_text(text, &o, 40.0, 501);
    long most = 2 * (300000 + 30 * r->run.evaluations);
    assert_true(r->judge_count > 0);
    for (int k = 0; k < r->judge_count; k++) assert_true(r->judges[k].evaluations <= most);
    dae_verify_report_free(r);
}

/* One has two events of a relation where the other has one: those at one time belong together. */
static void test_pairs_events_by_their_times(void **state)
{
    enum { MANY = 6 };
    (void)state;
    double rtol[] = {1e-4, 1e-7};
    tolerances w = {rtol, rtol + 1};
    yardstick by = {.tolerance = &w, .span = 10.0, .limit = 100.0};
    trail_event once[MANY], twice[2 * MANY];
    for (int k = 0; k < MANY; k++) {
        once[k] = (trail_event){.t = k + 1.0, .cause = 1, .index = 3};
        twice[2 * k] = (trail_event){.t = k + 1.0 + 1e-6, .cause = 1, .index = 3};
        twice[2 * k + 1] = (trail_event){.t = k + 1.0 + 2e-6, .cause = 1, .index = 3};
    }
    trail a = {.n = 1, .event = once, .event_count = MANY};
    trail b = {.n = 1, .event = twice, .event_count = 2 * MANY};
    trail_pair_events(&a, &b, &by);
    for (int k = 0; k < MANY; k++) assert_true(fabs(twice[once[k].partner].t - once[k].t) < 1e-5);
    for (int k = 0; k < MANY; k++) once[k].t += 0.2; /* all of them late: then by their order */
    b.event_count = MANY;
    for (int k = 0; k < MANY; k++) twice[k] = (trail_event){.t = k + 1.0, .cause = 1, .index = 3};
    trail_pair_events(&a, &b, &by);
    for (int k = 0; k < MANY; k++) assert_int_equal(once[k].partner, k);
}

/* At all rows but the first s passes zero: how large it is between them counts. */
static void test_sizes_between_rows(void **state)
{
    static const char text[] = "model M\n"
                               "  Real s(start = 0, fixed = true), x(start = 1, fixed = true);\n"
                               "  Real y(start = 0, fixed = true);\n"
                               "equation\n"
                               "  der(s) = x^3;\n"
                               "  der(x) = y;\n"
                               "  der(y) = -9.8696044010893586*x;\n"
                               "end M;\n";
    (void)state;
    dae_problem *p = NULL;
    dae_verify_report *r = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "m.mo"};
    dae_options o = dae_options_default();
    o.method = "bdf";
    o.rtol = 1e-4;
    o.atol = 1e-7;
    assert_int_equal(dae_problem_from_model(&m, &p, &diag), DAE_OK);
    dae_verify_request q = {.tend = 3, .rows = 4};
    assert_int_equal(dae_verify(p, &o, &q, &r, &diag), DAE_OK);
    if (r->verdict != DAE_VERDICT_GOOD) fail_msg("%s", r->text);
    dae_verify_report_free(r);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimates_the_error),
        cmocka_unit_test(test_finds_a_wrong_run),
        cmocka_unit_test(test_finds_an_altered_row),
        cmocka_unit_test(test_errors_are_local),
        cmocka_unit_test(test_events_side_by_side),
        cmocka_unit_test(test_one_crossing_of_two_relations),
        cmocka_unit_test(test_derivatives_in_whens_are_not_judged),
        cmocka_unit_test(test_finds_shifted_events),
        cmocka_unit_test(test_chaos_is_said),
        cmocka_unit_test(test_no_judge),
        cmocka_unit_test(test_judges_above_the_noise),
        cmocka_unit_test(test_a_second_judge_that_does_not_get_there),
        cmocka_unit_test(test_hidden_constraints),
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_certainty),
        cmocka_unit_test(test_mechanical),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_judges_that_come_nowhere_are_given_up),
        cmocka_unit_test(test_pairs_events_by_their_times),
        cmocka_unit_test(test_sizes_between_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
