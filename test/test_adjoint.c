/* Gradients by the adjoint: against closed forms, and against sensitivities one by one. */
#include "model_run.h"

enum { MOST_BY = 8 };

#define ROD_TIME 2.0 /* of test_stages_of_the_run */

/* All of this holds for each kind of adjoint: this is the one at hand. */
static const dae_adjoint_request *kind;
static const dae_adjoint_request kinds[] = {
    {.kind = DAE_ADJOINT_DISCRETE},
    {.kind = DAE_ADJOINT_CONTINUOUS},
    {.kind = DAE_ADJOINT_CONTINUOUS, .unchecked = 1},
};

typedef struct gradient_run {
    run r;
    dae_adjoint *adjoint;
    int count;
    double weights[MOST_VALUES], gradient[MOST_BY];
} gradient_run;

static void open_adjoint_by(gradient_run *g, const char *text, const char *method, double longest,
                            double rtol, int functionals, int count, const char *const *by,
                            double memory)
{
    memset(g, 0, sizeof *g);
    prepare(&g->r, text);
    g->r.options.method = method;
    g->r.options.max_step = longest;
    if (longest > 0.0) g->r.options.stop_time = ROD_TIME;
    g->r.options.rtol = rtol;
    g->r.options.atol = 1e-3 * rtol;
    g->count = count;
    assert_int_equal(dae_solver_new(g->r.problem, &g->r.options, &g->r.solver, &g->r.diag), DAE_OK);
    dae_adjoint_request request = *kind;
    request.count = count;
    request.names = by;
    request.functionals = functionals;
    request.memory = memory;
    dae_status status = dae_adjoint_new(g->r.solver, &request, &g->adjoint, &g->r.diag);
    if (status != DAE_OK) print_error("%s\n", g->r.diag.text);
    assert_int_equal(status, DAE_OK);
}

static void open_adjoint(gradient_run *g, const char *text, double rtol, int functionals, int count,
                         const char *const *by, double memory)
{
    open_adjoint_by(g, text, "auto", 0.0, rtol, functionals, count, by, memory);
}

static void close_adjoint(gradient_run *g)
{
    dae_adjoint_free(g->adjoint);
    end(&g->r);
}

/* Weight 1 for one variable. */
static const double *only(gradient_run *g, const char *name)
{
    memset(g->weights, 0, sizeof g->weights);
    g->weights[dae_problem_find_variable(g->r.problem, name)] = 1.0;
    return g->weights;
}

static void run_until(gradient_run *g, double t)
{
    if (!(dae_solver_time(g->r.solver) == dae_solver_time(g->r.solver)) ||
        dae_solver_stats(g->r.solver)->steps == 0)
        assert_int_equal(dae_solver_start(g->r.solver, 0.0, NULL, NULL), DAE_OK);
    dae_status status = dae_solver_run(g->r.solver, t, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(g->r.solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void expect_gradient(gradient_run *g, int m, const double *exact, double tolerance)
{
    dae_status status = dae_adjoint_gradient(g->adjoint, m, g->gradient);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(g->r.solver)->text);
    assert_int_equal(status, DAE_OK);
    for (int k = 0; k < g->count; k++) {
        if (fabs(g->gradient[k] - exact[k]) <= tolerance * fmax(fabs(exact[k]), 1e-3)) continue;
        print_error("functional %d by %d: %.12g, not %.12g\n", m, k, g->gradient[k], exact[k]);
        fail();
    }
}

/* x = x0 exp(-k t); z = c x with c = 3 k */
static const char *const decay =
    MODEL("  parameter Real k = 2;\n  parameter Real x0 = 3;\n  parameter Real c = 3*k;\n"
          "  Real x(start = x0, fixed = true);\n  Real z;\nequation\n  der(x) = -k*x;\n"
          "  z = c*x;");

/* The end, the integral and a sum over three points of z, and x at the end, in closed form. */
static void test_closed_forms(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "x0", "x"};
    static const double tolerances[] = {1e-6, 1e-9}, k = 2.0, x0 = 3.0, c = 6.0, T = 1.5;
    for (int i = 0; i < 2; i++) {
        gradient_run g;
        open_adjoint(&g, decay, tolerances[i], 4, 3, by, i == 0 ? 0.0 : 1.0 /* all in the file */);
        assert_int_equal(dae_adjoint_integral(g.adjoint, 1, only(&g, "z")), DAE_OK);
        double sum[3] = {0.0, 0.0, 0.0};
        for (int p = 1; p <= 3; p++) {
            double t = T * p / 3.0, e = exp(-k * t);
            run_until(&g, t);
            assert_int_equal(dae_adjoint_point(g.adjoint, 2, only(&g, "z")), DAE_OK);
            sum[0] += 3.0 * x0 * e - c * x0 * t * e;
            sum[1] += c * e;
        }
        sum[2] = sum[1];
        assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "z")), DAE_OK);
        assert_int_equal(dae_adjoint_point(g.adjoint, 3, only(&g, "x")), DAE_OK);
        double e = exp(-k * T);
        double at_end[3] = {3.0 * x0 * e - c * x0 * T * e, c * e, c * e};
        /* the integral of z is 3 x0 (1 - exp(-k T)) */
        double integral[3] = {3.0 * x0 * T * e, 3.0 * (1.0 - e), 3.0 * (1.0 - e)};
        double x_end[3] = {-x0 * T * e, e, e};
        expect_gradient(&g, 0, at_end, 100.0 * tolerances[i]);
        expect_gradient(&g, 1, integral, 100.0 * tolerances[i]);
        expect_gradient(&g, 2, sum, 100.0 * tolerances[i]);
        expect_gradient(&g, 3, x_end, 100.0 * tolerances[i]);
        double value;
        assert_int_equal(dae_adjoint_value(g.adjoint, 1, &value), DAE_OK);
        assert_true(fabs(value - 3.0 * x0 * (1.0 - e)) <= 100.0 * tolerances[i] * value);
        close_adjoint(&g);
    }
}

