/* Gradients by the adjoint behind events: against closed forms, and against sensitivities. */
#include "model_run.h"

enum { MOST_BY = 4 };

/* All of this holds for each kind of adjoint: this is the one at hand. */
static const dae_adjoint_request *kind;
static const dae_adjoint_request kinds[] = {
    {.kind = DAE_ADJOINT_DISCRETE},
    {.kind = DAE_ADJOINT_CONTINUOUS},
    {.kind = DAE_ADJOINT_CONTINUOUS, .unchecked = 1},
};

/* What both ways may differ by: rounding, or 100 tolerances of 1e-7 where steps are not the same.
 */
static double apart(double rounding)
{
    return kind->kind == DAE_ADJOINT_DISCRETE ? rounding : 1e-5;
}

typedef struct gradient_case {
    const char *text, *of;
    double times[4]; /* of points, the last is the end; ends with 0 */
    const char *by[MOST_BY];
    const char *method;
} gradient_case;

static int count_names(const char *const *by)
{
    int count = 0;
    while (count < MOST_BY && by[count]) count++;
    return count;
}

static void expect_done(run *r, dae_status status, const char *what)
{
    if (status != DAE_OK) print_error("%s: %s\n", what, diag_of(r)->text);
    assert_int_equal(status, DAE_OK);
}

static void open_run(run *r, const gradient_case *c, double rtol)
{
    prepare(r, c->text);
    r->options.rtol = rtol;
    r->options.atol = 1e-3 * rtol;
    r->options.method = c->method;
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
}

static void weigh(const run *r, const char *name, double *weights)
{
    memset(weights, 0, MOST_VALUES * sizeof *weights);
    weights[dae_problem_find_variable(r->problem, name)] = 1.0;
}

/* J = the sum over all points of c->of; or with `integral` the integral of that variable. */
static void go_back(const gradient_case *c, double rtol, int count, const char *const *by,
                    const char *integral, double memory, double *gradient, double *value)
{
    run r;
    dae_adjoint *adjoint = NULL;
    double weights[MOST_VALUES];
    open_run(&r, c, rtol);
    dae_adjoint_request request = *kind;
    request.count = count;
    request.names = by;
    request.functionals = 2;
    request.memory = memory;
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_OK);
    weigh(&r, integral ? integral : c->of, weights);
    if (integral) expect_done(&r, dae_adjoint_integral(adjoint, 1, weights), "integral");
    expect_done(&r, dae_solver_start(r.solver, 0.0, NULL, NULL), "start");
    for (int i = 0; i < 4 && c->times[i] > 0.0; i++) {
        expect_done(&r, dae_solver_run(r.solver, c->times[i], NULL, NULL), "run");
        if (i == 3 || !(c->times[i + 1] > 0.0))
            expect_done(&r, dae_solver_finish(r.solver), "finish");
        if (!integral) expect_done(&r, dae_adjoint_point(adjoint, 1, weights), "point");
    }
    expect_done(&r, dae_adjoint_gradient(adjoint, 1, gradient), "gradient");
    expect_done(&r, dae_adjoint_value(adjoint, 1, value), "value");
    dae_adjoint_free(adjoint);
    end(&r);
}

