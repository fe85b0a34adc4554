/* Where runs begin: fixed values stay, searches go on where the guess is singular, all methods
 * begin at the same point, definitions are evaluated in their order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_run.h"

/* ---- every method begins at the same point ----------------------------------------------------
 */

typedef struct expected {
    const char *text, *name[4];
    double value[4];
} expected;

static const expected starts[] = {
    {MODEL("Real h(start=1, fixed=true), v;\nequation\nder(h) = -v;\nv^2 = 19.62*h;"),
     {"h", "v"},
     {1.0, 4.4294469180700204}},
    /* one equation that bends among others that are linear: the next root, and not one beyond it */
    {MODEL("Real z(start=1, fixed=true), x(start=-12.7);\nequation\nder(z) = -1e-3*z;\n"
           "(x - 1)*(x - 2)*(x - 10) = 0;"),
     {"z", "x"},
     {1.0, 1.0}},
    /* the other root, c = -0.046, is hardly farther from the guess */
    {MODEL("Real z(start=1, fixed=true), q(start=0.1), c(start=1);\nequation\nder(z) = -1e-3*z;\n"
           "c + 10*q = 2;\nq = 0.7*abs(c)^0.4;"),
     {"q", "c"},
     {0.19585892300756652, 0.041410769924335129}},
    {MODEL("Real p1(start=2, fixed=true), p2(start=1, fixed=true), q;\nequation\nder(p1) = -q;\n"
           "der(p2) = q;\np1 - p2 = 0.5*q*abs(q);"),
     {"p1", "p2", "q"},
     {2.0, 1.0, 1.4142135623730951}},
    {MODEL("Real p1(start=1, fixed=true), p2(start=2, fixed=true), q;\nequation\nder(p1) = -q;\n"
           "der(p2) = q;\np1 - p2 = 0.5*q*abs(q);"),
     {"p1", "p2", "q"},
     {1.0, 2.0, -1.4142135623730951}},
    {MODEL("Real x(start=4, fixed=true);\nequation\nder(x)^2 = x;"), {"x"}, {4.0}},
    {MODEL("Real p(start=-1, fixed=true), q, r(start=0, fixed=true);\nequation\nder(p) = -q;\n"
           "p - r = (if q > 0 then q^2 else -q^2);\nder(r) = q;"),
     {"p", "q", "r"},
     {-1.0, -1.0, 0.0}},
    {MODEL("Real x(start=2, fixed=true), a, b;\nequation\nder(x) = -x;\na*b = 3*x;\n"
           "a^2 - b^2 = 2.5*x;"),
     {"x", "a", "b"},
     {2.0, 3.0, 2.0}},
    {MODEL("Real x(start=1, fixed=true), g, r, y;\nequation\nder(x) = -y;\ny = log(r);\nr = 1/g;\n"
           "g = 1e-7*x;"),
     {"x", "g", "r", "y"},
     {1.0, 1e-7, 1e7, 16.118095650958319}},
    /* a loop of definitions that begins at the state phi = 0; v(0) = 600 600 g */
    {MODEL("Real g, r, mu, phi, i, v;\nequation\ng = 1e-7*mu;\nmu = 1 + 0.1*phi;\nr = 1/g;\n"
           "600*i = phi*r;\ni = sin(time);\nv = 600*der(phi);"),
     {"g", "mu", "phi", "v"},
     {1e-7, 1.0, 0.0, 0.036}},
    /* of start values that cannot all hold, those of preferred states do; avoided ones come last */
    {MODEL("Real x(start=1), y(start=2, stateSelect=StateSelect.prefer), s;\n"
           "initial equation\ns = 5;\nequation\nder(x) = -x;\nder(y) = -y;\ns = x + y;"),
     {"x", "y"},
     {3.0, 2.0}},
    {MODEL("Real x(start=1), y(start=-0.6, stateSelect=StateSelect.always), u, v, p;\nequation\n"
           "der(x) = u;\nder(y) = v;\nder(u) = -p*x;\nder(v) = -p*y - 9.81;\nx^2 + y^2 = 1;"),
     {"x", "y", "u", "p"},
     {0.8, -0.6, 0.0, 0.6 * 9.81}},
    {MODEL("Real a(start=1), x(start=0.2, stateSelect=StateSelect.avoid), u, v;\n"
           "Real y(start=0.3, stateSelect=StateSelect.avoid), f, g;\nequation\n"
           "x = sin(a);\ny = -cos(a);\nder(x) = u;\nder(y) = v;\nder(u) = f;\n"
           "der(v) = g - 9.81;\nf*cos(a) + g*sin(a) = 0;"),
     {"a", "x", "y"},
     {1.0, 0.8414709848078965, -0.5403023058681398}},
    /* a state gives way to an algebraic variable that shall rather be one */
    {MODEL("Real m, E, h(start=0.8, stateSelect=StateSelect.prefer);\n"
           "Real T(start=293, stateSelect=StateSelect.prefer);\nequation\n"
           "der(m) = -1;\nder(E) = -T;\nm = 1000*(h + 0.1);\nE = 4*m*(T - 273);"),
     {"m", "E", "h", "T"},
     {900.0, 72000.0, 0.8, 293.0}},
    {MODEL("Real m(start=500), h(start=0.8, stateSelect=StateSelect.prefer);\nequation\n"
           "der(m) = -1;\nm = 1000*(h + 0.1);"),
     {"m", "h"},
     {900.0, 0.8}},
    /* fixed without a start value: at 0, whatever others would like to have */
    {MODEL("Real x(start=0.6), y(start=-0.8), u(fixed=true), v(start=1), p;\nequation\n"
           "der(x) = u;\nder(y) = v;\nder(u) = -p*x;\nder(v) = -p*y - 9.81;\nx^2 + y^2 = 1;"),
     {"x", "y", "u", "v"},
     {0.6, -0.8, 0.0, 0.0}},
    /* w and v are the same derivative: the fixed value counts, whichever stands first, and whatever
     * sign it has; then one that is given, then one of what had better be no state */
    {MODEL("Real x(start=0, fixed=true), w(start=10, fixed=true), v(start=0), y, b;\nequation\n"
           "y = x;\nw = der(x);\nv = der(y);\nb = der(v);\nb = -1;"),
     {"x", "w", "v"},
     {0.0, 10.0, 10.0}},
    {MODEL("Real x(start=0, fixed=true), v(start=3), w(start=-10, fixed=true), b;\nequation\n"
           "w = -der(x);\nv = der(x);\nb = der(v);\nb = -1;"),
     {"x", "w", "v"},
     {0.0, -10.0, 10.0}},
    {MODEL("Real x(start=0, fixed=true), w(start=10), v, a, b;\n"
           "Real u(start=5, stateSelect=StateSelect.avoid);\nequation\n"
           "w = der(x);\nv = der(x);\nu = der(x);\na = der(w);\nb = der(u);\nb = -1;"),
     {"x", "w", "v", "u"},
     {0.0, 10.0, 10.0, 10.0}},
    /* a diode and a negative resistance, with two points of work */
    {MODEL("Real x(start=1, fixed=true), v(start=0.07), i;\nequation\nder(x) = 0;\n"
           "i = 6.208113188199105e-08*(exp(v/0.05) - 1);\n"
           "i = 0.005468776289509006*v - 0.00035788763196990017*x;"),
     {"x", "v"},
     {1.0, 0.06547269255800262}},
    /* a source behind a resistor, and a load of constant power: i = 1052 is far from the guess */
    {MODEL("Real u, i(start=-10.7), e(start=930, fixed=true);\nequation\nder(e) = -0.01*e;\n"
           "u*i = 12;\nu = e - 0.88*i;"),
     {"e", "u", "i"},
     {930.0, 929.98864502265, 0.012903383352285703}},
    /* the diode once more: the guess of i says what v is guessed to be */
    {MODEL("Real x(start=1, fixed=true), v, i(start=0.0024);\nequation\nder(x) = 0;\n"
           "i = 6.208113188199105e-08*(exp(v/0.05) - 1);\n"
           "i = 0.005468776289509006*v - 0.00035788763196990017*x;"),
     {"x", "v"},
     {1.0, 0.5310912559314108}},
    /* forms begin as the model is written: the levels of this one looked contradictory */
    {MODEL("Real x(start=1, fixed=true), y, z;\nequation\nder(x) = -x;\n"
           "1e-20*y*(2 + sin(time)) = x*1e20;\n1e20*z = y*1e-20;"),
     {"x", "z"},
     {1.0, 0.5}},
};

