/* Fits against data whose parameters are known, and what is said where the data do not tell. */
#include "model_run.h"

/* y = a exp(-k t) + b, of which the derivatives are simple */
static const char *const decay =
    MODEL("  parameter Real k = 1;\n  parameter Real a = 1;\n  parameter Real b = 0;\n"
          "  parameter Real idle = 5;\n  Real x(start = a, fixed = true);\n  Real y;\nequation\n"
          "  der(x) = -k*x;\n  y = x + b;");

enum { ROWS = 20 };

static double times[ROWS], clean[ROWS], noisy[ROWS];
static const char *const column[] = {"y"};

/* Data of k = 0.7, a = 2, b = 0.3; the noisy ones off by 0.01 up and down in turn. */
static void make_data(void)
{
    for (int i = 0; i < ROWS; i++) {
        times[i] = 0.25 * i;
        clean[i] = 2.0 * exp(-0.7 * times[i]) + 0.3;
        noisy[i] = clean[i] + (i % 2 ? 0.01 : -0.01);
    }
}

static dae_fit_data data_of(const double *values)
{
    return (dae_fit_data){
        .rows = ROWS, .columns = 1, .times = times, .variables = column, .values = values};
}

static dae_fit_result *fit_ok(run *r, const dae_fit_request *request)
{
    dae_fit_result *result = NULL;
    dae_status status = dae_fit(r->problem, request, &result, &r->diag);
    if (status != DAE_OK) print_error("%s\n", r->diag.text);
    assert_int_equal(status, DAE_OK);
    assert_non_null(result);
    return result;
}

static void expect_about(double found, double exact, double tolerance)
{
    if (fabs(found - exact) <= tolerance) return;
    print_error("%.12g, not %.12g\n", found, exact);
    fail();
}

static void test_exact_data(void **state)
{
    (void)state;
    run r;
    prepare(&r, decay);
    dae_fit_parameter p[] = {{.name = "k", .start = 3.0, .lower = 0.01, .upper = 10.0},
                             {.name = "a", .start = NAN},
                             {.name = "b", .start = 1.0}};
    dae_fit_data data = data_of(clean);
    dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                      .parameter_count = 3,
                                                      .data = &data,
                                                      .data_count = 1,
                                                      .options = &r.options});
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    assert_int_equal(f->rank, 3);
    assert_int_equal(f->observations, ROWS);
    expect_about(f->values[0], 0.7, 1e-6);
    expect_about(f->values[1], 2.0, 1e-6);
    expect_about(f->values[2], 0.3, 1e-6);
    assert_string_equal(f->text, "");
    dae_fit_result_free(f);
    /* the problem is as it was */
    assert_true(dae_problem_parameter_value(r.problem, 0) == 1.0);
    end(&r);
}

/* Standard errors are those of linear regression: with a and b alone the model is linear. */
static void test_errors(void **state)
{
    (void)state;
    run r;
    prepare(&r, decay);
    assert_int_equal(dae_problem_set_parameter(r.problem, "k", 0.7, &r.diag), DAE_OK);
    dae_fit_parameter p[] = {{.name = "a", .start = 1.0}, {.name = "b", .start = 0.0}};
    dae_fit_data data = data_of(noisy);
    dae_fit_request request = {.parameters = p,
                               .parameter_count = 2,
                               .data = &data,
                               .data_count = 1,
                               .options = &r.options};
    double s[4] = {0}, e2 = 0.0, ey = 0.0, y = 0.0, rest = 0.0;
    for (int i = 0; i < ROWS; i++) {
        double e = exp(-0.7 * times[i]);
        s[1] += e, e2 += e * e, ey += e * noisy[i], y += noisy[i];
    }
    double det = e2 * ROWS - s[1] * s[1];
    double a = (ey * ROWS - s[1] * y) / det, b = (e2 * y - s[1] * ey) / det;
    for (int i = 0; i < ROWS; i++) {
        double off = noisy[i] - a * exp(-0.7 * times[i]) - b;
        rest += off * off;
    }
    double sigma = sqrt(rest / (ROWS - 2));
    dae_fit_result *f = fit_ok(&r, &request);
    expect_about(f->values[0], a, 1e-7);
    expect_about(f->values[1], b, 1e-7);
    expect_about(f->sigma, sigma, 1e-6 * sigma);
    expect_about(f->errors[0], sigma * sqrt(ROWS / det), 1e-5 * f->errors[0]);
    expect_about(f->errors[1], sigma * sqrt(e2 / det), 1e-5 * f->errors[1]);
    expect_about(f->correlation[1], -s[1] / sqrt(e2 * ROWS), 1e-6);
    dae_fit_result_free(f);
    /* with standard deviations of their own the errors do not follow the residuals */
    double own = 0.5;
    data.column_sigma = &own;
    f = fit_ok(&r, &request);
    expect_about(f->errors[0], own * sqrt(ROWS / det), 1e-5 * f->errors[0]);
    dae_fit_result_free(f);
    end(&r);
}

