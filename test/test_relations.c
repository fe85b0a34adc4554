/* Relations and discrete functions of variables that come to a value and stay there, begin at one,
 * or touch one: by their definition, with every kind of method, at all tolerances. */
#include "model_run.h"

static const char *const methods[] = {"auto",  "bdf",    "radau", "rodas",
                                      "dopri", "taylor", "sdirk", "herk"};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct expected {
    const char *name;
    double value;
} expected;

static void run_one(const char *text, const char *method, double rtol, double tend,
                    const expected *e)
{
    run r;
    prepare(&r, text);
    r.options.rtol = rtol;
    r.options.atol = 1e-3 * rtol;
    r.options.method = method;
    r.options.stop_time = tend;
    OK(start_at(&r, 0.0));
    dae_status status = step_to(&r, tend);
    if (status != DAE_OK) print_error("%s at %g:\n%s\n", method, rtol, text);
    OK(status);
    for (; e->name; e++) {
        double found = value(&r, e->name);
        if (fabs(found - e->value) <= 100.0 * rtol * fmax(1.0, fabs(e->value))) continue;
        print_error("%s at %g: %s = %.9g, not %.9g in\n%s\n", method, rtol, e->name, found,
                    e->value, text);
        fail();
    }
    end(&r);
}

/* By all methods at 1e-3 .. 1e-9. */
static void run_all(const char *text, double tend, const expected *e)
{
    for (int m = 0; m < METHODS; m++)
        for (double rtol = 1e-3; rtol > 5e-10; rtol *= 1e-2)
            run_one(text, methods[m], rtol, tend, e);
}

/* By the methods for any form, likewise: what is the derivative of an algebraic variable is not for
 * explicit and half-explicit ones. */
static void run_residual(const char *text, double tend, const expected *e)
{
    for (int m = 0; m < METHODS; m++) {
        if (strcmp(methods[m], "dopri") == 0 || strcmp(methods[m], "herk") == 0) continue;
        for (double rtol = 1e-3; rtol > 5e-10; rtol *= 1e-2)
            run_one(text, methods[m], rtol, tend, e);
    }
}

/* A relation whose two sides meet and stay equal: > and < are false, >= and <= true, in equations,
 * in conditions of when, in integrands and in what is only reported. */
static void test_equality_on_a_plateau(void **state)
{
    (void)state;
    static const char *const plateaus[] = {"s = min(x, 1.5);",
                                           "s = if x < 1.5 then x else 1.5;",
                                           "s = if time < 1.5 then time else 1.5;",
                                           "s = min(time, 1.5);",
                                           "s = max(min(x, 1.5), -1);",
                                           "s = noEvent(if x < 1.5 then x else 1.5);"};
    static const expected e[] = {{"n", 0}, {"m", 1}, {"w", 0}, {"a", 0},
                                 {"b", 1}, {"c", 0}, {"d", 1}, {NULL, 0}};
    for (size_t k = 0; k < sizeof plateaus / sizeof *plateaus; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            MODEL("Real x(start=0, fixed=true), s, w(start=0, fixed=true);\n"
                  "Boolean a, b, c, d;\nInteger n(start=0, fixed=true), m(start=0, fixed=true);\n"
                  "equation\nder(x) = 1;\n%s\na = s > 1.5;\nb = s >= 1.5;\nc = s < 1.5;\n"
                  "d = s <= 1.5;\nder(w) = if s > 1.5 then 1 else 0;\n"
                  "when a then\n  n = pre(n) + 1;\nend when;\n"
                  "when b then\n  m = pre(m) + 1;\nend when;"),
            plateaus[k]);
        run_all(text, 4.0, e);
    }
}

/* A state that its own equation stops: it is at the bound, not above it. */
static void test_what_stops_itself(void **state)
{
    (void)state;
    static const expected e[] = {{"s", 1}, {"q", 0}, {"r", 1}, {NULL, 0}};
    run_all(MODEL("Real s(start=0, fixed=true);\nBoolean q, r;\nequation\n"
                  "der(s) = if s < 1 then 1 else 0;\nq = s > 1;\nr = s >= 1;"),
            3.0, e);
}

/* An integer at the start that is left downwards, or upwards where the ceiling is taken:
 * integrals of what the definitions say. */
