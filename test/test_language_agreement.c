/* One text, two implementations of the language: the run, and the interpreter of src/judge at its
 * rows, give the values that the Modelica specification 3.6 says, or both refuse. */
#include "judge/judge.h"
#include "model_run.h"

enum { LONGEST = 4000 };

static const char before[] =
    "type Color = enumeration(red, green, blue);\n"
    "record Pair\n  Real a;\n  Real v[2];\nend Pair;\n"
    "record Kind\n  Real a;\n  Integer k;\nend Kind;\n"
    "record Bound\n  Real a = 1;\n  Real v[2] = {3, 4};\nend Bound;\n"
    "function both\n  input Real u;\n  output Real y;\n  output Integer n;\n"
    "algorithm\n  y := u + 1;\n  n := 3;\nend both;\n"
    "function twice\n  input Real u;\n  output Real y;\n"
    "algorithm\n  y := both(u) + both(2*u)*both(0);\nend twice;\n"
    "function halves\n  input Real v[2];\n  output Real w[2];\n  output Real s;\n"
    "algorithm\n  w := v/2;\n  s := sum(v);\nend halves;\n"
    "function words\n  input Real u;\n  output Real y;\n  output String s;\n"
    "algorithm\n  y := u;\n  s := \"a\";\nend words;\n"
    "function whole\n  input Integer k;\n  output Integer n;\nalgorithm\n  n := k;\nend whole;\n";

static void text_of(char *text, const char *declarations, const char *equations)
{
    snprintf(text, LONGEST, "%smodel M\n  Real y;\n  %s\nequation\n  %s\nend M;\n", before,
             declarations, equations);
}

/* All equations of the interpreter hold at the values of the run. */
static void check_judge(run *r, const char *text)
{
    double values[MOST_VALUES];
    const judge_variable *v;
    const judge_equation *e;
    const judge_gap *g;
    const judge_result *result;
    judge *j;
    assert_int_equal(judge_open(text, strlen(text), "m.mo", NULL, 0, &j, &r->diag), DAE_OK);
    if (judge_gaps(j, &g)) fail_msg("%s: %s", text, g[0].construct);
    size_t variables = judge_variables(j, &v), equations = judge_equations(j, &e);
    assert_true(variables <= MOST_VALUES);
    judge_start_values(j, values);
    for (size_t k = 0; k < variables; k++)
        if (v[k].variability >= JUDGE_DISCRETE) values[k] = value(r, v[k].name);
    judge_point p = {.time = dae_solver_time(r->solver), .values = values};
    assert_int_equal(judge_evaluate(j, &p, &result), DAE_OK);
    for (size_t k = 0; k < equations; k++)
        if (result->rows[k].error || !(fabs(result->rows[k].residual) <= 1e-12))
            fail_msg("%s: %s: %g = %g", text, e[k].text, result->rows[k].left,
                     result->rows[k].right);
    judge_free(j);
}

static const struct {
    const char *declarations, *equations;
    double y; /* at time 2 */
} right[] = {
    /* a call with several results in an expression is the first of them [12.4.3] */
    {"", "y = both(time);", 3},
    {"", "both(time) = y;", 3},
    {"", "y = 2*both(time) + both(both(time));", 10},
    {"", "y = twice(time);", 8},
    {"", "y = if both(time) > 1 then -both(time) else 0;", -3},
    {"Real x[2] = {both(time), 1};", "y = sum(x) + max(both(time), 1);", 7},
    {"Real x[2] = 2*halves({time, 4});", "y = x*{1, 10} + halves({1, 2})*{2, 2};", 45},
    {"Integer n;", "(y, n) = both(time);", 3},
    {"Integer n;", "y = n; (, n) = both(time);", 3},
    {"parameter Real p = both(1) + 1;", "y = p;", 3},
    /* all values of a type, and ranges of them [11.2.2.2, 10.4.3] */
    {"Real v[2];",
     "y = v*{1, 10}; for b in Boolean loop v[if b then 1 else 2] = if b then time "
     "else 3; end for;",
     32},
    {"", "y = sum(if b then time else 3 for b in Boolean);", 5},
    {"", "y = sum(if b then time else 3 for b in true:true);", 2},
    {"", "y = sum(Integer(c) for c in Color) + 10*sum(Integer(c) for c in Color.green:Color.blue);",
     56},
    {"Real v[Boolean] = {1, time};", "y = v[time > 1] + 10*v[false];", 12},
    /* each [7.2.5] */
    {"Pair r[2](a = {time, 1}, each v = {3, time});", "y = r[2].v*{1, 10} + r[1].a;", 25},
    {"Pair r[2](each a = time, v = {{3, 4}, {5, time}});", "y = r[2].v*{1, 10} + r[2].a;", 27},
    {"Bound r[2](each v = {time, 7});", "y = r[2].v*{1, 10} + r[2].a;", 73},
    /* the angle lies in (-pi, pi] */
    {"", "y = atan2(-0.0, -1);", 3.14159265358979324},
};

