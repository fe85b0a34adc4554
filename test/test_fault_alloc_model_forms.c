/* Every allocation fails once while a model is run by methods on its forms: the answer is a refusal
 * or a solution, never a crash, and nothing leaks. No step allocates. */
#include "fault_alloc.h"

/* A force as a variable of its own, and a length that changes with time. */
static const char *const rod =
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

/* Accelerations that are coupled, a variable that is given implicitly, and a mode that changes. */
static const char *const mixed =
    "model M\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f, w, s;\n"
    "  Boolean late(start = false, fixed = true);\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; w + w^3 = x; s = x + y;\n"
    "  der(vx) + der(vy) = -f*(x + y) - w;\n"
    "  der(vx) - der(vy) = -f*(x - y) + w;\n"
    "  if late then f = s; else x^2 + y^2 = 1; end if;\n"
    "  when time > 0.005 then late = true; end when;\n"
    "end M;\n";

typedef struct trial {
    const char *text, *method;
    dae_problem *problem;
} trial;

static dae_status life(void *context)
{
    const trial *at = context;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.method = at->method;
    dae_status status = dae_solver_new(at->problem, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.01, NULL, NULL);
    dae_solver_free(s);
    return status;
}

static const trial TRIALS[] = {{rod, "hem:5", NULL},
                               {rod, "phem", NULL},
                               {rod, "herk", NULL},
                               {mixed, "hem:4", NULL},
                               {mixed, "herk", NULL}};
enum { TRIAL_COUNT = sizeof TRIALS / sizeof *TRIALS };

static dae_problem *problem_of(const char *text)
{
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    return problem;
}

static void test_every_allocation(void **state)
{
    (void)state;
    for (int k = 0; k < TRIAL_COUNT; k++) {
        trial t = TRIALS[k];
        t.problem = problem_of(t.text);
        heap_faults f = fail_each(t.method, life, &t);
        assert_int_equal(f.status, DAE_OK);
        dae_problem_free(t.problem);
    }
}

/* Steps and output, values of all variables among it. */
static void test_steps(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        dae_solver *s = NULL;
        dae_diag diag = {0};
        dae_options o = dae_options_default();
        double values[16];
        dae_problem *problem = problem_of(TRIALS[k].text);
        o.method = TRIALS[k].method;
        o.rtol = 1e-8;
        assert_int_equal(dae_solver_new(problem, &o, &s, &diag), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_step(s, 2.0), DAE_STEPPED);
        heap_watch(-1);
        dae_status status;
        while ((status = dae_solver_step(s, 2.0)) > 0)
            assert_int_equal(dae_solver_variables(s, dae_solver_time(s), values), DAE_OK);
        long requests = heap.requests;
        heap_unwatch();
        assert_int_equal(status, DAE_OK);
        assert_int_equal(requests, 0);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation),
                                       cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
