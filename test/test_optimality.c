/* Conditions of optimality against closed forms, published values, other formulations of the same
 * problem, and costs of controls beside the solution. */
#include "model_run.h"

/* ---- one problem ---- */

typedef struct control_run {
    run r; /* the conditions */
    dae_bvp *b;
    dae_model model;
    dae_optimality_request request;
    dae_bvp_request wanted;
} control_run;

static const char *const only_u[] = {"u"};

static void describe(control_run *q, const char *text, const char *integral, const char *at_end)
{
    memset(q, 0, sizeof *q);
    q->model = (dae_model){.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    q->request = (dae_optimality_request){
        .controls = only_u, .control_count = 1, .integral = integral, .at_end = at_end};
    q->wanted = (dae_bvp_request){.end = 1.0, .rtol = 1e-8, .atol = 1e-8};
}

static void derive(control_run *q)
{
    dae_status status = dae_problem_optimality(&q->model, &q->request, &q->r.problem, &q->r.diag);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
}

static void solve(control_run *q)
{
    if (!q->r.problem) derive(q);
    dae_status status = dae_bvp_new(q->r.problem, &q->wanted, &q->b, &q->r.diag);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
    assert_true(dae_bvp_statistics(q->b)->error <= 1.0);
}

static void begin_at(control_run *q, const char *name, double value)
{
    if (!q->r.problem) derive(q);
    assert_int_equal(dae_problem_set_start(q->r.problem, name, value, &q->r.diag), DAE_OK);
}

static double value_at(const control_run *q, const char *name, double t)
{
    double values[MOST_VALUES];
    int i = dae_problem_find_variable(q->r.problem, name);
    if (i < 0) print_error("no variable %s\n", name);
    assert_true(i >= 0 && dae_problem_variable_count(q->r.problem) <= MOST_VALUES);
    assert_int_equal(dae_bvp_at(q->b, t, values), DAE_OK);
    return values[i];
}

static void expect_about(double found, double exact, double tolerance)
{
    if (fabs(found - exact) <= tolerance) return;
    print_error("%.15g, not %.15g\n", found, exact);
    fail();
}

/* An invariant of problems in which time does not appear. */
static void expect_constant_hamiltonian(const control_run *q)
{
    const double first = value_at(q, "hamiltonian", q->wanted.start);
    for (int k = 1; k <= 16; k++)
        expect_about(value_at(q, "hamiltonian", q->wanted.end * k / 16.0), first, 1e-6);
}

static void shut(control_run *q)
{
    dae_bvp_free(q->b);
    end(&q->r);
}

/* ---- costs of other controls ---- */

/* The control of a solution and a part of another one. */
typedef struct beside {
    const control_run *q;
    double part;
    double (*shape)(double t);
} beside;

static int control_beside(double t, int order, double jump, double *value, void *user)
{
    const beside *w = user;
    (void)jump;
    if (order > 0) return 1;
    *value = value_at(w->q, "u", t) + w->part * w->shape(t);
    return 0;
}

/* The objective of a run with that control; `cost` is a variable of the text. */
static double cost_beside(const control_run *q, const char *text, const char *cost, double part,
                          double (*shape)(double))
{
    beside w = {q, part, shape};
    dae_input input = {.name = "u", .value = control_beside, .user = &w};
    run r = {0};
    dae_model m = {.text = text,
                   .file = "r.mo",
                   .engine = DAE_ENGINE_TAPE,
                   .inputs = &input,
                   .input_count = 1};
    assert_int_equal(dae_problem_from_model(&m, &r.problem, &r.diag), DAE_OK);
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-10;
    double values[MOST_VALUES];
    int i = dae_problem_find_variable(r.problem, cost);
    assert_true(i >= 0);
    assert_int_equal(dae_solver_new(r.problem, &o, &r.solver, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, q->wanted.start, NULL, NULL), DAE_OK);
    dae_status status;
    while ((status = dae_solver_step(r.solver, q->wanted.end)) > 0) continue;
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_variables(r.solver, q->wanted.end, values), DAE_OK);
    end(&r);
    return values[i];
}

static double bump(double t)
{
    return sin(3.0 * t) + 0.5;
}