static void test_values(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof right / sizeof right[0]; k++) {
        char text[LONGEST];
        run r;
        text_of(text, right[k].declarations, right[k].equations);
        if (load(&r, text)) fail_msg("%s: %s", right[k].equations, r.diag.text);
        dae_problem_free(r.problem);
        OK(begin(&r, text));
        OK(step_to(&r, 2.0));
        if (!(fabs(value(&r, "y") - right[k].y) <= 1e-12))
            fail_msg("%s: %.17g", right[k].equations, value(&r, "y"));
        check_judge(&r, text);
        end(&r);
    }
}

/* What neither takes. */
static const struct {
    const char *declarations, *equations, *words;
} wrong[] = {
    /* no Integer equals a Real, whichever side it is on */
    {"Integer i = 2.0;", "y = i;", "expected Integer, found Real"},
    {"Integer i;", "y = 1; i = 2.0;", "different types: Integer and Real"},
    {"Integer i[2];", "y = 1; i = {1, 2.0};", "different types: Integer and Real. i[1]"},
    {"Integer i = 4/2;", "y = 1;", "expected Integer, found Real"},
    {"Integer i = 2^3;", "y = 1;", "expected Integer, found Real"},
    {"Integer i = floor(2.5);", "y = 1;", "expected Integer, found Real"},
    {"Integer n;", "y = 1; (n, ) = both(time);", "different types: Integer and Real"},
    {"", "y = whole(2.0);", "expected Integer, found Real"},
    {"Kind r = Kind(1, 2.5);", "y = 1;", "expected Integer, found Real"},
    {"Boolean b = 1;", "y = 1;", "different types: Boolean and Integer"},
    {"", "y = true;", "different types: Real and Boolean"},
    {"", "y = Color.red;", "different types: Real and enumeration Color"},
    {"Color c = Color(4);", "y = 1;", "has no literal number 4"},
    {"", "y = Integer(2.5);", "expected an enumeration, found Real"},
    {"", "y = whole(1, k = 2);", "gets input 'k' twice"},
    {"String s; Boolean b = s + \"a\" == \"a\";", "(y, s) = words(time);", "String variable"},
};

static bool judge_refuses(const char *text)
{
    judge *j;
    const judge_gap *g;
    dae_diag diag;
    if (judge_open(text, strlen(text), "m.mo", NULL, 0, &j, &diag) != DAE_OK) return true;
    const bool gaps = judge_gaps(j, &g) > 0;
    judge_free(j);
    return gaps;
}

static void check_refused(const char *text, const char *words)
{
    run r;
    assert_int_equal(load(&r, text), DAE_ERR_MODEL);
    WORDS(r.diag.text, words);
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        char text[LONGEST];
        text_of(text, wrong[k].declarations, wrong[k].equations);
        check_refused(text, wrong[k].words);
        if (!judge_refuses(text)) fail_msg("the interpreter takes %s", text);
    }
}

/* What the interpreter, which does not know which variable an equation is for, leaves to the run.
 */
static void test_integers_on_the_right(void **state)
{
    (void)state;
    static const char *const equations[] = {"2.5 = i;", "{2.5, 1} = v;", "-i = 2.5;",
                                            "-i = k/2; k = 3;"};
    for (size_t k = 0; k < sizeof equations / sizeof equations[0]; k++) {
        char text[LONGEST], all[200];
        snprintf(all, sizeof all, "y = 1; %s", equations[k]);
        text_of(text, "Integer i, v[2], k;", all);
        check_refused(text, "is an Integer, the other side a Real");
    }
    char text[LONGEST]; /* a Real may equal an Integer, on both sides */
    run r;
    static const char *const same[] = {"y = 2*u; u = i; i = 2;", "2*i = y; i = 2; u = 1;",
                                       "y = 2*v[1]; {i} = v; i = 2; u = 1;",
                                       ("i + 0 = v[1]; if y < 0 then i = 3; else i = 2; end if; "
                                        "y = 4; u = 1;")};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        text_of(text,
                strstr(same[k], "v") ? "Integer i; discrete Real u; Real v[1];"
                                     : "Integer i; discrete Real u;",
                same[k]);
        OK(begin(&r, text));
        NEAR("y", 4);
        check_judge(&r, text);
        end(&r);
    }
}

static void test_ranges_of_two_types(void **state)
{
    (void)state;
    char text[LONGEST];
    text_of(text, "", "y = sum(1 for c in Color.red:3);");
    check_refused(text, "the ends of this range have different types");
    text_of(text, "", "y = sum(1 for b in false:1:true);");
    check_refused(text, "the ends of this range have different types");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_integers_on_the_right), cmocka_unit_test(test_ranges_of_two_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
