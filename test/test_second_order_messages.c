/* What second order methods say when they cannot do what was asked. */
#include "colloc2nd_problems.h"

#include <stdio.h>

/* A formulation that leaves no rows q' = v is named, and others are. */
static void formulations_of_first_order_are_named(void **state)
{
    (void)state;
    static const char *const methods[] = {"bdf2nd", "colloc2nd"};
    static const char *const formulations[] = {"ggl", "gglm", "fuehrer", "odassl"};
    dae_mechanical form = curve_form(&curve_pendulum);
    dae_problem *problem;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    for (int m = 0; m < 2; m++)
        for (int f = 0; f < 4; f++) {
            dae_options options = dae_options_default();
            dae_solver *s;
            char name[32];
            options.method = methods[m];
            options.formulation = formulations[f];
            assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, curve_pendulum.start, NULL),
                             DAE_ERR_UNSUPPORTED);
            snprintf(name, sizeof name, "formulation %s ", formulations[f]);
            if (!strstr(dae_solver_diag(s)->text, name)) fail_msg("%s", dae_solver_diag(s)->text);
            assert_non_null(strstr(dae_solver_diag(s)->text, "index3"));
            dae_solver_free(s);
        }
    dae_problem_free(problem);
}

/* The variable that is said to dominate a failed error test has an error that can fail it: at least
 * the root of the mean. */
static void the_culprit_of_an_error_test_is_one(void **state)
{
    (void)state;
    static const char *const methods[] = {
        "bdf2nd", "colloc2nd",       "colloc2nd:5",   "colloc2nd:6",
        "glm",    "bdf2nd:modified", "bdf2nd:thesis", "colloc2nd:3:thesis"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        dae_options options = dae_options_default();
        dae_problem *problem;
        options.method = methods[m];
        options.rtol = options.atol = 1e-10;
        options.min_step = options.initial_step = 0.2;
        dae_solver *s = curve_solver(&curve_ellipse, &options, &problem);
        dae_status status = dae_solver_run(s, 20.0, NULL, NULL);
        const dae_diag *d = dae_solver_diag(s);
        if (status == DAE_ERR_ERROR_TEST && !(d->value > 0.9))
            fail_msg("%s: %s", methods[m], d->text);
        if (status == DAE_ERR_CONVERGENCE && !(d->value > 0.0))
            fail_msg("%s: %s", methods[m], d->text);
        if (status >= 0) fail_msg("%s has no error at steps of 0.2", methods[m]);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulations_of_first_order_are_named),
        cmocka_unit_test(the_culprit_of_an_error_test_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
