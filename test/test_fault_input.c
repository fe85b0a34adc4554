/* Wrong input and hard problems: every case has its documented status, and a message that names the
 * culprit. */
#include "daedal.h"
#include "models.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- helpers ---- */

/* The diagnostic must have this status, and all the words, separated by |. */
static void check_diag(const dae_diag *diag, dae_status status, const char *words)
{
    char copy[256];
    if (diag->status != status)
        fail_msg("%s, not %s: %s", dae_status_name(diag->status), dae_status_name(status),
                 diag->text);
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|"))
        if (!strstr(diag->text, word)) fail_msg("\"%s\" is not in: %s", word, diag->text);
    assert_true(strlen(diag->text) > 15 && strlen(diag->text) < DAE_TEXT_SIZE - 1);
}

static void check_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", value, tolerance, expected);
}

/* A problem and its solver; freed together. */
typedef struct pair {
    dae_problem *problem;
    dae_solver *solver;
} pair;

static pair open_pair(const dae_residual *form, const dae_options *options)
{
    pair p;
    dae_diag diag = {0};
    if (dae_problem_from_residual(form, &p.problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_new(p.problem, options, &p.solver, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static void close_pair(pair *p)
{
    dae_solver_free(p->solver);
    dae_problem_free(p->problem);
}

static const char *const variables[3] = {"heat", "flow", "force"};
static const char *const equations[3] = {"balance", "continuity", "closure"};

static dae_residual named(int n, dae_residual_fn f)
{
    return (dae_residual){.n = n, .f = f, .variable_names = variables, .equation_names = equations};
}

/* Start and run: the status of whichever fails, with its words. */
static void expect_end(const dae_residual *form, const dae_options *options, double tend,
                       const double *y0, const double *yp0, dae_status status, const char *words)
{
    pair p = open_pair(form, options);
    dae_status got = dae_solver_start(p.solver, 0.0, y0, yp0);
    if (got == DAE_OK) got = dae_solver_run(p.solver, tend, NULL, NULL);
    assert_int_equal(got, dae_solver_diag(p.solver)->status);
    if (got == DAE_OK) fail_msg("no error, though %s was expected", dae_status_name(status));
    check_diag(dae_solver_diag(p.solver), status, words);
    close_pair(&p);
}

/* x' = -x, y' = -y, .. */
static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    f[1] = yp[1] + y[1];
    return 0;
}

static const double ones[3] = {1.0, 1.0, 1.0};

/* ---- NULL and the order of calls ---- */

static void test_null_at_creation(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    dae_problem *problem = (dae_problem *)&form;
    dae_solver *solver = (dae_solver *)&form;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(NULL, &problem, &diag), DAE_ERR_ARGUMENT);
    assert_null(problem);
    check_diag(&diag, DAE_ERR_ARGUMENT, "description is NULL");
    assert_int_equal(dae_problem_from_residual(&form, NULL, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_residual(&form, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_new(NULL, NULL, &solver, &diag), DAE_ERR_ARGUMENT);
    assert_null(solver);
    check_diag(&diag, DAE_ERR_ARGUMENT, "problem is NULL");
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, NULL, &diag), DAE_ERR_ARGUMENT);
    check_diag(&diag, DAE_ERR_ARGUMENT, "solver is NULL");
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(problem);
    dae_solver_free(NULL);
    dae_problem_free(NULL);
    dae_options_fill(NULL, sizeof(dae_options));
}

static void test_null_handles(void **state)
{
    (void)state;
    double y[2], start, end;
    assert_int_equal(dae_solver_start(NULL, 0.0, ones, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(NULL, 1, ones, ones, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(NULL, 1.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_run(NULL, 1.0, y, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_at(NULL, 1.0, 0, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_restart(NULL, y, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_set_tolerances(NULL, 1.0, 1.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_set_stop_time(NULL, 1.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_local_errors(NULL, y), DAE_ERR_ARGUMENT);
    assert_true(isnan(dae_solver_time(NULL)));
    dae_solver_last_step(NULL, &start, &end);
    assert_true(isnan(start) && isnan(end));
    dae_solver_last_step(NULL, NULL, NULL);
    assert_null(dae_solver_events(NULL));
    assert_null(dae_solver_stats(NULL));
    assert_null(dae_solver_diag(NULL));
    assert_true(dae_solver_condition(NULL) < 0.0);
    assert_int_equal(dae_problem_size(NULL), 0);
    assert_null(dae_problem_unknown_name(NULL, 0));
    assert_null(dae_problem_equation_name(NULL, 0));
}

static void test_null_vectors(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    assert_int_equal(dae_solver_start(p.solver, 0.0, NULL, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "y0 is NULL");
    assert_int_equal(dae_solver_start_history(p.solver, 1, NULL, ones, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start_history(p.solver, 1, ones, NULL, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "dae_solver_start_history|values");
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(p.solver, 0.0, 0, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "NULL");
    assert_int_equal(dae_solver_run(p.solver, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_local_errors(p.solver, NULL), DAE_ERR_ARGUMENT);
    assert_null(dae_solver_events(p.solver)); /* there are none */
    assert_null(dae_problem_unknown_name(p.problem, 2));
    assert_null(dae_problem_equation_name(p.problem, -1));
    close_pair(&p);
}

static void expect_state_errors(pair *p)
{
    double y[2];
    const dae_diag *diag = dae_solver_diag(p->solver);
    assert_int_equal(dae_solver_step(p->solver, 1.0), DAE_ERR_STATE);
    check_diag(diag, DAE_ERR_STATE, "dae_solver_start");
    assert_int_equal(dae_solver_run(p->solver, 1.0, y, y), DAE_ERR_STATE);
    check_diag(diag, DAE_ERR_STATE, "dae_solver_start");
    assert_int_equal(dae_solver_at(p->solver, 0.0, 0, y), DAE_ERR_STATE);
    check_diag(diag, DAE_ERR_STATE, "dae_solver_at|start");
    assert_int_equal(dae_solver_restart(p->solver, y, y), DAE_ERR_STATE);
    check_diag(diag, DAE_ERR_STATE, "dae_solver_restart|dae_solver_start");
    assert_int_equal(dae_solver_local_errors(p->solver, y), DAE_ERR_STATE);
    assert_true(dae_solver_condition(p->solver) < 0.0);
}

static void test_calls_out_of_order(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    expect_state_errors(&p);
    const double bad[2] = {1.0, NAN};
    assert_int_equal(dae_solver_start(p.solver, 0.0, bad, NULL), DAE_ERR_ARGUMENT);
    expect_state_errors(&p); /* a failed start is none */
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_local_errors(p.solver, (double[2]){0}), DAE_ERR_STATE);
    assert_int_equal(dae_solver_step(p.solver, 1.0), DAE_STEPPED);
    assert_int_equal(dae_solver_local_errors(p.solver, (double[2]){0}), DAE_OK);
    close_pair(&p);
}

/* ---- numbers and choices ---- */

static void refuse_options(const dae_options *options, dae_status status, const char *words)
{
    dae_residual form = named(2, decay);
    dae_problem *problem;
    dae_solver *solver = (dae_solver *)&form;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, options, &solver, &diag), status);
    assert_null(solver);
    check_diag(&diag, status, words);
    assert_int_equal(dae_solver_new(problem, options, &solver, NULL), status);
    dae_problem_free(problem);
}

static void test_tolerances(void **state)
{
    (void)state;
    const double bad[] = {-1e-6, NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dae_options options = dae_options_default();
        options.rtol = bad[k];
        refuse_options(&options, DAE_ERR_ARGUMENT, "rtol|heat|finite");
        options = dae_options_default();
        options.atol = bad[k];
        refuse_options(&options, DAE_ERR_ARGUMENT, "atol|heat|finite");
        options = dae_options_default();
        double each[2] = {1e-6, bad[k]};
        options.rtol_by_unknown = each;
        refuse_options(&options, DAE_ERR_ARGUMENT, "rtol|flow");
        options.rtol_by_unknown = NULL;
        options.atol_by_unknown = each;
        refuse_options(&options, DAE_ERR_ARGUMENT, "atol|flow");
    }
    dae_options options = dae_options_default();
    options.rtol = options.atol = 0.0;
    refuse_options(&options, DAE_ERR_ARGUMENT, "rtol = 0, atol = 0|heat|positive");
    const double none[2] = {1e-9, 0.0};
    options.atol_by_unknown = none;
    refuse_options(&options, DAE_ERR_ARGUMENT, "rtol = 0, atol = 0|flow|positive");
}

static void test_tolerances_on_the_way(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(p.solver, 1.0), DAE_STEPPED);
    const double bad[][2] = {{-1.0, 1.0}, {1.0, NAN}, {0.0, 0.0}, {INFINITY, 1.0}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_int_equal(dae_solver_set_tolerances(p.solver, bad[k][0], bad[k][1]),
                         DAE_ERR_ARGUMENT);
        check_diag(dae_solver_diag(p.solver), DAE_ERR_ARGUMENT, "rtol|atol|positive");
    }
    assert_int_equal(dae_solver_set_stop_time(p.solver, INFINITY), DAE_ERR_ARGUMENT);
    check_diag(dae_solver_diag(p.solver), DAE_ERR_ARGUMENT, "stop time|NAN");
    double y[2];
    assert_int_equal(dae_solver_run(p.solver, 1.0, y, NULL), DAE_OK);
    check_near(y[0], exp(-1.0), 1e-5); /* the old tolerances still hold */
    close_pair(&p);
}

static void test_option_numbers(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    const struct {
        const char *name;
        double *field;
        bool zero; /* is refused, too */
    } numbers[] = {{"initial_step", &o.initial_step, false},
                   {"max_step", &o.max_step, false},
                   {"min_step", &o.min_step, false},
                   {"fixed_step", &o.fixed_step, false},
                   {"krylov_tolerance", &o.krylov_tolerance, true},
                   {"newton_tolerance", &o.newton_tolerance, true},
                   {"init_tolerance", &o.init_tolerance, true},
                   {"event_tolerance", &o.event_tolerance, false}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const double bad[] = {NAN, INFINITY, -1.0, 0.0};
        for (int b = 0; b < 4; b++) {
            if (b == 3 && !numbers[k].zero) continue;
            if (b == 2 && k == 0) continue; /* its sign follows tend */
            o = dae_options_default();
            *numbers[k].field = bad[b];
            refuse_options(&o, DAE_ERR_ARGUMENT, numbers[k].name);
        }
    }
    o = dae_options_default();
    o.stop_time = INFINITY;
    refuse_options(&o, DAE_ERR_ARGUMENT, "stop_time|infinite");
}

static void test_option_counts(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    const struct {
        const char *name;
        int *field;
        bool zero;
    } counts[] = {{"min_order", &o.min_order, false},
                  {"max_order", &o.max_order, false},
                  {"max_error_failures", &o.max_error_failures, true},
                  {"max_convergence_failures", &o.max_convergence_failures, true},
                  {"precond_lower", &o.precond_lower, false},
                  {"precond_upper", &o.precond_upper, false},
                  {"krylov_dimension", &o.krylov_dimension, false},
                  {"krylov_restarts", &o.krylov_restarts, false},
                  {"newton_iterations", &o.newton_iterations, true},
                  {"init_iterations", &o.init_iterations, true}};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        o = dae_options_default();
        *counts[k].field = -1;
        refuse_options(&o, DAE_ERR_ARGUMENT, counts[k].name);
        *counts[k].field = 0;
        if (counts[k].zero) refuse_options(&o, DAE_ERR_ARGUMENT, counts[k].name);
    }
    o = dae_options_default();
    o.max_steps = -1;
    refuse_options(&o, DAE_ERR_ARGUMENT, "max_steps");
    o = dae_options_default();
    o.max_order = 7;
    refuse_options(&o, DAE_ERR_ARGUMENT, "orders 1 to 6|7");
    o.max_order = 2;
    o.min_order = 3;
    refuse_options(&o, DAE_ERR_ARGUMENT, "min_order = 3|max_order = 2");
}

static void test_option_choices(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    for (int k = 0; k < 2; k++) {
        int bad = k == 0 ? -1 : 99;
        o = dae_options_default();
        o.error_test = (dae_error_test)bad;
        refuse_options(&o, DAE_ERR_ARGUMENT, "error_test");
        o = dae_options_default();
        o.linear_solver = (dae_linear_solver)bad;
        refuse_options(&o, DAE_ERR_ARGUMENT, "linear_solver");
        o = dae_options_default();
        o.preconditioner = (dae_preconditioner)bad;
        refuse_options(&o, DAE_ERR_ARGUMENT, "preconditioner");
        o = dae_options_default();
        o.init = (dae_init)bad;
        refuse_options(&o, DAE_ERR_ARGUMENT, "init");
        o = dae_options_default();
        o.dense = (dae_dense)bad;
        refuse_options(&o, DAE_ERR_ARGUMENT, "dense");
        o = dae_options_default();
        const dae_tag tags[2] = {DAE_TAG_FIXED, (dae_tag)bad};
        o.yp_tags = tags;
        refuse_options(&o, DAE_ERR_ARGUMENT, "yp_tags[1]");
    }
    o = dae_options_default();
    o.method = "leapday";
    refuse_options(&o, DAE_ERR_ARGUMENT, "leapday|dae_method_at");
    o = dae_options_default();
    o.formulation = "baumgarte";
    refuse_options(&o, DAE_ERR_UNSUPPORTED, "baumgarte|residual");
    o = dae_options_default();
    o.preconditioner = DAE_PRECOND_USER;
    refuse_options(&o, DAE_ERR_UNSUPPORTED, "DAE_PRECOND_USER|precond_solve");
}

static double some_norm(int n, const double *v, const double *w, void *user)
{
    (void)user;
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i] / w[i]));
    return most;
}

static void test_options_that_do_not_fit(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    o.linear_solver = DAE_LINEAR_GMRES;
    o.norm = some_norm;
    refuse_options(&o, DAE_ERR_UNSUPPORTED, "GMRES|norm");
    dae_options zero = {0};
    refuse_options(&zero, DAE_ERR_ARGUMENT, "dae_options_default");
    /* an older caller knows fewer fields; what lies behind them is not read */
    o = dae_options_default();
    o.size = offsetof(dae_options, krylov_tolerance);
    o.krylov_tolerance = NAN;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, &o);
    close_pair(&p);
}

static int some_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    dfdy[0] = dfdy[3] = dfdyp[0] = dfdyp[3] = 1.0;
    return 0;
}

static void test_unsupported_structure(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    form.jacobian = some_jacobian;
    dae_options o = dae_options_default();
    o.linear_solver = DAE_LINEAR_BANDED;
    dae_problem *problem;
    dae_solver *solver;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &solver, &diag), DAE_ERR_UNSUPPORTED);
    assert_null(solver);
    check_diag(&diag, DAE_ERR_UNSUPPORTED, "band|lower|upper");
    dae_problem_free(problem);
}

static void test_patterns(void **state)
{
    (void)state;
    const int falling[] = {0, 2, 1}, rows[] = {0, 1, 1}, good[] = {0, 1, 3};
    const int beyond[] = {0, 1, 2}, negative[] = {-1, 0, 1}, twice[] = {0, 1, 1};
    const struct {
        const int *colptr, *rowind;
        const char *words;
    } cases[] = {{falling, rows, "pattern"},
                 {good, beyond, "pattern|column 1|flow"},
                 {good, negative, "pattern|column 0|heat"},
                 {good, twice, "pattern|column 1|flow"},
                 {good, NULL, "rowind"},
                 {NULL, rows, "colptr"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_residual form = named(2, decay);
        form.colptr = cases[k].colptr;
        form.rowind = cases[k].rowind;
        dae_problem *problem = (dae_problem *)&form;
        dae_diag diag = {0};
        assert_int_equal(dae_problem_from_residual(&form, &problem, &diag), DAE_ERR_ARGUMENT);
        assert_null(problem);
        check_diag(&diag, DAE_ERR_ARGUMENT, cases[k].words);
    }
}

static void test_names_of_everything(void **state)
{
    (void)state;
    for (int status = DAE_ERR_STATE; status <= DAE_EVENT; status++)
        assert_memory_equal(dae_status_name((dae_status)status), "DAE_", 4);
    assert_string_equal(dae_status_name((dae_status)77), "unknown status");
    assert_string_equal(dae_status_name(DAE_ERR_BOUND), "DAE_ERR_BOUND");
    assert_non_null(dae_method_name(0));
    assert_null(dae_method_name(-1));
    assert_null(dae_method_name(1000));
    assert_null(dae_method_at(1000).summary);
    assert_null(dae_method_at(1000).citation);
}

/* ---- times ---- */

static void test_end_times(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    double y[2] = {0.0, 0.0};
    assert_int_equal(dae_solver_start(p.solver, 5.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 5.0, y, NULL), DAE_OK); /* tend = t0: nothing to do */
    assert_true(y[0] == 1.0 && y[1] == 1.0);
    assert_int_equal(dae_solver_step(p.solver, 5.0), DAE_OK);
    assert_int_equal(dae_solver_stats(p.solver)->attempts, 0);
    const double bad[] = {INFINITY, -INFINITY, NAN};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(dae_solver_step(p.solver, bad[k]), DAE_ERR_ARGUMENT);
        check_diag(diag, DAE_ERR_ARGUMENT, "end time|finite");
    }
    assert_int_equal(dae_solver_run(p.solver, 6.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 6.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 5.0, NULL, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "behind|start again");
    assert_int_equal(dae_solver_run(p.solver, 7.0, y, NULL), DAE_OK); /* no harm done */
    check_near(y[0], exp(-2.0), 1e-5);
    assert_int_equal(dae_solver_start(p.solver, 5.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 4.0, y, NULL), DAE_OK); /* backwards is fine */
    check_near(y[0], exp(1.0), 1e-4);
    close_pair(&p);
}

static void test_initial_points(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    const double bad[2] = {1.0, -INFINITY};
    assert_int_equal(dae_solver_start(p.solver, NAN, ones, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "initial time");
    assert_int_equal(dae_solver_start(p.solver, 0.0, bad, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "y for variable flow|-inf");
    assert_int_equal(diag->variable, 1);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, bad), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "y' for variable flow");
    const double times[3] = {0.0, 1.0, 0.5}, past[6] = {0};
    assert_int_equal(dae_solver_start_history(p.solver, 3, times, past, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "newest");
    assert_int_equal(dae_solver_start_history(p.solver, 9, times, past, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "9 past values|1 to 6");
    assert_int_equal(dae_solver_start_history(p.solver, 0, times, past, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_restart(p.solver, bad, NULL), DAE_ERR_ARGUMENT);
    check_diag(diag, DAE_ERR_ARGUMENT, "flow");
    close_pair(&p);
}

static void test_output_outside_the_step(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    pair p = open_pair(&form, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    double y[2], start, end;
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(p.solver, 0.0, 0, y), DAE_OK);
    assert_int_equal(dae_solver_at(p.solver, 1e-3, 0, y), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_run(p.solver, 1.0, NULL, NULL), DAE_OK);
    dae_solver_last_step(p.solver, &start, &end);
    const double outside[] = {start - 1e-9, end + 1e-9, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
        assert_int_equal(dae_solver_at(p.solver, outside[k], 0, y), DAE_ERR_ARGUMENT);
        check_diag(diag, DAE_ERR_ARGUMENT, "outside the last step");
    }
    for (int derivative = -1; derivative < 3; derivative += 3) {
        assert_int_equal(dae_solver_at(p.solver, end, derivative, y), DAE_ERR_ARGUMENT);
        check_diag(diag, DAE_ERR_ARGUMENT, "derivative");
    }
    assert_int_equal(dae_solver_at(p.solver, end, 1, y), DAE_OK);
    assert_int_equal(diag->status, DAE_OK); /* an old failure is gone */
    close_pair(&p);
}

/* ---- singular matrices ---- */

/* heat' = -heat, 0 = 0 */
static int empty_equation(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    f[1] = 0.0;
    return 0;
}

/* heat' = -heat; flow + force = heat, said twice */
static int redundant(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    f[1] = y[1] + y[2] - y[0];
    f[2] = 2.0 * f[1];
    return 0;
}

static int redundant_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    dfdyp[0] = dfdy[0] = 1.0;
    dfdy[1] = -1.0;
    dfdy[4] = dfdy[7] = 1.0;
    dfdy[2] = -2.0;
    dfdy[5] = dfdy[8] = 2.0;
    return 0;
}

static void test_singular(void **state)
{
    (void)state;
    const double y0[3] = {1.0, 0.5, 0.5}, yp0[3] = {-1.0, 0.0, 0.0};
    for (int init = DAE_INIT_AUTO; init <= DAE_INIT_NONE; init++) {
        dae_options options = dae_options_default();
        options.init = (dae_init)init;
        dae_residual form = named(2, empty_equation);
        expect_end(&form, &options, 1.0, y0, yp0, DAE_ERR_SINGULAR,
                   "singular|flow appears in no equation|continuity contains no variable");
        form = named(3, redundant);
        form.jacobian = redundant_jacobian;
        expect_end(&form, &options, 1.0, y0, yp0, DAE_ERR_SINGULAR,
                   "singular|no equation is left|redundant or missing equations");
    }
}

enum { LARGE = 40 };

/* A chain y_i' = -y_i with one equation that is empty. */
static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    for (int i = 0; i < LARGE; i++) f[i] = yp[i] + y[i] - (i > 0 ? 0.1 * y[i - 1] : 0.0);
    f[*(const int *)user] = 0.0;
    return 0;
}

/* The variable that is not determined is found by all direct solvers. */
static void test_singular_by_all_solvers(void **state)
{
    (void)state;
    int empty = 17, colptr[LARGE + 1] = {0}, rowind[2 * LARGE];
    for (int j = 0, next = 0; j < LARGE; j++) {
        rowind[next++] = j;
        if (j + 1 < LARGE) rowind[next++] = j + 1;
        colptr[j + 1] = next;
    }
    double y0[LARGE], yp0[LARGE] = {0};
    for (int i = 0; i < LARGE; i++) y0[i] = 1.0;
    const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    for (int k = 0; k < 3; k++) {
        dae_residual form = {.n = LARGE, .f = chain, .user = &empty};
        form.colptr = colptr;
        form.rowind = rowind;
        dae_options options = dae_options_default();
        options.linear_solver = solvers[k];
        options.init = DAE_INIT_NONE;
        pair p = open_pair(&form, &options);
        assert_int_equal(dae_solver_start(p.solver, 0.0, y0, yp0), DAE_OK);
        assert_int_equal(dae_solver_run(p.solver, 1.0, NULL, NULL), DAE_ERR_SINGULAR);
        check_diag(dae_solver_diag(p.solver), DAE_ERR_SINGULAR, "F[17] contains no variable");
        assert_int_equal(dae_solver_diag(p.solver)->equation, empty);
        assert_true(dae_solver_stats(p.solver)->rejected_singular > 0);
        close_pair(&p);
    }
}

/* ---- inconsistent values, higher index ---- */

/* heat' = -flow, flow = heat */
static int index1(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[1];
    f[1] = y[1] - y[0];
    return 0;
}

static void test_inconsistent_start(void **state)
{
    (void)state;
    const double y0[2] = {1.0, 5.0}, yp0[2] = {-1.0, 0.0};
    const double steps[] = {0.0, 1e-8, 1e-2};
    for (int k = 0; k < 3; k++) {
        dae_residual form = named(2, index1);
        dae_options options = dae_options_default();
        options.method = "bdf";
        options.init = DAE_INIT_NONE;
        options.initial_step = steps[k];
        pair p = open_pair(&form, &options);
        assert_int_equal(dae_solver_start(p.solver, 0.0, y0, yp0), DAE_OK);
        assert_int_equal(dae_solver_run(p.solver, 1.0, NULL, NULL), DAE_ERR_ERROR_TEST);
        const dae_diag *diag = dae_solver_diag(p.solver);
        check_diag(diag, DAE_ERR_ERROR_TEST, "initial values are inconsistent|index is above 1");
        check_diag(diag, DAE_ERR_ERROR_TEST, "flow|algebraic|DAE_INIT_DIFFERENTIAL");
        assert_int_equal(diag->variable, 1);
        assert_true(diag->t == 0.0 && diag->h != 0.0 && diag->value > 1e3);
        close_pair(&p);
    }
    dae_residual form = named(2, index1); /* the default makes them consistent */
    pair p = open_pair(&form, NULL);
    double y[2];
    assert_int_equal(dae_solver_start(p.solver, 0.0, y0, yp0), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 1.0, y, NULL), DAE_OK);
    check_near(y[1], exp(-1.0), 1e-5);
    close_pair(&p);
}

/* 0 = heat^2 + 1 has no solution: equation and size are named. */
static int impossible(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[1];
    f[1] = y[1] * y[1] + 1.0;
    return 0;
}

static void test_no_consistent_values(void **state)
{
    (void)state;
    dae_residual form = named(2, impossible);
    pair p = open_pair(&form, NULL);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_ERR_INITIAL);
    check_diag(dae_solver_diag(p.solver), DAE_ERR_INITIAL, "consistent|continuity");
    assert_int_equal(dae_solver_diag(p.solver)->equation, 1);
    assert_true(dae_solver_diag(p.solver)->value >= 1.0 - 1e-9);
    close_pair(&p);
}

/* heat' = flow, heat = 1 + sin t: flow is an index-2 variable, and nobody says so */
static int index2(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = y[0] - sin(t) - 1.0;
    return 0;
}

static void test_index2_without_kinds(void **state)
{
    (void)state;
    const double y0[2] = {2.0, 1.0}, yp0[2] = {1.0, 0.0}; /* heat is off by 1 */
    dae_residual form = named(2, index2);
    dae_options options = dae_options_default();
    options.init = DAE_INIT_NONE;
    expect_end(&form, &options, 1.0, y0, yp0, DAE_ERR_ERROR_TEST, "flow|index is above 1");
    /* with its kind it runs */
    const dae_kind kinds[2] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
    form.kinds = kinds;
    pair p = open_pair(&form, NULL);
    double y[2];
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 1.0, y, NULL), DAE_OK);
    check_near(y[0], 1.0 + sin(1.0), 1e-5);
    check_near(y[1], cos(1.0), 1e-3);
    close_pair(&p);
}

