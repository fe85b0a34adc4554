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

/* Two values fix two parameters: nothing is left to tell errors by, unless there are sigmas. */
static void test_no_more_data_than_parameters(void **state)
{
    (void)state;
    run r;
    prepare(&r, decay);
    dae_fit_parameter p[] = {{.name = "a", .start = 1.0}, {.name = "b", .start = 0.0}};
    dae_fit_data data = data_of(noisy);
    data.rows = 2;
    dae_fit_request request = {.parameters = p,
                               .parameter_count = 2,
                               .data = &data,
                               .data_count = 1,
                               .options = &r.options};
    dae_fit_result *f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    assert_true(isnan(f->sigma) && isnan(f->errors[0]) && isnan(f->errors[1]));
    assert_non_null(strstr(f->text, "nothing tells errors"));
    dae_fit_result_free(f);
    /* a = (y0 - y1)/(1 - e) with e = exp(-t1), k = 1 */
    double own = 0.5, e = exp(-times[1]);
    data.column_sigma = &own;
    f = fit_ok(&r, &request);
    assert_true(isnan(f->sigma));
    expect_about(f->errors[0], own * sqrt(2.0) / (1.0 - e), 1e-5 * f->errors[0]);
    assert_string_equal(f->text, "");
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

/* ---- parameters that the data do not see stay where they began ---- */

/* Where a pendulum is does not depend on its mass: the derivative by it is rounding. */
static const char *const pendulum =
    MODEL("  parameter Real m = 1.5;\n  parameter Real L = 1;\n  parameter Real g = 9.81;\n"
          "  Real y(start = 0.8, fixed = true);\n  Real z(start = -0.6);\n"
          "  Real u(start = 0, fixed = true);\n  Real v;\n  Real F;\nequation\n"
          "  der(y) = u;\n  der(z) = v;\n  m*der(u) = -F*y;\n  m*der(v) = -F*z - m*g;\n"
          "  y^2 + z^2 = L^2;");

/* The model beside itself with other values: data whose answer is known. */
static void data_of_model(run *r, const dae_fit_parameter *p, int count, const double *truth,
                          double *out)
{
    dae_options tight = r->options;
    tight.rtol = 1e-10, tight.atol = 1e-12;
    dae_fit_request request = {.parameters = p, .parameter_count = count, .options = &tight};
    dae_fit_data where = data_of(NULL);
    assert_int_equal(dae_fit_curves(r->problem, &request, truth, &where, out, &r->diag), DAE_OK);
}

/* By all losses, with bounds and without, at data that are exact and that are not. */
static void test_mass_of_pendulum(void **state)
{
    (void)state;
    run r;
    double values[ROWS], best[2] = {0}, sigma = 0.01;
    prepare(&r, pendulum);
    r.options.rtol = 1e-6, r.options.atol = 1e-9;
    dae_fit_parameter p[] = {{.name = "m", .start = 1.5}, {.name = "g", .start = 9.81}};
    data_of_model(&r, p, 2, (double[]){2.5, 9.7}, values);
    dae_fit_data data = data_of(values);
    data.column_sigma = &sigma;
    for (int way = 0; way < 6; way++) {
        if (way == 3) p[0].lower = 0.1, p[0].upper = 1e3;
        p[1].start = way == 1 ? 9.7002 : 9.81; /* near the answer a step is still taken */
        for (int i = 0; way == 4 && i < ROWS; i++) values[i] += i % 3 ? 0.01 : -0.02;
        dae_fit_result *f =
            fit_ok(&r, &(dae_fit_request){.parameters = p,
                                          .parameter_count = 2,
                                          .data = &data,
                                          .data_count = 1,
                                          .loss = way < 3 ? (dae_fit_loss)way : DAE_LOSS_SQUARES,
                                          .options = &r.options});
        assert_int_equal(f->end, DAE_FIT_CONVERGED);
        assert_int_equal(f->rank, 1);
        assert_true(f->values[0] == 1.5);
        assert_true(f->unidentified[0] && isinf(f->errors[0]) && !f->at_bound[0]);
        assert_non_null(strstr(f->text, "m has no effect on the data"));
        assert_non_null(strstr(f->text, "It stays at 1.5"));
        if (way < 4) expect_about(f->values[1], 9.7, 2e-5); /* 10 tolerances over dy/dg */
        if (way == 4) best[0] = f->values[1];
        if (way == 5) best[1] = f->values[1];
        dae_fit_result_free(f);
        if (way == 4) p[0].start = NAN, p[0].lower = p[0].upper = 0.0;
    }
    assert_true(best[0] == best[1] && fabs(best[0] - 9.7) > 1e-5);
    /* alone it cannot move, and this is said */
    dae_fit_result *f = fit_ok(
        &r,
        &(dae_fit_request){.parameters = p, .parameter_count = 1, .data = &data, .data_count = 1});
    assert_int_equal(f->end, DAE_FIT_STUCK);
    assert_int_equal(f->runs, 1); /* no step was looked for */
    assert_true(f->values[0] == 1.5);
    assert_non_null(strstr(f->text, "m has no effect on the data"));
    dae_fit_result_free(f);
    end(&r);
}

/* A parameter of 1 that moves the data by 1e-9 is below what runs at 1e-6 tell; one that moves
 * them by 1e-3 is above that, and at 1e-12 the first one is, too. One that begins at 0 is as large
 * as its bounds say. */
static void test_small_effects(void **state)
{
    (void)state;
    run r;
    double values[ROWS];
    prepare(&r, MODEL("  parameter Real k = 1;\n  parameter Real tiny = 1;\n"
                      "  parameter Real small = 1;\n  Real x(start = 2, fixed = true);\n"
                      "  Real y;\nequation\n  der(x) = -k*x;\n"
                      "  y = x + 1e-9*tiny*sin(3*time) + 1e-3*small*time;"));
    dae_fit_parameter p[] = {{.name = "k", .start = 1.0},
                             {.name = "tiny", .start = 1.0},
                             {.name = "small", .start = 1.0}};
    data_of_model(&r, p, 3, (double[]){0.7, 2.0, 1.5}, values);
    dae_fit_data data = data_of(values);
    dae_fit_request request = {
        .parameters = p, .parameter_count = 3, .data = &data, .data_count = 1};
    request.options = &r.options;
    dae_fit_result *f = fit_ok(&r, &request);
    assert_int_equal(f->end, DAE_FIT_CONVERGED);
    assert_int_equal(f->rank, 2);
    assert_true(f->values[1] == 1.0 && f->unidentified[1]);
    assert_non_null(strstr(f->text, "tiny has no effect"));
    assert_null(strstr(f->text, "small"));
    expect_about(f->values[0], 0.7, 1e-5);
    expect_about(f->values[2], 1.5, 1e-2);
    dae_fit_result_free(f);
    dae_options tight = r.options;
    tight.rtol = tight.atol = 1e-12;
    request.options = &tight;
    f = fit_ok(&r, &request);
    assert_int_equal(f->rank, 3);
    expect_about(f->values[1], 2.0, 0.5); /* the data are known to 1e-10 */
    dae_fit_result_free(f);
    request.options = &r.options;
    p[1] = (dae_fit_parameter){.name = "tiny", .start = 0.0, .lower = -1e9, .upper = 1e9};
    f = fit_ok(&r, &request);
    assert_int_equal(f->rank, 3);
    dae_fit_result_free(f);
    end(&r);
}

/* Of parameters that make up for each other the shortest step is taken, in units of their effect:
 * those of a sum move alike, those of a product keep their ratio. Two such pairs are two notes. */
static void test_combinations(void **state)
{
    (void)state;
    run r;
    double values[ROWS];
    prepare(&r, MODEL("  parameter Real p = 1;\n  parameter Real q = 1;\n  parameter Real c = 1;\n"
                      "  parameter Real d = 1;\n  parameter Real idle = 3;\n"
                      "  Real x(start = 1, fixed = true);\n  Real y;\n"
                      "equation\n  der(x) = -(p + q)*x;\n  y = x + c*d*time;"));
    dae_fit_parameter p[] = {{.name = "p", .start = 0.2},
                             {.name = "c", .start = 0.3},
                             {.name = "q", .start = 0.1},
                             {.name = "d", .start = 0.6},
                             {.name = "idle", .start = 3.0}};
    data_of_model(&r, p, 4, (double[]){0.5, 1.0, 0.2, 0.5}, values);
    dae_fit_data data = data_of(values);
    dae_fit_request request = {.parameters = p,
                               .parameter_count = 5,
                               .data = &data,
                               .data_count = 1,
                               .options = &r.options};
    for (int loss = DAE_LOSS_SQUARES; loss <= DAE_LOSS_CAUCHY; loss++) {
        request.loss = (dae_fit_loss)loss;
        dae_fit_result *f = fit_ok(&r, &request);
        assert_int_equal(f->end, DAE_FIT_CONVERGED);
        assert_int_equal(f->rank, 2);
        expect_about(f->values[0], 0.4, 1e-5);
        expect_about(f->values[2], 0.3, 1e-5);
        expect_about(f->values[1], 0.5, 1e-5);
        expect_about(f->values[3], 1.0, 1e-5);
        assert_true(f->values[4] == 3.0);
        assert_non_null(strstr(f->text, "idle has no effect"));
        assert_non_null(strstr(f->text, "p, q cannot be told apart: the data see one combination"));
        assert_non_null(strstr(f->text, "c, d cannot be told apart: the data see one combination"));
        dae_fit_result_free(f);
    }
    /* where one of them ends at its bound the other takes the rest */
    p[0].lower = 0.0, p[0].upper = 0.25;
    dae_fit_result *f = fit_ok(&r, &request);
    assert_true(f->values[0] > 0.2 && f->values[0] <= 0.25);
    expect_about(f->values[2], 0.7 - f->values[0], 1e-5);
    dae_fit_result_free(f);
    end(&r);
}

/* s x with x' = -k x^2: (k, s, x0) and (k a, s a, x0/a) are the same data. The derivatives say so
 * to their own accuracy alone, as that by s is the run's x, and that by x0 is not. */
static void test_symmetry(void **state)
{
    (void)state;
    run r;
    double values[ROWS];
    prepare(&r, MODEL("  parameter Real k = 1.3;\n  parameter Real s = 0.8;\n"
                      "  parameter Real c = 1;\n  Real x(start = 1.1, fixed = true);\n"
                      "  Real y;\nequation\n  der(x) = -k*x^2 + 0.3*c/s*cos(time);\n"
                      "  y = s*x;"));
    dae_fit_parameter p[] = {{.name = "k", .start = 1.3},
                             {.name = "s", .start = 0.8},
                             {.name = "x", .start = 1.1},
                             {.name = "c", .start = 1.0}};
    data_of_model(&r, p, 4, (double[]){1.0, 1.0, 1.1, 1.2}, values);
    dae_fit_data data = data_of(values);
    for (double rtol = 1e-4; rtol > 1e-9; rtol *= 1e-2) {
        dae_options options = r.options;
        options.rtol = rtol, options.atol = rtol;
        dae_fit_result *f = fit_ok(&r, &(dae_fit_request){.parameters = p,
                                                          .parameter_count = 4,
                                                          .data = &data,
                                                          .data_count = 1,
                                                          .options = &options});
        assert_int_equal(f->end, DAE_FIT_CONVERGED);
        assert_int_equal(f->rank, 3);
        assert_non_null(strstr(f->text, "k, s, x cannot be told apart"));
        expect_about(f->values[0] / f->values[1], 1.0, 100.0 * rtol);
        expect_about(f->values[1] * f->values[2], 1.1, 100.0 * rtol);
        expect_about(f->values[3], 1.2, 100.0 * rtol);
        for (int k = 0; k < 3; k++) expect_about(f->values[k], p[k].start, 0.5);
        dae_fit_result_free(f);
    }
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact_data),
                                       cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_bounds_and_holes),
                                       cmocka_unit_test(test_unidentified),
                                       cmocka_unit_test(test_mass_of_pendulum),
                                       cmocka_unit_test(test_small_effects),
                                       cmocka_unit_test(test_combinations),
                                       cmocka_unit_test(test_symmetry),
                                       cmocka_unit_test(test_outliers),
                                       cmocka_unit_test(test_progress),
                                       cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_no_more_data_than_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