static void test_integers_at_the_start(void **state)
{
    (void)state;
    static const struct {
        const char *y, *k;
        double integral; /* over 0 .. 4 */
    } cases[] = {
        {"7 + 0.5*time", "ceil(y)", 34},
        {"-0.5*time", "floor(y)", -6},
        {"2 - time", "floor(y)", -2},
        {"-0.5*time", "mod(y, 1)", 2},
        {"2 - time", "mod(y, -2)", -4},
        {"-time", "rem(y, 2)", -4},
        {"-time", "div(y, 2)", -2},
        {"3 - time", "integer(y)", 2},
        {"min(3, time)", "mod(y, 3)", 4.5},
        {"min(3, time)", "rem(y, 3)", 4.5},
        {"if time < 3 then time else 3", "floor(y/3)", 1},
        {"min(3, time)", "floor(y)", 6},
    };
    static const char *const forms[] = {"y = %s;\nk = %s;", "0 = y - (%s);\n2*k = 2*(%s);"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int f = 0; f < 2; f++) {
            char body[300], text[600];
            snprintf(body, sizeof body, forms[f], cases[c].y, cases[c].k);
            snprintf(text, sizeof text,
                     MODEL("Real y, k, x(start=0, fixed=true);\nequation\n%s\nder(x) = k;"), body);
            const expected e[] = {{"x", cases[c].integral}, {NULL, 0}};
            run_all(text, 4.0, e);
        }
}

/* A relation of a solved variable that reads another one, and whose sides are equal at the start:
 * it is true from there on, so that no clause fires. */
static void test_equal_at_the_start(void **state)
{
    (void)state;
    static const expected e[] = {{"n", 0}, {"w", 0.5}, {NULL, 0}};
    run_all(MODEL("Real y, w(start=0, fixed=true);\nBoolean b;\n"
                  "Integer n(start=0, fixed=true);\nequation\ny = 1 + 1.9*sin(time);\n"
                  "b = (if y > 0.5 then y - 0.5 else 0) >= 0.5;\n"
                  "when b then\n  n = pre(n) + 1;\nend when;\nder(w) = if b then 1 else y;"),
            0.5, e);
}

/* 2 sin(t) touches 2, and errors of interpolants pass it: that is not an event. Closed form. */
static void test_touch(void **state)
{
    (void)state;
    static const expected e[] = {{"x", -2.85840734641020688}, {NULL, 0}};
    run_all(MODEL("Real u, y, z, x(start=0, fixed=true);\nequation\nu = 2*sin(time);\n"
                  "y = floor(u);\nz = if y > 1 then 1 else y;\nder(x) = z;"),
            6.0, e);
}

/* A ball that is stopped at a height, and let go there, is at that height with no speed: a moment
 * later it is there, too, but not at rest. Closed forms; the same with a jerk in place of a weight,
 * and for a variable that is solved for. */
static void test_let_go(void **state)
{
    (void)state;
    static const char *const texts[] = {
        MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true);\nequation\nder(x) = v;\n"
              "der(v) = -1;\nwhen x < 0.5 then\n  reinit(v, 0);\nend when;"),
        MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true), a(start=0, fixed=true);\n"
              "equation\nder(x) = v;\nder(v) = a;\nder(a) = -1;\n"
              "when x < 0.5 then\n  reinit(v, 0);\n  reinit(a, 0);\nend when;"),
        MODEL("Real x(start=1, fixed=true), v(start=0, fixed=true), y;\nequation\nder(x) = v;\n"
              "der(v) = -1;\ny^3 + y = x - 0.5;\nwhen y < 0 then\n  reinit(v, 0);\nend when;")};
    const double late = 3.0 - cbrt(3.0);
    const expected fallen[] = {{"x", -1.5}, {"v", -2.0}, {NULL, 0}};
    const expected jerked[] = {
        {"x", 0.5 - late * late * late / 6.0}, {"v", -0.5 * late * late}, {NULL, 0}};
    run_all(texts[0], 3.0, fallen);
    run_all(texts[1], 3.0, jerked);
    run_all(texts[2], 3.0, fallen);
}

/* What a jump brings to zero beside a pendulum, whose methods may have derivatives of all variables
 * and constraints of all levels: from then on it is not below zero. It was for 0.5, as y is. */