/* A gradient on the way leaves the one at the end as it is, with records in the file, too. */
static void test_gradient_on_the_way(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "x0"};
    double last[2];
    for (int way = 0; way < 4; way++) {
        gradient_run g;
        open_adjoint(&g, decay, 1e-7, 1, 2, by, way < 2 ? 0.0 : 1.0);
        assert_int_equal(dae_adjoint_integral(g.adjoint, 0, only(&g, "z")), DAE_OK);
        run_until(&g, 0.5);
        assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "z")), DAE_OK);
        if (way % 2) assert_int_equal(dae_adjoint_gradient(g.adjoint, 0, g.gradient), DAE_OK);
        run_until(&g, 1.5);
        assert_int_equal(dae_adjoint_gradient(g.adjoint, 0, g.gradient), DAE_OK);
        for (int k = 0; k < 2; k++) {
            if (way > 0) assert_true(g.gradient[k] == last[k]);
            last[k] = g.gradient[k];
        }
        close_adjoint(&g);
    }
}

/* A sum that is conserved moves with nothing; what it is the sum of does. */
static void test_gradient_of_zero(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "q"};
    static const double nothing[2] = {0.0, 0.0};
    gradient_run g;
    open_adjoint(&g,
                 MODEL("  parameter Real k = 1;\n  parameter Real q = 0.3;\n"
                       "  Real a(start = 1, fixed = true), b(start = 0, fixed = true), m;\n"
                       "equation\n  der(a) = -k*a + q*b^2;\n  der(b) = k*a - q*b^2;\n"
                       "  m = a + b;"),
                 1e-6, 2, 2, by, 0.0);
    assert_int_equal(dae_adjoint_integral(g.adjoint, 1, only(&g, "m")), DAE_OK);
    run_until(&g, 3.0);
    assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "m")), DAE_OK);
    expect_gradient(&g, 0, nothing, 1e-9); /* 1e-12 */
    expect_gradient(&g, 1, nothing, 1e-9);
    close_adjoint(&g);
}

/* Robertson's equations at t = 1e11, where y1 = k2^2/(k3 k1^2 t) and y2 = k1 y1/k2: rounding of all
 * steps is above 1e-7 of the gradient, and far below the tolerance. */
