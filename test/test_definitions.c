/* Definitions: variables that an equation gives explicitly and that others use are no unknowns, but
 * have values, names in messages, and places in events as if they were. */
#include "model_run.h"

static dae_counts counts_of(const char *text)
{
    run r;
    prepare(&r, text);
    dae_counts c = dae_problem_counts(r.problem);
    end(&r);
    return c;
}

static void expect_counts(const char *text, int definitions, int unknowns, int line)
{
    dae_counts c = counts_of(text);
    if (c.definitions == definitions && c.equations == unknowns) return;
    print_error("line %d: %d definitions, %d unknowns, not %d, %d\n", line, c.definitions,
                c.equations, definitions, unknowns);
    fail();
}
#define COUNTS(definitions, unknowns, text) expect_counts(text, definitions, unknowns, __LINE__)

/* ---- what is one ---------------------------------------------------------------------------- */

#define DECAY(declared, equations)                                                                 \
    MODEL("parameter Real k = 2;\nReal x(start=1, fixed=true), y(start=2, fixed=true), "           \
          "r" declared ";\nequation\nder(x) = -r;\nder(y) = r - y;\n" equations)

static void test_explicit_equations(void **state)
{
    (void)state;
    COUNTS(1, 2, DECAY("", "r = k*x*y;"));
    COUNTS(1, 2, DECAY("", "r = noEvent(if x > 0.5 then x else y^2);"));
    COUNTS(2, 2, DECAY(", s", "r = s^2;\ns = k*x;"));
    COUNTS(1, 2, DECAY("(start = 3)", "r = k*x*y;")); /* states settle it */
    COUNTS(1, 2, DECAY("(nominal = 1e3)", "r = k*x*y;"));
}

static void test_what_stays(void **state)
{
    (void)state;
    COUNTS(0, 3, DECAY("", "2*r = x*y;")); /* not written for r */
    COUNTS(0, 3, DECAY("", "r + r^3 = x*y;"));
    COUNTS(0, 3, DECAY("", "r = k*(x - y);"));
    COUNTS(0, 3, DECAY("", "r = if x > 0.5 then x else y^2;")); /* a structure for each mode */
    COUNTS(0, 3, DECAY("", "r = x*sin(time);"));
    COUNTS(0, 3, DECAY("(nominal = 0.01)", "r = k*x*y;"));
    COUNTS(0, 3, DECAY("(stateSelect = StateSelect.prefer)", "r = k*x*y;"));
    COUNTS(0, 4, DECAY(", s", "r = k*x*y;\ns = der(r);"));
    COUNTS(0, 3, DECAY("", "r = der(x)^2 + x;"));
    COUNTS(0, 2,
           MODEL("Real x(start=1), r;\ninitial equation\nr = 4;\nequation\nder(x) = -r;\n"
                 "r = x^2;"));
    /* a guess where something is solved for, and errors of what is */
    COUNTS(1, 3, DECAY(", z", "r = z^2;\nz + z^3 = x;"));
    COUNTS(0, 4, DECAY("(start = 3), z", "r = z^2;\nz + z^3 = x;"));
    COUNTS(1, 2, DECAY("", "r = exp(y - x);"));
    COUNTS(0, 4, DECAY(", z", "r = exp(z - x);\nz + z^3 = x;"));
    /* the guess of r is needed, that of s is not */
    COUNTS(1, 3, DECAY("(start = 3), s", "r = sqrt(s);\ns = 2 + r*cos(r)/7;"));
}

/* What is divided by a difference stays, also where that is a definition; by other things not. */
static void test_poles_stay(void **state)
{
    (void)state;
    COUNTS(0, 3, DECAY("", "r = 1/(x - y);"));
    COUNTS(0, 3, DECAY("", "r = x/(y - 2)^2;"));
    COUNTS(0, 3, DECAY("", "r = (2 - x)^(-k);"));
    COUNTS(0, 3, DECAY("", "r = log(2 - x);"));
    COUNTS(1, 3, DECAY(", d", "d = y - 2;\nr = x/d;"));
    COUNTS(1, 2, DECAY("", "r = x/(k + y);"));
    COUNTS(1, 2, DECAY("", "r = x/(k - 2);"));
    COUNTS(1, 2, DECAY("", "r = x*exp(-k/(1 + y));"));
    run r; /* x = 2 at t = 2/3, where x' is infinite */
    prepare(&r, MODEL("Real x(start=1, fixed=true), p, q;\nequation\nder(x) = q;\n"
                      "p = 1/(x - 2);\nq = p*p/2;"));
    r.options.rtol = r.options.atol = 1e-4;
    OK(start_at(&r, 0.0));
    assert_true(step_to(&r, 1.0) < 0);
    assert_true(fabs(dae_solver_time(r.solver) - 2.0 / 3.0) < 1e-3);
    WORDS(diag_of(&r)->text, "p");
    end(&r);
}

/* An equation gives what its block determines: z from y, and not y from z. */
static void test_order_of_blocks(void **state)
{
    (void)state;
    COUNTS(0, 3,
           MODEL("Real x(start=1, fixed=true), y, z;\nequation\nder(x) = -z;\n"
                 "y + y^3 = x;\nz + z^3 = y;"));
}

