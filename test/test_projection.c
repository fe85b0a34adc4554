/* opt.projection: what is moved onto the constraints at the end of a step. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A pendulum, m = g = 1, whose rod has the length l = 1 + growth t: 0 = (q'q - l^2)/2 */
static double growth;

static int values(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    (void)user;
    double l = 1.0 + growth * at->t;
    if (out->mass) out->mass[0] = out->mass[1] = 1.0;
    if (out->force) out->force[0] = 0.0, out->force[1] = -1.0;
    if (out->gradient) out->gradient[0] = at->q[0], out->gradient[1] = at->q[1];
    if (out->rate) out->rate[0] = -growth * l;
    if (out->curvature)
        out->curvature[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1] - growth * growth;
    return 0;
}

static int rod(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    double l = 1.0 + growth * at->t;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - l * l);
    return 0;
}

static dae_problem *pendulum(void)
{
    dae_problem *problem;
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .all = values,
                           .constraint = rod,
                           .scleronomic = growth == 0.0,
                           .mass_structure = DAE_MASS_DIAGONAL,
                           .mass_constant = true};
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    return problem;
}

/* Residuals of both constraints at tend */
typedef struct drift {
    double position, velocity;
} drift;

static drift run(const char *method, dae_projection projection, double step, double tend, double *y)
{
    dae_options options = dae_options_default();
    options.method = method;
    options.projection = projection;
    options.rtol = options.atol = strcmp(method, "prk") == 0 ? 1e-2 : 1e-4; /* prk: its order 5 */
    options.fixed_step = step;
    options.stop_time = tend;
    double start[5] = {1.0, 0.0, growth, 0.0, 0.0}, own[5], l = 1.0 + growth * tend;
    if (!y) y = own;
    dae_problem *problem = pendulum();
    dae_solver *solver;
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, start, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, tend, y, NULL), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return (drift){fabs(0.5 * (y[0] * y[0] + y[1] * y[1] - l * l)),
                   fabs(y[0] * y[2] + y[1] * y[3] - growth * l)};
}

/* Explicit steps: each level holds if and only if it is asked for, also where the rod grows. With
 * position alone the velocity stays away from its constraint, and the other way round. */
static void explicit_steps_obey(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        growth = k ? 0.3 : 0.0;
        drift none = run("prk", DAE_PROJECTION_NONE, 0.1, 10.0, NULL);
        drift position = run("prk", DAE_PROJECTION_POSITION, 0.1, 10.0, NULL);
        drift velocity = run("prk", DAE_PROJECTION_VELOCITY, 0.1, 10.0, NULL);
        drift both = run("prk", DAE_PROJECTION_BOTH, 0.1, 10.0, NULL);
        assert_true(none.position > 1e-8 && none.velocity > 1e-9);
        assert_true(position.position < 1e-4 * none.position && position.velocity > 1e-9);
        assert_true(velocity.position > 1e-8 && velocity.velocity < 1e-14);
        assert_true(both.position < 1e-4 * none.position && both.velocity < 1e-14);
    }
}

/* Half-explicit stages meet the velocity constraint as they are, so that position is what can be
 * chosen; the end has the corrected position's velocity constraint. */
static void half_explicit_steps_obey(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:3", "hem:4", "hem:5", "phem"};
    for (int k = 0; k < 8; k++) {
        const char *method = methods[k % 4];
        growth = k < 4 ? 0.0 : 0.3;
        drift none = run(method, DAE_PROJECTION_NONE, 0.1, 10.0, NULL);
        drift position = run(method, DAE_PROJECTION_POSITION, 0.1, 10.0, NULL);
        assert_true(none.position > 1e-9 && none.velocity < 1e-14);
        assert_true(position.position < 1e-4 * none.position && position.velocity < 1e-14);
        double y[4][5];
        run(method, DAE_PROJECTION_NONE, 0.1, 1.0, y[0]);
        run(method, DAE_PROJECTION_VELOCITY, 0.1, 1.0, y[1]);
        run(method, DAE_PROJECTION_AUTO, 0.1, 1.0, y[2]);
        run(method, DAE_PROJECTION_BOTH, 0.1, 1.0, y[3]);
        assert_memory_equal(y[0], y[1], sizeof y[0]);
        assert_memory_equal(y[2], y[3], sizeof y[0]);
    }
}

/* The order does not depend on it. */
static void the_order_stays(void **state)
{
    (void)state;
    static const char *const methods[] = {"prk", "phem"};
    growth = 0.3;
    for (int k = 0; k < 10; k++) {
        dae_projection projection = (dae_projection)(k / 2);
        double exact[5], y[2][5], error[2];
        run("hem:5", DAE_PROJECTION_NONE, 0.002, 2.0, exact);
        for (int i = 0; i < 2; i++) {
            run(methods[k % 2], projection, i ? 0.025 : 0.05, 2.0, y[i]);
            error[i] = 0.0;
            for (int j = 0; j < 5; j++) error[i] = fmax(error[i], fabs(y[i][j] - exact[j]));
        }
        double order = log2(error[0] / error[1]);
        if (order < 4.5 || order > 6.0)
            fail_msg("%s, projection %d: order %g", methods[k % 2], (int)projection, order);
    }
}

/* Methods without a projection refuse to be told about it, and so do numbers out of range. */
static void other_methods_refuse(void **state)
{
    (void)state;
    growth = 0.0;
    dae_problem *problem = pendulum();
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    static const char *const methods[] = {"bdf", "rodas", "herk"};
    for (int k = 0; k < 3; k++) {
        options.method = methods[k];
        options.projection = DAE_PROJECTION_BOTH;
        assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_ERR_UNSUPPORTED);
        assert_null(solver);
    }
    options.method = "prk";
    options.projection = (dae_projection)5;
    assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_ERR_ARGUMENT);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_steps_obey), cmocka_unit_test(half_explicit_steps_obey),
        cmocka_unit_test(the_order_stays), cmocka_unit_test(other_methods_refuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