static void test_gradient_of_robertson(void **state)
{
    (void)state;
    static const char *const by[] = {"k1", "k2", "k3"};
    static const double t = 1e11, k1 = 0.04, k2 = 1e4, k3 = 3e7;
    gradient_run g;
    open_adjoint(&g,
                 MODEL("  parameter Real k1 = 0.04;\n  parameter Real k2 = 1e4;\n"
                       "  parameter Real k3 = 3e7;\n"
                       "  Real y1(start = 1, fixed = true, nominal = 1e-5);\n"
                       "  Real y2(start = 0, fixed = true, nominal = 1e-9);\n"
                       "  Real y3(start = 0);\nequation\n"
                       "  der(y1) = -k1*y1 + k2*y2*y3;\n"
                       "  der(y2) = k1*y1 - k2*y2*y3 - k3*y2^2;\n  y1 + y2 + y3 = 1;"),
                 1e-7, 2, 3, by, 0.0);
    run_until(&g, t);
    assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "y1")), DAE_OK);
    assert_int_equal(dae_adjoint_point(g.adjoint, 1, only(&g, "y2")), DAE_OK);
    const double y1 = k2 * k2 / (k3 * k1 * k1 * t), y2 = k1 * y1 / k2;
    const double exact[2][3] = {{-2.0 * y1 / k1, 2.0 * y1 / k2, -y1 / k3},
                                {-y2 / k1, y2 / k2, -y2 / k3}};
    for (int m = 0; m < 2; m++) {
        dae_status status = dae_adjoint_gradient(g.adjoint, m, g.gradient);
        if (status != DAE_OK) print_error("%s\n", dae_solver_diag(g.r.solver)->text);
        assert_int_equal(status, DAE_OK);
        for (int k = 0; k < 3; k++)
            assert_true(fabs(g.gradient[k] - exact[m][k]) <= 1e-3 * fabs(exact[m][k]));
    }
    close_adjoint(&g);
}

/* J = integral of x (1 + sin 6 t), x = exp(-k t): the run does not see the waves, the integral
 * must. With a = 6: integral of exp(-k t) sin(a t) = (a - exp(-k T) (k sin(a T) + a cos(a T)))/(k^2
 * + a^2).
 */
static double waves(double k)
{
    const double T = 10.0, a = 6.0, e = exp(-k * T);
    return (1.0 - e) / k + (a - e * (k * sin(a * T) + a * cos(a * T))) / (k * k + a * a);
}

static void expect_integral(const char *text, double rtol, const char *const *by, double tend,
                            double J, const double *dJ)
{
    gradient_run g;
    double value;
    open_adjoint(&g, text, rtol, 1, 2, by, 0.0);
    assert_int_equal(dae_adjoint_integral(g.adjoint, 0, only(&g, "y")), DAE_OK);
    run_until(&g, tend);
    expect_gradient(&g, 0, dJ, 100.0 * rtol);
    assert_int_equal(dae_adjoint_value(g.adjoint, 0, &value), DAE_OK);
    if (fabs(value - J) > 100.0 * rtol * fabs(J)) {
        print_error("integral %.12g, not %.12g\n", value, J);
        fail();
    }
    close_adjoint(&g);
}

static void test_integrals_are_judged(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "b"}, *const threshold[] = {"k", "c"};
    static const double k = 0.1, c = 0.4, T = 10.0;
    const double slope[2] = {
        (waves(k - 2e-3) - 8.0 * waves(k - 1e-3) + 8.0 * waves(k + 1e-3) - waves(k + 2e-3)) / 12e-3,
        waves(k)};
    const double te = -log(c) / k, e = exp(-k * T); /* |x - c| has a kink at te, x = c */
    const double bend[2] = {-(1.0 - 2.0 * c * (1.0 + k * te) + e * (1.0 + k * T)) / (k * k),
                            T - 2.0 * te};
    const double kinked = (1.0 - 2.0 * c + e) / k + c * (T - 2.0 * te);
    for (double rtol = 1e-4; rtol > 1e-10; rtol *= 1e-3) {
        expect_integral(MODEL("  parameter Real k = 0.1;\n  parameter Real b = 1;\n"
                              "  Real x(start = 1, fixed = true), y;\nequation\n"
                              "  der(x) = -k*x;\n  y = b*x*(1 + sin(6*time));"),
                        rtol, by, T, waves(k), slope);
        expect_integral(MODEL("  parameter Real k = 0.1;\n  parameter Real c = 0.4;\n"
                              "  Real x(start = 1, fixed = true), y;\nequation\n"
                              "  der(x) = -k*x;\n  y = noEvent(abs(x - c));"),
                        rtol, threshold, T, kinked, bend);
    }
}

/* An integral over a jump that is no event moves with its time, which nothing gives; the value
 * behind it does not. */
