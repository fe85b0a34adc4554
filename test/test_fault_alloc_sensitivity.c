/* Every allocation of sensitivities, adjoints, fits and boundary values fails once: the answer is
 * DAE_ERR_MEMORY, and nothing leaks. */
#include "fault_alloc.h"

#include <math.h>

/* Hidden constraints, an event with reinit, a discrete Real, start values by an equation. */
static const char *const ball =
    "model P\n  parameter Real L = 1;\n  parameter Real e = 0.9;\n"
    "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
    "  discrete Real speed(start = 0);\nequation\n  der(x) = vx;\n  der(y) = vy;\n"
    "  der(vx) = -f*x;\n  der(vy) = -f*y - 9.81;\n  x^2 + y^2 = L^2;\n  when x < 0.5 then\n"
    "    speed = vy;\n    reinit(vy, -e*pre(vy));\n  end when;\nend P;\n";

/* The past of derivatives: jumps that echo, and come back at times that move. */
static const char *const delayed =
    "model D\n  parameter Real L = 0.2;\n  parameter Real e = 0.5;\n"
    "  Real s, y(start = L, fixed = true);\nequation\n"
    "  s = (if time < 0.1 then 0 else 1) + e*delay(s, L);\n  der(y) = s - delay(y, L);\nend D;\n";

static dae_status follow(void *text)
{
    static const char *const by[] = {"L", "e"};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_sensitivity *x = NULL;
    dae_diag diag = {0};
    double values[16];
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status == DAE_OK) status = dae_solver_new(p, NULL, &s, &diag);
    if (status == DAE_OK)
        status =
            dae_sensitivity_new(s, &(dae_sensitivity_request){.count = 2, .names = by}, &x, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 0.6, NULL, NULL);
    if (status == DAE_OK) status = dae_sensitivity_variables(x, 0.6, 1, values);
    dae_sensitivity_free(x);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static const char *const decay =
    "model D\n  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n"
    "  der(x) = -k*x;\nend D;\n";

static dae_adjoint_request kind; /* of go_back */

/* The gradient of the integral and the end of the first variable, by k or, through an event, by L.
 */
static dae_status go_back(void *text)
{
    static const double weight[16] = {1.0};
    const char *const by[] = {text == (void *)decay ? "k" : "L"};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_adjoint *x = NULL;
    dae_diag diag = {0};
    double gradient[1];
    dae_adjoint_request request = kind;
    request.count = request.functionals = 1;
    request.names = by;
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    dae_options options = dae_options_default();
    if (kind.checkpoints > 0) options.method = "bdf";
    if (status == DAE_OK) status = dae_solver_new(p, &options, &s, &diag);
    if (status == DAE_OK) status = dae_adjoint_new(s, &request, &x, &diag);
    if (status == DAE_OK) status = dae_adjoint_integral(x, 0, weight);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, 1.0, NULL, NULL);
    if (status == DAE_OK) status = dae_adjoint_point(x, 0, weight);
    if (status == DAE_OK) status = dae_adjoint_gradient(x, 0, gradient);
    dae_adjoint_free(x);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

static dae_status find(void *text)
{
    static const double times[] = {0.5, 1.0}, values[] = {0.3, 0.1};
    static const char *const column[] = {"x"};
    dae_fit_parameter k = {.name = "k", .start = 1.5};
    dae_fit_data data = {
        .rows = 2, .columns = 1, .times = times, .variables = column, .values = values};
    dae_fit_request request = {
        .parameters = &k, .parameter_count = 1, .data = &data, .data_count = 1};
    dae_problem *p = NULL;
    dae_fit_result *r = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status == DAE_OK) status = dae_fit(p, &request, &r, &diag);
    assert_int_equal(r == NULL, status != DAE_OK);
    dae_fit_result_free(r);
    dae_problem_free(p);
    return status;
}

/* Hidden constraints, an unknown parameter, conditions at the end, a guess by a run. */
static const char *const aim =
    "model A\n  parameter Real g = 8;\n  Real x(start = 0.1, fixed = true), y(start = -1);\n"
    "  Real u(start = 0.2, fixed = true), v, f;\nequation\n  der(x) = u;\n  der(y) = v;\n"
    "  der(u) = -f*x;\n  der(v) = -f*y - g;\n  x^2 + y^2 = 1;\n"
    "  annotation(__Daedal(terminal = {x == 0.1}));\nend A;\n";

