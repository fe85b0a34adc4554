/* Derivatives of the equations of motion by the user: the same results as by differences, without
 * evaluations for them, with a constraint that is there twice, and with failures that have a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "daedal.h"

/* A bead on the unit circle with a mass that depends on its place, M = diag(2 + x, 3 + x y / 2),
 * drag and gravity; g = (x^2 + y^2 - 1)/2, `copies` times. */
typedef struct bead {
    int copies;
    bool sick; /* the Jacobian has a NaN after t = 0.5 */
} bead;

static int mass(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = 2.0 + at->q[0];
    out[3] = 3.0 + 0.5 * at->q[0] * at->q[1];
    return 0;
}

static int force(const dae_mechanical_point *at, double *out, void *user)
{
    (void)user;
    out[0] = -0.3 * at->v[0] * fabs(at->v[0]) + at->q[1] * at->q[1];
    out[1] = -9.81 - 0.2 * at->v[1] * at->q[0];
    return 0;
}

static int constraint(const dae_mechanical_point *at, double *out, void *user)
{
    for (int i = 0; i < ((const bead *)user)->copies; i++)
        out[i] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *out, void *user)
{
    const int m = ((const bead *)user)->copies;
    for (int i = 0; i < 2 * m; i++) out[i] = at->q[i / m];
    return 0;
}

static int curvature(const dae_mechanical_point *at, double *out, void *user)
{
    for (int i = 0; i < ((const bead *)user)->copies; i++)
        out[i] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

/* by q: M_q a - f_q + lambda I, by v: -f_v */
static int jacobian(const dae_mechanical_point *at, const double *a, double *by_q, double *by_v,
                    void *user)
{
    const bead *b = user;
    double lambda = 0.0;
    for (int i = 0; i < b->copies; i++) lambda += at->lambda[i];
    by_q[0] = a[0] + lambda;
    by_q[1] = 0.5 * at->q[1] * a[1] + 0.2 * at->v[1];
    by_q[2] = -2.0 * at->q[1];
    by_q[3] = 0.5 * at->q[0] * a[1] + lambda;
    by_v[0] = 0.6 * fabs(at->v[0]);
    by_v[3] = 0.2 * at->q[0];
    if (b->sick && at->t > 0.5) by_q[2] = NAN;
    return 0;
}

/* Run to t = 1 from rest at (1, 0); the status */
static dae_status run(bead *b, const char *method, bool given, double *y, dae_stats *stats,
                      dae_diag *diag)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = b->copies,
                           .mass = mass,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .curvature = curvature,
                           .scleronomic = true,
                           .user = b,
                           .jacobian = given ? jacobian : NULL};
    const double y0[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    dae_problem *problem;
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.method = method, options.formulation = "index3";
    options.rtol = options.atol = 1e-8, options.stop_time = 1.0;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, diag), DAE_OK);
    dae_status status = dae_solver_new(problem, &options, &s, diag);
    assert_int_equal(status, DAE_OK);
    status = dae_solver_start(s, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 1.0, y, NULL);
    *stats = *dae_solver_stats(s);
    *diag = *dae_solver_diag(s);
    dae_solver_free(s);
    dae_problem_free(problem);
    return status;
}

static const char *const methods[] = {"colloc2nd", "bdf2nd", "radau:5"};

static void the_same_results(void **state)
{
    (void)state;
    for (int copies = 1; copies <= 2; copies++)
        for (size_t k = copies > 1; k < 3; k++) { /* colloc2nd refuses dependent constraints */
            bead b = {.copies = copies};
            double y[2][6] = {{0.0}};
            dae_stats stats[2];
            dae_diag diag = {0};
            for (int given = 0; given < 2; given++)
                assert_int_equal(run(&b, methods[k], given, y[given], &stats[given], &diag),
                                 DAE_OK);
            /* newton's method differs, the solution does not: multipliers of radau are the worst */
            for (int i = 0; i < 4 + copies; i++)
                assert_true(fabs(y[1][i] - y[0][i]) < (i < 4 ? 1e-6 : 1e-3));
            /* what is left are differences where the run begins */
            assert_true(stats[0].jacobian_residuals >= 4 * stats[0].steps / 10);
            assert_true(stats[1].jacobian_residuals < 50);
            /* exact ones serve as well: no more steps than 10 % */
            assert_true(stats[1].steps <= stats[0].steps + stats[0].steps / 10 + 1);
        }
}

/* A wrong sign costs steps or ends the run, so that the callback is what Newton's method uses. */
static int wrong(const dae_mechanical_point *at, const double *a, double *by_q, double *by_v,
                 void *user)
{
    int code = jacobian(at, a, by_q, by_v, user);
    for (int i = 0; i < 4; i++) by_q[i] = -300.0 * by_q[i] - 1e4, by_v[i] = -by_v[i];
    return code;
}

static void it_is_used(void **state)
{
    (void)state;
    bead b = {.copies = 1};
    double y[6];
    dae_stats right, off = {0};
    dae_diag diag = {0};
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .mass = mass,
                           .force = force,
                           .constraint = constraint,
                           .user = &b,
                           .jacobian = wrong};
    const double y0[5] = {1.0};
    dae_problem *problem;
    dae_solver *s;
    dae_options options = dae_options_default();
    options.method = "colloc2nd", options.rtol = options.atol = 1e-8;
    assert_int_equal(run(&b, "colloc2nd", true, y, &right, &diag), DAE_OK);
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, &diag), DAE_OK);
    if (dae_solver_start(s, 0.0, y0, NULL) == DAE_OK && dae_solver_run(s, 1.0, y, NULL) == DAE_OK) {
        off = *dae_solver_stats(s);
        assert_true(off.newton_iterations > right.newton_iterations);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void failures_have_a_name(void **state)
{
    (void)state;
    bead b = {.copies = 1, .sick = true};
    double y[6];
    dae_stats stats;
    dae_diag diag = {0};
    assert_int_equal(run(&b, "colloc2nd", true, y, &stats, &diag), DAE_ERR_EVALUATION);
    assert_non_null(strstr(diag.text, "jacobian"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_results),
                                       cmocka_unit_test(it_is_used),
                                       cmocka_unit_test(failures_have_a_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
