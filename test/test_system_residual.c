/* The residual form: what is refused and in which words, what is copied, how callbacks are guarded.
 */
#include "base/memory.h"
#include "problem/residual.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Scripted callbacks: at call number `at` they return `code`, or write `value` to component
 * `where`. */
typedef struct script {
    int n, calls, at, code, where;
    double value;
} script;

static int play(script *s, int n, double *out)
{
    for (int i = 0; i < n; i++) out[i] = i;
    if (s->calls++ != s->at) return 0;
    if (s->code) return s->code;
    out[s->where] = s->value;
    return 0;
}

static int scripted(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)yp;
    script *s = user;
    return play(s, s->n, f);
}

static int scripted_jacobian(double t, const double *y, const double *yp, double *dfdy,
                             double *dfdyp, void *user)
{
    (void)t, (void)y, (void)yp, (void)dfdyp;
    script *s = user;
    if (s->code) return s->code;
    dfdy[s->where] = s->value;
    return 0;
}

static int scripted_setup(double t, const double *y, const double *yp, double cj, void *user)
{
    (void)t, (void)y, (void)yp, (void)cj;
    return ((script *)user)->code;
}

static int scripted_solve(double t, const double *y, const double *yp, double cj, double *b,
                          void *user)
{
    (void)t, (void)y, (void)yp, (void)cj;
    return play(user, 3, b);
}

static const dae_residual good = {.n = 3, .f = scripted};

/* The description must be refused, with all the words in the message. */
static void refused(const dae_residual *form, const char *first, const char *second)
{
    dae_diag diag = {0};
    dae_problem *problem = (dae_problem *)(uintptr_t)1;
    assert_int_equal(dae_problem_from_residual(form, &problem, &diag), DAE_ERR_ARGUMENT);
    assert_null(problem);
    assert_int_equal(diag.status, DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, first) || !strstr(diag.text, second))
        fail_msg("\"%s\" and \"%s\" not both in: %s", first, second, diag.text);
    problem = (dae_problem *)(uintptr_t)1;
    assert_int_equal(dae_problem_from_residual(form, &problem, NULL), DAE_ERR_ARGUMENT);
    assert_null(problem);
}

static void test_refuses_sizes_and_callbacks(void **state)
{
    (void)state;
    dae_residual form = good;
    form.n = 0;
    refused(&form, "n = 0", "equation");
    form.n = -4;
    refused(&form, "n = -4", "equation");
    form = good;
    form.f = NULL;
    refused(&form, "f is NULL", "");
    form = good;
    form.event_count = 2;
    refused(&form, "event_count = 2", "event_function");
    form = good;
    form.event_function = scripted;
    refused(&form, "event_function", "event_count is 0");
    form = good;
    form.event_count = -1;
    refused(&form, "event_count = -1", "negative");
    form = good;
    form.condition_count = 1;
    refused(&form, "condition_count = 1", "conditions is NULL");
    form = good;
    form.conditions = scripted;
    refused(&form, "conditions", "condition_count is 0");
    form = good;
    form.precond_setup = scripted_setup;
    refused(&form, "precond_setup", "precond_solve");
    refused(NULL, "NULL", "");
    form = good;
    const dae_event events[] = {{"bounce", 0, true}, {"stop", 3, false}};
    form.event_count = 2;
    form.event_function = scripted;
    form.events = events;
    refused(&form, "events[1] named stop", "direction 3");
}

static void test_refuses_structures(void **state)
{
    (void)state;
    dae_residual form = good;
    form.structure = (dae_structure)9;
    refused(&form, "structure = 9", "");
    form.structure = DAE_STRUCTURE_BANDED;
    form.lower = -1;
    refused(&form, "lower = -1", "negative");
    form.lower = 0;
    form.upper = 3;
    refused(&form, "upper = 3", "n = 3");
    form = good;
    form.upper = 1;
    refused(&form, "upper = 1", "DAE_STRUCTURE_BANDED");
    form = good;
    form.structure = DAE_STRUCTURE_SPARSE;
    refused(&form, "DAE_STRUCTURE_SPARSE", "colptr");
    const int colptr[] = {0, 1, 3, 4};
    const int rowind[] = {0, 1, 1, 2};
    form.colptr = colptr;
    refused(&form, "colptr is given without rowind", "");
    form.rowind = rowind;
    const char *names[] = {"a", "speed", "c"};
    form.variable_names = names;
    refused(&form, "column 1", "speed");
    const int range[] = {0, 1, 2, 7};
    form.rowind = range;
    refused(&form, "column 2", "range");
    const int sound[] = {0, 1, 2, 2};
    form.rowind = sound;
    form.structure = DAE_STRUCTURE_DENSE;
    refused(&form, "pattern", "DAE_STRUCTURE_DENSE");
}