/* Models whose kinds are withheld: the message must point at the index and an algebraic variable.
 */
static void expect_index_message(const char *name, double tolerance, int variable)
{
    model *m = model_new(name, 0);
    m->form.kinds = NULL;
    dae_options options = dae_options_default();
    options.rtol = options.atol = tolerance;
    pair p = open_pair(&m->form, &options);
    dae_status status = dae_solver_start(p.solver, m->t0, m->y0, m->yp0);
    if (status == DAE_OK) status = dae_solver_run(p.solver, m->tend, NULL, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    if (status != DAE_ERR_ERROR_TEST && status != DAE_ERR_CONVERGENCE &&
        status != DAE_ERR_UNSUPPORTED)
        fail_msg("%s: %s: %s", name, dae_status_name(status), diag->text);
    check_diag(diag, status,
               status == DAE_ERR_UNSUPPORTED ? "index|declare" : "index|above 1|algebraic");
    assert_int_equal(diag->variable, variable);
    assert_non_null(strstr(diag->text, m->form.variable_names[variable]));
    close_pair(&p);
    model_free(m);
}

static void test_higher_index_models(void **state)
{
    (void)state;
    expect_index_message("pendulum3", 1e-4, 4);
    expect_index_message("pendulum3", 1e-6, 4);
    expect_index_message("pendulum3", 1e-8, 4);
}

/* ---- solutions that are not smooth ---- */

/* heat' = 1 before t = 1 and -100 after it */
static int jump(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = yp[0] - (t < 1.0 ? 1.0 : -100.0);
    return 0;
}

static void test_discontinuity(void **state)
{
    (void)state;
    for (int k = 3; k <= 9; k += 3) {
        dae_residual form = named(1, jump);
        dae_options options = dae_options_default();
        options.rtol = options.atol = pow(10.0, -k);
        pair p = open_pair(&form, &options);
        double y;
        assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(p.solver, 2.0, &y, NULL), DAE_OK);
        check_near(y, -98.0, 200.0 * 100.0 * options.rtol);
        assert_true(dae_solver_stats(p.solver)->rejected_error > 0);
        assert_true(dae_solver_stats(p.solver)->attempts < 300);
        close_pair(&p);
    }
}

