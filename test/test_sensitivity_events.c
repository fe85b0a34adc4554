/* Sensitivities behind events that set what is no state: a velocity of a pendulum, whose other one
 * the constraint ties to it. */
#include "model_run.h"

/* Dropped from the side it meets x = L/2 with v0^2 = 2 g L sqrt(3)/2, and goes back with e v0. */
static const char *const text =
    MODEL("  parameter Real L = 1;\n  parameter Real e = 0.9;\n  parameter Real g = 9.81;\n"
          "  Real x(start = L), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
          "  discrete Real speed(start = 0);\nequation\n  der(x) = vx;\n  der(y) = vy;\n"
          "  der(vx) = -f*x;\n  der(vy) = -f*y - g;\n  x^2 + y^2 = L^2;\n  when x < L/2 then\n"
          "    speed = vy;\n    reinit(vy, -e*pre(vy));\n  end when;");

static double entry(const run *r, const double *values, const char *name)
{
    return values[dae_problem_find_variable(r->problem, name)];
}

/* Energy behind the event: v^2/2 + g y = (e v0)^2/2 + g y0, y0 = -L sqrt(3)/2; its derivatives by
 * L, e and g, and that of the discrete speed. */
static void check(const run *r, const double *v, const double (*s)[MOST_VALUES])
{
    const double L = 1.0, e = 0.9, g = 9.81, root = sqrt(3.0) / 2.0;
    const double energy[3] = {e * e * g * root - g * root, 2.0 * e * g * L * root,
                              e * e * L * root - L * root};
    /* v0 = sqrt(2 g L root), of which vy is the part x/L = 1/2, downwards */
    const double speed = -0.5 * sqrt(2.0 * g * L * root);
    const double speeds[3] = {0.5 * speed / L, 0.0, 0.5 * speed / g};
    for (int k = 0; k < 3; k++) {
        double found = entry(r, v, "vx") * entry(r, s[k], "vx") +
                       entry(r, v, "vy") * entry(r, s[k], "vy") + g * entry(r, s[k], "y") +
                       (k == 2 ? entry(r, v, "y") : 0.0);
        double level = entry(r, v, "x") * entry(r, s[k], "x") +
                       entry(r, v, "y") * entry(r, s[k], "y") - (k == 0 ? L : 0.0);
        if (fabs(found - energy[k]) > 100.0 * r->options.rtol * 10.0 ||
            fabs(level) > r->options.rtol ||
            fabs(entry(r, s[k], "speed") - speeds[k]) > 100.0 * r->options.rtol)
            print_error("%s by %d: energy %.12g, not %.12g; speed %.12g, not %.12g; level %g\n",
                        r->options.method, k, found, energy[k], entry(r, s[k], "speed"), speeds[k],
                        level);
        assert_true(fabs(found - energy[k]) <= 100.0 * r->options.rtol * 10.0);
        assert_true(fabs(level) <= r->options.rtol);
        assert_true(fabs(entry(r, s[k], "speed") - speeds[k]) <= 100.0 * r->options.rtol);
    }
}