/* How that is solved. */
typedef struct shot {
    const char *text;
    dae_bvp_method by;
    int stages;
} shot;

static dae_status hit(void *given)
{
    const shot *how = given;
    static const char *const names[] = {"g"};
    dae_problem *p = NULL;
    dae_bvp *b = NULL;
    dae_diag diag = {0};
    double values[16];
    dae_bvp_request request = {.end = 0.3,
                               .unknown = names,
                               .unknown_count = 1,
                               .intervals = 3,
                               .rtol = 1e-4,
                               .guess = DAE_BVP_GUESS_SIMULATE,
                               .method = how->by,
                               .stages = how->stages};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = how->text, .file = "m.mo"}, &p, &diag);
    if (status == DAE_OK) status = dae_bvp_new(p, &request, &b, &diag);
    assert_int_equal(b == NULL, status != DAE_OK);
    if (status == DAE_OK) status = dae_bvp_at(b, 0.2, values);
    dae_bvp_free(b);
    dae_problem_free(p);
    return status;
}

/* Conditions of optimality, with a multiplier, a parameter that is chosen and a control that is not
 * determined at once. */
static dae_status derive(void *text)
{
    static const char *const names[] = {"u"}, *const chosen[] = {"k"};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status = dae_problem_optimality(&(dae_model){.text = text, .file = "m.mo"},
                                               &(dae_optimality_request){.controls = names,
                                                                         .control_count = 1,
                                                                         .integral = "x^2 + y^2",
                                                                         .at_end = "k^2*x",
                                                                         .unknown = chosen,
                                                                         .unknown_count = 1},
                                               &p, &diag);
    assert_int_equal(p == NULL, status != DAE_OK);
    dae_problem_free(p);
    return status;
}

static void test_optimality(void **state)
{
    (void)state;
    static const char text[] = "model M parameter Real k = 1, l = 2*k; input Real u;\n"
                               "Real x(start = l, fixed = true), y;\n"
                               "equation der(x) = y; der(y) = u;\n"
                               "annotation(__Daedal(terminal = {x^2 == 1})); end M;\n";
    heap_faults f = fail_some("conditions of optimality", derive, (void *)text, 1500);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void test_bvp(void **state)
{
    (void)state;
    shot ways[] = {
        {aim, DAE_BVP_GAUSS, 0}, {aim, DAE_BVP_SHOOTING, 0}, {aim, DAE_BVP_PROJECTED, 2}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        heap_faults f = fail_some("boundary values", hit, &ways[k], 400);
        assert_int_equal(f.status, DAE_OK);
        assert_true(f.told > 0);
    }
}

static void test_sensitivity(void **state)
{
    (void)state;
    heap_faults f = fail_some("sensitivity", follow, (void *)ball, 400);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void test_delays(void **state)
{
    (void)state;
    heap_faults f = fail_some("sensitivity of delays", follow, (void *)delayed, 500);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

static void test_adjoint(void **state)
{
    (void)state;
    static const char *const *const texts[] = {&decay, &ball};
    for (int i = 0; i < 7; i++) {
        kind.checkpoints = i == 6 ? 3 : 0;
        kind.kind = i < 2 ? DAE_ADJOINT_DISCRETE : DAE_ADJOINT_CONTINUOUS;
        kind.unchecked = i >= 4;
        heap_faults f = fail_some("adjoint", go_back, (void *)*texts[i % 2],
                                  i == 0   ? 600
                                  : i == 1 ? 400
                                           : 150);
        assert_int_equal(f.status, DAE_OK);
        assert_true(f.told > 0);
    }
}

static void test_fit(void **state)
{
    (void)state;
    heap_faults f = fail_some("fit", find, (void *)decay, 400);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sensitivity), cmocka_unit_test(test_delays),
        cmocka_unit_test(test_adjoint),     cmocka_unit_test(test_fit),
        cmocka_unit_test(test_bvp),         cmocka_unit_test(test_optimality)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