/* heat' = heat^2: 1/(1 - t) */
static int explosion(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[0] * y[0];
    return 0;
}

static void test_explosion(void **state)
{
    (void)state;
    for (int k = 3; k <= 9; k += 3) {
        dae_residual form = named(1, explosion);
        dae_options options = dae_options_default();
        options.rtol = pow(10.0, -k);
        pair p = open_pair(&form, &options);
        assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
        dae_status status = dae_solver_run(p.solver, 2.0, NULL, NULL);
        const dae_diag *diag = dae_solver_diag(p.solver);
        assert_true(status == DAE_ERR_ERROR_TEST || status == DAE_ERR_CONVERGENCE);
        check_diag(diag, status, "heat");
        if (status == DAE_ERR_ERROR_TEST) check_diag(diag, status, "singularity|without bound");
        assert_true(fabs(diag->t - 1.0) < 1e-2 && fabs(diag->h) < 1e-12);
        assert_true(dae_solver_stats(p.solver)->attempts < 10000);
        close_pair(&p);
    }
}

/* ---- tolerances and the arithmetic ---- */

static void test_relative_tolerance_of_zero(void **state)
{
    (void)state;
    const double y0[2] = {1.0, 0.0};
    dae_residual form = named(2, decay);
    dae_options options = dae_options_default();
    options.atol = 0.0;
    expect_end(&form, &options, 1.0, y0, NULL, DAE_ERR_TOLERANCE, "flow|relative|atol");
    const double atol[2] = {0.0, 1e-9}; /* as the message says */
    options.atol_by_unknown = atol;
    pair p = open_pair(&form, &options);
    assert_int_equal(dae_solver_start(p.solver, 0.0, y0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 1.0, NULL, NULL), DAE_OK);
    close_pair(&p);
}