/* k is best at 0.7, beyond its bound; a missing value does not count. */
static void test_bounds_and_holes(void **state)
{
    (void)state;
    run r;
    double values[ROWS];
    prepare(&r, decay);
    memcpy(values, clean, sizeof values);
    values[7] = NAN;
    dae_fit_parameter p[] = {{.name = "k", .start = 0.2, .lower = 0.1, .upper = 0.5},
                             {.name = "a", .start = 1.0}};
    dae_fit_data data = data_of(values);
    dae_setting setting = {"b", 0.3};
    data.settings = &setting;
    data.setting_count = 1;
    dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                      .parameter_count = 2,
                                                      .data = &data,
                                                      .data_count = 1,
                                                      .options = &r.options});
    assert_int_equal(f->observations, ROWS - 1);
    assert_true(f->values[0] == 0.5);
    assert_true(f->at_bound[0]);
    assert_false(f->at_bound[1]);
    dae_fit_result_free(f);
    end(&r);
}

/* A parameter without effect, and two that only their sum tells. */
static void test_unidentified(void **state)
{
    (void)state;
    run r;
    prepare(&r, decay);
    dae_fit_parameter p[] = {{.name = "k", .start = 0.5}, {.name = "idle", .start = 5.0}};
    dae_fit_data data = data_of(clean);
    dae_fit_request request = {.parameters = p,
                               .parameter_count = 2,
                               .data = &data,
                               .data_count = 1,
                               .options = &r.options};
    dae_fit_result *f = fit_ok(&r, &request);
    assert_int_equal(f->rank, 1);
    assert_true(f->unidentified[1]);
    assert_false(f->unidentified[0]);
    assert_true(isinf(f->errors[1]));
    assert_non_null(strstr(f->text, "idle has no effect"));
    dae_fit_result_free(f);
    end(&r);
    prepare(&r, MODEL("  parameter Real p = 1;\n  parameter Real q = 1;\n  Real y(start = 2, fixed "
                      "= true);\nequation\n  der(y) = -(p + q)*y;"));
    dae_fit_parameter both[] = {{.name = "p", .start = 0.2}, {.name = "q", .start = 0.1}};
    request.parameters = both;
    f = fit_ok(&r, &request);
    assert_int_equal(f->rank, 1);
    assert_true(f->unidentified[0] && f->unidentified[1]);
    assert_non_null(strstr(f->text, "p, q cannot be told apart"));
    dae_fit_result_free(f);
    end(&r);
}