static double slope(double t)
{
    return 1.0 - 2.0 * t;
}

/* The cost has no slope in any direction, and a positive bend: differences, extrapolated. */
static void expect_stationary(const control_run *q, const char *text, const char *cost)
{
    double (*const shapes[])(double) = {bump, slope};
    const double part = 2e-3;
    const double own = cost_beside(q, text, cost, 0.0, bump);
    expect_about(own, value_at(q, "objective", q->wanted.end), 1e-6 * fmax(1.0, fabs(own)));
    for (int k = 0; k < 2; k++) {
        double steep[2], bend = 0.0;
        for (int i = 0; i < 2; i++) {
            const double by = (i + 1) * part;
            const double more = cost_beside(q, text, cost, by, shapes[k]);
            const double less = cost_beside(q, text, cost, -by, shapes[k]);
            steep[i] = (more - less) / (2.0 * by);
            bend = (more - 2.0 * own + less) / (by * by);
        }
        assert_true(bend > 0.0);
        expect_about((4.0 * steep[0] - steep[1]) / 3.0, 0.0, 1e-5 * fmax(1.0, bend));
    }
}

/* ---- linear-quadratic problems ---- */

/* x' = -x + u, (x^2 + u^2)/2: x = (r cosh r(1-t) + sinh r(1-t))/d, lambda = sinh r(1-t)/d, r =
 * sqrt 2, d the first of them at 0: the solution of its Riccati equation. */
static void test_linear_quadratic(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true); Real seen;\n"
                   "equation der(x) = -x + u; seen = x*u;"),
             "(x^2 + u^2)/2", NULL);
    solve(&q);
    const double r = sqrt(2.0), d = r * cosh(r) + sinh(r);
    for (int k = 0; k <= 8; k++) {
        const double t = k / 8.0, left = r * (1.0 - t);
        expect_about(value_at(&q, "x", t), (r * cosh(left) + sinh(left)) / d, 1e-9);
        expect_about(value_at(&q, "lambda_x", t), sinh(left) / d, 1e-9);
        expect_about(value_at(&q, "u", t), -sinh(left) / d, 1e-9);
    }
    expect_about(value_at(&q, "objective", 1.0), sinh(r) / (2.0 * d), 1e-9);
    expect_constant_hamiltonian(&q);
    assert_true(dae_problem_find_variable(q.r.problem, "lambda_seen") < 0); /* it is always 0 */
    shut(&q);
}

/* The side that a derivative stands on has no part in signs of adjoints. */
static void test_orientation(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true);\n"
                   "equation -x + u = der(x);"),
             "(x^2 + u^2)/2", NULL);
    solve(&q);
    const double r = sqrt(2.0);
    expect_about(value_at(&q, "lambda_x", 0.0), sinh(r) / (r * cosh(r) + sinh(r)), 1e-9);
    shut(&q);
}

/* Exercise 8 c) of [HW96, VII.1]: no cost of u, B'CB = 1, index 3. y1'' = y1, and y2 = y1' begins
 * where the solution wants it. */
static void test_index_3(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real y1(start = 1, fixed = true), y2;\n"
                   "equation der(y1) = y2; der(y2) = u;"),
             "(y1^2 + y2^2)/2", NULL);
    solve(&q);
    for (int k = 0; k <= 8; k++) {
        const double t = k / 8.0;
        expect_about(value_at(&q, "y1", t), cosh(1.0 - t) / cosh(1.0), 1e-9);
        expect_about(value_at(&q, "u", t), cosh(1.0 - t) / cosh(1.0), 1e-8);
        expect_about(value_at(&q, "lambda_y1", t), sinh(1.0 - t) / cosh(1.0), 1e-9);
        expect_about(value_at(&q, "lambda_y2", t), 0.0, 1e-9);
    }
    expect_about(value_at(&q, "objective", 1.0), 0.5 * tanh(1.0), 1e-9);
    expect_constant_hamiltonian(&q);
    shut(&q);
}

/* The same with coordinates turned by 30 degrees: B'v = 0 is one of the sums of what stands at the
 * ends. */