static void test_tolerances_below_rounding(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    dae_options options = dae_options_default();
    options.rtol = 1e-16;
    options.atol = 0.0;
    pair p = open_pair(&form, &options);
    const dae_diag *diag = dae_solver_diag(p.solver);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_ERR_TOLERANCE);
    check_diag(diag, DAE_ERR_TOLERANCE, "double precision|Multiply");
    double factor = diag->value;
    check_near(factor, 100.0 * DBL_EPSILON / 1e-16, 1e-9); /* 100 roundings of y */
    double rtol = 1.01 * factor * options.rtol;
    assert_int_equal(dae_solver_set_tolerances(p.solver, rtol, 0.0), DAE_OK);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(p.solver, 1.0), DAE_STEPPED);
    close_pair(&p);
}

/* On the way: y grows until atol is below its rounding; loosened tolerances go on. */
static int growth(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[0];
    return 0;
}

static void test_tolerances_become_too_tight(void **state)
{
    (void)state;
    dae_residual form = named(1, growth);
    dae_options options = dae_options_default();
    options.rtol = 0.0;
    options.atol = 1e-9;
    pair p = open_pair(&form, &options);
    const dae_diag *diag = dae_solver_diag(p.solver);
    const double y0 = 1e3;
    double y;
    assert_int_equal(dae_solver_start(p.solver, 0.0, &y0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 8.0, &y, NULL), DAE_ERR_TOLERANCE);
    check_diag(diag, DAE_ERR_TOLERANCE, "double precision|Multiply");
    double t = diag->t;
    assert_true(t > 3.0 && t < 4.5); /* 100 u e^t 1e3 = 1e-9 at t = 3.8 */
    assert_int_equal(dae_solver_step(p.solver, 8.0), DAE_STEPPED); /* what was done already */
    assert_int_equal(dae_solver_step(p.solver, 8.0), DAE_ERR_TOLERANCE);
    assert_int_equal(dae_solver_set_tolerances(p.solver, 1e-8, 1e-9), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 8.0, &y, NULL), DAE_OK);
    check_near(y / (1e3 * exp(8.0)), 1.0, 1e-5);
    close_pair(&p);
}