static void test_refuses_variables(void **state)
{
    (void)state;
    const char *names[] = {"x", "y", "lambda"};
    const char *twice[] = {"x", "lambda", "lambda"};
    const dae_kind kinds[] = {DAE_KIND_AUTO, DAE_KIND_INDEX3, (dae_kind)7};
    const double nan_bound[] = {0.0, 0.0, NAN}, low[] = {0.0, 5.0, 0.0}, high[] = {1.0, 4.0, 1.0};
    const double never[] = {INFINITY, 0.0, 0.0};
    dae_residual form = good;
    form.kinds = kinds;
    refused(&form, "kinds[2] = 7", "y[2]");
    form.variable_names = names;
    refused(&form, "kinds[2] = 7", "lambda");
    form.kinds = NULL;
    form.lower_bounds = nan_bound;
    refused(&form, "lower bound", "lambda");
    form.lower_bounds = NULL;
    form.upper_bounds = nan_bound;
    refused(&form, "upper bound", "NaN");
    form.lower_bounds = low;
    form.upper_bounds = high;
    refused(&form, "y (y[1])", "[5, 4]");
    form.lower_bounds = never;
    form.upper_bounds = NULL;
    refused(&form, "x (y[0])", "inf");
    form = good;
    form.variable_names = twice;
    refused(&form, "Variables 1 and 2", "lambda");
    dae_diag diag = {0};
    dae_problem *problem;
    dae_problem_from_residual(&form, &problem, &diag);
    assert_int_equal(diag.variable, 2);
    assert_string_equal(diag.variable_name, "lambda");
}

static void test_refuses_a_missing_place(void **state)
{
    (void)state;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&good, NULL, &diag), DAE_ERR_ARGUMENT);
    dae_problem_free(NULL);
}

static void test_copies_deeply(void **state)
{
    (void)state;
    char name[] = "alpha", event_name[] = "hit";
    const char *names[] = {name, NULL, ""};
    int colptr[] = {0, 1, 2, 4}, rowind[] = {0, 1, 0, 2};
    dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1, DAE_KIND_INDEX2};
    double low[] = {-1.0, -2.0, -3.0}, high[] = {1.0, 2.0, 3.0};
    dae_event events[] = {{event_name, -1, true}, {NULL, 0, false}};
    dae_residual form = good;
    form.variable_names = names;
    form.colptr = colptr;
    form.rowind = rowind;
    form.kinds = kinds;
    form.lower_bounds = low;
    form.upper_bounds = high;
    form.event_count = 2;
    form.event_function = scripted;
    form.events = events;
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    memset(name, '?', 5);
    memset(event_name, '?', 3);
    names[1] = "later";
    memset(colptr, 0xff, sizeof colptr);
    memset(rowind, 0xff, sizeof rowind);
    memset(kinds, 0, sizeof kinds);
    low[0] = high[0] = 99.0;
    events[0].direction = 1;
    assert_string_equal(dae_problem_unknown_name(p, 0), "alpha");
    assert_string_equal(dae_problem_unknown_name(p, 1), "y[1]");
    assert_string_equal(dae_problem_unknown_name(p, 2), "y[2]");
    assert_string_equal(dae_problem_equation_name(p, 2), "F[2]");
    assert_null(dae_problem_unknown_name(p, 3));
    assert_null(dae_problem_equation_name(p, -1));
    assert_string_equal(problem_event(p, 0), "hit");
    assert_string_equal(p->form.events[1].name, "g[1]");
    assert_int_equal(p->form.events[0].direction, -1);
    assert_int_equal(p->form.structure, DAE_STRUCTURE_SPARSE);
    assert_int_equal(p->layout.colptr[3], 4);
    assert_int_equal(p->form.rowind[3], 2);
    assert_int_equal(p->form.kinds[2], DAE_KIND_INDEX2);
    assert_true(p->form.lower_bounds[0] == -1.0 && p->form.upper_bounds[0] == 1.0);
    assert_int_equal(dae_problem_size(p), 3);
    dae_problem_free(p);
}

