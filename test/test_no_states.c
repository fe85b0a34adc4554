/* Models without states, with one, and with values at which nothing can be solved: every method
 * runs right, or says why not; none reads what is not there. */
#include "model_run.h"

/* Everything is given by the time, through a derivative; solved by hand. */
static void stateless_exact(double t, double *x)
{
    x[0] = 0.0;
    x[1] = sin(t);
    x[2] = cos(t);
}

static const char *const stateless =
    MODEL("Real a, b, c;\nequation\n a + b = sin(time);\n a - b = der(c);\n c = cos(time);");

/* One state, found at its place by its equation. */
static const char *const one_state =
    MODEL("Real a(start = 1, fixed = true), b, c;\nequation\n der(a) = c;\n b = 2*a;\n"
          " a = cos(time);");

static void one_state_exact(double t, double *x)
{
    x[0] = cos(t);
    x[1] = 2.0 * cos(t);
    x[2] = -sin(t);
}

/* Runs that succeed are right at and between steps; returns whether there was one. */
static bool right_or_refused(const char *text, const char *method,
                             void (*exact)(double t, double *x))
{
    static const char *const names[] = {"a", "b", "c"};
    run r;
    prepare(&r, text);
    r.options.method = method;
    r.options.rtol = r.options.atol = 1e-6;
    dae_status status = dae_solver_new(r.problem, &r.options, &r.solver, &r.diag);
    if (status == DAE_OK) status = dae_solver_start(r.solver, 0.0, NULL, NULL);
    for (int k = 1; status == DAE_OK && k <= 20; k++) {
        double x[3];
        status = dae_solver_run(r.solver, 0.1 * k, NULL, NULL);
        if (status != DAE_OK) break;
        exact(0.1 * k, x);
        for (int j = 0; j < 3; j++)
            if (!(fabs(value(&r, names[j]) - x[j]) <= 1e-5))
                fail_msg("%s: %s(%g) = %.10g, not %.10g", method, names[j], 0.1 * k,
                         value(&r, names[j]), x[j]);
    }
    const char *text_of = r.solver ? diag_of(&r)->text : r.diag.text;
    if (status != DAE_OK && !text_of[0]) fail_msg("%s fails without a word", method);
    end(&r);
    return status == DAE_OK;
}

static void every_method_without_states(void **state)
{
    (void)state;
    int right = 0;
    for (int i = 0; dae_method_name(i); i++)
        right += right_or_refused(stateless, dae_method_name(i), stateless_exact);
    assert_true(right > 20);
}

static void every_method_with_one_state(void **state)
{
    (void)state;
    int right = 0;
    for (int i = 0; dae_method_name(i); i++)
        right += right_or_refused(one_state, dae_method_name(i), one_state_exact);
    assert_true(right > 20);
}

/* A rod without length: the method that is chosen first fails, and so does the change to another
 * one, while the first failure is explained. */
static void failures_are_explained(void **state)
{
    (void)state;
    static const char *const rods[] = {
        MODEL("Real x, y, vx, vy, F;\nequation\n der(x) = vx; der(y) = vy;\n"
              " der(vx) = -F*x; der(vy) = -F*y - 9.81;\n x^2 + y^2 = 0;"),
        MODEL("parameter Real L = 0; Real x(start = L), y, vx, vy, F;\nequation\n"
              " der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - 1;\n"
              " x^2 + y^2 = L^2;")};
    for (size_t k = 0; k < sizeof rods / sizeof *rods; k++) {
        run r;
        prepare(&r, rods[k]);
        dae_status status = start_at(&r, 0.0);
        if (status == DAE_OK) status = dae_solver_run(r.solver, 1.0, NULL, NULL);
        if (status < 0) assert_true(strlen(diag_of(&r)->text) > 20);
        dae_solver_diag(r.solver);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method_without_states),
                                       cmocka_unit_test(every_method_with_one_state),
                                       cmocka_unit_test(failures_are_explained)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
