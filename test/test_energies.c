/* Equations of motion from energies, as an annotation and from C, against closed forms and against
 * equations written by hand; a model written as a flat text and read back is the same model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daedal.h"

static dae_problem *problem_of(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "test.mo", .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

/* Values of all variables at time t; freed by the caller. */
static double *values_at(const dae_problem *p, double t, const char *method)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-10;
    options.method = method;
    dae_status status = dae_solver_new(p, &options, &s, &diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, t, NULL, NULL);
    double *values = calloc((size_t)dae_problem_variable_count(p) + 1, sizeof *values);
    assert_non_null(values);
    if (status == DAE_OK) status = dae_solver_variables(s, t, values);
    if (status != DAE_OK && s) print_error("%s\n", dae_solver_diag(s)->text);
    assert_int_equal(status, DAE_OK);
    dae_solver_free(s);
    return values;
}

static double value_of(const dae_problem *p, const double *values, const char *name)
{
    int i = dae_problem_find_variable(p, name);
    assert_true(i >= 0);
    return values[i];
}

/* ---- the annotation ---- */

#define DOUBLE_PENDULUM(EXTRA)                                                                     \
    "model DoublePendulum\n"                                                                       \
    "  parameter Real m1 = 1.2, m2 = 0.7, l1 = 0.9, l2 = 1.1, g = 9.81, d = 0.3;\n"                \
    "  Real a(start = 1, fixed = true), b(start = -0.5, fixed = true);\n"                          \
    "  Real u(start = 0.2, fixed = true), v(start = 0, fixed = true);\n"                           \
    "equation\n  der(a) = u;\n  der(b) = v;\n" EXTRA "end DoublePendulum;\n"

/* The double pendulum: M and f by hand, with damping of the first joint. */
static const char *const by_hand =
    DOUBLE_PENDULUM("  (m1 + m2)*l1^2*der(u) + m2*l1*l2*cos(a - b)*der(v) =\n"
                    "    -m2*l1*l2*sin(a - b)*v^2 - (m1 + m2)*g*l1*sin(a) - d*u;\n"
                    "  m2*l1*l2*cos(a - b)*der(u) + m2*l2^2*der(v) =\n"
                    "    m2*l1*l2*sin(a - b)*u^2 - m2*g*l2*sin(b);\n");

static const char *const energies[] = {
    DOUBLE_PENDULUM(
        "annotation(__Daedal(coordinates = {a, b},\n"
        "  lagrangian = (m1 + m2)/2*l1^2*u^2 + m2/2*l2^2*v^2 + m2*l1*l2*u*v*cos(a - b)\n"
        "    + (m1 + m2)*g*l1*cos(a) + m2*g*l2*cos(b),\n"
        "  dissipation = d/2*u^2));\n"),
    DOUBLE_PENDULUM("annotation(__Daedal(coordinates = {a, b}, forces(a = -d*u),\n"
                    "  kinetic = m1/2*l1^2*der(a)^2 + m2/2*(l1^2*u^2 + l2^2*v^2\n"
                    "    + 2*l1*l2*u*v*cos(a - b)),\n"
                    "  potential = -m1*g*l1*cos(a) - m2*g*(l1*cos(a) + l2*cos(b))));\n"),
    DOUBLE_PENDULUM("annotation(__Daedal(coordinates = {b, a}, forces = {0, -d*u},\n"
                    "  kinetic = ((m1 + m2)*l1^2*u^2 + m2*l2^2*v^2)/2 + m2*l1*l2*u*v*cos(a - b),\n"
                    "  potential = -(m1 + m2)*g*l1*cos(a) - m2*g*l2*cos(b)));\n")};

static void double_pendulum(void **state)
{
    (void)state;
    dae_problem *hand = problem_of(by_hand);
    double *expected = values_at(hand, 2.0, "auto");
    for (size_t k = 0; k < sizeof energies / sizeof energies[0]; k++) {
        dae_problem *p = problem_of(energies[k]);
        double *got = values_at(p, 2.0, "auto");
        for (int i = 0; i < 4; i++)
            assert_true(fabs(got[i] - expected[i]) < 1e-7); /* 1000 tolerances */
        free(got);
        dae_problem_free(p);
    }
    free(expected);
    dae_problem_free(hand);
}

/* A bead on a wire that turns with w: L depends on time through the constraint-free kinetic energy,
 * x = r cos(w t): r'' = w^2 r, so r = cosh(w t). */