static void test_index_3_turned(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("parameter Real c = 0.8, s = 0.6; input Real u; Real a, b;\n"
                   "initial equation c*a + s*b = 1;\n"
                   "equation der(a) = c*(-s*a + c*b) - s*u; der(b) = s*(-s*a + c*b) + c*u;"),
             "(a^2 + b^2)/2", NULL);
    solve(&q);
    for (int k = 0; k <= 8; k++) {
        const double t = k / 8.0;
        expect_about(0.8 * value_at(&q, "a", t) + 0.6 * value_at(&q, "b", t),
                     cosh(1.0 - t) / cosh(1.0), 1e-8);
    }
    expect_about(value_at(&q, "objective", 1.0), 0.5 * tanh(1.0), 1e-9);
    shut(&q);
}

/* The cost sees y1 alone: index 5 as written, and no degree of freedom but that of the objective.
 */
static void test_index_5(void **state)
{
    (void)state;
    control_run q;
    describe(&q, MODEL("input Real u; Real y1, y2;\nequation der(y1) = y2; der(y2) = u;"),
             "(y1 - sin(time))^2", NULL);
    solve(&q);
    assert_int_equal(dae_bvp_statistics(q.b)->states, 1);
    for (int k = 0; k <= 4; k++) expect_about(value_at(&q, "u", k / 4.0), -sin(k / 4.0), 1e-9);
    shut(&q);
}

/* x' = u1 + u2 with costs u1^2 + 2 u2^2 to x(1) = 3: u1 = 2, u2 = 1. */
static void test_two_controls(void **state)
{
    (void)state;
    static const char *const to[] = {"x = 3"};
    control_run q;
    describe(&q,
             MODEL("input Real u[2]; Real x(start = 0, fixed = true);\n"
                   "equation der(x) = sum(u);"),
             "u[1]^2 + 2*u[2]^2", NULL);
    q.model.terminal = to;
    q.model.terminal_count = 1;
    solve(&q);
    expect_about(value_at(&q, "u[1]", 0.5), 2.0, 1e-9);
    expect_about(value_at(&q, "u[2]", 0.5), 1.0, 1e-9);
    expect_about(value_at(&q, "objective", 1.0), 6.0, 1e-9);
    shut(&q);
}

/* ---- ends ---- */

/* x(0) is free: x = t + a e^t + b e^-t with x'(0) = x'(1) = 0. */
static void test_free_start(void **state)
{
    (void)state;
    control_run q;
    describe(&q, MODEL("input Real u; Real x(start = 0);\nequation der(x) = u;"),
             "(x - time)^2 + u^2", NULL);
    solve(&q);
    const double a = (exp(-1.0) - 1.0) / (exp(1.0) - exp(-1.0)), b = 1.0 + a;
    for (int k = 0; k <= 4; k++) {
        const double t = k / 4.0;
        expect_about(value_at(&q, "x", t), t + a * exp(t) + b * exp(-t), 1e-9);
    }
    shut(&q);
}

/* Shortest way to a circle: the multiplier of its equation stays. */
static void test_manifold(void **state)
{
    (void)state;
    static const char *const two[] = {"u", "w"}, *const to[] = {"x^2 + y^2 = 1"};
    control_run q;
    describe(&q,
             MODEL("input Real u, w; Real x(start = 0.3, fixed = true), y(start = 0.4, fixed = "
                   "true);\nequation der(x) = u; der(y) = w;"),
             "(u^2 + w^2)/2", NULL);
    q.request.controls = two;
    q.request.control_count = 2;
    q.model.terminal = to;
    q.model.terminal_count = 1;
    solve(&q);
    expect_about(value_at(&q, "x", 1.0), 0.6, 1e-9);
    expect_about(value_at(&q, "y", 1.0), 0.8, 1e-9);
    expect_about(value_at(&q, "objective", 1.0), 0.125, 1e-9);
    expect_about(2.0 * value_at(&q, "nu_1", 1.0) * 0.6, value_at(&q, "lambda_x", 1.0), 1e-9);
    expect_constant_hamiltonian(&q);
    shut(&q);
}