static void every_method_begins_at_the_same_point(void **state)
{
    (void)state;
    const char *method;
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        int begun = 0;
        for (int i = 0; (method = dae_method_name(i)); i++) {
            run r;
            prepare(&r, starts[k].text);
            r.options.method = method;
            r.options.stop_time = 1e-3;
            dae_status status = dae_solver_new(r.problem, &r.options, &r.solver, &r.diag);
            if (status == DAE_OK) status = dae_solver_start(r.solver, 0.0, NULL, NULL);
            /* a method that does not take the model says so, and not that values contradict */
            if (status != DAE_OK && status != DAE_ERR_UNSUPPORTED && status != DAE_ERR_ARGUMENT) {
                print_error("model %zu, %s: %s\n", k, method,
                            r.solver ? dae_solver_diag(r.solver)->text : r.diag.text);
                fail();
            }
            for (int j = 0; status == DAE_OK && j < 4 && starts[k].name[j]; j++)
                expect_near(&r, starts[k].name[j], starts[k].value[j], 1e-7, __LINE__);
            begun += status == DAE_OK;
            end(&r);
        }
        assert_true(begun >= 10);
    }
}

/* ---- the root that was not taken is reported ---------------------------------------------------
 */

static void another_solution_is_reported(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, starts[0].text));
    assert_non_null(strstr(r.messages, "v = 4.42944692 was taken, -4.42944692 is another"));
    end(&r);
    OK(begin(&r, starts[1].text)); /* q |q| has one root */
    assert_null(strstr(r.messages, "another"));
    end(&r);
    OK(begin(&r, starts[4].text)); /* the other root is in another mode */
    assert_null(strstr(r.messages, "another"));
    end(&r);
}