static void moving_frame(void **state)
{
    (void)state;
    dae_problem *p = problem_of(
        "model Wire\n  parameter Real w = 0.8;\n  Real r(start = 1, fixed = true);\n"
        "  Real x = r*cos(w*time), y = r*sin(w*time), vx = der(x), vy = der(y);\n"
        "initial equation\n  der(r) = 0;\nequation\n"
        "  annotation(__Daedal(coordinates = {r}, kinetic = (vx^2 + vy^2)/2));\nend Wire;\n");
    double *got = values_at(p, 1.5, "auto");
    assert_true(fabs(value_of(p, got, "r") - cosh(1.2)) < 1e-8);
    free(got);
    dae_problem_free(p);
}

/* A knife edge on a slope, [Wun05 1.1]: it turns with w = 1 and slides along itself with s(t) = 1 +
 * a sin t, a its part of gravity; the force across is lambda = s + a sin t. */
static void knife_edge(void **state)
{
    (void)state;
    const double t = 2.0, a = 4.905, s = 1.0 + a * sin(t);
    dae_problem *p = problem_of(
        "model Knife\n  parameter Real a = 4.905;\n"
        "  Real x(start = 0, fixed = true), y(start = 0, fixed = true), vx(start = 1), vy;\n"
        "  Real phi(start = 0, fixed = true), w(start = 1, fixed = true), lambda;\n"
        "initial equation\n  vx = 1;\nequation\n"
        "  der(x) = vx;\n  der(y) = vy;\n  der(phi) = w;\n"
        "  annotation(__Daedal(coordinates = {x, y, phi}, kinetic = (vx^2 + vy^2 + w^2)/2,\n"
        "    potential = -a*x, constraints = {vx*sin(phi) - vy*cos(phi)}, multipliers = "
        "{lambda}));\n"
        "end Knife;\n");
    double *got = values_at(p, t, "auto");
    assert_true(fabs(value_of(p, got, "phi") - t) < 1e-8);
    assert_true(fabs(value_of(p, got, "vx") - s * cos(t)) < 1e-7);
    assert_true(fabs(value_of(p, got, "vy") - s * sin(t)) < 1e-7);
    assert_true(fabs(value_of(p, got, "lambda") - (s + a * sin(t))) < 1e-6);
    free(got);
    dae_problem_free(p);
}

/* A mass that grows, 3/2 k (1 + t), under the force 2: ((1 + t) v)' = 2/(3/2 k). */
static void growing_mass(void **state)
{
    (void)state;
    dae_problem *p =
        problem_of("model Growing\n  parameter Real k = 0.8;\n  Real x(start = 0, fixed = true);\n"
                   "  Real v(start = 0, fixed = true);\nequation\n  der(x) = v;\n"
                   "  annotation(__Daedal(coordinates = {x}, kinetic = 3*(k*(1 + time)/4)*v^2, "
                   "forces = {2}));\n"
                   "end Growing;\n");
    double *got = values_at(p, 2.0, "auto");
    assert_true(fabs(value_of(p, got, "v") - 2.0 / 1.2 * 2.0 / 3.0) < 1e-8);
    assert_true(fabs(value_of(p, got, "x") - 2.0 / 1.2 * (2.0 - log(3.0))) < 1e-8);
    free(got);
    dae_problem_free(p);
}

/* [Wun05 (1.3)]: the constraint is a term of L; a mass on the line y = x tan(0.5), lambda along it.
 */
static void constraint_in_lagrangian(void **state)
{
    (void)state;
    dae_problem *p = problem_of(
        "model Slope\n  parameter Real c = tan(0.5), g = 9.81;\n  Real x(start = 0, fixed = "
        "true);\n"
        "  Real y, u(start = 0, fixed = true), v, lambda;\nequation\n  der(x) = u;\n  der(y) = v;\n"
        "  annotation(__Daedal(coordinates = {x, y}, multipliers = {lambda},\n"
        "    lagrangian = (u^2 + v^2)/2 - g*y - lambda*(y - c*x)));\nend Slope;\n");
    double *got = values_at(p, 1.0, "auto");
    double a = -9.81 * sin(0.5);
    assert_true(fabs(value_of(p, got, "x") - 0.5 * a * cos(0.5)) < 1e-8);
    assert_true(fabs(value_of(p, got, "lambda") + 9.81 * cos(0.5) * cos(0.5)) < 1e-7);
    free(got);
    dae_problem_free(p);
}

