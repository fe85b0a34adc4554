/* Absolute tolerances: what a model suggests, and variables that stay below theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daedal.h"

static dae_problem *translate(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status =
        dae_problem_from_model(&(dae_model){.text = text, .file = "m.mo"}, &p, &diag);
    if (status != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static int unknown(const dae_problem *p, const char *name)
{
    for (int i = 0; i < dae_problem_size(p); i++)
        if (strcmp(dae_problem_unknown_name(p, i), name) == 0) return i;
    fail_msg("no unknown %s", name);
    return -1;
}

/* rtol 1e-6, atol 1e-9 */
static double atol_of(const dae_problem *p, const char *name, bool follow)
{
    double values[16];
    assert_true(dae_problem_size(p) <= 16);
    assert_int_equal(dae_problem_atol(p, 1e-6, 1e-9, follow, values), DAE_OK);
    return values[unknown(p, name)];
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_suggested(void **state)
{
    (void)state;
    dae_problem *p = translate(
        "model M\n  Real big(start = 5), trace(start = -1e-11, fixed = true), zero(start = 0);\n"
        "  Real none, scaled(start = 1e-11, nominal = 1e3), least(start = 1e-300);\n"
        "  Real algebraic(start = 1e-11), border(start = 1e-3);\nequation\n"
        "  der(big) = -big*algebraic;\n  der(trace) = -trace;\n  der(zero) = trace;\n"
        "  der(none) = big;\n  der(scaled) = -scaled;\n  der(least) = least;\n"
        "  algebraic^3 + algebraic = none;\n  der(border) = -border;\nend M;\n");
    assert_true(near(atol_of(p, "big", true), 1e-9));
    assert_true(near(atol_of(p, "trace", true), 1e-17)); /* rtol |start| */
    assert_true(near(atol_of(p, "trace", false), 1e-9)); /* what the user says is obeyed */
    assert_true(near(atol_of(p, "zero", true), 1e-9));
    assert_true(near(atol_of(p, "none", true), 1e-9));
    assert_true(near(atol_of(p, "scaled", true), 1e-6)); /* nominal decides */
    assert_true(near(atol_of(p, "scaled", false), 1e-6));
    assert_true(near(atol_of(p, "least", true), 1e-24));    /* 1e-15 atol */
    assert_true(near(atol_of(p, "algebraic", true), 1e-9)); /* a guess is no size */
    assert_true(near(atol_of(p, "border", true), 1e-9));    /* rtol |start| = atol */
    assert_int_equal(dae_problem_set_start(p, "zero", 1e-12, NULL), DAE_OK);
    assert_true(near(atol_of(p, "zero", true), 1e-18)); /* --start counts */
    double values[16];
    assert_int_equal(dae_problem_atol(NULL, 1e-6, 1e-9, true, values), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_atol(p, 1e-6, 1e-9, true, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_atol(p, -1.0, 1e-9, true, values), DAE_ERR_ARGUMENT);
    dae_problem_free(p);
}

/* In whatever order they are declared */
static void test_nominal_of_each(void **state)
{
    (void)state;
    dae_problem *p = translate("model M\n  Real a(start = 1, nominal = 1e3);\n"
                               "  Real b(start = 1, nominal = 1e-3);\nequation\n"
                               "  der(a) = -b;\n  der(b) = -a;\nend M;\n");
    assert_true(near(atol_of(p, "a", false), 1e-6));
    assert_true(near(atol_of(p, "b", false), 1e-12));
    dae_problem_free(p);
}

/* ---- what stays below ---- */

enum { MOST = 16 };

typedef struct outcome {
    int count;
    bool flags[MOST];
    double largest[MOST], atol[MOST];
} outcome;

/* Run with rtol 1e-6, atol 1e-9 and ask. */
static outcome run(const dae_problem *p, double tend, const char *method)
{
    outcome r = {0};
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.method = method;
    assert_true(dae_problem_size(p) <= MOST);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_unresolved(s, r.flags, NULL, NULL), DAE_ERR_STATE);
    if (dae_solver_start(s, 0.0, NULL, NULL) < 0) fail_msg("%s", dae_solver_diag(s)->text);
    if (dae_solver_run(s, tend, NULL, NULL) < 0) fail_msg("%s", dae_solver_diag(s)->text);
    r.count = dae_solver_unresolved(s, r.flags, r.largest, r.atol);
    assert_int_equal(dae_solver_unresolved(s, NULL, NULL, NULL), r.count);
    dae_solver_free(s);
    return r;
}

static void test_traces_are_found(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "rodas"};
    dae_problem *p = translate(
        "model T\n  Real c(start = 1e-11, fixed = true), d(start = 0, fixed = true), e, w(start = "
        "0);\n"
        "  Real T(start = 1, fixed = true), twin(start = 1, fixed = true);\n"
        "equation\n  der(T) = -T;\n  der(twin) = -T;\n  der(c) = -2*c;\n  der(d) = 2*c - d;\n"
        "  e^3*T^2 + e*T = 3*d;\n  der(w) = e;\nend T;\n");
    for (int k = 0; k < 3; k++) {
        outcome r = run(p, 1.0, methods[k]);
        assert_true(r.flags[unknown(p, "c")]);
        assert_true(r.flags[unknown(p, "d")]); /* since c drives it */
        assert_true(r.flags[unknown(p, "e")]);
        assert_false(r.flags[unknown(p, "T")]);
        assert_false(r.flags[unknown(p, "twin")]);
        assert_true(r.flags[unknown(p, "w")]); /* .. and so on */
        assert_int_equal(r.count, 4);
        assert_true(near(r.largest[unknown(p, "c")], 1e-11));
        assert_true(near(r.atol[unknown(p, "c")], 1e-9));
    }
    dae_problem_free(p);
}