static void test_reinit_of_no_state(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau", "bdf", "prk", "hem", "taylor"};
    static const char *const by[] = {"L", "e", "g"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        run r;
        dae_sensitivity *x = NULL;
        double slopes[3][MOST_VALUES], values[MOST_VALUES];
        prepare(&r, text);
        r.options.rtol = 1e-7;
        r.options.atol = 1e-10;
        r.options.method = methods[i];
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 3, .names = by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        for (int row = 0; row < 4; row++) {
            double t = 0.5 + 0.15 * row;
            dae_status status = dae_solver_run(r.solver, t, NULL, NULL);
            if (status != DAE_OK) print_error("%s\n", diag_of(&r)->text);
            assert_int_equal(status, DAE_OK);
            assert_int_equal(dae_solver_variables(r.solver, t, values), DAE_OK);
            for (int k = 0; k < 3; k++)
                assert_int_equal(dae_sensitivity_variables(x, t, k, slopes[k]), DAE_OK);
            check(&r, values, (const double(*)[MOST_VALUES])slopes);
        }
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* A diode that closes onto a constraint makes a current jump, which no reinit says. */
static void test_jump_without_reinit(void **state)
{
    (void)state;
    static const char *const by[] = {"c"};
    run r;
    dae_sensitivity *x = NULL;
    prepare(&r,
            MODEL("  parameter Real c = 2;\n  Real u(start = 1, fixed = true);\n  Real w(start "
                  "= 3, fixed = true);\n  Boolean tied(start = false, fixed = true);\n  Real f;\n"
                  "equation\n  der(u) = -c + f;\n  der(w) = -1 - f;\n  when time > 0.5 then\n"
                  "    tied = true;\n  end when;\n  0 = if tied then u - w else f;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, 1.0, NULL, NULL), DAE_ERR_EVENT);
    assert_non_null(strstr(diag_of(&r)->text, "no reinit says so"));
    assert_non_null(strstr(diag_of(&r)->text, "t = 0.5"));
    dae_sensitivity_free(x);
    end(&r);
}

/* A run of x' = rate with k = 1, c = 0.53, by c or k, to t = 1: its status. */
static dae_status run_rate(run *r, dae_sensitivity **x, const char *rate, const char *by)
{
    char body[300];
    snprintf(
        body, sizeof body,
        "model M\n  parameter Real k = 1;\n  parameter Real c = 0.53;\n  Real x(start = 1, fixed "
        "= true);\nequation\n  der(x) = %s;\nend M;\n",
        rate);
    prepare(r, body);
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = &by};
    assert_int_equal(dae_sensitivity_new(r->solver, &request, x, &r->diag), DAE_OK);
    assert_int_equal(dae_solver_start(r->solver, 0.0, NULL, NULL), DAE_OK);
    return dae_solver_run(r->solver, 1.0, NULL, NULL);
}

/* Jumps that are no events move with the parameters, and say nothing: they are refused. Kinks, and
 * times that rest, are not. */
static void test_jumps_without_events(void **state)
{
    (void)state;
    const struct {
        const char *rate, *by;
        dae_status status;
        double when, slope; /* of x at t = 1 */
    } cases[] = {
        {"noEvent(if x > c then -k else -3*k)", "k", DAE_ERR_UNSUPPORTED, 0.47, 0.0},
        {"noEvent(if x > c then -k else -3*k)", "c", DAE_ERR_UNSUPPORTED, 0.47, 0.0},
        {"noEvent(if time > c then -k else -3*k)", "c", DAE_ERR_UNSUPPORTED, 0.53, 0.0},
        {"noEvent(sign(c - x)) - 2*k", "k", DAE_ERR_UNSUPPORTED, 0.0, 0.0},
        {"noEvent(if x > c then 0 else 1) - 2*k", "k", DAE_ERR_UNSUPPORTED, 0.0, 0.0},
        /* of any size, and where a branch has no value behind it */
        {"1e14*noEvent(if x > c then -1e-14*k else -3e-14*k)", "k", DAE_ERR_UNSUPPORTED, 0.47, 0.0},
        {"noEvent(if x > c then -k - (x - c)^1.5 else -2*k)", "k", DAE_ERR_UNSUPPORTED, 0.0, 0.0},
        {"noEvent(sign(x - c))*(x - c - 1) - 2*k", "k", DAE_ERR_UNSUPPORTED, 0.0, 0.0},
        /* as an event: x(1) = 1 - 3 k c - k (1 - c) */
        {"if time > c then -k else -3*k", "c", DAE_OK, 0.0, -2.0},
        {"noEvent(if time > c then -k else -3*k)", "k", DAE_OK, 0.0, -2.06},
        /* x' = -k up to x = c at t1 = (1 - c)/k, then x' = -k x/c: x(1) = c exp(-(k - 1 + c)/c) */
        {"noEvent(if x > c then -k else -k*x/c)", "k", DAE_OK, 0.0, -0.36787944117144233},
        /* u = x - c: u' = u - 2 k up to t1 = ln(2 k/(2 k - u0)), then u' = -2 k */
        {"1e-5*noEvent(if x > c then 1e5*(x - c) else 0) - 2*k", "k", DAE_OK, 0.0,
         -2.0 * (1.0 - log(2.0 / 1.53)) + 2.0 * (1.0 - 2.0 / 1.53)},
        /* u' = -k (u + 1/2) up to k t1 = ln(1 + 2 u0), then u' = k (u - 1/2) */
        {"-k*noEvent(sign(x - c))*(x - c) - k/2", "k", DAE_OK, 0.0, -0.5 * exp(1.0) / 1.94}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run r;
        dae_sensitivity *x = NULL;
        double slope[1];
        dae_status status = run_rate(&r, &x, cases[i].rate, cases[i].by);
        if (status != cases[i].status) print_error("%s: %s\n", cases[i].rate, diag_of(&r)->text);
        assert_int_equal(status, cases[i].status);
        if (status == DAE_OK) {
            assert_int_equal(dae_sensitivity_at(x, 1.0, 0, slope), DAE_OK);
            if (fabs(slope[0] - cases[i].slope) > 100.0 * r.options.rtol)
                print_error("%s by %s: %.12g\n", cases[i].rate, cases[i].by, slope[0]);
            assert_true(fabs(slope[0] - cases[i].slope) <= 100.0 * r.options.rtol);
        } else {
            assert_non_null(strstr(diag_of(&r)->text, "jump"));
            if (cases[i].when > 0.0) assert_true(fabs(diag_of(&r)->t - cases[i].when) < 1e-6);
        }
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* Discrete Reals where a run begins: by an initial equation, a clause of initial() that reads
 * pre(e), and a clock that strikes at once; at t = 0.2, with a = 0.7. */
static void test_discrete_starts(void **state)
{
    (void)state;
    static const char *const by[] = {"a"};
    const double a = 0.7, t = 0.2;
    const struct {
        const char *text;
        double d, y; /* derivatives */
    } cases[] = {
        {MODEL("  parameter Real a = 0.7;\n  Real y(start = 1, fixed = true);\n  discrete Real d;\n"
               "initial equation\n  d = a*2;\nequation\n  der(y) = d;\n  when time > 0.5 then\n"
               "    d = pre(d) + 1;\n  end when;"),
         2.0, 2.0 * t},
        {MODEL("  parameter Real a = 0.7;\n  discrete Real d(start = 2, fixed = true);\n"
               "  Real y(start = 0.1, fixed = true);\nequation\n  der(y) = d*y;\n"
               "  when initial() then\n    d = pre(d)*a;\n  end when;"),
         2.0, 0.2 * t * exp(2.0 * a * t)},
        {MODEL("  parameter Real a = 0.7;\n  Real y(start = 1);\n"
               "  discrete Real d(start = 1, fixed = true);\ninitial equation\n  y = a;\nequation\n"
               "  der(y) = d;\n  when sample(0, 0.3) then\n    d = a*y;\n  end when;"),
         2.0 * a, 1.0 + 2.0 * a * t}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run r;
        dae_sensitivity *x = NULL;
        double slope[MOST_VALUES];
        prepare(&r, cases[i].text);
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(r.solver, t, NULL, NULL), DAE_OK);
        assert_int_equal(dae_sensitivity_variables(x, t, 0, slope), DAE_OK);
        double d = entry(&r, slope, "d"), y = entry(&r, slope, "y");
        if (fabs(d - cases[i].d) > 1e-7 || fabs(y - cases[i].y) > 1e-7)
            print_error("case %d: %.12g and %.12g, not %.12g and %.12g\n", (int)i, d, y, cases[i].d,
                        cases[i].y);
        assert_true(fabs(d - cases[i].d) <= 1e-7);
        assert_true(fabs(y - cases[i].y) <= 1e-7);
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* x leaves c = 0 at once: with a larger c it does so later, and the event has a time that moves. A
 * relation of time alone has none. */
static void test_leaving_zero(void **state)
{
    (void)state;
    static const char *const by[] = {"c"};
    static const char *const relations[] = {"x > c", "time > 0"};
    for (int i = 0; i < 2; i++) {
        char body[300];
        run r;
        dae_sensitivity *x = NULL;
        snprintf(body, sizeof body,
                 "model M\n  parameter Real c = 0;\n  Real x(start = 0, fixed = true);\nequation\n"
                 "  der(x) = if %s then 2 + c else 1;\nend M;\n",
                 relations[i]);
        prepare(&r, body);
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        dae_status status = dae_solver_run(r.solver, 1.0, NULL, NULL);
        assert_int_equal(status, i == 0 ? DAE_ERR_UNSUPPORTED : DAE_OK);
        if (i == 0) assert_non_null(strstr(diag_of(&r)->text, "m.mo:5"));
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* Two events at one time that move apart: whose derivative counts, is not said. */
static void test_several_events(void **state)
{
    (void)state;
    run r;
    dae_sensitivity *x = NULL;
    assert_int_equal(
        run_rate(&r, &x, "(if time < c then 1 else 0) + (if time < 0.53 then 1 else 0)", "c"),
        DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag_of(&r)->text, "several relations"));
    dae_sensitivity_free(x);
    end(&r);
}

/* Clauses that read, through z1 and z2, what they assign, at te = -ln(c): u1 = 2 c + te^2,
 * z1 = c u1 + c, u2 = z1 + te, u3 = c z1 u2. */
static void test_clauses_through_definitions(void **state)
{
    (void)state;
    static const char *const by[] = {"c"};
    const double c = 0.5, te = -log(c), dte = -1.0 / c;
    const double u1 = 2.0 * c + te * te, d1 = 2.0 + 2.0 * te * dte;
    const double z1 = c * (u1 + 1.0), dz = u1 + 1.0 + c * d1, u2 = z1 + te, d2 = dz + dte;
    const double d3 = z1 * u2 + c * (dz * u2 + z1 * d2);
    run r;
    dae_sensitivity *x = NULL;
    double slope[MOST_VALUES];
    prepare(&r, MODEL("  parameter Real c = 0.5;\n  Real x(start = 1, fixed = true);\n"
                      "  Real z1, z2;\n  discrete Real u1(start = 0), u2(start = 0);\n"
                      "  discrete Real u3(start = 0);\nequation\n  der(x) = -x;\n"
                      "  z1 = c*u1 + x;\n  z2 = z1*u2;\n  when x < c then\n    u3 = z2*c;\n"
                      "    u2 = z1 + time;\n    u1 = x*2 + time^2;\n  end when;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_sensitivity_variables(x, 1.0, 0, slope), DAE_OK);
    assert_true(fabs(entry(&r, slope, "u1") - d1) <= 1e-6);
    assert_true(fabs(entry(&r, slope, "u2") - d2) <= 1e-6);
    assert_true(fabs(entry(&r, slope, "u3") - d3) <= 1e-6);
    dae_sensitivity_free(x);
    end(&r);
}

#define STIFF(action, last)                                                                        \
    MODEL("  parameter Real eps = 1e-7;\n  parameter Real w = 2;\n  parameter Real th = 0.5;\n"    \
          "  Real x(start = 0, fixed = true);\n  Real y(start = 0, fixed = true);\n"               \
          "  discrete Real n(start = 0, fixed = true);\nequation\n  eps*der(x) = sin(w*time) - "   \
          "x;\n"                                                                                   \
          "  der(y) = -y + n;\n  when x > th then\n    n = " action ";\n" last "  end when;")

/* x = sin(w t - a)/sqrt(1 + (eps w)^2), a = atan(eps w), but by the equations its slope is off by
 * its error over eps. The last event before t = 5 is where w te - a = 2 pi + pi/6, so that
 * dte/dw = (eps - te)/w. */
static void test_stiff_relation(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double rtol;
    } runs[] = {{"radau", 1e-7}, {"bdf", 1e-7},      {"gauss", 1e-7}, {"glm", 1e-7},  {"irk", 1e-7},
                {"irk", 1e-9},   {"lobattoc", 1e-9}, {"liex", 1e-9},  {"rodas", 1e-9}};
    const double eps = 1e-7, w = 2.0, te = 13.0 / 6.0 * acos(-1.0) / w + eps;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        run r;
        dae_sensitivity *x = NULL;
        const double rtol = runs[i].rtol, most = 100.0 * rtol * te / w;
        double slope[MOST_VALUES], when, derivative;
        prepare(&r, STIFF("time", ""));
        r.options.rtol = rtol;
        r.options.atol = 1e-3 * rtol;
        r.options.method = runs[i].method;
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = (const char *[]){"w"}};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(r.solver, 3.6, NULL, NULL), DAE_OK);
        assert_int_equal(dae_sensitivity_variables(x, 3.6, 0, slope), DAE_OK);
        assert_int_equal(dae_sensitivity_event(x, 0, &when, &derivative), DAE_OK);
        const double off = fabs(entry(&r, slope, "n") - (eps - te) / w);
        if (off > most) print_error("%s, %g: off by %g\n", runs[i].method, rtol, off);
        assert_true(off <= most && fabs(derivative - (eps - te) / w) <= most);
        /* S of x itself is smooth: t cos(w t) */
        assert_true(fabs(entry(&r, slope, "x") - 3.6 * cos(3.6 * w)) <= 1e-5);
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* With larger tolerances it crosses several times at once: errors decide when. */
static void test_stiff_relation_that_returns(void **state)
{
    (void)state;
    run r;
    dae_sensitivity *x = NULL;
    const char *by = "w";
    prepare(&r, STIFF("y + w", "  elsewhen x < -th then\n    n = 0.5*time;\n"));
    r.options.rtol = 1e-5;
    r.options.atol = 1e-8;
    r.options.method = "radau";
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = &by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, 5.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag_of(&r)->text, "crosses again"));
    dae_sensitivity_free(x);
    end(&r);
}

/* What happens at t = 0.5, and again at 1: clocks and relations that move apart are refused, others
 * are not. */
static void test_clocks_together(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second, *by;
        double slope; /* of y at 1.1; NAN: refused */
    } cases[] = {     /* y counts ticks at T, 2 T, 3 T, 4 T: dy/dT = -(1 + 2 + 3 + 4) */
                 {"sample(0.5, 0.5)", "sample(T, T)", "T", NAN},
                 {"sample(T, T)", "sample(0.5, 0.5)", "T", NAN},
                 {"sample(2*T, 2*T)", "sample(T, T)", "T", -10.0},
                 {"sample(0.5, 0.5)", "sample(0.25, 0.25)", "T", 0.0},
                 {"time >= 2*c", "sample(T, T)", "T", NAN},
                 {"time >= 2*c", "sample(T, T)", "c", NAN},
                 {"time >= 2*T", "sample(T, T)", "T", -10.0},
                 {"z > 2*c + 1e-11", "sample(T, T)", "c", NAN},
                 {"z > 2*c + 1e-11", "sample(T, T)", "T", NAN},
                 {"z > 2*c - 1e-11", "sample(T, T)", "T", NAN},
                 {"z > 2*T + 1e-11", "sample(T, T)", "T", -10.0},
                 {"z > 0.51", "sample(T, T)", "T", -10.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[600];
        run r;
        dae_sensitivity *x = NULL;
        double slope[MOST_VALUES];
        snprintf(body, sizeof body,
                 "model M\n  parameter Real T = 0.25;\n  parameter Real c = 0.25;\n"
                 "  Real y(start = 0, fixed = true);\n  Real z(start = 0, fixed = true);\n"
                 "  discrete Real a(start = 0, fixed = true);\n"
                 "  discrete Real b(start = 0, fixed = true);\nequation\n  der(y) = b;\n"
                 "  der(z) = 1;\n  when %s then\n    a = time;\n  end when;\n  when %s then\n"
                 "    b = pre(b) + 1;\n  end when;\nend M;\n",
                 cases[i].first, cases[i].second);
        prepare(&r, body);
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = &cases[i].by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        const dae_status status = dae_solver_run(r.solver, 1.1, NULL, NULL);
        if (isnan(cases[i].slope)) {
            assert_int_equal(status, DAE_ERR_UNSUPPORTED);
            assert_non_null(strstr(diag_of(&r)->text, "several events meet at t = 0.5"));
        } else {
            assert_int_equal(status, DAE_OK);
            assert_int_equal(dae_sensitivity_variables(x, 1.1, 0, slope), DAE_OK);
            assert_true(fabs(entry(&r, slope, "y") - cases[i].slope) <= 1e-6);
        }
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* At the event d = z, and z + z^3 = g d + k with k = 0: dd/dk = 1/(1 - g), if that settles. */
static void test_discretes_that_settle(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    static const double g[] = {0.25, 0.9, 2.0};
    for (int i = 0; i < 3; i++) {
        run r;
        dae_sensitivity *x = NULL;
        double slope[MOST_VALUES];
        prepare(&r, MODEL("  parameter Real k = 0;\n  parameter Real g = 0;\n  Real z(start = 0);\n"
                          "  Real x(start = 0, fixed = true);\n"
                          "  discrete Real d(start = 0, fixed = true);\nequation\n  der(x) = 1;\n"
                          "  z + z^3 = g*d + k;\n  when time > 0.5 then\n    d = z;\n  end when;"));
        assert_int_equal(dae_problem_set_parameter(r.problem, "g", g[i], &r.diag), DAE_OK);
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(r.solver, 1.0, NULL, NULL),
                         i == 0 ? DAE_OK : DAE_ERR_UNSUPPORTED);
        if (i == 0) {
            assert_int_equal(dae_sensitivity_variables(x, 1.0, 0, slope), DAE_OK);
            assert_true(fabs(entry(&r, slope, "d") - 1.0 / (1.0 - g[i])) <= 1e-9);
        } else {
            assert_non_null(strstr(diag_of(&r)->text, "do not settle"));
            assert_non_null(strstr(diag_of(&r)->text, "as that of d (m.mo:6)"));
        }
        dae_sensitivity_free(x);
        end(&r);
    }
}

/* reinit where the run begins: start values go through it, a value of 0 as well as others. A clock
 * that strikes there and moves is refused. */
static void test_reinit_at_the_start(void **state)
{
    (void)state;
    const double t = 0.5, c = 1.0;
    const struct {
        const char *start, *when, *value, *by;
        double slope; /* of x' = -c x half a second after the start; NAN: refused */
        double t0;
    } cases[] = {{"1", "sample(0, 1)", "2*x", "x", 2.0 * exp(-c * t), 0.0},
                 {"1", "sample(0, 1)", "2*x", "c", -2.0 * t * exp(-c * t), 0.0},
                 {"0", "sample(0, 1)", "2*x", "x", 2.0 * exp(-c * t), 0.0},
                 {"1", "{initial(), x < 0.3}", "2*x + c", "x", 2.0 * exp(-c * t), 0.0},
                 {"1", "{initial(), x < 0.3}", "2*x + c", "c", (1.0 - 3.0 * t) * exp(-c * t), 0.0},
                 {"1", "sample(0, T)", "2*x + T", "T", exp(-c * t), 0.0},
                 {"1", "sample(T - 1, 1)", "2*x", "T", NAN, 0.0},
                 {"1", "sample(T - 1, 1)", "2*x", "x", 2.0 * exp(-c * t), 0.0},
                 {"1", "sample(1, T)", "2*x", "T", NAN, 3.0},
                 {"1", "sample(3, T)", "2*x", "T", 0.0, 3.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        run r;
        dae_sensitivity *x = NULL;
        double slope[MOST_VALUES];
        snprintf(body, sizeof body,
                 "model M\n  parameter Real c = 1;\n  parameter Real T = 1;\n"
                 "  Real x(start = %s, fixed = true);\nequation\n  der(x) = -c*x;\n"
                 "  when %s then\n    reinit(x, %s);\n  end when;\nend M;\n",
                 cases[i].start, cases[i].when, cases[i].value);
        prepare(&r, body);
        assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
        dae_sensitivity_request request = {.count = 1, .names = &cases[i].by};
        assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
        const dae_status status = dae_solver_start(r.solver, cases[i].t0, NULL, NULL);
        if (isnan(cases[i].slope)) {
            assert_int_equal(status, DAE_ERR_UNSUPPORTED);
            assert_non_null(strstr(diag_of(&r)->text, "the clock at m.mo:7 strikes where"));
        } else {
            if (status != DAE_OK) print_error("case %d: %s\n", (int)i, diag_of(&r)->text);
            assert_int_equal(status, DAE_OK);
            assert_int_equal(dae_solver_run(r.solver, cases[i].t0 + t, NULL, NULL), DAE_OK);
            assert_int_equal(dae_sensitivity_variables(x, cases[i].t0 + t, 0, slope), DAE_OK);
            if (fabs(entry(&r, slope, "x") - cases[i].slope) > 1e-5)
                print_error("case %d: %g\n", (int)i, entry(&r, slope, "x"));
            assert_true(fabs(entry(&r, slope, "x") - cases[i].slope) <= 1e-5);
        }
        dae_sensitivity_free(x);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reinit_of_no_state),
                                       cmocka_unit_test(test_jump_without_reinit),
                                       cmocka_unit_test(test_jumps_without_events),
                                       cmocka_unit_test(test_discrete_starts),
                                       cmocka_unit_test(test_leaving_zero),
                                       cmocka_unit_test(test_several_events),
                                       cmocka_unit_test(test_clauses_through_definitions),
                                       cmocka_unit_test(test_stiff_relation),
                                       cmocka_unit_test(test_stiff_relation_that_returns),
                                       cmocka_unit_test(test_clocks_together),
                                       cmocka_unit_test(test_discretes_that_settle),
                                       cmocka_unit_test(test_reinit_at_the_start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