/* A constraint that moves: a mass held at x = sin(t) by lambda, m x'' = -lambda. */
static void moving_constraint(void **state)
{
    (void)state;
    dae_problem *p = problem_of(
        "model Held\n  parameter Real m = 3;\n  Real x(start = 0), v, lambda;\nequation\n"
        "  der(x) = v;\n  x = sin(time);\n"
        "  annotation(__Daedal(coordinates = x, kinetic = m/2*v^2, multipliers = lambda));\n"
        "end Held;\n");
    double *got = values_at(p, 1.0, "auto");
    assert_true(fabs(value_of(p, got, "lambda") - 3.0 * sin(1.0)) < 1e-8);
    free(got);
    dae_problem_free(p);
}

/* Errors of a run name the equation that was made. */
static void names_of_equations(void **state)
{
    (void)state;
    dae_problem *p = problem_of(energies[0]);
    bool found = false;
    for (int i = 0; i < dae_problem_size(p); i++) {
        const char *name = dae_problem_equation_name(p, i);
        found =
            found || strcmp(name, "equation of motion of b, from the energies (test.mo:8)") == 0;
    }
    assert_true(found);
    dae_problem_free(p);
}

/* ---- from C ---- */

static const char *const xy[] = {"x", "y"};
static const char *const rod[] = {"x^2 + y^2 - l^2"};
static const dae_setting data[] = {{"m", 2.0}, {"l", 1.0}, {"g", 1.0}};
static const dae_setting right[] = {{"x", 1.0}};

static dae_lagrangian pendulum(void)
{
    return (dae_lagrangian){.n = 2,
                            .coordinates = xy,
                            .kinetic = "m/2*(v_x^2 + v_y^2)",
                            .potential = "m*g*y",
                            .constraint_count = 1,
                            .constraints = rod,
                            .parameters = data,
                            .parameter_count = 3,
                            .starts = right,
                            .start_count = 1,
                            .engine = DAE_ENGINE_TAPE};
}

/* The pendulum from (1, 0) at rest at t = 10, by Jacobi's functions; lambda of [Wun05 (1.10)] is
 * m/2 times that of x'' = -x lambda. */
static void pendulum_in_c(void **state)
{
    (void)state;
    static const double expected[] = {-0.81158645, -0.58423235, -0.63152915, 0.8772888, 1.752697};
    dae_lagrangian d = pendulum();
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_lagrangian(&d, &p, &diag), DAE_OK);
    assert_int_equal(dae_problem_variable_count(p), 5);
    double *got = values_at(p, 10.0, "auto");
    for (int i = 0; i < 5; i++) assert_true(fabs(got[i] - expected[i]) < 1e-6);
    assert_string_equal(dae_problem_variable(p, 2), "v_x");
    assert_string_equal(dae_problem_variable(p, 4), "lambda1");
    free(got);
    dae_problem_free(p);
}

static void names_in_c(void **state)
{
    (void)state;
    static const char *const speeds[] = {"u"}, *const force[] = {"-d*u\n"}, *const q[] = {"x"};
    static const dae_setting values[] = {{"d", 0.5}}, start[] = {{"u", 1.0}};
    dae_lagrangian d = {.n = 1,
                        .coordinates = q,
                        .velocities = speeds,
                        .lagrangian = "u^2/2",
                        .forces = force,
                        .parameters = values,
                        .parameter_count = 1,
                        .starts = start,
                        .start_count = 1,
                        .engine = DAE_ENGINE_TAPE};
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_lagrangian(&d, &p, &diag), DAE_OK);
    double *got = values_at(p, 2.0, "auto");
    assert_true(fabs(value_of(p, got, "u") - exp(-1.0)) < 1e-8);
    assert_true(fabs(value_of(p, got, "x") - 2.0 * (1.0 - exp(-1.0))) < 1e-8);
    free(got);
    dae_problem_free(p);
}

