/* The last values of a run are those of its method: ending it makes nothing look better. */
#include "model_run.h"

/* A rod at the level of accelerations, without projections: it drifts, as the method says. */
static const char *const pendulum =
    MODEL("Real x(start = 1, fixed = true), y(start = 0), vx(start = 0), vy(start = 0, fixed = "
          "true), F;\n"
          "equation\n der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 1;\n"
          " x^2 + y^2 = 1;");

static void run_to_end(run *r, const char *text, const char *method, double tolerance, double tend)
{
    prepare(r, text);
    r->options.method = method;
    r->options.formulation = "index1";
    r->options.rtol = r->options.atol = tolerance;
    assert_int_equal(start_at(r, 0.0), DAE_OK);
    assert_int_equal(step_to(r, tend), DAE_OK);
}

static void the_end_is_the_methods_own(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf", "radau:5", "rodas", "bdf2nd", "colloc2nd:5"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        run_to_end(&r, pendulum, methods[k], 1e-3, 20.0);
        double x = value(&r, "x"), y = value(&r, "y"), F = value(&r, "F");
        double drift = fabs(x * x + y * y - 1.0);
        assert_int_equal(dae_solver_finish(r.solver), DAE_OK);
        if (!(drift > 1e-7)) fail_msg("%s does not drift: %g", methods[k], drift);
        EXACTLY("x", x);
        EXACTLY("y", y);
        EXACTLY("F", F);
        end(&r);
    }
}

/* An event with terminal() that changes nothing else leaves them alone, one that does not does not.
 */
static void terminal_events_still_happen(void **state)
{
    (void)state;
    static const char *const counted =
        MODEL("Real x(start = 1, fixed = true), y(start = 0), vx(start = 0), vy(start = 0, fixed = "
              "true), F;\n discrete Real n(start = 0, fixed = true);\n"
              "equation\n der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 1;\n"
              " x^2 + y^2 = 1;\n when terminal() then n = pre(n) + 1; end when;");
    run r;
    run_to_end(&r, counted, "bdf", 1e-3, 20.0);
    EXACTLY("n", 0.0);
    assert_int_equal(dae_solver_finish(r.solver), DAE_OK);
    EXACTLY("n", 1.0);
    end(&r);
}

/* Ended before its first step. */
static void an_end_at_the_start(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, pendulum), DAE_OK);
    assert_int_equal(dae_solver_finish(r.solver), DAE_OK);
    EXACTLY("x", 1.0);
    assert_int_equal(dae_solver_step(r.solver, 1.0), DAE_OK);
    end(&r);
}

/* ---- the last value ---- */

typedef struct counted {
    long calls, fails_at;
} counted;

static int square_f(double t, const double *y, const double *yp, double *f, void *user)
{
    counted *c = user;
    (void)t;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - y[0] * y[0];
    return ++c->calls == c->fails_at ? -1 : 0;
}

static dae_solver *open_square(counted *c, dae_problem **problem)
{
    const double y[2] = {1.0, 1.0}, yp[2] = {-1.0, -2.0};
    dae_residual form = {.n = 2, .f = square_f, .user = c};
    dae_options options = dae_options_default();
    dae_solver *s;
    options.project_output = true;
    assert_int_equal(dae_problem_from_residual(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

/* All steps are done when the values at the end cannot be computed: the run does not end well. */
static void last_value_fails(void **state)
{
    (void)state;
    counted c = {0};
    dae_problem *problem;
    double y[2];
    dae_solver *s = open_square(&c, &problem);
    while (dae_solver_step(s, 1.0) > 0) continue;
    assert_true(dae_solver_time(s) == 1.0);
    dae_solver_free(s);
    dae_problem_free(problem);
    c = (counted){.fails_at = c.calls + 1};
    s = open_square(&c, &problem);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_CALLBACK);
    assert_int_equal(c.calls, c.fails_at);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* y' = -y */
static int decay_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* A run that comes to no end gives values and slopes from where it stands. */
static void values_after_an_error(void **state)
{
    (void)state;
    dae_residual form = {.n = 1, .f = decay_f};
    dae_options options = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    const double y0 = 1.0, yp0 = -1.0;
    double y = NAN, yp = NAN;
    options.rtol = options.atol = 1e-6;
    options.max_steps = 20;
    options.method = "bdf";
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    assert_true(dae_solver_run(s, 1.0, &y, &yp) < 0);
    const double right = exp(-dae_solver_time(s));
    assert_true(dae_solver_time(s) > 0.0 && dae_solver_time(s) < 1.0);
    assert_true(fabs(y - right) < 1e-4 && fabs(yp + right) < 1e-4);
    dae_solver_free(s);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_is_the_methods_own),
        cmocka_unit_test(terminal_events_still_happen), cmocka_unit_test(an_end_at_the_start),
        cmocka_unit_test(last_value_fails), cmocka_unit_test(values_after_an_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
