/* Every allocation of colloc2nd and glm3 fails once: its matrices, those of the projection, of
 * callbacks and of a model, dense and sparse. Nothing leaks. */
#include "fault_alloc.h"

#include "colloc2nd_problems.h"

static const char text[] =
    "model P Real x(start=1); Real y(start=0,fixed=true); Real vx; Real vy(start=0,fixed=true); "
    "Real lambda; equation der(x) = vx; der(y) = vy; der(vx) = -x*lambda; der(vy) = -y*lambda - 1; "
    "x^2 + y^2 = 1; end P;";

typedef struct run {
    dae_problem *problem;
    dae_options options;
    const double *start; /* NULL: the model's */
} run;

static dae_status some_steps(void *context)
{
    const run *r = context;
    dae_solver *s;
    double y[5];
    dae_status status = dae_solver_new(r->problem, &r->options, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, r->start, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.5, y, NULL);
    double last = 0.5;
    if (status == DAE_OK) dae_solver_last_step(s, &last, NULL);
    if (status == DAE_OK) status = dae_solver_at(s, 0.5 * (last + 0.5), 0, y);
    dae_solver_free(s);
    return status;
}

static void fail_runs(run *r)
{
    static const char *const methods[] = {"colloc2nd", "colloc2nd:3", "colloc2nd:6", "glm"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int sparse = 0; sparse < 2; sparse++) {
            r->options.method = methods[m];
            r->options.linear_solver = sparse ? DAE_LINEAR_SPARSE : DAE_LINEAR_DENSE;
            if (!sparse)
                every_failure_is_told(methods[m], some_steps, r, 10);
            else /* without room for its own factors KLU's do */
                assert_true(fail_each(methods[m], some_steps, r).told > 10);
        }
}

static void callbacks_fail_cleanly(void **state)
{
    (void)state;
    dae_mechanical form = curve_form(&curve_pendulum);
    run r = {.options = dae_options_default(), .start = curve_pendulum.start};
    assert_int_equal(dae_problem_from_mechanical(&form, &r.problem, NULL), DAE_OK);
    fail_runs(&r);
    dae_problem_free(r.problem);
}

static void models_fail_cleanly(void **state)
{
    (void)state;
    run r = {.options = dae_options_default()};
    assert_int_equal(
        dae_problem_from_model(&(dae_model){.text = text, .file = "P", .engine = DAE_ENGINE_TAPE},
                               &r.problem, NULL),
        DAE_OK);
    r.options.method = "colloc2nd";
    /* constants that cannot be folded are computed later */
    assert_true(fail_each("colloc2nd, model", some_steps, &r).told > 10);
    dae_problem_free(r.problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_fail_cleanly),
        cmocka_unit_test(models_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