/* One unit of way in a time T that costs, too: T + 1/(2 T) is least at T = 1/sqrt 2. */
static void test_free_time(void **state)
{
    (void)state;
    static const char *const to[] = {"x = 1"}, *const choose[] = {"T"};
    control_run q;
    describe(&q,
             MODEL("parameter Real T = 1; input Real u(start = 1); Real x(start = 0, fixed = true)"
                   ";\nequation der(x) = T*u;"),
             "T*(1 + u^2/2)", NULL);
    q.request.unknown = choose;
    q.request.unknown_count = 1;
    q.model.terminal = to;
    q.model.terminal_count = 1;
    begin_at(&q, "lambda_x", -1.0);
    solve(&q);
    expect_about(value_at(&q, "T", 0.0), sqrt(0.5), 1e-9);
    expect_about(value_at(&q, "objective", 1.0), sqrt(2.0), 1e-9);
    /* at a time of one's own choice the Hamiltonian over T is 0 */
    expect_about(value_at(&q, "hamiltonian", 0.5), 0.0, 1e-8);
    shut(&q);
}

/* The brachistochrone to x = 1, whose end is level: T = sqrt(pi), y = 2/pi. */
static void test_brachistochrone(void **state)
{
    (void)state;
    static const char *const to[] = {"x = 1"}, *const choose[] = {"T"};
    control_run q;
    describe(&q,
             MODEL("parameter Real T = 1; input Real u(start = 0.8);\n"
                   "Real x(start = 0, fixed = true), y(start = 0, fixed = true);\n"
                   "Real v(start = 0, fixed = true);\n"
                   "equation der(x) = T*v*cos(u); der(y) = T*v*sin(u); der(v) = T*sin(u);"),
             NULL, "T");
    q.request.unknown = choose;
    q.request.unknown_count = 1;
    q.model.terminal = to;
    q.model.terminal_count = 1;
    begin_at(&q, "lambda_x", -1.0);
    begin_at(&q, "lambda_v", -1.0);
    solve(&q);
    const double pi = acos(-1.0);
    expect_about(value_at(&q, "T", 0.0), sqrt(pi), 1e-8);
    expect_about(value_at(&q, "y", 1.0), 2.0 / pi, 1e-8);
    for (int k = 0; k <= 8; k++) /* its slope turns at a constant rate */
        expect_about(value_at(&q, "u", k / 8.0), 0.5 * pi * (1.0 - k / 8.0), 1e-7);
    expect_constant_hamiltonian(&q);
    shut(&q);
}

/* A start that depends on a chosen parameter, and one that follows from it: x(0) = 2 p, x' = u:
 * (2 p - 2)^2 + x(1)^2 + int u^2 is least at x(0) = 4/3. */
static void test_chosen_start(void **state)
{
    (void)state;
    static const char *const choose[] = {"p"};
    control_run q;
    describe(&q,
             MODEL("parameter Real p = 1; parameter Real twice = 2*p; input Real u;\n"
                   "parameter Real below(max = p) = 0;\n"
                   "Real x(start = twice, fixed = true);\nequation der(x) = u;"),
             "u^2", "(twice - 2)^2 + x^2");
    q.request.unknown = choose;
    q.request.unknown_count = 1;
    solve(&q);
    expect_about(value_at(&q, "p", 0.3), 2.0 / 3.0, 1e-9);
    expect_about(value_at(&q, "u", 0.3), -2.0 / 3.0, 1e-9);
    expect_about(value_at(&q, "objective", 1.0), 4.0 / 3.0, 1e-9);
    shut(&q);
}

/* Without a control: k of x' = -k x for which int (x - 1/2)^2 is least, where its slope is 0. */
static double misfit(double k)
{
    return (1.0 - exp(-2.0 * k)) / (2.0 * k) - (1.0 - exp(-k)) / k + 0.25;
}

static void test_parameter_alone(void **state)
{
    (void)state;
    static const char *const choose[] = {"k"};
    control_run q;
    describe(&q,
             MODEL("parameter Real k = 1; Real x(start = 1, fixed = true);\n"
                   "equation der(x) = -k*x;"),
             "(x - 0.5)^2", NULL);
    q.request.control_count = 0;
    q.request.unknown = choose;
    q.request.unknown_count = 1;
    solve(&q);
    const double k = value_at(&q, "k", 0.0);
    expect_about(value_at(&q, "objective", 1.0), misfit(k), 1e-9);
    expect_about((misfit(k + 1e-4) - misfit(k - 1e-4)) / 2e-4, 0.0, 1e-7);
    shut(&q);
}