/* Zero stays zero; and what only rounding moves is none: x and y are the same but for it. */
static void test_zeros_are_not(void **state)
{
    (void)state;
    dae_problem *p = translate(
        "model Z\n  Real x(start = 1, fixed = true), y(start = 3, fixed = true);\n"
        "  Real zero(start = 0, fixed = true), noise(start = 0), sum(start = 0, fixed = true);\n"
        "equation\n  der(x) = -x/3;\n  der(y) = -y/3;\n  der(zero) = -zero*x;\n"
        "  noise + noise^3 = 3*x - y;\n  der(sum) = 3*noise - sum;\nend Z;\n");
    outcome r = run(p, 1.0, "auto");
    assert_true(r.largest[unknown(p, "noise")] > 0.0 && r.largest[unknown(p, "noise")] < 1e-13);
    assert_int_equal(r.count, 0);
    dae_problem_free(p);
}

/* A smaller tolerance is obeyed, and ends the note: c = 1e-11 exp(-2 t) to six digits. */
static void test_tolerance_by_variable(void **state)
{
    (void)state;
    dae_problem *p = translate("model S\n  Real c(start = 1e-11, fixed = true);\n"
                               "  Real T(start = 1, fixed = true);\nequation\n  der(T) = -T;\n"
                               "  der(c) = -c*(2 + 40*cos(20*time));\nend S;\n");
    double atol[2], y[2], exact = 1e-11 * exp(-2.0 - 2.0 * sin(20.0)), error[2];
    int c = unknown(p, "c");
    for (int follow = 0; follow < 2; follow++) {
        dae_solver *s = NULL;
        dae_options o = dae_options_default();
        assert_int_equal(dae_problem_atol(p, o.rtol, o.atol, follow, atol), DAE_OK);
        o.atol_by_unknown = atol;
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
        assert_int_equal(dae_solver_unresolved(s, NULL, NULL, NULL), follow ? 0 : 1);
        error[follow] = fabs(y[c] - exact) / exact;
        dae_solver_free(s);
    }
    assert_true(error[1] < 1e-4); /* 100 tolerances */
    assert_true(error[0] > error[1]);
    dae_problem_free(p);
}

