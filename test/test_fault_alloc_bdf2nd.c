/* Every allocation of BDF for second and higher order fails once: the second order form, its
 * matrices on dense and on detected sparse patterns, and whole runs. Nothing leaks. */
#include "fault_alloc.h"

#include "second_order_problems.h"

enum { BODIES = 40 };

/* A chain of masses on springs, the first one held by a constraint: no pattern is given. */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < BODIES; i++) {
        const double *q = y + 2 * i;
        double left = i > 0 ? q[-2] : 0.0, right = i + 1 < BODIES ? q[2] : 0.0;
        f[2 * i] = yp[2 * i] - q[1];
        f[2 * i + 1] = yp[2 * i + 1] + 2.0 * q[0] - left - right + 0.1 * q[1];
    }
    f[1] += y[2 * BODIES];
    f[2 * BODIES] = y[0];
    return 0;
}

static dae_status run_to_end(dae_problem *problem, const char *name, double *y, double *yp,
                             double tend)
{
    double each[CURVE_N];
    dae_options options = dae_options_default();
    options.method = name;
    options.init = DAE_INIT_NONE;
    options.rtol = options.atol = 1e-3;
    for (int i = 0; i < CURVE_N; i++) each[i] = i < 2 ? 1e-3 : 1.0;
    if (strcmp(options.method, "bdf2nd:thesis") == 0)
        options.rtol_by_unknown = options.atol_by_unknown = each;
    dae_solver *s = NULL;
    dae_status status = dae_solver_new(problem, &options, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y, yp);
    if (status == DAE_OK) status = dae_solver_run(s, tend, y, yp);
    dae_solver_free(s);
    return status;
}

static dae_status chain_run(void *context)
{
    int velocity[2 * BODIES + 1];
    dae_kind kinds[2 * BODIES + 1];
    double y[2 * BODIES + 1] = {0}, yp[2 * BODIES + 1] = {0};
    for (int i = 0; i <= 2 * BODIES; i++) {
        velocity[i] = i % 2 == 0 && i < 2 * BODIES ? i + 1 : -1;
        kinds[i] = i < 2 * BODIES ? DAE_KIND_DIFFERENTIAL : DAE_KIND_INDEX3;
    }
    y[2] = 0.1; /* the second one is pulled aside: its acceleration and the force that holds the
                   first */
    yp[3] = -0.2;
    yp[5] = 0.1;
    y[2 * BODIES] = 0.1;
    dae_residual form = {.n = 2 * BODIES + 1, .f = chain, .velocity = velocity, .kinds = kinds};
    dae_problem *problem = NULL;
    dae_status status = dae_problem_from_residual(&form, &problem, NULL);
    if (status == DAE_OK) status = run_to_end(problem, context, y, yp, 0.05);
    dae_problem_free(problem);
    return status;
}

static dae_status pendulum_run(void *context)
{
    double y[CURVE_N], yp[CURVE_N];
    dae_residual form = {
        .n = CURVE_N, .f = pendulum, .kinds = curve_kinds, .velocity = curve_velocity};
    dae_problem *problem = NULL;
    pendulum_exact(0.0, y, yp);
    dae_status status = dae_problem_from_residual(&form, &problem, NULL);
    if (status == DAE_OK) status = run_to_end(problem, context, y, yp, 0.5);
    dae_problem_free(problem);
    return status;
}

/* x''' + x'' + x' + x = 0 and a multiplier that is x, with prescribed steps */
static int third(double t, const double *const *x, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = x[3][0] + x[2][0] + x[1][0] + x[0][1];
    f[1] = x[0][1] - x[0][0];
    return 0;
}

static dae_status third_run(void *context)
{
    static const int orders[] = {3, 0};
    static const char *const names[] = {"x", "z"};
    const double times[] = {0.01, 0.03, 0.04, 0.06};
    const dae_higher_order form = {
        .n = 2, .order = 3, .f = third, .orders = orders, .variable_names = names};
    double y[4] = {1.0, 1.0, 0.0, 0.0}, yp[4] = {0.0, 0.0, 0.0, -1.0};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    dae_solver *s = NULL;
    options.method = context;
    options.init = DAE_INIT_NONE;
    options.step_sequence = times;
    options.step_count = 4;
    dae_status status = dae_problem_from_higher_order(&form, &problem, NULL);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &s, NULL);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, y, yp);
    if (status == DAE_OK) status = dae_solver_run(s, 0.06, y, yp);
    dae_solver_free(s);
    dae_problem_free(problem);
    return status;
}

static void higher_orders_fail_cleanly(void **state)
{
    (void)state;
    static const char *const names[] = {"bdfhigh", "bdfhigh:modified"};
    for (int m = 0; m < 2; m++)
        every_failure_is_told(names[m], third_run, (void *)(uintptr_t)names[m], 10);
}

static void small_systems_fail_cleanly(void **state)
{
    (void)state;
    static const char *const names[] = {"bdf2nd", "bdf2nd:modified", "bdf2nd:thesis"};
    for (int m = 0; m < 3; m++)
        every_failure_is_told(names[m], pendulum_run, (void *)(uintptr_t)names[m], 10);
}

static void large_systems_fail_cleanly(void **state)
{
    (void)state;
    static const char name[] = "bdf2nd";
    every_failure_is_told(name, chain_run, (void *)(uintptr_t)name, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_systems_fail_cleanly),
        cmocka_unit_test(large_systems_fail_cleanly),
        cmocka_unit_test(higher_orders_fail_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
