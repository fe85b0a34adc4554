/* Which index is which: all notions on models whose indices the literature tells. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

#ifndef TEST_ROOT
#define TEST_ROOT ".."
#endif

enum { STRUCTURAL, DIFFERENTIATION, STRANGENESS, PERTURBATION, TRACTABILITY, KRONECKER, NOTIONS };

static const dae_index_notions *look(const char *text, const char *file, dae_index_notions **made)
{
    char path[512] = "m.mo";
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    if (file) snprintf(path, sizeof path, "%s/models/%s.mo", TEST_ROOT, file);
    dae_model model = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_problem_indices(problem, NAN, made, &diag) != DAE_OK) fail_msg("%s", diag.text);
    dae_problem_free(problem);
    assert_int_equal((*made)->count, NOTIONS);
    return *made;
}

/* -1: not told or not defined; `upper` of the perturbation index */
static void expect(const char *text, const char *file, const int *wanted, int upper)
{
    dae_index_notions *made = NULL;
    const dae_index_notions *n = look(text, file, &made);
    for (int k = 0; k < NOTIONS; k++) {
        const dae_index_notion *q = &n->notion[k];
        if (q->low != wanted[k] || q->high != (k == PERTURBATION ? upper : wanted[k]))
            fail_msg("%s: %s index %d to %d: %s", n->model, q->name, q->low, q->high, q->text);
        assert_true(strlen(q->text) > 10 && strlen(q->citation) > 5);
    }
    dae_index_notions_free(made);
}

/* [HW96 VII.1 (1.31), (1.32)]: perturbation index 2 and m, differentiation index 1 */
static void test_counterexamples(void **state)
{
    (void)state;
    expect(NULL, "seeds/lubich", (int[]){1, 1, 0, 2, 1, -1}, 2);
    expect("model M parameter Real e = 0; Real y[2]; equation y[2]*der(y[2]) + y[1] = 0;\n"
           "  y[2] = e*time; end M;",
           NULL, (int[]){2, 1, 0, 2, 1, -1}, 2);
    expect(NULL, "seeds/campbell_gear", (int[]){3, 1, 0, 3, 1, -1}, 3);
    expect("model M parameter Real e = 0; Real y[4]; equation y[4]*der(y[2]) + y[1] = 0;\n"
           "  y[4]*der(y[3]) + y[2] = 0; y[4]*der(y[4]) + y[3] = 0; y[4] = e*time; end M;",
           NULL, (int[]){4, 1, 0, 4, 1, -1}, 4);
}

/* Hessenberg forms, mechanisms, ODEs, and equations of index 1 [HW96 VII.1] */
static void test_usual_ones(void **state)
{
    (void)state;
    expect(NULL, "pendulum", (int[]){3, 3, 2, 3, -1, -1}, 3);
    expect(NULL, "structure/pendulumvelocity", (int[]){2, 2, 1, 2, 2, -1}, 2);
    expect(NULL, "structure/hessenberg2", (int[]){2, 2, 1, 2, 2, -1}, 2);
    expect(NULL, "robertson", (int[]){1, 1, 0, 1, 1, -1}, 1);
    expect(NULL, "andrews", (int[]){3, 3, 2, 3, -1, -1}, 3); /* M(q): solved for its slopes */
    expect(NULL, "seeds/unstructured", (int[]){2, 3, 2, 3, -1, -1}, 3);
    expect("model M Real x(start = 1); equation der(x) = -x*x; end M;", NULL,
           (int[]){0, 0, 0, 0, 0, -1}, 0);
}

/* One constraint encloses no area: 1 although dF/dy' depends on unknowns; two that come as a total
 * differential do not, either. */