/* ---- bounds ---- */

static int fall(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)y, (void)user;
    f[0] = yp[0] + 1.0;
    return 0;
}

static void test_bounds_that_cannot_be_met(void **state)
{
    (void)state;
    const double low = 0.0, high = 2.0;
    dae_residual form = named(1, fall);
    form.lower_bounds = &low;
    pair p = open_pair(&form, NULL);
    const dae_diag *diag = dae_solver_diag(p.solver);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 2.0, NULL, NULL), DAE_ERR_BOUND);
    check_diag(diag, DAE_ERR_BOUND, "heat|bounds [0, inf]");
    assert_true(fabs(diag->t - 1.0) < 1e-6 && diag->value < 0.0 && diag->variable == 0);
    close_pair(&p);
    form.lower_bounds = NULL;
    form.upper_bounds = &high;
    p = open_pair(&form, NULL);
    diag = dae_solver_diag(p.solver);
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, -2.0, NULL, NULL), DAE_ERR_BOUND); /* backwards */
    check_diag(diag, DAE_ERR_BOUND, "heat|bounds [-inf, 2]");
    assert_true(fabs(diag->t + 1.0) < 1e-6 && diag->value > 2.0);
    const double outside = 3.0;
    assert_int_equal(dae_solver_start(p.solver, 0.0, &outside, NULL), DAE_ERR_INITIAL);
    check_diag(diag, DAE_ERR_INITIAL, "heat|bound");
    close_pair(&p);
}