/* The nearer one is taken, and the other one named. */
static void a_nearer_solution_is_taken(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real z(start=1, fixed=true), x(start=-0.5);\nequation\nder(z) = -z;\n"
                       "(x - 1)*(x - 2)*(x + 3) = 0;")));
    expect_near(&r, "x", 1.0, 1e-8, __LINE__);
    end(&r);
    OK(begin(&r, MODEL("Real u, i(start=-10.7), e(start=930, fixed=true);\nequation\n"
                       "der(e) = -0.01*e;\nu*i = 12;\nu = e - 0.88*i;")));
    assert_non_null(strstr(r.messages, "i = 0.0129033834 was taken, 1056.8"));
    end(&r);
    /* index 2: the same on all levels */
    OK(begin(&r, MODEL("Real x(start=0, fixed=true), y(start=-1.9), z;\nequation\nder(x) = 1 - x;\n"
                       "der(y) = z - y;\n(y + 2.7)*(y + 0.7)*(y - 1.4)*(y - 2.1)*(y - 2.6) = x;")));
    expect_near(&r, "y", -2.7, 1e-8, __LINE__);
    end(&r);
}

/* A start value chooses the root, without a note. */
static void a_guess_chooses(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real h(start=1, fixed=true), v(start=-1);\nequation\nder(h) = -v;\n"
                       "v^2 = 19.62*h;")));
    expect_near(&r, "v", -4.4294469180700204, 1e-8, __LINE__);
    assert_null(strstr(r.messages, "another"));
    end(&r);
}