/* In a loop one stays; the solution is that of the loop. */
static void test_loops_are_torn(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), a, b, c;\nequation\nder(x) = -x;\n"
                       "a = 0.3*cos(b);\nb = x*c;\nc = 1 + a^2;")));
    assert_int_equal(dae_problem_counts(r.problem).equations, 2);
    OK(step_to(&r, 0.5));
    double a = value(&r, "a"), b = value(&r, "b"), c = value(&r, "c");
    assert_true(fabs(a - 0.3 * cos(b)) < 1e-9);
    assert_true(fabs(b - value(&r, "x") * c) < 1e-9);
    assert_true(fabs(c - 1.0 - a * a) < 1e-9);
    end(&r);
}

/* From 20 unknowns on a definition stays if the Jacobian would fill: a mean of all, used by all. */
static void test_hubs_stay(void **state)
{
    (void)state;
    COUNTS(0, 31,
           MODEL("Real x[30](each start=1, each fixed=true), m;\nequation\nm = sqrt(x*x);\n"
                 "for i in 1:30 loop der(x[i]) = -i*x[i]*m; end for;"));
    COUNTS(1, 10,
           MODEL("Real x[10](each start=1, each fixed=true), m;\nequation\nm = sqrt(x*x);\n"
                 "for i in 1:10 loop der(x[i]) = -i*x[i]*m; end for;"));
}

/* Two equations of one sum: without v they look regular, and are not. */
static void test_singular_models_are_told(void **state)
{
    (void)state;
    run r;
    dae_model model = {.text = MODEL("Real x(start=1), a, b, v;\nequation\nder(x) = -x;\n"
                                     "v = a*b;\nv^3 + v = 2 + time;\nsin(v) = time;"),
                       .file = "m.mo"};
    memset(&r, 0, sizeof r);
    assert_int_equal(dae_problem_from_model(&model, &r.problem, &r.diag), DAE_ERR_MODEL);
    WORDS(r.diag.text, "singular|m.mo:6|m.mo:7|v");
}

/* ---- values --------------------------------------------------------------------------------- */

/* All of them are there, in results, relations, when-clauses and assertions. */
static void test_values_and_events(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), r, s;\ndiscrete Real seen(start=0);\n"
                       "Boolean low = s < 1;\nequation\nder(x) = -r;\nr = 2*x;\ns = r^2;\n"
                       "when s < 1 then\nseen = r;\nend when;\nassert(s > 1e-3, \"gone\");")));
    assert_int_equal(dae_problem_counts(r.problem).equations, 1);
    OK(step_to(&r, 1.0)); /* x = exp(-2 t), s = 1 at x = 0.5 */
    NEAR("r", 2.0 * exp(-2.0));
    NEAR("s", 4.0 * exp(-4.0));
    NEAR("seen", 1.0);
    EXACTLY("low", 1.0);
    assert_int_equal(step_to(&r, 5.0), DAE_ERR_ASSERT);
    end(&r);
}

/* A definition without a value stops the run, and is named with its line. */
static void test_failures_name_them(void **state)
{
    (void)state;
    run r;
    OK(begin(&r, MODEL("Real x(start=1, fixed=true), r, s;\nequation\nder(x) = -1 - s;\n"
                       "r = log(x);\ns = 0.1*r^2;")));
    assert_int_equal(dae_problem_counts(r.problem).equations, 1);
    assert_true(step_to(&r, 2.0) < 0);
    WORDS(diag_of(&r)->text, "m.mo:5|log(x)");
    assert_int_equal(diag_of(&r)->line, 5);
    end(&r);
}

/* What is to have a tolerance of its own is an unknown. */
static void test_asked_for(void **state)
{
    (void)state;
    static const char *const names[] = {"r"};
    dae_model model = {.text = MODEL("Real x(start=1, fixed=true), r[2], s;\nequation\n"
                                     "der(x) = -r[1] - s;\nr = {2*x^2, x^3};\ns = r[1]^2;"),
                       .file = "m.mo",
                       .unknowns = names};
    dae_problem *p = NULL;
    for (int k = 0; k < 2; k++) {
        model.unknown_count = k;
        assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
        dae_counts c = dae_problem_counts(p);
        assert_int_equal(c.equations, k ? 3 : 1);
        assert_int_equal(c.definitions, k ? 1 : 2);
        assert_int_equal(c.outputs, k ? 0 : 1); /* r[2] */
        dae_problem_free(p);
    }
}

/* A model that is wrong is told as it was written: x = 1 - 2*y leaves nothing of the other. */
static void test_repeated_equations(void **state)
{
    (void)state;
    run r;
    assert_int_equal(begin(&r, MODEL("Real x, y;\nequation\nx = 1 - 2*y;\n2*x + 4*y = 2;")),
                     DAE_ERR_SINGULAR);
    WORDS(diag_of(&r)->text, "m.mo:4|m.mo:5|x|y");
    end(&r);
}

/* A start value from outside that comes to nothing is told. */
static void test_lost_start(void **state)
{
    (void)state;
    run r;
    prepare(&r, DECAY("", "r = k*x*y;"));
    OK(dae_problem_set_start(r.problem, "r", 17.0, &r.diag));
    OK(start_at(&r, 0.0));
    NEAR("r", 4.0);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_explicit_equations),
                                       cmocka_unit_test(test_what_stays),
                                       cmocka_unit_test(test_poles_stay),
                                       cmocka_unit_test(test_order_of_blocks),
                                       cmocka_unit_test(test_loops_are_torn),
                                       cmocka_unit_test(test_hubs_stay),
                                       cmocka_unit_test(test_singular_models_are_told),
                                       cmocka_unit_test(test_values_and_events),
                                       cmocka_unit_test(test_failures_name_them),
                                       cmocka_unit_test(test_lost_start),
                                       cmocka_unit_test(test_asked_for),
                                       cmocka_unit_test(test_repeated_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