/* Robertson's kinetics at a tolerance that lets concentrations become negative. Returns the least
 * value at the ends of all steps; *end is the final status. */
static double least_concentration(const double *bounds, double rtol, dae_status *end)
{
    model *m = model_new("robertson", 0);
    m->form.lower_bounds = bounds;
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = rtol;
    options.atol = 0.1 * rtol;
    pair p = open_pair(&m->form, &options);
    assert_int_equal(dae_solver_start(p.solver, m->t0, m->y0, m->yp0), DAE_OK);
    double least = 0.0, y[3], start, stop;
    while ((*end = dae_solver_step(p.solver, 1e11)) > 0) {
        dae_solver_last_step(p.solver, &start, &stop);
        assert_int_equal(dae_solver_at(p.solver, stop, 0, y), DAE_OK);
        for (int i = 0; i < 3; i++) least = fmin(least, y[i]);
    }
    if (bounds) assert_true(dae_solver_stats(p.solver)->rejected_bound > 0);
    close_pair(&p);
    model_free(m);
    return least;
}

static void test_bounds_that_can_be_met(void **state)
{
    (void)state;
    const double low[3] = {0.0, 0.0, 0.0};
    for (int k = 1; k <= 3; k++) {
        dae_status end;
        double rtol = pow(10.0, -k);
        assert_true(least_concentration(NULL, rtol, &end) < 0.0); /* or this shows nothing */
        assert_true(least_concentration(low, rtol, &end) >= 0.0);
        assert_int_equal(end, DAE_OK);
    }
}