static void test_structure_without_pattern(void **state)
{
    (void)state;
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&good, &p, NULL), DAE_OK);
    assert_false(p->has_layout);
    dae_problem_free(p);
    dae_residual form = good;
    form.jacobian = scripted_jacobian;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_true(p->has_layout);
    assert_int_equal(p->layout.kind, DAE_STRUCTURE_DENSE);
    dae_problem_free(p);
}

static void test_names_of_large_problems(void **state)
{
    (void)state;
    dae_residual form = good;
    form.n = 100001;
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    const int samples[] = {0, 9, 10, 99, 100, 12345, 99999, 100000};
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        char expected[32];
        snprintf(expected, sizeof expected, "y[%d]", samples[k]);
        assert_string_equal(dae_problem_unknown_name(p, samples[k]), expected);
        expected[0] = 'F';
        assert_string_equal(dae_problem_equation_name(p, samples[k]), expected);
    }
    dae_problem_free(p);
}

/* A problem of three named equations around a script. */
static dae_problem *scripted_problem(script *s)
{
    static const char *const equations[] = {"mass", "energy", "length"};
    static const char *const variables[] = {"m", "e", "l"};
    static const dae_event events[] = {{"bounce", 0, true}};
    s->n = 3;
    dae_residual form = {.n = 3, .f = scripted, .user = s, .jacobian = scripted_jacobian};
    form.equation_names = equations;
    form.variable_names = variables;
    form.event_count = 1;
    form.event_function = scripted;
    form.events = events;
    form.condition_count = 2;
    form.conditions = scripted;
    form.precond_setup = scripted_setup;
    form.precond_solve = scripted_solve;
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

static void test_residual_is_guarded(void **state)
{
    (void)state;
    const double y[3] = {0};
    double f[3];
    script s = {.at = 1, .code = 5};
    dae_problem *p = scripted_problem(&s);
    dae_stats stats = {0};
    evaluator e = {.problem = p, .stats = &stats};
    dae_diag diag = {0};
    assert_int_equal(evaluate_residual(&e, 0.5, y, y, f, &stats.residuals), EVAL_OK);
    assert_int_equal(evaluate_residual(&e, 2.5, y, y, f, &stats.residuals), EVAL_RETRY);
    assert_int_equal(stats.residuals, 2);
    assert_int_equal(evaluator_report(&e, EVAL_RETRY, &diag), DAE_ERR_EVALUATION);
    assert_non_null(strstr(diag.text, "residual callback returned 5 at t = 2.5"));
    assert_true(diag.t == 2.5);
    s.at = 2, s.code = -7;
    assert_int_equal(evaluate_residual(&e, 3.5, y, y, f, &stats.jacobian_residuals), EVAL_STOP);
    assert_int_equal(stats.jacobian_residuals, 1);
    assert_int_equal(evaluator_report(&e, EVAL_STOP, &diag), DAE_ERR_CALLBACK);
    assert_non_null(strstr(diag.text, "returned -7"));
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        s = (script){.n = 3, .where = 1, .value = bad[k]};
        assert_int_equal(evaluate_residual(&e, 1.0, y, y, f, &stats.residuals), EVAL_RETRY);
        assert_int_equal(e.failure.component, 1);
        assert_int_equal(evaluator_report(&e, EVAL_RETRY, &diag), DAE_ERR_EVALUATION);
        assert_non_null(strstr(diag.text, "in equation energy"));
        assert_string_equal(diag.equation_name, "energy");
        assert_int_equal(diag.equation, 1);
    }
    assert_int_equal(evaluator_report(&e, EVAL_RETRY, NULL), DAE_ERR_EVALUATION);
    assert_int_equal(evaluator_report(&e, EVAL_OK, &diag), DAE_OK);
    dae_problem_free(p);
}