/* ---- conflicts are named -----------------------------------------------------------------------
 */

static void conflicts_are_named(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("Real h(start=-1, fixed=true), v;\nequation\nder(h) = -v;\n"
                                     "v^2 = 19.62*h;")),
                     DAE_ERR_INITIAL);
    expect_words(dae_solver_diag(r.solver)->text, "h = -1 (fixed)|m.mo:5", __LINE__);
    end(&r);
    assert_int_equal(
        begin(&r, MODEL("Real x(start=1, fixed=true), y(start=2, fixed=true), z;\nequation\n"
                        "der(x) = -z;\nder(y) = z;\nx + y = 4;")),
        DAE_ERR_INITIAL);
    expect_words(dae_solver_diag(r.solver)->text, "x = 1 (fixed)|y = 2 (fixed)", __LINE__);
    end(&r);
    assert_int_equal(begin(&r, MODEL("Real x(fixed=true);\nReal w(start=10, fixed=true);\n"
                                     "Real v(start=5, fixed=true), b;\nequation\n"
                                     "der(x) = w;\nder(x) = -v;\nb = der(v);\nb = 1;")),
                     DAE_ERR_INITIAL);
    expect_words(dae_solver_diag(r.solver)->text, "5 of v (m.mo:4)|w (m.mo:3)|same derivative",
                 __LINE__);
    end(&r);
    OK(begin(&r, MODEL("Real x(fixed=true), w(start=5, fixed=true), v(start=-5, fixed=true), b;\n"
                       "equation\nder(x) = w;\nder(x) = -v;\nb = der(v);\nb = 1;")));
    end(&r);
}

/* Reinit sets h at an event where the matrix is singular at v = 0. */
static void restarts_search_on(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real h(start=1, fixed=true), v;\nequation\nder(h) = -0.1*v;\n"
                      "(if time < 0.5 then v else v^2 - 19.62*h) = 0;"));
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 0.75));
    double v = 4.4294469180700204 - 0.981 * 0.25;
    expect_near(&r, "v", v, 1e-6, __LINE__);
    expect_near(&r, "h", v * v / 19.62, 1e-6, __LINE__);
    end(&r);
}

/* The coefficient of x2' vanishes at the start: the equations are of index 2 there. */
static void vanishing_coefficients_show_hidden_constraints(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x1, x2, phi, psi;\nequation\n"
                      "phi = noEvent(if time > 0 then exp(-1/max(time, 1e-300)) else 0);\n"
                      "psi = noEvent(if time < 0 then exp(1/min(time, -1e-300)) else 0);\n"
                      "phi*der(x2) + x1 = sin(time);\npsi*der(x1) + x2 = cos(time);"));
    r.options.method = "radau:5";
    r.options.rtol = 1e-6;
    r.options.atol = 1e-9;
    OK(start_at(&r, -1.0));
    expect_near(&r, "x1", sin(-1.0), 1e-9, __LINE__);
    expect_near(&r, "x2", cos(-1.0) * (1.0 - exp(-1.0)), 1e-8, __LINE__);
    end(&r);
}

