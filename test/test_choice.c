/* Method "auto": which method is at work, and that it may change during a run. */
#include "daedal.h"
#include "pendulum.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A pendulum whose damper is weak until t = 2 and then a million times as strong: steps stall. */
typedef struct weak_damper {
    double strong;
} weak_damper;

static double damping(const weak_damper *c, double t)
{
    return t < 2.0 ? 0.1 : 0.1 + (c->strong - 0.1) * (1.0 - exp(-(t - 2.0)));
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    double d = damping(user, at->t);
    f[0] = -d * at->v[0];
    f[1] = -1.0 - d * at->v[1];
    return 0;
}

static dae_problem *pendulum(weak_damper *c)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = force,
                           .constraint = pendulum_rod,
                           .scleronomic = true,
                           .user = c};
    dae_problem *p;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    return p;
}

static dae_solver *solver(const dae_problem *p, const dae_options *o)
{
    dae_solver *s;
    dae_diag diag = {0};
    if (dae_solver_new(p, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return s;
}

static void at_work(const dae_solver *s, const char *name, const char *because)
{
    if (strcmp(dae_solver_method(s), name) != 0)
        fail_msg("%s is at work: %s", dae_solver_method(s), dae_solver_choice(s));
    if (!strstr(dae_solver_choice(s), because)) fail_msg("%s", dae_solver_choice(s));
}

/* Explicit while it pays, implicit once the problem is stiff, explicit again after a new start; the
 * solution is that of an implicit method all the way. */
static void test_change_when_stiff(void **state)
{
    (void)state;
    weak_damper c = {1e5};
    dae_problem *p = pendulum(&c);
    dae_options o = dae_options_default(), other = o;
    o.rtol = o.atol = other.rtol = other.atol = 1e-7;
    other.method = "radau";
    const double start[5] = {0.8, -0.6};
    double y[5], exact[5];
    dae_solver *s = solver(p, &o), *r = solver(p, &other);
    for (int run = 0; run < 2; run++) {
        assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
        at_work(s, "prk", "mechanism");
        assert_int_equal(dae_solver_run(s, 200.0, y, NULL), DAE_OK);
        at_work(s, "radau", "stiff");
        assert_true(dae_solver_stats(s)->steps < 4000);
    }
    assert_int_equal(dae_solver_start(r, 0.0, start, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r, 200.0, exact, NULL), DAE_OK);
    for (int i = 0; i < 2; i++) assert_true(fabs(y[i] - exact[i]) < 2e-5);
    assert_true(fabs(y[0] * y[0] + y[1] * y[1] - 1.0) < 1e-6);
    dae_solver_free(s);
    dae_solver_free(r);
    dae_problem_free(p);
}

static void in_use(const dae_problem *p, const dae_options *o, const double *y, const char *name)
{
    dae_solver *s = solver(p, o);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    assert_true(dae_solver_step(s, 1.0) >= 0);
    assert_string_equal(dae_solver_method(s), name);
    dae_solver_free(s);
}

/* Options that belong to bdf leave nothing to choose, and neither does a formulation. */
static void test_what_the_user_says(void **state)
{
    (void)state;
    weak_damper c = {0.1};
    dae_problem *p = pendulum(&c);
    const double y[5] = {0.8, -0.6};
    dae_options o = dae_options_default();
    in_use(p, &o, y, "prk");
    o.formulation = "index1";
    in_use(p, &o, y, "bdf");
    o = dae_options_default();
    o.max_order = 3;
    in_use(p, &o, y, "bdf");
    o = dae_options_default();
    o.method = "phem";
    in_use(p, &o, y, "phem");
    dae_problem_free(p);
}

static dae_problem *model(const char *text)
{
    dae_problem *p;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "choice.mo"};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* Without projections and on the equations of index 1 the run leaves the circle, and its last
 * values show that: nothing puts them back. */
static void test_drift_is_shown(void **state)
{
    (void)state;
    dae_problem *p =
        model("model M Real x(start=1), y(start=0, fixed=true), vx, vy(start=0, fixed=true), l; "
              "equation der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 1; "
              "x^2 + y^2 = 1; end M;");
    const char *const methods[] = {"auto", "bdf", "rodas"};
    for (int k = 0; k < 3; k++) {
        dae_options o = dae_options_default();
        double y[5];
        o.method = methods[k];
        o.formulation = "index1";
        o.projection = DAE_PROJECTION_NONE;
        o.stop_time = 100.0;
        dae_solver *s = solver(p, &o);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 100.0, y, NULL), DAE_OK);
        double drift = fabs(y[0] * y[0] + y[1] * y[1] - 1.0);
        if (!(drift > 1e-7 && drift < 1e-2)) fail_msg("%s: drift %g", methods[k], drift);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* Models: by their structure. A derivative of a multiplier is beyond explicit methods. */
static void test_models(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    dae_problem *p =
        model("model M Real x(start=1), y(start=0), vx, vy, l; equation der(x) = vx; "
              "der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 1; x^2 + y^2 = 1; end M;");
    in_use(p, &o, NULL, "prk");
    dae_problem_free(p);
    p = model("model M Real x(start=1), y(start=0), vx, vy, l, k; equation der(x) = vx; "
              "der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 1; x^2 + y^2 = 1; k = der(l); end M;");
    in_use(p, &o, NULL, "taylor");
    dae_problem_free(p);
    p = model("model M Real x(start=1); equation der(x) = -x; end M;");
    in_use(p, &o, NULL, "radau");
    o.max_order = 3;
    in_use(p, &o, NULL, "bdf");
    dae_problem_free(p);
}

/* Paths that leave nothing to integrate, and linear equations, gain nothing by Taylor series: an
 * arm whose tip is led along a curve, a mass behind a spring that another one leads. */
static void test_models_without_series(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "model M Real p(start=0.5), q(start=1), v, w, f, g; equation der(p) = v; der(q) = w; "
        "der(v) = f - sin(q); der(w) + cos(q)*der(v) = g; cos(p) + cos(p + q) = 1 + 0.3*sin(time); "
        "sin(p) + sin(p + q) = 1.3; end M;",
        "model M Real x(start=0, fixed=true), y, z, v(start=0, fixed=true), w, u, f; equation "
        "der(x) = v; der(y) = w; der(z) = u; der(v) = f - x + y; der(w) = x - 2*y + z; "
        "der(u) = f + y - z; y = sin(time); end M;"};
    for (int k = 0; k < 2; k++) {
        dae_problem *p = model(texts[k]);
        dae_options o = dae_options_default();
        in_use(p, &o, NULL, "radau");
        o.rtol = 1e-3;
        in_use(p, &o, NULL, "radau");
        dae_problem_free(p);
    }
}

/* Few digits of second order equations that are no plain mechanism: collocation. Not with variables
 * of first order beside them, nor with constraints of velocities alone. */
static void test_few_digits_of_second_order(void **state)
{
    (void)state;
    static const struct {
        const char *text, *few, *many;
    } models[] = {
        {"model M Real x(start=2, fixed=true), v(start=0, fixed=true); equation der(x) = v; "
         "der(v) = 100*(1 - x^2)*v - x; end M;",
         "colloc2nd:9", "radau"},
        {"model M Real x(start=2, fixed=true), v(start=0, fixed=true), z(start=0, fixed=true); "
         "equation der(x) = v; der(v) = -x - z; der(z) = x*v - z; end M;",
         "radau", "radau"},
        {"model M Real x(start=0, fixed=true), y(start=0, fixed=true), a(start=0.3, fixed=true), "
         "vx, vy, w(start=2, fixed=true), l; equation der(x) = vx; der(y) = vy; der(a) = w; "
         "der(vx) = l*sin(a) + 4; der(vy) = -l*cos(a); der(w) = -0.1*w; "
         "vx*sin(a) - vy*cos(a) = 0; initial equation vx = 0.5; end M;",
         "radau", "radau"},
    };
    for (int k = 0; k < 3; k++) {
        dae_problem *p = model(models[k].text);
        dae_options o = dae_options_default();
        in_use(p, &o, NULL, models[k].many);
        o.rtol = 1e-4;
        in_use(p, &o, NULL, models[k].few);
        o.formulation = "index1"; /* one by name is for bdf */
        in_use(p, &o, NULL, "bdf");
        dae_problem_free(p);
    }
}

/* A model that becomes stiff: values, events and outputs go on across the change. */
static void test_model_changes(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    dae_problem *p =
        model("model M Real x(start=0.8), y(start=-0.6), vx, vy, l, d; discrete Real n(start=0, "
              "fixed=true); equation d = if time < 2 then 0.1 else 1e5; der(x) = vx; der(y) = vy; "
              "der(vx) = -l*x - d*vx; der(vy) = -l*y - 1 - d*vy; x^2 + y^2 = 1; "
              "when sample(0.5, 1) then n = pre(n) + 1; end when; end M;");
    dae_solver *s = solver(p, &o);
    int n = dae_problem_find_variable(p, "n");
    double values[8];
    assert_true(dae_problem_variable_count(p) <= 8);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.2, NULL, NULL), DAE_OK);
    at_work(s, "prk", "mechanism");
    assert_int_equal(dae_solver_run(s, 30.0, NULL, NULL), DAE_OK);
    at_work(s, "radau", "stiff");
    assert_int_equal(dae_solver_variables(s, 30.0, values), DAE_OK);
    assert_true(values[n] == 30.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Taylor series do not know stiffness, but many steps: a pendulum of index 4 in honey, which hangs
 * at the end. */
static void test_change_from_taylor(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    dae_problem *p = model("model M Real x(start=1), y(start=0), vx, vy, l, k; equation "
                           "der(x) = vx; der(y) = vy; der(vx) = -l*x - 1000*vx; "
                           "der(vy) = -l*y - 1 - 1000*vy; x^2 + y^2 = 1; k = der(l); end M;");
    dae_solver *s = solver(p, &o);
    double values[6];
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(s, 2e4), DAE_STEPPED);
    at_work(s, "taylor", "index 3");
    assert_int_equal(dae_solver_run(s, 2e4, NULL, NULL), DAE_OK);
    at_work(s, "radau", "stiff");
    assert_int_equal(dae_solver_variables(s, 2e4, values), DAE_OK);
    assert_true(fabs(values[dae_problem_find_variable(p, "y")] + 1.0) < 1e-5);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Dry friction from rest without an event: radau cannot start, bdf can, from where the first one
 * stood; the next run begins with radau again. Up to the turn at t = pi the motion is
 * x = 0.3 + 0.7 cos t, then x = -0.3 + 0.1 cos t. */
static void test_careful_after_a_failure(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    o.rtol = 1e-8, o.atol = 1e-11;
    dae_problem *p =
        model("model M Real x(start=1, fixed=true), v(start=0, fixed=true), f; "
              "equation der(x) = v; der(v) = -x - 0.3*f; f + f^3 = 2*noEvent(sign(v)); "
              "end M;");
    dae_solver *s = solver(p, &o);
    double values[3];
    for (int run = 0; run < 2; run++) {
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        at_work(s, "radau", "implicit");
        assert_int_equal(dae_solver_run(s, 4.0, NULL, NULL), DAE_OK);
        at_work(s, "bdf", "algebraic variables jump");
        assert_int_equal(dae_solver_variables(s, 4.0, values), DAE_OK);
        double x = values[dae_problem_find_variable(p, "x")];
        assert_true(fabs(x + 0.3 - 0.1 * cos(4.0)) < 1e-6);
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y' = -y; once the run stands beyond t = 1 no slope is right, but for bdf in steps below `reach`.
 */
typedef struct wall {
    double reach, t;
    const dae_solver *s;
} wall;

static int decay_to_a_wall(double t, const double *y, const double *yp, double *f, void *user)
{
    const wall *w = user;
    const bool bdf = w->s && strcmp(dae_solver_method(w->s), "bdf") == 0;
    f[0] = yp[0] + y[0];
    if (w->t > 1.0 && t > w->t + (bdf ? w->reach : 0.0)) f[0] += copysign(1e9, yp[0]);
    return 0;
}

static void watch_wall(const dae_step_info *info, void *user)
{
    wall *w = user;
    if (info->result == DAE_STEP_ACCEPTED) w->t = info->t + info->h;
}

/* Runs to t = 2 against the wall: the status, and the message */
static dae_status run_to_wall(wall *w, long *attempts, char *text)
{
    const double start[1] = {1.0};
    dae_problem *p;
    dae_options o = dae_options_default();
    o.monitor = watch_wall;
    o.user = w;
    const dae_residual form = {.n = 1, .f = decay_to_a_wall, .user = w};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    dae_solver *s = solver(p, &o);
    w->s = s;
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    dae_status status = dae_solver_run(s, 2.0, NULL, NULL);
    *attempts = dae_solver_stats(s)->attempts;
    strcpy(text, dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

/* Where radau fails bdf goes on from the last good point. If that fails, too, the message names
 * both; and what creeps on in steps that lead nowhere ends when it has done as much work as the run
 * before it, or 200 attempts where that was less. */
static void test_all_families_are_tried(void **state)
{
    (void)state;
    char text[DAE_TEXT_SIZE];
    long attempts;
    wall w = {.reach = 0.0};
    assert_int_equal(run_to_wall(&w, &attempts, text), DAE_ERR_CONVERGENCE);
    if (!strstr(text, "radau had failed from t = ") || !strstr(text, "bdf was tried"))
        fail_msg("%s", text);
    w = (wall){.reach = 1e-9};
    assert_int_equal(run_to_wall(&w, &attempts, text), DAE_ERR_CONVERGENCE);
    if (!strstr(text, "radau failed at t = ") || !strstr(text, "bdf, which was tried"))
        fail_msg("%s", text);
    assert_in_range(attempts, 200, 300);
    assert_true(w.t < 1.5);
}

/* A large model by bdf, where a diode begins to conduct within a step. */
static void test_diode_in_a_large_model(void **state)
{
    (void)state;
    double values[1300];
    dae_options o = dae_options_default();
    o.rtol = 1e-3, o.atol = 1e-6, o.stop_time = 20.0;
    dae_problem *p = model(
        "model M Real x[1200](each start = 0, each fixed = true), v, i; equation "
        "der(x[1]) = x[2] - 2*x[1] + i; for k in 2:1199 loop der(x[k]) = (x[k - 1] - 2*x[k] + "
        "x[k + 1])*100; end for; der(x[1200]) = -x[1200]; i = 1e-14*(exp(v/0.025) - 1); "
        "v + 1e3*i = 5*sin(time); end M;");
    dae_solver *s = solver(p, &o);
    assert_true(dae_problem_variable_count(p) <= 1300);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    at_work(s, "bdf", "implicit");
    assert_int_equal(dae_solver_run(s, 20.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_variables(s, 20.0, values), DAE_OK);
    assert_true(fabs(values[dae_problem_find_variable(p, "v")] - 0.667219328) < 2e-3);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Values between long steps meet the tolerances, also of functions of time alone, which the error
 * test of a collocation method does not see. */
static void test_values_between(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    o.rtol = 1e-8, o.atol = 1e-8;
    dae_problem *p = model("model M Real x(start=1, fixed=true), y; equation der(x) = -x; "
                           "y = sin(5*time); end M;");
    dae_solver *s = solver(p, &o);
    int y = dae_problem_find_variable(p, "y"), x = dae_problem_find_variable(p, "x");
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    for (int k = 1; k <= 200; k++) {
        double values[2], t = 0.05 * k;
        assert_int_equal(dae_solver_run(s, t, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_variables(s, t, values), DAE_OK);
        assert_true(fabs(values[y] - sin(5.0 * t)) < 1e-7);
        assert_true(fabs(values[x] - exp(-t)) < 1e-7);
    }
    at_work(s, "radau", "implicit");
    dae_solver_free(s);
    dae_problem_free(p);
}

static int height(double t, const double *y, double *values, void *user)
{
    (void)t;
    (void)user;
    values[0] = y[1];
    return 0;
}

/* What is no invariant is told; another method would only leave it unkept. */
static void test_no_invariant(void **state)
{
    (void)state;
    weak_damper c = {0.1};
    const char *const names[] = {"height"};
    const double y0[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
    dae_problem *p = pendulum(&c);
    dae_options o = dae_options_default();
    o.invariant_count = 1;
    o.invariant_function = height;
    o.invariants = names;
    dae_solver *s = solver(p, &o);
    assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(s)->text, "height"));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* A pendulum of index 3 whose rod bears no more than 1. */
static int weak_rod(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + sin(y[4]) * y[0];
    f[3] = yp[3] + sin(y[4]) * y[1] + 1.0;
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

/* bdf refuses what is declared of index 3: where radau fails, here at a velocity along the rod, it
 * is radau that is told of. */
static void test_index3_stays_with_radau(void **state)
{
    (void)state;
    static const dae_kind kinds[5] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                                      DAE_KIND_INDEX2, DAE_KIND_INDEX3};
    dae_residual form = {.n = 5, .f = weak_rod, .kinds = kinds};
    dae_options o = dae_options_default();
    dae_problem *p;
    double y[5] = {1.0, 0.0, 0.1, 0.0, 0.0}, yp[5] = {0.1, 0.0, 0.0, -1.0, 0.0};
    o.init = DAE_INIT_NONE;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    dae_solver *s = solver(p, &o);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_CONVERGENCE);
    at_work(s, "radau", "");
    if (strstr(dae_solver_diag(s)->text, "bdf")) fail_msg("%s", dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Variables with bounds are for bdf, and those of index 3, which it refuses, for radau, wherever
 * they stand. */
static void test_index3_anywhere(void **state)
{
    (void)state;
    static const double low[5] = {-2.0, -2.0, -2.0, -2.0, -2.0};
    for (int place = 0; place <= 5; place++) {
        dae_kind kinds[5] = {DAE_KIND_AUTO};
        if (place < 5) kinds[place] = DAE_KIND_INDEX3;
        dae_residual form = {.n = 5, .f = weak_rod, .kinds = kinds, .lower_bounds = low};
        dae_problem *p;
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        dae_solver *s = solver(p, NULL);
        at_work(s, place < 5 ? "radau" : "bdf", "");
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* x' = -x, y = x: callbacks of index 1. The last F that was evaluated is counted by its t. */
static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    double *last = user;
    *last = fmax(*last, t);
    f[0] = yp[0] + y[0];
    f[1] = y[1] - y[0];
    return 0;
}

static dae_problem *decaying(double *last, const double *low, const dae_kind *kinds)
{
    dae_residual form = {.n = 2, .f = decay, .user = last, .lower_bounds = low, .kinds = kinds};
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

/* Residual callbacks get what models get: radau; bdf where variables have bounds, or a formulation
 * is asked for, or past values are given. */
static void test_residual_callbacks(void **state)
{
    (void)state;
    static const double low[2] = {0.0, 0.0};
    const double y[2] = {1.0, 1.0}, times[2] = {0.0, -0.1};
    const double past[4] = {1.0, 1.0, exp(0.1), exp(0.1)};
    double last = 0.0;
    dae_options o = dae_options_default();
    dae_problem *p = decaying(&last, NULL, NULL), *bounded = decaying(&last, low, NULL);
    in_use(p, &o, y, "radau");
    in_use(bounded, &o, y, "bdf");
    o.max_order = 3;
    in_use(p, &o, y, "bdf");
    dae_solver *s = solver(p, NULL);
    assert_int_equal(dae_solver_start_history(s, 2, times, past, NULL), DAE_OK);
    at_work(s, "bdf", "past values");
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    at_work(s, "radau", "implicit");
    dae_solver_free(s);
    dae_problem_free(bounded);
    dae_problem_free(p);
}

/* The first end is a stop time; it is none with pass_end, with a method by name, or once another
 * end was asked for. */
static void test_end_of_a_run(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "auto", "radau"};
    const double y0[2] = {1.0, 1.0};
    for (int k = 0; k < 3; k++) {
        double last = 0.0, y[2];
        dae_problem *p = decaying(&last, NULL, NULL);
        dae_options o = dae_options_default();
        o.method = methods[k];
        o.pass_end = k == 1;
        dae_solver *s = solver(p, &o);
        for (int run = 0; run < 2; run++) {
            last = 0.0;
            assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
            assert_int_equal(dae_solver_run(s, 2.0, y, NULL), DAE_OK);
            assert_true(fabs(y[0] - exp(-2.0)) < 1e-6);
            assert_true(k == 0 ? last == 2.0 : last > 2.0);
            assert_int_equal(dae_solver_run(s, 2.1, y, NULL), DAE_OK);
            assert_true(fabs(y[1] - exp(-2.1)) < 1e-6);
            assert_true(last > 2.1);
        }
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_change_when_stiff),
                                       cmocka_unit_test(test_what_the_user_says),
                                       cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_models_without_series),
                                       cmocka_unit_test(test_few_digits_of_second_order),
                                       cmocka_unit_test(test_drift_is_shown),
                                       cmocka_unit_test(test_model_changes),
                                       cmocka_unit_test(test_change_from_taylor),
                                       cmocka_unit_test(test_careful_after_a_failure),
                                       cmocka_unit_test(test_all_families_are_tried),
                                       cmocka_unit_test(test_diode_in_a_large_model),
                                       cmocka_unit_test(test_values_between),
                                       cmocka_unit_test(test_no_invariant),
                                       cmocka_unit_test(test_residual_callbacks),
                                       cmocka_unit_test(test_end_of_a_run),
                                       cmocka_unit_test(test_index3_anywhere),
                                       cmocka_unit_test(test_index3_stays_with_radau)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