/* The bead of [Wun05 (1.18)], closed form: models/seeds/complex_energies.mo. */
static void all_of_it_in_c(void **state)
{
    (void)state;
    static const char *const q[] = {"x", "y"}, *const contact[] = {"s"};
    static const char *const fixed[] = {"s", "v_x", "r"}, *const others[] = {"r", "w"},
                             *const names[] = {"nu", "lambda"};
    static const char *const forces[] = {"-k*r*cos(s/2)", "-k*r*sin(s/2)"};
    static const char *const equations[] = {"tau*der(r) = w - r",
                                            "w = v_x*cos(s/2) + v_y*sin(s/2)"};
    static const char *const constraints[] = {
        "(x - R*(s + sin(s)))*cos(s/2) + (y - R*(1 - cos(s)))*sin(s/2)",
        "(y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2)"};
    static const dae_setting values[] = {
        {"m", 2.0}, {"g", 9.81}, {"R", 0.5}, {"k", 1.5}, {"tau", 0.3}};
    const dae_setting starts[] = {{"x", 0.5 * (1.0 + sin(1.0))},
                                  {"y", 0.5 * (1.0 - cos(1.0))},
                                  {"s", 1.0},
                                  {"lambda", -20.0}};
    dae_lagrangian d = {.n = 2,
                        .coordinates = q,
                        .kinetic = "m/2*(v_x^2 + v_y^2)",
                        .potential = "m*g*y",
                        .forces = forces,
                        .constraint_count = 2,
                        .constraints = constraints,
                        .multipliers = names,
                        .parameters = values,
                        .parameter_count = 5,
                        .starts = starts,
                        .start_count = 4,
                        .engine = DAE_ENGINE_TAPE,
                        .massless_count = 1,
                        .massless = contact,
                        .variable_count = 2,
                        .variables = others,
                        .equation_count = 2,
                        .equations = equations,
                        .fixed_count = 3,
                        .fixed = fixed};
    dae_problem *p = NULL;
    dae_diag diag;
    dae_status status = dae_problem_from_lagrangian(&d, &p, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    double *got = values_at(p, 5.0, "auto");
    assert_true(fabs(value_of(p, got, "s") - 0.168964448528656515) < 1e-7);
    assert_true(fabs(value_of(p, got, "r") - 0.455044591881951342) < 1e-7);
    assert_true(fabs(value_of(p, got, "lambda") + 19.6548140257718774) < 1e-5);
    free(got);
    dae_problem_free(p);
}

/* Line ends of the caller stay: a comment takes nothing along that stands behind them. */
static void lines_in_c(void **state)
{
    (void)state;
    static const char *const q[] = {"x"}, *const lag[] = {"r"};
    static const char *const equations[] = {"der(r) = 2 // rate\r\n *(x - r)"};
    static const dae_setting start[] = {{"x", 1.0}};
    dae_lagrangian d = {.n = 1,
                        .coordinates = q,
                        .kinetic = "v_x^2 // twice\n /2",
                        .potential = "x^2/2 // a spring\r + 3/2*x^2",
                        .starts = start,
                        .start_count = 1,
                        .engine = DAE_ENGINE_TAPE,
                        .variable_count = 1,
                        .variables = lag,
                        .equation_count = 1,
                        .equations = equations};
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_lagrangian(&d, &p, &diag), DAE_OK);
    double *got = values_at(p, 1.0, "auto"); /* x'' = -4 x, r' = 2 (x - r) */
    assert_true(fabs(value_of(p, got, "x") - cos(2.0)) < 1e-8);
    assert_true(fabs(value_of(p, got, "r") - 0.5 * (cos(2.0) + sin(2.0) - exp(-2.0))) < 1e-8);
    free(got);
    dae_problem_free(p);
}

static void expect_refusal(const dae_lagrangian *d, dae_status status, const char *words)
{
    dae_problem *p = NULL;
    dae_diag diag;
    assert_int_equal(dae_problem_from_lagrangian(d, &p, &diag), status);
    assert_null(p);
    if (!strstr(diag.text, words)) print_error("%s\nlacks %s\n", diag.text, words);
    assert_non_null(strstr(diag.text, words));
}