static void test_jump_of_integrand(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "th"};
    static const double nothing[2] = {0.0, 0.0};
    for (int integral = 0; integral < 2; integral++) {
        gradient_run g;
        open_adjoint(&g,
                     MODEL("  parameter Real th = 0.4;\n  parameter Real k = 0.5;\n"
                           "  Real x(start = 1, fixed = true), y;\nequation\n  der(x) = -k*x;\n"
                           "  y = noEvent(if x > th then x*2 else -1);"),
                     1e-6, 1, 2, by, 0.0);
        if (integral) {
            assert_int_equal(dae_adjoint_integral(g.adjoint, 0, only(&g, "y")), DAE_OK);
            assert_int_equal(dae_solver_start(g.r.solver, 0.0, NULL, NULL), DAE_OK);
            assert_int_equal(dae_solver_run(g.r.solver, 5.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
            assert_non_null(strstr(dae_solver_diag(g.r.solver)->text, "1.8325"));
        } else {
            run_until(&g, 5.0);
            assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "y")), DAE_OK);
            expect_gradient(&g, 0, nothing, 1e-9);
        }
        close_adjoint(&g);
    }
}

/* The model ends the run at x = th, te = -ln(th)/k, and doubles x there (`twice`): values at the
 * end and integrals move with te. Records in memory, and in the file. */
static void test_end_that_moves(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "th"}, *const ends[] = {"x", "w", "z"};
    static const double k = 0.7, th = 0.3;
    for (int way = 0; way < 4; way++) {
        const double twice = way % 2 ? 2.0 : 1.0, a = twice * th;
        const double te[2] = {log(th) / (k * k), -1.0 / (k * th)};
        const double exact[4][2] = {{0.0, twice},
                                    {-a, -k * twice},
                                    {te[0], te[1] + 2.0 * a * twice},
                                    {-(1.0 - th) / (k * k), -1.0 / k}};
        gradient_run g;
        open_adjoint(&g,
                     way % 2 ? MODEL("  parameter Real k = 0.7;\n  parameter Real th = 0.3;\n"
                                     "  Real x(start = 1, fixed = true), w, z;\nequation\n"
                                     "  der(x) = -k*x;\n  w = der(x);\n  z = x^2 + time;\n"
                                     "  when x < th then\n    reinit(x, 2*x);\n"
                                     "    terminate(\"low\");\n  end when;")
                             : MODEL("  parameter Real k = 0.7;\n  parameter Real th = 0.3;\n"
                                     "  Real x(start = 1, fixed = true), w, z;\nequation\n"
                                     "  der(x) = -k*x;\n  w = der(x);\n  z = x^2 + time;\n"
                                     "  when x < th then\n    terminate(\"low\");\n  end when;"),
                     1e-8, 4, 2, by, way < 2 ? 0.0 : 1.0);
        assert_int_equal(dae_adjoint_integral(g.adjoint, 3, only(&g, "x")), DAE_OK);
        assert_int_equal(dae_solver_start(g.r.solver, 0.0, NULL, NULL), DAE_OK);
        assert_true(dae_solver_run(g.r.solver, 10.0, NULL, NULL) >= 0);
        assert_true(fabs(dae_solver_time(g.r.solver) + log(th) / k) < 1e-6);
        for (int m = 0; m < 3; m++)
            assert_int_equal(dae_adjoint_point(g.adjoint, m, only(&g, ends[m])), DAE_OK);
        for (int m = 0; m < 4; m++) expect_gradient(&g, m, exact[m], 1e-6);
        close_adjoint(&g);
    }
}

/* Index 3: where hidden constraints are, and states that are chosen by numbers. */
static const char *const pendulum =
    MODEL("  parameter Real L = 1;\n  parameter Real g = 9.81;\n"
          "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
          "equation\n  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -f*x;\n  der(vy) = -f*y - g;\n"
          "  x^2 + y^2 = L^2;");

/* A constraint that does not show: C (u1' - u2') in two equations. */
static const char *const circuit =
    MODEL("  parameter Real C = 1;\n  parameter Real R = 2;\n  parameter Real G = 0.5;\n"
          "  Real u1(start = 1), u2(start = 0);\ninitial equation\n  u1 - u2 = 1;\nequation\n"
          "  C*der(u1 - u2) = -u1/R + sin(time);\n  C*der(u2 - u1) = -G*u2^3 - u2;");

/* One direction: the forward sensitivity is integrated with the same steps, and both agree to
 * rounding; where it iterates (`iterated`), to 1e-3 of the tolerance a step. The continuous adjoint
 * has steps of its own. */
