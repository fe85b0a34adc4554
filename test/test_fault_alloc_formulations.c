/* Every allocation fails once while a model is rewritten by each formulation: the answer is a
 * refusal or a solution, never a crash, and nothing leaks. */
#include "fault_alloc.h"

/* A force as a variable of its own, and a length that changes with time. */
static const char *const text =
    "model M\n"
    "  parameter Real m = 2;\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 1, fixed = true);\n"
    "  Real f, fy, l;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; fy = -f*y; l = 1 + 0.1*time;\n"
    "  m*der(vx) = -f*x;\n"
    "  m*der(vy) = fy - m;\n"
    "  x^2 + y^2 = l^2;\n"
    "end M;\n";

static dae_problem *problem;

/* Start a run with one formulation. */
static dae_status life(void *formulation)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = formulation;
    dae_status status = dae_solver_new(problem, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.01, NULL, NULL);
    dae_solver_free(s);
    return status;
}

static void test_formulations(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    for (int i = 0; dae_formulation_name(i); i++) {
        const char *name = dae_formulation_name(i);
        heap_faults f = fail_each(name, life, (void *)name);
        assert_true(f.status == DAE_OK || f.status == DAE_ERR_UNSUPPORTED);
    }
    dae_problem_free(problem);
}

/* Fast enough to need another p2 before 1 s. */
static const char *const loop =
    "model M\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 3, fixed = true), f;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y - 1; x^2 + y^2 = 1;\n"
    "end M;\n";

static dae_status long_life(void *formulation)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = formulation;
    o.method = "radau:5";
    o.rtol = o.atol = 1e-3;
    dae_status status = dae_solver_new(problem, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 1.0, NULL, NULL);
    if (status == DAE_OK && dae_solver_stats(s)->starts < 3) status = DAE_ERR_ARGUMENT;
    dae_solver_free(s);
    return status;
}

static void test_positions(void **state)
{
    (void)state;
    dae_diag diag = {0};
    const char *const names[] = {"minimal", "reduced"};
    dae_model model = {.text = loop, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    for (int i = 0; i < 2; i++) {
        heap_faults f = fail_each(names[i], long_life, (void *)names[i]);
        assert_int_equal(f.status, DAE_OK);
    }
    dae_problem_free(problem);
}

/* A rod that is there twice, and one that follows from two others. */
static const char *const repeated =
    "model M\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 1, fixed = true), f, h;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; der(vx) = -f*x - h*x; der(vy) = -f*y - h*y - 1;\n"
    "  (x^2 + y^2 - 1)/2 = 0; x^2 + y^2 = 1;\n"
    "end M;\n";
static const char *const parallel =
    "model M\n"
    "  Real x(start = 0.6), y(start = 0.8), z(start = 2.6), w(start = 0.8), a, b, c, d;\n"
    "  Real f, g, h, k;\n"
    "equation\n"
    "  der(x) = a; der(y) = b; der(z) = c; der(w) = d;\n"
    "  der(a) = -f*x - h*(x - z) - k*((x + z)/2 - 1);\n"
    "  der(b) = -f*y - h*(y - w) - k*(y + w)/2 - 1;\n"
    "  der(c) = -g*(z - 2) - h*(z - x) - k*((x + z)/2 - 1);\n"
    "  der(d) = -g*w - h*(w - y) - k*(y + w)/2 - 1;\n"
    "  x^2 + y^2 = 1; (z - 2)^2 + w^2 = 1; (z - x)^2 + (w - y)^2 = 4;\n"
    "  ((x + z)/2 - 1)^2 + ((y + w)/2)^2 = 1;\n"
    "end M;\n";

static void test_redundant(void **state)
{
    (void)state;
    const char *const texts[] = {repeated, parallel};
    for (int i = 0; i < 2; i++) {
        dae_diag diag = {0};
        dae_model model = {.text = texts[i], .file = "m.mo", .engine = DAE_ENGINE_TAPE};
        assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
        heap_faults f = fail_each("redundant", life, (void *)"auto");
        assert_int_equal(f.status, DAE_OK);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulations),
                                       cmocka_unit_test(test_positions),
                                       cmocka_unit_test(test_redundant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