/* The diagnostic begins with the field, and names the culprit. */
static void refusals_in_c(void **state)
{
    (void)state;
    static const char *const same[] = {"x", "x"}, *const bad[] = {"x", "1y"};
    static const char *const other[] = {"x^2 + z"}, *const nothing[] = {NULL};
    static const char *const open[] = {"0", "(x"};
    static const char *const pair[] = {"0", "1, 2"};
    static const dae_setting again[] = {{"x", 1.0}, {"x", 2.0}};
    static const dae_setting stray[] = {{"z", 1.0}}, infinite[] = {{"m", INFINITY}};
#define CASE(STATUS, WORDS, ...)                                                                   \
    do {                                                                                           \
        dae_lagrangian d = pendulum();                                                             \
        __VA_ARGS__;                                                                               \
        expect_refusal(&d, STATUS, WORDS);                                                         \
    } while (0)
    CASE(DAE_ERR_ARGUMENT, "coordinates", d.n = 0);
    CASE(DAE_ERR_ARGUMENT, "starts[1]: x has a start", d.starts = again, d.start_count = 2);
    CASE(DAE_ERR_MODEL, "potential: expected", d.potential = "m*g*y, dissipation = v_x^2");
    CASE(DAE_ERR_MODEL, "forces[1]: ", d.forces = pair);
    CASE(DAE_ERR_MODEL, "potential: 'z' is not declared", d.potential = "m*g*y\n\n + z");
    CASE(DAE_ERR_ARGUMENT, "coordinates[1]: 1y", d.coordinates = bad);
    CASE(DAE_ERR_MODEL, "coordinates[1]: 'x' is declared twice", d.coordinates = same);
    CASE(DAE_ERR_MODEL, "kinetic: 'v_z' is not declared", d.kinetic = "v_x^2 + v_z^2");
    CASE(DAE_ERR_ARGUMENT, "kinetic: a bracket is not closed", d.kinetic = "m*(v_x^2");
    CASE(DAE_ERR_ARGUMENT, "potential: a bracket closes", d.potential = "m*g*y)");
    CASE(DAE_ERR_MODEL, "coordinates[1]: the Lagrangian has no kinetic energy in 'y'",
         d.kinetic = "v_x^2");
    CASE(DAE_ERR_MODEL, "potential: the potential energy contains the second derivative of 'x'",
         d.potential = "der(v_x)");
    CASE(DAE_ERR_ARGUMENT, "lagrangian: it is given beside", d.lagrangian = "v_x^2");
    CASE(DAE_ERR_ARGUMENT, "lagrangian: neither", d.kinetic = d.potential = NULL);
    CASE(DAE_ERR_MODEL, "constraints[0]: 'z' is not declared", d.constraints = other);
    CASE(DAE_ERR_ARGUMENT, "constraints[0]: it is NULL", d.constraints = nothing);
    CASE(DAE_ERR_ARGUMENT, "forces[1]: a bracket", d.forces = open);
    CASE(DAE_ERR_ARGUMENT, "starts[0]: z is none of the variables", d.starts = stray);
    CASE(DAE_ERR_ARGUMENT, "equations: their number", d.equation_count = 2);
    CASE(DAE_ERR_MODEL, "equations[0]: expected", d.equation_count = 1; d.equations = xy);
    CASE(DAE_ERR_ARGUMENT, "fixed[0]: z is none", d.fixed_count = 1; d.fixed = &stray[0].name);
    CASE(DAE_ERR_ARGUMENT, "massless[1]: 1y", d.massless_count = 2; d.massless = bad);
    CASE(DAE_ERR_ARGUMENT, "parameters[0]", d.parameters = infinite; d.parameter_count = 1);
    CASE(DAE_ERR_ARGUMENT, "parameters: 2 of them", d.parameters = NULL; d.parameter_count = 2);
#undef CASE
}

/* ---- the flat text ---- */

/* Events, Booleans, Integers, samples, noEvent, initial equations, quoted names, asserts. */
static const char *const hybrid =
    "model Hybrid\n  type Mode = enumeration(slow, fast);\n"
    "  parameter Integer n = 2;\n  parameter Boolean fast = true;\n"
    "  parameter Mode mode = Mode.fast;\n  parameter Real k[n] = {1.5, 0.5};\n"
    "  Real x[n](start = {1, 2}, each fixed = true), y(start = 0.3), z, 'a b';\n"
    "  discrete Real held(start = 0, fixed = true);\n"
    "  Integer count(start = 0, fixed = true), whole;\n  Boolean high;\n"
    "initial equation\n  der(y) = 0;\nequation\n"
    "  for i in 1:n loop\n    der(x[i]) = -k[i]*x[i] + (if high then 0.2 else 0.0);\n  end for;\n"
    "  der(der(y)) = -y + noEvent(if y > 0.1 then 0.1 else y);\n"
    "  z = (if x[1] > 0.5 and fast then sin(time) else -x[2]^3) + max(y, 0)*held;\n"
    "  'a b' = z + whole + (if mode == Mode.fast then 1 else 0);\n"
    "  high = x[2] > 1 or time < 0.25;\n  whole = integer(3*x[1]);\n"
    "  when {initial(), sample(0.3, 0.4)} then\n    held = x[1];\n    count = pre(count) + 1;\n"
    "  elsewhen x[2] < 0.9 then\n    held = 2*pre(held);\n    count = pre(count) + 10;\n"
    "    reinit(x[1], x[1] + 0.25);\n  end when;\n"
    "  assert(x[1] < 100, \"x is \" + String(x[1]) + \", too large\");\n"
    "end Hybrid;\n";