/* The same of points by sensitivities one by one. */
static double go_forward(const gradient_case *c, double rtol, const char *by)
{
    run r;
    dae_sensitivity *x = NULL;
    double slopes[MOST_VALUES], sum = 0.0;
    open_run(&r, c, rtol);
    dae_sensitivity_request request = {.count = 1, .names = &by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    expect_done(&r, dae_solver_start(r.solver, 0.0, NULL, NULL), "start");
    for (int i = 0; i < 4 && c->times[i] > 0.0; i++) {
        expect_done(&r, dae_solver_run(r.solver, c->times[i], NULL, NULL), "run");
        if (i == 3 || !(c->times[i + 1] > 0.0))
            expect_done(&r, dae_solver_finish(r.solver), "finish");
        expect_done(&r, dae_sensitivity_variables(x, c->times[i], 0, slopes), "variables");
        sum += slopes[dae_problem_find_variable(r.problem, c->of)];
    }
    dae_sensitivity_free(x);
    end(&r);
    return sum;
}

static void expect_close(const char *of, const char *by, double found, double asked,
                         double relative)
{
    if (fabs(found - asked) <= relative * fmax(fabs(asked), 1e-6)) return;
    print_error("%s by %s: %.15g, not %.15g\n", of, by, found, asked);
    fail();
}

/* A ball that falls from h and comes back with e times its speed. */
static const char *const ball =
    MODEL("  parameter Real h = 1;\n  parameter Real e = 0.8;\n  parameter Real g = 9.81;\n"
          "  Real x(start = h, fixed = true);\n  Real v(start = 0, fixed = true);\n"
          "  Real q(start = 0, fixed = true);\nequation\n  der(x) = v;\n  der(v) = -g;\n"
          "  der(q) = v^2;\n  when x < 0 then\n    reinit(v, -e*pre(v));\n  end when;");

/* With t1 = sqrt(2 h/g), s = T - t1: x(T) = e g t1 s - g s^2/2, and the integral of v^2, which
 * jumps at t1, is g^2 t1^3/3 + e^2 g^2 t1^2 s - e g^2 t1 s^2 + g^2 s^3/3. */
static void test_ball(void **state)
{
    (void)state;
    const gradient_case c = {ball, "x", {0.8}, {"h", "e", "g"}, "auto"};
    const double h = 1.0, e = 0.8, g = 9.81, T = 0.8, t1 = sqrt(2.0 * h / g), s = T - t1;
    const double dt[3] = {0.5 * t1 / h, 0.0, -0.5 * t1 / g}; /* of t1 */
    double gradient[3], x[3], q[3], value;
    for (int k = 0; k < 3; k++) {
        x[k] = (e * g * s - e * g * t1 + g * s) * dt[k];
        q[k] = (g * g * t1 * t1 + 2.0 * e * e * g * g * t1 * s - e * e * g * g * t1 * t1 -
                e * g * g * s * s + 2.0 * e * g * g * t1 * s - g * g * s * s) *
               dt[k];
    }
    x[1] += g * t1 * s;
    x[2] += e * t1 * s - 0.5 * s * s;
    q[1] += 2.0 * e * g * g * t1 * t1 * s - g * g * t1 * s * s;
    q[2] += 2.0 / g *
            (g * g * t1 * t1 * t1 / 3.0 + e * e * g * g * t1 * t1 * s - e * g * g * t1 * s * s +
             g * g * s * s * s / 3.0);
    for (double rtol = 1e-6; rtol > 1e-10; rtol *= 1e-3) {
        go_back(&c, rtol, 3, c.by, NULL, 0.0, gradient, &value);
        for (int k = 0; k < 3; k++) expect_close("x", c.by[k], gradient[k], x[k], 100.0 * rtol);
        assert_true(fabs(value - (e * g * t1 * s - 0.5 * g * s * s)) <= 100.0 * rtol);
    }
    gradient_case of_q = c;
    of_q.of = "q";
    go_back(&of_q, 1e-8, 3, c.by, NULL, 1.0 /* all in the file */, gradient, &value);
    for (int k = 0; k < 3; k++) expect_close("q", c.by[k], gradient[k], q[k], 1e-6);
}

/* Heated below one limit, cooled above another one; the power jumps, and q counts it. */
static const char *const thermostat =
    MODEL("  parameter Real low = 19;\n  parameter Real width = 2;\n  parameter Real a = 0.5;\n"
          "  parameter Real power = 10;\n  Real T(start = 15, fixed = true);\n"
          "  Boolean on(start = true, fixed = true);\n  Real P;\n"
          "  Real q(start = 0, fixed = true);\nequation\n"
          "  when T > low + width then\n    on = false;\n  elsewhen T < low then\n    on = true;\n"
          "  end when;\n  P = if on then power else 0;\n  der(T) = -a*(T - 8) + P;\n"
          "  der(q) = P;");

/* A source behind a diode charges a capacitor. */
static const char *const rectifier =
    MODEL("  parameter Real C = 0.2;\n  parameter Real R = 1.5;\n  parameter Real Ri = 0.1;\n"
          "  parameter Real w = 3;\n  Real u(start = 0, fixed = true);\n  Real i, v;\n"
          "  Real q(start = 0, fixed = true);\nequation\n  v = sin(w*time);\n"
          "  i = if v > u then (v - u)/Ri else 0;\n  C*der(u) = i - u/R;\n  der(q) = u;");

/* A clock whose start and interval move; discrete Reals that clauses compute from each other. */
static const char *const clock_text =
    MODEL("  parameter Real t0 = 0.2;\n  parameter Real dt = 0.3;\n  parameter Real k = 0.7;\n"
          "  Real y(start = 1, fixed = true);\n  discrete Real d(start = 0.5, fixed = true);\n"
          "  discrete Real m(start = 0, fixed = true);\n  Real q(start = 0, fixed = true);\n"
          "  Real z, a;\nequation\n  der(y) = -k*y + d;\n  z = d*y;\n  a = y*time;\n  der(q) = z;\n"
          "  when sample(t0, dt) then\n    d = 0.5*pre(d) + k*a;\n    m = pre(m) + d^2;\n"
          "    reinit(y, 0.9*pre(y) + 0.1*m);\n  end when;");

/* Time events whose time is a parameter. */
static const char *const switched =
    MODEL("  parameter Real ts = 0.53;\n  parameter Real k = 1.2;\n"
          "  Real x(start = 1, fixed = true);\n  Real z;\n  Real q(start = 0, fixed = true);\n"
          "equation\n  z = if time > ts then x^2 else 3*k;\n  der(x) = -k*x + z;\n  der(q) = z;");

/* Index 3, reinit of a velocity that is no state. */
static const char *const pendulum =
    MODEL("  parameter Real L = 1;\n  parameter Real e = 0.9;\n  parameter Real g = 9.81;\n"
          "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
          "  discrete Real speed(start = 0);\n  Real q(start = 0, fixed = true);\nequation\n"
          "  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n  der(vy) = -f*y - g;\n"
          "  x^2 + y^2 = L^2;\n  der(q) = f;\n  when x < L/2 then\n    speed = vy;\n"
          "    reinit(vy, -e*pre(vy));\n  end when;");

/* The same as a mechanism, at a place that does not move with its length. */
static const char *const swing =
    MODEL("  parameter Real L = 1;\n  parameter Real e = 0.9;\n  parameter Real c = 0.5;\n"
          "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
          "equation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n"
          "  der(vy) = -f*y - 9.81;\n  x^2 + y^2 = L^2;\n  when x < c then\n"
          "    reinit(vy, -e*pre(vy));\n  end when;");

/* reinit of a variable that is another one with a minus, and an event of the end. */
static const char *const mirrored =
    MODEL("  parameter Real h = 1;\n  parameter Real e = 0.8;\n"
          "  Real x(start = h, fixed = true);\n  Real v(start = 0, fixed = true);\n  Real w;\n"
          "  discrete Real last(start = 0, fixed = true);\nequation\n  der(x) = v;\n"
          "  der(v) = -9.81;\n  w = -v;\n  when x < 0 then\n    reinit(w, -e*pre(w));\n"
          "  end when;\n  when terminal() then\n    last = x*v;\n  end when;");

/* A constraint that does not show, and an event. */
static const char *const circuit =
    MODEL("  parameter Real C = 1;\n  parameter Real R = 2;\n  parameter Real G = 0.5;\n"
          "  Real u1(start = 1), u2(start = 0);\n  Real q(start = 0, fixed = true);\n"
          "initial equation\n  u1 - u2 = 1;\nequation\n"
          "  C*der(u1 - u2) = -u1/R + sin(3*time);\n"
          "  C*der(u2 - u1) = -G*u2^3 - (if u1 - u2 > 0.5 then u2 else u1 - 0.5);\n  der(q) = u1;");

static const gradient_case cases[] = {
    {ball, "v", {0.3, 0.8, 1.5}, {"h", "e", "g"}, "auto"},
    {ball, "x", {0.3, 0.8, 1.5}, {"h", "e", "x"}, "bdf"},
    {thermostat, "T", {1.0, 3.0, 5.0}, {"low", "width", "a", "power"}, "auto"},
    {rectifier, "u", {1.0, 4.0}, {"C", "R", "Ri", "w"}, "auto"},
    {rectifier, "i", {2.3, 4.4}, {"C", "R", "Ri", "w"}, "radau"},
    {clock_text, "y", {0.35, 0.8, 1.3}, {"t0", "dt", "k"}, "auto"},
    {clock_text, "m", {0.35, 0.5, 1.3}, {"t0", "dt", "k"}, "auto"},
    {switched, "x", {0.3, 1.0}, {"ts", "k"}, "auto"},
    {pendulum, "f", {0.4, 0.9}, {"L", "e", "g"}, "auto"},
    {pendulum, "speed", {0.4, 0.9}, {"L", "e", "g"}, "radau"},
    {swing, "vx", {0.4, 0.9}, {"L", "e", "c"}, "prk"},
    {swing, "f", {0.4, 0.9}, {"L", "e", "c"}, "hem"},
    {mirrored, "x", {0.3, 0.8}, {"h", "e"}, "auto"},
    {mirrored, "last", {0.3, 0.8}, {"h", "e"}, "auto"},
    {circuit, "u1", {0.5, 2.0}, {"C", "R", "G"}, "auto"},
};

/* By one parameter the steps are those of sensitivities, and both agree to rounding. */
static void test_forward_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gradient_case *c = &cases[i];
        const int count = count_names(c->by);
        double together[MOST_BY], value;
        go_back(c, 1e-7, count, c->by, NULL, 0.0, together, &value);
        for (int k = 0; k < count; k++) {
            double alone, forward = go_forward(c, 1e-7, c->by[k]);
            go_back(c, 1e-7, 1, &c->by[k], NULL, 0.0, &alone, &value);
            expect_close(c->of, c->by[k], alone, forward, apart(1e-10));
            expect_close(c->of, c->by[k], together[k], forward, 1e-5);
        }
    }
}