/* The objective at the end reads an algebraic variable: its equation is a constraint there. */
static void test_algebraic_end(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true), y, z;\n"
                   "equation der(x) = u; y + 0.5*z = 2*x; z - y = x;"),
             "u^2", "y*z");
    solve(&q);
    /* y = x, z = 2 x: 2 x^2 + (x - 1)^2 is least at x = 1/3 */
    expect_about(value_at(&q, "x", 1.0), 1.0 / 3.0, 1e-9);
    expect_about(value_at(&q, "objective", 1.0), 2.0 / 3.0, 1e-9);
    shut(&q);
}

/* ---- higher index and order ---- */

/* x = u gives z = u': index 2, and the control has a start and an end of its own. int x'^2 + x^2
 * from x(0) = 1. */
static void test_index_2_control(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true), z;\n"
                   "equation x = u; z = der(x);"),
             "z^2 + x^2", NULL);
    solve(&q);
    for (int k = 0; k <= 4; k++) {
        const double t = k / 4.0;
        expect_about(value_at(&q, "u", t), cosh(1.0 - t) / cosh(1.0), 1e-9);
    }
    expect_about(value_at(&q, "objective", 1.0), tanh(1.0), 1e-9);
    shut(&q);
}

/* int x'^2 + x^2 with the slope in the objective and no state but x: the control is x. */
static void test_slope_in_objective(void **state)
{
    (void)state;
    static const char *const from[] = {"u = 1"};
    control_run q;
    describe(&q, MODEL("input Real u; Real x;\nequation x = u;"), "der(x)^2 + x^2", NULL);
    q.model.terminal = from; /* the mirror image: u(1) = 1, free at 0 */
    q.model.terminal_count = 1;
    solve(&q);
    for (int k = 0; k <= 4; k++)
        expect_about(value_at(&q, "x", k / 4.0), cosh(k / 4.0) / cosh(1.0), 1e-9);
    shut(&q);
}

#define PENDULUM                                                                                   \
    "parameter Real g = 9.81; input Real u;\n"                                                     \
    "Real x(start = 0.6, fixed = true), y(start = -0.8);\n"                                        \
    "Real vx(start = 0, fixed = true), vy, tension;\n"                                             \
    "Real cost(start = 0, fixed = true), total;\n"                                                 \
    "equation der(x) = vx; der(y) = vy; der(vx) = -2*x*tension - y*u;\n"                           \
    "der(vy) = -2*y*tension - g + x*u; x^2 + y^2 = 1;\n"                                           \
    "der(cost) = u^2; total = cost + 10*x^2 + vx^2 + vy^2;"

/* A pendulum that is driven to rest: index 3 in Cartesian coordinates, and by its angle. */
static void test_pendulum(void **state)
{
    (void)state;
    control_run q, by_angle;
    describe(&q, MODEL(PENDULUM), "u^2", "10*x^2 + vx^2 + vy^2");
    describe(&by_angle,
             MODEL("parameter Real g = 9.81; input Real u;\n"
                   "Real phi(start = atan2(0.6, 0.8), fixed = true), w(start = 0, fixed = true);\n"
                   "equation der(phi) = w; der(w) = u - g*sin(phi);"),
             "u^2", "10*sin(phi)^2 + w^2");
    solve(&q);
    solve(&by_angle);
    for (int k = 0; k <= 10; k++) {
        const double t = k / 10.0;
        expect_about(value_at(&q, "u", t), value_at(&by_angle, "u", t), 1e-7);
        expect_about(value_at(&q, "x", t), sin(value_at(&by_angle, "phi", t)), 1e-7);
    }
    expect_constant_hamiltonian(&q);
    /* multipliers of the constraints are unknown at the end alone: the start is fixed */
    assert_true(dae_problem_find_variable(q.r.problem, "mu_1") < 0);
    assert_true(dae_problem_find_variable(q.r.problem, "nu_2") >= 0);
    expect_stationary(&q, MODEL(PENDULUM), "total");
    shut(&by_angle);
    shut(&q);
}

