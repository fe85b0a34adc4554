/* Memory that runs out while the full mechanical form is recognised in a model, while redundant
 * constraints of it are released, and while declared kinds are checked: a clean error each time,
 * and nothing is left behind. */
#include "contact.h"
#include "fault_alloc.h"

#include <math.h>

/* ---- models ---- */

/* Contact coordinate, a constraint twice, rolling in other words, friction by a law. */
static const char *const text =
    "model M\n"
    "  Real x(start = 0.9), y(start = 0.3), z, vx(start = 0.1, fixed = true), vy, vz;\n"
    "  Real s(start = 1, fixed = true), N(start = 10), P(start = 10), T, w;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; der(z) = vz;\n"
    "  der(vx) = -(N + 2*P)*sin(s/2) - T - w; der(vy) = (N + 2*P)*cos(s/2) - 9.81; der(vz) = T;\n"
    "  w + w^3 = 0.01*N + 0.01*N^3;\n"
    "  (x - (s + sin(s))/2)*cos(s/2) + (y - (1 - cos(s))/2)*sin(s/2) = 0;\n"
    "  (y - (1 - cos(s))/2)*cos(s/2) - (x - (s + sin(s))/2)*sin(s/2) = 0;\n"
    "  2*(y - (1 - cos(s))/2)*cos(s/2) - 2*(x - (s + sin(s))/2)*sin(s/2) = 0;\n"
    "  vz - vx = 0;\n"
    "end M;\n";

static dae_problem *problem;

static dae_status life(void *formulation)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = formulation;
    o.method = "bdf";
    o.rtol = o.atol = 1e-3;
    dae_status status = dae_solver_new(problem, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.01, NULL, NULL);
    dae_solver_free(s);
    return status;
}

static void test_models(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(fail_each("ggl", life, (void *)"ggl").status, DAE_OK);
    dae_problem_free(problem);
}

/* ---- callbacks ---- */

static int falls(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -0.1 * at->lambda[0] * at->v[0];
    f[1] = -1.0;
    return 0;
}

static int held_twice(const dae_mechanical_point *at, double *g, void *user)
{
    double s = at->s[0];
    (void)user;
    g[0] = at->q[1] - s * s - 2.0 * s * (at->q[0] - s);
    g[1] = 2.0 * g[0];
    return 0;
}

static dae_status run_redundant(void *formulation)
{
    const dae_mechanical form = {.nq = 2,
                                 .nlambda = 2,
                                 .ns = 1,
                                 .force = falls,
                                 .contact = nearest,
                                 .constraint = held_twice,
                                 .scleronomic = true,
                                 .friction = true};
    const double y0[7] = {1.0, 1.0, 0.0, 0.0, 0.9};
    dae_solver *s = NULL;
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = formulation;
    dae_status status = dae_problem_from_mechanical(&form, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.01, NULL, NULL);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static void test_callbacks(void **state)
{
    (void)state;
    assert_int_equal(fail_each("auto", run_redundant, (void *)"auto").status, DAE_OK);
    assert_int_equal(fail_each("minimal", run_redundant, (void *)"minimal").status, DAE_OK);
}

/* ---- kinds ---- */

static int pendulum(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[0] * y[4];
    f[3] = yp[3] + y[1] * y[4] + 1.0;
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static dae_status start_kinds(void *kinds)
{
    const dae_kind *declared = kinds;
    const dae_residual form = {.n = 5, .f = pendulum, .kinds = kinds};
    const double y0[5] = {1.0}, yp0[5] = {0.0, 0.0, 0.0, -1.0};
    dae_solver *s = NULL;
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    dae_status status = dae_problem_from_residual(&form, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, &o, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y0, yp0);
    dae_solver_free(s);
    dae_problem_free(p);
    bool wrong = declared[4] != DAE_KIND_INDEX3;
    return wrong && status == DAE_ERR_ARGUMENT ? DAE_OK : status; /* as it should be */
}

/* A diagnosis that finds no memory is none: the start then goes on, as where kinds are right. */
static void test_kinds(void **state)
{
    (void)state;
    dae_kind right[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                        DAE_KIND_INDEX2, DAE_KIND_INDEX3};
    dae_kind algebraic[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                            DAE_KIND_INDEX2, DAE_KIND_DIFFERENTIAL};
    assert_int_equal(fail_each("right kinds", start_kinds, right).status, DAE_OK);
    assert_int_equal(fail_each("wrong kinds", start_kinds, algebraic).status, DAE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_models),
                                       cmocka_unit_test(test_callbacks),
                                       cmocka_unit_test(test_kinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