enum { RATES = 12 };

/* y_i' = -2^i y_i: positive, and soon far below any tolerance, where BDF of higher order swings
 * around zero by next to nothing */
static int rates(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < RATES; i++) f[i] = yp[i] + ldexp(y[i], i);
    return 0;
}

static void test_decay_to_a_bound(void **state)
{
    (void)state;
    const double low[RATES] = {0.0};
    double y[RATES];
    for (int k = 2; k <= 4; k++) {
        dae_residual form = {.n = RATES, .f = rates, .lower_bounds = low};
        dae_options options = dae_options_default();
        options.rtol = options.atol = pow(10.0, -k);
        pair p = open_pair(&form, &options);
        for (int i = 0; i < RATES; i++) y[i] = 1.0;
        assert_int_equal(dae_solver_start(p.solver, 0.0, y, NULL), DAE_OK);
        dae_status status;
        double start, stop;
        while ((status = dae_solver_step(p.solver, 2.0)) > 0) {
            dae_solver_last_step(p.solver, &start, &stop);
            dae_solver_at(p.solver, stop, 0, y);
            for (int i = 0; i < RATES; i++) assert_true(y[i] >= 0.0);
        }
        if (status < 0) fail_msg("%s", dae_solver_diag(p.solver)->text);
        assert_int_equal(dae_solver_at(p.solver, 2.0, 0, y), DAE_OK);
        check_near(y[0], exp(-2.0), 20.0 * options.rtol);
        close_pair(&p);
    }
}