/* M(x) x'' = u - sin x as it is, and by two equations of first order. */
static void test_second_order(void **state)
{
    (void)state;
    control_run q, by_two;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                   "equation v = der(x); (1 + x^2)*der(der(x)) = u - sin(x);"),
             "u^2", "10*x^2 + v^2");
    describe(&by_two,
             MODEL("input Real u; Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
                   "equation der(x) = v; der(v) = (u - sin(x))/(1 + x^2);"),
             "u^2", "10*x^2 + v^2");
    solve(&q);
    solve(&by_two);
    for (int k = 0; k <= 10; k++)
        expect_about(value_at(&q, "u", k / 10.0), value_at(&by_two, "u", k / 10.0), 1e-7);
    expect_about(value_at(&q, "hamiltonian", 0.5), value_at(&by_two, "hamiltonian", 0.5), 1e-6);
    expect_constant_hamiltonian(&q);
    shut(&by_two);
    shut(&q);
}

/* ---- nonlinear problems ---- */

#define RAYLEIGH                                                                                   \
    "input Real u; Real x1(start = -5, fixed = true), x2(start = -5, fixed = true);\n"             \
    "Real cost(start = 0, fixed = true);\n"                                                        \
    "equation der(x1) = x2; der(x2) = -x1 + x2*(1.4 - 0.14*x2^2) + 4*u;\n"                         \
    "der(cost) = x1^2 + u^2;"

/* Rayleigh's oscillator over 2.5: 29.376079656 is what PROPT prints for it. */
static void test_rayleigh(void **state)
{
    (void)state;
    control_run q;
    describe(&q, MODEL(RAYLEIGH), "x1^2 + u^2", NULL);
    q.wanted.end = 2.5;
    solve(&q);
    expect_about(value_at(&q, "objective", 2.5), 29.376079656, 1e-6);
    expect_constant_hamiltonian(&q);
    expect_stationary(&q, MODEL(RAYLEIGH), "cost");
    shut(&q);
}

#define VAN_DER_POL                                                                                \
    "input Real u; Real x1(start = 1, fixed = true), x2(start = 0, fixed = true);\n"               \
    "Real cost(start = 0, fixed = true);\n"                                                        \
    "equation der(x1) = x2; der(x2) = -x1 + (1 - x1^2)*x2 + u;\n"                                  \
    "der(cost) = (x1^2 + x2^2 + u^2)/2;"

/* Van der Pol's oscillator brought to rest, and to a line at the end. */
static void test_van_der_pol(void **state)
{
    (void)state;
    static const char *const to[] = {"x1 - x2 = -1"};
    control_run q;
    describe(&q, MODEL(VAN_DER_POL), "(x1^2 + x2^2 + u^2)/2", NULL);
    q.wanted.end = 5.0;
    solve(&q);
    expect_constant_hamiltonian(&q);
    expect_stationary(&q, MODEL(VAN_DER_POL), "cost");
    const double free_end = value_at(&q, "objective", 5.0);
    shut(&q);
    describe(&q, MODEL(VAN_DER_POL), "(x1^2 + x2^2 + u^2)/2", NULL);
    q.wanted.end = 5.0;
    q.model.terminal = to;
    q.model.terminal_count = 1;
    solve(&q);
    expect_about(value_at(&q, "x1", 5.0) - value_at(&q, "x2", 5.0), -1.0, 1e-8);
    expect_about(value_at(&q, "lambda_x1", 5.0) + value_at(&q, "lambda_x2", 5.0), 0.0, 1e-8);
    assert_true(value_at(&q, "objective", 5.0) > free_end);
    expect_constant_hamiltonian(&q);
    shut(&q);
}

/* ---- the text ---- */