/* Roots of other sizes than 1 by many powers of ten, from a guess of 0. */
static void roots_of_all_sizes_are_found(void **state)
{
    (void)state;
    for (int k = -20; k <= 20; k += 5) {
        run r;
        char text[300];
        snprintf(text, sizeof text,
                 "model M\nReal x(start=1, fixed=true), i(nominal=%g);\nequation\nder(x) = -x;\n"
                 "i^2 = 1e%d*x;\nend M;\n",
                 k < 0 ? pow(10.0, k) : 1.0, 2 * k);
        OK(begin(&r, text));
        double size = pow(10.0, k);
        expect_near(&r, "i", size, 1e-6 * size, __LINE__);
        end(&r);
    }
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

/* x = S at the start, at a loose tolerance, whatever S is. */
static const char *const sized[] = {
    "x = S;\nequation\nder(x) + x + 0.6*S*sin(x/S) = S;",
    "x/S + (x/S)^3 = 2;\nequation\nder(x) = -x;",
    /* S follows from its slope, which one tolerance of x changes by 1e5 of it */
    "der(x) = 0;\nequation\nder(x) + 1e5*S*(sinh(x/S) - sinh(1)) = 0;",
    "der(x) = 0;\nequation\n1e9*der(x) = S - x - 0.1*(x^2/S - S);",
};

static void initial_equations_hold_for_all_sizes(void **state)
{
    (void)state;
    for (int power = -12; power <= 12; power += 3)
        for (size_t k = 0; k < sizeof sized / sizeof *sized; k++) {
            char text[400];
            snprintf(text, sizeof text,
                     "model M\nparameter Real S = 1e%d;\nReal x(start=1.2*S, nominal=S);\n"
                     "initial equation\n%s\nend M;\n",
                     power, sized[k]);
            run r;
            prepare(&r, text);
            r.options.rtol = 1e-4;
            r.options.atol = 1e-7;
            OK(start_at(&r, 0.0));
            expect_near(&r, "x", pow(10.0, power), 1e-6 * pow(10.0, power), __LINE__);
            end(&r);
        }
}

/* Constraints of index 2 with residuals that are small beside other terms, or beside 1, at values
 * that are wrong in their first digits. */
static void hidden_constraints_hold_for_all_sizes(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1e6, fixed=true), b(start=0, nominal=1e-7), f;\nequation\n"
                       "der(x) = 0;\nx + b = 1e6 + 1e-7 + 1e-7*time;\nder(b) = f;")));
    expect_near(&r, "b", 1e-7, 2.4e-10, __LINE__); /* two roundings of 1e6 */
    end(&r);
    prepare(&r, MODEL("Real x(start=0.97e-15), f;\nequation\nx = 1e-15*cos(time);\nder(x) = f;"));
    double atol[4];
    const int n = dae_problem_size(r.problem);
    assert_in_range(n, 1, 4);
    OK(dae_problem_atol(r.problem, r.options.rtol, r.options.atol, true, atol));
    r.options.atol_by_unknown = atol;
    OK(start_at(&r, 0.0));
    expect_near(&r, "x", 1e-15, 1e-21, __LINE__);
    end(&r);
}

/* ---- definitions in their order -----------------------------------------------------------------
 */

/* The same mechanism by definitions and by functions begins and runs alike. */
#define CAM_EQUATIONS(cx, cy, s, c)                                                                \
    "equation\n" cx cy s c "y = cy + 1.2*c;\npx = cx - s;\npy = cy + c;\n"                         \
    "n = (20 + 50*(y - 1))/c;\nlever = (cx*py - cy*px)/sqrt(cx^2 + cy^2);\n"                       \
    "gap = sqrt(px^2 + (y - py)^2)/0.2;\nder(phi) = w;\nder(w) = -2*n*lever/gap;"