static void expect_forward(const char *text, double tend, const char *name, const char *by,
                           double memory, bool iterated)
{
    gradient_run g;
    double slopes[MOST_VALUES];
    open_adjoint(&g, text, 1e-7, 1, 1, &by, memory);
    run_until(&g, tend);
    assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, name)), DAE_OK);
    assert_int_equal(dae_adjoint_gradient(g.adjoint, 0, g.gradient), DAE_OK);
    dae_adjoint_free(g.adjoint);
    g.adjoint = NULL;
    dae_sensitivity *x = NULL;
    dae_sensitivity_request request = {.count = 1, .names = &by};
    assert_int_equal(dae_sensitivity_new(g.r.solver, &request, &x, &g.r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(g.r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(g.r.solver, tend, NULL, NULL), DAE_OK);
    assert_int_equal(dae_sensitivity_variables(x, tend, 0, slopes), DAE_OK);
    double forward = slopes[dae_problem_find_variable(g.r.problem, name)];
    const double steps = (double)dae_sensitivity_statistics(x)->steps;
    double allowed = iterated ? steps * 1e-3 * 1e-7 : 1e-10;
    if (kind->kind == DAE_ADJOINT_CONTINUOUS) allowed = 100.0 * 1e-7;
    if (fabs(g.gradient[0] - forward) > allowed * fabs(forward)) {
        print_error("d%s/d%s: %.15g back, %.15g forward\n", name, by, g.gradient[0], forward);
        fail();
    }
    dae_sensitivity_free(x);
    close_adjoint(&g);
}

static void test_forward_and_back(void **state)
{
    (void)state;
    expect_forward(decay, 1.5, "z", "k", 0.0, false);
    expect_forward(pendulum, 2.0, "f", "L", 0.0, false);
    expect_forward(pendulum, 2.0, "y", "g", 0.0, false);
    expect_forward(circuit, 2.0, "u1", "G", 0.0, false);
    expect_forward(circuit, 2.0, "u2", "C", 0.0, false);
}

/* Linear equations, more than are solved with one dense matrix of all stages: each step falls apart
 * into systems of one stage, forth and back, and steps with the same derivatives share them. They
 * are not symmetric, have a constraint, change at an event (`a` in `switched`), and are to be read
 * from a file, too. In `bent` stages differ. */
#define CHAIN(term)                                                                                \
    "  parameter Real k = 3;\n  parameter Real c = 0.7;\n  discrete Real a(start = 1, fixed = "    \
    "true);\n  Real x[30](each start = 0, each fixed = true), f;\nequation\n"                      \
    "  f = sin(time) - c*x[5];\n  der(x[1]) = k*(f - x[1]);\n"                                     \
    "  for i in 2:29 loop\n    der(x[i]) = k*(2*x[i - 1] - 3*x[i]) + c*x[i + 1]" term ";\n"        \
    "  end for;\n  der(x[30]) = 2*k*x[29] - x[30];\n"
static const char *const chain = MODEL(CHAIN("") "  when time > 0.9 then\n    a = 2;\n  end when;");
static const char *const switched =
    MODEL(CHAIN("*a") "  when time > 0.9 then\n    a = 2*c;\n  end when;");
static const char *const bent =
    MODEL(CHAIN("^3") "  when time > 0.9 then\n    a = 2;\n  end when;");

static void test_many_equations(void **state)
{
    (void)state;
    const char *const texts[] = {chain, switched, bent};
    for (int i = 0; i < 3; i++)
        for (int file = 0; file < 2; file++) {
            expect_forward(texts[i], 2.0, "x[3]", "k", file ? 1.0 : 0.0, texts[i] == bent);
            expect_forward(texts[i], 2.0, "x[12]", "c", file ? 1.0 : 0.0, texts[i] == bent);
        }
}

/* A rod that keeps its shape, v[i] = sin(i a) exp(-k l t) with a = pi/41, l = 2 - 2 cos(a). */
static const char *const rod =
    MODEL("  parameter Real k = 100;\n  parameter Real a = 0.07662421106316569;\n"
          "  Real v[40](start = {sin(i*a) for i in 1:40}, each fixed = true);\nequation\n"
          "  der(v[1]) = k*(v[2] - 2*v[1]);\n  for i in 2:39 loop\n"
          "    der(v[i]) = k*(v[i - 1] - 2*v[i] + v[i + 1]);\n  end for;\n"
          "  der(v[40]) = k*(v[39] - 2*v[40]);");

/* Steps that are no longer than this pass the error test of the gradient, too. */
#define LONGEST 0.3

/* Evaluations of a run of the rod, by `method`, without a gradient. */
static long evaluations_alone(const char *method)
{
    run r;
    prepare(&r, rod);
    r.options.rtol = 1e-7;
    r.options.atol = 1e-10;
    r.options.method = method;
    r.options.max_step = LONGEST;
    r.options.stop_time = ROD_TIME;
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, ROD_TIME, NULL, NULL), DAE_OK);
    const long evaluations = dae_solver_stats(r.solver)->residuals;
    end(&r);
    return evaluations;
}