/* The integral of z by the adjoint is what sensitivities of q' = z give at the end, also where z
 * jumps at a time that moves. */
static void test_integrals(void **state)
{
    (void)state;
    static const struct {
        gradient_case c;
        const char *z;
        double close; /* q' of an event is that of the interpolation, z is not */
    } list[] = {{{thermostat, "q", {5.0}, {"low", "width", "a", "power"}, "auto"}, "P", 1e-10},
                {{rectifier, "q", {4.0}, {"C", "R", "Ri", "w"}, "auto"}, "u", 1e-6},
                {{clock_text, "q", {1.3}, {"t0", "dt", "k"}, "auto"}, "z", 1e-10},
                {{switched, "q", {1.0}, {"ts", "k"}, "auto"}, "z", 1e-10},
                {{pendulum, "q", {0.9}, {"L", "e", "g"}, "auto"}, "f", 1e-10}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const gradient_case *c = &list[i].c;
        const int count = count_names(c->by);
        double value, together[MOST_BY];
        go_back(c, 1e-7, count, c->by, list[i].z, 0.0, together, &value);
        for (int k = 0; k < count; k++) {
            double alone, forward = go_forward(c, 1e-7, c->by[k]);
            go_back(c, 1e-7, 1, &c->by[k], list[i].z, 0.0, &alone, &value);
            expect_close(list[i].z, c->by[k], alone, forward, apart(list[i].close));
            expect_close(list[i].z, c->by[k], together[k], forward, 1e-5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ball),
                                       cmocka_unit_test(test_forward_and_back),
                                       cmocka_unit_test(test_integrals)};
    int failed = 0;
    for (kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++)
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