static void test_areas(void **state)
{
    (void)state;
    expect("model M Real x(start = 1, fixed = true), y; equation der(x) + x*der(y) = -x;\n"
           "  y + y^3 = sin(time); end M;",
           NULL, (int[]){1, 1, 0, 1, 1, -1}, 1);
    expect("model M Real x(start = 1, fixed = true), y, z; equation\n"
           "  der(x) + z*der(y) + y*der(z) = -x; y + y^3 = sin(time); z + z^3 = cos(time); end M;",
           NULL, (int[]){1, 1, 0, 1, 1, -1}, 1);
    expect("model M Real x(start = 1, fixed = true), y, z; equation\n"
           "  der(x) + z*der(y) - y*der(z) = -x; y + y^3 = sin(time); z + z^3 = cos(time); end M;",
           NULL, (int[]){1, 1, 0, 2, 1, -1}, 2);
    /* a small area is one, too */
    expect("model M Real x(start = 1, fixed = true), y, z; equation\n"
           "  der(x) + 1e-3*(z*der(y) - y*der(z)) = -x; y + y^3 = sin(time);\n"
           "  z + z^3 = cos(time); end M;",
           NULL, (int[]){1, 1, 0, 2, 1, -1}, 2);
}

/* Linear with constant coefficients: all are alike, and the values of every step are there */
static void test_linear(void **state)
{
    (void)state;
    expect(NULL, "seeds/nilpotent", (int[]){3, 3, 2, 3, 3, 3}, 3);
    expect(NULL, "springchain", (int[]){5, 5, 4, 5, 5, 5}, 5);
    dae_index_notions *made = NULL;
    const dae_index_notions *n = look(NULL, "springchain", &made);
    assert_int_equal(n->step_count, 5);
    assert_true(n->a == 5 && n->d == 2 && n->u == 0 && n->v == 0 && n->r == 5 * 7);
    for (int k = 0; k < 4; k++) assert_true(n->steps[k].s01 == 1 && n->steps[k].r == 6 - k);
    dae_index_notions_free(made);
}

static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

static void test_refusals(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_index_notions *n = NULL;
    dae_residual r = {.n = 1, .f = residual};
    assert_int_equal(dae_problem_from_residual(&r, &p, NULL), DAE_OK);
    assert_int_equal(dae_problem_indices(p, 0.0, &n, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "dae_problem_diagnose"));
    assert_int_equal(dae_problem_indices(p, 0.0, NULL, &diag), DAE_ERR_ARGUMENT);
    assert_null(n);
    dae_index_notions_free(NULL);
    dae_problem_free(p);
}

/* Ranks that change at the start: y = sin(t)/t, and [HW96 VII.1 (1.32)] with y_3 through 0. No
 * number is right there. */
static void test_changing_ranks(void **state)
{
    (void)state;
    expect("model M Real x(start = 0, fixed = true), y(start = 1); equation der(x) = 1;\n"
           "  x*y = sin(time); end M;",
           NULL, (int[]){1, -1, -1, -1, -1, -1}, -1);
    expect("model M Real y[3]; equation y[3]*der(y[2]) + y[1] = 0; y[3]*der(y[3]) + y[2] = 0;\n"
           "  y[3] = sin(time); end M;",
           NULL, (int[]){3, -1, -1, -1, -1, -1}, -1);
}

static void expect_words(const char *text, int notion, const char *words)
{
    dae_index_notions *made = NULL;
    const dae_index_notions *n = look(text, NULL, &made);
    if (!strstr(n->notion[notion].text, words)) fail_msg("%s", n->notion[notion].text);
    dae_index_notions_free(made);
}

/* Why a number is not told, or not the same as another */
static void test_words(void **state)
{
    (void)state;
    const char *large = "model M Real x[151](each start = 1), z[151]; equation\n"
                        "  for i in 1:151 loop der(x[i]) = sin(z[i]); z[i] + exp(z[i]) = x[i];\n"
                        "  end for; end M;";
    expect_words(large, STRANGENESS, "too large");
    expect_words(large, PERTURBATION, "too large");
    expect_words("model M Real x, y; equation der(x) + der(y) = x; x + y = 1; end M;", STRUCTURAL,
                 "do not agree with it: terms cancel");
    expect_words("model M Real x(start = 0, fixed = true), y(start = 1); equation der(x) = 1;\n"
                 "  x*y = sin(time); end M;",
                 TRACTABILITY, "ranks change with time");
    /* powers of units that overflow are no lack of memory */
    expect_words("model M Real x, y, z; equation 1e150*der(x) = y; 1e-150*y = z;\n"
                 "  1e180*x = cos(time); end M;",
                 PERTURBATION, "have no values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counterexamples), cmocka_unit_test(test_usual_ones),
        cmocka_unit_test(test_areas),           cmocka_unit_test(test_linear),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_changing_ranks),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