/* Beside radau the discrete adjoint of many linear equations stands on the stages of the run: it
 * asks for no values between them, which a second run would have to find. Its accuracy is that of
 * the run. */
static void test_stages_of_the_run(void **state)
{
    (void)state;
    const char *const by = "k", *const methods[] = {"radau", "radau:9"};
    const double k = 100.0, tend = ROD_TIME, l = 2.0 - 2.0 * cos(0.07662421106316569);
    const double left = exp(-k * l * tend), size = sin(20.0 * 0.07662421106316569);
    const double exact[2] = {-l * tend * left * size,
                             size * (tend * left / k - (1.0 - left) / (k * k * l))};
    for (int i = 0; i < 2; i++) {
        gradient_run g;
        open_adjoint_by(&g, rod, methods[i], LONGEST, 1e-7, 2, 1, &by, 0.0);
        assert_int_equal(dae_adjoint_integral(g.adjoint, 1, only(&g, "v[20]")), DAE_OK);
        run_until(&g, tend);
        if (kind->kind == DAE_ADJOINT_DISCRETE)
            assert_int_equal(dae_solver_stats(g.r.solver)->residuals,
                             evaluations_alone(methods[i]));
        assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "v[20]")), DAE_OK);
        for (int m = 0; m < 2; m++) expect_gradient(&g, m, &exact[m], 100.0 * 1e-7);
        close_adjoint(&g);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const char *const by[] = {"k"}, *const nobody[] = {"q"};
    gradient_run g;
    dae_adjoint *adjoint = NULL;
    double gradient[1];
    open_adjoint(&g,
                 MODEL("  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n"
                       "  der(x) = -k;\n  when x < 0.5 then\n    reinit(x, 1);\n  end when;"),
                 1e-6, 1, 1, by, 0.0);
    assert_int_equal(dae_adjoint_gradient(g.adjoint, 0, gradient), DAE_ERR_STATE);
    assert_int_equal(
        dae_adjoint_new(g.r.solver,
                        &(dae_adjoint_request){.count = 1, .names = by, .functionals = 1}, &adjoint,
                        &g.r.diag),
        DAE_ERR_STATE);
    assert_int_equal(dae_adjoint_point(g.adjoint, 0, only(&g, "x")), DAE_ERR_STATE);
    run_until(&g, 0.3);
    assert_int_equal(dae_adjoint_integral(g.adjoint, 0, only(&g, "x")), DAE_ERR_STATE);
    assert_int_equal(dae_adjoint_gradient(g.adjoint, 1, gradient), DAE_ERR_ARGUMENT);
    dae_adjoint_free(g.adjoint);
    g.adjoint = NULL;
    dae_adjoint_request request = {.count = 1, .names = nobody, .functionals = 1};
    assert_int_equal(dae_adjoint_new(g.r.solver, &request, &adjoint, &g.r.diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(g.r.diag.text, "q"));
    assert_null(adjoint);
    close_adjoint(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_closed_forms),
                                       cmocka_unit_test(test_gradient_on_the_way),
                                       cmocka_unit_test(test_gradient_of_zero),
                                       cmocka_unit_test(test_gradient_of_robertson),
                                       cmocka_unit_test(test_integrals_are_judged),
                                       cmocka_unit_test(test_jump_of_integrand),
                                       cmocka_unit_test(test_end_that_moves),
                                       cmocka_unit_test(test_forward_and_back),
                                       cmocka_unit_test(test_many_equations),
                                       cmocka_unit_test(test_stages_of_the_run),
                                       cmocka_unit_test(test_refusals)};
    int failed = 0;
    for (kind = kinds; kind < kinds + sizeof kinds / sizeof *kinds; kind++)
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