static long events_until(const dae_problem *p, double t)
{
    dae_solver *s = NULL;
    assert_int_equal(dae_solver_new(p, NULL, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, t, NULL, NULL), DAE_OK);
    long events = dae_solver_stats(s)->events;
    dae_solver_free(s);
    return events;
}

static void same_when_read_back(const char *text, double t)
{
    dae_problem *p = problem_of(text);
    dae_diag diag;
    char *written = dae_problem_emit_modelica(p, &diag);
    if (!written) print_error("%s\n", diag.text);
    assert_non_null(written);
    dae_problem *again = problem_of(written);
    char *twice = dae_problem_emit_modelica(again, &diag);
    assert_non_null(twice);
    dae_problem_free(problem_of(twice));
    assert_true(events_until(p, t) == events_until(again, t));
    double *expected = values_at(p, t, "auto"), *got = values_at(again, t, "auto");
    for (int i = 0; i < dae_problem_variable_count(p); i++) {
        double x = value_of(again, got, dae_problem_variable(p, i));
        assert_true(fabs(x - expected[i]) <= 1e-8 * fmax(1.0, fabs(expected[i])));
    }
    free(expected);
    free(got);
    dae_text_free(written);
    dae_text_free(twice);
    dae_problem_free(p);
    dae_problem_free(again);
}

/* Inputs with and without a value, Integers of 16 digits. */
static const char inputs[] =
    "model Inputs\n  input Real u = sin(time);\n  input Real w(start = 0.25);\n"
    "  parameter Integer n = 1000000000000000;\n  Integer k(start = 2000000000000000);\n"
    "  Real x(start = 1, fixed = true), v(start = 0, fixed = true);\n"
    "equation\n  der(x) = v;\n"
    "  when time > 0.5 then\n    k = pre(k) + 1000000000000001 + n;\n  end when;\n"
    "  annotation(__Daedal(coordinates = {x}, kinetic = (v + u)^2/2, potential = w*x*k/n));\n"
    "end Inputs;\n";

/* Equality at a limit, and conditions with and without an event. */
static const char relations[] =
    "model Relations\n  Real z(start = 0, fixed = true), x(start = 0, fixed = true), y, s;\n"
    "  Boolean at, below;\n"
    "equation\n  der(z) = 0;\n  der(x) = 1;\n  at = z <= 0;\n  below = z < 0;\n"
    "  y = if noEvent(x > 0.4) then 1 else 2;\n  s = if x > 0.7 then 3 else noEvent(sign(x));\n"
    "end Relations;\n";

/* (1 + 1e16) - 1e16 is not 1, and 1e200*1e200 no number. */
static const char roundings[] =
    "model Roundings\n  parameter Real b = 1e16, c = 1e200;\n"
    "  Real x(start = 1, fixed = true), y, z;\n"
    "equation\n  der(x) = -x;\n  y = x + (b*x - b*x);\n  z = c*((c*x)/(c*c^0.5));\n"
    "end Roundings;\n";

static void flat_texts(void **state)
{
    (void)state;
    same_when_read_back(inputs, 1.0);
    same_when_read_back(relations, 1.0);
    same_when_read_back(roundings, 1.0);
    same_when_read_back(hybrid, 2.0);
    same_when_read_back(by_hand, 1.0);
    for (size_t k = 0; k < sizeof energies / sizeof energies[0]; k++)
        same_when_read_back(energies[k], 1.0);
}