/* ---- tolerances below rounding ---- */

static void keep_message(const char *text, void *user)
{
    if (strstr(text, "rounding")) strncpy(user, text, 399);
}

/* y = 1e6 (a - b) with a and b of size 1000: half a unit in the last place of each, 2^-53 1000,
 * makes y uncertain by 1e6 2^-53 (1000 + 1000) = 2.2e-7 at most. */
static const char AMPLIFIED[] =
    "model M\n  Real a(start = 1000, fixed = true), b(start = 1000, fixed = true), y, e;\n"
    "equation\n  der(a) = cos(time) - 1e-3*a;\n"
    "  der(b) = cos(time) - 1e-3*a - 1e-6*sin(3*time);\n"
    "  y = 1e6*(a - b);\n  der(e) = y - e;\nend M;\n";

/* Somebody is told, and the run goes on with what can be had. */
static void test_below_rounding(void **state)
{
    (void)state;
    const char *const methods[] = {"auto", "bdf", "radau:5", "rodas"};
    dae_problem *p = translate(AMPLIFIED);
    for (int k = 0; k < 4; k++) {
        char told[400] = "";
        double y[8];
        dae_solver *s = NULL;
        dae_options o = dae_options_default();
        o.method = methods[k];
        o.rtol = 1e-8, o.atol = 1e-11;
        o.message = keep_message, o.user = told;
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        for (int i = 1; i <= 20; i++) {
            dae_status status = dae_solver_run(s, 0.5 * i, y, NULL);
            if (status != DAE_OK) fail_msg("%s: %s", methods[k], dae_solver_diag(s)->text);
            double exact = (1.0 - cos(1.5 * i)) / 3.0;
            if (fabs(y[unknown(p, "y")] - exact) > 1e-3) fail_msg("%s at %d", methods[k], i);
        }
        if (!strstr(told, "makes y uncertain by")) fail_msg("%s: %s", methods[k], told);
        dae_solver_free(s);
    }
    dae_problem_free(p);
}

/* Nobody would be told: an error, that tells how much rounding does. Tolerances above it are no
 * concern. */
static void test_rounding_is_an_error(void **state)
{
    (void)state;
    dae_problem *p = translate(AMPLIFIED);
    dae_options o = dae_options_default();
    dae_solver *s = NULL;
    o.method = "bdf";
    o.rtol = 1e-8, o.atol = 1e-11;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 10.0, NULL, NULL), DAE_ERR_TOLERANCE);
    const dae_diag *d = dae_solver_diag(s);
    assert_non_null(strstr(d->text, "rounding in the equations"));
    assert_string_equal(d->variable_name, "y");
    if (!(d->value > 2.2e-8 && d->value < 6e-7)) fail_msg("%g", d->value);
    dae_solver_free(s);
    o.rtol = 1e-3, o.atol = 1e-4; /* of 2.2e-7 it is not even a hundredth */
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 10.0, NULL, NULL), DAE_OK);
    assert_true(dae_solver_stats(s)->steps < 2000);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* A source sin(314 t) near its zeros is as uncertain as the rounding of t makes it, which is not
 * little beside atol. That is no jump: exempt from the error test it would let steps leap over half
 * waves, and the charge through the diode was 2.6 in place of 10/pi, with a note. */
static const char RECTIFIED[] =
    "model R\n  parameter Real w = 100*3.141592653589793, phase = 3.141592653589793/6;\n"
    "  Real e, u, i, Q(start = 0, fixed = true);\n  Boolean on(start = true, fixed = true);\n"
    "equation\n  e = 10*sin(w*time + phase);\n  e = u + 5*i;\n"
    "  on = if pre(on) then i >= 0 else u > 0;\n"
    "  if on then\n    u = 0;\n  else\n    i = 0;\n  end if;\n  der(Q) = i;\nend R;\n";