static void test_zero_beside_constraints(void **state)
{
    (void)state;
    static const expected e[] = {{"w", 0.5}, {"c", 2}, {"v", 1.5}, {"q", 0}, {NULL, 0}};
    static const char text[] =
        MODEL("Real x(start=1, fixed=true), y(start=0), vx, vy(start=-0.1, fixed=true), la, s;\n"
              "Real w(start=0, fixed=true), c(start=0, fixed=true);\n"
              "Real v(start=0, fixed=true), q(start=0, fixed=true);\nequation\n"
              "der(x) = vx;\nder(y) = vy;\nder(vx) = -la*x;\nder(vy) = -la*y - 1;\n"
              "x^2 + y^2 = 1;\ns = if time < 0.5 then y else 0;\n"
              "der(w) = if s < 0 then 1 else 0;\nder(c) = if s <= 0 then 1 else 0;\n"
              "der(v) = if s >= 0 then 1 else 0;\nder(q) = if s > 0 then 1 else 0;");
    run_all(text, 2.0, e);
    run_one(text, "hem", 1e-6, 2.0, e);
    run_one(text, "bdf2nd", 1e-6, 2.0, e);
}

/* Rows at events are limits of the solution: the sawtooth is in [0, 1) before and after each of its
 * jumps, and its sign is not that of a rounding below zero. */
static void test_rows_at_events(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        run r;
        prepare(&r, MODEL("Real u, y, s, w(start=0, fixed=true);\nequation\nu = 1.9*sin(time);\n"
                          "y = mod(u, 1);\ns = sign(y);\nder(w) = 1;"));
        r.options.method = methods[m];
        r.options.rtol = 1e-5;
        r.options.atol = 1e-8;
        OK(start_at(&r, 0.0));
        dae_status status;
        int rows = 0;
        while ((status = dae_solver_step(r.solver, 6.0)) > 0) {
            if (status != DAE_EVENT || dae_solver_time(r.solver) == 0.0) continue;
            double y = value(&r, "y");
            assert_true(y >= 0.0 && y <= 1.0);
            NEAR("s", 1.0);
            rows++;
        }
        OK(status);
        assert_int_equal(rows, 2 * 5); /* u passes 1 up and down, 0, -1 down and up */
        end(&r);
    }
}

/* The impulse of a derivative at a jump is not lost without a word. */
static void test_impulse_is_told(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x, y, w(start=0, fixed=true);\nequation\n"
                       "y = if time < 1 then 0.0 else 1.0;\nx = der(y);\nder(w) = x;")));
    OK(step_to(&r, 2.0));
    WORDS(r.messages, "m.mo:5|y jumps from 0 to 1|impulse|x, w");
    end(&r);
    OK(begin(&r, MODEL("Real x, y, w(start=0, fixed=true);\nequation\n"
                       "y = if time < 1 then time else 1.0;\nx = der(y);\nder(w) = x;")));
    OK(step_to(&r, 2.0));
    NEAR("w", 1.0); /* a kink: nothing is lost */
    assert_null(strstr(r.messages, "impulse"));
    end(&r);
}

/* Event by event floor has other relations at zero. Where one was met, a rounding off, is zero no
 * more once a new value of floor has moved it: then a limit stops the argument at the next step. */
static void test_limit_on_a_step(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double y; /* behind the limit */
    } cases[] = {{MODEL("Real y = mod(min(2.0, time), 1.0);"), 0.0},
                 {MODEL("Real y = mod(min(2.0, time), 0.5);"), 0.0},
                 {MODEL("Real y = rem(min(2.0, time), 1.0);"), 0.0},
                 {MODEL("Real y = 2*min(2.0, time) - floor(min(2.0, time));"), 2.0},
                 {MODEL("Real y = min(2.0, time) + floor(min(2.0, time));"), 4.0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        run r;
        prepare(&r, cases[k].text);
        OK(start_at(&r, 0.37));
        OK(step_to(&r, 3.38));
        NEAR("y", cases[k].y);
        end(&r);
    }
}

/* Derivatives that only relations, clauses and asserts read are those of the equations, at the
 * start too: cos(t), 2x^2/(1 + 3z^2), and of second order 1 - sin(t). */