/* Values that were set are those of the text. */
static void flat_text_of_settings(void **state)
{
    (void)state;
    dae_problem *p = problem_of(energies[0]);
    dae_diag diag;
    assert_int_equal(dae_problem_set_parameter(p, "l1", 0.375, &diag), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "a", 0.625, &diag), DAE_OK);
    char *text = dae_problem_emit_modelica(p, &diag);
    assert_non_null(strstr(text, "parameter Real l1 = 0.375;"));
    assert_non_null(strstr(text, "Real a(start = 0.625, fixed = true);"));
    assert_non_null(strstr(text, "\"equation of motion of a, from the energies (test.mo:8)\""));
    dae_text_free(text);
    dae_problem_free(p);
}

/* String(..) keeps its options. */
static void flat_text_of_messages(void **state)
{
    (void)state;
    dae_problem *p = problem_of(
        "model M\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -x;\n"
        "  assert(x < 2, String(x, significantDigits = 3) + String(x, format = \"8.3f\") +\n"
        "    String(x, minimumLength = 9, leftJustified = false));\nend M;\n");
    dae_diag diag;
    char *text = dae_problem_emit_modelica(p, &diag);
    assert_non_null(strstr(text, "String(x, significantDigits = 3)"));
    assert_non_null(strstr(text, "String(x, format = \"8.3f\")"));
    assert_non_null(strstr(text, "String(x, minimumLength = 9, leftJustified = false)"));
    dae_problem_free(problem_of(text));
    dae_text_free(text);
    dae_problem_free(p);
}

/* sin(sin(.. x)): as deep as the language reads, and deeper. */
static dae_problem *nested_sines(int depth)
{
    char text[400];
    snprintf(text, sizeof text,
             "model Deep\n  function f\n    input Real x;\n    output Real y;\n  algorithm\n"
             "    y := x;\n    for i in 1:%d loop\n      y := sin(y);\n    end for;\n  end f;\n"
             "  Real x(start = 1, fixed = true);\nequation\n  der(x) = f(x);\nend Deep;\n",
             depth);
    return problem_of(text);
}

static void flat_text_of_depth(int depth, const char *refusal)
{
    dae_problem *p = nested_sines(depth);
    dae_diag diag;
    char *text = dae_problem_emit_modelica(p, &diag);
    assert_int_equal(text != NULL, refusal == NULL);
    if (text) dae_problem_free(problem_of(text));
    if (refusal) assert_non_null(strstr(diag.text, refusal));
    dae_text_free(text);
    dae_problem_free(p);
}

static void flat_text_refused(void **state)
{
    (void)state;
    dae_diag diag;
    assert_null(dae_problem_emit_modelica(NULL, &diag));
    assert_int_equal(diag.status, DAE_ERR_ARGUMENT);
    dae_problem *p = problem_of(
        "model L\n  function f\n    input Real x;\n    output Real y;\n  algorithm\n    y := x;\n"
        "    while y > 1 loop\n      y := y/2;\n    end while;\n  end f;\n"
        "  Real x(start = 9, fixed = true);\nequation\n  der(x) = -f(x);\nend L;\n");
    assert_null(dae_problem_emit_modelica(p, &diag));
    assert_int_equal(diag.status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "line 13 has a loop"));
    dae_problem_free(p);
    p = problem_of("model C\n  Real x[1](each start = 1), 'x[1]'(start = 1);\nequation\n"
                   "  der(x[1]) = -x[1];\n  der('x[1]') = 'x[1]';\nend C;\n");
    assert_null(dae_problem_emit_modelica(p, &diag));
    assert_int_equal(diag.status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "would have the name 'x[1]'"));
    dae_problem_free(p);
    flat_text_of_depth(240, NULL);
    flat_text_of_depth(400, "line 13 has an expression nested too deeply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_pendulum),
        cmocka_unit_test(moving_frame),
        cmocka_unit_test(moving_constraint),
        cmocka_unit_test(growing_mass),
        cmocka_unit_test(knife_edge),
        cmocka_unit_test(constraint_in_lagrangian),
        cmocka_unit_test(names_of_equations),
        cmocka_unit_test(pendulum_in_c),
        cmocka_unit_test(names_in_c),
        cmocka_unit_test(all_of_it_in_c),
        cmocka_unit_test(refusals_in_c),
        cmocka_unit_test(flat_texts),
        cmocka_unit_test(flat_text_of_settings),
        cmocka_unit_test(flat_text_refused),
        cmocka_unit_test(lines_in_c),
        cmocka_unit_test(flat_text_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
