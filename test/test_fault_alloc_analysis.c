/* Every allocation of an analysis fails once: the answer is DAE_ERR_MEMORY and nothing leaks. */
#include "fault_alloc.h"

#include <math.h>

/* Hidden constraints, aliases, initial equations and a mode. */
static const char *const pendulum =
    "model P\n  parameter Real g = 1;\n  discrete Real k(start = 2);\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy, f, s, z(start = 1), b;\n"
    "initial equation\n  vy = 0;\nequation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n"
    "  der(vy) = -f*y - g;\n  x^2 + y^2 = 1;\n  s = -x;\n  der(z) = b;\n"
    "  if z > 2 then\n    z = 3;\n  else\n    b = -z;\n  end if;\n"
    "  when time > 3 then\n    k = 1;\n  end when;\nend P;\n";
/* Linear, with a cancellation that a rewriting removes. */
static const char *const linear =
    "model L\n  Real x(start = 1), y, z;\nequation\n  der(x) + der(y) = z;\n"
    "  der(x) + der(y) = x - y;\n  x - 2*y = sin(time);\nend L;\n";
/* Singular by structure, and by numbers. */
static const char *const singular = "model S\n  Real x, y, z;\nequation\n  x = time;\n  x^2 = 2;\n"
                                    "  y + z = 1;\nend S;\n";
static const char *const dependent =
    "model D\n  Real x, y;\nequation\n  x + 2*y = 1;\n  2*x + 4*y = 2;\nend D;\n";

static dae_status analyse(void *text)
{
    dae_analysis *a = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_model_analyse(&(dae_model){.text = text, .file = "m.mo"}, NAN, &a, &diag);
    assert_int_equal(a == NULL, status != DAE_OK);
    dae_analysis_free(a);
    return status;
}

static void fail_analyses(const char *name, const char *text)
{
    heap_faults f = fail_some(name, analyse, (void *)text, 1500);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void test_hidden(void **state)
{
    (void)state;
    fail_analyses("pendulum", pendulum);
}

static void test_linear(void **state)
{
    (void)state;
    fail_analyses("linear", linear);
}

static void test_singular(void **state)
{
    (void)state;
    fail_analyses("singular", singular);
    fail_analyses("dependent", dependent);
}

static dae_status find_indices(void *text)
{
    dae_index_notions *n = NULL;
    dae_problem *p = NULL;
    dae_model m = {.text = text, .file = "m.mo"};
    dae_status status = dae_problem_from_model(&m, &p, NULL);
    if (status == DAE_OK) status = dae_problem_indices(p, NAN, &n, NULL);
    assert_int_equal(n == NULL, status != DAE_OK);
    dae_index_notions_free(n);
    dae_problem_free(p);
    return status;
}

static void test_indices(void **state)
{
    (void)state;
    assert_int_equal(fail_some("indices", find_indices, (void *)linear, 120).status, DAE_OK);
    assert_int_equal(fail_some("indices", find_indices, (void *)pendulum, 120).status, DAE_OK);
}

/* x' = z, y' = x, y = sin t by differences: a start and some steps */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[0];
    f[2] = y[1] - sin(t);
    return 0;
}

static dae_status run_array(void *unused)
{
    double y[3] = {1, 0, 0};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.formulation = "array";
    (void)unused;
    dae_status status = dae_problem_from_residual(&(dae_residual){.n = 3, .f = chain}, &p, NULL);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.1, y, NULL);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void test_array_of_callbacks(void **state)
{
    (void)state;
    assert_int_equal(fail_some("array", run_array, NULL, 150).status, DAE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_array_of_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