/* Several points at once: which of them failed, and how, as one by one */
static void test_several_residuals_are_guarded(void **state)
{
    (void)state;
    const double t[3] = {1.0, 2.0, 3.0}, y[9] = {0};
    double f[9];
    script s = {.n = 3, .at = -1};
    dae_problem *p = scripted_problem(&s);
    dae_stats stats = {0};
    evaluator e = {.problem = p, .stats = &stats};
    int failed = -1;
    assert_int_equal(evaluate_residuals(&e, 3, t, y, y, f, &failed), EVAL_OK);
    assert_int_equal(failed, -1);
    assert_true(stats.residuals == 3 && f[8] == 2.0);
    s = (script){.n = 3, .at = 1, .where = 2, .value = INFINITY};
    assert_int_equal(evaluate_residuals(&e, 3, t, y, y, f, &failed), EVAL_RETRY);
    assert_int_equal(failed, 1);
    assert_true(e.failure.component == 2 && e.failure.t == 2.0 && isinf(e.failure.value));
    s = (script){.n = 3, .at = 2, .code = 7};
    assert_int_equal(evaluate_residuals(&e, 3, t, y, y, f, &failed), EVAL_RETRY);
    assert_true(failed == 2 && e.failure.code == 7 && e.failure.t == 3.0);
    s = (script){.n = 3, .at = 0, .code = -1};
    assert_int_equal(evaluate_residuals(&e, 3, t, y, y, f, &failed), EVAL_STOP);
    assert_true(failed == 0 && s.calls == 1);
    dae_problem_free(p);
}

static void test_other_callbacks_are_guarded(void **state)
{
    (void)state;
    const double y[3] = {0};
    double out[9], more[9];
    script s = {.where = 5, .value = NAN};
    dae_problem *p = scripted_problem(&s);
    dae_stats stats = {0};
    evaluator e = {.problem = p, .stats = &stats};
    dae_diag diag = {0};
    assert_int_equal(evaluate_jacobian(&e, &p->layout, 1.0, y, y, out, more), EVAL_RETRY);
    evaluator_report(&e, EVAL_RETRY, &diag);
    assert_non_null(strstr(diag.text, "dF/dy)")); /* entry 5 of a dense 3 x 3 is row 2, column 1 */
    assert_non_null(strstr(diag.text, "equation length, column of variable e"));
    assert_int_equal(diag.variable, 1);
    s.code = -1;
    assert_int_equal(evaluate_jacobian(&e, &p->layout, 1.0, y, y, out, more), EVAL_STOP);
    assert_int_equal(evaluate_precond_setup(&e, 1.0, y, y, 2.0), EVAL_STOP);
    assert_string_equal(e.failure.callback, "preconditioner setup");
    s = (script){.n = 1, .where = 0, .value = INFINITY};
    assert_int_equal(evaluate_events(&e, 1.0, y, y, out), EVAL_RETRY);
    assert_int_equal(stats.event_evaluations, 1);
    evaluator_report(&e, EVAL_RETRY, &diag);
    assert_non_null(strstr(diag.text, "event bounce"));
    s = (script){.n = 2, .where = 1, .value = NAN};
    assert_int_equal(evaluate_conditions(&e, 1.0, y, y, out), EVAL_RETRY);
    evaluator_report(&e, EVAL_RETRY, &diag);
    assert_non_null(strstr(diag.text, "condition B[1]"));
    s = (script){.n = 3, .where = 2, .value = NAN};
    assert_int_equal(evaluate_precond_solve(&e, 1.0, y, y, 1.0, out), EVAL_RETRY);
    evaluator_report(&e, EVAL_RETRY, &diag);
    assert_non_null(strstr(diag.text, "variable l"));
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses_sizes_and_callbacks),
        cmocka_unit_test(test_refuses_structures),
        cmocka_unit_test(test_refuses_variables),
        cmocka_unit_test(test_refuses_a_missing_place),
        cmocka_unit_test(test_copies_deeply),
        cmocka_unit_test(test_structure_without_pattern),
        cmocka_unit_test(test_names_of_large_problems),
        cmocka_unit_test(test_residual_is_guarded),
        cmocka_unit_test(test_several_residuals_are_guarded),
        cmocka_unit_test(test_other_callbacks_are_guarded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