static void definitions_are_evaluated_in_their_order(void **state)
{
    (void)state;
    const char *declared = "Real phi(start=0.4, fixed=true), w(start=1, fixed=true), cx, cy, s, c, "
                           "y, px, py, n, lever, gap;\n";
    char by_definitions[2000], by_functions[2000];
    snprintf(by_definitions, sizeof by_definitions, "model M\n%s%s\nend M;\n", declared,
             CAM_EQUATIONS("cx = 0.3*cos(phi);\n", "cy = 0.3*sin(phi);\n", "s = cx/1.2;\n",
                           "c = sqrt(1 - s^2);\n"));
    snprintf(by_functions, sizeof by_functions,
             "package P\nfunction root\ninput Real u;\noutput Real v;\nalgorithm\nv := sqrt(1 - "
             "u*u);\nend root;\nmodel M\n%s%s\nend M;\nend P;\n",
             declared,
             CAM_EQUATIONS("cx = 0.3*cos(phi);\n", "cy = 0.3*sin(phi);\n", "s = cx/1.2;\n",
                           "c = root(s);\n"));
    double w[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        run r;
        OK(begin(&r, k ? by_functions : by_definitions));
        double cx = 0.3 * cos(0.4), c = sqrt(1.0 - cx * cx / 1.44);
        expect_near(&r, "c", c, 1e-12, __LINE__);
        OK(step_to(&r, 1.0));
        w[k] = value(&r, "w");
        end(&r);
    }
    assert_true(fabs(w[0] - w[1]) <= 1e-6 * fabs(w[0]));
}

/* Gas in a cylinder, by shells of equal mass: the radii have no start values, what was given of the
 * rest is consistent and keeps its bits. */
static void given_values_stay_for_those_that_nobody_gave(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real T[4](each start=1), p[4](each start=1), r[4], rho[4](each start=1);\n"
                       "equation\nfor j in 1:4 loop p[j] = rho[j]*T[j]; end for;\n"
                       "for j in 1:3 loop\np[j+1] - p[j] = 0;\n"
                       "(r[j+1]^2 - r[j]^2)/2 = (1/6)/rho[j+1];\n"
                       "der(T[j]) - der(p[j])/(3.5*rho[j]) = 1/j;\nend for;\n"
                       "r[1] = 0;\nr[4] = 1;\nT[4] = 1;")));
    for (int j = 1; j <= 4; j++) {
        char name[16];
        snprintf(name, sizeof name, "T[%d]", j);
        expect_near(&r, name, 1.0, 1e-15, __LINE__);
        snprintf(name, sizeof name, "r[%d]", j);
        expect_near(&r, name, sqrt((j - 1) / 3.0), 1e-12, __LINE__);
    }
    end(&r);
}

/* ---- callbacks ----------------------------------------------------------------------------------
 */

/* h' = -v, v^2 = 19.62 h */
static int tank(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[1];
    f[1] = y[1] * y[1] - 19.62 * y[0];
    return 0;
}

/* x'^2 = x */
static int squared_slope(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] * yp[0] - y[0];
    return 0;
}

static dae_solver *open_solver(int n, dae_residual_fn f, dae_options *options,
                               dae_problem **problem)
{
    dae_solver *s = NULL;
    dae_residual r = {.n = n, .f = f};
    assert_int_equal(dae_problem_from_residual(&r, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, options, &s, NULL), DAE_OK);
    return s;
}