static void test_derivatives_at_events(void **state)
{
    (void)state;
    static const expected slope[] = {
        {"n", 1}, {"w", 1.0471975511965976}, {"b", 0}, {"m", 0}, {NULL, 0}}; /* pi/3 */
    run_residual(MODEL("Real u, w(start=0, fixed=true);\nBoolean b;\n"
                       "Integer n(start=0, fixed=true), m(start=0, fixed=true);\nequation\n"
                       "u = sin(time);\nb = der(u) > 0;\n"
                       "der(w) = if der(u) > 0.5 then 1 else 0;\n"
                       "when der(u) < 0 then\n  n = pre(n) + 1;\nend when;\n"
                       "when b then\n  m = pre(m) + 1;\nend when;"),
                 3.0, slope);
    static const expected sampled[] = {{"first", 2}, {"d", 0.125070392402}, {NULL, 0}};
    run_residual(MODEL("Real x(start=1, fixed=true), z;\n"
                       "discrete Real d(start=0, fixed=true), first(start=0, fixed=true);\n"
                       "equation\nder(x) = -x;\nz^3 + z = 1 - x^2;\n"
                       "when sample(0, 1) then\n  d = der(z);\n"
                       "  first = if time < 0.5 then der(z) else pre(first);\nend when;"),
                 1.5, sampled);
    static const expected second[] = {{"n", 1}, {NULL, 0}};
    run_residual(MODEL("Real u;\nInteger n(start=0, fixed=true);\nequation\n"
                       "u = sin(time) + time^2/2;\n"
                       "when der(der(u)) < 0.5 then\n  n = pre(n) + 1;\nend when;"),
                 2.0, second);
}

/* An assert that the derivative breaks at the start stops the run there. */
static void test_assert_of_a_derivative(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x(start=1, fixed=true), z;\nequation\nder(x) = -x;\n"
                      "z^3 + z = 1 - x^2;\nassert(der(z) < 1.5, \"fast\");"));
    assert_int_equal(start_at(&r, 0.0), DAE_ERR_ASSERT);
    end(&r);
}

/* What a limit holds at the threshold of a relation, and what other relations do there meanwhile.
 */
static void test_equal_at_a_limit(void **state)
{
    (void)state;
    static const expected none[] = {{"n", 0}, {"b", 0}, {NULL, 0}};
    static const expected once[] = {{"n", 1}, {"b", 0}, {NULL, 0}};
    static const expected again[] = {{"n", 1}, {"b", 1}, {NULL, 0}};
    run_all(MODEL("Real x(start=0, fixed=true), y = 2.3*sin(time), z = max(y, -2);\n"
                  "Boolean b = z <= -2;\nInteger n(start=0, fixed=true);\nequation\n"
                  "der(x) = 1;\nwhen b then n = pre(n) + 1; end when;"),
            5.5, once);
    run_all(MODEL("Real x(start=0, fixed=true), y = 2.3*sin(time), z = max(y, -2);\n"
                  "Real f = floor(z);\nBoolean b = z <= -2;\nInteger n(start=0, fixed=true);\n"
                  "equation\nder(x) = f;\nwhen b then n = pre(n) + 1; end when;"),
            5.5, once);
    run_all(MODEL("Real x(start=0, fixed=true), y = 2.3*sin(time), z = min(y, -2);\n"
                  "Real f = mod(0.5*z - 2, 1);\nBoolean b = z >= -2;\n"
                  "Integer n(start=0, fixed=true);\nequation\nder(x) = if b then 1 else f;\n"
                  "when b then n = pre(n) + 1; end when;"),
            6.07, again);
    run_all(MODEL("Real x(start=0, fixed=true), y = 2.3*sin(time), z = max(y, -2);\n"
                  "Boolean b = z < -2;\nInteger n(start=0, fixed=true);\nequation\n"
                  "der(x) = 1;\nwhen b then n = pre(n) + 1; end when;"),
            5.5, none);
}

/* sign and what is made of it: no value of a zero that lasts for no time, at the start and later.
 */
static void test_sign(void **state)
{
    (void)state;
    static const double pi = 3.14159265358979323846;
    const expected clauses[] = {{"n", 0}, {"x", 3 - 0.5 * 3}, {NULL, 0}};
    const expected flips[] = {{"n", 1}, {"x", pi - (5.23 - pi)}, {"b", 1}, {NULL, 0}};
    const expected stays[] = {{"n", 1}, {"x", 3.5}, {NULL, 0}};
    const expected thirds[] = {{"x", pi}, {"y", -1}, {NULL, 0}};
    run_all(MODEL("Real x(start=0, fixed=true), y = mod(time, 1.5), s = sign(y);\n"
                  "Boolean b = s < 1;\nInteger n(start=0, fixed=true);\nequation\n"
                  "der(x) = s - 0.5;\nwhen b then n = pre(n) + 1; end when;"),
            3.0, clauses);
    run_all(MODEL("Real x(start=0, fixed=true), y = 1.9*sin(time), s = sign(y), r = sign(s);\n"
                  "Boolean b = s < 0.5;\nInteger n(start=0, fixed=true);\nequation\n"
                  "der(x) = r;\nwhen b then n = pre(n) + 1; end when;"),
            5.23, flips);
    run_all(MODEL("Real x(start=0, fixed=true), z = 2.3*sin(time), s = sign(z), y = mod(s, 2);\n"
                  "Boolean b = y >= 1;\nInteger n(start=0, fixed=true);\nequation\n"
                  "der(x) = y;\nwhen b then n = pre(n) + 1; end when;"),
            3.5, stays);
    run_all(MODEL("Real x(start=0, fixed=true), z = 2.3*sin(time), s = sign(z), r = rem(s, 0.5);\n"
                  "Real y = integer(s);\nequation\nder(x) = if y > 0 then 1 else r;"),
            5.23, thirds);
}