/* What is derived is what is written: the text says the same when it is read by itself. */
static void test_text(void **state)
{
    (void)state;
    control_run q;
    run r = {0};
    describe(&q,
             MODEL("input Real u; Real lambda_x(start = 1, fixed = true), x(start = 1, fixed = "
                   "true);\nequation der(x) = u; der(lambda_x) = x - lambda_x;\n"
                   "annotation(experiment(StopTime = 2));"),
             "lambda_x^2 + u^2", NULL);
    char *text = dae_optimality_text(&q.model, &q.request, &q.r.diag);
    assert_non_null(text);
    assert_non_null(strstr(text, "lambda_x_")); /* the name was taken */
    assert_non_null(strstr(text, "\"stationary in u\""));
    assert_non_null(strstr(text, "StopTime = 2"));
    assert_int_equal(load(&r, text), DAE_OK);
    dae_text_free(text);
    solve(&q);
    dae_bvp *b = NULL;
    double values[MOST_VALUES];
    assert_int_equal(dae_bvp_new(r.problem, &q.wanted, &b, &r.diag), DAE_OK);
    assert_int_equal(dae_bvp_at(b, 0.5, values), DAE_OK);
    expect_about(values[dae_problem_find_variable(r.problem, "u")], value_at(&q, "u", 0.5), 1e-12);
    dae_bvp_free(b);
    end(&r);
    shut(&q);
}

/* A bound of a state is no part of the conditions, but is looked after. */
static void test_bound_of_state(void **state)
{
    (void)state;
    control_run q;
    describe(&q,
             MODEL("input Real u; Real x(start = 1, fixed = true, min = 0.5);\n"
                   "equation der(x) = -x + u;"),
             "x^2 + u^2", NULL);
    derive(&q);
    assert_int_equal(dae_bvp_new(q.r.problem, &q.wanted, &q.b, &q.r.diag), DAE_ERR_ASSERT);
    assert_non_null(strstr(q.r.diag.text, "x passes its min"));
    shut(&q);
}

/* ---- what is refused ---- */

typedef struct refusal {
    const char *text, *integral, *at_end, *end, *unknown, *words;
    dae_status status;
} refusal;

#define PLAIN "input Real u; Real x(start = 1, fixed = true);\nequation der(x) = u;"

static const refusal refusals[] = {
    {MODEL("input Real w; Real x; equation der(x) = w;"), "x^2", NULL, NULL, NULL,
     "no input u that is a continuous Real. Its inputs: w", DAE_ERR_ARGUMENT},
    {MODEL("Real x; equation der(x) = 1;"), "x^2", NULL, NULL, NULL, "It has no inputs",
     DAE_ERR_ARGUMENT},
    {MODEL("input Real u(min = 0); Real x; equation der(x) = u;"), "x^2", NULL, NULL, NULL,
     "control u has bounds (line 2)", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x;\nequation der(x) = if x > 1 then u else -u;"), "x^2 + u^2", NULL,
     NULL, NULL, "a condition that is an event (line 3)", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x; discrete Real d;\nequation der(x) = u;\n"
           "when time > 0.5 then d = 1; end when;"),
     "x^2", NULL, NULL, NULL, "a when-clause (line 4)", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x;\nequation der(x) = u - delay(x, 0.1);"), "x^2 + u^2", NULL, NULL,
     NULL, "a delay (line 3)", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x(start = 1, fixed = true);\nequation der(x) = -x;"), "x^2", NULL,
     NULL, NULL, "depends on control u", DAE_ERR_UNSUPPORTED},
    {MODEL(PLAIN), NULL, "x", NULL, NULL, "do not determine u", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x(start = 1, fixed = true), y(start = 0, fixed = true);\n"
           "equation der(x) = y; der(y) = u;"),
     "x^2 + y^2", NULL, NULL, NULL, "enters linearly, control u", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x(start = 1, fixed = true), y;\n"
           "equation der(x) = y; der(y) = u;"), /* lambda_y is 0, and 1 at the end */
     "x^2 + y^2", "y", NULL, NULL, "enters linearly, control u", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x(start = 1, fixed = true), z;\nequation der(x) = u; z = x + u;"),
     "u^2", "z", NULL, NULL, "at that instant alone", DAE_ERR_UNSUPPORTED},
    {MODEL("input Real u; Real x(start = 1, fixed = true), y(start = 1, fixed = true);\n"
           "equation der(x) = u; x^2 + y^2 = 2;"),
     "u^2 + y^2", NULL, NULL, NULL, "conditions at the start are too many", DAE_ERR_ARGUMENT},
    {MODEL(PLAIN), "u^2", NULL, "x = 1|x^2 = 1", NULL, "conditions at the end are too many",
     DAE_ERR_ARGUMENT},
    {MODEL(PLAIN), "u^2", NULL, NULL, "k", "no parameter k", DAE_ERR_ARGUMENT},
    {MODEL("parameter Integer n = 2; input Real u; Real x[n]; equation der(x) = u*ones(n);"),
     "x*x + u^2", NULL, NULL, "n", "n (line 2) cannot be chosen: it is no Real", DAE_ERR_ARGUMENT},
    {MODEL("final parameter Real k = 2; input Real u; Real x; equation der(x) = k*u;"), "x^2 + u^2",
     NULL, NULL, "k", "constant or final", DAE_ERR_ARGUMENT},
    {MODEL(PLAIN), NULL, NULL, NULL, NULL, "nothing is to be minimised", DAE_ERR_ARGUMENT},
    {MODEL(PLAIN), "x^2 +", NULL, NULL, NULL, "x^2 +", DAE_ERR_ARGUMENT},
    {MODEL(PLAIN), "xx^2", NULL, NULL, NULL, "xx", DAE_ERR_MODEL},
};