static void check_rectified(const char *method, double rtol, bool told)
{
    const double pi = acos(-1.0);
    char text[400] = "";
    double y[8];
    dae_problem *p = translate(RECTIFIED);
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = rtol, o.atol = 1e-3 * rtol;
    if (told) o.message = keep_message, o.user = text;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    dae_status status = dae_solver_run(s, 1.0, y, NULL);
    if (!told) {
        assert_int_equal(status, DAE_ERR_TOLERANCE);
    } else {
        if (status != DAE_OK) fail_msg("%s: %s", method, dae_solver_diag(s)->text);
        assert_int_equal(dae_solver_stats(s)->events, 100);
        double error = y[unknown(p, "Q")] - 2.0 / pi;
        if (!(fabs(error) < 1e-9)) fail_msg("%s at %g: %g", method, rtol, error);
        assert_non_null(strstr(text, "rounding in the equations"));
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

static void test_rounding_of_time_is_no_jump(void **state)
{
    (void)state;
    check_rectified("auto", 1e-12, true);
    check_rectified("radau:5", 1e-12, true);
    check_rectified("bdf", 1e-11, true);
    check_rectified("rodas", 1e-9, true);
    check_rectified("auto", 1e-12, false);
}

static void add_message(const char *text, void *user)
{
    char *all = user;
    const size_t used = strlen(all);
    snprintf(all + used, 4000 - used, "%s\n", text);
}

/* A star point that nothing but 1e6 Ohm ties to the ground: its voltage s is 0, and as uncertain as
 * 1e6 times the rounding of currents of 100, which have summands of 1e-3: their digits do not move
 * with the last ones of a small change. A branch switches 382 times, and each mode has other
 * unknowns. What rounding permits is found once, and told once. */
static void test_rounding_in_all_modes(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "radau:5"};
    for (int k = 0; k < 2; k++) {
        char text[4000] = "";
        double y[16];
        dae_problem *p =
            translate("model M\nReal s, a, b, c, i1, i2, i3, is, x(start=0, fixed=true);\n"
                      "Boolean on = sin(300*time) > 0;\nequation\na = s + 100*sin(300*time);\n"
                      "b = s + 100*sin(300*time - 2.0943951023931953);\n"
                      "c = s + 100*sin(300*time + 2.0943951023931953);\n"
                      "i1 = (a - b)*(if on then 1.3 else 1e-5) + (a - c)*1e-5;\n"
                      "i2 = (b - a)*(if on then 1.3 else 1e-5) + (b - c)*0.77;\n"
                      "i3 = (c - b)*0.77 + (c - a)*1e-5;\ni1 + i2 + i3 + is = 0;\ns = 1e6*is;\n"
                      "der(x) = s;\nend M;\n");
        dae_solver *s = NULL;
        dae_options o = dae_options_default();
        o.method = methods[k];
        o.message = add_message, o.user = text;
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        dae_status status = dae_solver_run(s, 4.0, y, NULL);
        if (status != DAE_OK) fail_msg("%s: %s", methods[k], dae_solver_diag(s)->text);
        assert_true(fabs(y[unknown(p, "x")]) < 1e-6);
        const char *told = strstr(text, "rounding in the equations");
        assert_non_null(told);
        assert_null(strstr(told + 1, "rounding in the equations"));
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding_of_time_is_no_jump),
        cmocka_unit_test(test_rounding_in_all_modes),
        cmocka_unit_test(test_below_rounding),
        cmocka_unit_test(test_rounding_is_an_error),
        cmocka_unit_test(test_suggested),
        cmocka_unit_test(test_nominal_of_each),
        cmocka_unit_test(test_traces_are_found),
        cmocka_unit_test(test_zeros_are_not),
        cmocka_unit_test(test_tolerance_by_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