static void callbacks_keep_differential_values(void **state)
{
    (void)state;
    run r = {0};
    dae_options options = dae_options_default();
    options.message = note;
    options.user = &r;
    dae_problem *p;
    double y[2], start[2] = {1.0, 0.0};
    dae_solver *s = open_solver(2, tank, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    dae_solver_at(s, 0.0, 0, y);
    assert_true(y[0] == 1.0);
    assert_true(fabs(fabs(y[1]) - 4.4294469180700204) < 1e-6);
    assert_non_null(strstr(r.messages, "is another"));
    dae_solver_free(s);
    dae_problem_free(p);
    s = open_solver(1, squared_slope, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    dae_solver_at(s, 0.0, 0, y);
    assert_true(y[0] == 1.0);
    dae_solver_at(s, 0.0, 1, y);
    assert_true(fabs(fabs(y[0]) - 1.0) < 1e-6);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void fixed_tags_hold_or_are_named(void **state)
{
    (void)state;
    static const dae_tag y_tags[2] = {DAE_TAG_FIXED, DAE_TAG_FREE};
    static const dae_tag both[2] = {DAE_TAG_FIXED, DAE_TAG_FIXED};
    dae_options options = dae_options_default();
    dae_problem *p;
    double y[2], start[2] = {1.0, 0.0};
    options.y_tags = y_tags;
    dae_solver *s = open_solver(2, tank, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, start, NULL), DAE_OK);
    dae_solver_at(s, 0.0, 0, y);
    assert_true(y[0] == 1.0);
    assert_true(fabs(fabs(y[1]) - 4.4294469180700204) < 1e-6);
    dae_solver_free(s);
    dae_problem_free(p);
    options.y_tags = both;
    options.init = DAE_INIT_DIFFERENTIAL; /* fixed values count in every mode */
    s = open_solver(2, tank, &options, &p);
    dae_status status = dae_solver_start(s, 0.0, (double[]){1.0, 2.0}, NULL);
    if (status == DAE_OK) dae_solver_at(s, 0.0, 0, y);
    assert_true(status != DAE_OK || y[0] == 1.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y1' = -y1, atan(y2 - y1) = 0: full steps of Gauss and Newton from y2 - y1 = 3 run away, so that
 * the decrease must be tested. */
static int arctangent(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    f[1] = atan(y[1] - y[0]);
    return 0;
}

static void general_steps_are_damped(void **state)
{
    (void)state;
    static const dae_tag y_tags[2] = {DAE_TAG_FIXED, DAE_TAG_FREE};
    dae_options options = dae_options_default();
    dae_problem *p;
    double y[2];
    options.y_tags = y_tags;
    options.init = DAE_INIT_GENERAL;
    dae_solver *s = open_solver(2, arctangent, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, (double[]){1.0, 4.0}, NULL), DAE_OK);
    dae_solver_at(s, 0.0, 0, y);
    assert_true(y[0] == 1.0);
    assert_true(fabs(y[1] - 1.0) < 1e-7);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* y' = 0: nothing is known of the speed, and the first step is a thousandth of the way. */
static int at_rest(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0];
    return 0;
}

/* y' = 1e6: half a tolerance of it, h0 = 1/2 / ||y'|| [BCP96 5.2.3] */
static int fast(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0] - 1e6;
    return 0;
}

static void first_steps_are_what_theory_says(void **state)
{
    (void)state;
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = 1e-6;
    options.atol = 1e-6;
    dae_problem *p;
    dae_solver *s = open_solver(1, at_rest, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, (double[]){1.0}, NULL), DAE_OK);
    assert_true(dae_solver_step(s, 20.0) >= 0);
    assert_true(fabs(dae_solver_stats(s)->h0 - 0.02) <= 1e-15);
    dae_solver_free(s);
    dae_problem_free(p);
    s = open_solver(1, fast, &options, &p);
    assert_int_equal(dae_solver_start(s, 0.0, (double[]){1.0}, NULL), DAE_OK);
    assert_true(dae_solver_step(s, 20.0) >= 0);
    assert_true(fabs(dae_solver_stats(s)->h0 / (0.5 * 2e-6 / 1e6) - 1.0) <= 1e-9);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- quasilinear: a pendulum of length l(t) = 2 - 0.03 t in wind, all levels given
 * --------------- */

static int wind_E(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 25 * sizeof *E);
    E[0] = E[6] = 1.0;
    E[12] = E[18] = 2.0;
    return 0;
}

static int wind_f(const dae_quasilinear_point *at, double *f, void *user)
{
    const double *x = at->x, l = 2.0 - 0.03 * at->t;
    (void)user;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -2.0 * x[0] * x[4] + 2.0 * (1.0 - 0.04 * at->t);
    f[3] = -2.0 * x[1] * x[4] - 2.0 * 9.78;
    f[4] = x[0] * x[0] + x[1] * x[1] - l * l;
    return 0;
}

static int wind_g(const dae_quasilinear_point *at, double *g, void *user)
{
    const double *x = at->x, l = 2.0 - 0.03 * at->t, lp = -0.03;
    (void)user;
    g[0] = x[0] * x[0] + x[1] * x[1] - l * l;
    g[1] = 2.0 * x[0] * x[2] + 2.0 * x[1] * x[3] - 2.0 * l * lp;
    g[2] = 2.0 * (x[2] * x[2] + x[3] * x[3]) + 2.0 * x[0] * (1.0 - 0.04 * at->t) -
           2.0 * l * l * x[4] - 2.0 * 9.78 * x[1] - 2.0 * lp * lp;
    return 0;
}

/* (0, -2) meets its constraint and stays; w(0) = 0.03 follows from the velocity level, lambda(0)
 * from the next one: 2 w^2 - 8 lambda + 4 9.78 - 2 0.03^2 = 0. */
static void consistent_positions_stay(void **state)
{
    (void)state;
    dae_quasilinear form = {.n = 5, .ne = 5, .ng = 3, .E = wind_E, .f = wind_f, .g = wind_g};
    dae_problem *p;
    const char *method;
    int begun = 0;
    assert_int_equal(dae_problem_from_quasilinear(&form, &p, NULL), DAE_OK);
    for (int i = 0; (method = dae_method_name(i)); i++) {
        dae_options options = dae_options_default();
        dae_solver *s = NULL;
        options.method = method;
        double x[5];
        if (dae_solver_new(p, &options, &s, NULL) != DAE_OK) continue;
        if (dae_solver_start(s, 0.0, (double[]){0, -2, 0, 0, 0}, NULL) == DAE_OK) {
            dae_solver_at(s, 0.0, 0, x);
            assert_true(x[0] == 0.0 && x[1] == -2.0);
            assert_true(x[2] == 0.0 && fabs(x[3] - 0.03) < 1e-8);
            assert_true(fabs(x[4] - 4.89) < 1e-7);
            begun++;
        }
        dae_solver_free(s);
    }
    dae_problem_free(p);
    assert_true(begun >= 30);
}

/* (0, -2.1) does not meet it: the nearest position does, whatever lambda has to become. */
static void multipliers_move_before_positions(void **state)
{
    (void)state;
    dae_quasilinear form = {.n = 5, .ne = 5, .ng = 3, .E = wind_E, .f = wind_f, .g = wind_g};
    dae_options options = dae_options_default();
    dae_problem *p;
    dae_solver *s = NULL;
    double x[5];
    options.method = "herk";
    assert_int_equal(dae_problem_from_quasilinear(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, (double[]){0, -2.1, 0, 0, 0}, NULL), DAE_OK);
    dae_solver_at(s, 0.0, 0, x);
    assert_true(fabs(x[0]) < 1e-6 && fabs(x[1] + 2.0) < 1e-6);
    assert_true(fabs(x[2]) < 1e-6 && fabs(x[3] - 0.03) < 1e-6 && fabs(x[4] - 4.89) < 1e-4);
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_begins_at_the_same_point),
        cmocka_unit_test(another_solution_is_reported),
        cmocka_unit_test(a_nearer_solution_is_taken),
        cmocka_unit_test(a_guess_chooses),
        cmocka_unit_test(conflicts_are_named),
        cmocka_unit_test(restarts_search_on),
        cmocka_unit_test(vanishing_coefficients_show_hidden_constraints),
        cmocka_unit_test(definitions_are_evaluated_in_their_order),
        cmocka_unit_test(given_values_stay_for_those_that_nobody_gave),
        cmocka_unit_test(callbacks_keep_differential_values),
        cmocka_unit_test(fixed_tags_hold_or_are_named),
        cmocka_unit_test(general_steps_are_damped),
        cmocka_unit_test(first_steps_are_what_theory_says),
        cmocka_unit_test(consistent_positions_stay),
        cmocka_unit_test(multipliers_move_before_positions),
        cmocka_unit_test(roots_of_all_sizes_are_found),
        cmocka_unit_test(initial_equations_hold_for_all_sizes),
        cmocka_unit_test(hidden_constraints_hold_for_all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