static void check_refusal(const refusal *f)
{
    control_run q;
    const char *ends[2] = {f->end, NULL};
    char first[64] = "";
    describe(&q, f->text, f->integral, f->at_end);
    q.request.unknown = &f->unknown;
    q.request.unknown_count = f->unknown != NULL;
    q.model.terminal = ends;
    q.model.terminal_count = f->end != NULL;
    const char *bar = f->end ? strchr(f->end, '|') : NULL;
    if (bar) {
        snprintf(first, sizeof first, "%.*s", (int)(bar - f->end), f->end);
        ends[0] = first;
        ends[1] = bar + 1;
        q.model.terminal_count = 2;
    }
    dae_status status = dae_problem_optimality(&q.model, &q.request, &q.r.problem, &q.r.diag);
    if (status != f->status || !strstr(q.r.diag.text, f->words))
        print_error("%d, not %d: %s, not %s\n", status, f->status, q.r.diag.text, f->words);
    assert_int_equal(status, f->status);
    assert_non_null(strstr(q.r.diag.text, f->words));
    assert_null(q.r.problem);
    shut(&q);
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) check_refusal(&refusals[k]);
}

static void test_arguments(void **state)
{
    (void)state;
    static const char *const twice[] = {"u", "u"};
    control_run q;
    describe(&q, MODEL(PLAIN), "u^2", NULL);
    dae_diag diag;
    assert_int_equal(dae_problem_optimality(&q.model, &q.request, NULL, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_optimality(NULL, &q.request, &q.r.problem, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_optimality(&q.model, NULL, &q.r.problem, NULL), DAE_ERR_ARGUMENT);
    q.request.controls = twice;
    q.request.control_count = 2;
    assert_int_equal(dae_problem_optimality(&q.model, &q.request, &q.r.problem, &diag),
                     DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "control u is named twice"));
    q.request.control_count = 0;
    assert_int_equal(dae_problem_optimality(&q.model, &q.request, &q.r.problem, &diag),
                     DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "nothing is to be chosen"));
    assert_null(q.r.problem);
    shut(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_quadratic),
        cmocka_unit_test(test_orientation),
        cmocka_unit_test(test_index_3),
        cmocka_unit_test(test_index_3_turned),
        cmocka_unit_test(test_index_5),
        cmocka_unit_test(test_two_controls),
        cmocka_unit_test(test_free_start),
        cmocka_unit_test(test_manifold),
        cmocka_unit_test(test_free_time),
        cmocka_unit_test(test_brachistochrone),
        cmocka_unit_test(test_chosen_start),
        cmocka_unit_test(test_parameter_alone),
        cmocka_unit_test(test_algebraic_end),
        cmocka_unit_test(test_index_2_control),
        cmocka_unit_test(test_slope_in_objective),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_rayleigh),
        cmocka_unit_test(test_van_der_pol),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_bound_of_state),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
