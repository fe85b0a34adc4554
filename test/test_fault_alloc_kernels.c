/* Code for eliminations that is found while memory runs out: what solvers are given stays loaded.
 */
#include "fault_alloc.h"

#include "compiler_place.h"
#include "model/model_code.h"
#include "problem/residual.h"

static const char kinetics[] = "model M\nReal x[6](each start=0.5, each fixed=true);\nequation\n"
                               "der(x[1]) = -x[1]*x[2];\nfor i in 2:5 loop\n"
                               "  der(x[i]) = 1e3*(x[i-1] - x[i]) - x[i]*x[i+1];\nend "
                               "for;\nder(x[6]) = x[5] - x[6];\nend M;\n";

enum { VARIABLES = 6 };

static void run_to(const dae_problem *p, double *y)
{
    const double end = 10.0;
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.method = "radau";
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    while (status >= 0 && (status = dae_solver_step(s, end)) > 0) continue;
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_variables(s, end, y), DAE_OK);
    dae_solver_free(s);
}

static int with_code(const dae_problem *p)
{
    int count = 0;
    for (int k = 0; k < p->kernels->count; k++) count += p->kernels->list[k]->kernel != NULL;
    return count;
}

static dae_problem *problem_with(dae_engine engine)
{
    dae_problem *p = NULL;
    dae_model model = {.text = kinetics, .engine = engine};
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    return p;
}

/* The code of a run, into the cache. */
static void compile_code(double *y)
{
    char reason[NATIVE_REASON];
    dae_problem *p = problem_with(DAE_ENGINE_NATIVE);
    run_to(p, y);
    model_code_wait(p->model->code, reason);
    assert_int_equal(model_code_begin_kernels(p->model->code, false), NATIVE_OK);
    model_code_wait(p->model->code, reason);
    assert_true(with_code(p) > 0);
    dae_problem_free(p);
}

/* A problem without any code looks for it, and request k fails: solvers are given it only if the
 * problem keeps it loaded for them. */
static void code_that_is_given_out_stays(void **state)
{
    double y[2][VARIABLES];
    bool refused = true;
    int told = 0, found = 0;
    place_need(state);
    compile_code(y[0]);
    for (long k = 0; refused; k++) {
        dae_problem *p = problem_with(DAE_ENGINE_AUTO);
        run_to(p, y[1]);
        assert_int_equal(with_code(p), 0);
        heap_watch(k);
        bool ok = model_code_look_kernels(p->model->code);
        refused = heap_unwatch();
        told += !ok;
        if (!ok) assert_int_equal(with_code(p), 0); /* nobody would own it */
        found += with_code(p) > 0;
        run_to(p, y[1]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        dae_problem_free(p);
    }
    assert_true(told > 0 && found > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_that_is_given_out_stays, place_set_up,
                                        place_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