/* Inside of noEvent steps end where definitions make of it a relation of time. */
static void test_seams_of_definitions(void **state)
{
    (void)state;
    static const double pi = 3.14159265358979323846;
    const expected e[] = {{"x", pi - (5.23 - pi)}, {NULL, 0}};
    run_all(MODEL("Real x(start=0, fixed=true), y = 1.9*sin(time), s = noEvent(sign(y));\n"
                  "Real r = noEvent(sign(s));\nequation\nder(x) = r;"),
            5.23, e);
}

/* Discrete functions at the end of a step that is at their event: of what is the slope of a state
 * there, at a kink, where another variable has its seam, and at the start. */
static void test_discrete_functions(void **state)
{
    (void)state;
    static const expected slope[] = {{"f", 1}, {"k", 3}, {NULL, 0}};
    static const expected kink[] = {{"r", 0.085}, {"k", 3}, {NULL, 0}};
    static const expected seam[] = {{"x", 3.69585448804212 - 0.05414551195788}, {NULL, 0}};
    run_all(MODEL("Real x(start=0, fixed=true), y = 1.9*sin(time), z = y + 0.5;\n"
                  "Integer f = integer(z), k(start=0, fixed=true);\nequation\nder(x) = y;\n"
                  "when change(f) then k = pre(k) + 1; end when;"),
            2.5, slope);
    run_all(MODEL("Real x(start=0, fixed=true), y = -1 - time, z = 0.5*abs(y) - 2;\n"
                  "Real r = rem(z, 1.5);\nInteger f = integer(2*z), k(start=0, fixed=true);\n"
                  "equation\nder(x) = abs(z);\nwhen change(f) then k = pre(k) + 1; end when;"),
            3.17, kink);
    run_all(MODEL("Real x(start=0, fixed=true), y = 1.9*sin(time), c = ceil(y), z = max(y, -1);\n"
                  "Boolean b = c > -0.5;\nequation\nder(x) = if b then 1 else -1 + 0*z;"),
            3.75, seam);
}

/* A second run for the row before a seam leaves the state as it was. */
static void test_state_at_a_seam(void **state)
{
    (void)state;
    static const expected e[] = {{"x", 1.36761009}, {NULL, 0}};
    for (int m = 0; m < METHODS; m++)
        run_one(MODEL("Real x(start=0, fixed=true), y = 2.3*sin(time), r = rem(y, 2);\n"
                      "Real m = mod(r, 0.5), z = max(y, -2);\nBoolean b = m > 2;\n"
                      "Integer n(start=0, fixed=true);\nequation\nder(x) = if b then 1 else z;\n"
                      "when b then n = pre(n) + 1; end when;"),
                methods[m], 1e-8, 5.23, e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equality_on_a_plateau),
        cmocka_unit_test(test_what_stops_itself),
        cmocka_unit_test(test_integers_at_the_start),
        cmocka_unit_test(test_equal_at_the_start),
        cmocka_unit_test(test_touch),
        cmocka_unit_test(test_let_go),
        cmocka_unit_test(test_zero_beside_constraints),
        cmocka_unit_test(test_rows_at_events),
        cmocka_unit_test(test_impulse_is_told),
        cmocka_unit_test(test_limit_on_a_step),
        cmocka_unit_test(test_derivatives_at_events),
        cmocka_unit_test(test_assert_of_a_derivative),
        cmocka_unit_test(test_equal_at_a_limit),
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_seams_of_definitions),
        cmocka_unit_test(test_discrete_functions),
        cmocka_unit_test(test_state_at_a_seam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