/* ---- limits ---- */

static void test_max_steps(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.max_steps = 7;
    pair p = open_pair(&form, &options);
    const dae_diag *diag = dae_solver_diag(p.solver);
    double y[2];
    dae_status status;
    int runs = 0;
    assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
    while ((status = dae_solver_run(p.solver, 1.0, y, NULL)) == DAE_ERR_MAX_STEPS) {
        check_diag(diag, DAE_ERR_MAX_STEPS, "7 steps|max_steps|dominates the error");
        assert_true(diag->t == dae_solver_time(p.solver));
        assert_int_equal(dae_solver_stats(p.solver)->steps, 7 * ++runs);
    }
    assert_int_equal(status, DAE_OK);
    assert_true(runs > 2);
    check_near(y[0], exp(-1.0), 1e-5);
    close_pair(&p);
}

static void test_min_step(void **state)
{
    (void)state;
    dae_residual form = named(2, decay);
    dae_options options = dae_options_default();
    options.min_step = 0.1;
    options.rtol = 1e-9;
    expect_end(&form, &options, 1.0, ones, NULL, DAE_ERR_ERROR_TEST, "heat|min_step|h down to 0.1");
}

static void test_fixed_step(void **state)
{
    (void)state;
    dae_residual form = named(1, explosion);
    dae_options options = dae_options_default();
    options.fixed_step = 0.1;
    expect_end(&form, &options, 2.0, ones, NULL, DAE_ERR_CONVERGENCE,
               "heat|once|step size is fixed|balance");
}

/* A first step that is out of all proportion must not reach the initial values. */
static void test_long_first_step(void **state)
{
    (void)state;
    const dae_kind kinds[2] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL};
    const double steps[] = {1e3, 1e10, 1e16, 1e24};
    for (int k = 0; k < 8; k++) {
        dae_residual form = named(2, decay);
        if (k % 2) form.kinds = kinds;
        dae_options options = dae_options_default();
        options.initial_step = steps[k / 2];
        pair p = open_pair(&form, &options);
        double y[2], yp[2];
        assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(p.solver, 0.0, y, yp), DAE_OK);
        check_near(y[0], 1.0, 0.0);
        check_near(yp[0], -1.0, 1e-5);
        dae_status status = dae_solver_run(p.solver, 1.0, y, NULL);
        if (status < 0) fail_msg("h0 = %g: %s", steps[k / 2], dae_solver_diag(p.solver)->text);
        check_near(y[1], exp(-1.0), 1e-5);
        close_pair(&p);
    }
}

/* Ends so close that a thousandth of the way has no reciprocal. */
static void test_short_ways(void **state)
{
    (void)state;
    const double ends[] = {5e-324, 1e-310, 1e-300, -1e-310};
    for (int k = 0; k < 4; k++) {
        dae_residual form = named(2, decay);
        pair p = open_pair(&form, NULL);
        double y[2];
        assert_int_equal(dae_solver_start(p.solver, 0.0, ones, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(p.solver, ends[k], y, NULL), DAE_OK);
        assert_true(dae_solver_time(p.solver) == ends[k]);
        check_near(y[0], 1.0, 1e-12);
        close_pair(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_at_creation),
        cmocka_unit_test(test_null_handles),
        cmocka_unit_test(test_null_vectors),
        cmocka_unit_test(test_calls_out_of_order),
        cmocka_unit_test(test_tolerances),
        cmocka_unit_test(test_tolerances_on_the_way),
        cmocka_unit_test(test_option_numbers),
        cmocka_unit_test(test_option_counts),
        cmocka_unit_test(test_option_choices),
        cmocka_unit_test(test_options_that_do_not_fit),
        cmocka_unit_test(test_unsupported_structure),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_names_of_everything),
        cmocka_unit_test(test_end_times),
        cmocka_unit_test(test_initial_points),
        cmocka_unit_test(test_output_outside_the_step),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_singular_by_all_solvers),
        cmocka_unit_test(test_inconsistent_start),
        cmocka_unit_test(test_no_consistent_values),
        cmocka_unit_test(test_index2_without_kinds),
        cmocka_unit_test(test_higher_index_models),
        cmocka_unit_test(test_discontinuity),
        cmocka_unit_test(test_explosion),
        cmocka_unit_test(test_relative_tolerance_of_zero),
        cmocka_unit_test(test_tolerances_below_rounding),
        cmocka_unit_test(test_tolerances_become_too_tight),
        cmocka_unit_test(test_bounds_that_cannot_be_met),
        cmocka_unit_test(test_bounds_that_can_be_met),
        cmocka_unit_test(test_decay_to_a_bound),
        cmocka_unit_test(test_long_first_step),
        cmocka_unit_test(test_short_ways),
        cmocka_unit_test(test_max_steps),
        cmocka_unit_test(test_min_step),
        cmocka_unit_test(test_fixed_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