/* Two values far off: robust losses hardly follow them. */
static void test_outliers(void **state)
{
    (void)state;
    run r;
    double values[ROWS], off[3];
    prepare(&r, decay);
    memcpy(values, clean, sizeof values);
    values[3] += 1.0;
    values[9] += 2.0;
    dae_fit_parameter p[] = {
        {.name = "k", .start = 1.0}, {.name = "a", .start = 1.0}, {.name = "b", .start = 0.0}};
    dae_fit_data data = data_of(values);
    double sigma = 0.01;
    data.column_sigma = &sigma;
    for (int loss = DAE_LOSS_SQUARES; loss <= DAE_LOSS_CAUCHY; loss++) {
        dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                          .parameter_count = 3,
                                                          .data = &data,
                                                          .data_count = 1,
                                                          .options = &r.options,
                                                          .loss = (dae_fit_loss)loss});
        off[loss] = fabs(f->values[0] - 0.7);
        dae_fit_result_free(f);
    }
    assert_true(off[DAE_LOSS_SQUARES] > 0.01);
    assert_true(off[DAE_LOSS_HUBER] < 0.01);
    /* an outlier of r sigmas pulls like c = 1.345 of them, or like c^2/r: 0.057 and 0.028 */
    assert_true(off[DAE_LOSS_CAUCHY] < 0.2 * off[DAE_LOSS_HUBER]);
    end(&r);
}

static int stop_at_two(int iteration, double cost, const double *values, void *user)
{
    *(double *)user = cost;
    (void)values;
    return iteration == 2;
}

static void test_progress(void **state)
{
    (void)state;
    run r;
    double cost = 0.0;
    prepare(&r, decay);
    dae_fit_parameter p[] = {{.name = "k", .start = 5.0}, {.name = "a", .start = 9.0}};
    dae_fit_data data = data_of(clean);
    dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                      .parameter_count = 2,
                                                      .data = &data,
                                                      .data_count = 1,
                                                      .progress = stop_at_two,
                                                      .user = &cost});
    assert_int_equal(f->end, DAE_FIT_STOPPED);
    assert_int_equal(f->iterations, 2);
    assert_true(f->cost == cost);
    dae_fit_result_free(f);
    end(&r);
}

static void expect_refused(run *r, const dae_fit_request *request, const char *word)
{
    dae_fit_result *result = NULL;
    assert_int_equal(dae_fit(r->problem, request, &result, &r->diag), DAE_ERR_ARGUMENT);
    assert_null(result);
    if (!strstr(r->diag.text, word)) print_error("'%s' is not in: %s\n", word, r->diag.text);
    assert_non_null(strstr(r->diag.text, word));
}

static void test_refusals(void **state)
{
    (void)state;
    run r;
    prepare(&r, decay);
    dae_fit_parameter p = {.name = "k", .start = 1.0};
    dae_fit_data data = data_of(clean);
    dae_fit_request request = {
        .parameters = &p, .parameter_count = 1, .data = &data, .data_count = 1};
    p.name = "nobody";
    p.start = NAN;
    expect_refused(&r, &request, "nobody");
    p = (dae_fit_parameter){.name = "k", .start = 1.0, .lower = 2.0, .upper = 3.0};
    expect_refused(&r, &request, "outside of its bounds");
    p.lower = 4.0;
    expect_refused(&r, &request, "smaller one");
    p = (dae_fit_parameter){.name = "k", .start = 1.0};
    const char *other = "w";
    data.variables = &other;
    expect_refused(&r, &request, "column w");
    data = data_of(clean);
    double early[ROWS];
    memcpy(early, times, sizeof early);
    early[5] = 0.1;
    data.times = early;
    expect_refused(&r, &request, "row 6");
    data = data_of(clean);
    data.start = 1.0;
    expect_refused(&r, &request, "row 1");
    data = data_of(clean);
    double sigma = 0.0;
    data.column_sigma = &sigma;
    expect_refused(&r, &request, "positive");
    end(&r);
}

int main(void)
{
    make_data();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_data),       cmocka_unit_test(test_errors),
        cmocka_unit_test(test_bounds_and_holes), cmocka_unit_test(test_unidentified),
        cmocka_unit_test(test_outliers),         cmocka_unit_test(test_progress),
        cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
